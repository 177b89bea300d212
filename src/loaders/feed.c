/* RSS and Atom: one table of elements for both, since they mean the same. */
#include "html/charset.h"
#include "html/xml.h"
#include "loaders/bodies.h"
#include "text/text.h"

#include <stdlib.h>

/* Elements and what they hold; of those that mean the same, the one with the lower rank counts. */
static const struct {
    const char *name;
    enum feed_field field;
    int rank;
} ELEMENTS[] = {
    {"title", FEED_TITLE, 1},        {"link", FEED_LINK, 1},
    {"guid", FEED_LINK, 2},          {"id", FEED_LINK, 3},
    {"pubDate", FEED_DATE, 1},       {"published", FEED_DATE, 1},
    {"dc:date", FEED_DATE, 2},       {"updated", FEED_DATE, 3},
    {"lastBuildDate", FEED_DATE, 4}, {"author", FEED_AUTHOR, 1},
    {"dc:creator", FEED_AUTHOR, 2},  {"description", FEED_SUMMARY, 1},
    {"summary", FEED_SUMMARY, 1},    {"subtitle", FEED_SUMMARY, 1},
    {"tagline", FEED_SUMMARY, 2},    {"content:encoded", FEED_SUMMARY, 3},
    {"content", FEED_SUMMARY, 3},    {"source", FEED_SITE, 1},
};

struct feed_parser {
    struct xml_reader reader;
    struct arena *arena;
    struct feed *feed;
    size_t prefix; /* of the elements' names, where the root has one ("atom:feed") */
};

/* The element's name without the root's own prefix. */
static struct slice plain_name(const struct feed_parser *parser)
{
    struct slice name = parser->reader.name;
    const char *colon = memchr(name.data, ':', name.length);
    if (parser->prefix && colon && (size_t)(colon - name.data) + 1 == parser->prefix) {
        name.data += parser->prefix;
        name.length -= parser->prefix;
    }
    return name;
}

/* A copy without the white space around it; NULL where nothing is left. */
static const char *trimmed(struct arena *arena, struct slice text)
{
    while (text.length > 0 && strchr(" \t\r\n", text.data[text.length - 1])) {
        text.length--;
    }
    while (text.length > 0 && strchr(" \t\r\n", *text.data)) {
        text.data++;
        text.length--;
    }
    return text.length > 0 ? slice_copy(arena, text) : NULL;
}

/* The same of a buffer, which ends. */
static const char *trimmed_buf(struct arena *arena, struct buf *buf)
{
    const char *copy = trimmed(arena, (struct slice){buf->data, buf->length});
    buf_done(buf);
    return copy;
}

/* The address in an attribute; NULL where there is none. */
static const char *address_value(struct feed_parser *parser, const char *name)
{
    struct slice address;
    struct buf text;
    if (!xml_attribute(&parser->reader, name, &address)) {
        return NULL;
    }
    buf_init(&text, LIMIT_URL_BYTES);
    xml_append(&text, address);
    return trimmed_buf(parser->arena, &text);
}

/* An Atom link has its address in an attribute, and only some lead to the page. */
static const char *link_value(struct feed_parser *parser)
{
    struct slice relation;
    const char *address = address_value(parser, "href");
    bool other = address && xml_attribute(&parser->reader, "rel", &relation) &&
                 !slice_is(relation, "alternate");
    return other ? "" : address;
}

/* Reads an element to its end: its text, or where it holds markup of its own (XHTML), that. */
static bool take_value(struct feed_parser *parser, const char **value)
{
    struct slice type;
    struct slice inside;
    bool markup = xml_attribute(&parser->reader, "type", &type) && slice_is(type, "xhtml");
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    bool whole = xml_take(&parser->reader, &text, &inside);
    if (whole) {
        *value = trimmed(parser->arena, markup ? inside : (struct slice){text.data, text.length});
    }
    buf_done(&text);
    return whole;
}

/* An author is a text in RSS and a person with a name, an address and more in Atom. */
static bool take_author(struct feed_parser *parser, const char **value)
{
    struct buf text;
    struct buf name;
    buf_init(&text, LIMIT_URL_BYTES);
    buf_init(&name, LIMIT_URL_BYTES);
    bool whole = true;
    enum xml_event event = xml_next(&parser->reader);
    while (whole && event != XML_END) {
        if (event == XML_TEXT) {
            xml_append(&text, parser->reader.text);
        } else if (event == XML_START) {
            bool is_name = slice_is(plain_name(parser), "name");
            whole = xml_take(&parser->reader, is_name ? &name : NULL, NULL);
        } else {
            whole = false;
        }
        event = whole ? xml_next(&parser->reader) : XML_BROKEN;
    }
    *value = trimmed_buf(parser->arena, name.length ? &name : &text);
    buf_done(&text);
    buf_done(&name);
    return whole;
}

