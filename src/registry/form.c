/* Results as text: which clients get it, and what it looks like. */
#include "registry/form.h"

#include "config/budget.h"
#include "config/profile.h"
#include "core/id.h"
#include "core/limits.h"
#include "text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool form_is_text(void)
{
    return budget_find().as_text && !profile_promises_json();
}

/* ---- definitions ---- */

/* Claude Code puts a longer result into a file unless its tool announces the size, and takes no
 * announcement beyond this. */
#define MOST_ANNOUNCED 500000
/* It counts in UTF-16, where a character may take two units. */
#define UNITS_PER_CHAR 2

/* What a client wants to know of a tool beyond the protocol; NULL: nothing. */
static yyjson_mut_val *make_meta(yyjson_mut_doc *doc, const struct entry *entry)
{
    size_t units = UNITS_PER_CHAR * budget_chars();
    yyjson_mut_val *meta = entry->large || entry->upfront ? yyjson_mut_obj(doc) : NULL;
    if (entry->large) {
        yyjson_mut_obj_add_uint(doc, meta, "anthropic/maxResultSizeChars",
                                units < MOST_ANNOUNCED ? units : MOST_ANNOUNCED);
    }
    if (entry->upfront && registry_is_ready(entry)) {
        yyjson_mut_obj_add_bool(doc, meta, "anthropic/alwaysLoad", true);
    }
    return meta;
}

yyjson_mut_val *form_definition(yyjson_mut_doc *doc, const struct entry *entry)
{
    yyjson_mut_val *definition = registry_public_definition(doc, entry);
    if (form_is_text()) {
        yyjson_mut_obj_remove_key(definition, "outputSchema");
    }
    yyjson_mut_val *meta = make_meta(doc, entry);
    if (meta) {
        yyjson_mut_obj_add_val(doc, definition, "_meta", meta);
    }
    return definition;
}

/* ---- text ---- */

#define LABEL_SIZE  300 /* of the line above an item */
#define SHORT_ITEM  60  /* bytes; lists of longer texts have a line for each */
#define FIRST_SPAN  1000000
#define MOST_SPANS  12 /* each ten times the one before */
#define NUMBER_SIZE 24
#define TEXT_MOST   (2 * LIMIT_CALL_ARENA_BYTES)

struct result_writing {
    struct buf out;
    struct arena *arena;
    const struct entry *entry;
    char number[NUMBER_SIZE];
};

/* The characters at which some reader begins a new line: all controls, and the two separators of
 * Unicode. */
static bool breaks_line(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
}

static void put_one_line(struct buf *out, const char *text)
{
    const char *end = text + strlen(text);
    bool gap = false;
    while (text < end) {
        const char *from = text;
        bool breaks = breaks_line(text_next(&text, end));
        if (!breaks) {
            buf_append(out, from, (size_t)(text - from));
        } else if (!gap) {
            buf_putc(out, ' ');
        }
        gap = breaks;
    }
}

/* A value on one line: a string as it is, anything else as JSON. */
static void put_value(struct result_writing *writing, yyjson_mut_val *value)
{
    size_t length = 0;
    const char *text = yyjson_mut_get_str(value);
    text = text ? text : json_text(writing->arena, value, &length);
    if (text) {
        put_one_line(&writing->out, text);
    }
}

static bool is_short(yyjson_mut_val *item)
{
    const char *text = yyjson_mut_get_str(item);
    return !text || (strlen(text) <= SHORT_ITEM && !strchr(text, ','));
}

/* A list of plain values: on one line, or a line for each where one is long. */
static void put_values(struct result_writing *writing, yyjson_mut_val *list)
{
    yyjson_mut_val *item;
    bool one_line = true;
    bool first = true;
    yyjson_mut_arr_iter each = yyjson_mut_arr_iter_with(list);
    while ((item = yyjson_mut_arr_iter_next(&each)) != NULL) {
        one_line &= is_short(item);
    }
    each = yyjson_mut_arr_iter_with(list);
    while ((item = yyjson_mut_arr_iter_next(&each)) != NULL) {
        buf_puts(&writing->out, one_line ? first ? " " : ", " : "\n- ");
        put_value(writing, item);
        first = false;
    }
}

