/* The rules of changing memories: what a valid change is, what it makes of what is there, and what
 * it is answered with. Written once for every database; each function runs inside a transaction
 * that has locked the space, and leaves it to its caller to commit. */
#ifndef FORAGE_MEMORY_RULES_H
#define FORAGE_MEMORY_RULES_H

#include "memory/store.h"

/* Whose the change is: errors and results belong to `call`. */
struct rules_work {
    struct db *db;
    struct call *call;
    struct arena *arena;       /* for rows and results */
    struct store_space *space; /* locked */
    int64_t now_ms;
    int versions;     /* how many earlier versions of a memory are kept */
    int64_t quota;    /* bytes that the memories of an owner may take; 0: any number */
    bool shared;      /* the owner is everybody */
    bool *overwrites; /* set when contents were replaced or removed, and must leave the disk */
};

/* OK, or ERR_FAILED after call_fail() with VALIDATION, which names the parameter. */
int rules_check(struct call *call, const struct memory_change *change, bool adds);
/* A name that a namespace may have. */
int rules_check_namespace(struct call *call, const char *name);
/* Whether a key can be one: not too long, and no route's name. */
bool rules_takes_key(const char *key);

/* Says that a memory has no such version; ERR_FAILED. */
int rules_fail_version(struct call *call, int64_t version);

/* OK with a result; ERR_FAILED after call_fail(); a status of the connection. */
int rules_add(const struct rules_work *work, const struct memory_change *change,
              struct memory_result *result);
int rules_update(const struct rules_work *work, const struct memory_change *change,
                 struct memory_result *result);
int rules_delete(const struct rules_work *work, const char *key, bool *deleted);

#endif
