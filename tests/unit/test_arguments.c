/* The table of commands keeps its promises, and arguments are read by it. */
#include "unit.h"

#include "cli/arguments.h"
#include "cli/cli.h"

#include <string.h>

/* ---- the table ---- */

static bool is_phrase(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return length > 0 && text[length - 1] != '.' && !strchr(text, '\n');
}

/* No option of a path is declared twice, or one of the two could never be given. */
static void check_unique(const struct command *const *path, int depth, const char *name)
{
    int found = 0;
    for (int i = 0; i < depth; i++) {
        for (const struct option *option = command_options(path[i]); option->name; option++) {
            found += strcmp(option->name, name) == 0;
        }
    }
    assert_int_equal(found, 1);
}

static void check_command(const struct command **path, int depth)
{
    const struct command *command = path[depth - 1];
    bool runs = false;
    assert_true(is_phrase(command->summary));
    for (int i = 0; i < depth; i++) {
        runs = runs || path[i]->run;
    }
    assert_true(runs || command == &COMMAND_ROOT);
    int options = 0;
    for (const struct option *option = command_options(command); option->name; option++) {
        assert_true(options++ < COMMAND_MOST_OPTIONS);
        assert_memory_equal(option->name, "--", 2);
        assert_true(is_phrase(option->help));
        assert_true(option->least <= option->most);
        check_unique(path, depth, option->name);
    }
    for (const struct command *part = command->parts; part && part->name; part++) {
        assert_true(depth < COMMAND_DEEPEST);
        assert_ptr_equal(command_part(command, part->name), part);
        path[depth] = part;
        check_command(path, depth + 1);
    }
}

static void test_table(void **state)
{
    (void)state;
    const struct command *path[COMMAND_DEEPEST] = {&COMMAND_ROOT};
    check_command(path, 1);
}

static void test_word_counts(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int least, most;
    } CASES[] = {
        {NULL, 0, 0},      {"URL", 1, 1},        {"[FILE]", 0, 1},
        {"KEY...", 1, -1}, {"[TEXT]...", 0, -1}, {"TOOL [key=value|key:=json]...", 1, -1},
        {"A [B]", 1, 2},   {"A B [C D]", 2, 3},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int least, most;
        struct command command = {.words = CASES[i].words};
        command_word_counts(&command, &least, &most);
        assert_int_equal(least, CASES[i].least);
        assert_int_equal(most, CASES[i].most);
    }
}

/* ---- reading ---- */

#define MOST_WORDS 8

/* Reads a line that is split at blanks; "''" is an empty word. */
static int read_line(struct arguments *arguments, char *line)
{
    static char *words[MOST_WORDS];
    int count = 0;
    for (char *at = line; *at;) {
        size_t length = strcspn(at, " ");
        bool last = !at[length];
        at[length] = '\0';
        assert_true(count < MOST_WORDS);
        words[count++] = strcmp(at, "''") == 0 ? at + 2 : at;
        at += length + (last ? 0 : 1);
    }
    return arguments_read(arguments, NULL, count, words);
}

static void test_reading(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *command;
        int count;
        const char *option, *value; /* that was given; NULL: none is looked at */
    } CASES[] = {
        {"read u", EXIT_OK, "read", 1, NULL, NULL},
        {"read u --start 5", EXIT_OK, "read", 1, "--start", "5"},
        {"read --start=5 u", EXIT_OK, "read", 1, "--start", "5"},
        {"read --start 5 u --start 6", EXIT_OK, "read", 1, "--start", "6"},
        {"--config f read u", EXIT_OK, "read", 1, "--config", "f"},
        {"memory --json add a b", EXIT_OK, "add", 2, "--json", ""},
        {"memory add --key k -- --key", EXIT_OK, "add", 1, "--key", "k"},
        {"memory add -", EXIT_OK, "add", 1, NULL, NULL},
        {"web -x", EXIT_OK, "web", 1, NULL, NULL},
        {"read --section --json u", EXIT_OK, "read", 1, "--section", "--json"},
        {"read --section= u", EXIT_OK, "read", 1, "--section", ""},
        {"serve --port=80", EXIT_OK, "serve", 0, "--port", "80"},
        {"read u v", EXIT_OK, "read", 2, NULL, NULL},
        {"read", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"usage x", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --strat 5", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --start", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --start x", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --start ''", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --start -1", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --start 99999999999999999999", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --outline=yes", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --render some", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --render auto|always", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --render ''", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"read u --rend auto", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"usage --days 401", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"memory", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"memory nothing", EXIT_USAGE, NULL, 0, NULL, NULL},
        {"nothing", EXIT_USAGE, NULL, 0, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arguments arguments;
        char line[128];
        snprintf(line, sizeof line, "%s", CASES[i].line);
        assert_int_equal(read_line(&arguments, line), CASES[i].code);
        if (CASES[i].code != EXIT_OK) {
            continue;
        }
        assert_string_equal(arguments_command(&arguments)->name, CASES[i].command);
        assert_int_equal(arguments.count, CASES[i].count);
        if (CASES[i].option) {
            assert_true(option_given(&arguments, CASES[i].option));
            assert_string_equal(option_text(&arguments, CASES[i].option), CASES[i].value);
        }
    }
}

static void test_settings(void **state)
{
    (void)state;
    struct arguments arguments;
    char line[] = "serve --model m --port 80";
    assert_int_equal(read_line(&arguments, line), EXIT_OK);
    char *const *settings = arguments_settings(&arguments);
    assert_string_equal(settings[0], "FORAGE_RESEARCH_MODEL=m");
    assert_string_equal(settings[1], "FORAGE_PORT=80");
    assert_null(settings[2]);
}

UNIT_TEST(arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_word_counts),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
