/* Makes lists of what a worker's events show, and reports progress to the client. */
#include "research/sightings.h"

#include "core/clock.h"
#include "core/limits.h"
#include "text/json.h"
#include "text/text.h"
#include "text/url.h"

#include <stdio.h>
#include <string.h>

enum use_kind { USE_SEARCH, USE_READ };

/* The tools that count, by the last part of their names (servers are named before it), and the
 * parameter that says what for. */
static const struct tool_use {
    const char *name;
    enum use_kind kind;
    const char *parameter;
} TOOL_USES[] = {
    {"google_web_search", USE_SEARCH, "query"},
    {"WebSearch", USE_SEARCH, "query"},
    {"firecrawl_search", USE_SEARCH, "query"},
    {"get_content", USE_READ, "url"},
    {"firecrawl_scrape", USE_READ, "url"},
    {"web_fetch", USE_READ, "prompt"},
    {"WebFetch", USE_READ, "url"},
};

struct use {
    struct use *next;
    const char *id;
    struct sightings_list urls;
    bool reads_by_us; /* get_content, whose result tells when a page could not be read */
};

void sightings_init(struct sightings *sightings, struct call *call, int max_rounds)
{
    *sightings = (struct sightings){.call = call, .max_rounds = max_rounds};
    buf_init(&sightings->said, LIMIT_CHILD_OUTPUT_BYTES);
}

void sightings_done(struct sightings *sightings)
{
    buf_done(&sightings->said);
}

/* Clients are given numbers that grow: of two reports in one moment the protocol drops the second,
 * so the clock is read finely. */
void progress_say(struct call *call, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    double seconds = (double)(clock_now_us() - call_started_ms(call) * 1000) / 1e6;
    call_progress(call, seconds, 0, "%s", message);
}

/* ---- lists ---- */

static bool has(const struct sightings_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

bool sightings_add(struct sightings *sightings, struct sightings_list *list, const char *text)
{
    struct arena *arena = call_arena(sightings->call);
    if (has(list, text) || list->count == LIMIT_RESEARCH_ITEMS) {
        return true;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        const char **items = arena_realloc(arena, list->items, list->capacity * sizeof *items,
                                           capacity * sizeof *items);
        if (!items) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    size_t length = text_prefix(text, strlen(text), LIMIT_RESEARCH_ITEM_CHARS);
    const char *copy = arena_strndup(arena, text, length);
    if (copy) {
        list->items[list->count++] = copy;
    }
    return copy != NULL;
}

/* ---- uses of tools ---- */

static const struct tool_use *find_tool(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof TOOL_USES / sizeof *TOOL_USES; i++) {
        size_t own = strlen(TOOL_USES[i].name);
        if (length >= own && strcmp(name + length - own, TOOL_USES[i].name) == 0 &&
            (length == own || name[length - own - 1] == '_')) {
            return &TOOL_USES[i];
        }
    }
    return NULL;
}

/* The URLs in a text: a URL alone, or a sentence that names some. */
static bool add_urls(struct sightings *sightings, struct sightings_list *urls, const char *text)
{
    static const char ENDS[] = " \t\r\n\"'<>`|\\^{}";
    while ((text = strstr(text, "http")) != NULL) {
        size_t length = strcspn(text, ENDS);
        bool is_url = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
        while (length && strchr(".,;:!?)]", text[length - 1])) {
            length--;
        }
        if (is_url) {
            const char *url = arena_strndup(call_arena(sightings->call), text, length);
            if (!url || !sightings_add(sightings, urls, url)) {
                return false;
            }
        }
        text += length > 4 ? length : 4;
    }
    return true;
}

static const char *host_of(struct sightings *sightings, const char *text)
{
    struct url url;
    const char *problem;
    int status = url_parse(call_arena(sightings->call), text, &url, &problem);
    return status == OK ? url.host : NULL;
}

static bool remember_use(struct sightings *sightings, const struct worker_event *event,
                         const struct sightings_list *urls, bool reads_by_us)
{
    struct use *use = arena_zalloc(call_arena(sightings->call), sizeof *use);
    if (!use) {
        return false;
    }
    use->id = arena_strdup(call_arena(sightings->call), event->id);
    use->urls = *urls;
    use->reads_by_us = reads_by_us;
    use->next = sightings->pending;
    sightings->pending = use;
    return use->id != NULL;
}

static int see_search(struct sightings *sightings, const char *query)
{
    if (!sightings->counted) {
        sightings->rounds++;
        sightings->counted = true;
        if (sightings->rounds > sightings->max_rounds) {
            return ERR_LIMIT;
        }
    }
    progress_say(sightings->call, "searching: %s", query);
    return sightings_add(sightings, &sightings->queries, query) ? OK : ERR_NOMEM;
}

static int see_reading(struct sightings *sightings, const struct worker_event *event,
                       const struct tool_use *tool, const char *what)
{
    struct sightings_list urls = {0};
    if (!add_urls(sightings, &urls, what)) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < urls.count; i++) {
        const char *host = host_of(sightings, urls.items[i]);
        if (host) {
            progress_say(sightings->call, "reading: %s", host);
        }
    }
    bool by_us = strcmp(tool->name, "get_content") == 0;
    return remember_use(sightings, event, &urls, by_us) ? OK : ERR_NOMEM;
}

