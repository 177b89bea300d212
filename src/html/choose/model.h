/* The model that decides whether a unit of a page is content: boosted trees, learned by
 * scripts/train-chooser from pages whose content is known. Each level of a tree asks one question
 * of all units, so that a tree is a few comparisons and one look into its table of leaves. */
#ifndef FORAGE_HTML_CHOOSE_MODEL_H
#define FORAGE_HTML_CHOOSE_MODEL_H

#include "html/choose/features.h"

enum { MODEL_DEPTH = 6, MODEL_LEAVES = 1 << MODEL_DEPTH };

struct model_tree {
    uint8_t features[MODEL_DEPTH];
    int16_t
        thresholds[MODEL_DEPTH]; /* a feature above it sets the bit of its level, from the least */
    int16_t leaves[MODEL_LEAVES];
};

struct chooser_model {
    const struct model_tree *trees;
    uint32_t count;
    int32_t start; /* of a score */
};

/* The one of data/page-model.txt, which scripts/model.py makes C of. */
extern const struct chooser_model page_model;

/* How many scores model_score() writes: one for each row, and the last tile is full. */
static inline size_t model_room(const struct units *units)
{
    return ((size_t)units->row_count + LANES - 1) / LANES * LANES;
}

/* A score for each row of features: at 0, it is as likely content as not; each 1000 more multiply
 * the odds by e. */
void model_score(const struct chooser_model *model, const struct units *units, int32_t *scores);

#endif
