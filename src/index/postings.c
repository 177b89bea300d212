/* A block of 128 has its distances and times as numbers of equally many bits each. What is left
 * over, which in most lists is everything, has them as bytes: the distance shifted left by one, its
 * lowest bit says that the term occurs once, otherwise the number of times follows.
 *
 * A distance is counted from the document behind the one before, so that neighbours have 0. */
#include "index/postings.h"

#include "index/coding.h"

#include <string.h>

#define ENTRY_BYTES                                                                                \
    12u               /* last document, offset of the block, once_length, times, more_length, 0    \
                       */
#define HEAD_BYTES 2u /* of a packed block: bits of a distance, of times */
#define MOST_BITS  32u
#define LANES      4u
#define WINDOW     16u /* documents of a block that are looked at together */

typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));

/* ---- lengths in a byte ---- */

/* Rounded down: exact below 64, then eight steps for each power of two. */
static uint8_t short_length(uint32_t length)
{
    if (length < 64) {
        return (uint8_t)length;
    }
    unsigned int power = 31u - (unsigned int)__builtin_clz(length);
    unsigned int code = 64 + 8 * (power - 6) + (length >> (power - 3) & 7);
    return (uint8_t)(code < 254 ? code : 254);
}

static uint32_t long_length(uint8_t code)
{
    if (code < 64) {
        return code;
    }
    unsigned int power = 6 + (code - 64u) / 8;
    return UINT32_C(1) << power | (uint32_t)((code - 64u) % 8) << (power - 3);
}

#define NO_LENGTH 255u /* no document has the term once */

/* ---- writing ---- */

static unsigned int bits_of(uint32_t number)
{
    return number ? 32u - (unsigned int)__builtin_clz(number) : 0;
}

/* Number i is in lane i % LANES, each of which has `bits` words of 32 bits; the lanes' words take
 * turns, so that several numbers are read at once. */
static void pack(struct buf *out, const uint32_t *numbers, unsigned int bits)
{
    uint32_t words[MOST_BITS * LANES] = {0};
    for (unsigned int i = 0; i < POSTINGS_BLOCK && bits > 0; i++) {
        unsigned int bit = i / LANES * bits;
        uint64_t piece = (uint64_t)numbers[i] << bit % 32;
        words[bit / 32 * LANES + i % LANES] |= (uint32_t)piece;
        if (bit % 32 + bits > 32) {
            words[(bit / 32 + 1) * LANES + i % LANES] |= (uint32_t)(piece >> 32);
        }
    }
    buf_append(out, words, bits * LANES * sizeof *words);
}

static void write_packed(struct buf *out, const struct posting *postings, uint32_t next)
{
    uint32_t distances[POSTINGS_BLOCK];
    uint32_t times[POSTINGS_BLOCK];
    uint32_t all_distances = 0;
    uint32_t all_times = 0;
    for (unsigned int i = 0; i < POSTINGS_BLOCK; i++) {
        distances[i] = postings[i].document - next;
        times[i] = postings[i].times - 1;
        next = postings[i].document + 1;
        all_distances |= distances[i];
        all_times |= times[i];
    }
    buf_putc(out, (char)bits_of(all_distances));
    buf_putc(out, (char)bits_of(all_times));
    pack(out, distances, bits_of(all_distances));
    pack(out, times, bits_of(all_times));
}

static void write_rest(struct buf *out, const struct posting *postings, uint32_t count,
                       uint32_t next)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[2 * CODING_MOST_BYTES];
        uint64_t distance = postings[i].document - next;
        size_t length = coding_put(bytes, distance << 1 | (postings[i].times == 1));
        length += postings[i].times != 1 ? coding_put(bytes + length, postings[i].times) : 0;
        buf_append(out, bytes, length);
        next = postings[i].document + 1;
    }
}

static void put_u32(uint8_t *to, uint32_t number)
{
    memcpy(to, &number, sizeof number);
}

