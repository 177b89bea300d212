/* The bytes of a part, numbers as this machine has them:
 *
 *   a header, whose first word is of this version and this order of bytes
 *   the label and a NUL; the mean, where there are codes; ids, marks, scales, checks, codes, rows
 *
 * each from the next multiple of ALIGNMENT on. */
#include "index/vector_part.h"

#include "core/checksum.h"
#include "core/limits.h"
#include "index/dots.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC       UINT64_C(0x3156656761726F66) /* "forageV1" */
#define ALIGNMENT   64u
#define LEAST_CODED 4096u /* places, whose mean says something */
#define BLOCK       DOTS_CODES

struct part_header {
    uint64_t magic;
    uint32_t dimensions;
    uint32_t count;
    uint32_t is_coded; /* 0 or 1 */
    uint32_t label_length;
};

/* Where each begins, and where all of it ends. */
enum part_section { LABEL, MEAN, IDS, MARKS, SCALES, CHECKS, CODES, ROWS, SECTIONS };
struct layout {
    uint64_t starts[SECTIONS];
    uint64_t lengths[SECTIONS];
};

size_t vector_stride(size_t dimensions)
{
    return (dimensions + DOTS_STEP - 1) / DOTS_STEP * DOTS_STEP;
}

static size_t vector_words(size_t dimensions)
{
    return (dimensions + 63) / 64;
}

/* None of it overflows: what is counted has 32 bits, and dimensions have a ceiling. */
static struct layout lay_out(const struct part_header *header)
{
    uint64_t count = header->count;
    uint64_t blocks = (count + BLOCK - 1) / BLOCK;
    uint64_t words = vector_words(header->dimensions);
    struct layout layout = {.lengths = {
                                [LABEL] = (uint64_t)header->label_length + 1,
                                [MEAN] = header->is_coded * header->dimensions * sizeof(float),
                                [IDS] = count * sizeof(int64_t),
                                [MARKS] = count * sizeof(uint32_t),
                                [SCALES] = count * sizeof(float),
                                [CHECKS] = count * sizeof(uint32_t),
                                [CODES] = header->is_coded * blocks * BLOCK * words * 8,
                                [ROWS] = count * vector_stride(header->dimensions),
                            }};
    uint64_t at = sizeof *header;
    for (int i = 0; i < SECTIONS; i++) {
        layout.starts[i] = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        at = layout.starts[i] + layout.lengths[i];
    }
    return layout;
}

/* ---- reading ---- */

int vector_part_head(const void *bytes, size_t length, struct vector_part *part)
{
    struct part_header header;
    if (length < sizeof header) {
        return ERR_INVALID;
    }
    memcpy(&header, bytes, sizeof header);
    if (header.magic != MAGIC || header.dimensions == 0 || header.count == 0 ||
        header.dimensions > LIMIT_MEANING_DIMENSIONS || header.is_coded > 1 ||
        header.label_length > LIMIT_VECTORS_LABEL) {
        return ERR_INVALID;
    }
    struct layout layout = lay_out(&header);
    if (layout.starts[ROWS] + layout.lengths[ROWS] != length) {
        return ERR_INVALID;
    }
    const char *at = bytes;
    *part = (struct vector_part){
        .dimensions = header.dimensions,
        .stride = vector_stride(header.dimensions),
        .words = vector_words(header.dimensions),
        .count = header.count,
        .label = at + layout.starts[LABEL],
        .mean = header.is_coded ? (const void *)(at + layout.starts[MEAN]) : NULL,
        .ids = (const void *)(at + layout.starts[IDS]),
        .marks = (const void *)(at + layout.starts[MARKS]),
        .scales = (const void *)(at + layout.starts[SCALES]),
        .checks = (const void *)(at + layout.starts[CHECKS]),
        .codes = header.is_coded ? (const void *)(at + layout.starts[CODES]) : NULL,
        .rows = (const void *)(at + layout.starts[ROWS]),
        .head = (size_t)layout.starts[ROWS],
    };
    return part->label[header.label_length] == '\0' ? OK : ERR_INVALID;
}

