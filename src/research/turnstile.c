/* One list of visits for the process, in the order in which they came. Whoever is among the first
 * `most` of it is inside. */
#include "research/turnstile.h"

#include "core/event.h"
#include "research/progress.h"

#include <pthread.h>

#define PROGRESS_MS 5000 /* between two words to somebody who waits */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct turnstile_visit *visits;

/* ---- under the lock ---- */

/* Lets in whoever is among the first `most`, and counts who is before `visit`. */
static size_t admit(size_t most, const struct turnstile_visit *visit)
{
    size_t before = 0;
    size_t position = 0;
    for (struct turnstile_visit *each = visits; each; each = each->next, position++) {
        if (each == visit) {
            before = position;
        }
        if (position < most && !each->inside) {
            each->inside = true;
            event_signal(each->event);
        }
    }
    return before;
}

static void add(struct turnstile_visit *visit)
{
    struct turnstile_visit **end = &visits;
    while (*end) {
        end = &(*end)->next;
    }
    *end = visit;
}

static void take_out(const struct turnstile_visit *visit)
{
    struct turnstile_visit **link = &visits;
    while (*link && *link != visit) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = visit->next;
    }
}

/* ---- entering and leaving ---- */

/* The first look adds the visit. Whether it is inside, and how many stand before it. */
static bool look(struct turnstile_visit *visit, bool first, size_t most, size_t *before)
{
    pthread_mutex_lock(&lock);
    if (first) {
        add(visit);
    }
    *before = admit(most, visit);
    bool inside = visit->inside;
    pthread_mutex_unlock(&lock);
    return inside;
}

static int wait_in_line(struct turnstile_visit *visit, struct call *call, size_t most)
{
    size_t before;
    bool inside = look(visit, true, most, &before);
    while (!inside) {
        progress_say(call, "waiting for a free worker (%zu busy, %zu before this call)", most,
                     before - most);
        struct pollfd watched = {.fd = visit->event, .events = POLLIN};
        int ready = call_wait(call, &watched, 1, PROGRESS_MS);
        if (ready < 0) {
            return ready;
        }
        event_clear(visit->event);
        inside = look(visit, false, most, &before);
    }
    return OK;
}

int turnstile_enter(struct turnstile_visit *visit, struct call *call, size_t most)
{
    *visit = (struct turnstile_visit){.call = call, .event = event_open()};
    if (visit->event < 0) {
        return ERR_IO;
    }
    int status = wait_in_line(visit, call, most);
    if (status != OK) {
        turnstile_leave(visit);
    }
    return status;
}

void turnstile_leave(struct turnstile_visit *visit)
{
    pthread_mutex_lock(&lock);
    take_out(visit);
    for (struct turnstile_visit *each = visits; each; each = each->next) {
        event_signal(each->event); /* the line has moved: each looks where it stands */
    }
    pthread_mutex_unlock(&lock);
    visit->event = event_close(visit->event);
}

void turnstile_cancel_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct turnstile_visit *each = visits; each; each = each->next) {
        call_cancel(each->call);
    }
    pthread_mutex_unlock(&lock);
}
