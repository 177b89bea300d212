/* Whether an index's files go on with the store: what was changed since, and whether it is still
 * the store that they were made from. */
#include "memory/store.h"

#include "core/clock.h"
#include "core/limits.h"

int store_witness(struct db *db, int64_t space, int64_t change, struct manifest_witness *witness)
{
    int64_t numbers[3] = {0};
    int status = db_numbers(db_ask(db,
                                   "SELECT id, change, updated FROM {memory} WHERE space = ?1 AND "
                                   "change <= ?2 ORDER BY change DESC LIMIT 1",
                                   DB_INT(space), DB_INT(change)),
                            numbers, 3);
    *witness = (struct manifest_witness){numbers[0], numbers[1], numbers[2]};
    return status < 0 ? status : OK;
}

/* Whether the store holds the witness, or something that came of it. */
static int confirms(struct db *db, int64_t space, const struct manifest_witness *witness,
                    bool *does)
{
    int64_t count = witness->id == 0;
    int status = count ? OK
                       : db_numbers(db_ask(db,
                                           "SELECT count(*) FROM (SELECT 1 FROM {memory} WHERE id "
                                           "= ?2 AND space = ?1 AND (change > ?3 OR (change = ?3 "
                                           "AND updated = ?4)) UNION ALL SELECT 1 FROM {removed} "
                                           "WHERE space = ?1 AND id = ?2 AND change > ?3) AS found",
                                           DB_INT(space), DB_INT(witness->id),
                                           DB_INT(witness->change), DB_INT(witness->written_ms)),
                                    &count, 1);
    *does = count > 0;
    return status < 0 ? status : OK;
}

bool store_lost(const struct store_space *space, int64_t seen)
{
    bool taken_along = seen > space->lost_after && seen < space->lost_until;
    return seen > 0 && (seen > space->change || seen < space->horizon || taken_along);
}

int store_follows(struct db *db, const struct store_space *space, int64_t seen,
                  const struct manifest_witness *witness, bool *follows)
{
    *follows = seen == 0;
    if (*follows || store_lost(space, seen)) {
        return OK;
    }
    return confirms(db, space->id, witness, follows);
}

int store_replaced_since(struct db *db, int64_t space, int64_t change, bool *replaced)
{
    int64_t count = 0;
    int status = db_numbers(
        db_ask(db,
               "SELECT count(*) FROM (SELECT 1 FROM {removed} WHERE space = ?1 AND change > ?2"
               " UNION ALL SELECT 1 FROM {memory} WHERE space = ?1 AND change > ?2 AND version > 1"
               " LIMIT 1) AS found",
               DB_INT(space), DB_INT(change)),
        &count, 1);
    *replaced = count > 0;
    return status < 0 ? status : OK;
}

int store_gap_count(struct db *db, int64_t space, const struct manifest_gap *gap, int64_t most,
                    int64_t *count)
{
    *count = 0;
    int status = db_numbers(
        db_ask(db,
               "SELECT count(*) FROM (SELECT 1 FROM {memory} WHERE space = ?1 AND change > ?2 AND "
               "change <= ?3 LIMIT ?4) AS found",
               DB_INT(space), DB_INT(gap->after), DB_INT(gap->until), DB_INT(most)),
        count, 1);
    /* A database that lies must not make sums of it overflow. */
    *count = *count < 0 ? 0 : *count > UINT32_MAX ? UINT32_MAX : *count;
    return status < 0 ? status : OK;
}

#define IN_GAP " WHERE space = ?1 AND change > ?2 AND change <= ?3"
int store_gap_ids(struct db *db, int64_t space, const struct manifest_gap *gap,
                  store_take_removed take, void *context)
{
    struct db_rows *rows =
        db_ask(db, "SELECT id FROM {memory}" IN_GAP " UNION ALL SELECT id FROM {removed}" IN_GAP,
               DB_INT(space), DB_INT(gap->after), DB_INT(gap->until));
    db_at_most(rows, (size_t)(gap->until - gap->after));
    int status;
    while ((status = db_step(rows)) > 0) {
        status = take(context, db_int(rows, 0));
        if (status != OK) {
            break;
        }
    }
    db_end(rows);
    return status;
}

/* The clock counts for a space that was lost as a whole and is made anew. */
int store_begin_era(struct db *db, struct store_space *space)
{
    int64_t numbers[3];
    int status = db_numbers(
        db_ask(db,
               "UPDATE {space} SET era = forage_era(), horizon = greatest(horizon, lost_until), "
               "lost_after = change, lost_until = greatest(change + ?2, ?3), change = "
               "greatest(change + ?2, ?3) WHERE id = ?1 RETURNING horizon, lost_after, lost_until",
               DB_INT(space->id), DB_INT(LIMIT_MEMORY_LOST), DB_INT(clock_wall_ms())),
        numbers, 3);
    space->horizon = numbers[0];
    space->lost_after = numbers[1];
    space->change = space->lost_until = numbers[2];
    return status < 0 ? status : OK;
}
