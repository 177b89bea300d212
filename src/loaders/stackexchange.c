/* StackExchange: asking its interface (version 2.3) for a question, its answers and the comments on
 * both, and writing the thread as Markdown. The interface limits us in two ways that are obeyed
 * here: a `backoff` in an answer is a number of seconds before the same method may be asked again,
 * and an error says when the day's share is used up. */
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "html/compose.h"
#include "loaders/sites.h"
#include "tables.h"

#include <stdlib.h>

/* ---- whose URL it is ---- */

/* The sites with a domain of their own. Below it there may be a meta site, and where `languages`
 * says so, sites in other languages, which have meta sites too. */
static const struct {
    const char *domain;
    bool languages;
} SITES[] = {
    {"stackoverflow.com", true}, {"superuser.com", false},    {"serverfault.com", false},
    {"askubuntu.com", false},    {"mathoverflow.net", false}, {"stackapps.com", false},
};

/* Below stackexchange.com: "cooking", "meta", "cooking.meta", or "meta.cooking" as it was once
 * written. */
static bool is_network_site(const char *host, size_t length)
{
    static const char BEFORE[] = "meta.";
    static const char AFTER[] = ".meta";
    size_t meta = sizeof BEFORE - 1;
    if (slice_is((struct slice){host, length}, "meta")) {
        return true;
    }
    if (length > meta && memcmp(host, BEFORE, meta) == 0) {
        host += meta;
        length -= meta;
    } else if (length > meta && memcmp(host + length - meta, AFTER, meta) == 0) {
        length -= meta;
    }
    return words_text(&stackexchange_sites, host, length) != NULL;
}

static bool find_site(const char *host, char site[URL_HOST_SIZE])
{
    size_t length;
    memcpy(site, host, strlen(host) + 1);
    if (host_below(host, "stackexchange.com", &length)) {
        bool found = length > 0 && is_network_site(host, length);
        if (found && strncmp(host, "meta.", 5) == 0 && length > 4) {
            /* meta.cooking has become cooking.meta. */
            size_t name = length - 5;
            memcpy(site, host + 5, name);
            memcpy(site + name, ".meta", 5);
        }
        return found;
    }
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++) {
        if (host_below(host, SITES[i].domain, &length)) {
            return length == 0 || slice_is((struct slice){host, length}, "meta") ||
                   (SITES[i].languages && words_text(&stackexchange_languages, host, length));
        }
    }
    return false;
}

bool stackexchange_find(const struct url *url, struct stackexchange_post *post)
{
    struct path path;
    memset(post, 0, sizeof *post);
    path_split(url->path, &path);
    bool question = path_is(&path, 0, "questions") || path_is(&path, 0, "q");
    post->is_answer = path_is(&path, 0, "a");
    if ((!question && !post->is_answer) || !path_is_number(&path, 1) ||
        !find_site(host_plain(url->host), post->site)) {
        return false;
    }
    post->id = path.segments[1];
    if (post->is_answer) {
        post->linked = strtoll(post->id.data, NULL, 10);
    } else if (path_is(&path, 0, "questions") && path_is_number(&path, 3)) {
        post->linked = strtoll(path.segments[3].data, NULL, 10);
    } else if (url->fragment && url->fragment[0] >= '1' && url->fragment[0] <= '9') {
        post->linked = strtoll(url->fragment, NULL, 10);
    }
    return true;
}

/* ---- a thread as Markdown ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* The accepted answer, then by score, then the older one. */
static int compare_answers(const void *left, const void *right)
{
    yyjson_val *const *a = left;
    yyjson_val *const *b = right;
    int order = compare(service_bool(*b, "is_accepted"), service_bool(*a, "is_accepted"));
    order = order ? order : compare(service_int(*b, "score"), service_int(*a, "score"));
    return order ? order : compare(service_int(*a, "answer_id"), service_int(*b, "answer_id"));
}

static const char *author_of(struct arena *arena, yyjson_val *post)
{
    const char *name = json_string(yyjson_obj_get(post, "owner"), "display_name");
    return name ? compose_unescaped(arena, name) : "an unknown user";
}

/* "score 12 · 2019-03-01 · edited 2020-01-02" */
static void write_facts(struct buf *out, yyjson_val *post)
{
    char date[COMPOSE_DATE_SIZE];
    buf_printf(out, "Score %lld", (long long)service_int(post, "score"));
    if (service_int(post, "creation_date")) {
        buf_printf(out, " · %.10s", compose_moment(date, service_int(post, "creation_date")));
    }
    if (service_int(post, "last_edit_date")) {
        buf_printf(out, " · edited %.10s",
                   compose_moment(date, service_int(post, "last_edit_date")));
    }
}

