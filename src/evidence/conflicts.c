/* Contradictions between pages, without knowing what they mean: a sentence that is quoted from one
 * page is looked for on all others, and where it stands there with another number, another name or
 * one "not" more, both are listed. Who is right is not for a program to say. */
#include "core/limits.h"
#include "evidence/find.h"
#include "evidence/internal.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_WORDS   4     /* of a sentence that is compared, */
#define LEAST_PART    6     /* and of a part of one */
#define MOST_WORDS    200   /* the same; a longer one is taken to be a list */
#define LEAST_SAID    3     /* words of it that are no numbers, in the same places in both */
#define MOST_SAIDS    10000 /* sentences of all quotes */
#define SLOTS         32768 /* a power of two, thrice as many */
#define NETS          2     /* of short sentences, and of long ones */
#define MOST_QUOTED   600   /* characters of a sentence that are shown */
#define TWO_EXCHANGED 12    /* words, from which on two may differ, */
#define MORE          40    /* and three */

/* A sentence that is quoted. */
struct said {
    size_t note; /* its number */
    size_t source;
    struct tokens tokens; /* without marks */
    size_t start, end;    /* in bytes of the page */
    size_t order;         /* in which they were collected */
};

struct saids {
    struct said *items;
    size_t count, capacity;
    uint32_t *slots; /* by where they stand: the number of one, or 0 */
};

/* ---- the sentences of quotes ---- */

/* The slot of a sentence in the table of those that are kept: its own, or an empty one. */
static uint32_t *slot_of(const struct saids *saids, size_t source, size_t start, size_t count)
{
    uint64_t hash =
        ((uint64_t)source << 40 ^ (uint64_t)start << 8 ^ count) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t slot = hash >> 32 & (SLOTS - 1);; slot = (slot + 1) & (SLOTS - 1)) {
        const struct said *said = saids->slots[slot] ? &saids->items[saids->slots[slot] - 1] : NULL;
        if (!said ||
            (said->source == source && said->start == start && said->tokens.count == count)) {
            return &saids->slots[slot];
        }
    }
}

/* The tokens from `first` to before `end`, as a sentence of the note. OK or ERR_NOMEM. */
static int keep_sentence(struct arena *arena, struct saids *saids, size_t number,
                         const struct evidence_note *note, const struct tokens *page, size_t first,
                         size_t end)
{
    size_t count = end - first;
    size_t start = page->items[first].start;
    uint32_t *slot = slot_of(saids, note->source, start, count);
    if (count < LEAST_WORDS || count > MOST_WORDS || *slot || saids->count == MOST_SAIDS) {
        return OK;
    }
    struct said *items =
        arena_grow(arena, saids->items, saids->count, &saids->capacity, sizeof *items);
    struct token *tokens = arena_alloc(arena, count * sizeof *tokens);
    if (!items || !tokens) {
        return ERR_NOMEM;
    }
    memcpy(tokens, page->items + first, count * sizeof *tokens);
    saids->items = items;
    items[saids->count] = (struct said){
        .note = number,
        .source = note->source,
        .tokens = {tokens, count},
        .start = start,
        .end = page->items[end - 1].start + page->items[end - 1].length,
        .order = saids->count,
    };
    *slot = (uint32_t)++saids->count;
    return OK;
}

/* Every sentence that a note's quote touches; and of one that it is only a part of, that part: the
 * other page may begin or end its sentence in other words. */
static int keep_sentences(struct arena *arena, struct saids *saids, size_t number,
                          const struct kept_note *kept, const struct tokens *page)
{
    int status = OK;
    size_t first = 0;
    for (size_t i = 1; status == OK && i <= page->count; i++) {
        if (i < page->count && !(page->items[i].flags & TOKEN_BEGINS)) {
            continue;
        }
        const struct token *last = &page->items[i - 1];
        if (last->start + last->length > kept->start && page->items[first].start < kept->end) {
            size_t from = first, to = i;
            while (page->items[from].start + page->items[from].length <= kept->start) {
                from++;
            }
            while (page->items[to - 1].start >= kept->end) {
                to--;
            }
            status = keep_sentence(arena, saids, number, &kept->note, page, first, i);
            if (status == OK && from < to && to - from >= LEAST_PART) {
                status = keep_sentence(arena, saids, number, &kept->note, page, from, to);
            }
        }
        first = i;
    }
    return status;
}

/* Reads each page that is quoted once. */
static int collect(const struct evidence *evidence, struct arena *arena, struct arena *scratch,
                   struct saids *saids)
{
    int status = OK;
    for (size_t source = 1; status == OK && source <= evidence->page_count; source++) {
        const struct evidence_page *page = evidence_page(evidence, source);
        struct tokens tokens = {0};
        for (size_t i = 0; status == OK && i < evidence->note_count; i++) {
            const struct kept_note *kept = &evidence->notes[i];
            if (kept->note.source != source || !is_found(kept)) {
                continue;
            }
            if (!tokens.items) {
                status = tokens_read(scratch, page->text, page->length, false, &tokens);
                tokens_drop_marks(&tokens);
            }
            if (status == OK) {
                status = keep_sentences(arena, saids, i + 1, kept, &tokens);
            }
        }
        arena_reset(scratch);
    }
    return status;
}

