/* May this request come in? Host and Origin guard against pages in a browser that speak to a server
 * on the user's own machine (DNS rebinding, cross-site requests); the token tells who is calling.
 */
#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "rest/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const LOOPBACK_NAMES[] = {"localhost", "127.0.0.1", "[::1]", "::1"};

bool is_loopback_host(const char *host)
{
    for (size_t i = 0; i < sizeof LOOPBACK_NAMES / sizeof *LOOPBACK_NAMES; i++) {
        if (strcasecmp(host, LOOPBACK_NAMES[i]) == 0) {
            return true;
        }
    }
    struct in_addr address;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

static bool is_address(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    char bare[INET6_ADDRSTRLEN + 2];
    size_t length = strlen(host);
    if (length >= 2 && length < sizeof bare && host[0] == '[' && host[length - 1] == ']') {
        memcpy(bare, host + 1, length - 2);
        bare[length - 2] = '\0';
        return inet_pton(AF_INET6, bare, address) == 1;
    }
    return inet_pton(AF_INET, host, address) == 1;
}

bool host_without_port(struct slice value, char *host, size_t size)
{
    const char *end = value.data + value.length;
    const char *start = value.data;
    const char *stop = start;
    if (value.length && *start == '[') {
        stop = memchr(start, ']', value.length);
        stop = stop ? stop + 1 : start;
    } else {
        while (stop < end && *stop != ':') {
            stop++;
        }
    }
    size_t length = (size_t)(stop - start);
    bool has_port = stop < end && *stop == ':';
    for (const char *c = stop + 1; has_port && c < end; c++) {
        has_port = isdigit((unsigned char)*c);
    }
    if (length == 0 || length >= size || (stop < end && !has_port)) {
        return false;
    }
    memcpy(host, start, length);
    host[length] = '\0';
    return true;
}

static bool listed(const char *setting, const char *text)
{
    for (const char *const *item = config_list(setting, NULL); *item; item++) {
        if (strcasecmp(*item, text) == 0) {
            return true;
        }
    }
    return false;
}

/* A server that others can reach may be called by any of its addresses: a page in a browser cannot
 * make its host name an address. Names must be listed. */
static bool host_allowed(const struct http_door *door, const char *host)
{
    return is_loopback_host(host) || strcasecmp(host, door->host) == 0 ||
           listed("FORAGE_ALLOWED_HOSTS", host) || (!door->on_loopback && is_address(host));
}

/* The pages of this server itself, by the address under which the browser reached it, and those
 * that the operator listed. Another page of this machine is a stranger: whatever listens on some
 * port, such as a preview of somebody's work, would otherwise speak in its reader's name. */
static bool origin_allowed(const struct http_door *door, const struct exchange *exchange,
                           struct slice origin)
{
    char text[512];
    if (origin.length == 0 || origin.length >= sizeof text) {
        return false;
    }
    memcpy(text, origin.data, origin.length);
    text[origin.length] = '\0';
    if (listed("FORAGE_ALLOWED_ORIGINS", text)) {
        return true;
    }
    struct buf own;
    buf_init(&own, KIB(4));
    write_base_url(&own, door, exchange);
    bool same = buf_error(&own) == OK && strcasecmp(own.data, text) == 0;
    buf_done(&own);
    return same;
}

/* Pictures, links and forms of a page send no Origin, but the browser says in a header that pages
 * cannot write whose page it was. Programs that are no browsers do not send it. */
static bool site_allowed(const struct route *route, const struct exchange *exchange)
{
    size_t count = 0;
    struct slice site = exchange_header(exchange, "Sec-Fetch-Site", &count);
    /* A link to our page says nothing and shows nobody anything. */
    bool follows_link = route && route->page &&
                        slice_is(exchange_header(exchange, "Sec-Fetch-Mode", NULL), "navigate") &&
                        slice_is(exchange_header(exchange, "Sec-Fetch-Dest", NULL), "document");
    return count == 0 || (count == 1 && (slice_is(site, "same-origin") || slice_is(site, "none") ||
                                         follows_link));
}

static void log_refusal(const struct http_door *door, const struct exchange *exchange,
                        const char *what)
{
    char client[ADDRESS_SIZE];
    client_address(door, exchange, client);
    log_warn(exchange_id(exchange), "refused %s from %s", what, client);
}

static bool is_own_host(const struct http_door *door, struct slice value)
{
    char host[256];
    return host_without_port(value, host, sizeof host) && host_allowed(door, host);
}

/* A proxy's word about the host comes on top of the Host header and never replaces it: a page whose
 * name suddenly means this machine (DNS rebinding) can write X-Forwarded-Host, but not Host. */
bool check_host_and_origin(const struct http_door *door, const struct route *route,
                           struct exchange *exchange)
{
    size_t origins = 0;
    struct slice origin = exchange_header(exchange, "Origin", &origins);
    struct slice host = exchange_header(exchange, "Host", NULL);
    struct slice told = host_of(door, exchange);
    if (!is_own_host(door, host) || (told.data != host.data && !is_own_host(door, told))) {
        log_refusal(door, exchange, "a Host");
        respond_forbidden(
            exchange,
            "this Host is not one of this server's names; add it to FORAGE_ALLOWED_HOSTS");
        return false;
    }
    if (origins > 1 || (origins == 1 && !origin_allowed(door, exchange, origin))) {
        log_refusal(door, exchange, "an Origin");
        respond_forbidden(
            exchange,
            "pages of this Origin may not call this server; add it to FORAGE_ALLOWED_ORIGINS");
        return false;
    }
    if (origins == 0 && !site_allowed(route, exchange)) {
        log_refusal(door, exchange, "a page of another site");
        respond_forbidden(exchange,
                          "a page of another site made the browser ask; let the page use fetch(), "
                          "and add its origin to FORAGE_ALLOWED_ORIGINS");
        return false;
    }
    return true;
}

/* ---- who asks ---- */

/* The cookie of a session; empty where there is none. */
static struct slice session_cookie(const struct exchange *exchange)
{
    static const char NAME[] = SESSION_COOKIE "=";
    size_t length = sizeof NAME - 1;
    size_t count = 0;
    struct slice left = exchange_header(exchange, "Cookie", &count);
    while (count == 1 && left.length) {
        const char *end = memchr(left.data, ';', left.length);
        size_t size = end ? (size_t)(end - left.data) : left.length;
        struct slice pair = slice_trim((struct slice){left.data, size});
        if (pair.length > length && memcmp(pair.data, NAME, length) == 0) {
            return (struct slice){pair.data + length, pair.length - length};
        }
        size += end ? 1 : 0;
        left = (struct slice){left.data + size, left.length - size};
    }
    return (struct slice){"", 0};
}

bool find_session(const struct http_door *door, const struct route *route,
                  const struct exchange *exchange, struct session *session)
{
    struct slice cookie = session_cookie(exchange);
    bool by_header = exchange_header(exchange, "Authorization", NULL).data != NULL;
    return !by_header && !route->programs && door->sessions && cookie.length &&
           session_find(door->sessions, cookie, clock_wall_ms(), session);
}

const struct caller *find_caller(const struct http_door *door, const struct route *route,
                                 const struct exchange *exchange)
{
    size_t count = 0;
    struct session session;
    struct slice value = exchange_header(exchange, "Authorization", &count);
    const struct caller *caller =
        count > 1 ? NULL : callers_find(door->app->callers, value.data, value.length);
    return caller || !find_session(door, route, exchange, &session) ? caller : session.caller;
}

/* An operator may speak for somebody else. NULL after answering. */
static const struct caller *speaks_for(const struct http_door *door, struct exchange *exchange,
                                       const struct caller *caller)
{
    char name[LIMIT_CALLER_NAME_CHARS + 1];
    struct slice other = exchange_header(exchange, "X-Forage-Caller", NULL);
    if (!other.length) {
        return caller;
    }
    if (!caller->is_operator) {
        respond_error(exchange, CODE_FORBIDDEN,
                      "X-Forage-Caller: only an operator speaks for others");
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)other.length, other.data);
    const struct caller *found = strcmp(name, caller_local()->name) == 0
                                     ? caller_local()
                                     : callers_named(door->app->callers, name);
    if (!found) {
        respond_error(exchange, CODE_NOT_FOUND, "X-Forage-Caller: there is no caller of that name");
    }
    return found;
}

