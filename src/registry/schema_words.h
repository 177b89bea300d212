/* The words of the validator's messages: where a value stands, what came, and what a schema allows.
 * Shared by the files of the validator only. */
#ifndef FORAGE_REGISTRY_SCHEMA_WORDS_H
#define FORAGE_REGISTRY_SCHEMA_WORDS_H

#include "text/json.h"
#include "text/text.h"

#include <stdbool.h>

#define SCHEMA_SHOWN_CHARS 60 /* of a string that came */

/* Where a value stands, from the inside out; the root is NULL. */
struct schema_path {
    const struct schema_path *parent;
    yyjson_val *key; /* a string; NULL: an index */
    size_t index;
};

/* `filters.tags[2]`; "the arguments" for the root. */
void schema_put_path(struct text_out *out, const struct schema_path *path);
/* A name as part of a path: as it is where that is safe, quoted otherwise. */
void schema_put_name(struct text_out *out, yyjson_val *name);

enum schema_emphasis {
    SHOW_VALUE,            /* "deep" */
    SHOW_TYPE_AND_VALUE,   /* the string "deep" */
    SHOW_VALUE_AND_LENGTH, /* "deep" (4 characters) */
};

/* What came. Strings are cut and escaped. */
void schema_put_value(struct text_out *out, yyjson_val *value, enum schema_emphasis emphasis);
/* What is allowed: "an integer from 1 to 20". `root` is where references lead. */
void schema_put_allowed(struct text_out *out, yyjson_val *root, yyjson_val *schema);
/* The same for a list of alternatives, joined by "or". */
void schema_put_alternatives(struct text_out *out, yyjson_val *root, yyjson_val *schemas);
/* "did you mean "query"? allowed: query, depth" after an unknown name. */
void schema_put_names(struct text_out *out, yyjson_val *unknown, yyjson_val *properties);

#endif