/* An element inside the feed or an item: stored where it is one that we know. False when the feed
 * is broken. */
static bool take_element(struct feed_parser *parser, struct feed_record *record)
{
    struct slice name = plain_name(parser);
    for (size_t i = 0; i < sizeof ELEMENTS / sizeof *ELEMENTS; i++) {
        if (!slice_is(name, ELEMENTS[i].name)) {
            continue;
        }
        enum feed_field field = ELEMENTS[i].field;
        const char *value = field == FEED_LINK   ? link_value(parser)
                            : field == FEED_SITE ? address_value(parser, "url")
                                                 : NULL;
        const char *written = NULL;
        if (!(field == FEED_AUTHOR ? take_author : take_value)(parser, &written)) {
            return false;
        }
        value = value || field == FEED_SITE ? value : written;
        bool better = !record->values[field] || ELEMENTS[i].rank < record->ranks[field];
        if (value && *value && better) {
            record->values[field] = value;
            record->ranks[field] = ELEMENTS[i].rank;
        }
        return true;
    }
    return xml_take(&parser->reader, NULL, NULL);
}

/* Reads an item to its end. False when the feed is broken. */
static bool take_item(struct feed_parser *parser)
{
    struct feed_record record = {0};
    struct feed *feed = parser->feed;
    if (feed->count == LIMIT_FEED_ITEMS) {
        feed->cut = true;
        return xml_take(&parser->reader, NULL, NULL);
    }
    for (;;) {
        enum xml_event event = xml_next(&parser->reader);
        if (event == XML_END) {
            break;
        }
        if (event == XML_BROKEN || event == XML_DONE ||
            (event == XML_START && !take_element(parser, &record))) {
            return false;
        }
    }
    feed->items[feed->count++] = record;
    return true;
}

/* Everything below the root. A channel is only entered: its elements are the feed's. False when the
 * feed is broken. */
static bool take_feed(struct feed_parser *parser)
{
    for (;;) {
        enum xml_event event = xml_next(&parser->reader);
        struct slice name = plain_name(parser);
        if (event == XML_DONE || event == XML_BROKEN) {
            return event == XML_DONE;
        }
        if (event != XML_START || slice_is(name, "channel")) {
            continue;
        }
        bool item = slice_is(name, "item") || slice_is(name, "entry");
        if (!(item ? take_item(parser) : take_element(parser, &parser->feed->about))) {
            return false;
        }
    }
}

