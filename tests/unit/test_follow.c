/* What questions that follow on each other leave for one another. */
#include "unit.h"

#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"
#include "research/follow.h"

#include <stdio.h>
#include <string.h>

static struct arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = arena_new(MIB(64));
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const char PAGE[] = "The river Ossel is 112 km long and flows through the town of Quora.";

static struct evidence *some_evidence(int64_t read_ms)
{
    struct evidence *evidence = evidence_new(arena);
    size_t page =
        evidence_add_page(evidence, "https://rivers.example/ossel", "Rivers", PAGE, read_ms);
    evidence_also(evidence, page, "https://rivers.example/old");
    evidence_add_note(evidence, "It is 112 km long.", "The river Ossel is 112 km long", page);
    evidence_add_note(evidence, "Invented.", "The river Ossel is 999 km long", page);
    evidence_add_unseen(evidence, "https://unseen.example/", "Unseen");
    return evidence;
}

static void what_is_left_comes_back(void **state)
{
    (void)state;
    struct follow follow;
    int64_t now = clock_wall_ms();
    const char *left =
        follow_write(arena, NULL, "Which river?", "The Ossel.", some_evidence(now - 1000));
    assert_non_null(left);
    assert_int_equal(follow_read(arena, left, &follow), OK);
    assert_int_equal(follow.turn_count, 1);
    assert_int_equal(follow.depth, 1);
    assert_string_equal(follow.turns[0].question, "Which river?");
    assert_string_equal(follow.turns[0].answer, "The Ossel.");
    assert_int_equal(yyjson_arr_size(follow.notes), 1); /* the one whose quote is there */
    assert_int_equal(yyjson_arr_size(follow.pages), 1); /* the one whose text is here */

    struct evidence *evidence = evidence_new(arena);
    struct sources sources = {0};
    assert_int_equal(follow_take_pages(arena, &follow, now, evidence, &sources, 10), OK);
    assert_int_equal(sources.count, 1);
    assert_int_equal(sources.items[0].page, 1);
    assert_int_equal(sources.items[0].chars, strlen(PAGE));
    assert_string_equal(sources.items[0].url, "https://rivers.example/old"); /* as it is found */
    assert_int_equal(evidence_page_of(evidence, "https://rivers.example/ossel"), 1);
    assert_int_equal(evidence_page(evidence, 1)->read_ms, now - 1000);
}

static void only_what_is_fresh_and_fits(void **state)
{
    (void)state;
    struct follow follow;
    int64_t now = clock_wall_ms();
    const struct {
        int64_t read_ms;
        size_t most;
        bool known;
        size_t count;
    } CASES[] = {
        {now - 1000, 10, false, 1},
        {now - TIME_FOLLOW_FRESH_MS + 1000, 10, false, 1},
        {now - TIME_FOLLOW_FRESH_MS, 10, false, 0},
        {now + 5000, 10, false, 0}, /* the clock was set back */
        {now - 1000, 0, false, 0},
        {now - 1000, 0, true, 1}, /* a search has found it */
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *left = follow_write(arena, NULL, "q", "a", some_evidence(CASES[i].read_ms));
        struct evidence *evidence = evidence_new(arena);
        struct sources sources = {0};
        if (CASES[i].known) {
            sources_add(arena, &sources, "https://rivers.example/ossel#part", "Rivers", "");
        }
        assert_int_equal(follow_read(arena, left, &follow), OK);
        assert_int_equal(follow_take_pages(arena, &follow, now, evidence, &sources, CASES[i].most),
                         OK);
        assert_int_equal(evidence_page_count(evidence), CASES[i].count);
    }
}

