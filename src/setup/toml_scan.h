/* Reading TOML statement by statement: headers of tables and lines of "key = value". Values are
 * checked and passed over, not taken apart. */
#ifndef FORAGE_SETUP_TOML_SCAN_H
#define FORAGE_SETUP_TOML_SCAN_H

#include "setup/document.h"

#define TOML_MOST_PARTS 16

enum toml_kind {
    TOML_TABLE,  /* [a.b] */
    TOML_TABLES, /* [[a.b]] */
    TOML_VALUE,  /* a.b = value */
};

struct toml_statement {
    enum toml_kind kind;
    size_t start, end;                           /* of its lines, the last line end included */
    struct document_span parts[TOML_MOST_PARTS]; /* of its key, quotes included */
    size_t count;
    struct document_span value;
};

struct toml_scan {
    const char *text;
    size_t length;
    size_t at;
    unsigned nesting;
    struct document_problem *problem;
};

void toml_scan_start(struct toml_scan *scan, const char *text, size_t length,
                     struct document_problem *problem);
/* The next statement. OK, ERR_NOTFOUND at the end, or ERR_INVALID with the place of the problem. */
int toml_scan_next(struct toml_scan *scan, struct toml_statement *statement);
/* Whether a part of a key is this name. */
bool toml_part_is(const char *text, struct document_span part, const char *name);
/* Passes over one value at `scan->at`. */
int toml_scan_value(struct toml_scan *scan);
/* Passes over white space, line ends and comments. */
int toml_scan_space(struct toml_scan *scan);

#endif
