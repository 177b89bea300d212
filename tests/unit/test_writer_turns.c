/* The writer: in which order it writes what waits, and in which company. */
#include "call/call.h"
#include "core/clock.h"
#include "db/writer.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 60000

/* A job has a letter; large ones have capital letters. What was written is a word of them for each
 * transaction. */
struct letter {
    struct writer_job job; /* first */
    char name;
    struct world *world;
    pthread_t thread;
    int status;
};

struct world {
    struct db_writer *writer;
    char written[64];
    atomic_bool held; /* the first transaction does not end */
};

static void wait_until(const atomic_bool *flag, bool wanted)
{
    static const struct timespec PAUSE = {.tv_nsec = 1000 * 1000};
    int64_t end = clock_now_ms() + PATIENCE_MS;
    while (atomic_load(flag) != wanted && clock_now_ms() < end) {
        nanosleep(&PAUSE, NULL);
    }
}

static int borrow(void *context, struct call *call, struct db **db)
{
    (void)call;
    *db = context; /* none of the functions below looks at it */
    return OK;
}

static void give_back(void *context, struct db *db)
{
    (void)context;
    (void)db;
}

static void put(struct world *world, char letter)
{
    world->written[strlen(world->written)] = letter; /* there is room for all that a test writes */
}

static int begin(void *context, struct db *db, bool durable)
{
    struct world *world = context;
    (void)db;
    (void)durable;
    if (*world->written) {
        put(world, ' ');
    }
    return OK;
}

static int commit(void *context, struct db *db)
{
    struct world *world = context;
    (void)db;
    wait_until(&world->held, false);
    return OK;
}

static int apply(void *context, struct db *db, struct writer_job *job)
{
    struct world *world = context;
    (void)db;
    put(world, ((struct letter *)job)->name);
    return OK;
}

static int report(void *context, struct db *db, struct call *writing, struct writer_job *job,
                  int status)
{
    (void)context;
    (void)db;
    (void)writing;
    (void)job;
    return status;
}

static const struct writer_hooks HOOKS = {.borrow = borrow,
                                          .give_back = give_back,
                                          .begin = begin,
                                          .commit = commit,
                                          .apply = apply,
                                          .report = report};

static void *hand_over(void *context)
{
    struct letter *letter = context;
    struct call *call = call_new(&(struct call_options){.timeout_ms = PATIENCE_MS});
    letter->status = writer_run(letter->world->writer, call, &letter->job, false);
    call_free(call);
    return NULL;
}

/* Hands a job over, and comes back when the writer has counted it: whoever comes next stands behind
 * it. */
static void start(struct letter *letter, size_t number)
{
    static const struct timespec PAUSE = {.tv_nsec = 1000 * 1000};
    int64_t end = clock_now_ms() + PATIENCE_MS;
    assert_int_equal(pthread_create(&letter->thread, NULL, hand_over, letter), 0);
    while (atomic_load(&letter->job.number) < number && clock_now_ms() < end) {
        nanosleep(&PAUSE, NULL);
    }
}

/* The first letter is at work while the others come, one after the other. */
static void write_letters(const char *names, const char *written)
{
    struct letter letters[8] = {0};
    struct world world = {.held = true};
    size_t count = strlen(names);
    world.writer =
        writer_new(&(struct writer_options){.hooks = &HOOKS, .context = &world, .most_jobs = 3});
    assert_non_null(world.writer);
    for (size_t i = 0; i < count; i++) {
        letters[i] =
            (struct letter){.job = {.large = names[i] < 'a'}, .name = names[i], .world = &world};
        start(&letters[i], i + 1);
    }
    atomic_store(&world.held, false);
    for (size_t i = 0; i < count; i++) {
        pthread_join(letters[i].thread, NULL);
        assert_int_equal(letters[i].status, OK);
        assert_int_equal(letters[i].job.among_others, count > 1);
    }
    assert_string_equal(world.written, written);
    writer_free(world.writer);
}

static void what_is_small_waits_for_one_large_job(void **state)
{
    static const struct {
        const char *handed_over, *written;
    } CASES[] = {
        {"a", "a"},
        {"A", "A"},
        {"abc", "a bc"},
        {"abcde", "a bcd e"},
        {"ABCD", "A B C D"},
        {"ABCDe", "A e B C D"},
        {"ABcde", "A cde B"},
        {"aBCdef", "a B def C"},
        {"AbBcCd", "A bcd B C"},
        {"AbcdeB", "A bcd B e"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        write_letters(CASES[i].handed_over, CASES[i].written);
    }
}

UNIT_TEST(writer_turns)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_small_waits_for_one_large_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
