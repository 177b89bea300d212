/* Fuzzes the answers of search providers. The first byte picks the provider, the second the type of
 * search, the rest is the answer; or the first line names the provider, whatever others there are,
 * and the answer is of the first type that it serves. Whatever it is: what is read has a link and
 * texts, within the ceilings, in valid UTF-8; pages that are merged are merged once; and a snippet
 * never grows by being made plain. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "text/text.h"
#include "websearch/order.h"
#include "world/world.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_providers: %s\n", what);
        abort();
    }
}

static void check_text(struct arena *arena, const char *text)
{
    if (text) {
        const char *plain = plain_text(arena, text);
        require(text_is_utf8(text, strlen(text)), "valid text");
        require(!plain || strlen(plain) <= strlen(text), "plain text does not grow");
        require(!plain || text_is_utf8(plain, strlen(plain)), "valid plain text");
    }
}

static void check_hits(struct arena *arena, const struct hits *hits)
{
    require(hits->count <= LIMIT_SEARCH_HITS, "ceiling");
    for (size_t i = 0; i < hits->count; i++) {
        const struct hit *hit = &hits->items[i];
        require(hit->link && *hit->link && hit->title && hit->snippet, "link and texts");
        require(strlen(hit->link) <= LIMIT_SEARCH_LINK_BYTES, "length of a link");
        check_text(arena, hit->title);
        check_text(arena, hit->snippet);
        check_text(arena, hit->published);
        check_text(arena, hit->image);
        query_allows(arena, &(struct search_query){.sites = {"example.org"}, .site_count = 1},
                     hit->link);
    }
    if (hits->remark) {
        check_text(arena, hits->remark);
    }
}

static void check_merging(struct arena *arena, const struct hits *hits)
{
    static const char *const TEXTS[] = {"x and what else"};
    static const struct order ORDER = {ORDER_VOTES | ORDER_WORDS | ORDER_COPIES, 25};
    const struct ranking rankings[] = {{hits, "one", "one", 0}, {hits, "two", "two", 0}};
    struct found *found;
    size_t count;
    if (merge_rankings(arena, rankings, 2, &found, &count) != OK ||
        order_found(arena, TEXTS, 1, &ORDER, found, count) != OK) {
        return;
    }
    require(count <= MERGE_DEPTH && count <= hits->count, "merged ceiling");
    for (size_t i = 0; i < count; i++) {
        require(found[i].votes == 2, "found by both");
        const char *canonical = canonical_url(arena, found[i].hit.link);
        for (size_t j = 0; canonical && j < i; j++) {
            const char *other = canonical_url(arena, found[j].hit.link);
            require(!other || strcmp(canonical, other) != 0, "each page once");
        }
    }
}

/* All of them in one row, open sources behind the others. */
static const struct provider *provider_numbered(uint8_t number)
{
    const struct provider *all[LIMIT_SEARCH_PROVIDERS];
    size_t count = 0;
    for (size_t i = 0; PROVIDERS[i]; i++) {
        all[count++] = PROVIDERS[i];
    }
    for (size_t i = 0; OPEN_SOURCES[i]; i++) {
        all[count++] = OPEN_SOURCES[i];
    }
    return all[number % count];
}

/* The open source that the first line names, or NULL. */
static const struct provider *source_named(const uint8_t *data, size_t size)
{
    for (size_t i = 0; OPEN_SOURCES[i]; i++) {
        size_t length = strlen(OPEN_SOURCES[i]->name);
        if (size > length && data[length] == '\n' &&
            memcmp(data, OPEN_SOURCES[i]->name, length) == 0) {
            return OPEN_SOURCES[i];
        }
    }
    return NULL;
}

static enum search_type type_served(const struct provider *source)
{
    enum search_type type = SEARCH_WEB;
    while (type + 1 < SEARCH_TYPES && !source->paths[type]) {
        type++;
    }
    return type;
}

FUZZ_TARGET(providers)
{
    if (size < 2) {
        return 0;
    }
    const struct provider *named = source_named(data, size);
    const struct provider *provider = named ? named : provider_numbered(data[0]);
    struct search_query query = {
        .text = "x",
        .count = 20,
        .page = 1,
        .type = named ? type_served(named) : data[1] % SEARCH_TYPES,
    };
    struct arena *arena = arena_new(MIB(16));
    struct hits hits;
    size_t start = named ? strlen(named->name) + 1 : 2;
    size_t length = size - start;
    /* As a response has it: with a NUL behind it. */
    const char *body = arena ? arena_strndup(arena, (const char *)data + start, length) : NULL;
    if (body) {
        int status = provider_read(provider, arena, body, length, &query, &hits);
        require(status == OK || status == ERR_INVALID || arena_failed(arena), "status");
        if (status == OK) {
            check_hits(arena, &hits);
            check_merging(arena, &hits);
        }
    }
    arena_free(arena);
    return 0;
}
