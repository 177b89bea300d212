/* From bytes to work: parsing, batches, routing, and the requests in flight. */
#include "mcp/mcp.h"

#include "core/id.h"
#include "guard/callers.h"
#include "mcp/internal.h"
#include "registry/form.h"

#include <stdlib.h>
#include <string.h>

/* ---- the server and its stdio client ---- */

struct mcp *mcp_new(const struct mcp_options *options)
{
    struct mcp *mcp = calloc(1, sizeof *mcp);
    if (!mcp) {
        return NULL;
    }
    mcp->options = *options;
    if (mcp->options.page_size == 0) {
        mcp->options.page_size = 100;
    }
    mcp->takes_text = form_is_text();
    pthread_mutex_init(&mcp->lock, NULL);
    pthread_rwlock_init(&mcp->lists_lock, NULL);
    if (id_random(mcp->seal_key, sizeof mcp->seal_key) != OK) {
        return mcp_free(mcp);
    }
    return mcp;
}

struct mcp *mcp_free(struct mcp *mcp)
{
    if (mcp) {
        lists_free(mcp);
        pthread_rwlock_destroy(&mcp->lists_lock);
        pthread_mutex_destroy(&mcp->lock);
        free(mcp);
    }
    return NULL;
}

struct mcp_client *mcp_client_new(void)
{
    struct mcp_client *client = calloc(1, sizeof *client);
    if (client) {
        pthread_mutex_init(&client->lock, NULL);
    }
    return client;
}

struct mcp_client *mcp_client_free(struct mcp_client *client)
{
    if (client) {
        pthread_mutex_destroy(&client->lock);
        free(client);
    }
    return NULL;
}

/* ---- requests in flight ---- */

static void register_work(struct mcp_work *work)
{
    struct mcp *mcp = work->mcp;
    pthread_mutex_lock(&mcp->lock);
    work->next_in_flight = mcp->in_flight;
    mcp->in_flight = work;
    work->registered = true;
    pthread_mutex_unlock(&mcp->lock);
}

static void unregister_work(struct mcp_work *work)
{
    if (!work->registered) {
        return;
    }
    struct mcp *mcp = work->mcp;
    pthread_mutex_lock(&mcp->lock);
    struct mcp_work **link = &mcp->in_flight;
    while (*link && *link != work) {
        link = &(*link)->next_in_flight;
    }
    if (*link) {
        *link = work->next_in_flight;
    }
    work->registered = false;
    pthread_mutex_unlock(&mcp->lock);
}

/* Over HTTP a label distinguishes clients: without one, no two requests are of the same
 * client, as the ids of strangers may collide. */
static bool same_client(const struct mcp_work *a, const struct mcp_work *b)
{
    if (a->client || b->client) {
        return a->client == b->client;
    }
    return call_caller(a->call) == call_caller(b->call) && a->label && b->label &&
           strcmp(a->label, b->label) == 0;
}

/* Cancels the request with that id of the same client. */
static void cancel_request(struct mcp_work *work, yyjson_val *request_id)
{
    struct mcp *mcp = work->mcp;
    pthread_mutex_lock(&mcp->lock);
    for (struct mcp_work *other = mcp->in_flight; other; other = other->next_in_flight) {
        if (same_client(other, work) && other->id && request_id &&
            yyjson_equals(other->id, request_id)) {
            call_cancel(other->call);
        }
    }
    pthread_mutex_unlock(&mcp->lock);
}

/* ---- receiving ---- */

static struct mcp_work *work_new(struct mcp *mcp, const struct mcp_peer *peer)
{
    struct mcp_work *work = calloc(1, sizeof *work);
    if (!work) {
        return NULL;
    }
    struct call_options options = {.request_id = peer->request_id,
                                   .caller = peer->caller,
                                   .session = peer->session,
                                   .parts = mcp->options.parts,
                                   .takes_text = mcp->takes_text,
                                   .for_operator = peer->client != NULL,
                                   .hooks = WORK_HOOKS};
    options.hooks.context = work;
    work->call = call_new(&options);
    if (!work->call) {
        free(work);
        return NULL;
    }
    work->mcp = mcp;
    work->arena = call_arena(work->call);
    work->client = peer->client;
    work->headers = peer->headers;
    work->over_http = peer->client == NULL;
    work->kind = MCP_DONE;
    work->http_status = 202;
    work->last_progress = -1;
    buf_init(&work->answer, LIMIT_CALL_ARENA_BYTES);
    work->doc = json_new(work->arena);
    work->label = arena_strdup(work->arena, peer->label);
    if (!work->doc || (peer->label && !work->label)) {
        return mcp_work_free(work);
    }
    return work;
}

static bool valid_id(yyjson_val *id)
{
    return yyjson_is_int(id) || (yyjson_is_str(id) && yyjson_get_len(id) <= LIMIT_REQUEST_ID_CHARS);
}

/* What is wrong with a message that has a method, apart from the method itself: OK, or ERR_INVALID
 * after answering. Takes its parts. */
