/* Walks over namespaces: the export of one or of all, and what namespaces there are.
 *
 * An export is read in steps, each from one state of the store, which is let go before anybody
 * looks at what was read: a reader that stalls, over HTTP or at the end of a pipe, would otherwise
 * keep that state, and what others overwrite and delete could not leave the disk. */
#include "call/errors.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "memory/memories.h"

#include <string.h>

#define SPACES_AT_ONCE 64

#define FIRST_ROWS 16 /* of a step; a server would send all that were asked for */

/* A memory that was read. */
struct export_item {
    struct memory_space space;
    struct memory memory;
};

struct memory_walk {
    struct call *call;
    struct db *db;
    struct arena *arena; /* of all that is read */
    int64_t now_ms;
    /* Of a step of an export: */
    struct memory_position *position;
    struct memory_space space; /* at hand */
    struct export_item *items;
    size_t count, capacity;
};

static int start(struct memory_walk *walk, struct call *call)
{
    *walk = (struct memory_walk){.call = call, .now_ms = clock_wall_ms()};
    walk->arena = arena_new(2 * LIMIT_MEMORY_ROW_BYTES);
    int status = walk->arena ? memories_borrow(call, &walk->db) : ERR_NOMEM;
    return status == OK ? db_begin_reading(walk->db) : status;
}

static int finish(struct memory_walk *walk, int status)
{
    status = memories_return(walk->call, walk->db, status);
    walk->arena = arena_free(walk->arena);
    return status;
}

/* Calls `visit` for each space of the owner and each shared one, or for all of them (NULL). */
static int each_space(struct memory_walk *walk, const char *owner,
                      int (*visit)(struct memory_walk *walk, const struct store_named_space *space))
{
    struct store_named_space spaces[SPACES_AT_ONCE];
    struct memory_space after = {"", ""};
    size_t count = SPACES_AT_ONCE;
    int status = OK;
    struct arena *names = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct arena *next = arena_new(LIMIT_CALL_ARENA_BYTES); /* `after` is in the other one */
    status = names && next ? OK : ERR_NOMEM;
    while (status == OK && count == SPACES_AT_ONCE) {
        arena_reset(next);
        status = store_spaces(walk->db, next, owner, &after, SPACES_AT_ONCE, spaces, &count);
        for (size_t i = 0; i < count && status == OK; i++) {
            status = visit(walk, &spaces[i]);
            status = status == OK ? call_check(walk->call) : status;
        }
        if (status == OK && count > 0) {
            after = spaces[count - 1].space;
        }
        struct arena *used = next;
        next = names;
        names = used;
    }
    arena_free(names);
    arena_free(next);
    return status;
}

/* Whether no name means this space: what was shared is not any more, or the other way round. */
static bool is_hidden(const struct memory_space *space)
{
    return (*space->owner == '\0') != memories_is_shared(space->name);
}

static const char *owner_of(struct call *call, const struct memory_scope *scope)
{
    return scope->of_everybody ? NULL : call_caller(call) ? call_caller(call)->name : "local";
}

/* ---- export ---- */

/* Whether a step has read enough. */
static bool is_full(const struct memory_walk *walk)
{
    return arena_used(walk->arena) >= LIMIT_MEMORY_EXPORT_BYTES;
}

static bool copy_name(char *into, size_t size, const char *name)
{
    size_t length = strlen(name);
    if (length < size) {
        memcpy(into, name, length + 1);
    }
    return length < size;
}

/* Remembers where the walk is, and the memory. ERR_LIMIT: that is enough for one step. */
static int read_row(void *context, const struct store_row *row)
{
    struct memory_walk *walk = context;
    struct memory_position *position = walk->position;
    struct store_row marked = *row;
    struct export_item *items =
        arena_grow(walk->arena, walk->items, walk->count, &walk->capacity, sizeof *items);
    if (!items || !copy_name(position->key, sizeof position->key, row->memory.key)) {
        return items ? ERR_INVALID : ERR_NOMEM;
    }
    store_mark(walk->arena, &marked);
    walk->items = items;
    items[walk->count++] = (struct export_item){.space = walk->space, .memory = marked.memory};
    position->memories++;
    position->namespaces += !position->has_memories;
    position->has_memories = true;
    return is_full(walk) ? ERR_LIMIT : OK;
}

