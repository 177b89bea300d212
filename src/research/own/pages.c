/* Reads sources and finds what of them answers a question. */
#include "research/own/pages.h"

#include "call/journal.h"
#include "call/side.h"
#include "core/clock.h"
#include "core/limits.h"
#include "reader/content.h"
#include "text/text.h"

#include <string.h>

/* A page that is fetched, on a thread of its own. */
struct fetched {
    const char *url;
    const char *final_url, *title, *text; /* in the piece's memory */
    const char *trouble;                  /* the same; NULL: it was read */
    int64_t read_ms;                      /* since 1970 */
};

static const char READ[] = "pages"; /* in a journal */

/* ---- one page, on its own thread ---- */

static void fetch_one(struct call *call, void *item, struct arena *keep)
{
    struct fetched *fetched = item;
    struct document document = {0};
    int status = read_url(call, fetched->url, &(struct read_options){0}, &document);
    const struct call_error *error = call_error(call);
    if (status != OK) {
        const char *words = error ? error->message : "it could not be read";
        fetched->trouble = arena_strdup(keep, words);
        fetched->trouble = fetched->trouble ? fetched->trouble : "out of memory";
        return;
    }
    size_t length = document.length;
    if (length > LIMIT_RESEARCH_PAGE_BYTES) {
        length = LIMIT_RESEARCH_PAGE_BYTES;
        while (length && ((unsigned char)document.markdown[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    const char *text = arena_strndup(keep, document.markdown, length);
    if (document.failed || !text) {
        fetched->trouble = text ? text : "out of memory";
        return;
    }
    fetched->final_url = arena_strdup(keep, document.url ? document.url : fetched->url);
    fetched->title = arena_strdup(keep, document.title ? document.title : "");
    fetched->text = text;
    fetched->read_ms = clock_wall_ms();
    fetched->trouble = arena_failed(keep) ? "out of memory" : NULL;
}

/* ---- what came of it ---- */

/* The first line of a note on a page that cannot be read. */
static const char *first_line(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strcspn(text, "\r\n"));
}

static int keep_page(struct call *call, struct evidence *evidence, struct research_source *source,
                     const struct fetched *fetched)
{
    struct arena *arena = call_arena(call);
    if (fetched->trouble) {
        source->trouble = first_line(arena, fetched->trouble);
        return source->trouble ? OK : ERR_NOMEM;
    }
    const char *title = *fetched->title ? fetched->title : source->title;
    const char *url = arena_strdup(arena, fetched->final_url);
    if (*fetched->title && strlen(fetched->title) < 400) {
        source->title = arena_strdup(arena, fetched->title);
    }
    if (!url || !source->title) {
        return ERR_NOMEM;
    }
    source->page = evidence_add_page(evidence, url, title, fetched->text, fetched->read_ms);
    const struct evidence_page *page = evidence_page(evidence, source->page);
    if (!page || !page->text) {
        source->page = 0; /* without its text there is nothing to quote: it was not read */
        source->trouble = "there is no room for more pages";
        return OK;
    }
    evidence_also(evidence, source->page, source->url);
    source->chars = text_count(page->text, page->length);
    source->trouble = NULL;
    return OK;
}

static int keep_pages(struct call *call, struct evidence *evidence,
                      struct research_source *const *wanted, const struct fetched *fetched,
                      size_t count)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < count; i++) {
        status = keep_page(call, evidence, wanted[i], &fetched[i]);
    }
    return status;
}

/* ---- in the journal of the call ---- */

static int add_to_journal(struct call *call, const struct fetched *fetched, size_t count)
{
    if (!call_journal(call)) {
        return OK;
    }
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = scratch ? json_new(scratch) : NULL;
    yyjson_mut_val *pages = yyjson_mut_arr(doc);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *page = yyjson_mut_arr_add_obj(doc, pages);
        if (fetched[i].trouble) {
            json_add_string(doc, page, "trouble", fetched[i].trouble);
            continue;
        }
        json_add_string(doc, page, "url", fetched[i].final_url);
        json_add_string(doc, page, "title", fetched[i].title);
        json_add_string(doc, page, "text", fetched[i].text);
        yyjson_mut_obj_add_sint(doc, page, "read_ms", fetched[i].read_ms);
    }
    const char *body = doc ? json_text(scratch, pages, NULL) : NULL;
    int status = body ? journal_add(call, READ, body) : ERR_NOMEM;
    arena_free(scratch);
    return status;
}

