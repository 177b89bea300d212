/* Footnotes: finds what refers to a note and what the note says, in the many ways that pages write
 * them, so that both come out as [^1]. Links to a note with its number; numbers in superscript with
 * a list of notes behind; asides beside the text. The notes themselves may stand outside of the
 * chosen content. */
#include "page/html/markdown/writer.h"

#include "page/html/markdown/notes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MOST_NOTES   4000
#define LONGEST_MARK 12
#define LONGEST_NOTE 6000 /* bytes: what is longer is a part of the page */

/* ---- words that tell ---- */

static const char *const REFERENCE_HINTS[] = {
    "footnote",  "fnref",   "fn-",      "fn_",      "fn:",         "fn.",
    "fnanchor",  "noteref", "note-ref", "cite_ref", "cite-ref",    "citation",
    "reference", "ftnt",    "ftn",      "endnote",  "sidenote",    "footref",
    "_ednref",   "bibr",    "xref",     "ltx_ref",  "doc-noteref", NULL};
static const char *const NOTE_HINTS[] = {"footnote", "fn",  "note",     "cite",   "ftn", "edn",
                                         "ref",      "bib", "citation", "sdfoot", NULL};
static const char *const NOTE_TITLES[] = {"footnotes",
                                          "footnote",
                                          "notes",
                                          "note",
                                          "endnotes",
                                          "references",
                                          "references and notes",
                                          "notes and references",
                                          "sidenotes",
                                          "citations",
                                          "bibliography",
                                          "sources",
                                          "works cited",
                                          NULL};

