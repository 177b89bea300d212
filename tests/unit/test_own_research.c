/* Research of our own, its pure parts: what a model's moves are, in calls and in words of any
 * manners; what of a conversation is seen again; budgets; sources. */
#include "unit.h"

#include "core/arena.h"
#include "core/buf.h"
#include "core/limits.h"
#include "research/own/allowance.h"
#include "research/own/moves.h"
#include "research/own/sources.h"
#include "research/own/talk.h"

#include <stdio.h>
#include <string.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(MIB(16));
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena = arena_free(arena);
    return 0;
}

/* ---- moves ---- */

/* A move in a few words: "read 1 -1 q=what @5", "note 2[c|q]". */
static const char *told(const struct move *move)
{
    static const char *const KINDS[] = {"plan", "search", "read", "note", "finish", "unknown"};
    static char text[600];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", KINDS[move->kind]);
    if (move->trouble) {
        snprintf(text + at, sizeof text - at, " !");
        return text;
    }
    for (size_t i = 0; i < move->text_count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " <%s>", move->texts[i]);
    }
    for (size_t i = 0; i < move->source_count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " %lld", (long long)move->sources[i]);
    }
    for (size_t i = 0; i < move->note_count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " %lld[%s|%s]",
                               (long long)move->notes[i].source, move->notes[i].claim,
                               move->notes[i].quote);
    }
    if (move->question) {
        at += (size_t)snprintf(text + at, sizeof text - at, " q=%s", move->question);
    }
    if (move->start || move->part) {
        snprintf(text + at, sizeof text - at, " @%lld p%lld", (long long)move->start,
                 (long long)move->part);
    }
    return text;
}

static void calls_of_tools(void **state)
{
    (void)state;
    static const struct {
        const char *name, *arguments, *want;
    } ROWS[] = {
        {"search", "{\"queries\":[\"a\",\"b\"]}", "search <a> <b>"},
        {"search", "{\"queries\":\"a\"}", "search <a>"},
        {"web_search", "{\"query\":\"a\"}", "search <a>"},
        {"search", "{\"queries\":[\" \",\"\",null,3]}", "search !"},
        {"search", "{}", "search !"},
        {"search", NULL, "search !"},
        {"search", "[\"a\"]", "search !"},
        {"search", "{\"queries\":[\"a\"],\"part\":2}", "search <a> @0 p2"},
        {"READ", "{\"sources\":[1,\"2\",\"[3]\",\"source 4\"],\"question\":\"what\"}",
         "read 1 2 3 4 q=what"},
        {"read", "{\"sources\":3,\"start\":500}", "read 3 @500 p0"},
        {"read", "{\"sources\":[\"https://example.org/5\"]}", "read -1"},
        {"read", "{\"sources\":[\"5 https://example.org\",-3,1e300,true]}", "read -1 -1 -1 -1"},
        {"note", "{\"notes\":[{\"claim\":\"c\",\"quote\":\"q\",\"source\":2}]}", "note 2[c|q]"},
        {"note", "{\"claim\":\"c\",\"quote\":\"q\",\"source\":\"[2]\"}", "note 2[c|q]"},
        {"note", "{\"notes\":[{\"quote\":\"q\",\"source\":2}]}", "note 2[q|q]"},
        {"note", "{\"notes\":[{\"claim\":\"c\",\"source\":2}]}", "note !"},
        {"note", "{\"notes\":[{\"claim\":\"c\",\"quote\":\"q\"}]}", "note -1[c|q]"},
        {"plan", "{\"parts\":[\"x\",\"y\"]}", "plan <x> <y>"},
        {"finish", "{\"covered\":true,\"open_questions\":[\"o\"]}", "finish <o>"},
        {"finish", NULL, "finish"},
        {"browse", "{\"url\":\"https://example.org\"}", "unknown !"},
        {NULL, "{}", "unknown !"},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct move move;
        move_of_use(arena, ROWS[i].name, ROWS[i].arguments, &move);
        assert_string_equal(told(&move), ROWS[i].want);
    }
}

