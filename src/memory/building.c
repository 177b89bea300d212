/* A part of a gap becomes an index of its own, which nobody sees; then the space's index takes it
 * over, less what was changed or removed while it was made. */
#include "memory/building.h"

#include "core/log.h"
#include "index/array.h"

#include <stdlib.h>

/* A memory of a part, for its vectors. */
struct built_memory {
    int64_t id;
    uint32_t face; /* that they must have */
    bool removed;  /* it is none any more */
};

struct gap_part {
    struct index *index;
    struct arena *arena;
    int64_t until;  /* the last change that belongs to it */
    uint32_t count; /* of memories in it */
    struct built_memory *told;
    uint32_t told_count, told_capacity;
};

/* ---- opening a gap ---- */

static bool has_gap(const struct space_index *one)
{
    return one->gap.until > 0;
}

int building_touched(struct space_index *one, int64_t id)
{
    if (!one->is_building) {
        return OK;
    }
    int status = array_reserve(&one->touched, &one->touched_capacity, one->touched_count + 1,
                               sizeof *one->touched);
    if (status == OK) {
        one->touched[one->touched_count++] = id;
    }
    return status;
}

static int make_unfindable(void *context, int64_t id)
{
    struct space_index *one = context;
    index_remove(one->index, id);
    return building_touched(one, id);
}

/* Sets how many memories the gap has; without any there is none. */
static void lack(struct space_index *one, int64_t missing)
{
    one->missing = missing;
    if (missing <= 0) {
        one->missing = 0;
        one->gap = (struct manifest_gap){0};
    }
}

/* Those of a gap that the index holds all the same. */
struct held {
    const struct index_sieve *all;
    int64_t count;
};

static int count_held(void *context, int64_t id)
{
    struct held *held = context;
    held->count += index_passes(held->all, id);
    return OK;
}

/* A gap that grew reaches over what was indexed after it. */
static int count_gap(struct space_index *one, struct db *db, bool has_grown)
{
    int64_t missing = 0;
    struct held held = {0};
    int status =
        has_gap(one) ? store_gap_count(db, one->space, &one->gap, one->gap.until, &missing) : OK;
    if (status == OK && has_gap(one) && has_grown) {
        const struct index_filter all = {0};
        held.all = index_sieve(one->index, call_arena(db_call(db)), &all);
        status = held.all ? store_gap_ids(db, one->space, &one->gap, count_held, &held) : ERR_NOMEM;
    }
    if (status == OK) {
        lack(one, missing - held.count);
    }
    return status;
}

int building_go_on(struct space_index *one, struct db *db)
{
    return count_gap(one, db, index_count(one->index) > 0);
}

int building_plan(struct space_index *one, struct db *db, const struct store_space *space)
{
    bool grows = has_gap(one);
    struct manifest_gap rest = {one->seen, space->change};
    int64_t count = 0;
    if (rest.until - rest.after <= LIMIT_MEMORY_AT_ONCE) {
        return OK;
    }
    int status = store_gap_count(db, one->space, &rest, LIMIT_MEMORY_AT_ONCE + 1, &count);
    if (status != OK || count <= LIMIT_MEMORY_AT_ONCE) {
        return status;
    }
    if (index_count(one->index) > 0 || one->is_building) { /* a part that is made may have them */
        status = store_gap_ids(db, one->space, &rest, make_unfindable, one);
    }
    if (status == OK) {
        one->gap = (struct manifest_gap){grows ? one->gap.after : rest.after, rest.until};
        one->seen = rest.until;
        status = count_gap(one, db, grows);
    }
    if (status == OK) {
        log_info(NULL, "an index of %lld memories is being made",
                 (long long)one->missing + (long long)index_count(one->index));
    }
    return status;
}

/* ---- filling it ---- */

static int tell(struct gap_part *part, const struct built_memory *told)
{
    int status =
        array_reserve(&part->told, &part->told_capacity, part->told_count + 1, sizeof *part->told);
    if (status == OK) {
        part->told[part->told_count++] = *told;
    }
    return status;
}

static int take_row(void *context, const struct store_row *row)
{
    struct gap_part *part = context;
    int status = OK;
    if (row->change <= part->until) {
        part->count++;
        status = tell(part, &(struct built_memory){.id = row->id, .face = row->face});
        status = status == OK ? indexes_put(part->index, row) : status;
    }
    arena_reset(part->arena);
    return status;
}

/* The index forgot it when the gap was opened. */
static int take_removed(void *context, int64_t id)
{
    return tell(context, &(struct built_memory){.id = id, .removed = true});
}

