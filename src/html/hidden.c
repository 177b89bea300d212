/* What a reader cannot see, by attributes, inline styles and the few class names that every
 * style sheet gives the same meaning. */
#include "html/hidden.h"

#include "html/classes.h"
#include "html/dom.h"
#include "text/slice.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* Formulas keep their TeX in parts that only assistive programs see. */
static const char *const FORMULA_PARTS[] = {"katex", "mathjax", "mjx", "mwe-math", "math", NULL};

/* The more, the surer. What is closed may be opened by a click or a script; what is unreadable is
 * made for programs and not for eyes. */
enum hiding { VISIBLE, HIDDEN_FROM_AIDS, CLOSED, UNREADABLE };

/* ---- inline styles ---- */

struct declaration {
    struct slice name, value;
};

/* What hides only together with others. */
enum { ABSOLUTE = 1, CLIPPED = 2, NO_WIDTH = 4, NO_HEIGHT = 8 };

static struct slice trimmed(const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    return (struct slice){from, (size_t)(end - from)};
}

/* The next "name: value" of a style; false at the end. */
static bool next_declaration(const char **at, struct declaration *declaration)
{
    const char *from = *at;
    while (*from == ' ' || *from == ';' || (*from >= '\t' && *from <= '\r')) {
        from++;
    }
    const char *end = from + strcspn(from, ";");
    const char *colon = memchr(from, ':', (size_t)(end - from));
    *declaration = (struct declaration){{from, 0}, {"", 0}};
    if (colon) {
        const char *important = memchr(colon, '!', (size_t)(end - colon));
        declaration->name = trimmed(from, colon);
        declaration->value = trimmed(colon + 1, important ? important : end);
    }
    *at = end;
    return *from != '\0';
}

static bool is_none(struct slice value)
{
    return slice_is_any_case(value, "none");
}

static bool is_invisible(struct slice value)
{
    return slice_is_any_case(value, "hidden") || slice_is_any_case(value, "collapse");
}

/* Zero of any unit, and nothing else. */
static bool is_zero(struct slice value)
{
    size_t i = 0;
    bool digit = false;
    for (; i < value.length && (value.data[i] == '0' || value.data[i] == '.'); i++) {
        digit = digit || value.data[i] == '0';
    }
    while (i < value.length && (isalpha((unsigned char)value.data[i]) || value.data[i] == '%')) {
        i++;
    }
    return digit && i == value.length;
}

/* Far beyond the left or upper edge. */
static bool is_far_off(struct slice value)
{
    return value.length && *value.data == '-' && strtol(value.data, NULL, 10) <= -500;
}

static bool is_absolute(struct slice value)
{
    return slice_is_any_case(value, "absolute") || slice_is_any_case(value, "fixed");
}

static bool is_clipped(struct slice value)
{
    return strncasecmp(value.data, "rect(0", 6) == 0 ||
           strncasecmp(value.data, "rect(1px", 8) == 0 ||
           strncasecmp(value.data, "inset(50%", 9) == 0 ||
           strncasecmp(value.data, "inset(100%", 10) == 0;
}

static bool is_no_size(struct slice value)
{
    return is_zero(value) || slice_is_any_case(value, "1px");
}

/* Properties that hide alone (`hiding`) or together with others (`flag`), when their value is such.
 */
static const struct {
    const char *property;
    bool (*test)(struct slice value);
    enum hiding hiding;
    unsigned flag;
} RULES[] = {
    {"display", is_none, CLOSED, 0},
    {"visibility", is_invisible, CLOSED, 0},
    {"opacity", is_zero, CLOSED, 0},
    {"font-size", is_zero, UNREADABLE, 0},
    {"text-indent", is_far_off, UNREADABLE, 0},
    {"left", is_far_off, UNREADABLE, 0},
    {"top", is_far_off, UNREADABLE, 0},
    {"margin-left", is_far_off, UNREADABLE, 0},
    {"position", is_absolute, VISIBLE, ABSOLUTE},
    {"clip", is_clipped, VISIBLE, CLIPPED},
    {"clip-path", is_clipped, VISIBLE, CLIPPED},
    {"width", is_no_size, VISIBLE, NO_WIDTH},
    {"max-width", is_no_size, VISIBLE, NO_WIDTH},
    {"height", is_no_size, VISIBLE, NO_HEIGHT},
    {"max-height", is_no_size, VISIBLE, NO_HEIGHT},
};

