/* A small table of the classes seen last, each in the only place that it can have. */
#include "html/classes.h"

#include "html/choose/hints.h"
#include "html/dom.h"
#include "tables.h"

enum { LEAST_PLACES = 64, MOST_PLACES = 2048, ELEMENTS_PER_PLACE = 2 };

struct class_memory {
    uint32_t mask; /* of places, which are a power of two */
    struct known_class {
        const char *class;
        size_t length;
        lxb_tag_id_t tag;
        struct class_facts facts;
    } places[];
};

void classes_remember(struct page *page)
{
    size_t places = LEAST_PLACES;
    while (places < MOST_PLACES && places * ELEMENTS_PER_PLACE < page->elements) {
        places *= 2;
    }
    page->classes =
        arena_zalloc(page->arena, sizeof *page->classes + places * sizeof *page->classes->places);
    if (page->classes) {
        page->classes->mask = (uint32_t)places - 1;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Names that HTML does not know have no number but an address, which is another one each time:
 * their letters count. */
uint32_t shape_of_tag(const lxb_dom_node_t *element)
{
    if (element->local_name < LXB_TAG__LAST_ENTRY) {
        return (uint32_t)element->local_name;
    }
    uint32_t shape = 2166136261u;
    for (const char *name = dom_name(element); *name; name++) {
        shape = (shape ^ (unsigned char)*name) * 16777619u;
    }
    return shape;
}

/* Numbers in names count up: "post-1" is like "post-2". */
static uint32_t shape_of(uint32_t shape, const char *class, size_t length)
{
    size_t at = 0;
    while (at < length && is_space(class[at])) {
        at++;
    }
    for (; at < length && !is_space(class[at]); at++) {
        if (class[at] < '0' || class[at] > '9') {
            shape = (shape ^ (unsigned char)class[at]) * 16777619u;
        }
    }
    return shape;
}

static struct class_facts look_up(const lxb_dom_node_t *element, const char *class, size_t length)
{
    return (struct class_facts){
        .hints = hints_of((const unsigned char *)class, length),
        .shape = shape_of(shape_of_tag(element), class, length),
        .unreadable = dom_word_values(class, &reader_classes) != 0,
    };
}

/* From the ends of a name and its middle: what a page calls its elements differs there. */
static uint32_t place_of(lxb_tag_id_t tag, const char *class, size_t length)
{
    uint64_t first = 0, middle = 0, last = 0;
    if (length >= sizeof first) {
        memcpy(&first, class, sizeof first);
        memcpy(&middle, class + (length - sizeof middle) / 2, sizeof middle);
        memcpy(&last, class + length - sizeof last, sizeof last);
    } else {
        memcpy(&first, class, length);
    }
    uint64_t mixed = (first ^ tag) * UINT64_C(0x9E3779B97F4A7C15) + middle;
    mixed = (mixed ^ mixed >> 29 ^ last) * UINT64_C(0xBF58476D1CE4E5B9) + length;
    return (uint32_t)(mixed >> 40);
}

struct class_facts class_facts(const struct page *page, const lxb_dom_node_t *element,
                               const char *class, size_t length)
{
    lxb_tag_id_t tag = element->local_name;
    if (!page->classes) {
        return look_up(element, class, length);
    }
    struct known_class *known =
        &page->classes->places[place_of(tag, class, length) & page->classes->mask];
    if (!known->class || known->tag != tag || known->length != length ||
        memcmp(known->class, class, length) != 0) {
        *known = (struct known_class){class, length, tag, look_up(element, class, length)};
    }
    return known->facts;
}

uint32_t hints_of_names(const struct page *page, const lxb_dom_node_t *element)
{
    const char *class = dom_class(element), *id = dom_id(element);
    uint32_t hints = id ? hints_of((const unsigned char *)id, strlen(id)) : 0;
    return class ? hints | class_facts(page, element, class, strlen(class)).hints : hints;
}
