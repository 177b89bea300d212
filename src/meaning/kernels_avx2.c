/* Kernels for x86 processors with AVX2, whose sums of two products of bytes have 16 bits: that is
 * enough for gentle weights, which our model has. Others are left to the portable kernels. */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))

#include "meaning/kernels_eight.h"

static inline TARGET __m256i add_fours(__m256i sums, __m256i row, __m256i weights)
{
    __m256i twos = _mm256_maddubs_epi16(row, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)));
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
