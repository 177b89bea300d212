/* What refers to a footnote: a link that is a number or a sign, a number in superscript, the label
 * of an aside. */
#include "page/html/markdown/references.h"

#include "tables.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define MOST_NOTES 4000

/* ---- words that tell ---- */

bool reference_hints(const lxb_dom_node_t *node, const char *const *hints)
{
    static const char *const NAMES[] = {"role", "rel", "name", "epub:type", "data-footnote-ref",
                                        NULL};
    if (dom_holds_any(dom_id(node), hints) || dom_holds_any(dom_class(node), hints)) {
        return true;
    }
    for (const char *const *name = NAMES; *name; name++) {
        const char *value = dom_attr(node, *name);
        if (value && (dom_holds_any(value, hints) || strstr(*name, "footnote"))) {
            return true;
        }
    }
    return false;
}

/* The mark of a note without its brackets: digits, a letter or a sign. 0 when the text is none. */
size_t reference_mark_in(const char *text, char *mark)
{
    static const char *const SIGNS[] = {
        "*", "**", "***", "\xE2\x80\xA0", "\xE2\x80\xA1", "\xC2\xA7", "\xC2\xB6", NULL};
    while (*text == '[' || *text == '(' || *text == ' ' || *text == '^') {
        text++;
    }
    size_t length = strcspn(text, "]).: ");
    if (length == 0 || length >= LONGEST_MARK ||
        strspn(text + length, "]).: ") != strlen(text + length)) {
        return 0;
    }
    memcpy(mark, text, length);
    mark[length] = '\0';
    if (length <= 4 && strspn(mark, "0123456789") == length) {
        return length;
    }
    for (const char *const *sign = SIGNS; *sign; sign++) {
        if (strcmp(mark, *sign) == 0) {
            return length;
        }
    }
    return length == 1 && isalpha((unsigned char)*mark) ? 1 : 0;
}

static size_t mark_of(lxb_dom_node_t *node, char *mark)
{
    char text[24];
    size_t length = dom_collect(node, text, sizeof text);
    return length && length < 20 ? reference_mark_in(text, mark) : 0;
}

/* ---- references ---- */

static struct reference *add_reference(struct search *search, lxb_dom_node_t *node,
                                       const char *target)
{
    if (search->count == MOST_NOTES) {
        return NULL;
    }
    if (search->count == search->size) {
        size_t size = search->size ? search->size * 2 : 32;
        struct reference *more = arena_realloc(search->writer->arena, search->references,
                                               search->size * sizeof *more, size * sizeof *more);
        if (!more) {
            return NULL;
        }
        search->references = more;
        search->size = size;
    }
    struct reference *reference = &search->references[search->count++];
    *reference = (struct reference){.node = node, .target = target};
    return reference;
}

/* What stands around a link and says no more than it: <sup>[<a>1</a>]</sup>. */
static lxb_dom_node_t *widest_with(lxb_dom_node_t *node, const char *mark)
{
    for (int steps = 0; steps < 3 && node->parent; steps++) {
        lxb_tag_id_t tag = dom_tag(node->parent);
        char around[LONGEST_MARK];
        bool fits = tag == LXB_TAG_SUP || tag == LXB_TAG_SPAN || tag == LXB_TAG_CITE ||
                    tag == LXB_TAG_SMALL || tag == LXB_TAG_B || tag == LXB_TAG_I ||
                    tag >= LXB_TAG__LAST_ENTRY;
        if (!fits || !mark_of(node->parent, around) || strcmp(around, mark) != 0) {
            break;
        }
        node = node->parent;
    }
    return node;
}

static bool is_likely(lxb_dom_node_t *link)
{
    lxb_dom_node_t *node = link;
    for (int steps = 0; node && steps < 3 && !dom_is_block(dom_tag(node));
         steps++, node = node->parent) {
        if (dom_tag(node) == LXB_TAG_SUP || dom_has_word(dom_class(node), "fn") ||
            reference_hints(node, note_reference_hints)) {
            return true;
        }
    }
    char text[24];
    dom_collect(link, text, sizeof text);
    return *text == '[' || dom_find(link, LXB_TAG_SUP);
}

