/* The steps of choosing, in the order in which choose.c takes them: measure the page (stats.h),
 * decide its kind, drop what is not content, find the element that frames the rest. */
#ifndef FORAGE_HTML_CHOOSE_CHOOSE_H
#define FORAGE_HTML_CHOOSE_CHOOSE_H

#include "html/choose/stats.h"

/* ---- sections.c: headings with text under them ---- */

/* Counts them in the measures, and marks what is around the page's title. */
void sections_find(struct stats *stats);
/* The number of the page's main part: the innermost <article> or <main> that holds most of the
 * prose, else the place where the prose is densest. */
uint32_t sections_main(const struct stats *stats);
/* Whether it is a form, or a field for words. */
bool element_takes_words(const struct element *element);

/* ---- kind.c ---- */

/* Points for a kind as data/page-kinds.txt gives them: four bits for each kind. */
#define POINTS(kind, count) ((uint32_t)(count) << 4 * PAGE_##kind)

enum page_kind kind_decide(const struct stats *stats);

/* ---- clean.c: dropping navigation, related links, share bars, cookie banners, forms ---- */

/* How a kind of page is read: what is left out of it, and how tightly its content is framed. */
struct profile {
    uint32_t dropped; /* hints of what is left out */
    /* A child that holds this share of what its parent does is content without the parent. */
    uint8_t descend_percent;
    /* A list with a larger share of links than this is navigation; 0: lists of links are content.
     */
    uint8_t list_percent;
    bool keeps_headings; /* wherever they are, and what repeats itself */
    bool drops_sections; /* under headings such as "Related articles" */
    bool drops_reviews;  /* under headings such as "Customer reviews" */
    bool drops_details;  /* of who wrote a post */
    bool holds_title;    /* the content begins with the page's title, not below it */
};

/* Drops by tags, roles and names, all over the page. */
void clean_boilerplate(struct stats *stats, const struct profile *profile);
/* Drops what only looks like boilerplate in the content's company: lists of links, scraps at its
 * ends. */
void clean_content(struct stats *stats, const struct profile *profile, uint32_t root);
/* Drops what the content has said before: slides that are there twice, texts for small and for
 * large screens. A status. */
MUST_CHECK int clean_repeats(struct stats *stats, uint32_t root);

/* ---- judge.c ---- */

/* Asks the model for each unit of the page, and drops and restores elements as it says. `root` is
 * the rules' before it and the model's after it. A status. */
MUST_CHECK int judge_units(struct stats *stats, enum page_kind kind, uint32_t *root);

/* ---- guards.c ---- */

/* Takes back what was dropped below the root and is part of the text by where it stands. */
void guard_text(struct stats *stats, uint32_t root);

/* ---- reviews.c ---- */

/* Finds what customers say of a product and takes it out of the content, for the writer. A status.
 */
MUST_CHECK int reviews_find(struct stats *stats);

/* ---- root.c ---- */

/* The number of the tightest element that holds nearly all of the page's prose. */
uint32_t root_find(const struct stats *stats, const struct profile *profile);
/* The number of the picture that stands over an article, between its title and its text; 0 when
 * there is none. What else stands there is dates, names and buttons. */
uint32_t lead_find(struct stats *stats, uint32_t root);

#endif