const struct caller *check_caller(const struct http_door *door, const struct route *route,
                                  struct exchange *exchange)
{
    size_t count = 0;
    const struct caller *caller = find_caller(door, route, exchange);
    if (caller) {
        return speaks_for(door, exchange, caller);
    }
    exchange_header(exchange, "Authorization", &count);
    refuse_token(door, exchange, count > 0);
    return NULL;
}

/* Whether a page of the operator's own choice asks, of a server that knows no tokens. */
static bool is_listed_page(const struct http_door *door, const struct exchange *exchange)
{
    char text[512];
    struct slice origin = exchange_header(exchange, "Origin", NULL);
    snprintf(text, sizeof text, "%.*s", (int)(origin.length < sizeof text ? origin.length : 0),
             origin.length ? origin.data : "");
    return callers_count(door->app->callers) == 0 && *text &&
           listed("FORAGE_ALLOWED_ORIGINS", text);
}

bool check_page(const struct http_door *door, const struct route *route, struct exchange *exchange)
{
    struct slice method = exchange_request(exchange)->method;
    if (route->programs || slice_is(method, "GET") || slice_is(method, "HEAD")) {
        return true; /* it changes nothing, or is not for pages */
    }
    bool by_token = exchange_header(exchange, "Authorization", NULL).data != NULL;
    bool by_browser = exchange_header(exchange, "Origin", NULL).data ||
                      exchange_header(exchange, "Sec-Fetch-Site", NULL).data ||
                      session_cookie(exchange).length;
    const struct caller *self = !by_token && by_browser ? find_caller(door, route, exchange) : NULL;
    if (!self || is_listed_page(door, exchange)) {
        return true;
    }
    struct slice token = exchange_header(exchange, "X-Forage-Page", NULL);
    if (door->sessions && page_token_fits(door->sessions, self, token)) {
        return true;
    }
    log_refusal(door, exchange, "a change by a page");
    respond_error(exchange, CODE_FORBIDDEN,
                  "a page in a browser changes something only with the token that GET "
                  "/api/v1/session gives it, in the header X-Forage-Page");
    return false;
}

