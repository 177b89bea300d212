/* DOCX: the paragraphs, tables and notes of Word's documents. What was deleted with tracking,
 * hidden text, headers, footers, comments and the table of contents, which repeats the headings,
 * are not part of the text. */
#include "core/limits.h"
#include "documents/docx_styles.h"
#include "documents/formats.h"
#include "documents/markup.h"

#include <stdio.h>
#include <strings.h>

#define MOST_FIELDS 16 /* inside of each other */
#define MOST_SPAN   64 /* columns of one cell */

/* A field is an instruction, then what came of it: a link, a number, a date. */
struct field {
    bool result; /* what follows is the result */
    bool link;   /* it is a link that stands open */
};

/* The paragraph that is being read. */
struct docx_paragraph {
    struct docx_style style;
    unsigned formats; /* of the run */
    bool hidden;
    const char *picture; /* what is said of the one that is being read */
};

struct docx {
    struct package *package;
    struct xml_reader xml;
    struct relations relations; /* of the part that is being read */
    struct docx_styles styles;
    struct buf *out;
    struct markup *markup;
    struct markup boxes; /* texts of boxes, which follow the paragraph that they hang on */
    struct docx_paragraph paragraph;
    struct field fields[MOST_FIELDS];
    size_t field_count, field_excess;
    bool noted; /* the text refers to notes */
    long below; /* how many levels headings go down: 1 below a title */
};

static bool read_blocks(struct docx *docx, size_t depth);

/* ---- parts of runs ---- */

static bool is_instruction(const struct docx *docx)
{
    return docx->field_excess > 0 ||
           (docx->field_count > 0 && !docx->fields[docx->field_count - 1].result);
}

/* HYPERLINK "https://example.org/" \o "words" */
static void read_instruction(struct docx *docx, const char *text)
{
    text += strspn(text, " \t\r\n");
    if (strncasecmp(text, "HYPERLINK", 9) != 0 || docx->field_count == 0 || docx->field_excess) {
        return;
    }
    const char *begin = strchr(text, '"');
    const char *end = begin ? strchr(begin + 1, '"') : NULL;
    bool anchor = begin && memmem(text, (size_t)(begin - text), "\\l", 2);
    if (end && !anchor) {
        const char *address =
            arena_strndup(docx->package->arena, begin + 1, (size_t)(end - begin - 1));
        struct field *field = &docx->fields[docx->field_count - 1];
        if (address && !field->link) {
            markup_link(docx->markup, address);
            field->link = true;
        }
    }
}

static void read_field_mark(struct docx *docx)
{
    struct slice type;
    if (!xml_local_attribute(&docx->xml, "fldCharType", &type)) {
        return;
    }
    if (slice_is(type, "begin")) {
        if (docx->field_count == MOST_FIELDS) {
            docx->field_excess++;
        } else {
            docx->fields[docx->field_count++] = (struct field){0};
        }
    } else if (docx->field_excess > 0) {
        docx->field_excess -= slice_is(type, "end");
    } else if (docx->field_count > 0 && slice_is(type, "separate")) {
        docx->fields[docx->field_count - 1].result = true;
    } else if (docx->field_count > 0 && slice_is(type, "end")) {
        if (docx->fields[--docx->field_count].link) {
            markup_link_end(docx->markup);
        }
    }
}

/* The element's text to its end. */
static bool take_text(struct docx *docx, bool instruction)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_MARKUP_BYTES);
    bool whole = xml_take(&docx->xml, &text, NULL);
    if (whole && text.length && instruction) {
        read_instruction(docx, text.data);
    } else if (whole && text.length && !is_instruction(docx) && !docx->paragraph.hidden) {
        docx->markup->wanted = docx->paragraph.formats;
        markup_text(docx->markup, (struct slice){text.data, text.length}, true);
    }
    buf_done(&text);
    return whole;
}

static bool start_run(struct docx *docx)
{
    docx->paragraph.formats =
        docx->paragraph.style.role == DOCX_TEXT ? docx->paragraph.style.formats : 0;
    docx->paragraph.hidden = docx->paragraph.style.hidden;
    return true;
}

static bool read_run_properties(struct docx *docx)
{
    const char *id = NULL;
    struct docx_paragraph *paragraph = &docx->paragraph;
    unsigned formats = paragraph->formats;
    if (!docx_run_properties(docx->package, &docx->xml, &formats, &paragraph->hidden, &id)) {
        return false;
    }
    struct docx_style style = docx_style_find(&docx->styles, id);
    paragraph->formats = formats | style.formats;
    paragraph->hidden = paragraph->hidden || style.hidden;
    bool all_code = paragraph->style.role == DOCX_CODE;
    if (all_code || paragraph->style.role == DOCX_HEADING || paragraph->style.role == DOCX_TITLE) {
        /* Headings are bold anyway, and nothing is inside of code. */
        paragraph->formats &= all_code ? 0 : ~(unsigned)MARKUP_BOLD;
    }
    return true;
}

