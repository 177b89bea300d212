/* Every allocation of the memory engine fails once, SQLite's included: each piece of work is done
 * again and again, and each time one allocation further on returns NULL. It may fail then, but the
 * same work succeeds afterwards, and what is in the store is what was said. */
#include "unit.h"

#include "call/parts.h"
#include "config/config.h"
#include "core/limits.h"
#include "failing_allocations.h"
#include "guard/callers.h"
#include "memory/lines.h"
#include "memory/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the work ---- */

static struct parts parts;
static const struct memory_space SPACE = {"local", "default"};
static const struct memory_filter ALL = {0};
static const char *const KEYS[] = {"first", "second"};

static int add(struct call *call)
{
    struct memory_result result;
    const char *const tags[] = {"red", "round"};
    struct memory_change change = {.key = "first",
                                   .text = "A database of many connections. 数据库",
                                   .tags = tags,
                                   .tag_count = 2,
                                   .metadata = "{\"a\":[1,2]}",
                                   .session = "s",
                                   .place = -1};
    return memory_add(call, &SPACE, &change, &result);
}

static int add_without_key(struct call *call)
{
    struct memory_result result;
    struct memory_change change = {.text = "Die Versicherung ist nicht für uns", .place = -1};
    return memory_add(call, &SPACE, &change, &result);
}

static int import_lines(struct call *call)
{
    static const char TEXT[] = "{\"key\":\"second\",\"text\":\"two\",\"tags\":[\"x\"]}\n"
                               "{\"key\":\"third\",\"text\":\"three\",\"session\":\"s\"}\n";
    struct lines *lines = lines_new(call, &(struct lines_options){0});
    int status = lines ? lines_feed(lines, TEXT, strlen(TEXT)) : ERR_NOMEM;
    status = status == OK ? lines_end(lines) : status;
    lines_free(lines);
    return status;
}

static int get(struct call *call)
{
    struct memory found[2];
    struct memory_around around[2];
    return memory_get(call, &SPACE, KEYS, 2, 2, found, around);
}

static int search(struct call *call)
{
    struct memory_hits hits;
    return memory_search(call, &SPACE, "database connection versicherung", &ALL, 5, 0, &hits);
}

static int fulltext(struct call *call)
{
    struct memory_hits hits;
    const char *const keywords[] = {"\"many connections\"", "数据", "conn*", "-none"};
    return memory_fulltext(call, &SPACE, keywords, 4, MEMORY_OR, &ALL, 5, 0, &hits);
}

static int list(struct call *call)
{
    struct memory_page page;
    return memory_list(call, &SPACE, &ALL, 10, 0, &page);
}

static int overview(struct call *call)
{
    struct memory_overview seen;
    return memory_overview(call, &SPACE, &ALL, &seen);
}

static int update(struct call *call)
{
    struct memory_result result;
    struct memory_change change = {.key = "first", .text = "Another text", .place = -1};
    return memory_update(call, &SPACE, &change, &result);
}

static int restore(struct call *call)
{
    struct memory_result result;
    struct memory_change change = {.key = "first", .version = 1, .place = -1};
    return memory_update(call, &SPACE, &change, &result);
}

static int look_at_version(void *context, const struct memory *memory)
{
    (void)context;
    return memory->damage ? ERR_INVALID : OK;
}

static int history(struct call *call)
{
    struct memory found;
    int status = memory_history(call, &SPACE, "first", look_at_version, NULL);
    return status == OK ? memory_version(call, &SPACE, "first", 1, &found) : status;
}

static int check(struct call *call)
{
    struct memory_check check;
    int status = memory_check(call, false, &check);
    return status == OK && check.count > 0 ? ERR_INVALID : status;
}

static int count_one(void *context, const struct memory_space *space, const struct memory *memory)
{
    (void)space;
    (void)memory;
    ++*(size_t *)context;
    return OK;
}

static int export_all(struct call *call)
{
    size_t count = 0;
    int status = memory_export(call, &(struct memory_scope){NULL, true}, count_one, &count, NULL);
    return status == OK && count != 4 ? ERR_INVALID : status;
}

static int remove_key(struct call *call)
{
    bool deleted[2] = {false};
    return memory_delete(call, &SPACE, KEYS, 2, deleted);
}

static int (*const WORK[])(struct call *call) = {
    add,      add_without_key, import_lines, get,     search, fulltext,   list,
    overview, update,          restore,      history, check,  export_all, remove_key,
};

/* One piece of work in a call of its own. */
static int run(int (*work)(struct call *call))
{
    struct call *call = call_new(&(struct call_options){.caller = caller_local(), .parts = &parts});
    int status = call ? work(call) : ERR_NOMEM;
    call_free(call);
    return status;
}

/* Every allocation of the first runs, then some of the far ones: a search makes thousands. */
static void fails_everywhere(int (*work)(struct call *call))
{
    bool reached = true;
    for (long after = 0; reached && after < 100000; after += 1 + after / 60) {
        /* Connections and indexes are made anew, too. */
        memories_free(parts.memories);
        parts.memories = memories_new(parts.places, NULL);
        assert_non_null(parts.memories);
        failed = false;
        fail_after = after;
        int status = run(work);
        fail_after = -1;
        reached = failed;
        assert_true(status == OK || failed);
    }
    assert_int_equal(run(work), OK);
}

static void survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(WORK); i++) {
        failures = 0;
        fails_everywhere(WORK[i]);
        assert_true(failures > 50);
    }
    struct memory_check check;
    struct call *call = call_new(&(struct call_options){.caller = caller_local(), .parts = &parts});
    assert_int_equal(memory_check(call, false, &check), OK);
    assert_int_equal(check.count, 0);
    assert_int_equal(check.memories, 2);
    call_free(call);
}

UNIT_TEST(memory_allocations)
{
    static char folder[] = "/tmp/forage-memory-allocations-XXXXXX";
    static const char *const NAMES[] = {"memory.db", "memory.db-wal", "memory.db-shm"};
    char setting[128];
    char *environment[] = {setting, NULL};
    struct buf problem;
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives)};
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(setting, sizeof setting, "FORAGE_DATA_DIR=%s", folder);
    buf_init(&problem, KIB(4));
    int status = config_load(environment, NULL, &problem);
    buf_done(&problem);
    parts.places = places_new();
    int result = status == OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    memories_free(parts.memories);
    places_free(parts.places);
    config_unload();
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        unlink(path);
    }
    rmdir(folder);
    return result;
}