/* ---- comparing ---- */

struct page_comparison {
    struct evidence *evidence;
    const struct saids *saids;
    struct seeker *seekers;    /* one for each of them */
    const struct said *said;   /* the one whose place is looked at */
    const struct tokens *page; /* where */
    size_t source;             /* of that page */
    int status;
};

/* Whether one letter is another, or is missing: two spellings of a word, more often than two words.
 */
static bool differ_in_one(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t same = 0;
    while (same < a_length && same < b_length && a[same] == b[same]) {
        same++;
    }
    size_t tail = 0;
    while (tail < a_length - same && tail < b_length - same &&
           a[a_length - 1 - tail] == b[b_length - 1 - tail]) {
        tail++;
    }
    return a_length - same - tail <= 1 && b_length - same - tail <= 1;
}

enum weight { WEIGHT_NONE, WEIGHT_CONFLICT, WEIGHT_OTHER };

/* What a difference makes of two sentences: nothing, a contradiction, or other sentences. */
static enum weight weigh(const struct page_comparison *comparison, const struct token_edit *edit)
{
    const char *mine = evidence_page(comparison->evidence, comparison->said->source)->text;
    const char *theirs = evidence_page(comparison->evidence, comparison->source)->text;
    unsigned claims = (edit->pattern ? token_claims(mine, edit->pattern) : 0) |
                      (edit->text ? token_claims(theirs, edit->text) : 0);
    if (!edit->pattern || !edit->text) {
        return claims & CLAIM_NEGATION ? WEIGHT_CONFLICT
               : claims == CLAIM_LIGHT ? WEIGHT_NONE
                                       : WEIGHT_OTHER;
    }
    unsigned flags = edit->pattern->flags | edit->text->flags;
    bool telling = flags & (TOKEN_NUMBER | TOKEN_SYMBOL | TOKEN_BARE) ||
                   token_names(mine, edit->pattern) || token_names(theirs, edit->text) ||
                   claims & (CLAIM_NEGATION | CLAIM_TURN);
    if (telling) {
        return WEIGHT_CONFLICT;
    }
    bool light = token_claims(mine, edit->pattern) & CLAIM_LIGHT &&
                 token_claims(theirs, edit->text) & CLAIM_LIGHT;
    bool spelling = differ_in_one(mine + edit->pattern->start, edit->pattern->length,
                                  theirs + edit->text->start, edit->text->length);
    return light || spelling ? WEIGHT_NONE : WEIGHT_CONFLICT;
}

/* Rows of numbers that share a number or two say nothing of each other. */
static bool says_enough(const struct page_comparison *comparison, const struct seeker *seeker)
{
    size_t words = 0;
    for (size_t i = 0; i < comparison->said->tokens.count; i++) {
        words += !(comparison->said->tokens.items[i].flags & (TOKEN_NUMBER | TOKEN_SYMBOL));
    }
    return words >= LEAST_SAID + seeker->edit_count / 2;
}

static const char *copy_place(struct evidence *evidence, size_t source, size_t start, size_t end)
{
    const char *text = evidence_page(evidence, source)->text + start;
    return arena_strndup(evidence->arena, text, text_prefix(text, end - start, MOST_QUOTED));
}

/* The same two places, listed with more words around them or with less; NULL: they are not. */
static struct evidence_conflict *listed(struct evidence *evidence,
                                        const struct evidence_conflict *conflict)
{
    for (size_t i = 0; i < evidence->conflict_count; i++) {
        struct evidence_conflict *old = &evidence->conflicts[i];
        for (int turned = 0; turned < 2; turned++) {
            bool same = true;
            for (int side = 0; side < 2; side++) {
                int other = turned ? !side : side;
                same = same && old->source[side] == conflict->source[other] &&
                       old->start[side] < conflict->end[other] &&
                       conflict->start[other] < old->end[side];
            }
            if (same) {
                return old;
            }
        }
    }
    return NULL;
}

