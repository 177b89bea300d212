/* What is dropped: by tags, roles, names, labels and the share of links, and because the page said
 * it before. */
#include "html/choose/choose.h"

#include "core/status.h"
#include "html/dom.h"
#include "html/omitted.h"
#include "tables.h"

#include <ctype.h>
#include <string.h>

enum {
    LARGE_PLAIN_PERCENT = 50, /* of the page's text that is not links */
    LARGE_PERCENT = 60,       /* of all its text */
    LEAST_LEFT = 200,         /* letters of the page beside a window that is dropped */
    LEAST_PROSE_LEFT = 500,   /* beside comments */
    ENTRY_PERCENT = 35,
    MUCH_PROSE = 150,
    LONGEST_BYLINE = 250,
    LONGEST_SEARCH = 250,
    LONGEST_CAPTION = 400,
    LONGEST_ACTION = 40,
    MOST_BEFORE = 16,   /* elements that are looked at to see whether a heading comes first */
    MOST_IN_LABEL = 40, /* elements in a label */
    SHORTEST_REPEAT = 40,
};

static uint32_t plain_text(const struct element *element)
{
    return element->all.text - element->all.link_text;
}

/* Names lie when the page would lose much of its text: "has-sidebar" stands on what is beside the
 * sidebar. */
static bool is_large(const struct stats *stats, const struct element *element)
{
    const struct element *body = &stats->elements[0];
    return (uint64_t)plain_text(element) * 100 > (uint64_t)plain_text(body) * LARGE_PLAIN_PERCENT ||
           (uint64_t)element->all.text * 100 > (uint64_t)body->all.text * LARGE_PERCENT;
}

/* What is named as a window and holds most of the main part is the main part. */
static bool is_most_of_main(const struct stats *stats, uint32_t number, uint32_t main)
{
    const struct element *elements = stats->elements;
    return main != 0 && number > main && number < elements[main].end &&
           (uint64_t)elements[number].all.text * 100 >
               (uint64_t)elements[main].all.text * LARGE_PERCENT;
}

/* Windows that pop up may hold more text than the page: conditions, policies, lists of partners. So
 * may what others say about it. */
static bool is_foreign(const struct stats *stats, uint32_t number, uint32_t hints, uint32_t main)
{
    const struct element *element = &stats->elements[number];
    const struct measures *body = &stats->elements[0].all;
    if (element->all.landmarks > 0 || is_most_of_main(stats, number, main)) {
        return false;
    }
    if (element->tag == LXB_TAG_FOOTER && element->parent == 0) {
        return true;
    }
    if ((hints & (HINT_COOKIE | HINT_POPUP)) != 0 || element->role == ROLE_DIALOG) {
        return element->all.text + LEAST_LEFT < body->text;
    }
    return (hints & (HINT_COMMENT | HINT_REVIEW)) != 0 &&
           element->all.prose + LEAST_PROSE_LEFT < body->prose;
}

/* ---- tags and roles ---- */

static bool is_named_boilerplate(const struct element *element)
{
    if (element->role > ROLE_NONE && element->role < ROLE_MAIN) {
        return true;
    }
    switch (element->tag) {
    case LXB_TAG_FOOTER: /* that of a quote says who is quoted */
        return !dom_closest(element->node, LXB_TAG_BLOCKQUOTE);
    case LXB_TAG_ASIDE: /* forums quote in one */
        return !element_is(element, HINT_QUOTE) || !dom_find(element->node, LXB_TAG_BLOCKQUOTE);
    case LXB_TAG_NAV:
    case LXB_TAG_DIALOG:
    case LXB_TAG_LABEL:
        return true;
    case LXB_TAG_FORM: /* some wrap what people wrote */
        return element->all.prose < 100 || element->all.prose * 2 < element->all.text;
    default:
        return false;
    }
}

/* A page's own header holds its navigation; an article's holds its title. */
static bool is_site_header(const struct stats *stats, const struct element *element)
{
    if (element->tag != LXB_TAG_HEADER) {
        return false;
    }
    for (uint32_t at = element->parent; at != 0; at = stats->elements[at].parent) {
        uint16_t tag = stats->elements[at].tag;
        if (tag == LXB_TAG_ARTICLE || tag == LXB_TAG_MAIN || tag == LXB_TAG_SECTION) {
            return false;
        }
    }
    return element->all.links >= 4 || element->all.headings == 0;
}

