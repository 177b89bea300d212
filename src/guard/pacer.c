/* Turns at sources: who is next, and what this process remembers of them. */
#include "guard/pacer.h"

#include "call/call.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "guard/breaker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARS   64
#define TOLERANCE_MS 50   /* that a turn may begin after its time: half of the least margin */
#define POLL_MS      25   /* between looks for a turn that has ended, perhaps in another process */
#define BELIEF_MS    1000 /* that what was decided for one call is believed for the next */
#define RESERVE_MS   1000 /* beyond the longest transfer, before a turn counts as abandoned */

/* A call that waits to be the next one. */
struct waiter {
    struct call *call;
    uint64_t round; /* in which it is served: each caller has one turn in each */
    int event;
    bool called;
    struct waiter *next;
};

struct stamp {
    int64_t at_ms; /* by the monotonic clock */
    char id[ID_SIZE];
};

struct paced {
    char name[NAME_CHARS];
    bool served;          /* somebody is */
    uint64_t round;       /* of who was called last */
    struct waiter *first; /* in the order in which they came */
    int64_t next_ms;      /* no time before that is free, */
    int64_t learned_ms;   /* as was known then */
    unsigned running;     /* turns of this process */
    struct stamp *stamps; /* times of this process, earliest first */
    size_t stamp_count, stamp_room;
};

struct pacer {
    pthread_mutex_t lock;
    struct pace_store store;
    struct breakers *rests; /* as far as this process knows, for when the store cannot be used */
    size_t count;
    struct paced list[LIMIT_PACED_SOURCES];
};

struct pacer *pacer_new(const struct pace_store *store)
{
    struct pacer *pacer = calloc(1, sizeof *pacer);
    if (!pacer) {
        return NULL;
    }
    pthread_mutex_init(&pacer->lock, NULL);
    pacer->store = *store;
    pacer->rests = breakers_new(NULL, "turns", BREAKER_FAILURES, BREAKER_PAUSE_MS, NULL);
    return pacer->rests ? pacer : pacer_free(pacer);
}

struct pacer *pacer_free(struct pacer *pacer)
{
    if (pacer) {
        for (size_t i = 0; i < pacer->count; i++) {
            free(pacer->list[i].stamps);
        }
        breakers_free(pacer->rests);
        pthread_mutex_destroy(&pacer->lock);
        free(pacer);
    }
    return NULL;
}

/* ---- what this process remembers, with the lock held ---- */

static struct paced *find(struct pacer *pacer, const char *source)
{
    for (size_t i = 0; i < pacer->count; i++) {
        if (strncmp(pacer->list[i].name, source, NAME_CHARS - 1) == 0) {
            return &pacer->list[i];
        }
    }
    if (pacer->count == LIMIT_PACED_SOURCES) {
        return NULL;
    }
    struct paced *paced = &pacer->list[pacer->count++];
    snprintf(paced->name, sizeof paced->name, "%s", source);
    return paced;
}

static void drop_stamps(struct paced *paced, size_t from, size_t count)
{
    paced->stamp_count -= count;
    memmove(&paced->stamps[from], &paced->stamps[from + count],
            (paced->stamp_count - from) * sizeof *paced->stamps);
}

/* Makes room for another stamp; false without memory. */
static bool make_room(struct paced *paced, const struct pace *pace, int64_t now)
{
    size_t old = 0;
    while (old < paced->stamp_count && paced->stamps[old].at_ms <= now - pace_memory_ms(pace)) {
        old++;
    }
    if (old == 0 && paced->stamp_count == LIMIT_PACE_CALLS) {
        old = 1;
    }
    if (old > 0) {
        drop_stamps(paced, 0, old);
    }
    if (paced->stamp_count == paced->stamp_room) {
        size_t room = paced->stamp_room ? 2 * paced->stamp_room : 16;
        struct stamp *more = realloc(paced->stamps, room * sizeof *more);
        if (!more) {
            return false;
        }
        paced->stamps = more;
        paced->stamp_room = room;
    }
    return true;
}

