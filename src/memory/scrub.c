/* Tickets: each commit that must be scrubbed has the next number, and an emptied log serves all
 * numbers that were given out before. */
#include "memory/scrub.h"

#include "core/clock.h"
#include "core/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define SHORT_READERS_MS 10 /* for those who read a few memories */
#define PAUSE_MS         2  /* between two tries */
#define NOWHERE          (-1)

struct scrub {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    uint64_t given;   /* tickets */
    uint64_t served;  /* of them */
    bool tried;       /* by one of those who wait */
    int64_t held_at;  /* where the reader stands that was last in the way */
    int64_t stuck_at; /* where one stands that was waited for in vain */
    int64_t last_ms;  /* of the last try */
};

static void pause_a_little(void)
{
    struct timespec time = {.tv_nsec = PAUSE_MS * 1000000L};
    nanosleep(&time, NULL);
}

/* Whether the log was emptied. */
static bool try(struct scrub *scrub, struct db *db)
{
    int64_t held_at = NOWHERE;
    pthread_mutex_lock(&scrub->lock);
    uint64_t given = scrub->given;
    pthread_mutex_unlock(&scrub->lock);
    bool emptied = db_empty_log(db, &held_at) == OK;
    pthread_mutex_lock(&scrub->lock);
    scrub->last_ms = clock_now_ms();
    scrub->held_at = held_at;
    if (emptied && scrub->served < given) {
        scrub->served = given;
        pthread_cond_broadcast(&scrub->changed);
    }
    scrub->stuck_at = emptied ? NOWHERE : scrub->stuck_at;
    pthread_mutex_unlock(&scrub->lock);
    return emptied;
}

/* Whether the reader in the way is one that was waited for in vain. With the lock. */
static bool is_stuck(const struct scrub *scrub)
{
    return scrub->held_at != NOWHERE && scrub->held_at == scrub->stuck_at;
}

uint64_t scrub_begin(struct scrub *scrub, struct db *db)
{
    pthread_mutex_lock(&scrub->lock);
    uint64_t ticket = ++scrub->given;
    pthread_mutex_unlock(&scrub->lock);
    int64_t end = clock_now_ms() + SHORT_READERS_MS;
    bool emptied;
    bool stuck = false;
    while (!(emptied = try(scrub, db)) && !stuck && clock_now_ms() < end) {
        pthread_mutex_lock(&scrub->lock);
        stuck = is_stuck(scrub);
        pthread_mutex_unlock(&scrub->lock);
        if (!stuck) {
            pause_a_little();
        }
    }
    return emptied || stuck ? 0 : ticket;
}

/* With the lock, which it gives up meanwhile. */
static void try_for_all(struct scrub *scrub, struct db_pool *pool, struct call *call)
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db;
    scrub->tried = true;
    pthread_mutex_unlock(&scrub->lock);
    pause_a_little();
    if (db_pool_borrow(pool, call, &db, problem, sizeof problem) == OK) {
        (void)try(scrub, db);
        db_pool_return(pool, db);
    }
    pthread_mutex_lock(&scrub->lock);
    scrub->tried = false;
    pthread_cond_broadcast(&scrub->changed);
}

void scrub_wait(struct scrub *scrub, struct db_pool *pool, struct call *call, uint64_t ticket)
{
    struct timespec until;
    int64_t end = clock_now_ms() + TIME_MEMORY_SCRUB_MS;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TIME_MEMORY_SCRUB_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&scrub->lock);
    while (scrub->served < ticket && !is_stuck(scrub) && clock_now_ms() < end) {
        if (scrub->tried) {
            pthread_cond_timedwait(&scrub->changed, &scrub->lock, &until);
        } else {
            try_for_all(scrub, pool, call);
        }
    }
    if (scrub->served < ticket) {
        scrub->stuck_at = scrub->held_at;
    }
    pthread_mutex_unlock(&scrub->lock);
}

void scrub_rest(struct scrub *scrub, struct db *db)
{
    pthread_mutex_lock(&scrub->lock);
    bool due = scrub->served < scrub->given && !scrub->tried &&
               clock_now_ms() - scrub->last_ms >= TIME_MEMORY_SCRUB_MS;
    pthread_mutex_unlock(&scrub->lock);
    if (due) {
        (void)try(scrub, db);
    }
}

/* ---- its life ---- */

struct scrub *scrub_new(void)
{
    struct scrub *scrub = calloc(1, sizeof *scrub);
    if (scrub) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&scrub->changed, &attributes);
        pthread_condattr_destroy(&attributes);
        pthread_mutex_init(&scrub->lock, NULL);
        scrub->held_at = scrub->stuck_at = NOWHERE;
    }
    return scrub;
}

struct scrub *scrub_free(struct scrub *scrub)
{
    if (scrub) {
        pthread_mutex_destroy(&scrub->lock);
        pthread_cond_destroy(&scrub->changed);
        free(scrub);
    }
    return NULL;
}
