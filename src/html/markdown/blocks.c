/* Blocks of text: headings, quotes, callouts, lists, definition lists. */
#include "html/markdown/writer.h"

#include "html/callout.h"
#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

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

void write_heading(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode != MODE_BLOCKS) {
        write_block(writer, node);
        return;
    }
    flush_block(writer);
    if (writer->in_review) {
        write_format(writer, node, FORMAT_STRONG);
        flush_block(writer);
        return;
    }
    char plain[512];
    dom_collect(node, plain, sizeof plain);
    int level = dom_heading_level(node);
    if (writer->title && !writer->title_done && level <= 2 && reads_same(plain, writer->title)) {
        writer->title_done = true;
        dom_mark_written(node);
        return;
    }
    struct aside aside;
    size_t length;
    size_t outer = writer->format_count;
    aside_begin(writer, &aside, MODE_LINE);
    /* A card that is one link: its heading carries the link. */
    struct inline_format *link = outer ? &writer->formats[outer - 1] : NULL;
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
    /* Signs at its end, set apart, would be read as the end of the heading's own. */
    size_t signs = length;
    while (signs && text[signs - 1] == '#') {
        signs--;
    }
    bool closes = signs < length && (signs == 0 || text[signs - 1] == ' ');
    signs = closes ? signs : length;
    struct buf line;
    buf_init(&line, writer->out->ceiling);
    buf_printf(&line, "%.*s %.*s%s%s", level, "######", (int)signs, text, closes ? "\\" : "",
               text + signs);
    output_buf(writer, &line);
}

/* ---- quotes ---- */

/* Who is quoted, and when, where a forum writes that before the words: <cite>Ann wrote:</cite>, or
 * a box of its own. */
static lxb_dom_node_t *quoted_name(lxb_dom_node_t *quote)
{
    lxb_dom_node_t *node = dom_first_element(quote);
    for (int steps = 0; node && steps < 3; steps++, node = dom_first_element(node)) {
        while (node && !dom_has_text(node)) {
            node = dom_next_element(node);
        }
        char text[160];
        size_t length = node && node->next && !node_is_left_out(node)
                            ? dom_collect(node, text, sizeof text)
                            : 0;
        bool names = length && length + 4 < sizeof text &&
                     (dom_holds_any(dom_class(node), quote_titles) ||
                      (dom_tag(node) == LXB_TAG_CITE && strchr(text, ':')));
        if (names || !node) {
            return node;
        }
    }
    return NULL;
}

/* The name in one line, without pictures and signs that lead to the post. */
static void write_quoted_name(struct writer *writer, lxb_dom_node_t *name)
{
    for (lxb_dom_node_t *node = name->first_child; node; node = dom_next(node, name, true)) {
        char text[16];
        bool sign = dom_tag(node) == LXB_TAG_A && dom_collect(node, text, sizeof text) < 5 &&
                    !isalnum((unsigned char)*text);
        if (sign || dom_tag(node) == LXB_TAG_IMG) {
            node_drop(node, OMIT_CONTROLS);
        }
    }
    flush_block(writer);
    for (lxb_dom_node_t *node = name->first_child; node; node = node->next) {
        write_node(writer, node);
        writer->space = true;
    }
    flush_block(writer);
}

void write_quote(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode != MODE_BLOCKS || node == writer->boxed_quote) {
        write_block(writer, node);
        return;
    }
    flush_block(writer);
    if (write_callout(writer, node)) {
        return;
    }
    output_gap(writer);
    size_t before = writer->out->length;
    lxb_dom_node_t *name = quoted_name(node);
    struct prefix_mark mark = prefix_push(writer, "> ", "> ");
    if (name) {
        write_quoted_name(writer, name);
        node_mark(name, NODE_DROPPED);
    }
    const lxb_dom_node_t *outer = writer->boxed_quote;
    writer->boxed_quote =
        dom_tag(node) == LXB_TAG_BLOCKQUOTE ? outer : dom_find(node, LXB_TAG_BLOCKQUOTE);
    write_children(writer, node);
    flush_block(writer);
    writer->boxed_quote = outer;
    prefix_pop(writer, mark);
    if (name) {
        node_unmark(name, NODE_DROPPED);
    }
    writer->gap = writer->out->length > before ? GAP_BLANK : GAP_NONE;
    writer->block_length = 0;
}

