/* What kernels of all kinds have in common, written with vectors of LANES floats. A file that
 * includes it defines before:
 *
 *   TARGET   the attribute of functions that may use the processor's extensions
 *   LANES    4, 8 or 16
 *
 * and after it multiply_add(), a * b + sum, rounded once; and tile(), which multiplies and adds
 * bytes:
 *
 *   sums[r][c] = sum over d of rows[r * depth + d] * panel's number (d, c)
 *
 * for 16 columns and as many of the rows as it takes at once; it returns how many. */
#ifndef FORAGE_MEANING_KERNELS_BODY_H
#define FORAGE_MEANING_KERNELS_BODY_H

#include "core/limits.h"
#include "meaning/kernels.h"

#include <math.h>
#include <string.h>

#define TILE_ROWS 16u /* the most that tile() takes at once */

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t ivec __attribute__((vector_size(LANES * 4)));
typedef uint16_t hvec __attribute__((vector_size(LANES * 2)));
typedef uint8_t bvec __attribute__((vector_size(LANES)));

#ifdef WIDE_PANELS
typedef int16_t svec __attribute__((vector_size(LANES * 4)));
typedef svec weights_of;
static TARGET const svec *widen_panel(const int8_t *weights, size_t depth, svec *room);
#define ROOM_OF_PANEL (KERNEL_PANEL * LIMIT_MODEL_INNER * sizeof(int16_t) / sizeof(svec))
#else
typedef int8_t weights_of;
#endif

static TARGET size_t tile(const uint8_t *rows, size_t count, const weights_of *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL]);

static inline TARGET vec multiply_add(vec a, vec b, vec sum);

