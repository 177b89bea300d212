/* Connecting: names are looked up where a call can abandon it, and the rest waits in call_wait().
 */
#include "db/postgres_connect.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"
#include "db/db.h"
#include "db/postgres_pooler.h"
#include "net/resolve.h"
#include "text/text.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

#define MOST_SETTINGS 64

/* What is given to libpq, by name; the last NULL ends it. */
struct settings {
    const char *names[MOST_SETTINGS + 1];
    const char *values[MOST_SETTINGS + 1];
    size_t count;
};

static void set(struct settings *settings, const char *name, const char *value)
{
    size_t at = 0;
    while (at < settings->count && strcmp(settings->names[at], name) != 0) {
        at++;
    }
    if (at < MOST_SETTINGS) {
        settings->names[at] = name;
        settings->values[at] = value;
        settings->count += at == settings->count;
    }
}

static const char *get(const struct settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->names[i], name) == 0) {
            return settings->values[i];
        }
    }
    return NULL;
}

void postgres_words(const char *message, char *problem, size_t size)
{
    size_t length = strcspn(message, "\n");
    snprintf(problem, size, "%.*s", (int)(length < size ? length : size), message);
    text_repair(problem);
}

/* ---- the address ---- */

static void read_settings(const PQconninfoOption *options, struct settings *settings)
{
    for (const PQconninfoOption *option = options; option->keyword; option++) {
        if (option->val) {
            set(settings, option->keyword, option->val);
        }
    }
}

/* Of the options of a session only the schemas tell one set of tables from another. */
static void name_schemas(const char *options, struct buf *name)
{
    const char *path = options ? strstr(options, "search_path") : NULL;
    buf_printf(name, "%.*s", path ? (int)strcspn(path, " ") : 0, path ? path : "");
}

int db_name_of(const char *url, struct buf *name)
{
    static const char *const PARTS[] = {"service", "host", "hostaddr", "port", "dbname", "user"};
    struct settings settings = {.count = 0};
    const char *missing;
    char *wrong = NULL;
    const struct postgres_api *api = postgres_api_open(&missing);
    PQconninfoOption *options = api ? api->conninfoParse(url, &wrong) : NULL;
    if (!options) {
        if (api) {
            api->freemem(wrong); /* it repeats the URL */
        }
        return ERR_IO;
    }
    set(&settings, "port", "5432");
    read_settings(options, &settings);
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        const char *value = get(&settings, PARTS[i]);
        buf_printf(name, "%s=%s\n", PARTS[i], value ? value : "");
    }
    name_schemas(get(&settings, "options"), name);
    api->conninfoFree(options);
    return buf_error(name);
}

/* libpq would look the name up itself, and could not be interrupted. The name stays, for TLS. */
static int look_up(struct call *call, struct settings *settings, struct buf *hosts,
                   struct buf *addresses, char *problem, size_t size)
{
    const char *host = get(settings, "host");
    struct resolve_result found;
    if (!host || !*host || strpbrk(host, "/,@") || get(settings, "hostaddr")) {
        return OK; /* a socket, or what only libpq knows */
    }
    int status = resolve_host(call, host, 0, &found);
    if (status != OK) {
        snprintf(problem, size, "the database's host %s is not found: %s", host,
                 found.problem ? found.problem : status_name(status));
        return status == ERR_CANCELLED || status == ERR_DEADLINE ? status : ERR_IO;
    }
    for (size_t i = 0; i < found.count; i++) {
        char address[NI_MAXHOST];
        if (getnameinfo((struct sockaddr *)&found.addresses[i], sizeof found.addresses[i], address,
                        sizeof address, NULL, 0, NI_NUMERICHOST) == 0) {
            buf_printf(hosts, "%s%s", hosts->length ? "," : "", host);
            buf_printf(addresses, "%s%s", addresses->length ? "," : "", address);
        }
    }
    if (buf_error(hosts) || buf_error(addresses)) {
        return ERR_NOMEM;
    }
    if (addresses->length) {
        set(settings, "host", hosts->data);
        set(settings, "hostaddr", addresses->data);
    }
    return OK;
}

/* ---- the connection ---- */

