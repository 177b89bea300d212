/* Paths, values and schemas in plain words. */
#include "registry/schema_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NAMES = 24,      /* of parameters or enum values in one message */
    MOST_PATH_PARTS = 64, /* of one path; JSON is not nested deeper */
    MOST_NESTING = 4,     /* of schemas that are spelled out in one message */
};

/* ---- where ---- */

static bool is_plain_name(const char *name, size_t length)
{
    if (length == 0 || length > SCHEMA_SHOWN_CHARS) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        if (!letter && !digit && c != '_' && c != '-' && c != '$') {
            return false;
        }
    }
    return true;
}

void schema_put_name(struct text_out *out, yyjson_val *name)
{
    const char *text = yyjson_get_str(name);
    size_t length = yyjson_get_len(name);
    if (is_plain_name(text, length)) {
        text_put_bytes(out, text, length);
    } else {
        text_put_quoted(out, text, length, SCHEMA_SHOWN_CHARS);
    }
}

void schema_put_spot(struct text_out *out, const struct spot *spot)
{
    const struct spot *spots[MOST_PATH_PARTS];
    size_t count = 0;
    for (; spot->parent && count < MOST_PATH_PARTS; spot = spot->parent) {
        spots[count++] = spot;
    }
    if (count == 0) {
        text_put(out, "the arguments");
    }
    for (size_t i = count; i > 0; i--) {
        yyjson_val *key = spots[i - 1]->key;
        bool plain = key && is_plain_name(yyjson_get_str(key), yyjson_get_len(key));
        if (!key) {
            text_putf(out, "[%zu]", spots[i - 1]->index);
            continue;
        }
        text_put(out, !plain ? "[" : i == count ? "" : ".");
        schema_put_name(out, key);
        text_put(out, plain ? "" : "]");
    }
}

/* Goes on to the next item of a list in a message. False when there were enough, and then it says
 * how many more there are. */
static bool put_next(struct text_out *out, size_t index, size_t count)
{
    if (index == MOST_NAMES) {
        text_putf(out, " and %zu more", count - index);
        return false;
    }
    text_put(out, index ? ", " : "");
    return true;
}

/* ---- what came ---- */

static void put_number(struct text_out *out, yyjson_val *number)
{
    if (yyjson_is_uint(number)) {
        text_putf(out, "%" PRIu64, yyjson_get_uint(number));
        return;
    }
    if (yyjson_is_sint(number)) {
        text_putf(out, "%" PRId64, yyjson_get_sint(number));
        return;
    }
    /* The fewest digits that read back as the same number. */
    double value = yyjson_get_real(number);
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        double again = strtod(digits, NULL);
        if (!(again < value) && !(again > value)) {
            break;
        }
    }
    text_put(out, digits);
}

static void put_string(struct text_out *out, yyjson_val *string, bool with_length)
{
    const char *text = yyjson_get_str(string);
    size_t length = yyjson_get_len(string);
    size_t count = text_count(text, length);
    text_put_quoted(out, text, length, SCHEMA_SHOWN_CHARS);
    if (with_length || count > SCHEMA_SHOWN_CHARS) {
        text_putf(out, " (%zu character%s)", count, count == 1 ? "" : "s");
    }
}

static void put_array(struct text_out *out, yyjson_val *array)
{
    size_t count = yyjson_arr_size(array);
    if (count == 0) {
        text_put(out, "an empty array");
    } else {
        text_putf(out, "an array of %zu item%s", count, count == 1 ? "" : "s");
    }
}

static void put_object(struct text_out *out, yyjson_val *object)
{
    size_t index, max;
    yyjson_val *key, *member;
    text_put(out, yyjson_obj_size(object) ? "an object with " : "an empty object");
    yyjson_obj_foreach(object, index, max, key, member)
    {
        if (!put_next(out, index, max)) {
            break;
        }
        schema_put_name(out, key);
    }
}

