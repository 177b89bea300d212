/* The engine: every function of memory.h but the searches (search.c). */
#include "memory/memory.h"

#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "meaning/meaning.h"
#include "memory/embeddings.h"
#include "memory/memories.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_NAMESPACE "default"
#define SHARED_OWNER      ""

int memory_space_of(struct call *call, const char *name, struct memory_space *space)
{
    return memory_space_of_caller(call, NULL, name, space);
}

int memory_space_of_caller(struct call *call, const char *caller, const char *name,
                           struct memory_space *space)
{
    const struct caller *own = call_caller(call);
    int status = rules_check_namespace(call, name);
    caller = caller ? caller : own ? own->name : "local";
    space->name = name ? name : DEFAULT_NAMESPACE;
    space->owner = memories_is_shared(space->name) ? SHARED_OWNER : caller;
    return status;
}

/* ---- changing ---- */

struct one_change {
    const struct memory_change *change;
    struct memory_result *result;
    int (*rule)(const struct rules_work *work, const struct memory_change *change,
                struct memory_result *result);
};

static int apply_one(const struct rules_work *work, void *context)
{
    struct one_change *one = context;
    return one->rule(work, one->change, one->result);
}

static int run_one(struct call *call, const struct memory_space *space, struct one_change *one,
                   bool adds)
{
    int status = rules_check(call, one->change, adds);
    if (status != OK) {
        return status;
    }
    struct memories_job job = {
        .call = call,
        .space = space,
        .apply = apply_one,
        .context = one,
        .adds = adds,
    };
    return memories_write(&job);
}

int memory_add(struct call *call, const struct memory_space *space,
               const struct memory_change *change, struct memory_result *result)
{
    return run_one(call, space, &(struct one_change){change, result, rules_add}, true);
}

static int need_key(struct call *call, const char *name, const char *key)
{
    return key ? OK : call_fail(call, CODE_VALIDATION, "%s is missing", name);
}

int memory_update(struct call *call, const struct memory_space *space,
                  const struct memory_change *change, struct memory_result *result)
{
    int status = need_key(call, "key", change->key);
    return status != OK
               ? status
               : run_one(call, space, &(struct one_change){change, result, rules_update}, false);
}

int memory_rename(struct call *call, const struct memory_space *space,
                  const struct memory_change *change, struct memory_result *result)
{
    int status = need_key(call, "key", change->key);
    if (status == OK) {
        status = need_key(call, "new_key", change->new_key);
    }
    if (status != OK) {
        return status;
    }
    struct memory_change rename = {.key = change->key,
                                   .new_key = change->new_key,
                                   .place = -1,
                                   .if_version = change->if_version};
    return run_one(call, space, &(struct one_change){&rename, result, rules_update}, false);
}

struct deletion {
    const char *const *keys;
    size_t count;
    bool *deleted;
};

static int apply_deletion(const struct rules_work *work, void *context)
{
    struct deletion *deletion = context;
    int status = OK;
    for (size_t i = 0; i < deletion->count && status == OK; i++) {
        status = rules_delete(work, deletion->keys[i], &deletion->deleted[i]);
    }
    return status;
}

int memory_delete(struct call *call, const struct memory_space *space, const char *const *keys,
                  size_t count, bool *deleted)
{
    struct deletion deletion = {keys, count, deleted};
    struct memories_job job = {
        .call = call, .space = space, .apply = apply_deletion, .context = &deletion};
    return memories_write(&job);
}

struct import {
    const struct memory_change *changes;
    size_t count;
    struct memory_import_counts *counts;
    size_t *wrong;
};

static int apply_import(const struct rules_work *work, void *context)
{
    struct import *import = context;
    struct rules_work one = *work;
    one.arena = arena_new(LIMIT_CALL_ARENA_BYTES); /* of one memory after the other */
    int status = one.arena ? OK : ERR_NOMEM;
    *import->counts = (struct memory_import_counts){0};
    for (size_t i = 0; i < import->count && status == OK; i++) {
        const struct memory_change *change = &import->changes[i];
        struct memory_result result;
        if (change->expires_ms > 0 && change->expires_ms <= work->now_ms) {
            import->counts->expired++;
            continue;
        }
        *import->wrong = i;
        status = rules_add(&one, change, &result);
        import->counts->added += status == OK && result.outcome == MEMORY_ADDED;
        import->counts->replaced +=
            status == OK && (result.outcome == MEMORY_REPLACED || result.merged != 0);
        arena_reset(one.arena);
    }
    arena_free(one.arena);
    return status;
}

int memory_import(struct call *call, const struct memory_space *space,
                  const struct memory_change *changes, size_t count,
                  struct memory_import_counts *counts, size_t *wrong)
{
    int status = OK;
    bool adds = false;
    int64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < count && status == OK; i++) {
        *wrong = i;
        adds |= changes[i].expires_ms <= 0 || changes[i].expires_ms > now_ms;
        status = rules_check(call, &changes[i], true);
    }
    if (status != OK) {
        return status;
    }
    struct import import = {changes, count, counts, wrong};
    struct memories_job job = {.call = call,
                               .space = space,
                               .apply = apply_import,
                               .context = &import,
                               .adds = adds,
                               .imports = true};
    status = memories_write(&job);
    counts->among_others = job.job.among_others;
    return status;
}

