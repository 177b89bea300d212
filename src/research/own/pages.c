/* Reads sources and finds what of them answers a question. */
#include "research/own/pages.h"

#include "call/side.h"
#include "core/clock.h"
#include "core/limits.h"
#include "page/content.h"
#include "text/text.h"

#include <string.h>

/* A page that is fetched, on a thread of its own. */
struct fetched {
    const char *url;
    const char *final_url, *title, *text, *trouble; /* in the piece's memory */
    size_t length;
};

/* ---- one page, on its own thread ---- */

static void fetch_one(struct call *call, void *item, struct arena *keep)
{
    struct fetched *fetched = item;
    struct document document = {0};
    int status = content_load(call, fetched->url, &(struct read_options){0}, &document);
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
    fetched->length = length;
    fetched->trouble = arena_failed(keep) ? "out of memory" : NULL;
}

/* ---- what came of it ---- */

/* The first line of a note on a page that cannot be read. */
static const char *first_line(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strcspn(text, "\r\n"));
}

static int keep_page(struct call *call, struct evidence *evidence, struct source *source,
                     const struct fetched *fetched)
{
    struct arena *arena = call_arena(call);
    if (!fetched || fetched->trouble) {
        source->trouble =
            fetched ? first_line(arena, fetched->trouble) : "there was no answer in time";
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
    source->page = evidence_add_page(evidence, url, title, fetched->text, clock_wall_ms());
    const struct evidence_page *page = evidence_page(evidence, source->page);
    if (!page || !page->text) {
        source->page = 0; /* without its text there is nothing to quote: it was not read */
        source->trouble = "there is no room for more pages";
        return OK;
    }
    source->chars = text_count(page->text, page->length);
    source->trouble = NULL;
    return OK;
}

int pages_fetch(struct call *call, struct evidence *evidence, struct source *const *wanted,
                size_t count, int64_t until_ms)
{
    if (!count) {
        return OK;
    }
    struct fetched *fetched = arena_zalloc(call_arena(call), count * sizeof *fetched);
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
    for (size_t i = 0; status == OK && i < count; i++) {
        status = keep_page(call, evidence, wanted[i], side_finished(side, i) ? &fetched[i] : NULL);
    }
    side_free(side);
    return status;
}

/* ---- showing ---- */

int pages_show(struct call *call, const struct evidence *evidence, const struct source *source,
               const struct pages_wish *wish, struct arena *scratch, const char **text)
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
