/* Answers, the parts that touch nothing: what the model is told, what its service is sent, and how
 * what comes back is understood. */
#include "unit.h"

#include "answer/citations.h"
#include "answer/question.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"
#include "model/stream.h"
#include "text/json.h"
#include "world/world.h"

#include <string.h>

#define NOW 1794736800 /* 2026-11-15 10:00 UTC */

static int set_up(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = arena_free(*state);
    return 0;
}

/* ---- the prompt builder ---- */

static void prompt_generation_is_deterministic(void **state)
{
    struct prompt_wishes wishes = {.max_results = 5, .now = NOW};
    const char *first = prompt_write(*state, &wishes);
    const char *second = prompt_write(*state, &wishes);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "2026-11-15 10:00 UTC"));
    assert_non_null(strstr(first, "at most 5 sources"));
    assert_non_null(strstr(first, "800 characters"));
    assert_non_null(strstr(first, "(published 2026-01-31)"));
    assert_null(strstr(first, "{{"));
    wishes.max_results = 8;
    assert_non_null(strstr(prompt_write(*state, &wishes), "at most 8 sources"));
}

static void prompt_includes_freshness(void **state)
{
    struct prompt_wishes wishes = {.max_results = 5, .now = NOW, .freshness_hours = 24};
    const char *prompt = prompt_write(*state, &wishes);
    assert_non_null(strstr(prompt, "in the last 24 hours"));
    assert_non_null(strstr(prompt, "since 2026-11-14 10:00 UTC"));
    wishes.freshness_hours = 0;
    assert_null(strstr(prompt_write(*state, &wishes), "hours"));
}

static void prompt_includes_dates(void **state)
{
    static const struct {
        const char *start, *end, *words;
    } CASES[] = {
        {"2026-01-31", "2026-02-28",
         "published from 2026-01-31 to 2026-02-28, both days included."},
        {"2026-01-31", NULL, "published on 2026-01-31 or later."},
        {NULL, "2026-02-28", "published on 2026-02-28 or earlier."},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct prompt_wishes wishes = {
            .max_results = 5, .now = NOW, .start_date = CASES[i].start, .end_date = CASES[i].end};
        assert_non_null(strstr(prompt_write(*state, &wishes), CASES[i].words));
        assert_non_null(strstr(prompt_write_sources(*state, &wishes, "7", false), CASES[i].words));
    }
    struct prompt_wishes wishes = {.max_results = 5, .now = NOW};
    assert_null(strstr(prompt_write(*state, &wishes), "Use only sources"));
}

static void prompt_handles_region(void **state)
{
    struct prompt_wishes wishes = {.max_results = 5, .now = NOW, .country = "Germany"};
    assert_non_null(strstr(prompt_write(*state, &wishes), "in this country: Germany"));
    wishes.country = NULL;
    assert_null(strstr(prompt_write(*state, &wishes), "country"));
}

static void regions_are_country_codes(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        const char *name;
    } CASES[] = {{"DE", "Germany"},  {"de", "Germany"}, {"AE", "United Arab Emirates"},
                 {"ZW", "Zimbabwe"}, {"XX", NULL},      {"UK", NULL},
                 {"D", NULL},        {"", NULL},        {"DEU", NULL},
                 {"# ", NULL},       {"\n\n", NULL}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *name = country_name(CASES[i].code);
        assert_int_equal(name != NULL, CASES[i].name != NULL);
        if (name) {
            assert_string_equal(name, CASES[i].name);
        }
    }
}

/* ---- the request ---- */

static yyjson_val *request_for(struct arena *arena, const char *country, const char *temperature,
                               unsigned choices)
{
    const struct model model = {.name = "gpt-5-nano"};
    const struct model_message message = {.text = "why \"x\"?"};
    const struct model_search search = {.country = country, .temperature = temperature};
    const struct model_request request = {
        .system = "Search.", .messages = &message, .message_count = 1, .search = &search};
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    size_t length;
    DIALECT_RESPONSES.write(doc, root, &model, &request, choices, 8000);
    const char *body = json_text(arena, root, &length);
    assert_non_null(body);
    return yyjson_doc_get_root(json_parse(arena, body, length, NULL));
}