static enum hiding style_hides(const char *text)
{
    struct slice color = {NULL, 0}, ground = {NULL, 0};
    struct declaration one;
    unsigned flags = 0;
    enum hiding hiding = VISIBLE;
    while (next_declaration(&text, &one)) {
        for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
            bool may_be = one.name.length && ((*one.name.data ^ *RULES[i].property) & 31) == 0;
            if (may_be && slice_is_any_case(one.name, RULES[i].property)) {
                bool hides = RULES[i].test(one.value);
                flags = hides ? flags | RULES[i].flag : flags & ~RULES[i].flag;
                hiding = hides && RULES[i].hiding > hiding ? RULES[i].hiding : hiding;
            }
        }
        color = slice_is_any_case(one.name, "color") ? one.value : color;
        bool is_ground = slice_is_any_case(one.name, "background-color") ||
                         slice_is_any_case(one.name, "background");
        ground = is_ground ? one.value : ground;
    }
    bool same_color = color.length && color.length == ground.length &&
                      strncasecmp(color.data, ground.data, color.length) == 0 &&
                      !slice_is_any_case(color, "inherit");
    bool unreadable = same_color || (flags & (ABSOLUTE | CLIPPED)) == (ABSOLUTE | CLIPPED) ||
                      (flags & (NO_WIDTH | NO_HEIGHT)) == (NO_WIDTH | NO_HEIGHT);
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

/* Names that lexbor does not know have numbers of their own in each document. */
struct hiding_attributes {
    const struct page *page;
    lxb_dom_attr_id_t hidden, aria_hidden;
};

static enum hiding attribute_hides(const lxb_dom_node_t *element, const lxb_dom_attr_t *attr,
                                   const struct hiding_attributes *names)
{
    const char *value = attr->value && attr->value->data ? (const char *)attr->value->data : "";
    if (attr->node.local_name == LXB_DOM_ATTR_STYLE) {
        return style_hides(value);
    }
    if (attr->node.local_name == LXB_DOM_ATTR_CLASS) {
        size_t length = attr->value ? attr->value->length : 0;
        return class_facts(names->page, element, value, length).unreadable ? UNREADABLE : VISIBLE;
    }
    if (attr->node.local_name == names->hidden) {
        return strcasecmp(value, "until-found") != 0 ? CLOSED : VISIBLE;
    }
    bool aria = attr->node.local_name == names->aria_hidden && strcasecmp(value, "true") == 0;
    return aria ? HIDDEN_FROM_AIDS : VISIBLE;
}

static enum hiding hiding_of(const lxb_dom_node_t *element, const struct hiding_attributes *names)
{
    enum hiding hiding = VISIBLE;
    const lxb_dom_element_t *it = (const lxb_dom_element_t *)element;
    for (const lxb_dom_attr_t *attr = it->first_attr; attr; attr = attr->next) {
        enum hiding one = attribute_hides(element, attr, names);
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
    if (!page->classes) {
        classes_remember(page);
    }
    const struct hiding_attributes names = {
        .page = page,
        .hidden = dom_attr_number(page, "hidden"),
        .aria_hidden = dom_attr_number(page, "aria-hidden"),
    };
    size_t all = 0;
    lxb_dom_node_t *after = page->body; /* comes after the hidden part that we are in */
    bool inside = false;
    for (lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, true)) {
        inside = inside && node != after;
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || node == page->body) {
            continue;
        }
        enum hiding hiding = hiding_of(node, &names);
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
