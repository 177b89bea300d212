/* Discourse: a topic of any forum that runs it, by the JSON behind its pages. */
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/sites.h"
#include "loaders/thread.h"

#define LIKE 2 /* among actions_summary */

/* ---- whose URL it is ---- */

/* /t/slug/ID, /t/slug/ID/POST, /t/ID, below a folder or not. */
bool discourse_find(const struct url *url, struct discourse_topic *topic)
{
    struct path path;
    path_split(url->path, &path);
    size_t at = path_is(&path, 0, "t") ? 0 : 1;
    if (!path_is(&path, at, "t") || path.count > at + 4) {
        return false;
    }
    size_t id = path_is_number(&path, at + 1) ? at + 1 : at + 2;
    if (!path_is_number(&path, id)) {
        return false;
    }
    topic->id = path.segments[id];
    topic->folder = (struct slice){0};
    if (at > 0) {
        topic->folder = (struct slice){url->path, (size_t)(path.segments[at].data - url->path) - 1};
    }
    return true;
}

/* ---- as Markdown ---- */

static int64_t likes_of(yyjson_val *post)
{
    size_t index, most;
    yyjson_val *action;
    yyjson_arr_foreach(service_array(post, "actions_summary"), index, most, action)
    {
        if (service_int(action, "id") == LIKE) {
            return service_int(action, "count");
        }
    }
    return 0;
}

static const char *name_of(yyjson_val *post)
{
    const char *name = json_string(post, "name");
    return name && *name ? name : json_string(post, "username");
}

static int add_posts(struct thread *thread, const struct service_list *posts)
{
    int status = OK;
    for (size_t i = 1; i < posts->count && status == OK; i++) {
        yyjson_val *post = posts->items[i];
        int64_t above = service_int(post, "reply_to_post_number");
        int64_t likes = likes_of(post);
        struct thread_post one = {
            .id = arena_printf(thread->arena, "%lld", (long long)service_int(post, "post_number")),
            .parent = above > 1 ? arena_printf(thread->arena, "%lld", (long long)above) : NULL,
            .author = name_of(post),
            .date = json_string(post, "created_at"),
            .score = likes,
            .scored = likes > 0,
            .remark = service_bool(post, "accepted_answer") ? "accepted answer" : NULL,
            .html = json_string(post, "cooked"),
        };
        status = arena_failed(thread->arena) ? ERR_NOMEM : thread_add(thread, &one);
    }
    return status;
}

int discourse_write(struct arena *arena, yyjson_val *topic, const struct service_list *posts,
                    const char *missing, struct document *document)
{
    struct buf out;
    struct thread thread = {.arena = arena};
    yyjson_val *first = posts->count ? posts->items[0] : NULL;
    document->kind = "thread";
    document->title = json_string(topic, "title");
    document->authors = name_of(first);
    document->published = json_string(topic, "created_at");
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    compose_heading(&out, "#", document->title);
    buf_puts(&out, "By ");
    compose_line(&out, document->authors ? document->authors : "somebody");
    if (document->published) {
        buf_printf(&out, " · %.10s", document->published);
    }
    buf_printf(&out, " · %lld likes · %lld posts · %lld views",
               (long long)service_int(topic, "like_count"),
               (long long)service_int(topic, "posts_count"),
               (long long)service_int(topic, "views"));
    compose_names(&out, " · tags: ", service_array(topic, "tags"));
    buf_puts(&out, "\n\n");
    int status = thread_write_text(arena, &out, json_string(first, "cooked"), NULL, document->url);
    status = status == OK ? add_posts(&thread, posts) : status;
    return thread_end(&thread, &out, "Replies", missing, status, document);
}

/* ---- asking ---- */

static int ask(struct service *service, struct slice id, int page, yyjson_val **topic)
{
    struct source_response response;
    int status =
        service_get(service, &response, "/t/%.*s.json?page=%d", (int)id.length, id.data, page);
    return status == OK ? service_object(service, &response, topic) : status;
}

static yyjson_val *posts_of(yyjson_val *topic)
{
    return service_array(yyjson_obj_get(topic, "post_stream"), "posts");
}

/* The further pages of posts, as far as the ceiling. */
static int ask_rest(struct service *service, struct slice id, int64_t count,
                    struct service_list *posts, const char **missing)
{
    int status = OK;
    size_t before = 0;
    for (int page = 2; page <= LIMIT_DISCOURSE_PAGES && status == OK && posts->count > before &&
                       (int64_t)posts->count < count && service_has_room(service);
         page++) {
        yyjson_val *topic = NULL;
        before = posts->count;
        status = ask(service, id, page, &topic);
        int64_t last = service_int(posts->items[before - 1], "post_number");
        if (status == OK &&
            service_int(yyjson_arr_get_first(posts_of(topic)), "post_number") > last) {
            status = service_list_add(service->arena, posts, posts_of(topic));
        }
    }
    if (service_is_over(status)) {
        return status;
    }
    if ((int64_t)posts->count < count) {
        *missing = arena_printf(service->arena, "These are the first %zu of %lld posts.",
                                posts->count, (long long)count);
    }
    return OK;
}

int discourse_load(struct call *call, const struct url *url, struct document *document,
                   const char **why)
{
    struct discourse_topic topic;
    struct service service;
    yyjson_val *root = NULL;
    const char *missing = NULL;
    struct service_list posts = {0};
    if (!discourse_find(url, &topic)) {
        return ERR_NOTFOUND;
    }
    int status =
        service_open_at(&service, call, "Discourse", "DISCOURSE_BASE_URL", url, topic.folder, why);
    status = status == OK ? ask(&service, topic.id, 1, &root) : status;
    status = status == OK ? service_list_add(service.arena, &posts, posts_of(root)) : status;
    if (status != OK) {
        return status;
    }
    if (!json_string(root, "title") || !posts.count || !json_string(posts.items[0], "cooked")) {
        return ERR_NOTFOUND;
    }
    call_progress(call, 0, 0, "asking Discourse");
    status = ask_rest(&service, topic.id, service_int(root, "posts_count"), &posts, &missing);
    document->url = url->text;
    document->site = arena_strdup(service.arena, url->host);
    return status == OK ? discourse_write(service.arena, root, &posts, missing, document) : status;
}
