/* `forage research`: the report of deep_search or, quickly, of search; and the research that goes
 * on or is kept: its list, its end, and whoever works on it. */
#include "call/errors.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/clock.h"
#include "core/limits.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <string.h>

#define MOST_LISTED 300

/* ---- the report ---- */

/* A job that is not over: what to type to see its end. */
static int print_handle(const struct tool_run *run)
{
    const char *warning = text_of(run->result, "warning");
    struct buf out;
    buf_init(&out, KIB(4));
    buf_printf(&out, "%s\n", text_of(run->result, "job"));
    int code = print_buf(&out, WORDS_OURS);
    fprintf(stderr, "forage: it is %s; `forage research --attach %.8s` waits for its report\n",
            text_of(run->result, "status"), text_of(run->result, "job"));
    if (*warning) {
        fprintf(stderr, "forage: %s\n", warning);
    }
    return code;
}

static int print_report(const struct tool_run *run)
{
    struct buf text;
    const char *path = option_text(run->given, "--out");
    const struct report_form *form = path ? report_form(path) : NULL;
    yyjson_mut_val *metadata = yyjson_mut_obj_get(run->result, "metadata");
    int code = EXIT_FAILED;
    if (*text_of(run->result, "job")) {
        return print_handle(run);
    }
    if (form) {
        code = report_save(form, path, call_arena(run->call), run->result);
    } else if (!path) {
        buf_init(&text, LIMIT_CALL_ARENA_BYTES);
        report_write_markdown(&text, call_arena(run->call), run->result);
        code = print_buf(&text, WORDS_FROM_OUTSIDE);
    }
    print_notes(yyjson_mut_obj_get(metadata, "warnings"), "");
    return code;
}

/* ---- the jobs ---- */

struct research_listing {
    struct arena *arena;
    yyjson_mut_doc *doc;
    yyjson_mut_val *jobs; /* for --json */
    struct table *table;
    const char *wanted; /* the beginning of an id, or NULL */
    const char *found;  /* the id that begins so; "" where several do */
    size_t count;
};

static const char *age_of(struct arena *arena, int64_t then_ms)
{
    int64_t seconds = (clock_wall_ms() - then_ms) / 1000;
    return seconds < 120    ? arena_printf(arena, "%lld s", (long long)seconds)
           : seconds < 7200 ? arena_printf(arena, "%lld min", (long long)seconds / 60)
                            : arena_printf(arena, "%lld h", (long long)seconds / 3600);
}

static void take_job(void *context, const struct job_view *view)
{
    struct research_listing *listing = context;
    listing->count++;
    if (listing->wanted) {
        bool begins = strncmp(view->id, listing->wanted, strlen(listing->wanted)) == 0;
        listing->found = !begins ? listing->found : listing->found ? "" : view->id;
        return;
    }
    const char *question = registry_query_of(view->arguments);
    int64_t rounds = yyjson_get_sint(yyjson_obj_get(view->state, "rounds"));
    yyjson_mut_arr_append(listing->jobs, jobs_describe(listing->doc, view));
    table_add(listing->table,
              (const char *const[]){view->id, view->tool, job_status_word(view->status),
                                    arena_printf(listing->arena, "%lld", (long long)rounds),
                                    age_of(listing->arena, view->created_ms),
                                    question ? question : ""});
}

static int print_jobs(struct app *app, struct call *call, void *context)
{
    static const struct table_column COLUMNS[] = {
        {"job", COLUMN_LEFT},     {"tool", COLUMN_LEFT}, {"status", COLUMN_LEFT},
        {"rounds", COLUMN_RIGHT}, {"age", COLUMN_RIGHT}, {"question", COLUMN_CUT}};
    const struct arguments *given = context;
    struct arena *arena = call_arena(call);
    struct research_listing listing = {
        .arena = arena,
        .doc = json_new(arena),
        .table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS),
    };
    (void)app;
    yyjson_mut_val *root = yyjson_mut_obj(listing.doc);
    listing.jobs = yyjson_mut_obj_add_arr(listing.doc, root, "jobs");
    int status = jobs_list(call, MOST_LISTED, take_job, &listing);
    if (status != OK) {
        call_fail_status(call, status);
        return print_call_error(call);
    }
    if (option_given(given, "--json")) {
        return print_json(arena, root, WORDS_FROM_OUTSIDE);
    }
    struct buf out;
    buf_init(&out, MIB(4));
    if (!listing.count) {
        fputs("forage: there is no research that is kept\n", stderr);
    }
    status = listing.count ? table_put(&out, listing.table, stdout) : OK;
    int code = print_buf(&out, WORDS_FROM_OUTSIDE);
    return status == OK ? code : EXIT_FAILED;
}

