/* The features of units. */
#include "html/choose/features.h"

#include "core/status.h"
#include "tables.h"

enum {
    LONG_PROSE = 120,
    SECTION_MORE = 200, /* letters that a section holds beside a unit of it */
    LIKE_PLACES = 512,
    REPEAT_PLACES = 1024,
    FAR = 99,
};

static bool holds(const struct units *units, uint32_t outer, uint32_t inner)
{
    return outer <= inner && inner < units->elements[outer].end;
}

/* What a block is by its words. */
static uint8_t label_of(const struct units *units, const struct unit *unit)
{
    if (unit->letters < 2 || unit->letters >= LONGEST_LABEL - 12) {
        return LABEL_NONE;
    }
    char label[LONGEST_LABEL];
    size_t length = stats_label(units->stats, unit->host, label, sizeof label);
    return (uint8_t)words_match(&page_labels, label, length);
}

/* ---- the features of one unit ---- */

/* `row` is where the first feature of a unit stands. */
static void put(int16_t *row, enum feature feature, int64_t value)
{
    row[feature * LANES] = (int16_t)(value > INT16_MAX   ? INT16_MAX
                                     : value < INT16_MIN ? INT16_MIN
                                                         : value);
}

static void put_itself(const struct units *units, uint32_t number, int16_t *row)
{
    const struct unit *unit = &units->list[number];
    const struct element *host = &units->elements[unit->host];
    struct element_sums sums = sums_of(units, unit->host);
    put(row, FEATURE_LETTERS, unit->letters);
    put(row, FEATURE_LINK_SHARE, percent(unit->link_letters, unit->letters));
    put(row, FEATURE_LINKS, sums.links);
    put(row, FEATURE_COMMAS, unit->commas);
    put(row, FEATURE_STOPS, unit->stops);
    put(row, FEATURE_PROSE, unit->prose);
    put(row, FEATURE_BLOCKS, unit->blocks);
    put(row, FEATURE_TAG, unit->tag);
    put(row, FEATURE_HEADING, unit->heading);
    put(row, FEATURE_FLAGS,
        host->flags & (FLAG_IN_LINK | FLAG_IN_HEADING | FLAG_OPENS | FLAG_IN_CODE));
    put(row, FEATURE_IMAGES, sums.images);
    put(row, FEATURE_TIMES, sums.times);
    put(row, FEATURE_PRICES, sums.prices);
    put(row, FEATURE_LABEL, unit->label);
}

static void put_names(const struct units *units, uint32_t number, int16_t *row)
{
    uint32_t seen = 0;
    for (int i = FEATURE_NEAR_NAVIGATION; i <= FEATURE_IN_TEXT_PROPERTY; i++) {
        put(row, (enum feature)i, NOT_NEAR);
    }
    for (uint32_t at = units->list[number].host; at != 0; at = units->elements[at].parent) {
        uint32_t fresh = units->groups[at] & ~seen;
        seen |= fresh;
        while (fresh != 0) {
            int bit = __builtin_ctz(fresh);
            put(row, (enum feature)(FEATURE_NEAR_NAVIGATION + bit), share_in(units, at));
            fresh &= fresh - 1;
        }
    }
}

/* The next element around that holds more than `least` letters; `alike` gets the longest row of
 * likes on the way there. */
static uint32_t climb(const struct units *units, uint32_t from, uint32_t least, uint32_t *alike)
{
    uint32_t at = from;
    while (at != 0 && text_in(units, at) <= least) {
        uint32_t likes = units->alike[units->row[at]];
        *alike = likes > *alike ? likes : *alike;
        at = units->elements[at].parent;
    }
    return at;
}

static void put_around(const struct units *units, uint32_t number, int16_t *row)
{
    const struct unit *unit = &units->list[number];
    uint32_t alike = 0, parent_alike = 0, upper_alike = 0;
    uint32_t parent = climb(units, unit->host, unit->letters, &alike);
    struct element_sums inner = sums_of(units, parent);
    uint32_t upper = climb(units, parent, inner.text, &parent_alike);
    struct element_sums outer = sums_of(units, upper);
    uint32_t section = climb(units, parent, 3 * unit->letters + SECTION_MORE, &upper_alike);
    struct element_sums around = sums_of(units, section);
    put(row, FEATURE_DEPTH, units->elements[unit->host].depth);
    put(row, FEATURE_ALIKE, alike);
    put(row, FEATURE_PARENT_TEXT, inner.text);
    put(row, FEATURE_PARENT_SHARE, percent(inner.text, units->page.text));
    put(row, FEATURE_PARENT_LINK_SHARE, percent(inner.link_text, inner.text));
    put(row, FEATURE_PARENT_PROSE_SHARE, percent(inner.prose, inner.text));
    put(row, FEATURE_PARENT_ALIKE, parent_alike);
    put(row, FEATURE_UPPER_TEXT, outer.text);
    put(row, FEATURE_UPPER_SHARE, percent(outer.text, units->page.text));
    put(row, FEATURE_UPPER_LINK_SHARE, percent(outer.link_text, outer.text));
    put(row, FEATURE_UPPER_PROSE_SHARE, percent(outer.prose, outer.text));
    put(row, FEATURE_PARENT_SECTIONS, units->elements[parent].own.sections);
    put(row, FEATURE_SECTION_SHARE, percent(around.text, units->page.text));
    put(row, FEATURE_SECTION_LINK_SHARE, percent(around.link_text, around.text));
    put(row, FEATURE_SECTION_PROSE_SHARE, percent(around.prose, around.text));
    put(row, FEATURE_SECTION_HEADINGS, around.headings);
    put(row, FEATURE_SECTION_IMAGES, around.images);
}

