/* Walks over namespaces: the export of one or of all, and what namespaces there are. Each walk
 * sees one state of the store. */
#include "call/errors.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "memory/memories.h"

#include <string.h>

#define SPACES_AT_ONCE 64

struct walk {
    struct call *call;
    struct db *db;
    struct arena *arena; /* of what is read for one space */
    int64_t now_ms;
    int (*take)(void *context, const struct memory_space *space, const struct memory *memory);
    void *context;
    struct memory_extent extent;
    /* The space at hand. */
    const struct memory_space *space;
    char last[LIMIT_MEMORY_KEY_BYTES + 1]; /* key that was taken */
    size_t taken;
};

static int start(struct walk *walk, struct call *call)
{
    *walk = (struct walk){.call = call, .now_ms = clock_wall_ms()};
    walk->arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    int status = walk->arena ? memories_borrow(call, &walk->db) : ERR_NOMEM;
    return status == OK ? db_begin_reading(walk->db) : status;
}

static int finish(struct walk *walk, int status)
{
    arena_free(walk->arena);
    return memories_return(walk->call, walk->db, status);
}

/* Calls `visit` for each space of the owner and each shared one, or for all of them (NULL). */
static int each_space(struct walk *walk, const char *owner,
                      int (*visit)(struct walk *walk, const struct store_named_space *space))
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

static int export_row(void *context, const struct store_row *row)
{
    struct walk *walk = context;
    size_t length = strlen(row->memory.key);
    memcpy(walk->last, row->memory.key, length < sizeof walk->last ? length + 1 : 0);
    walk->taken++;
    walk->extent.memories++;
    struct store_row marked = *row;
    store_mark(walk->arena, &marked);
    int status = walk->take(walk->context, walk->space, &marked.memory);
    arena_reset(walk->arena);
    return status;
}

static int export_space(struct walk *walk, int64_t id, const struct memory_space *space)
{
    int status = OK;
    walk->space = space;
    walk->last[0] = '\0';
    do {
        walk->taken = 0;
        status = store_each(walk->db, walk->arena, id, walk->last, walk->now_ms,
                            LIMIT_MEMORY_CATCH_UP, export_row, walk);
        status = status == OK ? call_check(walk->call) : status;
    } while (status == OK && walk->taken > 0);
    return status;
}

static int export_visited(struct walk *walk, const struct store_named_space *found)
{
    if (is_hidden(&found->space)) {
        return OK;
    }
    int64_t before = walk->extent.memories;
    int status = export_space(walk, found->id, &found->space);
    walk->extent.namespaces += walk->extent.memories > before;
    return status;
}

static int count_visited(struct walk *walk, const struct store_named_space *found)
{
    int64_t count = 0;
    int status = store_count(walk->db, found->id, walk->now_ms, &count);
    walk->extent.all_memories += count;
    walk->extent.all_namespaces += count > 0;
    return status;
}

static int export_named(struct walk *walk, const struct memory_space *space)
{
    struct store_space found;
    int status = store_space_of(walk->db, space, false, &found);
    if (status == OK && found.id != 0) {
        status = export_space(walk, found.id, space);
    }
    walk->extent.namespaces = walk->extent.memories > 0;
    return status;
}

int memory_export(struct call *call, const struct memory_scope *scope,
                  int (*take)(void *context, const struct memory_space *space,
                              const struct memory *memory),
                  void *context, struct memory_extent *extent)
{
    struct walk walk;
    int status = start(&walk, call);
    walk.take = take;
    walk.context = context;
    if (status == OK) {
        status = scope->space ? export_named(&walk, scope->space)
                              : each_space(&walk, owner_of(call, scope), export_visited);
    }
    if (status == OK && extent) {
        status = each_space(&walk, NULL, count_visited);
        *extent = walk.extent;
    }
    return finish(&walk, status);
}

/* ---- namespaces ---- */

struct listing {
    struct walk walk;
    bool hidden_too;
    int (*take)(void *context, const struct memory_namespace *namespace);
    void *context;
};

static int list_visited(struct walk *walk, const struct store_named_space *found)
{
    struct listing *listing = (struct listing *)walk;
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
    struct listing listing;
    int status = start(&listing.walk, call);
    listing.hidden_too = scope->of_everybody;
    listing.take = take;
    listing.context = context;
    if (status == OK) {
        status = each_space(&listing.walk, owner_of(call, scope), list_visited);
    }
    return finish(&listing.walk, status);
}
