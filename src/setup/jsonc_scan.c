/* The scanner: JSON as RFC 8259 has it, and what editors allow besides. */
#include "setup/jsonc_scan.h"

#include "core/limits.h"
#include "core/status.h"

#include <string.h>

static const char LONE_RETURN[] = "a carriage return without a line feed";

struct jsonc_scan {
    const char *text;
    size_t length;
    size_t at;
    unsigned nesting;
    const char *const *path;
    size_t depth;
    struct jsonc_map *map;
    struct document_problem *problem;
};

static int scan_value(struct jsonc_scan *scan, size_t level);

static int wrong(struct jsonc_scan *scan, size_t offset, const char *words)
{
    return document_wrong(scan->problem, scan->text, scan->length, offset, "%s", words);
}

static bool at_end(const struct jsonc_scan *scan)
{
    return scan->at >= scan->length;
}

static bool is_next(const struct jsonc_scan *scan, char c)
{
    return !at_end(scan) && scan->text[scan->at] == c;
}

static void note_extended(struct jsonc_scan *scan, size_t offset)
{
    if (scan->map->extended == JSONC_NOWHERE) {
        scan->map->extended = offset;
    }
}

/* ---- what stands between ---- */

static int skip_comment(struct jsonc_scan *scan)
{
    size_t start = scan->at;
    const char *from = scan->text + start + 2;
    const char *end = scan->text + scan->length;
    note_extended(scan, start);
    if (scan->text[start + 1] == '/') {
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        const char *stop = newline ? newline : end;
        const char *lone = memchr(from, '\r', (size_t)(stop - from));
        /* Some take it for the end of the comment, some do not. */
        if (lone && lone + 1 != newline) {
            return wrong(scan, (size_t)(lone - scan->text), LONE_RETURN);
        }
        scan->at = (size_t)(stop - scan->text);
        return OK;
    }
    const char *close = memmem(from, (size_t)(end - from), "*/", 2);
    if (!close) {
        return wrong(scan, start, "a comment that does not end");
    }
    scan->at = (size_t)(close - scan->text) + 2;
    return OK;
}

static int skip_space(struct jsonc_scan *scan)
{
    while (!at_end(scan)) {
        char c = scan->text[scan->at];
        char next = scan->at + 1 < scan->length ? scan->text[scan->at + 1] : '\0';
        if (c == '\r' && next != '\n') {
            return wrong(scan, scan->at, LONE_RETURN);
        }
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            scan->at++;
        } else if (c == '/' && (next == '/' || next == '*')) {
            int status = skip_comment(scan);
            if (status != OK) {
                return status;
            }
        } else {
            break;
        }
    }
    return OK;
}

/* ---- strings, numbers, words ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int scan_escape(struct jsonc_scan *scan)
{
    const char *here = scan->text + scan->at;
    size_t left = scan->length - scan->at;
    if (left >= 2 && here[1] != '\0' && strchr("\"\\/bfnrt", here[1])) {
        scan->at += 2;
        return OK;
    }
    bool four = left >= 6 && here[1] == 'u';
    for (size_t i = 2; four && i < 6; i++) {
        four = is_hex(here[i]);
    }
    if (!four) {
        return wrong(scan, scan->at, "an escape that JSON does not know");
    }
    scan->at += 6;
    return OK;
}

static int scan_string(struct jsonc_scan *scan)
{
    size_t start = scan->at++;
    while (!at_end(scan) && scan->text[scan->at] != '"') {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if (c == '\n') {
            return wrong(scan, start, "a string that does not end on its line");
        }
        if (c < ' ') {
            return wrong(scan, scan->at, "a control character in a string");
        }
        if (c != '\\') {
            scan->at++;
        } else if (scan_escape(scan) != OK) {
            return ERR_INVALID;
        }
    }
    if (at_end(scan)) {
        return wrong(scan, start, "a string that does not end");
    }
    scan->at++;
    return OK;
}

static size_t skip_digits(struct jsonc_scan *scan)
{
    size_t start = scan->at;
    while (!at_end(scan) && scan->text[scan->at] >= '0' && scan->text[scan->at] <= '9') {
        scan->at++;
    }
    return scan->at - start;
}

static int scan_number(struct jsonc_scan *scan)
{
    size_t start = scan->at;
    scan->at += is_next(scan, '-');
    bool zero = is_next(scan, '0');
    size_t digits = skip_digits(scan);
    bool good = digits > 0 && (!zero || digits == 1);
    if (is_next(scan, '.')) {
        scan->at++;
        good = skip_digits(scan) > 0 && good;
    }
    if (is_next(scan, 'e') || is_next(scan, 'E')) {
        scan->at++;
        scan->at += is_next(scan, '+') || is_next(scan, '-');
        good = skip_digits(scan) > 0 && good;
    }
    return good ? OK : wrong(scan, start, "a number that is not JSON");
}

static int scan_word(struct jsonc_scan *scan)
{
    static const char *const WORDS[] = {"true", "false", "null"};
    size_t left = scan->length - scan->at;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t length = strlen(WORDS[i]);
        if (left >= length && memcmp(scan->text + scan->at, WORDS[i], length) == 0) {
            scan->at += length;
            return OK;
        }
    }
    return wrong(scan, scan->at, "a value is expected here");
}

/* ---- the path ---- */

/* The next byte of a string's contents; an escape that is not plain ASCII is some byte that no name
 * of ours has. */
