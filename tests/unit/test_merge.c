/* Merging what several providers found: a table of lists with what comes of them, and random lists
 * against a model that is slow and obvious. */
#include "unit.h"

#include "arena_fixture.h"

#include "core/limits.h"
#include "core/status.h"
#include "websearch/merge.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_LISTS 10000
#define MOST_LISTS   6
#define MOST_HITS    30

/* ---- lists that are written down ---- */

struct list {
    const char *source, *index;
    size_t query;
    const char *links[6]; /* "link|title|snippet" */
};

/* A hit of "link|title|snippet"; what is missing is as hits_add() leaves it. */
static struct hit read_hit(const char *text)
{
    char *copy = arena_strdup(arena, text);
    char *title = strchr(copy, '|');
    char *snippet = title ? strchr(title + 1, '|') : NULL;
    if (title) {
        *title++ = '\0';
    }
    if (snippet) {
        *snippet++ = '\0';
    }
    return (struct hit){
        .link = copy, .title = title && *title ? title : copy, .snippet = snippet ? snippet : ""};
}

static size_t merge(const struct list *lists, size_t count, struct found **found)
{
    struct ranking rankings[MOST_LISTS] = {{0}};
    struct hits hits[MOST_LISTS] = {{0}};
    size_t found_count = 0;
    for (size_t i = 0; i < count; i++) {
        hits[i].items = arena_zalloc(arena, 6 * sizeof *hits[i].items);
        while (hits[i].count < 6 && lists[i].links[hits[i].count]) {
            hits[i].items[hits[i].count] = read_hit(lists[i].links[hits[i].count]);
            hits[i].count++;
        }
        rankings[i] =
            (struct ranking){hits[i].count ? &hits[i] : NULL, lists[i].source,
                             lists[i].index ? lists[i].index : lists[i].source, lists[i].query};
    }
    assert_int_equal(merge_rankings(arena, rankings, count, found, &found_count), OK);
    return found_count;
}

