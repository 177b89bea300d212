/* The tables of memories and their statements. Texts are compared by their bytes everywhere, as
 * PostgreSQL is asked to ("C"), so that the order of keys is the same in every database. */
#include "memory/store.h"

#include "config/places.h"
#include "core/limits.h"
#include "memory/embeddings.h"
#include "memory/schema.h"
#include "text/json.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                    \
    "id, space, change, key, summary, text, {tags|tags::text}, metadata, session, place, role, "   \
    "created, updated, expires, version, digest"
/* The same of an earlier version, which belongs to the memory of its id, whatever its key is now.
 */
#define VERSION_COLUMNS                                                                            \
    "id, 0, 0, NULL, summary, text, {tags|tags::text}, metadata, session, place, role, created, "  \
    "updated, expires, version, digest"
#define SELECT_ROWS "SELECT " COLUMNS " FROM {memory} WHERE "
#define ALIVE       "(expires = 0 OR expires > ?2)"

static struct db *open_with(struct db_options options, const struct places *places,
                            struct call *call, char *problem, size_t size)
{
    char *path;
    struct db *db = NULL;
    options.schema = &STORE_SCHEMA;
    options.cache_kib = LIMIT_MEMORY_CACHE_KIB;
    options.log_kib = LIMIT_MEMORY_LOG_KIB;
    if (places_database(places, PLACES_MEMORIES, !options.only_looks, &options.url, &path, problem,
                        size)) {
        options.path = path;
        db = db_open(&options, call, problem, size);
    }
    free(path);
    return db;
}

struct db *store_open(const struct places *places, struct call *call, char *problem, size_t size)
{
    /* What is removed is overwritten, not only forgotten. */
    return open_with((struct db_options){.erases = true}, places, call, problem, size);
}

struct db *store_look(const struct places *places, struct call *call, bool alone, char *problem,
                      size_t size)
{
    return open_with((struct db_options){.only_looks = true, .alone = alone}, places, call, problem,
                     size);
}

char *store_file(const struct places *places)
{
    char problem[DB_PROBLEM_SIZE];
    const char *url;
    char *path;
    return places_database(places, PLACES_MEMORIES, false, &url, &path, problem, sizeof problem)
               ? path
               : NULL;
}

/* ---- spaces ---- */

#define WITH_ERAS 6 /* the version of a server's tables from which on they have them */
#define OF_NAME   " FROM {space} WHERE owner = ?1 AND name = ?2"

/* Whether the tables tell one history of the database from another. */
static bool has_eras(const struct db *db)
{
    return db_is_postgres(db) && db_version(db) >= WITH_ERAS;
}

static int find_space(struct db *db, const struct memory_space *space, struct store_space *found)
{
    int64_t numbers[5] = {0};
    bool eras = has_eras(db);
    int status =
        db_numbers(db_ask(db,
                          eras ? "SELECT id, change, horizon, lost_after, lost_until" OF_NAME
                               : "SELECT id, change, horizon" OF_NAME,
                          DB_TEXT(space->owner), DB_TEXT(space->name)),
                   numbers, eras ? 5 : 3);
    *found = (struct store_space){.id = numbers[0],
                                  .change = numbers[1],
                                  .horizon = numbers[2],
                                  .lost_after = numbers[3],
                                  .lost_until = numbers[4]};
    return status < 0 ? status : OK;
}

int store_space_of(struct db *db, const struct memory_space *space, bool make,
                   struct store_space *found)
{
    int status = find_space(db, space, found);
    if (status != OK || found->id != 0 || !make) {
        return status;
    }
    /* Another server may be faster; then its row counts. */
    status = db_do(db,
                   "INSERT INTO {space} (owner, name) VALUES (?1, ''), (?1, ?2) ON CONFLICT DO "
                   "NOTHING",
                   DB_TEXT(space->owner), DB_TEXT(space->name));
    return status == OK ? find_space(db, space, found) : status;
}

/* Whoever changes a space holds its row and its owner's until the end of the transaction
 * (PostgreSQL), or the whole file (SQLite). */
int store_lock(struct db *db, struct store_space *space)
{
    static const char LOCK[] =
        "SELECT {space}.change, owned.bytes, {1|coalesce({space}.era = forage_era(), false)} FROM "
        "{space} AS owned JOIN {space} ON {space}.owner = owned.owner WHERE {space}.id = ?1 AND "
        "owned.name = ''{| FOR UPDATE}";
    int64_t numbers[3];
    int status = db_numbers(db_ask(db, LOCK, DB_INT(space->id)), numbers, 3);
    if (status == 0) { /* the owner's row is lost, which a check tells and repairs */
        status = db_do(db,
                       "INSERT INTO {space} (owner, name) SELECT owner, '' FROM {space} WHERE id = "
                       "?1 ON CONFLICT DO NOTHING",
                       DB_INT(space->id));
        status =
            status == OK ? db_numbers(db_ask(db, LOCK, DB_INT(space->id)), numbers, 3) : status;
    }
    space->change = numbers[0];
    space->bytes = numbers[1];
    if (status > 0 && numbers[2] == 0) {
        status = store_begin_era(db, space);
    }
    return status < 0 ? status : OK;
}

