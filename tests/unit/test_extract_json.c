/* The object in what a model wrote: one row for each kind of output that was met or feared. */
#include "unit.h"

#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"
#include "research/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct extract_member WANTED[] = {
    {"success", YYJSON_TYPE_BOOL}, {"report", YYJSON_TYPE_STR}, {NULL, YYJSON_TYPE_NONE}};

#define GOOD     "{\"success\": true, \"report\": \"R\"}"
#define OTHER    "{\"success\": true, \"report\": \"other\"}"
#define WITH(in) "{\"success\": true, \"report\": \"" in "\"}"

struct row {
    const char *kind;
    const char *text;
    int status;
    const char *report; /* of OK */
};

static const struct row ROWS[] = {
    /* bare */
    {"an object alone", GOOD, OK, "R"},
    {"blanks around it", " \r\n\t" GOOD "\n\n", OK, "R"},
    {"a byte order mark", "\xEF\xBB\xBF" GOOD, OK, "R"},
    {"written over many lines", "{\r\n  \"success\": true,\r\n  \"report\": \"R\"\r\n}", OK, "R"},
    {"without blanks", "{\"success\":true,\"report\":\"R\"}", OK, "R"},
    {"members in another order", "{\"report\": \"R\", \"success\": true}", OK, "R"},
    {"more members than wanted",
     "{\"a\": [1, -2.5e3, null, {\"b\": []}], \"success\": true, \"report\": \"R\"}", OK, "R"},
    {"success is false", "{\"success\": false, \"report\": \"could not\"}", OK, "could not"},
    {"an empty report", WITH(""), OK, ""},
    {"in an array", "[" GOOD "]", OK, "R"},
    /* fences */
    {"a json fence", "```json\n" GOOD "\n```", OK, "R"},
    {"a fence in capitals", "```JSON\n" GOOD "\n```", OK, "R"},
    {"a fence with blanks", "``` json  \n\n " GOOD "\n```", OK, "R"},
    {"a fence on one line", "```json" GOOD "```", OK, "R"},
    {"a fence without a label", "```\n" GOOD "\n```", OK, "R"},
    {"a fence of tildes", "~~~json\n" GOOD "\n~~~", OK, "R"},
    {"a fence of four", "````json\n" GOOD "\n````", OK, "R"},
    {"an indented fence", "  ```json\n  " GOOD "\n  ```", OK, "R"},
    {"a fence that is not closed", "```json\n" GOOD, OK, "R"},
    {"json5 and jsonc are other labels", "```json5\n" GOOD "\n```", OK, "R"},
    {"a fence of another language first", "```python\nprint({})\n```\n```json\n" GOOD "\n```", OK,
     "R"},
    {"two fences: the last counts", "```json\n" OTHER "\n```\nBetter:\n```json\n" GOOD "\n```", OK,
     "R"},
    {"a fence before a bare object", OTHER "\n```json\n" GOOD "\n```", OK, "R"},
    {"a fence before a later bare object", "```json\n" GOOD "\n```\n" OTHER, OK, "R"},
    {"a fence with something else, then the object", "```json\n{\"a\": 1}\n```\n" GOOD, OK, "R"},
    {"an empty fence", "```json\n```\n" GOOD, OK, "R"},
    /* fences inside strings */
    {"a fence in the report", "```json\n" WITH("a\\n```c\\nint x;\\n```\\nb") "\n```", OK,
     "a\n```c\nint x;\n```\nb"},
    {"a json fence in the report", "```json\n" WITH("```json\\n{\\\"a\\\": 1}\\n```") "\n```", OK,
     "```json\n{\"a\": 1}\n```"},
    {"a fence in the report of a bare object", WITH("```json\\n{}\\n```"), OK, "```json\n{}\n```"},
    {"a whole answer quoted in the report",
     "```json\n" WITH("{\\\"success\\\": true, \\\"report\\\": \\\"quoted\\\"}") "\n```", OK,
     "{\"success\": true, \"report\": \"quoted\"}"},
    /* prose around it */
    {"prose before", "Here is the report you asked for:\n\n" GOOD, OK, "R"},
    {"prose behind", GOOD "\n\nLet me know if you need more!", OK, "R"},
    {"prose on both sides", "Sure. " GOOD " Done.", OK, "R"},
    {"prose with braces before", "I used {curly} and {{double}} braces. " GOOD, OK, "R"},
    {"prose with braces behind", GOOD " (see {1} and {})", OK, "R"},
    {"prose with a lone quote", "It's \"quoted {text. " GOOD, OK, "R"},
    {"a smaller object before", "{\"note\": \"thinking\"}\n" GOOD, OK, "R"},
    {"a smaller object behind", GOOD "\n{\"note\": \"done\"}", OK, "R"},
    {"two answers: the last counts", OTHER "\n" GOOD, OK, "R"},
    {"tags around it", "<answer>" GOOD "</answer>", OK, "R"},
    {"thoughts before", "<thinking>{maybe}</thinking>\n```json\n" GOOD "\n```", OK, "R"},
    {"inside another object",
     "{\"answer\": {\"success\": true, \"report\": \"inner\"}, \"success\": true, \"report\": "
     "\"R\"}",
     OK, "R"},
    /* small mistakes */
    {"line breaks in a string", WITH("one\n\ntwo\r\n\tthree"), OK, "one\n\ntwo\r\n\tthree"},
    {"a control character in a string", WITH("a\x01z"), OK, "a\x01z"},
    {"a comma too many", "{\"success\": true, \"report\": \"R\",}", OK, "R"},
    {"a comma too many in an array", "{\"a\": [1, 2,], \"success\": true, \"report\": \"R\"}", OK,
     "R"},
    {"escapes that do not exist", WITH("\\@ \\_ \\' \\( \\$"), OK, "@ _ ' ( $"},
    {"words as Python spells them",
     "{\"success\": True, \"a\": None, \"b\": False, \"report\": \"R\"}", OK, "R"},
    {"every escape that exists", WITH("\\\" \\\\ \\/ \\b\\f\\n\\r\\t"), OK, "\" \\ / \b\f\n\r\t"},
    {"an escaped character", WITH("\\u00e9"), OK, "\xC3\xA9"},
    {"a pair of surrogates", WITH("\\ud83d\\ude00"), OK, "\xF0\x9F\x98\x80"},
    {"half a pair", WITH("\\ud83d."), OK, "\xEF\xBF\xBD."},
    {"the other half", WITH("\\ude00."), OK, "\xEF\xBF\xBD."},
    {"half a pair before another escape", WITH("\\ud83d\\u0041"), OK,
     "\xEF\xBF\xBD"
     "A"},
    {"a NUL", WITH("a\\u0000z"), OK, "a\xEF\xBF\xBDz"},
    {"digits that are none", WITH("\\uZZZZ"), OK, "uZZZZ"},
    {"any script", WITH("日本語 عربى 🦊"), OK, "日本語 عربى 🦊"},
    /* cut off */
    {"cut in a string", "{\"success\": true, \"report\": \"half a rep", ERR_CLOSED, NULL},
    {"cut in an escape", "{\"success\": true, \"report\": \"R\\", ERR_CLOSED, NULL},
    {"cut before its end", "{\"success\": true, \"report\": \"R\"", ERR_CLOSED, NULL},
    {"cut in a word", "{\"report\": \"R\", \"success\": tru", ERR_CLOSED, NULL},
    {"cut in a number", "{\"report\": \"R\", \"n\": 12", ERR_CLOSED, NULL},
    {"cut in a fence", "```json\n{\"success\": true, \"report\": \"R", ERR_CLOSED, NULL},
    {"cut at its first byte", "Here it is: {", ERR_CLOSED, NULL},
    {"cut after an inner object", "{\"inner\": " OTHER ", \"success\": true, \"report\": \"R",
     ERR_CLOSED, NULL},
    {"an answer, then one that is cut", GOOD "\n{\"success\": true, \"rep", OK, "R"},
    {"a draft that is cut, then an answer",
     "```json\n{\"success\": true, \"report\": \"dra\n```\nOnce more:\n```json\n" GOOD "\n```", OK,
     "R"},
    /* nothing usable */
    {"nothing", "", ERR_NOTFOUND, NULL},
    {"prose alone", "I could not find anything about that.", ERR_NOTFOUND, NULL},
    {"an array alone", "[1, 2, 3]", ERR_NOTFOUND, NULL},
    {"single quotes", "{'success': true, 'report': 'R'}", ERR_NOTFOUND, NULL},
    {"names without quotes", "{success: true, report: \"R\"}", ERR_NOTFOUND, NULL},
    {"curly quotes", "{“success”: true, “report”: “R”}", ERR_NOTFOUND, NULL},
    {"a missing comma", "{\"success\": true \"report\": \"R\"}", ERR_NOTFOUND, NULL},
    {"a comment", "{\"success\": true, // yes\n \"report\": \"R\"}", ERR_NOTFOUND, NULL},
    {"JSON inside a string", "\"{\\\"success\\\": true, \\\"report\\\": \\\"R\\\"}\"", ERR_NOTFOUND,
     NULL},
    {"no report", "{\"success\": true}", ERR_INVALID, NULL},
    {"no success", "{\"report\": \"R\"}", ERR_INVALID, NULL},
    {"success as a word", "{\"success\": \"true\", \"report\": \"R\"}", ERR_INVALID, NULL},
    {"a report that is a list", "{\"success\": true, \"report\": [\"R\"]}", ERR_INVALID, NULL},
    {"a name twice", "{\"success\": true, \"report\": \"R\", \"report\": \"S\"}", ERR_INVALID,
     NULL},
    {"a number that is none", "{\"success\": true, \"report\": \"R\", \"n\": 1.2.3}", ERR_INVALID,
     NULL},
    {"bytes that are no UTF-8", WITH("\xFF"), ERR_INVALID, NULL},
};

