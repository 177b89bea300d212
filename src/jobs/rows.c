/* The statements on jobs and their journals, for both databases. */
#include "jobs/rows.h"

#include "core/clock.h"

#include <stdio.h>
#include <string.h>

/* Of a row, in the order of read_row(). */
#define COLUMNS                                                                                    \
    "id, caller, tool, arguments, status, background, runs, created_ms, updated_ms, expires_ms, "  \
    "input_tokens, output_tokens, nano_usd, state, follows, tried"
#define RESULT_COLUMN 16
/* Those that are not over. */
#define IS_OPEN "status IN ('waiting', 'running')"

/* ---- reading ---- */

static const char *copy(struct arena *arena, const struct db_rows *rows, int column)
{
    const char *text = db_text(rows, column);
    return text && arena ? arena_strdup(arena, text) : text;
}

/* The row that `rows` stands at; its texts are copied where there is an arena. */
static void read_row(struct arena *arena, const struct db_rows *rows, struct job_row *row)
{
    *row = (struct job_row){
        .id = copy(arena, rows, 0),
        .caller = copy(arena, rows, 1),
        .tool = copy(arena, rows, 2),
        .arguments = copy(arena, rows, 3),
        .status = job_status_of(db_words(rows, 4)),
        .background = db_int(rows, 5) != 0,
        .runs = (unsigned)db_int(rows, 6),
        .created_ms = db_int(rows, 7),
        .updated_ms = db_int(rows, 8),
        .expires_ms = db_int(rows, 9),
        .input_tokens = db_int(rows, 10),
        .output_tokens = db_int(rows, 11),
        .nano_usd = db_int(rows, 12),
        .state = copy(arena, rows, 13),
        .follows = copy(arena, rows, 14),
        .tried = copy(arena, rows, 15),
    };
}

static bool is_whole(const struct job_row *row)
{
    return row->id && row->caller && row->tool && row->arguments && row->status < JOB_STATUSES;
}

int row_find(struct db *db, struct arena *arena, const char *caller, const char *id,
             struct job_row *row)
{
    struct db_rows *rows = db_ask(
        db, "SELECT " COLUMNS ", result FROM {jobs} WHERE id = ?1 AND caller = ?2 AND runs > 0",
        DB_TEXT(id), DB_TEXT(caller));
    int found = db_step(rows);
    if (found > 0) {
        read_row(arena, rows, row);
        row->result = copy(arena, rows, RESULT_COLUMN);
        found = arena_failed(arena) ? ERR_NOMEM : is_whole(row) ? OK : ERR_IO;
    } else if (found == 0) {
        found = ERR_NOTFOUND;
    }
    db_end(rows);
    return found;
}

int row_list(struct db *db, const char *caller, size_t most,
             void (*take)(void *context, const struct job_row *row), void *context)
{
    struct db_rows *rows = db_at_most(
        db_ask(db,
               "SELECT " COLUMNS
               " FROM {jobs} WHERE caller = ?1 AND runs > 0 ORDER BY created_ms DESC, id "
               "LIMIT ?2",
               DB_TEXT(caller), DB_INT((int64_t)most)),
        most);
    int found;
    while ((found = db_step(rows)) > 0) {
        struct job_row row;
        read_row(NULL, rows, &row);
        if (is_whole(&row)) {
            take(context, &row);
        }
    }
    db_end(rows);
    return found;
}

/* The first column of the first row, an id. OK or ERR_NOTFOUND, or a failure. */
static int read_id(struct db_rows *rows, char id[ID_SECRET_SIZE])
{
    int found = db_step(rows);
    if (found > 0) {
        snprintf(id, ID_SECRET_SIZE, "%s", db_words(rows, 0));
    }
    db_end(rows);
    return found > 0 ? OK : found == 0 ? ERR_NOTFOUND : found;
}

int row_same(struct db *db, const char *caller, const char *tool, const char *arguments,
             char id[ID_SECRET_SIZE])
{
    return read_id(
        db_ask(db,
               "SELECT id FROM {jobs} WHERE caller = ?1 AND tool = ?2 AND arguments = "
               "?3 AND background = 0 AND cancelling = 0 AND expires_ms > ?4 AND (" IS_OPEN
               " OR (status = 'done' AND runs > 1)) ORDER BY created_ms DESC LIMIT 1",
               DB_TEXT(caller), DB_TEXT(tool), DB_TEXT(arguments), DB_INT(clock_wall_ms())),
        id);
}

int row_context(struct db *db, struct arena *arena, const char *caller, const char *id,
                const char **context)
{
    struct db_rows *rows =
        db_ask(db, "SELECT context FROM {jobs} WHERE id = ?1 AND caller = ?2 AND expires_ms > ?3",
               DB_TEXT(id), DB_TEXT(caller), DB_INT(clock_wall_ms()));
    int found = db_step(rows);
    if (found > 0) {
        *context = copy(arena, rows, 0);
        found = arena_failed(arena) ? ERR_NOMEM : OK;
    } else if (found == 0) {
        found = ERR_NOTFOUND;
    }
    db_end(rows);
    return found;
}

