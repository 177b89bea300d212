/* Verifying the store: what is wrong, memory by memory, and the repair of what can be rebuilt from
 * the memories themselves. A text that is not what was stored is the one copy there is: nothing
 * here declares it sound. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/limits.h"
#include "memory/embeddings.h"
#include "memory/memories.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WITH_VERSIONS 2
#define WITH_BYTES    5 /* where they are now */
#define ORPHANED      "id NOT IN (SELECT id FROM {memory})"
#define LAGS          "change < (SELECT max(change) FROM {memory} WHERE space = {space}.id)"

#define MISCOUNTED                                                                                 \
    "n <> coalesce((SELECT bytes FROM {space} WHERE name = '' AND {space}.owner = "                \
    "counted.owner), -1)"

/* Each row is one check of the tables: a query that lists what is wrong, and the statement that
 * repairs it (NULL where nothing can). */
static const struct {
    enum { ON_BOTH, ON_SQLITE } where;
    int since; /* the version of the tables that has what it looks at */
    const char *find;
    const char *repair;
    const char *words;
    bool of_sound; /* memories: where one is damaged, it tells nothing */
} CHECKS[] = {
    {ON_SQLITE, 1,
     "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "REINDEX",
     "the file", false},
    {ON_BOTH, 1, "SELECT name FROM {space} WHERE " LAGS " ORDER BY name",
     "UPDATE {space} SET change = (SELECT max(change) FROM {memory} WHERE space = {space}.id) "
     "WHERE " LAGS,
     "the change counter lags behind in namespace", false},
    {ON_BOTH, WITH_VERSIONS,
     "SELECT CAST(count(*) AS TEXT) FROM {memory_version} WHERE " ORPHANED " HAVING count(*) > 0",
     "DELETE FROM {memory_version} WHERE " ORPHANED, "earlier versions of memories that are gone",
     false},
    {ON_BOTH, EMBEDDINGS_VERSION,
     "SELECT CAST(count(*) AS TEXT) FROM {memory_vector} WHERE " ORPHANED " HAVING count(*) > 0",
     "DELETE FROM {memory_vector} WHERE " ORPHANED, "vectors of memories that are gone", false},
    {ON_BOTH, WITH_BYTES, "SELECT owner FROM (" STORE_COUNTED ") AS counted WHERE " MISCOUNTED,
     "{|LOCK TABLE forage_space IN EXCLUSIVE MODE; }INSERT INTO {space} (owner, name, bytes) "
     "SELECT "
     "owner, '', n FROM (" STORE_COUNTED ") AS counted WHERE " MISCOUNTED
     " ON CONFLICT (owner, name) DO UPDATE SET bytes = excluded.bytes",
     "the bytes that memories take are miscounted for caller", true},
};
#define CHECK_COUNT (sizeof CHECKS / sizeof *CHECKS)

/* One look at the store. */
struct store_check {
    struct call *call;
    struct db *db;
    struct memory_problem *problems;
    size_t listed, room;
    size_t count;              /* of all problems, listed or not */
    size_t found[CHECK_COUNT]; /* by each check of the tables */
    int64_t memories;
    size_t damaged;   /* memories and versions */
    bool at_versions; /* the rows that come are earlier versions */
};

/* Lists a problem, as long as there is room for it; its texts live as long as the call. */
static int note(struct store_check *look, const struct memory_problem *problem)
{
    look->count++;
    if (look->listed == LIMIT_MEMORY_CHECK_LINES) {
        return OK;
    }
    if (look->listed == look->room) {
        size_t room = look->room ? 4 * look->room : 64;
        struct memory_problem *more = arena_alloc(call_arena(look->call), room * sizeof *more);
        if (!more) {
            return ERR_NOMEM;
        }
        if (look->listed > 0) {
            memcpy(more, look->problems, look->listed * sizeof *more);
        }
        look->problems = more;
        look->room = room;
    }
    look->problems[look->listed++] = *problem;
    return arena_failed(call_arena(look->call)) ? ERR_NOMEM : OK;
}

/* A database that cannot be read any further is a problem like the others, and no end of the check.
 */
static int note_failure(struct store_check *look, const char *what, int status)
{
    if (status != ERR_IO || db_is_postgres(look->db)) {
        return status;
    }
    return note(look,
                &(struct memory_problem){.what = arena_printf(call_arena(look->call), "%s: %s",
                                                              what, db_problem(look->db))});
}