static void write_entry(uint8_t *entry, const struct posting *postings, uint32_t count,
                        size_t offset, const uint32_t *lengths)
{
    uint32_t once = UINT32_MAX;
    uint32_t more = UINT32_MAX;
    uint32_t most = 0;
    for (uint32_t i = 0; i < count && lengths; i++) {
        uint32_t length = lengths[postings[i].document] & ~POSTINGS_LONG;
        bool unbounded = lengths[postings[i].document] & POSTINGS_LONG;
        uint32_t times = unbounded ? UINT32_MAX : postings[i].times;
        if (times == 1) {
            once = length < once ? length : once;
        } else {
            more = length < more ? length : more;
            most = times > most ? times : most;
        }
    }
    put_u32(entry, postings[count - 1].document);
    put_u32(entry + 4, (uint32_t)offset);
    entry[8] = once == UINT32_MAX ? NO_LENGTH : short_length(once);
    entry[9] = (uint8_t)(most < 255 ? most : 255); /* 255: as often as you like */
    entry[10] = more == UINT32_MAX ? 0 : short_length(more);
    entry[11] = 0;
}

static uint32_t blocks_of(uint32_t count)
{
    return count / POSTINGS_BLOCK + (count % POSTINGS_BLOCK > 0);
}

void postings_write(struct buf *out, const struct posting *postings, uint32_t count,
                    const uint32_t *lengths)
{
    if (count < POSTINGS_BLOCK) {
        write_rest(out, postings, count, 0);
        return;
    }
    static const uint8_t EMPTY[ENTRY_BYTES];
    uint32_t blocks = blocks_of(count);
    size_t start = out->length;
    for (uint32_t i = 0; i < blocks; i++) {
        buf_append(out, EMPTY, sizeof EMPTY);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const struct posting *block = postings + (size_t)i * POSTINGS_BLOCK;
        uint32_t left = count - i * POSTINGS_BLOCK;
        uint32_t held = left < POSTINGS_BLOCK ? left : POSTINGS_BLOCK;
        if (buf_error(out) != OK) {
            return;
        }
        write_entry((uint8_t *)out->data + start + (size_t)i * ENTRY_BYTES, block, held,
                    out->length - start, lengths);
        if (held == POSTINGS_BLOCK) {
            write_packed(out, block, next);
        } else {
            write_rest(out, block, held, next);
        }
        next = block[held - 1].document + 1;
    }
}

/* ---- reading ---- */

static uint32_t get_u32(const uint8_t *from)
{
    uint32_t number;
    memcpy(&number, from, sizeof number);
    return number;
}

static const uint8_t *entry_of(const struct postings_cursor *cursor, uint32_t block)
{
    return cursor->list.bytes + (size_t)block * ENTRY_BYTES;
}

uint32_t postings_block_last(const struct postings_cursor *cursor, uint32_t block)
{
    return cursor->list.count < POSTINGS_BLOCK ? cursor->limit : get_u32(entry_of(cursor, block));
}

void postings_block_bound(const struct postings_cursor *cursor, uint32_t block,
                          struct postings_bound *bound)
{
    const uint8_t *entry = entry_of(cursor, block);
    bound->once_length = entry[8] == NO_LENGTH ? UINT32_MAX : long_length(entry[8]);
    bound->most_times = entry[9] < 255 ? entry[9] : UINT32_MAX;
    bound->more_length = long_length(entry[10]);
}

/* 128 numbers of so many bits. */
static void unpack(const uint8_t *from, unsigned int bits, uint32_t *numbers)
{
    if (bits == MOST_BITS) {
        memcpy(numbers, from, POSTINGS_BLOCK * sizeof *numbers);
        return;
    }
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    lanes word = {0};
    unsigned int left = 0; /* bits of it */
    for (unsigned int i = 0; i < POSTINGS_BLOCK; i += LANES) {
        lanes number = word;
        if (left < bits) {
            memcpy(&word, from, sizeof word);
            from += sizeof word;
            number |= word << left;
            word >>= bits - left;
            left += 32;
        } else {
            word >>= bits;
        }
        left -= bits;
        number &= mask;
        memcpy(numbers + i, &number, sizeof number);
    }
}

/* Distances to documents. Whether all of them are there. */
static bool add_up(struct postings_cursor *cursor, uint32_t next)
{
    uint64_t sum = next;
    for (unsigned int i = 0; i < POSTINGS_BLOCK; i++) {
        sum += cursor->documents[i];
        cursor->documents[i] = (uint32_t)sum;
        sum++;
    }
    return sum <= cursor->limit;
}

