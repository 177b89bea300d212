/* Anthropic's Messages: a turn is a list of blocks, which are sent back as they came, signatures of
 * thinking included. */
#include "model/dialect.h"

#include <string.h>

static const char *path(struct arena *arena, const struct model *model, unsigned choices)
{
    (void)arena;
    (void)model;
    (void)choices;
    return "/messages";
}

/* ---- the request ---- */

/* What comes before this block is the same in the next request: it need not be read again. */
static void mark_cached(yyjson_mut_doc *doc, yyjson_mut_val *block, unsigned choices)
{
    if (block && (choices & CHOICE_CACHE)) {
        yyjson_mut_val *cache = yyjson_mut_obj_add_obj(doc, block, "cache_control");
        json_add_string(doc, cache, "type", "ephemeral");
    }
}

static yyjson_mut_val *add_text(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *text)
{
    /* Empty texts are refused. */
    yyjson_mut_val *block = text && *text ? yyjson_mut_arr_add_obj(doc, list) : NULL;
    if (block) {
        json_add_string(doc, block, "type", "text");
        json_add_string(doc, block, "text", text);
    }
    return block;
}

static yyjson_mut_val *add_result(yyjson_mut_doc *doc, yyjson_mut_val *list,
                                  const struct model_message *message)
{
    yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, list);
    json_add_string(doc, block, "type", "tool_result");
    json_add_string(doc, block, "tool_use_id", message->use->id);
    json_add_string(doc, block, "content", message->text);
    if (message->failed) {
        yyjson_mut_obj_add_bool(doc, block, "is_error", true);
    }
    return block;
}

static yyjson_mut_val *new_turn(yyjson_mut_doc *doc, const struct model_reply *reply)
{
    struct arena *arena = writing_arena(doc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    add_text(doc, list, reply->text);
    for (size_t i = 0; i < reply->use_count; i++) {
        const struct model_use *use = &reply->uses[i];
        yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, block, "type", "tool_use");
        json_add_string(doc, block, "id", use->id);
        json_add_string(doc, block, "name", use->name);
        yyjson_mut_obj_add_val(doc, block, "input", raw_json(doc, use_object(arena, use)));
    }
    return list;
}

/* A turn without a block is refused too. */
static bool has_echo(const struct model_reply *reply, unsigned choices)
{
    return reply->echo && strcmp(reply->echo, "[]") != 0 && (choices & CHOICE_REASONING);
}

/* Results and words of the user that follow each other are one turn of the user. */
static void write_messages(yyjson_mut_doc *doc, yyjson_mut_val *root,
                           const struct model_request *request, unsigned choices)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "messages");
    yyjson_mut_val *blocks = NULL;
    yyjson_mut_val *last = NULL;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];
        bool own = message->role == MODEL_ASSISTANT;
        if (own || !blocks) {
            yyjson_mut_val *turn = yyjson_mut_arr_add_obj(doc, list);
            json_add_string(doc, turn, "role", own ? "assistant" : "user");
            blocks = !own                                ? yyjson_mut_arr(doc)
                     : has_echo(message->reply, choices) ? raw_json(doc, message->reply->echo)
                                                         : new_turn(doc, message->reply);
            yyjson_mut_obj_add_val(doc, turn, "content", blocks);
        }
        if (own) {
            blocks = NULL;
        } else {
            last = message->role == MODEL_USER ? add_text(doc, blocks, message->text)
                                               : add_result(doc, blocks, message);
        }
    }
    mark_cached(doc, last, choices);
}

static void write_tools(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct model_request *request, unsigned choices)
{
    yyjson_mut_val *list = request->tool_count ? yyjson_mut_obj_add_arr(doc, root, "tools") : NULL;
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct model_tool *tool = &request->tools[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, item, "name", tool->name);
        json_add_string(doc, item, "description", tool->description);
        yyjson_mut_obj_add_val(doc, item, "input_schema", raw_json(doc, tool->schema));
    }
    if (request->tool_count && request->must_use && (choices & CHOICE_TOOL_CHOICE)) {
        yyjson_mut_val *choice = yyjson_mut_obj_add_obj(doc, root, "tool_choice");
        json_add_string(doc, choice, "type", "any");
    }
}

