/* The features of a page's units, in a few passes over its elements. What is below an element is a
 * range of them, so sums from the page's beginning tell in one step what any part holds. */
#include "page/html/choose/features.h"

#include "core/status.h"
#include "tables.h"

#include <string.h>

enum {
    SHORT_BLOCK = 150, /* letters: lists of no longer ones are decided as one */
    SHORT_CELL = 300,
    LONG_PROSE = 120,
    SECTION_MORE = 200, /* letters that a section holds beside a unit of it */
    LIKE_PLACES = 512,
    REPEAT_PLACES = 1024,
    FAR = 99,
};

/* ---- what an element holds, dropped or not ---- */

struct sums {
    uint32_t text, link_text, prose, code, links, headings, images, prices, times;
    uint32_t articles, titles, tables, heads, forms;
};

struct reading {
    const struct stats *stats;
    const struct element *elements;
    struct units *units;
    struct sums *until; /* of all elements before one, and of all at the end */
    uint32_t *longest;  /* the letters of the longest block in an element */
    uint32_t *gathered; /* the list or table that is decided as one, plus one */
    uint32_t *row;      /* the first of its siblings of one shape in a row, */
    uint32_t *alike;    /* and how many they are */
    uint32_t *marked;   /* the element that the rules dropped with it, plus one */
    uint32_t *groups;   /* the names that it has, a bit for each feature from NEAR_NAVIGATION */
    struct sums page;
    uint32_t root, densest;
    enum page_kind kind;
};

static struct sums sums_of(const struct reading *reading, uint32_t number)
{
    const struct sums *from = &reading->until[number];
    const struct sums *to = &reading->until[reading->elements[number].end];
    return (struct sums){
        .text = to->text - from->text,
        .link_text = to->link_text - from->link_text,
        .prose = to->prose - from->prose,
        .code = to->code - from->code,
        .links = to->links - from->links,
        .headings = to->headings - from->headings,
        .images = to->images - from->images,
        .prices = to->prices - from->prices,
        .times = to->times - from->times,
        .articles = to->articles - from->articles,
        .titles = to->titles - from->titles,
        .tables = to->tables - from->tables,
        .heads = to->heads - from->heads,
        .forms = to->forms - from->forms,
    };
}

static uint32_t text_of(const struct reading *reading, uint32_t number)
{
    return reading->until[reading->elements[number].end].text - reading->until[number].text;
}

static int percent(uint32_t part, uint32_t whole)
{
    return whole == 0 ? 0 : (int)((uint64_t)part * 100 / whole);
}

static int share_of(const struct reading *reading, uint32_t number)
{
    return percent(text_of(reading, number), reading->page.text);
}

static bool holds(const struct reading *reading, uint32_t outer, uint32_t inner)
{
    return outer <= inner && inner < reading->elements[outer].end;
}

static void sum_up(struct reading *reading)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < reading->stats->count; i++) {
        const struct element *element = &reading->elements[i];
        const struct measures *own = &element->own;
        reading->until[i] = sums;
        sums.text += own->text;
        sums.link_text += own->link_text;
        sums.prose += own->prose;
        sums.code += own->code;
        sums.links += own->links;
        sums.headings += own->headings;
        sums.images += own->images;
        sums.prices += own->prices;
        sums.times += own->times;
        sums.articles += element->tag == LXB_TAG_ARTICLE;
        sums.titles += element->tag == LXB_TAG_H1;
        sums.tables += element->tag == LXB_TAG_TABLE;
        sums.heads += element->tag == LXB_TAG_TH;
        sums.forms += element->tag == LXB_TAG_FORM;
    }
    reading->until[reading->stats->count] = reading->page = sums;
}

/* ---- names ---- */

static uint32_t group(enum feature feature)
{
    return 1u << (feature - FEATURE_NEAR_NAVIGATION);
}