static bool is_list_of_objects(yyjson_mut_val *value)
{
    yyjson_mut_val *item;
    bool only_objects = yyjson_mut_arr_size(value) > 0;
    yyjson_mut_arr_iter each = yyjson_mut_arr_iter_with(value);
    while ((item = yyjson_mut_arr_iter_next(&each)) != NULL) {
        only_objects &= yyjson_mut_is_obj(item);
    }
    return only_objects;
}

/* Items of a list as "navigation 1204, related 830 (See also; More)": the values of each, with
 * those of a list inside it in parentheses. */
static void put_items_in_line(struct result_writing *writing, yyjson_mut_val *list)
{
    yyjson_mut_val *item, *key, *inner;
    const char *before_item = " ";
    yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(list);
    while ((item = yyjson_mut_arr_iter_next(&items)) != NULL) {
        const char *before = before_item;
        yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(item);
        while ((key = yyjson_mut_obj_iter_next(&members)) != NULL) {
            yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
            if (!yyjson_mut_is_arr(value)) {
                buf_puts(&writing->out, before);
                put_value(writing, value);
                before = " ";
                continue;
            }
            before = " (";
            yyjson_mut_arr_iter values = yyjson_mut_arr_iter_with(value);
            while ((inner = yyjson_mut_arr_iter_next(&values)) != NULL) {
                buf_puts(&writing->out, before);
                put_value(writing, inner);
                before = "; ";
            }
            buf_puts(&writing->out, ")");
        }
        before_item = ", ";
    }
}

static bool is_named(yyjson_val *names, const char *name)
{
    yyjson_val *one;
    yyjson_arr_iter each = yyjson_arr_iter_with(names);
    while ((one = yyjson_arr_iter_next(&each)) != NULL) {
        if (yyjson_equals_str(one, name)) {
            return true;
        }
    }
    return false;
}

static bool is_unsaid(const struct result_writing *writing, const char *name)
{
    return is_named(writing->entry->unsaid, name) || strcmp(name, "success") == 0;
}

/* Whether the items of a list have lines of their own. */
static bool has_items(const struct result_writing *writing, const char *name, yyjson_mut_val *value)
{
    return is_list_of_objects(value) && !is_named(writing->entry->one_line, name);
}

static bool is_body(const struct result_writing *writing, const char *name, yyjson_mut_val *value)
{
    return yyjson_mut_is_str(value) && strcmp(name, writing->entry->body) == 0;
}

/* What has no line: it says nothing, or has a place of its own below. */
static bool has_no_line(const struct result_writing *writing, const char *name,
                        yyjson_mut_val *value)
{
    return is_unsaid(writing, name) || is_body(writing, name, value) || yyjson_mut_is_null(value) ||
           yyjson_mut_equals_str(value, "") || has_items(writing, name, value);
}

/* The lines of an object. The members of an object inside it have its name before theirs, unless it
 * is the envelope of all that came. */
static void put_lines(struct result_writing *writing, yyjson_mut_val *object, const char *before,
                      bool top)
{
    yyjson_mut_val *key;
    yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(object);
    while ((key = yyjson_mut_obj_iter_next(&each)) != NULL) {
        const char *name = yyjson_mut_get_str(key);
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        if (has_no_line(writing, name, value)) {
            continue;
        }
        if (top && yyjson_mut_is_obj(value)) {
            const char *inner = arena_printf(writing->arena, "%s%s.", before, name);
            put_lines(writing, value, strcmp(name, "data") == 0 || !inner ? before : inner, true);
            continue;
        }
        buf_puts(&writing->out, before);
        put_one_line(&writing->out, name);
        buf_putc(&writing->out, ':');
        if (!yyjson_mut_is_arr(value)) {
            buf_putc(&writing->out, ' ');
            put_value(writing, value);
        } else if (is_list_of_objects(value)) {
            put_items_in_line(writing, value);
        } else if (yyjson_mut_arr_size(value)) {
            put_values(writing, value);
        } else {
            buf_puts(&writing->out, " none");
        }
        buf_putc(&writing->out, '\n');
    }
}

static void put_object(struct result_writing *writing, yyjson_mut_val *object, const char *label);