/* A server goes on at its next start; a command ends with a whole index. */
static bool is_stopping(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    bool stopping = indexes->stopping && indexes->fills_gaps;
    pthread_mutex_unlock(&indexes->lock);
    return stopping;
}

/* Reads so much of the gap as one segment takes; `gap` becomes what is left of it. */
static int read_part(struct space_index *one, struct db *db, struct manifest_gap *gap,
                     struct gap_part *part)
{
    int status = OK;
    part->until = gap->until;
    while (status == OK && gap->after < gap->until && part->count < LIMIT_INDEX_BUILDER_ENTRIES) {
        int64_t seen;
        size_t room = LIMIT_INDEX_BUILDER_ENTRIES - part->count;
        status = store_changes(db, part->arena, one->space, gap->after,
                               room < LIMIT_MEMORY_CATCH_UP ? room : LIMIT_MEMORY_CATCH_UP,
                               take_row, take_removed, part, &seen);
        if (status == OK) {
            gap->after = seen == gap->after || seen > gap->until ? gap->until : seen;
            status = is_stopping(one->indexes) ? ERR_CANCELLED : call_check(db_call(db));
        }
    }
    return status == OK ? index_settle(part->index) : status;
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Vectors hear of all that was read but what was changed since, of which they heard later things.
 */
static void tell_vectors(struct space_index *one, const struct gap_part *part, int64_t until)
{
    if (one->touched_count > 0) {
        qsort(one->touched, one->touched_count, sizeof *one->touched, by_number);
    }
    for (uint32_t i = 0; i < part->told_count; i++) {
        const struct built_memory *told = &part->told[i];
        if (told->removed) {
            space_vectors_removed(&one->vectors, told->id);
        } else if (one->touched_count == 0 || !bsearch(&told->id, one->touched, one->touched_count,
                                                       sizeof *one->touched, by_number)) {
            space_vectors_row(&one->vectors,
                              &(struct store_row){.id = told->id, .face = told->face});
        }
    }
    space_vectors_walked(&one->vectors, one->gap.after, until);
}

/* Puts the part into the space's index, without what was changed since it was begun. Those that
 * were changed may be in the gap again, if it grew; so only its end says that nothing is in it. */
static int publish(struct space_index *one, const struct manifest_gap *left, struct gap_part *part)
{
    for (uint32_t i = 0; i < one->touched_count; i++) {
        index_remove(part->index, one->touched[i]);
    }
    tell_vectors(one, part, left->after);
    size_t before = index_count(one->index);
    int status = index_take_over(one->index, part->index);
    int64_t missing = one->missing - ((int64_t)index_count(one->index) - (int64_t)before);
    one->gap.after = left->after;
    lack(one, left->after >= one->gap.until ? 0 : missing > 0 ? missing : 1);
    if (one->missing == 0) {
        pthread_mutex_lock(&one->indexes->lock);
        saving_scrub(one->indexes, one->space); /* the files of its vectors waited */
        pthread_mutex_unlock(&one->indexes->lock);
        log_info(NULL, "an index of %zu memories was made", index_count(one->index));
    }
    return status == OK ? indexes_count(one) : status;
}

static void end(struct space_index *one)
{
    free(one->touched);
    one->touched = NULL;
    one->touched_count = one->touched_capacity = 0;
    one->is_building = false;
}

/* With the lock that lets one at a time. */
static int step(struct space_index *one, struct db *db, struct gap_part *part)
{
    pthread_rwlock_wrlock(&one->lock);
    struct manifest_gap left = one->gap;
    uint64_t made = one->made;
    one->is_building = has_gap(one);
    pthread_rwlock_unlock(&one->lock);
    int status = read_part(one, db, &left, part);
    pthread_rwlock_wrlock(&one->lock);
    if (status == OK && one->made == made && has_gap(one)) {
        status = publish(one, &left, part);
        if (status != OK) {
            indexes_forget(one);
        } else {
            status = saving_consider(one, db);
        }
    }
    end(one);
    pthread_rwlock_unlock(&one->lock);
    return status;
}

int building_step(struct space_index *one, struct db *db)
{
    struct gap_part part = {.index = index_new(), .arena = arena_new(LIMIT_MEMORY_ROW_BYTES)};
    pthread_mutex_lock(&one->building);
    int status = part.index && part.arena ? step(one, db, &part) : ERR_NOMEM;
    pthread_mutex_unlock(&one->building);
    index_free(part.index);
    arena_free(part.arena);
    free(part.told);
    return status;
}