bool quote_is_box(const lxb_dom_node_t *node)
{
    return dom_holds_any(dom_class(node), quote_boxes) ||
           (dom_tag(node) == LXB_TAG_ASIDE && dom_has_word(dom_class(node), "quote"));
}

/* ---- definition lists ---- */

/* Terms as paragraphs, each with its definitions below, marked by a colon. Without a term before it
 * a definition is only indented, as some write replies. */
void write_definitions(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    bool has_term = false;
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        lxb_tag_id_t tag = dom_tag(child);
        if (tag == LXB_TAG_DIV && !node_is_left_out(child)) {
            write_definitions(writer, child);
            continue;
        }
        has_term = has_term || tag == LXB_TAG_DT;
        if (tag != LXB_TAG_DD || !has_term || writer->mode != MODE_BLOCKS ||
            node_is_left_out(child)) {
            write_node(writer, child);
            flush_block(writer);
            continue;
        }
        writer->gap = writer->gap == GAP_BLANK ? GAP_LINE : writer->gap;
        write_prefixed(writer, child, ": ", "  ");
        writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
    }
}

/* ---- callouts: boxes that say "note" or "warning", as quotes that say which ---- */

/* Whether a text is the name of the kind, or near to it: "Note:", "NOTE". */
static bool is_kind(const char *text, size_t length, const char *kind)
{
    while (length && strchr(":.! ", text[length - 1])) {
        length--;
    }
    return length == strlen(kind) && strncasecmp(text, kind, length) == 0;
}

/* The part of the box that holds its title: one that is called so, or one that says nothing but its
 * kind. NULL when it has none. */
static lxb_dom_node_t *title_of(lxb_dom_node_t *box, const char *kind)
{
    int elements = 0;
    for (lxb_dom_node_t *node = box->first_child; node && elements < 8;
         node = dom_next(node, box, true)) {
        if (dom_is_text(node)) {
            size_t length;
            const char *text = dom_text(node, &length);
            while (length && isspace((unsigned char)*text)) {
                text++;
                length--;
            }
            if (length) {
                return NULL;
            }
        }
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || dom_tag(node) == LXB_TAG_SVG) {
            continue;
        }
        elements++;
        char text[16];
        size_t length = dom_collect(node, text, sizeof text);
        if (dom_tag(node) == LXB_TAG_SUMMARY || is_kind(text, length, kind) ||
            (node->parent == box && dom_heading_level(node)) ||
            dom_holds_any(dom_class(node), callout_titles)) {
            return length ? node : NULL;
        }
    }
    return NULL;
}

/* What a title says, without the colon that led over to the text. */
static const char *title_text(struct arena *arena, const lxb_dom_node_t *title)
{
    const char *text = dom_collect_text(arena, title);
    size_t length = text ? strlen(text) : 0;
    while (length && strchr(": ", text[length - 1])) {
        length--;
    }
    return text ? arena_strndup(arena, text, length) : NULL;
}

static void put_head(struct writer *writer, const char *kind, const char *fold, const char *title)
{
    struct buf head;
    buf_init(&head, writer->out->ceiling);
    buf_printf(&head, "[!%s]%s ", kind, fold);
    if (title && *title) {
        buf_puts(&head, title);
    } else {
        buf_putc(&head, (char)toupper((unsigned char)*kind));
        buf_puts(&head, kind + 1);
    }
    output_buf(writer, &head);
    writer->gap = GAP_LINE;
}

