/* Reads and checks the file of an experiment, member by member. */
#include "experiment/file.h"

#include "core/clock.h"
#include "core/files.h"
#include "core/sha256.h"
#include "registry/schema.h"
#include "text/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHOWN_CHARS 60
#define DAY_MS      INT64_C(86400000)

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

/* "a.json: arms.B.arguments: ...". Always ERR_INVALID. */
__attribute__((format(printf, 3, 4))) static int wrong(const struct experiment_reading *reading,
                                                       const char *member, const char *format, ...)
{
    char words[LIMIT_ERROR_CHARS];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    text_repair(words);
    snprintf(reading->problem, reading->size, "%s: %s%s%s", reading->path, member,
             *member ? ": " : "", words);
    return ERR_INVALID;
}

/* What came in place of what is allowed, for a message. */
static const char *shown(const struct experiment_reading *reading, yyjson_val *value)
{
    const char *text = value ? json_text_of(reading->arena, value) : "nothing";
    return text ? arena_strndup(reading->arena, text, text_prefix(text, strlen(text), SHOWN_CHARS))
                : NULL;
}

static int wrong_value(const struct experiment_reading *reading, const char *member,
                       const char *allowed, yyjson_val *came)
{
    const char *words = shown(reading, came);
    return words ? wrong(reading, member, "must be %s, but %s came", allowed, words) : ERR_NOMEM;
}

/* Letters, digits and dashes. */
static bool is_name(const char *text, size_t most)
{
    size_t length = text ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789-")
                         : 0;
    return length > 0 && length <= most && !text[length];
}

/* ---- plain members ---- */

static int read_name(struct experiment_reading *reading, yyjson_val *value)
{
    reading->to->name = yyjson_get_str(value);
    return is_name(reading->to->name, LIMIT_EXPERIMENT_NAME_CHARS)
               ? OK
               : wrong_value(reading, "name", "1 to 64 letters, digits and dashes", value);
}

static int read_about(struct experiment_reading *reading, yyjson_val *value)
{
    reading->to->about = yyjson_get_str(value);
    return !value || reading->to->about ? OK : wrong_value(reading, "about", "a text", value);
}

static int add_tool(struct experiment_reading *reading, yyjson_val *value)
{
    struct experiment *to = reading->to;
    const char *name = yyjson_get_str(value);
    if (!name || to->tool_count == LIMIT_EXPERIMENT_TOOLS) {
        return wrong_value(reading, "tool", "the name of a tool, or a list of up to 8", value);
    }
    if (!registry_tool(reading->registry, name)) {
        struct text_guess guess;
        text_guess_start(&guess, name, strlen(name));
        for (size_t i = 0; i < reading->registry->tool_count; i++) {
            const char *known = reading->registry->tools[i].name;
            text_guess_try(&guess, known, strlen(known));
        }
        return wrong(reading, "tool", "there is no tool \"%.64s\" here; %s%s", name,
                     guess.best ? guess.best : "`forage tools` lists them",
                     guess.best ? " is meant?" : "");
    }
    for (size_t i = 0; i < to->tool_count; i++) {
        if (strcmp(to->tools[i], name) == 0) {
            return wrong(reading, "tool", "it names %s twice", name);
        }
    }
    to->tools[to->tool_count++] = name;
    return OK;
}

static int read_tools(struct experiment_reading *reading, yyjson_val *value)
{
    size_t index, most;
    yyjson_val *item;
    if (!yyjson_is_arr(value) || !yyjson_arr_size(value)) {
        return add_tool(reading, value);
    }
    int status = OK;
    yyjson_arr_foreach(value, index, most, item)
    {
        status = status == OK ? add_tool(reading, item) : status;
    }
    return status;
}

static int read_unit(struct experiment_reading *reading, yyjson_val *value)
{
    for (int i = 0; i < UNITS; i++) {
        if (yyjson_equals_str(value, UNIT_NAMES[i])) {
            reading->to->unit = (enum experiment_unit)i;
            return OK;
        }
    }
    return wrong_value(reading, "unit", "\"session\" or \"caller\"", value);
}

