/* The index over words: what is found, in which order, and what is not any more; symbols
 * below it. */
#include "core/status.h"
#include "index/index.h"
#include "index/symbols.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct index *index_under_test;
static struct arena *arena;

static int start(void **state)
{
    (void)state;
    index_under_test = index_new();
    arena = arena_new((size_t)64 << 20);
    return index_under_test && arena ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    index_free(index_under_test);
    arena_free(arena);
    return 0;
}

static void put(int64_t id, const char *text)
{
    struct index_entry entry = {.id = id, .summary = "", .text = text};
    assert_int_equal(index_put(index_under_test, &entry), OK);
}

/* The ids of the hits, with spaces between them. */
static const char *search_with(const char *query, const struct index_filter *filter, size_t limit,
                               size_t offset)
{
    static char ids[512];
    struct index_found found;
    size_t length = 0;
    ids[0] = '\0';
    assert_int_equal(index_settle(index_under_test), OK);
    assert_int_equal(index_search(index_under_test, arena, query, filter, limit, offset, &found),
                     OK);
    for (size_t i = 0; i < found.count; i++) {
        assert_true(found.hits[i].relevance >= 0 && found.hits[i].relevance <= 1);
        assert_true(i == 0 || found.hits[i].relevance <= found.hits[i - 1].relevance);
        length += (size_t)snprintf(ids + length, sizeof ids - length, "%s%lld", i ? " " : "",
                                   (long long)found.hits[i].id);
    }
    return ids;
}

static const char *search(const char *query)
{
    return search_with(query, &(struct index_filter){0}, 10, 0);
}

static void finds_and_ranks(void **state)
{
    (void)state;
    put(1, "The database of the Atlas project is PostgreSQL");
    put(2, "We had lunch by the lake");
    put(3, "Atlas has a database with many connections, a large database");
    put(4, "Nobody knows when the train comes");
    assert_string_equal(search("database connections"), "3 1");
    assert_string_equal(search("connecting databases"), "3 1");
    assert_string_equal(search("lunch"), "2");
    assert_string_equal(search("zebra"), "");
    assert_string_equal(search(""), "");
    assert_string_equal(search("the"), "1 4 2"); /* nothing else was asked for */
    assert_string_equal(search_with("database", &(struct index_filter){0}, 1, 1), "1");
    assert_string_equal(search_with("database", &(struct index_filter){0}, 5, 7), "");
}

static void replaces_and_removes(void **state)
{
    (void)state;
    put(1, "apples");
    put(2, "pears");
    put(1, "cherries");
    assert_int_equal(index_count(index_under_test), 2);
    assert_string_equal(search("apples"), "");
    assert_string_equal(search("cherries"), "1");
    index_remove(index_under_test, 1);
    index_remove(index_under_test, 1);
    index_remove(index_under_test, 99);
    assert_int_equal(index_count(index_under_test), 1);
    assert_string_equal(search("cherries pears"), "2");
    put(1, "apples again");
    assert_string_equal(search("apple"), "1");
}

/* From some number of memories on scores come from tables, to the last bit the same: with each
 * memory they change by as little as the statistics do. */
static void scores_do_not_jump(void **state)
{
    (void)state;
    char text[64];
    double before = 0;
    put(1, "apples and common things");
    for (int i = 2; i <= 600; i++) {
        snprintf(text, sizeof text, "common item%d", i);
        put(i, text);
        struct index_found found;
        struct index_filter all = {0};
        if (i < 450) {
            continue;
        }
        assert_int_equal(index_settle(index_under_test), OK);
        assert_int_equal(index_search(index_under_test, arena, "apples", &all, 10, 0, &found), OK);
        assert_int_equal(found.total, 1);
        assert_true(i == 450 ||
                    (found.hits[0].score > 0.999 * before && found.hits[0].score < 1.001 * before));
        before = found.hits[0].score;
    }
}

