/* MCP, both eras, without any input or output: bytes of a message come in, work comes out, running
 * the work gives bytes to send back. The doors move the bytes.
 *
 * The modern era (2026-07-28) is stateless: each request says in its _meta which version it speaks
 * and what its client can do. The legacy era (2024-11-05 to 2025-11-25) begins with `initialize`.
 * Which era a message belongs to is decided for each message (era.c). Over stdio the legacy
 * handshake is remembered (struct mcp_client); over HTTP nothing is: an Mcp-Session-Id is a label
 * that tells clients apart for cancellation and for answers to our questions, and no server has to
 * remember it.
 *
 * Life of a message: mcp_receive() understands it; the door looks at mcp_work_kind() and runs it at
 * once or in the pool with mcp_work_run(); then it sends mcp_work_answer(). While it runs, messages
 * for the client (progress, questions) go to the sink. mcp_work_free() ends it. */
#ifndef FORAGE_MCP_MCP_H
#define FORAGE_MCP_MCP_H

#include "registry/registry.h"

#include <stdbool.h>
#include <stddef.h>

struct mcp;
struct mcp_client;
struct mcp_work;

/* What a server offers beyond tools, resources and prompts. forage offers none of these. */
enum mcp_feature {
    MCP_LOGGING = 1,      /* legacy logging/setLevel and log messages */
    MCP_SUBSCRIBE = 2,    /* subscriptions to resources */
    MCP_LIST_CHANGED = 4, /* notifications when a list changes */
};

struct mcp_options {
    struct registry *registry;
    const char *name;
    const char *title;
    const char *version;
    const char *instructions; /* what follows on what each tool is for */
    unsigned features;
    size_t page_size;          /* items in one page of a list; 0: 100 */
    const struct parts *parts; /* for its calls */
};

struct mcp *mcp_new(const struct mcp_options *options);
/* No work may be left. */
struct mcp *mcp_free(struct mcp *mcp);

/* What a legacy client over stdio said of itself in its handshake. */
struct mcp_client *mcp_client_new(void);
struct mcp_client *mcp_client_free(struct mcp_client *client);

/* The headers of an HTTP request that the protocol looks at; NULL where absent. */
struct mcp_headers {
    const char *protocol_version;
    const char *method;
    const char *name;
    /* The value of Mcp-Param-NAME, or NULL. */
    const char *(*param)(void *context, const char *name);
    void *context;
};

/* Where a message came from. The client must live as long as the work that comes of the message;
 * headers are looked at only while mcp_receive() runs, and the rest is copied. */
struct mcp_peer {
    struct mcp_client *client;         /* stdio */
    const struct mcp_headers *headers; /* HTTP */
    const char *label;                 /* HTTP: the client's Mcp-Session-Id, or NULL */
    const char *session;               /* see call_session(), or NULL */
    const struct caller *caller;
    const char *request_id; /* NULL: one is made */
};

/* Where messages go while the work runs. Called on the thread that runs it, or, for list changes,
 * on the thread that makes the change. */
struct mcp_sink {
    void *context;
    void (*send)(void *context, const char *message, size_t length);
    /* The last message of a subscription was sent. May be NULL. */
    void (*end)(void *context);
};

enum mcp_kind {
    MCP_DONE,   /* nothing to run: the answer, if any, is there */
    MCP_QUICK,  /* to be run at once, on this thread */
    MCP_SLOW,   /* may wait: to be run by a worker */
    MCP_LISTEN, /* to be run at once; afterwards messages come until it is freed or closed */
};

/* Never fails but for want of memory (NULL): what is wrong with the message is in the answer. */
struct mcp_work *mcp_receive(struct mcp *mcp, const struct mcp_peer *peer, const char *text,
                             size_t length);
enum mcp_kind mcp_work_kind(const struct mcp_work *work);
void mcp_work_set_sink(struct mcp_work *work, const struct mcp_sink *sink);
void mcp_work_run(struct mcp_work *work);
/* Whether it neither asks the outside nor waits for what does, and so may have a worker that is
 * kept for such work. A batch is as its parts are: one worker runs them all. */
bool mcp_work_is_local(const struct mcp_work *work);
/* Instead of running: answers that the server is busy, in these words. */
void mcp_work_refuse(struct mcp_work *work, const char *words);
/* Stops it, wherever it is. (any thread) */
void mcp_work_cancel(struct mcp_work *work);
/* Stops every request that may be running, before the server ends; each still gets an answer that
 * says so. */
void mcp_cancel_all(struct mcp *mcp);
struct call *mcp_work_call(struct mcp_work *work);

/* What goes back to the client, valid until the work is freed. */
struct mcp_answer {
    const char *text; /* NULL: nothing (a notification, a response, a cancelled request) */
    size_t length;
    int http_status; /* 202 where there is no text */
};
/* Once the work has been run. */
struct mcp_answer mcp_work_answer(const struct mcp_work *work);
/* The Mcp-Session-Id that the client is to use from now on, or NULL. Also while the work runs. */
const char *mcp_work_new_label(const struct mcp_work *work);
struct mcp_work *mcp_work_free(struct mcp_work *work);

/* What can change. */
enum mcp_list { MCP_LIST_TOOLS, MCP_LIST_PROMPTS, MCP_LIST_RESOURCES };

/* Tells every listener that a list has changed. */
void mcp_list_changed(struct mcp *mcp, enum mcp_list list);
/* Ends every subscriptions/listen stream properly, before the server stops. */
void mcp_close_listeners(struct mcp *mcp);

/* The answer to a line that was too long to be read. */
extern const char MCP_LINE_TOO_LONG[];

#endif
