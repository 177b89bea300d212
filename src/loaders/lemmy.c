/* Lemmy: a post of any of its servers with the comments on it (version 3 of its interface). */
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/sites.h"
#include "loaders/thread.h"

#include <stdlib.h>

#define DEPTH   "8" /* of comments that are asked for; a longer answer would be cut in breadth */
#define AT_ONCE 50

/* ---- whose URL it is ---- */

bool lemmy_find(const struct url *url, struct lemmy_page *page)
{
    struct path path;
    path_split(url->path, &path);
    page->is_comment = path_is(&path, 0, "comment");
    if (path.count != 2 || !path_is_number(&path, 1) ||
        (!page->is_comment && !path_is(&path, 0, "post"))) {
        return false;
    }
    page->id = path.segments[1];
    return true;
}

/* ---- as Markdown ---- */

static const char *name_of(yyjson_val *view)
{
    yyjson_val *creator = yyjson_obj_get(view, "creator");
    const char *shown = json_string(creator, "display_name");
    return shown && *shown ? shown : json_string(creator, "name");
}

/* "0.12.345" is the comment 345 below 12: how deep it is, and the id of the one above it. */
static size_t depth_of(yyjson_val *view)
{
    const char *path = json_string(yyjson_obj_get(view, "comment"), "path");
    size_t depth = 0;
    for (; path && *path; path++) {
        depth += *path == '.';
    }
    return depth;
}

static const char *parent_of(struct arena *arena, const char *path)
{
    const char *last = path ? strrchr(path, '.') : NULL;
    const char *before = last;
    while (before && before > path && before[-1] != '.') {
        before--;
    }
    return last ? arena_strndup(arena, before, (size_t)(last - before)) : NULL;
}

/* Those that are higher up come first, so that each is known before its answers. */
struct ordered_comment {
    yyjson_val *view;
    size_t depth, place;
};

