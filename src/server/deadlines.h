/* Deadlines, the earliest first: a binary heap of entries that live inside their owners. An owner
 * whose deadline moves later need not tell: it is asked again when the old one comes, and moves it
 * then. */
#ifndef FORAGE_SERVER_DEADLINES_H
#define FORAGE_SERVER_DEADLINES_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

#define DEADLINE_NEVER INT64_MAX

struct deadline {
    int64_t at; /* changed only by deadlines_move */
    size_t slot;
    void *owner;
};

struct deadlines {
    struct deadline **heap;
    size_t count;
    size_t capacity;
};

/* `entry->at` and `entry->owner` are set. A status. */
MUST_CHECK int deadlines_add(struct deadlines *deadlines, struct deadline *entry);
void deadlines_move(struct deadlines *deadlines, struct deadline *entry, int64_t at);
void deadlines_remove(struct deadlines *deadlines, struct deadline *entry);
/* The earliest one, NULL when there is none. */
struct deadline *deadlines_first(const struct deadlines *deadlines);
void deadlines_done(struct deadlines *deadlines);

#endif
