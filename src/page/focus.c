/* Ranks the pieces of a page, chooses those that fit, and writes them. */
#include "page/focus.h"

#include "call/parts.h"
#include "core/buf.h"
#include "core/limits.h"
#include "index/fuse.h"
#include "index/index.h"
#include "meaning/meaning.h"
#include "page/paging.h"
#include "page/pieces.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_CHARS   100 /* of a heading in a path */
#define CHECKED_EVERY 64  /* pieces, whether the call goes on */
#define REACH         2 /* pieces around a hit that may be shown with it, for a part of its score */

static const double SHARES[REACH + 1] = {1, 0.5, 0.3};

/* The section that a piece is in. */
struct section {
    const char *path;
    size_t path_chars;
};

struct focus {
    struct arena *arena;
    const char *text;
    const struct piece *pieces;
    size_t count;
    bool whole; /* all pieces are there */
    const struct paging_heading *headings;
    size_t heading_count;
    struct section *sections; /* of each heading; one more for what is above the first */
    uint32_t *section_of;     /* of each piece */
    const struct index_hit *hits;
    size_t hit_count;
};

/* ---- headings ---- */

/* The path of a heading: those above it, the highest first. */
static int name_sections(struct focus *focus)
{
    size_t above[8] = {0}; /* number + 1 of the last heading of each level */
    focus->sections =
        arena_zalloc(focus->arena, (focus->heading_count + 1) * sizeof *focus->sections);
    if (!focus->sections) {
        return ERR_NOMEM;
    }
    focus->sections[focus->heading_count].path = "";
    for (size_t i = 0; i < focus->heading_count; i++) {
        const struct paging_heading *heading = &focus->headings[i];
        size_t parent = 0;
        for (int level = 1; level < heading->level; level++) {
            parent = above[level] ? above[level] : parent;
        }
        memset(above + heading->level, 0, sizeof above - (size_t)heading->level * sizeof *above);
        above[heading->level] = i + 1;
        const char *before = parent ? focus->sections[parent - 1].path : "";
        int kept = (int)text_prefix(heading->title, strlen(heading->title), TITLE_CHARS);
        focus->sections[i].path = arena_printf(focus->arena, "%s%s%.*s", before,
                                               *before ? " > " : "", kept, heading->title);
        if (!focus->sections[i].path) {
            return ERR_NOMEM;
        }
    }
    for (size_t i = 0; i < focus->heading_count; i++) {
        const char *path = focus->sections[i].path;
        focus->sections[i].path_chars = text_count(path, strlen(path));
    }
    return OK;
}

static int find_sections(struct focus *focus)
{
    size_t section = focus->heading_count;
    size_t next = 0;
    focus->section_of = arena_alloc(focus->arena, (focus->count + 1) * sizeof *focus->section_of);
    if (!focus->section_of) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < focus->count; i++) {
        while (next < focus->heading_count && focus->headings[next].start <= focus->pieces[i].at) {
            section = next++;
        }
        focus->section_of[i] = (uint32_t)section;
    }
    return OK;
}

static const struct section *section_of(const struct focus *focus, size_t piece)
{
    return &focus->sections[focus->section_of[piece]];
}

/* ---- ranking ---- */

static int64_t id_of(const struct focus *focus, size_t piece)
{
    return (int64_t)(focus->count - piece); /* of equal ones the higher comes first */
}

static size_t piece_of(const struct focus *focus, int64_t id)
{
    return focus->count - (size_t)id;
}

static int fill_index(struct call *call, const struct focus *focus, struct index *index)
{
    struct buf text;
    int status = OK;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    for (size_t i = 0; i < focus->count && status == OK; i++) {
        const struct piece *piece = &focus->pieces[i];
        buf_clear(&text);
        buf_append(&text, focus->text + piece->start, piece->end - piece->start);
        struct index_entry entry = {
            .id = id_of(focus, i),
            .summary = section_of(focus, i)->path,
            .text = text.data,
        };
        status = buf_error(&text);
        status = status == OK ? index_put(index, &entry) : status;
        status = status == OK && i % CHECKED_EVERY == 0 ? call_check(call) : status;
    }
    buf_done(&text);
    return status == OK ? index_settle(index) : status;
}

static bool passes_all(const void *context, int64_t id)
{
    (void)context;
    (void)id;
    return true;
}

/* Vectors of the first pieces that words found, each behind the headings above it. */
static int embed_hits(struct call *call, const struct focus *focus, const struct index_found *found,
                      size_t count, struct vectors *set)
{
    char problem[MEANING_PROBLEM_SIZE];
    struct slice texts[FOCUS_MEANT];
    struct meaning_vectors made;
    for (size_t i = 0; i < count; i++) {
        size_t number = piece_of(focus, found->hits[i].id);
        const struct piece *piece = &focus->pieces[number];
        const char *path = section_of(focus, number)->path;
        texts[i].data = arena_printf(focus->arena, "%s%s%.*s", path, *path ? ": " : "",
                                     (int)(piece->end - piece->start), focus->text + piece->start);
        texts[i].length = texts[i].data ? strlen(texts[i].data) : 0;
    }
    int status = arena_failed(focus->arena)
                     ? ERR_NOMEM
                     : meaning_of_texts(call, texts, count, &made, problem, sizeof problem);
    for (size_t i = 0; i < count && status == OK; i++) {
        unsigned char packed[VECTORS_PACKED(LIMIT_MEANING_DIMENSIONS)];
        vectors_pack(made.numbers + i * made.dimensions, made.dimensions, packed);
        status = vectors_put(set, found->hits[i].id, 0, packed, VECTORS_PACKED(made.dimensions),
                             made.dimensions);
    }
    return status;
}