static int finish_connecting(const struct postgres_api *api, PGconn *handle, struct call *call,
                             char *problem, size_t size)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    int64_t end = clock_now_ms() + TIME_POSTGRES_CONNECT_MS;
    while (api->status(handle) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED) {
        struct pollfd socket = {.fd = api->socket(handle),
                                .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int64_t left = end - clock_now_ms();
        int ready = left > 0 ? call_wait(call, &socket, 1, left) : 0;
        if (ready == 0) {
            snprintf(problem, size, "the database did not answer within %d seconds",
                     TIME_POSTGRES_CONNECT_MS / 1000);
            return ERR_IO;
        }
        if (ready < 0) {
            return ready;
        }
        next = api->connectPoll(handle);
    }
    if (next != PGRES_POLLING_OK) {
        postgres_words(api->errorMessage(handle), problem, size);
        return ERR_IO;
    }
    const char *encoding = api->parameterStatus(handle, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0) {
        snprintf(problem, size, "the database keeps texts as %s; make one with ENCODING 'UTF8'",
                 encoding ? encoding : "something unknown");
        return ERR_IO;
    }
    return api->setnonblocking(handle, 1) == 0 ? OK : ERR_IO;
}

/* libpq would write them to stderr itself, past the log. */
static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static int connect_once(const struct postgres_api *api, const struct settings *settings,
                        struct call *call, PGconn **handle, char *problem, size_t size)
{
    *handle = api->connectStartParams(settings->names, settings->values, 0);
    if (*handle) {
        api->setNoticeProcessor(*handle, ignore_notice, NULL);
    }
    int status = *handle ? finish_connecting(api, *handle, call, problem, size) : ERR_NOMEM;
    if (status != OK) {
        api->finish(*handle);
        *handle = NULL;
    }
    return status;
}

/* libpq tells no code of why it could not connect, only words. */
static bool may_pass(const char *problem)
{
    static const char *const WORDS[] = {
        "refused",          "starting up",           "shutting down",
        "recovery mode",    "accepting connections", /* not yet, after a crash */
        "hot standby mode",                          /* until it takes over */
        "read-only",        "No such file",          "too many clients",
        "terminating",      "closed the connec"};
    bool found = false;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        found |= strstr(problem, WORDS[i]) != NULL;
    }
    return found;
}

static int connect_patiently(const struct postgres_api *api, const struct settings *settings,
                             struct call *call, PGconn **handle, char *problem, size_t size)
{
    int64_t end = clock_now_ms() + TIME_POSTGRES_RETRY_MS;
    for (;;) {
        int status = connect_once(api, settings, call, handle, problem, size);
        if (status != ERR_IO || !may_pass(problem) || clock_now_ms() >= end) {
            return status;
        }
        status = call_sleep(call, TIME_POSTGRES_PAUSE_MS);
        if (status != OK) {
            return status;
        }
    }
}

/* Whether a pooler in between, if there is one, can be used. */
static int check_pooler(const struct postgres_api *api, const struct settings *settings,
                        struct call *call, PGconn *handle, bool *pooled, char *problem, size_t size)
{
    PGconn *second = NULL;
    bool prepares = false;
    bool shares = false;
    int status = postgres_pooler_there(api, handle, call, pooled);
    if (status == OK && *pooled) {
        status = postgres_pooler_prepares(api, handle, call, &prepares);
    }
    if (status == OK && *pooled && !prepares &&
        connect_once(api, settings, call, &second, problem, size) == OK) {
        status = postgres_pooler_shares(api, handle, second, call, &shares);
        api->finish(second);
    }
    bool silent = status == ERR_BUSY || status == ERR_IO;
    if (silent || shares) {
        snprintf(problem, size, "%s",
                 silent ? "the database does not answer" : POSTGRES_POOLER_WORDS);
        return ERR_IO;
    }
    return status;
}

int postgres_connect(const struct postgres_api *api, const char *url, struct call *call,
                     PGconn **handle, bool *pooled, char *problem, size_t size)
{
    struct settings settings = {.count = 0};
    struct buf hosts, addresses;
    char *wrong = NULL;
    PQconninfoOption *options = api->conninfoParse(url, &wrong);
    api->freemem(wrong); /* it repeats the URL */
    if (!options) {
        snprintf(problem, size,
                 "FORAGE_DATABASE_URL is not a URL as postgresql://user:password@host/database "
                 "(special characters in it must be percent-encoded)");
        return ERR_IO;
    }
    read_settings(options, &settings);
    set(&settings, "client_encoding", "UTF8");
    set(&settings, "fallback_application_name", "forage");
    if (!get(&settings, "keepalives_idle")) {
        set(&settings, "keepalives_idle", "30");
    }
    buf_init(&hosts, KIB(64));
    buf_init(&addresses, KIB(64));
    int status = look_up(call, &settings, &hosts, &addresses, problem, size);
    if (status == OK) {
        status = connect_patiently(api, &settings, call, handle, problem, size);
    }
    if (status == OK) {
        status = check_pooler(api, &settings, call, *handle, pooled, problem, size);
    }
    if (status != OK && *handle) {
        api->finish(*handle);
        *handle = NULL;
    }
    buf_done(&hosts);
    buf_done(&addresses);
    api->conninfoFree(options);
    return status;
}
