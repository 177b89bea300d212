/* Questions that a running call has for its client.
 *
 * A legacy client is asked on the spot: the question goes out as a request of ours, the call waits,
 * and the client's response finds its way back by the question's unguessable id. A modern client is
 * asked by ending the call: the answer says which input is required, and the client calls again
 * with the answers and with the state that the handler wants back, which travels through the client
 * under a seal. */
#include "core/event.h"
#include "guard/callers.h"
#include "mcp/internal.h"
#include "text/base64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what the client can do ---- */

static const struct {
    const char *method;
    const char *capability;
} QUESTIONS[] = {
    {"elicitation/create", "elicitation"},
    {"sampling/createMessage", "sampling"},
    {"roots/list", "roots"},
};

static const char *capability_for(const char *method)
{
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        if (strcmp(method, QUESTIONS[i].method) == 0) {
            return QUESTIONS[i].capability;
        }
    }
    return NULL;
}

static bool client_can(struct mcp_client *client, const char *name)
{
    pthread_mutex_lock(&client->lock);
    bool can = strcmp(name, "sampling") == 0      ? client->can_sample
               : strcmp(name, "elicitation") == 0 ? client->can_elicit
                                                  : client->can_list_roots;
    pthread_mutex_unlock(&client->lock);
    return can;
}

static bool has_capability(void *context, const char *name)
{
    struct mcp_work *work = context;
    if (work->modern) {
        return yyjson_is_obj(yyjson_obj_get(yyjson_obj_get(work->meta, META_CAPABILITIES), name));
    }
    /* A legacy client over HTTP declared its abilities in a handshake that nobody remembers: it is
     * asked, and says no where it cannot. */
    return !work->client || client_can(work->client, name);
}

/* ---- asking a legacy client ---- */

static int ask_register(struct mcp_work *work, struct ask *ask)
{
    char secret[ID_SECRET_SIZE];
    *ask = (struct ask){.caller = call_caller(work->call), .event = event_open()};
    if (ask->event < 0 || id_make_secret(secret) != OK) {
        event_close(ask->event);
        return ERR_IO;
    }
    snprintf(ask->id, sizeof ask->id, "forage-%s", secret);
    struct mcp *mcp = work->mcp;
    pthread_mutex_lock(&mcp->lock);
    bool room = mcp->ask_count < LIMIT_PENDING_ASKS;
    if (room) {
        ask->next = mcp->asks;
        mcp->asks = ask;
        mcp->ask_count++;
    }
    pthread_mutex_unlock(&mcp->lock);
    if (!room) {
        event_close(ask->event);
        return ERR_BUSY;
    }
    return OK;
}

static void ask_forget(struct mcp *mcp, struct ask *ask)
{
    pthread_mutex_lock(&mcp->lock);
    struct ask **link = &mcp->asks;
    while (*link && *link != ask) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = ask->next;
        mcp->ask_count--;
    }
    pthread_mutex_unlock(&mcp->lock);
    event_close(ask->event);
}

static void send_question(struct mcp_work *work, const struct ask *ask, const char *method,
                          const char *params_json)
{
    struct mcp_message question;
    message_begin(&question);
    yyjson_doc *params = json_parse(work->arena, params_json, strlen(params_json), NULL);
    question.params = json_copy(question.doc, yyjson_doc_get_root(params));
    message_send(&question, work, method, ask->id);
}

static int ask_now(struct mcp_work *work, const char *method, const char *params_json,
                   const char **response_json)
{
    struct ask ask;
    if (!work->sink.send || work->kind != MCP_SLOW) {
        return ERR_UNSUPPORTED;
    }
    int status = ask_register(work, &ask);
    if (status != OK) {
        return status;
    }
    send_question(work, &ask, method, params_json);
    struct pollfd watched = {.fd = ask.event, .events = POLLIN};
    int ready = call_wait(work->call, &watched, 1, -1);
    ask_forget(work->mcp, &ask);
    *response_json = arena_strdup(work->arena, ask.response);
    free(ask.response);
    if (ready < 0) {
        return ready;
    }
    return *response_json ? OK : ERR_UNSUPPORTED;
}

