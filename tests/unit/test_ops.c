/* Records: their tables, the thread that writes to them, prices, and answers that are cached. */
#include "config/config.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "guard/prices.h"
#include "ops/answers.h"
#include "ops/keeper.h"
#include "ops/paced.h"
#include "ops/reports.h"
#include "ops/tallies.h"
#include "unit.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct places *home; /* of the folder */
static char folder[64];
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/forage-ops-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/records.sqlite", folder);
    char setting[128];
    char *environment[] = {setting, (char[]){"FORAGE_STORE_SYNC=no"}, NULL};
    struct buf problem;
    snprintf(setting, sizeof setting, "FORAGE_DATA_DIR=%s", folder);
    buf_init(&problem, KIB(4));
    int status = config_load(environment, NULL, &problem);
    buf_done(&problem);
    home = places_new();
    return home ? status : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const ENDS[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < COUNT(ENDS); i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", path, ENDS[i]);
        unlink(name);
    }
    home = places_free(home);
    config_unload();
    return rmdir(folder);
}

static struct db *open_test_store(const struct places *places, struct call *call, char *problem,
                                  size_t size)
{
    return records_open(places, call, problem, size);
}

static struct db *open_store(void)
{
    char problem[512] = "";
    struct db *store = open_test_store(home, NULL, problem, sizeof problem);
    assert_string_equal(problem, "");
    return store;
}

static struct call *new_call(const struct caller *caller)
{
    struct call *call = call_new(&(struct call_options){.caller = caller});
    assert_non_null(call);
    return call;
}

/* ---- the store ---- */

static struct records_turn turn;

static void begin(struct db *db, bool durable)
{
    assert_int_equal(records_begin(db, durable, &turn), OK);
}

static void commit(struct db *db)
{
    assert_int_equal(records_commit(db, &turn), OK);
}

/* ---- sums ---- */

struct found {
    int64_t rows, calls, failures, nano_usd;
    bool mixed;
};

static void take_sum(void *context, const struct tally *tally)
{
    struct found *found = context;
    found->rows++;
    found->calls += tally->calls;
    found->failures += tally->failures;
    found->nano_usd += tally->nano_usd;
    found->mixed |= (tally->bucket % 2 > 0) != (tally->failures > 0);
}

/* Whatever is written together, each sum holds what belongs to it. */
static void calls_are_summed_before_they_are_written(void **state)
{
    (void)state;
    enum { MINUTES = 5, CALLS = 1000 * MINUTES, KINDS = 48 };
    static const char *const NAMES[] = {"a", "b"};
    struct tally_batch batch = {.count = 0};
    struct db *db = open_store();
    begin(db, false);
    for (int i = 0; i < CALLS; i++) {
        const struct tally one = {.at_ms = 3600000 + i / 1000 * 60000 + i % 1000,
                                  .caller = NAMES[i / 2 % 2],
                                  .tool = NAMES[i / 4 % 2],
                                  .provider = NAMES[i / 8 % 2],
                                  .bucket = i % (KINDS / 8),
                                  .calls = 1,
                                  .failures = i % 2,
                                  .nano_usd = i};
        assert_int_equal(tallies_gather(db, &batch, &one), OK);
    }
    assert_int_equal(tallies_write(db, &batch), OK);
    assert_int_equal(tallies_write(db, &batch), OK);
    commit(db);
    for (int span = 0; span < TALLY_SPANS; span++) {
        struct found found = {0};
        struct tally_filter filter = {.span = (enum tally_span)span};
        assert_int_equal(tallies_read(db, &filter, take_sum, &found), OK);
        assert_int_equal(found.rows, span == TALLY_MINUTES ? MINUTES * KINDS : KINDS);
        assert_int_equal(found.calls, CALLS);
        assert_int_equal(found.failures, CALLS / 2);
        assert_int_equal(found.nano_usd, CALLS / 2 * (CALLS - 1));
        assert_false(found.mixed);
    }
    db_close(db);
}

static void windows_are_shared_and_last(void **state)
{
    (void)state;
    struct db *first = open_store();
    struct db *second = open_store();
    struct limit_claim claim = {.key = "alice x", .calls = 3, .window_ms = 1000};
    struct db *const turns[] = {first, second, first};
    for (size_t i = 0; i < COUNT(turns); i++) {
        begin(turns[i], false);
        assert_int_equal(records_claim(turns[i], &claim, 1, 5000), OK);
        assert_int_equal(claim.left, 2 - i);
        commit(turns[i]);
    }
    db_close(first);
    db_close(second);
    first = open_store();
    begin(first, false);
    assert_int_equal(records_claim(first, &claim, 1, 5500), ERR_LIMIT);
    assert_int_equal(claim.retry_after_ms, 500);
    assert_int_equal(records_claim(first, &claim, 1, 6000), OK);
    commit(first);
    db_close(first);
}

