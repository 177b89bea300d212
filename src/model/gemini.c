/* Gemini's generateContent: a turn is a list of parts; the signatures of thoughts on some of them
 * have to come back where they were. */
#include "model/dialect.h"
#include "text/url.h"

#include <string.h>

static const char *path(struct arena *arena, const struct model *model, unsigned choices)
{
    struct buf name;
    /* Both "gemini-3.8-flash" and the full name are in use. */
    bool full = strchr(model->name, '/') != NULL;
    buf_init(&name, KIB(8));
    if (full) {
        buf_puts(&name, model->name);
    } else {
        url_encode(&name, model->name, strlen(model->name));
    }
    const char *made = buf_error(&name) == OK && name.data
                           ? arena_printf(arena, "/%s%s:%s", full ? "" : "models/", name.data,
                                          choices & CHOICE_STREAM ? "streamGenerateContent?alt=sse"
                                                                  : "generateContent")
                           : NULL;
    buf_done(&name);
    return made;
}

/* ---- the request ---- */

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *parts, const char *text)
{
    yyjson_mut_val *part = yyjson_mut_arr_add_obj(doc, parts);
    json_add_string(doc, part, "text", text);
}

static void add_result(yyjson_mut_doc *doc, yyjson_mut_val *parts,
                       const struct model_message *message)
{
    yyjson_mut_val *part = yyjson_mut_arr_add_obj(doc, parts);
    yyjson_mut_val *result = yyjson_mut_obj_add_obj(doc, part, "functionResponse");
    if (!message->use->unnamed) {
        json_add_string(doc, result, "id", message->use->id);
    }
    json_add_string(doc, result, "name", message->use->name);
    yyjson_mut_val *response = yyjson_mut_obj_add_obj(doc, result, "response");
    json_add_string(doc, response, message->failed ? "error" : "output", message->text);
}

/* A turn that this model did not make has no signature; this one says that there is none. */
static yyjson_mut_val *new_turn(yyjson_mut_doc *doc, const struct model_reply *reply)
{
    struct arena *arena = writing_arena(doc);
    yyjson_mut_val *parts = yyjson_mut_arr(doc);
    if (*reply->text || reply->use_count == 0) {
        add_text(doc, parts, reply->text);
    }
    for (size_t i = 0; i < reply->use_count; i++) {
        yyjson_mut_val *part = yyjson_mut_arr_add_obj(doc, parts);
        yyjson_mut_val *use = yyjson_mut_obj_add_obj(doc, part, "functionCall");
        json_add_string(doc, use, "name", reply->uses[i].name);
        yyjson_mut_obj_add_val(doc, use, "args", raw_json(doc, use_object(arena, &reply->uses[i])));
        if (i == 0) {
            json_add_string(doc, part, "thoughtSignature", "skip_thought_signature_validator");
        }
    }
    return parts;
}

/* Results and words of the user that follow each other are one turn of the user. */
static void write_contents(yyjson_mut_doc *doc, yyjson_mut_val *root,
                           const struct model_request *request)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "contents");
    yyjson_mut_val *parts = NULL;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];
        const struct model_reply *reply = message->reply;
        bool own = message->role == MODEL_ASSISTANT;
        if (own || !parts) {
            yyjson_mut_val *turn = yyjson_mut_arr_add_obj(doc, list);
            json_add_string(doc, turn, "role", own ? "model" : "user");
            bool as_came = own && reply->echo && strcmp(reply->echo, "[]") != 0;
            parts = as_came ? raw_json(doc, reply->echo)
                    : own   ? new_turn(doc, reply)
                            : yyjson_mut_arr(doc);
            yyjson_mut_obj_add_val(doc, turn, "parts", parts);
        }
        if (message->role == MODEL_USER) {
            add_text(doc, parts, message->text);
        } else if (message->role == MODEL_RESULT) {
            add_result(doc, parts, message);
        }
        parts = own ? NULL : parts;
    }
}

static void write_tools(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct model_request *request, unsigned choices)
{
    if (request->tool_count == 0) {
        return;
    }
    yyjson_mut_val *tools = yyjson_mut_obj_add_arr(doc, root, "tools");
    yyjson_mut_val *list =
        yyjson_mut_obj_add_arr(doc, yyjson_mut_arr_add_obj(doc, tools), "functionDeclarations");
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct model_tool *tool = &request->tools[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, item, "name", tool->name);
        json_add_string(doc, item, "description", tool->description);
        yyjson_mut_obj_add_val(doc, item, "parametersJsonSchema", raw_json(doc, tool->schema));
    }
    if (request->must_use && (choices & CHOICE_TOOL_CHOICE)) {
        yyjson_mut_val *config = yyjson_mut_obj_add_obj(doc, root, "toolConfig");
        json_add_string(doc, yyjson_mut_obj_add_obj(doc, config, "functionCallingConfig"), "mode",
                        "ANY");
    }
}

