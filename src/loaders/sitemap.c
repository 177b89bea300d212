/* Sitemaps and indexes of sitemaps as a list of addresses with their dates; drawings (SVG) as the
 * words that are in them. */
#include "core/limits.h"
#include "documents/markup.h"
#include "html/xml.h"
#include "loaders/bodies.h"

#include <string.h>

/* ---- sitemaps ---- */

/* One address. Each text is in the arena, or NULL. */
struct sitemap_entry {
    const char *address, *date, *title;
};

static const char *take_line(struct arena *arena, struct xml_reader *xml, bool *whole)
{
    struct buf text;
    struct buf line;
    buf_init(&text, LIMIT_URL_BYTES);
    buf_init(&line, LIMIT_URL_BYTES);
    *whole = xml_take(xml, &text, NULL);
    compose_line(&line, text.data);
    buf_done(&text);
    return line.length ? buf_to_arena(&line, arena) : NULL;
}

/* To the end of <url> or <sitemap>. False when the map is broken. */
static bool read_entry(struct arena *arena, struct xml_reader *xml, struct sitemap_entry *entry)
{
    size_t depth = xml->depth;
    bool whole = true;
    enum xml_event event = XML_START;
    while (whole && (event = xml_inside(xml, depth)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(xml);
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "loc") && !entry->address) {
            entry->address = take_line(arena, xml, &whole);
        } else if (slice_is(name, "lastmod")) {
            entry->date = take_line(arena, xml, &whole);
        } else if (slice_is(name, "title") && !entry->title) {
            entry->title = take_line(arena, xml, &whole);
        } else if (slice_is(name, "image") || slice_is(name, "video")) {
            whole = xml_take(xml, NULL, NULL);
        }
    }
    return whole && event == XML_DONE;
}

static void put_entry(struct buf *out, const struct sitemap_entry *entry)
{
    const char *words = entry->title ? entry->title : entry->address;
    if (!entry->address || strpbrk(entry->address, " <>")) {
        return;
    }
    if (entry->title) {
        buf_puts(out, "- [");
        for (const char *at = words; *at; at++) {
            buf_puts(out, strchr("[]\\*`<", *at) ? "\\" : "");
            buf_putc(out, *at);
        }
        buf_printf(out, "](%s)", entry->address);
    } else {
        buf_printf(out, "- <%s>", entry->address);
    }
    buf_printf(out, "%s%s\n", entry->date ? " · " : "", entry->date ? entry->date : "");
}

int sitemap_write(struct arena *arena, const char *text, size_t length, struct document *document)
{
    struct xml_reader xml;
    struct buf list;
    struct buf out;
    size_t count = 0;
    xml_begin(&xml, text, length);
    enum xml_event event = xml_next(&xml);
    while (event == XML_TEXT) {
        event = xml_next(&xml);
    }
    bool index = event == XML_START && slice_is(xml_local(&xml), "sitemapindex");
    if (!index && !(event == XML_START && slice_is(xml_local(&xml), "urlset"))) {
        return ERR_NOTFOUND;
    }
    buf_init(&list, LIMIT_DOCUMENT_BYTES);
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    while ((event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN) {
        struct sitemap_entry entry = {0};
        struct slice name = xml_local(&xml);
        if (event != XML_START || !(slice_is(name, "url") || slice_is(name, "sitemap"))) {
            continue;
        }
        if (count == LIMIT_SITEMAP_ITEMS || !read_entry(arena, &xml, &entry)) {
            event = XML_BROKEN;
            break;
        }
        put_entry(&list, &entry);
        count++;
    }
    document->kind = document->loader = "sitemap";
    document->cut = document->cut || event == XML_BROKEN || buf_error(&list) == ERR_LIMIT;
    buf_printf(&out, "# %s\n\n%zu %s:\n\n", index ? "Index of sitemaps" : "Sitemap", count,
               index ? (count == 1 ? "sitemap" : "sitemaps")
                     : (count == 1 ? "address" : "addresses"));
    buf_append(&out, list.data, list.length);
    buf_done(&list);
    return arena_failed(arena) ? (buf_done(&out), ERR_NOMEM) : compose_done(arena, &out, document);
}

/* ---- drawings ---- */

/* The words of an element, which are a block of their own; what is drawn elsewhere is another word.
 */
static bool take_words(struct xml_reader *xml, struct markup *markup, bool heading)
{
    struct buf text;
    struct buf line;
    struct slice place;
    size_t depth = xml->depth;
    enum xml_event event;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    buf_init(&line, LIMIT_DOCUMENT_BYTES);
    while ((event = xml_inside(xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_TEXT && xml->literal) {
            buf_append(&text, xml->text.data, xml->text.length);
        } else if (event == XML_TEXT) {
            xml_append(&text, xml->text);
        } else if (event == XML_START &&
                   (xml_attribute(xml, "x", &place) || xml_attribute(xml, "dy", &place))) {
            buf_putc(&text, ' ');
        }
    }
    compose_line(&line, text.data);
    if (line.length) {
        markup_plain(markup, line.data);
    }
    if (heading) {
        markup_heading(markup, 1);
    } else {
        markup_paragraph(markup);
    }
    buf_done(&text);
    buf_done(&line);
    return event == XML_DONE;
}

int svg_write(struct arena *arena, const char *text, size_t length, struct document *document)
{
    struct xml_reader xml;
    struct markup markup;
    struct buf out;
    bool whole = true;
    enum xml_event event = XML_TEXT;
    markup_begin(&markup);
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    xml_begin(&xml, text, length);
    while (whole && (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&xml);
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "title")) {
            whole = take_words(&xml, &markup, xml.depth == 2);
        } else if (slice_is(name, "desc") || slice_is(name, "text") || slice_is(name, "p")) {
            whole = take_words(&xml, &markup, false);
        } else if (slice_is(name, "style") || slice_is(name, "script")) {
            whole = xml_take(&xml, NULL, NULL);
        }
    }
    document->cut = document->cut || !whole || event == XML_BROKEN;
    int status = markup_write(&markup, &out, &document->cut);
    if (status != OK || out.length == 0) {
        buf_done(&out);
        return status == OK ? ERR_NOTFOUND : status;
    }
    document->kind = document->loader = "svg";
    return compose_done(arena, &out, document);
}
