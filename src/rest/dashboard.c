/* The dashboard: its files, and who sits before it. Everything that it shows it asks the rest of
 * REST for. */
#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "experiment/experiment.h"
#include "rest/files.h"
#include "rest/http.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Nothing but the page's own files runs, and nobody shows it inside of another page. */
#define POLICY                                                                                     \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "   \
    "'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors "      \
    "'none'\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"        \
    "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"

/* ---- files ---- */

static const struct web_file *find_file(const char *name, size_t length)
{
    for (size_t i = 0; i < WEB_FILE_COUNT; i++) {
        if (strlen(WEB_FILES[i].name) == length && memcmp(WEB_FILES[i].name, name, length) == 0) {
            return &WEB_FILES[i];
        }
    }
    return NULL;
}

/* Whether a list of tokens in a header names this one; weights do not matter, but for 0. */
static bool takes_gzip(const struct exchange *exchange)
{
    struct slice accepted = exchange_header(exchange, "Accept-Encoding", NULL);
    char text[256];
    size_t length = accepted.length < sizeof text ? accepted.length : sizeof text - 1;
    memcpy(text, accepted.length ? accepted.data : "", length);
    text[length] = '\0';
    return strstr(text, "gzip") && !strstr(text, "gzip;q=0");
}

/* For whoever does not take it compressed. NULL without memory. */
static char *unpack(const struct web_file *file)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)file->packed,
                       .avail_in = (uInt)file->packed_size,
                       .avail_out = (uInt)file->size};
    char *plain = malloc(file->size + 1);
    stream.next_out = (Bytef *)plain;
    if (!plain || inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) {
        free(plain);
        return NULL;
    }
    int ended = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (ended != Z_STREAM_END) {
        free(plain);
        return NULL;
    }
    return plain;
}

void serve_dashboard(const struct visit *visit)
{
    struct exchange *exchange = visit->exchange;
    struct slice path = exchange_request(exchange)->path;
    size_t skip = strcspn(visit->route->path, "{");
    const struct web_file *file = visit->route->path[skip]
                                      ? find_file(path.data + skip, path.length - skip)
                                      : find_file("index.html", strlen("index.html"));
    if (!file) {
        respond_error(exchange, CODE_NOT_FOUND, "the dashboard has no such file");
        return;
    }
    char headers[1024];
    bool packed = takes_gzip(exchange);
    snprintf(headers, sizeof headers,
             "Content-Type: %s\r\n%sETag: %s\r\nCache-Control: no-cache\r\nVary: "
             "Accept-Encoding\r\n" POLICY,
             file->type, packed ? "Content-Encoding: gzip\r\n" : "", file->tag);
    if (slice_is(exchange_header(exchange, "If-None-Match", NULL), file->tag)) {
        exchange_respond(exchange, 304, headers, "", 0);
    } else if (packed) {
        exchange_respond(exchange, 200, headers, (const char *)file->packed, file->packed_size);
    } else {
        char *plain = unpack(file);
        if (plain) {
            exchange_respond(exchange, 200, headers, plain, file->size);
        } else {
            respond_error(exchange, CODE_INTERNAL, "out of memory");
        }
        free(plain);
    }
}

/* ---- who sits before it ---- */

static void put_cookie(struct buf *headers, const struct visit *visit, const char *value,
                       int64_t seconds)
{
    struct buf base;
    buf_init(&base, KIB(4));
    write_base_url(&base, visit->door, visit->exchange);
    bool safe = base.data && strncmp(base.data, "https:", 6) == 0;
    buf_done(&base);
    buf_printf(headers,
               "Set-Cookie: " SESSION_COOKIE
               "=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s\r\n",
               value, (long long)seconds, safe ? "; Secure" : "");
}

static yyjson_mut_val *describe(const struct visit *visit, yyjson_mut_doc *doc,
                                const struct caller *caller)
{
    const struct app *app = visit->door->app;
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, body, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_bool(doc, body, "tokens", callers_count(app->callers) > 0);
    yyjson_mut_obj_add_bool(doc, body, "signed_in", caller != NULL);
    if (caller) {
        char token[PAGE_TOKEN_SIZE];
        page_token_make(visit->door->sessions, caller, token);
        yyjson_mut_obj_add_str(doc, body, "caller", caller->name);
        yyjson_mut_obj_add_bool(doc, body, "operator", caller->is_operator);
        /* What is tried on callers is not theirs to know. */
        bool has_experiments = caller->is_operator && experiments_at(app->parts.experiments, 0);
        yyjson_mut_obj_add_bool(doc, body, "experiments", has_experiments);
        yyjson_mut_obj_add_bool(doc, body, "history", config_bool("FORAGE_HISTORY"));
        yyjson_mut_obj_add_strcpy(doc, body, "page_token", token);
    }
    return body;
}

