/* Taking the file of a model apart. */
#include "meaning/model_file.h"

#include "core/checksum.h"

#include <stdbool.h>
#include <string.h>

#define VERSION      1u
#define HEADER_BYTES 576u
#define ALIGNMENT    64u

static const char MAGIC[16] = "forage model";

_Static_assert(sizeof(struct model_header) <= HEADER_BYTES, "the header fits");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

uint64_t model_file_checksum(const void *data, size_t size)
{
    size_t start = offsetof(struct model_header, version);
    return checksum((const char *)data + start, size - start);
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

bool model_file_is_one(const struct model_header *header)
{
    return memcmp(header->magic, MAGIC, sizeof MAGIC) == 0 && header->version == VERSION &&
           is_text(header->name, sizeof header->name);
}

/* A walk over the parts of a file. */
struct file_walk {
    const char *data;
    size_t size, at;
    bool ended; /* beyond the end */
};

static const void *take(struct file_walk *walk, size_t count, size_t size)
{
    size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (walk->ended || bytes > walk->size - walk->at) {
        walk->ended = true;
        return NULL;
    }
    const void *part = walk->data + walk->at;
    walk->at += bytes;
    return part;
}

/* Some at once, as every processor can. */
static bool are_gentle(const int8_t *weights, size_t count)
{
    typedef int8_t some __attribute__((vector_size(16)));
    some beyond = {0};
    for (size_t i = 0; i < count; i += sizeof beyond) {
        some these;
        memcpy(&these, weights + i, sizeof these);
        beyond |= (these > KERNEL_GENTLE) | (these < -KERNEL_GENTLE);
    }
    const some none = {0};
    return memcmp(&beyond, &none, sizeof none) == 0;
}

static struct kernel_matrix take_matrix(struct file_walk *walk, size_t depth, size_t columns)
{
    struct kernel_matrix matrix = {.depth = depth, .columns = columns};
    matrix.weights = take(walk, depth * columns, sizeof *matrix.weights);
    matrix.scales = take(walk, columns, sizeof *matrix.scales);
    matrix.biases = take(walk, columns, sizeof *matrix.biases);
    matrix.sums = take(walk, columns, sizeof *matrix.sums);
    for (size_t i = 0; !walk->ended && i < columns; i++) {
        /* More cannot be, and would overflow where they are multiplied. */
        int64_t most = INT64_C(128) * (int64_t)depth;
        walk->ended = matrix.sums[i] < -most || matrix.sums[i] > most;
    }
    matrix.gentle = !walk->ended && are_gentle(matrix.weights, depth * columns);
    return matrix;
}

static struct kernel_norm take_norm(struct file_walk *walk, size_t width)
{
    struct kernel_norm norm = {0};
    norm.gains = take(walk, width, sizeof *norm.gains);
    norm.biases = take(walk, width, sizeof *norm.biases);
    return norm;
}

static bool is_within(uint32_t number, uint32_t most, uint32_t unit)
{
    return number > 0 && number <= most && number % unit == 0;
}

/* Whether all counts are such that no product of them overflows, and the kernels can work on them.
 */
static bool is_possible(const struct model_header *header)
{
    return is_within(header->layers, LIMIT_MODEL_LAYERS, 1) &&
           is_within(header->width, LIMIT_MODEL_WIDTH, KERNEL_PANEL) &&
           is_within(header->heads, header->width / KERNEL_PANEL, 1) &&
           header->width % header->heads == 0 &&
           header->width / header->heads % KERNEL_PANEL == 0 &&
           is_within(header->inner, LIMIT_MODEL_INNER, KERNEL_PANEL) &&
           is_within(header->pieces, LIMIT_MODEL_PIECES, 1) &&
           is_within(header->piece_bytes, LIMIT_MODEL_PIECE_BYTES, 1) &&
           is_within(header->positions, LIMIT_MODEL_TOKENS, 1) && header->positions >= 2 &&
           is_text(header->query, sizeof header->query) &&
           is_text(header->passage, sizeof header->passage) &&
           is_text(header->name, sizeof header->name) &&
           is_text(header->licence, sizeof header->licence) &&
           is_text(header->source, sizeof header->source);
}

static bool are_ends(const uint32_t *ends, size_t count, uint32_t last)
{
    uint32_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (ends[i] < before) {
            return false;
        }
        before = ends[i];
    }
    return before == last;
}

static bool take_all(struct file_walk *walk, struct model_file *file)
{
    const struct model_header *header = &file->header;
    size_t width = header->width;
    size_t inner = header->inner;
    file->piece_ends = take(walk, header->pieces, sizeof *file->piece_ends);
    file->piece_bytes = take(walk, header->piece_bytes, 1);
    file->embeddings = take(walk, header->pieces * width, 1);
    file->positions = take(walk, header->positions * width, sizeof *file->positions);
    file->norm = take_norm(walk, width);
    for (size_t i = 0; i < header->layers; i++) {
        struct model_layer *layer = file->layers + i;
        layer->attention = take_matrix(walk, width, 3 * width);
        layer->output = take_matrix(walk, width, width);
        layer->first = take_norm(walk, width);
        layer->up = take_matrix(walk, width, inner);
        layer->down = take_matrix(walk, inner, width);
        layer->last = take_norm(walk, width);
    }
    return !walk->ended && walk->at == walk->size &&
           are_ends(file->piece_ends, header->pieces, header->piece_bytes);
}

int model_file_read(const void *data, size_t size, struct model_file *file, const char **problem)
{
    const struct model_header *header = &file->header;
    struct file_walk walk = {.data = data, .size = size, .at = HEADER_BYTES};
    *file = (struct model_file){0};
    if (size >= HEADER_BYTES) {
        memcpy(&file->header, data, sizeof file->header);
    }
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0) {
        *problem = "it is no model";
    } else if (header->version != VERSION) {
        *problem = "it is of another version";
    } else if (header->length != size) {
        *problem = "it is not whole";
    } else if (header->checksum != model_file_checksum(data, size)) {
        *problem = "it is damaged";
    } else if (!is_possible(header) || !take_all(&walk, file)) {
        *problem = "its parts do not fit together";
    } else {
        return OK;
    }
    return ERR_INVALID;
}
