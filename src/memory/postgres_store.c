/* Memories in PostgreSQL, which any number of servers on any number of machines share. */
#include "config/config.h"
#include "core/limits.h"
#include "memory/postgres_care.h"
#include "memory/store.h"
#include "memory/store_rows.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names are compared by their bytes ("C"), so that the order of keys is the same in every database
 * and in SQLite. A space's row changes with every memory: it gets room to do so in place. */
static const char *const VERSIONS[] = {
    "CREATE TABLE forage_space ("
    " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " owner TEXT COLLATE \"C\" NOT NULL, name TEXT COLLATE \"C\" NOT NULL,"
    " change BIGINT NOT NULL DEFAULT 0, horizon BIGINT NOT NULL DEFAULT 0,"
    " UNIQUE (owner, name)) WITH (fillfactor = 50);"
    "CREATE TABLE forage_memory ("
    " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space BIGINT NOT NULL,"
    " change BIGINT NOT NULL, key TEXT COLLATE \"C\" NOT NULL, summary TEXT NOT NULL,"
    " text TEXT NOT NULL, tags JSONB, metadata TEXT, session TEXT COLLATE \"C\","
    " place BIGINT NOT NULL, role TEXT COLLATE \"C\", created BIGINT NOT NULL,"
    " updated BIGINT NOT NULL, expires BIGINT NOT NULL, version BIGINT NOT NULL,"
    " digest BYTEA NOT NULL, UNIQUE (space, key));"
    "CREATE UNIQUE INDEX forage_memory_change ON forage_memory (space, change);"
    "CREATE INDEX forage_memory_digest ON forage_memory (space, digest);"
    "CREATE INDEX forage_memory_created ON forage_memory (space, created, id);"
    "CREATE INDEX forage_memory_session ON forage_memory (space, session, place)"
    " WHERE session IS NOT NULL;"
    "CREATE INDEX forage_memory_expires ON forage_memory (expires) WHERE expires > 0;"
    "CREATE TABLE forage_removed ("
    " space BIGINT NOT NULL, change BIGINT NOT NULL, id BIGINT NOT NULL,"
    " PRIMARY KEY (space, change));",
    NULL,
};

#define COLUMNS                                                                                    \
    "id, space, change, key, summary, text, tags::text, metadata, session, place, role, created, " \
    "updated, expires, version, digest"
#define ALIVE "(expires = 0 OR expires > $2)"
/* The space's next change number, for the statement that it stands before. */
#define NEXT_CHANGE                                                                                \
    "WITH moved AS (UPDATE forage_space SET change = change + 1 WHERE id = $1 RETURNING change) "

struct session {
    struct store_session shared;
    struct postgres *db;
    bool untouched; /* the transaction has just begun */
    bool mark_is_begin;
};

static struct postgres *db_of(struct store_session *session)
{
    return ((struct session *)session)->db;
}

/* Keeps the words of what went wrong. */
static int told(struct store_session *session, int status)
{
    if (status < 0 && status != ERR_NOTFOUND) {
        snprintf(session->problem, sizeof session->problem, "%s", postgres_problem(db_of(session)));
    }
    return status;
}

/* ---- connections ---- */

static void disconnect(struct store_session *session)
{
    postgres_close(db_of(session));
    free(session);
}

static struct store_session *connect(struct call *call, char *problem, size_t size)
{
    struct postgres_options options = {
        .url = config_text("FORAGE_DATABASE_URL"), .part = "memory", .versions = VERSIONS};
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    session->shared.backend = &STORE_POSTGRES;
    session->db = postgres_open(&options, call, problem, size);
    if (!session->db) {
        disconnect(&session->shared);
        return NULL;
    }
    return &session->shared;
}

static int work_for(struct store_session *session, struct call *call)
{
    postgres_work_for(db_of(session), call);
    return postgres_alive(db_of(session)) ? OK : ERR_CLOSED;
}