static uint32_t group_of_tag(const struct element *element)
{
    switch (element->tag) {
    case LXB_TAG_NAV:
        return group(FEATURE_IN_NAV);
    case LXB_TAG_ASIDE:
        return group(FEATURE_IN_ASIDE);
    case LXB_TAG_FOOTER:
        return group(FEATURE_IN_FOOTER);
    case LXB_TAG_HEADER:
        return group(FEATURE_IN_HEADER);
    case LXB_TAG_MAIN:
        return group(FEATURE_IN_MAIN);
    case LXB_TAG_ARTICLE:
        return group(FEATURE_IN_ARTICLE);
    case LXB_TAG_SECTION:
        return group(FEATURE_IN_SECTION);
    case LXB_TAG_FORM:
    case LXB_TAG_FIELDSET:
    case LXB_TAG_LABEL:
    case LXB_TAG_BUTTON:
        return group(FEATURE_IN_FORM);
    case LXB_TAG_UL:
    case LXB_TAG_OL:
    case LXB_TAG_DL:
        return group(FEATURE_IN_LIST);
    case LXB_TAG_TABLE:
        return group(FEATURE_IN_TABLE);
    case LXB_TAG_BLOCKQUOTE:
        return group(FEATURE_IN_QUOTE);
    case LXB_TAG_FIGURE:
    case LXB_TAG_FIGCAPTION:
        return group(FEATURE_IN_FIGURE);
    default:
        return 0;
    }
}

static uint32_t group_of_role(uint8_t role)
{
    switch (role) {
    case ROLE_NAVIGATION:
    case ROLE_MENU:
        return group(FEATURE_IN_NAV);
    case ROLE_BANNER:
        return group(FEATURE_IN_HEADER);
    case ROLE_FOOTER:
        return group(FEATURE_IN_FOOTER);
    case ROLE_SIDE:
        return group(FEATURE_IN_ASIDE);
    case ROLE_SEARCH:
    case ROLE_BUTTON:
        return group(FEATURE_IN_FORM);
    case ROLE_DIALOG:
    case ROLE_ALERT:
        return group(FEATURE_NEAR_BANNER);
    case ROLE_MAIN:
        return group(FEATURE_IN_MAIN);
    default:
        return 0;
    }
}

static uint32_t groups_of_hints(uint32_t hints)
{
    static const struct {
        uint32_t hints;
        enum feature feature;
    } GROUPS[] = {
        {HINT_NAVIGATION | HINT_PAGER | HINT_BREADCRUMB, FEATURE_NEAR_NAVIGATION},
        {HINT_FOOTER, FEATURE_NEAR_FOOTER},
        {HINT_HEADER, FEATURE_NEAR_HEADER},
        {HINT_SIDEBAR, FEATURE_NEAR_SIDEBAR},
        {HINT_RELATED, FEATURE_NEAR_RELATED},
        {HINT_SHARE | HINT_ADVERT | HINT_NEWSLETTER | HINT_ACTION, FEATURE_NEAR_PROMOTION},
        {HINT_COOKIE | HINT_POPUP, FEATURE_NEAR_BANNER},
        {HINT_COMMENT, FEATURE_NEAR_COMMENT},
        {HINT_REVIEW, FEATURE_NEAR_REVIEW},
        {HINT_BYLINE | HINT_BIOGRAPHY | HINT_TAGS | HINT_SIGNATURE | HINT_POSTER,
         FEATURE_NEAR_DETAILS},
        {HINT_POST, FEATURE_NEAR_POST},
        {HINT_FILTER | HINT_ACCOUNT | HINT_SEARCH, FEATURE_NEAR_CONTROLS},
        {HINT_CAPTION, FEATURE_NEAR_CAPTION},
        {HINT_PANEL, FEATURE_NEAR_PANEL},
        {HINT_UNSEEN, FEATURE_NEAR_UNSEEN},
    };
    uint32_t groups = 0;
    for (size_t i = 0; hints != 0 && i < sizeof GROUPS / sizeof *GROUPS; i++) {
        groups |= (hints & GROUPS[i].hints) != 0 ? group(GROUPS[i].feature) : 0;
    }
    return groups;
}

/* ---- units ---- */

