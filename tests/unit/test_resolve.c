/* Name look-ups: answers, failures, and look-ups that are left behind. */
#include "core/clock.h"
#include "fake_names.h"
#include "net/resolve.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct call *new_call(int64_t timeout_ms)
{
    struct call_options options = {.timeout_ms = timeout_ms};
    struct call *call = call_new(&options);
    assert_non_null(call);
    return call;
}

static void text_of(const struct sockaddr_storage *address, char out[64])
{
    char host[INET6_ADDRSTRLEN];
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
    if (address->ss_family == AF_INET) {
        inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof host);
        snprintf(out, 64, "%s %d", host, ntohs(ipv4->sin_port));
    } else {
        inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof host);
        snprintf(out, 64, "%s %d", host, ntohs(ipv6->sin6_port));
    }
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        int status;
        size_t count;
        const char *first;
    } CASES[] = {
        {"127.0.0.1", OK, 1, "127.0.0.1 8080"},
        {"::1", OK, 1, "::1 8080"},
        {"::ffff:10.0.0.1", OK, 1, "::ffff:10.0.0.1 8080"},
        {"a.at-192-0-2-7.test", OK, 1, "192.0.2.7 8080"},
        {"two.test", OK, 2, "::1 8080"},
        {"many.test", OK, LIMIT_RESOLVED_ADDRESSES, "192.0.2.1 8080"},
        {"nothing.test", ERR_NOTFOUND, 0, "the name does not exist"},
        {"empty.test", ERR_NOTFOUND, 0, "the name has no address"},
        {"odd.test", ERR_NOTFOUND, 0, "the name has no address"},
        {"again.test", ERR_IO, 0, "the name servers did not answer"},
        {"broken.test", ERR_IO, 0, "the name servers answered with an error"},
        {"strange.test", ERR_IO, 0, "the name could not be looked up"},
        {"memory.test", ERR_NOMEM, 0, "there is no memory for the look-up"},
    };
    struct call *call = new_call(0);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct resolve_result result;
        int status = resolve_host(call, CASES[i].host, 8080, &result);
        assert_int_equal(status, CASES[i].status);
        assert_int_equal(result.count, CASES[i].count);
        char first[64];
        if (status == OK) {
            text_of(&result.addresses[0], first);
        }
        assert_string_equal(status == OK ? first : result.problem, CASES[i].first);
    }
    call_free(call);
}

static void needs_no_thread_for_addresses(void **state)
{
    (void)state;
    struct call *call = new_call(0);
    struct resolve_result result;
    struct resolve_query *query;
    int before = fake_names_count();
    assert_int_equal(resolve_host(call, "192.0.2.1", 80, &result), OK);
    assert_int_equal(resolve_start("::1", 80, &query), OK);
    assert_int_equal(resolve_finish(query, &result), OK);
    assert_null(resolve_free(query));
    assert_null(resolve_free(NULL));
    assert_int_equal(fake_names_count(), before);
    call_free(call);
}

/* ---- look-ups that are left behind ---- */

static void *cancel_when_stuck(void *argument)
{
    fake_names_await(1);
    call_cancel(argument);
    return NULL;
}

static void cancelled_call_leaves_at_once(void **state)
{
    (void)state;
    struct call *call = new_call(0);
    struct resolve_result result;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_stuck, call), 0);
    int64_t start = clock_now_us();
    assert_int_equal(resolve_host(call, "stuck.test", 80, &result), ERR_CANCELLED);
    print_message("a cancelled look-up was left after %.2f ms\n",
                  (double)(clock_now_us() - start) / 1000);
    pthread_join(thread, NULL);
    call_free(call);
    fake_names_release();
}

static void late_call_leaves_at_its_deadline(void **state)
{
    (void)state;
    struct call *call = new_call(30);
    struct resolve_result result;
    assert_int_equal(resolve_host(call, "stuck.test", 80, &result), ERR_DEADLINE);
    call_free(call);
    fake_names_release();
}

static void abandoned_query_frees_itself(void **state)
{
    (void)state;
    struct resolve_query *query;
    assert_int_equal(resolve_start("stuck.test", 80, &query), OK);
    struct resolve_result result;
    assert_int_equal(resolve_finish(query, &result), ERR_BUSY);
    fake_names_await(1);
    resolve_free(query);
    fake_names_release();
}

/* The threads of answered look-ups need a moment to leave. */
static void await_capacity(void)
{
    struct resolve_query *query;
    int status = ERR_BUSY;
    while (status == ERR_BUSY) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        status = resolve_start("nothing.test", 80, &query);
    }
    assert_int_equal(status, OK);
    resolve_free(query);
}

static void bounds_its_threads(void **state)
{
    (void)state;
    struct resolve_query *queries[LIMIT_RESOLVER_THREADS];
    struct call *call = new_call(0);
    struct resolve_result result;
    for (size_t i = 0; i < COUNT(queries); i++) {
        int status;
        while ((status = resolve_start("stuck.test", 80, &queries[i])) == ERR_BUSY) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        assert_int_equal(status, OK);
    }
    assert_int_equal(resolve_host(call, "two.test", 80, &result), ERR_BUSY);
    assert_string_equal(result.problem, "too many names are being looked up");
    assert_int_equal(resolve_host(call, "127.0.0.1", 80, &result), OK);
    fake_names_await(LIMIT_RESOLVER_THREADS);
    for (size_t i = 0; i < COUNT(queries); i += 2) {
        resolve_free(queries[i]);
    }
    fake_names_release();
    for (size_t i = 1; i < COUNT(queries); i += 2) {
        struct pollfd ready = {.fd = resolve_fd(queries[i]), .events = POLLIN};
        assert_int_equal(call_wait(call, &ready, 1, -1), 1);
        assert_int_equal(resolve_finish(queries[i], &result), OK);
        resolve_free(queries[i]);
    }
    await_capacity();
    assert_int_equal(resolve_host(call, "two.test", 80, &result), OK);
    call_free(call);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static void leaks_no_descriptor(void **state)
{
    (void)state;
    struct call *call = new_call(0);
    struct resolve_result result;
    assert_int_equal(resolve_host(call, "two.test", 80, &result), OK);
    size_t before = open_descriptors();
    for (int i = 0; i < 50; i++) {
        assert_int_equal(resolve_host(call, "two.test", 80, &result), OK);
        struct resolve_query *query;
        assert_int_equal(resolve_start("two.test", 80, &query), OK);
        resolve_free(query);
    }
    while (open_descriptors() > before) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    call_free(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(needs_no_thread_for_addresses),
        cmocka_unit_test(cancelled_call_leaves_at_once),
        cmocka_unit_test(late_call_leaves_at_its_deadline),
        cmocka_unit_test(abandoned_query_frees_itself),
        cmocka_unit_test(bounds_its_threads),
        cmocka_unit_test(leaks_no_descriptor),
    };
    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
