/* One walk over the tree that fills the array of elements, and one loop that sums it up. */
#include "html/choose/stats.h"

#include "core/limits.h"
#include "core/status.h"
#include "html/classes.h"
#include "html/dom.h"
#include "tables.h"

#include <lexbor/dom/interfaces/character_data.h>
#include <string.h>
#include <strings.h>

enum { USER_SHIFT = 4, SPARE_ELEMENTS = 16, LARGE_PART = 1000, WIDEST_BLANK = 6 };

/* ---- what tags are ---- */

/* Tags that start a new line. */
static const bool BLOCKS[LXB_TAG__LAST_ENTRY] = {
    [LXB_TAG_ADDRESS] = true,    [LXB_TAG_ARTICLE] = true, [LXB_TAG_ASIDE] = true,
    [LXB_TAG_BLOCKQUOTE] = true, [LXB_TAG_BODY] = true,    [LXB_TAG_BUTTON] = true,
    [LXB_TAG_CAPTION] = true,    [LXB_TAG_CENTER] = true,  [LXB_TAG_DD] = true,
    [LXB_TAG_DETAILS] = true,    [LXB_TAG_DIALOG] = true,  [LXB_TAG_DIV] = true,
    [LXB_TAG_DL] = true,         [LXB_TAG_DT] = true,      [LXB_TAG_FIELDSET] = true,
    [LXB_TAG_FIGCAPTION] = true, [LXB_TAG_FIGURE] = true,  [LXB_TAG_FOOTER] = true,
    [LXB_TAG_FORM] = true,       [LXB_TAG_H1] = true,      [LXB_TAG_H2] = true,
    [LXB_TAG_H3] = true,         [LXB_TAG_H4] = true,      [LXB_TAG_H5] = true,
    [LXB_TAG_H6] = true,         [LXB_TAG_HEADER] = true,  [LXB_TAG_HGROUP] = true,
    [LXB_TAG_HR] = true,         [LXB_TAG_LI] = true,      [LXB_TAG_MAIN] = true,
    [LXB_TAG_MENU] = true,       [LXB_TAG_NAV] = true,     [LXB_TAG_OL] = true,
    [LXB_TAG_P] = true,          [LXB_TAG_PRE] = true,     [LXB_TAG_SECTION] = true,
    [LXB_TAG_SUMMARY] = true,    [LXB_TAG_TABLE] = true,   [LXB_TAG_TBODY] = true,
    [LXB_TAG_TD] = true,         [LXB_TAG_TFOOT] = true,   [LXB_TAG_TH] = true,
    [LXB_TAG_THEAD] = true,      [LXB_TAG_TR] = true,      [LXB_TAG_UL] = true,
};

/* ---- letters ---- */

/* Those from STOP on need a look at what they are. */
enum letter_class { LETTER, DIGIT, SPACE, CONTINUATION, STOP, COMMA, CURRENCY, WIDE };

static const uint8_t LETTER_CLASSES[256] = {
    [' '] = SPACE,    ['\t'] = SPACE,
    ['\n'] = SPACE,   ['\r'] = SPACE,
    ['\f'] = SPACE,   ['.'] = STOP,
    ['!'] = STOP,     ['?'] = STOP,
    [','] = COMMA,    [';'] = COMMA,
    ['$'] = CURRENCY, ['0'] = DIGIT,
    ['1'] = DIGIT,    ['2'] = DIGIT,
    ['3'] = DIGIT,    ['4'] = DIGIT,
    ['5'] = DIGIT,    ['6'] = DIGIT,
    ['7'] = DIGIT,    ['8'] = DIGIT,
    ['9'] = DIGIT,    [0x80 ... 0xbf] = CONTINUATION,
    [0xc2] = WIDE,    [0xe2 ... 0xed] = WIDE,
    [0xef] = WIDE,
};

/* ---- attributes ---- */

/* Names that lexbor does not know have numbers of their own in each document. */
struct stats_attributes {
    lxb_dom_attr_id_t role, itemprop, itemtype, expanded, controls;
};

