/* Kernels for x86 processors with AVX-512 and its sums of products of bytes (VNNI). */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))
#define LANES  16

#include "meaning/kernels_body.h"

#include <immintrin.h>

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return _mm512_fmadd_ps(a, b, sum);
}

/* `count` is known where it is called, so that all sums stay in registers. */
static inline __attribute__((always_inline)) TARGET size_t tile_of(size_t count,
                                                                   const uint8_t *rows,
                                                                   const int8_t *panel,
                                                                   size_t depth,
                                                                   int32_t (*sums)[KERNEL_PANEL])
{
    __m512i totals[TILE_ROWS];
#pragma GCC unroll 16
    for (size_t r = 0; r < count; r++) {
        totals[r] = _mm512_setzero_si512();
    }
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        __m512i weights = _mm512_loadu_si512(panel + d * KERNEL_PANEL);
#pragma GCC unroll 16
        for (size_t r = 0; r < count; r++) {
            int32_t four;
            memcpy(&four, rows + r * depth + d, sizeof four);
            totals[r] = _mm512_dpbusd_epi32(totals[r], _mm512_set1_epi32(four), weights);
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < count; r++) {
        _mm512_storeu_si512(sums[r], totals[r]);
    }
    return count;
}

static TARGET size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    if (count >= TILE_ROWS) {
        return tile_of(TILE_ROWS, rows, panel, depth, sums);
    }
    return count >= TILE_ROWS / 2 ? tile_of(TILE_ROWS / 2, rows, panel, depth, sums)
                                  : tile_of(KERNEL_FEW, rows, panel, depth, sums);
}

const struct kernels KERNELS_AVX512 = KERNELS_OF("AVX-512 VNNI");

#endif
