/* Group commit. Followers sleep on an event of their own and can be cancelled until a leader has
 * taken them; from then on their change happens, and they wait for its outcome. */
#include "memory/writer.h"

#include "call/errors.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum stage { WAITS, LEADS, TAKEN, DONE };

struct entry {
    const struct writer_job *job;
    struct entry *next;
    int event;
    enum stage stage;
    int status;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *first;
static struct entry **last = &first;
static bool led; /* somebody is the leader */

/* ---- one transaction ---- */

static bool is_own_failure(int status)
{
    return status == ERR_FAILED || status == ERR_NOMEM || status == ERR_NOTFOUND;
}

/* One job between two marks. What cannot be undone by itself is undone with the whole. */
static int apply_marked(struct store_session *session, const struct writer_job *job,
                        bool *overwrites)
{
    const struct store_backend *backend = session->backend;
    struct store_space found;
    int status = backend->mark(session);
    if (status != OK) {
        return status;
    }
    status = backend->space(session, &job->space, true, &found);
    if (status == OK) {
        status = backend->lock(session, found.id);
    }
    if (status == OK) {
        struct rules_work work = {.session = session,
                                  .call = job->call,
                                  .arena = call_arena(job->call),
                                  .space = found.id,
                                  .now_ms = clock_wall_ms(),
                                  .overwrites = overwrites};
        status = job->apply(&work, job->context);
    }
    int ended = status == OK ? backend->drop_mark(session) : backend->back_to_mark(session);
    return status == OK || (ended != OK && is_own_failure(status)) ? ended : status;
}

/* What happened to the whole, told to one of its callers. */
static int tell(const struct writer_job *job, struct call *writing,
                const struct store_session *session, int status)
{
    if (session) {
        store_fail(job->call, session, status);
    }
    const struct call_error *error = call_error(writing);
    if (error) {
        return call_fail(job->call, error->code, "%s", error->message);
    }
    return call_error(job->call) ? ERR_FAILED : status;
}

/* Writes all of them and commits once. A failure of the database is everybody's; a failure of one
 * job is its own. */
static int write_all(struct store_session *session, struct entry *entries, bool *overwrites)
{
    int status = session->backend->begin(session);
    for (struct entry *entry = entries; entry && status == OK; entry = entry->next) {
        entry->status = apply_marked(session, entry->job, overwrites);
        if (entry->status != OK && !is_own_failure(entry->status)) {
            status = entry->status;
        }
    }
    return status == OK ? session->backend->commit(session) : status;
}

static void finish_all(struct call *writing, const struct store_session *session,
                       struct entry *entries, int status)
{
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (status != OK) {
            entry->status = tell(entry->job, writing, session, status);
        }
    }
}

/* ---- what has expired ---- */

static _Atomic int64_t next_sweep_ms;

struct expired_rows {
    struct {
        int64_t id, space;
    } items[LIMIT_MEMORY_SWEEP];
    size_t count;
};

static int note_expired(void *context, const struct store_row *row)
{
    struct expired_rows *rows = context;
    rows->items[rows->count].id = row->id;
    rows->items[rows->count++].space = row->space;
    return OK;
}

/* Removes one of them, unless it was changed before its space was locked. */
static int remove_expired(struct store_session *session, struct arena *arena, int64_t id,
                          int64_t space, int64_t now_ms)
{
    struct store_row row;
    int status = session->backend->lock(session, space);
    if (status == OK) {
        status = session->backend->by_id(session, arena, space, id, &row);
    }
    if (status == OK && row.memory.expires_ms > 0 && row.memory.expires_ms <= now_ms) {
        status = session->backend->remove(session, &row);
    }
    return status == ERR_NOTFOUND ? OK : status;
}

static int sweep_rows(struct store_session *session, struct arena *arena, int64_t now_ms,
                      struct expired_rows *rows)
{
    int status = session->backend->begin(session);
    if (status == OK) {
        status = session->backend->expired(session, arena, now_ms, LIMIT_MEMORY_SWEEP, note_expired,
                                           rows);
    }
    for (size_t i = 0; i < rows->count && status == OK; i++) {
        status = remove_expired(session, arena, rows->items[i].id, rows->items[i].space, now_ms);
    }
    if (status == OK && rows->count > 0) {
        status = session->backend->commit(session);
    }
    session->backend->rollback(session);
    return status;
}

/* Deletes what has expired, now and then, a few at a time. Nobody finds it any more in any case, so
 * that a failure only leaves it for the next time. Whether something was deleted. */
