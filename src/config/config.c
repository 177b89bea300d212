/* Loading: collects what each source says, lets the strongest win, reads the values and keeps them.
 */
#include "config/config.h"

#include "config/envfile.h"
#include "config/values.h"
#include "config/variables.h"
#include "core/arena.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/status.h"
#include "text/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WARNINGS   64
#define ARENA_BYTES     MIB(32)
#define SHOWN_CHARS     60
#define LONGEST_MESSAGE 600

enum origin { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_COMMAND_LINE };

struct setting {
    const struct variable *variable;
    const char *raw; /* as it was written; NULL: not set */
    enum origin origin;
    size_t line; /* in the file */
    const char *origin_words;
    struct config_value value;
};

struct config {
    struct arena *arena;
    struct setting *settings; /* sorted by name */
    size_t count;
    const char *file; /* that was read, or NULL */
    unsigned file_mode;
    const char *home;
    const char *warnings[MOST_WARNINGS];
    size_t warning_count;
};

static struct config *current;

/* ---- names ---- */

static int compare_settings(const void *left, const void *right)
{
    const struct setting *a = left;
    const struct setting *b = right;
    return strcmp(a->variable->name, b->variable->name);
}

static struct setting *find(const struct config *config, const char *name, size_t length)
{
    size_t low = 0;
    size_t high = config->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *here = config->settings[middle].variable->name;
        int order = strncmp(name, here, length);
        if (order == 0 && here[length] == '\0') {
            return &config->settings[middle];
        }
        if (order > 0) {
            low = middle + 1;
        } else {
            high = middle; /* a longer name with this beginning comes later */
        }
    }
    return NULL;
}

/* ---- messages ---- */

static void add_warning(struct config *config, const char *text)
{
    if (config->warning_count < MOST_WARNINGS) {
        config->warnings[config->warning_count] = arena_strdup(config->arena, text);
        config->warning_count += config->warnings[config->warning_count] != NULL;
    }
}

static void warn_unknown(struct config *config, const char *name, size_t length, const char *where)
{
    char text[LONGEST_MESSAGE];
    struct text_out out;
    struct text_guess guess;
    text_guess_start(&guess, name, length);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        text_guess_try(&guess, VARIABLES[i].name, strlen(VARIABLES[i].name));
    }
    text_start(&out, text, sizeof text);
    text_put(&out, "unknown variable ");
    text_put_bytes(&out, name, text_prefix(name, length, SHOWN_CHARS));
    text_putf(&out, " (%s)", where);
    if (guess.best) {
        text_putf(&out, "; did you mean %s?", guess.best);
    }
    add_warning(config, text);
}

/* "FORAGE_WORKERS must be an integer from 1 to 1024, but "many" came (environment)". */
static void put_wrong_value(struct text_out *out, const struct setting *setting)
{
    size_t length = strlen(setting->raw);
    text_putf(out, "%s must be ", setting->variable->name);
    if (length > LIMIT_CONFIG_VALUE_BYTES) {
        text_put(out, "at most 32 KiB long");
    } else if (!text_is_utf8(setting->raw, length)) {
        text_put(out, "valid UTF-8");
    } else {
        value_put_allowed(out, setting->variable);
    }
    text_put(out, ", but ");
    if (setting->variable->secret) {
        text_putf(out, "a value of %zu characters", text_count(setting->raw, length));
    } else {
        text_put_quoted(out, setting->raw, length, SHOWN_CHARS);
    }
    text_putf(out, " came (%s)", setting->origin_words);
}

/* ---- sources ---- */

static bool is_empty(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Whether a client has handed its reference to a variable on as it stands, "${NAME}": the variable
 * is not set there, and this is not its value. */
static bool is_reference(const char *text)
{
    size_t length = strlen(text);
    return length > 3 && strncmp(text, "${", 2) == 0 && strcspn(text, "}") == length - 1;
}

static void warn_reference(struct config *config, const struct setting *setting)
{
    char text[LONGEST_MESSAGE];
    snprintf(text, sizeof text,
             "%s counts as not set: it holds a reference that whoever started forage did not "
             "replace by a value",
             setting->variable->name);
    add_warning(config, text);
}

/* Takes "KEY=value" lines. What is empty counts as not set; the first of two wins, as getenv has
 * it. */
static void take_environment(struct config *config, char *const *environment, enum origin origin)
{
    static const char OURS[] = "FORAGE_";
    for (char *const *entry = environment; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals) {
            continue;
        }
        size_t length = (size_t)(equals - *entry);
        struct setting *setting = find(config, *entry, length);
        if (setting && is_reference(equals + 1)) {
            warn_reference(config, setting);
        } else if (setting && setting->origin < origin && !is_empty(equals + 1)) {
            setting->raw = equals + 1;
            setting->origin = origin;
        } else if (!setting && strncmp(*entry, OURS, sizeof OURS - 1) == 0) {
            warn_unknown(config, *entry, length, "environment");
        }
    }
}

