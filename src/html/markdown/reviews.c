/* Reviews of a product, behind its text: under the page's own heading over them, each as an item of
 * a list, with the rating that the page shows as stars. Where a page has a place for them and
 * leaves it to a script, they come from its JSON-LD. */
#include "html/markdown/writer.h"

#include "core/limits.h"
#include "core/status.h"
#include "html/embedded.h"
#include "html/extract.h"
#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_LOOKED_AT 80 /* elements of a review, for its rating */
#define LONGEST_RATING 60 /* bytes of a label */
#define STARS          5  /* where nothing says how many there can be */

/* ---- ratings ---- */

struct rating {
    double value, best;
    bool said; /* in what a reader sees: it is written anyway */
};

/* The next number of a text, or -1; `at` is moved behind it. */
static double next_number(const char **at)
{
    const char *from = *at;
    while (*from && !isdigit((unsigned char)*from)) {
        from++;
    }
    if (!*from) {
        return -1;
    }
    char number[8] = "";
    size_t length = 0;
    for (; (isdigit((unsigned char)*from) || *from == '.' || *from == ',') &&
           length + 1 < sizeof number;
         from++) {
        number[length++] = *from == ',' ? '.' : *from;
    }
    *at = from;
    return strtod(number, NULL);
}

/* "Rated 4 out of 5", "80%", "4.5": what a label or an attribute says of stars. */
static bool read_rating(const char *text, struct rating *rating)
{
    if (!text || !*text || strlen(text) > LONGEST_RATING) {
        return false;
    }
    const char *at = text;
    double value = next_number(&at);
    if (*at == '%' && value >= 0 && value <= 100) {
        *rating = (struct rating){value * STARS / 100, STARS, rating->said};
        return true;
    }
    double best = next_number(&at);
    best = best < 0 ? STARS : best;
    if (value < 0 || best <= 0 || best > 100 || value > best) {
        return false;
    }
    *rating = (struct rating){value, best, rating->said};
    return true;
}

static bool is_stars(const lxb_dom_node_t *node)
{
    return dom_holds_any(dom_class(node), review_stars);
}

/* What an element that shows stars says of them. */
static bool rating_at(const lxb_dom_node_t *node, struct rating *rating)
{
    const char *property = dom_attr(node, "itemprop");
    if (property && dom_has_word(property, "ratingValue")) {
        char text[LONGEST_RATING + 1];
        const char *content = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
        rating->said = dom_collect(node, text, sizeof text) > 0;
        return read_rating(content ? content : text, rating);
    }
    bool stars = is_stars(node) || (node->parent && is_stars(node->parent));
    for (const char *const *name = review_ratings; stars && *name; name++) {
        if (read_rating(dom_attr(node, *name), rating)) {
            return true;
        }
    }
    const char *style = stars ? dom_known_attr(node, LXB_DOM_ATTR_STYLE) : NULL;
    const char *width = style ? strstr(style, "width:") : NULL;
    char percent[16] = "";
    if (width) {
        snprintf(percent, sizeof percent, "%.*s", (int)strcspn(width + 6, ";"), width + 6);
    }
    return strchr(percent, '%') && read_rating(percent, rating);
}

/* Whether words that a reader sees tell the rating. */
static bool is_said(const lxb_dom_node_t *node)
{
    char text[LONGEST_RATING + 1];
    const char *at = text;
    return is_stars(node) && dom_collect(node, text, sizeof text) > 0 &&
           strlen(text) < LONGEST_RATING && next_number(&at) >= 0;
}

static void write_rating(struct writer *writer, lxb_dom_node_t *review)
{
    struct rating rating = {0};
    bool found = false;
    int looked = 0;
    for (lxb_dom_node_t *node = review; node && looked < MOST_LOOKED_AT;
         node = dom_next(node, review, true)) {
        if (node->type == LXB_DOM_NODE_TYPE_ELEMENT) {
            found = found || rating_at(node, &rating);
            rating.said = rating.said || is_said(node);
            looked++;
        }
    }
    if (found && !rating.said) {
        char text[48];
        int length = snprintf(text, sizeof text, "Rating: %.3g/%.3g", rating.value, rating.best);
        inline_raw(writer, text, (size_t)length);
        flush_block(writer);
    }
}

/* ---- those that the page shows ---- */

/* All but what is there to be clicked. */
static void restore(lxb_dom_node_t *review)
{
    for (lxb_dom_node_t *node = review; node; node = dom_next(node, review, true)) {
        bool control = node_omission(node) == OMIT_CONTROLS || dom_tag(node) == LXB_TAG_BUTTON;
        if (node->type == LXB_DOM_NODE_TYPE_ELEMENT && (node_marks(node) & NODE_DROPPED) &&
            !(node_marks(node) & NODE_HIDDEN) && !control) {
            node_restore(node);
        }
    }
}

/* Elements that nothing parts are lines of their own: a name, a title, the text. */
static void write_parts(struct writer *writer, lxb_dom_node_t *review)
{
    for (lxb_dom_node_t *part = review->first_child; part; part = part->next) {
        write_node(writer, part);
        if (part->type == LXB_DOM_NODE_TYPE_ELEMENT && part->next &&
            part->next->type == LXB_DOM_NODE_TYPE_ELEMENT) {
            flush_block(writer);
        }
    }
    flush_block(writer);
}

static void write_review(struct writer *writer, lxb_dom_node_t *review)
{
    restore(review);
    struct prefix_mark mark = prefix_push(writer, "- ", "  ");
    write_rating(writer, review);
    writer->in_review = true;
    write_parts(writer, review);
    writer->in_review = false;
    prefix_pop(writer, mark);
}

static void write_title(struct writer *writer, lxb_dom_node_t *heading)
{
    if (heading) {
        restore(heading);
        write_heading(writer, heading);
    } else {
        output_block(writer, "## Reviews", strlen("## Reviews"));
    }
}

/* ---- those that it leaves to a script ---- */

static int write_embedded(struct writer *writer)
{
    const char *html = writer->page->review_place ? embedded_reviews(writer->page) : NULL;
    if (!html) {
        return OK;
    }
    struct buf text;
    buf_init(&text, LIMIT_MARKDOWN_BYTES);
    int status =
        extract_fragment(writer->arena, html, strlen(html), writer->page->base, &text, NULL);
    while (text.length && text.data[text.length - 1] == '\n') {
        text.length--;
    }
    if (status == OK && text.length) {
        output_block(writer, text.data, text.length);
    }
    buf_done(&text);
    return status;
}

int write_reviews(struct writer *writer)
{
    const struct page *page = writer->page;
    if (page->whole || page->kind != PAGE_PRODUCT || !page->root_count) {
        return OK;
    }
    if (!page->review_count) {
        return write_embedded(writer);
    }
    write_title(writer, page->review_heading);
    for (size_t i = 0; i < page->review_count; i++) {
        write_review(writer, page->reviews[i]);
    }
    return OK;
}
