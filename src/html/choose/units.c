/* Listing a page's units, in a few passes over its elements. */
#include "html/choose/units.h"

#include "core/status.h"
#include "html/choose/features.h"

enum {
    SHORT_BLOCK = 150, /* letters: lists of no longer ones are decided as one */
    SHORT_CELL = 300,
};

/* ---- sums ---- */

static void sum_up(struct units *units)
{
    struct element_sums sums = {0};
    for (uint32_t i = 0; i < units->stats->count; i++) {
        const struct element *element = &units->elements[i];
        const struct measures *own = &element->own;
        units->until[i] = sums;
        sums.text += own->text;
        sums.link_text += own->link_text;
        sums.prose += own->prose;
        sums.links += own->links;
        sums.headings += own->headings;
        sums.images += own->images;
        sums.prices += own->prices;
        sums.times += own->times;
        sums.tables += element->tag == LXB_TAG_TABLE;
        sums.heads += element->tag == LXB_TAG_TH;
        sums.forms += element->tag == LXB_TAG_FORM;
        units->code += own->code;
        units->articles += element->tag == LXB_TAG_ARTICLE;
        units->titles += element->tag == LXB_TAG_H1;
    }
    units->until[units->stats->count] = units->page = sums;
}

/* ---- units ---- */

/* What is known of elements until their units are listed. */
struct unit_listing {
    struct units *units;
    uint32_t *longest;  /* the letters of the longest block in an element */
    uint32_t *gathered; /* the list or table that is decided as one, plus one */
    uint32_t *marked;   /* the element that the rules dropped with it, plus one */
};

/* Lists of short items, and tables that are not there for the layout, are content or not as a
 * whole. */
static bool is_gathered(const struct unit_listing *listing, uint32_t number)
{
    const struct units *units = listing->units;
    const struct element *element = &units->elements[number];
    bool list =
        element->tag == LXB_TAG_UL || element->tag == LXB_TAG_OL || element->tag == LXB_TAG_DL;
    if (!list && element->tag != LXB_TAG_TABLE) {
        return false;
    }
    struct element_sums sums = sums_of(units, number);
    if (sums.headings > 0 || sums.forms > 0) {
        return false;
    }
    if (list) {
        return listing->longest[number] < SHORT_BLOCK;
    }
    return sums.tables == 1 && (sums.heads > 0 || listing->longest[number] < SHORT_CELL);
}

/* What every element is told by those around it and by those in it. */
static void look_around(const struct unit_listing *listing)
{
    struct units *units = listing->units;
    const struct element *elements = units->elements;
    uint32_t count = units->stats->count;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t longest = listing->longest[i], parent = elements[i].parent;
        longest = longest > elements[i].flow ? longest : elements[i].flow;
        listing->longest[i] = longest;
        if (i > 0 && longest > listing->longest[parent]) {
            listing->longest[parent] = longest;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct element *element = &elements[i];
        bool dropped = (node_marks(element->node) & NODE_DROPPED) != 0;
        uint32_t marked = i > 0 ? listing->marked[element->parent] : 0;
        uint32_t gathered = i > 0 ? listing->gathered[element->parent] : 0;
        listing->marked[i] = marked != 0 ? marked : dropped ? i + 1 : 0;
        listing->gathered[i] = gathered != 0 ? gathered : is_gathered(listing, i) ? i + 1 : 0;
        if (element->paragraph_prose > elements[units->densest].paragraph_prose) {
            units->densest = i;
        }
    }
}

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

