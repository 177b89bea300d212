/* What all workers have in common: how they are found, and what they see of our environment. */
#include "research/worker.h"

#include "config/config.h"
#include "config/variables.h"
#include "core/files.h"
#include "core/limits.h"
#include "research/own/own.h"
#include "text/json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_VARIABLES 512
#define MOST_ARGUMENTS 32

static const struct worker *const WORKERS[] = {&WORKER_GEMINI, &WORKER_CLAUDE};

bool worker_is_own(void)
{
    const char *name = config_text("FORAGE_RESEARCH_WORKER");
    char path[WORKER_PATH_SIZE];
    char words[1024];
    if (name) {
        return strcmp(name, "own") == 0;
    }
    if (config_text("FORAGE_MODEL")) {
        return true;
    }
    /* A path that the user gave is meant, even where nothing is there. */
    if (config_is_set(WORKER_GEMINI.path_variable)) {
        return false;
    }
    struct arena *arena = arena_new(MIB(1));
    bool own = arena && own_model(arena, words, sizeof words);
    arena_free(arena);
    return own && worker_find(&WORKER_GEMINI, path, words, sizeof words) != OK;
}

const struct worker *worker_chosen(void)
{
    const char *name = config_text("FORAGE_RESEARCH_WORKER");
    for (size_t i = 0; name && i < sizeof WORKERS / sizeof *WORKERS; i++) {
        if (strcmp(WORKERS[i]->name, name) == 0) {
            return WORKERS[i];
        }
    }
    return &WORKER_GEMINI;
}

/* ---- finding it ---- */

int worker_find(const struct worker *worker, char path[WORKER_PATH_SIZE], char *problem,
                size_t size)
{
    const char *named = config_text(worker->path_variable);
    const char *name = named ? named : worker->program;
    if (!strchr(name, '/') && find_on_path(name, path, WORKER_PATH_SIZE)) {
        return OK;
    }
    /* Absolute, because it is started in another folder than ours. */
    char whole[PATH_MAX];
    if (strchr(name, '/') && is_program(name) && realpath(name, whole) &&
        strlen(whole) < WORKER_PATH_SIZE) {
        snprintf(path, WORKER_PATH_SIZE, "%s", name[0] == '/' ? name : whole);
        return OK;
    }
    if (named) {
        snprintf(problem, size,
                 "%s names %s, which is no program that can be run; correct it, or %s",
                 config_name_used(worker->path_variable), named, worker->install);
    } else {
        snprintf(problem, size,
                 "%s is not installed: there is no `%s` on PATH; %s, or name it in %s; or let "
                 "forage research by itself: set FORAGE_MODEL=provider:name, or a key such as "
                 "OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY",
                 worker->title, worker->program, worker->install, worker->path_variable);
    }
    return ERR_NOTFOUND;
}

/* ---- its environment ---- */

/* What every worker sees: where it is at home, its language, and the way out. */
static const char *const COMMON[] = {
    "HOME",
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    /* Where the forage that it starts to read pages finds its own settings and its cache. */
    "FORAGE_CONFIG",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
};

static const char *const COMMON_BEGINNINGS[] = {"LC_", "FIRECRAWL_", NULL};

/* The forage that it starts answers with JSON, whole: pages are kept from its results, and one that
 * the worker cuts, or gets as a text, could not be read again. The name is no client's, since one
 * that is empty would leave the field to the configuration file. */
static const char *const FOR_READING[] = {"FORAGE_CONTEXT=research-worker", "FORAGE_PROFILE=all",
                                          "FORAGE_MAX_RESULT_CHARS=36000"};

struct environment {
    struct arena *arena;
    const char *entries[MOST_VARIABLES + 1];
    size_t count;
};