static void the_request_is_what_the_service_wants(void **state)
{
    yyjson_val *root = request_for(*state, "DE", NULL, CHOICE_SEARCH & ~CHOICE_TEMPERATURE);
    assert_string_equal(json_string(root, "model"), "gpt-5-nano");
    assert_string_equal(json_string(root, "input"), "why \"x\"?");
    assert_string_equal(json_string(root, "instructions"), "Search.");
    assert_null(yyjson_obj_get(root, "temperature"));
    assert_true(yyjson_is_false(yyjson_obj_get(root, "store")));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "max_output_tokens")), 8000);
    assert_string_equal(json_string(yyjson_obj_get(root, "reasoning"), "effort"), "low");
    yyjson_val *tool = yyjson_arr_get_first(yyjson_obj_get(root, "tools"));
    assert_string_equal(json_string(tool, "type"), "web_search");
    yyjson_val *place = yyjson_obj_get(tool, "user_location");
    assert_string_equal(json_string(place, "type"), "approximate");
    assert_string_equal(json_string(place, "country"), "DE");
    assert_string_equal(json_string(root, "tool_choice"), "required");
    yyjson_val *include = yyjson_obj_get(root, "include");
    assert_true(yyjson_equals_str(yyjson_arr_get_first(include), "web_search_call.action.sources"));
}

static void what_the_service_refuses_is_left_out(void **state)
{
    static const char *const NAMES[] = {"include", "store", "tool_choice", "reasoning",
                                        "temperature"};
    static const unsigned CHOICES[] = {CHOICE_SOURCES, CHOICE_STATELESS, CHOICE_TOOL_CHOICE,
                                       CHOICE_EFFORT, CHOICE_TEMPERATURE};
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        const struct model_error error = {.param = NAMES[i]};
        assert_int_equal(failure_choice(&error, CHOICE_SEARCH), CHOICES[i]);
        yyjson_val *root = request_for(*state, "DE", "1", CHOICE_SEARCH & ~CHOICES[i]);
        for (size_t other = 0; other < COUNT(NAMES); other++) {
            assert_int_equal(yyjson_obj_get(root, NAMES[other]) != NULL, other != i);
        }
    }
    const struct model_error error = {.param = "tools[0].user_location.country"};
    assert_int_equal(failure_choice(&error, CHOICE_SEARCH), CHOICE_PLACE);
}

static void without_a_region_no_country_is_assumed(void **state)
{
    yyjson_val *root = request_for(*state, NULL, "0.5", CHOICE_SEARCH);
    yyjson_val *tool = yyjson_arr_get_first(yyjson_obj_get(root, "tools"));
    yyjson_val *place = yyjson_obj_get(tool, "user_location");
    assert_string_equal(json_string(place, "type"), "approximate");
    assert_null(yyjson_obj_get(place, "country"));
    assert_true(yyjson_get_num(yyjson_obj_get(root, "temperature")) == 0.5);
}

static void pauses_that_the_service_asks_for_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *ms, *plain;
        int64_t wait;
    } CASES[] = {
        {NULL, NULL, -1},
        {"250", NULL, 250},
        {"250", "7", 250},
        {"12.5", NULL, 12},
        {"x", "7", 7000},
        {NULL, "7", 7000},
        {NULL, "0.5", 500},
        {NULL, "0", 0},
        {NULL, "-3", -1},
        {NULL, "nan", -1},
        {NULL, "inf", -1},
        {NULL, "soon", -1},
        {NULL, "Sun, 15 Nov 2026 10:00:10 GMT", 10000},
        {NULL, "Sun, 15 Nov 2026 09:00:00 GMT", 0},
        {NULL, "99999999999999999999", (int64_t)1e12},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(clock_retry_after_ms(CASES[i].ms, CASES[i].plain, NOW), CASES[i].wait);
    }
}

/* ---- the reply ---- */

#define SEARCH   "{\"type\":\"web_search_call\",\"id\":\"ws\",\"status\":\"completed\"}"
#define TEXT(t)  "{\"type\":\"output_text\",\"text\":\"" t "\",\"annotations\":[]}"
#define SAYS(t)  "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[" t "]}"
#define THINKING "{\"type\":\"reasoning\",\"summary\":[]}"

/* What the service sends, as a reply; ERR_INVALID where something is wrong with it, in words. */
static int parse(struct arena *arena, const char *body, size_t length, struct model_reply *reply,
                 const char **problem)
{
    static const struct model_provider PROVIDER = {.name = "openai"};
    struct stream *stream = stream_new(arena, &DIALECT_RESPONSES, &PROVIDER);
    *reply = (struct model_reply){0};
    assert_non_null(stream);
    stream_feed(stream, body, length);
    struct draft *draft = stream_end(stream, problem);
    int status = *problem || draft->failed ? ERR_INVALID : draft_finish(draft, 0, reply);
    *problem = draft->failed ? draft->error.code : *problem;
    reply->usage = draft->usage;
    stream_free(stream);
    return status;
}

