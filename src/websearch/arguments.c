/* The arguments of web_search: what a schema cannot say about them. */
#include "call/errors.h"
#include "config/budget.h"
#include "text/text.h"
#include "text/url.h"
#include "websearch/websearch.h"
#include "world/world.h"

#include <string.h>

static int wrong(struct call *call, const char *name, const char *value, const char *allowed)
{
    char quoted[200];
    struct text_out out;
    text_start(&out, quoted, sizeof quoted);
    text_put_quoted(&out, value, strlen(value), 60);
    return call_fail(call, CODE_VALIDATION, "%s: %s %s", name, quoted, allowed);
}

/* Without blanks around it; NULL without memory. */
static const char *trimmed(struct arena *arena, const char *text)
{
    static const char BLANKS[] = " \t\r\n\v\f";
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length && strchr(BLANKS, text[length - 1])) {
        length--;
    }
    return arena_strndup(arena, text, length);
}

/* ---- texts ---- */

static bool is_known(const struct search_request *request, const char *text)
{
    for (size_t i = 0; i < request->text_count; i++) {
        if (strcmp(request->texts[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static int add_text(struct call *call, struct search_request *request, const char *given)
{
    const char *text = trimmed(call_arena(call), given);
    if (!text) {
        return ERR_NOMEM;
    }
    if (!is_known(request, text)) {
        request->texts[request->text_count++] = text;
    }
    return OK;
}

static int read_texts(struct call *call, yyjson_val *arguments, struct search_request *request)
{
    const char *query = json_string(arguments, "query");
    yyjson_val *queries = yyjson_obj_get(arguments, "queries");
    if (!query == !queries) {
        return call_fail(call, CODE_VALIDATION,
                         query ? "query and queries came together; give one of them"
                               : "query: it is missing; say what to search for");
    }
    if (query) {
        return add_text(call, request, query);
    }
    request->several = true;
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(queries, index, max, item)
    {
        int status = add_text(call, request, yyjson_get_str(item));
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

/* ---- choices ---- */

/* The place of a word in a list that may begin with NULL; 0 when it is absent. */
static unsigned place_of(const char *word, const char *const *words, unsigned count)
{
    for (unsigned i = 0; word && i < count; i++) {
        if (words[i] && strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return 0;
}

int search_read_dates(struct call *call, yyjson_val *arguments, const char *freshness,
                      const char **start, const char **end)
{
    const struct {
        const char *name;
        const char **place;
    } dates[] = {{"start_date", start}, {"end_date", end}};
    for (size_t i = 0; i < 2; i++) {
        *dates[i].place = json_string(arguments, dates[i].name);
        if (*dates[i].place && !query_is_date(*dates[i].place)) {
            return wrong(call, dates[i].name, *dates[i].place, "is no date; write YYYY-MM-DD");
        }
    }
    if (*start && *end && strcmp(*start, *end) > 0) {
        return wrong(call, "end_date", *end, "is before start_date");
    }
    if (yyjson_obj_get(arguments, freshness) && (*start || *end)) {
        return call_fail(call, CODE_VALIDATION,
                         "%s: it came together with start_date or end_date; give one of them",
                         freshness);
    }
    return OK;
}

static int read_region(struct call *call, yyjson_val *arguments, struct search_query *query)
{
    const char *region = json_string(arguments, "region");
    query->region = region ? country_code(call_arena(call), region) : NULL;
    query->language = json_string(arguments, "language");
    if (region && !query->region) {
        return wrong(call, "region", region,
                     "is no country; give an ISO 3166-1 code of two letters such as US");
    }
    return OK;
}

/* ---- sites ---- */

/* "https://www.example.org/docs" means example.org too. */
static const char *site_host(struct call *call, const char *text)
{
    const char *scheme = strstr(text, "://");
    const char *host = scheme ? scheme + 3 : text;
    char name[URL_HOST_SIZE];
    size_t length = strcspn(host, "/?#:");
    if (url_host(host, length, name, NULL) != OK || !strchr(name, '.')) {
        return NULL;
    }
    return arena_strdup(call_arena(call), strncmp(name, "www.", 4) == 0 ? name + 4 : name);
}

static int read_sites(struct call *call, yyjson_val *arguments, const char *name,
                      const char *sites[LIMIT_SEARCH_SITES], size_t *count)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(arguments, name), index, max, item)
    {
        const char *text = yyjson_get_str(item);
        const char *host = site_host(call, text);
        if (!host) {
            return wrong(call, name, text, "is no site; give a host such as example.org");
        }
        sites[(*count)++] = host;
    }
    return OK;
}

static bool asks_for(yyjson_val *arguments, const char *word)
{
    const char *content = json_string(arguments, "content");
    return content && strcmp(content, word) == 0;
}

int search_read_arguments(struct call *call, yyjson_val *arguments, struct search_request *request)
{
    *request = (struct search_request){
        .budget = budget_chars(),
        .as_text = call_takes_text(call),
        .all = asks_for(arguments, "all"),
        .passages = asks_for(arguments, "passages"),
        .explain = yyjson_get_bool(yyjson_obj_get(arguments, "explain")),
        .query =
            {
                .count = (size_t)yyjson_get_num(yyjson_obj_get(arguments, "num_results")),
                .page = (unsigned)yyjson_get_num(yyjson_obj_get(arguments, "page")),
                .type = place_of(json_string(arguments, "type"), SEARCH_TYPE_WORDS, SEARCH_TYPES),
                .freshness =
                    place_of(json_string(arguments, "freshness"), SEARCH_FRESHNESS_WORDS, 5),
            },
    };
    struct search_query *query = &request->query;
    int status = read_texts(call, arguments, request);
    if (status == OK) {
        status =
            search_read_dates(call, arguments, "freshness", &query->start_date, &query->end_date);
    }
    if (status == OK) {
        status = read_region(call, arguments, query);
    }
    if (status == OK) {
        status = read_sites(call, arguments, "sites", query->sites, &query->site_count);
    }
    if (status == OK) {
        status = read_sites(call, arguments, "exclude_sites", query->exclude_sites,
                            &query->exclude_site_count);
    }
    return status;
}
