/* What a memory looks like in JSON, read and written. */
#include "memory/fields.h"

#include "call/errors.h"
#include "core/clock.h"
#include "core/limits.h"
#include "memory/time_words.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static int fail_type(struct call *call, const char *name, const char *wanted)
{
    return call_fail(call, CODE_VALIDATION, "%s must be %s", name, wanted);
}

static int read_text(struct call *call, yyjson_val *object, const char *name, const char **text)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    if (!value || yyjson_is_null(value)) {
        return OK;
    }
    *text = yyjson_get_str(value);
    return *text ? OK : fail_type(call, name, "a string");
}

/* Where the item at `text` ends: at a mark outside of double quotes. */
static size_t item_length(const char *text, const char *marks)
{
    bool quoted = false;
    size_t length = 0;
    while (text[length] && (quoted || !strchr(marks, text[length]))) {
        quoted ^= text[length] == '"';
        length++;
    }
    return length;
}

/* Items of "a, b, c"; empty ones are left out. */
static int split_list(struct arena *arena, const char *text, bool spaced, const char ***items,
                      size_t *count)
{
    const char *marks = spaced && !text[item_length(text, ",")] ? " \t\n" : ",";
    *items = arena_alloc(arena, (strlen(text) + 1) * sizeof **items);
    for (const char *at = text; *items && *at;) {
        const char *start = at;
        const char *end = at + item_length(at, marks);
        at = end + (*end != '\0');
        while (start < end && strchr(" \t\n", *start)) {
            start++;
        }
        while (end > start && strchr(" \t\n", end[-1])) {
            end--;
        }
        if (end > start) {
            (*items)[(*count)++] = arena_strndup(arena, start, (size_t)(end - start));
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

int fields_list(struct call *call, struct arena *arena, const char *name, yyjson_val *value,
                bool spaced, const char ***items, size_t *count)
{
    size_t index, max;
    yyjson_val *item;
    *count = 0;
    *items = NULL;
    if (!value || yyjson_is_null(value)) {
        return OK;
    }
    if (yyjson_is_str(value)) {
        return split_list(arena, yyjson_get_str(value), spaced, items, count);
    }
    if (!yyjson_is_arr(value)) {
        return fail_type(call, name, "an array of strings, or one string with commas between them");
    }
    *items = arena_alloc(arena, (yyjson_arr_size(value) + 1) * sizeof **items);
    if (!*items) {
        return ERR_NOMEM;
    }
    yyjson_arr_foreach(value, index, max, item)
    {
        if (!yyjson_is_str(item)) {
            return fail_type(call, name, "an array of strings");
        }
        (*items)[(*count)++] = yyjson_get_str(item);
    }
    return OK;
}

/* Tags without repetition. */
static int read_tags(struct call *call, struct arena *arena, yyjson_val *object,
                     struct memory_change *change)
{
    const char **tags;
    size_t count;
    size_t kept = 0;
    yyjson_val *value = yyjson_obj_get(object, "tags");
    int status = fields_list(call, arena, "tags", value, false, &tags, &count);
    for (size_t i = 0; i < count && status == OK && i <= LIMIT_MEMORY_TAGS; i++) {
        bool repeated = false;
        for (size_t j = 0; j < kept; j++) {
            repeated |= strcmp(tags[j], tags[i]) == 0;
        }
        if (!repeated) {
            tags[kept++] = tags[i];
        }
    }
    change->tags = tags;
    change->tag_count = count > LIMIT_MEMORY_TAGS ? count : kept;
    change->set_tags = value != NULL;
    return status;
}

static int read_metadata(struct call *call, struct arena *arena, yyjson_val *object,
                         struct memory_change *change)
{
    yyjson_val *value = yyjson_obj_get(object, "metadata");
    if (!value || yyjson_is_null(value)) {
        return OK;
    }
    if (!yyjson_is_obj(value)) {
        return fail_type(call, "metadata", "an object");
    }
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    int status = json_write_immutable(&text, arena, value);
    change->metadata = status == OK ? arena_strndup(arena, text.data, text.length) : NULL;
    buf_done(&text);
    return change->metadata ? OK : ERR_NOMEM;
}

static int read_place(struct call *call, yyjson_val *object, struct memory_change *change)
{
    yyjson_val *value = yyjson_obj_get(object, "place");
    change->place = -1;
    if (!value || yyjson_is_null(value)) {
        return OK;
    }
    if (!yyjson_is_int(value) || yyjson_get_sint(value) < 0) {
        return fail_type(call, "place", "a whole number from 0 on");
    }
    change->place = yyjson_get_sint(value);
    return OK;
}

static int read_time(struct call *call, yyjson_val *object, const char *name, int64_t *moment_ms)
{
    const char *text = NULL;
    int status = read_text(call, object, name, &text);
    if (status != OK || !text) {
        return status;
    }
    if (strcmp(name, "expires_at") == 0 && strcmp(text, "never") == 0) {
        *moment_ms = -1;
        return OK;
    }
    return time_words_moment(text, clock_wall_ms(), moment_ms) == OK
               ? OK
               : call_fail(call, CODE_VALIDATION, "%s is \"%.60s\"; it must be " TIME_WORDS_ALLOWED,
                           name, text);
}

int fields_read(struct call *call, struct arena *arena, yyjson_val *object,
                struct memory_change *change)
{
    const struct {
        const char *name;
        const char **text;
    } TEXTS[] = {
        {"key", &change->key},   {"new_key", &change->new_key}, {"summary", &change->summary},
        {"text", &change->text}, {"session", &change->session}, {"role", &change->role},
    };
    *change = (struct memory_change){0};
    int status = OK;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS && status == OK; i++) {
        status = read_text(call, object, TEXTS[i].name, TEXTS[i].text);
    }
    if (status == OK) {
        status = read_tags(call, arena, object, change);
    }
    if (status == OK) {
        status = read_metadata(call, arena, object, change);
    }
    if (status == OK) {
        status = read_place(call, object, change);
    }
    if (status == OK) {
        status = read_time(call, object, "created_at", &change->created_ms);
    }
    if (status == OK) {
        status = read_time(call, object, "expires_at", &change->expires_ms);
    }
    change->if_version = yyjson_get_sint(yyjson_obj_get(object, "if_version"));
    change->version = yyjson_get_sint(yyjson_obj_get(object, "version"));
    return status;
}

int fields_read_line(struct call *call, struct arena *arena, yyjson_val *object,
                     struct memory_change *change)
{
    static const char *const NAMES[] = {"key",     "summary",   "text",  "tags",       "metadata",
                                        "session", "place",     "role",  "created_at", "expires_at",
                                        "damaged", "namespace", "caller"};
    static const char *const PLACES[] = {"namespace", "caller"};
    if (!yyjson_is_obj(object)) {
        return call_fail(call, CODE_VALIDATION, "it must be a JSON object");
    }
    size_t index, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, max, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
            known |= yyjson_equals_str(key, NAMES[i]);
        }
        if (!known) {
            return call_fail(call, CODE_VALIDATION,
                             "it holds \"%.60s\", which a memory does not have; allowed: "
                             "namespace, key, summary, text, tags, metadata, session, place, role, "
                             "created_at, expires_at",
                             yyjson_get_str(key));
        }
    }
    int status = OK;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES && status == OK; i++) {
        const char *text; /* that whoever asks for the memory's place reads again */
        status = read_text(call, object, PLACES[i], &text);
    }
    if (status == OK) {
        status = fields_read(call, arena, object, change);
        change->damaged = yyjson_obj_get(object, "damaged") != NULL;
    }
    return status;
}

