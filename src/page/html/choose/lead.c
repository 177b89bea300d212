/* Between the title and the text: the first picture. What else is there is dates, names and
 * buttons. */
#include "page/html/choose/lead.h"

enum { LONGEST_CAPTION = 600, MOST_LOOKED_AT = 400 };

/* Where the article begins: at its title, or with the element that the page calls an article. */
static uint32_t beginning_of(const struct stats *stats, uint32_t root)
{
    uint32_t scope = stats->elements[root].parent;
    while (scope != 0 && stats->elements[scope].tag != LXB_TAG_ARTICLE &&
           stats->elements[scope].tag != LXB_TAG_MAIN &&
           stats->elements[scope].all.landmarks == 0) {
        scope = stats->elements[scope].parent;
    }
    for (uint32_t i = root; i > scope; i--) {
        if (stats->elements[i].tag == LXB_TAG_H1 && stats->elements[i].end <= root) {
            return i;
        }
    }
    return stats->elements[scope].tag == LXB_TAG_ARTICLE ? scope : root;
}

static bool is_picture(const struct element *element)
{
    return element->tag == LXB_TAG_FIGURE && element->all.images > 0 &&
           element->all.text < LONGEST_CAPTION;
}

uint32_t lead_find(struct stats *stats, uint32_t root)
{
    uint32_t at = beginning_of(stats, root);
    for (uint32_t looked = 0; at < root && looked < MOST_LOOKED_AT; looked++) {
        const struct element *element = &stats->elements[at];
        if (!element->dropped && is_picture(element)) {
            stats_drop(stats, at); /* its words; pictures are written all the same */
            return at;
        }
        at = element->dropped && element->end <= root ? element->end : at + 1;
    }
    return 0;
}
