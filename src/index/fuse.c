/* One ranking of two. A text that only one side found gets the other's score too, where it has one:
 * the cosine of every hit is known, and what words did not find has no score of words. */
#include "index/fuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the score; the rest is the vectors'. On five sets, conversations and others, anything from .52
 * to .6 is about as good. */
#define WORDS_SHARE 0.56

/* A text that one of the two found. */
struct candidate {
    int64_t id;
    double words, relevance; /* 0: not found by words */
    double cosine;           /* NaN: it has no vector */
};

static int by_id(const void *left, const void *right)
{
    int64_t a = ((const struct candidate *)left)->id;
    int64_t b = ((const struct candidate *)right)->id;
    return a < b ? -1 : a > b;
}

static int by_rank(const void *left, const void *right)
{
    const struct index_hit *a = left;
    const struct index_hit *b = right;
    return a->score != b->score ? (a->score > b->score ? -1 : 1) : a->id > b->id ? -1 : 1;
}

/* Puts both lists together, each text once. */
static size_t join(struct candidate *all, const struct index_found *found,
                   const struct vectors_hit *near, size_t near_count)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct index_hit *hit = &found->hits[i];
        all[count++] = (struct candidate){hit->id, hit->score, hit->relevance, NAN};
    }
    for (size_t i = 0; i < near_count; i++) {
        all[count++] = (struct candidate){near[i].id, 0, 0, near[i].cosine};
    }
    qsort(all, count, sizeof *all, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && all[kept - 1].id == all[i].id) {
            struct candidate *same = &all[kept - 1];
            same->words = fmax(same->words, all[i].words);
            same->relevance = fmax(same->relevance, all[i].relevance);
            same->cosine = fmax(same->cosine, all[i].cosine);
        } else {
            all[kept++] = all[i];
        }
    }
    return kept;
}

/* The cosines of those that only words found. */
static int complete(struct candidate *all, size_t count, const struct vectors *vectors,
                    const float *question, struct vectors_hit *texts)
{
    for (size_t i = 0; i < count; i++) {
        texts[i] = (struct vectors_hit){.id = all[i].id};
    }
    int status = vectors_compare(vectors, question, texts, count, NAN);
    for (size_t i = 0; i < count && status == OK; i++) {
        all[i].cosine = texts[i].cosine;
    }
    return status;
}

/* The joint scores. Cosines of texts that have nothing to do with a question are far from 0 with
 * most models, so that they count from the worst of the nearest on. */
static void score(const struct candidate *all, size_t count, double least, double best_cosine,
                  struct index_found *found, struct index_hit *hits)
{
    double best_words = 0;
    double best_relevance = 0;
    for (size_t i = 0; i < count; i++) {
        best_words = fmax(best_words, all[i].words);
        best_relevance = fmax(best_relevance, fmax(all[i].relevance, 0));
    }
    double range = best_cosine - least;
    for (size_t i = 0; i < count; i++) {
        double words = best_words > 0 ? all[i].words / best_words : 0;
        double near = range > 0 ? fmax(0, (all[i].cosine - least) / range) : 1;
        double joint =
            isnan(all[i].cosine) ? words : WORDS_SHARE * words + (1 - WORDS_SHARE) * near;
        hits[i] = (struct index_hit){.id = all[i].id, .score = joint};
        hits[i].relevance = joint * fmax(best_relevance, best_cosine / 2);
        found->total += all[i].words == 0;
    }
}

int fuse_hits(struct arena *arena, const struct vectors *vectors, const float *question,
              vectors_passes passes, const void *context, struct index_found *found)
{
    size_t most = found->count > FUSE_CANDIDATES ? found->count : FUSE_CANDIDATES;
    size_t near_count;
    struct vectors_hit *near = arena_alloc(arena, (most + found->count) * sizeof *near);
    struct candidate *all = arena_alloc(arena, (most + found->count) * sizeof *all);
    struct index_hit *hits = arena_alloc(arena, (most + found->count) * sizeof *hits);
    if (!near || !all || !hits) {
        return ERR_NOMEM;
    }
    int status = vectors_search(vectors, question, most, passes, context, near, &near_count);
    if (status != OK || near_count == 0) {
        return status;
    }
    double best = near[0].cosine;
    double least = near[near_count - 1].cosine;
    size_t count = join(all, found, near, near_count);
    status = complete(all, count, vectors, question, near);
    if (status == OK) {
        score(all, count, least, best, found, hits);
        qsort(hits, count, sizeof *hits, by_rank);
        found->hits = hits;
        found->count = count;
    }
    return status;
}
