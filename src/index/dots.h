/* The two sums that comparing vectors comes down to, in the fastest form that this processor has:
 * products of small numbers, and bits that differ. All forms give the same results. */
#ifndef FORAGE_INDEX_DOTS_H
#define FORAGE_INDEX_DOTS_H

#include <stddef.h>
#include <stdint.h>

#define DOTS_STEP 64 /* lengths of rows and questions are multiples of it */

struct dots {
    const char *name;
    /* The sum of row[i] * question[i]. */
    int32_t (*product)(const uint8_t *row, const int8_t *question, size_t length);
    /* For each code of so many words, how many bits differ from the question's. */
    void (*differences)(const uint64_t *codes, const uint64_t *question, size_t words, size_t count,
                        uint16_t *found);
};

/* What the processor may be asked for; DOTS_ANY is everything that it has. */
enum dots_level { DOTS_PORTABLE, DOTS_AVX2, DOTS_ANY };
const struct dots *dots_choose(enum dots_level most);

#endif
