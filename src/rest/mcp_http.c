/* MCP over Streamable HTTP: one message per POST. The answer is JSON, or a stream of server-sent
 * events when the call has something to say before its answer or takes long. A client that closes
 * its connection cancels its call. */
#include "call/errors.h"
#include "core/limits.h"
#include "rest/http.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One POST to /mcp. It belongs to its exchange and is freed with it. */
struct post {
    struct http_door *door;
    struct exchange *exchange;
    struct arena *arena;
    struct mcp_work *work;
    bool takes_events;      /* the client accepts a stream */
    bool wants_events_only; /* and nothing else */
    pthread_mutex_t lock;   /* guards what follows: worker and reactor both stream */
    bool streaming;
    bool ended;
};

static void post_free(void *context)
{
    struct post *post = context;
    mcp_work_free(post->work);
    pthread_mutex_destroy(&post->lock);
    arena_free(post->arena);
    free(post);
}

/* ---- events ---- */

/* With the lock held. */
static void start_stream(struct post *post)
{
    struct buf lines;
    const char *label = mcp_work_new_label(post->work);
    answer_headers(&lines, post->exchange, "text/event-stream", "X-Accel-Buffering: no\r\n");
    if (label) {
        buf_printf(&lines, "Mcp-Session-Id: %s\r\n", label);
    }
    exchange_stream_start(post->exchange, 200, lines.data);
    buf_done(&lines);
    post->streaming = true;
}

/* With the lock held. A client that does not keep up misses what it did not wait for; the last
 * event, the answer itself, it never misses. */
static void send_event(struct post *post, const char *message, size_t length, bool last)
{
    stream_event(post->exchange, "message", message, length, last);
}

/* The sink: what the call says while it runs. A client that takes no stream hears only the answer.
 */
static void send_message(void *context, const char *message, size_t length)
{
    struct post *post = context;
    pthread_mutex_lock(&post->lock);
    if (!post->ended && (post->takes_events || post->streaming)) {
        if (!post->streaming) {
            start_stream(post);
        }
        send_event(post, message, length, false);
    }
    pthread_mutex_unlock(&post->lock);
}

/* A subscription is over. */
static void end_stream(void *context)
{
    struct post *post = context;
    pthread_mutex_lock(&post->lock);
    post->ended = true;
    exchange_stream_end(post->exchange, NULL, 0);
    pthread_mutex_unlock(&post->lock);
}

/* The call takes long: open the stream, so that the client sees a sign of life. */
static void open_stream(struct exchange *exchange, void *context)
{
    struct post *post = context;
    pthread_mutex_lock(&post->lock);
    bool open = !post->ended;
    if (open && !post->streaming) {
        start_stream(post);
    }
    pthread_mutex_unlock(&post->lock);
    if (open) {
        stream_comment(exchange, NULL);
    }
}

/* ---- answering ---- */

static void send_answer(struct post *post)
{
    struct mcp_answer answer = mcp_work_answer(post->work);
    const char *label = mcp_work_new_label(post->work);
    pool_work_is_done();
    pthread_mutex_lock(&post->lock);
    post->ended = true;
    if (!post->streaming && post->wants_events_only && answer.text && answer.http_status == 200) {
        start_stream(post);
    }
    if (post->streaming && answer.text) {
        send_event(post, answer.text, answer.length, true);
    } else if (post->streaming) {
        exchange_stream_end(post->exchange, NULL, 0);
    } else {
        const char *headers = NULL;
        if (answer.http_status == 503) {
            headers = "Retry-After: 1\r\n";
        } else if (label) {
            headers = arena_printf(post->arena, "Mcp-Session-Id: %s\r\n", label);
        }
        respond(post->exchange, answer.http_status, headers,
                answer.text ? "application/json" : NULL, answer.text, answer.length);
    }
    pthread_mutex_unlock(&post->lock);
}

static void run_post(void *context)
{
    struct post *post = context;
    struct exchange *exchange = post->exchange;
    mcp_work_run(post->work);
    send_answer(post);
    exchange_free(exchange);
}

static void client_gone(void *context)
{
    struct post *post = context;
    mcp_work_cancel(post->work);
}

static void run_slow(struct post *post)
{
    exchange_ref(post->exchange);
    exchange_on_gone(post->exchange, client_gone, post);
    if (post->takes_events) {
        exchange_set_timer(post->exchange, TIME_SSE_OPEN_MS, open_stream, post);
    }
    int status = pool_run(post->door->app->pool, mcp_work_call(post->work),
                          mcp_work_is_local(post->work), run_post, post);
    if (status != OK) {
        mcp_work_refuse(post->work, pool_refusal(status));
        send_answer(post);
        exchange_free(post->exchange);
    }
}

