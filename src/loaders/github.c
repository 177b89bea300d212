/* GitHub: which URLs are pages that we read; asking its REST interface for issues, pull requests,
 * releases and READMEs, its GraphQL interface for discussions (which need a token), and its file
 * server for files. A token is used where there is one and needed only where GitHub needs it. */
#include "config/config.h"
#include "core/limits.h"
#include "html/charset.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "tables.h"

#include <stdlib.h>

#define RELEASES_SHOWN "10"

/* ---- whose URL it is ---- */

/* What the segment after the repository says. */
static const struct {
    const char *word;
    enum github_kind kind;
    enum { WANTS_NUMBER, WANTS_PATH, WANTS_REF, WANTS_NOTHING } wants;
} SECTIONS[] = {
    {"issues", GITHUB_ISSUE, WANTS_NUMBER}, {"pull", GITHUB_PULL, WANTS_NUMBER},
    {"pulls", GITHUB_PULL, WANTS_NUMBER},   {"discussions", GITHUB_DISCUSSION, WANTS_NUMBER},
    {"blob", GITHUB_FILE, WANTS_PATH},      {"raw", GITHUB_FILE, WANTS_PATH},
    {"tree", GITHUB_REPOSITORY, WANTS_REF}, {"releases", GITHUB_RELEASES, WANTS_NOTHING},
};

static bool find_releases(const struct path *path, struct github_page *page)
{
    if (path->count == 3) {
        return true;
    }
    page->kind = GITHUB_RELEASE;
    if (path_is(path, 3, "latest")) {
        return path->count == 4;
    }
    /* A tag may hold slashes. */
    if (path_is(path, 3, "tag") && path->count >= 5) {
        page->ref = (struct slice){path->segments[4].data, strlen(path->segments[4].data)};
        return true;
    }
    return false;
}

static bool find_section(const struct path *path, struct github_page *page)
{
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
        if (!path_is(path, 2, SECTIONS[i].word)) {
            continue;
        }
        page->kind = SECTIONS[i].kind;
        switch (SECTIONS[i].wants) {
        case WANTS_NUMBER:
            page->number = path->segments[3];
            return path_is_number(path, 3);
        case WANTS_PATH:
        case WANTS_REF:
            page->ref = path->segments[3];
            page->path = path_from(path, 4);
            return path->count > (SECTIONS[i].wants == WANTS_PATH ? 4U : 3U);
        case WANTS_NOTHING:
            return find_releases(path, page);
        }
    }
    return false;
}

bool github_find(const struct url *url, struct github_page *page)
{
    struct path path;
    memset(page, 0, sizeof *page);
    page->path = "";
    page->ref.data = "";
    path_split(url->path, &path);
    const char *host = host_plain(url->host);
    page->owner = path.segments[0];
    page->repository = path.segments[1];
    if (strcmp(host, "raw.githubusercontent.com") == 0) {
        page->kind = GITHUB_FILE;
        page->ref = path.segments[2];
        page->path = path_from(&path, 3);
        return path.count > 3;
    }
    if (strcmp(host, "github.com") != 0 || path.count < 2 ||
        words_text(&github_pages, page->owner.data, page->owner.length)) {
        return false;
    }
    size_t length = page->repository.length;
    if (length > 4 && strncmp(page->repository.data + length - 4, ".git", 4) == 0) {
        page->repository.length -= 4;
    }
    if (path.count == 2) {
        page->kind = GITHUB_REPOSITORY;
        return true;
    }
    return find_section(&path, page);
}

/* ---- its service ---- */

struct github_request {
    struct service service;
    struct github_page page;
    struct fetch_header headers[4];
    const char *owner, *repository;
};

static int open_service(struct github_request *request, struct call *call, const char **why)
{
    bool file = request->page.kind == GITHUB_FILE;
    int status = service_open(&request->service, call, "GitHub",
                              file ? "GITHUB_RAW_BASE_URL" : "GITHUB_BASE_URL", NULL, why);
    const char *token = config_text("GITHUB_TOKEN");
    const char *bearer =
        status == OK && token ? arena_printf(request->service.arena, "Bearer %s", token) : NULL;
    if (status != OK || (token && !bearer)) {
        return ERR_NOMEM;
    }
    size_t count = 0;
    request->headers[count++] = (struct fetch_header){"User-Agent", SERVICE_USER_AGENT, false};
    request->headers[count++] = (struct fetch_header){"X-GitHub-Api-Version", "2022-11-28", false};
    if (request->page.kind == GITHUB_DISCUSSION) {
        request->headers[count++] =
            (struct fetch_header){"Content-Type", "application/json", false};
    }
    if (bearer) {
        request->headers[count++] = (struct fetch_header){"Authorization", bearer, true};
    }
    request->service.headers = request->headers;
    request->service.header_count = count;
    request->service.accept = "application/vnd.github+json";
    return OK;
}

