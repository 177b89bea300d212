/* A small unified diff for people: one hunk, from the first line that differs to the last. Values
 * of members that are named like secrets show as "***". */
#ifndef FORAGE_SETUP_DIFF_H
#define FORAGE_SETUP_DIFF_H

#include "core/buf.h"

#include <stdbool.h>

/* Appends the difference of two texts; nothing when they are the same. `path` names both; `existed`
 * is false for a new file, `remains` for one that goes. */
void diff_put(struct buf *out, const char *path, const struct buf *before, bool existed,
              const struct buf *after, bool remains);

#endif