static bool read_plain_text(struct docx *docx)
{
    return take_text(docx, false);
}

static bool read_instruction_text(struct docx *docx)
{
    return take_text(docx, true);
}

static bool read_tab(struct docx *docx)
{
    if (!docx->paragraph.hidden) {
        markup_plain(docx->markup, docx->paragraph.style.role == DOCX_CODE ? "\t" : " ");
    }
    return xml_take(&docx->xml, NULL, NULL);
}

static bool read_break(struct docx *docx)
{
    struct slice type;
    bool line = !xml_local_attribute(&docx->xml, "type", &type) || slice_is(type, "textWrapping");
    if (line && docx->paragraph.style.role == DOCX_CODE) {
        markup_plain(docx->markup, "\n");
    } else if (line) {
        markup_break(docx->markup);
    }
    return xml_take(&docx->xml, NULL, NULL);
}

static bool read_hyphen(struct docx *docx)
{
    markup_plain(docx->markup, "\xE2\x80\x91");
    return xml_take(&docx->xml, NULL, NULL);
}

static bool read_mark(struct docx *docx)
{
    read_field_mark(docx);
    return xml_take(&docx->xml, NULL, NULL);
}

/* What is said of a picture; it may be said twice. */
static bool read_picture_words(struct docx *docx)
{
    const char *words = package_attribute(docx->package, &docx->xml, "descr");
    words = words && *words ? words : package_attribute(docx->package, &docx->xml, "alt");
    if (words && *words && !docx->paragraph.hidden &&
        (!docx->paragraph.picture || strcmp(docx->paragraph.picture, words) != 0)) {
        markup_picture(docx->markup, words);
        docx->paragraph.picture = words;
    }
    return true;
}

static bool read_note_reference(struct docx *docx)
{
    bool end = slice_is(xml_local(&docx->xml), "endnoteReference");
    const char *id = package_attribute(docx->package, &docx->xml, "id");
    if (id && !docx->paragraph.hidden) {
        markup_reference(docx->markup, end ? "endnote" : "footnote", id);
        docx->noted = true;
    }
    return xml_take(&docx->xml, NULL, NULL);
}

/* ---- other parts of paragraphs ---- */

static bool read_link(struct docx *docx)
{
    const char *id = package_attribute(docx->package, &docx->xml, "id");
    const struct relation *relation = id ? relation_find(&docx->relations, id, NULL) : NULL;
    if (relation && relation->external) {
        markup_link(docx->markup, relation->target);
    }
    return true;
}

static bool read_simple_field(struct docx *docx)
{
    const char *instruction = package_attribute(docx->package, &docx->xml, "instr");
    if (docx->field_count < MOST_FIELDS && instruction) {
        docx->fields[docx->field_count++] = (struct field){.result = true};
        read_instruction(docx, instruction);
        docx->field_count--;
    }
    return true;
}

/* A box hangs on a paragraph, and has paragraphs of its own. */
static bool read_box(struct docx *docx)
{
    struct markup *outside = docx->markup;
    struct docx_paragraph paragraph = docx->paragraph;
    struct markup inside;
    markup_begin(&inside);
    docx->markup = &inside;
    bool whole = read_blocks(docx, docx->xml.depth);
    docx->markup = outside;
    docx->paragraph = paragraph;
    markup_append(&docx->boxes, &inside);
    return whole;
}

static bool read_numbering(struct docx *docx)
{
    struct docx_style *style = &docx->paragraph.style;
    size_t depth = docx->xml.depth;
    enum xml_event event;
    while ((event = xml_inside(&docx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(&docx->xml), "numId")) {
            style->list = package_number(&docx->xml, "val", 0, INT32_MAX, 0);
        } else if (event == XML_START && slice_is(xml_local(&docx->xml), "ilvl")) {
            style->depth = package_number(&docx->xml, "val", 0, DOCX_LEVELS - 1, 0);
        }
    }
    return event == XML_DONE;
}

static bool read_style_name(struct docx *docx)
{
    docx->paragraph.style =
        docx_style_find(&docx->styles, package_attribute(docx->package, &docx->xml, "val"));
    return true;
}

static bool read_outline_level(struct docx *docx)
{
    long level = package_number(&docx->xml, "val", 0, 9, 9) + 1;
    if (level <= 9) {
        docx->paragraph.style.role = DOCX_HEADING;
        docx->paragraph.style.level = level;
    }
    return true;
}

static bool pass(struct docx *docx)
{
    return xml_take(&docx->xml, NULL, NULL);
}