/* ---- turns at sources ---- */

static const struct pace PACE = {.windows = {{1, 1000}, {3, 60000}}, .at_once = 2};

static struct pace_claim take_turn(struct db *db, const char *id, int64_t patience_ms)
{
    struct pace_claim claim = {
        .source = "wiki", .pace = &PACE, .patience_ms = patience_ms, .lasts_ms = 5000};
    snprintf(claim.id, sizeof claim.id, "%s", id);
    begin(db, false);
    assert_int_equal(paced_take(db, &claim), OK);
    commit(db);
    return claim;
}

static void end_turn(struct db *db, const struct pace_claim *claim, bool unused, int64_t rest_ms)
{
    begin(db, false);
    assert_int_equal(paced_end(db, &(struct pace_end){.source = claim->source,
                                                      .pace = claim->pace,
                                                      .id = claim->id,
                                                      .unused = unused,
                                                      .probe = claim->probe,
                                                      .rest_ms = rest_ms}),
                     OK);
    commit(db);
}

static void change(struct db *db, const char *sql)
{
    begin(db, false);
    assert_int_equal(db_run(db, sql), OK);
    commit(db);
}

static void turns_are_shared_and_given_back(void **state)
{
    (void)state;
    struct db *first = open_store();
    struct db *second = open_store();
    struct pace_claim a = take_turn(first, "a", 0);
    assert_int_equal(a.answer, PACE_GRANTED);
    struct pace_claim b = take_turn(second, "b", 30000);
    assert_int_equal(b.answer, PACE_GRANTED);
    assert_in_range(b.wait_ms, 1, 1250);
    assert_int_equal(take_turn(first, "c", 30000).answer, PACE_FULL);
    end_turn(first, &a, false, 0);
    struct pace_claim c = take_turn(first, "c", 30000);
    assert_int_equal(c.answer, PACE_GRANTED);
    assert_in_range(c.wait_ms, 1251, 2500);
    end_turn(second, &b, true, PACE_UNKNOWN); /* it was cancelled: nobody asked at its time */
    end_turn(first, &c, false, 0);
    struct pace_claim d = take_turn(second, "d", 30000);
    assert_int_equal(d.answer, PACE_GRANTED);
    assert_in_range(d.wait_ms, 2501, 3750);
    struct pace_claim e = take_turn(second, "e", 30000); /* a fourth in a minute, but for b */
    assert_int_equal(e.answer, PACE_LATER);
    assert_in_range(e.wait_ms, 50000, 61000);
    begin(first, false);
    assert_int_equal(records_tidy(first, clock_wall_ms() + INT64_C(3600000)), OK);
    commit(first); /* by a clock that is an hour ahead */
    assert_int_equal(take_turn(second, "e", 30000).answer, PACE_LATER);
    /* The clock was set back by an hour: nobody waits for an hour. */
    change(first, "UPDATE windows SET used = used + 3600000, ends_ms = ends_ms + 3600000");
    e = take_turn(second, "e", 30000);
    assert_in_range(e.wait_ms, 50000, 61000);
    /* A minute passes. */
    change(first, "UPDATE windows SET used = used - 65000, ends_ms = ends_ms - 65000");
    assert_int_equal(take_turn(second, "e", 0).answer, PACE_GRANTED);
    int64_t rows;
    assert_int_equal(db_numbers(db_query(first, "SELECT count(*) FROM windows", NULL, 0), &rows, 1),
                     1);
    assert_int_equal(rows, 3); /* of the last one, and a turn that nobody ended before that */
    db_close(first);
    db_close(second);
}

static void a_turn_that_nobody_ends_ends_with_its_time(void **state)
{
    (void)state;
    struct db *db = open_store();
    assert_int_equal(take_turn(db, "a", 30000).answer, PACE_GRANTED);
    assert_int_equal(take_turn(db, "b", 30000).answer, PACE_GRANTED);
    assert_int_equal(take_turn(db, "c", 30000).answer, PACE_FULL); /* and their process dies */
    change(db, "UPDATE windows SET used = used - 7000, ends_ms = ends_ms - 7000");
    assert_int_equal(take_turn(db, "c", 30000).answer, PACE_GRANTED);
    db_close(db);
}

