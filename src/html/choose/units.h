/* The units of a page: what is content or not as a whole, a block of text, or a list or table of
 * short ones. And what is known of elements for their sake: what is below an element is a range of
 * them, so sums from the page's beginning tell in one step what any part holds. */
#ifndef FORAGE_HTML_CHOOSE_UNITS_H
#define FORAGE_HTML_CHOOSE_UNITS_H

#include "html/choose/stats.h"

struct unit {
    uint32_t host;   /* the element around it, and only it */
    uint32_t marked; /* the element that the rules dropped with it, plus one; or 0 */
    uint32_t letters, link_letters, commas, stops, prose;
    uint32_t blocks;
    uint32_t flow_hash;
    uint16_t like; /* the place of those that look like it */
    uint8_t tag, heading, label;
    uint8_t omission; /* the rules' reason */
    uint32_t row;     /* of its features, plus one; 0: nobody asks for them */
};

enum unit_tag {
    TAG_OF_CONTROL,
    TAG_OF_NOTHING,
    TAG_OF_CAPTION,
    TAG_OF_CELL,
    TAG_OF_ITEM,
    TAG_OF_LIST,
    TAG_OF_TABLE,
    TAG_OF_HEADING,
    TAG_OF_QUOTE,
    TAG_OF_PARAGRAPH,
    TAG_OF_CODE,
};

/* What elements hold, dropped or not. */
struct element_sums {
    uint32_t text, link_text, prose, links, headings, images, prices, times;
    uint32_t tables, heads, forms;
};

struct units {
    struct unit *list; /* in the order of the page */
    uint32_t count;
    uint32_t *of; /* of each element, the number of the unit that its text is in plus one; or 0 */
    uint32_t *first; /* of each element, how many units come before it; at the end, all */
    const struct stats *stats;
    const struct element *elements;
    struct element_sums *until; /* of all elements before one, and of all at the end */
    uint32_t *row;              /* the first of its siblings of one shape in a row, */
    uint32_t *alike;            /* and how many they are */
    uint32_t *groups; /* the names that it has, a bit for each feature from NEAR_NAVIGATION */
    struct element_sums page;
    uint32_t code, articles, titles; /* of the page, too */
    uint32_t densest;                /* the element with the most prose directly in it */
    int16_t *features;               /* see features.h */
    uint32_t row_count;
};

/* The units of a page that the rules have read. A status. */
MUST_CHECK int units_collect(const struct stats *stats, struct units *units);
/* What is known of elements beside them: row, alike and groups. A status. */
MUST_CHECK int units_relate(struct units *units);
/* Whether a part of the page around the unit that holds less than so much of its text has one of
 * the names. */
bool unit_is_near(const struct units *units, uint32_t number, uint32_t groups, int below);

static inline struct element_sums sums_of(const struct units *units, uint32_t number)
{
    const struct element_sums *from = &units->until[number];
    const struct element_sums *to = &units->until[units->elements[number].end];
    return (struct element_sums){
        .text = to->text - from->text,
        .link_text = to->link_text - from->link_text,
        .prose = to->prose - from->prose,
        .links = to->links - from->links,
        .headings = to->headings - from->headings,
        .images = to->images - from->images,
        .prices = to->prices - from->prices,
        .times = to->times - from->times,
        .tables = to->tables - from->tables,
        .heads = to->heads - from->heads,
        .forms = to->forms - from->forms,
    };
}

static inline uint32_t text_in(const struct units *units, uint32_t number)
{
    return units->until[units->elements[number].end].text - units->until[number].text;
}

static inline int percent(uint32_t part, uint32_t whole)
{
    return whole == 0 ? 0 : (int)((uint64_t)part * 100 / whole);
}

/* How much of the page's text an element holds. */
static inline int share_in(const struct units *units, uint32_t number)
{
    return percent(text_in(units, number), units->page.text);
}

#endif
