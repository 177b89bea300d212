/* Asks a server of forage whether it is there. */
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
        .timeout_ms = TIME_DOCTOR_RESERVE_MS,
        .max_body_bytes = KIB(64),
    };
    int status = text ? fetch_parse(call, text, &url, response) : ERR_NOMEM;
    return status == OK ? fetch_run(call, &request, response) : status;
}

bool server_answers(struct call *call, const char *address)
{
    struct fetch_response response;
    if (ask(call, address, "/health", &response) != OK) {
        return false;
    }
    yyjson_doc *answer = json_parse(call_arena(call), response.body, response.body_length, NULL);
    const char *name = answer ? json_string(yyjson_doc_get_root(answer), "name") : NULL;
    return response.status == 200 && name && strcmp(name, "forage") == 0;
}

int server_status(struct call *call, const char *address, const char *path)
{
    struct fetch_response response;
    return ask(call, address, path, &response) == OK ? response.status : 0;
}
