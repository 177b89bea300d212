/* Looking at lexbor's tree. */
#include "html/dom.h"

#include "core/limits.h"
#include "text/slice.h"

#include <stdlib.h>
#include <strings.h>

const char *dom_name(const lxb_dom_node_t *node)
{
    if (node->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        return "";
    }
    const lxb_tag_data_t *data = lxb_tag_data_by_id(node->local_name);
    const lxb_char_t *name = data ? lexbor_hash_entry_str(&data->entry) : NULL;
    return name ? (const char *)name : "";
}

/* ---- attributes ---- */

static const lxb_dom_element_t *as_element(const lxb_dom_node_t *node)
{
    return node->type == LXB_DOM_NODE_TYPE_ELEMENT ? (const lxb_dom_element_t *)node : NULL;
}

static const char *value_of(const lxb_dom_attr_t *attr)
{
    return attr->value && attr->value->data ? (const char *)attr->value->data : "";
}

const char *dom_attr(const lxb_dom_node_t *node, const char *name)
{
    const lxb_dom_element_t *element = as_element(node);
    if (!element || !element->first_attr) {
        return NULL;
    }
    size_t length = strlen(name);
    for (const lxb_dom_attr_t *attr = element->first_attr; attr; attr = attr->next) {
        size_t name_length = 0;
        const lxb_char_t *found = lxb_dom_attr_local_name(attr, &name_length);
        if (name_length == length && found && memcmp(found, name, length) == 0) {
            return value_of(attr);
        }
    }
    return NULL;
}

const char *dom_known_attr(const lxb_dom_node_t *node, lxb_dom_attr_id_t id)
{
    const lxb_dom_element_t *element = as_element(node);
    for (const lxb_dom_attr_t *attr = element ? element->first_attr : NULL; attr;
         attr = attr->next) {
        if (attr->node.local_name == id) {
            return value_of(attr);
        }
    }
    return NULL;
}

lxb_dom_attr_id_t dom_attr_number(const struct page *page, const char *name)
{
    lxb_dom_document_t *document = lxb_dom_interface_document(page->document);
    const lxb_dom_attr_data_t *data =
        lxb_dom_attr_data_by_local_name(document->attrs, (const lxb_char_t *)name, strlen(name));
    return data ? data->attr_id : LXB_DOM_ATTR__UNDEF;
}

const char *dom_class(const lxb_dom_node_t *node)
{
    const lxb_dom_element_t *element = as_element(node);
    return element && element->attr_class ? value_of(element->attr_class) : NULL;
}

const char *dom_id(const lxb_dom_node_t *node)
{
    const lxb_dom_element_t *element = as_element(node);
    return element && element->attr_id ? value_of(element->attr_id) : NULL;
}

int dom_pixels(const lxb_dom_node_t *node, lxb_dom_attr_id_t id)
{
    const char *value = dom_known_attr(node, id);
    if (!value || *value < '0' || *value > '9') {
        return -1;
    }
    char *end;
    long pixels = strtol(value, &end, 10);
    return *end == '%' || pixels > 100000 ? -1 : (int)pixels;
}

/* ---- words ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of a list of words between white space, which moves behind it; empty at the end. */
static struct slice next_word(const char **list)
{
    while (is_space(**list)) {
        (*list)++;
    }
    struct slice word = {*list, 0};
    while (**list && !is_space(**list)) {
        (*list)++;
    }
    word.length = (size_t)(*list - word.data);
    return word;
}

bool dom_has_word(const char *list, const char *word)
{
    struct slice found = {NULL, 0};
    while (list && (found = next_word(&list)).length) {
        if (slice_is_any_case(found, word)) {
            return true;
        }
    }
    return false;
}

/* A to Z as small letters. */
static unsigned char folded(char letter)
{
    unsigned char byte = (unsigned char)letter;
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

static bool begins_with(const char *text, const char *part)
{
    while (*part && folded(*text) == folded(*part)) {
        text++;
        part++;
    }
    return *part == '\0';
}

static bool begins_with_any(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        if (((*text ^ **parts) & 31) == 0 && begins_with(text, *parts)) {
            return true;
        }
    }
    return false;
}

/* Classes are short, and strcasestr() spends more on getting ready than on searching them. A bit
 * for each letter that a part begins with, and for each second one, passes over most places at
 * once; the case of a letter is in the bits above those five. */
bool dom_holds_any(const char *text, const char *const *parts)
{
    uint32_t first = 0, second = 0;
    if (!text || !*text) {
        return false;
    }
    for (const char *const *part = parts; *part; part++) {
        first |= 1u << (**part & 31);
        second |= (*part)[1] ? 1u << ((*part)[1] & 31) : UINT32_MAX;
    }
    for (; *text; text++) {
        if ((first >> (text[0] & 31) & second >> (text[1] & 31) & 1) &&
            begins_with_any(text, parts)) {
            return true;
        }
    }
    return false;
}

