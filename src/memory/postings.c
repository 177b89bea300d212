/* Each entry is the distance from the document before, shifted left by one; its lowest bit says
 * that the term occurs once, otherwise the number of times follows. Numbers are written seven bits
 * a byte, the highest bit says that more follow. */
#include "memory/postings.h"

#include "core/status.h"

#include <stdlib.h>

#define MOST_ENTRY_BYTES 10
#define FIRST_BYTES      8

static void put(struct postings *postings, uint64_t number)
{
    while (number >= 128) {
        postings->bytes[postings->used++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    postings->bytes[postings->used++] = (uint8_t)number;
}

static uint64_t get(struct postings_cursor *cursor)
{
    uint64_t number = 0;
    for (unsigned int shift = 0;; shift += 7) {
        uint8_t byte = *cursor->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return number;
        }
    }
}

int postings_add(struct postings *postings, uint32_t document, uint32_t times)
{
    if (postings->capacity - postings->used < MOST_ENTRY_BYTES) {
        /* Half as much again: most lists are short, and the long ones must not waste much. */
        uint64_t capacity =
            postings->capacity + postings->capacity / 2 + MOST_ENTRY_BYTES + FIRST_BYTES;
        uint8_t *bytes = capacity <= UINT32_MAX ? realloc(postings->bytes, capacity) : NULL;
        if (!bytes) {
            return capacity <= UINT32_MAX ? ERR_NOMEM : ERR_LIMIT;
        }
        postings->bytes = bytes;
        postings->capacity = (uint32_t)capacity;
    }
    uint64_t distance = postings->count ? document - postings->last : document;
    put(postings, distance << 1 | (times == 1));
    if (times != 1) {
        put(postings, times);
    }
    postings->last = document;
    postings->count++;
    return OK;
}

void postings_done(struct postings *postings)
{
    free(postings->bytes);
    *postings = (struct postings){0};
}

void postings_start(const struct postings *postings, struct postings_cursor *cursor)
{
    *cursor = (struct postings_cursor){.at = postings->bytes, .end = postings->bytes};
    if (postings->used > 0) {
        cursor->end += postings->used;
    }
}

bool postings_next(struct postings_cursor *cursor)
{
    if (cursor->at == cursor->end) {
        return false;
    }
    uint64_t number = get(cursor);
    cursor->document += (uint32_t)(number >> 1);
    cursor->times = number & 1 ? 1 : (uint32_t)get(cursor);
    return true;
}
