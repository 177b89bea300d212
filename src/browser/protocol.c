/* The messages between us and the browser: cutting what it writes at each NUL or frame, finding the
 * channel that an answer or an event is for, and queueing commands until its pipe takes them. */
#include "browser/protocol.h"

#include "browser/frames.h"
#include "core/event.h"
#include "core/limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_UNSENT_BYTES MIB(4)
#define SESSION_SIZE       64
#define ESCAPE_CHARS       6 /* of an escape such as u00e9 with its backslash */

struct channel {
    struct protocol *protocol;
    struct channel *next;
    int event;
    char session[SESSION_SIZE]; /* empty: none yet */
    int64_t wanted;             /* the id of the command whose answer is waited for; 0: none */
    yyjson_doc *queue[LIMIT_BROWSER_EVENTS]; /* a ring */
    size_t first;
    size_t count;
    bool flooded;
};

struct protocol {
    pthread_mutex_t lock; /* guards everything but what is the owner's */
    size_t references;
    struct channel *channels;
    int64_t last_id;
    struct buf unsent;
    int wake;
    bool closed;
    bool framed;          /* set by the owner */
    struct frames frames; /* the owner's */
    struct buf incoming;  /* the owner's: a message that is not complete */
    bool dropping;        /* the owner's: it is too long */
};

/* ---- its life ---- */

struct protocol *protocol_new(void)
{
    struct protocol *protocol = calloc(1, sizeof *protocol);
    if (!protocol) {
        return NULL;
    }
    protocol->wake = event_open();
    if (protocol->wake < 0 || pthread_mutex_init(&protocol->lock, NULL) != 0) {
        event_close(protocol->wake);
        free(protocol);
        return NULL;
    }
    protocol->references = 1;
    buf_init(&protocol->unsent, LIMIT_UNSENT_BYTES);
    buf_init(&protocol->incoming, LIMIT_BROWSER_MESSAGE_BYTES);
    return protocol;
}

struct protocol *protocol_free(struct protocol *protocol)
{
    if (!protocol) {
        return NULL;
    }
    pthread_mutex_lock(&protocol->lock);
    bool last = --protocol->references == 0;
    pthread_mutex_unlock(&protocol->lock);
    if (last) {
        event_close(protocol->wake);
        buf_done(&protocol->unsent);
        buf_done(&protocol->incoming);
        pthread_mutex_destroy(&protocol->lock);
        free(protocol);
    }
    return NULL;
}

void protocol_close(struct protocol *protocol)
{
    pthread_mutex_lock(&protocol->lock);
    protocol->closed = true;
    for (struct channel *channel = protocol->channels; channel; channel = channel->next) {
        event_signal(channel->event);
    }
    pthread_mutex_unlock(&protocol->lock);
}

/* ---- writing ---- */

int protocol_wake_fd(const struct protocol *protocol)
{
    return protocol->wake;
}

/* Appends a command, with the lock held. */
static int queue_command(struct protocol *protocol, const char *session, const char *method,
                         const char *params)
{
    struct buf *out = &protocol->unsent;
    size_t before = out->length;
    buf_printf(out, "{\"id\":%lld,\"method\":\"%s\",\"params\":%s", (long long)++protocol->last_id,
               method, params ? params : "{}");
    if (session) {
        buf_printf(out, ",\"sessionId\":\"%s\"", session);
    }
    buf_append(out, "}", protocol->framed ? strlen("}") : sizeof "}");
    int status = protocol->framed ? frames_wrap(out, before) : buf_error(out);
    if (status != OK) {
        /* The next command may be a shorter one. */
        out->length = before;
        out->error = OK;
        return status;
    }
    event_signal(protocol->wake);
    return OK;
}

int protocol_write(struct protocol *protocol, int fd)
{
    int status = OK;
    pthread_mutex_lock(&protocol->lock);
    event_clear(protocol->wake);
    while (status == OK && protocol->unsent.length) {
        ssize_t written = write(fd, protocol->unsent.data, protocol->unsent.length);
        if (written > 0) {
            buf_consume(&protocol->unsent, (size_t)written);
        } else if (errno != EINTR) {
            status = errno == EAGAIN ? ERR_BUSY : ERR_CLOSED;
        }
    }
    pthread_mutex_unlock(&protocol->lock);
    return status;
}

/* ---- reading ---- */

static struct channel *find_channel(const struct protocol *protocol, int64_t id,
                                    const char *session)
{
    struct channel *channel = protocol->channels;
    while (channel && !(id ? channel->wanted == id
                           : channel->session[0] && strcmp(channel->session, session) == 0)) {
        channel = channel->next;
    }
    return channel;
}