/* Ranks the first of what words found anew, by words and meaning; the rest stays behind them. A
 * model that gives no vectors costs nobody the words' ranking. */
static int join_meaning(struct call *call, const struct focus *focus,
                        const struct focus_request *request, struct index_found *found)
{
    char problem[MEANING_PROBLEM_SIZE];
    struct meaning_vectors asked;
    struct meaning *meaning = call_parts(call)->meaning;
    size_t count = request->meant < FOCUS_MEANT ? request->meant : FOCUS_MEANT;
    count = found->count < count ? found->count : count;
    const char *model = count > 1 && meaning_is_here(meaning) ? meaning_model(meaning) : NULL;
    if (!model) {
        return OK;
    }
    struct vectors *set = vectors_new();
    struct index_found top = {.hits = found->hits, .count = count};
    int status =
        set ? meaning_of_query(call, model, request->question, &asked, problem, sizeof problem)
            : ERR_NOMEM;
    status = status == OK ? embed_hits(call, focus, found, count, set) : status;
    if (status == OK) {
        status = fuse_hits(focus->arena, set, asked.numbers, passes_all, NULL, &top);
    }
    if (status == OK) {
        /* What was not compared comes behind what was, in the order of words. */
        double scale = top.hits[count - 1].score / found->hits[count - 1].score;
        memcpy(found->hits, top.hits, count * sizeof *top.hits);
        for (size_t i = count; i < found->count; i++) {
            found->hits[i].score *= scale;
        }
    }
    vectors_free(set);
    return status == ERR_IO || status == ERR_INVALID ? OK : status;
}

static int ask_index(struct call *call, struct focus *focus, const struct focus_request *request)
{
    struct index_found found = {0};
    struct index_filter filter = {.until_ms = INT64_MAX};
    struct index *index = index_new();
    int status = index ? fill_index(call, focus, index) : ERR_NOMEM;
    if (status == OK) {
        status = index_search(index, focus->arena, request->question, &filter, LIMIT_FOCUS_HITS, 0,
                              &found);
    }
    status = status == OK ? join_meaning(call, focus, request, &found) : status;
    focus->hits = found.hits;
    focus->hit_count = found.count;
    index_free(index);
    return status;
}

int focus_rank(struct call *call, const struct focus_request *request, struct focus **out)
{
    struct arena *arena = call_arena(call);
    struct focus *focus = arena_zalloc(arena, sizeof *focus);
    if (!focus) {
        return ERR_NOMEM;
    }
    *focus = (struct focus){.arena = arena, .text = request->text};
    *out = focus;
    size_t start = text_prefix(request->text, request->length, request->start);
    size_t end = text_prefix(request->text, request->length, request->end);
    int status =
        pieces_cut(arena, request->text, start, end, &focus->pieces, &focus->count, &focus->whole);
    if (status == OK) {
        status = paging_outline(arena, request->text, request->length, &focus->headings,
                                &focus->heading_count);
    }
    status = status == OK ? name_sections(focus) : status;
    status = status == OK ? find_sections(focus) : status;
    return status == OK ? ask_index(call, focus, request) : status;
}

bool focus_found(const struct focus *focus)
{
    return focus->hit_count > 0;
}

bool focus_is_cut(const struct focus *focus)
{
    return !focus->whole;
}

/* ---- choosing ---- */

/* The pieces that are shown, in the order of the page. */
struct choice {
    const struct focus *focus;
    size_t *pieces;
    size_t count;
    size_t chars;
};

#define NO_PIECE SIZE_MAX

/* Whether a piece goes on where the one before it ends. */
static bool goes_on(const struct focus *focus, size_t before, size_t piece)
{
    return before != NO_PIECE && before + 1 == piece &&
           focus->section_of[before] == focus->section_of[piece];
}

static size_t digits(size_t number)
{
    return (size_t)snprintf(NULL, 0, "%zu", number);
}

/* The characters that a piece takes behind the one that is shown before it. */
static size_t cost(const struct focus *focus, size_t before, size_t piece)
{
    const struct piece *this = &focus->pieces[piece];
    size_t fence = this->fence ? this->fence->prefix.length + this->fence->marks.length + 1 : 0;
    if (goes_on(focus, before, piece)) {
        const struct piece *last = &focus->pieces[before];
        return this->at + this->chars - (last->at + last->chars) + fence;
    }

    size_t mark = strlen("[] ") + digits(this->at) + !this->prose;
    if (before == NO_PIECE || focus->section_of[before] != focus->section_of[piece]) {
        size_t path = section_of(focus, piece)->path_chars;
        mark += path ? strlen(" ") + path : 0;
    }
    size_t head = this->head.data ? text_count(this->head.data, this->head.length) + 1 : 0;
    return (before == NO_PIECE ? 0 : 2) + mark + head + this->chars + fence;
}