/* A button says a few words; what holds a heading is a card that can be clicked. */
static bool is_control(const struct element *element)
{
    if (element->tag != LXB_TAG_BUTTON && element->role != ROLE_BUTTON) {
        return false;
    }
    return element->all.headings == 0 && !element_has(element, FLAG_OPENS) &&
           !element_has(element, FLAG_IN_HEADING);
}

/* ---- names ---- */

/* What never holds sentences. */
#define HINTS_WITHOUT_PROSE                                                                        \
    (HINT_NAVIGATION | HINT_FILTER | HINT_PAGER | HINT_BREADCRUMB | HINT_SHARE | HINT_ACCOUNT |    \
     HINT_HEADER)

/* Whether nothing is said in the parent of an element before it. */
static bool comes_first(const struct stats *stats, uint32_t number)
{
    const struct element *elements = stats->elements;
    uint32_t parent = elements[number].parent;
    uint32_t looked = 0;
    for (uint32_t i = parent + 1; i < number; i = elements[i].end) {
        if ((!elements[i].dropped && elements[i].all.text > 0) || ++looked > MOST_BEFORE) {
            return false;
        }
    }
    return elements[parent].own.text == 0;
}

static bool is_heading(const struct element *element)
{
    return element->own.headings > 0;
}

/* The heading or the term that an element begins with, or that it is; 0 when there is none. */
static uint32_t beginning_of(const struct stats *stats, uint32_t number)
{
    uint32_t looked = 0;
    for (uint32_t i = number; i < stats->elements[number].end && looked < MOST_BEFORE; looked++) {
        const struct element *element = &stats->elements[i];
        if (is_heading(element) || element->tag == LXB_TAG_DT) {
            return i;
        }
        if (element->flow > 0) {
            return 0;
        }
        i = element->all.text == 0 ? element->end : i + 1;
    }
    return 0;
}

/* Whether the heading's words hold all those of an id, which is made of them; before a slash it
 * says which part of the page it is for. */
static bool is_slug(const struct stats *stats, uint32_t heading, const char *id)
{
    char label[LONGEST_LABEL * 2];
    stats_label(stats, heading, label, sizeof label);
    const char *slash = strrchr(id, '/');
    for (const char *at = slash ? slash + 1 : id; *at;) {
        char word[LONGEST_LABEL];
        size_t length = 0;
        for (; isalpha((unsigned char)*at) && length + 1 < sizeof word; at++) {
            word[length++] = (char)tolower((unsigned char)*at);
        }
        word[length] = '\0';
        if (length > 2 && !strstr(label, word)) {
            return false;
        }
        at += *at && !isalpha((unsigned char)*at);
    }
    return true;
}

/* What people say about a page, or what leads away from it, follows its heading in a list. */
static bool is_text_after(const struct stats *stats, uint32_t heading, uint32_t end)
{
    uint32_t i = stats->elements[heading].end;
    while (i < end && stats->elements[i].flow == 0 && stats->elements[i].tag != LXB_TAG_UL &&
           stats->elements[i].tag != LXB_TAG_OL) {
        i++;
    }
    uint16_t tag = i < end ? stats->elements[i].tag : 0;
    return tag == LXB_TAG_P || tag == LXB_TAG_PRE || tag == LXB_TAG_DT ||
           (i < end && stats->elements[i].own.prose > 0);
}

/* An id that is made of the words of the heading that it is on names what is said there. */
static bool is_named_after(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    const char *id = dom_id(element->node);
    if (!id || link_percent(&element->all) > 50) {
        return false;
    }
    uint32_t heading = beginning_of(stats, number);
    if (heading == 0 || !is_slug(stats, heading, id)) {
        return false;
    }
    for (uint32_t i = number; i < element->end; i++) {
        if (element_takes_words(&stats->elements[i])) {
            return false;
        }
    }
    return heading == number || is_text_after(stats, heading, element->end);
}

static uint32_t hints_of_class(const struct element *element)
{
    const char *words = dom_class(element->node);
    return words ? hints_of((const unsigned char *)words, strlen(words)) : 0;
}

/* What no line of names and dates holds. */
static bool holds_table(const struct stats *stats, uint32_t number)
{
    for (uint32_t i = number; i < stats->elements[number].end; i++) {
        uint16_t tag = stats->elements[i].tag;
        if (tag == LXB_TAG_TABLE || tag == LXB_TAG_DETAILS || tag == LXB_TAG_PRE) {
            return true;
        }
    }
    return false;
}

