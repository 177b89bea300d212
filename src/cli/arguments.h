/* The commands as a table, and the arguments of one run read by it.
 *
 * A command declares its words and its options once, in commands.c. Help, the manual page and the
 * completions come from there, and so does the reading: what is not declared is refused before a
 * command runs, and a command that asks for an option that it did not declare is a mistake in the
 * program and ends it. */
#ifndef FORAGE_CLI_ARGUMENTS_H
#define FORAGE_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_MOST_OPTIONS  24
#define COMMAND_MOST_EXAMPLES 4
#define COMMAND_DEEPEST       3 /* forage memory add */

struct arguments;

struct option {
    const char *name;     /* "--limit" */
    const char *value;    /* what its value is called, NULL: it takes none. "N" is a number,
                             "a|b|c" one of these words, FILE and FOLDER what they say */
    const char *help;     /* a phrase */
    int64_t least, most;  /* of a number; both 0: any */
    const char *variable; /* the setting that it is another name for, or NULL */
};

enum command_group { COMMANDS_SERVE, COMMANDS_ASK, COMMANDS_KEEP, COMMANDS_LOOK, COMMANDS_GROUPS };

struct command {
    const char *name;
    const char *words;   /* besides options: "URL", "[FILE]", "QUERY..."; NULL: none */
    const char *summary; /* a phrase, for lists */
    const char *about;   /* sentences, or NULL */
    int (*run)(const struct arguments *arguments); /* NULL: that of the command above */
    const struct command *parts;                   /* a name of NULL ends them; NULL: none */
    enum command_group group;
    const struct option *options; /* of this and its parts, COMMAND_MOST_OPTIONS at most; a name of
                                     NULL ends them; NULL: none (command_options()) */
    const char *examples[COMMAND_MOST_EXAMPLES]; /* as typed */
};

/* The whole program: its parts are the commands, its options those of every command. */
extern const struct command COMMAND_ROOT;
extern const char *const COMMAND_GROUP_TITLES[COMMANDS_GROUPS];

/* Never NULL. */
const struct option *command_options(const struct command *command);
const struct command *command_part(const struct command *command, const char *name);

/* ---- one run ---- */

/* What was given, read by the table. */
struct arguments {
    const struct command
        *path[COMMAND_DEEPEST]; /* from COMMAND_ROOT to the command that is meant */
    int depth;
    int count; /* of `words` */
    char **words;
    const char *given[COMMAND_DEEPEST][COMMAND_MOST_OPTIONS]; /* values of options; NULL: not */
    bool help;
};

/* The command that is meant. */
const struct command *arguments_command(const struct arguments *arguments);
/* Reads the words after the program's name into `arguments`, which begins with the command
 * `start` (NULL: the first word says which). The array is reordered. EXIT_OK, or EXIT_USAGE after
 * saying what is wrong. */
int arguments_read(struct arguments *arguments, const struct command *start, int count,
                   char **values);

/* Says that a command has no such part, and which one is probably meant; EXIT_USAGE. */
int refuse_command(const struct command *command, const char *word);

/* Whether an option was given. */
bool option_given(const struct arguments *arguments, const char *name);
/* Its value; NULL: it was not given. */
const char *option_text(const struct arguments *arguments, const char *name);
/* Its number, if it was given; it has been checked. */
bool option_number(const struct arguments *arguments, const char *name, int64_t *number);

/* "VARIABLE=value" for each option that is a setting; a NULL ends them. NULL: no memory. */
char *const *arguments_settings(const struct arguments *arguments);

/* ---- for what is made from the table ---- */

/* Where an option is declared: by which command of the path, and as which of its options. */
struct option_place {
    int depth;
    int index;
};

/* Finds an option by the `length` characters of its name, the command's own before those of the
 * commands above it; NULL: nothing takes it. */
const struct option *option_find(const struct arguments *arguments, const char *name, size_t length,
                                 struct option_place *place);

/* How many words a command takes at least and at most; `most` is negative where there is no end. */
void command_word_counts(const struct command *command, int *least, int *most);
/* Whether a value's name is a choice of words, "a|b|c". */
bool option_is_choice(const char *value);

#endif
