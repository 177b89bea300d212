/* The scanner of TOML 1.0. Inline tables may span lines and end in a comma, as TOML 1.1 has it. */
#include "setup/toml_scan.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <string.h>

static int wrong(struct toml_scan *scan, size_t offset, const char *words)
{
    return document_wrong(scan->problem, scan->text, scan->length, offset, "%s", words);
}

static char peek(const struct toml_scan *scan, size_t ahead)
{
    return scan->at + ahead < scan->length ? scan->text[scan->at + ahead] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_bare(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* ---- what stands between ---- */

static void skip_blanks(struct toml_scan *scan)
{
    scan->at = document_skip_blanks(scan->text, scan->length, scan->at);
}

static bool at_newline(const struct toml_scan *scan)
{
    return peek(scan, 0) == '\n' || (peek(scan, 0) == '\r' && peek(scan, 1) == '\n');
}

static void skip_newline(struct toml_scan *scan)
{
    scan->at += peek(scan, 0) == '\r' ? 2 : 1;
}

static int skip_comment(struct toml_scan *scan)
{
    while (scan->at < scan->length && !at_newline(scan)) {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return wrong(scan, scan->at, "a control character in a comment");
        }
        scan->at++;
    }
    return OK;
}

int toml_scan_space(struct toml_scan *scan)
{
    for (;;) {
        skip_blanks(scan);
        if (at_newline(scan)) {
            skip_newline(scan);
        } else if (peek(scan, 0) == '#') {
            int status = skip_comment(scan);
            if (status != OK) {
                return status;
            }
        } else {
            return OK;
        }
    }
}

/* The rest of a line after a statement. */
static int end_line(struct toml_scan *scan)
{
    skip_blanks(scan);
    int status = peek(scan, 0) == '#' ? skip_comment(scan) : OK;
    if (status != OK || scan->at == scan->length) {
        return status;
    }
    if (!at_newline(scan)) {
        return wrong(scan, scan->at, "the line should end here");
    }
    skip_newline(scan);
    return OK;
}

/* ---- strings ---- */

static int scan_escape(struct toml_scan *scan, bool lines)
{
    char c = peek(scan, 1);
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : c == 'x' ? 2 : 0;
    size_t start = scan->at;
    scan->at += 2;
    for (size_t i = 0; i < digits; i++, scan->at++) {
        c = peek(scan, 0);
        if (!is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) {
            return wrong(scan, start, "an escape that TOML does not know");
        }
    }
    if (digits || (c && strchr("btnfre\"\\", c))) {
        return OK;
    }
    /* A backslash at the end of a line takes the line end and the blanks after it away. */
    scan->at = start + 1;
    skip_blanks(scan);
    return lines && at_newline(scan) ? OK : wrong(scan, start, "an escape that TOML does not know");
}

/* A string that `quote` begins and ends, once or three times. */
static int scan_string(struct toml_scan *scan, bool may_have_lines)
{
    size_t start = scan->at;
    char quote = peek(scan, 0);
    bool lines = may_have_lines && peek(scan, 1) == quote && peek(scan, 2) == quote;
    size_t width = lines ? 3 : 1;
    scan->at += width;
    while (scan->at < scan->length) {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if (c == (unsigned char)quote &&
            (!lines || (peek(scan, 1) == quote && peek(scan, 2) == quote))) {
            scan->at += width;
            /* Up to two quotes may stand before the last three. */
            for (int more = 0; lines && more < 2 && peek(scan, 0) == quote; more++) {
                scan->at++;
            }
            return OK;
        }
        if (lines && at_newline(scan)) {
            skip_newline(scan);
        } else if (c == '\\' && quote == '"') {
            int status = scan_escape(scan, lines);
            if (status != OK) {
                return status;
            }
        } else if ((c < ' ' && c != '\t') || c == 0x7f) {
            return wrong(scan, c == '\n' ? start : scan->at,
                         c == '\n' ? "a string that does not end on its line"
                                   : "a control character in a string");
        } else {
            scan->at++;
        }
    }
    return wrong(scan, start, "a string that does not end");
}

/* ---- numbers, dates, words ---- */

/* Digits with single underscores between them; how many bytes. */
static size_t digits(const char *text, size_t length, const char *allowed)
{
    size_t count = 0;
    bool digit = false;
    for (; count < length; count++) {
        if (text[count] == '_') {
            if (!digit || count + 1 == length || text[count + 1] == '_') {
                return 0;
            }
            digit = false;
        } else if (text[count] && strchr(allowed, text[count])) {
            digit = true;
        } else {
            break;
        }
    }
    return digit ? count : 0;
}

static bool is_number(const char *text, size_t length)
{
    static const char DECIMAL[] = "0123456789";
    static const struct {
        const char *prefix;
        const char *allowed;
    } BASES[] = {{"0x", "0123456789abcdefABCDEF"}, {"0o", "01234567"}, {"0b", "01"}};
    for (size_t i = 0; i < sizeof BASES / sizeof *BASES; i++) {
        if (length > 2 && memcmp(text, BASES[i].prefix, 2) == 0) {
            return digits(text + 2, length - 2, BASES[i].allowed) == length - 2;
        }
    }
    size_t at = length && (*text == '+' || *text == '-');
    if (length - at == 3 &&
        (memcmp(text + at, "inf", 3) == 0 || memcmp(text + at, "nan", 3) == 0)) {
        return true;
    }
    size_t whole = digits(text + at, length - at, DECIMAL);
    if (!whole || (whole > 1 && text[at] == '0')) {
        return false;
    }
    at += whole;
    if (at < length && text[at] == '.') {
        size_t fraction = digits(text + at + 1, length - at - 1, DECIMAL);
        at += fraction ? fraction + 1 : 0;
    }
    if (at < length && (text[at] | 0x20) == 'e') {
        size_t sign = at + 1 < length && (text[at + 1] == '+' || text[at + 1] == '-');
        size_t power = digits(text + at + 1 + sign, length - at - 1 - sign, DECIMAL);
        at += power ? 1 + sign + power : 0;
    }
    return at == length;
}

/* Whether the text begins like the shape, in which 0 stands for any digit. */
static bool has_shape(const char *text, size_t length, const char *shape)
{
    for (; *shape; shape++, text++, length--) {
        if (!length || !(*shape == '0' ? is_digit(*text) : *text == *shape)) {
            return false;
        }
    }
    return true;
}

static bool is_time(const char *text, size_t length, bool may_have_zone)
{
    if (!has_shape(text, length, "00:00")) {
        return false;
    }
    size_t at = has_shape(text + 5, length - 5, ":00") ? 8 : 5;
    if (at < length && text[at] == '.') {
        size_t first = ++at;
        while (at < length && is_digit(text[at])) {
            at++;
        }
        if (at == first) {
            return false;
        }
    }
    if (may_have_zone && at < length) {
        return (length - at == 1 && (text[at] | 0x20) == 'z') ||
               (length - at == 6 &&
                (has_shape(text + at, 6, "+00:00") || has_shape(text + at, 6, "-00:00")));
    }
    return at == length;
}

static bool is_date(const char *text, size_t length)
{
    if (!has_shape(text, length, "0000-00-00")) {
        return is_time(text, length, false);
    }
    return length == 10 || ((text[10] == 'T' || text[10] == 't' || text[10] == ' ') &&
                            is_time(text + 11, length - 11, true));
}

static bool is_plain(char c)
{
    return is_bare(c) || c == '+' || c == '.' || c == ':';
}

static int scan_plain(struct toml_scan *scan)
{
    size_t start = scan->at;
    const char *text = scan->text + start;
    while (is_plain(peek(scan, 0))) {
        scan->at++;
    }
    /* A blank may stand between a date and its time. */
    if (scan->at - start == 10 && has_shape(text, 10, "0000-00-00") && peek(scan, 0) == ' ' &&
        is_digit(peek(scan, 1))) {
        do {
            scan->at++;
        } while (is_plain(peek(scan, 0)));
    }
    size_t length = scan->at - start;
    bool is_word = (length == 4 && memcmp(text, "true", 4) == 0) ||
                   (length == 5 && memcmp(text, "false", 5) == 0);
    return is_word || is_number(text, length) || is_date(text, length)
               ? OK
               : wrong(scan, start, "a value is expected here");
}

/* ---- keys ---- */

static int scan_key(struct toml_scan *scan, struct toml_statement *statement)
{
    statement->count = 0;
    for (;;) {
        skip_blanks(scan);
        size_t start = scan->at;
        char c = peek(scan, 0);
        if (c == '"' || c == '\'') {
            int status = scan_string(scan, false);
            if (status != OK) {
                return status;
            }
        } else {
            while (is_bare(peek(scan, 0))) {
                scan->at++;
            }
        }
        if (scan->at == start) {
            return wrong(scan, start, "a key is expected here");
        }
        if (statement->count == TOML_MOST_PARTS) {
            return wrong(scan, start, "a key of too many parts");
        }
        statement->parts[statement->count++] = (struct document_span){start, scan->at};
        skip_blanks(scan);
        if (peek(scan, 0) != '.') {
            return OK;
        }
        scan->at++;
    }
}

bool toml_part_is(const char *text, struct document_span part, const char *name)
{
    bool is_quoted = text[part.start] == '"' || text[part.start] == '\'';
    size_t start = part.start + is_quoted;
    size_t end = part.end - is_quoted;
    if (text[part.start] != '"' || !memchr(text + start, '\\', end - start)) {
        return end - start == strlen(name) && memcmp(text + start, name, end - start) == 0;
    }
    /* Escapes: the names that are asked for are ASCII, and so would have been written. */
    while (start < end && *name) {
        unsigned value = (unsigned char)text[start++];
        if (value == '\\') {
            char kind = text[start++];
            size_t count = kind == 'u' ? 4 : kind == 'U' ? 8 : kind == 'x' ? 2 : 0;
            value = count ? 0 : 1;
            for (; count; count--, start++) {
                char c = text[start];
                value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
            }
        }
        if (value != (unsigned char)*name++) {
            return false;
        }
    }
    return start == end && !*name;
}

/* ---- values ---- */

/* What stands between the items of an array or the pairs of an inline table, up to `close`. */
static int scan_list(struct toml_scan *scan, char close)
{
    struct toml_statement pair;
    for (;;) {
        int status = toml_scan_space(scan);
        if (status != OK) {
            return status;
        }
        if (peek(scan, 0) == close) {
            scan->at++;
            return OK;
        }
        if (close == '}') {
            status = scan_key(scan, &pair);
            if (status == OK && peek(scan, 0) != '=') {
                return wrong(scan, scan->at, "an equals sign is expected here");
            }
            scan->at += status == OK;
            skip_blanks(scan);
        }
        if (status == OK) {
            status = toml_scan_value(scan);
        }
        if (status == OK) {
            status = toml_scan_space(scan);
        }
        if (status != OK) {
            return status;
        }
        if (peek(scan, 0) == ',') {
            scan->at++;
        } else if (peek(scan, 0) != close) {
            return wrong(scan, scan->at,
                         close == ']' ? "a comma or a closing bracket is expected here"
                                      : "a comma or a closing brace is expected here");
        }
    }
}

int toml_scan_value(struct toml_scan *scan)
{
    char c = peek(scan, 0);
    if (c == '"' || c == '\'') {
        return scan_string(scan, true);
    }
    if (c != '[' && c != '{') {
        return scan_plain(scan);
    }
    if (++scan->nesting > LIMIT_SETUP_DEPTH) {
        return wrong(scan, scan->at, "nested too deeply");
    }
    scan->at++;
    int status = scan_list(scan, c == '[' ? ']' : '}');
    scan->nesting--;
    return status;
}

/* ---- statements ---- */

static int scan_header(struct toml_scan *scan, struct toml_statement *statement)
{
    bool is_double = peek(scan, 1) == '[';
    statement->kind = is_double ? TOML_TABLES : TOML_TABLE;
    scan->at += is_double ? 2 : 1;
    int status = scan_key(scan, statement);
    if (status == OK && (peek(scan, 0) != ']' || (is_double && peek(scan, 1) != ']'))) {
        return wrong(scan, scan->at, "a closing bracket is expected here");
    }
    scan->at += is_double ? 2 : 1;
    return status;
}

static int scan_pair(struct toml_scan *scan, struct toml_statement *statement)
{
    statement->kind = TOML_VALUE;
    int status = scan_key(scan, statement);
    if (status == OK && peek(scan, 0) != '=') {
        return wrong(scan, scan->at, "an equals sign is expected here");
    }
    if (status != OK) {
        return status;
    }
    scan->at++;
    skip_blanks(scan);
    statement->value.start = scan->at;
    status = toml_scan_value(scan);
    statement->value.end = scan->at;
    return status;
}

void toml_scan_start(struct toml_scan *scan, const char *text, size_t length,
                     struct document_problem *problem)
{
    *scan = (struct toml_scan){
        .text = text, .length = length, .at = document_mark(text, length), .problem = problem};
}

int toml_scan_next(struct toml_scan *scan, struct toml_statement *statement)
{
    int status = toml_scan_space(scan);
    if (status != OK || scan->at == scan->length) {
        return status != OK ? status : ERR_NOTFOUND;
    }
    statement->start = document_line_start(scan->text, scan->at);
    status = peek(scan, 0) == '[' ? scan_header(scan, statement) : scan_pair(scan, statement);
    if (status == OK) {
        status = end_line(scan);
    }
    statement->end = scan->at;
    return status;
}
