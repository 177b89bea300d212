/* Loads the configuration: collects what each source says, lets the strongest win, parses the
 * values and stores them for the rest of the program's life. */
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
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WARNINGS   64
#define ARENA_BYTES     MIB(32)
#define SHOWN_CHARS     60
#define LONGEST_MESSAGE 600

enum origin { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_COMMAND_LINE };

/* A name under which a variable may be set. */
struct name {
    const char *text;
    struct setting *setting;
    bool also;   /* the variable's second name */
    size_t line; /* where it stands in the file; 0: it does not */
};

struct setting {
    const struct variable *variable;
    const struct name *name; /* under which it was set; NULL: it was not */
    const char *raw;         /* as it was written */
    const char
        *passed_over; /* what the same source says under the second name, where both are set */
    enum origin origin;
    const char *origin_words;
    struct config_value value;
};

struct config {
    struct arena *arena;
    struct setting *settings; /* in the order of VARIABLES */
    struct name *names;       /* sorted */
    size_t name_count;
    const char *file;       /* that was read, or NULL */
    const char *file_place; /* that is read when it is there, or NULL */
    const char *otherwise;  /* "line 7: ..." of the file, as systemd would read it, or NULL */
    unsigned file_mode;
    const char *home;
    const char *warnings[MOST_WARNINGS];
    size_t warning_count;
};

static struct config *current;

/* ---- names ---- */

