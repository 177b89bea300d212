/* Searching: what is pure in it - addresses, shares, dates, countries, snippets. */
#include "unit.h"

#include "arena_fixture.h"

#include "config/budget.h"
#include "core/limits.h"
#include "core/status.h"
#include "websearch/results.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* ---- addresses ---- */

static void one_page_has_one_spelling(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"https://example.org/", "http://example.org"},
        {"https://www.example.org/a", "https://example.org/a/"},
        {"https://EXAMPLE.org:443/a", "http://example.org:80/a"},
        {"https://example.org/a#part", "https://example.org/a"},
        {"https://example.org/a?utm_source=x&utm_medium=y", "https://example.org/a"},
        {"https://example.org/a?b=1&gclid=2&c=3", "https://example.org/a?b=1&c=3"},
        {"https://example.org/a?FBCLID=2", "https://example.org/a"},
        {"https://example.org/a?&b=1", "https://example.org/a?b=1"},
        {"https://example.org/%7Ea/./b/../c", "https://example.org/%7Ea/c"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "https://xn--bcher-kva.example/"},
        {"not a url", "not a url"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(canonical_url(arena, CASES[i][0]), canonical_url(arena, CASES[i][1]));
    }
}

static void other_pages_have_other_spellings(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"https://example.org/a", "https://example.org/A"},
        {"https://example.org/a", "https://example.org/b"},
        {"https://example.org/a?b=1", "https://example.org/a?b=2"},
        {"https://example.org/a?b=1&c=2", "https://example.org/a?b=1"},
        {"https://example.org:8080/", "https://example.org/"},
        {"https://m.example.org/", "https://example.org/"},
        {"https://example.org/#!/one", "https://example.org/#!/two"},
        {"https://example.org/a?utm=1", "https://example.org/a"},
        {"https://example.org/a?gclids=1", "https://example.org/a"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_not_equal(canonical_url(arena, CASES[i][0]),
                                canonical_url(arena, CASES[i][1]));
    }
}

/* ---- shares ---- */

/* What each of them gets by budget_share(). */
static void share_fairly(const size_t *needs, size_t count, size_t room, size_t *shares)
{
    size_t share = budget_share(needs, count, room);
    for (size_t i = 0; i < count; i++) {
        shares[i] = needs[i] < share ? needs[i] : share;
    }
}

static void a_room_is_shared_fairly(void **state)
{
    (void)state;
    static const struct {
        size_t needs[4], count, room, shares[4];
    } CASES[] = {
        {{10, 20, 30}, 3, 100, {10, 20, 30}},
        {{10, 200, 300}, 3, 110, {10, 50, 50}},
        {{300, 10, 200}, 3, 110, {50, 10, 50}},
        {{100, 100, 100, 100}, 4, 200, {50, 50, 50, 50}},
        {{10, 45, 200, 300}, 4, 155, {10, 45, 50, 50}},
        {{5, 5}, 2, 0, {0, 0}},
        {{0, 7}, 2, 7, {0, 7}},
        {{1000}, 1, 10, {10}},
        {{0}, 0, 10, {0}},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t shares[4] = {0};
        share_fairly(CASES[i].needs, CASES[i].count, CASES[i].room, shares);
        for (size_t j = 0; j < CASES[i].count; j++) {
            assert_int_equal(shares[j], CASES[i].shares[j]);
        }
    }
}

/* Whatever the needs: nobody gets more than he needs, nothing is given twice, nothing is wasted
 * while somebody wants it, and who wants more than another does not get less. */
static void shares_hold_their_promises(void **state)
{
    (void)state;
    unsigned number = 12345;
    for (int round = 0; round < 2000; round++) {
        size_t needs[20], shares[20], sum = 0, unmet = 0;
        size_t count = 1 + (number = number * 1103515245u + 12345u) % 20;
        for (size_t i = 0; i < count; i++) {
            number = number * 1103515245u + 12345u;
            needs[i] = number >> 8 & 0xFFF;
        }
        size_t room = (number = number * 1103515245u + 12345u) >> 8 & 0x7FFF;
        share_fairly(needs, count, room, shares);
        for (size_t i = 0; i < count; i++) {
            assert_true(shares[i] <= needs[i]);
            sum += shares[i];
            unmet += shares[i] < needs[i];
            for (size_t j = 0; j < count; j++) {
                assert_true(needs[i] < needs[j] || shares[i] >= shares[j]);
            }
        }
        assert_true(sum <= room);
        assert_true(!unmet || room - sum < count);
    }
}

/* ---- queries ---- */