/* So many replacements that the lists are written anew; nothing may get lost or come back. */
static void compacts(void **state)
{
    (void)state;
    char text[64];
    for (int round = 0; round < 5; round++) {
        for (int i = 1; i <= 1000; i++) {
            snprintf(text, sizeof text, "common round%d item%d", round, i);
            struct index_entry entry = {
                .id = i, .summary = "", .text = text, .session = "s", .place = i, .role = "user"};
            const char *const tags[] = {i % 2 ? "odd" : "even"};
            entry.tags = tags;
            entry.tag_count = 1;
            assert_int_equal(index_put(index_under_test, &entry), OK);
        }
    }
    assert_int_equal(index_settle(index_under_test), OK);
    struct index_found found;
    struct index_filter all = {0};
    const char *odd[] = {"odd"};
    struct index_filter odd_only = {.tags = odd, .tag_count = 1};
    assert_int_equal(index_count(index_under_test), 1000);
    assert_int_equal(index_search(index_under_test, arena, "round3", &all, 10, 0, &found), OK);
    assert_int_equal(found.total, 0);
    assert_int_equal(index_search(index_under_test, arena, "common", &all, 10, 0, &found), OK);
    assert_int_equal(found.total, 1000);
    assert_int_equal(index_search(index_under_test, arena, "common", &odd_only, 10, 0, &found), OK);
    assert_int_equal(found.total, 500);
    assert_int_equal(index_search(index_under_test, arena, "item77", &all, 1, 0, &found), OK);
    assert_int_equal(found.hits[0].id, 77);
    assert_int_equal(found.total, 5); /* with two neighbours on each side */
}