static int read_share(struct experiment_reading *reading, yyjson_val *value)
{
    double share = yyjson_get_num(value);
    reading->to->share = share;
    return share > 0 && share <= 1
               ? OK
               : wrong_value(reading, "share", "a number above 0, and at most 1", value);
}

static int read_salt(struct experiment_reading *reading, yyjson_val *value)
{
    const char *salt = value ? yyjson_get_str(value) : reading->to->name;
    reading->to->salt = salt;
    return salt && *salt ? OK : wrong_value(reading, "salt", "a text that is not empty", value);
}

static int read_metric(struct experiment_reading *reading, yyjson_val *value)
{
    const char *name = yyjson_get_str(value);
    struct buf names;
    reading->to->metric = name ? metric_named(name) : METRICS;
    if (reading->to->metric != METRICS) {
        reading->to->higher = METRIC_TABLE[reading->to->metric].higher;
        return OK;
    }
    buf_init(&names, KIB(1));
    buf_puts(&names, "one of ");
    for (int i = 0; i < METRICS; i++) {
        buf_printf(&names, "%s%s", i ? ", " : "", METRIC_TABLE[i].name);
    }
    const char *allowed = buf_to_arena(&names, reading->arena);
    return allowed ? wrong_value(reading, "metric", allowed, value) : ERR_NOMEM;
}

static int read_better(struct experiment_reading *reading, yyjson_val *value)
{
    bool higher = yyjson_equals_str(value, "higher");
    if (!value) {
        return OK;
    }
    reading->to->higher = higher;
    return higher || yyjson_equals_str(value, "lower")
               ? OK
               : wrong_value(reading, "better", "\"lower\" or \"higher\"", value);
}

static int read_sample(struct experiment_reading *reading, yyjson_val *value)
{
    int64_t sample = yyjson_is_int(value) ? yyjson_get_sint(value) : 0;
    reading->to->sample = (size_t)sample;
    return sample >= EXPERIMENT_LEAST_SAMPLE && sample <= LIMIT_EXPERIMENT_SAMPLE
               ? OK
               : wrong_value(reading, "sample",
                             "the units of each arm, an integer from 10 to 10000", value);
}

/* "2026-12-31": the last day that counts, by UTC. */
static int read_until(struct experiment_reading *reading, yyjson_val *value)
{
    struct tm day = {0};
    const char *text = yyjson_get_str(value);
    const char *end = text ? strptime(text, "%Y-%m-%d", &day) : NULL;
    reading->to->until = text;
    reading->to->until_ms = INT64_MAX;
    if (!value) {
        return OK;
    }
    struct tm made = day;
    time_t begins = timegm(&made);
    if (!end || *end || strlen(text) != 10 || made.tm_mday != day.tm_mday) {
        return wrong_value(reading, "until", "a day, such as \"2026-12-31\"", value);
    }
    reading->to->until_ms = (int64_t)begins * 1000 + DAY_MS;
    return OK;
}

/* ---- arms ---- */

static const char *join(const struct experiment_reading *reading, const char *before,
                        const char *name)
{
    const char *text = arena_printf(reading->arena, "%s.%s", before, name);
    return text ? text : before;
}

static int refuse_argument(struct experiment_reading *reading, const char *member, const char *name,
                           const struct entry *entry)
{
    struct text_guess guess;
    yyjson_val *key;
    text_guess_start(&guess, name, strlen(name));
    yyjson_obj_iter each = yyjson_obj_iter_with(yyjson_obj_get(entry->input_schema, "properties"));
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        text_guess_try(&guess, yyjson_get_str(key), yyjson_get_len(key));
    }
    return wrong(reading, member, "%s has no parameter of this name; %s%s%s", entry->name,
                 guess.best ? guess.best : "`forage tools ", guess.best ? "" : entry->name,
                 guess.best ? " is meant?" : "` lists them");
}

