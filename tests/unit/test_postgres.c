/* PostgreSQL without a server, or with one that does not do its part: every wait ends with its
 * call, no words tell a password, and a connection does not remember what the server has not. With
 * a real server: tests/blackbox/test_postgres.py. */
#include "core/clock.h"
#include "core/limits.h"
#include "db/db.h"

#include "loopback.h"
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

/* ---- a server that speaks the protocol, as far as it must ---- */

/* What it thinks of a statement stands in its words. */
#define REFUSED_ONCE "SELECT 'refused once'"
#define COPIED       "SELECT 'copied'"
/* What a prepared statement is called: a word of this connection's, and its place. */
#define STATEMENT "forage_%*[0-9a-f]_%*u_%zu"

struct conversation {
    int client;
    bool known[LIMIT_DB_STATEMENTS]; /* prepared statements, by their place */
    bool refused_once;
    bool copies;  /* the portal's statement */
    bool failed;  /* what follows is skipped until the client says that it waits */
    char copying; /* the answer of a copy: 'G', 'H' or 'W' */
};

static void say(const struct conversation *talk, char kind, const void *body, size_t length)
{
    unsigned char head[5] = {(unsigned char)kind};
    uint32_t size = htonl((uint32_t)length + 4);
    memcpy(head + 1, &size, sizeof size);
    loopback_send(talk->client, head, sizeof head);
    loopback_send(talk->client, body, length);
}

#define SAY(talk, kind, body) say(talk, kind, body, sizeof(body) - 1)

static void refuse(struct conversation *talk, const char *code)
{
    char body[64];
    int length = snprintf(body, sizeof body, "SERROR%cC%s%cMrefused%c", 0, code, 0, 0);
    say(talk, 'E', body, (size_t)length + 1);
    talk->failed = true;
}

/* A copy begins, and nothing follows. */
static void copy(const struct conversation *talk)
{
    SAY(talk, talk->copying, "\0\0\0");
}

static void answer_query(struct conversation *talk, const char *sql)
{
    size_t place;
    if (strcmp(sql, COPIED) == 0) {
        copy(talk);
        return;
    }
    if (sscanf(sql, "DEALLOCATE " STATEMENT, &place) == 1 && place < LIMIT_DB_STATEMENTS) {
        if (talk->known[place]) {
            talk->known[place] = false;
        } else {
            refuse(talk, "26000");
        }
    }
    if (!talk->failed) {
        SAY(talk, 'C', "DONE\0");
    }
    talk->failed = false;
    SAY(talk, 'Z', "I");
}

static void answer_parse(struct conversation *talk, const char *name)
{
    size_t place = LIMIT_DB_STATEMENTS;
    const char *sql = name + strlen(name) + 1;
    bool refused = strcmp(sql, REFUSED_ONCE) == 0 && !talk->refused_once;
    if (sscanf(name, STATEMENT, &place) != 1 || place >= LIMIT_DB_STATEMENTS) {
        refuse(talk, "XX000");
    } else if (refused || talk->known[place]) {
        talk->refused_once |= refused;
        refuse(talk, refused ? "42601" : "42P05");
    } else {
        talk->known[place] = true;
        talk->copies = strcmp(sql, COPIED) == 0;
        SAY(talk, '1', "");
    }
}

static void answer_bind(struct conversation *talk, const char *portal)
{
    size_t place = LIMIT_DB_STATEMENTS;
    if (sscanf(portal + strlen(portal) + 1, STATEMENT, &place) == 1 && talk->known[place]) {
        SAY(talk, '2', "");
    } else {
        refuse(talk, "26000");
    }
}

static void answer(struct conversation *talk, char kind, const char *body)
{
    if (kind == 'S') {
        talk->failed = false;
        SAY(talk, 'Z', "I");
    } else if (talk->failed) {
        return;
    } else if (kind == 'Q') {
        answer_query(talk, body);
    } else if (kind == 'P') {
        answer_parse(talk, body);
    } else if (kind == 'B') {
        answer_bind(talk, body);
    } else if (kind == 'D') {
        SAY(talk, 'n', "");
    } else if (kind == 'E' && talk->copies) {
        copy(talk);
    } else if (kind == 'E') {
        SAY(talk, 'C', "SELECT 0\0");
    }
}

static bool read_all(int client, void *out, size_t length)
{
    return length == 0 || recv(client, out, length, MSG_WAITALL) == (ssize_t)length;
}