static void filters(void **state)
{
    (void)state;
    const char *const tags[] = {"red", "round"};
    struct index_entry entries[] = {
        {.id = 1, .summary = "", .text = "ball", .tags = tags, .tag_count = 2, .created_ms = 100},
        {.id = 2,
         .summary = "",
         .text = "ball",
         .tags = tags,
         .tag_count = 1,
         .created_ms = 200,
         .session = "s1",
         .role = "user"},
        {.id = 3,
         .summary = "",
         .text = "ball",
         .created_ms = 300,
         .session = "s2",
         .role = "bot",
         .expires_ms = 1000},
    };
    for (size_t i = 0; i < COUNT(entries); i++) {
        assert_int_equal(index_put(index_under_test, &entries[i]), OK);
    }
    const char *none[] = {"blue"};
    const struct {
        struct index_filter filter;
        const char *ids;
    } CASES[] = {
        {{.now_ms = 10}, "3 2 1"},
        {{.now_ms = 1000}, "2 1"},
        {{.tags = tags, .tag_count = 1}, "2 1"},
        {{.tags = tags, .tag_count = 2}, "1"},
        {{.tags = none, .tag_count = 1}, ""},
        {{.from_ms = 200}, "3 2"},
        {{.until_ms = 200}, "1"},
        {{.from_ms = 150, .until_ms = 250}, "2"},
        {{.session = "s2"}, "3"},
        {{.session = "none"}, ""},
        {{.role = "user"}, "2"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(search_with("ball", &CASES[i].filter, 10, 0), CASES[i].ids);
    }
}

static void neighbours_share(void **state)
{
    (void)state;
    static const char *const TURNS[] = {"hello there", "what is your dog called", "rex, of course",
                                        "nice weather", "bye"};
    for (int i = 0; i < (int)COUNT(TURNS); i++) {
        struct index_entry entry = {
            .id = i + 1, .summary = "", .text = TURNS[i], .session = "chat", .place = i};
        assert_int_equal(index_put(index_under_test, &entry), OK);
    }
    put(10, "rex, of course");
    assert_string_equal(search("name of the dog"), "2 3 1 4");
    struct index_entry expired = {
        .id = 2, .summary = "", .text = TURNS[1], .session = "chat", .place = 1, .expires_ms = 5};
    assert_int_equal(index_put(index_under_test, &expired), OK);
    assert_string_equal(search_with("dog", &(struct index_filter){.now_ms = 9}, 9, 0), "");
}

/* A text of several passages is found by what one of them is about, and keeps all of its words when
 * it is changed, removed and the lists are written anew. */
static void finds_the_passage(void **state)
{
    (void)state;
    char about_one[16384] = "";
    char about_all[16384] = "";
    size_t one = 0;
    size_t all = 0;
    for (int i = 0; i < 900; i++) {
        one += (size_t)snprintf(about_one + one, sizeof about_one - one, "%s%s ",
                                i == 300 ? "tuba lesson" : "word", i % 20 == 19 ? "." : "");
        all += (size_t)snprintf(about_all + all, sizeof about_all - all, "%s%s ",
                                i == 20    ? "tuba"
                                : i == 850 ? "lesson"
                                           : "word",
                                i % 20 == 19 ? "." : "");
    }
    put(1, about_one);
    put(2, about_all);
    put(3, "a note that is short");
    assert_string_equal(search("tuba lesson"), "1 2");
    for (int i = 0; i < 3000; i++) {
        put(4, "short again");
    }
    assert_string_equal(search("tuba lesson"), "1 2");
    put(1, "nothing");
    assert_string_equal(search("tuba lesson"), "2");
    assert_string_equal(search("again"), "4");
}

/* Other forms of the words that are asked for: for less, and a misspelt word only where there is no
 * other like it. */
static void finds_other_forms(void **state)
{
    (void)state;
    put(1, "Mia is allergic to cashews");
    put(2, "The dentist has moved to Elm Lane");
    put(3, "Kubernetes runs the staging servers");
    put(4, "Her hayfever begins in April");
    put(5, "We met the restaurant's owner");
    assert_string_equal(search("nut allergy"), "1");
    assert_string_equal(search("dentst"), "2");
    assert_string_equal(search("k8s"), "3");
    assert_string_equal(search("hay fever"), "4");
    assert_string_equal(search("restuarents"), "5");
    assert_string_equal(search("xyzzyx"), "");
    put(6, "the dentits is a fish");
    assert_string_equal(search("dentits"), "6");
    put(7, "an allergy");
    assert_string_equal(search("allergy"), "7 1");
    put(8, "Breakdown cover includes Europe");
    assert_string_equal(search("when it breaks down"), "8");
}

static void finds_by_key(void **state)
{
    (void)state;
    struct index_entry entry = {.id = 1, .key = "boiler-error_17", .text = "It shows E4 again"};
    assert_int_equal(index_put(index_under_test, &entry), OK);
    put(2, "The boiler is in the cellar; the boiler, again the boiler and its errors");
    assert_string_equal(search("boiler error"), "1 2");
    /* Short numbers are words in a key that is made of words; long ones nowhere. */
    assert_string_equal(search("17"), "1");
    entry = (struct index_entry){.id = 3, .key = "chat-77/1234", .text = "Nothing new"};
    assert_int_equal(index_put(index_under_test, &entry), OK);
    entry = (struct index_entry){.id = 4, .key = "some-invoice-20251", .text = "Nothing new"};
    assert_int_equal(index_put(index_under_test, &entry), OK);
    assert_string_equal(search("77"), "");
    assert_string_equal(search("1234"), "");
    assert_string_equal(search("20251"), "");
    assert_string_equal(search_with("cellar", &(struct index_filter){.first = 1}, 9, 0), "1 2");
    assert_string_equal(search_with("cellar", &(struct index_filter){.first = 9}, 9, 0), "2");
}

/* A tag says what a memory is about. */
static void a_tag_counts_more_than_a_word(void **state)
{
    (void)state;
    static const char *const TAGS[] = {"garden"};
    struct index_entry entry = {.id = 1, .text = "some seeds", .tags = TAGS, .tag_count = 1};
    assert_int_equal(index_put(index_under_test, &entry), OK);
    put(2, "some seeds garden");
    put(3, "nothing at all");
    assert_string_equal(search("garden"), "1 2");
}

static void tells_relevance(void **state)
{
    (void)state;
    static const char ASKED[] = "Mia is allergic to cashews";
    struct index_found found;
    struct index_filter all = {0};
    put(1, ASKED);
    put(2, "The train to Lyon leaves at noon from the other station");
    assert_int_equal(index_settle(index_under_test), OK);
    assert_int_equal(index_search(index_under_test, arena, ASKED, &all, 1, 0, &found), OK);
    assert_true(found.hits[0].id == 1 && found.hits[0].relevance > 0.95);
    assert_int_equal(index_search(index_under_test, arena,
                                  "which station did the plumber recommend for repairs of roofs",
                                  &all, 1, 0, &found),
                     OK);
    assert_true(found.hits[0].id == 2 && found.hits[0].relevance < 0.2);
    all.first = 2;
    assert_int_equal(index_search(index_under_test, arena, "nothing", &all, 1, 0, &found), OK);
    assert_true(found.hits[0].id == 2 && found.hits[0].relevance > 0.95);
}

static void sessions_share(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        bool hit = i == 0 || i == 12 || i == 4;
        struct index_entry entry = {.id = i + 1,
                                    .summary = "",
                                    .text = hit ? "the harbour at noon" : "other words are here",
                                    .session = i < 8 ? "rich" : "poor",
                                    .place = i};
        assert_int_equal(index_put(index_under_test, &entry), OK);
    }
    assert_memory_equal(search_with("harbour", &(struct index_filter){0}, 3, 0), "5 1 13", 6);
}

