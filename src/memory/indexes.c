/* A list of indexes, the last used first. */
#include "memory/indexes.h"

#include "core/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct indexes {
    pthread_mutex_t lock;
    struct space_index *first; /* the last used */
};

struct space_index {
    struct space_index *next;
    struct indexes *indexes;
    char *owner;
    char *name;
    int64_t space;
    int64_t seen; /* the last change that is in it */
    struct index *index;
    pthread_rwlock_t lock;
    size_t users; /* under the lock of the list; one that is used is not dropped */
};

static void free_one(struct space_index *one)
{
    index_free(one->index);
    pthread_rwlock_destroy(&one->lock);
    free(one->owner);
    free(one->name);
    free(one);
}

static struct space_index *make(struct indexes *indexes, const struct memory_space *space,
                                int64_t id)
{
    struct space_index *one = calloc(1, sizeof *one);
    if (!one) {
        return NULL;
    }
    one->indexes = indexes;
    one->space = id;
    one->owner = strdup(space->owner);
    one->name = strdup(space->name);
    one->index = index_new();
    pthread_rwlock_init(&one->lock, NULL);
    if (!one->owner || !one->name || !one->index) {
        free_one(one);
        return NULL;
    }
    return one;
}

/* Drops the one that was not used for longest, when there are too many. */
static void drop_oldest(struct indexes *indexes)
{
    size_t count = 0;
    struct space_index **oldest = NULL;
    for (struct space_index **at = &indexes->first; *at; at = &(*at)->next) {
        count++;
        oldest = (*at)->users == 0 ? at : oldest;
    }
    if (count > LIMIT_MEMORY_INDEXES && oldest) {
        struct space_index *dropped = *oldest;
        *oldest = dropped->next;
        free_one(dropped);
    }
}

/* The entry of a space, put in front; made where there is none. */
static struct space_index *find(struct indexes *indexes, const struct memory_space *space,
                                int64_t id)
{
    pthread_mutex_lock(&indexes->lock);
    struct space_index **at = &indexes->first;
    while (*at && ((*at)->space != id || strcmp((*at)->owner, space->owner) != 0 ||
                   strcmp((*at)->name, space->name) != 0)) {
        at = &(*at)->next;
    }
    struct space_index *found = *at;
    if (found) {
        *at = found->next;
    } else {
        found = make(indexes, space, id);
    }
    if (found) {
        found->next = indexes->first;
        indexes->first = found;
        found->users++;
        drop_oldest(indexes);
    }
    pthread_mutex_unlock(&indexes->lock);
    return found;
}

static void release_user(struct space_index *found)
{
    pthread_mutex_lock(&found->indexes->lock);
    found->users--;
    pthread_mutex_unlock(&found->indexes->lock);
}

/* ---- catching up ---- */

/* An index and the memory that rows are read into. */
struct catching {
    struct space_index *one;
    struct arena *arena;
};

static int take_row(void *context, const struct store_row *row)
{
    struct catching *catching = context;
    const struct memory *memory = &row->memory;
    struct index_entry entry = {
        .id = row->id,
        .summary = memory->summary,
        .text = memory->text,
        .tags = memory->tags,
        .tag_count = memory->tag_count,
        .session = memory->session,
        .place = memory->place,
        .role = memory->role,
        .created_ms = memory->created_ms,
        .expires_ms = memory->expires_ms,
    };
    int status = index_put(catching->one->index, &entry);
    arena_reset(catching->arena); /* the row is not needed any more */
    return status;
}

static int take_removed(void *context, int64_t id)
{
    struct catching *catching = context;
    index_remove(catching->one->index, id);
    return OK;
}

/* Starts from nothing: the store no longer lists what happened before its horizon. */
static int start_again(struct space_index *one)
{
    struct index *fresh = index_new();
    one->seen = 0;
    if (!fresh) {
        return ERR_NOMEM;
    }
    index_free(one->index);
    one->index = fresh;
    return OK;
}

static int catch_up(struct db *db, struct space_index *one, const struct store_space *space)
{
    int status = OK;
    if (one->seen > 0 && one->seen < space->horizon) {
        status = start_again(one);
    }
    struct arena *arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    struct catching catching = {one, arena};
    while (status == OK && arena && one->seen < space->change) {
        int64_t seen = one->seen;
        status = store_changes(db, arena, one->space, one->seen, LIMIT_MEMORY_CATCH_UP, take_row,
                               take_removed, &catching, &seen);
        if (status == OK && seen == one->seen) {
            seen = space->change; /* the last changes left nothing behind */
        }
        one->seen = status == OK ? seen : one->seen;
        status = status == OK ? call_check(db_call(db)) : status;
    }
    if (status != OK) {
        /* Some of a batch may be in it: putting it in again is harmless, but after a failure of the
         * index itself memories may be missing. */
        if (status == ERR_NOMEM || status == ERR_LIMIT) {
            start_again(one);
        }
    }
    index_rest(one->index);
    arena_free(arena);
    return arena ? status : ERR_NOMEM;
}

int indexes_acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                    struct space_index **found)
{
    struct store_space known;
    *found = NULL;
    int status = store_space_of(db, space, false, &known);
    if (status != OK || known.id == 0) {
        return status;
    }
    struct space_index *one = find(indexes, space, known.id);
    if (!one) {
        return ERR_NOMEM;
    }
    pthread_rwlock_rdlock(&one->lock);
    while (status == OK && one->seen < known.change) {
        pthread_rwlock_unlock(&one->lock);
        pthread_rwlock_wrlock(&one->lock);
        status = catch_up(db, one, &known);
        pthread_rwlock_unlock(&one->lock);
        pthread_rwlock_rdlock(&one->lock);
    }
    if (status != OK) {
        pthread_rwlock_unlock(&one->lock);
        release_user(one);
        return status;
    }
    *found = one;
    return OK;
}

const struct index *indexes_of(const struct space_index *found)
{
    return found->index;
}

int64_t indexes_space(const struct space_index *found)
{
    return found->space;
}

void indexes_release(struct space_index *found)
{
    if (found) {
        pthread_rwlock_unlock(&found->lock);
        release_user(found);
    }
}

struct indexes *indexes_new(void)
{
    struct indexes *indexes = calloc(1, sizeof *indexes);
    if (indexes) {
        pthread_mutex_init(&indexes->lock, NULL);
    }
    return indexes;
}

struct indexes *indexes_free(struct indexes *indexes)
{
    while (indexes && indexes->first) {
        struct space_index *one = indexes->first;
        indexes->first = one->next;
        free_one(one);
    }
    if (indexes) {
        pthread_mutex_destroy(&indexes->lock);
        free(indexes);
    }
    return NULL;
}
