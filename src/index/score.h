/* How words make a score: BM25 with the adaptations that agents' memories need. Functions of counts
 * and of statistics of the store, which know nothing of how an index keeps them.
 *
 * - Words without meaning count a little instead of not at all.
 * - How far length matters depends on the store. Where lengths are alike (turns of a conversation,
 *   abstracts) a long text holds more; where one-line facts lie beside long replies, a long one
 *   only repeats: short ones are preferred outright, and rare words count a little less.
 * - A long text is about many things: its best passage counts beside the whole.
 * - Where texts are short, how much of the question one of them holds counts by itself.
 * - In a session the neighbours of a hit are often the answer: they get a part of its score, and
 *   all of the session a little of what the session as a whole has.
 *
 * The weights were chosen by cross-validation over conversations; docs/decisions.md has the
 * figures.
 */
#ifndef FORAGE_INDEX_SCORE_H
#define FORAGE_INDEX_SCORE_H

#include <stdbool.h>

#define SCORE_NEXT    0.4  /* of a hit's score, for its neighbours in the session */
#define SCORE_SECOND  0.25 /* and for theirs */
#define SCORE_SESSION 0.2  /* of the length of the vector of all scores in the session */

/* What is known of the texts of a store. */
struct score_store {
    double texts;
    double passages;
    double words;                   /* of all texts */
    double log_sum, log_square_sum; /* of the logarithms of their lengths */
};

/* What length means: slowness is fixed + each * words. */
struct score_length {
    double fixed, each;
};

/* What follows from it. */
struct score_manner {
    double texts;
    double average; /* length, in words */
    struct score_length text, passage;
    double shortness; /* the power of the preference for short ones */
    double rarity_power;
    double coverage; /* the weight of how much of the question a text holds */
};

struct score_manner score_manner(const struct score_store *store);
/* What a word weighs that so many texts hold. */
double score_weight(const struct score_manner *manner, double holders, bool stop);
/* How slowly repetition counts in a text, or a passage, of so many words. These two are asked for
 * every word of every text. */
static inline double score_slowness(const struct score_manner *manner, double words, bool passage)
{
    const struct score_length *length = passage ? &manner->passage : &manner->text;
    return length->fixed + length->each * words;
}
/* What a word brings to a text or passage that holds it so many times; at most its weight. */
static inline double score_word(double weight, double times, double slowness)
{
    return weight * times / (times + slowness);
}
/* The score of a text by its own words: from the sums for the whole and for its best passage (the
 * whole, where it is one passage), and the share of the question's weight that it holds. */
double score_text(const struct score_manner *manner, double whole, double best, double share,
                  double words);
/* How likely a text answers a question, when it comes first and holds this share of the weight of
 * its words: a logistic curve that was fitted by cross-validation over the questions of
 * tests/notes, those that no note answers included. */
double score_relevance(double share);
/* The same where words and vectors rank together, wherever it comes: `near` is how far its cosine
 * is on the way from the usual one, 0, to that of the same text, 1; `lead` is how far its score is
 * before that of the next, or behind the best, where the best there can be is 1. */
double score_joint_relevance(double near, double lead);

#endif