/* Checks one argument as if it were all that a tool takes, so that the words name it. */
static int check_with(struct experiment_reading *reading, const struct entry *entry,
                      const char *name, yyjson_val *value, char *words, size_t size)
{
    yyjson_val *property = yyjson_obj_get(yyjson_obj_get(entry->input_schema, "properties"), name);
    yyjson_mut_doc *doc = json_new(reading->arena);
    yyjson_mut_val *schema = yyjson_mut_obj(doc);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_val *properties = yyjson_mut_obj_add_obj(doc, schema, "properties");
    yyjson_mut_obj_add_val(doc, properties, name, json_copy(doc, property));
    yyjson_mut_obj_add_val(doc, object, name, json_copy(doc, value));
    yyjson_val *part = doc ? json_freeze(reading->arena, schema) : NULL;
    yyjson_val *given = doc ? json_freeze(reading->arena, object) : NULL;
    return part && given ? schema_validate_part(entry->input_schema, part, given, words, size)
                         : ERR_NOMEM;
}

/* A parameter of every tool of the experiment, with a value that each takes. */
static int check_argument(struct experiment_reading *reading, const char *member, const char *name,
                          yyjson_val *value)
{
    char words[LIMIT_ERROR_CHARS];
    int status = OK;
    for (size_t i = 0; status == OK && i < reading->to->tool_count; i++) {
        const struct entry *entry = registry_tool(reading->registry, reading->to->tools[i]);
        if (!yyjson_obj_get(yyjson_obj_get(entry->input_schema, "properties"), name)) {
            return refuse_argument(reading, member, name, entry);
        }
        status = check_with(reading, entry, name, value, words, sizeof words);
        if (status == ERR_INVALID) {
            status = wrong(reading, member, "%s does not take it: %s", entry->name, words);
        }
    }
    return status;
}

static int read_arguments(struct experiment_reading *reading, const char *member,
                          yyjson_val *object)
{
    size_t index, most;
    yyjson_val *key, *value;
    int status = OK;
    if (object && !yyjson_is_obj(object)) {
        return wrong_value(reading, member, "an object of parameters", object);
    }
    yyjson_obj_foreach(object, index, most, key, value)
    {
        const char *name = yyjson_get_str(key);
        status = status == OK ? check_argument(reading, join(reading, member, name), name, value)
                              : status;
    }
    return status;
}

/* Arms of older versions could hold settings. */
static int refuse_settings(struct experiment_reading *reading, const char *member)
{
    struct buf words;
    buf_init(&words, LIMIT_ERROR_CHARS);
    for (size_t i = 0; i < reading->to->tool_count; i++) {
        const struct entry *entry = registry_tool(reading->registry, reading->to->tools[i]);
        const char *separator = ": ";
        yyjson_val *key;
        yyjson_obj_iter each =
            yyjson_obj_iter_with(yyjson_obj_get(entry->input_schema, "properties"));
        buf_printf(&words, "; arguments of %s", entry->name);
        while ((key = yyjson_obj_iter_next(&each)) != NULL) {
            buf_printf(&words, "%s%s", separator, yyjson_get_str(key));
            separator = ", ";
        }
    }
    const char *parameters = buf_to_arena(&words, reading->arena);
    return wrong(reading, member, "an arm tries arguments of a call, and no settings%s",
                 parameters ? parameters : "");
}

/* Nothing but these members. */
static int check_members(struct experiment_reading *reading, const char *member, yyjson_val *object,
                         const char *const *names)
{
    size_t index, most;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, most, key, value)
    {
        const char *name = yyjson_get_str(key);
        struct text_guess guess;
        bool known = false;
        text_guess_start(&guess, name, strlen(name));
        for (size_t i = 0; names[i]; i++) {
            known = known || strcmp(names[i], name) == 0;
            text_guess_try(&guess, names[i], strlen(names[i]));
        }
        if (!known) {
            return wrong(reading, member, "there is no member \"%.64s\"%s%s%s", name,
                         guess.best ? "; is " : "", guess.best ? guess.best : "",
                         guess.best ? " meant?" : "");
        }
    }
    return OK;
}