/* The job whose id begins so; NULL after call_fail(), where there is none, or several. */
static const char *find_job(struct call *call, const char *beginning)
{
    struct research_listing listing = {.arena = call_arena(call), .wanted = beginning};
    int status = jobs_list(call, MOST_LISTED, take_job, &listing);
    if (status != OK) {
        call_fail_status(call, status);
    } else if (!listing.found) {
        call_fail(call, CODE_NOT_FOUND,
                  "there is no job \"%s\"; `forage research --jobs` lists them", beginning);
    } else if (!*listing.found) {
        call_fail(call, CODE_VALIDATION, "several jobs begin with \"%s\"; give more of it",
                  beginning);
    }
    return call_error(call) ? NULL : listing.found;
}

static int cancel_job(struct app *app, struct call *call, void *context)
{
    const struct arguments *given = context;
    const char *id = find_job(call, option_text(given, "--cancel"));
    bool removed;
    (void)app;
    if (!id) {
        return print_call_error(call);
    }
    int status = jobs_end(call, id, &removed);
    if (status != OK) {
        call_fail_status(call, status);
        return print_call_error(call);
    }
    fprintf(stderr, "forage: it is %s\n", removed ? "over, and was removed" : "cancelled");
    return EXIT_OK;
}

static void add_job(struct tool_run *run)
{
    const char *id = find_job(run->call, option_text(run->given, "--attach"));
    json_add_string(run->doc, run->parameters, "job", id);
}

static void add_research_parameters(struct tool_run *run)
{
    if (option_given(run->given, "--follow")) {
        add_follow(run, "deep_search", "search");
    }
}

/* Works on what nobody works on: research that was begun in the background by a process that has
 * ended since. */
static int work_off(struct app *app, struct call *call, void *context)
{
    (void)context;
    size_t taken = jobs_work_off(app->parts.jobs, call);
    fprintf(stderr, "forage: worked on %zu job%s\n", taken, taken == 1 ? "" : "s");
    return EXIT_OK;
}

/* ---- the command ---- */

/* What may stand beside one of the options that are about jobs. */
static int check_alone(const struct arguments *arguments, const char *option)
{
    static const char *const OTHERS[] = {"--jobs",       "--attach", "--cancel",
                                         "--work",       "--depth",  "--max-iterations",
                                         "--background", "--quick",  "--follow"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strcmp(OTHERS[i], option) != 0 && option_given(arguments, OTHERS[i])) {
            return usage_error("%s and %s cannot be given together", option, OTHERS[i]);
        }
    }
    return arguments->count ? usage_error("%s takes no topic", option) : EXIT_OK;
}

/* The option that is about jobs; NULL: there is none. */
static const char *job_option(const struct arguments *arguments)
{
    static const char *const OPTIONS[] = {"--jobs", "--attach", "--cancel", "--work"};
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
        if (option_given(arguments, OPTIONS[i])) {
            return OPTIONS[i];
        }
    }
    return NULL;
}

static int run_job_option(const struct arguments *arguments, const char *option)
{
    static const struct tool_command ATTACH = {.tool = "research_result",
                                               .add = add_job,
                                               .print = print_report,
                                               .quiet = true,
                                               .takes_long = true};
    int code = check_alone(arguments, option);
    if (code != EXIT_OK || strcmp(option, "--attach") == 0) {
        return code == EXIT_OK ? run_tool_command(&ATTACH, arguments, NULL) : code;
    }
    struct arguments given = *arguments;
    struct call_options options = run_options(NULL);
    code = load_configuration();
    log_quietly();
    return code != EXIT_OK ? code
                           : run_in_app(&options,
                                        strcmp(option, "--jobs") == 0     ? print_jobs
                                        : strcmp(option, "--cancel") == 0 ? cancel_job
                                                                          : work_off,
                                        &given);
}

int command_research(const struct arguments *arguments)
{
    static const char *const RENAMED[][2] = {{"--max-iterations", "maxIterations"}, {NULL}};
    bool quick = option_given(arguments, "--quick");
    const char *path = option_text(arguments, "--out");
    const char *about_jobs = job_option(arguments);
    if (path && option_given(arguments, "--json")) {
        return usage_error("--json prints; --out report.json saves the same");
    }
    if (path && !report_form(path)) { /* before it takes minutes */
        return EXIT_USAGE;
    }
    if (about_jobs) {
        return run_job_option(arguments, about_jobs);
    }
    if (!arguments->count) {
        return usage_error("a topic is missing; --jobs lists what runs and what is kept");
    }
    if (quick &&
        (option_text(arguments, "--depth") || option_text(arguments, "--max-iterations"))) {
        return usage_error("--quick is one round; --depth and --max-iterations are for more");
    }
    struct tool_command command = {.tool = quick ? "search" : "deep_search",
                                   .word = quick ? "query" : "topic",
                                   .renamed = RENAMED,
                                   .add = add_research_parameters,
                                   .print = print_report,
                                   .quiet = true,
                                   .takes_long = true};
    return run_tool_command(&command, arguments, NULL);
}
