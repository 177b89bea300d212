/* Running a tool, the same way for every door: arguments, gate, deadline, handler, error body,
 * records, counts and the one log line. */
#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"
#include "guard/callers.h"
#include "registry/registry.h"
#include "registry/schema.h"
#include "text/text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INPUT_CHARS 2000 /* of a call's input in the log */

static bool lacks_a_default(yyjson_val *schema, yyjson_val *arguments)
{
    yyjson_val *key;
    yyjson_obj_iter each = yyjson_obj_iter_with(yyjson_obj_get(schema, "properties"));
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *property = yyjson_obj_iter_get_val(key);
        if (yyjson_obj_get(property, "default") &&
            !yyjson_obj_getn(arguments, yyjson_get_str(key), yyjson_get_len(key))) {
            return true;
        }
    }
    return false;
}

/* The arguments that the handler sees: an object, with defaults filled in. */
static yyjson_val *complete_arguments(struct call *call, const struct entry *entry,
                                      yyjson_val *arguments)
{
    struct arena *arena = call_arena(call);
    if (!arguments) {
        arguments = yyjson_doc_get_root(json_parse(arena, "{}", 2, NULL));
    }
    if (!lacks_a_default(entry->input_schema, arguments)) {
        return arguments;
    }
    yyjson_mut_doc *doc = json_new(arena);
    return doc ? json_freeze(arena, schema_with_defaults(doc, entry->input_schema, arguments))
               : NULL;
}

size_t tried_length(const char *tried, unsigned words)
{
    size_t length = strcspn(tried, " ");
    while (--words && tried[length]) {
        length += 1 + strcspn(tried + length + 1, " ");
    }
    return length;
}

/* The arguments that say what was asked for, in the words of our tools. */
static const char *const QUERY_ARGUMENTS[] = {"query", "topic", "url", "urls", "keywords"};

const char *registry_query_of(yyjson_val *arguments)
{
    const char *query = NULL;
    for (size_t i = 0; !query && i < sizeof QUERY_ARGUMENTS / sizeof *QUERY_ARGUMENTS; i++) {
        yyjson_val *value = yyjson_obj_get(arguments, QUERY_ARGUMENTS[i]);
        yyjson_val *first = yyjson_arr_get_first(value);
        query = yyjson_get_str(first ? first : value);
    }
    return query;
}

static int admit(struct registry *registry, const struct entry *entry, struct call *call,
                 unsigned more)
{
    const struct gate *gate = &registry->gate;
    return gate->admit ? gate->admit(gate->context, call, entry, more) : OK;
}

int registry_admit(struct registry *registry, const struct entry *entry, struct call *call)
{
    return admit(registry, entry, call, 0);
}

/* One run of a tool, while it lasts. */
struct running_tool {
    struct registry *registry;
    const struct entry *entry;
    struct call *call;
    yyjson_val *arguments;
    struct reply *reply;
    bool admitted;
    bool recalled;
    bool is_job; /* whoever keeps it records what it used */
};

/* Checks the arguments and asks the gate. */
static int prepare(struct running_tool *run)
{
    char problem[LIMIT_ERROR_CHARS];
    run->arguments = complete_arguments(run->call, run->entry, run->arguments);
    if (!run->arguments) {
        return ERR_NOMEM;
    }
    if (schema_validate(run->entry->input_schema, run->arguments, problem, sizeof problem) != OK) {
        return call_fail(run->call, CODE_VALIDATION, "%s", problem);
    }
    run->is_job = run->entry->job && run->registry->host.run;
    call_book_for(run->call, run->entry->name, NULL);
    if (!run->is_job) {
        /* Before the gate, since that may wait. */
        call_limit_time(run->call, run->entry->timeout_ms);
    }
    size_t items = run->entry->counted
                       ? yyjson_arr_size(yyjson_obj_get(run->arguments, run->entry->counted))
                       : 0;
    int status = admit(run->registry, run->entry, run->call, items > 1 ? (unsigned)items - 1 : 0);
    run->admitted = status == OK;
    return status;
}

