/* The order of things: check, loader, plain page, browser, note. */
#include "reader/reader.h"

#include "browser/browser.h"
#include "call/errors.h"
#include "call/line.h"
#include "call/parts.h"
#include "call/pool.h"
#include "core/limits.h"
#include "core/processor.h"
#include "html/extract.h"
#include "html/sniff.h"
#include "loaders/loaders.h"
#include "net/fetch.h"
#include "reader/kept.h"
#include "reader/paging.h"
#include "source/source.h"
#include "text/http_status.h"
#include "text/text.h"
#include "text/url.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(table)     (sizeof(table) / sizeof *(table))
#define MOST_TITLE_CHARS 300
#define MOST_WAIT_DIGITS 6

/* ---- notes ---- */

/* A note stands in place of a page that could not be read: the same words for the same failure,
 * every time, so that a caller can tell it from content and compare it. */
const char *note_failed(struct arena *arena, const char *kind, const char *detail, const char *url)
{
    return arena_printf(arena, "_Failed to retrieve page content: %s%s%s_\n\nSource: %s", kind,
                        detail ? ": " : "", detail ? detail : "", url);
}

/* `name` is what it is: "a ZIP archive". */
static const char *note_unsupported(struct arena *arena, const char *name, const char *url)
{
    return arena_printf(arena,
                        "_Could not retrieve content for this URL (possibly a PDF or unsupported "
                        "type)._ It is %s.\n\nSource: %s",
                        name, url);
}

/* The kind of a failure and what to say about it; `detail` may be NULL. */
struct note {
    const char *kind;
    const char *detail;
};

/* Where the words are NULL, those of the fetch stand in the note: they say more. */
static const struct {
    enum fetch_failure failure;
    struct note note;
} FAILURES[] = {
    {FETCH_NO_NAME, {"DNSError", "the host does not exist"}},
    {FETCH_NAME_ERROR, {"DNSError", "the name of the host could not be looked up"}},
    {FETCH_CONNECT, {"ConnectionError", "nobody answers at this address"}},
    {FETCH_PROXY, {"ProxyError", NULL}},
    {FETCH_TLS, {"TLSError", NULL}},
    {FETCH_TIMEOUT, {"Timeout", "there was no answer in time"}},
    {FETCH_BROKEN, {"ConnectionError", NULL}},
    {FETCH_TOO_LARGE, {"TooLarge", "the answer is larger than what is read"}},
    {FETCH_REDIRECTS, {"RedirectError", NULL}},
    {FETCH_FORBIDDEN, {"Forbidden", "a redirect leads to an address that is not public"}},
};

/* "host: words (what a library adds)" without the host and the library. */
static const char *bare_words(struct arena *arena, const char *error)
{
    const char *colon = strstr(error, ": ");
    const char *words = colon ? colon + 2 : error;
    const char *end = strstr(words, " (");
    return arena_strndup(arena, words, end ? (size_t)(end - words) : strlen(words));
}

/* Of a fetch that failed. Details live in the arena. */
static struct note note_of_failure(struct arena *arena, const struct fetch_response *response)
{
    for (size_t i = 0; i < COUNT(FAILURES); i++) {
        if (FAILURES[i].failure == response->failure) {
            struct note note = FAILURES[i].note;
            if (!note.detail && response->error) {
                note.detail = bare_words(arena, response->error);
            }
            return note;
        }
    }
    return (struct note){"FetchError", response->error};
}

/* The seconds of "Retry-After: 120"; NULL when it is a date or not there. */
static const char *wait_time(const struct fetch_response *response)
{
    const char *value = fetch_header_value(response, "retry-after");
    size_t digits = value ? strspn(value, "0123456789") : 0;
    return digits && digits <= MOST_WAIT_DIGITS && !value[digits] ? value : NULL;
}

/* Of an answer whose status says that it is not the page. */
static struct note note_of_status(struct arena *arena, const struct fetch_response *response)
{
    const char *words = http_status_words(response->status);
    const char *wait = wait_time(response);
    return (struct note){
        "HTTPError",
        arena_printf(arena, "%d%s%s%s%s%s", response->status, words ? " " : "", words ? words : "",
                     wait ? "; try again in " : "", wait ? wait : "", wait ? " s" : ""),
    };
}

/* ---- a reading ---- */

