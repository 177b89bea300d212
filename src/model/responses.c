/* OpenAI's Responses, without a state on its side: every item of earlier turns is sent again, the
 * model's reasoning sealed. */
#include "model/dialect.h"

#include <string.h>

static const char *path(struct arena *arena, const struct model *model, unsigned choices)
{
    (void)arena;
    (void)model;
    (void)choices;
    return "/responses";
}

/* ---- the request ---- */

static void add_message(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *role,
                        const char *text)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
    json_add_string(doc, item, "role", role);
    json_add_string(doc, item, "content", text);
}

/* The items of a turn. Those that came are one text, a list, which cannot be put into another: its
 * members are read once more. */
static void add_turn(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct model_reply *reply,
                     unsigned choices)
{
    struct arena *arena = writing_arena(doc);
    const char *echo = reply->echo ? reply->echo : "[]";
    yyjson_val *items = yyjson_doc_get_root(json_parse(arena, echo, strlen(echo), NULL));
    size_t at, most;
    yyjson_val *item;
    yyjson_arr_foreach(items, at, most, item)
    {
        /* Where nothing is stored, reasoning that did not come sealed is not known there. */
        bool reasoning = yyjson_equals_str(yyjson_obj_get(item, "type"), "reasoning");
        bool known = !(choices & CHOICE_STATELESS) || json_string(item, "encrypted_content");
        if (!reasoning || (known && (choices & CHOICE_REASONING))) {
            yyjson_mut_arr_append(list, json_share(doc, item));
        }
    }
    if (yyjson_arr_size(items)) {
        return;
    }
    if (*reply->text) {
        add_message(doc, list, "assistant", reply->text);
    }
    for (size_t i = 0; i < reply->use_count; i++) {
        yyjson_mut_val *use = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, use, "type", "function_call");
        json_add_string(doc, use, "call_id", reply->uses[i].id);
        json_add_string(doc, use, "name", reply->uses[i].name);
        json_add_string(doc, use, "arguments", use_object(arena, &reply->uses[i]));
    }
}

static void write_input(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct model_request *request, unsigned choices)
{
    if (request->search) {
        json_add_string(doc, root, "input", request->messages->text);
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "input");
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];
        if (message->role == MODEL_ASSISTANT) {
            add_turn(doc, list, message->reply, choices);
        } else if (message->role == MODEL_USER) {
            add_message(doc, list, "user", message->text);
        } else {
            yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
            json_add_string(doc, item, "type", "function_call_output");
            json_add_string(doc, item, "call_id", message->use->id);
            json_add_string(doc, item, "output", result_text(writing_arena(doc), message));
        }
    }
}

static void write_tools(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct model_request *request, unsigned choices)
{
    yyjson_mut_val *list = request->tool_count ? yyjson_mut_obj_add_arr(doc, root, "tools") : NULL;
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct model_tool *tool = &request->tools[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, item, "type", "function");
        json_add_string(doc, item, "name", tool->name);
        json_add_string(doc, item, "description", tool->description);
        yyjson_mut_obj_add_val(doc, item, "parameters", raw_json(doc, tool->schema));
        /* Otherwise every parameter would have to be required. */
        yyjson_mut_obj_add_bool(doc, item, "strict", false);
    }
    if (request->tool_count && request->must_use && (choices & CHOICE_TOOL_CHOICE)) {
        json_add_string(doc, root, "tool_choice", "required");
    }
}

static void write_search(yyjson_mut_doc *doc, yyjson_mut_val *root,
                         const struct model_search *search, unsigned choices)
{
    yyjson_mut_val *tool = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "tools"));
    json_add_string(doc, tool, "type", "web_search");
    if (choices & CHOICE_PLACE) {
        /* Without any location the API searches as if from the United States. */
        yyjson_mut_val *place = yyjson_mut_obj_add_obj(doc, tool, "user_location");
        json_add_string(doc, place, "type", "approximate");
        json_add_string(doc, place, "country", search->country);
    }
    if (choices & CHOICE_TOOL_CHOICE) {
        json_add_string(doc, root, "tool_choice", "required");
    }
    if (choices & CHOICE_EFFORT) {
        yyjson_mut_val *reasoning = yyjson_mut_obj_add_obj(doc, root, "reasoning");
        json_add_string(doc, reasoning, "effort", "low");
    }
    if (choices & CHOICE_TEMPERATURE) {
        yyjson_mut_obj_add_val(doc, root, "temperature", raw_json(doc, search->temperature));
    }
}