static int read_envelope(struct mcp_work *work, yyjson_val *message)
{
    yyjson_val *id = yyjson_obj_get(message, "id");
    if (id && !valid_id(id)) {
        return answer_error(work, RPC_INVALID_REQUEST, NULL,
                            "id must be an integer or a string of at most %d characters",
                            LIMIT_REQUEST_ID_CHARS);
    }
    work->id = id;
    if (json_holds_nul(message)) {
        return answer_error(
            work, RPC_INVALID_PARAMS, NULL,
            "a string in the message holds a NUL character (\\u0000); leave it out");
    }
    work->params = yyjson_obj_get(message, "params");
    if (work->params && !yyjson_is_obj(work->params)) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL, "params must be an object");
    }
    work->meta = yyjson_obj_get(work->params, "_meta");
    if (work->meta && !yyjson_is_obj(work->meta)) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL, "_meta must be an object");
    }
    yyjson_val *token = yyjson_obj_get(work->meta, "progressToken");
    work->progress_token = token && valid_id(token) ? token : NULL;
    return OK;
}

static const char *client_version(struct mcp_client *client)
{
    pthread_mutex_lock(&client->lock);
    const char *version = client->version;
    pthread_mutex_unlock(&client->lock);
    return version;
}

/* A message with a method is a request when it has an id, and otherwise a notification, of which
 * only one needs something from us. */
static void receive_method(struct mcp_work *work, yyjson_val *message, const char *method)
{
    if (read_envelope(work, message) != OK || era_decide(work, method) != OK) {
        return;
    }
    if (!work->modern) {
        work->version = work->over_http ? era_legacy_version(work->headers->protocol_version)
                        : work->client  ? client_version(work->client)
                                        : NULL;
    }
    if (work->id) {
        method_receive(work, method);
        if (work->kind == MCP_SLOW || work->kind == MCP_LISTEN) {
            register_work(work);
        }
    } else if (strcmp(method, "notifications/cancelled") == 0) {
        cancel_request(work, yyjson_obj_get(work->params, "requestId"));
    }
}

static void receive_one(struct mcp_work *work, yyjson_val *message)
{
    if (!yyjson_is_obj(message)) {
        answer_error(work, RPC_INVALID_REQUEST, NULL, "a message is a JSON object");
        return;
    }
    const char *version = json_string(message, "jsonrpc");
    yyjson_val *method = yyjson_obj_get(message, "method");
    if (!version || strcmp(version, "2.0") != 0) {
        answer_error(work, RPC_INVALID_REQUEST, NULL, "jsonrpc must be \"2.0\"");
    } else if (yyjson_is_str(method)) {
        receive_method(work, message, yyjson_get_str(method));
        /* A notification is never answered; only HTTP has a status to say that it was wrong. */
        if (!yyjson_obj_get(message, "id") && !work->over_http) {
            buf_clear(&work->answer);
        }
    } else if (method) {
        answer_error(work, RPC_INVALID_REQUEST, NULL, "method must be a string");
    } else if (yyjson_obj_get(message, "result") || yyjson_obj_get(message, "error")) {
        ask_receive_response(work, message);
    } else {
        answer_error(work, RPC_INVALID_REQUEST, NULL,
                     "a message has a method, a result or an error");
    }
}

/* ---- batches, which only the early legacy versions know ---- */

static bool batches_allowed(const struct mcp_work *work)
{
    const char *version = work->over_http ? work->headers->protocol_version
                          : work->client  ? work->client->version
                                          : NULL;
    return !version || strcmp(version, "2025-03-26") == 0 || strcmp(version, "2024-11-05") == 0;
}

static void merge_kind(struct mcp_work *work, enum mcp_kind kind)
{
    if (kind == MCP_SLOW || (kind == MCP_QUICK && work->kind == MCP_DONE)) {
        work->kind = kind;
    }
}

static void receive_batch(struct mcp_work *work, const struct mcp_peer *peer, yyjson_val *batch)
{
    size_t count = yyjson_arr_size(batch);
    if (!batches_allowed(work) || count == 0 || count > LIMIT_BATCH_MESSAGES) {
        answer_error(work, RPC_INVALID_REQUEST, NULL,
                     count == 0 ? "a batch holds at least one message"
                     : count > LIMIT_BATCH_MESSAGES
                         ? "a batch holds at most 64 messages"
                         : "this protocol version knows no batches; send one message at a time");
        return;
    }
    work->parts = arena_zalloc(work->arena, count * sizeof *work->parts);
    if (!work->parts) {
        answer_error(work, RPC_INTERNAL, NULL, "out of memory");
        return;
    }
    size_t index, max;
    yyjson_val *message;
    yyjson_arr_foreach(batch, index, max, message)
    {
        struct mcp_work *part = work_new(work->mcp, peer);
        if (!part) {
            answer_error(work, RPC_INTERNAL, NULL, "out of memory");
            work->kind = MCP_DONE;
            return;
        }
        work->parts[work->part_count++] = part;
        const char *method = json_string(message, "method");
        if (method && strcmp(method, "initialize") == 0) {
            answer_error(part, RPC_INVALID_REQUEST, NULL, "initialize cannot be part of a batch");
        } else if (yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(message, "params"), "_meta"),
                                  META_VERSION)) {
            answer_error(part, RPC_INVALID_REQUEST, NULL, "the %s protocol knows no batches",
                         MODERN_VERSION);
        } else {
            receive_one(part, message);
        }
        merge_kind(work, part->kind);
    }
    if (work->kind == MCP_DONE) {
        mcp_work_run(work);
    }
}

