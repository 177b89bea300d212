/* Snippets that come as HTML, as plain text: marks of emphasis go, character references are read.
 */
#ifndef FORAGE_WEBSEARCH_PLAIN_H
#define FORAGE_WEBSEARCH_PLAIN_H

#include "core/arena.h"

/* NULL for NULL, and without memory. */
const char *plain_text(struct arena *arena, const char *html);

#endif
