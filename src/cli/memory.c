/* `forage memory ...`: memories for people. What a tool does is done by the tool, as any client
 * would call it; the result is printed as text, or as it is with --json. */
#include "cli/memory.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/redact.h"
#include "base/signals.h"
#include "cli/watch.h"
#include "config/config.h"
#include "memory/memory.h"

#include <stdio.h>
#include <string.h>

#define BAR_WIDTH 30

/* ---- telling ---- */

void memory_command_bar(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total <= 0) {
        fprintf(stderr, "\r\033[K%s", message);
        return;
    }
    double part = done < total ? done / total : 1;
    int filled = (int)(part * BAR_WIDTH);
    fprintf(stderr, "\r\033[K[%.*s%.*s] %3.0f %% %s", filled, "##############################",
            BAR_WIDTH - filled, "..............................", part * 100, message);
}

int memory_command_failed(struct memory_command *command, int status)
{
    call_fail_status(command->call, status);
    const struct call_error *error = call_error(command->call);
    struct buf text;
    buf_init(&text, KIB(64));
    buf_printf(&text, "forage: %s\n", error ? error->message : status_name(status));
    redact_buf(&text, 0);
    fputs(text.data ? text.data : "forage: out of memory\n", stderr);
    buf_done(&text);
    return EXIT_FAILED;
}

static const char *text_of(yyjson_mut_val *object, const char *name)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, name));
    return text ? text : "";
}

/* ---- what each prints ---- */

static void print_changed(struct buf *out, yyjson_mut_val *data)
{
    buf_printf(out, "%s %s\n", text_of(data, "outcome"), text_of(data, "key"));
}

static void print_names(struct buf *out, yyjson_mut_val *data, const char *name, const char *word)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, name), index, max, item)
    {
        buf_printf(out, "%s %s\n", word, yyjson_mut_get_str(item));
    }
}

static void print_deleted(struct buf *out, yyjson_mut_val *data)
{
    print_names(out, data, "deleted", "deleted");
    print_names(out, data, "missing", "no memory of key");
}

/* One text as it is; of several each with its key. */
static void print_texts(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        if (max > 1) {
            buf_printf(out, "%s== %s ==\n", index ? "\n" : "", text_of(item, "key"));
        }
        buf_printf(out, "%s\n", text_of(item, "text"));
        if (yyjson_mut_obj_get(item, "next_start")) {
            buf_puts(out, "(there is more; `forage memory export` has all of it)\n");
        }
    }
    print_names(out, data, "missing", "no memory of key");
}

static void print_list(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        buf_printf(out, "%.10s  %s  %s\n", text_of(item, "created_at"), text_of(item, "key"),
                   text_of(item, "summary"));
    }
    yyjson_mut_val *page = yyjson_mut_obj_get(data, "pagination");
    buf_printf(out, "%zu of %llu\n", yyjson_mut_arr_size(results),
               (unsigned long long)yyjson_mut_get_uint(yyjson_mut_obj_get(page, "total")));
}

static void print_hits(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "results"), index, max, item)
    {
        buf_printf(out, "%.2f  %s\n      %s\n",
                   yyjson_mut_get_real(yyjson_mut_obj_get(item, "relevance")), text_of(item, "key"),
                   text_of(item, "excerpt"));
    }
}

/* ---- the tools ---- */

static const char *const ADD_OPTIONS[] = {"--key",  "--summary",    "--tags",       "--session",
                                          "--role", "--created-at", "--expires-at", NULL};
static const char *const LIST_OPTIONS[] = {"--prefix",  "--tags", "--time",  "--from",   "--until",
                                           "--session", "--role", "--limit", "--offset", NULL};
static const char *const SEARCH_OPTIONS[] = {
    "--tags", "--time", "--from", "--until", "--session", "--role", "--limit", "--offset", NULL};
static const char *const NO_OPTIONS[] = {NULL};