/* Lists of short items, and tables that are not there for the layout, are content or not as a
 * whole. */
static bool is_gathered(const struct reading *reading, uint32_t number)
{
    const struct element *element = &reading->elements[number];
    bool list =
        element->tag == LXB_TAG_UL || element->tag == LXB_TAG_OL || element->tag == LXB_TAG_DL;
    if (!list && element->tag != LXB_TAG_TABLE) {
        return false;
    }
    struct sums sums = sums_of(reading, number);
    if (sums.headings > 0 || sums.forms > 0) {
        return false;
    }
    if (list) {
        return reading->longest[number] < SHORT_BLOCK;
    }
    return sums.tables == 1 && (sums.heads > 0 || reading->longest[number] < SHORT_CELL);
}

/* What every element is told by those around it and by those in it. */
static void look_around(struct reading *reading)
{
    const struct element *elements = reading->elements;
    uint32_t count = reading->stats->count;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t longest = reading->longest[i], parent = elements[i].parent;
        longest = longest > elements[i].flow ? longest : elements[i].flow;
        reading->longest[i] = longest;
        if (i > 0 && longest > reading->longest[parent]) {
            reading->longest[parent] = longest;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct element *element = &elements[i];
        bool dropped = (node_marks(element->node) & NODE_DROPPED) != 0;
        reading->marked[i] = i > 0 && reading->marked[element->parent] != 0
                                 ? reading->marked[element->parent]
                             : dropped ? i + 1
                                       : 0;
        reading->gathered[i] = i > 0 && reading->gathered[element->parent] != 0
                                   ? reading->gathered[element->parent]
                               : is_gathered(reading, i) ? i + 1
                                                         : 0;
        reading->groups[i] =
            groups_of_hints(element->hints) | group_of_tag(element) | group_of_role(element->role) |
            (element_has(element, FLAG_BODY_PROPERTY) ? group(FEATURE_IN_TEXT_PROPERTY) : 0);
        if (element->paragraph_prose > elements[reading->densest].paragraph_prose) {
            reading->densest = i;
        }
    }
}

/* Siblings of one shape in a row: the first of them counts. */
static void count_alike(struct reading *reading)
{
    const struct element *elements = reading->elements;
    for (uint32_t i = 0; i < reading->stats->count; i++) {
        uint32_t first = i + 1;
        for (uint32_t child = i + 1; child < elements[i].end; child = elements[child].end) {
            if (elements[child].shape != elements[first].shape) {
                first = child;
            }
            reading->row[child] = first;
            reading->alike[first]++;
        }
    }
}

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

static uint8_t tag_of(const struct element *element)
{
    switch (element->tag) {
    case LXB_TAG_BUTTON:
    case LXB_TAG_SUMMARY:
    case LXB_TAG_FIELDSET:
        return TAG_OF_CONTROL;
    case LXB_TAG_FIGCAPTION:
    case LXB_TAG_CAPTION:
    case LXB_TAG_ADDRESS:
        return TAG_OF_CAPTION;
    case LXB_TAG_TD:
    case LXB_TAG_TH:
        return TAG_OF_CELL;
    case LXB_TAG_LI:
    case LXB_TAG_DT:
    case LXB_TAG_DD:
        return TAG_OF_ITEM;
    case LXB_TAG_UL:
    case LXB_TAG_OL:
    case LXB_TAG_DL:
        return TAG_OF_LIST;
    case LXB_TAG_TABLE:
        return TAG_OF_TABLE;
    case LXB_TAG_BLOCKQUOTE:
        return TAG_OF_QUOTE;
    case LXB_TAG_P:
        return TAG_OF_PARAGRAPH;
    case LXB_TAG_PRE:
        return TAG_OF_CODE;
    default:
        return element_has(element, FLAG_IN_HEADING) ? TAG_OF_HEADING
               : element_has(element, FLAG_IN_CODE)  ? TAG_OF_CODE
                                                     : TAG_OF_NOTHING;
    }
}