/* ---- what GitHub refuses ---- */

static int fail_by_limit(struct service *service, const struct fetch_response *fetched)
{
    const char *reset = fetch_header_value(fetched, "x-ratelimit-reset");
    const char *retry = fetch_header_value(fetched, "retry-after");
    const char *advice =
        config_text("GITHUB_TOKEN") ? "" : "; GITHUB_TOKEN raises 60 requests an hour to 5,000";
    if (reset) {
        char moment[COMPOSE_DATE_SIZE];
        return service_fail(service, "GitHub's rate limit is used up until %s%s",
                            compose_moment(moment, strtoll(reset, NULL, 10)), advice);
    }
    return service_fail(service, "GitHub's rate limit is used up%s%s%s%s", retry ? " for " : "",
                        retry ? retry : "", retry ? " seconds" : "", advice);
}

static bool is_limited(const struct fetch_response *fetched)
{
    const char *remaining = fetch_header_value(fetched, "x-ratelimit-remaining");
    return (fetched->status == 403 || fetched->status == 429) &&
           ((remaining && strcmp(remaining, "0") == 0) ||
            fetch_header_value(fetched, "retry-after") || fetched->status == 429);
}

/* OK for an answer with content. What is gone or hidden is ERR_NOTFOUND: the page may still say
 * something. */
static int check(struct service *service, const struct fetch_response *fetched)
{
    if (fetched->status == 200) {
        return OK;
    }
    if (is_limited(fetched)) {
        return fail_by_limit(service, fetched);
    }
    if (fetched->status == 401) {
        return service_fail(service, "GitHub refuses the GITHUB_TOKEN that is set");
    }
    if (fetched->status == 404 || fetched->status == 410 || fetched->status == 451) {
        return ERR_NOTFOUND;
    }
    return service_fail(service, "GitHub answered HTTP %d", fetched->status);
}

/* ---- asking ---- */

/* What came, as JSON, where asking went well and there is content. */
static int read_answer(struct github_request *request, int status,
                       const struct source_response *response, yyjson_val **root)
{
    if (status == OK) {
        status = check(&request->service, &response->fetched);
    }
    return status == OK ? service_json(&request->service, response, root) : status;
}

/* GETs /repos/OWNER/REPOSITORY/REST. A `rest` of NULL is one for which there was no memory. */
static int ask(struct github_request *request, const char *rest, struct source_response *response,
               yyjson_val **root)
{
    if (!rest) {
        return ERR_NOMEM;
    }
    int status = service_get(&request->service, response, "/repos/%s/%s%s%s", request->owner,
                             request->repository, *rest ? "/" : "", rest);
    return read_answer(request, status, response, root);
}

/* All pages of a list, as far as the ceiling; `more` when there would be more. */
static int ask_all(struct github_request *request, const char *kind, const char *list_name,
                   struct service_list *list, bool *more)
{
    struct arena *arena = request->service.arena;
    int status = OK;
    bool next = true;
    for (int page = 1; page <= LIMIT_LOADER_PAGES && next && status == OK; page++) {
        if (!service_has_room(&request->service)) {
            break;
        }
        struct source_response response;
        yyjson_val *root = NULL;
        char *rest = arena_printf(arena, "%s/%.*s/%s?per_page=100&page=%d", kind,
                                  (int)request->page.number.length, request->page.number.data,
                                  list_name, page);
        status = ask(request, rest, &response, &root);
        if (status == OK) {
            status = service_list_add(arena, list, root);
            const char *link = fetch_header_value(&response.fetched, "link");
            next = link && strstr(link, "rel=\"next\"");
        }
    }
    *more = *more || next;
    return status;
}

/* ---- issues and pull requests ---- */

/* How many comments were left out, as far as GitHub says how many there are. */
static const char *more_words(struct github_request *request, const struct github_thread *thread)
{
    int64_t all =
        service_int(thread->subject, "comments") + service_int(thread->subject, "review_comments");
    int64_t left = all - (int64_t)(thread->comments.count + thread->review_comments.count);
    return left > 0 ? arena_printf(request->service.arena,
                                   "There are more comments than these: %lld were left out.",
                                   (long long)left)
                    : "There are more comments than these.";
}

/* The lists around a thread. One that fails is missing, and the thread says so. */
static int ask_lists(struct github_request *request, struct github_thread *thread)
{
    struct {
        const char *kind, *name;
        struct service_list *list;
        bool of_pulls;
    } lists[] = {
        {"issues", "comments", &thread->comments, false},
        {"pulls", "reviews", &thread->reviews, true},
        {"pulls", "comments", &thread->review_comments, true},
    };
    bool more = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i].of_pulls && !thread->is_pull) {
            continue;
        }
        int status = ask_all(request, lists[i].kind, lists[i].name, lists[i].list, &more);
        if (service_is_over(status)) {
            return status;
        }
        if (status != OK) {
            thread->missing =
                arena_printf(request->service.arena, "Some comments could not be read: %s",
                             *request->service.why ? *request->service.why : "they are gone");
            return OK;
        }
    }
    if (more) {
        thread->missing = more_words(request, thread);
    }
    return OK;
}

