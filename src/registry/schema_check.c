/* The check on a schema itself, which tests make: every keyword is known, well-formed,
 * fits the type it stands with, and leads somewhere; defaults and examples pass. A definition that
 * gets through means what it says. */
#include "registry/schema.h"

#include "core/status.h"
#include "registry/pattern.h"
#include "registry/schema_internal.h"

#include <stdbool.h>
#include <string.h>

struct checker {
    yyjson_val *root;
    struct text_out out;
};

/* Where a schema stands inside the definition, for messages. */
struct json_path {
    const struct json_path *parent;
    const char *step; /* a keyword, or a name below it */
};

enum keyword_form {
    ANYTHING,
    TEXT,
    BOOLEAN,
    NUMBER,
    COUNT, /* a whole number that is not negative */
    LIST,
    TYPE,
    NAMES, /* a list of different strings */
    PATTERN,
    REFERENCE,
    SCHEMA,
    SCHEMA_LIST,
    SCHEMA_MAP,
};

#define ANY_TYPE 0u

#define NAMED(name) name, sizeof(name) - 1

/* The keywords, with the types that they say something about. */
static const struct keyword {
    const char *name;
    size_t length;
    enum keyword_form form;
    unsigned types;
} KEYWORDS[] = {
    {NAMED("$schema"), TEXT, ANY_TYPE},
    {NAMED("$id"), TEXT, ANY_TYPE},
    {NAMED("$anchor"), TEXT, ANY_TYPE},
    {NAMED("$comment"), TEXT, ANY_TYPE},
    {NAMED("title"), TEXT, ANY_TYPE},
    {NAMED("description"), TEXT, ANY_TYPE},
    {NAMED("format"), TEXT, ANY_TYPE},
    {NAMED("default"), ANYTHING, ANY_TYPE},
    {NAMED("examples"), LIST, ANY_TYPE},
    {NAMED("deprecated"), BOOLEAN, ANY_TYPE},
    {NAMED("readOnly"), BOOLEAN, ANY_TYPE},
    {NAMED("writeOnly"), BOOLEAN, ANY_TYPE},
    {NAMED("type"), TYPE, ANY_TYPE},
    {NAMED("enum"), LIST, ANY_TYPE},
    {NAMED("const"), ANYTHING, ANY_TYPE},
    {NAMED("properties"), SCHEMA_MAP, SCHEMA_OBJECT},
    {NAMED("required"), NAMES, SCHEMA_OBJECT},
    {NAMED("additionalProperties"), SCHEMA, SCHEMA_OBJECT},
    {NAMED("items"), SCHEMA, SCHEMA_ARRAY},
    {NAMED("minItems"), COUNT, SCHEMA_ARRAY},
    {NAMED("maxItems"), COUNT, SCHEMA_ARRAY},
    {NAMED("uniqueItems"), BOOLEAN, SCHEMA_ARRAY},
    {NAMED("minLength"), COUNT, SCHEMA_STRING},
    {NAMED("maxLength"), COUNT, SCHEMA_STRING},
    {NAMED("pattern"), PATTERN, SCHEMA_STRING},
    {NAMED("minimum"), NUMBER, SCHEMA_NUMBER | SCHEMA_INTEGER},
    {NAMED("maximum"), NUMBER, SCHEMA_NUMBER | SCHEMA_INTEGER},
    {NAMED("exclusiveMinimum"), NUMBER, SCHEMA_NUMBER | SCHEMA_INTEGER},
    {NAMED("exclusiveMaximum"), NUMBER, SCHEMA_NUMBER | SCHEMA_INTEGER},
    {NAMED("anyOf"), SCHEMA_LIST, ANY_TYPE},
    {NAMED("oneOf"), SCHEMA_LIST, ANY_TYPE},
    {NAMED("allOf"), SCHEMA_LIST, ANY_TYPE},
    {NAMED("not"), SCHEMA, ANY_TYPE},
    {NAMED("if"), SCHEMA, ANY_TYPE},
    {NAMED("then"), SCHEMA, ANY_TYPE},
    {NAMED("else"), SCHEMA, ANY_TYPE},
    {NAMED("$ref"), REFERENCE, ANY_TYPE},
    {NAMED("$defs"), SCHEMA_MAP, ANY_TYPE},
};

#define KEYWORD_COUNT (sizeof KEYWORDS / sizeof *KEYWORDS)

/* ---- complaints ---- */

static void put_place(struct text_out *out, const struct json_path *place)
{
    if (!place) {
        text_put(out, "#");
        return;
    }
    put_place(out, place->parent);
    text_put(out, "/");
    text_put(out, place->step);
}

