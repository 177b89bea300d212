/* `forage tools`: the list, and one tool: for people, its definition, and the page of documentation
 * that comes from it. */
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/limits.h"

#include <stdio.h>
#include <string.h>

#define MOST_WIDTH 100 /* of sentences; longer lines are hard to read */

/* ---- the list ---- */

static struct readiness readiness_of(const struct entry *entry)
{
    struct readiness readiness = {.ready = true};
    if (entry->tool->ready) {
        entry->tool->ready(&readiness);
    }
    return readiness;
}

static int list_tools(struct buf *out, struct arena *arena, const struct registry *registry)
{
    static const struct table_column COLUMNS[] = {
        {NULL, COLUMN_LEFT}, {NULL, COLUMN_LEFT}, {NULL, COLUMN_LEFT}, {NULL, COLUMN_WRAPPED}};
    struct table *table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        if (!entry->listed) {
            continue;
        }
        struct readiness readiness = readiness_of(entry);
        const char *title = entry->title ? entry->title : "";
        const char *words = readiness.ready ? title : arena_strdup(arena, readiness.lacks);
        table_add(table, (const char *const[]){entry->name, entry->group,
                                               readiness.ready ? "ready" : "lacks", words});
    }
    return table_put(out, table, stdout);
}

static void write_definition(struct buf *out, struct arena *arena, const struct entry *entry)
{
    yyjson_mut_doc *doc = json_new(arena);
    json_write_pretty(out, arena, registry_public_definition(doc, entry));
    buf_putc(out, '\n');
}

static void write_all_definitions(struct buf *out, struct arena *arena,
                                  const struct registry *registry)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *tools = yyjson_mut_arr(doc);
    for (size_t i = 0; i < registry->tool_count; i++) {
        if (registry_is_listed(registry, &registry->tools[i])) {
            yyjson_mut_arr_append(tools, registry_public_definition(doc, &registry->tools[i]));
        }
    }
    json_write_pretty(out, arena, tools);
    buf_putc(out, '\n');
}

/* ---- the page of a tool ---- */

/* A JSON value on one line, in the arena; "" for NULL. */
static const char *one_line(struct arena *arena, yyjson_val *value)
{
    if (!value) {
        return "";
    }
    struct buf text;
    buf_init(&text, KIB(16));
    const char *copy =
        json_write_immutable(&text, arena, value) == OK ? arena_strdup(arena, text.data) : NULL;
    buf_done(&text);
    return copy ? copy : "";
}

/* "1 to 20 characters"; nothing where there are no bounds. */
static const char *range_words(struct arena *arena, yyjson_val *least, yyjson_val *most,
                               const char *unit)
{
    if (least && most) {
        bool same = yyjson_equals(least, most);
        return arena_printf(arena, "%s%s%s%s", one_line(arena, least), same ? "" : " to ",
                            same ? "" : one_line(arena, most), unit);
    }
    return least  ? arena_printf(arena, "at least %s%s", one_line(arena, least), unit)
           : most ? arena_printf(arena, "at most %s%s", one_line(arena, most), unit)
                  : NULL;
}

/* What a value may be, with `quote` around words as they are given. */
static void write_bounds(struct buf *out, struct arena *arena, yyjson_val *property,
                         const char *quote)
{
    static const struct {
        const char *least, *most, *unit;
    } RANGES[] = {
        {"minimum", "maximum", ""},
        {"minLength", "maxLength", " characters"},
        {"minItems", "maxItems", " items"},
    };
    const char *separator = "";
    yyjson_val *choice;
    yyjson_arr_iter choices = yyjson_arr_iter_with(yyjson_obj_get(property, "enum"));
    while ((choice = yyjson_arr_iter_next(&choices)) != NULL) {
        const char *text = yyjson_get_str(choice);
        buf_printf(out, "%s%s%s%s", separator, quote, text ? text : one_line(arena, choice), quote);
        separator = ", ";
    }
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++) {
        const char *words = range_words(arena, yyjson_obj_get(property, RANGES[i].least),
                                        yyjson_obj_get(property, RANGES[i].most), RANGES[i].unit);
        if (words) {
            buf_printf(out, "%s%s", separator, words);
            separator = ", ";
        }
    }
    const char *pattern = json_string(property, "pattern");
    if (pattern) {
        buf_printf(out, "%s%s%s%s", separator, quote, pattern, quote);
    }
}

/* "string", or "string or array" where there are several. */
static void write_type(struct buf *out, yyjson_val *property)
{
    const char *type = json_string(property, "type");
    const char *separator = "";
    yyjson_val *branch;
    yyjson_arr_iter branches = yyjson_arr_iter_with(yyjson_obj_get(property, "anyOf"));
    while (!type && (branch = yyjson_arr_iter_next(&branches)) != NULL) {
        const char *one = json_string(branch, "type");
        buf_printf(out, "%s%s", separator, one ? one : "any");
        separator = " or ";
    }
    buf_puts(out, type ? type : *separator ? "" : "any");
}

