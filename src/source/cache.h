/* A bounded cache of answers on disk, shared by every forage process of a user: one file for each
 * answer, named by a hash of what was asked, written aside and renamed, so that a reader sees a
 * whole file or none. What was not used for longest goes first. A file that is broken or not ours
 * is ignored. What may be stored, and for how long it is good, others decide.
 *
 * A file's time of modification is when its answer was last known to be true; its time of access,
 * which is set explicitly, when it was last used. */
#ifndef FORAGE_SOURCE_CACHE_H
#define FORAGE_SOURCE_CACHE_H

#include "net/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_KEY_SIZE 65 /* hexadecimal digits of a SHA-256 and a NUL */

struct cache;

/* Which of all stored answers one is: what was asked for, and the checksum of its file, over the
 * body too. Whoever replaces the answer by another one makes another mark. */
struct cache_mark {
    char key[CACHE_KEY_SIZE];
    uint64_t sum; /* 0: it is not stored */
};

/* Asked about an answer before its body is read: whether the caller has all that he wants of it. */
struct cache_known {
    bool (*is_known)(void *context, const struct cache_mark *mark);
    void *context;
};

struct cached {
    struct fetch_response answer; /* in the arena; without its body where it is known */
    int64_t age_s; /* since it was last known to be true; INT64_MAX where that cannot be said */
    struct cache_mark mark;
    bool known;
};

/* Opens the folder; it and its parent are made where they are missing. NULL with the reason in
 * `problem` when it cannot be used: no memory, no permission, not ours alone. */
struct cache *cache_open(const char *folder, uint64_t max_bytes, char *problem, size_t size);
struct cache *cache_close(struct cache *cache);

/* The name of what was asked: every part counts, NULL ends them. */
void cache_key(char key[CACHE_KEY_SIZE], const char *const *parts);

/* OK, ERR_NOTFOUND, ERR_NOMEM. A find counts as a use. `known` may be NULL: nothing is. */
MUST_CHECK int cache_find(struct cache *cache, struct arena *arena, const char *key,
                          const struct cache_known *known, struct cached *found);
/* Stores an answer in place of an older one, with the headers that somebody may want later. OK with
 * its mark; ERR_LIMIT when it is too large to be worth it; ERR_IO with errno set, for example on a
 * full disk. */
MUST_CHECK int cache_keep(struct cache *cache, const char *key, const struct fetch_response *answer,
                          struct cache_mark *mark);
/* The answer is as true as if it had just come. */
void cache_confirm(struct cache *cache, const char *key);

#endif
