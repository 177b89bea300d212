/* What the files of mcp/ share. */
#ifndef FORAGE_MCP_INTERNAL_H
#define FORAGE_MCP_INTERNAL_H

#include "core/id.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "core/status.h"
#include "mcp/mcp.h"

#include <pthread.h>
#include <stdatomic.h>

/* JSON-RPC and MCP error codes. */
enum rpc_error {
    RPC_PARSE = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_LEGACY_RESOURCE_NOT_FOUND = -32002,
    RPC_BUSY = -32000,
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022,
};

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"
#define META_SERVER_INFO  "io.modelcontextprotocol/serverInfo"
#define META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"
#define META_RELATED_TASK "io.modelcontextprotocol/related-task"

#define TASKS_EXTENSION  "io.modelcontextprotocol/tasks"
#define SKILLS_EXTENSION "io.modelcontextprotocol/skills"
#define APPS_EXTENSION   "io.modelcontextprotocol/ui"

#define MODERN_VERSION        "2026-07-28"
#define NEWEST_LEGACY_VERSION "2025-11-25"

struct mcp_client {
    pthread_mutex_t lock; /* guards what follows */
    const char *version;  /* negotiated legacy version, or NULL */
    bool can_sample, can_elicit, can_list_roots, shows_apps;
};

/* A question to a legacy client that waits for its answer. */
struct ask {
    struct ask *next;
    char id[8 + ID_SECRET_SIZE];
    const struct caller *caller; /* only the one who was asked may answer */
    int event;
    char *response; /* JSON text of the result, from malloc; NULL until it is there */
    bool failed;
};

struct listener {
    struct mcp_work *work; /* NULL: free */
    unsigned lists;        /* bits of 1 << enum mcp_list */
};

/* What the answer to a request for a list depends on, but for the id: two requests with the same
 * key get the same bytes. */
struct list_key {
    const struct method *method;
    size_t start;         /* of the page */
    unsigned client;      /* bits of lists.c: what it speaks and knows */
    unsigned changes;     /* how often a list has changed */
    unsigned secrets;     /* redact_version() */
    uint64_t listed;      /* tools, a bit for each */
    uint64_t recommended; /* those that clients should have from the start, and that are ready */
};

struct kept_list {
    struct list_key key;
    char *result; /* as bytes, redacted; NULL: none */
    size_t length;
};

struct mcp {
    struct mcp_options options;
    bool takes_text;     /* form_is_text(), which no call changes */
    atomic_uint changes; /* of lists, that were told */
    pthread_rwlock_t lists_lock;
    struct kept_list lists[LIMIT_KEPT_LISTS];
    size_t next_list; /* to be replaced */
    unsigned char seal_key[SHA256_SIZE];
    atomic_bool ending;   /* what is cancelled now was not cancelled by its client */
    pthread_mutex_t lock; /* guards what follows */
    struct mcp_work *in_flight;
    struct ask *asks;
    size_t ask_count;
    struct listener listeners[LIMIT_LISTENERS];
    int log_level; /* of legacy clients, by logging/setLevel; they share it, as nobody
                      remembers them over HTTP */
};

struct input_request {
    struct input_request *next;
    const char *key, *method, *params;
};

/* What a method belongs to: there where the program has something of it. */
enum extension {
    OF_PROTOCOL,
    OF_TASKS, /* only for clients that know tasks */
    OF_SKILLS,
};

typedef void (*method_run)(struct mcp_work *work);

/* Whether the same answer is given again. */
enum keeping {
    ANEW,
    BY_CLIENTS,     /* they are told how long: modern answers carry ttlMs and cacheScope */
    BY_US,          /* and we keep its bytes (lists.c) */
    BY_US_IN_PAGES, /* and those of each page */
};

struct method {
    const char *name;
    method_run run;
    unsigned eras;     /* ERA_LEGACY | ERA_MODERN */
    unsigned features; /* all of these must be on */
    enum keeping keeping;
    bool slow; /* it may wait */
    enum extension extension;
};

