/* What the rules leave open is judged by the model, unit by unit; then by a few guards that hold
 * whatever was learned; then the tree is marked, since what is left out is left out as whole
 * elements. The model is asked only where its word may count. */
#include "html/choose/choose.h"

#include "core/status.h"
#include "html/choose/model.h"
#include "html/omitted.h"

enum {
    LEAST_KEPT = 80,        /* letters: the rules know better what to make of less */
    BARE_PERCENT = 95,      /* of its text is kept by the rules of a page without furniture, */
    BARE_LINK_PERCENT = 20, /* and no more of it leads elsewhere */
    LONGEST_CAPTION = 400,  /* of a picture in the midst of the text */
    LONGEST_DETAIL = 250,
    LEAST_PROSE_PERCENT = 25, /* of the rules' prose; a model that keeps less has gone astray */
    LONGEST_CODE_TITLE = 40,
    CODE_BOX_LEVELS = 4, /* of elements around code and its title, at most */
    SMALL_PERCENT = 60,  /* of the page */
    LEVELS = 7,          /* of headings, and one for those without a level */
    NEAR_UNITS = 4,      /* dates, names and captions between a picture and the text */
};

struct judging {
    struct stats *stats;
    struct units *units;
    bool *kept;        /* of each unit */
    bool *open;        /* whether the model decides on it */
    uint32_t *content; /* of each element, how many blocks of kept units are in it */
    uint32_t *text;    /* how many letters, kept or not, */
    uint32_t *images;  /* and how many pictures */
    uint32_t root;
    enum page_kind kind;
    uint32_t first, last; /* kept units */
};

/* ---- guards ---- */

static bool kept_by_rules(const struct judging *judging, const struct unit *unit)
{
    return unit->marked == 0 && unit->host >= judging->root &&
           unit->host < judging->stats->elements[judging->root].end;
}

/* What is added to a score where the rules keep a unit. On pages whose content is scattered the
 * model is less sure, and a scrap too much costs less there than a lost entry; who wrote a post,
 * and when, belongs to it. */
static const int16_t LEANINGS[] = {
    [PAGE_ARTICLE] = 0,      [PAGE_DOCUMENTATION] = 0, [PAGE_SERVICE] = 500, [PAGE_FORUM] = 2000,
    [PAGE_COLLECTION] = 500, [PAGE_LISTING] = 500,     [PAGE_PRODUCT] = 500,
};

static bool is_code(const struct judging *judging, uint32_t number)
{
    const struct unit *unit = &judging->units->list[number];
    return element_has(&judging->stats->elements[unit->host], FLAG_IN_CODE);
}

/* A few words over code, in one box with it: its language, or the name of its file. */
static bool is_code_title(const struct judging *judging, uint32_t number)
{
    const struct units *units = judging->units;
    uint32_t next = number + 1;
    while (next < units->count && units->list[next].marked != 0) {
        next++; /* a button that copies it */
    }
    if (units->list[number].letters > LONGEST_CODE_TITLE || next == units->count ||
        !is_code(judging, next)) {
        return false;
    }
    uint32_t box = units->list[number].host;
    for (int level = 0; level < CODE_BOX_LEVELS && box != 0; level++) {
        box = judging->stats->elements[box].parent;
        if (units->list[next].host < judging->stats->elements[box].end) {
            return judging->stats->elements[box].all.prose == 0;
        }
    }
    return false;
}

/* What is shown of a part that a click opens. */
static bool is_summary(const struct judging *judging, uint32_t number)
{
    const struct element *elements = judging->stats->elements;
    const struct element *host = &elements[judging->units->list[number].host];
    return host->tag == LXB_TAG_SUMMARY || elements[host->parent].tag == LXB_TAG_SUMMARY;
}

/* Of a manual nothing may be lost, of a product not its price, and of no text its code: there the
 * model only adds to what the rules keep. */
static bool is_guarded(const struct judging *judging, uint32_t number)
{
    return judging->kind == PAGE_DOCUMENTATION || is_code(judging, number) ||
           is_code_title(judging, number) || is_summary(judging, number) ||
           (judging->kind == PAGE_PRODUCT &&
            sums_of(judging->units, judging->units->list[number].host).prices > 0);
}

/* Whether a small part of the page around the unit is named as what is seldom content. */
static bool is_named(const struct judging *judging, uint32_t number)
{
    static const uint32_t SELDOM_CONTENT =
        (2u << (FEATURE_NEAR_DETAILS - FEATURE_NEAR_NAVIGATION)) - 1;
    return unit_is_near(judging->units, number, SELDOM_CONTENT, SMALL_PERCENT);
}

enum unit_verdict { DROPPED, KEPT, OPEN };

/* What is known of a unit without the model. What the rules dropped stays dropped, and what they
 * left outside of their frame comes in only where nothing but its place speaks against it. */