/* Pages that an earlier run of the call read; false: it did not. */
static bool take_from_journal(struct call *call, struct fetched *fetched, size_t count)
{
    const char *body = journal_take(call, READ);
    yyjson_doc *doc = body ? json_parse(call_arena(call), body, strlen(body), NULL) : NULL;
    size_t index, most;
    yyjson_val *page;
    if (yyjson_arr_size(yyjson_doc_get_root(doc)) != count) {
        return false;
    }
    yyjson_arr_foreach(yyjson_doc_get_root(doc), index, most, page)
    {
        struct fetched *one = &fetched[index];
        one->trouble = json_string(page, "trouble");
        one->final_url = json_string(page, "url");
        one->title = json_string(page, "title");
        one->text = json_string(page, "text");
        one->read_ms = yyjson_get_sint(yyjson_obj_get(page, "read_ms"));
        if (!one->trouble && (!one->final_url || !one->title || !one->text)) {
            one->trouble = "its text was lost";
        }
    }
    return true;
}

/* ---- all of them ---- */

int pages_fetch(struct call *call, struct evidence *evidence, struct research_source *const *wanted,
                size_t count, int64_t until_ms)
{
    if (!count) {
        return OK;
    }
    struct fetched *fetched = arena_zalloc(call_arena(call), count * sizeof *fetched);
    if (fetched && take_from_journal(call, fetched, count)) {
        return keep_pages(call, evidence, wanted, fetched, count);
    }
    struct side *side =
        fetched ? side_new(call, fetch_one, count, count, LIMIT_RESEARCH_PAGE_BYTES + KIB(64))
                : NULL;
    if (!side) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        fetched[i].url = wanted[i]->url;
        side_set(side, i, &fetched[i]);
    }
    side_until(side, until_ms);
    int status = side_run(side, 0, NULL, NULL);
    status = status == ERR_DEADLINE ? OK : status;
    /* What is still being fetched may change yet. */
    struct fetched *finished = arena_zalloc(call_arena(call), count * sizeof *finished);
    status = finished || status != OK ? status : ERR_NOMEM;
    for (size_t i = 0; status == OK && i < count; i++) {
        finished[i] = side_finished(side, i)
                          ? fetched[i]
                          : (struct fetched){.trouble = "there was no answer in time"};
    }
    status = status == OK ? add_to_journal(call, finished, count) : status;
    status = status == OK ? keep_pages(call, evidence, wanted, finished, count) : status;
    side_free(side);
    return status;
}

/* ---- showing ---- */

int pages_show(struct call *call, const struct evidence *evidence,
               const struct research_source *source, const struct pages_wish *wish,
               struct arena *scratch, const char **text)
{
    const struct evidence_page *page = evidence_page(evidence, source->page);
    struct focus_request wanted = {
        .arena = scratch,
        .question = wish->question,
        .text = page->text,
        .length = page->length,
        .end = source->chars,
        .meant = focus_meant(wish->beside),
    };
    struct focus *focus = NULL;
    bool whole = false;
    *text = NULL;
    if (!wish->start && source->chars > wish->most) {
        int status = focus_rank(call, &wanted, &focus);
        if (status == OK && focus_found(focus)) {
            status = focus_write(focus, wish->most, text, &whole);
        }
        if (status != OK || (*text && **text)) {
            return status;
        }
    }
    struct paging_request paging = {
        .text = page->text,
        .length = page->length,
        .start = wish->start < source->chars ? wish->start : source->chars,
        .end = SIZE_MAX,
        .max_chars = wish->most,
    };
    struct paging_part part;
    int status = paging_cut(scratch, &paging, &part);
    if (status == OK) {
        const char *more =
            part.end < source->chars && wish->read_on
                ? arena_printf(scratch, "\n(the page goes on at start %zu)", part.end)
                : "";
        *text = arena_printf(scratch, "%.*s%s", (int)part.length, part.text, more ? more : "");
    }
    return status == OK && !*text ? ERR_NOMEM : status;
}

void pages_put_data(struct buf *out, const char *tag, const char *text)
{
    buf_printf(out, "<data-%s>\n%s\n</data-%s>\n", tag, text, tag);
}
