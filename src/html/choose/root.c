/* Finding the element that frames the content, from the body down, as long as one child holds
 * nearly all that its parent does; and the picture over it. */
#include "html/choose/choose.h"

enum {
    LITTLE_PROSE = 250,
    MAIN_PERCENT = 50,
    SIBLING_PROSE = 150,
    LARGEST_BOX = 400,
    LONGEST_CAPTION = 600,
    MOST_LOOKED_AT = 400
};

/* Lists of links are content on some kinds of pages. Elsewhere prose counts; where a page has next
 * to none, any text that is not a link. */
static uint32_t mass(const struct stats *stats, const struct profile *profile,
                     const struct element *element)
{
    if (profile->list_percent == 0) {
        return element->all.text;
    }
    if (stats->elements[0].all.prose >= LITTLE_PROSE) {
        return element->all.prose;
    }
    return element->all.text - element->all.link_text;
}

static bool has_share(const struct stats *stats, const struct profile *profile, uint32_t part,
                      uint32_t whole, uint32_t percent)
{
    uint64_t of_part = mass(stats, profile, &stats->elements[part]);
    uint64_t of_whole = mass(stats, profile, &stats->elements[whole]);
    return of_part * 100 >= of_whole * percent && of_part > 0;
}

/* What the page itself calls its main part, when most of the text is in it; else the body. */
static uint32_t declared_main(const struct stats *stats, const struct profile *profile)
{
    for (uint32_t i = 1; i < stats->count; i++) {
        const struct element *element = &stats->elements[i];
        if (!element->dropped && (element->tag == LXB_TAG_MAIN || element->role == ROLE_MAIN) &&
            has_share(stats, profile, i, 0, MAIN_PERCENT)) {
            return i;
        }
    }
    return 0;
}

static uint32_t heaviest_child(const struct stats *stats, const struct profile *profile,
                               uint32_t parent)
{
    uint32_t best = 0, most = 0;
    for (uint32_t i = parent + 1; i < stats->elements[parent].end; i = stats->elements[i].end) {
        const struct element *child = &stats->elements[i];
        if (child->dropped) {
            continue;
        }
        uint32_t weight = mass(stats, profile, child);
        if (weight > most) {
            most = weight;
            best = i;
        }
    }
    return best;
}

/* The page's title, when it has just one. */
static uint32_t only_title(const struct stats *stats)
{
    uint32_t title = 0;
    for (uint32_t i = 1; i < stats->count; i++) {
        if (stats->elements[i].tag != LXB_TAG_H1 || stats->elements[i].dropped) {
            continue;
        }
        if (title != 0) {
            return 0;
        }
        title = i;
    }
    return title;
}

/* Whether a text goes on beside the child: in siblings of its shape, and in sections, of which a
 * sentence or two under a heading in a box of its own after the text is none. */
static bool goes_on(const struct stats *stats, const struct profile *profile, uint32_t parent,
                    uint32_t child)
{
    const struct element *elements = stats->elements;
    bool text = elements[child].paragraph_prose >= SIBLING_PROSE;
    for (uint32_t i = parent + 1; i < elements[parent].end; i = elements[i].end) {
        const struct element *sibling = &elements[i];
        if (i == child || sibling->dropped) {
            continue;
        }
        bool alike = sibling->shape == elements[child].shape;
        bool box = i > child && !alike && sibling->end > i + 1 && sibling->all.sections == 0 &&
                   sibling->all.code == 0 && sibling->all.text < LARGEST_BOX;
        if (profile->keeps_headings && sibling->all.headings > 0) {
            return true;
        }
        if ((sibling->all.parts > 0 && !box) ||
            (text && alike && sibling->paragraph_prose >= SIBLING_PROSE)) {
            return true;
        }
    }
    return false;
}

uint32_t root_find(const struct stats *stats, const struct profile *profile)
{
    uint32_t at = declared_main(stats, profile);
    for (;;) {
        uint32_t child = heaviest_child(stats, profile, at);
        if (child == 0 || !has_share(stats, profile, child, at, profile->descend_percent)) {
            break;
        }
        uint16_t tag = stats->elements[child].tag;
        if (tag == LXB_TAG_P || tag == LXB_TAG_UL || tag == LXB_TAG_OL || tag == LXB_TAG_TABLE) {
            break;
        }
        if (goes_on(stats, profile, at, child)) {
            break;
        }
        at = child;
    }
    uint32_t title = profile->holds_title ? only_title(stats) : 0;
    while (title != 0 && (title < at || title >= stats->elements[at].end)) {
        at = stats->elements[at].parent;
    }
    return at;
}

/* ---- the picture before the text ---- */

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
            stats_drop(stats, at, OMIT_DETAILS); /* its words; pictures are written all the same */
            return at;
        }
        at = element->dropped && element->end <= root ? element->end : at + 1;
    }
    return 0;
}
