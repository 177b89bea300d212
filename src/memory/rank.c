/* The ranking: BM25 over words, with three adaptations that agents' memories need.
 *
 * - Words without meaning count a little instead of not at all.
 * - How far length matters depends on the store. Where lengths are alike (turns of a conversation,
 *   abstracts) a long memory holds more; where one-line facts lie beside long replies, a long one
 *   only repeats, and short ones are preferred outright.
 * - In a session the neighbours of a hit are often the answer: they get a part of its score. */
#include "base/status.h"
#include "memory/question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SATURATION       1.5  /* how soon repetition stops to count (k1) */
#define STOP_WEIGHT      0.3  /* of a word without meaning */
#define LENGTH_ALIKE     0.7  /* how far length is corrected for (b), lengths alike */
#define LENGTH_MIXED     1.0  /* the same, lengths mixed */
#define SHORTNESS        0.3  /* the power of the preference for short ones, lengths mixed */
#define SPREAD_ALIKE     0.7  /* standard deviation of the lengths' logarithms */
#define SPREAD_MIXED     0.9
#define NEXT_SHARE       0.4  /* of a hit's score, for its neighbours */
#define SECOND_SHARE     0.15 /* and for theirs */
#define MIDDLE_RELEVANCE 0.35 /* the share of the highest possible score that is relevance 1/2 */

/* The work of one search, one number for each document. */
struct scores {
    float *base;       /* by its own words */
    float *all;        /* with what neighbours gave */
    float *times;      /* of the word at hand */
    uint32_t *touched; /* documents that hold the word at hand */
    uint32_t *scored;  /* documents with a score */
    uint32_t touched_count, scored_count;
    double average, correction, shortness;
    double possible;   /* the highest score that there could be */
};

static void scores_done(struct scores *scores)
{
    free(scores->base);
    free(scores->all);
    free(scores->times);
    free(scores->touched);
    free(scores->scored);
}

static int scores_start(struct scores *scores, const struct index *index)
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

/* How often each document holds the word, in any of its forms. */
static void count_word(struct scores *scores, const struct index *index,
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

/* Adds the word's part to the scores. A word without meaning counts only where one with meaning
 * was found, so that it alone finds nothing. */
static void add_word(struct scores *scores, const struct index *index,
                     const struct question_word *word, bool everywhere)
{
    count_word(scores, index, word);
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

static void prefer_short(struct scores *scores, const struct index *index)
{
    for (uint32_t i = 0; i < scores->scored_count && scores->shortness > 0; i++) {
        uint32_t number = scores->scored[i];
        double length = index->documents[number].length / scores->average;
        scores->base[number] *= (float)pow(length > 0 ? length : 1, -scores->shortness);
    }
}

/* ---- neighbours ---- */

static void give(struct scores *scores, uint32_t number, double score, uint32_t *count)
{
    if (scores->all[number] == 0) {
        scores->touched[(*count)++] = number;
    }
    scores->all[number] += (float)score;
}

static void share(struct scores *scores, const struct index *index, uint32_t number,
                  uint32_t *count)
{
    static const struct {
        int64_t step;
        double part;
    } SHARES[] = {{-2, SECOND_SHARE}, {-1, NEXT_SHARE}, {1, NEXT_SHARE}, {2, SECOND_SHARE}};
    const struct document *document = &index->documents[number];
    if (document->session == SYMBOL_NONE) {
        return;
    }
    const struct session *session = &index->sessions[document->session];
    int64_t at = session_position(session, document->place, number);
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        int64_t other = at + SHARES[i].step;
        if (other >= 0 && other < session->count) {
            give(scores, session->members[other].document, SHARES[i].part * scores->base[number],
                 count);
        }
    }
}

/* From here on `touched` holds every document that has a score. */
static void spread(struct scores *scores, const struct index *index)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->scored_count; i++) {
        give(scores, scores->scored[i], scores->base[scores->scored[i]], &count);
        share(scores, index, scores->scored[i], &count);
    }
    scores->touched_count = count;
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

/* Keeps the `most` best of those that pass; how many passed. */
static size_t keep_best(const struct scores *scores, const struct index *index,
                        const struct sieve *sieve, struct index_hit *heap, size_t most,
                        size_t *kept)
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

int index_search(const struct index *index, struct arena *arena, const char *query,
                 const struct index_filter *filter, size_t limit, size_t offset,
                 struct index_hit *hits, size_t *count, size_t *total)
{
    struct question question;
    struct sieve sieve;
    struct scores scores;
    struct word_reader *reader = words_new();
    struct index_hit *heap = arena_alloc(arena, (limit + offset + 1) * sizeof *heap);
    int status = reader && heap ? question_read(&question, index, reader, arena, query) : ERR_NOMEM;
    words_free(reader);
    if (status == OK) {
        status = sieve_start(&sieve, index, arena, filter);
    }
    if (status == OK) {
        status = scores_start(&scores, index);
    }
    if (status != OK) {
        return status;
    }
    for (int stops = 0; stops <= 1; stops++) {
        for (size_t i = 0; i < question.count; i++) {
            if (question.words[i].stop == (stops == 1)) {
                add_word(&scores, index, &question.words[i], stops == 0 || question.only_stops);
            }
        }
    }
    prefer_short(&scores, index);
    spread(&scores, index);
    size_t kept;
    *total = keep_best(&scores, index, &sieve, heap, limit + offset, &kept);
    *count = kept > offset ? kept - offset : 0;
    memcpy(hits, heap + (kept > offset ? offset : 0), *count * sizeof *hits);
    scores_done(&scores);
    return OK;
}
