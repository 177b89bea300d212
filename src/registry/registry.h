/* The registry: every tool, resource and prompt that the program offers, and the one way to run
 * them. The doors (MCP, REST, the command line) differ in how they spell a request and an answer;
 * what happens in between is here, so that a tool behaves the same however it is reached.
 *
 * A tool is its definition in JSON (src/tools/NAME.json: name, group, title, description,
 * annotations, inputSchema, outputSchema, and under "forage" whether it is quick, its deadline,
 * what lists of tools say of it, and how its result becomes text) and its handler in C
 * (src/tools/). The definition is embedded at build time and is the source of the documentation,
 * the OpenAPI description and the checks on arguments. */
#ifndef FORAGE_REGISTRY_REGISTRY_H
#define FORAGE_REGISTRY_REGISTRY_H

#include "call/call.h"
#include "core/redact.h"
#include "core/status.h"
#include "registry/kept.h"
#include "registry/trying.h"
#include "text/json.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a tool, a resource and a prompt are ---- */

/* What a handler fills in. Values belong to `doc`, which lives in the call's arena. */
struct reply {
    yyjson_mut_doc *doc;
    yyjson_mut_val *structured; /* an object; the text block is the same JSON */
    yyjson_mut_val
        *content;  /* an array of MCP content blocks to send instead of that text, or NULL */
    bool is_error; /* a failure that the handler described itself, in `structured` or `content` */
    enum words words;   /* whose they are, for whoever lets them out; registry_run() says it */
    int64_t kept_at_ms; /* of an answer that was stored: when it was new, since 1970; 0: it is */
    bool own;           /* the handler says that it is made of what its caller stored */
    const struct job_view *job; /* that it is the result of, or where that stands; or NULL */
    const struct entry *entry;  /* whose result it is, where that is another tool's; or NULL */
};

/* Whether a tool can work. `lacks` is what to set or install, in the registry's own words. */
struct readiness {
    bool ready;
    char lacks[400];
};

struct tool {
    const char *definition; /* JSON text */
    /* OK, ERR_FAILED after call_fail(), ERR_NEED_INPUT after call_ask(), or any status. The
     * arguments have passed the input schema and its defaults are filled in. */
    int (*run)(struct call *call, yyjson_val *arguments, struct reply *reply);
    /* NULL: always ready. Must be quick; called at any time. */
    void (*ready)(struct readiness *readiness);
};

/* One content of a resource: text, or bytes in base64. */
struct resource_content {
    const char *uri;  /* NULL: the one that was asked for */
    const char *mime; /* NULL: the resource's */
    const char *text;
    const char *blob_base64;
};

typedef int (*completer)(struct call *call, const char *argument, const char *prefix,
                         yyjson_mut_doc *doc, yyjson_mut_val *values);

struct resource {
    const char *uri; /* with {variables}: a template */
    const char *name;
    const char *title;
    const char *description;
    const char *mime;
    int (*read)(struct call *call, const char *uri, struct resource_content *content);
    completer complete; /* for a template's variables, or NULL */
};

struct prompt_argument {
    const char *name;
    const char *title;
    const char *description;
    bool required;
};

struct prompt {
    const char *name;
    const char *title;
    const char *description;
    const struct prompt_argument *arguments; /* ends with a NULL name; may be NULL */
    /* Fills `messages`, an array of MCP prompt messages. */
    int (*get)(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
               yyjson_mut_val *messages);
    completer complete; /* or NULL */
};

/* One file of a skill, by its path below the skill's folder. */
struct skill_file {
    const char *path;
    const char *mime;
    const char *text;
};

/* What an agent should know to use the program well, in the form of the Agent Skills specification:
 * a folder of files. The first is SKILL.md; those of one folder stand together. */
struct skill {
    const char *name;               /* as the head of SKILL.md has it */
    const struct skill_file *files; /* ends with a NULL path */
};

/* ---- the registry ---- */

struct registry;

struct registry *registry_new(void);
struct registry *registry_free(struct registry *registry);
/* Definitions must outlive the registry, and come with the program: their schemas are sound, as
 * tests have found. ERR_INVALID for one that does not parse, lacks a part or repeats a name. */
MUST_CHECK int registry_add_tool(struct registry *registry, const struct tool *tool);
MUST_CHECK int registry_add_resource(struct registry *registry, const struct resource *resource);
MUST_CHECK int registry_add_prompt(struct registry *registry, const struct prompt *prompt);
MUST_CHECK int registry_add_skill(struct registry *registry, const struct skill *skill);
/* Keeps the tools that `selection` names ("web,memory,-memory_delete": names and groups, "all", a
 * minus takes away, a list that starts with a minus starts from all). "ready" among them leaves the
 * tools that cannot work out of lists; they still answer. ERR_INVALID with the unknown word in
 * `problem`. NULL or "" keeps all. */
MUST_CHECK int registry_select(struct registry *registry, const char *selection, char *problem,
                               size_t size);

/* What a tool has done so far. */
struct tool_counts {
    _Atomic uint64_t calls;
    _Atomic uint64_t failures;
    _Atomic uint64_t total_us;
    _Atomic uint32_t running;
};

