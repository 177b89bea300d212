/* The chosen nodes as Markdown: begins, walks the tree, puts out lines, ends. What an element means
 * is in one table. */
#include "html/markdown/writer.h"

#include "core/limits.h"
#include "core/status.h"

#include <ctype.h>
#include <strings.h>

/* ---- lines ---- */

/* What begins the next line. */
static void put_prefix(struct writer *writer)
{
    struct buf *prefix = writer->first.length ? &writer->first : &writer->prefix;
    if (prefix->length) {
        buf_append(writer->out, prefix->data, prefix->length);
    }
    buf_clear(&writer->first);
}

/* A line without text: its prefix has no white space at the end. */
static void put_empty_line(struct writer *writer)
{
    size_t length = writer->prefix.length;
    while (length && writer->prefix.data[length - 1] == ' ') {
        length--;
    }
    if (length) {
        buf_append(writer->out, writer->prefix.data, length);
    }
    buf_putc(writer->out, '\n');
}

void output_gap(struct writer *writer)
{
    if (writer->gap == GAP_BLANK && writer->out->length) {
        put_empty_line(writer);
    }
    writer->gap = GAP_NONE;
}

void output_block(struct writer *writer, const char *text, size_t length)
{
    output_gap(writer);
    writer->block_at = writer->out->length;
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (stop == text && !writer->first.length) {
            put_empty_line(writer);
        } else {
            put_prefix(writer);
            buf_append(writer->out, text, (size_t)(stop - text));
            buf_putc(writer->out, '\n');
        }
        text = newline ? newline + 1 : end;
    }
    writer->block_length = 0;
    writer->gap = GAP_BLANK;
}

void output_buf(struct writer *writer, struct buf *block)
{
    output_block(writer, block->data ? block->data : "", block->length);
    buf_done(block);
}

/* ---- prefixes ---- */

struct prefix_mark prefix_push(struct writer *writer, const char *first, const char *rest)
{
    struct prefix_mark mark = {writer->prefix.length, writer->first.length};
    if (!writer->first.length && strcmp(first, rest) != 0) {
        buf_append(&writer->first, writer->prefix.data, writer->prefix.length);
    }
    if (writer->first.length || strcmp(first, rest) != 0) {
        buf_puts(&writer->first, first);
    }
    buf_puts(&writer->prefix, rest);
    return mark;
}

static void cut(struct buf *buf, size_t length)
{
    if (buf->length > length) {
        buf->length = length;
        buf->data[length] = '\0';
    }
}

void prefix_pop(struct writer *writer, struct prefix_mark mark)
{
    cut(&writer->prefix, mark.prefix);
    cut(&writer->first, mark.first);
}

/* ---- paragraphs ---- */

/* Whether it is what parts the head of a table from its rows. */
static bool is_table_rule(const char *text, size_t length)
{
    bool dash = false;
    for (size_t i = 0; i < length; i++) {
        dash = dash || text[i] == '-';
        if (!strchr("-:| ", text[i])) {
            return false;
        }
    }
    return dash;
}

/* Whether it would be read as the address of a link elsewhere: "[name]: address". */
static bool is_definition(const char *text, size_t length)
{
    for (size_t i = 1; i + 1 < length && text[i] != '['; i++) {
        if (text[i] == '\\') {
            i++;
        } else if (text[i] == ']') {
            return text[i + 1] == ':';
        }
    }
    return false;
}

/* Whether a line that begins so would be read as something else than text. */
static size_t misread_at(const char *text, size_t length)
{
    size_t run = 0;
    switch (text[0]) {
    case '#':
        while (run < length && text[run] == '#') {
            run++;
        }
        return run <= 6 && (run == length || text[run] == ' ') ? 1 : 0;
    case '>':
        return 1;
    case '-':
        while (run < length && text[run] == '-') {
            run++;
        }
        return run == length || run > 2 || text[1] == ' ' || is_table_rule(text, length) ? 1 : 0;
    case '+':
        return length == 1 || text[1] == ' ' ? 1 : 0;
    case '|':
    case ':':
        return is_table_rule(text, length) ? 1 : 0;
    case '[':
        return is_definition(text, length) ? 1 : 0;
    case '=':
        while (run < length && text[run] == '=') {
            run++;
        }
        return run == length ? 1 : 0;
    case '~':
        return length > 2 && text[1] == '~' && text[2] == '~' ? 1 : 0;
    default:
        while (run < length && run < 9 && isdigit((unsigned char)text[run])) {
            run++;
        }
        return run && run < length && (text[run] == '.' || text[run] == ')') &&
                       (run + 1 == length || text[run + 1] == ' ')
                   ? run + 1
                   : 0;
    }
}

