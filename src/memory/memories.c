/* Connections and changes of the memories of one program. */
#include "memory/memories.h"

#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/trouble.h"

#include <stdlib.h>
#include <string.h>

static const char STORE_NAME[] = "the memory store";
static const char CHANGES_NAME[] = "changes of memories";

static struct memories *memories_of(const struct call *call)
{
    return call_parts(call)->memories;
}

bool memories_is_shared(const char *name)
{
    for (const char *const *item = config_list("FORAGE_SHARED_NAMESPACES", NULL); *item; item++) {
        if (strcmp(*item, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- connections ---- */

static struct db *open_store(void *context, struct call *call, char *problem, size_t size)
{
    const struct memories *memories = context;
    return store_open(memories->places, call, problem, size);
}

static int borrow(struct memories *memories, struct call *call, struct db **db)
{
    char problem[DB_PROBLEM_SIZE] = "";
    int status = db_pool_borrow(memories->pool, call, db, problem, sizeof problem);
    if (status == OK && trouble_end(STORE_NAME)) {
        log_info(NULL, "the memory store works again");
    }
    if (status != ERR_IO || !*problem) {
        return status;
    }
    if (trouble_begin(STORE_NAME, "it cannot be opened; the log says why")) {
        log_error(NULL, "the memory store cannot be opened: %s", problem);
    }
    return call_fail(call, CODE_PROVIDER, "the memory store cannot be opened: %s",
                     call_without_paths(call, problem, true));
}

int memories_borrow(struct call *call, struct db **db)
{
    return borrow(memories_of(call), call, db);
}

static int fail(struct call *call, const struct db *db, int status)
{
    if (db_in_doubt(db)) {
        return call_fail(call, CODE_PROVIDER,
                         "the memory store went away while it confirmed the change, so it is not "
                         "known whether the change was made; look before you repeat it: %s",
                         call_without_paths(call, db_problem(db), true));
    }
    switch (status) {
    case ERR_IO:
    case ERR_CLOSED:
        return call_fail(call, CODE_PROVIDER, "the memory store failed, nothing was changed: %s",
                         call_without_paths(call, db_problem(db), true));
    case ERR_BUSY:
        call_fail(call, CODE_BUSY, "the memory store is busy with other writers; try again");
        call_fail_retry_after(call, 1);
        return ERR_FAILED;
    default:
        return status;
    }
}

int memories_return(struct call *call, struct db *db, int status)
{
    if (db) {
        struct memories *memories = memories_of(call);
        status = fail(call, db, status);
        db_rollback(db);
        scrub_rest(memories->scrub, db);
        db_pool_return(memories->pool, db);
    }
    return status;
}

/* ---- what has expired ---- */

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
static int remove_expired(struct db *db, struct arena *arena, int64_t id, int64_t space_id,
                          int64_t now_ms)
{
    struct store_row row;
    struct store_space space = {.id = space_id};
    int status = store_lock(db, &space);
    if (status == OK) {
        status = store_by_id(db, arena, space.id, id, &row);
    }
    if (status == OK && row.memory.expires_ms > 0 && row.memory.expires_ms <= now_ms) {
        status = store_remove(db, &space, &row);
        status = status == OK ? store_settle(db, &space) : status;
    }
    return status == ERR_NOTFOUND ? OK : status;
}

static int sweep_rows(struct db *db, struct arena *arena, int64_t now_ms, struct expired_rows *rows)
{
    int status = db_begin(db, true);
    if (status == OK) {
        status = store_expired(db, arena, now_ms, LIMIT_MEMORY_SWEEP, note_expired, rows);
    }
    for (size_t i = 0; i < rows->count && status == OK; i++) {
        status = remove_expired(db, arena, rows->items[i].id, rows->items[i].space, now_ms);
    }
    if (status == OK && rows->count > 0) {
        status = db_commit(db);
    }
    db_rollback(db);
    return status;
}

/* Whether it is time to look again; then by which clock something has expired. */
static bool is_due(struct memories *memories, int64_t *now_ms)
{
    pthread_mutex_lock(&memories->sweeping);
    int64_t now = clock_now_ms();
    bool due = now >= memories->next_sweep_ms;
    if (due) {
        memories->next_sweep_ms = now + TIME_MEMORY_SWEEP_MS;
        *now_ms = clock_trusted_ms(&memories->clock);
    }
    pthread_mutex_unlock(&memories->sweeping);
    return due;
}

/* Deletes what has expired, now and then, a few at a time. Nobody finds it any more in any case, so
 * that a failure only leaves it for the next time. Whether something was deleted. */
static bool sweep(struct memories *memories, struct db *db)
{
    int64_t now_ms;
    if (!is_due(memories, &now_ms)) {
        return false;
    }
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct expired_rows rows = {.count = 0};
    int status = arena ? sweep_rows(db, arena, now_ms, &rows) : ERR_NOMEM;
    arena_free(arena);
    for (size_t i = 0; i < rows.count && status == OK; i++) {
        indexes_scrub(memories->indexes, rows.items[i].space);
    }
    if (status == OK && rows.count == LIMIT_MEMORY_SWEEP) {
        pthread_mutex_lock(&memories->sweeping);
        memories->next_sweep_ms = 0; /* there may be more */
        pthread_mutex_unlock(&memories->sweeping);
    }
    return status == OK && rows.count > 0;
}

/* ---- changes ---- */

static int borrow_for_group(void *context, struct call *call, struct db **db)
{
    return borrow(context, call, db);
}

static void give_back(void *context, struct db *db)
{
    struct memories *memories = context;
    db_pool_return(memories->pool, db);
}

static int apply(void *context, struct db *db, struct writer_job *job)
{
    const struct memories *memories = context;
    struct memories_job *own = (struct memories_job *)job;
    struct store_space found;
    int status = db_keep(db, own->imports ? LIMIT_MEMORY_IMPORT_KIB : 0);
    if (status == OK) {
        status = store_space_of(db, own->space, own->adds, &found);
    }
    if (status == OK) {
        status = store_lock(db, &found);
    }
    if (status != OK) {
        return status;
    }
    struct rules_work work = {.db = db,
                              .call = own->call,
                              .arena = call_arena(own->call),
                              .space = &found,
                              .now_ms = clock_wall_ms(),
                              .versions = memories->versions,
                              .quota = memories->quota,
                              .shared = *own->space->owner == '\0',
                              .overwrites = &own->overwrites};
    own->changed = found.id;
    status = own->apply(&work, own->context);
    return status == OK ? store_settle(db, &found) : status;
}

static void wrote(void *context, struct db *db, struct writer_job *jobs, int status)
{
    struct memories *memories = context;
    if (status == OK && trouble_end(CHANGES_NAME)) {
        log_info(NULL, "memories can be changed again");
    } else if (db && (status == ERR_IO || status == ERR_CLOSED) &&
               trouble_begin(CHANGES_NAME, "they cannot be written; the log says why")) {
        log_error(NULL, "memories cannot be changed: %s", db_problem(db));
    }
    if (status != OK) {
        return;
    }
    indexes_changed(memories->indexes);
    bool overwrites = sweep(memories, db);
    bool by_others = false;
    for (struct writer_job *job = jobs; job; job = job->next) {
        overwrites |= ((struct memories_job *)job)->overwrites;
        by_others |= !((struct memories_job *)job)->unhurried;
    }
    if (by_others) {
        embedder_wake(memories->embedder);
    }
    uint64_t ticket = overwrites ? scrub_begin(memories->scrub, db) : 0;
    for (struct writer_job *job = jobs; job; job = job->next) {
        struct memories_job *own = (struct memories_job *)job;
        own->scrub = own->overwrites ? ticket : 0;
        if (own->overwrites) {
            indexes_scrub(memories->indexes, own->changed);
        }
    }
}

/* A failure of the whole becomes the error of each of its callers. */
static int report(void *context, struct db *db, struct call *writing, struct writer_job *job,
                  int status)
{
    (void)context;
    struct call *call = ((struct memories_job *)job)->call;
    const struct call_error *error = writing && writing != call ? call_error(writing) : NULL;
    if (status == OK || status == ERR_FAILED || status == ERR_NOTFOUND) {
        /* an outcome of its own, or words that were said where no connection could be had */
        return status == ERR_FAILED && error && !call_error(call)
                   ? call_fail(call, error->code, "%s", error->message)
                   : status;
    }
    return db ? fail(call, db, status) : status;
}

static const struct writer_hooks HOOKS = {
    .borrow = borrow_for_group,
    .give_back = give_back,
    .apply = apply,
    .wrote = wrote,
    .report = report,
};

int memories_write(struct memories_job *job)
{
    struct memories *memories = memories_of(job->call);
    /* What a server loses as it crashes must not be changes that others have seen. */
    job->job.durable = !job->unhurried || memories->alone;
    job->job.large = job->imports;
    call_waits_for(job->call, STORE_NAME);
    int status = writer_run(memories->writer, job->call, &job->job, memories->alone);
    if (job->scrub) {
        scrub_wait(memories->scrub, memories->pool, job->call, job->scrub);
    }
    call_waits_for(job->call, NULL);
    return status;
}

void memories_scrub(struct call *call, struct db *db)
{
    struct memories *memories = memories_of(call);
    uint64_t ticket = scrub_begin(memories->scrub, db);
    if (ticket) {
        scrub_wait(memories->scrub, memories->pool, call, ticket);
    }
}

/* ---- its life ---- */

struct memories *memories_new(const struct places *places, struct stocks *stocks)
{
    struct memories *memories = calloc(1, sizeof *memories);
    if (!memories) {
        return NULL;
    }
    const char *url = config_text("FORAGE_DATABASE_URL");
    pthread_mutex_init(&memories->sweeping, NULL);
    clock_trust_begin(&memories->clock);
    memories->places = places;
    memories->versions = (int)config_int("FORAGE_MEMORY_VERSIONS");
    memories->quota = config_bytes("FORAGE_MEMORY_QUOTA");
    memories->alone = url && *url;
    size_t most = memories->alone ? (size_t)config_int("FORAGE_DATABASE_CONNECTIONS") : 0;
    memories->pool =
        db_pool_new(&(struct db_pool_options){.open = open_store,
                                              .context = memories,
                                              .name = STORE_NAME,
                                              .most = most,
                                              .idle = most ? most : LIMIT_MEMORY_IDLE_CONNECTIONS});
    memories->writer = writer_new(&(struct writer_options){.hooks = &HOOKS,
                                                           .context = memories,
                                                           .undoes_one = true,
                                                           .most_jobs = LIMIT_MEMORY_GROUP,
                                                           .time_ms = TIME_MEMORY_WRITE_MS});
    memories->indexes = indexes_new(
        &(struct indexes_options){.places = places,
                                  .pool = memories->pool,
                                  .stocks = stocks,
                                  .bytes = (size_t)config_bytes("FORAGE_MEMORY_INDEXES")});
    memories->scrub = scrub_new();
    memories->readers = readers_new();
    bool whole = memories->pool && memories->writer && memories->indexes && memories->scrub &&
                 memories->readers;
    return whole ? memories : memories_free(memories);
}

int memories_serve(struct memories *memories, const struct parts *parts)
{
    indexes_serve(memories->indexes);
    memories->embedder = embedder_new(parts);
    return memories->embedder ? OK : ERR_NOMEM;
}

void memories_rest(struct memories *memories)
{
    readers_rest(memories->readers);
    if (!memories->alone) {
        db_pool_rest(memories->pool, LIMIT_MEMORY_REST_CONNECTIONS);
    }
}

struct memories *memories_free(struct memories *memories)
{
    if (memories) {
        embedder_free(memories->embedder);
        writer_free(memories->writer);
        indexes_free(memories->indexes);
        db_pool_free(memories->pool);
        scrub_free(memories->scrub);
        readers_free(memories->readers);
        pthread_mutex_destroy(&memories->sweeping);
        free(memories);
    }
    return NULL;
}
