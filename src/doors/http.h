/* What the files of the HTTP door share: the door itself, its checks and its routes. */
#ifndef FORAGE_DOORS_HTTP_H
#define FORAGE_DOORS_HTTP_H

#include "app/app.h"
#include "core/buf.h"
#include "doors/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct http_door {
    struct app *app;
    _Atomic(struct server *) server; /* NULL while it starts */
    bool on_loopback;
    const char *host;
};

/* ---- http.c ---- */

/* The headers of an answer with that content type, CORS headers included. */
void answer_headers(struct buf *lines, struct exchange *exchange, const char *type,
                    const char *more);
/* Answers with {success: false, error: {code, message, request_id}} and the status of the code. */
void respond_error(struct exchange *exchange, const char *code, const char *message);
void respond_error_status(struct exchange *exchange, int status, const char *headers,
                          const char *code, const char *message);
/* Answers a request whose Host or Origin is not allowed: without CORS headers, so that the page
 * that sent it cannot read the answer. */
void respond_forbidden(struct exchange *exchange, const char *message);
/* Answers with a document; CORS headers are added. */
void respond(struct exchange *exchange, int status, const char *headers, const char *type,
             const char *body, size_t length);

/* ---- checks.c: may this request come in? ---- */

/* Answers and returns false when the Host or Origin is not allowed. */
bool check_host_and_origin(const struct http_door *door, struct exchange *exchange);
/* The caller; NULL after answering 401. */
const struct caller *check_caller(const struct http_door *door, struct exchange *exchange);
/* What a body may be declared as. */
enum body_type {
    BODY_ANY,
    BODY_JSON,
    BODY_LINES, /* of JSON */
};
/* Answers 415 and returns false when the body is declared as something else. */
bool check_content_type(struct exchange *exchange, enum body_type wanted);
/* Whether that address is this machine's own. */
bool is_loopback_host(const char *host);
/* The client's address: the connection's, or, where a proxy on this machine is trusted, the one it
 * names. */
struct slice client_address(struct exchange *exchange);
/* "https://forage.example.org": how the client reached us. */
void write_base_url(struct buf *out, struct exchange *exchange);

/* ---- rest.c ---- */

/* Writes, redacts and sends a JSON value that lives in the arena. */
void respond_json(struct exchange *exchange, struct arena *arena, int status, const char *headers,
                  yyjson_mut_val *value);

/* ---- mcp_http.c, rest.c, records.c, memories.c, openapi.c: what is behind the paths ---- */

void serve_mcp(struct http_door *door, struct exchange *exchange, const struct caller *caller);
void serve_tool_list(struct http_door *door, struct exchange *exchange,
                     const struct caller *caller);
void serve_tool_call(struct http_door *door, struct exchange *exchange,
                     const struct caller *caller);
void serve_usage(struct http_door *door, struct exchange *exchange, const struct caller *caller);
void serve_history(struct http_door *door, struct exchange *exchange, const struct caller *caller);
void serve_history_wipe(struct http_door *door, struct exchange *exchange,
                        const struct caller *caller);
void serve_openapi(struct http_door *door, struct exchange *exchange, const struct caller *caller);
void serve_memory_list(struct http_door *door, struct exchange *exchange,
                       const struct caller *caller);
void serve_memory_add(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller);
void serve_memory_search(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller);
void serve_memory_fulltext(struct http_door *door, struct exchange *exchange,
                           const struct caller *caller);
void serve_memory_get(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller);
void serve_memory_put(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller);
void serve_memory_update(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller);
void serve_memory_delete(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller);
void serve_memory_import(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller);
void serve_memory_export(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller);

#endif