static enum unit_verdict verdict_of(const struct judging *judging, uint32_t number)
{
    const struct unit *unit = &judging->units->list[number];
    if (kept_by_rules(judging, unit)) {
        return is_guarded(judging, number) ? KEPT : OPEN;
    }
    return unit->marked == 0 && !is_named(judging, number) ? OPEN : DROPPED;
}

/* Gives rows of features to the units that are open. */
static void open_units(struct judging *judging)
{
    struct units *units = judging->units;
    for (uint32_t i = 0; i < units->count; i++) {
        enum unit_verdict verdict = verdict_of(judging, i);
        judging->kept[i] = verdict == KEPT;
        if (verdict == OPEN || judging->stats->page->learning) {
            units->list[i].row = ++units->row_count;
        }
        judging->open[i] = verdict == OPEN;
    }
}

/* What the model says of the units that are open. */
static void ask_model(struct judging *judging, const int32_t *scores)
{
    const struct units *units = judging->units;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        int leaning = kept_by_rules(judging, unit) ? LEANINGS[judging->kind] : 0;
        if (judging->open[i]) {
            judging->kept[i] = scores[unit->row - 1] + leaning > 0;
        }
    }
}

/* A heading stays where text under it does, and goes where all of that goes. */
static void guard_headings(struct judging *judging)
{
    const struct units *units = judging->units;
    bool kept_under[LEVELS] = {false}, some_under[LEVELS] = {false};
    for (uint32_t i = units->count; i-- > 0;) {
        const struct unit *unit = &units->list[i];
        if (unit->heading == 0) {
            for (int level = 1; level < LEVELS; level++) {
                kept_under[level] |= judging->kept[i];
                some_under[level] = true;
            }
            continue;
        }
        bool ours = kept_by_rules(judging, unit);
        if (kept_under[unit->heading] && ours) {
            judging->kept[i] = true;
        } else if (!kept_under[unit->heading] && some_under[unit->heading] && unit->heading > 1 &&
                   !(ours && is_guarded(judging, i))) {
            judging->kept[i] = false;
        }
        for (int level = unit->heading; level < LEVELS; level++) {
            kept_under[level] = some_under[level] = false;
        }
    }
}

/* ---- the tree ---- */

static bool is_kept(const struct judging *judging, uint32_t number)
{
    uint32_t unit = judging->units->of[number];
    return unit != 0 && judging->kept[unit - 1];
}

static void count_content(const struct judging *judging)
{
    const struct element *elements = judging->stats->elements;
    for (uint32_t i = judging->stats->count; i-- > 0;) {
        judging->content[i] += elements[i].block == i && is_kept(judging, i);
        judging->text[i] += elements[i].own.text;
        judging->images[i] += elements[i].own.images;
        if (i > 0) {
            judging->content[elements[i].parent] += judging->content[i];
            judging->text[elements[i].parent] += judging->text[i];
            judging->images[elements[i].parent] += judging->images[i];
        }
    }
}

/* Whether text is kept from a unit on, backwards or forwards, with no more than scraps before it.
 */
static bool is_text_near(const struct judging *judging, uint32_t from, int step)
{
    const struct units *units = judging->units;
    for (int looked = 0; looked < NEAR_UNITS && from < units->count; looked++) {
        if (judging->kept[from]) {
            return true;
        }
        if (units->list[from].letters > LONGEST_DETAIL) {
            return false;
        }
        from += (uint32_t)step; /* before the first one there is none: a number out of range */
    }
    return false;
}

/* A picture between kept texts stays, and only its caption goes. */
static bool frames_picture(const struct judging *judging, uint32_t number)
{
    const struct element *element = &judging->stats->elements[number];
    const struct units *units = judging->units;
    return judging->images[number] > 0 && judging->text[number] < LONGEST_CAPTION &&
           !element_has(element, FLAG_IN_LINK) && element->all.links < 2 &&
           is_text_near(judging, units->first[number] - 1, -1) &&
           is_text_near(judging, units->first[element->end], 1);
}

/* What an element is that the rules kept and the model does not. */
static enum omission name_omission(const struct judging *judging, uint32_t number)
{
    const struct element *element = &judging->stats->elements[number];
    uint32_t unit = judging->units->first[number];
    enum omission what = omission_of(element->tag, element->role, element->hints);
    if (what != OMIT_OTHER) {
        return what;
    }
    const struct measures *all = &element->all;
    if (link_percent(all) >= 50) {
        return all->images > 0 || all->headings > 0 ? OMIT_RELATED : OMIT_NAVIGATION;
    }
    if (all->images > 1 && all->links > 1) {
        return OMIT_RELATED;
    }
    if (unit < judging->first) {
        return OMIT_HEADER;
    }
    if (judging->text[number] < LONGEST_DETAIL) {
        return OMIT_DETAILS;
    }
    return unit > judging->last ? OMIT_FOOTER : OMIT_OTHER;
}