static void rests_are_shared_and_one_tries(void **state)
{
    (void)state;
    struct db *first = open_store();
    struct db *second = open_store();
    struct pace_claim a = take_turn(first, "a", 0);
    end_turn(first, &a, false, 180000);
    struct pace_claim b = take_turn(second, "b", 0);
    assert_int_equal(b.answer, PACE_RESTS);
    assert_in_range(b.wait_ms, 170000, 180000);
    change(first, "UPDATE windows SET used = used - 181000, ends_ms = ends_ms - 181000");
    b = take_turn(second, "b", 0);
    assert_int_equal(b.answer, PACE_GRANTED);
    assert_true(b.probe);
    assert_int_equal(take_turn(first, "c", 30000).answer, PACE_RESTS);
    end_turn(second, &b, false, PACE_UNKNOWN); /* nobody knows: the next one tries */
    struct pace_claim c = take_turn(first, "c", 30000);
    assert_true(c.probe);
    end_turn(first, &c, false, 0); /* it answers */
    struct pace_claim d = take_turn(second, "d", 30000);
    assert_int_equal(d.answer, PACE_GRANTED);
    assert_false(d.probe);
    end_turn(second, &d, false, 0);
    db_close(first);
    db_close(second);
}

static void add_row(struct db *store, const char *caller, int64_t at_ms, const char *code,
                    const char *arguments)
{
    struct record record = {.caller = caller,
                            .tool = "search_web",
                            .provider = "",
                            .at_ms = at_ms,
                            .took_us = 12000,
                            .code = code,
                            .input_tokens = 100,
                            .output_tokens = 10,
                            .nano_usd = 1500,
                            .arguments = arguments};
    struct record charge = record;
    charge.charge = true;
    charge.code = charge.arguments = NULL;
    begin(store, true);
    assert_int_equal(records_add(store, &charge), OK);
    assert_int_equal(records_add(store, &record), OK);
    commit(store);
}

static yyjson_mut_val *read_back(struct db *store, struct call *call, const char *caller,
                                 bool history)
{
    yyjson_mut_val *report = NULL;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    struct record_filter filter = {.caller = caller, .limit = 100};
    int status = history ? report_history(store, call_arena(call), &filter, doc, &report)
                         : report_usage(store, caller, 3, doc, &report);
    assert_int_equal(status, OK);
    return report;
}

static int64_t number_at(yyjson_mut_val *report, const char *pointer)
{
    yyjson_mut_val *value = yyjson_mut_ptr_get(report, pointer);
    assert_non_null(value);
    return yyjson_mut_get_sint(value);
}

static void usage_is_summed_by_day_caller_and_tool(void **state)
{
    (void)state;
    struct db *store = open_store();
    struct call *call = new_call(caller_local());
    int64_t now = clock_wall_ms();
    add_row(store, "alice", now, NULL, NULL);
    add_row(store, "alice", now, "PROVIDER", NULL);
    add_row(store, "bob", now, NULL, NULL);
    add_row(store, "alice", now - INT64_C(86400000), NULL, NULL);
    add_row(store, "alice", now - 10 * INT64_C(86400000), NULL, NULL);
    yyjson_mut_val *all = read_back(store, call, NULL, false);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(all, "rows")), 3);
    assert_int_equal(number_at(all, "/total/calls"), 4);
    yyjson_mut_val *own = read_back(store, call, "alice", false);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(own, "rows")), 2);
    assert_int_equal(number_at(own, "/rows/0/calls"), 2);
    assert_int_equal(number_at(own, "/rows/0/failures"), 1);
    assert_int_equal(number_at(own, "/rows/0/input_tokens"), 200);
    assert_int_equal(number_at(own, "/rows/1/calls"), 1);
    struct spending spent;
    assert_int_equal(records_spent(store, "alice", now, &spent), OK);
    assert_int_equal(spent.caller_nano, 3000);
    assert_int_equal(spent.total_nano, 4500);
    call_free(call);
    db_close(store);
}

