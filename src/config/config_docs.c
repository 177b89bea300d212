/* The documentation, the example file and the listing of what is in force. Writers check
 * buf_error() once, when all is written. */
#include "config/config_docs.h"

#include "config/config.h"
#include "config/values.h"
#include "config/variables.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/json.h"
#include "text/roff.h"
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_LINE  96
#define LONGEST_WORDS 400
#define ARENA_BYTES   MIB(8)

/* "An integer from 1 to 1024." */
static const char *allowed_sentence(const struct variable *variable, char *words, size_t size)
{
    struct text_out out;
    text_start(&out, words, size);
    value_put_allowed(&out, variable);
    text_put(&out, ".");
    if (words[0] >= 'a' && words[0] <= 'z') {
        words[0] = (char)(words[0] - 'a' + 'A');
    }
    return words;
}

/* The group that begins with a variable; NULL: the one before it is of the same group. */
static const struct variable_group_words *group_begun(size_t at)
{
    bool begins = at == 0 || VARIABLES[at - 1].group != VARIABLES[at].group;
    return begins ? &VARIABLE_GROUPS[VARIABLES[at].group] : NULL;
}

/* ---- Markdown ---- */

static const char MARKDOWN_HEAD[] =
    "# Configuration\n"
    "\n"
    "<!-- Made from data/variables.txt; change that, not this page. -->\n"
    "\n"
    "forage is configured by environment variables, and by one optional file of\n"
    "`KEY=value` lines. A setting of the command line wins over the environment, the\n"
    "environment over the file, and the file over the default. An empty value counts as\n"
    "not set. A value that does not fit ends the program with exit code 2 and a message\n"
    "that names the variable, what came, what is allowed and where it came from. `forage\n"
    "config` prints what is in force.\n"
    "\n"
    "The file is the one that `FORAGE_CONFIG` names, else\n"
    "`$XDG_CONFIG_HOME/forage/forage.env`, else `~/.config/forage/forage.env`. Its lines\n"
    "look like this:\n"
    "\n"
    "```sh\n"
    "# a comment\n"
    "FORAGE_WORKERS=64          # ends at a # after a blank\n"
    "export FORAGE_LOG_LEVEL=debug\n"
    "FORAGE_TOOLS='taken as it is'\n"
    "FORAGE_CONTEXT=\"with \\n \\t \\\" \\\\ \\$ escapes\"\n"
    "```\n"
    "\n"
    "Where systemd (`EnvironmentFile=`) or Docker (`--env-file`) reads the file in forage's "
    "place,\n"
    "their rules hold: a comment stands on a line of its own, since one behind a value becomes a\n"
    "part of it; there is no `export`; a `\\` without quotes disappears. Lines of `KEY=value` "
    "and\n"
    "`# comment` mean the same everywhere. `forage doctor --config FILE` names the first line "
    "that\n"
    "systemd reads otherwise.\n"
    "\n"
    "Some variables have a second name (\"also\"), which users of other servers know: `KINDLY_*`\n"
    "of kindly-web-search, `GEMINI_*` and others of gemini-search. Both names work; where one\n"
    "source sets both, the `FORAGE_*` name wins, and `forage config` shows which one counts.\n"
    "\n"
    "Nothing is expanded. `.env.example` is such a file with every variable in it. A file\n"
    "that holds a secret should be readable by its owner only (`chmod 600`).\n";

/* Text inside a cell: a bar would end it. */
static void put_cell(struct buf *out, const char *text)
{
    for (; *text; text++) {
        buf_puts(out, *text == '|' ? "\\" : "");
        buf_putc(out, *text);
    }
}

static void put_row(struct buf *out, const struct variable *variable)
{
    char words[LONGEST_WORDS];
    buf_printf(out, "| `%s` | ", variable->name);
    if (variable->preset) {
        buf_puts(out, "`");
        put_cell(out, variable->preset);
        buf_puts(out, "` | ");
    } else {
        buf_puts(out, "not set | ");
    }
    put_cell(out, variable->help);
    if (variable->kind != VARIABLE_TEXT) {
        buf_puts(out, " ");
        put_cell(out, allowed_sentence(variable, words, sizeof words));
    }
    if (variable->more) {
        buf_puts(out, " ");
        put_cell(out, variable->more);
    }
    if (variable->secret) {
        buf_puts(out, " Secret.");
    }
    if (variable->also) {
        buf_printf(out, " Also `%s`.", variable->also);
    }
    if (variable->example) {
        buf_puts(out, " Example: `");
        put_cell(out, variable->example);
        buf_puts(out, "`");
    }
    buf_puts(out, " |\n");
}

