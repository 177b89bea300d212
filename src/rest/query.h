/* The query of a URL: names and values, percent-encoded. */
#ifndef FORAGE_REST_QUERY_H
#define FORAGE_REST_QUERY_H

#include "call/call.h"
#include "text/slice.h"

/* The next pair of what is left; a name without a value has an empty one. False at the end. */
bool query_next(struct slice *left, struct slice *name, struct slice *value);
/* Reads a part of a URL as text, in the call's arena. OK, ERR_NOMEM, or ERR_FAILED after
 * call_fail() where it holds what no argument can. */
MUST_CHECK int query_decode(struct call *call, struct slice part, bool in_query, const char **text);
/* The value of a name, decoded; NULL where it is not given, or empty. The same. */
MUST_CHECK int query_text(struct call *call, struct slice query, const char *name,
                          const char **text);
/* A number as text; -1 where it is none, or out of bounds. */
int64_t query_digits(struct slice digits, int64_t least, int64_t most);
/* The number of a name; `preset` where it is not given, and -1 where it is wrong. */
int64_t query_number(struct slice query, const char *name, int64_t preset, int64_t least,
                     int64_t most);
/* A moment such as 2026-11-15 or 2026-11-15T10:10:30Z, in milliseconds since 1970; 0 where it is
 * not given. OK, or ERR_FAILED after call_fail(). */
MUST_CHECK int query_moment(struct call *call, struct slice query, const char *name,
                            int64_t *at_ms);

#endif