static bool sweep(struct store_session *session)
{
    int64_t now_ms = clock_wall_ms();
    int64_t due = atomic_load(&next_sweep_ms);
    if (now_ms < due ||
        !atomic_compare_exchange_strong(&next_sweep_ms, &due, now_ms + TIME_MEMORY_SWEEP_MS)) {
        return false;
    }
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct expired_rows rows = {.count = 0};
    int status = arena ? sweep_rows(session, arena, now_ms, &rows) : ERR_NOMEM;
    arena_free(arena);
    if (status == OK && rows.count == LIMIT_MEMORY_SWEEP) {
        atomic_store(&next_sweep_ms, now_ms); /* there may be more */
    }
    return status == OK && rows.count > 0;
}

/* ---- one commit for all ---- */

/* The database gave the transaction up in favour of another, or went away before it could have
 * committed: nothing has happened yet. */
static bool may_repeat(const struct store_session *session, int status)
{
    return (status == ERR_BUSY || status == ERR_CLOSED) && !session->in_doubt;
}

static void commit_for(struct call *writing, struct entry *entries)
{
    struct store_session *session = NULL;
    bool overwrites = false;
    int status = store_borrow(writing, &session);
    for (int attempt = 0; session && attempt < 3; attempt++) {
        status = write_all(session, entries, &overwrites);
        if (!may_repeat(session, status)) {
            break;
        }
        session->backend->rollback(session);
    }
    if (status == OK) {
        overwrites |= sweep(session);
    }
    if (status == OK && overwrites) {
        session->backend->scrub(session);
    }
    finish_all(writing, session, entries, status);
    store_return(session);
}

/* The transaction works for a call of its own: a caller that is cancelled must not undo the changes
 * of the others. */
static void commit_group(struct entry *entries)
{
    struct call *writing = call_new(&(struct call_options){.timeout_ms = TIME_MEMORY_WRITE_MS});
    for (struct entry *entry = entries; !writing && entry; entry = entry->next) {
        entry->status = ERR_NOMEM;
    }
    if (writing) {
        commit_for(writing, entries);
    }
    call_free(writing);
}

/* ---- the queue ---- */

/* Takes what waits, as far as it fits into one transaction; the list ends with a NULL. */
static struct entry *take_group(void)
{
    struct entry *group = first;
    struct entry *end = NULL;
    size_t count = 0;
    for (struct entry *entry = first; entry && count < LIMIT_MEMORY_GROUP; entry = entry->next) {
        entry->stage = TAKEN;
        end = entry;
        count++;
    }
    first = end ? end->next : first;
    if (!first) {
        last = &first;
    }
    if (end) {
        end->next = NULL;
    }
    return group;
}

/* After its own group the leader leaves; whoever waits longest leads on. */
static void pass_lead(void)
{
    if (first) {
        first->stage = LEADS;
        event_signal(first->event);
    } else {
        led = false;
    }
}

static void lead(void)
{
    struct entry *group = take_group();
    pthread_mutex_unlock(&queue_lock);
    commit_group(group);
    pthread_mutex_lock(&queue_lock);
    while (group) {
        struct entry *entry = group;
        group = entry->next;
        entry->stage = DONE;
        event_signal(entry->event); /* from here on it is its owner's, who may be gone */
    }
    pass_lead();
}

static void leave_queue(struct entry *entry)
{
    struct entry **at = &first;
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    if (last == &entry->next) {
        last = at;
    }
}

/* Waits to be done or to lead. */
static int wait_turn(struct entry *entry)
{
    struct pollfd watched = {.fd = entry->event, .events = POLLIN};
    while (entry->stage == WAITS || entry->stage == TAKEN) {
        bool taken = entry->stage == TAKEN;
        pthread_mutex_unlock(&queue_lock);
        int status = OK;
        if (taken) {
            poll(&watched, 1, -1);
        } else {
            status = call_wait(entry->job->call, &watched, 1, -1);
        }
        pthread_mutex_lock(&queue_lock);
        if (status < 0 && entry->stage == WAITS) {
            leave_queue(entry);
            return status;
        }
        if (status < 0 && entry->stage == LEADS) {
            leave_queue(entry);
            pass_lead();
            return status;
        }
    }
    return OK;
}

static int run_grouped(const struct writer_job *job)
{
    struct entry entry = {.job = job, .event = event_open()};
    if (entry.event < 0) {
        return ERR_IO;
    }
    pthread_mutex_lock(&queue_lock);
    *last = &entry;
    last = &entry.next;
    int status = OK;
    if (led) {
        status = wait_turn(&entry);
    } else {
        led = true;
        entry.stage = LEADS;
    }
    if (status == OK && entry.stage == LEADS) {
        lead();
    }
    pthread_mutex_unlock(&queue_lock);
    event_close(entry.event);
    return status == OK ? entry.status : status;
}

static int run_alone(const struct writer_job *job)
{
    struct entry entry = {.job = job};
    commit_for(job->call, &entry);
    return entry.status;
}

int writer_run(const struct writer_job *job)
{
    int status = call_check(job->call);
    if (status != OK) {
        return status;
    }
    return store_chosen()->commits_are_dear ? run_grouped(job) : run_alone(job);
}
