/* `forage call TOOL key=value...`: runs a tool in this process and prints its result. Progress goes
 * to standard error where a person can see it; Ctrl-C cancels the call. */
#include "cli/cli.h"
#include "cli/watch.h"
#include "core/limits.h"

#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

/* Whether a schema property takes plain text: then a value needs no quotes. */
static bool takes_text(yyjson_val *property)
{
    yyjson_val *type = yyjson_obj_get(property, "type");
    return !type || yyjson_equals_str(type, "string");
}

static yyjson_mut_val *parse_value(struct arena *arena, yyjson_mut_doc *doc, const char *text)
{
    yyjson_doc *parsed = json_parse(arena, text, strlen(text), NULL);
    return parsed ? json_copy(doc, yyjson_doc_get_root(parsed)) : NULL;
}

/* One key=value (text, or JSON where the tool wants another type) or key:=json. */
static int add_pair(struct arena *arena, const struct entry *entry, yyjson_mut_doc *doc,
                    yyjson_mut_val *object, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair) {
        return usage_error("\"%s\" is not key=value", pair);
    }
    bool json = equals[-1] == ':';
    char *key = arena_strndup(arena, pair, (size_t)(equals - pair) - (json ? 1 : 0));
    yyjson_val *property = yyjson_obj_get(yyjson_obj_get(entry->input_schema, "properties"), key);
    yyjson_mut_val *value = NULL;
    if (json || !takes_text(property)) {
        value = parse_value(arena, doc, equals + 1);
        if (!value && json) {
            return usage_error("%s:= wants JSON, but \"%s\" came", key, equals + 1);
        }
    }
    if (!value) {
        value = yyjson_mut_str(doc, equals + 1);
    }
    yyjson_mut_obj_add(object, yyjson_mut_str(doc, key), value);
    return EXIT_OK;
}

static int read_arguments(const struct arguments *given, struct arena *arena,
                          const struct entry *entry, yyjson_val **arguments)
{
    const char *whole = option_text(given, "--json");
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = parse_value(arena, doc, whole ? whole : "{}");
    if (!yyjson_mut_is_obj(object)) {
        return usage_error("--json wants a JSON object");
    }
    for (int i = 1; i < given->count; i++) {
        int code = add_pair(arena, entry, doc, object, given->words[i]);
        if (code != EXIT_OK) {
            return code;
        }
    }
    struct buf text;
    struct json_problem problem = {0};
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    yyjson_doc *parsed = json_write(&text, arena, object) == OK
                             ? json_parse(arena, text.data, text.length, &problem)
                             : NULL;
    buf_done(&text);
    *arguments = yyjson_doc_get_root(parsed);
    return parsed ? EXIT_OK : usage_error("the arguments are wrong: %s", problem.text);
}

/* ---- running ---- */

static int print_reply(struct call *call, struct reply *reply)
{
    int code = print_json(call_arena(call), reply->structured ? reply->structured : reply->content);
    return code == EXIT_OK && reply->is_error ? EXIT_FAILED : code;
}

static int run_watched(struct app *app, const struct entry *entry, struct call *call,
                       yyjson_val *arguments, int signals)
{
    struct watch watch;
    struct reply reply;
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    int status = registry_run(app_registry(app), entry, call, arguments, &reply);
    watch_stop(&watch);
    if (status != OK) {
        fputs("forage: this tool has to ask its client something, which a command line cannot "
              "answer\n",
              stderr);
        return EXIT_FAILED;
    }
    return print_reply(call, &reply);
}

static int call_in(struct app *app, struct call *call, int signals, void *context)
{
    const struct arguments *given = context;
    const struct entry *entry = registry_tool(app_registry(app), given->words[0]);
    if (!entry) {
        return usage_error("there is no tool \"%s\"; `forage tools` lists them", given->words[0]);
    }
    yyjson_val *arguments = NULL;
    int code = read_arguments(given, call_arena(call), entry, &arguments);
    return code == EXIT_OK ? run_watched(app, entry, call, arguments, signals) : code;
}

int command_call(const struct arguments *arguments)
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = watch_options();
    struct arguments given = *arguments;
    return watch_run(&options, call_in, &given);
}