void config_write_markdown(struct buf *out)
{
    buf_puts(out, MARKDOWN_HEAD);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable_group_words *group = group_begun(i);
        if (group) {
            buf_printf(out, "\n## %s\n\n%s\n\n", group->title, group->about);
            buf_puts(out, "| Variable | Default | Meaning |\n|---|---|---|\n");
        }
        put_row(out, &VARIABLES[i]);
    }
}

/* ---- the manual page ---- */

static const char MANUAL_HEAD[] =
    ".\\\" Made by `forage config --man`; change data/variables.txt instead.\n"
    ".Dd November 15, 2026\n"
    ".Dt FORAGE.ENV 5\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm forage.env\n"
    ".Nd settings of forage\n"
    ".Sh DESCRIPTION\n"
    ".Xr forage 1\n"
    "is configured by environment variables, and by one optional file of KEY=value lines.\n"
    "A setting of the command line wins over the environment, the environment over the file, and\n"
    "the file over the default.\n"
    "An empty value counts as not set.\n"
    ".Pp\n"
    "The file is the one that\n"
    ".Ev FORAGE_CONFIG\n"
    "names, else\n"
    ".Pa $XDG_CONFIG_HOME/forage/forage.env ,\n"
    "else\n"
    ".Pa ~/.config/forage/forage.env .\n"
    "A # at the beginning of a line or after a blank begins a comment; values may stand in\n"
    "single quotes, or in double quotes with escapes; nothing is expanded.\n"
    "A file that holds a secret should be readable by its owner only.\n"
    ".Pp\n"
    "Where\n"
    ".Xr systemd 1\n"
    "reads the file\n"
    ".Pq Cm EnvironmentFile= ,\n"
    "a comment behind a value becomes a part of it, a line with export is left out, and a "
    "backslash\n"
    "without quotes disappears: give comments lines of their own.\n"
    "The command\n"
    ".Dq forage doctor --config FILE\n"
    "names the first line that systemd reads otherwise.\n"
    ".Pp\n"
    "Some variables have a second name, from a server that forage stands in for.\n"
    "Both names work; where one source sets both, the FORAGE_ name wins.\n";

static void put_manual_row(struct buf *out, const struct variable *variable)
{
    char words[LONGEST_WORDS];
    buf_printf(out, ".It Ev %s\n", variable->name);
    roff_put(out, variable->help);
    buf_putc(out, '\n');
    if (variable->more) {
        roff_put(out, variable->more);
        buf_putc(out, '\n');
    }
    if (variable->kind != VARIABLE_TEXT) {
        roff_put(out, allowed_sentence(variable, words, sizeof words));
        buf_putc(out, '\n');
    }
    if (variable->secret) {
        buf_puts(out, "Secret.\n");
    }
    if (variable->also) {
        buf_printf(out, "Also\n.Ev %s .\n", variable->also);
    }
    if (variable->preset) {
        buf_puts(out, "Default: ");
        roff_put(out, variable->preset);
        buf_putc(out, '\n');
    }
}

void config_write_manual(struct buf *out)
{
    buf_puts(out, MANUAL_HEAD);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable_group_words *group = group_begun(i);
        if (group) {
            buf_printf(out, "%s.Ss %s\n", i ? ".El\n" : "", group->title);
            roff_put(out, group->about);
            buf_puts(out, "\n.Bl -tag -width Ds\n");
        }
        put_manual_row(out, &VARIABLES[i]);
    }
    buf_puts(out, ".El\n.Sh SEE ALSO\n.Xr forage 1\n");
}

/* ---- the example file ---- */

static const char EXAMPLE_HEAD[] =
    "# Configuration of forage, made from data/variables.txt. Copy this file to\n"
    "# ~/.config/forage/forage.env (or name it in FORAGE_CONFIG), take the # away from\n"
    "# what you want to set, and keep the file to yourself where it holds a secret: chmod\n"
    "# 600. `forage config` shows what is in force. Comments have lines of their own, so that\n"
    "# systemd and Docker read the file as forage does.\n";