static void history_is_each_callers_own(void **state)
{
    (void)state;
    struct db *store = open_store();
    struct call *call = new_call(caller_local());
    int64_t wiped = 0;
    add_row(store, "alice", 1000, NULL, "{\"query\":\"of alice\"}");
    add_row(store, "bob", 2000, "PROVIDER", "{\"query\":\"of bob\"}");
    add_row(store, "bob", 3000, NULL, "{\"query\":\"of bob again\"}");
    add_row(store, "bob", 4000, NULL, NULL); /* the history was off */
    yyjson_mut_val *bob = read_back(store, call, "bob", true);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(bob, "calls")), 2);
    assert_string_equal(yyjson_mut_get_str(yyjson_mut_ptr_get(bob, "/calls/0/arguments/query")),
                        "of bob again");
    assert_string_equal(yyjson_mut_get_str(yyjson_mut_ptr_get(bob, "/calls/0/at")),
                        "1970-01-01T00:00:03.000Z");
    assert_string_equal(yyjson_mut_get_str(yyjson_mut_ptr_get(bob, "/calls/1/error")), "PROVIDER");
    assert_int_equal(records_wipe(store, "bob", &wiped), OK);
    assert_int_equal(wiped, 2);
    bob = read_back(store, call, "bob", true);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(bob, "calls")), 0);
    yyjson_mut_val *alice = read_back(store, call, "alice", true);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(alice, "calls")), 1);
    call_free(call);
    db_close(store);
    /* What was wiped is not in the file any more. */
    char content[65536];
    FILE *file = fopen(path, "re");
    size_t length = fread(content, 1, sizeof content, file);
    fclose(file);
    assert_null(memmem(content, length, "of bob", 6));
    assert_non_null(memmem(content, length, "of alice", 8));
}

static void old_records_go(void **state)
{
    (void)state;
    struct db *store = open_store();
    struct call *call = new_call(caller_local());
    struct limit_claim claim = {.key = "a", .calls = 1, .window_ms = 1000};
    int64_t now = clock_wall_ms();
    add_row(store, "alice", now - (LIMIT_USAGE_DAYS + 2) * INT64_C(86400000), NULL, NULL);
    begin(store, true);
    assert_int_equal(records_claim(store, &claim, 1, now - 5000), OK);
    for (int i = 0; i < LIMIT_HISTORY_ROWS + 5; i++) {
        struct record record = {.caller = i % 2000 ? "bob" : "alice",
                                .tool = "t",
                                .provider = "",
                                .at_ms = now,
                                .arguments = "{}"};
        assert_int_equal(records_add(store, &record), OK);
    }
    assert_int_equal(records_tidy(store, now), OK);
    commit(store);
    yyjson_mut_doc *doc = json_new(call_arena(call));
    yyjson_mut_val *report = NULL;
    assert_int_equal(report_history(store, call_arena(call),
                                    &(struct record_filter){.caller = "bob", .limit = 20000}, doc,
                                    &report),
                     OK);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(report, "calls")),
                     LIMIT_HISTORY_ROWS - 1);
    assert_int_equal(report_history(store, call_arena(call),
                                    &(struct record_filter){.caller = "alice", .limit = 20000}, doc,
                                    &report),
                     OK);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(report, "calls")), 6);
    assert_int_equal(report_usage(store, NULL, LIMIT_USAGE_DAYS, doc, &report), OK);
    assert_int_equal(number_at(report, "/total/calls"), LIMIT_HISTORY_ROWS + 5);
    call_free(call);
    db_close(store);
}

static void those_who_share_a_store_share_its_key(void **state)
{
    (void)state;
    unsigned char keys[2][SHA256_SIZE];
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct db *store = open_store();
        assert_int_equal(records_secret(store, keys[i]), OK);
        db_close(store);
    }
    assert_memory_equal(keys[0], keys[1], SHA256_SIZE);
}

/* ---- the keeper ---- */

static const struct caller CROWD[4] = {
    {.name = "ann"}, {.name = "ben"}, {.name = "cat"}, {.name = "dan"}};

struct crowd {
    struct keeper *keeper;
    const struct caller *caller;
    atomic_int *passed;
    atomic_int *recorded;
};