int store_spaces(struct db *db, struct arena *arena, const char *owner,
                 const struct memory_space *after, size_t limit, struct store_named_space *spaces,
                 size_t *count)
{
    struct db_rows *rows =
        db_ask(db,
               "SELECT id, owner, name FROM {space} WHERE (CAST(?1 AS TEXT) IS NULL OR owner IN "
               "(?1, '')) AND (owner, name) > (?2, ?3) AND name <> '' ORDER BY owner, name LIMIT "
               "?4",
               DB_TEXT(owner), DB_TEXT(after->owner), DB_TEXT(after->name), DB_INT((int64_t)limit));
    db_at_most(rows, limit);
    int status;
    *count = 0;
    while ((status = db_step(rows)) > 0 && !arena_failed(arena)) {
        int order = strcmp(db_words(rows, 1), after->owner);
        order = order == 0 ? strcmp(db_words(rows, 2), after->name) : order;
        if (order <= 0) {
            status = db_goes_back(rows);
            break;
        }
        spaces[(*count)++] =
            (struct store_named_space){.id = db_int(rows, 0),
                                       .space = {arena_strdup(arena, db_words(rows, 1)),
                                                 arena_strdup(arena, db_words(rows, 2))}};
    }
    db_end(rows);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

int store_space_names(struct db *db, struct arena *arena, int64_t id, struct memory_space *names)
{
    struct db_rows *rows = db_ask(db, "SELECT owner, name FROM {space} WHERE id = ?1", DB_INT(id));
    int status = db_step(rows);
    if (status > 0) {
        *names = (struct memory_space){arena_strdup(arena, db_words(rows, 0)),
                                       arena_strdup(arena, db_words(rows, 1))};
    }
    db_end(rows);
    if (arena_failed(arena)) {
        return ERR_NOMEM;
    }
    return status > 0 ? OK : status == 0 ? ERR_NOTFOUND : status;
}

/* Both parts are counted in an index, without a look at the memories. */
int store_count(struct db *db, int64_t space, int64_t now_ms, int64_t *count)
{
    int status = db_numbers(
        db_ask(db,
               "SELECT (SELECT count(*) FROM {memory} WHERE space = ?1) - (SELECT count(*) FROM "
               "{memory} WHERE space = ?1 AND expires > 0 AND expires <= ?2)",
               DB_INT(space), DB_INT(now_ms)),
        count, 1);
    return status < 0 ? status : OK;
}

static int read_stats(struct db_rows *rows, struct arena *arena, struct memory_stats *stats,
                      struct memory_namespace_stats *items)
{
    int status;
    while ((status = db_step(rows)) > 0 && !arena_failed(arena)) {
        items[stats->namespace_count++] = (struct memory_namespace_stats){
            .name = arena_strdup(arena, db_words(rows, 0)),
            .owner = arena_strdup(arena, db_words(rows, 1)),
            .shared = *db_words(rows, 1) == '\0',
            .memories = db_int(rows, 2),
            .sessions = db_int(rows, 3),
            .text_bytes = db_int(rows, 4),
            .oldest_ms = db_int(rows, 5),
            .newest_ms = db_int(rows, 6),
        };
    }
    db_end(rows);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

static int read_owned(struct db *db, const char *owner, struct memory_stats *stats)
{
    struct db_rows *rows =
        db_ask(db, "SELECT owner, bytes FROM {space} WHERE owner IN (?1, '') AND name = ''",
               DB_TEXT(owner));
    int status;
    while ((status = db_step(rows)) > 0) {
        *(*db_words(rows, 0) ? &stats->used_bytes : &stats->shared_bytes) = db_int(rows, 1);
    }
    db_end(rows);
    return status;
}

int store_stats(struct db *db, struct arena *arena, const char *owner, struct memory_stats *stats)
{
    struct memory_namespace_stats *items =
        arena_alloc(arena, LIMIT_MEMORY_NAMESPACES * sizeof *items);
    *stats = (struct memory_stats){
        .backend = db_engine_name(db), .namespaces = items, .schema_version = db_version(db)};
    if (!items) {
        return ERR_NOMEM;
    }
    struct db_rows *rows =
        db_ask(db,
               "SELECT spaces.name, owner, count(memories.id), count(DISTINCT session),"
               " CAST(coalesce(sum({length(CAST(text AS BLOB))|octet_length(text)}), 0) AS BIGINT),"
               " coalesce(min(created), 0), coalesce(max(created), 0) FROM {space} AS spaces"
               " LEFT JOIN {memory} AS memories ON memories.space = spaces.id"
               " WHERE (CAST(?1 AS TEXT) IS NULL OR owner IN (?1, '')) AND spaces.name <> ''"
               " GROUP BY spaces.id ORDER BY spaces.name, owner LIMIT ?2",
               DB_TEXT(owner), DB_INT(LIMIT_MEMORY_NAMESPACES));
    int status = read_stats(db_at_most(rows, LIMIT_MEMORY_NAMESPACES), arena, stats, items);
    if (status == OK && owner) {
        status = read_owned(db, owner, stats);
    }
    if (status != OK || db_is_postgres(db)) {
        return status;
    }
    status = db_numbers(
        db_query(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", NULL,
                 0),
        &stats->file_bytes, 1);
    return status < 0 ? status : OK;
}

/* ---- rows ---- */

void store_digest(const char *text, unsigned char digest[SHA256_SIZE])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, strlen(text));
    sha256_end(&sha, digest);
}

