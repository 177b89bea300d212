/* The manifest's bytes, all numbers little-endian:
 *
 *   8  "forageS2": what it is, and the version of this layout
 *  32  identity
 *   8  seen
 *  16  after and until of the gap
 *  24  id, change and written_ms of the witness
 *  16  next, count
 *  each segment: 8 number, 8 length, 8 checksum
 *   8  checksum of everything before it */
#include "index/manifest.h"

#include "core/checksum.h"

#include <stdbool.h>
#include <string.h>

#define MAGIC "forageS2"
enum { WORD = 8, MAGIC_SIZE = sizeof MAGIC - 1 };

/* ---- reading ---- */

struct cursor {
    const unsigned char *at;
    size_t left;
};

/* NULL when there are not so many. */
static const unsigned char *take(struct cursor *cursor, uint64_t length)
{
    if (length > cursor->left) {
        return NULL;
    }
    const unsigned char *taken = cursor->at;
    cursor->at += length;
    cursor->left -= (size_t)length;
    return taken;
}

static bool take_word(struct cursor *cursor, uint64_t *word)
{
    const unsigned char *bytes = take(cursor, WORD);
    *word = 0;
    for (int i = WORD - 1; bytes && i >= 0; i--) {
        *word = *word << 8 | bytes[i];
    }
    return bytes != NULL;
}

/* One that is not negative. */
static bool take_number(struct cursor *cursor, int64_t *number)
{
    uint64_t word;
    bool taken = take_word(cursor, &word);
    *number = (int64_t)word;
    return taken && word <= INT64_MAX;
}

static bool take_witness(struct cursor *cursor, struct manifest_witness *witness)
{
    return take_number(cursor, &witness->id) && take_number(cursor, &witness->change) &&
           take_number(cursor, &witness->written_ms);
}

static bool take_gap(struct cursor *cursor, int64_t seen, struct manifest_gap *gap)
{
    return take_number(cursor, &gap->after) && take_number(cursor, &gap->until) &&
           (gap->after < gap->until || (gap->after == 0 && gap->until == 0)) && gap->until <= seen;
}

static bool take_segment(struct cursor *cursor, struct manifest_segment *segment)
{
    return take_word(cursor, &segment->number) && take_word(cursor, &segment->length) &&
           take_word(cursor, &segment->checksum) && segment->length > 0 &&
           segment->length <= LIMIT_INDEX_SEGMENT_BYTES;
}

/* Whether the last segment's number is a new one, below the next. */
static bool is_new(const struct manifest *manifest, size_t last)
{
    uint64_t number = manifest->segments[last].number;
    bool fits = number < manifest->next;
    for (size_t i = 0; i < last; i++) {
        fits = fits && manifest->segments[i].number != number;
    }
    return fits;
}

static bool take_segments(struct cursor *cursor, struct manifest *manifest)
{
    uint64_t bytes = 0;
    bool good = true;
    for (size_t i = 0; i < manifest->count && good; i++) {
        good = take_segment(cursor, &manifest->segments[i]) && is_new(manifest, i);
        bytes += manifest->segments[i].length;
    }
    return good && bytes <= LIMIT_INDEX_BYTES;
}

int manifest_read(const unsigned char *data, size_t length, struct manifest *manifest)
{
    if (length > LIMIT_INDEX_MANIFEST_BYTES || length < WORD) {
        return ERR_INVALID;
    }
    struct cursor cursor = {data + length - WORD, WORD};
    uint64_t sum;
    uint64_t count = 0;
    (void)take_word(&cursor, &sum);
    cursor = (struct cursor){data, length - WORD};
    const unsigned char *magic = take(&cursor, MAGIC_SIZE);
    const unsigned char *identity = take(&cursor, SHA256_SIZE);
    if (!magic || memcmp(magic, MAGIC, MAGIC_SIZE) != 0 || sum != checksum(data, length - WORD) ||
        !identity || !take_number(&cursor, &manifest->seen) ||
        !take_gap(&cursor, manifest->seen, &manifest->gap) ||
        !take_witness(&cursor, &manifest->witness) || !take_word(&cursor, &manifest->next) ||
        !take_word(&cursor, &count) || count > LIMIT_INDEX_SEGMENTS) {
        return ERR_INVALID;
    }
    memcpy(manifest->identity, identity, SHA256_SIZE);
    manifest->count = (size_t)count;
    return take_segments(&cursor, manifest) && cursor.left == 0 ? OK : ERR_INVALID;
}

/* ---- writing ---- */

static void put_word(struct buf *out, uint64_t word)
{
    unsigned char bytes[WORD];
    for (int i = 0; i < WORD; i++) {
        bytes[i] = (unsigned char)(word >> 8 * i);
    }
    buf_append(out, bytes, sizeof bytes);
}

int manifest_write(const struct manifest *manifest, struct buf *out)
{
    size_t before = out->length;
    buf_append(out, MAGIC, MAGIC_SIZE);
    buf_append(out, manifest->identity, SHA256_SIZE);
    put_word(out, (uint64_t)manifest->seen);
    put_word(out, (uint64_t)manifest->gap.after);
    put_word(out, (uint64_t)manifest->gap.until);
    put_word(out, (uint64_t)manifest->witness.id);
    put_word(out, (uint64_t)manifest->witness.change);
    put_word(out, (uint64_t)manifest->witness.written_ms);
    put_word(out, manifest->next);
    put_word(out, manifest->count);
    for (size_t i = 0; i < manifest->count; i++) {
        const struct manifest_segment *segment = &manifest->segments[i];
        put_word(out, segment->number);
        put_word(out, segment->length);
        put_word(out, segment->checksum);
    }
    if (buf_error(out) == OK) {
        put_word(out, checksum(out->data + before, out->length - before));
    }
    return buf_error(out);
}
