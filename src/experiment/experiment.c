/* The experiments that run here: reads their files, gives calls their arms, and hands over what
 * came of them. */
#include "experiment/experiment.h"

#include "core/clock.h"
#include "experiment/assign.h"
#include "experiment/measure.h"
#include "experiment/recent.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct experiments {
    struct arena *arena; /* of what the files say */
    const struct ledger *ledger;
    struct recent *recent;
    struct experiment items[LIMIT_EXPERIMENTS];
    size_t count;
};

/* ---- what is tried with a call, in words ---- */

struct tried {
    char name[LIMIT_EXPERIMENT_NAME_CHARS + 1];
    char arm[LIMIT_EXPERIMENT_ARM_CHARS + 1];
    char version[ID_SIZE];
    char unit[2 * SHA256_SIZE + 1];
    int reformulates;
};

static const char *write_tried(struct arena *arena, const struct experiment *experiment,
                               const struct assigned *assigned, int reformulates)
{
    return arena_printf(arena, "%s/%s %s %s %d", experiment->name,
                        experiment->arms[assigned->arm].name, experiment->version, assigned->unit,
                        reformulates);
}

/* False where the experiment does not run any more as it did. */
static bool read_tried(const struct experiments *experiments, const char *text, struct tried *tried)
{
    if (sscanf(text, "%64[^/]/%32s %16s %64s %d", tried->name, tried->arm, tried->version,
               tried->unit, &tried->reformulates) != 5) {
        return false;
    }
    for (size_t i = 0; i < experiments->count; i++) {
        const struct experiment *experiment = &experiments->items[i];
        if (strcmp(experiment->name, tried->name) == 0 &&
            strcmp(experiment->version, tried->version) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- before a call ---- */

static bool is_about(const struct experiment *experiment, const struct entry *entry)
{
    for (size_t i = 0; i < experiment->tool_count; i++) {
        if (strcmp(experiment->tools[i], entry->name) == 0) {
            return experiment->until_ms == INT64_MAX || clock_wall_ms() < experiment->until_ms;
        }
    }
    return false;
}

/* Whether the unit of a call takes part, and with which arm. */
static bool assign_call(const struct experiment *experiment, struct call *call,
                        struct assigned *assigned)
{
    const char *caller = call_caller(call) ? call_caller(call)->name : "";
    const char *session = call_session(call);
    const char *unit = experiment->unit == UNIT_CALLER ? caller
                       : session ? arena_printf(call_arena(call), "%s\n%s", caller, session)
                                 : NULL;
    if (!unit) {
        return false;
    }
    assign_unit(experiment->salt, experiment->share, experiment->arm_count, unit, strlen(unit),
                assigned);
    return assigned->takes_part;
}

/* Adds the words of an argument, a text or a list of such; it has not been checked yet. */
static int add_words(const struct recent *recent, yyjson_val *value, struct recent_query *query)
{
    size_t index, most;
    yyjson_val *item;
    int status = yyjson_is_str(value) ? recent_add_words(recent, query, yyjson_get_str(value)) : OK;
    yyjson_arr_foreach(value, index, most, item)
    {
        if (status == OK && query->count < RECENT_WORDS && yyjson_is_str(item)) {
            status = recent_add_words(recent, query, yyjson_get_str(item));
        }
    }
    return status;
}

/* Whether the call words its unit's last search anew, or TRIAL_UNKNOWN. */
static int reformulates(struct experiments *experiments, const struct assigned *assigned,
                        yyjson_val *arguments)
{
    static const char *const NAMES[] = {"query", "topic", "queries"};
    struct recent_query query = {.count = 0};
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof NAMES / sizeof *NAMES; i++) {
        status = add_words(experiments->recent, yyjson_obj_get(arguments, NAMES[i]), &query);
    }
    return status == OK && query.count
               ? recent_take(experiments->recent, assigned->unit, &query, clock_now_ms())
               : TRIAL_UNKNOWN;
}

/* The arguments that a call has in an arm: those of the caller, and of the arm what the caller left
 * out; in the arena. NULL without memory. */
static yyjson_val *arguments_in(struct arena *arena, const struct experiment_arm *arm,
                                yyjson_val *given)
{
    size_t index, most;
    yyjson_val *key, *value;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *all = given ? json_copy(doc, given) : yyjson_mut_obj(doc);
    yyjson_obj_foreach(arm->arguments, index, most, key, value)
    {
        if (!yyjson_obj_get(given, yyjson_get_str(key))) {
            yyjson_mut_obj_add(all, json_copy(doc, key), json_copy(doc, value));
        }
    }
    return doc ? json_freeze(arena, all) : NULL;
}

static int begin(void *context, struct call *call, const struct entry *entry,
                 yyjson_val **arguments)
{
    struct experiments *experiments = context;
    struct assigned assigned;
    size_t at = 0;
    while (at < experiments->count && !(is_about(&experiments->items[at], entry) &&
                                        assign_call(&experiments->items[at], call, &assigned))) {
        at++;
    }
    if (at == experiments->count) {
        return OK;
    }
    const struct experiment *experiment = &experiments->items[at];
    const struct experiment_arm *arm = &experiment->arms[assigned.arm];
    const char *tried = write_tried(call_arena(call), experiment, &assigned,
                                    reformulates(experiments, &assigned, *arguments));
    if (arm->arguments && (!*arguments || yyjson_is_obj(*arguments))) {
        *arguments = arguments_in(call_arena(call), arm, *arguments);
        if (!*arguments) {
            return ERR_NOMEM;
        }
    }
    return tried ? call_try(call, tried) : ERR_NOMEM;
}

/* ---- after it ---- */

/* An answer that was stored is that of an earlier call, which was the trial. */
static void end(void *context, struct call *call, const struct entry *entry,
                const struct outcome *outcome)
{
    const struct experiments *experiments = context;
    struct tried tried;
    if (outcome->recalled || !read_tried(experiments, call_tried(call), &tried)) {
        return;
    }
    struct trial trial = {
        .experiment = tried.name,
        .version = tried.version,
        .arm = tried.arm,
        .unit = tried.unit,
        .tool = entry->name,
        .at_ms = clock_wall_ms(),
        .nano_usd = outcome->nano_usd >= 0 ? outcome->nano_usd : call_used(call).nano_usd,
        .reformulates = tried.reformulates,
    };
    measure_outcome(call, outcome, &trial);
    ledger_try(experiments->ledger, call, &trial);
}

/* ---- reading the files ---- */

struct loading {
    struct experiments *experiments;
    const struct experiments_options *options;
    char *problem;
    size_t size;
};

static int add_file(struct loading *loading, const char *path)
{
    struct experiments *experiments = loading->experiments;
    const struct experiments_options *options = loading->options;
    if (experiments->count == LIMIT_EXPERIMENTS) {
        snprintf(loading->problem, loading->size, "%s: there are more than %d experiments", path,
                 LIMIT_EXPERIMENTS);
        return ERR_INVALID;
    }
    struct experiment *made = &experiments->items[experiments->count];
    int status = experiment_read(experiments->arena, options->registry, path, made,
                                 loading->problem, loading->size);
    for (size_t i = 0; status == OK && i < experiments->count; i++) {
        if (strcmp(experiments->items[i].name, made->name) == 0) {
            snprintf(loading->problem, loading->size,
                     "%s: name: another file has an experiment \"%s\" too", path, made->name);
            status = ERR_INVALID;
        }
    }
    experiments->count += status == OK;
    return status;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int add_folder(struct loading *loading, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_json, alphasort);
    int status = count < 0 ? ERR_IO : OK;
    if (status != OK) {
        snprintf(loading->problem, loading->size, "%s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        const char *file = status == OK ? arena_printf(loading->experiments->arena, "%s/%s", path,
                                                       entries[i]->d_name)
                                        : NULL;
        status = status != OK ? status : file ? add_file(loading, file) : ERR_NOMEM;
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int compare_names(const void *left, const void *right)
{
    const struct experiment *a = left;
    const struct experiment *b = right;
    return strcmp(a->name, b->name);
}

static int load(struct loading *loading)
{
    struct experiments *experiments = loading->experiments;
    struct stat about;
    int status = OK;
    for (const char *const *place = loading->options->places; *place && status == OK; place++) {
        bool folder = stat(*place, &about) == 0 && S_ISDIR(about.st_mode);
        status = folder ? add_folder(loading, *place) : add_file(loading, *place);
    }
    qsort(experiments->items, experiments->count, sizeof *experiments->items, compare_names);
    return status;
}

/* ---- its life ---- */

struct experiments *experiments_new(const struct experiments_options *options, char *problem,
                                    size_t size)
{
    struct experiments *experiments = calloc(1, sizeof *experiments);
    struct loading loading = {experiments, options, problem, size};
    snprintf(problem, size, "out of memory");
    if (!experiments) {
        return NULL;
    }
    experiments->ledger = options->ledger;
    experiments->recent = recent_new();
    experiments->arena = arena_new(LIMIT_EXPERIMENT_ARENA_BYTES);
    if (!experiments->recent || !experiments->arena || load(&loading) != OK) {
        return experiments_free(experiments);
    }
    options->registry->trying = (struct trying){experiments, begin, end};
    return experiments;
}

struct experiments *experiments_free(struct experiments *experiments)
{
    if (experiments) {
        recent_free(experiments->recent);
        arena_free(experiments->arena);
        free(experiments);
    }
    return NULL;
}

const struct experiment *experiments_at(const struct experiments *experiments, size_t index)
{
    return experiments && index < experiments->count ? &experiments->items[index] : NULL;
}
