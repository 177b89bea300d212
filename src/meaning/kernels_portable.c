/* Kernels in plain C, for every processor. */
#define TARGET
#define LANES 4

#include "meaning/kernels_body.h"

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return a * b + sum;
}

static size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                   int32_t (*sums)[KERNEL_PANEL])
{
    (void)count;
    memset(sums, 0, KERNEL_FEW * sizeof *sums);
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        const int8_t *weights = panel + d * KERNEL_PANEL;
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            const uint8_t *row = rows + r * depth + d;
            for (size_t c = 0; c < KERNEL_PANEL; c++) {
                const int8_t *weight = weights + c * KERNEL_GROUP;
                sums[r][c] += row[0] * weight[0] + row[1] * weight[1] + row[2] * weight[2] +
                              row[3] * weight[3];
            }
        }
    }
    return KERNEL_FEW;
}

const struct kernels KERNELS_PORTABLE = KERNELS_OF("portable");
