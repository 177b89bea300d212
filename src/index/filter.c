/* A filter with its names as the numbers that each segment has for them. */
#include "index/filter.h"

#include "index/internal.h"

#include <string.h>

/* The names in one segment. */
struct filter_names {
    uint32_t session, role;
    uint32_t *tags;
    bool impossible; /* it asks for a name that no document has */
};

struct index_sieve {
    const struct index_filter *wanted;
    const struct view *view;
    struct filter_names *names; /* of each part */
};

static uint32_t known(struct filter_names *names, const struct segment *segment, const char *name)
{
    uint32_t number = segment_name(segment, name, strlen(name));
    names->impossible |= number == SYMBOL_NONE;
    return number;
}

struct index_sieve *filter_new(struct arena *arena, const struct view *view,
                               const struct index_filter *wanted)
{
    struct index_sieve *filter = arena_alloc(arena, sizeof *filter);
    struct filter_names *names = arena_zalloc(arena, (view->count + 1) * sizeof *names);
    if (!filter || !names) {
        return NULL;
    }
    *filter = (struct index_sieve){wanted, view, names};
    for (uint32_t i = 0; i < view->count; i++) {
        const struct segment *segment = &view->parts[i].segment;
        names[i].session = wanted->session ? known(&names[i], segment, wanted->session) : 0;
        names[i].role = wanted->role ? known(&names[i], segment, wanted->role) : 0;
        names[i].tags = arena_alloc(arena, (wanted->tag_count + 1) * sizeof *names[i].tags);
        for (size_t j = 0; j < wanted->tag_count && names[i].tags; j++) {
            names[i].tags[j] = known(&names[i], segment, wanted->tags[j]);
        }
    }
    return arena_failed(arena) ? NULL : filter;
}

static bool has_tag(const struct segment *segment, uint32_t document, uint32_t tag)
{
    uint32_t count;
    const uint32_t *tags = segment_tags(segment, document, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (tags[i] == tag) {
            return true;
        }
    }
    return false;
}

bool filter_expired(const struct index_sieve *filter, uint32_t part, uint32_t document)
{
    int64_t expires_ms = filter->view->parts[part].segment.expires[document];
    return expires_ms > 0 && expires_ms <= filter->wanted->now_ms;
}

bool filter_passes(const struct index_sieve *filter, uint32_t part, uint32_t document)
{
    const struct index_filter *wanted = filter->wanted;
    const struct segment *segment = &filter->view->parts[part].segment;
    const struct filter_names *names = &filter->names[part];
    int64_t created_ms = segment->created[document];
    if (view_is_dead(&filter->view->parts[part], document) || names->impossible ||
        filter_expired(filter, part, document) ||
        (wanted->from_ms != 0 && created_ms < wanted->from_ms) ||
        (wanted->until_ms != 0 && created_ms >= wanted->until_ms) ||
        (wanted->session && segment->sessions[document] != names->session) ||
        (wanted->role && segment->roles[document] != names->role)) {
        return false;
    }
    for (size_t i = 0; i < wanted->tag_count; i++) {
        if (!has_tag(segment, document, names->tags[i])) {
            return false;
        }
    }
    return true;
}

const struct index_sieve *index_sieve(const struct index *index, struct arena *arena,
                                      const struct index_filter *filter)
{
    return filter_new(arena, &index->view, filter);
}

bool index_passes(const struct index_sieve *sieve, int64_t id)
{
    for (uint32_t i = 0; i < sieve->view->count; i++) {
        uint32_t document = segment_find(&sieve->view->parts[i].segment, id);
        if (document != NO_DOCUMENT && filter_passes(sieve, i, document)) {
            return true;
        }
    }
    return false;
}
