/* PPTX: slides in their order, each under its title, with its lists, tables and notes. */
#include "core/limits.h"
#include "documents/formats.h"
#include "documents/markup.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_SPAN 64 /* columns of one cell */

/* What a shape is there for. */
enum shape_place {
    PLACE_NONE, /* a box of its own */
    PLACE_TITLE,
    PLACE_BODY,     /* a list, unless its paragraphs say otherwise */
    PLACE_TEXT,     /* a subtitle */
    PLACE_FURNITURE /* dates, footers, numbers of slides */
};

struct pptx {
    struct package *package;
    struct xml_reader xml;
    struct relations relations; /* of the slide */
    struct markup body;
    struct markup title;
    struct markup *markup; /* one of them */
    enum shape_place place;
    bool notes;  /* the notes of a slide are being read: their body alone counts */
    bool cell;   /* inside a table */
    long number; /* of the next numbered item, */
    long numbered_level;
};

static bool read_shapes(struct pptx *pptx, size_t depth);

/* ---- text ---- */

static bool is_on(const struct xml_reader *xml, const char *name)
{
    struct slice value;
    return xml_local_attribute(xml, name, &value) &&
           (slice_is(value, "1") || slice_is(value, "true"));
}

/* How a run looks and where it leads. */
static bool read_run_properties(struct pptx *pptx)
{
    const struct xml_reader *xml = &pptx->xml;
    struct slice strike;
    size_t depth = xml->depth;
    enum xml_event event;
    unsigned formats = (is_on(xml, "b") ? MARKUP_BOLD : 0) | (is_on(xml, "i") ? MARKUP_ITALIC : 0);
    if (xml_local_attribute(xml, "strike", &strike) && !slice_is(strike, "noStrike")) {
        formats |= MARKUP_STRIKE;
    }
    pptx->markup->wanted = pptx->place == PLACE_TITLE ? 0 : formats;
    while ((event = xml_inside(&pptx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(xml), "hlinkClick")) {
            const char *id = package_attribute(pptx->package, xml, "id");
            const struct relation *relation = id ? relation_find(&pptx->relations, id, NULL) : NULL;
            if (relation && relation->external) {
                markup_link(pptx->markup, relation->target);
            }
        }
    }
    return event == XML_DONE;
}

struct pptx_paragraph {
    long level;
    bool bullet, plain, numbered;
};

static void read_paragraph_mark(struct pptx *pptx, struct pptx_paragraph *paragraph)
{
    struct slice name = xml_local(&pptx->xml);
    if (slice_is(name, "pPr")) {
        paragraph->level = package_number(&pptx->xml, "lvl", 0, MARKUP_LEVELS - 1, 0);
    } else if (slice_is(name, "buNone")) {
        paragraph->plain = true;
    } else if (slice_is(name, "buChar") || slice_is(name, "buBlip")) {
        paragraph->bullet = true;
    } else if (slice_is(name, "buAutoNum")) {
        paragraph->bullet = paragraph->numbered = true;
    }
}

static void end_paragraph(struct pptx *pptx, const struct pptx_paragraph *paragraph)
{
    struct markup *markup = pptx->markup;
    bool item = paragraph->bullet || (pptx->place == PLACE_BODY && !paragraph->plain);
    if (markup->line.length == 0) {
        return;
    }
    if (pptx->place == PLACE_TITLE) {
        markup_link_end(markup);
        markup_plain(markup, " "); /* a title is one line, whatever it is made of */
    } else if (pptx->notes) {
        markup_quote(markup);
    } else if (item && !pptx->cell) {
        bool next =
            paragraph->numbered && markup->depth > 0 && pptx->numbered_level == paragraph->level;
        pptx->number = next ? pptx->number + 1 : 1;
        pptx->numbered_level = paragraph->numbered ? paragraph->level : -1;
        markup_item(markup, paragraph->level, paragraph->numbered, pptx->number);
    } else {
        markup_paragraph(markup);
    }
}

/* A field of a slide's number is furniture. */
static bool read_text(struct pptx *pptx)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_MARKUP_BYTES);
    bool whole = xml_take(&pptx->xml, &text, NULL);
    if (whole && text.length) {
        markup_text(pptx->markup, (struct slice){text.data, text.length}, true);
    }
    markup_link_end(pptx->markup);
    buf_done(&text);
    return whole;
}

