/* Kernels for x86 processors with AVX2, whose sums of two products of bytes have 16 bits: that is
 * enough for gentle weights, which our model has. Others are left to the portable kernels. */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))
#define LANES  8
#include "meaning/kernels_body.h"

#include <immintrin.h>

#define HALF_BYTES (KERNEL_PANEL / 2 * KERNEL_GROUP)

/* Adds to each of eight sums the products of four bytes of a row and four weights. */
static inline TARGET __m256i add_fours(__m256i sums, __m256i row, __m256i weights)
{
    __m256i twos = _mm256_maddubs_epi16(row, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)));
}

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return _mm256_fmadd_ps(a, b, sum);
}

static inline TARGET __m256i half(const int8_t *from)
{
    __m256i weights;
    memcpy(&weights, from, sizeof weights);
    return weights;
}

static TARGET size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    (void)count;
    __m256i left[KERNEL_FEW];
    __m256i right[KERNEL_FEW];
#pragma GCC unroll 4
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        left[r] = right[r] = _mm256_setzero_si256();
    }
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        __m256i weights = half(panel + d * KERNEL_PANEL);
        __m256i others = half(panel + d * KERNEL_PANEL + HALF_BYTES);
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            int32_t four;
            memcpy(&four, rows + r * depth + d, sizeof four);
            __m256i row = _mm256_set1_epi32(four);
            left[r] = add_fours(left[r], row, weights);
            right[r] = add_fours(right[r], row, others);
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < KERNEL_FEW; r++) {
        memcpy(sums[r], &left[r], sizeof left[r]);
        memcpy(sums[r] + KERNEL_PANEL / 2, &right[r], sizeof right[r]);
    }
    return KERNEL_FEW;
}

static void multiply_any(const struct kernel_matrix *matrix, const struct kernel_bytes *in,
                         size_t rows, float *out)
{
    (matrix->gentle ? multiply : KERNELS_PORTABLE.multiply)(matrix, in, rows, out);
}

const struct kernels KERNELS_AVX2 = {
    .name = "AVX2",
    .multiply = multiply_any,
    .quantise = quantise,
    .normalise = normalise,
    .gelu = gelu,
    .attend = attend,
};

#endif