static void *call_often(void *context)
{
    struct crowd *crowd = context;
    for (int i = 0; i < 10; i++) {
        struct call *call = new_call(crowd->caller);
        struct limit_claim claim = {.calls = 20, .window_ms = 600000};
        snprintf(claim.key, sizeof claim.key, "%s x", crowd->caller->name);
        struct spending spent = {0};
        int status = keeper_take(crowd->keeper, call, &claim, 1, &spent);
        atomic_fetch_add(crowd->passed, status == OK);
        struct record record = {.caller = crowd->caller->name,
                                .tool = "x",
                                .provider = "",
                                .at_ms = clock_wall_ms(),
                                .arguments = "{}"};
        struct record cost = record;
        cost.charge = true;
        cost.nano_usd = 5;
        cost.arguments = NULL;
        status = status == OK ? keeper_record(crowd->keeper, call, &cost, &spent) : ERR_LIMIT;
        status = status == OK ? keeper_record(crowd->keeper, call, &record, NULL) : status;
        atomic_fetch_add(crowd->recorded, status == OK && spent.caller_nano >= 5);
        call_free(call);
    }
    return NULL;
}

static void a_crowd_passes_by_the_rules(void **state)
{
    (void)state;
    atomic_int passed = 0;
    atomic_int recorded = 0;
    /* Two keepers, as in two processes. */
    struct keeper *keepers[2] = {keeper_new(open_test_store, home, 0),
                                 keeper_new(open_test_store, home, 0)};
    struct crowd crowd[32];
    pthread_t threads[COUNT(crowd)];
    for (size_t i = 0; i < COUNT(crowd); i++) {
        crowd[i] = (struct crowd){keepers[i % 2], &CROWD[i / 2 % 4], &passed, &recorded};
        pthread_create(&threads[i], NULL, call_often, &crowd[i]);
    }
    for (size_t i = 0; i < COUNT(crowd); i++) {
        pthread_join(threads[i], NULL);
    }
    keeper_free(keepers[0]);
    keeper_free(keepers[1]);
    assert_int_equal(passed, 4 * 20);
    assert_int_equal(recorded, 4 * 20);
    struct db *store = open_store();
    struct call *call = new_call(caller_local());
    yyjson_mut_val *report = read_back(store, call, NULL, false);
    assert_int_equal(number_at(report, "/total/calls"), 4 * 20);
    call_free(call);
    db_close(store);
}

/* A database that fails as the test wants it to. */
static atomic_bool refuses_to_open;

static struct db *open_if_allowed(const struct places *places, struct call *call, char *problem,
                                  size_t size)
{
    snprintf(problem, size, "not allowed to open");
    return refuses_to_open ? NULL : open_test_store(places, call, problem, size);
}

static void run_sql(const char *sql)
{
    struct db *store = open_store();
    assert_int_equal(db_run(store, sql), OK);
    db_close(store);
}

/* The money in the sums of all days. */
static int64_t sum_of_charges(void)
{
    int64_t count;
    struct db *store = open_store();
    assert_int_equal(
        db_numbers(db_query(store, "SELECT CAST(coalesce(sum(nano_usd), 0) AS BIGINT) FROM {usage}",
                            NULL, 0),
                   &count, 1),
        1);
    db_close(store);
    return count;
}

static int record_one(struct keeper *keeper, int64_t nano_usd)
{
    struct call *call = new_call(caller_local());
    struct record record = {.caller = "local",
                            .tool = "x",
                            .provider = "",
                            .at_ms = clock_wall_ms(),
                            .charge = true,
                            .nano_usd = nano_usd};
    int status = keeper_record(keeper, call, &record, NULL);
    call_free(call);
    return status;
}

