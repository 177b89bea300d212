/* Replies and results as steps of a journal, and the way back. */
#include "research/own/outside.h"

#include "call/errors.h"
#include "call/journal.h"
#include "text/json.h"

#include <string.h>

static const char ASKED[] = "model";
static const char SEARCHED[] = "search";

/* ---- how it ended ---- */

/* What decides how a research goes on; everything else ends it. */
static const struct {
    int status;
    const char *word;
} ENDS[] = {{OK, "ok"},
            {ERR_FAILED, "failed"},
            {ERR_LIMIT, "limit"},
            {ERR_UNSUPPORTED, "unsupported"},
            {ERR_DEADLINE, "deadline"}};

static const char *word_of(int status)
{
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        if (ENDS[i].status == status) {
            return ENDS[i].word;
        }
    }
    return NULL;
}

/* A step that begins with how it ended; NULL where that ends the research. */
static yyjson_mut_val *begin_step(struct call *call, yyjson_mut_doc *doc, int status)
{
    const char *word = word_of(status);
    yyjson_mut_val *step = word ? yyjson_mut_obj(doc) : NULL;
    const struct call_error *error = status == ERR_FAILED ? call_error(call) : NULL;
    json_add_string(doc, step, "end", word);
    if (error) {
        yyjson_mut_val *told = yyjson_mut_obj_add_obj(doc, step, "error");
        json_add_string(doc, told, "code", error->code);
        json_add_string(doc, told, "message", error->message);
        json_add_string(doc, told, "details", error->details);
        yyjson_mut_obj_add_int(doc, told, "retry_after_s", error->retry_after_s);
    }
    return step;
}

/* The status that a step tells, with its error. */
static int end_of_step(struct call *call, yyjson_val *step)
{
    const char *word = json_string(step, "end");
    yyjson_val *error = yyjson_obj_get(step, "error");
    int status = ERR_IO;
    for (size_t i = 0; word && i < sizeof ENDS / sizeof *ENDS; i++) {
        status = strcmp(ENDS[i].word, word) == 0 ? ENDS[i].status : status;
    }
    if (status == ERR_FAILED) {
        const char *message = json_string(error, "message");
        call_fail(call, error_code_named(json_string(error, "code")), "%s", message ? message : "");
        call_fail_details(call, json_string(error, "details"));
        call_fail_retry_after(call, yyjson_get_int(yyjson_obj_get(error, "retry_after_s")));
    }
    return status;
}

static int keep_step(struct call *call, const char *kind, yyjson_mut_val *step)
{
    const char *text = json_text(call_arena(call), step, NULL);
    return text ? journal_add(call, kind, text) : ERR_NOMEM;
}

/* The step of that kind that an earlier run took; NULL: it did not. */
static yyjson_val *taken_step(struct call *call, const char *kind)
{
    const char *text = journal_take(call, kind);
    yyjson_doc *doc = text ? json_parse(call_arena(call), text, strlen(text), NULL) : NULL;
    return yyjson_doc_get_root(doc);
}

/* ---- a model's reply ---- */

static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t number)
{
    yyjson_mut_obj_add_sint(doc, object, key, number);
}

static int64_t number_in(yyjson_val *object, const char *key)
{
    return yyjson_get_sint(yyjson_obj_get(object, key));
}

static const char *text_in(yyjson_val *object, const char *key)
{
    const char *text = json_string(object, key);
    return text ? text : "";
}

