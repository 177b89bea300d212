/* Filters on documents. Names are looked up once, so that each document costs a few comparisons. */
#include "core/status.h"
#include "memory/index_internal.h"

#include <string.h>

static uint32_t known(struct sieve *sieve, const struct index *index, const char *name)
{
    uint32_t symbol = symbols_find(&index->names, name, strlen(name));
    sieve->impossible |= symbol == SYMBOL_NONE;
    return symbol;
}

int sieve_start(struct sieve *sieve, const struct index *index, struct arena *arena,
                const struct index_filter *filter)
{
    *sieve = (struct sieve){.filter = filter, .session = SYMBOL_NONE, .role = SYMBOL_NONE};
    if (filter->session) {
        sieve->session = known(sieve, index, filter->session);
    }
    if (filter->role) {
        sieve->role = known(sieve, index, filter->role);
    }
    sieve->tags = arena_alloc(arena, (filter->tag_count + 1) * sizeof *sieve->tags);
    for (size_t i = 0; i < filter->tag_count && sieve->tags; i++) {
        sieve->tags[i] = known(sieve, index, filter->tags[i]);
    }
    return sieve->tags ? OK : ERR_NOMEM;
}

static bool has_tag(const struct index *index, const struct document *document, uint32_t tag)
{
    for (size_t i = 0; i < document->tag_count; i++) {
        if (index->tags[document->tags + i] == tag) {
            return true;
        }
    }
    return false;
}

bool sieve_passes(const struct sieve *sieve, const struct index *index, uint32_t number)
{
    const struct index_filter *filter = sieve->filter;
    const struct document *document = &index->documents[number];
    if (document->dead || sieve->impossible ||
        (document->expires_ms > 0 && document->expires_ms <= filter->now_ms) ||
        (filter->from_ms != 0 && document->created_ms < filter->from_ms) ||
        (filter->until_ms != 0 && document->created_ms >= filter->until_ms) ||
        (filter->session && document->session != sieve->session) ||
        (filter->role && document->role != sieve->role)) {
        return false;
    }
    for (size_t i = 0; i < filter->tag_count; i++) {
        if (!has_tag(index, document, sieve->tags[i])) {
            return false;
        }
    }
    return true;
}
