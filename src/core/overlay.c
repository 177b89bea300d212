/* The settings of the call that a thread works on, as a pointer of the thread. */
#include "core/overlay.h"

static _Thread_local const struct overlay *here;

const struct overlay *overlay_here(void)
{
    return here;
}

const struct overlay *overlay_put(const struct overlay *overlay)
{
    const struct overlay *before = here;
    here = overlay;
    return before;
}