uint32_t dom_word_values(const char *list, const struct word_table *table)
{
    uint32_t values = 0;
    struct slice word = {NULL, 0};
    while (list && (word = next_word(&list)).length) {
        values |= words_value(table, word.data, word.length);
    }
    return values;
}

uint32_t dom_class_values(const lxb_dom_node_t *node, const struct word_table *table)
{
    return dom_word_values(dom_class(node), table);
}

/* ---- relatives ---- */

bool dom_within(const lxb_dom_node_t *node, const lxb_dom_node_t *ancestor)
{
    while (node && node != ancestor) {
        node = node->parent;
    }
    return node != NULL;
}

lxb_dom_node_t *dom_closest(lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    while (node && dom_tag(node) != tag) {
        node = node->parent;
    }
    return node;
}

lxb_dom_node_t *dom_find(const lxb_dom_node_t *root, lxb_tag_id_t tag)
{
    for (lxb_dom_node_t *node = root->first_child; node; node = dom_next(node, root, true)) {
        if (dom_tag(node) == tag) {
            return node;
        }
    }
    return NULL;
}

lxb_dom_node_t *dom_next_element(const lxb_dom_node_t *node)
{
    lxb_dom_node_t *next = node->next;
    while (next && next->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        next = next->next;
    }
    return next;
}

lxb_dom_node_t *dom_previous_element(const lxb_dom_node_t *node)
{
    lxb_dom_node_t *previous = node->prev;
    while (previous && previous->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        previous = previous->prev;
    }
    return previous;
}

lxb_dom_node_t *dom_first_element(const lxb_dom_node_t *node)
{
    lxb_dom_node_t *child = node->first_child;
    return child && child->type != LXB_DOM_NODE_TYPE_ELEMENT ? dom_next_element(child) : child;
}

/* ---- blocks ---- */

bool dom_is_block(lxb_tag_id_t tag)
{
    static const bool BLOCK[LXB_TAG__LAST_ENTRY] = {
        [LXB_TAG_ADDRESS] = true,    [LXB_TAG_ARTICLE] = true, [LXB_TAG_ASIDE] = true,
        [LXB_TAG_BLOCKQUOTE] = true, [LXB_TAG_BODY] = true,    [LXB_TAG_CAPTION] = true,
        [LXB_TAG_CENTER] = true,     [LXB_TAG_DD] = true,      [LXB_TAG_DETAILS] = true,
        [LXB_TAG_DIALOG] = true,     [LXB_TAG_DIR] = true,     [LXB_TAG_DIV] = true,
        [LXB_TAG_DL] = true,         [LXB_TAG_DT] = true,      [LXB_TAG_FIELDSET] = true,
        [LXB_TAG_FIGCAPTION] = true, [LXB_TAG_FIGURE] = true,  [LXB_TAG_FOOTER] = true,
        [LXB_TAG_FORM] = true,       [LXB_TAG_H1] = true,      [LXB_TAG_H2] = true,
        [LXB_TAG_H3] = true,         [LXB_TAG_H4] = true,      [LXB_TAG_H5] = true,
        [LXB_TAG_H6] = true,         [LXB_TAG_HEADER] = true,  [LXB_TAG_HGROUP] = true,
        [LXB_TAG_HR] = true,         [LXB_TAG_HTML] = true,    [LXB_TAG_LEGEND] = true,
        [LXB_TAG_LI] = true,         [LXB_TAG_LISTING] = true, [LXB_TAG_MAIN] = true,
        [LXB_TAG_MENU] = true,       [LXB_TAG_NAV] = true,     [LXB_TAG_OL] = true,
        [LXB_TAG_OPTGROUP] = true,   [LXB_TAG_OPTION] = true,  [LXB_TAG_P] = true,
        [LXB_TAG_PLAINTEXT] = true,  [LXB_TAG_PRE] = true,     [LXB_TAG_SEARCH] = true,
        [LXB_TAG_SECTION] = true,    [LXB_TAG_SUMMARY] = true, [LXB_TAG_TABLE] = true,
        [LXB_TAG_TBODY] = true,      [LXB_TAG_TD] = true,      [LXB_TAG_TFOOT] = true,
        [LXB_TAG_TH] = true,         [LXB_TAG_THEAD] = true,   [LXB_TAG_TR] = true,
        [LXB_TAG_UL] = true,         [LXB_TAG_XMP] = true,
    };
    return tag < LXB_TAG__LAST_ENTRY && BLOCK[tag];
}

bool dom_holds_block(const lxb_dom_node_t *node)
{
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_is_block(dom_tag(below))) {
            return true;
        }
    }
    return false;
}

/* ---- text ---- */

