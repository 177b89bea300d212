/* The way of one query to its providers. Where one is asked at a time, the first of the plan is,
 * and the next after a failure that is likely to pass. Where several are asked side by side, each
 * has a track: it takes the next provider of the plan, and the one after that when it fails, until
 * one has answered. */
#ifndef FORAGE_WEBSEARCH_ROUTE_H
#define FORAGE_WEBSEARCH_ROUTE_H

#include "call/call.h"
#include "guard/breaker.h"
#include "websearch/judge.h"

struct search_route;

struct route_answer {
    const struct provider *provider; /* who answered */
    size_t place;                    /* of it in the plan */
    struct hits hits;                /* in the call's arena */
    struct remarks left_out;         /* of what was asked for */
    const char *remark;              /* something to know about an answer without results */
};

/* In the call's arena, which must outlive all tracks. OK; ERR_FAILED after call_fail(), when there
 * is nobody to ask; ERR_NOMEM. All of it is over by `deadline_ms` of the monotonic clock, tries and
 * waits included. */
MUST_CHECK int route_new(struct call *call, struct breakers *breakers,
                         const struct search_query *query, int64_t deadline_ms,
                         struct search_route **route);
/* The provider that is asked first. */
const char *route_first(const struct search_route *route);
/* How many tracks it has, each of which must run once, on a thread of its own where it has more
 * than one; 1: nobody is asked beside another. */
size_t route_tracks(const struct search_route *route);
/* The time at which a track that has no answer gives way to those that have one. */
int64_t route_late_ms(const struct search_route *route);
/* One of the providers wants the queries of one call one after the other. */
bool route_in_turn(const struct search_route *route);
/* Runs a track. OK, an empty answer included; ERR_NOTFOUND when others may have one; ERR_FAILED
 * after call_fail(), when all tracks ended without; ERR_CANCELLED, ERR_DEADLINE. */
MUST_CHECK int route_run(struct call *call, struct search_route *route,
                         struct route_answer *answer);
/* Adds what is to say about those who did not answer, and who could not be asked; returns how many
 * were asked in vain. Tracks that were left behind may still run. */
size_t route_tell(struct arena *arena, const struct search_route *route, struct remarks *warnings,
                  struct remarks *left_out);

/* Makes the request for a query, with the address and the key of the configuration; for the doctor
 * too. OK or ERR_NOMEM. */
MUST_CHECK int route_request(const struct provider *provider, struct arena *arena,
                             const struct search_query *query, struct provider_request *request);

#endif
