/* Ranks the pieces of a page, and writes those that are chosen (choice.c). */
#include "reader/focus.h"

#include "call/parts.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"
#include "index/fuse.h"
#include "index/index.h"
#include "meaning/meaning.h"
#include "reader/focus_internal.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED_EVERY 64 /* pieces, whether the call goes on */
#define TIED_HITS     32 /* whose rare words are followed to other pieces, */
#define TIE_HOLDERS   6  /* where so many hold them at most */
#define MEANT_PAGES   3  /* whose pieces are compared by meaning as those of one page alone */

/* ---- ranking ---- */

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
            .id = id_of_piece(focus, i),
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
        size_t number = piece_of_id(focus, found->hits[i].id);
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
    int status = set ? meaning_of_query(call, model, request->question,
                                        clock_now_ms() + TIME_MEANING_QUERY_MS, &asked, problem,
                                        sizeof problem)
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

/* ---- words ---- */

/* A word of the question, and a piece that holds it. */
static int note_word(void *context, size_t word, double weight, int64_t id)
{
    struct focus *focus = context;
    if (word < FOCUS_WORDS) {
        focus->weights[word] = weight;
        focus->held[piece_of_id(focus, id)] |= UINT64_C(1) << word;
    }
    return OK;
}

static int add_tie(struct focus *focus, size_t from, size_t to, double weight)
{
    struct tie *grown = arena_grow(focus->arena, focus->ties, focus->tie_count,
                                   &focus->tie_capacity, sizeof *grown);
    if (!grown) {
        return ERR_NOMEM;
    }
    focus->ties = grown;
    focus->ties[focus->tie_count++] = (struct tie){from, to, weight};
    return OK;
}

struct tying {
    struct focus *focus;
    size_t from;
};

static int note_tie(void *context, size_t word, double weight, int64_t id)
{
    const struct tying *tying = context;
    struct focus *focus = tying->focus;
    size_t to = piece_of_id(focus, id);
    (void)word;
    if (focus->pieces[to].paragraph == focus->pieces[tying->from].paragraph) {
        return OK;
    }
    return add_tie(focus, tying->from, to, weight);
}

/* A piece that names a section leads to what that begins with. */
static int note_named(struct focus *focus, size_t from, size_t to)
{
    return add_tie(focus, from, to, FOCUS_WHOLE_TIE);
}

/* Which pieces hold which words of the question, what the best have in common with others, and
 * which sections these name. */
static int follow_words(struct focus *focus, const struct index *index)
{
    struct index_holders_wish wish = {
        .text = focus->question, .most = SIZE_MAX, .take = note_word, .context = focus};
    focus->held = arena_zalloc(focus->arena, (focus->count + 1) * sizeof *focus->held);
    int status = focus->held ? index_holders(index, focus->arena, &wish) : ERR_NOMEM;
    for (size_t i = 0; i < focus->hit_count && i < TIED_HITS && status == OK; i++) {
        struct tying tying = {focus, piece_of_id(focus, focus->hits[i].id)};
        const struct piece *piece = &focus->pieces[tying.from];
        wish = (struct index_holders_wish){
            .text =
                arena_strndup(focus->arena, focus->text + piece->start, piece->end - piece->start),
            .but = focus->question,
            .most = TIE_HOLDERS,
            .take = note_tie,
            .context = &tying};
        status = wish.text ? index_holders(index, focus->arena, &wish) : ERR_NOMEM;
        status = status == OK ? headings_named(focus, tying.from, note_named) : status;
    }
    return status;
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
    status = status == OK ? follow_words(focus, index) : status;
    index_free(index);
    return status;
}

size_t focus_meant(size_t pages)
{
    size_t share = MEANT_PAGES * FOCUS_MEANT / (pages > 0 ? pages : 1);
    return share < FOCUS_MEANT ? share : FOCUS_MEANT;
}

int focus_rank(struct call *call, const struct focus_request *request, struct focus **out)
{
    struct arena *arena = request->arena;
    struct focus *focus = arena_zalloc(arena, sizeof *focus);
    if (!focus) {
        return ERR_NOMEM;
    }
    *focus = (struct focus){.arena = arena,
                            .question = request->question,
                            .text = request->text,
                            .length = request->length};
    *out = focus;
    size_t start = text_prefix(request->text, request->length, request->start);
    size_t end = text_prefix(request->text, request->length, request->end);
    int status =
        pieces_cut(arena, request->text, start, end, &focus->pieces, &focus->count, &focus->whole);
    if (status == OK) {
        status = paging_outline(arena, request->text, request->length, &focus->headings,
                                &focus->heading_count);
    }
    status = status == OK ? headings_find(focus) : status;
    status = status == OK ? ask_index(call, focus, request) : status;
    headings_done(focus);
    return status;
}

bool focus_found(const struct focus *focus)
{
    return focus->hit_count > 0;
}

bool focus_is_cut(const struct focus *focus)
{
    return !focus->whole;
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
static size_t write_passage(struct buf *out, const struct piece_choice *choice, size_t place)
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
    struct piece_choice choice = {.focus = focus};
    int status = choice_make(&choice, max_chars);
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
