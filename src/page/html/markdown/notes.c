/* Notes that no link leads to: numbers in superscript, and paragraphs behind the text that begin
 * with the same numbers. */
#include "page/html/markdown/notes.h"

#include "tables.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* ---- titles ---- */

bool notes_is_title(const lxb_dom_node_t *node)
{
    char text[40];
    size_t length = dom_collect(node, text, sizeof text);
    while (length && (text[length - 1] == ':' || text[length - 1] == ' ')) {
        text[--length] = '\0';
    }
    for (const char *const *title = note_titles; *title; title++) {
        if (strcasecmp(text, *title) == 0) {
            return true;
        }
    }
    return false;
}

lxb_dom_node_t *notes_title_before(const lxb_dom_node_t *node)
{
    lxb_dom_node_t *previous = dom_previous_element(node);
    if (previous && dom_tag(previous) == LXB_TAG_HR) {
        previous = dom_previous_element(previous);
    }
    bool title = previous &&
                 (dom_heading_level(previous) || dom_tag(previous) == LXB_TAG_P ||
                  dom_tag(previous) == LXB_TAG_DIV) &&
                 notes_is_title(previous);
    return title ? previous : NULL;
}

/* ---- finding ---- */

/* The number that a paragraph begins with, set apart from its text: <sup>1</sup>,
 * <strong>1</strong> or <b><sup>1</sup> ...</b>. `bold` tells whether it was only bold. */
static lxb_dom_node_t *leading_number(const lxb_dom_node_t *block, char *number, size_t size,
                                      bool *bold)
{
    lxb_dom_node_t *node = block->first_child;
    for (int steps = 0; node && steps < 6; steps++) {
        size_t length;
        lxb_tag_id_t tag = dom_tag(node);
        if (dom_is_text(node)) {
            const char *text = dom_text(node, &length);
            size_t blank = 0;
            while (blank < length && isspace((unsigned char)text[blank])) {
                blank++;
            }
            if (blank < length) {
                return NULL;
            }
            node = node->next;
            continue;
        }
        if (tag == LXB_TAG_SUP || tag == LXB_TAG_STRONG || tag == LXB_TAG_B) {
            length = dom_collect(node, number, size);
            while (length && strchr("].): ", number[length - 1])) {
                number[--length] = '\0';
            }
            if (length && strspn(number, "0123456789") == length) {
                *bold = tag != LXB_TAG_SUP;
                return node;
            }
        }
        if (tag != LXB_TAG_STRONG && tag != LXB_TAG_B && tag != LXB_TAG_SPAN) {
            return NULL;
        }
        node = node->first_child;
    }
    return NULL;
}

/* Whether a block is one of those behind a rule or under a title of notes. */
static bool is_behind(const lxb_dom_node_t *block)
{
    int steps = 0;
    for (const lxb_dom_node_t *node = dom_previous_element(block); node && steps < 60;
         node = dom_previous_element(node), steps++) {
        if (dom_tag(node) == LXB_TAG_HR) {
            return true;
        }
        if (dom_heading_level(node)) {
            return notes_is_title(node);
        }
    }
    return false;
}

static bool is_note_box(const lxb_dom_node_t *node)
{
    static const char *const WORDS[] = {"footnotes", "endnotes", NULL};
    return dom_holds_any(dom_class(node), WORDS) || dom_holds_any(dom_id(node), WORDS);
}

bool notes_begins_block(const lxb_dom_node_t *reference)
{
    const lxb_dom_node_t *block = reference;
    while (block && dom_tag(block) != LXB_TAG_P && dom_tag(block) != LXB_TAG_LI) {
        block = block->parent;
    }
    char number[8];
    bool bold;
    lxb_dom_node_t *found = block ? leading_number(block, number, sizeof number, &bold) : NULL;
    return found && (dom_within(reference, found) || dom_within(found, reference));
}

size_t notes_number(lxb_dom_node_t *block)
{
    char number[8];
    bool bold = false;
    if (!leading_number(block, number, sizeof number, &bold) || (bold && !is_behind(block))) {
        return 0;
    }
    return strlen(number) <= 3 ? (size_t)strtoul(number, NULL, 10) : 0;
}

