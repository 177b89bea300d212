/* What goes to a client before the answer, or without one: the progress and log lines of a running
 * call, and list changes to those who listen (subscriptions/listen). */
#include "core/redact.h"
#include "mcp/internal.h"

#include <string.h>

/* ---- messages ---- */

void message_begin(struct mcp_message *message)
{
    message->arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    message->doc = message->arena ? json_new(message->arena) : NULL;
    message->params = yyjson_mut_obj(message->doc);
}

void message_send(struct mcp_message *message, struct mcp_work *work, const char *method,
                  const char *id)
{
    yyjson_mut_doc *doc = message->doc;
    yyjson_mut_val *envelope = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, envelope, "jsonrpc", "2.0");
    json_add_string(doc, envelope, "id", id);
    yyjson_mut_obj_add_str(doc, envelope, "method", method);
    yyjson_mut_obj_add_val(doc, envelope, "params", message->params);
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    if (work->sink.send && json_write(&text, message->arena, envelope) == OK) {
        redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
        if (buf_error(&text) == OK) {
            work->sink.send(work->sink.context, text.data, text.length);
        }
    }
    buf_done(&text);
    arena_free(message->arena);
}

/* ---- what a running call reports ---- */

void notify_progress(void *context, double done, double total, const char *message)
{
    struct mcp_work *work = context;
    if (!work->progress_token || done <= work->last_progress) {
        return; /* the protocol wants each report to be further than the last */
    }
    work->last_progress = done;
    struct mcp_message report;
    message_begin(&report);
    yyjson_mut_doc *doc = report.doc;
    yyjson_mut_obj_add_val(doc, report.params, "progressToken",
                           json_copy(doc, work->progress_token));
    yyjson_mut_obj_add_real(doc, report.params, "progress", done);
    if (total > 0) {
        yyjson_mut_obj_add_real(doc, report.params, "total", total);
    }
    if (*message) {
        json_add_string(doc, report.params, "message", message);
    }
    message_send(&report, work, "notifications/progress", NULL);
}

/* The least level that this client wants to see; above all levels when it wants none. */
static int wanted_level(struct mcp_work *work)
{
    if (!(work->mcp->options.features & MCP_LOGGING)) {
        return 100;
    }
    if (work->modern) {
        int level = log_level_index(json_string(work->meta, META_LOG_LEVEL));
        return level < 0 ? 100 : level;
    }
    pthread_mutex_lock(&work->mcp->lock);
    int level = work->mcp->log_level;
    pthread_mutex_unlock(&work->mcp->lock);
    return level;
}

void notify_log(void *context, const char *level, const char *text)
{
    struct mcp_work *work = context;
    if (log_level_index(level) < wanted_level(work)) {
        return;
    }
    struct mcp_message line;
    message_begin(&line);
    json_add_string(line.doc, line.params, "level", level);
    json_add_string(line.doc, line.params, "logger", work->mcp->options.name);
    json_add_string(line.doc, line.params, "data", text);
    message_send(&line, work, "notifications/message", NULL);
}

/* ---- list changes ---- */

static const struct {
    const char *wish;
    const char *notification;
} LISTS[] = {
    [MCP_LIST_TOOLS] = {"toolsListChanged", "notifications/tools/list_changed"},
    [MCP_LIST_PROMPTS] = {"promptsListChanged", "notifications/prompts/list_changed"},
    [MCP_LIST_RESOURCES] = {"resourcesListChanged", "notifications/resources/list_changed"},
};

#define LIST_COUNT (sizeof LISTS / sizeof *LISTS)

static void add_subscription_id(struct mcp_work *work, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, object, "_meta");
    yyjson_mut_obj_add_val(doc, meta, META_SUBSCRIPTION, json_copy(doc, work->id));
}

