/* A list of indexes, the last used first, and the memory that all of them may take. What an index
 * takes comes out of a stock while it grows; where there is none left, those that nobody uses go,
 * the one that was not used for longest first. One index at a time may be larger than that: it
 * serves its call and goes. */
#include "memory/indexes.h"

#include "core/heap.h"
#include "index/shelving.h"
#include "memory/building.h"
#include "memory/shelves.h"
#include "memory/space_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    space_vectors_done(&one->vectors);
    shelf_free(one->shelf);
    stock_give_all(&one->bytes);
    stock_give_all(&one->large);
    pthread_rwlock_destroy(&one->lock);
    pthread_mutex_destroy(&one->building);
    free(one->touched);
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

void indexes_use_files(struct indexes *indexes)
{
    if (indexes->in_use < 0 && !indexes->only_looks) {
        indexes->in_use = shelves_use(indexes->places);
    }
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
    one->shelf = shelves_open(indexes->places, SHELVES_WORDS, space, id);
    one->vectors.shelf = shelves_open(indexes->places, SHELVES_VECTORS, space, id);
    atomic_store(&one->is_stale, true);
    indexes_use_files(indexes);
    pthread_rwlock_init(&one->lock, NULL);
    pthread_mutex_init(&one->building, NULL);
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

/* The entry of a space, put in front; where there is none it is made, or NULL. */
static struct space_index *find(struct indexes *indexes, const struct memory_space *space,
                                int64_t id, bool makes)
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
    } else if (makes) {
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

int indexes_put(struct index *index, const struct store_row *row)
{
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
    return index_put(index, &entry);
}

static int take_row(void *context, const struct store_row *row)
{
    struct catching *catching = context;
    struct space_index *one = catching->one;
    space_vectors_row(&one->vectors, row);
    int status = indexes_put(one->index, row);
    status = status == OK ? building_touched(one, row->id) : status;
    arena_reset(catching->arena); /* the row is not needed any more */
    return status == OK ? indexes_count(one) : status;
}

static int take_removed(void *context, int64_t id)
{
    struct catching *catching = context;
    index_remove(catching->one->index, id);
    space_vectors_removed(&catching->one->vectors, id);
    return building_touched(catching->one, id);
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
        status = building_go_on(one, db);
    }
    return status;
}

void indexes_forget(struct space_index *one)
{
    struct index *fresh = index_new();
    atomic_store(&one->is_stale, true);
    if (fresh) {
        one->seen = one->missing = 0;
        one->gap = (struct manifest_gap){0};
        replace(one, fresh, true);
    }
}

/* Whether it has all the vectors that are wanted. While memories come in the background their
 * vectors wait: what is not indexed is not found by them either. */
static bool has_vectors(const struct space_index *one, const struct embedding *wanted,
                        int64_t change)
{
    return one->missing > 0 || space_vectors_follow(&one->vectors, wanted, change);
}