static int load_thread(struct github_request *request, struct document *document)
{
    struct arena *arena = request->service.arena;
    struct github_thread thread = {.is_pull = request->page.kind == GITHUB_PULL};
    struct source_response response;
    const char *number = slice_copy(arena, request->page.number);
    int status = number ? OK : ERR_NOMEM;
    if (status == OK && !thread.is_pull) {
        status = ask(request, arena_printf(arena, "issues/%s", number), &response, &thread.subject);
        /* Every pull request is an issue too, and says so. */
        thread.is_pull = status == OK && yyjson_obj_get(thread.subject, "pull_request");
    }
    if (status == OK && thread.is_pull) {
        status = ask(request, arena_printf(arena, "pulls/%s", number), &response, &thread.subject);
    }
    if (status == OK && !yyjson_is_obj(thread.subject)) {
        status = ERR_NOTFOUND;
    }
    if (status == OK) {
        status = ask_lists(request, &thread);
    }
    return status == OK ? github_write_thread(arena, &thread, document) : status;
}

/* ---- discussions ---- */

static const char DISCUSSION_QUERY[] =
    "query($owner: String!, $name: String!, $number: Int!, $after: String) {"
    " repository(owner: $owner, name: $name) { discussion(number: $number) {"
    " number title body createdAt updatedAt author { login } category { name }"
    " comments(first: 50, after: $after) { pageInfo { hasNextPage endCursor }"
    " nodes { body createdAt isAnswer author { login }"
    " replies(first: 50) { nodes { body createdAt author { login } } } } } } } }";

static const char *discussion_body(struct github_request *request, const char *after)
{
    struct arena *arena = request->service.arena;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *variables = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "query", DISCUSSION_QUERY);
    yyjson_mut_obj_add_val(doc, root, "variables", variables);
    yyjson_mut_obj_add_str(doc, variables, "owner", request->owner);
    yyjson_mut_obj_add_str(doc, variables, "name", request->repository);
    yyjson_mut_obj_add_int(doc, variables, "number", strtoll(request->page.number.data, NULL, 10));
    json_add_string(doc, variables, "after", after);
    return json_text(arena, root, NULL);
}

/* GraphQL says what went wrong in an answer that is otherwise fine. */
static int check_errors(struct github_request *request, yyjson_val *root)
{
    yyjson_val *error = yyjson_arr_get_first(service_array(root, "errors"));
    const char *type = json_string(error, "type");
    const char *message = json_string(error, "message");
    if (!error) {
        return OK;
    }
    if (type && strcmp(type, "NOT_FOUND") == 0) {
        return ERR_NOTFOUND;
    }
    return service_fail(&request->service, "GitHub: %s", message ? message : "an unnamed error");
}

static int ask_discussion(struct github_request *request, const char *after, yyjson_val **found)
{
    struct source_response response;
    yyjson_val *root;
    int status =
        service_post(&request->service, &response, "/graphql", discussion_body(request, after));
    status = read_answer(request, status, &response, &root);
    if (status != OK) {
        return status;
    }
    status = check_errors(request, root);
    yyjson_val *repository = yyjson_obj_get(yyjson_obj_get(root, "data"), "repository");
    *found = yyjson_obj_get(repository, "discussion");
    return status != OK ? status : yyjson_is_obj(*found) ? OK : ERR_NOTFOUND;
}

static int load_discussion(struct github_request *request, struct document *document)
{
    struct arena *arena = request->service.arena;
    struct service_list comments = {0};
    yyjson_val *discussion = NULL;
    const char *after = NULL;
    const char *missing = NULL;
    if (!config_text("GITHUB_TOKEN")) {
        return ERR_NOTFOUND; /* the page itself needs none */
    }
    for (int page = 0; page < LIMIT_LOADER_PAGES && (page == 0 || after); page++) {
        if (page > 0 && !service_has_room(&request->service)) {
            break;
        }
        yyjson_val *found = NULL;
        int status = ask_discussion(request, after, &found);
        if (status != OK && (page == 0 || service_is_over(status))) {
            return status;
        }
        if (status != OK) {
            missing = "Some comments could not be read.";
            break;
        }
        discussion = discussion ? discussion : found;
        yyjson_val *list = yyjson_obj_get(found, "comments");
        yyjson_val *info = yyjson_obj_get(list, "pageInfo");
        bool more = service_bool(info, "hasNextPage");
        after = more ? json_string(info, "endCursor") : NULL;
        if (service_list_add(arena, &comments, service_array(list, "nodes")) != OK) {
            return ERR_NOMEM;
        }
    }
    if (after && !missing) {
        missing = "There are more comments than these.";
    }
    return github_write_discussion(arena, discussion, &comments, missing, document);
}

