/* Lists: bullets, numbers as the page counts them, lists in lists. */
#include "page/html/markdown/writer.h"

#include <stdio.h>
#include <stdlib.h>

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

static bool is_empty_item(const lxb_dom_node_t *node)
{
    return (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN | NODE_NOTE)) != 0;
}

static void write_marked(struct writer *writer, lxb_dom_node_t *node, const char *marker)
{
    char rest[MARKER_SIZE] = "";
    memset(rest, ' ', strnlen(marker, sizeof rest - 1));
    struct prefix_mark mark = prefix_push(writer, marker, rest);
    writer->items++;
    write_children(writer, node);
    flush_block(writer);
    writer->items--;
    prefix_pop(writer, mark);
    if (writer->gap == GAP_BLANK) {
        writer->gap = GAP_LINE;
    }
}

/* An item outside of any list. */
void write_item(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    if (writer->mode == MODE_BLOCKS) {
        write_marked(writer, node, "- ");
        writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
    } else {
        write_children(writer, node);
        flush_block(writer);
    }
}

void write_list(struct writer *writer, lxb_dom_node_t *node)
{
    flush_block(writer);
    if (writer->mode != MODE_BLOCKS) {
        write_children(writer, node);
        flush_block(writer);
        return;
    }
    if (writer->items && writer->gap == GAP_BLANK) {
        writer->gap = GAP_LINE; /* a list in an item stays close to it */
    }
    size_t before_list = writer->out->length;
    bool ordered = dom_tag(node) == LXB_TAG_OL;
    long number = number_in(node, "start", 1);
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        if (dom_tag(child) != LXB_TAG_LI) {
            /* A list right in a list belongs to the item before it. */
            struct prefix_mark mark = prefix_push(writer, "  ", "  ");
            bool nested = dom_tag(child) == LXB_TAG_UL || dom_tag(child) == LXB_TAG_OL;
            if (!nested) {
                prefix_pop(writer, mark);
            }
            writer->items++;
            write_node(writer, child);
            flush_block(writer);
            writer->items--;
            if (nested) {
                prefix_pop(writer, mark);
            }
            continue;
        }
        if (is_empty_item(child)) {
            continue;
        }
        char marker[MARKER_SIZE] = "- ";
        if (ordered) {
            number = number_in(child, "value", number);
            snprintf(marker, sizeof marker, "%ld. ", number);
        }
        size_t before = writer->out->length;
        write_marked(writer, child, marker);
        number += writer->out->length > before;
    }
    if (writer->out->length > before_list) {
        writer->gap = GAP_BLANK;
        writer->block_length = 0;
    }
}
