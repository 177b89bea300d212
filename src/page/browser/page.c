/* One page in the browser.
 *
 * A page is complete when its own document has been read (DOMContentLoaded) and no request has been
 * in flight for TIME_PAGE_QUIET_MS. Chromium's "networkIdle" waits half a second and allows itself
 * another; "load" misses what scripts add. What never rests is read at TIME_PAGE_CEILING_MS. */
#include "page/browser/page.h"

#include "core/clock.h"
#include "core/limits.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64

/* Requests for what only adorns or watches a page: rendering does not wait for them. */
static const char *const NOT_WAITED_FOR[] = {
    "EventSource", "Font",     "Image",     "Manifest",  "Media",
    "Ping",        "Prefetch", "TextTrack", "WebSocket", "CSPViolationReport",
};

/* A request of the page that has not ended. Its id is stored as a number made from it. */
struct request {
    uint64_t id;
    int64_t started_ms;
};

struct view {
    struct call *call;
    const struct tab *tab;
    struct browser_page *page;
    char context[NAME_SIZE];    /* empty: none yet */
    char main_frame[NAME_SIZE]; /* the target's id */
    char loader[NAME_SIZE];     /* of the document that is shown */
    char complete[NAME_SIZE];   /* of the last document that was read to its end */
    struct request *requests;
    size_t request_count;
    int64_t quiet_since_ms;
    const char *refused; /* the proxy's reason */
    bool crashed;
};

static int fail(struct view *view, const char *words)
{
    view->page->error = words;
    return ERR_FAILED;
}

/* ---- JSON out ---- */

/* An object of texts as JSON, from keys and values with a NULL behind them; a member whose value is
 * NULL is left out. NULL without memory. */
__attribute__((sentinel)) static const char *object(struct view *view, ...)
{
    struct arena *arena = call_arena(view->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    va_list args;
    va_start(args, view);
    for (const char *key = va_arg(args, const char *); key; key = va_arg(args, const char *)) {
        json_add_string(doc, root, key, va_arg(args, const char *));
    }
    va_end(args);
    return root ? json_text(arena, root, NULL) : NULL;
}

static int tell(struct view *view, enum channel_target target, const char *method,
                const char *params)
{
    return params ? channel_send(view->tab->channel, target, method, params, false) : ERR_NOMEM;
}

/* ---- events ---- */

static bool copy_name(char out[NAME_SIZE], const char *text)
{
    if (!text || strlen(text) >= NAME_SIZE || strpbrk(text, "\"\\")) {
        return false;
    }
    memcpy(out, text, strlen(text) + 1);
    return true;
}

static bool same(const char *first, const char *second)
{
    return first && second && strcmp(first, second) == 0;
}

static uint64_t number_of(const char *id)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *id; id++) {
        hash = (hash ^ (unsigned char)*id) * 0x100000001b3u;
    }
    return hash;
}

static struct request *find_request(struct view *view, uint64_t id)
{
    for (size_t i = 0; i < view->request_count; i++) {
        if (view->requests[i].id == id) {
            return &view->requests[i];
        }
    }
    return NULL;
}

static void drop_request(struct view *view, struct request *request)
{
    *request = view->requests[--view->request_count];
    view->quiet_since_ms = clock_now_ms();
}

static void see_request(struct view *view, yyjson_val *params)
{
    const char *id = json_string(params, "requestId");
    const char *type = json_string(params, "type");
    for (size_t i = 0; type && i < sizeof NOT_WAITED_FOR / sizeof *NOT_WAITED_FOR; i++) {
        if (strcmp(type, NOT_WAITED_FOR[i]) == 0) {
            return;
        }
    }
    /* A redirect comes under the id of the request that it answers. */
    if (id && !find_request(view, number_of(id)) && view->request_count < LIMIT_BROWSER_REQUESTS) {
        view->requests[view->request_count++] = (struct request){number_of(id), clock_now_ms()};
    }
}

static void see_request_end(struct view *view, yyjson_val *params)
{
    const char *id = json_string(params, "requestId");
    struct request *request = id ? find_request(view, number_of(id)) : NULL;
    if (request) {
        drop_request(view, request);
    }
}