bool vector_part_sensible(const struct vector_part *part)
{
    bool sensible = part->ids[0] > 0;
    for (uint32_t i = 0; i < part->count; i++) {
        sensible = sensible && (i == 0 || part->ids[i - 1] <= part->ids[i]) &&
                   part->scales[i] > 0 && part->scales[i] <= 1;
    }
    return sensible;
}

static uint32_t check_of(const uint8_t *row, size_t stride)
{
    return (uint32_t)checksum(row, stride);
}

bool vector_part_row_sound(const struct vector_part *part, uint32_t place)
{
    return check_of(part->rows + place * part->stride, part->stride) == part->checks[place];
}

/* ---- writing ---- */

/* A living place of an input. */
struct part_entry {
    int64_t id;
    uint32_t input;
    uint32_t place;
};

struct part_writing {
    const struct vector_input *inputs;
    size_t input_count;
    struct part_header header;
    size_t stride;
    struct part_entry *entries; /* in the order of ids */
    float *mean;
    uint64_t at; /* bytes that were written */
    vector_emit emit;
    void *context;
};

static int by_id(const void *left, const void *right)
{
    const struct part_entry *a = left;
    const struct part_entry *b = right;
    return a->id != b->id         ? (a->id < b->id ? -1 : 1)
           : a->input != b->input ? (a->input < b->input ? -1 : 1)
                                  : (a->place > b->place) - (a->place < b->place);
}

static bool lives(const struct vector_input *input, uint32_t place)
{
    return !input->dead || !(input->dead[place / 8] >> place % 8 & 1);
}

static int list_entries(struct part_writing *writing)
{
    size_t room = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < writing->input_count; i++) {
        room += writing->inputs[i].count;
    }
    writing->entries = room <= UINT32_MAX ? malloc((room + 1) * sizeof *writing->entries) : NULL;
    if (!writing->entries) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < writing->input_count; i++) {
        for (uint32_t j = 0; j < writing->inputs[i].count; j++) {
            if (lives(&writing->inputs[i], j)) {
                writing->entries[count++] = (struct part_entry){writing->inputs[i].ids[j], i, j};
            }
        }
    }
    qsort(writing->entries, count, sizeof *writing->entries, by_id);
    writing->header.count = count;
    return count > 0 ? OK : ERR_INVALID;
}

static const uint8_t *row_of(const struct part_writing *writing, uint32_t entry)
{
    const struct part_entry *one = &writing->entries[entry];
    return writing->inputs[one->input].rows + one->place * writing->stride;
}

static void numbers_of(const struct part_writing *writing, uint32_t entry, float *numbers)
{
    const struct part_entry *one = &writing->entries[entry];
    const uint8_t *row = row_of(writing, entry);
    float scale = writing->inputs[one->input].scales[one->place];
    for (size_t i = 0; i < writing->header.dimensions; i++) {
        numbers[i] = (float)((int)row[i] - 128) * scale;
    }
}

/* What was damaged must not be written again as if it were sound. */
static bool rows_are_sound(const struct part_writing *writing)
{
    bool sound = true;
    for (uint32_t i = 0; i < writing->header.count; i++) {
        const struct part_entry *one = &writing->entries[i];
        const uint32_t *checks = writing->inputs[one->input].checks;
        sound = sound &&
                (!checks || check_of(row_of(writing, i), writing->stride) == checks[one->place]);
    }
    return sound;
}

static int find_mean(struct part_writing *writing)
{
    float numbers[LIMIT_MEANING_DIMENSIONS];
    size_t dimensions = writing->header.dimensions;
    writing->mean = calloc(dimensions, sizeof *writing->mean);
    if (!writing->mean) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < writing->header.count && writing->header.is_coded; i++) {
        numbers_of(writing, i, numbers);
        for (size_t j = 0; j < dimensions; j++) {
            writing->mean[j] += numbers[j] / (float)writing->header.count;
        }
    }
    return OK;
}

static int put(struct part_writing *writing, const void *bytes, size_t length)
{
    writing->at += length;
    return length > 0 ? writing->emit(writing->context, bytes, length) : OK;
}

/* Zeros up to where a section begins. */
static int align(struct part_writing *writing)
{
    static const char ZEROS[ALIGNMENT] = {0};
    return put(writing, ZEROS, (ALIGNMENT - writing->at % ALIGNMENT) % ALIGNMENT);
}

