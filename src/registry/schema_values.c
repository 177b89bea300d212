/* Types, equality and order of JSON values, and references between schemas. */
#include "registry/schema_internal.h"

#include <stdint.h>
#include <string.h>

const struct schema_type_words SCHEMA_TYPES[SCHEMA_TYPE_COUNT] = {
    {SCHEMA_STRING, "string", "a string", "strings", "the string "},
    {SCHEMA_INTEGER, "integer", "an integer", "integers", "the number "},
    {SCHEMA_NUMBER, "number", "a number", "numbers", "the number "},
    {SCHEMA_BOOLEAN, "boolean", "true or false", "booleans", "the boolean "},
    {SCHEMA_ARRAY, "array", "an array", "arrays", ""},
    {SCHEMA_OBJECT, "object", "an object", "objects", ""},
    {SCHEMA_NULL, "null", "null", "nulls", ""},
};

/* ---- types ---- */

unsigned schema_type_bit(yyjson_val *name)
{
    for (size_t i = 0; i < SCHEMA_TYPE_COUNT; i++) {
        if (yyjson_equals_str(name, SCHEMA_TYPES[i].name)) {
            return SCHEMA_TYPES[i].type;
        }
    }
    return 0;
}

unsigned schema_types(yyjson_val *schema)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (yyjson_is_str(type)) {
        return schema_type_bit(type);
    }
    unsigned bits = 0;
    size_t index, max;
    yyjson_val *name;
    yyjson_arr_foreach(type, index, max, name)
    {
        bits |= schema_type_bit(name);
    }
    return bits;
}

bool schema_is_whole(double number)
{
    return number >= -0x1p63 && number < 0x1p63 && (double)(int64_t)number == number;
}

static unsigned number_types(yyjson_val *value)
{
    bool integer = yyjson_is_uint(value)   ? yyjson_get_uint(value) <= INT64_MAX
                   : yyjson_is_sint(value) ? true
                                           : schema_is_whole(yyjson_get_real(value));
    return integer ? SCHEMA_INTEGER | SCHEMA_NUMBER : SCHEMA_NUMBER;
}

unsigned schema_types_of(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL:
        return SCHEMA_NULL;
    case YYJSON_TYPE_BOOL:
        return SCHEMA_BOOLEAN;
    case YYJSON_TYPE_NUM:
        return number_types(value);
    case YYJSON_TYPE_STR:
        return SCHEMA_STRING;
    case YYJSON_TYPE_ARR:
        return SCHEMA_ARRAY;
    case YYJSON_TYPE_OBJ:
        return SCHEMA_OBJECT;
    default:
        return 0;
    }
}

/* ---- equality and order ---- */

static long double as_number(yyjson_val *value)
{
    return yyjson_is_uint(value)   ? (long double)yyjson_get_uint(value)
           : yyjson_is_sint(value) ? (long double)yyjson_get_sint(value)
                                   : (long double)yyjson_get_real(value);
}

int schema_compare(yyjson_val *left, yyjson_val *right)
{
    if (yyjson_is_uint(left) && yyjson_is_uint(right)) {
        /* Exact where a long double is no wider than a double. */
        uint64_t a = yyjson_get_uint(left);
        uint64_t b = yyjson_get_uint(right);
        return (a > b) - (a < b);
    }
    if (yyjson_is_sint(left) && yyjson_is_sint(right)) {
        int64_t a = yyjson_get_sint(left);
        int64_t b = yyjson_get_sint(right);
        return (a > b) - (a < b);
    }
    long double a = as_number(left);
    long double b = as_number(right);
    return (a > b) - (a < b);
}

bool schema_same_text(yyjson_val *left, yyjson_val *right)
{
    return yyjson_is_str(left) &&
           yyjson_equals_strn(right, yyjson_get_str(left), yyjson_get_len(left));
}

static bool equal_arrays(yyjson_val *left, yyjson_val *right, size_t *steps)
{
    yyjson_val *other = yyjson_arr_get_first(right);
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(left, index, max, item)
    {
        if (!schema_equal(item, other, steps)) {
            return false;
        }
        other = unsafe_yyjson_get_next(other);
    }
    return true;
}

static bool equal_objects(yyjson_val *left, yyjson_val *right, size_t *steps)
{
    size_t index, max;
    yyjson_val *key, *member;
    yyjson_obj_foreach(left, index, max, key, member)
    {
        size_t cost = yyjson_obj_size(right);
        *steps -= cost < *steps ? cost : *steps;
        yyjson_val *other = yyjson_obj_getn(right, yyjson_get_str(key), yyjson_get_len(key));
        if (!other || !schema_equal(member, other, steps)) {
            return false;
        }
    }
    return true;
}

bool schema_equal(yyjson_val *left, yyjson_val *right, size_t *steps)
{
    *steps -= *steps > 0;
    if (*steps == 0 || yyjson_get_type(left) != yyjson_get_type(right)) {
        return false;
    }
    switch (yyjson_get_type(left)) {
    case YYJSON_TYPE_NULL:
        return true;
    case YYJSON_TYPE_BOOL:
        return yyjson_get_bool(left) == yyjson_get_bool(right);
    case YYJSON_TYPE_NUM:
        return schema_compare(left, right) == 0;
    case YYJSON_TYPE_STR:
        return schema_same_text(left, right);
    case YYJSON_TYPE_ARR:
        return yyjson_arr_size(left) == yyjson_arr_size(right) && equal_arrays(left, right, steps);
    case YYJSON_TYPE_OBJ:
        return yyjson_obj_size(left) == yyjson_obj_size(right) && equal_objects(left, right, steps);
    default:
        return false;
    }
}

/* ---- references ---- */

yyjson_val *schema_referenced(yyjson_val *root, yyjson_val *ref)
{
    static const char PREFIX[] = "#/$defs/";
    const size_t prefix_length = sizeof PREFIX - 1;
    const char *text = yyjson_get_str(ref);
    size_t length = yyjson_get_len(ref);
    if (!text || length <= prefix_length || memcmp(text, PREFIX, prefix_length) != 0) {
        return NULL;
    }
    return yyjson_obj_getn(yyjson_obj_get(root, "$defs"), text + prefix_length,
                           length - prefix_length);
}

yyjson_val *schema_resolve(yyjson_val *root, yyjson_val *schema)
{
    enum { LONGEST_CHAIN = 16 };
    for (int i = 0; i < LONGEST_CHAIN; i++) {
        yyjson_val *target = schema_referenced(root, yyjson_obj_get(schema, "$ref"));
        if (!target) {
            break;
        }
        schema = target;
    }
    return schema;
}
