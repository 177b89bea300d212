/* What a reader cannot see. Hidden text is how pages attack agents, and how they carry menus that
 * are not open; neither is content. */
#ifndef FORAGE_HTML_HIDDEN_H
#define FORAGE_HTML_HIDDEN_H

#include "html/page.h"

/* Marks with NODE_HIDDEN what attributes and inline styles hide: hidden, aria-hidden, display none,
 * invisible, off the screen, of no size, in the colour of its own background; and those of the last
 * three kinds with NODE_UNREADABLE, too. These are marked inside of what is hidden as well, for the
 * case that it turns out to be a panel that opens. Formulas stay, since their source is often in a
 * hidden part. */
void hidden_mark(struct page *page);

#endif