static bool take_place(void *context, const struct seeker *seeker, size_t first, size_t end)
{
    struct page_comparison *comparison = context;
    struct evidence *evidence = comparison->evidence;
    const struct said *said = &comparison->saids->items[seeker - comparison->seekers];
    const struct token *last = &comparison->page->items[end - 1];
    bool contradicts = false;
    comparison->said = said;
    for (size_t i = 0; i < seeker->edit_count; i++) {
        enum weight weight = weigh(comparison, &seeker->edits[i]);
        if (weight == WEIGHT_OTHER) {
            return true;
        }
        contradicts = contradicts || weight == WEIGHT_CONFLICT;
    }
    if (!contradicts || !says_enough(comparison, seeker)) {
        return true;
    }
    size_t start = comparison->page->items[first].start;
    struct evidence_conflict conflict = {
        .note = said->note,
        .source = {said->source, comparison->source},
        .start = {said->start, start},
        .end = {said->end, last->start + last->length},
        .quote = {copy_place(evidence, said->source, said->start, said->end),
                  copy_place(evidence, comparison->source, start, last->start + last->length)},
    };
    if (!conflict.quote[0] || !conflict.quote[1]) {
        comparison->status = ERR_NOMEM;
        return false;
    }
    struct evidence_conflict *old = listed(evidence, &conflict);
    if (old) {
        bool more = old->source[0] == conflict.source[0] &&
                    conflict.end[0] - conflict.start[0] > old->end[0] - old->start[0];
        *old = more ? conflict : *old;
        return true;
    }
    struct evidence_conflict *conflicts =
        arena_grow(evidence->arena, evidence->conflicts, evidence->conflict_count,
                   &evidence->conflict_capacity, sizeof *conflicts);
    if (!conflicts) {
        comparison->status = ERR_NOMEM;
        return false;
    }
    evidence->conflicts = conflicts;
    conflicts[evidence->conflict_count++] = conflict;
    return evidence->conflict_count < LIMIT_EVIDENCE_CONFLICTS;
}

/* Looks for all sentences on one page. */
static int compare_page(struct page_comparison *comparison, struct arena *scratch,
                        struct pattern_net *nets)
{
    struct evidence *evidence = comparison->evidence;
    const struct evidence_page *page = evidence_page(evidence, comparison->source);
    struct tokens tokens;
    int status = tokens_read(scratch, page->text, page->length, false, &tokens);
    tokens_drop_marks(&tokens);
    comparison->page = &tokens;
    for (size_t i = 0; i < comparison->saids->count; i++) {
        comparison->seekers[i].rests = comparison->saids->items[i].source == comparison->source;
    }
    for (size_t i = 0; status == OK && i < NETS; i++) {
        if (evidence->conflict_count < LIMIT_EVIDENCE_CONFLICTS) {
            net_run(&nets[i], &tokens, &evidence->work);
        }
    }
    comparison->page = NULL;
    return status == OK ? comparison->status : status;
}

static int by_length(const void *a, const void *b)
{
    const struct said *one = a, *other = b;
    bool longer = one->tokens.count >= TWO_EXCHANGED,
         long_other = other->tokens.count >= TWO_EXCHANGED;
    if (longer != long_other) {
        return longer - long_other;
    }
    return one->order < other->order ? -1 : one->order > other->order;
}

/* Short sentences and long ones have a net each. OK or ERR_NOMEM. */
static int make_nets(struct page_comparison *comparison, struct arena *arena, struct saids *saids,
                     struct pattern_net nets[NETS])
{
    size_t count = saids->count, brief = 0;
    int status = OK;
    if (count > 0) {
        qsort(saids->items, count, sizeof *saids->items, by_length);
    }
    comparison->saids = saids;
    comparison->seekers = arena_alloc(arena, (count + 1) * sizeof *comparison->seekers);
    if (!comparison->seekers) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; status == OK && i < count; i++) {
        size_t words = saids->items[i].tokens.count;
        size_t most = words >= MORE ? 3 : words >= TWO_EXCHANGED ? 2 : 1;
        brief += words < TWO_EXCHANGED;
        status =
            seeker_init(&comparison->seekers[i], arena, saids->items[i].tokens.items, words, most);
    }
    for (size_t i = 0; status == OK && i < NETS; i++) {
        status = net_init(&nets[i], arena, comparison->seekers + (i ? brief : 0),
                          i ? count - brief : brief, i ? 3 : 2);
        nets[i].take = take_place;
        nets[i].context = comparison;
    }
    return status;
}

const struct evidence_conflict *evidence_conflicts(struct evidence *evidence, size_t *count)
{
    struct saids saids = {0};
    struct page_comparison comparison = {.evidence = evidence};
    struct pattern_net nets[NETS];
    struct arena *kept = evidence->compared ? NULL : arena_new(LIMIT_EVIDENCE_SCRATCH);
    struct arena *scratch = kept ? arena_new(LIMIT_EVIDENCE_SCRATCH) : NULL;
    saids.slots = scratch ? arena_zalloc(kept, SLOTS * sizeof *saids.slots) : NULL;
    int status = saids.slots ? collect(evidence, kept, scratch, &saids) : ERR_NOMEM;
    if (status == OK) {
        status = make_nets(&comparison, kept, &saids, nets);
    }
    for (size_t i = 1; status == OK && saids.count && i <= evidence->page_count; i++) {
        if (evidence_page(evidence, i)->text) {
            comparison.source = i;
            status = compare_page(&comparison, scratch, nets);
            arena_reset(scratch);
        }
    }
    evidence->compared = true;
    arena_free(scratch);
    arena_free(kept);
    *count = evidence->conflict_count;
    return evidence->conflicts;
}
