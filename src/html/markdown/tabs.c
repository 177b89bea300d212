/* Tabs: one panel is open on the page, and the words on the tabs are all that tells them apart. All
 * panels are written, each under the words of its tab, and the tabs themselves are not. Which panel
 * belongs to a tab the page says in one of four ways: by an id, by the panel's label, by the order
 * of both, or by radio buttons whose labels stand before what they show. */
#include "html/markdown/writer.h"

#include <strings.h>

#define MOST_TABS     128
#define MOST_STEPS    3
#define LONGEST_TITLE 120

struct tab_panel {
    lxb_dom_node_t *node;
    lxb_dom_node_t *panel;
    const char *target; /* the id of its panel; NULL when it names none */
};

struct tabs {
    struct tab_panel tabs[MOST_TABS];
    lxb_dom_node_t *panels[MOST_TABS]; /* that call themselves so */
    size_t tab_count, panel_count, targets;
    /* The numbers of attributes in this document; 0 when no element has it. */
    lxb_dom_attr_id_t role, toggle, bs_toggle;
};

/* ---- looking ---- */

static lxb_dom_attr_id_t number_of(const struct page *page, const char *name)
{
    const lxb_dom_attr_data_t *data = lxb_dom_attr_data_by_local_name(
        page->document->dom_document.attrs, (const lxb_char_t *)name, strlen(name));
    return data ? data->attr_id : 0;
}

static const char *target_of(const lxb_dom_node_t *node)
{
    static const char *const NAMES[] = {"aria-controls", "data-bs-target", "data-target", "href"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *value = dom_attr(node, NAMES[i]);
        if (value && (*value == '#' || i == 0)) {
            value += *value == '#';
            return *value ? value : NULL;
        }
    }
    return NULL;
}

static void add_tab(struct tabs *found, lxb_dom_node_t *node, lxb_dom_node_t *panel)
{
    char title[LONGEST_TITLE];
    size_t length = dom_collect(node, title, sizeof title);
    bool fits = length && length + 4 < sizeof title && !dom_holds_block(node);
    if (!fits || found->tab_count == MOST_TABS) {
        return;
    }
    struct tab_panel *tab = &found->tabs[found->tab_count++];
    *tab = (struct tab_panel){node, panel, panel ? NULL : target_of(node)};
    found->targets += tab->target != NULL;
}

static bool has_value(const lxb_dom_attr_t *attr, const char *value)
{
    return attr->value && attr->value->data &&
           strcasecmp((const char *)attr->value->data, value) == 0;
}

/* ---- radio buttons: <input type=radio id=x><label for=x>Words</label> ---- */

static bool is_radio(const lxb_dom_node_t *node)
{
    const char *type =
        dom_tag(node) == LXB_TAG_INPUT ? dom_known_attr(node, LXB_DOM_ATTR_TYPE) : NULL;
    return type && strcasecmp(type, "radio") == 0;
}

static bool is_switch(const lxb_dom_node_t *node)
{
    return dom_tag(node) == LXB_TAG_LABEL || is_radio(node);
}

static bool has_radio(const lxb_dom_node_t *from, const char *id)
{
    for (; from; from = dom_next_element(from)) {
        const char *own = is_radio(from) ? dom_id(from) : NULL;
        if (own && strcmp(own, id) == 0) {
            return true;
        }
    }
    return false;
}

/* The element after the labels and buttons that stand together here, or after what holds them. */
static lxb_dom_node_t *after_switches(const lxb_dom_node_t *label)
{
    lxb_dom_node_t *next = dom_next_element(label);
    while (next && is_switch(next)) {
        next = dom_next_element(next);
    }
    return next ? next : dom_next_element(label->parent);
}

static lxb_dom_node_t *child_at(const lxb_dom_node_t *node, size_t place)
{
    lxb_dom_node_t *child = dom_first_element(node);
    while (child && place--) {
        child = dom_next_element(child);
    }
    return child;
}

/* What a label shows: the element right after it, or, where labels stand together, the one in its
 * place among as many. */
static void look_at_label(struct tabs *found, lxb_dom_node_t *label)
{
    const char *id = dom_known_attr(label, LXB_DOM_ATTR_FOR);
    bool beside = id && (has_radio(dom_first_element(label->parent), id) ||
                         has_radio(dom_first_element(label->parent->parent), id));
    lxb_dom_node_t *next = beside ? dom_next_element(label) : NULL;
    if (next && !is_switch(next)) {
        add_tab(found, label, next);
        return;
    }
    size_t labels = 0, place = 0;
    for (lxb_dom_node_t *node = beside ? dom_first_element(label->parent) : NULL; node;
         node = dom_next_element(node)) {
        place = node == label ? labels : place;
        labels += dom_tag(node) == LXB_TAG_LABEL;
    }
    lxb_dom_node_t *box = labels > 1 ? after_switches(label) : NULL;
    if (box && child_at(box, labels - 1) && !child_at(box, labels)) {
        add_tab(found, label, child_at(box, place));
    }
}

/* ---- roles ---- */

static void look_at(struct tabs *found, lxb_dom_node_t *node)
{
    if (node->local_name == LXB_TAG_LABEL && node->parent && node->parent->parent) {
        look_at_label(found, node);
        return;
    }
    const lxb_dom_element_t *element = (const lxb_dom_element_t *)node;
    for (const lxb_dom_attr_t *attr = element->first_attr; attr; attr = attr->next) {
        lxb_dom_attr_id_t name = attr->node.local_name;
        if (name < LXB_DOM_ATTR__LAST_ENTRY) {
            continue;
        }
        bool toggles = name == found->toggle || name == found->bs_toggle;
        if ((name == found->role && has_value(attr, "tab")) ||
            (toggles && (has_value(attr, "tab") || has_value(attr, "pill")))) {
            add_tab(found, node, NULL);
            return;
        }
        if (name == found->role && has_value(attr, "tabpanel") && found->panel_count < MOST_TABS) {
            found->panels[found->panel_count++] = node;
        }
    }
}