static void numbers_symbols(void **state)
{
    (void)state;
    struct symbols symbols = {0};
    char text[32];
    for (uint32_t i = 0; i < 5000; i++) {
        int length = snprintf(text, sizeof text, "symbol-%u", i);
        assert_int_equal(symbols_add(&symbols, text, (size_t)length), i);
        assert_int_equal(symbols_add(&symbols, text, (size_t)length), i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        int length = snprintf(text, sizeof text, "symbol-%u", i);
        assert_int_equal(symbols_add(&symbols, text, (size_t)length), i);
        assert_string_equal(symbols_text(&symbols, i), text);
        assert_int_equal(symbols_length(&symbols, i), length);
    }
    assert_int_equal(symbols_add(&symbols, "symbol-", 7), 5000);
    assert_int_equal(symbols_add(&symbols, "", 0), 5001);
    symbols_done(&symbols);
}

static int note_holder(void *context, size_t word, double weight, int64_t id)
{
    char *all = context;
    assert_true(weight > 0 && weight <= 1);
    (void)snprintf(all + strlen(all), 100 - strlen(all), "%zu:%lld ", word, (long long)id);
    return strlen(all) < 60 ? OK : ERR_LIMIT;
}

static const char *holders(const char *text, const char *but, size_t most)
{
    static char all[100];
    struct index_holders_wish wish = {
        .text = text, .but = but, .most = most, .take = note_holder, .context = all};
    all[0] = '\0';
    assert_int_equal(index_settle(index_under_test), OK);
    assert_int_equal(index_holders(index_under_test, arena, &wish), OK);
    return all;
}

static void tells_who_holds_a_word(void **state)
{
    (void)state;
    put(1, "The lighthouse keeper of Norway");
    put(2, "A keeper of bees");
    put(3, "Bees in Norway, and a keeper");
    put(4, "Nothing of the kind");
    assert_string_equal(holders("keepers and bees", NULL, 10), "0:1 0:2 0:3 1:2 1:3 ");
    assert_string_equal(holders("keepers and bees", NULL, 2), "0:2 0:3 ");
    assert_string_equal(holders("the keeper of Norway", "keeper?", 10), "0:1 0:3 ");
    assert_string_equal(holders("the of zebras", NULL, 10), "");
    assert_string_equal(holders("", "", 10), "");
    index_remove(index_under_test, 3);
    assert_string_equal(holders("bees of Norway", NULL, 10), "0:2 1:1 ");
    struct index_holders_wish wish = {.text = "keeper", .most = 9, .take = note_holder};
    char full[100] = "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789";
    wish.context = full;
    assert_int_equal(index_holders(index_under_test, arena, &wish), ERR_LIMIT);
}

/* ---- segments ---- */

enum { DIVIDED = 400 };

/* One of many short texts in a few sessions, the same for the same number. */
static void put_one_of_many(struct index *index, uint32_t number)
{
    static const char *const WORDS[] = {"apple", "river", "stone", "cloud", "tiger", "candle"};
    char text[128] = "";
    char session[16];
    size_t length = 0;
    uint32_t dice = number * 2654435761u;
    for (uint32_t i = 0; i < 2 + number % 5; i++) {
        dice = dice * 1664525u + 1013904223u;
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s ", WORDS[(dice >> 16) % 6]);
    }
    snprintf(session, sizeof session, "s%u", number % 7);
    struct index_entry entry = {.id = number + 1,
                                .summary = "",
                                .text = text,
                                .session = session,
                                .place = (int64_t)number};
    assert_int_equal(index_put(index, &entry), OK);
}

/* Processes have the same memories in other segments, and each may be asked for another page. */
static void scores_are_the_same_however_it_is_divided(void **state)
{
    (void)state;
    static const char *const QUESTIONS[] = {"apple", "river stone", "cloud tiger candle apple"};
    const struct index_filter all = {0};
    struct index *other = index_new();
    assert_non_null(other);
    for (uint32_t i = 0; i < DIVIDED; i++) {
        put_one_of_many(index_under_test, i);
        put_one_of_many(other, (i * 37 + 11) % DIVIDED);
        if (i % 29 == 0) {
            assert_int_equal(index_settle(other), OK);
        }
    }
    assert_int_equal(index_settle(index_under_test), OK);
    assert_int_equal(index_settle(other), OK);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        struct index_found one;
        struct index_found two;
        assert_int_equal(
            index_search(index_under_test, arena, QUESTIONS[i], &all, DIVIDED, 0, &one), OK);
        assert_int_equal(index_search(other, arena, QUESTIONS[i], &all, DIVIDED, 0, &two), OK);
        assert_int_equal(one.count, two.count);
        for (size_t j = 0; j < one.count; j++) {
            assert_int_equal(one.hits[j].id, two.hits[j].id);
            assert_true(one.hits[j].score == two.hits[j].score);
        }
    }
    index_free(other);
}

UNIT_TEST(memory_index)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_and_ranks, start, finish),
        cmocka_unit_test_setup_teardown(replaces_and_removes, start, finish),
        cmocka_unit_test_setup_teardown(scores_do_not_jump, start, finish),
        cmocka_unit_test_setup_teardown(compacts, start, finish),
        cmocka_unit_test_setup_teardown(filters, start, finish),
        cmocka_unit_test_setup_teardown(neighbours_share, start, finish),
        cmocka_unit_test_setup_teardown(finds_the_passage, start, finish),
        cmocka_unit_test_setup_teardown(finds_other_forms, start, finish),
        cmocka_unit_test_setup_teardown(finds_by_key, start, finish),
        cmocka_unit_test_setup_teardown(a_tag_counts_more_than_a_word, start, finish),
        cmocka_unit_test_setup_teardown(tells_relevance, start, finish),
        cmocka_unit_test_setup_teardown(tells_who_holds_a_word, start, finish),
        cmocka_unit_test_setup_teardown(sessions_share, start, finish),
        cmocka_unit_test_setup_teardown(scores_are_the_same_however_it_is_divided, start, finish),
        cmocka_unit_test(numbers_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