static uint16_t property_flags(const lxb_char_t *value, size_t length)
{
    const char *word = (const char *)value;
    for (size_t i = length; i > 0; i--) {
        if (value[i - 1] == '/') {
            word = (const char *)value + i;
            length -= i;
            break;
        }
    }
    return (uint16_t)words_value(&page_properties, word, length);
}

static void read_attributes(struct element *element, const struct page *page,
                            const struct stats_attributes *names)
{
    const lxb_dom_element_t *dom = lxb_dom_interface_element(element->node);
    for (const lxb_dom_attr_t *attr = dom->first_attr; attr; attr = attr->next) {
        lxb_dom_attr_id_t name = attr->node.local_name;
        if (!attr->value || attr->value->length == 0) {
            continue;
        }
        const lxb_char_t *value = attr->value->data;
        size_t length = attr->value->length;
        if (name == LXB_DOM_ATTR_CLASS) {
            struct class_facts facts =
                class_facts(page, element->node, (const char *)value, length);
            element->shape = facts.shape;
            element->hints |= facts.hints;
        } else if (name == LXB_DOM_ATTR_ID) {
            element->hints |= hints_of(value, length);
        } else if (name < LXB_DOM_ATTR__LAST_ENTRY) {
            continue;
        } else if (name == names->role) {
            element->role = (uint8_t)words_value(&page_roles, (const char *)value, length);
        } else if (name == names->itemprop || name == names->itemtype) {
            element->flags |= property_flags(value, length);
        } else if (name == names->expanded || name == names->controls) {
            element->flags |= FLAG_OPENS;
        }
    }
}

/* ---- text ---- */

/* The pound, yen, euro and other signs begin with these two bytes or three. */
static bool is_currency(const lxb_char_t *at, size_t left)
{
    return (left >= 2 && at[0] == 0xc2 && (at[1] == 0xa3 || at[1] == 0xa5)) ||
           (left >= 3 && at[0] == 0xe2 && at[1] == 0x82 && at[2] >= 0xa0);
}

/* The full stop, the commas, and the exclamation and question marks of Chinese and Japanese. */
static void count_wide_marks(const lxb_char_t *at, size_t left, uint32_t *stops, uint32_t *commas)
{
    if (left < 3) {
        return;
    }
    bool plain = at[0] == 0xe3 && at[1] == 0x80;
    bool full = at[0] == 0xef && at[1] == 0xbc;
    *stops += (plain && at[2] == 0x82) || (full && (at[2] == 0x81 || at[2] == 0x9f));
    *commas += (plain && at[2] == 0x81) || (full && at[2] == 0x8c);
}

/* Whether a number stands beside the sign, with a blank or two between them at most. */
static bool is_price(const lxb_char_t *data, size_t length, size_t at)
{
    size_t next = at + (data[at] == '$' ? 1 : data[at] == 0xc2 ? 2 : 3);
    size_t last = next + WIDEST_BLANK < length ? next + WIDEST_BLANK : length;
    while (next < last && (data[next] == ' ' || data[next] == 0xc2 || data[next] == 0xa0)) {
        next++;
    }
    if (next < length && LETTER_CLASSES[data[next]] == DIGIT) {
        return true;
    }
    size_t before = at, first = at > WIDEST_BLANK ? at - WIDEST_BLANK : 0;
    while (before > first && (data[before - 1] == ' ' || data[before - 1] >= 0x80)) {
        before--;
    }
    return before > 0 && LETTER_CLASSES[data[before - 1]] == DIGIT;
}

struct marks {
    uint32_t letters, commas, stops, prices;
};

