/* Punycode, the encoding half. Names follow RFC 3492, section 6. */
#include "text/punycode.h"

#include "core/status.h"

#define BASE           36u
#define THRESHOLD_LOW  1u
#define THRESHOLD_HIGH 26u
#define SKEW           38u
#define DAMP           700u
#define INITIAL_BIAS   72u
#define INITIAL_N      0x80u

struct writer {
    char *out;
    size_t size;
    size_t length;
};

static int put(struct writer *writer, char c)
{
    if (writer->length + 1 >= writer->size) {
        return ERR_LIMIT;
    }
    writer->out[writer->length++] = c;
    writer->out[writer->length] = '\0';
    return OK;
}

static char digit(uint32_t value)
{
    return (char)(value < 26 ? 'a' + (int)value : '0' + (int)(value - 26));
}

static uint32_t adapt(uint32_t delta, uint32_t handled, int first)
{
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / handled;
    uint32_t k = 0;
    while (delta > (BASE - THRESHOLD_LOW) * THRESHOLD_HIGH / 2) {
        delta /= BASE - THRESHOLD_LOW;
        k += BASE;
    }
    return k + (BASE - THRESHOLD_LOW + 1) * delta / (delta + SKEW);
}

/* Writes one number with digits of growing weight. */
static int put_number(struct writer *writer, uint32_t number, uint32_t bias)
{
    int status = OK;
    for (uint32_t k = BASE; status == OK; k += BASE) {
        uint32_t threshold = k <= bias                    ? THRESHOLD_LOW
                             : k >= bias + THRESHOLD_HIGH ? THRESHOLD_HIGH
                                                          : k - bias;
        if (number < threshold) {
            return put(writer, digit(number));
        }
        status = put(writer, digit(threshold + (number - threshold) % (BASE - threshold)));
        number = (number - threshold) / (BASE - threshold);
    }
    return status;
}

/* The characters of ASCII come first, as they are, with a hyphen after them. */
static int put_basic(struct writer *writer, const uint32_t *points, size_t count)
{
    int status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        if (points[i] < INITIAL_N) {
            status = put(writer, (char)points[i]);
        }
    }
    return status == OK && writer->length ? put(writer, '-') : status;
}

static uint32_t next_point(const uint32_t *points, size_t count, uint32_t at_least)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (points[i] >= at_least && points[i] < next) {
            next = points[i];
        }
    }
    return next;
}

int punycode_encode(const uint32_t *points, size_t count, char *out, size_t size)
{
    struct writer writer = {.out = out, .size = size};
    /* A label that fits has fewer characters than bytes; it also keeps the sums below 32 bits. */
    if (size == 0 || count >= size || size > 256) {
        return ERR_LIMIT;
    }
    out[0] = '\0';
    int status = put_basic(&writer, points, count);
    uint32_t basic = writer.length ? (uint32_t)writer.length - 1 : 0;
    uint32_t handled = basic;
    uint32_t n = INITIAL_N;
    uint32_t delta = 0;
    uint32_t bias = INITIAL_BIAS;
    while (status == OK && handled < count) {
        uint32_t point = next_point(points, count, n);
        delta += (point - n) * (handled + 1);
        n = point;
        for (size_t i = 0; i < count && status == OK; i++) {
            if (points[i] < n) {
                delta++;
            } else if (points[i] == n) {
                status = put_number(&writer, delta, bias);
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled++;
            }
        }
        delta++;
        n++;
    }
    return status;
}
