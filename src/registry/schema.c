/* The validator: walks a schema and a value side by side. Where alternatives have to be tried it
 * walks quietly first, and speaks only when it knows which words help. */
#include "registry/schema.h"

#include "core/status.h"
#include "registry/pattern.h"
#include "registry/schema_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char TOO_LARGE[] = "the arguments are too large to be checked";

struct validator {
    yyjson_val *root; /* where references lead */
    struct text_out out;
    unsigned quiet; /* not 0: only the answer counts, not the words */
    unsigned nesting;
    size_t steps; /* that are left */
    bool gave_up; /* the value could not be checked to its end, whatever the parts say */
    int problems;
};

static bool check_value(struct validator *walk, yyjson_val *schema, const struct spot *spot);

/* ---- complaints ---- */

/* Whether a problem is to be reported now; begins its sentence then. */
static bool speak(struct validator *walk)
{
    if (walk->quiet || walk->problems == SCHEMA_MOST_PROBLEMS) {
        return false;
    }
    text_put(&walk->out, walk->problems ? ". Also: " : "");
    walk->problems++;
    return true;
}

/* Whether there is any point in looking for more problems. */
static bool curious(const struct validator *walk)
{
    return !walk->quiet && !walk->gave_up && walk->problems < SCHEMA_MOST_PROBLEMS;
}

static bool give_up(struct validator *walk, const char *why)
{
    if (!walk->gave_up) {
        walk->gave_up = true;
        walk->quiet = 0;
        if (speak(walk)) {
            text_put(&walk->out, why);
        }
    }
    return false;
}

/* Begins a sentence about a value: "depth must be ". False when nothing is to be reported. */
static bool complain(struct validator *walk, const struct spot *spot, const char *words)
{
    if (!speak(walk)) {
        return false;
    }
    schema_put_spot(&walk->out, spot);
    text_put(&walk->out, words);
    return true;
}

static void put_what_came(struct validator *walk, yyjson_val *value, enum schema_emphasis emphasis)
{
    text_put(&walk->out, ", but ");
    schema_put_value(&walk->out, value, emphasis);
    text_put(&walk->out, " came");
}

/* "depth must be one of "concise", "detailed", but "deep" came". Always false. */
static bool must_be(struct validator *walk, yyjson_val *schema, const struct spot *spot,
                    enum schema_emphasis emphasis)
{
    if (complain(walk, spot, " must be ")) {
        schema_put_allowed(&walk->out, walk->root, schema);
        put_what_came(walk, spot->value, emphasis);
    }
    return false;
}

/* ---- strings, numbers, arrays ---- */

static bool check_pattern(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *pattern = yyjson_obj_get(schema, "pattern");
    if (!yyjson_is_str(pattern)) {
        return true;
    }
    int matches = pattern_match(yyjson_get_str(pattern), yyjson_get_len(pattern),
                                yyjson_get_str(spot->value), yyjson_get_len(spot->value));
    if (matches < 0) {
        return give_up(walk, "a string is too long to be checked against its pattern");
    }
    return matches || must_be(walk, schema, spot, SHOW_VALUE);
}

/* The characters of a string; with "x-trim" those between the blanks around it. */
static size_t counted_length(yyjson_val *schema, yyjson_val *value)
{
    const char *text = yyjson_get_str(value);
    size_t length = yyjson_get_len(value);
    if (yyjson_is_true(yyjson_obj_get(schema, "x-trim"))) {
        while (length && strchr(" \t\r\n", text[length - 1])) {
            length--;
        }
        while (length && strchr(" \t\r\n", *text)) {
            text++;
            length--;
        }
    }
    return text_count(text, length);
}