void ask_receive_response(struct mcp_work *work, yyjson_val *message)
{
    const char *id = json_string(message, "id");
    yyjson_val *result = yyjson_obj_get(message, "result");
    const char *text = json_text_of(work->arena, result);
    struct mcp *mcp = work->mcp;
    pthread_mutex_lock(&mcp->lock);
    for (struct ask *ask = mcp->asks; id && ask; ask = ask->next) {
        bool ours = strcmp(ask->id, id) == 0 && ask->caller == call_caller(work->call);
        if (ours && !ask->response && !ask->failed) {
            ask->response = text ? strdup(text) : NULL;
            ask->failed = !ask->response;
            event_signal(ask->event);
        }
    }
    pthread_mutex_unlock(&mcp->lock);
}

/* ---- asking a modern client ---- */

static int ask_later(struct mcp_work *work, const char *key, const char *method,
                     const char *params_json, const char **response_json)
{
    yyjson_val *response = yyjson_obj_get(work->input_responses, key);
    if (response) {
        *response_json = json_text_of(work->arena, response);
        return *response_json ? OK : ERR_NOMEM;
    }
    struct input_request *request = arena_zalloc(work->arena, sizeof *request);
    if (!request) {
        return ERR_NOMEM;
    }
    request->key = arena_strdup(work->arena, key);
    request->method = method;
    request->params = arena_strdup(work->arena, params_json);
    struct input_request **end = &work->input_requests;
    while (*end) {
        end = &(*end)->next;
    }
    *end = request;
    return request->key && request->params ? ERR_NEED_INPUT : ERR_NOMEM;
}

static int ask(void *context, struct call *call, const char *key, const char *method,
               const char *params_json, const char **response_json)
{
    struct mcp_work *work = context;
    (void)call;
    const char *capability = capability_for(method);
    int status = ERR_UNSUPPORTED;
    if (capability && has_capability(work, capability)) {
        status = work->modern ? ask_later(work, key, method, params_json, response_json)
                              : ask_now(work, method, params_json, response_json);
    }
    if (status == ERR_UNSUPPORTED) {
        work->missing_capability = capability;
    }
    return status;
}

static yyjson_mut_val *describe_requests(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *requests = yyjson_mut_obj(doc);
    for (struct input_request *request = work->input_requests; request; request = request->next) {
        yyjson_doc *params =
            json_parse(work->arena, request->params, strlen(request->params), NULL);
        yyjson_mut_val *one = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_str(doc, one, "method", request->method);
        yyjson_mut_obj_add_val(doc, one, "params", json_copy(doc, yyjson_doc_get_root(params)));
        yyjson_mut_obj_add_val(doc, requests, request->key, one);
    }
    return requests;
}

void ask_answer(struct mcp_work *work, int status)
{
    yyjson_mut_doc *doc = work->doc;
    if (status == ERR_NEED_INPUT) {
        yyjson_mut_val *result = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_str(doc, result, "resultType", "input_required");
        yyjson_mut_obj_add_val(doc, result, "inputRequests", describe_requests(work));
        json_add_string(doc, result, "requestState", work->kept_state);
        answer_result(work, result);
        return;
    }
    const char *capability = work->missing_capability ? work->missing_capability : "sampling";
    if (work->modern) {
        yyjson_mut_val *data = yyjson_mut_obj(doc);
        yyjson_mut_val *required = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_val(doc, required, capability, yyjson_mut_obj(doc));
        yyjson_mut_obj_add_val(doc, data, "requiredCapabilities", required);
        answer_error(work, RPC_MISSING_CAPABILITY, data,
                     "this needs a client with the capability \"%s\"", capability);
    } else {
        answer_error(work, RPC_INVALID_REQUEST, NULL,
                     "this needs a client with the capability \"%s\"", capability);
        work->http_status = 200;
    }
}

/* ---- state that travels through the client, under a seal ---- */

#define STATE_SECONDS 600