/* Marks, signs and the letters of wide scripts. */
static void read_mark(struct marks *marks, const lxb_char_t *data, size_t length, size_t at)
{
    switch (LETTER_CLASSES[data[at]]) {
    case STOP:
        marks->stops += at + 1 == length || LETTER_CLASSES[data[at + 1]] == SPACE;
        break;
    case COMMA:
        marks->commas++;
        break;
    case CURRENCY:
        marks->prices += is_price(data, length, at);
        break;
    default:
        /* Ideographs: a character says as much as two or three letters do. */
        marks->letters += data[at] >= 0xe3 && data[at] <= 0xed;
        if (data[at] >= 0xe3) {
            count_wide_marks(data + at, length - at, &marks->stops, &marks->commas);
        } else if (is_currency(data + at, length - at)) {
            marks->prices += is_price(data, length, at);
        }
        break;
    }
}

/* Every letter of the page passes here. Blanks stand where no processor expects them, so the loop
 * takes them along, uncounted, rather than stepping aside. */
static void read_text(struct element *element, struct element *block, const lxb_char_t *data,
                      size_t length)
{
    struct marks marks = {0};
    uint32_t letters = 0, hash = block->flow_hash;
    size_t i = 0;
    while (i < length && LETTER_CLASSES[data[i]] == SPACE) {
        i++;
    }
    for (; i < length; i++) {
        uint8_t class = LETTER_CLASSES[data[i]];
        bool counts = class != SPACE && class != CONTINUATION;
        if (class >= STOP) {
            read_mark(&marks, data, length, i);
        }
        uint32_t more = (hash ^ data[i]) * 16777619u;
        hash = counts ? more : hash;
        letters += counts;
    }
    letters += marks.letters;
    block->flow_hash = hash;
    block->flow += letters;
    block->commas += marks.commas;
    block->stops += marks.stops;
    element->own.text += letters;
    element->own.prices += marks.prices;
    if (element_has(element, FLAG_IN_LINK)) {
        block->link_flow += letters;
        element->own.link_text += letters;
    }
    if (element_has(element, FLAG_IN_CODE)) {
        element->own.code += letters;
    }
}

/* ---- sums ---- */

static void add_measures(struct measures *to, const struct measures *from)
{
    to->text += from->text;
    to->link_text += from->link_text;
    to->prose += from->prose;
    to->code += from->code;
    to->links += from->links;
    to->headings += from->headings;
    to->images += from->images;
    to->prices += from->prices;
    to->times += from->times;
    to->landmarks += from->landmarks;
    to->sections += from->sections;
    to->parts += from->parts;
}

/* A block reads like prose when it is long enough, is not mostly links, and has sentences. */
static uint32_t prose_of(const struct element *element)
{
    uint32_t plain = element->flow - element->link_flow;
    if (element->flow < 40 || plain * 2 < element->flow || element_has(element, FLAG_IN_HEADING)) {
        return 0;
    }
    if (element->stops == 0 && element->commas < 2 && element->flow < 120) {
        return 0;
    }
    return plain;
}

/* What an element holds without those below it. */
static void begin_sum(struct element *element)
{
    element->all = element->own;
    element->paragraph_prose = 0;
    element->text_hash = element->flow == 0 ? 0 : element->flow_hash * 2654435761u;
}

/* From the last element to the first, so that each is whole when it is added to the one around it;
 * that one begins with the last that is in it. */
void stats_sum(struct stats *stats)
{
    struct element *elements = stats->elements;
    if (!stats->stale) {
        return;
    }
    stats->stale = false;
    for (uint32_t i = 1; i < stats->count; i++) {
        elements[i].dropped = elements[i].dropped || elements[elements[i].parent].dropped;
    }
    for (uint32_t i = stats->count - 1; i > 0; i--) {
        struct element *element = &elements[i], *parent = &elements[element->parent];
        if (element->end == i + 1) {
            begin_sum(element);
        }
        if (parent->end == element->end) {
            begin_sum(parent);
        }
        if (element->dropped) {
            continue;
        }
        add_measures(&parent->all, &element->all);
        parent->text_hash += element->text_hash;
        parent->paragraph_prose += element->tag == LXB_TAG_P ? element->own.prose : 0;
    }
}

