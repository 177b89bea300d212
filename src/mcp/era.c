/* Which era a message belongs to, decided per message in this order:
 *
 *   1. `initialize` without a modern envelope is legacy; with a modern version header it
 * contradicts itself.
 *   2. A protocolVersion in _meta makes it modern: then headers must agree with the body, the
 * version must be known, and the client must say what it can do.
 *   3. A modern version header without that is a modern request that lacks its envelope.
 *   4. Everything else is legacy.
 *
 * On stdio `server/discover` is answered even without an envelope: an error there would make
 * clients remember this server as legacy. */
#include "mcp/internal.h"
#include "text/base64.h"
#include "text/text.h"

#include <string.h>

static const char *const LEGACY_VERSIONS[] = {NEWEST_LEGACY_VERSION, "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

const char *era_legacy_version(const char *version)
{
    for (size_t i = 0; version && i < sizeof LEGACY_VERSIONS / sizeof *LEGACY_VERSIONS; i++) {
        if (strcmp(version, LEGACY_VERSIONS[i]) == 0) {
            return LEGACY_VERSIONS[i];
        }
    }
    return NULL;
}

/* Lists the modern version alone to a modern client: server/discover promises it no others. */
static void add_versions(yyjson_mut_doc *doc, yyjson_mut_val *array, bool modern)
{
    yyjson_mut_arr_add_str(doc, array, MODERN_VERSION);
    for (size_t i = 0; !modern && i < sizeof LEGACY_VERSIONS / sizeof *LEGACY_VERSIONS; i++) {
        yyjson_mut_arr_add_str(doc, array, LEGACY_VERSIONS[i]);
    }
}

static int refuse_version(struct mcp_work *work, const char *requested)
{
    yyjson_mut_val *data = yyjson_mut_obj(work->doc);
    yyjson_mut_val *supported = yyjson_mut_arr(work->doc);
    add_versions(work->doc, supported, work->modern);
    yyjson_mut_obj_add_val(work->doc, data, "supported", supported);
    char *repaired = arena_strdup(work->arena, requested);
    if (repaired) {
        text_repair(repaired); /* a header may hold any bytes */
    }
    json_add_string(work->doc, data, "requested", repaired);
    return answer_error(work, RPC_UNSUPPORTED_VERSION, data,
                        "unsupported protocol version \"%.64s\"", requested);
}

/* A header may carry text beyond ASCII as =?base64?...?=. NULL when that is not base64. */
static const char *decode_header(struct mcp_work *work, const char *value)
{
    static const char START[] = "=?base64?";
    size_t length = strlen(value);
    if (strncmp(value, START, sizeof START - 1) != 0 || length < sizeof START - 1 + 2 ||
        strcmp(value + length - 2, "?=") != 0) {
        return value;
    }
    size_t decoded_length;
    const char *decoded = base64_decode(work->arena, value + sizeof START - 1,
                                        length - (sizeof START - 1) - 2, &decoded_length);
    return decoded && strlen(decoded) == decoded_length ? decoded : NULL;
}

static int mismatch(struct mcp_work *work, const char *header, const char *came, const char *body)
{
    if (!came) {
        answer_error(work, RPC_HEADER_MISMATCH, NULL, "the %s header is missing; it must be \"%s\"",
                     header, body);
    } else {
        answer_error(work, RPC_HEADER_MISMATCH, NULL,
                     "the %s header says \"%.128s\", the body says \"%.128s\"", header, came, body);
    }
    return ERR_INVALID;
}

static int check_header(struct mcp_work *work, const char *header, const char *came,
                        const char *body)
{
    const char *decoded = came ? decode_header(work, came) : NULL;
    if (!decoded || strcmp(decoded, body) != 0) {
        return mismatch(work, header, came, body);
    }
    return OK;
}

/* What a mirrored parameter's value looks like in a header; NULL when it cannot be mirrored. */
static const char *as_header(struct mcp_work *work, yyjson_val *value)
{
    if (yyjson_is_str(value)) {
        return yyjson_get_str(value);
    }
    if (yyjson_is_bool(value)) {
        return yyjson_get_bool(value) ? "true" : "false";
    }
    return yyjson_is_num(value) ? json_text_of(work->arena, value) : NULL;
}

/* Parameters whose schema has x-mcp-header are mirrored in Mcp-Param-NAME and must agree. */
static int check_param_headers(struct mcp_work *work)
{
    const char *tool = json_string(work->params, "name");
    const struct entry *entry = tool ? registry_tool(work->mcp->options.registry, tool) : NULL;
    yyjson_val *arguments = yyjson_obj_get(work->params, "arguments");
    yyjson_val *key;
    yyjson_obj_iter each =
        yyjson_obj_iter_with(yyjson_obj_get(entry ? entry->input_schema : NULL, "properties"));
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *property = yyjson_obj_iter_get_val(key);
        const char *header = json_string(property, "x-mcp-header");
        yyjson_val *value = yyjson_obj_get(arguments, yyjson_get_str(key));
        if (!header || !work->headers->param) {
            continue;
        }
        const char *came = work->headers->param(work->headers->context, header);
        const char *body = value && !yyjson_is_null(value) ? as_header(work, value) : NULL;
        if (!body && !came) {
            continue;
        }
        int status = check_header(work, header, came, body ? body : "");
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

/* The member of params that Mcp-Name repeats. */
static const char *named_thing(const struct mcp_work *work, const char *method)
{
    if (strcmp(method, "tools/call") == 0 || strcmp(method, "prompts/get") == 0) {
        return json_string(work->params, "name");
    }
    if (strcmp(method, "resources/read") == 0) {
        return json_string(work->params, "uri");
    }
    if (strcmp(method, "tasks/get") == 0 || strcmp(method, "tasks/update") == 0 ||
        strcmp(method, "tasks/cancel") == 0) {
        return json_string(work->params, "taskId");
    }
    return NULL;
}

static int check_modern_headers(struct mcp_work *work, const char *method)
{
    int status = check_header(work, "Mcp-Method", work->headers->method, method);
    const char *name = named_thing(work, method);
    if (status == OK && name) {
        status = check_header(work, "Mcp-Name", work->headers->name, name);
    }
    if (status == OK && strcmp(method, "tools/call") == 0) {
        status = check_param_headers(work);
    }
    return status;
}

/* The envelope is wrong, which is the HTTP request's fault too. Always ERR_INVALID. */
static int refuse_envelope(struct mcp_work *work, const char *member, const char *must)
{
    answer_error(work, RPC_INVALID_PARAMS, NULL, "_meta[\"%s\"] must be %s", member, must);
    work->http_status = 400;
    return ERR_INVALID;
}

static int enter_modern(struct mcp_work *work, const char *method)
{
    const char *version = json_string(work->meta, META_VERSION);
    const char *header = work->over_http ? work->headers->protocol_version : version;
    work->modern = true;
    if (!version) {
        return refuse_envelope(work, META_VERSION, "a string");
    }
    if (!header || strcmp(header, version) != 0) {
        return mismatch(work, "MCP-Protocol-Version", header, version);
    }
    if (strcmp(version, MODERN_VERSION) != 0) {
        return refuse_version(work, version);
    }
    if (!yyjson_is_obj(yyjson_obj_get(work->meta, META_CAPABILITIES))) {
        return refuse_envelope(work, META_CAPABILITIES, "an object");
    }
    return work->over_http ? check_modern_headers(work, method) : OK;
}

int era_decide(struct mcp_work *work, const char *method)
{
    bool envelope = yyjson_obj_get(work->meta, META_VERSION) != NULL;
    const char *header = work->over_http ? work->headers->protocol_version : NULL;
    bool modern_header = header && strcmp(header, MODERN_VERSION) == 0;
    if (strcmp(method, "initialize") == 0 && !envelope) {
        if (modern_header) {
            return answer_error(
                work, RPC_HEADER_MISMATCH, NULL,
                "initialize belongs to the legacy protocol, but the MCP-Protocol-Version "
                "header says %s",
                header);
        }
        return OK;
    }
    if (envelope) {
        return enter_modern(work, method);
    }
    if (modern_header) {
        work->modern = true;
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "a %s request needs _meta[\"%s\"] and _meta[\"%s\"]", MODERN_VERSION,
                     META_VERSION, META_CAPABILITIES);
        work->http_status = 400;
        return ERR_INVALID;
    }
    if (!work->over_http && strcmp(method, "server/discover") == 0) {
        work->modern = true;
        return OK;
    }
    return header && !era_legacy_version(header) ? refuse_version(work, header) : OK;
}