static bool read_paragraph(struct pptx *pptx)
{
    struct pptx_paragraph paragraph = {0};
    size_t depth = pptx->xml.depth;
    bool whole = true;
    enum xml_event event = XML_START;
    while (whole && (event = xml_inside(&pptx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&pptx->xml);
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "rPr")) {
            whole = read_run_properties(pptx);
        } else if (slice_is(name, "t")) {
            whole = read_text(pptx);
        } else if (slice_is(name, "br") && pptx->place == PLACE_TITLE) {
            markup_plain(pptx->markup, " ");
        } else if (slice_is(name, "br")) {
            markup_break(pptx->markup);
        } else if (slice_is(name, "r")) {
            pptx->markup->wanted = 0;
        } else if (slice_is(name, "Fallback") || slice_is(name, "endParaRPr")) {
            whole = xml_take(&pptx->xml, NULL, NULL);
        } else {
            read_paragraph_mark(pptx, &paragraph);
        }
    }
    end_paragraph(pptx, &paragraph);
    return whole && event == XML_DONE;
}

/* ---- shapes ---- */

static enum shape_place place_of(const struct xml_reader *xml)
{
    static const struct {
        const char *type;
        enum shape_place place;
    } KNOWN[] = {
        {"title", PLACE_TITLE},   {"ctrTitle", PLACE_TITLE}, {"subTitle", PLACE_TEXT},
        {"dt", PLACE_FURNITURE},  {"ftr", PLACE_FURNITURE},  {"sldNum", PLACE_FURNITURE},
        {"hdr", PLACE_FURNITURE},
    };
    struct slice type;
    if (xml_local_attribute(xml, "type", &type)) {
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
            if (slice_is(type, KNOWN[i].type)) {
                return KNOWN[i].place;
            }
        }
    }
    return PLACE_BODY;
}

/* A cell to its end: one that goes on from another is empty. */
static bool read_cell(struct pptx *pptx, bool head)
{
    char tag[32];
    long span = package_number(&pptx->xml, "gridSpan", 1, MOST_SPAN, 1);
    if (is_on(&pptx->xml, "hMerge")) {
        return xml_take(&pptx->xml, NULL, NULL);
    }
    (void)snprintf(tag, sizeof tag, head ? "<th colspan=%ld>" : "<td colspan=%ld>", span);
    markup_tags(pptx->markup, tag);
    bool whole = read_shapes(pptx, pptx->xml.depth);
    markup_tags(pptx->markup, head ? "</th>" : "</td>");
    return whole;
}

static bool read_table(struct pptx *pptx)
{
    size_t depth = pptx->xml.depth;
    size_t rows = 0;
    bool whole = true;
    enum xml_event event = XML_START;
    markup_tags(pptx->markup, "<table>");
    pptx->cell = true;
    while (whole && (event = xml_inside(&pptx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(&pptx->xml), "tr")) {
            markup_tags(pptx->markup, "<tr>");
            rows++;
        } else if (event == XML_START && slice_is(xml_local(&pptx->xml), "tc")) {
            whole = read_cell(pptx, rows == 1);
        }
    }
    pptx->cell = false;
    markup_tags(pptx->markup, "</table>");
    return whole && event == XML_DONE;
}

/* What begins on a slide: a shape and where it belongs, or text. False when the part is broken. */
static bool read_shape(struct pptx *pptx)
{
    struct slice name = xml_local(&pptx->xml);
    if (slice_is(name, "sp") || slice_is(name, "pic") || slice_is(name, "graphicFrame")) {
        pptx->place = PLACE_NONE;
        pptx->markup = &pptx->body;
    } else if (slice_is(name, "cNvPr") && !pptx->notes) {
        markup_picture(&pptx->body, package_attribute(pptx->package, &pptx->xml, "descr"));
        markup_paragraph(&pptx->body);
    } else if (slice_is(name, "ph")) {
        pptx->place = place_of(&pptx->xml);
        pptx->markup = pptx->place == PLACE_TITLE ? &pptx->title : &pptx->body;
    } else if (slice_is(name, "tbl") && !pptx->cell) {
        return read_table(pptx);
    } else if (slice_is(name, "p")) {
        bool shown = pptx->place != PLACE_FURNITURE && (!pptx->notes || pptx->place == PLACE_BODY);
        return shown ? read_paragraph(pptx) : xml_take(&pptx->xml, NULL, NULL);
    } else if (slice_is(name, "Fallback")) {
        return xml_take(&pptx->xml, NULL, NULL);
    }
    return true;
}

