/* Makes the entry of a client: which command starts forage, which variables it gets, and the
 * members that say so. */
#include "setup/entry.h"

#include "config/variables.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/json.h"
#include "text/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNNER_MOST_ARGUMENTS 2

/* ---- which command ---- */

/* Places that a package runner clears when it likes, and what brings the program back. The packages
 * start `forage mcp` when they get no arguments. */
static const struct {
    const char *part; /* of the program's path */
    const char *runner;
    const char *arguments[RUNNER_MOST_ARGUMENTS];
} CACHES[] = {
    {"/_npx/", "npx", {"-y", "forage-mcp"}},
    {"/uv/archive-v", "uvx", {"forage-mcp"}},
    {"/uv/environments-v", "uvx", {"forage-mcp"}},
    {"/uv/builds-v", "uvx", {"forage-mcp"}},
};

/* Whether `found` starts this program: it is the same file, or the launcher that a package has put
 * beside it (PREFIX/bin/forage for what is below PREFIX/lib). */
static bool is_own(const char *found, const char *own)
{
    struct stat one;
    struct stat other;
    if (stat(found, &one) != 0 || stat(own, &other) != 0) {
        return false;
    }
    if (one.st_dev == other.st_dev && one.st_ino == other.st_ino) {
        return true;
    }
    const char *bin = strstr(found, "/bin/");
    size_t prefix = bin ? (size_t)(bin - found) : 0;
    return bin && !strchr(bin + strlen("/bin/"), '/') && strncmp(found, own, prefix) == 0 &&
           strncmp(own + prefix, "/lib/", strlen("/lib/")) == 0;
}

void launch_serve(struct launch *launch, const char *context)
{
    launch->arguments[launch->count++] = "mcp";
    launch->arguments[launch->count++] = "--context";
    launch->arguments[launch->count++] = context;
}

static void add_package(struct launch *launch, size_t cache)
{
    for (size_t i = 0; i < RUNNER_MOST_ARGUMENTS && CACHES[cache].arguments[i]; i++) {
        launch->arguments[launch->count++] = CACHES[cache].arguments[i];
    }
}

int launch_by_runner(const char *runner, const char *context, struct launch *launch)
{
    for (size_t i = 0; i < sizeof CACHES / sizeof *CACHES; i++) {
        if (strcmp(CACHES[i].runner, runner) == 0) {
            *launch = (struct launch){.command = CACHES[i].runner};
            add_package(launch, i);
            launch_serve(launch, context);
            return OK;
        }
    }
    return ERR_NOTFOUND;
}

int launch_choose(struct arena *arena, const char *given, bool absolute, const char *context,
                  struct launch *launch)
{
    char own[PATH_MAX];
    char found[PATH_MAX];
    *launch = (struct launch){.command = given};
    if (given) {
        launch_serve(launch, context);
        return OK;
    }
    if (!own_program(own, sizeof own)) {
        return ERR_IO;
    }
    for (size_t i = 0; i < sizeof CACHES / sizeof *CACHES; i++) {
        const char *runner = CACHES[i].runner;
        if (strstr(own, CACHES[i].part)) {
            bool whole = absolute && find_on_path(runner, found, sizeof found);
            launch->command = whole ? arena_strdup(arena, found) : runner;
            add_package(launch, i);
            launch_serve(launch, context);
            return launch->command ? OK : ERR_NOMEM;
        }
    }
    bool by_name = find_on_path("forage", found, sizeof found) && is_own(found, own);
    launch->command = by_name && !absolute ? "forage" : arena_strdup(arena, by_name ? found : own);
    launch_serve(launch, context);
    return launch->command ? OK : ERR_NOMEM;
}

/* ---- which variables ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Credentials of Claude Code itself are of use only where it is the research worker. */
static bool belongs_to_claude(const char *name)
{
    return strncmp(name, "ANTHROPIC_", strlen("ANTHROPIC_")) == 0 ||
           strncmp(name, "CLAUDE_", strlen("CLAUDE_")) == 0;
}

static bool is_useful(const struct variable *variable)
{
    const char *worker = getenv("FORAGE_RESEARCH_WORKER");
    if (variable->group == GROUP_CALLERS) {
        return false; /* tokens of callers are for a server of its own */
    }
    if (belongs_to_claude(variable->name) && !(worker && strcmp(worker, "claude") == 0)) {
        return false;
    }
    return variable->secret || ends_with(variable->name, "_URL") ||
           strcmp(variable->name, "FORAGE_UPSTREAMS") == 0;
}

void keys_from_environment(struct setup_keys *keys)
{
    keys->count = 0;
    for (size_t i = 0; i < VARIABLES_AND_UPSTREAMS && keys->count < LIMIT_SETUP_KEYS; i++) {
        if (is_useful(&VARIABLES[i]) && is_set(VARIABLES[i].name)) {
            keys->names[keys->count++] = VARIABLES[i].name;
        }
    }
}

