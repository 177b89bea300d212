/* Reading JSON with comments and trailing commas, without taking it apart: the scanner checks the
 * whole document and notes where the objects and members on one path are. */
#ifndef FORAGE_SETUP_JSONC_SCAN_H
#define FORAGE_SETUP_JSONC_SCAN_H

#include "setup/document.h"

#define JSONC_NOWHERE ((size_t)-1)

/* An object on the path, and in it the member that the path names next. */
struct jsonc_level {
    bool is_object;
    size_t open, close; /* its braces */
    size_t members;
    size_t first;    /* where its first member begins */
    size_t last_end; /* where the value of its last one ends */
    size_t trailing; /* a comma after it, or JSONC_NOWHERE */
    size_t matches;  /* members of the name that the path has here */
    size_t key, value, value_end;
    size_t comma_before, comma_after; /* around that member, or JSONC_NOWHERE */
};

struct jsonc_map {
    bool is_blank; /* there is no value at all, at most comments */
    size_t root;   /* where the value begins */
    size_t root_end;
    size_t extended; /* the first thing that plain JSON does not know, or JSONC_NOWHERE */
    struct jsonc_level levels[DOCUMENT_MOST_PATH];
};

/* Looks at a document along `path`, whose `depth` is at most DOCUMENT_MOST_PATH. OK, or
 * ERR_INVALID with the place of the problem. */
int jsonc_scan(const char *text, size_t length, const char *const *path, size_t depth,
               struct jsonc_map *map, struct document_problem *problem);

#endif
