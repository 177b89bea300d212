/* A tolerant reader of one JSON value that writes it again, strictly; around it, the search for
 * where one begins. Whatever comes, the work is bounded: a beginning that is none fails at its
 * first wrong byte, and all beginnings together may cost a few times the text. */
#include "research/steps.h"

#include "core/limits.h"
#include "core/status.h"

#include <string.h>
#include <strings.h>

#define MOST_WORK_FACTOR 8 /* bytes that may be looked at, for each byte of the text */
#define LEAST_WORK       KIB(64)

/* ---- one value, read tolerantly and written strictly ---- */

struct json_reader {
    const char *at;
    const char *end;
    struct buf *out;
    size_t depth;
    bool cut; /* the text ended inside the value */
};

static bool ends(struct json_reader *reader)
{
    if (reader->at < reader->end) {
        return false;
    }
    reader->cut = true;
    return true;
}

static void skip_blanks(struct json_reader *reader)
{
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4)) {
        reader->at++;
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of a \u escape at `at`; negative when they are none. */
static int escape_unit(const char *at, const char *end)
{
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = at + i < end ? hex_value(at[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

/* \uXXXX, the backslash taken: as it is, a pair of surrogates too; half a pair becomes the
 * replacement character, and a NUL, which no text of ours may hold, as well. */
static void read_unicode_escape(struct json_reader *reader)
{
    const char *digits = reader->at + 1;
    int unit = escape_unit(digits, reader->end);
    if (unit < 0) { /* not an escape: a "u" */
        buf_putc(reader->out, 'u');
        reader->at++;
        return;
    }
    reader->at = digits + 4;
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    if (is_high && reader->end - reader->at >= 6 && memcmp(reader->at, "\\u", 2) == 0) {
        int low = escape_unit(reader->at + 2, reader->end);
        if (low >= 0xDC00 && low < 0xE000) {
            buf_printf(reader->out, "\\u%04x\\u%04x", (unsigned)unit, (unsigned)low);
            reader->at += 6;
            return;
        }
    }
    bool is_alone = unit >= 0xD800 && unit < 0xE000;
    buf_printf(reader->out, "\\u%04x", is_alone || unit == 0 ? 0xFFFDu : (unsigned)unit);
}

static bool read_escape(struct json_reader *reader)
{
    reader->at++;
    if (ends(reader)) {
        return false;
    }
    char c = *reader->at;
    if (c == 'u') {
        read_unicode_escape(reader);
        return true;
    }
    if (memchr("\"\\/bfnrt", c, 8)) {
        buf_putc(reader->out, '\\');
        buf_putc(reader->out, c);
        reader->at++;
    }
    /* Any other: the backslash is dropped, and the character is read as if it stood alone. */
    return true;
}

static bool read_string(struct json_reader *reader)
{
    buf_putc(reader->out, '"');
    reader->at++;
    while (!ends(reader) && *reader->at != '"') {
        unsigned char c = (unsigned char)*reader->at;
        if (c == '\\') {
            if (!read_escape(reader)) {
                return false;
            }
        } else if (c < 0x20) {
            buf_printf(reader->out, "\\u%04x", c ? c : 0xFFFDu);
            reader->at++;
        } else {
            buf_putc(reader->out, (char)c);
            reader->at++;
        }
    }
    if (reader->cut) {
        return false;
    }
    buf_putc(reader->out, '"');
    reader->at++;
    return true;
}

/* The words of JSON, and as Python spells them. */
static const struct {
    const char *given;
    const char *written;
} WORDS[] = {
    {"true", "true"}, {"false", "false"}, {"null", "null"},
    {"True", "true"}, {"False", "false"}, {"None", "null"},
};

static bool read_word(struct json_reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t length = strlen(WORDS[i].given);
        size_t compared = length < left ? length : left;
        if (memcmp(reader->at, WORDS[i].given, compared) == 0) {
            reader->cut = compared < length;
            reader->at += compared;
            buf_puts(reader->out, WORDS[i].written);
            return !reader->cut;
        }
    }
    return false;
}

/* Digits and signs as they come: the strict parser judges them. */
static bool read_number(struct json_reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && strchr("+-.0123456789eE", *reader->at) && *reader->at) {
        reader->at++;
    }
    buf_append(reader->out, start, (size_t)(reader->at - start));
    return !ends(reader) && reader->at > start;
}

static bool read_value(struct json_reader *reader);

/* One member of an object, or one item of an array. */
static bool read_item(struct json_reader *reader, bool named)
{
    if (named) {
        if (*reader->at != '"' || !read_string(reader)) {
            return false;
        }
        skip_blanks(reader);
        if (ends(reader) || *reader->at != ':') {
            return false;
        }
        reader->at++;
        buf_putc(reader->out, ':');
        skip_blanks(reader);
    }
    return !ends(reader) && read_value(reader);
}

/* An object or an array. A comma before its end is passed over. */
static bool read_list(struct json_reader *reader)
{
    bool named = *reader->at == '{';
    char close = named ? '}' : ']';
    bool first = true;
    if (++reader->depth > LIMIT_JSON_DEPTH) {
        return false;
    }
    buf_putc(reader->out, *reader->at++);
    for (;;) {
        skip_blanks(reader);
        if (ends(reader)) {
            return false;
        }
        if (*reader->at == close) {
            break;
        }
        if (!first) {
            buf_putc(reader->out, ',');
        }
        if (!read_item(reader, named)) {
            return false;
        }
        first = false;
        skip_blanks(reader);
        if (ends(reader) || (*reader->at != ',' && *reader->at != close)) {
            return false;
        }
        reader->at += *reader->at == ',';
    }
    buf_putc(reader->out, close);
    reader->at++;
    reader->depth--;
    return true;
}

static bool read_value(struct json_reader *reader)
{
    switch (*reader->at) {
    case '{':
    case '[':
        return read_list(reader);
    case '"':
        return read_string(reader);
    case '-':
    case '0' ... '9':
        return read_number(reader);
    default:
        return read_word(reader);
    }
}

/* ---- where one begins ---- */

struct json_search {
    struct arena *scratch; /* for one candidate at a time */
    const char *end;
    const struct extract_member *wanted;
    size_t work_left;
    bool met_object;  /* a whole one, whatever is in it */
    bool met_cut;     /* one that the text ends in */
    struct buf found; /* the last one that is wanted, strictly written; empty: none yet */
};

static bool has_wanted(struct json_search *search, const struct buf *strict)
{
    arena_reset(search->scratch);
    yyjson_doc *doc = json_parse(search->scratch, strict->data, strict->length, NULL);
    yyjson_val *object = yyjson_doc_get_root(doc);
    for (const struct extract_member *each = search->wanted; doc && each->name; each++) {
        if (yyjson_get_type(yyjson_obj_get(object, each->name)) != each->type) {
            return false;
        }
    }
    return doc != NULL;
}

/* Reads the object at `at`, keeps it when it is one that is wanted, and says where to go on: behind
 * it, or behind the brace that begins none. */
static const char *try_object(struct json_search *search, const char *at)
{
    struct buf strict;
    buf_init(&strict, LIMIT_CHILD_OUTPUT_BYTES * 2);
    struct json_reader reader = {.at = at, .end = search->end, .out = &strict};
    bool whole = read_list(&reader) && buf_error(&strict) == OK;
    size_t cost = (size_t)(reader.at - at) + 1;
    search->work_left -= cost < search->work_left ? cost : search->work_left;
    search->met_object = search->met_object || whole;
    search->met_cut = search->met_cut || reader.cut;
    if (whole && has_wanted(search, &strict)) {
        buf_done(&search->found);
        search->found = strict;
    } else {
        buf_done(&strict);
    }
    if (reader.cut) {
        return search->end; /* what comes behind its brace is inside of it */
    }
    return whole ? reader.at : at + 1;
}

/* Tries every object from `at` on that is not inside another. */
static void search_objects(struct json_search *search, const char *at)
{
    while (at < search->end && search->work_left) {
        at = memchr(at, '{', (size_t)(search->end - at));
        if (!at) {
            return;
        }
        at = try_object(search, at);
    }
}

/* The first byte behind the opening of a fence that is marked as `label` at `at`, or NULL. */
static const char *behind_fence(const char *at, const char *end, const char *label)
{
    char mark = *at;
    while (at < end && *at == mark) {
        at++;
    }
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    size_t length = strlen(label);
    if ((size_t)(end - at) < length || strncasecmp(at, label, length) != 0) {
        return NULL;
    }
    at += length;
    while (at < end && memchr(" \t\r\n", *at, 4)) {
        at++;
    }
    return at < end && *at == '{' ? at : NULL;
}

static bool is_fence(const char *at, const char *end)
{
    return end - at >= 3 && (memcmp(at, "```", 3) == 0 || memcmp(at, "~~~", 3) == 0);
}

/* Tries the object that each fence with this label begins with. A fence inside an object's string
 * is passed over with the object. */
static void search_fences(struct json_search *search, const char *text, const char *label)
{
    for (const char *at = text; at < search->end && search->work_left;) {
        const char *inside =
            is_fence(at, search->end) ? behind_fence(at, search->end, label) : NULL;
        at = inside ? try_object(search, inside) : at + 1;
    }
}

static int take_found(struct json_search *search, struct arena *arena, yyjson_val **object)
{
    if (search->found.length) {
        yyjson_doc *doc = json_parse(arena, search->found.data, search->found.length, NULL);
        *object = yyjson_doc_get_root(doc);
        return doc ? OK : ERR_NOMEM;
    }
    if (arena_failed(search->scratch)) {
        return ERR_NOMEM;
    }
    if (search->met_cut) {
        return ERR_CLOSED;
    }
    return search->met_object ? ERR_INVALID : ERR_NOTFOUND;
}

int extract_json(struct arena *arena, const char *text, size_t length,
                 const struct extract_member *wanted, yyjson_val **object)
{
    static const char *const LABELS[] = {"json", ""};
    struct json_search search = {
        .scratch = arena_new(LIMIT_CALL_ARENA_BYTES),
        .end = text + length,
        .wanted = wanted,
        .work_left = length * MOST_WORK_FACTOR + LEAST_WORK,
    };
    *object = NULL;
    if (!search.scratch) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < sizeof LABELS / sizeof *LABELS && !search.found.length; i++) {
        search_fences(&search, text, LABELS[i]);
    }
    if (!search.found.length) {
        search_objects(&search, text);
    }
    int status = take_found(&search, arena, object);
    buf_done(&search.found);
    arena_free(search.scratch);
    return status;
}