static void lines_of_words(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        const char *want[3]; /* a NULL ends them */
    } ROWS[] = {
        {"SEARCH: a | b c", {"search <a> <b c>"}},
        {"**Search:** \"a\" | \xe2\x80\x9c"
         "b\xe2\x80\x9d",
         {"search <a> <b>"}},
        {"search: a\nsearch: b", {"search <a> <b>"}},
        {"1. SEARCH a", {"search <a>"}},
        {"<think>SEARCH: no</think>\nSEARCH: yes", {"search <yes>"}},
        {"- READ: [1], source 2 and 3 | what", {"read 1 2 3 q=what"}},
        {"READ: https://example.org/1", {"read -1"}},
        {"NOTE: c | q | 2\nNOTE: d | r | [3]", {"note 2[c|q] 3[d|r]"}},
        {"* NOTE: c | a | b | source 2", {"note 2[c|a | b]"}},
        {"NOTE: q | 2", {"note 2[q|q]"}},
        {"NOTE: only a claim", {NULL}},
        {"NOTE: c | q | 1\nSEARCH: a\nDONE", {"note 1[c|q]", "search <a>", "finish"}},
        {"NOTE: c | q | 1\nOPEN: why\nDONE.", {"note 1[c|q]", "finish <why>"}},
        {"SEARCH: a\nOPEN: why", {"search <a>"}},
        {"done", {"finish"}},
        {"I have done what I could, and read a lot.", {NULL}},
        {"Search results show that this is so.", {NULL}},
        {"Done with that, what next?", {NULL}},
        {"", {NULL}},
        {"{\"name\": \"search\", \"arguments\": {\"queries\": [\"a\"]}}", {"search <a>"}},
        {"<tool_call>\n{\"name\": \"read\", \"parameters\": {\"sources\": [1]}}\n</tool_call>",
         {"read 1"}},
        {"```json\n{\"tool\": \"finish\", \"arguments\": {}}\n```", {"finish"}},
        {"{\"name\": \"rm\", \"arguments\": {}}", {NULL}},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct move moves[MOVES_OF_TURN];
        size_t count = moves_of_words(arena, ROWS[i].words, moves);
        for (size_t j = 0; j < 3; j++) {
            if (j == count || !ROWS[i].want[j]) {
                assert_true(j == count && !ROWS[i].want[j]);
                break;
            }
            assert_string_equal(told(&moves[j]), ROWS[i].want[j]);
        }
    }
}

static void moves_without_end_are_cut(void **state)
{
    (void)state;
    struct buf words;
    struct move moves[MOVES_OF_TURN];
    buf_init(&words, KIB(16));
    for (size_t i = 0; i < 50; i++) {
        buf_puts(&words,
                 i % 2 ? "READ: 1,2,3,4,5,6,7,8,9,10,11,12\n" : "SEARCH: a|b|c|d|e|f|g|h|i|j\n");
    }
    assert_int_equal(moves_of_words(arena, words.data, moves), MOVES_OF_TURN);
    buf_done(&words);
    assert_int_equal(moves[0].text_count, MOVE_TEXTS);
    assert_int_equal(moves[1].source_count, MOVE_SOURCES);
}

static void the_same_move_has_the_same_key(void **state)
{
    (void)state;
    struct move one, same, other;
    move_of_use(arena, "search", "{\"queries\":[\"a\",\"b\"]}", &one);
    move_of_use(arena, "web_search", "{ \"queries\" : [\"a\", \"b\"] }", &same);
    move_of_use(arena, "search", "{\"queries\":[\"b\",\"a\"]}", &other);
    assert_string_equal(move_key(arena, &one), move_key(arena, &same));
    assert_string_not_equal(move_key(arena, &one), move_key(arena, &other));
}

static void a_move_of_any_length_has_a_key(void **state)
{
    (void)state;
    size_t length = KIB(200);
    char *text = arena_zalloc(arena, length + 1);
    memset(text, 'x', length);
    struct move move = {.kind = MOVE_SEARCH, .texts = {text}, .text_count = 1};
    const char *key = move_key(arena, &move);
    assert_non_null(key);
    text[length - 1] = 'y';
    assert_string_not_equal(key, move_key(arena, &move));
}