static int catch_up(struct db *db, struct space_index *one, const struct store_space *space,
                    const struct embedding *wanted)
{
    int status = OK;
    if (atomic_load(&one->is_stale)) {
        status = start_again(one, db, space);
    }
    status = status == OK ? building_plan(one, db, space) : status;
    struct arena *arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    struct catching catching = {one, arena};
    while (status == OK && arena && one->seen < space->change) {
        int64_t seen = one->seen;
        status = store_changes(db, arena, one->space, one->seen, LIMIT_MEMORY_CATCH_UP, take_row,
                               take_removed, &catching, &seen);
        if (status == OK && seen == one->seen) {
            seen = space->change; /* the last changes left nothing behind */
        }
        /* What a connection that broke has brought is in the index and counts as seen: a server
         * that takes over may not have it, and by that the loss is told. */
        space_vectors_walked(&one->vectors, one->seen, seen);
        one->seen = seen;
        status = status == OK ? call_check(db_call(db)) : status;
    }
    while (status == OK && arena && !has_vectors(one, wanted, space->change)) {
        status = space_vectors_catch_up(&one->vectors, db, space, wanted);
        status = status == OK ? indexes_count(one) : status;
        status = status == OK ? call_check(db_call(db)) : status;
    }
    /* Some of a batch may be in it: putting it in again is harmless, but after a failure of the
     * index itself memories may be missing; and one that found no place must not stay. */
    int settled = index_settle(one->index);
    if (settled != OK || status == ERR_NOMEM || status == ERR_LIMIT) {
        indexes_forget(one);
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
           !has_vectors(one, wanted, known->change);
}

/* Whether the store has lost what the index knows. With its lock: an index that knows more than
 * what was read before was caught up meanwhile, so the store is asked again. */
static int look_for_loss(const struct space_index *one, struct db *db,
                         const struct memory_space *space, struct store_space *known, bool *lost)
{
    struct store_space now;
    *lost = false;
    if (!store_lost(known, one->seen)) {
        return OK;
    }
    int status = store_space_of(db, space, false, &now);
    if (status == OK && store_lost(&now, one->seen)) {
        struct manifest_witness last;
        status = store_witness(db, one->space, INT64_MAX, &last);
        *lost = status == OK && last.change <= now.change; /* else the counter itself is wrong */
        *known = *lost ? now : *known;
    }
    return status;
}

/* Brings it up to date, with its lock. */
static int catch_up_with(struct space_index *one, struct db *db, const struct memory_space *space,
                         struct store_space *known, const struct embedding *wanted)
{
    bool lost;
    int status = look_for_loss(one, db, space, known, &lost);
    if (status == OK && lost) {
        indexes_forget(one);
    }
    return status == OK ? catch_up(db, one, known, wanted) : status;
}

/* Fills a part of the gap, and says how far it is. */
static int fill(struct space_index *one, struct db *db)
{
    int status = building_step(one, db);
    if (status == OK) {
        pthread_rwlock_rdlock(&one->lock);
        double done = (double)index_count(one->index);
        call_progress(db_call(db), done, done + (double)one->missing, "index of %s", one->name);
        pthread_rwlock_unlock(&one->lock);
    }
    return status;
}

/* `whole`: with what is in the gap. */
static int acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                   const char *model, bool whole, struct space_index **found)
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
    struct space_index *one = find(indexes, space, known.id, true);
    if (!one) {
        return ERR_NOMEM;
    }
    bool lost;
    pthread_rwlock_rdlock(&one->lock);
    while ((status = status == OK ? look_for_loss(one, db, space, &known, &lost) : status) == OK &&
           (lost || is_behind(one, &known, &wanted) || (whole && one->missing > 0))) {
        bool behind = lost || is_behind(one, &known, &wanted);
        pthread_rwlock_unlock(&one->lock);
        if (behind) {
            pthread_rwlock_wrlock(&one->lock);
            status = catch_up_with(one, db, space, &known, &wanted);
            pthread_rwlock_unlock(&one->lock);
        } else {
            status = fill(one, db);
        }
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

int indexes_acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                    const char *model, struct space_index **found)
{
    pthread_mutex_lock(&indexes->lock);
    bool aside = indexes->fills_gaps;
    bool whole = !aside && !indexes->only_looks;
    pthread_mutex_unlock(&indexes->lock);
    int status = acquire(indexes, db, space, model, whole, found);
    if (status == OK && *found && aside && indexes_missing(*found) > 0) {
        saving_fill(*found);
    }
    return status;
}

int indexes_reach(struct indexes *indexes, struct db *db, const struct memory_space *space,
                  const char *model, struct space_index **found)
{
    return acquire(indexes, db, space, model, false, found);
}

bool indexes_covers(const struct space_index *found, int64_t change)
{
    return change <= found->gap.after || change > found->gap.until;
}

int64_t indexes_missing(const struct space_index *found)
{
    return found->missing;
}

/* How far the index of a space is, in this process or in its files, and what it lacks up to there.
 * OK, or a status of the connection. */
