/* JSON over yyjson, with our ceilings. */
#include "text/json.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- yyjson's allocator, backed by an arena ---- */

static void *arena_malloc(void *context, size_t size)
{
    return arena_alloc(context, size);
}

static void *arena_resize(void *context, void *old, size_t old_size, size_t size)
{
    return arena_realloc(context, old, old_size, size);
}

static void arena_forget(void *context, void *piece)
{
    (void)context;
    (void)piece;
}

static yyjson_alc allocator(struct arena *arena)
{
    return (yyjson_alc){arena_malloc, arena_resize, arena_forget, arena};
}

/* For reading: a text of a few megabytes may hold more values than an arena has room for. It is
 * refused while the arena is sound, so that whoever asked can still say so. Half of what is left,
 * because an array that grows leaves its smaller self behind. An arena that has no room for a small
 * text fails as ever. */
static bool is_too_much(const struct arena *arena, size_t size)
{
    return size > MIB(1) && size > arena_left(arena) / 2;
}

static void *careful_malloc(void *context, size_t size)
{
    return is_too_much(context, size) ? NULL : arena_alloc(context, size);
}

static void *careful_resize(void *context, void *old, size_t old_size, size_t size)
{
    return is_too_much(context, size) ? NULL : arena_realloc(context, old, old_size, size);
}

/* ---- reading ---- */

/* Where the text is nested too deeply, which may be text that is no JSON; false: nowhere. */
static bool find_too_deep(const char *text, size_t length, size_t *offset)
{
    unsigned depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > LIMIT_JSON_DEPTH) {
                *offset = i;
                return true;
            }
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
    return false;
}

static int compare_keys(const void *left, const void *right)
{
    yyjson_val *const *a = left;
    yyjson_val *const *b = right;
    size_t length_a = yyjson_get_len(*a);
    size_t length_b = yyjson_get_len(*b);
    int order =
        memcmp(yyjson_get_str(*a), yyjson_get_str(*b), length_a < length_b ? length_a : length_b);
    if (order == 0 && length_a != length_b) {
        order = length_a < length_b ? -1 : 1;
    }
    return order;
}

static bool same_key(yyjson_val *a, yyjson_val *b)
{
    return yyjson_get_len(a) == yyjson_get_len(b) &&
           memcmp(yyjson_get_str(a), yyjson_get_str(b), yyjson_get_len(a)) == 0;
}

/* A key that the object holds twice, or NULL. Small objects are compared pair by pair, large ones
 * sorted, so that an object of a million keys cannot hold us up. */
static yyjson_val *repeated_key(struct arena *arena, yyjson_val *object)
{
    enum { SMALL = 16 };
    size_t count = yyjson_obj_size(object);
    yyjson_val *small[SMALL];
    yyjson_val **keys = small;
    if (count > SMALL) {
        keys = arena_alloc(arena, count * sizeof *keys);
        if (!keys) {
            return NULL; /* the arena is marked as failed */
        }
    }
    size_t filled = 0;
    size_t index, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, max, key, value)
    {
        for (size_t i = 0; count <= SMALL && i < filled; i++) {
            if (same_key(keys[i], key)) {
                return key;
            }
        }
        keys[filled++] = key;
    }
    if (count > SMALL) {
        qsort(keys, filled, sizeof *keys, compare_keys);
        for (size_t i = 1; i < filled; i++) {
            if (same_key(keys[i - 1], keys[i])) {
                return keys[i];
            }
        }
    }
    return NULL;
}

/* Whether the depth of a document lets others recurse, and no key is there twice; `twice` is the
 * one that is. A value and everything in it lie one behind the other: one walk sees them all. */
static bool inspect(struct arena *arena, yyjson_val *value, yyjson_val **twice)
{
    yyjson_val *ends[LIMIT_JSON_DEPTH];
    size_t depth = 0;
    for (yyjson_val *end = unsafe_yyjson_get_next(value); value < end; value++) {
        while (depth && value >= ends[depth - 1]) {
            depth--;
        }
        if (!yyjson_is_ctn(value)) {
            continue;
        }
        if (depth == LIMIT_JSON_DEPTH) {
            return false;
        }
        ends[depth++] = unsafe_yyjson_get_next(value);
        *twice = yyjson_is_obj(value) ? repeated_key(arena, value) : NULL;
        if (*twice) {
            return false;
        }
    }
    return true;
}

static void tell(struct json_problem *problem, size_t offset, const char *text)
{
    if (problem) {
        problem->offset = offset;
        snprintf(problem->text, sizeof problem->text, "%s", text);
    }
}

yyjson_doc *json_parse(struct arena *arena, const char *text, size_t length,
                       struct json_problem *problem)
{
    size_t offset = 0;
    yyjson_val *twice = NULL;
    yyjson_alc alc = {careful_malloc, careful_resize, arena_forget, arena};
    yyjson_read_err error = {0};
    /* Without YYJSON_READ_INSITU the reader copies the text, so its type is only const in spirit.
     * It does not recurse. */
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, length, 0, &alc, &error);
    bool fine = doc && inspect(arena, yyjson_doc_get_root(doc), &twice);
    if (fine && !arena_failed(arena)) {
        return doc;
    }
    if (twice) {
        char message[sizeof problem->text];
        snprintf(message, sizeof message, "duplicate key \"%.100s\"", yyjson_get_str(twice));
        tell(problem, 0, message);
    } else if (!fine && find_too_deep(text, length, &offset)) {
        tell(problem, offset, "nested deeper than 64 levels");
    } else if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        tell(problem, 0, "more values than there is memory for");
    } else if (!doc) {
        tell(problem, error.pos, error.msg ? error.msg : "not JSON");
    } else {
        tell(problem, 0, "out of memory");
    }
    return NULL;
}

