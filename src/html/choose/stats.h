/* What choosing needs to know of each element, computed once: how much text it holds, how much of
 * that is links or prose, what its names hint at. Elements stand in an array in document order, so
 * that an element's subtree is the range from itself to `end`, and passes over the page are plain
 * loops.
 *
 * A node's place in the array is in its `user` field above the four bits of the marks of page.h. */
#ifndef FORAGE_HTML_CHOOSE_STATS_H
#define FORAGE_HTML_CHOOSE_STATS_H

#include "html/choose/hints.h"
#include "html/page.h"

enum element_role {
    ROLE_NONE,
    ROLE_NAVIGATION,
    ROLE_BANNER,
    ROLE_FOOTER,
    ROLE_SIDE,
    ROLE_SEARCH,
    ROLE_DIALOG,
    ROLE_MENU,
    ROLE_ALERT,
    /* Those above are never content. */
    ROLE_MAIN,
    ROLE_BUTTON,
};

enum element_flag {
    FLAG_BLOCK = 1,   /* starts a new line */
    FLAG_IN_LINK = 2, /* it or an ancestor is a link */
    FLAG_IN_HEADING = 4,
    FLAG_BODY_PROPERTY = 8, /* itemprop="articleBody" and the like */
    FLAG_POST_ITEM = 16,    /* microdata: a comment, an answer, a posting */
    FLAG_PRODUCT_ITEM = 32,
    FLAG_OPENS = 64, /* a control that opens a part of the page: aria-expanded, aria-controls */
    FLAG_IN_CODE = 128,
    FLAG_HEADS = 256,         /* a heading with sentences or code under it, */
    FLAG_HEADS_SECTION = 512, /* with paragraphs of them */
    FLAG_HOLDS_TITLE = 1024,  /* the heading that is the page's title is in it */
};

/* Letters are characters other than white space. */
struct measures {
    uint32_t text, link_text;
    uint32_t prose; /* letters of paragraphs that read like sentences */
    uint32_t code;
    uint32_t links, headings, images, prices, times;
    uint32_t landmarks; /* <main>, <article> and <h1>: what no window that pops up has */
    /* See sections.c: headings with paragraphs under them, counted where both are; headings with
     * sentences or code under them, counted where those begin. */
    uint32_t sections, parts;
};

struct element {
    lxb_dom_node_t *node;
    uint32_t parent; /* its number */
    uint32_t end;    /* one past the last element below it */
    uint32_t
        block; /* the nearest element around its text that starts a new line; itself when it does */
    uint32_t hints;
    uint16_t tag, flags, depth;
    uint8_t role;
    bool dropped;
    /* Of the text that flows in it as one block, links and emphasis in it included: */
    uint32_t flow, link_flow, commas, stops;
    uint32_t flow_hash;
    uint32_t shape; /* its tag and the first word of its class: what its likes have in common */
    uint32_t
        paragraph_prose; /* of the paragraphs directly in it: much of it in one place is one text */
    uint32_t text_hash;  /* of everything below it, in whatever order */
    struct measures own; /* of the text directly in it */
    struct measures all; /* with everything below it that is not dropped */
};

struct stats {
    struct page *page;
    struct element *elements; /* 0 is the body */
    uint32_t count;
    uint32_t scripts; /* in the body */
    bool stale;       /* `all` is: something was dropped since */
};

/* How far the walk goes beyond what a reader sees. What is there but could never be read (tiny, off
 * the screen, in the colour of its ground) is out of every reach. */
enum stats_reach {
    REACH_SHOWN,           /* and parts that a click opens */
    REACH_WITHOUT_SCRIPTS, /* what is for browsers without scripts, too */
    REACH_LANDMARKS,       /* what is hidden and holds the page's title or main part, too */
    REACH_CLOSED,          /* all that is hidden until a script shows it, too */
};

/* Walks the body. Elements that never hold content (scripts, styles, frames) are marked as dropped
 * and not counted, like what is hidden; what is within reach is hidden no longer. Forgets what an
 * earlier walk dropped. A status. */
MUST_CHECK int stats_collect(struct page *page, struct stats *stats, enum stats_reach reach);
/* Computes `all` anew, if it is stale. */
void stats_sum(struct stats *stats);
/* Marks an element as dropped, here and for the writer, and as what. */
void stats_drop(struct stats *stats, uint32_t number, enum omission what);
/* The text below an element, white space as single spaces, small letters; cut to fit,
 * NUL-terminated. The result is its length. */
size_t stats_label(const struct stats *stats, uint32_t number, char *label, size_t capacity);

static inline bool element_is(const struct element *element, uint32_t hints)
{
    return (element->hints & hints) != 0;
}

static inline bool element_has(const struct element *element, enum element_flag flag)
{
    return (element->flags & flag) != 0;
}

/* The share of its text that is links, in percent. */
static inline uint32_t link_percent(const struct measures *measures)
{
    return measures->text == 0 ? 0
                               : (uint32_t)((uint64_t)measures->link_text * 100 / measures->text);
}

#endif
