/* Marks beside headings, terms and captions that are there for who copies, edits or looks at the
 * source, not for who reads: a link to the very place it stands at that says nothing but a sign,
 * links that say "source" or "edit", buttons. They are left out. */
#include "html/markdown/writer.h"

#include "tables.h"
#include "text/text.h"

#include <ctype.h>
#include <strings.h>

#define MOST_STEPS 5

/* ---- where it stands ---- */

static bool is_label(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    return dom_heading_level(node) || tag == LXB_TAG_DT || tag == LXB_TAG_CAPTION ||
           tag == LXB_TAG_FIGCAPTION || tag == LXB_TAG_SUMMARY || tag == LXB_TAG_LEGEND;
}

/* The heading, term or caption that the element is in; NULL when there is none near. */
static lxb_dom_node_t *label_around(const lxb_dom_node_t *node)
{
    lxb_dom_node_t *around = node->parent;
    for (int steps = 0; around && steps < MOST_STEPS; steps++, around = around->parent) {
        if (is_label(around)) {
            return around;
        }
    }
    return NULL;
}

/* Whether a heading, a term or a caption says something beside it. One that holds nothing else is a
 * link, or opens something, as a whole. */
static bool stands_beside_text(const lxb_dom_node_t *mark)
{
    const lxb_dom_node_t *label = label_around(mark);
    for (const lxb_dom_node_t *node = label ? label->first_child : NULL; node;
         node = dom_next(node, label, node != mark)) {
        if (dom_is_text(node) && dom_has_text(node) && !dom_within(node, mark)) {
            return true;
        }
    }
    return false;
}

/* Whether the place that it leads to is what it stands in. */
static bool leads_here(const lxb_dom_node_t *node, const char *place)
{
    const lxb_dom_node_t *around = node->parent;
    for (int steps = 0; *place && around && steps < MOST_STEPS; steps++, around = around->parent) {
        const char *id = around->type == LXB_DOM_NODE_TYPE_ELEMENT ? dom_id(around) : NULL;
        if (id && strcmp(id, place) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- what it says ---- */

/* Whether it is a sign and no word: a hash, a paragraph sign, an emoji, a letter of an icon font.
 * Stars, daggers and arrows mark notes and ways back. */
static bool is_sign(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        uint32_t point = text_next(&text, end);
        bool sign = point < 0x80 ? strchr("#[]() ", (int)point) != NULL
                                 : (point >= 0xA1 && point <= 0xBF) ||
                                       (point >= 0x2000 && point <= 0x2BFF && point != 0x2020 &&
                                        point != 0x2021 && (point < 0x2190 || point > 0x21FF)) ||
                                       (point >= 0xE000 && point <= 0xF8FF) ||
                                       (point >= 0xFE00 && point <= 0xFE0F) || point == 0xFEFF ||
                                       (point >= 0x1F000 && point <= 0x1FBFF);
        if (!sign) {
            return false;
        }
    }
    return true;
}

static bool is_phrase(const char *text, const char *const *phrases)
{
    for (; *phrases; phrases++) {
        if (strcasecmp(text, *phrases) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether its names or what it says of itself call it a link to copy. */
static bool is_called_anchor(const lxb_dom_node_t *link)
{
    return dom_holds_any(dom_class(link), anchor_words) ||
           dom_holds_any(dom_attr(link, "title"), anchor_titles) ||
           dom_holds_any(dom_attr(link, "aria-label"), anchor_titles);
}

static bool is_mark(const lxb_dom_node_t *link)
{
    char text[32];
    size_t length = dom_collect(link, text, sizeof text);
    if (length >= sizeof text - 4) {
        return false;
    }
    const char *href = dom_known_attr(link, LXB_DOM_ATTR_HREF);
    const char *place = href ? strchr(href, '#') : NULL;
    bool labels = stands_beside_text(link);
    if (length && is_phrase(text, source_words)) {
        return labels || dom_holds_any(dom_class(link), source_classes);
    }
    if (length == 0) {
        /* A picture is one as well. */
        const lxb_dom_node_t *label = label_around(link);
        return href && label && (dom_heading_level(label) || (place && is_called_anchor(link)));
    }
    bool called = is_called_anchor(link);
    bool says_nothing =
        is_sign(text, length) || is_phrase(text, anchor_signs) || (labels && called && length <= 3);
    return place && says_nothing && (labels || called || leads_here(link, place + 1));
}

/* Whether brackets are all that an element around it says beside it: "[src]". */
static bool is_bracket_around(const lxb_dom_node_t *around, const lxb_dom_node_t *mark)
{
    if (!around || dom_tag(around) != LXB_TAG_SPAN) {
        return false;
    }
    for (const lxb_dom_node_t *node = around->first_child; node;
         node = dom_next(node, around, node != mark)) {
        size_t length = 0;
        const char *text = dom_is_text(node) && node != mark ? dom_text(node, &length) : "";
        for (size_t i = 0; i < length; i++) {
            if (!strchr("[]() \t\r\n", text[i])) {
                return false;
            }
        }
    }
    return true;
}

void marks_drop(struct writer *writer)
{
    for (size_t i = 0; i < writer->page->root_count; i++) {
        lxb_dom_node_t *root = writer->page->roots[i];
        for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
            lxb_tag_id_t tag = dom_tag(node);
            bool drop = (tag == LXB_TAG_A && is_mark(node)) ||
                        (tag == LXB_TAG_BUTTON && stands_beside_text(node)) ||
                        (tag == LXB_TAG_SPAN && dom_has_word(dom_class(node), "mw-editsection"));
            if (drop && !(node_marks(node) & (NODE_DROPPED | NODE_NOTE | NODE_NOTE_REFERENCE))) {
                node_drop(is_bracket_around(node->parent, node) ? node->parent : node,
                          OMIT_CONTROLS);
            }
        }
    }
}