static struct name *find(const struct config *config, const char *text, size_t length)
{
    size_t low = 0;
    size_t high = config->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *here = config->names[middle].text;
        int order = strncmp(text, here, length);
        if (order == 0 && here[length] == '\0') {
            return &config->names[middle];
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

__attribute__((format(printf, 2, 3))) static void add_warning(struct config *config,
                                                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (config->warning_count < MOST_WARNINGS) {
        const char *text = arena_vprintf(config->arena, format, args);
        config->warnings[config->warning_count] = text;
        config->warning_count += text != NULL;
    }
    va_end(args);
}

static void warn_unknown(struct config *config, const char *name, size_t length, const char *where)
{
    struct text_guess guess;
    text_guess_start(&guess, name, length);
    for (size_t i = 0; i < config->name_count; i++) {
        text_guess_try(&guess, config->names[i].text, strlen(config->names[i].text));
    }
    add_warning(config, "unknown variable %.*s (%s)%s%s%s",
                (int)text_prefix(name, length, SHOWN_CHARS), name, where,
                guess.best ? "; did you mean " : "", guess.best ? guess.best : "",
                guess.best ? "?" : "");
}

/* "FORAGE_WORKERS must be an integer from 1 to 1024, but "many" came (environment)". */
static void put_wrong_value(struct text_out *out, const struct setting *setting)
{
    size_t length = strlen(setting->raw);
    text_putf(out, "%s must be ", setting->name->text);
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
    text_put(out, " came");
    if (setting->origin_words) {
        text_putf(out, " (%s)", setting->origin_words);
    }
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

/* Whether a secret is still what the documentation and `forage doctor` have in its place. */
static bool is_placeholder(struct config *config, const struct name *name, const char *value,
                           const char *where)
{
    if (!name->setting->variable->secret || !strstr(value, "YOUR-KEY")) {
        return false;
    }
    add_warning(config, "%s counts as not set: it holds the example's words, and no key (%s)",
                name->text, where);
    return true;
}

/* Notes what a source says under a name. Sources come in the order of their strength. Within one,
 * the variable's first name wins over its second; of the same name the first counts in an
 * environment, as getenv has it, and the last in a file. */
static void take(const struct name *name, const char *value, enum origin origin)
{
    struct setting *setting = name->setting;
    bool again = setting->origin == origin;
    if (setting->origin > origin || is_empty(value)) {
        return;
    }
    if (again && name != setting->name) {
        setting->passed_over = name->also ? value : setting->raw;
        if (name->also) {
            return;
        }
    } else if (again && origin != FROM_FILE) {
        return;
    }
    setting->name = name;
    setting->raw = value;
    setting->origin = origin;
}

/* A comment behind a value is one in our own file; systemd and Docker hand it over with the value.
 */
static void warn_comment(struct config *config, const struct name *name, const char *value,
                         enum origin origin)
{
    const char *sign = strstr(value, " #");
    if (origin == FROM_ENVIRONMENT && (sign || strstr(value, "\t#"))) {
        add_warning(config,
                    "%s holds a \"#\" behind a blank (environment): systemd and Docker take a "
                    "comment behind a value for a part of it; give the comment a line of its own",
                    name->text);
    }
}

/* Takes "KEY=value" lines. */
static void take_environment(struct config *config, char *const *environment, enum origin origin)
{
    static const char OURS[] = "FORAGE_";
    for (char *const *entry = environment; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals) {
            continue;
        }
        size_t length = (size_t)(equals - *entry);
        const struct name *name = find(config, *entry, length);
        if (name && is_reference(equals + 1)) {
            add_warning(config,
                        "%s counts as not set: it holds a reference that whoever started forage "
                        "did not replace by a value",
                        name->text);
        } else if (name && !is_placeholder(config, name, equals + 1, "environment")) {
            warn_comment(config, name, equals + 1, origin);
            take(name, equals + 1, origin);
        } else if (!name && strncmp(*entry, OURS, sizeof OURS - 1) == 0) {
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

static void take_entry(struct config *config, const struct envfile_entry *entry, bool *readable)
{
    const char *where = arena_printf(config->arena, "%s:%zu", config->file, entry->line);
    struct name *name = find(config, entry->key, strlen(entry->key));
    if (!where) {
        return; /* the arena reports that it failed */
    }
    if (!name) {
        warn_unknown(config, entry->key, strlen(entry->key), where);
        return;
    }
    if (strcmp(entry->key, "FORAGE_CONFIG") == 0) {
        add_warning(config, "%s has no effect inside the file (%s)", entry->key, where);
        return;
    }
    if (name->line) {
        add_warning(config, "%s is set a second time, which holds (%s)", entry->key, where);
    }
    name->line = entry->line;
    if (is_placeholder(config, name, entry->value, where)) {
        return;
    }
    take(name, entry->value, FROM_FILE);
    if (name->setting->variable->secret && *readable) {
        add_warning(config, "%s holds %s and others can read it (mode %04o); run: chmod 600 %s",
                    config->file, entry->key, config->file_mode, config->file);
        *readable = false; /* one such warning is enough */
    }
}

/* The file that FORAGE_CONFIG names, which must be there, or the usual one, which need not. NULL
 * with OK: there is no place to look. */
static int find_file(struct config *config, char *const *environment, const char **path,
                     bool *named)
{
    static const char NAME[] = "FORAGE_CONFIG";
    const struct setting *setting = find(config, NAME, sizeof NAME - 1)->setting;
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
    config->file_place = path;
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
    bool readable = config->file_mode & CONFIG_OTHERS_MAY_READ;
    for (size_t i = 0; i < file.count; i++) {
        take_entry(config, &file.entries[i], &readable);
        if (file.entries[i].otherwise && !config->otherwise) {
            config->otherwise = arena_printf(config->arena, "line %zu: %s", file.entries[i].line,
                                             file.entries[i].otherwise);
        }
    }
    return arena_failed(config->arena) ? ERR_NOMEM : OK;
}

/* ---- values ---- */

static int name_origin(struct config *config, struct setting *setting)
{
    static const char *const WORDS[] = {[FROM_DEFAULT] = "default",
                                        [FROM_ENVIRONMENT] = "environment",
                                        [FROM_COMMAND_LINE] = "command line"};
    setting->origin_words =
        setting->origin == FROM_FILE
            ? arena_printf(config->arena, "%s:%zu", config->file, setting->name->line)
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
    if (status == OK && setting->passed_over && !variable->shared &&
        strcmp(setting->passed_over, setting->raw) != 0) {
        add_warning(config, "%s is ignored, since %s is set too (%s)", variable->also,
                    variable->name, setting->origin_words);
    }
    if (status != ERR_INVALID) {
        return status;
    }
    char text[LONGEST_MESSAGE];
    struct text_out out;
    text_start(&out, text, sizeof text);
    put_wrong_value(&out, setting);
    bool forgiven = variable->shared && (!variable->also || setting->name->also);
    if (!forgiven) {
        buf_printf(problem, "%s\n", text);
        return ERR_INVALID;
    }
    add_warning(config, "%s; it is ignored", text);
    setting->raw = NULL;
    setting->name = NULL;
    setting->origin = FROM_DEFAULT;
    return read_setting(config, setting, problem);
}

/* The password in a URL, which others may tell without the rest. */
static int keep_password(const char *text, enum secret_kind kind)
{
    const char *scheme = strstr(text, "://");
    const char *user = scheme ? scheme + 3 : "";
    const char *at = memchr(user, '@', strcspn(user, "/?#"));
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    char *password = colon ? strndup(colon + 1, (size_t)(at - colon - 1)) : NULL;
    int status = !colon ? OK : password ? redact_add(password, kind) : ERR_NOMEM;
    free(password);
    return status;
}

static int keep_secret(const struct setting *setting)
{
    int status = OK;
    enum secret_kind kind = setting->variable->unsent ? SECRET_KEPT : SECRET_SENT;
    if (setting->variable->kind != VARIABLE_LIST) {
        const char *text = setting->value.text;
        status = text ? redact_add(text, kind) : OK;
        return text && status == OK ? keep_password(text, kind) : status;
    }
    for (size_t i = 0; i < setting->value.item_count && status == OK; i++) {
        const char *item = setting->value.items[i];
        const char *colon = strchr(item, ':');
        status = redact_add(colon ? colon + 1 : item, kind);
    }
    return status;
}

static struct setting *find_upstream(const struct config *config, const char *item, size_t length,
                                     struct text_guess *guess)
{
    text_guess_start(guess, item, length);
    for (size_t i = VARIABLE_COUNT; i < VARIABLES_AND_UPSTREAMS; i++) {
        const char *name = VARIABLES[i].upstream;
        if (strlen(name) == length && memcmp(name, item, length) == 0) {
            return &config->settings[i];
        }
        text_guess_try(guess, name, strlen(name));
    }
    return NULL;
}

/* One "name=URL" of FORAGE_UPSTREAMS. The variable that is of this service alone wins. */
static int take_upstream(struct config *config, const struct setting *all, const char *item,
                         struct buf *problem)
{
    struct text_guess guess;
    size_t length = strcspn(item, "=");
    struct setting *setting = find_upstream(config, item, length, &guess);
    if (!setting || !item[length] || is_empty(item + length + 1)) {
        char words[LONGEST_MESSAGE];
        struct text_out out;
        text_start(&out, words, sizeof words);
        text_put(&out, "FORAGE_UPSTREAMS must hold NAME=URL for each service, but ");
        text_put_quoted(&out, item, strlen(item), SHOWN_CHARS);
        text_putf(&out, " came (%s)", all->origin_words);
        if (!setting) {
            text_putf(&out, "%s%s", guess.best ? "; did you mean " : "; there is no such service",
                      guess.best ? guess.best : "");
            text_put(&out, guess.best ? "?" : "");
        }
        buf_printf(problem, "%s\n", words);
        return ERR_INVALID;
    }
    if (!setting->raw) {
        setting->name = all->name;
        setting->raw = item + length + 1;
        setting->origin = all->origin;
    }
    return OK;
}

static int take_upstreams(struct config *config, struct buf *problem)
{
    static const char NAME[] = "FORAGE_UPSTREAMS";
    const struct setting *all = find(config, NAME, sizeof NAME - 1)->setting;
    int result = OK;
    for (size_t i = 0; i < all->value.item_count; i++) {
        int status = take_upstream(config, all, all->value.items[i], problem);
        result = status == OK ? result : status;
    }
    return result;
}

static int read_and_keep(struct config *config, struct setting *setting, struct buf *problem)
{
    int status = read_setting(config, setting, problem);
    return status == OK && setting->variable->secret ? keep_secret(setting) : status;
}

/* Upstreams come last: one of the others says where they are. */
static int read_settings(struct config *config, struct buf *problem)
{
    int result = OK;
    for (size_t i = 0; i < config->name_count; i++) {
        struct setting *setting = config->names[i].setting;
        bool later = config->names[i].also || setting->variable->upstream;
        int status = later ? OK : read_and_keep(config, setting, problem);
        result = status == OK ? result : status;
    }
    result = result == OK ? take_upstreams(config, problem) : result;
    for (size_t i = VARIABLE_COUNT; i < VARIABLES_AND_UPSTREAMS; i++) {
        int status = read_and_keep(config, &config->settings[i], problem);
        result = status == OK ? result : status;
    }
    return result;
}

/* ---- loading ---- */

static struct config *free_config(struct config *config)
{
    if (config) {
        arena_free(config->arena);
        free(config);
    }
    return NULL;
}

static struct config *make_config(void)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) {
        return NULL;
    }
    config->arena = arena_new(ARENA_BYTES);
    if (config->arena) {
        config->settings =
            arena_zalloc(config->arena, VARIABLES_AND_UPSTREAMS * sizeof *config->settings);
        config->names = arena_alloc(config->arena, VARIABLE_NAME_COUNT * sizeof *config->names);
    }
    if (!config->settings || !config->names) {
        return free_config(config);
    }
    for (size_t i = 0; i < VARIABLES_AND_UPSTREAMS; i++) {
        config->settings[i].variable = &VARIABLES[i];
    }
    for (; config->name_count < VARIABLE_NAME_COUNT; config->name_count++) {
        const struct variable_name *name = &VARIABLE_NAMES[config->name_count];
        const struct variable *variable = &VARIABLES[name->variable];
        config->names[config->name_count] =
            (struct name){.text = name->also ? variable->also : variable->name,
                          .setting = &config->settings[name->variable],
                          .also = name->also};
    }
    return config;
}

int config_load(char *const *environment, char *const *overrides, struct buf *problem)
{
    struct config *config = make_config();
    if (!config) {
        buf_puts(problem, "out of memory\n");
        return ERR_NOMEM;
    }
    const char *home = look_up(environment, "HOME");
    config->home = home && *home ? arena_strdup(config->arena, home) : NULL;
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
    current = free_config(current);
    current = config;
    return OK;
}

void config_unload(void)
{
    current = free_config(current);
}

/* ---- asking ---- */

/* The program itself uses the first name of a variable only. */
static const struct setting *require(const char *text)
{
    const struct name *name = current ? find(current, text, strlen(text)) : NULL;
    bool sound = name && !name->also;
    assert(sound && "the variable is declared and the configuration is loaded");
    if (!sound) {
        abort(); /* also where assertions are compiled out */
    }
    return name->setting;
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

int64_t config_bytes(const char *name)
{
    return require_kind(name, 1u << VARIABLE_SIZE)->number;
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

const char *config_name_used(const char *name)
{
    const struct setting *setting = require(name);
    return setting->name ? setting->name->text : NULL;
}

const char *config_name_told(const char *name)
{
    const char *used = config_name_used(name);
    return used ? used : name;
}

bool config_passed_over(const char *name)
{
    return require(name)->passed_over != NULL;
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

const char *config_file_place(void)
{
    return current ? current->file_place : NULL;
}

const char *config_file_otherwise(void)
{
    return current ? current->otherwise : NULL;
}

const char *config_file(void)
{
    return current ? current->file : NULL;
}
