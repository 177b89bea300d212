/* A list of indexes, the last used first, and the memory that all of them may take. What an index
 * takes comes out of a stock while it grows; where there is none left, those that nobody uses go,
 * the one that was not used for longest first. One index at a time may be larger than that: it
 * serves its call and goes. */
#include "memory/indexes.h"

#include "core/heap.h"
#include "index/shelving.h"
#include "memory/shelves.h"
#include "memory/space_index.h"

#include <stdlib.h>
#include <string.h>

#define STEP_BYTES MIB(1) /* that an index grows by before it is counted again */

/* ---- dropping ---- */

static size_t bytes_of(const struct space_index *one)
{
    return (one->index ? index_bytes(one->index) : 0) + space_vectors_bytes(&one->vectors);
}

static size_t free_one(struct space_index *one)
{
    size_t bytes = bytes_of(one);
    index_free(one->index);
    space_vectors_clear(&one->vectors);
    shelf_free(one->shelf);
    stock_give_all(&one->bytes);
    stock_give_all(&one->large);
    pthread_rwlock_destroy(&one->lock);
    free(one->owner);
    free(one->name);
    free(one);
    return bytes;
}

/* Frees those that were taken out of the list, without its lock. */
static void free_all(struct space_index *list)
{
    size_t freed = 0;
    while (list) {
        struct space_index *next = list->next;
        freed += free_one(list);
        list = next;
    }
    heap_freed(freed);
}

/* Takes the one out of the list that was not used for longest (NULL: of any owner) and puts it in
 * front of `dropped`. Whether there was one. Its bytes are free at once, for whoever needs them. */
static bool drop_oldest(struct indexes *indexes, const char *owner, struct space_index **dropped)
{
    struct space_index **oldest = NULL;
    for (struct space_index **at = &indexes->first; *at; at = &(*at)->next) {
        bool fits = (*at)->users == 0 && (!owner || strcmp((*at)->owner, owner) == 0);
        oldest = fits ? at : oldest;
    }
    if (!oldest) {
        return false;
    }
    struct space_index *one = *oldest;
    *oldest = one->next;
    one->next = *dropped;
    *dropped = one;
    stock_give_all(&one->bytes);
    if (one->due_ms > 0) {
        saving_scrub(indexes, one->space);
    }
    return true;
}

/* ---- counting ---- */

/* Takes the bytes by which an index has grown, from those that nobody uses where there are no
 * others. An owner that has its share gives up indexes of its own. */
static int take_bytes(struct space_index *one, size_t grown, struct space_index **dropped)
{
    struct indexes *indexes = one->indexes;
    int status;
    do {
        status = stock_take(indexes->bytes, one->owner, false, grown, &one->bytes);
    } while (status != OK && status != ERR_NOMEM &&
             drop_oldest(indexes, status == ERR_LIMIT ? one->owner : NULL, dropped));
    return status;
}

int indexes_count(struct space_index *one)
{
    size_t bytes = bytes_of(one);
    if (one->bytes.units > bytes) {
        stock_give(&one->bytes, one->bytes.units - bytes);
    }
    if (bytes - one->bytes.units < STEP_BYTES && one->bytes.units > 0) {
        return OK;
    }
    struct space_index *dropped = NULL;
    int status = OK;
    pthread_mutex_lock(&one->indexes->lock);
    if (one->large.units == 0 && take_bytes(one, bytes - one->bytes.units, &dropped) != OK) {
        status = stock_take(one->indexes->large, one->owner, false, 1, &one->large);
        status = status == ERR_BUSY ? ERR_LIMIT : status;
    }
    pthread_mutex_unlock(&one->indexes->lock);
    free_all(dropped);
    return status;
}

/* ---- the list ---- */

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
    one->shelf = shelves_open(indexes->places, space, id);
    atomic_store(&one->is_stale, true);
    pthread_rwlock_init(&one->lock, NULL);
    if (!one->owner || !one->name || !one->index) {
        free_one(one);
        return NULL;
    }
    return one;
}

