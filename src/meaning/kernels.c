/* Which kernels this processor can run. */
#include "meaning/kernels.h"

#include <stdbool.h>

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("fma");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static const struct {
    const struct kernels *kernels;
    bool (*is_usable)(void);
} KINDS[] = {
#if defined(__x86_64__)
    {&KERNELS_AVX512, has_avx512},
    {&KERNELS_AVX2, has_avx2},
#endif
    {&KERNELS_PORTABLE, always},
};

const struct kernels *kernels_usable(size_t index)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (KINDS[i].is_usable() && index-- == 0) {
            return KINDS[i].kernels;
        }
    }
    return NULL;
}
