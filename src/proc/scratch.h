/* Temporary folders for children: made for one child, lent to it, removed by its warden when
 * everybody who came of it is gone. Where the warden was killed too (by hand, by the machine's
 * end), the next process that makes such a folder removes it: a lock beside each folder tells those
 * in use from those that nobody has any more. */
#ifndef FORAGE_PROC_SCRATCH_H
#define FORAGE_PROC_SCRATCH_H

#include "proc/proc.h"

#include <sys/types.h>

/* Makes "forage-KIND-..." for this user alone, in `parent`; NULL: in $TMPDIR or /tmp. OK or ERR_IO.
 */
MUST_CHECK int scratch_make(struct proc_scratch *scratch, const char *parent, const char *kind,
                            uid_t user, gid_t group);
/* Removes it, unless a child has it. */
void scratch_remove(struct proc_scratch *scratch);

#endif