/* Our proxy's refusal of plain HTTP comes as an answer, with a mark that only we know. */
static const char *refusal(struct view *view, yyjson_val *response)
{
    const char *value = json_string(yyjson_obj_get(response, "headers"), "X-Forage-Refused");
    size_t length = strlen(view->tab->proxy.mark);
    return value && strncmp(value, view->tab->proxy.mark, length) == 0
               ? arena_strdup(call_arena(view->call), value + length + (value[length] == ' '))
               : NULL;
}

static void see_response(struct view *view, yyjson_val *params)
{
    if (!same(json_string(params, "type"), "Document") ||
        !same(json_string(params, "frameId"), view->main_frame)) {
        return;
    }
    yyjson_val *response = yyjson_obj_get(params, "response");
    view->page->status = yyjson_get_int(yyjson_obj_get(response, "status"));
    view->refused = refusal(view, response);
}

static void see_navigation(struct view *view, yyjson_val *params)
{
    yyjson_val *frame = yyjson_obj_get(params, "frame");
    const char *url = json_string(frame, "url");
    if (!url || !same(json_string(frame, "id"), view->main_frame) || same(url, "about:blank")) {
        return;
    }
    if (copy_name(view->loader, json_string(frame, "loaderId"))) {
        view->page->url = arena_strdup(call_arena(view->call), url);
        view->quiet_since_ms = clock_now_ms();
    }
}

static void see_lifecycle(struct view *view, yyjson_val *params)
{
    if (same(json_string(params, "name"), "DOMContentLoaded") &&
        same(json_string(params, "frameId"), view->main_frame) &&
        copy_name(view->complete, json_string(params, "loaderId"))) {
        view->quiet_since_ms = clock_now_ms();
    }
}

/* Only documents and films are held up. Films are not read, nor are documents of frames inside the
 * page, mostly advertisements: they are not loaded. */
static void see_pause(struct view *view, yyjson_val *params)
{
    bool ours = same(json_string(params, "resourceType"), "Document") &&
                same(json_string(params, "frameId"), view->main_frame);
    const char *method = ours ? "Fetch.continueRequest" : "Fetch.failRequest";
    tell(view, TO_SESSION, method,
         object(view, "requestId", json_string(params, "requestId"), "errorReason",
                ours ? NULL : "BlockedByClient", NULL));
}

/* A proxy wants credentials, and it is ours, since there is no other; a site gets none. */
static void see_challenge(struct view *view, yyjson_val *params)
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
    tell(view, TO_SESSION, "Fetch.continueWithAuth", json_text(arena, root, NULL));
}

static void see_dialog(struct view *view, yyjson_val *params)
{
    (void)params;
    tell(view, TO_SESSION, "Page.handleJavaScriptDialog", "{\"accept\":false}");
}

static void see_crash(struct view *view, yyjson_val *params)
{
    (void)params;
    view->crashed = true;
}

static const struct {
    const char *method;
    void (*see)(struct view *view, yyjson_val *params);
} EVENTS[] = {
    {"Network.requestWillBeSent", see_request},   {"Network.loadingFinished", see_request_end},
    {"Network.loadingFailed", see_request_end},   {"Network.responseReceived", see_response},
    {"Page.frameNavigated", see_navigation},      {"Page.lifecycleEvent", see_lifecycle},
    {"Fetch.requestPaused", see_pause},           {"Fetch.authRequired", see_challenge},
    {"Page.javascriptDialogOpening", see_dialog}, {"Inspector.targetCrashed", see_crash},
};

static int see(struct view *view, struct message *message)
{
    for (size_t i = 0; message->method && i < sizeof EVENTS / sizeof *EVENTS; i++) {
        if (strcmp(EVENTS[i].method, message->method) == 0) {
            EVENTS[i].see(view, message->contents);
        }
    }
    return view->crashed
               ? fail(view, "the page crashed the browser's tab: it took too much memory, "
                            "or met a fault of the browser")
               : OK;
}

/* ---- commands ---- */

/* Sends a command and waits for its answer, seeing to events meanwhile. The answer is the caller's
 * to free. */
