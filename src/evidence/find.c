/* The search for a quote: word by word first (Knuth, Morris and Pratt), then with few exchanges.
 *
 * Of a pattern that differs from a text in at most k tokens a stretch of (n - k) / (k + 1) tokens
 * is the same in both. So blocks of the pattern that are short enough are looked for in the text,
 * and where one is, the two are aligned around it, in a band of some k tokens to either side. */
#include "evidence/find.h"

#include "core/limits.h"
#include "index/fold.h"
#include "text/slice.h"
#include "text/text.h"

#include <string.h>

#define NEAR_PART   20 /* of so many tokens one may be another */
#define NEAR_BLOCK  5
#define LEAST_WORDS 4 /* of a quote; less is found anywhere */
#define LEAST_BARE  8 /* characters of a script without blanks, of which two are about a word */

enum alignment_step { STEP_SAME, STEP_EXCHANGED, STEP_MISSING, STEP_ADDED, STEP_NONE };

/* ---- blocks ---- */

static uint64_t hash_block(const struct token *tokens, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ tokens[i].hash) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    return hash;
}

int seeker_init(struct seeker *seeker, struct arena *arena, const struct token *pattern,
                size_t count, size_t most)
{
    size_t band = 2 * most + 1;
    size_t width = 2 * band + 1;
    *seeker = (struct seeker){.pattern = pattern, .count = count, .most = most, .band = band};
    seeker->edits = arena_alloc(arena, (2 * most + 2) * sizeof *seeker->edits);
    seeker->steps = arena_alloc(arena, (count + 1) * width);
    seeker->costs = arena_alloc(arena, 2 * width * sizeof *seeker->costs);
    return seeker->edits && seeker->steps && seeker->costs ? OK : ERR_NOMEM;
}

/* A block of a pattern. */
struct knot {
    uint32_t seeker; /* whose */
    uint32_t at;     /* where in it */
    uint32_t next;   /* another one of the same slot: its number plus one */
};

int net_init(struct pattern_net *net, struct arena *arena, struct seeker *seekers, size_t count,
             size_t block)
{
    size_t blocks = 0, used = 0;
    for (size_t i = 0; i < count; i++) {
        blocks += seekers[i].count / block;
    }
    *net = (struct pattern_net){
        .seekers = seekers, .count = count, .block = block, .mask = 15, .arena = arena};
    while (net->mask < 2 * blocks) {
        net->mask = net->mask * 2 + 1;
    }
    net->slots = arena_zalloc(arena, (net->mask + 1) * sizeof *net->slots);
    net->knots = arena_alloc(arena, (blocks + 1) * sizeof *net->knots);
    if (!net->slots || !net->knots) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at + block <= seekers[i].count; at += block) {
            size_t slot = hash_block(seekers[i].pattern + at, block) & net->mask;
            net->knots[used] = (struct knot){(uint32_t)i, (uint32_t)at, net->slots[slot]};
            net->slots[slot] = (uint32_t)++used;
        }
    }
    return OK;
}

static bool same_block(const struct token *a, const struct token *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].hash != b[i].hash) {
            return false;
        }
    }
    return true;
}

/* ---- aligning ---- */

/* The costs of one row of the band: the first `row` tokens of the pattern against the text up to
 * each place of the band. */