void schema_put_value(struct text_out *out, yyjson_val *value, enum schema_emphasis emphasis)
{
    unsigned types = schema_types_of(value);
    for (size_t i = 0; emphasis == SHOW_TYPE_AND_VALUE && i < SCHEMA_TYPE_COUNT; i++) {
        if (types & SCHEMA_TYPES[i].type) {
            text_put(out, SCHEMA_TYPES[i].this_one);
            break;
        }
    }
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_BOOL:
        text_put(out, yyjson_get_bool(value) ? "true" : "false");
        break;
    case YYJSON_TYPE_NUM:
        put_number(out, value);
        break;
    case YYJSON_TYPE_STR:
        put_string(out, value, emphasis == SHOW_VALUE_AND_LENGTH);
        break;
    case YYJSON_TYPE_ARR:
        put_array(out, value);
        break;
    case YYJSON_TYPE_OBJ:
        put_object(out, value);
        break;
    default:
        text_put(out, "null");
        break;
    }
}

/* ---- what is allowed ---- */

static void put_schema(struct text_out *out, yyjson_val *root, yyjson_val *schema, int nesting);

/* "of 3 to 400 characters", for the bounds of a length. */
static void put_lengths(struct text_out *out, yyjson_val *least, yyjson_val *most, const char *one,
                        const char *several)
{
    uint64_t low = yyjson_get_uint(least);
    uint64_t high = yyjson_get_uint(most);
    if (most && low == high) {
        text_putf(out, " of %" PRIu64 " %s", high, high == 1 ? one : several);
    } else if (most && low > 0) {
        text_putf(out, " of %" PRIu64 " to %" PRIu64 " %s", low, high, several);
    } else if (most) {
        text_putf(out, " of at most %" PRIu64 " %s", high, high == 1 ? one : several);
    } else if (low > 0) {
        text_putf(out, " of at least %" PRIu64 " %s", low, low == 1 ? one : several);
    }
}

static void put_string_schema(struct text_out *out, yyjson_val *schema)
{
    yyjson_val *pattern = yyjson_obj_get(schema, "pattern");
    text_put(out, "a string");
    put_lengths(out, yyjson_obj_get(schema, "minLength"), yyjson_obj_get(schema, "maxLength"),
                "character", "characters");
    if (yyjson_equals_str(pattern, "[^\\s]")) {
        text_put(out, " that is not blank");
    } else if (yyjson_is_str(pattern)) {
        text_put(out, " that matches ");
        text_put_bytes(out, yyjson_get_str(pattern), yyjson_get_len(pattern));
    }
}

static void put_number_schema(struct text_out *out, yyjson_val *schema, const char *noun)
{
    yyjson_val *least = yyjson_obj_get(schema, "minimum");
    yyjson_val *most = yyjson_obj_get(schema, "maximum");
    yyjson_val *above = yyjson_obj_get(schema, "exclusiveMinimum");
    yyjson_val *below = yyjson_obj_get(schema, "exclusiveMaximum");
    text_put(out, noun);
    if (least && most && !above && !below) {
        text_put(out, " from ");
        put_number(out, least);
        text_put(out, " to ");
        put_number(out, most);
        return;
    }
    const char *glue = " ";
    const struct {
        const char *words;
        yyjson_val *bound;
    } BOUNDS[] = {
        {"of at least ", least}, {"above ", above}, {"of at most ", most}, {"below ", below}};
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) {
        if (BOUNDS[i].bound) {
            text_putf(out, "%s%s", glue, BOUNDS[i].words);
            put_number(out, BOUNDS[i].bound);
            glue = " and ";
        }
    }
}

