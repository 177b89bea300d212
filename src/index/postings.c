/* Each entry is the distance from the row before, shifted left by one; its lowest bit says that the
 * term occurs once, otherwise the number of times follows. Numbers are written seven bits a byte,
 * the highest bit says that more follow. */
#include "index/postings.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ENTRY_BYTES 10
#define FIRST_BYTES      8

static size_t put(uint8_t *to, uint64_t number)
{
    size_t length = 0;
    while (number >= 128) {
        to[length++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    to[length++] = (uint8_t)number;
    return length;
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

static uint8_t *bytes_of(struct postings *postings)
{
    return postings->capacity ? postings->bytes : postings->within;
}

/* Room for `length` more bytes. Half as much again: most lists are short, and the long ones must
 * not waste much. */
static int reserve(struct postings *postings, size_t length)
{
    size_t room = postings->capacity ? postings->capacity : sizeof postings->within;
    if (room - postings->used >= length) {
        return OK;
    }
    uint64_t capacity = (uint64_t)postings->used + postings->used / 2 + length + FIRST_BYTES;
    if (capacity > UINT32_MAX) {
        return ERR_LIMIT;
    }
    uint8_t *bytes = realloc(postings->capacity ? postings->bytes : NULL, capacity);
    if (!bytes) {
        return ERR_NOMEM;
    }
    if (!postings->capacity) {
        memcpy(bytes, postings->within, postings->used);
    }
    postings->bytes = bytes;
    postings->capacity = (uint32_t)capacity;
    return OK;
}

int postings_add(struct postings *postings, uint32_t row, uint32_t times)
{
    uint8_t entry[MOST_ENTRY_BYTES];
    uint64_t distance = postings->count ? row - postings->last : row;
    size_t length = put(entry, distance << 1 | (times == 1));
    length += times != 1 ? put(entry + length, times) : 0;
    int status = reserve(postings, length);
    if (status != OK) {
        return status;
    }
    memcpy(bytes_of(postings) + postings->used, entry, length);
    postings->used += (uint32_t)length;
    postings->last = row;
    postings->count++;
    return OK;
}

void postings_done(struct postings *postings)
{
    if (postings->capacity) {
        free(postings->bytes);
    }
    *postings = (struct postings){0};
}

void postings_start(const struct postings *postings, struct postings_cursor *cursor)
{
    const uint8_t *bytes = postings->capacity ? postings->bytes : postings->within;
    *cursor = (struct postings_cursor){.at = bytes, .end = bytes + postings->used};
}

bool postings_next(struct postings_cursor *cursor)
{
    if (cursor->at == cursor->end) {
        return false;
    }
    uint64_t number = get(cursor);
    cursor->row += (uint32_t)(number >> 1);
    cursor->times = number & 1 ? 1 : (uint32_t)get(cursor);
    return true;
}
