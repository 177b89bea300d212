/* A position is a number as of coding.h: its distance, and in the lowest bit whether another one
 * follows. A list of several blocks begins with where each block's stretches begin. */
#include "index/positions.h"

#include "index/coding.h"

#include <string.h>

void positions_put(struct buf *out, uint32_t distance, bool more)
{
    uint8_t bytes[CODING_MOST_BYTES];
    buf_append(out, bytes, coding_put(bytes, (uint64_t)distance << 1 | more));
}

void positions_write(struct buf *out, const struct posting *postings, uint32_t count)
{
    static const uint32_t NOWHERE;
    size_t start = out->length;
    for (uint32_t i = 0; i < count && count >= POSTINGS_BLOCK; i += POSTINGS_BLOCK) {
        buf_append(out, &NOWHERE, sizeof NOWHERE);
    }
    for (uint32_t i = 0; i < count && buf_error(out) == OK; i++) {
        if (count >= POSTINGS_BLOCK && i % POSTINGS_BLOCK == 0) {
            uint32_t offset = (uint32_t)(out->length - start);
            memcpy(out->data + start + i / POSTINGS_BLOCK * sizeof offset, &offset, sizeof offset);
        }
        if (postings[i].positions_length > 0) {
            buf_append(out, postings[i].positions, postings[i].positions_length);
        } else {
            positions_put(out, 0, false);
        }
    }
}

/* Where the stretches of a block begin; NULL: there are none. */
static const uint8_t *block_start(const struct postings *list, uint32_t block)
{
    uint32_t offset = 0;
    size_t entry = (size_t)block * sizeof offset;
    if (list->count >= POSTINGS_BLOCK) {
        if (list->positions_length < entry + sizeof offset) {
            return NULL;
        }
        memcpy(&offset, list->positions + entry, sizeof offset);
    }
    return offset < list->positions_length ? list->positions + offset : NULL;
}

/* Where the stretch at `at` ends; NULL: not before the end of all. */
static const uint8_t *stretch_end(const uint8_t *at, const uint8_t *end)
{
    for (bool more = true; more;) {
        more = at < end && *at & 1;
        while (at < end && *at & 128) {
            at++;
        }
        if (at++ >= end) {
            return NULL;
        }
    }
    return at;
}

void positions_start(struct positions_reader *reader)
{
    *reader = (struct positions_reader){.block = UINT32_MAX};
}

struct positions positions_of(struct positions_reader *reader, const struct postings_cursor *cursor)
{
    const struct postings *list = &cursor->list;
    if (list->positions_length == 0) {
        return (struct positions){0};
    }
    const uint8_t *end = list->positions + list->positions_length;
    if (reader->block != cursor->block || reader->at > cursor->at) {
        *reader = (struct positions_reader){cursor->block, 0, block_start(list, cursor->block)};
    }
    for (; reader->at < cursor->at && reader->next; reader->at++) {
        reader->next = stretch_end(reader->next, end);
    }
    const uint8_t *behind = reader->next ? stretch_end(reader->next, end) : NULL;
    return behind ? (struct positions){reader->next, behind, 0} : (struct positions){0};
}

bool positions_next(struct positions *positions, uint32_t *position)
{
    uint32_t number;
    if (positions->at == positions->end || !coding_get(&positions->at, positions->end, &number)) {
        return false;
    }
    positions->next += number >> 1;
    *position = positions->next - 1;
    return number >> 1 > 0;
}
