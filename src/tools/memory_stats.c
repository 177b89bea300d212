/* memory_stats: which namespaces there are, and what they hold. */
#include "embedded.h"
#include "guard/callers.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

#include <string.h>

static yyjson_mut_val *describe(yyjson_mut_doc *doc, const struct memory_namespace_stats *stats)
{
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, item, "name", stats->name);
    yyjson_mut_obj_add_bool(doc, item, "shared", stats->shared);
    yyjson_mut_obj_add_sint(doc, item, "memories", stats->memories);
    yyjson_mut_obj_add_sint(doc, item, "sessions", stats->sessions);
    yyjson_mut_obj_add_sint(doc, item, "text_bytes", stats->text_bytes);
    if (stats->memories > 0) {
        fields_write_time(doc, item, "oldest_at", stats->oldest_ms);
        fields_write_time(doc, item, "newest_at", stats->newest_ms);
    }
    return item;
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_stats stats;
    const char *only = json_string(arguments, "namespace");
    int status = memory_stats(call, &stats);
    if (status != OK) {
        return status;
    }
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *data = memory_common_data(reply);
    yyjson_mut_val *namespaces = yyjson_mut_arr(doc);
    yyjson_mut_obj_add_str(doc, data, "backend", stats.backend);
    yyjson_mut_obj_add_int(doc, data, "schema_version", stats.schema_version);
    /* How much all callers keep together is nobody's business but the operator's. */
    if (stats.file_bytes > 0 && call_caller(call) == caller_local()) {
        yyjson_mut_obj_add_sint(doc, data, "file_bytes", stats.file_bytes);
    }
    for (size_t i = 0; i < stats.namespace_count; i++) {
        if (!only || strcmp(only, stats.namespaces[i].name) == 0) {
            yyjson_mut_arr_append(namespaces, describe(doc, &stats.namespaces[i]));
        }
    }
    yyjson_mut_obj_add_val(doc, data, "namespaces", namespaces);
    return data ? OK : ERR_NOMEM;
}

const struct tool TOOL_MEMORY_STATS = {
    .definition = definition_memory_stats,
    .run = run,
    .ready = memory_common_ready,
};
