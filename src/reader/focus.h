/* Only what matters of a page: the passages that answer a question, in the order of the page.
 * Before each stands where it begins and, where they are others than before, the headings above it:
 *
 *     [5120 Care > Watering] Water it once a week.
 *
 * The pieces of the page (pieces.h) are put into an index of their own, in memory, and asked as
 * memories are: one ranking for everything that is searched, by words and, of the best by those, by
 * meaning where the model is on this machine (to an endpoint no page is sent). They are shown as
 * far as they fit, with what stands around them; those that follow each other are one passage. */
#ifndef FORAGE_READER_FOCUS_H
#define FORAGE_READER_FOCUS_H

#include "call/call.h"
#include "core/limits.h"

#define FOCUS_CHARS 4000u               /* of a page, where nobody says how many */
#define FOCUS_MEANT LIMIT_MEANING_TEXTS /* a fraction of a second */

struct focus_request {
    struct arena *arena; /* of what is found */
    const char *question;
    const char *text; /* of the whole page, valid UTF-8 without NUL */
    size_t length;
    size_t start, end; /* code points: where to look */
    size_t meant; /* pieces, at most FOCUS_MEANT, that the model of this machine compares too */
};

/* How many of them, where one call looks at so many pages. */
size_t focus_meant(size_t pages);

/* What was found, for as long as its arena and the text are there. */
struct focus;

/* Ranks the pieces. OK; ERR_NOMEM; a status of the call. */
MUST_CHECK int focus_rank(struct call *call, const struct focus_request *request,
                          struct focus **focus);
/* Whether the page has anything on the question. */
bool focus_found(const struct focus *focus);
/* Whether the page is so large that only its beginning was looked at. */
bool focus_is_cut(const struct focus *focus);

/* The best, in at most so many code points; `whole` says that nothing of the page was left out. OK
 * or ERR_NOMEM. */
MUST_CHECK int focus_write(const struct focus *focus, size_t max_chars, const char **text,
                           bool *whole);

#endif
