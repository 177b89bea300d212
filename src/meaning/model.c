/* The forward pass of the model: tokens, twelve layers, the mean over all tokens. */
#include "meaning/model.h"

#include "core/mapping.h"
#include "meaning/kernels.h"
#include "meaning/model_file.h"
#include "meaning/tokenizer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct embedding_model {
    struct mapping *mapping; /* NULL: the file is in memory of somebody else */
    const struct kernels *kernels;
    struct tokenizer tokenizer;
    struct model_file file;
};

/* ---- opening ---- */

int model_read(const void *data, size_t length, struct embedding_model **model, char *problem,
               size_t size)
{
    const char *why = "it lacks the marks of a text";
    struct embedding_model *made = calloc(1, sizeof *made);
    if (!made) {
        snprintf(problem, size, "out of memory");
        return ERR_NOMEM;
    }
    made->kernels = kernels_usable(0);
    if (model_file_read(data, length, &made->file, &why) != OK ||
        !tokenizer_start(&made->tokenizer, made->file.piece_bytes, made->file.piece_ends,
                         made->file.header.pieces)) {
        snprintf(problem, size, "%s", why);
        free(made);
        return ERR_INVALID;
    }
    *model = made;
    return OK;
}

static int open_descriptor(int fd, struct embedding_model **model, char *problem, size_t size)
{
    struct stat about;
    struct mapping *mapping = NULL;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0 ||
        (uint64_t)about.st_size > LIMIT_MODEL_FILE_BYTES) {
        snprintf(problem, size, "it is no model");
        return ERR_INVALID;
    }
    int status = mapping_open(fd, (size_t)about.st_size, &mapping);
    if (status != OK) {
        snprintf(problem, size, "it cannot be mapped");
        return status;
    }
    status = model_read(mapping_data(mapping), (size_t)about.st_size, model, problem, size);
    if (status == OK) {
        (*model)->mapping = mapping;
    } else {
        mapping_close(mapping);
    }
    return status;
}

int model_open(const char *path, struct embedding_model **model, char *problem, size_t size)
{
    char why[128];
    int status = ERR_IO;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        status = errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
        snprintf(why, sizeof why, "%s", strerror(errno));
    } else {
        status = open_descriptor(fd, model, why, sizeof why);
        close(fd);
    }
    if (status != OK) {
        snprintf(problem, size, "%s: %s", path, why);
    }
    return status;
}

bool model_peek(const char *path, char name[MODEL_NAME_SIZE])
{
    struct model_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_model = fd >= 0 && pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                    model_file_is_one(&header);
    if (fd >= 0) {
        close(fd);
    }
    if (is_model) {
        memcpy(name, header.name, sizeof header.name);
    }
    return is_model;
}

struct embedding_model *model_free(struct embedding_model *model)
{
    if (model) {
        mapping_close(model->mapping);
        free(model);
    }
    return NULL;
}

const char *model_name(const struct embedding_model *model)
{
    return model->file.header.name;
}

const char *model_kernels(void)
{
    return kernels_usable(0)->name;
}

/* ---- the memory of a computation ---- */

struct model_work {
    uint32_t tokens[LIMIT_MODEL_TOKENS];
    int32_t zeros[LIMIT_MODEL_TOKENS];
    float scales[LIMIT_MODEL_TOKENS];
    void *memory;
    size_t size;
    float *rows;    /* the text, a row for each token */
    float *results; /* of a layer's parts, before they are added */
    float *wide;    /* the largest of what is in between */
    float *room;
    uint8_t *bytes;
};

struct model_work *model_work_new(void)
{
    return calloc(1, sizeof(struct model_work));
}

struct model_work *model_work_free(struct model_work *work)
{
    if (work) {
        free(work->memory);
        free(work);
    }
    return NULL;
}

