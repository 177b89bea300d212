/* Settings that hold for one call in place of those of the program: which of them hold on this
 * thread. config/config.h makes and reads them; whoever lets a thread work on a call
 * (call/pool.h, registry/run.c) says here what holds meanwhile. It is of the thread and not handed
 * down by arguments, since settings are read everywhere and hardly any call has its own. */
#ifndef FORAGE_CORE_OVERLAY_H
#define FORAGE_CORE_OVERLAY_H

struct overlay; /* config/config.h */

/* What holds on this thread; NULL: the settings of the program. */
const struct overlay *overlay_here(void);
/* Lets these hold on this thread from now on, and returns what held before, to be put back. They
 * must outlive that. */
const struct overlay *overlay_put(const struct overlay *overlay);

#endif