static void tools_have_schemas(void **state)
{
    (void)state;
    struct model_tool tools[MOVE_KINDS];
    assert_int_equal(moves_tools(arena, tools), OK);
    for (size_t i = 0; i < MOVE_KINDS; i++) {
        struct move move;
        move_of_use(arena, tools[i].name, "{}", &move);
        assert_int_equal(move.kind, i);
        assert_non_null(strstr(tools[i].schema, "\"object\""));
        assert_true(strlen(tools[i].description) > 20);
    }
}

/* ---- the conversation ---- */

#define LONG 300

static void add_turn(struct talk *talk, const char *name, size_t length)
{
    struct model_use *use = arena_zalloc(arena, sizeof *use);
    struct model_reply *reply = arena_zalloc(arena, sizeof *reply);
    struct told *result = arena_zalloc(arena, 2 * sizeof *result);
    char *text = arena_zalloc(arena, length + 1);
    memset(text, 'x', length);
    *use = (struct model_use){.id = name, .name = name, .arguments = "{}", .raw = "{}"};
    *reply = (struct model_reply){.text = "", .uses = use, .use_count = 1};
    result[0] = (struct told){.use = use, .text = text};
    result[1] = (struct told){.use = use, .text = text};
    assert_int_equal(
        talk_add(arena, talk, &(struct turn){.reply = reply, .told = result, .told_count = 2}), OK);
}

/* Each result stands behind the turn that asked for it. */
static void check_pairs(const struct model_message *messages, size_t count)
{
    const struct model_reply *reply = NULL;
    assert_int_equal(messages[0].role, MODEL_USER);
    for (size_t i = 1; i < count; i++) {
        if (messages[i].role == MODEL_ASSISTANT) {
            reply = messages[i].reply;
        } else {
            assert_non_null(reply);
            assert_ptr_equal(messages[i].use, reply->uses);
        }
    }
}

static void earlier_turns_are_folded_away(void **state)
{
    (void)state;
    struct talk talk = {.room = 3 * LONG};
    size_t count;
    static const char *const NAMES[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        add_turn(&talk, NAMES[i], LONG / 2);
        const struct model_message *messages = talk_messages(arena, &talk, "state", &count);
        check_pairs(messages, count);
        assert_true(count <= 1 + 2 * 3);
        assert_string_equal(messages[count - 1].use->name, NAMES[i]);
        assert_true(talk_bytes(messages, count) <= talk.room + strlen("state"));
    }
}

/* What goes back to the model is the turn as it came, and that is what has to fit. */
static void reasoning_counts_as_said(void **state)
{
    (void)state;
    char echo[2 * LONG + 1];
    memset(echo, 'x', sizeof echo - 1);
    echo[sizeof echo - 1] = '\0';
    struct model_reply reply = {.text = "short", .echo = echo};
    struct model_message message = {.role = MODEL_ASSISTANT, .reply = &reply};
    assert_int_equal(talk_bytes(&message, 1), 2 * LONG);
}

static void a_turn_that_is_too_large_is_cut(void **state)
{
    (void)state;
    struct talk talk = {.room = 64 * TALK_LEAST_ROOM};
    size_t count;
    size_t before = SIZE_MAX;
    add_turn(&talk, "a", 40 * TALK_LEAST_ROOM);
    for (int folds = 0;; folds++) {
        const struct model_message *messages = talk_messages(arena, &talk, "state", &count);
        check_pairs(messages, count);
        assert_int_equal(count, 4);
        size_t bytes = talk_bytes(messages, count);
        assert_true(bytes <= talk.room + 60 && bytes < before);
        before = bytes;
        if (!talk_fold(&talk)) {
            assert_int_equal(folds, 6);
            break;
        }
    }
    assert_int_equal(talk.room, TALK_LEAST_ROOM);
}

static void without_tools_no_calls_are_shown_again(void **state)
{
    (void)state;
    struct talk talk = {.room = 10000};
    size_t count;
    struct model_reply prose = {.text = "words"};
    struct told answer = {.text = "told"};
    add_turn(&talk, "a", 10);
    assert_int_equal(
        talk_add(arena, &talk, &(struct turn){.reply = &prose, .told = &answer, .told_count = 1}),
        OK);
    talk_go_plain(&talk);
    const struct model_message *messages = talk_messages(arena, &talk, "state", &count);
    assert_int_equal(count, 3);
    assert_ptr_equal(messages[1].reply, &prose);
    assert_int_equal(messages[2].role, MODEL_USER);
}

