/* Which kernels this processor can run. */
#include "meaning/kernels.h"

#include "core/processor.h"

#define AVX2   (PROCESSOR_AVX2 | PROCESSOR_FMA)
#define AVX512 (PROCESSOR_AVX512 | PROCESSOR_AVX512_VNNI | PROCESSOR_FMA)

static const struct {
    const struct kernels *kernels;
    uint32_t abilities;
} KINDS[] = {
#if defined(__x86_64__)
    {&KERNELS_AVX512, AVX512},
    {&KERNELS_AVX2, AVX2},
#elif defined(__aarch64__)
    {&KERNELS_NEON, PROCESSOR_DOT_PRODUCTS},
#endif
    {&KERNELS_PORTABLE, 0},
};

const struct kernels *kernels_usable(size_t index)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (processor_has(KINDS[i].abilities) && index-- == 0) {
            return KINDS[i].kernels;
        }
    }
    return NULL;
}
