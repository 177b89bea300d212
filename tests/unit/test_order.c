/* The order of a merged list: what each rule does by itself, and what all of them do to lists in
 * the shapes in which sources answer, whose good results are known. */
#include "unit.h"

#include "arena_fixture.h"

#include "core/limits.h"
#include "core/status.h"
#include "websearch/order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALL (ORDER_VOTES | ORDER_WORDS | ORDER_COPIES)

struct page {
    const char *link, *title, *snippet;
    bool good; /* it answers the query */
};

#define LISTS 3
#define PAGES 6

struct case_of {
    const char *query;
    struct page lists[LISTS][PAGES];
};

/* Merges and orders; who is good is asked of the lists by the address. */
static size_t order_by(const struct case_of *one, const struct order *by, struct found **found)
{
    static const char *const SOURCES[LISTS] = {"one", "two", "three"};
    struct hits hits[LISTS] = {{0}};
    struct ranking rankings[LISTS];
    size_t count;
    for (size_t i = 0; i < LISTS; i++) {
        hits[i].items = arena_zalloc(arena, PAGES * sizeof *hits[i].items);
        for (; hits[i].count < PAGES && one->lists[i][hits[i].count].link; hits[i].count++) {
            const struct page *page = &one->lists[i][hits[i].count];
            hits[i].items[hits[i].count] =
                (struct hit){.link = page->link, .title = page->title, .snippet = page->snippet};
        }
        rankings[i] = (struct ranking){&hits[i], SOURCES[i], SOURCES[i], 0};
    }
    assert_int_equal(merge_rankings(arena, rankings, LISTS, found, &count), OK);
    assert_int_equal(order_found(arena, &one->query, 1, by, *found, count), OK);
    return count;
}

static size_t order(const struct case_of *one, unsigned rules, struct found **found)
{
    return order_by(one, &(struct order){rules, 25}, found);
}

static void expect(const struct case_of *one, unsigned rules, const char *const *links)
{
    struct found *found;
    size_t count = order(one, rules, &found);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(links[i]);
        assert_string_equal(found[i].hit.link, links[i]);
    }
    assert_null(links[count]);
}

static const struct case_of SEVERAL = {
    "boots",
    {{{"https://a.example/", "A", "", false}, {"https://b.example/", "B", "", false}},
     {{"https://c.example/", "C", "", false}, {"https://b.example/", "B", "", false}}}};

static void what_several_found_is_first(void **state)
{
    (void)state;
    expect(
        &SEVERAL, ORDER_VOTES,
        (const char *[]){"https://b.example/", "https://a.example/", "https://c.example/", NULL});
    expect(
        &SEVERAL, 0,
        (const char *[]){"https://a.example/", "https://c.example/", "https://b.example/", NULL});
}

static const struct case_of WORDS = {
    "sqlite write-ahead log checkpoint starvation",
    {{{"https://a.example/", "SQLite", "A database in a file", false},
      {"https://b.example/", "SQLite log", "All about the log of SQLite", false},
      {"https://c.example/", "Checkpoint starvation in SQLite",
       "Readers that never end keep a checkpoint of the write-ahead log from ending: starvation",
       true}}}};

static void rare_words_raise_a_result(void **state)
{
    (void)state;
    expect(
        &WORDS, ORDER_WORDS,
        (const char *[]){"https://c.example/", "https://b.example/", "https://a.example/", NULL});
    expect(
        &WORDS, ORDER_VOTES,
        (const char *[]){"https://a.example/", "https://b.example/", "https://c.example/", NULL});
    struct found *found;
    assert_int_equal(order(&WORDS, ORDER_WORDS, &found), 3);
    assert_true(found[0].words > found[1].words && found[1].words > found[2].words);
    assert_true(found[0].words <= MERGE_VOTE(1) / 4);
}

/* Twice the weight adds twice as much, and none nothing. */
static void the_weight_of_words_can_be_set(void **state)
{
    (void)state;
    struct found *found;
    order_by(&WORDS, &(struct order){ORDER_WORDS, 25}, &found);
    int64_t once = found[0].words;
    order_by(&WORDS, &(struct order){ORDER_WORDS, 50}, &found);
    assert_string_equal(found[0].hit.link, "https://c.example/");
    assert_in_range(found[0].words, 2 * once, 2 * once + 1);
    order_by(&WORDS, &(struct order){ORDER_WORDS, 0}, &found);
    assert_string_equal(found[0].hit.link, "https://a.example/");
    assert_int_equal(found[2].words, 0);
}