static int ask(struct view *view, enum channel_target target, const char *method,
               const char *params, int64_t patience_ms, struct message *answer)
{
    int64_t end = clock_now_ms() + patience_ms;
    int status =
        params ? channel_send(view->tab->channel, target, method, params, true) : ERR_NOMEM;
    while (status == OK) {
        int64_t left = end - clock_now_ms();
        if (left <= 0) {
            return fail(view, "the browser did not answer in time: the page keeps it busy");
        }
        status = channel_next(view->call, view->tab->channel, left, answer);
        if (status == OK && answer->doc && !answer->method) {
            return OK;
        }
        if (status == OK && answer->doc) {
            status = see(view, answer);
        }
        message_free(answer);
    }
    return status == ERR_LIMIT ? fail(view, "the page floods the browser with requests") : status;
}

/* Asks for something that has a name of its own, and copies that name. */
static int ask_name(struct view *view, const char *method, const char *params, const char *key,
                    char out[NAME_SIZE])
{
    struct message answer;
    int status = ask(view, TO_BROWSER, method, params, TIME_BROWSER_ANSWER_MS, &answer);
    if (status == OK) {
        if (!copy_name(out, json_string(answer.contents, key))) {
            status = fail(view, "the browser could not open a page");
        }
        message_free(&answer);
    }
    return status;
}

static int open_page(struct view *view)
{
    char session[NAME_SIZE];
    int status = ask_name(view, "Target.createBrowserContext", "{\"disposeOnDetach\":true}",
                          "browserContextId", view->context);
    if (status == OK) {
        status = tell(view, TO_BROWSER, "Browser.setDownloadBehavior",
                      object(view, "behavior", "deny", "browserContextId", view->context, NULL));
    }
    if (status == OK) {
        status =
            ask_name(view, "Target.createTarget",
                     object(view, "url", "about:blank", "browserContextId", view->context, NULL),
                     "targetId", view->main_frame);
    }
    if (status == OK) {
        char params[NAME_SIZE + 64];
        snprintf(params, sizeof params, "{\"flatten\":true,\"targetId\":\"%s\"}", view->main_frame);
        status = ask_name(view, "Target.attachToTarget", params, "sessionId", session);
    }
    return status == OK ? channel_set_session(view->tab->channel, session) : status;
}

/* The last answer is waited for: a page that is loaded before would be loaded by a process that
 * does not report its requests yet. */
static int prepare_page(struct view *view)
{
    static const struct {
        const char *method;
        const char *params;
    } COMMANDS[] = {
        {"Inspector.enable", "{}"},
        {"Page.enable", "{}"},
        {"Page.setLifecycleEventsEnabled", "{\"enabled\":true}"},
        {"Network.setBypassServiceWorker", "{\"bypass\":true}"},
        {"Fetch.enable", "{\"handleAuthRequests\":true,\"patterns\":["
                         "{\"urlPattern\":\"*\",\"resourceType\":\"Document\"},"
                         "{\"urlPattern\":\"*\",\"resourceType\":\"Media\"}]}"},
    };
    struct message answer;
    int status = OK;
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS && status == OK; i++) {
        status = tell(view, TO_SESSION, COMMANDS[i].method, COMMANDS[i].params);
    }
    if (status == OK) {
        status = ask(view, TO_SESSION, "Network.enable", "{}", TIME_BROWSER_ANSWER_MS, &answer);
    }
    if (status == OK) {
        message_free(&answer);
    }
    return status;
}

/* Chromium's names for what goes wrong, in words; the rest are shown as they are. */
static const struct {
    const char *name;
    const char *words;
} NETWORK_ERRORS[] = {
    {"net::ERR_TUNNEL_CONNECTION_FAILED", "the host cannot be reached or is not public"},
    {"net::ERR_ABORTED", "the browser would download it instead of showing it"},
    {"net::ERR_EMPTY_RESPONSE", "the server sent nothing"},
    {"net::ERR_TOO_MANY_REDIRECTS", "it redirects too often"},
};

static const char *in_words(struct view *view, const char *error)
{
    for (size_t i = 0; i < sizeof NETWORK_ERRORS / sizeof *NETWORK_ERRORS; i++) {
        if (strcmp(error, NETWORK_ERRORS[i].name) == 0) {
            return NETWORK_ERRORS[i].words;
        }
    }
    return arena_printf(call_arena(view->call), "the browser could not load it (%s)", error);
}

static int load(struct view *view, const char *url)
{
    struct message answer;
    int status = ask(view, TO_SESSION, "Page.navigate", object(view, "url", url, NULL),
                     TIME_PAGE_NAVIGATE_MS, &answer);
    if (status != OK) {
        return status;
    }
    const char *error = answer.error ? answer.error : json_string(answer.contents, "errorText");
    if (error) {
        status = fail(view, in_words(view, error));
    }
    message_free(&answer);
    return status;
}

