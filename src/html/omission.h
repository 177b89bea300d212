/* What the Markdown of a page leaves out, by kind: so that a caller knows what else is there. */
#ifndef FORAGE_HTML_OMISSION_H
#define FORAGE_HTML_OMISSION_H

#include <stddef.h>

#define OMITTED_HEADINGS      3  /* of one kind that are named, */
#define OMITTED_HEADING_CHARS 60 /* and how much of each */

struct omitted_part {
    const char *what;                       /* "navigation", "related", ... */
    size_t chars;                           /* of text, a run of white space counted as one */
    const char *headings[OMITTED_HEADINGS]; /* the first ones in it */
    size_t heading_count;
};

/* The largest kind first; none without text. */
struct omitted {
    const struct omitted_part *parts;
    size_t count;
};

/* One text of the page and where it went: "markdown", or the kind of what was left out. */
struct accounted_text {
    const char *what;
    const char *text;
    size_t length;
};

#endif
