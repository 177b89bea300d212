/* The database behind memory: what the engine needs of one, as a struct of functions. SQLite and
 * PostgreSQL are behind it; what must be the same on both (the rules of adding and changing, the
 * ranking) is written once, above it.
 *
 * A session is a connection that works for one call on one thread at a time. Rows live in the arena
 * that is given. Every function returns a status; the words for ERR_IO are in store_problem().
 *
 * Each space counts its changes: a change raises the counter in its own transaction, under a lock
 * that makes the order of commits the order of numbers (store_lock). A row carries the number of
 * the change that wrote it; a removal leaves its number and the row's id, and nothing of its
 * content. So whoever remembers a number can ask for everything that happened since
 * (store_changes). */
#ifndef FORAGE_MEMORY_STORE_H
#define FORAGE_MEMORY_STORE_H

#include "core/sha256.h"
#include "memory/memory.h"

#define STORE_PROBLEM_SIZE 256

/* A memory as it is kept. */
struct store_row {
    int64_t id; /* never used twice */
    int64_t space;
    int64_t change;
    struct memory memory;
    unsigned char digest[SHA256_SIZE]; /* of the text */
};

/* What is known of a space. */
struct store_space {
    int64_t id;      /* 0: there is none yet */
    int64_t change;  /* the number of its last change */
    int64_t horizon; /* removals up to this number are no longer told */
};

struct store_session {
    const struct store_backend *backend;
    struct call *call;
    struct store_session *next; /* in the pool */
    bool in_doubt;              /* nobody knows whether the last commit happened */
    char problem[STORE_PROBLEM_SIZE];
};

/* Takes one row; anything but OK ends the walk and is what the walk returns. */
typedef int (*store_take)(void *context, const struct store_row *row);
typedef int (*store_take_removed)(void *context, int64_t id);

struct store_backend {
    const char *name;
    /* A commit waits for the disk by itself: changes of many callers should share one. */
    bool commits_are_dear;
    /* How many sessions may be in use at once; NULL: any number. */
    size_t (*most_sessions)(void);

    /* Opens a connection; the first one also brings the tables up to date. NULL with the reason in
     * `problem`. */
    struct store_session *(*connect)(struct call *call, char *problem, size_t size);
    void (*disconnect)(struct store_session *session);
    /* For whom it works from now on; NULL: nobody. OK, or ERR_CLOSED when it is of no use any more.
     */
    int (*work_for)(struct store_session *session, struct call *call);

    /* ---- transactions ---- */
    int (*begin)(struct store_session *session);
    int (*begin_reading)(struct store_session *session);
    int (*commit)(struct store_session *session);
    void (*rollback)(struct store_session *session);
    /* One mark inside a transaction, which can be gone back to. */
    int (*mark)(struct store_session *session);
    int (*back_to_mark)(struct store_session *session);
    int (*drop_mark)(struct store_session *session);
    /* No other transaction changes the space before this one ends, and what is read from now on is
     * what the last one left. */
    int (*lock)(struct store_session *session, int64_t space);

    /* ---- spaces ---- */
    int (*space)(struct store_session *session, const struct memory_space *space, bool make,
                 struct store_space *found);
    /* Of the owner's namespaces and the shared ones; NULL: of all owners. */
    int (*stats)(struct store_session *session, struct arena *arena, const char *owner,
                 struct memory_stats *stats);

    /* ---- rows; ERR_NOTFOUND where there is none ---- */
    int (*get)(struct store_session *session, struct arena *arena, int64_t space, const char *key,
               struct store_row *row);
    int (*by_id)(struct store_session *session, struct arena *arena, int64_t space, int64_t id,
                 struct store_row *row);
    int (*by_digest)(struct store_session *session, struct arena *arena, int64_t space,
                     const unsigned char digest[SHA256_SIZE], int64_t now_ms,
                     struct store_row *row);
    int (*last_place)(struct store_session *session, int64_t space, const char *name,
                      int64_t *place); /* -1: an empty session */
    /* Writes it with the space's next change number; id 0: a new one, which gets an id. */
    int (*put)(struct store_session *session, struct store_row *row);
    int (*remove)(struct store_session *session, const struct store_row *row);

    /* ---- walks ---- */
    /* Up to `count` rows of the session before (or after) a place, nearest first. */
    int (*neighbours)(struct store_session *session, struct arena *arena, int64_t space,
                      const char *name, int64_t place, bool before, size_t count, int64_t now_ms,
                      store_take take, void *context);
    /* Newest first. `total` counts all that pass, at most `most` of them. */
    int (*list)(struct store_session *session, struct arena *arena, int64_t space,
                const struct memory_filter *filter, int64_t now_ms, size_t limit, size_t offset,
                size_t most, size_t *total, store_take take, void *context);
    /* In the order of keys, those after `after`, at most `limit`. */
    int (*each)(struct store_session *session, struct arena *arena, int64_t space,
                const char *after, int64_t now_ms, size_t limit, store_take take, void *context);
    /* What was written and removed after change `since`, oldest first, at most `limit` rows; `seen`
     * is where to go on. */
    int (*changes)(struct store_session *session, struct arena *arena, int64_t space, int64_t since,
                   size_t limit, store_take take, store_take_removed removed, void *context,
                   int64_t *seen);
    /* The oldest rows that have expired, at most `limit`. */
    int (*expired)(struct store_session *session, struct arena *arena, int64_t now_ms, size_t limit,
                   store_take take, void *context);

    /* ---- looking after it ---- */
    /* Old contents leave the disk after a removal, as far as the database can do that. */
    int (*scrub)(struct store_session *session);
    int (*verify)(struct store_session *session, struct arena *arena, bool repair,
                  struct memory_check *check);
    int (*backup)(struct store_session *session, const char *path);
};

extern const struct store_backend STORE_SQLITE;
extern const struct store_backend STORE_POSTGRES;

/* The one that the configuration names. */
const struct store_backend *store_chosen(void);
/* A session for the call, which waits while all that there may be are in use. OK with one;
 * ERR_FAILED after call_fail() when the database cannot be reached; as of the call. */
int store_borrow(struct call *call, struct store_session **session);
/* Gives it back; a transaction that is still open is undone. */
void store_return(struct store_session *session);
const char *store_problem(const struct store_session *session);
/* Turns a status of a session into the call's error: what happened and what to do. */
int store_fail(struct call *call, const struct store_session *session, int status);
/* Closes every idle session; for the end of the program. */
void store_shutdown(void);

#endif