static void write_request(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                          const struct model_request *request, unsigned choices, int64_t max_tokens)
{
    json_add_string(doc, root, "model", model->name);
    json_add_string(doc, root, "instructions", request->system);
    write_input(doc, root, request, choices);
    if (request->search) {
        write_search(doc, root, request->search, choices);
    } else {
        write_tools(doc, root, request, choices);
    }
    if (request->shape && (choices & CHOICE_SHAPE)) {
        yyjson_mut_val *text = yyjson_mut_obj_add_obj(doc, root, "text");
        yyjson_mut_val *format = yyjson_mut_obj_add_obj(doc, text, "format");
        json_add_string(doc, format, "type", "json_schema");
        json_add_string(doc, format, "name", request->shape_name);
        yyjson_mut_obj_add_val(doc, format, "schema", raw_json(doc, request->shape));
        yyjson_mut_obj_add_bool(doc, format, "strict", (choices & CHOICE_STRICT) != 0);
    }
    if (choices & CHOICE_LIMIT) {
        yyjson_mut_obj_add_int(doc, root, "max_output_tokens", max_tokens);
    }
    if (choices & CHOICE_STATELESS) {
        yyjson_mut_obj_add_bool(doc, root, "store", false);
    }
    if (choices & (request->search ? CHOICE_SOURCES : CHOICE_STATELESS)) {
        yyjson_mut_val *include = yyjson_mut_obj_add_arr(doc, root, "include");
        yyjson_mut_arr_add_str(doc, include,
                               request->search ? "web_search_call.action.sources"
                                               : "reasoning.encrypted_content");
    }
    if (choices & CHOICE_STREAM) {
        yyjson_mut_obj_add_bool(doc, root, "stream", true);
    }
}

/* ---- the reply ---- */

static bool is_type(yyjson_val *item, const char *type)
{
    return yyjson_equals_str(yyjson_obj_get(item, "type"), type);
}

/* A string that stays; NULL for what is none. */
static const char *keep_member(struct draft *draft, yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_str(value) && !json_holds_nul(value)
               ? arena_strndup(draft->arena, yyjson_get_str(value), yyjson_get_len(value))
               : NULL;
}

static void take_annotations(struct draft *draft, yyjson_val *list, struct model_part *part)
{
    size_t room = LIMIT_REPLY_ANNOTATIONS - draft->annotation_count;
    size_t size = yyjson_arr_size(list) < room ? yyjson_arr_size(list) : room;
    size_t at, most;
    yyjson_val *item;
    part->annotations = arena_alloc(draft->arena, (size + 1) * sizeof *part->annotations);
    yyjson_arr_foreach(list, at, most, item)
    {
        const char *url = is_type(item, "url_citation") ? keep_member(draft, item, "url") : NULL;
        if (part->annotation_count == size || !part->annotations || !url) {
            continue;
        }
        const char *title = keep_member(draft, item, "title");
        part->annotations[part->annotation_count++] = (struct model_annotation){
            .url = url,
            .title = title ? title : "",
            .start = draft_number(item, "start_index"),
            .end = draft_number(item, "end_index"),
        };
    }
    draft->annotation_count += part->annotation_count;
}

/* What a model says before it acts is no answer, unless there is no other. */
static void take_message(struct draft *draft, yyjson_val *item)
{
    bool commentary = yyjson_equals_str(yyjson_obj_get(item, "phase"), "commentary");
    struct buf *to = commentary ? &draft->spare : &draft->text;
    bool begins = true;
    size_t at, most;
    yyjson_val *part;
    yyjson_val *content = yyjson_obj_get(item, "content");
    yyjson_arr_foreach(content, at, most, part)
    {
        if (is_type(part, "refusal")) {
            draft_add(draft, &draft->refusal, yyjson_obj_get(part, "refusal"));
        } else {
            struct model_part *made = draft_add_part(draft, to, yyjson_obj_get(part, "text"));
            if (made) {
                made->begins_message = begins;
                take_annotations(draft, yyjson_obj_get(part, "annotations"), made);
                begins = false;
            }
        }
    }
}

