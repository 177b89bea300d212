/* `forage completions`: prints the scripts of completions/, all of them small, and is the one place
 * that knows what can stand where - the program itself, which the scripts ask. So what is offered
 * is what this program takes, with these settings, and the shells cannot differ.
 *
 * The answer to a question is lines of CANDIDATE <tab> MEANING; the line ":files" or ":folders"
 * leaves it to the shell to offer those. */
#include "cli/cli.h"
#include "core/limits.h"
#include "embedded.h"
#include "experiment/experiment.h"
#include "setup/clients.h"

#include <stdio.h>
#include <string.h>

/* ---- what can stand in a place ---- */

/* The line as far as it is typed. */
struct typed_line {
    struct arguments read; /* the command that is meant, and the options that were given */
    struct buf out;
    const char *prefix;   /* what is typed of the word, its option and = taken off */
    const char *current;  /* all that is typed of it */
    const char *words[8]; /* those that are no options, as many as fit */
    int count;
};

static void offer(struct typed_line *line, const char *candidate, size_t length, const char *ending,
                  const char *meaning)
{
    size_t typed = strlen(line->prefix);
    if (strncmp(candidate, line->prefix, typed < length ? typed : length) != 0 || typed > length) {
        return;
    }
    buf_append(&line->out, line->current, strlen(line->current) - typed);
    buf_append(&line->out, candidate, length);
    buf_printf(&line->out, "%s\t%s\n", ending, meaning);
}

static void offer_choices(struct typed_line *line, const char *choices)
{
    while (*choices) {
        size_t length = strcspn(choices, "|");
        offer(line, choices, length, "", "");
        choices += length + (choices[length] == '|');
    }
}

static void offer_parts(struct typed_line *line, const struct command *command)
{
    for (const struct command *part = command->parts; part && part->name; part++) {
        offer(line, part->name, strlen(part->name), "", part->summary);
    }
}

static void offer_options(struct typed_line *line)
{
    for (int depth = line->read.depth - 1; depth >= 0; depth--) {
        const struct option *options = command_options(line->read.path[depth]);
        for (int i = 0; options[i].name; i++) {
            if (!line->read.given[depth][i]) {
                offer(line, options[i].name, strlen(options[i].name), "", options[i].help);
            }
        }
    }
}

/* ---- what only the settings in force can tell ---- */

static void offer_tools(struct typed_line *line)
{
    struct app *app = load_configuration() == EXIT_OK ? open_app() : NULL;
    const struct registry *registry = app ? app->registry : NULL;
    for (size_t i = 0; registry && i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        offer(line, entry->name, strlen(entry->name), "", entry->title ? entry->title : "");
    }
    app_free(app);
}

/* The parameters of the tool that is named, each as "name=". */
static void offer_parameters(struct typed_line *line)
{
    struct app *app = load_configuration() == EXIT_OK ? open_app() : NULL;
    const struct entry *entry = app ? registry_tool(app->registry, line->words[0]) : NULL;
    yyjson_val *properties = entry ? yyjson_obj_get(entry->input_schema, "properties") : NULL;
    size_t index, max;
    yyjson_val *key, *property;
    yyjson_obj_foreach(properties, index, max, key, property)
    {
        const char *meaning = json_string(property, "description");
        offer(line, yyjson_get_str(key), yyjson_get_len(key), "=", meaning ? meaning : "");
    }
    app_free(app);
}

static void offer_experiments(struct typed_line *line)
{
    struct app *app = load_configuration() == EXIT_OK ? open_app() : NULL;
    const struct experiment *experiment;
    for (size_t i = 0; app && (experiment = experiments_at(app->parts.experiments, i)); i++) {
        offer(line, experiment->name, strlen(experiment->name), "",
              experiment->about ? experiment->about : "");
    }
    app_free(app);
}

/* The commands below those that `forage help` already has. */
static void offer_topics(struct typed_line *line)
{
    const struct command *command = &COMMAND_ROOT;
    for (int i = 0; i < line->count && command; i++) {
        command = command_part(command, line->words[i]);
    }
    if (command) {
        offer_parts(line, command);
    }
}

static void offer_clients(struct typed_line *line)
{
    for (size_t i = 0; i < CLIENT_COUNT; i++) {
        offer(line, CLIENTS[i].id, strlen(CLIENTS[i].id), "", CLIENTS[i].title);
    }
}

static void offer_files(struct typed_line *line)
{
    buf_puts(&line->out, ":files\n");
}

static void offer_folders(struct typed_line *line)
{
    buf_puts(&line->out, ":folders\n");
}

