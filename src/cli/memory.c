/* `forage memory ...`: memories for people. What a tool does is done by the tool, as any client
 * would call it; the result is printed as text, or as it is with --json. */
#include "cli/memory.h"

#include "cli/terminal.h"
#include "cli/watch.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "core/signals.h"
#include "memory/memory.h"

#include <stdio.h>
#include <string.h>

#define BAR_WIDTH 30

/* ---- telling ---- */

void memory_command_bar(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total <= 0) {
        terminal_progress("%s", message);
        return;
    }
    double part = done < total ? done / total : 1;
    int filled = (int)(part * BAR_WIDTH);
    terminal_progress("[%.*s%.*s] %3.0f %% %s", filled, "##############################",
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

/* What to do, by its name. */
static const struct action {
    const char *name;
    const char *tool; /* NULL: a function of its own */
    const char *rest; /* the parameter that takes what is not an option */
    bool several;     /* of them, as an array; otherwise they are joined by spaces */
    void (*print)(struct buf *out, yyjson_mut_val *data);
    int (*run)(struct memory_command *command);
} ACTIONS[] = {
    {"add", "memory_add", "text", false, print_changed, NULL},
    {"get", "memory_get", "keys", true, print_texts, NULL},
    {"list", "memory_list", NULL, false, print_list, NULL},
    {"search", "memory_search", "query", false, print_hits, NULL},
    {"delete", "memory_delete", "keys", true, print_deleted, NULL},
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

/* Every option of the command itself is a parameter: "--created-at" is created_at. */
static int add_options(const struct memory_command *command, yyjson_mut_doc *doc,
                       yyjson_mut_val *object)
{
    const struct option *option = arguments_command(command->arguments)->options;
    for (; option->name; option++) {
        int64_t number;
        const char *value = option_text(command->arguments, option->name);
        char *name = arena_strdup(call_arena(command->call), option->name + 2);
        if (!name) {
            return EXIT_FAILED;
        }
        for (char *at = name; *at; at++) {
            *at = *at == '-' ? '_' : *at;
        }
        if (value && strcmp(option->value, "N") == 0) {
            option_number(command->arguments, option->name, &number);
            yyjson_mut_obj_add_int(doc, object, name, number);
        } else if (value) {
            yyjson_mut_obj_add_str(doc, object, name, value);
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

/* The words become the parameter that takes them. */
static void add_words(const struct memory_command *command, const struct action *action,
                      yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    struct arena *arena = call_arena(command->call);
    const struct arguments *arguments = command->arguments;
    if (!action->rest) {
        return;
    }
    if (action->several) {
        yyjson_mut_val *list = yyjson_mut_arr(doc);
        for (int i = 0; i < arguments->count; i++) {
            yyjson_mut_arr_add_str(doc, list, arguments->words[i]);
        }
        yyjson_mut_obj_add_val(doc, object, action->rest, list);
        return;
    }
    const char *text = arguments->count ? arguments->words[0] : read_input(arena);
    for (int i = 1; i < arguments->count && text; i++) {
        text = arena_printf(arena, "%s %s", text, arguments->words[i]);
    }
    json_add_string(doc, object, action->rest, text);
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
    int code = add_options(command, doc, object);
    if (code != EXIT_OK) {
        return code;
    }
    add_words(command, action, doc, object);
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
    options.parts = app_parts(command->app);
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
    struct memory_command command = {
        .arguments = arguments,
        .space = option_text(arguments, "--namespace"),
        .json = option_given(arguments, "--json"),
    };
    const struct action *action = find_action(arguments_command(arguments)->name);
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    if (!config_is_set("FORAGE_LOG_LEVEL") && !config_bool("FORAGE_DEBUG")) {
        log_set_level(LOG_LEVEL_WARN); /* a person wants the result, not the call's log line */
    }
    int signals = signals_open();
    command.app = open_app();
    code = command.app && signals >= 0 ? run_action(action, &command, signals) : EXIT_USAGE;
    app_free(command.app);
    return code;
}