static const char *look_up(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (char *const *entry = environment; entry && *entry; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return NULL;
}

static void warn_in_file(struct config *config, size_t line, const char *name, const char *what)
{
    char text[LONGEST_MESSAGE];
    struct text_out out;
    text_start(&out, text, sizeof text);
    text_putf(&out, "%s %s (%s:%zu)", name, what, config->file, line);
    add_warning(config, text);
}

static void take_entry(struct config *config, const struct envfile_entry *entry)
{
    struct setting *setting = find(config, entry->key, strlen(entry->key));
    if (!setting) {
        char where[LONGEST_MESSAGE];
        struct text_out out;
        text_start(&out, where, sizeof where);
        text_putf(&out, "%s:%zu", config->file, entry->line);
        warn_unknown(config, entry->key, strlen(entry->key), where);
        return;
    }
    if (strcmp(entry->key, "FORAGE_CONFIG") == 0) {
        warn_in_file(config, entry->line, entry->key, "has no effect inside the file");
        return;
    }
    if (setting->line) {
        warn_in_file(config, entry->line, entry->key, "is set a second time, which holds");
    }
    setting->line = entry->line;
    if (setting->origin <= FROM_FILE && !is_empty(entry->value)) {
        setting->raw = entry->value;
        setting->origin = FROM_FILE;
    }
}

/* The file that FORAGE_CONFIG names, which must be there, or the usual one, which need not. NULL
 * with OK: there is no place to look. */
static int find_file(struct config *config, char *const *environment, const char **path,
                     bool *named)
{
    static const char NAME[] = "FORAGE_CONFIG";
    const struct setting *setting = find(config, NAME, sizeof NAME - 1);
    *path = NULL;
    *named = setting->raw != NULL;
    if (*named) {
        struct config_value value;
        int status =
            value_parse(setting->variable, setting->raw, config->home, config->arena, &value);
        *path = value.text;
        return status;
    }
    const char *folder = look_up(environment, "XDG_CONFIG_HOME");
    if (folder && folder[0] == '/') { /* a relative one is to be ignored, by its specification */
        *path = arena_printf(config->arena, "%s/forage/forage.env", folder);
    } else if (config->home) {
        *path = arena_printf(config->arena, "%s/.config/forage/forage.env", config->home);
    }
    return arena_failed(config->arena) ? ERR_NOMEM : OK;
}

static int take_file(struct config *config, char *const *environment, struct buf *problem)
{
    const char *path;
    bool named;
    char words[LONGEST_MESSAGE];
    struct envfile file = {0};
    int status = find_file(config, environment, &path, &named);
    if (status == ERR_INVALID) {
        buf_puts(problem, "FORAGE_CONFIG must be a path of valid UTF-8, at most 32 KiB long\n");
    }
    if (status != OK || !path) {
        return status;
    }
    status = envfile_read(config->arena, path, &file, &config->file_mode, words, sizeof words);
    if (status == ERR_NOTFOUND && !named) {
        return OK;
    }
    if (status != OK) {
        buf_printf(problem, "the configuration file %s%s: %s\n", path,
                   named ? " (FORAGE_CONFIG)" : "", words);
        return status == ERR_NOTFOUND ? ERR_IO : status;
    }
    config->file = path;
    for (size_t i = 0; i < file.count; i++) {
        take_entry(config, &file.entries[i]);
    }
    return OK;
}

/* ---- values ---- */

static int name_origin(struct config *config, struct setting *setting)
{
    static const char *const WORDS[] = {[FROM_DEFAULT] = "default",
                                        [FROM_ENVIRONMENT] = "environment",
                                        [FROM_COMMAND_LINE] = "command line"};
    setting->origin_words = setting->origin == FROM_FILE
                                ? arena_printf(config->arena, "%s:%zu", config->file, setting->line)
                                : WORDS[setting->origin];
    return setting->origin_words ? OK : ERR_NOMEM;
}

static int read_setting(struct config *config, struct setting *setting, struct buf *problem)
{
    const struct variable *variable = setting->variable;
    int status = name_origin(config, setting);
    if (status != OK) {
        return status;
    }
    status = value_parse(variable, setting->raw ? setting->raw : variable->preset, config->home,
                         config->arena, &setting->value);
    if (status != ERR_INVALID) {
        return status;
    }
    char text[LONGEST_MESSAGE];
    struct text_out out;
    text_start(&out, text, sizeof text);
    put_wrong_value(&out, setting);
    if (!variable->shared) {
        buf_printf(problem, "%s\n", text);
        return ERR_INVALID;
    }
    text_put(&out, "; it is ignored");
    add_warning(config, text);
    setting->raw = NULL;
    setting->origin = FROM_DEFAULT;
    return read_setting(config, setting, problem);
}

/* The password in a URL, which others may tell without the rest. */
static int keep_password(const char *text)
{
    const char *scheme = strstr(text, "://");
    const char *user = scheme ? scheme + 3 : "";
    const char *at = memchr(user, '@', strcspn(user, "/?#"));
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    char *password = colon ? strndup(colon + 1, (size_t)(at - colon - 1)) : NULL;
    int status = !colon ? OK : password ? redact_add(password) : ERR_NOMEM;
    free(password);
    return status;
}

static int keep_secret(const struct setting *setting)
{
    int status = OK;
    if (setting->variable->kind != VARIABLE_LIST) {
        const char *text = setting->value.text;
        status = text ? redact_add(text) : OK;
        return text && status == OK ? keep_password(text) : status;
    }
    for (size_t i = 0; i < setting->value.item_count && status == OK; i++) {
        const char *item = setting->value.items[i];
        const char *colon = strchr(item, ':');
        status = redact_add(colon ? colon + 1 : item);
    }
    return status;
}

static void warn_readable(struct config *config, const struct setting *setting)
{
    char text[LONGEST_MESSAGE];
    struct text_out out;
    text_start(&out, text, sizeof text);
    text_putf(&out, "%s holds %s and others can read it (mode %04o); run: chmod 600 %s",
              config->file, setting->variable->name, config->file_mode, config->file);
    add_warning(config, text);
}

static int read_settings(struct config *config, struct buf *problem)
{
    const unsigned others = 0044;
    bool warned = false;
    int result = OK;
    for (size_t i = 0; i < config->count; i++) {
        struct setting *setting = &config->settings[i];
        int status = read_setting(config, setting, problem);
        if (status == OK && setting->variable->secret) {
            status = keep_secret(setting);
        }
        if (setting->variable->secret && setting->line && !warned && config->file_mode & others) {
            warn_readable(config, setting);
            warned = true;
        }
        result = status == OK ? result : status;
    }
    return result;
}

/* ---- loading ---- */

static struct config *make_config(void)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) {
        return NULL;
    }
    config->arena = arena_new(ARENA_BYTES);
    if (config->arena) {
        config->settings = arena_zalloc(config->arena, VARIABLE_COUNT * sizeof *config->settings);
    }
    if (!config->settings) {
        arena_free(config->arena);
        free(config);
        return NULL;
    }
    config->count = VARIABLE_COUNT;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        config->settings[i].variable = &VARIABLES[i];
    }
    qsort(config->settings, config->count, sizeof *config->settings, compare_settings);
    return config;
}

