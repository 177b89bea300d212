/* PostgreSQL without a server, or with one that does not do its part: every wait ends with its
 * call, and no words tell a password. With a real server: tests/blackbox/test_postgres.py. */
#include "core/clock.h"
#include "db/db.h"

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECRET      "hunter2-hunter2"
#define GENEROUS_MS 9000 /* less than is waited for a server without a call */

static const char *const VERSIONS[] = {"SELECT 1", NULL};

/* A socket that takes connections and never says a word; its port. */
static int listen_silently(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static struct db *try_open(const char *url, struct call *call, char *problem, size_t size)
{
    static const struct db_schema SCHEMA = {"test", VERSIONS, VERSIONS};
    return db_open(&(struct db_options){.url = url, .schema = &SCHEMA}, call, problem, size);
}

static void a_wrong_url_is_told_without_itself(void **state)
{
    (void)state;
    static const char *const URLS[] = {
        ("postgresql://user:" SECRET "@[::1/database"),
        ("postgresql://user:" SECRET "%zz@127.0.0.1/database"),
        ("postgresql://127.0.0.1/database?password=" SECRET "&colour=blue"),
        ("nonsense " SECRET),
    };
    for (size_t i = 0; i < sizeof URLS / sizeof *URLS; i++) {
        char problem[256] = "";
        struct call *call = call_new(&(struct call_options){.timeout_ms = GENEROUS_MS});
        assert_null(try_open(URLS[i], call, problem, sizeof problem));
        assert_non_null(strstr(problem, "FORAGE_DATABASE_URL"));
        assert_null(strstr(problem, SECRET));
        call_free(call);
    }
}

static void a_silent_server_is_waited_for_as_long_as_the_call_lasts(void **state)
{
    (void)state;
    int port;
    int listener = listen_silently(&port);
    char url[100];
    char problem[256] = "";
    snprintf(url, sizeof url, "postgresql://user:" SECRET "@127.0.0.1:%d/database", port);
    struct call *call = call_new(&(struct call_options){.timeout_ms = 100});
    int64_t started = clock_now_ms();
    assert_null(try_open(url, call, problem, sizeof problem));
    int64_t took = clock_now_ms() - started;
    assert_int_equal(call_check(call), ERR_DEADLINE);
    assert_true(took >= 50 && took < GENEROUS_MS);
    assert_null(strstr(problem, SECRET));
    call_free(call);
    close(listener);
}

static void *cancel_soon(void *context)
{
    usleep(50000);
    call_cancel(context);
    return NULL;
}

static void connecting_can_be_cancelled(void **state)
{
    (void)state;
    int port;
    int listener = listen_silently(&port);
    char url[100];
    char problem[256];
    pthread_t thread;
    snprintf(url, sizeof url, "postgresql://user@127.0.0.1:%d/database", port);
    struct call *call = call_new(&(struct call_options){.timeout_ms = 60000});
    int64_t started = clock_now_ms();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, call), 0);
    assert_null(try_open(url, call, problem, sizeof problem));
    assert_true(clock_now_ms() - started < GENEROUS_MS);
    pthread_join(thread, NULL);
    call_free(call);
    close(listener);
}

static void a_server_that_is_not_there_is_named(void **state)
{
    (void)state;
    int port;
    char url[100];
    char problem[256] = "";
    close(listen_silently(&port));
    snprintf(url, sizeof url, "postgresql://user:" SECRET "@127.0.0.1:%d/database", port);
    struct call *call = call_new(&(struct call_options){.timeout_ms = 2 * GENEROUS_MS});
    assert_null(try_open(url, call, problem, sizeof problem));
    assert_non_null(strstr(problem, "refused"));
    assert_null(strstr(problem, SECRET));
    call_free(call);
}

UNIT_TEST(postgres)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_url_is_told_without_itself),
        cmocka_unit_test(a_silent_server_is_waited_for_as_long_as_the_call_lasts),
        cmocka_unit_test(connecting_can_be_cancelled),
        cmocka_unit_test(a_server_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