int feed_parse(struct arena *arena, const char *text, size_t length, struct feed *feed)
{
    struct feed_parser parser = {.arena = arena, .feed = feed};
    memset(feed, 0, sizeof *feed);
    xml_begin(&parser.reader, text, length);
    enum xml_event event = xml_next(&parser.reader);
    while (event == XML_TEXT) {
        event = xml_next(&parser.reader);
    }
    if (event != XML_START) {
        return ERR_NOTFOUND;
    }
    struct slice name = parser.reader.name;
    const char *colon = memchr(name.data, ':', name.length);
    if (colon && !slice_is(name, "rdf:RDF")) {
        parser.prefix = (size_t)(colon - name.data) + 1;
        name = plain_name(&parser);
    }
    if (!slice_is(name, "rss") && !slice_is(name, "feed") && !slice_is(name, "rdf:RDF") &&
        !slice_is(name, "RDF")) {
        return ERR_NOTFOUND;
    }
    feed->cut = !take_feed(&parser) || feed->cut;
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* ---- as Markdown ---- */

const char *feed_day(struct arena *arena, const char *date)
{
    static const char MONTHS[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    if (!date) {
        return NULL;
    }
    if (strlen(date) >= 10 && date[4] == '-' && date[7] == '-') {
        return arena_strndup(arena, date, 10);
    }
    /* "Tue, 10 Jun 2003 04:00:00 GMT"; the name of the day may be missing. */
    const char *at = date + strcspn(date, "0123456789");
    char *rest;
    long day = strtol(at, &rest, 10);
    while (*rest == ' ' || *rest == '-') {
        rest++;
    }
    for (int month = 0; month < 12 && strlen(rest) > 3; month++) {
        if (strncasecmp(rest, MONTHS + month * 3, 3) == 0) {
            const char *year_at = rest + strcspn(rest, "0123456789");
            long year = strtol(year_at, NULL, 10);
            year += year < 70 ? 2000 : year < 100 ? 1900 : 0;
            return day >= 1 && day <= 31 && year < 10000
                       ? arena_printf(arena, "%04ld-%02d-%02ld", year, month + 1, day)
                       : date;
        }
    }
    return date;
}

/* HTML of any length as one line of at most so many characters. */
static int write_summary(struct arena *arena, struct buf *out, const char *html, const char *url,
                         const char *before)
{
    struct buf markdown;
    struct buf line;
    buf_init(&markdown, LIMIT_DOCUMENT_BYTES);
    buf_init(&line, LIMIT_DOCUMENT_BYTES);
    int status = compose_html(arena, &markdown, html, url);
    compose_line(&line, markdown.data);
    if (line.length > 0) {
        size_t most = text_prefix(line.data, line.length, LIMIT_FEED_SUMMARY_CHARS);
        bool cut = most < line.length;
        while (cut && most > 0 && line.data[most - 1] != ' ') {
            most--;
        }
        most = most == 0 ? text_prefix(line.data, line.length, LIMIT_FEED_SUMMARY_CHARS) : most;
        buf_puts(out, before);
        buf_append(out, line.data, most);
        buf_puts(out, cut ? "…\n" : "\n");
    }
    buf_done(&markdown);
    buf_done(&line);
    return status;
}

/* An absolute address, or NULL for what is none (a guid may be anything). */
static const char *absolute(struct arena *arena, const char *link, const char *base)
{
    struct url base_url;
    struct url url;
    const char *problem;
    if (!link) {
        return NULL;
    }
    if (base && url_parse(arena, base, &base_url, &problem) == OK) {
        return url_resolve(arena, &base_url, link, &url, &problem) == OK ? url.text : NULL;
    }
    return url_parse(arena, link, &url, &problem) == OK ? url.text : NULL;
}

static int write_item(struct arena *arena, struct buf *out, const char *const *values,
                      const char *url)
{
    const char *link = absolute(arena, values[FEED_LINK], url);
    const char *title = values[FEED_TITLE] ? values[FEED_TITLE] : link ? link : "Untitled";
    buf_puts(out, link ? "- [" : "- **");
    compose_line(out, title);
    buf_printf(out, link ? "](%s)" : "**%s", link ? link : "");
    const char *const facts[] = {feed_day(arena, values[FEED_DATE]), values[FEED_AUTHOR]};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        buf_puts(out, facts[i] ? " · " : "");
        compose_line(out, facts[i]);
    }
    buf_putc(out, '\n');
    return write_summary(arena, out, values[FEED_SUMMARY], url, "  ");
}

int feed_write(struct arena *arena, const struct feed *feed, const char *url,
               struct document *document)
{
    struct buf out;
    int status = OK;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "feed";
    document->loader = "feed";
    document->title = feed->about.values[FEED_TITLE];
    document->published = feed_day(arena, feed->about.values[FEED_DATE]);
    document->cut = document->cut || feed->cut;
    compose_heading(&out, "#", document->title ? document->title : "Feed");
    if (feed->about.values[FEED_SUMMARY]) {
        status = write_summary(arena, &out, feed->about.values[FEED_SUMMARY], url, "");
        buf_putc(&out, '\n');
    }
    for (size_t i = 0; i < feed->count && status == OK; i++) {
        status = write_item(arena, &out, feed->items[i].values, url);
    }
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    if (feed->count == 0) {
        buf_puts(&out, "There are no items in this feed.\n");
    }
    return compose_done(arena, &out, document);
}

/* XML may name its encoding itself; where the server names none, that counts. */
static const char *type_of(struct arena *arena, const struct fetch_response *fetched)
{
    const char *type = fetched->content_type;
    size_t most = fetched->body_length < 256 ? fetched->body_length : 256;
    const char *close = memmem(fetched->body, most, "?>", 2);
    if ((type && strcasestr(type, "charset")) || !close || !strstr(fetched->body, "<?xml")) {
        return type;
    }
    const char *encoding = memmem(fetched->body, (size_t)(close - fetched->body), "encoding=", 9);
    if (!encoding) {
        return type;
    }
    const char *name = encoding + 10;
    return arena_printf(arena, "text/xml; charset=%.*s", (int)strcspn(name, "\"'? "), name);
}

int feed_decode(struct call *call, const struct source_response *response,
                struct charset_text *text)
{
    const struct fetch_response *fetched = &response->fetched;
    struct charset_hints hints = {type_of(call_arena(call), fetched), NULL, fetched->url};
    return charset_decode(call_arena(call), fetched->body, fetched->body_length, &hints, text);
}

int feed_load(struct call *call, const struct source_response *response, struct document *document)
{
    struct arena *arena = call_arena(call);
    struct charset_text text;
    struct feed *feed = arena_alloc(arena, sizeof *feed);
    int status = feed ? feed_decode(call, response, &text) : ERR_NOMEM;
    if (status == OK) {
        status = feed_parse(arena, text.bytes, text.length, feed);
    }
    return status == OK ? feed_write(arena, feed, response->fetched.url, document) : status;
}