/* The HTML of a post, its headings below ours. */
static int write_body(struct arena *arena, struct buf *out, yyjson_val *post, const char *url,
                      int levels)
{
    struct buf markdown;
    buf_init(&markdown, LIMIT_DOCUMENT_BYTES);
    int status = compose_html(arena, &markdown, json_string(post, "body"), url);
    if (markdown.data) {
        compose_markdown(out, markdown.data, markdown.length, levels, NULL);
        buf_putc(out, '\n');
    }
    buf_done(&markdown);
    return status;
}

static int write_comment(struct arena *arena, struct buf *out, yyjson_val *comment, const char *url)
{
    char date[COMPOSE_DATE_SIZE];
    buf_puts(out, "- **");
    compose_line(out, author_of(arena, comment));
    buf_printf(out, "** (%.10s", compose_moment(date, service_int(comment, "creation_date")));
    if (service_int(comment, "score") > 0) {
        buf_printf(out, ", score %lld", (long long)service_int(comment, "score"));
    }
    buf_puts(out, "): ");
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    int status = compose_html(arena, &text, json_string(comment, "body"), url);
    compose_item(out, text.data ? text.data : "", text.length);
    buf_done(&text);
    return status;
}

static int write_comments(struct arena *arena, struct buf *out,
                          const struct stackexchange_thread *thread, int64_t post, const char *url)
{
    bool any = false;
    int status = OK;
    for (size_t i = 0; i < thread->comments.count && status == OK; i++) {
        yyjson_val *comment = thread->comments.items[i];
        if (service_int(comment, "post_id") == post) {
            buf_puts(out, any ? "" : "**Comments**\n\n");
            any = true;
            status = write_comment(arena, out, comment, url);
        }
    }
    buf_puts(out, any ? "\n" : "");
    return status;
}

static int write_question(struct arena *arena, struct buf *out,
                          const struct stackexchange_thread *thread, struct document *document)
{
    yyjson_val *question = thread->question;
    compose_heading(out, "#", document->title);
    write_facts(out, question);
    buf_puts(out, " · asked by ");
    compose_line(out, document->authors);
    compose_names(out, " · tags: ", service_array(question, "tags"));
    const char *closed = json_string(question, "closed_reason");
    if (closed) {
        buf_puts(out, " · closed: ");
        compose_line(out, compose_unescaped(arena, closed));
    }
    buf_puts(out, "\n\n");
    int status = write_body(arena, out, question, document->url, 1);
    return status == OK ? write_comments(arena, out, thread, service_int(question, "question_id"),
                                         document->url)
                        : status;
}

static int write_answer(struct arena *arena, struct buf *out,
                        const struct stackexchange_thread *thread, yyjson_val *answer,
                        const char *url)
{
    int64_t id = service_int(answer, "answer_id");
    buf_puts(out, service_bool(answer, "is_accepted") ? "## Accepted answer by " : "## Answer by ");
    compose_line(out, author_of(arena, answer));
    if (thread->linked && id == thread->linked) {
        buf_puts(out, " (the one that the address points at)");
    }
    buf_puts(out, "\n\n");
    write_facts(out, answer);
    buf_puts(out, "\n\n");
    int status = write_body(arena, out, answer, url, 2);
    return status == OK ? write_comments(arena, out, thread, id, url) : status;
}

int stackexchange_write(struct arena *arena, struct stackexchange_thread *thread,
                        struct document *document)
{
    char date[COMPOSE_DATE_SIZE];
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "question";
    document->title = compose_unescaped(arena, json_string(thread->question, "title"));
    document->authors = author_of(arena, thread->question);
    compose_moment(date, service_int(thread->question, "creation_date"));
    document->published = arena_printf(arena, "%.10s", date);
    const char *link = json_string(thread->question, "link");
    if (link) {
        document->url = arena_strdup(arena, link);
    }
    int status = arena_failed(arena) ? ERR_NOMEM : write_question(arena, &out, thread, document);
    struct service_list *answers = &thread->answers;
    if (answers->count > 1) {
        qsort(answers->items, answers->count, sizeof *answers->items, compare_answers);
    }
    for (size_t i = 0; i < answers->count && status == OK; i++) {
        status = write_answer(arena, &out, thread, answers->items[i], document->url);
    }
    if (thread->missing) {
        buf_printf(&out, "_%s_\n", thread->missing);
    }
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    return compose_done(arena, &out, document);
}