/* A table with a row of headings, and next to nothing beside it. */
static bool is_around_table(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    if (link_percent(&element->all) > 50) {
        return false;
    }
    uint32_t table = number;
    while (table < element->end && stats->elements[table].tag != LXB_TAG_TABLE) {
        table++;
    }
    if (table == element->end ||
        stats->elements[table].all.text + LONGEST_ACTION < element->all.text) {
        return false;
    }
    for (uint32_t i = table; i < stats->elements[table].end; i++) {
        if (stats->elements[i].tag == LXB_TAG_TH) {
            return true;
        }
    }
    return false;
}

/* A paragraph of sentences that the text goes on after. */
static bool is_mid_text(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    if (element->tag != LXB_TAG_P || element->own.prose == 0 || link_percent(&element->all) > 30) {
        return false;
    }
    const struct element *parent = &stats->elements[element->parent];
    uint32_t next = element->end;
    return next < parent->end && stats->elements[next].tag == LXB_TAG_P &&
           stats->elements[next].own.prose > 0;
}

/* The heading that is all an element says, be the element the heading itself, around it or in it;
 * 0 when there is none. */
static uint32_t only_heading(const struct stats *stats, uint32_t number)
{
    const struct element *elements = stats->elements;
    for (uint32_t at = number; element_has(&elements[at], FLAG_IN_HEADING);
         at = elements[at].parent) {
        if (is_heading(&elements[at])) {
            return elements[at].all.text == elements[number].all.text ? at : 0;
        }
    }
    for (uint32_t i = number; elements[number].all.headings == 1 && i < elements[number].end; i++) {
        if (is_heading(&elements[i])) {
            return elements[i].all.text == elements[number].all.text ? i : 0;
        }
    }
    return 0;
}

/* A part that opens on a click, and is not a menu. */
static bool is_closed_text(const struct element *element)
{
    return element->tag == LXB_TAG_DETAILS && element->all.prose > 0 &&
           link_percent(&element->all) < 50;
}

/* What is text by what it is, in the main part of a page. */
static bool is_plainly_text(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    uint32_t heading = only_heading(stats, number);
    return element->all.code * 2 > element->all.text || is_mid_text(stats, number) ||
           is_around_table(stats, number) || is_closed_text(element) ||
           (heading != 0 && element_has(&stats->elements[heading], FLAG_HEADS));
}

/* What the names of an element hint at that is to be dropped, weighed against what is in it: a
 * section of the page's main part is text, whatever it is called, and so is a heading; some names
 * are also used for what is large, and then mean something else. */
static uint32_t weighed_hints(const struct stats *stats, uint32_t number, uint32_t dropped,
                              uint32_t main)
{
    const struct element *element = &stats->elements[number];
    uint32_t hints = element->hints & dropped;
    if (hints == 0 || is_heading(element) || element_is(element, HINT_FORMULA)) {
        return 0;
    }
    if (element_has(element, FLAG_IN_HEADING)) {
        hints &= hints_of_class(element);
    }
    if (number > main && number < stats->elements[main].end) {
        if (element->all.sections > 0 || is_plainly_text(stats, number)) {
            return 0;
        }
        if (is_named_after(stats, number)) {
            hints &= hints_of_class(element);
        }
    }
    if ((hints & (HINT_BYLINE | HINT_TAGS)) != 0 &&
        (element->all.text > LONGEST_BYLINE || holds_table(stats, number))) {
        hints &= ~(HINT_BYLINE | HINT_TAGS);
    }
    bool found = element->all.headings > 0 && element->all.prose + element->all.images > 0;
    if ((hints & HINT_SEARCH) != 0 && (element->all.text > LONGEST_SEARCH || found)) {
        hints &= ~HINT_SEARCH;
    }
    /* Some forums set what people write as a quotation. */
    if (element->tag != LXB_TAG_BLOCKQUOTE || element_is(element, HINT_POST)) {
        hints &= ~HINT_QUOTE;
    }
    if (element->all.prose >= MUCH_PROSE && element->all.prose * 2 > element->all.text) {
        hints &= ~HINTS_WITHOUT_PROSE;
    }
    return hints;
}

/* What is a list itself, and long on pages of lists. */
#define HINTS_OF_LISTS                                                                             \
    (HINT_NAVIGATION | HINT_FILTER | HINT_COOKIE | HINT_POPUP | HINT_FOOTER | HINT_HEADER |        \
     HINT_BREADCRUMB | HINT_PAGER)

/* How much text the elements of one shape hold together: what would be dropped from every entry of
 * a list, a little each time. Shapes that share a place are taken for one. */
struct shape_tally {
    uint32_t text[512];
};

