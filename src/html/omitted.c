/* One walk over the page after it was written: where did each text go? */
#include "html/omitted.h"

#include "core/limits.h"
#include "html/choose/stats.h"
#include "html/classes.h"
#include "html/dom.h"
#include "tables.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = OMIT_OTHER + 1,
    DEEPEST = LIMIT_PAGE_DEPTH + 64,
    /* What a part is that no name tells of: */
    SHORTEST_TITLE = 20,  /* letters of a link that is the title of a page, not a word of a menu */
    LONGEST_TEASER = 250, /* letters to each link of a list that tells of other pages */
    FEW_WORDS = 250,      /* letters of what stands alone above or below the content */
    MOST_GUESSES = 8,     /* levels on which a text is measured with what is around it */
};

static const char *const NAMES[KINDS] = {
    [OMIT_NONE] = "markdown",       [OMIT_NAVIGATION] = "navigation",   [OMIT_HEADER] = "header",
    [OMIT_FOOTER] = "footer",       [OMIT_SIDEBAR] = "sidebar",         [OMIT_RELATED] = "related",
    [OMIT_COMMENTS] = "comments",   [OMIT_ADVERTISING] = "advertising", [OMIT_BANNER] = "banner",
    [OMIT_PROMOTION] = "promotion", [OMIT_CONTROLS] = "controls",       [OMIT_DETAILS] = "details",
    [OMIT_REPEATED] = "repeated",   [OMIT_HIDDEN] = "hidden",           [OMIT_OTHER] = "other",
};

/* ---- what an element is ---- */

static enum omission omission_by_hints(uint32_t hints)
{
    static const struct {
        uint32_t hints;
        enum omission what;
    } ORDER[] = {
        {HINT_COOKIE | HINT_POPUP, OMIT_BANNER},
        {HINT_ADVERT, OMIT_ADVERTISING},
        {HINT_COMMENT | HINT_REVIEW, OMIT_COMMENTS},
        {HINT_RELATED, OMIT_RELATED},
        {HINT_SHARE | HINT_NEWSLETTER | HINT_ACTION, OMIT_PROMOTION},
        {HINT_FILTER | HINT_ACCOUNT | HINT_SEARCH, OMIT_CONTROLS},
        {HINT_NAVIGATION | HINT_PAGER | HINT_BREADCRUMB, OMIT_NAVIGATION},
        {HINT_FOOTER, OMIT_FOOTER},
        {HINT_HEADER, OMIT_HEADER},
        {HINT_SIDEBAR, OMIT_SIDEBAR},
        {HINT_UNSEEN, OMIT_HIDDEN},
        {HINT_BYLINE | HINT_BIOGRAPHY | HINT_TAGS | HINT_SIGNATURE | HINT_POSTER | HINT_QUOTE |
             HINT_CAPTION,
         OMIT_DETAILS},
    };
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
        if ((hints & ORDER[i].hints) != 0) {
            return ORDER[i].what;
        }
    }
    return OMIT_OTHER;
}

static enum omission omission_by_role(uint8_t role)
{
    static const uint8_t OF_ROLES[] = {
        [ROLE_NAVIGATION] = OMIT_NAVIGATION, [ROLE_MENU] = OMIT_NAVIGATION,
        [ROLE_BANNER] = OMIT_HEADER,         [ROLE_FOOTER] = OMIT_FOOTER,
        [ROLE_SIDE] = OMIT_SIDEBAR,          [ROLE_SEARCH] = OMIT_CONTROLS,
        [ROLE_BUTTON] = OMIT_CONTROLS,       [ROLE_DIALOG] = OMIT_BANNER,
        [ROLE_ALERT] = OMIT_BANNER,
    };
    return role < sizeof OF_ROLES ? (enum omission)OF_ROLES[role] : OMIT_NONE;
}

enum omission omission_of(lxb_tag_id_t tag, uint8_t role, uint32_t hints)
{
    enum omission what = omission_by_role(role);
    if (what != OMIT_NONE) {
        return what;
    }
    switch (tag) {
    case LXB_TAG_NAV:
        return OMIT_NAVIGATION;
    case LXB_TAG_HEADER:
        return OMIT_HEADER;
    case LXB_TAG_FOOTER:
        return OMIT_FOOTER;
    case LXB_TAG_DIALOG:
        return OMIT_BANNER;
    case LXB_TAG_FORM:
    case LXB_TAG_LABEL:
    case LXB_TAG_BUTTON:
        return OMIT_CONTROLS;
    default:
        what = omission_by_hints(hints);
        return what == OMIT_OTHER && tag == LXB_TAG_ASIDE ? OMIT_SIDEBAR : what;
    }
}

/* ---- the walk ---- */

/* Where a text stands, as far as the elements around it tell. */
struct standing {
    uint8_t what;   /* an omission; OMIT_NONE: nothing is known yet */
    bool content;   /* inside of what was chosen */
    uint8_t beside; /* levels of a part of the page that does not hold it */
};

