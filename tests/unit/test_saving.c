/* The files of an index where there is no room for them: what is deleted leaves them all the same.
 */
#include "memory_fixture.h"
#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <string.h>

enum { COUNT = LIMIT_INDEX_UNSAVED + 20 };

/* ---- a full disk, but for the database, which a library writes ---- */

static bool is_full;

ssize_t __real_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
    if (is_full) {
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, bytes, length);
}

static void add(int number)
{
    char key[32];
    char text[64];
    struct memory_result result;
    struct call *call = new_call();
    snprintf(key, sizeof key, "k%d", number);
    snprintf(text, sizeof text, "a text with zanzibar%d", number);
    assert_int_equal(memory_add(call, &SPACE,
                                &(struct memory_change){.key = key, .text = text, .place = -1},
                                &result),
                     OK);
    call_free(call);
}

static size_t count_found(const char *query)
{
    struct memory_hits hits;
    struct call *call = new_call();
    assert_int_equal(memory_search(call, &SPACE, query, &(struct memory_filter){0}, 10, 0, &hits),
                     OK);
    size_t count = hits.count;
    call_free(call);
    return count;
}

/* How many files of the index hold the word, as bytes. */
static const char *looked_for;
static size_t holders;

static int look(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)where;
    struct buf bytes;
    buf_init(&bytes, MIB(16));
    if (kind == FTW_F && strstr(path, "/index/") && read_whole(path, &bytes) == OK) {
        holders += bytes.length > 0 &&
                   memmem(bytes.data, bytes.length, looked_for, strlen(looked_for)) != NULL;
    }
    buf_done(&bytes);
    return 0;
}

static size_t files_with(const char *word)
{
    looked_for = word;
    holders = 0;
    assert_int_equal(nftw(folder, look, 8, FTW_PHYS), 0);
    return holders;
}

static void what_is_deleted_leaves_files_that_cannot_be_written(void **state)
{
    (void)state;
    const char *key = "k7";
    bool deleted = false;
    begin_process();
    for (int i = 0; i < COUNT; i++) {
        add(i);
    }
    assert_int_equal(count_found("zanzibar7"), 1);
    end_process();
    assert_int_equal(files_with("zanzibar"), 1); /* its terms share their beginnings */
    begin_process();
    struct call *call = new_call();
    is_full = true;
    assert_int_equal(memory_delete(call, &SPACE, &key, 1, &deleted), OK);
    call_free(call);
    end_process();
    is_full = false;
    assert_true(deleted);
    assert_int_equal(files_with("zanzibar"), 0);
    begin_process();
    assert_int_equal(count_found("zanzibar7"), 0);
    assert_int_equal(count_found("zanzibar8"), 1);
    end_process();
    assert_int_equal(files_with("zanzibar"), 1);
}

UNIT_TEST(saving)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_deleted_leaves_files_that_cannot_be_written,
                                        make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
