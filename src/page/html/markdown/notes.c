/* What refers to a footnote (a link that is a number or a sign, a number in superscript, the label
 * of an aside), and notes that no link leads to: paragraphs behind the text that begin with a
 * number. */
#include "page/html/markdown/notes.h"

#include "tables.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* ==== references ==== */

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

/* ==== notes ==== */

/* ---- titles ---- */

/* Whether the text is a usual title of notes. */
static bool is_title(const lxb_dom_node_t *node)
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
                 is_title(previous);
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
            return is_title(node);
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
            node_drop(node, OMIT_CONTROLS);
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
        node_drop(mark, OMIT_CONTROLS);
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