static bool is_named(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The first of a name stays. */
static void add(struct environment *environment, const char *entry)
{
    const char *equals = entry ? strchr(entry, '=') : NULL;
    if (!equals || environment->count == MOST_VARIABLES) {
        return;
    }
    for (size_t i = 0; i < environment->count; i++) {
        if (is_named(environment->entries[i], entry, (size_t)(equals - entry))) {
            return;
        }
    }
    environment->entries[environment->count++] = entry;
}

static bool begins_with_any(const char *entry, const char *const *beginnings)
{
    for (; *beginnings; beginnings++) {
        if (strncmp(entry, *beginnings, strlen(*beginnings)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_common(const char *entry)
{
    for (size_t i = 0; i < sizeof COMMON / sizeof *COMMON; i++) {
        if (is_named(entry, COMMON[i], strlen(COMMON[i]))) {
            return true;
        }
    }
    return begins_with_any(entry, COMMON_BEGINNINGS);
}

/* Settings of the reader of pages, which the worker starts; but no key of ours. Those of the
 * configuration file need not be passed on: that forage reads it again. */
static bool is_reader_setting(const char *entry)
{
    for (size_t i = 0; i < VARIABLES_AND_UPSTREAMS; i++) {
        const struct variable *variable = &VARIABLES[i];
        bool named = is_named(entry, variable->name, strlen(variable->name)) ||
                     (variable->also && is_named(entry, variable->also, strlen(variable->also)));
        if (named && !variable->secret &&
            (variable->group == GROUP_PAGES || variable->group == GROUP_BROWSER)) {
            return true;
        }
    }
    return false;
}

/* The worker's own variables that are declared, wherever they are set, by the name that the worker
 * knows. */
static void add_declared(struct environment *environment, const struct worker *worker)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable *variable = &VARIABLES[i];
        bool is_text = variable->kind == VARIABLE_TEXT || variable->kind == VARIABLE_PATH;
        const char *name = variable->also ? variable->also : variable->name;
        if (is_text && config_is_set(variable->name) &&
            (begins_with_any(name, worker->own_variables) ||
             begins_with_any(name, COMMON_BEGINNINGS))) {
            add(environment,
                arena_printf(environment->arena, "%s=%s", name, config_text(variable->name)));
        }
    }
}

static void collect(struct environment *environment, const struct worker *worker,
                    const struct worker_job *job)
{
    add(environment, arena_printf(environment->arena, "TMPDIR=%s", job->temporary->path));
    for (const char *const *setting = worker->settings; *setting; setting++) {
        add(environment, *setting);
    }
    if (job->is_one_search) {
        add(environment, "FORAGE_ONE_SEARCH=1");
    }
    for (size_t i = 0; i < sizeof FOR_READING / sizeof *FOR_READING; i++) {
        add(environment, FOR_READING[i]);
    }
    add_declared(environment, worker);
    for (char *const *entry = environ; *entry; entry++) {
        if (is_common(*entry) || begins_with_any(*entry, worker->own_variables) ||
            is_reader_setting(*entry)) {
            add(environment, *entry);
        }
    }
}

/* ---- starting it ---- */

/* Writes its arguments as the job wants them, behind its path. */
static void fill_arguments(const struct worker *worker, const struct worker_job *job,
                           const char *arguments[MOST_ARGUMENTS + 1])
{
    size_t count = 0;
    arguments[count++] = job->program;
    for (const char *const *each = worker->arguments; *each && count < MOST_ARGUMENTS; each++) {
        const char *servers = job->with_firecrawl ? "forage,firecrawl" : "forage";
        arguments[count++] = strcmp(*each, WORKER_MODEL) == 0     ? job->model
                             : strcmp(*each, WORKER_SERVERS) == 0 ? servers
                                                                  : *each;
    }
    arguments[count] = NULL;
}

int worker_start(struct call *call, const struct worker *worker, const struct worker_job *job,
                 struct proc **child)
{
    const char *arguments[MOST_ARGUMENTS + 1];
    struct environment *environment = arena_zalloc(call_arena(call), sizeof *environment);
    if (!environment) {
        return ERR_NOMEM;
    }
    environment->arena = call_arena(call);
    collect(environment, worker, job);
    fill_arguments(worker, job, arguments);
    if (arena_failed(environment->arena)) {
        return ERR_NOMEM;
    }
    struct proc_options options = {
        .arguments = arguments,
        .environment = environment->entries,
        .directory = job->folder,
        .input = job->prompt,
        .input_length = job->prompt_length,
        .scratch = job->temporary,
    };
    return proc_start(call, &options, child);
}

/* ---- what it writes ---- */

int worker_feed(const struct worker *worker, struct arena *scratch, const char *line, size_t length,
                const struct worker_sink *sink)
{
    yyjson_val *root = yyjson_doc_get_root(json_parse(scratch, line, length, NULL));
    const char *type = json_string(root, "type");
    struct worker_event printed = {.kind = WORKER_PRINTS, .text = line, .length = length};
    return type ? worker->read(root, type, sink) : sink->take(sink->context, &printed);
}

enum worker_trouble worker_trouble_in(const struct worker *worker, const char *line)
{
    return worker->trouble ? worker->trouble(line) : WORKER_NO_TROUBLE;
}

bool worker_read(const struct worker_reader *readers, const char *type, yyjson_val *value,
                 struct worker_event *event)
{
    while (readers->type && strcmp(readers->type, type) != 0) {
        readers++;
    }
    *event = (struct worker_event){.text = ""};
    return readers->type && readers->read(value, event);
}

void worker_set_text(struct worker_event *event, yyjson_val *value)
{
    event->text = yyjson_is_str(value) ? yyjson_get_str(value) : "";
    event->length = yyjson_is_str(value) ? yyjson_get_len(value) : 0;
}

bool worker_set_use(struct worker_event *event, const char *tool, const char *id,
                    yyjson_val *parameters)
{
    *event = (struct worker_event){
        .kind = WORKER_USES, .tool = tool, .id = id, .parameters = parameters, .text = ""};
    return tool && id;
}