/* How far up from one element the next is that holds another, too. */
static uint32_t levels_to(const struct units *units, uint32_t from, uint32_t other,
                          uint32_t *common)
{
    uint32_t levels = 0, at = from;
    while (at != 0 && !holds(units, at, other)) {
        at = units->elements[at].parent;
        levels++;
    }
    *common = at;
    return levels;
}

static void put_neighbour(int16_t *row, const struct unit *other, enum feature first)
{
    put(row, first, other ? other->letters : 0);
    put(row, (enum feature)(first + 1), other ? percent(other->link_letters, other->letters) : -1);
}

static void put_neighbours(const struct units *units, uint32_t number, int16_t *row)
{
    const struct unit *unit = &units->list[number];
    const struct unit *before = number > 0 ? unit - 1 : NULL;
    const struct unit *after = number + 1 < units->count ? unit + 1 : NULL;
    uint32_t common;
    put_neighbour(row, before, FEATURE_BEFORE_LETTERS);
    put(row, FEATURE_BEFORE_PROSE, before ? before->prose : 0);
    put(row, FEATURE_BEFORE_TAG, before ? before->tag : -1);
    put(row, FEATURE_BEFORE_LEVELS,
        before ? levels_to(units, unit->host, before->host, &common) : FAR);
    put_neighbour(row, number > 1 ? unit - 2 : NULL, FEATURE_BEFORE2_LETTERS);
    put_neighbour(row, after, FEATURE_AFTER_LETTERS);
    put(row, FEATURE_AFTER_PROSE, after ? after->prose : 0);
    put(row, FEATURE_AFTER_TAG, after ? after->tag : -1);
    put(row, FEATURE_AFTER_LEVELS,
        after ? levels_to(units, unit->host, after->host, &common) : FAR);
    put_neighbour(row, number + 2 < units->count ? unit + 2 : NULL, FEATURE_AFTER2_LETTERS);
}

/* Reasons of the rules, from those that hold least often. */
static int rank_of_omission(const struct unit *unit)
{
    static const uint8_t RANKS[] = {
        [OMIT_NONE] = 0,     [OMIT_OTHER] = 1,     [OMIT_DETAILS] = 2,  [OMIT_NAVIGATION] = 3,
        [OMIT_BANNER] = 4,   [OMIT_PROMOTION] = 5, [OMIT_CONTROLS] = 6, [OMIT_ADVERTISING] = 7,
        [OMIT_RELATED] = 8,  [OMIT_COMMENTS] = 9,  [OMIT_HIDDEN] = 10,  [OMIT_REPEATED] = 10,
        [OMIT_SIDEBAR] = 11, [OMIT_FOOTER] = 12,   [OMIT_HEADER] = 13,
    };
    return RANKS[unit->marked != 0 && unit->omission == OMIT_NONE ? OMIT_OTHER : unit->omission];
}

static void put_verdict(const struct units *units, uint32_t number, uint32_t root, int16_t *row)
{
    const struct unit *unit = &units->list[number];
    uint32_t common;
    struct element_sums sums = {0};
    if (unit->marked != 0) {
        sums = sums_of(units, unit->marked - 1);
    }
    put(row, FEATURE_OMISSION, rank_of_omission(unit));
    put(row, FEATURE_OMISSION_SHARE, percent(sums.text, units->page.text));
    put(row, FEATURE_DROPPED_BLOCKS,
        unit->marked == 0
            ? 0
            : units->first[units->elements[unit->marked - 1].end] - units->first[unit->marked - 1]);
    put(row, FEATURE_DROPPED_PROSE_SHARE, percent(sums.prose, sums.text));
    put(row, FEATURE_HEADS, units->elements[unit->host].flags & (FLAG_HEADS | FLAG_HEADS_SECTION));
    bool inside = holds(units, root, unit->host);
    put(row, FEATURE_ROOT_SIDE, inside ? 0 : unit->host < root ? -1 : 1);
    put(row, FEATURE_ROOT_LEVELS, levels_to(units, root, unit->host, &common));
    put(row, FEATURE_ROOT_SHARE, share_in(units, common));
    put(row, FEATURE_DENSEST_LEVELS, levels_to(units, units->densest, unit->host, &common));
    put(row, FEATURE_DENSEST_SHARE, share_in(units, common));
}

/* ---- what takes all units to know ---- */

