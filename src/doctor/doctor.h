/* `forage doctor`: what works on this machine, what is missing, what is broken, and the one command
 * that repairs it. A check is a row of the table in doctor.c; all of them run side by side. */
#ifndef FORAGE_DOCTOR_DOCTOR_H
#define FORAGE_DOCTOR_DOCTOR_H

#include "call/call.h"
#include "text/json.h"

#include <stdbool.h>

struct doctor_options {
    bool online;         /* ask the services whether they accept the keys */
    const char *refused; /* why the settings cannot be loaded: nothing else is looked at; or NULL */
    const char *failed;  /* why the program does not start with them; or NULL */
};

/* How many checks there are. */
size_t doctor_check_count(void);
/* Looks at everything and describes it; docs/doctor.md has the shape. NULL without memory, or when
 * the call is cancelled. */
yyjson_mut_val *doctor_examine(struct call *call, const struct doctor_options *options,
                               yyjson_mut_doc *doc);
/* docs/doctor.md. */
void doctor_write_markdown(struct buf *out);

#endif
