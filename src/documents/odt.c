/* ODT: the paragraphs, lists, tables and notes of OpenDocument texts. Comments, what was deleted
 * with tracking, and the table of contents, which repeats the headings, are not part of the text.
 */
#include "core/limits.h"
#include "documents/formats.h"
#include "documents/markup.h"

#include <stdlib.h>
#include <strings.h>

#define MOST_ANCESTORS 32   /* of a style; some inherit in a circle */
#define MOST_REPEATED  64   /* cells that stand for one; more of them are how a sheet ends */
#define MOST_SPACES    1000 /* in one element */

enum odt_role { ODT_UNKNOWN, ODT_TEXT, ODT_TITLE, ODT_CODE, ODT_QUOTE };

struct odt_style {
    const char *name, *parent;
    unsigned formats, without; /* that it gives and takes */
    enum odt_role role;
    bool hidden;
    bool ordered[MARKUP_LEVELS]; /* of a style of lists */
};

struct odt {
    struct package *package;
    struct xml_reader xml;
    struct odt_style *styles;
    size_t style_count, style_capacity;
    struct markup *markup;
    struct markup notes;
    struct markup boxes; /* which follow the paragraph that they hang on */
    size_t note_count;
    const char *list; /* the style of the list that is being read */
    long list_depth;
    long numbers[MARKUP_LEVELS]; /* of the next items */
    bool item_begins;
    long below; /* how many levels headings go down: 1 below a title */
};

static bool read_blocks(struct odt *odt, size_t depth);
static bool read_inline(struct odt *odt, unsigned formats);

/* ---- styles ---- */

static bool value_is(const struct xml_reader *xml, const char *name, const char *wanted)
{
    struct slice value;
    return xml_local_attribute(xml, name, &value) && slice_is(value, wanted);
}

static void read_text_properties(const struct xml_reader *xml, struct odt_style *style)
{
    static const struct {
        const char *name, *yes, *no;
        unsigned format;
    } KNOWN[] = {
        {"font-weight", "bold", "normal", MARKUP_BOLD},
        {"font-style", "italic", "normal", MARKUP_ITALIC},
        {"text-line-through-style", "solid", "none", MARKUP_STRIKE},
    };
    struct slice value;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        style->formats |= value_is(xml, KNOWN[i].name, KNOWN[i].yes) ? KNOWN[i].format : 0;
        style->without |= value_is(xml, KNOWN[i].name, KNOWN[i].no) ? KNOWN[i].format : 0;
    }
    if (xml_local_attribute(xml, "text-position", &value) && value.length > 3) {
        style->formats |= memcmp(value.data, "super", 3) == 0 ? MARKUP_SUPER
                          : memcmp(value.data, "sub", 3) == 0 ? MARKUP_SUB
                                                              : 0;
    }
    if (xml_local_attribute(xml, "font-name", &value) &&
        (memmem(value.data, value.length, "Mono", 4) ||
         memmem(value.data, value.length, "Courier", 7))) {
        style->formats |= MARKUP_CODE;
    }
    style->hidden = style->hidden || value_is(xml, "display", "none");
}

static enum odt_role role_of(const char *name)
{
    static const struct {
        const char *name;
        enum odt_role role;
    } KNOWN[] = {
        {"Title", ODT_TITLE},
        {"Preformatted_20_Text", ODT_CODE},
        {"Preformatted Text", ODT_CODE},
        {"Quotations", ODT_QUOTE},
    };
    for (size_t i = 0; name && i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcmp(name, KNOWN[i].name) == 0) {
            return KNOWN[i].role;
        }
    }
    return ODT_UNKNOWN;
}

/* A style of text or of lists, to its end. False when the part is broken. */
static bool read_style(struct odt *odt, struct odt_style *style)
{
    struct xml_reader *xml = &odt->xml;
    size_t depth = xml->depth;
    enum xml_event event;
    style->name = package_attribute(odt->package, xml, "name");
    style->parent = package_attribute(odt->package, xml, "parent-style-name");
    style->role = role_of(style->name);
    while ((event = xml_inside(xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event != XML_START) {
            continue;
        }
        if (slice_is(xml_local(xml), "text-properties")) {
            read_text_properties(xml, style);
        } else if (slice_is(xml_local(xml), "list-level-style-number")) {
            long level = package_number(xml, "level", 1, MARKUP_LEVELS, 1);
            style->ordered[level - 1] = true;
        }
    }
    return event == XML_DONE;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct odt_style *)left)->name, ((const struct odt_style *)right)->name);
}

