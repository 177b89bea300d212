/* EPUB: the chapters of a book in the order of its spine, each through the reader's own writer of
 * HTML. The table of contents, which repeats the headings, is not part of the text. */
#include "core/limits.h"
#include "documents/formats.h"
#include "html/compose.h"
#include "html/extract.h"

#include <stdlib.h>

struct epub_item {
    const char *id, *part;
    bool text; /* XHTML that is no table of contents */
    bool read;
};

struct book {
    struct package *package;
    struct epub_item *items;
    size_t count;
    struct buf *out;
};

/* ---- a chapter as HTML ---- */

/* XML closes elements that HTML cannot close, so each is opened and closed by its name. */
static bool is_void(struct slice name)
{
    static const char *const NAMES[] = {"br", "hr", "img", "col", "wbr", "input", "source"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (slice_is(name, NAMES[i])) {
            return true;
        }
    }
    return false;
}

/* Where a link leads: out of the book, or to a place of this chapter. */
static struct slice target_of(struct slice value, const char *chapter)
{
    const char *hash = memchr(value.data, '#', value.length);
    size_t file = hash ? (size_t)(hash - value.data) : value.length;
    if (memmem(value.data, value.length, "://", 3)) {
        return value;
    }
    bool here =
        hash && (file == 0 || (file == strlen(chapter) && memcmp(value.data, chapter, file) == 0));
    return here ? (struct slice){hash, value.length - file} : (struct slice){NULL, 0};
}

static void put_attributes(struct buf *out, const struct xml_reader *xml, const char *chapter)
{
    for (size_t i = 0; i < xml->attribute_count; i++) {
        struct slice name = xml->attributes[i].name;
        struct slice value = xml->attributes[i].value;
        if (slice_is(name, "href")) {
            value = target_of(value, chapter);
        }
        if (!value.data) {
            continue;
        }
        buf_putc(out, ' ');
        buf_append(out, name.data, name.length);
        buf_puts(out, "=\"");
        for (size_t at = 0; at < value.length; at++) {
            buf_puts(out, value.data[at] == '"' ? "&quot;" : value.data[at] == '<' ? "&lt;" : "");
            if (value.data[at] != '"' && value.data[at] != '<') {
                buf_putc(out, value.data[at]);
            }
        }
        buf_putc(out, '"');
    }
}

static void put_literal(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        buf_puts(out, text.data[i] == '<' ? "&lt;" : text.data[i] == '&' ? "&amp;" : "");
        if (text.data[i] != '<' && text.data[i] != '&') {
            buf_putc(out, text.data[i]);
        }
    }
}

/* What began. False when the chapter is broken. */
static bool put_start(struct buf *out, struct xml_reader *xml, const char *chapter)
{
    static const char *const LEFT_OUT[] = {"head", "script", "style", "svg"};
    struct slice name = xml_local(xml);
    struct slice words;
    for (size_t i = 0; i < sizeof LEFT_OUT / sizeof *LEFT_OUT; i++) {
        if (slice_is(name, LEFT_OUT[i])) {
            return xml_take(xml, NULL, NULL);
        }
    }
    if (slice_is(name, "img")) {
        /* Its address leads into the archive. */
        if (xml_attribute(xml, "alt", &words) && words.length) {
            buf_puts(out, "<i>Picture: ");
            put_literal(out, words);
            buf_puts(out, "</i>");
        }
        return xml_take(xml, NULL, NULL);
    }
    buf_putc(out, '<');
    buf_append(out, name.data, name.length);
    put_attributes(out, xml, chapter);
    buf_putc(out, '>');
    return true;
}

/* From where it is not well-formed on, HTML's own rules hold. */
static void put_chapter(struct buf *out, struct slice text, const char *chapter)
{
    struct xml_reader xml;
    bool whole = true;
    enum xml_event event = XML_TEXT;
    xml_begin(&xml, text.data, text.length);
    while (whole && (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&xml);
        if (event == XML_START) {
            whole = put_start(out, &xml, chapter);
        } else if (event == XML_END && !is_void(name)) {
            buf_puts(out, "</");
            buf_append(out, name.data, name.length);
            buf_putc(out, '>');
        } else if (event == XML_TEXT && xml.literal) {
            put_literal(out, xml.text);
        } else if (event == XML_TEXT) {
            buf_append(out, xml.text.data, xml.text.length);
        }
    }
    if (!whole || event == XML_BROKEN) {
        buf_append(out, xml.token, (size_t)(xml.end - xml.token));
    }
}