static void write_request(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                          const struct model_request *request, unsigned choices, int64_t max_tokens)
{
    json_add_string(doc, root, "model", model->name);
    yyjson_mut_obj_add_int(doc, root, "max_tokens", max_tokens);
    if (request->system && *request->system) {
        yyjson_mut_val *system = yyjson_mut_obj_add_arr(doc, root, "system");
        mark_cached(doc, add_text(doc, system, request->system), choices);
    }
    write_messages(doc, root, request, choices);
    write_tools(doc, root, request, choices);
    if (request->shape && (choices & CHOICE_SHAPE)) {
        yyjson_mut_val *config = yyjson_mut_obj_add_obj(doc, root, "output_config");
        yyjson_mut_val *format = yyjson_mut_obj_add_obj(doc, config, "format");
        json_add_string(doc, format, "type", "json_schema");
        yyjson_mut_obj_add_val(doc, format, "schema", raw_json(doc, request->shape));
    }
    if (choices & CHOICE_STREAM) {
        yyjson_mut_obj_add_bool(doc, root, "stream", true);
    }
}

/* ---- the reply ---- */

static bool is_type(yyjson_val *value, const char *type)
{
    return yyjson_equals_str(yyjson_obj_get(value, "type"), type);
}

static void take_usage(struct draft *draft, yyjson_val *usage)
{
    int64_t fresh = -1;
    int64_t read = 0;
    int64_t written = 0;
    draft_count(draft, usage, "input_tokens", &fresh);
    draft_count(draft, usage, "cache_read_input_tokens", &read);
    draft_count(draft, usage, "cache_creation_input_tokens", &written);
    draft_count(draft, usage, "output_tokens", &draft->usage.output_tokens);
    if (fresh >= 0) {
        draft->usage.input_tokens = fresh + read + written;
        draft->usage.cached_tokens = read;
        draft->usage.stored_tokens = written;
    }
}

static void take_stop(struct draft *draft, yyjson_val *reason)
{
    static const struct draft_word REASONS[] = {
        {"max_tokens", DRAFT_LENGTH},
        {"model_context_window_exceeded", DRAFT_CONTEXT},
        {"refusal", DRAFT_FILTERED},
    };
    draft_stop(draft, reason, REASONS, sizeof REASONS / sizeof *REASONS, DRAFT_STOPPED);
}

/* What a block has from its beginning on; of a stream, its deltas follow. */
static void open_block(struct draft *draft, yyjson_val *block)
{
    yyjson_val *input = yyjson_obj_get(block, "input");
    buf_clear(&draft->began);
    buf_clear(&draft->piece);
    buf_clear(&draft->seal);
    draft_add(draft, &draft->text, is_type(block, "text") ? yyjson_obj_get(block, "text") : NULL);
    draft->open_use = SIZE_MAX;
    if (is_type(block, "tool_use")) {
        draft->open_use = draft->use_count;
        struct draft_use *use = draft_add_use(draft, (int64_t)draft->use_count);
        draft_add(draft, &use->id, yyjson_obj_get(block, "id"));
        draft_add(draft, &use->name, yyjson_obj_get(block, "name"));
        if (yyjson_obj_size(input)) {
            draft_add_arguments(draft, use, input);
        }
    }
    /* Until its deltas are there, the block is kept as it began. */
    int status =
        yyjson_is_obj(block) ? json_write_immutable(&draft->began, draft->scratch, block) : OK;
    draft->status = draft->status == OK ? status : draft->status;
}

static void take_delta(struct draft *draft, yyjson_val *delta)
{
    yyjson_val *text = yyjson_obj_get(delta, "text");
    if (is_type(delta, "text_delta")) {
        draft_add(draft, &draft->text, text);
        draft_add(draft, &draft->piece, text);
    } else if (is_type(delta, "thinking_delta")) {
        draft_add(draft, &draft->piece, yyjson_obj_get(delta, "thinking"));
        draft_add(draft, &draft->reasoning, yyjson_obj_get(delta, "thinking"));
    } else if (is_type(delta, "signature_delta")) {
        draft_add(draft, &draft->seal, yyjson_obj_get(delta, "signature"));
    } else if (is_type(delta, "input_json_delta") && draft->open_use < draft->use_count) {
        draft_add_arguments(draft, &draft->uses[draft->open_use],
                            yyjson_obj_get(delta, "partial_json"));
    }
}

