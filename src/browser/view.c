/* Speaking with one page: commands and their answers, and expressions in its worlds. */
#include "browser/view.h"

#include "core/clock.h"
#include "core/limits.h"
#include "embedded.h"

#include <stdio.h>
#include <string.h>

int view_fail(struct page_view *view, const char *words)
{
    view->page->error = words;
    return ERR_FAILED;
}

const char *view_object(struct page_view *view, ...)
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

bool view_name(char out[VIEW_NAME_SIZE], const char *text)
{
    if (!text || strlen(text) >= VIEW_NAME_SIZE || strpbrk(text, "\"\\")) {
        return false;
    }
    memcpy(out, text, strlen(text) + 1);
    return true;
}

int view_tell(struct page_view *view, enum channel_target target, const char *method,
              const char *params)
{
    return params ? channel_send(view->tab->channel, target, method, params, false) : ERR_NOMEM;
}

static int in_words(struct page_view *view, int status)
{
    return status == ERR_LIMIT ? view_fail(view, "the page floods the browser with requests")
                               : status;
}

int view_ask(struct page_view *view, enum channel_target target, const char *method,
             const char *params, int64_t patience_ms, struct browser_message *answer)
{
    int64_t end = clock_now_ms() + patience_ms;
    int status =
        params ? channel_send(view->tab->channel, target, method, params, true) : ERR_NOMEM;
    while (status == OK) {
        int64_t left = end - clock_now_ms();
        if (left <= 0) {
            return view_fail(view, "the browser did not answer in time: the page keeps it busy");
        }
        status = channel_next(view->call, view->tab->channel, left, answer);
        if (status == OK && answer->doc && !answer->method) {
            return OK;
        }
        if (status == OK && answer->doc) {
            status = view_see(view, answer);
        }
        message_free(answer);
    }
    return in_words(view, status);
}

int view_wait(struct page_view *view, int64_t timeout_ms)
{
    struct browser_message message;
    int status = channel_next(view->call, view->tab->channel, timeout_ms, &message);
    if (status == OK && message.doc) {
        status = view_see(view, &message);
    }
    message_free(&message);
    return in_words(view, status);
}

int view_evaluate(struct page_view *view, int64_t world_id, const char *expression,
                  int64_t patience_ms, struct browser_message *answer, yyjson_val **value)
{
    struct arena *arena = call_arena(view->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, root, "returnByValue", true);
    yyjson_mut_obj_add_bool(doc, root, "awaitPromise", true);
    json_add_string(doc, root, "expression", expression);
    if (world_id) {
        yyjson_mut_obj_add_int(doc, root, "contextId", world_id);
    }
    *value = NULL;
    int status = view_ask(view, TO_SESSION, "Runtime.evaluate", json_text(arena, root, NULL),
                          patience_ms, answer);
    if (status == OK && !answer->error) {
        *value = yyjson_obj_get(yyjson_obj_get(answer->contents, "result"), "value");
    }
    return status;
}

/* Makes reading.js look at the document that is shown. A page that was asked to grant it everything
 * lets it look into frames of the same site too, which are of another origin. */
static int enter_world(struct page_view *view, int64_t patience_ms)
{
    struct browser_message answer;
    yyjson_val *value;
    char params[VIEW_NAME_SIZE + 64];
    snprintf(params, sizeof params, "{\"frameId\":\"%s\",\"grantUniveralAccess\":true}",
             view->main_frame);
    memcpy(view->world, view->loader, sizeof view->world);
    view->world_id = 0;
    int status =
        view_ask(view, TO_SESSION, "Page.createIsolatedWorld", params, patience_ms, &answer);
    if (status == OK) {
        view->world_id = yyjson_get_sint(yyjson_obj_get(answer.contents, "executionContextId"));
        message_free(&answer);
    }
    if (status == OK && view->world_id) {
        status = view_evaluate(view, view->world_id, reading_script, patience_ms, &answer, &value);
        message_free(&answer);
    }
    return status;
}

int view_read(struct page_view *view, const char *what, int64_t patience_ms,
              struct browser_message *answer, yyjson_val **value)
{
    char expression[64];
    snprintf(expression, sizeof expression, "forage.%s", what);
    memset(answer, 0, sizeof *answer);
    *value = NULL;
    int status = OK;
    if (!view->world_id || strcmp(view->world, view->loader) != 0) {
        status = enter_world(view, patience_ms);
    }
    if (status == OK && view->world_id) {
        status = view_evaluate(view, view->world_id, expression, patience_ms, answer, value);
    }
    if (status == OK && answer->error) {
        view->world_id = 0; /* its document has gone: the next look is at another one */
    }
    return status;
}
