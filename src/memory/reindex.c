/* Making the indexes of all namespaces anew, for whoever doubts them. */
#include "call/errors.h"
#include "call/parts.h"
#include "meaning/meaning.h"
#include "memory/memories.h"

/* The index of one namespace, from its memories. */
static int make_anew(struct call *call, struct db *db, const struct memory_space *space,
                     int64_t *memories)
{
    struct indexes *indexes = call_parts(call)->memories->indexes;
    struct space_index *found = NULL;
    int status = indexes_throw_away(indexes, db, space);
    if (status == ERR_BUSY) {
        return call_fail(call, CODE_BUSY,
                         "another process is just writing the index of namespace %s; try again",
                         space->name);
    }
    if (status == OK) {
        status =
            indexes_acquire(indexes, db, space, meaning_model(call_parts(call)->meaning), &found);
    }
    *memories += found ? (int64_t)index_count(indexes_of(found)) : 0;
    indexes_release(found);
    return status;
}

int memory_reindex(struct call *call, struct memory_reindexed *done)
{
    struct db *db;
    struct memory_stats stats;
    *done = (struct memory_reindexed){0};
    int status = memories_borrow(call, &db);
    if (status != OK) {
        return status;
    }
    status = store_stats(db, call_arena(call), NULL, &stats);
    for (size_t i = 0; status == OK && i < stats.namespace_count; i++) {
        const struct memory_namespace_stats *one = &stats.namespaces[i];
        struct memory_space space = {one->owner, one->name};
        call_progress(call, (double)i, (double)stats.namespace_count, "index of %s", one->name);
        status = make_anew(call, db, &space, &done->memories);
        done->namespaces += status == OK;
    }
    return memories_return(call, db, status);
}
