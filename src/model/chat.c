/* Chat completions: OpenAI's, and those of the many servers that took them over, each in its own
 * way. */
#include "model/dialect.h"

#include <string.h>

static const char *path(struct arena *arena, const struct model *model, unsigned choices)
{
    (void)arena;
    (void)model;
    (void)choices;
    return "/chat/completions";
}

/* ---- the request ---- */

static void write_uses(yyjson_mut_doc *doc, yyjson_mut_val *turn, const struct model_use *uses,
                       size_t count)
{
    struct arena *arena = writing_arena(doc);
    yyjson_mut_val *list = count ? yyjson_mut_obj_add_arr(doc, turn, "tool_calls") : NULL;
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, item, "id", uses[i].id);
        json_add_string(doc, item, "type", "function");
        yyjson_mut_val *function = yyjson_mut_obj_add_obj(doc, item, "function");
        json_add_string(doc, function, "name", uses[i].name);
        json_add_string(doc, function, "arguments", use_object(arena, &uses[i]));
    }
}

/* A turn of the model: its text, its uses, and `reasoning` under the name that it came with. */
static yyjson_mut_val *new_turn(yyjson_mut_doc *doc, const struct model_reply *reply)
{
    yyjson_mut_val *turn = yyjson_mut_obj(doc);
    json_add_string(doc, turn, "role", "assistant");
    if (*reply->text || reply->use_count == 0) {
        json_add_string(doc, turn, "content", reply->text);
    } else {
        yyjson_mut_obj_add_null(doc, turn, "content");
    }
    write_uses(doc, turn, reply->uses, reply->use_count);
    return turn;
}

static const char *echo(struct draft *draft, const struct model_reply *reply)
{
    yyjson_mut_doc *doc = json_new(draft->scratch);
    yyjson_mut_val *turn = new_turn(doc, reply);
    bool wanted = draft->provider->wants_reasoning && reply->use_count;
    if (draft->reasoning.length || wanted) {
        const char *key = wanted                 ? "reasoning_content"
                          : draft->reasoning_key ? draft->reasoning_key
                                                 : "reasoning";
        json_add_string(doc, turn, key, draft->reasoning.length ? draft->reasoning.data : "");
    }
    if (draft->items.length) {
        const char *details = draft_items(draft, reply);
        yyjson_mut_obj_add_val(doc, turn, "reasoning_details", raw_json(doc, details));
    }
    return arena_failed(draft->scratch) ? NULL : json_text(draft->arena, turn, NULL);
}

/* The turn as it came, or without its reasoning for a server that refuses that. One that came over
 * Responses, before the server was seen to know only this, is a list and no message. */
static yyjson_mut_val *turn_again(yyjson_mut_doc *doc, const struct model_reply *reply,
                                  unsigned choices)
{
    bool ours = reply->echo && *reply->echo == '{';
    return ours && (choices & CHOICE_REASONING) ? raw_json(doc, reply->echo) : new_turn(doc, reply);
}

static void write_messages(yyjson_mut_doc *doc, yyjson_mut_val *root,
                           const struct model_request *request, unsigned choices)
{
    struct arena *arena = writing_arena(doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "messages");
    const char *system = request->system;
    if (system && (choices & CHOICE_SYSTEM)) {
        yyjson_mut_val *first = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, first, "role", "system");
        json_add_string(doc, first, "content", system);
        system = NULL;
    }
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];
        if (message->role == MODEL_ASSISTANT) {
            yyjson_mut_arr_append(list, turn_again(doc, message->reply, choices));
            continue;
        }
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        if (message->role == MODEL_RESULT) {
            json_add_string(doc, item, "role", "tool");
            json_add_string(doc, item, "tool_call_id", message->use->id);
            json_add_string(doc, item, "content", result_text(arena, message));
            continue;
        }
        json_add_string(doc, item, "role", "user");
        json_add_string(doc, item, "content",
                        system ? arena_printf(arena, "%s\n\n%s", system, message->text)
                               : message->text);
        system = NULL;
    }
}

