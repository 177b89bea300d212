/* Pieces of work on a shared pool of threads. What the pieces and the parent share is freed by
 * whoever leaves last. */
#include "call/side.h"

#include "call/call.h"
#include "call/parts.h"
#include "call/pool.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"

#include <pthread.h>
#include <stdlib.h>

#define TRY_AGAIN_MS 10 /* while the pool is full */

struct side_piece {
    struct side *side;
    void *item;
    struct arena *keep;
    struct call *call; /* while it runs */
    bool started, finished;
};

struct side {
    pthread_mutex_t lock; /* guards what pieces and parent both touch */
    unsigned references;  /* the parent's, and one for each piece that runs */
    bool closed;          /* nobody is interested in what ends from now on */
    int event;            /* a piece has ended */
    struct call *parent;
    side_work work;
    size_t count, at_once, keep_bytes;
    size_t next;    /* to be started */
    size_t running; /* as the parent knows it */
    size_t done;
    int64_t until_ms; /* the parent waits no longer */
    struct side_piece pieces[];
};

struct pool *side_pool_new(struct stocks *stocks)
{
    return pool_new(stocks, &(struct stock_rule){
                                .name = "side_threads",
                                .help = "pieces of calls that may run side by side",
                                .all = LIMIT_SIDE_THREADS,
                            });
}

/* ---- life ---- */

static void release(struct side *side)
{
    pthread_mutex_lock(&side->lock);
    bool last = --side->references == 0;
    pthread_mutex_unlock(&side->lock);
    if (!last) {
        return;
    }
    for (size_t i = 0; i < side->count; i++) {
        arena_free(side->pieces[i].keep);
    }
    event_close(side->event);
    pthread_mutex_destroy(&side->lock);
    call_free(side->parent);
    free(side);
}

struct side *side_new(struct call *parent, side_work work, size_t count, size_t at_once,
                      size_t keep_bytes)
{
    struct side *side = calloc(1, sizeof *side + count * sizeof side->pieces[0]);
    if (!side) {
        return NULL;
    }
    side->event = event_open();
    if (side->event < 0) {
        free(side);
        return NULL;
    }
    pthread_mutex_init(&side->lock, NULL);
    side->references = 1;
    side->parent = call_ref(parent);
    side->work = work;
    side->count = count;
    side->at_once = at_once ? at_once : 1;
    side->keep_bytes = keep_bytes;
    side->until_ms = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        side->pieces[i].side = side;
    }
    return side;
}

struct side *side_free(struct side *side)
{
    if (side) {
        release(side);
    }
    return NULL;
}

void side_set(struct side *side, size_t index, void *item)
{
    side->pieces[index].item = item;
}

void side_until(struct side *side, int64_t time_ms)
{
    side->until_ms = time_ms;
}

bool side_finished(struct side *side, size_t index)
{
    pthread_mutex_lock(&side->lock);
    bool finished = side->pieces[index].finished;
    pthread_mutex_unlock(&side->lock);
    return finished;
}

/* ---- a piece ---- */

static void run_piece(void *context)
{
    struct side_piece *piece = context;
    struct side *side = piece->side;
    struct call *call = piece->call;
    side->work(call, piece->item, piece->keep);
    pthread_mutex_lock(&side->lock);
    piece->call = NULL;
    if (!side->closed) {
        call_note_http(side->parent, call_http(call));
    }
    piece->finished = !side->closed;
    event_signal(side->event);
    pthread_mutex_unlock(&side->lock);
    call_free(call);
    release(side);
}

/* OK, or why it cannot start now. */
static int start_piece(struct side *side, struct side_piece *piece)
{
    struct call_options options = {
        .request_id = call_request_id(side->parent),
        .part_of = side->parent,
        .caller = call_caller(side->parent),
        .parts = call_parts(side->parent),
        .for_operator = call_is_for_operator(side->parent),
    };
    struct pool *pool = call_parts(side->parent)->side_threads;
    piece->keep = piece->keep ? piece->keep : arena_new(side->keep_bytes);
    struct call *call = pool && piece->keep ? call_new(&options) : NULL;
    if (!call) {
        return ERR_NOMEM;
    }
    piece->call = call;
    pthread_mutex_lock(&side->lock);
    side->references++;
    pthread_mutex_unlock(&side->lock);
    int status = pool_run(pool, call, false, run_piece, piece);
    if (status != OK) {
        piece->call = call_free(call);
        release(side);
        return status;
    }
    piece->started = true;
    return OK;
}

/* ---- all of them ---- */

/* False when the pool is full: to be tried again soon. */
static bool start_some(struct side *side)
{
    while (side->next < side->count && side->running < side->at_once) {
        if (start_piece(side, &side->pieces[side->next]) != OK) {
            return false;
        }
        side->next++;
        side->running++;
    }
    return true;
}

/* Counts and reports what has ended since the last time; `known` are those before. */
static void collect(struct side *side, bool *known, side_report report, void *context)
{
    event_clear(side->event);
    for (size_t i = 0; i < side->next; i++) {
        if (!known[i] && side_finished(side, i)) {
            known[i] = true;
            side->running--;
            side->done++;
            if (report) {
                report(context, i, side->done);
            }
        }
    }
}

static int wait_for_one(struct side *side, bool all_started, int64_t reserve_ms)
{
    struct pollfd watched = {.fd = side->event, .events = POLLIN};
    int64_t left = call_time_left_ms(side->parent);
    int64_t wait = left == INT64_MAX ? INT64_MAX : left - reserve_ms;
    int64_t own = side->until_ms == INT64_MAX ? INT64_MAX : side->until_ms - clock_now_ms();
    wait = own < wait ? own : wait;
    if (wait <= 0) {
        return ERR_DEADLINE;
    }
    wait = wait == INT64_MAX ? -1 : wait;
    if (!all_started && (wait < 0 || wait > TRY_AGAIN_MS)) {
        wait = TRY_AGAIN_MS;
    }
    int ready = call_wait(side->parent, &watched, 1, wait);
    return ready < 0 ? ready : OK;
}

/* From here on nothing that ends counts any more. */
static void close_side(struct side *side)
{
    pthread_mutex_lock(&side->lock);
    side->closed = true;
    for (size_t i = 0; i < side->next; i++) {
        if (side->pieces[i].call) {
            call_cancel(side->pieces[i].call);
        }
    }
    pthread_mutex_unlock(&side->lock);
}

int side_run(struct side *side, int64_t reserve_ms, side_report report, void *context)
{
    bool *known = calloc(side->count + 1, sizeof *known);
    int status = known ? OK : ERR_NOMEM;
    while (status == OK && side->done < side->count) {
        bool all_started = start_some(side);
        status = wait_for_one(side, all_started, reserve_ms);
        collect(side, known, report, context);
    }
    close_side(side);
    free(known);
    return side->done == side->count && status != ERR_CANCELLED ? OK : status;
}