/* ---- files, READMEs, releases ---- */

static int load_file(struct github_request *request, struct document *document)
{
    struct call *call = request->service.call;
    struct arena *arena = call_arena(call);
    const struct github_page *page = &request->page;
    struct source_response response;
    struct charset_text text;
    char *path = arena_printf(arena, "/%s/%s/%.*s/%s", request->owner, request->repository,
                              (int)page->ref.length, page->ref.data, page->path);
    request->service.accept = "*/*";
    request->service.max_bytes = LIMIT_FETCH_BODY_BYTES;
    int status = path ? service_get(&request->service, &response, "%s", path) : ERR_NOMEM;
    if (status == OK) {
        status = check(&request->service, &response.fetched);
    }
    if (status != OK) {
        return status;
    }
    const char *body = response.fetched.body;
    size_t length = response.fetched.body_length;
    if (pdf_is(body, length)) {
        return pdf_load(call, body, length, false, document, request->service.why);
    }
    if (memchr(body, '\0', length)) {
        return ERR_NOTFOUND; /* a picture, an archive */
    }
    struct charset_hints hints = {.content_type = response.fetched.content_type};
    status = charset_decode(arena, body, length, &hints, &text);
    if (status != OK) {
        return status;
    }
    const char *folder = strrchr(path, '/');
    const char *rest = strchr(path + 1 + strlen(request->owner) + 1, '/');
    struct compose_links links = {
        .pages = arena_printf(arena, "https://github.com/%s/%s/blob%.*s", request->owner,
                              request->repository, (int)(folder - rest) + 1, rest),
        .images = arena_printf(arena, "https://raw.githubusercontent.com%.*s",
                               (int)(folder - path) + 1, path),
    };
    size_t name_length;
    document->title = url_decode(arena, folder + 1, strlen(folder + 1), &name_length);
    return plain_write(arena, plain_form_of(page->path), text.bytes, text.length, &links, document);
}

static int load_repository(struct github_request *request, struct document *document)
{
    struct arena *arena = request->service.arena;
    const struct github_page *page = &request->page;
    struct source_response response;
    yyjson_val *repository = NULL;
    yyjson_val *readme = NULL;
    bool root = page->ref.length == 0;
    int status = root ? ask(request, "", &response, &repository) : OK;
    const char *rest = "readme";
    if (!root) {
        rest = arena_printf(arena, "readme%s%s?ref=%.*s", *page->path ? "/" : "", page->path,
                            (int)page->ref.length, page->ref.data);
    }
    if (status == OK) {
        status = ask(request, rest, &response, &readme);
        if (status == ERR_NOTFOUND && repository) {
            status = OK; /* a repository without one still says what it is */
        }
    }
    return status == OK ? github_write_repository(arena, repository, readme, document) : status;
}

static int load_releases(struct github_request *request, struct document *document)
{
    struct arena *arena = request->service.arena;
    struct source_response response;
    yyjson_val *releases = NULL;
    const char *rest = "releases?per_page=" RELEASES_SHOWN;
    if (request->page.kind == GITHUB_RELEASE) {
        rest = request->page.ref.length
                   ? arena_printf(arena, "releases/tags/%.*s", (int)request->page.ref.length,
                                  request->page.ref.data)
                   : "releases/latest";
    }
    int status = ask(request, rest, &response, &releases);
    return status == OK ? github_write_releases(arena, releases, document) : status;
}

int github_load(struct call *call, const struct url *url, struct document *document,
                const char **why)
{
    static int (*const LOADS[])(struct github_request *, struct document *) = {
        [GITHUB_REPOSITORY] = load_repository,
        [GITHUB_ISSUE] = load_thread,
        [GITHUB_PULL] = load_thread,
        [GITHUB_DISCUSSION] = load_discussion,
        [GITHUB_FILE] = load_file,
        [GITHUB_RELEASES] = load_releases,
        [GITHUB_RELEASE] = load_releases,
    };
    struct github_request request = {0};
    if (!github_find(url, &request.page)) {
        return ERR_NOTFOUND;
    }
    request.owner = slice_copy(call_arena(call), request.page.owner);
    request.repository = slice_copy(call_arena(call), request.page.repository);
    if (!request.owner || !request.repository) {
        return ERR_NOMEM;
    }
    int status = open_service(&request, call, why);
    if (status != OK) {
        return status;
    }
    document->url = url->text;
    document->site = "GitHub";
    call_progress(call, 0, 0, "asking GitHub");
    return LOADS[request.page.kind](&request, document);
}
