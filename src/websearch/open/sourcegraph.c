/* Sourcegraph (https://sourcegraph.com/docs/api/stream-api): GET /.api/search/stream with q and
 * display. The answer is a stream of events: "matches" with a list of files, "alert" with words
 * about the search, "error", and "done" at its end. Lines are counted from 0. */
#include "core/status.h"
#include "text/url.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 100
#define MOST_MATCHES 500
#define MOST_LINES   5 /* of one file */

/* ---- asking ---- */

/* Adds a filter, unless the query has one of that name. */
static void put_filter(struct buf *text, const char *query, const char *name, const char *value)
{
    if (!strstr(query, name)) {
        buf_printf(text, " %s%s", name, value);
    }
}

static int build(struct provider_request *request)
{
    const char *query = request->query->text;
    /* Each line is a match: several may be of one file. */
    size_t matches = 10 * provider_count_up_to(request, MOST_RESULTS);
    matches = matches < MOST_MATCHES ? matches : MOST_MATCHES;
    const char *count = arena_printf(request->arena, "%zu", matches);
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    buf_puts(&text, query);
    put_filter(&text, query, "archived:", "no");
    put_filter(&text, query, "fork:", "no");
    put_filter(&text, query, "count:", count ? count : "");
    const char *whole = buf_to_arena(&text, request->arena);
    provider_put(request, "q", whole);
    provider_put(request, "v", "V3");
    provider_put(request, "t", "keyword");
    provider_put_number(request, "display", matches);
    source_lacks(request, LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return whole && count ? OK : ERR_NOMEM;
}

/* ---- reading ---- */

/* Where a file is read best: on its own host, at the commit that was searched. */
static const char *link_to(struct arena *arena, yyjson_val *match, unsigned line)
{
    static const struct {
        const char *host, *middle;
    } HOSTS[] = {{"github.com/", "/blob/"}, {"gitlab.com/", "/-/blob/"}};
    const char *repository = json_string(match, "repository");
    const char *path = json_string(match, "path");
    const char *commit = json_string(match, "commit");
    const char *prefix = "sourcegraph.com/", *middle = "/-/blob/";
    bool hosted = false;
    for (size_t i = 0; repository && i < sizeof HOSTS / sizeof *HOSTS; i++) {
        if (strncmp(repository, HOSTS[i].host, strlen(HOSTS[i].host)) == 0) {
            prefix = "";
            middle = HOSTS[i].middle;
            hosted = true;
        }
    }
    /* Nothing that is no name may decide which host it is. */
    if (!repository || !*repository || strpbrk(repository, "@?#\\ \t\r\n")) {
        return NULL;
    }
    struct buf link;
    buf_init(&link, LIMIT_SEARCH_LINK_BYTES);
    buf_printf(&link, "https://%s%s", prefix, repository);
    if (path) {
        buf_puts(&link, middle);
        if (hosted) {
            url_encode(&link, commit ? commit : "HEAD", strlen(commit ? commit : "HEAD"));
            buf_putc(&link, '/');
        }
        for (; *path; path++) {
            *path == '/' ? buf_putc(&link, '/') : url_encode(&link, path, 1);
        }
        if (line) {
            buf_printf(&link, "%s%u", hosted ? "#L" : "?L", line);
        }
    }
    return buf_to_arena(&link, arena);
}

/* "path:12: the line", and the number of the first. */
static const char *lines_of(struct arena *arena, yyjson_val *match, const char *path,
                            unsigned *first)
{
    struct buf out;
    buf_init(&out, LIMIT_SEARCH_ANSWER_BYTES);
    buf_puts(&out, "");
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(match, "lineMatches"), index, max, item)
    {
        const char *line = json_string(item, "line");
        unsigned number = (unsigned)yyjson_get_uint(yyjson_obj_get(item, "lineNumber")) + 1;
        if (index == MOST_LINES) {
            break;
        }
        *first = *first ? *first : number;
        buf_printf(&out, "%s%s:%u: %s", index ? "\n" : "", path ? path : "", number,
                   line ? line : "");
    }
    return buf_to_arena(&out, arena);
}

static void add_match(struct arena *arena, yyjson_val *match, struct hits *hits)
{
    const char *repository = json_string(match, "repository");
    const char *path = json_string(match, "path");
    unsigned line = 0;
    const char *snippet = lines_of(arena, match, path, &line);
    static const char GITHUB[] = "github.com/";
    if (repository) {
        bool github = strncmp(repository, GITHUB, sizeof GITHUB - 1) == 0;
        const char *name = github ? repository + sizeof GITHUB - 1 : repository;
        hits_add(hits, &(struct hit){
                           .title = path ? arena_printf(arena, "%s: %s", name, path) : name,
                           .link = link_to(arena, match, line),
                           .snippet = snippet,
                       });
    }
}

enum event { EVENT_OTHER, EVENT_MATCHES, EVENT_ALERT, EVENT_ERROR, EVENT_DONE, EVENTS };
static const char *const EVENT_NAMES[EVENTS] = {
    [EVENT_MATCHES] = "matches",
    [EVENT_ALERT] = "alert",
    [EVENT_ERROR] = "error",
    [EVENT_DONE] = "done",
};

static enum event event_named(const char *name, size_t length)
{
    for (enum event i = EVENT_MATCHES; i < EVENTS; i++) {
        if (strlen(EVENT_NAMES[i]) == length && strncmp(name, EVENT_NAMES[i], length) == 0) {
            return i;
        }
    }
    return EVENT_OTHER;
}

/* What follows "event:" or "data:" on a line; NULL when it is another line. */
static const char *value_on(const char *line, size_t length, const char *name)
{
    size_t prefix = strlen(name);
    if (length < prefix || strncmp(line, name, prefix) != 0) {
        return NULL;
    }
    return line + prefix + (line[prefix] == ' ');
}

static void read_event(struct arena *arena, enum event event, const char *data, size_t length,
                       struct hits *hits)
{
    if (event != EVENT_MATCHES && event != EVENT_ALERT) {
        return;
    }
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, data, length, NULL));
    size_t index, max;
    yyjson_val *match;
    yyjson_arr_foreach(root, index, max, match)
    {
        add_match(arena, match, hits);
    }
    const char *title = event == EVENT_ALERT ? json_string(root, "title") : NULL;
    const char *words = json_string(root, "description");
    if (title) {
        hits->remark = arena_printf(arena, "Sourcegraph says: %s%s%s", title, words ? ": " : "",
                                    words ? words : "");
    }
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    unsigned seen = 0; /* events, as bits */
    enum event event = EVENT_OTHER;
    for (const char *at = body, *end = body + length; at < end;) {
        size_t line = strcspn(at, "\r\n");
        const char *name = value_on(at, line, "event:");
        const char *data = value_on(at, line, "data:");
        if (name) {
            event = event_named(name, line - (size_t)(name - at));
            seen |= 1u << event;
        } else if (data) {
            read_event(arena, event, data, line - (size_t)(data - at), hits);
        }
        at += line + 1;
    }
    /* A stream that was cut, or that failed, is an answer only by what it holds. */
    bool whole = seen & 1u << EVENT_DONE && !(seen & 1u << EVENT_ERROR);
    return whole || hits->count ? OK : ERR_INVALID;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 1},
    .contact = CONTACT_WELCOME,
};

const struct provider SOURCE_SOURCEGRAPH = {
    .name = "sourcegraph",
    .title = "Sourcegraph",
    .base_variable = "SOURCEGRAPH_BASE_URL",
    .accept = "text/event-stream",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/.api/search/stream"},
    .build = build,
    .read = read_answer,
};
