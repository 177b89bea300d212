/* The files of indexes: loading them, and a thread that saves what is new in them and takes out
 * what was deleted. */
#include "core/clock.h"
#include "core/event.h"
#include "core/heap.h"
#include "core/log.h"
#include "core/trouble.h"
#include "index/shelving.h"
#include "memory/building.h"
#include "memory/shelves.h"
#include "memory/space_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOWEST       19     /* priority of a thread that writes, */
#define LOW          10     /* and of one that fills a gap: searches lack what is in it */
#define REST_TIMES   10     /* the time that a save took, there is none of that index */
#define LAST_TRIES   100    /* at the end, while other processes write */
#define LAST_WAIT_US 100000 /* between them */

static const char NAME[] = "files of the memory index";
static const char STAYS[] =
    "what was removed from a namespace stays in the files of its index until it is searched";
static const char LATER[] = "indexes of memories are made when they are first searched";

static void say_not_kept(int status)
{
    if (trouble_begin(NAME, "they cannot be used; the log says why")) {
        log_warn(NULL,
                 "the index of memories cannot be kept in files, and is made in memory by each "
                 "process: %s",
                 status == ERR_IO ? strerror(errno) : status_name(status));
    }
}

/* ---- loading ---- */

int saving_reset(struct shelf *shelf)
{
    bool thrown_away;
    int status = shelf ? shelf_claim(shelf, &thrown_away) : ERR_NOTFOUND;
    if (status == OK) {
        status = shelf_reset(shelf);
        shelf_unclaim(shelf);
    }
    if (status != OK && status != ERR_BUSY && status != ERR_NOTFOUND) {
        say_not_kept(status);
    }
    return status == ERR_BUSY ? ERR_BUSY : OK;
}

static void throw_away(const struct space_index *one)
{
    pthread_mutex_lock(&one->indexes->lock);
    bool only_looks = one->indexes->only_looks;
    pthread_mutex_unlock(&one->indexes->lock);
    if (only_looks) {
        return;
    }
    (void)saving_reset(one->shelf); /* or whoever writes now does */
    log_warn(NULL,
             "the index of a namespace was damaged, or of another version or store; it is made "
             "anew");
}

int saving_load(struct space_index *one, struct db *db, const struct store_space *space,
                struct index **fresh)
{
    struct shelving_source source;
    bool does = false;
    one->seen = 0;
    one->gap = (struct manifest_gap){0};
    *fresh = index_new();
    if (!*fresh || !one->shelf) {
        return *fresh ? OK : ERR_NOMEM;
    }
    int status = shelving_load(*fresh, one->shelf, &source);
    int asked = status == OK ? store_follows(db, space, source.seen, &source.witness, &does) : OK;
    if (asked != OK) {
        *fresh = index_free(*fresh);
        return asked;
    }
    if (does) {
        one->seen = source.seen;
        one->gap = source.gap;
        return OK;
    }
    if (status == OK || status == ERR_INVALID) {
        throw_away(one);
    } else if (status != ERR_NOMEM) {
        say_not_kept(status);
    }
    index_free(*fresh);
    *fresh = status == ERR_NOMEM ? NULL : index_new();
    return *fresh ? OK : ERR_NOMEM;
}

/* ---- saving ---- */

struct file_writing {
    int (*write)(void *context);
    void *context;
    int status;
    int error; /* errno */
};

static int write_words(void *context)
{
    return shelving_write(context);
}

static int write_vectors(void *context)
{
    return vector_shelving_write(context);
}

static void *write_slowly(void *context)
{
    struct file_writing *writing = context;
    setpriority(PRIO_PROCESS, 0, LOWEST); /* on Linux, of the calling thread alone */
    writing->status = writing->write(writing->context);
    writing->error = errno;
    return NULL;
}

/* On a thread of the lowest priority, which is its own: one that holds a lock, or reads the store,
 * must not have to wait for everybody else. At the end somebody waits. */
static int write_aside(int (*write)(void *context), void *context, bool at_the_end)
{
    pthread_t thread;
    struct file_writing writing = {.write = write, .context = context};
    if (at_the_end || thread_start(&thread, 0, write_slowly, &writing) != OK) {
        return write(context);
    }
    pthread_join(thread, NULL);
    errno = writing.error;
    return writing.status;
}