/* What is not here is entered and has no meaning of its own. */
static const struct {
    const char *name;
    bool (*read)(struct docx *docx);
} INSIDE[] = {
    {"r", start_run},
    {"t", read_plain_text},
    {"rPr", read_run_properties},
    {"pStyle", read_style_name},
    {"numPr", read_numbering},
    {"outlineLvl", read_outline_level},
    {"hyperlink", read_link},
    {"tab", read_tab},
    {"br", read_break},
    {"cr", read_break},
    {"noBreakHyphen", read_hyphen},
    {"fldChar", read_mark},
    {"instrText", read_instruction_text},
    {"fldSimple", read_simple_field},
    {"docPr", read_picture_words},
    {"shape", read_picture_words},
    {"footnoteReference", read_note_reference},
    {"endnoteReference", read_note_reference},
    {"txbxContent", read_box},
    {"tabs", pass},
    {"del", pass},
    {"moveFrom", pass},
    {"Fallback", pass},
    {"rt", pass},
    {"pPrChange", pass},
    {"rPrChange", pass},
    {"sdtPr", pass},
    {"footnoteRef", pass},
    {"endnoteRef", pass},
    {"delText", pass},
    {"delInstrText", pass},
};

/* ---- paragraphs ---- */

static bool put_item(struct docx *docx)
{
    const struct docx_style *style = &docx->paragraph.style;
    struct docx_list *list = style->list > 0 ? docx_list_find(&docx->styles, style->list) : NULL;
    size_t depth = style->depth > 0 ? (size_t)style->depth : 0;
    if (!list || !list->levels[depth].shown || docx->markup->line.length == 0) {
        return false;
    }
    long number = list->levels[depth].next++;
    for (size_t i = depth + 1; i < DOCX_LEVELS; i++) {
        list->levels[i].next = 1;
    }
    markup_item(docx->markup, (long)depth + style->indent, list->levels[depth].ordered, number);
    return true;
}

static void end_paragraph(struct docx *docx)
{
    struct markup *markup = docx->markup;
    switch (docx->paragraph.style.role) {
    case DOCX_TITLE:
        markup_heading(markup, docx->below ? 2 : 1);
        docx->below = 1;
        break;
    case DOCX_HEADING:
        markup_heading(markup, docx->paragraph.style.level + docx->below);
        break;
    case DOCX_CODE:
        markup_code(markup);
        break;
    case DOCX_QUOTE:
        markup_quote(markup);
        break;
    case DOCX_CONTENTS:
        markup_link_end(markup);
        markup->written = 0;
        buf_clear(&markup->line);
        break;
    case DOCX_TEXT:
    case DOCX_UNKNOWN:
        if (!put_item(docx)) {
            markup_paragraph(markup);
        }
        break;
    }
    if (docx->boxes.out.length) {
        struct markup boxes = docx->boxes;
        markup_begin(&docx->boxes);
        markup_tags(markup, "");
        markup_append(markup, &boxes);
    }
}

static bool read_inside(struct docx *docx)
{
    for (size_t i = 0; i < sizeof INSIDE / sizeof *INSIDE; i++) {
        if (slice_is(xml_local(&docx->xml), INSIDE[i].name)) {
            return INSIDE[i].read(docx);
        }
    }
    return true;
}

static bool read_paragraph(struct docx *docx)
{
    size_t depth = docx->xml.depth;
    enum xml_event event;
    docx->paragraph = (struct docx_paragraph){.style = docx_style_find(&docx->styles, NULL)};
    while ((event = xml_inside(&docx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&docx->xml);
        if (event == XML_START && !read_inside(docx)) {
            event = XML_BROKEN;
            break;
        }
        if (event == XML_END && (slice_is(name, "hyperlink") || slice_is(name, "fldSimple"))) {
            markup_link_end(docx->markup);
        }
    }
    end_paragraph(docx);
    return event == XML_DONE;
}

/* ---- tables ---- */

/* How many columns a cell takes, by its properties, which are read to their end. */
static bool read_cell_properties(struct docx *docx, long *span)
{
    size_t depth = docx->xml.depth;
    enum xml_event event;
    while ((event = xml_inside(&docx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(&docx->xml), "gridSpan")) {
            *span = package_number(&docx->xml, "val", 1, MOST_SPAN, 1);
        }
    }
    return event == XML_DONE;
}

static bool read_block(struct docx *docx);

static bool read_cell(struct docx *docx, bool head)
{
    char tag[32];
    long span = 1;
    size_t depth = docx->xml.depth;
    enum xml_event event;
    while ((event = xml_inside(&docx->xml, depth)) == XML_TEXT) {
    }
    bool properties = event == XML_START && slice_is(xml_local(&docx->xml), "tcPr");
    bool whole = event != XML_BROKEN && (!properties || read_cell_properties(docx, &span));
    (void)snprintf(tag, sizeof tag, head ? "<th colspan=%ld>" : "<td colspan=%ld>", span);
    markup_tags(docx->markup, tag);
    if (whole && event == XML_START) {
        whole = (properties || read_block(docx)) && read_blocks(docx, depth);
    }
    markup_tags(docx->markup, head ? "</th>" : "</td>");
    return whole;
}

/* A table to its end. The first row is its head: Markdown's tables have one in any case. */
static bool read_table(struct docx *docx)
{
    size_t depth = docx->xml.depth;
    size_t rows = 0;
    enum xml_event event = XML_START;
    bool whole = true;
    markup_tags(docx->markup, "<table>");
    while (whole && (event = xml_inside(&docx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&docx->xml);
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "tr")) {
            markup_tags(docx->markup, "<tr>");
            rows++;
        } else if (slice_is(name, "tc")) {
            whole = read_cell(docx, rows == 1);
        } else if (slice_is(name, "del") || slice_is(name, "sdtPr")) {
            whole = xml_take(&docx->xml, NULL, NULL);
        }
    }
    markup_tags(docx->markup, "</table>");
    return whole && event == XML_DONE;
}

