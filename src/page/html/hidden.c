/* What a reader cannot see, by attributes, inline styles and the few class names that every
 * style sheet gives the same meaning. */
#include "page/html/hidden.h"

#include "page/html/dom.h"
#include "tables.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* Formulas keep their TeX in parts that only assistive programs see. */
static const char *const FORMULA_PARTS[] = {"katex", "mathjax", "mjx", "mwe-math", "math", NULL};

/* The more, the surer. What is closed may be opened by a click or a script; what is unreadable is
 * made for programs and not for eyes. */
enum hiding { VISIBLE, HIDDEN_FROM_AIDS, CLOSED, UNREADABLE };

/* ---- inline styles ---- */

struct style {
    const char *color, *background;
    size_t color_length, background_length;
    bool absolute, no_width, no_height, clipped;
};

/* The next "name: value" of a style; false at the end. */
static bool next_declaration(const char **at, const char **name, size_t *name_length,
                             const char **value, size_t *value_length)
{
    const char *from = *at;
    while (*from == ' ' || *from == ';' || (*from >= '\t' && *from <= '\r')) {
        from++;
    }
    const char *end = from + strcspn(from, ";");
    const char *colon = memchr(from, ':', (size_t)(end - from));
    if (!*from) {
        return false;
    }
    *at = end;
    *name = from;
    *name_length = 0;
    *value = "";
    *value_length = 0;
    if (colon) {
        *name_length = (size_t)(colon - from);
        while (*name_length && isspace((unsigned char)from[*name_length - 1])) {
            (*name_length)--;
        }
        const char *first = colon + 1;
        while (first < end && isspace((unsigned char)*first)) {
            first++;
        }
        size_t length = strcspn(first, "!;");
        end = first < end ? first + length : first;
        while (end > first && isspace((unsigned char)end[-1])) {
            end--;
        }
        *value = first;
        *value_length = (size_t)(end - first);
    }
    return true;
}

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* Zero of any unit, and nothing else. */
static bool is_zero(const char *value, size_t length)
{
    size_t i = 0;
    bool digit = false;
    for (; i < length && (value[i] == '0' || value[i] == '.'); i++) {
        digit = digit || value[i] == '0';
    }
    while (i < length && (isalpha((unsigned char)value[i]) || value[i] == '%')) {
        i++;
    }
    return digit && i == length;
}

/* Far beyond the left or upper edge. */
static bool is_far_off(const char *value)
{
    return *value == '-' && strtol(value, NULL, 10) <= -500;
}

/* How one declaration alone hides; remembers what hides only together with others. */
static enum hiding declaration_hides(struct style *style, const char *name, size_t name_length,
                                     const char *value, size_t length)
{
    if (is(name, name_length, "display")) {
        return is(value, length, "none") ? CLOSED : VISIBLE;
    }
    if (is(name, name_length, "visibility")) {
        return is(value, length, "hidden") || is(value, length, "collapse") ? CLOSED : VISIBLE;
    }
    if (is(name, name_length, "opacity")) {
        return is_zero(value, length) ? CLOSED : VISIBLE;
    }
    if (is(name, name_length, "font-size")) {
        return is_zero(value, length) ? UNREADABLE : VISIBLE;
    }
    if (is(name, name_length, "text-indent") || is(name, name_length, "left") ||
        is(name, name_length, "top") || is(name, name_length, "margin-left")) {
        return is_far_off(value) ? UNREADABLE : VISIBLE;
    }
    if (is(name, name_length, "position")) {
        style->absolute = is(value, length, "absolute") || is(value, length, "fixed");
    } else if (is(name, name_length, "clip") || is(name, name_length, "clip-path")) {
        style->clipped =
            strncasecmp(value, "rect(0", 6) == 0 || strncasecmp(value, "rect(1px", 8) == 0 ||
            strncasecmp(value, "inset(50%", 9) == 0 || strncasecmp(value, "inset(100%", 10) == 0;
    } else if (is(name, name_length, "width") || is(name, name_length, "max-width")) {
        style->no_width = is_zero(value, length) || is(value, length, "1px");
    } else if (is(name, name_length, "height") || is(name, name_length, "max-height")) {
        style->no_height = is_zero(value, length) || is(value, length, "1px");
    } else if (is(name, name_length, "color")) {
        style->color = value;
        style->color_length = length;
    } else if (is(name, name_length, "background-color") || is(name, name_length, "background")) {
        style->background = value;
        style->background_length = length;
    }
    return VISIBLE;
}

