/* What clients see of the tools. A client pays for a list of tools in every conversation, so a list
 * says what tells the tools apart and how to call them; the manual is in the definitions and goes
 * into the documentation and the OpenAPI description.
 *
 * In a definition, "x-brief" of a parameter and "brief" of the tool (under "forage") are the words
 * for lists, where the description is longer. A parameter with "x-listed": false is taken, and not
 * listed, and so is a member of a result given; so lists do not say that there are no others.
 * "x-always" names what a result has whenever the call succeeded, for the OpenAPI description;
 * lists have one schema for both. Limits that nobody comes near are checked, and not listed. A
 * definition without brief words is listed as it is. */
#include "core/buf.h"
#include "core/limits.h"
#include "registry/registry.h"

#include <string.h>

#define MOST       999 /* of a number: a limit beyond it is not worth saying */
#define USES_BYTES KIB(4)

bool registry_is_listed(const struct registry *registry, const struct entry *entry)
{
    struct readiness readiness = {.ready = true};
    if (entry->listed && registry->only_ready && entry->tool->ready) {
        entry->tool->ready(&readiness);
    }
    return entry->listed && readiness.ready;
}

/* ---- input ---- */

/* Limits that nobody comes near, and values that are what everybody would expect. The lengths and
 * patterns of strings are listed only where the definition says so: an example shows the form. */
static void drop_what_says_little(yyjson_mut_val *schema)
{
    static const struct {
        const char *name;
        double least, most; /* of the values that are listed */
    } NUMBERS[] = {{"minimum", 1, MOST}, {"maximum", -MOST, MOST}, {"maxItems", 0, 10}};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        yyjson_mut_val *value = yyjson_mut_obj_get(schema, NUMBERS[i].name);
        double number = yyjson_mut_get_num(value);
        if (value && (number < NUMBERS[i].least || number > NUMBERS[i].most)) {
            yyjson_mut_obj_remove_key(schema, NUMBERS[i].name);
        }
    }
    yyjson_mut_val *preset = yyjson_mut_obj_get(schema, "default");
    if (yyjson_mut_is_false(preset) ||
        (yyjson_mut_is_num(preset) && yyjson_mut_get_num(preset) == 0)) {
        yyjson_mut_obj_remove_key(schema, "default");
    }
    if (!yyjson_mut_obj_remove_key(schema, "x-lengths")) {
        yyjson_mut_obj_remove_key(schema, "minLength");
        yyjson_mut_obj_remove_key(schema, "maxLength");
        yyjson_mut_obj_remove_key(schema, "pattern");
    }
    yyjson_mut_obj_remove_key(schema, "minItems");
    yyjson_mut_obj_remove_key(schema, "x-trim");
}

/* A parameter that takes two forms is listed in the first of them: some clients know no anyOf. */
static void take_first_form(yyjson_mut_doc *doc, yyjson_mut_val *schema)
{
    yyjson_mut_val *forms = yyjson_mut_obj_remove_key(schema, "anyOf");
    size_t index, max;
    yyjson_mut_val *name, *value;
    yyjson_mut_val *first = yyjson_mut_arr_get_first(forms);
    yyjson_mut_obj_foreach(first, index, max, name, value)
    {
        yyjson_mut_obj_add(schema, yyjson_mut_val_mut_copy(doc, name),
                           yyjson_mut_val_mut_copy(doc, value));
    }
}

static void shorten_parameter(yyjson_mut_doc *doc, yyjson_mut_val *schema)
{
    take_first_form(doc, schema);
    yyjson_mut_val *brief = yyjson_mut_obj_remove_key(schema, "x-brief");
    if (brief) {
        yyjson_mut_obj_put(schema, yyjson_mut_str(doc, "description"), brief);
    }
    yyjson_mut_val *examples = yyjson_mut_obj_get(schema, "examples");
    yyjson_mut_arr_remove_range(examples, 1, yyjson_mut_arr_size(examples) - 1);
    drop_what_says_little(schema);
    drop_what_says_little(yyjson_mut_obj_get(schema, "items"));
}

static bool is_listed(yyjson_mut_val *property)
{
    return !yyjson_mut_is_false(yyjson_mut_obj_get(property, "x-listed"));
}

static void shorten_input(yyjson_mut_doc *doc, yyjson_mut_val *schema)
{
    yyjson_mut_val *name;
    yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(yyjson_mut_obj_get(schema, "properties"));
    yyjson_mut_obj_remove_key(schema, "$schema");
    yyjson_mut_obj_remove_key(schema, "additionalProperties");
    while ((name = yyjson_mut_obj_iter_next(&each)) != NULL) {
        yyjson_mut_val *property = yyjson_mut_obj_iter_get_val(name);
        if (!is_listed(property)) {
            yyjson_mut_obj_iter_remove(&each);
        } else {
            shorten_parameter(doc, property);
        }
    }
}

/* ---- output ---- */

/* Names and types: a client checks results with them, and no model reads more. */
static void shorten_output(yyjson_mut_val *schema)
{
    static const char *const DROPPED[] = {"$schema",   "description", "examples", "minimum",
                                          "maximum",   "minItems",    "maxItems", "minLength",
                                          "maxLength", "x-always"};
    yyjson_mut_val *name;
    yyjson_mut_obj_iter each = yyjson_mut_obj_iter_with(yyjson_mut_obj_get(schema, "properties"));
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++) {
        yyjson_mut_obj_remove_key(schema, DROPPED[i]);
    }
    while ((name = yyjson_mut_obj_iter_next(&each)) != NULL) {
        yyjson_mut_val *property = yyjson_mut_obj_iter_get_val(name);
        if (!is_listed(property)) {
            yyjson_mut_obj_iter_remove(&each);
        } else {
            shorten_output(property);
        }
    }
    yyjson_mut_val *items = yyjson_mut_obj_get(schema, "items");
    if (items) {
        shorten_output(items);
    }
}

yyjson_mut_val *registry_public_definition(yyjson_mut_doc *doc, const struct entry *entry)
{
    yyjson_mut_val *copy = json_copy(doc, entry->definition);
    yyjson_mut_val *own = yyjson_mut_obj_remove_key(copy, "forage");
    yyjson_mut_val *brief = yyjson_mut_obj_get(own, "brief");
    if (brief) {
        yyjson_mut_obj_put(copy, yyjson_mut_str(doc, "description"),
                           yyjson_mut_val_mut_copy(doc, brief));
        shorten_input(doc, yyjson_mut_obj_get(copy, "inputSchema"));
        shorten_output(yyjson_mut_obj_get(copy, "outputSchema"));
    }
    return copy;
}

yyjson_mut_val *registry_whole_definition(yyjson_mut_doc *doc, const struct entry *entry)
{
    yyjson_mut_val *copy = json_copy(doc, entry->definition);
    yyjson_mut_obj_remove_key(copy, "forage");
    return copy;
}

/* ---- all of them in a few words ---- */

const char *registry_uses(const struct registry *registry, struct arena *arena)
{
    struct buf text;
    buf_init(&text, USES_BYTES);
    for (size_t i = 0; i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        const char *use = json_string(yyjson_obj_get(entry->definition, "forage"), "use");
        if (use && registry_is_listed(registry, entry)) {
            buf_printf(&text, "%s%s %s", text.length ? "; " : "", entry->name, use);
        }
    }
    if (text.length) {
        buf_puts(&text, ". ");
    }
    const char *copy = buf_error(&text) == OK
                           ? arena_strndup(arena, text.data ? text.data : "", text.length)
                           : NULL;
    buf_done(&text);
    return copy;
}
