/* Setting and taking out members of a JSON document. */
#include "setup/jsonc.h"

#include "core/status.h"
#include "setup/jsonc_scan.h"
#include "text/json.h"

#include <string.h>

static const char DEFAULT_UNIT[] = "  ";

struct json_edit {
    const char *text;
    size_t length;
    const char *const *path;
    size_t depth;
    struct jsonc_map map;
    struct buf *out;
    const char *newline;
    struct document_span unit; /* one level of indentation, in the text; empty: the default */
};

/* ---- finding ---- */

static int not_an_object(const struct json_edit *edit, size_t level,
                         struct document_problem *problem)
{
    if (level == 0) {
        return document_wrong(problem, edit->text, edit->length, edit->map.root,
                              "the document is not an object");
    }
    return document_wrong(problem, edit->text, edit->length, edit->map.levels[level - 1].value,
                          "\"%s\" is not an object", edit->path[level - 1]);
}

/* The level of the deepest object that is there. OK when the member is there too, or ERR_NOTFOUND.
 */
static int find_level(const struct json_edit *edit, size_t *level, struct document_problem *problem)
{
    for (*level = 0; *level < edit->depth; (*level)++) {
        const struct jsonc_level *object = &edit->map.levels[*level];
        if (!object->is_object) {
            return not_an_object(edit, *level, problem);
        }
        if (object->matches > 1) {
            return document_wrong(problem, edit->text, edit->length, object->key,
                                  "\"%s\" is there more than once", edit->path[*level]);
        }
        if (object->matches == 0) {
            return ERR_NOTFOUND;
        }
    }
    *level = edit->depth - 1;
    return OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_all_space(const struct json_edit *edit, size_t start, size_t end)
{
    while (start < end && is_space(edit->text[start])) {
        start++;
    }
    return start >= end;
}

static bool has_newline(const struct json_edit *edit, size_t start, size_t end)
{
    return end > start && memchr(edit->text + start, '\n', end - start) != NULL;
}

/* ---- style ---- */

/* The blanks that the line of `offset` begins with. */
static struct document_span indentation(const struct json_edit *edit, size_t offset)
{
    size_t start = document_line_start(edit->text, offset);
    return (struct document_span){start, document_skip_blanks(edit->text, edit->length, start)};
}

static void learn_style(struct json_edit *edit)
{
    const struct jsonc_level *root = &edit->map.levels[0];
    edit->newline = document_newline(edit->text, edit->length);
    if (root->is_object && root->members && document_begins_line(edit->text, root->first)) {
        struct document_span outer = indentation(edit, root->open);
        struct document_span inner = indentation(edit, root->first);
        size_t outer_length = outer.end - outer.start;
        if (inner.end - inner.start > outer_length) {
            edit->unit = (struct document_span){inner.start + outer_length, inner.end};
        }
    }
}

static int open_edit(struct json_edit *edit, struct document_problem *problem)
{
    int status = jsonc_scan(edit->text, edit->length, edit->path, edit->depth, &edit->map, problem);
    if (status == OK) {
        learn_style(edit);
    }
    return status;
}

/* ---- writing ---- */

static void put_span(struct json_edit *edit, size_t start, size_t end)
{
    if (end > start) {
        buf_append(edit->out, edit->text + start, end - start);
    }
}

static void put_units(struct json_edit *edit, size_t count)
{
    while (count--) {
        if (edit->unit.end > edit->unit.start) {
            put_span(edit, edit->unit.start, edit->unit.end);
        } else {
            buf_puts(edit->out, DEFAULT_UNIT);
        }
    }
}

/* Where a new line begins: so many levels deeper than a line of the document. */
struct indent {
    struct document_span line;
    size_t deeper;
};

static void put_line(struct json_edit *edit, const struct indent *indent, size_t deeper)
{
    buf_puts(edit->out, edit->newline);
    put_span(edit, indent->line.start, indent->line.end);
    put_units(edit, indent->deeper + deeper);
}

/* Writes text in the one form that values have. */
static void put_value(struct json_edit *edit, const char *value, const struct indent *indent,
                      bool on_one_line)
{
    for (const char *line = value; *line;) {
        size_t length = strcspn(line, "\n");
        buf_append(edit->out, line, length);
        const char *last = length ? line + length - 1 : line;
        line += length + (line[length] == '\n');
        size_t blanks = strspn(line, " ");
        if (!*line) {
            break;
        }
        if (!on_one_line) {
            put_line(edit, indent, blanks / strlen(DEFAULT_UNIT));
        } else if (!strchr("{[", *last) && !strchr("}]", line[blanks])) {
            buf_putc(edit->out, ' ');
        }
        line += blanks;
    }
}

/* "name": value, wrapped in an object for each further name of the path. */
static void put_member(struct json_edit *edit, size_t level, const char *value,
                       struct indent indent, bool on_one_line)
{
    size_t wraps = edit->depth - 1 - level;
    for (size_t i = level; i < edit->depth; i++) {
        json_put_string(edit->out, edit->path[i]);
        buf_puts(edit->out, ": ");
        if (i + 1 < edit->depth) {
            buf_putc(edit->out, '{');
            indent.deeper++;
            if (!on_one_line) {
                put_line(edit, &indent, 0);
            }
        }
    }
    put_value(edit, value, &indent, on_one_line);
    while (wraps--) {
        indent.deeper--;
        if (!on_one_line) {
            put_line(edit, &indent, 0);
        }
        buf_putc(edit->out, '}');
    }
}

/* ---- setting ---- */

/* Where the last thing of an object ends that is not white space; a line that ends there is kept
 * whole. */
static size_t last_thing(const struct json_edit *edit, const struct jsonc_level *object)
{
    size_t at = object->close;
    while (at > object->open + 1 && is_space(edit->text[at - 1])) {
        at--;
    }
    size_t end = document_skip_blanks(edit->text, edit->length, at);
    return edit->text[end] == '\n' || edit->text[end] == '\r' ? end : at;
}

static void insert_first(struct json_edit *edit, size_t level, const char *value)
{
    const struct jsonc_level *object = &edit->map.levels[level];
    struct indent indent = {indentation(edit, object->open), 1};
    bool on_one_line =
        edit->map.levels[0].members > 0 && !has_newline(edit, edit->map.root, edit->map.root_end);
    size_t at = last_thing(edit, object);
    bool closes_line = !on_one_line && !has_newline(edit, at, object->close);
    at = closes_line ? object->close : at;
    put_span(edit, 0, at);
    if (!on_one_line) {
        put_line(edit, &indent, 0);
    }
    put_member(edit, level, value, indent, on_one_line);
    if (closes_line) {
        indent.deeper = 0;
        put_line(edit, &indent, 0);
    }
    put_span(edit, at, edit->length);
}

static void insert_last(struct json_edit *edit, size_t level, const char *value)
{
    const struct jsonc_level *object = &edit->map.levels[level];
    bool begins_line = document_begins_line(edit->text, object->first);
    struct indent indent = {indentation(edit, begins_line ? object->first : object->open),
                            begins_line ? 0 : 1};
    bool on_one_line = !has_newline(edit, object->open, object->close);
    size_t at = last_thing(edit, object);
    put_span(edit, 0, object->last_end);
    if (object->trailing == JSONC_NOWHERE) {
        buf_putc(edit->out, ',');
    }
    put_span(edit, object->last_end, at);
    if (on_one_line) {
        buf_putc(edit->out, ' ');
    } else {
        put_line(edit, &indent, 0);
    }
    put_member(edit, level, value, indent, on_one_line);
    if (object->trailing != JSONC_NOWHERE) {
        buf_putc(edit->out, ',');
    }
    put_span(edit, at, edit->length);
}

static void replace(struct json_edit *edit, const char *value)
{
    const struct jsonc_level *object = &edit->map.levels[edit->depth - 1];
    struct indent indent = {indentation(edit, object->key), 0};
    bool on_one_line = !document_begins_line(edit->text, object->key) &&
                       !has_newline(edit, object->value, object->value_end);
    put_span(edit, 0, object->value);
    put_value(edit, value, &indent, on_one_line);
    put_span(edit, object->value_end, edit->length);
}

/* A document without any value gets one, after what it has of comments. */
static void begin(struct json_edit *edit, const char *value)
{
    struct indent indent = {{0, 0}, 1};
    size_t mark = document_mark(edit->text, edit->length);
    put_span(edit, 0, edit->length);
    if (edit->length > mark && edit->text[edit->length - 1] != '\n') {
        buf_puts(edit->out, edit->newline);
    }
    buf_putc(edit->out, '{');
    put_line(edit, &indent, 0);
    put_member(edit, 0, value, indent, false);
    indent.deeper = 0;
    put_line(edit, &indent, 0);
    buf_putc(edit->out, '}');
    buf_puts(edit->out, edit->newline);
}

int jsonc_set(const char *text, size_t length, const char *const *path, size_t depth,
              const char *value, struct buf *out, struct document_problem *problem)
{
    struct json_edit edit = {
        .text = text, .length = length, .path = path, .depth = depth, .out = out};
    size_t level = 0;
    int status = open_edit(&edit, problem);
    if (status != OK) {
        return status;
    }
    if (edit.map.is_blank) {
        begin(&edit, value);
        return buf_error(out);
    }
    status = find_level(&edit, &level, problem);
    if (status == OK) {
        replace(&edit, value);
    } else if (status != ERR_NOTFOUND) {
        return status;
    } else if (edit.map.levels[level].members) {
        insert_last(&edit, level, value);
    } else {
        insert_first(&edit, level, value);
    }
    return buf_error(out);
}

/* ---- taking out ---- */

/* Whether the line goes on from `offset` with nothing, or with a comment that ends with it. */
static bool ends_line(const struct json_edit *edit, size_t offset)
{
    offset = document_skip_blanks(edit->text, edit->length, offset);
    const char *rest = edit->text + offset;
    size_t left = edit->length - offset;
    return (left >= 1 && rest[0] == '\n') || (left >= 2 && memcmp(rest, "\r\n", 2) == 0) ||
           (left >= 2 && memcmp(rest, "//", 2) == 0);
}

/* Where the member begins with the line end and the blanks before it. */
static size_t with_line_end(const struct json_edit *edit, size_t key)
{
    size_t start = document_line_start(edit->text, key);
    start -= start > 0;
    return start > 0 && edit->text[start - 1] == '\r' ? start - 1 : start;
}

static void take_out(struct json_edit *edit)
{
    const struct jsonc_level *object = &edit->map.levels[edit->depth - 1];
    bool is_last = object->comma_after == JSONC_NOWHERE;
    size_t end = is_last ? object->value_end : object->comma_after + 1;
    size_t start = object->key;
    if (document_begins_line(edit->text, object->key) && ends_line(edit, end)) {
        start = with_line_end(edit, object->key);
    } else if (!is_last) {
        end = document_skip_blanks(edit->text, edit->length, end);
    }
    if (is_all_space(edit, object->open + 1, start) && is_all_space(edit, end, object->close)) {
        start = object->open + 1;
        end = object->close;
    }
    if (is_last && object->comma_before != JSONC_NOWHERE) {
        put_span(edit, 0, object->comma_before);
        put_span(edit, object->comma_before + 1, start);
    } else {
        put_span(edit, 0, start);
    }
    put_span(edit, end, edit->length);
}

/* Opens the text where the member is that the path names. ERR_NOTFOUND when there is none. */
static int open_at_member(struct json_edit *edit, size_t *level, struct document_problem *problem)
{
    int status = open_edit(edit, problem);
    if (status == OK && edit->map.is_blank) {
        return ERR_NOTFOUND;
    }
    return status == OK ? find_level(edit, level, problem) : status;
}

int jsonc_remove(const char *text, size_t length, const char *const *path, size_t depth,
                 struct buf *out, struct document_problem *problem)
{
    struct json_edit edit = {
        .text = text, .length = length, .path = path, .depth = depth, .out = out};
    size_t level = 0;
    int status = open_at_member(&edit, &level, problem);
    if (status == OK) {
        take_out(&edit);
        status = buf_error(out);
    }
    return status;
}

/* ---- asking ---- */

int jsonc_get(const char *text, size_t length, const char *const *path, size_t depth,
              struct document_span *value, struct document_problem *problem)
{
    struct json_edit edit = {.text = text, .length = length, .path = path, .depth = depth};
    size_t level = 0;
    int status = open_at_member(&edit, &level, problem);
    if (status == OK) {
        const struct jsonc_level *object = &edit.map.levels[level];
        *value = (struct document_span){object->value, object->value_end};
    }
    return status;
}

bool jsonc_is_extended(const char *text, size_t length, struct document_problem *problem)
{
    static const char *const NOTHING[] = {""};
    struct jsonc_map map;
    if (jsonc_scan(text, length, NOTHING, 1, &map, problem) != OK ||
        map.extended == JSONC_NOWHERE) {
        return false;
    }
    document_wrong(problem, text, length, map.extended, "a comment or a trailing comma");
    return true;
}
