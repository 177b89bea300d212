/* Statements on embeddings and vectors. */
#include "memory/embeddings.h"

#include "core/limits.h"

#include <string.h>

int embeddings_choose(struct db *db, struct arena *arena, int64_t space, const char *model,
                      struct embedding *found)
{
    struct db_rows *rows = db_ask(
        db,
        "SELECT id, model, complete FROM {embedding} WHERE space = ?1 ORDER BY complete * CASE "
        "WHEN model = ?2 THEN 2 ELSE 1 END DESC, CASE WHEN model = ?2 THEN 0 ELSE 1 END LIMIT 1",
        DB_INT(space), DB_TEXT(model));
    int status = db_step(rows);
    *found = (struct embedding){0};
    if (status > 0) {
        *found = (struct embedding){db_int(rows, 0), arena_strdup(arena, db_words(rows, 1)),
                                    db_int(rows, 2) != 0};
        status = found->model ? OK : ERR_NOMEM;
    }
    db_end(rows);
    return status;
}

int embeddings_changes(struct db *db, int64_t embedding, int64_t since, size_t limit,
                       int (*take)(void *context, const struct embedding_row *row), void *context,
                       int64_t *seen)
{
    struct db_rows *rows =
        db_ask(db,
               "SELECT v.id, v.change, v.dimensions, v.vectors, m.digest, m.key, "
               "{m.tags|m.tags::text} FROM {memory_vector} AS v "
               "JOIN {memory} AS m ON m.id = v.id WHERE v.embedding = ?1 AND v.change > ?2 ORDER "
               "BY v.change LIMIT ?3",
               DB_INT(embedding), DB_INT(since), DB_INT((int64_t)limit));
    int status;
    *seen = since;
    db_at_most(rows, limit);
    while ((status = db_step(rows)) > 0) {
        if (db_int(rows, 1) <= *seen) {
            status = db_goes_back(rows);
            break;
        }
        int64_t dimensions = db_int(rows, 2);
        struct embedding_row row = {.id = db_int(rows, 0)};
        row.dimensions = dimensions > 0 ? (size_t)dimensions : 0;
        row.vectors = db_bytes(rows, 3, &row.length);
        size_t length;
        const void *digest = db_bytes(rows, 4, &length);
        row.face = store_face(digest, digest ? length : 0, db_words(rows, 5), db_text(rows, 6));
        status = take(context, &row);
        if (status != OK) {
            break;
        }
        *seen = db_int(rows, 1);
    }
    db_end(rows);
    return status;
}

int embeddings_stats(struct db *db, const char *model, struct memory_namespace_stats *namespaces,
                     size_t count)
{
    struct db_rows *rows = db_ask(
        db,
        "SELECT s.owner, s.name, count(v.id) FROM {embedding} AS e JOIN {space} AS s ON s.id "
        "= e.space JOIN {memory_vector} AS v ON v.embedding = e.id WHERE e.model = ?1 GROUP "
        "BY s.id",
        DB_TEXT(model));
    int status;
    while ((status = db_step(rows)) > 0) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(namespaces[i].owner, db_words(rows, 0)) == 0 &&
                strcmp(namespaces[i].name, db_words(rows, 1)) == 0) {
                namespaces[i].embedded = db_int(rows, 2);
            }
        }
    }
    db_end(rows);
    return status;
}

/* ---- for whoever makes vectors ---- */

int embeddings_find_work(struct db *db, struct arena *arena, const char *model, const char *holder,
                         int64_t now_ms, struct memory_space *space, bool *found, int64_t *free_ms)
{
    /* What is leased to others comes last, the lease that ends first before the others. */
    struct db_rows *rows =
        db_ask(db,
               "SELECT s.owner, s.name, CASE WHEN e.until > ?2 AND e.holder <> ?3 THEN e.until "
               "ELSE 0 END AS taken FROM {space} AS s LEFT JOIN {embedding} AS e ON e.space = s.id "
               "AND e.model = ?1 WHERE s.change > coalesce(e.seen, 0) ORDER BY taken, s.id LIMIT 1",
               DB_TEXT(model), DB_INT(now_ms), DB_TEXT(holder));
    int status = db_step(rows);
    *free_ms = status > 0 ? db_int(rows, 2) : 0;
    *found = status > 0 && *free_ms == 0;
    status = status > 0 ? OK : status;
    if (*found) {
        *space = (struct memory_space){arena_strdup(arena, db_words(rows, 0)),
                                       arena_strdup(arena, db_words(rows, 1))};
        status = arena_failed(arena) ? ERR_NOMEM : OK;
    }
    db_end(rows);
    return status;
}

int embeddings_claim(struct db *db, int64_t space, const char *model, const char *holder,
                     int64_t now_ms, int64_t until_ms, int64_t *embedding, bool *ours)
{
    int status =
        db_do(db, "INSERT INTO {embedding} (space, model) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
              DB_INT(space), DB_TEXT(model));
    if (status != OK) {
        return status;
    }
    status = db_numbers(
        db_ask(db,
               "UPDATE {embedding} SET holder = ?3, until = ?5 WHERE space = ?1 AND model = ?2 AND "
               "(until <= ?4 OR holder = ?3) RETURNING id",
               DB_INT(space), DB_TEXT(model), DB_TEXT(holder), DB_INT(now_ms), DB_INT(until_ms)),
        embedding, 1);
    *ours = status > 0;
    return status < 0 ? status : OK;
}

