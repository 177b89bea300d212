/* The command line: one program with several names and several commands. */
#ifndef FORAGE_CLI_CLI_H
#define FORAGE_CLI_CLI_H

#include "app/app.h"
#include "base/buf.h"

/* What the program's end tells a script. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* the call failed, or the server could not start */
    EXIT_USAGE = 2,  /* wrong arguments or wrong configuration */
};

int cli_main(int argc, char **argv);

/* ---- for the commands ---- */

/* The arguments after the command's name. */
struct arguments {
    int count;
    char **values;
};

typedef int (*command_run)(const struct arguments *arguments);

int command_mcp(const struct arguments *arguments);
int command_serve(const struct arguments *arguments);
int command_answer(const struct arguments *arguments);
int command_call(const struct arguments *arguments);
int command_tools(const struct arguments *arguments);
int command_config(const struct arguments *arguments);
int command_extract(const struct arguments *arguments);
int command_research(const struct arguments *arguments);
int command_memory(const struct arguments *arguments);
int command_read(const struct arguments *arguments);
int command_web(const struct arguments *arguments);
int command_usage(const struct arguments *arguments);
int command_history(const struct arguments *arguments);
int command_version(const struct arguments *arguments);

/* Takes "--name VALUE" or "--name=VALUE" out of the arguments. 1 when it was there, 0 when not,
 * negative after saying that its value is missing. */
int take_option(struct arguments *arguments, const char *name, const char **value);
/* Takes "--name" out of the arguments. */
bool take_flag(struct arguments *arguments, const char *name);
/* Says what was wrong and how to get help; EXIT_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* EXIT_OK, or EXIT_USAGE after naming the first argument that nothing takes. */
int refuse_rest(const struct arguments *arguments);

/* Takes "--name VALUE" out of the arguments as the setting `variable`, which then wins over
 * the environment. EXIT_OK or EXIT_USAGE. */
int take_setting(struct arguments *arguments, const char *name, const char *variable);

/* Loads the configuration, says what is odd in it, and sets up the log. EXIT_OK or EXIT_USAGE. */
int load_configuration(void);
/* The program, for this command. NULL after saying why not. */
struct app *open_app(void);
/* Prints what was gathered, redacted. EXIT_OK or EXIT_FAILED. */
int print_buf(struct buf *text);
/* Prints a value as JSON for people; NULL is a failure. An exit code. */
int print_json(struct arena *arena, yyjson_mut_val *value);

#endif