static void take_item(struct draft *draft, yyjson_val *item)
{
    if (is_type(item, "message")) {
        take_message(draft, item);
    } else if (is_type(item, "function_call")) {
        struct draft_use *use = draft_add_use(draft, (int64_t)draft->use_count);
        draft_add(draft, &use->id, yyjson_obj_get(item, "call_id"));
        draft_add(draft, &use->name, yyjson_obj_get(item, "name"));
        draft_add_arguments(draft, use, yyjson_obj_get(item, "arguments"));
    } else if (is_type(item, "web_search_call")) {
        bool failed = yyjson_equals_str(yyjson_obj_get(item, "status"), "failed");
        *(failed ? &draft->failed_searches : &draft->searches) += 1;
    }
    if (yyjson_is_obj(item)) {
        draft_add_item(draft, item);
    }
}

static void take_state(struct draft *draft, yyjson_val *response)
{
    yyjson_val *status = yyjson_obj_get(response, "status");
    yyjson_val *reason = yyjson_obj_get(yyjson_obj_get(response, "incomplete_details"), "reason");
    if (yyjson_is_obj(yyjson_obj_get(response, "error")) || yyjson_equals_str(status, "failed")) {
        draft_fail(draft, response);
    } else if (yyjson_equals_str(reason, "content_filter")) {
        draft->end = DRAFT_FILTERED;
    } else {
        draft->end = yyjson_equals_str(status, "incomplete") ? DRAFT_LENGTH : DRAFT_STOPPED;
    }
}

/* The response itself: all of it, or what ends a stream. Some send its items alone, and SDKs hand
 * on a text beside them. */
static void take_response(struct draft *draft, yyjson_val *response)
{
    struct model_usage *sums = &draft->usage;
    yyjson_val *usage = yyjson_obj_get(response, "usage");
    draft_count(draft, usage, "input_tokens", &sums->input_tokens);
    draft_count(draft, usage, "output_tokens", &sums->output_tokens);
    draft_count(draft, yyjson_obj_get(usage, "input_tokens_details"), "cached_tokens",
                &sums->cached_tokens);
    draft_count(draft, yyjson_obj_get(usage, "output_tokens_details"), "reasoning_tokens",
                &sums->reasoning_tokens);
    draft->seen = true;
    draft->whole = true;
    if (draft->items.length == 0) {
        buf_clear(&draft->spare); /* the same text, in parts */
        size_t at, most;
        yyjson_val *item;
        bool alone = yyjson_is_arr(response);
        yyjson_val *output = alone ? response : yyjson_obj_get(response, "output");
        yyjson_arr_foreach(output, at, most, item)
        {
            take_item(draft, item);
        }
        if (!draft->part_count) {
            draft_add_part(draft, &draft->text, yyjson_obj_get(response, "output_text"));
        }
    }
    take_state(draft, response);
}

static void take(struct draft *draft, yyjson_val *root)
{
    yyjson_val *response = yyjson_obj_get(root, "response");
    yyjson_val *error = yyjson_obj_get(root, "error");
    if (yyjson_is_arr(root) || yyjson_is_arr(yyjson_obj_get(root, "output")) ||
        yyjson_is_str(yyjson_obj_get(root, "output_text"))) {
        take_response(draft, root);
    } else if (is_type(root, "error") || (error && !yyjson_is_null(error))) {
        draft_fail(draft, root);
    } else if (is_type(root, "response.completed") || is_type(root, "response.incomplete") ||
               is_type(root, "response.failed")) {
        take_response(draft, response);
    } else if (is_type(root, "response.output_item.done")) {
        draft->seen = true;
        if (is_type(yyjson_obj_get(root, "item"), "message")) {
            buf_clear(&draft->spare);
        }
        buf_clear(&draft->reasoning);
        take_item(draft, yyjson_obj_get(root, "item"));
    } else if (is_type(root, "response.output_text.delta")) {
        draft->seen = true;
        draft_add(draft, &draft->spare, yyjson_obj_get(root, "delta"));
    } else if (is_type(root, "response.function_call_arguments.delta")) {
        /* The item repeats them; until then they are only heard, for what is counted. */
        draft->seen = true;
        draft_add(draft, &draft->reasoning, yyjson_obj_get(root, "delta"));
    } else if (yyjson_is_obj(response)) {
        draft->seen = true;
    }
}

const struct dialect DIALECT_RESPONSES = {
    .name = "responses",
    .path = path,
    .write = write_request,
    .take = take,
    .echo = draft_items,
};