void stats_drop(struct stats *stats, uint32_t number, enum omission what)
{
    struct element *element = &stats->elements[number];
    element->dropped = stats->stale = true;
    node_drop(element->node, what);
}

/* ---- the walk ---- */

/* What a tag alone says. */
static void read_tag(struct element *element)
{
    switch (element->tag) {
    case LXB_TAG_A:
        /* Without an address it only names a place, and many are never closed. */
        if (dom_known_attr(element->node, LXB_DOM_ATTR_HREF)) {
            element->flags |= FLAG_IN_LINK;
            element->own.links = 1;
        }
        break;
    case LXB_TAG_PRE:
    case LXB_TAG_CODE:
        element->flags |= FLAG_IN_CODE;
        break;
    case LXB_TAG_MAIN:
    case LXB_TAG_ARTICLE:
        element->own.landmarks = 1;
        break;
    case LXB_TAG_H1:
    case LXB_TAG_H2:
    case LXB_TAG_H3:
    case LXB_TAG_H4:
    case LXB_TAG_H5:
    case LXB_TAG_H6:
        element->flags |= FLAG_IN_HEADING;
        element->own.headings = 1;
        element->own.landmarks = element->tag == LXB_TAG_H1;
        break;
    case LXB_TAG_IMG:
        element->own.images = 1;
        break;
    case LXB_TAG_TIME:
        element->own.times = 1;
        break;
    default:
        break;
    }
}

static struct element *add_element(struct stats *stats, size_t *room, lxb_dom_node_t *node,
                                   uint32_t parent)
{
    if (stats->count == *room) {
        size_t old = *room * sizeof *stats->elements;
        struct element *grown =
            arena_realloc(stats->page->arena, stats->elements, old, old == 0 ? 0 : old * 2);
        if (!grown) {
            return NULL;
        }
        stats->elements = grown;
        *room *= 2;
    }
    uint32_t number = stats->count++;
    struct element *element = &stats->elements[number];
    *element = (struct element){.node = node,
                                .parent = parent,
                                .end = number + 1,
                                .block = number,
                                .shape = shape_of_tag(node)};
    element->tag = node->local_name < LXB_TAG__LAST_ENTRY ? (uint16_t)node->local_name : 0;
    node->user =
        (void *)((node_marks(node) & ((1u << USER_SHIFT) - 1)) | ((uintptr_t)number << USER_SHIFT));
    bool block = BLOCKS[element->tag] || element->tag == 0;
    if (number > 0) {
        const struct element *above = &stats->elements[parent];
        element->flags = above->flags & (FLAG_IN_LINK | FLAG_IN_HEADING | FLAG_IN_CODE);
        element->depth = (uint16_t)(above->depth + (above->depth < UINT16_MAX));
        element->block = block ? number : above->block;
    }
    element->flags |= block ? FLAG_BLOCK : 0;
    read_tag(element);
    return element;
}

/* Large parts that fade and slide in when a script says so begin invisible and moved aside. */
static bool waits_for_script(lxb_dom_node_t *node)
{
    const char *style = dom_known_attr(node, LXB_DOM_ATTR_STYLE);
    if (!style || !strstr(style, "opacity") || !strstr(style, "transform")) {
        return false;
    }
    size_t text = 0;
    for (const lxb_dom_node_t *at = node; at && text < LARGE_PART; at = dom_next(at, node, true)) {
        if (at->type == LXB_DOM_NODE_TYPE_TEXT) {
            text += ((const lxb_dom_character_data_t *)at)->data.length;
        }
    }
    return text >= LARGE_PART;
}

enum { MOST_IN_CONTROL = 8 }; /* nodes that are looked at: a heading around a button around words */

/* Whether the element before it is a control that says of itself that it opens something, or holds
 * one; menus are opened so as well, but hold no paragraphs. */
