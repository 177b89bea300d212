/* Runs calls for people: the watch over signals, the way from options to the parameters of a tool,
 * and `forage call TOOL key=value...`, which takes the parameters as they are. */
#include "cli/tool_command.h"

#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/redact.h"
#include "guard/admission.h"
#include "guard/callers.h"
#include "jobs/jobs.h"
#include "proc/successor.h"
#include "text/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- watching a call ---- */

struct signal_watch {
    struct call *call;
    int signals;
    int done;
    int taken; /* the signal that ended the call, or 0 */
    pthread_t thread;
};

static void show_progress(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total > 0) {
        terminal_progress("[%.0f/%.0f] %s", done, total, message);
    } else {
        terminal_progress("%s", message);
    }
}

/* A signal cancels the call, which then ends what it started. Another one, a second later or more,
 * ends the program as it is: something does not notice that it is cancelled. */
static void *watch_signals(void *context)
{
    struct signal_watch *watch = context;
    int64_t cancelled_ms = 0;
    struct pollfd watched[] = {{.fd = watch->signals, .events = POLLIN},
                               {.fd = watch->done, .events = POLLIN}};
    for (;;) {
        int ready = poll(watched, 2, terminal_has_progress() ? TIME_PROGRESS_TICK_MS : -1);
        if (ready == 0) {
            terminal_progress_tick();
        }
        if (ready <= 0) {
            continue;
        }
        if (watched[1].revents) {
            return NULL;
        }
        int taken = signals_take(watch->signals);
        if (taken && !watch->taken) {
            watch->taken = taken;
            cancelled_ms = clock_now_ms();
            call_cancel(watch->call);
        } else if (taken && clock_now_ms() - cancelled_ms >= TIME_SECOND_SIGNAL_MS) {
            _exit(EXIT_SIGNAL + taken);
        }
    }
}

/* A person waits for as long as it takes, and has ctrl-C. */
static int64_t wait_for_ever(void *context)
{
    (void)context;
    return INT64_MAX;
}

struct call_options run_options(run_progress progress)
{
    struct call_options options = {.caller = caller_local(),
                                   .for_operator = true,
                                   .on_command_line = true,
                                   .hooks = {.patience = wait_for_ever}};
    if (terminal_has_progress()) {
        options.hooks.progress = progress ? progress : show_progress;
        options.hooks.shows_time = true;
    }
    return options;
}

void leave_jobs(void)
{
    static const char *const ARGUMENTS[] = {"forage", "research", "--work", NULL};
    if (successor_start(NULL, ARGUMENTS, command_settings()) != OK) {
        fputs("forage: what goes on in the background waits until another forage runs: no process "
              "could be started for it\n",
              stderr);
    }
}

/* Lets the body work on the call while a thread waits for signals. */
static int run_watched(struct app *app, struct call *call, int signals, run_body body,
                       void *context)
{
    struct signal_watch watch = {.call = call, .signals = signals, .done = event_open()};
    if (signals < 0 || watch.done < 0 ||
        pthread_create(&watch.thread, NULL, watch_signals, &watch) != 0) {
        fputs("forage: cannot watch for signals\n", stderr);
        event_close(watch.done);
        return EXIT_FAILED;
    }
    int code = body(app, call, context);
    event_signal(watch.done);
    pthread_join(watch.thread, NULL);
    event_close(watch.done);
    terminal_progress_end();
    return watch.taken ? EXIT_SIGNAL + watch.taken : code;
}

int run_call(struct app *app, int signals, const struct call_options *options, run_body body,
             void *context)
{
    int code = EXIT_FAILED;
    struct call_options ours = *options;
    char day[ADMISSION_DAY_SIZE];
    ours.parts = app ? &app->parts : options->parts;
    if (app && app->parts.experiments) { /* the commands of one day are one conversation */
        admission_day(clock_wall_ms(), day);
        ours.session = day;
    }
    struct call *call = call_new(&ours);
    if (call) {
        code = run_watched(app, call, signals, body, context);
    } else {
        fputs("forage: out of memory\n", stderr);
    }
    call_free(call);
    (void)fflush(
        stdout); /* who reads it need not wait for the rest; end_output() sees what fails */
    app_leave_programs(app);
    bool jobs_left = app && jobs_have_background(app->parts.jobs);
    app_free(app);
    if (jobs_left) {
        leave_jobs();
    }
    return code;
}

int run_in_app(const struct call_options *options, run_body body, void *context)
{
    int signals = signals_open(); /* before there are threads, which inherit what is blocked */
    struct app *app = open_app();
    if (!app || signals < 0) {
        app_free(app);
        return EXIT_USAGE;
    }
    return run_call(app, signals, options, body, context);
}

/* ---- results ---- */

const char *text_of(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));
    return text ? text : "";
}

int64_t number_of(yyjson_mut_val *object, const char *key)
{
    return yyjson_mut_get_sint(yyjson_mut_obj_get(object, key));
}

