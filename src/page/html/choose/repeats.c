/* What stands on a page twice, counts once. */
#include "page/html/choose/clean.h"

#include "core/status.h"

enum { SHORTEST_REPEAT = 40 };

struct seen {
    struct seen_text {
        uint32_t hash, letters, parent;
    } *slots;
    uint32_t mask;
};

/* Whether the text was seen before; remembers it. Plain text that repeats what
 * is beside it means to. */
static bool remember(struct seen *seen, const struct element *element)
{
    uint32_t hash = element->text_hash;
    uint32_t at = (hash ^ hash >> 15) & seen->mask;
    for (; seen->slots[at].letters != 0; at = (at + 1) & seen->mask) {
        const struct seen_text *text = &seen->slots[at];
        if (text->hash == hash && text->letters == element->all.text) {
            return element->all.links + element->all.images > 0 || text->parent != element->parent;
        }
    }
    seen->slots[at] = (struct seen_text){hash, element->all.text, element->parent};
    return false;
}

/* Code repeats itself, and so do people who quote. */
static bool may_repeat(const struct element *element)
{
    return !element_has(element, FLAG_BLOCK) || element_has(element, FLAG_IN_CODE) ||
           element->tag == LXB_TAG_BLOCKQUOTE || element->all.text < SHORTEST_REPEAT;
}

int clean_repeats(struct stats *stats, uint32_t root)
{
    uint32_t end = stats->elements[root].end;
    struct seen seen = {.mask = 63};
    while (seen.mask < 2 * (end - root)) {
        seen.mask = seen.mask * 2 + 1;
    }
    seen.slots = arena_zalloc(stats->page->arena, (seen.mask + 1) * sizeof *seen.slots);
    if (seen.slots == NULL) {
        return ERR_NOMEM;
    }
    for (uint32_t i = root + 1; i < end;) {
        const struct element *element = &stats->elements[i];
        if (element->dropped || element->tag == LXB_TAG_BLOCKQUOTE) {
            i = element->end;
            continue;
        }
        const struct element *parent = &stats->elements[element->parent];
        bool only_child = parent->text_hash == element->text_hash;
        if (!may_repeat(element) && !only_child && remember(&seen, element)) {
            stats_drop(stats, i);
            i = element->end;
            continue;
        }
        i++;
    }
    stats_sum(stats);
    return OK;
}
