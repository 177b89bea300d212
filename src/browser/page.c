/* One page in the browser: opened, loaded, left to its scripts until it is complete
 * (page_complete.c), and read. */
#include "browser/page.h"

#include "browser/view.h"
#include "core/clock.h"
#include "core/limits.h"
#include "embedded.h"

#include <stdio.h>
#include <string.h>

/* Asks for something that has a name of its own, and copies that name. */
static int ask_name(struct page_view *view, const char *method, const char *params, const char *key,
                    char out[VIEW_NAME_SIZE])
{
    struct browser_message answer;
    int status = view_ask(view, TO_BROWSER, method, params, TIME_BROWSER_ANSWER_MS, &answer);
    if (status == OK) {
        if (!view_name(out, json_string(answer.contents, key))) {
            status = view_fail(view, "the browser could not open a page");
        }
        message_free(&answer);
    }
    return status;
}

static int open_page(struct page_view *view)
{
    char session[VIEW_NAME_SIZE];
    int status = ask_name(view, "Target.createBrowserContext", "{\"disposeOnDetach\":true}",
                          "browserContextId", view->context);
    if (status == OK) {
        status = view_tell(
            view, TO_BROWSER, "Browser.setDownloadBehavior",
            view_object(view, "behavior", "deny", "browserContextId", view->context, NULL));
    }
    if (status == OK) {
        status = ask_name(
            view, "Target.createTarget",
            view_object(view, "url", "about:blank", "browserContextId", view->context, NULL),
            "targetId", view->main_frame);
    }
    if (status == OK) {
        char params[VIEW_NAME_SIZE + 64];
        snprintf(params, sizeof params, "{\"flatten\":true,\"targetId\":\"%s\"}", view->main_frame);
        status = ask_name(view, "Target.attachToTarget", params, "sessionId", session);
    }
    return status == OK ? channel_set_session(view->tab->channel, session) : status;
}

/* The last answer is waited for: a page that is loaded before would be loaded by a process that
 * does not report its requests yet. */
static int prepare_page(struct page_view *view)
{
    static const struct {
        const char *method;
        const char *params;
    } COMMANDS[] = {
        {"Inspector.enable", "{}"},
        {"Page.enable", "{}"},
        {"Page.setLifecycleEventsEnabled", "{\"enabled\":true}"},
        {"Fetch.enable", "{\"handleAuthRequests\":true,\"patterns\":["
                         "{\"urlPattern\":\"*\",\"resourceType\":\"Document\"},"
                         "{\"urlPattern\":\"*\",\"resourceType\":\"Media\"}]}"},
    };
    struct browser_message answer;
    const char *script = NULL;
    int status = id_make_secret(view->pending);
    if (status == OK) {
        script = arena_printf(call_arena(view->call), "%s(\"%s\")", pending_script, view->pending);
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS && status == OK; i++) {
        status = view_tell(view, TO_SESSION, COMMANDS[i].method, COMMANDS[i].params);
    }
    if (status == OK) {
        status = script ? view_tell(view, TO_SESSION, "Page.addScriptToEvaluateOnNewDocument",
                                    view_object(view, "source", script, NULL))
                        : ERR_NOMEM;
    }
    if (status == OK) {
        status =
            view_ask(view, TO_SESSION, "Network.enable", "{}", TIME_BROWSER_ANSWER_MS, &answer);
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

static const char *in_words(struct page_view *view, const char *error)
{
    for (size_t i = 0; i < sizeof NETWORK_ERRORS / sizeof *NETWORK_ERRORS; i++) {
        if (strcmp(error, NETWORK_ERRORS[i].name) == 0) {
            return NETWORK_ERRORS[i].words;
        }
    }
    return arena_printf(call_arena(view->call), "the browser could not load it (%s)", error);
}

static int load(struct page_view *view, const char *url)
{
    struct browser_message answer;
    int status = view_ask(view, TO_SESSION, "Page.navigate", view_object(view, "url", url, NULL),
                          TIME_PAGE_NAVIGATE_MS, &answer);
    if (status != OK) {
        return status;
    }
    const char *error = answer.error ? answer.error : json_string(answer.contents, "errorText");
    if (error) {
        status = view_fail(view, in_words(view, error));
    }
    message_free(&answer);
    return status;
}

/* ---- reading ---- */

static int read_document(struct page_view *view)
{
    struct browser_message answer;
    yyjson_val *value;
    char what[64];
    snprintf(what, sizeof what, "read(%zu)", LIMIT_BROWSER_HTML_CHARS);
    int status = view_read(view, what, TIME_BROWSER_ANSWER_MS, &answer, &value);
    if (status == OK && !value) { /* the page has just moved on */
        message_free(&answer);
        status = view_read(view, what, TIME_BROWSER_ANSWER_MS, &answer, &value);
    }
    if (status != OK) {
        return status;
    }
    yyjson_val *html = yyjson_obj_get(value, "html");
    if (html) {
        struct browser_page *page = view->page;
        page->length = yyjson_get_len(html);
        page->html = arena_strndup(call_arena(view->call), yyjson_get_str(html), page->length);
        page->cut = !yyjson_get_bool(yyjson_obj_get(value, "whole"));
        status = page->html ? OK : ERR_NOMEM;
    } else {
        status = view_fail(view, "the browser could not read the page");
    }
    message_free(&answer);
    return status;
}

static int show(struct page_view *view, const char *url)
{
    int status = open_page(view);
    if (status == OK) {
        status = prepare_page(view);
    }
    if (status == OK) {
        status = load(view, url);
    }
    if (status == OK) {
        status = view_rest(view);
    }
    if (status == OK && !view->refused) {
        status = view_scroll(view);
    }
    if (status == OK && view->refused) {
        status = view_fail(view, view->refused);
    }
    return status == OK ? read_document(view) : status;
}

int page_render(struct call *call, const struct tab *tab, const char *url, size_t most_chars,
                struct browser_page *page)
{
    struct page_view view = {.call = call, .tab = tab, .page = page, .most_letters = most_chars};
    page->url = url;
    view.requests = arena_alloc(call_arena(call), LIMIT_BROWSER_REQUESTS * sizeof *view.requests);
    if (!view.requests) {
        return ERR_NOMEM;
    }
    int status = show(&view, url);
    if (view.context[0]) {
        char params[VIEW_NAME_SIZE + 32];
        snprintf(params, sizeof params, "{\"browserContextId\":\"%s\"}", view.context);
        channel_send(tab->channel, TO_BROWSER, "Target.disposeBrowserContext", params, false);
    }
    return status;
}
