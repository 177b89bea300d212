/* Keeps what is in the program's memory, keys and tokens among it, from files and from the other
 * processes of its user. */
#ifndef FORAGE_CORE_DUMPS_H
#define FORAGE_CORE_DUMPS_H

#include "core/status.h"

/* From here on a crash leaves no core, and no process of the same user can look into this one: not
 * with a debugger, not through /proc, where the variables with keys stand. The programs that it
 * starts leave no core either. OK, or ERR_IO. */
MUST_CHECK int dumps_forbid(void);

#endif
