/* Several pieces of work of one call, side by side: each on a thread of its own, with a call of its
 * own (which the parent's cancellation and end reach at once) and an arena for what it found.
 *
 * The parent never waits for a piece that does not end: at its time it takes what is finished and
 * leaves the rest behind, cancelled. What a piece is given may live in the parent's arena, which
 * stays until the last piece has ended, but only the parent allocates from that arena.
 *
 * Threads come from a pool that all calls of a program share (parts.side_threads) and in which
 * nobody waits for another piece, so that calls cannot lock each other out. A piece that finds the
 * pool full, or its caller's share of it used up, starts a little later. */
#ifndef FORAGE_CALL_SIDE_H
#define FORAGE_CALL_SIDE_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct side;
struct stocks;

/* The pool that parts.side_threads is. */
struct pool *side_pool_new(struct stocks *stocks);

/* Works on `item`; what must outlive the work comes from `keep`. `call` has no deadline: the parent
 * cancels it in time. */
typedef void (*side_work)(struct call *call, void *item, struct arena *keep);
/* After each piece that ends, on the parent's thread: `done` of all have ended. */
typedef void (*side_report)(void *context, size_t index, size_t done);

/* NULL without memory. At most `at_once` pieces run at a time; each may keep `keep_bytes`. */
struct side *side_new(struct call *parent, side_work work, size_t count, size_t at_once,
                      size_t keep_bytes);
void side_set(struct side *side, size_t index, void *item);
/* Ends side_run() at this time of the monotonic clock, as a deadline would; for a report that knows
 * that the rest matters less. */
void side_until(struct side *side, int64_t time_ms);
/* OK when all have ended; ERR_DEADLINE when there are only `reserve_ms` left to the parent's
 * deadline, or side_until() says so: what is unfinished then is cancelled and stays so;
 * ERR_CANCELLED. Once. */
MUST_CHECK int side_run(struct side *side, int64_t reserve_ms, side_report report, void *context);
/* Only of a finished piece may the item be looked at. */
bool side_finished(struct side *side, size_t index);
/* Frees also what the pieces allocated from their `keep`. */
struct side *side_free(struct side *side);

#endif