/* What to do, by its name. */
static const struct action {
    const char *name;
    const char *tool; /* NULL: a function of its own */
    const char *rest; /* the parameter that takes what is not an option */
    bool several;     /* of them, as an array; otherwise they are joined by spaces */
    bool from_input;  /* read from standard input where it is not given */
    const char *const *options;
    void (*print)(struct buf *out, yyjson_mut_val *data);
    int (*run)(struct memory_command *command);
} ACTIONS[] = {
    {"add", "memory_add", "text", false, true, ADD_OPTIONS, print_changed, NULL},
    {"get", "memory_get", "keys", true, false, NO_OPTIONS, print_texts, NULL},
    {"list", "memory_list", NULL, false, false, LIST_OPTIONS, print_list, NULL},
    {"search", "memory_search", "query", false, false, SEARCH_OPTIONS, print_hits, NULL},
    {"delete", "memory_delete", "keys", true, false, NO_OPTIONS, print_deleted, NULL},
    {.name = "import", .run = memory_command_import},
    {.name = "export", .run = memory_command_export},
    {.name = "check", .run = memory_command_check},
    {.name = "backup", .run = memory_command_backup},
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++) {
        if (strcmp(ACTIONS[i].name, name) == 0) {
            return &ACTIONS[i];
        }
    }
    return NULL;
}

/* "--created-at" is the parameter created_at. */
static int take_options(struct memory_command *command, const struct action *action,
                        yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    for (const char *const *option = action->options; *option; option++) {
        const char *value;
        int taken = take_option(&command->rest, *option, &value);
        char *name = arena_strdup(call_arena(command->call), *option + 2);
        if (taken < 0 || !name) {
            return EXIT_USAGE;
        }
        for (char *at = name; *at; at++) {
            *at = *at == '-' ? '_' : *at;
        }
        bool number = strcmp(name, "limit") == 0 || strcmp(name, "offset") == 0;
        yyjson_doc *parsed = taken && number
                                 ? json_parse(call_arena(command->call), value, strlen(value), NULL)
                                 : NULL;
        if (taken) {
            yyjson_mut_obj_add(object, yyjson_mut_str(doc, name),
                               parsed ? json_copy(doc, yyjson_doc_get_root(parsed))
                                      : yyjson_mut_str(doc, value));
        }
    }
    return EXIT_OK;
}

static const char *read_input(struct arena *arena)
{
    struct buf text;
    char piece[4096];
    size_t got;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    while ((got = fread(piece, 1, sizeof piece, stdin)) > 0) {
        buf_append(&text, piece, got);
    }
    size_t length = text.length;
    length -= length > 0 && text.data[length - 1] == '\n'; /* that a shell adds */
    const char *copy =
        text.data && buf_error(&text) == OK ? arena_strndup(arena, text.data, length) : NULL;
    buf_done(&text);
    return copy;
}

/* What looks like an option and is none is refused, unless it stands behind "--", which is
 * dropped. */
static int refuse_options(struct arguments *rest)
{
    for (int i = 0; i < rest->count; i++) {
        if (strcmp(rest->values[i], "--") == 0) {
            take_flag(rest, "--");
            return EXIT_OK;
        }
        if (strncmp(rest->values[i], "--", 2) == 0) {
            return usage_error("nothing takes \"%s\"", rest->values[i]);
        }
    }
    return EXIT_OK;
}

/* What is left of the arguments becomes the parameter that takes it. */
static int take_rest(struct memory_command *command, const struct action *action,
                     yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    struct arena *arena = call_arena(command->call);
    int code = action->rest ? refuse_options(&command->rest) : refuse_rest(&command->rest);
    if (code != EXIT_OK || !action->rest) {
        return code;
    }
    if (command->rest.count == 0 && !action->from_input) {
        return usage_error("memory %s needs %s", action->name, action->rest);
    }
    if (action->several) {
        yyjson_mut_val *list = yyjson_mut_arr(doc);
        for (int i = 0; i < command->rest.count; i++) {
            yyjson_mut_arr_add_str(doc, list, command->rest.values[i]);
        }
        yyjson_mut_obj_add_val(doc, object, action->rest, list);
        return EXIT_OK;
    }
    const char *text = command->rest.count ? command->rest.values[0] : read_input(arena);
    for (int i = 1; i < command->rest.count && text; i++) {
        text = arena_printf(arena, "%s %s", text, command->rest.values[i]);
    }
    json_add_string(doc, object, action->rest, text);
    return EXIT_OK;
}