/* One that is in files now may find a place again. */
static int count_again(struct space_index *one)
{
    pthread_mutex_lock(&one->indexes->lock);
    stock_give_all(&one->large);
    pthread_mutex_unlock(&one->indexes->lock);
    return indexes_count(one);
}

/* The index is as it was, or on the shelf too; NULL: its segments are merged. ERR_CLOSED when it is
 * to be loaded anew. */
static int write_index(struct space_index *one, struct shelf *shelf, bool at_the_end)
{
    struct shelving *shelving;
    pthread_rwlock_wrlock(&one->lock);
    uint64_t made = one->made;
    int status = atomic_load(&one->is_stale)
                     ? ERR_CLOSED
                     : shelving_begin(one->index, shelf,
                                      &(struct shelving_source){one->seen, one->gap, one->witness},
                                      &shelving);
    pthread_rwlock_unlock(&one->lock);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    status = write_aside(write_words, shelving, at_the_end);
    int error = errno;
    pthread_rwlock_wrlock(&one->lock);
    struct index *index = one->made == made ? one->index : NULL;
    int ended = shelving_end(shelving, index, status == OK);
    ended = ended == OK ? count_again(one) : ended;
    if (ended != OK) {
        atomic_store(&one->is_stale, true); /* before anybody searches what is left of it */
    }
    pthread_rwlock_unlock(&one->lock);
    errno = error;
    return status != OK ? status : ended != OK ? ERR_CLOSED : OK;
}

static int save_claimed(struct space_index *one, bool at_the_end)
{
    return write_index(one, one->shelf, at_the_end);
}

/* The same for its vectors. ERR_CLOSED when they are to be loaded anew, which they are then. */
static int save_vectors_claimed(struct space_index *one, bool at_the_end)
{
    struct space_vectors *vectors = &one->vectors;
    struct vector_shelving *shelving = NULL;
    pthread_rwlock_wrlock(&one->lock);
    int status = space_vectors_begin(vectors, &shelving);
    uint64_t made = vectors->made;
    pthread_rwlock_unlock(&one->lock);
    if (status == OK) {
        status = write_aside(write_vectors, shelving, at_the_end);
    }
    int error = errno;
    pthread_rwlock_wrlock(&one->lock);
    bool same = vectors->made == made;
    int ended =
        shelving ? vector_shelving_end(shelving, same ? vectors->set : NULL, status == OK) : OK;
    if (status == ERR_INVALID) { /* a row of a file is not what was written */
        atomic_store(&vectors->is_damaged, true);
    }
    status = ended != OK || status == ERR_INVALID ? ERR_CLOSED : status;
    if (same && status == ERR_CLOSED) {
        space_vectors_clear(vectors);
    }
    status = status == ERR_NOTFOUND ? OK : status;
    if (same && status == OK) {
        vectors->replaces = false;
    }
    (void)count_again(one); /* it takes less than before */
    pthread_rwlock_unlock(&one->lock);
    errno = error;
    return status;
}

/* One shelf after the other. */
static int save_shelf(struct space_index *one, struct shelf *shelf, bool at_the_end,
                      int (*save)(struct space_index *one, bool at_the_end))
{
    bool thrown_away;
    int status = shelf ? shelf_claim(shelf, &thrown_away) : ERR_NOTFOUND;
    if (status == OK) {
        status = save(one, at_the_end);
        int error = errno;
        shelf_unclaim(shelf);
        errno = error;
    }
    return status == ERR_NOTFOUND ? OK : status;
}

static void wake(struct indexes *indexes);

static void plan(struct space_index *one, int64_t after_ms)
{
    struct indexes *indexes = one->indexes;
    pthread_mutex_lock(&indexes->lock);
    int64_t due_ms = clock_now_ms() + after_ms;
    if (!indexes->only_looks) {
        if (one->due_ms == 0 || one->due_ms > due_ms) {
            one->due_ms = due_ms;
        }
        wake(indexes);
    }
    pthread_mutex_unlock(&indexes->lock);
}

static bool has_vectors(struct space_index *one)
{
    pthread_rwlock_rdlock(&one->lock);
    bool has = one->vectors.set != NULL;
    pthread_rwlock_unlock(&one->lock);
    return has;
}

/* Files that hold what was deleted, and cannot be written anew without it, go: the next process
 * makes the index from the store. */
static void throw_away_dead(struct space_index *one)
{
    pthread_rwlock_rdlock(&one->lock);
    bool words = shelving_need(one->index).dead > 0;
    bool vectors = space_vectors_dead(&one->vectors);
    pthread_rwlock_unlock(&one->lock);
    if (words) {
        (void)saving_reset(one->shelf);
    }
    if (vectors) {
        (void)saving_reset(one->vectors.shelf);
    }
}