struct page_reading {
    struct call *call;
    const char *given; /* the URL as it came */
    struct url url;
    enum render_mode render;
    bool all; /* see struct read_options */
    size_t scroll_chars;
    struct document *document;
    const char *loader_why; /* what a loader that failed had to say */
    double steps;           /* reported so far */
};

static void report(struct page_reading *reading, const char *what)
{
    call_progress(reading->call, ++reading->steps, 0, "%s %s", what, reading->url.host);
}

/* ---- ends ---- */

/* Whatever a reader did, what leaves is valid UTF-8 without a NUL. */
static int clean(struct arena *arena, struct document *document)
{
    const char *text = document->markdown;
    const char *end = text + document->length;
    if (text_is_utf8(text, document->length) && !memchr(text, 0, document->length)) {
        return OK;
    }
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    while (text < end) {
        const char *from = text;
        uint32_t letter = text_next(&text, end);
        if (letter == TEXT_REPLACEMENT || letter == 0) {
            buf_puts(&out, "\xef\xbf\xbd");
        } else {
            buf_append(&out, from, (size_t)(text - from));
        }
    }
    document->markdown = buf_error(&out) ? NULL : arena_strndup(arena, out.data, out.length);
    document->length = out.length;
    buf_done(&out);
    return document->markdown ? OK : ERR_NOMEM;
}

static int put_note(struct page_reading *reading, const char *text)
{
    struct document *document = reading->document;
    if (!text) {
        return ERR_NOMEM;
    }
    *document = (struct document){
        .url = document->url ? document->url : reading->url.text,
        .markdown = text,
        .length = strlen(text),
        .failed = true,
        .access = document->access,
        .rendered = document->rendered,
        .unfinished = document->unfinished,
    };
    return clean(call_arena(reading->call), document);
}

/* The note for a failure; it includes what a loader had to say before. */
static int fail_with(struct page_reading *reading, struct note note)
{
    struct arena *arena = call_arena(reading->call);
    const char *detail = note.detail;
    if (reading->loader_why) {
        detail = arena_printf(arena, "%s%s%s", detail ? detail : "", detail ? "; " : "",
                              reading->loader_why);
        if (!detail) {
            return ERR_NOMEM;
        }
    }
    return put_note(reading, note_failed(arena, note.kind, detail, reading->given));
}

/* Nothing to read: of a page that is a wall, which one. */
static int fail_empty(struct page_reading *reading, const char *access, const char *why)
{
    static const struct {
        const char *access;
        struct note note;
    } WALLS[] = {
        {"login", {"LoginRequired", "the page is behind a sign-in"}},
        {"paywall", {"Paywall", "the page is only for those who pay"}},
        {"consent", {"ConsentRequired", "the site asks about cookies before it shows the page"}},
    };
    reading->document->access = access;
    for (size_t i = 0; access && i < COUNT(WALLS); i++) {
        if (strcmp(WALLS[i].access, access) == 0) {
            return fail_with(reading, WALLS[i].note);
        }
    }
    return fail_with(reading, (struct note){"EmptyPage", why});
}

/* ---- the title ---- */

/* Whether the text begins with a heading of the first level, or with one that says the title. */
static int begins_with_title(struct arena *arena, const struct extract_result *result, bool *begins)
{
    const struct paging_heading *headings = NULL;
    size_t count = 0;
    size_t line = strcspn(result->markdown, "\n");
    int status = paging_outline(arena, result->markdown, line, &headings, &count);
    *begins = count > 0 &&
              (headings[0].level == 1 || paging_find(headings, 1, result->title) == headings);
    return status;
}

/* The title as a heading: on one line, and no part of it is markup. */
static void write_title(struct buf *out, const char *title)
{
    const char *end = title + text_prefix(title, strlen(title), MOST_TITLE_CHARS);
    buf_puts(out, "# ");
    for (const char *at = title; at < end; at++) {
        if (strchr("\\`*[]<", *at)) {
            buf_putc(out, '\\');
        }
        buf_putc(out, (unsigned char)*at <= ' ' ? ' ' : *at);
    }
    buf_puts(out, "\n\n");
}

/* A page's text without its title says less than it could; who reads on by `start` always counts
 * it. A page so large that a second copy of it would not fit goes without. */
