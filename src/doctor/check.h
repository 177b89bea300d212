/* What the checks share. */
#ifndef FORAGE_DOCTOR_CHECK_H
#define FORAGE_DOCTOR_CHECK_H

#include "doctor/doctor.h"
#include "net/fetch.h"
#include "websearch/provider.h"

enum finding_state {
    FINDING_OK,
    FINDING_MISSING, /* not there, and nothing that was asked for needs it */
    FINDING_WARNING, /* works, but somebody should look at it */
    FINDING_BROKEN,  /* set up, or needed, and does not work */
    FINDING_UNUSED,  /* does not matter with these settings */
};

/* What came of one check. */
struct finding {
    enum finding_state state;
    char text[1024]; /* a phrase */
    char fix[512];   /* the command that repairs it, or "" */
};

enum doctor_group {
    DOCTOR_PROGRAM,
    DOCTOR_SEARCH,
    DOCTOR_PAGES,
    DOCTOR_ANSWERS,
    DOCTOR_RESEARCH,
    DOCTOR_KEPT,
    DOCTOR_SERVING,
    DOCTOR_CLIENTS,
    DOCTOR_GROUPS,
};

/* How much a group depends on a check. */
enum check_need {
    NEEDED, /* without it the group does not work */
    ONE_OF, /* one of these has to work */
    EXTRA,
};

struct look;

struct check {
    const char *id;
    enum doctor_group group;
    const char *title;
    enum check_need need;
    void (*look)(struct look *look);
    const char *about; /* a phrase for the documentation */
    const struct provider *provider;
};

/* One check at work, on a thread of its own. */
struct look {
    const struct check *check;
    const struct doctor_options *options;
    struct call *call; /* with its own deadline */
    struct finding finding;
};

/* Says what came of the check; the last report counts. */
void report(struct look *look, enum finding_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Names the command that repairs it. */
void suggest(struct look *look, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define DOCTOR_EDITOR "${EDITOR:-vi}"

/* Names a command on a file: "chmod 600", and its path in quotes where a shell needs them. */
void suggest_on(struct look *look, const char *command, const char *path);
/* Names the command that gives a variable a value, or takes it away. It changes the settings file,
 * which forage reads wherever it is started: a client that is not started from a shell has none of
 * a shell's variables. What stands in the environment of this shell would win, and goes. */
void suggest_setting(struct look *look, const char *variable, const char *value);
void suggest_unset(struct look *look, const char *variable);

/* A folder that forage writes to (storage.c). */
struct folder {
    const char *path;
    int made;             /* so many of its last parts are made where they are missing */
    const char *variable; /* names it */
    bool private;         /* nobody else may look into it */
};

/* Reports whether the folder can be used, or could be made. Makes nothing. */
void look_at_folder(struct look *look, const struct folder *folder);

/* ---- the checks ---- */

void look_at_settings(struct look *look);
void look_at_file(struct look *look);
void look_at_start(struct look *look);
void look_at_curl(struct look *look);
void look_at_names(struct look *look);
void look_at_certificates(struct look *look);
void look_at_order(struct look *look);
void look_at_provider(struct look *look);
void look_at_open(struct look *look);
void look_at_browser(struct look *look);
void look_at_pdf(struct look *look);
void look_at_cache(struct look *look);
void look_at_github(struct look *look);
void look_at_stackexchange(struct look *look);
void look_at_openai(struct look *look);
void look_at_worker(struct look *look);
void look_at_node(struct look *look);
void look_at_sign_in(struct look *look);
void look_at_worker_folder(struct look *look);
void look_at_firecrawl(struct look *look);
void look_at_language_model(struct look *look);
/* Whether another model than OpenAI's answers; then it is reported. */
bool look_at_answering_model(struct look *look);
void look_at_data(struct look *look);
void look_at_database(struct look *look);
void look_at_model(struct look *look);
void look_at_port(struct look *look);
void look_at_tokens(struct look *look);
void look_at_clients(struct look *look);

#endif
