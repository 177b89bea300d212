/* The registry: what is registered, what is selected, and how to find it. Running is in
 * execute.c. */
#include "registry/registry.h"

#include "config/config.h"
#include "core/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTRY_ARENA_BYTES MIB(8)

struct registry *registry_new(void)
{
    struct registry *registry = calloc(1, sizeof *registry);
    if (registry) {
        registry->arena = arena_new(REGISTRY_ARENA_BYTES);
        if (!registry->arena) {
            free(registry);
            return NULL;
        }
    }
    return registry;
}

struct registry *registry_free(struct registry *registry)
{
    if (registry) {
        arena_free(registry->arena);
        free(registry);
    }
    return NULL;
}

/* ---- tools ---- */

/* A tool's own deadline, or the one of all tools. */
static int64_t timeout_of(yyjson_val *own)
{
    yyjson_val *timeout = yyjson_obj_get(own, "timeoutMs");
    if (yyjson_is_int(timeout)) {
        return yyjson_get_sint(timeout);
    }
    const char *variable = json_string(own, "timeoutVariable");
    if (variable) {
        return config_duration_ms(variable);
    }
    return config_duration_ms("FORAGE_CALL_TIMEOUT");
}

/* How long its results are kept: "cached" names the variable that says so. */
static int64_t keep_time_of(yyjson_val *own)
{
    const char *variable = json_string(own, "cached");
    return variable ? config_duration_ms(variable) : 0;
}

/* What a tool does not say of itself is as MCP says: it does. */
static bool asks_outside(yyjson_val *annotations)
{
    yyjson_val *hint = yyjson_obj_get(annotations, "openWorldHint");
    return !yyjson_is_false(hint);
}

static int fill_entry(struct registry *registry, struct entry *entry, const struct tool *tool)
{
    yyjson_val *root = yyjson_doc_get_root(json_embedded(registry->arena, tool->definition));
    yyjson_val *own = yyjson_obj_get(root, "forage");
    const char *name = json_string(root, "name");
    const char *called = json_string(own, "called");
    bool outside = asks_outside(yyjson_obj_get(root, "annotations"));
    *entry = (struct entry){
        .tool = tool,
        .name = name,
        .called = called ? called : name,
        .profile = json_string(own, "profile"),
        .group = json_string(own, "group"),
        .title = json_string(root, "title"),
        .description = json_string(root, "description"),
        .definition = root,
        .input_schema = yyjson_obj_get(root, "inputSchema"),
        .output_schema = yyjson_obj_get(root, "outputSchema"),
        .annotations = yyjson_obj_get(root, "annotations"),
        .listed = !yyjson_is_false(yyjson_obj_get(own, "listed")),
        .quick = yyjson_get_bool(yyjson_obj_get(own, "quick")),
        .job = yyjson_get_bool(yyjson_obj_get(own, "job")) ||
               yyjson_equals_str(yyjson_obj_get(own, "job"), "only"),
        .only_job = yyjson_equals_str(yyjson_obj_get(own, "job"), "only"),
        .outside = outside,
        .local = !outside && !yyjson_get_bool(yyjson_obj_get(own, "awaits")),
        .paid = yyjson_get_bool(yyjson_obj_get(own, "paid")),
        .keep_ms = keep_time_of(own),
        .own = yyjson_get_bool(yyjson_obj_get(own, "own")),
        .upfront = yyjson_get_bool(yyjson_obj_get(own, "upfront")),
        .large = yyjson_get_bool(yyjson_obj_get(own, "large")),
        .ui = yyjson_obj_get(own, "ui"),
        .body = json_string(own, "body"),
        .unsaid = yyjson_obj_get(own, "unsaid"),
        .one_line = yyjson_obj_get(own, "one_line"),
        .counted = json_string(own, "counted"),
        .timeout_ms = timeout_of(own),
        .counts = &registry->counts[registry->tool_count],
    };
    if (!entry->name || !entry->group || !entry->description || !entry->input_schema) {
        return arena_failed(registry->arena) ? ERR_NOMEM : ERR_INVALID;
    }
    return OK;
}

