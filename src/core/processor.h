/* What this processor can do beyond what every one of its kind can, asked for when it is needed:
 * the compiler's own way asks at each start of the program, whoever needs it. */
#ifndef FORAGE_CORE_PROCESSOR_H
#define FORAGE_CORE_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

enum processor_ability {
    PROCESSOR_FMA = 1 << 0,
    PROCESSOR_POPCNT = 1 << 1,
    PROCESSOR_AVX2 = 1 << 2,
    PROCESSOR_AVX512 = 1 << 3, /* F, BW and VL */
    PROCESSOR_AVX512_VNNI = 1 << 4,
    PROCESSOR_AVX512_VPOPCNTDQ = 1 << 5,
    PROCESSOR_DOT_PRODUCTS = 1 << 6, /* of ARM */
};

/* How many processors are at work; read once. */
unsigned processor_count(void);
/* Whether it has all of these, and the system keeps their registers. */
bool processor_has(uint32_t abilities);

#endif
