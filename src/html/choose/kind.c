/* The kind of a page, by points: what it says of itself (JSON-LD, OpenGraph, microdata), what its
 * address and the names on its body hint at, and what its text looks like. The kind with the most
 * points wins; an article needs none to win. */
#include "html/choose/choose.h"

#include "html/dom.h"
#include "tables.h"

#include <strings.h>

enum {
    KINDS = PAGE_PRODUCT + 1,
    ROW_PERCENT = 50,        /* of the text in one row of entries: the page is that list */
    ENTRY_LINK_PERCENT = 12, /* of a row's text: entries lead to pages of their own */
    ONE_TEXT = 800,          /* letters in paragraphs side by side that make one text, */
    ONE_TEXT_PERCENT = 50,   /* when they are so much of the page's prose */
    TALK_PERCENT = 60,       /* of the prose in comments: the comments are the page */
    MANY_NAMES = 20,         /* in code, more than an article on a program has */
    MANY_PRICES = 8,         /* more than a product and what is shown beside it have */
};

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct points {
    int of[KINDS];
};

/* ---- what the page says of itself ---- */

static void add_word(struct points *points, const struct word_table *table, const char *word,
                     size_t length)
{
    uint32_t value = word ? words_value(table, word, length) : 0;
    for (int kind = 0; value != 0; kind++, value >>= 4) {
        points->of[kind] += (int)(value & 0xf);
    }
}

static void add_type(struct points *points, yyjson_val *type)
{
    add_word(points, &page_types, yyjson_get_str(type), yyjson_get_len(type));
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(type, i, count, item)
    {
        add_word(points, &page_types, yyjson_get_str(item), yyjson_get_len(item));
    }
}

/* Each type once: a page of products may list fifty. */
static void add_json_ld(struct points *points, const struct page *page)
{
    struct points seen = {{0}};
    size_t i, count, products = 0;
    yyjson_val *object;
    yyjson_arr_foreach(page->json_ld, i, count, object)
    {
        struct points one = {{0}};
        add_type(&one, yyjson_obj_get(object, "@type"));
        add_type(&one, yyjson_obj_get(yyjson_obj_get(object, "mainEntity"), "@type"));
        products += one.of[PAGE_PRODUCT] > 0;
        for (int kind = 0; kind < KINDS; kind++) {
            if (one.of[kind] > seen.of[kind]) {
                seen.of[kind] = one.of[kind];
            }
        }
    }
    if (products > 3) {
        seen.of[PAGE_COLLECTION] += seen.of[PAGE_PRODUCT];
        seen.of[PAGE_PRODUCT] = 0;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        points->of[kind] += seen.of[kind];
    }
}

/* The first letters of the words of a program's name and version. */
static void add_generator(struct points *points, const char *content)
{
    while (*content) {
        size_t word = strspn(content, LETTERS);
        if (word > 0) {
            add_word(points, &page_generators, content, word);
        }
        content += word + (word == 0);
    }
}

static void add_head(struct points *points, const struct page *page)
{
    const lxb_dom_node_t *head = lxb_dom_interface_node(page->document->head);
    for (lxb_dom_node_t *node = head ? head->first_child : NULL; node; node = node->next) {
        const char *property = dom_tag(node) == LXB_TAG_META ? dom_attr(node, "property") : NULL;
        const char *name = dom_tag(node) == LXB_TAG_META ? dom_attr(node, "name") : NULL;
        const char *content = property ? dom_known_attr(node, LXB_DOM_ATTR_CONTENT) : NULL;
        if (content && strcasecmp(property, "og:type") == 0) {
            add_word(points, &open_graph_types, content, strlen(content));
        } else if (content && strcasecmp(property, "article:published_time") == 0) {
            points->of[PAGE_ARTICLE] += 2;
        } else if (name && strcasecmp(name, "generator") == 0) {
            const char *program = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
            add_generator(points, program ? program : "");
        }
    }
}

/* ---- the address ---- */