/* A word that every result has tells nothing about any of them, whatever script it is of. */
static void words_of_other_scripts_count(void **state)
{
    (void)state;
    static const struct case_of OTHER = {
        "東京 天気",
        {{{"https://a.example/", "東京", "首都", false},
          {"https://b.example/", "東京の天気", "今日の東京の天気", true}}}};
    expect(&OTHER, ORDER_WORDS, (const char *[]){"https://b.example/", "https://a.example/", NULL});
}

#define STORY                                                                                      \
    "The council of the town agreed on Monday to build a bridge for bicycles over the river"

static void copies_go_behind_the_others(void **state)
{
    (void)state;
    static const struct case_of COPIES = {
        "bridge",
        {{{"https://a.example/", "Town builds a bridge", STORY, true},
          {"https://b.example/", "Town builds a bridge", STORY ".", false},
          {"https://c.example/", "Bridge (structure)", "A structure over an obstacle", true},
          {"https://d.example/", "Bridge", "Bridge", false},
          {"https://e.example/", "Bridge", "Bridge", false}}}};
    expect(&COPIES, ORDER_COPIES,
           (const char *[]){"https://a.example/", "https://c.example/", "https://d.example/",
                            "https://e.example/", "https://b.example/", NULL});
    struct found *found;
    assert_int_equal(order(&COPIES, ORDER_COPIES, &found), 5);
    assert_string_equal(found[4].copies, "https://a.example/");
    assert_null(found[3].copies); /* too few words to say */
}

/* Another query's results: none of them repeats a word, so that those that do stand above. */
static void results_of_another_query_sink(void **state)
{
    (void)state;
    static const struct case_of LIE = {
        "tomato blight treatment",
        {{{"https://casino.example/1", "Play now", "Win big with slots", false},
          {"https://casino.example/2", "Bonus", "Free spins", false}},
         {{"https://x.example/", "Tomato blight", "Treatment of tomato blight", true},
          {"https://y.example/", "Blight of tomatoes", "How treatment of blight works", true}}}};
    struct found *found;
    assert_int_equal(order(&LIE, ALL, &found), 4);
    assert_string_equal(found[0].hit.link, "https://x.example/");
    assert_string_equal(found[1].hit.link, "https://y.example/");
}

static void nothing_is_ordered(void **state)
{
    (void)state;
    static const struct case_of NOTHING = {"", {{{0}}}};
    struct found *found;
    assert_int_equal(order(&NOTHING, ALL, &found), 0);
}

/* ---- how good it is, on lists in the shapes of sources ---- */