static uint32_t *tally_of(struct shape_tally *tally, const struct element *element)
{
    return &tally->text[(element->shape ^ element->shape >> 16) % 512];
}

static void count_hinted(const struct stats *stats, const struct profile *profile, uint32_t main,
                         struct shape_tally *tally)
{
    for (uint32_t i = 1; i < stats->count;) {
        const struct element *element = &stats->elements[i];
        bool hinted = !element->dropped && !element_is(element, HINTS_OF_LISTS) &&
                      weighed_hints(stats, i, profile->dropped, main) != 0;
        if (hinted) {
            *tally_of(tally, element) += element->all.text;
        }
        i = hinted || element->dropped ? element->end : i + 1;
    }
}

/* On pages of lists, names that are on much of the text altogether are on the entries. */
static bool is_entry_part(const struct stats *stats, const struct element *element,
                          struct shape_tally *tally)
{
    return (uint64_t)*tally_of(tally, element) * 100 >
           (uint64_t)stats->elements[0].all.text * ENTRY_PERCENT;
}

/* The page's title and, with it, text: no name and no tag makes that a window or a box. */
static bool holds_page(const struct element *element)
{
    return element_has(element, FLAG_HOLDS_TITLE) && element->all.prose >= MUCH_PROSE;
}

void clean_boilerplate(struct stats *stats, const struct profile *profile)
{
    struct shape_tally tally = {{0}};
    uint32_t main = sections_main(stats);
    if (profile->list_percent == 0) {
        count_hinted(stats, profile, main, &tally);
    }
    for (uint32_t i = 1; i < stats->count;) {
        const struct element *element = &stats->elements[i];
        uint32_t hints = weighed_hints(stats, i, profile->dropped, main);
        bool drop = element->dropped || is_control(element) || is_foreign(stats, i, hints, main);
        if (!drop && (is_named_boilerplate(element) || is_site_header(stats, element))) {
            drop = !is_large(stats, element);
        }
        if (!drop && hints != 0) {
            drop = !is_large(stats, element) && !is_entry_part(stats, element, &tally);
        }
        if (!drop || (!element->dropped && holds_page(element))) {
            i++;
            continue;
        }
        stats_drop(stats, i,
                   omission_of(element->tag, element->role, element->hints & profile->dropped));
        i = element->end;
    }
    stats_sum(stats);
}

/* ---- inside the content ---- */

/* The number of the last element below the root that holds prose. */
static uint32_t last_prose(const struct stats *stats, uint32_t root)
{
    uint32_t at = stats->elements[root].end - 1;
    while (at > root && (stats->elements[at].dropped || stats->elements[at].own.prose == 0)) {
        at--;
    }
    return at;
}

/* A block of links and little else; a list or a paragraph of them only after the text, since in it
 * the text speaks of them. */
static bool is_link_list(const struct element *element, const struct profile *profile, bool in_text)
{
    bool list =
        element->tag == LXB_TAG_UL || element->tag == LXB_TAG_OL || element->tag == LXB_TAG_DL ||
        element->tag == LXB_TAG_TABLE || element->tag == LXB_TAG_LI || element->tag == LXB_TAG_TR ||
        element->tag == LXB_TAG_TD || element->tag == LXB_TAG_TBODY || element->tag == LXB_TAG_P;
    if (in_text && list) {
        return false;
    }
    if (profile->list_percent == 0 || !element_has(element, FLAG_BLOCK) ||
        element_has(element, FLAG_IN_HEADING)) {
        return false;
    }
    const struct measures *all = &element->all;
    if (all->links < 3 || all->prose > 0) {
        return false;
    }
    return link_percent(all) >= profile->list_percent;
}

/* A button in the guise of a link. */
static bool is_call_to_action(const struct element *element)
{
    return element_is(element, HINT_ACTION) && element->all.text < LONGEST_ACTION &&
           element->all.headings == 0 && element->all.code * 2 <= element->all.text &&
           !element_has(element, FLAG_OPENS) && !element_has(element, FLAG_IN_HEADING);
}

/* The words under a picture, which go with it; those under a table or code are text, and so are
 * those that are all a list's item says. */
static bool is_figure_caption(const struct stats *stats, const struct element *element)
{
    if (element->tag != LXB_TAG_FIGCAPTION) {
        return false;
    }
    uint32_t figure = element->parent;
    while (figure != 0 && stats->elements[figure].tag != LXB_TAG_FIGURE) {
        figure = stats->elements[figure].parent;
    }
    const struct element *around = &stats->elements[stats->elements[figure].parent];
    bool all_that_is_said = around->tag == LXB_TAG_LI && around->all.text == element->all.text;
    return figure != 0 && stats->elements[figure].all.images > 0 && !all_that_is_said;
}

