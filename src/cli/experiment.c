/* `forage experiment`: what is tried out here, and what came of it. */
#include "experiment/experiment.h"

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/event.h"
#include "core/limits.h"
#include "experiment/results.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* ---- the table of one ---- */

static yyjson_mut_val *member(yyjson_mut_val *object, const char *name)
{
    return yyjson_mut_obj_get(object, name);
}

/* A number as people read it, or a dash for one that nobody knows. */
static const char *shown(struct arena *arena, const struct metric_about *metric,
                         yyjson_mut_val *number)
{
    return yyjson_mut_is_num(number)
               ? arena_printf(arena, "%.4g%s", yyjson_mut_get_num(number) * metric->scale,
                              metric->unit)
               : "-";
}

static bool has_values(yyjson_mut_val *arms, const char *metric)
{
    size_t index, most;
    yyjson_mut_val *arm;
    yyjson_mut_arr_foreach(arms, index, most, arm)
    {
        if (number_of(member(member(arm, "metrics"), metric), "n")) {
            return true;
        }
    }
    return false;
}

/* The rows of one metric. */
static void add_metric(struct table *table, struct arena *arena, yyjson_mut_val *arms,
                       const struct metric_about *metric)
{
    size_t index, most;
    yyjson_mut_val *arm;
    yyjson_mut_arr_foreach(arms, index, most, arm)
    {
        yyjson_mut_val *found = member(member(arm, "metrics"), metric->name);
        table_add(table,
                  (const char *const[]){
                      index ? "" : metric->name, text_of(arm, "arm"),
                      arena_printf(arena, "%lld", (long long)number_of(found, "n")),
                      shown(arena, metric, member(found, "estimate")),
                      shown(arena, metric, member(found, "low")),
                      shown(arena, metric, member(found, "high")), index ? "" : metric->what});
    }
}

static void put_head(struct buf *out, yyjson_mut_val *result)
{
    size_t index, most;
    yyjson_mut_val *tool;
    buf_printf(out, "%s%s%s: ", terminal_style(stdout, STYLE_HEADING), text_of(result, "name"),
               terminal_style(stdout, STYLE_PLAIN));
    yyjson_mut_arr_foreach(member(result, "tool"), index, most, tool)
    {
        buf_printf(out, "%s%s", index ? ", " : "", yyjson_mut_get_str(tool));
    }
    buf_printf(out, "; %s decides, %s is better; ", text_of(result, "metric"),
               text_of(result, "better"));
    buf_printf(out, "%lld %ss of each arm; %s\n\n", (long long)number_of(result, "sample"),
               text_of(result, "unit"), text_of(result, "status"));
}

/* "B against A: 0.81 times, from 0.7 to 0.94 (95 %)". */
static void put_pairs(struct buf *out, yyjson_mut_val *difference,
                      const struct metric_about *metric)
{
    size_t index, most;
    yyjson_mut_val *pair;
    bool ratio = strcmp(text_of(difference, "as"), "ratio") == 0;
    double scale = ratio ? 1 : metric->scale;
    yyjson_mut_arr_foreach(member(difference, "pairs"), index, most, pair)
    {
        buf_printf(out, "%s against %s: ", text_of(pair, "arm"), text_of(pair, "against"));
        if (!yyjson_mut_is_num(member(pair, "low"))) {
            buf_puts(out, "too little to compare\n");
            continue;
        }
        double low = scale * yyjson_mut_get_num(member(pair, "low"));
        double high = scale * yyjson_mut_get_num(member(pair, "high"));
        double estimate = scale * yyjson_mut_get_num(member(pair, "estimate"));
        double level = 100 * yyjson_mut_get_num(member(difference, "level"));
        if (ratio) {
            buf_printf(out, "%.3g times, from %.3g to %.3g (%.4g %%)\n", estimate, low, high,
                       level);
        } else {
            buf_printf(out, "%+.3g%s, from %+.3g to %+.3g (%.4g %%)\n", estimate, metric->unit, low,
                       high, level);
        }
    }
}

static int print_experiment(struct arena *arena, yyjson_mut_val *result)
{
    static const struct table_column COLUMNS[] = {
        {"metric", COLUMN_LEFT}, {"arm", COLUMN_LEFT},
        {"n", COLUMN_RIGHT},     {"estimate", COLUMN_RIGHT},
        {"from", COLUMN_RIGHT},  {"to (95 %)", COLUMN_RIGHT},
        {"", COLUMN_CUT}};
    enum metric decides = metric_named(text_of(result, "metric"));
    yyjson_mut_val *arms = member(result, "arms");
    struct table *table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct buf out;
    buf_init(&out, MIB(1));
    put_head(&out, result);
    add_metric(table, arena, arms, &METRIC_TABLE[decides]);
    for (int i = 0; i < METRICS; i++) {
        if (i != (int)decides && has_values(arms, METRIC_TABLE[i].name)) {
            add_metric(table, arena, arms, &METRIC_TABLE[i]);
        }
    }
    int status = table_put(&out, table, stdout);
    buf_putc(&out, '\n');
    put_pairs(&out, member(result, "difference"), &METRIC_TABLE[decides]);
    buf_printf(&out, "verdict: %s (%s)\n", text_of(result, "verdict"), text_of(result, "why"));
    if (number_of(result, "passed_over")) {
        buf_printf(&out, "%lld trials of other versions of its file do not count.\n",
                   (long long)number_of(result, "passed_over"));
    }
    int code = print_buf(&out, WORDS_OURS);
    return status == OK ? code : EXIT_FAILED;
}

