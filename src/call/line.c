/* One list of places, those inside and those that wait, guarded by one lock. It is as short as
 * there are threads, so it is walked rather than indexed. */
#include "call/line.h"

#include "core/clock.h"
#include "core/event.h"

#include <string.h>

#define REPORT_MS 5000 /* between two reports to a call that waits */

void line_init(struct line *line, size_t most)
{
    *line = (struct line){.most = most};
    pthread_mutex_init(&line->lock, NULL);
}

void line_done(struct line *line)
{
    pthread_mutex_destroy(&line->lock);
}

/* ---- under the lock ---- */

static bool same_key(const struct place *a, const struct place *b)
{
    return a->key == b->key || (a->key && b->key && strcmp(a->key, b->key) == 0);
}

/* Counts, of the places that came before `place` with its key, those inside and those that wait. A
 * place is let in before any that came after it, so nobody behind `place` is inside while it waits.
 */
static void count_before(const struct place *place, size_t *inside, size_t *before)
{
    *inside = 0;
    *before = 0;
    for (struct place *each = place->line->first; each && each != place; each = each->next) {
        if (same_key(each, place)) {
            ++*(each->inside ? inside : before);
        }
    }
}

static int join(struct place *place)
{
    size_t inside;
    size_t before;
    struct place **end = &place->line->first;
    count_before(place, &inside, &before);
    if (inside < place->line->most) {
        place->inside = true;
    } else if ((place->event = event_open()) < 0) {
        return ERR_IO;
    }
    while (*end) {
        end = &(*end)->next;
    }
    *end = place;
    return place->inside ? OK : ERR_BUSY;
}

static void hand_on(const struct place *leaver)
{
    struct place *heir = leaver->line->first;
    while (heir && (heir->inside || !same_key(heir, leaver))) {
        heir = heir->next;
    }
    if (heir) {
        heir->inside = true;
        event_signal(heir->event);
    }
}

/* ---- waiting ---- */

static void report(struct place *place)
{
    size_t inside;
    size_t before;
    pthread_mutex_lock(&place->line->lock);
    count_before(place, &inside, &before);
    bool waits = !place->inside;
    pthread_mutex_unlock(&place->line->lock);
    if (waits) {
        place->report(place->call, inside, before);
    }
}

static int wait_for_turn(struct place *place, int64_t patience_ms)
{
    struct pollfd watched = {.fd = place->event, .events = POLLIN};
    int64_t end = clock_now_ms() + patience_ms;
    for (;;) {
        if (place->report) {
            report(place);
        }
        int64_t now = clock_now_ms();
        int64_t left = patience_ms < 0 ? -1 : end > now ? end - now : 0;
        bool last = !place->report || (left >= 0 && left <= REPORT_MS);
        int ready = call_wait(place->call, &watched, 1, last ? left : REPORT_MS);
        if (ready != 0 || last) {
            return ready > 0 ? OK : ready < 0 ? ready : ERR_BUSY;
        }
    }
}

int line_enter(struct line *line, struct place *place, int64_t patience_ms)
{
    place->line = line;
    place->next = NULL;
    place->event = -1;
    place->inside = false;
    pthread_mutex_lock(&line->lock);
    int status = join(place);
    pthread_mutex_unlock(&line->lock);
    if (status == ERR_BUSY) {
        status = wait_for_turn(place, patience_ms);
        if (status != OK) {
            line_leave(place);
        }
    }
    return status;
}

void line_leave(struct place *place)
{
    pthread_mutex_lock(&place->line->lock);
    struct place **link = &place->line->first;
    while (*link != place) {
        link = &(*link)->next;
    }
    *link = place->next;
    if (place->inside) { /* the turn may have come to somebody who just gave up */
        hand_on(place);
    }
    pthread_mutex_unlock(&place->line->lock);
    place->event = event_close(place->event);
}

void line_cancel_all(struct line *line)
{
    pthread_mutex_lock(&line->lock);
    for (struct place *each = line->first; each; each = each->next) {
        call_cancel(each->call);
    }
    pthread_mutex_unlock(&line->lock);
}
