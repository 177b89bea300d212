/* What a body is, by its header and by its first bytes. */
#include "unit.h"

#include "html/sniff.h"

#include <stdlib.h>
#include <string.h>

#define BODY(text) text, sizeof(text) - 1

static const struct {
    const char *content_type;
    const char *body;
    size_t length;
    enum content_kind kind;
} CASES[] = {
    /* The header is believed. */
    {"text/html; charset=utf-8", BODY("just words"), CONTENT_HTML},
    {"TEXT/HTML", BODY("just words"), CONTENT_HTML},
    {" text/html ;charset=x", BODY("just words"), CONTENT_HTML},
    {"application/xhtml+xml", BODY("<?xml version='1.0'?><html/>"), CONTENT_HTML},
    {"text/markdown", BODY("<p>html in markdown"), CONTENT_MARKDOWN},
    {"text/x-markdown; charset=UTF-8", BODY("# x"), CONTENT_MARKDOWN},
    {"application/json", BODY("{}"), CONTENT_JSON},
    {"application/ld+json", BODY("[]"), CONTENT_JSON},
    {"application/problem+json; charset=x", BODY("{}"), CONTENT_JSON},
    {"application/rss+xml", BODY("<rss/>"), CONTENT_FEED},
    {"application/atom+xml", BODY("<feed/>"), CONTENT_FEED},
    {"application/mathml+xml", BODY("<math/>"), CONTENT_XML},
    {"text/plain", BODY("hello"), CONTENT_TEXT},
    {"text/csv", BODY("a,b"), CONTENT_TEXT},
    {"text/css", BODY("<p>"), CONTENT_TEXT},
    {"application/javascript", BODY("x()"), CONTENT_TEXT},
    {"image/svg+xml", BODY("<svg/>"), CONTENT_SVG},
    {"text/xml", BODY("<svg/>"), CONTENT_SVG},
    {"application/xml", BODY("<?xml version=\"1.0\"?><urlset>"), CONTENT_SITEMAP},
    {"text/plain", BODY("<sitemapindex>"), CONTENT_SITEMAP},
    {"image/heic", BODY("\0\0\0\x18"), CONTENT_IMAGE},
    {"audio/midi", BODY("MThd\0\0"), CONTENT_AUDIO},
    {"video/x-thing", BODY("\0\1\2"), CONTENT_VIDEO},
    {"application/x-tar", BODY("file\0\0"), CONTENT_ARCHIVE},
    {"font/woff2", BODY("x"), CONTENT_BINARY},
    /* Bytes that cannot be mistaken win. */
    {"text/html", BODY("%PDF-1.7\n"), CONTENT_PDF},
    {"application/octet-stream", BODY("%PDF-1.4"), CONTENT_PDF},
    {"text/plain", BODY("\x89PNG\r\n\x1a\n...."), CONTENT_IMAGE},
    {"text/html", BODY("\xff\xd8\xff\xe0"), CONTENT_IMAGE},
    {NULL, BODY("GIF89a\1\0"), CONTENT_IMAGE},
    {NULL, BODY("RIFF\1\2\3\4WEBPVP8 "), CONTENT_IMAGE},
    {NULL, BODY("RIFF\1\2\3\4WAVEfmt "), CONTENT_AUDIO},
    {NULL, BODY("\0\0\0 ftypisom"), CONTENT_VIDEO},
    {NULL, BODY("\0\0\0 ftypavif"), CONTENT_IMAGE},
    {"text/plain", BODY("PK\3\4\0\0"), CONTENT_ARCHIVE},
    {"application/json", BODY("\x1f\x8b\x08\0"), CONTENT_ARCHIVE},
    {NULL,
     BODY("\x7f"
          "ELF\2"),
     CONTENT_BINARY},
    /* Text that is none. */
    {"text/html", BODY("abc\0def"), CONTENT_BINARY},
    {"text/plain", BODY("\1\2\3\4\5\6\7"), CONTENT_BINARY},
    {"application/json", BODY("\0\0\0"), CONTENT_BINARY},
    {"text/plain", BODY("\xff\xfeh\0i\0"), CONTENT_TEXT},
    /* A PDF that is none, and one that begins late. */
    {"application/pdf", BODY("<!doctype html><title>Log in"), CONTENT_HTML},
    {"application/pdf", BODY("not found"), CONTENT_TEXT},
    {"application/pdf", BODY("\n\n%PDF-1.3"), CONTENT_PDF},
    /* Headers that say too little. */
    {"text/plain", BODY("<!DOCTYPE html><p>x"), CONTENT_HTML},
    {"text/plain", BODY("\n <html lang=en>"), CONTENT_HTML},
    {"text/xml", BODY("<?xml version=\"1.0\"?>\n<rss version=\"2.0\">"), CONTENT_FEED},
    {"application/xml", BODY("<?xml version=\"1.0\"?><!-- a --><?style?> <feed xmlns='x'>"),
     CONTENT_FEED},
    {"text/xml", BODY("<?xml version=\"1.0\"?><note/>"), CONTENT_XML},
    /* No header, or one that nobody knows. */
    {NULL, BODY("<!doctype HTML>"), CONTENT_HTML},
    {NULL, BODY("\xef\xbb\xbf <!-- saved --> <HTML>"), CONTENT_HTML},
    {"", BODY("<body>"), CONTENT_HTML},
    {NULL, BODY("<?xml version='1.0'?><rdf:RDF>"), CONTENT_FEED},
    {NULL, BODY("<?xml version='1.0'?><a/>"), CONTENT_XML},
    {NULL, BODY("{\"a\": 1}"), CONTENT_JSON},
    {NULL, BODY("[1]"), CONTENT_JSON},
    {NULL, BODY("hello"), CONTENT_TEXT},
    {NULL, BODY("<unknown>"), CONTENT_TEXT},
    {NULL, BODY("\xc3\xa4\xc3\xb6"), CONTENT_TEXT},
    {NULL, BODY("\0\1\2"), CONTENT_BINARY},
    {"application/octet-stream", BODY("readable"), CONTENT_TEXT},
    {"nonsense", BODY("readable"), CONTENT_TEXT},
    {"text/", BODY("readable"), CONTENT_TEXT},
    /* Nothing. */
    {"text/html", BODY(""), CONTENT_EMPTY},
    {NULL, BODY(""), CONTENT_EMPTY},
};

static void knows_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        enum content_kind kind =
            sniff_content(CASES[i].content_type, CASES[i].body, CASES[i].length);
        if (kind != CASES[i].kind) {
            print_message("case %zu: %s\n", i, CASES[i].content_type ? CASES[i].content_type : "-");
        }
        assert_int_equal(kind, CASES[i].kind);
    }
}

/* Every beginning of every case, in memory of just that size: nothing is read beyond it. */
static void reads_no_further(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        for (size_t length = 0; length <= CASES[i].length; length++) {
            char *body = malloc(length + !length);
            assert_non_null(body);
            memcpy(body, CASES[i].body, length);
            assert_in_range(sniff_content(CASES[i].content_type, body, length), CONTENT_EMPTY,
                            CONTENT_BINARY);
            free(body);
        }
    }
}

UNIT_TEST(sniff)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_it_is),
        cmocka_unit_test(reads_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
