/* Asks a server of forage whether it is there: never through a proxy, since the server is here. */
#include "doctor/server.h"

#include "core/limits.h"
#include "text/json.h"

#include <string.h>

const char *server_address(struct call *call, const char *host, int port)
{
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    bool six = !any && strchr(host, ':') != NULL;
    return arena_printf(call_arena(call), "http://%s%s%s:%d", six ? "[" : "",
                        any ? "127.0.0.1" : host, six ? "]" : "", port);
}

static int ask(struct call *call, const char *address, const char *path,
               struct fetch_response *response)
{
    struct url url;
    const char *text = arena_printf(call_arena(call), "%s%s", address, path);
    struct fetch_request request = {
        .url = &url,
        .timeout_ms = TIME_HEALTH_MS,
        .max_body_bytes = KIB(64),
        .direct = true,
        .upstream = "forage",
    };
    int status = text ? fetch_parse(call, text, &url, response) : ERR_NOMEM;
    return status == OK ? fetch_run(call, &request, response) : status;
}

yyjson_val *server_health(struct call *call, const char *address, const char **problem)
{
    struct fetch_response response = {0};
    if (ask(call, address, "/health", &response) != OK) {
        *problem = response.error ? response.error : "it was given up";
        return NULL;
    }
    yyjson_doc *answer = json_parse(call_arena(call), response.body, response.body_length, NULL);
    yyjson_val *root = answer ? yyjson_doc_get_root(answer) : NULL;
    const char *name = root ? json_string(root, "name") : NULL;
    if (response.status != 200 || !name || strcmp(name, "forage") != 0) {
        *problem = "somebody else answers there";
        return NULL;
    }
    return root;
}

bool server_answers(struct call *call, const char *address)
{
    const char *problem;
    return server_health(call, address, &problem) != NULL;
}

int server_status(struct call *call, const char *address, const char *path)
{
    struct fetch_response response;
    return ask(call, address, path, &response) == OK ? response.status : 0;
}