/* All styles up to the text, or to the end. OK or ERR_NOMEM. */
static int read_styles(struct odt *odt)
{
    struct xml_reader *xml = &odt->xml;
    for (enum xml_event event; (event = xml_next(xml)) != XML_DONE && event != XML_BROKEN;) {
        struct slice name = xml_local(xml);
        if (event == XML_START && slice_is(name, "body")) {
            break;
        }
        if (event != XML_START || !(slice_is(name, "style") || slice_is(name, "list-style")) ||
            odt->style_count == LIMIT_DOCUMENT_STYLES) {
            continue;
        }
        struct odt_style style = {.name = NULL};
        if (!read_style(odt, &style)) {
            break;
        }
        odt->styles = arena_grow(odt->package->arena, odt->styles, odt->style_count,
                                 &odt->style_capacity, sizeof style);
        if (!odt->styles) {
            return ERR_NOMEM;
        }
        odt->styles[odt->style_count] = style;
        odt->style_count += style.name != NULL;
    }
    if (odt->style_count) {
        qsort(odt->styles, odt->style_count, sizeof *odt->styles, by_name);
    }
    return OK;
}

static const struct odt_style *look_up(const struct odt *odt, const char *name)
{
    struct odt_style key = {.name = name};
    return name && odt->style_count
               ? bsearch(&key, odt->styles, odt->style_count, sizeof key, by_name)
               : NULL;
}

/* The style of the element that just started, with what it inherits. */
static struct odt_style style_here(struct odt *odt)
{
    struct odt_style found = {.role = ODT_UNKNOWN};
    const char *name = package_attribute(odt->package, &odt->xml, "style-name");
    found.role = role_of(name);
    for (int i = 0; name && i < MOST_ANCESTORS; i++) {
        const struct odt_style *style = look_up(odt, name);
        if (!style) {
            break;
        }
        found.formats |= style->formats & ~found.without;
        found.without |= style->without;
        found.hidden = found.hidden || style->hidden;
        name = style->parent;
        found.role = found.role ? found.role : style->role ? style->role : role_of(name);
    }
    return found;
}

/* ---- inside paragraphs ---- */

static bool read_span(struct odt *odt, unsigned formats)
{
    struct odt_style style = style_here(odt);
    if (style.hidden) {
        return xml_take(&odt->xml, NULL, NULL);
    }
    return read_inline(odt, (formats | style.formats) & ~style.without);
}

static bool read_link(struct odt *odt, unsigned formats)
{
    const char *address = package_attribute(odt->package, &odt->xml, "href");
    if (address && strstr(address, "://")) {
        markup_link(odt->markup, address);
    }
    bool whole = read_inline(odt, formats);
    markup_link_end(odt->markup);
    return whole;
}

static bool read_spaces(struct odt *odt, unsigned formats)
{
    long count = package_number(&odt->xml, "c", 1, MOST_SPACES, 1);
    odt->markup->wanted = formats;
    while (count-- > 0) {
        markup_plain(odt->markup, " ");
    }
    return xml_take(&odt->xml, NULL, NULL);
}

static bool read_tab(struct odt *odt, unsigned formats)
{
    odt->markup->wanted = formats;
    markup_plain(odt->markup, "\t");
    return xml_take(&odt->xml, NULL, NULL);
}

static bool read_break(struct odt *odt, unsigned formats)
{
    (void)formats;
    markup_break(odt->markup);
    return xml_take(&odt->xml, NULL, NULL);
}

/* Blocks that stand elsewhere than where they are written: notes and boxes. */
static bool read_apart(struct odt *odt, struct markup *inside)
{
    struct odt outside = {.markup = odt->markup,
                          .list = odt->list,
                          .list_depth = odt->list_depth,
                          .item_begins = odt->item_begins};
    markup_begin(inside);
    odt->markup = inside;
    odt->list_depth = 0;
    bool whole = read_blocks(odt, odt->xml.depth);
    odt->markup = outside.markup;
    odt->list = outside.list;
    odt->list_depth = outside.list_depth;
    odt->item_begins = outside.item_begins;
    return whole;
}

static bool read_note(struct odt *odt, unsigned formats)
{
    (void)formats;
    struct markup inside;
    const char *name = arena_printf(odt->package->arena, "%zu", ++odt->note_count);
    if (!name) {
        return false;
    }
    markup_reference(odt->markup, "note", name);
    bool whole = read_apart(odt, &inside);
    markup_note(&odt->notes, "note", name, &inside);
    return whole;
}

static bool read_box(struct odt *odt, unsigned formats)
{
    (void)formats;
    struct markup inside;
    bool whole = read_apart(odt, &inside);
    markup_append(&odt->boxes, &inside);
    return whole;
}

