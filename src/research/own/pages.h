/* Pages as material for a model: sources read side by side, their whole texts among the evidence,
 * and the passages of one that answer a question. A page's text is data: it goes to the model
 * between tags that it cannot know, and nothing in it is fetched. */
#ifndef FORAGE_RESEARCH_OWN_PAGES_H
#define FORAGE_RESEARCH_OWN_PAGES_H

#include "call/call.h"
#include "core/buf.h"
#include "evidence/evidence.h"
#include "research/own/sources.h"

/* Reads sources; each has its `page` afterwards, or its `trouble`. What is unread at `until_ms` of
 * the monotonic clock stays so. A status of the call. */
MUST_CHECK int pages_fetch(struct call *call, struct evidence *evidence,
                           struct research_source *const *wanted, size_t count, int64_t until_ms);

struct pages_wish {
    const char *question;
    size_t start;  /* code points of the page: from there on, whatever answers the question */
    size_t most;   /* characters */
    size_t beside; /* pages that are looked at together */
    bool read_on;  /* says where a page that is cut goes on */
};

/* What of a source that was read is worth showing; the text is in `scratch`. OK, ERR_NOMEM or a
 * status of the call. */
MUST_CHECK int pages_show(struct call *call, const struct evidence *evidence,
                          const struct research_source *source, const struct pages_wish *wish,
                          struct arena *scratch, const char **text);

/* The words of strangers, between tags that they cannot know. */
void pages_put_data(struct buf *out, const char *tag, const char *text);

#endif
