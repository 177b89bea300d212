/* Walls. Standard markup says most: JSON-LD's isAccessibleForFree, a field for a password, a form
 * that sends a consent. Words count only beside such structure, and a page that has its text has no
 * wall, whatever boxes stand around it: to call a whole text walled is worse than to miss a wall.
 */
#include "html/access.h"

#include "html/choose/hints.h"
#include "html/classes.h"
#include "html/dom.h"
#include "tables.h"
#include "text/count.h"

#include <stdlib.h>
#include <strings.h>

/* Words, but for the last. */
enum {
    LITTLE = 400,        /* a page with more than this is looked at only when it says it is paid */
    FEW = 150,           /* of a text that may be the beginning of one */
    MOST_PAID = 1500,    /* that may stand before a paywall */
    MOST_AT_LOGIN = 150, /* beside a form that is called a sign-in */
    MOST_AT_FORM = 30,   /* beside a form that is not */
    MOST_AT_NAME = 60,   /* beside a form that asks for a name only, or none at all */
    MOST_ON_LOGIN = 500, /* on such a page, menus included */
    MOST_ON_CONSENT = 700, /* the same of a question about cookies */
    MOST_BESIDE = 40,      /* beside that question */
    LEAST_ASKED = 15,      /* in it */
    LONGEST_LABEL_TEXT = 160,
};

/* ---- counting ---- */

/* Words between blanks; two characters of a script that has no blanks are one. */
static size_t count_text(const char *text, size_t length)
{
    size_t words = count_between_blanks(text, length), dense = count_dense(text, length) / 2;
    return words > dense ? words : dense;
}

static bool is_skipped(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    return (dom_text_use(tag) & TEXT_UNREAD) || tag == LXB_TAG_SVG || tag == LXB_TAG_SELECT ||
           (node_marks(node) & NODE_HIDDEN);
}

static size_t count_visible(const lxb_dom_node_t *root)
{
    size_t words = 0;
    bool below = true;
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        below = !is_skipped(node);
        if (dom_is_text(node)) {
            size_t length = 0;
            const char *text = dom_text(node, &length);
            words += count_text(text, length);
        }
    }
    return words;
}

/* ---- what is on the page ---- */

struct wall_signs {
    const struct page *page;
    size_t text;     /* words that were read */
    uint32_t labels; /* what its short texts say */
    uint32_t named;  /* what its title and its headings say */
    uint32_t titled; /* what its title says */
    bool password, new_password, name;
    bool consent_form;
    const lxb_dom_node_t *asking; /* holds all that asks about cookies */
    const lxb_dom_node_t *banner; /* and is called so */
};

/* The labels of a text. A heading may go on: "Sign in to Example". */
static uint32_t label_of(const char *text, size_t length, bool may_go_on)
{
    uint32_t label = words_match(&access_labels, text, length);
    for (int words = 0; !label && may_go_on && words < 6; words++) {
        while (length && text[length - 1] != ' ') {
            length--;
        }
        while (length && text[length - 1] == ' ') {
            length--;
        }
        label = length ? words_value(&access_labels, text, length) & ACCESS_LOGIN : 0;
    }
    return label;
}

static bool is_control(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    const char *role = dom_attr(node, "role");
    return tag == LXB_TAG_BUTTON || tag == LXB_TAG_A || tag == LXB_TAG_INPUT ||
           (role && strcasecmp(role, "button") == 0);
}

/* Whether words stand directly in the element. */
static bool speaks(const lxb_dom_node_t *node)
{
    for (const lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        size_t length = 0;
        const char *text = dom_is_text(child) ? dom_text(child, &length) : "";
        for (size_t i = 0; i < length; i++) {
            if ((unsigned char)text[i] > ' ') {
                return true;
            }
        }
    }
    return false;
}

static bool is_called(const lxb_dom_node_t *node, const char *const *names)
{
    return dom_holds_any(dom_class(node), names) || dom_holds_any(dom_id(node), names);
}

/* The outermost element around that is called a question about cookies; NULL when none is. */
static const lxb_dom_node_t *banner_around(const struct wall_signs *look,
                                           const lxb_dom_node_t *node)
{
    const lxb_dom_node_t *found = NULL;
    for (; node && node != look->page->body; node = node->parent) {
        if (node->type == LXB_DOM_NODE_TYPE_ELEMENT && is_called(node, access_banners)) {
            found = node;
        }
    }
    return found;
}

