/* Content blocks, and questions to the client. */
#include "fixture.h"

#include "core/limits.h"
#include "core/log.h"
#include "registry/schema.h"

#include <stdarg.h>
#include <string.h>

/* What is compiled in is checked before it runs: forage's own definitions by a unit test, these
 * here. */
static int check_definition(const char *definition)
{
    char problem[400] = "it is not JSON";
    struct arena *arena = arena_new(MIB(1));
    yyjson_doc *doc = arena ? json_parse(arena, definition, strlen(definition), NULL) : NULL;
    yyjson_val *schema = yyjson_obj_get(yyjson_doc_get_root(doc), "inputSchema");
    int status = schema ? schema_check(schema, problem, sizeof problem) : ERR_INVALID;
    if (status != OK) {
        log_error(NULL, "%s: %s", definition, problem);
    }
    arena_free(arena);
    return status;
}

int add_tools(struct registry *registry, const struct tool *tools, size_t count)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < count; i++) {
        status = check_definition(tools[i].definition);
        if (status == OK) {
            status = registry_add_tool(registry, &tools[i]);
        }
    }
    return status;
}

/* ---- content blocks ---- */

const char RED_PIXEL_PNG[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ"
    "/pLvAAAAAElFTkSuQmCC";
const char SILENCE_WAV[] =
    "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

static yyjson_mut_val *block_of(yyjson_mut_doc *doc, const char *type)
{
    yyjson_mut_val *block = yyjson_mut_obj(doc);
    json_add_string(doc, block, "type", type);
    return block;
}

yyjson_mut_val *text_block(yyjson_mut_doc *doc, const char *text)
{
    yyjson_mut_val *block = block_of(doc, "text");
    json_add_string(doc, block, "text", text);
    return block;
}

yyjson_mut_val *media_block(yyjson_mut_doc *doc, const char *type, const char *base64,
                            const char *mime)
{
    yyjson_mut_val *block = block_of(doc, type);
    json_add_string(doc, block, "data", base64);
    json_add_string(doc, block, "mimeType", mime);
    return block;
}

yyjson_mut_val *resource_block(yyjson_mut_doc *doc, const char *uri, const char *mime,
                               const char *text)
{
    yyjson_mut_val *resource = yyjson_mut_obj(doc);
    json_add_string(doc, resource, "uri", uri);
    json_add_string(doc, resource, "mimeType", mime);
    json_add_string(doc, resource, "text", text);
    yyjson_mut_val *block = block_of(doc, "resource");
    yyjson_mut_obj_add_val(doc, block, "resource", resource);
    return block;
}

void reply_block(struct reply *reply, yyjson_mut_val *block)
{
    if (!reply->content) {
        reply->content = yyjson_mut_arr(reply->doc);
    }
    yyjson_mut_arr_append(reply->content, block);
}

int reply_text(struct call *call, struct reply *reply, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(call_arena(call), format, args);
    va_end(args);
    if (!text) {
        return ERR_NOMEM;
    }
    reply_block(reply, text_block(reply->doc, text));
    return OK;
}

/* ---- questions ---- */

int ask_client(struct call *call, const char *key, const char *method, const char *params_json,
               yyjson_val **response)
{
    const char *text = NULL;
    *response = NULL;
    int status = params_json ? call_ask(call, key, method, params_json, &text) : ERR_NOMEM;
    if (status == OK) {
        *response = yyjson_doc_get_root(json_parse(call_arena(call), text, strlen(text), NULL));
        status = *response ? OK : ERR_NOMEM;
    }
    return status;
}

const char *as_json(struct call *call, yyjson_val *value)
{
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    const char *copy = NULL;
    if (value && json_write_immutable(&text, call_arena(call), value) == OK) {
        copy = arena_strdup(call_arena(call), text.data);
    }
    buf_done(&text);
    return copy ? copy : "null";
}

const char *form_value(yyjson_val *response, const char *name)
{
    const char *value = json_string(yyjson_obj_get(response, "content"), name);
    return value ? value : "";
}

const char *sampled_text(yyjson_val *response)
{
    const char *text = json_string(yyjson_obj_get(response, "content"), "text");
    return text ? text : "";
}
