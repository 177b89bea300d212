/* search_web: a short answer with its sources. */
#include "answer/answer.h"
#include "config/budget.h"
#include "embedded.h"
#include "tools/tools.h"

#include <stdio.h>

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct answer answer;
    struct answer_request request = {
        .query = json_string(arguments, "query"),
        .max_results = (int)yyjson_get_num(yyjson_obj_get(arguments, "maxResults")),
        .freshness_hours = (int)yyjson_get_num(yyjson_obj_get(arguments, "freshnessHours")),
        .region = json_string(arguments, "region"),
        .include_answer = yyjson_get_bool(yyjson_obj_get(arguments, "includeAnswers")),
        .budget = budget_chars(),
    };
    int status = answer_ask(call, &request, &answer);
    if (status == OK) {
        reply->structured = answer_describe(&answer, reply->doc);
    }
    return status;
}

static void ready(struct readiness *readiness)
{
    readiness->ready = answer_configured();
    if (!readiness->ready) {
        snprintf(readiness->lacks, sizeof readiness->lacks, "set OPENAI_API_KEY");
    }
}

const struct tool TOOL_SEARCH_WEB = {
    .definition = definition_search_web,
    .run = run,
    .ready = ready,
};
