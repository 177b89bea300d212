/* Encodings of old, as UTF-8. */
#include "html/encodings.h"

#include "tables.h"
#include "text/text.h"

#include <errno.h>
#include <iconv.h>
#include <lexbor/encoding/decode.h>
#include <lexbor/encoding/single.h>
#include <string.h>

#define POINTS_AT_ONCE 1024
#define MOST_WRONG     4000 /* restarts of iconv, before an encoding is not believed */

struct encoding {
    const char *name;
    const lxb_encoding_single_index_t *single; /* of each byte from 0x80 on */
    lxb_encoding_decode_f several;             /* for those with more bytes to a character */
};

#define SINGLE(NAME, INDEX)                                                                        \
    {                                                                                              \
        NAME, lxb_encoding_single_index_##INDEX, NULL                                              \
    }
#define SEVERAL(NAME, DECODE)                                                                      \
    {                                                                                              \
        NAME, NULL, lxb_encoding_decode_##DECODE                                                   \
    }
/* Its letters are in data/charsets.txt, or a function below or iconv knows it. */
#define OTHER(NAME)                                                                                \
    {                                                                                              \
        NAME, NULL, NULL                                                                           \
    }

/* In the order of their names. */
static const struct encoding ENCODINGS[] = {
    SEVERAL("big5", big5),
    SEVERAL("euc-jp", euc_jp),
    SEVERAL("euc-kr", euc_kr),
    SEVERAL("gb18030", gb18030),
    SEVERAL("gbk", gb18030),
    OTHER("hz-gb-2312"),
    OTHER("ibm437"),
    OTHER("ibm737"),
    OTHER("ibm775"),
    OTHER("ibm850"),
    OTHER("ibm852"),
    OTHER("ibm855"),
    OTHER("ibm857"),
    OTHER("ibm862"),
    OTHER("ibm864"),
    OTHER("ibm865"),
    SINGLE("ibm866", ibm866),
    SEVERAL("iso-2022-jp", iso_2022_jp),
    OTHER("iso-2022-kr"),
    SINGLE("iso-8859-10", iso_8859_10),
    SINGLE("iso-8859-13", iso_8859_13),
    SINGLE("iso-8859-14", iso_8859_14),
    SINGLE("iso-8859-15", iso_8859_15),
    SINGLE("iso-8859-16", iso_8859_16),
    SINGLE("iso-8859-2", iso_8859_2),
    SINGLE("iso-8859-3", iso_8859_3),
    SINGLE("iso-8859-4", iso_8859_4),
    SINGLE("iso-8859-5", iso_8859_5),
    SINGLE("iso-8859-6", iso_8859_6),
    SINGLE("iso-8859-7", iso_8859_7),
    SINGLE("iso-8859-8", iso_8859_8),
    OTHER("johab"),
    SINGLE("koi8-r", koi8_r),
    SINGLE("koi8-u", koi8_u),
    SINGLE("macintosh", macintosh),
    SEVERAL("shift_jis", shift_jis),
    SEVERAL("utf-16be", utf_16be),
    SEVERAL("utf-16le", utf_16le),
    OTHER("utf-32be"),
    OTHER("utf-32le"),
    OTHER("utf-7"),
    OTHER("viscii"),
    SINGLE("windows-1250", windows_1250),
    SINGLE("windows-1251", windows_1251),
    SINGLE("windows-1252", windows_1252),
    SINGLE("windows-1253", windows_1253),
    SINGLE("windows-1254", windows_1254),
    SINGLE("windows-1255", windows_1255),
    SINGLE("windows-1256", windows_1256),
    SINGLE("windows-1257", windows_1257),
    SINGLE("windows-1258", windows_1258),
    SINGLE("windows-874", windows_874),
    OTHER("x-mac-ce"),
    SINGLE("x-mac-cyrillic", x_mac_cyrillic),
};

