/* Exa without a key (https://docs.exa.ai/reference/exa-mcp): POST /mcp, the tool web_search_exa
 * with {query, numResults}. Its text, in an event, has a block for each result, as the vendor's
 * exa-mcp-server writes it:
 *
 *     Title: ...
 *     URL: ...
 *     Published: 2026-01-31T00:00:00.000Z, or N/A
 *     Author: ...
 *     Highlights:
 *     ...
 *
 * and a line of dashes between two of them. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 100
#define NOTHING      "No search results found"

static int build(struct provider_request *request)
{
    tool_call_start(request, "web_search_exa");
    provider_put(request, "query", request->query->text);
    provider_put_number(request, "numResults", provider_count_up_to(request, MOST_RESULTS));
    source_lacks(request, LACKS_SITES | LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

/* The line at `at` without the label that it begins with; NULL when it begins otherwise, or when
 * nobody knows. `at` moves to the next line where it does. */
static const char *labelled(struct arena *arena, const char **at, const char *label)
{
    size_t length = strlen(label);
    if (strncmp(*at, label, length) != 0) {
        return NULL;
    }
    const char *value = *at + length;
    size_t size = strcspn(value, "\n");
    *at = value + size + (value[size] == '\n');
    return size == 3 && memcmp(value, "N/A", 3) == 0 ? NULL : arena_strndup(arena, value, size);
}

/* Where the next block begins: a title with an address below it; the end where there is none. */
static const char *next_block(const char *at)
{
    static const char TITLE[] = "\nTitle: ";
    while ((at = strstr(at, TITLE))) {
        const char *line = at + sizeof TITLE - 1;
        line += strcspn(line, "\n");
        if (strncmp(line, "\nURL: ", 6) == 0) {
            return at + 1;
        }
        at++;
    }
    return NULL;
}

/* What is left of a block, without the dashes below it. */
static const char *rest_of(struct arena *arena, const char *at, const char *end)
{
    static const char LINE[] = "\n\n---\n\n";
    size_t length = end ? (size_t)(end - at) : strlen(at);
    size_t line = sizeof LINE - 1;
    if (length >= line && memcmp(at + length - line, LINE, line) == 0) {
        length -= line;
    }
    return arena_strndup(arena, at, length);
}

static void read_block(struct arena *arena, const char *at, const char *end, struct hits *hits)
{
    struct hit hit = {.title = labelled(arena, &at, "Title: ")};
    hit.link = labelled(arena, &at, "URL: ");
    hit.published = labelled(arena, &at, "Published: ");
    labelled(arena, &at, "Author: ");
    static const char *const LABELS[] = {"Highlights:\n", "Text: "};
    for (size_t i = 0; i < sizeof LABELS / sizeof *LABELS; i++) {
        if (strncmp(at, LABELS[i], strlen(LABELS[i])) == 0) {
            hit.snippet = rest_of(arena, at + strlen(LABELS[i]), end);
            break;
        }
    }
    hits_add(hits, &hit);
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    const char *text = tool_call_text(arena, body, length);
    /* As if a line stood before it, like before every other block. */
    text = text ? arena_printf(arena, "\n%s", text) : NULL;
    const char *block = text ? next_block(text) : NULL;
    if (!block) {
        return text && strncmp(text + 1, NOTHING, strlen(NOTHING)) == 0 ? OK : ERR_INVALID;
    }
    while (block && hits->count < LIMIT_SEARCH_HITS) {
        const char *end = next_block(block);
        read_block(arena, block, end, hits);
        block = end;
    }
    return OK;
}

/* A tool's error in an answer that is 200. */
static const char *const WALLS[] = {"free MCP rate limit", NULL};

static const struct source_terms TERMS = {
    .pace = {.windows = {{2, 1000}, {50, 86400000}}, .at_once = 2},
    .index = "exa",
    .walls = WALLS,
};

const struct provider SOURCE_EXA_OPEN = {
    .name = "exa-open",
    .title = "Exa (open)",
    .base_variable = "EXA_OPEN_BASE_URL",
    TOOL_CALL,
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/mcp"},
    .build = build,
    .read = read_answer,
};