static void fill_row(const struct seeker *seeker, const struct tokens *text, ptrdiff_t start,
                     size_t row, const uint16_t *above, uint16_t *costs)
{
    const size_t width = 2 * seeker->band + 1;
    unsigned char *steps = seeker->steps + row * width;
    const uint16_t never = UINT16_MAX / 2;
    const bool mine = seeker->fixed_text && seeker->fixed_pattern[row - 1];
    for (size_t place = 0; place < width; place++) {
        /* The text's token at the end of this cell. */
        ptrdiff_t at = start + (ptrdiff_t)row - 1 + (ptrdiff_t)place - (ptrdiff_t)seeker->band;
        bool inside = at >= 0 && (size_t)at < text->count;
        bool theirs = seeker->fixed_text && seeker->fixed_text[row - 1 + place];
        bool same = inside && text->items[at].hash == seeker->pattern[row - 1].hash;
        uint16_t best = never;
        enum alignment_step step = STEP_NONE;
        if (same || (inside && !mine && !theirs)) {
            best = (uint16_t)(above[place] + (same ? 0 : 1));
            step = same ? STEP_SAME : STEP_EXCHANGED;
        }
        if (place + 1 < width && !mine && above[place + 1] + 1 < best) {
            best = (uint16_t)(above[place + 1] + 1);
            step = STEP_MISSING;
        }
        if (place > 0 && inside && !theirs && costs[place - 1] + 1 < best) {
            best = (uint16_t)(costs[place - 1] + 1);
            step = STEP_ADDED;
        }
        costs[place] = best < never ? best : never;
        steps[place] = (unsigned char)step;
    }
}

/* Goes back over the steps and notes what differs; the first token of the text. */
static size_t trace(struct seeker *seeker, const struct tokens *text, ptrdiff_t start, size_t place)
{
    const size_t width = 2 * seeker->band + 1;
    size_t row = seeker->count;
    seeker->edit_count = 0;
    while (row > 0) {
        const enum alignment_step step = seeker->steps[row * width + place];
        size_t at =
            (size_t)(start + (ptrdiff_t)row - 1 + (ptrdiff_t)place - (ptrdiff_t)seeker->band);
        struct token_edit edit = {
            .pattern = step == STEP_ADDED ? NULL : &seeker->pattern[row - 1],
            .text = step == STEP_MISSING ? NULL : &text->items[at],
        };
        if (step != STEP_SAME && seeker->edit_count < 2 * seeker->most + 2) {
            seeker->edits[seeker->edit_count++] = edit;
        }
        place = step == STEP_MISSING ? place + 1 : step == STEP_ADDED ? place - 1 : place;
        row -= step == STEP_ADDED ? 0 : 1;
    }
    return (size_t)(start + (ptrdiff_t)place - (ptrdiff_t)seeker->band);
}

/* Aligns the pattern with the text, where its first token would stand at `start` if nothing before
 * the block differed. False when they differ in too much. */
static bool align(struct seeker *seeker, const struct tokens *text, ptrdiff_t start, size_t *first,
                  size_t *end)
{
    const size_t width = 2 * seeker->band + 1;
    uint16_t *above = seeker->costs, *costs = seeker->costs + width;
    for (size_t place = 0; place < width; place++) {
        ptrdiff_t at = start + (ptrdiff_t)place - (ptrdiff_t)seeker->band;
        above[place] = at >= 0 && (size_t)at <= text->count ? 0 : UINT16_MAX / 2;
    }
    for (size_t row = 1; row <= seeker->count; row++) {
        fill_row(seeker, text, start, row, above, costs);
        uint16_t *swapped = above;
        above = costs;
        costs = swapped;
    }
    /* Of those that cost the same, the one whose last token is there, if it is another. */
    const unsigned char *steps = seeker->steps + seeker->count * width;
    size_t best = 0;
    for (size_t place = 1; place < width; place++) {
        bool whole = steps[place] < STEP_MISSING && steps[best] >= STEP_MISSING;
        best = above[place] < above[best] || (above[place] == above[best] && whole) ? place : best;
    }
    if (above[best] > seeker->most) {
        return false;
    }
    *first = trace(seeker, text, start, best);
    *end = (size_t)(start + (ptrdiff_t)seeker->count + (ptrdiff_t)best - (ptrdiff_t)seeker->band);
    return true;
}

