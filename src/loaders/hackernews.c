/* Hacker News: a story or a comment and everything below it, which the search of the site (Algolia)
 * gives with one request. */
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/sites.h"
#include "loaders/thread.h"

#define DEEPEST (LIMIT_JSON_DEPTH / 2) /* a comment takes two levels of JSON */

/* ---- whose URL it is ---- */

bool hackernews_find(const struct url *url, struct slice *id)
{
    const char *query = url->query ? url->query : "";
    if (strcmp(url->host, "news.ycombinator.com") != 0 || strcmp(url->path, "/item") != 0) {
        return false;
    }
    while (strncmp(query, "id=", 3) != 0 && (query = strchr(query, '&')) != NULL) {
        query++;
    }
    *id = query ? (struct slice){query + 3, strspn(query + 3, "0123456789")} : (struct slice){0};
    return id->length > 0 && id->length <= 18;
}

/* ---- as Markdown ---- */

/* The id of an item as text; NULL where it has none. */
static const char *id_of(struct arena *arena, yyjson_val *item, const char *key)
{
    int64_t id = service_int(item, key);
    return id ? arena_printf(arena, "%lld", (long long)id) : NULL;
}

/* What was deleted stands there only where somebody answered it. */
static int add_comment(struct thread *thread, yyjson_val *item)
{
    struct thread_post post = {
        .id = id_of(thread->arena, item, "id"),
        .parent = id_of(thread->arena, item, "parent_id"),
        .author = json_string(item, "author"),
        .date = json_string(item, "created_at"),
        .html = json_string(item, "text"),
    };
    return post.html || yyjson_arr_size(service_array(item, "children")) ? thread_add(thread, &post)
                                                                         : OK;
}

/* All below an item, each before what is below it; an answer that was parsed is not deeper. */
static int add_comments(struct thread *thread, yyjson_val *item)
{
    yyjson_arr_iter levels[DEEPEST + 1];
    size_t depth = 1;
    int status = OK;
    levels[0] = yyjson_arr_iter_with(service_array(item, "children"));
    while (depth > 0 && status == OK) {
        yyjson_val *comment = yyjson_arr_iter_next(&levels[depth - 1]);
        if (!comment) {
            depth--;
            continue;
        }
        status = add_comment(thread, comment);
        if (depth <= DEEPEST) {
            levels[depth++] = yyjson_arr_iter_with(service_array(comment, "children"));
        }
    }
    return status;
}

static void write_facts(struct buf *out, yyjson_val *item, const struct document *document)
{
    const char *link = json_string(item, "url");
    if (link) {
        buf_puts(out, "<");
        compose_line(out, link);
        buf_puts(out, ">\n\n");
    }
    yyjson_val *points = yyjson_obj_get(item, "points");
    if (yyjson_is_int(points)) {
        buf_printf(out, "%lld points · ", (long long)yyjson_get_sint(points));
    }
    buf_puts(out, "by ");
    compose_line(out, document->authors ? document->authors : "somebody");
    if (document->published) {
        buf_printf(out, " · %.10s", document->published);
    }
    buf_puts(out, "\n\n");
}

int hackernews_write(struct arena *arena, yyjson_val *item, struct document *document)
{
    struct buf out;
    struct thread thread = {.arena = arena};
    const char *title = json_string(item, "title");
    const char *author = json_string(item, "author");
    document->kind = "thread";
    document->site = "Hacker News";
    document->authors = author;
    document->published = json_string(item, "created_at");
    document->title =
        title ? title : arena_printf(arena, "Comment by %s", author ? author : "somebody");
    if (!document->title) {
        return ERR_NOMEM;
    }
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    compose_heading(&out, "#", document->title);
    write_facts(&out, item, document);
    int status = thread_write_text(arena, &out, json_string(item, "text"), NULL, document->url);
    status = status == OK ? add_comments(&thread, item) : status;
    return thread_end(&thread, &out, "Comments", NULL, status, document);
}

/* ---- asking ---- */

int hackernews_load(struct call *call, const struct url *url, struct document *document,
                    const char **why)
{
    struct slice id;
    struct service service;
    struct source_response response;
    yyjson_val *item = NULL;
    if (!hackernews_find(url, &id)) {
        return ERR_NOTFOUND;
    }
    int status = service_open(&service, call, "Hacker News", "HACKERNEWS_BASE_URL", NULL, why);
    if (status == OK) {
        call_progress(call, 0, 0, "asking Hacker News");
        status = service_get(&service, &response, "/api/v1/items/%.*s", (int)id.length, id.data);
    }
    status = status == OK ? service_object(&service, &response, &item) : status;
    if (status != OK) {
        return status;
    }
    if (!service_int(item, "id")) {
        return service_fail(&service, "Hacker News answered with something that is no item");
    }
    document->url = url->text;
    return hackernews_write(service.arena, item, document);
}
