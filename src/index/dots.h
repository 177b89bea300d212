/* The two sums that comparing vectors comes down to, in the fastest form that this processor has:
 * products of small numbers, and bits that differ. All forms give the same results. */
#ifndef FORAGE_INDEX_DOTS_H
#define FORAGE_INDEX_DOTS_H

#include <stddef.h>
#include <stdint.h>

#define DOTS_STEP  64  /* lengths of rows and questions are multiples of it */
#define DOTS_CODES 256 /* that are compared at once */

struct dots {
    const char *name;
    /* The sum of row[i] * question[i]. */
    int32_t (*product)(const uint8_t *row, const int8_t *question, size_t length);
    /* For each of DOTS_CODES codes of so many words, how many bits differ from the question's. The
     * first words of all codes come first, then the second ones, and so on. */
    void (*differences)(const uint64_t *codes, const uint64_t *question, size_t words,
                        uint16_t found[DOTS_CODES]);
};

/* What the processor may be asked for; DOTS_ANY is everything that it has. */
enum dots_level { DOTS_PORTABLE, DOTS_AVX2, DOTS_VNNI, DOTS_ANY };
const struct dots *dots_choose(enum dots_level most);

#endif
