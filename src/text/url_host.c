/* Hosts of URLs: domain names in any script, IPv4 addresses in any spelling, IPv6 addresses. */
#include "core/status.h"
#include "text/text.h"
#include "text/url.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LABEL_SIZE 64 /* the longest label, and its NUL */
#define TOO_LARGE  ((uint64_t)UINT32_MAX + 1)

static int invalid(const char **problem, const char *words)
{
    if (problem) {
        *problem = words;
    }
    return ERR_INVALID;
}

/* ---- IPv6 ---- */

/* The first of the longest runs of two or more zero groups; its length is 0 when there is none. */
static size_t find_zero_run(const uint16_t groups[8], size_t *length)
{
    size_t best = 0;
    *length = 0;
    for (size_t i = 0; i < 8; i++) {
        size_t run = 0;
        while (i + run < 8 && groups[i + run] == 0) {
            run++;
        }
        if (run > 1 && run > *length) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

/* RFC 5952, and hexadecimal throughout: an embedded IPv4 address has one spelling too. */
static void write_ipv6(const uint8_t bytes[16], char out[URL_HOST_SIZE])
{
    uint16_t groups[8];
    for (size_t i = 0; i < 8; i++) {
        groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    }
    size_t run_length;
    size_t run = find_zero_run(groups, &run_length);
    size_t used = 0;
    for (size_t i = 0; i < 8;) {
        if (run_length && i == run) {
            used += (size_t)snprintf(out + used, URL_HOST_SIZE - used, "::");
            i += run_length;
            continue;
        }
        bool first = i == 0 || (run_length && i == run + run_length);
        used += (size_t)snprintf(out + used, URL_HOST_SIZE - used, first ? "%x" : ":%x", groups[i]);
        i++;
    }
}

static int read_ipv6(const char *text, size_t length, char out[URL_HOST_SIZE], const char **problem)
{
    char address[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    if (length < 2 || text[length - 1] != ']' || length - 2 >= sizeof address) {
        return invalid(problem, "has an IPv6 address that is not one");
    }
    memcpy(address, text + 1, length - 2);
    address[length - 2] = '\0';
    if (inet_pton(AF_INET6, address, bytes) != 1) {
        return invalid(problem, "has an IPv6 address that is not one");
    }
    write_ipv6(bytes, out);
    return OK;
}

bool url_host_is_ipv6(const char *host)
{
    return strchr(host, ':') != NULL;
}

/* ---- IPv4 ---- */

/* One part of an IPv4 address: decimal, octal after "0", hexadecimal after "0x". False for anything
 * else, also beyond 32 bits. */
static bool read_number(const char *text, size_t length, uint64_t *number)
{
    int base = 10;
    if (length >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text += 2;
        length -= 2;
    } else if (length >= 2 && text[0] == '0') {
        base = 8;
        text++;
        length--;
    } else if (length == 0) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        int value = url_hex_value(text[i]);
        if (value < 0 || value >= base) {
            return false;
        }
        *number = *number * (uint64_t)base + (uint64_t)value;
        if (*number > TOO_LARGE) {
            *number = TOO_LARGE;
        }
    }
    return true;
}

/* A name whose last label is a number is meant as an IPv4 address and must be one. */
static bool ends_in_number(const char *name)
{
    const char *last = strrchr(name, '.');
    last = last ? last + 1 : name;
    uint64_t ignored;
    return (*last && strspn(last, "0123456789") == strlen(last)) ||
           read_number(last, strlen(last), &ignored);
}

/* The last part fills all the bytes that the others leave: 127.1 is 127.0.0.1. */
static int read_ipv4(char name[URL_HOST_SIZE], const char **problem)
{
    uint64_t address = 0;
    int parts = 0;
    const char *part = name;
    while (part) {
        size_t length = strcspn(part, ".");
        bool last = part[length] == '\0';
        uint64_t number;
        if (parts == 4 || !read_number(part, length, &number)) {
            return invalid(problem, "has an IPv4 address that is not one");
        }
        uint64_t ceiling = last ? (uint64_t)1 << (8 * (4 - parts)) : 256;
        if (number >= ceiling) {
            return invalid(problem, "has an IPv4 address that is not one");
        }
        address |= last ? number : number << (8 * (3 - parts));
        part = last ? NULL : part + length + 1;
        parts++;
    }
    snprintf(name, URL_HOST_SIZE, "%u.%u.%u.%u", (unsigned)(address >> 24 & 255),
             (unsigned)(address >> 16 & 255), (unsigned)(address >> 8 & 255),
             (unsigned)(address & 255));
    return OK;
}

/* ---- names ---- */

enum character_change {
    CHANGE_ADD,       /* add `by` */
    CHANGE_ADD_EVEN,  /* capital letters are the even ones; add 1 to those */
    CHANGE_ADD_ODD,   /* capital letters are the odd ones */
    CHANGE_DROP,      /* invisible */
    CHANGE_TO,        /* become `by` */
    CHANGE_FORBIDDEN, /* no part of a name */
};

/* How characters beyond ASCII are folded before a name is written in ASCII: the capitals of the
 * scripts that have them, full-width forms, other dots. What is not listed stays as it is, which is
 * right for the names that pages carry; malformed UTF-8 arrives as U+FFFD. The addresses behind a
 * name are checked after the look-up in any case. */
static const struct {
    uint32_t first;
    uint32_t last;
    enum character_change change;
    int32_t by;
} FOLDING[] = {
    {0x0080, 0x00a0, CHANGE_FORBIDDEN, 0},    {0x00ad, 0x00ad, CHANGE_DROP, 0},
    {0x00c0, 0x00d6, CHANGE_ADD, 32},         {0x00d8, 0x00de, CHANGE_ADD, 32},
    {0x0100, 0x0137, CHANGE_ADD_EVEN, 1},     {0x0139, 0x0148, CHANGE_ADD_ODD, 1},
    {0x014a, 0x0177, CHANGE_ADD_EVEN, 1},     {0x0178, 0x0178, CHANGE_TO, 0x00ff},
    {0x0179, 0x017e, CHANGE_ADD_ODD, 1},      {0x0386, 0x0386, CHANGE_TO, 0x03ac},
    {0x0388, 0x038a, CHANGE_ADD, 37},         {0x038c, 0x038c, CHANGE_TO, 0x03cc},
    {0x038e, 0x038f, CHANGE_ADD, 63},         {0x0391, 0x03ab, CHANGE_ADD, 32},
    {0x0400, 0x040f, CHANGE_ADD, 80},         {0x0410, 0x042f, CHANGE_ADD, 32},
    {0x0460, 0x0481, CHANGE_ADD_EVEN, 1},     {0x048a, 0x04bf, CHANGE_ADD_EVEN, 1},
    {0x04c1, 0x04ce, CHANGE_ADD_ODD, 1},      {0x04d0, 0x052f, CHANGE_ADD_EVEN, 1},
    {0x0531, 0x0556, CHANGE_ADD, 48},         {0x1e00, 0x1e95, CHANGE_ADD_EVEN, 1},
    {0x1ea0, 0x1eff, CHANGE_ADD_EVEN, 1},     {0x2000, 0x200a, CHANGE_FORBIDDEN, 0},
    {0x200b, 0x200b, CHANGE_DROP, 0},         {0x200e, 0x200f, CHANGE_FORBIDDEN, 0},
    {0x2028, 0x202f, CHANGE_FORBIDDEN, 0},    {0x205f, 0x205f, CHANGE_FORBIDDEN, 0},
    {0x2060, 0x2060, CHANGE_DROP, 0},         {0x2061, 0x206f, CHANGE_FORBIDDEN, 0},
    {0x3000, 0x3000, CHANGE_FORBIDDEN, 0},    {0x3002, 0x3002, CHANGE_TO, '.'},
    {0xd800, 0xf8ff, CHANGE_FORBIDDEN, 0},    {0xfe00, 0xfe0f, CHANGE_DROP, 0},
    {0xfeff, 0xfeff, CHANGE_DROP, 0},         {0xff01, 0xff5e, CHANGE_ADD, -0xfee0},
    {0xff61, 0xff61, CHANGE_TO, '.'},         {0xfff0, 0xffff, CHANGE_FORBIDDEN, 0},
    {0xe0000, 0x10ffff, CHANGE_FORBIDDEN, 0},
};

#define DROPPED   UINT32_MAX
#define FORBIDDEN (UINT32_MAX - 1)

static uint32_t fold_wide(uint32_t point)
{
    for (size_t i = 0; i < sizeof FOLDING / sizeof *FOLDING; i++) {
        if (point < FOLDING[i].first || point > FOLDING[i].last) {
            continue;
        }
        switch (FOLDING[i].change) {
        case CHANGE_ADD:
            return (uint32_t)((int32_t)point + FOLDING[i].by);
        case CHANGE_ADD_EVEN:
            return point + (point % 2 == 0);
        case CHANGE_ADD_ODD:
            return point + (point % 2 == 1);
        case CHANGE_DROP:
            return DROPPED;
        case CHANGE_TO:
            return (uint32_t)FOLDING[i].by;
        case CHANGE_FORBIDDEN:
            return FORBIDDEN;
        }
    }
    return point;
}

static uint32_t fold(uint32_t point)
{
    if (point >= 0x80) {
        point = fold_wide(point);
    }
    if (point >= 'A' && point <= 'Z') {
        return point + ('a' - 'A');
    }
    bool forbidden =
        point <= ' ' || point == 0x7f || (point < 0x80 && strchr("#%/:<>?@[\\]^|", (int)point));
    return forbidden ? FORBIDDEN : point;
}

/* Folds the bytes of a name into code points. False when one of them cannot stand in a name. */
static bool fold_name(const char *bytes, size_t length, uint32_t points[URL_HOST_SIZE],
                      size_t *count)
{
    const char *end = bytes + length;
    *count = 0;
    while (bytes < end) {
        uint32_t folded = fold(text_next(&bytes, end));
        if (folded == FORBIDDEN || *count == URL_HOST_SIZE) {
            return false;
        }
        if (folded != DROPPED) {
            points[(*count)++] = folded;
        }
    }
    return true;
}

/* ---- Punycode, the encoding half; names follow RFC 3492, section 6 ---- */

#define BASE           36u
#define THRESHOLD_LOW  1u
#define THRESHOLD_HIGH 26u
#define SKEW           38u
#define DAMP           700u
#define INITIAL_BIAS   72u
#define INITIAL_N      0x80u

struct label_writer {
    char *out;
    size_t size;
    size_t length;
};

static int put(struct label_writer *writer, char c)
{
    if (writer->length + 1 >= writer->size) {
        return ERR_LIMIT;
    }
    writer->out[writer->length++] = c;
    writer->out[writer->length] = '\0';
    return OK;
}

static char punycode_digit(uint32_t value)
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
static int put_number(struct label_writer *writer, uint32_t number, uint32_t bias)
{
    int status = OK;
    for (uint32_t k = BASE; status == OK; k += BASE) {
        uint32_t threshold = k <= bias                    ? THRESHOLD_LOW
                             : k >= bias + THRESHOLD_HIGH ? THRESHOLD_HIGH
                                                          : k - bias;
        if (number < threshold) {
            return put(writer, punycode_digit(number));
        }
        status = put(writer, punycode_digit(threshold + (number - threshold) % (BASE - threshold)));
        number = (number - threshold) / (BASE - threshold);
    }
    return status;
}

/* The characters of ASCII come first, as they are, with a hyphen after them. */
static int put_basic(struct label_writer *writer, const uint32_t *points, size_t count)
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

/* Writes a label beyond ASCII in ASCII, NUL-terminated, without its "xn--". OK, or ERR_LIMIT when
 * it does not fit `size` bytes. */
static int punycode_encode(const uint32_t *points, size_t count, char *out, size_t size)
{
    struct label_writer writer = {.out = out, .size = size};
    /* A label that fits has fewer characters than bytes; it also keeps the sums below 32 bits. */
    if (count >= size) {
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

/* ---- names ---- */

static int write_label(const uint32_t *points, size_t count, char out[LABEL_SIZE])
{
    bool ascii = true;
    for (size_t i = 0; i < count; i++) {
        ascii = ascii && points[i] < 0x80;
    }
    if (!ascii) {
        memcpy(out, "xn--", 4);
        return punycode_encode(points, count, out + 4, LABEL_SIZE - 4);
    }
    if (count == 0 || count >= LABEL_SIZE) {
        return ERR_LIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = (char)points[i];
    }
    out[count] = '\0';
    return OK;
}

static int write_name(const uint32_t *points, size_t count, char out[URL_HOST_SIZE])
{
    size_t used = 0;
    if (count && points[count - 1] == '.') {
        count--; /* the root's dot says nothing new */
    }
    for (size_t start = 0; start <= count;) {
        size_t end = start;
        while (end < count && points[end] != '.') {
            end++;
        }
        char label[LABEL_SIZE];
        if (write_label(points + start, end - start, label) != OK) {
            return ERR_INVALID;
        }
        int length = snprintf(out + used, URL_HOST_SIZE - used, start ? ".%s" : "%s", label);
        if (length < 0 || (size_t)length >= URL_HOST_SIZE - used) {
            return ERR_INVALID;
        }
        used += (size_t)length;
        start = end + 1;
    }
    return OK;
}

int url_host(const char *text, size_t length, char out[URL_HOST_SIZE], const char **problem)
{
    char bytes[4 * URL_HOST_SIZE];
    uint32_t points[URL_HOST_SIZE];
    size_t count;
    if (length == 0) {
        return invalid(problem, "has no host");
    }
    if (text[0] == '[') {
        return read_ipv6(text, length, out, problem);
    }
    /* Hosts are compared by what they mean, so escapes are undone first. What then is longer than
     * `bytes` is too long for a name in any encoding. */
    size_t byte_count = url_unescape(text, length, bytes, sizeof bytes);
    if (byte_count > sizeof bytes || !fold_name(bytes, byte_count, points, &count) ||
        write_name(points, count, out) != OK) {
        return invalid(problem, "has a host that is not a valid name");
    }
    return ends_in_number(out) ? read_ipv4(out, problem) : OK;
}
