/* What clients see of the tools. A client pays for a list of tools in every conversation, so a list
 * says what tells the tools apart and how to call them; the manual is in the definitions and goes
 * into the documentation and the OpenAPI description.
 *
 * In a definition, "x-brief" of a parameter and "brief" of the tool (under "forage") are the words
 * for lists, where the description is longer. A parameter with "x-listed": false is named at the
 * end of its tool's description and nowhere else in a list; a member of a result that is marked so
 * is given, and not listed; so lists do not say that there are no others. "x-always" names what a
 * result has whenever the call succeeded, for the OpenAPI description; lists have one schema for
 * both. What bounds a number or how short a text may be is listed; how long a text or an array may
 * be is checked, and not listed. A definition without brief words is listed as it is. */
#include "core/buf.h"
#include "core/limits.h"
#include "registry/registry.h"

#include <string.h>

#define MOST_ITEMS        10 /* of an array: a limit beyond it is not worth saying */
#define USES_BYTES        KIB(4)
#define DESCRIPTION_BYTES KIB(4)

bool registry_is_offered(const struct registry *registry, const struct entry *entry)
{
    return registry->profile && entry->profile ? strcmp(registry->profile, entry->profile) == 0
                                               : registry->profile == entry->profile;
}

const struct entry *registry_offered(const struct registry *registry, const char *called)
{
    for (size_t i = 0; i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        if (registry_is_offered(registry, entry) && strcmp(entry->called, called) == 0) {
            return entry;
        }
    }
    return NULL;
}

bool registry_is_ready(const struct entry *entry)
{
    struct readiness readiness = {.ready = true};
    if (entry->tool->ready) {
        entry->tool->ready(&readiness);
    }
    return readiness.ready;
}

bool registry_is_listed(const struct registry *registry, const struct entry *entry)
{
    return entry->listed && registry_is_offered(registry, entry) &&
           (!registry->only_ready || registry_is_ready(entry));
}

static bool is_listed(yyjson_val *property)
{
    return !yyjson_is_false(yyjson_obj_get(property, "x-listed"));
}

static bool is_one_of(yyjson_val *name, const char *const *names, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = yyjson_equals_str(name, names[i]);
    }
    return found;
}

static void add(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *name, yyjson_mut_val *value)
{
    yyjson_mut_obj_add(to, json_share(doc, name), value);
}

/* The listed properties of a schema, each as `list` lists it. */
static yyjson_mut_val *list_properties(yyjson_mut_doc *doc, yyjson_val *properties,
                                       yyjson_mut_val *(*list)(yyjson_mut_doc *, yyjson_val *))
{
    size_t index, max;
    yyjson_val *name, *property;
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_obj_foreach(properties, index, max, name, property)
    {
        if (is_listed(property)) {
            add(doc, listed, name, list(doc, property));
        }
    }
    return listed;
}

/* ---- input ---- */

/* Limits that nobody comes near, and values that are what everybody would expect. The greatest
 * length of a string is listed only where the definition says so, and a pattern never, since an
 * example shows the form. What bounds a number, and the least length, always are. */
static bool says_little(yyjson_val *name, yyjson_val *value, bool lengths)
{
    static const char *const ALWAYS[] = {"minItems", "pattern", "x-trim", "x-lengths", "x-brief"};
    double number = yyjson_get_num(value);
    if (yyjson_equals_str(name, "maxItems")) {
        return number > MOST_ITEMS;
    }
    if (yyjson_equals_str(name, "default")) {
        return yyjson_is_false(value) || (yyjson_is_num(value) && number == 0);
    }
    return is_one_of(name, ALWAYS, sizeof ALWAYS / sizeof *ALWAYS) ||
           (!lengths && yyjson_equals_str(name, "maxLength"));
}

static yyjson_mut_val *list_items(yyjson_mut_doc *doc, yyjson_val *schema)
{
    size_t index, max;
    yyjson_val *name, *value;
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_obj_foreach(schema, index, max, name, value)
    {
        if (!yyjson_equals_str(name, "minLength") && !says_little(name, value, false)) {
            add(doc, listed, name, json_share(doc, value));
        }
    }
    return listed;
}

static yyjson_mut_val *list_first(yyjson_mut_doc *doc, yyjson_val *examples)
{
    yyjson_mut_val *listed = yyjson_mut_arr(doc);
    yyjson_mut_arr_append(listed, json_share(doc, yyjson_arr_get_first(examples)));
    return listed;
}