static size_t most_sessions(void)
{
    return (size_t)config_int("FORAGE_DATABASE_CONNECTIONS");
}

/* ---- transactions ---- */

static int begin(struct store_session *session)
{
    ((struct session *)session)->untouched = true;
    return told(session, postgres_begin(db_of(session)));
}

static int begin_reading(struct store_session *session)
{
    ((struct session *)session)->untouched = false;
    return told(session, postgres_begin_reading(db_of(session)));
}

static int commit(struct store_session *session)
{
    int status = told(session, postgres_commit(db_of(session)));
    session->in_doubt = postgres_in_doubt(db_of(session));
    return status;
}

static void rollback(struct store_session *session)
{
    postgres_rollback(db_of(session));
}

/* A mark at the begin of a transaction costs nothing: to go back to it is to begin again. */
static int mark(struct store_session *session)
{
    struct session *own = (struct session *)session;
    own->mark_is_begin = own->untouched;
    own->untouched = false;
    return own->mark_is_begin ? OK : told(session, postgres_run(own->db, "SAVEPOINT one"));
}

static int back_to_mark(struct store_session *session)
{
    struct session *own = (struct session *)session;
    if (own->mark_is_begin) {
        postgres_rollback(own->db);
        return begin(session);
    }
    return told(session, postgres_run(own->db, "ROLLBACK TO one; RELEASE one"));
}

static int drop_mark(struct store_session *session)
{
    struct session *own = (struct session *)session;
    return own->mark_is_begin ? OK : told(session, postgres_run(own->db, "RELEASE one"));
}

/* Whoever changes a space holds its row until the end of the transaction. Each statement after this
 * one sees what the last holder left. */
static int lock(struct store_session *session, int64_t space)
{
    postgres_ask(db_of(session), "SELECT change FROM forage_space WHERE id = $1 FOR UPDATE");
    postgres_give_int(db_of(session), space);
    return told(session, postgres_finish(db_of(session)));
}

/* ---- spaces ---- */

static int find_space(struct store_session *session, const struct memory_space *space,
                      struct store_space *found)
{
    struct postgres *db = db_of(session);
    *found = (struct store_space){0};
    postgres_ask(db, "SELECT id, change, horizon FROM forage_space WHERE owner = $1 AND name = $2");
    postgres_give_text(db, space->owner);
    postgres_give_text(db, space->name);
    int status = postgres_step(db);
    if (status > 0) {
        *found =
            (struct store_space){postgres_int(db, 0), postgres_int(db, 1), postgres_int(db, 2)};
    }
    postgres_end(db);
    return told(session, status < 0 ? status : OK);
}

static int space_of(struct store_session *session, const struct memory_space *space, bool make,
                    struct store_space *found)
{
    struct postgres *db = db_of(session);
    int status = find_space(session, space, found);
    if (status != OK || found->id != 0 || !make) {
        return status;
    }
    /* Another server may be faster; then its row counts. */
    postgres_ask(db, "INSERT INTO forage_space (owner, name) VALUES ($1, $2) ON CONFLICT DO "
                     "NOTHING");
    postgres_give_text(db, space->owner);
    postgres_give_text(db, space->name);
    status = postgres_finish(db);
    return status == OK ? find_space(session, space, found) : told(session, status);
}

