/* The tables of memories, and every statement that touches them, in SQLite or PostgreSQL. What a
 * change makes of what is there is decided above (rules.h); the connections come from below
 * (db/db.h), and each function works on the one that it is given. Rows live in the arena that is
 * given. Functions return a status; the words for ERR_IO are in db_problem().
 *
 * Each space counts its changes: a change raises the counter in its own transaction, under a lock
 * that makes the order of commits the order of numbers (store_lock). A row carries the number of
 * the change that wrote it; a removal leaves its number and the row's id, and nothing of its
 * content. So whoever remembers a number can ask for everything that happened since
 * (store_changes).
 *
 * A PostgreSQL server that fails may take its last changes with it, where the one that takes over
 * had not got them yet. So that their numbers are not given again, whoever first writes to a space
 * after that leaves a gap, and the space's row says which numbers are lost (store_lost).
 *
 * Every page of a file that a change touches is written when it commits, so a new memory touches
 * few. The bytes that an owner's memories take are in the table of its spaces, in a row without a
 * name, mostly on the page on which the space's counter is. And in a file the id of a memory is
 * made of its space and the number of the change that added it, not by a counter of its own. */
#ifndef FORAGE_MEMORY_STORE_H
#define FORAGE_MEMORY_STORE_H

#include "core/sha256.h"
#include "db/db.h"
#include "index/manifest.h"
#include "memory/memory.h"

/* What vectors are made of, in one number: another one where the text, the key or the tags are
 * others. Tags as the database has them, NULL: none. */
uint32_t store_face(const void *digest, size_t length, const char *key, const char *tags);

/* A memory as it is stored. */
struct store_row {
    int64_t id; /* never used twice */
    int64_t space;
    int64_t change;
    struct memory memory;
    unsigned char digest[SHA256_SIZE]; /* of the text, when it was given */
    uint32_t face;                     /* as of store_face(); where it was read */
    const char *unreadable_tags;       /* what is stored as tags and is no list; NULL: nothing */
};

/* What is known of a space. */
struct store_space {
    int64_t id;      /* 0: there is none yet */
    int64_t change;  /* the number of its last change */
    int64_t horizon; /* removals up to this number are no longer listed */
    /* Numbers between these two belong to changes that a server took with it when another one took
     * over (PostgreSQL). */
    int64_t lost_after, lost_until;
    int64_t bytes;     /* that all spaces of its owner take; known once it is locked */
    int64_t uncounted; /* the store's own: of them, what the owner's row does not know of yet */
};

/* What a memory or an earlier version counts: its texts and 200 bytes, about what the tables need
 * besides. T is its table's name with a dot, or nothing. */
#define STORE_AND(COLUMN)                                                                          \
    " + coalesce({length(CAST(" COLUMN " AS BLOB))|octet_length(" COLUMN ")}, 0)"
#define STORE_TEXTS(T)         STORE_AND(T "summary") STORE_AND(T "text") STORE_AND(T "metadata")
#define STORE_TAGS(T)          STORE_AND("{" T "tags|" T "tags::text}")
#define STORE_REST(T)          STORE_AND(T "session") STORE_AND(T "role") STORE_TAGS(T)
#define STORE_VERSION_BYTES(T) "(200" STORE_TEXTS(T) STORE_REST(T) ")"
#define STORE_MEMORY_BYTES(T)  "(200" STORE_AND(T "key") STORE_TEXTS(T) STORE_REST(T) ")"
/* Each owner with the bytes (n) of its memories and their versions, counted anew. */
#define STORE_OF_MEMORIES                                                                          \
    "SELECT s.owner, " STORE_MEMORY_BYTES("m.") " FROM {memory} AS m JOIN {space} AS s ON s.id = " \
                                                "m.space"
#define STORE_OF_VERSIONS                                                                          \
    "SELECT s.owner, " STORE_VERSION_BYTES("v.") " FROM {memory_version} AS v JOIN {memory} AS m " \
                                                 "ON m.id = v.id JOIN {space} AS s ON s.id = "     \
                                                 "m.space"
#define STORE_COUNTED                                                                              \
    "SELECT owner, CAST(sum(n) AS BIGINT) AS n FROM (SELECT owner, 0 AS n FROM {space} UNION "     \
    "ALL " STORE_OF_MEMORIES " UNION ALL " STORE_OF_VERSIONS ") AS items GROUP BY owner"

/* Takes one row; anything but OK ends the walk and is what the walk returns. */
typedef int (*store_take)(void *context, const struct store_row *row);
typedef int (*store_take_removed)(void *context, int64_t id);

/* Opens a connection to the database of the configuration. NULL with the reason in `problem`. */
struct db *store_open(const struct places *places, struct call *call, char *problem, size_t size);
/* The same for looking only: nothing is made or changed. `alone`: nobody else uses the file. */
struct db *store_look(const struct places *places, struct call *call, bool alone, char *problem,
                      size_t size);
/* The file, to be freed; NULL where a server has the memories. */
char *store_file(const struct places *places);

/* ---- spaces ---- */

int store_space_of(struct db *db, const struct memory_space *space, bool make,
                   struct store_space *found);
/* The names of a space, by its number. ERR_NOTFOUND. */
int store_space_names(struct db *db, struct arena *arena, int64_t id, struct memory_space *names);
/* A memory that tells this store from another state of it: of those that are in the index at that
 * change the last changed; all 0 where there is none. */
int store_witness(struct db *db, int64_t space, int64_t change, struct manifest_witness *witness);
/* The first to write to a locked space in another era begins it: no number that may be lost is
 * given again. */
MUST_CHECK int store_begin_era(struct db *db, struct store_space *space);
/* Whether what is known up to a change cannot be brought up to date from there: removals since then
 * are no longer listed, or the change itself is not in the store any more. */