static void sites_go_into_the_text(void **state)
{
    (void)state;
    struct search_query query = {.text = "fish"};
    assert_string_equal(query_with_sites(arena, &query), "fish");
    query.sites[query.site_count++] = "a.org";
    assert_string_equal(query_with_sites(arena, &query), "fish site:a.org");
    query.sites[query.site_count++] = "b.org";
    query.exclude_sites[query.exclude_site_count++] = "c.org";
    query.exclude_sites[query.exclude_site_count++] = "d.org";
    assert_string_equal(query_with_sites(arena, &query),
                        "fish (site:a.org OR site:b.org) -site:c.org -site:d.org");
}

static void sites_are_held_to(void **state)
{
    (void)state;
    struct search_query query = {.text = "fish"};
    assert_true(query_allows(arena, &query, "anything"));
    query.sites[query.site_count++] = "a.org";
    query.exclude_sites[query.exclude_site_count++] = "bad.a.org";
    static const struct {
        const char *link;
        bool allowed;
    } CASES[] = {
        {"https://a.org/", true},
        {"https://www.A.ORG/x", true},
        {"https://docs.a.org/", true},
        {"https://ba.org/", false},
        {"https://a.org.evil.example/", false},
        {"https://bad.a.org/", false},
        {"https://very.bad.a.org/", false},
        {"nonsense", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(query_allows(arena, &query, CASES[i].link), CASES[i].allowed);
    }
}

static void long_texts_are_cut_at_a_blank(void **state)
{
    (void)state;
    bool cut;
    assert_string_equal(query_clip(arena, "one two", 7, &cut), "one two");
    assert_false(cut);
    assert_string_equal(query_clip(arena, "one two three", 9, &cut), "one two");
    assert_true(cut);
    assert_string_equal(query_clip(arena, "onetwothree", 5, &cut), "onetw");
    assert_string_equal(query_clip(arena, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 2, &cut),
                        "\xc3\xa4\xc3\xb6");
}

static void dates_are_dates_of_the_calendar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } CASES[] = {
        {"2026-01-31", true},  {"2024-02-29", true},  {"2000-02-29", true},  {"2026-02-29", false},
        {"1900-02-29", false}, {"2026-13-01", false}, {"2026-00-10", false}, {"2026-04-31", false},
        {"2026-01-00", false}, {"2026-1-1", false},   {"26-01-01", false},   {"2026-01-01T", false},
        {"2026/01/01", false}, {"", false},           {"1899-12-31", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(query_is_date(CASES[i].text), CASES[i].valid);
    }
    assert_true(query_is_date(query_days_ago(arena, 0)));
    assert_true(strcmp(query_days_ago(arena, 7), query_days_ago(arena, 0)) < 0);
}

static void countries_have_codes(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {{"US", "US"}, {"us", "US"}, {"uk", "GB"},  {"De", "DE"},
                                           {"XX", NULL}, {"u", NULL},  {"USA", NULL}, {"", NULL}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *code = country_code(arena, CASES[i][0]);
        if (CASES[i][1]) {
            assert_string_equal(code, CASES[i][1]);
        } else {
            assert_null(code);
        }
    }
    assert_string_equal(country_for_tavily(arena, "GB"), "united kingdom");
    assert_string_equal(country_for_tavily(arena, "US"), "united states");
    assert_null(country_for_tavily(arena, "AQ"));
    assert_null(country_for_tavily(arena, "??"));
}

/* ---- snippets ---- */

static void decorations_are_taken_off(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"plain", "plain"},
        {"<strong>bold</strong> and <B>bold</B>", "bold and bold"},
        {"a<br/>b", "ab"},
        {"<span class=\"x\">y</span>", "y"},
        {"vector<int> a < b", "vector<int> a < b"},
        {"<strong", "<strong"},
        {"Tom &amp; Jerry&#39;s &#x27;x&#X27; &quot;y&quot; &lt;z&gt;",
         "Tom & Jerry's 'x' \"y\" <z>"},
        {"&eacute; & &; &#; &#x; &#0; &#xD800; &#99999999;",
         "&eacute; & &; &#; &#x; &#0; &#xD800; &#99999999;"},
        {"&#228;&#x20AC;&#x1F600;", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(plain_text(arena, CASES[i][0]), CASES[i][1]);
    }
    assert_null(plain_text(arena, NULL));
}

UNIT_TEST(search)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_page_has_one_spelling),
        cmocka_unit_test(other_pages_have_other_spellings),
        cmocka_unit_test(a_room_is_shared_fairly),
        cmocka_unit_test(shares_hold_their_promises),
        cmocka_unit_test(sites_go_into_the_text),
        cmocka_unit_test(sites_are_held_to),
        cmocka_unit_test(long_texts_are_cut_at_a_blank),
        cmocka_unit_test(dates_are_dates_of_the_calendar),
        cmocka_unit_test(countries_have_codes),
        cmocka_unit_test(decorations_are_taken_off),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