void vector_code(const float *numbers, const float *mean, size_t dimensions, uint64_t *code)
{
    for (size_t word = 0; word < vector_words(dimensions); word++) {
        uint64_t signs = 0;
        size_t end = 64 * word + 64 < dimensions ? 64 * word + 64 : dimensions;
        for (size_t i = 64 * word; i < end; i++) {
            signs |= (uint64_t)(numbers[i] > mean[i]) << (i % 64);
        }
        code[word] = signs;
    }
}

static int put_codes(struct part_writing *writing)
{
    float numbers[LIMIT_MEANING_DIMENSIONS];
    uint64_t code[LIMIT_MEANING_DIMENSIONS / 64];
    size_t dimensions = writing->header.dimensions;
    size_t words = vector_words(dimensions);
    uint64_t *block = malloc(words * BLOCK * sizeof *block);
    int status = block ? align(writing) : ERR_NOMEM;
    for (uint32_t i = 0; i < writing->header.count && status == OK; i += BLOCK) {
        memset(block, 0, words * BLOCK * sizeof *block);
        for (uint32_t j = 0; j < BLOCK && i + j < writing->header.count; j++) {
            numbers_of(writing, i + j, numbers);
            vector_code(numbers, writing->mean, dimensions, code);
            for (size_t word = 0; word < words; word++) {
                block[word * BLOCK + j] = code[word];
            }
        }
        status = put(writing, block, words * BLOCK * sizeof *block);
    }
    free(block);
    return status;
}

/* A number of each place, from where its input has it. */
static int put_numbers(struct part_writing *writing, enum part_section section)
{
    int status = align(writing);
    for (uint32_t i = 0; i < writing->header.count && status == OK; i++) {
        const struct part_entry *one = &writing->entries[i];
        const struct vector_input *input = &writing->inputs[one->input];
        uint32_t check;
        switch (section) {
        case IDS:
            status = put(writing, &one->id, sizeof one->id);
            break;
        case MARKS:
            status = put(writing, &input->marks[one->place], sizeof *input->marks);
            break;
        case SCALES:
            status = put(writing, &input->scales[one->place], sizeof *input->scales);
            break;
        case CHECKS:
            check = check_of(row_of(writing, i), writing->stride);
            status = put(writing, &check, sizeof check);
            break;
        default:
            status = put(writing, row_of(writing, i), writing->stride);
            break;
        }
    }
    return status;
}

static int put_all(struct part_writing *writing, const char *label)
{
    const struct part_header *header = &writing->header;
    int status = put(writing, header, sizeof *header);
    status = status == OK ? align(writing) : status;
    status = status == OK ? put(writing, label, header->label_length + (size_t)1) : status;
    status = status == OK ? align(writing) : status;
    if (status == OK && header->is_coded) {
        status = put(writing, writing->mean, header->dimensions * sizeof *writing->mean);
    }
    for (enum part_section section = IDS; section <= CHECKS && status == OK; section++) {
        status = put_numbers(writing, section);
    }
    status = status == OK ? align(writing) : status;
    if (status == OK && header->is_coded) {
        status = put_codes(writing);
    }
    return status == OK ? put_numbers(writing, ROWS) : status;
}

int vector_part_write(const struct vector_input *inputs, size_t count, size_t dimensions,
                      const char *label, vector_emit emit, void *context)
{
    struct part_writing writing = {
        .inputs = inputs,
        .input_count = count,
        .header = {.magic = MAGIC,
                   .dimensions = (uint32_t)dimensions,
                   .label_length = (uint32_t)strlen(label)},
        .stride = vector_stride(dimensions),
        .emit = emit,
        .context = context,
    };
    int status = strlen(label) <= LIMIT_VECTORS_LABEL ? list_entries(&writing) : ERR_LIMIT;
    if (status == OK) {
        writing.header.is_coded = writing.header.count >= LEAST_CODED;
        status = rows_are_sound(&writing) ? find_mean(&writing) : ERR_INVALID;
    }
    status = status == OK ? put_all(&writing, label) : status;
    free(writing.entries);
    free(writing.mean);
    return status;
}