static int make_room(struct model_work *work, const struct model_header *header, size_t count)
{
    size_t rows = kernel_rows(count);
    size_t width = header->width;
    size_t widest = 3 * width > header->inner ? 3 * width : header->inner;
    size_t floats =
        rows * (2 * width + widest) + kernel_attention_room(count, width, header->heads);
    size_t size = floats * sizeof(float) + rows * widest;
    if (size > work->size) {
        free(work->memory);
        work->memory = calloc(1, size);
        work->size = work->memory ? size : 0;
        if (!work->memory) {
            return ERR_NOMEM;
        }
    }
    work->rows = work->memory;
    work->results = work->rows + rows * width;
    work->wide = work->results + rows * width;
    work->room = work->wide + rows * widest;
    work->bytes = (uint8_t *)(work->rows + floats);
    return OK;
}

/* ---- computing ---- */

static void multiply(const struct embedding_model *model, struct model_work *work, const float *in,
                     size_t rows, const struct kernel_matrix *matrix, float *out)
{
    struct kernel_bytes bytes = {work->bytes, work->scales, work->zeros};
    model->kernels->quantise(in, rows, matrix->depth, &bytes);
    model->kernels->multiply(matrix, &bytes, rows, out);
}

static void begin(const struct embedding_model *model, struct model_work *work, size_t count)
{
    const struct model_file *file = &model->file;
    size_t width = file->header.width;
    float scale = file->header.embedding_scale;
    for (size_t i = 0; i < count; i++) {
        const int8_t *embedding = file->embeddings + work->tokens[i] * width;
        for (size_t k = 0; k < width; k++) {
            work->rows[i * width + k] =
                (float)embedding[k] * scale + file->positions[i * width + k];
        }
    }
    model->kernels->normalise(work->rows, NULL, count, width, &file->norm);
}

static void pass(const struct embedding_model *model, struct model_work *work,
                 const struct model_layer *layer, size_t count)
{
    const struct kernels *kernels = model->kernels;
    size_t width = model->file.header.width;
    struct kernel_attention attention = {
        .in = work->wide,
        .out = work->results,
        .rows = count,
        .width = width,
        .heads = model->file.header.heads,
        .room = work->room,
    };
    multiply(model, work, work->rows, count, &layer->attention, work->wide);
    kernels->attend(&attention);
    multiply(model, work, work->results, count, &layer->output, work->wide);
    kernels->normalise(work->rows, work->wide, count, width, &layer->first);
    multiply(model, work, work->rows, count, &layer->up, work->wide);
    kernels->gelu(work->wide, count * layer->up.columns);
    multiply(model, work, work->wide, count, &layer->down, work->results);
    kernels->normalise(work->rows, work->results, count, width, &layer->last);
}

static int end(const struct embedding_model *model, const struct model_work *work, size_t count,
               float *vector)
{
    size_t width = model->file.header.width;
    double squares = 0;
    memset(vector, 0, MODEL_DIMENSIONS * sizeof *vector);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < width; k++) {
            vector[k] += work->rows[i * width + k];
        }
    }
    for (size_t k = 0; k < width; k++) {
        squares += (double)vector[k] * (double)vector[k];
    }
    if (model->mapping && mapping_damaged(model->mapping)) {
        return ERR_IO;
    }
    if (!(squares > 1e-12 && squares < 1e12)) { /* not of a model that was trained */
        return ERR_INVALID;
    }
    float factor = (float)(1 / sqrt(squares));
    for (size_t k = 0; k < width; k++) {
        vector[k] *= factor;
    }
    return OK;
}

int model_embed(const struct embedding_model *model, struct model_work *work, enum model_side side,
                const char *text, size_t length, float *vector)
{
    const struct model_header *header = &model->file.header;
    const char *prefix = side == MODEL_QUERY ? header->query : header->passage;
    size_t count =
        tokenizer_read(&model->tokenizer, prefix, text, length, work->tokens, header->positions);
    int status = make_room(work, header, count);
    if (status != OK) {
        return status;
    }
    begin(model, work, count);
    for (size_t i = 0; i < header->layers; i++) {
        pass(model, work, model->file.layers + i, count);
    }
    return end(model, work, count, vector);
}
