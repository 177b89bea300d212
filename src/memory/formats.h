/* What an import understands: forage's own lines, and what other programs that remember things
 * write. docs/memory.md has the table for people. */
#ifndef FORAGE_MEMORY_FORMATS_H
#define FORAGE_MEMORY_FORMATS_H

#include "memory/memory.h"
#include "text/json.h"

struct import_format;

/* A memory of an import, and where its line wants it. */
struct formats_memory {
    struct memory_change change;
    const char *namespace; /* NULL: it does not say */
    const char *caller;    /* whose it is, in an export of everything; NULL: it does not say */
};

/* Takes one memory; anything but OK ends the reading and is what it returns. */
typedef int (*formats_take)(void *context, const struct formats_memory *memory);

#define FORMATS_ALLOWED "forage, graph, mem0 or claude"

/* NULL: there is none of that name. */
const struct import_format *formats_find(const char *name);
/* The format of an import that begins with this value: forage's own where it is no other. */
const struct import_format *formats_detect(yyjson_val *value);
/* Reads the memories of one value. Texts refer to its document or live in the call's arena. OK;
 * ERR_FAILED after call_fail() with VALIDATION; ERR_NOMEM; what the taker returned. */
int formats_read(const struct import_format *format, struct call *call, yyjson_val *value,
                 formats_take take, void *context);

#endif