/* Whether code is what an element stands beside. */
static bool is_beside_code(const struct stats *stats, const struct element *element)
{
    const struct element *around = &stats->elements[element->parent];
    while (around->parent && element_is(around, HINT_CAPTION)) {
        around = &stats->elements[around->parent];
    }
    return around->all.images == 0 &&
           (dom_find(around->node, LXB_TAG_PRE) || dom_find(around->node, LXB_TAG_CODE));
}

/* Whether a picture stands right before it. */
static bool follows_picture(const struct stats *stats, uint32_t number)
{
    uint32_t parent = stats->elements[number].parent;
    uint32_t before = 0;
    for (uint32_t i = parent + 1; i < number; i = stats->elements[i].end) {
        before = i;
    }
    return before != 0 && stats->elements[before].all.images > 0;
}

/* On pages of lists the name is given to what stands under the picture of an entry. */
static bool is_caption(const struct stats *stats, uint32_t number, const struct profile *profile)
{
    const struct element *element = &stats->elements[number];
    return is_figure_caption(stats, element) ||
           (element_is(element, HINT_CAPTION) && element->all.text < LONGEST_CAPTION &&
            profile->list_percent > 0 && element->all.headings == 0 &&
            !element_has(element, FLAG_IN_HEADING) && !is_beside_code(stats, element) &&
            (follows_picture(stats, number) || !is_plainly_text(stats, number)));
}

/* What a heading such as "Related articles" stands over: the largest part of the content that
 * begins with it. */
static uint32_t section_of(const struct stats *stats, uint32_t heading, uint32_t root)
{
    const struct element *elements = stats->elements;
    uint32_t at = heading;
    while (elements[at].parent != root && comes_first(stats, at) &&
           elements[elements[at].parent].all.text <= elements[root].all.text / 3) {
        at = elements[at].parent;
    }
    return at;
}

/* Drops what follows a heading beside it, up to the next heading that is not below it. */
static void drop_followers(struct stats *stats, uint32_t from)
{
    const struct element *heading = &stats->elements[from];
    const struct element *parent = &stats->elements[heading->parent];
    for (uint32_t i = heading->end; i < parent->end; i = stats->elements[i].end) {
        const struct element *next = &stats->elements[i];
        if (next->dropped) {
            continue;
        }
        if (is_heading(next) || next->all.headings > 0) {
            break;
        }
        if (next->all.prose > 0 && link_percent(&next->all) < 30 && next->all.images == 0) {
            break;
        }
        stats_drop(stats, i, OMIT_RELATED);
    }
}

/* A link that is not a word of a sentence or of a heading. */
static bool is_lone_link(const struct stats *stats, const struct element *element)
{
    const struct element *block = &stats->elements[element->block];
    return element->tag == LXB_TAG_A && !element_has(element, FLAG_IN_HEADING) &&
           block->link_flow * 5 >= block->flow * 4;
}

static bool label_fits(const struct stats *stats, const struct element *element, uint32_t number,
                       const struct profile *profile, enum label_effect *effect)
{
    if (!element_has(element, FLAG_BLOCK) && !is_lone_link(stats, element)) {
        return false;
    }
    if (element->all.text < 2 || element->all.text >= LONGEST_LABEL - 12 ||
        element->end - number > MOST_IN_LABEL) {
        return false;
    }
    if (element->all.code * 2 > element->all.text) {
        return false;
    }
    /* All that a cell or a term says is its text, in however many boxes. */
    const struct element *around = element;
    while (around->parent && around->all.text == element->all.text) {
        if (around->tag == LXB_TAG_TD || around->tag == LXB_TAG_TH || around->tag == LXB_TAG_DT) {
            return false;
        }
        around = &stats->elements[around->parent];
    }
    char label[LONGEST_LABEL];
    size_t length = stats_label(stats, number, label, sizeof label);
    *effect = (enum label_effect)words_match(&page_labels, label, length);
    uint32_t heading = *effect == LABEL_NONE ? 0 : only_heading(stats, number);
    uint16_t heads = heading ? stats->elements[heading].flags : 0;
    switch (*effect) {
    case LABEL_SECTION:
        return profile->drops_sections && !(heads & FLAG_HEADS_SECTION);
    case LABEL_REVIEWS:
        return profile->drops_reviews && !(heads & FLAG_HEADS_SECTION);
    case LABEL_DETAIL:
        return profile->drops_details;
    default:
        return *effect == LABEL_SCRAP && !(heads & FLAG_HEADS);
    }
}