static uint8_t label_of(const struct reading *reading, const struct unit *unit)
{
    if (unit->letters < 2 || unit->letters >= LONGEST_LABEL - 12) {
        return LABEL_NONE;
    }
    char label[LONGEST_LABEL];
    size_t length = stats_label(reading->stats, unit->host, label, sizeof label);
    return (uint8_t)words_match(&page_labels, label, length);
}

static void begin_unit(const struct reading *reading, struct unit *unit, uint32_t host)
{
    const struct element *element = &reading->elements[host];
    *unit = (struct unit){.host = host, .tag = tag_of(element), .flow_hash = 2166136261u};
    if (element->tag >= LXB_TAG_H1 && element->tag <= LXB_TAG_H6) {
        unit->heading = (uint8_t)(element->tag - LXB_TAG_H1 + 1);
    }
}

static void add_block(struct unit *unit, const struct element *block)
{
    unit->letters += block->flow;
    unit->link_letters += block->link_flow;
    unit->commas += block->commas;
    unit->stops += block->stops;
    unit->prose += block->own.prose;
    unit->flow_hash = (unit->flow_hash ^ block->flow_hash) * 16777619u;
    unit->blocks++;
}

/* The rules may have dropped a part of a list: that is a unit of its own. */
static void list_units(struct reading *reading)
{
    struct units *units = reading->units;
    uint32_t open = 0, parts[2] = {0, 0};
    for (uint32_t i = 0; i < reading->stats->count; i++) {
        const struct element *element = &reading->elements[i];
        if (element->block != i || element->flow == 0) {
            units->of[i] = units->of[element->block];
            continue;
        }
        uint32_t gathered = reading->gathered[i];
        uint32_t *part = &parts[reading->marked[i] != 0];
        if (gathered != open) {
            parts[0] = parts[1] = 0;
            open = gathered;
        }
        if (gathered == 0 || *part == 0) {
            *part = ++units->count;
            struct unit *unit = &units->list[*part - 1];
            begin_unit(reading, unit, gathered == 0 ? i : gathered - 1);
            unit->marked = reading->marked[i];
            if (unit->marked != 0) {
                unit->omission = (uint8_t)node_omission(reading->elements[unit->marked - 1].node);
            }
        }
        units->of[i] = *part;
        add_block(&units->list[*part - 1], element);
    }
    uint32_t before = 0;
    for (uint32_t i = 0; i <= reading->stats->count; i++) {
        while (before < units->count && units->list[before].host < i) {
            before++;
        }
        units->first[i] = before;
    }
    for (uint32_t i = 0; i < units->count; i++) {
        units->list[i].label = label_of(reading, &units->list[i]);
    }
}

/* ---- the features of one unit ---- */

static void put(const struct units *units, uint32_t unit, enum feature feature, int64_t value)
{
    *unit_feature(units, unit, feature) = (int16_t)(value > INT16_MAX   ? INT16_MAX
                                                    : value < INT16_MIN ? INT16_MIN
                                                                        : value);
}

static void put_itself(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    const struct unit *unit = &units->list[number];
    const struct element *host = &reading->elements[unit->host];
    struct sums sums = sums_of(reading, unit->host);
    put(units, number, FEATURE_LETTERS, unit->letters);
    put(units, number, FEATURE_LINK_SHARE, percent(unit->link_letters, unit->letters));
    put(units, number, FEATURE_LINKS, sums.links);
    put(units, number, FEATURE_COMMAS, unit->commas);
    put(units, number, FEATURE_STOPS, unit->stops);
    put(units, number, FEATURE_PROSE, unit->prose);
    put(units, number, FEATURE_BLOCKS, unit->blocks);
    put(units, number, FEATURE_TAG, unit->tag);
    put(units, number, FEATURE_HEADING, unit->heading);
    put(units, number, FEATURE_FLAGS,
        host->flags & (FLAG_IN_LINK | FLAG_IN_HEADING | FLAG_OPENS | FLAG_IN_CODE));
    put(units, number, FEATURE_IMAGES, sums.images);
    put(units, number, FEATURE_TIMES, sums.times);
    put(units, number, FEATURE_PRICES, sums.prices);
    put(units, number, FEATURE_LABEL, unit->label);
}