static void write_request(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                          const struct model_request *request, unsigned choices, int64_t max_tokens)
{
    (void)model;
    if (request->system && *request->system) {
        yyjson_mut_val *system = yyjson_mut_obj_add_obj(doc, root, "systemInstruction");
        add_text(doc, yyjson_mut_obj_add_arr(doc, system, "parts"), request->system);
    }
    write_contents(doc, root, request);
    write_tools(doc, root, request, choices);
    yyjson_mut_val *config = yyjson_mut_obj_add_obj(doc, root, "generationConfig");
    if (choices & CHOICE_LIMIT) {
        yyjson_mut_obj_add_int(doc, config, "maxOutputTokens", max_tokens);
    }
    if (request->shape && (choices & CHOICE_SHAPE)) {
        json_add_string(doc, config, "responseMimeType", "application/json");
        yyjson_mut_obj_add_val(doc, config, "responseJsonSchema", raw_json(doc, request->shape));
    }
}

/* ---- the reply ---- */

/* Keeps the text that came in many parts as one. */
static void flush_text(struct draft *draft)
{
    if (draft->piece.length) {
        yyjson_mut_doc *doc = json_new(draft->scratch);
        yyjson_mut_val *part = yyjson_mut_obj(doc);
        json_add_string(doc, part, "text", draft->piece.data);
        draft_add_new_item(draft, part);
        buf_clear(&draft->piece);
    }
}

static void take_part(struct draft *draft, yyjson_val *part)
{
    yyjson_val *text = yyjson_obj_get(part, "text");
    yyjson_val *call = yyjson_obj_get(part, "functionCall");
    bool thought = yyjson_get_bool(yyjson_obj_get(part, "thought"));
    bool is_signed = yyjson_obj_get(part, "thoughtSignature") != NULL;
    draft_add(draft, thought ? &draft->reasoning : &draft->text, text);
    if (thought && !is_signed) {
        return;
    }
    if (text && !thought && !is_signed) {
        draft_add(draft, &draft->piece, text);
        return;
    }
    flush_text(draft);
    draft_add_item(draft, part);
    if (yyjson_is_obj(call)) {
        struct draft_use *use = draft_add_use(draft, (int64_t)draft->use_count);
        draft_add(draft, &use->id, yyjson_obj_get(call, "id"));
        draft_add(draft, &use->name, yyjson_obj_get(call, "name"));
        draft_add_arguments(draft, use, yyjson_obj_get(call, "args"));
    }
}

static void take_finish(struct draft *draft, yyjson_val *reason)
{
    static const struct draft_word REASONS[] = {
        {"STOP", DRAFT_STOPPED},
        {"MAX_TOKENS", DRAFT_LENGTH},
        {"MALFORMED_FUNCTION_CALL", DRAFT_MALFORMED},
        {"UNEXPECTED_TOOL_CALL", DRAFT_MALFORMED},
        {"OTHER", DRAFT_STOPPED},
        {"FINISH_REASON_UNSPECIFIED", DRAFT_STOPPED},
    };
    /* Otherwise it is SAFETY, RECITATION, BLOCKLIST, or one of those to come. */
    draft_stop(draft, reason, REASONS, sizeof REASONS / sizeof *REASONS, DRAFT_FILTERED);
}

static void take_usage(struct draft *draft, yyjson_val *usage)
{
    struct model_usage *sums = &draft->usage;
    int64_t written = -1;
    draft_count(draft, usage, "promptTokenCount", &sums->input_tokens);
    draft_count(draft, usage, "cachedContentTokenCount", &sums->cached_tokens);
    draft_count(draft, usage, "thoughtsTokenCount", &sums->reasoning_tokens);
    draft_count(draft, usage, "candidatesTokenCount", &written);
    if (usage) {
        sums->output_tokens = (written > 0 ? written : 0) + sums->reasoning_tokens;
    }
}

static void take_one(struct draft *draft, yyjson_val *root)
{
    yyjson_val *candidates = yyjson_obj_get(root, "candidates");
    yyjson_val *candidate = yyjson_arr_get_first(candidates);
    yyjson_val *blocked = yyjson_obj_get(yyjson_obj_get(root, "promptFeedback"), "blockReason");
    if (yyjson_obj_get(root, "error")) {
        draft_fail(draft, root);
        return;
    }
    draft->seen = draft->seen || yyjson_is_arr(candidates) || blocked ||
                  yyjson_obj_get(root, "usageMetadata");
    size_t at, most;
    yyjson_val *part;
    yyjson_val *parts = yyjson_obj_get(yyjson_obj_get(candidate, "content"), "parts");
    yyjson_arr_foreach(parts, at, most, part)
    {
        take_part(draft, part);
    }
    take_finish(draft, yyjson_obj_get(candidate, "finishReason"));
    take_usage(draft, yyjson_obj_get(root, "usageMetadata"));
    if (blocked) {
        draft->end = DRAFT_FILTERED;
        draft->whole = true;
    }
}

/* Without alt=sse a stream is one list of all its events. */
static void take(struct draft *draft, yyjson_val *root)
{
    if (!yyjson_is_arr(root)) {
        take_one(draft, root);
        return;
    }
    size_t at, most;
    yyjson_val *event;
    yyjson_arr_foreach(root, at, most, event)
    {
        take_one(draft, event);
    }
}

static const char *echo(struct draft *draft, const struct model_reply *reply)
{
    flush_text(draft);
    return draft->status == OK && !arena_failed(draft->scratch) ? draft_items(draft, reply) : NULL;
}

const struct dialect DIALECT_GEMINI = {
    .name = "generateContent",
    .path = path,
    .write = write_request,
    .take = take,
    .echo = echo,
    .key_header = "x-goog-api-key",
};