static void drop_too_many(struct indexes *indexes, struct space_index **dropped)
{
    size_t count = 0;
    for (const struct space_index *at = indexes->first; at; at = at->next) {
        count++;
    }
    if (count > LIMIT_MEMORY_INDEXES) {
        (void)drop_oldest(indexes, NULL, dropped);
    }
}

/* The entry of a space, put in front; made where there is none. */
static struct space_index *find(struct indexes *indexes, const struct memory_space *space,
                                int64_t id)
{
    struct space_index *dropped = NULL;
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
        drop_too_many(indexes, &dropped);
    }
    pthread_mutex_unlock(&indexes->lock);
    free_all(dropped);
    return found;
}

/* One that found no place goes with its last user, once it is saved. */
void indexes_let_go(struct space_index *found)
{
    struct indexes *indexes = found->indexes;
    struct space_index *dropped = NULL;
    pthread_mutex_lock(&indexes->lock);
    found->users--;
    if (found->users == 0 && found->large.units > 0 && found->due_ms == 0) {
        struct space_index **at = &indexes->first;
        while (*at != found) {
            at = &(*at)->next;
        }
        *at = found->next;
        found->next = NULL;
        dropped = found;
    }
    pthread_mutex_unlock(&indexes->lock);
    free_all(dropped);
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
        .key = memory->key,
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
    space_vectors_row(&catching->one->vectors, row);
    int status = index_put(catching->one->index, &entry);
    arena_reset(catching->arena); /* the row is not needed any more */
    return status == OK ? indexes_count(catching->one) : status;
}

static int take_removed(void *context, int64_t id)
{
    struct catching *catching = context;
    index_remove(catching->one->index, id);
    space_vectors_removed(&catching->one->vectors, id);
    return OK;
}

/* Puts another index in the place of the one that there is. */
static void replace(struct space_index *one, struct index *fresh, bool is_stale)
{
    size_t freed = bytes_of(one);
    index_free(one->index);
    space_vectors_clear(&one->vectors);
    one->index = fresh;
    one->made++;
    atomic_store(&one->is_stale, is_stale);
    pthread_mutex_lock(&one->indexes->lock);
    stock_give_all(&one->bytes);
    stock_give_all(&one->large);
    pthread_mutex_unlock(&one->indexes->lock);
    heap_freed(freed);
}

/* Starts from what was kept, or from nothing. */
static int start_again(struct space_index *one, struct db *db, const struct store_space *space)
{
    struct index *fresh;
    int status = saving_load(one, db, space, &fresh);
    if (status == OK) {
        replace(one, fresh, false);
    }
    return status;
}

/* One that is no good gives its memory back at once. */
static void forget(struct space_index *one)
{
    struct index *fresh = index_new();
    atomic_store(&one->is_stale, true);
    if (fresh) {
        one->seen = 0;
        replace(one, fresh, true);
    }
}