int row_last(struct db *db, const char *caller, const char *tool, const char *other,
             char id[ID_SECRET_SIZE])
{
    return read_id(db_ask(db,
                          "SELECT id FROM {jobs} WHERE caller = ?1 AND tool IN (?2, ?3) AND "
                          "context IS NOT NULL AND expires_ms > ?4 ORDER BY created_ms DESC "
                          "LIMIT 1",
                          DB_TEXT(caller), DB_TEXT(tool), DB_TEXT(other), DB_INT(clock_wall_ms())),
                   id);
}

/* Leases end by a clock that nobody sets. */
static int lease_clock(struct db *db, int64_t *now)
{
    *now = owner_clock_ms();
    return db_is_postgres(db) ? records_clock(db, now) : OK;
}

int row_open_jobs(struct db *db, const char *id, struct job_open *jobs, size_t most, size_t *count)
{
    int64_t now;
    int status = lease_clock(db, &now);
    *count = 0;
    if (status != OK) {
        return status;
    }
    struct db_rows *rows =
        db_at_most(db_ask(db,
                          "SELECT id, caller, tool, owner, lease_ms FROM {jobs} WHERE " IS_OPEN
                          " AND (CAST(?1 AS TEXT) IS NULL OR id = ?1) ORDER BY created_ms LIMIT ?2",
                          DB_TEXT(id), DB_INT((int64_t)most)),
                   most);
    int found;
    while ((found = db_step(rows)) > 0) {
        struct job_open *job = &jobs[(*count)++];
        const char *owner = db_text(rows, 3);
        snprintf(job->id, sizeof job->id, "%s", db_words(rows, 0));
        snprintf(job->caller, sizeof job->caller, "%s", db_words(rows, 1));
        snprintf(job->tool, sizeof job->tool, "%s", db_words(rows, 2));
        snprintf(job->owner, sizeof job->owner, "%s", owner ? owner : "");
        job->is_free =
            !owner || db_int(rows, 4) <= now || owner_is_gone(job->owner, !db_is_postgres(db));
    }
    db_end(rows);
    return found;
}

int row_steps(struct db *db, struct arena *arena, const char *id, struct journal_step **steps,
              const char ***usages, size_t *count)
{
    size_t step_capacity = 0, usage_capacity = 0;
    struct db_rows *rows = db_ask(
        db, "SELECT number, kind, at_ms, usage, body FROM {steps} WHERE job = ?1 ORDER BY number",
        DB_TEXT(id));
    int found;
    *steps = NULL;
    *usages = NULL;
    *count = 0;
    /* What is behind a gap cannot be used. */
    while ((found = db_step(rows)) > 0 && db_int(rows, 0) == (int64_t)*count) {
        struct journal_step *more =
            arena_grow(arena, *steps, *count, &step_capacity, sizeof **steps);
        const char **used = arena_grow(arena, *usages, *count, &usage_capacity, sizeof **usages);
        if (!more || !used) {
            break;
        }
        *steps = more;
        *usages = used;
        more[*count] = (struct journal_step){
            .kind = copy(arena, rows, 1), .body = copy(arena, rows, 4), .at_ms = db_int(rows, 2)};
        used[(*count)++] = copy(arena, rows, 3);
    }
    db_end(rows);
    return found < 0 ? found : arena_failed(arena) ? ERR_NOMEM : OK;
}

/* ---- changing ---- */

/* Steps of a transaction, each done where all before it were. */
struct job_transaction {
    struct db *db;
    struct records_turn turn;
    int status;
};

static struct job_transaction change_begin(struct db *db, bool durable)
{
    struct job_transaction change = {.db = db};
    change.status = records_begin(db, durable, &change.turn);
    return change;
}

static int change_end(struct job_transaction *change)
{
    if (change->status == OK) {
        change->status = records_commit(change->db, &change->turn);
    }
    db_rollback(change->db);
    return change->status;
}

/* Whether a statement that RETURNs something changed a row. */
static int changed_row(struct db_rows *rows)
{
    int found = db_step(rows);
    db_end(rows);
    return found > 0 ? OK : found == 0 ? ERR_NOTFOUND : found;
}

