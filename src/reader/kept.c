/* The last documents: a short list, the one that was used last first. */
#include "reader/kept.h"

#include "core/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* In its own arena, with all that it points to. */
struct kept_document {
    struct arena *arena;
    struct kept_key key;
    struct made_document made;
};

struct kept {
    pthread_mutex_t lock;
    struct kept_document *list[LIMIT_KEPT_DOCUMENTS];
    size_t count;
    size_t bytes;
};

struct kept *kept_new(void)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept) {
        pthread_mutex_init(&kept->lock, NULL);
    }
    return kept;
}

static void drop(struct kept *kept, size_t place)
{
    struct arena *arena = kept->list[place]->arena;
    kept->bytes -= arena_used(arena);
    kept->count--;
    memmove(kept->list + place, kept->list + place + 1, (kept->count - place) * sizeof *kept->list);
    arena_free(arena);
}

struct kept *kept_free(struct kept *kept)
{
    if (kept) {
        while (kept->count) {
            drop(kept, kept->count - 1);
        }
        pthread_mutex_destroy(&kept->lock);
        free(kept);
    }
    return NULL;
}

static bool is_same_question(const struct kept_key *a, const struct kept_key *b)
{
    return strcmp(a->mark.key, b->mark.key) == 0;
}

static bool is_same_making(const struct kept_key *a, const struct kept_key *b)
{
    return a->all == b->all && a->scripts_ran == b->scripts_ran;
}

static void put_first(struct kept *kept, struct kept_document *entry, size_t place)
{
    memmove(kept->list + 1, kept->list, place * sizeof *kept->list);
    kept->list[0] = entry;
}

bool kept_find(struct kept *kept, const struct kept_key *key, struct arena *arena,
               struct made_document *made)
{
    bool found = false;
    pthread_mutex_lock(&kept->lock);
    for (size_t i = 0; i < kept->count && !found; i++) {
        struct kept_document *entry = kept->list[i];
        if (is_same_question(&entry->key, key) && entry->key.mark.sum == key->mark.sum &&
            is_same_making(&entry->key, key)) {
            put_first(kept, entry, i);
            *made = entry->made;
            found = document_copy(&made->document, arena) == OK;
        }
    }
    pthread_mutex_unlock(&kept->lock);
    return found;
}

static struct kept_document *copy(const struct kept_key *key, const struct made_document *made)
{
    struct arena *arena = arena_new(LIMIT_KEPT_BYTES);
    struct kept_document *entry = arena ? arena_alloc(arena, sizeof *entry) : NULL;
    if (entry) {
        *entry = (struct kept_document){.arena = arena, .key = *key, .made = *made};
    }
    if (!entry || document_copy(&entry->made.document, arena) != OK) {
        arena_free(arena);
        return NULL;
    }
    return entry;
}

void kept_put(struct kept *kept, const struct kept_key *key, const struct made_document *made)
{
    struct kept_document *entry = copy(key, made);
    if (!entry) {
        return;
    }
    size_t bytes = arena_used(entry->arena);
    pthread_mutex_lock(&kept->lock);
    for (size_t i = kept->count; i-- > 0;) {
        const struct kept_key *old = &kept->list[i]->key;
        if (is_same_question(old, key) &&
            (old->mark.sum != key->mark.sum || is_same_making(old, key))) {
            drop(kept, i);
        }
    }
    while (kept->count == LIMIT_KEPT_DOCUMENTS ||
           (kept->count && kept->bytes + bytes > LIMIT_KEPT_BYTES)) {
        drop(kept, kept->count - 1);
    }
    put_first(kept, entry, kept->count++);
    kept->bytes += bytes;
    pthread_mutex_unlock(&kept->lock);
}