static void begin_unit(const struct units *units, struct unit *unit, uint32_t host)
{
    const struct element *element = &units->elements[host];
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
static void list_units(const struct unit_listing *listing)
{
    struct units *units = listing->units;
    uint32_t open = 0, parts[2] = {0, 0};
    for (uint32_t i = 0; i < units->stats->count; i++) {
        const struct element *element = &units->elements[i];
        if (element->block != i || element->flow == 0) {
            units->of[i] = units->of[element->block];
            continue;
        }
        uint32_t gathered = listing->gathered[i];
        uint32_t *part = &parts[listing->marked[i] != 0];
        if (gathered != open) {
            parts[0] = parts[1] = 0;
            open = gathered;
        }
        if (gathered == 0 || *part == 0) {
            *part = ++units->count;
            struct unit *unit = &units->list[*part - 1];
            begin_unit(units, unit, gathered == 0 ? i : gathered - 1);
            unit->marked = listing->marked[i];
            if (unit->marked != 0) {
                unit->omission = (uint8_t)node_omission(units->elements[unit->marked - 1].node);
            }
        }
        units->of[i] = *part;
        add_block(&units->list[*part - 1], element);
    }
    uint32_t before = 0;
    for (uint32_t i = 0; i <= units->stats->count; i++) {
        while (before < units->count && units->list[before].host < i) {
            before++;
        }
        units->first[i] = before;
    }
}

int units_collect(const struct stats *stats, struct units *units)
{
    *units = (struct units){.stats = stats, .elements = stats->elements};
    struct arena *arena = stats->page->arena;
    size_t count = (size_t)stats->count + 1;
    units->until = arena_alloc(arena, count * sizeof *units->until);
    units->list = arena_alloc(arena, count * sizeof *units->list);
    uint32_t *numbers = arena_zalloc(arena, 5 * count * sizeof *numbers);
    if (!units->until || !units->list || !numbers) {
        return ERR_NOMEM;
    }
    units->of = numbers;
    units->first = numbers + count;
    struct unit_listing listing = {.units = units,
                                   .longest = numbers + 2 * count,
                                   .gathered = numbers + 3 * count,
                                   .marked = numbers + 4 * count};
    sum_up(units);
    look_around(&listing);
    list_units(&listing);
    return OK;
}

/* ---- names ---- */

static uint32_t group_of_tag(const struct element *element)
{
    switch (element->tag) {
    case LXB_TAG_NAV:
        return unit_group(FEATURE_IN_NAV);
    case LXB_TAG_ASIDE:
        return unit_group(FEATURE_IN_ASIDE);
    case LXB_TAG_FOOTER:
        return unit_group(FEATURE_IN_FOOTER);
    case LXB_TAG_HEADER:
        return unit_group(FEATURE_IN_HEADER);
    case LXB_TAG_MAIN:
        return unit_group(FEATURE_IN_MAIN);
    case LXB_TAG_ARTICLE:
        return unit_group(FEATURE_IN_ARTICLE);
    case LXB_TAG_SECTION:
        return unit_group(FEATURE_IN_SECTION);
    case LXB_TAG_FORM:
    case LXB_TAG_FIELDSET:
    case LXB_TAG_LABEL:
    case LXB_TAG_BUTTON:
        return unit_group(FEATURE_IN_FORM);
    case LXB_TAG_UL:
    case LXB_TAG_OL:
    case LXB_TAG_DL:
        return unit_group(FEATURE_IN_LIST);
    case LXB_TAG_TABLE:
        return unit_group(FEATURE_IN_TABLE);
    case LXB_TAG_BLOCKQUOTE:
        return unit_group(FEATURE_IN_QUOTE);
    case LXB_TAG_FIGURE:
    case LXB_TAG_FIGCAPTION:
        return unit_group(FEATURE_IN_FIGURE);
    default:
        return 0;
    }
}

static uint32_t group_of_role(uint8_t role)
{
    switch (role) {
    case ROLE_NAVIGATION:
    case ROLE_MENU:
        return unit_group(FEATURE_IN_NAV);
    case ROLE_BANNER:
        return unit_group(FEATURE_IN_HEADER);
    case ROLE_FOOTER:
        return unit_group(FEATURE_IN_FOOTER);
    case ROLE_SIDE:
        return unit_group(FEATURE_IN_ASIDE);
    case ROLE_SEARCH:
    case ROLE_BUTTON:
        return unit_group(FEATURE_IN_FORM);
    case ROLE_DIALOG:
    case ROLE_ALERT:
        return unit_group(FEATURE_NEAR_BANNER);
    case ROLE_MAIN:
        return unit_group(FEATURE_IN_MAIN);
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
        groups |= (hints & GROUPS[i].hints) != 0 ? unit_group(GROUPS[i].feature) : 0;
    }
    return groups;
}

static uint32_t groups_of(const struct element *element)
{
    bool text = element_has(element, FLAG_BODY_PROPERTY);
    return groups_of_hints(element->hints) | group_of_tag(element) | group_of_role(element->role) |
           (text ? unit_group(FEATURE_IN_TEXT_PROPERTY) : 0);
}

/* ---- likes ---- */

/* Siblings of one shape in a row: the first of them counts. */
static void count_alike(struct units *units)
{
    const struct element *elements = units->elements;
    for (uint32_t i = 0; i < units->stats->count; i++) {
        uint32_t first = i + 1;
        for (uint32_t child = i + 1; child < elements[i].end; child = elements[child].end) {
            if (elements[child].shape != elements[first].shape) {
                first = child;
            }
            units->row[child] = first;
            units->alike[first]++;
        }
    }
}

int units_relate(struct units *units)
{
    size_t count = (size_t)units->stats->count + 1;
    uint32_t *numbers = arena_zalloc(units->stats->page->arena, 3 * count * sizeof *numbers);
    if (!numbers) {
        return ERR_NOMEM;
    }
    units->row = numbers;
    units->alike = numbers + count;
    units->groups = numbers + 2 * count;
    for (uint32_t i = 0; i < units->stats->count; i++) {
        units->groups[i] = groups_of(&units->elements[i]);
    }
    count_alike(units);
    return OK;
}

/* Whatever is further out holds more. */
bool unit_is_near(const struct units *units, uint32_t number, uint32_t groups, int below)
{
    uint32_t at = units->list[number].host;
    for (; at != 0 && share_in(units, at) < below; at = units->elements[at].parent) {
        if ((units->groups[at] & groups) != 0) {
            return true;
        }
    }
    return false;
}
