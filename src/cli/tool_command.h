/* Running one call for a person and waiting for it: Ctrl-C cancels the call, and progress is shown
 * where it can be seen. Most such commands run a tool as any client would, so limits, cost and
 * history hold here too; a struct tool_command says what is particular about one. */
#ifndef FORAGE_CLI_TOOL_COMMAND_H
#define FORAGE_CLI_TOOL_COMMAND_H

#include "app/app.h"
#include "call/call.h"
#include "cli/arguments.h"

typedef void (*run_progress)(void *context, double done, double total, const char *message);
typedef int (*run_body)(struct app *app, struct call *call, void *context);

/* Options for a call of this command: who asks, and where progress goes. `progress`, unless NULL,
 * takes the place of the one line that is overwritten. */
struct call_options run_options(run_progress progress);
/* Makes a call in `app` (NULL: without one), lets `body` do the work while signals (of
 * signals_open()) cancel it, and ends everything, `app` too. An exit code. */
int run_call(struct app *app, int signals, const struct call_options *options, run_body body,
             void *context);
/* The same for a command that needs the program, which is opened. The configuration must be loaded.
 */
int run_in_app(const struct call_options *options, run_body body, void *context);

/* Lets jobs go on that were begun in the background, when this process ends: in one of its own. */
void leave_jobs(void);

/* One run of a tool by a command. */
struct tool_run {
    const struct arguments *given;
    struct call *call;
    yyjson_mut_doc *doc; /* of the parameters */
    yyjson_mut_val *parameters;
    yyjson_mut_val *result;
};

struct tool_command {
    const char *tool;
    const char *word; /* the parameter that takes the first word; NULL: `add` sees to the words */
    /* Options, and the parameters that they set, where the names differ; NULL ends them. */
    const char *const (*renamed)[2];
    /* Further parameters, or NULL. An error of the call ends the command. */
    void (*add)(struct tool_run *run);
    int (*print)(const struct tool_run *run); /* for people; an exit code */
    /* Whether the result is a failure to people, though the tool succeeded, after saying so on
     * standard error; NULL: it never is. */
    bool (*fails)(const struct tool_run *run);
    /* What to type, in place of the tools of memory that an error names to an agent; NULL: the
     * error as it is. */
    const char *advice;
    bool quiet;          /* only warnings and worse are logged: the answer is news enough */
    bool takes_long;     /* on a terminal, its progress stands for all but errors in the log */
    bool may_be_kept;    /* an earlier answer will do, unless --again is given */
    bool takes_any_size; /* the result may be as long as it is */
};

/* Lets the question follow on the last one that one of two tools answered. */
void add_follow(struct tool_run *run, const char *tool, const char *other);

/* The advice of all commands on memories. */
#define MEMORY_ADVICE                                                                              \
    "`forage memory list` shows the keys, `forage memory history KEY` the versions of one"

/* Runs a tool. Every option of the command that is a parameter of the tool sets it: "--max-chars"
 * is max_chars. The result is printed as JSON with --json, otherwise by `print`; an error goes to
 * standard error. An exit code. */
int run_tool(const struct tool_command *command, const struct arguments *given, struct app *app,
             struct call *call);
/* The whole of a command that runs a tool, from loading the configuration on. */
int run_tool_command(const struct tool_command *command, const struct arguments *given,
                     run_progress progress);

/* Tells a person at a terminal that the program waits for `what` to be typed, and how to end. */
void tell_waiting(int fd, const char *what);
/* Reads what there is, waiting for it; a signal ends the waiting. The number of bytes, 0 at the
 * end, ERR_CANCELLED, or ERR_IO with errno. */
ssize_t read_waiting(struct call *call, int fd, char *data, size_t size);

/* Says that there is no such tool, and which one is probably meant; EXIT_USAGE. */
int refuse_tool(const struct registry *registry, const char *name);
/* Says on standard error why the call failed, redacted; EXIT_FAILED. */
int print_call_error(const struct call *call);
/* Says what there is to say besides the result. The first note is about `access`, where that is not
 * empty. */
void print_notes(yyjson_mut_val *notes, const char *access);
/* A member of a result: its text, or ""; its number, or 0. */
const char *text_of(yyjson_mut_val *object, const char *key);
int64_t number_of(yyjson_mut_val *object, const char *key);

#endif
