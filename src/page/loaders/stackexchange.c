/* StackExchange: asking its interface (version 2.3) for a question, its answers and the comments on
 * both. The interface limits us in two ways that are obeyed here: a `backoff` in an answer is a
 * number of seconds before the same method may be asked again, and an error says when the day's
 * share is used up. */
#include "page/loaders/stackexchange.h"

#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "page/loaders/internal.h"
#include "page/loaders/service.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum method {
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

/* When each method may be asked again, for all calls together. */
static _Atomic int64_t ready_at_ms[METHOD_COUNT];

#define PAGE_SIZE 100 /* the most that the interface gives at once, items and ids alike */

struct thread_request {
    struct service service;
    struct stackexchange_post post;
    const char *key; /* "&key=...", or "" */
};

static int wait_for_turn(struct service *service, enum method method)
{
    int64_t wait_ms = atomic_load(&ready_at_ms[method]) - clock_now_ms();
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
static int ask(struct thread_request *request, enum method method, const char *ids, int page,
               yyjson_val **root)
{
    struct service *service = &request->service;
    char *path = arena_printf(
        call_arena(service->call), "/2.3/%s%s%s?site=%s&filter=withbody&pagesize=%d&page=%d%s%s",
        METHODS[method].before, ids, METHODS[method].after, request->post.site, PAGE_SIZE, page,
        METHODS[method].query, request->key);
    struct source_response response;
    int status = path ? wait_for_turn(service, method) : ERR_NOMEM;
    if (status == OK) {
        status = service_ask(service, path, NULL, &response);
    }
    if (status != OK) {
        return status;
    }
    *root = service_json(service, &response);
    if (!*root) {
        return ERR_FAILED;
    }
    int64_t backoff_s = service_int(*root, "backoff");
    if (backoff_s > 0 && backoff_s < 86400 && !response.from_cache) {
        atomic_store(&ready_at_ms[method], clock_now_ms() + backoff_s * 1000);
    }
    return read_error(service, *root, response.fetched.status);
}

/* All pages of a method, as far as the ceiling; `more` when there would be more. */
static int ask_all(struct thread_request *request, enum method method, const char *ids,
                   struct service_list *list, bool *more)
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
            *more = yyjson_get_bool(yyjson_obj_get(root, "has_more"));
            status = service_list_add(call_arena(request->service.call), list,
                                      service_array(root, "items"));
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
    struct arena *arena = call_arena(request->service.call);
    char *given = arena_strndup(arena, request->post.id, request->post.id_length);
    *id = given;
    if (!given || !request->post.is_answer) {
        return given ? OK : ERR_NOMEM;
    }
    yyjson_val *root = NULL;
    int status = ask(request, ANSWER, given, 1, &root);
    if (status != OK) {
        return status;
    }
    int64_t question =
        service_int(yyjson_arr_get_first(service_array(root, "items")), "question_id");
    *id = arena_printf(arena, "%lld", (long long)question);
    return !*id ? ERR_NOMEM : question ? OK : ERR_NOTFOUND;
}

/* Whether the call is over, and not only this request. */
static bool is_over(int status)
{
    return status == ERR_CANCELLED || status == ERR_DEADLINE || status == ERR_NOMEM;
}

/* What is asked for beside the question may be missing: the thread then says so. */
static int ask_rest(struct thread_request *request, const char *id,
                    struct stackexchange_thread *thread)
{
    struct arena *arena = call_arena(request->service.call);
    struct service_list answers = {0};
    struct service_list comments = {0};
    bool more = false;
    bool more_comments;
    int status = ask_all(request, ANSWERS_OF_QUESTION, id, &answers, &more);
    if (status != OK && !is_over(status)) {
        return ERR_FAILED; /* a question without its answers: the page is better */
    }
    if (status == OK) {
        status = ask_all(request, COMMENTS_ON_QUESTION, id, &comments, &more_comments);
    }
    if (status == OK && answers.count > 0) {
        status = ask_answer_comments(request, &answers, &comments);
    }
    thread->answers = answers.items;
    thread->answer_count = answers.count;
    thread->comments = comments.items;
    thread->comment_count = comments.count;
    if (status != OK && !is_over(status)) {
        thread->missing = arena_printf(arena, "Some comments could not be read: %s",
                                       *request->service.why ? *request->service.why : "gone");
        status = OK;
    } else if (more) {
        thread->missing =
            arena_printf(arena, "There are more answers than these %zu.", answers.count);
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
    int status = url_encode(&encoded, key, strlen(key));
    if (status == OK) {
        request->key = arena_strdup(call_arena(request->service.call), encoded.data);
        status = request->key ? OK : ERR_NOMEM;
    }
    buf_done(&encoded);
    return status;
}

bool stackexchange_claims(const struct url *url)
{
    struct stackexchange_post post;
    return stackexchange_find(url, &post);
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
    document->site = arena_strdup(call_arena(call), request.post.site);
    status = ask_rest(&request, id, &thread);
    return status == OK ? stackexchange_write(call_arena(call), &thread, document) : status;
}