/* The type of an array's items where that says all that there is to say about them, or NULL. */
static const struct schema_type_words *plain_items(yyjson_val *items)
{
    static const char *const SAYING_MORE[] = {"enum",
                                              "const",
                                              "anyOf",
                                              "oneOf",
                                              "allOf",
                                              "not",
                                              "if",
                                              "required",
                                              "pattern",
                                              "minimum",
                                              "maximum",
                                              "items",
                                              "minLength",
                                              "maxLength",
                                              "$ref",
                                              "minItems",
                                              "maxItems",
                                              "exclusiveMinimum",
                                              "exclusiveMaximum"};
    for (size_t i = 0; i < sizeof SAYING_MORE / sizeof *SAYING_MORE; i++) {
        if (yyjson_obj_get(items, SAYING_MORE[i])) {
            return NULL;
        }
    }
    for (size_t i = 0; i < SCHEMA_TYPE_COUNT; i++) {
        if (schema_types(items) == (unsigned)SCHEMA_TYPES[i].type) {
            return &SCHEMA_TYPES[i];
        }
    }
    return NULL;
}

static void put_array_schema(struct text_out *out, yyjson_val *root, yyjson_val *schema,
                             int nesting)
{
    yyjson_val *items = schema_resolve(root, yyjson_obj_get(schema, "items"));
    yyjson_val *least = yyjson_obj_get(schema, "minItems");
    yyjson_val *most = yyjson_obj_get(schema, "maxItems");
    bool bounded = most || yyjson_get_uint(least) > 0;
    const struct schema_type_words *plain = plain_items(items);
    text_put(out, "an array");
    put_lengths(out, least, most, plain ? plain->name : "item", plain ? plain->several : "items");
    if (plain && !bounded) {
        text_putf(out, " of %s", plain->several);
    }
    if (!plain && yyjson_is_obj(items) && yyjson_obj_size(items) && nesting < MOST_NESTING) {
        text_put(out, bounded ? ", each " : " whose items are each ");
        put_schema(out, root, items, nesting + 1);
    }
}

static void put_object_schema(struct text_out *out, yyjson_val *schema)
{
    size_t index, max;
    yyjson_val *name;
    text_put(out, "an object");
    yyjson_arr_foreach(yyjson_obj_get(schema, "required"), index, max, name)
    {
        text_put(out, index == 0 ? " with " : index + 1 == max ? " and " : ", ");
        schema_put_name(out, name);
    }
}

static void put_choices(struct text_out *out, yyjson_val *choices)
{
    size_t index, max;
    yyjson_val *choice;
    text_put(out, yyjson_arr_size(choices) == 1 ? "" : "one of ");
    yyjson_arr_foreach(choices, index, max, choice)
    {
        if (!put_next(out, index, max)) {
            break;
        }
        schema_put_value(out, choice, SHOW_VALUE);
    }
}

/* A schema without a type is still about one when its keywords only make sense for that. */
static unsigned implied_types(yyjson_val *schema)
{
    static const struct {
        const char *keyword;
        enum schema_type type;
    } HINTS[] = {
        {"required", SCHEMA_OBJECT},  {"properties", SCHEMA_OBJECT}, {"pattern", SCHEMA_STRING},
        {"minLength", SCHEMA_STRING}, {"maxLength", SCHEMA_STRING},  {"items", SCHEMA_ARRAY},
        {"minItems", SCHEMA_ARRAY},   {"maxItems", SCHEMA_ARRAY},    {"minimum", SCHEMA_NUMBER},
        {"maximum", SCHEMA_NUMBER},
    };
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++) {
        if (yyjson_obj_get(schema, HINTS[i].keyword)) {
            return HINTS[i].type;
        }
    }
    return 0;
}

static void put_type(struct text_out *out, yyjson_val *root, yyjson_val *schema,
                     const struct schema_type_words *words, int nesting)
{
    switch (words->type) {
    case SCHEMA_STRING:
        put_string_schema(out, schema);
        break;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        put_number_schema(out, schema, words->one);
        break;
    case SCHEMA_ARRAY:
        put_array_schema(out, root, schema, nesting);
        break;
    case SCHEMA_OBJECT:
        put_object_schema(out, schema);
        break;
    default:
        text_put(out, words->one);
        break;
    }
}

