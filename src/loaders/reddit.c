/* Reddit: a thread by its feed, which is what it gives to programs without a key. The feed tells
 * neither scores nor who answers whom, and is limited to a few requests a minute. */
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "loaders/thread.h"

#include <stdlib.h>

#define USUAL_PAUSE_S   60
#define LONGEST_PAUSE_S 3600

/* ---- whose URL it is ---- */

static bool is_id(struct slice segment)
{
    return segment.length >= 4 && segment.length <= 10 &&
           strspn(segment.data, "0123456789abcdefghijklmnopqrstuvwxyz") >= segment.length;
}

/* /r/NAME/comments/ID/..., /user/NAME/comments/ID/..., /comments/ID; redd.it/ID */
bool reddit_find(const struct url *url, struct slice *id)
{
    struct path path;
    size_t length;
    path_split(url->path, &path);
    size_t at = path_is(&path, 0, "comments") ? 0 : 2;
    bool thread = host_below(url->host, "reddit.com", &length) && path_is(&path, at, "comments");
    bool short_link = strcmp(url->host, "redd.it") == 0 && path.count == 1;
    size_t place = short_link ? 0 : at + 1;
    if ((!thread && !short_link) || place >= path.count || !is_id(path.segments[place])) {
        return false;
    }
    *id = path.segments[place];
    return true;
}

/* ---- as Markdown ---- */

static const char LACKS[] =
    "Reddit's feed has the newest comments, without scores and without who answers whom.";

/* "/u/name" as "name". */
static const char *name_of(const struct feed_record *record)
{
    const char *name = record->values[FEED_AUTHOR];
    return name && strncmp(name, "/u/", 3) == 0 ? name + 3 : name;
}

int reddit_write(struct arena *arena, const struct feed *feed, struct document *document)
{
    struct buf out;
    struct thread thread = {.arena = arena};
    const struct feed_record *first = &feed->items[0];
    int status = OK;
    document->kind = "thread";
    document->site = "Reddit";
    document->title = first->values[FEED_TITLE];
    document->authors = name_of(first);
    document->published = first->values[FEED_DATE];
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    compose_heading(&out, "#", document->title);
    buf_puts(&out, "By ");
    compose_line(&out, document->authors ? document->authors : "somebody");
    if (document->published) {
        buf_printf(&out, " · %.10s", document->published);
    }
    buf_puts(&out, "\n\n");
    status = thread_write_text(arena, &out, first->values[FEED_SUMMARY], NULL, document->url);
    for (size_t i = 1; i < feed->count && status == OK; i++) {
        struct thread_post post = {
            .author = name_of(&feed->items[i]),
            .date = feed->items[i].values[FEED_DATE],
            .html = feed->items[i].values[FEED_SUMMARY],
        };
        status = thread_add(&thread, &post);
    }
    document->cut = document->cut || feed->cut;
    return thread_end(&thread, &out, "Comments", thread.count ? LACKS : NULL, status, document);
}

/* ---- asking ---- */

/* Seconds until it may be asked again, by the answer that refused us. */
static int64_t pause_of(const struct fetch_response *fetched)
{
    const char *reset = fetch_header_value(fetched, "x-ratelimit-reset");
    reset = reset ? reset : fetch_header_value(fetched, "retry-after");
    int64_t seconds = reset ? strtoll(reset, NULL, 10) : 0;
    return seconds > 0 && seconds < LONGEST_PAUSE_S ? seconds : USUAL_PAUSE_S;
}

static int ask(struct service *service, struct slice id, struct source_response *response)
{
    _Atomic int64_t *ready_ms = &call_parts(service->call)->loaders->reddit_ready_ms;
    int64_t wait_ms = atomic_load(ready_ms) - clock_now_ms();
    if (wait_ms > TIME_SERVICE_PATIENCE_MS) {
        return service_fail(service, "Reddit asks for a pause of %lld more seconds",
                            (long long)(wait_ms + 999) / 1000);
    }
    int status = wait_ms > 0 ? call_sleep(service->call, wait_ms) : OK;
    if (status == OK) {
        status = service_get(service, response, "/comments/%.*s/.rss?limit=%d", (int)id.length,
                             id.data, LIMIT_FEED_ITEMS);
    }
    if (status != OK || response->fetched.status == 200) {
        return status;
    }
    if (response->fetched.status == 429) {
        atomic_store(ready_ms, clock_now_ms() + pause_of(&response->fetched) * 1000);
    }
    return service_fail(service, "Reddit answered HTTP %d", response->fetched.status);
}

int reddit_load(struct call *call, const struct url *url, struct document *document,
                const char **why)
{
    struct slice id;
    struct service service;
    struct source_response response;
    struct charset_text text;
    struct arena *arena = call_arena(call);
    struct feed *feed = arena_alloc(arena, sizeof *feed);
    if (!reddit_find(url, &id)) {
        return ERR_NOTFOUND;
    }
    int status =
        feed ? service_open(&service, call, "Reddit", "REDDIT_BASE_URL", NULL, why) : ERR_NOMEM;
    if (status == OK) {
        service.accept = "application/atom+xml";
        call_progress(call, 0, 0, "asking Reddit");
        status = ask(&service, id, &response);
    }
    status = status == OK ? feed_decode(call, &response, &text) : status;
    if (status != OK) {
        return status;
    }
    status = feed_parse(arena, text.bytes, text.length, feed);
    if (status == ERR_NOTFOUND || (status == OK && (!feed->count || !feed->items[0].values[0]))) {
        return service_fail(&service, "Reddit answered with something that is no thread");
    }
    document->url = url->text;
    return status == OK ? reddit_write(arena, feed, document) : status;
}
