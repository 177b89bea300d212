/* The arithmetic of a transformer, once for each kind of processor. All give the same results, to
 * the last bit: products of bytes are summed without loss, floats in the same order everywhere, and
 * a product that is added is not rounded before.
 *
 * Rows of numbers lie one behind the other. A count of rows is rounded up to a multiple of
 * KERNEL_ROWS, so what is read and written has room for that many; what is in the rest does not
 * matter. Widths are multiples of KERNEL_PANEL. */
#ifndef FORAGE_MEANING_KERNELS_H
#define FORAGE_MEANING_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_PANEL  16u /* columns of a matrix that lie together */
#define KERNEL_GROUP  4u  /* and rows of it */
#define KERNEL_ROWS   16u
#define KERNEL_FEW    4u /* rows that are multiplied at once at least */
#define KERNEL_LOOKS  8u /* rows that look at the others at once */
#define KERNEL_GENTLE 64

/* Weights: panels of 16 columns; in a panel, four rows at a time; of them, the four numbers of a
 * column together. */
struct kernel_matrix {
    const int8_t *weights;
    const float *scales; /* of a column's weights */
    const float *biases;
    const int32_t *sums; /* of a column's weights as they are */
    size_t depth, columns;
    bool gentle; /* no weight is beyond KERNEL_GENTLE: two products of bytes fit into 16 bits */
};

/* Rows as bytes: a number is (byte - zero) * scale of its row. */
struct kernel_bytes {
    uint8_t *bytes;
    float *scales;
    int32_t *zeros;
};

struct kernel_norm {
    const float *gains, *biases;
};

/* How the rows of a text look at each other. A row of `in` has the question, the key and the value
 * of each head: all questions, all keys, all values. */
struct kernel_attention {
    const float *in;
    float *out;
    size_t rows, width, heads;
    float *room; /* kernel_attention_room() floats */
};

struct kernels {
    const char *name;
    /* out = in * matrix + biases */
    void (*multiply)(const struct kernel_matrix *matrix, const struct kernel_bytes *in, size_t rows,
                     float *out);
    void (*quantise)(const float *in, size_t rows, size_t width, struct kernel_bytes *out);
    /* Adds `more` to each row (NULL: nothing), and makes its mean 0 and its spread 1. */
    void (*normalise)(float *rows_of, const float *more, size_t rows, size_t width,
                      const struct kernel_norm *norm);
    void (*gelu)(float *numbers, size_t count);
    void (*attend)(const struct kernel_attention *attention);
};

/* The kernels that this processor can run, the quickest first; NULL behind the last. */
const struct kernels *kernels_usable(size_t index);

static inline size_t kernel_rows(size_t rows)
{
    return (rows + KERNEL_ROWS - 1) / KERNEL_ROWS * KERNEL_ROWS;
}

/* Keys and values of one head, and what a few rows give each other. */
static inline size_t kernel_attention_room(size_t rows, size_t width, size_t heads)
{
    size_t padded = (rows + KERNEL_PANEL - 1) / KERNEL_PANEL * KERNEL_PANEL;
    return padded * (2 * (width / heads) + KERNEL_LOOKS);
}

#if defined(__x86_64__)
extern const struct kernels KERNELS_AVX512;
extern const struct kernels KERNELS_AVX2;
#elif defined(__aarch64__)
extern const struct kernels KERNELS_NEON;
#endif
extern const struct kernels KERNELS_PORTABLE;

#endif