struct mcp_work *mcp_receive(struct mcp *mcp, const struct mcp_peer *peer, const char *text,
                             size_t length)
{
    struct mcp_work *work = work_new(mcp, peer);
    if (!work) {
        return NULL;
    }
    struct json_problem problem = {0};
    yyjson_doc *doc = json_parse(work->arena, text, length, &problem);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!doc) {
        bool duplicate = strncmp(problem.text, "duplicate", 9) == 0;
        answer_error(work, duplicate ? RPC_INVALID_REQUEST : RPC_PARSE, NULL,
                     "not a valid message: %s, at byte %zu", problem.text, problem.offset);
    } else if (yyjson_is_arr(root)) {
        receive_batch(work, peer, root);
    } else {
        receive_one(work, root);
    }
    work->headers = NULL;
    return work;
}

/* ---- running and answering ---- */

enum mcp_kind mcp_work_kind(const struct mcp_work *work)
{
    return work->kind;
}

void mcp_work_set_sink(struct mcp_work *work, const struct mcp_sink *sink)
{
    work->sink = *sink;
    for (size_t i = 0; i < work->part_count; i++) {
        work->parts[i]->sink = *sink;
    }
}

static void join_answers(struct mcp_work *work)
{
    buf_clear(&work->answer);
    for (size_t i = 0; i < work->part_count; i++) {
        const struct buf *answer = &work->parts[i]->answer;
        if (answer->length) {
            buf_putc(&work->answer, work->answer.length ? ',' : '[');
            buf_append(&work->answer, answer->data, answer->length);
        }
    }
    if (work->answer.length) {
        buf_putc(&work->answer, ']');
        work->http_status = 200;
    }
    if (buf_error(&work->answer) != OK) {
        buf_done(&work->answer);
        buf_init(&work->answer, LIMIT_CALL_ARENA_BYTES);
        answer_error(work, RPC_INTERNAL, NULL, "the answers are too large for one batch");
    }
}

void mcp_work_run(struct mcp_work *work)
{
    if (work->parts) {
        for (size_t i = 0; i < work->part_count; i++) {
            mcp_work_run(work->parts[i]);
        }
        join_answers(work);
    } else if (work->kind != MCP_DONE) {
        (work->method->keeping >= BY_US ? lists_answer : work->method->run)(work);
    }
    if (work->kind != MCP_LISTEN) {
        unregister_work(work);
        /* A cancelled request gets no answer: its client has stopped waiting for it. */
        if (call_cancelled(work->call) && !atomic_load(&work->mcp->ending)) {
            buf_clear(&work->answer);
        }
        work->kind = MCP_DONE;
    }
}

bool mcp_work_is_local(const struct mcp_work *work)
{
    bool local =
        work->entry ? work->entry->local : !work->method || work->method->run != tasks_result;
    for (size_t i = 0; i < work->part_count && local; i++) {
        local = mcp_work_is_local(work->parts[i]);
    }
    return local;
}

void mcp_work_refuse(struct mcp_work *work, const char *words)
{
    unregister_work(work);
    for (size_t i = 0; i < work->part_count; i++) {
        mcp_work_refuse(work->parts[i], words);
    }
    if (work->parts) {
        join_answers(work);
    } else if (work->kind != MCP_DONE) {
        answer_error(work, RPC_BUSY, NULL, "%s", words);
    }
    work->kind = MCP_DONE;
}

void mcp_work_cancel(struct mcp_work *work)
{
    call_cancel(work->call);
    for (size_t i = 0; i < work->part_count; i++) {
        call_cancel(work->parts[i]->call);
    }
}

void mcp_cancel_all(struct mcp *mcp)
{
    atomic_store(&mcp->ending, true);
    pthread_mutex_lock(&mcp->lock);
    for (struct mcp_work *work = mcp->in_flight; work; work = work->next_in_flight) {
        call_cancel(work->call);
    }
    pthread_mutex_unlock(&mcp->lock);
}

struct call *mcp_work_call(struct mcp_work *work)
{
    return work->call;
}

struct mcp_answer mcp_work_answer(const struct mcp_work *work)
{
    bool there = work->answer.length > 0;
    return (struct mcp_answer){
        .text = there ? work->answer.data : NULL,
        .length = work->answer.length,
        .http_status = there ? work->http_status : 202,
    };
}

const char *mcp_work_new_label(const struct mcp_work *work)
{
    return work->new_label;
}

struct mcp_work *mcp_work_free(struct mcp_work *work)
{
    if (!work) {
        return NULL;
    }
    listen_stop(work);
    unregister_work(work);
    for (size_t i = 0; i < work->part_count; i++) {
        mcp_work_free(work->parts[i]);
    }
    buf_done(&work->answer);
    call_free(work->call);
    free(work);
    return NULL;
}
