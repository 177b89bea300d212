/* Every variable of forage. A new one is added here and nowhere else. */
#include "config/variables.h"

static const char *const LOG_LEVELS[] = {"error", "warn", "info", "debug", NULL};

const struct variable_group_words VARIABLE_GROUPS[GROUP_COUNT] = {
    [GROUP_SERVING] = {"Serving", "Where `forage serve` listens and what it believes."},
    [GROUP_CALLERS] = {"Callers", "Who may call, and how often."},
    [GROUP_TOOLS] = {"Tools", "Which tools are offered, and to whom."},
    [GROUP_CALLS] = {"Calls", "How many calls run at once and for how long."},
    [GROUP_LOGGING] = {"Logging", "What is written to stderr."},
    [GROUP_FILE] = {"Configuration file", "Where more of these settings are read from."},
};

const struct variable VARIABLES[] = {
    {
        .name = "MCP_SERVER_HOST",
        .group = GROUP_SERVING,
        .kind = VARIABLE_TEXT,
        .preset = "127.0.0.1",
        .help = "Address that the HTTP server listens on.",
        .more = "Anything but a loopback address needs FORAGE_TOKENS or FORAGE_TOKENS_FILE.",
        .example = "0.0.0.0",
    },
    {
        .name = "MCP_SERVER_PORT",
        .group = GROUP_SERVING,
        .kind = VARIABLE_INTEGER,
        .least = 0,
        .most = 65535,
        .preset = "3000",
        .help = "Port that the HTTP server listens on; 0 takes any free one.",
    },
    {
        .name = "FORAGE_ALLOWED_HOSTS",
        .group = GROUP_SERVING,
        .kind = VARIABLE_LIST,
        .help = "Further names that the Host header may carry.",
        .more = "The server's own address, and localhost on loopback, are always accepted. Name "
                "the public "
                "host here when a proxy passes it on.",
        .example = "forage.example.org",
    },
    {
        .name = "FORAGE_ALLOWED_ORIGINS",
        .group = GROUP_SERVING,
        .kind = VARIABLE_LIST,
        .help = "Web pages that may call the server from a browser, by their Origin header.",
        .more = "Pages of the server itself are always accepted.",
        .example = "https://app.example.org",
    },
    {
        .name = "FORAGE_TRUST_PROXY",
        .group = GROUP_SERVING,
        .kind = VARIABLE_BOOLEAN,
        .preset = "false",
        .help = "Believe X-Forwarded-For, -Proto and -Host from a proxy on the loopback address.",
    },
    {
        .name = "FORAGE_TOKENS",
        .group = GROUP_CALLERS,
        .kind = VARIABLE_LIST,
        .secret = true,
        .help = "Bearer tokens that callers present, each with the caller's name: name:token.",
        .more =
            "Each caller has its own limits, history and memory. `openssl rand -hex 24` makes a "
            "good token.",
        .example = "alice:REPLACE-WITH-A-LONG-RANDOM-TOKEN",
    },
    {
        .name = "FORAGE_TOKENS_FILE",
        .group = GROUP_CALLERS,
        .kind = VARIABLE_PATH,
        .help = "A file with one name:token on each line, beside or instead of FORAGE_TOKENS.",
        .example = "/etc/forage/tokens",
    },
    {
        .name = "FORAGE_CALLS_PER_MINUTE",
        .group = GROUP_CALLERS,
        .kind = VARIABLE_INTEGER,
        .least = 0,
        .most = 1000000,
        .preset = "0",
        .help = "Calls that one caller may make in a minute, over all tools; 0 is no limit.",
    },
    {
        .name = "FORAGE_TOOLS",
        .group = GROUP_TOOLS,
        .kind = VARIABLE_TEXT,
        .preset = "all",
        .help = "The tools to offer: names and groups, separated by commas; a minus takes away.",
        .more = "A list that begins with a minus starts from all tools. `forage tools` shows the "
                "names.",
        .example = "web,memory,-memory_delete",
    },
    {
        .name = "KINDLY_MCP_CONTEXT",
        .group = GROUP_TOOLS,
        .kind = VARIABLE_TEXT,
        .help = "The client that forage works for, as `--context` names it.",
        .more = "The status shows it.",
        .example = "claude-code",
    },
    {
        .name = "KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS",
        .group = GROUP_CALLS,
        .kind = VARIABLE_DURATION,
        .unit_ms = 1000,
        .least = 1000,
        .most = 600000,
        .preset = "50",
        .help = "Time that a call may take in all, retries included.",
        .more = "Many clients give up after 60 seconds.",
    },
    {
        .name = "FORAGE_WORKERS",
        .group = GROUP_CALLS,
        .kind = VARIABLE_INTEGER,
        .least = 1,
        .most = 1024,
        .preset = "128",
        .help = "Calls that may wait for the outside world at once; further ones are told that we "
                "are busy.",
    },
    {
        .name = "FORAGE_REACTORS",
        .group = GROUP_CALLS,
        .kind = VARIABLE_INTEGER,
        .least = 0,
        .most = 16,
        .preset = "0",
        .help = "Threads that serve HTTP connections; 0 chooses by the number of processors.",
    },
    {
        .name = "FORAGE_LOG_LEVEL",
        .group = GROUP_LOGGING,
        .kind = VARIABLE_CHOICE,
        .words = LOG_LEVELS,
        .preset = "info",
        .help = "How much is logged.",
    },
    {
        .name = "DEBUG",
        .group = GROUP_LOGGING,
        .kind = VARIABLE_BOOLEAN,
        .shared = true,
        .preset = "false",
        .help = "Log private details too: queries, full addresses, snippets.",
        .more =
            "Secrets stay out even then. Other programs use this name too: a value that is neither "
            "true nor false is ignored, with a warning.",
    },
    {
        .name = "FORAGE_CONFIG",
        .group = GROUP_FILE,
        .kind = VARIABLE_PATH,
        .help = "The configuration file to read; it must exist.",
        .more = "Without it, $XDG_CONFIG_HOME/forage/forage.env or ~/.config/forage/forage.env is "
                "read where "
                "there is one. Only the environment can set this.",
        .example = "/etc/forage/forage.env",
    },
};

const size_t VARIABLE_COUNT = sizeof VARIABLES / sizeof *VARIABLES;
