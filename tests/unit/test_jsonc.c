/* The editor of JSON with comments: tables of documents before and after. */
#include "core/limits.h"
#include "core/status.h"
#include "setup/jsonc.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const PATH[] = {"mcpServers", "forage"};
static const char VALUE[] = "{\n  \"command\": \"f\",\n  \"env\": {\n    \"A\": \"b\"\n  }\n}";
#define LONG(in, unit)                                                                             \
    "\"forage\": {\n" in unit "\"command\": \"f\",\n" in unit "\"env\": {\n" in unit unit          \
    "\"A\": \"b\"\n" in unit "}\n" in "}"
#define SHORT "\"forage\": {\"command\": \"f\", \"env\": {\"A\": \"b\"}}"

static void sets_members(void **state)
{
    static const struct {
        const char *before;
        const char *after;
    } CASES[] = {
        {"", "{\n  \"mcpServers\": {\n    " LONG("    ", "  ") "\n  }\n}\n"},
        {"// mine", "// mine\n{\n  \"mcpServers\": {\n    " LONG("    ", "  ") "\n  }\n}\n"},
        {"{}", "{\n  \"mcpServers\": {\n    " LONG("    ", "  ") "\n  }\n}"},
        {"{\n}\n", "{\n  \"mcpServers\": {\n    " LONG("    ", "  ") "\n  }\n}\n"},
        {"{\n\t\"a\": 1\n}\n",
         "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t" LONG("\t\t", "\t") "\n\t}\n}\n"},
        {"{\n    \"mcpServers\": {}\n}\n",
         "{\n    \"mcpServers\": {\n        " LONG("        ", "    ") "\n    }\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"b\": {} // why\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"b\": {}, // why\n    " LONG("    ", "  ") "\n  }\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"b\": {}, // why\n  },\n}\n",
         "{\n  \"mcpServers\": {\n    \"b\": {}, // why\n    " LONG("    ", "  ") ",\n  },\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"b\": {}\n    /* last */\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"b\": {},\n    /* last */\n    " LONG("    ",
                                                                             "  ") "\n  }\n}\n"},
        {"{\"mcpServers\":{\"b\":1}}", "{\"mcpServers\":{\"b\":1, " SHORT "}}"},
        {"{\"a\":1,\"mcpServers\":{}}", "{\"a\":1,\"mcpServers\":{" SHORT "}}"},
        {"{\"a\":1}", "{\"a\":1, \"mcpServers\": {" SHORT "}}"},
        {"{\n  \"mcpServers\": {\n    \"forage\": \"old\", // keep\n    \"b\": 1\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    " LONG("    ", "  ") ", // keep\n    \"b\": 1\n  }\n}\n"},
        {"{\"mcpServers\": {\"forage\": 1, \"b\": 2}}", "{\"mcpServers\": {" SHORT ", \"b\": 2}}"},
        {"{\"mcp\\u0053ervers\": {\"for\\u0061ge\": 1}}",
         "{\"mcp\\u0053ervers\": {\"for\\u0061ge\": {\"command\": \"f\", \"env\": {\"A\": "
         "\"b\"}}}}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem;
        struct buf out;
        buf_init(&out, MIB(1));
        assert_int_equal(
            jsonc_set(CASES[i].before, strlen(CASES[i].before), PATH, 2, VALUE, &out, &problem),
            OK);
        assert_string_equal(out.data, CASES[i].after);
        buf_done(&out);
    }
}

static void keeps_line_ends_and_mark(void **state)
{
    static const char BEFORE[] = "\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"b\": 1\r\n  }\r\n}";
    static const char AFTER[] =
        "\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"b\": 1,\r\n    \"forage\": [\r\n      1\r\n"
        "    ]\r\n  }\r\n}";
    struct document_problem problem;
    struct buf out;
    (void)state;
    buf_init(&out, MIB(1));
    assert_int_equal(jsonc_set(BEFORE, sizeof BEFORE - 1, PATH, 2, "[\n  1\n]", &out, &problem),
                     OK);
    assert_string_equal(out.data, AFTER);
    buf_done(&out);
}

static void takes_members_out(void **state)
{
    static const struct {
        const char *before;
        const char *after;
    } CASES[] = {
        {"{\n  \"mcpServers\": {\n    \"forage\": {}\n  }\n}\n", "{\n  \"mcpServers\": {}\n}\n"},
        {"{\n  \"mcpServers\": {\n    // ours\n    \"forage\": {}\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    // ours\n  }\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"forage\": {},\n    \"b\": 2\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"b\": 2\n  }\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"a\": 1, // c\n    \"forage\": {}\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"a\": 1 // c\n  }\n}\n"},
        {"{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"forage\": {}, // ours\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"a\": 1, // ours\n  }\n}\n"},
        {"{\"mcpServers\":{\"forage\":{\"x\":1},\"b\":2}}", "{\"mcpServers\":{\"b\":2}}"},
        {"{\"mcpServers\":{\"a\":1,\"forage\":{}}}", "{\"mcpServers\":{\"a\":1}}"},
        /* What follows on the line must not end up behind a comment. */
        {"{\"mcpServers\": {\"a\": 1, // c\n \"forage\": {}, \"b\": 2}}",
         "{\"mcpServers\": {\"a\": 1, // c\n \"b\": 2}}"},
        {"{\"mcpServers\": {\"a\": 1, // c\n \"forage\": {}}}",
         "{\"mcpServers\": {\"a\": 1 // c\n }}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem;
        struct buf out;
        buf_init(&out, MIB(1));
        assert_int_equal(
            jsonc_remove(CASES[i].before, strlen(CASES[i].before), PATH, 2, &out, &problem), OK);
        assert_string_equal(out.data, CASES[i].after);
        buf_done(&out);
    }
}

static void refuses_with_the_place(void **state)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *words;
    } CASES[] = {
        {"[]", 1, 1, "the document is not an object"},
        {"{\n  \"mcpServers\": null\n}", 2, 17, "\"mcpServers\" is not an object"},
        {"{\"mcpServers\": {\"forage\": 1, \"forage\": 2}}", 1, 17,
         "\"forage\" is there more than once"},
        {"{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "a comma or a closing brace is expected here"},
        {"{\n  \"a\": [1 2]\n}", 2, 11, "a comma or a closing bracket is expected here"},
        {"{\n  \"é\": x\n}", 2, 8, "a value is expected here"},
        {"{\n  a: 1\n}", 2, 3, "a name in double quotes is expected here"},
        {"{\"a\" 1}", 1, 6, "a colon is expected here"},
        {"{\"a\": \"x", 1, 7, "a string that does not end"},
        {"{\"a\": \"x\n\"}", 1, 7, "a string that does not end on its line"},
        {"{\"a\": \"\\q\"}", 1, 8, "an escape that JSON does not know"},
        {"{\"a\": \"\x01\"}", 1, 8, "a control character in a string"},
        {"{\"a\": 01}", 1, 7, "a number that is not JSON"},
        {"{\"a\": 1.}", 1, 7, "a number that is not JSON"},
        {"{} {}", 1, 4, "something after the end of the document"},
        {"{ /* x", 1, 3, "a comment that does not end"},
        {"{\"a\": \"\xff\"}", 1, 8, "a byte that is not UTF-8"},
        {"{,}", 1, 2, "a name in double quotes is expected here"},
        {"{", 1, 2, "a name in double quotes is expected here"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem;
        struct buf out;
        buf_init(&out, MIB(1));
        assert_int_equal(
            jsonc_set(CASES[i].text, strlen(CASES[i].text), PATH, 2, VALUE, &out, &problem),
            ERR_INVALID);
        assert_string_equal(problem.text, CASES[i].words);
        assert_int_equal(problem.line, CASES[i].line);
        assert_int_equal(problem.column, CASES[i].column);
        assert_int_equal(out.length, 0);
        buf_done(&out);
    }
}

static void knows_what_plain_json_lacks(void **state)
{
    static const struct {
        const char *text;
        size_t line; /* 0: nothing */
    } CASES[] = {
        {"{\"a\": [1, 2]}", 0}, {"{\n\"a\": 1 // c\n}", 2}, {"{\n\n\"a\": [1,]}", 3},
        {"{\"a\": 1,\n}", 1},   {"{\"a\": \"//\"}", 0},     {"/**/{}", 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem = {0};
        bool extended = jsonc_is_extended(CASES[i].text, strlen(CASES[i].text), &problem);
        assert_int_equal(extended, CASES[i].line > 0);
        assert_true(!extended || problem.line == CASES[i].line);
    }
}

static void refuses_what_is_too_deep(void **state)
{
    char text[2 * LIMIT_SETUP_DEPTH + 16];
    struct document_problem problem;
    struct document_span span;
    (void)state;
    for (size_t depth = LIMIT_SETUP_DEPTH - 1; depth <= LIMIT_SETUP_DEPTH; depth++) {
        size_t length = (size_t)snprintf(text, sizeof text, "{\"a\":");
        memset(text + length, '[', depth);
        memset(text + length + depth, ']', depth);
        text[length + 2 * depth] = '}';
        int status = jsonc_get(text, length + 2 * depth + 1, PATH, 2, &span, &problem);
        assert_int_equal(status, depth < LIMIT_SETUP_DEPTH ? ERR_NOTFOUND : ERR_INVALID);
    }
}

UNIT_TEST(jsonc)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_members),
        cmocka_unit_test(keeps_line_ends_and_mark),
        cmocka_unit_test(takes_members_out),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(knows_what_plain_json_lacks),
        cmocka_unit_test(refuses_what_is_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
