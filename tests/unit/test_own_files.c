/* Finding what came with the program, from where the program is. */
#include "core/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The name of this program and of the folder that it is in. */
static char folder[OWN_PATH_SIZE];
static const char *folder_name;
static const char *name;

static int find_self(void **state)
{
    (void)state;
    if (!own_program(folder, sizeof folder) || folder[0] != '/') {
        return -1;
    }
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    name = slash + 1;
    folder_name = strrchr(folder, '/') + 1;
    return 0;
}

static void looks_beside_the_folder_first(void **state)
{
    (void)state;
    char path[OWN_PATH_SIZE];
    char expected[OWN_PATH_SIZE * 2];
    assert_true(own_file(folder_name, name, path, sizeof path));
    snprintf(expected, sizeof expected, "%s/../%s/%s", folder, folder_name, name);
    assert_string_equal(path, expected);
}

static void looks_next_to_the_program(void **state)
{
    (void)state;
    char path[OWN_PATH_SIZE];
    char expected[OWN_PATH_SIZE * 2];
    assert_true(own_file("no-such-folder", name, path, sizeof path));
    snprintf(expected, sizeof expected, "%s/%s", folder, name);
    assert_string_equal(path, expected);
}

static void says_when_there_is_none(void **state)
{
    (void)state;
    char path[OWN_PATH_SIZE];
    assert_false(own_file("share/forage", "no-such-file", path, sizeof path));
    assert_false(own_file(folder_name, name, path, 8)); /* a path that does not fit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_beside_the_folder_first),
        cmocka_unit_test(looks_next_to_the_program),
        cmocka_unit_test(says_when_there_is_none),
    };
    return cmocka_run_group_tests_name("own_files", tests, find_self, NULL);
}
