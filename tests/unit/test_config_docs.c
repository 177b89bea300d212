/* The table of variables, and the pages that are made from it. */
#include "config/config_docs.h"
#include "config/envfile.h"
#include "config/values.h"
#include "config/variables.h"
#include "config_fixture.h"
#include "text/json.h"
#include "unit.h"

static void declares_sound_variables(void **state)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable *variable = &VARIABLES[i];
        struct config_value value;
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(VARIABLES[j].name, variable->name);
        }
        assert_int_equal(value_parse(variable, variable->preset, NULL, *state, &value), OK);
        assert_int_equal(value_parse(variable, variable->example, NULL, *state, &value), OK);
        assert_true(variable->group < GROUP_COUNT);
        assert_true(i == 0 || VARIABLES[i - 1].group <= variable->group);
        assert_null(strchr(variable->help, '\n'));
        assert_int_equal(variable->help[strlen(variable->help) - 1], '.');
        assert_true(variable->preset || variable->example);
        bool numeric = variable->kind == VARIABLE_INTEGER || variable->kind == VARIABLE_DURATION ||
                       variable->kind == VARIABLE_SIZE;
        assert_true(!numeric || (variable->preset && variable->least < variable->most));
        assert_true((variable->kind == VARIABLE_DURATION) == (variable->unit_ms > 0));
        assert_true((variable->kind == VARIABLE_CHOICE) == (variable->words != NULL));
        /* The name as the configuration sees it. */
        load_one(*state, NULL);
        assert_string_equal(config_origin(variable->name), "default");
    }
}

static void writes_durations(void **state)
{
    (void)state;
    static const struct {
        int64_t duration_ms;
        const char *expected;
    } CASES[] = {{0, "0ms"},     {1, "1ms"},     {1500, "1500ms"}, {1000, "1s"},
                 {90000, "90s"}, {120000, "2m"}, {3600000, "1h"},  {5400000, "90m"}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[40];
        struct text_out out;
        text_start(&out, text, sizeof text);
        value_put_duration(&out, CASES[i].duration_ms);
        assert_string_equal(text, CASES[i].expected);
    }
}

static void documents_every_variable(void **state)
{
    (void)state;
    struct buf page;
    buf_init(&page, MIB(1));
    config_write_markdown(&page);
    assert_int_equal(buf_error(&page), OK);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        char row[200];
        snprintf(row, sizeof row, "\n| `%s` | %s%s%s | ", VARIABLES[i].name,
                 VARIABLES[i].preset ? "`" : "",
                 VARIABLES[i].preset ? VARIABLES[i].preset : "not set",
                 VARIABLES[i].preset ? "`" : "");
        if (!strstr(page.data, row)) {
            fail_msg("%s is missing", row);
        }
    }
    assert_non_null(strstr(page.data, "| `FORAGE_WORKERS` | `128` | Calls that may wait for the "
                                      "outside world at once; further ones are told that we are "
                                      "busy. An integer from 1 to 1024. |\n"));
    for (int group = 0; group < GROUP_COUNT; group++) {
        char title[80];
        snprintf(title, sizeof title, "\n## %s\n", VARIABLE_GROUPS[group].title);
        assert_non_null(strstr(page.data, title));
    }
    buf_done(&page);
}

/* With every # before a setting taken away, the example is a file that loads. */
static void writes_an_example_that_loads(void **state)
{
    struct buf page, problem;
    buf_init(&page, MIB(1));
    config_write_env_example(&page);
    assert_int_equal(buf_error(&page), OK);
    struct envfile file;
    char words[200];
    assert_int_equal(envfile_parse(*state, page.data, page.length, &file, words, sizeof words), OK);
    assert_int_equal(file.count, 0);
    size_t settings = 0;
    for (char *line = page.data; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line[0] == '#' && line[1] != ' ' && line[1] != '\0') {
            line[0] = ' ';
            settings++;
        }
        assert_true(strcspn(line, "\n") <= 100);
    }
    assert_int_equal(settings, VARIABLE_COUNT);
    write_file(page.data);
    char *none[] = {NULL};
    assert_int_equal(load(*state, none, &problem), OK);
    size_t keys = 0;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const char *example = VARIABLES[i].example;
        keys += VARIABLES[i].secret && example && strstr(example, "YOUR-KEY") != NULL;
    }
    /* One of FORAGE_CONFIG, which belongs elsewhere; the others of keys that are none. */
    assert_int_equal(config_warning_count(), 1 + keys);
    assert_true(config_is_set("FORAGE_WORKERS"));
    buf_done(&problem);
    buf_done(&page);
}