static int put_title(struct arena *arena, const struct extract_result *result,
                     struct document *document)
{
    bool begins = true;
    int status = OK;
    if (result->title && *result->title &&
        arena_used(arena) + result->length < LIMIT_CALL_ARENA_BYTES / 2) {
        status = begins_with_title(arena, result, &begins);
    }
    if (status != OK || begins) {
        return status;
    }
    struct buf out;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    write_title(&out, result->title);
    buf_append(&out, result->markdown, result->length);
    status = buf_error(&out);
    document->markdown = status == OK ? arena_strndup(arena, out.data, out.length) : NULL;
    document->length = out.length;
    buf_done(&out);
    return document->markdown ? OK : ERR_NOMEM;
}

static bool is_blank(const struct document *document)
{
    return strspn(document->markdown, " \t\r\n") == document->length;
}

/* What does not depend on who reads the page, and how. */
static int take_result(struct arena *arena, const struct extract_result *result,
                       struct made_document *made)
{
    *made = (struct made_document){.html = true,
                                   .shell = result->shell,
                                   .length = result->length,
                                   .document = {.markdown = result->markdown,
                                                .length = result->length,
                                                .kind = result->kind,
                                                .loader = "html",
                                                .title = result->title,
                                                .authors = result->authors,
                                                .published = result->published,
                                                .modified = result->modified,
                                                .site = result->site,
                                                .language = result->language,
                                                .description = result->description,
                                                .encoding = result->encoding,
                                                .encoding_guessed = result->encoding_guessed,
                                                .access = result->access,
                                                .cut = result->cut,
                                                .omitted = result->omitted}};
    int status = is_blank(&made->document) ? OK : put_title(arena, result, &made->document);
    return status == OK ? clean(arena, &made->document) : status;
}

static int put_made(struct page_reading *reading, const struct made_document *made)
{
    struct document *document = reading->document;
    struct document read = *document;
    *document = made->document;
    document->url = read.url;
    document->age_s = read.age_s;
    document->rendered = read.rendered;
    document->unrendered = read.unrendered;
    document->unfinished = read.unfinished;
    document->cut |= read.cut;
    return made->html && is_blank(document)
               ? fail_empty(reading, document->access, "there is nothing to read on it")
               : OK;
}

/* ---- the extractor ---- */

/* A page takes many times its size while it is read, and reading is work for a processor: more at
 * once than there are processors would only take more memory. */
struct reader {
    struct line extractors;
    struct kept *kept;
};

struct reader *reader_new(struct turns *turns)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader && !(reader->kept = kept_new())) {
        free(reader);
        return NULL;
    }
    if (reader) {
        line_init(&reader->extractors, turns, "extractors", processor_count());
    }
    return reader;
}

struct reader *reader_free(struct reader *reader)
{
    if (reader) {
        line_done(&reader->extractors);
        kept_free(reader->kept);
        free(reader);
    }
    return NULL;
}

/* Waits until it is this page's turn. OK, ERR_CANCELLED, ERR_DEADLINE. */
static int enter_extractor(struct page_reading *reading, struct place *place, size_t length)
{
    *place = (struct place){.call = reading->call};
    call_waits_for(reading->call, "a turn at the extractor");
    int status = line_enter(&call_parts(reading->call)->reader->extractors, place, -1);
    call_waits_for(reading->call, NULL);
    if (length >= LIMIT_PAGE_QUICK_BYTES) {
        pool_step_back();
    }
    return status;
}

/* As extract_page(), when it is this page's turn; also ERR_CANCELLED, ERR_DEADLINE. */
static int extract(struct page_reading *reading, const struct fetch_response *fetched,
                   bool scripts_ran, struct extract_result *result)
{
    struct extract_input input = {.bytes = fetched->body,
                                  .length = fetched->body_length,
                                  .url = fetched->url,
                                  .content_type = fetched->content_type,
                                  .language = fetch_header_value(fetched, "content-language"),
                                  .all = reading->all,
                                  .scripts_ran = scripts_ran};
    struct place place;
    int status = enter_extractor(reading, &place, input.length);
    if (status == OK) {
        status = extract_page(call_arena(reading->call), &input, result);
        line_leave(&place);
    }
    return status;
}

/* ---- what was made before ---- */

/* What is made of an answer. */
struct document_making {
    struct page_reading *reading;
    bool scripts_ran;
    struct made_document made; /* already, where the answer is known */
};

static struct kept_key key_of(const struct document_making *making, const struct cache_mark *mark)
{
    return (struct kept_key){
        .mark = *mark, .all = making->reading->all, .scripts_ran = making->scripts_ran};
}