static int stats(struct store_session *session, struct arena *arena, const char *owner,
                 struct memory_stats *stats)
{
    struct postgres *db = db_of(session);
    struct memory_namespace_stats *items =
        arena_alloc(arena, LIMIT_MEMORY_NAMESPACES * sizeof *items);
    *stats = (struct memory_stats){.backend = STORE_POSTGRES.name,
                                   .namespaces = items,
                                   .schema_version = postgres_version(db)};
    if (!items) {
        return ERR_NOMEM;
    }
    postgres_ask(db, "SELECT forage_space.name, owner, count(forage_memory.id),"
                     " count(DISTINCT session), coalesce(sum(octet_length(text)), 0)::bigint,"
                     " coalesce(min(created), 0), coalesce(max(created), 0) FROM forage_space"
                     " LEFT JOIN forage_memory ON forage_memory.space = forage_space.id"
                     " WHERE $1::text IS NULL OR owner IN ($1, '')"
                     " GROUP BY forage_space.id ORDER BY name, owner LIMIT $2");
    postgres_give_text(db, owner);
    postgres_give_int(db, LIMIT_MEMORY_NAMESPACES);
    int status;
    while ((status = postgres_step(db)) > 0 && !arena_failed(arena)) {
        items[stats->namespace_count++] = (struct memory_namespace_stats){
            .name = arena_strdup(arena, postgres_text(db, 0)),
            .owner = arena_strdup(arena, postgres_text(db, 1)),
            .shared = *postgres_text(db, 1) == '\0',
            .memories = postgres_int(db, 2),
            .sessions = postgres_int(db, 3),
            .text_bytes = postgres_int(db, 4),
            .oldest_ms = postgres_int(db, 5),
            .newest_ms = postgres_int(db, 6),
        };
    }
    postgres_end(db);
    return arena_failed(arena) ? ERR_NOMEM : told(session, status);
}

/* ---- rows ---- */

static const char *copy(struct arena *arena, const struct postgres *db, int column)
{
    const char *text = postgres_text(db, column);
    return text ? arena_strdup(arena, text) : NULL;
}

/* The columns of COLUMNS. */
static int read_row(const struct postgres *db, struct arena *arena, struct store_row *row)
{
    *row = (struct store_row){
        .id = postgres_int(db, 0),
        .space = postgres_int(db, 1),
        .change = postgres_int(db, 2),
        .memory = {.key = copy(arena, db, 3),
                   .summary = copy(arena, db, 4),
                   .text = copy(arena, db, 5),
                   .metadata = copy(arena, db, 7),
                   .session = copy(arena, db, 8),
                   .place = postgres_int(db, 9),
                   .role = copy(arena, db, 10),
                   .created_ms = postgres_int(db, 11),
                   .updated_ms = postgres_int(db, 12),
                   .expires_ms = postgres_int(db, 13),
                   .version = postgres_int(db, 14)},
    };
    size_t length;
    const void *digest = postgres_bytes(db, 15, &length);
    if (digest && length == sizeof row->digest) {
        memcpy(row->digest, digest, length);
    }
    int status = store_tags_read(arena, postgres_text(db, 6), &row->memory);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* A text that is no UTF-8 cannot be in the database, so that nothing has it. */
static int nothing_if_invalid(int status, int nothing)
{
    return status == ERR_INVALID ? nothing : status;
}

/* The one row of the statement that was asked; ends it. */
static int take_one(struct store_session *session, struct arena *arena, struct store_row *row)
{
    struct postgres *db = db_of(session);
    int status = nothing_if_invalid(postgres_step(db), 0);
    status = status > 0 ? read_row(db, arena, row) : status == 0 ? ERR_NOTFOUND : status;
    postgres_end(db);
    return told(session, status);
}

/* Every row of the statement that was asked; ends it. */
static int take_all(struct store_session *session, struct arena *arena, store_take take,
                    void *context)
{
    struct postgres *db = db_of(session);
    struct store_row row;
    int status;
    while ((status = nothing_if_invalid(postgres_step(db), OK)) > 0) {
        status = read_row(db, arena, &row);
        if (status == OK) {
            status = take(context, &row);
        }
        if (status != OK) {
            break;
        }
    }
    postgres_end(db);
    return told(session, status);
}

static int get(struct store_session *session, struct arena *arena, int64_t space, const char *key,
               struct store_row *row)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "SELECT " COLUMNS " FROM forage_memory WHERE space = $1 AND key = $2");
    postgres_give_int(db, space);
    postgres_give_text(db, key);
    return take_one(session, arena, row);
}

