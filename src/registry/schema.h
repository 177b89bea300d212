/* A JSON Schema 2020-12 validator for the subset that tool definitions use: type, enum, const,
 * properties, required, additionalProperties, items, minItems, maxItems, uniqueItems, minLength,
 * maxLength (in code points), minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern (the
 * subset of pattern.h), anyOf, oneOf, allOf, not, if, then, else, and $ref to #/$defs/NAME.
 * Annotations (title, description, examples, default, format, and whatever begins with x-) do not
 * constrain; "x-trim": true lets minLength and maxLength not count the blanks around a string. A
 * keyword outside of this is an error of schema_check(), which the tests ask about every definition
 * that is compiled in, so that none promises a check that does not happen.
 *
 * An integer is a whole number that fits 64 bits with a sign; 3.0 is one. */
#ifndef FORAGE_REGISTRY_SCHEMA_H
#define FORAGE_REGISTRY_SCHEMA_H

#include "core/status.h"
#include "text/json.h"

#define SCHEMA_MOST_NESTING  128     /* of schemas inside schemas, references followed */
#define SCHEMA_MOST_STEPS    1000000 /* of one validation */
#define SCHEMA_MOST_PROBLEMS 4       /* that one message tells */

/* OK, or ERR_INVALID with what is wrong in `problem`. Defaults and examples must pass their own
 * schema. For tests: no start of the program pays for it. */
MUST_CHECK int schema_check(yyjson_val *schema, char *problem, size_t size);
/* OK, or ERR_INVALID with a sentence for the caller in `problem`: the parameter, what came, what is
 * allowed. One message reports several problems. */
MUST_CHECK int schema_validate(yyjson_val *schema, yyjson_val *value, char *problem, size_t size);
/* The same for a part of `root`, which is where its references lead. */
MUST_CHECK int schema_validate_part(yyjson_val *root, yyjson_val *schema, yyjson_val *value,
                                    char *problem, size_t size);
/* A copy of `value` (NULL: an empty object) with the defaults of absent properties filled in, at
 * the first level. Whole numbers become integers, so that a handler may read 3.0 with
 * yyjson_mut_get_sint. */
yyjson_mut_val *schema_with_defaults(yyjson_mut_doc *doc, yyjson_val *schema, yyjson_val *value);

#endif