static int look_with(struct store_check *look, size_t which)
{
    struct arena *arena = call_arena(look->call);
    struct db_rows *rows = db_query(look->db, CHECKS[which].find, NULL, 0);
    int status;
    while ((status = db_step(rows)) > 0) {
        const char *what = db_text(rows, 0);
        struct memory_problem problem = {
            .what = arena_printf(arena, "%s: %s", CHECKS[which].words, what ? what : ""),
            .check = which + 1,
        };
        look->found[which]++;
        status = note(look, &problem);
        if (status != OK) {
            break;
        }
    }
    db_end(rows);
    return note_failure(look, CHECKS[which].words, status);
}

static int note_row(void *context, const struct store_row *row, const struct memory_space *space)
{
    struct store_check *look = context;
    struct arena *arena = call_arena(look->call);
    const char *what = space->name ? row->memory.damage : "its namespace is gone";
    if (!what) {
        return OK;
    }
    look->damaged++;
    what = look->at_versions ? arena_printf(arena, "an earlier version: %s", what) : what;
    struct memory_problem problem = {
        .what = what,
        .owner = space->owner ? arena_strdup(arena, space->owner) : NULL,
        .space = space->name ? arena_strdup(arena, space->name) : NULL,
        .key = row->memory.key ? arena_strdup(arena, row->memory.key) : NULL,
        .id = row->id,
        .version = row->memory.version,
        .written_ms = row->memory.updated_ms,
    };
    return note(look, &problem);
}

/* Whether the index holds each memory of the space that it covers, and nothing that is none. Of
 * what it does not cover yet it may hold some: a gap may grow beyond what was indexed after it. */
static int compare(struct store_check *look, const struct space_index *found, bool *equal)
{
    size_t count = 0;
    const struct index_filter all = {0};
    const struct index *index = indexes_of(found);
    const struct index_sieve *sieve = index_sieve(index, call_arena(look->call), &all);
    if (!sieve) {
        return ERR_NOMEM;
    }
    struct db_rows *rows = db_ask(look->db, "SELECT id, change FROM {memory} WHERE space = ?1",
                                  DB_INT(indexes_space(found)));
    int status;
    *equal = true;
    while ((status = db_step(rows)) > 0) {
        bool held = index_passes(sieve, db_int(rows, 0));
        *equal = *equal && (held || !indexes_covers(found, db_int(rows, 1)));
        count += held;
    }
    db_end(rows);
    *equal = *equal && index_count(index) == count;
    return status;
}

/* Every namespace's index must hold what the store holds; both are read from one view of it. */
static int look_at_indexes(struct store_check *look)
{
    struct memory_stats stats;
    struct arena *arena = call_arena(look->call);
    int status = store_stats(look->db, arena, NULL, &stats);
    for (size_t i = 0; status == OK && i < stats.namespace_count; i++) {
        const struct memory_namespace_stats *one = &stats.namespaces[i];
        struct memory_space space = {one->owner, one->name};
        struct space_index *found = NULL;
        call_progress(look->call, (double)i, (double)stats.namespace_count, "index of %s",
                      one->name);
        status = indexes_acquire(call_parts(look->call)->memories->indexes, look->db, &space, NULL,
                                 &found);
        bool equal = true;
        if (status == OK && found) {
            status = compare(look, found, &equal);
        }
        if (status == OK && !equal) {
            status = note(look, &(struct memory_problem){
                                    .what = arena_printf(
                                        arena, "the index of namespace %s is wrong", space.name)});
        }
        indexes_release(found);
    }
    return note_failure(look, "the index", status);
}

static int look_at_rows(struct store_check *look)
{
    int64_t rows = 0;
    int status = store_audit(look->db, STORE_MEMORIES, &rows, note_row, look);
    look->memories = rows;
    if (status == OK && db_is_postgres(look->db)) { /* which handed out a few of them only */
        status = db_numbers(db_query(look->db, "SELECT count(*) FROM {memory}", NULL, 0),
                            &look->memories, 1);
        status = status < 0 ? status : OK;
    }
    if (status == OK && db_version(look->db) >= WITH_VERSIONS) {
        look->at_versions = true;
        status = store_audit(look->db, STORE_VERSIONS, &rows, note_row, look);
    }
    return note_failure(look, "the memories", status);
}

static int look_at_tables(struct store_check *look, bool of_sound)
{
    int status = OK;
    for (size_t i = 0; i < CHECK_COUNT && status == OK; i++) {
        if (CHECKS[i].since <= db_version(look->db) && CHECKS[i].of_sound == of_sound &&
            (CHECKS[i].where == ON_BOTH || !db_is_postgres(look->db))) {
            status = look_with(look, i);
        }
    }
    return status;
}

/* All of it, in one view of the data. */
static int look_around(struct store_check *look)
{
    if (db_version(look->db) == 0) {
        return OK; /* nothing was ever stored */
    }
    int status = db_begin_reading(look->db);
    if (status == OK) {
        status = look_at_tables(look, false);
    }
    if (status == OK) {
        status = look_at_rows(look);
    }
    if (status == OK && look->damaged == 0) {
        status = look_at_tables(look, true);
    }
    if (status == OK) {
        status = look_at_indexes(look);
    }
    db_rollback(look->db);
    return status;
}

