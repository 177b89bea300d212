/* One list of places, those inside and those that wait, guarded by one lock. It is as short as
 * there are threads, so it is walked rather than indexed. */
#include "call/line.h"

#include "call/parts.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/stock.h"

#include <stdlib.h>
#include <string.h>

#define REPORT_MS 5000 /* between two reports to a call that waits */

/* ---- all lines ---- */

struct turns {
    pthread_mutex_t lock;
    struct line *first;
};

struct turns *turns_new(void)
{
    struct turns *turns = calloc(1, sizeof *turns);
    if (turns) {
        pthread_mutex_init(&turns->lock, NULL);
    }
    return turns;
}

struct turns *turns_free(struct turns *turns)
{
    if (turns) {
        pthread_mutex_destroy(&turns->lock);
        free(turns);
    }
    return NULL;
}

void turns_look(struct turns *turns,
                void (*show)(void *context, const struct line *line, size_t inside, size_t waiting),
                void *context)
{
    pthread_mutex_lock(&turns->lock);
    for (struct line *line = turns->first; line; line = line->next) {
        size_t counts[2] = {0};
        pthread_mutex_lock(&line->lock);
        for (const struct place *each = line->first; each; each = each->next) {
            counts[each->inside]++;
        }
        pthread_mutex_unlock(&line->lock);
        show(context, line, counts[true], counts[false]);
    }
    pthread_mutex_unlock(&turns->lock);
}

void line_init(struct line *line, struct turns *turns, const char *name, size_t most)
{
    *line = (struct line){.most = most, .name = name, .turns = name ? turns : NULL};
    pthread_mutex_init(&line->lock, NULL);
    if (line->turns) {
        pthread_mutex_lock(&turns->lock);
        line->next = turns->first;
        turns->first = line;
        pthread_mutex_unlock(&turns->lock);
    }
}

void line_done(struct line *line)
{
    if (line->turns) {
        pthread_mutex_lock(&line->turns->lock);
        struct line **at = &line->turns->first;
        while (*at != line) {
            at = &(*at)->next;
        }
        *at = line->next;
        pthread_mutex_unlock(&line->turns->lock);
    }
    pthread_mutex_destroy(&line->lock);
}

/* ---- under the lock ---- */

static bool same_key(const struct place *a, const struct place *b)
{
    return a->key == b->key || (a->key && b->key && strcmp(a->key, b->key) == 0);
}

static bool same_owner(const struct place *a, const struct place *b)
{
    const char *one = call_owner(a->call);
    const char *other = call_owner(b->call);
    return one == other || (one && other && strcmp(one, other) == 0);
}

/* What is known of the places with the key of one of them. */
struct crowd {
    size_t inside;
    size_t own;    /* of them: of the same caller */
    size_t before; /* wait, and came before it */
};

static struct crowd count(const struct place *place)
{
    struct crowd crowd = {0};
    bool past = false;
    for (const struct place *each = place->line->first; each; each = each->next) {
        past = past || each == place;
        if (each->inside && same_key(each, place)) {
            crowd.inside++;
            crowd.own += same_owner(each, place);
        } else if (!past && same_key(each, place)) {
            crowd.before++;
        }
    }
    return crowd;
}

static bool may_enter(const struct place *place, const struct crowd *crowd)
{
    const struct parts *parts = call_parts(place->call);
    bool leaves_one = parts && stocks_have_others(parts->stocks) && place->line->most > 1;
    size_t most = place->line->most - (leaves_one && crowd->own > 0);
    return crowd->inside < most;
}

static int join(struct place *place)
{
    struct place **end = &place->line->first;
    while (*end) {
        end = &(*end)->next;
    }
    struct crowd crowd = count(place);
    if (may_enter(place, &crowd)) {
        place->inside = true;
    } else if ((place->event = event_open()) < 0) {
        return ERR_IO;
    }
    *end = place;
    return place->inside ? OK : ERR_BUSY;
}

/* Lets those in for whom there is a place now: usually one. */
static void hand_on(const struct place *leaver)
{
    for (;;) {
        struct place *heir = NULL;
        size_t fewest = SIZE_MAX;
        for (struct place *each = leaver->line->first; each; each = each->next) {
            struct crowd crowd = {0};
            if (!each->inside && same_key(each, leaver)) {
                crowd = count(each);
                if (may_enter(each, &crowd) && crowd.own < fewest) {
                    heir = each;
                    fewest = crowd.own;
                }
            }
        }
        if (!heir) {
            return;
        }
        heir->inside = true;
        event_signal(heir->event);
    }
}

/* ---- waiting ---- */

static void report(struct place *place)
{
    pthread_mutex_lock(&place->line->lock);
    struct crowd crowd = count(place);
    bool waits = !place->inside;
    pthread_mutex_unlock(&place->line->lock);
    if (waits) {
        place->report(place->call, crowd.inside, crowd.before);
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
