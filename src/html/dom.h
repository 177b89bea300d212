/* Looking at lexbor's tree: which element is this, what do its attributes say, what comes next.
 * Nothing here changes the tree but for the marks of page.h. */
#ifndef FORAGE_HTML_DOM_H
#define FORAGE_HTML_DOM_H

#include "html/page.h"
#include "text/word_table.h"

#include <lexbor/dom/interfaces/character_data.h>
#include <string.h>

/* The tag of an element (LXB_TAG_DIV, ...); LXB_TAG__UNDEF for anything else. */
static inline lxb_tag_id_t dom_tag(const lxb_dom_node_t *node)
{
    return node->type == LXB_DOM_NODE_TYPE_ELEMENT ? node->local_name : LXB_TAG__UNDEF;
}

static inline bool dom_is_text(const lxb_dom_node_t *node)
{
    return node->type == LXB_DOM_NODE_TYPE_TEXT || node->type == LXB_DOM_NODE_TYPE_CDATA_SECTION;
}

/* The bytes of a text node; they may hold anything but invalid UTF-8. */
static inline const char *dom_text(const lxb_dom_node_t *node, size_t *length)
{
    const lexbor_str_t *data = &((const lxb_dom_character_data_t *)node)->data;
    *length = data->length;
    return (const char *)data->data;
}

/* What comes after `node` in the order of the page, below `root` only; NULL at the end. With
 * `below` false the children of `node` are passed over. */
static inline lxb_dom_node_t *dom_next(const lxb_dom_node_t *node, const lxb_dom_node_t *root,
                                       bool below)
{
    if (below && node->first_child) {
        return node->first_child;
    }
    while (node != root) {
        if (node->next) {
            return node->next;
        }
        node = node->parent;
        if (!node) {
            return NULL;
        }
    }
    return NULL;
}

/* The name of an element in lower case: for elements that lexbor has no number for. */
const char *dom_name(const lxb_dom_node_t *node);

/* Values of attributes; NULL when the element lacks it, "" when it has no value. */
const char *dom_attr(const lxb_dom_node_t *node, const char *name);
const char *dom_class(const lxb_dom_node_t *node);
const char *dom_id(const lxb_dom_node_t *node);
/* One that lexbor has a number for (LXB_DOM_ATTR_HREF, ...), which is faster. */
const char *dom_known_attr(const lxb_dom_node_t *node, lxb_dom_attr_id_t id);
/* The number that any other name of an attribute has in this document: for loops over all elements.
 * LXB_DOM_ATTR__UNDEF, which no element has, where the page does not use the name. */
lxb_dom_attr_id_t dom_attr_number(const struct page *page, const char *name);
/* A number of pixels in an attribute, or -1. */
int dom_pixels(const lxb_dom_node_t *node, lxb_dom_attr_id_t id);

/* Whether `list`, words between white space, holds `word`; case does not count. No list, no word.
 */
bool dom_has_word(const char *list, const char *word);
/* Whether `text` holds one of the parts, which end with NULL; case does not count. No text, no
 * part. */
bool dom_holds_any(const char *text, const char *const *parts);
/* The values that a table gives to the words of a list, together; to those of the element's class.
 */
uint32_t dom_word_values(const char *list, const struct word_table *table);
uint32_t dom_class_values(const lxb_dom_node_t *node, const struct word_table *table);

/* Whether `ancestor` is above `node` or is it. */
bool dom_within(const lxb_dom_node_t *node, const lxb_dom_node_t *ancestor);
/* The nearest element with the tag, `node` itself included; NULL when there is none. */
lxb_dom_node_t *dom_closest(lxb_dom_node_t *node, lxb_tag_id_t tag);
/* The first element with the tag below `root`; NULL when there is none. */
lxb_dom_node_t *dom_find(const lxb_dom_node_t *root, lxb_tag_id_t tag);
/* The next or previous sibling that is an element, whatever text is between. */
lxb_dom_node_t *dom_next_element(const lxb_dom_node_t *node);
lxb_dom_node_t *dom_previous_element(const lxb_dom_node_t *node);
lxb_dom_node_t *dom_first_element(const lxb_dom_node_t *node);

/* Whether the tag starts a block of its own on a page. */
bool dom_is_block(lxb_tag_id_t tag);
/* Whether a block is somewhere below. */
bool dom_holds_block(const lxb_dom_node_t *node);
/* 1 to 6 for a heading, else 0. */
static inline int dom_heading_level(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    return tag >= LXB_TAG_H1 && tag <= LXB_TAG_H6 ? (int)(tag - LXB_TAG_H1) + 1 : 0;
}

/* Who the text in an element is for. Scripts and the like have none. What stands in for a picture,
 * a film or a script is seen where that does not work. The entries of a list box, and what a field
 * holds, are seen there. */
enum audience { FOR_READERS, FOR_NOBODY, FOR_OTHER_BROWSERS, FOR_CHOOSING };
/* Of an element it is one of these, and: */
enum {
    AUDIENCE = 3,
    TEXT_UNREAD = 4,  /* what is collected is without its text */
    TEXT_SKIPPED = 8, /* choosing passes over it, as if it were not there */
};

extern const uint8_t DOM_TEXTS[LXB_TAG__LAST_ENTRY];

/* These, of a tag; 0 for elements that lexbor has no number for. */
static inline uint8_t dom_text_use(lxb_tag_id_t tag)
{
    return tag < LXB_TAG__LAST_ENTRY ? DOM_TEXTS[tag] : 0;
}

static inline enum audience dom_audience(const lxb_dom_node_t *element)
{
    return (enum audience)(dom_text_use(element->local_name) & AUDIENCE);
}

/* Collects the text below `node`, white space collapsed and trimmed, without scripts, styles and
 * what is hidden or a control that was dropped, into `out`; at most `most` bytes, cut between
 * characters. Returns the length, without the NUL. */
size_t dom_collect(const lxb_dom_node_t *node, char *out, size_t most);
/* The same, in the arena, all of it up to 64 kB. NULL when there is no text. */
const char *dom_collect_text(struct arena *arena, const lxb_dom_node_t *node);
/* Marks the texts below as written: what dom_collect() would take. For what is written otherwise
 * than node by node. */
void dom_mark_written(lxb_dom_node_t *root);
/* Whether there is anything but white space below. */
bool dom_has_text(const lxb_dom_node_t *node);

#endif