static int by_id(struct store_session *session, struct arena *arena, int64_t space, int64_t id,
                 struct store_row *row)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "SELECT " COLUMNS " FROM forage_memory WHERE id = $1 AND space = $2");
    postgres_give_int(db, id);
    postgres_give_int(db, space);
    return take_one(session, arena, row);
}

static int by_digest(struct store_session *session, struct arena *arena, int64_t space,
                     const unsigned char digest[SHA256_SIZE], int64_t now_ms, struct store_row *row)
{
    struct postgres *db = db_of(session);
    postgres_ask(db,
                 "SELECT " COLUMNS " FROM forage_memory WHERE space = $1 AND digest = $3 AND " ALIVE
                 " ORDER BY id LIMIT 1");
    postgres_give_int(db, space);
    postgres_give_int(db, now_ms);
    postgres_give_bytes(db, digest, SHA256_SIZE);
    return take_one(session, arena, row);
}

static int last_place(struct store_session *session, int64_t space, const char *name,
                      int64_t *place)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "SELECT coalesce(max(place), -1) FROM forage_memory WHERE space = $1 AND "
                     "session = $2");
    postgres_give_int(db, space);
    postgres_give_text(db, name);
    int status = postgres_step(db);
    *place = status > 0 ? postgres_int(db, 0) : -1;
    postgres_end(db);
    return told(session, status < 0 ? status : OK);
}

static int put(struct store_session *session, struct store_row *row)
{
    static const char INSERT[] =
        NEXT_CHANGE "INSERT INTO forage_memory (space, change, key, summary, text, tags, metadata, "
                    "session, place, role, created, updated, expires, version, digest) SELECT $1, "
                    "moved.change, $2::text, $3::text, $4::text, $5::jsonb, $6::text, $7::text, "
                    "$8::bigint, $9::text, $10::bigint, $11::bigint, $12::bigint, $13::bigint, "
                    "$14::bytea FROM moved RETURNING id, change";
    static const char UPDATE[] =
        NEXT_CHANGE "UPDATE forage_memory SET change = moved.change, key = $2, summary = $3, text "
                    "= $4, tags = $5, metadata = $6, session = $7, place = $8, role = $9, created "
                    "= $10, updated = $11, expires = $12, version = $13, digest = $14 FROM moved "
                    "WHERE space = $1 AND forage_memory.id = $15 RETURNING forage_memory.id, "
                    "forage_memory.change";
    struct postgres *db = db_of(session);
    const struct memory *memory = &row->memory;
    char *tags = NULL;
    int status = store_tags_write(memory, &tags);
    if (status != OK) {
        return status;
    }
    postgres_ask(db, row->id ? UPDATE : INSERT);
    postgres_give_int(db, row->space);
    const char *const texts[] = {memory->key, memory->summary,  memory->text,
                                 tags,        memory->metadata, memory->session};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        postgres_give_text(db, texts[i]);
    }
    postgres_give_int(db, memory->place);
    postgres_give_text(db, memory->role);
    const int64_t numbers[] = {memory->created_ms, memory->updated_ms, memory->expires_ms,
                               memory->version};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        postgres_give_int(db, numbers[i]);
    }
    postgres_give_bytes(db, row->digest, sizeof row->digest);
    if (row->id) {
        postgres_give_int(db, row->id);
    }
    status = postgres_step(db);
    if (status > 0) {
        row->id = postgres_int(db, 0);
        row->change = postgres_int(db, 1);
    }
    postgres_end(db);
    free(tags);
    return told(session, status > 0 ? OK : status == 0 ? ERR_NOTFOUND : status);
}

