/* A headless Chromium over its pipe, for pages that scripts fill. Started on first need, left
 * running for the next page, one context for each page, ended when idle, started again after a
 * crash. It reaches the network only through a filtering proxy of our own with the address policy
 * of guard/policy.h. */
#ifndef FORAGE_BROWSER_BROWSER_H
#define FORAGE_BROWSER_BROWSER_H

#include "call/call.h"
#include "call/line.h"

#include <stdbool.h>
#include <stddef.h>

struct browser;
struct policy;   /* guard/policy.h */
struct resolver; /* net/resolve.h */

/* Starts nothing yet. `policy` and `resolver`, which may be NULL, outlive it. NULL without memory.
 */
struct browser *browser_new(struct policy *policy, struct resolver *resolver, struct turns *turns);
/* From now on it shows pages for users of a network; before it shows the first. */
void browser_serve(struct browser *browser);
/* Ends Chromium; from then on no page is rendered. Calls may still hold tabs. */
void browser_stop(struct browser *browser);
/* Also stops it. No call may be using it any more. */
struct browser *browser_free(struct browser *browser);

struct browser_page {
    const char *html; /* the document after scripts have run, in the call's arena */
    size_t length;
    const char *url;        /* after redirects */
    int status;             /* of the main document; 0: unknown */
    const char *error;      /* words for a note, with ERR_FAILED */
    const char *unfinished; /* what was not waited for, in a sentence; NULL: nothing */
    bool cut;               /* it is longer than what is read of one */
};

/* Renders with the browser of the call's program. OK, ERR_FAILED (no browser, it does not start,
 * the page does not load: `error` says so and what to do), ERR_CANCELLED, ERR_DEADLINE. Waits its
 * turn when as many pages as allowed are open. A page that grows when it is scrolled is scrolled
 * until it has about so many characters; 0: it is not. */
MUST_CHECK int browser_render(struct call *call, const char *url, size_t most_chars,
                              struct browser_page *page);
/* Whether there is a browser to start; otherwise what to install, in `lacks`. `reached` (may be
 * NULL) becomes true where other users of the machine can reach it, as they can the port of a Snap.
 * `browser` may be NULL. */
bool browser_found(const struct browser *browser, bool *reached, char *lacks, size_t size);
/* Starts it, or finds that it runs. `program` receives what is started. As browser_render(), with
 * the reason in the call's arena. */
MUST_CHECK int browser_try(struct call *call, char *program, size_t size, const char **problem);

#endif