int registry_add_tool(struct registry *registry, const struct tool *tool)
{
    if (registry->tool_count == MOST_TOOLS) {
        return ERR_LIMIT;
    }
    struct entry *entry = &registry->tools[registry->tool_count];
    int status = fill_entry(registry, entry, tool);
    if (status == OK && registry_tool(registry, entry->name)) {
        status = ERR_INVALID;
    }
    if (status == OK) {
        registry->tool_count++;
    }
    return status;
}

const struct entry *registry_tool(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->tool_count; i++) {
        if (strcmp(registry->tools[i].name, name) == 0) {
            return &registry->tools[i];
        }
    }
    return NULL;
}

/* ---- selection ---- */

/* Switches what one word names; false when it names nothing. A tool that is named itself is listed,
 * whatever its definition says. */
static bool switch_word(struct registry *registry, const char *word, bool on, bool *selected)
{
    bool known = strcmp(word, "all") == 0;
    for (size_t i = 0; i < registry->tool_count; i++) {
        struct entry *entry = &registry->tools[i];
        bool named = strcmp(word, entry->name) == 0;
        if (named || strcmp(word, "all") == 0 || strcmp(word, entry->group) == 0) {
            selected[i] = on;
            entry->listed = entry->listed || (named && on);
            known = true;
        }
    }
    return known;
}

static void keep_selected(struct registry *registry, const bool *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < registry->tool_count; i++) {
        if (selected[i]) {
            registry->tools[kept++] = registry->tools[i];
        }
    }
    registry->tool_count = kept;
}

int registry_select(struct registry *registry, const char *selection, char *problem, size_t size)
{
    if (!selection || !*selection) {
        return OK;
    }
    char *words = arena_strdup(registry->arena, selection);
    if (!words) {
        return ERR_NOMEM;
    }
    bool selected[MOST_TOOLS] = {false};
    bool first = true;
    char *rest = NULL;
    for (char *word = strtok_r(words, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        bool on = *word != '-';
        if (strcmp(word, "ready") == 0) {
            registry->only_ready = true;
            continue;
        }
        if (first && !on) {
            switch_word(registry, "all", true, selected);
        }
        first = false;
        if (!switch_word(registry, on ? word : word + 1, on, selected)) {
            snprintf(problem, size, "FORAGE_TOOLS: there is no tool or group \"%s\"",
                     on ? word : word + 1);
            return ERR_INVALID;
        }
    }
    if (first && registry->only_ready) {
        switch_word(registry, "all", true, selected);
    }
    keep_selected(registry, selected);
    return OK;
}

/* ---- resources, prompts and skills ---- */

int registry_add_resource(struct registry *registry, const struct resource *resource)
{
    if (registry->resource_count == MOST_RESOURCES) {
        return ERR_LIMIT;
    }
    registry->resources[registry->resource_count++] = resource;
    return OK;
}

bool resource_is_template(const struct resource *resource)
{
    return strchr(resource->uri, '{') != NULL;
}

/* A {variable} stands for one or more characters other than "/". */
static bool template_matches(const char *pattern, const char *uri)
{
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *uri++) {
                return false;
            }
            continue;
        }
        pattern = strchr(pattern, '}');
        size_t length = pattern ? strcspn(uri, "/") : 0;
        while (length > 0 && !template_matches(pattern + 1, uri + length)) {
            length--;
        }
        return length > 0;
    }
    return *uri == '\0';
}

const struct resource *registry_resource(const struct registry *registry, const char *uri)
{
    for (size_t i = 0; i < registry->resource_count; i++) {
        if (template_matches(registry->resources[i]->uri, uri)) {
            return registry->resources[i];
        }
    }
    return NULL;
}

int registry_add_prompt(struct registry *registry, const struct prompt *prompt)
{
    if (registry->prompt_count == MOST_PROMPTS) {
        return ERR_LIMIT;
    }
    registry->prompts[registry->prompt_count++] = prompt;
    return OK;
}

const struct prompt *registry_prompt(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->prompt_count; i++) {
        if (strcmp(registry->prompts[i]->name, name) == 0) {
            return registry->prompts[i];
        }
    }
    return NULL;
}

int registry_add_skill(struct registry *registry, const struct skill *skill)
{
    if (registry->skill_count == MOST_SKILLS) {
        return ERR_LIMIT;
    }
    registry->skills[registry->skill_count++] = skill;
    return OK;
}