static int check_and_run(struct running_tool *run)
{
    const struct gate *gate = &run->registry->gate;
    const struct trying *trying = &run->registry->trying;
    int status =
        trying->begin ? trying->begin(trying->context, run->call, run->entry, &run->arguments) : OK;
    status = status == OK ? prepare(run) : status;
    if (status != OK) {
        return status;
    }
    run->reply->doc = json_new(call_arena(run->call));
    if (!run->reply->doc) {
        return ERR_NOMEM;
    }
    if (run->entry->keep_ms > 0 && gate->recall) {
        run->recalled =
            gate->recall(gate->context, run->call, run->entry, run->arguments, run->reply);
    }
    if (run->recalled) {
        return OK;
    }
    const struct job_host *host = &run->registry->host;
    status = run->is_job
                 ? host->run(host->context, run->call, run->entry, run->arguments, run->reply)
                 : run->entry->tool->run(run->call, run->arguments, run->reply);
    if (status == OK && !run->reply->structured && !run->reply->content) {
        return ERR_NOMEM;
    }
    return status;
}

yyjson_mut_val *registry_error_body(struct call *call, yyjson_mut_doc *doc)
{
    const struct call_error *error = call_error(call);
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_val *inner = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, body, "success", false);
    yyjson_mut_obj_add_val(doc, body, "error", inner);
    yyjson_mut_obj_add_str(doc, inner, "code", error ? error->code : CODE_INTERNAL);
    yyjson_mut_obj_add_str(doc, inner, "message", error ? error->message : "unknown error");
    if (error && error->details) {
        yyjson_doc *details =
            json_parse(call_arena(call), error->details, strlen(error->details), NULL);
        yyjson_mut_obj_add_val(doc, inner, "details", json_copy(doc, yyjson_doc_get_root(details)));
    }
    if (error && error->retry_after_s > 0) {
        yyjson_mut_obj_add_int(doc, inner, "retry_after_s", error->retry_after_s);
    }
    yyjson_mut_obj_add_str(doc, inner, "request_id", call_request_id(call));
    return body;
}

static void count(const struct entry *entry, bool failed, int64_t took_us)
{
    atomic_fetch_add(&entry->counts->calls, 1);
    atomic_fetch_add(&entry->counts->total_us, (uint64_t)took_us);
    if (failed) {
        atomic_fetch_add(&entry->counts->failures, 1);
    }
}

/* " provider=gpt-5-nano requests=1 tokens=1200+340 http=200", or what is known of it. */
static void describe_upstream(const struct call *call, struct text_out *out)
{
    const char *provider = call_provider(call);
    const struct call_usage sum = call_used(call);
    bool used = sum.requests || sum.input_tokens || sum.output_tokens;
    const char *paid = !used ? NULL : sum.model ? sum.model : sum.service;
    if (*provider || paid) {
        text_putf(out, " provider=%s", *provider ? provider : paid);
    }
    if (paid) {
        text_putf(out, " requests=%lld tokens=%lld+%lld", (long long)sum.requests,
                  (long long)sum.input_tokens, (long long)sum.output_tokens);
    }
    if (call_http(call)) {
        text_putf(out, " http=%d", abs(call_http(call)));
    }
}

/* " results=5"; of a call that failed 0; nothing where the tool has none. */
static void describe_results(const struct running_tool *run, bool failed, struct text_out *out)
{
    static const char *const LISTS[] = {"/results", "/citations", "/data/results"};
    static const char *const TYPES[] = {"/properties/results/type", "/properties/citations/type",
                                        "/properties/data/properties/results/type"};
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        yyjson_mut_val *list = yyjson_mut_ptr_get(run->reply->structured, LISTS[i]);
        yyjson_val *type = failed ? yyjson_ptr_get(run->entry->output_schema, TYPES[i]) : NULL;
        if (yyjson_mut_is_arr(list) || yyjson_equals_str(type, "array")) {
            text_putf(out, " results=%zu", yyjson_mut_arr_size(list));
            return;
        }
    }
}

/* What the call was given, as it came, for whoever looks for a mistake. */
static void log_input(const struct running_tool *run)
{
    struct buf text;
    if (!log_takes_private()) {
        return;
    }
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    if (run->arguments &&
        json_write_immutable(&text, call_arena(run->call), run->arguments) == OK) {
        redact_buf(&text, 0, WORDS_OURS); /* before it is cut: half of a secret is one too */
        log_private(call_request_id(run->call), "tool=%s input=%.*s", run->entry->name,
                    (int)text_prefix(text.data, text.length, MOST_INPUT_CHARS), text.data);
    }
    buf_done(&text);
}