static const char *find_variable(const char *name, size_t length, struct text_guess *guess)
{
    text_guess_start(guess, name, length);
    for (size_t i = 0; i < VARIABLES_AND_UPSTREAMS; i++) {
        const char *const names[] = {VARIABLES[i].name, VARIABLES[i].also, NULL};
        for (const char *const *known = names; *known; known++) {
            if (strlen(*known) == length && memcmp(*known, name, length) == 0) {
                return *known;
            }
            text_guess_try(guess, *known, strlen(*known));
        }
    }
    return NULL;
}

static bool has(const struct setup_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->names[i] == name) {
            return true;
        }
    }
    return false;
}

int keys_parse(struct setup_keys *keys, const char *list, char *problem, size_t size)
{
    keys->count = 0;
    while (*list) {
        struct text_guess guess;
        size_t length = strcspn(list, ",");
        const char *name = length ? find_variable(list, length, &guess) : NULL;
        if (length && (!name || keys->count == LIMIT_SETUP_KEYS)) {
            struct text_out out;
            text_start(&out, problem, size);
            text_put(&out, name ? "too many variables from " : "forage has no variable ");
            text_put_quoted(&out, list, length, 60);
            if (!name && guess.best) {
                text_putf(&out, "; did you mean %s?", guess.best);
            }
            return ERR_INVALID;
        }
        if (name && !has(keys, name)) {
            keys->names[keys->count++] = name;
        }
        list += length + (list[length] == ',');
    }
    return OK;
}

/* ---- which members ---- */

static const char TOOLS_VARIABLE[] = "FORAGE_TOOLS";
static const char PROVIDERS_VARIABLE[] = "FORAGE_SEARCH_PROVIDERS";

static const char *const OF_A_PROGRAM[] = {"command", "args", "env", "env_vars", "type", NULL};
static const char *const OF_A_URL[] = {
    "url", "httpUrl", "serverUrl", "headers", "http_headers", "bearer_token_env_var", "type", NULL};

struct entry_making {
    struct arena *arena;
    const struct client *client;
    const struct entry_request *request;
    struct setup_entry *entry;
    char *problem;
    size_t size;
};

static struct entry_member *add(struct entry_making *making, const char *name, enum entry_kind kind,
                                size_t count)
{
    struct entry_member *member = &making->entry->members[making->entry->count++];
    size_t bytes = (count ? count : 1) * sizeof(char *);
    *member = (struct entry_member){.name = name,
                                    .kind = kind,
                                    .names = arena_zalloc(making->arena, bytes),
                                    .values = arena_zalloc(making->arena, bytes),
                                    .count = count};
    return member;
}

static void set(struct entry_member *member, size_t index, const char *name, const char *value)
{
    if (member->names && member->values) {
        member->names[index] = name;
        member->values[index] = value;
    }
}

static void add_text(struct entry_making *making, const char *name, const char *text)
{
    if (text) {
        set(add(making, name, ENTRY_TEXT, 1), 0, NULL, text);
    }
}

/* What stands for a variable in the file: a reference, or its value where that was asked for. NULL
 * after saying why neither is possible. */
static const char *value_of(struct entry_making *making, const char *variable)
{
    char reference[256];
    const char *value = getenv(variable);
    if (making->request->with_values) {
        if (!value || !*value) {
            snprintf(making->problem, making->size,
                     "%s is not set here, so its value cannot be written", variable);
            return NULL;
        }
        return arena_strdup(making->arena, value);
    }
    if (!client_reference(making->client, variable, reference, sizeof reference)) {
        snprintf(making->problem, making->size,
                 "%s cannot refer to a variable here; --with-keys writes the value of %s itself",
                 making->client->title, variable);
        return NULL;
    }
    return arena_strdup(making->arena, reference);
}

/* Whether the keys stand in the table of variables: as values, or as references to them. */
static bool keys_are_pairs(const struct entry_making *making)
{
    enum client_reference reference = making->client->reference;
    return making->request->with_values ||
           (reference != REFERENCE_INHERITED && reference != REFERENCE_NONE &&
            reference != REFERENCE_NAMED);
}

static void add_named_keys(struct entry_making *making)
{
    const struct entry_request *request = making->request;
    struct entry_member *names = add(making, "env_vars", ENTRY_LIST, request->key_count);
    for (size_t i = 0; i < request->key_count; i++) {
        set(names, i, NULL, request->keys[i]);
    }
}

/* The variables that the client starts forage with. */
static int add_variables(struct entry_making *making)
{
    const struct entry_request *request = making->request;
    size_t pairs = keys_are_pairs(making) ? request->key_count : 0;
    size_t first = (request->tools ? 1u : 0u) + (request->providers ? 1u : 0u);
    if (request->key_count > 0 && pairs == 0 && making->client->reference == REFERENCE_NAMED) {
        add_named_keys(making);
    }
    if (first + pairs == 0) {
        return OK;
    }
    struct entry_member *table = add(making, "env", ENTRY_TABLE, first + pairs);
    if (request->tools) {
        set(table, 0, TOOLS_VARIABLE, request->tools);
        table->gives_way = TOOLS_VARIABLE;
    }
    if (request->providers) {
        set(table, first - 1, PROVIDERS_VARIABLE, request->providers);
    }
    for (size_t i = 0; i < pairs; i++) {
        const char *value = value_of(making, request->keys[i]);
        if (!value) {
            return ERR_UNSUPPORTED;
        }
        set(table, first + i, request->keys[i], value);
    }
    return OK;
}

