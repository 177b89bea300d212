/* The index of one space: what indexes.c, which has them all, and saving.c, which brings them to
 * their files, share. */
#ifndef FORAGE_MEMORY_SPACE_INDEX_H
#define FORAGE_MEMORY_SPACE_INDEX_H

#include "core/limits.h"
#include "index/shelf.h"
#include "memory/indexes.h"

#include <pthread.h>
#include <stdatomic.h>

struct indexes {
    const struct places *places;
    struct db_pool *pool;
    struct stock *bytes;       /* for all of them */
    struct stock *large;       /* for the one that finds no place among them */
    pthread_mutex_t lock;      /* guards what follows up to the thread, and what is said below */
    struct space_index *first; /* the last used */
    int64_t *scrubs; /* spaces whose files may hold what was removed; made with the first */
    size_t scrub_count;
    bool fills_gaps;  /* the thread does, so that nobody waits for that */
    bool only_looks;  /* files are not touched */
    bool has_to_look; /* the thread: which namespaces lack much */
    bool has_changed; /* the store: by this process */
    bool wrote_much;  /* and more than a search waits for */
    bool has_looked;  /* for what others left to be scrubbed */
    bool has_tidied;  /* what is kept of stores that nothing uses */
    int in_use;       /* as of shelves_use() */
    pthread_cond_t work;
    bool started; /* the thread */
    bool stopping;
    pthread_t thread;
};

struct space_index {
    struct space_index *next;
    struct indexes *indexes;
    char *owner;
    char *name;
    int64_t space;
    int64_t seen;                    /* the last change that is in it */
    struct manifest_gap gap;         /* what is not, before that (building.h), */
    int64_t missing;                 /* and how many memories that are, about */
    struct manifest_witness witness; /* for its files */
    struct index *index;
    struct space_vectors vectors;
    uint64_t made;            /* how often the index was */
    atomic_bool is_stale;     /* it is to be loaded, again or for the first time */
    struct shelf *shelf;      /* NULL: it is in memory only */
    pthread_rwlock_t lock;    /* guards all that is above */
    pthread_mutex_t building; /* whoever fills the gap holds it, and then the lock */
    bool is_building;         /* what is changed meanwhile is noted: */
    int64_t *touched;
    uint32_t touched_count, touched_capacity;
    /* Under the lock of the list: */
    size_t users; /* one that is used is not dropped */
    struct holding bytes;
    struct holding large; /* a place outside of the budget, which it found none in */
    bool is_wanted;       /* its gap is to be filled */
    int64_t due_ms;       /* when it is to be saved; 0: there is nothing to save */
    int64_t rest_ms;      /* until when it is not, since it just was */
};

/* Counts what the index takes now, with its lock. OK; ERR_LIMIT when it finds no place, and another
 * one that found none is in use. */
MUST_CHECK int indexes_count(struct space_index *one);
/* Says to others that this process uses the files, once there are some. With the lock of the list.
 */
void indexes_use_files(struct indexes *indexes);
/* Ends what was begun with a user more. */
void indexes_let_go(struct space_index *one);

/* Puts a memory into an index, as of index_put(). */
MUST_CHECK int indexes_put(struct index *index, const struct store_row *row);
/* One that is no good gives its memory back at once, with its lock. */
void indexes_forget(struct space_index *one);
/* As indexes_acquire(), without waiting for what a gap lacks. */
MUST_CHECK int indexes_reach(struct indexes *indexes, struct db *db,
                             const struct memory_space *space, const char *model,
                             struct space_index **found);

/* An index of what was kept, as far as that is of use: the store must list what happened since. */
MUST_CHECK int saving_load(struct space_index *one, struct db *db, const struct store_space *space,
                           struct index **fresh);
/* Throws the files of a shelf away, where there are any. OK, also where they cannot be written,
 * which it says, and for NULL; ERR_BUSY when another process writes. */
int saving_reset(struct shelf *shelf);
/* Plans to save it where that is worth it: what was deleted leaves the disk in any case. OK, or a
 * status of the connection. */
MUST_CHECK int saving_consider(struct space_index *one, struct db *db);
/* The thread begins with whatever lacks much. With the lock of the list. */
void saving_begin(struct indexes *indexes);
/* Its gap is filled by the thread, where that does so. */
void saving_fill(struct space_index *one);
/* What was removed from a space leaves its files soon. With the lock of the list. */
void saving_scrub(struct indexes *indexes, int64_t space);
/* As of indexes_changed(). With the lock of the list. */
void saving_changed(struct indexes *indexes);
/* Ends the thread; everything that waits for it is done first. */
void saving_end(struct indexes *indexes);

#endif