lxb_dom_node_t *notes_list(lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    bool box = (tag == LXB_TAG_DIV || tag == LXB_TAG_SECTION || tag == LXB_TAG_FOOTER) &&
               is_note_box(node);
    return box ? dom_find(node, LXB_TAG_OL) : NULL;
}

lxb_dom_node_t *notes_next(lxb_dom_node_t *node)
{
    char number[8];
    bool bold;
    lxb_dom_node_t *next = dom_next_element(node);
    lxb_tag_id_t tag = next ? dom_tag(next) : LXB_TAG__UNDEF;
    bool fits = tag == LXB_TAG_P || tag == LXB_TAG_UL || tag == LXB_TAG_OL ||
                tag == LXB_TAG_BLOCKQUOTE || tag == LXB_TAG_PRE;
    if (!fits || (node_marks(next) & (NODE_NOTE | NODE_DROPPED)) || dom_tag(node) == LXB_TAG_LI ||
        !is_behind(node) || leading_number(next, number, sizeof number, &bold)) {
        return NULL;
    }
    return next;
}

/* ---- cleaning ---- */

/* Arrows and words of links that lead back to the text. */
static bool is_back_link(const lxb_dom_node_t *link)
{
    const char *href = dom_known_attr(link, LXB_DOM_ATTR_HREF);
    if (dom_holds_any(dom_class(link), note_back_links) ||
        dom_holds_any(dom_attr(link, "role"), note_back_links) ||
        dom_attr(link, "data-footnote-backref")) {
        return true;
    }
    if (!href || !strchr(href, '#')) {
        return false;
    }
    char text[24];
    size_t length = dom_collect(link, text, sizeof text);
    if (length == 0 || length > 16) {
        return length == 0;
    }
    bool number = strspn(text, "0123456789[]().^ ") == length;
    return number || (length == 1 && isalpha((unsigned char)*text)) ||
           dom_holds_any(text, note_back_signs);
}

/* Cuts the mark off the first text of a note. Only the view of the text moves; its memory belongs
 * to the tree's pool, which goes as a whole. */
static void cut_mark(lxb_dom_node_t *text)
{
    lexbor_str_t *data = &((lxb_dom_character_data_t *)text)->data;
    const char *bytes = (const char *)data->data;
    size_t at = 0;
    while (at < data->length && isspace((unsigned char)bytes[at])) {
        at++;
    }
    size_t open = at;
    at += at < data->length && (bytes[at] == '[' || bytes[at] == '(');
    size_t digits = at;
    while (at < data->length && isdigit((unsigned char)bytes[at])) {
        at++;
    }
    bool closed = at < data->length && strchr("]).:", bytes[at]);
    bool whole = at == data->length;
    if (at == digits || at - digits > 4 || (!closed && !whole) || (open != digits && !closed)) {
        return;
    }
    at += closed;
    at += at < data->length && bytes[at] == '.';
    data->data += at;
    data->length -= at;
}

void notes_clean(lxb_dom_node_t *definition)
{
    for (lxb_dom_node_t *node = definition->first_child; node;
         node = dom_next(node, definition, true)) {
        if ((dom_tag(node) == LXB_TAG_A && is_back_link(node)) ||
            dom_holds_any(dom_class(node), note_marks)) {
            node_mark(node, NODE_DROPPED);
        }
        node_unmark(node, NODE_HIDDEN);
    }
    char number[8];
    bool bold;
    lxb_dom_node_t *mark = leading_number(definition, number, sizeof number, &bold);
    for (lxb_dom_node_t *below = dom_first_element(definition);
         !mark && below && below->first_child; below = dom_first_element(below)) {
        mark = leading_number(below, number, sizeof number, &bold);
    }
    if (mark) {
        node_mark(mark, NODE_DROPPED);
        return;
    }
    for (lxb_dom_node_t *node = definition->first_child; node;
         node = dom_next(node, definition, !(node_marks(node) & NODE_DROPPED))) {
        size_t length;
        if (dom_is_text(node) && !(node->parent && (node_marks(node->parent) & NODE_DROPPED))) {
            const char *text = dom_text(node, &length);
            size_t blank = 0;
            while (blank < length && isspace((unsigned char)text[blank])) {
                blank++;
            }
            if (blank < length) {
                cut_mark(node);
                return;
            }
        }
    }
}
