/* Postings: in which passages a term occurs, and how often. They are added in the order of
 * their numbers; each takes two or three bytes. */
#ifndef FORAGE_INDEX_POSTINGS_H
#define FORAGE_INDEX_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed is empty. Most terms of most texts occur once or twice: their entries are in the list
 * itself, without a block of memory. */
struct postings {
    union {
        uint8_t *bytes;
        uint8_t within[sizeof(uint8_t *)]; /* while the capacity is 0 */
    };
    uint32_t used, capacity;
    uint32_t last; /* row */
    uint32_t count;
};

/* OK or ERR_NOMEM, ERR_LIMIT. `row` must be above the last one; `times` at least 1. */
int postings_add(struct postings *postings, uint32_t row, uint32_t times);
void postings_done(struct postings *postings);

struct postings_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t row;
    uint32_t times;
};

void postings_start(const struct postings *postings, struct postings_cursor *cursor);
/* Whether there was one more: its row and times are in the cursor. */
bool postings_next(struct postings_cursor *cursor);

#endif