static bool attribute_hints(const lxb_dom_node_t *node, const char *const *hints)
{
    static const char *const NAMES[] = {"role", "rel", "name", "epub:type", "data-footnote-ref",
                                        NULL};
    const char *id = dom_id(node);
    const char *words = dom_class(node);
    if ((id && dom_holds_any(id, hints)) || (words && dom_holds_any(words, hints))) {
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
static size_t mark_in(const char *text, char *mark)
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
    return length && length < 20 ? mark_in(text, mark) : 0;
}

/* ---- references ---- */

struct reference {
    lxb_dom_node_t *node;
    const char *target; /* the id of its note; NULL: only its mark tells */
    char mark[LONGEST_MARK];
    lxb_dom_node_t *found; /* the element with that id */
    lxb_dom_node_t *definition;
    size_t order;
    bool likely; /* by itself, whatever it leads to */
};

struct search {
    struct writer *writer;
    struct reference *references;
    size_t count, size;
};

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
        if (dom_tag(node) == LXB_TAG_SUP || dom_has_class(node, "fn") ||
            attribute_hints(node, REFERENCE_HINTS)) {
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
    return dom_holds_any(hash, NOTE_HINTS) && length && before < length && *href == '/' &&
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
    const char *words = dom_class(node);
    if (!words || !(strcasestr(words, "sidenote") || strcasestr(words, "footref") ||
                    strcasestr(words, "margin-toggle"))) {
        return false;
    }
    lxb_dom_node_t *next = dom_next_element(node);
    if (next && dom_tag(next) == LXB_TAG_INPUT) {
        next = dom_next_element(next);
    }
    words = next ? dom_class(next) : NULL;
    if (!words || !(strcasestr(words, "sidenote") || strcasestr(words, "marginnote") ||
                    strcasestr(words, "footnote"))) {
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
    const char *words = dom_class(node);
    if (!words || !dom_has_word(words, "ltx_role_footnote")) {
        return false;
    }
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_has_class(below, "ltx_note_content")) {
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

static void find_references(struct search *search, lxb_dom_node_t *root)
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

/* ---- targets ---- */

static size_t hash_id(const char *id)
{
    size_t hash = 5381;
    for (; *id; id++) {
        hash = hash * 33 + (unsigned char)*id;
    }
    return hash;
}

/* One walk over the page: the elements that the references lead to, in its order. */
static void find_targets(struct search *search)
{
    size_t size = 64;
    while (size < search->count * 2) {
        size *= 2;
    }
    struct slot {
        const char *id;
        lxb_dom_node_t *node;
        size_t order;
    } *slots = arena_zalloc(search->writer->arena, size * sizeof *slots);
    if (!slots) {
        return;
    }
    size_t wanted = 0;
    for (size_t i = 0; i < search->count; i++) {
        const char *id = search->references[i].target;
        size_t at = id ? hash_id(id) & (size - 1) : 0;
        while (id && slots[at].id && strcmp(slots[at].id, id) != 0) {
            at = (at + 1) & (size - 1);
        }
        if (id) {
            slots[at].id = id;
            wanted++;
        }
    }
    lxb_dom_node_t *body = search->writer->page->body;
    size_t order = 0;
    for (lxb_dom_node_t *node = wanted ? body : NULL; node; node = dom_next(node, body, true)) {
        order++;
        const char *id = dom_id(node);
        id = !id && dom_tag(node) == LXB_TAG_A ? dom_attr(node, "name") : id;
        for (size_t at = id ? hash_id(id) & (size - 1) : 0; id && slots[at].id;
             at = (at + 1) & (size - 1)) {
            if (!slots[at].node && strcmp(slots[at].id, id) == 0 &&
                dom_tag(node) != LXB_TAG_INPUT) {
                slots[at].node = node;
                slots[at].order = order;
                break;
            }
        }
    }
    for (size_t i = 0; i < search->count; i++) {
        struct reference *reference = &search->references[i];
        const char *id = reference->target;
        for (size_t at = id ? hash_id(id) & (size - 1) : 0; id && slots[at].id;
             at = (at + 1) & (size - 1)) {
            if (strcmp(slots[at].id, id) == 0) {
                reference->found = slots[at].node;
                reference->order = slots[at].order;
                break;
            }
        }
    }
}

/* ---- definitions ---- */

static bool says_more_than_mark(lxb_dom_node_t *node)
{
    char text[64];
    char mark[LONGEST_MARK];
    return dom_collect(node, text, sizeof text) > 0 && !mark_in(text, mark) &&
           strspn(text, "0123456789[]()^. \xE2\x86\xA9\x91") != strlen(text);
}

/* The block that holds the note whose id an element bears. */
static lxb_dom_node_t *definition_around(lxb_dom_node_t *found, const lxb_dom_node_t *reference)
{
    lxb_dom_node_t *node = found;
    for (int steps = 0; node && steps < 5; steps++, node = node->parent) {
        lxb_tag_id_t tag = dom_tag(node);
        if (tag == LXB_TAG_BODY || tag == LXB_TAG_ARTICLE || tag == LXB_TAG_MAIN ||
            tag == LXB_TAG_OL || tag == LXB_TAG_UL || tag == LXB_TAG_TABLE ||
            tag == LXB_TAG_TBODY || dom_heading_level(node) || dom_within(reference, node)) {
            return NULL;
        }
        bool block =
            dom_is_block(tag) && tag != LXB_TAG_TD && tag != LXB_TAG_TH && tag != LXB_TAG_DT;
        if ((block || steps == 0) && says_more_than_mark(node) &&
            (block || dom_tag(node) == LXB_TAG_SPAN)) {
            break;
        }
    }
    if (!node) {
        return NULL;
    }
    char text[LONGEST_NOTE];
    if (dom_collect(node, text, sizeof text) >= sizeof text - 8) {
        return NULL;
    }
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_heading_level(below)) {
            return NULL;
        }
    }
    return node;
}

/* Whether an element, or the list that it is in, is called notes. */
static bool is_called_note(lxb_dom_node_t *definition, lxb_dom_node_t *found)
{
    if (attribute_hints(found, NOTE_HINTS)) {
        return true;
    }
    lxb_dom_node_t *node = definition;
    for (int steps = 0; node && steps < 4; steps++, node = node->parent) {
        const char *id = dom_id(node);
        const char *words = dom_class(node);
        static const char *const LISTS[] = {"footnote", "endnote", "references", "reflist",
                                            "citation", "notes",   NULL};
        if ((id && dom_holds_any(id, LISTS)) || (words && dom_holds_any(words, LISTS)) ||
            notes_title_before(node)) {
            return true;
        }
    }
    return false;
}

static bool leads_back(lxb_dom_node_t *definition, const lxb_dom_node_t *reference)
{
    for (lxb_dom_node_t *node = definition; node; node = dom_next(node, definition, true)) {
        const char *href =
            dom_tag(node) == LXB_TAG_A ? dom_known_attr(node, LXB_DOM_ATTR_HREF) : NULL;
        const char *hash = href ? strchr(href, '#') : NULL;
        if (!hash || !hash[1]) {
            continue;
        }
        const lxb_dom_node_t *at = reference;
        for (int steps = 0; at && steps < 3; steps++, at = at->parent) {
            const char *id = dom_id(at);
            const char *name = dom_attr(at, "name");
            if ((id && strcmp(id, hash + 1) == 0) || (name && strcmp(name, hash + 1) == 0)) {
                return true;
            }
        }
        const lxb_dom_node_t *inner = dom_find((lxb_dom_node_t *)(uintptr_t)reference, LXB_TAG_A);
        const char *id = inner ? dom_id(inner) : NULL;
        if (id && strcmp(id, hash + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Links in a note lead back to the text: they are no references. */
static bool is_in_note(const lxb_dom_node_t *node)
{
    for (int steps = 0; node && steps < 12; steps++, node = node->parent) {
        if (node_marks(node) & NODE_NOTE) {
            return true;
        }
    }
    return false;
}

static void find_definitions(struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        struct reference *reference = &search->references[i];
        if (!reference->found || reference->definition || is_in_note(reference->node)) {
            continue;
        }
        lxb_dom_node_t *definition = definition_around(reference->found, reference->node);
        if (!definition) {
            continue;
        }
        bool back = leads_back(definition, reference->node);
        if ((reference->likely && (back || is_called_note(definition, reference->found))) ||
            (back && is_called_note(definition, reference->found))) {
            reference->definition = definition;
            node_mark(definition, NODE_NOTE);
        }
    }
}

/* ---- the notes ---- */

bool notes_is_title(lxb_dom_node_t *node)
{
    char text[40];
    size_t length = dom_collect(node, text, sizeof text);
    while (length && (text[length - 1] == ':' || text[length - 1] == ' ')) {
        text[--length] = '\0';
    }
    for (const char *const *title = NOTE_TITLES; *title; title++) {
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

/* ---- numbers without links ---- */

#define MOST_NUMBERS 1000

/* References of one number that wait for their note, the last one first. */
struct loose {
    struct search *search;
    size_t waiting[MOST_NUMBERS]; /* index + 1 into the references */
    size_t *next;                 /* of each reference */
    size_t order;
};

static void wait_for_note(struct loose *loose, size_t index)
{
    const char *mark = loose->search->references[index].mark;
    size_t number = isdigit((unsigned char)*mark) ? (size_t)strtoul(mark, NULL, 10) : MOST_NUMBERS;
    if (number < MOST_NUMBERS) {
        loose->next[index] = loose->waiting[number];
        loose->waiting[number] = index + 1;
    }
}

/* A note of the number: all that wait for it have found it. */
static void found_note(struct loose *loose, size_t number, lxb_dom_node_t *definition)
{
    if (number >= MOST_NUMBERS || !loose->waiting[number]) {
        return;
    }
    for (size_t at = loose->waiting[number]; at; at = loose->next[at - 1]) {
        struct reference *reference = &loose->search->references[at - 1];
        reference->definition = definition;
        reference->order = loose->order;
    }
    loose->waiting[number] = 0;
    node_mark(definition, NODE_NOTE);
}

/* One walk over the page: a note stands behind what refers to it. */
static void find_loose(struct search *search)
{
    struct loose *loose = arena_zalloc(search->writer->arena, sizeof *loose);
    size_t *next = loose ? arena_zalloc(search->writer->arena, search->count * sizeof *next) : NULL;
    if (!next) {
        return;
    }
    loose->search = search;
    loose->next = next;
    lxb_dom_node_t *body = search->writer->page->body;
    size_t at = 0;
    size_t waiting = 0;
    for (lxb_dom_node_t *node = body; node; node = dom_next(node, body, true)) {
        loose->order++;
        while (at < search->count &&
               (search->references[at].target || search->references[at].definition)) {
            at++;
        }
        if (at < search->count && node == search->references[at].node) {
            if (!notes_begins_block(node)) {
                wait_for_note(loose, at);
                waiting++;
            }
            at++;
        }
        lxb_tag_id_t tag = dom_tag(node);
        if (waiting && (tag == LXB_TAG_P || tag == LXB_TAG_LI)) {
            found_note(loose, notes_number(node), node);
        }
        lxb_dom_node_t *list = waiting ? notes_list(node) : NULL;
        size_t number = 0;
        for (lxb_dom_node_t *item = list ? dom_first_element(list) : NULL; item;
             item = dom_next_element(item)) {
            loose->order++;
            found_note(loose, ++number, item);
        }
    }
}

/* ---- numbering ---- */

static int by_order(const void *one, const void *other)
{
    const struct note *a = one;
    const struct note *b = other;
    return a->label < b->label ? -1 : a->label > b->label;
}

static size_t note_index(const struct writer *writer, const lxb_dom_node_t *definition)
{
    return (size_t)((uintptr_t)definition->user >> NODE_NOTE_SHIFT) - 1 < writer->note_count
               ? (size_t)((uintptr_t)definition->user >> NODE_NOTE_SHIFT) - 1
               : 0;
}

static void set_index(lxb_dom_node_t *node, size_t index)
{
    uintptr_t marks = (uintptr_t)node->user & (((uintptr_t)1 << NODE_NOTE_SHIFT) - 1);
    node->user = (void *)(marks | (uintptr_t)(index + 1) << NODE_NOTE_SHIFT);
}

static bool add_note(struct writer *writer, lxb_dom_node_t *definition, size_t order, size_t *size)
{
    if (node_marks(definition) & NODE_NOTE_LISTED) {
        return true;
    }
    if (writer->note_count == *size) {
        size_t more = *size ? *size * 2 : 32;
        struct note *notes = arena_realloc(writer->arena, writer->notes, *size * sizeof *notes,
                                           more * sizeof *notes);
        if (!notes) {
            return false;
        }
        writer->notes = notes;
        *size = more;
    }
    writer->notes[writer->note_count++] = (struct note){definition, definition, order, false};
    node_mark(definition, NODE_NOTE | NODE_NOTE_LISTED);
    return true;
}

/* The other notes of a list that are not referred to from what was chosen. */
static void add_siblings(struct writer *writer, size_t *size)
{
    size_t found = writer->note_count;
    for (size_t i = 0; i < found; i++) {
        lxb_dom_node_t *definition = writer->notes[i].definition;
        if (dom_tag(definition) != LXB_TAG_LI || !definition->parent) {
            continue;
        }
        size_t before = 0;
        for (lxb_dom_node_t *item = dom_previous_element(definition);
             item && !(node_marks(item) & NODE_NOTE); item = dom_previous_element(item)) {
            before++;
        }
        lxb_dom_node_t *item = definition;
        while (before && (item = dom_previous_element(item)) && !(node_marks(item) & NODE_NOTE) &&
               dom_has_text(item)) {
            add_note(writer, item, writer->notes[i].label, size);
        }
    }
}

/* Orders the notes as they stand on the page and numbers them. */
static void number_notes(struct writer *writer)
{
    if (writer->note_count > 1) {
        qsort(writer->notes, writer->note_count, sizeof *writer->notes, by_order);
    }
    for (size_t i = 0; i < writer->note_count; i++) {
        writer->notes[i].label = i + 1;
        set_index(writer->notes[i].definition, i);
    }
}

/* A title of notes, or a rule, that would stand over nothing. */
static void drop_title(lxb_dom_node_t *definition)
{
    lxb_dom_node_t *node = definition;
    for (int steps = 0; node && steps < 4; steps++, node = node->parent) {
        lxb_dom_node_t *title = notes_title_before(node);
        lxb_dom_node_t *previous = dom_previous_element(node);
        if (previous && dom_tag(previous) == LXB_TAG_HR) {
            node_mark(previous, NODE_DROPPED);
        }
        if (title) {
            node_mark(title, NODE_DROPPED);
            return;
        }
        if (previous && dom_has_text(previous) && !(node_marks(previous) & NODE_DROPPED)) {
            return;
        }
    }
}

void footnotes_find(struct writer *writer)
{
    struct search search = {.writer = writer};
    for (size_t i = 0; i < writer->page->root_count; i++) {
        find_references(&search, writer->page->roots[i]);
    }
    if (!search.count) {
        return;
    }
    find_targets(&search);
    find_definitions(&search);
    find_loose(&search);
    size_t size = 0;
    for (size_t i = 0; i < search.count; i++) {
        struct reference *reference = &search.references[i];
        size_t order = reference->order ? reference->order : i;
        if (reference->definition && add_note(writer, reference->definition, order, &size)) {
            node_mark(reference->node, NODE_NOTE_REFERENCE);
        }
    }
    add_siblings(writer, &size);
    number_notes(writer);
    for (size_t i = 0; i < search.count; i++) {
        struct reference *reference = &search.references[i];
        if (node_marks(reference->node) & NODE_NOTE_REFERENCE) {
            set_index(reference->node, note_index(writer, reference->definition));
        }
    }
    for (size_t i = 0; i < writer->note_count; i++) {
        drop_title(writer->notes[i].definition);
        lxb_dom_node_t *last = writer->notes[i].definition;
        for (lxb_dom_node_t *more = notes_next(last); more; more = notes_next(more)) {
            last = more;
        }
        writer->notes[i].last = last;
    }
    for (size_t i = 0; i < writer->note_count; i++) {
        for (lxb_dom_node_t *more = writer->notes[i].definition; more != writer->notes[i].last;) {
            more = dom_next_element(more);
            node_mark(more, NODE_NOTE);
        }
    }
}

/* ---- writing ---- */

void write_note_reference(struct writer *writer, lxb_dom_node_t *node)
{
    char text[32];
    struct note *note = &writer->notes[note_index(writer, node)];
    int length = snprintf(text, sizeof text, "[^%zu]", note->label);
    note->used = true;
    inline_raw(writer, text, (size_t)length);
}

void write_notes(struct writer *writer)
{
    for (size_t i = 0; i < writer->note_count; i++) {
        char head[32];
        lxb_dom_node_t *definition = writer->notes[i].definition;
        notes_clean(writer, definition);
        snprintf(head, sizeof head, "[^%zu]: ", writer->notes[i].label);
        struct prefix_mark mark = prefix_push(writer, head, "    ");
        writer->title_done = true;
        write_children(writer, definition);
        flush_block(writer);
        for (lxb_dom_node_t *more = definition; more != writer->notes[i].last;) {
            more = dom_next_element(more);
            more->user = (void *)((uintptr_t)more->user & ~(uintptr_t)NODE_NOTE);
            write_node(writer, more);
            flush_block(writer);
        }
        prefix_pop(writer, mark);
        writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
    }
}
