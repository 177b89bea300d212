/* Where the page has sections of text: a heading and, under it, sentences or code. They are what
 * words in ids and classes are weighed against, and what the content's frame must not cut off. */
#include "html/choose/choose.h"

#include "html/dom.h"

#include <ctype.h>
#include <string.h>

enum {
    MOST_CLIMBED = 4,     /* wrappers around a heading, */
    LONGEST_BESIDE = 100, /* with so many letters beside it */
    TEASER_PERCENT = 90,
    LINKED_PERCENT = 40,
    MAIN_PERCENT = 50,
    SHORT_SENTENCE = 12, /* letters */
    SHORTEST_TITLE = 12, /* bytes that tell a title from a word */
    LONGEST_TITLE = 256,
};

/* What stands under one heading. */
struct under {
    uint32_t paragraphs, first; /* of sentences; the first that has sentences or code */
    uint32_t text, link_text;
    bool form;
};

/* A heading that is one link to another page stands over a few words about that page. */
static bool is_teaser(const struct stats *stats, uint32_t heading)
{
    const struct element *element = &stats->elements[heading];
    if (link_percent(&element->all) < TEASER_PERCENT) {
        return false;
    }
    uint32_t link = heading;
    if (element_has(element, FLAG_IN_LINK)) {
        while (link != 0 && stats->elements[link].tag != LXB_TAG_A) {
            link = stats->elements[link].parent;
        }
    } else {
        while (link + 1 < element->end && stats->elements[link].tag != LXB_TAG_A) {
            link++;
        }
    }
    const char *href = dom_known_attr(stats->elements[link].node, LXB_DOM_ATTR_HREF);
    return href && href[0] != '#';
}

/* An entry of a list of what people say, with a name or a date that is a link. */
static bool is_listed(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    const struct element *list = &stats->elements[element->parent];
    return element->tag == LXB_TAG_LI && element->all.links + element->all.times > 0 &&
           (element_is(list, HINT_COMMENT) ||
            element_is(&stats->elements[list->parent], HINT_COMMENT));
}

/* One of several that look alike and are named as what people say: a comment, an answer. */
static bool is_said(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    if (!element_is(element, HINT_COMMENT | HINT_POST | HINT_REVIEW) && !is_listed(stats, number)) {
        return false;
    }
    const struct element *parent = &stats->elements[element->parent];
    for (uint32_t i = element->parent + 1; i < parent->end; i = stats->elements[i].end) {
        if (i != number && stats->elements[i].shape == element->shape) {
            return true;
        }
    }
    return false;
}

bool element_takes_words(const struct element *element)
{
    if (element->tag == LXB_TAG_FORM) {
        return true;
    }
    if (element->tag != LXB_TAG_INPUT) {
        return false;
    }
    const char *type = dom_known_attr(element->node, LXB_DOM_ATTR_TYPE);
    return !type || strcmp(type, "text") == 0 || strcmp(type, "email") == 0;
}

static bool is_aside(const struct stats *stats, uint32_t number)
{
    const struct element *element = &stats->elements[number];
    return (element->role > ROLE_NONE && element->role < ROLE_MAIN) ||
           element->tag == LXB_TAG_NAV || element->tag == LXB_TAG_FOOTER ||
           element->tag == LXB_TAG_ASIDE || element->tag == LXB_TAG_BUTTON ||
           is_said(stats, number);
}

/* Prose, or a paragraph of one short sentence. */
static bool has_sentences(const struct element *element)
{
    return element->own.prose > 0 ||
           (element->tag == LXB_TAG_P && element->flow >= SHORT_SENTENCE && element->stops > 0 &&
            element->link_flow * 2 < element->flow);
}

static struct under look_under(const struct stats *stats, uint32_t heading, uint32_t scope)
{
    struct under under = {0};
    uint32_t end = stats->elements[scope].end;
    for (uint32_t i = stats->elements[heading].end; i < end;) {
        const struct element *element = &stats->elements[i];
        if (element->own.headings > 0) {
            break;
        }
        if (is_aside(stats, i)) {
            i = element->end;
            continue;
        }
        under.form |= element_takes_words(element);
        under.paragraphs += has_sentences(element);
        if (under.first == 0 && (has_sentences(element) || element->tag == LXB_TAG_PRE)) {
            under.first = i;
        }
        under.text += element->own.text;
        under.link_text += element->own.link_text;
        i++;
    }
    if (stats->elements[scope].own.prose > 0) {
        under.paragraphs++;
    }
    return under;
}