/* Inside of the content's frame, drops what holds text and none that is content. The rules' word
 * stands on formulas, on what holds no text, and inside of blocks. */
static void mark_elements(const struct judging *judging)
{
    struct stats *stats = judging->stats;
    for (uint32_t i = judging->root + 1; i < stats->elements[judging->root].end; i++) {
        const struct element *element = &stats->elements[i];
        if (stats->elements[element->parent].dropped) {
            stats->elements[i].dropped = true;
        }
        bool silent = judging->text[i] == 0 || is_kept(judging, element->block) ||
                      element->node->ns == LXB_NS_MATH;
        if (!element->dropped && judging->content[i] == 0 && !silent &&
            !frames_picture(judging, i)) {
            stats_drop(stats, i, name_omission(judging, i));
        }
    }
}

/* The tightest element around the content, and around the rules' root where that holds any. */
static uint32_t frame(const struct judging *judging)
{
    const struct element *elements = judging->stats->elements;
    uint32_t at = judging->root;
    if (judging->content[at] == 0) {
        at = judging->units->list[judging->first].host;
    }
    while (judging->content[at] < judging->content[0]) {
        at = elements[at].parent;
    }
    return at;
}

/* Of a page without furniture the rules keep nearly all, and little of it leads elsewhere. */
static bool is_bare(const struct judging *judging)
{
    const struct units *units = judging->units;
    uint64_t all = 0, by_rules = 0;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        all += unit->letters;
        by_rules += kept_by_rules(judging, unit) ? unit->letters : 0;
    }
    return by_rules * 100 >= all * BARE_PERCENT &&
           link_percent(&judging->stats->elements[0].all) < BARE_LINK_PERCENT;
}

/* Whether what is kept so far is enough to go by. */
static bool is_enough(const struct judging *judging)
{
    const struct units *units = judging->units;
    uint64_t letters = 0, prose = 0, prose_by_rules = 0;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->list[i];
        letters += judging->kept[i] ? unit->letters : 0;
        prose += judging->kept[i] ? unit->prose : 0;
        prose_by_rules += kept_by_rules(judging, unit) ? unit->prose : 0;
    }
    return letters >= LEAST_KEPT && prose * 100 >= prose_by_rules * LEAST_PROSE_PERCENT;
}

/* Whether any unit is kept, and which are the first and the last. */
static bool find_ends(struct judging *judging)
{
    bool some = false;
    for (uint32_t i = 0; i < judging->units->count; i++) {
        if (judging->kept[i]) {
            judging->first = some ? judging->first : i;
            judging->last = i;
            some = true;
        }
    }
    return some;
}

/* Sets `kept` of each unit; whether to go by it is in `heeded`. */
static int decide(struct judging *judging, const struct chooser_model *model, bool *heeded)
{
    struct units *units = judging->units;
    struct arena *arena = judging->stats->page->arena;
    judging->kept = arena_zalloc(arena, 2 * ((size_t)units->count + 1));
    int status = judging->kept ? units_relate(units) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    judging->open = judging->kept + units->count + 1;
    open_units(judging);
    status = units_describe(units, judging->root, judging->kind);
    int32_t *scores = arena_alloc(arena, (model_room(units) + 1) * sizeof *scores);
    if (status != OK || !scores) {
        return ERR_NOMEM;
    }
    model_score(model, units, scores);
    ask_model(judging, scores);
    *heeded = *heeded && is_enough(judging);
    guard_headings(judging);
    *heeded = find_ends(judging) && *heeded;
    return OK;
}

/* The model knows pages that have both content and furniture. Of manuals nothing may be lost, and
 * their makers name their parts: those are the rules' alone. */
int judge_units(struct stats *stats, enum page_kind kind, uint32_t *root)
{
    struct page *page = stats->page;
    const struct chooser_model *model = page->model ? page->model : &page_model;
    bool heeded = model->count > 0 && kind != PAGE_DOCUMENTATION;
    if (!heeded && !page->learning) {
        return OK;
    }
    struct units *units = arena_alloc(page->arena, sizeof *units);
    struct judging judging = {.stats = stats, .units = units, .root = *root, .kind = kind};
    int status = units ? units_collect(stats, units) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    page->units = units;
    heeded = heeded && !is_bare(&judging);
    if (heeded || page->learning) {
        status = decide(&judging, model, &heeded);
    }
    if (status != OK || !heeded) {
        return status;
    }
    uint32_t *numbers = arena_zalloc(page->arena, 3 * (size_t)stats->count * sizeof *numbers);
    if (!numbers) {
        return ERR_NOMEM;
    }
    judging.content = numbers;
    judging.text = numbers + stats->count;
    judging.images = judging.text + stats->count;
    count_content(&judging);
    *root = judging.root = frame(&judging);
    mark_elements(&judging);
    stats_sum(stats);
    return OK;
}
