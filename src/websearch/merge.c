/* Merging by rank. */
#include "websearch/merge.h"

#include "core/status.h"
#include "websearch/canonical.h"

#include <string.h>

struct merging {
    struct found *found;
    const char **canonical; /* of each */
    size_t count, most;
};

static void add(struct merging *merging, const struct hit *hit, const char *canonical,
                size_t answer)
{
    for (size_t i = 0; i < merging->count; i++) {
        if (strcmp(merging->canonical[i], canonical) == 0) {
            merging->found[i].found_by |= 1u << answer;
            return;
        }
    }
    if (merging->count < merging->most) {
        merging->canonical[merging->count] = canonical;
        merging->found[merging->count++] = (struct found){*hit, 1u << answer};
    }
}

int merge_hits(struct arena *arena, const struct hits *const *answers, size_t answer_count,
               struct found *found, size_t most, size_t *count)
{
    struct merging merging = {.found = found, .most = most};
    merging.canonical = arena_zalloc(arena, most * sizeof *merging.canonical);
    if (!merging.canonical) {
        return ERR_NOMEM;
    }
    for (size_t rank = 0; rank < LIMIT_SEARCH_HITS; rank++) {
        for (size_t answer = 0; answer < answer_count; answer++) {
            if (!answers[answer] || rank >= answers[answer]->count) {
                continue;
            }
            const struct hit *hit = &answers[answer]->items[rank];
            const char *canonical = canonical_url(arena, hit->link);
            if (!canonical) {
                return ERR_NOMEM;
            }
            add(&merging, hit, canonical, answer);
        }
    }
    *count = merging.count;
    return OK;
}
