/* Bytes of a page as UTF-8. */
#include "html/charset.h"

#include "core/status.h"
#include "html/detect.h"
#include "html/encodings.h"
#include "tables.h"
#include "text/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PRESCAN_BYTES  1024
#define LATE_BYTES     65536 /* browsers start again at a declaration that comes later */
#define LANGUAGE_BYTES 4096

/* ---- labels ---- */

/* The encoding after "charset=", or another key, in `text`, quoted or not. */
static const char *parameter(const char *key, const char *text, size_t length)
{
    const char *end = text + length;
    size_t key_length = strlen(key);
    for (const char *at = text; at + key_length + 1 < end; at++) {
        if (strncasecmp(at, key, key_length) != 0) {
            continue;
        }
        const char *value = at + key_length;
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
static const char *prescan(const char *bytes, size_t length, size_t most)
{
    const char *end = bytes + (length < most ? length : most);
    if (end - bytes > 5 && memcmp(bytes, "<?xml", 5) == 0) {
        const char *close = memchr(bytes, '>', (size_t)(end - bytes));
        const char *name = close ? parameter("encoding", bytes, (size_t)(close - bytes)) : NULL;
        if (name) {
            return strncmp(name, "utf-16", 6) == 0 ? "utf-8" : name;
        }
    }
    for (const char *at = bytes; at + 6 < end; at++) {
        at = memchr(at, '<', (size_t)(end - at));
        if (!at || at + 6 >= end) {
            break;
        }
        if (strncmp(at, "<!--", 4) == 0) {
            const char *close = memmem(at, (size_t)(end - at), "-->", 3);
            if (!close) {
                return NULL;
            }
            at = close + 2;
        } else if (strncasecmp(at + 1, "meta", 4) == 0 && !isalnum((unsigned char)at[5])) {
            const char *close = memchr(at, '>', (size_t)(end - at));
            const char *name = parameter("charset", at, (size_t)((close ? close : end) - at));
            if (name) {
                /* A page that can be read as ASCII up to here is not UTF-16. */
                return strncmp(name, "utf-16", 6) == 0 ? "utf-8" : name;
            }
        }
    }
    return NULL;
}

/* ---- UTF-8 ---- */

/* Passes over ASCII, which is most of any page, many bytes at a time. */
static const char *skip_ascii(const char *at, const char *end)
{
    uint64_t words[4];
    while (end - at >= (ptrdiff_t)sizeof words) {
        memcpy(words, at, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) & UINT64_C(0x8080808080808080)) {
            break;
        }
        at += sizeof words;
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

/* How many characters of several bytes there are, and bytes that are none. */
static void count_unicode(const char *at, const char *end, size_t *valid, size_t *wrong)
{
    *valid = *wrong = 0;
    while ((at = skip_ascii(at, end)) < end) {
        const char *from = at;
        uint32_t point = text_next(&at, end);
        if (point == TEXT_REPLACEMENT && at - from != 3) {
            ++*wrong;
        } else {
            ++*valid;
        }
    }
}

/* ---- who is believed ---- */

struct decoding {
    struct arena *arena;
    const char *bytes;
    size_t length;
    const struct charset_hints *hints;
    struct charset_text *text;
    size_t ascii; /* bytes before the first that is none */
};

static int decode_as(const struct decoding *decoding, const char *name, bool guessed)
{
    struct encoded_text decoded;
    struct charset_text *text = decoding->text;
    text->encoding = name;
    text->guessed = guessed;
    if (strcmp(name, "utf-8") == 0) {
        return repair(decoding->arena, decoding->bytes, decoding->length, text);
    }
    int status = encoding_decode(decoding->arena, encoding_find(name), decoding->bytes,
                                 decoding->length, &decoded);
    if (status == OK) {
        text->bytes = decoded.bytes;
        text->length = decoded.length;
    }
    return status;
}

/* The language that the page says it is in, in a tag <html>; or what the server said. */
static const char *find_language(const struct decoding *decoding)
{
    static const char SPACES[] = " \t\r\n\f\"'=";
    const char *end =
        decoding->bytes + (decoding->length < LANGUAGE_BYTES ? decoding->length : LANGUAGE_BYTES);
    for (const char *at = decoding->bytes; at + 5 < end; at++) {
        if (*at != '<' || strncasecmp(at, "<html", 5) != 0) {
            continue;
        }
        for (at += 5; at + 5 < end && *at != '>'; at++) {
            if (strncasecmp(at, "lang=", 5) == 0 && strchr(" \t\r\n:", at[-1])) {
                at += 5;
                while (at < end && *at && strchr(SPACES, *at)) {
                    at++;
                }
                size_t count = 0;
                while (at + count < end &&
                       (isalnum((unsigned char)at[count]) || at[count] == '-')) {
                    count++;
                }
                return arena_strndup(decoding->arena, at, count);
            }
        }
        break;
    }
    return decoding->hints->language;
}

/* The last label of the URL's host, or NULL. */
static const char *find_domain(const struct decoding *decoding)
{
    const char *url = decoding->hints->url;
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host) {
        return NULL;
    }
    host += 3;
    size_t length = strcspn(host, "/:?#");
    size_t at = length;
    while (at > 0 && host[at - 1] != '.') {
        at--;
    }
    return at ? arena_strndup(decoding->arena, host + at, length - at) : NULL;
}

/* By what the letters look like; `declared` is believed unless they clearly are another's. */
static int guess(const struct decoding *decoding, const char *declared)
{
    struct detect_hints hints = {
        .language = find_language(decoding), .domain = find_domain(decoding), .declared = declared};
    struct detect_verdict verdict;
    int status =
        detect_encoding(decoding->arena, decoding->bytes, decoding->length, &hints, &verdict);
    if (status != OK) {
        return status;
    }
    return decode_as(decoding, verdict.name, !declared || verdict.doubtful);
}

/* What is said to be UTF-8, or nothing at all, and is not valid as that. */
static int decode_invalid(const struct decoding *decoding, bool declared)
{
    size_t valid, wrong;
    count_unicode(decoding->bytes, decoding->bytes + decoding->length, &valid, &wrong);
    /* Chance makes few characters of several bytes; a page cut short ends inside one. */
    if (valid > (declared ? wrong : 3 * wrong)) {
        return decode_as(decoding, "utf-8", !declared);
    }
    const char *late = declared ? NULL : prescan(decoding->bytes, decoding->length, LATE_BYTES);
    return guess(decoding, late && strcmp(late, "utf-8") != 0 ? late : NULL);
}

/* What is valid as UTF-8, as ASCII is. */
static int decode_valid(const struct decoding *decoding, const char *declared)
{
    struct charset_text *text = decoding->text;
    bool plain = decoding->ascii == decoding->length;
    bool unicode = declared && strcmp(declared, "utf-8") == 0;
    const char *form = plain ? detect_form(decoding->bytes, decoding->length) : NULL;
    if (form) {
        return decode_as(decoding, form, true);
    }
    const char *late =
        plain || declared ? NULL : prescan(decoding->bytes, decoding->length, LATE_BYTES);
    bool guessed = !plain && !unicode && !(late && strcmp(late, "utf-8") == 0);
    const char *name = plain && declared ? declared : "utf-8";
    *text = (struct charset_text){decoding->bytes, decoding->length, name, guessed};
    return OK;
}

/* Whether valid UTF-8 may be so by chance: a few pairs of bytes of an encoding that has pairs, none
 * of them beside a Latin letter, as accented letters are. */
static bool may_be_chance(const struct decoding *decoding, const char *declared)
{
    static const char *const PAIRED[] = {"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"};
    const char *at = decoding->bytes;
    const char *end = at + decoding->length;
    size_t count = 0;
    bool paired = false;
    for (size_t i = 0; i < sizeof PAIRED / sizeof *PAIRED; i++) {
        paired = paired || strcmp(declared, PAIRED[i]) == 0;
    }
    while (paired && (at = skip_ascii(at, end)) < end) {
        bool beside = at > decoding->bytes && isalpha((unsigned char)at[-1]);
        const char *from = at;
        text_next(&at, end);
        beside = beside || (at < end && isalpha((unsigned char)*at));
        if (beside || at - from != 2 || ++count > 4) {
            return false;
        }
    }
    return count > 0;
}

/* The encoding of a byte order mark, which is taken off; or NULL. */
static const char *take_mark(struct decoding *decoding)
{
    static const struct {
        const char *mark;
        size_t length;
        const char *name;
    } MARKS[] = {{"\xEF\xBB\xBF", 3, "utf-8"},
                 {"\xFF\xFE\0\0", 4, "utf-32le"},
                 {"\0\0\xFE\xFF", 4, "utf-32be"},
                 {"\xFE\xFF", 2, "utf-16be"},
                 {"\xFF\xFE", 2, "utf-16le"}};
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        if (decoding->length >= MARKS[i].length &&
            memcmp(decoding->bytes, MARKS[i].mark, MARKS[i].length) == 0) {
            decoding->bytes += MARKS[i].length;
            decoding->length -= MARKS[i].length;
            return MARKS[i].name;
        }
    }
    return NULL;
}

/* What is declared as an encoding of bytes of another size, or of alphabets that are switched
 * between in seven bits: its form shows whether it is. */
static int decode_form(const struct decoding *decoding, const char *name, bool valid)
{
    const char *form = detect_form(decoding->bytes, decoding->length);
    if (!form && valid && strncmp(name, "utf-", 4) == 0) {
        return decode_valid(decoding, NULL);
    }
    return decode_as(decoding, form ? form : name, form && strcmp(form, name) != 0);
}

int charset_decode(struct arena *arena, const char *bytes, size_t length,
                   const struct charset_hints *hints, struct charset_text *text)
{
    struct decoding decoding = {arena, bytes, length, hints, text, 0};
    const char *type = hints->content_type;
    const char *marked = take_mark(&decoding);
    const char *name = marked ? marked : type ? parameter("charset", type, strlen(type)) : NULL;
    name = name ? name : prescan(decoding.bytes, decoding.length, PRESCAN_BYTES);
    const char *end = decoding.bytes + decoding.length;
    bool unicode = !name || strcmp(name, "utf-8") == 0;
    bool formed = !unicode && (strncmp(name, "utf-", 4) == 0 || strncmp(name, "iso-2022", 8) == 0 ||
                               strcmp(name, "hz-gb-2312") == 0);
    if (marked && formed) {
        return decode_as(&decoding, name, false);
    }
    const char *wide = formed ? NULL : detect_wide(decoding.bytes, decoding.length);
    if (wide) {
        return decode_as(&decoding, wide, true);
    }
    decoding.ascii = (size_t)(skip_ascii(decoding.bytes, end) - decoding.bytes);
    bool valid = first_invalid(decoding.bytes + decoding.ascii, end) == end;
    if (unicode) {
        return valid ? decode_valid(&decoding, name) : decode_invalid(&decoding, name != NULL);
    }
    if (formed) {
        return decode_form(&decoding, name, valid);
    }
    if (valid && !may_be_chance(&decoding, name)) {
        return decode_valid(&decoding, name);
    }
    return guess(&decoding, name);
}
