/* Reads several pages side by side, and shares the room of one result among them. */
#include "reader/several.h"

#include "call/errors.h"
#include "call/side.h"
#include "config/budget.h"
#include "text/text.h"
#include "text/url.h"

#include <string.h>

#define RESERVE_MS  15   /* of the call's time, to tell what there is */
#define LEAST_SHARE 1800 /* characters of a result in which a page says anything */
#define ENVELOPE    300  /* characters around all of them */

/* A URL that was asked for, and what came of it. */
struct read_page {
    struct content_request request;
    struct content content;
    const char *code, *message; /* of what was refused, or NULL */
    size_t same_as;             /* the number, from 1, of an earlier one; 0: none */
};

struct several {
    struct call *call;
    size_t count;
    struct read_page *pages;
    size_t places[LIMIT_PAGES_OF_CALL]; /* in `pages`, of what is read */
    size_t reading;
    size_t max_chars, budget; /* of all pages together; once they are shared out, of each */
};

/* ---- one page, on its own thread ---- */

static void put_note(struct read_page *page, struct arena *arena, const char *kind,
                     const char *detail)
{
    const char *note = note_failed(arena, kind, detail, page->request.url);
    content_put_note(&page->content, arena, page->request.url,
                     note ? note : "_Failed to retrieve page content: OutOfMemory_");
}

static void read_one(struct call *call, void *item, struct arena *keep)
{
    struct read_page *page = item;
    int status = content_open(call, &page->request, keep, &page->content);
    if (status == ERR_FAILED) {
        const struct call_error *error = call_error(call);
        page->code = error ? error->code : CODE_INTERNAL;
        page->message = arena_strdup(keep, error ? error->message : "the page could not be read");
        page->message = page->message ? page->message : "out of memory";
    } else if (status != OK) {
        put_note(page, keep, status == ERR_NOMEM ? "OutOfMemory" : "ReadError", NULL);
    }
}

/* ---- all of them ---- */

static void report(void *context, size_t index, size_t done)
{
    struct several *several = context;
    const struct read_page *page = &several->pages[several->places[index]];
    const char *host = strstr(page->request.url, "://");
    host = host ? host + 3 : page->request.url;
    call_progress(several->call, (double)done, (double)several->reading, "%s %.*s",
                  page->code || page->content.document.failed ? "could not read" : "read",
                  (int)strcspn(host, "/?#"), host);
}

/* An address up to its fragment in one spelling, so that each page is read once. */
static const char *spell(struct arena *arena, const char *given)
{
    struct url url;
    const char *problem;
    if (url_parse(arena, given, &url, &problem) != OK) {
        return given;
    }
    return arena_strndup(arena, url.text, strcspn(url.text, "#"));
}

static int find_places(struct several *several, const struct content_request *wish,
                       const char *const *urls)
{
    const char *spelled[LIMIT_PAGES_OF_CALL];
    struct arena *arena = call_arena(several->call);
    for (size_t i = 0; i < several->count; i++) {
        struct read_page *page = &several->pages[i];
        page->request = *wish;
        page->request.url = urls[i];
        page->request.beside = several->count - 1;
        spelled[i] = spell(arena, urls[i]);
        if (!spelled[i]) {
            return ERR_NOMEM;
        }
        for (size_t j = 0; j < i && !page->same_as; j++) {
            page->same_as = strcmp(spelled[j], spelled[i]) == 0 ? j + 1 : 0;
        }
        if (!page->same_as) {
            several->places[several->reading++] = i;
        }
    }
    return OK;
}

/* What is unfinished at the call's end may still be written to: a note of our own stands for it. */
static int take_finished(struct several *several, struct side *side)
{
    struct arena *arena = call_arena(several->call);
    struct read_page *seen = arena_zalloc(arena, several->count * sizeof *seen);
    size_t next = 0;
    for (size_t i = 0; seen && i < several->count; i++) {
        const struct read_page *page = &several->pages[i];
        seen[i].request = page->request;
        seen[i].same_as = page->same_as;
        if (page->same_as) {
            continue;
        }
        if (side_finished(side, next++)) {
            seen[i] = *page;
        } else {
            put_note(&seen[i], arena, "Timeout", "there was no answer in time");
        }
    }
    several->pages = seen;
    return seen ? OK : ERR_NOMEM;
}

