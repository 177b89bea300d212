/* The writer's thread, for a user whose disk takes its time: nothing else waits meanwhile. What
 * callers get of it is tested with the stores that use it. */
#include "core/clock.h"
#include "core/event.h"
#include "db/writer.h"

#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#define PATIENCE_MS 60000

/* A user without a database: connections and transactions come about by themselves. */
struct store {
    struct db_writer *writer;
    int resting; /* an event: the thread rests */
    int posted;  /* an event: the test has handed a job over, so the rest may end */
    int written; /* an event */
    bool waits;  /* each rest, for `posted` */
    bool fails;  /* each transaction */
    /* Of the writer's thread until the writer is freed. */
    bool rests;
    bool overlapped;
    int rested;
    int rested_in_vain; /* nothing came while it rested */
    pthread_t thread;   /* that borrowed the connection, */
    pthread_t closer;   /* and that rested last */
};

static int borrow(void *context, struct call *call, struct db **db)
{
    struct store *store = context;
    (void)call;
    store->overlapped |= store->rests;
    store->thread = pthread_self();
    *db = NULL;
    return store->fails ? ERR_IO : OK;
}

static int report(void *context, struct db *db, struct call *writing, struct writer_job *job,
                  int status)
{
    const struct store *store = context;
    (void)db;
    (void)writing;
    (void)job;
    event_signal(store->written);
    return status;
}

static void drop(void *context, struct writer_job *job)
{
    (void)context;
    free(job);
}

static bool await(int event)
{
    struct pollfd ready = {.fd = event, .events = POLLIN};
    bool came = poll(&ready, 1, PATIENCE_MS) == 1;
    event_clear(event);
    return came;
}

static void rest(void *context)
{
    struct store *store = context;
    store->rests = true;
    store->closer = pthread_self();
    store->rested++;
    event_signal(store->resting);
    if (store->waits && !await(store->posted)) {
        store->rested_in_vain++;
    }
    store->rests = false;
}

static void lost(void *context, size_t count)
{
    (void)context;
    (void)count;
}

static const struct writer_hooks HOOKS = {
    .borrow = borrow, .report = report, .drop = drop, .rest = rest, .lost = lost};

static int begin(struct store *store, int64_t idle_ms)
{
    store->resting = event_open();
    store->posted = event_open();
    store->written = event_open();
    store->writer = writer_new(&(struct writer_options){.hooks = &HOOKS,
                                                        .context = store,
                                                        .most_late = 4,
                                                        .retry_ms = PATIENCE_MS,
                                                        .idle_ms = idle_ms});
    return store->writer && store->resting >= 0 && store->posted >= 0 && store->written >= 0
               ? OK
               : ERR_NOMEM;
}

static void end(struct store *store)
{
    writer_free(store->writer);
    event_close(store->resting);
    event_close(store->posted);
    event_close(store->written);
}

static int post(struct store *store, bool stays)
{
    struct writer_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->stays = stays;
    return writer_post(store->writer, job);
}

/* A disk that takes long to close a file holds neither up who hands something over nor who wants
 * the writer to end. */
static void rests_without_holding_anybody_up(void **state)
{
    static struct store store = {.waits = true}; /* the thread may outlive the test */
    (void)state;
    assert_int_equal(begin(&store, 1), OK);
    assert_int_equal(post(&store, false), OK);
    assert_true(await(store.written));
    assert_true(await(store.resting));
    assert_int_equal(post(&store, false), OK);
    event_signal(store.posted);
    assert_true(await(store.written));
    assert_true(await(store.resting));
    assert_false(writer_stop(store.writer, 0)); /* it says at once that the thread still rests */
    event_signal(store.posted);
    assert_true(await(store.resting)); /* a last time, at its end */
    event_signal(store.posted);
    assert_false(store.overlapped);
    assert_int_equal(store.rested_in_vain, 0);
}

/* Also after a failure it is the thread that closes, whom nobody has to wait for. */
static void rests_at_its_end_on_its_own_thread(void **state)
{
    static const bool FAILS[] = {false, true};
    (void)state;
    for (size_t i = 0; i < COUNT(FAILS); i++) {
        struct store store = {.fails = FAILS[i]};
        assert_int_equal(begin(&store, PATIENCE_MS), OK);
        assert_int_equal(post(&store, true), OK);
        assert_true(await(store.written));
        assert_true(writer_stop(store.writer, PATIENCE_MS));
        end(&store);
        assert_true(store.rested > 0);
        assert_true(pthread_equal(store.thread, store.closer) != 0);
        assert_false(store.overlapped);
    }
}

UNIT_TEST(writer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_without_holding_anybody_up),
        cmocka_unit_test(rests_at_its_end_on_its_own_thread),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
