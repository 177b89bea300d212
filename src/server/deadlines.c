/* Deadlines, the earliest first. */
#include "server/deadlines.h"

#include "core/status.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

static void put(struct deadlines *deadlines, size_t slot, struct deadline *entry)
{
    deadlines->heap[slot] = entry;
    entry->slot = slot;
}

static void rise(struct deadlines *deadlines, struct deadline *entry)
{
    size_t slot = entry->slot;
    while (slot > 0) {
        size_t parent = (slot - 1) / 2;
        if (deadlines->heap[parent]->at <= entry->at) {
            break;
        }
        put(deadlines, slot, deadlines->heap[parent]);
        slot = parent;
    }
    put(deadlines, slot, entry);
}

static void sink(struct deadlines *deadlines, struct deadline *entry)
{
    size_t slot = entry->slot;
    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= deadlines->count) {
            break;
        }
        if (child + 1 < deadlines->count &&
            deadlines->heap[child + 1]->at < deadlines->heap[child]->at) {
            child++;
        }
        if (deadlines->heap[child]->at >= entry->at) {
            break;
        }
        put(deadlines, slot, deadlines->heap[child]);
        slot = child;
    }
    put(deadlines, slot, entry);
}

int deadlines_add(struct deadlines *deadlines, struct deadline *entry)
{
    if (deadlines->count == deadlines->capacity) {
        size_t capacity = deadlines->capacity ? deadlines->capacity * 2 : FIRST_CAPACITY;
        struct deadline **heap = realloc(deadlines->heap, capacity * sizeof(struct deadline *));
        if (!heap) {
            return ERR_NOMEM;
        }
        deadlines->heap = heap;
        deadlines->capacity = capacity;
    }
    put(deadlines, deadlines->count++, entry);
    rise(deadlines, entry);
    return OK;
}

void deadlines_move(struct deadlines *deadlines, struct deadline *entry, int64_t at)
{
    entry->at = at;
    rise(deadlines, entry);
    sink(deadlines, entry);
}

void deadlines_remove(struct deadlines *deadlines, struct deadline *entry)
{
    struct deadline *last = deadlines->heap[--deadlines->count];
    if (last != entry) {
        put(deadlines, entry->slot, last);
        deadlines_move(deadlines, last, last->at);
    }
}

struct deadline *deadlines_first(const struct deadlines *deadlines)
{
    return deadlines->count ? deadlines->heap[0] : NULL;
}

void deadlines_done(struct deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct deadlines){0};
}