/* ---- reading ---- */

/* A connection and the space that is read; with `space.id` 0 there is nothing. */
struct memory_reading {
    struct call *call;
    struct db *db;
    struct store_space space;
    int64_t now_ms;
};

static int start_reading(struct memory_reading *reading, struct call *call,
                         const struct memory_space *space)
{
    *reading = (struct memory_reading){.call = call, .now_ms = clock_wall_ms()};
    int status = memories_borrow(call, &reading->db);
    if (status == OK) {
        status = db_begin_reading(reading->db);
    }
    if (status == OK && space) {
        status = store_space_of(reading->db, space, false, &reading->space);
    }
    return status;
}

static int end_reading(struct memory_reading *reading, int status)
{
    return memories_return(reading->call, reading->db, status);
}

/* Collects rows into an array that has room for them. */
struct collection {
    struct arena *arena;
    struct memory *items;
    size_t count;
};

static int collect(void *context, const struct store_row *row)
{
    struct collection *collection = context;
    struct store_row marked = *row;
    store_mark(collection->arena, &marked);
    collection->items[collection->count++] = marked.memory;
    return OK;
}

/* The memories around one of a session, in their order, without itself. */
static int read_around(struct memory_reading *reading, const struct memory *memory,
                       size_t neighbours, struct memory_around *around)
{
    struct arena *arena = call_arena(reading->call);
    struct collection before = {arena, arena_alloc(arena, (neighbours + 1) * sizeof(struct memory)),
                                0};
    struct memory *items = arena_alloc(arena, (2 * neighbours + 1) * sizeof *items);
    *around = (struct memory_around){items, 0};
    if (!before.items || !items) {
        return ERR_NOMEM;
    }
    if (!memory->session || neighbours == 0) {
        return OK;
    }
    int status = store_neighbours(reading->db, arena, reading->space.id, memory, true, neighbours,
                                  reading->now_ms, collect, &before);
    for (size_t i = 0; i < before.count; i++) {
        items[i] = before.items[before.count - 1 - i];
    }
    struct collection after = {arena, items + before.count, 0};
    if (status == OK) {
        status = store_neighbours(reading->db, arena, reading->space.id, memory, false, neighbours,
                                  reading->now_ms, collect, &after);
    }
    around->count = before.count + after.count;
    return status;
}

static int read_keys(struct memory_reading *reading, const char *const *keys, size_t count,
                     size_t neighbours, struct memory *found, struct memory_around *around)
{
    int status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct store_row row;
        status =
            store_get(reading->db, call_arena(reading->call), reading->space.id, keys[i], &row);
        bool alive =
            status == OK && (row.memory.expires_ms == 0 || row.memory.expires_ms > reading->now_ms);
        status = status == ERR_NOTFOUND ? OK : status;
        if (alive) {
            store_mark(call_arena(reading->call), &row);
            found[i] = row.memory;
            status = around ? read_around(reading, &row.memory, neighbours, &around[i]) : OK;
        }
    }
    return status;
}

int memory_get(struct call *call, const struct memory_space *space, const char *const *keys,
               size_t count, size_t neighbours, struct memory *found, struct memory_around *around)
{
    struct memory_reading reading;
    memset(found, 0, count * sizeof *found);
    if (around) {
        memset(around, 0, count * sizeof *around);
    }
    int status = start_reading(&reading, call, space);
    if (status == OK && reading.space.id != 0) {
        status = read_keys(&reading, keys, count, neighbours, found, around);
    }
    return end_reading(&reading, status);
}

/* Versions that are handed out one by one; each lives until the next one. */
struct handing {
    struct arena *arena;
    int (*take)(void *context, const struct memory *memory);
    void *context;
};

static int hand_out(void *context, const struct store_row *row)
{
    struct handing *handing = context;
    struct store_row marked = *row;
    store_mark(handing->arena, &marked);
    int status = handing->take(handing->context, &marked.memory);
    arena_reset(handing->arena);
    return status;
}

static int no_memory(struct call *call, const struct memory_space *space)
{
    return call_fail(call, CODE_NOT_FOUND,
                     "there is no memory of this key in the namespace %s; memory_search finds "
                     "memories by what they say, memory_get without a key lists what there is",
                     space->name);
}

/* The memory of a key as it is now; ERR_FAILED after call_fail() where there is none. */
static int read_current(struct memory_reading *reading, struct arena *arena,
                        const struct memory_space *space, const char *key, struct store_row *row)
{
    int status = reading->space.id == 0
                     ? ERR_NOTFOUND
                     : store_get(reading->db, arena, reading->space.id, key, row);
    bool dead =
        status == OK && row->memory.expires_ms > 0 && row->memory.expires_ms <= reading->now_ms;
    return status == ERR_NOTFOUND || dead ? no_memory(reading->call, space) : status;
}

