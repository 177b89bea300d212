/* Checks of programs: forage itself (its settings, the library that it fetches with, certificates),
 * and those that it starts (the browser, pdftotext, the research worker and what that needs). */
#include "browser/browser.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/limits.h"
#include "doctor/check.h"
#include "net/ares_api.h"
#include "net/curl_api.h"
#include "net/surroundings.h"
#include "proc/proc.h"
#include "research/own/own.h"
#include "research/steps.h"
#include "research/worker.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_PARTS 64 /* however many are missing */
#define NODE_LEAST 20 /* what the Gemini CLI asks for; Claude Code is content with less */

/* ---- forage itself ---- */

/* "NAME must be ..." or "unknown variable NAME ...": the name, and where it came from, say how to
 * be rid of it. */
static void suggest_variable(struct look *look, const char *words)
{
    static const char UNKNOWN[] = "unknown variable ";
    const char *name =
        strncmp(words, UNKNOWN, sizeof UNKNOWN - 1) == 0 ? words + sizeof UNKNOWN - 1 : words;
    int length = (int)strcspn(name, " :=");
    if (strstr(words, "(environment)")) {
        suggest(look, "unset %.*s", length, name);
    } else if (config_file()) {
        suggest_on(look, DOCTOR_EDITOR, config_file());
    } else {
        suggest(look, "forage config --env-example");
    }
}

static bool is_about_mode(const char *warning)
{
    return strstr(warning, "others can read it") != NULL;
}

void look_at_settings(struct look *look)
{
    const char *refused = look->options->refused;
    size_t odd = 0;
    const char *first = NULL;
    if (refused) {
        report(look, FINDING_BROKEN, "%.*s", (int)strcspn(refused, "\n"), refused);
        suggest_variable(look, refused);
        return;
    }
    for (size_t i = 0; i < config_warning_count(); i++) {
        if (!is_about_mode(config_warning(i)) && odd++ == 0) {
            first = config_warning(i);
        }
    }
    if (!first) {
        report(look, FINDING_OK, "every variable is known, and every value fits");
        return;
    }
    if (odd > 1) {
        report(look, FINDING_WARNING, "%s (and %zu more: forage config)", first, odd - 1);
    } else {
        report(look, FINDING_WARNING, "%s", first);
    }
    suggest_variable(look, first);
}

void look_at_file(struct look *look)
{
    const char *file = config_file();
    if (!file) {
        report(look, FINDING_OK, "none; settings come from the environment");
        return;
    }
    report(look, FINDING_OK, "%s", file);
    /* The usual file is read by us alone; one that was named may be that of a service. */
    if (config_is_set("FORAGE_CONFIG") && config_file_otherwise()) {
        report(look, FINDING_WARNING, "%s, as EnvironmentFile= of systemd, reads otherwise: %s",
               file, config_file_otherwise());
        suggest_on(look, DOCTOR_EDITOR, file);
    }
    for (size_t i = 0; i < config_warning_count(); i++) {
        if (is_about_mode(config_warning(i))) {
            report(look, FINDING_WARNING, "%s holds keys, and others can read it", file);
            suggest_on(look, "chmod 600", file);
        }
    }
}

void look_at_start(struct look *look)
{
    if (look->options->failed) {
        report(look, FINDING_BROKEN, "%s", look->options->failed);
        suggest(look, "forage config");
    } else {
        report(look, FINDING_OK, "version %s starts with these settings", FORAGE_VERSION);
    }
}

void look_at_curl(struct look *look)
{
    const char *problem = NULL;
    const struct curl_api *api = curl_api_open(&problem);
    if (!api) {
        report(look, FINDING_BROKEN, "%s", problem);
        suggest(look, "apt-get install libcurl4");
        return;
    }
    const curl_version_info_data *info = api->version_info(CURLVERSION_NOW);
    report(look, FINDING_OK, "%s with %s", info->version,
           info->ssl_version ? info->ssl_version : "no TLS");
}

void look_at_names(struct look *look)
{
    const char *problem = NULL;
    const struct ares_api *api = ares_api_open(&problem);
    bool own = config_text("FORAGE_NAME_SERVERS") != NULL;
    if (!api) {
        report(look, own ? FINDING_BROKEN : FINDING_WARNING, "%s%s", problem,
               own ? "; FORAGE_NAME_SERVERS needs it"
                   : "; until then names are looked up in threads, of which there are few");
        suggest(look, "apt-get install libc-ares2");
        return;
    }
    report(look, FINDING_OK, "c-ares %s asks %s", api->version(NULL),
           own ? config_text("FORAGE_NAME_SERVERS") : "the system's name servers");
}