struct text_walk {
    const struct page *page;
    struct arena *arena;
    struct omitted_part parts[KINDS];
    size_t roots_seen;
    bool keeps_texts;
    struct accounted_text *texts;
    size_t text_count, text_room;
    struct standing standings[DEEPEST];
};

static bool holds_root(const struct page *page, const lxb_dom_node_t *node)
{
    for (size_t i = 0; i < page->root_count; i++) {
        if (dom_within(page->roots[i], node)) {
            return true;
        }
    }
    return false;
}

static bool is_root(const struct page *page, const lxb_dom_node_t *node)
{
    for (size_t i = 0; i < page->root_count; i++) {
        if (page->roots[i] == node) {
            return true;
        }
    }
    return false;
}

static enum omission omission_by_names(const struct page *page, const lxb_dom_node_t *node)
{
    const char *role = dom_attr(node, "role");
    return omission_of(node->local_name,
                       role ? (uint8_t)words_value(&page_roles, role, strlen(role)) : ROLE_NONE,
                       hints_of_names(page, node));
}

/* ---- what no name tells ---- */

struct text_measure {
    size_t letters, link_letters, links;
};

static bool is_space(char c)
{
    return (unsigned char)c <= ' ';
}

/* The characters of a text, without white space at its ends. Without branches where there are
 * words, since nobody can predict where they end. */
static size_t count_chars(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && is_space(*text)) {
        text++;
    }
    while (text < end && is_space(end[-1])) {
        end--;
    }
    size_t chars = 0, words = 0;
    bool apart = false;
    for (; text < end; text++) {
        bool space = is_space(*text);
        chars += !space & ((*text & 0xC0) != 0x80);
        words += apart & !space;
        apart = space;
    }
    return chars + words;
}

static struct text_measure measure(const lxb_dom_node_t *root)
{
    struct text_measure measure = {0};
    const lxb_dom_node_t *link = NULL, *after = NULL;
    bool below = true;
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        link = node == after ? NULL : link;
        below =
            !(node_marks(node) & (NODE_DROPPED | NODE_HIDDEN)) && dom_audience(node) == FOR_READERS;
        if (dom_is_text(node)) {
            size_t length;
            const char *text = dom_text(node, &length);
            size_t letters = count_chars(text, length);
            measure.letters += letters;
            measure.link_letters += link ? letters : 0;
        } else if (below && !link && dom_tag(node) == LXB_TAG_A && node->first_child) {
            link = node;
            after = dom_next(node, root, false);
            measure.links++;
        }
    }
    return measure;
}

/* A list of links is a menu where they are words, and leads to other pages where they are titles,
 * or have a few words beside them. Whether little text is above or below the content tells what it
 * is only where it stands alone. OMIT_NONE for what may be anything. */
static enum omission guess(const struct text_walk *walk, const lxb_dom_node_t *node, bool alone)
{
    struct text_measure all = measure(node);
    if (all.links && all.link_letters * 2 >= all.letters) {
        return all.link_letters / all.links < SHORTEST_TITLE ? OMIT_NAVIGATION : OMIT_RELATED;
    }
    if (all.links >= 3 && all.letters / all.links < LONGEST_TEASER) {
        return OMIT_RELATED;
    }
    if (!alone || all.letters >= FEW_WORDS) {
        return OMIT_NONE;
    }
    return walk->roots_seen < walk->page->root_count ? OMIT_HEADER : OMIT_FOOTER;
}

/* What is below an element. Its names tell of what stands outside of the content, unless the
 * content is in it too: then they name the whole. */
static struct standing judge(struct text_walk *walk, const lxb_dom_node_t *node,
                             struct standing above)
{
    uintptr_t marks = node_marks(node);
    enum audience audience = dom_audience(node);
    if (above.what == OMIT_HIDDEN || (marks & NODE_HIDDEN) || audience == FOR_OTHER_BROWSERS) {
        return (struct standing){.what = OMIT_HIDDEN};
    }
    if ((marks & NODE_DROPPED) && node_omission(node) != OMIT_NONE) {
        return (struct standing){.what = (uint8_t)node_omission(node)};
    }
    if (is_root(walk->page, node)) {
        walk->roots_seen++;
        return (struct standing){.content = true};
    }
    if (above.what != OMIT_NONE) {
        return above;
    }
    if (audience == FOR_CHOOSING) {
        return (struct standing){.what = OMIT_CONTROLS};
    }
    if (node->ns == LXB_NS_SVG) {
        return (struct standing){.what = OMIT_DETAILS};
    }
    if (above.content || holds_root(walk->page, node)) {
        return above;
    }
    enum omission what = omission_by_names(walk->page, node);
    what = what != OMIT_OTHER            ? what
           : above.beside < MOST_GUESSES ? guess(walk, node, above.beside == 0)
                                         : OMIT_OTHER;
    return (struct standing){.what = (uint8_t)what, .beside = (uint8_t)(above.beside + 1)};
}