static void add_address(struct points *points, const char *url)
{
    if (!url) {
        return;
    }
    const char *host = strstr(url, "://");
    host = !host ? url : host + 3;
    const char *path = host + strcspn(host, "/");
    size_t length = strcspn(path, "?#");
    if (length <= 1) { /* a home page is seldom one text */
        points->of[PAGE_SERVICE] += 3;
        points->of[PAGE_LISTING] += 2;
        points->of[PAGE_COLLECTION] += 1;
        points->of[PAGE_ARTICLE] -= 3;
    }
    size_t last = length;
    while (last > 0 && path[last - 1] == '/') {
        last--;
    }
    size_t begin = last;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    if (last > begin) {
        add_word(points, &last_words, path + begin, last - begin);
    }
    bool dated = false;
    for (size_t at = 0; at < length;) {
        size_t word = strspn(path + at, LETTERS);
        if (word > 0) {
            add_word(points, &path_words, path + at, word);
        }
        size_t digits = strspn(path + at, "0123456789");
        if (digits == 4 && (memcmp(path + at, "20", 2) == 0 || memcmp(path + at, "19", 2) == 0)) {
            dated = true;
        }
        at += word + digits + (word + digits == 0);
    }
    points->of[PAGE_ARTICLE] += dated ? 2 : 0;
}

/* ---- the text ---- */

/* What is counted over the whole page. */
struct page_shape {
    uint32_t talk;       /* prose in the outermost comments and posts */
    uint32_t posts;      /* blocks that are named like posts and hold text */
    uint32_t post_items; /* microdata says so */
    uint32_t product_items;
    uint32_t priced; /* blocks with a price in their own text */
    uint32_t buys;   /* "add to cart" */
    bool body_property;
    uint32_t linked_headings;
    uint32_t permalinks; /* in headings, to themselves */
    uint32_t names;      /* in code, in a sentence */
    uint32_t terms;      /* that can be linked to */
    uint32_t one_text;   /* the most prose that is in paragraphs beside each other, */
    uint32_t text_at;    /* and the element that they are in */
    /* The row of siblings of one shape, each with a link and a heading, image or date, that holds
     * the most text: */
    uint32_t row, row_text, row_links, row_prices;
};

/* What lists are made of. */
static bool is_entry(const struct element *element)
{
    const struct measures *all = &element->all;
    return !element->dropped && all->links > 0 && all->text >= 10 && all->text < 2000 &&
           all->headings + all->images + all->times + all->prices > 0;
}

/* The rows among the children of one element. */
static void find_rows(const struct stats *stats, uint32_t parent, struct page_shape *shape)
{
    uint32_t count = 0, text = 0, links = 0, prices = 0, last = 0;
    for (uint32_t i = parent + 1; i < stats->elements[parent].end; i = stats->elements[i].end) {
        const struct element *element = &stats->elements[i];
        if (!is_entry(element)) {
            continue;
        }
        if (element->shape != last) {
            count = text = links = prices = 0;
        }
        last = element->shape;
        count++;
        text += element->all.text;
        prices += element->all.prices > 0;
        links += element->all.link_text;
        if (count >= 3 && text > shape->row_text) {
            shape->row = count;
            shape->row_text = text;
            shape->row_prices = prices;
            shape->row_links = links;
        }
    }
}

static bool is_permalink(const struct element *element)
{
    const char *href = element->tag == LXB_TAG_A && element_has(element, FLAG_IN_HEADING)
                           ? dom_known_attr(element->node, LXB_DOM_ATTR_HREF)
                           : NULL;
    return href && href[0] == '#' && href[1];
}

static struct page_shape shape_of(const struct stats *stats)
{
    struct page_shape shape = {0};
    uint32_t talk_end = 0;
    for (uint32_t i = 1; i < stats->count; i++) {
        const struct element *element = &stats->elements[i];
        if (i >= talk_end && !element->dropped && element_is(element, HINT_COMMENT)) {
            shape.talk += element->all.prose;
            talk_end = element->end;
        }
        shape.buys += element_is(element, HINT_ACTION) && element_is(element, HINT_ACCOUNT);
        if (element->dropped) {
            continue;
        }
        shape.post_items += element_has(element, FLAG_POST_ITEM);
        shape.product_items += element_has(element, FLAG_PRODUCT_ITEM);
        shape.body_property |= element_has(element, FLAG_BODY_PROPERTY);
        shape.priced += element->own.prices > 0;
        shape.permalinks += is_permalink(element);
        shape.names += element->tag == LXB_TAG_CODE &&
                       !element_has(&stats->elements[element->parent], FLAG_IN_CODE);
        shape.terms += element->tag == LXB_TAG_DT && dom_id(element->node);
        shape.linked_headings += element->own.headings > 0 && link_percent(&element->all) > 80;
        if (element->paragraph_prose > shape.one_text) {
            shape.one_text = element->paragraph_prose;
            shape.text_at = i;
        }
        if (element->all.links >= 3) {
            find_rows(stats, i, &shape);
        }
        shape.posts += element_has(element, FLAG_BLOCK) && element_is(element, HINT_POST) &&
                       element->all.prose > 0;
    }
    return shape;
}