/* ---- budgets and sources ---- */

static void budgets_are_shared_and_end(void **state)
{
    (void)state;
    struct allowance whole = {.limit = {10, 7, 1000, 0, 60000}};
    struct allowance part = {{0}, {0}};
    assert_true(allowance_left(&whole, ALLOWANCE_MONEY) == INT64_MAX);
    allowance_share(&whole, 3, &part);
    assert_int_equal(part.limit[ALLOWANCE_SEARCHES], 4);
    assert_int_equal(part.limit[ALLOWANCE_PAGES], 3);
    assert_int_equal(part.limit[ALLOWANCE_MONEY], 0);
    part.used[ALLOWANCE_PAGES] = 3;
    assert_int_equal(allowance_left(&part, ALLOWANCE_PAGES), 0);
    part.used[ALLOWANCE_PAGES] = 5; /* never less than nothing */
    assert_int_equal(allowance_left(&part, ALLOWANCE_PAGES), 0);
}

static void dollars_are_plain_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want; /* negative: refused */
    } ROWS[] = {
        {"0", 0},
        {"0.25", 250000000},
        {"12", 12000000000},
        {".5", 500000000},
        {"1.", 1000000000},
        {"0.0000000001", 1},
        {"$0.25", -1},
        {"abc", -1},
        {"0,25", -1},
        {"-1", -1},
        {"inf", -1},
        {"nan", -1},
        {"1e30", -1},
        {"", -1},
        {".", -1},
        {"1.2.3", -1},
        {" 1", -1},
        {"99999999999999999999999", -1},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        int64_t nano = -1;
        int status = allowance_read_usd(ROWS[i].text, &nano);
        assert_int_equal(status, ROWS[i].want < 0 ? ERR_INVALID : OK);
        assert_true(status != OK || nano == ROWS[i].want);
    }
}

static void a_page_is_one_source(void **state)
{
    (void)state;
    struct sources sources = {0};
    assert_int_equal(sources_add(arena, &sources, "https://a.example/x", "A\nB", NULL), 1);
    assert_int_equal(sources_add(arena, &sources, "HTTPS://A.example:443/x#part", "C", NULL), 1);
    assert_int_equal(sources_add(arena, &sources, "https://a.example/y", NULL, NULL), 2);
    assert_int_equal(sources_add(arena, &sources, "javascript:alert(1)", NULL, NULL), 0);
    assert_int_equal(sources_add(arena, &sources, "/relative", NULL, NULL), 0);
    assert_string_equal(sources_get(&sources, 1)->title, "A B");
    assert_null(sources_get(&sources, 0));
    assert_null(sources_get(&sources, 3));
    assert_null(sources_get(&sources, -1));
}

static void the_question_names_sources(void **state)
{
    (void)state;
    struct sources sources = {0};
    sources_of_question(arena, &sources,
                        "Compare https://a.example/x, (http://b.example/) and <https://c.example/q"
                        "?a=1>; not httpd, ftp://d.example or http:/e");
    assert_int_equal(sources.count, 3);
    assert_string_equal(sources_get(&sources, 1)->url, "https://a.example/x");
    assert_string_equal(sources_get(&sources, 2)->url, "http://b.example/");
    assert_string_equal(sources_get(&sources, 3)->url, "https://c.example/q?a=1");
}

UNIT_TEST(own_research)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_tools),
        cmocka_unit_test(lines_of_words),
        cmocka_unit_test(moves_without_end_are_cut),
        cmocka_unit_test(the_same_move_has_the_same_key),
        cmocka_unit_test(a_move_of_any_length_has_a_key),
        cmocka_unit_test(tools_have_schemas),
        cmocka_unit_test(earlier_turns_are_folded_away),
        cmocka_unit_test(reasoning_counts_as_said),
        cmocka_unit_test(a_turn_that_is_too_large_is_cut),
        cmocka_unit_test(without_tools_no_calls_are_shown_again),
        cmocka_unit_test(budgets_are_shared_and_end),
        cmocka_unit_test(dollars_are_plain_numbers),
        cmocka_unit_test(a_page_is_one_source),
        cmocka_unit_test(the_question_names_sources),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