/* The seal binds the state to the caller, to what was called and, in the payload, to a time. */
static bool seal_of(struct mcp_work *work, const char *payload, unsigned char seal[SHA256_SIZE])
{
    const struct caller *caller = call_caller(work->call);
    const char *name = json_string(work->params, "name");
    const char *thing = name ? name : json_string(work->params, "uri");
    const char *bound = arena_printf(work->arena, "%s\n%s\n%s\n%s", caller ? caller->name : "",
                                     work->method->name, thing ? thing : "", payload);
    if (bound) {
        sha256_hmac(work->mcp->seal_key, sizeof work->mcp->seal_key, bound, strlen(bound), seal);
    }
    return bound != NULL;
}

static int keep_state(void *context, const char *state)
{
    struct mcp_work *work = context;
    if (!work->modern) {
        return ERR_UNSUPPORTED;
    }
    unsigned char seal[SHA256_SIZE];
    const char *encoded = base64_encode(work->arena, state, strlen(state));
    const char *payload = encoded ? arena_printf(work->arena, "%lld.%s",
                                                 (long long)time(NULL) + STATE_SECONDS, encoded)
                                  : NULL;
    const char *sealed = payload && seal_of(work, payload, seal)
                             ? base64_encode(work->arena, seal, sizeof seal)
                             : NULL;
    work->kept_state = sealed ? arena_printf(work->arena, "%s.%s", payload, sealed) : NULL;
    return work->kept_state ? OK : ERR_NOMEM;
}

/* The state inside a sealed text, or NULL when it is not ours, not for this, or too old. */
static const char *open_state(struct mcp_work *work, const char *sealed)
{
    const char *first = strchr(sealed, '.');
    const char *last = strrchr(sealed, '.');
    if (!last || last == first) {
        return NULL;
    }
    unsigned char expected[SHA256_SIZE];
    size_t length = 0;
    const char *payload = arena_strndup(work->arena, sealed, (size_t)(last - sealed));
    const char *came = base64_decode(work->arena, last + 1, strlen(last + 1), &length);
    if (!payload || !came || length != sizeof expected || !seal_of(work, payload, expected) ||
        !sha256_same(expected, (const unsigned char *)came)) {
        return NULL;
    }
    /* Nor of a time that is still to come: the clock was set back since. */
    long long left = strtoll(payload, NULL, 10) - (long long)time(NULL);
    if (left < 0 || left > STATE_SECONDS) {
        return NULL;
    }
    return base64_decode(work->arena, first + 1, (size_t)(last - first - 1), &length);
}

static const char *resume_state(void *context)
{
    struct mcp_work *work = context;
    return work->resume_state;
}

int ask_read_inputs(struct mcp_work *work)
{
    if (!work->modern) {
        return OK;
    }
    yyjson_val *responses = yyjson_obj_get(work->params, "inputResponses");
    yyjson_val *state = yyjson_obj_get(work->params, "requestState");
    if (responses && !yyjson_is_obj(responses)) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL, "inputResponses must be an object");
    }
    yyjson_val *key;
    yyjson_obj_iter each = yyjson_obj_iter_with(responses);
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *response = yyjson_obj_iter_get_val(key);
        if (!yyjson_is_obj(response)) {
            return answer_error(work, RPC_INVALID_PARAMS, NULL,
                                "inputResponses.%.64s must be an object", yyjson_get_str(key));
        }
    }
    work->input_responses = responses;
    if (state) {
        work->resume_state = yyjson_is_str(state) ? open_state(work, yyjson_get_str(state)) : NULL;
        if (!work->resume_state) {
            return answer_error(
                work, RPC_INVALID_PARAMS, NULL,
                "requestState is not one that this server gave for this call, or is older "
                "than ten minutes; call again without it");
        }
    }
    return OK;
}

const struct call_hooks WORK_HOOKS = {
    .progress = notify_progress,
    .log = notify_log,
    .ask = ask,
    .resume_state = resume_state,
    .keep_state = keep_state,
    .has_capability = has_capability,
    .patience = tasks_patience,
};
