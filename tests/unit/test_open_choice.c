/* Which open sources a search goes to: a table of searches, and the first of each list. */
#include "unit.h"

#include "websearch/open/choose.h"

#include <string.h>

#define SHOWN 4

static const struct {
    const char *text;
    const char *language;
    enum search_type type;
    const char *first[SHOWN]; /* of the list; a NULL ends what is compared */
} CASES[] = {
    /* The web, as it comes. */
    {"best hiking boots 2026", NULL, SEARCH_WEB, {"keenable", "parallel", "you", "wikipedia"}},
    {"how to boil an egg", NULL, SEARCH_WEB, {"keenable", "parallel", "you", "wikipedia"}},
    {"rust borrow checker", NULL, SEARCH_WEB, {"keenable", "parallel", "you"}},
    {"", NULL, SEARCH_WEB, {"keenable", "parallel", "you"}},
    /* Persons and things. */
    {"Marie Curie", NULL, SEARCH_WEB, {"wikipedia", "keenable", "parallel", "you"}},
    {"Ludwig van Beethoven", NULL, SEARCH_WEB, {"wikipedia", "keenable"}},
    {"who was the first person on the moon", NULL, SEARCH_WEB, {"wikipedia", "keenable"}},
    {"what is a monad", NULL, SEARCH_WEB, {"wikipedia", "keenable"}},
    {"Wer ist Angela Merkel", NULL, SEARCH_WEB, {"wikipedia", "keenable"}},
    {"Paris", NULL, SEARCH_WEB, {"keenable", "parallel"}}, /* one word may be anything */
    {"The Quick Brown Fox Jumps", NULL, SEARCH_WEB, {"keenable", "parallel"}},
    {"Python Django Tutorial", NULL, SEARCH_WEB, {"keenable", "parallel"}},
    /* Errors and code. */
    {"TypeError: undefined is not a function", NULL, SEARCH_WEB, {"stackexchange", "keenable"}},
    {"ld: undefined reference to main", NULL, SEARCH_WEB, {"stackexchange", "keenable"}},
    {"Segmentation fault (core dumped)", NULL, SEARCH_WEB, {"stackexchange", "keenable"}},
    {"error: cannot borrow x as mutable", NULL, SEARCH_WEB, {"stackexchange", "keenable"}},
    {"how to reverse a list in python", NULL, SEARCH_WEB, {"stackexchange", "keenable"}},
    {"python release notes", NULL, SEARCH_WEB, {"keenable", "parallel"}},
    {"css grid gap", NULL, SEARCH_WEB, {"mdn", "keenable"}},
    /* Packages. */
    {"npm left-pad", NULL, SEARCH_WEB, {"npm", "keenable"}},
    {"cargo add serde", NULL, SEARCH_WEB, {"crates", "keenable"}},
    {"tokio crate", NULL, SEARCH_WEB, {"crates", "keenable"}},
    /* Papers. */
    {"10.1038/nature14539", NULL, SEARCH_WEB, {"crossref", "openalex", "keenable"}},
    {"https://doi.org/10.1145/3292500.3330701", NULL, SEARCH_WEB, {"crossref", "openalex"}},
    {"version 10.15 of macOS", NULL, SEARCH_WEB, {"keenable"}},
    {"arXiv:1706.03762", NULL, SEARCH_WEB, {"arxiv", "keenable"}},
    {"1706.03762", NULL, SEARCH_SCHOLAR, {"arxiv", "crossref"}},
    {"10.1038/nature14539", NULL, SEARCH_SCHOLAR, {"crossref", "openalex", "semantic-scholar"}},
    {"deep learning",
     NULL,
     SEARCH_SCHOLAR,
     {"crossref", "semantic-scholar", "arxiv", "europe-pmc"}},
    /* Languages. */
    {"bester wanderweg", "de", SEARCH_WEB, {"keenable", "parallel", "wikipedia", "you"}},
    {"лучшие книги", NULL, SEARCH_WEB, {"keenable", "parallel", "wikipedia", "you"}},
    {"東京 天気", NULL, SEARCH_WEB, {"keenable", "parallel", "wikipedia", "you"}},
    {"curly “quotes” — and dashes", NULL, SEARCH_WEB, {"keenable", "parallel", "you"}},
    {"café in paris", "en-GB", SEARCH_WEB, {"keenable", "parallel", "you"}},
    /* News. */
    {"election results", NULL, SEARCH_NEWS, {"gdelt", "bing-news", "google-news", "hackernews"}},
    {"postgresql release", NULL, SEARCH_NEWS, {"hackernews", "gdelt"}},
    {"wahl", "de", SEARCH_NEWS, {"gdelt", "bing-news", "google-news"}},
    /* Images. */
    {"red panda", NULL, SEARCH_IMAGES, {"openverse", "commons"}},
    /* Code. */
    {"http client", NULL, SEARCH_CODE, {"grep-app", "sourcegraph", "github", "stackexchange"}},
    {"std::vector::emplace_back()", NULL, SEARCH_CODE, {"grep-app", "sourcegraph", "github"}},
    {"fatal error: stdio.h: No such file", NULL, SEARCH_CODE, {"stackexchange", "github-issues"}},
    {"how to center a div with css", NULL, SEARCH_CODE, {"mdn", "stackexchange", "grep-app"}},
    {"npm express", NULL, SEARCH_CODE, {"npm", "grep-app"}},
};

