/* Kernels for x86 processors that have AVX2 and sums of products of bytes (AVX-VNNI), as those
 * without AVX-512 do since 2021. */
#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma,avxvnni")))

#include "meaning/kernels_eight.h"

static inline TARGET __m256i add_fours(__m256i sums, __m256i row, __m256i weights)
{
    return _mm256_dpbusd_avx_epi32(sums, row, weights);
}

const struct kernels KERNELS_AVX_VNNI = KERNELS_OF("AVX-VNNI");

#endif