void look_at_certificates(struct look *look)
{
    const char *source = NULL;
    if (!curl_api_open(NULL)) {
        report(look, FINDING_UNUSED, "not without libcurl");
    } else if (trust_found(&source)) {
        report(look, FINDING_OK, "%s", source);
    } else if (source) {
        report(look, FINDING_BROKEN, "%s, which the environment names, cannot be read", source);
        suggest(look, "unset CURL_CA_BUNDLE SSL_CERT_FILE");
    } else {
        report(look, FINDING_BROKEN, "there are none: no server can be trusted");
        suggest(look, "apt-get install ca-certificates");
    }
}

/* ---- running one ---- */

/* The first thing that looks like "20.11.1". */
static bool find_version(const char *text, char *out, size_t size)
{
    for (; *text; text++) {
        size_t length = strspn(text, "0123456789.");
        if (isdigit((unsigned char)*text) && memchr(text, '.', length)) {
            snprintf(out, size, "%.*s", (int)length, text);
            return true;
        }
        text += length ? length - 1 : 0;
    }
    return false;
}

/* Runs "PROGRAM ARGUMENT", confined where `confinement` asks how far that goes, and takes the first
 * version number that it prints, "20.11.1". A status as of proc_run; ERR_FAILED when it ends badly,
 * with its words in `out`. */
static int ask_version_of(struct look *look, const char *program, const char *argument,
                          unsigned *confinement, char *out, size_t size)
{
    const char *const arguments[] = {program, argument, NULL};
    const char *path = getenv("PATH");
    const char *home = getenv("HOME");
    struct arena *arena = call_arena(look->call);
    const char *const environment[] = {arena_printf(arena, "PATH=%s", path ? path : ""),
                                       arena_printf(arena, "HOME=%s", home ? home : "/"),
                                       "NO_COLOR=1", NULL};
    struct proc_options options = {.arguments = arguments,
                                   .environment = environment,
                                   .directory = "/",
                                   .max_output_bytes = KIB(64),
                                   .max_errors_bytes = KIB(64),
                                   .confined = confinement != NULL};
    struct proc_result result;
    if (arena_failed(arena)) {
        return ERR_NOMEM;
    }
    int status = proc_run(look->call, &options, &result);
    if (status != OK) {
        return status;
    }
    if (confinement) {
        *confinement = result.confinement;
    }
    /* Some versions of pdftotext end with 99 after saying which they are. */
    bool fine = result.exit.code == 0 || result.exit.code == 99;
    if (fine &&
        (find_version(result.output, out, size) || find_version(result.errors, out, size))) {
        return OK;
    }
    const char *words = *result.errors ? result.errors : result.output;
    snprintf(out, size, "%.*s", (int)strcspn(words, "\n"), *words ? words : "it says nothing");
    return ERR_FAILED;
}

static int ask_version(struct look *look, const char *program, const char *argument, char *out,
                       size_t size)
{
    return ask_version_of(look, program, argument, NULL, out, size);
}

/* ---- pages ---- */

void look_at_browser(struct look *look)
{
    char lacks[512];
    const char *problem = NULL;
    bool reached;
    if (!browser_found(call_parts(look->call)->browser, &reached, lacks, sizeof lacks)) {
        bool named = config_text("FORAGE_BROWSER_PATH") || config_text("CHROME_BIN");
        report(look, named ? FINDING_BROKEN : FINDING_MISSING, "%.*s", (int)strcspn(lacks, ";:"),
               lacks);
        if (named) {
            suggest_unset(look, config_text("FORAGE_BROWSER_PATH") ? "FORAGE_BROWSER_PATH"
                                                                   : "CHROME_BIN");
        } else {
            suggest(look, "apt-get install chromium-headless-shell");
        }
        return;
    }
    int status = browser_try(look->call, lacks, sizeof lacks, &problem);
    if (status == OK && reached) {
        report(look, FINDING_WARNING,
               "%s starts, but is a Snap: other users of this machine can reach its port, and "
               "`forage serve` uses it only where FORAGE_BROWSER_PATH names it",
               lacks);
        suggest(look, "apt-get install chromium-headless-shell");
        return;
    }
    if (status == OK) {
        report(look, FINDING_OK, "%s starts", lacks);
        return;
    }
    report(look, FINDING_BROKEN, "%s does not start: %s", lacks,
           problem ? problem : status_name(status));
    suggest(look, "apt-get install --reinstall chromium-headless-shell");
}

void look_at_pdf(struct look *look)
{
    char version[200];
    unsigned confinement = 0;
    int status = ask_version_of(look, "pdftotext", "-v", &confinement, version, sizeof version);
    if (status == OK && confinement == PROC_CONFINED_ALL) {
        report(look, FINDING_OK, "pdftotext %s, %s", version, confinement_words(confinement));
    } else if (status == OK) {
        report(look, FINDING_WARNING, "pdftotext %s runs %s: the system has no Landlock, %s",
               version, confinement_words(confinement),
               "no user namespaces or no seccomp; read strange PDFs in a container");
    } else if (status == ERR_NOTFOUND) {
        report(look, FINDING_MISSING, "pdftotext is not on PATH");
        suggest(look, "apt-get install poppler-utils");
    } else {
        report(look, FINDING_BROKEN, "pdftotext does not run: %s",
               status == ERR_FAILED ? version : status_name(status));
        suggest(look, "apt-get install --reinstall poppler-utils");
    }
}