/* What is said of a picture, in <svg:title> or <svg:desc>; <text:title> is a field. */
static bool read_picture_words(struct odt *odt, unsigned formats)
{
    if (odt->xml.name.length < 4 || memcmp(odt->xml.name.data, "svg:", 4) != 0) {
        return read_inline(odt, formats);
    }
    struct buf words;
    buf_init(&words, LIMIT_URL_BYTES);
    bool whole = xml_take(&odt->xml, &words, NULL);
    markup_picture(odt->markup, words.data);
    buf_done(&words);
    return whole;
}

static bool pass_inside(struct odt *odt, unsigned formats)
{
    (void)formats;
    return xml_take(&odt->xml, NULL, NULL);
}

/* What is not here is entered and has no meaning of its own. */
static const struct {
    const char *name;
    bool (*read)(struct odt *odt, unsigned formats);
} INSIDE[] = {
    {"span", read_span},          {"a", read_link},
    {"s", read_spaces},           {"tab", read_tab},
    {"line-break", read_break},   {"note", read_note},
    {"text-box", read_box},       {"title", read_picture_words},
    {"desc", read_picture_words}, {"note-citation", pass_inside},
    {"annotation", pass_inside},  {"ruby-text", pass_inside},
    {"binary-data", pass_inside},
};

/* The element to its end. False when the part is broken. */
static bool read_inline(struct odt *odt, unsigned formats)
{
    size_t depth = odt->xml.depth;
    enum xml_event event;
    while ((event = xml_inside(&odt->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_TEXT) {
            odt->markup->wanted = formats;
            markup_text(odt->markup, odt->xml.text, odt->xml.literal);
        }
        for (size_t i = 0; event == XML_START && i < sizeof INSIDE / sizeof *INSIDE; i++) {
            if (slice_is(xml_local(&odt->xml), INSIDE[i].name)) {
                if (!INSIDE[i].read(odt, formats)) {
                    return false;
                }
                break;
            }
        }
    }
    return event == XML_DONE;
}

/* ---- blocks ---- */

static void put_item(struct odt *odt)
{
    size_t level = (size_t)(odt->list_depth < MARKUP_LEVELS ? odt->list_depth : MARKUP_LEVELS) - 1;
    const struct odt_style *style = look_up(odt, odt->list);
    if (odt->item_begins && odt->markup->line.length) {
        markup_item(odt->markup, (long)level, style && style->ordered[level],
                    odt->numbers[level]++);
        odt->item_begins = false;
    } else {
        markup_continue(odt->markup);
    }
}

static void put_boxes(struct odt *odt)
{
    if (odt->boxes.out.length) {
        struct markup boxes = odt->boxes;
        markup_begin(&odt->boxes);
        markup_tags(odt->markup, "");
        markup_append(odt->markup, &boxes);
    }
}

static bool read_paragraph(struct odt *odt)
{
    struct odt_style style = style_here(odt);
    if (style.hidden) {
        return xml_take(&odt->xml, NULL, NULL);
    }
    bool plain = style.role == ODT_UNKNOWN || style.role == ODT_TEXT;
    bool whole = read_inline(odt, plain ? style.formats : 0);
    switch (style.role) {
    case ODT_TITLE:
        markup_heading(odt->markup, odt->below ? 2 : 1);
        odt->below = 1;
        break;
    case ODT_CODE:
        markup_code(odt->markup);
        break;
    case ODT_QUOTE:
        markup_quote(odt->markup);
        break;
    case ODT_UNKNOWN:
    case ODT_TEXT:
        if (odt->list_depth > 0) {
            put_item(odt);
        } else {
            markup_paragraph(odt->markup);
        }
        break;
    }
    put_boxes(odt);
    return whole;
}

static bool read_heading(struct odt *odt)
{
    long level = package_number(&odt->xml, "outline-level", 1, 10, 1);
    bool whole = read_inline(odt, 0);
    markup_heading(odt->markup, level + odt->below);
    put_boxes(odt);
    return whole;
}

static bool read_list(struct odt *odt)
{
    const char *outer = odt->list;
    const char *own = package_attribute(odt->package, &odt->xml, "style-name");
    size_t level = (size_t)(odt->list_depth < MARKUP_LEVELS ? odt->list_depth : MARKUP_LEVELS - 1);
    odt->list = own ? own : outer;
    if (!value_is(&odt->xml, "continue-numbering", "true")) {
        odt->numbers[level] = 1;
    }
    odt->list_depth++;
    bool whole = read_blocks(odt, odt->xml.depth);
    odt->list_depth--;
    odt->list = outer;
    return whole;
}

static bool read_item(struct odt *odt)
{
    size_t level = (size_t)(odt->list_depth < MARKUP_LEVELS ? odt->list_depth : MARKUP_LEVELS);
    if (level > 0) {
        odt->numbers[level - 1] =
            package_number(&odt->xml, "start-value", 0, 1000000, odt->numbers[level - 1]);
    }
    odt->item_begins = true;
    return read_blocks(odt, odt->xml.depth);
}

/* ---- tables ---- */

/* A cell to its end, and as often as it stands for more than one that is not empty. */
static bool read_cell(struct odt *odt, bool head)
{
    long count = package_number(&odt->xml, "number-columns-repeated", 1, MOST_REPEATED, 1);
    struct markup *markup = odt->markup;
    markup_tags(markup, head ? "<th>" : "<td>");
    size_t begin = markup->out.length;
    long list_depth = odt->list_depth;
    odt->list_depth = 0;
    bool whole = read_blocks(odt, odt->xml.depth);
    odt->list_depth = list_depth;
    markup_tags(markup, head ? "</th>" : "</td>");
    if (buf_error(&markup->out) != OK) {
        return whole;
    }
    const char *copy =
        arena_strndup(odt->package->arena, markup->out.data + begin, markup->out.length - begin);
    while (copy && --count > 0) {
        markup_tags(markup, head ? "<th>" : "<td>");
        markup_tags(markup, copy);
    }
    return whole && copy;
}

static bool read_table(struct odt *odt)
{
    size_t depth = odt->xml.depth;
    size_t rows = 0;
    bool whole = true;
    enum xml_event event = XML_START;
    markup_tags(odt->markup, "<table>");
    while (whole && (event = xml_inside(&odt->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&odt->xml);
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "table-row")) {
            markup_tags(odt->markup, "<tr>");
            rows++;
        } else if (slice_is(name, "table-cell") || slice_is(name, "covered-table-cell")) {
            whole = read_cell(odt, rows == 1);
        }
    }
    markup_tags(odt->markup, "</table>");
    return whole && event == XML_DONE;
}

