/* What the browser tells of a page, as it happens: requests, documents, dialogs and questions. */
#include "browser/view.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/limits.h"
#include "text/url.h"

#include <string.h>

#define HABIT_TIMES 3 /* that a kind of request ends; the next one is a habit */

/* Requests for what only adorns or watches a page: rendering does not wait for them. */
static const char *const NOT_WAITED_FOR[] = {
    "EventSource", "Font",     "Image",     "Manifest",  "Media",
    "Ping",        "Prefetch", "TextTrack", "WebSocket", "CSPViolationReport",
};

static bool same(const char *first, const char *second)
{
    return first && second && strcmp(first, second) == 0;
}

/* ---- requests ---- */

#define LONG_NUMBER 8 /* digits */

static uint64_t number_of_id(yyjson_val *params)
{
    const char *id = json_string(params, "requestId");
    return id ? hash_add(HASH_START, id, strlen(id)) : 0;
}

/* Long numbers in a query, or in what is sent, are times or made by chance; the others say what is
 * asked for. */
static uint64_t add_kind(uint64_t hash, const char *text)
{
    while (text && *text) {
        size_t digits = strspn(text, "0123456789");
        size_t rest = strcspn(text + digits, "0123456789");
        hash = digits < LONG_NUMBER ? hash_add(hash, text, digits) : hash;
        hash = hash_add(hash, text + digits, rest);
        text += digits + rest;
    }
    return hash;
}

static uint64_t kind_of(yyjson_val *request)
{
    uint64_t kind = add_kind(HASH_START, json_string(request, "url"));
    return add_kind(kind, json_string(request, "postData"));
}

static struct request *find_request(struct page_view *view, uint64_t id)
{
    for (size_t i = 0; i < view->request_count; i++) {
        if (view->requests[i].id == id) {
            return &view->requests[i];
        }
    }
    return NULL;
}

/* What is known of a kind of request; NULL: there is no room for it. */
static struct habit *find_habit(struct page_view *view, uint64_t kind)
{
    size_t i = 0;
    while (i < view->habit_count && view->habits[i].kind != kind) {
        i++;
    }
    if (i == VIEW_HABITS) {
        return NULL;
    }
    if (i == view->habit_count) {
        view->habits[view->habit_count++] = (struct habit){.kind = kind};
    }
    return &view->habits[i];
}

static void see_request(struct page_view *view, yyjson_val *params)
{
    uint64_t id = number_of_id(params);
    const char *type = json_string(params, "type");
    for (size_t i = 0; type && i < sizeof NOT_WAITED_FOR / sizeof *NOT_WAITED_FOR; i++) {
        if (strcmp(type, NOT_WAITED_FOR[i]) == 0) {
            return;
        }
    }
    const char *loader = json_string(params, "loaderId");
    if (loader && !*loader) {
        return; /* the script of a worker, whose end is told to the worker: pending.js waits for it
                 */
    }
    /* A redirect comes under the id of the request that it answers. */
    if (!find_request(view, id) && view->request_count < LIMIT_BROWSER_REQUESTS) {
        uint64_t kind = kind_of(yyjson_obj_get(params, "request"));
        const struct habit *habit = find_habit(view, kind);
        view->requests[view->request_count++] =
            (struct request){.id = id,
                             .kind = kind,
                             .is_habit = habit && habit->times >= HABIT_TIMES,
                             .started_ms = clock_now_ms()};
    }
}

static void see_request_end(struct page_view *view, yyjson_val *params)
{
    struct request *request = find_request(view, number_of_id(params));
    if (request) {
        struct habit *habit = find_habit(view, request->kind);
        if (habit) {
            habit->times++;
        }
        if (!request->is_habit) {
            view->quiet_since_ms = clock_now_ms();
        }
        *request = view->requests[--view->request_count];
    }
}

static void see_data(struct page_view *view, yyjson_val *params)
{
    struct request *request = find_request(view, number_of_id(params));
    if (request) {
        request->answered_ms = clock_now_ms();
    }
}

/* ---- documents ---- */

/* Our proxy's refusal of plain HTTP comes as an answer, with a mark that only we know. */
static const char *refusal(struct page_view *view, yyjson_val *response)
{
    const char *value = json_string(yyjson_obj_get(response, "headers"), "X-Forage-Refused");
    size_t length = strlen(view->tab->proxy.mark);
    return value && strncmp(value, view->tab->proxy.mark, length) == 0
               ? arena_strdup(call_arena(view->call), value + length + (value[length] == ' '))
               : NULL;
}

static void see_response(struct page_view *view, yyjson_val *params)
{
    see_data(view, params);
    if (!same(json_string(params, "type"), "Document") ||
        !same(json_string(params, "frameId"), view->main_frame)) {
        return;
    }
    yyjson_val *response = yyjson_obj_get(params, "response");
    view->page->status = yyjson_get_int(yyjson_obj_get(response, "status"));
    view->refused = refusal(view, response);
    view->document = number_of_id(params);
}

/* The browser shows what came of a document that was cut off, but half a page is none. Whoever
 * stops a document, as one that leads on does, has not lost it. */
static void see_failure(struct page_view *view, yyjson_val *params)
{
    bool stopped = yyjson_get_bool(yyjson_obj_get(params, "canceled"));
    if (!stopped && view->document && view->document == number_of_id(params)) {
        view->refused = "the page was cut off while the browser loaded it";
    }
    see_request_end(view, params);
}

/* An address that nobody could ask for again would only take the room of a result. */
static void note_url(struct page_view *view, const char *url)
{
    if (strlen(url) <= LIMIT_URL_BYTES) {
        view->page->url = arena_strdup(call_arena(view->call), url);
    }
}

