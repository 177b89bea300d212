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

/* Who fetches a page, and so whether its text is in the result. */
enum page_fetcher {
    READER_WORKER,    /* itself: the result is what its model makes of the page */
    READER_US,        /* get_content, whose result also tells when a page could not be read */
    READER_FIRECRAWL, /* firecrawl_scrape */
};

/* The tools that count, by the last part of their names (servers are named before it), and the
 * parameter that says what for. */
static const struct tool_use {
    const char *name;
    enum use_kind kind;
    const char *parameter;
    enum page_fetcher reader;
} TOOL_USES[] = {
    {"google_web_search", USE_SEARCH, "query", READER_WORKER},
    {"WebSearch", USE_SEARCH, "query", READER_WORKER},
    {"firecrawl_search", USE_SEARCH, "query", READER_FIRECRAWL},
    {"get_content", USE_READ, "url", READER_US},
    {"firecrawl_scrape", USE_READ, "url", READER_FIRECRAWL},
    {"web_fetch", USE_READ, "prompt", READER_WORKER},
    {"WebFetch", USE_READ, "url", READER_WORKER},
};

static const char SECOND_SEARCH[] =
    "the worker asked for a second search; one search is all here, and deep_search makes more";

struct use {
    struct use *next;
    const char *id;
    struct sightings_list urls;
    enum page_fetcher reader;
};