static void what_cannot_be_written_is_held_and_tried_again(void **state)
{
    (void)state;
    char log[160];
    refuses_to_open = false;
    snprintf(log, sizeof log, "%s-wal", path);
    struct keeper *keeper = keeper_new(open_if_allowed, home, 0);
    assert_int_equal(access(path, F_OK), -1); /* nothing before it is needed */
    run_sql("CREATE TRIGGER no BEFORE INSERT ON usage BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_int_equal(record_one(keeper, 5), ERR_IO);
    assert_int_equal(record_one(keeper, 6), ERR_IO);
    /* The claim is left to this process, which knows what it has spent. */
    struct call *call = new_call(caller_local());
    struct limit_claim claim = {.key = "x", .calls = 1, .window_ms = 1000};
    struct spending spent = {0};
    assert_int_equal(keeper_take(keeper, call, &claim, 1, &spent), ERR_IO);
    assert_int_equal(spent.caller_nano, 11);
    call_free(call);
    assert_int_equal(sum_of_charges(), 0);
    run_sql("DROP TRIGGER no");
    keeper_free(keeper);
    assert_int_equal(access(log, F_OK), -1); /* closed: the last one takes the log along */
    assert_int_equal(sum_of_charges(), 11);
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    assert_non_null(all);
    while (readdir(all)) {
        count++;
    }
    closedir(all);
    return count;
}

/* What waits to be written holds no descriptor: thousands of records may wait. */
static void a_store_that_does_not_open_stops_nothing(void **state)
{
    (void)state;
    refuses_to_open = true;
    struct keeper *keeper = keeper_new(open_if_allowed, home, 0);
    assert_int_equal(record_one(keeper, 1), ERR_IO);
    size_t descriptors = count_descriptors();
    for (int i = 1; i < 20; i++) {
        assert_int_equal(record_one(keeper, 1), ERR_IO);
    }
    /* The last one may be about to be closed. */
    assert_in_range(count_descriptors(), 0, descriptors + 1);
    refuses_to_open = false;
    keeper_free(keeper);
    assert_int_equal(sum_of_charges(), 20);
    assert_null(keeper_free(NULL));
}

static atomic_bool was_cancelled;

static void *cancel_soon(void *context)
{
    usleep(20000);
    call_cancel(context);
    atomic_store(&was_cancelled, true);
    return NULL;
}

static struct db *open_slowly(const struct places *places, struct call *call, char *problem,
                              size_t size)
{
    while (!atomic_load(&was_cancelled)) {
        usleep(1000);
    }
    usleep(300000);
    return open_if_allowed(places, call, problem, size);
}

static void a_cancelled_call_does_not_wait(void **state)
{
    (void)state;
    refuses_to_open = false;
    atomic_store(&was_cancelled, false);
    struct keeper *keeper = keeper_new(open_slowly, home, 0);
    struct call *call = new_call(caller_local());
    struct limit_claim claim = {.key = "x", .calls = 1, .window_ms = 1000};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, call);
    assert_int_equal(keeper_take(keeper, call, &claim, 1, NULL), ERR_CANCELLED);
    pthread_join(thread, NULL);
    call_free(call);
    keeper_free(keeper);
}

/* ---- prices ---- */

static void prices_are_applied(void **state)
{
    (void)state;
    static const struct {
        struct call_usage usage;
        int64_t nano;
        int64_t unknown;
    } CASES[] = {
        {{.model = "gpt-5-nano", .input_tokens = 1000000, .output_tokens = 1000000}, 450000000, 0},
        {{.model = "gpt-5-nano", .input_tokens = 1}, 50, 0},
        {{.model = "gpt-5-nano-2025-08-07", .output_tokens = 10}, 4000, 0},
        {{.model = "gpt-5", .input_tokens = 1000}, 1250000, 0},
        {{.model = "gpt-5-mini", .input_tokens = 1000}, 250000, 0},
        {{.model = "gpt-5nano", .input_tokens = 1000}, 0, 1},
        {{.model = "nobody-knows", .input_tokens = 5, .output_tokens = 5}, 0, 1},
        {{.model = "nobody-knows"}, 0, 0},
        {{.service = "openai_web_search", .requests = 3}, 30000000, 0},
        {{.service = "openai_web_search",
          .requests = 1,
          .model = "gpt-5-nano",
          .input_tokens = 1000,
          .output_tokens = 100},
         10090000,
         0},
        {{.service = "nobody", .requests = 1}, 0, 1},
        {{.input_tokens = 100, .output_tokens = 100}, 0, 0},
        {{.service = "brave", .requests = 2}, 10000000, 0},
        {{.service = "exa", .requests = 1}, 15000000, 0},
        {{.model = "text-embedding-3-small", .input_tokens = 1000}, 20000, 0},
        /* of a prompt, what came from the cache, and what went there */
        {{.model = "claude-haiku-4-5", .input_tokens = 100010, .cached_tokens = 100000},
         10010000,
         0},
        {{.model = "claude-haiku-4-5", .input_tokens = 1010, .stored_tokens = 1000}, 1260000, 0},
        {{.model = "gpt-6-sol", .input_tokens = 1000, .cached_tokens = 900}, 2000000, 0},
        {{.model = "gpt-5", .input_tokens = 10, .cached_tokens = 1000}, 125000, 0},
    };
    char problem[256];
    struct prices *prices = prices_new(NULL, problem, sizeof problem);
    assert_non_null(prices);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int64_t unknown = 0;
        assert_int_equal(prices_cost(prices, &CASES[i].usage, &unknown), CASES[i].nano);
        assert_int_equal(unknown, CASES[i].unknown);
    }
    prices_free(prices);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "we");
    fputs(text, file);
    fclose(file);
}