/* A comment, broken between words. */
static void put_comment(struct buf *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > LONGEST_LINE) {
            buf_puts(out, "\n");
            column = 0;
        }
        buf_puts(out, column ? " " : "# ");
        buf_append(out, text, length);
        column += length + (column ? 1 : 2);
        text += length;
        text += strspn(text, " ");
    }
    buf_puts(out, "\n");
}

static void put_example(struct buf *out, const struct variable *variable)
{
    char words[LONGEST_WORDS];
    buf_puts(out, "\n");
    put_comment(out, variable->help);
    if (variable->more) {
        put_comment(out, variable->more);
    }
    if (variable->kind != VARIABLE_TEXT) {
        put_comment(out, allowed_sentence(variable, words, sizeof words));
    }
    if (variable->also) {
        buf_printf(out, "# Also %s.\n", variable->also);
    }
    const char *shown = variable->preset ? variable->preset : variable->example;
    buf_printf(out, "#%s=%s\n", variable->name, shown ? shown : "");
}

void config_write_env_example(struct buf *out)
{
    buf_puts(out, EXAMPLE_HEAD);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable_group_words *group = group_begun(i);
        if (group) {
            buf_printf(out, "\n# ---- %s ----\n", group->title);
        }
        put_example(out, &VARIABLES[i]);
    }
}

/* ---- what is in force ---- */

/* "set (24 characters)", or NULL when it is not. */
static const char *mask(const struct variable *variable, char *words, size_t size)
{
    struct text_out out;
    text_start(&out, words, size);
    if (variable->kind == VARIABLE_LIST) {
        size_t count;
        config_list(variable->name, &count);
        text_putf(&out, "set (%zu item%s)", count, count == 1 ? "" : "s");
        return count ? words : NULL;
    }
    const char *text = config_text(variable->name);
    if (!text) {
        return NULL;
    }
    size_t count = text_count(text, strlen(text));
    text_putf(&out, "set (%zu character%s)", count, count == 1 ? "" : "s");
    return words;
}

/* Text on a terminal: as it is, unless something in it would be hidden. */
static void put_visible(struct buf *out, const char *text)
{
    char quoted[8 * LONGEST_WORDS];
    struct text_out line;
    text_start(&line, quoted, sizeof quoted);
    text_put_quoted(&line, text, strlen(text), LONGEST_WORDS);
    size_t length = line.length;
    bool plain = length == strlen(text) + 2 && memcmp(quoted + 1, text, length - 2) == 0;
    buf_puts(out, plain ? text : quoted);
}

static yyjson_mut_val *list_value(yyjson_mut_doc *doc, const char *name)
{
    size_t count;
    const char *const *items = config_list(name, &count);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_str(doc, list, items[i]);
    }
    return list;
}

static yyjson_mut_val *text_value(yyjson_mut_doc *doc, const char *text)
{
    return text ? yyjson_mut_strcpy(doc, text) : yyjson_mut_null(doc);
}

static yyjson_mut_val *json_value(yyjson_mut_doc *doc, const struct variable *variable)
{
    char words[LONGEST_WORDS];
    if (variable->secret) {
        return text_value(doc, mask(variable, words, sizeof words));
    }
    switch (variable->kind) {
    case VARIABLE_INTEGER:
        return yyjson_mut_sint(doc, config_int(variable->name));
    case VARIABLE_BOOLEAN:
        return yyjson_mut_bool(doc, config_bool(variable->name));
    case VARIABLE_DURATION:
        return yyjson_mut_real(doc, (double)config_duration_ms(variable->name) / 1000);
    case VARIABLE_SIZE:
        return yyjson_mut_sint(doc, config_bytes(variable->name));
    case VARIABLE_LIST:
        return list_value(doc, variable->name);
    case VARIABLE_TEXT:
    case VARIABLE_CHOICE:
    case VARIABLE_PATH:
        break;
    }
    return text_value(doc, config_text(variable->name));
}

