/* Lends connections, each to one call at a time, and keeps idle ones for the next. */
#include "db/pool.h"

#include "call/line.h"
#include "db/engine.h"

#include <stdio.h>
#include <stdlib.h>

struct db_pool {
    struct db_pool_options options;
    struct line line; /* where calls wait for a turn */
    pthread_mutex_t lock;
    struct db *idle;
    size_t idle_count;
};

struct db_pool *db_pool_new(const struct db_pool_options *options)
{
    struct db_pool *pool = calloc(1, sizeof *pool);
    if (pool) {
        pool->options = *options;
        line_init(&pool->line, NULL, NULL, options->most);
        pthread_mutex_init(&pool->lock, NULL);
    }
    return pool;
}

static struct db *take_idle(struct db_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct db *db = pool->idle;
    if (db) {
        pool->idle = db->next_idle;
        pool->idle_count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return db;
}

static void close_all(struct db *list)
{
    while (list) {
        struct db *next = list->next_idle;
        db_close(list);
        list = next;
    }
}

void db_pool_rest(struct db_pool *pool, size_t kept)
{
    pthread_mutex_lock(&pool->lock);
    struct db *idle = pool->idle_count > kept ? pool->idle : NULL;
    if (idle) {
        pool->idle = NULL;
        pool->idle_count = 0;
    }
    pthread_mutex_unlock(&pool->lock);
    close_all(idle);
}

struct db_pool *db_pool_free(struct db_pool *pool)
{
    if (pool) {
        db_pool_rest(pool, 0);
        line_done(&pool->line);
        pthread_mutex_destroy(&pool->lock);
        free(pool);
    }
    return NULL;
}

static void end_turn(struct place *place)
{
    if (place) {
        line_leave(place);
        free(place);
    }
}

/* A turn, where only so many may have one: NULL in `place` otherwise. */
static int take_turn(struct db_pool *pool, struct call *call, struct place **place)
{
    *place = NULL;
    if (pool->options.most == 0) {
        return OK;
    }
    struct place *mine = calloc(1, sizeof *mine);
    if (!mine) {
        return ERR_NOMEM;
    }
    mine->call = call;
    int status = line_enter(&pool->line, mine, -1);
    if (status != OK) {
        free(mine);
        return status;
    }
    *place = mine;
    return OK;
}

/* One that nobody uses and that is of use. A server that went away is asked again without a word; a
 * file that was `moved` is told to one call, and the next one opens what is there then. */
static struct db *take_usable(struct db_pool *pool, bool *moved, char *problem, size_t size)
{
    struct db *db;
    *moved = false;
    while ((db = take_idle(pool)) != NULL) {
        bool was_moved = db_moved(db);
        if (!was_moved && db_alive(db)) {
            return db;
        }
        if (was_moved) {
            *moved = true;
            snprintf(problem, size, "%s", db_problem(db));
        }
        db_close(db);
    }
    return NULL;
}

int db_pool_borrow(struct db_pool *pool, struct call *call, struct db **db, char *problem,
                   size_t size)
{
    struct place *place;
    *db = NULL;
    call_waits_for(call, pool->options.name);
    int status = take_turn(pool, call, &place);
    if (status != OK) {
        call_waits_for(call, NULL);
        return status;
    }
    bool moved;
    *db = take_usable(pool, &moved, problem, size);
    if (!*db && !moved) {
        *db = pool->options.open(pool->options.context, call, problem, size);
    }
    if (!*db) {
        end_turn(place);
        call_waits_for(call, NULL);
        status = call_check(call);
        return status == OK ? ERR_IO : status;
    }
    (*db)->looked = true;
    (*db)->place = place;
    (*db)->name = pool->options.name;
    db_work_for(*db, call);
    return OK;
}

/* One call has been told that the file was moved; the next one is not told again. */
static void drop_moved(struct db_pool *pool)
{
    struct db *moved = NULL;
    pthread_mutex_lock(&pool->lock);
    struct db **at = &pool->idle;
    while (*at) {
        struct db *db = *at;
        if (db_moved(db)) {
            *at = db->next_idle;
            db->next_idle = moved;
            moved = db;
            pool->idle_count--;
        } else {
            at = &db->next_idle;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    close_all(moved);
}

void db_pool_return(struct db_pool *pool, struct db *db)
{
    if (!db) {
        return;
    }
    struct place *place = db->place;
    struct call *call = db_call(db);
    db_rollback(db);
    if (call) {
        call_waits_for(call, NULL);
    }
    db_work_for(db, NULL);
    bool usable = db_alive(db) && !db->told;
    if (db->told) {
        drop_moved(pool);
    }
    pthread_mutex_lock(&pool->lock);
    bool stays = usable && pool->idle_count < pool->options.idle;
    if (stays) {
        db->next_idle = pool->idle;
        pool->idle = db;
        pool->idle_count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!stays) {
        db_close(db);
    }
    end_turn(place);
}