/* One line of a paragraph, escaped where its beginning asks for it. */
static void put_paragraph_line(struct writer *writer, const char *text, size_t length, bool more)
{
    put_prefix(writer);
    size_t escaped = length ? misread_at(text, length) : 0;
    if (escaped) {
        buf_append(writer->out, text, escaped - 1);
        buf_putc(writer->out, '\\');
        text += escaped - 1;
        length -= escaped - 1;
    }
    buf_append(writer->out, text, length);
    buf_puts(writer->out, more ? "  \n" : "\n");
}

static void put_paragraph(struct writer *writer, const char *text, size_t length)
{
    output_gap(writer);
    writer->block_at = writer->out->length;
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        put_paragraph_line(writer, text, (size_t)(stop - text), newline != NULL);
        text = newline ? newline + 1 : end;
    }
    writer->block_length = writer->out->length - writer->block_at;
    writer->gap = GAP_BLANK;
}

void flush_block(struct writer *writer)
{
    writer->space = false;
    if (writer->mode != MODE_BLOCKS) {
        writer->space = writer->mode == MODE_LINE && writer->line.length;
        writer->break_due = writer->mode == MODE_CELL && writer->line.length;
        return;
    }
    if (writer->line.length == 0) {
        return;
    }
    format_suspend(writer);
    format_settle(writer);
    const char *text = writer->line.data;
    size_t length = writer->line.length;
    while (length && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    while (length && *text == '\n') {
        text++;
        length--;
    }
    if (length) {
        put_paragraph(writer, text, length);
    }
    buf_clear(&writer->line);
    writer->closed_at = writer->code_end = writer->brackets = 0;
}

/* The texts of the paragraph that ends with the last one are not written after all. */
static void forget_texts(struct writer *writer)
{
    lxb_dom_node_t *part = writer->last_text;
    while (part && part->parent && !dom_is_block(dom_tag(part->parent))) {
        part = part->parent;
    }
    for (; part && !dom_is_block(dom_tag(part)); part = part->prev) {
        for (lxb_dom_node_t *node = part; node; node = dom_next(node, part, true)) {
            node_unmark(node, dom_is_text(node) ? NODE_WRITTEN : 0);
        }
        node_drop(part, OMIT_CONTROLS);
    }
    writer->last_text = NULL;
}

bool output_take_back(struct writer *writer, const char *text)
{
    size_t length = strlen(text);
    if (!writer->block_length || writer->block_at + writer->block_length != writer->out->length ||
        writer->block_length < length + 1) {
        return false;
    }
    const char *block = writer->out->data + writer->block_at;
    size_t prefix = writer->block_length - length - 1;
    if (strncasecmp(block + prefix, text, length) != 0 || prefix != writer->prefix.length ||
        (prefix && memcmp(block, writer->prefix.data, prefix) != 0)) {
        return false;
    }
    writer->out->length = writer->block_at;
    writer->out->data[writer->block_at] = '\0';
    writer->block_length = 0;
    writer->gap = GAP_NONE; /* the blank line before it still stands */
    forget_texts(writer);
    return true;
}

typedef void (*element_writer)(struct writer *writer, lxb_dom_node_t *node);

/* ---- elements ---- */

void write_block(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    write_children(writer, node);
    flush_block(writer);
}

void write_prefixed(struct writer *writer, lxb_dom_node_t *node, const char *first,
                    const char *rest)
{
    struct prefix_mark mark = prefix_push(writer, first, rest);
    write_children(writer, node);
    flush_block(writer);
    prefix_pop(writer, mark);
}

static void write_nothing(struct writer *writer, lxb_dom_node_t *node)
{
    (void)writer;
    (void)node;
}

void write_format(struct writer *writer, lxb_dom_node_t *node, enum format_kind kind)
{
    format_open(writer, kind, NULL);
    write_children(writer, node);
    format_close(writer);
}

static void write_formatted(struct writer *writer, lxb_dom_node_t *node)
{
    static const enum format_kind KINDS[LXB_TAG__LAST_ENTRY] = {
        [LXB_TAG_B] = FORMAT_STRONG,    [LXB_TAG_STRONG] = FORMAT_STRONG,
        [LXB_TAG_EM] = FORMAT_EMPHASIS, [LXB_TAG_I] = FORMAT_EMPHASIS,
        [LXB_TAG_DEL] = FORMAT_DELETED, [LXB_TAG_S] = FORMAT_DELETED,
        [LXB_TAG_SUP] = FORMAT_SUPER,   [LXB_TAG_STRIKE] = FORMAT_DELETED,
        [LXB_TAG_SUB] = FORMAT_SUB,
    };
    write_format(writer, node, KINDS[node->local_name]);
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

/* What fields and list boxes show. */
static void write_field(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->page->whole) {
        writer->space = true;
        write_children(writer, node);
        writer->space = true;
    }
}

/* Buttons are the page's machinery, but for words of a sentence that open something. */
static void write_button(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_dom_node_t *paragraph = dom_closest(node, LXB_TAG_P);
    if (writer->page->whole) {
        write_field(writer, node);
    } else if (paragraph || dom_closest(node, LXB_TAG_H2) || dom_closest(node, LXB_TAG_H3)) {
        write_children(writer, node);
    }
}

/* The pictures below, and nothing else. Of <noscript>, too: mostly that repeats what the scripts
 * would show, but lazy loading leaves pictures nowhere else. */
static void write_pictures(struct writer *writer, lxb_dom_node_t *node)
{
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_tag(below) == LXB_TAG_IMG) {
            write_image(writer, below);
        }
    }
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
        write_format(writer, node, FORMAT_STRONG);
    }
    flush_block(writer);
}

