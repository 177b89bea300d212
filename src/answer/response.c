/* Reads the responses and the errors that the Responses API sends. */
#include "answer/response.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/json.h"

#include <string.h>

/* ---- small things ---- */

/* A string of the answer as a C string: a NUL inside, which JSON can spell, becomes a blank. */
static const char *plain(struct arena *arena, yyjson_val *value, size_t *length)
{
    if (!yyjson_is_str(value)) {
        return NULL;
    }
    *length = yyjson_get_len(value);
    const char *text = yyjson_get_str(value);
    if (!memchr(text, '\0', *length)) {
        return text;
    }
    char *copy = arena_alloc(arena, *length + 1);
    for (size_t i = 0; copy && i < *length; i++) {
        copy[i] = text[i] ? text[i] : ' ';
    }
    if (copy) {
        copy[*length] = '\0';
    }
    return copy;
}

static const char *member(struct arena *arena, yyjson_val *object, const char *key)
{
    size_t length;
    return plain(arena, yyjson_obj_get(object, key), &length);
}

static bool is_type(yyjson_val *item, const char *type)
{
    return yyjson_equals_str(yyjson_obj_get(item, "type"), type);
}

/* A whole number that is not negative; some write it as 12.0. */
static int64_t count_of(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    double number = yyjson_is_num(value) ? yyjson_get_num(value) : -1;
    return number >= 0 && number < 9e15 ? (int64_t)number : -1;
}

/* ---- the texts ---- */

static int read_annotations(struct arena *arena, yyjson_val *list, size_t *room,
                            struct response_part *part)
{
    size_t size = yyjson_arr_size(list);
    size = size < *room ? size : *room;
    if (size == 0) {
        return OK;
    }
    part->annotations = arena_alloc(arena, size * sizeof *part->annotations);
    if (!part->annotations) {
        return ERR_NOMEM;
    }
    size_t index, most;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, most, item)
    {
        const char *url = member(arena, item, "url");
        if (part->annotation_count == size || !url || !is_type(item, "url_citation")) {
            continue;
        }
        const char *title = member(arena, item, "title");
        part->annotations[part->annotation_count++] = (struct annotation){
            .url = url,
            .title = title ? title : "",
            .start = count_of(item, "start_index"),
            .end = count_of(item, "end_index"),
        };
    }
    *room -= part->annotation_count;
    return OK;
}

static int add_part(struct arena *arena, struct response *response, yyjson_val *content,
                    const char *key, bool begins_message)
{
    size_t length;
    const char *text = plain(arena, yyjson_obj_get(content, key), &length);
    if (!text || length == 0) {
        return OK;
    }
    if (response->part_count == LIMIT_ANSWER_PARTS ||
        length > LIMIT_ANSWER_TEXT_BYTES - response->text_length) {
        return ERR_LIMIT;
    }
    struct response_part *part = &response->parts[response->part_count++];
    *part =
        (struct response_part){.text = text, .length = length, .begins_message = begins_message};
    response->text_length += length;
    return read_annotations(arena, yyjson_obj_get(content, "annotations"),
                            &response->annotation_room, part);
}

static int read_message(struct arena *arena, yyjson_val *message, struct response *response)
{
    size_t index, most;
    yyjson_val *content;
    yyjson_val *list = yyjson_obj_get(message, "content");
    bool begins = true;
    yyjson_arr_foreach(list, index, most, content)
    {
        if (is_type(content, "refusal")) {
            const char *refusal = member(arena, content, "refusal");
            response->refusal = refusal ? refusal : "";
        } else if (is_type(content, "output_text")) {
            size_t before = response->part_count;
            int status = add_part(arena, response, content, "text", begins);
            if (status != OK) {
                return status;
            }
            begins = begins && before == response->part_count;
        }
    }
    return OK;
}

/* Models may say what they are about to do before they answer; that is not the answer. */
static bool is_commentary(yyjson_val *item)
{
    return yyjson_equals_str(yyjson_obj_get(item, "phase"), "commentary");
}

static int read_messages(struct arena *arena, yyjson_val *output, bool commentary,
                         struct response *response)
{
    size_t index, most;
    yyjson_val *item;
    int status = OK;
    yyjson_arr_foreach(output, index, most, item)
    {
        if (status == OK && is_type(item, "message") && is_commentary(item) == commentary) {
            status = read_message(arena, item, response);
        }
    }
    return status;
}

