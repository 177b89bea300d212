/* Text for manual pages. */
#ifndef FORAGE_BASE_ROFF_H
#define FORAGE_BASE_ROFF_H

#include "base/buf.h"

/* The text as roff takes it, with nothing in it that could be a request. */
void roff_put(struct buf *out, const char *text);

#endif
