/* An import: newline-delimited JSON, one memory on each line (fields.h), added in transactions of
 * LIMIT_MEMORY_IMPORT_LINES. Bytes may come in any pieces. A wrong line ends it: its transaction is
 * not made, those before it stay. */
#ifndef FORAGE_MEMORY_LINES_H
#define FORAGE_MEMORY_LINES_H

#include "memory/memory.h"

struct lines;

struct lines_counts {
    size_t lines; /* that hold a memory, imported */
    size_t added;
    size_t replaced;
    size_t unchanged; /* the same was there, under its key or (without one) under another */
    size_t expired;   /* left out, since their time is over; not among the lines */
};

/* Imports for the call, into the space; both must outlive it. NULL without memory. */
struct lines *lines_new(struct call *call, const struct memory_space *space);
struct lines *lines_free(struct lines *lines);
/* OK; ERR_FAILED after call_fail(), which names the line; a status of the call. After a failure
 * nothing more may be fed. */
int lines_feed(struct lines *lines, const char *data, size_t length);
/* There is no more: imports what is left. */
int lines_end(struct lines *lines);
/* What is committed so far. */
struct lines_counts lines_count(const struct lines *lines);

#endif
