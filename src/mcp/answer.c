/* Building what goes back to the client. */
#include "core/redact.h"
#include "mcp/internal.h"
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char MCP_LINE_TOO_LONG[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
    "\"the message is longer than 4 MiB\"}}";

/* How long a client may keep a list or a resource: they change only with a new process. */
#define CACHE_MS 300000

/* The answer when no other could be built: most often the call's arena is full, and there is memory
 * enough to say for which request. */
static void answer_out_of_memory(struct mcp_work *work)
{
    struct arena *spare = arena_new(KIB(16));
    buf_done(&work->answer);
    buf_init(&work->answer, LIMIT_CALL_ARENA_BYTES);
    buf_puts(&work->answer, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (!spare || !work->id || json_write_immutable(&work->answer, spare, work->id) != OK) {
        buf_puts(&work->answer, "null");
    }
    buf_puts(&work->answer,
             ",\"error\":{\"code\":-32603,\"message\":\"out of memory: the answer is "
             "too large; ask for less at once\"}}");
    arena_free(spare);
    if (buf_error(&work->answer) != OK) {
        buf_done(&work->answer);
    }
    work->http_status = 500;
}

static void write_answer(struct mcp_work *work, yyjson_mut_val *envelope)
{
    buf_clear(&work->answer);
    int status = work->doc ? json_write(&work->answer, work->arena, envelope) : ERR_NOMEM;
    redact_buf(&work->answer, 0, work->words);
    if (status != OK || buf_error(&work->answer) != OK) {
        answer_out_of_memory(work);
    }
}

static yyjson_mut_val *envelope_for(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *envelope = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, envelope, "jsonrpc", "2.0");
    yyjson_mut_obj_add_val(doc, envelope, "id",
                           work->id ? json_copy(doc, work->id) : yyjson_mut_null(doc));
    return envelope;
}

/* What every modern result carries. */
static void add_modern_fields(struct mcp_work *work, yyjson_mut_val *result)
{
    yyjson_mut_doc *doc = work->doc;
    if (!yyjson_mut_obj_get(result, "resultType")) {
        yyjson_mut_obj_add_str(doc, result, "resultType", "complete");
    }
    yyjson_mut_val *meta = yyjson_mut_obj_get(result, "_meta");
    meta = meta ? meta : yyjson_mut_obj_add_obj(doc, result, "_meta");
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, meta, META_SERVER_INFO);
    yyjson_mut_obj_add_str(doc, info, "name", work->mcp->options.name);
    yyjson_mut_obj_add_str(doc, info, "version", work->mcp->options.version);
    if (work->method && work->method->keeping != ANEW) {
        yyjson_mut_obj_add_int(doc, result, "ttlMs", CACHE_MS);
        yyjson_mut_obj_add_str(doc, result, "cacheScope", "private");
    }
}

void answer_result(struct mcp_work *work, yyjson_mut_val *result)
{
    if (work->modern) {
        add_modern_fields(work, result);
    }
    yyjson_mut_val *envelope = envelope_for(work);
    yyjson_mut_obj_add_val(work->doc, envelope, "result", result);
    work->http_status = 200;
    write_answer(work, envelope);
}

static const struct {
    int code;
    int legacy_status;
    int modern_status;
} HTTP_STATUS[] = {
    {RPC_PARSE, 400, 400},
    {RPC_INVALID_REQUEST, 400, 400},
    {RPC_METHOD_NOT_FOUND, 200, 404},
    {RPC_INTERNAL, 200, 200},
    {RPC_BUSY, 503, 503},
    {RPC_HEADER_MISMATCH, 400, 400},
    {RPC_MISSING_CAPABILITY, 400, 400},
    {RPC_UNSUPPORTED_VERSION, 400, 400},
};

static int http_status_of(int code, bool modern)
{
    for (size_t i = 0; i < sizeof HTTP_STATUS / sizeof *HTTP_STATUS; i++) {
        if (HTTP_STATUS[i].code == code) {
            return modern ? HTTP_STATUS[i].modern_status : HTTP_STATUS[i].legacy_status;
        }
    }
    return 200;
}

int answer_error(struct mcp_work *work, int code, yyjson_mut_val *data, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *message = arena_vprintf(work->arena, format, args);
    va_end(args);
    if (message) {
        text_repair(message);
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *envelope = envelope_for(work);
    yyjson_mut_val *error = yyjson_mut_obj_add_obj(doc, envelope, "error");
    yyjson_mut_obj_add_int(doc, error, "code", code);
    yyjson_mut_obj_add_str(doc, error, "message", message ? message : "out of memory");
    if (!data) {
        data = yyjson_mut_obj(doc);
    }
    yyjson_mut_obj_add_str(doc, data, "requestId", call_request_id(work->call));
    yyjson_mut_obj_add_val(doc, error, "data", data);
    work->http_status = http_status_of(code, work->modern);
    write_answer(work, envelope);
    return ERR_INVALID;
}