enum { ERA_LEGACY = 1, ERA_MODERN = 2 };

struct mcp_work {
    struct mcp *mcp;
    struct call *call;
    struct arena *arena;               /* the call's */
    struct mcp_client *client;         /* over stdio; NULL over HTTP */
    const struct mcp_headers *headers; /* only while receiving */
    bool over_http;
    const char *label; /* the client's Mcp-Session-Id over HTTP, or NULL */
    const char *new_label;
    enum mcp_kind kind;
    struct mcp_sink sink;

    /* the message */
    bool modern;
    const char *version; /* of a legacy client, where it is known; or NULL */
    const struct method *method;
    yyjson_val *id; /* NULL: a notification */
    yyjson_val *params;
    yyjson_val *meta;
    yyjson_val *progress_token;
    double last_progress;
    const struct entry *entry; /* tools/call */
    bool wants_task;           /* the call is to become a task */
    enum words words;          /* whose the answer is */

    /* questions to the client */
    yyjson_val *input_responses;
    const char *resume_state;
    const char *kept_state;
    struct input_request *input_requests;
    const char *missing_capability;

    /* a batch */
    struct mcp_work **parts;
    size_t part_count;

    /* the answer */
    yyjson_mut_doc *doc;
    struct buf answer;
    int http_status;
    bool partial; /* something is left out of it for want of memory */
    struct mcp_work *next_in_flight;
    bool registered;
};

/* ---- answer.c: building answers ---- */

/* Answers with a result object; modern fields are added. */
void answer_result(struct mcp_work *work, yyjson_mut_val *result);
/* Answers with an error; `data` may be NULL. The HTTP status follows from code and era. Always
 * ERR_INVALID, for the caller to return. */
int answer_error(struct mcp_work *work, int code, yyjson_mut_val *data, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* ---- era.c: which era, and is the envelope right ---- */

/* Decides the era of a request or notification and checks what its era demands. OK, or ERR_INVALID
 * after answering with the error. */
MUST_CHECK int era_decide(struct mcp_work *work, const char *method);
/* The same version as a constant where it is a legacy one, else NULL. */
const char *era_legacy_version(const char *version);

/* ---- methods.c ---- */

/* Finds the method of a request and decides what kind of work it is, or answers that there is none
 * or that its parameters are wrong. */
void method_receive(struct mcp_work *work, const char *name);
/* The place of a syslog-style level in its order, or -1. */
int log_level_index(const char *name);

/* Where the page begins that the request's cursor names; false where no list gave that cursor. */
bool read_cursor(const struct mcp_work *work, size_t *start);
/* Answers with the page of a list that the request's cursor names; the items are an array. */
void answer_items(struct mcp_work *work, const char *key, yyjson_mut_val *items);
/* The result of tools/call, made of what a tool answered; it belongs to the reply's document. */
yyjson_mut_val *tool_result(struct mcp_work *work, struct reply *reply);

/* A resource or a template as lists tell it. */
yyjson_mut_val *describe_named(yyjson_mut_doc *doc, const struct resource *resource,
                               const char *key);
/* Adds an extension to our capabilities; the object of its settings. */
yyjson_mut_val *add_extension(struct mcp_work *work, yyjson_mut_val *capabilities,
                              const char *name);

/* ---- lists.c: answers whose bytes are kept ---- */

/* Answers as the work's method does, with the bytes of an earlier answer where there is one. */
void lists_answer(struct mcp_work *work);
void lists_free(struct mcp *mcp);

/* ---- skills.c: what an agent should know ---- */

/* Whether the program has skills. */
bool skills_offered(const struct mcp *mcp);
/* Whether the client of a request knows them. */
bool skills_known(const struct mcp_work *work);
/* A capability of ours, for the modern handshake. */
void skills_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities);
/* The file of a skill that a URI names, or NULL. */
const struct skill_file *skills_file(const struct mcp *mcp, const char *uri);
/* Adds the skills to a list of resources, for a client that knows them. */
void skills_add_resources(struct mcp_work *work, yyjson_mut_val *items);
/* The methods. */
void skills_list(struct mcp_work *work);
void skills_get(struct mcp_work *work);
void skills_read_directory(struct mcp_work *work);