static bool check_string(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *least = yyjson_obj_get(schema, "minLength");
    yyjson_val *most = yyjson_obj_get(schema, "maxLength");
    if (least || most) {
        size_t length = counted_length(schema, spot->value);
        if (length < yyjson_get_uint(least) || (most && length > yyjson_get_uint(most))) {
            /* The length that is shown would count the blanks too. */
            bool trimmed = yyjson_obj_get(schema, "x-trim") != NULL;
            return must_be(walk, schema, spot, trimmed ? SHOW_VALUE : SHOW_VALUE_AND_LENGTH);
        }
    }
    return check_pattern(walk, schema, spot);
}

static bool check_number(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    static const struct {
        const char *keyword;
        int low, high; /* how the value may compare to the bound */
    } BOUNDS[] = {{"minimum", 0, 1},
                  {"maximum", -1, 0},
                  {"exclusiveMinimum", 1, 1},
                  {"exclusiveMaximum", -1, -1}};
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) {
        yyjson_val *bound = yyjson_obj_get(schema, BOUNDS[i].keyword);
        int order = bound ? schema_compare(spot->value, bound) : BOUNDS[i].low;
        if (order < BOUNDS[i].low || order > BOUNDS[i].high) {
            return must_be(walk, schema, spot, SHOW_VALUE);
        }
    }
    return true;
}

static bool check_unique(struct validator *walk, const struct spot *spot)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(spot->value, index, max, item)
    {
        yyjson_val *earlier = yyjson_arr_get_first(spot->value);
        for (size_t i = 0; i < index; i++) {
            bool same = schema_equal(earlier, item, &walk->steps);
            if (same && complain(walk, spot, " must not hold the same item twice, but items ")) {
                text_putf(&walk->out, "%zu and %zu are both ", i, index);
                schema_put_value(&walk->out, item, SHOW_VALUE);
            }
            if (same) {
                return false;
            }
            if (walk->steps == 0) {
                return give_up(walk, TOO_LARGE);
            }
            earlier = unsafe_yyjson_get_next(earlier);
        }
    }
    return true;
}

static bool check_array(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *items = yyjson_obj_get(schema, "items");
    yyjson_val *most = yyjson_obj_get(schema, "maxItems");
    size_t count = yyjson_arr_size(spot->value);
    if (count < yyjson_get_uint(yyjson_obj_get(schema, "minItems")) ||
        (most && count > yyjson_get_uint(most))) {
        return must_be(walk, schema, spot, SHOW_VALUE);
    }
    bool valid = true;
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(spot->value, index, max, item)
    {
        if (!items || (!valid && !curious(walk))) {
            break;
        }
        struct spot here = {.parent = spot, .index = index, .value = item};
        valid = check_value(walk, items, &here) && valid;
    }
    if (valid && yyjson_is_true(yyjson_obj_get(schema, "uniqueItems"))) {
        valid = check_unique(walk, spot);
    }
    return valid;
}

/* ---- objects ---- */

static void tell_unknown(struct validator *walk, yyjson_val *key, yyjson_val *properties,
                         const struct spot *spot)
{
    if (!speak(walk)) {
        return;
    }
    text_put(&walk->out, "unknown parameter ");
    text_put_quoted(&walk->out, yyjson_get_str(key), yyjson_get_len(key), SCHEMA_SHOWN_CHARS);
    if (spot->parent) {
        text_put(&walk->out, " in ");
        schema_put_spot(&walk->out, spot);
    }
    text_put(&walk->out, "; ");
    schema_put_names(&walk->out, key, properties);
}

static bool check_required(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    bool valid = true;
    size_t index, max;
    yyjson_val *name;
    yyjson_arr_foreach(yyjson_obj_get(schema, "required"), index, max, name)
    {
        const char *text = yyjson_get_str(name);
        size_t length = yyjson_get_len(name);
        if (!valid && !curious(walk)) {
            break;
        }
        if (!text || yyjson_obj_getn(spot->value, text, length)) {
            continue;
        }
        valid = false;
        yyjson_val *property = yyjson_obj_getn(properties, text, length);
        struct spot missing = {.parent = spot, .key = name};
        if (complain(walk, &missing, " is required") && yyjson_is_obj(property) &&
            yyjson_obj_size(property)) {
            text_put(&walk->out, " (");
            schema_put_allowed(&walk->out, walk->root, property);
            text_put(&walk->out, ")");
        }
    }
    return valid;
}