static void own_prices_win(void **state)
{
    (void)state;
    char problem[256];
    int64_t unknown = 0;
    write_text("{\"models\": {\"gpt-5-nano\": {\"input\": 1, \"output\": 2}}}");
    struct prices *prices = prices_new(path, problem, sizeof problem);
    assert_non_null(prices);
    struct call_usage nano = {.model = "gpt-5-nano", .input_tokens = 1, .output_tokens = 1};
    struct call_usage mini = {.model = "gpt-5-mini", .input_tokens = 1};
    assert_int_equal(prices_cost(prices, &nano, &unknown), 3000);
    assert_int_equal(prices_cost(prices, &mini, &unknown), 250);
    prices_free(prices);
    static const char *const WRONG[] = {"",
                                        "[]",
                                        "{\"models\": {\"x\": 3}}",
                                        "{\"models\": {\"x\": {\"input\": -1, \"output\": 1}}}",
                                        ("{\"models\": {\"x\": {\"input\": 1, \"output\": 1, "
                                         "\"cached\": -1}}}"),
                                        "{\"services\": {\"x\": \"1\"}}"};
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        write_text(WRONG[i]);
        assert_null(prices_new(path, problem, sizeof problem));
        assert_non_null(strstr(problem, "FORAGE_PRICES"));
    }
    assert_null(prices_new("/proc/nonexistent/prices.json", problem, sizeof problem));
    assert_non_null(strstr(problem, "No such file"));
}

static void usage_is_gathered_on_the_call(void **state)
{
    (void)state;
    struct call *call = new_call(caller_local());
    struct call *piece = call_new(&(struct call_options){.part_of = call});
    for (int i = 0; i < 3; i++) {
        char model[16] = "gpt-5-nano"; /* not there any more when it is read */
        call_report_usage(call, &(struct call_usage){.model = model, .input_tokens = 10});
        memset(model, 'x', sizeof model);
    }
    call_report_usage(piece, &(struct call_usage){.service = "serper", .requests = 2});
    call_report_usage(call, &(struct call_usage){.model = "other", .input_tokens = -5});
    struct call_usage used = call_used(call);
    assert_int_equal(used.input_tokens, 25);
    assert_string_equal(used.model, "gpt-5-nano");
    assert_string_equal(used.service, "serper");
    assert_int_equal(used.requests, 2);
    call_report_usage(call, &(struct call_usage){.input_tokens = INT64_MAX});
    assert_true(call_used(call).input_tokens == LIMIT_USAGE_COUNT);
    call_report_usage(call, &(struct call_usage){.input_tokens = INT64_MIN});
    assert_int_equal(call_used(call).input_tokens, 0);
    call_free(call);
    call_report_usage(piece, &(struct call_usage){.requests = 1}); /* it outlives its whole */
    assert_int_equal(call_used(piece).requests, 3);
    call_free(piece);
}

/* ---- kept answers ---- */

static bool key_of(struct arena *arena, unsigned char key[SHA256_SIZE], const char *caller,
                   const char *tool, const char *json)
{
    yyjson_doc *doc = json_parse(arena, json, strlen(json), NULL);
    assert_non_null(doc);
    return answers_key(key, arena, caller, tool, yyjson_doc_get_root(doc));
}

static void a_question_is_the_same_however_it_is_written(void **state)
{
    (void)state;
    static const struct {
        const char *caller, *tool, *json;
        bool same;
    } CASES[] = {
        {"alice", "search_web", "{\"query\":\"rust vs c\",\"maxResults\":5}", true},
        {"alice", "search_web", "{\"maxResults\":5,\"query\":\"  Rust \\t vs\\nC \"}", true},
        {"alice", "search_web", "{\"query\":\"rust vs c++\",\"maxResults\":5}", false},
        {"alice", "search_web", "{\"query\":\"rustvs c\",\"maxResults\":5}", false},
        {"alice", "search_web", "{\"query\":\"rust vs c\",\"maxResults\":6}", false},
        {"alice", "search_web", "{\"query\":\"rust vs c\",\"maxResults\":5,\"region\":\"US\"}",
         false},
        {"alice", "web_search", "{\"query\":\"rust vs c\",\"maxResults\":5}", false},
        {"bob", "search_web", "{\"query\":\"rust vs c\",\"maxResults\":5}", false},
    };
    struct arena *arena = arena_new(MIB(1));
    unsigned char first[SHA256_SIZE];
    unsigned char key[SHA256_SIZE];
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_true(key_of(arena, i ? key : first, CASES[i].caller, CASES[i].tool, CASES[i].json));
        if (i) {
            assert_int_equal(memcmp(key, first, SHA256_SIZE) == 0, CASES[i].same);
        }
    }
    arena_free(arena);
}

