/* Kernels for every processor, of what all of its kind have. */
#define TARGET
#define LANES 4

#include "meaning/kernels_wide.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef int8_t eight_weights __attribute__((vector_size(8)));
typedef uint8_t eight_bytes __attribute__((vector_size(8)));

static inline svec wide_weights(const int8_t *bytes)
{
    eight_weights eight;
    memcpy(&eight, bytes, sizeof eight);
    return __builtin_convertvector(eight, svec);
}

static inline svec wide_bytes(const uint8_t *bytes)
{
    eight_bytes eight;
    memcpy(&eight, bytes, sizeof eight);
    return __builtin_convertvector(eight, svec);
}

#if defined(__x86_64__)
static inline ivec pairs(svec a, svec b)
{
    return (ivec)_mm_madd_epi16((__m128i)a, (__m128i)b);
}
#elif defined(__aarch64__)
static inline ivec pairs(svec a, svec b)
{
    return (ivec)vpaddq_s32(vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b)),
                            vmull_high_s16((int16x8_t)a, (int16x8_t)b));
}
#else
static inline ivec pairs(svec a, svec b)
{
    ivec sums = {0};
    for (int i = 0; i < LANES; i++) {
        sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    }
    return sums;
}
#endif

#if defined(__aarch64__)
static inline vec multiply_add(vec a, vec b, vec sum)
{
    return (vec)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
}
#else
static inline vec add_each(vec a, vec b, vec sum)
{
    for (int i = 0; i < LANES; i++) {
        sum[i] = fmaf(a[i], b[i], sum[i]);
    }
    return sum;
}

#if defined(__x86_64__)
/* A double holds the product, and the sum so well that it becomes the nearest float, unless it lies
 * in the middle between two. */
static inline vec multiply_add(vec a, vec b, vec sum)
{
    const __m128i last_bits = _mm_set1_epi32(0x1FFFFFFF);
    const __m128i middle = _mm_set1_epi32(0x10000000);
    __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(sum));
    __m128d high =
        _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b))),
                   _mm_cvtps_pd(_mm_movehl_ps(sum, sum)));
    __m128 ends = _mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), _MM_SHUFFLE(2, 0, 2, 0));
    __m128i is_middle = _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(ends), last_bits), middle);
    if (_mm_movemask_epi8(is_middle)) {
        return add_each(a, b, sum);
    }
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
#else
static inline vec multiply_add(vec a, vec b, vec sum)
{
    return add_each(a, b, sum);
}
#endif
#endif

const struct kernels KERNELS_PORTABLE = KERNELS_OF("portable");
