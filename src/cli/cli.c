/* Which program is this, which command is meant, and what every command needs. */
#include "cli/cli.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/redact.h"
#include "config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    const char *usage;
    const char *summary;
    command_run run;
} COMMANDS[] = {
    {"mcp", "forage mcp", "serve MCP over standard input and output", command_mcp},
    {"serve", "forage serve [--host HOST] [--port PORT]", "serve MCP and REST over HTTP",
     command_serve},
    {"call", "forage call TOOL [key=value | key:=json]... [--json OBJECT]",
     "run one tool here and print its result", command_call},
    {"tools", "forage tools [NAME] [--json | --markdown]", "list the tools, or describe one",
     command_tools},
    {"config", "forage config [--json | --markdown | --env-example]",
     "print the settings in force and where each came from", command_config},
    {"extract", "forage extract [--url URL] [--json] < page > markdown | --batch",
     "turn a page of HTML into Markdown", command_extract},
    {"read", "forage read URL [--section HEADING | --outline] [--start N] [--json]",
     "print a page of the web as Markdown; also --max-chars N, --render auto|always|never",
     command_read},
    {"web", "forage web QUERY... [--results N] [--type news] [--freshness week] [--json]",
     "search the web and read what is found; also --page N, --from DATE, --to DATE, --region CC, "
     "--language LL, --site HOSTS, --exclude HOSTS, --full",
     command_web},
    {"research", "forage research TOPIC [--depth concise|detailed] [--max-iterations N] [--json]",
     "let a worker research a topic and print its report; --quick: one round", command_research},
    {"answer", "forage answer QUESTION [--max N] [--fresh HOURS] [--region CC] [--json]",
     "print a short answer from the web with its sources; also --sources-only", command_answer},
    {"usage", "forage usage [--days N] [--caller NAME] [--json]",
     "calls, tokens and money, per day and tool", command_usage},
    {"history", "forage history list|export|wipe [--limit N] [--caller NAME] [--json]",
     "what was asked, where FORAGE_HISTORY keeps it", command_history},
    {"memory", "forage memory add|get|list|search|delete|import|export|check|backup ...",
     "memories for people: see man forage; every one takes --namespace NAME and --json",
     command_memory},
    {"version", "forage version", "print the version", command_version},
};

#define COMMAND_COUNT (sizeof COMMANDS / sizeof *COMMANDS)

/* ---- help ---- */

static void print_help(FILE *out)
{
    fputs("forage - search for AI agents, over MCP, REST and the command line\n\nUsage:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-68s %s\n", COMMANDS[i].usage, COMMANDS[i].summary);
    }
    fputs("\nOptions for every command:\n"
          "  --config FILE   settings as KEY=value lines (default: ~/.config/forage/forage.env)\n"
          "  --model NAME    the model of the research worker (GEMINI_MODEL)\n"
          "  --help          this text, or a command's own\n\n"
          "Examples:\n"
          "  forage serve --port 3000\n"
          "  forage read https://example.org/\n"
          "  forage web \"rust borrow checker\" --results 5\n"
          "  forage research \"How did sourdough spread?\" --depth concise\n"
          "  forage call forage_status\n"
          "  forage config\n\n"
          "Exit codes: 0 done, 1 the call or the server failed, 2 wrong arguments or settings.\n"
          "Settings are environment variables; `forage config` lists them. See also man forage.\n",
          out);
}

static int print_command_help(const struct command *command)
{
    printf("Usage: %s\n\n%s.\n", command->usage, command->summary);
    return EXIT_OK;
}

int usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("forage: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nTry `forage --help`.\n", stderr);
    va_end(args);
    return EXIT_USAGE;
}

/* ---- arguments ---- */

static void remove_argument(struct arguments *arguments, int index, int count)
{
    for (int i = index; i + count < arguments->count; i++) {
        arguments->values[i] = arguments->values[i + count];
    }
    arguments->count -= count;
}

int take_option(struct arguments *arguments, const char *name, const char **value)
{
    size_t length = strlen(name);
    for (int i = 0; i < arguments->count; i++) {
        const char *argument = arguments->values[i];
        if (strncmp(argument, name, length) != 0) {
            continue;
        }
        if (argument[length] == '=') {
            *value = argument + length + 1;
            remove_argument(arguments, i, 1);
            return 1;
        }
        if (argument[length] == '\0') {
            if (i + 1 >= arguments->count) {
                usage_error("%s needs a value", name);
                return -1;
            }
            *value = arguments->values[i + 1];
            remove_argument(arguments, i, 2);
            return 1;
        }
    }
    return 0;
}

bool take_flag(struct arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->values[i], name) == 0) {
            remove_argument(arguments, i, 1);
            return true;
        }
    }
    return false;
}

int refuse_rest(const struct arguments *arguments)
{
    return arguments->count ? usage_error("nothing takes \"%s\"", arguments->values[0]) : EXIT_OK;
}

/* ---- what every command needs ---- */

/* "VARIABLE=value" for each option that is a setting under another name; a NULL ends them. */
#define MOST_OVERRIDES 8
static char *overrides[MOST_OVERRIDES + 1];