/* ---- describing ---- */

static bool is_read(const struct read_page *page)
{
    return !page->code && !page->same_as;
}

static yyjson_mut_val *describe_refused(const struct read_page *page, yyjson_mut_doc *doc)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, object, "success", false);
    json_add_string(doc, object, "url", page->request.url);
    yyjson_mut_val *error = yyjson_mut_obj_add_obj(doc, object, "error");
    json_add_string(doc, error, "code", page->code);
    json_add_string(doc, error, "message", page->message);
    return object;
}

static yyjson_mut_val *describe_again(const struct read_page *page, yyjson_mut_doc *doc)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, object, "success", true);
    json_add_string(doc, object, "url", page->request.url);
    yyjson_mut_obj_add_uint(doc, object, "same_as", page->same_as);
    return object;
}

/* As the result for one page, but that the reminder stands once, beside all of them. */
static yyjson_mut_val *describe(const struct read_page *page, yyjson_mut_doc *doc)
{
    if (!is_read(page)) {
        return page->code ? describe_refused(page, doc) : describe_again(page, doc);
    }
    yyjson_mut_val *object = content_describe(&page->content, doc, page->content.arena);
    yyjson_mut_obj_remove_key(object, "untrusted");
    return object;
}

/* ---- sharing the room ---- */

static struct arena *arena_of(const struct several *several, const struct read_page *page)
{
    return is_read(page) ? page->content.arena : call_arena(several->call);
}

/* The characters of what describes a page, but for its text; 0 without memory. */
static size_t frame_of(const struct several *several, const struct read_page *page)
{
    size_t length = 0;
    struct read_page bare = *page;
    struct arena *arena = arena_of(several, page);
    yyjson_mut_doc *doc = json_new(arena);
    bare.content.text = "";
    yyjson_mut_val *object = doc ? describe(&bare, doc) : NULL;
    const char *json = object ? json_text(arena, object, &length) : NULL;
    return json ? text_count(json, length) : 0;
}

/* The characters that a page takes of the result. */
static size_t size_of(const struct several *several, const struct read_page *page)
{
    size_t text = is_read(page) ? content_chars(page->content.text, page->request.as_text) : 0;
    return frame_of(several, page) + text;
}

/* The characters of text that it takes. A note stays whole: it is what there is to say. */
static size_t chars_of(const struct several *several, const struct read_page *page)
{
    (void)several;
    bool counts = is_read(page) && !page->content.document.failed;
    return counts ? text_count(page->content.text, strlen(page->content.text)) : 0;
}

static int cut(const struct several *several, struct read_page *page)
{
    struct content_request request = page->request;
    request.max_chars = page->content.document.failed ? 0 : several->max_chars;
    request.budget = several->budget;
    return content_cut(&request, &page->content);
}

/* Where what describes a page would take half of its share, its text is worth more. */
static void drop_extras(const struct several *several, struct read_page *page)
{
    struct document *document = &page->content.document;
    if (several->budget && frame_of(several, page) > several->budget / 2) {
        document->omitted.count = 0;
        document->description = document->authors = document->site = NULL;
    }
}

/* Makes of what all pages together may take the most that each may, where what short ones leave
 * goes to the long ones, and cuts those again that take more. */
static int share_out(struct several *several,
                     size_t (*need)(const struct several *, const struct read_page *), size_t *most)
{
    size_t needs[LIMIT_PAGES_OF_CALL];
    int status = OK;
    for (size_t i = 0; i < several->count; i++) {
        needs[i] = need(several, &several->pages[i]);
    }
    size_t share = budget_share(needs, several->count, *most);
    *most = share < *most ? share : *most;
    *most = *most ? *most : 1;
    for (size_t i = 0; i < several->count && status == OK; i++) {
        if (needs[i] > *most && is_read(&several->pages[i])) {
            drop_extras(several, &several->pages[i]);
            status = cut(several, &several->pages[i]);
        }
    }
    return status;
}