static int look_at(struct indexes *indexes, struct db *db, const struct memory_space *space,
                   int64_t id, int64_t *seen, int64_t *missing)
{
    struct space_index *one = find(indexes, space, id, false);
    bool is_known = false;
    int status = OK;
    *seen = *missing = 0;
    if (one) {
        pthread_rwlock_rdlock(&one->lock);
        is_known = !atomic_load(&one->is_stale);
        *seen = one->seen;
        *missing = one->missing;
        pthread_rwlock_unlock(&one->lock);
        indexes_let_go(one);
    }
    struct shelf *shelf = is_known ? NULL : shelves_open(indexes->places, SHELVES_WORDS, space, id);
    if (shelf && shelf_refresh(shelf) == OK) {
        struct shelf_view *view = shelf_hold(shelf);
        *seen = view->seen;
        status = store_gap_count(db, id, &view->gap, view->gap.until, missing);
        shelf_release(view);
    }
    shelf_free(shelf);
    return status;
}

int indexes_stats(struct indexes *indexes, struct db *db, struct memory_namespace_stats *namespaces,
                  size_t count)
{
    int status = OK;
    bool lacks = false;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct memory_space space = {namespaces[i].owner, namespaces[i].name};
        struct store_space known;
        int64_t missing = 0;
        int64_t rest = 0;
        int64_t seen;
        status = store_space_of(db, &space, false, &known);
        if (status != OK || known.change <= LIMIT_MEMORY_AT_ONCE) {
            namespaces[i].indexed = namespaces[i].memories;
            continue;
        }
        status = look_at(indexes, db, &space, known.id, &seen, &missing);
        struct manifest_gap behind = {seen, known.change};
        status =
            status == OK ? store_gap_count(db, known.id, &behind, known.change, &rest) : status;
        missing += rest > LIMIT_MEMORY_AT_ONCE ? rest : 0; /* less is indexed at once */
        namespaces[i].indexed =
            namespaces[i].memories > missing ? namespaces[i].memories - missing : 0;
        lacks = lacks || missing > 0;
    }
    pthread_mutex_lock(&indexes->lock);
    if (lacks && indexes->fills_gaps) {
        saving_begin(indexes);
    }
    pthread_mutex_unlock(&indexes->lock);
    return status;
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
    bool vectors = space_vectors_sound(&found->vectors);
    bool sound = shelving_sound(found->index) && vectors;
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
    struct space_index *one = find(indexes, space, known.id, true);
    if (!one) {
        return ERR_NOMEM;
    }
    pthread_rwlock_wrlock(&one->lock);
    status = saving_reset(one->shelf);
    status = status == OK ? saving_reset(one->vectors.shelf) : status;
    if (status == OK) {
        indexes_forget(one);
    }
    pthread_rwlock_unlock(&one->lock);
    indexes_let_go(one);
    return status;
}

/* Whether the memories are in a file that may hold more of them than a search waits for. */
static bool is_large(const struct places *places)
{
    struct stat about;
    char *path = store_file(places);
    bool large = path && stat(path, &about) == 0 && about.st_size / 200 > LIMIT_MEMORY_AT_ONCE;
    free(path);
    return large;
}

void indexes_serve(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    indexes->fills_gaps = true;
    if (is_large(indexes->places) && shelves_none(indexes->places)) {
        saving_begin(indexes);
    }
    pthread_mutex_unlock(&indexes->lock);
}

void indexes_only_look(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    indexes->only_looks = true;
    pthread_mutex_unlock(&indexes->lock);
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

void indexes_wrote_much(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    indexes->wrote_much = true;
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
    indexes->in_use = -1;
    indexes->places = options->places;
    indexes->pool = options->pool;
    indexes->bytes = stock_new(options->stocks,
                               &(struct stock_rule){.name = "index_bytes",
                                                    .help = "Memory of the indexes of memories.",
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
        free(indexes->scrubs);
        if (indexes->in_use >= 0) {
            close(indexes->in_use);
        }
        free(indexes);
    }
    return NULL;
}
