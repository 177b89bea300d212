/* What JSON values are to a schema: their types, which are equal, how numbers compare, and where a
 * $ref leads. Shared by the files of the validator only. */
#ifndef FORAGE_REGISTRY_SCHEMA_VALUES_H
#define FORAGE_REGISTRY_SCHEMA_VALUES_H

#include "text/json.h"

#include <stdbool.h>

/* Types are bits, because a schema may allow several. A whole number is both an integer and a
 * number. */
enum schema_type {
    SCHEMA_NULL = 1,
    SCHEMA_BOOLEAN = 2,
    SCHEMA_INTEGER = 4,
    SCHEMA_NUMBER = 8,
    SCHEMA_STRING = 16,
    SCHEMA_ARRAY = 32,
    SCHEMA_OBJECT = 64,
};

struct schema_type_words {
    enum schema_type type;
    const char *name;     /* as in a schema */
    const char *one;      /* "an integer" */
    const char *several;  /* "integers" */
    const char *this_one; /* "the number", before a value; "" where the value says it */
};

#define SCHEMA_TYPE_COUNT 7
extern const struct schema_type_words SCHEMA_TYPES[SCHEMA_TYPE_COUNT];

/* The bit of a type's name; 0 for a name that is none. */
unsigned schema_type_bit(yyjson_val *name);
/* The bits that `type` of a schema allows; 0 when it does not say. */
unsigned schema_types(yyjson_val *schema);
/* The bits of a value. An integer is a whole number that fits 64 bits with a sign, as 3.0 does. */
unsigned schema_types_of(yyjson_val *value);
/* Whether a number that is not written as an integer is one all the same. */
bool schema_is_whole(double number);

/* Negative, 0 or positive, for two numbers. */
int schema_compare(yyjson_val *left, yyjson_val *right);
/* Whether two values are the same to JSON Schema: 1 equals 1.0, the order of members does not
 * count. Takes from *steps for each comparison and says no when they are used up. */
bool schema_equal(yyjson_val *left, yyjson_val *right, size_t *steps);
/* Whether two strings are the same. */
bool schema_same_text(yyjson_val *left, yyjson_val *right);

/* The schema that a $ref to #/$defs/NAME means; NULL when there is none of that name. */
yyjson_val *schema_referenced(yyjson_val *root, yyjson_val *ref);
/* `schema` itself, or what its $ref and the $refs behind that lead to. Never NULL. */
yyjson_val *schema_resolve(yyjson_val *root, yyjson_val *schema);

#endif