/* The length of a message's body; false at the end. */
static bool read_length(int client, uint32_t *length)
{
    bool is_there = read_all(client, length, sizeof *length);
    *length = is_there ? ntohl(*length) - 4 : 0;
    return is_there;
}

static void talk_with(int client, char copying)
{
    struct conversation talk = {.client = client, .copying = copying};
    char body[4096];
    char kind;
    uint32_t length;
    if (!read_length(client, &length) || length >= sizeof body || !read_all(client, body, length)) {
        return;
    }
    SAY(&talk, 'R', "\0\0\0\0");
    SAY(&talk, 'S', "server_encoding\0UTF8\0");
    SAY(&talk, 'S', "client_encoding\0UTF8\0");
    SAY(&talk, 'Z', "I");
    while (read_all(client, &kind, 1) && read_length(client, &length) && length < sizeof body &&
           read_all(client, body, length)) {
        body[length] = '\0';
        answer(&talk, kind, body);
    }
}

static void copy_in(struct loopback *server, int client)
{
    (void)server;
    talk_with(client, 'G');
}

static void copy_out(struct loopback *server, int client)
{
    (void)server;
    talk_with(client, 'H');
}

static void copy_both(struct loopback *server, int client)
{
    (void)server;
    talk_with(client, 'W');
}

static struct db *open_at(const struct loopback *server, struct call *call)
{
    char url[100];
    char problem[256] = "";
    snprintf(url, sizeof url, "postgresql://user@127.0.0.1:%d/database?sslmode=disable",
             server->port);
    struct db *db = db_open(&(struct db_options){.url = url}, call, problem, sizeof problem);
    if (!db) {
        fail_msg("%s", problem);
    }
    return db;
}

/* Such a server is one that went away, with and without a call. */
static void a_server_that_copies_is_left(void **state)
{
    (void)state;
    static const loopback_serve SERVERS[] = {copy_in, copy_out, copy_both};
    for (size_t i = 0; i < COUNT(SERVERS); i++) {
        struct loopback *server = loopback_start("127.0.0.1", SERVERS[i]);
        struct call *call = call_new(&(struct call_options){.timeout_ms = 60000});
        struct db *db = open_at(server, call);
        db_work_for(db, call);
        assert_int_equal(db_run(db, COPIED), ERR_CLOSED);
        assert_non_null(strstr(db_problem(db), "copy"));
        assert_int_equal(db_run(db, "SELECT 1"), OK); /* on another connection */
        assert_int_equal(db_finish(db_query(db, COPIED, NULL, 0)), ERR_CLOSED);
        db_work_for(db, NULL);
        assert_int_equal(db_run(db, COPIED), ERR_CLOSED);
        assert_int_equal(call_check(call), OK);
        db_close(db);
        call_free(call);
        loopback_stop(server);
    }
}

/* Its place is free then, for itself as for others. */
static void a_statement_that_was_refused_can_be_prepared_later(void **state)
{
    (void)state;
    struct loopback *server = loopback_start("127.0.0.1", copy_out);
    struct call *call = call_new(&(struct call_options){.timeout_ms = 60000});
    struct db *db = open_at(server, call);
    db_work_for(db, call);
    for (int i = 0; i < LIMIT_DB_STATEMENTS; i++) {
        char sql[32];
        snprintf(sql, sizeof sql, "SELECT %d", i);
        assert_int_equal(db_finish(db_query(db, sql, NULL, 0)), OK);
    }
    assert_int_equal(db_finish(db_query(db, REFUSED_ONCE, NULL, 0)), ERR_IO);
    assert_int_equal(db_finish(db_query(db, REFUSED_ONCE, NULL, 0)), OK);
    assert_int_equal(db_finish(db_query(db, "SELECT 'another'", NULL, 0)), OK);
    assert_int_equal(loopback_connections(server), 1);
    db_close(db);
    call_free(call);
    loopback_stop(server);
}

UNIT_TEST(postgres)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_url_is_told_without_itself),
        cmocka_unit_test(a_silent_server_is_waited_for_as_long_as_the_call_lasts),
        cmocka_unit_test(connecting_can_be_cancelled),
        cmocka_unit_test(a_server_that_is_not_there_is_named),
        cmocka_unit_test(a_server_that_copies_is_left),
        cmocka_unit_test(a_statement_that_was_refused_can_be_prepared_later),
    };
    return cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
