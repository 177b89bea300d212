/* The editor of TOML: tables of documents before and after, and of what is refused. */
#include "core/limits.h"
#include "core/status.h"
#include "setup/toml.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const PATH[] = {"mcp_servers", "forage"};
static const char BODY[] = "command = \"f\"\n";
#define TABLE "[mcp_servers.forage]\ncommand = \"f\"\n"

static void adds_and_takes_out(void **state)
{
    static const struct {
        const char *before;
        const char *after;
        bool is_restored; /* to the byte; otherwise a line end is left */
    } CASES[] = {
        {"", TABLE, true},
        {"model = \"x\"\n", "model = \"x\"\n\n" TABLE, true},
        {"model = \"x\"", "model = \"x\"\n\n" TABLE, false},
        {"# mine\n[a]\nb = 1 # c\n\n", "# mine\n[a]\nb = 1 # c\n\n\n" TABLE, true},
        {"[mcp_servers.other]\ncommand = 'x'\n", "[mcp_servers.other]\ncommand = 'x'\n\n" TABLE,
         true},
        {"[mcp_servers]\n[mcp_servers.other]\n", "[mcp_servers]\n[mcp_servers.other]\n\n" TABLE,
         true},
        {"[mcp_servers]\nother = { command = 'x' }\n",
         "[mcp_servers]\nother = { command = 'x' }\n\n" TABLE, true},
        {"[[a]]\n[[a]]\n", "[[a]]\n[[a]]\n\n" TABLE, true},
        {"[x.mcp_servers.forage]\n", "[x.mcp_servers.forage]\n\n" TABLE, true},
        {"a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.forage]\r\ncommand = \"f\"\r\n", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem;
        struct buf out;
        struct buf back;
        buf_init(&out, MIB(1));
        buf_init(&back, MIB(1));
        assert_int_equal(
            toml_set(CASES[i].before, strlen(CASES[i].before), PATH, 2, BODY, &out, &problem), OK);
        assert_string_equal(out.data, CASES[i].after);
        assert_int_equal(toml_remove(out.data, out.length, PATH, 2, &back, &problem), OK);
        if (CASES[i].is_restored) {
            assert_string_equal(back.data ? back.data : "", CASES[i].before);
        }
        buf_done(&out);
        buf_done(&back);
    }
}

static void takes_out_all_of_it_and_nothing_else(void **state)
{
    static const char BEFORE[] = "a = 1\n\n# about forage\n[mcp_servers.forage]\ncommand = \"f\"\n"
                                 "# inside\nargs = [\n  \"mcp\",\n]\n# about b\n[b]\nc = 1\n\n"
                                 "[mcp_servers.forage.env]\nX = \"y\"\n\n[d]\n";
    static const char AFTER[] = "a = 1\n\n# about forage\n# about b\n[b]\nc = 1\n\n[d]\n";
    struct document_problem problem;
    struct buf out;
    (void)state;
    buf_init(&out, MIB(1));
    assert_int_equal(toml_remove(BEFORE, sizeof BEFORE - 1, PATH, 2, &out, &problem), OK);
    assert_string_equal(out.data, AFTER);
    buf_done(&out);
}

static void changes_keys(void **state)
{
    static const struct {
        const char *before;
        const char *key;
        const char *value; /* NULL: it is taken out */
        const char *after;
    } CASES[] = {
        {"[mcp_servers.forage]\ncommand = \"a\" # c\nx = 1\n", "command", "\"b\"",
         "[mcp_servers.forage]\ncommand = \"b\" # c\nx = 1\n"},
        {"[mcp_servers.forage]\nx = 1\n\n[b]\n", "command", "\"b\"",
         "[mcp_servers.forage]\nx = 1\ncommand = \"b\"\n\n[b]\n"},
        {"[mcp_servers.forage]", "command", "\"b\"", "[mcp_servers.forage]\ncommand = \"b\"\n"},
        {"[\"mcp_servers\".'forage']\n\"command\" = '''\na'''\n", "command", "\"b\"",
         "[\"mcp_servers\".'forage']\n\"command\" = \"b\"\n"},
        {"[mcp_servers.\"for\\u0061ge\"]\nargs = [ # c\n \"]\",\n]\n", "args", "[]",
         "[mcp_servers.\"for\\u0061ge\"]\nargs = []\n"},
        {"[mcp_servers.forage]\ncommand = \"a\"\nurl = \"b\" # gone\nx = 1\n", "url", NULL,
         "[mcp_servers.forage]\ncommand = \"a\"\nx = 1\n"},
        /* The key of another table is another key. */
        {"[mcp_servers.forage]\n[mcp_servers.other]\ncommand = \"a\"\n", "command", "\"b\"",
         "[mcp_servers.forage]\ncommand = \"b\"\n[mcp_servers.other]\ncommand = \"a\"\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem;
        struct buf out;
        const char *text = CASES[i].before;
        const char *const path[] = {PATH[0], PATH[1], CASES[i].key};
        buf_init(&out, MIB(1));
        int status = CASES[i].value
                         ? toml_set(text, strlen(text), path, 3, CASES[i].value, &out, &problem)
                         : toml_remove(text, strlen(text), path, 3, &out, &problem);
        assert_int_equal(status, OK);
        assert_string_equal(out.data, CASES[i].after);
        buf_done(&out);
    }
}

static void refuses_with_the_place(void **state)
{
#define CANNOT "mcp_servers.forage cannot be edited here: mcp_servers is written as "
    static const struct {
        const char *text;
        int status;
        size_t line, column;
        const char *words;
    } CASES[] = {
        {"mcp_servers = {}\n", ERR_UNSUPPORTED, 1, 1, CANNOT "one value"},
        {"a = 1\nmcp_servers.x.command = 'y'\n", ERR_UNSUPPORTED, 2, 1, CANNOT "dotted keys"},
        {"[mcp_servers]\nforage = {}\n", ERR_UNSUPPORTED, 2, 1,
         CANNOT "an inline table or dotted keys"},
        {"[mcp_servers]\nforage.command = ''\n", ERR_UNSUPPORTED, 2, 1,
         CANNOT "an inline table or dotted keys"},
        {"[[mcp_servers]]\n", ERR_UNSUPPORTED, 1, 3, CANNOT "an array of tables"},
        {"[[mcp_servers.forage]]\n", ERR_UNSUPPORTED, 1, 3, CANNOT "an array of tables"},
        {"[mcp_servers.forage]\n[mcp_servers.forage]\n", ERR_INVALID, 2, 1,
         "mcp_servers.forage is there more than once"},
        {"a = \n", ERR_INVALID, 1, 5, "a value is expected here"},
        {"a = b\n", ERR_INVALID, 1, 5, "a value is expected here"},
        {"a = 1 2\n", ERR_INVALID, 1, 7, "the line should end here"},
        {"\na\n", ERR_INVALID, 2, 2, "an equals sign is expected here"},
        {"a = \"é\" x\n", ERR_INVALID, 1, 9, "the line should end here"},
        {"a = \"x\n", ERR_INVALID, 1, 5, "a string that does not end on its line"},
        {"a = '''x\n", ERR_INVALID, 1, 5, "a string that does not end"},
        {"a = \"\\q\"\n", ERR_INVALID, 1, 6, "an escape that TOML does not know"},
        {"a = [1 2]\n", ERR_INVALID, 1, 8, "a comma or a closing bracket is expected here"},
        {"a = {b = 1 c = 2}\n", ERR_INVALID, 1, 12, "a comma or a closing brace is expected here"},
        {"[a\n", ERR_INVALID, 1, 3, "a closing bracket is expected here"},
        {"[]\n", ERR_INVALID, 1, 2, "a key is expected here"},
        {"a = 01\n", ERR_INVALID, 1, 5, "a value is expected here"},
        {"a = 1\rb = 2\n", ERR_INVALID, 1, 6, "the line should end here"},
        {"# \x01\n", ERR_INVALID, 1, 3, "a control character in a comment"},
        {"a = \"\xff\"\n", ERR_INVALID, 1, 6, "a byte that is not UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document_problem problem = {0};
        struct buf out;
        buf_init(&out, MIB(1));
        assert_int_equal(
            toml_set(CASES[i].text, strlen(CASES[i].text), PATH, 2, BODY, &out, &problem),
            CASES[i].status);
        assert_string_equal(problem.text, CASES[i].words);
        assert_int_equal(problem.line, CASES[i].line);
        assert_int_equal(problem.column, CASES[i].column);
        assert_int_equal(out.length, 0);
        buf_done(&out);
    }
}

/* Values of every kind that TOML has: none of them is taken for something wrong. */
static void passes_over_values(void **state)
{
    static const char *const VALUES[] = {
        "1",
        "+1_000",
        "0xDEAD_beef",
        "0o17",
        "0b1",
        "1.5",
        "-0.0",
        "6.02e+23",
        "inf",
        "-nan",
        "true",
        "false",
        "1979-05-27T07:32:00Z",
        "1979-05-27 07:32:00.99-07:00",
        "1979-05-27",
        "07:32:00",
        "\"\"",
        "''",
        "\"\"\"\na \\\n   \"\" b\"\"\"\"",
        "'''\nx '' y'''",
        "[]",
        "[1, 2,]",
        "[ # c\n 1, [2], {a = 1} ]",
        "{}",
        "{ a.b = 1, \"c\" = 'd' }",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(VALUES); i++) {
        char text[256];
        struct document_span table;
        struct document_problem problem = {0};
        int length = snprintf(text, sizeof text, "a = %s # c\n[b]\n", VALUES[i]);
        int status = toml_get(text, (size_t)length, PATH, 2, &table, &problem);
        if (status != ERR_NOTFOUND) {
            fail_msg("%s: %s", VALUES[i], problem.text);
        }
    }
}

static void reads_strings(void **state)
{
    static const struct {
        const char *value;
        const char *expected; /* with | between them; NULL: not strings */
    } CASES[] = {
        {"\"a\"", "a"},
        {"'a\\b'", "a\\b"},
        {"\"a\\\"\\\\\"", "a\"\\"},
        {"[]", ""},
        {"['a', \"b\"]", "a|b"},
        {"[ # c\n 'a',\n]", "a"},
        {"1", NULL},
        {"[1]", NULL},
        {"{a = 'b'}", NULL},
        {"\"\"\"a\"\"\"", NULL},
        {"\"\\u0061\"", NULL},
    };
    struct arena *arena = arena_new(MIB(1));
    (void)state;
    assert_non_null(arena);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *strings[8];
        char *joined = arena_strdup(arena, "");
        int count = toml_strings(arena, CASES[i].value,
                                 (struct document_span){0, strlen(CASES[i].value)}, strings, 8);
        assert_int_equal(count < 0, CASES[i].expected == NULL);
        for (int j = 0; j < count; j++) {
            joined = arena_printf(arena, "%s%s%s", joined, j ? "|" : "", strings[j]);
        }
        if (CASES[i].expected) {
            assert_string_equal(joined, CASES[i].expected);
        }
    }
    arena_free(arena);
}

UNIT_TEST(toml)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_takes_out),
        cmocka_unit_test(takes_out_all_of_it_and_nothing_else),
        cmocka_unit_test(changes_keys),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(passes_over_values),
        cmocka_unit_test(reads_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