static yyjson_val *finish_arguments(struct arena *arena, yyjson_mut_val *object)
{
    struct buf text;
    buf_init(&text, 2 * LIMIT_MESSAGE_BYTES);
    yyjson_doc *parsed = json_write(&text, arena, object) == OK
                             ? json_parse(arena, text.data, text.length, NULL)
                             : NULL;
    buf_done(&text);
    return yyjson_doc_get_root(parsed);
}

static int print_reply(struct memory_command *command, const struct action *action,
                       const struct reply *reply)
{
    struct buf out;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    if (command->json) {
        json_write_pretty(&out, call_arena(command->call), reply->structured);
        buf_putc(&out, '\n');
    } else if (!reply->is_error) {
        action->print(&out, yyjson_mut_obj_get(reply->structured, "data"));
    }
    int code = print_buf(&out);
    buf_done(&out);
    if (reply->is_error && !command->json) {
        return memory_command_failed(command, ERR_FAILED);
    }
    return reply->is_error ? EXIT_FAILED : code;
}

static int run_tool(struct memory_command *command, const struct action *action)
{
    struct registry *registry = app_registry(command->app);
    const struct entry *entry = registry_tool(registry, action->tool);
    struct arena *arena = call_arena(command->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = doc ? yyjson_mut_obj(doc) : NULL;
    if (!entry || !object) {
        fprintf(stderr, "forage: %s is switched off (FORAGE_TOOLS)\n", action->tool);
        return EXIT_FAILED;
    }
    json_add_string(doc, object, "namespace", command->space);
    int code = take_options(command, action, doc, object);
    if (code == EXIT_OK) {
        code = take_rest(command, action, doc, object);
    }
    if (code != EXIT_OK) {
        return code;
    }
    yyjson_val *arguments = finish_arguments(arena, object);
    struct reply reply;
    if (!arguments || registry_run(registry, entry, command->call, arguments, &reply) != OK) {
        return usage_error("the arguments are not valid UTF-8, or too long");
    }
    return print_reply(command, action, &reply);
}

/* ---- the command ---- */

static int run_action(const struct action *action, struct memory_command *command, int signals)
{
    struct watch watch;
    struct call_options options = watch_options();
    if (options.hooks.progress) {
        options.hooks.progress = memory_command_bar;
    }
    command->call = call_new(&options);
    if (!command->call || watch_start(&watch, command->call, signals) != OK) {
        call_free(command->call);
        return EXIT_FAILED;
    }
    int code = action->run ? action->run(command) : run_tool(command, action);
    watch_stop(&watch);
    call_free(command->call);
    return code;
}

int command_memory(const struct arguments *arguments)
{
    struct memory_command command = {.rest = *arguments};
    const struct action *action = arguments->count ? find_action(arguments->values[0]) : NULL;
    if (!action) {
        return usage_error("memory needs add, get, list, search, delete, import, export, check or "
                           "backup");
    }
    command.rest.count--;
    command.rest.values++;
    command.json = take_flag(&command.rest, "--json");
    if (take_option(&command.rest, "--namespace", &command.space) < 0) {
        return EXIT_USAGE;
    }
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    if (!config_is_set("FORAGE_LOG_LEVEL") && !config_bool("DEBUG")) {
        log_set_level(LOG_LEVEL_WARN); /* a person wants the result, not the call's log line */
    }
    int signals = signals_open();
    command.app = open_app();
    code = command.app && signals >= 0 ? run_action(action, &command, signals) : EXIT_USAGE;
    app_free(command.app);
    return code;
}
