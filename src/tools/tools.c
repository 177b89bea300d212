/* The table of tools, and the handlers of all but the memory tools. A handler reads its arguments,
 * asks an engine and describes what came; the work is the engine's. */
#include "tools/tools.h"

#include "answer/answer.h"
#include "call/errors.h"
#include "call/journal.h"
#include "call/parts.h"
#include "config/budget.h"
#include "config/config.h"
#include "core/limits.h"
#include "embedded.h"
#include "jobs/jobs.h"
#include "ops/status.h"
#include "reader/several.h"
#include "research/own/own.h"
#include "research/research.h"
#include "text/text.h"
#include "websearch/websearch.h"

#include <stdio.h>
#include <string.h>

/* ---- web_search ---- */

static int run_web_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct search_request *request = arena_zalloc(call_arena(call), sizeof *request);
    const char *provider;
    int status = request ? search_read_arguments(call, arguments, request) : ERR_NOMEM;
    if (status == OK) {
        status = search_run(call, request, reply->doc, &reply->structured, &provider);
        call_name_provider(call, provider);
    }
    if (status == OK) {
        yyjson_mut_val *names = yyjson_mut_obj_get(reply->structured, "provider");
        call_name_provider(call, yyjson_mut_get_str(names));
    }
    return status;
}

static void ready_to_search(struct readiness *readiness)
{
    readiness->ready = search_ready(readiness->lacks, sizeof readiness->lacks);
}

/* ---- get_content ---- */

static enum render_mode render_mode(const char *word)
{
    static const char *const WORDS[] = {
        [RENDER_AUTO] = "auto", [RENDER_ALWAYS] = "always", [RENDER_NEVER] = "never"};
    for (size_t i = 0; word && i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strcmp(word, WORDS[i]) == 0) {
            return (enum render_mode)i;
        }
    }
    return RENDER_AUTO;
}

static bool is_word(const char *given, const char *word)
{
    return given && strcmp(given, word) == 0;
}

/* Passages are of a question, and an outline has none. */
static int check_focus(struct call *call, yyjson_val *arguments)
{
    const char *focus = json_string(arguments, "focus");
    if (!focus && is_word(json_string(arguments, "content"), "passages")) {
        return call_fail(call, CODE_VALIDATION,
                         "focus: it is missing; content: passages needs the question that the "
                         "passages should answer");
    }
    if (focus && yyjson_get_bool(yyjson_obj_get(arguments, "outline"))) {
        return call_fail(call, CODE_VALIDATION,
                         "focus: it came together with outline; give one of them");
    }
    return OK;
}

/* One page or several: a schema that says so is dropped by some clients, so it is said here. */
static int check_urls(struct call *call, yyjson_val *arguments)
{
    const char *url = json_string(arguments, "url");
    yyjson_val *urls = yyjson_obj_get(arguments, "urls");
    if (!url == !urls) {
        return call_fail(call, CODE_VALIDATION, "%s",
                         url ? "url and urls came together; give one of them"
                             : "url: it is missing; give the page to read, or urls for several");
    }
    if (urls && yyjson_get_num(yyjson_obj_get(arguments, "start")) > 0) {
        return call_fail(call, CODE_VALIDATION,
                         "start: it came together with urls; to read on in a page, give its url");
    }
    return OK;
}

static int read_several(struct call *call, const struct content_request *request, yyjson_val *urls,
                        struct reply *reply)
{
    const char *list[LIMIT_PAGES_OF_CALL];
    size_t index, count;
    yyjson_val *url;
    yyjson_arr_foreach(urls, index, count, url)
    {
        list[index] = yyjson_get_str(url);
    }
    return several_read(call, request, list, count, reply->doc, &reply->structured);
}

static int run_get_content(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct content content;
    yyjson_val *urls = yyjson_obj_get(arguments, "urls");
    int status = check_urls(call, arguments);
    status = status == OK ? check_focus(call, arguments) : status;
    if (status != OK) {
        return status;
    }
    struct content_request request = {
        .url = json_string(arguments, "url"),
        .start = (size_t)yyjson_get_num(yyjson_obj_get(arguments, "start")),
        .max_chars = (size_t)yyjson_get_num(yyjson_obj_get(arguments, "max_chars")),
        .budget = call_takes_any_size(call) ? 0 : budget_chars(),
        .section = json_string(arguments, "section"),
        .focus = json_string(arguments, "focus"),
        .outline = yyjson_get_bool(yyjson_obj_get(arguments, "outline")),
        .as_text = call_takes_text(call),
        .all = is_word(json_string(arguments, "content"), "all"),
        .render = render_mode(json_string(arguments, "render")),
    };
    if (urls) {
        return read_several(call, &request, urls, reply);
    }
    status = content_read(call, &request, &content);
    if (status == OK) {
        reply->structured = content_describe(&content, reply->doc, call_arena(call));
        call_name_provider(call,
                           yyjson_mut_get_str(yyjson_mut_obj_get(reply->structured, "loader")));
    }
    return status;
}