static char decode(const char **at)
{
    static const char FROM[] = "bfnrt";
    static const char TO[] = "\b\f\n\r\t";
    const char *here = *at;
    if (here[0] != '\\') {
        *at += 1;
        return here[0];
    }
    if (here[1] != 'u') {
        const char *found = strchr(FROM, here[1]);
        *at += 2;
        return found ? TO[found - FROM] : here[1];
    }
    unsigned value = 0;
    for (size_t i = 2; i < 6; i++) {
        char c = here[i];
        value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    *at += 6;
    return value > 0 && value < 0x80 ? (char)value : '\x7f';
}

/* Whether the string from `start` to `end`, with its quotes, is this name. */
static bool is_name(const struct jsonc_scan *scan, size_t start, size_t end, const char *name)
{
    const char *at = scan->text + start + 1;
    const char *close = scan->text + end - 1;
    while (at < close && *name) {
        if (decode(&at) != *name++) {
            return false;
        }
    }
    return at == close && *name == '\0';
}

/* ---- objects and arrays ---- */

/* One member. `object` is what is known of its object, or NULL off the path. */
static int scan_member(struct jsonc_scan *scan, struct jsonc_level *object, size_t level,
                       size_t comma)
{
    size_t key = scan->at;
    if (!is_next(scan, '"')) {
        return wrong(scan, scan->at, "a name in double quotes is expected here");
    }
    int status = scan_string(scan);
    size_t key_end = scan->at;
    if (status == OK) {
        status = skip_space(scan);
    }
    if (status == OK && !is_next(scan, ':')) {
        return wrong(scan, scan->at, "a colon is expected here");
    }
    scan->at++;
    if (status == OK) {
        status = skip_space(scan);
    }
    if (status != OK) {
        return status;
    }
    size_t value = scan->at;
    bool matches = object && is_name(scan, key, key_end, scan->path[level]);
    status = scan_value(scan, matches && object->matches == 0 ? level + 1 : scan->depth);
    if (!object) {
        return status;
    }
    if (object->members++ == 0) {
        object->first = key;
    }
    object->last_end = scan->at;
    if (matches && object->matches++ == 0) {
        object->key = key;
        object->value = value;
        object->value_end = scan->at;
        object->comma_before = comma;
        object->comma_after = JSONC_NOWHERE;
    }
    return status;
}

static void note_comma(struct jsonc_level *object, size_t comma)
{
    if (object && object->matches && object->value_end == object->last_end) {
        object->comma_after = comma;
    }
}

/* The members of an object or the items of an array up to `close`, what opened them being behind
 * us. `object` is what is known of an object on the path, otherwise NULL. */
static int scan_list(struct jsonc_scan *scan, char close, struct jsonc_level *object, size_t level)
{
    size_t comma = JSONC_NOWHERE;
    for (;;) {
        int status = skip_space(scan);
        if (status == OK && is_next(scan, close)) {
            break;
        }
        if (status == OK) {
            status = close == '}' ? scan_member(scan, object, level, comma)
                                  : scan_value(scan, scan->depth);
        }
        if (status == OK) {
            status = skip_space(scan);
        }
        if (status != OK) {
            return status;
        }
        comma = JSONC_NOWHERE;
        if (is_next(scan, ',')) {
            comma = scan->at++;
            note_comma(object, comma);
        } else if (!is_next(scan, close)) {
            return wrong(scan, scan->at,
                         close == '}' ? "a comma or a closing brace is expected here"
                                      : "a comma or a closing bracket is expected here");
        }
    }
    if (comma != JSONC_NOWHERE) {
        note_extended(scan, comma);
    }
    if (object) {
        object->trailing = comma;
        object->close = scan->at;
    }
    scan->at++;
    return OK;
}

/* A value; on the path when `level` is below its depth. */
static int scan_value(struct jsonc_scan *scan, size_t level)
{
    char c = at_end(scan) ? '\0' : scan->text[scan->at];
    if (c == '"') {
        return scan_string(scan);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return scan_number(scan);
    }
    if (c != '{' && c != '[') {
        return scan_word(scan);
    }
    if (++scan->nesting > LIMIT_SETUP_DEPTH) {
        return wrong(scan, scan->at, "nested too deeply");
    }
    struct jsonc_level *object = NULL;
    if (c == '{' && level < scan->depth) {
        object = &scan->map->levels[level];
        *object = (struct jsonc_level){.is_object = true,
                                       .open = scan->at,
                                       .trailing = JSONC_NOWHERE,
                                       .comma_before = JSONC_NOWHERE,
                                       .comma_after = JSONC_NOWHERE};
    }
    scan->at++;
    int status = scan_list(scan, c == '{' ? '}' : ']', object, level);
    scan->nesting--;
    return status;
}

/* ---- the document ---- */

int jsonc_scan(const char *text, size_t length, const char *const *path, size_t depth,
               struct jsonc_map *map, struct document_problem *problem)
{
    struct jsonc_scan scan = {.text = text,
                              .length = length,
                              .at = document_mark(text, length),
                              .path = path,
                              .depth = depth,
                              .map = map,
                              .problem = problem};
    *map = (struct jsonc_map){.extended = JSONC_NOWHERE};
    int status = document_check(text, length, problem);
    if (status == OK) {
        status = skip_space(&scan);
    }
    map->root = scan.at;
    map->is_blank = at_end(&scan);
    if (status == OK && !map->is_blank) {
        status = scan_value(&scan, 0);
        map->root_end = scan.at;
        if (status == OK) {
            status = skip_space(&scan);
        }
        if (status == OK && !at_end(&scan)) {
            status = wrong(&scan, scan.at, "something after the end of the document");
        }
    }
    return status;
}
