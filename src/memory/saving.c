/* The files of indexes: loading them, and a thread that saves what is new in them and takes out
 * what was deleted. */
#include "core/clock.h"
#include "core/event.h"
#include "core/log.h"
#include "core/trouble.h"
#include "index/shelving.h"
#include "memory/shelves.h"
#include "memory/space_index.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOWEST       19     /* priority of a thread that writes */
#define REST_TIMES   10     /* the time that a save took, there is none of that index */
#define LAST_TRIES   100    /* at the end, while other processes write */
#define LAST_WAIT_US 100000 /* between them */

static const char NAME[] = "files of the memory index";

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

int saving_throw_away(const struct space_index *one)
{
    bool thrown_away;
    int status = one->shelf ? shelf_claim(one->shelf, &thrown_away) : ERR_NOTFOUND;
    if (status == OK) {
        status = shelf_reset(one->shelf);
        shelf_unclaim(one->shelf);
    }
    if (status != OK && status != ERR_BUSY && status != ERR_NOTFOUND) {
        say_not_kept(status);
    }
    return status == ERR_BUSY ? ERR_BUSY : OK;
}

static void throw_away(const struct space_index *one)
{
    (void)saving_throw_away(one); /* or whoever writes now does */
    log_warn(NULL,
             "the index of a namespace was damaged, or of another version or store; it is made "
             "anew");
}

/* Whether the store goes on from where the index was made. A store that was brought back to an
 * earlier state gives the numbers of its changes again, to others. */
static int follows(struct db *db, const struct store_space *space,
                   const struct shelving_source *source, bool *does)
{
    *does = source->seen == 0;
    if (*does || source->seen > space->change || source->seen < space->horizon) {
        return OK;
    }
    return store_confirms(db, space->id, &source->witness, does);
}