static void write_code(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    bool pre = tag == LXB_TAG_PRE || tag == LXB_TAG_LISTING || tag == LXB_TAG_XMP;
    if (writer->mode == MODE_BLOCKS && (pre || code_is_block(node))) {
        write_code_block(writer, node);
    } else {
        write_code_span(writer, node);
    }
}

static const element_writer WRITERS[LXB_TAG__LAST_ENTRY] = {
    [LXB_TAG_A] = write_link,           [LXB_TAG_AUDIO] = write_video,
    [LXB_TAG_B] = write_formatted,      [LXB_TAG_BLOCKQUOTE] = write_quote,
    [LXB_TAG_BR] = write_break,         [LXB_TAG_BUTTON] = write_button,
    [LXB_TAG_CANVAS] = write_nothing,   [LXB_TAG_CODE] = write_code,
    [LXB_TAG_DATALIST] = write_nothing, [LXB_TAG_DEL] = write_formatted,
    [LXB_TAG_DL] = write_definitions,   [LXB_TAG_EM] = write_formatted,
    [LXB_TAG_EMBED] = write_frame,      [LXB_TAG_FIGCAPTION] = write_caption,
    [LXB_TAG_H1] = write_heading,       [LXB_TAG_H2] = write_heading,
    [LXB_TAG_H3] = write_heading,       [LXB_TAG_H4] = write_heading,
    [LXB_TAG_H5] = write_heading,       [LXB_TAG_H6] = write_heading,
    [LXB_TAG_HEAD] = write_nothing,     [LXB_TAG_HR] = write_rule,
    [LXB_TAG_I] = write_formatted,      [LXB_TAG_IFRAME] = write_frame,
    [LXB_TAG_IMG] = write_image,        [LXB_TAG_INPUT] = write_checkbox,
    [LXB_TAG_KBD] = write_code,         [LXB_TAG_LI] = write_item,
    [LXB_TAG_LINK] = write_nothing,     [LXB_TAG_LISTING] = write_code,
    [LXB_TAG_MAP] = write_nothing,      [LXB_TAG_MENU] = write_list,
    [LXB_TAG_META] = write_nothing,     [LXB_TAG_METER] = write_nothing,
    [LXB_TAG_NOFRAMES] = write_nothing, [LXB_TAG_NOSCRIPT] = write_pictures,
    [LXB_TAG_OL] = write_list,          [LXB_TAG_PICTURE] = write_picture,
    [LXB_TAG_PRE] = write_code,         [LXB_TAG_PROGRESS] = write_nothing,
    [LXB_TAG_Q] = write_quotation,      [LXB_TAG_S] = write_formatted,
    [LXB_TAG_SAMP] = write_code,        [LXB_TAG_SCRIPT] = write_nothing,
    [LXB_TAG_SELECT] = write_field,     [LXB_TAG_SOURCE] = write_nothing,
    [LXB_TAG_STRIKE] = write_formatted, [LXB_TAG_STRONG] = write_formatted,
    [LXB_TAG_STYLE] = write_nothing,    [LXB_TAG_SUB] = write_formatted,
    [LXB_TAG_SUMMARY] = write_summary,  [LXB_TAG_SUP] = write_formatted,
    [LXB_TAG_SVG] = write_nothing,      [LXB_TAG_TABLE] = write_table,
    [LXB_TAG_TEMPLATE] = write_nothing, [LXB_TAG_TEXTAREA] = write_field,
    [LXB_TAG_TITLE] = write_nothing,    [LXB_TAG_TRACK] = write_nothing,
    [LXB_TAG_TT] = write_code,          [LXB_TAG_UL] = write_list,
    [LXB_TAG_DIR] = write_list,         [LXB_TAG_VIDEO] = write_video,
    [LXB_TAG_XMP] = write_code,
};