static void each_kind_of_output(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct arena *arena = arena_new(MIB(16));
        size_t length = strlen(ROWS[i].text);
        /* In memory of exactly its size, so that a sanitizer sees a step too far. */
        char *text = malloc(length ? length : 1);
        assert_non_null(text);
        memcpy(text, ROWS[i].text, length);
        yyjson_val *object;
        int status = extract_json(arena, text, length, WANTED, &object);
        free(text);
        const char *report = json_string(object, "report");
        if (status != ROWS[i].status ||
            (status == OK && (!report || strcmp(report, ROWS[i].report) != 0))) {
            fail_msg("%s: %s, %s", ROWS[i].kind, status_name(status), report ? report : "nothing");
        }
        arena_free(arena);
    }
}

static void there_are_sixty_kinds(void **state)
{
    (void)state;
    assert_true(COUNT(ROWS) >= 60);
}

/* Every beginning of an answer is cut off, and the whole is not. */
static void every_cut_is_seen(void **state)
{
    (void)state;
    static const char WHOLE[] =
        "{\"a\": [1, {\"b\": \"\\u00e9\\n\"}], \"success\": true, \"report\": \"R\"}";
    for (size_t length = 1; length < sizeof WHOLE; length++) {
        struct arena *arena = arena_new(MIB(1));
        yyjson_val *object;
        int status = extract_json(arena, WHOLE, length, WANTED, &object);
        assert_int_equal(status, length < sizeof WHOLE - 1 ? ERR_CLOSED : OK);
        arena_free(arena);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    static const size_t DEPTHS[] = {LIMIT_JSON_DEPTH - 1, LIMIT_JSON_DEPTH, 100000};
    for (size_t i = 0; i < COUNT(DEPTHS); i++) {
        struct buf text;
        buf_init(&text, MIB(1));
        buf_puts(&text, "{\"success\": true, \"report\": \"R\", \"deep\": ");
        for (size_t j = 0; j < DEPTHS[i]; j++) {
            buf_putc(&text, '[');
        }
        for (size_t j = 0; j < DEPTHS[i]; j++) {
            buf_putc(&text, ']');
        }
        buf_putc(&text, '}');
        struct arena *arena = arena_new(MIB(16));
        yyjson_val *object;
        int status = extract_json(arena, text.data, text.length, WANTED, &object);
        assert_int_equal(status, i == 0 ? OK : ERR_NOTFOUND);
        arena_free(arena);
        buf_done(&text);
    }
}

/* Text that is made to be read again and again. It ends, and in memory that does not grow with the
 * number of objects. */
static void hostile_text_costs_little(void **state)
{
    (void)state;
    static const char *const PIECES[] = {
        "{",         "{}",  "{\"a\":", "{\"a\":{\"b\":1},", "```json\n{",
        "{\"a\":\"", "\"{", GOOD,      "{\"a\":[",
    };
    for (size_t i = 0; i < COUNT(PIECES); i++) {
        struct buf text;
        buf_init(&text, MIB(2));
        while (text.length < MIB(1)) {
            buf_puts(&text, PIECES[i]);
        }
        struct arena *arena = arena_new(KIB(256));
        yyjson_val *object;
        int64_t began = clock_now_ms();
        int status = extract_json(arena, text.data, text.length, WANTED, &object);
        assert_int_not_equal(status, ERR_NOMEM);
        assert_true(clock_now_ms() - began < 60000);
        arena_free(arena);
        buf_done(&text);
    }
}

UNIT_TEST(extract_json)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_output),       cmocka_unit_test(there_are_sixty_kinds),
        cmocka_unit_test(every_cut_is_seen),         cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(hostile_text_costs_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