/* Tags as the JSON that their column holds; to be freed. */
static int write_tags(const char *const *tags, size_t count, char **text)
{
    *text = NULL;
    if (count == 0) {
        return OK;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    for (size_t i = 0; list && i < count; i++) {
        yyjson_mut_arr_add_str(doc, list, tags[i]);
    }
    *text = list ? yyjson_mut_val_write(list, 0, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return *text ? OK : ERR_NOMEM;
}

static int read_tags(struct arena *arena, const char *text, struct store_row *row)
{
    struct memory *memory = &row->memory;
    if (!text) {
        return OK;
    }
    yyjson_val *list = yyjson_doc_get_root(json_parse(arena, text, strlen(text), NULL));
    row->unreadable_tags = yyjson_is_arr(list) ? NULL : arena_strdup(arena, text);
    const char **tags = arena_alloc(arena, (yyjson_arr_size(list) + 1) * sizeof *tags);
    size_t index, max;
    yyjson_val *tag;
    if (!tags) {
        return ERR_NOMEM;
    }
    yyjson_arr_foreach(list, index, max, tag)
    {
        if (yyjson_is_str(tag)) {
            tags[memory->tag_count++] = yyjson_get_str(tag);
        }
    }
    memory->tags = tags;
    return OK;
}

static const char *copy(struct arena *arena, const struct db_rows *rows, int column)
{
    const char *text = db_text(rows, column);
    return text ? arena_strdup(arena, text) : NULL;
}

/* FNV-1a. */
static uint32_t mix(uint32_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    }
    return hash;
}

uint32_t store_face(const void *digest, size_t length, const char *key, const char *tags)
{
    uint32_t hash = mix(2166136261u, digest, length);
    hash = mix(hash, key, strlen(key) + 1);
    return tags ? mix(hash, tags, strlen(tags)) : hash;
}

/* The columns of COLUMNS. */
static int read_row(const struct db_rows *rows, struct arena *arena, struct store_row *row)
{
    *row = (struct store_row){
        .id = db_int(rows, 0),
        .space = db_int(rows, 1),
        .change = db_int(rows, 2),
        .memory = {.key = arena_strdup(arena, db_words(rows, 3)),
                   .summary = arena_strdup(arena, db_words(rows, 4)),
                   .text = arena_strdup(arena, db_words(rows, 5)),
                   .metadata = copy(arena, rows, 7),
                   .session = copy(arena, rows, 8),
                   .place = db_int(rows, 9),
                   .role = copy(arena, rows, 10),
                   .created_ms = db_int(rows, 11),
                   .updated_ms = db_int(rows, 12),
                   .expires_ms = db_int(rows, 13),
                   .version = db_int(rows, 14)},
    };
    size_t length;
    const void *digest = db_bytes(rows, 15, &length);
    if (digest && length == sizeof row->digest) {
        memcpy(row->digest, digest, length);
    }
    row->face = store_face(row->digest, sizeof row->digest, db_words(rows, 3), db_text(rows, 6));
    int status = read_tags(arena, db_text(rows, 6), row);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* Makes the texts of a memory fit to be shown. Whether that was needed. */
static bool repair_texts(struct arena *arena, struct memory *memory)
{
    const char **TEXTS[] = {&memory->text, &memory->summary, &memory->session, &memory->role,
                            &memory->key};
    bool repaired = false;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        const char *text = *TEXTS[i];
        if (text && !text_is_utf8(text, strlen(text))) {
            char *copy = arena_strdup(arena, text);
            if (copy) {
                text_repair(copy);
            }
            *TEXTS[i] = copy;
            repaired = true;
        }
    }
    return repaired;
}

static bool is_object(struct arena *arena, const char *json)
{
    return yyjson_is_obj(yyjson_doc_get_root(json_parse(arena, json, strlen(json), NULL)));
}

void store_mark(struct arena *arena, struct store_row *row)
{
    struct memory *memory = &row->memory;
    unsigned char digest[SHA256_SIZE];
    memory->text = memory->text ? memory->text : "";
    memory->summary = memory->summary ? memory->summary : "";
    store_digest(memory->text, digest);
    bool no_text = repair_texts(arena, memory);
    memory->damage =
        memcmp(digest, row->digest, sizeof digest) != 0 ? "its text is not what was stored"
        : no_text                                       ? "it holds bytes that are no text"
        : row->unreadable_tags                          ? "its tags cannot be read"
        : memory->metadata && !is_object(arena, memory->metadata) ? "its metadata cannot be read"
                                                                  : NULL;
}

/* A text that is no UTF-8 cannot be in a server's database, so that nothing has it. */
static int next(struct db_rows *rows)
{
    int status = db_step(rows);
    return status == ERR_INVALID ? 0 : status;
}

/* The one row of a statement; ends it. */
static int take_one(struct db_rows *rows, struct arena *arena, struct store_row *row)
{
    int status = next(rows);
    status = status > 0 ? read_row(rows, arena, row) : status == 0 ? ERR_NOTFOUND : status;
    db_end(rows);
    return status;
}

/* Every row of a statement, of which there are so many at most, with keys after this one (NULL:
 * with any); ends it. */
static int take_after(struct db_rows *rows, const char *after, size_t most, struct arena *arena,
                      store_take take, void *context)
{
    struct store_row row;
    int status;
    db_at_most(rows, most);
    while ((status = next(rows)) > 0) {
        status = read_row(rows, arena, &row);
        if (status == OK && after && strcmp(row.memory.key, after) <= 0) {
            status = db_goes_back(rows);
        }
        if (status == OK) {
            status = take(context, &row);
        }
        if (status != OK) {
            break;
        }
    }
    db_end(rows);
    return status;
}

static int take_all(struct db_rows *rows, size_t most, struct arena *arena, store_take take,
                    void *context)
{
    return take_after(rows, NULL, most, arena, take, context);
}

int store_get(struct db *db, struct arena *arena, int64_t space, const char *key,
              struct store_row *row)
{
    return take_one(db_ask(db, SELECT_ROWS "space = ?1 AND key = ?2", DB_INT(space), DB_TEXT(key)),
                    arena, row);
}

int store_by_id(struct db *db, struct arena *arena, int64_t space, int64_t id,
                struct store_row *row)
{
    return take_one(db_ask(db, SELECT_ROWS "id = ?1 AND space = ?2", DB_INT(id), DB_INT(space)),
                    arena, row);
}

int store_by_digest(struct db *db, struct arena *arena, int64_t space,
                    const unsigned char digest[SHA256_SIZE], int64_t now_ms, struct store_row *row)
{
    return take_one(db_ask(db,
                           SELECT_ROWS
                           "space = ?1 AND {substr(digest, 1, 8) = substr(?3, 1, 8) AND |}digest "
                           "= ?3 AND " ALIVE " ORDER BY id LIMIT 1",
                           DB_INT(space), DB_INT(now_ms), DB_BYTES(digest, SHA256_SIZE)),
                    arena, row);
}

int store_version(struct db *db, struct arena *arena, const struct store_row *current,
                  int64_t version, struct store_row *row)
{
    int status = take_one(db_ask(db,
                                 "SELECT " VERSION_COLUMNS
                                 " FROM {memory_version} WHERE id = ?1 AND version = ?2",
                                 DB_INT(current->id), DB_INT(version)),
                          arena, row);
    if (status == OK) {
        row->space = current->space;
        row->memory.key = current->memory.key;
    }
    return status;
}

int store_versions(struct db *db, struct arena *arena, int64_t id, store_take take, void *context)
{
    return take_all(db_ask(db,
                           "SELECT " VERSION_COLUMNS
                           " FROM {memory_version} WHERE id = ?1 ORDER BY version DESC",
                           DB_INT(id)),
                    LIMIT_DB_DROPPED_ROWS, arena, take, context);
}

int store_last_place(struct db *db, int64_t space, const char *session, int64_t *place)
{
    int status = db_numbers(db_ask(db,
                                   "SELECT coalesce(max(place), -1) FROM {memory} WHERE space = ?1 "
                                   "AND session = ?2",
                                   DB_INT(space), DB_TEXT(session)),
                            place, 1);
    return status < 0 ? status : OK;
}

/* A server is asked once for all of a change, since every question is a way there and back; a file
 * is asked for one thing after the other. Whatever is written or dropped says how many bytes that
 * is; the owner's row follows at the end of the transaction (store_settle), once for all of them.
 */
#define MOVE_SPACE "UPDATE {space} SET change = ?2 WHERE id = ?1"
#define DELETE_ROW                                                                                 \
    "DELETE FROM {memory} WHERE id = ?3 AND space = ?1 RETURNING " STORE_MEMORY_BYTES("") " AS n"
#define DROP(ID)    "DELETE FROM {memory_version} WHERE id = " ID
#define SAY_VERSION " RETURNING " STORE_VERSION_BYTES("") " AS n"
#define KEPT                                                                                       \
    "id, version, summary, text, tags, metadata, session, place, role, created, updated, "         \
    "expires, digest"
#define KEEP(ID)                                                                                   \
    "INSERT INTO {memory_version} (" KEPT ") SELECT " KEPT " FROM {memory} WHERE id = " ID         \
    " ON CONFLICT DO NOTHING" SAY_VERSION
#define TRIM(ID, MOST)                                                                             \
    DROP(ID)                                                                                       \
    " AND version NOT IN (SELECT version FROM {memory_version} WHERE id = " ID                     \
    " ORDER BY version DESC LIMIT " MOST ")" SAY_VERSION
#define SIZE_OF(ID) "SELECT " STORE_MEMORY_BYTES("") " AS n FROM {memory} WHERE id = " ID

/* For a server: all parts in one statement, which says the id and the bytes that come of it. */
#define SUM(PART) "coalesce((SELECT sum(n) FROM " PART "), 0)"
#define TOGETHER(PARTS, CHANGE, BYTES)                                                             \
    "{|WITH moved AS (" MOVE_SPACE ")" PARTS ", written AS (}" CHANGE "{|) SELECT id, CAST(" BYTES \
    " AS BIGINT) FROM written}"
#define SAY_MEMORY " RETURNING id, " STORE_MEMORY_BYTES("") " AS n"
#define INSERT_ROW                                                                                 \
    "INSERT INTO {memory} ({id, |}space, change, key, summary, text, tags, metadata, session, "    \
    "place, role, created, updated, expires, version, digest) VALUES ({(?1 << 36) + ?2, |}?1, "    \
    "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)" SAY_MEMORY
#define UPDATE_ROW                                                                                 \
    "UPDATE {memory} SET change = ?2, key = ?3, summary = ?4, text = ?5, tags = ?6, metadata = "   \
    "?7, session = ?8, place = ?9, role = ?10, created = ?11, updated = ?12, expires = ?13, "      \
    "version = ?14, digest = ?15 WHERE space = ?1 AND id = ?16" SAY_MEMORY
#define OLD "(" SIZE_OF("?16") ")" /* as the statement finds it */

static const char PUT_NEW[] = TOGETHER("", INSERT_ROW, "n");
static const char PUT_RENAMED[] = TOGETHER(
    ", unmade AS (" EMBEDDINGS_DROP_OLD("?16", "?15", "?3", "?6") ")", UPDATE_ROW, "n - " OLD);
static const char PUT_OVER[] = TOGETHER(
    ", unmade AS (" EMBEDDINGS_DROP_OLD("?16", "?15", "?3", "?6") "), dropped AS (" DROP("?16")
        SAY_VERSION ")",
    UPDATE_ROW, "n - " OLD " - " SUM("dropped"));
static const char PUT_KEEPING[] =
    TOGETHER(", unmade AS (" EMBEDDINGS_DROP_OLD("?16", "?15", "?3", "?6") "), kept AS (" KEEP(
                 "?16") "), trimmed AS (" TRIM("?16", "?17") ")",
             UPDATE_ROW, "n - " OLD " + " SUM("kept") " - " SUM("trimmed"));
static const char REMOVE[] = "{|WITH moved AS (" MOVE_SPACE "), dropped AS (" DROP("?3") SAY_VERSION
    "), unmade AS (" EMBEDDINGS_DROP(
        "?3") "), gone AS (" DELETE_ROW
              ") }INSERT INTO {removed} (space, change, id) VALUES (?1, ?2, ?3)"
              "{| RETURNING CAST(-" SUM("dropped") " - " SUM("gone") " AS BIGINT)}";

static int move_file_space(struct db *db, const struct store_space *space)
{
    return db_is_postgres(db) ? OK
                              : db_do(db, MOVE_SPACE, DB_INT(space->id), DB_INT(space->change));
}

/* Adds the first numbers of all rows of a statement, `sign` times each, and ends it. */
static int add_up(struct db_rows *rows, int sign, int64_t *sum)
{
    int status;
    while ((status = db_step(rows)) > 0) {
        *sum += sign * db_int(rows, 0);
    }
    db_end(rows);
    return status;
}

static void note_bytes(struct store_space *space, int64_t grown)
{
    space->uncounted += grown;
    space->bytes += grown;
}

int store_settle(struct db *db, struct store_space *space)
{
    int64_t grown = space->uncounted;
    space->uncounted = 0;
    return grown == 0 ? OK
                      : db_do(db,
                              "UPDATE {space} SET bytes = bytes + ?2 WHERE name = '' AND owner = "
                              "(SELECT owner FROM {space} WHERE id = ?1)",
                              DB_INT(space->id), DB_INT(grown));
}

/* Keeps the row as it is now as an earlier version, and the last `versions` of these; `grown` gets
 * the bytes that the change adds before the row itself is written. A server does all of it with the
 * change. */
static int keep_file_version(struct db *db, int64_t id, int versions, int64_t *grown)
{
    if (db_is_postgres(db)) {
        return OK;
    }
    int status = add_up(db_ask(db, SIZE_OF("?1"), DB_INT(id)), -1, grown);
    if (status != OK || versions == STORE_ALL_VERSIONS) {
        return status;
    }
    if (versions == 0) {
        return add_up(db_ask(db, DROP("?1") SAY_VERSION, DB_INT(id)), -1, grown);
    }
    status = add_up(db_ask(db, KEEP("?1"), DB_INT(id)), 1, grown);
    return status == OK
               ? add_up(db_ask(db, TRIM("?1", "?2"), DB_INT(id), DB_INT(versions)), -1, grown)
               : status;
}

int store_put(struct db *db, struct store_space *space, struct store_row *row, int versions)
{
    const struct memory *memory = &row->memory;
    char *tags;
    int64_t grown = 0;
    row->change = ++space->change;
    int status = move_file_space(db, space);
    if (status == OK && row->id) {
        status = keep_file_version(db, row->id, versions, &grown);
    }
    if (status == OK) {
        status = write_tags(memory->tags, memory->tag_count, &tags);
    }
    if (status != OK) {
        return status;
    }
    const char *stored_tags = tags ? tags : row->unreadable_tags;
    if (row->id && !db_is_postgres(db)) {
        status = db_do(db, EMBEDDINGS_DROP_OLD("?1", "?2", "?3", "?4"), DB_INT(row->id),
                       DB_BYTES(row->digest, sizeof row->digest), DB_TEXT(memory->key),
                       DB_TEXT(stored_tags));
    }
    struct db_value values[17] = {
        DB_INT(space->id),
        DB_INT(row->change),
        DB_TEXT(memory->key),
        DB_TEXT(memory->summary),
        DB_TEXT(memory->text),
        DB_TEXT(stored_tags),
        DB_TEXT(memory->metadata),
        DB_TEXT(memory->session),
        DB_INT(memory->place),
        DB_TEXT(memory->role),
        DB_INT(memory->created_ms),
        DB_INT(memory->updated_ms),
        DB_INT(memory->expires_ms),
        DB_INT(memory->version),
        DB_BYTES(row->digest, sizeof row->digest),
    };
    size_t count = 15;
    bool keeps = versions > 0 && db_is_postgres(db);
    const char *sql = !row->id                         ? PUT_NEW
                      : versions == STORE_ALL_VERSIONS ? PUT_RENAMED
                      : keeps                          ? PUT_KEEPING
                                                       : PUT_OVER;
    if (row->id) {
        values[count++] = DB_INT(row->id);
    }
    if (keeps) { /* a server trims what was there before this one came to it */
        values[count++] = DB_INT(versions - 1);
    }
    int64_t written[2];
    status = status == OK ? db_numbers(db_query(db, sql, values, count), written, 2) : status;
    free(tags);
    if (status <= 0) {
        return status == 0 ? ERR_NOTFOUND : status;
    }
    row->id = written[0];
    note_bytes(space, grown + written[1]);
    return OK;
}

/* Old removals are forgotten. */
static int forget_removals(struct db *db, int64_t space, int64_t horizon)
{
    int status = db_do(db,
                       "UPDATE {space} SET horizon = ?2 WHERE id = ?1 AND EXISTS (SELECT 1 FROM "
                       "{removed} WHERE space = ?1 AND change <= ?2)",
                       DB_INT(space), DB_INT(horizon));
    return status != OK ? status
                        : db_do(db, "DELETE FROM {removed} WHERE space = ?1 AND change <= ?2",
                                DB_INT(space), DB_INT(horizon));
}

int store_remove(struct db *db, struct store_space *space, const struct store_row *row)
{
    struct db_value values[] = {DB_INT(space->id), DB_INT(++space->change), DB_INT(row->id)};
    int64_t grown = 0;
    int status = move_file_space(db, space);
    if (status == OK && !db_is_postgres(db)) {
        status = add_up(db_query(db, DELETE_ROW, values, 3), -1, &grown);
        status = status == OK
                     ? add_up(db_ask(db, DROP("?1") SAY_VERSION, DB_INT(row->id)), -1, &grown)
                     : status;
        status = status == OK ? db_do(db, EMBEDDINGS_DROP("?1"), DB_INT(row->id)) : status;
    }
    if (status == OK) {
        status = add_up(db_query(db, REMOVE, values, 3), 1, &grown);
    }
    note_bytes(space, grown);
    if (status == OK && space->change > LIMIT_MEMORY_REMOVALS) {
        status = forget_removals(db, space->id, space->change - LIMIT_MEMORY_REMOVALS);
    }
    return status;
}

/* ---- walks ---- */

int store_neighbours(struct db *db, struct arena *arena, int64_t space, const struct memory *memory,
                     bool before, size_t count, int64_t now_ms, store_take take, void *context)
{
    return take_all(
        db_ask(db,
               before ? SELECT_ROWS "space = ?1 AND " ALIVE " AND session = ?3 AND place < ?4 "
                                    "ORDER BY place DESC, id DESC LIMIT ?5"
                      : SELECT_ROWS "space = ?1 AND " ALIVE " AND session = ?3 AND place > ?4 "
                                    "ORDER BY place, id LIMIT ?5",
               DB_INT(space), DB_INT(now_ms), DB_TEXT(memory->session), DB_INT(memory->place),
               DB_INT((int64_t)count)),
        count, arena, take, context);
}

/* The begin of a key is a range of keys: up to the begin with the last of all characters behind. */
#define PREFIX "key >= ?3 AND key <= ?3 || {char|chr}(1114111)"
/* SQLite chooses its index by the conditions that stand by themselves (FIRST); it cannot use one
 * for `+created`. */
#define TIMES       "created >= ?4 AND created < ?5"
#define OTHER_TIMES " AND {+|}created >= ?4 AND {+|}created < ?5"
#define LIST_FILTER(FIRST)                                                                         \
    " FROM {memory} WHERE space = ?1 AND " FIRST " AND " ALIVE                                     \
    " AND (CAST(?3 AS TEXT) IS NULL OR (" PREFIX ")) AND (CAST(?6 AS TEXT) IS NULL OR session = "  \
    "?6) AND (CAST(?7 AS TEXT) IS NULL OR role = ?7) AND {(?8 IS NULL OR NOT EXISTS (SELECT 1 "    \
    "FROM json_each(?8) AS wanted WHERE wanted.value NOT IN (SELECT value FROM "                   \
    "json_each(memory.tags))))|(?8::jsonb IS NULL OR tags @> ?8)}"
#define LIST(FIRST)                                                                                \
    {                                                                                              \
        "SELECT count(*) FROM (SELECT 1" LIST_FILTER(FIRST) " LIMIT ?9) AS counted",               \
            "SELECT " COLUMNS LIST_FILTER(                                                         \
                FIRST) " ORDER BY created DESC, id DESC LIMIT ?9 OFFSET ?10"                       \
    }

enum list_kind { LIST_BY_TIME, LIST_BY_PREFIX, LIST_BY_SESSION };
static const struct {
    const char *count;
    const char *read;
} LISTS[] = {
    [LIST_BY_TIME] = LIST(TIMES),
    [LIST_BY_PREFIX] = LIST(PREFIX OTHER_TIMES),
    [LIST_BY_SESSION] = LIST("session = ?6" OTHER_TIMES),
};

int store_list(struct db *db, struct arena *arena, int64_t space,
               const struct memory_filter *filter, int64_t now_ms, size_t limit, size_t offset,
               size_t most, size_t *total, store_take take, void *context)
{
    char *tags;
    int64_t counted = 0;
    int status = write_tags(filter->tags, filter->tag_count, &tags);
    if (status != OK) {
        return status;
    }
    enum list_kind kind = filter->prefix    ? LIST_BY_PREFIX
                          : filter->session ? LIST_BY_SESSION
                                            : LIST_BY_TIME;
    struct db_value values[] = {
        DB_INT(space),
        DB_INT(now_ms),
        DB_TEXT(filter->prefix),
        DB_INT(filter->from_ms ? filter->from_ms : INT64_MIN),
        DB_INT(filter->until_ms ? filter->until_ms : INT64_MAX),
        DB_TEXT(filter->session),
        DB_TEXT(filter->role),
        DB_TEXT(tags),
        DB_INT((int64_t)most),
        DB_INT((int64_t)offset),
    };
    status = db_numbers(db_query(db, LISTS[kind].count, values, 9), &counted, 1);
    *total = (size_t)counted;
    if (status > 0) {
        values[8] = DB_INT((int64_t)limit);
        status = take_all(db_query(db, LISTS[kind].read, values, 10), limit, arena, take, context);
    }
    free(tags);
    return status == ERR_INVALID ? OK : status;
}

int store_each(struct db *db, struct arena *arena, int64_t space, const char *after, int64_t now_ms,
               size_t limit, store_take take, void *context)
{
    return take_after(
        db_ask(db, SELECT_ROWS "space = ?1 AND " ALIVE " AND key > ?3 ORDER BY key LIMIT ?4",
               DB_INT(space), DB_INT(now_ms), DB_TEXT(after), DB_INT((int64_t)limit)),
        after, limit, arena, take, context);
}

/* Rows and removals come from one statement: two would see two states of the database, and what
 * happened in between could be missed for ever. A removal has no key. A server sorts what its parts
 * leave; a file merges them, and would sort if they were cut. */
#define SINCE "space = ?1 AND change > ?2{| ORDER BY change LIMIT ?3)}"

int store_changes(struct db *db, struct arena *arena, int64_t space, int64_t since, size_t limit,
                  store_take take, store_take_removed removed, void *context, int64_t *seen)
{
    struct store_row row;
    struct db_rows *rows =
        db_ask(db,
               "{|(}" SELECT_ROWS SINCE " UNION ALL {|(}SELECT id, space, change, NULL, NULL, "
               "NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, NULL FROM {removed} WHERE " SINCE
               " ORDER BY change LIMIT ?3",
               DB_INT(space), DB_INT(since), DB_INT((int64_t)limit));
    db_at_most(rows, limit);
    *seen = since;
    int status;
    while ((status = db_step(rows)) > 0) {
        int64_t change = db_int(rows, 2);
        if (change <= since) {
            status = db_goes_back(rows);
        } else if (db_text(rows, 3)) {
            status = read_row(rows, arena, &row);
            status = status == OK ? take(context, &row) : status;
        } else {
            status = removed(context, db_int(rows, 0));
        }
        if (status != OK) {
            break;
        }
        *seen = change;
    }
    db_end(rows);
    return status;
}

int store_expired(struct db *db, struct arena *arena, int64_t now_ms, size_t limit, store_take take,
                  void *context)
{
    return take_all(db_ask(db,
                           SELECT_ROWS "expires > 0 AND expires <= ?1 ORDER BY expires LIMIT ?2",
                           DB_INT(now_ms), DB_INT((int64_t)limit)),
                    limit, arena, take, context);
}

/* ---- every row ---- */

/* A server compares digests by itself; metadata it cannot judge. */
#define SUSPECT                 "digest <> sha256(convert_to(text, 'UTF8')) OR metadata IS NOT NULL"
#define GONE                    "space NOT IN (SELECT id FROM {space})"
#define OF_SPACE(COLUMN, SPACE) "(SELECT " COLUMN " FROM {space} WHERE {space}.id = " SPACE ")"
#define OF_MEMORY(COLUMN)                                                                          \
    "(SELECT " COLUMN " FROM {memory} WHERE {memory}.id = {memory_version}.id)"

/* The columns of a row, then its owner, namespace and key. */
static const char AUDIT_MEMORIES[] =
    "SELECT " COLUMNS ", " OF_SPACE("owner", "{memory}.space") ", " OF_SPACE(
        "name", "{memory}.space") ", key FROM {memory}{| WHERE " SUSPECT " OR " GONE
                                  " ORDER BY id}";
static const char AUDIT_VERSIONS[] =
    "SELECT " VERSION_COLUMNS ", " OF_SPACE("owner", OF_MEMORY("space")) ", " OF_SPACE(
        "name",
        OF_MEMORY("space")) ", " OF_MEMORY("key") " FROM {memory_version} WHERE id IN "
                                                  "(SELECT id FROM {memory}){| AND (" SUSPECT
                                                  ") ORDER BY id, version}";

int store_audit(struct db *db, enum store_audit what, int64_t *total, store_take_any take,
                void *context)
{
    struct arena *arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    int status = arena ? OK : ERR_NOMEM;
    struct db_rows *rows =
        status == OK
            ? db_query(db, what == STORE_MEMORIES ? AUDIT_MEMORIES : AUDIT_VERSIONS, NULL, 0)
            : NULL;
    while (status == OK && (status = db_step(rows)) > 0) {
        struct store_row row;
        struct memory_space space = {db_text(rows, 16), db_text(rows, 17)};
        status = read_row(rows, arena, &row);
        row.memory.key = copy(arena, rows, 18);
        if (status == OK) {
            store_mark(arena, &row);
            status = take(context, &row, &space);
        }
        if (++*total % 10000 == 0) {
            call_progress(db_call(db), (double)*total, 0, "%lld memories checked",
                          (long long)*total);
        }
        arena_reset(arena);
    }
    db_end(rows);
    arena_free(arena);
    return status;
}