/* What a value or a word is called, and what can be offered for it. */
static const struct {
    const char *name;
    void (*offer)(struct typed_line *line);
} KINDS[] = {
    {"FILE", offer_files},
    {"FOLDER", offer_folders},
    {"TOOL", offer_tools},
    {"CLIENT", offer_clients},
    {"COMMAND", offer_topics},
    {"key=value|key:=json", offer_parameters},
    {"EXPERIMENT", offer_experiments},
};

static void offer_kind(struct typed_line *line, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strncmp(KINDS[i].name, name, length) == 0 && !KINDS[i].name[length]) {
            KINDS[i].offer(line);
            return;
        }
    }
    char choices[128];
    if (memchr(name, '|', length) && length < sizeof choices) {
        snprintf(choices, sizeof choices, "%.*s", (int)length, name);
        offer_choices(line, choices);
    }
}

/* The word that is next, by its name in the command's words: "TOOL [key=value]..." */
static void offer_word(struct typed_line *line)
{
    const char *at = arguments_command(&line->read)->words;
    for (int place = 0; at && *at; place++) {
        const char *name = at + (*at == '[');
        size_t length = strcspn(name, *at == '[' ? "]" : " ");
        at = name + length;
        at += strcspn(at, " ");
        at += strspn(at, " ");
        bool repeats = length > 3 && strncmp(name + length - 3, "...", 3) == 0;
        if (place == line->count || !*at) {
            offer_kind(line, name, repeats ? length - 3 : length);
            return;
        }
    }
}

/* ---- reading the line ---- */

/* Reads a finished word; the option whose value is still to come, or NULL. */
static const struct option *read_word(struct typed_line *line, const char *word, bool *only_words)
{
    struct option_place place;
    if (!*only_words && strcmp(word, "--") == 0) {
        *only_words = true;
        return NULL;
    }
    if (!*only_words && strncmp(word, "--", 2) == 0) {
        const struct option *option = option_find(&line->read, word, strcspn(word, "="), &place);
        if (option) {
            line->read.given[place.depth][place.index] = word;
        }
        return option && option->value && !strchr(word, '=') ? option : NULL;
    }
    const struct command *part = command_part(arguments_command(&line->read), word);
    if (part && line->read.depth < COMMAND_DEEPEST) {
        line->read.path[line->read.depth++] = part;
    } else if (line->count < (int)(sizeof line->words / sizeof *line->words)) {
        line->words[line->count++] = word;
    }
    return NULL;
}

static void complete_line(struct typed_line *line, int count, char **words)
{
    bool only_words = false;
    struct option_place place;
    const struct option *waiting = NULL;
    for (int i = 0; i < count - 1; i++) {
        waiting = waiting ? NULL : read_word(line, words[i], &only_words);
    }
    line->current = line->prefix = count ? words[count - 1] : "";
    const char *equals = strchr(line->current, '=');
    if (!waiting && !only_words && equals && strncmp(line->current, "--", 2) == 0) {
        waiting = option_find(&line->read, line->current, (size_t)(equals - line->current), &place);
        line->prefix = equals + 1;
        if (!waiting) {
            return;
        }
    }
    if (waiting) {
        offer_kind(line, waiting->value ? waiting->value : "",
                   waiting->value ? strlen(waiting->value) : 0);
    } else if (!only_words && line->current[0] == '-') {
        offer_options(line);
    } else if (!arguments_command(&line->read)->parts) {
        offer_word(line);
    } else if (line->count == 0) {
        offer_parts(line, arguments_command(&line->read));
    }
}

int command_completions(const struct arguments *arguments)
{
    static const struct {
        const char *shell;
        const char *script;
    } SCRIPTS[] = {
        {"bash", completions_bash}, {"zsh", completions_zsh}, {"fish", completions_fish}};
    const char *what = arguments->words[0];
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++) {
        if (strcmp(what, SCRIPTS[i].shell) == 0 && arguments->count == 1) {
            return fputs(SCRIPTS[i].script, stdout) >= 0 && fflush(stdout) == 0 ? EXIT_OK
                                                                                : EXIT_FAILED;
        }
    }
    if (strcmp(what, "line") != 0) {
        return usage_error("completions are for bash, zsh or fish, not \"%s\"", what);
    }
    struct typed_line line = {.read = {.path = {&COMMAND_ROOT}, .depth = 1}};
    buf_init(&line.out, KIB(256));
    complete_line(&line, arguments->count - 1, arguments->words + 1);
    return print_buf(&line.out, WORDS_OURS);
}