static void count_up(struct stats *stats, uint32_t number, uint32_t sections, uint32_t parts)
{
    stats->elements[number].own.sections += sections;
    stats->elements[number].own.parts += parts;
    for (uint32_t at = number;; at = stats->elements[at].parent) {
        stats->elements[at].all.sections += sections;
        stats->elements[at].all.parts += parts;
        if (at == 0) {
            break;
        }
    }
}

/* Whether a heading says what the page's metadata call it; either may be cut, or go on with the
 * name of the site. */
static bool is_title(const struct stats *stats, uint32_t heading, const char *title)
{
    char label[LONGEST_TITLE];
    size_t length = stats_label(stats, heading, label, sizeof label);
    size_t same = 0;
    while (same < length && title[same] &&
           tolower((unsigned char)title[same]) == (unsigned char)label[same]) {
        same++;
    }
    return same >= SHORTEST_TITLE && (same == length || !title[same]);
}

/* What is around the page's title is the page, however it is called. */
static void find_title(struct stats *stats)
{
    const char *title = stats->page->metadata.title;
    for (uint32_t i = 1; title && i < stats->count; i++) {
        if (stats->elements[i].own.headings == 0 || !is_title(stats, i, title)) {
            continue;
        }
        for (uint32_t at = i; !element_has(&stats->elements[at], FLAG_HOLDS_TITLE);
             at = stats->elements[at].parent) {
            stats->elements[at].flags |= FLAG_HOLDS_TITLE;
        }
    }
}

void sections_find(struct stats *stats)
{
    find_title(stats);
    for (uint32_t i = 1; i < stats->count; i++) {
        const struct element *elements = stats->elements;
        if (elements[i].own.headings == 0 || elements[i].all.text == 0 || is_teaser(stats, i)) {
            continue;
        }
        uint32_t scope = elements[i].parent;
        struct under under = look_under(stats, i, scope);
        for (int climbed = 0; climbed < MOST_CLIMBED && scope != 0 && under.first == 0 &&
                              elements[scope].all.text < elements[i].all.text + LONGEST_BESIDE;
             climbed++) {
            scope = elements[scope].parent;
            under = look_under(stats, i, scope);
        }
        if (under.form || under.link_text * 100 > under.text * LINKED_PERCENT) {
            continue;
        }
        if (under.paragraphs >= 2) {
            stats->elements[i].flags |= FLAG_HEADS_SECTION;
            count_up(stats, scope, 1, 0);
        }
        if (under.first != 0) {
            stats->elements[i].flags |= FLAG_HEADS;
            count_up(stats, under.first, 0, 1);
        }
    }
}

/* ---- the main part ---- */

static bool holds_most(const struct stats *stats, uint32_t number, uint32_t whole)
{
    return (uint64_t)stats->elements[number].all.prose * 100 >=
               (uint64_t)stats->elements[whole].all.prose * MAIN_PERCENT &&
           stats->elements[number].all.prose > 0;
}

/* A child that is not one of several sections beside each other. */
static uint32_t main_child(const struct stats *stats, uint32_t parent)
{
    const struct element *elements = stats->elements;
    uint32_t best = 0;
    for (uint32_t i = parent + 1; i < elements[parent].end; i = elements[i].end) {
        if (!elements[i].dropped && elements[i].tag != LXB_TAG_P && holds_most(stats, i, parent)) {
            best = i;
            break;
        }
    }
    for (uint32_t i = parent + 1; best != 0 && i < elements[parent].end; i = elements[i].end) {
        if (i != best && !elements[i].dropped && elements[i].all.parts > 0 &&
            elements[i].shape == elements[best].shape) {
            return 0;
        }
    }
    return best;
}

uint32_t sections_main(const struct stats *stats)
{
    uint32_t declared = 0;
    for (uint32_t i = 1; i < stats->count; i++) {
        const struct element *element = &stats->elements[i];
        if (!element->dropped &&
            (element->tag == LXB_TAG_ARTICLE || element->tag == LXB_TAG_MAIN ||
             element->role == ROLE_MAIN) &&
            holds_most(stats, i, 0)) {
            declared = i;
        }
    }
    uint32_t at = declared;
    while (declared == 0) {
        uint32_t child = main_child(stats, at);
        if (child == 0 || !holds_most(stats, child, 0)) {
            break;
        }
        at = child;
    }
    return at;
}
