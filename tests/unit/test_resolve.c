/* Name look-ups: answers, failures, and look-ups that are left behind. */
#include "core/clock.h"
#include "fake_names.h"
#include "net/resolve.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

static int start(struct resolver *resolver, const char *owner, const char *host,
                 struct resolve_query **query)
{
    struct resolve_question question = {
        .resolver = resolver, .owner = owner, .host = host, .port = 80};
    return resolve_start(&question, query);
}

static void needs_no_thread_for_addresses(void **state)
{
    (void)state;
    struct call *call = new_call(0);
    struct resolve_result result;
    struct resolve_query *query;
    int before = fake_names_count();
    assert_int_equal(resolve_host(call, "192.0.2.1", 80, &result), OK);
    assert_int_equal(start(NULL, NULL, "::1", &query), OK);
    assert_int_equal(resolve_finish(query, &result), OK);
    assert_null(resolve_free(query));
    assert_null(resolve_free(NULL));
    assert_int_equal(fake_names_count(), before);
    call_free(call);
}

static void knows_lists_of_servers(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        bool good;
    } CASES[] = {
        {"192.0.2.53", true},
        {" 192.0.2.53 , 192.0.2.54:5353 ", true},
        {"2001:db8::53", true},
        {"[2001:db8::53]", true},
        {"[2001:db8::53]:5353,127.0.0.1", true},
        {"", true},
        {"1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8", true},
        {"1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,1.1.1.9", false},
        {"dns.example", false},
        {"192.0.2.53:", false},
        {"192.0.2.53:0", false},
        {"192.0.2.53:65536", false},
        {"192.0.2.53:53x", false},
        {"192.0.2.53:-1", false},
        {"[2001:db8::53", false},
        {"[192.0.2.53]", false},
        {"[2001:db8::53]5353", false},
        {"192.0.2.1.2", false},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[200] = "";
        struct resolver *resolver = resolver_new(NULL, CASES[i].list, problem, sizeof problem);
        if (CASES[i].good != (resolver != NULL)) {
            fail_msg("%s: %s", CASES[i].list, problem);
        }
        assert_true(resolver || strstr(problem, "FORAGE_NAME_SERVERS"));
        resolver_free(resolver);
    }
}

static void servers_of_ones_own_need_c_ares(void **state)
{
    (void)state;
    char problem[200];
    struct resolver *resolver = resolver_new(NULL, "192.0.2.53", problem, sizeof problem);
    struct resolve_query *query;
    struct resolve_result result;
    int before = fake_names_count();
    assert_int_equal(start(resolver, "alice", "two.test", &query), OK);
    assert_int_equal(resolve_finish(query, &result), ERR_IO);
    assert_string_equal(result.problem, "c-ares is not there");
    assert_int_equal(fake_names_count(), before);
    resolve_free(query);
    resolver_free(resolver);
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
    assert_int_equal(start(NULL, NULL, "stuck.test", &query), OK);
    struct resolve_result result;
    assert_int_equal(resolve_finish(query, &result), ERR_BUSY);
    fake_names_await(1);
    resolve_free(query);
    fake_names_release();
}

static struct resolver *new_resolver(void)
{
    char problem[200];
    struct resolver *resolver = resolver_new(NULL, NULL, problem, sizeof problem);
    assert_non_null(resolver);
    return resolver;
}

/* Starts one, waits for it and ends it; its status. */
static int look_up(struct resolver *resolver, const char *owner, const char *host)
{
    struct resolve_query *query;
    struct resolve_result result;
    int status = start(resolver, owner, host, &query);
    while (status == OK && (status = resolve_finish(query, &result)) == ERR_BUSY) {
        struct pollfd ready = {.fd = resolve_fd(query), .events = POLLIN};
        status = poll(&ready, 1, 10000) == 1 ? OK : ERR_DEADLINE;
    }
    resolve_free(query);
    return status;
}

#define NAMES 80

/* The system's threads cannot be taken back. So a page that leaves many names behind has its share
 * of them, and what others look up is found. */