/* Whether it is done, or cannot be; if not, it is planned again. */
static bool save(struct space_index *one, bool at_the_end)
{
    int64_t began = clock_now_ms();
    int status = save_shelf(one, one->shelf, at_the_end, save_claimed);
    bool is_stale =
        status == ERR_CLOSED; /* somebody else's files are newer: it goes on from those */
    if (!at_the_end && !is_stale && (status != OK || !one->shelf)) {
        is_stale = write_index(one, NULL, false) == ERR_CLOSED;
    }
    if (status == OK && has_vectors(one)) {
        status = save_shelf(one, one->vectors.shelf, at_the_end, save_vectors_claimed);
    }
    if (status == OK && trouble_end(NAME)) {
        log_info(NULL, "the index of memories is kept in files again");
    } else if (status != OK && status != ERR_BUSY && status != ERR_CLOSED) {
        say_not_kept(status);
        throw_away_dead(one);
    }
    int64_t now = clock_now_ms();
    int64_t rest_ms = (now - began) * REST_TIMES;
    pthread_mutex_lock(&one->indexes->lock);
    one->rest_ms = now + (rest_ms < TIME_INDEX_REST_MS ? rest_ms : TIME_INDEX_REST_MS);
    if (is_stale) {
        atomic_store(&one->is_stale, true);
    }
    if (status == ERR_CLOSED) {
        saving_scrub(one->indexes, one->space);
    }
    pthread_mutex_unlock(&one->indexes->lock);
    if (status == ERR_BUSY) {
        plan(one, TIME_INDEX_RETRY_MS);
    }
    return status != ERR_BUSY && status != ERR_CLOSED;
}

int saving_consider(struct space_index *one, struct db *db)
{
    struct shelving_need need = shelving_need(one->index);
    bool is_worth_it =
        need.is_crowded || (one->shelf && (need.dead > 0 || need.fresh >= LIMIT_INDEX_UNSAVED));
    if (!is_worth_it && !space_vectors_worth(&one->vectors)) {
        return OK;
    }
    int status = store_witness(db, one->space, one->seen, &one->witness);
    if (status == OK) {
        int64_t seen =
            one->vectors.seen < one->vectors.rows ? one->vectors.seen : one->vectors.rows;
        status = store_witness(db, one->space, seen, &one->vectors.witness);
    }
    if (status == OK) {
        bool waits = one->missing > 0 && need.dead == 0;
        plan(one, waits ? TIME_INDEX_GAP_SAVE_MS : TIME_INDEX_SAVE_MS);
    }
    return status;
}

/* ---- scrubbing ---- */

/* Whether this process leaves nothing for others to read that it wrote itself. */
static bool leaves_all_read(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    bool leaves = indexes->wrote_much && !indexes->fills_gaps;
    pthread_mutex_unlock(&indexes->lock);
    return leaves;
}

/* Work with the store that nobody asked for, in a call of its own. What it fails with is said in
 * the words of `consequence`. */
static int with_store(struct indexes *indexes, int64_t id, const char *consequence,
                      int (*work)(struct indexes *indexes, struct db *db, int64_t id))
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db;
    int64_t timeout_ms = leaves_all_read(indexes) ? TIME_INDEX_WORK_MS : TIME_MEMORY_WRITE_MS;
    struct call *call = call_new(&(struct call_options){.timeout_ms = timeout_ms});
    int status =
        call ? db_pool_borrow(indexes->pool, call, &db, problem, sizeof problem) : ERR_NOMEM;
    if (status == OK) {
        status = work(indexes, db, id);
        db_pool_return(indexes->pool, db);
    }
    call_free(call);
    if (status != OK && status != ERR_NOTFOUND) {
        log_warn(NULL, "%s: %s", consequence, status_name(status));
    }
    return status;
}

/* Reads what was removed from the space into its index, which is saved then; into its vectors too,
 * where some are kept, whatever model there is here. Files of vectors that nobody reads now go:
 * those that the store has none of any more, and those that wait for much that is not indexed. */