bool store_lost(const struct store_space *space, int64_t seen);
/* Whether the store still goes on from a change: the witness of it is as it was, or was changed or
 * removed since. A store that was brought back to an earlier state gives the numbers of its changes
 * again, to others. */
int store_follows(struct db *db, const struct store_space *space, int64_t seen,
                  const struct manifest_witness *witness, bool *follows);
/* Whether a memory was replaced or removed after that change; some that only came since may count.
 * OK, or a status of the connection. */
int store_replaced_since(struct db *db, int64_t space, int64_t change, bool *replaced);
/* How many memories the changes of a gap left behind, counted up to `most`. */
int store_gap_count(struct db *db, int64_t space, const struct manifest_gap *gap, int64_t most,
                    int64_t *count);
/* The ids of what was written and removed in a gap, in no order. */
int store_gap_ids(struct db *db, int64_t space, const struct manifest_gap *gap,
                  store_take_removed take, void *context);
/* No other transaction changes a space of this owner before this one ends, and what is read from
 * now on, the number of the space's last change and the owner's bytes included, is what the last
 * one left. */
MUST_CHECK int store_lock(struct db *db, struct store_space *space);
/* A space with its name. */
struct store_named_space {
    int64_t id;
    struct memory_space space;
};
/* The owner's spaces and the shared ones (NULL: those of all owners) in the order of owners and
 * names, after `after`, at most `limit`. */
int store_spaces(struct db *db, struct arena *arena, const char *owner,
                 const struct memory_space *after, size_t limit, struct store_named_space *spaces,
                 size_t *count);
/* How many memories of a space have not expired. */
int store_count(struct db *db, int64_t space, int64_t now_ms, int64_t *count);
/* Of the owner's namespaces and the shared ones; NULL: of all owners, without their bytes. */
int store_stats(struct db *db, struct arena *arena, const char *owner, struct memory_stats *stats);

/* ---- rows; ERR_NOTFOUND where there is none ---- */

int store_get(struct db *db, struct arena *arena, int64_t space, const char *key,
              struct store_row *row);
int store_by_id(struct db *db, struct arena *arena, int64_t space, int64_t id,
                struct store_row *row);
int store_by_digest(struct db *db, struct arena *arena, int64_t space,
                    const unsigned char digest[SHA256_SIZE], int64_t now_ms, struct store_row *row);
/* Of the memories of a session; -1: there are none. */
int store_last_place(struct db *db, int64_t space, const char *session, int64_t *place);
/* An earlier version of a row. */
int store_version(struct db *db, struct arena *arena, const struct store_row *current,
                  int64_t version, struct store_row *row);
/* Writes it with the next change number of the space, which is locked; id 0: a new one, which gets
 * an id. Of the row as it was, and of its earlier versions, the last `versions` are kept; with
 * STORE_ALL_VERSIONS the earlier ones stay as they are, and this one is none. */
#define STORE_ALL_VERSIONS (-1)
MUST_CHECK int store_put(struct db *db, struct store_space *space, struct store_row *row,
                         int versions);
/* With its earlier versions. */
MUST_CHECK int store_remove(struct db *db, struct store_space *space, const struct store_row *row);
/* After the last change of a locked space: the owner's bytes are counted. */
MUST_CHECK int store_settle(struct db *db, struct store_space *space);

/* ---- walks ---- */

/* Up to `count` rows of the session before (or after) a place, nearest first. */
int store_neighbours(struct db *db, struct arena *arena, int64_t space, const struct memory *memory,
                     bool before, size_t count, int64_t now_ms, store_take take, void *context);
/* The earlier versions of a row, newest first, without their key. */
int store_versions(struct db *db, struct arena *arena, int64_t id, store_take take, void *context);
/* Newest first. `total` counts all that pass, at most `most` of them. */
int store_list(struct db *db, struct arena *arena, int64_t space,
               const struct memory_filter *filter, int64_t now_ms, size_t limit, size_t offset,
               size_t most, size_t *total, store_take take, void *context);
/* In the order of keys, those after `after`, at most `limit`. */
int store_each(struct db *db, struct arena *arena, int64_t space, const char *after, int64_t now_ms,
               size_t limit, store_take take, void *context);
/* What was written and removed after change `since`, oldest first, at most `limit` rows; `seen` is
 * where to go on. */
int store_changes(struct db *db, struct arena *arena, int64_t space, int64_t since, size_t limit,
                  store_take take, store_take_removed removed, void *context, int64_t *seen);
/* The oldest rows that have expired, at most `limit`. */
int store_expired(struct db *db, struct arena *arena, int64_t now_ms, size_t limit, store_take take,
                  void *context);

void store_digest(const char *text, unsigned char digest[SHA256_SIZE]);
/* Compares the row that was read with what was stored: sets the memory's damage, and makes what is
 * damaged in it fit to be shown. What it finds lives in the arena. */
void store_mark(struct arena *arena, struct store_row *row);

/* Hands out rows with their marks, of all spaces: all of them, or (a server looks by itself) those
 * that may be damaged. The members of `space` are NULL where it is gone. `total` counts them. */
enum store_audit { STORE_MEMORIES, STORE_VERSIONS };
typedef int (*store_take_any)(void *context, const struct store_row *row,
                              const struct memory_space *space);
int store_audit(struct db *db, enum store_audit what, int64_t *total, store_take_any take,
                void *context);

/* ---- looking after it (care.c) ---- */

/* ERR_UNSUPPORTED: the server has its own way. `problem` has the reason of ERR_IO. */
int store_backup(struct db *db, const char *path, char *problem, size_t size);

#endif
