/* arXiv: what its interface says about a paper, and the paper's text: the HTML version where there
 * is one, else the PDF. A paper whose text cannot be read is still a paper with an abstract. */
#include "core/limits.h"
#include "guard/pacer.h"
#include "html/extract.h"
#include "html/xml.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "tables.h"

/* ---- whose URL it is ---- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Whether nothing follows, or a version ("v12"). */
static bool ends_with_version(const char *text)
{
    size_t length = text[0] == 'v' ? digits(text + 1) : 0;
    return *text == '\0' || (length > 0 && text[1 + length] == '\0');
}

/* 2301.00001 since 2007, archive/9901001 and archive.SC/9901001 before. */
static bool is_identifier(const char *id)
{
    if (digits(id) == 4 && id[4] == '.') {
        size_t number = digits(id + 5);
        return (number == 4 || number == 5) && ends_with_version(id + 5 + number);
    }
    size_t archive = strspn(id, "abcdefghijklmnopqrstuvwxyz-");
    const char *at = id + archive;
    if (*at == '.') {
        size_t class = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
        at += class == 2 ? 3 : 0;
    }
    return archive >= 2 && *at == '/' && digits(at + 1) == 7 && ends_with_version(at + 8);
}

bool arxiv_find(const struct url *url, char id[ARXIV_ID_SIZE])
{
    struct path path;
    const char *host = host_plain(url->host);
    path_split(url->path, &path);
    if (!words_text(&arxiv_hosts, host, strlen(host)) || path.count < 2 ||
        !words_text(&arxiv_sections, path.segments[0].data, path.segments[0].length)) {
        return false;
    }
    const char *rest = path_from(&path, 1);
    size_t length = strlen(rest);
    while (length > 0 && rest[length - 1] == '/') {
        length--;
    }
    if (length > 4 && strncmp(rest + length - 4, ".pdf", 4) == 0) {
        length -= 4;
    }
    if (length == 0 || length >= ARXIV_ID_SIZE) {
        return false;
    }
    memcpy(id, rest, length);
    id[length] = '\0';
    return is_identifier(id);
}

/* ---- the Atom answer ---- */

/* A paper while it is read. Some have thousands of authors. */
struct arxiv_reading {
    struct xml_reader reader;
    struct arena *arena;
    struct arxiv_paper *paper;
    struct buf authors, categories;
};

/* Adds to a list that is separated by commas. */
static void add_to(struct buf *list, const char *item, size_t length)
{
    buf_puts(list, list->length ? ", " : "");
    buf_append(list, item, length);
}

/* The text of the element that just started, on one line; NULL for none. False when the answer is
 * broken. */
static bool take_line(struct arxiv_reading *reading, const char **value)
{
    struct buf text;
    struct buf line;
    buf_init(&text, LIMIT_LOADER_BYTES);
    buf_init(&line, LIMIT_LOADER_BYTES);
    bool whole = xml_take(&reading->reader, &text, NULL);
    compose_line(&line, text.data);
    bool any = line.length > 0;
    const char *copy = buf_to_arena(&line, reading->arena);
    *value = any ? copy : NULL;
    buf_done(&text);
    return whole;
}

/* An element of the entry. False when the answer is broken. */
static bool take_element(struct arxiv_reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    struct arxiv_paper *paper = reading->paper;
    const char *author = NULL;
    const struct {
        const char *name;
        const char **value;
    } texts[] = {
        {"title", &paper->title},           {"published", &paper->published},
        {"updated", &paper->updated},       {"summary", &paper->summary},
        {"arxiv:doi", &paper->doi},         {"arxiv:journal_ref", &paper->journal},
        {"arxiv:comment", &paper->comment}, {"name", &author},
    };
    struct slice term;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (slice_is(reader->name, texts[i].name)) {
            bool whole = take_line(reading, texts[i].value);
            if (author) {
                add_to(&reading->authors, author, strlen(author));
            }
            return whole;
        }
    }
    if (slice_is(reader->name, "author")) {
        return true; /* its name is an element of its own */
    }
    if (slice_is(reader->name, "category") && xml_attribute(reader, "term", &term)) {
        add_to(&reading->categories, term.data, term.length);
    }
    return xml_take(reader, NULL, NULL);
}

