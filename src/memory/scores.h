/* Scores: how well each document of the index answers a question, word by word. Used by the ranked
 * search (rank.c) and the full-text one (index_fulltext.c). */
#ifndef FORAGE_MEMORY_SCORES_H
#define FORAGE_MEMORY_SCORES_H

#include "memory/question.h"

/* The work of one search, one number for each document. */
struct scores {
    float *base;       /* by its own words */
    float *all;        /* with what neighbours gave */
    float *times;      /* of the word at hand */
    uint32_t *touched; /* documents that hold the word at hand */
    uint32_t *scored;  /* documents with a score */
    uint32_t touched_count, scored_count;
    double average, correction, shortness;
    double possible; /* the highest score that there could be */
};

/* OK or ERR_NOMEM. */
int scores_start(struct scores *scores, const struct index *index);
void scores_done(struct scores *scores);
/* How often each document holds the word, in any of its forms: `touched` and `times`, which the
 * caller sets back to 0. */
void scores_count(struct scores *scores, const struct index *index,
                  const struct question_word *word);
/* Adds the word's part to the scores; not everywhere: only where there is a score already. */
void scores_add(struct scores *scores, const struct index *index, const struct question_word *word,
                bool everywhere);
/* Keeps the `most` best of the touched documents that pass, by `all`, in their order in `hits`; how
 * many passed. */
size_t scores_best(const struct scores *scores, const struct index *index,
                   const struct sieve *sieve, struct index_hit *hits, size_t most, size_t *kept);

#endif
