/* The weights of the ranking, and what is made of them. */
#include "index/score.h"

#include <math.h>

#define SATURATION     1.8  /* how soon repetition stops to count (k1) */
#define STOP_WEIGHT    0.3  /* of a word without meaning */
#define LENGTH_ALIKE   0.7  /* how far length is corrected for (b), lengths alike */
#define LENGTH_MIXED   1.0  /* the same, lengths mixed */
#define LENGTH_BESIDE  5    /* words that count as part of every text, so that two are not all */
#define SHORTNESS      0.3  /* the power of the preference for short ones, lengths mixed */
#define RARITY_MIXED   0.75 /* the power of rarity, lengths mixed; 1 where they are alike */
#define SPREAD_ALIKE   0.7  /* standard deviation of the lengths' logarithms */
#define SPREAD_MIXED   0.9
#define PASSAGE_SHARE  0.4 /* of the best passage in the score of a long text */
#define COVERAGE       0.7 /* of a score that hangs on how much of the question a text holds... */
#define COVERAGE_WORDS 20  /* ...halved where texts have so many words, and so on */
/* Of the logistic curves of relevance: over the square of the share, */
#define RELEVANCE_BASE  (-2.8)
#define RELEVANCE_SHARE 8.9
/* and over nearness and lead. */
#define JOINT_BASE (-6.7)
#define JOINT_NEAR 15.2
#define JOINT_LEAD 10.7

/* (1 - b) + b * length / average length, each with some words besides. */
static struct score_length corrected(double correction, double average, double beside)
{
    double each = SATURATION * correction / (average + beside);
    return (struct score_length){SATURATION * (1 - correction) + each * beside, each};
}

struct score_manner score_manner(const struct score_store *store)
{
    double texts = store->texts > 0 ? store->texts : 1;
    double mean = store->log_sum / texts;
    double variance = store->log_square_sum / texts - mean * mean;
    double spread = variance > 0 ? sqrt(variance) : 0;
    double mixed = (spread - SPREAD_ALIKE) / (SPREAD_MIXED - SPREAD_ALIKE);
    mixed = mixed < 0 ? 0 : mixed > 1 ? 1 : mixed;
    double words = store->words > 0 ? store->words : texts;
    double passages = store->passages > 0 ? store->passages : texts;
    double correction = LENGTH_ALIKE + (LENGTH_MIXED - LENGTH_ALIKE) * mixed;
    return (struct score_manner){
        .texts = store->texts,
        .average = words / texts,
        .text = corrected(correction, words / texts, LENGTH_BESIDE),
        .passage = corrected(correction, words / passages, 0),
        .shortness = SHORTNESS * mixed,
        .rarity_power = 1 + (RARITY_MIXED - 1) * mixed,
        .coverage = COVERAGE * COVERAGE_WORDS / (COVERAGE_WORDS + words / texts),
    };
}

double score_weight(const struct score_manner *manner, double holders, bool stop)
{
    double rarity = log(1 + (manner->texts - holders + 0.5) / (holders + 0.5));
    return pow(rarity, manner->rarity_power) * (stop ? STOP_WEIGHT : 1);
}

double score_text(const struct score_manner *manner, double whole, double best, double share,
                  double words)
{
    double score = (1 - PASSAGE_SHARE) * whole + PASSAGE_SHARE * best;
    score *= 1 - manner->coverage + manner->coverage * share;
    if (manner->shortness > 0 && words > 0) {
        score *= pow(words / manner->average, -manner->shortness);
    }
    return score;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

double score_relevance(double share)
{
    return logistic(RELEVANCE_BASE + RELEVANCE_SHARE * share * share);
}

double score_joint_relevance(double near, double lead)
{
    return logistic(JOINT_BASE + JOINT_NEAR * near + JOINT_LEAD * lead);
}
