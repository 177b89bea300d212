/* `forage experiment replay`: runs every arm of an experiment over a file of queries, here and now,
 * and compares them query by query. */
#include "cli/cli.h"
#include "cli/experiment.h"
#include "cli/terminal.h"
#include "core/event.h"
#include "core/files.h"
#include "core/limits.h"
#include "experiment/replay.h"
#include "text/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- the queries ---- */

struct queries {
    const char **items;
    size_t count;
};

/* One on each line; empty lines are passed over. An exit code, after saying what is wrong. */
static int split_lines(struct arena *arena, const char *path, char *text, struct queries *queries)
{
    size_t capacity = 0, number = 1;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL; number++) {
        line += strspn(line, " \t");
        size_t length = strlen(line);
        while (length && strchr(" \t\r", line[length - 1])) {
            line[--length] = '\0';
        }
        if (!text_is_utf8(line, length)) {
            return usage_error("%s, line %zu: it is not UTF-8", path, number);
        }
        if (length && queries->count == LIMIT_REPLAY_QUERIES) {
            return usage_error("%s holds more than %d queries", path, LIMIT_REPLAY_QUERIES);
        }
        const char **more = length ? arena_grow(arena, queries->items, queries->count, &capacity,
                                                sizeof *queries->items)
                                   : queries->items;
        if (length && more) {
            queries->items = more;
            more[queries->count++] = line;
        }
    }
    return arena_failed(arena) ? EXIT_FAILED : EXIT_OK;
}

static int read_queries(struct arena *arena, const char *path, struct queries *queries)
{
    struct buf text;
    buf_init(&text, LIMIT_REPLAY_BYTES);
    int status = read_whole(path, &text);
    int code = EXIT_OK;
    if (status != OK) {
        code = usage_error("%s: %s", path,
                           status == ERR_IO ? strerror(errno) : "it is longer than 16 MiB");
    } else if (memchr(text.data ? text.data : "", '\0', text.length)) {
        code = usage_error("%s holds a NUL character", path);
    }
    char *copy = code == EXIT_OK ? buf_to_arena(&text, arena) : NULL;
    buf_done(&text);
    if (code == EXIT_OK) {
        code = copy ? split_lines(arena, path, copy, queries) : EXIT_FAILED;
    }
    return code == EXIT_OK && !queries->count ? usage_error("%s holds no query", path) : code;
}

/* ---- one run ---- */

/* Ctrl-C reaches the command's own call; a thread passes it on to the one that runs. */
struct running {
    struct app *app;
    struct call *outer;
    const struct entry *entry;
    const char *parameter; /* that takes the query, */
    bool takes_list;       /* in a list of its own */
    int done;              /* an event: no more runs */
    pthread_t thread;
    pthread_mutex_t lock;
    struct call *current; /* or NULL */
    size_t refused;
    char problem[LIMIT_ERROR_CHARS]; /* of the first that was */
};

static void *pass_on(void *context)
{
    struct running *running = context;
    struct pollfd watched[] = {{.fd = call_cancel_fd(running->outer), .events = POLLIN},
                               {.fd = running->done, .events = POLLIN}};
    while (poll(watched, 2, -1) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&running->lock);
    if (running->current && call_cancelled(running->outer)) {
        call_cancel(running->current);
    }
    pthread_mutex_unlock(&running->lock);
    return NULL;
}

static void set_current(struct running *running, struct call *call)
{
    pthread_mutex_lock(&running->lock);
    running->current = call;
    if (call && call_cancelled(running->outer)) {
        call_cancel(call);
    }
    pthread_mutex_unlock(&running->lock);
}

static yyjson_val *arguments_of(const struct running *running, struct arena *arena,
                                const char *query)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    if (running->takes_list) {
        yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, object, running->parameter), query);
    } else {
        json_add_string(doc, object, running->parameter, query);
    }
    return doc ? json_freeze(arena, object) : NULL;
}

static void note_refusal(struct running *running, const struct call *call)
{
    const struct call_error *error = call_error(call);
    if (!running->refused++) {
        snprintf(running->problem, sizeof running->problem, "%s",
                 error ? error->message : "out of memory");
    }
}

static void run_query(struct running *running, struct replay *replay, const char *query)
{
    struct call_options options = run_options(NULL);
    struct reply reply;
    options.parts = &running->app->parts;
    options.asks_anew = true; /* an earlier answer is no run */
    options.hooks.progress = NULL;
    struct call *call = call_new(&options);
    yyjson_val *arguments = call ? arguments_of(running, call_arena(call), query) : NULL;
    if (arguments) {
        set_current(running, call);
        int status = registry_run(running->app->registry, running->entry, call, arguments, &reply);
        set_current(running, NULL);
        if (status != OK) {
            call_fail_status(call, status);
        }
    }
    if (!call_cancelled(running->outer) && !replay_end(replay)) {
        note_refusal(running, call);
    }
    call_free(call);
}

