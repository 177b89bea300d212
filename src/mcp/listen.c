/* subscriptions/listen: a modern client's standing wish to hear of changed lists. The first message
 * acknowledges what is honoured; each further one carries the id of the subscription. */
#include "mcp/internal.h"

#include <string.h>

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
    yyjson_mut_val *meta = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, meta, META_SUBSCRIPTION, json_copy(doc, work->id));
    yyjson_mut_obj_add_val(doc, object, "_meta", meta);
}

static void acknowledge(struct mcp_work *work, unsigned lists)
{
    struct message message;
    message_begin(&message);
    yyjson_mut_doc *doc = message.doc;
    yyjson_mut_val *honoured = yyjson_mut_obj(doc);
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (lists & 1u << i) {
            yyjson_mut_obj_add_bool(doc, honoured, LISTS[i].wish, true);
        }
    }
    yyjson_mut_obj_add_val(doc, message.params, "notifications", honoured);
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
    pthread_mutex_lock(&mcp->lock);
    for (size_t i = 0; i < LIMIT_LISTENERS; i++) {
        struct listener *listener = &mcp->listeners[i];
        if (is_listening(listener) && (listener->lists & 1u << list)) {
            struct message message;
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
            size_t length;
            const char *answer = mcp_work_answer(work, &length);
            if (answer && work->sink.send) {
                work->sink.send(work->sink.context, answer, length);
            }
            if (work->sink.end) {
                work->sink.end(work->sink.context);
            }
        }
        mcp->listeners[i].work = NULL;
    }
    pthread_mutex_unlock(&mcp->lock);
}