static void add_parameter(yyjson_mut_doc *doc, yyjson_mut_val *listed, yyjson_val *schema,
                          bool lengths)
{
    size_t index, max;
    yyjson_val *name, *value;
    yyjson_val *brief = yyjson_obj_get(schema, "x-brief");
    yyjson_obj_foreach(schema, index, max, name, value)
    {
        if (yyjson_equals_str(name, "anyOf") || says_little(name, value, lengths)) {
            continue;
        }
        if (yyjson_equals_str(name, "description") && brief) {
            add(doc, listed, name, json_share(doc, brief));
        } else if (yyjson_equals_str(name, "examples")) {
            add(doc, listed, name, list_first(doc, value));
        } else if (yyjson_equals_str(name, "items")) {
            add(doc, listed, name, list_items(doc, value));
        } else {
            add(doc, listed, name, json_share(doc, value));
        }
    }
}

/* A parameter that takes two forms is listed in the first of them: some clients know no anyOf. */
static yyjson_mut_val *list_parameter(yyjson_mut_doc *doc, yyjson_val *schema)
{
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(schema, "anyOf"));
    bool lengths = yyjson_obj_get(schema, "x-lengths") || yyjson_obj_get(first, "x-lengths");
    add_parameter(doc, listed, schema, lengths);
    add_parameter(doc, listed, first, lengths);
    return listed;
}

static yyjson_mut_val *list_input(yyjson_mut_doc *doc, yyjson_val *schema)
{
    static const char *const DROPPED[] = {"$schema", "additionalProperties"};
    size_t index, max;
    yyjson_val *name, *value;
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_obj_foreach(schema, index, max, name, value)
    {
        if (yyjson_equals_str(name, "properties")) {
            add(doc, listed, name, list_properties(doc, value, list_parameter));
        } else if (!is_one_of(name, DROPPED, sizeof DROPPED / sizeof *DROPPED)) {
            add(doc, listed, name, json_share(doc, value));
        }
    }
    return listed;
}

/* ---- output ---- */

/* Names and types: a client checks results with them, and no model reads more. */
static yyjson_mut_val *list_output(yyjson_mut_doc *doc, yyjson_val *schema)
{
    static const char *const DROPPED[] = {"$schema",   "description", "examples", "minimum",
                                          "maximum",   "minItems",    "maxItems", "minLength",
                                          "maxLength", "x-always"};
    size_t index, max;
    yyjson_val *name, *value;
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_obj_foreach(schema, index, max, name, value)
    {
        if (yyjson_equals_str(name, "properties")) {
            add(doc, listed, name, list_properties(doc, value, list_output));
        } else if (yyjson_equals_str(name, "items")) {
            add(doc, listed, name, list_output(doc, value));
        } else if (!is_one_of(name, DROPPED, sizeof DROPPED / sizeof *DROPPED)) {
            add(doc, listed, name, json_share(doc, value));
        }
    }
    return listed;
}

/* The brief words, and the names of the parameters that are not listed; NULL without memory. */
static yyjson_mut_val *describe_briefly(yyjson_mut_doc *doc, const struct entry *entry,
                                        const char *brief)
{
    size_t index, max;
    yyjson_val *name, *property;
    struct buf text;
    const char *before = " Also takes: ";
    buf_init(&text, DESCRIPTION_BYTES);
    buf_puts(&text, brief);
    yyjson_obj_foreach(yyjson_obj_get(entry->input_schema, "properties"), index, max, name,
                       property)
    {
        if (!is_listed(property)) {
            buf_printf(&text, "%s%s", before, yyjson_get_str(name));
            before = ", ";
        }
    }
    buf_puts(&text, *before == ',' ? "." : "");
    yyjson_mut_val *description =
        buf_error(&text) == OK ? yyjson_mut_strncpy(doc, text.data, text.length) : NULL;
    buf_done(&text);
    return description;
}

/* Only what is listed is copied, since every client asks for the list before anything else. */
yyjson_mut_val *registry_public_definition(yyjson_mut_doc *doc, const struct entry *entry)
{
    size_t index, max;
    yyjson_val *name, *value;
    const char *brief = json_string(yyjson_obj_get(entry->definition, "forage"), "brief");
    yyjson_mut_val *listed = yyjson_mut_obj(doc);
    yyjson_obj_foreach(entry->definition, index, max, name, value)
    {
        if (yyjson_equals_str(name, "forage")) {
            continue;
        }
        if (yyjson_equals_str(name, "name")) {
            add(doc, listed, name, yyjson_mut_str(doc, entry->called));
        } else if (brief && yyjson_equals_str(name, "description")) {
            add(doc, listed, name, describe_briefly(doc, entry, brief));
        } else if (brief && yyjson_equals_str(name, "inputSchema")) {
            add(doc, listed, name, list_input(doc, value));
        } else if (brief && yyjson_equals_str(name, "outputSchema")) {
            add(doc, listed, name, list_output(doc, value));
        } else {
            add(doc, listed, name, json_share(doc, value));
        }
    }
    return listed;
}

yyjson_mut_val *registry_whole_definition(yyjson_mut_doc *doc, const struct entry *entry)
{
    yyjson_mut_val *copy = json_share(doc, entry->definition);
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
            buf_printf(&text, "%s%s %s", text.length ? "; " : "", entry->called, use);
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