/* Begins the sentence about what stands at `place`. */
static struct text_out *complain(struct checker *checker, const struct json_path *place)
{
    put_place(&checker->out, place);
    text_put(&checker->out, ": ");
    return &checker->out;
}

static int refuse(struct checker *checker, const struct json_path *place, const char *what)
{
    text_put(complain(checker, place), what);
    return ERR_INVALID;
}

static int refuse_keyword(struct checker *checker, yyjson_val *name, const struct json_path *place)
{
    struct text_out *out = complain(checker, place);
    struct text_guess guess;
    text_guess_start(&guess, yyjson_get_str(name), yyjson_get_len(name));
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        text_guess_try(&guess, KEYWORDS[i].name, KEYWORDS[i].length);
    }
    text_put(out, "the keyword ");
    schema_put_name(out, name);
    text_put(out, " is not supported");
    if (guess.best) {
        text_putf(out, "; did you mean %s?", guess.best);
    }
    return ERR_INVALID;
}

/* ---- the form of one keyword's value ---- */

static int check_schema(struct checker *checker, yyjson_val *schema, const struct json_path *place);

static int check_type(struct checker *checker, yyjson_val *value, const struct json_path *place)
{
    unsigned seen = 0;
    size_t index, max;
    yyjson_val *name;
    if (yyjson_is_str(value) && schema_type_bit(value)) {
        return OK;
    }
    yyjson_arr_foreach(value, index, max, name)
    {
        unsigned bit = schema_type_bit(name);
        if (bit == 0 || seen & bit) {
            seen = 0;
            break;
        }
        seen |= bit;
    }
    return seen ? OK
                : refuse(checker, place, "must be the name of a type, or a list of different ones");
}

static int check_names(struct checker *checker, yyjson_val *value, const struct json_path *place)
{
    size_t index, max;
    yyjson_val *name;
    bool valid = yyjson_is_arr(value);
    yyjson_arr_foreach(value, index, max, name)
    {
        for (size_t i = 0; i < index && valid; i++) {
            valid = !schema_same_text(yyjson_arr_get(value, i), name);
        }
        valid = valid && yyjson_is_str(name);
    }
    return valid ? OK : refuse(checker, place, "must be a list of different names");
}

static int check_pattern(struct checker *checker, yyjson_val *value, const struct json_path *place)
{
    char problem[160];
    if (!yyjson_is_str(value)) {
        return refuse(checker, place, "must be a string");
    }
    for (size_t i = 0; i < yyjson_get_len(value); i++) {
        if ((unsigned char)yyjson_get_str(value)[i] < ' ') {
            /* Messages show the pattern as it is. */
            return refuse(checker, place, "must not hold control characters");
        }
    }
    if (pattern_check(yyjson_get_str(value), yyjson_get_len(value), problem, sizeof problem) !=
        OK) {
        return refuse(checker, place, problem);
    }
    return OK;
}