void print_notes(yyjson_mut_val *notes, const char *access)
{
    size_t index, most;
    yyjson_mut_val *note;
    yyjson_mut_arr_foreach(notes, index, most, note)
    {
        bool names = *access && index == 0;
        fprintf(stderr, "forage: %s%s%s\n", names ? access : "", names ? ": " : "",
                yyjson_mut_get_str(note));
    }
}

void tell_waiting(int fd, const char *what)
{
    if (isatty(fd)) {
        fprintf(stderr, "forage: waiting for %s; ctrl-D on a line of its own ends it\n", what);
    }
}

ssize_t read_waiting(struct call *call, int fd, char *data, size_t size)
{
    for (;;) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        int status = call_wait(call, &input, 1, -1);
        if (status < 0) {
            return status;
        }
        ssize_t count = read(fd, data, size);
        if (count >= 0) {
            return count;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return ERR_IO;
        }
    }
}

/* Says why the call failed, with this advice (NULL: none) in place of the tools of memory that the
 * message names to an agent. */
static int print_error(const struct call *call, const char *advice)
{
    const struct call_error *error = call_error(call);
    const char *message = error ? error->message : "the call failed";
    const char *tools = advice ? strstr(message, "; memory_") : NULL;
    struct buf text;
    buf_init(&text, KIB(64));
    buf_printf(&text, "forage: %.*s%s%s\n", (int)(tools ? tools - message : (long)strlen(message)),
               message, tools ? "; " : "", tools ? advice : "");
    redact_buf(&text, 0, WORDS_OURS);
    fputs(text.data ? text.data : "forage: out of memory\n", stderr);
    buf_done(&text);
    return EXIT_FAILED;
}

int print_call_error(const struct call *call)
{
    return print_error(call, NULL);
}

int refuse_tool(const struct registry *registry, const char *name)
{
    struct text_guess guess;
    text_guess_start(&guess, name, strlen(name));
    for (size_t i = 0; i < registry->tool_count; i++) {
        text_guess_try(&guess, registry->tools[i].name, strlen(registry->tools[i].name));
    }
    return usage_error("there is no tool \"%s\"; %s%s", name,
                       guess.best ? guess.best : "`forage tools` lists them",
                       guess.best ? " is meant?" : "");
}

/* ---- from options to parameters ---- */

