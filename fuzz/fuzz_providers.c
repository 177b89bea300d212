/* Fuzzes the answers of search providers. The first byte picks the provider, the second the type of
 * search, the rest is the answer. Whatever it is: what is read has a link and texts, within the
 * ceilings, in valid UTF-8; pages that are merged are merged once; and a snippet never grows by
 * being made plain. */
#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"
#include "websearch/results.h"
#include "world/world.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    struct found found[LIMIT_SEARCH_RESULTS];
    const struct hits *const answers[] = {hits, NULL, hits};
    size_t count;
    if (merge_hits(arena, answers, 3, found, LIMIT_SEARCH_RESULTS, &count) != OK) {
        return;
    }
    require(count <= LIMIT_SEARCH_RESULTS && count <= hits->count, "merged ceiling");
    for (size_t i = 0; i < count; i++) {
        require(found[i].found_by == 5, "found by both");
        const char *canonical = canonical_url(arena, found[i].hit.link);
        for (size_t j = 0; canonical && j < i; j++) {
            const char *other = canonical_url(arena, found[j].hit.link);
            require(!other || strcmp(canonical, other) != 0, "each page once");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const struct provider *provider = PROVIDERS[data[0] % LIMIT_SEARCH_PROVIDERS];
    struct search_query query = {.text = "x", .count = 20, .page = 1, .type = data[1] % 4};
    struct arena *arena = arena_new(MIB(16));
    struct hits hits;
    yyjson_doc *doc = arena ? json_parse(arena, (const char *)data + 2, size - 2, NULL) : NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (doc) {
        int status = provider_read(provider, arena, root, &query, &hits);
        require(status == OK || status == ERR_INVALID || arena_failed(arena), "status");
        if (status == OK) {
            check_hits(arena, &hits);
            check_merging(arena, &hits);
        }
    }
    arena_free(arena);
    return 0;
}