static void note_asking(struct wall_signs *look, const lxb_dom_node_t *node, uint32_t label)
{
    look->asking = look->asking ? look->asking : node;
    while (!dom_within(node, look->asking)) {
        look->asking = look->asking->parent;
    }
    if (label == ACCESS_ACCEPT && !look->banner) {
        look->banner = banner_around(look, node);
    }
}

static void read_label(struct wall_signs *look, const lxb_dom_node_t *node)
{
    char text[LONGEST_LABEL_TEXT];
    bool heading = dom_heading_level(node) > 0;
    if (!heading && !is_control(node) && !speaks(node)) {
        return;
    }
    size_t length = dom_collect(node, text, sizeof text);
    uint32_t label = length ? label_of(text, length, heading) : 0;
    uint32_t answers = ACCESS_ACCEPT | ACCESS_REFUSE;
    if ((label & answers) != 0 && !is_control(node)) {
        return;
    }
    look->labels |= label;
    look->named |= heading ? label : 0;
    if ((label & (answers | ACCESS_CONSENT)) != 0) {
        note_asking(look, node, label);
    }
}

/* ---- forms ---- */

/* Beside the page's text: a sign-in that many pages have, in a menu or a window. */
static bool is_beside(const struct page *page, const lxb_dom_node_t *node)
{
    static const uint32_t BESIDE = HINT_POPUP | HINT_NAVIGATION | HINT_SIDEBAR | HINT_HEADER |
                                   HINT_FOOTER | HINT_COMMENT | HINT_UNSEEN;
    for (; node && node != page->body; node = node->parent) {
        lxb_tag_id_t tag = dom_tag(node);
        if (tag == LXB_TAG_NAV || tag == LXB_TAG_ASIDE || tag == LXB_TAG_FOOTER ||
            tag == LXB_TAG_HEADER || tag == LXB_TAG_DIALOG) {
            return true;
        }
        uint32_t hints = hints_of_names(page, node);
        /* What holds the page's title is not beside it: "has-sidebar" stands on everything. */
        if ((hints & BESIDE) != 0 && !dom_find(node, LXB_TAG_H1) && !dom_find(node, LXB_TAG_MAIN)) {
            return true;
        }
    }
    return false;
}

static void read_field(struct wall_signs *look, const lxb_dom_node_t *node)
{
    const char *type = dom_attr(node, "type");
    const char *name = dom_attr(node, "name");
    const char *fills = dom_attr(node, "autocomplete");
    const char *value = dom_attr(node, "value");
    if (type && (strcasecmp(type, "submit") == 0 || strcasecmp(type, "button") == 0)) {
        uint32_t label = value ? label_of(value, strlen(value), false) : 0;
        look->labels |= label;
        if ((label & (ACCESS_ACCEPT | ACCESS_REFUSE)) != 0) {
            note_asking(look, node, label);
        }
        return;
    }
    bool password = type && strcasecmp(type, "password") == 0;
    bool email = type && strcasecmp(type, "email") == 0;
    bool user = dom_has_word(fills, "username") || dom_holds_any(name, access_names) || email;
    bool hidden = type && strcasecmp(type, "hidden") == 0;
    if (hidden || (!password && !user) || is_beside(look->page, node)) {
        return;
    }
    look->new_password |= password && (look->password || dom_has_word(fills, "new-password"));
    look->password |= password;
    look->name |= user;
}

static void read_form(struct wall_signs *look, const lxb_dom_node_t *node)
{
    static const char *const CONSENT[] = {"consent", NULL};
    const char *action = dom_attr(node, "action");
    look->consent_form |= dom_holds_any(action, CONSENT) || is_called(node, CONSENT);
}

static bool may_speak(lxb_tag_id_t tag)
{
    switch (tag) {
    case LXB_TAG_P:
    case LXB_TAG_DIV:
    case LXB_TAG_SPAN:
    case LXB_TAG_A:
    case LXB_TAG_BUTTON:
    case LXB_TAG_LI:
    case LXB_TAG_LEGEND:
    case LXB_TAG_LABEL:
    case LXB_TAG_STRONG:
    case LXB_TAG_B:
    case LXB_TAG_TD:
    case LXB_TAG_SECTION:
        return true;
    default:
        return tag >= LXB_TAG_H1 && tag <= LXB_TAG_H6;
    }
}

