/* What the checks share. */
#ifndef FORAGE_DOCTOR_CHECK_H
#define FORAGE_DOCTOR_CHECK_H

#include "doctor/doctor.h"
#include "net/fetch.h"
#include "websearch/provider.h"

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

void say(struct look *look, enum finding_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mend(struct look *look, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- looking at programs (programs.c) ---- */

/* Runs "PROGRAM ARGUMENT" and takes the first version number that it prints, "20.11.1". A status as
 * of proc_run; ERR_FAILED when it ends badly, with its words in `out`. */
int ask_version(struct look *look, const char *program, const char *argument, char *out,
                size_t size);

/* ---- the checks ---- */

void look_at_settings(struct look *look);
void look_at_file(struct look *look);
void look_at_start(struct look *look);
void look_at_curl(struct look *look);
void look_at_certificates(struct look *look);
void look_at_order(struct look *look);
void look_at_provider(struct look *look);
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
void look_at_data(struct look *look);
void look_at_database(struct look *look);
void look_at_port(struct look *look);
void look_at_tokens(struct look *look);
void look_at_clients(struct look *look);

#endif
