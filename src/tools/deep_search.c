/* deep_search: many rounds of research by a sub-agent. */
#include "config/config.h"
#include "embedded.h"
#include "research/research.h"
#include "tools/tools.h"

/* The caller may ask for fewer rounds than the server allows, not for more. */
static int rounds(yyjson_val *arguments)
{
    int64_t most = config_int("FORAGE_RESEARCH_ROUNDS");
    yyjson_val *wanted = yyjson_obj_get(arguments, "maxIterations");
    int64_t asked = wanted ? (int64_t)yyjson_get_num(wanted) : most;
    return (int)(asked < most ? asked : most);
}

static void describe(struct call *call, const struct research_request *request,
                     const struct research_report *report, struct reply *reply)
{
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *metadata = research_metadata(call, doc, report);
    yyjson_mut_val *queries = yyjson_mut_arr(doc);
    for (size_t i = 0; i < report->query_count; i++) {
        yyjson_mut_arr_add_str(doc, queries, report->queries[i]);
    }
    yyjson_mut_obj_add_strcpy(doc, metadata, "topic", request->question);
    yyjson_mut_obj_add_strcpy(doc, metadata, "depth", request->depth);
    yyjson_mut_obj_add_val(doc, metadata, "search_queries_used", queries);
    yyjson_mut_obj_add_int(doc, metadata, "iterations", report->rounds);
    reply->structured = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, reply->structured, "success", true);
    yyjson_mut_obj_add_str(doc, reply->structured, "report", report->text);
    yyjson_mut_obj_add_bool(doc, reply->structured, "verified", report->verified);
    json_add_string(doc, reply->structured, "untrusted", RESEARCH_UNTRUSTED);
    yyjson_mut_obj_add_val(doc, reply->structured, "metadata", metadata);
}

/* An answer that holds no report is handed on as it is, with a warning. */
static void describe_raw(struct call *call, const char *raw_output, struct reply *reply)
{
    reply->structured = registry_error_body(call, reply->doc);
    yyjson_mut_obj_add_str(reply->doc, reply->structured, "raw_output", raw_output);
    yyjson_mut_obj_add_bool(reply->doc, reply->structured, "parse_warning", true);
    reply->is_error = true;
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct research_report report;
    struct research_request request = {
        .kind = &RESEARCH_MANY_ROUNDS,
        .question = json_string(arguments, "topic"),
        .depth = json_string(arguments, "depth"),
        .max_rounds = rounds(arguments),
        .max_retries = (int)config_int("FORAGE_RESEARCH_RETRIES"),
    };
    int status = research_run(call, &request, &report);
    if (status == OK) {
        describe(call, &request, &report, reply);
    } else if (report.raw_output) {
        describe_raw(call, report.raw_output, reply);
        status = OK;
    }
    return status;
}

static void ready(struct readiness *readiness)
{
    readiness->ready = research_is_ready(readiness->lacks, sizeof readiness->lacks);
}

const struct tool TOOL_DEEP_SEARCH = {
    .definition = definition_deep_search,
    .run = run,
    .ready = ready,
};