int memory_version(struct call *call, const struct memory_space *space, const char *key,
                   int64_t version, struct memory *found)
{
    struct memory_reading reading;
    struct store_row row = {0};
    struct arena *arena = call_arena(call);
    int status = start_reading(&reading, call, space);
    if (status == OK) {
        status = read_current(&reading, arena, space, key, &row);
    }
    if (status == OK && row.memory.version != version) {
        struct store_row current = row;
        status = store_version(reading.db, arena, &current, version, &row);
        status = status == ERR_NOTFOUND ? rules_fail_version(call, version) : status;
    }
    if (status == OK) {
        store_mark(arena, &row);
        *found = row.memory;
    }
    return end_reading(&reading, status);
}

int memory_history(struct call *call, const struct memory_space *space, const char *key,
                   int (*take)(void *context, const struct memory *memory), void *context)
{
    struct memory_reading reading;
    struct store_row row = {0};
    struct arena *arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    struct handing handing = {arena, take, context};
    int status = arena ? start_reading(&reading, call, space) : ERR_NOMEM;
    if (!arena) {
        return status;
    }
    if (status == OK) {
        status = read_current(&reading, arena, space, key, &row);
    }
    if (status == OK) {
        int64_t id = row.id;
        status = hand_out(&handing, &row);
        status = status == OK ? store_versions(reading.db, arena, id, hand_out, &handing) : status;
    }
    arena_free(arena);
    return end_reading(&reading, status);
}

int memory_list(struct call *call, const struct memory_space *space,
                const struct memory_filter *filter, size_t limit, size_t offset,
                struct memory_page *page)
{
    struct memory_reading reading;
    struct arena *arena = call_arena(call);
    struct collection items = {arena, arena_alloc(arena, (limit + 1) * sizeof(struct memory)), 0};
    *page = (struct memory_page){.items = items.items};
    int status = items.items ? start_reading(&reading, call, space) : ERR_NOMEM;
    if (!items.items) {
        return status;
    }
    if (status == OK && reading.space.id != 0) {
        status = store_list(reading.db, arena, reading.space.id, filter, reading.now_ms, limit,
                            offset, LIMIT_MEMORY_EXACT_TOTAL + 1, &page->total, collect, &items);
    }
    page->count = items.count;
    page->total_is_lower_bound = page->total > LIMIT_MEMORY_EXACT_TOTAL;
    page->total = page->total_is_lower_bound ? LIMIT_MEMORY_EXACT_TOTAL : page->total;
    return end_reading(&reading, status);
}

/* ---- looking after it ---- */

/* A shared namespace that the operator shares no longer is not shown. */
static void hide_unshared(struct arena *arena, struct memory_stats *stats)
{
    struct memory_namespace_stats *shown =
        arena_alloc(arena, (stats->namespace_count + 1) * sizeof *shown);
    size_t count = 0;
    for (size_t i = 0; shown && i < stats->namespace_count; i++) {
        if (stats->namespaces[i].shared == memories_is_shared(stats->namespaces[i].name)) {
            shown[count++] = stats->namespaces[i];
        }
    }
    stats->namespaces = shown;
    stats->namespace_count = count;
}

int memory_stats(struct call *call, struct memory_stats *stats)
{
    const char *model = meaning_model(call_parts(call)->meaning);
    struct memory_reading reading;
    struct memory_space own;
    int status = memory_space_of(call, NULL, &own);
    if (status != OK) {
        return status;
    }
    embedder_wake(call_parts(call)->memories->embedder);
    status = start_reading(&reading, call, NULL);
    if (status == OK) {
        const char *owner = call_caller(call) ? call_caller(call)->name : "local";
        status = store_stats(reading.db, call_arena(call), owner, stats);
    }
    if (status == OK) {
        status = indexes_stats(call_parts(call)->memories->indexes, reading.db, stats->namespaces,
                               stats->namespace_count);
    }
    if (status == OK && model) {
        stats->model = model;
        status = embeddings_stats(reading.db, model, stats->namespaces, stats->namespace_count);
    }
    if (status == OK) {
        stats->quota_bytes = call_parts(call)->memories->quota;
        hide_unshared(call_arena(call), stats);
        status = arena_failed(call_arena(call)) ? ERR_NOMEM : OK;
    }
    return end_reading(&reading, status);
}

int memory_backup(struct call *call, const char *path)
{
    struct db *db;
    char problem[DB_PROBLEM_SIZE];
    int status = memories_borrow(call, &db);
    if (status == OK) {
        status = store_backup(db, path, problem, sizeof problem);
        if (status == ERR_UNSUPPORTED) {
            status = call_fail(call, CODE_CONFIG,
                               "the memories are in PostgreSQL, which has its own way: pg_dump");
        } else if (status == ERR_IO) {
            status = call_fail(call, CODE_PROVIDER,
                               "the memory store failed, nothing was changed: %s", problem);
        }
    }
    return memories_return(call, db, status);
}

bool memory_ready(char *lacks, size_t size)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (!url || !*url || strncmp(url, "postgres://", 11) == 0 ||
        strncmp(url, "postgresql://", 13) == 0) {
        return true;
    }
    snprintf(lacks, size, "FORAGE_DATABASE_URL must begin with postgresql://");
    return false;
}