static bool follows_control(const lxb_dom_node_t *node)
{
    const lxb_dom_node_t *before = dom_previous_element(node);
    bool opens = false;
    int looked = 0;
    for (const lxb_dom_node_t *at = before; at && !opens && looked < MOST_IN_CONTROL; looked++) {
        opens = at->type == LXB_DOM_NODE_TYPE_ELEMENT && dom_attr(at, "aria-expanded");
        at = dom_next(at, before, true);
    }
    return opens && dom_find(node, LXB_TAG_P) && !dom_find(node, LXB_TAG_FORM);
}

/* Tabs and accordions hide what a click opens: that is content which waits, not content which
 * hides. */
static bool waits_for_click(const struct page *page, lxb_dom_node_t *node)
{
    const char *id = dom_id(node);
    /* A page that a server streams comes in hidden pieces, which a script puts in place. */
    if (id && id[0] == 'S' && id[1] == ':' && id[2]) {
        return true;
    }
    const char *role = dom_attr(node, "role");
    if (role && strcasecmp(role, "tabpanel") == 0) {
        return true;
    }
    uint32_t hints = hints_of_names(page, node);
    /* What follows the title of a part that is called closed. */
    const char *around = dom_previous_element(node) ? dom_class(node->parent) : NULL;
    hints |=
        around ? class_facts(page, node->parent, around, strlen(around)).hints & HINT_PANEL : 0;
    return (hints & (HINT_NAVIGATION | HINT_POPUP | HINT_COOKIE)) == 0 &&
           ((hints & HINT_PANEL) != 0 || follows_control(node));
}

struct stats_walk {
    struct stats *stats;
    struct stats_attributes names;
    size_t room;
    uint32_t at; /* the innermost open element */
    enum stats_reach reach;
};

static bool holds_landmark(lxb_dom_node_t *root)
{
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        lxb_tag_id_t tag = dom_tag(node);
        if (tag == LXB_TAG_H1 || tag == LXB_TAG_MAIN || tag == LXB_TAG_ARTICLE) {
            return true;
        }
    }
    return false;
}

/* Whether what is hidden may be shown yet. Where nothing else is, even what is moved off the screen
 * may slide in, when it is the page. */
static bool is_within_reach(const struct stats_walk *walk, lxb_dom_node_t *node)
{
    if ((node_marks(node) & NODE_UNREADABLE) != 0) {
        return walk->reach == REACH_CLOSED && holds_landmark(node);
    }
    return walk->reach == REACH_CLOSED || waits_for_click(walk->stats->page, node) ||
           waits_for_script(node) || (walk->reach == REACH_LANDMARKS && holds_landmark(node));
}

static bool is_skipped(const struct stats_walk *walk, lxb_dom_node_t *node)
{
    if (node->ns == LXB_NS_SVG) {
        return true;
    }
    if (walk->reach != REACH_SHOWN && node->local_name == LXB_TAG_NOSCRIPT) {
        return false;
    }
    if (dom_text_use(node->local_name) & TEXT_SKIPPED) {
        return true;
    }
    if ((node_marks(node) & NODE_HIDDEN) == 0) {
        return false;
    }
    if (!is_within_reach(walk, node)) {
        return true;
    }
    node_unmark(node, NODE_HIDDEN);
    return false;
}

/* Visits one node; whether to go below it is in `enter`. */
static int visit(struct stats_walk *walk, lxb_dom_node_t *node, bool *enter)
{
    struct stats *stats = walk->stats;
    *enter = false;
    if (node->type == LXB_DOM_NODE_TYPE_TEXT) {
        const lexbor_str_t *text = &lxb_dom_interface_character_data(node)->data;
        struct element *element = &stats->elements[walk->at];
        read_text(element, &stats->elements[element->block], text->data, text->length);
        return OK;
    }
    if (node->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        return OK;
    }
    node_unmark(node, NODE_DROPPED);
    if (is_skipped(walk, node) || stats->count >= LIMIT_PAGE_ELEMENTS) {
        node_mark(node, NODE_DROPPED);
        stats->scripts += node->local_name == LXB_TAG_SCRIPT;
        return OK;
    }
    struct element *element = add_element(stats, &walk->room, node, walk->at);
    if (!element) {
        return ERR_NOMEM;
    }
    read_attributes(element, stats->page, &walk->names);
    walk->at = stats->count - 1;
    *enter = true;
    return OK;
}

