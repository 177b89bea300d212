/* An index that is made part by part, while the store changes under it: what happens between the
 * reading of a part and its coming into the index happens here at exactly that moment. */
#include "memory/building.h"
#include "memory/lines.h"
#include "memory/memories.h"
#include "memory_fixture.h"
#include "unit.h"

enum { COUNT = LIMIT_MEMORY_AT_ONCE + 16 };

static int start(void **state)
{
    int made = make_folder(state);
    begin_process();
    indexes_only_look(parts.memories->indexes); /* nobody fills a gap but the test */
    return made;
}

static int finish(void **state)
{
    end_process();
    return remove_all(state);
}

/* Memories k0, k1 and so on, whose texts are of this word. */
static void import(const char *word)
{
    struct call *call = new_call();
    struct lines *lines = lines_new(call, &(struct lines_options){0});
    char line[128];
    for (int i = 0; i < COUNT; i++) {
        int length =
            snprintf(line, sizeof line, "{\"key\":\"k%d\",\"text\":\"%s%d\"}\n", i, word, i);
        assert_int_equal(lines_feed(lines, line, (size_t)length), OK);
    }
    assert_int_equal(lines_end(lines), OK);
    lines_free(lines);
    call_free(call);
}

static void delete_key(const char *key)
{
    struct call *call = new_call();
    bool deleted;
    assert_int_equal(memory_delete(call, &SPACE, &key, 1, &deleted), OK);
    call_free(call);
}

/* The index as it is now, less what is in a gap. */
static struct space_index *reach(struct call *call, struct db **db)
{
    struct space_index *one = NULL;
    assert_int_equal(memories_borrow(call, db), OK);
    assert_int_equal(indexes_acquire(parts.memories->indexes, *db, &SPACE, NULL, &one), OK);
    assert_non_null(one);
    return one;
}

/* ---- what happens in between ---- */

static void (*in_between)(void);

int __real_store_changes(struct db *db, struct arena *arena, int64_t space, int64_t since,
                         size_t limit, store_take take, store_take_removed removed, void *context,
                         int64_t *seen);
int __wrap_store_changes(struct db *db, struct arena *arena, int64_t space, int64_t since,
                         size_t limit, store_take take, store_take_removed removed, void *context,
                         int64_t *seen);
int __wrap_store_changes(struct db *db, struct arena *arena, int64_t space, int64_t since,
                         size_t limit, store_take take, store_take_removed removed, void *context,
                         int64_t *seen)
{
    void (*happens)(void) = in_between;
    int status = __real_store_changes(db, arena, space, since, limit, take, removed, context, seen);
    in_between = NULL;
    if (happens) {
        happens();
    }
    return status;
}

/* Others write more than a search waits for, and then somebody searches. */
static void fall_far_behind(void)
{
    struct db *db;
    struct call *call = new_call();
    import("new");
    delete_key("k0");
    indexes_release(reach(call, &db));
    assert_int_equal(memories_return(call, db, OK), OK);
    call_free(call);
}

static void what_was_deleted_meanwhile_does_not_come_back(void **state)
{
    (void)state;
    struct db *db;
    struct call *call = new_call();
    import("old");
    struct space_index *one = reach(call, &db);
    assert_int_equal(indexes_missing(one), COUNT);
    indexes_release(one);
    in_between = fall_far_behind;
    do {
        assert_int_equal(building_step(one, db), OK);
    } while (one->missing > 0);
    assert_int_equal(index_count(one->index), COUNT - 1);
    assert_int_equal(memories_return(call, db, OK), OK);
    call_free(call);
}

/* What came after a gap is found at once, and stays so when the gap grows beyond it. */
static void a_check_of_what_is_half_made_finds_nothing_wrong(void **state)
{
    (void)state;
    struct db *db;
    struct memory_result result;
    struct memory_check check;
    struct call *call = new_call();
    import("old");
    indexes_release(reach(call, &db));
    assert_int_equal(memories_return(call, db, OK), OK);
    assert_int_equal(memory_add(call, &SPACE,
                                &(struct memory_change){.key = "k", .text = "late", .place = -1},
                                &result),
                     OK);
    struct space_index *one = reach(call, &db);
    assert_int_equal(index_count(one->index), 1);
    indexes_release(one);
    assert_int_equal(memories_return(call, db, OK), OK);
    fall_far_behind();
    assert_int_equal(indexes_missing(one), COUNT - 1); /* and not the one that came after */
    assert_int_equal(memory_check(call, false, &check), OK);
    assert_int_equal(check.count, 0);
    assert_int_equal(index_count(one->index), 1);
    call_free(call);
}

UNIT_TEST(building)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_deleted_meanwhile_does_not_come_back, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_check_of_what_is_half_made_finds_nothing_wrong, start,
                                        finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