/* The items of the lists of an object. `label` says where that object stands itself. */
static void put_items(struct result_writing *writing, yyjson_mut_val *object, const char *label)
{
    yyjson_mut_val *key;
    yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(object);
    while ((key = yyjson_mut_obj_iter_next(&each)) != NULL) {
        const char *name = yyjson_mut_get_str(key);
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        if (!*label && yyjson_mut_is_obj(value)) {
            put_items(writing, value, label);
        }
        if (is_unsaid(writing, name) || !has_items(writing, name, value)) {
            continue;
        }
        yyjson_mut_val *item;
        size_t count = 0;
        yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(value);
        while ((item = yyjson_mut_arr_iter_next(&items)) != NULL) {
            char own[LABEL_SIZE];
            snprintf(own, sizeof own, "%s%s%s %zu of %zu", label, *label ? ", " : "", name, ++count,
                     yyjson_mut_arr_size(value));
            buf_printf(&writing->out, "\n[%s]\n", own);
            put_object(writing, item, own);
        }
    }
}

static void put_body(struct result_writing *writing, yyjson_mut_val *object, bool top)
{
    yyjson_mut_val *key;
    yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(object);
    while ((key = yyjson_mut_obj_iter_next(&each)) != NULL) {
        const char *name = yyjson_mut_get_str(key);
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        const char *text = yyjson_mut_get_str(value);
        if (top && yyjson_mut_is_obj(value)) {
            put_body(writing, value, true);
        }
        if (is_body(writing, name, value) && *text) {
            bool ends = text[strlen(text) - 1] == '\n';
            buf_printf(&writing->out, "<%s %s>\n", name, writing->number);
            buf_puts(&writing->out, text);
            buf_printf(&writing->out, "%s</%s %s>\n", ends ? "" : "\n", name, writing->number);
        }
    }
}

/* Its lines, its long text, the items of its lists; at the top the long text comes last, since a
 * reader should have seen everything else by then. */
static void put_object(struct result_writing *writing, yyjson_mut_val *object, const char *label)
{
    bool top = !*label;
    put_lines(writing, object, "", top);
    if (!top) {
        put_body(writing, object, top);
    }
    put_items(writing, object, label);
    if (top) {
        put_body(writing, object, top);
    }
}

/* ---- the number of the tags ---- */

static bool occurs(yyjson_mut_val *value, const char *number)
{
    yyjson_mut_val *item;
    if (yyjson_mut_is_str(value)) {
        return strstr(yyjson_mut_get_str(value), number) != NULL;
    }
    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter each = yyjson_mut_arr_iter_with(value);
        while ((item = yyjson_mut_arr_iter_next(&each)) != NULL) {
            if (occurs(item, number)) {
                return true;
            }
        }
    }
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(value);
        while ((item = yyjson_mut_obj_iter_next(&each)) != NULL) {
            if (occurs(item, number) || occurs(yyjson_mut_obj_iter_get_val(item), number)) {
                return true;
            }
        }
    }
    return false;
}

/* Few digits cost few tokens; a text that holds the number that was drawn gets a longer one. */
static int choose_number(struct result_writing *writing, yyjson_mut_val *answer)
{
    uint64_t span = FIRST_SPAN;
    for (int i = 0; i < MOST_SPANS; i++, span *= 10) {
        uint64_t drawn;
        int status = id_random(&drawn, sizeof drawn);
        if (status != OK) {
            return status;
        }
        snprintf(writing->number, sizeof writing->number, "%" PRIu64,
                 span / 10 + drawn % (span - span / 10));
        if (!occurs(answer, writing->number)) {
            return OK;
        }
    }
    return ERR_LIMIT;
}

const char *form_text(struct arena *arena, const struct entry *entry, yyjson_mut_val *answer,
                      size_t *length)
{
    struct result_writing writing = {.arena = arena, .entry = entry};
    if (!entry->body) {
        return json_text(arena, answer, length);
    }
    if (choose_number(&writing, answer) != OK) {
        return NULL;
    }
    buf_init(&writing.out, TEXT_MOST);
    put_object(&writing, answer, "");
    *length = writing.out.length;
    return buf_to_arena(&writing.out, arena);
}
