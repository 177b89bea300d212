/* Bytes to a tree. The parser is lexbor's; a few stay idle between pages and are used again by
 * whichever thread comes, since each takes some 700 kB, whether it works or not. Its tokens pass
 * through keep_ceilings() on their way to the tree, so that no page can make the tree deeper or
 * larger than the rest of the extractor is built for. */
#include "html/parse.h"

#include "core/limits.h"
#include "core/status.h"
#include "html/dom.h"
#include "html/entities.h"
#include "html/skim.h"
#include "text/url.h"

#include <lexbor/html/tree/active_formatting.h>
#include <pthread.h>
#include <stdlib.h>

#define CHUNK_BYTES       KIB(16)
#define TOKENS_PER_CHECK  512 /* between two looks at the memory */
#define MOST_FORMATTING   12  /* open <b>, <i>, ... that a new paragraph opens again */
#define MOST_ATTRIBUTES   64
#define MOST_IDLE_PARSERS 4
#define MOST_NAMES        4096 /* of elements or attributes that HTML does not know */

/* A pool of lexbor's memory, measured piece by piece as it grows. */
struct pool_measure {
    const lexbor_mem_chunk_t *last; /* counted up to here */
    size_t bytes;
};

struct html_parser {
    struct html_parser *next; /* while it is idle */
    lxb_html_parser_t *html;
    lxb_html_tokenizer_token_f build; /* lexbor's own step from token to tree */
    void *build_context;
    lxb_html_document_t *document;
    struct pool_measure nodes, texts;
    size_t tokens, elements, data_scripts;
    bool full;
    bool templates; /* the page has some */
};

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct html_parser *idle_parsers; /* the one used last first */
static size_t idle_count;

static void free_parser(struct html_parser *parser)
{
    lxb_html_parser_destroy(parser->html);
    free(parser);
}

static struct html_parser *new_parser(void)
{
    struct html_parser *parser = entities_fill() == OK ? calloc(1, sizeof *parser) : NULL;
    if (!parser) {
        return NULL;
    }
    parser->html = lxb_html_parser_create();
    if (!parser->html || lxb_html_parser_init(parser->html) != LXB_STATUS_OK) {
        free_parser(parser);
        return NULL;
    }
    lxb_html_parser_dom_opt_set(parser->html, LXB_DOM_DOCUMENT_OPT_WO_EVENTS);
    parser->build = parser->html->tkz->callback_token_done;
    parser->build_context = parser->html->tkz->callback_token_ctx;
    return parser;
}

static struct html_parser *take_parser(void)
{
    pthread_mutex_lock(&idle_lock);
    struct html_parser *parser = idle_parsers;
    if (parser) {
        idle_parsers = parser->next;
        idle_count--;
    }
    pthread_mutex_unlock(&idle_lock);
    return parser ? parser : new_parser();
}

/* A tree that it has built does not need it any more. */
static void give_back(struct html_parser *parser)
{
    pthread_mutex_lock(&idle_lock);
    bool kept = idle_count < MOST_IDLE_PARSERS;
    if (kept) {
        parser->next = idle_parsers;
        idle_parsers = parser;
        idle_count++;
    }
    pthread_mutex_unlock(&idle_lock);
    if (!kept) {
        free_parser(parser);
    }
}

/* ---- ceilings ---- */

static size_t measure_more(struct pool_measure *measure, const lexbor_mem_t *memory)
{
    const lexbor_mem_chunk_t *chunk = measure->last ? measure->last->next : memory->chunk_first;
    for (; chunk; chunk = chunk->next) {
        measure->bytes += chunk->size;
        measure->last = chunk;
    }
    return measure->bytes;
}

static bool is_full(struct html_parser *parser)
{
    lxb_dom_document_t *document = lxb_dom_interface_document(parser->document);
    return measure_more(&parser->nodes, document->mraw->mem) +
               measure_more(&parser->texts, document->text->mem) >
           LIMIT_PAGE_TREE_BYTES;
}

/* Every new name is searched for in tables that do not grow, so their number is what costs time. */
static bool knows_too_many_names(struct html_parser *parser)
{
    lxb_dom_document_t *document = lxb_dom_interface_document(parser->document);
    return lexbor_dobject_allocated(document->attrs->entries) > MOST_NAMES ||
           lexbor_dobject_allocated(document->tags->entries) > MOST_NAMES;
}

/* Elements with thousands of attributes say nothing and cost a search each. */
static void drop_late_attributes(lxb_html_token_t *token)
{
    size_t count = 0;
    for (lxb_html_token_attr_t *attr = token->attr_first; attr; attr = attr->next) {
        if (++count == MOST_ATTRIBUTES) {
            attr->next = NULL;
            token->attr_last = attr;
        }
    }
}

/* Browsers, which run scripts, never look into <noscript>; we do, and there a frame that is closed
 * like <iframe/>, which HTML does not know, would take the rest of the page for its text. */
static bool would_swallow_page(const lxb_html_tree_t *tree, const lxb_html_token_t *token)
{
    if (token->tag_id != LXB_TAG_IFRAME || !(token->type & LXB_HTML_TOKEN_TYPE_CLOSE_SELF)) {
        return false;
    }
    const lxb_dom_node_t *open =
        lexbor_array_get(tree->open_elements, tree->open_elements->length - 1);
    return open && open->local_name == LXB_TAG_NOSCRIPT;
}

