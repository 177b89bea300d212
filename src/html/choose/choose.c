/* Choosing a page's content: measure, decide the kind of page, find the content, clean it; looser
 * when little is left. So far by rules; then the model has the last word. */
#include "html/choose/choose.h"

#include "core/status.h"
#include "html/hidden.h"

/* ---- how each kind of page is read ---- */

/* Never content, whatever the page. */
#define HINTS_ALWAYS                                                                               \
    (HINT_NAVIGATION | HINT_FOOTER | HINT_HEADER | HINT_SIDEBAR | HINT_RELATED | HINT_SHARE |      \
     HINT_ADVERT | HINT_COOKIE | HINT_NEWSLETTER | HINT_POPUP | HINT_PAGER | HINT_ACCOUNT |        \
     HINT_UNSEEN | HINT_FILTER | HINT_BREADCRUMB | HINT_SEARCH)

/* Percentages are higher where content is spread over siblings, and lists of links are content
 * where list_percent is 0. */
static const struct profile PROFILES[] = {
    [PAGE_ARTICLE] = {.dropped =
                          HINTS_ALWAYS | HINT_COMMENT | HINT_BYLINE | HINT_BIOGRAPHY | HINT_TAGS,
                      .descend_percent = 85,
                      .list_percent = 60,
                      .drops_sections = true},
    [PAGE_DOCUMENTATION] = {.dropped = HINTS_ALWAYS | HINT_COMMENT,
                            .descend_percent = 90,
                            .list_percent = 101,
                            .keeps_headings = true},
    [PAGE_SERVICE] = {.dropped = HINTS_ALWAYS | HINT_COMMENT,
                      .descend_percent = 95,
                      .holds_title = true,
                      .list_percent = 70,
                      .drops_sections = true},
    [PAGE_FORUM] = {.dropped = HINTS_ALWAYS | HINT_SIGNATURE | HINT_POSTER | HINT_QUOTE,
                    .descend_percent = 90,
                    .list_percent = 70,
                    .drops_sections = true,
                    .drops_details = true},
    [PAGE_COLLECTION] = {.dropped = HINTS_ALWAYS, .descend_percent = 95, .holds_title = true},
    [PAGE_LISTING] = {.dropped = HINTS_ALWAYS, .descend_percent = 95, .holds_title = true},
    [PAGE_PRODUCT] = {.dropped = HINTS_ALWAYS | HINT_COMMENT | HINT_REVIEW,
                      .descend_percent = 90,
                      .holds_title = true,
                      .list_percent = 70,
                      .drops_reviews = true,
                      .drops_sections = true},
};

/* What is left out before the kind is known. */
static const struct profile ANY_KIND = {
    .dropped = HINTS_ALWAYS & ~(HINT_FILTER | HINT_RELATED | HINT_SIDEBAR),
};

/* Where the profile of its kind leaves next to nothing of a page, names mean something else. */
static const struct profile LOOSE = {
    .dropped = HINT_NAVIGATION | HINT_FOOTER | HINT_COOKIE | HINT_POPUP | HINT_SHARE | HINT_ADVERT |
               HINT_UNSEEN | HINT_BREADCRUMB,
    .descend_percent = 95,
    .holds_title = true,
};

const char *page_kind_name(enum page_kind kind)
{
    static const char *const NAMES[] = {
        [PAGE_ARTICLE] = "article",       [PAGE_DOCUMENTATION] = "documentation",
        [PAGE_SERVICE] = "service",       [PAGE_FORUM] = "forum",
        [PAGE_COLLECTION] = "collection", [PAGE_LISTING] = "listing",
        [PAGE_PRODUCT] = "product",
    };
    return NAMES[kind];
}

/* ---- the order of things ---- */

/* A page with less text than this may be an empty shell: the text is elsewhere, or nowhere. */
enum { LITTLE_TEXT = 400, SHELL_TEXT = 80 };

struct content_choice {
    struct stats stats;
    uint32_t root;
    enum page_kind kind;
};

static void choose_with(struct content_choice *choice, const struct profile *profile)
{
    struct stats *stats = &choice->stats;
    clean_boilerplate(stats, profile);
    choice->root = root_find(stats, profile);
    clean_content(stats, profile, choice->root);
}

