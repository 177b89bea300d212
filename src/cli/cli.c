/* Which program is this, which command is meant, and what every command needs. */
#include "cli/cli.h"

#include "cli/terminal.h"
#include "config/config.h"
#include "core/dumps.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line that is read or run, as far as it was understood: usage_error() names its help.
 * NULL: none. */
static const struct arguments *running;

/* "Try `forage help memory add`." The help of `help` would tell nobody more. */
static void name_help(void)
{
    bool command = running && running->depth > 1 && running->path[1]->run != command_help;
    fputs(command ? "\nTry `forage help" : "\nTry `forage --help", stderr);
    for (int depth = 1; command && depth < running->depth; depth++) {
        fprintf(stderr, " %s", running->path[depth]->name);
    }
    fputs("`.\n", stderr);
}

int usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("forage: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    name_help();
    return EXIT_USAGE;
}

/* ---- what every command needs ---- */

/* Settings of the command line, which win over the environment. */
static char *const *overrides;

/* Whether the program has a name whose clients know no jobs. */
static bool waits_for_end;

char *const *command_settings(void)
{
    return overrides;
}

/* As config_load(); where nobody said how long a client waits, it waits for the end. */
static int load_all(struct buf *problem)
{
    static const char PATIENCE[] = "FORAGE_CALL_PATIENCE";
    int status = config_load(environ, overrides, problem);
    if (status == OK && waits_for_end && !config_is_set(PATIENCE) &&
        setenv(PATIENCE, "1h", 1) == 0) {
        status = config_load(environ, overrides, problem);
    }
    return status;
}

int read_configuration(struct buf *problem)
{
    int status = load_all(problem);
    if (status != OK && !problem->length) {
        buf_puts(problem, status_name(status));
    }
    redact_buf(problem, 0, WORDS_OURS);
    if (status == OK && !config_bool("FORAGE_CORE_DUMPS") && dumps_forbid() != OK) {
        log_warn(NULL, "core dumps cannot be forbidden: a crash may write keys to the disk");
    }
    return status == OK ? EXIT_OK : EXIT_USAGE;
}

int load_configuration(void)
{
    struct buf problem;
    buf_init(&problem, KIB(64));
    int code = read_configuration(&problem);
    if (code != EXIT_OK) {
        fprintf(stderr, "forage: the configuration is wrong:\n%s\n",
                problem.data ? problem.data : "out of memory");
    }
    buf_done(&problem);
    if (code != EXIT_OK) {
        return code;
    }
    int level = log_level_parse(config_text("FORAGE_LOG_LEVEL"));
    if (config_bool("FORAGE_DEBUG") && !config_is_set("FORAGE_LOG_LEVEL")) {
        level = LOG_LEVEL_DEBUG;
    }
    log_allow_private(config_bool("FORAGE_DEBUG"));
    log_set_level(level < 0 ? LOG_LEVEL_INFO : (enum log_level)level);
    for (size_t i = 0; i < config_warning_count(); i++) {
        log_warn(NULL, "%s", config_warning(i));
    }
    return EXIT_OK;
}

/* Lines of this level and graver ones, unless the operator wished otherwise. */
static void log_at_most(enum log_level level)
{
    if (!config_is_set("FORAGE_LOG_LEVEL") && !config_bool("FORAGE_DEBUG")) {
        log_set_level(level);
    }
}

void log_quietly(void)
{
    log_at_most(LOG_LEVEL_WARN);
}

void log_only_errors(void)
{
    log_at_most(LOG_LEVEL_ERROR);
}

static struct app *open_app_with(bool experiments)
{
    char problem[LIMIT_ERROR_CHARS + 64];
    struct app_options options = {
        .name = "forage", .title = "forage", .without_experiments = !experiments};
    struct app *app = app_new(&options, problem, sizeof problem);
    if (!app) {
        fprintf(stderr, "forage: %s\n", problem);
    }
    return app;
}

struct app *open_app(void)
{
    return open_app_with(true);
}

struct app *open_app_without_experiments(void)
{
    return open_app_with(false);
}

/* What the system said of the first output that it did not take. */
static int output_error;

bool print_bytes(const char *data, size_t length)
{
    if (fwrite(data, 1, length, stdout) == length) {
        return true;
    }
    output_error = output_error ? output_error : errno;
    return false;
}

int print_buf(struct buf *text, enum words words)
{
    redact_buf(text, 0, words);
    bool whole = buf_error(text) == OK;
    if (!whole) {
        fputs("forage: the output is too long, or there is no memory for it\n", stderr);
    }
    whole = whole && (text->length == 0 || print_bytes(text->data, text->length));
    buf_done(text);
    return whole ? EXIT_OK : EXIT_FAILED; /* end_output() says what was wrong with the output */
}

/* Writes what is left of the output. Where its reader has gone, as `head` goes after ten lines,
 * the program ends as `cat` does: silently, by SIGPIPE. Anything else that kept the output from
 * being written is an error, whichever command printed it. */
