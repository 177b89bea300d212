/* One HTML page on its way to Markdown: parse, look, choose, write. Pure: bytes and a URL in,
 * Markdown and metadata out, no input or output, no host names - it knows principles, not sites.
 *
 *   charset.c   bytes to UTF-8, by what is declared, or by what detect.c finds; encodings.c decodes
 *   parse.c     bytes to a tree: lexbor, ceilings on nodes and depth; skim.c passes over scripts
 *   stream.c    the pieces of a streamed page, in their places
 *   hidden.c    what a reader cannot see
 *   classes.c   what the class of an element says
 *   metadata.c  title, authors, dates, ... from JSON-LD, OpenGraph, microdata, bylines
 *   callout.c   which boxes are notes and warnings
 *   choose/     what kind of page it is, and which nodes are its content
 *   markdown/   the chosen nodes as Markdown
 *   embedded.c  what a page carries as data: JSON-LD, text for its scripts
 *   omitted.c   what of the page is not in the Markdown, by kind
 *   access.c    whether it is a wall: a sign-in, a paywall, a question about cookies
 *
 * The tree is lexbor's. What we know of a node is in its `user` pointer, as the bits below:
 * choosing sets them, writing obeys them. */
#ifndef FORAGE_HTML_PAGE_H
#define FORAGE_HTML_PAGE_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/status.h"
#include "text/json.h"

#include <lexbor/html/html.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_kind {
    PAGE_ARTICLE,
    PAGE_DOCUMENTATION,
    PAGE_SERVICE,
    PAGE_FORUM,
    PAGE_COLLECTION,
    PAGE_LISTING,
    PAGE_PRODUCT,
};

/* What a part of the page is that its Markdown leaves out. */
enum omission {
    OMIT_NONE,
    OMIT_NAVIGATION, /* menus, breadcrumbs, pagers, lists of links */
    OMIT_HEADER,
    OMIT_FOOTER,
    OMIT_SIDEBAR,
    OMIT_RELATED,
    OMIT_COMMENTS, /* and reviews */
    OMIT_ADVERTISING,
    OMIT_BANNER,    /* cookies, windows that pop up */
    OMIT_PROMOTION, /* newsletters, share bars, calls to action */
    OMIT_CONTROLS,  /* forms, buttons, filters, search boxes, carts */
    OMIT_DETAILS,   /* bylines, tags, biographies, signatures, captions */
    OMIT_REPEATED,
    OMIT_HIDDEN,
    OMIT_OTHER,
};

/* Bits in node->user. Choosing keeps its own number of a node in the bits from the fifth to the
 * 36th and why it dropped the node in the four above them; writing, which comes after it, what it
 * knows of footnotes and tabs in those from the 41st. */
enum node_mark {
    NODE_DROPPED = 1,    /* it and all below it are not content */
    NODE_HIDDEN = 2,     /* invisible to a reader; implies dropped */
    NODE_UNREADABLE = 4, /* hidden in a way that nothing on a page ever shows */
    NODE_WRITTEN = 8,    /* a text that is in the Markdown, or in what is told beside it */
};

#define NODE_OMISSION_SHIFT 36
#define NODE_NOTE           ((uintptr_t)1 << 40) /* a footnote, which goes to the end */
#define NODE_NOTE_REFERENCE ((uintptr_t)1 << 41) /* and what refers to one */
#define NODE_NOTE_LISTED    ((uintptr_t)1 << 42) /* a footnote that has its number */
#define NODE_PANEL          ((uintptr_t)1 << 43) /* what a tab shows */
#define NODE_NOTE_SHIFT     44                   /* above it: which one */

_Static_assert(sizeof(uintptr_t) == 8, "the marks need 64 bits");

static inline uintptr_t node_marks(const lxb_dom_node_t *node)
{
    return (uintptr_t)node->user;
}

static inline void node_mark(lxb_dom_node_t *node, uintptr_t marks)
{
    node->user = (void *)((uintptr_t)node->user | marks);
}

static inline void node_unmark(lxb_dom_node_t *node, uintptr_t marks)
{
    node->user = (void *)((uintptr_t)node->user & ~marks);
}

/* Leaves out a node and all below it, and says what it is. */
static inline void node_drop(lxb_dom_node_t *node, enum omission what)
{
    node_unmark(node, (uintptr_t)15 << NODE_OMISSION_SHIFT);
    node_mark(node, NODE_DROPPED | (uintptr_t)what << NODE_OMISSION_SHIFT);
}

/* Takes that back. */
static inline void node_restore(lxb_dom_node_t *node)
{
    node_unmark(node, NODE_DROPPED | (uintptr_t)15 << NODE_OMISSION_SHIFT);
}

/* Why a dropped node was dropped. */
static inline enum omission node_omission(const lxb_dom_node_t *node)
{
    return (enum omission)(node_marks(node) >> NODE_OMISSION_SHIFT & 15);
}

struct page_metadata {
    const char *title; /* without the site's name */
    const char *authors;
    const char *published, *modified; /* ISO 8601, or NULL */
    const char *site;
    const char *url, *canonical;
    const char *language;
    const char *description;
    const char *image;
    const char *tier; /* who may read it, in the words of the page: "locked", "metered" */
};

struct page {
    struct arena *arena; /* everything below lives in it, but for the tree */
    const char *url;     /* the page's address, absolute; NULL when unknown */
    const char *base;    /* what relative links are resolved against: <base href>, or url */
    lxb_html_document_t *document;
    lxb_dom_node_t *body;
    size_t elements;     /* of the tree, about */
    size_t data_scripts; /* scripts that may carry data, at most */
    bool cut;            /* a ceiling was reached: the tree is the beginning of the page */
    bool templates;      /* it has some: only such a page can be a streamed one */
    struct page_metadata metadata;
    const struct chooser_model
        *model;                   /* that choosing asks (choose/model.h); NULL: the program's own */
    bool learning;                /* all that could be asked is told of every unit */
    struct class_memory *classes; /* that were looked up (classes.h); NULL: none are kept */
    yyjson_val *json_ld;          /* an array of all JSON-LD objects (graphs flattened), or NULL */
    /* Set by choosing: */
    enum page_kind kind;
    const struct units *units; /* what choosing decided on (choose/units.h), where it had to */
    lxb_dom_node_t **roots;    /* the content, in reading order; none inside another */
    size_t root_count;
    lxb_dom_node_t **reviews; /* of a product, which are written behind the content, */
    size_t review_count;
    lxb_dom_node_t *review_heading; /* and the page's heading over them, or NULL */
    bool review_place;              /* a part of the page is called reviews */
    bool whole;                     /* everything visible is content: controls, too */
};

/* ---- choose/: sets kind, roots and marks. A status. ---- */

MUST_CHECK int choose_content(struct page *page);
const char *page_kind_name(enum page_kind kind);

/* ---- markdown/: writes the roots, leaving out what is marked as dropped. A status. ---- */

MUST_CHECK int markdown_write(struct page *page, struct buf *out);

#endif
