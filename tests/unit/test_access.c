/* Walls: sign-ins, paywalls and questions about cookies are called what they are, and no page that
 * has its text is. The pages are in data/access_cases.txt. */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/extract.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

/* Sentences that differ, each of some 17 words. */
static void put_sentences(struct buf *out, int first, int count)
{
    static const char *const WHO[] = {"The keeper", "Her brother", "An old boatman", "The miller"};
    static const char *const WHAT[] = {
        "opened the upper gate before the rain", "wrote the level of the river into a book",
        "walked to the ladder and counted the fish", "painted the lower marks in red and white"};
    for (int i = first; i < first + count; i++) {
        buf_printf(out, "<p>%s %s on day %d, and nobody on the other bank knew why.</p>",
                   WHO[i % 4], WHAT[i / 4 % 4], i + 1);
    }
}

static const struct {
    const char *name;
    int first, count;
} TEXTS[] = {{"{article}", 0, 40}, {"{story}", 0, 12}, {"{lead}", 20, 3}};

static const char NAV[] =
    "<nav><ul><li><a href='/a'>Start</a></li><li><a href='/b'>Tours</a></li><li><a "
    "href='/c'>Maps</a></li><li><a href='/d'>Contact</a></li></ul></nav>";

/* The page with its texts in the places of their names. */
static void put_page(struct buf *out, const char *from, const char *end)
{
    while (from < end) {
        size_t i = 0;
        while (i < COUNT(TEXTS) && strncmp(from, TEXTS[i].name, strlen(TEXTS[i].name)) != 0) {
            i++;
        }
        if (i < COUNT(TEXTS)) {
            put_sentences(out, TEXTS[i].first, TEXTS[i].count);
            from += strlen(TEXTS[i].name);
        } else if (strncmp(from, "{nav}", 5) == 0) {
            buf_puts(out, NAV);
            from += 5;
        } else {
            buf_putc(out, *from++);
        }
    }
}

/* ---- the cases ---- */

static char *read_cases(void)
{
    FILE *file = fopen(UNIT_DATA "/access_cases.txt", "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 16) - 1, file);
    assert_true(length > 0 && length < (1 << 16) - 1);
    fclose(file);
    return text;
}

static bool check_case(const char *wall, const char *name, const char *from, const char *end)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct buf html;
    struct extract_result page;
    buf_init(&html, MIB(1));
    put_page(&html, from, end);
    struct extract_input input = {
        .bytes = html.data, .length = html.length, .url = "https://example.org/page"};
    assert_int_equal(extract_page(arena, &input, &page), OK);
    const char *found = page.access ? page.access : "none";
    bool right = strcmp(found, wall) == 0;
    if (!right) {
        print_error("%s: %s is called %s\n", wall, name, found);
    }
    buf_done(&html);
    arena_free(arena);
    return right;
}

static void names_walls(void **state)
{
    (void)state;
    char *text = read_cases();
    size_t wrong = 0, walls = 0, count = 0;
    for (char *at = strstr(text, "\n=== "); at;) {
        char *wall = at + 5;
        char *name = strstr(wall, ": ") + 2;
        char *from = strchr(name, '\n');
        char *next = strstr(from, "\n=== ");
        name[-2] = from[0] = '\0';
        wrong += !check_case(wall, name, from + 1, next ? next : from + 1 + strlen(from + 1));
        walls += strcmp(wall, "none") != 0;
        count++;
        at = next;
    }
    free(text);
    assert_true(walls >= 36 && count - walls >= 36);
    assert_int_equal(wrong, 0);
}

UNIT_TEST(access)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_walls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
