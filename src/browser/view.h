/* A page in the browser, as the thread that shows it sees it. For the files of this folder that
 * open it, follow what becomes of it, and wait until it rests. */
#ifndef FORAGE_BROWSER_VIEW_H
#define FORAGE_BROWSER_VIEW_H

#include "browser/page.h"
#include "core/id.h"

#include <stdint.h>

#define VIEW_NAME_SIZE 64

/* A request of the page that has not ended. Its id is stored as a number made from it. */
struct request {
    uint64_t id;
    uint64_t kind; /* the same for requests that differ in long numbers only */
    bool is_habit; /* others of its kind had ended before it began, and changed no text */
    int64_t started_ms;
    int64_t answered_ms; /* the last sign of an answer; 0: none yet */
};

/* A kind of request that has ended since the text has changed last. */
struct habit {
    uint64_t kind;
    unsigned times;
};

#define VIEW_HABITS 64

struct page_view {
    struct call *call;
    const struct tab *tab;
    struct browser_page *page;
    char context[VIEW_NAME_SIZE];    /* empty: none yet */
    char main_frame[VIEW_NAME_SIZE]; /* the target's id */
    char loader[VIEW_NAME_SIZE];     /* of the document that is shown */
    char complete[VIEW_NAME_SIZE];   /* of the last document that was read to its end */
    size_t frames;                   /* inside the page that were loaded */
    uint64_t document;               /* whose answer it is that is shown: the number of a request */
    const char *refused;             /* why it is no page: the proxy's reason, or it was cut off */
    bool crashed;

    struct request *requests;
    size_t request_count;
    struct habit habits[VIEW_HABITS];
    size_t habit_count;
    int64_t quiet_since_ms; /* the end of the last request that counts */

    char pending[ID_SECRET_SIZE]; /* the name under which pending.js answers */
    char world[VIEW_NAME_SIZE];   /* the loader of the document that reading.js looks at */
    int64_t world_id;
    size_t letters;      /* of the page, when it was looked at last */
    size_t settled;      /* how many they were when they had last changed by more than a few, */
    int64_t changed_ms;  /* which was then */
    size_t most;         /* of them so far, */
    int64_t grown_ms;    /* since then */
    size_t most_letters; /* that a list is scrolled for; 0: it is not */
    bool gave_up;        /* on a request that took too long */
};

/* ERR_FAILED, with these words for the note. */
int view_fail(struct page_view *view, const char *words);
/* An object of texts as JSON, from keys and values with a NULL behind them; a member whose value is
 * NULL is left out. NULL without memory. */
__attribute__((sentinel)) const char *view_object(struct page_view *view, ...);
/* Sends a command whose answer nobody waits for; `params` NULL is ERR_NOMEM. */
int view_tell(struct page_view *view, enum channel_target target, const char *method,
              const char *params);
/* Sends a command and waits for its answer, seeing to events meanwhile. The answer is the caller's
 * to free. */
int view_ask(struct page_view *view, enum channel_target target, const char *method,
             const char *params, int64_t patience_ms, struct browser_message *answer);
/* Sees to events for so long, or until the next one. */
int view_wait(struct page_view *view, int64_t timeout_ms);
/* What an expression is in a world of the page (0: that of its own scripts), NULL where it cannot
 * be had: the document may have just gone. It lives as long as the answer, which is the caller's
 * to free. */
int view_evaluate(struct page_view *view, int64_t world_id, const char *expression,
                  int64_t patience_ms, struct browser_message *answer, yyjson_val **value);
/* The same of what reading.js offers, such as "letters()". */
int view_read(struct page_view *view, const char *what, int64_t patience_ms,
              struct browser_message *answer, yyjson_val **value);

/* Copies a name that the browser has given to something. */
bool view_name(char out[VIEW_NAME_SIZE], const char *text);
/* Sees to an event of the page (events.c). */
int view_see(struct page_view *view, struct browser_message *message);

/* Waits until the page rests: its text stays as it is, nothing is on its way, and nothing that its
 * start has set is to come. What was not waited for is said in the page's `unfinished`
 * (page_complete.c). */
MUST_CHECK int view_rest(struct page_view *view);
/* Scrolls a page that rests, for what that adds; what was left is said in `unfinished` too. */
MUST_CHECK int view_scroll(struct page_view *view);

#endif