/* The parameter that an option sets, if it sets one. */
static const char *parameter_of(const struct tool_command *command, const struct option *option,
                                struct arena *arena)
{
    for (size_t i = 0; command->renamed && command->renamed[i][0]; i++) {
        if (strcmp(command->renamed[i][0], option->name) == 0) {
            return command->renamed[i][1];
        }
    }
    char *name = arena_strdup(arena, option->name + strlen("--"));
    for (char *at = name; at && *at; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

/* "a.org,b.org" */
static void add_list(struct tool_run *run, const char *parameter, const char *value)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(run->doc, run->parameters, parameter);
    while (*value) {
        size_t length = strcspn(value, ",");
        if (length) {
            yyjson_mut_arr_add_strn(run->doc, list, value, length);
        }
        value += length + (value[length] == ',');
    }
}

static void add_options(struct tool_run *run, const struct tool_command *command,
                        yyjson_val *properties)
{
    const struct option *option = command_options(arguments_command(run->given));
    for (; option->name; option++) {
        const char *parameter = parameter_of(command, option, call_arena(run->call));
        yyjson_val *property = parameter ? yyjson_obj_get(properties, parameter) : NULL;
        const char *value = option_text(run->given, option->name);
        int64_t number = 0;
        if (!property || !option_given(run->given, option->name)) {
            continue;
        }
        if (!option->value) {
            yyjson_mut_obj_add_bool(run->doc, run->parameters, parameter, true);
        } else if (strcmp(option->value, "N") == 0) {
            option_number(run->given, option->name, &number);
            yyjson_mut_obj_add_int(run->doc, run->parameters, parameter, number);
        } else if (yyjson_equals_str(yyjson_obj_get(property, "type"), "array")) {
            add_list(run, parameter, value);
        } else {
            json_add_string(run->doc, run->parameters, parameter, value);
        }
    }
}

void add_follow(struct tool_run *run, const char *tool, const char *other)
{
    char *id = arena_alloc(call_arena(run->call), ID_SECRET_SIZE);
    int status = id ? jobs_last(run->call, tool, other, id) : ERR_NOMEM;
    if (status == OK) {
        json_add_string(run->doc, run->parameters, "follow_up_of", id);
    } else {
        call_fail_status(run->call, status);
    }
}

/* ---- running a tool ---- */

/* Says that an answer is not of now. */
static void tell_kept(const struct reply *reply)
{
    if (reply->kept_at_ms) {
        char age[32] = "a moment";
        long long seconds = (long long)(clock_wall_ms() - reply->kept_at_ms) / 1000;
        if (seconds > 1) {
            bool minutes = seconds >= 120;
            snprintf(age, sizeof age, "%lld %s", minutes ? seconds / 60 : seconds,
                     minutes ? "minutes" : "seconds");
        }
        fprintf(stderr,
                "forage: this answer is of %s ago (FORAGE_HISTORY keeps it); --again asks anew\n",
                age);
    }
}

/* Runs a tool with parameters that become JSON as a client would send it. */
static int run_entry(struct app *app, const struct entry *entry, struct call *call,
                     yyjson_mut_val *parameters, struct reply *reply)
{
    size_t length;
    struct json_problem problem = {.text = "not valid UTF-8, or too long"};
    const char *text = json_text(call_arena(call), parameters, &length);
    yyjson_doc *doc = text && length <= 2 * LIMIT_MESSAGE_BYTES
                          ? json_parse(call_arena(call), text, length, &problem)
                          : NULL;
    if (!doc) {
        return usage_error("the arguments are wrong: %s", problem.text);
    }
    yyjson_val *arguments = yyjson_doc_get_root(doc);
    int status = registry_run(app->registry, entry, call, arguments, reply);
    terminal_progress_end();
    if (status != OK) {
        fputs("forage: this tool has to ask its client something, which a command line cannot "
              "answer\n",
              stderr);
        return EXIT_FAILED;
    }
    tell_kept(reply);
    return EXIT_OK;
}

/* What a tool could not do is said by us, to the operator. */
static enum words words_of(const struct reply *reply)
{
    return reply->is_error ? WORDS_OURS : reply->words;
}

int run_tool(const struct tool_command *command, const struct arguments *given, struct app *app,
             struct call *call)
{
    struct reply reply;
    struct tool_run run = {.given = given, .call = call, .doc = json_new(call_arena(call))};
    const struct entry *entry = registry_tool(app->registry, command->tool);
    run.parameters = run.doc ? yyjson_mut_obj(run.doc) : NULL;
    if (!entry || !run.parameters) {
        return usage_error("%s is switched off; see FORAGE_TOOLS", command->tool);
    }
    if (command->word) {
        json_add_string(run.doc, run.parameters, command->word, given->words[0]);
    }
    add_options(&run, command, yyjson_obj_get(entry->input_schema, "properties"));
    if (command->add) {
        command->add(&run);
    }
    if (call_error(call)) {
        return print_call_error(call);
    }
    int code = run_entry(app, entry, call, run.parameters, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    run.result = reply.structured;
    bool failed = reply.is_error || yyjson_mut_get_bool(yyjson_mut_obj_get(run.result, "failed"));
    if (option_given(given, "--json")) {
        code = print_json(call_arena(call), run.result, words_of(&reply));
    } else {
        code = reply.is_error ? print_error(call, command->advice) : command->print(&run);
    }
    failed = failed || (command->fails && command->fails(&run));
    return failed ? EXIT_FAILED : code;
}

struct tool_task {
    const struct tool_command *command;
    const struct arguments *given;
};

static int run_task(struct app *app, struct call *call, void *context)
{
    const struct tool_task *task = context;
    return run_tool(task->command, task->given, app, call);
}

int run_tool_command(const struct tool_command *command, const struct arguments *given,
                     run_progress progress)
{
    struct tool_task task = {command, given};
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    if (command->takes_long && terminal_has_progress()) {
        log_only_errors();
    } else if (command->quiet) {
        log_quietly();
    }
    struct call_options options = run_options(progress);
    options.takes_any_size = command->takes_any_size;
    options.asks_anew = command->may_be_kept && option_given(given, "--again");
    return run_in_app(&options, run_task, &task);
}

/* ---- forage call ---- */

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
    if (*pair == '{') {
        return usage_error("a JSON object goes after --json");
    }
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

static int call_in(struct app *app, struct call *call, void *context)
{
    const struct arguments *given = context;
    struct arena *arena = call_arena(call);
    struct reply reply;
    const struct entry *entry = registry_tool(app->registry, given->words[0]);
    if (!entry) {
        return refuse_tool(app->registry, given->words[0]);
    }
    const char *whole = option_text(given, "--json");
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *parameters = parse_value(arena, doc, whole ? whole : "{}");
    if (!yyjson_mut_is_obj(parameters)) {
        return usage_error("--json wants a JSON object");
    }
    int code = EXIT_OK;
    for (int i = 1; i < given->count && code == EXIT_OK; i++) {
        code = add_pair(arena, entry, doc, parameters, given->words[i]);
    }
    if (code == EXIT_OK) {
        code = run_entry(app, entry, call, parameters, &reply);
    }
    if (code == EXIT_OK) {
        code = print_json(arena, reply.structured ? reply.structured : reply.content,
                          words_of(&reply));
        code = code == EXIT_OK && reply.is_error ? EXIT_FAILED : code;
    }
    return code;
}

int command_call(const struct arguments *arguments)
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    if (terminal_has_progress()) {
        log_quietly();
    }
    struct call_options options = run_options(NULL);
    struct arguments given = *arguments;
    options.asks_anew = option_given(arguments, "--again");
    return run_in_app(&options, call_in, &given);
}
