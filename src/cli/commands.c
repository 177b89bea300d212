/* The table of commands: what each is called, takes and does. A command is added here, and with a
 * line in cli.h and src/meson.build; help, manual page and completions follow. */
#include "cli/cli.h"
#include "ops/reports.h"

/* clang-format off */
#define FLAG(NAME, HELP) {.name = (NAME), .help = (HELP)}
#define TEXT(NAME, VALUE, HELP) {.name = (NAME), .value = (VALUE), .help = (HELP)}
#define NUMBER(NAME, LEAST, MOST, HELP) \
    {.name = (NAME), .value = "N", .help = (HELP), .least = (LEAST), .most = (MOST)}
#define SETTING(NAME, VALUE, VARIABLE, HELP) \
    {.name = (NAME), .value = (VALUE), .help = (HELP), .variable = (VARIABLE)}
#define JSON FLAG("--json", "print the whole result as JSON")
#define END {.name = NULL}
/* Behind a pointer: a table with room for the most in each row would be many times as large. */
#define OPTIONS(...) (const struct option[]){__VA_ARGS__, END}

/* Which memories, for `memory list` and `memory search`. */
#define MEMORY_FILTERS \
    TEXT("--tags", "LIST", "only those that have all of these tags (separated by commas)"), \
    TEXT("--time", "WORDS", "only those of this time: \"last week\", 2026-03"), \
    TEXT("--from", "TIME", "only those from this time on"), \
    TEXT("--until", "TIME", "only those up to the end of this time"), \
    TEXT("--session", "NAME", "only those of this conversation"), \
    TEXT("--role", "NAME", "only those that this one said"), \
    NUMBER("--limit", 0, 0, "at most so many results"), \
    NUMBER("--offset", 0, 0, "results to pass over")
/* clang-format on */

const char *const COMMAND_GROUP_TITLES[COMMANDS_GROUPS] = {
    [COMMANDS_SERVE] = "Serve agents",
    [COMMANDS_ASK] = "Ask from here",
    [COMMANDS_KEEP] = "See what is kept",
    [COMMANDS_LOOK] = "Look and set up",
};

static const struct command HISTORY_PARTS[] = {
    {
        .name = "list",
        .summary = "the newest calls",
        .options = OPTIONS(
            JSON, NUMBER("--limit", 1, REPORT_MOST_HISTORY, "so many of them (default: 20)")),
    },
    {.name = "export", .summary = "every call, as JSON, one a line"},
    {
        .name = "wipe",
        .summary = "delete all of it",
        .about = "Asks first; without a terminal to ask on, it deletes nothing but with --yes.",
        .options = OPTIONS(FLAG("--yes", "delete without asking")),
    },
    END,
};

static const struct command EXPERIMENT_PARTS[] = {
    {
        .name = "list",
        .summary = "the experiments that run here, and how far they are",
    },
    {
        .name = "show",
        .words = "EXPERIMENT",
        .summary = "what one has found: n, estimate and interval of each arm, and the verdict",
        .examples = {"forage experiment show more-results"},
    },
    {
        .name = "check",
        .words = "FILE",
        .summary = "say whether the file of an experiment is right, and what it tries",
        .about = "Exit code 2 where it is not.",
    },
    END,
};

