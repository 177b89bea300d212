/* Callouts: boxes that say "note" or "warning", as quotes that say which. */
#include "page/html/markdown/writer.h"

#include "tables.h"

#include <ctype.h>
#include <strings.h>

/* The kind in one word of a class: "note", "alert-note", "alert--note", "markdown-alert-note". */
static const char *kind_in_word(const char *word, size_t length)
{
    for (const char *const *kind = callout_kinds; *kind; kind++) {
        size_t size = strlen(*kind);
        if (length == size && strncasecmp(word, *kind, size) == 0) {
            return *kind;
        }
        if (length > size + 1 && strncasecmp(word + length - size, *kind, size) == 0 &&
            (word[length - size - 1] == '-' || word[length - size - 1] == '_')) {
            for (const char *const *box = callout_boxes; *box; box++) {
                if (strncasecmp(word, *box, strlen(*box)) == 0) {
                    return *kind;
                }
            }
        }
    }
    return NULL;
}

static const char *kind_of(lxb_dom_node_t *node)
{
    const char *words = dom_class(node);
    if (!dom_holds_any(words, callout_boxes)) {
        return NULL;
    }
    bool box = false;
    const char *kind = NULL;
    for (const char *at = words; *at;) {
        at += strspn(at, " \t\r\n\f");
        size_t length = strcspn(at, " \t\r\n\f");
        const char *found = length ? kind_in_word(at, length) : NULL;
        kind = kind ? kind : found;
        for (const char *const *word = callout_boxes; *word && !box; word++) {
            box = strncasecmp(at, *word, strlen(*word)) == 0;
        }
        at += length;
    }
    return box ? kind : NULL;
}

/* The part of the box that holds its title; NULL when it has none. */
static lxb_dom_node_t *title_of(lxb_dom_node_t *box)
{
    int elements = 0;
    for (lxb_dom_node_t *node = box->first_child; node && elements < 4;
         node = dom_next(node, box, true)) {
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || dom_tag(node) == LXB_TAG_SVG) {
            continue;
        }
        elements++;
        if (dom_tag(node) == LXB_TAG_SUMMARY || dom_holds_any(dom_class(node), callout_titles)) {
            return dom_has_text(node) ? node : NULL;
        }
    }
    return NULL;
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
    output_block(writer, head.data ? head.data : "", head.length);
    writer->gap = GAP_LINE;
    buf_done(&head);
}

bool write_callout(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    bool fits = tag == LXB_TAG_DIV || tag == LXB_TAG_ASIDE || tag == LXB_TAG_SECTION ||
                tag == LXB_TAG_BLOCKQUOTE || tag == LXB_TAG_DETAILS || tag == LXB_TAG_P;
    if (!fits || writer->mode != MODE_BLOCKS) {
        return false;
    }
    const char *own = dom_class(node) ? dom_attr(node, "data-callout") : NULL;
    const char *kind = own && *own ? own : kind_of(node);
    if (!kind || !dom_has_text(node)) {
        return false;
    }
    flush_block(writer);
    lxb_dom_node_t *title = title_of(node);
    const char *text = title ? dom_collect_text(writer->arena, title) : NULL;
    if (title) {
        node_mark(title, NODE_DROPPED);
    }
    const char *fold = dom_attr(node, "data-callout-fold");
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
