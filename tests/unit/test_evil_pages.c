/* Pages that mean harm: nesting without end, floods of elements, attributes and entities, bytes
 * that are no text. None may crash the extractor, take long, or take much memory; what was read of
 * them comes out as valid UTF-8. */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/extract.h"
#include "text/text.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Sanitizers take a multiple of both: their pages are smaller by as much, and still have more time.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(FORAGE_ARENA_MALLOC)
#define SLOWER 20
#else
#define SLOWER 1
#endif
#define MOST_SECONDS  2
#define MOST_MEGABYTE 256

#define EIGHTY "1                                                                                2"

#define TEN_LEVELS "<div><div><div><div><div><div><div><div><div><div>"

static const struct evil {
    const char *name;
    const char *before, *repeated, *after;
    size_t count;
} PAGES[] = {
    {"100,000 levels of <div>", "", "<div>", "x", 100000},
    {"100,000 levels of <ul>", "", "<ul><li>", "x", 100000},
    {"100,000 levels of <table>", "", "<table><tr><td>", "x", 100000},
    {"100,000 levels of <blockquote>", "", "<blockquote>", "x", 100000},
    {"100,000 levels of <b>", "", "<b id=%zu>", "x<p>y", 100000},
    {"100,000 levels of MathML", "<math>", "<mrow>", "<mi>x", 100000},
    {"links in links", "", "<a href=/%zu><div>x", "", 50000},
    {"50 MB of <p>x", "", "<p>x", "", 50u * 1024 * 1024 / 4},
    {"a million attributes", "<div ", "a%zu=1 ", ">x", 1000000},
    {"a million names of elements", "", "<x%zu>", "x", 1000000},
    {"a million comments", "", "<!-- x -->", "x", 1000000},
    {"entities", "<p>", "&amp;&lt;&#x1F600;&nothing;&#xD800;&#x110000;", "", 500000},
    {"bytes that are no text", "<p>", "\xFF\xFE\xC3\x28\xED\xA0\x80 ", "", 1000000},
    {"a wrong encoding", "<meta charset=shift_jis><p>", "\xFF\xFE\x80\xA0", "", 500000},
    {"numbers in superscript", "<p>", "a<sup>%zu</sup>", "", 60000},
    {"notes", "<p><sup><a href=#n1>1</a></sup><ol>", "<li id=n%zu><a href=#n1>1</a> x", "", 60000},
    {"signs of Markdown", "<p>", "*_[`$\\", "", 1000000},
    {"open brackets", "<p>", "[", "", 2000000},
    {"dollars", "<p>", "$a ", "", 1000000},
    {"backticks", "<pre>", "`", "", 4000000},
    {"lines of code", "<pre>", "<span class=line>x</span>", "", 200000},
    {"spans of cells", "<table><tr>", "<td colspan=1000 rowspan=1000>x", "</tr><tr><td>y", 5000},
    {"rows", "<table>", "<tr><td>x<td>y", "", 100000},
    {"definitions", "<dl>", "<dd>x", "", 100000},
    {"pictures in a figure", "<figure>", "<img src=a%zu.png>", "", 60000},
    {"captions", "", "<figure><img src=a%zu.png><figcaption>x", "", 60000},
    {"frames of pictures", "<div class=image>", "<img src=a%zu.png><div class=caption>", "", 60000},
    {"prices without a number", "<p>", "\xE2\x82\xAC", "", 4000000},
    {"prices far from a number", "<p>1", " $ \xC2\xA0", "", 2000000},
    {"tables in tables", "", "<table><tr><td>x<td>y<td>", "", 30000},
    {"hidden in hidden", "", "<div hidden class=panel><div style='font-size:0'><h2>x", "", 30000},
    {"lazy pictures", "", "<img class=lazy><noscript><p></noscript>", "", 60000},
    {"hidden parts", "", "<div aria-hidden=true><p>x", "", 30000},
    {"a long style", "<p style='", "color:red;", "'>x", 2000000},
    {"a long address", "<a href='", "xxxxxxxxxx", "'>x</a>", 2000000},
    {"deep JSON-LD", "<script type=application/ld+json>", "[", "</script><p>x", 200000},
    {"deep data", "<script type=application/json>", "[", "</script><p>x", 2000000},
    {"much data", "<script type=application/json>[0", ",{\"a\":[]}", "]</script><p>x", 400000},
    {"many scripts of data", "", "<script type=application/json>[" EIGHTY "]</script>", "", 60000},
    {"texts in data", "<script type=application/json>[0", ",{\"text\":\"%zu" EIGHTY "a. b\"}",
     "]</script>", 40000},
    {"pieces in pieces", "<template id=B:0></template>",
     "<div hidden id=S:%zu><div><div><div><div><div><div><div><div><template id=B:1></template>"
     "</div></div></div></div></div></div></div></div></div>",
     "x", 5000},
    {"parts beside the content", TEN_LEVELS TEN_LEVELS TEN_LEVELS TEN_LEVELS TEN_LEVELS TEN_LEVELS,
     "<div>xy zw</div>",
     "</div></div></div></div></div></div></div></div></div></div><main><p>The water, which had "
     "been rising for days, carried the old bridge away, and nobody was surprised, or sad. It had "
     "stood there for a hundred years, and no one had looked after it.</p></main>",
     60000},
    {"options", "<select>", "<option>x", "", 500000},
    {"broken markup", "", "<p <b></i a='<\"x><table><p></table></p></div><!DOCTYPE><svg><p>", "",
     30000},
};

