/* An import: JSON values (values.h) that hold memories (formats.h), added in transactions of
 * LIMIT_MEMORY_IMPORT_LINES, or a fourth of that while others change memories. Bytes may come in
 * any pieces.
 *
 * Nothing is half imported: everything is fed twice. The first time `only_checks` is set: every
 * wrong line is found and named, and nothing is written. The second time only the database itself
 * can fail; what was committed before that stays, and the same import adds the rest. */
#ifndef FORAGE_MEMORY_LINES_H
#define FORAGE_MEMORY_LINES_H

#include "memory/memory.h"
#include "text/json.h"

struct lines;

struct lines_options {
    const char *only; /* a namespace: lines of others are left out, and those that name none
                         belong to it; NULL: all lines, and "default" for those that name none */
    const char *into; /* the namespace of every memory, whatever its line says; NULL: as it says */
    const char *format; /* of formats.h; NULL: as the first value looks */
    bool of_everybody;  /* lines may name another caller: for the operator's command line */
    bool only_checks;
};

struct lines_counts {
    size_t lines; /* memories that were imported, or would be */
    size_t added;
    size_t replaced;
    size_t unchanged; /* the same was there, under its key or (without one) under another */
    size_t expired;   /* left out, since their time is over; not among the lines */
    size_t others;    /* left out, since they are of other namespaces; not among the lines */
    size_t blank;     /* left out, since their text is blank, as older versions took it; the same */
    size_t wrong;     /* found by a check */
    size_t blank_numbers[LIMIT_MEMORY_WRONG_LINES]; /* of the first values with a blank text */
    bool is_item;                                   /* which are items of an array, not lines */
};

/* Imports for the call, which must outlive it, as must the texts of the options. NULL after
 * call_fail(), or without memory. */
struct lines *lines_new(struct call *call, const struct lines_options *options);
struct lines *lines_free(struct lines *lines);
/* OK; ERR_FAILED after call_fail(), which names the line; a status of the call. After a failure
 * nothing more may be fed. A check goes on after a wrong line. */
int lines_feed(struct lines *lines, const char *data, size_t length);
/* There is no more: imports what is left; after a check: fails where a line was wrong. */
int lines_end(struct lines *lines);
/* What is committed so far. */
struct lines_counts lines_count(const struct lines *lines);
/* Adds them to an object, those of blank texts with their numbers and only where there are some. */
void lines_describe(const struct lines_counts *counts, yyjson_mut_doc *doc, yyjson_mut_val *object);
/* The wrong lines of a check after the first one, which is the call's error: a line of text for
 * each, as many as are named. */
const char *lines_report(const struct lines *lines);

#endif