static bool check_members(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    yyjson_val *others = yyjson_obj_get(schema, "additionalProperties");
    bool valid = true;
    size_t index, max;
    yyjson_val *key, *member;
    yyjson_obj_foreach(spot->value, index, max, key, member)
    {
        if (!valid && !curious(walk)) {
            break;
        }
        struct spot here = {.parent = spot, .key = key, .value = member};
        yyjson_val *property =
            yyjson_obj_getn(properties, yyjson_get_str(key), yyjson_get_len(key));
        if (!property && yyjson_is_false(others)) {
            tell_unknown(walk, key, properties, spot);
            valid = false;
        } else if (property || others) {
            valid = check_value(walk, property ? property : others, &here) && valid;
        }
    }
    return valid;
}

static bool check_object(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    bool valid = check_members(walk, schema, spot);
    if (valid || curious(walk)) {
        valid = check_required(walk, schema, spot) && valid;
    }
    return valid;
}

/* ---- schemas that combine others ---- */

static bool passes_quietly(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    if (walk->gave_up) {
        return false;
    }
    unsigned quiet = walk->quiet++;
    bool passes = check_value(walk, schema, spot);
    walk->quiet = quiet;
    return passes;
}

/* Whether an alternative is about this kind of value: its type fits, and so does every member whose
 * value the alternative fixes ({"kind": {"const": "range"}}). */
static bool is_about(struct validator *walk, yyjson_val *alternative, yyjson_val *value)
{
    alternative = schema_resolve(walk->root, alternative);
    unsigned types = schema_types(alternative);
    if (types && !(types & schema_types_of(value))) {
        return false;
    }
    yyjson_obj_iter properties = yyjson_obj_iter_with(yyjson_obj_get(alternative, "properties"));
    yyjson_val *name;
    while ((name = yyjson_obj_iter_next(&properties)) != NULL) {
        yyjson_val *fixed = yyjson_obj_get(yyjson_obj_iter_get_val(name), "const");
        yyjson_val *member = yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name));
        if (fixed && member && !schema_equal(fixed, member, &walk->steps)) {
            return false;
        }
    }
    return true;
}

/* No alternative holds. For an array or an object of which only one alternative can have been
 * meant, that one's own complaint helps most; otherwise all that is allowed is listed. */
static bool tell_no_alternative(struct validator *walk, yyjson_val *alternatives,
                                const struct spot *spot)
{
    if (!curious(walk)) {
        return false;
    }
    yyjson_val *meant = NULL;
    size_t candidates = 0;
    size_t index, max;
    yyjson_val *alternative;
    yyjson_arr_foreach(alternatives, index, max, alternative)
    {
        if (is_about(walk, alternative, spot->value)) {
            meant = alternative;
            candidates++;
        }
    }
    if (candidates == 1 && yyjson_is_ctn(spot->value)) {
        return check_value(walk, meant, spot);
    }
    if (complain(walk, spot, " must be ")) {
        schema_put_alternatives(&walk->out, walk->root, alternatives);
        put_what_came(walk, spot->value, candidates ? SHOW_VALUE : SHOW_TYPE_AND_VALUE);
    }
    return false;
}

static size_t count_passing(struct validator *walk, yyjson_val *alternatives,
                            const struct spot *spot, size_t enough)
{
    size_t passing = 0;
    size_t index, max;
    yyjson_val *alternative;
    yyjson_arr_foreach(alternatives, index, max, alternative)
    {
        if (passing == enough) {
            break;
        }
        passing += passes_quietly(walk, alternative, spot);
    }
    return passing;
}

static bool check_any_of(struct validator *walk, yyjson_val *alternatives, const struct spot *spot)
{
    return count_passing(walk, alternatives, spot, 1) == 1 ||
           tell_no_alternative(walk, alternatives, spot);
}

