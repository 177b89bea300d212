/* Fuzzes the reading of vectors in files. A sound part is damaged as the input says (each four
 * bytes: where, and what is put there; the last odd byte cuts it), in every second one the checks
 * of rows are made anew, as whoever means harm would. Then it is searched, what is found is
 * compared, some of it removed, and what is left written again. What is found may be wrong; nothing
 * else may happen. */
#include "core/buf.h"
#include "core/checksum.h"
#include "core/limits.h"
#include "fuzz.h"
#include "index/vectors_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 70, TEXTS = 4200, NEAR = 20 };

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_vectors: %s\n", what);
        abort();
    }
}

static int emit(void *context, const void *bytes, size_t length)
{
    return buf_append(context, bytes, length);
}

/* A sound part, with signs and texts of several passages; made once. */
static const struct buf *sound(void)
{
    static struct buf bytes;
    if (!bytes.data) {
        static int64_t ids[TEXTS];
        static uint32_t marks[TEXTS];
        static float scales[TEXTS];
        size_t stride = vector_stride(DIMENSIONS);
        uint8_t *rows = calloc(TEXTS, stride);
        for (size_t i = 0; i < TEXTS; i++) {
            ids[i] = (int64_t)(i - i % 3 + 1);
            scales[i] = 0.01f;
            for (size_t j = 0; j < DIMENSIONS; j++) {
                rows[i * stride + j] = (uint8_t)(i * 31 + j * (i % 7 + 1));
            }
        }
        struct vector_input input = {
            .ids = ids, .marks = marks, .scales = scales, .rows = rows, .count = TEXTS};
        buf_init(&bytes, MIB(4));
        require(vector_part_write(&input, 1, DIMENSIONS, "1 model", emit, &bytes) == OK, "write");
        free(rows);
    }
    return &bytes;
}

static bool is_odd(const void *context, int64_t id)
{
    (void)context;
    return id % 2 == 1;
}

static void search(const struct vectors *vectors)
{
    float question[LIMIT_MEANING_DIMENSIONS] = {0};
    struct vectors_hit hits[NEAR];
    size_t count;
    size_t sample;
    double usual;
    question[3] = 1;
    for (int i = 0; i < 2; i++) {
        require(vectors_search(vectors, question, NEAR, i ? is_odd : NULL, NULL, hits, &count) ==
                    OK,
                "search");
        require(count <= NEAR, "more than were wanted");
        require(vectors_compare(vectors, question, hits, count, NAN) == OK, "compare");
    }
    require(vectors_usual(vectors, question, &usual, &sample) == OK, "usual");
}

static void write_again(const struct vectors *vectors)
{
    const struct vectors_kept *kept = &vectors->kept[0];
    const struct vector_part *part = &kept->part;
    struct vector_input input = {.ids = part->ids,
                                 .marks = part->marks,
                                 .scales = part->scales,
                                 .rows = part->rows,
                                 .checks = part->checks,
                                 .dead = kept->dead,
                                 .count = part->count};
    struct buf bytes;
    struct vector_part again;
    buf_init(&bytes, MIB(8));
    int status = vector_part_write(&input, 1, part->dimensions, part->label, emit, &bytes);
    require(status == OK || status == ERR_INVALID || status == ERR_NOMEM || status == ERR_LIMIT,
            "write again");
    if (status == OK) {
        require(vector_part_head(bytes.data, bytes.length, &again) == OK, "what was written");
        require(vector_part_sensible(&again), "the sense of what was written");
    }
    buf_done(&bytes);
}

/* With so many parts that signs are used. */
static void use(const uint8_t *bytes, size_t length)
{
    struct vectors *vectors = vectors_new();
    for (int i = 0; i < 13; i++) {
        int status = vectors_attach(vectors, bytes, length);
        require(status == OK || status == ERR_INVALID, "attach");
        if (status != OK) {
            break;
        }
    }
    if (vectors->kept_count > 0) {
        search(vectors);
        for (int64_t id = 1; id < TEXTS; id += 5) {
            vectors_keep(vectors, id, (uint32_t)id % 2);
        }
        search(vectors);
        write_again(vectors);
    }
    vectors_free(vectors);
}

/* Where the checks are is known from the sound one, which has the same layout or is refused. */
static void check_rows_anew(uint8_t *bytes, size_t length)
{
    struct vector_part part;
    if (vector_part_head(bytes, length, &part) == OK) {
        size_t checks = (size_t)((const uint8_t *)part.checks - bytes);
        for (uint32_t i = 0; i < part.count; i++) {
            uint32_t check = (uint32_t)checksum(part.rows + i * part.stride, part.stride);
            memcpy(bytes + checks + i * sizeof check, &check, sizeof check);
        }
    }
}

FUZZ_TARGET(vectors)
{
    const struct buf *from = sound();
    size_t kept = size % 4 ? from->length * data[size - 1] / 256 : from->length;
    uint8_t *bytes = malloc(kept > 0 ? kept : 1);
    memcpy(bytes, from->data, kept);
    for (size_t i = 0; i + 4 <= size && kept > 0; i += 4) {
        size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;
        bytes[at % kept] = data[i + 3];
    }
    if (size / 4 % 2) {
        check_rows_anew(bytes, kept);
    }
    use(bytes, kept);
    free(bytes);
    return 0;
}
