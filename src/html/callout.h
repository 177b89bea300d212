/* Which boxes of a page are callouts. */
#ifndef FORAGE_HTML_CALLOUT_H
#define FORAGE_HTML_CALLOUT_H

#include "html/page.h"

/* Which kind of callout an element is: "note", ...; NULL when it is none. */
const char *callout_kind(lxb_dom_node_t *node);

#endif