static void put_names(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    uint32_t seen = 0;
    for (int i = FEATURE_NEAR_NAVIGATION; i <= FEATURE_IN_TEXT_PROPERTY; i++) {
        put(units, number, (enum feature)i, NOT_NEAR);
    }
    for (uint32_t at = units->list[number].host; at != 0; at = reading->elements[at].parent) {
        uint32_t fresh = reading->groups[at] & ~seen;
        seen |= fresh;
        while (fresh != 0) {
            int bit = __builtin_ctz(fresh);
            put(units, number, (enum feature)(FEATURE_NEAR_NAVIGATION + bit),
                share_of(reading, at));
            fresh &= fresh - 1;
        }
    }
}

/* The next element around that holds more than `least` letters; `alike` gets the longest row of
 * likes on the way there. */
static uint32_t climb(const struct reading *reading, uint32_t from, uint32_t least, uint32_t *alike)
{
    uint32_t at = from;
    while (at != 0 && text_of(reading, at) <= least) {
        uint32_t likes = reading->alike[reading->row[at]];
        *alike = likes > *alike ? likes : *alike;
        at = reading->elements[at].parent;
    }
    return at;
}

static void put_around(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    const struct unit *unit = &units->list[number];
    uint32_t alike = 0, parent_alike = 0, upper_alike = 0;
    uint32_t parent = climb(reading, unit->host, unit->letters, &alike);
    struct sums inner = sums_of(reading, parent);
    uint32_t upper = climb(reading, parent, inner.text, &parent_alike);
    struct sums outer = sums_of(reading, upper);
    uint32_t section = climb(reading, parent, 3 * unit->letters + SECTION_MORE, &upper_alike);
    struct sums around = sums_of(reading, section);
    put(units, number, FEATURE_DEPTH, reading->elements[unit->host].depth);
    put(units, number, FEATURE_ALIKE, alike);
    put(units, number, FEATURE_PARENT_TEXT, inner.text);
    put(units, number, FEATURE_PARENT_SHARE, percent(inner.text, reading->page.text));
    put(units, number, FEATURE_PARENT_LINK_SHARE, percent(inner.link_text, inner.text));
    put(units, number, FEATURE_PARENT_PROSE_SHARE, percent(inner.prose, inner.text));
    put(units, number, FEATURE_PARENT_ALIKE, parent_alike);
    put(units, number, FEATURE_UPPER_TEXT, outer.text);
    put(units, number, FEATURE_UPPER_SHARE, percent(outer.text, reading->page.text));
    put(units, number, FEATURE_UPPER_LINK_SHARE, percent(outer.link_text, outer.text));
    put(units, number, FEATURE_UPPER_PROSE_SHARE, percent(outer.prose, outer.text));
    put(units, number, FEATURE_PARENT_SECTIONS, reading->elements[parent].own.sections);
    put(units, number, FEATURE_SECTION_SHARE, percent(around.text, reading->page.text));
    put(units, number, FEATURE_SECTION_LINK_SHARE, percent(around.link_text, around.text));
    put(units, number, FEATURE_SECTION_PROSE_SHARE, percent(around.prose, around.text));
    put(units, number, FEATURE_SECTION_HEADINGS, around.headings);
    put(units, number, FEATURE_SECTION_IMAGES, around.images);
}

/* How far up from one element the next is that holds another, too. */
static uint32_t levels_to(const struct reading *reading, uint32_t from, uint32_t other,
                          uint32_t *common)
{
    uint32_t levels = 0, at = from;
    while (at != 0 && !holds(reading, at, other)) {
        at = reading->elements[at].parent;
        levels++;
    }
    *common = at;
    return levels;
}