static void remember(struct paced *paced, const char *id, int64_t at)
{
    size_t place = paced->stamp_count;
    for (; place > 0 && paced->stamps[place - 1].at_ms > at; place--) {
        paced->stamps[place] = paced->stamps[place - 1];
    }
    paced->stamps[place].at_ms = at;
    memcpy(paced->stamps[place].id, id, ID_SIZE);
    paced->stamp_count++;
}

static void forget(struct paced *paced, const char *id)
{
    for (size_t i = paced->stamp_count; i > 0; i--) {
        if (strcmp(paced->stamps[i - 1].id, id) == 0) {
            drop_stamps(paced, i - 1, 1);
            return;
        }
    }
}

static int64_t nth_last(const struct paced *paced, unsigned count)
{
    return count > 0 && count <= paced->stamp_count
               ? paced->stamps[paced->stamp_count - count].at_ms
               : PACE_NEVER;
}

/* ---- deciding ---- */

/* By what this process knows alone; with the lock held. */
static void decide_here(struct pacer *pacer, struct paced *paced, struct pace_claim *claim)
{
    int64_t now = clock_now_ms();
    struct pace_past past = {.last_ms = nth_last(paced, 1), .running = paced->running};
    for (unsigned i = 0; i < PACE_WINDOWS; i++) {
        past.nth_ms[i] = nth_last(paced, pace_calls(claim->pace, i));
    }
    claim->decided_ms = now;
    if (!breaker_admit(pacer->rests, paced->name)) {
        int64_t wait = breaker_wait_ms(pacer->rests, paced->name);
        past.rested = true;
        past.rests_until_ms = now + (wait > 0 ? wait : 1); /* somebody tries it */
    }
    pace_decide(claim, &past, now);
    if (claim->answer != PACE_GRANTED && claim->answer != PACE_RESTS) {
        breaker_report(pacer->rests, paced->name, BREAKER_UNKNOWN);
    }
}

/* What the next calls may believe of when a time is free. */
static void learn(struct paced *paced, const struct pace_claim *claim)
{
    if (claim->answer == PACE_GRANTED || claim->answer == PACE_LATER) {
        paced->next_ms = claim->decided_ms + claim->wait_ms;
        paced->learned_ms = claim->decided_ms;
    }
}

static void end_turn(struct pace_turn *turn, int64_t rest_ms, bool unused)
{
    struct pacer *pacer = turn->pacer;
    struct pace_end end = {.source = turn->paced->name,
                           .pace = turn->pace,
                           .id = turn->id,
                           .unused = unused,
                           .probe = turn->probe,
                           .rest_ms = rest_ms};
    bool changes = unused || turn->probe || turn->pace->at_once || rest_ms > 0;
    if (pacer->store.end && changes) {
        pacer->store.end(pacer->store.context, turn->call, &end);
    }
}

/* Remembers what the store decided, or decides where it could not. */
static int note_claim(struct pacer *pacer, struct paced *paced, struct pace_claim *claim,
                      bool decided)
{
    pthread_mutex_lock(&pacer->lock);
    int status = make_room(paced, claim->pace, clock_now_ms()) ? OK : ERR_NOMEM;
    if (status == OK && !decided) {
        decide_here(pacer, paced, claim);
    }
    if (status == OK) {
        learn(paced, claim);
    }
    if (status == OK && claim->answer == PACE_GRANTED) {
        remember(paced, claim->id, claim->decided_ms + claim->wait_ms);
        paced->running++;
    }
    pthread_mutex_unlock(&pacer->lock);
    return status;
}

/* The claim decided: by the store, or by this process where the store cannot. */
static int claim_turn(struct pace_turn *turn, struct pace_claim *claim)
{
    const struct pace_store *store = &turn->pacer->store;
    int status = store->take ? store->take(store->context, turn->call, claim) : ERR_UNSUPPORTED;
    bool decided = status == OK;
    if (status != ERR_CANCELLED && status != ERR_DEADLINE) {
        status = note_claim(turn->pacer, turn->paced, claim, decided);
    }
    turn->probe = status == OK && claim->probe;
    if (status != OK || (!decided && claim->answer != PACE_GRANTED)) {
        end_turn(turn, PACE_UNKNOWN, true); /* a store that is late may have stored it, or will */
    }
    return status;
}