static bool has_name(yyjson_val *list, const char *name)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        if (yyjson_equals_str(item, name)) {
            return true;
        }
    }
    return false;
}

static bool is_required(yyjson_val *schema, const char *name)
{
    return has_name(yyjson_obj_get(schema, "required"), name);
}

static void write_parameters(struct buf *out, struct arena *arena, yyjson_val *schema)
{
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    if (yyjson_obj_size(properties) == 0) {
        buf_puts(out, "None.\n");
        return;
    }
    buf_puts(out, "| name | type | needed | default | allowed | meaning |\n"
                  "|---|---|---|---|---|---|\n");
    size_t index, max;
    yyjson_val *key, *property;
    yyjson_obj_foreach(properties, index, max, key, property)
    {
        const char *description = json_string(property, "description");
        yyjson_val *value = yyjson_obj_get(property, "default");
        const char *name = yyjson_get_str(key);
        buf_printf(out, "| `%s` | ", name ? name : "");
        write_type(out, property);
        buf_printf(out, " | %s | %s | ", is_required(schema, name) ? "yes" : "no",
                   value ? one_line(arena, value) : "");
        write_bounds(out, arena, property, "`");
        bool listed = !yyjson_is_false(yyjson_obj_get(property, "x-listed"));
        buf_printf(out, " | %s%s |\n", description ? description : "",
                   listed ? "" : " Lists of tools leave it out.");
    }
}

/* With the parameters that are needed, and those that a definition names because a call without
 * any of them would be refused. */
static void write_example(struct buf *out, struct arena *arena, const struct entry *entry)
{
    yyjson_val *key;
    yyjson_val *named = yyjson_obj_get(yyjson_obj_get(entry->definition, "forage"), "example");
    buf_printf(out, "forage call %s", entry->name);
    yyjson_obj_iter each = yyjson_obj_iter_with(yyjson_obj_get(entry->input_schema, "properties"));
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *property = yyjson_obj_iter_get_val(key);
        yyjson_val *example = yyjson_arr_get_first(yyjson_obj_get(property, "examples"));
        const char *text = yyjson_get_str(example);
        const char *name = yyjson_get_str(key);
        if (example && (is_required(entry->input_schema, name) || has_name(named, name))) {
            buf_printf(out, text ? " %s='%s'" : " %s:='%s'", name,
                       text ? text : one_line(arena, example));
        }
    }
    buf_putc(out, '\n');
}

/* A description is one paragraph, for models; people get one for each thing that it tells. */
static void write_description(struct buf *out, const char *text)
{
    static const char *const OPENINGS[] = {"Use it ", "Do not use ", "Needs ", "Returns "};
    for (const char *end; (end = strstr(text, ". ")) != NULL; text = end + 2) {
        bool opens = false;
        for (size_t i = 0; i < sizeof OPENINGS / sizeof *OPENINGS; i++) {
            opens = opens || strncmp(end + 2, OPENINGS[i], strlen(OPENINGS[i])) == 0;
        }
        buf_append(out, text, (size_t)(end + 1 - text));
        buf_puts(out, opens ? "\n\n" : " ");
    }
    buf_puts(out, text);
}

static void write_page(struct buf *out, struct arena *arena, const struct entry *entry)
{
    buf_printf(out,
               "<!-- Made by `forage tools %s --markdown`; change src/tools/%s.json instead. -->\n"
               "# %s\n\n",
               entry->name, entry->name, entry->name);
    write_description(out, entry->description);
    buf_printf(out,
               "\n\nGroup: `%s`. Over MCP: `tools/call` with the name `%s`. Over REST: "
               "`POST /api/v1/tools/%s`.\n\n## Parameters\n\n",
               entry->group, entry->called, entry->name);
    write_parameters(out, arena, entry->input_schema);
    buf_puts(out, "\n## Result\n\n```json\n");
    yyjson_mut_doc *doc = json_new(arena);
    json_write_pretty(out, arena, json_copy(doc, entry->output_schema));
    buf_puts(out, "\n```\n\n## Annotations\n\n");
    buf_printf(out, "`%s`\n", one_line(arena, entry->annotations));
    const char *needs = json_string(yyjson_obj_get(entry->definition, "forage"), "example_needs");
    buf_puts(out, "\n## Example\n\n");
    if (needs) {
        buf_printf(out, "<!-- not run: needs %s -->\n", needs);
    }
    buf_puts(out, "```sh\n");
    write_example(out, arena, entry);
    buf_puts(out, "```\n");
}

/* ---- the same for people ---- */

static void put_heading(struct buf *out, const char *title)
{
    buf_printf(out, "\n%s%s%s\n", terminal_style(stdout, STYLE_HEADING), title,
               terminal_style(stdout, STYLE_PLAIN));
}

/* What a parameter is for, and what it may be. */
static const char *meaning_of(struct arena *arena, yyjson_val *property)
{
    struct buf text;
    buf_init(&text, KIB(16));
    const char *description = json_string(property, "description");
    buf_puts(&text, description ? description : "");
    size_t before = text.length;
    buf_puts(&text, before ? " (" : "(");
    size_t opened = text.length;
    write_bounds(&text, arena, property, "");
    buf_putc(&text, ')');
    const char *words = arena_strndup(arena, text.data ? text.data : "",
                                      text.length > opened + 1 ? text.length : before);
    buf_done(&text);
    return words;
}