static void look_at(struct wall_signs *look)
{
    const lxb_dom_node_t *body = look->page->body;
    const char *title = look->page->metadata.title;
    bool below = true;
    look->titled = title ? label_of(title, strlen(title), true) : 0;
    look->named = look->labels = look->titled;
    for (const lxb_dom_node_t *node = body; node; node = dom_next(node, body, below)) {
        lxb_tag_id_t tag = dom_tag(node);
        below = !is_skipped(node);
        if (!below || tag == LXB_TAG__UNDEF) {
            continue;
        }
        if (tag == LXB_TAG_INPUT) {
            read_field(look, node);
        } else if (tag == LXB_TAG_FORM) {
            read_form(look, node);
        } else if (may_speak(tag)) {
            read_label(look, node);
        }
    }
}

/* ---- a sign-in ---- */

static bool is_login(const struct wall_signs *look)
{
    bool may_be = look->password || look->name || (look->labels & ACCESS_ACCOUNT) != 0;
    if (!may_be || count_visible(look->page->body) > MOST_ON_LOGIN) {
        return false;
    }
    bool called = (look->named & (ACCESS_LOGIN | ACCESS_ACCOUNT)) != 0;
    if (look->password) {
        bool new = look->new_password || (look->named & ACCESS_REGISTER) != 0;
        size_t most = called ? MOST_AT_LOGIN : new ? 0 : MOST_AT_FORM;
        return look->text < most;
    }
    bool only = look->name && (look->named & ACCESS_LOGIN) != 0;
    if (only || (look->named & ACCESS_ACCOUNT) != 0) {
        return look->text < MOST_AT_NAME;
    }
    return (look->labels & ACCESS_ACCOUNT) != 0 && look->text < MOST_AT_FORM;
}

/* ---- a question about cookies ---- */

static bool is_consent(const struct wall_signs *look)
{
    uint32_t more = look->labels & (ACCESS_CONSENT | ACCESS_REFUSE);
    if ((look->labels & ACCESS_ACCEPT) == 0 || !more) {
        return false;
    }
    size_t visible = count_visible(look->page->body);
    if (visible > MOST_ON_CONSENT) {
        return false;
    }
    const lxb_dom_node_t *question = look->banner ? look->banner : look->asking;
    size_t asked = question ? count_visible(question) : 0;
    /* Buttons alone in a form: what they are about stands around it. */
    while (look->consent_form && asked < LEAST_ASKED && question && question != look->page->body) {
        question = question->parent;
        asked = count_visible(question);
        if (asked > FEW) {
            return false;
        }
    }
    bool asks = look->consent_form || ((look->titled & ACCESS_CONSENT) != 0 && asked < FEW) ||
                (look->banner && asked > 4 * (visible - asked));
    return asks && asked >= LEAST_ASKED && visible - asked < MOST_BESIDE;
}

/* ---- what is paid for ---- */

/* What a page says of itself for machines. */
struct declared {
    bool paid;
    size_t words;         /* of the whole text; 0: it does not say */
    const char *parts[8]; /* selectors of what is paid for */
    size_t part_count;
};

static bool is_false(yyjson_val *value)
{
    const char *text = yyjson_get_str(value);
    return yyjson_is_false(value) || (text && strcasecmp(text, "false") == 0);
}

static void read_part(struct declared *declared, yyjson_val *part)
{
    if (!is_false(yyjson_obj_get(part, "isAccessibleForFree"))) {
        return;
    }
    declared->paid = true;
    yyjson_val *selector = yyjson_obj_get(part, "cssSelector");
    yyjson_val *first = yyjson_is_arr(selector) ? yyjson_arr_get_first(selector) : selector;
    const char *text = yyjson_get_str(first);
    if (text && declared->part_count < sizeof declared->parts / sizeof *declared->parts) {
        declared->parts[declared->part_count++] = text;
    }
}