/* Old removals are forgotten. */
static int forget_removals(struct store_session *session, int64_t space, int64_t horizon)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "WITH forgotten AS (DELETE FROM forage_removed WHERE space = $1 AND change <= "
                     "$2 RETURNING id) UPDATE forage_space SET horizon = $2 WHERE id = $1 AND "
                     "EXISTS (SELECT 1 FROM forgotten)");
    postgres_give_int(db, space);
    postgres_give_int(db, horizon);
    return postgres_finish(db);
}

static int remove_row(struct store_session *session, const struct store_row *row)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, NEXT_CHANGE ", gone AS (DELETE FROM forage_memory WHERE id = $2 AND space = "
                                 "$1) INSERT INTO forage_removed (space, change, id) SELECT $1, "
                                 "change, $2 FROM moved RETURNING change");
    postgres_give_int(db, row->space);
    postgres_give_int(db, row->id);
    int status = postgres_step(db);
    int64_t change = status > 0 ? postgres_int(db, 0) : 0;
    postgres_end(db);
    status = status > 0 ? OK : status == 0 ? ERR_NOTFOUND : status;
    if (status == OK && change > LIMIT_MEMORY_REMOVALS) {
        status = forget_removals(session, row->space, change - LIMIT_MEMORY_REMOVALS);
    }
    return told(session, status);
}

/* ---- walks ---- */

static int neighbours(struct store_session *session, struct arena *arena, int64_t space,
                      const char *name, int64_t place, bool before, size_t count, int64_t now_ms,
                      store_take take, void *context)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, before ? "SELECT " COLUMNS " FROM forage_memory WHERE space = $1 AND " ALIVE
                              " AND session = $3 AND place < $4 ORDER BY place DESC, id DESC "
                              "LIMIT $5"
                            : "SELECT " COLUMNS " FROM forage_memory WHERE space = $1 AND " ALIVE
                              " AND session = $3 AND place > $4 ORDER BY place, id LIMIT $5");
    postgres_give_int(db, space);
    postgres_give_int(db, now_ms);
    postgres_give_text(db, name);
    postgres_give_int(db, place);
    postgres_give_int(db, (int64_t)count);
    return take_all(session, arena, take, context);
}

/* The begin of a key is a range of keys: up to the begin with the last of all characters behind. */
#define LIST_FILTER                                                                                \
    " FROM forage_memory WHERE space = $1 AND " ALIVE " AND ($3::text IS NULL OR (key >= $3 AND "  \
    "key <= $3 || chr(1114111))) AND ($4::bigint = 0 OR created >= $4) AND ($5::bigint = 0 OR "    \
    "created < $5) AND "                                                                           \
    "($6::text IS NULL OR session = $6) AND ($7::text IS NULL OR role = $7) AND ($8::jsonb IS "    \
    "NULL OR tags @> $8)"

static void give_filter(struct postgres *db, int64_t space, const struct memory_filter *filter,
                        int64_t now_ms, const char *tags)
{
    postgres_give_int(db, space);
    postgres_give_int(db, now_ms);
    postgres_give_text(db, filter->prefix);
    postgres_give_int(db, filter->from_ms);
    postgres_give_int(db, filter->until_ms);
    postgres_give_text(db, filter->session);
    postgres_give_text(db, filter->role);
    postgres_give_text(db, tags);
}

static int list(struct store_session *session, struct arena *arena, int64_t space,
                const struct memory_filter *filter, int64_t now_ms, size_t limit, size_t offset,
                size_t most, size_t *total, store_take take, void *context)
{
    struct postgres *db = db_of(session);
    char *tags = NULL;
    int status = store_tags_write(
        &(struct memory){.tags = filter->tags, .tag_count = filter->tag_count}, &tags);
    if (status != OK) {
        return status;
    }
    postgres_ask(db, "SELECT count(*) FROM (SELECT 1" LIST_FILTER " LIMIT $9) AS counted");
    give_filter(db, space, filter, now_ms, tags);
    postgres_give_int(db, (int64_t)most);
    status = nothing_if_invalid(postgres_step(db), 0);
    *total = status > 0 ? (size_t)postgres_int(db, 0) : 0;
    postgres_end(db);
    if (status > 0) {
        postgres_ask(db, "SELECT " COLUMNS LIST_FILTER
                         " ORDER BY created DESC, id DESC LIMIT $9 OFFSET $10");
        give_filter(db, space, filter, now_ms, tags);
        postgres_give_int(db, (int64_t)limit);
        postgres_give_int(db, (int64_t)offset);
        status = take_all(session, arena, take, context);
    }
    free(tags);
    return told(session, status);
}

