/* Footnotes: finds what refers to a note and what the note says, in the many ways that pages write
 * them, so that both come out as [^1]. Links to a note with its number; numbers in superscript with
 * a list of notes behind; asides beside the text. The notes themselves may stand outside of the
 * chosen content. */
#include "html/markdown/writer.h"

#include "html/markdown/notes.h"
#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define LONGEST_NOTE 6000 /* bytes: what is longer is a part of the page */

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
static void find_targets(struct note_search *search)
{
    size_t size = 64;
    while (size < search->count * 2) {
        size *= 2;
    }
    struct id_slot {
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
    bool readable = true; /* notes may wait for a click, but they may not be out of all sight */
    for (lxb_dom_node_t *node = wanted ? body : NULL; node; node = dom_next(node, body, readable)) {
        order++;
        readable = !(node_marks(node) & NODE_UNREADABLE);
        const char *id = readable ? dom_id(node) : NULL;
        id = readable && !id && dom_tag(node) == LXB_TAG_A ? dom_attr(node, "name") : id;
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
    return dom_collect(node, text, sizeof text) > 0 && !reference_mark_in(text, mark) &&
           strspn(text, "0123456789[]()^. \xE2\x86\xA9\x91") != strlen(text);
}

static bool is_mark(lxb_dom_node_t *node)
{
    char text[24];
    char mark[LONGEST_MARK];
    size_t length = dom_collect(node, text, sizeof text);
    return length && length < sizeof text - 4 && reference_mark_in(text, mark);
}

/* Whether words stand before `node` in `block`. */
static bool has_words_before(const lxb_dom_node_t *node, const lxb_dom_node_t *block)
{
    for (lxb_dom_node_t *at = block->first_child; at && at != node;
         at = dom_next(at, block, true)) {
        size_t length = 0;
        const char *text = dom_is_text(at) ? dom_text(at, &length) : "";
        for (size_t i = 0; i < length; i++) {
            if (isalnum((unsigned char)text[i]) || (text[i] & 0x80)) {
                return true;
            }
        }
    }
    return false;
}

/* A note whose mark stands in an element of its own: a term, a heading, the first cell of a row.
 * NULL when `node` is no such element. */
static lxb_dom_node_t *note_beside(lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    if (tag == LXB_TAG_TABLE || tag == LXB_TAG_TR || tag == LXB_TAG_TBODY) {
        lxb_dom_node_t *row = tag == LXB_TAG_TR ? node : dom_find(node, LXB_TAG_TR);
        node = row ? dom_first_element(row) : NULL;
        tag = node ? dom_tag(node) : LXB_TAG__UNDEF;
    }
    if (!node || !is_mark(node)) {
        return NULL;
    }
    lxb_dom_node_t *next = dom_next_element(node);
    lxb_tag_id_t after = next ? dom_tag(next) : LXB_TAG__UNDEF;
    bool fits = (tag == LXB_TAG_DT && after == LXB_TAG_DD) ||
                ((tag == LXB_TAG_TD || tag == LXB_TAG_TH) && after == LXB_TAG_TD) ||
                (dom_heading_level(node) && (after == LXB_TAG_P || after == LXB_TAG_DIV));
    return fits && dom_has_text(next) ? next : NULL;
}

/* The first element that says more than a mark, from the one with the note's id upwards. */
static lxb_dom_node_t *climb_to_note(lxb_dom_node_t *found, const lxb_dom_node_t *reference)
{
    lxb_dom_node_t *node = found;
    for (int steps = 0; node && steps < 5; steps++, node = node->parent) {
        lxb_tag_id_t tag = dom_tag(node);
        lxb_dom_node_t *beside = note_beside(node, tag);
        if (beside) {
            return beside;
        }
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
    /* Of two marks that lead to each other the one behind words is the reference. */
    if (!node || (is_mark(found) && has_words_before(found, node))) {
        return NULL;
    }
    bool begins_item = node->parent && dom_tag(node->parent) == LXB_TAG_LI &&
                       !dom_previous_element(node) && dom_next_element(node);
    return begins_item && !dom_within(reference, node->parent) ? node->parent : node;
}

/* The block that holds the note whose id an element bears. */
static lxb_dom_node_t *definition_around(lxb_dom_node_t *found, const lxb_dom_node_t *reference)
{
    lxb_dom_node_t *node = climb_to_note(found, reference);
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

/* The mark of a note that stands in an element of its own goes with it. */
static void drop_mark_beside(lxb_dom_node_t *definition)
{
    lxb_dom_node_t *before = dom_previous_element(definition);
    lxb_tag_id_t tag = before ? dom_tag(before) : LXB_TAG__UNDEF;
    if (before && note_beside(before, tag) == definition) {
        node_drop(before, OMIT_CONTROLS);
    }
}

/* Whether an element, or the list that it is in, is called notes. */
static bool is_called_note(lxb_dom_node_t *definition, lxb_dom_node_t *found)
{
    if (reference_hints(found, note_hints)) {
        return true;
    }
    lxb_dom_node_t *node = definition;
    for (int steps = 0; node && steps < 4; steps++, node = node->parent) {
        if (dom_holds_any(dom_id(node), note_lists) || dom_holds_any(dom_class(node), note_lists) ||
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
        const lxb_dom_node_t *inner = dom_find(reference, LXB_TAG_A);
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

static void find_definitions(struct note_search *search)
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
            drop_mark_beside(definition);
        }
    }
}

/* ---- numbers without links ---- */

#define MOST_NUMBERS 1000

/* References of one number that wait for their note, the last one first. */
struct loose {
    struct note_search *search;
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
static void find_loose(struct note_search *search)
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
    const struct markdown_note *a = one;
    const struct markdown_note *b = other;
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
        struct markdown_note *notes = arena_realloc(writer->arena, writer->notes,
                                                    *size * sizeof *notes, more * sizeof *notes);
        if (!notes) {
            return false;
        }
        writer->notes = notes;
        *size = more;
    }
    writer->notes[writer->note_count++] =
        (struct markdown_note){definition, definition, order, false};
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
        for (size_t back = 1; before && (item = dom_previous_element(item)) &&
                              !(node_marks(item) & NODE_NOTE) && dom_has_text(item);
             back++) {
            /* Every element has its place, so there is room between two items. */
            add_note(writer, item, writer->notes[i].label - back, size);
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
            node_drop(title, OMIT_DETAILS);
            lxb_dom_node_t *rule = dom_previous_element(title);
            if (rule && dom_tag(rule) == LXB_TAG_HR) {
                node_mark(rule, NODE_DROPPED);
            }
            return;
        }
        if (previous && dom_has_text(previous) && !(node_marks(previous) & NODE_DROPPED)) {
            return;
        }
    }
}

void footnotes_find(struct writer *writer)
{
    struct note_search search = {.writer = writer};
    for (size_t i = 0; i < writer->page->root_count; i++) {
        references_find(&search, writer->page->roots[i]);
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
    struct markdown_note *note = &writer->notes[note_index(writer, node)];
    int length = snprintf(text, sizeof text, "[^%zu]", note->label);
    note->used = true;
    dom_mark_written(node);
    inline_raw(writer, text, (size_t)length);
}

void write_notes(struct writer *writer)
{
    for (size_t i = 0; i < writer->note_count; i++) {
        char head[32];
        lxb_dom_node_t *definition = writer->notes[i].definition;
        notes_clean(definition);
        snprintf(head, sizeof head, "[^%zu]: ", writer->notes[i].label);
        struct prefix_mark mark = prefix_push(writer, head, "    ");
        writer->title_done = true;
        write_children(writer, definition);
        flush_block(writer);
        for (lxb_dom_node_t *more = definition; more != writer->notes[i].last;) {
            more = dom_next_element(more);
            node_unmark(more, NODE_NOTE);
            write_node(writer, more);
            flush_block(writer);
        }
        prefix_pop(writer, mark);
        writer->gap = writer->out->length ? GAP_BLANK : GAP_NONE;
    }
}