static void read_declared(const struct page *page, struct declared *declared)
{
    size_t index, count;
    yyjson_val *object;
    yyjson_arr_foreach(page->json_ld, index, count, object)
    {
        yyjson_val *part = yyjson_obj_get(object, "hasPart");
        yyjson_val *words = yyjson_obj_get(object, "wordCount");
        const char *digits = yyjson_get_str(words);
        /* Museums and concerts are not free either: a text has a headline. */
        if (!part && !yyjson_obj_get(object, "headline")) {
            continue;
        }
        declared->paid |= is_false(yyjson_obj_get(object, "isAccessibleForFree"));
        long told = digits ? strtol(digits, NULL, 10) : (long)yyjson_get_sint(words);
        declared->words = told > 0 ? (size_t)told : declared->words;
        if (yyjson_is_arr(part)) {
            size_t number, parts;
            yyjson_val *one;
            yyjson_arr_foreach(part, number, parts, one)
            {
                read_part(declared, one);
            }
        } else {
            read_part(declared, part);
        }
    }
    const char *tier = page->metadata.tier;
    declared->paid |= tier && (strcasecmp(tier, "locked") == 0 || strcasecmp(tier, "metered") == 0);
}

/* Whether ".name", "#name" or the like of which that is the end selects the element. */
static bool is_selected(const lxb_dom_node_t *node, const char *selector)
{
    const char *last = selector + strlen(selector);
    while (last > selector && !strchr(".# ", last[-1])) {
        last--;
    }
    if (last == selector || !*last) {
        return false;
    }
    const char *id = dom_id(node);
    return last[-1] == '#' ? id && strcmp(id, last) == 0
                           : last[-1] == '.' && dom_has_word(dom_class(node), last);
}

/* Words of what is paid for, as far as they are here. */
static size_t count_paid(const struct page *page, const struct declared *declared)
{
    size_t words = 0;
    bool below = true;
    for (const lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, below)) {
        below = true;
        for (size_t i = 0; i < declared->part_count && below; i++) {
            below = dom_tag(node) == LXB_TAG__UNDEF || !is_selected(node, declared->parts[i]);
        }
        words += below ? 0 : count_visible(node);
    }
    return words;
}

/* Whether the text stops in the middle: it ends with dots. */
static bool ends_open(const char *markdown, size_t length)
{
    while (length && ((unsigned char)markdown[length - 1] <= ' ' ||
                      strchr("*_\"')]", markdown[length - 1]))) {
        length--;
    }
    return (length >= 3 && memcmp(markdown + length - 3, "...", 3) == 0) ||
           (length >= 3 && memcmp(markdown + length - 3, "\xE2\x80\xA6", 3) == 0);
}

static size_t count_paragraphs(const lxb_dom_node_t *root)
{
    size_t words = 0;
    bool below = true;
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        below = !is_skipped(node) && dom_tag(node) != LXB_TAG_P;
        words += dom_tag(node) == LXB_TAG_P ? count_visible(node) : 0;
    }
    return words;
}

static bool has_wall(const struct page *page)
{
    bool below = true;
    for (const lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, below)) {
        below = !is_skipped(node);
        if (below && node->type == LXB_DOM_NODE_TYPE_ELEMENT && is_called(node, access_walls) &&
            dom_has_text(node)) {
            return true;
        }
    }
    return false;
}

static bool is_paid(const struct wall_signs *look, const struct declared *declared, bool open_end)
{
    bool asked = (look->labels & ACCESS_SUBSCRIBE) != 0;
    if (!asked && !declared->paid) {
        return false;
    }
    bool wall = has_wall(look->page);
    int points = 2 * asked + 2 * open_end + wall + 2 * (look->text < FEW) + (look->text < LITTLE);
    if (!declared->paid) {
        bool headed = (look->named & ACCESS_SUBSCRIBE) != 0 && look->text < FEW;
        return (wall || open_end || headed) && points >= 4 && look->text < LITTLE;
    }
    if (declared->words) {
        return look->text * 10 < declared->words * 6;
    }
    /* Paragraphs that were not read are here all the same. */
    bool stops = count_paragraphs(look->page->body) < look->text + FEW &&
                 (look->text < LITTLE || (asked && open_end));
    return stops && points >= 3 && count_paid(look->page, declared) < FEW / 2;
}

/* ---- all of it ---- */

const char *access_find(const struct page *page, const char *markdown, size_t length)
{
    struct declared declared = {.paid = false};
    read_declared(page, &declared);
    size_t most = declared.paid ? MOST_PAID : LITTLE;
    struct wall_signs look = {.page = page, .text = count_text(markdown, length)};
    if (look.text > most) {
        return NULL;
    }
    look_at(&look);
    if (is_paid(&look, &declared, ends_open(markdown, length))) {
        return "paywall";
    }
    if (look.text > LITTLE) {
        return NULL;
    }
    return is_consent(&look) ? "consent" : is_login(&look) ? "login" : NULL;
}
