/* Products of bytes for processors that cannot sum them without overflow: bytes become numbers of
 * 16 bits, a panel of weights once, rows for each panel. Included instead of kernels_body.h; the
 * file defines behind it multiply_add(), and
 *
 *   wide_weights(), wide_bytes()   2 * LANES bytes as numbers of 16 bits
 *   pairs()                        the sums of two products each of such numbers */
#ifndef FORAGE_MEANING_KERNELS_WIDE_H
#define FORAGE_MEANING_KERNELS_WIDE_H

#define WIDE_PANELS
#include "meaning/kernels_body.h"

#define HALVES 2u /* vectors of weights that belong to LANES columns: four for each */

typedef int64_t lvec __attribute__((vector_size(LANES * 4)));
typedef int32_t half_ivec __attribute__((vector_size(LANES * 2)));

static inline TARGET svec wide_weights(const int8_t *bytes);
static inline TARGET svec wide_bytes(const uint8_t *bytes);
static inline TARGET ivec pairs(svec a, svec b);

static TARGET const svec *widen_panel(const int8_t *weights, size_t depth, svec *room)
{
    size_t each = sizeof(svec) / sizeof(int16_t);
    svec *to = room;
    for (size_t part = 0; part < PARTS; part++) {
        for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
            const int8_t *from = weights + d * KERNEL_PANEL + part * HALVES * each;
            *to++ = wide_weights(from);
            *to++ = wide_weights(from + each);
        }
    }
    return room;
}

static inline TARGET svec four(const int16_t *numbers)
{
    int64_t all_four;
    memcpy(&all_four, numbers, sizeof all_four);
    return (svec)(all_four - (lvec){0});
}

static inline TARGET half_ivec added(ivec twos)
{
    lvec both = (lvec)twos;
    return __builtin_convertvector(both + (both >> 32), half_ivec);
}

/* LANES columns of four rows. */
static inline TARGET void tile_part(const int16_t (*rows)[LIMIT_MODEL_INNER], const svec *weights,
                                    size_t depth, int32_t (*sums)[KERNEL_PANEL], size_t column)
{
    ivec left[KERNEL_FEW] = {0};
    ivec right[KERNEL_FEW] = {0};
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        svec first = *weights++;
        svec second = *weights++;
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            svec row = four(rows[r] + d);
            left[r] += pairs(row, first);
            right[r] += pairs(row, second);
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        half_ivec results[HALVES] = {added(left[r]), added(right[r])};
        memcpy(sums[r] + column, results, sizeof results);
    }
}

static TARGET size_t tile(const uint8_t *rows, size_t count, const svec *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    (void)count;
    int16_t wide[KERNEL_FEW][LIMIT_MODEL_INNER];
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        for (size_t d = 0; d < depth; d += sizeof(svec) / sizeof(int16_t)) {
            svec numbers = wide_bytes(rows + r * depth + d);
            memcpy(wide[r] + d, &numbers, sizeof numbers);
        }
    }
    for (size_t column = 0; column < KERNEL_PANEL; column += LANES) {
        tile_part(wide, panel, depth, sums, column);
        panel += depth / KERNEL_GROUP * HALVES;
    }
    return KERNEL_FEW;
}

#endif
