/* From the parts of a response to one text with its citations: the texts joined, tracking
 * parameters taken out of every URL, positions in code points of the text that is returned, and for
 * each marker the sentence that its source supports there.
 *
 * The citations of one source stand together, in the order of the text, and have its rank. What is
 * no http or https URL is no source. The text is untrusted: it is only cut and measured here.
 *
 * Pure; everything lives in the arena. */
#ifndef FORAGE_ANSWER_CITATIONS_H
#define FORAGE_ANSWER_CITATIONS_H

#include "model/model.h"

struct citation {
    const char *url;
    const char *title;
    const char *snippet;
    size_t start, end;     /* in code points of the text */
    const char *published; /* a date or a time, ISO 8601; NULL: not known */
    bool outdated;         /* known to be older than what was asked for */
    int rank;              /* of its source, from 1 */
};

struct cited_text {
    const char *text;
    size_t length; /* in bytes */
    struct citation *citations;
    size_t count;
    size_t left_out; /* sources beyond `most` */
};

struct citation_wishes {
    size_t most;            /* sources */
    int64_t now;            /* seconds since 1970 */
    int freshness_hours;    /* 0: any age */
    const char *start_date; /* the first day of what is wanted; NULL: any */
};

/* OK or ERR_NOMEM. Sources that are known to be older than wished come last and are marked. */
int citations_make(struct arena *arena, const struct model_part *parts, size_t count,
                   const struct citation_wishes *wishes, struct cited_text *cited);

#endif