static struct config *free_config(struct config *config)
{
    if (config) {
        arena_free(config->arena);
        free(config);
    }
    return NULL;
}

int config_load(char *const *environment, char *const *overrides, struct buf *problem)
{
    struct config *config = make_config();
    if (!config) {
        buf_puts(problem, "out of memory\n");
        return ERR_NOMEM;
    }
    const char *home = look_up(environment, "HOME");
    config->home = home && *home ? home : NULL;
    take_environment(config, overrides, FROM_COMMAND_LINE);
    take_environment(config, environment, FROM_ENVIRONMENT);
    int status = take_file(config, environment, problem);
    if (status == OK) {
        status = read_settings(config, problem);
    }
    if (status != OK) {
        if (problem->length == 0) {
            buf_printf(problem, "the configuration cannot be kept: %s\n", status_name(status));
        }
        free_config(config);
        return status;
    }
    config->home = NULL; /* the environment may change from here on */
    current = free_config(current);
    current = config;
    return OK;
}

void config_unload(void)
{
    current = free_config(current);
}

/* ---- asking ---- */

static const struct setting *require(const char *name)
{
    const struct setting *setting = current ? find(current, name, strlen(name)) : NULL;
    assert(setting && "the variable is declared and the configuration is loaded");
    if (!setting) {
        abort(); /* also where assertions are compiled out */
    }
    return setting;
}

static const struct config_value *require_kind(const char *name, unsigned kinds)
{
    const struct setting *setting = require(name);
    bool fits = kinds >> setting->variable->kind & 1;
    assert(fits && "the variable is of this kind");
    if (!fits) {
        abort();
    }
    return &setting->value;
}

const char *config_text(const char *name)
{
    return require_kind(name, 1u << VARIABLE_TEXT | 1u << VARIABLE_CHOICE | 1u << VARIABLE_PATH)
        ->text;
}

int64_t config_int(const char *name)
{
    return require_kind(name, 1u << VARIABLE_INTEGER)->number;
}

bool config_bool(const char *name)
{
    return require_kind(name, 1u << VARIABLE_BOOLEAN)->number != 0;
}

int64_t config_duration_ms(const char *name)
{
    return require_kind(name, 1u << VARIABLE_DURATION)->number;
}

const char *const *config_list(const char *name, size_t *count)
{
    const struct config_value *value = require_kind(name, 1u << VARIABLE_LIST);
    if (count) {
        *count = value->item_count;
    }
    return value->items;
}

const char *config_origin(const char *name)
{
    return require(name)->origin_words;
}

bool config_is_set(const char *name)
{
    return require(name)->origin != FROM_DEFAULT;
}

size_t config_warning_count(void)
{
    return current ? current->warning_count : 0;
}

const char *config_warning(size_t index)
{
    return current && index < current->warning_count ? current->warnings[index] : NULL;
}

const char *config_file(void)
{
    return current ? current->file : NULL;
}