static void run_listening(struct post *post)
{
    mcp_work_run(post->work);
    if (mcp_work_kind(post->work) == MCP_DONE) {
        send_answer(post);
    } else {
        exchange_set_timer(post->exchange, TIME_SSE_COMMENT_MS, stream_comment, NULL);
    }
}

/* ---- receiving ---- */

static bool check_accept(struct post *post)
{
    struct accepted accepted = read_accept(post->exchange);
    post->takes_events = accepted.events;
    post->wants_events_only = accepted.events && !accepted.json;
    if (!accepted.json && !accepted.events) {
        respond_error_status(post->exchange, 406, NULL, CODE_VALIDATION,
                             "send Accept: application/json, text/event-stream");
    }
    return accepted.json || accepted.events;
}

/* The session label, if it is one that we could have given. */
static bool read_label(struct post *post, const char **label)
{
    struct slice value = exchange_header(post->exchange, "Mcp-Session-Id", NULL);
    *label = NULL;
    if (!value.data) {
        return true;
    }
    bool visible = value.length > 0 && value.length <= LIMIT_SESSION_LABEL_CHARS;
    for (size_t i = 0; visible && i < value.length; i++) {
        visible = value.data[i] > 0x20 && value.data[i] < 0x7f;
    }
    if (!visible) {
        respond_error(post->exchange, CODE_VALIDATION,
                      "Mcp-Session-Id must be 1 to 128 visible ASCII characters");
        return false;
    }
    *label = slice_copy(post->arena, value);
    return true;
}

/* A header that mirrors the body; NULL when absent. One that came more than once is made to agree
 * with nothing: a proxy might have gone by another of them. */
static const char *mirror_header(struct post *post, const char *name)
{
    size_t count = 0;
    const char *value = slice_copy(post->arena, exchange_header(post->exchange, name, &count));
    return value && count > 1 ? arena_printf(post->arena, "%s, ...", value) : value;
}

static const char *find_param(void *context, const char *name)
{
    struct post *post = context;
    const char *header = arena_printf(post->arena, "Mcp-Param-%s", name);
    return header ? mirror_header(post, header) : NULL;
}

static void receive(struct post *post, const struct caller *caller, const char *label)
{
    struct exchange *exchange = post->exchange;
    char session[SESSION_NAME_SIZE];
    struct mcp_headers headers = {
        .protocol_version = mirror_header(post, "MCP-Protocol-Version"),
        .method = mirror_header(post, "Mcp-Method"),
        .name = mirror_header(post, "Mcp-Name"),
        .param = find_param,
        .context = post,
    };
    struct mcp_peer peer = {
        .headers = &headers,
        .label = label,
        .session = session_of(post->door, exchange, label, session),
        .caller = caller,
        .request_id = exchange_id(exchange),
    };
    struct slice body = exchange_request(exchange)->body;
    post->work = mcp_receive(post->door->app->mcp, &peer, body.data, body.length);
}

static struct post *post_new(const struct visit *visit)
{
    struct post *post = calloc(1, sizeof *post);
    struct arena *arena = arena_new(LIMIT_HTTP_HEAD_BYTES * 4);
    if (!post || !arena) {
        free(post);
        arena_free(arena);
        return NULL;
    }
    post->door = visit->door;
    post->exchange = visit->exchange;
    post->arena = arena;
    pthread_mutex_init(&post->lock, NULL);
    exchange_set_user(visit->exchange, post, post_free);
    return post;
}

void serve_mcp(const struct visit *visit)
{
    const char *label;
    struct post *post = post_new(visit);
    if (post && (!check_accept(post) || !read_label(post, &label))) {
        return;
    }
    if (post) {
        receive(post, visit->caller, label);
    }
    if (!post || !post->work) {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
        return;
    }
    mcp_work_set_sink(post->work, &(struct mcp_sink){post, send_message, end_stream});
    switch (mcp_work_kind(post->work)) {
    case MCP_SLOW:
        run_slow(post);
        return;
    case MCP_LISTEN:
        run_listening(post);
        return;
    case MCP_QUICK:
        mcp_work_run(post->work);
        break;
    case MCP_DONE:
        break;
    }
    send_answer(post);
}
