/* The table of checks, how they run, and the description of what they found. */
#include "doctor/doctor.h"

#include "call/side.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/redact.h"
#include "doctor/check.h"
#include "text/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The settings come first: when they cannot be loaded there is nothing else to look at. */
static const struct check CHECKS[] = {
    {"program.settings", DOCTOR_PROGRAM, "settings", NEEDED, look_at_settings,
     "every variable is known and has a value that fits", NULL},
    {"program.file", DOCTOR_PROGRAM, "settings file", EXTRA, look_at_file,
     "which file was read, and that nobody else can read keys in it", NULL},
    {"program.start", DOCTOR_PROGRAM, "start", NEEDED, look_at_start,
     "a server would start with these settings", NULL},
    {"program.libcurl", DOCTOR_PROGRAM, "libcurl", NEEDED, look_at_curl,
     "the library that fetches is there", NULL},
    {"program.names", DOCTOR_PROGRAM, "names", EXTRA, look_at_names,
     "the library that asks name servers (c-ares) is there", NULL},
    {"program.certificates", DOCTOR_PROGRAM, "certificates", NEEDED, look_at_certificates,
     "there are certificates to check servers by", NULL},

    {"search.order", DOCTOR_SEARCH, "order", EXTRA, look_at_order,
     "which providers are asked, in which order", NULL},
    {"search.serper", DOCTOR_SEARCH, "Serper", ONE_OF, look_at_provider,
     "its key; online: one search with one result (1 credit)", &PROVIDER_SERPER},
    {"search.tavily", DOCTOR_SEARCH, "Tavily", ONE_OF, look_at_provider,
     "its key; online: GET /usage (free)", &PROVIDER_TAVILY},
    {"search.searxng", DOCTOR_SEARCH, "SearXNG", ONE_OF, look_at_provider,
     "its address; online: one search (free)", &PROVIDER_SEARXNG},
    {"search.brave", DOCTOR_SEARCH, "Brave", ONE_OF, look_at_provider,
     "its key; online: one search with one result (1 request)", &PROVIDER_BRAVE},
    {"search.exa", DOCTOR_SEARCH, "Exa", ONE_OF, look_at_provider,
     "its key; online: one search with one result (1 request)", &PROVIDER_EXA},
    {"search.open", DOCTOR_SEARCH, "open sources", ONE_OF, look_at_open,
     "which of them are asked, and which are not; online: one search of one of them (free)", NULL},

    {"pages.browser", DOCTOR_PAGES, "pages with JavaScript", EXTRA, look_at_browser,
     "a browser is found, nobody else can reach it, and it starts", NULL},
    {"pages.pdf", DOCTOR_PAGES, "PDFs", EXTRA, look_at_pdf, "Poppler's pdftotext runs", NULL},
    {"pages.cache", DOCTOR_PAGES, "cache", EXTRA, look_at_cache,
     "its folder can be written to and is private", NULL},
    {"pages.github", DOCTOR_PAGES, "GitHub", EXTRA, look_at_github,
     "its token; online: GET /rate_limit (free)", NULL},
    {"pages.stackexchange", DOCTOR_PAGES, "Stack Exchange", EXTRA, look_at_stackexchange,
     "its key; online: GET /2.3/info (free)", NULL},

    {"answers.openai", DOCTOR_ANSWERS, "OpenAI", NEEDED, look_at_openai,
     "its key, or the model of FORAGE_ANSWER_MODEL and a search for it; online: GET /models "
     "(free), "
     "or one small question",
     NULL},

    {"research.worker", DOCTOR_RESEARCH, "worker", NEEDED, look_at_worker,
     "who researches: a program that is found and runs, or forage with a model and a search", NULL},
    {"research.node", DOCTOR_RESEARCH, "Node.js", NEEDED, look_at_node,
     "it is new enough for the worker, where that needs it", NULL},
    {"research.sign-in", DOCTOR_RESEARCH, "sign-in", NEEDED, look_at_sign_in,
     "the worker has a key or an account; online: its list of models (free)", NULL},
    {"research.folder", DOCTOR_RESEARCH, "worker's folder", EXTRA, look_at_worker_folder,
     "it is there or can be made", NULL},
    {"research.firecrawl", DOCTOR_RESEARCH, "Firecrawl", EXTRA, look_at_firecrawl,
     "its key or address; online: GET /v2/team/credit-usage (free)", NULL},
    {"research.model", DOCTOR_RESEARCH, "language model", EXTRA, look_at_language_model,
     "the model of FORAGE_MODEL, its address and its key; online: one small question (some hundred "
     "tokens)",
     NULL},

    {"kept.folder", DOCTOR_KEPT, "data folder", NEEDED, look_at_data,
     "it can be written to, is private and has room", NULL},
    {"kept.database", DOCTOR_KEPT, "database", NEEDED, look_at_database,
     "SQLite: whole and writable; PostgreSQL: libpq, the connection, its tables", NULL},
    {"kept.model", DOCTOR_KEPT, "meaning", EXTRA, look_at_model,
     "the model that finds memories by what they mean is there, whole, and gives a vector", NULL},

    {"serving.port", DOCTOR_SERVING, "port", EXTRA, look_at_port, "it is free, or we are on it",
     NULL},
    {"serving.tokens", DOCTOR_SERVING, "tokens", NEEDED, look_at_tokens,
     "there are some where others can reach the server", NULL},

    {"clients.configured", DOCTOR_CLIENTS, "clients", NEEDED, look_at_clients,
     "which clients of this machine have forage", NULL},
};