static bool drop_by_label(struct stats *stats, const struct profile *profile, uint32_t number,
                          uint32_t root)
{
    const struct element *element = &stats->elements[number];
    enum label_effect effect;
    if (!label_fits(stats, element, number, profile, &effect)) {
        return false;
    }
    bool heads = effect == LABEL_SECTION || effect == LABEL_REVIEWS;
    enum omission what = effect == LABEL_SCRAP     ? OMIT_CONTROLS
                         : effect == LABEL_DETAIL  ? OMIT_DETAILS
                         : effect == LABEL_REVIEWS ? OMIT_COMMENTS
                                                   : OMIT_RELATED;
    stats_drop(stats, number, what);
    if (!heads) {
        return true;
    }
    uint32_t section = section_of(stats, number, root);
    if (section != number && !holds_page(&stats->elements[section])) {
        stats_drop(stats, section, what);
    } else if (is_heading(element)) {
        drop_followers(stats, number);
    }
    return true;
}

void clean_content(struct stats *stats, const struct profile *profile, uint32_t root)
{
    uint32_t end = stats->elements[root].end;
    uint32_t last = last_prose(stats, root);
    for (uint32_t i = root + 1; i < end;) {
        const struct element *element = &stats->elements[i];
        if (stats->elements[element->parent].dropped) {
            stats->elements[i].dropped = true;
        }
        if (element->dropped) {
            i++;
            continue;
        }
        enum omission what = is_link_list(element, profile, i < last) ? OMIT_NAVIGATION
                             : is_call_to_action(element)             ? OMIT_PROMOTION
                             : is_caption(stats, i, profile)          ? OMIT_DETAILS
                                                                      : OMIT_NONE;
        if (what != OMIT_NONE) {
            stats_drop(stats, i, what);
            continue;
        }
        drop_by_label(stats, profile, i, root);
        i++;
    }
    stats_sum(stats);
}

/* ---- what stands on the page twice ---- */

struct seen {
    struct seen_text {
        uint32_t hash, letters, parent;
    } *slots;
    uint32_t mask;
};

/* Whether the text was seen before; remembers it. Plain text that repeats what
 * is beside it means to. */
static bool remember(struct seen *seen, const struct element *element)
{
    uint32_t hash = element->text_hash;
    uint32_t at = (hash ^ hash >> 15) & seen->mask;
    for (; seen->slots[at].letters != 0; at = (at + 1) & seen->mask) {
        const struct seen_text *text = &seen->slots[at];
        if (text->hash == hash && text->letters == element->all.text) {
            return element->all.links + element->all.images > 0 || text->parent != element->parent;
        }
    }
    seen->slots[at] = (struct seen_text){hash, element->all.text, element->parent};
    return false;
}

/* Code and headings repeat themselves, and so do people who quote. */
static bool may_repeat(const struct element *element)
{
    if (element->all.code * 2 > element->all.text) {
        return true;
    }
    return !element_has(element, FLAG_BLOCK) || element_has(element, FLAG_IN_CODE) ||
           element_has(element, FLAG_IN_HEADING) || element->tag == LXB_TAG_BLOCKQUOTE ||
           element->all.text < SHORTEST_REPEAT;
}

int clean_repeats(struct stats *stats, uint32_t root)
{
    uint32_t end = stats->elements[root].end;
    struct seen seen = {.mask = 63};
    while (seen.mask < 2 * (end - root)) {
        seen.mask = seen.mask * 2 + 1;
    }
    seen.slots = arena_zalloc(stats->page->arena, (seen.mask + 1) * sizeof *seen.slots);
    if (!seen.slots) {
        return ERR_NOMEM;
    }
    for (uint32_t i = root + 1; i < end;) {
        const struct element *element = &stats->elements[i];
        if (element->dropped || element->tag == LXB_TAG_BLOCKQUOTE) {
            i = element->end;
            continue;
        }
        const struct element *parent = &stats->elements[element->parent];
        bool only_child = parent->text_hash == element->text_hash;
        if (!may_repeat(element) && !only_child && remember(&seen, element)) {
            stats_drop(stats, i, OMIT_REPEATED);
            i = element->end;
            continue;
        }
        i++;
    }
    stats_sum(stats);
    return OK;
}