/* Stands between lexbor's tokenizer and its tree. Browsers have the same answer to endless nesting:
 * what would be too deep becomes a sibling. */
static lxb_html_token_t *keep_ceilings(lxb_html_tokenizer_t *tokenizer, lxb_html_token_t *token,
                                       void *context)
{
    struct html_parser *parser = context;
    lxb_html_tree_t *tree = parser->html->tree;
    if (parser->elements > LIMIT_PAGE_ELEMENTS ||
        (++parser->tokens % TOKENS_PER_CHECK == 0 && is_full(parser))) {
        parser->full = true;
        return NULL;
    }
    while (tree->open_elements->length > LIMIT_PAGE_DEPTH &&
           !(token->type & LXB_HTML_TOKEN_TYPE_CLOSE)) {
        lxb_dom_node_t *deepest = lexbor_array_pop(tree->open_elements);
        lxb_html_tree_active_formatting_remove_by_node(tree, deepest);
    }
    while (tree->active_formatting->length > MOST_FORMATTING) {
        lexbor_array_delete(tree->active_formatting, 0, 1);
    }
    if (token->attr_first) {
        drop_late_attributes(token);
    }
    if (would_swallow_page(tree, token)) {
        return token;
    }
    size_t open = tree->open_elements->length;
    lxb_tag_id_t tag = token->tag_id;
    bool opens = tag >= LXB_TAG__BEGIN && !(token->type & LXB_HTML_TOKEN_TYPE_CLOSE);
    parser->templates = parser->templates || tag == LXB_TAG_TEMPLATE;
    token = parser->build(tokenizer, token, parser->build_context);
    bool skimmed = skim_unread(tokenizer, tree);
    parser->data_scripts += opens && tag == LXB_TAG_SCRIPT && !skimmed;
    /* Elements that the page left open are made again in each new paragraph: they count too. */
    size_t more = tree->open_elements->length > open ? tree->open_elements->length - open : 0;
    parser->elements += more ? more : opens;
    return token;
}

/* ---- parsing ---- */

static int feed(struct html_parser *parser, const char *bytes, size_t length)
{
    lxb_html_parser_t *html = parser->html;
    parser->document = lxb_html_parse_chunk_begin(html);
    if (!parser->document) {
        return ERR_NOMEM;
    }
    lxb_html_tokenizer_callback_token_done_set(html->tkz, keep_ceilings, parser);
    lxb_status_t status = LXB_STATUS_OK;
    for (size_t at = 0; at < length && status == LXB_STATUS_OK && !parser->full;
         at += CHUNK_BYTES) {
        size_t count = length - at < CHUNK_BYTES ? length - at : CHUNK_BYTES;
        status = lxb_html_parse_chunk_process(html, (const lxb_char_t *)bytes + at, count);
        parser->full = parser->full || knows_too_many_names(parser);
    }
    if (status == LXB_STATUS_OK) {
        status = lxb_html_parse_chunk_end(html);
    }
    if (status != LXB_STATUS_OK) {
        lxb_html_parser_clean(html);
    }
    return status == LXB_STATUS_OK || parser->full ? OK : ERR_NOMEM;
}

/* What relative links are resolved against. */
static void find_base(struct page *page)
{
    page->base = page->url;
    lxb_dom_node_t *head = lxb_dom_interface_node(page->document->head);
    lxb_dom_node_t *element = head ? dom_find(head, LXB_TAG_BASE) : NULL;
    const char *href = element ? dom_known_attr(element, LXB_DOM_ATTR_HREF) : NULL;
    struct url url, resolved;
    if (!href || !*href) {
        return;
    }
    if (page->url && url_parse(page->arena, page->url, &url, NULL) == OK) {
        if (url_resolve(page->arena, &url, href, &resolved, NULL) == OK) {
            page->base = resolved.text;
        }
    } else if (url_parse(page->arena, href, &url, NULL) == OK) {
        page->base = url.text;
    }
}

int parse_html(struct page *page, const char *bytes, size_t length)
{
    struct html_parser *parser = take_parser();
    if (!parser) {
        return ERR_NOMEM;
    }
    parser->nodes = parser->texts = (struct pool_measure){0};
    parser->tokens = parser->elements = parser->data_scripts = 0;
    parser->full = parser->templates = false;
    int status = feed(parser, bytes, length);
    page->document = parser->document;
    page->cut = page->cut || parser->full;
    page->templates = parser->templates;
    page->elements = parser->elements;
    page->data_scripts = parser->data_scripts;
    give_back(parser);
    if (status != OK) {
        parse_done(page);
        return status;
    }
    page->body = lxb_dom_interface_node(page->document->body);
    if (!page->body) {
        parse_done(page);
        return ERR_INVALID;
    }
    find_base(page);
    return OK;
}

void parse_done(struct page *page)
{
    if (page->document) {
        lxb_html_document_destroy(page->document);
        page->document = NULL;
        page->body = NULL;
    }
}