#define CHECK_COUNT (sizeof CHECKS / sizeof *CHECKS)

static const struct {
    const char *id;
    const char *title;
} GROUPS[DOCTOR_GROUPS] = {
    [DOCTOR_PROGRAM] = {"program", "forage itself"},
    [DOCTOR_SEARCH] = {"search", "Web search"},
    [DOCTOR_PAGES] = {"pages", "Reading pages"},
    [DOCTOR_ANSWERS] = {"answers", "Short answers"},
    [DOCTOR_RESEARCH] = {"research", "Research"},
    [DOCTOR_KEPT] = {"kept", "Memories and records"},
    [DOCTOR_SERVING] = {"serving", "Serving over HTTP"},
    [DOCTOR_CLIENTS] = {"clients", "Clients"},
};

struct doctor {
    struct doctor_options options;
    size_t count; /* of the checks, from the first, that were made */
    struct look looks[CHECK_COUNT];
};

/* ---- for the checks ---- */

static void __attribute__((format(printf, 3, 0)))
put(char *out, size_t size, const char *format, va_list args)
{
    struct buf text;
    buf_init(&text, KIB(64));
    buf_vprintf(&text, format, args);
    redact_buf(&text, 0, WORDS_OURS);
    snprintf(out, size, "%s", text.data ? text.data : "");
    text_repair(out);
    for (char *at = out; *at; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7F ? ' ' : *at; /* one line, and no more */
    }
    buf_done(&text);
}

void report(struct look *look, enum finding_state state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    look->finding.state = state;
    put(look->finding.text, sizeof look->finding.text, format, args);
    va_end(args);
}

void suggest(struct look *look, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(look->finding.fix, sizeof look->finding.fix, format, args);
    va_end(args);
}

/* A path for a shell, in quotes where it needs them; what is at home begins with ~. */
static void put_path(struct text_out *out, const char *path)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    bool at_home = length > 1 && strncmp(path, home, length) == 0 && path[length] == '/';
    const char *rest = at_home ? path + length : path;
    bool plain = strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "/._-+,@%") == strlen(rest);
    text_put(out, plain && at_home ? "~" : plain ? "" : "'");
    for (const char *at = plain ? rest : path; *at; at++) {
        text_put_bytes(out, at, 1);
        text_put(out, !plain && *at == '\'' ? "\\''" : "");
    }
    text_put(out, plain ? "" : "'");
}

/* Whether the variable has its value from the file, and not from this shell. */
static bool is_in_file(const char *variable)
{
    return config_file() &&
           strncmp(config_origin(variable), config_file(), strlen(config_file())) == 0;
}

void suggest_on(struct look *look, const char *command, const char *path)
{
    char text[sizeof look->finding.fix];
    struct text_out out;
    text_start(&out, text, sizeof text);
    text_putf(&out, "%s ", command);
    put_path(&out, path);
    suggest(look, "%s", text);
}

/* Whether a line that is added would go on where the last one ended. */
static bool has_open_end(const char *path)
{
    char last = '\n';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        off_t end = lseek(fd, 0, SEEK_END);
        if (end > 0 && pread(fd, &last, 1, end - 1) != 1) {
            last = '\n';
        }
        close(fd);
    }
    return last != '\n';
}

/* A file that is not there is made so that nobody else can read it. */
static void put_addition(struct text_out *out, const char *variable, const char *value)
{
    const char *file = config_file_place();
    char folder[4096];
    bool there = config_file() != NULL;
    const char *quote = strpbrk(value, " $&;()<>") ? "\"" : "";
    if (!there) {
        const char *slash = strrchr(file, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file) : 1,
                 slash ? file : ".");
        text_put(out, "(umask 077 && mkdir -p ");
        put_path(out, folder);
        text_put(out, " && ");
    } else if (has_open_end(file)) {
        text_put(out, "echo >>");
        put_path(out, file);
        text_put(out, " && ");
    }
    text_putf(out, "echo %s%s=%s%s >>", quote, variable, value, quote);
    put_path(out, file);
    text_put(out, there ? "" : ")");
}