static void put_neighbour(const struct reading *reading, uint32_t number, const struct unit *other,
                          enum feature first)
{
    const struct units *units = reading->units;
    put(units, number, first, other ? other->letters : 0);
    put(units, number, (enum feature)(first + 1),
        other ? percent(other->link_letters, other->letters) : -1);
}

static void put_neighbours(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    const struct unit *unit = &units->list[number];
    const struct unit *before = number > 0 ? unit - 1 : NULL;
    const struct unit *after = number + 1 < units->count ? unit + 1 : NULL;
    uint32_t common;
    put_neighbour(reading, number, before, FEATURE_BEFORE_LETTERS);
    put(units, number, FEATURE_BEFORE_PROSE, before ? before->prose : 0);
    put(units, number, FEATURE_BEFORE_TAG, before ? before->tag : -1);
    put(units, number, FEATURE_BEFORE_LEVELS,
        before ? levels_to(reading, unit->host, before->host, &common) : FAR);
    put_neighbour(reading, number, number > 1 ? unit - 2 : NULL, FEATURE_BEFORE2_LETTERS);
    put_neighbour(reading, number, after, FEATURE_AFTER_LETTERS);
    put(units, number, FEATURE_AFTER_PROSE, after ? after->prose : 0);
    put(units, number, FEATURE_AFTER_TAG, after ? after->tag : -1);
    put(units, number, FEATURE_AFTER_LEVELS,
        after ? levels_to(reading, unit->host, after->host, &common) : FAR);
    put_neighbour(reading, number, number + 2 < units->count ? unit + 2 : NULL,
                  FEATURE_AFTER2_LETTERS);
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

static void put_verdict(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    const struct unit *unit = &units->list[number];
    uint32_t common;
    struct sums sums = {0};
    if (unit->marked != 0) {
        sums = sums_of(reading, unit->marked - 1);
    }
    put(units, number, FEATURE_OMISSION, rank_of_omission(unit));
    put(units, number, FEATURE_OMISSION_SHARE, percent(sums.text, reading->page.text));
    put(units, number, FEATURE_DROPPED_BLOCKS,
        unit->marked == 0 ? 0
                          : units->first[reading->elements[unit->marked - 1].end] -
                                units->first[unit->marked - 1]);
    put(units, number, FEATURE_DROPPED_PROSE_SHARE, percent(sums.prose, sums.text));
    put(units, number, FEATURE_HEADS,
        reading->elements[unit->host].flags & (FLAG_HEADS | FLAG_HEADS_SECTION));
    bool inside = holds(reading, reading->root, unit->host);
    put(units, number, FEATURE_ROOT_SIDE, inside ? 0 : unit->host < reading->root ? -1 : 1);
    put(units, number, FEATURE_ROOT_LEVELS, levels_to(reading, reading->root, unit->host, &common));
    put(units, number, FEATURE_ROOT_SHARE, share_of(reading, common));
    put(units, number, FEATURE_DENSEST_LEVELS,
        levels_to(reading, reading->densest, unit->host, &common));
    put(units, number, FEATURE_DENSEST_SHARE, share_of(reading, common));
}

/* ---- what takes all units to know ---- */

static void put_places(const struct reading *reading)
{
    const struct units *units = reading->units;
    uint32_t since_prose = FAR, since_heading = FAR, text = 0, prose = 0;
    int heading = 0, label = 0, since_title = -FAR;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        put(units, i, FEATURE_TEXT_BEFORE, percent(text, reading->page.text));
        put(units, i, FEATURE_PROSE_BEFORE, percent(prose, reading->page.prose));
        put(units, i, FEATURE_SINCE_PROSE, since_prose);
        put(units, i, FEATURE_SINCE_HEADING, since_heading);
        put(units, i, FEATURE_HEADING_ABOVE, heading);
        put(units, i, FEATURE_LABEL_ABOVE, label);
        put(units, i, FEATURE_SINCE_TITLE, since_title);
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
        put(units, i, FEATURE_UNTIL_PROSE, until);
        until = units->list[i].prose >= LONG_PROSE ? 0 : until + (until < FAR);
    }
}