yyjson_doc *json_embedded(struct arena *arena, const char *text)
{
    yyjson_alc alc = allocator(arena);
    return yyjson_read_opts((char *)(uintptr_t)text, strlen(text), 0, &alc, NULL);
}

void json_put_string(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            buf_putc(out, '\\');
        }
        if ((unsigned char)*text < ' ' || *text == '\x7f') {
            buf_printf(out, "\\u%04x", (unsigned)*text);
        } else {
            buf_putc(out, *text);
        }
    }
    buf_putc(out, '"');
}

bool json_holds_nul(yyjson_val *value)
{
    yyjson_val *end = value ? unsafe_yyjson_get_next(value) : NULL;
    for (; value < end; value++) {
        if (yyjson_is_str(value) &&
            memchr(yyjson_get_str(value), '\0', yyjson_get_len(value)) != NULL) {
            return true;
        }
    }
    return false;
}

size_t json_chars(const char *text)
{
    static const unsigned char ESCAPES[256] = {
        [1 ... 8] = 5, ['\t'] = 1,           ['\n'] = 1, [11 ... 12] = 5,
        ['\r'] = 1,    [14 ... ' ' - 1] = 5, ['"'] = 1,  ['\\'] = 1,
    };
    size_t extra = 0;
    const char *at = text;
    for (; *at; at++) {
        extra += ESCAPES[(unsigned char)*at];
    }
    return text_count(text, (size_t)(at - text)) + extra;
}

const char *json_string(yyjson_val *object, const char *key)
{
    return yyjson_get_str(yyjson_obj_get(object, key));
}

/* ---- building and writing ---- */

yyjson_doc *json_parse_commented(struct arena *arena, const char *text, size_t length)
{
    yyjson_alc memory = allocator(arena);
    yyjson_read_flag flags = YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS;
    /* Without YYJSON_READ_INSITU the text is only read. */
    return yyjson_read_opts((char *)(uintptr_t)text, length, flags, &memory, NULL);
}

yyjson_mut_doc *json_new(struct arena *arena)
{
    yyjson_alc alc = allocator(arena);
    return yyjson_mut_doc_new(&alc);
}

yyjson_mut_val *json_copy(yyjson_mut_doc *doc, yyjson_val *value)
{
    return yyjson_val_mut_copy(doc, value);
}

yyjson_mut_val *json_share(yyjson_mut_doc *doc, yyjson_val *value)
{
    size_t index, max;
    yyjson_val *name, *member;
    yyjson_mut_val *copy = NULL;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_OBJ:
        copy = yyjson_mut_obj(doc);
        yyjson_obj_foreach(value, index, max, name, member)
        {
            yyjson_mut_obj_add(copy, json_share(doc, name), json_share(doc, member));
        }
        return copy;
    case YYJSON_TYPE_ARR:
        copy = yyjson_mut_arr(doc);
        yyjson_arr_foreach(value, index, max, member)
        {
            yyjson_mut_arr_append(copy, json_share(doc, member));
        }
        return copy;
    case YYJSON_TYPE_STR:
        return yyjson_mut_strn(doc, yyjson_get_str(value), yyjson_get_len(value));
    default:
        return yyjson_val_mut_copy(doc, value);
    }
}

void json_add_string(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    if (text) {
        yyjson_mut_obj_add_str(doc, object, key, text);
    }
}

void json_add_strings(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                      const char *const *texts, size_t count)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, key);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_str(doc, list, texts[i]);
    }
}

yyjson_val *json_freeze(struct arena *arena, yyjson_mut_val *value)
{
    yyjson_alc alc = allocator(arena);
    yyjson_doc *doc = value ? yyjson_mut_val_imut_copy(value, &alc) : NULL;
    return arena_failed(arena) ? NULL : yyjson_doc_get_root(doc);
}

static int append_written(struct buf *out, struct arena *arena, const char *text, size_t length)
{
    if (!text || arena_failed(arena)) {
        return ERR_NOMEM;
    }
    return buf_append(out, text, length);
}

static int write_value(struct buf *out, struct arena *arena, const yyjson_mut_val *value,
                       yyjson_write_flag flags)
{
    if (!value) {
        return ERR_NOMEM;
    }
    yyjson_alc alc = allocator(arena);
    size_t length = 0;
    char *text = yyjson_mut_val_write_opts(value, flags, &alc, &length, NULL);
    return append_written(out, arena, text, length);
}

const char *json_text(struct arena *arena, const yyjson_mut_val *value, size_t *length)
{
    yyjson_alc alc = allocator(arena);
    char *text = value ? yyjson_mut_val_write_opts(value, 0, &alc, length, NULL) : NULL;
    return arena_failed(arena) ? NULL : text;
}

const char *json_text_of(struct arena *arena, yyjson_val *value)
{
    yyjson_alc alc = allocator(arena);
    char *text = value ? yyjson_val_write_opts(value, 0, &alc, NULL, NULL) : NULL;
    return arena_failed(arena) ? NULL : text;
}

int json_write(struct buf *out, struct arena *arena, const yyjson_mut_val *value)
{
    return write_value(out, arena, value, 0);
}

int json_write_pretty(struct buf *out, struct arena *arena, const yyjson_mut_val *value)
{
    return write_value(out, arena, value, YYJSON_WRITE_PRETTY_TWO_SPACES);
}

int json_write_immutable(struct buf *out, struct arena *arena, yyjson_val *value)
{
    if (!value) {
        return ERR_NOMEM;
    }
    yyjson_alc alc = allocator(arena);
    size_t length = 0;
    char *text = yyjson_val_write_opts(value, 0, &alc, &length, NULL);
    return append_written(out, arena, text, length);
}