/* Titles and snippets as an index of the web, a model's search and an encyclopedia write them. */
static const struct case_of SHAPES[] = {
    {"rust borrow checker",
     {{{"https://steel.example/rust", "How to remove rust",
        "Rust on steel and iron: vinegar, baking soda", false},
       {"https://doc.rust-lang.example/book/ch04", "References and Borrowing",
        "The rules of references: at any given time, either one mutable reference or any number of "
        "immutable ones; the borrow checker",
        true},
       {"https://news.example/rust-2026", "Rust 2026 is here", "What is new in the language",
        false}},
      {{"https://blog.example/borrowck", "Understanding the Rust borrow checker",
        "Why the borrow checker of Rust rejects your code, and what to do about it", true},
       {"https://doc.rust-lang.example/book/ch04",
        "References and Borrowing - The Rust Programming Language", "borrow checker", true}},
      {{"https://en.wikipedia.example/wiki/Rust", "Rust", "Rust is an iron oxide", false},
       {"https://en.wikipedia.example/wiki/Rust_(programming_language)",
        "Rust (programming language)", "Its borrow checker tracks the lifetime of references",
        true}}}},
    {"postgres vacuum full vs vacuum",
     {{{"https://cleaners.example/", "Best vacuum cleaners of 2026", "We tested 30 vacuum cleaners",
        false},
       {"https://pg.example/vacuum", "PostgreSQL: VACUUM",
        "VACUUM reclaims storage; VACUUM FULL writes the whole table anew", true}},
      {{"https://pg.example/vacuum", "VACUUM", "VACUUM FULL and plain VACUUM in Postgres compared",
        true},
       {"https://dba.example/q/1", "VACUUM FULL vs VACUUM in postgres", "When to use VACUUM FULL",
        true}},
      {{"https://en.wikipedia.example/wiki/Vacuum", "Vacuum", "A vacuum is space devoid of matter",
        false}}}},
    {"moon landing 1969 astronauts",
     {{{"https://en.wikipedia.example/wiki/Apollo_11", "Apollo 11",
        "In 1969 the astronauts Armstrong and Aldrin made the first landing on the Moon", true},
       {"https://hoax.example/", "Was it faked?", "The truth", false}},
      {{"https://nasa.example/apollo11", "July 20, 1969: One Giant Leap",
        "The astronauts of Apollo 11 and the landing on the moon", true},
       {"https://copy.example/apollo11", "July 20, 1969: One Giant Leap",
        "The astronauts of Apollo 11 and the landing on the moon", false}},
      {{"https://en.wikipedia.example/wiki/Apollo_11", "Apollo 11", "American spaceflight", true},
       {"https://en.wikipedia.example/wiki/Moon", "Moon", "The natural satellite of the Earth",
        false}}}},
    {"python asyncio gather exception handling",
     {{{"https://zoo.example/python", "Python", "A snake; handling of pythons", false},
       {"https://docs.example/asyncio-task", "Coroutines and Tasks",
        "asyncio.gather: if return_exceptions is true, exceptions are results", true}},
      {{"https://so.example/q/30361824", "asyncio gather exception handling in Python",
        "How to handle an exception in gather", true},
       {"https://docs.example/asyncio-task", "Coroutines and Tasks - Python documentation",
        "gather", true}},
      {{"https://jobs.example/", "Python jobs", "Apply now", false}}}},
    {"river bridge for bicycles agreed",
     {{{"https://paper.example/bridge", "Bridge for bicycles agreed", STORY, true},
       {"https://agency.example/bridge", "Bridge for bicycles agreed", STORY, false}},
      {{"https://mirror.example/bridge", "Bridge for bicycles agreed", STORY " .", false},
       {"https://town.example/minutes", "Minutes of Monday", "The bridge was agreed on", true}},
      {{"https://blog.example/bikes", "Bicycles", "A river runs through it", true}}}},
    {"tokyo olympics 1964 mascot",
     {{{"https://shop.example/mascot", "Mascot costumes", "Order a mascot", false},
       {"https://olympics.example/tokyo-1964", "Tokyo 1964",
        "The Olympics of 1964 had no mascot: the first came in 1968", true}},
      {{"https://en.wikipedia.example/wiki/1964_Summer_Olympics", "1964 Summer Olympics",
        "Held in Tokyo", true},
       {"https://olympics.example/tokyo-1964", "Tokyo 1964 Olympics", "Mascot", true}},
      {{"https://en.wikipedia.example/wiki/Tokyo", "Tokyo", "Capital of Japan", false},
       {"https://en.wikipedia.example/wiki/Olympic_mascot", "Olympic mascot",
        "List of mascots of the Olympics, from 1968", true}}}},
};

static bool is_good(const struct case_of *one, const char *link)
{
    for (size_t i = 0; i < LISTS; i++) {
        for (size_t j = 0; j < PAGES && one->lists[i][j].link; j++) {
            if (strcmp(one->lists[i][j].link, link) == 0) {
                return one->lists[i][j].good;
            }
        }
    }
    return false;
}

/* Normalised discounted cumulative gain: 1 when all good results stand above all others. */
static double goodness(unsigned rules)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        struct found *found;
        size_t count = order(&SHAPES[i], rules, &found);
        double gain = 0, most = 0;
        size_t good = 0;
        for (size_t j = 0; j < count; j++) {
            double worth = 1 / log2((double)j + 2);
            if (is_good(&SHAPES[i], found[j].hit.link)) {
                gain += worth;
                most += 1 / log2((double)good++ + 2);
            }
        }
        sum += gain / most;
    }
    return sum / COUNT(SHAPES);
}

static void each_rule_makes_the_order_better(void **state)
{
    (void)state;
    double none = goodness(0);
    double votes = goodness(ORDER_VOTES);
    double words = goodness(ORDER_VOTES | ORDER_WORDS);
    double all = goodness(ALL);
    print_message("none %.3f, votes %.3f, votes and words %.3f, all %.3f\n", none, votes, words,
                  all);
    assert_true(none < votes && votes < words && words < all);
}

UNIT_TEST(order)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_several_found_is_first, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(rare_words_raise_a_result, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(the_weight_of_words_can_be_set, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(words_of_other_scripts_count, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(copies_go_behind_the_others, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(results_of_another_query_sink, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(nothing_is_ordered, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(each_rule_makes_the_order_better, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
