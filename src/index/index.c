/* The index of one space: what comes goes into a builder, which becomes a segment when it is full
 * or when somebody wants to search; segments of about the same size become a larger one. So each
 * document is written a few times in all, and a search meets a few dozen segments at most. */
#include "index/index.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/internal.h"
#include "index/merge.h"

#include <stdlib.h>

struct index *index_new(void)
{
    struct index *index = calloc(1, sizeof *index);
    if (index) {
        index->builder = builder_new();
    }
    return index && !index->builder ? index_free(index) : index;
}

struct index *index_free(struct index *index)
{
    if (index) {
        view_done(&index->view);
        view_keeper_free(index->keeper);
        builder_free(index->builder);
        free(index);
    }
    return NULL;
}

size_t index_count(const struct index *index)
{
    return (size_t)index->view.live + builder_count(index->builder);
}

size_t index_bytes(const struct index *index)
{
    return sizeof *index + index->view.bytes + builder_bytes(index->builder);
}

/* ---- merging ---- */

/* What is on the shelf, or on its way there, is merged there, and so is what is large, without a
 * lock (shelving.h). */
static bool is_ours(const struct view_part *part)
{
    return part->number == 0 && !part->leaves;
}

/* Puts one segment in the place of those that are chosen. */
static int replace(struct index *index, const bool *chosen, size_t count)
{
    struct view *view = &index->view;
    struct merge_input *inputs = malloc((count + 1) * sizeof *inputs);
    size_t taken = 0;
    for (uint32_t i = 0; i < view->count && inputs; i++) {
        if (chosen[i]) {
            inputs[taken++] = (struct merge_input){&view->parts[i].segment, view->parts[i].dead};
        }
    }
    uint8_t *bytes = NULL;
    size_t length = 0;
    int status = inputs ? merge_segments(inputs, count, &bytes, &length) : ERR_NOMEM;
    free(inputs);
    if (status != OK) {
        return status;
    }
    for (uint32_t i = view->count; i-- > 0;) {
        if (chosen[i]) {
            view_drop(view, i);
        }
    }
    status = view_add(view, bytes, length);
    if (status != OK) {
        free(bytes);
    }
    return status;
}

/* Chooses the segments of a tier when there are enough of them, or one that is half dead. How many;
 * 0: there is nothing to do. */
static size_t choose(const struct view *view, unsigned int tier, bool *chosen)
{
    size_t count = 0;
    uint64_t documents = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct view_part *part = &view->parts[i];
        bool fits = is_ours(part) && view_tier(part) == tier &&
                    documents + view_living(part) <= VIEW_MOST_WAITED;
        chosen[i] = fits;
        count += fits;
        documents += fits ? view_living(part) : 0;
    }
    if (count >= VIEW_TIER_GROWTH) {
        return count;
    }
    for (uint32_t i = 0; i < view->count; i++) {
        const struct view_part *part = &view->parts[i];
        chosen[i] = is_ours(part) && view_tier(part) == tier &&
                    part->dead_count > view_living(part) &&
                    part->segment.documents <= VIEW_MOST_WAITED;
        if (chosen[i]) {
            for (uint32_t j = i + 1; j < view->count; j++) {
                chosen[j] = false;
            }
            return 1;
        }
    }
    return 0;
}

static int merge_tiers(struct index *index)
{
    int status = OK;
    for (unsigned int tier = 0; tier < 8 && status == OK; tier++) {
        bool *chosen = malloc(index->view.count + (size_t)1);
        size_t count = chosen ? choose(&index->view, tier, chosen) : 0;
        status = !chosen ? ERR_NOMEM : count > 0 ? replace(index, chosen, count) : OK;
        free(chosen);
    }
    return status;
}

/* ---- changing ---- */

/* Makes a segment of what the builder holds. */
static int seal(struct index *index)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (builder_count(index->builder) == 0) {
        return OK;
    }
    int status = builder_seal(index->builder, &bytes, &length);
    if (status == OK) {
        status = view_add(&index->view, bytes, length);
        if (status != OK) {
            free(bytes);
        }
    }
    return status == OK ? merge_tiers(index) : status;
}

int index_settle(struct index *index)
{
    return seal(index);
}

int index_take_over(struct index *index, struct index *from)
{
    for (uint32_t i = 0; i < from->view.count; i++) {
        const struct view_part *part = &from->view.parts[i];
        for (uint32_t j = 0; j < part->segment.documents; j++) {
            if (!view_is_dead(part, j)) {
                index_remove(index, part->segment.ids[j]);
            }
        }
    }
    return view_take_over(&index->view, &from->view);
}

void index_remove(struct index *index, int64_t id)
{
    if (!builder_remove(index->builder, id)) {
        view_remove(&index->view, id);
    }
}

int index_put(struct index *index, const struct index_entry *entry)
{
    index_remove(index, entry->id);
    int status = builder_put(index->builder, entry);
    return status == OK && builder_full(index->builder) ? seal(index) : status;
}
