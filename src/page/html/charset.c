/* Bytes of a page as UTF-8. */
#include "page/html/charset.h"

#include "core/status.h"
#include "tables.h"
#include "text/text.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PRESCAN_BYTES 1024
#define MOST_WRONG    4000 /* bytes that mean nothing, before an encoding is not believed */

/* ---- labels ---- */

/* The value after "charset=" in `text`, quoted or not. */
static const char *charset_parameter(const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *at = text; at + 8 < end; at++) {
        if (strncasecmp(at, "charset", 7) != 0) {
            continue;
        }
        const char *value = at + 7;
        while (value < end && isspace((unsigned char)*value)) {
            value++;
        }
        if (value == end || *value != '=') {
            continue;
        }
        value++;
        while (value < end && (isspace((unsigned char)*value) || *value == '"' || *value == '\'')) {
            value++;
        }
        size_t count = 0;
        while (value + count < end && !strchr(" \t\r\n\f\"';/>", value[count])) {
            count++;
        }
        const char *name = words_text(&charset_labels, value, count);
        if (name) {
            return name;
        }
    }
    return NULL;
}

/* The encoding that the page's own first bytes name, or NULL. */
static const char *prescan(const char *bytes, size_t length)
{
    const char *end = bytes + (length < PRESCAN_BYTES ? length : PRESCAN_BYTES);
    for (const char *at = bytes; at + 6 < end; at++) {
        if (*at != '<') {
            continue;
        }
        if (strncmp(at, "<!--", 4) == 0) {
            const char *close = memmem(at, (size_t)(end - at), "-->", 3);
            if (!close) {
                return NULL;
            }
            at = close + 2;
        } else if (strncasecmp(at + 1, "meta", 4) == 0 && !isalnum((unsigned char)at[5])) {
            const char *close = memchr(at, '>', (size_t)(end - at));
            const char *name = charset_parameter(at, (size_t)((close ? close : end) - at));
            if (name) {
                /* A page that can be read as ASCII up to here is not UTF-16. */
                return strncmp(name, "utf-16", 6) == 0 ? "utf-8" : name;
            }
        }
    }
    return NULL;
}

/* ---- UTF-8 ---- */

/* Passes over ASCII eight bytes at a time, which is most of any page. */
static const char *skip_ascii(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        if (word & UINT64_C(0x8080808080808080)) {
            break;
        }
        at += 8;
    }
    while (at < end && !(*at & 0x80)) {
        at++;
    }
    return at;
}

/* The first byte that is not UTF-8, or `end`. */
static const char *first_invalid(const char *at, const char *end)
{
    while ((at = skip_ascii(at, end)) < end) {
        const char *from = at;
        uint32_t point = text_next(&at, end);
        if (point == TEXT_REPLACEMENT && at - from != 3) {
            return from;
        }
    }
    return end;
}

/* A copy with U+FFFD for what is not UTF-8. */
static int repair(struct arena *arena, const char *bytes, size_t length, struct charset_text *text)
{
    const char *at = bytes;
    const char *end = bytes + length;
    size_t wrong = 0;
    while ((at = first_invalid(at, end)) < end) {
        wrong++;
        at++;
    }
    char *copy = arena_alloc(arena, length + 2 * wrong + 1);
    if (!copy) {
        return ERR_NOMEM;
    }
    char *to = copy;
    for (at = bytes; at < end;) {
        const char *invalid = first_invalid(at, end);
        memcpy(to, at, (size_t)(invalid - at));
        to += invalid - at;
        at = invalid;
        if (at < end) {
            memcpy(to, "\xEF\xBF\xBD", 3);
            to += 3;
            at++;
        }
    }
    text->bytes = copy;
    text->length = (size_t)(to - copy);
    return OK;
}

/* ---- conversion ---- */