/* ---- writing ---- */

void fields_write_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                       int64_t moment_ms)
{
    char text[TIME_WORDS_ISO_SIZE];
    yyjson_mut_obj_add_strcpy(doc, object, name, time_words_iso(moment_ms, text));
}

void fields_write_tags(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *const *tags,
                       size_t count)
{
    if (count > 0) {
        yyjson_mut_obj_add_val(doc, object, "tags", yyjson_mut_arr_with_str(doc, NULL, 0));
        yyjson_mut_val *list = yyjson_mut_obj_get(object, "tags");
        for (size_t i = 0; i < count; i++) {
            yyjson_mut_arr_add_str(doc, list, tags[i]);
        }
    }
}

void fields_write_damage(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *damage)
{
    if (damage) {
        char words[160];
        snprintf(words, sizeof words, "%s; overwrite or delete it", damage);
        yyjson_mut_obj_add_strcpy(doc, object, "damaged", words);
    }
}

static void write_shared(yyjson_mut_doc *doc, yyjson_mut_val *object, struct arena *arena,
                         const struct memory *memory)
{
    fields_write_tags(doc, object, memory->tags, memory->tag_count);
    if (memory->metadata) {
        yyjson_doc *parsed = json_parse(arena, memory->metadata, strlen(memory->metadata), NULL);
        yyjson_mut_obj_add_val(doc, object, "metadata",
                               json_copy(doc, yyjson_doc_get_root(parsed)));
    }
    json_add_string(doc, object, "session", memory->session);
    if (memory->session) {
        yyjson_mut_obj_add_sint(doc, object, "place", memory->place);
    }
    json_add_string(doc, object, "role", memory->role);
    fields_write_time(doc, object, "created_at", memory->created_ms);
}

void fields_write(yyjson_mut_doc *doc, yyjson_mut_val *object, struct arena *arena,
                  const struct memory *memory)
{
    yyjson_mut_obj_add_str(doc, object, "key", memory->key);
    yyjson_mut_obj_add_str(doc, object, "summary", memory->summary);
    write_shared(doc, object, arena, memory);
    fields_write_time(doc, object, "updated_at", memory->updated_ms);
    if (memory->expires_ms > 0) {
        fields_write_time(doc, object, "expires_at", memory->expires_ms);
    }
    yyjson_mut_obj_add_sint(doc, object, "version", memory->version);
    fields_write_damage(doc, object, memory->damage);
}

int fields_write_line(struct buf *out, struct arena *arena, const char *namespace,
                      const char *caller, const struct memory *memory)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = doc ? yyjson_mut_obj(doc) : NULL;
    if (!object) {
        return ERR_NOMEM;
    }
    json_add_string(doc, object, "caller", caller);
    yyjson_mut_obj_add_str(doc, object, "namespace", namespace);
    yyjson_mut_obj_add_str(doc, object, "key", memory->key);
    yyjson_mut_obj_add_str(doc, object, "summary", memory->summary);
    yyjson_mut_obj_add_str(doc, object, "text", memory->text);
    write_shared(doc, object, arena, memory);
    if (memory->expires_ms > 0) {
        fields_write_time(doc, object, "expires_at", memory->expires_ms);
    }
    fields_write_damage(doc, object, memory->damage);
    int status = json_write(out, arena, object);
    buf_putc(out, '\n');
    return status == OK ? buf_error(out) : status;
}
