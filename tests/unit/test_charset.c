/* Bytes of pages as UTF-8: who is believed about the encoding, what labels mean, and what becomes
 * of bytes that mean nothing. */
#include "core/limits.h"
#include "core/status.h"
#include "html/charset.h"
#include "text/text.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void decodes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *content_type;
        const char *text, *encoding;
        bool guessed;
    } CASES[] = {
        {"plain", NULL, "plain", "utf-8", false},
        {"caf\xC3\xA9", NULL, "caf\u00e9", "utf-8", true},
        {"caf\xC3\xA9", "text/html; charset=utf-8", "caf\u00e9", "utf-8", false},
        {"\xEF\xBB\xBF"
         "caf\xC3\xA9",
         "text/html; charset=koi8-r", "caf\u00e9", "utf-8", false},
        {"caf\xE9", NULL, "caf\u00e9", "windows-1252", true},
        {"caf\xE9", "text/html; charset=latin1", "caf\u00e9", "windows-1252", false},
        {"\x93quoted\x94 \x80", NULL, "\u201cquoted\u201d \u20ac", "windows-1252", true},
        {"\xCF\xF0\xE8", "text/html; charset=\"windows-1251\"", "\u041f\u0440\u0438",
         "windows-1251", false},
        {"\xF0\xD2\xC9", "text/html;CHARSET = koi8-r; x=y", "\u041f\u0440\u0438", "koi8-r", false},
        {"<meta charset=shift_jis>\x93\xFA\x96{", NULL, "<meta charset=shift_jis>\u65e5\u672c",
         "shift_jis", false},
        {"<meta http-equiv=Content-Type content='text/html; charset=gb2312'>\xC4\xE3", NULL,
         "<meta http-equiv=Content-Type content='text/html; charset=gb2312'>\u4f60", "gbk", false},
        {"<!-- <meta charset=koi8-r> -->caf\xE9", NULL, "<!-- <meta charset=koi8-r> -->caf\u00e9",
         "windows-1252", true},
        /* A page that is UTF-8 and says otherwise. */
        {"<meta charset=iso-8859-1>caf\xC3\xA9", NULL, "<meta charset=iso-8859-1>caf\u00e9",
         "utf-8", true},
        /* Two pairs of GBK that happen to be UTF-8. */
        {"<meta charset=gbk>\xC4\xBD\xD2\xBB", NULL, "<meta charset=gbk>\u6155\u4e00", "gbk",
         false},
        /* One that says UTF-8 and is not, here and there, and one that is nowhere. */
        {"<meta charset=utf-8>caf\xE9 \xC3\xA9 \xC3\xA9", NULL,
         "<meta charset=utf-8>caf\uFFFD \u00e9 \u00e9", "utf-8", false},
        {"<meta charset=utf-8>caf\xE9", NULL, "<meta charset=utf-8>caf\u00e9", "windows-1252",
         true},
        {"<meta charset=utf-16>caf\xC3\xA9", NULL, "<meta charset=utf-16>caf\u00e9", "utf-8",
         false},
        {"caf\xC3\xA9", "text/html; charset=utf-16", "caf\u00e9", "utf-8", true},
        {"<meta charset=no-such-thing>caf\xE9", NULL, "<meta charset=no-such-thing>caf\u00e9",
         "windows-1252", true},
        {"<?xml version='1.0' encoding='windows-1251'?><p>\xCF\xF0", NULL,
         "<?xml version='1.0' encoding='windows-1251'?><p>\u041f\u0440", "windows-1251", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct charset_hints hints = {.content_type = CASES[i].content_type};
        struct charset_text text;
        assert_int_equal(
            charset_decode(arena, CASES[i].bytes, strlen(CASES[i].bytes), &hints, &text), OK);
        if (text.length != strlen(CASES[i].text) ||
            memcmp(text.bytes, CASES[i].text, text.length) != 0 ||
            strcmp(text.encoding, CASES[i].encoding) != 0 || text.guessed != CASES[i].guessed) {
            fail_msg("case %zu: \"%.*s\" as %s%s", i, (int)text.length, text.bytes, text.encoding,
                     text.guessed ? ", guessed" : "");
        }
        arena_free(arena);
    }
}

static void decodes_utf_16(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } CASES[] = {{"\xFE\xFF\0a\x20\xAC", 6},
                 {"\xFF\xFE"
                  "a\0\xAC\x20",
                  6}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct charset_text text;
        assert_int_equal(charset_decode(arena, CASES[i].bytes, CASES[i].length,
                                        &(struct charset_hints){.content_type = NULL}, &text),
                         OK);
        assert_int_equal(text.length, 4);
        assert_memory_equal(text.bytes, "a\u20ac", 4);
        arena_free(arena);
    }
}

