/* Reads the pages of results side by side, each on a thread of its own (call/side.h). */
#include "websearch/results.h"

#include "call/errors.h"
#include "call/side.h"
#include "config/config.h"
#include "core/limits.h"
#include "reader/content.h"
#include "text/text.h"
#include "text/url.h"

#include <string.h>

/* Bytes that the beginning of a page and its passages may take: a character has up to four, and
 * there are notes. */
#define KEEP_BYTES(chars) (4 * (chars + FOCUS_CHARS) + KIB(16))

struct page_work {
    const char *link;
    const struct page_wish *wish;
    struct page_text page;
};

struct pages {
    struct call *call;
    struct side *side;
    struct page_work *works;
    size_t count;
};

/* ---- one page, on its own thread ---- */

static void put_note(struct page_work *work, struct arena *arena, const char *kind,
                     const char *detail)
{
    const char *note = note_failed(arena, kind, detail, work->link);
    work->page = (struct page_text){
        .text = note ? note : "_Failed to retrieve page content: OutOfMemory_",
        .failed = true,
    };
    work->page.length = strlen(work->page.text);
    work->page.total_chars = text_count(work->page.text, work->page.length);
}

/* An address that get_content would refuse is a note here: the caller did not choose it. */
static const struct {
    const char *code;
    const char *kind;
    const char *detail;
} REFUSALS[] = {
    {CODE_VALIDATION, "InvalidURL", "it is no http or https address"},
    {CODE_FORBIDDEN, "Forbidden", "the address is not public"},
    {CODE_BUSY, "Busy", "too much is being read at once"},
    {CODE_CONFIG, "Unavailable", "libcurl is missing"},
};

static void note_refusal(struct page_work *work, struct arena *keep, const struct call_error *error)
{
    for (size_t i = 0; error && i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
        if (strcmp(error->code, REFUSALS[i].code) == 0) {
            put_note(work, keep, REFUSALS[i].kind, REFUSALS[i].detail);
            return;
        }
    }
    put_note(work, keep, "ReadError", "the page could not be read");
}

static void keep_text(struct page_work *work, struct arena *keep, const struct document *document)
{
    /* One character more than anybody will use, so that there is something to cut. */
    size_t kept = text_prefix(document->markdown, document->length, work->wish->keep_chars + 1);
    const char *text = arena_strndup(keep, document->markdown, kept);
    if (!text) {
        put_note(work, keep, "OutOfMemory", NULL);
        return;
    }
    work->page = (struct page_text){
        .text = text,
        .length = kept,
        .total_chars = text_count(document->markdown, document->length),
        .access = document->access,
        .failed = document->failed,
    };
}

/* Puts what answers the question in the place of the page's text. A page that has nothing on it
 * stays as it is. */
static int find_passages(struct call *call, struct page_work *work, struct arena *keep,
                         const struct document *document)
{
    struct focus *focus;
    const char *text;
    bool whole;
    struct focus_request wanted = {
        .arena = call_arena(call),
        .question = work->wish->question,
        .text = document->markdown,
        .length = document->length,
        .end = SIZE_MAX,
        .meant = work->wish->meant,
    };
    size_t most = work->wish->keep_chars < FOCUS_CHARS ? work->wish->keep_chars : FOCUS_CHARS;
    int status = focus_rank(call, &wanted, &focus);
    if (status != OK || !focus_found(focus)) {
        return status;
    }
    status = focus_write(focus, most, &text, &whole);
    if (status != OK || !*text) {
        return status;
    }
    work->page.length = strlen(text);
    work->page.text = arena_strndup(keep, text, work->page.length);
    work->page.passages = true;
    work->page.whole = whole;
    return work->page.text ? OK : ERR_NOMEM;
}

static void read_one(struct call *call, void *item, struct arena *keep)
{
    struct page_work *work = item;
    struct document document;
    struct read_options options = {.render = RENDER_AUTO, .all = work->wish->all};
    int status = read_url(call, work->link, &options, &document);
    if (status == OK) {
        keep_text(work, keep, &document);
    }
    if (status == OK && work->wish->question && !work->page.failed) {
        status = find_passages(call, work, keep, &document);
    }
    if (status == OK) {
        return;
    }
    if (status == ERR_FAILED) {
        note_refusal(work, keep, call_error(call));
    } else {
        put_note(work, keep, status == ERR_NOMEM ? "OutOfMemory" : "ReadError", NULL);
    }
}

/* ---- all of them ---- */

static void report(void *context, size_t index, size_t done)
{
    struct pages *pages = context;
    const struct page_work *work = &pages->works[index];
    const char *host = strstr(work->link, "://");
    host = host ? host + 3 : work->link;
    call_progress(pages->call, (double)done, (double)pages->count, "%s %.*s",
                  work->page.failed ? "could not read" : "read", (int)strcspn(host, "/?#"), host);
}

static struct pages *open_pages(struct call *call, const char *const *links, size_t count,
                                const struct page_wish *wish)
{
    struct arena *arena = call_arena(call);
    struct pages *pages = arena_zalloc(arena, sizeof *pages);
    struct page_work *works = arena_zalloc(arena, (count + 1) * sizeof *works);
    size_t at_once = (size_t)config_int("FORAGE_SEARCH_CONCURRENCY");
    struct side *side = side_new(call, read_one, count, at_once, KEEP_BYTES(wish->keep_chars));
    if (!pages || !works || !side) {
        side_free(side);
        return NULL;
    }
    *pages = (struct pages){.call = call, .side = side, .works = works, .count = count};
    for (size_t i = 0; i < count; i++) {
        works[i] = (struct page_work){.link = links[i], .wish = wish};
        side_set(side, i, &works[i]);
    }
    return pages;
}

int pages_read(struct call *call, const char *const *links, size_t count,
               const struct page_wish *wish, int64_t reserve_ms, struct pages **out)
{
    struct pages *pages = open_pages(call, links, count, wish);
    *out = pages;
    if (!pages) {
        return ERR_NOMEM;
    }
    int status = side_run(pages->side, reserve_ms, report, pages);
    if (status != OK && status != ERR_DEADLINE) {
        *out = pages_free(pages);
        return status;
    }
    /* An unfinished piece may still be writing to its own work: the notes get a place of their own.
     */
    struct page_work *seen = arena_zalloc(call_arena(call), (count + 1) * sizeof *seen);
    if (!seen) {
        *out = pages_free(pages);
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (side_finished(pages->side, i)) {
            seen[i] = pages->works[i];
        } else {
            seen[i].link = links[i];
            put_note(&seen[i], call_arena(call), "Timeout", "there was no answer in time");
        }
    }
    pages->works = seen;
    return OK;
}

const struct page_text *pages_text(const struct pages *pages, size_t index)
{
    return &pages->works[index].page;
}

struct pages *pages_free(struct pages *pages)
{
    if (pages) {
        side_free(pages->side);
    }
    return NULL;
}