static int see_use(struct sightings *sightings, const struct worker_event *event)
{
    const struct tool_use *tool = find_tool(event->tool);
    if (!sightings->in_turn) {
        sightings->in_turn = true;
        sightings->counted = false;
        sightings->turns++;
    }
    if (sightings->turns > LIMIT_RESEARCH_TURNS) {
        return ERR_LIMIT;
    }
    sightings->answer_start = sightings->said.length;
    if (!tool) {
        return OK;
    }
    const char *what = json_string(event->parameters, tool->parameter);
    if (!what) {
        what = json_string(event->parameters, "url"); /* another spelling of web_fetch */
    }
    if (!what) {
        return OK;
    }
    return tool->kind == USE_SEARCH ? see_search(sightings, what)
                                    : see_reading(sightings, event, tool, what);
}

static int see_result(struct sightings *sightings, const struct worker_event *event)
{
    sightings->in_turn = false;
    struct use **link = &sightings->pending;
    while (*link && strcmp((*link)->id, event->id) != 0) {
        link = &(*link)->next;
    }
    const struct use *use = *link;
    if (!use) {
        return OK;
    }
    *link = use->next;
    bool unread = use->reads_by_us && event->length && strstr(event->text, "\"failed\":true");
    for (size_t i = 0; event->ok && !unread && i < use->urls.count; i++) {
        const char *host = host_of(sightings, use->urls.items[i]);
        if (!sightings_add(sightings, &sightings->sources, use->urls.items[i]) ||
            (host && !sightings_add(sightings, &sightings->hosts, host))) {
            return ERR_NOMEM;
        }
    }
    return OK;
}

/* ---- everything else ---- */

static const char *copy_words(struct sightings *sightings, const struct worker_event *event)
{
    size_t length = text_prefix(event->text, event->length, LIMIT_ERROR_CHARS);
    return arena_strndup(call_arena(sightings->call), event->text, length);
}

static int take(void *context, const struct worker_event *event)
{
    struct sightings *sightings = context;
    switch (event->kind) {
    case WORKER_USES:
        return see_use(sightings, event);
    case WORKER_GOT:
        return see_result(sightings, event);
    case WORKER_SAYS:
        buf_append(&sightings->said, event->text, event->length);
        return OK; /* what exceeds the ceiling is an answer that nobody could use */
    case WORKER_WARNS:
        sightings->complaint = copy_words(sightings, event);
        return OK;
    case WORKER_FAILS:
        sightings->failure = copy_words(sightings, event);
        sightings->http_status = event->http_status;
        return OK;
    case WORKER_IS_DONE:
        sightings->is_done = true;
        return OK;
    }
    return OK;
}

struct worker_sink sightings_sink(struct sightings *sightings)
{
    return (struct worker_sink){sightings, take};
}