/* The object that a use came with, as it can be sent back. */
static yyjson_mut_val *input_of(struct draft *draft, yyjson_mut_doc *doc,
                                const struct draft_use *use)
{
    const char *text = use->arguments.length ? use->arguments.data : "{}";
    yyjson_val *root = yyjson_doc_get_root(json_parse(draft->scratch, text, strlen(text), NULL));
    if (yyjson_is_obj(root)) {
        return json_copy(doc, root);
    }
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    json_add_string(doc, object, "not_json", text);
    return object;
}

static void append_to(yyjson_mut_doc *doc, yyjson_mut_val *block, const char *key,
                      const struct buf *more)
{
    if (more->length) {
        const char *began = yyjson_mut_get_str(yyjson_mut_obj_get(block, key));
        const char *all = arena_printf(writing_arena(doc), "%s%s", began ? began : "", more->data);
        yyjson_mut_obj_remove_key(block, key);
        json_add_string(doc, block, key, all);
    }
}

/* Keeps a block with everything that its deltas brought. */
static void close_block(struct draft *draft)
{
    struct buf *began = &draft->began;
    if (began->length == 0) {
        return;
    }
    yyjson_mut_doc *doc = json_new(draft->scratch);
    yyjson_val *start =
        yyjson_doc_get_root(json_parse(draft->scratch, began->data, began->length, NULL));
    yyjson_mut_val *block = json_copy(doc, start);
    if (!doc || !block) {
        draft->status = ERR_NOMEM;
        return;
    }
    yyjson_mut_doc_set_root(doc, block);
    bool thinking = is_type(start, "thinking");
    append_to(doc, block, thinking ? "thinking" : "text", &draft->piece);
    append_to(doc, block, "signature", &draft->seal);
    if (draft->open_use < draft->use_count) {
        yyjson_mut_obj_remove_key(block, "input");
        yyjson_mut_obj_add_val(doc, block, "input",
                               input_of(draft, doc, &draft->uses[draft->open_use]));
    }
    /* An empty text is refused when it comes back. */
    yyjson_mut_val *text = yyjson_mut_obj_get(block, "text");
    if (!is_type(start, "text") || yyjson_mut_get_len(text)) {
        draft_add_new_item(draft, block);
    }
    buf_clear(began);
    draft->open_use = SIZE_MAX;
}

static void take_whole(struct draft *draft, yyjson_val *message)
{
    size_t at, most;
    yyjson_val *block;
    yyjson_val *content = yyjson_obj_get(message, "content");
    yyjson_arr_foreach(content, at, most, block)
    {
        open_block(draft, block);
        close_block(draft);
    }
    take_usage(draft, yyjson_obj_get(message, "usage"));
    take_stop(draft, yyjson_obj_get(message, "stop_reason"));
}

static void take(struct draft *draft, yyjson_val *root)
{
    yyjson_val *delta = yyjson_obj_get(root, "delta");
    if (is_type(root, "error") || yyjson_is_obj(yyjson_obj_get(root, "error"))) {
        draft_fail(draft, root);
    } else if (is_type(root, "message")) {
        draft->seen = true;
        take_whole(draft, root);
    } else if (is_type(root, "message_start")) {
        draft->seen = true;
        take_usage(draft, yyjson_obj_get(yyjson_obj_get(root, "message"), "usage"));
    } else if (is_type(root, "content_block_start")) {
        close_block(draft);
        open_block(draft, yyjson_obj_get(root, "content_block"));
    } else if (is_type(root, "content_block_delta")) {
        take_delta(draft, delta);
    } else if (is_type(root, "content_block_stop")) {
        close_block(draft);
    } else if (is_type(root, "message_delta")) {
        close_block(draft); /* some gateways send no content_block_stop for the last one */
        take_stop(draft, yyjson_obj_get(delta, "stop_reason"));
        take_usage(draft, yyjson_obj_get(root, "usage"));
    } else if (is_type(root, "message_stop")) {
        close_block(draft);
        draft->whole = true;
    }
}

const struct dialect DIALECT_MESSAGES = {
    .name = "messages",
    .path = path,
    .write = write_request,
    .take = take,
    .echo = draft_items,
    .key_header = "x-api-key",
    .further_header = "anthropic-version",
    .further_value = "2023-06-01",
};
