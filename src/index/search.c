/* The ranked search: the words of the question find documents (scan.h), these give a part of their
 * scores to their neighbours in the session and to the session as a whole, and the best remain.
 *
 * In a small view every document that matches is scored. In a large one only the best by their own
 * words are, and only these give: what is beyond them would give next to nothing. */
#include "core/limits.h"
#include "core/status.h"
#include "index/internal.h"
#include "index/neighbours.h"
#include "index/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATED_HITS 10 /* at least so many, whatever the limit is: equal calls, equal figures */

/* ---- sums by key ---- */

/* What keys were given, in a hash table. Givers come in the order of their segments, which other
 * processes have divided otherwise: floats add up to the same in a double, in any order. */
struct key_sums {
    struct sum {
        uint64_t key; /* + 1; 0: free */
        double sum;
        float covered; /* of a hit, */
        float own;     /* and its own score */
    } *slots;
    size_t mask;
};

static int sums_start(struct key_sums *sums, size_t most)
{
    size_t count = 16;
    while (count < most * 2) {
        count *= 2;
    }
    sums->slots = calloc(count, sizeof *sums->slots);
    sums->mask = count - 1;
    return sums->slots ? OK : ERR_NOMEM;
}

static struct sum *sum_of(const struct key_sums *sums, uint64_t key)
{
    size_t at = (size_t)((key * 0x9E3779B97F4A7C15u) >> 24) & sums->mask;
    while (sums->slots[at].key && sums->slots[at].key != key + 1) {
        at = (at + 1) & sums->mask;
    }
    sums->slots[at].key = key + 1;
    return &sums->slots[at];
}

/* ---- sessions ---- */

struct spreading {
    const struct view *view;
    struct neighbours neighbours;
    struct key_sums documents; /* part and document */
    struct key_sums sessions;  /* by the hash of their names: sums of squares */
};

static uint64_t key_of(uint32_t part, uint32_t document)
{
    return (uint64_t)part << 32 | document;
}

static void give(struct spreading *spreading, const struct neighbour *to, double score)
{
    if (to->document != NO_DOCUMENT) {
        sum_of(&spreading->documents, key_of(to->part, to->document))->sum += (float)score;
    }
}

/* A hit gives to itself, its neighbours and its session. */
static void spread(struct spreading *spreading, const struct scan_hit *hit)
{
    static const double SHARES[NEIGHBOURS_REACH] = {SCORE_NEXT, SCORE_SECOND};
    struct neighbour before[NEIGHBOURS_REACH];
    struct neighbour behind[NEIGHBOURS_REACH];
    struct sum *own = sum_of(&spreading->documents, key_of(hit->part, hit->document));
    own->sum += hit->score;
    own->covered = hit->covered;
    own->own = hit->score;
    if (!neighbours_session(&spreading->neighbours, hit->part, hit->document)) {
        return;
    }
    neighbours_find(&spreading->neighbours, hit->part, hit->document, before, behind);
    for (int i = 0; i < NEIGHBOURS_REACH; i++) {
        give(spreading, &before[i], SHARES[i] * hit->score);
        give(spreading, &behind[i], SHARES[i] * hit->score);
    }
    sum_of(&spreading->sessions, spreading->neighbours.hash)->sum +=
        (double)hit->score * hit->score;
}

