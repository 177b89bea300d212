/* One ranking of two. A text that only one side found gets the other's score too, where it has one:
 * the cosine of every hit is known, and what words did not find has no score of words.
 *
 * Cosines count from the worst of the nearest on, to the best, which is 1. The best by words is 1
 * only where it is as good as words can be expected to be: words that hold little of a question say
 * little, and what is asked for in other words is found by its vector. */
#include "index/fuse.h"

#include "index/score.h"

#include <math.h>
#include <stdlib.h>

/* docs/decisions.md has the figures of these two. */
#define WORDS_SHARE 0.62 /* of the score; the rest is the vectors' */
#define GOOD_WORDS  0.5  /* of the weight of all words: the score by words that counts in full */

#define LEAST_SAMPLE 30   /* texts, to know what cosines are usual */
#define USUAL_COSINE 0.75 /* at most, where there are less */

/* What words found comes before the same text as vectors found it. */
static int by_id(const void *left, const void *right)
{
    const struct index_hit *a = left;
    const struct index_hit *b = right;
    return a->id != b->id                   ? (a->id < b->id ? -1 : 1)
           : a->precedence != b->precedence ? (a->precedence > b->precedence ? -1 : 1)
                                            : (a->score < b->score) - (a->score > b->score);
}

/* Puts both lists together, each text once. */
static size_t join(struct index_hit *hits, const struct index_found *found,
                   const struct vectors_hit *near, size_t near_count)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        hits[count++] = found->hits[i];
    }
    for (size_t i = 0; i < near_count; i++) {
        hits[count++] = (struct index_hit){.id = near[i].id};
    }
    qsort(hits, count, sizeof *hits, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || hits[kept - 1].id != hits[i].id) {
            hits[kept++] = hits[i];
        }
    }
    return kept;
}

/* The cosines of all of them; NaN: there is no vector. */
static int compare(struct index_hit *hits, size_t count, const struct vectors *vectors,
                   const float *question, struct vectors_hit *texts)
{
    for (size_t i = 0; i < count; i++) {
        texts[i] = (struct vectors_hit){.id = hits[i].id};
    }
    int status = vectors_compare(vectors, question, texts, count, NAN);
    for (size_t i = 0; i < count && status == OK; i++) {
        hits[i].parts.cosine = texts[i].cosine;
    }
    return status;
}

/* What all hits of one search have in common. */
struct scale {
    double words;                /* the score by words that counts in full */
    double least, nearest_range; /* of the cosines that count */
    double usual;                /* cosine, of texts that have nothing to do with the question */
};

static int find_scale(const struct index_found *found, const struct vectors *vectors,
                      const float *question, const struct vectors_hit *near, size_t near_count,
                      struct scale *scale)
{
    size_t sample;
    *scale = (struct scale){.words = GOOD_WORDS * found->possible,
                            .least = near[near_count - 1].cosine,
                            .nearest_range = near[0].cosine - near[near_count - 1].cosine};
    for (size_t i = 0; i < found->count; i++) {
        scale->words = fmax(scale->words, found->hits[i].score);
    }
    int status = vectors_usual(vectors, question, &scale->usual, &sample);
    if (sample < LEAST_SAMPLE) {
        scale->usual = fmin(scale->usual, USUAL_COSINE);
    }
    return status;
}

/* Makes a score by words the joint one. A text without a vector has its words only. */
static void score(struct index_hit *hit, const struct scale *scale)
{
    struct index_parts *parts = &hit->parts;
    bool near = !isnan(parts->cosine);
    double times = scale->words > 0 ? (near ? WORDS_SHARE : 1) / scale->words : 0;
    double nearness =
        scale->nearest_range > 0 ? (parts->cosine - scale->least) / scale->nearest_range : 1;
    parts->words *= times;
    parts->neighbours *= times;
    parts->session *= times;
    parts->meaning = near ? (1 - WORDS_SHARE) * fmax(0, nearness) : 0;
    hit->score = hit->score * times + parts->meaning;
}

/* Tells how likely each is the answer; what was asked for by its key stays sure, and what has no
 * vector as likely as its words say. */
static void rate(struct index_hit *hits, size_t count, const struct scale *scale)
{
    double best = 0;
    double next = 0;
    for (size_t i = 0; i < count; i++) {
        next = fmax(next, fmin(best, hits[i].score));
        best = fmax(best, hits[i].score);
    }
    for (size_t i = 0; i < count; i++) {
        double cosine = hits[i].parts.cosine;
        double lead = hits[i].score - (hits[i].score < best ? best : next);
        if (hits[i].precedence == INDEX_RANKED && !isnan(cosine) && scale->usual < 1) {
            hits[i].relevance =
                score_joint_relevance((cosine - scale->usual) / (1 - scale->usual), lead);
        }
    }
}

int fuse_hits(struct arena *arena, const struct vectors *vectors, const float *question,
              vectors_passes passes, const void *context, struct index_found *found)
{
    size_t most = found->count > FUSE_CANDIDATES ? found->count : FUSE_CANDIDATES;
    size_t near_count;
    struct scale scale;
    struct vectors_hit *near = arena_alloc(arena, (most + found->count) * sizeof *near);
    struct index_hit *hits = arena_alloc(arena, (most + found->count) * sizeof *hits);
    if (!near || !hits) {
        return ERR_NOMEM;
    }
    int status = vectors_search(vectors, question, most, passes, context, near, &near_count);
    if (status != OK || near_count == 0) {
        return status;
    }
    size_t count = join(hits, found, near, near_count);
    status = find_scale(found, vectors, question, near, near_count, &scale);
    status = status == OK ? compare(hits, count, vectors, question, near) : status;
    if (status != OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        score(&hits[i], &scale);
    }
    rate(hits, count, &scale);
    index_order(hits, count);
    found->total += count - found->count;
    found->hits = hits;
    found->count = count;
    return OK;
}