/* The panels that tabs name by their id. */
static void find_targets(struct tabs *found, lxb_dom_node_t *root)
{
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        const char *id = node->type == LXB_DOM_NODE_TYPE_ELEMENT ? dom_id(node) : NULL;
        for (size_t i = 0; id && *id && i < found->tab_count; i++) {
            struct tab_panel *tab = &found->tabs[i];
            if (tab->target && !tab->panel && strcmp(tab->target, id) == 0 &&
                !dom_within(tab->node, node)) {
                tab->panel = node;
            }
        }
    }
}

static bool is_taken(const struct tabs *found, const lxb_dom_node_t *panel)
{
    for (size_t i = 0; i < found->tab_count; i++) {
        if (found->tabs[i].panel == panel) {
            return true;
        }
    }
    return false;
}

/* The tabs from `first` on that are in the same list, by the order of panels around the list. */
static void match_by_order(struct tabs *found, size_t first, size_t count)
{
    lxb_dom_node_t *around = found->tabs[first].node->parent;
    for (int steps = 0; around && steps < MOST_STEPS; steps++, around = around->parent) {
        lxb_dom_node_t *panels[MOST_TABS];
        size_t used = 0;
        for (size_t i = 0; i < found->panel_count; i++) {
            if (dom_within(found->panels[i], around) && !is_taken(found, found->panels[i])) {
                panels[used++] = found->panels[i];
            }
        }
        if (used == count) {
            for (size_t i = 0; i < count; i++) {
                found->tabs[first + i].panel = panels[i];
            }
        }
        if (used) {
            return;
        }
    }
}

static void match_the_rest(struct tabs *found)
{
    for (size_t i = 0; i < found->tab_count; i++) {
        const char *id = found->tabs[i].panel ? NULL : dom_id(found->tabs[i].node);
        for (size_t k = 0; id && *id && k < found->panel_count; k++) {
            const char *label = dom_attr(found->panels[k], "aria-labelledby");
            if (label && strcmp(label, id) == 0) {
                found->tabs[i].panel = found->panels[k];
            }
        }
    }
    for (size_t i = 0; i < found->tab_count;) {
        size_t count = 1;
        const lxb_dom_node_t *list = found->tabs[i].node->parent;
        while (i + count < found->tab_count && found->tabs[i + count].node->parent == list) {
            count++;
        }
        bool open = true;
        for (size_t k = 0; k < count; k++) {
            open = open && !found->tabs[i + k].panel;
        }
        if (open) {
            match_by_order(found, i, count);
        }
        i += count;
    }
}

/* ---- titles ---- */

/* Marks the panels that have a tab, and leaves the tabs out; the words of a tab stay in the
 * writer's list for write_panel(). */
static void keep_titles(struct writer *writer, const struct tabs *found)
{
    writer->panels = arena_zalloc(writer->arena, found->tab_count * sizeof *writer->panels);
    for (size_t i = 0; writer->panels && i < found->tab_count; i++) {
        const struct tab_panel *tab = &found->tabs[i];
        if (!tab->panel || (node_marks(tab->panel) & (NODE_PANEL | NODE_DROPPED | NODE_HIDDEN)) ||
            dom_tag(tab->panel) == LXB_TAG_BODY || !dom_has_text(tab->panel)) {
            continue;
        }
        writer->panels[writer->panel_count++] = (struct panel){tab->panel, tab->node};
        node_mark(tab->panel, NODE_PANEL);
        node_drop(tab->node, OMIT_CONTROLS);
    }
}

void tabs_find(struct writer *writer)
{
    struct page *page = writer->page;
    struct tabs *found = arena_zalloc(page->arena, sizeof *found);
    if (!found) {
        return;
    }
    found->role = number_of(page, "role");
    found->toggle = number_of(page, "data-toggle");
    found->bs_toggle = number_of(page, "data-bs-toggle");
    for (size_t i = 0; i < page->root_count; i++) {
        lxb_dom_node_t *root = page->roots[i];
        for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
            if (node->type == LXB_DOM_NODE_TYPE_ELEMENT) {
                look_at(found, node);
            }
        }
    }
    for (size_t i = 0; found->targets && i < page->root_count; i++) {
        find_targets(found, page->roots[i]);
    }
    if (found->tab_count) {
        match_the_rest(found);
        keep_titles(writer, found);
    }
}

/* Whether the panel says the words itself, as its first heading. */
static bool begins_with(lxb_dom_node_t *panel, const char *title)
{
    for (lxb_dom_node_t *node = panel->first_child; node; node = dom_next(node, panel, true)) {
        char text[LONGEST_TITLE];
        if (dom_heading_level(node)) {
            dom_collect(node, text, sizeof text);
            return strcasecmp(text, title) == 0;
        }
        if (dom_is_text(node) && dom_has_text(node)) {
            return false;
        }
    }
    return false;
}

void write_panel_title(struct writer *writer, const lxb_dom_node_t *node)
{
    for (size_t i = 0; writer->mode == MODE_BLOCKS && i < writer->panel_count; i++) {
        struct panel *panel = &writer->panels[i];
        char title[LONGEST_TITLE];
        if (panel->node != node || !dom_collect(panel->tab, title, sizeof title)) {
            continue;
        }
        dom_mark_written(panel->tab);
        if (!begins_with(panel->node, title)) {
            flush_block(writer);
            format_open(writer, FORMAT_STRONG, NULL);
            inline_text(writer, title, strlen(title));
            format_close(writer);
            flush_block(writer);
        }
        return;
    }
}