/* ---- blocks ---- */

/* What just started: one that is no block is entered. */
static bool read_block(struct docx *docx)
{
    static const struct {
        const char *name;
        bool (*read)(struct docx *docx);
    } BLOCKS[] = {
        {"p", read_paragraph}, {"tbl", read_table}, {"sdtPr", pass},    {"sectPr", pass},
        {"del", pass},         {"moveFrom", pass},  {"Fallback", pass},
    };
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
        if (slice_is(xml_local(&docx->xml), BLOCKS[i].name)) {
            return BLOCKS[i].read(docx);
        }
    }
    return true;
}

/* To the end of the element at `depth`. False when the part is broken. */
static bool read_blocks(struct docx *docx, size_t depth)
{
    enum xml_event event;
    while ((event = xml_inside(&docx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && !read_block(docx)) {
            return false;
        }
    }
    return event == XML_DONE;
}

/* ---- notes ---- */

/* Those that divide notes from the text have a type. */
static int write_notes(struct docx *docx, const char *kind, const struct relations *relations,
                       struct markup *notes)
{
    const char *type = arena_printf(docx->package->arena, "%ss", kind);
    const struct relation *part = type ? relation_find(relations, NULL, type) : NULL;
    int status = part ? package_xml(docx->package, part->target, &docx->xml) : ERR_NOTFOUND;
    status =
        status == OK ? package_relations(docx->package, part->target, &docx->relations) : status;
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&docx->xml)) != XML_DONE && event != XML_BROKEN;) {
        struct slice divides;
        if (event != XML_START || !slice_is(xml_local(&docx->xml), kind)) {
            continue;
        }
        const char *id = package_attribute(docx->package, &docx->xml, "id");
        bool shown = id && !xml_local_attribute(&docx->xml, "type", &divides);
        struct markup inside;
        markup_begin(&inside);
        docx->markup = &inside;
        bool whole = read_blocks(docx, docx->xml.depth);
        docx->markup = NULL;
        if (shown) {
            markup_note(notes, kind, id, &inside);
        } else {
            markup_done(&inside);
        }
        if (!whole) {
            break;
        }
    }
    return OK;
}

/* ---- all of it ---- */

static int write_parts(struct docx *docx, const char *part)
{
    struct package *package = docx->package;
    struct relations relations;
    struct markup text;
    struct markup notes;
    int status = package_relations(package, part, &relations);
    status = status == OK ? docx_styles_read(package, &relations, &docx->styles) : status;
    status = status == OK ? package_xml(package, part, &docx->xml) : status;
    if (status != OK) {
        return status;
    }
    docx->relations = relations;
    markup_begin(&text);
    markup_begin(&notes);
    docx->markup = &text;
    package->cut = !read_blocks(docx, 0) || package->cut;
    docx->markup = NULL;
    status = docx->noted ? write_notes(docx, "footnote", &relations, &notes) : OK;
    status =
        docx->noted && status == OK ? write_notes(docx, "endnote", &relations, &notes) : status;
    if (notes.out.length) {
        markup_tags(&text, "<section class=footnotes><ol>");
        markup_append(&text, &notes);
        markup_tags(&text, "</ol></section>");
    } else {
        markup_done(&notes);
    }
    if (status != OK) {
        markup_done(&text);
        return status;
    }
    return markup_write(&text, docx->out, &package->cut);
}

int docx_write(struct package *package, const char *part, struct document *document,
               struct buf *out)
{
    struct docx *docx = arena_zalloc(package->arena, sizeof *docx);
    if (!docx) {
        return ERR_NOMEM;
    }
    docx->package = package;
    docx->out = out;
    markup_begin(&docx->boxes);
    int status = package_properties(package, "docProps/core.xml", document);
    status = status == OK ? write_parts(docx, part) : status;
    markup_done(&docx->boxes);
    return status;
}