static void write_reply(yyjson_mut_doc *doc, yyjson_mut_val *step, const struct model_reply *reply)
{
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, step, "reply");
    yyjson_mut_val *uses = yyjson_mut_obj_add_arr(doc, object, "uses");
    yyjson_mut_val *usage = yyjson_mut_obj_add_obj(doc, object, "usage");
    json_add_string(doc, object, "text", reply->text);
    json_add_string(doc, object, "echo", reply->echo);
    add_number(doc, object, "stop", reply->stop);
    for (size_t i = 0; i < reply->use_count; i++) {
        yyjson_mut_val *use = yyjson_mut_arr_add_obj(doc, uses);
        json_add_string(doc, use, "id", reply->uses[i].id);
        json_add_string(doc, use, "name", reply->uses[i].name);
        json_add_string(doc, use, "arguments", reply->uses[i].arguments);
        json_add_string(doc, use, "raw", reply->uses[i].raw);
        yyjson_mut_obj_add_bool(doc, use, "unnamed", reply->uses[i].unnamed);
    }
    add_number(doc, usage, "requests", reply->usage.requests);
    add_number(doc, usage, "input_tokens", reply->usage.input_tokens);
    add_number(doc, usage, "cached_tokens", reply->usage.cached_tokens);
    add_number(doc, usage, "output_tokens", reply->usage.output_tokens);
    add_number(doc, usage, "reasoning_tokens", reply->usage.reasoning_tokens);
    yyjson_mut_obj_add_bool(doc, usage, "estimated", reply->usage.estimated);
}

static int read_reply(struct arena *arena, yyjson_val *object, struct model_reply *reply)
{
    yyjson_val *usage = yyjson_obj_get(object, "usage");
    yyjson_val *uses = yyjson_obj_get(object, "uses");
    size_t count = yyjson_arr_size(uses);
    struct model_use *read = count ? arena_zalloc(arena, count * sizeof *read) : NULL;
    size_t index, most;
    yyjson_val *use;
    if (count && !read) {
        return ERR_NOMEM;
    }
    yyjson_arr_foreach(uses, index, most, use)
    {
        read[index] = (struct model_use){
            .id = text_in(use, "id"),
            .name = text_in(use, "name"),
            .arguments = json_string(use, "arguments"),
            .raw = text_in(use, "raw"),
            .unnamed = yyjson_get_bool(yyjson_obj_get(use, "unnamed")),
        };
    }
    *reply = (struct model_reply){
        .text = text_in(object, "text"),
        .uses = read,
        .use_count = count,
        .stop = (enum model_stop)number_in(object, "stop"),
        .usage = {.requests = number_in(usage, "requests"),
                  .input_tokens = number_in(usage, "input_tokens"),
                  .cached_tokens = number_in(usage, "cached_tokens"),
                  .output_tokens = number_in(usage, "output_tokens"),
                  .reasoning_tokens = number_in(usage, "reasoning_tokens"),
                  .estimated = yyjson_get_bool(yyjson_obj_get(usage, "estimated"))},
        .echo = json_string(object, "echo"),
    };
    return OK;
}

int outside_ask(struct call *call, struct model *model, const struct model_request *request,
                struct model_reply *reply)
{
    yyjson_val *taken = taken_step(call, ASKED);
    if (taken) {
        int status = read_reply(call_arena(call), yyjson_obj_get(taken, "reply"), reply);
        return status == OK ? end_of_step(call, taken) : status;
    }
    int status = journal_may_act(call);
    status = status == OK ? model_ask(call, model, request, reply) : status;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    yyjson_mut_val *step = begin_step(call, doc, status);
    if (!step) {
        return doc ? status : ERR_NOMEM;
    }
    write_reply(doc, step, reply);
    int kept = keep_step(call, ASKED, step);
    return kept == OK ? status : kept;
}

/* ---- what a search found ---- */

int outside_search(struct call *call, struct search_request *request, yyjson_mut_doc *doc,
                   yyjson_mut_val **results)
{
    yyjson_val *taken = taken_step(call, SEARCHED);
    if (taken) {
        *results = json_copy(doc, yyjson_obj_get(taken, "results"));
        return end_of_step(call, taken);
    }
    const char *provider;
    yyjson_mut_val *object = NULL;
    int status = journal_may_act(call);
    status = status == OK ? search_run(call, request, doc, &object, &provider) : status;
    *results = yyjson_mut_obj_get(object, "results");
    yyjson_mut_val *step = begin_step(call, doc, status);
    if (!step) {
        return status;
    }
    if (*results) {
        yyjson_mut_obj_add_val(doc, step, "results", yyjson_mut_val_mut_copy(doc, *results));
    }
    int kept = keep_step(call, SEARCHED, step);
    return kept == OK ? status : kept;
}
