/* BM25, adapted to how the lengths of this store are spread. */
#include "memory/scores.h"

#include "core/status.h"

#include <math.h>
#include <stdlib.h>

#define SATURATION       1.5 /* how soon repetition stops to count (k1) */
#define STOP_WEIGHT      0.3 /* of a word without meaning */
#define LENGTH_ALIKE     0.7 /* how far length is corrected for (b), lengths alike */
#define LENGTH_MIXED     1.0 /* the same, lengths mixed */
#define SHORTNESS        0.3 /* the power of the preference for short ones, lengths mixed */
#define SPREAD_ALIKE     0.7 /* standard deviation of the lengths' logarithms */
#define SPREAD_MIXED     0.9
#define MIDDLE_RELEVANCE 0.35 /* the share of the highest possible score that is relevance 1/2 */

void scores_done(struct scores *scores)
{
    free(scores->base);
    free(scores->all);
    free(scores->times);
    free(scores->touched);
    free(scores->scored);
}

int scores_start(struct scores *scores, const struct index *index)
{
    size_t count = index->document_count ? index->document_count : 1;
    *scores = (struct scores){
        .base = calloc(count, sizeof(float)),
        .all = calloc(count, sizeof(float)),
        .times = calloc(count, sizeof(float)),
        .touched = malloc(count * sizeof(uint32_t)),
        .scored = malloc(count * sizeof(uint32_t)),
    };
    if (!scores->base || !scores->all || !scores->times || !scores->touched || !scores->scored) {
        scores_done(scores);
        return ERR_NOMEM;
    }
    double live = index->live > 0 ? index->live : 1;
    double mean = index->log_sum / live;
    double variance = index->log_square_sum / live - mean * mean;
    double spread = variance > 0 ? sqrt(variance) : 0;
    double mixed = (spread - SPREAD_ALIKE) / (SPREAD_MIXED - SPREAD_ALIKE);
    mixed = mixed < 0 ? 0 : mixed > 1 ? 1 : mixed;
    scores->average = index->length_sum > 0 ? index->length_sum / live : 1;
    scores->correction = LENGTH_ALIKE + (LENGTH_MIXED - LENGTH_ALIKE) * mixed;
    scores->shortness = SHORTNESS * mixed;
    return OK;
}

/* ---- words ---- */

void scores_count(struct scores *scores, const struct index *index,
                  const struct question_word *word)
{
    scores->touched_count = 0;
    for (size_t i = 0; i < word->count; i++) {
        const struct question_term *term = &word->terms[i];
        struct postings_cursor cursor;
        postings_start(&index->postings[term->term], &cursor);
        while (postings_next(&cursor)) {
            const struct document *document = &index->documents[cursor.document];
            if (document->dead ||
                (term->only_compound && !words_compound((enum language)document->language))) {
                continue;
            }
            float *times = &scores->times[cursor.document];
            if (*times == 0) {
                scores->touched[scores->touched_count++] = cursor.document;
            }
            *times += (float)cursor.times * term->weight;
        }
    }
}

void scores_add(struct scores *scores, const struct index *index, const struct question_word *word,
                bool everywhere)
{
    scores_count(scores, index, word);
    double holders = scores->touched_count;
    double rarity = log(1 + (index->live - holders + 0.5) / (holders + 0.5));
    double weight = rarity * (word->stop ? STOP_WEIGHT : 1);
    scores->possible += weight * (SATURATION + 1);
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        double times = scores->times[number];
        double length = index->documents[number].length / scores->average;
        double slow = SATURATION * (1 - scores->correction + scores->correction * length);
        scores->times[number] = 0;
        if (scores->base[number] == 0) {
            if (!everywhere) {
                continue;
            }
            scores->scored[scores->scored_count++] = number;
        }
        scores->base[number] += (float)(weight * times * (SATURATION + 1) / (times + slow));
    }
}

/* ---- the best ---- */

/* Whether one hit comes before another: the better, then the newer. */
static bool before(const struct index_hit *a, const struct index_hit *b)
{
    return a->score != b->score ? a->score > b->score : a->id > b->id;
}

static int by_rank(const void *left, const void *right)
{
    return before(left, right) ? -1 : before(right, left) ? 1 : 0;
}

/* A heap whose first is the worst of the kept. */
static void sink(struct index_hit *heap, size_t count, size_t at)
{
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            worst = before(&heap[worst], &heap[child]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        struct index_hit moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

size_t scores_best(const struct scores *scores, const struct index *index,
                   const struct sieve *sieve, struct index_hit *heap, size_t most, size_t *kept)
{
    size_t passed = 0;
    *kept = 0;
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        if (!sieve_passes(sieve, index, number)) {
            continue;
        }
        struct index_hit hit = {.id = index->documents[number].id, .score = scores->all[number]};
        hit.relevance = hit.score / (hit.score + MIDDLE_RELEVANCE * scores->possible);
        passed++;
        if (*kept < most) {
            heap[(*kept)++] = hit;
            for (size_t at = *kept / 2; *kept == most && at-- > 0;) {
                sink(heap, *kept, at);
            }
        } else if (most > 0 && before(&hit, &heap[0])) {
            heap[0] = hit;
            sink(heap, *kept, 0);
        }
    }
    qsort(heap, *kept, sizeof *heap, by_rank);
    return passed;
}
