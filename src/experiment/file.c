/* Reads and checks the file of an experiment: its form by a schema (file.json), and by hand what
 * only this program knows, such as its tools and their parameters. */
#include "experiment/file.h"

#include "core/clock.h"
#include "core/files.h"
#include "core/sha256.h"
#include "embedded.h"
#include "registry/schema.h"
#include "text/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS INT64_C(86400000)

const char *const UNIT_NAMES[UNITS] = {"session", "caller"};

/* A file while it is read. */
struct experiment_reading {
    struct arena *arena;
    const struct registry *registry;
    const char *path;
    struct experiment *to;
    char *problem;
    size_t size;
};

/* "a.json: arms.B: ...". Always ERR_INVALID. */
__attribute__((format(printf, 2, 3))) static int wrong(const struct experiment_reading *reading,
                                                       const char *format, ...)
{
    char words[LIMIT_ERROR_CHARS];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    text_repair(words);
    snprintf(reading->problem, reading->size, "%s: %s", reading->path, words);
    return ERR_INVALID;
}

/* ---- tools ---- */

static int add_tool(struct experiment_reading *reading, const char *name)
{
    struct experiment *to = reading->to;
    for (size_t i = 0; i < to->tool_count; i++) {
        if (strcmp(to->tools[i], name) == 0) {
            return wrong(reading, "tool names %s twice", name);
        }
    }
    if (!registry_tool(reading->registry, name)) {
        struct text_guess guess;
        text_guess_start(&guess, name, strlen(name));
        for (size_t i = 0; i < reading->registry->tool_count; i++) {
            const char *known = reading->registry->tools[i].name;
            text_guess_try(&guess, known, strlen(known));
        }
        return wrong(reading, "tool: there is no tool \"%.64s\" here; %s%s", name,
                     guess.best ? guess.best : "`forage tools` lists them",
                     guess.best ? " is meant?" : "");
    }
    to->tools[to->tool_count++] = name;
    return OK;
}

/* One, or a list of them. */
static int read_tools(struct experiment_reading *reading, yyjson_val *value)
{
    size_t index, most;
    yyjson_val *item;
    if (yyjson_arr_size(value) > LIMIT_EXPERIMENT_TOOLS) {
        return wrong(reading, "tool must name at most %d", LIMIT_EXPERIMENT_TOOLS);
    }
    int status = yyjson_is_str(value) ? add_tool(reading, yyjson_get_str(value)) : OK;
    yyjson_arr_foreach(value, index, most, item)
    {
        status = status == OK ? add_tool(reading, yyjson_get_str(item)) : status;
    }
    return status;
}

static yyjson_val *parameters_of(const struct experiment_reading *reading, size_t tool)
{
    const struct entry *entry = registry_tool(reading->registry, reading->to->tools[tool]);
    return yyjson_obj_get(entry->input_schema, "properties");
}

/* ---- arms ---- */

/* Arms of older versions could hold settings. */
static int refuse_settings(struct experiment_reading *reading, const char *arm)
{
    struct buf words;
    size_t index, most;
    yyjson_val *key, *value;
    buf_init(&words, LIMIT_ERROR_CHARS);
    for (size_t i = 0; i < reading->to->tool_count; i++) {
        buf_printf(&words, "; arguments of %s", reading->to->tools[i]);
        yyjson_obj_foreach(parameters_of(reading, i), index, most, key, value)
        {
            buf_printf(&words, "%s%s", index ? ", " : ": ", yyjson_get_str(key));
        }
    }
    const char *parameters = buf_to_arena(&words, reading->arena);
    return wrong(reading, "arms.%s.settings: an arm tries arguments of a call, and no settings%s",
                 arm, parameters ? parameters : "");
}

/* Parameters of every tool of the experiment, with values that each takes. */
static int check_arguments(struct experiment_reading *reading, const char *arm,
                           yyjson_val *arguments)
{
    char words[LIMIT_ERROR_CHARS];
    int status = OK;
    for (size_t i = 0; arguments && status == OK && i < reading->to->tool_count; i++) {
        const char *tool = reading->to->tools[i];
        yyjson_mut_doc *doc = json_new(reading->arena);
        yyjson_mut_val *part = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_val(doc, part, "properties", json_share(doc, parameters_of(reading, i)));
        yyjson_mut_obj_add_bool(doc, part, "additionalProperties", false);
        yyjson_val *schema = doc ? json_freeze(reading->arena, part) : NULL;
        status = schema ? schema_validate_part(registry_tool(reading->registry, tool)->input_schema,
                                               schema, arguments, words, sizeof words)
                        : ERR_NOMEM;
        if (status == ERR_INVALID) {
            wrong(reading, "arms.%s.arguments: %s does not take them: %s", arm, tool, words);
        }
    }
    return status;
}

static int read_arm(struct experiment_reading *reading, const char *name, yyjson_val *value)
{
    yyjson_val *arguments = yyjson_obj_get(value, "arguments");
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    if (!length || length > LIMIT_EXPERIMENT_ARM_CHARS || name[length]) {
        return wrong(reading, "arms: \"%.64s\" must be 1 to 32 letters, digits and dashes", name);
    }
    if (strcmp(name, "undecided") == 0) {
        return wrong(reading, "arms: an experiment without a winner says \"undecided\"");
    }
    if (yyjson_obj_get(value, "settings")) {
        return refuse_settings(reading, name);
    }
    if (yyjson_obj_size(value) != (arguments != NULL)) {
        return wrong(reading, "arms.%s must hold arguments, or nothing", name);
    }
    reading->to->arms[reading->to->arm_count++] = (struct experiment_arm){name, arguments};
    return check_arguments(reading, name, arguments);
}