static inline TARGET vec load(const float *from)
{
    vec value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline TARGET void store(float *to, vec value)
{
    memcpy(to, &value, sizeof value);
}

static inline TARGET vec all(float number)
{
    return number - (vec){0};
}

static inline TARGET vec choose(ivec where, vec yes, vec no)
{
    return (vec)((where & (ivec)yes) | (~where & (ivec)no));
}

/* Of two that are equal or not numbers, `b`. */
static inline TARGET vec most(vec a, vec b)
{
    return choose(a > b, a, b);
}

static inline TARGET vec least(vec a, vec b)
{
    return choose(a < b, a, b);
}

/* Sums of 16 numbers each, whatever the size of a vector: every kind adds in the same order, and so
 * rounds alike. */
#define PARTS (KERNEL_PANEL / LANES)

static inline TARGET float sum_of(const vec parts[PARTS])
{
    float numbers[KERNEL_PANEL];
    float sum = 0;
    for (size_t i = 0; i < PARTS; i++) {
        store(numbers + i * LANES, parts[i]);
    }
    for (size_t i = 0; i < KERNEL_PANEL; i++) {
        sum += numbers[i];
    }
    return sum;
}

/* To the nearest whole number: in floats of this size there is nothing behind the point. */
#define ROUNDING 12582912.0f

static inline TARGET vec rounded(vec value)
{
    return (value + ROUNDING) - ROUNDING;
}

/* e to the power of a number that is not above 0: a polynomial for what is left of a power of 2. */
static inline TARGET vec power(vec value)
{
    value = most(value, all(-87.0f));
    vec twos = rounded(value * 1.44269504f);
    vec rest = (value - twos * 0.693359375f) + twos * 2.12194440e-4f;
    vec sum = all(1.9875691500e-4f);
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    ivec exponent = (__builtin_convertvector(twos, ivec) + 127) << 23;
    return sum * (vec)exponent;
}

/* ---- rows as bytes ---- */

static TARGET void quantise_row(const float *in, size_t width, uint8_t *out, float *scale,
                                int32_t *zero)
{
    vec low = all(0);
    vec high = all(0);
    for (size_t i = 0; i < width; i += LANES) {
        low = least(load(in + i), low);
        high = most(load(in + i), high);
    }
    float lowest = 0;
    float highest = 0;
    for (int i = 0; i < LANES; i++) {
        lowest = low[i] < lowest ? low[i] : lowest;
        highest = high[i] > highest ? high[i] : highest;
    }
    float range = highest - lowest;
    float step = range > 1e-30f && range < 1e30f ? range / 255 : 1;
    float origin = rintf(-lowest / step);
    *scale = step;
    *zero = (int32_t)(origin > 0 ? (origin < 255 ? origin : 255) : 0);
    float factor = 1 / step;
    for (size_t i = 0; i < width; i += LANES) {
        vec level = rounded(load(in + i) * factor) + (float)*zero;
        level = least(most(level, all(0)), all(255)); /* what is no number becomes 0 */
        /* By way of 16 bits: compilers would take lane by lane otherwise. */
        hvec halves = __builtin_convertvector(__builtin_convertvector(level, ivec), hvec);
        bvec bytes = __builtin_convertvector(halves, bvec);
        memcpy(out + i, &bytes, sizeof bytes);
    }
}

static TARGET void quantise(const float *in, size_t rows, size_t width, struct kernel_bytes *out)
{
    for (size_t i = 0; i < rows; i++) {
        quantise_row(in + i * width, width, out->bytes + i * width, out->scales + i,
                     out->zeros + i);
    }
}

static TARGET void multiply(const struct kernel_matrix *matrix, const struct kernel_bytes *in,
                            size_t rows, float *out)
{
    size_t depth = matrix->depth;
    size_t padded = (rows + KERNEL_FEW - 1) / KERNEL_FEW * KERNEL_FEW;
#ifdef WIDE_PANELS
    svec room[ROOM_OF_PANEL];
#endif
    for (size_t column = 0; column < matrix->columns; column += KERNEL_PANEL) {
#ifdef WIDE_PANELS
        const svec *panel = widen_panel(matrix->weights + column * depth, depth, room);
#else
        const int8_t *panel = matrix->weights + column * depth;
#endif
        for (size_t row = 0; row < padded;) {
            int32_t sums[TILE_ROWS][KERNEL_PANEL];
            size_t done = tile(in->bytes + row * depth, padded - row, panel, depth, sums);
            for (size_t i = 0; i < done; i++, row++) {
                for (size_t c = 0; c < KERNEL_PANEL; c += LANES) {
                    ivec sum;
                    ivec shift;
                    memcpy(&sum, sums[i] + c, sizeof sum);
                    memcpy(&shift, matrix->sums + column + c, sizeof shift);
                    vec value = __builtin_convertvector(sum - shift * in->zeros[row], vec);
                    value = value * (load(matrix->scales + column + c) * in->scales[row]);
                    store(out + row * matrix->columns + column + c,
                          value + load(matrix->biases + column + c));
                }
            }
        }
    }
}

/* ---- floats ---- */

static TARGET void normalise(float *rows_of, const float *more, size_t rows, size_t width,
                             const struct kernel_norm *norm)
{
    for (size_t i = 0; i < rows; i++) {
        float *row = rows_of + i * width;
        vec sums[PARTS] = {0};
        for (size_t k = 0; k < width; k += LANES) {
            vec value = more ? load(row + k) + load(more + i * width + k) : load(row + k);
            store(row + k, value);
            sums[k / LANES % PARTS] += value;
        }
        vec mean = all(sum_of(sums) / (float)width);
        vec squares[PARTS] = {0};
        for (size_t k = 0; k < width; k += LANES) {
            vec apart = load(row + k) - mean;
            squares[k / LANES % PARTS] += apart * apart;
        }
        float spread = sum_of(squares) / (float)width;
        float factor = 1 / sqrtf(spread + 1e-12f);
        for (size_t k = 0; k < width; k += LANES) {
            vec value = (load(row + k) - mean) * factor;
            store(row + k, value * load(norm->gains + k) + load(norm->biases + k));
        }
    }
}

/* x times the share of the normal distribution below x, by Abramowitz and Stegun's 7.1.26. */
static TARGET void gelu(float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i += LANES) {
        vec value = load(numbers + i);
        vec part = value * 0.70710678f;
        vec size = most(part, -part);
        vec t = 1.0f / (size * 0.3275911f + 1.0f);
        vec sum = t * 1.061405429f - 1.453152027f;
        sum = sum * t + 1.421413741f;
        sum = sum * t - 0.284496736f;
        sum = sum * t + 0.254829592f;
        vec tail = sum * t * power(-(size * size)) * 0.5f; /* the share beyond |x| */
        store(numbers + i, value * choose(value > all(0), 1.0f - tail, tail));
    }
}

