/* What both editors of configuration files share: where something is wrong in a document, and how
 * its lines are written. An editor never touches a byte that it does not have to: comments, order,
 * indentation and line ends stay as they are. */
#ifndef FORAGE_SETUP_DOCUMENT_H
#define FORAGE_SETUP_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The deepest path of a member that is edited: servers, name, env, variable. */
#define DOCUMENT_MOST_PATH 4

struct document_problem {
    size_t line, column; /* from 1; the column counts characters */
    char text[160];      /* without the place */
};

struct document_span {
    size_t start, end;
};

/* Notes what is wrong at the byte `offset`. ERR_INVALID. */
int document_wrong(struct document_problem *problem, const char *text, size_t length, size_t offset,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Whether it is text that can be looked at: UTF-8, and not too long. OK or ERR_INVALID. */
int document_check(const char *text, size_t length, struct document_problem *problem);
/* How the document ends its lines: "\r\n" when its first line does, otherwise "\n". */
const char *document_newline(const char *text, size_t length);
/* The bytes of a byte order mark at the beginning, 0 or 3. */
size_t document_mark(const char *text, size_t length);
/* Where the line of `offset` begins, after a byte order mark. */
size_t document_line_start(const char *text, size_t offset);
/* Whether nothing but blanks stands between the beginning of its line and `offset`. */
bool document_begins_line(const char *text, size_t offset);
/* Where the blanks from `offset` on end, line ends not included. */
size_t document_skip_blanks(const char *text, size_t length, size_t offset);

#endif
