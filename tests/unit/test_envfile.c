/* The configuration file: a table of lines and what they mean, one of lines that are refused, and
 * the reading of real files. */
#include "config/envfile.h"
#include "core/limits.h"
#include "core/status.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

/* Entries as "line KEY=value" with | between them, so that a table can hold them. */
static char *describe(struct arena *arena, const struct envfile *file)
{
    char *text = arena_strdup(arena, "");
    for (size_t i = 0; i < file->count; i++) {
        text = arena_printf(arena, "%s%s%zu %s=%s", text, i ? "|" : "", file->entries[i].line,
                            file->entries[i].key, file->entries[i].value);
    }
    assert_non_null(text);
    return text;
}

static void understands_lines(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"", ""},
        {"\n\n", ""},
        {"# comment", ""},
        {"   # comment\n\t\n", ""},
        {"A=1", "1 A=1"},
        {"A=1\n", "1 A=1"},
        {"A=1\nB=2\n", "1 A=1|2 B=2"},
        {"\n# x\nA=1\n\nB=2", "3 A=1|5 B=2"},
        {"A=1\r\nB=2\r\n", "1 A=1|2 B=2"},
        {"\xEF\xBB\xBF"
         "A=1",
         "1 A=1"},
        {"A=1\nA=2", "1 A=1|2 A=2"},
        {"_a9=x", "1 _a9=x"},
        {"  A = 1  ", "1 A=1"},
        {"\tA\t=\t1\t", "1 A=1"},
        {"export A=1", "1 A=1"},
        {"  export\t A=1", "1 A=1"},
        {"export=1", "1 export=1"},
        {"exported=1", "1 exported=1"},
        {"A=", "1 A="},
        {"A=   ", "1 A="},
        {"A= # comment", "1 A="},
        {"A=#comment", "1 A="},
        {"A=a b  c", "1 A=a b  c"},
        {"A=a # comment", "1 A=a"},
        {"A=a\t#comment", "1 A=a"},
        {"A=a#b", "1 A=a#b"},
        {"A=http://h/#top # x", "1 A=http://h/#top"},
        {"A=b=c", "1 A=b=c"},
        {"A=a\"b'c", "1 A=a\"b'c"},
        {"A=a\\nb", "1 A=a\\nb"},
        {"A=$HOME/${X}`y`", "1 A=$HOME/${X}`y`"},
        {"A=\u00e9\u4e2d", "1 A=\u00e9\u4e2d"},
        {"A='a b'", "1 A=a b"},
        {"A='a # \"b\" \\n $c'", "1 A=a # \"b\" \\n $c"},
        {"A=''", "1 A="},
        {"A='  a  '  # comment", "1 A=  a  "},
        {"A='a'#comment", "1 A=a"},
        {"A=\"a b\"", "1 A=a b"},
        {"A=\"\"", "1 A="},
        {"A=\"a # 'b'\"  # comment", "1 A=a # 'b'"},
        {"A=\"\\n\\t\\\"\\\\\\$\"", "1 A=\n\t\"\\$"},
        {"A=\"$HOME\"", "1 A=$HOME"},
        {"A=\"\\\\\"", "1 A=\\"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct envfile file;
        char problem[200] = "untouched";
        int status = envfile_parse(arena, CASES[i].text, strlen(CASES[i].text), &file, problem,
                                   sizeof problem);
        if (status != OK || strcmp(describe(arena, &file), CASES[i].expected) != 0) {
            fail_msg("%s: %s %s", CASES[i].text, describe(arena, &file), problem);
        }
        assert_string_equal(problem, "");
    }
}

#define EXPECTED "expected KEY=value, or a comment that begins with #"
#define ESCAPES  "in double quotes a \\ goes with n, t, \", \\ or $ only"

