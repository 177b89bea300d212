/* Stack Exchange (https://api.stackexchange.com/docs/advanced-search): GET /2.3/search/advanced
 * with q, site, page, pagesize, fromdate and todate. One site is searched: Stack Overflow, or the
 * one that was asked for. Answers tell how much of the day's quota is left, and how long to wait
 * before the next search; refusals come with HTTP 400 and say what they are about. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>
#include <time.h>

#define A_DAY 86400

/* Sites with names of their own; the others are below stackexchange.com. */
static const char *const SITES[] = {"stackoverflow.com", "serverfault.com",  "superuser.com",
                                    "askubuntu.com",     "mathoverflow.net", "stackapps.com"};
/* Languages that Stack Overflow has a site for. */
static const char *const LANGUAGES[] = {"es", "ja", "pt", "ru"};

/* ---- asking ---- */

static bool is_of_network(const char *host)
{
    static const char *const PARENTS[] = {".stackexchange.com", ".stackoverflow.com"};
    size_t length = strlen(host);
    for (size_t i = 0; i < sizeof PARENTS / sizeof *PARENTS; i++) {
        size_t ending = strlen(PARENTS[i]);
        if (length > ending && strcmp(host + length - ending, PARENTS[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++) {
        if (strcmp(host, SITES[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const char *site(struct provider_request *request)
{
    const struct search_query *query = request->query;
    for (size_t i = 0; i < query->site_count; i++) {
        if (is_of_network(query->sites[i])) {
            if (query->site_count > 1) {
                provider_left_out(request, "sites: Stack Exchange searches one; this was %s",
                                  query->sites[i]);
            }
            return query->sites[i];
        }
    }
    const char *wanted = query->language ? query->language : "en";
    for (size_t i = 0; i < sizeof LANGUAGES / sizeof *LANGUAGES; i++) {
        if (strncmp(wanted, LANGUAGES[i], 2) == 0 && strcspn(wanted, "-") == 2) {
            return arena_printf(request->arena, "%s.stackoverflow.com", LANGUAGES[i]);
        }
    }
    if (strncmp(wanted, "en", 2) != 0) {
        provider_left_out(request, "language: Stack Overflow has no site in %s", wanted);
    }
    return "stackoverflow";
}

/* Seconds since 1970, of the first or the last moment of a day. */
static void put_time(struct provider_request *request, const char *name, const char *date,
                     bool last)
{
    struct tm parts = {0};
    if (date && strptime(date, "%Y-%m-%d", &parts)) {
        time_t moment = timegm(&parts) + (last ? A_DAY - 1 : 0);
        provider_put_number(request, name, moment > 0 ? (size_t)moment : 0);
    }
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *where = site(request);
    provider_put(request, "q", query->text);
    provider_put(request, "site", where);
    provider_put_number(request, "page", query->page);
    provider_put_number(request, "pagesize", query->count);
    provider_put(request, "order", "desc");
    provider_put(request, "sort", "relevance");
    put_time(request, "fromdate", query_since(request->arena, query), false);
    put_time(request, "todate", query->end_date, true);
    provider_put(request, "key", request->key);
    source_lacks(request, LACKS_REGION);
    return where ? OK : ERR_NOMEM;
}

/* ---- reading ---- */

/* "5 points, answered; c++, linux" */
static const char *describe(struct arena *arena, yyjson_val *item)
{
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    bool answered = yyjson_is_true(yyjson_obj_get(item, "is_answered"));
    buf_printf(&text, "%lld points, %s", (long long)yyjson_get_num(yyjson_obj_get(item, "score")),
               answered ? "answered" : "without an answer that was accepted or voted for");
    size_t index, max;
    yyjson_val *tag;
    yyjson_arr_foreach(yyjson_obj_get(item, "tags"), index, max, tag)
    {
        if (yyjson_is_str(tag)) {
            buf_printf(&text, "%s%s", index ? ", " : "; ", yyjson_get_str(tag));
        }
    }
    return buf_to_arena(&text, arena);
}

static const char *date_of(struct arena *arena, yyjson_val *item)
{
    time_t created = (time_t)yyjson_get_sint(yyjson_obj_get(item, "creation_date"));
    struct tm parts;
    char date[16];
    if (created <= 0 || !gmtime_r(&created, &parts) ||
        strftime(date, sizeof date, "%Y-%m-%d", &parts) == 0) {
        return NULL;
    }
    return arena_strdup(arena, date);
}

/* A quota that is spent comes back at midnight, in UTC. */
static int64_t rest_of(yyjson_val *answer)
{
    yyjson_val *left = yyjson_obj_get(answer, "quota_remaining");
    if (yyjson_is_num(left) && yyjson_get_num(left) <= 0) {
        return (A_DAY - time(NULL) % A_DAY) * INT64_C(1000);
    }
    double seconds = yyjson_get_num(yyjson_obj_get(answer, "backoff"));
    return seconds > 0 ? (int64_t)(seconds < A_DAY ? seconds * 1000 : A_DAY * 1000.0) : 0;
}

static struct hit read_question(struct arena *arena, yyjson_val *item,
                                const struct search_query *query)
{
    (void)query;
    return (struct hit){
        .title = plain_text(arena, json_string(item, "title")),
        .link = json_string(item, "link"),
        .snippet = describe(arena, item),
        .published = date_of(arena, item),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    yyjson_val *list = yyjson_obj_get(answer, "items");
    int status = hits_add_each(arena, list, query, hits, read_question);
    hits->rest_ms = status == OK ? rest_of(answer) : 0;
    return status;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {300, A_DAY * 1000}}, .at_once = 1},
    .known = {.windows = {{1, 1000}, {10000, A_DAY * 1000}}, .at_once = 1},
    .attribution = "Stack Exchange: questions and answers under CC BY-SA 4.0",
};

const struct provider SOURCE_STACKEXCHANGE = {
    .name = "stackexchange",
    .title = "Stack Exchange",
    .key_variable = "STACKEXCHANGE_KEY",
    .base_variable = "STACKEXCHANGE_BASE_URL",
    .spent = "throttle_violation",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/2.3/search/advanced"},
    .build = build,
    .parse = parse,
};