static void a_chain_keeps_its_last_links(void **state)
{
    (void)state;
    struct follow follow;
    const char *left = NULL;
    for (int i = 0; i < 9; i++) {
        char question[24], answer[3000];
        snprintf(question, sizeof question, "question %d", i);
        memset(answer, 'a' + i, sizeof answer);
        answer[sizeof answer - 1] = '\0';
        left = follow_write(arena, i ? &follow : NULL, question, answer, NULL);
        assert_non_null(left);
        assert_int_equal(follow_read(arena, left, &follow), OK);
    }
    assert_int_equal(follow.depth, 9);
    assert_int_equal(follow.turn_count, FOLLOW_TURNS + 1);
    assert_string_equal(follow.turns[FOLLOW_TURNS].question, "question 8");
    assert_int_equal(strlen(follow.turns[FOLLOW_TURNS].answer), 2999);
    assert_string_equal(follow.turns[0].question, "question 4");
    assert_int_equal(strlen(follow.turns[0].answer), 1000); /* what is earlier is shorter */
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"turns\":[]}",
        "{\"turns\":[{}]}",
        "{\"turns\":[{\"question\":\"q\"}]}",
        "{\"turns\":[{\"question\":\"q\",\"answer\":1}]}",
        "{\"turns\":[1,2,3,4,5,6]}",
        "{\"turns\":\"x\"}",
    };
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct follow follow;
        assert_int_equal(follow_read(arena, TEXTS[i], &follow), ERR_INVALID);
    }
    /* Notes and pages that are none are passed over. */
    struct follow follow;
    struct evidence *evidence = evidence_new(arena);
    struct sources sources = {0};
    struct buf out;
    assert_int_equal(
        follow_read(arena,
                    "{\"turns\":[{\"question\":\"q\",\"answer\":\"a\"}],\"notes\":[1,{}],"
                    "\"pages\":[1,{},{\"url\":7},{\"url\":\"x:y\",\"title\":\"\","
                    "\"text\":\"\",\"read_ms\":1}]}",
                    &follow),
        OK);
    assert_int_equal(follow_take_pages(arena, &follow, 2, evidence, &sources, 10), OK);
    assert_int_equal(sources.count, 0);
    buf_init(&out, KIB(4));
    follow_put(&out, &follow, true);
    assert_string_equal(out.data, "Question: q\nAnswer: a\n");
    buf_done(&out);
}

static void the_question_that_is_meant(void **state)
{
    (void)state;
    static const struct {
        const char *said, *question;
    } CASES[] = {
        {"{\"question\": \"How long is the Ossel?\"}", "How long is the Ossel?"},
        {"Sure:\n```json\n{\"question\": \"How\\nlong?\"}\n```", "How long?"},
        {"How long is the Ossel?", "And how long? (it follows on: Which river?)"},
        {"{\"question\": \"  \"}", "And how long? (it follows on: Which river?)"},
        {"{\"question\": 4}", "And how long? (it follows on: Which river?)"},
        {"", "And how long? (it follows on: Which river?)"},
    };
    struct follow follow = {.turns = {{"Which river?", "The Ossel."}}, .turn_count = 1};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_reply reply = {.text = CASES[i].said};
        assert_string_equal(follow_question(arena, &follow, "And how long?", &reply),
                            CASES[i].question);
    }
    struct model_request request;
    assert_int_equal(follow_request(arena, &follow, "And how long?", "TAG", &request), OK);
    assert_int_equal(request.message_count, 1);
    assert_non_null(strstr(request.messages[0].text, "<data-TAG>\nQuestion: Which river?"));
    assert_non_null(strstr(request.messages[0].text, "<question-TAG>\nAnd how long?"));
    assert_non_null(strstr(request.system, "<data-TAG>"));
    assert_null(strstr(request.system, "{tag}"));
}

UNIT_TEST(follow)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_left_comes_back, begin, end),
        cmocka_unit_test_setup_teardown(only_what_is_fresh_and_fits, begin, end),
        cmocka_unit_test_setup_teardown(a_chain_keeps_its_last_links, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_read, begin, end),
        cmocka_unit_test_setup_teardown(the_question_that_is_meant, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
