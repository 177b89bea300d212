/* search: one round of research by a sub-agent. */
#include "embedded.h"
#include "research/research.h"
#include "tools/tools.h"

#define MAX_RETRIES 3

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct research_report report;
    struct research_request request = {
        .kind = &RESEARCH_ONE_ROUND,
        .question = json_string(arguments, "query"),
        .depth = "",
        .max_rounds = 1,
        .max_retries = MAX_RETRIES,
    };
    int status = research_run(call, &request, &report);
    if (status != OK) {
        return status;
    }
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *metadata = research_metadata(call, doc, &report);
    yyjson_mut_obj_add_strcpy(doc, metadata, "query", request.question);
    reply->structured = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, reply->structured, "success", true);
    yyjson_mut_obj_add_str(doc, reply->structured, "result", report.text);
    json_add_string(doc, reply->structured, "untrusted", RESEARCH_UNTRUSTED);
    yyjson_mut_obj_add_val(doc, reply->structured, "metadata", metadata);
    return OK;
}

static void ready(struct readiness *readiness)
{
    readiness->ready = research_is_ready(readiness->lacks, sizeof readiness->lacks);
}

const struct tool TOOL_SEARCH = {
    .definition = definition_search,
    .run = run,
    .ready = ready,
};