static int add_program(struct entry_making *making)
{
    const struct launch *launch = &making->request->launch;
    add_text(making, "type", making->client->type_stdio);
    add_text(making, "command", launch->command);
    struct entry_member *arguments = add(making, "args", ENTRY_LIST, launch->count);
    for (size_t i = 0; i < launch->count; i++) {
        set(arguments, i, NULL, launch->arguments[i]);
    }
    making->entry->rivals = OF_A_URL;
    return add_variables(making);
}

static int add_token(struct entry_making *making)
{
    const struct entry_request *request = making->request;
    if (!request->token) {
        return OK;
    }
    if (making->client->reference == REFERENCE_NAMED && !request->with_values) {
        add_text(making, "bearer_token_env_var", request->token);
        return OK;
    }
    const char *value = value_of(making, request->token);
    if (!value) {
        return ERR_UNSUPPORTED;
    }
    const char *name = making->client->format == CLIENT_TOML ? "http_headers" : "headers";
    set(add(making, name, ENTRY_TABLE, 1), 0, "Authorization",
        arena_printf(making->arena, "Bearer %s", value));
    return OK;
}

static int add_url(struct entry_making *making)
{
    const struct client *client = making->client;
    if (!client->url_member) {
        snprintf(making->problem, making->size,
                 "%s does not take a server by its URL from this file", client->title);
        return ERR_UNSUPPORTED;
    }
    add_text(making, "type", client->type_http);
    add_text(making, client->url_member, making->request->url);
    making->entry->rivals = OF_A_PROGRAM;
    return add_token(making);
}

int entry_make(struct arena *arena, const struct client *client,
               const struct entry_request *request, struct setup_entry *entry, char *problem,
               size_t size)
{
    struct entry_making making = {arena, client, request, entry, problem, size};
    *entry = (struct setup_entry){0};
    int status = request->url ? add_url(&making) : add_program(&making);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

const struct entry_member *entry_member(const struct setup_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (strcmp(entry->members[i].name, name) == 0) {
            return &entry->members[i];
        }
    }
    return NULL;
}

/* ---- writing ---- */

static void put_list(struct buf *out, const struct entry_member *member)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < member->count; i++) {
        buf_puts(out, i ? ", " : "");
        json_put_string(out, member->values[i]);
    }
    buf_putc(out, ']');
}

void entry_put_json(struct buf *out, const struct entry_member *member)
{
    if (member->kind == ENTRY_TEXT) {
        json_put_string(out, member->values[0]);
    } else if (member->kind == ENTRY_LIST) {
        put_list(out, member);
    } else {
        buf_puts(out, "{\n");
        for (size_t i = 0; i < member->count; i++) {
            buf_puts(out, "  ");
            json_put_string(out, member->names[i]);
            buf_puts(out, ": ");
            json_put_string(out, member->values[i]);
            buf_puts(out, i + 1 < member->count ? ",\n" : "\n");
        }
        buf_putc(out, '}');
    }
}

/* Lines that stand one level deeper. */
static void put_deeper(struct buf *out, const struct buf *lines)
{
    for (size_t i = 0; i < lines->length; i++) {
        buf_putc(out, lines->data[i]);
        if (lines->data[i] == '\n') {
            buf_puts(out, "  ");
        }
    }
}

void entry_put_json_object(struct buf *out, const struct setup_entry *entry)
{
    struct buf value;
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    buf_puts(out, "{\n");
    for (size_t i = 0; i < entry->count; i++) {
        const struct entry_member *member = &entry->members[i];
        buf_puts(out, "  ");
        json_put_string(out, member->name);
        buf_puts(out, ": ");
        buf_clear(&value);
        entry_put_json(&value, member);
        put_deeper(out, &value);
        buf_puts(out, i + 1 < entry->count ? ",\n" : "\n");
    }
    buf_putc(out, '}');
    if (buf_error(&value) != OK) {
        out->error = buf_error(&value);
    }
    buf_done(&value);
}

/* JSON strings, and arrays of them, are TOML as well. */
void entry_put_toml(struct buf *out, const struct entry_member *member)
{
    if (member->kind != ENTRY_TABLE) {
        entry_put_json(out, member);
        return;
    }
    buf_puts(out, "{ ");
    for (size_t i = 0; i < member->count; i++) {
        buf_puts(out, i ? ", " : "");
        buf_printf(out, "%s = ", member->names[i]);
        json_put_string(out, member->values[i]);
    }
    buf_puts(out, " }");
}

void entry_put_toml_lines(struct buf *out, const struct setup_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++) {
        buf_printf(out, "%s = ", entry->members[i].name);
        entry_put_toml(out, &entry->members[i]);
        buf_putc(out, '\n');
    }
}