static enum hiding style_hides(const char *text)
{
    struct style style = {0};
    enum hiding hiding = VISIBLE;
    const char *name, *value;
    size_t name_length, length;
    while (next_declaration(&text, &name, &name_length, &value, &length)) {
        enum hiding one = declaration_hides(&style, name, name_length, value, length);
        hiding = one > hiding ? one : hiding;
    }
    bool same_color = style.color && style.background && style.color_length &&
                      style.color_length == style.background_length &&
                      strncasecmp(style.color, style.background, style.color_length) == 0 &&
                      !is(style.color, style.color_length, "inherit");
    bool unreadable =
        same_color || (style.absolute && style.clipped) || (style.no_width && style.no_height);
    return unreadable ? UNREADABLE : hiding;
}

/* ---- elements ---- */

static bool belongs_to_formula(const lxb_dom_node_t *element)
{
    lxb_tag_id_t tag = dom_tag(element);
    if (tag == LXB_TAG_MATH || element->ns == LXB_NS_MATH) {
        return true;
    }
    return dom_holds_any(dom_class(element), FORMULA_PARTS) ||
           strncmp(dom_name(element), "mjx-", 4) == 0;
}

static bool class_hides(const char *words)
{
    if (!strpbrk(words, "-") && !strcasestr(words, "hidden")) {
        return false;
    }
    for (const char *const *word = reader_classes; *word; word++) {
        if (strcasestr(words, *word) && dom_has_word(words, *word)) {
            return true;
        }
    }
    return false;
}

static enum hiding attribute_hides(const lxb_dom_attr_t *attr)
{
    const char *value = attr->value && attr->value->data ? (const char *)attr->value->data : "";
    if (attr->node.local_name == LXB_DOM_ATTR_STYLE) {
        return style_hides(value);
    }
    if (attr->node.local_name == LXB_DOM_ATTR_CLASS) {
        return class_hides(value) ? UNREADABLE : VISIBLE;
    }
    if (attr->node.local_name < LXB_DOM_ATTR__LAST_ENTRY) {
        return VISIBLE;
    }
    size_t length;
    const char *name = (const char *)lxb_dom_attr_local_name(attr, &length);
    if (is(name, length, "hidden")) {
        return strcasecmp(value, "until-found") != 0 ? CLOSED : VISIBLE;
    }
    bool aria = is(name, length, "aria-hidden") && strcasecmp(value, "true") == 0;
    return aria ? HIDDEN_FROM_AIDS : VISIBLE;
}

static enum hiding hiding_of(const lxb_dom_node_t *element)
{
    enum hiding hiding = VISIBLE;
    const lxb_dom_element_t *it = (const lxb_dom_element_t *)element;
    for (const lxb_dom_attr_t *attr = it->first_attr; attr; attr = attr->next) {
        enum hiding one = attribute_hides(attr);
        hiding = one > hiding ? one : hiding;
    }
    return hiding != VISIBLE && belongs_to_formula(element) ? VISIBLE : hiding;
}

static size_t count_text(lxb_dom_node_t *root)
{
    size_t count = 0;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        lxb_tag_id_t tag = node->parent ? dom_tag(node->parent) : LXB_TAG__UNDEF;
        if (dom_is_text(node) && tag != LXB_TAG_SCRIPT && tag != LXB_TAG_STYLE) {
            size_t length;
            dom_text(node, &length);
            count += length;
        }
    }
    return count;
}

/* An open dialog makes pages hide everything behind it from screen readers, though people see it:
 * what holds most of the page's text is not hidden for that reason. */
void hidden_mark(struct page *page)
{
    size_t all = 0;
    lxb_dom_node_t *after = page->body; /* comes after the hidden part that we are in */
    bool inside = false;
    for (lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, true)) {
        inside = inside && node != after;
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || node == page->body) {
            continue;
        }
        enum hiding hiding = hiding_of(node);
        if (inside && hiding != UNREADABLE) {
            hiding = VISIBLE; /* it opens with the whole */
        } else if (hiding == HIDDEN_FROM_AIDS && node->first_child) {
            all = all ? all : count_text(page->body);
            hiding = count_text(node) * 2 > all ? VISIBLE : hiding;
        }
        if (hiding == VISIBLE) {
            continue;
        }
        node_mark(node, hiding == UNREADABLE ? NODE_HIDDEN | NODE_UNREADABLE : NODE_HIDDEN);
        if (!inside) {
            after = dom_next(node, page->body, false);
            inside = true;
        }
    }
}
