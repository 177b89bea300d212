/* Strings, brackets and line ends are all that the cutting looks at. */
#include "memory/values.h"

#include "core/limits.h"
#include "core/status.h"

#include <string.h>

/* Members whose arrays hold items: of mem0, of OpenMemory, and of server-memory's read_graph. */
static const char *const MEMBERS[] = {"results", "memories", "entities", "relations"};

void values_init(struct values *values, values_take take, void *context)
{
    *values = (struct values){.take = take, .context = context, .line = 1, .start = 1};
    buf_init(&values->partial, LIMIT_MEMORY_ITEM_BYTES);
}

void values_done(struct values *values)
{
    buf_done(&values->partial);
}

static int fail(struct values *values, const char *problem)
{
    values->problem = problem;
    return ERR_INVALID;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool all_blank(const char *data, size_t length)
{
    size_t i = 0;
    while (i < length && is_blank(data[i])) {
        i++;
    }
    return i == length;
}

/* ---- handing on ---- */

static int hand_on_line(struct values *values, const char *data, size_t length, size_t number)
{
    struct values_piece piece = {.data = data, .length = length, .number = number};
    return all_blank(data, length) ? OK : values->take(values->context, &piece);
}

static int hand_on_partial(struct values *values)
{
    const char *data = values->partial.data ? values->partial.data : "";
    int status = hand_on_line(values, data, values->partial.length, values->start);
    buf_clear(&values->partial);
    return status;
}

static int hand_on_item(struct values *values)
{
    struct values_piece piece = {.data = values->partial.data ? values->partial.data : "",
                                 .length = values->partial.length,
                                 .number = ++values->items,
                                 .is_item = true};
    int status = values->take(values->context, &piece);
    buf_clear(&values->partial);
    return status;
}

/* ---- one byte ---- */

static int keep(struct values *values, char byte)
{
    buf_putc(&values->partial, byte);
    return buf_error(&values->partial);
}

/* Follows strings and brackets. */
static void follow(struct values *values, char byte)
{
    if (values->in_string) {
        values->in_string = values->escaped || byte != '"';
        values->escaped = !values->escaped && byte == '\\';
    } else if (byte == '"') {
        values->in_string = true;
    } else if (byte == '{' || byte == '[') {
        values->depth++;
    } else if ((byte == '}' || byte == ']') && values->depth > 0) {
        values->depth--;
    }
    values->last = is_blank(byte) ? values->last : byte;
}

/* Begins to cut items, with the byte behind the bracket. */
static void enter_items(struct values *values, bool wrapped)
{
    buf_clear(&values->partial);
    values->state = VALUES_ITEMS;
    values->wrapped = wrapped;
    values->depth = 0;
    values->after_comma = false;
}

static bool holds_items(const struct values *values)
{
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        if (strlen(MEMBERS[i]) == values->key_length &&
            memcmp(MEMBERS[i], values->key, values->key_length) == 0) {
            return true;
        }
    }
    return false;
}

/* Notes the names of members of the outermost object. Whether the byte opens an array of items. */
static bool follow_member(struct values *values, char byte)
{
    bool outermost = values->depth == 1;
    if (outermost && !values->in_string && byte == '"') {
        values->is_key = values->last == '{' || values->last == ',';
        values->key_length = values->is_key ? 0 : values->key_length;
    } else if (outermost && values->in_string && values->is_key) {
        values->is_key = values->escaped || byte != '"';
        if (values->is_key && values->key_length < sizeof values->key) {
            values->key[values->key_length++] = byte;
        }
    }
    bool opens = outermost && !values->in_string && byte == '[' && values->last == ':';
    follow(values, byte);
    return opens && holds_items(values);
}

/* Whether more must come behind this byte, on the next line. */
static bool goes_on(char byte)
{
    return byte == '{' || byte == '[' || byte == ',' || byte == ':';
}

/* In the first object: a line that ends inside of it may go on (an object that is spread over
 * lines) or be broken. */
static int take_first(struct values *values, char byte)
{
    if (follow_member(values, byte)) {
        enter_items(values, true);
        return OK;
    }
    if (byte == '\n' && !values->spread) {
        values->spread = !values->in_string && values->depth > 0 && goes_on(values->last);
        if (!values->spread) {
            values->state = VALUES_LINES;
            return hand_on_partial(values);
        }
    }
    int status = keep(values, byte);
    if (status == OK && values->spread && values->depth == 0 && !values->in_string) {
        values->state = VALUES_SPREAD;
        return hand_on_partial(values);
    }
    return status;
}

