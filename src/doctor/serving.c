/* Checks of serving: the port, the tokens, and the clients that start or reach us. */
#include "config/config.h"
#include "core/limits.h"
#include "doctor/check.h"
#include "doctor/server.h"
#include "guard/callers.h"
#include "rest/http.h"
#include "server/sockets.h"
#include "setup/survey.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the port ---- */

void look_at_port(struct look *look)
{
    char problem[256];
    const char *host = config_text("FORAGE_HOST");
    int wanted = (int)config_int("FORAGE_PORT");
    uint16_t port = (uint16_t)wanted;
    int fd = socket_listen(host, &port, problem, sizeof problem);
    if (fd >= 0) {
        close(fd);
        if (wanted) {
            report(look, FINDING_OK, "%d is free on %s", wanted, host);
        } else {
            report(look, FINDING_OK, "any free one on %s", host);
        }
        return;
    }
    const char *address = server_address(look->call, host, wanted);
    if (address && server_answers(look->call, address)) {
        report(look, FINDING_OK, "forage serves on %s, port %d", host, wanted);
        return;
    }
    /* Whoever never asked for the port may live without it. */
    bool asked = config_is_set("FORAGE_PORT") || config_is_set("FORAGE_HOST");
    report(look, asked ? FINDING_BROKEN : FINDING_WARNING, "%s", problem);
    char other[16];
    snprintf(other, sizeof other, "%d", wanted < 65535 ? wanted + 1 : 3000);
    suggest_setting(look, "FORAGE_PORT", other);
}

/* ---- tokens ---- */

static void suggest_token(struct look *look)
{
    suggest_setting(look, "FORAGE_TOKENS", "me:$(head -c 24 /dev/urandom | base64)");
}

void look_at_tokens(struct look *look)
{
    struct stat about;
    char problem[512] = "";
    const char *host = config_text("FORAGE_HOST");
    const char *file = config_text("FORAGE_TOKENS_FILE");
    struct callers *callers =
        callers_new(config_list("FORAGE_TOKENS", NULL), file, problem, sizeof problem);
    if (!callers) {
        report(look, FINDING_BROKEN, "%s", problem);
        if (file && strstr(problem, "FORAGE_TOKENS_FILE")) {
            suggest_on(look, DOCTOR_EDITOR, file);
        } else {
            suggest_token(look);
        }
        return;
    }
    size_t count = callers_count(callers);
    callers_free(callers);
    if (file && stat(file, &about) == 0 && (about.st_mode & CONFIG_OTHERS_MAY_READ)) {
        report(look, FINDING_WARNING, "%s holds tokens, and others can read it (mode %04o)", file,
               (unsigned)about.st_mode & 07777);
        suggest_on(look, "chmod 600", file);
    } else if (count) {
        report(look, FINDING_OK, "%zu caller%s with a token", count, count == 1 ? "" : "s");
    } else if (is_loopback_host(host)) {
        report(look, FINDING_OK, "none, and none needed on %s", host);
    } else {
        report(look, FINDING_BROKEN, "there are none, but %s can be reached by others", host);
        suggest_token(look);
    }
}

/* ---- clients ---- */

static void add_name(char *names, size_t size, const char *name)
{
    size_t length = strlen(names);
    snprintf(names + length, size - length, "%s%s", length ? ", " : "", name);
}

/* Whether the command of an entry begins with the path of a program; one without a slash is the
 * client's to find, and a URL no program. */
static bool starts_a_program(const char *command)
{
    char path[sizeof((struct setup_state){0}.command)];
    if (command[0] != '/') {
        return true;
    }
    for (size_t length = strlen(command); length > 0; length--) {
        if (command[length] == '\0' || command[length] == ' ') {
            snprintf(path, sizeof path, "%.*s", (int)length, command);
            if (access(path, X_OK) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool report_clients(struct look *look, const struct setup_state *states, int count)
{
    char with[300] = "";
    char without[300] = "";
    const char *next = NULL;
    for (int i = 0; i < count; i++) {
        if (states[i].problem[0] && states[i].found) {
            report(look, FINDING_WARNING, "%s: %s: %s", states[i].title, states[i].path,
                   states[i].problem);
            suggest_on(look, DOCTOR_EDITOR, states[i].path);
            return true;
        }
        if (states[i].configured && !starts_a_program(states[i].command)) {
            report(look, FINDING_WARNING, "%s starts %s, which is no program", states[i].title,
                   states[i].command);
            suggest(look, "forage setup %s", states[i].id);
            return true;
        }
        if (states[i].configured) {
            add_name(with, sizeof with, states[i].title);
        } else if (states[i].found) {
            add_name(without, sizeof without, states[i].title);
            next = next ? next : states[i].id;
        }
    }
    if (*with) {
        report(look, FINDING_OK, "%s%s%s%s", with, *without ? "; not " : "", without,
               *without ? " (forage setup)" : "");
    } else if (*without) {
        report(look, FINDING_MISSING, "no client has forage; here are %s", without);
        suggest(look, "forage setup %s", next);
    }
    return *with || *without;
}

void look_at_clients(struct look *look)
{
    struct setup_state *states = calloc(SETUP_MOST_CLIENTS, sizeof *states);
    int count = states ? setup_survey(states) : 0;
    if (!report_clients(look, states, count)) {
        report(look, FINDING_MISSING, "no client is found here");
        suggest(look, "forage setup --help");
    }
    free(states);
}