/* Units in elements of one shape, and how much they are together. Shapes that share a place are
 * taken for one. */
struct likes {
    uint32_t units, text, link_text;
};

static uint32_t like_place(const struct reading *reading, const struct unit *unit)
{
    const struct element *host = &reading->elements[unit->host];
    uint32_t shape = host->shape * 31 + reading->elements[host->parent].shape;
    return (shape ^ shape >> 16 ^ shape >> 9) % LIKE_PLACES;
}

static uint32_t repeat_place(const struct unit *unit)
{
    return (unit->flow_hash ^ unit->flow_hash >> 16) % REPEAT_PLACES;
}

static void put_likes(const struct reading *reading)
{
    const struct units *units = reading->units;
    struct likes likes[LIKE_PLACES] = {{0}};
    uint16_t repeats[REPEAT_PLACES] = {0};
    for (uint32_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->list[i];
        unit->like = (uint16_t)like_place(reading, unit);
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
        put(units, i, FEATURE_LIKE_UNITS, like->units);
        put(units, i, FEATURE_LIKE_SHARE, percent(like->text, reading->page.text));
        put(units, i, FEATURE_LIKE_LINK_SHARE, percent(like->link_text, like->text));
        put(units, i, FEATURE_REPEATS, repeats[repeat_place(unit)]);
    }
}

static void put_page(const struct reading *reading, uint32_t number)
{
    const struct units *units = reading->units;
    const struct sums *page = &reading->page;
    put(units, number, FEATURE_PAGE_KIND, reading->kind);
    put(units, number, FEATURE_PAGE_TEXT, page->text / 10);
    put(units, number, FEATURE_PAGE_PROSE_SHARE, percent(page->prose, page->text));
    put(units, number, FEATURE_PAGE_LINK_SHARE, percent(page->link_text, page->text));
    put(units, number, FEATURE_PAGE_CODE_SHARE, percent(page->code, page->text));
    put(units, number, FEATURE_PAGE_UNITS, units->count);
    put(units, number, FEATURE_PAGE_ARTICLES, page->articles);
    put(units, number, FEATURE_PAGE_TITLES, page->titles);
    put(units, number, FEATURE_PAGE_DENSEST_SHARE,
        percent(reading->elements[reading->densest].paragraph_prose, page->prose));
}

/* ---- all of it ---- */

static bool make_room(struct reading *reading)
{
    struct arena *arena = reading->stats->page->arena;
    struct units *units = reading->units;
    size_t count = reading->stats->count;
    reading->until = arena_alloc(arena, (count + 1) * sizeof *reading->until);
    uint32_t *numbers = arena_zalloc(arena, 8 * (count + 1) * sizeof *numbers);
    units->list = arena_alloc(arena, count * sizeof *units->list);
    if (!reading->until || !numbers || !units->list) {
        return false;
    }
    uint32_t **const arrays[] = {&reading->longest, &reading->gathered, &reading->row,
                                 &reading->alike,   &reading->marked,   &reading->groups,
                                 &units->of,        &units->first};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = numbers + i * (count + 1);
    }
    return true;
}

int units_collect(const struct stats *stats, uint32_t root, enum page_kind kind,
                  struct units *units)
{
    struct reading reading = {
        .stats = stats, .elements = stats->elements, .units = units, .root = root, .kind = kind};
    *units = (struct units){0};
    if (!make_room(&reading)) {
        return ERR_NOMEM;
    }
    sum_up(&reading);
    look_around(&reading);
    count_alike(&reading);
    list_units(&reading);
    size_t tiles = (units->count + LANES - 1) / LANES;
    units->features =
        arena_zalloc(stats->page->arena, tiles * LANES * FEATURE_COUNT * sizeof *units->features);
    if (!units->features) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < units->count; i++) {
        put_itself(&reading, i);
        put_names(&reading, i);
        put_around(&reading, i);
        put_neighbours(&reading, i);
        put_verdict(&reading, i);
        put_page(&reading, i);
    }
    put_places(&reading);
    put_likes(&reading);
    return OK;
}
