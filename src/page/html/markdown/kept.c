/* What choosing dropped for its names, and what is yet a part of the text: words in the middle of a
 * sentence, a block of code, the source of a quote, a callout or a table between two paragraphs.
 * Where such a thing stands says more than how it is called. */
#include "page/html/markdown/writer.h"

#include <ctype.h>
#include <string.h>

#define LONGEST_BESIDE 64 /* bytes beside code that a box of code may hold: labels */

enum wording { BLANK, SIGNS, LETTERS };

/* What a sibling that is text holds. */
static enum wording wording_of(const lxb_dom_node_t *node)
{
    size_t length = 0;
    enum wording found = BLANK;
    const char *text = node && dom_is_text(node) ? dom_text(node, &length) : "";
    for (size_t i = 0; i < length; i++) {
        if (isalnum((unsigned char)text[i]) || (text[i] & 0x80)) {
            return LETTERS;
        }
        found = isspace((unsigned char)text[i]) ? found : SIGNS;
    }
    return found;
}

static bool is_inside_sentence(const lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    bool word = tag == LXB_TAG_SPAN || tag == LXB_TAG_A || tag == LXB_TAG_EM || tag == LXB_TAG_I ||
                tag == LXB_TAG_B || tag == LXB_TAG_STRONG || tag == LXB_TAG_ABBR ||
                tag == LXB_TAG_CODE || tag == LXB_TAG_CITE || tag == LXB_TAG_MARK;
    lxb_tag_id_t around = node->parent ? dom_tag(node->parent) : LXB_TAG__UNDEF;
    bool paragraph =
        around == LXB_TAG_P || around == LXB_TAG_LI || around == LXB_TAG_DD || around == LXB_TAG_TD;
    if (!word || !paragraph) {
        return false;
    }
    enum wording before = wording_of(node->prev);
    enum wording after = wording_of(node->next);
    return before != BLANK && after != BLANK && (before == LETTERS || after == LETTERS);
}

/* Whether code is all that a box holds, but for labels. */
static bool is_code(lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    if (tag == LXB_TAG_PRE) {
        return true;
    }
    bool box = tag == LXB_TAG_DIV || tag == LXB_TAG_FIGURE || tag == LXB_TAG_SECTION;
    if (!box || !dom_find(node, LXB_TAG_PRE)) {
        return false;
    }
    size_t beside = 0;
    for (lxb_dom_node_t *below = node->first_child; below && beside <= LONGEST_BESIDE;
         below = dom_next(below, node, dom_tag(below) != LXB_TAG_PRE)) {
        char text[LONGEST_BESIDE];
        beside += dom_is_text(below) ? dom_collect(below, text, sizeof text) : 0;
    }
    return beside <= LONGEST_BESIDE;
}

static bool is_text_block(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = node ? dom_tag(node) : LXB_TAG__UNDEF;
    return (tag == LXB_TAG_P || tag == LXB_TAG_PRE || tag == LXB_TAG_UL || tag == LXB_TAG_OL ||
            (tag >= LXB_TAG_H1 && tag <= LXB_TAG_H6)) &&
           !node_is_left_out(node);
}

static bool is_part_of_text(lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    if (tag == LXB_TAG_FOOTER) {
        return node->parent && dom_tag(node->parent) == LXB_TAG_BLOCKQUOTE;
    }
    if (is_inside_sentence(node, tag) || is_code(node, tag)) {
        return true;
    }
    bool formed = callout_kind(node) || (tag == LXB_TAG_TABLE && dom_find(node, LXB_TAG_TH));
    return formed && is_text_block(dom_previous_element(node)) &&
           is_text_block(dom_next_element(node));
}

void keep_parts_of_text(lxb_dom_node_t *root)
{
    bool below = true;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        uintptr_t dropped = node_marks(node) & (NODE_DROPPED | NODE_HIDDEN);
        if (dropped == NODE_DROPPED && is_part_of_text(node)) {
            node_unmark(node, NODE_DROPPED);
            dropped = 0;
        }
        below = !dropped;
    }
}