static int compare(const void *left, const void *right)
{
    const struct ordered_comment *a = left;
    const struct ordered_comment *b = right;
    int order = (a->depth > b->depth) - (a->depth < b->depth);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int add_comment(struct thread *thread, yyjson_val *view)
{
    yyjson_val *comment = yyjson_obj_get(view, "comment");
    bool gone = service_bool(comment, "deleted") || service_bool(comment, "removed");
    struct thread_post post = {
        .id = arena_printf(thread->arena, "%lld", (long long)service_int(comment, "id")),
        .parent = parent_of(thread->arena, json_string(comment, "path")),
        .author = name_of(view),
        .date = json_string(comment, "published"),
        .score = service_int(yyjson_obj_get(view, "counts"), "score"),
        .scored = true,
        .markdown = gone ? "_deleted_" : json_string(comment, "content"),
    };
    return thread_add(thread, &post);
}

static int add_comments(struct thread *thread, const struct service_list *comments)
{
    int status = OK;
    struct ordered_comment *all = arena_alloc(thread->arena, (comments->count + 1) * sizeof *all);
    for (size_t i = 0; all && i < comments->count; i++) {
        all[i] = (struct ordered_comment){comments->items[i], depth_of(comments->items[i]), i};
    }
    if (!all) {
        return ERR_NOMEM;
    }
    qsort(all, comments->count, sizeof *all, compare);
    for (size_t i = 0; i < comments->count && status == OK; i++) {
        status = add_comment(thread, all[i].view);
    }
    return arena_failed(thread->arena) ? ERR_NOMEM : status;
}

static void write_head(struct buf *out, yyjson_val *view, const struct document *document)
{
    const char *link = json_string(yyjson_obj_get(view, "post"), "url");
    yyjson_val *counts = yyjson_obj_get(view, "counts");
    compose_heading(out, "#", document->title);
    if (link) {
        buf_puts(out, "<");
        compose_line(out, link);
        buf_puts(out, ">\n\n");
    }
    buf_printf(out, "Score %lld · by ", (long long)service_int(counts, "score"));
    compose_line(out, document->authors ? document->authors : "somebody");
    if (document->published) {
        buf_printf(out, " · %.10s", document->published);
    }
    const char *community = json_string(yyjson_obj_get(view, "community"), "title");
    if (community) {
        buf_puts(out, " · in ");
        compose_line(out, community);
    }
    buf_puts(out, "\n\n");
}

int lemmy_write(struct arena *arena, yyjson_val *view, const struct service_list *comments,
                const char *missing, struct document *document)
{
    struct buf out;
    struct thread thread = {.arena = arena};
    yyjson_val *post = yyjson_obj_get(view, "post");
    document->kind = "thread";
    document->title = json_string(post, "name");
    document->authors = name_of(view);
    document->published = json_string(post, "published");
    document->modified = json_string(post, "updated");
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    write_head(&out, view, document);
    int status = thread_write_text(arena, &out, NULL, json_string(post, "body"), document->url);
    status = status == OK ? add_comments(&thread, comments) : status;
    return thread_end(&thread, &out, "Comments", missing, status, document);
}

/* ---- asking ---- */

static int ask(struct service *service, yyjson_val **object, const char *what, const char *id)
{
    struct source_response response;
    int status = service_get(service, &response, "/api/v3/%s%s", what, id);
    return status == OK ? service_object(service, &response, object) : status;
}

/* The post that a comment belongs to, as an id. */
static int find_post(struct service *service, const struct lemmy_page *page, const char **id)
{
    yyjson_val *root = NULL;
    *id = slice_copy(service->arena, page->id);
    if (!*id || !page->is_comment) {
        return *id ? OK : ERR_NOMEM;
    }
    int status = ask(service, &root, "comment?id=", *id);
    int64_t post =
        status == OK
            ? service_int(yyjson_obj_get(yyjson_obj_get(root, "comment_view"), "post"), "id")
            : 0;
    *id = post ? arena_printf(service->arena, "%lld", (long long)post) : NULL;
    return status != OK ? status : post ? (*id ? OK : ERR_NOMEM) : ERR_NOTFOUND;
}

/* Page after page of comments, as far as the ceiling. */
static int ask_comments(struct service *service, const char *id, struct service_list *comments,
                        const char **missing)
{
    int status = OK;
    bool more = true;
    for (int page = 1; status == OK && more && page <= LIMIT_LOADER_PAGES; page++) {
        yyjson_val *root = NULL;
        const char *query = arena_printf(
            service->arena, "%s&type_=All&sort=Top&max_depth=" DEPTH "&limit=%d&page=%d", id,
            AT_ONCE, page);
        status = query ? ask(service, &root, "comment/list?post_id=", query) : ERR_NOMEM;
        size_t before = comments->count;
        if (status == OK) {
            status = service_list_add(service->arena, comments, service_array(root, "comments"));
        }
        more = status == OK && comments->count - before == AT_ONCE && service_has_room(service);
    }
    if (status != OK && !service_is_over(status)) {
        *missing = "Some comments could not be read.";
        return OK;
    }
    *missing = more ? "There are more comments than these." : NULL;
    return status;
}

int lemmy_load(struct call *call, const struct url *url, struct document *document,
               const char **why)
{
    struct lemmy_page page;
    struct service service;
    yyjson_val *root = NULL;
    const char *id = NULL;
    const char *missing = NULL;
    struct service_list comments = {0};
    if (!lemmy_find(url, &page)) {
        return ERR_NOTFOUND;
    }
    int status =
        service_open_at(&service, call, "Lemmy", "LEMMY_BASE_URL", url, (struct slice){0}, why);
    status = status == OK ? find_post(&service, &page, &id) : status;
    status = status == OK ? ask(&service, &root, "post?id=", id) : status;
    if (status != OK) {
        return status;
    }
    yyjson_val *view = yyjson_obj_get(root, "post_view");
    if (!json_string(yyjson_obj_get(view, "post"), "name")) {
        return ERR_NOTFOUND;
    }
    call_progress(call, 0, 0, "asking Lemmy");
    status = ask_comments(&service, id, &comments, &missing);
    document->url = url->text;
    document->site = arena_strdup(service.arena, url->host);
    return status == OK ? lemmy_write(service.arena, view, &comments, missing, document) : status;
}