void suggest_setting(struct look *look, const char *variable, const char *value)
{
    char command[sizeof look->finding.fix];
    struct text_out out;
    if (!config_file_place()) {
        suggest(look, "export %s=%s", variable, value);
        return;
    }
    if (is_in_file(variable)) {
        suggest_on(look, DOCTOR_EDITOR, config_file());
        return;
    }
    text_start(&out, command, sizeof command);
    if (config_is_set(variable)) {
        text_putf(&out, "unset %s && ", config_name_used(variable));
    }
    put_addition(&out, variable, value);
    suggest(look, "%s", command);
}

void suggest_unset(struct look *look, const char *variable)
{
    const char *written = config_name_used(variable);
    if (is_in_file(variable)) {
        suggest_on(look, DOCTOR_EDITOR, config_file());
    } else {
        suggest(look, "unset %s", written ? written : variable);
    }
}

/* ---- running ---- */

static void work(struct call *call, void *item, struct arena *keep)
{
    (void)keep;
    struct look *look = item;
    look->call = call;
    call_limit_time(call, TIME_DOCTOR_CHECK_MS);
    look->check->look(look);
    look->call = NULL;
}

/* A look at something that does not answer goes on behind our back until it notices; its finding
 * must not be read, and has one of ours in its place. */
static void replace_unfinished(struct doctor *doctor, size_t index)
{
    struct look late = {.check = &CHECKS[index]};
    report(&late, FINDING_BROKEN, "no answer within %d seconds", TIME_DOCTOR_CHECK_MS / 1000);
    doctor->looks[index] = late;
}

static int run_all(struct call *call, struct doctor *doctor)
{
    call_book_for(call, "doctor", NULL);
    struct side *side = side_new(call, work, CHECK_COUNT, CHECK_COUNT, KIB(4));
    struct look *looks = arena_zalloc(call_arena(call), sizeof doctor->looks);
    if (!side || !looks) {
        side_free(side);
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        looks[i] = (struct look){.check = &CHECKS[i], .options = &doctor->options};
        side_set(side, i, &looks[i]);
    }
    int status = side_run(side, TIME_DOCTOR_RESERVE_MS, NULL, NULL);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        if (side_finished(side, i)) {
            doctor->looks[i] = looks[i];
        } else {
            replace_unfinished(doctor, i);
        }
    }
    side_free(side);
    return status == ERR_DEADLINE ? OK : status;
}

/* ---- describing ---- */

static bool has_broken(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (doctor->looks[i].finding.state == FINDING_BROKEN) {
            return true;
        }
    }
    return false;
}

static const char *group_state(const struct doctor *doctor, enum doctor_group group)
{
    bool lacks = false;
    bool has_choice = false;
    bool has_one = false;
    for (size_t i = 0; i < doctor->count; i++) {
        enum finding_state state = doctor->looks[i].finding.state;
        if (CHECKS[i].group != group) {
            continue;
        }
        if (state == FINDING_BROKEN) {
            return "broken";
        }
        lacks = lacks || (CHECKS[i].need == NEEDED && state == FINDING_MISSING);
        has_choice = has_choice || CHECKS[i].need == ONE_OF;
        has_one = has_one || (CHECKS[i].need == ONE_OF && state <= FINDING_WARNING &&
                              state != FINDING_MISSING);
    }
    return lacks || (has_choice && !has_one) ? "not set up" : "works";
}

static void describe_check(const struct look *look, yyjson_mut_doc *doc, yyjson_mut_val *checks)
{
    static const char *const STATES[] = {[FINDING_OK] = "ok",
                                         [FINDING_MISSING] = "missing",
                                         [FINDING_WARNING] = "warning",
                                         [FINDING_BROKEN] = "broken",
                                         [FINDING_UNUSED] = "unused"};
    yyjson_mut_val *check = yyjson_mut_arr_add_obj(doc, checks);
    yyjson_mut_obj_add_str(doc, check, "id", look->check->id);
    yyjson_mut_obj_add_str(doc, check, "title", look->check->title);
    yyjson_mut_obj_add_str(doc, check, "state", STATES[look->finding.state]);
    yyjson_mut_obj_add_strcpy(doc, check, "text", look->finding.text);
    if (*look->finding.fix) {
        yyjson_mut_obj_add_strcpy(doc, check, "mend", look->finding.fix);
    } else {
        yyjson_mut_obj_add_null(doc, check, "mend");
    }
}