/* What microdata says that the text is, or what is around it. */
static void add_item_type(struct points *points, const struct stats *stats, uint32_t at)
{
    for (; at != 0; at = stats->elements[at].parent) {
        const char *type = dom_attr(stats->elements[at].node, "itemtype");
        const char *word = type ? strrchr(type, '/') : NULL;
        if (word) {
            add_word(points, &page_types, word + 1, strlen(word + 1));
            return;
        }
    }
}

/* What a page looks like says less than what it says of itself, but more than its address: most
 * rows are worth 2 to 5 points, and only many posts in microdata are as good as a declared type. */
static void add_shape(struct points *points, const struct stats *stats)
{
    const struct measures *all = &stats->elements[0].all;
    struct page_shape shape = shape_of(stats);
    int *of = points->of;
    add_item_type(points, stats, shape.text_at);
    if (shape.body_property) {
        of[PAGE_ARTICLE] += 3;
    }
    if (shape.post_items > 1) {
        of[PAGE_FORUM] += shape.post_items > 4 ? 10 : 6;
    }
    if (shape.posts > 8) {
        of[PAGE_FORUM] += 1;
    }
    if (shape.posts > 8 && shape.talk * 100 > all->prose * TALK_PERCENT) {
        of[PAGE_FORUM] += 5;
    }
    if (all->code * 20 > all->text) {
        of[PAGE_DOCUMENTATION] += 2;
    }
    if (shape.permalinks >= 3 && shape.permalinks * 2 > all->headings) {
        of[PAGE_DOCUMENTATION] += 2;
    }
    if (shape.names >= MANY_NAMES && all->links < shape.names * 8) {
        of[PAGE_DOCUMENTATION] += 2;
    }
    if (shape.terms >= 4) {
        of[PAGE_DOCUMENTATION] += 3;
    }
    if (all->prose > 3000 && link_percent(all) < 25) {
        of[PAGE_ARTICLE] += 2;
    }
    if (shape.priced >= MANY_PRICES && all->prose < 60 * shape.priced) {
        of[PAGE_COLLECTION] += 5;
    }
    if (shape.priced > 0 && shape.priced < MANY_PRICES && shape.buys > 0) {
        of[PAGE_PRODUCT] += 2;
    }
    if (shape.priced >= MANY_PRICES && shape.buys >= MANY_PRICES) {
        of[PAGE_COLLECTION] += 4;
    }
    if (shape.product_items > 8) {
        of[PAGE_COLLECTION] += 3;
    } else if (shape.product_items > 0) {
        of[PAGE_PRODUCT] += 3;
    }
    if (all->prose * 4 < all->text && all->links > 15) { /* mostly links and labels */
        of[PAGE_LISTING] += 3;
        of[PAGE_COLLECTION] += shape.priced >= 4 ? 3 : 0;
        of[PAGE_ARTICLE] -= 2;
    }
    if (link_percent(all) > 50 && all->links > 20) {
        of[PAGE_LISTING] += 2;
    }
    if (shape.row >= 6 && shape.row_text * 100 > all->text * ROW_PERCENT) {
        if (shape.row_prices * 2 > shape.row) {
            of[PAGE_COLLECTION] += 4;
        } else if (shape.row_links * 100 > shape.row_text * ENTRY_LINK_PERCENT) {
            of[PAGE_LISTING] += 4;
        }
    }
    if (shape.one_text >= ONE_TEXT && shape.one_text * 100 > all->prose * ONE_TEXT_PERCENT) {
        of[PAGE_LISTING] -= 4;
        of[PAGE_COLLECTION] -= 2;
        of[PAGE_SERVICE] -= 1;
    }
    if (shape.linked_headings >= 8 && shape.linked_headings * 2 > all->headings) {
        of[shape.row_prices * 2 > shape.row ? PAGE_COLLECTION : PAGE_LISTING] += 3;
    }
}

enum page_kind kind_decide(const struct stats *stats)
{
    struct points points = {{[PAGE_ARTICLE] = 2}};
    add_json_ld(&points, stats->page);
    add_head(&points, stats->page);
    add_address(&points, stats->page->url);
    add_shape(&points, stats);
    int best = PAGE_ARTICLE;
    for (int kind = 0; kind < KINDS; kind++) {
        /* What an article and something more special have equal points for is the special thing. */
        bool special = best == PAGE_ARTICLE && kind >= PAGE_FORUM;
        if (points.of[kind] >= points.of[best] + (special ? 0 : 1)) {
            best = kind;
        }
    }
    return (enum page_kind)best;
}