static void build(const struct evil *evil, struct buf *page)
{
    buf_init(page, LIMIT_PAGE_INPUT_BYTES);
    buf_puts(page, evil->before);
    const char *number = strstr(evil->repeated, "%zu");
    size_t head = number ? (size_t)(number - evil->repeated) : strlen(evil->repeated);
    for (size_t i = 0; i < evil->count / SLOWER; i++) {
        buf_append(page, evil->repeated, head);
        if (number) {
            buf_printf(page, "%zu%s", i, number + 3);
        }
    }
    buf_puts(page, evil->after);
    assert_int_equal(buf_error(page), OK);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(PAGES); i++) {
        struct buf page;
        build(&PAGES[i], &page);
        struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
        struct extract_input input = {
            .bytes = page.data, .length = page.length, .url = "https://example.org/"};
        struct extract_result result;
        double started = seconds();
        int status = extract_page(arena, &input, &result);
        double taken = seconds() - started;
        if (status != OK && status != ERR_INVALID) {
            fail_msg("%s: %s", PAGES[i].name, status_name(status));
        }
        if (status == OK && !text_is_utf8(result.markdown, result.length)) {
            fail_msg("%s: not UTF-8", PAGES[i].name);
        }
        if (taken > MOST_SECONDS * SLOWER) {
            fail_msg("%s: %.1f seconds", PAGES[i].name, taken);
        }
        arena_free(arena);
        buf_done(&page);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (SLOWER == 1 && usage.ru_maxrss > MOST_MEGABYTE * 1024L) {
        fail_msg("%ld kB of memory", usage.ru_maxrss);
    }
}

/* What is cut keeps its beginning and says so; what is only deep keeps everything. */
static void keeps_what_was_read(void **state)
{
    (void)state;
    static const struct evil LONG = {
        "", "<p>The beginning of it all, in a sentence of some length.", "<p>x", "", 200000};
    static const struct evil DEEP = {"", "<article><p>Above.</p>", "<div>",
                                     "<p>The end of it all, in a sentence of "
                                     "some length, and with commas, as people write.</p>",
                                     5000};
    const struct evil *const EVILS[] = {&LONG, &DEEP};
    static const char *const KEPT[] = {"The beginning", "The end"};
    for (size_t i = 0; i < COUNT(EVILS); i++) {
        struct buf page;
        build(EVILS[i], &page);
        struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
        struct extract_input input = {.bytes = page.data, .length = page.length};
        struct extract_result result;
        assert_int_equal(extract_page(arena, &input, &result), OK);
        assert_int_equal(result.cut, i == 0 && SLOWER == 1);
        assert_non_null(strstr(result.markdown, KEPT[i]));
        arena_free(arena);
        buf_done(&page);
    }
}

UNIT_TEST(evil_pages)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives),
        cmocka_unit_test(keeps_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