/* Gives back a turn of which nothing was sent. */
static void give_back(struct pace_turn *turn)
{
    struct pacer *pacer = turn->pacer;
    pthread_mutex_lock(&pacer->lock);
    forget(turn->paced, turn->id);
    turn->paced->running--;
    pthread_mutex_unlock(&pacer->lock);
    breaker_report(pacer->rests, turn->paced->name, BREAKER_UNKNOWN);
    end_turn(turn, PACE_UNKNOWN, true);
}

/* Waits for the time of a turn that was granted. OK with how late it is now. */
static int wait_for_time(struct pace_turn *turn, const struct pace_claim *claim, int64_t *late_ms)
{
    int64_t at = claim->decided_ms + claim->wait_ms;
    int64_t left = at - clock_now_ms();
    int status = left > 0 ? call_sleep(turn->call, left) : call_check(turn->call);
    *late_ms = clock_now_ms() - at;
    return status;
}

/* Takes the turn of a call that is next. */
static int be_served(struct pace_turn *turn, int64_t end_ms)
{
    int64_t ahead = 0;
    for (;;) {
        int64_t late = 0;
        int64_t left = end_ms - clock_now_ms();
        struct pace_claim claim = {.source = turn->paced->name,
                                   .pace = turn->pace,
                                   .patience_ms = left > 0 ? left : 0,
                                   .ahead_ms = ahead,
                                   .lasts_ms = TIME_SEARCH_TRY_MS + RESERVE_MS};
        id_make(turn->id);
        memcpy(claim.id, turn->id, sizeof claim.id);
        int status = claim_turn(turn, &claim);
        if (status != OK) {
            return status;
        }
        if (claim.answer == PACE_FULL && left > POLL_MS) {
            status = call_sleep(turn->call, POLL_MS);
        } else if (claim.answer == PACE_GRANTED) {
            status = wait_for_time(turn, &claim, &late);
            if (status == OK && late <= TOLERANCE_MS) {
                return OK;
            }
            /* One that begins late comes too close to the next. A store, or a machine, that is slow
             * is given its time the next time. */
            give_back(turn);
            ahead = 2 * late;
        } else {
            turn->wait_ms = claim.wait_ms;
            turn->rests = claim.answer == PACE_RESTS;
            return ERR_BUSY;
        }
        if (status != OK) {
            return status;
        }
    }
}

/* ---- standing in line, with the lock held ---- */

static bool same_owner(const struct call *a, const struct call *b)
{
    const char *one = call_owner(a);
    const char *other = call_owner(b);
    return one == other || (one && other && strcmp(one, other) == 0);
}

/* The round of a call that comes now: the next in which its caller has no turn yet. */
static uint64_t round_of(const struct paced *paced, const struct call *call)
{
    uint64_t last = paced->round;
    for (const struct waiter *each = paced->first; each; each = each->next) {
        if (same_owner(each->call, call) && each->round > last) {
            last = each->round;
        }
    }
    return last + 1;
}

/* The milliseconds until the turn of a call that comes in that round, at least. */
static int64_t least_wait(const struct paced *paced, const struct pace *pace, uint64_t round,
                          int64_t now)
{
    bool believed = now - paced->learned_ms <= BELIEF_MS && paced->next_ms > now;
    int64_t wait = believed ? paced->next_ms - now : 0;
    int64_t more = 0;
    unsigned before = paced->served;
    for (const struct waiter *each = paced->first; each; each = each->next) {
        before += each->round <= round;
    }
    for (unsigned i = 0; pace_calls(pace, i); i++) {
        int64_t spans = before / pace_calls(pace, i);
        int64_t span = spans * pace_span_ms(pace->windows[i].window_ms);
        more = span > more ? span : more;
    }
    return wait + more;
}

/* Calls the next one, if there is one. */
static void hand_on(struct paced *paced)
{
    struct waiter **next = NULL;
    for (struct waiter **link = &paced->first; *link; link = &(*link)->next) {
        if (!next || (*link)->round < (*next)->round) {
            next = link;
        }
    }
    paced->served = next != NULL;
    if (next) {
        struct waiter *waiter = *next;
        *next = waiter->next;
        paced->round = waiter->round;
        waiter->called = true;
        event_signal(waiter->event);
    }
}