/* A value for people: as it is in JSON, but a duration and a size have their units. */
static void put_value(struct buf *out, const struct variable *variable, yyjson_mut_val *value)
{
    char words[LONGEST_WORDS];
    struct text_out line;
    size_t index, count;
    yyjson_mut_val *item;
    if (yyjson_mut_is_null(value) || (yyjson_mut_is_arr(value) && !yyjson_mut_arr_size(value))) {
        buf_puts(out, "not set");
    } else if (yyjson_mut_is_real(value)) {
        text_start(&line, words, sizeof words);
        value_put_duration(&line, config_duration_ms(variable->name));
        buf_puts(out, words);
    } else if (variable->kind == VARIABLE_SIZE) {
        text_start(&line, words, sizeof words);
        value_put_size(&line, config_bytes(variable->name));
        buf_puts(out, words);
    } else if (yyjson_mut_is_bool(value)) {
        buf_puts(out, yyjson_mut_get_bool(value) ? "true" : "false");
    } else if (yyjson_mut_is_int(value)) {
        buf_printf(out, "%" PRId64, yyjson_mut_get_sint(value));
    } else if (yyjson_mut_is_str(value)) {
        put_visible(out, yyjson_mut_get_str(value));
    }
    yyjson_mut_arr_foreach(value, index, count, item)
    {
        buf_puts(out, index ? "," : "");
        put_visible(out, yyjson_mut_get_str(item));
    }
}

/* "  (environment, as MCP_SERVER_PORT)": where the value came from, and which of two names counts.
 */
static void put_origin(struct buf *out, const struct variable *variable)
{
    const char *used = config_name_used(variable->name);
    buf_printf(out, "  (%s", config_origin(variable->name));
    if (used && strcmp(used, variable->name) != 0) {
        buf_printf(out, ", as %s", used);
    }
    if (config_passed_over(variable->name)) {
        buf_printf(out, "; %s is set too and ignored", variable->also);
    }
    buf_puts(out, ")\n");
}

static void write_plain(struct buf *out, yyjson_mut_doc *doc)
{
    size_t widest = 0;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        size_t length = strlen(VARIABLES[i].name);
        widest = length > widest ? length : widest;
    }
    const char *file = config_file();
    buf_printf(out, "configuration file: %s\n", file ? file : "none");
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable_group_words *group = group_begun(i);
        if (group) {
            buf_printf(out, "\n%s\n", group->title);
        }
        buf_printf(out, "  %-*s  ", (int)widest, VARIABLES[i].name);
        put_value(out, &VARIABLES[i], json_value(doc, &VARIABLES[i]));
        put_origin(out, &VARIABLES[i]);
    }
    const char *before = "\nAddresses of services\n";
    for (size_t i = VARIABLE_COUNT; i < VARIABLES_AND_UPSTREAMS; i++) {
        if (config_is_set(VARIABLES[i].name)) {
            buf_printf(out, "%s  %-*s  ", before, (int)widest, VARIABLES[i].name);
            put_value(out, &VARIABLES[i], json_value(doc, &VARIABLES[i]));
            put_origin(out, &VARIABLES[i]);
            before = "";
        }
    }
    for (size_t i = 0; i < config_warning_count(); i++) {
        buf_printf(out, "%swarning: %s\n", i ? "" : "\n", config_warning(i));
    }
}

/* ---- the same, for programs ---- */

static yyjson_mut_val *effective_object(yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, root, "file", text_value(doc, config_file()));
    yyjson_mut_val *variables = yyjson_mut_obj_add_arr(doc, root, "variables");
    for (size_t i = 0; i < VARIABLES_AND_UPSTREAMS; i++) {
        const struct variable *variable = &VARIABLES[i];
        if (variable->upstream && !config_is_set(variable->name)) {
            continue;
        }
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, variables);
        yyjson_mut_obj_add_str(doc, one, "name", variable->name);
        yyjson_mut_obj_add_val(doc, one, "value", json_value(doc, variable));
        yyjson_mut_obj_add_bool(doc, one, "secret", variable->secret);
        json_add_string(doc, one, "origin", config_origin(variable->name));
        json_add_string(doc, one, "name_used", config_name_used(variable->name));
        json_add_string(doc, one, "name_ignored",
                        config_passed_over(variable->name) ? variable->also : NULL);
    }
    yyjson_mut_val *warnings = yyjson_mut_obj_add_arr(doc, root, "warnings");
    for (size_t i = 0; i < config_warning_count(); i++) {
        yyjson_mut_arr_add_str(doc, warnings, config_warning(i));
    }
    return root;
}

void config_write_effective(struct buf *out, bool json)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    int status = doc ? OK : ERR_NOMEM;
    if (doc && json) {
        status = json_write_pretty(out, arena, effective_object(doc));
        buf_putc(out, '\n');
    } else if (doc) {
        write_plain(out, doc);
    }
    if (status != OK && buf_error(out) == OK) {
        out->error = status;
    }
    arena_free(arena);
}
