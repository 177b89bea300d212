/* Bytes to a tree: the source of programs and style sheets stays out of it, wherever they end, what
 * other scripts carry is in it, and elements of one name are alike in all pages. */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/choose/stats.h"
#include "html/dom.h"
#include "html/parse.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static void parse(struct page *page, const char *html, size_t length)
{
    *page = (struct page){.arena = arena_new(MIB(16))};
    assert_non_null(page->arena);
    assert_int_equal(parse_html(page, html, length), OK);
}

static void done(struct page *page)
{
    parse_done(page);
    arena_free(page->arena);
}

/* All texts of the tree, each between strokes. */
static void texts_of(const char *html, size_t length, char *out, size_t size)
{
    struct page page;
    parse(&page, html, length);
    const lxb_dom_node_t *root = lxb_dom_interface_node(page.document);
    size_t at = 0;
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        size_t text_length = 0;
        const char *text = dom_is_text(node) ? dom_text(node, &text_length) : NULL;
        at += text ? (size_t)snprintf(out + at, size - at, "|%.*s", (int)text_length, text) : 0;
        assert_true(at < size);
    }
    out[at] = '\0';
    done(&page);
}

/* The first row of the table that has a text and the last one, and some between. */
static void knows_entities(void **state)
{
    static const char HTML[] = "<body><p>&Aacute;&aacute;&amp;&AMP;&copy&zwj;&zwnj;&zscr;&zopf;"
                               "&NotGreaterEqual;&nLt;&fjlig;&CounterClockwiseContourIntegral;&no;"
                               "<p title='&eacute;'>&ZeroWidthSpace;&hearts;&hellip;&#233;";
    char texts[256];
    (void)state;
    texts_of(HTML, sizeof HTML - 1, texts, sizeof texts);
    assert_string_equal(texts, "|\u00c1\u00e1&&\u00a9\u200d\u200c\U0001d4cf\U0001d56b\u2271"
                               "\u226a\u20d2fj\u2233&no;|\u200b\u2665\u2026\u00e9");
}

static void passes_over_source(void **state)
{
    static const struct {
        const char *html, *texts;
    } CASES[] = {
        {"<body><script>var a = '<p>x</p>';</script><p>y", "|y"},
        {"<body><SCRIPT async>var a;</Script\n><p>y", "|y"},
        {"<body><script type='text/JavaScript; charset=utf-8'>var a;</script><p>y", "|y"},
        {"<body><script type=module>var a;</script/x><p>y", "|y"},
        {"<body><script>a</scripts>b</script><p>y", "|</scripts>b|y"},
        {"<body><script></script><p>y", "|y"},
        {"<body><script>never <p>ends, so that all is source", ""},
        {"<body><p>y<script>ends in </scr", "|y|</scr"},
        /* In a comment of a script a script may begin, and then the end tag is its. */
        {"<body><script>a <!-- b </script><p>y", "|<!-- b |y"},
        {"<body><script>a <!-- <script> </script> --> b </script><p>y",
         "|<!-- <script> </script> --> b |y"},
        {"<body><script>a <!- b </script><p>y", "|y"},
        {"<style>p > a {}</sty></STYLE ><body>y", "|y"},
        {"<body><style>p {} <!-- </style><p>y", "|y"},
        {"<body><style>p {} <!-- </style --><p>y", "|y"},
        /* Data, formulas and what nobody knows: */
        {"<body><script type=application/json>{\"a\": \"<p>\"}</script><p>y",
         "|{\"a\": \"<p>\"}|y"},
        {"<body><script type='application/ld+json'>{}</script><p>y", "|{}|y"},
        {"<body><script type='math/tex; mode=display'>a</script><p>y", "|a|y"},
        /* In a drawing these are elements as any other. */
        {"<body><svg><style>p <g>x</g></style><script>var <g>a</g></script></svg>", "|p |x|var |a"},
        {"<body><textarea><script>a</script></textarea>y", "|<script>a</script>|y"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char texts[256];
        texts_of(CASES[i].html, strlen(CASES[i].html), texts, sizeof texts);
        if (strcmp(texts, CASES[i].texts) != 0) {
            fail_msg("%s: %s, not %s", CASES[i].html, texts, CASES[i].texts);
        }
    }
}

/* The parser is fed in pieces: wherever one ends, the script ends where it does. What an end tag
 * that is cut off leaves behind is a few bytes of nobody's text. */
static void finds_ends_between_pieces(void **state)
{
    static char html[KIB(20)];
    static const char *const TAGS[][2] = {{"<body><script>", "</script><p>y"},
                                          {"<body><style>", "</style ><p>y"},
                                          {"<body><script>", "<!-- </script> x"}};
    (void)state;
    for (size_t tag = 0; tag < COUNT(TAGS); tag++) {
        for (size_t end = KIB(16) - 24; end < KIB(16) + 24; end++) {
            size_t begin = strlen(TAGS[tag][0]), length = strlen(TAGS[tag][1]);
            char texts[64];
            memset(html, 'a', sizeof html);
            memcpy(html, TAGS[tag][0], begin);
            memcpy(html + end, TAGS[tag][1], length);
            texts_of(html, end + length, texts, sizeof texts);
            assert_true(strlen(texts) < 16);
            assert_true(texts[strlen(texts) - 1] == TAGS[tag][1][length - 1]);
        }
    }
}

/* lexbor numbers names that it does not know by where it keeps them. */
static void knows_unknown_names_again(void **state)
{
    static const char HTML[] = "<body><x-card>a</x-card><x-card>b</x-card><x-note>c</x-note>";
    struct page pages[2];
    struct stats stats[2];
    (void)state;
    for (size_t i = 0; i < COUNT(pages); i++) {
        parse(&pages[i], HTML, strlen(HTML));
        assert_int_equal(stats_collect(&pages[i], &stats[i], REACH_SHOWN), OK);
        assert_int_equal(stats[i].count, 4);
    }
    assert_int_equal(stats[0].elements[1].shape, stats[0].elements[2].shape);
    assert_int_not_equal(stats[0].elements[1].shape, stats[0].elements[3].shape);
    for (uint32_t i = 0; i < stats[0].count; i++) {
        assert_int_equal(stats[0].elements[i].shape, stats[1].elements[i].shape);
    }
    for (size_t i = 0; i < COUNT(pages); i++) {
        done(&pages[i]);
    }
}

UNIT_TEST(html_parse)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_entities),
        cmocka_unit_test(passes_over_source),
        cmocka_unit_test(finds_ends_between_pieces),
        cmocka_unit_test(knows_unknown_names_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