static bool check_one_of(struct validator *walk, yyjson_val *alternatives, const struct spot *spot)
{
    size_t passing = count_passing(walk, alternatives, spot, 2);
    if (passing == 1) {
        return true;
    }
    if (passing == 0) {
        return tell_no_alternative(walk, alternatives, spot);
    }
    if (complain(walk, spot, " must be exactly one of these, but ")) {
        schema_put_value(&walk->out, spot->value, SHOW_VALUE);
        text_put(&walk->out, " is more than one of them: ");
        schema_put_alternatives(&walk->out, walk->root, alternatives);
    }
    return false;
}

static bool check_all_of(struct validator *walk, yyjson_val *parts, const struct spot *spot)
{
    bool valid = true;
    size_t index, max;
    yyjson_val *part;
    yyjson_arr_foreach(parts, index, max, part)
    {
        valid = check_value(walk, part, spot);
        if (!valid) {
            break;
        }
    }
    return valid;
}

static bool check_not(struct validator *walk, yyjson_val *refused, const struct spot *spot)
{
    if (!passes_quietly(walk, refused, spot)) {
        return true;
    }
    if (complain(walk, spot, " must not be ")) {
        schema_put_allowed(&walk->out, walk->root, refused);
        put_what_came(walk, spot->value, SHOW_VALUE);
    }
    return false;
}

static bool check_combinations(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    static const struct {
        const char *keyword;
        bool (*check)(struct validator *walk, yyjson_val *inner, const struct spot *spot);
    } COMBINATIONS[] = {{"allOf", check_all_of},
                        {"anyOf", check_any_of},
                        {"oneOf", check_one_of},
                        {"not", check_not}};
    for (size_t i = 0; i < sizeof COMBINATIONS / sizeof *COMBINATIONS; i++) {
        yyjson_val *inner = yyjson_obj_get(schema, COMBINATIONS[i].keyword);
        if (inner && !COMBINATIONS[i].check(walk, inner, spot)) {
            return false;
        }
    }
    yyjson_val *condition = yyjson_obj_get(schema, "if");
    if (condition) {
        bool holds = passes_quietly(walk, condition, spot);
        yyjson_val *branch = yyjson_obj_get(schema, holds ? "then" : "else");
        return !branch || check_value(walk, branch, spot);
    }
    return true;
}

/* ---- one value ---- */

static bool check_choices(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    yyjson_val *constant = yyjson_obj_get(schema, "const");
    yyjson_val *choices = yyjson_obj_get(schema, "enum");
    bool listed = !choices;
    size_t index, max;
    yyjson_val *choice;
    yyjson_arr_foreach(choices, index, max, choice)
    {
        if (schema_equal(choice, spot->value, &walk->steps)) {
            listed = true;
            break;
        }
    }
    if (constant && !schema_equal(constant, spot->value, &walk->steps)) {
        listed = false;
    }
    if (!listed && walk->steps == 0) {
        return give_up(walk, TOO_LARGE); /* the comparisons stopped early */
    }
    return listed || must_be(walk, schema, spot, SHOW_VALUE);
}

static bool check_by_type(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    switch (yyjson_get_type(spot->value)) {
    case YYJSON_TYPE_STR:
        return check_string(walk, schema, spot);
    case YYJSON_TYPE_NUM:
        return check_number(walk, schema, spot);
    case YYJSON_TYPE_ARR:
        return check_array(walk, schema, spot);
    case YYJSON_TYPE_OBJ:
        return check_object(walk, schema, spot);
    default:
        return true;
    }
}