int row_add(struct db *db, const struct job_row *row, const char *owner, int64_t lease_ms,
            size_t most_open, const char *context)
{
    int64_t open = 0, now = 0;
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK && owner) {
        int found =
            db_numbers(db_ask(db, "SELECT count(*) FROM {jobs} WHERE caller = ?1 AND " IS_OPEN,
                              DB_TEXT(row->caller)),
                       &open, 1);
        change.status = found < 0 ? found : open >= (int64_t)most_open ? ERR_LIMIT : OK;
    }
    if (change.status == OK) {
        change.status = lease_clock(db, &now);
    }
    if (change.status == OK) {
        change.status = db_do(
            db,
            "INSERT INTO {jobs} (id, caller, tool, arguments, status, background, cancelling, "
            "runs, owner, lease_ms, created_ms, updated_ms, expires_ms, input_tokens, "
            "output_tokens, nano_usd, result, follows, context, tried) VALUES (?1, ?2, ?3, ?4, ?5, "
            "?6, 0, ?7, ?8, ?9, ?10, ?11, ?12, 0, 0, 0, ?13, ?14, ?15, ?16)",
            DB_TEXT(row->id), DB_TEXT(row->caller), DB_TEXT(row->tool), DB_TEXT(row->arguments),
            DB_TEXT(job_status_word(row->status)), DB_INT(row->background), DB_INT(row->runs),
            DB_TEXT(owner), DB_INT(owner ? now + lease_ms : 0), DB_INT(row->created_ms),
            DB_INT(row->updated_ms), DB_INT(row->expires_ms), DB_TEXT(row->result),
            DB_TEXT(row->follows), DB_TEXT(context), DB_TEXT(row->tried));
    }
    return change_end(&change);
}

int row_claim(struct db *db, struct arena *arena, const struct job_open *seen, const char *owner,
              int64_t lease_ms, struct job_row *row)
{
    int64_t now = 0;
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = lease_clock(db, &now);
    }
    if (change.status == OK) {
        struct db_rows *rows =
            db_ask(db,
                   "UPDATE {jobs} SET owner = ?3, lease_ms = ?4, runs = runs + 1, "
                   "status = 'running', updated_ms = ?5 WHERE id = ?1 AND coalesce(owner, '') = ?2 "
                   "AND " IS_OPEN " RETURNING " COLUMNS,
                   DB_TEXT(seen->id), DB_TEXT(seen->owner), DB_TEXT(owner), DB_INT(now + lease_ms),
                   DB_INT(clock_wall_ms()));
        int found = db_step(rows);
        if (found > 0) {
            read_row(arena, rows, row);
        }
        db_end(rows);
        change.status = found < 0             ? found
                        : found == 0          ? ERR_NOTFOUND
                        : arena_failed(arena) ? ERR_NOMEM
                        : is_whole(row)       ? OK
                                              : ERR_IO;
    }
    return change_end(&change);
}

int row_renew(struct db *db, const char *owner, int64_t lease_ms,
              void (*take)(void *context, const char *id, bool cancelling), void *context)
{
    int64_t now = 0;
    struct job_transaction change = change_begin(db, false);
    if (change.status == OK) {
        change.status = lease_clock(db, &now);
    }
    if (change.status == OK) {
        struct db_rows *rows =
            db_ask(db,
                   "UPDATE {jobs} SET lease_ms = ?2 WHERE owner = ?1 AND " IS_OPEN
                   " RETURNING id, cancelling",
                   DB_TEXT(owner), DB_INT(now + lease_ms));
        int found;
        while ((found = db_step(rows)) > 0) {
            take(context, db_words(rows, 0), db_int(rows, 1) != 0);
        }
        db_end(rows);
        change.status = found;
    }
    return change_end(&change);
}

/* OK where the owner still has it. */
static int touch(struct db *db, const char *id, const char *owner)
{
    return changed_row(
        db_ask(db,
               "UPDATE {jobs} SET updated_ms = ?3 WHERE id = ?1 AND owner = ?2 AND " IS_OPEN
               " RETURNING id",
               DB_TEXT(id), DB_TEXT(owner), DB_INT(clock_wall_ms())));
}

/* What all runs of it cost, those that were killed included. */
static int read_cost(struct db *db, const char *id, struct record *record)
{
    int64_t numbers[3];
    int found = db_numbers(
        db_ask(db, "SELECT input_tokens, output_tokens, nano_usd FROM {jobs} WHERE id = ?1",
               DB_TEXT(id)),
        numbers, 3);
    if (found > 0) {
        record->input_tokens = numbers[0];
        record->output_tokens = numbers[1];
        record->nano_usd = numbers[2];
    }
    return found < 0 ? found : OK;
}