/* Aligns them again where some tokens must be on both sides. */
static bool align_fixed(const struct pattern_net *net, struct seeker *seeker,
                        const struct tokens *text, ptrdiff_t start, size_t *first, size_t *end)
{
    size_t band = seeker->count + 2 * seeker->band;
    if (!seeker->fixed_pattern) {
        seeker->fixed_pattern = arena_alloc(net->arena, seeker->count);
        for (size_t i = 0; seeker->fixed_pattern && i < seeker->count; i++) {
            seeker->fixed_pattern[i] = net->is_fixed(net->context, true, &seeker->pattern[i]);
        }
    }
    bool *fixed = arena_zalloc(net->arena, band);
    if (!seeker->fixed_pattern || !fixed) {
        return false;
    }
    for (size_t i = 0; i < band; i++) {
        ptrdiff_t at = start + (ptrdiff_t)i - (ptrdiff_t)seeker->band;
        fixed[i] = at >= 0 && (size_t)at < text->count &&
                   net->is_fixed(net->context, false, &text->items[at]);
    }
    seeker->fixed_text = fixed;
    bool good = align(seeker, text, start, first, end);
    seeker->fixed_text = NULL; /* the next place is looked at without */
    return good;
}

/* Looks at a place where a block is the same. False ends the search. */
static bool try_place(const struct pattern_net *net, const struct knot *knot,
                      const struct tokens *text, size_t at, size_t *work)
{
    size_t first, end;
    struct seeker *seeker = &net->seekers[knot->seeker];
    /* Places that are near each other are one, in the middle of a band that is wide enough. */
    ptrdiff_t wide = (ptrdiff_t)seeker->most + 1;
    ptrdiff_t place = ((ptrdiff_t)at + (ptrdiff_t)seeker->count - (ptrdiff_t)knot->at) / wide;
    ptrdiff_t start = place * wide - (ptrdiff_t)seeker->count;
    ptrdiff_t *tried = &seeker->tried[(size_t)place % SEEKER_PLACES];
    size_t cost = seeker->count * (2 * seeker->band + 1);
    if (seeker->rests || *tried == place ||
        !same_block(text->items + at, seeker->pattern + knot->at, net->block)) {
        return true; /* aligned already, or only its hash is the same */
    }
    if (*work < cost) {
        return false;
    }
    *work -= cost;
    *tried = place;
    bool good = align(seeker, text, start, &first, &end) &&
                (!net->is_fixed || seeker->edit_count == 0 ||
                 align_fixed(net, seeker, text, start, &first, &end));
    return !good || net->take(net->context, seeker, first, end);
}

void net_run(struct pattern_net *net, const struct tokens *text, size_t *work)
{
    for (size_t i = 0; i < net->count; i++) {
        for (size_t j = 0; j < SEEKER_PLACES; j++) {
            net->seekers[i].tried[j] = -1;
        }
    }
    for (size_t at = 0; at + net->block <= text->count; at++) {
        size_t slot = hash_block(text->items + at, net->block) & net->mask;
        for (uint32_t number = net->slots[slot]; number; number = net->knots[number - 1].next) {
            if (!try_place(net, &net->knots[number - 1], text, at, work)) {
                return;
            }
        }
    }
}

/* ---- quotes ---- */

struct quest {
    const char *text, *quote;
    const struct tokens *tokens, *quoted;
    size_t *work; /* the account */
    struct found_quote *found;
};

static void set_found(struct found_quote *found, enum evidence_grade grade,
                      const struct tokens *tokens, size_t first, size_t end)
{
    const struct token *last = &tokens->items[end - 1];
    found->grade = grade;
    found->start = tokens->items[first].start;
    found->end = last->start + last->length;
}

/* Whether a token must be on both sides. */
static bool is_fixed(void *context, bool of_quote, const struct token *token)
{
    const struct quest *quest = context;
    const char *text = of_quote ? quest->quote : quest->text;
    return token->flags & (TOKEN_NUMBER | TOKEN_SYMBOL | TOKEN_BARE) || token_names(text, token) ||
           token_claims(text, token) & (CLAIM_NEGATION | CLAIM_TURN);
}