static void put_places(const struct units *units)
{
    uint32_t since_prose = FAR, since_heading = FAR, text = 0, prose = 0;
    int heading = 0, label = 0, since_title = -FAR;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        if (unit->row != 0) {
            int16_t *row = unit_feature(units, i, (enum feature)0);
            put(row, FEATURE_TEXT_BEFORE, percent(text, units->page.text));
            put(row, FEATURE_PROSE_BEFORE, percent(prose, units->page.prose));
            put(row, FEATURE_SINCE_PROSE, since_prose);
            put(row, FEATURE_SINCE_HEADING, since_heading);
            put(row, FEATURE_HEADING_ABOVE, heading);
            put(row, FEATURE_LABEL_ABOVE, label);
            put(row, FEATURE_SINCE_TITLE, since_title);
        }
        text += unit->letters;
        prose += unit->prose;
        since_prose = unit->prose >= LONG_PROSE ? 0 : since_prose + (since_prose < FAR);
        since_heading += since_heading < FAR;
        since_title += since_title >= 0 && since_title < FAR;
        if (unit->tag == TAG_OF_HEADING) {
            since_heading = 0;
            heading = unit->heading;
            label = unit->label;
            since_title = unit->heading == 1 ? 0 : since_title;
        }
    }
    uint32_t until = FAR;
    for (uint32_t i = units->count; i-- > 0;) {
        if (units->list[i].row != 0) {
            *unit_feature(units, i, FEATURE_UNTIL_PROSE) = (int16_t)until;
        }
        until = units->list[i].prose >= LONG_PROSE ? 0 : until + (until < FAR);
    }
}

/* Units in elements of one shape, and how much they are together. Shapes that share a place are
 * taken for one. */
struct likes {
    uint32_t units, text, link_text;
};

static uint32_t like_place(const struct units *units, const struct unit *unit)
{
    const struct element *host = &units->elements[unit->host];
    uint32_t shape = host->shape * 31 + units->elements[host->parent].shape;
    return (shape ^ shape >> 16 ^ shape >> 9) % LIKE_PLACES;
}

static uint32_t repeat_place(const struct unit *unit)
{
    return (unit->flow_hash ^ unit->flow_hash >> 16) % REPEAT_PLACES;
}

static void put_likes(const struct units *units)
{
    struct likes likes[LIKE_PLACES] = {{0}};
    uint16_t repeats[REPEAT_PLACES] = {0};
    for (uint32_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->list[i];
        unit->like = (uint16_t)like_place(units, unit);
        struct likes *like = &likes[unit->like];
        like->units++;
        like->text += unit->letters;
        like->link_text += unit->link_letters;
        uint16_t *repeat = &repeats[repeat_place(unit)];
        *repeat = (uint16_t)(*repeat + (*repeat < UINT16_MAX));
    }
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        const struct likes *like = &likes[unit->like];
        if (unit->row != 0) {
            int16_t *row = unit_feature(units, i, (enum feature)0);
            put(row, FEATURE_LIKE_UNITS, like->units);
            put(row, FEATURE_LIKE_SHARE, percent(like->text, units->page.text));
            put(row, FEATURE_LIKE_LINK_SHARE, percent(like->link_text, like->text));
            put(row, FEATURE_REPEATS, repeats[repeat_place(unit)]);
        }
    }
}

static void put_page(const struct units *units, enum page_kind kind, int16_t *row)
{
    const struct element_sums *page = &units->page;
    put(row, FEATURE_PAGE_KIND, kind);
    put(row, FEATURE_PAGE_TEXT, page->text / 10);
    put(row, FEATURE_PAGE_PROSE_SHARE, percent(page->prose, page->text));
    put(row, FEATURE_PAGE_LINK_SHARE, percent(page->link_text, page->text));
    put(row, FEATURE_PAGE_CODE_SHARE, percent(units->code, page->text));
    put(row, FEATURE_PAGE_UNITS, units->count);
    put(row, FEATURE_PAGE_ARTICLES, units->articles);
    put(row, FEATURE_PAGE_TITLES, units->titles);
    put(row, FEATURE_PAGE_DENSEST_SHARE,
        percent(units->elements[units->densest].paragraph_prose, page->prose));
}

/* ---- all of it ---- */

int units_describe(struct units *units, uint32_t root, enum page_kind kind)
{
    size_t tiles = ((size_t)units->row_count + LANES - 1) / LANES;
    units->features = arena_zalloc(units->stats->page->arena,
                                   tiles * LANES * FEATURE_COUNT * sizeof *units->features);
    if (!units->features) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->list[i];
        if (unit->row != 0 || unit->tag == TAG_OF_HEADING) {
            unit->label = label_of(units, unit);
        }
        if (unit->row != 0) {
            int16_t *row = unit_feature(units, i, (enum feature)0);
            put_itself(units, i, row);
            put_names(units, i, row);
            put_around(units, i, row);
            put_neighbours(units, i, row);
            put_verdict(units, i, root, row);
            put_page(units, kind, row);
        }
    }
    put_places(units);
    put_likes(units);
    return OK;
}