/* ---- asking ---- */

enum stackexchange_method {
    QUESTION,
    ANSWERS_OF_QUESTION,
    COMMENTS_ON_QUESTION,
    COMMENTS_ON_ANSWERS,
    ANSWER,
    METHOD_COUNT,
};

static const struct {
    const char *before, *after; /* the ids stand between */
    const char *query;
} METHODS[METHOD_COUNT] = {
    [QUESTION] = {"questions/", "", ""},
    [ANSWERS_OF_QUESTION] = {"questions/", "/answers", "&order=desc&sort=votes"},
    [COMMENTS_ON_QUESTION] = {"questions/", "/comments", "&order=asc&sort=creation"},
    [COMMENTS_ON_ANSWERS] = {"answers/", "/comments", "&order=asc&sort=creation"},
    [ANSWER] = {"answers/", "", ""},
};

_Static_assert((size_t)METHOD_COUNT <= STACKEXCHANGE_METHODS, "struct loaders has room for each");

#define PAGE_SIZE 100 /* the most that the interface gives at once, items and ids alike */

struct thread_request {
    struct service service;
    struct stackexchange_post post;
    const char *key; /* "&key=...", or "" */
};

/* When a method may be asked again, for all calls together. */
static _Atomic int64_t *ready_at_ms(const struct service *service, enum stackexchange_method method)
{
    return &call_parts(service->call)->loaders->stackexchange_ready_ms[method];
}

static int wait_for_turn(struct service *service, enum stackexchange_method method)
{
    int64_t wait_ms = atomic_load(ready_at_ms(service, method)) - clock_now_ms();
    if (wait_ms <= 0) {
        return OK;
    }
    if (wait_ms > TIME_SERVICE_PATIENCE_MS) {
        return service_fail(service, "StackExchange asks for a pause of %lld more seconds",
                            (long long)(wait_ms + 999) / 1000);
    }
    return call_sleep(service->call, wait_ms);
}

static int read_error(struct service *service, yyjson_val *root, int http_status)
{
    const char *name = json_string(root, "error_name");
    const char *message = json_string(root, "error_message");
    if (!name && http_status == 200) {
        return OK;
    }
    if (name && strcmp(name, "throttle_violation") == 0) {
        return service_fail(service,
                            "StackExchange's limit of requests is reached (%s); STACKEXCHANGE_KEY "
                            "raises it",
                            message ? message : name);
    }
    if (name && (strcmp(name, "no_method") == 0 || strcmp(name, "bad_parameter") == 0)) {
        return ERR_NOTFOUND;
    }
    return service_fail(service, "StackExchange answered HTTP %d: %s", http_status,
                        message ? message : "no reason given");
}

/* Asks for one page of a method's items. */
static int ask(struct thread_request *request, enum stackexchange_method method, const char *ids,
               int page, yyjson_val **root)
{
    struct service *service = &request->service;
    struct source_response response;
    int status = wait_for_turn(service, method);
    if (status == OK) {
        status = service_get(service, &response,
                             "/2.3/%s%s%s?site=%s&filter=withbody&pagesize=%d&page=%d%s%s",
                             METHODS[method].before, ids, METHODS[method].after, request->post.site,
                             PAGE_SIZE, page, METHODS[method].query, request->key);
    }
    if (status == OK) {
        status = service_json(service, &response, root);
    }
    if (status != OK) {
        return status;
    }
    int64_t backoff_s = service_int(*root, "backoff");
    if (backoff_s > 0 && backoff_s < 86400 && !response.from_cache) {
        atomic_store(ready_at_ms(service, method), clock_now_ms() + backoff_s * 1000);
    }
    return read_error(service, *root, response.fetched.status);
}

/* All pages of a method, as far as the ceiling; `more` when there would be more. */
static int ask_all(struct thread_request *request, enum stackexchange_method method,
                   const char *ids, struct service_list *list, bool *more)
{
    int status = OK;
    *more = true;
    for (int page = 1; page <= LIMIT_LOADER_PAGES && *more && status == OK; page++) {
        if (!service_has_room(&request->service)) {
            break;
        }
        yyjson_val *root = NULL;
        status = ask(request, method, ids, page, &root);
        if (status == OK) {
            *more = service_bool(root, "has_more");
            status = service_list_add(request->service.arena, list, service_array(root, "items"));
        }
    }
    return status;
}