static int choose_once(struct page *page, struct content_choice *choice, enum stats_reach reach)
{
    int status = stats_collect(page, &choice->stats, reach);
    if (status != OK) {
        return status;
    }
    sections_find(&choice->stats);
    clean_boilerplate(&choice->stats, &ANY_KIND);
    choice->kind = kind_decide(&choice->stats);
    choose_with(choice, &PROFILES[choice->kind]);
    return OK;
}

static int choose_loosely(struct page *page, struct content_choice *choice)
{
    int status = stats_collect(page, &choice->stats, REACH_SHOWN);
    if (status != OK) {
        return status;
    }
    sections_find(&choice->stats);
    choose_with(choice, &LOOSE);
    return OK;
}

static uint32_t text_of(const struct content_choice *choice)
{
    return choice->stats.elements[choice->root].all.text;
}

static bool has_scripts(const struct content_choice *choice)
{
    if (choice->stats.scripts > 0) {
        return true;
    }
    const lxb_html_head_element_t *head =
        lxb_html_document_head_element(choice->stats.page->document);
    const lxb_dom_node_t *node = !head ? NULL : ((const lxb_dom_node_t *)head)->first_child;
    while (node && node->local_name != LXB_TAG_SCRIPT) {
        node = node->next;
    }
    return node;
}

/* A few words and scripts that would fetch the rest: nothing on it is content. */
static bool is_shell(const struct content_choice *choice)
{
    const struct measures *all = &choice->stats.elements[choice->root].all;
    return all->text < SHELL_TEXT && all->prose == 0 && has_scripts(choice);
}

static int set_roots(struct page *page, const struct content_choice *choice, uint32_t lead)
{
    const struct element *elements = choice->stats.elements;
    page->roots = arena_alloc(page->arena, 2 * sizeof *page->roots);
    if (!page->roots) {
        return ERR_NOMEM;
    }
    if (lead != 0 && lead < choice->root) {
        page->roots[page->root_count++] = elements[lead].node;
    }
    page->roots[page->root_count++] = elements[choice->root].node;
    return OK;
}

/* A page may be hidden until a script has run, but not beside what a reader sees already: that
 * would be text for nobody's eyes. */
static enum stats_reach reach_beyond(const struct content_choice *choice)
{
    if (text_of(choice) < SHELL_TEXT) {
        return REACH_CLOSED;
    }
    return choice->stats.elements[0].all.landmarks == 0 ? REACH_LANDMARKS : REACH_WITHOUT_SCRIPTS;
}

/* Tries what else may be the content where little is left. What does not hold much more was not it.
 */
static int look_further(struct page *page, struct content_choice *choice)
{
    uint32_t before = text_of(choice);
    enum stats_reach reach = reach_beyond(choice);
    int status = OK;
    if (before < SHELL_TEXT) {
        status = choose_loosely(page, choice);
        if (status != OK || text_of(choice) >= LITTLE_TEXT) {
            return status;
        }
    }
    status = choose_once(page, choice, reach);
    if (status == OK && (text_of(choice) < 2 * before || text_of(choice) < SHELL_TEXT)) {
        hidden_mark(page); /* what was looked at is hidden again */
        status = choose_once(page, choice, REACH_SHOWN);
    }
    return status;
}

int choose_content(struct page *page)
{
    struct content_choice choice;
    int status = choose_once(page, &choice, REACH_SHOWN);
    if (status == OK && text_of(&choice) < LITTLE_TEXT) {
        status = look_further(page, &choice);
    }
    if (status != OK) {
        return status;
    }
    uint32_t lead = choice.kind == PAGE_ARTICLE ? lead_find(&choice.stats, choice.root) : 0;
    status = judge_units(&choice.stats, choice.kind, &choice.root);
    if (status == OK) {
        guard_text(&choice.stats, choice.root);
    }
    if (status == OK && !PROFILES[choice.kind].keeps_headings) {
        status = clean_repeats(&choice.stats, choice.root);
    }
    if (status == OK && choice.kind == PAGE_PRODUCT) {
        status = reviews_find(&choice.stats);
    }
    if (status != OK) {
        return status;
    }
    page->kind = choice.kind;
    return is_shell(&choice) ? OK : set_roots(page, &choice, lead);
}