/* Cuts each page as if it were alone; then the pages share the characters that were asked for, and
 * the room of the result. */
static int cut_all(struct several *several)
{
    int status = OK;
    for (size_t i = 0; i < several->count && status == OK; i++) {
        if (is_read(&several->pages[i])) {
            status = cut(several, &several->pages[i]);
        }
    }
    if (status == OK && several->max_chars) {
        status = share_out(several, chars_of, &several->max_chars);
    }
    if (status == OK && several->budget) {
        several->budget -= ENVELOPE;
        status = share_out(several, size_of, &several->budget);
    }
    return status;
}

/* A page whose frame alone takes more than its share, as a huge address does, is refused. */
static void refuse_too_large(const struct several *several, struct read_page *page)
{
    if (several->budget && is_read(page) && size_of(several, page) > several->budget) {
        page->code = CODE_TOO_LARGE;
        page->message = "its result does not fit beside the others; read it by itself";
    }
}

static int describe_all(struct several *several, yyjson_mut_doc *doc, yyjson_mut_val **object)
{
    struct arena *arena = call_arena(several->call);
    int status = cut_all(several);
    if (status != OK) {
        return status;
    }
    *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, *object, "success", true);
    json_add_string(doc, *object, "untrusted", CONTENT_UNTRUSTED);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, *object, "results");
    for (size_t i = 0; i < several->count; i++) {
        struct read_page *page = &several->pages[i];
        refuse_too_large(several, page);
        yyjson_mut_doc *own = json_new(arena_of(several, page));
        yyjson_mut_val *described = own ? describe(page, own) : NULL;
        /* A copy: what the page came with goes when the pieces go. */
        if (!described || !yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(doc, described))) {
            return ERR_NOMEM;
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* ---- all of it ---- */

/* Where so many could say nothing at all, fewer are asked for before any is read. */
static int check_room(struct call *call, const struct content_request *wish,
                      const char *const *urls, size_t count)
{
    size_t needed = ENVELOPE;
    size_t fitting = 0;
    for (size_t i = 0; i < count; i++) {
        needed += LEAST_SHARE + text_count(urls[i], strlen(urls[i]));
        fitting += needed <= wish->budget;
    }
    if (!wish->budget || fitting == count) {
        return OK;
    }
    return call_fail(call, CODE_VALIDATION,
                     "urls: %zu pages do not fit into one result of %zu characters "
                     "(FORAGE_MAX_RESULT_CHARS); give %zu at a time",
                     count, wish->budget, fitting ? fitting : 1);
}

int several_read(struct call *call, const struct content_request *wish, const char *const *urls,
                 size_t count, yyjson_mut_doc *doc, yyjson_mut_val **object)
{
    struct several several = {
        .call = call, .count = count, .max_chars = wish->max_chars, .budget = wish->budget};
    several.pages = arena_zalloc(call_arena(call), (count + 1) * sizeof *several.pages);
    int status = several.pages ? check_room(call, wish, urls, count) : ERR_NOMEM;
    status = status == OK ? find_places(&several, wish, urls) : status;
    if (status != OK) {
        return status;
    }
    struct side *side =
        side_new(call, read_one, several.reading, several.reading, LIMIT_CALL_ARENA_BYTES);
    for (size_t i = 0; side && i < several.reading; i++) {
        side_set(side, i, &several.pages[several.places[i]]);
    }
    status = side ? side_run(side, RESERVE_MS, report, &several) : ERR_NOMEM;
    if (status == OK || status == ERR_DEADLINE) {
        status = take_finished(&several, side);
    }
    status = status == OK ? describe_all(&several, doc, object) : status;
    side_free(side);
    return status;
}
