/* Places in a document. */
#include "setup/document.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int document_wrong(struct document_problem *problem, const char *text, size_t length, size_t offset,
                   const char *format, ...)
{
    va_list args;
    if (offset > length) {
        offset = length;
    }
    problem->line = 1;
    for (size_t i = 0; i < offset; i++) {
        problem->line += text[i] == '\n';
    }
    size_t start = document_line_start(text, offset);
    problem->column = 1 + (offset > start ? text_count(text + start, offset - start) : 0);
    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return ERR_INVALID;
}

int document_check(const char *text, size_t length, struct document_problem *problem)
{
    const char *end = text + length;
    if (length > LIMIT_SETUP_FILE_BYTES) {
        return document_wrong(problem, text, 0, 0, "larger than %zu MiB",
                              LIMIT_SETUP_FILE_BYTES / MIB(1));
    }
    if (text_is_utf8(text, length)) {
        return OK;
    }
    for (const char *at = text; at < end;) {
        const char *before = at;
        if (text_next(&at, end) == TEXT_REPLACEMENT && at - before == 1) {
            return document_wrong(problem, text, length, (size_t)(before - text),
                                  "a byte that is not UTF-8");
        }
    }
    return document_wrong(problem, text, length, 0, "not UTF-8");
}

const char *document_newline(const char *text, size_t length)
{
    const char *newline = length ? memchr(text, '\n', length) : NULL;
    const char *end = newline ? newline : text + length;
    return end > text && end[-1] == '\r' ? "\r\n" : "\n";
}

size_t document_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

size_t document_line_start(const char *text, size_t offset)
{
    size_t end = offset;
    while (offset > 0 && text[offset - 1] != '\n') {
        offset--;
    }
    return offset == 0 ? document_mark(text, end) : offset;
}

bool document_begins_line(const char *text, size_t offset)
{
    while (offset > 0 && (text[offset - 1] == ' ' || text[offset - 1] == '\t')) {
        offset--;
    }
    return offset > 0 && text[offset - 1] == '\n';
}

size_t document_skip_blanks(const char *text, size_t length, size_t offset)
{
    while (offset < length && (text[offset] == ' ' || text[offset] == '\t')) {
        offset++;
    }
    return offset;
}
