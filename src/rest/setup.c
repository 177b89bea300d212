/* What the program is set to and what works, over REST, for an operator: the settings in force and
 * where each comes from, the callers that have a token, how each client is told of this server, and
 * what `forage doctor` sees. Nothing is changed from here, and no secret is shown. */
#include "call/errors.h"
#include "config/config_docs.h"
#include "core/limits.h"
#include "rest/http.h"
#include "setup/entry.h"
#include "setup/plan.h"

#include <string.h>

#define TIME_EXAMINE_MS 60000

/* ---- settings ---- */

static void add_settings(struct rest_call *rest, yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    struct buf text;
    buf_init(&text, MIB(1));
    config_write_effective(&text, true);
    yyjson_doc *settings = buf_error(&text) == OK
                               ? json_parse(call_arena(rest->call), text.data, text.length, NULL)
                               : NULL;
    yyjson_mut_obj_add_val(doc, body, "settings",
                           settings ? json_copy(doc, yyjson_doc_get_root(settings)) : NULL);
    buf_done(&text);
}

static void add_tokens(const struct rest_call *rest, yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    const struct caller *caller;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, body, "callers");
    for (size_t i = 0; (caller = callers_at(rest->door->app->callers, i)) != NULL; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "name", caller->name);
        yyjson_mut_obj_add_bool(doc, item, "operator", caller->is_operator);
    }
}

/* ---- clients ---- */

/* What a person puts into the file of a client; NULL where that client cannot do it. */
static const char *snippet_of(struct arena *arena, const struct client *client,
                              const struct entry_request *request)
{
    char problem[256];
    struct setup_entry entry;
    struct buf text;
    if (entry_make(arena, client, request, &entry, problem, sizeof problem) != OK) {
        return NULL;
    }
    buf_init(&text, LIMIT_SETUP_ENTRY_BYTES);
    plan_put_snippet(&text, client, "forage", &entry);
    return buf_to_arena(&text, arena);
}

static void add_client(struct rest_call *rest, yyjson_mut_doc *doc, yyjson_mut_val *list,
                       const struct client *client, const char *url)
{
    struct arena *arena = call_arena(rest->call);
    bool tokens = callers_count(rest->door->app->callers) > 0;
    struct entry_request here = {0};
    struct entry_request there = {.url = url, .token = tokens ? "FORAGE_TOKEN" : NULL};
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, item, "id", client->id);
    yyjson_mut_obj_add_str(doc, item, "title", client->title);
    json_add_string(doc, item, "file", client->user[PLATFORM_LINUX]);
    json_add_string(doc, item, "then", client->then);
    if (launch_choose(arena, NULL, client->absolute, client->id, &here.launch) == OK) {
        json_add_string(doc, item, "stdio", snippet_of(arena, client, &here));
    }
    if (client->url_member) {
        json_add_string(doc, item, "http", snippet_of(arena, client, &there));
    }
}

static void add_clients(struct rest_call *rest, yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    struct buf url;
    buf_init(&url, KIB(4));
    write_base_url(&url, rest->door, rest->exchange);
    buf_puts(&url, "/mcp");
    const char *address = buf_to_arena(&url, call_arena(rest->call));
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, body, "clients");
    for (size_t i = 0; address && i < CLIENT_COUNT; i++) {
        add_client(rest, doc, list, &CLIENTS[i], address);
    }
}

static void answer_setup(struct rest_call *rest)
{
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    add_settings(rest, doc, body);
    add_tokens(rest, doc, body);
    add_clients(rest, doc, body);
    rest_answer(rest, body);
}

/* ---- what works ---- */

static void answer_doctor(struct rest_call *rest)
{
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    const struct app *app = rest->door->app;
    yyjson_mut_val *report = doc && app->examine ? app->examine(rest->call, doc) : NULL;
    if (report) {
        rest_answer(rest, report);
    } else {
        rest_refuse(rest, call_check(rest->call) == OK ? ERR_NOMEM : call_check(rest->call));
    }
}

void serve_setup(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (rest && rest_check_operator(rest, "what the program is set to")) {
        call_limit_time(rest->call, TIME_EXAMINE_MS);
        rest_work(rest, strcmp(visit->route->operation, "get_doctor") == 0 ? answer_doctor
                                                                           : answer_setup);
    }
}