/* ---- resting ---- */

static bool is_read(const struct view *view)
{
    return view->loader[0] && strcmp(view->loader, view->complete) == 0;
}

/* A long poll, or a server that does not answer, is not waited for. */
static void drop_slow_requests(struct view *view)
{
    int64_t now = clock_now_ms();
    for (size_t i = view->request_count; i-- > 0;) {
        if (now - view->requests[i].started_ms >= TIME_PAGE_REQUEST_MS) {
            drop_request(view, &view->requests[i]);
        }
    }
}

/* How long to wait until the page may be complete; 0: it is. */
static int64_t time_to_rest(struct view *view)
{
    int64_t now = clock_now_ms();
    drop_slow_requests(view);
    if (!is_read(view)) {
        return TIME_PAGE_CEILING_MS;
    }
    if (view->request_count == 0) {
        int64_t left = view->quiet_since_ms + TIME_PAGE_QUIET_MS - now;
        return left > 0 ? left : 0;
    }
    int64_t oldest = INT64_MAX;
    for (size_t i = 0; i < view->request_count; i++) {
        int64_t started = view->requests[i].started_ms;
        oldest = started < oldest ? started : oldest;
    }
    int64_t left = oldest + TIME_PAGE_REQUEST_MS - now;
    return left > 0 ? left : 1;
}

static int await_rest(struct view *view)
{
    int64_t end = clock_now_ms() + TIME_PAGE_CEILING_MS;
    int status = OK;
    while (status == OK) {
        struct message message;
        int64_t left = end - clock_now_ms();
        int64_t wanted = time_to_rest(view);
        if (left <= 0 || wanted == 0) {
            return OK;
        }
        status =
            channel_next(view->call, view->tab->channel, wanted < left ? wanted : left, &message);
        if (status == OK && message.doc) {
            status = see(view, &message);
        }
        message_free(&message);
    }
    return status == ERR_LIMIT ? fail(view, "the page floods the browser with requests") : status;
}

/* ---- reading ---- */

static int read_document(struct view *view)
{
    struct message answer;
    char params[256];
    snprintf(params, sizeof params,
             "{\"returnByValue\":true,\"expression\":\"(h=>h.toWellFormed?h.toWellFormed():h)"
             "((document.documentElement||{outerHTML:''}).outerHTML.slice(0,%zu))\"}",
             LIMIT_BROWSER_HTML_CHARS);
    int status = ask(view, TO_SESSION, "Runtime.evaluate", params, TIME_BROWSER_ANSWER_MS, &answer);
    if (status != OK) {
        return status;
    }
    yyjson_val *value = yyjson_obj_get(yyjson_obj_get(answer.contents, "result"), "value");
    const char *html = yyjson_get_str(value);
    if (html) {
        view->page->length = yyjson_get_len(value);
        view->page->html = arena_strndup(call_arena(view->call), html, view->page->length);
        status = view->page->html ? OK : ERR_NOMEM;
    } else {
        status = fail(view, "the browser could not read the page");
    }
    message_free(&answer);
    return status;
}

static int show(struct view *view, const char *url)
{
    int status = open_page(view);
    if (status == OK) {
        status = prepare_page(view);
    }
    if (status == OK) {
        status = load(view, url);
    }
    if (status == OK) {
        status = await_rest(view);
    }
    if (status == OK && view->refused) {
        status = fail(view, view->refused);
    }
    return status == OK ? read_document(view) : status;
}

int page_render(struct call *call, const struct tab *tab, const char *url,
                struct browser_page *page)
{
    struct view view = {.call = call, .tab = tab, .page = page};
    page->url = url;
    view.requests = arena_alloc(call_arena(call), LIMIT_BROWSER_REQUESTS * sizeof *view.requests);
    if (!view.requests) {
        return ERR_NOMEM;
    }
    int status = show(&view, url);
    if (view.context[0]) {
        char params[NAME_SIZE + 32];
        snprintf(params, sizeof params, "{\"browserContextId\":\"%s\"}", view.context);
        channel_send(tab->channel, TO_BROWSER, "Target.disposeBrowserContext", params, false);
    }
    return status;
}