static void run_all(struct running *running, struct replay *replay, const struct queries *queries,
                    size_t runs)
{
    for (size_t i = 0; i < runs && !call_cancelled(running->outer); i++) {
        const char *query = queries->items[replay_begin(replay, i)];
        if (terminal_has_progress()) {
            terminal_progress("[%zu/%zu] %s", i + 1, runs, query);
        }
        run_query(running, replay, query);
    }
    terminal_progress_end();
}

/* ---- what came of it ---- */

/* What keeps it open; NULL: nothing does. */
static const char *open_reason(struct arena *arena, size_t whole, size_t queries)
{
    const char *words =
        whole < queries
            ? arena_printf(arena,
                           "%zu of %zu queries were run with every "
                           "arm",
                           whole, queries)
            : arena_printf(arena, "fewer than %d queries decide nothing", EXPERIMENT_LEAST_SAMPLE);
    bool open = whole < queries || queries < EXPERIMENT_LEAST_SAMPLE;
    return open ? (words ? words : "out of memory") : NULL;
}

static int print_replay(const struct running *running, const struct replay *replay,
                        const struct experiment *experiment, size_t queries, bool json)
{
    struct arena *arena = call_arena(running->outer);
    struct findings findings;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *result = doc ? experiment_describe(doc, experiment) : NULL;
    size_t whole = replay_find(replay, &findings);
    yyjson_mut_obj_add_uint(doc, result, "queries", queries);
    yyjson_mut_obj_add_uint(doc, result, "done", whole);
    yyjson_mut_obj_add_uint(doc, result, "refused", running->refused);
    experiment_add_findings(doc, arena, experiment, &findings, open_reason(arena, whole, queries),
                            result);
    if (running->refused) {
        fprintf(stderr, "forage: %zu calls were refused and say nothing; the first: %s\n",
                running->refused, running->problem);
    }
    if (arena_failed(arena)) {
        fputs("forage: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    return json ? print_json(arena, result, WORDS_OURS) : print_experiment(arena, result);
}

/* ---- the command ---- */

/* The parameter that says what is asked for; NULL: there is none. */
static const char *query_parameter(const struct entry *entry, bool *takes_list)
{
    static const char *const NAMES[] = {"query", "topic", "url", "keywords"};
    yyjson_val *properties = yyjson_obj_get(entry->input_schema, "properties");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        yyjson_val *property = yyjson_obj_get(properties, NAMES[i]);
        if (property) {
            *takes_list = yyjson_equals_str(yyjson_obj_get(property, "type"), "array");
            return NAMES[i];
        }
    }
    return NULL;
}

/* Which tool is run, and how it is asked. An exit code. */
static int choose_tool(struct running *running, const struct experiment *experiment,
                       const char *wanted)
{
    size_t at = 0;
    while (wanted && at < experiment->tool_count && strcmp(experiment->tools[at], wanted) != 0) {
        at++;
    }
    if (at == experiment->tool_count) {
        return usage_error("%s is not about %s", experiment->name, wanted);
    }
    running->entry = registry_tool(running->app->registry, experiment->tools[at]);
    running->parameter = query_parameter(running->entry, &running->takes_list);
    return running->parameter ? EXIT_OK : usage_error("%s takes no query", experiment->tools[at]);
}

static int run_and_print(struct running *running, const struct experiment *experiment,
                         const struct queries *queries, bool json)
{
    struct replay *replay = replay_new(&(struct replay_options){
        .experiment = experiment, .queries = queries->count, .registry = running->app->registry});
    running->done = event_open();
    pthread_mutex_init(&running->lock, NULL);
    int code = EXIT_FAILED;
    if (replay && running->done >= 0 && call_cancel_fd(running->outer) >= 0 &&
        pthread_create(&running->thread, NULL, pass_on, running) == 0) {
        run_all(running, replay, queries, queries->count * experiment->arm_count);
        event_signal(running->done);
        pthread_join(running->thread, NULL);
        code = print_replay(running, replay, experiment, queries->count, json);
    } else {
        fputs("forage: out of memory\n", stderr);
    }
    pthread_mutex_destroy(&running->lock);
    event_close(running->done);
    replay_free(replay);
    return code;
}

static int replay_in(struct app *app, struct call *call, void *context)
{
    const struct arguments *given = context;
    struct experiment experiment;
    struct queries queries = {0};
    struct running running = {.app = app, .outer = call, .done = -1};
    int code = read_experiment(app, call_arena(call), given->words[0], &experiment);
    code = code == EXIT_OK ? read_queries(call_arena(call), given->words[1], &queries) : code;
    code =
        code == EXIT_OK ? choose_tool(&running, &experiment, option_text(given, "--tool")) : code;
    return code == EXIT_OK
               ? run_and_print(&running, &experiment, &queries, option_given(given, "--json"))
               : code;
}

int command_experiment_replay(const struct arguments *arguments)
{
    struct arguments given = *arguments;
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    return run_bare(replay_in, &given);
}