/* Private words stay out of the log: what was asked for is there as a keyed hash. */
static void log_call(const struct running_tool *run, int status, bool failed, int64_t took_us)
{
    const struct caller *caller = call_caller(run->call);
    const struct call_error *error = call_error(run->call);
    const char *outcome = error ? error->code : failed ? "error" : status_name(status);
    /* Quick calls that succeed are too many to be news; the metrics count them. */
    bool news = !run->entry->quick || failed;
    if (!news && log_level() < LOG_LEVEL_DEBUG) {
        return;
    }
    void (*say)(const char *, const char *, ...) = news ? log_info : log_debug;
    char words[400];
    char hash[FINGERPRINT_SIZE];
    struct text_out more;
    const char *asked = registry_query_of(run->arguments);
    asked = asked ? asked
                  : json_text_of(call_arena(run->call), yyjson_obj_get(run->arguments, "queries"));
    const char *tried = call_tried(run->call);
    text_start(&more, words, sizeof words);
    if (asked) {
        text_putf(&more, " query=%s", fingerprint(asked, strlen(asked), hash));
    }
    describe_upstream(run->call, &more);
    describe_results(run, failed, &more);
    text_put(&more, run->recalled ? " kept=yes" : "");
    if (tried) {
        text_putf(&more, " experiment=%.*s", (int)tried_length(tried, 1), tried);
    }
    say(call_request_id(run->call), "tool=%s caller=%s status=%s ms=%lld.%03lld%s",
        run->entry->name, caller ? caller->name : "-", outcome, (long long)(took_us / 1000),
        (long long)(took_us % 1000), words);
}

/* A call that is kept is settled at its own end. */
static void settle(const struct running_tool *run, bool failed, int64_t began)
{
    const struct gate *gate = &run->registry->gate;
    const struct trying *trying = &run->registry->trying;
    if (run->is_job || !run->admitted) {
        return;
    }
    struct outcome outcome = {
        .arguments = run->arguments,
        .reply = run->reply,
        .failed = failed,
        .recalled = run->recalled,
        .took_us = clock_now_us() - began,
        .nano_usd = -1,
    };
    if (gate->settle) {
        gate->settle(gate->context, run->call, run->entry, &outcome);
    }
    if (trying->end && call_tried(run->call)) {
        trying->end(trying->context, run->call, run->entry, &outcome);
    }
}

static void fail_status(struct call *call, int status)
{
    if (status == ERR_DEADLINE) {
        call_fail(call, CODE_TIMEOUT, "the call ran out of time; try again, or raise %s",
                  config_name_told("FORAGE_CALL_TIMEOUT"));
    } else {
        call_fail_status(call, status);
    }
}

int registry_run(struct registry *registry, const struct entry *entry, struct call *call,
                 yyjson_val *arguments, struct reply *reply)
{
    int64_t began = clock_now_us();
    struct running_tool run = {registry, entry, call, arguments, reply, false, false, false};
    *reply = (struct reply){0};
    atomic_fetch_add(&entry->counts->running, 1);
    log_input(&run);
    int status = check_and_run(&run);
    atomic_fetch_sub(&entry->counts->running, 1);
    bool unfinished = status == ERR_NEED_INPUT || (status == ERR_UNSUPPORTED && !call_error(call));
    bool failed = (status != OK && !unfinished) || reply->is_error;
    if (status != OK && !unfinished) {
        fail_status(call, status);
        if (!reply->doc) {
            reply->doc = json_new(call_arena(call));
        }
        reply->structured = registry_error_body(call, reply->doc);
        reply->content = NULL;
        reply->is_error = true;
        status = OK;
    }
    reply->words = (entry->own || reply->own) && !failed ? WORDS_OF_CALLER : WORDS_FROM_OUTSIDE;
    if (!unfinished) {
        settle(&run, failed, began);
    }
    int64_t took_us = clock_now_us() - began;
    count(entry, failed, took_us);
    log_call(&run, status, failed, took_us);
    return status;
}