int saving_load(struct space_index *one, struct db *db, const struct store_space *space,
                struct index **fresh)
{
    struct shelving_source source;
    bool does = false;
    one->seen = 0;
    *fresh = index_new();
    if (!*fresh || !one->shelf) {
        return *fresh ? OK : ERR_NOMEM;
    }
    int status = shelving_load(*fresh, one->shelf, &source);
    int asked = status == OK ? follows(db, space, &source, &does) : OK;
    if (asked != OK) {
        *fresh = index_free(*fresh);
        return asked;
    }
    if (does) {
        one->seen = source.seen;
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

struct writing {
    struct shelving *shelving;
    int status;
    int error; /* errno */
};

static void *write_slowly(void *context)
{
    struct writing *writing = context;
    setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST);
    writing->status = shelving_write(writing->shelving);
    writing->error = errno;
    return NULL;
}

/* On a thread of the lowest priority, which is its own: one that holds a lock, or reads the store,
 * must not have to wait for everybody else. At the end somebody waits. */
static int write_aside(struct shelving *shelving, bool at_the_end)
{
    pthread_t thread;
    struct writing writing = {.shelving = shelving};
    if (at_the_end || thread_start(&thread, 0, write_slowly, &writing) != OK) {
        return shelving_write(shelving);
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

/* The index is as it was, or on the shelf too. ERR_CLOSED when it is to be loaded anew. */
static int save_claimed(struct space_index *one, bool at_the_end)
{
    struct shelving *shelving;
    pthread_rwlock_wrlock(&one->lock);
    uint64_t made = one->made;
    int status =
        atomic_load(&one->is_stale)
            ? ERR_CLOSED
            : shelving_begin(one->index, one->shelf,
                             &(struct shelving_source){one->seen, one->witness}, &shelving);
    pthread_rwlock_unlock(&one->lock);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    status = write_aside(shelving, at_the_end);
    int error = errno;
    pthread_rwlock_wrlock(&one->lock);
    struct index *index = one->made == made ? one->index : NULL;
    int ended = shelving_end(shelving, index, status == OK);
    ended = ended == OK ? count_again(one) : ended;
    pthread_rwlock_unlock(&one->lock);
    errno = error;
    return status != OK ? status : ended != OK ? ERR_CLOSED : OK;
}

static void wake(struct indexes *indexes);

static void plan(struct space_index *one, int64_t after_ms)
{
    struct indexes *indexes = one->indexes;
    pthread_mutex_lock(&indexes->lock);
    if (one->due_ms == 0) {
        one->due_ms = clock_now_ms() + after_ms;
    }
    wake(indexes);
    pthread_mutex_unlock(&indexes->lock);
}

/* Whether it is done, or cannot be; if not, it is planned again. */
static bool save(struct space_index *one, bool at_the_end)
{
    bool thrown_away;
    int64_t began = clock_now_ms();
    int status = shelf_claim(one->shelf, &thrown_away);
    if (status == OK) {
        status = save_claimed(one, at_the_end);
        int error = errno;
        shelf_unclaim(one->shelf);
        errno = error;
    }
    if (status == OK && trouble_end(NAME)) {
        log_info(NULL, "the index of memories is kept in files again");
    } else if (status != OK && status != ERR_BUSY && status != ERR_CLOSED) {
        say_not_kept(status);
    }
    int64_t now = clock_now_ms();
    int64_t rest_ms = (now - began) * REST_TIMES;
    pthread_mutex_lock(&one->indexes->lock);
    one->rest_ms = now + (rest_ms < TIME_INDEX_REST_MS ? rest_ms : TIME_INDEX_REST_MS);
    if (status == ERR_CLOSED) { /* somebody else's files are newer: it goes on from those */
        atomic_store(&one->is_stale, true);
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
    if (!one->shelf || (need.dead == 0 && need.fresh < LIMIT_INDEX_UNSAVED)) {
        return OK;
    }
    int status = store_witness(db, one->space, one->seen, &one->witness);
    if (status == OK) {
        plan(one, TIME_INDEX_SAVE_MS);
    }
    return status;
}

/* ---- scrubbing ---- */

/* Work with the store that nobody asked for, in a call of its own. */
static int with_store(struct indexes *indexes, int64_t id,
                      int (*work)(struct indexes *indexes, struct db *db, int64_t id))
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db;
    struct call *call = call_new(&(struct call_options){.timeout_ms = TIME_MEMORY_WRITE_MS});
    int status =
        call ? db_pool_borrow(indexes->pool, call, &db, problem, sizeof problem) : ERR_NOMEM;
    if (status == OK) {
        status = work(indexes, db, id);
        db_pool_return(indexes->pool, db);
    }
    call_free(call);
    if (status != OK && status != ERR_NOTFOUND) {
        log_warn(NULL,
                 "what was removed from a namespace stays in the files of its index until it is "
                 "searched: %s",
                 status_name(status));
    }
    return status;
}

/* Reads what was removed from the space into its index, which is saved then. */
static int catch_up(struct indexes *indexes, struct db *db, int64_t id)
{
    struct memory_space names;
    struct space_index *found = NULL;
    int status = store_space_names(db, call_arena(db_call(db)), id, &names);
    if (status == OK) {
        status = indexes_acquire(indexes, db, &names, NULL, &found);
        indexes_release(found);
    }
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
        (void)with_store(indexes, id, catch_up);
    }
    pthread_mutex_lock(&indexes->lock);
    return true;
}

void saving_scrub(struct indexes *indexes, int64_t space)
{
    size_t i = 0;
    while (i < indexes->scrub_count && indexes->scrubs[i] != space) {
        i++;
    }
    if (i == LIMIT_INDEX_SCRUBS) {
        log_warn(NULL, "too many namespaces have something to be removed from their index: one "
                       "keeps it until it is searched");
    } else if (i == indexes->scrub_count) {
        indexes->scrubs[indexes->scrub_count++] = space;
    }
    wake(indexes);
}

/* Has what was removed since a space was last saved scrubbed, whoever removed it. What is no good
 * goes at once: nobody waits for another index here. */
static int look_at(struct indexes *indexes, struct db *db, int64_t id)
{
    struct memory_space names;
    bool replaced = false;
    bool thrown_away;
    int status = store_space_names(db, call_arena(db_call(db)), id, &names);
    if (status != OK) {
        return status;
    }
    struct shelf *shelf = shelves_open(indexes->places, &names, id);
    if (!shelf) {
        return ERR_NOMEM;
    }
    status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    if (status == OK && view->count > 0) {
        status = store_replaced_since(db, id, view->seen, &replaced);
    }
    shelf_release(view);
    if (status == ERR_INVALID && shelf_claim(shelf, &thrown_away) == OK) {
        shelf_unclaim(shelf);
    }
    shelf_free(shelf);
    if (replaced) {
        pthread_mutex_lock(&indexes->lock);
        saving_scrub(indexes, id);
        pthread_mutex_unlock(&indexes->lock);
    }
    return status == ERR_INVALID ? OK : status;
}

/* Looks at what there is in files, once, without the lock of the list meanwhile. Whether it did. */
static bool look_around(struct indexes *indexes)
{
    int64_t ids[LIMIT_INDEX_SCRUBS];
    if (!indexes->has_changed || indexes->has_looked) {
        return false;
    }
    indexes->has_looked = true;
    pthread_mutex_unlock(&indexes->lock);
    size_t count = shelves_list(indexes->places, ids, LIMIT_INDEX_SCRUBS);
    for (size_t i = 0; i < count; i++) {
        (void)with_store(indexes, ids[i], look_at);
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
    pthread_mutex_lock(&indexes->lock);
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
        } else {
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

/* Somebody waits for the end, but what was deleted must not stay: another process that is just
 * writing has some time to end that. */
void saving_end(struct indexes *indexes)
{
    int64_t wait_ms;
    struct space_index *one = NULL;
    stop_thread(indexes);
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
