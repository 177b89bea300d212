/* Kernels for x86 processors with AVX2, whose sums of products of bytes overflow. */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))
#define LANES  8

#include "meaning/kernels_wide.h"

#include <immintrin.h>

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return _mm256_fmadd_ps(a, b, sum);
}

static inline TARGET svec wide_weights(const int8_t *bytes)
{
    return (svec)_mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)bytes));
}

static inline TARGET svec wide_bytes(const uint8_t *bytes)
{
    return (svec)_mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)bytes));
}

static inline TARGET ivec pairs(svec a, svec b)
{
    return (ivec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

const struct kernels KERNELS_AVX2 = KERNELS_OF("AVX2");

#endif
