/* What refers to a footnote (a link that is a number or a sign, a number in superscript, the label
 * of an aside), and notes that no link leads to: paragraphs behind the text that begin with a
 * number. */
#include "html/markdown/notes.h"

#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ==== references ==== */

#define MOST_NOTES  4000
#define MOST_INSIDE 12 /* elements of a box with a mark and its note */

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

/* Whether a word counts notes: digits, a letter or two, a number as Romans wrote it. */
static bool is_count(const char *word, size_t length)
{
    if (length <= 4 && strspn(word, "0123456789") == length) {
        return true;
    }
    if (length <= 5 && strspn(word, "ivxlc") == length) {
        return true;
    }
    return length <= 2 && isalpha((unsigned char)word[0]) &&
           isalpha((unsigned char)word[length - 1]);
}

/* A mark of two words: "note 3". */
static bool is_named_count(const char *mark)
{
    static const char *const NAMES[] = {"note", "nb", "n", "fn", "footnote", "ref", NULL};
    size_t length = strcspn(mark, " ");
    const char *number = mark + length + (mark[length] == ' ');
    for (const char *const *name = NAMES; *name; name++) {
        if (strlen(*name) == length && strncasecmp(mark, *name, length) == 0) {
            return *number && strspn(number, "0123456789") == strlen(number);
        }
    }
    return false;
}

size_t reference_mark_in(const char *text, char *mark)
{
    static const char *const SIGNS[] = {
        "*", "**", "***", "\xE2\x80\xA0", "\xE2\x80\xA1", "\xC2\xA7", "\xC2\xB6", NULL};
    while (*text == '[' || *text == '(' || *text == ' ' || *text == '^') {
        text++;
    }
    size_t length = strlen(text);
    while (length && strchr("]).: ", text[length - 1])) {
        length--;
    }
    if (length == 0 || length >= LONGEST_MARK) {
        return 0;
    }
    memcpy(mark, text, length);
    mark[length] = '\0';
    if (is_count(mark, length) || is_named_count(mark)) {
        return length;
    }
    for (const char *const *sign = SIGNS; *sign; sign++) {
        if (strcmp(mark, *sign) == 0) {
            return length;
        }
    }
    return 0;
}

static size_t mark_of(lxb_dom_node_t *node, char *mark)
{
    char text[24];
    size_t length = dom_collect(node, text, sizeof text);
    return length && length < 20 ? reference_mark_in(text, mark) : 0;
}

/* ---- references ---- */