static int catch_up(struct indexes *indexes, struct db *db, int64_t id)
{
    struct memory_space names;
    struct space_index *found = NULL;
    struct arena *arena = call_arena(db_call(db));
    int status = store_space_names(db, arena, id, &names);
    struct shelf *shelf =
        status == OK ? shelves_open(indexes->places, SHELVES_VECTORS, &names, id) : NULL;
    const char *model = shelf ? space_vectors_model(shelf, arena) : NULL;
    if (status == OK) {
        status = leaves_all_read(indexes) ? indexes_acquire(indexes, db, &names, model, &found)
                                          : indexes_reach(indexes, db, &names, model, &found);
    }
    if (status == OK && found && model && !indexes_vectors(found, &model)) {
        (void)saving_reset(shelf); /* the next search reads from the store what there is of them */
    }
    indexes_release(found);
    shelf_free(shelf);
    return status;
}

/* Does so for one of those that wait for it, unless no file holds anything of it, without the lock
 * of the list meanwhile. Whether there was one. */
static bool take_scrub(struct indexes *indexes)
{
    if (indexes->scrub_count == 0) {
        return false;
    }
    int64_t id = indexes->scrubs[--indexes->scrub_count];
    pthread_mutex_unlock(&indexes->lock);
    if (shelves_has(indexes->places, id)) {
        (void)with_store(indexes, id, STAYS, catch_up);
    }
    pthread_mutex_lock(&indexes->lock);
    return true;
}

void saving_scrub(struct indexes *indexes, int64_t space)
{
    size_t i = 0;
    if (!indexes->scrubs) {
        indexes->scrubs = calloc(LIMIT_INDEX_SCRUBS, sizeof *indexes->scrubs);
    }
    while (i < indexes->scrub_count && indexes->scrubs[i] != space) {
        i++;
    }
    if (!indexes->scrubs || i == LIMIT_INDEX_SCRUBS) {
        log_warn(NULL, "too many namespaces have something to be removed from their index: one "
                       "keeps it until it is searched");
    } else if (i == indexes->scrub_count) {
        indexes->scrubs[indexes->scrub_count++] = space;
    }
    wake(indexes);
}

/* Whether something was removed since what is on the shelf, which it frees. What is no good goes at
 * once: nobody waits for another index here. */
static int look_at_shelf(struct db *db, int64_t id, struct shelf *shelf, bool *replaced)
{
    bool thrown_away;
    if (!shelf) {
        return ERR_NOMEM;
    }
    int status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    if (status == OK && view->count > 0) {
        status = store_replaced_since(db, id, view->seen, replaced);
    }
    shelf_release(view);
    if (status == ERR_INVALID && shelf_claim(shelf, &thrown_away) == OK) {
        shelf_unclaim(shelf);
    }
    shelf_free(shelf);
    return status == ERR_INVALID || status == ERR_NOTFOUND ? OK : status;
}

/* Has what was removed since a space was last saved scrubbed, whoever removed it. */
static int look_at(struct indexes *indexes, struct db *db, int64_t id)
{
    struct memory_space names;
    bool words = false;
    bool vectors = false;
    int status = store_space_names(db, call_arena(db_call(db)), id, &names);
    if (status == OK) {
        status =
            look_at_shelf(db, id, shelves_open(indexes->places, SHELVES_WORDS, &names, id), &words);
    }
    if (status == OK) {
        status = look_at_shelf(db, id, shelves_open(indexes->places, SHELVES_VECTORS, &names, id),
                               &vectors);
    }
    if (words || vectors) {
        pthread_mutex_lock(&indexes->lock);
        saving_scrub(indexes, id);
        pthread_mutex_unlock(&indexes->lock);
    }
    return status;
}

/* Looks at what there is in files, once, without the lock of the list meanwhile. Whether it did. */
static bool look_around(struct indexes *indexes)
{
    if (!indexes->has_changed || indexes->has_looked) {
        return false;
    }
    int64_t ids[LIMIT_INDEX_SCRUBS];
    indexes->has_looked = true;
    pthread_mutex_unlock(&indexes->lock);
    size_t count = shelves_list(indexes->places, ids, LIMIT_INDEX_SCRUBS);
    for (size_t i = 0; i < count; i++) {
        (void)with_store(indexes, ids[i], STAYS, look_at);
    }
    pthread_mutex_lock(&indexes->lock);
    return true;
}

/* Removes what is kept of other databases that nothing uses any more, once, without the lock of the
 * list meanwhile. Whether it looked. */
