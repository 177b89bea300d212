/* A table for people: columns are as wide as what stands in them, and lines no wider than the
 * terminal. Where there is no terminal, nothing is cut. */
#ifndef FORAGE_CLI_TABLE_H
#define FORAGE_CLI_TABLE_H

#include "core/arena.h"
#include "core/buf.h"

#include <stdio.h>

#define TABLE_MOST_COLUMNS 9

enum table_kind {
    COLUMN_LEFT,
    COLUMN_RIGHT,   /* numbers */
    COLUMN_CUT,     /* gives way where a line would be too long: cut, with an ellipsis */
    COLUMN_WRAPPED, /* the same, but goes on in further lines; only the last can */
    COLUMN_SPARE,   /* left out where a line would be too long */
};

struct table_column {
    const char *title; /* NULL in the first column: there is no line of titles */
    enum table_kind kind;
};

struct table;

/* NULL: no memory, which the other functions take, and table_put() tells. */
struct table *table_new(struct arena *arena, const struct table_column *columns, size_t count);
/* Adds a row of as many cells, which must live as long as the table. */
void table_add(struct table *table, const char *const *cells);
/* Appends it as it looks on `file`. OK or ERR_NOMEM. */
int table_put(struct buf *out, const struct table *table, FILE *file);

#endif
