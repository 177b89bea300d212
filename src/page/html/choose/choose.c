/* The order of things: measure, decide the kind of page, find the content, clean it; looser when
 * little is left. */
#include "page/html/choose/clean.h"
#include "page/html/choose/kind.h"
#include "page/html/choose/root.h"

#include "base/status.h"

const char *page_kind_name(enum page_kind kind)
{
    static const char *const names[] = {
        [PAGE_ARTICLE] = "article",       [PAGE_DOCUMENTATION] = "documentation",
        [PAGE_SERVICE] = "service",       [PAGE_FORUM] = "forum",
        [PAGE_COLLECTION] = "collection", [PAGE_LISTING] = "listing",
        [PAGE_PRODUCT] = "product",
    };
    return names[kind];
}

/* A page with less text than this may be an empty shell: the text is elsewhere, or nowhere. */
enum { LITTLE_TEXT = 400, SHELL_TEXT = 80 };

struct choice {
    struct stats stats;
    uint32_t root;
    enum page_kind kind;
};

static int choose_once(struct page *page, struct choice *choice, bool all)
{
    struct stats *stats = &choice->stats;
    int status = stats_collect(page, stats, all);
    if (status != OK)
        return status;
    clean_boilerplate(stats, profile_of_any());
    choice->kind = kind_decide(stats);
    const struct profile *profile = profile_of(choice->kind);
    clean_boilerplate(stats, profile);
    choice->root = root_find(stats, profile);
    clean_content(stats, profile, choice->root);
    return clean_repeats(stats, choice->root);
}

static uint32_t text_of(const struct choice *choice)
{
    return choice->stats.elements[choice->root].all.text;
}

static bool has_scripts(const struct choice *choice)
{
    if (choice->stats.scripts > 0)
        return true;
    const lxb_html_head_element_t *head =
        lxb_html_document_head_element(choice->stats.page->document);
    const lxb_dom_node_t *node = head == NULL ? NULL : ((const lxb_dom_node_t *)head)->first_child;
    while (node != NULL && node->local_name != LXB_TAG_SCRIPT)
        node = node->next;
    return node != NULL;
}

/* A few words and scripts that would fetch the rest: nothing on it is content. */
static bool is_shell(const struct choice *choice)
{
    const struct measures *all = &choice->stats.elements[choice->root].all;
    return all->text < SHELL_TEXT && all->prose == 0 && has_scripts(choice);
}

int choose_content(struct page *page)
{
    struct choice choice;
    int status = choose_once(page, &choice, false);
    if (status != OK)
        return status;
    if (text_of(&choice) < LITTLE_TEXT) {
        uint32_t before = text_of(&choice);
        status = choose_once(page, &choice, true);
        if (status == OK && text_of(&choice) < 2 * before)
            status = choose_once(page, &choice, false);
        if (status != OK)
            return status;
    }
    page->kind = choice.kind;
    page->roots = arena_alloc(page->arena, sizeof *page->roots);
    if (page->roots == NULL)
        return ERR_NOMEM;
    page->roots[0] = choice.stats.elements[choice.root].node;
    page->root_count = is_shell(&choice) ? 0 : 1;
    return OK;
}