static bool check_keywords(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    unsigned types = schema_types(schema);
    unsigned came = schema_types_of(spot->value);
    if (types && !(types & came)) {
        /* 3.5 for an integer is no wrong kind of value, just a wrong number. */
        bool near = (types & SCHEMA_INTEGER) && (came & SCHEMA_NUMBER);
        return must_be(walk, schema, spot, near ? SHOW_VALUE : SHOW_TYPE_AND_VALUE);
    }
    yyjson_val *ref = yyjson_obj_get(schema, "$ref");
    if (ref) {
        yyjson_val *target = schema_referenced(walk->root, ref);
        if (!target || !check_value(walk, target, spot)) {
            return false;
        }
    }
    return check_choices(walk, schema, spot) && check_by_type(walk, schema, spot) &&
           check_combinations(walk, schema, spot);
}

static bool check_value(struct validator *walk, yyjson_val *schema, const struct spot *spot)
{
    if (walk->gave_up) {
        return false;
    }
    if (walk->steps == 0) {
        return give_up(walk, TOO_LARGE);
    }
    if (walk->nesting == SCHEMA_MOST_NESTING) {
        return give_up(walk, "the arguments are nested too deeply to be checked");
    }
    if (yyjson_is_false(schema)) {
        return must_be(walk, schema, spot, SHOW_VALUE);
    }
    walk->steps--;
    walk->nesting++;
    bool valid = check_keywords(walk, schema, spot);
    walk->nesting--;
    return valid;
}

int schema_validate_part(yyjson_val *root, yyjson_val *schema, yyjson_val *value, char *problem,
                         size_t size)
{
    struct validator walk = {.root = root, .steps = SCHEMA_MOST_STEPS};
    text_start(&walk.out, problem, size);
    bool valid = check_value(&walk, schema, &(struct spot){.value = value});
    return valid && !walk.gave_up ? OK : ERR_INVALID;
}

int schema_validate(yyjson_val *schema, yyjson_val *value, char *problem, size_t size)
{
    return schema_validate_part(schema, schema, value, problem, size);
}

/* ---- defaults ---- */

/* 3.0 becomes 3. Equal for every reader, and readable as an integer. */
static void make_whole(yyjson_mut_val *value)
{
    yyjson_mut_val *key, *child;
    size_t index, max;
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_foreach(value, index, max, key, child)
        {
            make_whole(child);
        }
    } else if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_foreach(value, index, max, child)
        {
            make_whole(child);
        }
    } else if (yyjson_mut_is_real(value)) {
        double number = yyjson_mut_get_real(value);
        if (schema_is_whole(number)) {
            yyjson_mut_set_sint(value, (int64_t)number);
        }
    }
}

/* The default of a property, its own or that of the schema that it refers to; NULL: none. */
static yyjson_val *preset_of(yyjson_val *schema, yyjson_val *property)
{
    size_t index, max;
    yyjson_val *name, *value;
    bool refers = false;
    yyjson_obj_foreach(property, index, max, name, value)
    {
        if (yyjson_equals_str(name, "default")) {
            return value;
        }
        refers = refers || yyjson_equals_str(name, "$ref");
    }
    return refers ? yyjson_obj_get(schema_resolve(schema, property), "default") : NULL;
}

yyjson_mut_val *schema_with_defaults(yyjson_mut_doc *doc, yyjson_val *schema, yyjson_val *value)
{
    yyjson_mut_val *copy = value ? json_copy(doc, value) : yyjson_mut_obj(doc);
    make_whole(copy);
    if (!yyjson_mut_is_obj(copy)) {
        return copy;
    }
    yyjson_obj_iter properties =
        yyjson_obj_iter_with(yyjson_obj_get(schema_resolve(schema, schema), "properties"));
    yyjson_val *name;
    while ((name = yyjson_obj_iter_next(&properties)) != NULL) {
        yyjson_val *preset = preset_of(schema, yyjson_obj_iter_get_val(name));
        const char *text = yyjson_get_str(name);
        size_t length = yyjson_get_len(name);
        if (preset && !yyjson_mut_obj_getn(copy, text, length) &&
            !yyjson_mut_obj_add(copy, yyjson_mut_strncpy(doc, text, length),
                                json_copy(doc, preset))) {
            return NULL;
        }
    }
    return copy;
}
