/* What the files of the validator share: what JSON values are to a schema (schema_values.c: types,
 * equality, order, references) and the words of its messages (schema_words.c). */
#ifndef FORAGE_REGISTRY_SCHEMA_INTERNAL_H
#define FORAGE_REGISTRY_SCHEMA_INTERNAL_H

#include "registry/schema.h"
#include "text/text.h"

#include <stdbool.h>

/* ---- schema_values.c ---- */

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

/* ---- schema_words.c ---- */

#define SCHEMA_SHOWN_CHARS 60 /* of a string that came */

/* A value and where it stands, from the inside out; the root has no parent. */
struct spot {
    const struct spot *parent;
    yyjson_val *key; /* a string; NULL: an index */
    size_t index;
    yyjson_val *value; /* NULL where it is missing */
};

/* `filters.tags[2]`; "the arguments" for the root. */
void schema_put_spot(struct text_out *out, const struct spot *spot);
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