/* From a node whose subtree is done to the next one in document order; NULL at the end of the body.
 */
static lxb_dom_node_t *leave(struct stats_walk *walk, lxb_dom_node_t *node)
{
    struct stats *stats = walk->stats;
    for (;;) {
        if (node == stats->elements[walk->at].node) {
            stats->elements[walk->at].end = stats->count;
            if (walk->at == 0) {
                return NULL;
            }
            walk->at = stats->elements[walk->at].parent;
        }
        if (node->next) {
            return node->next;
        }
        node = node->parent;
    }
}

int stats_collect(struct page *page, struct stats *stats, enum stats_reach reach)
{
    *stats = (struct stats){.page = page};
    struct stats_walk walk = {
        .stats = stats,
        .names = {.role = dom_attr_number(page, "role"),
                  .itemprop = dom_attr_number(page, "itemprop"),
                  .itemtype = dom_attr_number(page, "itemtype"),
                  .expanded = dom_attr_number(page, "aria-expanded"),
                  .controls = dom_attr_number(page, "aria-controls")},
        .room = page->elements + page->elements / 16 + SPARE_ELEMENTS,
        .reach = reach,
    };
    stats->elements = arena_alloc(page->arena, walk.room * sizeof *stats->elements);
    if (!stats->elements || !add_element(stats, &walk.room, page->body, 0)) {
        return ERR_NOMEM;
    }
    lxb_dom_node_t *node = page->body;
    bool enter = true;
    for (;;) {
        node = enter && node->first_child ? node->first_child : leave(&walk, node);
        if (!node) {
            break;
        }
        if (visit(&walk, node, &enter) != OK) {
            return ERR_NOMEM;
        }
    }
    for (uint32_t i = 0; i < stats->count; i++) {
        stats->elements[i].own.prose = prose_of(&stats->elements[i]);
    }
    begin_sum(&stats->elements[0]);
    stats->stale = true;
    stats_sum(stats);
    return OK;
}

/* ---- labels ---- */

struct label {
    char *text;
    size_t length, capacity;
    bool space;
};

static void label_add(struct label *label, const lxb_char_t *data, size_t length)
{
    for (size_t i = 0; i < length && label->length + 2 < label->capacity; i++) {
        unsigned char letter = data[i];
        bool blank = LETTER_CLASSES[letter] == SPACE ||
                     (letter == 0xc2 && i + 1 < length && data[i + 1] == 0xa0);
        if (blank) {
            i += letter == 0xc2;
            label->space = label->length > 0;
            continue;
        }
        if (label->space) {
            label->text[label->length++] = ' ';
        }
        label->space = false;
        if (letter >= 'A' && letter <= 'Z') {
            letter = (unsigned char)(letter + 32);
        }
        label->text[label->length++] = (char)letter;
    }
}

size_t stats_label(const struct stats *stats, uint32_t number, char *text, size_t capacity)
{
    struct label label = {.text = text, .capacity = capacity};
    const lxb_dom_node_t *root = stats->elements[number].node;
    bool enter = true;
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, enter)) {
        bool element = node->type == LXB_DOM_NODE_TYPE_ELEMENT;
        if (node->type == LXB_DOM_NODE_TYPE_TEXT) {
            const lexbor_str_t *data = &((const lxb_dom_character_data_t *)node)->data;
            label_add(&label, data->data, data->length);
        } else if (element && node->local_name < LXB_TAG__LAST_ENTRY && BLOCKS[node->local_name]) {
            label.space = label.length > 0;
        }
        enter = !(element && (node_marks(node) & NODE_DROPPED)) && label.length + 2 < capacity;
    }
    text[label.length] = '\0';
    return label.length;
}