int row_add_step(struct db *db, const char *id, const char *owner, size_t number,
                 const struct journal_step *step, const char *usage)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = touch(db, id, owner);
    }
    if (change.status == OK) {
        /* Where a later run did something else than an earlier one, the rest of that is void. */
        change.status = db_do(db, "DELETE FROM {steps} WHERE job = ?1 AND number >= ?2",
                              DB_TEXT(id), DB_INT((int64_t)number));
    }
    if (change.status == OK) {
        change.status = db_do(db,
                              "INSERT INTO {steps} (job, number, kind, at_ms, usage, body) VALUES "
                              "(?1, ?2, ?3, ?4, ?5, ?6)",
                              DB_TEXT(id), DB_INT((int64_t)number), DB_TEXT(step->kind),
                              DB_INT(step->at_ms), DB_TEXT(usage), DB_TEXT(step->body));
    }
    return change_end(&change);
}

int row_tell(struct db *db, const char *id, const char *owner, const char *state)
{
    struct job_transaction change = change_begin(db, false);
    if (change.status == OK) {
        change.status = changed_row(
            db_ask(db,
                   "UPDATE {jobs} SET state = ?3, updated_ms = ?4 WHERE id = ?1 AND owner = ?2 "
                   "AND " IS_OPEN " RETURNING id",
                   DB_TEXT(id), DB_TEXT(owner), DB_TEXT(state), DB_INT(clock_wall_ms())));
    }
    return change_end(&change);
}

int row_release(struct db *db, const char *id, const char *owner)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = changed_row(db_ask(
            db,
            "UPDATE {jobs} SET owner = NULL, lease_ms = 0, status = 'waiting', updated_ms = ?3 "
            "WHERE id = ?1 AND owner = ?2 AND " IS_OPEN " RETURNING id",
            DB_TEXT(id), DB_TEXT(owner), DB_INT(clock_wall_ms())));
    }
    return change_end(&change);
}

int row_finish(struct db *db, const struct job_row *row, const char *owner, const char *context,
               struct record *record)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = touch(db, row->id, owner);
    }
    if (change.status == OK) {
        change.status = changed_row(db_ask(
            db,
            "UPDATE {jobs} SET status = ?3, result = ?4, context = ?5, state = ?6, owner = NULL, "
            "lease_ms = 0 WHERE id = ?1 AND owner = ?2 RETURNING id",
            DB_TEXT(row->id), DB_TEXT(owner), DB_TEXT(job_status_word(row->status)),
            DB_TEXT(row->result), DB_TEXT(context), DB_TEXT(row->state)));
    }
    if (change.status == OK) {
        change.status = db_do(db, "DELETE FROM {steps} WHERE job = ?1", DB_TEXT(row->id));
    }
    if (change.status == OK) {
        change.status = read_cost(db, row->id, record);
    }
    if (change.status == OK) {
        change.status = records_add(db, record);
    }
    return change_end(&change);
}

int row_cancel(struct db *db, const char *caller, const char *id)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = changed_row(db_ask(
            db,
            "UPDATE {jobs} SET cancelling = 1, updated_ms = ?3, status = CASE WHEN owner IS NULL "
            "THEN 'cancelled' ELSE status END WHERE id = ?1 AND caller = ?2 AND " IS_OPEN
            " RETURNING id",
            DB_TEXT(id), DB_TEXT(caller), DB_INT(clock_wall_ms())));
    }
    return change_end(&change);
}

int row_drop(struct db *db, const char *id, const char *owner)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = db_do(db, "DELETE FROM {jobs} WHERE id = ?1 AND owner = ?2", DB_TEXT(id),
                              DB_TEXT(owner));
    }
    return change_end(&change);
}

int row_let_go_on(struct db *db, const char *id)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = db_do(db, "UPDATE {jobs} SET background = 1 WHERE id = ?1", DB_TEXT(id));
    }
    return change_end(&change);
}

int row_remove(struct db *db, const char *caller, const char *id)
{
    struct job_transaction change = change_begin(db, true);
    if (change.status == OK) {
        change.status = changed_row(db_ask(
            db, "DELETE FROM {jobs} WHERE id = ?1 AND caller = ?2 AND NOT " IS_OPEN " RETURNING id",
            DB_TEXT(id), DB_TEXT(caller)));
    }
    return change_end(&change);
}

int row_tidy(struct db *db, int64_t now_ms, size_t most_kept)
{
    struct job_transaction change = change_begin(db, false);
    if (change.status == OK) {
        change.status = db_do(db, "DELETE FROM {jobs} WHERE expires_ms <= ?1", DB_INT(now_ms));
    }
    if (change.status == OK) {
        change.status = db_do(
            db,
            "DELETE FROM {jobs} WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
            "(PARTITION BY caller ORDER BY created_ms DESC) AS place FROM {jobs} WHERE NOT " IS_OPEN
            ") AS placed WHERE place > ?1)",
            DB_INT((int64_t)most_kept));
    }
    if (change.status == OK) {
        change.status = db_finish(
            db_query(db, "DELETE FROM {steps} WHERE job NOT IN (SELECT id FROM {jobs})", NULL, 0));
    }
    return change_end(&change);
}