static int take_entry(struct arxiv_reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    struct arxiv_paper *paper = reading->paper;
    size_t depth = reader->depth;
    while (reader->depth >= depth) {
        enum xml_event event = xml_next(reader);
        if (event == XML_BROKEN || event == XML_DONE ||
            (event == XML_START && !take_element(reading))) {
            return ERR_INVALID;
        }
    }
    if (reading->authors.length) {
        paper->authors = buf_to_arena(&reading->authors, reading->arena);
    }
    if (reading->categories.length) {
        paper->categories = buf_to_arena(&reading->categories, reading->arena);
    }
    if (arena_failed(reading->arena)) {
        return ERR_NOMEM;
    }
    /* An identifier that is not well-formed gives an entry that holds the error. */
    bool error = paper->title && strcmp(paper->title, "Error") == 0;
    return error || !paper->title ? ERR_NOTFOUND : OK;
}

static int find_entry(struct arxiv_reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    for (;;) {
        enum xml_event event = xml_next(reader);
        if (event == XML_DONE) {
            return ERR_NOTFOUND;
        }
        if (event == XML_BROKEN ||
            (reader->depth == 1 && event == XML_START && !slice_is(reader->name, "feed"))) {
            return ERR_INVALID;
        }
        if (event == XML_START && reader->depth == 2 && slice_is(reader->name, "entry")) {
            return take_entry(reading);
        }
    }
}

int arxiv_parse(struct arena *arena, const char *text, size_t length, struct arxiv_paper *paper)
{
    struct arxiv_reading reading = {.arena = arena, .paper = paper};
    memset(paper, 0, sizeof *paper);
    buf_init(&reading.authors, LIMIT_LOADER_BYTES);
    buf_init(&reading.categories, LIMIT_LOADER_BYTES);
    xml_begin(&reading.reader, text, length);
    int status = find_entry(&reading);
    buf_done(&reading.authors);
    buf_done(&reading.categories);
    return status;
}

/* ---- as Markdown ---- */

int arxiv_write(struct arena *arena, const struct arxiv_paper *paper, const char *id,
                const char *full_text, const char *missing, struct document *document)
{
    const struct {
        const char *name, *value;
        int most; /* characters; dates are days */
    } facts[] = {
        {"Authors", paper->authors, -1}, {"Published", paper->published, 10},
        {"Updated", paper->updated, 10}, {"Categories", paper->categories, -1},
        {"Journal", paper->journal, -1}, {"DOI", paper->doi, -1},
        {"Comment", paper->comment, -1},
    };
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "paper";
    document->title = paper->title;
    document->authors = paper->authors;
    document->published = paper->published;
    document->modified = paper->updated;
    document->description = paper->summary;
    buf_printf(&out, "# %s\n\n", paper->title);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (facts[i].value) {
            buf_printf(&out, "- %s: %.*s\n", facts[i].name, facts[i].most, facts[i].value);
        }
    }
    buf_printf(&out, "- arXiv: [%s](https://arxiv.org/abs/%s)\n\n", id, id);
    if (paper->summary) {
        buf_printf(&out, "## Abstract\n\n%s\n\n", paper->summary);
    }
    if (full_text) {
        buf_puts(&out, "## Full text\n\n");
        compose_markdown(&out, full_text, strlen(full_text), 2, NULL);
    } else if (missing) {
        buf_printf(&out, "_The full text could not be read: %s_\n", missing);
    }
    return compose_done(arena, &out, document);
}

/* ---- asking ---- */