/* Reads on in the space at hand. */
static int read_space(struct memory_walk *walk)
{
    struct memory_position *position = walk->position;
    struct memory_space space = {position->owner, position->space};
    struct store_space found;
    size_t before = walk->count;
    size_t rows = position->rows ? position->rows : FIRST_ROWS;
    int status = store_space_of(walk->db, &space, false, &found);
    if (status != OK || found.id == 0) {
        position->in_space = false;
        return status;
    }
    walk->space = (struct memory_space){arena_strdup(walk->arena, space.owner),
                                        arena_strdup(walk->arena, space.name)};
    if (!walk->space.owner || !walk->space.name) {
        return ERR_NOMEM;
    }
    status = store_each(walk->db, walk->arena, found.id, position->key, walk->now_ms, rows,
                        read_row, walk);
    size_t came = walk->count - before;
    bool full = status == ERR_LIMIT && is_full(walk);
    position->in_space = full || came == rows;
    rows = full ? came + 1 : 2 * rows;
    position->rows = rows < LIMIT_MEMORY_CATCH_UP ? rows : LIMIT_MEMORY_CATCH_UP;
    return full ? OK : status;
}

/* Goes on to the next space of the scope. */
static int enter_next(struct memory_walk *walk, const struct memory_scope *scope)
{
    struct memory_position *position = walk->position;
    struct memory_space after = {position->owner, position->space};
    struct store_named_space found = {.id = 0};
    size_t count = scope->space && !*position->space;
    int status = OK;
    if (scope->space) {
        found.space = *scope->space;
    } else {
        status = store_spaces(walk->db, walk->arena, owner_of(walk->call, scope), &after, 1, &found,
                              &count);
    }
    if (status != OK || count == 0) {
        position->over = status == OK;
        return status;
    }
    bool fits = copy_name(position->owner, sizeof position->owner, found.space.owner) &&
                copy_name(position->space, sizeof position->space, found.space.name);
    position->key[0] = '\0';
    position->has_memories = false;
    position->in_space = scope->space || !is_hidden(&found.space);
    return fits ? OK : ERR_INVALID;
}

int memory_export_some(struct call *call, const struct memory_scope *scope,
                       struct memory_position *position, memory_take take, void *context)
{
    struct memory_walk walk;
    int status = start(&walk, call);
    walk.position = position;
    while (status == OK && !position->over && !is_full(&walk)) {
        status = position->in_space ? read_space(&walk) : enter_next(&walk, scope);
        status = status == OK ? call_check(call) : status;
    }
    status = memories_return(call, walk.db, status);
    for (size_t i = 0; i < walk.count && status == OK; i++) {
        status = take(context, &walk.items[i].space, &walk.items[i].memory);
    }
    arena_free(walk.arena);
    return status;
}

struct extent_walk {
    struct memory_walk walk;
    struct memory_extent *extent;
};

static int count_visited(struct memory_walk *walk, const struct store_named_space *found)
{
    struct memory_extent *extent = ((struct extent_walk *)walk)->extent;
    int64_t count = 0;
    int status = store_count(walk->db, found->id, walk->now_ms, &count);
    extent->all_memories += count;
    extent->all_namespaces += count > 0;
    return status;
}

static int count_all(struct call *call, struct memory_extent *extent)
{
    struct extent_walk counting;
    int status = start(&counting.walk, call);
    counting.extent = extent;
    if (status == OK) {
        status = each_space(&counting.walk, NULL, count_visited);
    }
    return finish(&counting.walk, status);
}

int memory_export(struct call *call, const struct memory_scope *scope, memory_take take,
                  void *context, struct memory_extent *extent)
{
    struct memory_position position = {.over = false};
    int status = OK;
    while (status == OK && !position.over) {
        status = memory_export_some(call, scope, &position, take, context);
    }
    if (status == OK && extent) {
        *extent = (struct memory_extent){.memories = position.memories,
                                         .namespaces = position.namespaces};
        status = count_all(call, extent);
    }
    return status;
}

/* ---- namespaces ---- */

struct namespace_walk {
    struct memory_walk walk;
    bool hidden_too;
    int (*take)(void *context, const struct memory_namespace *namespace);
    void *context;
};

static int list_visited(struct memory_walk *walk, const struct store_named_space *found)
{
    struct namespace_walk *listing = (struct namespace_walk *)walk;
    struct memory_namespace namespace = {.space = found->space, .hidden = is_hidden(&found->space)};
    if (namespace.hidden && !listing->hidden_too) {
        return OK;
    }
    int status = store_count(walk->db, found->id, walk->now_ms, &namespace.memories);
    return status == OK ? listing->take(listing->context, &namespace) : status;
}

int memory_namespaces(struct call *call, const struct memory_scope *scope,
                      int (*take)(void *context, const struct memory_namespace *namespace),
                      void *context)
{
    struct namespace_walk listing;
    int status = start(&listing.walk, call);
    listing.hidden_too = scope->of_everybody;
    listing.take = take;
    listing.context = context;
    if (status == OK) {
        status = each_space(&listing.walk, owner_of(call, scope), list_visited);
    }
    return finish(&listing.walk, status);
}
