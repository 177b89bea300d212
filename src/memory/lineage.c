/* Whether an index's files go on with the store: what was changed since, and whether it is still
 * the store that they were made from. */
#include "memory/store.h"

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

int store_confirms(struct db *db, int64_t space, const struct manifest_witness *witness,
                   bool *confirms)
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
    *confirms = count > 0;
    return status < 0 ? status : OK;
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
