/* Which kernels this processor can run. */
#include "meaning/kernels.h"

#include "core/processor.h"

#include <stdbool.h>
#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define AVX2   (PROCESSOR_AVX2 | PROCESSOR_FMA)
#define AVX512 (PROCESSOR_AVX512 | PROCESSOR_AVX512_VNNI | PROCESSOR_FMA)

/* Linux lets a process use the tiles after it has asked. */
static bool may_use_tiles(void)
{
#if defined(__x86_64__)
    enum { ASK = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
#else
    return true;
#endif
}

static const struct {
    const struct kernels *kernels;
    uint32_t abilities;
} KINDS[] = {
#if defined(__x86_64__)
    {&KERNELS_AMX, AVX512 | PROCESSOR_AMX_INT8},
    {&KERNELS_AVX512, AVX512},
    {&KERNELS_AVX_VNNI, AVX2 | PROCESSOR_AVX_VNNI},
    {&KERNELS_AVX2, AVX2},
#elif defined(__aarch64__)
    {&KERNELS_NEON, PROCESSOR_DOT_PRODUCTS},
#endif
    {&KERNELS_PORTABLE, 0},
};

static bool is_usable(uint32_t abilities)
{
    return processor_has(abilities) && (!(abilities & PROCESSOR_AMX_INT8) || may_use_tiles());
}

const struct kernels *kernels_usable(size_t index)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (is_usable(KINDS[i].abilities) && index-- == 0) {
            return KINDS[i].kernels;
        }
    }
    return NULL;
}
