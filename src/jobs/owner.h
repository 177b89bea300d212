/* Who works on a job: a name for this process that no other one has, on this machine or another,
 * and from which others on this machine can tell whether the process is still there. So a job whose
 * process was killed is taken up at once here, and elsewhere when its lease has lapsed. */
#ifndef FORAGE_JOBS_OWNER_H
#define FORAGE_JOBS_OWNER_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#define OWNER_SIZE 112

/* "BOOT NAMESPACE PID START RANDOM". */
MUST_CHECK int owner_make(char out[OWNER_SIZE]);
/* Whether that process is gone for certain: it was one of this machine, and is no more. `on_file`:
 * it can only have been of this machine, since it had the same file. */
bool owner_is_gone(const char *owner, bool on_file);
/* The time since the machine started, also while it slept, in milliseconds. */
int64_t owner_clock_ms(void);

#endif