/* ---- research ---- */

static bool find_worker(char path[WORKER_PATH_SIZE])
{
    char problem[512];
    return worker_find(worker_chosen(), path, problem, sizeof problem) == OK;
}

static const char *worker_package(void)
{
    return worker_chosen() == &WORKER_CLAUDE ? "@anthropic-ai/claude-code" : "@google/gemini-cli";
}

/* Our own loop is no program and needs none. */
static bool is_own(struct look *look)
{
    if (!worker_is_own()) {
        return false;
    }
    report(look, FINDING_UNUSED, "forage researches by itself");
    return true;
}

static void look_at_own(struct look *look)
{
    char lacks[300];
    struct arena *arena = arena_new(MIB(1));
    const char *label = arena ? own_model(arena, lacks, sizeof lacks) : NULL;
    if (!label) {
        report(look, FINDING_MISSING, "forage researches by itself and has no model: %s",
               arena ? lacks : "out of memory");
        suggest_setting(look, "FORAGE_MODEL", "ollama:qwen3:8b");
    } else if (!own_is_ready(lacks, sizeof lacks)) {
        report(look, FINDING_MISSING,
               "forage researches by itself, with %s, but nothing searches for it; %s", label,
               lacks);
        suggest_setting(look, "FORAGE_SEARCH_PROVIDERS", "open");
    } else {
        report(look, FINDING_OK, "forage researches by itself, with %s", label);
    }
    arena_free(arena);
}

void look_at_worker(struct look *look)
{
    if (worker_is_own()) {
        look_at_own(look);
        return;
    }
    const struct worker *worker = worker_chosen();
    char path[WORKER_PATH_SIZE];
    char version[200];
    if (!find_worker(path)) {
        const char *named = config_text(worker->path_variable);
        if (named) {
            const char *written = config_name_used(worker->path_variable);
            report(look, FINDING_BROKEN, "%s names %s, which is no program", written, named);
            suggest_unset(look, worker->path_variable);
        } else {
            report(look, FINDING_MISSING, "there is no `%s` on PATH", worker->program);
            suggest(look, "npm install -g %s", worker_package());
        }
        return;
    }
    int status = ask_version(look, path, "--version", version, sizeof version);
    if (status == OK) {
        report(look, FINDING_OK, "%s %s", worker->title, version);
    } else {
        report(look, FINDING_BROKEN, "%s does not run: %s", path,
               status == ERR_FAILED ? version : status_name(status));
        suggest(look, "npm install -g %s", worker_package());
    }
}

/* Whether the worker is a script for Node.js; Claude Code may also be a program of its own. */
static bool is_for_node(const char *path)
{
    char head[128] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\n")] = '\0';
    return strncmp(head, "#!", 2) == 0 && strstr(head, "node") != NULL;
}

void look_at_node(struct look *look)
{
    char path[WORKER_PATH_SIZE];
    char version[200];
    if (is_own(look)) {
        return;
    }
    bool found = find_worker(path);
    if (found && !is_for_node(path)) {
        report(look, FINDING_UNUSED, "the worker does not need it");
        return;
    }
    int status = ask_version(look, "node", "--version", version, sizeof version);
    enum finding_state bad = found ? FINDING_BROKEN : FINDING_MISSING;
    if (status == OK && strtol(version, NULL, 10) >= NODE_LEAST) {
        report(look, FINDING_OK, "%s", version);
    } else if (status == OK) {
        report(look, bad, "%s is too old: the worker needs %d", version, NODE_LEAST);
        suggest(look, "npm install -g n && n lts");
    } else {
        report(look, bad, status == ERR_NOTFOUND ? "it is not on PATH" : "it does not run");
        suggest(look, "apt-get install nodejs npm");
    }
}

void look_at_worker_folder(struct look *look)
{
    char path[FOLDER_PATH_SIZE];
    char file[FOLDER_FILE_SIZE];
    char problem[1024];
    char program[WORKER_PATH_SIZE];
    if (is_own(look)) {
        return;
    }
    if (!find_worker(program) && !config_is_set("FORAGE_RESEARCH_DIR")) {
        report(look, FINDING_UNUSED, "not without the worker");
    } else if (folder_find(path, problem, sizeof problem) != OK) {
        report(look, FINDING_BROKEN, "%s", problem);
        suggest_setting(look, "FORAGE_RESEARCH_DIR", "~/.config/gemini-search-mcp");
    } else if (folder_has_dead_reader(path, worker_chosen()->name, file, problem, sizeof problem)) {
        report(look, FINDING_WARNING, "%s", problem);
        suggest_on(look, DOCTOR_EDITOR, file);
    } else {
        look_at_folder(look, &(struct folder){path, PATH_PARTS, "FORAGE_RESEARCH_DIR", false});
    }
}