static void acknowledge(struct mcp_work *work, unsigned lists)
{
    struct mcp_message message;
    message_begin(&message);
    yyjson_mut_doc *doc = message.doc;
    yyjson_mut_val *honoured = yyjson_mut_obj_add_obj(doc, message.params, "notifications");
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (lists & 1u << i) {
            yyjson_mut_obj_add_bool(doc, honoured, LISTS[i].wish, true);
        }
    }
    add_subscription_id(work, doc, message.params);
    message_send(&message, work, "notifications/subscriptions/acknowledged", NULL);
}

/* A subscription that its client has cancelled is over, though its work is still there. */
static bool is_listening(const struct listener *listener)
{
    return listener->work && !call_cancelled(listener->work->call);
}

/* The listener holds the lock while it sends, so that the acknowledgement comes first and nothing
 * comes after listen_stop(). */
void listen_start(struct mcp_work *work)
{
    yyjson_val *wishes = yyjson_obj_get(work->params, "notifications");
    if (!yyjson_is_obj(wishes)) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.notifications must be an object");
        work->kind = MCP_DONE;
        return;
    }
    if (yyjson_obj_get(wishes, "taskIds") && !tasks_known(work)) {
        tasks_refuse(work);
        work->kind = MCP_DONE;
        return;
    }
    unsigned lists = 0;
    for (size_t i = 0; i < LIST_COUNT; i++) {
        lists |= yyjson_get_bool(yyjson_obj_get(wishes, LISTS[i].wish)) ? 1u << i : 0;
    }
    struct mcp *mcp = work->mcp;
    struct listener *free_place = NULL;
    pthread_mutex_lock(&mcp->lock);
    for (size_t i = 0; !free_place && i < LIMIT_LISTENERS; i++) {
        if (!is_listening(&mcp->listeners[i])) {
            free_place = &mcp->listeners[i];
        }
    }
    if (free_place) {
        *free_place = (struct listener){work, lists};
        acknowledge(work, lists);
    }
    pthread_mutex_unlock(&mcp->lock);
    if (!free_place) {
        answer_error(work, RPC_INTERNAL, NULL, "too many subscriptions are open");
        work->kind = MCP_DONE;
    }
}

void listen_stop(struct mcp_work *work)
{
    struct mcp *mcp = work->mcp;
    if (work->kind != MCP_LISTEN) {
        return;
    }
    pthread_mutex_lock(&mcp->lock);
    for (size_t i = 0; i < LIMIT_LISTENERS; i++) {
        if (mcp->listeners[i].work == work) {
            mcp->listeners[i].work = NULL;
        }
    }
    pthread_mutex_unlock(&mcp->lock);
}

void mcp_list_changed(struct mcp *mcp, enum mcp_list list)
{
    atomic_fetch_add(&mcp->changes, 1);
    pthread_mutex_lock(&mcp->lock);
    for (size_t i = 0; i < LIMIT_LISTENERS; i++) {
        struct listener *listener = &mcp->listeners[i];
        if (is_listening(listener) && (listener->lists & 1u << list)) {
            struct mcp_message message;
            message_begin(&message);
            add_subscription_id(listener->work, message.doc, message.params);
            message_send(&message, listener->work, LISTS[list].notification, NULL);
        }
    }
    pthread_mutex_unlock(&mcp->lock);
}

void mcp_close_listeners(struct mcp *mcp)
{
    pthread_mutex_lock(&mcp->lock);
    for (size_t i = 0; i < LIMIT_LISTENERS; i++) {
        struct mcp_work *work = mcp->listeners[i].work;
        if (is_listening(&mcp->listeners[i])) {
            yyjson_mut_doc *doc = work->doc;
            yyjson_mut_val *result = yyjson_mut_obj(doc);
            add_subscription_id(work, doc, result);
            answer_result(work, result);
            if (work->answer.length && work->sink.send) {
                work->sink.send(work->sink.context, work->answer.data, work->answer.length);
            }
            if (work->sink.end) {
                work->sink.end(work->sink.context);
            }
        }
        mcp->listeners[i].work = NULL;
    }
    pthread_mutex_unlock(&mcp->lock);
}