/* What nobody declares: forms that show by themselves, markup that does not count, hints. */
static void guesses(void **state)
{
    (void)state;
#define SCRIPT "<script>var \xCF\xF0\xE8\xE2\xE5\xF2\xF1\xF2\xE2\xF3\xE9 = 1;</script>"
    static const struct {
        const char *bytes;
        size_t length; /* 0: up to the NUL */
        const char *language, *url;
        const char *text, *encoding;
    } CASES[] = {
        {"~{VPND~}", 0, NULL, NULL, "~{VPND~}", "utf-8"}, /* two characters prove nothing */
        {"~{VPNDVPND~} ok", 0, NULL, NULL, "\u4e2d\u6587\u4e2d\u6587 ok", "hz-gb-2312"},
        {"~{template.name~}", 0, NULL, NULL, "~{template.name~}", "utf-8"},
        {"\x1B$B4A;z\x1B(B!", 0, NULL, NULL, "\u6f22\u5b57!", "iso-2022-jp"},
        {"\0<\0p\0>\0c\0a\0f\0\xE9", 14, NULL, NULL, "<p>caf\u00e9", "utf-16be"},
        {"<\0p\0>\0c\0a\0f\0\xE9\0", 14, NULL, NULL, "<p>caf\u00e9", "utf-16le"},
        {"<\0\0\0a\0\0\0>\0\0\0\xE9\0\0\0", 16, NULL, NULL, "<a>\u00e9", "utf-32le"},
        {SCRIPT "f\xFCr alle gr\xF6\xDF"
                "er",
         0, NULL, NULL, NULL, "windows-1252"},
        /* Three letters that two languages could have: a hint decides, the page's own first. */
        {"\xED\xE5\xF2", 0, NULL, "https://www.example.gr/", NULL, "windows-1253"},
        {"\xED\xE5\xF2", 0, NULL, "https://www.example.ru:8080/a.gr", NULL, "windows-1251"},
        {"\xED\xE5\xF2", 0, NULL, NULL, NULL, "windows-1251"},
        {"\xED\xE5\xF2", 0, "el-GR", NULL, NULL, "windows-1253"},
        {"<html lang=\"el\">\xED\xE5\xF2", 0, "ru", NULL, NULL, "windows-1253"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct charset_hints hints = {.language = CASES[i].language, .url = CASES[i].url};
        size_t length = CASES[i].length ? CASES[i].length : strlen(CASES[i].bytes);
        struct charset_text text;
        assert_int_equal(charset_decode(arena, CASES[i].bytes, length, &hints, &text), OK);
        const char *wanted = CASES[i].text;
        if (strcmp(text.encoding, CASES[i].encoding) != 0 ||
            (wanted &&
             (text.length != strlen(wanted) || memcmp(text.bytes, wanted, text.length) != 0))) {
            fail_msg("case %zu: \"%.*s\" as %s", i, (int)text.length, text.bytes, text.encoding);
        }
        arena_free(arena);
    }
}

static void knows_labels(void **state)
{
    (void)state;
    static const struct {
        const char *label, *name;
    } CASES[] = {
        {"UTF8", "utf-8"},
        {" latin1 ", "windows-1252"},
        {"ISO-8859-1", "windows-1252"},
        {"us-ascii", "windows-1252"},
        {"iso-8859-9", "windows-1254"},
        {"x-sjis", "shift_jis"},
        {"ks_c_5601-1987", "euc-kr"},
        {"big5-hkscs", "big5"},
        {"tis-620", "windows-874"},
        {"unicode", "utf-8"}, /* "ab" is no UTF-16, whatever is said */
        {"l9", "iso-8859-15"},
        /* No label: ASCII that is said to be nothing is UTF-8. */
        {"", "utf-8"},
        {"latin", "utf-8"},
        {"koi8-r-and-more-than-any-label-is-long", "utf-8"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct charset_text text;
        char type[100];
        snprintf(type, sizeof type, "text/html; charset=\"%s\"", CASES[i].label);
        assert_int_equal(
            charset_decode(arena, "ab", 2, &(struct charset_hints){.content_type = type}, &text),
            OK);
        if (strcmp(text.encoding, CASES[i].name) != 0) {
            fail_msg("\"%s\" is %s", CASES[i].label, text.encoding);
        }
        arena_free(arena);
    }
}

static void looks_at_the_beginning_only(void **state)
{
    (void)state;
    char page[1100];
    memset(page, ' ', sizeof page);
    memcpy(page + 1030, "<meta charset=koi8-r>", 21);
    struct arena *arena = arena_new(MIB(1));
    struct charset_text text;
    assert_int_equal(charset_decode(arena, page, sizeof page,
                                    &(struct charset_hints){.content_type = NULL}, &text),
                     OK);
    assert_string_equal(text.encoding, "utf-8");
    memcpy(page + 500, "<meta charset=koi8-r>", 21);
    assert_int_equal(charset_decode(arena, page, sizeof page,
                                    &(struct charset_hints){.content_type = NULL}, &text),
                     OK);
    assert_string_equal(text.encoding, "koi8-r");
    arena_free(arena);
}

/* Whatever the bytes and whatever they are said to be: valid UTF-8. */
static void is_always_valid(void **state)
{
    (void)state;
    static const char *const TYPES[] = {NULL,
                                        "text/html; charset=utf-8",
                                        "text/html; charset=gb18030",
                                        "text/html; charset=iso-2022-jp",
                                        "text/html; charset=utf-16le",
                                        "text/html; charset=euc-jp",
                                        "text/html; charset=big5"};
    char bytes[8192];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (char)(seed >> 24);
    }
    for (size_t i = 0; i < COUNT(TYPES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct charset_text text;
        assert_int_equal(charset_decode(arena, bytes, sizeof bytes,
                                        &(struct charset_hints){.content_type = TYPES[i]}, &text),
                         OK);
        assert_true(text.length > 0);
        assert_true(text_is_utf8(text.bytes, text.length));
        arena_free(arena);
    }
}

UNIT_TEST(charset)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes),
        cmocka_unit_test(decodes_utf_16),
        cmocka_unit_test(guesses),
        cmocka_unit_test(knows_labels),
        cmocka_unit_test(looks_at_the_beginning_only),
        cmocka_unit_test(is_always_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
