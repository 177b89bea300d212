/* The manual page forage(1), from the table of commands. */
#ifndef FORAGE_CLI_MANUAL_H
#define FORAGE_CLI_MANUAL_H

#include "core/buf.h"

void manual_write(struct buf *out);

#endif
