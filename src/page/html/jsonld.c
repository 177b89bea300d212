/* JSON-LD of a page, read with more patience than JSON of clients: pages are written by hand. */
#include "page/html/jsonld.h"

#include "core/limits.h"
#include "page/html/dom.h"

#include <strings.h>

#define MOST_OBJECTS   500
#define MOST_NESTING   16
#define LARGEST_SCRIPT KIB(512)

/* ---- yyjson's allocator, backed by the page's arena ---- */

static void *take(void *context, size_t size)
{
    return arena_alloc(context, size);
}

static void *resize(void *context, void *old, size_t old_size, size_t size)
{
    return arena_realloc(context, old, old_size, size);
}

static void forget(void *context, void *piece)
{
    (void)context;
    (void)piece;
}

/* ---- objects ---- */

struct gathering {
    yyjson_mut_doc *doc;
    yyjson_mut_val *objects;
    size_t count;
};

/* Adds an object, and those in its graph; lists are taken apart. */
static void add(struct gathering *gathering, yyjson_val *value, int depth)
{
    if (depth > MOST_NESTING || gathering->count >= MOST_OBJECTS) {
        return;
    }
    if (yyjson_is_arr(value)) {
        size_t index, count;
        yyjson_val *item;
        yyjson_arr_foreach(value, index, count, item)
        {
            add(gathering, item, depth + 1);
        }
        return;
    }
    if (!yyjson_is_obj(value)) {
        return;
    }
    yyjson_val *graph = yyjson_obj_get(value, "@graph");
    if (graph) {
        add(gathering, graph, depth + 1);
    }
    if (!graph || yyjson_obj_get(value, "@type")) {
        yyjson_mut_arr_append(gathering->objects, yyjson_val_mut_copy(gathering->doc, value));
        gathering->count++;
    }
}

/* The text of a script as one piece, in the arena: yyjson reads it in place. */
static char *script_text(struct page *page, lxb_dom_node_t *script, size_t most, size_t *length)
{
    lxb_dom_node_t *child = script->first_child;
    if (!child || !dom_is_text(child)) {
        return NULL;
    }
    const char *text = dom_text(child, length);
    /* Some wrap it in a comment. */
    while (*length && (*text == ' ' || (*text >= '\t' && *text <= '\r'))) {
        text++;
        (*length)--;
    }
    if (*length > 4 && strncmp(text, "<!--", 4) == 0) {
        text += 4;
        *length -= 4;
    }
    if (*length == 0 || *length > most) {
        return NULL;
    }
    return arena_strndup(page->arena, text, *length);
}

yyjson_val *jsonld_parse(struct page *page, lxb_dom_node_t *script, size_t most)
{
    size_t length = 0;
    char *text = script_text(page, script, most, &length);
    yyjson_alc memory = {take, resize, forget, page->arena};
    yyjson_read_flag flags = YYJSON_READ_ALLOW_TRAILING_COMMAS | YYJSON_READ_ALLOW_COMMENTS |
                             YYJSON_READ_ALLOW_INF_AND_NAN | YYJSON_READ_STOP_WHEN_DONE;
    for (size_t i = 0; text && i < length; i++) {
        /* Line breaks in strings are the usual mistake; between tokens a blank is as good. */
        text[i] = text[i] == '\n' || text[i] == '\r' || text[i] == '\t' ? ' ' : text[i];
    }
    yyjson_doc *doc = text ? yyjson_read_opts(text, length, flags, &memory, NULL) : NULL;
    return doc ? yyjson_doc_get_root(doc) : NULL;
}

static bool is_jsonld(const lxb_dom_node_t *node)
{
    if (dom_tag(node) != LXB_TAG_SCRIPT) {
        return false;
    }
    const char *type = dom_known_attr(node, LXB_DOM_ATTR_TYPE);
    return type && strncasecmp(type, "application/ld+json", 19) == 0;
}

void jsonld_read(struct page *page)
{
    struct gathering gathering = {0};
    yyjson_alc memory = {take, resize, forget, page->arena};
    lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        if (!is_jsonld(node)) {
            continue;
        }
        if (!gathering.doc) {
            gathering.doc = yyjson_mut_doc_new(&memory);
            gathering.objects = yyjson_mut_arr(gathering.doc);
            if (!gathering.objects) {
                return;
            }
        }
        add(&gathering, jsonld_parse(page, node, LARGEST_SCRIPT), 0);
    }
    if (gathering.count) {
        yyjson_doc *doc = yyjson_mut_val_imut_copy(gathering.objects, &memory);
        page->json_ld = doc ? yyjson_doc_get_root(doc) : NULL;
    }
}

static uint32_t rank_of(yyjson_val *type, const struct word_table *types)
{
    const char *text = yyjson_get_str(type);
    const char *slash = text ? strrchr(text, '/') : NULL;
    const char *word = slash ? slash + 1 : text;
    return word ? words_value(types, word, strlen(word)) : 0;
}

uint32_t jsonld_rank(yyjson_val *object, const struct word_table *types)
{
    yyjson_val *type = yyjson_obj_get(object, "@type");
    uint32_t best = rank_of(type, types);
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(type, index, count, item)
    {
        uint32_t rank = rank_of(item, types);
        best = rank && (!best || rank < best) ? rank : best;
    }
    return best;
}
