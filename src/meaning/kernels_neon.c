/* Kernels for ARM processors of 64 bits that sum products of bytes (the extension "dotprod", which
 * those of servers, phones and desks have had since 2018). Both of its factors have signs, so rows
 * are moved by 128, and what that takes away is added at the end. */
#if defined(__aarch64__)

#if defined(__clang__)
#define TARGET __attribute__((target("dotprod")))
#else
#define TARGET __attribute__((target("+dotprod")))
#endif
#define LANES 4

#include "meaning/kernels_body.h"

#include <arm_neon.h>

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return vfmaq_f32(sum, a, b);
}

#define QUARTERS 4u
#define MIDDLE   128u

/* Written out, since older compilers have the function only where all code may use the extension.
 */
static inline TARGET int32x4_t dot(int32x4_t sum, int8x16_t a, int8x16_t b)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}

static TARGET size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    (void)count;
    int32x4_t totals[KERNEL_FEW][QUARTERS];
    int32x4_t lost[QUARTERS];
#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++) {
        lost[q] = vdupq_n_s32(0);
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            totals[r][q] = vdupq_n_s32(0);
        }
    }
    for (size_t d = 0; d < depth; d += KERNEL_GROUP) {
        int8x16_t moved[KERNEL_FEW];
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            uint32_t four;
            memcpy(&four, rows + r * depth + d, sizeof four);
            moved[r] = vreinterpretq_s8_u32(vdupq_n_u32(four ^ 0x80808080u));
        }
#pragma GCC unroll 4
        for (size_t q = 0; q < QUARTERS; q++) {
            int8x16_t weights = vld1q_s8(panel + d * KERNEL_PANEL + q * sizeof weights);
            lost[q] = dot(lost[q], vdupq_n_s8(1), weights);
#pragma GCC unroll 4
            for (size_t r = 0; r < KERNEL_FEW; r++) {
                totals[r][q] = dot(totals[r][q], moved[r], weights);
            }
        }
    }
#pragma GCC unroll 4
    for (size_t q = 0; q < QUARTERS; q++) {
#pragma GCC unroll 4
        for (size_t r = 0; r < KERNEL_FEW; r++) {
            vst1q_s32(sums[r] + q * KERNEL_PANEL / QUARTERS,
                      vmlaq_n_s32(totals[r][q], lost[q], (int32_t)MIDDLE));
        }
    }
    return KERNEL_FEW;
}

const struct kernels KERNELS_NEON = KERNELS_OF("NEON");

#endif