static bool is_known(void *context, const struct cache_mark *mark)
{
    struct document_making *making = context;
    struct call *call = making->reading->call;
    struct kept_key key = key_of(making, mark);
    return kept_find(call_parts(call)->reader->kept, &key, call_arena(call), &making->made);
}

static void keep(struct document_making *making, const struct source_response *response)
{
    if (response->mark.sum) {
        struct kept_key key = key_of(making, &response->mark);
        kept_put(call_parts(making->reading->call)->reader->kept, &key, &making->made);
    }
}

/* As extract(), unless it was done before. */
static int make(struct document_making *making, const struct source_response *response)
{
    struct extract_result result;
    if (response->known) {
        return OK;
    }
    int status = extract(making->reading, &response->fetched, making->scripts_ran, &result);
    if (status == OK) {
        status = take_result(call_arena(making->reading->call), &result, &making->made);
    }
    if (status == OK) {
        keep(making, response);
    }
    return status;
}

/* ---- failures that the caller or the operator can repair ---- */

static const struct {
    enum fetch_failure failure;
    const char *code;
    const char *advice;
} ERRORS[] = {
    {FETCH_BAD_REQUEST, CODE_VALIDATION, "give an absolute http or https URL"},
    {FETCH_FORBIDDEN, CODE_FORBIDDEN,
     "only public addresses are read; the operator can open a host of his own network with "
     "FORAGE_ALLOW_PRIVATE_HOSTS"},
    {FETCH_BUSY, CODE_BUSY, "try again in a moment"},
    {FETCH_UNAVAILABLE, CODE_CONFIG, "install libcurl"},
};

static int fail_fetch(struct page_reading *reading, const struct fetch_response *fetched)
{
    if (fetched->failure == FETCH_NOMEM) {
        return ERR_NOMEM;
    }
    /* Where a page sends its readers is not the fault of who asked for it. */
    bool sent_there = fetched->failure == FETCH_FORBIDDEN && fetched->redirects > 0;
    for (size_t i = 0; i < COUNT(ERRORS) && !sent_there; i++) {
        if (ERRORS[i].failure == fetched->failure) {
            return call_fail(reading->call, ERRORS[i].code, "url: %s; %s", fetched->error,
                             ERRORS[i].advice);
        }
    }
    return fail_with(reading, note_of_failure(call_arena(reading->call), fetched));
}

/* ---- the browser ---- */

/* The page after its scripts have run, from a browser or from the cache. ERR_NOTFOUND with
 * `why` when there is none. */
static int render(struct page_reading *reading, const struct fetch_response *plain,
                  const struct cache_known *known, struct source_response *rendered,
                  const char **why)
{
    static const struct fetch_header HEADERS[] = {
        {.name = "content-type", .value = "text/html; charset=utf-8"}};
    struct browser_page page = {0};
    struct source_request request = {.url = &reading->url, .known = known};
    int status = source_find_rendered(reading->call, &request, rendered);
    if (status != ERR_NOTFOUND) {
        return status;
    }
    report(reading, "rendering");
    status = browser_render(reading->call, reading->url.text, reading->scroll_chars, &page);
    if (status == ERR_FAILED || status == ERR_DEADLINE || (status == OK && page.status >= 400)) {
        *why = page.error ? page.error : "the browser got no page";
        return ERR_NOTFOUND;
    }
    if (status == OK) {
        reading->document->unfinished = page.unfinished;
        reading->document->cut |= page.cut;
        *rendered = (struct source_response){.fetched = {
                                                 .status = 200,
                                                 .url = page.url ? page.url : reading->url.text,
                                                 .content_type = HEADERS[0].value,
                                                 .headers = HEADERS,
                                                 .header_count = 1,
                                                 .body = page.html,
                                                 .body_length = page.length,
                                             }};
        /* What was cut short may be whole the next time. */
        if (!page.unfinished && !page.cut) {
            source_keep_rendered(reading->call, plain, &request, rendered);
        }
    }
    return status;
}