/* Eight rows times a matrix of `depth` rows and `width` columns, which lies in panels of 16
 * columns: the columns of one as wide as a long text would share two places of the processor's
 * cache. */
static inline TARGET void multiply_few(const float *rows, size_t stride, size_t depth,
                                       const float *panels, size_t width, float *out,
                                       size_t out_stride)
{
    for (size_t j = 0; j < width; j += LANES) {
        const float *panel = panels + j / KERNEL_PANEL * KERNEL_PANEL * depth + j % KERNEL_PANEL;
        vec sums[KERNEL_LOOKS] = {0};
        for (size_t d = 0; d < depth; d++) {
            vec numbers = load(panel + d * KERNEL_PANEL);
#pragma GCC unroll 8
            for (size_t r = 0; r < KERNEL_LOOKS; r++) {
                sums[r] = multiply_add(numbers, all(rows[r * stride + d]), sums[r]);
            }
        }
#pragma GCC unroll 8
        for (size_t r = 0; r < KERNEL_LOOKS; r++) {
            store(out + r * out_stride + j, sums[r]);
        }
    }
}

/* Makes shares of scores: positive, and 1 together. */
static inline TARGET void share(float *scores, size_t count, size_t padded, float factor)
{
    for (size_t j = count; j < padded; j++) {
        scores[j] = -INFINITY;
    }
    vec high = load(scores);
    for (size_t j = LANES; j < padded; j += LANES) {
        high = most(load(scores + j), high);
    }
    float highest = high[0];
    for (int i = 1; i < LANES; i++) {
        highest = high[i] > highest ? high[i] : highest;
    }
    vec sums[PARTS] = {0};
    for (size_t j = 0; j < padded; j += LANES) {
        vec score = load(scores + j);
        vec value = power((score - highest) * factor);
        value = choose(score == all(-INFINITY), all(0), value);
        store(scores + j, value);
        sums[j / LANES % PARTS] += value;
    }
    float whole = 1 / sum_of(sums);
    for (size_t j = 0; j < padded; j += LANES) {
        store(scores + j, load(scores + j) * whole);
    }
}

/* Keys lie with a column for each row of the text, values with one for each of their numbers. */
static inline TARGET void lay_out(const struct kernel_attention *attention, size_t head,
                                  float *keys, float *values)
{
    size_t width = attention->width;
    size_t size = width / attention->heads;
    for (size_t j = 0; j < attention->rows; j++) {
        const float *row = attention->in + j * 3 * width + head * size;
        float *key = keys + j / KERNEL_PANEL * KERNEL_PANEL * size + j % KERNEL_PANEL;
        for (size_t d = 0; d < size; d++) {
            key[d * KERNEL_PANEL] = row[width + d];
        }
        for (size_t d = 0; d < size; d += KERNEL_PANEL) {
            memcpy(values + d * attention->rows + j * KERNEL_PANEL, row + 2 * width + d,
                   KERNEL_PANEL * sizeof *values);
        }
    }
}

static TARGET void attend(const struct kernel_attention *attention)
{
    size_t width = attention->width;
    size_t stride = 3 * width;
    size_t size = width / attention->heads;
    size_t count = attention->rows;
    size_t padded = (count + KERNEL_PANEL - 1) / KERNEL_PANEL * KERNEL_PANEL;
    float factor = 1 / sqrtf((float)size);
    float *keys = attention->room;
    float *values = keys + padded * size;
    float *shares = values + padded * size;
    memset(keys, 0, padded * size * sizeof *keys);
    for (size_t head = 0; head < attention->heads; head++) {
        lay_out(attention, head, keys, values);
        for (size_t i = 0; i < count; i += KERNEL_LOOKS) {
            multiply_few(attention->in + i * stride + head * size, stride, size, keys, padded,
                         shares, padded);
            for (size_t r = 0; r < KERNEL_LOOKS; r++) {
                share(shares + r * padded, count, padded, factor);
            }
            multiply_few(shares, padded, count, values, size,
                         attention->out + i * width + head * size, width);
        }
    }
}

#define KERNELS_OF(label)                                                                          \
    {                                                                                              \
        .name = (label), .multiply = multiply, .quantise = quantise, .normalise = normalise,       \
        .gelu = gelu, .attend = attend,                                                            \
    }

#endif