static int keep_text(struct text_walk *walk, enum omission what, const char *text, size_t length)
{
    struct accounted_text *texts =
        arena_grow(walk->arena, walk->texts, walk->text_count, &walk->text_room, sizeof *texts);
    const char *copy = texts ? arena_strndup(walk->arena, text, length) : NULL;
    if (!copy) {
        return ERR_NOMEM;
    }
    walk->texts = texts;
    texts[walk->text_count++] = (struct accounted_text){NAMES[what], copy, length};
    return OK;
}

static int take_text(struct text_walk *walk, const lxb_dom_node_t *node, struct standing standing)
{
    bool written = node_marks(node) & NODE_WRITTEN;
    standing.what = node_omission(node) != OMIT_NONE ? (uint8_t)node_omission(node) : standing.what;
    if (written && !walk->keeps_texts) {
        return OK;
    }
    size_t length;
    const char *text = dom_text(node, &length);
    size_t chars = count_chars(text, length);
    enum omission what = written                      ? OMIT_NONE
                         : standing.what == OMIT_NONE ? OMIT_OTHER
                                                      : (enum omission)standing.what;
    walk->parts[what].chars += chars;
    return chars && walk->keeps_texts ? keep_text(walk, what, text, length) : OK;
}

/* Headings tell best what was left out. */
static void take_heading(struct text_walk *walk, const lxb_dom_node_t *node,
                         struct standing standing)
{
    enum omission what = standing.what == OMIT_NONE ? OMIT_OTHER : (enum omission)standing.what;
    struct omitted_part *part = &walk->parts[what];
    if (standing.content || what == OMIT_HIDDEN || part->heading_count == OMITTED_HEADINGS) {
        return;
    }
    char text[4 * OMITTED_HEADING_CHARS + 8];
    size_t length = dom_collect(node, text, sizeof text);
    length = text_prefix(text, length, OMITTED_HEADING_CHARS);
    if (length) {
        part->headings[part->heading_count++] = arena_strndup(walk->arena, text, length);
    }
}

static int walk_page(struct text_walk *walk)
{
    const lxb_dom_node_t *body = walk->page->body;
    const lxb_dom_node_t *node = body;
    size_t depth = 0;
    int status = OK;
    while (status == OK) {
        struct standing *around = &walk->standings[depth < DEEPEST ? depth : DEEPEST - 1];
        bool enter = false;
        if (dom_is_text(node)) {
            status = take_text(walk, node, *around);
        } else if (node->type == LXB_DOM_NODE_TYPE_ELEMENT && node->first_child &&
                   dom_audience(node) != FOR_NOBODY) {
            struct standing below = judge(walk, node, *around);
            if (dom_heading_level(node)) {
                take_heading(walk, node, below);
            }
            depth++;
            walk->standings[depth < DEEPEST ? depth : DEEPEST - 1] = below;
            enter = true;
        }
        if (enter) {
            node = node->first_child;
            continue;
        }
        while (node != body && !node->next) {
            node = node->parent;
            depth--;
        }
        if (node == body) {
            break;
        }
        node = node->next;
    }
    return status;
}

/* ---- the result ---- */

static int by_chars(const void *one, const void *other)
{
    const struct omitted_part *a = one;
    const struct omitted_part *b = other;
    return a->chars > b->chars ? -1 : a->chars < b->chars;
}

int omitted_account(const struct page *page, struct arena *arena, bool texts,
                    struct extract_result *result)
{
    struct text_walk walk = {.page = page, .arena = arena, .keeps_texts = texts};
    int status = walk_page(&walk);
    if (status != OK) {
        return status;
    }
    size_t count = 0;
    for (size_t i = OMIT_NONE + 1; i < KINDS; i++) {
        walk.parts[i].what = NAMES[i];
        if (walk.parts[i].chars) {
            walk.parts[count++] = walk.parts[i];
        }
    }
    qsort(walk.parts, count, sizeof *walk.parts, by_chars);
    struct omitted_part *parts = arena_alloc(arena, (count + 1) * sizeof *parts);
    if (!parts || arena_failed(arena)) {
        return ERR_NOMEM;
    }
    memcpy(parts, walk.parts, count * sizeof *parts);
    result->omitted = (struct omitted){parts, count};
    result->texts = walk.texts;
    result->text_count = walk.text_count;
    return OK;
}

/* ---- everything ---- */

void omitted_restore(struct page *page)
{
    lxb_dom_node_t *body = page->body;
    bool below = true;
    for (lxb_dom_node_t *node = body; node; node = dom_next(node, body, below)) {
        below = node->type != LXB_DOM_NODE_TYPE_ELEMENT ||
                ((node_marks(node) & NODE_HIDDEN) == 0 && dom_audience(node) != FOR_NOBODY &&
                 dom_audience(node) != FOR_OTHER_BROWSERS && node->ns != LXB_NS_SVG);
        if (below) {
            node_restore(node);
        }
    }
    page->roots = &page->body;
    page->root_count = 1;
    page->whole = true;
}