/* Chapters stand below the title of the book. */
static int write_chapter(struct book *book, const char *part)
{
    struct package *package = book->package;
    struct slice text;
    struct buf html;
    struct buf markdown;
    int status = package_part(package, part, &text);
    if (status != OK) {
        package->cut = package->cut || status == ERR_NOTFOUND;
        return status == ERR_NOTFOUND ? OK : status;
    }
    const char *slash = strrchr(part, '/');
    struct arena *scratch = arena_new(LIMIT_PAGE_SCRATCH_BYTES);
    buf_init(&html, LIMIT_DOCUMENT_MARKUP_BYTES);
    buf_init(&markdown, LIMIT_DOCUMENT_BYTES);
    put_chapter(&html, text, slash ? slash + 1 : part);
    package->cut = package->cut || buf_error(&html) != OK;
    status = scratch ? OK : ERR_NOMEM;
    if (status == OK && html.length) {
        status = extract_fragment(scratch, html.data, html.length, NULL, &markdown, &package->cut);
    }
    if (status != ERR_NOMEM && markdown.length) {
        buf_puts(book->out, book->out->length ? "\n" : "");
        compose_markdown(book->out, markdown.data, markdown.length, 1, NULL);
    }
    package->cut = package->cut || status == ERR_LIMIT;
    buf_done(&html);
    buf_done(&markdown);
    arena_free(scratch);
    return status == ERR_NOMEM ? ERR_NOMEM : OK;
}

/* ---- the package ---- */

static int by_id(const void *left, const void *right)
{
    return strcmp(((const struct epub_item *)left)->id, ((const struct epub_item *)right)->id);
}

static struct epub_item *find_item(const struct book *book, const char *id)
{
    struct epub_item key = {.id = id};
    return id && book->count ? bsearch(&key, book->items, book->count, sizeof key, by_id) : NULL;
}

static int read_items(struct book *book, const char *part)
{
    struct package *package = book->package;
    struct xml_reader xml;
    size_t capacity = 0;
    int status = package_xml(package, part, &xml);
    if (status != OK) {
        return status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event != XML_START || !slice_is(xml_local(&xml), "item") ||
            book->count == LIMIT_ZIP_MEMBERS) {
            continue;
        }
        const char *id = package_attribute(package, &xml, "id");
        const char *href = package_attribute(package, &xml, "href");
        const char *type = package_attribute(package, &xml, "media-type");
        const char *properties = package_attribute(package, &xml, "properties");
        book->items =
            arena_grow(package->arena, book->items, book->count, &capacity, sizeof *book->items);
        if (!book->items) {
            return ERR_NOMEM;
        }
        bool contents = properties && strstr(properties, "nav");
        bool text = type && (strstr(type, "xhtml") || strstr(type, "text/html"));
        if (id && href) {
            book->items[book->count++] = (struct epub_item){
                .id = id, .part = package_resolve(package, part, href), .text = text && !contents};
        }
    }
    if (book->count) {
        qsort(book->items, book->count, sizeof *book->items, by_id);
    }
    return arena_failed(package->arena) ? ERR_NOMEM : OK;
}

/* Each chapter once, whatever the spine says. */
static int write_spine(struct book *book, const char *part)
{
    struct xml_reader xml;
    int status = package_xml(book->package, part, &xml);
    for (enum xml_event event; status == OK && (event = xml_next(&xml)) != XML_DONE;) {
        if (event == XML_BROKEN) {
            book->package->cut = true;
            break;
        }
        if (event != XML_START || !slice_is(xml_local(&xml), "itemref")) {
            continue;
        }
        struct epub_item *item = find_item(book, package_attribute(book->package, &xml, "idref"));
        if (item && item->part && item->text && !item->read) {
            item->read = true;
            status = write_chapter(book, item->part);
        }
    }
    return status;
}

/* Fonts may be scrambled; when anything else is, only its shop's programs can read it. */
static int check_locks(struct package *package)
{
    struct xml_reader xml;
    int status = package_xml(package, "META-INF/encryption.xml", &xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event == XML_START && slice_is(xml_local(&xml), "EncryptionMethod")) {
            const char *way = package_attribute(package, &xml, "Algorithm");
            if (way && !strstr(way, "obfuscation") && !strstr(way, "font")) {
                package->why = "The book is locked by its shop (DRM)";
                return ERR_FAILED;
            }
        }
    }
    return OK;
}

/* The name of the package document, in the container. */
static int find_package(struct package *package, const char *container, const char **part)
{
    struct xml_reader xml;
    int status = package_xml(package, container, &xml);
    if (status != OK) {
        return status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event == XML_START && slice_is(xml_local(&xml), "rootfile")) {
            const char *path = package_attribute(package, &xml, "full-path");
            *part = path ? package_resolve(package, "", path) : NULL;
            return *part ? OK : ERR_NOTFOUND;
        }
    }
    return ERR_NOTFOUND;
}

int epub_write(struct package *package, const char *part, struct document *document,
               struct buf *out)
{
    struct book book = {.package = package, .out = out};
    const char *root = NULL;
    int status = check_locks(package);
    status = status == OK ? find_package(package, part, &root) : status;
    status = status == OK ? package_properties(package, root, document) : status;
    status = status == OK ? read_items(&book, root) : status;
    return status == OK ? write_spine(&book, root) : status;
}