static void count_searches(yyjson_val *output, struct response *response)
{
    size_t index, most;
    yyjson_val *item;
    yyjson_arr_foreach(output, index, most, item)
    {
        if (is_type(item, "web_search_call")) {
            bool failed = yyjson_equals_str(yyjson_obj_get(item, "status"), "failed");
            *(failed ? &response->failed_searches : &response->searches) += 1;
        }
    }
}

/* ---- the whole ---- */

static void read_state(struct arena *arena, yyjson_val *root, struct response *response)
{
    static const struct {
        const char *word;
        enum response_state state;
    } STATES[] = {{"completed", RESPONSE_COMPLETED},
                  {"incomplete", RESPONSE_INCOMPLETE},
                  {"failed", RESPONSE_FAILED}};
    const char *word = member(arena, root, "status");
    response->state = word ? RESPONSE_OTHER : RESPONSE_COMPLETED;
    for (size_t i = 0; word && i < sizeof STATES / sizeof *STATES; i++) {
        if (strcmp(word, STATES[i].word) == 0) {
            response->state = STATES[i].state;
        }
    }
    response->reason = word;
    if (response->state == RESPONSE_INCOMPLETE) {
        response->reason = member(arena, yyjson_obj_get(root, "incomplete_details"), "reason");
    }
    yyjson_val *error = yyjson_obj_get(root, "error");
    if (yyjson_is_obj(error)) {
        response->state = RESPONSE_FAILED;
    }
    response->error_code = member(arena, error, "code");
    response->error_message = member(arena, error, "message");
}

static void read_usage(yyjson_val *root, struct response *response)
{
    yyjson_val *usage = yyjson_obj_get(root, "usage");
    response->input_tokens = count_of(usage, "input_tokens");
    response->output_tokens = count_of(usage, "output_tokens");
    response->cached_tokens =
        count_of(yyjson_obj_get(usage, "input_tokens_details"), "cached_tokens");
    response->cached_tokens = response->cached_tokens > 0 ? response->cached_tokens : 0;
    response->has_usage = response->input_tokens >= 0 && response->output_tokens >= 0;
}

static int read_output(struct arena *arena, yyjson_val *root, struct response *response)
{
    yyjson_val *output = yyjson_is_arr(root) ? root : yyjson_obj_get(root, "output");
    count_searches(output, response);
    int status = read_messages(arena, output, false, response);
    if (status == OK && response->part_count == 0) {
        status = read_messages(arena, output, true, response);
    }
    if (status == OK && response->part_count == 0) {
        status = add_part(arena, response, root, "output_text", true);
    }
    return status;
}

int response_parse(struct arena *arena, const char *body, size_t length, struct response *response,
                   const char **problem)
{
    *response = (struct response){.annotation_room = LIMIT_ANSWER_ANNOTATIONS};
    *problem = NULL;
    yyjson_doc *doc = json_parse(arena, body, length, NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    response->parts = arena_alloc(arena, LIMIT_ANSWER_PARTS * sizeof *response->parts);
    if (arena_failed(arena)) {
        return ERR_NOMEM;
    }
    bool has_output = yyjson_is_arr(yyjson_obj_get(root, "output"));
    bool has_text = yyjson_is_str(yyjson_obj_get(root, "output_text"));
    if (!root) {
        *problem = "is not JSON";
    } else if (!yyjson_is_arr(root) && !has_output && !has_text &&
               !yyjson_is_obj(yyjson_obj_get(root, "error"))) {
        *problem = "has no output";
    } else {
        read_state(arena, root, response);
        read_usage(root, response);
        int status = read_output(arena, root, response);
        *problem = status == ERR_LIMIT ? "is larger than any answer should be" : NULL;
        if (status == ERR_NOMEM || arena_failed(arena)) {
            return ERR_NOMEM;
        }
    }
    return *problem ? ERR_INVALID : OK;
}

void response_parse_error(struct arena *arena, const char *body, size_t length,
                          struct response_error *error)
{
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, body, length, NULL));
    yyjson_val *inner = yyjson_obj_get(root, "error");
    *error = (struct response_error){
        .code = member(arena, inner, "code"),
        .type = member(arena, inner, "type"),
        .param = member(arena, inner, "param"),
        /* Some gateways send a string where the API sends an object. */
        .message =
            yyjson_is_str(inner) ? member(arena, root, "error") : member(arena, inner, "message"),
    };
}
