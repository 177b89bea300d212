/* Evaluating the model: a tile of units at a time, all of them against one threshold at once. */
#include "html/choose/model.h"

typedef int16_t lanes_of_numbers __attribute__((vector_size(LANES * sizeof(int16_t)), aligned(2)));

void model_score(const struct chooser_model *model, const struct units *units, int32_t *scores)
{
    for (uint32_t first = 0; first < units->row_count; first += LANES) {
        const lanes_of_numbers *features =
            (const lanes_of_numbers *)(units->features + (size_t)first * FEATURE_COUNT);
        for (int lane = 0; lane < LANES; lane++) {
            scores[first + (uint32_t)lane] = model->start;
        }
        for (uint32_t i = 0; i < model->count; i++) {
            const struct model_tree *tree = &model->trees[i];
            lanes_of_numbers leaf = {0};
            for (int level = 0; level < MODEL_DEPTH; level++) {
                leaf |= (features[tree->features[level]] > tree->thresholds[level]) &
                        (int16_t)(1 << level);
            }
            for (int lane = 0; lane < LANES; lane++) {
                scores[first + (uint32_t)lane] += tree->leaves[leaf[lane]];
            }
        }
    }
}