/* The part of a link after "#", when it leads to this page. */
static const char *fragment_of(const struct writer *writer, const char *href)
{
    const char *hash = strchr(href, '#');
    if (!hash || !hash[1]) {
        return NULL;
    }
    if (hash == href) {
        return hash + 1;
    }
    const char *url = writer->page->url;
    size_t length = url ? strcspn(url, "#") : 0;
    size_t before = (size_t)(hash - href);
    if (length && before == length && strncmp(href, url, length) == 0) {
        return hash + 1;
    }
    /* An address that is relative to the site, or names another spelling of the page: the fragment
     * must then be one of a note. */
    return dom_holds_any(hash, note_hints) && length && before < length && *href == '/' &&
                   strncmp(url + length - before, href, before) == 0
               ? hash + 1
           : dom_holds_any(hash, (const char *const[]){"bib.bib", "footnote", "cite_note", NULL})
               ? hash + 1
               : NULL;
}

static bool look_at_link(struct search *search, lxb_dom_node_t *node)
{
    const char *href = dom_known_attr(node, LXB_DOM_ATTR_HREF);
    const char *target = href ? fragment_of(search->writer, href) : NULL;
    char mark[LONGEST_MARK];
    if (!target || !mark_of(node, mark)) {
        return false;
    }
    bool likely = is_likely(node);
    struct reference *reference = add_reference(search, widest_with(node, mark), target);
    if (reference) {
        memcpy(reference->mark, mark, sizeof mark);
        reference->likely = likely;
    }
    return true;
}

/* A label that opens a note in the margin, with the note right behind it. */
static bool look_at_label(struct search *search, lxb_dom_node_t *node)
{
    static const char *const LABELS[] = {"sidenote", "footref", "margin-toggle", NULL};
    static const char *const ASIDES[] = {"sidenote", "marginnote", "footnote", NULL};
    if (!dom_holds_any(dom_class(node), LABELS)) {
        return false;
    }
    lxb_dom_node_t *next = dom_next_element(node);
    if (next && dom_tag(next) == LXB_TAG_INPUT) {
        next = dom_next_element(next);
    }
    if (!next || !dom_holds_any(dom_class(next), ASIDES)) {
        return false;
    }
    struct reference *reference = add_reference(search, node, NULL);
    if (reference) {
        reference->definition = next;
        reference->likely = true;
    }
    return true;
}

/* A mark with its note inside, as LaTeX converters write it. */
static bool look_at_inside(struct search *search, lxb_dom_node_t *node)
{
    if (!dom_has_word(dom_class(node), "ltx_role_footnote")) {
        return false;
    }
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_has_word(dom_class(below), "ltx_note_content")) {
            struct reference *reference = add_reference(search, node, NULL);
            if (reference) {
                reference->definition = below;
                reference->likely = true;
            }
            return reference != NULL;
        }
    }
    return false;
}

static void look_at_number(struct search *search, lxb_dom_node_t *node)
{
    char mark[LONGEST_MARK];
    size_t length = mark_of(node, mark);
    if (!length || !isdigit((unsigned char)*mark) || length > 3) {
        return;
    }
    struct reference *reference = add_reference(search, node, NULL);
    if (reference) {
        memcpy(reference->mark, mark, sizeof mark);
    }
}

/* Looks at one element of the content; whether what is below it may hold references of its own. */
static bool look_at(struct search *search, lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    if (tag == LXB_TAG_A) {
        return !look_at_link(search, node);
    }
    if (tag == LXB_TAG_LABEL) {
        return !look_at_label(search, node);
    }
    if (tag == LXB_TAG_SUP && !dom_find(node, LXB_TAG_A)) {
        look_at_number(search, node);
    } else if (tag == LXB_TAG_SPAN || tag >= LXB_TAG__LAST_ENTRY) {
        const char *target = dom_attr(node, "data-definition");
        struct reference *reference =
            target && *target ? add_reference(search, node, target) : NULL;
        if (reference) {
            reference->likely = true;
            return false;
        }
        return !look_at_inside(search, node);
    }
    return true;
}

void references_find(struct search *search, lxb_dom_node_t *root)
{
    bool below = true;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        lxb_tag_id_t tag = dom_tag(node);
        bool dropped = (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN)) != 0;
        below = tag != LXB_TAG_PRE && !dropped;
        /* A mark is too small to be anything else, so it counts whatever its names made of it. */
        bool small =
            tag == LXB_TAG_SUP || tag == LXB_TAG_LABEL || tag == LXB_TAG_A || tag == LXB_TAG_SPAN;
        if (tag != LXB_TAG__UNDEF && (!dropped || small)) {
            below = look_at(search, node, tag) && below;
        }
    }
}