static void join(struct paced *paced, struct waiter *waiter)
{
    struct waiter **end = &paced->first;
    while (*end) {
        end = &(*end)->next;
    }
    *end = waiter;
}

static void leave_line(struct paced *paced, const struct waiter *waiter)
{
    struct waiter **link = &paced->first;
    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
}

/* ---- turns ---- */

/* Waits until it is called, without the lock. */
static int wait_in_line(struct pace_turn *turn, struct waiter *waiter, int64_t patience_ms)
{
    struct pacer *pacer = turn->pacer;
    struct pollfd watched = {.fd = waiter->event, .events = POLLIN};
    int ready = call_wait(turn->call, &watched, 1, patience_ms);
    int status = ready > 0 ? OK : ready == 0 ? ERR_BUSY : ready;
    pthread_mutex_lock(&pacer->lock);
    if (status != OK && waiter->called) { /* just now */
        hand_on(turn->paced);
    } else if (status != OK) {
        turn->wait_ms = least_wait(turn->paced, turn->pace, waiter->round, clock_now_ms());
        leave_line(turn->paced, waiter);
    }
    pthread_mutex_unlock(&pacer->lock);
    return status;
}

/* OK when the call is the one that is served: hand_on() must follow. */
static int become_next(struct pace_turn *turn, int64_t patience_ms)
{
    struct paced *paced = turn->paced;
    struct waiter waiter = {.call = turn->call, .event = -1};
    int status = OK;
    pthread_mutex_lock(&turn->pacer->lock);
    waiter.round = round_of(paced, turn->call);
    turn->wait_ms = least_wait(paced, turn->pace, waiter.round, clock_now_ms());
    if (turn->wait_ms > patience_ms) {
        status = ERR_BUSY; /* and knows it now, rather than after its patience */
    } else if (paced->served) {
        waiter.event = event_open();
        status = waiter.event < 0 ? ERR_IO : OK;
        if (status == OK) {
            join(paced, &waiter);
        }
    } else {
        paced->served = true;
        paced->round = waiter.round;
    }
    pthread_mutex_unlock(&turn->pacer->lock);
    if (status == OK && waiter.event >= 0) {
        status = wait_in_line(turn, &waiter, patience_ms);
    }
    event_close(waiter.event);
    return status;
}

int pace_take(struct call *call, const char *source, const struct pace *pace, int64_t patience_ms,
              struct pace_turn *turn)
{
    const struct parts *parts = call_parts(call);
    *turn = (struct pace_turn){.pacer = parts ? parts->pacer : NULL, .call = call, .pace = pace};
    struct pacer *pacer = turn->pacer;
    if (!pacer) {
        return OK;
    }
    int64_t left = call_time_left_ms(call);
    patience_ms = patience_ms < left ? patience_ms : left;
    patience_ms = patience_ms < TIME_PACE_AHEAD_MS ? patience_ms : TIME_PACE_AHEAD_MS;
    int64_t end_ms = clock_now_ms() + patience_ms;
    pthread_mutex_lock(&pacer->lock);
    turn->paced = find(pacer, source);
    pthread_mutex_unlock(&pacer->lock);
    int status = turn->paced ? become_next(turn, patience_ms) : ERR_NOMEM;
    if (status == OK) {
        status = be_served(turn, end_ms);
        pthread_mutex_lock(&pacer->lock);
        hand_on(turn->paced);
        pthread_mutex_unlock(&pacer->lock);
    }
    return status;
}

void pace_leave(struct pace_turn *turn, int64_t rest_ms)
{
    struct pacer *pacer = turn->pacer;
    if (!pacer) {
        return;
    }
    pthread_mutex_lock(&pacer->lock);
    turn->paced->running--;
    pthread_mutex_unlock(&pacer->lock);
    breaker_report(pacer->rests, turn->paced->name,
                   rest_ms == 0 ? BREAKER_ANSWERED : BREAKER_UNKNOWN);
    if (rest_ms > 0) {
        breaker_rest(pacer->rests, turn->paced->name, rest_ms);
    }
    end_turn(turn, rest_ms, false);
}