static void searches_find_their_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = CASES[i].text, .language = CASES[i].language, .type = CASES[i].type};
        struct source_choice choices[LIMIT_SEARCH_PROVIDERS];
        size_t count = choose_sources(&query, choices);
        for (size_t j = 0; j < SHOWN && CASES[i].first[j]; j++) {
            if (j >= count || strcmp(choices[j].name, CASES[i].first[j]) != 0) {
                fail_msg("\"%s\": at %zu is %s and not %s", CASES[i].text, j,
                         j < count ? choices[j].name : "nothing", CASES[i].first[j]);
            }
        }
    }
}

static bool is_among(const char *text, const char *language, enum search_type type,
                     const char *name)
{
    struct search_query query = {.text = text, .language = language, .type = type};
    struct source_choice choices[LIMIT_SEARCH_PROVIDERS];
    size_t count = choose_sources(&query, choices);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(choices[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void no_search_goes_everywhere(void **state)
{
    (void)state;
    assert_false(is_among("boots", NULL, SEARCH_WEB, "stackexchange"));
    assert_false(is_among("boots", NULL, SEARCH_WEB, "crossref"));
    assert_false(is_among("boots", "de", SEARCH_WEB, "marginalia"));
    assert_true(is_among("boots", NULL, SEARCH_WEB, "marginalia"));
    assert_false(is_among("wahl", "de", SEARCH_NEWS, "hackernews"));
    assert_false(is_among("boots", NULL, SEARCH_IMAGES, "wikipedia"));
}

/* DuckDuckGo has no interface for programs: it is asked when all others failed. */
static void the_last_resort_is_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {.text = CASES[i].text, .type = SEARCH_WEB};
        struct source_choice choices[LIMIT_SEARCH_PROVIDERS];
        size_t count = choose_sources(&query, choices);
        assert_string_equal(choices[count - 1].name, "duckduckgo");
        for (size_t j = 0; j < count; j++) {
            for (size_t k = 0; k < j; k++) {
                assert_string_not_equal(choices[j].name, choices[k].name);
            }
        }
    }
}

static void a_source_of_another_type_is_asked_for_its_own(void **state)
{
    (void)state;
    struct search_query query = {.text = "10.1038/nature14539", .type = SEARCH_WEB};
    struct source_choice choices[LIMIT_SEARCH_PROVIDERS];
    assert_true(choose_sources(&query, choices) > 2);
    assert_int_equal(choices[0].type, SEARCH_SCHOLAR);
    assert_int_equal(choices[2].type, SEARCH_WEB);
}

UNIT_TEST(open_choice)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_find_their_sources),
        cmocka_unit_test(no_search_goes_everywhere),
        cmocka_unit_test(the_last_resort_is_last),
        cmocka_unit_test(a_source_of_another_type_is_asked_for_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