bool write_callout(struct writer *writer, lxb_dom_node_t *node)
{
    const char *kind = writer->mode == MODE_BLOCKS ? callout_kind(node) : NULL;
    if (!kind) {
        return false;
    }
    lxb_tag_id_t tag = dom_tag(node);
    flush_block(writer);
    lxb_dom_node_t *title = title_of(node, kind);
    const char *text = title ? title_text(writer->arena, title) : NULL;
    if (title) {
        dom_mark_written(title);
        node_mark(title, NODE_DROPPED);
    }
    const char *fold = tag == LXB_TAG_DETAILS ? "-" : dom_attr(node, "data-callout-fold");
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        /* A box that is folded shows itself to who clicks. */
        node_unmark(child, NODE_HIDDEN);
    }
    output_gap(writer);
    struct prefix_mark mark = prefix_push(writer, "> ", "> ");
    put_head(writer, kind, fold && (*fold == '-' || *fold == '+') ? (*fold == '-' ? "-" : "+") : "",
             text);
    write_children(writer, node);
    flush_block(writer);
    prefix_pop(writer, mark);
    writer->gap = GAP_BLANK;
    writer->block_length = 0;
    return true;
}

/* ---- lists: bullets, numbers as the page counts them, lists in lists ---- */

#define MARKER_SIZE 24

static long number_in(const lxb_dom_node_t *node, const char *name, long otherwise)
{
    const char *value = dom_attr(node, name);
    if (!value || !*value) {
        return otherwise;
    }
    char *end;
    long number = strtol(value, &end, 10);
    return *end || number < 0 || number > 999999999 ? otherwise : number;
}

static void write_marked(struct writer *writer, lxb_dom_node_t *node, const char *marker)
{
    char rest[MARKER_SIZE] = "";
    memset(rest, ' ', strnlen(marker, sizeof rest - 1));
    writer->items++;
    write_prefixed(writer, node, marker, rest);
    writer->items--;
    if (writer->gap == GAP_BLANK) {
        writer->gap = GAP_LINE;
    }
}

/* An item outside of any list. */
void write_item(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode != MODE_BLOCKS) {
        write_block(writer, node);
        return;
    }
    flush_block(writer);
    write_marked(writer, node, "- ");
    writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
}

static size_t count_items(const lxb_dom_node_t *list)
{
    size_t count = 0;
    for (const lxb_dom_node_t *child = list->first_child; child; child = child->next) {
        count += dom_tag(child) == LXB_TAG_LI;
    }
    return count;
}

void write_list(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->mode != MODE_BLOCKS) {
        write_block(writer, node);
        return;
    }
    flush_block(writer);
    if (writer->items && writer->gap == GAP_BLANK) {
        writer->gap = GAP_LINE; /* a list in an item stays close to it */
    }
    size_t before_list = writer->out->length;
    enum gap gap_before = writer->gap;
    bool ordered = dom_tag(node) == LXB_TAG_OL;
    long step = ordered && dom_attr(node, "reversed") ? -1 : 1;
    long number = number_in(node, "start", step < 0 ? (long)count_items(node) : 1);
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        if (dom_tag(child) != LXB_TAG_LI) {
            /* A list right in a list belongs to the item before it. */
            bool nested = dom_tag(child) == LXB_TAG_UL || dom_tag(child) == LXB_TAG_OL;
            const char *indent = nested ? "  " : "";
            struct prefix_mark mark = prefix_push(writer, indent, indent);
            writer->items++;
            write_node(writer, child);
            flush_block(writer);
            writer->items--;
            prefix_pop(writer, mark);
            writer->gap = nested && writer->gap == GAP_BLANK ? GAP_LINE : writer->gap;
            continue;
        }
        if (node_is_left_out(child)) {
            continue;
        }
        char marker[MARKER_SIZE] = "- ";
        if (ordered) {
            number = number_in(child, "value", number);
            snprintf(marker, sizeof marker, "%ld. ", number < 0 ? 0 : number);
        }
        size_t before = writer->out->length;
        write_marked(writer, child, marker);
        number += writer->out->length > before ? step : 0;
    }
    if (writer->out->length == before_list) {
        writer->gap = gap_before;
        return;
    }
    writer->gap = GAP_BLANK;
    writer->block_length = 0;
}