static int end_output(int code)
{
    if (fflush(stdout) != 0 && !output_error) {
        output_error = errno;
    }
    if (!output_error && !ferror(stdout)) {
        return code;
    }
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (output_error == EPIPE || (poll(&output, 1, 0) > 0 && (output.revents & POLLERR))) {
        sigset_t broken_pipe;
        sigemptyset(&broken_pipe);
        sigaddset(&broken_pipe, SIGPIPE);
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
        pthread_sigmask(SIG_UNBLOCK, &broken_pipe, NULL);
    }
    fprintf(stderr, "forage: the output could not be written%s%s\n", output_error ? ": " : "",
            output_error ? strerror(output_error) : "");
    return EXIT_FAILED;
}

int read_stream(FILE *file, struct buf *bytes)
{
    char piece[16384]; /* more would cost more to clear than to read */
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, file)) > 0) {
        if (buf_append(bytes, piece, count) != OK) {
            break;
        }
    }
    return ferror(file) ? ERR_IO : buf_error(bytes);
}

int print_json(struct arena *arena, yyjson_mut_val *value, enum words words)
{
    struct buf text;
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    int status = value ? json_write_pretty(&text, arena, value) : ERR_NOMEM;
    buf_putc(&text, '\n');
    if (status != OK) {
        buf_done(&text);
        return EXIT_FAILED;
    }
    return print_buf(&text, words);
}

int command_version(const struct arguments *arguments)
{
    (void)arguments;
    printf("forage %s\n", FORAGE_VERSION);
    return EXIT_OK;
}

/* ---- which program, which command ---- */

/* The other names of forage, and the command that each means. Whoever starts it by the name of
 * another server has that server's contract, which is JSON whatever `--context` says. */
static const struct {
    const char *program;
    const char *command;
    const char *first_word; /* which must come first, and is dropped */
    bool is_ours;           /* only without arguments; with them it is forage itself */
    bool waits;             /* research answers with its result, however long it takes */
} OTHER_NAMES[] = {
    {"forage-mcp", "mcp", NULL, true, false}, /* the package: npx and uvx start what has its name */
    {"gemini-search-mcp", "mcp", NULL, false, true},
    {"gemini-search-mcp-http", "serve", NULL, false, true},
    {"kindly-web-search-mcp-server", "mcp", "start-mcp-server", false, false},
};

/* Runs the command that was understood, or explains it. */
static int run_arguments(const struct arguments *arguments)
{
    terminal_set_color(option_text(arguments, "--color"));
    if (arguments->help) {
        return help_print(stdout, arguments);
    }
    overrides = arguments_settings(arguments);
    for (int depth = arguments->depth - 1; depth >= 0; depth--) {
        if (arguments->path[depth]->run) {
            return arguments->path[depth]->run(arguments);
        }
    }
    help_print(stderr, arguments);
    return EXIT_USAGE;
}

/* Reads the arguments and runs the command; `start` is the command that a name stands for. */
static int run_command(const struct command *start, int count, char **values)
{
    struct arguments arguments = {.depth = 0};
    running = &arguments;
    int code = arguments_read(&arguments, start, count, values);
    if (code == EXIT_OK) {
        code = run_arguments(&arguments);
    }
    running = NULL;
    return code;
}

/* Takes the first "--" out: what follows it is forwarded, and the same to us. */
static int drop_separator(int count, char **values)
{
    int at = 0;
    while (at < count && strcmp(values[at], "--") != 0) {
        at++;
    }
    for (int i = at; i + 1 < count; i++) {
        values[i] = values[i + 1];
    }
    return at < count ? count - 1 : count;
}

static int run_other_name(size_t which, int count, char **values)
{
    const char *first_word = OTHER_NAMES[which].first_word;
    waits_for_end = OTHER_NAMES[which].waits;
    if (first_word && !(count && strcmp(values[0], "--help") == 0)) {
        if (!count || strcmp(values[0], first_word) != 0) {
            return usage_error("%s wants `%s` first", OTHER_NAMES[which].program, first_word);
        }
        count--;
        values++;
        count = drop_separator(count, values);
    }
    if (!OTHER_NAMES[which].is_ours && setenv("FORAGE_PROFILE", "json", 0) != 0) {
        perror("forage");
        return EXIT_FAILED;
    }
    return run_command(command_part(&COMMAND_ROOT, OTHER_NAMES[which].command), count, values);
}

int cli_main(int argc, char **argv)
{
    static char VERSION[] = "version";
    proc_begin(argc, argv);
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash ? slash + 1 : argc > 0 ? argv[0] : "forage";
    int count = argc > 1 ? argc - 1 : 0;
    char **values = argv + 1;
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++) {
        bool meant = !OTHER_NAMES[i].is_ours || count == 0;
        if (meant && strcmp(program, OTHER_NAMES[i].program) == 0) {
            return end_output(run_other_name(i, count, values));
        }
    }
    if (count && strcmp(values[0], "--version") == 0) {
        values[0] = VERSION;
    }
    return end_output(run_command(NULL, count, values));
}
