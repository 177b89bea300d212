/* Which kernels this processor can run. */
#include "meaning/kernels.h"

#include <stdbool.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

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

/* Linux lets a process use the tiles after it has asked. */
static bool has_amx(void)
{
    enum { LEAF = 7, TILES = 1 << 24, BYTES = 1 << 25, ASK = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) && (d & TILES) &&
           (d & BYTES) && syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx_vnni(void)
{
    enum { LEAF = 7, PART = 1, PRODUCTS = 1 << 4 };
    unsigned a, b, c, d;
    return has_avx2() && __get_cpuid_count(LEAF, PART, &a, &b, &c, &d) && (a & PRODUCTS);
}
#elif defined(__aarch64__)
static bool has_products(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}
#endif

static const struct {
    const struct kernels *kernels;
    bool (*is_usable)(void);
} KINDS[] = {
#if defined(__x86_64__)
    {&KERNELS_AMX, has_amx},           {&KERNELS_AVX512, has_avx512},
    {&KERNELS_AVX_VNNI, has_avx_vnni}, {&KERNELS_AVX2, has_avx2},
#elif defined(__aarch64__)
    {&KERNELS_NEON, has_products},
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