static void answer_session(const struct visit *visit, const struct caller *caller,
                           const char *headers)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t length = 0;
    char *text = NULL;
    if (doc) {
        yyjson_mut_doc_set_root(doc, describe(visit, doc, caller));
        text = yyjson_mut_write(doc, 0, &length);
    }
    if (text) {
        respond(visit->exchange, 200, headers, "application/json", text, length);
    } else {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
    }
    free(text);
    yyjson_mut_doc_free(doc);
}

/* The caller of a token that stands in the body; NULL after answering. */
static const struct caller *read_sign_in(const struct visit *visit)
{
    struct slice body = exchange_request(visit->exchange)->body;
    yyjson_doc *doc = yyjson_read(body.data ? body.data : "", body.length, 0);
    const char *token = json_string(yyjson_doc_get_root(doc), "token");
    char header[LIMIT_TOKEN_CHARS + 16];
    const struct caller *caller = NULL;
    int length = token ? snprintf(header, sizeof header, "Bearer %s", token) : 0;
    if (length > 0 && (size_t)length < sizeof header) {
        caller = callers_find(visit->door->app->callers, header, (size_t)length);
    }
    explicit_bzero(header, sizeof header);
    yyjson_doc_free(doc);
    if (!caller) {
        refuse_token(visit->door, visit->exchange, true);
    }
    return caller;
}

static void sign_in(const struct visit *visit)
{
    char cookie[SESSION_SIZE];
    struct buf headers;
    const struct caller *caller = read_sign_in(visit);
    if (!caller) {
        return;
    }
    buf_init(&headers, KIB(4));
    /* Where there are no tokens there is nothing to sign in with, and no need to. */
    if (session_make(visit->door->sessions, caller, clock_wall_ms(), cookie) == OK) {
        put_cookie(&headers, visit, cookie, TIME_SESSION_MS / 1000);
    }
    answer_session(visit, caller, headers.data);
    buf_done(&headers);
}

static void answer_signed_out(const struct visit *visit)
{
    struct buf headers;
    buf_init(&headers, KIB(4));
    put_cookie(&headers, visit, "", 0);
    bool tokens = callers_count(visit->door->app->callers) > 0;
    answer_session(visit, tokens ? NULL : visit->caller, headers.data);
    buf_done(&headers);
}

/* A session that is about to be ended. */
struct ending_session {
    struct visit visit;
    struct session session;
};

static void end_session(struct rest_call *rest)
{
    const struct ending_session *leaving = rest->own;
    if (sessions_end(rest, &leaving->session) == OK) {
        answer_signed_out(&leaving->visit);
    } else {
        respond_error(rest->exchange, CODE_PROVIDER,
                      "the records cannot be written, so this session goes on; try again. It is "
                      "over twelve hours after its beginning, or when its token is taken away");
    }
}

/* Only a session that there is can be ended: nothing is kept of cookies that are made up. */
static void sign_out(const struct visit *visit)
{
    struct ending_session leaving = {.visit = *visit};
    if (!find_session(visit->door, visit->route, visit->exchange, &leaving.session)) {
        answer_signed_out(visit);
        return;
    }
    struct rest_call *rest = rest_call_new(visit);
    struct ending_session *own = rest ? arena_alloc(call_arena(rest->call), sizeof *own) : NULL;
    if (own) {
        *own = leaving;
        rest->own = own;
        rest_work(rest, end_session);
    } else if (rest) {
        rest_refuse(rest, ERR_NOMEM);
    }
}

void serve_session(const struct visit *visit)
{
    if (strcmp(visit->route->method, "POST") == 0) {
        sign_in(visit);
    } else if (strcmp(visit->route->method, "DELETE") == 0) {
        sign_out(visit);
    } else {
        const struct caller *caller = find_caller(visit->door, visit->route, visit->exchange);
        answer_session(visit, visit->signed_out ? NULL : caller, NULL);
    }
}