static int read_arm(struct experiment_reading *reading, const char *name, yyjson_val *value)
{
    static const char *const MEMBERS[] = {"arguments", NULL};
    const char *member = join(reading, "arms", name);
    yyjson_val *arguments = yyjson_obj_get(value, "arguments");
    reading->to->arms[reading->to->arm_count++] =
        (struct experiment_arm){.name = name, .arguments = arguments};
    if (!is_name(name, LIMIT_EXPERIMENT_ARM_CHARS)) {
        return wrong(reading, "arms", "\"%.64s\" must be 1 to 32 letters, digits and dashes", name);
    }
    if (strcmp(name, "undecided") == 0) {
        return wrong(reading, "arms",
                     "\"undecided\" is what an experiment says that has no winner");
    }
    if (!yyjson_is_obj(value)) {
        return wrong_value(reading, member, "an object with arguments, or an empty one", value);
    }
    if (yyjson_obj_get(value, "settings")) {
        return refuse_settings(reading, join(reading, member, "settings"));
    }
    int status = check_members(reading, member, value, MEMBERS);
    return status == OK ? read_arguments(reading, join(reading, member, "arguments"), arguments)
                        : status;
}

static int read_arms(struct experiment_reading *reading, yyjson_val *value)
{
    size_t index, most;
    yyjson_val *key, *arm;
    size_t count = yyjson_obj_size(value);
    if (count < 2 || count > LIMIT_EXPERIMENT_ARMS) {
        return wrong(reading, "arms",
                     "must be an object of 2 to 8 arms by their names, as {\"A\": {}, \"B\": "
                     "{\"arguments\": {...}}}");
    }
    int status = OK;
    yyjson_obj_foreach(value, index, most, key, arm)
    {
        status = status == OK ? read_arm(reading, yyjson_get_str(key), arm) : status;
    }
    return status;
}

/* ---- the whole ---- */

/* Each is read after those that it needs; one that is missing is NULL. */
static const struct {
    const char *name;
    int (*read)(struct experiment_reading *reading, yyjson_val *value);
} MEMBERS[] = {
    {"name", read_name},     {"about", read_about},   {"tool", read_tools},
    {"unit", read_unit},     {"share", read_share},   {"salt", read_salt},
    {"metric", read_metric}, {"better", read_better}, {"sample", read_sample},
    {"until", read_until},   {"arms", read_arms},
};

#define MEMBER_COUNT (sizeof MEMBERS / sizeof *MEMBERS)

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
        buf_putc(&text, '\n');
        buf_putc(&text, '\n'); /* here were settings, once: the same arms keep their version */
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
    const char *names[MEMBER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        names[i] = MEMBERS[i].name;
    }
    if (!yyjson_is_obj(root)) {
        return wrong(reading, "", "it is not an object; docs/experiments.md has an example");
    }
    if (json_holds_nul(root)) {
        return wrong(reading, "", "a string holds a NUL character (\\u0000)");
    }
    int status = check_members(reading, "", root, names);
    for (size_t i = 0; status == OK && i < MEMBER_COUNT; i++) {
        status = MEMBERS[i].read(reading, yyjson_obj_get(root, MEMBERS[i].name));
    }
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
        status = wrong(&reading, "", "%s", strerror(errno));
    } else if (status == ERR_LIMIT) {
        status = wrong(&reading, "", "it is longer than 256 KiB");
    } else if (status == OK) {
        yyjson_doc *doc = json_parse(arena, text.data ? text.data : "", text.length, &where);
        status = doc ? read_members(&reading, yyjson_doc_get_root(doc))
                     : wrong(&reading, "", "line %zu: it is no JSON: %s",
                             line_of(&text, where.offset), where.text);
    }
    buf_done(&text);
    return arena_failed(arena) ? ERR_NOMEM : status;
}
