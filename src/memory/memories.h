/* Inside of the memory engine: the part of a program that holds its connections, its writer and its
 * indexes, and how a call comes to use them. */
#ifndef FORAGE_MEMORY_MEMORIES_H
#define FORAGE_MEMORY_MEMORIES_H

#include "core/clock.h"
#include "db/pool.h"
#include "db/writer.h"
#include "memory/embedder.h"
#include "memory/indexes.h"
#include "memory/readers.h"
#include "memory/rules.h"
#include "memory/scrub.h"

#include <pthread.h>

struct memories {
    const struct places *places;
    struct db_pool *pool;
    struct db_writer *writer;
    struct indexes *indexes;
    struct scrub *scrub;
    struct readers *readers;
    struct embedder *embedder; /* NULL: this program makes no vectors */
    bool alone;                /* the database groups the commits of many connections by itself */
    int versions;              /* how many earlier versions of a memory are kept */
    int64_t quota;             /* bytes that an owner's memories may take; 0: any number */
    pthread_mutex_t sweeping;  /* the next two */
    struct clock_trust clock;
    int64_t next_sweep_ms; /* as clock_now_ms() */
};

/* Whether the operator shares the namespaces of this name among all callers. */
bool memories_is_shared(const char *name);

/* A connection for the call, which waits while all that there may be are in use. OK with one;
 * ERR_FAILED after call_fail() when the database cannot be reached; as of the call. */
MUST_CHECK int memories_borrow(struct call *call, struct db **db);
/* Gives it back, and turns a status of the connection into the call's error: what happened and what
 * to do. */
int memories_return(struct call *call, struct db *db, int status);

/* A change, which memories_write() makes. */
struct memories_job {
    struct writer_job job; /* first */
    struct call *call;
    const struct memory_space *space;
    /* Does the work inside a transaction. OK, ERR_FAILED after call_fail(work->call), or a status
     * of the connection; then nothing of it is written. It may be called again when the database
     * asks for another try. */
    int (*apply)(const struct rules_work *work, void *context);
    void *context;
    bool adds;       /* a namespace that is not there is made */
    bool imports;    /* many at once */
    bool overwrites; /* contents were replaced or removed, and must leave the disk */
    bool unhurried;  /* it can be made again: nobody waits for the disk */
    uint64_t scrub;  /* memories_write()'s own: what is waited for after the commit, */
    int64_t changed; /* and the number of the space */
};
/* OK when it is on the disk; ERR_FAILED with the call's error set; ERR_CANCELLED or ERR_DEADLINE
 * when it was not begun. */
MUST_CHECK int memories_write(struct memories_job *job);
/* What the last commit of the connection removed leaves the disk. */
void memories_scrub(struct call *call, struct db *db);

#endif