static bool read_packed(struct postings_cursor *cursor, const uint8_t *at, const uint8_t *end,
                        uint32_t next)
{
    if (end - at < (ptrdiff_t)HEAD_BYTES || at[0] > MOST_BITS || at[1] > MOST_BITS ||
        (size_t)(end - at) < HEAD_BYTES + POSTINGS_BLOCK / 8 * ((size_t)at[0] + at[1])) {
        return false;
    }
    unpack(at + HEAD_BYTES, at[0], cursor->documents);
    unpack(at + HEAD_BYTES + POSTINGS_BLOCK / 8 * (size_t)at[0], at[1], cursor->all_times);
    for (unsigned int i = 0; i < POSTINGS_BLOCK; i++) {
        cursor->all_times[i]++;
    }
    cursor->filled = POSTINGS_BLOCK;
    return add_up(cursor, next);
}

static bool read_rest(struct postings_cursor *cursor, const uint8_t *at, const uint8_t *end,
                      uint32_t count, uint64_t next)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number;
        uint32_t times = 1;
        if (!coding_get(&at, end, &number) || (!(number & 1) && !coding_get(&at, end, &times))) {
            return false;
        }
        next += number >> 1;
        if (next >= cursor->limit) {
            return false;
        }
        cursor->documents[i] = (uint32_t)next++;
        cursor->all_times[i] = times;
    }
    for (uint32_t i = count; i % WINDOW > 0; i++) {
        cursor->documents[i] = NO_DOCUMENT;
    }
    cursor->filled = count;
    return true;
}

/* Decodes a block and stands at its first document. Behind the last block, and at a damaged one,
 * the list ends. */
static void open_block(struct postings_cursor *cursor, uint32_t block)
{
    size_t length = cursor->list.length;
    const uint8_t *end = length > 0 ? cursor->list.bytes + length : cursor->list.bytes;
    uint32_t left = block < cursor->block_count ? cursor->list.count - block * POSTINGS_BLOCK : 0;
    bool whole = false;
    cursor->filled = 0;
    cursor->at = 0;
    cursor->block = block;
    if (cursor->list.count < POSTINGS_BLOCK) {
        whole = left > 0 && read_rest(cursor, cursor->list.bytes, end, left, 0);
    } else if (left > 0) {
        uint32_t offset = get_u32(entry_of(cursor, block) + 4);
        uint32_t next = block > 0 ? postings_block_last(cursor, block - 1) + 1 : 0;
        const uint8_t *at = offset <= length ? cursor->list.bytes + offset : end;
        whole = left >= POSTINGS_BLOCK ? read_packed(cursor, at, end, next)
                                       : read_rest(cursor, at, end, left, next);
    }
    if (whole) {
        cursor->document = cursor->documents[0];
        cursor->times = cursor->all_times[0];
    } else {
        cursor->filled = 0;
        cursor->block = cursor->block_count;
        cursor->document = NO_DOCUMENT;
    }
}

void postings_start(struct postings_cursor *cursor, const struct postings *list, uint32_t limit)
{
    cursor->list = *list;
    cursor->limit = limit;
    cursor->block_count = blocks_of(list->count);
    if (list->count >= POSTINGS_BLOCK && list->length < (size_t)cursor->block_count * ENTRY_BYTES) {
        cursor->block_count = 0;
    }
    open_block(cursor, 0);
}

void postings_next_block(struct postings_cursor *cursor)
{
    if (cursor->block < cursor->block_count) {
        open_block(cursor, cursor->block + 1);
    }
}

/* Most are asked for what is near: whole windows are passed over, and the last one is counted. */
uint32_t postings_until(const struct postings_cursor *cursor, uint32_t document)
{
    uint32_t at = cursor->at - cursor->at % WINDOW;
    while (at + WINDOW < cursor->filled && cursor->documents[at + WINDOW] < document) {
        at += WINDOW;
    }
    uint32_t before = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        before += cursor->documents[at + i] < document;
    }
    return at + before < cursor->filled ? at + before : cursor->filled;
}

void postings_seek(struct postings_cursor *cursor, uint32_t document)
{
    if (cursor->document >= document) {
        return;
    }
    uint32_t block = cursor->block;
    while (block < cursor->block_count && postings_block_last(cursor, block) < document) {
        block++;
    }
    if (block != cursor->block) {
        open_block(cursor, block);
    }
    while (cursor->document < document) { /* NO_DOCUMENT ends it */
        postings_go(cursor, postings_until(cursor, document));
    }
}
