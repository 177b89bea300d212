/* Bytes of a page as UTF-8. */
#include "page/html/charset.h"

#include "core/status.h"
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

/* The encodings, what iconv calls them, and the labels that mean them beside the name itself. */
static const struct {
    const char *name;
    const char *converter;
    const char *labels; /* between blanks */
} ENCODINGS[] = {
    {"utf-8", "UTF-8", " utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 "},
    {"windows-1252", "WINDOWS-1252",
     " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 "
     "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252 "},
    {"ibm866", "CP866", " 866 cp866 csibm866 "},
    {"iso-8859-2", "ISO-8859-2",
     " csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "},
    {"iso-8859-3", "ISO-8859-3",
     " csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "},
    {"iso-8859-4", "ISO-8859-4",
     " csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "},
    {"iso-8859-5", "ISO-8859-5",
     " csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "},
    {"iso-8859-6", "ISO-8859-6",
     " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e "
     "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "},
    {"iso-8859-7", "ISO-8859-7",
     " csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
     "iso_8859-7:1987 sun_eu_greek "},
    {"iso-8859-8", "ISO-8859-8",
     " csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
     "iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical "},
    {"iso-8859-10", "ISO-8859-10", " csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6 "},
    {"iso-8859-13", "ISO-8859-13", " iso8859-13 iso885913 "},
    {"iso-8859-14", "ISO-8859-14", " iso8859-14 iso885914 "},
    {"iso-8859-15", "ISO-8859-15", " csisolatin9 iso8859-15 iso885915 iso_8859-15 l9 "},
    {"iso-8859-16", "ISO-8859-16", " "},
    {"koi8-r", "KOI8-R", " cskoi8r koi koi8 koi8_r "},
    {"koi8-u", "KOI8-U", " koi8-ru "},
    {"macintosh", "MACINTOSH", " csmacintosh mac x-mac-roman "},
    {"windows-874", "CP874", " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 cp874 "},
    {"windows-1250", "WINDOWS-1250", " cp1250 x-cp1250 "},
    {"windows-1251", "WINDOWS-1251", " cp1251 x-cp1251 "},
    {"windows-1253", "WINDOWS-1253", " cp1253 x-cp1253 "},
    {"windows-1254", "WINDOWS-1254",
     " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
     "latin5 x-cp1254 "},
    {"windows-1255", "WINDOWS-1255", " cp1255 x-cp1255 "},
    {"windows-1256", "WINDOWS-1256", " cp1256 x-cp1256 "},
    {"windows-1257", "WINDOWS-1257", " cp1257 x-cp1257 "},
    {"windows-1258", "WINDOWS-1258", " cp1258 x-cp1258 "},
    {"x-mac-cyrillic", "MAC-CYRILLIC", " x-mac-ukrainian "},
    {"gbk", "GB18030",
     " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk "},
    {"gb18030", "GB18030", " "},
    {"big5", "BIG5-HKSCS", " big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {"euc-jp", "EUC-JP", " cseucpkdfmtjapanese x-euc-jp "},
    {"iso-2022-jp", "ISO-2022-JP", " csiso2022jp "},
    {"shift_jis", "CP932", " csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis "},
    {"euc-kr", "CP949",
     " cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
     "windows-949 "},
    {"utf-16be", "UTF-16BE", " unicodefffe "},
    {"utf-16le", "UTF-16LE", " csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 "},
};

#define ENCODING_COUNT (sizeof ENCODINGS / sizeof *ENCODINGS)
#define LABEL_SIZE     32 /* the longest label, two blanks and a NUL */

const char *charset_by_label(const char *label, size_t length)
{
    char word[LABEL_SIZE] = " ";
    while (length && isspace((unsigned char)*label)) {
        label++;
        length--;
    }
    while (length && isspace((unsigned char)label[length - 1])) {
        length--;
    }
    if (length == 0 || length + 3 > sizeof word) {
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        word[i + 1] = (char)tolower((unsigned char)label[i]);
    }
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        if (strcmp(ENCODINGS[i].name, word + 1) == 0) {
            return ENCODINGS[i].name;
        }
    }
    word[length + 1] = ' ';
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        if (strstr(ENCODINGS[i].labels, word)) {
            return ENCODINGS[i].name;
        }
    }
    return NULL;
}

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
        const char *name = charset_by_label(value, count);
        if (name) {
            return name;
        }
    }
    return NULL;
}

const char *charset_prescan(const char *bytes, size_t length)
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

static const char *converter_of(const char *name)
{
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        if (strcmp(ENCODINGS[i].name, name) == 0) {
            return ENCODINGS[i].converter;
        }
    }
    return NULL;
}

/* Converts with iconv; a byte that means nothing becomes U+FFFD. Each such byte costs iconv a new
 * start, so what is full of them is not in that encoding and is mended as UTF-8. */
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
    return name ? name : charset_prescan(*bytes, *length);
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
    iconv_t converter = iconv_open("UTF-8", converter_of(text->encoding));
    if (converter == (iconv_t)-1) {
        return repair(arena, bytes, length, text);
    }
    int status = convert(arena, bytes, length, converter, text);
    iconv_close(converter);
    return status == ERR_INVALID ? repair(arena, bytes, length, text) : status;
}