static void see_navigation(struct page_view *view, yyjson_val *params)
{
    yyjson_val *frame = yyjson_obj_get(params, "frame");
    const char *url = json_string(frame, "url");
    if (!url || !same(json_string(frame, "id"), view->main_frame) || same(url, "about:blank")) {
        return;
    }
    if (view_name(view->loader, json_string(frame, "loaderId"))) {
        note_url(view, url);
        view->quiet_since_ms = view->changed_ms = view->grown_ms = clock_now_ms();
        view->most = view->habit_count = 0;
    }
}

/* A script has given the page another address, and left the document as it is. */
static void see_route(struct page_view *view, yyjson_val *params)
{
    const char *url = json_string(params, "url");
    if (url && same(json_string(params, "frameId"), view->main_frame)) {
        note_url(view, url);
    }
}

static void see_lifecycle(struct page_view *view, yyjson_val *params)
{
    if (same(json_string(params, "name"), "DOMContentLoaded") &&
        same(json_string(params, "frameId"), view->main_frame) &&
        view_name(view->complete, json_string(params, "loaderId"))) {
        view->quiet_since_ms = clock_now_ms();
    }
}

/* Whether two hosts are of one site: one of them stands above the other, or both are the same. */
static bool of_one_site(const char *first, const char *second)
{
    first = strncmp(first, "www.", 4) == 0 ? first + 4 : first;
    second = strncmp(second, "www.", 4) == 0 ? second + 4 : second;
    size_t first_length = strlen(first);
    size_t second_length = strlen(second);
    const char *longer = first_length > second_length ? first : second;
    const char *shorter = longer == first ? second : first;
    const char *end = longer + strlen(longer) - strlen(shorter);
    return strcmp(end, shorter) == 0 && (end == longer || (end[-1] == '.' && strchr(shorter, '.')));
}

/* Whether a document inside the page is a part of it: most others are advertisements. */
static bool is_part(struct page_view *view, yyjson_val *params)
{
    struct arena *arena = call_arena(view->call);
    const char *asked = json_string(yyjson_obj_get(params, "request"), "url");
    const char *problem;
    struct url page, part;
    return asked && view->frames < LIMIT_BROWSER_FRAMES && view->page->url &&
           url_parse(arena, view->page->url, &page, &problem) == OK &&
           url_parse(arena, asked, &part, &problem) == OK && of_one_site(page.host, part.host);
}

/* Only documents and films are held up. Films are not read, nor are documents of other sites inside
 * the page: they are not loaded. */
static void see_pause(struct page_view *view, yyjson_val *params)
{
    bool loads = same(json_string(params, "resourceType"), "Document");
    if (loads && !same(json_string(params, "frameId"), view->main_frame)) {
        loads = is_part(view, params);
        view->frames += loads;
    }
    const char *method = loads ? "Fetch.continueRequest" : "Fetch.failRequest";
    view_tell(view, TO_SESSION, method,
              view_object(view, "requestId", json_string(params, "requestId"), "errorReason",
                          loads ? NULL : "BlockedByClient", NULL));
}

/* A proxy wants credentials, and it is ours, since there is no other; a site gets none. */
static void see_challenge(struct page_view *view, yyjson_val *params)
{
    struct arena *arena = call_arena(view->call);
    yyjson_val *challenge = yyjson_obj_get(params, "authChallenge");
    bool ours = same(json_string(challenge, "source"), "Proxy");
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    json_add_string(doc, root, "requestId", json_string(params, "requestId"));
    yyjson_mut_val *answer = yyjson_mut_obj_add_obj(doc, root, "authChallengeResponse");
    json_add_string(doc, answer, "response", ours ? "ProvideCredentials" : "CancelAuth");
    json_add_string(doc, answer, "username", ours ? view->tab->proxy.user : NULL);
    json_add_string(doc, answer, "password", ours ? view->tab->proxy.password : NULL);
    view_tell(view, TO_SESSION, "Fetch.continueWithAuth", json_text(arena, root, NULL));
}

static void see_dialog(struct page_view *view, yyjson_val *params)
{
    (void)params;
    view_tell(view, TO_SESSION, "Page.handleJavaScriptDialog", "{\"accept\":false}");
}

static void see_crash(struct page_view *view, yyjson_val *params)
{
    (void)params;
    view->crashed = true;
}

static const struct {
    const char *method;
    void (*see)(struct page_view *view, yyjson_val *params);
} EVENTS[] = {
    {"Network.requestWillBeSent", see_request},   {"Network.loadingFinished", see_request_end},
    {"Network.loadingFailed", see_failure},       {"Network.responseReceived", see_response},
    {"Page.frameNavigated", see_navigation},      {"Page.lifecycleEvent", see_lifecycle},
    {"Page.navigatedWithinDocument", see_route},  {"Network.dataReceived", see_data},
    {"Fetch.requestPaused", see_pause},           {"Fetch.authRequired", see_challenge},
    {"Page.javascriptDialogOpening", see_dialog}, {"Inspector.targetCrashed", see_crash},
};

int view_see(struct page_view *view, struct browser_message *message)
{
    for (size_t i = 0; message->method && i < sizeof EVENTS / sizeof *EVENTS; i++) {
        if (strcmp(EVENTS[i].method, message->method) == 0) {
            EVENTS[i].see(view, message->contents);
        }
    }
    return view->crashed
               ? view_fail(view, "the page crashed the browser's tab: it took too much memory, "
                                 "or met a fault of the browser")
               : OK;
}
