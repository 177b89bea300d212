/* Who is calling, and how often: tokens and windows. */
#include "unit.h"

#include "base/limits.h"
#include "base/redact.h"
#include "base/status.h"
#include "guard/callers.h"
#include "guard/limiter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const struct callers *callers, const char *header)
{
    const struct caller *caller = callers_find(callers, header, header ? strlen(header) : 0);
    return caller ? caller->name : NULL;
}

static void tokens_name_their_callers(void **state)
{
    (void)state;
    char problem[256];
    struct callers *callers =
        callers_new((const char *const[]){"alice:alice-token-1", "bob:bob:with:colons", NULL}, NULL,
                    problem, sizeof problem);
    assert_non_null(callers);
    assert_int_equal(callers_count(callers), 2);
    static const struct {
        const char *header, *name;
    } CASES[] = {
        {"Bearer alice-token-1", "alice"},
        {"bearer alice-token-1", "alice"},
        {"Bearer bob:with:colons", "bob"},
        {"Bearer alice-token-2", NULL},
        {"Bearer alice-token-1 ", NULL},
        {"Bearer alice-token-", NULL},
        {"Bearer ", NULL},
        {"Bearer", NULL},
        {"Basic alice-token-1", NULL},
        {"alice-token-1", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *name = name_of(callers, CASES[i].header);
        if (CASES[i].name) {
            assert_non_null(name);
            assert_string_equal(name, CASES[i].name);
        } else {
            assert_null(name);
        }
    }
    assert_true(redact_needed("x alice-token-1 y", 17)); /* tokens are secrets at once */
    callers_free(callers);
    redact_reset();
}

static void without_tokens_everyone_is_local(void **state)
{
    (void)state;
    char problem[256];
    struct callers *callers = callers_new(NULL, NULL, problem, sizeof problem);
    assert_int_equal(callers_count(callers), 0);
    assert_string_equal(name_of(callers, NULL), "local");
    assert_string_equal(name_of(callers, "Bearer whatever"), "local");
    callers_free(callers);
}

static void wrong_tokens_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[3], *problem;
    } CASES[] = {
        {{"no-name-here"}, "name:token"},
        {{":token-without-name"}, "name:token"},
        {{"al ice:token-12345"}, "name:token"},
        {{"alice:short"}, "8 to 512"},
        {{"alice:"}, "8 to 512"},
        {{"alice:with blank here"}, "8 to 512"},
        {{"alice:same-token-1", "bob:same-token-1"}, "twice"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[256] = "";
        assert_null(callers_new(CASES[i].pairs, NULL, problem, sizeof problem));
        assert_non_null(strstr(problem, CASES[i].problem));
        assert_non_null(strstr(problem, "FORAGE_TOKENS"));
    }
    redact_reset();
}

static void tokens_come_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/forage-tokens-XXXXXX";
    int fd = mkstemp(path);
    static const char TEXT[] = "# callers\n\ncarol:carol-token-1\r\n  dave:dave-token-1  \n";
    assert_int_equal(write(fd, TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    close(fd);
    char problem[256];
    struct callers *callers = callers_new((const char *const[]){"alice:alice-token-1", NULL}, path,
                                          problem, sizeof problem);
    assert_non_null(callers);
    assert_int_equal(callers_count(callers), 3);
    assert_string_equal(name_of(callers, "Bearer dave-token-1"), "dave");
    callers_free(callers);
    unlink(path);
    assert_null(callers_new(NULL, path, problem, sizeof problem));
    assert_non_null(strstr(problem, "FORAGE_TOKENS_FILE"));
    redact_reset();
}

static void a_window_lets_so_many_through(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_state left;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(limiter_take(limiter, "alice", "search", 5, 60000, &left), OK);
        assert_int_equal(left.left, 4 - i);
    }
    assert_int_equal(limiter_take(limiter, "alice", "search", 5, 60000, &left), ERR_BUSY);
    assert_true(left.retry_after_ms > 0 && left.retry_after_ms <= 60000);
    assert_int_equal(left.left, 0);
    assert_int_equal(limiter_take(limiter, "bob", "search", 5, 60000, &left), OK);
    assert_int_equal(limiter_take(limiter, "alice", "read", 5, 60000, &left), OK);
    limiter_free(limiter);
}

static void a_new_window_begins(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_state left;
    assert_int_equal(limiter_take(limiter, "a", "x", 1, 5, &left), OK);
    while (limiter_take(limiter, "a", "x", 1, 5, &left) == ERR_BUSY) {
        usleep(1000);
    }
    assert_int_equal(left.retry_after_ms, 0);
    limiter_free(limiter);
}

static void the_limiter_forgets_before_it_grows(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_state left;
    char name[32];
    for (int i = 0; i < 2 * LIMIT_WINDOW_KEYS; i++) {
        snprintf(name, sizeof name, "caller%d", i);
        assert_int_equal(limiter_take(limiter, name, "x", 1, 60000, &left), OK);
    }
    assert_int_equal(limiter_take(limiter, name, "x", 1, 60000, &left), ERR_BUSY);
    limiter_free(limiter);
    assert_null(limiter_free(NULL));
}

struct crowd {
    struct limiter *limiter;
    atomic_int passed;
};

static void *push(void *context)
{
    struct crowd *crowd = context;
    struct limit_state left;
    for (int i = 0; i < 100; i++) {
        if (limiter_take(crowd->limiter, "alice", "x", 20, 60000, &left) == OK) {
            atomic_fetch_add(&crowd->passed, 1);
        }
    }
    return NULL;
}

static void exactly_so_many_pass_at_once(void **state)
{
    (void)state;
    struct crowd crowd = {.limiter = limiter_new()};
    pthread_t threads[16];
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_create(&threads[i], NULL, push, &crowd);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.passed, 20);
    limiter_free(crowd.limiter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_name_their_callers),
        cmocka_unit_test(without_tokens_everyone_is_local),
        cmocka_unit_test(wrong_tokens_are_refused),
        cmocka_unit_test(tokens_come_from_a_file),
        cmocka_unit_test(a_window_lets_so_many_through),
        cmocka_unit_test(a_new_window_begins),
        cmocka_unit_test(the_limiter_forgets_before_it_grows),
        cmocka_unit_test(exactly_so_many_pass_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