static int catch_up(struct db *db, struct space_index *one, const struct store_space *space,
                    const struct embedding *wanted)
{
    int status = OK;
    if (atomic_load(&one->is_stale) || (one->seen > 0 && one->seen < space->horizon)) {
        status = start_again(one, db, space);
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
    while (status == OK && arena && !space_vectors_follow(&one->vectors, wanted, space->change)) {
        status = space_vectors_catch_up(&one->vectors, db, wanted, space->change);
        status = status == OK ? indexes_count(one) : status;
        status = status == OK ? call_check(db_call(db)) : status;
    }
    /* Some of a batch may be in it: putting it in again is harmless, but after a failure of the
     * index itself memories may be missing; and one that found no place must not stay. */
    int settled = index_settle(one->index);
    if (settled != OK || status == ERR_NOMEM || status == ERR_LIMIT) {
        forget(one);
    } else if (status == OK) {
        status = saving_consider(one, db);
    }
    status = status == OK ? settled : status;
    arena_free(arena);
    return arena ? status : ERR_NOMEM;
}

static bool is_behind(const struct space_index *one, const struct store_space *known,
                      const struct embedding *wanted)
{
    return one->seen < known->change || atomic_load(&one->is_stale) ||
           !space_vectors_follow(&one->vectors, wanted, known->change);
}

int indexes_acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                    const char *model, struct space_index **found)
{
    struct store_space known;
    struct embedding wanted = {0};
    *found = NULL;
    int status = store_space_of(db, space, false, &known);
    if (status == OK && known.id != 0 && model) {
        status = embeddings_choose(db, call_arena(db_call(db)), known.id, model, &wanted);
    }
    if (status != OK || known.id == 0) {
        return status;
    }
    struct space_index *one = find(indexes, space, known.id);
    if (!one) {
        return ERR_NOMEM;
    }
    pthread_rwlock_rdlock(&one->lock);
    while (status == OK && is_behind(one, &known, &wanted)) {
        pthread_rwlock_unlock(&one->lock);
        pthread_rwlock_wrlock(&one->lock);
        status = catch_up(db, one, &known, &wanted);
        pthread_rwlock_unlock(&one->lock);
        pthread_rwlock_rdlock(&one->lock);
    }
    if (status != OK) {
        pthread_rwlock_unlock(&one->lock);
        indexes_let_go(one);
        return status;
    }
    *found = one;
    return OK;
}

const struct index *indexes_of(const struct space_index *found)
{
    return found->index;
}

const struct vectors *indexes_vectors(const struct space_index *found, const char **model)
{
    *model = found->vectors.model;
    return found->vectors.set;
}

bool indexes_sound(struct space_index *found)
{
    bool sound = shelving_sound(found->index);
    if (!sound) {
        atomic_store(&found->is_stale, true);
    }
    return sound;
}

int indexes_throw_away(struct indexes *indexes, struct db *db, const struct memory_space *space)
{
    struct store_space known;
    int status = store_space_of(db, space, false, &known);
    if (status != OK || known.id == 0) {
        return status;
    }
    struct space_index *one = find(indexes, space, known.id);
    if (!one) {
        return ERR_NOMEM;
    }
    pthread_rwlock_wrlock(&one->lock);
    status = saving_throw_away(one);
    if (status == OK) {
        forget(one);
    }
    pthread_rwlock_unlock(&one->lock);
    indexes_let_go(one);
    return status;
}

void indexes_scrub(struct indexes *indexes, int64_t space)
{
    pthread_mutex_lock(&indexes->lock);
    saving_scrub(indexes, space);
    pthread_mutex_unlock(&indexes->lock);
}

void indexes_changed(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    saving_changed(indexes);
    pthread_mutex_unlock(&indexes->lock);
}

int64_t indexes_space(const struct space_index *found)
{
    return found->space;
}

void indexes_release(struct space_index *found)
{
    if (found) {
        pthread_rwlock_unlock(&found->lock);
        indexes_let_go(found);
    }
}

struct indexes *indexes_new(const struct indexes_options *options)
{
    struct indexes *indexes = calloc(1, sizeof *indexes);
    if (!indexes) {
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&indexes->work, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&indexes->lock, NULL);
    indexes->places = options->places;
    indexes->pool = options->pool;
    indexes->bytes = stock_new(
        options->stocks, &(struct stock_rule){.name = "index_bytes",
                                              .help = "Memory of the indexes over memories' words.",
                                              .all = options->bytes});
    indexes->large =
        stock_new(options->stocks,
                  &(struct stock_rule){.name = "large_indexes",
                                       .help = "Indexes that find no place among index_bytes.",
                                       .all = 1});
    return indexes->bytes && indexes->large ? indexes : indexes_free(indexes);
}

struct indexes *indexes_free(struct indexes *indexes)
{
    if (indexes) {
        saving_end(indexes);
        while (indexes->first) {
            struct space_index *one = indexes->first;
            indexes->first = one->next;
            (void)free_one(one);
        }
        stock_free(indexes->bytes);
        stock_free(indexes->large);
        pthread_cond_destroy(&indexes->work);
        pthread_mutex_destroy(&indexes->lock);
        free(indexes);
    }
    return NULL;
}
