/* Short texts that give a block away: "Related articles", "Share this", "Leave a reply". */
#ifndef FORAGE_PAGE_HTML_CHOOSE_LABELS_H
#define FORAGE_PAGE_HTML_CHOOSE_LABELS_H

#include <stddef.h>

enum label_effect {
    LABEL_NONE,
    LABEL_SCRAP,   /* the block itself is not content */
    LABEL_SECTION, /* nor is what it heads */
    LABEL_REVIEWS, /* the same, where others say what they think of a product */
    LABEL_DETAIL,  /* what forums say of a person: "Posts: 12" */
};

enum { LONGEST_LABEL = 64 };

/* The text as stats_label() gives it. */
enum label_effect label_effect(const char *label, size_t length);

#endif