/* In its turn, which all calls of all processes take one after the other. */
static int ask_in_turn(struct service *service, const char *id, struct source_response *response)
{
    static const struct pace PACE = PACE_OF_ARXIV;
    struct pace_turn turn;
    int status = pace_take(service->call, "arxiv", &PACE, INT64_MAX, &turn);
    if (status == ERR_BUSY) {
        return service_fail(service, "arXiv asks to be left alone for %lld seconds",
                            (long long)(turn.wait_ms + 999) / 1000);
    }
    if (status != OK) {
        return status == ERR_IO ? service_fail(service, "nobody can say when arXiv may be asked")
                                : status;
    }
    status = service_get(service, response, "/api/query?id_list=%s&max_results=1", id);
    bool refused =
        status == OK && (response->fetched.status == 429 || response->fetched.status == 503);
    pace_leave(&turn, refused ? TIME_ARXIV_REST_MS : status == OK ? 0 : PACE_UNKNOWN);
    return status;
}

static int ask_metadata(struct call *call, const char *id, struct arxiv_paper *paper,
                        const char **why)
{
    struct service service;
    struct source_response response;
    int status = service_open(&service, call, "arXiv", "ARXIV_BASE_URL", NULL, why);
    service.accept = "application/atom+xml";
    if (status == OK) {
        status = ask_in_turn(&service, id, &response);
    }
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    /* A malformed identifier is answered with 400 and a feed that says so. */
    if (fetched->status != 200 && fetched->status != 400) {
        return service_fail(&service, "arXiv answered HTTP %d", fetched->status);
    }
    status = arxiv_parse(service.arena, fetched->body, fetched->body_length, paper);
    if (status == ERR_NOTFOUND) {
        service_fail(&service, "arXiv knows no paper %s", id);
    }
    return status == ERR_INVALID ? service_fail(&service, "arXiv's answer is not the Atom it says")
                                 : status;
}

/* OK with the text, or why there is none. */
static int read_html(struct service *service, const char *id, const char **text)
{
    struct source_response response;
    struct extract_result result;
    service->accept = "text/html";
    int status = service_get(service, &response, "/html/%s", id);
    if (status != OK) {
        return status;
    }
    if (response.fetched.status != 200) {
        return ERR_NOTFOUND;
    }
    struct extract_input input = {
        .bytes = response.fetched.body,
        .length = response.fetched.body_length,
        .url = response.fetched.url,
        .content_type = response.fetched.content_type,
    };
    status = extract_page(service->arena, &input, &result);
    if (status == OK && result.length > 0) {
        *text = result.markdown;
        return OK;
    }
    return status == ERR_NOMEM ? ERR_NOMEM : ERR_NOTFOUND;
}

static int read_pdf(struct service *service, const char *id, const char **text)
{
    struct source_response response;
    struct document document = {0};
    service->accept = "application/pdf";
    int status = service_get(service, &response, "/pdf/%s", id);
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    if (fetched->status != 200 || !pdf_is(fetched->body, fetched->body_length)) {
        return service_fail(service, "arXiv has neither HTML nor a PDF of it (HTTP %d)",
                            fetched->status);
    }
    status = pdf_load(service->call, fetched->body, fetched->body_length, false, &document,
                      service->why);
    *text = status == OK ? document.markdown : NULL;
    return status;
}

int arxiv_load(struct call *call, const struct url *url, struct document *document,
               const char **why)
{
    char id[ARXIV_ID_SIZE];
    struct arxiv_paper paper;
    struct service pages;
    const char *text = NULL;
    const char *missing = NULL;
    if (!arxiv_find(url, id)) {
        return ERR_NOTFOUND;
    }
    call_progress(call, 0, 0, "asking arXiv");
    int status = ask_metadata(call, id, &paper, why);
    if (status == OK) {
        status = service_open(&pages, call, "arXiv", "ARXIV_PAGES_BASE_URL", NULL, &missing);
    }
    if (status != OK) {
        return status;
    }
    pages.max_bytes = LIMIT_FETCH_BODY_BYTES;
    status = read_html(&pages, id, &text);
    if (status == ERR_NOTFOUND || status == ERR_FAILED) {
        status = read_pdf(&pages, id, &text);
    }
    if (status != OK && status != ERR_NOTFOUND && status != ERR_FAILED) {
        return status;
    }
    document->url = url->text;
    document->site = "arXiv";
    return arxiv_write(pages.arena, &paper, id, text, missing ? missing : "there is none",
                       document);
}