static yyjson_mut_val *describe(const struct doctor *doctor, yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_bool(doc, root, "online", doctor->options.online);
    yyjson_mut_obj_add_bool(doc, root, "ok", !has_broken(doctor));
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, root, "groups");
    yyjson_mut_val *checks = NULL;
    for (size_t i = 0; i < doctor->count; i++) {
        enum doctor_group group = CHECKS[i].group;
        if (i == 0 || CHECKS[i - 1].group != group) {
            yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, groups);
            yyjson_mut_obj_add_str(doc, one, "id", GROUPS[group].id);
            yyjson_mut_obj_add_str(doc, one, "title", GROUPS[group].title);
            yyjson_mut_obj_add_str(doc, one, "state", group_state(doctor, group));
            checks = yyjson_mut_obj_add_arr(doc, one, "checks");
        }
        describe_check(&doctor->looks[i], doc, checks);
    }
    return root;
}

size_t doctor_check_count(void)
{
    return CHECK_COUNT;
}

yyjson_mut_val *doctor_examine(struct call *call, const struct doctor_options *options,
                               yyjson_mut_doc *doc)
{
    struct doctor *doctor = calloc(1, sizeof *doctor);
    int status = OK;
    if (!doctor) {
        return NULL;
    }
    doctor->options = *options;
    doctor->count = options->refused ? 1 : CHECK_COUNT;
    if (options->refused) {
        doctor->looks[0] = (struct look){.check = &CHECKS[0], .options = &doctor->options};
        look_at_settings(&doctor->looks[0]);
    } else {
        status = run_all(call, doctor);
    }
    yyjson_mut_val *described = status == OK ? describe(doctor, doc) : NULL;
    free(doctor);
    return described;
}

/* ---- docs/doctor.md ---- */

static const char HEAD[] =
    "# forage doctor\n"
    "\n"
    "<!-- Made by `forage doctor --markdown`; change src/doctor/ instead. -->\n"
    "\n"
    "`forage doctor` looks at this machine and says what works, what is missing and what is\n"
    "broken, each with the one command that repairs it. It takes a second or two, at most\n"
    "twelve, changes nothing, and sends nothing anywhere. The settings that it suggests go into\n"
    "the file that forage reads wherever it is started, since clients with windows do not know\n"
    "the variables of a shell.\n"
    "\n"
    "```sh\n"
    "forage doctor            # everything that can be seen from here\n"
    "forage doctor --online   # and ask every service that has a key whether it accepts it\n"
    "forage doctor --json     # for programs\n"
    "```\n"
    "\n"
    "```text\n"
    "Web search: works\n"
    "  ok       order: Serper\n"
    "  ok       Serper: SERPER_API_KEY is set (environment)\n"
    "  missing  Tavily: TAVILY_API_KEY is not set\n"
    "           $ echo TAVILY_API_KEY=YOUR-KEY >>~/.config/forage/forage.env\n"
    "```\n"
    "\n"
    "| state | what it means |\n"
    "|---|---|\n"
    "| `ok` | works |\n"
    "| `missing` | not there, and nothing that was set up needs it |\n"
    "| `warning` | works, but somebody should look at it |\n"
    "| `broken` | set up, or needed, and does not work |\n"
    "| `unused` | does not matter with these settings |\n"
    "\n"
    "The exit code is 0 when nothing is broken and 1 when something is; 2 is for wrong\n"
    "arguments. A group works when nothing in it is broken, everything that it needs is there\n"
    "and, for web search, there is one provider. A key is never printed.\n";

static const char TAIL[] =
    "\n"
    "## As JSON\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"version\": \"0.8.0\",\n"
    "  \"online\": false,\n"
    "  \"ok\": true,\n"
    "  \"groups\": [\n"
    "    {\n"
    "      \"id\": \"search\",\n"
    "      \"title\": \"Web search\",\n"
    "      \"state\": \"works\",\n"
    "      \"checks\": [\n"
    "        {\n"
    "          \"id\": \"search.serper\",\n"
    "          \"title\": \"Serper\",\n"
    "          \"state\": \"missing\",\n"
    "          \"text\": \"SERPER_API_KEY is not set\",\n"
    "          \"mend\": \"echo SERPER_API_KEY=YOUR-KEY >>~/.config/forage/forage.env\"\n"
    "        }\n"
    "      ]\n"
    "    }\n"
    "  ]\n"
    "}\n"
    "```\n"
    "\n"
    "`ok` is false when something is broken. A group's `state` is `works`, `not set up` or\n"
    "`broken`; `mend` is null where there is nothing to repair. Groups and checks come in this\n"
    "order and keep their ids; new ones may be added, and texts may change. When the settings\n"
    "themselves are refused, `program.settings` is the only check.\n";

void doctor_write_markdown(struct buf *out)
{
    buf_puts(out, HEAD);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        if (i == 0 || CHECKS[i - 1].group != CHECKS[i].group) {
            buf_printf(out, "\n## %s\n\n| check | what is looked at |\n|---|---|\n",
                       GROUPS[CHECKS[i].group].title);
        }
        buf_printf(out, "| `%s` | %s |\n", CHECKS[i].id, CHECKS[i].about);
    }
    buf_puts(out, TAIL);
}