const uint8_t DOM_TEXTS[LXB_TAG__LAST_ENTRY] = {
    [LXB_TAG_SCRIPT] = FOR_NOBODY | TEXT_UNREAD | TEXT_SKIPPED,
    [LXB_TAG_STYLE] = FOR_NOBODY | TEXT_UNREAD | TEXT_SKIPPED,
    [LXB_TAG_TEMPLATE] = FOR_NOBODY | TEXT_UNREAD | TEXT_SKIPPED,
    [LXB_TAG_HEAD] = FOR_NOBODY | TEXT_SKIPPED,
    [LXB_TAG_TITLE] = FOR_NOBODY,
    [LXB_TAG_NOSCRIPT] = FOR_OTHER_BROWSERS | TEXT_UNREAD | TEXT_SKIPPED,
    [LXB_TAG_NOFRAMES] = FOR_OTHER_BROWSERS | TEXT_SKIPPED,
    [LXB_TAG_NOEMBED] = FOR_OTHER_BROWSERS,
    [LXB_TAG_IFRAME] = FOR_OTHER_BROWSERS,
    [LXB_TAG_OBJECT] = FOR_OTHER_BROWSERS | TEXT_SKIPPED,
    [LXB_TAG_CANVAS] = FOR_OTHER_BROWSERS | TEXT_SKIPPED,
    [LXB_TAG_VIDEO] = FOR_OTHER_BROWSERS,
    [LXB_TAG_AUDIO] = FOR_OTHER_BROWSERS,
    [LXB_TAG_METER] = FOR_OTHER_BROWSERS,
    [LXB_TAG_PROGRESS] = FOR_OTHER_BROWSERS,
    [LXB_TAG_DATALIST] = FOR_OTHER_BROWSERS | TEXT_SKIPPED,
    [LXB_TAG_SELECT] = FOR_CHOOSING | TEXT_SKIPPED,
    [LXB_TAG_TEXTAREA] = FOR_CHOOSING | TEXT_SKIPPED,
    [LXB_TAG_BUTTON] = FOR_CHOOSING,
    [LXB_TAG_OPTION] = FOR_CHOOSING,
};

/* What stood at the end of memory may be half a character. */
static size_t whole_characters(const char *text, size_t length)
{
    while (length && (text[length - 1] & 0xC0) == 0x80) {
        length--;
    }
    return length && (text[length - 1] & 0x80) ? length - 1 : length;
}

struct collecting {
    char *out;
    size_t length, most;
    bool space;
};

/* Adds one text; false when there is no more room. */
static bool collect_text(struct collecting *to, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool no_break = text[i] == '\xC2' && i + 1 < count && text[i + 1] == '\xA0';
        if (is_space(text[i]) || no_break) {
            to->space = true;
            i += no_break;
            continue;
        }
        if (to->length + 2 >= to->most) {
            to->length = whole_characters(to->out, to->length);
            return false;
        }
        if (to->space && to->length) {
            to->out[to->length++] = ' ';
        }
        to->space = false;
        to->out[to->length++] = text[i];
    }
    return true;
}

/* What nobody reads: it is hidden, or there for the hand and not for the eye. */
static bool is_unread(const lxb_dom_node_t *node)
{
    uintptr_t marks = node_marks(node);
    return (marks & NODE_HIDDEN) ||
           ((marks & NODE_DROPPED) && node_omission(node) == OMIT_CONTROLS);
}

size_t dom_collect(const lxb_dom_node_t *node, char *out, size_t most)
{
    struct collecting to = {.out = out, .most = most};
    bool below = true;
    bool room = true;
    for (const lxb_dom_node_t *at = node; at && room; at = dom_next(at, node, below)) {
        lxb_tag_id_t tag = dom_tag(at);
        below = !(dom_text_use(tag) & TEXT_UNREAD) && (at == node || !is_unread(at));
        to.space = to.space || dom_is_block(tag) || tag == LXB_TAG_BR;
        if (dom_is_text(at)) {
            size_t count;
            const char *text = dom_text(at, &count);
            room = collect_text(&to, text, count);
        }
    }
    out[to.length] = '\0';
    return to.length;
}

const char *dom_collect_text(struct arena *arena, const lxb_dom_node_t *node)
{
    char small[512];
    size_t length = dom_collect(node, small, sizeof small);
    if (length == 0) {
        return NULL;
    }
    if (length + 8 < sizeof small) {
        return arena_strndup(arena, small, length);
    }
    char *large = arena_alloc(arena, KIB(64));
    if (!large) {
        return NULL;
    }
    dom_collect(node, large, KIB(64));
    return large;
}

void dom_mark_written(lxb_dom_node_t *root)
{
    bool below = true;
    for (lxb_dom_node_t *at = root; at; at = dom_next(at, root, below)) {
        below = at == root || !(node_marks(at) & (NODE_DROPPED | NODE_HIDDEN));
        if (dom_is_text(at)) {
            node_mark(at, NODE_WRITTEN);
        }
    }
}

bool dom_has_text(const lxb_dom_node_t *node)
{
    char text[8];
    return dom_collect(node, text, sizeof text) > 0;
}
