/* When a page is complete.
 *
 * Its own document has been read (DOMContentLoaded), no request is in flight, nothing that its
 * start has set is to come (pending.js), and its text has stayed as it is for TIME_PAGE_QUIET_MS.
 * Chromium's "networkIdle" waits half a second and knows no timers; "load" misses what scripts add.
 *
 * Many pages never rest. So what repeats itself while the text stays as it is does not count:
 * timers that go off again and again, and requests that differ in numbers only. A clock changes the
 * text but hardly its length. What takes too long is not waited for, and the page says so; a page
 * that is empty so far gets all the time that the call has. */
#include "browser/view.h"
#include "core/clock.h"
#include "core/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS    50 /* between two looks, */
#define LOOK_SHARE 4  /* and as many times as long as one takes */
#define EARLY_LOOK_MS                                                                              \
    500                  /* while the document is still read: only to notice a script that hangs   \
                          */
#define LITTLE_CHANGE 8  /* letters; a clock or a counter changes no more */
#define EMPTY_LETTERS 40 /* with fewer a page is empty so far */

/* What pending.js says. */
enum pending { PENDING_NOTHING, PENDING_LIVE, PENDING_SOMETHING };

/* Whether the document that is shown has been read to its end. */
static bool is_read(const struct page_view *view)
{
    return view->loader[0] && strcmp(view->loader, view->complete) == 0;
}

/* ---- requests ---- */

/* A long poll, a stream that goes on, or a server that does not answer. */
static bool takes_too_long(const struct request *request, bool empty, int64_t now)
{
    return request->answered_ms ? now - request->answered_ms >= TIME_PAGE_STREAM_MS
                                : !empty && now - request->started_ms >= TIME_PAGE_REQUEST_MS;
}

/* How many requests are worth waiting for. */
static size_t count_requests(struct page_view *view)
{
    size_t count = 0;
    int64_t now = clock_now_ms();
    bool empty = view->letters < EMPTY_LETTERS;
    bool settled = now - view->grown_ms >= TIME_PAGE_SETTLING_MS;
    for (size_t i = view->request_count; i-- > 0;) {
        struct request *request = &view->requests[i];
        bool of_start = empty || request->started_ms - view->grown_ms < TIME_PAGE_START_MS;
        if (takes_too_long(request, empty, now)) {
            view->gave_up = view->gave_up || !request->answered_ms;
            *request = view->requests[--view->request_count];
        } else if (of_start && !(settled && request->is_habit)) {
            count++;
        }
    }
    return count;
}

/* ---- looking ---- */

static int look_at_text(struct page_view *view)
{
    struct browser_message answer;
    yyjson_val *value;
    int status = view_read(view, "letters()", TIME_BROWSER_BUSY_MS, &answer, &value);
    if (status == OK && value) {
        size_t letters = (size_t)yyjson_get_num(value);
        size_t change = letters > view->settled ? letters - view->settled : view->settled - letters;
        int64_t now = clock_now_ms();
        if (letters > view->most) {
            view->most = letters;
            view->grown_ms = now;
            view->habit_count = 0;
        }
        if (view->grown_ms == now || change >= LITTLE_CHANGE) {
            view->settled = letters;
            view->changed_ms = now;
        }
        view->letters = letters;
    }
    message_free(&answer);
    return status;
}

static int look_at_pending(struct page_view *view, enum pending *pending)
{
    struct browser_message answer;
    yyjson_val *value;
    char expression[2 * ID_SECRET_SIZE + 64];
    snprintf(expression, sizeof expression, "window['%s']&&window['%s'](%lld)", view->pending,
             view->pending, (long long)(clock_now_ms() - view->grown_ms));
    int status = view_evaluate(view, 0, expression, TIME_BROWSER_BUSY_MS, &answer, &value);
    double state = status == OK ? yyjson_get_num(value) : 0;
    *pending = state >= 2 ? PENDING_SOMETHING : state >= 1 ? PENDING_LIVE : PENDING_NOTHING;
    message_free(&answer);
    return status;
}

/* Whether the page rests. */
static int look(struct page_view *view, bool *rests)
{
    enum pending pending = PENDING_SOMETHING;
    int status = look_at_text(view);
    if (status == OK) {
        status = look_at_pending(view, &pending);
    }
    int64_t since =
        view->changed_ms > view->quiet_since_ms ? view->changed_ms : view->quiet_since_ms;
    int64_t quiet = pending == PENDING_LIVE ? TIME_PAGE_LIVE_QUIET_MS : TIME_PAGE_QUIET_MS;
    *rests = is_read(view) && pending != PENDING_SOMETHING && count_requests(view) == 0 &&
             clock_now_ms() - since >= quiet;
    return status;
}

/* ---- waiting ---- */

/* What was not waited for; `out_of_time` when the page was still at work. */
static void say_unfinished(struct page_view *view, bool out_of_time)
{
    if (view->gave_up || (out_of_time && view->request_count)) {
        view->page->unfinished = "A request of the page was not answered in time; what it would "
                                 "have added is missing.";
    } else if (out_of_time) {
        view->page->unfinished =
            "The page was still changing when its time was over; this is how it was then.";
    }
}

/* The last moment for a page that does not rest. The call needs some of its time to read it. */
static int64_t last_moment(const struct page_view *view, int64_t started_ms, int64_t left_ms)
{
    int64_t reserve = left_ms / 4 < TIME_PAGE_RESERVE_MS ? left_ms / 4 : TIME_PAGE_RESERVE_MS;
    int64_t call_end = left_ms == INT64_MAX ? INT64_MAX : started_ms + left_ms - reserve;
    int64_t ceiling = started_ms + TIME_PAGE_CEILING_MS;
    return view->letters < EMPTY_LETTERS || call_end < ceiling ? call_end : ceiling;
}

int view_rest(struct page_view *view)
{
    int64_t started_ms = clock_now_ms();
    int64_t left_ms = call_time_left_ms(view->call);
    int64_t next_look_ms = started_ms + EARLY_LOOK_MS;
    bool was_read = false;
    view->changed_ms = view->grown_ms = started_ms;
    for (;;) {
        bool rests = false;
        int64_t now = clock_now_ms();
        int64_t end = last_moment(view, started_ms, left_ms);
        if (now >= end) {
            say_unfinished(view, true);
            return OK;
        }
        if (!was_read && is_read(view)) {
            next_look_ms = now;
        }
        was_read = is_read(view);
        if (now >= next_look_ms && view->loader[0]) {
            int status = look(view, &rests);
            if (status != OK || rests) {
                say_unfinished(view, false);
                return status;
            }
            int64_t took_ms = clock_now_ms() - now;
            int64_t pause_ms = !was_read ? EARLY_LOOK_MS : LOOK_MS;
            next_look_ms =
                now + took_ms + (took_ms * LOOK_SHARE > pause_ms ? took_ms * LOOK_SHARE : pause_ms);
        }
        int64_t until_ms = next_look_ms < end ? next_look_ms : end;
        now = clock_now_ms();
        int status = view_wait(view, until_ms > now ? until_ms - now : 0);
        if (status != OK) {
            return status;
        }
    }
}