/* A context whose page left before its name was known must not stay. */
static void dispose_orphan(struct protocol *protocol, yyjson_val *result)
{
    const char *context = json_string(result, "browserContextId");
    char params[SESSION_SIZE + 32];
    if (context && strlen(context) < SESSION_SIZE && !strpbrk(context, "\"\\")) {
        snprintf(params, sizeof params, "{\"browserContextId\":\"%s\"}", context);
        queue_command(protocol, NULL, "Target.disposeBrowserContext", params);
    }
}

/* Gives the document to the channel; with the lock held. False when it has too many already. */
static bool enqueue(struct channel *channel, yyjson_doc *doc)
{
    bool fits = channel->count < LIMIT_BROWSER_EVENTS;
    if (fits) {
        channel->queue[(channel->first + channel->count++) % LIMIT_BROWSER_EVENTS] = doc;
    }
    channel->flooded = channel->flooded || !fits;
    event_signal(channel->event);
    return fits;
}

/* Takes the first document out of the queue; with the lock held, or where nobody else is left. */
static yyjson_doc *dequeue(struct channel *channel)
{
    yyjson_doc *doc = channel->count ? channel->queue[channel->first] : NULL;
    if (doc) {
        channel->first = (channel->first + 1) % LIMIT_BROWSER_EVENTS;
        channel->count--;
    }
    return doc;
}

static void route(struct protocol *protocol, yyjson_doc *doc)
{
    yyjson_val *root = yyjson_doc_get_root(doc);
    int64_t id = yyjson_get_sint(yyjson_obj_get(root, "id"));
    const char *session = json_string(root, "sessionId");
    bool taken = false;
    pthread_mutex_lock(&protocol->lock);
    struct channel *channel = id || session ? find_channel(protocol, id, session) : NULL;
    if (channel) {
        taken = enqueue(channel, doc);
    } else if (id) {
        dispose_orphan(protocol, yyjson_obj_get(root, "result"));
    }
    pthread_mutex_unlock(&protocol->lock);
    if (!taken) {
        yyjson_doc_free(doc);
    }
}

/* Whether a half of a surrogate pair is written at `at`: ud8.. to udb.. for the first,
 * udc.. to udf.. for the second. */
static bool is_half(const char *at, const char *end, const char *digits)
{
    return end - at >= ESCAPE_CHARS && at[0] == '\\' && at[1] == 'u' && (at[2] | 0x20) == 'd' &&
           strchr(digits, at[3]) && at[3];
}

/* Texts of pages may hold halves without the other, which no JSON reader takes: they become
 * U+FFFD. */
static void replace_halves(char *text, size_t length)
{
    const char *end = text + length;
    char *at = text;
    while (at && at < end) {
        if (is_half(at, end, "89abAB") && is_half(at + ESCAPE_CHARS, end, "cdefCDEF")) {
            at += 2 * ESCAPE_CHARS;
        } else if (is_half(at, end, "89abcdefABCDEF")) {
            memcpy(at + 2, "fffd", 4);
            at += ESCAPE_CHARS;
        } else {
            at += *at == '\\' ? 2 : 1;
        }
        at = at < end ? memchr(at, '\\', (size_t)(end - at)) : NULL;
    }
}

static yyjson_doc *parse(struct buf *text)
{
    yyjson_doc *doc = yyjson_read(text->data, text->length, YYJSON_READ_NOFLAG);
    if (!doc) {
        replace_halves(text->data, text->length);
        doc = yyjson_read(text->data, text->length, YYJSON_READ_NOFLAG);
    }
    return doc;
}

/* A message is complete. */
static void finish_message(struct protocol *protocol)
{
    yyjson_doc *doc =
        !protocol->dropping && protocol->incoming.length ? parse(&protocol->incoming) : NULL;
    if (doc) {
        route(protocol, doc);
    }
    if (protocol->incoming.capacity > KIB(256)) {
        buf_done(&protocol->incoming);
        buf_init(&protocol->incoming, LIMIT_BROWSER_MESSAGE_BYTES);
    }
    buf_clear(&protocol->incoming);
    protocol->dropping = false;
}

static void take_texts(struct protocol *protocol, const char *data, size_t length)
{
    while (length) {
        const char *end = memchr(data, '\0', length);
        size_t piece = end ? (size_t)(end - data) : length;
        if (!protocol->dropping && buf_append(&protocol->incoming, data, piece) != OK) {
            protocol->dropping = true;
            protocol->incoming.error = OK;
            buf_clear(&protocol->incoming);
        }
        if (end) {
            finish_message(protocol);
            piece++;
        }
        data += piece;
        length -= piece;
    }
}