static int read_arms(struct experiment_reading *reading, yyjson_val *value)
{
    size_t index, most;
    yyjson_val *key, *arm;
    size_t count = yyjson_obj_size(value);
    if (count < 2 || count > LIMIT_EXPERIMENT_ARMS) {
        return wrong(reading, "arms must be 2 to 8, as {\"A\": {}, \"B\": {\"arguments\": {...}}}");
    }
    int status = OK;
    yyjson_obj_foreach(value, index, most, key, arm)
    {
        status = status == OK ? read_arm(reading, yyjson_get_str(key), arm) : status;
    }
    return status;
}

/* ---- the whole ---- */

/* "2026-12-31": the last day that counts, by UTC. */
static int read_until(struct experiment_reading *reading, const char *text)
{
    struct tm day = {0};
    reading->to->until = text;
    reading->to->until_ms = INT64_MAX;
    if (!text) {
        return OK;
    }
    const char *end = strptime(text, "%Y-%m-%d", &day);
    struct tm made = day;
    time_t begins = timegm(&made);
    reading->to->until_ms = (int64_t)begins * 1000 + DAY_MS;
    return end && made.tm_mday == day.tm_mday
               ? OK
               : wrong(reading, "until must be a day, such as \"2026-12-31\"");
}

/* Names what the file says, but for its words for people and its last day: trials of another
 * version do not count, so that nobody can choose a metric or a sample after having looked. */
static int name_version(struct experiment_reading *reading)
{
    struct experiment *to = reading->to;
    struct buf text;
    struct sha256 sha;
    unsigned char digest[SHA256_SIZE];
    buf_init(&text, 2 * LIMIT_EXPERIMENT_BYTES);
    buf_printf(&text, "%s\n%s %.17g %s %d %zu\n%s\n", to->name, UNIT_NAMES[to->unit], to->share,
               METRIC_TABLE[to->metric].name, to->higher, to->sample, to->salt);
    for (size_t i = 0; i < to->tool_count; i++) {
        buf_printf(&text, "%s\n", to->tools[i]);
    }
    for (size_t i = 0; i < to->arm_count; i++) {
        buf_printf(&text, "%s\n", to->arms[i].name);
        json_write_immutable(&text, reading->arena, to->arms[i].arguments);
        buf_puts(&text, "\n\n"); /* between them were settings once: versions stay the same */
    }
    int status = arena_failed(reading->arena) ? ERR_NOMEM : buf_error(&text);
    sha256_init(&sha);
    sha256_add(&sha, text.data, status == OK ? text.length : 0);
    sha256_end(&sha, digest);
    for (size_t i = 0; i < (sizeof to->version - 1) / 2; i++) {
        snprintf(to->version + 2 * i, 3, "%02x", digest[i]);
    }
    buf_done(&text);
    return status;
}

static int read_members(struct experiment_reading *reading, yyjson_val *root)
{
    struct experiment *to = reading->to;
    char words[LIMIT_ERROR_CHARS];
    yyjson_doc *schema = json_embedded(reading->arena, experiment_file);
    int status = schema ? schema_validate(yyjson_doc_get_root(schema), root, words, sizeof words)
                        : ERR_NOMEM;
    if (status != OK) {
        return status == ERR_INVALID ? wrong(reading, "%s", words) : status;
    }
    if (json_holds_nul(root)) {
        return wrong(reading, "a string holds a NUL character (\\u0000)");
    }
    const char *salt = json_string(root, "salt");
    yyjson_val *better = yyjson_obj_get(root, "better");
    to->name = json_string(root, "name");
    to->about = json_string(root, "about");
    to->salt = salt ? salt : to->name;
    to->unit = yyjson_equals_str(yyjson_obj_get(root, "unit"), UNIT_NAMES[UNIT_CALLER])
                   ? UNIT_CALLER
                   : UNIT_SESSION;
    to->share = yyjson_get_num(yyjson_obj_get(root, "share"));
    to->sample = (size_t)yyjson_get_num(yyjson_obj_get(root, "sample"));
    to->metric = metric_named(json_string(root, "metric"));
    to->higher = better ? yyjson_equals_str(better, "higher") : METRIC_TABLE[to->metric].higher;
    status = to->share > 0 ? OK : wrong(reading, "share must be above 0");
    status = status == OK ? read_until(reading, json_string(root, "until")) : status;
    status = status == OK ? read_tools(reading, yyjson_obj_get(root, "tool")) : status;
    status = status == OK ? read_arms(reading, yyjson_obj_get(root, "arms")) : status;
    return status == OK ? name_version(reading) : status;
}

/* The line of a byte, from 1. */
static size_t line_of(const struct buf *text, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < text->length; i++) {
        line += text->data[i] == '\n';
    }
    return line;
}

int experiment_read(struct arena *arena, const struct registry *registry, const char *path,
                    struct experiment *experiment, char *problem, size_t size)
{
    struct experiment_reading reading = {arena, registry, path, experiment, problem, size};
    struct json_problem where = {0};
    struct buf text;
    *experiment = (struct experiment){0};
    buf_init(&text, LIMIT_EXPERIMENT_BYTES);
    int status = read_whole(path, &text);
    if (status == ERR_IO) {
        status = wrong(&reading, "%s", strerror(errno));
    } else if (status == ERR_LIMIT) {
        status = wrong(&reading, "it is longer than 256 KiB");
    } else if (status == OK) {
        yyjson_doc *doc = json_parse(arena, text.data ? text.data : "", text.length, &where);
        status = doc ? read_members(&reading, yyjson_doc_get_root(doc))
                     : wrong(&reading, "line %zu: it is no JSON: %s", line_of(&text, where.offset),
                             where.text);
    }
    buf_done(&text);
    return arena_failed(arena) ? ERR_NOMEM : status;
}