static int check_schema_list(struct checker *checker, yyjson_val *value,
                             const struct json_path *place)
{
    size_t index, max;
    yyjson_val *schema;
    if (yyjson_arr_size(value) == 0) {
        return refuse(checker, place, "must be a list of schemas that is not empty");
    }
    yyjson_arr_foreach(value, index, max, schema)
    {
        char number[24];
        struct text_out step;
        text_start(&step, number, sizeof number);
        text_putf(&step, "%zu", index);
        struct json_path here = {place, number};
        int status = check_schema(checker, schema, &here);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

static int check_schema_map(struct checker *checker, yyjson_val *value,
                            const struct json_path *place)
{
    size_t index, max;
    yyjson_val *name, *schema;
    if (!yyjson_is_obj(value)) {
        return refuse(checker, place, "must be an object of schemas");
    }
    yyjson_obj_foreach(value, index, max, name, schema)
    {
        struct json_path here = {place, yyjson_get_str(name)};
        int status = check_schema(checker, schema, &here);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

static bool is_filled_list(yyjson_val *value)
{
    return yyjson_arr_size(value) > 0;
}

/* The forms that need no more than a look at the value. */
static const struct {
    bool (*fits)(yyjson_val *value);
    const char *words;
} PLAIN_FORMS[] = {
    [TEXT] = {yyjson_is_str, "must be a string"},
    [BOOLEAN] = {yyjson_is_bool, "must be true or false"},
    [NUMBER] = {yyjson_is_num, "must be a number"},
    [COUNT] = {yyjson_is_uint, "must be a whole number, not negative"},
    [LIST] = {is_filled_list, "must be a list that is not empty"},
};

static int check_form(struct checker *checker, enum keyword_form form, yyjson_val *value,
                      const struct json_path *place)
{
    switch (form) {
    case TEXT:
    case BOOLEAN:
    case NUMBER:
    case COUNT:
    case LIST:
        return PLAIN_FORMS[form].fits(value) ? OK : refuse(checker, place, PLAIN_FORMS[form].words);
    case REFERENCE:
        return schema_referenced(checker->root, value)
                   ? OK
                   : refuse(checker, place, "must be #/$defs/NAME with a name that is defined");
    case TYPE:
        return check_type(checker, value, place);
    case NAMES:
        return check_names(checker, value, place);
    case PATTERN:
        return check_pattern(checker, value, place);
    case SCHEMA:
        return check_schema(checker, value, place);
    case SCHEMA_LIST:
        return check_schema_list(checker, value, place);
    case SCHEMA_MAP:
        return check_schema_map(checker, value, place);
    case ANYTHING:
        break;
    }
    return OK;
}

/* ---- one schema ---- */

static const struct keyword *find_keyword(yyjson_val *name)
{
    const char *text = yyjson_get_str(name);
    size_t length = yyjson_get_len(name);
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        if (KEYWORDS[i].length == length && memcmp(KEYWORDS[i].name, text, length) == 0) {
            return &KEYWORDS[i];
        }
    }
    return NULL;
}

static int check_keyword(struct checker *checker, yyjson_val *schema, yyjson_val *name,
                         yyjson_val *value, const struct json_path *place)
{
    const struct keyword *keyword = find_keyword(name);
    if (!keyword) {
        bool extension = strncmp(yyjson_get_str(name), "x-", 2) == 0;
        return extension ? OK : refuse_keyword(checker, name, place);
    }
    struct json_path here = {place, keyword->name};
    unsigned types = schema_types(schema);
    if (keyword->types != ANY_TYPE && types && !(types & keyword->types)) {
        return refuse(checker, &here, "says nothing about values of this type");
    }
    if (strcmp(keyword->name, "$defs") == 0 && place) {
        return refuse(checker, &here, "belongs at the top of the schema");
    }
    return check_form(checker, keyword->form, value, &here);
}

/* Bounds that leave nothing between them. */
static int check_bounds(struct checker *checker, yyjson_val *schema, const struct json_path *place)
{
    static const struct {
        const char *low, *high;
        int most; /* how low may compare to high */
    } PAIRS[] = {
        {"minLength", "maxLength", 0},       {"minItems", "maxItems", 0},
        {"minimum", "maximum", 0},           {"exclusiveMinimum", "maximum", -1},
        {"minimum", "exclusiveMaximum", -1}, {"exclusiveMinimum", "exclusiveMaximum", -1},
    };
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        yyjson_val *low = yyjson_obj_get(schema, PAIRS[i].low);
        yyjson_val *high = yyjson_obj_get(schema, PAIRS[i].high);
        if (low && high && schema_compare(low, high) > PAIRS[i].most) {
            text_putf(complain(checker, place), "no value can pass both %s and %s", PAIRS[i].low,
                      PAIRS[i].high);
            return ERR_INVALID;
        }
    }
    return OK;
}

/* Keywords that need one another. */
static int check_company(struct checker *checker, yyjson_val *schema, const struct json_path *place)
{
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    bool closed = yyjson_is_false(yyjson_obj_get(schema, "additionalProperties"));
    size_t index, max;
    yyjson_val *name;
    yyjson_arr_foreach(yyjson_obj_get(schema, "required"), index, max, name)
    {
        if (closed && !yyjson_obj_getn(properties, yyjson_get_str(name), yyjson_get_len(name))) {
            struct text_out *out = complain(checker, place);
            text_put(out, "requires ");
            schema_put_name(out, name);
            text_put(out, ", which is no property");
            return ERR_INVALID;
        }
    }
    if (!yyjson_obj_get(schema, "if") &&
        (yyjson_obj_get(schema, "then") || yyjson_obj_get(schema, "else"))) {
        return refuse(checker, place, "then and else need an if");
    }
    return OK;
}

static int check_schema(struct checker *checker, yyjson_val *schema, const struct json_path *place)
{
    size_t index, max;
    yyjson_val *name, *value;
    if (yyjson_is_bool(schema)) {
        return OK;
    }
    if (!yyjson_is_obj(schema)) {
        return refuse(checker, place, "a schema must be an object, true or false");
    }
    yyjson_obj_foreach(schema, index, max, name, value)
    {
        int status = check_keyword(checker, schema, name, value, place);
        if (status != OK) {
            return status;
        }
    }
    int status = check_bounds(checker, schema, place);
    return status == OK ? check_company(checker, schema, place) : status;
}

/* ---- the schema as a whole ---- */

/* Whether following what applies to the same value ($ref, anyOf and the like) comes to an end. */
static bool ends(yyjson_val *root, yyjson_val *schema, unsigned nesting, size_t *steps)
{
    if (nesting == SCHEMA_MOST_NESTING || *steps == 0) {
        return false;
    }
    --*steps;
    yyjson_obj_iter members = yyjson_obj_iter_with(schema);
    yyjson_val *name, *part;
    while ((name = yyjson_obj_iter_next(&members)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(name);
        const struct keyword *keyword = find_keyword(name);
        if (!keyword || keyword->types != ANY_TYPE) {
            continue;
        }
        enum keyword_form form = keyword->form;
        if (form == REFERENCE && !ends(root, schema_referenced(root, value), nesting + 1, steps)) {
            return false;
        }
        if (form == SCHEMA && !ends(root, value, nesting + 1, steps)) {
            return false;
        }
        size_t index, max;
        yyjson_arr_foreach(form == SCHEMA_LIST ? value : NULL, index, max, part)
        {
            if (!ends(root, part, nesting + 1, steps)) {
                return false;
            }
        }
    }
    return true;
}

static int check_endings(struct checker *checker)
{
    size_t steps = SCHEMA_MOST_STEPS;
    bool valid = ends(checker->root, checker->root, 0, &steps);
    yyjson_obj_iter definitions = yyjson_obj_iter_with(yyjson_obj_get(checker->root, "$defs"));
    yyjson_val *name;
    while ((name = yyjson_obj_iter_next(&definitions)) != NULL) {
        valid = valid && ends(checker->root, yyjson_obj_iter_get_val(name), 0, &steps);
    }
    return valid ? OK : refuse(checker, NULL, "references lead back to themselves");
}

static int check_sample(struct checker *checker, yyjson_val *schema, yyjson_val *sample,
                        const struct json_path *place)
{
    char problem[400];
    if (schema_validate_part(checker->root, schema, sample, problem, sizeof problem) == OK) {
        return OK;
    }
    text_putf(complain(checker, place), "does not pass its own schema: %s", problem);
    return ERR_INVALID;
}

static int check_samples_below(struct checker *checker, yyjson_val *container,
                               const struct json_path *place);

/* The defaults and examples of a schema and of all inside it. */
static int check_samples(struct checker *checker, yyjson_val *schema, const struct json_path *place)
{
    yyjson_val *preset = yyjson_obj_get(schema, "default");
    struct json_path preset_place = {place, "default"};
    int status = preset ? check_sample(checker, schema, preset, &preset_place) : OK;
    struct json_path examples_place = {place, "examples"};
    size_t index, max;
    yyjson_val *name, *example;
    yyjson_arr_foreach(yyjson_obj_get(schema, "examples"), index, max, example)
    {
        if (status == OK) {
            status = check_sample(checker, schema, example, &examples_place);
        }
    }
    yyjson_obj_iter members = yyjson_obj_iter_with(schema);
    while ((name = yyjson_obj_iter_next(&members)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(name);
        const struct keyword *keyword = find_keyword(name);
        enum keyword_form form = keyword ? keyword->form : ANYTHING;
        struct json_path here = {place, yyjson_get_str(name)};
        if (status == OK && form == SCHEMA) {
            status = check_samples(checker, value, &here);
        } else if (status == OK && (form == SCHEMA_LIST || form == SCHEMA_MAP)) {
            status = check_samples_below(checker, value, &here);
        }
    }
    return status;
}

static int check_samples_below(struct checker *checker, yyjson_val *container,
                               const struct json_path *place)
{
    int status = OK;
    size_t index, max;
    yyjson_val *name, *schema;
    yyjson_obj_iter members = yyjson_obj_iter_with(container);
    while ((name = yyjson_obj_iter_next(&members)) != NULL) {
        struct json_path here = {place, yyjson_get_str(name)};
        schema = yyjson_obj_iter_get_val(name);
        status = status == OK ? check_samples(checker, schema, &here) : status;
    }
    yyjson_arr_foreach(container, index, max, schema)
    {
        status = status == OK ? check_samples(checker, schema, place) : status;
    }
    return status;
}

int schema_check(yyjson_val *schema, char *problem, size_t size)
{
    struct checker checker = {.root = schema};
    text_start(&checker.out, problem, size);
    int status = check_schema(&checker, schema, NULL);
    if (status == OK) {
        status = check_endings(&checker);
    }
    return status == OK ? check_samples(&checker, schema, NULL) : status;
}
