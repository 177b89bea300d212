/* Merges rankings by the votes that they give. */
#include "websearch/merge.h"

#include "core/status.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one page, as several say it ---- */

static bool is_secure(const char *link)
{
    return strncasecmp(link, "https:", 6) == 0;
}

/* A title that is only the address says nothing. */
static size_t title_worth(const struct hit *hit)
{
    return strcmp(hit->title, hit->link) == 0 ? 0 : strlen(hit->title);
}

/* Keeps what says more; an address that is encrypted is better than one that is not. */
static void take_better(struct hit *hit, const struct hit *other)
{
    if (title_worth(other) > title_worth(hit)) {
        hit->title = other->title;
    }
    if (strlen(other->snippet) > strlen(hit->snippet)) {
        hit->snippet = other->snippet;
    }
    if (is_secure(other->link) && !is_secure(hit->link)) {
        hit->link = other->link;
    }
    hit->published = hit->published ? hit->published : other->published;
    hit->image = hit->image ? hit->image : other->image;
}

/* ---- collecting ---- */

struct ranking_merge {
    const struct ranking *rankings;
    size_t ranking_count;
    struct found *found;
    size_t count;
};

static struct found *find(struct ranking_merge *merging, const char *canonical)
{
    for (size_t i = 0; i < merging->count; i++) {
        if (strcmp(merging->found[i].canonical, canonical) == 0) {
            return &merging->found[i];
        }
    }
    return NULL;
}

static void add(struct ranking_merge *merging, size_t ranking, size_t rank, const char *canonical)
{
    const struct hit *hit = &merging->rankings[ranking].hits->items[rank];
    struct found *found = find(merging, canonical);
    if (!found) {
        found = &merging->found[merging->count++];
        *found = (struct found){.hit = *hit, .canonical = canonical};
    } else {
        take_better(&found->hit, hit);
    }
    found->queries |= 1u << merging->rankings[ranking].query;
    if (!found->ranks[ranking]) { /* of twins in one ranking the better counts */
        found->ranks[ranking] = (unsigned char)(rank + 1);
    }
}

/* By rank, so that the hit that ranks best is the one that others add to. */
static int collect(struct ranking_merge *merging, struct arena *arena)
{
    for (size_t rank = 0; rank < MERGE_DEPTH; rank++) {
        for (size_t i = 0; i < merging->ranking_count; i++) {
            const struct hits *hits = merging->rankings[i].hits;
            if (!hits || rank >= hits->count) {
                continue;
            }
            const char *canonical = canonical_url(arena, hits->items[rank].link);
            if (!canonical) {
                return ERR_NOMEM;
            }
            add(merging, i, rank, canonical);
        }
    }
    return OK;
}

/* ---- voting ---- */

static bool vote_together(const struct ranking *a, const struct ranking *b)
{
    return a->query == b->query && strcmp(a->index, b->index) == 0;
}

/* The best rank among those that vote with this one, if this one is the first of them; or 0. */
static unsigned rank_of_group(const struct ranking_merge *merging, const struct found *found,
                              size_t first)
{
    unsigned best = 0;
    for (size_t i = 0; i < merging->ranking_count; i++) {
        if (!vote_together(&merging->rankings[first], &merging->rankings[i])) {
            continue;
        }
        if (i < first) {
            return 0;
        }
        if (found->ranks[i] && (!best || found->ranks[i] < best)) {
            best = found->ranks[i];
        }
    }
    return best;
}

static void count_votes(const struct ranking_merge *merging, struct found *found)
{
    for (size_t i = 0; i < merging->ranking_count; i++) {
        unsigned rank = rank_of_group(merging, found, i);
        if (rank) {
            found->fused += MERGE_VOTE(rank);
            found->votes++;
            found->best_rank =
                found->best_rank && found->best_rank < rank ? found->best_rank : rank;
        }
    }
    found->score = found->fused;
}

/* ---- the list ---- */

static int compare(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;
    if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    if (a->votes != b->votes) {
        return a->votes > b->votes ? -1 : 1;
    }
    if (a->best_rank != b->best_rank) {
        return a->best_rank < b->best_rank ? -1 : 1;
    }
    return strcmp(a->canonical, b->canonical);
}

void merge_sort(struct found *found, size_t count)
{
    qsort(found, count, sizeof *found, compare);
}

int merge_rankings(struct arena *arena, const struct ranking *rankings, size_t count,
                   struct found **found, size_t *found_count)
{
    struct ranking_merge merging = {.rankings = rankings, .ranking_count = count};
    size_t most = 1;
    for (size_t i = 0; i < count; i++) {
        size_t hits = rankings[i].hits ? rankings[i].hits->count : 0;
        most += hits < MERGE_DEPTH ? hits : MERGE_DEPTH;
    }
    merging.found = arena_zalloc(arena, most * sizeof *merging.found);
    int status = merging.found ? collect(&merging, arena) : ERR_NOMEM;
    if (status == OK) {
        for (size_t i = 0; i < merging.count; i++) {
            count_votes(&merging, &merging.found[i]);
        }
        merge_sort(merging.found, merging.count);
        *found = merging.found;
        *found_count = merging.count;
    }
    return status;
}
