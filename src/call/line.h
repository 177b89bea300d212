/* A line to stand in: at most so many calls inside at once, the others wait. A place that becomes
 * free is handed on, so nobody slips in between: to the caller who has fewest inside, and of one
 * caller's calls to the one that came first. Where there are several callers, none of them has all
 * places of a line that has more than one: the last is for somebody who has none. A call that is
 * cancelled, out of time or out of patience leaves the line at once.
 *
 * Whoever wants in keeps a `struct place` from line_enter() to line_leave(), usually on its stack;
 * the line itself allocates nothing. Places with different keys do not count against each other, so
 * that one line serves every host that pages are read from. */
#ifndef FORAGE_CALL_LINE_H
#define FORAGE_CALL_LINE_H

#include "call/call.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place;
struct turns; /* those of one program that an operator is told of */

struct line {
    pthread_mutex_t lock;
    size_t most;         /* inside at once, for each key */
    struct place *first; /* who is inside or waits, in the order in which they came */
    const char *name;    /* where it is among those; NULL: it is not */
    struct turns *turns;
    struct line *next;
};

struct place {
    /* Set before line_enter(). */
    struct call *call;
    const char *key; /* stays until line_leave(); NULL is a key too */
    /* Called, where it is not NULL, when the wait begins and every five seconds: how many are
     * inside, and how many of those who wait came before. */
    void (*report)(struct call *call, size_t inside, size_t before);

    /* The line's own. */
    struct line *line;
    struct place *next;
    int event;
    bool inside;
};

/* `name`, a constant, is what it is called among `turns` (which outlive it); NULL: nowhere. */
void line_init(struct line *line, struct turns *turns, const char *name, size_t most);
/* Nobody may be inside or in line. */
void line_done(struct line *line);

/* OK when it is inside: line_leave() must follow. ERR_BUSY when `patience_ms` passed first
 * (negative: it waits as long as its call may), ERR_CANCELLED, ERR_DEADLINE, ERR_IO. */
MUST_CHECK int line_enter(struct line *line, struct place *place, int64_t patience_ms);
void line_leave(struct place *place);
struct turns *turns_new(void);
struct turns *turns_free(struct turns *turns);
/* Shows every line: how many are inside and how many wait. */
void turns_look(struct turns *turns,
                void (*show)(void *context, const struct line *line, size_t inside, size_t waiting),
                void *context);

#endif