static const struct command MEMORY_PARTS[] = {
    {
        .name = "add",
        .words = "[TEXT]...",
        .summary = "keep a text, or standard input",
        .options = OPTIONS(TEXT("--key", "KEY", "a name to find it by (default: one is made)"),
                           TEXT("--summary", "TEXT", "one line that says what it is about"),
                           TEXT("--tags", "LIST", "labels, separated by commas"),
                           TEXT("--session", "NAME", "the conversation that it is part of"),
                           TEXT("--role", "NAME", "who said it"),
                           TEXT("--created-at", "TIME", "when it happened (default: now)"),
                           TEXT("--expires-at", "TIME", "when it is to be forgotten")),
        .examples = {"forage memory add --tags bread,baking \"The oven runs 20 degrees hot.\""},
    },
    {
        .name = "get",
        .words = "KEY...",
        .summary = "print texts",
        .options =
            OPTIONS(NUMBER("--version", 1, INT64_MAX, "this version of it, instead of the last")),
    },
    {
        .name = "list",
        .summary = "print keys and summaries, newest first",
        .options = OPTIONS(TEXT("--prefix", "TEXT", "only those whose keys begin with this"),
                           MEMORY_FILTERS),
    },
    {
        .name = "search",
        .words = "QUERY...",
        .summary = "find memories by their words",
        .options = OPTIONS(FLAG("--explain", "show what each score is made of"), MEMORY_FILTERS),
        .examples = {"forage memory search how hot does the oven run"},
    },
    {
        .name = "fulltext",
        .words = "KEYWORD...",
        .summary = "find memories that hold certain words",
        .about = "A keyword is a word, a \"phrase of words\", a prefix*, or -excluded (after --).",
        .options =
            OPTIONS(TEXT("--operator", "OR|AND", "whether one of them is enough (default: OR)"),
                    MEMORY_FILTERS),
        .examples = {"forage memory fulltext --operator AND oven \"20 degrees\""},
    },
    {
        .name = "update",
        .words = "KEY [TEXT]...",
        .summary = "change parts of a memory",
        .about = "What is not given stays as it is. A TEXT of - is read from standard input.",
        .options = OPTIONS(TEXT("--summary", "TEXT", "one line that says what it is about"),
                           TEXT("--tags", "LIST", "labels, separated by commas"),
                           TEXT("--session", "NAME", "the conversation that it is part of"),
                           TEXT("--role", "NAME", "who said it"),
                           TEXT("--created-at", "TIME", "when it happened"),
                           TEXT("--expires-at", "TIME", "when it is to be forgotten, or never"),
                           NUMBER("--if-version", 1, INT64_MAX, "only if it is at this version")),
        .examples = {"forage memory update oven --tags bread,baking"},
    },
    {.name = "rename", .words = "KEY NEW_KEY", .summary = "give a memory another key"},
    {.name = "delete", .words = "KEY...", .summary = "delete memories for good, every version"},
    {
        .name = "history",
        .words = "KEY",
        .summary = "list the versions of a memory that are kept",
        .about = "FORAGE_MEMORY_VERSIONS says how many are.",
        .run = command_memory_history,
    },
    {
        .name = "restore",
        .words = "KEY VERSION",
        .summary = "make an earlier version of a memory the current one",
        .about = "It becomes a new version; the one that it replaces is kept like any other.",
        .run = command_memory_restore,
        .options = OPTIONS(TEXT("--expires-at", "TIME", "when it is to be forgotten, or never")),
        .examples = {"forage memory restore oven 2"},
    },
    {.name = "stats", .summary = "say how much is kept, and since when"},
    {
        .name = "namespaces",
        .summary = "list the namespaces and how many memories each holds",
        .about = "Those of every caller: `of NAME` says whose they are.",
        .run = command_memory_namespaces,
    },
    {
        .name = "import",
        .words = "[FILE]",
        .summary = "read memories of every namespace from a file, or standard input",
        .about = "Takes what export writes, a JSON array, and the files of other programs that "
                 "docs/memory.md lists. Everything is checked first: where a line is wrong, each "
                 "wrong one is named and nothing is imported. With --namespace only lines of that "
                 "namespace are taken, and lines that name none go there.",
        .run = command_memory_import,
        .options = OPTIONS(
            TEXT("--format", "auto|forage|graph|mem0|claude",
                 "what the file is (default: as it looks)"),
            TEXT("--into", "NAME", "put every memory into this namespace, whatever its line says")),
        .examples = {"forage memory import memories.jsonl",
                     "forage memory import memory.jsonl --into notes"},
    },
    {
        .name = "export",
        .words = "[FILE]",
        .summary = "write the memories of every namespace, one a line as JSON",
        .about = "Writes to a new file, or standard output, and says on standard error how many "
                 "of how many. With --namespace only that one is written.",
        .run = command_memory_export,
        .examples = {"forage memory export memories.jsonl",
                     "forage memory export --namespace notes notes.jsonl"},
    },
    {
        .name = "check",
        .summary = "verify every memory, the tables and their indexes",
        .about =
            "Only looks, and lists what is wrong. The exit code is 1 when a problem is left. A "
            "damaged text stays marked as damaged until it is overwritten or deleted.",
        .run = command_memory_check,
        .options = OPTIONS(
            FLAG("--repair", "rebuild what the memories themselves tell: indexes, counters")),
    },
    {
        .name = "reindex",
        .summary = "make the indexes of all namespaces anew",
        .about = "Nobody needs it: an index that is missing, damaged or old is noticed and made "
                 "anew. It is for who doubts one all the same.",
        .run = command_memory_reindex,
    },
    {
        .name = "backup",
        .words = "FILE",
        .summary = "copy the store into a new file, while it is used",
        .run = command_memory_backup,
    },
    END,
};