/* ---- search and deep_search ---- */

/* What a question follows on, where it says so. OK with NULL where it does not. */
static int read_follow(struct call *call, yyjson_val *arguments, struct follow **follow)
{
    struct arena *arena = call_arena(call);
    const char *id = json_string(arguments, "follow_up_of");
    const char *context = NULL;
    *follow = NULL;
    if (!id) {
        return OK;
    }
    struct follow *read = arena_zalloc(arena, sizeof *read);
    int status = read ? jobs_context(call, id, &context) : ERR_NOMEM;
    status = status == OK ? follow_read(arena, context, read) : status;
    if (status == OK && read->depth >= LIMIT_FOLLOW_UPS) {
        return call_fail(call, CODE_VALIDATION,
                         "follow_up_of: %zu questions follow on each other already, and no more "
                         "may; ask anew, with all that the question needs in it",
                         read->depth);
    }
    *follow = read;
    return status;
}

static void describe_research(struct call *call, const struct research_request *request,
                              const struct research_report *report, struct reply *reply)
{
    bool deep = request->kind == &RESEARCH_MANY_ROUNDS;
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *metadata = research_metadata(call, doc, report);
    yyjson_mut_obj_add_strcpy(doc, metadata, deep ? "topic" : "query", request->question);
    reply->structured = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, reply->structured, "success", true);
    yyjson_mut_obj_add_str(doc, reply->structured, request->kind->answer, report->text);
    json_add_string(doc, reply->structured, "understood_as", report->understood_as);
    if (deep) {
        yyjson_mut_obj_add_strcpy(doc, metadata, "depth", request->depth);
        if (report->evidence) {
            json_add_strings(doc, metadata, "search_queries_used", report->queries,
                             report->query_count);
        }
        yyjson_mut_obj_add_int(doc, metadata, "iterations", report->rounds);
    }
    if (report->is_prose) {
        yyjson_mut_obj_add_bool(doc, reply->structured, "parse_warning", true);
    }
    yyjson_mut_obj_add_bool(doc, reply->structured, "verified",
                            report->evidence && evidence_verified(report->evidence));
    if (report->evidence) {
        evidence_describe(report->evidence, doc, reply->structured);
    }
    if (report->own) {
        own_describe(report->own, doc, reply->structured, metadata);
    }
    json_add_string(doc, reply->structured, "untrusted", RESEARCH_UNTRUSTED);
    yyjson_mut_obj_add_val(doc, reply->structured, "metadata", metadata);
}

/* Leaves what a question that follows on this one needs. */
static int leave_research(struct call *call, const struct research_request *request,
                          const struct research_report *report)
{
    if (!config_bool("FORAGE_FOLLOW_UPS")) {
        return OK;
    }
    struct arena *scratch = arena_new(2 * LIMIT_CALL_ARENA_BYTES);
    const char *question = report->understood_as ? report->understood_as : request->question;
    const char *left =
        scratch ? follow_write(scratch, request->follow, question, report->text, report->evidence)
                : NULL;
    journal_leave(call, left);
    arena_free(scratch);
    return left ? OK : ERR_NOMEM;
}

static int run_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct research_report report;
    struct research_request request = {
        .kind = &RESEARCH_ONE_ROUND,
        .question = json_string(arguments, "query"),
        .depth = "",
        .max_rounds = 1,
        .max_retries = (int)config_int("FORAGE_RESEARCH_RETRIES"),
    };
    struct follow *follow;
    int status = read_follow(call, arguments, &follow);
    request.follow = follow;
    status = status == OK ? research_run(call, &request, &report) : status;
    if (status == OK) {
        describe_research(call, &request, &report, reply);
        status = leave_research(call, &request, &report);
    }
    return status;
}

static int run_deep_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    /* The caller may ask for fewer rounds than the server allows, not for more. */
    int64_t most = config_int("FORAGE_RESEARCH_ROUNDS");
    yyjson_val *wanted = yyjson_obj_get(arguments, "maxIterations");
    int64_t asked = wanted ? (int64_t)yyjson_get_num(wanted) : most;
    struct research_report report = {0};
    struct follow *follow;
    struct research_request request = {
        .kind = &RESEARCH_MANY_ROUNDS,
        .question = json_string(arguments, "topic"),
        .depth = json_string(arguments, "depth"),
        .max_rounds = (int)(asked < most ? asked : most),
        .max_retries = (int)config_int("FORAGE_RESEARCH_RETRIES"),
    };
    int status = read_follow(call, arguments, &follow);
    request.follow = follow;
    status = status == OK ? research_run(call, &request, &report) : status;
    if (status == OK) {
        describe_research(call, &request, &report, reply);
        status = leave_research(call, &request, &report);
    } else if (report.raw_output) {
        /* An answer that holds no report is handed on as it is, with a warning. */
        reply->structured = registry_error_body(call, reply->doc);
        yyjson_mut_obj_add_str(reply->doc, reply->structured, "raw_output", report.raw_output);
        yyjson_mut_obj_add_bool(reply->doc, reply->structured, "parse_warning", true);
        reply->is_error = true;
        status = OK;
    }
    return status;
}