const struct encoding *encoding_find(const char *name)
{
    size_t low = 0;
    size_t high = sizeof ENCODINGS / sizeof *ENCODINGS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, ENCODINGS[middle].name);
        if (order == 0) {
            return &ENCODINGS[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const char *encoding_name(const struct encoding *encoding)
{
    return encoding->name;
}

bool encoding_letters(const struct encoding *encoding, uint32_t letters[128])
{
    if (encoding->single) {
        for (size_t i = 0; i < 128; i++) {
            uint32_t point = encoding->single[i].codepoint;
            /* The standard lets bytes that mean nothing be controls. */
            bool none = point == LXB_ENCODING_DECODE_ERROR || (point >= 0x80 && point < 0xA0);
            letters[i] = none ? 0 : point;
        }
        return true;
    }
    const char *text = words_text(&charset_letters, encoding->name, strlen(encoding->name));
    if (!text) {
        return false;
    }
    const char *end = text + strlen(text);
    for (size_t i = 0; i < 128; i++) {
        uint32_t point = text < end ? text_next(&text, end) : 0;
        letters[i] = point == 0x2423 ? 0xA0 : point == TEXT_REPLACEMENT ? 0 : point;
    }
    return true;
}

/* ---- a byte a character ---- */

static int decode_single(struct arena *arena, const uint32_t letters[128], const char *bytes,
                         size_t length, struct encoded_text *text)
{
    struct {
        char bytes[4];
        size_t length;
    } utf8[128];
    for (size_t i = 0; i < 128; i++) {
        utf8[i].length = text_encode(letters[i] ? letters[i] : TEXT_REPLACEMENT, utf8[i].bytes);
    }
    size_t room = 1;
    for (size_t i = 0; i < length; i++) {
        room += bytes[i] & 0x80 ? utf8[bytes[i] & 0x7F].length : 1;
    }
    char *out = arena_alloc(arena, room);
    if (!out) {
        return ERR_NOMEM;
    }
    size_t used = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < length; i++) {
        if (!(bytes[i] & 0x80)) {
            out[used++] = bytes[i];
            continue;
        }
        size_t letter = bytes[i] & 0x7F;
        memcpy(out + used, utf8[letter].bytes, utf8[letter].length);
        used += utf8[letter].length;
        wrong += letters[letter] == 0;
    }
    *text = (struct encoded_text){out, used, wrong};
    return OK;
}

/* ---- several bytes a character ---- */

/* Adds code points. Replacements count as wrong. */
static size_t put_points(char *to, const lxb_codepoint_t *points, size_t count, size_t *wrong)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (points[i] < 0x80) {
            to[used++] = (char)points[i];
        } else {
            used += text_encode(points[i], to + used);
            *wrong += points[i] == TEXT_REPLACEMENT;
        }
    }
    return used;
}

static int decode_several(struct arena *arena, lxb_encoding_decode_f decode, const char *bytes,
                          size_t length, struct encoded_text *text)
{
    static const lxb_codepoint_t REPLACEMENT[] = {TEXT_REPLACEMENT};
    lxb_codepoint_t points[POINTS_AT_ONCE];
    lxb_encoding_decode_t context = {.buffer_out = points,
                                     .buffer_length = POINTS_AT_ONCE,
                                     .replace_to = REPLACEMENT,
                                     .replace_len = 1};
    size_t room = length + length / 2 + sizeof points;
    char *out = arena_alloc(arena, room);
    const lxb_char_t *at = (const lxb_char_t *)bytes;
    const lxb_char_t *end = at + length;
    size_t used = 0;
    size_t wrong = 0;
    lxb_status_t status = LXB_STATUS_SMALL_BUFFER;
    while (out && status == LXB_STATUS_SMALL_BUFFER) {
        status = decode(&context, &at, end);
        used += put_points(out + used, points, context.buffer_used, &wrong);
        context.buffer_used = 0;
        if (room - used < sizeof points) { /* four bytes at most for each of the next */
            out = arena_realloc(arena, out, room, room * 2);
            room *= 2;
        }
    }
    if (!out) {
        return ERR_NOMEM;
    }
    if (status == LXB_STATUS_CONTINUE) { /* it ends inside a character */
        used += put_points(out + used, REPLACEMENT, 1, &wrong);
    }
    *text = (struct encoded_text){out, used, wrong};
    return OK;
}