static bool tidy(struct indexes *indexes)
{
    if (indexes->has_tidied || indexes->only_looks) {
        return false;
    }
    indexes->has_tidied = true;
    pthread_mutex_unlock(&indexes->lock);
    size_t gone = shelves_tidy(indexes->places);
    if (gone > 0) {
        log_info(NULL, "the files of %zu memory indexes were removed: nothing uses their databases",
                 gone);
    }
    pthread_mutex_lock(&indexes->lock);
    return true;
}

void saving_changed(struct indexes *indexes)
{
    if (!indexes->has_changed) {
        indexes->has_changed = true;
        wake(indexes);
    }
}

/* ---- filling gaps ---- */

struct filling {
    struct space_index *one;
    struct db *db;
    int status;
};

static void *fill_slowly(void *context)
{
    struct filling *filling = context;
    setpriority(PRIO_PROCESS, 0, LOW);
    filling->status = building_step(filling->one, filling->db);
    return NULL;
}

/* A part of it, on a thread of its own, as of write_aside(). */
static int fill(struct space_index *one)
{
    char problem[DB_PROBLEM_SIZE];
    pthread_t thread;
    struct filling filling = {.one = one};
    struct call *call = call_new(&(struct call_options){.timeout_ms = 0});
    int status =
        call ? db_pool_borrow(one->indexes->pool, call, &filling.db, problem, sizeof problem)
             : ERR_NOMEM;
    if (status == OK) {
        status = thread_start(&thread, 0, fill_slowly, &filling);
        if (status == OK) {
            pthread_join(thread, NULL);
            status = filling.status;
        }
        db_pool_return(one->indexes->pool, filling.db);
    }
    call_free(call);
    return status;
}

/* Fills a part of one gap, without the lock of the list meanwhile. Whether there was one. After a
 * failure it waits until somebody searches again. */
static bool take_gap(struct indexes *indexes)
{
    struct space_index *one = indexes->first;
    while (one && !one->is_wanted) {
        one = one->next;
    }
    if (!one) {
        return false;
    }
    one->users++;
    one->is_wanted = false;
    pthread_mutex_unlock(&indexes->lock);
    int status = fill(one);
    pthread_rwlock_rdlock(&one->lock);
    bool more = status == OK && one->missing > 0;
    pthread_rwlock_unlock(&one->lock);
    pthread_mutex_lock(&indexes->lock);
    one->is_wanted = more || one->is_wanted;
    pthread_mutex_unlock(&indexes->lock);
    indexes_let_go(one);
    if (status != OK && status != ERR_CANCELLED) {
        log_warn(NULL, "an index of memories is not finished before the next search: %s",
                 status_name(status));
    }
    pthread_mutex_lock(&indexes->lock);
    return true;
}

/* Begins with a namespace that may lack more than a search waits for. */
static int begin(struct indexes *indexes, struct db *db, const struct memory_space *space)
{
    struct store_space known;
    struct space_index *found = NULL;
    int status = store_space_of(db, space, false, &known);
    if (status == OK && known.change > LIMIT_MEMORY_AT_ONCE) {
        status = indexes_acquire(indexes, db, space, NULL, &found);
    }
    indexes_release(found);
    return status;
}

static int begin_all(struct indexes *indexes, struct db *db, int64_t unused)
{
    (void)unused;
    struct store_named_space spaces[LIMIT_MEMORY_INDEXES];
    struct memory_space after = {"", ""};
    size_t count;
    int status;
    do {
        status = store_spaces(db, call_arena(db_call(db)), NULL, &after, LIMIT_MEMORY_INDEXES,
                              spaces, &count);
        for (size_t i = 0; i < count && status == OK; i++) {
            status = begin(indexes, db, &spaces[i].space);
            after = spaces[i].space;
        }
    } while (status == OK && count == LIMIT_MEMORY_INDEXES);
    return status;
}

/* Does so where somebody wants that, without the lock of the list meanwhile. Whether it did. */
static bool take_beginning(struct indexes *indexes)
{
    if (!indexes->has_to_look) {
        return false;
    }
    indexes->has_to_look = false;
    pthread_mutex_unlock(&indexes->lock);
    (void)with_store(indexes, 0, LATER, begin_all);
    pthread_mutex_lock(&indexes->lock);
    return true;
}

void saving_begin(struct indexes *indexes)
{
    indexes->has_to_look = true;
    wake(indexes);
}

