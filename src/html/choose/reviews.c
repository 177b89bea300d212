/* What customers say of a product: the reviews that its page shows, by microdata, or since they are
 * called so and stand in a row. They are taken from where they stand, whatever is around them, and
 * the writer puts them behind the text, under a heading: page->reviews. */
#include "html/choose/choose.h"

#include "core/limits.h"
#include "core/status.h"
#include "html/dom.h"
#include "tables.h"

enum {
    LEAST_PROSE = 8,       /* letters in sentences of one, on average: less counts stars */
    LONGEST_REVIEW = 4000, /* letters: what is longer is a text of its own */
    MOST_LINK_PERCENT = 40,
    MOST_TIMES = 2, /* when it was written, and when it was answered; its title, and another */
};

struct review_search {
    struct stats *stats;
    lxb_dom_attr_id_t type, property;
    uint32_t *numbers; /* of the elements that are reviews */
    uint32_t count;
};

/* What is in an element, dropped or not. */
struct contents {
    uint32_t text, link_text, prose, prices, times, headings;
    bool is_signed, takes_words;
};

static struct contents contents_of(const struct stats *stats, uint32_t number)
{
    struct contents contents = {0};
    for (uint32_t i = number; i < stats->elements[number].end; i++) {
        const struct element *element = &stats->elements[i];
        contents.text += element->own.text;
        contents.link_text += element->own.link_text;
        contents.prose += element->own.prose;
        contents.prices += element->own.prices;
        contents.times += element->own.times;
        contents.headings += element->own.headings;
        contents.takes_words |= element_takes_words(element) || element->tag == LXB_TAG_INPUT;
        contents.is_signed |= element->tag == LXB_TAG_TIME || element_is(element, HINT_BYLINE) ||
                              (i > number && dom_holds_any(dom_class(element->node), review_signs));
    }
    return contents;
}

/* The last word of a schema's address. */
static bool is_schema(const char *type, const char *word)
{
    const char *slash = type ? strrchr(type, '/') : NULL;
    return slash && strcmp(slash + 1, word) == 0;
}

static bool is_typed(const struct review_search *finding, uint32_t number)
{
    const lxb_dom_node_t *node = finding->stats->elements[number].node;
    const char *type = dom_known_attr(node, finding->type);
    return is_schema(type, "Review") || is_schema(type, "UserReview") ||
           (type && dom_has_word(dom_known_attr(node, finding->property), "review"));
}

/* Siblings of one class, or of a tag that is made for rows. */
static bool is_like(const struct element *one, const struct element *other)
{
    return one->shape == other->shape && one->parent == other->parent &&
           (one->tag == LXB_TAG_LI || one->tag == LXB_TAG_ARTICLE || dom_class(one->node));
}

/* Whether it is one of several in a row that are called reviews. Shops that are built as blogs call
 * them comments, inside of what is called reviews. */
static bool is_called_review(const struct review_search *finding, uint32_t number)
{
    const struct element *elements = finding->stats->elements;
    const struct element *element = &elements[number];
    bool named = element_is(element, HINT_REVIEW);
    bool comment = element_is(element, HINT_COMMENT);
    for (uint32_t at = element->parent; comment && !named && at != 0; at = elements[at].parent) {
        named = element_is(&elements[at], HINT_REVIEW);
    }
    bool follows =
        finding->count > 0 && is_like(&elements[finding->numbers[finding->count - 1]], element);
    bool leads =
        element->end < elements[element->parent].end && is_like(&elements[element->end], element);
    return named && element_has(element, FLAG_BLOCK) && (follows || leads);
}

static bool is_review(const struct review_search *finding, uint32_t number, bool typed)
{
    const struct element *element = &finding->stats->elements[number];
    if (element_has(element, FLAG_HOLDS_TITLE) ||
        !(typed ? is_typed(finding, number) : is_called_review(finding, number))) {
        return false;
    }
    struct contents contents = contents_of(finding->stats, number);
    return contents.text > 0 && contents.text <= LONGEST_REVIEW && contents.prices == 0 &&
           contents.times <= MOST_TIMES && contents.headings <= MOST_TIMES &&
           !contents.takes_words && (typed || contents.is_signed) &&
           contents.link_text * 100 <= contents.text * MOST_LINK_PERCENT;
}