static int take_spread(struct values *values, char byte)
{
    if (values->partial.length == 0) {
        values->start = values->line;
        values->in_string = values->escaped = false;
        values->depth = 0;
        if (is_blank(byte)) {
            return OK;
        }
    }
    follow(values, byte);
    int status = keep(values, byte);
    bool closed = byte == '}' || byte == ']' || byte == '\n';
    return status == OK && closed && values->depth == 0 && !values->in_string
               ? hand_on_partial(values)
               : status;
}

static int take_item(struct values *values, char byte)
{
    bool between = values->depth == 0 && !values->in_string;
    if (between && (byte == ',' || byte == ']')) {
        bool is_empty = values->partial.length == 0;
        int status = is_empty && byte == ']' && !values->after_comma ? OK : hand_on_item(values);
        values->after_comma = byte == ',';
        if (byte == ']') {
            values->state = values->wrapped ? VALUES_MEMBERS : VALUES_AFTER;
            values->depth = values->wrapped ? 1 : 0;
            values->last = byte;
        }
        return status;
    }
    if (values->partial.length == 0 && is_blank(byte)) {
        return OK;
    }
    follow(values, byte);
    return keep(values, byte);
}

static int take_member(struct values *values, char byte)
{
    if (follow_member(values, byte)) {
        enter_items(values, true);
    } else if (values->depth == 0) {
        values->state = VALUES_AFTER;
    }
    return OK;
}

static int take_start(struct values *values, char byte)
{
    static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";
    if (is_blank(byte) || memchr(BYTE_ORDER_MARK, byte, 3)) {
        return OK;
    }
    values->start = values->line;
    if (byte == '[') {
        enter_items(values, false);
        return OK;
    }
    values->state = byte == '{' ? VALUES_FIRST : VALUES_LINES;
    follow(values, byte);
    return keep(values, byte);
}

static int take_after(struct values *values, char byte)
{
    return is_blank(byte) ? OK : fail(values, "something follows the end of the JSON document");
}

/* ---- pieces ---- */

/* Hands on the lines that end in what came; what is left begins the next one. */
static int feed_lines(struct values *values, const char *data, size_t length)
{
    int status = OK;
    const char *end = data + length;
    while (data < end && status == OK) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        size_t size = (size_t)((stop ? stop : end) - data);
        if (values->partial.length == 0) {
            values->start = values->line;
        }
        if (size > LIMIT_MEMORY_LINE_BYTES ||
            values->partial.length > LIMIT_MEMORY_LINE_BYTES - size) {
            return ERR_LIMIT;
        }
        if (stop && values->partial.length == 0) {
            status = hand_on_line(values, data, size, values->line);
        } else {
            status = buf_append(&values->partial, data, size);
            status = status == OK && stop ? hand_on_partial(values) : status;
        }
        values->line += stop != NULL;
        data += size + (stop != NULL);
    }
    return status;
}

int values_feed(struct values *values, const char *data, size_t length)
{
    static int (*const TAKE[])(struct values * values, char byte) = {
        [VALUES_START] = take_start, [VALUES_FIRST] = take_first,    [VALUES_SPREAD] = take_spread,
        [VALUES_ITEMS] = take_item,  [VALUES_MEMBERS] = take_member, [VALUES_AFTER] = take_after,
    };
    int status = OK;
    size_t at = 0;
    while (at < length && status == OK && values->state != VALUES_LINES) {
        status = TAKE[values->state](values, data[at]);
        values->line += data[at++] == '\n';
    }
    return status == OK && at < length ? feed_lines(values, data + at, length - at) : status;
}

int values_end(struct values *values)
{
    switch (values->state) {
    case VALUES_FIRST:
    case VALUES_LINES:
    case VALUES_SPREAD:
        return hand_on_partial(values);
    case VALUES_ITEMS:
    case VALUES_MEMBERS:
        return fail(values, "the JSON document ends in the middle: a part of it is missing");
    default:
        return OK;
    }
}
