/* The command line: one program with several names and several commands. */
#ifndef FORAGE_CLI_CLI_H
#define FORAGE_CLI_CLI_H

#include "app/app.h"
#include "cli/arguments.h"
#include "core/buf.h"
#include "core/redact.h"

#include <stdio.h>

/* What the program's end tells a script. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,   /* the call failed, or the server could not start */
    EXIT_USAGE = 2,    /* wrong arguments or wrong configuration */
    EXIT_SIGNAL = 128, /* and its number: a signal ended the command; 130 is ctrl-C */
};

int cli_main(int argc, char **argv);

/* ---- for the commands ---- */

int command_mcp(const struct arguments *arguments);
int command_setup(const struct arguments *arguments);
int command_serve(const struct arguments *arguments);
int command_answer(const struct arguments *arguments);
int command_call(const struct arguments *arguments);
int command_tools(const struct arguments *arguments);
int command_config(const struct arguments *arguments);
int command_experiment(const struct arguments *arguments);
int command_extract(const struct arguments *arguments);
int command_research(const struct arguments *arguments);
int command_memory(const struct arguments *arguments);
int command_memory_backup(const struct arguments *arguments);
int command_memory_export(const struct arguments *arguments);
int command_memory_import(const struct arguments *arguments);
int command_memory_namespaces(const struct arguments *arguments);
int command_memory_check(const struct arguments *arguments);
int command_memory_reindex(const struct arguments *arguments);
int command_memory_history(const struct arguments *arguments);
int command_memory_restore(const struct arguments *arguments);
int command_read(const struct arguments *arguments);
int command_web(const struct arguments *arguments);
int command_usage(const struct arguments *arguments);
int command_history(const struct arguments *arguments);
int command_dashboard(const struct arguments *arguments);
int command_doctor(const struct arguments *arguments);
int command_completions(const struct arguments *arguments);
int command_health(const struct arguments *arguments);
int command_help(const struct arguments *arguments);
int command_version(const struct arguments *arguments);

/* Says what was wrong and how to get help; EXIT_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Explains the command that `topic` means, or the program. */
int help_print(FILE *file, const struct arguments *topic);

/* The manual page forage(1), from the table of commands. */
void manual_write(struct buf *out);

/* "VARIABLE=value" for each setting of the command line; NULL: none. */
char *const *command_settings(void);
/* Loads the configuration. EXIT_OK, or EXIT_USAGE with what is wrong in `problem`, redacted. */
int read_configuration(struct buf *problem);
/* Loads the configuration, says what is odd in it, and sets up the log. EXIT_OK or EXIT_USAGE. */
int load_configuration(void);
/* Only warnings and worse from here on, unless the operator wished otherwise: for a person the
 * answer is news enough. */
void log_quietly(void);
/* The same for errors alone: where a line of progress tells the rest. */
void log_only_errors(void);
/* The program, for this command. NULL after saying why not. */
struct app *open_app(void);
/* The same without the experiments that are set. */
struct app *open_app_without_experiments(void);
/* Prints bytes as they are; false where the output does not take them, which the program's end
 * reports. */
bool print_bytes(const char *data, size_t length);
/* Prints what was gathered, without the secrets that such words may not hold, and frees it. EXIT_OK
 * or EXIT_FAILED. */
int print_buf(struct buf *text, enum words words);
/* Appends all that a stream holds. OK, ERR_IO, or ERR_LIMIT where that is too much. */
int read_stream(FILE *file, struct buf *bytes);
/* Prints a value as JSON for people; NULL is a failure. An exit code. */
int print_json(struct arena *arena, yyjson_mut_val *value, enum words words);

#endif