static void a_page_that_leaves_names_behind_holds_its_share(void **state)
{
    (void)state;
    struct resolver *resolver = new_resolver();
    struct resolve_query *queries[NAMES];
    struct resolve_result result;
    size_t waiting = 0;
    for (size_t i = 0; i < NAMES; i++) {
        assert_int_equal(start(resolver, "page-1", "stuck.test", &queries[i]), OK);
        int status = resolve_finish(queries[i], &result);
        assert_true(status == ERR_BUSY || status == ERR_LIMIT);
        waiting += status == ERR_BUSY;
    }
    /* An eighth is kept for configured upstreams; of the rest it leaves as much as it has. */
    assert_int_equal(waiting, LIMIT_SYSTEM_LOOK_UPS * 7 / 8 / 2);
    assert_int_equal(look_up(resolver, "alice", "two.test"), OK);
    for (size_t i = 0; i < NAMES; i++) {
        resolve_free(queries[i]);
    }
    fake_names_await((int)waiting);
    for (int i = 0; i < NAMES; i++) {
        assert_int_equal(look_up(resolver, "alice", "two.test"), OK);
    }
    assert_int_equal(look_up(resolver, "page-1", "127.0.0.1"), OK);
    fake_names_release();
    while (look_up(resolver, "page-1", "two.test") != OK) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    resolver_free(resolver);
}

/* A look-up that is freed is free for the next one at once, whatever becomes of it. */
static void an_abandoned_look_up_frees_its_place(void **state)
{
    (void)state;
    struct resolver *resolver = new_resolver();
    for (int i = 0; i < 3 * LIMIT_LOOK_UPS; i++) {
        struct resolve_query *query;
        assert_int_equal(start(resolver, "page-1", "stuck.test", &query), OK);
        resolve_free(query);
    }
    /* What the system still works on outlives the resolver. */
    fake_names_await(LIMIT_SYSTEM_LOOK_UPS * 7 / 8 / 2);
    resolver_free(resolver);
    fake_names_release();
}

static void look_ups_have_a_ceiling(void **state)
{
    (void)state;
    struct resolver *resolver = new_resolver();
    struct resolve_query *queries[LIMIT_LOOK_UPS];
    size_t count = 0;
    int status = OK;
    while (status == OK && count < COUNT(queries)) {
        status = start(resolver, "page-1", "stuck.test", &queries[count]);
        count += status == OK;
    }
    assert_int_equal(status, ERR_LIMIT);
    assert_int_equal(count, LIMIT_LOOK_UPS * 7 / 8 / 2);
    assert_non_null(strstr(resolve_refusal(status), "one caller or page"));
    assert_int_equal(look_up(resolver, "alice", "two.test"), OK);
    for (size_t i = 0; i < count; i++) {
        resolve_free(queries[i]);
    }
    fake_names_await(LIMIT_SYSTEM_LOOK_UPS * 7 / 8 / 2);
    fake_names_release();
    resolver_free(resolver);
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
    assert_true(call_cancel_fd(call) >= 0); /* opened by the first wait, which may come late */
    assert_int_equal(resolve_host(call, "two.test", 80, &result), OK);
    size_t before = open_descriptors();
    for (int i = 0; i < 50; i++) {
        assert_int_equal(resolve_host(call, "two.test", 80, &result), OK);
        struct resolve_query *query;
        assert_int_equal(start(NULL, NULL, "two.test", &query), OK);
        resolve_free(query);
    }
    while (open_descriptors() > before) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    call_free(call);
}

UNIT_TEST(resolve)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(needs_no_thread_for_addresses),
        cmocka_unit_test(knows_lists_of_servers),
        cmocka_unit_test(servers_of_ones_own_need_c_ares),
        cmocka_unit_test(cancelled_call_leaves_at_once),
        cmocka_unit_test(late_call_leaves_at_its_deadline),
        cmocka_unit_test(abandoned_query_frees_itself),
        cmocka_unit_test(a_page_that_leaves_names_behind_holds_its_share),
        cmocka_unit_test(an_abandoned_look_up_frees_its_place),
        cmocka_unit_test(look_ups_have_a_ceiling),
        cmocka_unit_test(leaks_no_descriptor),
    };
    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
