/* The notes that stand in place of a page that could not be read: the same words for the same
 * failure, every time, so that a caller can tell them from content and compare them. */
#ifndef FORAGE_PAGE_NOTES_H
#define FORAGE_PAGE_NOTES_H

#include "net/fetch.h"

/* The kind of a failure and what to say about it; `detail` may be NULL. */
struct note {
    const char *kind;
    const char *detail;
};

/* Of a fetch that failed. Details live in the arena. */
struct note note_of_failure(struct arena *arena, const struct fetch_response *response);
/* Of an answer whose status says that it is not the page. */
struct note note_of_status(struct arena *arena, const struct fetch_response *response);

#endif