static struct reference *add_reference(struct note_search *search, lxb_dom_node_t *node,
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
        /* What was dropped is not read, so nothing around it is nothing but the mark. */
        bool empty = (node_marks(node) & NODE_DROPPED) && !dom_has_text(node->parent);
        bool same = mark_of(node->parent, around) && strcmp(around, mark) == 0;
        if (!fits || !(same || empty)) {
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

static bool look_at_link(struct note_search *search, lxb_dom_node_t *node)
{
    const char *href = dom_known_attr(node, LXB_DOM_ATTR_HREF);
    const char *target = href ? fragment_of(search->writer, href) : NULL;
    char mark[LONGEST_MARK];
    bool likely = is_likely(node);
    if (!target && likely) {
        /* A button to look at, whose note is named for who cannot see it. */
        target = dom_attr(node, "aria-describedby");
    }
    if (!target || !mark_of(node, mark)) {
        return false;
    }
    struct reference *reference = add_reference(search, widest_with(node, mark), target);
    if (reference) {
        memcpy(reference->mark, mark, sizeof mark);
        reference->likely = likely;
    }
    return true;
}

/* A label that opens a note in the margin, with the note right behind it. */
static bool look_at_label(struct note_search *search, lxb_dom_node_t *node)
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

static bool add_inside(struct note_search *search, lxb_dom_node_t *node, lxb_dom_node_t *note)
{
    struct reference *reference = add_reference(search, node, NULL);
    if (reference) {
        reference->definition = note;
        reference->likely = true;
    }
    return reference != NULL;
}

/* A mark with its note inside: as LaTeX converters write it, an element of its own, or a box with
 * the mark and what opens over it. */
static bool look_at_inside(struct note_search *search, lxb_dom_node_t *node)
{
    static const char *const WORDS[] = {"footnote", "sidenote", NULL};
    if (dom_tag(node) >= LXB_TAG__LAST_ENTRY && strcmp(dom_name(node), "d-footnote") == 0) {
        return add_inside(search, node, node);
    }
    if (!dom_holds_any(dom_class(node), WORDS)) {
        return false;
    }
    int looked = 0;
    for (lxb_dom_node_t *below = node->first_child; below && looked < MOST_INSIDE;
         below = dom_next(below, node, true), looked++) {
        if (dom_has_word(dom_class(below), "ltx_note_content")) {
            return add_inside(search, node, below);
        }
    }
    bool marked = false;
    char mark[LONGEST_MARK];
    looked = 0;
    for (lxb_dom_node_t *child = dom_first_element(node); child && looked < MOST_INSIDE;
         child = dom_next_element(child), looked++) {
        bool is_mark = mark_of(child, mark) > 0;
        if (marked && !is_mark && dom_has_text(child) && dom_tag(child) == LXB_TAG_SPAN) {
            return add_inside(search, node, child);
        }
        marked = marked || is_mark;
    }
    return false;
}

/* A button that a script put in the place of a link; what is around it has kept its id. */
static bool look_at_button(struct note_search *search, lxb_dom_node_t *node)
{
    static const char BACK[] = "fnref";
    const char *id = NULL;
    const lxb_dom_node_t *at = node;
    for (int steps = 0; !id && at && steps < 4; steps++, at = at->parent) {
        id = dom_id(at) ? strstr(dom_id(at), BACK) : NULL;
    }
    if (!id || !reference_hints(node, note_reference_hints)) {
        return false;
    }
    size_t size = strlen(id);
    char *target = arena_alloc(search->writer->arena, size);
    if (!target) {
        return false;
    }
    snprintf(target, size, "fn%s", id + strlen(BACK));
    struct reference *reference = add_reference(search, node, target);
    if (reference) {
        reference->likely = true;
    }
    return reference != NULL;
}

static void look_at_number(struct note_search *search, lxb_dom_node_t *node)
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
static bool look_at(struct note_search *search, lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    if (tag == LXB_TAG_A) {
        return !look_at_link(search, node);
    }
    if (tag == LXB_TAG_LABEL) {
        return !look_at_label(search, node);
    }
    if (tag == LXB_TAG_BUTTON) {
        return !look_at_button(search, node);
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

void references_find(struct note_search *search, lxb_dom_node_t *root)
{
    bool below = true;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        lxb_tag_id_t tag = dom_tag(node);
        bool dropped = (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN)) != 0;
        below = tag != LXB_TAG_PRE && !dropped;
        /* A mark is too small to be anything else, so it counts whatever its names made of it. */
        bool small = tag == LXB_TAG_SUP || tag == LXB_TAG_LABEL || tag == LXB_TAG_A ||
                     tag == LXB_TAG_SPAN || tag == LXB_TAG_BUTTON;
        char mark[LONGEST_MARK];
        if (dropped && small && mark_of(node, mark)) {
            below = true;
        }
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
    while (previous && (dom_tag(previous) == LXB_TAG_HR ||
                        (dom_heading_level(previous) && (node_marks(previous) & NODE_DROPPED)))) {
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
        if (dom_heading_level(node) && !(node_marks(node) & NODE_DROPPED)) {
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

/* A link back to the text goes with the brackets around it. */
static void drop_back_link(lxb_dom_node_t *link, const lxb_dom_node_t *definition)
{
    char own[24];
    char around[32];
    size_t length = dom_collect(link, own, sizeof own);
    while (link->parent && link->parent != definition && !dom_is_block(dom_tag(link->parent)) &&
           dom_collect(link->parent, around, sizeof around) <= length + 2) {
        link = link->parent;
    }
    node_drop(link, OMIT_CONTROLS);
}

/* How many bytes at the beginning of a note are its mark: "1.", "[2]", a sign. With `rest`, the
 * mark itself stood in an element before, and only what ended it is here. */
static size_t mark_length(const char *text, size_t length, bool rest)
{
    static const char *const SIGNS[] = {"*", "\xE2\x80\xA0", "\xE2\x80\xA1", "\xC2\xA7", NULL};
    if (rest) {
        return length && strchr(".):]", *text) ? 1 : 0;
    }
    for (const char *const *sign = SIGNS; *sign; sign++) {
        size_t size = strlen(*sign);
        if (length > size && memcmp(text, *sign, size) == 0) {
            return size;
        }
    }
    size_t open = *text == '[' || *text == '(';
    size_t at = open;
    while (at < length && isdigit((unsigned char)text[at])) {
        at++;
    }
    bool closed = at < length && strchr("]).:", text[at]);
    if (at == open || at - open > 4 || (!closed && (open || at < length))) {
        return 0;
    }
    at += closed;
    return at + (at < length && text[at] == '.');
}

/* Only the view of the text moves; its memory belongs to the tree's pool, which goes as a whole. */
static void cut_mark(lxb_dom_node_t *text, bool rest)
{
    lexbor_str_t *data = &((lxb_dom_character_data_t *)text)->data;
    size_t blank = 0;
    while (blank < data->length && isspace(data->data[blank])) {
        blank++;
    }
    size_t mark = mark_length((const char *)data->data + blank, data->length - blank, rest);
    if (mark) {
        data->data += blank + mark;
        data->length -= blank + mark;
    }
}

/* Drops the element that a note begins with, when it holds its mark and no more. */
static bool drop_first_mark(lxb_dom_node_t *definition)
{
    for (lxb_dom_node_t *node = dom_first_element(definition); node;
         node = dom_first_element(node)) {
        const lxb_dom_node_t *before = node->prev;
        if (before && dom_is_text(before) && dom_has_text(before->parent)) {
            size_t length;
            const char *text = dom_text(before, &length);
            while (length && isspace((unsigned char)*text)) {
                text++;
                length--;
            }
            if (length) {
                return false;
            }
        }
        char text[24];
        char mark[LONGEST_MARK];
        size_t length = dom_collect(node, text, sizeof text);
        bool is_mark = length && length < 16 && reference_mark_in(text, mark) &&
                       (!isalpha((unsigned char)*mark) || dom_tag(node) == LXB_TAG_SUP ||
                        dom_find(node, LXB_TAG_A) || dom_tag(node) == LXB_TAG_A);
        if (is_mark) {
            node_drop(node, OMIT_CONTROLS);
            return true;
        }
        if (length == 0 && dom_next_element(node)) {
            continue;
        }
    }
    return false;
}

void notes_clean(lxb_dom_node_t *definition)
{
    bool marked = drop_first_mark(definition);
    for (lxb_dom_node_t *node = definition->first_child; node;
         node = dom_next(node, definition, true)) {
        if (dom_tag(node) == LXB_TAG_A && is_back_link(node)) {
            drop_back_link(node, definition);
        } else if (dom_holds_any(dom_class(node), note_marks)) {
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
    if (mark && !marked) {
        node_drop(mark, OMIT_CONTROLS);
        marked = true;
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
                cut_mark(node, marked);
                return;
            }
        }
        marked = marked || (node_marks(node) & NODE_DROPPED);
    }
}