/* Each situation: lists, and the links that come of them, in order. */
static const struct {
    const char *what;
    struct list lists[4];
    const char *expected[10];
} SITUATIONS[] = {
    {"nobody found anything", {{"a", NULL, 0, {0}}}, {0}},
    {"one list stays as it is",
     {{"a", NULL, 0, {"https://x.example/", "https://y.example/", "https://z.example/"}}},
     {"https://x.example/", "https://y.example/", "https://z.example/"}},
    {"what two found is first",
     {{"a", NULL, 0, {"https://x.example/", "https://y.example/"}},
      {"b", NULL, 0, {"https://z.example/", "https://y.example/"}}},
     {"https://y.example/", "https://x.example/", "https://z.example/"}},
    {"what three found is before what two found",
     {{"a", NULL, 0, {"https://x.example/", "https://w.example/", "https://y.example/"}},
      {"b", NULL, 0, {"https://x.example/", "https://z.example/", "https://y.example/"}},
      {"c", NULL, 0, {"https://v.example/", "https://u.example/", "https://y.example/"}}},
     {"https://y.example/", "https://x.example/", "https://v.example/", "https://u.example/",
      "https://w.example/", "https://z.example/"}},
    {"two last places are more than one first place",
     {{"a", NULL, 0, {"https://x.example/", "https://y.example/", "https://z.example/"}},
      {"b", NULL, 0, {"https://v.example/", "https://w.example/", "https://z.example/"}}},
     {"https://z.example/", "https://v.example/", "https://x.example/", "https://w.example/",
      "https://y.example/"}},
    {"a tie goes to the address",
     {{"a", NULL, 0, {"https://y.example/"}}, {"b", NULL, 0, {"https://x.example/"}}},
     {"https://x.example/", "https://y.example/"}},
    {"a tie goes to the address without its scheme",
     {{"a", NULL, 0, {"http://y.example/"}}, {"b", NULL, 0, {"https://www.x.example/"}}},
     {"https://www.x.example/", "http://y.example/"}},
    {"the same by two ways round is a tie",
     {{"a", NULL, 0, {"https://y.example/", "https://x.example/"}},
      {"b", NULL, 0, {"https://x.example/", "https://y.example/"}}},
     {"https://x.example/", "https://y.example/"}},
    {"one index has one vote",
     {{"a", "bing", 0, {"https://x.example/", "https://y.example/"}},
      {"b", "bing", 0, {"https://x.example/", "https://z.example/"}},
      {"c", NULL, 0, {"https://w.example/", "https://y.example/"}}},
     {"https://y.example/", "https://w.example/", "https://x.example/", "https://z.example/"}},
    {"the better rank of one index is its vote",
     {{"a", "bing", 0, {"https://x.example/", "https://y.example/"}},
      {"b", "bing", 0, {"https://y.example/", "https://x.example/"}}},
     {"https://x.example/", "https://y.example/"}},
    {"a source is an index of its own",
     {{"bing", NULL, 0, {"https://x.example/"}},
      {"b", "bing", 0, {"https://x.example/"}},
      {"c", NULL, 0, {"https://y.example/"}},
      {"d", NULL, 0, {"https://y.example/"}}},
     {"https://y.example/", "https://x.example/"}},
    {"each query has votes of its own",
     {{"a", NULL, 0, {"https://x.example/", "https://y.example/"}},
      {"a", NULL, 1, {"https://z.example/", "https://y.example/"}}},
     {"https://y.example/", "https://x.example/", "https://z.example/"}},
    {"a list that is missing does not matter",
     {{"a", NULL, 0, {0}}, {"b", NULL, 0, {"https://x.example/"}}},
     {"https://x.example/"}},
    {"twins in one list are one, at the better rank",
     {{"a", NULL, 0, {"https://x.example/", "https://y.example/", "https://x.example/#part"}}},
     {"https://x.example/", "https://y.example/"}},
    {"twins by www",
     {{"a", NULL, 0, {"https://www.x.example/a"}}, {"b", NULL, 0, {"https://x.example/a"}}},
     {"https://www.x.example/a"}},
    {"twins by a slash",
     {{"a", NULL, 0, {"https://x.example/a/"}}, {"b", NULL, 0, {"https://x.example/a"}}},
     {"https://x.example/a/"}},
    {"twins by what tracks",
     {{"a", NULL, 0, {"https://x.example/a?utm_source=n"}},
      {"b", NULL, 0, {"https://x.example/a"}}},
     {"https://x.example/a?utm_source=n"}},
    {"twins by the scheme: the encrypted one is kept",
     {{"a", NULL, 0, {"http://x.example/a"}}, {"b", NULL, 0, {"https://x.example/a"}}},
     {"https://x.example/a"}},
    {"twins by the scheme, the other way round",
     {{"a", NULL, 0, {"https://x.example/a"}}, {"b", NULL, 0, {"http://x.example/a"}}},
     {"https://x.example/a"}},
    {"twins by the port and the case of the host",
     {{"a", NULL, 0, {"https://X.example:443/a"}}, {"b", NULL, 0, {"https://x.example/a"}}},
     {"https://X.example:443/a"}},
    {"other pages of one site are no twins",
     {{"a", NULL, 0, {"https://x.example/a?p=1"}}, {"b", NULL, 0, {"https://x.example/a?p=2"}}},
     {"https://x.example/a?p=1", "https://x.example/a?p=2"}},
    {"what is no address is its own",
     {{"a", NULL, 0, {"not a url", "https://x.example/"}}, {"b", NULL, 0, {"not a url"}}},
     {"not a url", "https://x.example/"}},
};

