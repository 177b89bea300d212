/* `forage doctor`: what works on this machine, what is missing, what is broken, and the one command
 * that mends it. A check is a row of the table in doctor.c; all of them run side by side. */
#ifndef FORAGE_DOCTOR_DOCTOR_H
#define FORAGE_DOCTOR_DOCTOR_H

#include "call/call.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>

enum finding_state {
    FINDING_OK,
    FINDING_MISSING, /* not there, and nothing that was asked for needs it */
    FINDING_WARNING, /* works, but somebody should look at it */
    FINDING_BROKEN,  /* set up, or needed, and does not work */
    FINDING_UNUSED,  /* does not matter with these settings */
    FINDING_STATES,
};

/* What came of one check. */
struct finding {
    enum finding_state state;
    char text[512]; /* a phrase */
    char mend[512]; /* the command, or "" */
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

enum group_state { GROUP_WORKS, GROUP_NOT_SET_UP, GROUP_BROKEN };

struct doctor_options {
    bool online;         /* ask the services whether they accept the keys */
    const char *refused; /* why the settings cannot be loaded: nothing else is looked at; or NULL */
    const char *failed;  /* why the program does not start with them; or NULL */
};

struct doctor;

/* Looks at everything. NULL without memory, or when the call is cancelled. */
struct doctor *doctor_run(struct call *call, const struct doctor_options *options);
struct doctor *doctor_free(struct doctor *doctor);

/* Whether nothing is broken. */
bool doctor_is_well(const struct doctor *doctor);
size_t doctor_count(const struct doctor *doctor, enum finding_state state);

/* The checks, by group; without a doctor, all that there are. */
size_t doctor_check_count(const struct doctor *doctor);
const struct finding *doctor_finding(const struct doctor *doctor, size_t index);
enum doctor_group doctor_check_group(size_t index);
const char *doctor_check_id(size_t index);
const char *doctor_check_title(size_t index);
const char *doctor_check_about(size_t index); /* a phrase: what is looked at */
const char *doctor_group_title(enum doctor_group group);
enum group_state doctor_group_state(const struct doctor *doctor, enum doctor_group group);

/* "ok", "missing", ...; "works", "not set up", "broken". */
const char *doctor_state_word(enum finding_state state);
const char *doctor_group_word(enum group_state state);
/* The whole of it; NULL without memory. docs/doctor.md describes its shape. */
yyjson_mut_val *doctor_describe(const struct doctor *doctor, yyjson_mut_doc *doc);

/* docs/doctor.md. */
void doctor_write_markdown(struct buf *out);

#endif
