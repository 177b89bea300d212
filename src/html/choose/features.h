/* What the model is told of each part of a page before it decides whether that part is content:
 * some eighty whole numbers. They speak of the part itself, of what is around, before and after it,
 * of the page, and of what the rules of clean.c and root.c made of it; never of who wrote the page,
 * nor in which language. */
#ifndef FORAGE_HTML_CHOOSE_FEATURES_H
#define FORAGE_HTML_CHOOSE_FEATURES_H

#include "html/choose/units.h"

/* Shares are in percent, counts of letters as stats.h counts them. What is "near" is the share of
 * the page's text that is in the nearest element around with such a name: a small one means it, a
 * large one frames the page. NOT_NEAR where there is none. */
#define FEATURES(X)                                                                                \
    /* itself */                                                                                   \
    X(LETTERS)                                                                                     \
    X(LINK_SHARE)                                                                                  \
    X(LINKS)                                                                                       \
    X(COMMAS)                                                                                      \
    X(STOPS)                                                                                       \
    X(PROSE)                                                                                       \
    X(BLOCKS)                                                                                      \
    X(TAG)                                                                                         \
    X(HEADING)                                                                                     \
    X(FLAGS)                                                                                       \
    X(IMAGES)                                                                                      \
    X(TIMES)                                                                                       \
    X(PRICES)                                                                                      \
    X(LABEL)                                                                                       \
    X(REPEATS)                                                                                     \
    X(LIKE_UNITS)                                                                                  \
    X(LIKE_SHARE)                                                                                  \
    X(LIKE_LINK_SHARE)                                                                             \
    /* names around it */                                                                          \
    X(NEAR_NAVIGATION)                                                                             \
    X(NEAR_FOOTER)                                                                                 \
    X(NEAR_HEADER)                                                                                 \
    X(NEAR_SIDEBAR)                                                                                \
    X(NEAR_RELATED)                                                                                \
    X(NEAR_PROMOTION)                                                                              \
    X(NEAR_BANNER)                                                                                 \
    X(NEAR_COMMENT)                                                                                \
    X(NEAR_REVIEW)                                                                                 \
    X(NEAR_DETAILS)                                                                                \
    X(NEAR_POST)                                                                                   \
    X(NEAR_CONTROLS)                                                                               \
    X(NEAR_CAPTION)                                                                                \
    X(NEAR_PANEL)                                                                                  \
    X(NEAR_UNSEEN)                                                                                 \
    X(IN_NAV)                                                                                      \
    X(IN_ASIDE)                                                                                    \
    X(IN_FOOTER)                                                                                   \
    X(IN_HEADER)                                                                                   \
    X(IN_MAIN)                                                                                     \
    X(IN_ARTICLE)                                                                                  \
    X(IN_SECTION)                                                                                  \
    X(IN_FORM)                                                                                     \
    X(IN_LIST)                                                                                     \
    X(IN_TABLE)                                                                                    \
    X(IN_QUOTE)                                                                                    \
    X(IN_FIGURE)                                                                                   \
    X(IN_TEXT_PROPERTY)                                                                            \
    /* the elements around it that hold more than it */                                            \
    X(DEPTH)                                                                                       \
    X(ALIKE)                                                                                       \
    X(PARENT_TEXT)                                                                                 \
    X(PARENT_SHARE)                                                                                \
    X(PARENT_LINK_SHARE)                                                                           \
    X(PARENT_PROSE_SHARE)                                                                          \
    X(PARENT_ALIKE)                                                                                \
    X(UPPER_TEXT)                                                                                  \
    X(UPPER_SHARE)                                                                                 \
    X(UPPER_LINK_SHARE)                                                                            \
    X(UPPER_PROSE_SHARE)                                                                           \
    X(SECTION_SHARE)                                                                               \
    X(SECTION_LINK_SHARE)                                                                          \
    X(SECTION_PROSE_SHARE)                                                                         \
    X(SECTION_HEADINGS)                                                                            \
    X(SECTION_IMAGES)                                                                              \
    /* what comes before and after it */                                                           \
    X(BEFORE_LETTERS)                                                                              \
    X(BEFORE_LINK_SHARE)                                                                           \
    X(BEFORE_PROSE)                                                                                \
    X(BEFORE_TAG)                                                                                  \
    X(BEFORE_LEVELS)                                                                               \
    X(BEFORE2_LETTERS)                                                                             \
    X(BEFORE2_LINK_SHARE)                                                                          \
    X(AFTER_LETTERS)                                                                               \
    X(AFTER_LINK_SHARE)                                                                            \
    X(AFTER_PROSE)                                                                                 \
    X(AFTER_TAG)                                                                                   \
    X(AFTER_LEVELS)                                                                                \
    X(AFTER2_LETTERS)                                                                              \
    X(AFTER2_LINK_SHARE)                                                                           \
    /* where it stands */                                                                          \
    X(TEXT_BEFORE)                                                                                 \
    X(PROSE_BEFORE)                                                                                \
    X(SINCE_PROSE)                                                                                 \
    X(UNTIL_PROSE)                                                                                 \
    X(SINCE_HEADING)                                                                               \
    X(HEADING_ABOVE)                                                                               \
    X(LABEL_ABOVE)                                                                                 \
    X(SINCE_TITLE)                                                                                 \
    X(DENSEST_LEVELS)                                                                              \
    X(DENSEST_SHARE)                                                                               \
    /* the page */                                                                                 \
    X(PAGE_KIND)                                                                                   \
    X(PAGE_TEXT)                                                                                   \
    X(PAGE_PROSE_SHARE)                                                                            \
    X(PAGE_LINK_SHARE)                                                                             \
    X(PAGE_CODE_SHARE)                                                                             \
    X(PAGE_UNITS)                                                                                  \
    X(PAGE_ARTICLES)                                                                               \
    X(PAGE_TITLES)                                                                                 \
    X(PAGE_DENSEST_SHARE)                                                                          \
    /* what the rules say */                                                                       \
    X(OMISSION)                                                                                    \
    X(OMISSION_SHARE)                                                                              \
    X(ROOT_SIDE)                                                                                   \
    X(ROOT_LEVELS)                                                                                 \
    X(ROOT_SHARE)                                                                                  \
    X(DROPPED_BLOCKS)                                                                              \
    X(DROPPED_PROSE_SHARE)                                                                         \
    X(HEADS)                                                                                       \
    X(PARENT_SECTIONS)

#define FEATURE_NUMBER(name) FEATURE_##name,
enum feature { FEATURES(FEATURE_NUMBER) FEATURE_COUNT };
#undef FEATURE_NUMBER

enum {
    NOT_NEAR = 127,
    LANES = 16, /* units whose features stand together, so that they are compared at once */
};

/* The bit of a name in units->groups. */
static inline uint32_t unit_group(enum feature feature)
{
    return 1u << (feature - FEATURE_NEAR_NAVIGATION);
}

/* Writes the features of the units that have a row, which are told apart from 1 on. `root` is where
 * the rules say that the content is. A status. */
MUST_CHECK int units_describe(struct units *units, uint32_t root, enum page_kind kind);

/* A unit's, which has a row. */
static inline int16_t *unit_feature(const struct units *units, uint32_t unit, enum feature feature)
{
    uint32_t row = units->list[unit].row - 1;
    return &units->features[(row / LANES * FEATURE_COUNT + feature) * LANES + row % LANES];
}

#endif
