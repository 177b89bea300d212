/* A process that goes on when this one has ended, for work that must not end with it: one of this
 * program, or a browser. It is nobody's child: in a session of its own, without a terminal, with no
 * descriptor of ours. */
#ifndef FORAGE_PROC_SUCCESSOR_H
#define FORAGE_PROC_SUCCESSOR_H

#include "core/status.h"

/* Starts a program (looked for in PATH unless it has a slash; NULL: this one) with these arguments
 * (the first is its name; NULL ends them) and the environment of this one, in which `settings`
 * ("NAME=value", NULL ends them; may be NULL) come first. OK or ERR_IO. */
MUST_CHECK int successor_start(const char *program, const char *const *arguments,
                               char *const *settings);

#endif