static void refuses_lines(void **state)
{
    static const struct {
        const char *text;
        size_t length; /* 0: up to the NUL */
        const char *problem;
    } CASES[] = {
        {"A", 0, "line 1: " EXPECTED},
        {"A=1\nB\n", 0, "line 2: " EXPECTED},
        {"=1", 0, "line 1: " EXPECTED},
        {"1A=1", 0, "line 1: " EXPECTED},
        {"A B=1", 0, "line 1: " EXPECTED},
        {"A-B=1", 0, "line 1: " EXPECTED},
        {"A: 1", 0, "line 1: " EXPECTED},
        {"export", 0, "line 1: " EXPECTED},
        {"export A", 0, "line 1: " EXPECTED},
        {"\u00c4=1", 0, "line 1: " EXPECTED},
        {"A='a", 0, "line 1: the value is not closed with ' on its line"},
        {"A='a\nb'", 0, "line 1: the value is not closed with ' on its line"},
        {"A=\"a", 0, "line 1: the value is not closed with \" on its line"},
        {"A=\"a\\\"", 0, "line 1: the value is not closed with \" on its line"},
        {"A=\"a\nb\"", 0, "line 1: the value is not closed with \" on its line"},
        {"A='a'b", 0, "line 1: something follows the closing quote"},
        {"A=\"a\" b", 0, "line 1: something follows the closing quote"},
        {"A=\"a\"\"b\"", 0, "line 1: something follows the closing quote"},
        {"A=\"\\q\"", 0, "line 1: " ESCAPES},
        {"A=\"\\", 0, "line 1: " ESCAPES},
        {"\nA=\xff", 0, "line 2: the text is not UTF-8"},
        {"# \xc3(", 0, "line 1: the text is not UTF-8"},
        {"A=1\0", 4, "line 1: there is a control character"},
        {"A=1\n\0B=2", 8, "line 2: there is a control character"},
        {"A=\x1b[31m", 0, "line 1: there is a control character"},
        {"A=a\rb", 0, "line 1: there is a control character"},
        {"A=\x7f", 0, "line 1: there is a control character"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct envfile file;
        char problem[200] = "untouched";
        size_t length = CASES[i].length ? CASES[i].length : strlen(CASES[i].text);
        int status = envfile_parse(arena, CASES[i].text, length, &file, problem, sizeof problem);
        if (status != ERR_INVALID || strcmp(problem, CASES[i].problem) != 0) {
            fail_msg("%s: %d %s", CASES[i].text, status, problem);
        }
    }
}

static char *filled(struct arena *arena, const char *before, char c, size_t count)
{
    size_t start = strlen(before);
    char *text = arena_alloc(arena, start + count + 1);
    assert_non_null(text);
    memcpy(text, before, start);
    memset(text + start, c, count);
    text[start + count] = '\0';
    return text;
}

static void keeps_its_ceilings(void **state)
{
    struct arena *arena = *state;
    char problem[200];
    struct envfile file;
    const struct {
        const char *text;
        int status;
        const char *problem;
    } cases[] = {
        {filled(arena, "A=", 'x', LIMIT_CONFIG_VALUE_BYTES), OK, ""},
        {filled(arena, "A=", 'x', LIMIT_CONFIG_VALUE_BYTES + 1), ERR_LIMIT,
         "line 1: the value is longer than 32 KiB"},
        {filled(arena, "", '\n', LIMIT_CONFIG_FILE_BYTES), OK, ""},
        {filled(arena, "", '\n', LIMIT_CONFIG_FILE_BYTES + 1), ERR_LIMIT,
         "the file is larger than 256 KiB"},
        {arena_printf(arena, "%s=1", filled(arena, "", 'K', ENVFILE_LONGEST_KEY)), OK, ""},
        {arena_printf(arena, "%s=1", filled(arena, "", 'K', ENVFILE_LONGEST_KEY + 1)), ERR_LIMIT,
         "line 1: the name is longer than 128 characters"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int status = envfile_parse(arena, cases[i].text, strlen(cases[i].text), &file, problem,
                                   sizeof problem);
        assert_int_equal(status, cases[i].status);
        assert_string_equal(problem, cases[i].problem);
    }
    char *many = arena_alloc(arena, (ENVFILE_MOST_ENTRIES + 1) * 4 + 1);
    assert_non_null(many);
    for (size_t i = 0; i <= ENVFILE_MOST_ENTRIES; i++) {
        memcpy(many + 4 * i, "A=1\n", 5);
    }
    assert_int_equal(
        envfile_parse(arena, many, 4 * ENVFILE_MOST_ENTRIES, &file, problem, sizeof problem), OK);
    assert_int_equal(file.count, ENVFILE_MOST_ENTRIES);
    assert_int_equal(
        envfile_parse(arena, many, 4 * ENVFILE_MOST_ENTRIES + 4, &file, problem, sizeof problem),
        ERR_LIMIT);
    assert_string_equal(problem, "line 1025: more than 1024 settings");
}

static void survives_a_full_arena(void **state)
{
    (void)state;
    static const char TEXT[] = "FIRST=one\nSECOND=\"two\"\nTHIRD='three'\n";
    bool finished = false;
    for (size_t ceiling = 0; ceiling < 4096 && !finished; ceiling++) {
        struct arena *small = arena_new(ceiling);
        struct envfile file;
        char problem[200];
        assert_non_null(small);
        int status = envfile_parse(small, TEXT, strlen(TEXT), &file, problem, sizeof problem);
        assert_true(status == OK || status == ERR_NOMEM);
        finished = status == OK;
        arena_free(small);
    }
    assert_true(finished);
}

static void reads_files(void **state)
{
    struct arena *arena = *state;
    char folder[] = "/tmp/forage-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = arena_printf(arena, "%s/forage.env", folder);
    struct envfile file;
    unsigned mode = 0;
    char problem[200];

    assert_int_equal(envfile_read(arena, path, &file, &mode, problem, sizeof problem),
                     ERR_NOTFOUND);
    assert_int_equal(file.count, 0);

    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("A=1\nB='two'\n", stream);
    fclose(stream);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(envfile_read(arena, path, &file, &mode, problem, sizeof problem), OK);
    assert_string_equal(describe(arena, &file), "1 A=1|2 B=two");
    assert_int_equal(mode, 0640);

    assert_int_equal(envfile_read(arena, folder, &file, &mode, problem, sizeof problem), ERR_IO);
    assert_string_equal(problem, "Is a directory");
    assert_int_equal(envfile_read(arena, "/dev/null", &file, &mode, problem, sizeof problem), OK);
    assert_int_equal(file.count, 0);
    assert_int_equal(envfile_read(arena, "/dev/zero", &file, &mode, problem, sizeof problem),
                     ERR_LIMIT);
    unlink(path);
    rmdir(folder);
}

UNIT_TEST(envfile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands_lines),  cmocka_unit_test(refuses_lines),
        cmocka_unit_test(keeps_its_ceilings), cmocka_unit_test(survives_a_full_arena),
        cmocka_unit_test(reads_files),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