/* ---- apps.c: pages that clients show ---- */

/* Whether a resource is a page: lists name it only to clients that show it. */
bool apps_is_page(const struct resource *resource);
/* Whether the capabilities that a client declares say that it shows our pages. */
bool apps_declared(yyjson_val *capabilities);
/* The label of a client over HTTP that does, so that each of its requests says so again; NULL
 * without memory. */
const char *apps_label(struct mcp_work *work, const char *label);
/* Whether the client of a request shows our pages. */
bool apps_known(const struct mcp_work *work);
/* A capability of ours, for both handshakes, where the client shows apps. */
void apps_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities);
/* Whether this client's list of tools has this one now. */
bool apps_list_tool(const struct mcp_work *work, const struct entry *entry);
/* Adds what clients that show apps are told of a tool. */
void apps_describe_tool(struct mcp_work *work, const struct entry *entry, yyjson_mut_val *item);
/* Adds the pages to a list of resources, for a client that shows them. */
void apps_add_resources(struct mcp_work *work, yyjson_mut_val *items);
/* Adds to the content of a page how it wants to be shown. */
void apps_describe_content(struct mcp_work *work, const struct resource *resource,
                           yyjson_mut_val *content);

/* ---- tasks.c: calls that outlive their request ---- */

/* Whether the program has tools whose calls can be tasks. */
bool tasks_offered(const struct mcp *mcp);
/* Whether the client of a request knows tasks: in the modern era it says so with each request, in
 * the legacy one its version does. */
bool tasks_known(const struct mcp_work *work);
/* Decides whether a tools/call becomes a task. OK, or ERR_INVALID after answering. */
MUST_CHECK int tasks_read_call(struct mcp_work *work);
/* A capability of ours, for both handshakes. */
void tasks_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities);
/* Answers that the client has to know tasks for this. Always ERR_INVALID. */
int tasks_refuse(struct mcp_work *work);
/* Answers a tools/call with the task that it became. */
void tasks_answer_created(struct mcp_work *work, const struct job_view *view);
/* How long the client of a call waits (call/call.h); the context is the work. */
int64_t tasks_patience(void *context);
/* The methods. */
void tasks_get(struct mcp_work *work);
void tasks_result(struct mcp_work *work);
void tasks_list(struct mcp_work *work);
void tasks_cancel(struct mcp_work *work);
void tasks_update(struct mcp_work *work);

/* ---- client_questions.c: questions to the client ---- */

extern const struct call_hooks WORK_HOOKS; /* the context is the work */
/* Takes inputResponses and requestState from the params. OK, or ERR_INVALID after answering. */
MUST_CHECK int ask_read_inputs(struct mcp_work *work);
/* Answers with what the call has asked (ERR_NEED_INPUT) or with what the client lacks. */
void ask_answer(struct mcp_work *work, int status);
/* A JSON-RPC response from a client: hands it to whoever asked. */
void ask_receive_response(struct mcp_work *work, yyjson_val *message);

/* ---- notify.c: what goes to the client beside the answer ---- */

/* A notification or question to the client while the work runs. It has memory of its own: a call
 * may send any number, and a subscription lasts. */
struct mcp_message {
    struct arena *arena;
    yyjson_mut_doc *doc;
    yyjson_mut_val *params; /* to be filled in */
};

void message_begin(struct mcp_message *message);
/* A message with an id is a question. What cannot be built or sent is lost. */
void message_send(struct mcp_message *message, struct mcp_work *work, const char *method,
                  const char *id);

/* The hooks of a call (call/call.h); the context is the work. */
void notify_progress(void *context, double done, double total, const char *message);
void notify_log(void *context, const char *level, const char *text);
void listen_start(struct mcp_work *work);
void listen_stop(struct mcp_work *work);

#endif