static void many_shapes_are_understood(void **state)
{
    static const struct {
        const char *body;
        size_t parts, searches;
        const char *first;
    } CASES[] = {
        {"{\"status\":\"completed\",\"output\":[" SEARCH "," SAYS(TEXT("a")) "]}", 1, 1, "a"},
        {"[" SEARCH "," SAYS(TEXT("a")) "]", 1, 1, "a"},
        {"{\"output\":[" THINKING "," SEARCH "," THINKING "," SEARCH
         "," SAYS(TEXT("a")) "," SAYS(TEXT("b")) "]}",
         2, 2, "a"},
        {"{\"output\":[" SEARCH "," SAYS(TEXT("a") "," TEXT("b")) "]}", 2, 1, "a"},
        {"{\"output\":[" SEARCH "],\"output_text\":\"a\"}", 1, 1, "a"},
        {"{\"output_text\":\"a\"}", 1, 0, "a"},
        {"{\"output\":[" SEARCH "," SAYS(TEXT("a")) "],\"output_text\":\"b\"}", 1, 1, "a"},
        {"{\"output\":[" SAYS(TEXT("a")) "]}", 1, 0, "a"},
        {"{\"output\":[" SEARCH
         ",{\"type\":\"message\",\"phase\":\"commentary\",\"content\":[" TEXT("no") "]}," SAYS(
             TEXT("a")) "]}",
         1, 1, "a"},
        {"{\"output\":[" SEARCH
         ",{\"type\":\"message\",\"phase\":\"commentary\",\"content\":[" TEXT("only") "]}]}",
         1, 1, "only"},
        {"{\"output\":[7,null,\"x\",{},{\"type\":5},{\"type\":\"message\"},{\"type\":\"message\","
         "\"content\":[1,{\"type\":\"output_text\"},{\"type\":\"output_text\",\"text\":7}]}," SEARCH
         "," SAYS(TEXT("")) "]}",
         0, 1, NULL},
        {"{\"output\":[{\"type\":\"web_search_call\",\"status\":\"failed\"}]}", 0, 0, NULL},
        {"{\"output\":[]}", 0, 0, NULL},
        {"[]", 0, 0, NULL},
        {"{\"output\":[" SEARCH "," SAYS(TEXT("a\\u0000b")) "]}", 1, 1, "a b"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_reply reply;
        const char *problem;
        size_t length = strlen(CASES[i].body);
        assert_int_equal(parse(*state, CASES[i].body, length, &reply, &problem), OK);
        assert_int_equal(reply.part_count, CASES[i].parts);
        assert_int_equal(reply.searches, CASES[i].searches);
        if (CASES[i].first) {
            assert_string_equal(reply.parts[0].text, CASES[i].first);
        }
        if (CASES[i].parts == 2) {
            bool second_message = strstr(CASES[i].body, "]},{\"type\":\"message\"") != NULL;
            assert_int_equal(reply.parts[1].begins_message, second_message);
        }
    }
}

static void parse_failures_are_told(void **state)
{
    static const struct {
        const char *body;
        const char *words;
    } CASES[] = {
        {"", "is empty"},
        {"{\"a\":1", "is not JSON"},
        {"<html>", "is none that this interface sends"},
        {"{}", "is none that this interface sends"},
        {"null", "is none that this interface sends"},
        {"{\"output\":{}}", "is none that this interface sends"},
        {"{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"oh\"},"
         "\"output\":[]}",
         "server_error"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_reply reply;
        const char *problem;
        size_t length = strlen(CASES[i].body);
        assert_int_equal(parse(*state, CASES[i].body, length, &reply, &problem), ERR_INVALID);
        assert_string_equal(problem, CASES[i].words);
    }
}

static void states_usage_and_annotations_are_read(void **state)
{
    static const char BODY[] =
        "{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
        "\"usage\":{\"input_tokens\":12,\"output_tokens\":34.0},"
        "\"output\":[" SEARCH
        "," SAYS("{\"type\":\"refusal\",\"refusal\":\"no\"},"
                 "{\"type\":\"output_text\",\"text\":\"x\",\"annotations\":["
                 "{\"type\":\"file_citation\",\"index\":1},"
                 "{\"type\":\"url_citation\",\"url\":\"https://a.example\",\"start_index\":1,"
                 "\"end_index\":2.0},{\"type\":\"url_citation\"},7,"
                 "{\"type\":\"url_citation\",\"url\":\"https://b.example\",\"title\":\"B\","
                 "\"start_index\":-4,\"end_index\":\"x\"}]}") "]}";
    struct model_reply reply;
    const char *problem;
    assert_int_equal(parse(*state, BODY, strlen(BODY), &reply, &problem), OK);
    assert_int_equal(reply.stop, MODEL_CUT);
    assert_string_equal(reply.text, "x");
    assert_int_equal(reply.usage.input_tokens, 12);
    assert_int_equal(reply.usage.output_tokens, 34);
    assert_int_equal(reply.parts[0].annotation_count, 2);
    assert_int_equal(reply.parts[0].annotations[0].end, 2);
    assert_string_equal(reply.parts[0].annotations[0].title, "");
    assert_int_equal(reply.parts[0].annotations[1].start, -1);
}

static void ceilings_hold(void **state)
{
    struct buf body;
    buf_init(&body, MIB(4));
    buf_puts(&body,
             "[" SEARCH "," SAYS("{\"type\":\"output_text\",\"text\":\"x\",\"annotations\":["));
    /* Continue inside of the list of annotations. */
    body.length -= strlen("]}");
    for (int i = 0; i < 1000; i++) {
        buf_printf(&body, "%s{\"type\":\"url_citation\",\"url\":\"https://a.example/%d\"}",
                   i ? "," : "", i);
    }
    buf_puts(&body, "]}]}]");
    struct model_reply reply;
    const char *problem;
    assert_int_equal(parse(*state, body.data, body.length, &reply, &problem), OK);
    assert_int_equal(reply.parts[0].annotation_count, LIMIT_REPLY_ANNOTATIONS);
    buf_clear(&body);
    buf_puts(&body, "[" SEARCH);
    for (int i = 0; i <= LIMIT_REPLY_PARTS; i++) {
        buf_puts(&body, "," SAYS(TEXT("a")));
    }
    buf_puts(&body, "]");
    assert_int_equal(parse(*state, body.data, body.length, &reply, &problem), ERR_INVALID);
    buf_done(&body);
}

/* ---- without memory ---- */

static void no_memory_is_an_error_and_nothing_worse(void **state)
{
    (void)state;
    static const char BODY[] = "{\"output\":[" SEARCH "," SAYS(
        "{\"type\":\"output_text\",\"text\":\"It rains. "
        "([a](https://a.example/2026/11/14/x?utm_source=openai)) It "
        "snows \\ud83e\\udda6.\","
        "\"annotations\":[{\"type\":\"url_citation\",\"title\":\"A\","
        "\"start_index\":10,"
        "\"end_index\":65,\"url\":\"https://a.example/2026/11/14/"
        "x?utm_source=openai\"}]}") "," SAYS(TEXT("b\\u0000c")) "]}";
    bool done = false;
    for (size_t ceiling = 64; !done; ceiling += 16) {
        struct arena *arena = arena_new(ceiling);
        assert_non_null(arena);
        struct model_reply reply;
        struct cited_text cited;
        const char *problem;
        struct citation_wishes wishes = {.most = 8, .now = NOW, .freshness_hours = 1};
        struct prompt_wishes prompt = {.max_results = 5, .now = NOW, .country = "Germany"};
        int status = parse(arena, BODY, strlen(BODY), &reply, &problem);
        if (status == OK) {
            status = citations_make(arena, reply.parts, reply.part_count, &wishes, &cited);
        }
        done = status == OK && prompt_write(arena, &prompt) && country_name("DE");
        if (status == OK) {
            assert_int_equal(cited.count, 1);
            assert_string_equal(cited.citations[0].snippet, "It rains.");
        } else {
            assert_int_equal(status, ERR_NOMEM);
        }
        arena_free(arena);
        assert_true(ceiling < MIB(1));
    }
}

UNIT_TEST(answer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prompt_generation_is_deterministic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prompt_includes_freshness, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prompt_includes_dates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prompt_handles_region, set_up, tear_down),
        cmocka_unit_test_setup_teardown(regions_are_country_codes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_request_is_what_the_service_wants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_region_no_country_is_assumed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_service_refuses_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pauses_that_the_service_asks_for_are_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_shapes_are_understood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parse_failures_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_usage_and_annotations_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ceilings_hold, set_up, tear_down),
        cmocka_unit_test(no_memory_is_an_error_and_nothing_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