static bool read_shapes(struct pptx *pptx, size_t depth)
{
    enum xml_event event;
    while ((event = xml_inside(&pptx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && !read_shape(pptx)) {
            return false;
        }
    }
    return event == XML_DONE;
}

/* ---- slides ---- */

static int read_notes(struct pptx *pptx)
{
    const struct relation *notes = relation_find(&pptx->relations, NULL, "notesSlide");
    int status = notes ? package_xml(pptx->package, notes->target, &pptx->xml) : ERR_NOTFOUND;
    status =
        status == OK ? package_relations(pptx->package, notes->target, &pptx->relations) : status;
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    pptx->notes = true;
    pptx->markup = &pptx->body;
    size_t before = pptx->body.out.length;
    markup_tags(&pptx->body, "<p><b>Notes:</b></p>");
    size_t begin = pptx->body.out.length;
    pptx->package->cut = !read_shapes(pptx, 0) || pptx->package->cut;
    if (pptx->body.out.length == begin && buf_error(&pptx->body.out) == OK) {
        pptx->body.out.length = before; /* there are none */
    }
    pptx->notes = false;
    return OK;
}

static int write_slide(struct pptx *pptx, const char *part, size_t number, struct buf *out)
{
    struct package *package = pptx->package;
    struct slice shown;
    struct markup slide;
    int status = package_xml(package, part, &pptx->xml);
    status = status == OK ? package_relations(package, part, &pptx->relations) : status;
    if (status != OK) {
        package->cut = package->cut || status == ERR_NOTFOUND;
        return status == ERR_NOTFOUND ? OK : status;
    }
    markup_begin(&pptx->body);
    markup_begin(&pptx->title);
    pptx->markup = &pptx->body;
    enum xml_event event = xml_next(&pptx->xml);
    while (event == XML_TEXT) {
        event = xml_next(&pptx->xml);
    }
    bool hidden = event == XML_START && xml_local_attribute(&pptx->xml, "show", &shown) &&
                  slice_is(shown, "0");
    package->cut = event != XML_START || !read_shapes(pptx, 0) || package->cut;
    status = read_notes(pptx);
    markup_begin(&slide);
    if (pptx->title.line.length) {
        markup_link_end(&pptx->title);
        buf_append(&slide.line, pptx->title.line.data, pptx->title.line.length);
    } else {
        buf_printf(&slide.line, "Slide %zu", number);
    }
    buf_puts(&slide.line, hidden ? " (hidden)" : "");
    markup_heading(&slide, 2);
    markup_append(&slide, &pptx->body);
    markup_done(&pptx->title);
    buf_puts(out, out->length ? "\n" : "");
    int written = markup_write(&slide, out, &package->cut);
    return status == OK ? written : status;
}

int pptx_write(struct package *package, const char *part, struct document *document,
               struct buf *out)
{
    static const char UNNAMED[] = "PowerPoint Presentation"; /* what it is called by default */
    struct relations relations;
    struct xml_reader xml;
    size_t count = 0;
    struct pptx *pptx = arena_zalloc(package->arena, sizeof *pptx);
    int status = pptx ? package_properties(package, "docProps/core.xml", document) : ERR_NOMEM;
    status = status == OK ? package_relations(package, part, &relations) : status;
    status = status == OK ? package_xml(package, part, &xml) : status;
    if (status != OK) {
        return status;
    }
    pptx->package = package;
    if (document->title && strcmp(document->title, UNNAMED) == 0) {
        document->title = NULL;
    }
    for (enum xml_event event; status == OK && (event = xml_next(&xml)) != XML_DONE;) {
        if (event == XML_BROKEN || count == LIMIT_DOCUMENT_SLIDES) {
            package->cut = true;
            break;
        }
        const char *id = event == XML_START && slice_is(xml_local(&xml), "sldId")
                             ? package_attribute(package, &xml, "id")
                             : NULL;
        const struct relation *slide = id ? relation_find(&relations, id, NULL) : NULL;
        if (slide && slide->target && !slide->external && !slide->read) {
            relations.items[slide - relations.items].read = true;
            status = write_slide(pptx, slide->target, ++count, out);
        }
    }
    return status;
}
