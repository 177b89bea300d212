/* GitHub (https://docs.github.com/en/rest/search/search): GET /search/repositories and
 * /search/issues with q, per_page and page. Two sources, since a repository is found by its name
 * and what it is about, an issue by what somebody wrote. Its quota of searches is one for both, so
 * each has half of it. Searching in files needs a token. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define LONGEST_QUERY 256 /* characters, qualifiers not counted */

/* ---- asking ---- */

/* " created:2026-01-31..2026-02-28"; "" for any time. NULL without memory. */
static const char *time_of(struct provider_request *request, const char *qualifier)
{
    const char *since = query_since(request->arena, request->query);
    const char *until = request->query->end_date;
    if (since && until) {
        return arena_printf(request->arena, " %s:%s..%s", qualifier, since, until);
    }
    return since   ? arena_printf(request->arena, " %s:>=%s", qualifier, since)
           : until ? arena_printf(request->arena, " %s:<=%s", qualifier, until)
                   : "";
}

static int ask_for(struct provider_request *request, const char *kind, const char *qualifier)
{
    const struct search_query *query = request->query;
    bool cut;
    const char *text = query_clip(request->arena, query->text, LONGEST_QUERY, &cut);
    const char *time = time_of(request, qualifier);
    if (!text || !time) {
        return ERR_NOMEM;
    }
    if (cut) {
        provider_left_out(request, "query: GitHub takes %d characters; the rest was dropped",
                          LONGEST_QUERY);
    }
    provider_header(request, "X-GitHub-Api-Version", "2022-11-28");
    provider_put(request, "q", arena_printf(request->arena, "%s%s%s", text, kind, time));
    provider_put_number(request, "per_page", query->count);
    provider_put_number(request, "page", query->page);
    source_lacks(request, LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

static int build_repositories(struct provider_request *request)
{
    return ask_for(request, "", "pushed");
}

static int build_issues(struct provider_request *request)
{
    return ask_for(request, " is:issue", "created");
}

/* ---- reading ---- */

static struct hit read_repository(struct arena *arena, yyjson_val *item,
                                  const struct search_query *query)
{
    (void)query;
    const char *words = json_string(item, "description");
    const char *language = json_string(item, "language");
    bool archived = yyjson_is_true(yyjson_obj_get(item, "archived"));
    long long stars = (long long)yyjson_get_num(yyjson_obj_get(item, "stargazers_count"));
    return (struct hit){
        .title = json_string(item, "full_name"),
        .link = json_string(item, "html_url"),
        .snippet = arena_printf(arena, "%s (%s%s%lld stars%s)", words ? words : "No description",
                                language ? language : "", language ? ", " : "", stars,
                                archived ? ", archived" : ""),
        .published = json_string(item, "pushed_at"),
    };
}

/* "owner/repo" of ".../repos/owner/repo". */
static const char *name_of(yyjson_val *item)
{
    static const char BEFORE[] = "/repos/";
    const char *address = json_string(item, "repository_url");
    const char *name = address ? strstr(address, BEFORE) : NULL;
    return name ? name + sizeof BEFORE - 1 : "";
}

static struct hit read_issue(struct arena *arena, yyjson_val *item,
                             const struct search_query *query)
{
    (void)query;
    const char *title = json_string(item, "title");
    const char *body = json_string(item, "body");
    const char *state = json_string(item, "state");
    const char *name = name_of(item);
    return (struct hit){
        .title = title ? arena_printf(arena, "%s%s%s", name, *name ? ": " : "", title) : NULL,
        .link = json_string(item, "html_url"),
        .snippet =
            arena_printf(arena, "%s%s%s", state ? state : "", state ? ": " : "", body ? body : ""),
        .published = json_string(item, "created_at"),
    };
}

/* An answer without results may say that there was no time to find them. */
static int check_whole(yyjson_val *answer, struct hits *hits, int status)
{
    bool cut = yyjson_is_true(yyjson_obj_get(answer, "incomplete_results"));
    if (status == OK && !hits->count && cut) {
        hits->remark = "GitHub ran out of time and may have found more; ask for less";
    }
    return status;
}

static int parse_repositories(struct arena *arena, yyjson_val *answer,
                              const struct search_query *query, struct hits *hits)
{
    yyjson_val *list = yyjson_obj_get(answer, "items");
    return check_whole(answer, hits, hits_add_each(arena, list, query, hits, read_repository));
}

static int parse_issues(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                        struct hits *hits)
{
    yyjson_val *list = yyjson_obj_get(answer, "items");
    return check_whole(answer, hits, hits_add_each(arena, list, query, hits, read_issue));
}

/* Half of 10 a minute, and of 30 with a token. */
static const struct source_terms TERMS = {
    .pace = {.windows = {{5, 60000}}, .at_once = 1},
    .known = {.windows = {{15, 60000}}, .at_once = 1},
    .left_header = "x-ratelimit-remaining",
    .reset_header = "x-ratelimit-reset",
};

const struct provider SOURCE_GITHUB = {
    .name = "github",
    .title = "GitHub",
    .key_variable = "GITHUB_TOKEN",
    .base_variable = "GITHUB_BASE_URL",
    .key_header = "Authorization",
    .spent = "secondary rate limit",
    .accept = "application/vnd.github+json",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/search/repositories"},
    .build = build_repositories,
    .parse = parse_repositories,
};

const struct provider SOURCE_GITHUB_ISSUES = {
    .name = "github-issues",
    .title = "GitHub's issues",
    .key_variable = "GITHUB_TOKEN",
    .base_variable = "GITHUB_BASE_URL",
    .key_header = "Authorization",
    .spent = "secondary rate limit",
    .accept = "application/vnd.github+json",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/search/issues"},
    .build = build_issues,
    .parse = parse_issues,
};
