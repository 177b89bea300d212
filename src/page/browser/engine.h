/* The one browser of the process: the thread that starts it, carries its messages and ends it, and
 * the line in which pages wait for their turn. */
#ifndef FORAGE_PAGE_BROWSER_ENGINE_H
#define FORAGE_PAGE_BROWSER_ENGINE_H

#include "call/call.h"
#include "page/browser/page.h"
#include "page/browser/protocol.h"

struct engine_lease {
    struct channel *channel;
    struct page_proxy proxy;
};

/* Waits for a turn and a running browser. OK; ERR_FAILED with the reason in the call's arena; or as
 * of call_wait. */
int engine_lease(struct call *call, struct engine_lease *lease, const char **problem);
void engine_return(struct engine_lease *lease);
/* Ends the browser; from then on nothing is leased. */
void engine_shutdown(void);

#endif
