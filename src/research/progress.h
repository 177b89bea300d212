/* Progress of a call that has no end to count towards: the seconds that it has taken. */
#ifndef FORAGE_RESEARCH_PROGRESS_H
#define FORAGE_RESEARCH_PROGRESS_H

#include "call/call.h"

void progress_say(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
