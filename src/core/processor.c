/* Asks the processor once, when something first wants to know. */
#include "core/processor.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define ASKED (UINT32_C(1) << 31)

#if defined(__x86_64__)
enum { A, B, C, D, REGISTERS };

/* Which registers the system keeps when it changes from one thread to another. */
static uint64_t kept_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static uint32_t ask(void)
{
    enum { BASE = 1, MORE = 7, KEEPS = 1 << 27 };
    static const uint64_t AVX = 0x6, AVX512 = 0xE6;
    uint32_t base[REGISTERS] = {0};
    uint32_t more[REGISTERS] = {0};
    uint32_t found = 0;
    if (!__get_cpuid(BASE, &base[A], &base[B], &base[C], &base[D]) || !(base[C] & KEEPS)) {
        return found;
    }
    (void)__get_cpuid_count(MORE, 0, &more[A], &more[B], &more[C], &more[D]);
    const struct {
        uint64_t registers;
        uint32_t value, bits;
        enum processor_ability ability;
    } ABILITIES[] = {
        {0, base[C], 1U << 23, PROCESSOR_POPCNT},
        {AVX, base[C], 1U << 12, PROCESSOR_FMA},
        {AVX, more[B], 1U << 5, PROCESSOR_AVX2},
        {AVX512, more[B], 1U << 16 | 1U << 30 | 1U << 31, PROCESSOR_AVX512},
        {AVX512, more[C], 1U << 11, PROCESSOR_AVX512_VNNI},
        {AVX512, more[C], 1U << 14, PROCESSOR_AVX512_VPOPCNTDQ},
    };
    uint64_t kept = kept_registers();
    for (size_t i = 0; i < sizeof ABILITIES / sizeof *ABILITIES; i++) {
        if ((kept & ABILITIES[i].registers) == ABILITIES[i].registers &&
            (ABILITIES[i].value & ABILITIES[i].bits) == ABILITIES[i].bits) {
            found |= ABILITIES[i].ability;
        }
    }
    return found;
}
#elif defined(__aarch64__)
static uint32_t ask(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? PROCESSOR_DOT_PRODUCTS : 0;
}
#else
static uint32_t ask(void)
{
    return 0;
}
#endif

bool processor_has(uint32_t abilities)
{
    /* Two threads may ask at once, and get the same. */
    static _Atomic uint32_t known;
    uint32_t found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = ask() | ASKED;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return (found & abilities) == abilities;
}

unsigned processor_count(void)
{
    static atomic_uint known;
    unsigned count = atomic_load(&known);
    if (!count) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (unsigned)online : 1;
        atomic_store(&known, count);
    }
    return count;
}