/* A figure of the content shows its picture, whatever is around it. */
static bool is_in_figure(const lxb_dom_node_t *node)
{
    const lxb_dom_node_t *around = node->parent;
    for (int steps = 0; around && steps < 4; steps++, around = around->parent) {
        if (dom_tag(around) == LXB_TAG_FIGURE) {
            return true;
        }
    }
    return false;
}

void write_node(struct writer *writer, lxb_dom_node_t *node)
{
    if (dom_is_text(node)) {
        size_t length;
        const char *text = dom_text(node, &length);
        inline_text(writer, text, length);
        node_mark(node, NODE_WRITTEN);
        writer->last_text = node;
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
        (media_is_frame(node) || is_in_figure(node))) {
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
    if (marks & (NODE_DROPPED | NODE_NOTE)) {
        return;
    }
    if (write_math(writer, node)) {
        dom_mark_written(node);
        return;
    }
    if (marks & NODE_HIDDEN) {
        return;
    }
    if (marks & NODE_PANEL) {
        write_panel_title(writer, node);
    }
    lxb_tag_id_t tag = node->local_name;
    element_writer element = tag < LXB_TAG__LAST_ENTRY ? WRITERS[tag] : NULL;
    if (element) {
        element(writer, node);
    } else if (tag >= LXB_TAG__LAST_ENTRY && write_player(writer, node)) {
        return;
    } else if (write_callout(writer, node)) {
        return;
    } else if (writer->mode == MODE_BLOCKS && tag == LXB_TAG_DIV && code_is_block(node)) {
        write_code_block(writer, node);
    } else if ((tag == LXB_TAG_DIV || tag == LXB_TAG_ASIDE) && quote_is_box(node)) {
        write_quote(writer, node);
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
    *aside = (struct aside){.line = writer->line,
                            .space = writer->space,
                            .break_due = writer->break_due,
                            .mode = writer->mode,
                            .format_base = writer->format_base,
                            .format_count = writer->format_count,
                            .closed_at = writer->closed_at,
                            .pairs = writer->pairs,
                            .link_number = writer->link_number,
                            .code_end = writer->code_end,
                            .brackets = writer->brackets};
    buf_init(&writer->line, LIMIT_MARKDOWN_BYTES);
    writer->space = writer->break_due = false;
    writer->mode = mode;
    writer->format_base = writer->format_count;
    writer->closed_at = writer->code_end = writer->link_number = writer->brackets = 0;
    buf_init(&writer->pairs, LIMIT_MARKDOWN_BYTES);
}

const char *aside_end(struct writer *writer, struct aside *aside, size_t *length)
{
    format_settle(writer);
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
    buf_done(&writer->pairs);
    writer->pairs = aside->pairs;
    writer->link_number = aside->link_number;
    writer->code_end = aside->code_end;
    writer->brackets = aside->brackets;
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
    buf_init(&writer->pairs, LIMIT_MARKDOWN_BYTES);
    buf_init(&writer->prefix, LIMIT_MARKDOWN_BYTES);
    buf_init(&writer->first, LIMIT_MARKDOWN_BYTES);
    footnotes_find(writer);
    marks_drop(writer);
    tabs_find(writer);
    writer->title = page->metadata.title;
    for (size_t i = 0; i < page->root_count; i++) {
        write_node(writer, page->roots[i]);
        flush_block(writer);
    }
    int status = write_reviews(writer);
    write_notes(writer);
    status = status == OK ? buf_error(&writer->line) : status;
    status = status == OK ? buf_error(&writer->pairs) : status;
    status = status == OK ? buf_error(out) : status;
    status = status == OK && arena_failed(page->arena) ? ERR_NOMEM : status;
    buf_done(&writer->line);
    buf_done(&writer->pairs);
    buf_done(&writer->prefix);
    buf_done(&writer->first);
    return status;
}