/* The reviews of one look, in the order of the page. A page has rows of several sorts: the one with
 * the most sentences counts. */
static void gather(struct review_search *finding, bool typed)
{
    const struct stats *stats = finding->stats;
    uint32_t best = 0, most = 0, prose = 0, first = 0;
    for (uint32_t i = 1; i < stats->count;) {
        if (!is_review(finding, i, typed)) {
            i++;
            continue;
        }
        const struct element *element = &stats->elements[i];
        bool goes_on = first < finding->count &&
                       (typed || is_like(&stats->elements[finding->numbers[first]], element));
        if (!goes_on) {
            first = finding->count;
            prose = 0;
        }
        finding->numbers[finding->count++] = i;
        prose += contents_of(stats, i).prose;
        if (prose > most) {
            most = prose;
            best = first;
        }
        i = element->end;
    }
    uint32_t end = best;
    while (end < finding->count && (typed || is_like(&stats->elements[finding->numbers[best]],
                                                     &stats->elements[finding->numbers[end]]))) {
        end++;
    }
    memmove(finding->numbers, finding->numbers + best, (end - best) * sizeof *finding->numbers);
    finding->count = most >= LEAST_PROSE * (uint64_t)(end - best) ? end - best : 0;
}

/* What is there to be clicked: "Helpful", "Report". */
static void drop_controls(struct stats *stats, uint32_t review)
{
    for (uint32_t i = review + 1; i < stats->elements[review].end; i++) {
        const struct element *element = &stats->elements[i];
        char label[LONGEST_LABEL];
        if (element->own.text > 0 && element->own.text < LONGEST_LABEL / 2) {
            size_t length = stats_label(stats, i, label, sizeof label);
            if (words_match(&page_labels, label, length) == LABEL_SCRAP) {
                stats_drop(stats, i, OMIT_CONTROLS);
            }
        }
    }
}

/* The heading over them: the first one of the largest part around that is called reviews. */
static uint32_t heading_of(const struct stats *stats, uint32_t review)
{
    uint32_t part = 0;
    for (uint32_t at = stats->elements[review].parent; at != 0; at = stats->elements[at].parent) {
        if (element_has(&stats->elements[at], FLAG_HOLDS_TITLE)) {
            break;
        }
        part = element_is(&stats->elements[at], HINT_REVIEW) ? at : part;
    }
    for (uint32_t i = part; part != 0 && i < review; i++) {
        if (stats->elements[i].own.headings > 0 && dom_has_text(stats->elements[i].node)) {
            return i;
        }
    }
    return 0;
}

int reviews_find(struct stats *stats)
{
    struct page *page = stats->page;
    struct review_search finding = {
        .stats = stats,
        .type = dom_attr_number(page, "itemtype"),
        .property = dom_attr_number(page, "itemprop"),
        .numbers = arena_alloc(page->arena, (size_t)stats->count * sizeof *finding.numbers),
    };
    page->reviews = arena_alloc(page->arena, LIMIT_PAGE_REVIEWS * sizeof *page->reviews);
    if (!finding.numbers || !page->reviews) {
        return ERR_NOMEM;
    }
    gather(&finding, true);
    if (finding.count == 0) {
        gather(&finding, false);
    }
    for (uint32_t i = 1; i < stats->count && !page->review_place; i++) {
        page->review_place = element_is(&stats->elements[i], HINT_REVIEW);
    }
    uint32_t letters = 0;
    for (uint32_t i = 0; i < finding.count; i++) {
        uint32_t number = finding.numbers[i];
        letters += contents_of(stats, number).text;
        stats_drop(stats, number, OMIT_COMMENTS);
        drop_controls(stats, number);
        if (page->review_count < LIMIT_PAGE_REVIEWS &&
            (i == 0 || letters <= LIMIT_PAGE_REVIEW_TEXT)) {
            page->reviews[page->review_count++] = stats->elements[number].node;
        }
    }
    uint32_t heading = finding.count > 0 ? heading_of(stats, finding.numbers[0]) : 0;
    if (heading != 0) {
        stats_drop(stats, heading, OMIT_COMMENTS);
        page->review_heading = stats->elements[heading].node;
    }
    stats_sum(stats);
    return OK;
}