static void write_tools(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                        const struct model_request *request, unsigned choices)
{
    yyjson_mut_val *list = request->tool_count ? yyjson_mut_obj_add_arr(doc, root, "tools") : NULL;
    for (size_t i = 0; i < request->tool_count; i++) {
        yyjson_mut_val *tool = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, tool, "type", "function");
        yyjson_mut_val *function = yyjson_mut_obj_add_obj(doc, tool, "function");
        json_add_string(doc, function, "name", request->tools[i].name);
        json_add_string(doc, function, "description", request->tools[i].description);
        yyjson_mut_obj_add_val(doc, function, "parameters",
                               raw_json(doc, request->tools[i].schema));
    }
    if (request->tool_count && request->must_use && (choices & CHOICE_TOOL_CHOICE)) {
        json_add_string(doc, root, "tool_choice", model->provider->says_any ? "any" : "required");
    }
}

static void write_request(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                          const struct model_request *request, unsigned choices, int64_t max_tokens)
{
    json_add_string(doc, root, "model", model->name);
    write_messages(doc, root, request, choices);
    write_tools(doc, root, model, request, choices);
    if (request->shape && (choices & CHOICE_SHAPE)) {
        yyjson_mut_val *format = yyjson_mut_obj_add_obj(doc, root, "response_format");
        json_add_string(doc, format, "type", "json_schema");
        yyjson_mut_val *schema = yyjson_mut_obj_add_obj(doc, format, "json_schema");
        json_add_string(doc, schema, "name", request->shape_name);
        yyjson_mut_obj_add_val(doc, schema, "schema", raw_json(doc, request->shape));
        if (choices & CHOICE_STRICT) {
            yyjson_mut_obj_add_bool(doc, schema, "strict", true);
        }
    }
    if (choices & CHOICE_LIMIT) {
        yyjson_mut_obj_add_int(doc, root,
                               choices & CHOICE_NEW_LIMIT ? "max_completion_tokens" : "max_tokens",
                               max_tokens);
    }
    if (!(choices & CHOICE_OWN_EFFORT)) {
        json_add_string(doc, root, "reasoning_effort", "none");
    }
    if (choices & CHOICE_STREAM) {
        yyjson_mut_obj_add_bool(doc, root, "stream", true);
        if (choices & CHOICE_STREAM_USAGE) {
            yyjson_mut_val *options = yyjson_mut_obj_add_obj(doc, root, "stream_options");
            yyjson_mut_obj_add_bool(doc, options, "include_usage", true);
        }
    }
}

/* ---- the reply ---- */

/* Whether what a use has of its arguments is an object already. */
static bool is_complete(struct draft *draft, const struct draft_use *use)
{
    return use->arguments.length &&
           yyjson_is_obj(yyjson_doc_get_root(
               json_parse(draft->scratch, use->arguments.data, use->arguments.length, NULL)));
}

/* The use that a part belongs to. A new id is a new use, whatever its index: some send every use of
 * a turn with index 0. Without an id the index tells, unless the use there is complete and this one
 * begins anew. */
static struct draft_use *use_of(struct draft *draft, yyjson_val *part, yyjson_val *name)
{
    yyjson_val *id = yyjson_obj_get(part, "id");
    yyjson_val *place = yyjson_obj_get(part, "index");
    int64_t index = yyjson_is_int(place) ? yyjson_get_sint(place) : -1;
    struct draft_use *found = NULL;
    if (yyjson_is_str(id) && yyjson_get_len(id)) {
        for (size_t i = 0; i < draft->use_count; i++) {
            if (draft->uses[i].id.length && yyjson_equals_str(id, draft->uses[i].id.data)) {
                return &draft->uses[i];
            }
        }
        found = draft_add_use(draft, index);
        draft_add(draft, &found->id, id);
        return found;
    }
    for (size_t i = draft->use_count; i > 0 && !found; i--) {
        if (index < 0 || draft->uses[i - 1].index == index) {
            found = &draft->uses[i - 1];
        }
    }
    bool begins = yyjson_is_str(name) && yyjson_get_len(name);
    if (!found || (begins && found->name.length && is_complete(draft, found))) {
        found = draft_add_use(draft, index);
    }
    return found;
}

static void take_uses(struct draft *draft, yyjson_val *list, bool whole)
{
    size_t at, most;
    yyjson_val *part;
    yyjson_arr_foreach(list, at, most, part)
    {
        yyjson_val *function = yyjson_obj_get(part, "function");
        yyjson_val *name = yyjson_obj_get(function, "name");
        struct draft_use *use =
            whole ? draft_add_use(draft, (int64_t)at) : use_of(draft, part, name);
        if (whole) {
            draft_add(draft, &use->id, yyjson_obj_get(part, "id"));
        }
        if (use->name.length == 0) {
            draft_add(draft, &use->name, name);
        }
        draft_add_arguments(draft, use, yyjson_obj_get(function, "arguments"));
    }
}