/* ---- only looking ---- */

/* What tells whether somebody wrote to a file meanwhile. */
struct file_state {
    struct stat file;
    bool logged; /* it has a log with something in it */
};

static bool file_state(const char *path, struct file_state *state)
{
    char log[4096];
    struct stat about;
    *state = (struct file_state){0};
    snprintf(log, sizeof log, "%s-wal", path);
    state->logged = stat(log, &about) == 0;
    return stat(path, &state->file) == 0;
}

static bool undisturbed(const char *path, const struct file_state *before)
{
    struct file_state after;
    return file_state(path, &after) && !after.logged && after.file.st_ino == before->file.st_ino &&
           after.file.st_size == before->file.st_size &&
           after.file.st_mtim.tv_sec == before->file.st_mtim.tv_sec &&
           after.file.st_mtim.tv_nsec == before->file.st_mtim.tv_nsec;
}

static int look_through(struct store_check *look, bool alone)
{
    char problem[DB_PROBLEM_SIZE] = "";
    struct call *call = look->call;
    *look = (struct store_check){.call = call};
    look->db = store_look(call_parts(call)->memories->places, call, alone, problem, sizeof problem);
    if (!look->db) {
        return call_fail(call, CODE_PROVIDER, "the memory store cannot be opened: %s", problem);
    }
    db_work_for(look->db, call);
    int status = look_around(look);
    if (status == ERR_IO || status == ERR_CLOSED) {
        status =
            call_fail(call, CODE_PROVIDER, "the memory store failed: %s", db_problem(look->db));
    }
    db_close(look->db);
    return status;
}

/* A file that nobody uses is read as it lies there, which leaves no trace; when somebody began to
 * use it meanwhile, the look counts for nothing and is repeated as one among others. */
static int only_look(struct store_check *look)
{
    struct file_state before;
    char *path = store_file(call_parts(look->call)->memories->places);
    if (!path) {
        return look_through(look, false);
    }
    int status = OK;
    bool there = file_state(path, &before) || (errno != ENOENT && errno != ENOTDIR);
    if (there) {
        bool alone = !before.logged;
        status = look_through(look, alone);
        if (alone && !undisturbed(path, &before) && status != ERR_CANCELLED &&
            status != ERR_DEADLINE) {
            status = look_through(look, false);
        }
    }
    free(path);
    return status;
}

/* ---- repairing ---- */

static int repair_tables(struct store_check *look)
{
    int status = db_begin(look->db, true);
    for (size_t i = 0; i < CHECK_COUNT && status == OK; i++) {
        if (look->found[i] > 0 && CHECKS[i].repair) {
            status = db_run(look->db, CHECKS[i].repair);
        }
    }
    if (status == OK) {
        status = db_commit(look->db);
    }
    db_rollback(look->db);
    if (status == OK) {
        memories_scrub(look->call, look->db); /* what was dropped leaves the disk */
    }
    return note_failure(look, "the repair", status);
}

/* Looks, repairs, and looks again: what is no longer found was repaired. */
static int look_and_repair(struct store_check *look, struct store_check *before)
{
    int status = memories_borrow(look->call, &look->db);
    if (status != OK) {
        return status;
    }
    before->db = look->db;
    status = look_around(before);
    if (status == OK) {
        status = repair_tables(before);
    }
    if (status == OK) {
        status = look_around(look);
    }
    return memories_return(look->call, look->db, status);
}

/* Adds the problems of the first look that the second one no longer found. */
static int note_repaired(struct store_check *look, const struct store_check *before,
                         size_t *repaired)
{
    int status = OK;
    for (size_t i = 0; i < before->listed && status == OK; i++) {
        struct memory_problem problem = before->problems[i];
        if (problem.check > 0 && look->found[problem.check - 1] == 0) {
            problem.repaired = true;
            (*repaired)++;
            status = note(look, &problem);
        }
    }
    return status;
}

int memory_check(struct call *call, bool repair, struct memory_check *check)
{
    struct store_check look = {.call = call};
    struct store_check before = {.call = call};
    size_t repaired = 0;
    if (!repair) {
        indexes_only_look(call_parts(call)->memories->indexes);
    }
    int status = repair ? look_and_repair(&look, &before) : only_look(&look);
    if (status == OK) {
        status = note_repaired(&look, &before, &repaired);
    }
    *check = (struct memory_check){
        .memories = look.memories,
        .problems = look.problems,
        .listed = look.listed,
        .count = look.count,
        .repaired = repaired,
    };
    return status;
}