/* The comments of all answers: their ids are asked about together. */
static int ask_answer_comments(struct thread_request *request, const struct service_list *answers,
                               struct service_list *comments)
{
    int status = OK;
    bool more;
    for (size_t first = 0; first < answers->count && status == OK; first += PAGE_SIZE) {
        struct buf ids;
        buf_init(&ids, KIB(4));
        for (size_t i = first; i < answers->count && i < first + PAGE_SIZE; i++) {
            buf_printf(&ids, "%s%lld", i > first ? ";" : "",
                       (long long)service_int(answers->items[i], "answer_id"));
        }
        status = buf_error(&ids);
        if (status == OK) {
            status = ask_all(request, COMMENTS_ON_ANSWERS, ids.data, comments, &more);
        }
        buf_done(&ids);
    }
    return status;
}

/* The question's id: the URL has it, or the answer knows it. */
static int find_question(struct thread_request *request, const char **id)
{
    struct arena *arena = request->service.arena;
    *id = slice_copy(arena, request->post.id);
    if (!*id || !request->post.is_answer) {
        return *id ? OK : ERR_NOMEM;
    }
    yyjson_val *root = NULL;
    int status = ask(request, ANSWER, *id, 1, &root);
    if (status != OK) {
        return status;
    }
    int64_t question =
        service_int(yyjson_arr_get_first(service_array(root, "items")), "question_id");
    *id = arena_printf(arena, "%lld", (long long)question);
    return !*id ? ERR_NOMEM : question ? OK : ERR_NOTFOUND;
}

/* What is asked for beside the question may be missing: the thread then says so. */
static int ask_rest(struct thread_request *request, const char *id,
                    struct stackexchange_thread *thread)
{
    struct arena *arena = request->service.arena;
    bool more = false;
    bool more_comments;
    int status = ask_all(request, ANSWERS_OF_QUESTION, id, &thread->answers, &more);
    if (status != OK && !service_is_over(status)) {
        return ERR_FAILED; /* a question without its answers: the page is better */
    }
    if (status == OK) {
        status = ask_all(request, COMMENTS_ON_QUESTION, id, &thread->comments, &more_comments);
    }
    if (status == OK) {
        status = ask_answer_comments(request, &thread->answers, &thread->comments);
    }
    if (status != OK && !service_is_over(status)) {
        thread->missing = arena_printf(arena, "Some comments could not be read: %s",
                                       *request->service.why ? *request->service.why : "gone");
        status = OK;
    } else if (more) {
        thread->missing =
            arena_printf(arena, "There are more answers than these %zu.", thread->answers.count);
    }
    return status;
}

/* The operator's key, as it stands in a query. */
static int set_key(struct thread_request *request)
{
    const char *key = config_text("STACKEXCHANGE_KEY");
    request->key = "";
    if (!key) {
        return OK;
    }
    struct buf encoded;
    buf_init(&encoded, KIB(4));
    buf_puts(&encoded, "&key=");
    url_encode(&encoded, key, strlen(key));
    request->key = buf_to_arena(&encoded, request->service.arena);
    return request->key ? OK : ERR_NOMEM;
}

int stackexchange_load(struct call *call, const struct url *url, struct document *document,
                       const char **why)
{
    struct thread_request request;
    const char *id = NULL;
    if (!stackexchange_find(url, &request.post)) {
        return ERR_NOTFOUND;
    }
    int status =
        service_open(&request.service, call, "StackExchange", "STACKEXCHANGE_BASE_URL", NULL, why);
    if (status == OK) {
        status = set_key(&request);
    }
    if (status == OK) {
        status = find_question(&request, &id);
    }
    yyjson_val *root = NULL;
    if (status == OK) {
        call_progress(call, 0, 0, "asking StackExchange");
        status = ask(&request, QUESTION, id, 1, &root);
    }
    if (status != OK) {
        return status;
    }
    struct stackexchange_thread thread = {
        .question = yyjson_arr_get_first(service_array(root, "items")),
        .linked = request.post.linked,
    };
    if (!yyjson_is_obj(thread.question)) {
        return ERR_NOTFOUND;
    }
    document->url = url->text;
    document->site = arena_strdup(request.service.arena, request.post.site);
    status = ask_rest(&request, id, &thread);
    return status == OK ? stackexchange_write(request.service.arena, &thread, document) : status;
}