static const char *type_of(struct arena *arena, yyjson_val *property)
{
    struct buf text;
    buf_init(&text, KIB(1));
    write_type(&text, property);
    return buf_to_arena(&text, arena);
}

static int put_parameters(struct buf *out, struct arena *arena, yyjson_val *schema)
{
    static const struct table_column COLUMNS[] = {{"name", COLUMN_LEFT},
                                                  {"type", COLUMN_LEFT},
                                                  {"default", COLUMN_LEFT},
                                                  {"meaning", COLUMN_WRAPPED}};
    struct table *table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    yyjson_val *key;
    yyjson_obj_iter each = yyjson_obj_iter_with(yyjson_obj_get(schema, "properties"));
    if (!yyjson_obj_size(yyjson_obj_get(schema, "properties"))) {
        buf_puts(out, "None.\n");
        return OK;
    }
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *property = yyjson_obj_iter_get_val(key);
        const char *name = yyjson_get_str(key);
        bool needed = is_required(schema, name);
        table_add(table,
                  (const char *const[]){
                      name, type_of(arena, property),
                      needed ? "(needed)" : one_line(arena, yyjson_obj_get(property, "default")),
                      meaning_of(arena, property)});
    }
    return table_put(out, table, stdout);
}

/* Paragraphs, in lines that fit. */
static void put_paragraphs(struct buf *out, const char *text, size_t width)
{
    struct buf whole;
    buf_init(&whole, KIB(64));
    write_description(&whole, text);
    for (char *at = whole.data, *next; at; at = next) {
        next = strstr(at, "\n\n");
        if (next) {
            *next = '\0';
            next += 2;
        }
        buf_putc(out, '\n');
        terminal_put_wrapped(out, 0, 0, width, at);
    }
    buf_done(&whole);
}

static int put_page(struct buf *out, struct arena *arena, const struct entry *entry)
{
    size_t width = terminal_width(stdout);
    struct readiness readiness = readiness_of(entry);
    width = width && width < MOST_WIDTH ? width : MOST_WIDTH;
    buf_printf(out, "%s%s%s: %s\n", terminal_style(stdout, STYLE_HEADING), entry->name,
               terminal_style(stdout, STYLE_PLAIN), entry->title ? entry->title : entry->group);
    put_paragraphs(out, entry->description, width);
    put_heading(out, "On this machine");
    if (readiness.ready) {
        buf_puts(out, "ready\n");
    } else {
        buf_puts(out, "lacks:");
        terminal_put_wrapped(out, 2, strlen("lacks:"), width, readiness.lacks);
        terminal_put_wrapped(out, 0, 0, width,
                             "Settings go into ~/.config/forage/forage.env, one KEY=value a line; "
                             "`forage doctor` says what works.");
    }
    put_heading(out, "Parameters");
    int status = put_parameters(out, arena, entry->input_schema);
    put_heading(out, "Example");
    write_example(out, arena, entry);
    put_heading(out, "More");
    const char *more = arena_printf(
        arena,
        "Group %s; over MCP, tools/call with the name %s; over REST, POST /api/v1/tools/%s. "
        "`forage "
        "tools %s --json` prints the definition with its result, --markdown the page of the "
        "documentation (docs/tools/%s.md).",
        entry->group, entry->name, entry->name, entry->name, entry->name);
    terminal_put_wrapped(out, 0, 0, width, more ? more : "");
    return more ? status : ERR_NOMEM;
}

static int describe(struct app *app, const char *name, bool json, bool markdown)
{
    const struct registry *registry = app->registry;
    const struct entry *entry = name ? registry_tool(registry, name) : NULL;
    if (name && !entry) {
        return refuse_tool(registry, name);
    }
    if (markdown && !entry) {
        return usage_error("--markdown wants the name of a tool");
    }
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    if (!arena) {
        return EXIT_FAILED;
    }
    struct buf text;
    int status = OK;
    buf_init(&text, MIB(8));
    if (markdown) {
        write_page(&text, arena, entry);
    } else if (entry && json) {
        write_definition(&text, arena, entry);
    } else if (json) {
        write_all_definitions(&text, arena, registry);
    } else if (entry) {
        status = put_page(&text, arena, entry);
    } else {
        status = list_tools(&text, arena, registry);
    }
    int code = print_buf(&text, WORDS_OURS);
    arena_free(arena);
    code = status == OK ? code : EXIT_FAILED;
    return code;
}

int command_tools(const struct arguments *arguments)
{
    bool json = option_given(arguments, "--json");
    bool markdown = option_given(arguments, "--markdown");
    const char *name = arguments->count ? arguments->words[0] : NULL;
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct app *app = open_app();
    if (!app) {
        return EXIT_USAGE;
    }
    code = describe(app, name, json, markdown);
    app_free(app);
    return code;
}