static void answers_are_kept_for_a_while(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(1));
    unsigned char key[SHA256_SIZE] = {1};
    unsigned char other[SHA256_SIZE] = {2};
    size_t length = 0;
    struct answers *answers = answers_new();
    assert_null(answers_find(answers, key, arena, &length));
    answers_keep(answers, "local", key, "{\"a\":1}", 7, 60000);
    answers_keep(answers, "local", key, "{\"a\":22}", 8, 60000);
    assert_string_equal(answers_find(answers, key, arena, &length), "{\"a\":22}");
    answers_forget(answers, "alice");
    assert_non_null(answers_find(answers, key, arena, &length));
    assert_int_equal(length, 8);
    assert_null(answers_find(answers, other, arena, &length));
    answers_forget(answers, "local");
    assert_null(answers_find(answers, key, arena, &length));
    answers_free(answers);
    answers = answers_new();
    answers_keep(answers, "local", key, "{}", 2, 1);
    usleep(3000);
    assert_null(answers_find(answers, key, arena, &length));
    answers_free(answers);
    assert_null(answers_free(NULL));
    arena_free(arena);
}

static void kept_answers_are_bounded(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct answers *answers = answers_new();
    size_t length = 0;
    char *large = calloc(1, LIMIT_KEPT_ANSWER_BYTES + 1);
    unsigned char key[SHA256_SIZE] = {0};
    answers_keep(answers, "local", key, large, LIMIT_KEPT_ANSWER_BYTES + 1, 60000);
    assert_null(answers_find(answers, key, arena, &length));
    for (unsigned i = 0; i < LIMIT_KEPT_ANSWERS + 10; i++) {
        memcpy(key, &i, sizeof i);
        answers_keep(answers, "local", key, "{}", 2, 60000);
        /* The first is asked for again and again, and so stays. */
        memset(key, 0, sizeof key);
        assert_non_null(answers_find(answers, key, arena, &length));
    }
    unsigned second = 1;
    memcpy(key, &second, sizeof second);
    assert_null(answers_find(answers, key, arena, &length));
    size_t kept = 0;
    for (unsigned i = 0; i < 40; i++) {
        unsigned number = 100000 + i;
        memcpy(key, &number, sizeof number);
        answers_keep(answers, "local", key, large, LIMIT_KEPT_ANSWER_BYTES, 60000);
    }
    for (unsigned i = 0; i < 40; i++) {
        unsigned number = 100000 + i;
        memcpy(key, &number, sizeof number);
        kept += answers_find(answers, key, arena, &length) != NULL;
    }
    assert_int_equal(kept, LIMIT_KEPT_ANSWERS_BYTES / LIMIT_KEPT_ANSWER_BYTES);
    free(large);
    answers_free(answers);
    arena_free(arena);
}

#define WITH_FILE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

UNIT_TEST(ops)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(calls_are_summed_before_they_are_written),
        WITH_FILE(windows_are_shared_and_last),
        WITH_FILE(turns_are_shared_and_given_back),
        WITH_FILE(a_turn_that_nobody_ends_ends_with_its_time),
        WITH_FILE(rests_are_shared_and_one_tries),
        WITH_FILE(usage_is_summed_by_day_caller_and_tool),
        WITH_FILE(history_is_each_callers_own),
        WITH_FILE(old_records_go),
        WITH_FILE(those_who_share_a_store_share_its_key),
        WITH_FILE(a_crowd_passes_by_the_rules),
        WITH_FILE(what_cannot_be_written_is_held_and_tried_again),
        WITH_FILE(a_store_that_does_not_open_stops_nothing),
        WITH_FILE(a_cancelled_call_does_not_wait),
        cmocka_unit_test(prices_are_applied),
        WITH_FILE(own_prices_win),
        cmocka_unit_test(usage_is_gathered_on_the_call),
        cmocka_unit_test(a_question_is_the_same_however_it_is_written),
        cmocka_unit_test(answers_are_kept_for_a_while),
        cmocka_unit_test(kept_answers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
