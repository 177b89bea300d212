/* The ranking: BM25 over words, with three adaptations that agents' memories need.
 *
 * - Words without meaning count a little instead of not at all.
 * - How far length matters depends on the store. Where lengths are alike (turns of a conversation,
 *   abstracts) a long memory holds more; where one-line facts lie beside long replies, a long one
 *   only repeats, and short ones are preferred outright.
 * - In a session the neighbours of a hit are often the answer: they get a part of its score. */
#include "core/status.h"
#include "memory/scores.h"

#include <math.h>

#define NEXT_SHARE   0.4  /* of a hit's score, for its neighbours */
#define SECOND_SHARE 0.15 /* and for theirs */

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

/* From here on `touched` holds every document that has a score. What has expired gives nothing, as
 * if it were not there. */
static void spread(struct scores *scores, const struct index *index, int64_t now_ms)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->scored_count; i++) {
        int64_t expires_ms = index->documents[scores->scored[i]].expires_ms;
        if (expires_ms > 0 && expires_ms <= now_ms) {
            continue;
        }
        give(scores, scores->scored[i], scores->base[scores->scored[i]], &count);
        share(scores, index, scores->scored[i], &count);
    }
    scores->touched_count = count;
}

/* The terms of the words that carry meaning, as texts. */
static int tell_terms(const struct question *question, const struct index *index,
                      struct arena *arena, struct index_found *found)
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
            terms[found->term_count++] =
                arena_strdup(arena, symbols_text(&index->terms, word->terms[j].term));
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

static void score_all(struct scores *scores, const struct index *index,
                      const struct question *question, int64_t now_ms)
{
    for (int stops = 0; stops <= 1; stops++) {
        for (size_t i = 0; i < question->count; i++) {
            if (question->words[i].stop == (stops == 1)) {
                /* A word without meaning alone finds nothing. */
                scores_add(scores, index, &question->words[i], stops == 0 || question->only_stops);
            }
        }
    }
    prefer_short(scores, index);
    spread(scores, index, now_ms);
}

int index_search(const struct index *index, struct arena *arena, const char *query,
                 const struct index_filter *filter, size_t limit, size_t offset,
                 struct index_found *found)
{
    struct question question;
    struct sieve sieve;
    struct scores scores;
    struct word_reader *reader = words_new();
    *found = (struct index_found){0};
    struct index_hit *best = arena_alloc(arena, (limit + offset + 1) * sizeof *best);
    int status = reader && best ? question_read(&question, index, reader, arena, query) : ERR_NOMEM;
    words_free(reader);
    if (status == OK) {
        status = tell_terms(&question, index, arena, found);
    }
    if (status == OK) {
        status = sieve_start(&sieve, index, arena, filter);
    }
    if (status == OK) {
        status = scores_start(&scores, index);
    }
    if (status != OK) {
        return status;
    }
    size_t kept;
    score_all(&scores, index, &question, filter->now_ms);
    found->total = scores_best(&scores, index, &sieve, best, limit + offset, &kept);
    found->hits = best + (kept > offset ? offset : kept);
    found->count = kept > offset ? kept - offset : 0;
    scores_done(&scores);
    return OK;
}