void saving_fill(struct space_index *one)
{
    struct indexes *indexes = one->indexes;
    pthread_mutex_lock(&indexes->lock);
    one->is_wanted = true;
    wake(indexes);
    pthread_mutex_unlock(&indexes->lock);
}

/* ---- the thread ---- */

/* The next one that is due, with a user; NULL with the time until then, negative: there is none.
 * With the lock of the list. */
static struct space_index *take_due(struct indexes *indexes, int64_t *wait_ms)
{
    int64_t now = clock_now_ms();
    *wait_ms = -1;
    for (struct space_index *at = indexes->first; at; at = at->next) {
        int64_t due = at->due_ms > at->rest_ms ? at->due_ms : at->rest_ms;
        if (at->due_ms > 0 && (due <= now || indexes->stopping)) {
            at->due_ms = 0;
            at->users++;
            return at;
        }
        if (at->due_ms > 0 && (*wait_ms < 0 || due - now < *wait_ms)) {
            *wait_ms = due - now;
        }
    }
    return NULL;
}

static void wait_for_work(struct indexes *indexes, int64_t wait_ms)
{
    struct timespec until;
    if (wait_ms < 0) {
        pthread_cond_wait(&indexes->work, &indexes->lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&indexes->work, &indexes->lock, &until);
}

/* Saves one that is due; as of save(). With the lock of the list, but not meanwhile. */
static bool save_one(struct space_index *one)
{
    struct indexes *indexes = one->indexes;
    bool at_the_end = indexes->stopping;
    pthread_mutex_unlock(&indexes->lock);
    bool done = save(one, at_the_end);
    indexes_let_go(one);
    if (!at_the_end) {
        heap_return(); /* the calls may be over that led here */
    }
    pthread_mutex_lock(&indexes->lock);
    indexes_use_files(indexes);
    return done;
}

static void *save_when_due(void *context)
{
    struct indexes *indexes = context;
    int64_t wait_ms;
    pthread_mutex_lock(&indexes->lock);
    while (!indexes->stopping) {
        if (look_around(indexes) || take_scrub(indexes)) {
            continue;
        }
        struct space_index *one = take_due(indexes, &wait_ms);
        if (one) {
            (void)save_one(one);
        } else if (tidy(indexes)) {
            continue;
        } else if (!take_beginning(indexes) && !take_gap(indexes)) {
            wait_for_work(indexes, wait_ms);
        }
    }
    pthread_mutex_unlock(&indexes->lock);
    return NULL;
}

/* Where no thread can be had everything is done at the end. With the lock of the list. */
static void wake(struct indexes *indexes)
{
    if (!indexes->started && !indexes->stopping) {
        indexes->started = thread_start(&indexes->thread, 0, save_when_due, indexes) == OK;
    }
    pthread_cond_signal(&indexes->work);
}

static void stop_thread(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    indexes->stopping = true;
    pthread_cond_signal(&indexes->work);
    pthread_mutex_unlock(&indexes->lock);
    if (indexes->started) {
        pthread_join(indexes->thread, NULL);
    }
}

/* Has everything that is kept of indexes read what this process wrote, where that is much. */
static void plan_to_leave_all_read(struct indexes *indexes)
{
    if (!leaves_all_read(indexes)) {
        return;
    }
    int64_t ids[LIMIT_INDEX_SCRUBS];
    size_t count = shelves_list(indexes->places, ids, LIMIT_INDEX_SCRUBS);
    pthread_mutex_lock(&indexes->lock);
    for (size_t i = 0; i < count; i++) {
        saving_scrub(indexes, ids[i]);
    }
    pthread_mutex_unlock(&indexes->lock);
}

/* Somebody waits for the end, but what was deleted must not stay: another process that is just
 * writing has some time to end that. */
void saving_end(struct indexes *indexes)
{
    int64_t wait_ms;
    struct space_index *one = NULL;
    stop_thread(indexes);
    plan_to_leave_all_read(indexes);
    pthread_mutex_lock(&indexes->lock);
    for (int tries = 0; tries < LAST_TRIES;) {
        if (look_around(indexes) || take_scrub(indexes)) {
            continue;
        }
        one = take_due(indexes, &wait_ms);
        if (!one) {
            break;
        }
        if (!save_one(one)) {
            tries++;
            usleep(LAST_WAIT_US);
        }
    }
    pthread_mutex_unlock(&indexes->lock);
    if (one) {
        log_warn(NULL, "other processes write the files of the memory index: what was removed may "
                       "stay in them until the namespace is searched");
    }
}
