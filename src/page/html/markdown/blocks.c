/* Headings, quotes and definition lists. */
#include "page/html/markdown/writer.h"

#include "tables.h"

#include <ctype.h>

/* ---- headings ---- */

/* Compares what people read: letters and digits. */
static bool reads_same(const char *one, const char *other)
{
    for (;;) {
        while (*one && !isalnum((unsigned char)*one) && !(*one & 0x80)) {
            one++;
        }
        while (*other && !isalnum((unsigned char)*other) && !(*other & 0x80)) {
            other++;
        }
        if (!*one || !*other) {
            return !*one && !*other;
        }
        if (tolower((unsigned char)*one) != tolower((unsigned char)*other)) {
            return false;
        }
        one++;
        other++;
    }
}

/* A link to the heading itself: a sign that is there to be copied. */
static bool is_own_anchor(const lxb_dom_node_t *node)
{
    if (dom_tag(node) != LXB_TAG_A) {
        return false;
    }
    const char *href = dom_known_attr(node, LXB_DOM_ATTR_HREF);
    char text[16];
    size_t length = dom_collect(node, text, sizeof text);
    if (!href || !strchr(href, '#')) {
        return length == 0;
    }
    if (length == 0) {
        return true;
    }
    for (const char *const *sign = anchor_signs; *sign; sign++) {
        if (strcmp(text, *sign) == 0) {
            return true;
        }
    }
    return length <= 3 && dom_holds_any(dom_class(node), anchor_words);
}

/* Drops what stands in a heading for who edits or copies, not for who reads. */
static void drop_own_anchors(lxb_dom_node_t *heading)
{
    for (lxb_dom_node_t *node = heading->first_child; node; node = dom_next(node, heading, true)) {
        const char *words = dom_class(node);
        if (is_own_anchor(node) || (words && strcasestr(words, "editsection"))) {
            node_mark(node, NODE_DROPPED);
        }
    }
}

void write_heading(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    if (writer->mode != MODE_BLOCKS) {
        write_children(writer, node);
        flush_block(writer);
        return;
    }
    drop_own_anchors(node);
    char plain[512];
    dom_collect(node, plain, sizeof plain);
    int level = dom_heading_level(node);
    if (writer->title && !writer->title_done && level <= 2 && reads_same(plain, writer->title)) {
        writer->title_done = true;
        return;
    }
    struct aside aside;
    size_t length;
    size_t outer = writer->format_count;
    aside_begin(writer, &aside, MODE_LINE);
    /* A card that is one link: its heading carries the link. */
    struct format *link = outer ? &writer->formats[outer - 1] : NULL;
    bool linked = link && link->kind == FORMAT_LINK && !link->over && !link->written;
    if (linked) {
        format_open(writer, FORMAT_LINK, link->url);
        link->over = true;
    }
    write_children(writer, node);
    if (linked) {
        format_close(writer);
    }
    const char *text = aside_end(writer, &aside, &length);
    if (length == 0) {
        return;
    }
    if (level == 1 && (writer->title || writer->title_done)) {
        level = 2;
    }
    if (level == 1) {
        writer->title_done = true; /* one is enough */
    }
    struct buf line;
    buf_init(&line, writer->out->ceiling);
    buf_printf(&line, "%.*s %s", level, "######", text);
    output_block(writer, line.data ? line.data : "", line.length);
    buf_done(&line);
}

/* ---- quotes ---- */

void write_quote(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    if (writer->mode != MODE_BLOCKS) {
        write_children(writer, node);
        flush_block(writer);
        return;
    }
    if (write_callout(writer, node)) {
        return;
    }
    output_gap(writer);
    size_t before = writer->out->length;
    struct prefix_mark mark = prefix_push(writer, "> ", "> ");
    write_children(writer, node);
    flush_block(writer);
    prefix_pop(writer, mark);
    writer->gap = writer->out->length > before ? GAP_BLANK : GAP_NONE;
    writer->block_length = 0;
}

/* ---- definition lists ---- */

static bool is_left_out(const lxb_dom_node_t *node)
{
    return (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN | NODE_NOTE)) != 0;
}

/* Terms as paragraphs, each with its definitions below, marked by a colon. Without a term before it
 * a definition is only indented, as some write replies. */
void write_definitions(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    bool has_term = false;
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        lxb_tag_id_t tag = dom_tag(child);
        if (tag == LXB_TAG_DIV && !is_left_out(child)) {
            write_definitions(writer, child);
            continue;
        }
        has_term = has_term || tag == LXB_TAG_DT;
        if (tag != LXB_TAG_DD || !has_term || writer->mode != MODE_BLOCKS || is_left_out(child)) {
            write_node(writer, child);
            flush_block(writer);
            continue;
        }
        writer->gap = writer->gap == GAP_BLANK ? GAP_LINE : writer->gap;
        struct prefix_mark mark = prefix_push(writer, ": ", "  ");
        write_children(writer, child);
        flush_block(writer);
        prefix_pop(writer, mark);
        writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
    }
}
