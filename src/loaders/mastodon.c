/* Mastodon: a post of any server that speaks its interface (version 1), with what it answers and
 * what was answered to it. */
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/sites.h"
#include "loaders/thread.h"

/* ---- whose URL it is ---- */

static bool is_number(const struct path *path, size_t index)
{
    /* Its ids count milliseconds: fewer digits are another site's. */
    return path_is_number(path, index) && path->segments[index].length >= 6;
}

/* /@name/ID, /@name@server/ID, /users/name/statuses/ID, /web/statuses/ID */
bool mastodon_find(const struct url *url, struct slice *id)
{
    struct path path;
    path_split(url->path, &path);
    bool by_name = path.count == 2 && path.segments[0].data[0] == '@' &&
                   path.segments[0].length > 1 && is_number(&path, 1);
    bool by_user = path.count == 4 && path_is(&path, 0, "users") && path_is(&path, 2, "statuses") &&
                   is_number(&path, 3);
    bool by_web = path.count == 3 && path_is(&path, 0, "web") && path_is(&path, 1, "statuses") &&
                  is_number(&path, 2);
    if (by_name || by_user || by_web) {
        *id = path.segments[path.count - 1];
    }
    return by_name || by_user || by_web;
}

/* ---- as Markdown ---- */

/* "Ada (@ada@example.org)" */
static const char *name_of(struct arena *arena, yyjson_val *status)
{
    yyjson_val *account = yyjson_obj_get(status, "account");
    const char *shown = json_string(account, "display_name");
    const char *name = json_string(account, "acct");
    name = name ? name : "somebody";
    return shown && *shown ? arena_printf(arena, "%s (@%s)", shown, name)
                           : arena_printf(arena, "@%s", name);
}

/* What hangs on a post: pictures by their descriptions, a poll, a link. NULL: nothing. */
static const char *more_of(struct arena *arena, yyjson_val *status)
{
    struct buf out;
    size_t index, most;
    yyjson_val *item;
    buf_init(&out, LIMIT_LOADER_BYTES);
    yyjson_arr_foreach(service_array(status, "media_attachments"), index, most, item)
    {
        const char *words = json_string(item, "description");
        const char *kind = json_string(item, "type");
        buf_puts(&out, "- ");
        compose_line(&out, kind ? kind : "attachment");
        buf_puts(&out, words ? ": " : "");
        compose_line(&out, words);
        buf_putc(&out, '\n');
    }
    yyjson_arr_foreach(service_array(yyjson_obj_get(status, "poll"), "options"), index, most, item)
    {
        buf_puts(&out, "- ");
        compose_line(&out, json_string(item, "title"));
        buf_printf(&out, " (%lld votes)\n", (long long)service_int(item, "votes_count"));
    }
    yyjson_val *card = yyjson_obj_get(status, "card");
    if (json_string(card, "url") && json_string(card, "title")) {
        buf_puts(&out, "- [");
        compose_line(&out, json_string(card, "title"));
        buf_puts(&out, "](");
        compose_line(&out, json_string(card, "url"));
        buf_puts(&out, ")\n");
    }
    const char *more = out.length ? buf_to_arena(&out, arena) : NULL;
    buf_done(&out);
    return more;
}

/* A warning that stands before the text; NULL: there is none. */
static const char *warning_of(yyjson_val *status)
{
    const char *warning = json_string(status, "spoiler_text");
    return warning && *warning ? warning : NULL;
}

static int add_all(struct thread *thread, yyjson_val *list, bool nest)
{
    size_t index, most;
    yyjson_val *status;
    int result = OK;
    yyjson_arr_foreach(list, index, most, status)
    {
        struct thread_post post = {
            .id = json_string(status, "id"),
            .parent = nest ? json_string(status, "in_reply_to_id") : NULL,
            .author = name_of(thread->arena, status),
            .date = json_string(status, "created_at"),
            .score = service_int(status, "favourites_count"),
            .scored = service_int(status, "favourites_count") > 0,
            .remark = warning_of(status),
            .html = json_string(status, "content"),
            .markdown = more_of(thread->arena, status),
        };
        if (result == OK) {
            result = arena_failed(thread->arena) ? ERR_NOMEM : thread_add(thread, &post);
        }
    }
    return result;
}

/* What a post answers, the first of it first. */
static int write_ancestors(struct arena *arena, struct buf *out, yyjson_val *list, const char *url)
{
    struct thread thread = {.arena = arena};
    int status = add_all(&thread, list, false);
    if (status == OK && thread.count) {
        buf_puts(out, "## In answer to\n\n");
        status = thread_write(&thread, out, url);
        buf_putc(out, '\n');
    }
    return status;
}

int mastodon_write(struct arena *arena, yyjson_val *post, yyjson_val *context,
                   struct document *document)
{
    struct buf out;
    const char *more = more_of(arena, post);
    struct thread replies = {.arena = arena};
    document->kind = "post";
    document->authors = name_of(arena, post);
    document->title = arena_printf(arena, "Post by %s", document->authors);
    document->published = json_string(post, "created_at");
    document->modified = json_string(post, "edited_at");
    document->language = json_string(post, "language");
    if (arena_failed(arena)) {
        return ERR_NOMEM;
    }
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    compose_heading(&out, "#", document->title);
    buf_printf(&out, "%.10s · %lld favourites · %lld boosts · %lld replies\n\n",
               document->published ? document->published : "",
               (long long)service_int(post, "favourites_count"),
               (long long)service_int(post, "reblogs_count"),
               (long long)service_int(post, "replies_count"));
    if (warning_of(post)) {
        buf_puts(&out, "**");
        compose_line(&out, warning_of(post));
        buf_puts(&out, "**\n\n");
    }
    int status = thread_write_text(arena, &out, json_string(post, "content"), more, document->url);
    if (status == OK) {
        status = write_ancestors(arena, &out, service_array(context, "ancestors"), document->url);
    }
    if (status == OK) {
        status = add_all(&replies, service_array(context, "descendants"), true);
    }
    return thread_end(&replies, &out, "Replies", NULL, status, document);
}

/* ---- asking ---- */

static int ask(struct service *service, struct slice id, const char *more, yyjson_val **object)
{
    struct source_response response;
    int status =
        service_get(service, &response, "/api/v1/statuses/%.*s%s", (int)id.length, id.data, more);
    return status == OK ? service_object(service, &response, object) : status;
}

int mastodon_load(struct call *call, const struct url *url, struct document *document,
                  const char **why)
{
    struct slice id;
    struct service service;
    yyjson_val *post = NULL;
    yyjson_val *context = NULL;
    if (!mastodon_find(url, &id)) {
        return ERR_NOTFOUND;
    }
    int status = service_open_at(&service, call, "Mastodon", "MASTODON_BASE_URL", url,
                                 (struct slice){0}, why);
    status = status == OK ? ask(&service, id, "", &post) : status;
    if (status != OK) {
        return status;
    }
    if (!json_string(post, "content") || !yyjson_obj_get(post, "account")) {
        return ERR_NOTFOUND;
    }
    call_progress(call, 0, 0, "asking Mastodon");
    status = ask(&service, id, "/context", &context);
    if (status != OK && service_is_over(status)) {
        return status;
    }
    document->url = url->text;
    document->site = arena_strdup(service.arena, url->host);
    return mastodon_write(service.arena, post, status == OK ? context : NULL, document);
}