/* ---- all of them ---- */

static int print_list(struct arena *arena, yyjson_mut_val *list)
{
    static const struct table_column COLUMNS[] = {{"experiment", COLUMN_LEFT},
                                                  {"metric", COLUMN_LEFT},
                                                  {"status", COLUMN_LEFT},
                                                  {"verdict", COLUMN_LEFT},
                                                  {"", COLUMN_CUT}};
    size_t index, most;
    yyjson_mut_val *result;
    struct table *table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct buf out;
    if (!yyjson_mut_arr_size(list)) {
        fputs("forage: no experiment runs here; FORAGE_EXPERIMENTS names the files of those that "
              "do\n",
              stderr);
        return EXIT_OK;
    }
    yyjson_mut_arr_foreach(list, index, most, result)
    {
        table_add(table, (const char *const[]){text_of(result, "name"), text_of(result, "metric"),
                                               text_of(result, "status"),
                                               text_of(result, "verdict"), text_of(result, "why")});
    }
    buf_init(&out, MIB(1));
    return table_put(&out, table, stdout) == OK ? print_buf(&out, WORDS_OURS) : EXIT_FAILED;
}

static int refuse_experiment(const struct experiments *experiments, const char *name)
{
    struct text_guess guess;
    const struct experiment *experiment;
    text_guess_start(&guess, name, strlen(name));
    for (size_t i = 0; (experiment = experiments_at(experiments, i)) != NULL; i++) {
        text_guess_try(&guess, experiment->name, strlen(experiment->name));
    }
    return usage_error("no experiment \"%s\" runs here; %s%s", name,
                       guess.best ? guess.best : "`forage experiment list` shows those that do",
                       guess.best ? " is meant?" : "");
}

static int show_results(struct app *app, struct call *call, void *context)
{
    const struct arguments *given = context;
    struct arena *arena = call_arena(call);
    const char *name = given->count ? given->words[0] : NULL;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, all, "experiments");
    int status = doc ? experiments_add_results(call, name, doc, list) : ERR_NOMEM;
    if (status != OK) {
        call_fail_status(call, status);
        return print_call_error(call);
    }
    yyjson_mut_val *one = yyjson_mut_arr_get_first(list);
    if (name && !one) {
        return refuse_experiment(app->parts.experiments, name);
    }
    if (option_given(given, "--json")) {
        return print_json(arena, name ? one : all, WORDS_OURS);
    }
    return name ? print_experiment(arena, one) : print_list(arena, list);
}

/* ---- checking a file ---- */

static int check_file(struct app *app, struct call *call, void *context)
{
    const struct arguments *given = context;
    struct experiment experiment;
    char problem[LIMIT_ERROR_CHARS] = "out of memory";
    if (experiment_read(call_arena(call), app->registry, given->words[0], &experiment, problem,
                        sizeof problem) != OK) {
        fprintf(stderr, "forage: %s\n", problem);
        return EXIT_USAGE;
    }
    if (option_given(given, "--json")) {
        yyjson_mut_doc *doc = json_new(call_arena(call));
        return print_json(call_arena(call), experiment_describe(doc, &experiment), WORDS_OURS);
    }
    struct buf out;
    buf_init(&out, KIB(8));
    buf_printf(&out, "%s is right: %s tries ", given->words[0], experiment.name);
    for (size_t i = 0; i < experiment.arm_count; i++) {
        buf_printf(&out, "%s%s", i ? ", " : "", experiment.arms[i].name);
    }
    buf_puts(&out, " with ");
    for (size_t i = 0; i < experiment.tool_count; i++) {
        buf_printf(&out, "%s%s", i ? ", " : "", experiment.tools[i]);
    }
    buf_printf(&out, ", on %.4g %% of all %ss, %zu for each arm; %s decides, %s is better\n",
               100 * experiment.share, UNIT_NAMES[experiment.unit], experiment.sample,
               METRIC_TABLE[experiment.metric].name, experiment.higher ? "higher" : "lower");
    return print_buf(&out, WORDS_OURS);
}

/* ---- the command ---- */

/* Checks it in a program with which nothing is tried. An exit code. */
static int check_bare(struct arguments *given)
{
    int signals = signals_open(); /* before there are threads, which inherit what is blocked */
    struct app *app = open_app_without_experiments();
    if (!app || signals < 0) {
        app_free(app);
        return EXIT_USAGE;
    }
    struct call_options options = run_options(NULL);
    return run_call(app, signals, &options, check_file, given);
}

int command_experiment(const struct arguments *arguments)
{
    struct arguments given = *arguments;
    struct call_options options = run_options(NULL);
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    return strcmp(arguments_command(arguments)->name, "check") == 0
               ? check_bare(&given)
               : run_in_app(&options, show_results, &given);
}