static int each(struct store_session *session, struct arena *arena, int64_t space,
                const char *after, int64_t now_ms, size_t limit, store_take take, void *context)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "SELECT " COLUMNS " FROM forage_memory WHERE space = $1 AND " ALIVE
                     " AND key > $3 ORDER BY key LIMIT $4");
    postgres_give_int(db, space);
    postgres_give_int(db, now_ms);
    postgres_give_text(db, after);
    postgres_give_int(db, (int64_t)limit);
    return take_all(session, arena, take, context);
}

/* Rows and removals come from one statement: two would see two states of the database, and what
 * happened in between could be missed for ever. A removal has no key. */
static int changes(struct store_session *session, struct arena *arena, int64_t space, int64_t since,
                   size_t limit, store_take take, store_take_removed removed, void *context,
                   int64_t *seen)
{
    struct postgres *db = db_of(session);
    struct store_row row;
    postgres_ask(db, "SELECT " COLUMNS " FROM ((SELECT * FROM forage_memory WHERE space = $1 AND "
                     "change > $2 ORDER BY change LIMIT $3) UNION ALL (SELECT id, space, change, "
                     "NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, NULL FROM "
                     "forage_removed WHERE space = $1 AND change > $2 ORDER BY change LIMIT $3)) "
                     "AS happened ORDER BY change LIMIT $3");
    postgres_give_int(db, space);
    postgres_give_int(db, since);
    postgres_give_int(db, (int64_t)limit);
    *seen = since;
    int status;
    while ((status = postgres_step(db)) > 0) {
        int64_t change = postgres_int(db, 2);
        if (postgres_text(db, 3)) {
            status = read_row(db, arena, &row);
            status = status == OK ? take(context, &row) : status;
        } else {
            status = removed(context, postgres_int(db, 0));
        }
        if (status != OK) {
            break;
        }
        *seen = change;
    }
    postgres_end(db);
    return told(session, status);
}

static int expired(struct store_session *session, struct arena *arena, int64_t now_ms, size_t limit,
                   store_take take, void *context)
{
    struct postgres *db = db_of(session);
    postgres_ask(db, "SELECT " COLUMNS " FROM forage_memory WHERE expires > 0 AND expires <= $1 "
                     "ORDER BY expires LIMIT $2");
    postgres_give_int(db, now_ms);
    postgres_give_int(db, (int64_t)limit);
    return take_all(session, arena, take, context);
}

struct postgres *postgres_store_database(struct store_session *session)
{
    return db_of(session);
}

const struct store_backend STORE_POSTGRES = {
    .name = "postgresql",
    .commits_are_dear = false, /* the server gathers the commits of many connections by itself */
    .most_sessions = most_sessions,
    .connect = connect,
    .disconnect = disconnect,
    .work_for = work_for,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .rollback = rollback,
    .mark = mark,
    .back_to_mark = back_to_mark,
    .drop_mark = drop_mark,
    .lock = lock,
    .space = space_of,
    .stats = stats,
    .get = get,
    .by_id = by_id,
    .by_digest = by_digest,
    .last_place = last_place,
    .put = put,
    .remove = remove_row,
    .neighbours = neighbours,
    .list = list,
    .each = each,
    .changes = changes,
    .expired = expired,
    .scrub = postgres_store_scrub,
    .verify = postgres_store_verify,
    .backup = postgres_store_backup,
};
