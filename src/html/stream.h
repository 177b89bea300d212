/* Puts the pieces of a streamed page in order. */
#ifndef FORAGE_HTML_STREAM_H
#define FORAGE_HTML_STREAM_H

#include "html/page.h"

/* Puts the pieces of a streamed page where a script would: the hidden element "S:1" at the template
 * "B:1" or "P:1", which stands in the page until it comes. */
void stream_settle(struct page *page);

#endif