static void shows_what_is_in_force(void **state)
{
    char hosts[] = "FORAGE_ALLOWED_HOSTS=a.example,b.example";
    char context[] = "FORAGE_CONTEXT=odd\x1b[31m";
    char *entries[] = {hosts, context, NULL};
    struct buf problem, page;
    write_file("FORAGE_WORKERS=64\nFORAGE_CALL_TIMEOUT=90\n");
    assert_int_equal(load(*state, entries, &problem), OK);
    buf_init(&page, MIB(1));
    config_write_effective(&page, false);
    const struct {
        const char *name;
        const char *value;
    } lines[] = {
        {"FORAGE_PORT", "3000  (default)"},
        {"FORAGE_ALLOWED_HOSTS", "a.example,b.example  (environment)"},
        {"FORAGE_HISTORY", "false  (default)"},
        {"FORAGE_TOKENS", "not set  (default)"},
        {"FORAGE_CONTEXT", "\"odd\\u001b[31m\"  (environment)"},
        {"FORAGE_WORKERS", arena_printf(*state, "64  (%s:1)", file_path)},
        {"FORAGE_CALL_TIMEOUT", arena_printf(*state, "90s  (%s:2)", file_path)},
    };
    int longest = 0;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        int length = (int)strlen(VARIABLES[i].name);
        longest = length > longest ? length : longest;
    }
    assert_non_null(strstr(page.data, arena_printf(*state, "configuration file: %s\n", file_path)));
    for (size_t i = 0; i < COUNT(lines); i++) {
        const char *line =
            arena_printf(*state, "  %-*s  %s\n", longest, lines[i].name, lines[i].value);
        if (!strstr(page.data, line)) {
            fail_msg("%s is missing in\n%s", line, page.data);
        }
    }
    buf_done(&problem);
    buf_done(&page);
}

static void shows_it_to_programs(void **state)
{
    struct buf page;
    load_one(*state, "FORAGE_ALLOWED_HOSTS=a.example,b.example");
    buf_init(&page, MIB(1));
    config_write_effective(&page, true);
    yyjson_doc *doc = json_parse(*state, page.data, page.length, NULL);
    assert_non_null(doc);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *variables = yyjson_obj_get(root, "variables");
    assert_true(yyjson_is_null(yyjson_obj_get(root, "file")));
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "warnings")), 0);
    assert_int_equal(yyjson_arr_size(variables), VARIABLE_COUNT);
    size_t index, max;
    yyjson_val *one;
    yyjson_arr_foreach(variables, index, max, one)
    {
        const char *name = json_string(one, "name");
        yyjson_val *value = yyjson_obj_get(one, "value");
        assert_string_equal(name, VARIABLES[index].name);
        assert_string_equal(json_string(one, "origin"), config_origin(name));
        if (strcmp(name, "FORAGE_ALLOWED_HOSTS") == 0) {
            assert_string_equal(yyjson_get_str(yyjson_arr_get(value, 1)), "b.example");
        } else if (strcmp(name, "FORAGE_PORT") == 0) {
            assert_int_equal(yyjson_get_int(value), 3000);
        } else if (strcmp(name, "FORAGE_HISTORY") == 0) {
            assert_true(yyjson_is_false(value));
        } else if (strcmp(name, "FORAGE_TOKENS") == 0) {
            assert_true(yyjson_is_null(value) && yyjson_get_bool(yyjson_obj_get(one, "secret")));
        }
    }
    buf_done(&page);
}

UNIT_TEST(config_docs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(declares_sound_variables, begin),
        cmocka_unit_test_setup(writes_durations, begin),
        cmocka_unit_test_setup(documents_every_variable, begin),
        cmocka_unit_test_setup(writes_an_example_that_loads, begin),
        cmocka_unit_test_setup(shows_what_is_in_force, begin),
        cmocka_unit_test_setup(shows_it_to_programs, begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