int protocol_take(struct protocol *protocol, const char *data, size_t length)
{
    struct slice rest = {data, length};
    int status = OK;
    if (!protocol->framed) {
        take_texts(protocol, data, length);
    }
    while (protocol->framed && status == OK && rest.length) {
        struct slice text;
        bool ends;
        status = frames_take(&protocol->frames, &rest, &text, &ends);
        take_texts(protocol, text.data, text.length);
        if (ends) {
            take_texts(protocol, "", 1);
        }
    }
    return status;
}

int protocol_use_frames(struct protocol *protocol, const struct frames_address *address)
{
    pthread_mutex_lock(&protocol->lock);
    protocol->framed = true;
    int status = frames_ask(&protocol->unsent, address);
    event_signal(protocol->wake);
    pthread_mutex_unlock(&protocol->lock);
    return status;
}

bool protocol_is_open(const struct protocol *protocol)
{
    return protocol->frames.open;
}

/* ---- channels ---- */

struct channel *channel_open(struct protocol *protocol)
{
    struct channel *channel = calloc(1, sizeof *channel);
    if (!channel) {
        return NULL;
    }
    channel->event = event_open();
    if (channel->event < 0) {
        free(channel);
        return NULL;
    }
    channel->protocol = protocol;
    pthread_mutex_lock(&protocol->lock);
    protocol->references++;
    channel->next = protocol->channels;
    protocol->channels = channel;
    pthread_mutex_unlock(&protocol->lock);
    return channel;
}

struct channel *channel_close(struct channel *channel)
{
    if (!channel) {
        return NULL;
    }
    struct protocol *protocol = channel->protocol;
    pthread_mutex_lock(&protocol->lock);
    struct channel **link = &protocol->channels;
    while (*link != channel) {
        link = &(*link)->next;
    }
    *link = channel->next;
    pthread_mutex_unlock(&protocol->lock);
    while (channel->count) {
        yyjson_doc_free(dequeue(channel));
    }
    event_close(channel->event);
    free(channel);
    protocol_free(protocol);
    return NULL;
}

int channel_set_session(struct channel *channel, const char *session)
{
    size_t length = strlen(session);
    if (length == 0 || length >= SESSION_SIZE || strpbrk(session, "\"\\")) {
        return ERR_INVALID;
    }
    pthread_mutex_lock(&channel->protocol->lock);
    memcpy(channel->session, session, length + 1);
    pthread_mutex_unlock(&channel->protocol->lock);
    return OK;
}

int channel_send(struct channel *channel, enum channel_target target, const char *method,
                 const char *params, bool wanted)
{
    struct protocol *protocol = channel->protocol;
    pthread_mutex_lock(&protocol->lock);
    int status = protocol->closed
                     ? ERR_CLOSED
                     : queue_command(protocol, target == TO_SESSION ? channel->session : NULL,
                                     method, params);
    if (status == OK && wanted) {
        channel->wanted = protocol->last_id;
    }
    pthread_mutex_unlock(&protocol->lock);
    return status;
}

static void describe(struct browser_message *message, yyjson_doc *doc)
{
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *error = yyjson_obj_get(root, "error");
    message->doc = doc;
    message->method = json_string(root, "method");
    message->contents = yyjson_obj_get(root, message->method ? "params" : "result");
    if (error) {
        const char *words = json_string(error, "message");
        message->error = words ? words : "the browser refused";
    }
}

int channel_poll(struct channel *channel, struct browser_message *message)
{
    struct protocol *protocol = channel->protocol;
    int status = OK;
    memset(message, 0, sizeof *message);
    pthread_mutex_lock(&protocol->lock);
    yyjson_doc *doc = dequeue(channel);
    if (!doc && channel->flooded) {
        status = ERR_LIMIT;
    } else if (!doc && protocol->closed) {
        status = ERR_CLOSED;
    } else if (!doc) {
        event_clear(channel->event);
    }
    pthread_mutex_unlock(&protocol->lock);
    if (doc) {
        describe(message, doc);
    }
    return status;
}

int channel_next(struct call *call, struct channel *channel, int64_t timeout_ms,
                 struct browser_message *message)
{
    int status = call_check(call);
    memset(message, 0, sizeof *message);
    if (status == OK) {
        status = channel_poll(channel, message);
    }
    if (status != OK || message->doc) {
        return status;
    }
    struct pollfd ready = {.fd = channel->event, .events = POLLIN};
    int waited = call_wait(call, &ready, 1, timeout_ms);
    return waited < 0 ? waited : channel_poll(channel, message);
}

void message_free(struct browser_message *message)
{
    yyjson_doc_free(message->doc);
    memset(message, 0, sizeof *message);
}
