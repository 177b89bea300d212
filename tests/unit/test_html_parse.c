/* Bytes to a tree: elements of one name are alike in all pages. */
#include "core/limits.h"
#include "core/status.h"
#include "page/html/choose/stats.h"
#include "page/html/parse.h"
#include "unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_unknown_names_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
