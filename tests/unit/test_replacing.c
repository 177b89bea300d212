/* Files that are replaced: what has the name is whole on the disk, or it is the old one. */
#include "core/buf.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"
#include "setup/files.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a disk of which only what was synced is left after a power failure ---- */

static struct stat synced;    /* the last file, as it was then */
static bool names_are_synced; /* since the last renaming */
static bool whole_when_renamed;
static bool is_broken;

static bool is_on_disk(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_ino == synced.st_ino &&
           about.st_size == synced.st_size;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat about;
    if (is_broken) {
        errno = EIO;
        return -1;
    }
    assert_int_equal(fstat(fd, &about), 0);
    if (S_ISDIR(about.st_mode)) {
        names_are_synced = true;
    } else {
        synced = about;
    }
    return __real_fsync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    whole_when_renamed = is_on_disk(from);
    names_are_synced = false;
    return __real_rename(from, to);
}

/* ---- a folder with a file ---- */

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/forage-replacing-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    synced = (struct stat){0};
    names_are_synced = whole_when_renamed = is_broken = false;
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    is_broken = false;
    return remove_folder(folder, 1) ? 0 : -1;
}

static int replace(const char *before, const char *after)
{
    struct buf old, new;
    char problem[256];
    buf_init(&old, KIB(1));
    buf_init(&new, KIB(1));
    buf_puts(&old, before ? before : "");
    buf_puts(&new, after);
    int status = files_write(path, &new, before ? &old : NULL, 0600, problem, sizeof problem);
    buf_done(&old);
    buf_done(&new);
    return status;
}

static void expect(const char *wanted)
{
    struct buf text;
    buf_init(&text, KIB(1));
    assert_int_equal(read_whole(path, &text), OK);
    assert_string_equal(text.data, wanted);
    buf_done(&text);
}

static void a_file_is_on_the_disk_before_it_gets_its_name(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {NULL, "first", "second"};
    for (size_t i = 1; i < COUNT(TEXTS); i++) {
        assert_int_equal(replace(TEXTS[i - 1], TEXTS[i]), OK);
        assert_true(whole_when_renamed);
        assert_true(names_are_synced);
        expect(TEXTS[i]);
    }
    is_broken = true;
    assert_int_equal(replace("second", "third"), ERR_IO);
    expect("second");
}

static void a_new_file_is_on_the_disk_when_it_is_done(void **state)
{
    (void)state;
    int fd = new_file(path);
    assert_int_equal(new_file_end(fd, path, write_all(fd, "text", 4)), OK);
    assert_true(is_on_disk(path));
    assert_true(names_are_synced);
    assert_int_equal(unlink(path), 0);
    fd = new_file(path);
    is_broken = true;
    assert_int_equal(new_file_end(fd, path, OK), ERR_IO);
    assert_int_equal(access(path, F_OK), -1);
}

UNIT_TEST(replacing)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_on_the_disk_before_it_gets_its_name, make_folder,
                                        remove_all),
        cmocka_unit_test_setup_teardown(a_new_file_is_on_the_disk_when_it_is_done, make_folder,
                                        remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
