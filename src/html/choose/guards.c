/* Guards over what was dropped, for its names or by the model: words in the middle of a sentence, a
 * block of code, the source of a quote, a callout or a table between two paragraphs are parts of
 * the text. Where such a thing stands says more than how it is called. */
#include "html/choose/choose.h"

#include "html/callout.h"
#include "html/dom.h"

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
           !(node_marks(node) & (NODE_DROPPED | NODE_HIDDEN));
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

enum { LEAST_ROWS = 2, LEAST_CELLS = 4, MOST_LINK_PERCENT = 50 };

/* A table with headings, or what is around one and says next to nothing beside it. */
static bool is_data_table(const struct stats *stats, uint32_t number)
{
    const struct element *elements = stats->elements;
    uint32_t text = 0, links = 0, beside = 0, tables = 0, rows = 0, cells = 0, heads = 0, end = 0;
    for (uint32_t i = number; i < elements[number].end; i++) {
        const struct element *element = &elements[i];
        if (element->tag == LXB_TAG_TABLE) {
            tables++;
            end = end > element->end ? end : element->end;
        }
        text += element->own.text;
        links += element->own.link_text;
        beside += i < end ? 0 : element->own.text;
        rows += element->tag == LXB_TAG_TR;
        heads += element->tag == LXB_TAG_TH;
        cells += element->tag == LXB_TAG_TD;
        if (element_takes_words(element) || tables > 1) {
            return false;
        }
    }
    return heads > 0 && rows >= LEAST_ROWS && heads + cells >= LEAST_CELLS &&
           beside <= LONGEST_BESIDE && links * 100 <= text * MOST_LINK_PERCENT;
}

#define HINTS_ELSEWHERE                                                                            \
    (HINT_NAVIGATION | HINT_FOOTER | HINT_SIDEBAR | HINT_RELATED | HINT_ADVERT | HINT_SHARE |      \
     HINT_COMMENT | HINT_REVIEW | HINT_FILTER | HINT_COOKIE | HINT_POPUP | HINT_ACCOUNT)

/* An element and all below it that was not dropped by itself. */
static void take_back(struct stats *stats, uint32_t number)
{
    uint32_t end = stats->elements[number].end;
    node_restore(stats->elements[number].node);
    stats->elements[number].dropped = false;
    for (uint32_t i = number + 1; i < end;) {
        bool marked = (node_marks(stats->elements[i].node) & NODE_DROPPED) != 0;
        stats->elements[i].dropped = marked;
        i = marked ? stats->elements[i].end : i + 1;
    }
}

/* The first and the last element below the root with sentences that stay. */
struct content_reach {
    uint32_t first, last;
};

static struct content_reach reach_of(const struct stats *stats, uint32_t root)
{
    struct content_reach reach = {UINT32_MAX, 0};
    for (uint32_t i = root; i < stats->elements[root].end; i++) {
        if (!stats->elements[i].dropped && stats->elements[i].own.prose > 0) {
            reach.first = reach.first == UINT32_MAX ? i : reach.first;
            reach.last = i;
        }
    }
    return reach;
}

/* A table of data in the midst of the text, unless its name tells what else it is. */
static bool is_table_of_text(const struct stats *stats, uint32_t number, struct content_reach text)
{
    const struct element *element = &stats->elements[number];
    return text.first < number && text.last >= element->end &&
           !element_is(element, HINTS_ELSEWHERE) && is_data_table(stats, number);
}

void guard_text(struct stats *stats, uint32_t root)
{
    struct content_reach text = reach_of(stats, root);
    for (uint32_t i = root; i < stats->elements[root].end;) {
        lxb_dom_node_t *node = stats->elements[i].node;
        bool dropped = (node_marks(node) & NODE_DROPPED) != 0;
        if (dropped && (is_part_of_text(node) || is_table_of_text(stats, i, text))) {
            take_back(stats, i);
            dropped = false;
        }
        i = dropped ? stats->elements[i].end : i + 1;
    }
    stats_sum(stats);
}