/* A text, or a list of parts of it, as Mistral's models that think write. */
static void take_content(struct draft *draft, yyjson_val *content)
{
    size_t at, most, inner, inner_most;
    yyjson_val *part, *thought;
    draft_add(draft, &draft->text, content);
    if (!yyjson_is_arr(content)) {
        return;
    }
    yyjson_arr_foreach(content, at, most, part)
    {
        draft_add(draft, &draft->text, yyjson_obj_get(part, "text"));
        yyjson_val *thinking = yyjson_obj_get(part, "thinking");
        yyjson_arr_foreach(thinking, inner, inner_most, thought)
        {
            draft_add(draft, &draft->reasoning, yyjson_obj_get(thought, "text"));
        }
    }
}

static void take_message(struct draft *draft, yyjson_val *message, bool whole)
{
    static const char *const KEYS[] = {"reasoning_content", "reasoning"};
    take_content(draft, yyjson_obj_get(message, "content"));
    draft_add(draft, &draft->refusal, yyjson_obj_get(message, "refusal"));
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        yyjson_val *reasoning = yyjson_obj_get(message, KEYS[i]);
        /* Some send it under both names; the first that comes counts. */
        if (yyjson_get_len(reasoning) &&
            (!draft->reasoning_key || strcmp(draft->reasoning_key, KEYS[i]) == 0)) {
            draft->reasoning_key = KEYS[i];
            draft_add(draft, &draft->reasoning, reasoning);
        }
    }
    size_t at, most;
    yyjson_val *detail;
    yyjson_val *details = yyjson_obj_get(message, "reasoning_details");
    yyjson_arr_foreach(details, at, most, detail)
    {
        draft_add_item(draft, detail);
    }
    take_uses(draft, yyjson_obj_get(message, "tool_calls"), whole);
}

static void take_finish(struct draft *draft, yyjson_val *reason)
{
    static const struct draft_word REASONS[] = {
        {"length", DRAFT_LENGTH},
        {"model_length", DRAFT_CONTEXT},
        {"content_filter", DRAFT_FILTERED},
    };
    if (yyjson_equals_str(reason, "error")) {
        draft_fail(draft, NULL);
    }
    draft_stop(draft, reason, REASONS, sizeof REASONS / sizeof *REASONS, DRAFT_STOPPED);
}

static void take_usage(struct draft *draft, yyjson_val *usage)
{
    struct model_usage *sums = &draft->usage;
    draft_count(draft, usage, "prompt_tokens", &sums->input_tokens);
    draft_count(draft, usage, "completion_tokens", &sums->output_tokens);
    draft_count(draft, usage, "prompt_cache_hit_tokens", &sums->cached_tokens); /* DeepSeek's */
    draft_count(draft, yyjson_obj_get(usage, "prompt_tokens_details"), "cached_tokens",
                &sums->cached_tokens);
    draft_count(draft, yyjson_obj_get(usage, "completion_tokens_details"), "reasoning_tokens",
                &sums->reasoning_tokens);
}

static void take(struct draft *draft, yyjson_val *root)
{
    yyjson_val *error = yyjson_obj_get(root, "error");
    yyjson_val *choices = yyjson_obj_get(root, "choices");
    if ((error && !yyjson_is_null(error)) ||
        yyjson_equals_str(yyjson_obj_get(root, "object"), "error")) {
        draft_fail(draft, root);
        return;
    }
    draft->seen = draft->seen || yyjson_is_arr(choices);
    take_usage(draft, yyjson_obj_get(root, "usage"));
    take_usage(draft, yyjson_obj_get(yyjson_obj_get(root, "x_groq"), "usage"));
    yyjson_val *choice = yyjson_arr_get_first(choices);
    yyjson_val *message = yyjson_obj_get(choice, "message");
    bool whole = yyjson_is_obj(message);
    take_message(draft, whole ? message : yyjson_obj_get(choice, "delta"), whole);
    take_finish(draft, yyjson_obj_get(choice, "finish_reason"));
    if (yyjson_is_obj(yyjson_obj_get(choice, "error"))) {
        draft_fail(draft, choice);
    }
}

const struct dialect DIALECT_CHAT = {
    .name = "chat completions",
    .path = path,
    .write = write_request,
    .take = take,
    .echo = echo,
};
