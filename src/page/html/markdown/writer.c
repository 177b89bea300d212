/* The chosen nodes as Markdown: begins, walks the tree, ends. What an element means is in one
 * table. */
#include "page/html/markdown/writer.h"

#include "core/limits.h"
#include "core/status.h"

#include <ctype.h>

typedef void (*element_writer)(struct writer *writer, lxb_dom_node_t *node);

/* ---- elements ---- */

static void write_block(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    write_children(writer, node);
    flush_block(writer);
}

static void write_nothing(struct writer *writer, lxb_dom_node_t *node)
{
    (void)writer;
    (void)node;
}

static void write_strong(struct writer *writer, lxb_dom_node_t *node)
{
    format_open(writer, FORMAT_STRONG, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_emphasis(struct writer *writer, lxb_dom_node_t *node)
{
    format_open(writer, FORMAT_EMPHASIS, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_deleted(struct writer *writer, lxb_dom_node_t *node)
{
    format_open(writer, FORMAT_DELETED, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_super(struct writer *writer, lxb_dom_node_t *node)
{
    format_open(writer, FORMAT_SUPER, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_sub(struct writer *writer, lxb_dom_node_t *node)
{
    format_open(writer, FORMAT_SUB, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_quotation(struct writer *writer, lxb_dom_node_t *node)
{
    inline_raw(writer, "\"", 1);
    write_children(writer, node);
    writer->space = false;
    inline_raw(writer, "\"", 1);
}

static void write_break(struct writer *writer, lxb_dom_node_t *node)
{
    (void)node;
    inline_break(writer);
}

static void write_rule(struct writer *writer, lxb_dom_node_t *node)
{
    (void)node;
    flush_block(writer);
    if (writer->mode == MODE_BLOCKS && writer->out->length) {
        output_block(writer, "---", 3);
    }
}

/* Buttons are the page's machinery, but for words of a sentence that open something. */
static void write_button(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_dom_node_t *paragraph = dom_closest(node, LXB_TAG_P);
    if (paragraph || dom_closest(node, LXB_TAG_H2) || dom_closest(node, LXB_TAG_H3)) {
        write_children(writer, node);
    }
}

static void write_pictures(struct writer *writer, lxb_dom_node_t *node)
{
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_tag(below) == LXB_TAG_IMG) {
            write_image(writer, below);
        }
    }
}

/* Without scripts a reader sees what is in here; mostly it repeats what the scripts would show, so
 * only pictures are taken, which lazy loading leaves nowhere else. */
static void write_noscript(struct writer *writer, lxb_dom_node_t *node)
{
    write_pictures(writer, node);
}

static void write_checkbox(struct writer *writer, lxb_dom_node_t *node)
{
    const char *type = dom_known_attr(node, LXB_DOM_ATTR_TYPE);
    if (type && strcmp(type, "checkbox") == 0 && dom_closest(node, LXB_TAG_LI) &&
        !writer->line.length) {
        inline_raw(writer, dom_known_attr(node, LXB_DOM_ATTR_CHECKED) ? "[x]" : "[ ]", 3);
        writer->space = true;
    }
}

static void write_summary(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    bool heading =
        dom_find(node, LXB_TAG_H2) || dom_find(node, LXB_TAG_H3) || dom_find(node, LXB_TAG_H4);
    if (heading) {
        write_children(writer, node);
    } else {
        write_strong(writer, node);
    }
    flush_block(writer);
}

static void write_code(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode == MODE_BLOCKS && code_is_block(node)) {
        write_code_block(writer, node);
    } else {
        write_code_span(writer, node);
    }
}

static void write_pre(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode == MODE_BLOCKS) {
        write_code_block(writer, node);
    } else {
        write_code_span(writer, node);
    }
}

static const element_writer WRITERS[LXB_TAG__LAST_ENTRY] = {
    [LXB_TAG_A] = write_link,           [LXB_TAG_AUDIO] = write_video,
    [LXB_TAG_B] = write_strong,         [LXB_TAG_BLOCKQUOTE] = write_quote,
    [LXB_TAG_BR] = write_break,         [LXB_TAG_BUTTON] = write_button,
    [LXB_TAG_CANVAS] = write_nothing,   [LXB_TAG_CODE] = write_code,
    [LXB_TAG_DATALIST] = write_nothing, [LXB_TAG_DEL] = write_deleted,
    [LXB_TAG_DL] = write_definitions,   [LXB_TAG_EM] = write_emphasis,
    [LXB_TAG_EMBED] = write_frame,      [LXB_TAG_FIGCAPTION] = write_caption,
    [LXB_TAG_H1] = write_heading,       [LXB_TAG_H2] = write_heading,
    [LXB_TAG_H3] = write_heading,       [LXB_TAG_H4] = write_heading,
    [LXB_TAG_H5] = write_heading,       [LXB_TAG_H6] = write_heading,
    [LXB_TAG_HEAD] = write_nothing,     [LXB_TAG_HR] = write_rule,
    [LXB_TAG_I] = write_emphasis,       [LXB_TAG_IFRAME] = write_frame,
    [LXB_TAG_IMG] = write_image,        [LXB_TAG_INPUT] = write_checkbox,
    [LXB_TAG_KBD] = write_code,         [LXB_TAG_LI] = write_item,
    [LXB_TAG_LINK] = write_nothing,     [LXB_TAG_LISTING] = write_pre,
    [LXB_TAG_MAP] = write_nothing,      [LXB_TAG_MENU] = write_list,
    [LXB_TAG_META] = write_nothing,     [LXB_TAG_METER] = write_nothing,
    [LXB_TAG_NOFRAMES] = write_nothing, [LXB_TAG_NOSCRIPT] = write_noscript,
    [LXB_TAG_OL] = write_list,          [LXB_TAG_PICTURE] = write_picture,
    [LXB_TAG_PRE] = write_pre,          [LXB_TAG_PROGRESS] = write_nothing,
    [LXB_TAG_Q] = write_quotation,      [LXB_TAG_S] = write_deleted,
    [LXB_TAG_SAMP] = write_code,        [LXB_TAG_SCRIPT] = write_nothing,
    [LXB_TAG_SELECT] = write_nothing,   [LXB_TAG_SOURCE] = write_nothing,
    [LXB_TAG_STRIKE] = write_deleted,   [LXB_TAG_STRONG] = write_strong,
    [LXB_TAG_STYLE] = write_nothing,    [LXB_TAG_SUB] = write_sub,
    [LXB_TAG_SUMMARY] = write_summary,  [LXB_TAG_SUP] = write_super,
    [LXB_TAG_SVG] = write_nothing,      [LXB_TAG_TABLE] = write_table,
    [LXB_TAG_TEMPLATE] = write_nothing, [LXB_TAG_TEXTAREA] = write_nothing,
    [LXB_TAG_TITLE] = write_nothing,    [LXB_TAG_TRACK] = write_nothing,
    [LXB_TAG_TT] = write_code,          [LXB_TAG_UL] = write_list,
    [LXB_TAG_DIR] = write_list,         [LXB_TAG_VIDEO] = write_video,
    [LXB_TAG_XMP] = write_pre,
};

void write_node(struct writer *writer, lxb_dom_node_t *node)
{
    if (dom_is_text(node)) {
        size_t length;
        const char *text = dom_text(node, &length);
        inline_text(writer, text, length);
        return;
    }
    if (node->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        return;
    }
    uintptr_t marks = node_marks(node);
    if (marks & NODE_NOTE_REFERENCE) {
        write_note_reference(writer, node);
        return;
    }
    if ((marks & (NODE_DROPPED | NODE_HIDDEN | NODE_NOTE)) == NODE_DROPPED &&
        media_is_frame(node)) {
        flush_block(writer);
        write_pictures(writer, node);
        flush_block(writer);
        return;
    }
    /* Formulas come first: their source may be in a script or in what is hidden. */
    if (node->local_name == LXB_TAG_SCRIPT) {
        write_math(writer, node);
        return;
    }
    if ((marks & (NODE_DROPPED | NODE_NOTE)) || write_math(writer, node) || (marks & NODE_HIDDEN)) {
        return;
    }
    lxb_tag_id_t tag = node->local_name;
    element_writer element = tag < LXB_TAG__LAST_ENTRY ? WRITERS[tag] : NULL;
    if (element) {
        element(writer, node);
    } else if (write_callout(writer, node)) {
        return;
    } else if (writer->mode == MODE_BLOCKS && tag == LXB_TAG_DIV && code_is_block(node)) {
        write_code_block(writer, node);
    } else if (dom_is_block(tag)) {
        write_block(writer, node);
    } else {
        write_children(writer, node);
    }
}

void write_children(struct writer *writer, lxb_dom_node_t *node)
{
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        write_node(writer, child);
    }
}

/* ---- texts aside ---- */

void aside_begin(struct writer *writer, struct aside *aside, enum mode mode)
{
    *aside =
        (struct aside){writer->line,        writer->space,        writer->break_due, writer->mode,
                       writer->format_base, writer->format_count, writer->closed_at};
    buf_init(&writer->line, LIMIT_MARKDOWN_BYTES);
    writer->space = writer->break_due = false;
    writer->mode = mode;
    writer->format_base = writer->format_count;
    writer->closed_at = 0;
}

const char *aside_end(struct writer *writer, struct aside *aside, size_t *length)
{
    const char *text = writer->line.data ? writer->line.data : "";
    *length = writer->line.length;
    while (*length && isspace((unsigned char)text[*length - 1])) {
        (*length)--;
    }
    const char *copy = arena_strndup(writer->arena, text, *length);
    buf_done(&writer->line);
    writer->line = aside->line;
    writer->space = aside->space;
    writer->break_due = aside->break_due;
    writer->mode = aside->mode;
    writer->format_base = aside->format_base;
    writer->format_count = aside->format_count;
    writer->closed_at = aside->closed_at;
    if (!copy) {
        *length = 0;
    }
    return copy ? copy : "";
}

/* ---- the whole ---- */

int markdown_write(struct page *page, struct buf *out)
{
    struct writer *writer = arena_zalloc(page->arena, sizeof *writer);
    if (!writer) {
        return ERR_NOMEM;
    }
    writer->page = page;
    writer->arena = page->arena;
    writer->out = out;
    writer->has_base = page->base && url_parse(page->arena, page->base, &writer->base, NULL) == OK;
    buf_init(&writer->line, LIMIT_MARKDOWN_BYTES);
    buf_init(&writer->prefix, LIMIT_MARKDOWN_BYTES);
    buf_init(&writer->first, LIMIT_MARKDOWN_BYTES);
    footnotes_find(writer);
    writer->title = page->metadata.title;
    for (size_t i = 0; i < page->root_count; i++) {
        write_node(writer, page->roots[i]);
        flush_block(writer);
    }
    write_notes(writer);
    int status = buf_error(&writer->line);
    status = status == OK ? buf_error(out) : status;
    status = status == OK && arena_failed(page->arena) ? ERR_NOMEM : status;
    buf_done(&writer->line);
    buf_done(&writer->prefix);
    buf_done(&writer->first);
    return status;
}
