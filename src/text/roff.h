/* Text for manual pages. */
#ifndef FORAGE_TEXT_ROFF_H
#define FORAGE_TEXT_ROFF_H

#include "core/buf.h"

/* The text as roff takes it, with nothing in it that could be a request. */
void roff_put(struct buf *out, const char *text);

#endif