static void put_types(struct text_out *out, yyjson_val *root, yyjson_val *schema, unsigned types,
                      int nesting)
{
    const char *glue = "";
    if (types & SCHEMA_NUMBER) {
        types &= ~(unsigned)SCHEMA_INTEGER;
    }
    for (size_t i = 0; i < SCHEMA_TYPE_COUNT; i++) {
        if (types & SCHEMA_TYPES[i].type) {
            text_put(out, glue);
            put_type(out, root, schema, &SCHEMA_TYPES[i], nesting);
            glue = " or ";
        }
    }
}

static void put_joined(struct text_out *out, yyjson_val *root, yyjson_val *schemas,
                       const char *glue, int nesting)
{
    size_t index, max;
    yyjson_val *schema;
    yyjson_arr_foreach(schemas, index, max, schema)
    {
        if (out->cut) {
            break;
        }
        if (index == MOST_NAMES) {
            text_putf(out, "%s%zu more", glue, max - index);
            break;
        }
        text_put(out, index ? glue : "");
        put_schema(out, root, schema, nesting + 1);
    }
}

static void put_schema(struct text_out *out, yyjson_val *root, yyjson_val *schema, int nesting)
{
    if (!schema_types(schema) && !implied_types(schema)) {
        schema = schema_resolve(root, schema); /* nothing beside the reference is to be said */
    }
    yyjson_val *choices = yyjson_obj_get(schema, "enum");
    yyjson_val *constant = yyjson_obj_get(schema, "const");
    yyjson_val *any = yyjson_obj_get(schema, "anyOf");
    yyjson_val *one = yyjson_obj_get(schema, "oneOf");
    yyjson_val *all = yyjson_obj_get(schema, "allOf");
    unsigned types = schema_types(schema);
    types = types ? types : implied_types(schema);
    if (nesting > MOST_NESTING) {
        text_put(out, "a value of the described form");
    } else if (choices) {
        put_choices(out, choices);
    } else if (constant) {
        schema_put_value(out, constant, SHOW_VALUE);
    } else if (types) {
        put_types(out, root, schema, types, nesting);
    } else if (any || one) {
        put_joined(out, root, any ? any : one, " or ", nesting);
    } else if (all) {
        put_joined(out, root, all, " and ", nesting);
    } else if (yyjson_obj_get(schema, "not")) {
        text_put(out, "anything but ");
        put_schema(out, root, yyjson_obj_get(schema, "not"), nesting + 1);
    } else {
        text_put(out, yyjson_is_false(schema) ? "absent" : "any value");
    }
}

void schema_put_allowed(struct text_out *out, yyjson_val *root, yyjson_val *schema)
{
    put_schema(out, root, schema, 0);
}

void schema_put_alternatives(struct text_out *out, yyjson_val *root, yyjson_val *schemas)
{
    put_joined(out, root, schemas, " or ", 0);
}

void schema_put_names(struct text_out *out, yyjson_val *unknown, yyjson_val *properties)
{
    struct text_guess guess;
    size_t index, max;
    yyjson_val *name, *property;
    if (yyjson_obj_size(properties) == 0) {
        text_put(out, "no parameters are allowed");
        return;
    }
    text_guess_start(&guess, yyjson_get_str(unknown), yyjson_get_len(unknown));
    yyjson_obj_foreach(properties, index, max, name, property)
    {
        text_guess_try(&guess, yyjson_get_str(name), yyjson_get_len(name));
    }
    if (guess.best) {
        text_put(out, "did you mean ");
        text_put_quoted(out, guess.best, guess.best_length, SCHEMA_SHOWN_CHARS);
        text_put(out, "? ");
    }
    text_put(out, "allowed: ");
    yyjson_obj_foreach(properties, index, max, name, property)
    {
        if (!put_next(out, index, max)) {
            break;
        }
        schema_put_name(out, name);
    }
}