/* Reads the rendered page. ERR_NOTFOUND with `why` when it is no better than what there is. */
static int read_rendered(struct page_reading *reading, const struct fetch_response *plain,
                         size_t to_beat, const char **why)
{
    struct source_response rendered;
    struct document_making making = {.reading = reading, .scripts_ran = true};
    struct cache_known known = {is_known, &making};
    int status = render(reading, plain, &known, &rendered, why);
    if (status != OK) {
        return status;
    }
    status = make(&making, &rendered);
    if (status == ERR_INVALID || (status == OK && making.made.length <= to_beat)) {
        *why = "the page stays empty when it is rendered";
        return ERR_NOTFOUND;
    }
    if (status == OK) {
        reading->document->url = rendered.fetched.url;
        reading->document->rendered = true;
        reading->document->age_s = rendered.age_s;
        status = put_made(reading, &making.made);
    }
    return status;
}

static bool wants_browser(const struct page_reading *reading, bool shell, const char **lacks)
{
    static const char WHY[] = "its scripts would have to fill it";
    char words[256];
    if (reading->render == RENDER_ALWAYS) {
        return true;
    }
    if (reading->render == RENDER_NEVER || !shell) {
        *lacks = WHY;
        return false;
    }
    if (browser_found(call_parts(reading->call)->browser, NULL, words, sizeof words)) {
        return true;
    }
    const char *said = arena_printf(call_arena(reading->call),
                                    "scripts fill this page, and there is no browser: %s",
                                    call_without_paths(reading->call, words, true));
    *lacks = said ? said : WHY;
    return false;
}

/* ---- the plain page ---- */

/* The note for what nobody reads; `name` may be NULL. */
static int put_unsupported(struct page_reading *reading, const struct fetch_response *fetched,
                           const char *name)
{
    name = name ? name : sniff_name(fetched->content_type, fetched->body, fetched->body_length);
    return put_note(reading, note_unsupported(call_arena(reading->call), name, reading->given));
}

static int read_html(struct document_making *making, const struct source_response *response)
{
    struct page_reading *reading = making->reading;
    const struct made_document *made = &making->made;
    const char *why = NULL;
    int status = make(making, response);
    if (status == ERR_INVALID) {
        return put_unsupported(reading, &response->fetched, NULL);
    }
    if (status != OK) {
        return status;
    }
    if (wants_browser(reading, made->shell, &why)) {
        size_t to_beat = made->shell ? made->length : 0;
        status = read_rendered(reading, &response->fetched, to_beat, &why);
        if (status != ERR_NOTFOUND) {
            return status;
        }
    }
    if (made->length == 0 && made->shell) {
        return fail_empty(reading, made->document.access, why);
    }
    reading->document->unrendered = reading->render == RENDER_ALWAYS ? why : NULL;
    return put_made(reading, made);
}

/* As load_by_content(); a packed document takes a page's turn, since it takes a page's memory. */
static int load(struct document_making *making, const struct source_response *response,
                enum content_kind kind, const char **why)
{
    struct place place;
    struct page_reading *reading = making->reading;
    struct document *document = reading->document;
    bool packed = kind == CONTENT_ARCHIVE;
    int status = packed ? enter_extractor(reading, &place, response->fetched.body_length) : OK;
    if (status != OK) {
        return status;
    }
    status = load_by_content(reading->call, response, reading->all, document, why);
    if (packed) {
        line_leave(&place);
    }
    if (status == OK) {
        status = clean(call_arena(reading->call), document);
    }
    if (status == OK) {
        making->made = (struct made_document){.document = *document};
        keep(making, response);
    }
    return status;
}

/* By what it is, whatever it is called. */
static int read_content(struct document_making *making, const struct source_response *response)
{
    struct page_reading *reading = making->reading;
    const struct fetch_response *fetched = &response->fetched;
    if (response->known) {
        return making->made.html ? read_html(making, response) : put_made(reading, &making->made);
    }
    enum content_kind kind =
        sniff_content(fetched->content_type, fetched->body, fetched->body_length);
    if (kind == CONTENT_EMPTY) {
        return fail_with(reading,
                         (struct note){"EmptyPage", reading->url.text ? "the server sent nothing"
                                                                      : "the file is empty"});
    }
    if (kind == CONTENT_HTML) {
        return read_html(making, response);
    }
    const char *why = NULL;
    int status = load(making, response, kind, &why);
    if (status == ERR_NOTFOUND) {
        return put_unsupported(reading, fetched, why);
    }
    if (status == ERR_FAILED) {
        return fail_with(reading, (struct note){"ContentError", why});
    }
    return status;
}

