/* The JSON object in what a model wrote: between prose, in a fence, with fences inside its own
 * strings, with the small mistakes that models make (a raw line break in a string, a comma too
 * many, an escape that does not exist). What was cut off is not mended: half a report is none. */
#ifndef FORAGE_RESEARCH_EXTRACT_JSON_H
#define FORAGE_RESEARCH_EXTRACT_JSON_H

#include "text/json.h"

/* A member that the object must have, and of which type. */
struct extract_member {
    const char *name; /* NULL ends them */
    yyjson_type type;
};

/* Takes the object from a ```json fence; else from any other fence; else the outermost one. Of
 * several that have the `wanted` members the last one counts: a model drafts before it answers. The
 * object belongs to `arena`. OK; ERR_NOTFOUND when there is no object at all, ERR_INVALID when none
 * has what is wanted, ERR_CLOSED when the text ends inside of one, ERR_NOMEM. */
int extract_json(struct arena *arena, const char *text, size_t length,
                 const struct extract_member *wanted, yyjson_val **object);

#endif