/* A registered tool, with what its definition says. */
struct entry {
    const struct tool *tool;
    const char *name, *group, *title, *description;
    const char *called;  /* by clients of MCP: its name, or the one that its profile has for it */
    const char *profile; /* the contract that it is made for (config/profile.h); NULL: none */
    yyjson_val *definition; /* the whole object */
    yyjson_val *input_schema, *output_schema;
    yyjson_val *annotations;
    bool listed;          /* lists have it; else it only answers to its name */
    bool quick;           /* never waits: runs on the connection's thread */
    bool job;             /* its calls are kept, and may outlive their clients */
    bool only_job;        /* and nobody can have it who does not take a job for an answer */
    bool outside;         /* asks the world outside (openWorldHint): its calls are recorded */
    bool local;           /* neither does so nor waits for what does: kept workers serve it too */
    bool paid;            /* spends money: a budget may refuse it */
    int64_t keep_ms;      /* its result may be given again to the same question; 0: never */
    bool own;             /* its result is made of what its caller stored */
    bool upfront;         /* clients that load tools on demand should have it from the start */
    bool large;           /* its result may be as large as results may be */
    yyjson_val *ui;       /* what clients that show apps are told of it (mcp/apps.c), or NULL */
    const char *body;     /* the member of its result that is a long text, or NULL */
    yyjson_val *unsaid;   /* members that repeat what others say: text leaves them out */
    yyjson_val *one_line; /* lists of small objects: text has one line for all of one */
    const char *counted;  /* the parameter each of whose items counts as a call; NULL: none */
    int64_t timeout_ms;   /* for the whole call */
    struct tool_counts *counts;
};

/* How an admitted call ended. */
struct outcome {
    yyjson_val *arguments; /* with defaults filled in */
    const struct reply *reply;
    bool failed;
    bool recalled; /* the answer is that of an earlier call */
    int64_t took_us;
    int64_t nano_usd; /* of a call that was kept: what all its runs cost; else negative */
};

/* What stands around every tool: limits, budgets, cached answers, records. The registry knows only
 * this of it. */
struct gate {
    void *context;
    /* Whether a call may run now, which counts as one and so many `more`. OK, or ERR_FAILED after
     * call_fail(), or any status. */
    int (*admit)(void *context, struct call *call, const struct entry *entry, unsigned more);
    /* An earlier answer to the same question, in reply->structured; false: there is none. May be
     * NULL. Only for tools whose results are kept. */
    bool (*recall)(void *context, struct call *call, const struct entry *entry,
                   yyjson_val *arguments, struct reply *reply);
    /* After a call that was admitted, before its answer goes out. May be NULL. */
    void (*settle)(void *context, struct call *call, const struct entry *entry,
                   const struct outcome *outcome);
};

#define MOST_TOOLS     64
#define MOST_RESOURCES 32
#define MOST_PROMPTS   32
#define MOST_SKILLS    8

/* For everybody to read; registry.c fills it, and whoever has a gate sets that. */
struct registry {
    struct arena *arena; /* of definitions */
    struct gate gate;
    struct job_host host; /* who keeps calls; all NULL: nobody does, and tools run as they are */
    struct trying trying; /* who tries something with calls; all NULL: nobody */
    bool only_ready;      /* lists leave out the tools that cannot work */
    const char *profile;  /* whose tools clients of MCP see, and no others; NULL: those of none */
    size_t tool_count;
    size_t resource_count;
    size_t prompt_count;
    size_t skill_count;
    struct entry tools[MOST_TOOLS];
    struct tool_counts counts[MOST_TOOLS];
    const struct resource *resources[MOST_RESOURCES];
    const struct prompt *prompts[MOST_PROMPTS];
    const struct skill *skills[MOST_SKILLS];
};

const struct entry *registry_tool(const struct registry *registry, const char *name);
bool resource_is_template(const struct resource *resource);
/* The resource with that URI, or the template that matches it. */
const struct resource *registry_resource(const struct registry *registry, const char *uri);
const struct prompt *registry_prompt(const struct registry *registry, const char *name);

/* ---- what clients see of the tools (listing.c) ---- */

/* Whether clients of MCP can have a tool: whether it is of the profile that they see. */
bool registry_is_offered(const struct registry *registry, const struct entry *entry);
/* The tool that they call so, or NULL. */
const struct entry *registry_offered(const struct registry *registry, const char *called);
/* Whether a tool can work now. */
bool registry_is_ready(const struct entry *entry);
/* Whether lists of tools have this one now. */
bool registry_is_listed(const struct registry *registry, const struct entry *entry);
/* A tool's definition as clients see it: what tells it from the others and how to call it, in as
 * few words as possible, since every conversation pays for them. The documentation and the OpenAPI
 * description have the whole. */
yyjson_mut_val *registry_public_definition(yyjson_mut_doc *doc, const struct entry *entry);
/* The whole definition, without what is only for us. */
yyjson_mut_val *registry_whole_definition(yyjson_mut_doc *doc, const struct entry *entry);
/* "web_search finds pages; get_content reads a URL. ": what each listed tool is for, in the arena;
 * "" where no definition says it. NULL without memory. */
const char *registry_uses(const struct registry *registry, struct arena *arena);

/* What was asked for in these arguments, as a person would say it: the query, the topic, the URL,
 * the first of several;
 * NULL where there is no such argument. */
const char *registry_query_of(yyjson_val *arguments);

/* Runs a tool: checks the arguments, the caller's limits and the deadline, calls the handler,
 * counts and logs. OK, or ERR_NEED_INPUT, or ERR_UNSUPPORTED; any failure is OK with `reply`
 * holding {success: false, error: {...}} and is_error set, and the code also in call_error(). */
MUST_CHECK int registry_run(struct registry *registry, const struct entry *entry, struct call *call,
                            yyjson_val *arguments, struct reply *reply);

/* Asks the gate whether a call may run now, for what is done beside the tools but counts as one of
 * them. OK, or ERR_FAILED after call_fail(). */
MUST_CHECK int registry_admit(struct registry *registry, const struct entry *entry,
                              struct call *call);

/* Builds {success: false, error: {code, message, details?}} from the call's error. */
yyjson_mut_val *registry_error_body(struct call *call, yyjson_mut_doc *doc);

#endif
