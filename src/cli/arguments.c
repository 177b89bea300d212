/* Reading arguments by the table of commands. */
#include "cli/arguments.h"

#include "cli/cli.h"
#include "text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SETTINGS 8

const struct option *command_options(const struct command *command)
{
    static const struct option NONE = {.name = NULL};
    return command->options ? command->options : &NONE;
}

const struct command *command_part(const struct command *command, const char *name)
{
    for (const struct command *part = command->parts; part && part->name; part++) {
        if (strcmp(part->name, name) == 0) {
            return part;
        }
    }
    return NULL;
}

const struct command *arguments_command(const struct arguments *arguments)
{
    return arguments->path[arguments->depth - 1];
}

bool option_is_choice(const char *value)
{
    return value && strchr(value, '|') != NULL;
}

void command_word_counts(const struct command *command, int *least, int *most)
{
    const char *at = command->words ? command->words : "";
    bool endless = false;
    *least = *most = 0;
    while (*at) {
        bool optional = *at == '[';
        size_t length = optional ? strcspn(at, "]") + 1 : strcspn(at, " ");
        length += strcspn(at + length, " ");
        endless = endless || (length > 3 && strncmp(at + length - 3, "...", 3) == 0);
        *least += optional ? 0 : 1;
        (*most)++;
        at += length;
        at += strspn(at, " ");
    }
    *most = endless ? -1 : *most;
}

/* ---- options ---- */

const struct option *option_find(const struct arguments *arguments, const char *name, size_t length,
                                 struct option_place *place)
{
    for (int depth = arguments->depth - 1; depth >= 0; depth--) {
        const struct option *options = command_options(arguments->path[depth]);
        for (int i = 0; options[i].name; i++) {
            if (strncmp(options[i].name, name, length) == 0 && !options[i].name[length]) {
                *place = (struct option_place){depth, i};
                return &options[i];
            }
        }
    }
    return NULL;
}

/* A mistake in the program: no run of it may pass. */
static const char *declared(const struct arguments *arguments, const char *name)
{
    struct option_place place;
    if (!option_find(arguments, name, strlen(name), &place)) {
        fprintf(stderr, "forage: %s does not declare %s\n", arguments_command(arguments)->name,
                name);
        abort();
    }
    return arguments->given[place.depth][place.index];
}

bool option_given(const struct arguments *arguments, const char *name)
{
    return declared(arguments, name) != NULL;
}

const char *option_text(const struct arguments *arguments, const char *name)
{
    return declared(arguments, name);
}

bool option_number(const struct arguments *arguments, const char *name, int64_t *number)
{
    const char *value = declared(arguments, name);
    if (value) {
        *number = strtoll(value, NULL, 10);
    }
    return value != NULL;
}

char *const *arguments_settings(const struct arguments *arguments)
{
    static char *settings[MOST_SETTINGS + 1];
    size_t count = 0;
    for (int depth = 0; depth < arguments->depth; depth++) {
        const struct option *option = command_options(arguments->path[depth]);
        for (int i = 0; option->name; i++, option++) {
            const char *value = arguments->given[depth][i];
            if (!option->variable || !value || count == MOST_SETTINGS) {
                continue;
            }
            if (asprintf(&settings[count++], "%s=%s", option->variable, value) < 0) {
                settings[count - 1] = NULL;
                return NULL;
            }
        }
    }
    return settings;
}

/* ---- refusing ---- */

static int refuse_option(const struct arguments *arguments, const char *word)
{
    struct text_guess guess;
    size_t length = strcspn(word, "=");
    text_guess_start(&guess, word, length);
    for (int depth = 0; depth < arguments->depth; depth++) {
        const struct option *options = command_options(arguments->path[depth]);
        for (int i = 0; options[i].name; i++) {
            text_guess_try(&guess, options[i].name, strlen(options[i].name));
        }
    }
    return usage_error("nothing takes \"%.*s\"%s%s%s", (int)length, word, guess.best ? "; " : "",
                       guess.best ? guess.best : "", guess.best ? " is meant?" : "");
}

int refuse_command(const struct command *command, const char *word)
{
    struct text_guess guess;
    const char *what = command == &COMMAND_ROOT ? "" : command->name;
    text_guess_start(&guess, word, strlen(word));
    for (const struct command *part = command->parts; part && part->name; part++) {
        text_guess_try(&guess, part->name, strlen(part->name));
    }
    return usage_error("there is no command \"%s%s%s\"%s%s%s", what, *what ? " " : "", word,
                       guess.best ? "; " : "", guess.best ? guess.best : "",
                       guess.best ? " is meant?" : "");
}

static int refuse_number(const struct option *option, const char *value)
{
    if (option->least == option->most) {
        return usage_error("%s wants a number, but \"%s\" came", option->name, value);
    }
    if (option->most == INT64_MAX) {
        return usage_error("%s wants a number from %lld, but \"%s\" came", option->name,
                           (long long)option->least, value);
    }
    return usage_error("%s wants a number from %lld to %lld, but \"%s\" came", option->name,
                       (long long)option->least, (long long)option->most, value);
}