static int decode_utf_32(struct arena *arena, bool little, const char *bytes, size_t length,
                         struct encoded_text *text)
{
    char *out = arena_alloc(arena, length + 4);
    if (!out) {
        return ERR_NOMEM;
    }
    *text = (struct encoded_text){.bytes = out};
    for (size_t i = 0; i + 4 <= length; i += 4) {
        uint32_t point = 0;
        for (size_t j = 0; j < 4; j++) {
            point = point << 8 | (unsigned char)bytes[i + (little ? 3 - j : j)];
        }
        if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
            point = TEXT_REPLACEMENT;
            text->wrong++;
        }
        text->length += text_encode(point, out + text->length);
    }
    return OK;
}

/* Chinese in seven bits: between ~{ and ~} each pair of bytes is one of GBK without its high bits.
 */
static int decode_hz(struct arena *arena, const char *bytes, size_t length,
                     struct encoded_text *text)
{
    char *plain = arena_alloc(arena, length + 1);
    if (!plain) {
        return ERR_NOMEM;
    }
    size_t used = 0;
    bool chinese = false;
    for (size_t i = 0; i < length; i++) {
        char next = i + 1 < length ? bytes[i + 1] : '\0';
        if (bytes[i] == '~' && (next == '{' || next == '}')) {
            chinese = next == '{';
            i++;
        } else if (bytes[i] == '~' && !chinese && (next == '~' || next == '\n')) {
            plain[used] = '~';
            used += next == '~';
            i++;
        } else if (chinese && bytes[i] > 0x20 && next > 0x20) {
            plain[used++] = (char)(bytes[i] | 0x80);
            plain[used++] = (char)(next | 0x80);
            i++;
        } else {
            chinese = chinese && bytes[i] != '\n';
            plain[used++] = bytes[i];
        }
    }
    return decode_several(arena, lxb_encoding_decode_gb18030, plain, used, text);
}

/* ---- what the C library has to know ---- */

/* Each byte that means nothing costs iconv a new start, so what is full of them is given up. */
static int decode_with(struct arena *arena, iconv_t converter, const char *bytes, size_t length,
                       struct encoded_text *text)
{
    size_t room = length + length / 2 + 64;
    size_t used = 0;
    char *out = arena_alloc(arena, room);
    char *from;
    memcpy(&from, &bytes, sizeof from); /* iconv takes a pointer to what it does not change */
    text->wrong = 0;
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
        if (++text->wrong > MOST_WRONG) {
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

static int decode_by_library(struct arena *arena, const char *name, const char *bytes,
                             size_t length, struct encoded_text *text)
{
    const char *known = words_text(&charset_converters, name, strlen(name));
    iconv_t converter = iconv_open("UTF-8", known ? known : name);
    int status = ERR_INVALID;
    if (converter != (iconv_t)-1) {
        status = decode_with(arena, converter, bytes, length, text);
        iconv_close(converter);
    }
    return status;
}

int encoding_decode(struct arena *arena, const struct encoding *encoding, const char *bytes,
                    size_t length, struct encoded_text *text)
{
    uint32_t letters[128];
    if (encoding->several) {
        return decode_several(arena, encoding->several, bytes, length, text);
    }
    if (strncmp(encoding->name, "utf-32", 6) == 0) {
        return decode_utf_32(arena, strcmp(encoding->name, "utf-32le") == 0, bytes, length, text);
    }
    if (strcmp(encoding->name, "hz-gb-2312") == 0) {
        return decode_hz(arena, bytes, length, text);
    }
    int status = ERR_INVALID;
    if (!encoding_letters(encoding, letters)) {
        status = decode_by_library(arena, encoding->name, bytes, length, text);
        encoding = encoding_find("windows-1252");
    }
    if (status == ERR_INVALID && encoding_letters(encoding, letters)) {
        status = decode_single(arena, letters, bytes, length, text);
    }
    return status;
}