static const struct command COMMANDS[] = {
    {
        .name = "mcp",
        .summary = "serve MCP over standard input and output",
        .about = "One message is one line. Ends when standard input does.",
        .group = COMMANDS_SERVE,
        .run = command_mcp,
        .examples = {"forage mcp", "FORAGE_TOOLS=web,page forage mcp"},
    },
    {
        .name = "serve",
        .summary = "serve MCP and REST over HTTP",
        .about = "MCP is at /mcp, REST at /api/v1.",
        .group = COMMANDS_SERVE,
        .run = command_serve,
        .options = OPTIONS(SETTING("--host", "HOST", "FORAGE_HOST",
                                   "the address to listen on (default: 127.0.0.1)"),
                           SETTING("--port", "PORT", "FORAGE_PORT", "the port (default: 3000)")),
        .examples = {"forage serve --port 3000"},
    },
    {
        .name = "health",
        .summary = "ask the server of these settings whether it is well",
        .about = "Prints ok, or degraded where something does not work; the exit code is 1 when no "
                 "forage answers within three seconds. For the health checks of containers and "
                 "supervisors.",
        .group = COMMANDS_SERVE,
        .run = command_health,
        .options = OPTIONS(SETTING("--host", "HOST", "FORAGE_HOST",
                                   "the address that it listens on (default: 127.0.0.1)"),
                           SETTING("--port", "PORT", "FORAGE_PORT", "its port (default: 3000)")),
        .examples = {"forage health", "forage health --port 8080"},
    },
    {
        .name = "web",
        .words = "QUERY...",
        .summary = "search the web and read what is found",
        .about = "Prints the results with the beginnings of their pages. Several queries are "
                 "merged into one list. On a terminal, a line on standard error tells of each "
                 "page as it is read; where nobody has set a provider up, it asks whether to use "
                 "sources that need no key.",
        .group = COMMANDS_ASK,
        .run = command_web,
        .options =
            OPTIONS(NUMBER("--results", 0, 0, "how many results, from 1 to 20"),
                    NUMBER("--page", 0, 0, "which page of results"),
                    TEXT("--type", "web|news|scholar|images|code", "what to search"),
                    TEXT("--freshness", "day|week|month|year", "only what is not older than this"),
                    TEXT("--from", "DATE", "only what was published on this day or later"),
                    TEXT("--to", "DATE", "only what was published on this day or earlier"),
                    TEXT("--region", "CC", "the country to search from, as in DE or US"),
                    TEXT("--language", "LL", "the language of the results, as in de or en"),
                    TEXT("--site", "HOSTS", "only of these sites, separated by commas"),
                    TEXT("--exclude", "HOSTS", "nothing of these sites"),
                    FLAG("--full", "the pages as far as they fit, not their beginnings"), JSON),
        .examples = {"forage web \"rust borrow checker\" --results 5",
                     "forage web election --type news --freshness week"},
    },
    {
        .name = "read",
        .words = "URL...",
        .summary = "print a page of the web, or a document, as Markdown",
        .about = "Without a scheme, https is meant: example.org, example.org:8443/page; for "
                 "localhost, http. What begins with ./, ../ or / is a file of this machine, and so "
                 "is the name of a document that is there, such as report.pdf or notes.docx. Up to "
                 "ten addresses are read side by side. A page "
                 "that cannot be read is told on standard error, and the exit code is 1.",
        .group = COMMANDS_ASK,
        .run = command_read,
        .options =
            OPTIONS(TEXT("--section", "HEADING", "one section, by its heading or its number"),
                    TEXT("--focus", "QUESTION", "the passages that answer it"),
                    FLAG("--outline", "the headings alone"),
                    FLAG("--all", "everything visible, not the main part alone"),
                    NUMBER("--start", 0, INT64_MAX, "begin at this character"),
                    NUMBER("--max-chars", 0, INT64_MAX, "print at most so many characters"),
                    TEXT("--render", "auto|always|never",
                         "run the page's scripts in a browser first; auto: when it is empty "
                         "without them"),
                    JSON),
        .examples = {"forage read https://example.org/", "forage read example.org --outline",
                     "forage read example.org/a example.org/b", "forage read report.pdf"},
    },
    {
        .name = "answer",
        .words = "QUESTION",
        .summary = "print a short answer from the web with its sources",
        .about =
            "Asks search_web, which needs OPENAI_API_KEY, or FORAGE_ANSWER_MODEL=provider:name and "
            "something to search with. Where FORAGE_HISTORY is on, the same question within five "
            "minutes (FORAGE_ANSWER_CACHE_TTL) gets the answer that it "
            "had, and standard error says so.",
        .group = COMMANDS_ASK,
        .run = command_answer,
        .options = OPTIONS(NUMBER("--max", 0, 0, "at most so many sources"),
                           NUMBER("--fresh", 0, 0, "prefer sources of the last N hours"),
                           TEXT("--from", "DATE", "only sources published on this day or later"),
                           TEXT("--to", "DATE", "only sources published on this day or earlier"),
                           TEXT("--region", "CC", "the country to search from, as in DE or US"),
                           FLAG("--sources-only", "leave the answer out"),
                           FLAG("--follow", "the question follows on the last one"),
                           FLAG("--again", "ask anew, also where the answer is kept"), JSON),
        .examples = {"forage answer \"When is the next total eclipse in Europe?\"",
                     "forage answer \"And in Spain?\" --follow"},
    },
    {
        .name = "research",
        .words = "[TOPIC]",
        .summary = "let a worker research a topic and print its report",
        .about =
            "The worker is forage itself with a model, the Gemini CLI or Claude Code; on a "
            "terminal, one line tells what it "
            "does, round by round. Prints the report with a footnote for each claim, the pages "
            "that were read, and whether every claim has its quote on one of them. Each research "
            "is a job that is kept for a day (FORAGE_JOBS_TTL): one that was cut off goes on with "
            "--attach, and asking the same again goes on with it too.",
        .group = COMMANDS_ASK,
        .run = command_research,
        .options = OPTIONS(
            TEXT("--depth", "concise|detailed", "a few paragraphs, or sections"),
            NUMBER("--max-iterations", 0, 0, "rounds of searching and reading"),
            FLAG("--quick", "one round, by search rather than deep_search"),
            TEXT("--out", "FILE", "save it: .md, .json, or .html with the quotes beside"),
            FLAG("--follow", "the topic follows on the last one"),
            FLAG("--background", "print the job and go on without this terminal"),
            FLAG("--jobs", "list what runs and what is kept"),
            TEXT("--attach", "JOB", "wait for a job and print its report"),
            TEXT("--cancel", "JOB", "cancel a job; remove one that is over"),
            FLAG("--work", "work on what was left unfinished, until all of it is done"), JSON),
        .examples = {"forage research \"How did sourdough spread?\" --depth concise",
                     "forage research \"How did sourdough spread?\" --out sourdough.html"},
    },
    {
        .name = "extract",
        .summary = "turn a page of HTML into Markdown",
        .about = "Reads the page from standard input. With --batch each line of standard input is "
                 "the path of a page, its URL and the path of a file for the Markdown, with tabs "
                 "between; the answer is the path and the microseconds of processor time.",
        .group = COMMANDS_ASK,
        .run = command_extract,
        .options = OPTIONS(
            TEXT("--url", "URL", "where it comes from, for its relative links"),
            FLAG("--all", "everything visible, not the main part alone"),
            FLAG("--batch", "many pages, one after the other"),
            FLAG("--account", "each text of the page and where it went, with --json"), JSON),
        .examples = {"forage extract --url https://example.org/ < page.html"},
    },
    {
        .name = "call",
        .words = "TOOL [key=value|key:=json]...",
        .summary = "run one tool here and print its result as JSON",
        .about = "A value is text, or JSON where the tool wants another type; key:= forces JSON.",
        .group = COMMANDS_ASK,
        .run = command_call,
        .options = OPTIONS(TEXT("--json", "OBJECT", "the arguments, as one JSON object"),
                           FLAG("--again", "ask anew, also where an answer is kept")),
        .examples = {"forage call forage_status", "forage call web_search query=\"sourdough\""},
    },
    {
        .name = "memory",
        .words = "COMMAND",
        .summary = "memories, for people",
        .group = COMMANDS_KEEP,
        .run = command_memory,
        .parts = MEMORY_PARTS,
        .options =
            OPTIONS(TEXT("--namespace", "NAME",
                         "the namespace to work in (default: default; of import and export: all)"),
                    JSON),
    },
    {
        .name = "usage",
        .summary = "calls, tokens and money, per day and tool",
        .group = COMMANDS_KEEP,
        .run = command_usage,
        .options = OPTIONS(NUMBER("--days", 1, REPORT_MOST_DAYS, "so many days back (default: 7)"),
                           TEXT("--caller", "NAME", "only of this caller"), JSON),
    },
    {
        .name = "history",
        .words = "COMMAND",
        .summary = "what was asked, where FORAGE_HISTORY keeps it",
        .group = COMMANDS_KEEP,
        .run = command_history,
        .parts = HISTORY_PARTS,
        .options = OPTIONS(TEXT("--caller", "NAME", "that of this caller (default: your own)")),
    },
    {
        .name = "experiment",
        .words = "COMMAND",
        .summary = "parameters that are tried out, and what came of it",
        .about = "FORAGE_EXPERIMENTS names the files of those that run.",
        .group = COMMANDS_KEEP,
        .run = command_experiment,
        .parts = EXPERIMENT_PARTS,
        .options = OPTIONS(JSON),
    },
    {
        .name = "setup",
        .words = "[CLIENT]",
        .summary = "put forage into a client's configuration, or list the clients",
        .about = "Shows the change first and asks. Keys are written as references to variables "
                 "where the client knows such; everything else in the file stays as it is.",
        .group = COMMANDS_LOOK,
        .run = command_setup,
        .options =
            OPTIONS(FLAG("--yes", "write without asking"), FLAG("--undo", "take it back"),
                    FLAG("--print", "print what to put there, and write nothing"),
                    TEXT("--link", "CLIENT", "print a link that puts it there with one click"),
                    TEXT("--scope", "user|project", "whose file (default: user)"),
                    TEXT("--keys", "LIST", "the variables to hand on (default: those set here)"),
                    FLAG("--with-keys", "write the values of keys too"),
                    FLAG("--open", "search the web with sources that need no key"),
                    FLAG("--no-open", "do not ask whether to"),
                    TEXT("--http", "URL", "a server that runs already"),
                    TEXT("--token", "VARIABLE", "the variable that holds the token for --http"),
                    TEXT("--command", "FILE", "the program to start (default: this one)"),
                    TEXT("--runner", "npx|uvx", "start it by what brings the package"),
                    TEXT("--name", "NAME", "the server's name there (default: forage)"),
                    FLAG("--markdown", "print the client's page of documentation"),
                    FLAG("--json", "print what happens as JSON")),
        .examples = {"forage setup", "forage setup claude-code", "forage setup cursor --undo",
                     "forage setup --link cursor"},
    },
    {
        .name = "dashboard",
        .summary = "open the page of the server that runs, in the browser",
        .about = "Prints its address; without a display, or with --print, that is all. The server "
                 "is one that `forage serve` started.",
        .group = COMMANDS_LOOK,
        .run = command_dashboard,
        .options = OPTIONS(
            FLAG("--print", "print the address, and open nothing"),
            SETTING("--host", "HOST", "FORAGE_HOST", "where it listens (default: 127.0.0.1)"),
            SETTING("--port", "PORT", "FORAGE_PORT", "its port (default: 3000)")),
        .examples = {"forage dashboard", "forage dashboard --print --port 8080"},
    },
    {
        .name = "doctor",
        .summary = "say what works here, what is missing and how to repair it",
        .about = "The exit code is 1 when something is broken; what is merely missing is not. "
                 "Nothing is sent anywhere unless --online asks for it.",
        .group = COMMANDS_LOOK,
        .run = command_doctor,
        .options =
            OPTIONS(FLAG("--online", "ask the services whether they accept the keys"),
                    FLAG("--json", "print it as JSON"), FLAG("--markdown", "print docs/doctor.md")),
        .examples = {"forage doctor", "forage doctor --online"},
    },
    {
        .name = "tools",
        .words = "[TOOL]",
        .summary = "list the tools and what each lacks, or describe one",
        .group = COMMANDS_LOOK,
        .run = command_tools,
        .options = OPTIONS(FLAG("--json", "print definitions as JSON, as clients get them"),
                           FLAG("--markdown", "print a tool's page of documentation")),
        .examples = {"forage tools", "forage tools web_search"},
    },
    {
        .name = "config",
        .summary = "print the settings in force and where each came from",
        .about = "Secrets are masked.",
        .group = COMMANDS_LOOK,
        .run = command_config,
        .options =
            OPTIONS(FLAG("--json", "as JSON"), FLAG("--markdown", "print docs/configuration.md"),
                    FLAG("--env-example", "print a file of settings with every one in it"),
                    FLAG("--man", "print the manual page forage.env(5)")),
    },
    {
        .name = "completions",
        .words = "bash|zsh|fish|line [WORD]...",
        .summary = "print completions for a shell",
        .about = "What it prints belongs into the shell's start-up file, or where packages put "
                 "completions. The scripts ask `forage completions line` what can stand in place "
                 "of the last word.",
        .group = COMMANDS_LOOK,
        .run = command_completions,
        .examples = {"source <(forage completions bash)", "forage completions fish | source"},
    },
    {
        .name = "help",
        .words = "[COMMAND]...",
        .summary = "explain a command",
        .group = COMMANDS_LOOK,
        .run = command_help,
        .options = OPTIONS(FLAG("--man", "print the manual page forage(1)")),
        .examples = {"forage help memory add"},
    },
    {
        .name = "version",
        .summary = "print the version",
        .group = COMMANDS_LOOK,
        .run = command_version,
    },
    END,
};

const struct command COMMAND_ROOT = {
    .name = "forage",
    .words = "COMMAND",
    .summary = "search for AI agents, over MCP, REST and the command line",
    .parts = COMMANDS,
    .options = OPTIONS(
        SETTING("--config", "FILE", "FORAGE_CONFIG",
                "settings as KEY=value lines (default: ~/.config/forage/forage.env)"),
        SETTING("--model", "NAME", "FORAGE_RESEARCH_MODEL", "the model of the research worker"),
        SETTING("--context", "NAME", "FORAGE_CONTEXT",
                "the client that the server is for; picks the size and form of results"),
        TEXT("--color", "auto|always|never", "colour; auto: on a terminal"),
        FLAG("--help", "explain the command")),
    .examples = {"forage serve --port 3000", "forage read https://example.org/",
                 "forage web \"rust borrow checker\" --results 5", "forage help web"},
};