int embeddings_renew(struct db *db, const char *holder, int64_t until_ms)
{
    return db_do(db, "UPDATE {embedding} SET until = ?2 WHERE holder = ?1 AND until > 0",
                 DB_TEXT(holder), DB_INT(until_ms));
}

int embeddings_release(struct db *db, const char *holder)
{
    return db_do(db, "UPDATE {embedding} SET until = 0 WHERE holder = ?1 AND until > 0",
                 DB_TEXT(holder));
}

int embeddings_tasks(struct db *db, struct arena *arena, int64_t space, int64_t embedding,
                     size_t most, size_t bytes, struct embedding_task *tasks, size_t *count)
{
    struct db_rows *rows =
        db_ask(db,
               "SELECT id, change, key, {tags|tags::text}, text FROM {memory} WHERE space = ?1 AND "
               "change > (SELECT "
               "seen FROM {embedding} WHERE id = ?2) AND NOT EXISTS (SELECT 1 FROM {memory_vector} "
               "AS v WHERE v.id = {memory}.id AND v.embedding = ?2) ORDER BY change LIMIT ?3",
               DB_INT(space), DB_INT(embedding), DB_INT((int64_t)most));
    int status;
    size_t taken = 0;
    *count = 0;
    db_at_most(rows, most);
    while (taken < bytes && (status = db_step(rows)) > 0) {
        struct embedding_task *task = &tasks[(*count)++];
        *task = (struct embedding_task){
            .id = db_int(rows, 0),
            .change = db_int(rows, 1),
            .key = arena_strdup(arena, db_words(rows, 2)),
            .tags = db_text(rows, 3) ? arena_strdup(arena, db_text(rows, 3)) : NULL,
            .text = arena_strdup(arena, db_words(rows, 4)),
        };
        taken += task->text ? strlen(task->text) : 0;
    }
    db_end(rows);
    status = taken < bytes ? status : OK;
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* The change number tells whether the memory is still what was read: every change has another. */
int embeddings_put(struct db *db, struct store_space *space, int64_t embedding,
                   const struct embedding_task *task, const struct embedding_row *row)
{
    return db_do(db,
                 "INSERT INTO {memory_vector} (id, embedding, change, dimensions, vectors) SELECT "
                 "id, CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), {?5|?5::bytea} "
                 "FROM {memory} WHERE id = ?1 AND change = ?6 ON CONFLICT DO NOTHING",
                 DB_INT(row->id), DB_INT(embedding), DB_INT(++space->change),
                 DB_INT((int64_t)row->dimensions), DB_BYTES(row->vectors, row->length),
                 DB_INT(task->change));
}

int embeddings_advance(struct db *db, const struct store_space *space, int64_t embedding,
                       int64_t seen)
{
    int status = db_do(db, "UPDATE {space} SET change = ?2 WHERE id = ?1 AND change < ?2",
                       DB_INT(space->id), DB_INT(space->change));
    return status != OK ? status
                        : db_do(db,
                                "UPDATE {embedding} SET seen = ?2, complete = CASE WHEN ?2 = ?3 "
                                "THEN 1 ELSE complete END WHERE id = ?1 AND seen < ?2",
                                DB_INT(embedding), DB_INT(seen), DB_INT(space->change));
}

/* Of another model, with all of the wanted one's beside it. */
#define REPLACED                                                                                   \
    "model <> ?1 AND EXISTS (SELECT 1 FROM {embedding} AS own WHERE own.space = "                  \
    "{embedding}.space "                                                                           \
    "AND own.model = ?1 AND own.complete = 1)"

int embeddings_forget(struct db *db, const char *model, int64_t now_ms, int64_t idle_ms, bool *more)
{
    int64_t old = 0;
    int64_t left = 0;
    *more = false;
    /* Whoever works with a model says so now and then, while there are others. */
    int status = db_do(db,
                       "UPDATE {embedding} SET until = ?2 WHERE model = ?1 AND until < ?3 AND "
                       "EXISTS (SELECT 1 FROM {embedding} AS other WHERE other.space = "
                       "{embedding}.space AND other.model <> ?1)",
                       DB_TEXT(model), DB_INT(now_ms), DB_INT(now_ms - idle_ms / 4));
    if (status != OK) {
        return status;
    }
    status = db_numbers(
        db_ask(db, "SELECT id FROM {embedding} WHERE " REPLACED " AND until < ?2 LIMIT 1",
               DB_TEXT(model), DB_INT(now_ms - idle_ms)),
        &old, 1);
    if (status <= 0) {
        return status;
    }
    *more = true;
    status = db_do(db,
                   "DELETE FROM {memory_vector} WHERE embedding = ?1 AND change IN (SELECT change "
                   "FROM {memory_vector} WHERE embedding = ?1 ORDER BY change LIMIT ?2)",
                   DB_INT(old), DB_INT(LIMIT_EMBEDDING_TASKS));
    if (status == OK) {
        status = db_numbers(
            db_ask(db, "SELECT 1 FROM {memory_vector} WHERE embedding = ?1 LIMIT 1", DB_INT(old)),
            &left, 1);
        status = status < 0 ? status : OK;
    }
    return status == OK && left == 0
               ? db_do(db, "DELETE FROM {embedding} WHERE id = ?1", DB_INT(old))
               : status;
}
