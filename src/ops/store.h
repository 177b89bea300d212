/* What outlives a process: windows of limits, usage, history. This is the seam between those who
 * keep records and the database that holds them: an SQLite file (ops/store_sqlite.c), or PostgreSQL
 * (ops/store_postgres.c) for servers on several machines.
 *
 * A store is a connection and belongs to one thread at a time. What is written between begin() and
 * commit() is there wholly or not at all; several processes may write at once. Functions return a
 * status; problem() has the words of the last failure, for an operator. */
#ifndef FORAGE_OPS_STORE_H
#define FORAGE_OPS_STORE_H

#include "call/call.h"
#include "core/sha256.h"
#include "guard/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call, as it is recorded. */
struct store_record {
    const char *caller;
    const char *tool;
    int64_t at_ms; /* since 1970 */
    int64_t took_ms;
    const char *code; /* of its error; NULL: it succeeded */
    bool recalled;    /* answered from what was kept */
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
    int64_t unpriced;      /* services and models that the price table does not know */
    const char *arguments; /* JSON, for the history; NULL: only the sums are kept */
};

/* The sums of one caller, tool and day. */
struct store_usage {
    const char *day; /* "2026-11-15", UTC */
    const char *caller;
    const char *tool;
    int64_t calls;
    int64_t failures;
    int64_t recalled;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
    int64_t unpriced;
};

/* A call of the history. */
struct store_past_call {
    int64_t id; /* grows with time */
    int64_t at_ms;
    const char *tool;
    const char *arguments;
    const char *code; /* NULL: it succeeded */
    int64_t took_ms;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
};

typedef void (*store_usage_row)(void *context, const struct store_usage *row);
typedef void (*store_past_row)(void *context, const struct store_past_call *row);

struct store {
    const struct store_functions *functions;
};

struct store_functions {
    struct store *(*close)(struct store *store);
    const char *(*problem)(const struct store *store);
    /* The key of fingerprints, which all who share the store share; made when there is none. */
    int (*secret)(struct store *store, unsigned char key[SHA256_SIZE]);

    /* ---- writing, between begin and commit ---- */
    /* `durable`: once commit() has returned OK, not even a power failure loses it. */
    int (*begin)(struct store *store, bool durable);
    int (*commit)(struct store *store);
    void (*rollback)(struct store *store);
    /* Takes one of every claim's window, or none of any. OK or ERR_LIMIT, or a failure. */
    int (*take)(struct store *store, struct limit_claim *claims, size_t count, int64_t now_ms);
    int (*spent)(struct store *store, const char *caller, int64_t now_ms, struct spending *spent);
    int (*add)(struct store *store, const struct store_record *record);
    /* Removes what is older or more than the ceilings say. */
    int (*tidy)(struct store *store, int64_t now_ms);

    /* ---- reading, and wiping, at any time; `call` may be NULL ---- */
    /* From that day on, newest first; `caller` NULL: of all. */
    int (*usage)(struct store *store, struct call *call, const char *caller, const char *from_day,
                 store_usage_row row, void *context);
    /* Newest first, at most `limit`, those with ids below `before` (0: from the newest). */
    int (*history)(struct store *store, struct call *call, const char *caller, int64_t before,
                   int64_t limit, store_past_row row, void *context);
    int (*wipe)(struct store *store, struct call *call, const char *caller, int64_t *wiped);
};

/* For the `take` of a store, which only has to read and write one window. */
typedef int (*store_read_window)(struct store *store, const char *key, struct limit_window *window);
typedef int (*store_write_window)(struct store *store, const char *key,
                                  const struct limit_window *window);
int store_take_windows(struct store *store, store_read_window read, store_write_window write,
                       struct limit_claim *claims, size_t count, int64_t now_ms);

/* The SQLite file at `path`. NULL with the reason in `problem`. */
struct store *store_sqlite_open(const char *path, bool synced, struct call *call, char *problem,
                                size_t size);
/* The PostgreSQL database at `url`, which is a secret. The same. */
struct store *store_postgres_open(const char *url, bool synced, struct call *call, char *problem,
                                  size_t size);
/* The store of the configuration: FORAGE_DATABASE_URL or FORAGE_DATA_DIR, FORAGE_STORE_SYNC. */
struct store *store_open(struct call *call, char *problem, size_t size);

#endif