/* Where a piece belongs in the order. */
static size_t find_place(const struct choice *choice, size_t piece)
{
    size_t low = 0;
    size_t high = choice->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice->pieces[middle] < piece) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Takes a piece in if it fits. */
static void offer(struct choice *choice, size_t piece, size_t max_chars)
{
    const struct focus *focus = choice->focus;
    size_t place = find_place(choice, piece);
    size_t before = place > 0 ? choice->pieces[place - 1] : NO_PIECE;
    size_t chars = choice->chars + cost(focus, before, piece);
    if (place < choice->count) {
        size_t behind = choice->pieces[place];
        chars = chars - cost(focus, before, behind) + cost(focus, piece, behind);
    }
    if (chars <= max_chars) {
        memmove(choice->pieces + place + 1, choice->pieces + place,
                (choice->count - place) * sizeof *choice->pieces);
        choice->pieces[place] = piece;
        choice->count++;
        choice->chars = chars;
    }
}

struct candidate {
    double score;
    size_t piece;
};

static int by_score(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;
    return a->score != b->score  ? (a->score > b->score ? -1 : 1)
           : a->piece < b->piece ? -1
                                 : a->piece > b->piece;
}

/* Gives the score of a hit to its piece, and a part of it to those around it in the paragraph. */
static void spread(const struct focus *focus, const struct index_hit *hit,
                   struct candidate *candidates)
{
    size_t piece = piece_of(focus, hit->id);
    size_t first = piece > REACH ? piece - REACH : 0;
    for (size_t i = first; i <= piece + REACH && i < focus->count; i++) {
        double score = hit->score * SHARES[i < piece ? piece - i : i - piece];
        if (focus->pieces[i].paragraph == focus->pieces[piece].paragraph &&
            candidates[i].score < score) {
            candidates[i].score = score;
        }
    }
}

static int choose(struct choice *choice, size_t max_chars)
{
    const struct focus *focus = choice->focus;
    struct candidate *candidates = calloc(focus->count + 1, sizeof *candidates);
    choice->pieces = arena_alloc(focus->arena, (focus->count + 1) * sizeof *choice->pieces);
    if (!candidates || !choice->pieces) {
        free(candidates);
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < focus->count; i++) {
        candidates[i].piece = i;
    }
    for (size_t i = 0; i < focus->hit_count; i++) {
        spread(focus, &focus->hits[i], candidates);
    }
    qsort(candidates, focus->count, sizeof *candidates, by_score);
    for (size_t i = 0; i < focus->count && candidates[i].score > 0; i++) {
        offer(choice, candidates[i].piece, max_chars);
    }
    free(candidates);
    return OK;
}

/* ---- writing ---- */

static void write_mark(struct buf *out, const struct focus *focus, size_t before, size_t piece)
{
    const char *path = section_of(focus, piece)->path;
    bool same = before != NO_PIECE && focus->section_of[before] == focus->section_of[piece];
    bool named = !same && *path;
    buf_printf(out, "%s[%zu%s%s]%s", before == NO_PIECE ? "" : "\n\n", focus->pieces[piece].at,
               named ? " " : "", named ? path : "", focus->pieces[piece].prose ? " " : "\n\n");
}

/* Writes the passage that begins with a chosen piece; returns the place behind it. */
static size_t write_passage(struct buf *out, const struct choice *choice, size_t place)
{
    const struct focus *focus = choice->focus;
    size_t piece = choice->pieces[place];
    const struct piece *first = &focus->pieces[piece];
    const struct piece *last = first;
    write_mark(out, focus, place > 0 ? choice->pieces[place - 1] : NO_PIECE, piece);
    if (first->head.data) {
        buf_append(out, first->head.data, first->head.length);
        buf_putc(out, '\n');
    }
    for (place++;
         place < choice->count && goes_on(focus, choice->pieces[place - 1], choice->pieces[place]);
         place++) {
        last = &focus->pieces[choice->pieces[place]];
    }
    buf_append(out, focus->text + first->start, last->end - first->start);
    const char *closing = last->fence ? fence_closing(focus->arena, last->fence) : NULL;
    if (closing) {
        buf_putc(out, '\n');
        buf_puts(out, closing);
    }
    return place;
}

int focus_write(const struct focus *focus, size_t max_chars, const char **text, bool *whole)
{
    struct buf out;
    struct choice choice = {.focus = focus};
    int status = choose(&choice, max_chars);
    if (status != OK) {
        return status;
    }
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    for (size_t place = 0; place < choice.count;) {
        place = write_passage(&out, &choice, place);
    }
    *whole = focus->whole && choice.count == focus->count;
    *text = buf_error(&out) || arena_failed(focus->arena)
                ? NULL
                : arena_strndup(focus->arena, out.data ? out.data : "", out.length);
    buf_done(&out);
    return *text ? OK : ERR_NOMEM;
}
