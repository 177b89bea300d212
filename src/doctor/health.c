/* Asking a server of forage's own for /health: never through a proxy, since the server is here. */
#include "doctor/health.h"

#include "config/config.h"
#include "core/limits.h"
#include "net/fetch.h"

#include <string.h>

/* An address to reach whoever listens on FORAGE_HOST; "any" is all addresses of this machine. */
static const char *address(struct arena *arena)
{
    const char *host = config_text("FORAGE_HOST");
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    bool six = !any && strchr(host, ':') != NULL;
    return arena_printf(arena, "http://%s%s%s:%d/health", six ? "[" : "", any ? "127.0.0.1" : host,
                        six ? "]" : "", (int)config_int("FORAGE_PORT"));
}

yyjson_val *health_ask(struct call *call, const char **problem)
{
    struct arena *arena = call_arena(call);
    struct url url;
    const char *text = address(arena);
    struct fetch_request request = {
        .url = &url,
        .timeout_ms = TIME_HEALTH_MS,
        .max_body_bytes = KIB(64),
        .direct = true,
    };
    struct fetch_response response = {0};
    if (!text || fetch_parse(call, text, &url, &response) != OK ||
        fetch_run(call, &request, &response) != OK) {
        *problem = response.error ? response.error : "it was given up";
        return NULL;
    }
    yyjson_doc *answer = json_parse(arena, response.body, response.body_length, NULL);
    yyjson_val *root = answer ? yyjson_doc_get_root(answer) : NULL;
    const char *name = root ? json_string(root, "name") : NULL;
    if (response.status != 200 || !name || strcmp(name, "forage") != 0) {
        *problem = "somebody else answers there";
        return NULL;
    }
    return root;
}