/* Whether one word is the other with a syllable before it that turns it around: able, unable. */
static bool turns_around(struct slice longer, struct slice shorter)
{
    static const char *const SYLLABLES[] = {"un", "in",  "im", "il",  "ir", "dis",  "non",
                                            "de", "mis", "a",  "non", "re", "anti", "counter"};
    for (size_t i = 0; i < sizeof SYLLABLES / sizeof *SYLLABLES; i++) {
        size_t length = strlen(SYLLABLES[i]);
        struct slice rest = {longer.data + length, longer.length - length};
        if (longer.length > length && strncasecmp(longer.data, SYLLABLES[i], length) == 0 &&
            slice_same_any_case(rest, shorter)) {
            return true;
        }
    }
    return false;
}

/* ---- units ---- */

/* Behind the next token from `at` on that turns a claim around, with what parts it from its
 * neighbours in `apart`; beyond `end` when there is none. What stands outside of the range parts
 * nothing. */
static size_t next_turn(const char *text, const struct tokens *tokens, size_t first, size_t at,
                        size_t end, unsigned apart[2])
{
    for (; at < end; at++) {
        unsigned claims = token_claims(text, &tokens->items[at]);
        size_t next = at + 1;
        if (!(claims & (CLAIM_NEGATION | CLAIM_TURN))) {
            continue;
        }
        while (next < end && tokens->items[next].flags & TOKEN_MARK) {
            next++;
        }
        /* A comma behind "to" may come and go; one behind "no" may not. */
        unsigned weighed = TOKEN_BREAK | (claims & CLAIM_NEGATION ? TOKEN_PAUSE : 0);
        apart[0] = at > first ? tokens->items[at].flags & weighed : 0;
        apart[1] = next < end ? tokens->items[next].flags & weighed : 0;
        return at + 1;
    }
    return end + 1;
}

/* Whether no word that turns a claim around stands in another unit than on the page: "Recalled | No
 * | Defects were found" does not say "no defects were found". Such words are the same on both
 * sides, so the first of one is the first of the other. */
static bool keeps_units(const struct quest *quest, size_t first, size_t end)
{
    size_t mine = 0, theirs = first;
    size_t cost = end - first + quest->quoted->count;
    if (*quest->work < cost) {
        return false;
    }
    *quest->work -= cost;
    for (;;) {
        unsigned quoted[2] = {0}, found[2] = {0};
        mine = next_turn(quest->quote, quest->quoted, 0, mine, quest->quoted->count, quoted);
        theirs = next_turn(quest->text, quest->tokens, first, theirs, end, found);
        if (mine > quest->quoted->count || theirs > end) {
            return true;
        }
        if (quoted[0] != found[0] || quoted[1] != found[1]) {
            return false;
        }
    }
}

/* ---- borders ---- */

/* The nearest token to one side that is no mark; NULL: there is none. */
static const struct token *neighbour(const struct tokens *tokens, size_t at, bool before)
{
    const struct token *token = NULL;
    while (!token && (before ? at > 0 : at < tokens->count)) {
        at -= before;
        token = tokens->items[at].flags & TOKEN_MARK ? NULL : &tokens->items[at];
        at += !before;
    }
    return token;
}