void refuse_token(const struct http_door *door, struct exchange *exchange, bool given)
{
    log_refusal(door, exchange, given ? "a token" : "a request without a token");
    respond_error_status(
        exchange, 401,
        given ? "WWW-Authenticate: Bearer realm=\"forage\", error=\"invalid_token\"\r\n"
              : "WWW-Authenticate: Bearer realm=\"forage\"\r\n",
        CODE_UNAUTHORIZED,
        given ? "the token is not one that this server knows"
              : "a token is needed: send the header Authorization: Bearer TOKEN");
}

static bool is_type(struct slice given, const char *type)
{
    size_t length = strlen(type);
    return given.length >= length && strncasecmp(given.data, type, length) == 0 &&
           (given.length == length || strchr("; \t", given.data[length]));
}

bool check_content_type(struct exchange *exchange, enum body_type wanted)
{
    static const char *const LINES[] = {"application/x-ndjson", "application/ndjson",
                                        "application/jsonl", "application/json",
                                        "application/octet-stream"};
    struct slice type = exchange_header(exchange, "Content-Type", NULL);
    bool fits = wanted == BODY_ANY || is_type(type, "application/json");
    for (size_t i = 0; wanted == BODY_LINES && i < sizeof LINES / sizeof *LINES; i++) {
        fits |= is_type(type, LINES[i]);
    }
    if (!fits) {
        respond_error_status(
            exchange, 415, NULL, CODE_VALIDATION,
            wanted == BODY_JSON
                ? "the body must be JSON: send Content-Type: application/json"
                : "the body must be lines of JSON: send Content-Type: application/x-ndjson");
    }
    return fits;
}