static void situations_have_their_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(SITUATIONS); i++) {
        struct found *found = NULL;
        size_t lists = 0, expected = 0;
        while (lists < 4 && SITUATIONS[i].lists[lists].source) {
            lists++;
        }
        while (SITUATIONS[i].expected[expected]) {
            expected++;
        }
        size_t count = merge(SITUATIONS[i].lists, lists, &found);
        if (count != expected) {
            fail_msg("%s: %zu instead of %zu", SITUATIONS[i].what, count, expected);
        }
        for (size_t j = 0; j < count; j++) {
            if (strcmp(found[j].hit.link, SITUATIONS[i].expected[j]) != 0) {
                fail_msg("%s: at %zu is %s", SITUATIONS[i].what, j, found[j].hit.link);
            }
        }
    }
}

static void the_best_of_twins_is_kept(void **state)
{
    (void)state;
    static const struct list LISTS[] = {
        {"a", NULL, 0, {"http://x.example/a|Short|A snippet that says more than the other does"}},
        {"b", NULL, 0, {"https://x.example/a|A longer title|Short"}},
        {"c", NULL, 0, {"https://x.example/a?utm_source=a-long-parameter-that-tracks-somebody"}},
    };
    struct found *found;
    assert_int_equal(merge(LISTS, COUNT(LISTS), &found), 1);
    assert_string_equal(found->hit.title, "A longer title"); /* an address is no title */
    assert_string_equal(found->hit.snippet, "A snippet that says more than the other does");
    assert_string_equal(found->hit.link, "https://x.example/a");
    assert_int_equal(found->votes, 3);
    assert_int_equal(found->best_rank, 1);
    assert_int_equal(found->fused, 3 * MERGE_VOTE(1));
}

static void results_know_who_found_them(void **state)
{
    (void)state;
    static const struct list LISTS[] = {
        {"a", NULL, 0, {"https://x.example/", "https://y.example/"}},
        {"a", NULL, 2, {"https://y.example/"}},
    };
    struct found *found;
    assert_int_equal(merge(LISTS, COUNT(LISTS), &found), 2);
    assert_int_equal(found[0].queries, 5);
    assert_int_equal(found[0].ranks[0], 2);
    assert_int_equal(found[0].ranks[1], 1);
    assert_int_equal(found[1].queries, 1);
    assert_int_equal(found[1].ranks[1], 0);
}

static void what_stands_deep_does_not_vote(void **state)
{
    (void)state;
    struct hits hits = {.items = arena_zalloc(arena, MOST_HITS * sizeof *hits.items),
                        .count = MOST_HITS};
    for (size_t i = 0; i < MOST_HITS; i++) {
        const char *link = arena_printf(arena, "https://x.example/%zu", i);
        hits.items[i] = (struct hit){.link = link, .title = link, .snippet = ""};
    }
    struct ranking ranking = {.hits = &hits, .source = "a", .index = "a"};
    struct found *found;
    size_t count;
    assert_int_equal(merge_rankings(arena, &ranking, 1, &found, &count), OK);
    assert_int_equal(count, MERGE_DEPTH);
}

/* ---- random lists against a model ---- */

static uint64_t seed = 88172645463325252u;

static unsigned random_below(unsigned most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % most);
}

/* An address of few, in one of its spellings. */
static const char *random_link(unsigned pages)
{
    static const char *const SPELLINGS[] = {
        "https://p%u.example/a",    "http://p%u.example/a",          "https://www.p%u.example/a",
        "https://p%u.example/a/#b", "https://p%u.example/a?gclid=1",
    };
    char link[80];
    const char *spelling = SPELLINGS[random_below(COUNT(SPELLINGS))];
    const char *place = strstr(spelling, "%u");
    snprintf(link, sizeof link, "%.*s%u%s", (int)(place - spelling), spelling, random_below(pages),
             place + 2);
    return arena_strdup(arena, link);
}

/* The score of an address by the words of the definition, one address at a time. */
struct modelled {
    const char *canonical;
    int64_t score;
    unsigned votes, best;
};