/* Whether a sign belongs to the number before it, and not to the one behind it: 5 %, 5 °, 5". */
static bool is_behind_its_number(const char *text, const struct token *sign)
{
    static const char *const SIGNS[] = {"%", "\"", "'", "°", "‰", "′", "″", "”", "’", "="};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (strncmp(text + sign->start, SIGNS[i], strlen(SIGNS[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the place has all of the number at its border, with the sign beside it. */
static bool keeps_number(const char *text, const struct token *number, const struct token *beside,
                         bool before)
{
    if (!(number->flags & (before ? TOKEN_NUMBER | TOKEN_SYMBOL : TOKEN_NUMBER))) { /* ~$5 */
        return true;
    }
    const struct token *one = before ? beside : number, *other = before ? number : beside;
    bool glued = beside->flags & TOKEN_NUMBER && one->start + one->length == other->start; /* 1½ */
    bool sign = beside->flags & TOKEN_SYMBOL && text[beside->start] != '=' &&
                !(before && is_behind_its_number(text, beside));
    return !glued && !sign;
}

/* Whether the place leaves out nothing beside it that turns it around: the "~" or the "%" of a
 * number, or the "nobody" before "who was there was harmed". */
static bool keeps_borders(const struct quest *quest, size_t first, size_t end)
{
    const struct tokens *tokens = quest->tokens;
    const unsigned parted = TOKEN_BREAK | TOKEN_PAUSE;
    const char *text = quest->text;
    const struct token *before = neighbour(tokens, first, true);
    const struct token *after = neighbour(tokens, end, false);
    if (before && !(tokens->items[first].flags & parted) &&
        (token_claims(text, before) & CLAIM_NEGATION ||
         !keeps_number(text, &tokens->items[first], before, true))) {
        return false;
    }
    if (!after || after->flags & parted) {
        return true;
    }
    /* "Er kommt nicht." A "not" that more follows may be of that. */
    const struct token *beyond = neighbour(tokens, (size_t)(after - tokens->items) + 1, false);
    bool last = !beyond || beyond->flags & parted;
    return !(last && token_claims(text, after) & CLAIM_NEGATION) &&
           keeps_number(text, &tokens->items[end - 1], after, false);
}

/* ---- word by word ---- */

/* The place of the quote in the text, or SIZE_MAX. OK or ERR_NOMEM. */
static int find_same(struct arena *scratch, const struct quest *quest, size_t *place)
{
    const struct tokens *pattern = quest->quoted, *text = quest->tokens;
    size_t *back = arena_alloc(scratch, (pattern->count + 1) * sizeof *back);
    const struct token *wanted = pattern->items;
    *place = SIZE_MAX;
    if (!back) {
        return ERR_NOMEM;
    }
    back[0] = 0;
    for (size_t i = 1, same = 0; i < pattern->count; i++) {
        while (same && wanted[i].hash != wanted[same].hash) {
            same = back[same - 1];
        }
        same += wanted[i].hash == wanted[same].hash;
        back[i] = same;
    }
    for (size_t i = 0, same = 0; i < text->count; i++) {
        while (same && text->items[i].hash != wanted[same].hash) {
            same = back[same - 1];
        }
        same += text->items[i].hash == wanted[same].hash;
        if (same == pattern->count && keeps_units(quest, i + 1 - same, i + 1) &&
            keeps_borders(quest, i + 1 - same, i + 1)) {
            *place = i + 1 - same;
            return OK;
        }
        same = same == pattern->count ? back[same - 1] : same;
    }
    return OK;
}

/* ---- with a few words exchanged ---- */

static bool is_harmless(const struct quest *quest, const struct token_edit *edit)
{
    if (!edit->pattern || !edit->text) {
        return true;
    }
    struct slice one = {quest->quote + edit->pattern->start, edit->pattern->length};
    struct slice other = {quest->text + edit->text->start, edit->text->length};
    return !turns_around(one, other) && !turns_around(other, one);
}

static bool take_place(void *context, const struct seeker *seeker, size_t first, size_t end)
{
    const struct quest *quest = context;
    for (size_t i = 0; i < seeker->edit_count; i++) {
        if (!is_harmless(quest, &seeker->edits[i])) {
            return true;
        }
    }
    if (!keeps_units(quest, first, end) || !keeps_borders(quest, first, end)) {
        return true;
    }
    set_found(quest->found, EVIDENCE_NEAR, quest->tokens, first, end);
    return false;
}

/* Without the marks around it, which are those of whoever quotes. */
static void trim(struct tokens *tokens)
{
    while (tokens->count && tokens->items[0].flags & TOKEN_MARK) {
        tokens->items++;
        tokens->count--;
    }
    while (tokens->count && tokens->items[tokens->count - 1].flags & TOKEN_MARK) {
        tokens->count--;
    }
}

/* Whether it is long enough to say something: words enough, and among them a number, a name or two
 * that are not in every sentence. "Privacy Policy" is on all pages and says nothing. A number with
 * what it is of is a row of a table, and may be one word shorter. */
static bool says_something(const char *text, const struct tokens *quote)
{
    size_t words = 0, bare = 0, telling = 0;
    bool number = false;
    for (size_t i = 0; i < quote->count; i++) {
        const struct token *token = &quote->items[i];
        const char *first = text + token->start;
        if (token->flags & (TOKEN_MARK | TOKEN_SYMBOL)) {
            continue;
        }
        bool unspaced = token->flags & TOKEN_BARE &&
                        fold_class(text_next(&first, first + token->length)) == FOLD_UNSPACED;
        bare += unspaced;
        words += !unspaced;
        number = number || token->flags & TOKEN_NUMBER;
        telling += token->flags & TOKEN_NUMBER || token_names(text, token) ? 2
                   : token_is_common(text, token)                          ? 0
                                                                           : 1;
    }
    words += bare * LEAST_WORDS / LEAST_BARE;
    return (words >= LEAST_WORDS && telling >= 2) ||
           (number && words + 1 >= LEAST_WORDS && telling >= 3);
}

static int find_tokens(struct arena *scratch, struct quest *quest, struct tokens *quote,
                       struct tokens *text)
{
    size_t place;
    int status = find_same(scratch, quest, &place);
    if (status != OK || place != SIZE_MAX) {
        if (status == OK) {
            set_found(quest->found, EVIDENCE_EXACT, text, place, place + quote->count);
        }
        return status;
    }
    tokens_drop_marks(quote);
    tokens_drop_marks(text);
    status = find_same(scratch, quest, &place);
    if (status != OK || place != SIZE_MAX) {
        if (status == OK) {
            set_found(quest->found, EVIDENCE_NEAR, text, place, place + quote->count);
        }
        return status;
    }
    size_t most = quote->count / NEAR_PART;
    if (most == 0) {
        return OK;
    }
    struct seeker seeker;
    struct pattern_net net;
    status = seeker_init(&seeker, scratch, quote->items, quote->count, most);
    if (status == OK) {
        status = net_init(&net, scratch, &seeker, 1, NEAR_BLOCK);
    }
    if (status == OK) {
        net.is_fixed = is_fixed;
        net.take = take_place;
        net.context = quest;
        net_run(&net, text, quest->work);
    }
    return status;
}

int find_quote(const char *text, size_t length, const char *quote, size_t *work,
               struct found_quote *found)
{
    struct arena *scratch = arena_new(LIMIT_EVIDENCE_SCRATCH);
    struct tokens of_quote = {0}, of_text = {0};
    struct quest quest = {.text = text,
                          .quote = quote,
                          .tokens = &of_text,
                          .quoted = &of_quote,
                          .work = work,
                          .found = found};
    *found = (struct found_quote){.grade = EVIDENCE_ABSENT};
    int status = scratch ? tokens_read(scratch, quote, strlen(quote), true, &of_quote) : ERR_NOMEM;
    trim(&of_quote);
    if (status == OK && !strchr(quote, TOKEN_SEAM) && says_something(quote, &of_quote)) {
        status = tokens_read(scratch, text, length, false, &of_text);
    }
    if (status == OK && of_text.count) {
        status = find_tokens(scratch, &quest, &of_quote, &of_text);
    }
    arena_free(scratch);
    return status == ERR_LIMIT ? OK : status; /* what is too long is not on the page */
}