/* The encoding of most pages that say nothing, without iconv: it knows all 256 bytes. */
static int convert_western(struct arena *arena, const char *bytes, size_t length,
                           struct charset_text *text)
{
    static const uint16_t UPPER[32] = {
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
    };
    size_t high = 0;
    for (size_t i = 0; i < length; i++) {
        high += (bytes[i] & 0x80) != 0;
    }
    char *out = arena_alloc(arena, length + 2 * high + 1);
    if (!out) {
        return ERR_NOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        unsigned point = c >= 0x80 && c < 0xA0 ? UPPER[c - 0x80] : c;
        if (point < 0x80) {
            out[used++] = (char)point;
        } else if (point < 0x800) {
            out[used++] = (char)(0xC0 | point >> 6);
            out[used++] = (char)(0x80 | (point & 0x3F));
        } else {
            out[used++] = (char)(0xE0 | point >> 12);
            out[used++] = (char)(0x80 | (point >> 6 & 0x3F));
            out[used++] = (char)(0x80 | (point & 0x3F));
        }
    }
    text->bytes = out;
    text->length = used;
    return OK;
}

/* Converts with iconv; a byte that means nothing becomes U+FFFD. Each such byte costs iconv a new
 * start, so what is full of them is not in that encoding and is repaired as UTF-8. */
static int convert(struct arena *arena, const char *bytes, size_t length, iconv_t converter,
                   struct charset_text *text)
{
    size_t room = length + length / 2 + 64;
    size_t used = 0;
    size_t wrong = 0;
    char *out = arena_alloc(arena, room);
    char *from;
    memcpy(&from, &bytes, sizeof from); /* iconv takes a pointer to what it does not change */
    while (out && length > 0) {
        char *to = out + used;
        size_t left = room - used;
        size_t result = iconv(converter, &from, &length, &to, &left);
        used = (size_t)(to - out);
        if (result != (size_t)-1) {
            break;
        }
        if (left < 8) {
            out = arena_realloc(arena, out, room, room * 2);
            room *= 2;
            continue;
        }
        if (errno == E2BIG) {
            continue;
        }
        if (++wrong > MOST_WRONG) {
            return ERR_INVALID;
        }
        memcpy(out + used, "\xEF\xBF\xBD", 3);
        used += 3;
        from++;
        length--;
    }
    text->bytes = out;
    text->length = used;
    return out ? OK : ERR_NOMEM;
}

/* What the bytes are, by everything that tells. */
static const char *detect(const char **bytes, size_t *length, const char *content_type)
{
    static const struct {
        const char *mark;
        size_t length;
        const char *name;
    } MARKS[] = {
        {"\xEF\xBB\xBF", 3, "utf-8"}, {"\xFE\xFF", 2, "utf-16be"}, {"\xFF\xFE", 2, "utf-16le"}};
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        if (*length >= MARKS[i].length && memcmp(*bytes, MARKS[i].mark, MARKS[i].length) == 0) {
            *bytes += MARKS[i].length;
            *length -= MARKS[i].length;
            return MARKS[i].name;
        }
    }
    const char *name = content_type ? charset_parameter(content_type, strlen(content_type)) : NULL;
    return name ? name : prescan(*bytes, *length);
}

int charset_decode(struct arena *arena, const char *bytes, size_t length, const char *content_type,
                   struct charset_text *text)
{
    const char *name = detect(&bytes, &length, content_type);
    bool unicode = !name || strcmp(name, "utf-8") == 0;
    /* Pages that are UTF-8 and say otherwise are common; the opposite hardly occurs by chance. */
    bool single_byte = name && strncmp(name, "utf-16", 6) != 0 && strncmp(name, "iso-2022", 8) != 0;
    const char *end = bytes + length;
    if (unicode || single_byte) {
        if (first_invalid(bytes, end) == end) {
            *text = (struct charset_text){bytes, length, unicode ? "utf-8" : name};
            return OK;
        }
        if (name && unicode) {
            text->encoding = "utf-8";
            return repair(arena, bytes, length, text);
        }
    }
    text->encoding = name ? name : "windows-1252";
    if (strcmp(text->encoding, "windows-1252") == 0) {
        return convert_western(arena, bytes, length, text);
    }
    const char *known = words_text(&charset_converters, text->encoding, strlen(text->encoding));
    iconv_t converter = iconv_open("UTF-8", known ? known : text->encoding);
    if (converter == (iconv_t)-1) {
        return repair(arena, bytes, length, text);
    }
    int status = convert(arena, bytes, length, converter, text);
    iconv_close(converter);
    return status == ERR_INVALID ? repair(arena, bytes, length, text) : status;
}