/* ---- all of it ---- */

static bool pass(struct odt *odt)
{
    return xml_take(&odt->xml, NULL, NULL);
}

/* A picture, or a box, that hangs on a page rather than on a paragraph. */
static bool read_frame(struct odt *odt)
{
    bool whole = read_inline(odt, 0);
    markup_paragraph(odt->markup);
    put_boxes(odt);
    return whole;
}

static bool read_blocks(struct odt *odt, size_t depth)
{
    static const struct {
        const char *name;
        bool (*read)(struct odt *odt);
    } BLOCKS[] = {
        {"p", read_paragraph},     {"h", read_heading},     {"list", read_list},
        {"list-item", read_item},  {"table", read_table},   {"frame", read_frame},
        {"tracked-changes", pass}, {"annotation", pass},    {"table-of-content", pass},
        {"forms", pass},           {"note-citation", pass}, {"index-title-template", pass},
        {"binary-data", pass},
    };
    enum xml_event event;
    while ((event = xml_inside(&odt->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        for (size_t i = 0; event == XML_START && i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
            if (slice_is(xml_local(&odt->xml), BLOCKS[i].name)) {
                if (!BLOCKS[i].read(odt)) {
                    return false;
                }
                break;
            }
        }
    }
    return event == XML_DONE;
}

static int write_text(struct odt *odt, const char *part, struct buf *out)
{
    struct package *package = odt->package;
    struct markup text;
    int status = package_xml(package, "styles.xml", &odt->xml);
    status = status == OK ? read_styles(odt) : status;
    if (status != OK && status != ERR_NOTFOUND) {
        return status;
    }
    status = package_xml(package, part, &odt->xml);
    status = status == OK ? read_styles(odt) : status;
    if (status != OK) {
        return status;
    }
    markup_begin(&text);
    odt->markup = &text;
    package->cut = !read_blocks(odt, 0) || package->cut;
    odt->markup = NULL;
    if (odt->notes.out.length) {
        struct markup notes = odt->notes;
        markup_begin(&odt->notes);
        markup_tags(&text, "<section class=footnotes><ol>");
        markup_append(&text, &notes);
        markup_tags(&text, "</ol></section>");
    }
    return markup_write(&text, out, &package->cut);
}

int odt_write(struct package *package, const char *part, struct document *document, struct buf *out)
{
    struct odt *odt = arena_zalloc(package->arena, sizeof *odt);
    if (!odt) {
        return ERR_NOMEM;
    }
    odt->package = package;
    markup_begin(&odt->notes);
    markup_begin(&odt->boxes);
    int status = package_properties(package, "meta.xml", document);
    status = status == OK ? write_text(odt, part, out) : status;
    markup_done(&odt->notes);
    markup_done(&odt->boxes);
    return status;
}
