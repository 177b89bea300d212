/* Calls of tools of MCP servers: one request, without a session, and one answer, as a document or
 * as a stream of events. */
#include "websearch/open/sources.h"

#include "core/status.h"

#include <string.h>

/* ---- asking ---- */

void tool_call_start(struct provider_request *request, const char *tool)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *call = request->envelope = request->members;
    yyjson_mut_obj_add_str(doc, call, "jsonrpc", "2.0");
    yyjson_mut_obj_add_uint(doc, call, "id", 1);
    yyjson_mut_obj_add_str(doc, call, "method", "tools/call");
    yyjson_mut_val *params = yyjson_mut_obj_add_obj(doc, call, "params");
    yyjson_mut_obj_add_str(doc, params, "name", tool);
    request->members = yyjson_mut_obj_add_obj(doc, params, "arguments");
}

/* ---- reading ---- */

/* The result in a message; NULL when it is a notification, an error, or a tool that failed. */
static yyjson_val *result_of(yyjson_doc *doc)
{
    yyjson_val *result = yyjson_obj_get(yyjson_doc_get_root(doc), "result");
    return yyjson_is_true(yyjson_obj_get(result, "isError")) ? NULL : result;
}

/* The result in one line of a stream of events, if it is there. */
static yyjson_val *result_of_line(struct arena *arena, const char *line, size_t length)
{
    static const char FIELD[] = "data:";
    if (length < sizeof FIELD || memcmp(line, FIELD, sizeof FIELD - 1) != 0) {
        return NULL;
    }
    line += sizeof FIELD - 1;
    return result_of(json_parse(arena, line, length - (sizeof FIELD - 1), NULL));
}

yyjson_val *tool_call_result(struct arena *arena, const char *body, size_t length)
{
    if (length && body[strspn(body, " \t\r\n")] == '{') {
        return result_of(json_parse(arena, body, length, NULL));
    }
    yyjson_val *result = NULL;
    for (const char *at = body, *end = body + length; at < end && !result;) {
        size_t line = strcspn(at, "\r\n");
        result = result_of_line(arena, at, line);
        at += line + 1;
    }
    return result;
}

/* The first text among what a tool gave: before it may be pictures. */
static const char *text_of(yyjson_val *result)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(result, "content"), index, max, item)
    {
        const char *text = json_string(item, "text");
        if (text) {
            return text;
        }
    }
    return NULL;
}

const char *tool_call_text(struct arena *arena, const char *body, size_t length)
{
    return text_of(tool_call_result(arena, body, length));
}

yyjson_val *tool_call_object(struct arena *arena, const char *body, size_t length)
{
    yyjson_val *result = tool_call_result(arena, body, length);
    yyjson_val *object = yyjson_obj_get(result, "structuredContent");
    if (yyjson_is_obj(object)) {
        return object;
    }
    const char *text = text_of(result);
    yyjson_doc *doc = text ? json_parse(arena, text, strlen(text), NULL) : NULL;
    return yyjson_doc_get_root(doc);
}