/* Every document that has a score now, with what its session gives it, in the place of the hits. */
static int collect(struct spreading *spreading, struct scan *scan, size_t most)
{
    struct scan_hits *hits = &scan->passing;
    hits->count = 0;
    hits->most = (uint32_t)most;
    scan->passed = 0;
    for (size_t i = 0; i <= spreading->documents.mask; i++) {
        const struct sum *sum = &spreading->documents.slots[i];
        if (!sum->key) {
            continue;
        }
        uint32_t part = (uint32_t)((sum->key - 1) >> 32);
        uint32_t document = (uint32_t)(sum->key - 1);
        if (!filter_passes(scan->filter, part, document)) {
            continue;
        }
        scan->passed++;
        float session = 0;
        if (neighbours_session(&spreading->neighbours, part, document)) {
            double squares = sum_of(&spreading->sessions, spreading->neighbours.hash)->sum;
            session = (float)(SCORE_SESSION * sqrt(squares));
        }
        struct scan_hit hit = {part,
                               document,
                               spreading->view->parts[part].segment.ids[document],
                               (float)(sum->sum + session),
                               sum->covered,
                               sum->own,
                               (float)(sum->sum - sum->own),
                               session};
        int status = scan_keep(hits, &hit);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

static int spread_all(struct scan *scan, struct arena *arena, size_t most)
{
    struct spreading spreading = {.view = scan->view};
    size_t hits = (size_t)scan->passing.count + scan->others.count;
    int status = neighbours_start(&spreading.neighbours, arena, scan->view);
    status =
        status == OK ? sums_start(&spreading.documents, hits * (2 * NEIGHBOURS_REACH + 1)) : status;
    status = status == OK ? sums_start(&spreading.sessions, hits) : status;
    for (uint32_t i = 0; i < scan->passing.count && status == OK; i++) {
        spread(&spreading, &scan->passing.items[i]);
    }
    for (uint32_t i = 0; i < scan->others.count && status == OK; i++) {
        spread(&spreading, &scan->others.items[i]);
    }
    status = status == OK ? collect(&spreading, scan, most) : status;
    free(spreading.documents.slots);
    free(spreading.sessions.slots);
    return status;
}

/* ---- the search ---- */

/* The terms of the words that carry meaning, as texts. */
static int name_terms(const struct question *question, struct arena *arena,
                      struct index_found *found)
{
    size_t count = 0;
    for (size_t i = 0; i < question->count; i++) {
        count += question->words[i].count;
    }
    const char **terms = arena_alloc(arena, (count + 1) * sizeof *terms);
    found->terms = terms;
    for (size_t i = 0; terms && i < question->count; i++) {
        const struct question_word *word = &question->words[i];
        for (size_t j = 0; j < word->count && (!word->stop || question->only_stops); j++) {
            if (*word->terms[j].text != KEY_MARK) {
                terms[found->term_count++] = word->terms[j].text;
            }
        }
    }
    return terms ? OK : ERR_NOMEM;
}

/* Weighs the words; the highest score that there could be. */
static int weigh(struct scan *scan, struct arena *arena, double *possible)
{
    const struct question *question = scan->question;
    struct score_store store = view_store(scan->view);
    double *weights = arena_alloc(arena, (question->count + 1) * sizeof *weights);
    scan->manner = score_manner(&store);
    scan->weights = weights;
    *possible = 0;
    for (size_t i = 0; i < question->count && weights; i++) {
        const struct question_word *word = &question->words[i];
        weights[i] = score_weight(&scan->manner, word->holders, word->stop);
        *possible += weights[i];
    }
    return weights ? OK : ERR_NOMEM;
}

/* Decides how many hits are kept. All are looked at where the words lead to few enough. */
static void choose_most(struct scan *scan, size_t wanted)
{
    double led_to = 0;
    for (size_t i = 0; i < scan->question->count; i++) {
        const struct question_word *word = &scan->question->words[i];
        if (!word->stop || scan->question->only_stops) {
            led_to += word->holders;
        }
    }
    wanted = wanted < UINT32_MAX ? wanted : UINT32_MAX;
    scan->only_best = led_to > LIMIT_MEMORY_EXACT_TOTAL;
    scan->with_others = scan->view->in_sessions > 0;
    size_t givers = wanted > LIMIT_INDEX_GIVERS ? wanted : LIMIT_INDEX_GIVERS;
    size_t most = !scan->with_others ? wanted : scan->only_best ? givers : 0;
    scan->passing.most = scan->others.most = (uint32_t)most;
}

/* Adds what is there under the id, where words have not found it. */
static int add_first(struct scan *scan, int64_t id)
{
    struct scan_hits *hits = &scan->passing;
    for (uint32_t i = 0; i < hits->count; i++) {
        if (hits->items[i].id == id) {
            return OK;
        }
    }
    for (uint32_t i = 0; i < scan->view->count; i++) {
        uint32_t document = segment_find(&scan->view->parts[i].segment, id);
        if (document != NO_DOCUMENT && filter_passes(scan->filter, i, document)) {
            struct scan_hit hit = {.part = i, .document = document, .id = id};
            scan->passed += hits->most == 0 || hits->count < hits->most; /* else it may be known */
            hits->most = 0;
            return scan_keep(hits, &hit);
        }
    }
    return OK;
}

static int by_rank(const void *left, const void *right)
{
    const struct index_hit *a = left;
    const struct index_hit *b = right;
    return a->precedence != b->precedence ? (a->precedence > b->precedence ? -1 : 1)
           : a->score != b->score         ? (a->score > b->score ? -1 : 1)
           : a->id != b->id               ? (a->id > b->id ? -1 : 1)
                                          : 0;
}

void index_order(struct index_hit *hits, size_t count)
{
    if (count > 0) {
        qsort(hits, count, sizeof *hits, by_rank);
    }
    for (size_t i = count; i-- > 1;) {
        hits[i - 1].relevance = fmax(hits[i - 1].relevance, hits[i].relevance);
    }
}

static int search(const struct index *index, struct arena *arena, const struct question *question,
                  const struct index_filter *wanted, size_t limit, size_t offset,
                  struct index_found *found)
{
    struct scan scan = {.view = &index->view,
                        .filter = filter_new(arena, &index->view, wanted),
                        .question = question};
    size_t most = limit + offset > RATED_HITS ? limit + offset : RATED_HITS;
    int status = scan.filter ? weigh(&scan, arena, &found->possible) : ERR_NOMEM;
    if (status == OK) {
        choose_most(&scan, most);
        found->more = scan.only_best;
        status = scan_run(&scan);
    }
    if (status == OK && index->view.in_sessions > 0) {
        status = spread_all(&scan, arena, most);
    }
    if (status == OK && wanted->first) {
        status = add_first(&scan, wanted->first);
    }
    if (status == OK) {
        struct index_hit *hits = scan_answer(&scan.passing, arena, wanted->first);
        size_t count = scan.passing.count > offset ? scan.passing.count - offset : 0;
        status = hits ? OK : ERR_NOMEM;
        found->total = scan.passed;
        found->count = !hits ? 0 : count < limit ? count : limit;
        found->hits = found->count > 0 ? hits + offset : hits;
    }
    free(scan.passing.items);
    free(scan.others.items);
    return status;
}

int index_search(const struct index *index, struct arena *arena, const char *query,
                 const struct index_filter *filter, size_t limit, size_t offset,
                 struct index_found *found)
{
    struct question question;
    struct word_reader *own = filter->reader ? NULL : words_new();
    struct word_reader *reader = own ? own : filter->reader;
    *found = (struct index_found){0};
    int status = reader ? question_read(&question, &index->view, reader, arena, query) : ERR_NOMEM;
    if (status == OK) {
        question_drop_repeated(&question);
        status = question_widen(&question, &index->view, reader, arena);
    }
    words_free(own);
    status = status == OK ? question_count(&question, &index->view) : status;
    status = status == OK ? name_terms(&question, arena, found) : status;
    return status == OK ? search(index, arena, &question, filter, limit, offset, found) : status;
}