/* "--render is auto, always or never" of "auto|always|never". */
static int refuse_choice(const struct option *option, const char *value)
{
    char words[256];
    struct text_out out;
    text_start(&out, words, sizeof words);
    for (const char *at = option->value; *at;) {
        size_t length = strcspn(at, "|");
        const char *next = at + length + (at[length] == '|');
        text_put_bytes(&out, at, length);
        text_put(&out, !*next ? "" : strchr(next, '|') ? ", " : " or ");
        at = next;
    }
    return usage_error("%s is %s, not \"%s\"", option->name, words, value);
}

/* ---- reading ---- */

static bool is_one_of(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = choices; length; at++) {
        size_t each = strcspn(at, "|");
        if (each == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += each;
        if (!*at) {
            break;
        }
    }
    return false;
}

static int check_value(const struct option *option, const char *value)
{
    if (strcmp(option->value, "N") == 0) {
        char *end;
        errno = 0;
        long long number = strtoll(value, &end, 10);
        bool bounded = option->least != option->most;
        bool outside = bounded && (number < option->least || number > option->most);
        return errno || end == value || *end || outside ? refuse_number(option, value) : EXIT_OK;
    }
    bool wrong = option_is_choice(option->value) && !is_one_of(option->value, value);
    return wrong ? refuse_choice(option, value) : EXIT_OK;
}

/* Reads the option at `at`, and its value where that is the next word; how many words it took,
 * or a negative number after saying what is wrong. */
static int read_option(struct arguments *arguments, char **at, int left)
{
    struct option_place place;
    size_t length = strcspn(*at, "=");
    const struct option *option = option_find(arguments, *at, length, &place);
    if (!option) {
        refuse_option(arguments, *at);
        return -1;
    }
    const char *value = (*at)[length] == '=' ? *at + length + 1 : NULL;
    if (!option->value && value) {
        usage_error("%s takes no value", option->name);
        return -1;
    }
    int taken = option->value && !value ? 2 : 1;
    if (taken > left) {
        usage_error("%s needs a value", option->name);
        return -1;
    }
    value = !option->value ? "" : value ? value : at[1];
    arguments->given[place.depth][place.index] = value;
    return option->value && check_value(option, value) != EXIT_OK ? -1 : taken;
}

/* A word that is no option: the name of a part, where parts are left to be named. */
static int read_word(struct arguments *arguments, char *word)
{
    const struct command *command = arguments_command(arguments);
    if (!command->parts) {
        arguments->words[arguments->count++] = word;
        return EXIT_OK;
    }
    const struct command *part = command_part(command, word);
    if (part) {
        arguments->path[arguments->depth++] = part;
        return EXIT_OK;
    }
    /* `forage memory help add`: whoever stands before a choice asks there, too. */
    if (command != &COMMAND_ROOT && strcmp(word, "help") == 0) {
        arguments->help = true;
        return EXIT_OK;
    }
    return refuse_command(command, word);
}

static int check_words(const struct arguments *arguments)
{
    int least, most;
    const struct command *command = arguments_command(arguments);
    if (command == &COMMAND_ROOT) {
        return EXIT_OK; /* nothing was asked for: help */
    }
    command_word_counts(command, &least, &most);
    if (command->parts) {
        return usage_error("%s needs one of its commands", command->name);
    }
    if (arguments->count < least) {
        return usage_error("%s needs %s", command->name, command->words);
    }
    if (most >= 0 && arguments->count > most) {
        return usage_error("nothing takes \"%s\"%s", arguments->words[most],
                           most ? "; put what belongs together in quotes" : "");
    }
    return EXIT_OK;
}

/* Whether help is asked for, which forgives everything else. */
static bool wants_help(int count, char **values)
{
    for (int i = 0; i < count && strcmp(values[i], "--") != 0; i++) {
        if (strcmp(values[i], "--help") == 0 || strcmp(values[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

/* The command whose help is asked for: as far as the words are names. */
static void find_topic(struct arguments *arguments, int count, char **values)
{
    for (int i = 0; i < count; i++) {
        const struct command *part = command_part(arguments_command(arguments), values[i]);
        if (part) {
            arguments->path[arguments->depth++] = part;
        }
    }
}

int arguments_read(struct arguments *arguments, const struct command *start, int count,
                   char **values)
{
    *arguments = (struct arguments){.path = {&COMMAND_ROOT, start}, .words = values};
    arguments->depth = start ? 2 : 1;
    arguments->help = wants_help(count, values);
    if (arguments->help) {
        find_topic(arguments, count, values);
        return EXIT_OK;
    }
    bool only_words = false;
    for (int i = 0; i < count;) {
        int taken = 1;
        if (!only_words && strcmp(values[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && strncmp(values[i], "--", 2) == 0) {
            taken = read_option(arguments, values + i, count - i);
        } else if (read_word(arguments, values[i]) != EXIT_OK) {
            taken = -1;
        }
        if (taken < 0) {
            return EXIT_USAGE;
        }
        i += taken;
    }
    return arguments->help ? EXIT_OK : check_words(arguments);
}