static struct modelled model_of(const struct ranking *rankings, size_t count, const char *canonical)
{
    struct modelled modelled = {.canonical = canonical, .best = 1000};
    for (size_t query = 0; query < 3; query++) {
        for (char index = 'a'; index < 'd'; index++) {
            unsigned best = 1000;
            for (size_t i = 0; i < count; i++) {
                if (rankings[i].query != query || rankings[i].index[0] != index) {
                    continue;
                }
                for (size_t rank = 0; rank < rankings[i].hits->count && rank < 20; rank++) {
                    const char *link = rankings[i].hits->items[rank].link;
                    if (strcmp(canonical_url(arena, link), canonical) == 0 && rank + 1 < best) {
                        best = (unsigned)rank + 1;
                    }
                }
            }
            if (best < 1000) {
                modelled.score += MERGE_UNIT / (60 + best);
                modelled.votes++;
                modelled.best = best < modelled.best ? best : modelled.best;
            }
        }
    }
    return modelled;
}

static bool is_before(const struct modelled *a, const struct modelled *b)
{
    return a->score != b->score   ? a->score > b->score
           : a->votes != b->votes ? a->votes > b->votes
           : a->best != b->best   ? a->best < b->best
                                  : strcmp(a->canonical, b->canonical) < 0;
}

static size_t model(const struct ranking *rankings, size_t count, struct modelled *all)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t rank = 0; rank < rankings[i].hits->count && rank < 20; rank++) {
            const char *canonical = canonical_url(arena, rankings[i].hits->items[rank].link);
            bool twice = false;
            for (size_t j = 0; j < known; j++) {
                twice |= strcmp(all[j].canonical, canonical) == 0;
            }
            if (!twice) {
                struct modelled one = model_of(rankings, count, canonical);
                size_t place = known++;
                for (; place > 0 && is_before(&one, &all[place - 1]); place--) {
                    all[place] = all[place - 1];
                }
                all[place] = one;
            }
        }
    }
    return known;
}

static void random_lists_are_merged_as_the_model_does(void **state)
{
    (void)state;
    static const char *const INDEXES[] = {"a", "b", "c"};
    static struct modelled expected[MOST_LISTS * MOST_HITS];
    for (size_t done = 0; done < RANDOM_LISTS;) {
        struct ranking rankings[MOST_LISTS];
        struct hits hits[MOST_LISTS];
        size_t count = 1 + random_below(MOST_LISTS);
        unsigned pages = 1 + random_below(12);
        arena_free(arena);
        arena = arena_new(MIB(16));
        for (size_t i = 0; i < count; i++) {
            /* Mostly short: the model looks at everything again and again. */
            hits[i].count = random_below(random_below(8) ? 8 : MOST_HITS);
            hits[i].items = arena_zalloc(arena, (hits[i].count + 1) * sizeof *hits[i].items);
            for (size_t j = 0; j < hits[i].count; j++) {
                const char *link = random_link(pages);
                hits[i].items[j] = (struct hit){.link = link, .title = link, .snippet = ""};
            }
            const char *index = INDEXES[random_below(3)];
            rankings[i] = (struct ranking){&hits[i], index, index, random_below(3)};
        }
        struct found *found;
        size_t found_count;
        assert_int_equal(merge_rankings(arena, rankings, count, &found, &found_count), OK);
        assert_int_equal(found_count, model(rankings, count, expected));
        for (size_t i = 0; i < found_count; i++) {
            assert_string_equal(found[i].canonical, expected[i].canonical);
            assert_int_equal(found[i].score, expected[i].score);
            assert_int_equal(found[i].votes, expected[i].votes);
            assert_int_equal(found[i].best_rank, expected[i].best);
        }
        done += count;
    }
}

UNIT_TEST(merge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(situations_have_their_lists, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(the_best_of_twins_is_kept, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(results_know_who_found_them, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(what_stands_deep_does_not_vote, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(random_lists_are_merged_as_the_model_does, make_arena,
                                        free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
