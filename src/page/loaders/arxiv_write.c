/* arXiv: identifiers in URLs, the Atom answer, and a paper as Markdown. */
#include "core/limits.h"
#include "core/status.h"
#include "page/loaders/arxiv.h"
#include "page/loaders/compose.h"
#include "page/loaders/paths.h"
#include "page/loaders/xml.h"

#include <string.h>

/* ---- whose URL it is ---- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* The length of a version ("v12") at the end of an identifier, 0 for none; false when something
 * else follows. */
static bool ends_with_version(const char *text)
{
    if (*text == '\0') {
        return true;
    }
    return text[0] == 'v' && digits(text + 1) > 0 && text[1 + digits(text + 1)] == '\0';
}

/* 2301.00001 since 2007, archive/9901001 and archive.SC/9901001 before. */
static bool is_identifier(const char *id)
{
    if (digits(id) == 4 && id[4] == '.') {
        size_t number = digits(id + 5);
        return (number == 4 || number == 5) && ends_with_version(id + 5 + number);
    }
    size_t archive = strspn(id, "abcdefghijklmnopqrstuvwxyz-");
    if (archive < 2) {
        return false;
    }
    const char *at = id + archive;
    if (*at == '.') {
        size_t class = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
        if (class != 2) {
            return false;
        }
        at += 1 + class;
    }
    return *at == '/' && digits(at + 1) == 7 && ends_with_version(at + 8);
}

static bool is_host(const char *host)
{
    static const char *const HOSTS[] = {"arxiv.org",
                                        "export.arxiv.org",
                                        "browse.arxiv.org",
                                        "xxx.lanl.gov",
                                        "ar5iv.org",
                                        "ar5iv.labs.arxiv.org",
                                        NULL};
    for (const char *const *known = HOSTS; *known; known++) {
        if (strcmp(host, *known) == 0) {
            return true;
        }
    }
    return false;
}

bool arxiv_find(const struct url *url, char id[ARXIV_ID_SIZE])
{
    static const char *const SECTIONS[] = {"abs", "pdf", "html", "ps", "format", "e-print", NULL};
    struct path path;
    path_split(url->path, &path);
    if (!is_host(host_plain(url->host))) {
        return false;
    }
    for (const char *const *section = SECTIONS; *section; section++) {
        if (!path_is(&path, 0, *section)) {
            continue;
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
    return false;
}

/* ---- the Atom answer ---- */

/* A paper while it is read. Some have thousands of authors. */
struct reading {
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

/* The text of the element that just started, on one line. False when the answer is broken. */
static bool take_line(struct xml_reader *reader, struct arena *arena, const char **value)
{
    struct buf text;
    struct buf line;
    buf_init(&text, LIMIT_LOADER_BYTES);
    buf_init(&line, LIMIT_LOADER_BYTES);
    bool whole = xml_take(reader, &text, NULL);
    compose_line(&line, text.data);
    *value = line.length ? arena_strdup(arena, line.data) : NULL;
    buf_done(&text);
    buf_done(&line);
    return whole;
}

static bool take_author(struct reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    size_t depth = reader->depth;
    while (reader->depth >= depth) {
        enum xml_event event = xml_next(reader);
        const char *name = NULL;
        if (event == XML_BROKEN || event == XML_DONE) {
            return false;
        }
        if (event == XML_START && xml_is(reader->name, "name")) {
            if (!take_line(reader, reading->arena, &name)) {
                return false;
            }
            if (name) {
                add_to(&reading->authors, name, strlen(name));
            }
        }
    }
    return true;
}

/* An element of the entry. False when the answer is broken. */
static bool take_element(struct reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    struct arxiv_paper *paper = reading->paper;
    const struct {
        const char *name;
        const char **value;
    } texts[] = {
        {"title", &paper->title},           {"published", &paper->published},
        {"updated", &paper->updated},       {"summary", &paper->summary},
        {"arxiv:doi", &paper->doi},         {"arxiv:journal_ref", &paper->journal},
        {"arxiv:comment", &paper->comment},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (xml_is(reader->name, texts[i].name)) {
            return take_line(reader, reading->arena, texts[i].value);
        }
    }
    struct slice term;
    if (xml_is(reader->name, "author")) {
        return take_author(reading);
    }
    if (xml_is(reader->name, "category") && xml_attribute(reader, "term", &term)) {
        add_to(&reading->categories, term.data, term.length);
    }
    return xml_take(reader, NULL, NULL);
}

static int take_entry(struct reading *reading)
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
        paper->authors = arena_strdup(reading->arena, reading->authors.data);
    }
    if (reading->categories.length) {
        paper->categories = arena_strdup(reading->arena, reading->categories.data);
    }
    if (arena_failed(reading->arena)) {
        return ERR_NOMEM;
    }
    /* An identifier that is not well-formed gives an entry that holds the error. */
    bool error = paper->title && strcmp(paper->title, "Error") == 0;
    return error || !paper->title ? ERR_NOTFOUND : OK;
}

static int find_entry(struct reading *reading)
{
    struct xml_reader *reader = &reading->reader;
    for (;;) {
        enum xml_event event = xml_next(reader);
        if (event == XML_DONE) {
            return ERR_NOTFOUND;
        }
        if (event == XML_BROKEN ||
            (reader->depth == 1 && event == XML_START && !xml_is(reader->name, "feed"))) {
            return ERR_INVALID;
        }
        if (event == XML_START && reader->depth == 2 && xml_is(reader->name, "entry")) {
            return take_entry(reading);
        }
    }
}

int arxiv_parse(struct arena *arena, const char *text, size_t length, struct arxiv_paper *paper)
{
    struct reading reading = {.arena = arena, .paper = paper};
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
