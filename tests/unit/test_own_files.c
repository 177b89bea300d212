/* Finding what came with the program, from where the program is; new files. */
#include "core/files.h"

#include "unit.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- new files ---- */

static void a_new_file_is_whole_or_gone(void **state)
{
    (void)state;
    char place[] = "/tmp/forage-new-XXXXXX";
    char path[64], other[64];
    struct stat about;
    assert_non_null(mkdtemp(place));
    snprintf(path, sizeof path, "%s/file", place);
    snprintf(other, sizeof other, "%s/other", place);
    int fd = new_file(path);
    assert_true(fd >= 0);
    assert_int_equal(write_all(fd, "text", 4), OK);
    assert_int_equal(new_file_end(fd, path, OK), OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 4);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(new_file(path), -1);
    assert_int_equal(unlink(path), 0);
    /* A failure of whoever wrote it. */
    fd = new_file(path);
    assert_int_equal(new_file_end(fd, path, ERR_CANCELLED), ERR_CANCELLED);
    assert_int_equal(lstat(path, &about), -1);
    /* A link in its place, before and meanwhile. */
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(new_file(path), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(unlink(path), 0);
    fd = new_file(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(new_file_end(fd, path, OK), ERR_IO);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(lstat(path, &about), 0); /* it is not ours to remove */
    assert_true(remove_folder(place, 1));
}

UNIT_TEST(own_files)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_beside_the_folder_first),
        cmocka_unit_test(looks_next_to_the_program),
        cmocka_unit_test(says_when_there_is_none),
        cmocka_unit_test(a_new_file_is_whole_or_gone),
    };
    return cmocka_run_group_tests_name("own_files", tests, find_self, NULL);
}