/* Of an answer that is too large, the beginning of a text is still worth reading. */
static bool has_beginning(const struct fetch_response *fetched)
{
    enum content_kind kind =
        sniff_content(fetched->content_type, fetched->body, fetched->body_length);
    return fetched->failure == FETCH_TOO_LARGE && fetched->status == 200 &&
           (kind == CONTENT_HTML || kind == CONTENT_TEXT || kind == CONTENT_MARKDOWN);
}

/* The wall that an answer is whose status says that it is not the page. Some say by their status
 * alone which; of those that refuse, the page that they send may tell. */
static int find_wall(struct page_reading *reading, const struct fetch_response *fetched)
{
    struct extract_result result = {.access = NULL};
    int status = OK;
    switch (fetched->status) {
    case 401:
        reading->document->access = "login";
        return OK;
    case 402:
        reading->document->access = "paywall";
        return OK;
    case 403:
    case 451:
        if (sniff_content(fetched->content_type, fetched->body, fetched->body_length) ==
            CONTENT_HTML) {
            status = extract(reading, fetched, false, &result);
        }
        reading->document->access = status == OK ? result.access : NULL;
        return status == ERR_INVALID ? OK : status;
    default:
        return OK;
    }
}

static int read_page(struct page_reading *reading)
{
    struct document_making making = {.reading = reading};
    struct cache_known known = {is_known, &making};
    struct source_request request = {.url = &reading->url, .known = &known};
    struct source_response response;
    const char *why = NULL;
    report(reading, "reading");
    int status = source_get(reading->call, &request, &response);
    struct fetch_response *fetched = &response.fetched;
    if (status != OK && status != ERR_FAILED) {
        return status;
    }
    if (status == ERR_FAILED && !has_beginning(fetched)) {
        return fail_fetch(reading, fetched);
    }
    *reading->document = (struct document){
        .url = fetched->url, .cut = status == ERR_FAILED, .age_s = response.age_s};
    if (fetched->status / 100 == 2) {
        return read_content(&making, &response);
    }
    if (reading->render == RENDER_ALWAYS) {
        /* Some servers refuse everyone but browsers. */
        status = read_rendered(reading, fetched, 0, &why);
        if (status != ERR_NOTFOUND) {
            return status;
        }
    }
    status = find_wall(reading, fetched);
    return status == OK ? fail_with(reading, note_of_status(call_arena(reading->call), fetched))
                        : status;
}

/* ---- all of it ---- */

/* ERR_NOTFOUND: the page itself has to be read. */
static int ask_loader(struct page_reading *reading)
{
    const struct loader *loader =
        reading->render == RENDER_ALWAYS ? NULL : loader_for(&reading->url);
    if (!loader) {
        return ERR_NOTFOUND;
    }
    report(reading, "reading");
    int status =
        loader->load(reading->call, &reading->url, reading->document, &reading->loader_why);
    if (status == OK) {
        struct document *document = reading->document;
        document->url = document->url ? document->url : reading->url.text;
        document->loader = document->loader ? document->loader : loader->name;
        return clean(call_arena(reading->call), document);
    }
    return status == ERR_FAILED ? ERR_NOTFOUND : status;
}

int read_url(struct call *call, const char *url, const struct read_options *options,
             struct document *document)
{
    struct page_reading reading = {.call = call,
                                   .given = url,
                                   .render = options->render,
                                   .all = options->all,
                                   .scroll_chars = options->scroll_chars,
                                   .document = document};
    const char *problem = "is not valid";
    memset(document, 0, sizeof *document);
    int status = url_parse(call_arena(call), url, &reading.url, &problem);
    if (status == ERR_NOMEM) {
        return status;
    }
    if (status != OK) {
        return call_fail(call, CODE_VALIDATION,
                         "url: it %s; give an absolute http or https URL such as "
                         "https://example.org/page",
                         problem);
    }
    report(&reading, "resolving");
    status = ask_loader(&reading);
    if (status == ERR_NOTFOUND) {
        memset(document, 0, sizeof *document);
        status = read_page(&reading);
    }
    return status;
}

int read_body(struct call *call, const char *name, const char *body, size_t length, bool all,
              struct document *document)
{
    struct page_reading reading = {
        .call = call, .given = name, .render = RENDER_NEVER, .all = all, .document = document};
    struct source_response response = {
        .fetched = {.status = 200, .url = name, .body = body, .body_length = length}};
    struct document_making making = {.reading = &reading};
    *document = (struct document){.url = name};
    return read_content(&making, &response);
}