int take_setting(struct arguments *arguments, const char *name, const char *variable)
{
    const char *value;
    int taken = take_option(arguments, name, &value);
    if (taken <= 0) {
        return taken == 0 ? EXIT_OK : EXIT_USAGE;
    }
    size_t count = 0;
    while (overrides[count]) {
        count++;
    }
    if (count == MOST_OVERRIDES || asprintf(&overrides[count], "%s=%s", variable, value) < 0) {
        return usage_error("too many options");
    }
    return EXIT_OK;
}

int load_configuration(void)
{
    struct buf problem;
    buf_init(&problem, KIB(64));
    int status = config_load(environ, overrides, &problem);
    if (status != OK) {
        redact_buf(&problem, 0);
        fprintf(stderr, "forage: the configuration is wrong:\n%s\n",
                problem.data ? problem.data : status_name(status));
        buf_done(&problem);
        return EXIT_USAGE;
    }
    buf_done(&problem);
    int level = log_level_parse(config_text("FORAGE_LOG_LEVEL"));
    if (config_bool("DEBUG") && !config_is_set("FORAGE_LOG_LEVEL")) {
        level = LOG_LEVEL_DEBUG;
    }
    log_set_level(level < 0 ? LOG_LEVEL_INFO : (enum log_level)level);
    for (size_t i = 0; i < config_warning_count(); i++) {
        log_warn(NULL, "%s", config_warning(i));
    }
    return EXIT_OK;
}

struct app *open_app(void)
{
    char problem[512];
    struct app_options options = {.name = "forage", .title = "forage"};
    struct app *app = app_new(&options, problem, sizeof problem);
    if (!app) {
        fprintf(stderr, "forage: %s\n", problem);
    }
    return app;
}

int print_buf(struct buf *text)
{
    redact_buf(text, 0);
    size_t written = text->length ? fwrite(text->data, 1, text->length, stdout) : 0;
    bool whole = buf_error(text) == OK && written == text->length && fflush(stdout) == 0;
    if (!whole) {
        fputs("forage: the output could not be written\n", stderr);
    }
    return whole ? EXIT_OK : EXIT_FAILED;
}

int print_json(struct arena *arena, yyjson_mut_val *value)
{
    struct buf text;
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    int status = value ? json_write_pretty(&text, arena, value) : ERR_NOMEM;
    buf_putc(&text, '\n');
    int code = status == OK ? print_buf(&text) : EXIT_FAILED;
    buf_done(&text);
    return code;
}

int command_version(const struct arguments *arguments)
{
    int code = refuse_rest(arguments);
    if (code == EXIT_OK) {
        printf("forage %s\n", FORAGE_VERSION);
    }
    return code;
}

/* ---- which program, which command ---- */

/* The names of programs that forage stands in for, and the command that each means. */
static const struct {
    const char *program;
    const char *command;
    const char *first_word; /* which must come first, and is dropped */
} OTHER_NAMES[] = {
    {"gemini-search-mcp", "mcp", NULL},
    {"gemini-search-mcp-http", "serve", NULL},
    {"kindly-web-search-mcp-server", "mcp", "start-mcp-server"},
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static int run_command(const struct command *command, struct arguments *arguments)
{
    if (take_flag(arguments, "--help") || take_flag(arguments, "-h")) {
        return print_command_help(command);
    }
    int code = take_setting(arguments, "--config", "FORAGE_CONFIG");
    if (code == EXIT_OK) {
        code = take_setting(arguments, "--context", "KINDLY_MCP_CONTEXT");
    }
    if (code == EXIT_OK) {
        code = take_setting(arguments, "--model", "FORAGE_RESEARCH_MODEL");
    }
    return code == EXIT_OK ? command->run(arguments) : code;
}

static int run_other_name(size_t which, struct arguments *arguments)
{
    const char *first_word = OTHER_NAMES[which].first_word;
    if (first_word && !(arguments->count && strcmp(arguments->values[0], "--help") == 0)) {
        if (!arguments->count || strcmp(arguments->values[0], first_word) != 0) {
            return usage_error("%s wants `%s` first", OTHER_NAMES[which].program, first_word);
        }
        remove_argument(arguments, 0, 1);
        take_flag(arguments, "--"); /* what follows it is forwarded, and the same to us */
    }
    return run_command(find_command(OTHER_NAMES[which].command), arguments);
}

int cli_main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash ? slash + 1 : argc > 0 ? argv[0] : "forage";
    struct arguments arguments = {argc > 1 ? argc - 1 : 0, argv + 1};
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++) {
        if (strcmp(program, OTHER_NAMES[i].program) == 0) {
            return run_other_name(i, &arguments);
        }
    }
    if (arguments.count == 0) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = arguments.values[0];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        name = "version";
    }
    const struct command *command = find_command(name);
    if (!command) {
        return usage_error("there is no command \"%s\"", name);
    }
    arguments.count--;
    arguments.values++;
    return run_command(command, &arguments);
}