int sightings_init(struct sightings *sightings, struct call *call, int max_rounds)
{
    *sightings = (struct sightings){.call = call, .max_rounds = max_rounds};
    buf_init(&sightings->said, LIMIT_CHILD_OUTPUT_BYTES);
    sightings->evidence = evidence_new(call_arena(call));
    return sightings->evidence ? OK : ERR_NOMEM;
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

bool sightings_have_page_of(struct sightings *sightings, const char *text)
{
    struct sightings_list urls = {0};
    bool found = false;
    if (add_urls(sightings, &urls, text)) {
        for (size_t i = 0; i < urls.count && !found; i++) {
            found = evidence_page_of(sightings->evidence, urls.items[i]) != 0;
        }
    }
    return found;
}

static const char *host_of(struct sightings *sightings, const char *text)
{
    struct url url;
    const char *problem;
    int status = url_parse(call_arena(sightings->call), text, &url, &problem);
    return status == OK ? url.host : NULL;
}

static bool remember_use(struct sightings *sightings, const struct worker_event *event,
                         const struct sightings_list *urls, enum page_fetcher reader)
{
    struct use *use = arena_zalloc(call_arena(sightings->call), sizeof *use);
    if (!use) {
        return false;
    }
    use->id = arena_strdup(call_arena(sightings->call), event->id);
    use->urls = *urls;
    use->reader = reader;
    use->next = sightings->pending;
    sightings->pending = use;
    return use->id != NULL;
}

bool sightings_are_too_many(const struct sightings *sightings)
{
    return sightings->is_one_search ? sightings->searches > 2
                                    : sightings->rounds > sightings->max_rounds;
}

static int see_search(struct sightings *sightings, const char *query)
{
    sightings->searches++;
    sightings->rounds += !sightings->counted;
    sightings->counted = true;
    if (sightings_are_too_many(sightings)) {
        return ERR_LIMIT;
    }
    if (sightings->is_one_search && sightings->searches > 1 &&
        !sightings_add(sightings, &sightings->warnings, SECOND_SEARCH)) {
        return ERR_NOMEM;
    }
    progress_say(sightings->call, "searching: %s (round %d)", query, sightings->rounds);
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
    return remember_use(sightings, event, &urls, tool->reader) ? OK : ERR_NOMEM;
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
    yyjson_val *several = yyjson_obj_get(event->parameters, "urls");
    if (!what && several) {
        what = json_text_of(call_arena(sightings->call), several);
    }
    if (!what) {
        return OK;
    }
    return tool->kind == USE_SEARCH ? see_search(sightings, what)
                                    : see_reading(sightings, event, tool, what);
}

/* ---- what we add to a page ---- */

/* Behind a mark of get_content's at the beginning of a line, which is no word of the page: "[512
 * Title]" before a passage, "_[The table goes on ...]_" before and behind a part. 0: there is none.
 */
static size_t mark_end(const char *line)
{
    size_t length = strcspn(line, "\n");
    size_t digits = *line == '[' ? strspn(line + 1, "0123456789") : 0;
    if (digits && (line[1 + digits] == ' ' || line[1 + digits] == ']')) {
        size_t end = strcspn(line, "]\n");
        return end < length && strchr(" \n", line[end + 1]) ? end + 1 : 0;
    }
    bool remark =
        strncmp(line, "_[The ", 6) == 0 && length > 8 && strncmp(line + length - 3, ".]_", 3) == 0;
    return remark ? length : 0;
}

/* Writes the text of a page without them: what stood on their two sides was not read together. */
static void put_unmarked(struct buf *out, const char *text)
{
    for (const char *line = text; *line;) {
        size_t mark = mark_end(line);
        size_t length = mark + strcspn(line + mark, "\n");
        length += line[length] == '\n' ? 1 : 0;
        buf_puts(out, mark && out->length ? EVIDENCE_SEAM : "");
        buf_append(out, line + mark, length - mark);
        line += length;
    }
    buf_puts(out, "");
}

/* ---- pages ---- */

/* A page that was read; `text` is NULL where only the worker has it. */
struct sighted_page {
    const char *url, *title, *text;
    bool ours; /* from get_content, which marks parts and passages */
};

/* False without memory. That there is no room for one more page is none of that. */
static bool add_source(struct sightings *sightings, const struct sighted_page *reading)
{
    struct evidence *evidence = sightings->evidence;
    if (reading->text) {
        struct buf unmarked;
        const char *text = reading->text;
        buf_init(&unmarked, LIMIT_CHILD_OUTPUT_BYTES);
        if (reading->ours) {
            put_unmarked(&unmarked, text);
            text = unmarked.data ? unmarked.data : "";
        }
        evidence_add_page(evidence, reading->url, reading->title, text, clock_wall_ms());
        buf_done(&unmarked);
    } else {
        evidence_add_unseen(evidence, reading->url, reading->title);
    }
    return sightings_add(sightings, &sightings->sources, reading->url);
}

/* What get_content tells of a page; false: it could not be read. */
static bool read_page(yyjson_val *page, struct sighted_page *reading)
{
    reading->url = json_string(page, "url");
    reading->title = json_string(page, "title");
    reading->text = json_string(page, "page_content");
    reading->ours = true;
    return reading->url && reading->text && !yyjson_get_bool(yyjson_obj_get(page, "failed"));
}

/* Of several pages that we read, those that came. False without memory. */
static bool add_results(struct sightings *sightings, yyjson_val *results)
{
    size_t index, most;
    yyjson_val *page;
    bool good = true;
    yyjson_arr_foreach(results, index, most, page)
    {
        struct sighted_page reading;
        if (read_page(page, &reading)) {
            good = good && add_source(sightings, &reading);
        }
    }
    return good;
}

/* One page, by the address that it moved to, which is whose words they are; the one that it was
 * asked for by leads to it too. */
static bool add_one(struct sightings *sightings, const struct use *use, yyjson_val *result)
{
    const char *asked = use->urls.items[0];
    yyjson_val *metadata = yyjson_obj_get(result, "metadata");
    struct sighted_page reading = {0};
    if (use->reader == READER_US) {
        if (!read_page(result, &reading) && yyjson_is_obj(result)) {
            return true; /* it says why it could not be read */
        }
    } else {
        reading.url = json_string(metadata, "url");
        reading.title = json_string(metadata, "title");
        reading.text = json_string(result, "markdown");
    }
    reading.url = reading.url && host_of(sightings, reading.url) ? reading.url : asked;
    bool good = add_source(sightings, &reading);
    evidence_also(sightings->evidence, evidence_page_of(sightings->evidence, reading.url), asked);
    return good;
}

/* Pages of whose result nothing is known but that it came. */
static bool add_asked(struct sightings *sightings, const struct use *use)
{
    bool good = true;
    for (size_t i = 0; good && i < use->urls.count; i++) {
        good = add_source(sightings, &(struct sighted_page){.url = use->urls.items[i]});
    }
    return good;
}

static bool add_read(struct sightings *sightings, const struct use *use,
                     const struct worker_event *event)
{
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_doc *doc = scratch && use->reader != READER_WORKER && event->length
                          ? json_parse(scratch, event->text, event->length, NULL)
                          : NULL;
    yyjson_val *result = yyjson_doc_get_root(doc);
    yyjson_val *results = use->reader == READER_US ? yyjson_obj_get(result, "results") : NULL;
    /* Of a result that was cut the words tell. */
    bool unread =
        use->reader == READER_US && event->length && strstr(event->text, "\"failed\":true");
    bool good = scratch != NULL;
    if (good && results) {
        good = add_results(sightings, results);
    } else if (good && event->ok && !unread) {
        good = use->urls.count == 1 ? add_one(sightings, use, result) : add_asked(sightings, use);
    }
    arena_free(scratch);
    return good;
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
    return add_read(sightings, use, event) ? OK : ERR_NOMEM;
}

/* ---- everything else ---- */

static const char *copy_words(struct sightings *sightings, const struct worker_event *event)
{
    size_t length = text_prefix(event->text, event->length, LIMIT_ERROR_CHARS);
    return arena_strndup(call_arena(sightings->call), event->text, length);
}

static void keep_printed(struct sightings *sightings, const struct worker_event *event)
{
    if (!sightings->shows_events && !memchr(event->text, '\0', event->length)) {
        buf_append(&sightings->said, event->text, event->length);
        buf_putc(&sightings->said, '\n');
    }
}

/* What came before the first event is no part of the answer. */
static void begin_events(struct sightings *sightings)
{
    sightings->shows_events = true;
    buf_done(&sightings->said);
    buf_init(&sightings->said, LIMIT_CHILD_OUTPUT_BYTES);
}

static int take(void *context, const struct worker_event *event)
{
    struct sightings *sightings = context;
    if (event->kind != WORKER_PRINTS && !sightings->shows_events) {
        begin_events(sightings);
    }
    switch (event->kind) {
    case WORKER_PRINTS:
        keep_printed(sightings, event);
        return OK;
    case WORKER_USES:
    case WORKER_GOT: {
        int status =
            event->kind == WORKER_USES ? see_use(sightings, event) : see_result(sightings, event);
        sightings_tell(sightings);
        return status;
    }
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
