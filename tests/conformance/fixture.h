/* What the parts of the conformance program share.
 *
 * The MCP conformance suite expects the server under test to offer certain tools, resources and
 * prompts. They are here, and only they: each is registered as any tool of forage is and sees
 * nothing of the protocol, so that whatever the suite finds is about the code that forage itself
 * runs. */
#ifndef FORAGE_TESTS_CONFORMANCE_FIXTURE_H
#define FORAGE_TESTS_CONFORMANCE_FIXTURE_H

#include "mcp/mcp.h"
#include "registry/registry.h"

/* ---- definitions, put together by the compiler ---- */

#define QUICK "true"
#define SLOW  "false" /* whatever waits, asks or reports progress */

#define DEFINITION(name, description, quick, input_schema)                                         \
    "{\"name\":\"" name "\",\"description\":\"" description "\",\"inputSchema\":" input_schema     \
    ",\"forage\":{\"group\":\"test\",\"quick\":" quick ",\"timeoutMs\":600000}}"

#define ARGUMENTS(properties, required)                                                            \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required                 \
    "],\"additionalProperties\":false}"
#define NO_ARGUMENTS ARGUMENTS("", "")

#define TEXT_ARGUMENT(name) "\"" name "\":{\"type\":\"string\"}"
#define TEXTS_ARGUMENT(name, most)                                                                 \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":" most "}"
#define NUMBER_ARGUMENT(name, most)                                                                \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":" most "}"

/* ---- the parts; each registers what it has and returns a status ---- */

int add_content_tools(struct registry *registry);
int add_speaking_tools(struct registry *registry);
int add_asking_tools(struct registry *registry);
int add_round_tools(struct registry *registry);
int add_change_tools(struct registry *registry);
int add_stuck_tools(struct registry *registry);
int add_spending_tools(struct registry *registry);
int add_paced_tools(struct registry *registry);
int add_model_tools(struct registry *registry);
int add_task_tools(struct registry *registry);
int add_resources(struct registry *registry);
int add_prompts(struct registry *registry);

int add_tools(struct registry *registry, const struct tool *tools, size_t count);
/* Whom the change tools tell; before the first call. */
void change_tools_use(struct mcp *mcp);

/* ---- content blocks, for tools and prompts ---- */

extern const char RED_PIXEL_PNG[]; /* base64 */
extern const char SILENCE_WAV[];   /* base64 */

/* `text` must outlive the document. */
yyjson_mut_val *text_block(yyjson_mut_doc *doc, const char *text);
/* An image or audio. */
yyjson_mut_val *media_block(yyjson_mut_doc *doc, const char *type, const char *base64,
                            const char *mime);
yyjson_mut_val *resource_block(yyjson_mut_doc *doc, const char *uri, const char *mime,
                               const char *text);

/* Adds a block to what a tool answers. */
void reply_block(struct reply *reply, yyjson_mut_val *block);
/* Adds a text block. OK, or ERR_NOMEM. */
int reply_text(struct call *call, struct reply *reply, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- questions and what came back ---- */

/* Asks the client; a status as of call_ask(), with the parsed response. */
int ask_client(struct call *call, const char *key, const char *method, const char *params_json,
               yyjson_val **response);
/* A member of the form that a user filled in, "" where it was not. */
const char *form_value(yyjson_val *response, const char *name);
/* The text that a model wrote, "" where there is none. */
const char *sampled_text(yyjson_val *response);
/* A value as JSON text, "null" where there is none. */
const char *as_json(struct call *call, yyjson_val *value);

#endif