/* ---- research_result ---- */

static int run_research_result(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    yyjson_val *wait = yyjson_obj_get(arguments, "wait");
    int64_t patience = call_patience_ms(call);
    patience = patience < 0 ? config_duration_ms("FORAGE_CALL_PATIENCE") : patience;
    int64_t wait_ms = wait ? (int64_t)yyjson_get_num(wait) * 1000 : patience;
    return jobs_look(call, json_string(arguments, "job"), wait_ms, reply);
}

static void ready_to_research(struct readiness *readiness)
{
    readiness->ready = research_is_ready(readiness->lacks, sizeof readiness->lacks);
}

/* ---- search_web ---- */

/* Keeps the answer for a question that follows on it; the result has its id then. */
static int keep_answer(struct call *call, yyjson_val *arguments, const struct answer *answer,
                       const struct follow *follow, struct reply *reply)
{
    if (!config_bool("FORAGE_FOLLOW_UPS")) {
        return OK;
    }
    struct arena *scratch = arena_new(2 * LIMIT_CALL_ARENA_BYTES);
    const char *question =
        answer->understood_as ? answer->understood_as : json_string(arguments, "query");
    const char *left =
        scratch ? follow_write(scratch, follow, question, answer->cited.text, answer->evidence)
                : NULL;
    const char *id = left ? jobs_keep(call, "search_web", arguments, left) : NULL;
    json_add_string(reply->doc, reply->structured, "id", id);
    arena_free(scratch);
    return left ? OK : ERR_NOMEM;
}

static int run_search_web(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct answer answer = {0};
    struct follow *follow = NULL;
    struct answer_request request = {
        .query = json_string(arguments, "query"),
        .max_results = (int)yyjson_get_num(yyjson_obj_get(arguments, "maxResults")),
        .freshness_hours = (int)yyjson_get_num(yyjson_obj_get(arguments, "freshnessHours")),
        .region = json_string(arguments, "region"),
        .include_answer = yyjson_get_bool(yyjson_obj_get(arguments, "includeAnswers")),
        .budget = budget_chars(),
    };
    int status = search_read_dates(call, arguments, "freshnessHours", &request.start_date,
                                   &request.end_date);
    status = status == OK ? read_follow(call, arguments, &follow) : status;
    request.follow = follow;
    status = status == OK ? answer_ask(call, &request, &answer) : status;
    call_name_provider(call, answer.provider);
    if (status == OK) {
        reply->structured = answer_describe(&answer, reply->doc);
        status = keep_answer(call, arguments, &answer, follow, reply);
    }
    return status;
}

static void ready_to_answer(struct readiness *readiness)
{
    readiness->ready = answer_ready(readiness->lacks, sizeof readiness->lacks);
}

/* ---- forage_status ---- */

static int run_status(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    const char *only = json_string(arguments, "tool");
    reply->structured = status_describe(call_parts(call)->status, reply->doc, only);
    if (!reply->structured) {
        return only ? call_fail(call, CODE_VALIDATION,
                                "tool: there is no tool \"%s\" here; leave it out to see all", only)
                    : ERR_NOMEM;
    }
    char words[1024];
    const struct registry *registry = call_parts(call)->status->registry;
    bool researches = registry_tool(registry, "search") || registry_tool(registry, "deep_search");
    if (!only && researches && research_reads_in_vain(words, sizeof words)) {
        const char *told = call_without_paths(call, words, false);
        yyjson_mut_val *list = yyjson_mut_obj_add_arr(reply->doc, reply->structured, "warnings");
        yyjson_mut_arr_add_strcpy(reply->doc, list, told);
    }
    return OK;
}

/* ---- all of them ---- */

static const struct tool WEB_TOOLS[] = {
    {definition_web_search, run_web_search, ready_to_search},
    {definition_get_content, run_get_content, NULL},
    {definition_search, run_search, ready_to_research},
    {definition_deep_search, run_deep_search, ready_to_research},
    {definition_research_result, run_research_result, ready_to_research},
    {definition_search_web, run_search_web, ready_to_answer},
};

static const struct tool STATUS_TOOLS[] = {{definition_forage_status, run_status, NULL}};

static int add_tools(struct registry *registry, const struct tool *tools, size_t count)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < count; i++) {
        status = registry_add_tool(registry, &tools[i]);
    }
    return status;
}

int tools_register(struct registry *registry)
{
    int status = add_tools(registry, WEB_TOOLS, sizeof WEB_TOOLS / sizeof *WEB_TOOLS);
    if (status == OK) {
        status = add_tools(registry, MEMORY_TOOLS, MEMORY_TOOL_COUNT);
    }
    return status == OK ? add_tools(registry, STATUS_TOOLS, 1) : status;
}

int tools_register_profile(struct registry *registry, const char *profile)
{
    registry->profile = profile;
    return profile ? add_tools(registry, CHATGPT_TOOLS, CHATGPT_TOOL_COUNT) : OK;
}
