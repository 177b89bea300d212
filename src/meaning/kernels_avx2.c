/* Kernels for x86 processors with AVX2, which have no sum of products of bytes that cannot
 * overflow: bytes become numbers of 16 bits first. */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))
#define LANES  8

#include "meaning/kernels_body.h"

#include <immintrin.h>

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return _mm256_fmadd_ps(a, b, sum);
}

#define HALF (KERNEL_PANEL / 2)

static inline TARGET __m256i wide(const int8_t *from)
{
    __m128i bytes;
    memcpy(&bytes, from, sizeof bytes);
    return _mm256_cvtepi8_epi16(bytes);
}

/* Eight columns of four rows. A vector of 16 products has four for each of four columns; two of
 * them are added at once, the others at the end. */
static inline TARGET void half_tile(const uint8_t *rows, const int8_t *panel, size_t depth,
                                    int32_t (*sums)[KERNEL_PANEL], size_t first)
{
    __m256i left[KERNEL_FEW];
    __m256i right[KERNEL_FEW];
#pragma GCC unroll 4
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        left[r] = right[r] = _mm256_setzero_si256();
    }
    panel += first * KERNEL_GROUP;
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        __m256i weights = wide(panel + d * KERNEL_PANEL);
        __m256i others = wide(panel + d * KERNEL_PANEL + KERNEL_PANEL);
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            const void *four = rows + r * depth + d;
            __m256i row = _mm256_cvtepu8_epi16(_mm_castps_si128(_mm_broadcast_ss(four)));
            left[r] = _mm256_add_epi32(left[r], _mm256_madd_epi16(row, weights));
            right[r] = _mm256_add_epi32(right[r], _mm256_madd_epi16(row, others));
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        /* The additions mix the halves of both vectors; the order of columns comes back. */
        __m256i mixed = _mm256_hadd_epi32(left[r], right[r]);
        mixed = _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0));
        memcpy(sums[r] + first, &mixed, sizeof mixed);
    }
}

static TARGET size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    (void)count;
    half_tile(rows, panel, depth, sums, 0);
    half_tile(rows, panel, depth, sums, HALF);
    return KERNEL_FEW;
}

const struct kernels KERNELS_AVX2 = KERNELS_OF("AVX2");

#endif
