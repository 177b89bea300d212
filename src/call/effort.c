/* A short list is enough: what matters is the one caller who takes most. */
#include "call/effort.h"

#include "core/hash.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define HALF_LIFE_MS  1000.0
#define LEAST_US      150000 /* about a tenth of a processor: less is in nobody's way */
#define OTHERS_AGE_MS 5000   /* an owner who was not seen for longer has gone */

static uint64_t hash(const char *owner)
{
    uint64_t hash = hash_add(HASH_START, owner ? owner : "", owner ? strlen(owner) : 0);
    return hash ? hash : 1;
}

static double left(const struct effort_owner *owner, int64_t now_ms)
{
    return owner->us * exp2((double)(owner->at_ms - now_ms) / HALF_LIFE_MS);
}

void effort_add(struct effort *effort, const char *owner, int64_t us, int64_t now_ms)
{
    uint64_t name = hash(owner);
    struct effort_owner *found = &effort->owners[0];
    for (size_t i = 0; i < EFFORT_OWNERS; i++) {
        struct effort_owner *at = &effort->owners[i];
        if (at->name == name) {
            found = at;
            break;
        }
        found = left(at, now_ms) < left(found, now_ms) ? at : found;
    }
    if (found->name != name) {
        *found = (struct effort_owner){.name = name};
    }
    found->us = left(found, now_ms) + (double)us;
    found->at_ms = now_ms;
}

bool effort_is_most(const struct effort *effort, const char *owner, int64_t now_ms)
{
    uint64_t name = hash(owner);
    double own = 0;
    double others = 0;
    bool has_others = false;
    for (size_t i = 0; i < EFFORT_OWNERS; i++) {
        const struct effort_owner *at = &effort->owners[i];
        if (at->name == name) {
            own = left(at, now_ms);
        } else if (at->name != 0) {
            others += left(at, now_ms);
            has_others |= now_ms - at->at_ms < OTHERS_AGE_MS;
        }
    }
    return has_others && own > LEAST_US && own > others;
}
