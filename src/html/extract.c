/* The extractor: decode, parse, look, choose, write. */
#include "html/extract.h"

#include "core/limits.h"
#include "core/status.h"
#include "html/access.h"
#include "html/charset.h"
#include "html/dom.h"
#include "html/embedded.h"
#include "html/hidden.h"
#include "html/metadata.h"
#include "html/omitted.h"
#include "html/page.h"
#include "html/parse.h"
#include "html/stream.h"
#include "text/count.h"

#include <string.h>
#include <strings.h>

#define SMALL_BYTES   400 /* a page of no more text is read as it is, */
#define SMALL_LINKS   8   /* and of no more links */
#define SHELL_WORDS   20  /* fewer than this, and whatever can add to the page has to fill it */
#define LITTLE_WORDS  50  /* fewer than this and what it carries as data is looked at */
#define PRODUCT_WORDS 100 /* the same of a product */
#define WHOLE_WORDS   150 /* as many in its data are its text, and no script is needed */

/* Bytes that no page has: what was sent is some other kind of file. */
static bool is_binary(const char *bytes, size_t length)
{
    size_t looked = length < 1024 ? length : 1024;
    size_t odd = 0;
    for (size_t i = 0; i < looked; i++) {
        unsigned char c = (unsigned char)bytes[i];
        odd += c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1B;
    }
    return looked && odd * 10 > looked;
}

/* A copy for the caller; NULL stays NULL. */
static const char *keep(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* Everything that the caller gets, out of the memory that the page was read in. */
static int fill_result(struct arena *arena, const struct page *page, const struct buf *out,
                       struct extract_result *result)
{
    const struct page_metadata *metadata = &page->metadata;
    result->markdown = arena_strndup(arena, out->data ? out->data : "", out->length);
    result->length = out->length;
    result->kind = page_kind_name(page->kind);
    result->title = keep(arena, metadata->title);
    result->authors = keep(arena, metadata->authors);
    result->published = keep(arena, metadata->published);
    result->modified = keep(arena, metadata->modified);
    result->site = keep(arena, metadata->site);
    result->canonical = keep(arena, metadata->canonical);
    result->language = keep(arena, metadata->language);
    result->description = keep(arena, metadata->description);
    result->words = count_words(result->markdown, out->length);
    result->cut = page->cut;
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* Adds what the page carries as data, as far as it says too little itself. */
static int add_embedded(struct page *page, struct buf *out, size_t words)
{
    const char *markdown = out->data ? out->data : "";
    const char *html = NULL;
    if (page->kind == PAGE_PRODUCT && words < PRODUCT_WORDS) {
        html = embedded_product(page, markdown);
    }
    if (!html && words < LITTLE_WORDS) {
        html = embedded_text(page);
    }
    if (!html) {
        return OK;
    }
    struct page more = {.arena = page->arena, .url = page->url};
    int status = parse_html(&more, html, strlen(html));
    if (status != OK) {
        return status == ERR_NOMEM ? status : OK;
    }
    hidden_mark(&more);
    more.roots = &more.body;
    more.root_count = 1;
    if (out->length) {
        buf_putc(out, '\n');
    }
    status = markdown_write(&more, out);
    parse_done(&more);
    return status;
}

/* Whether a page is a few lines that no script adds to any more, and calls no part of itself
 * content, navigation or the like. Nothing in it is machinery by comparison with the rest: its one
 * link may be all that it is there for. */
static bool is_small(const struct page *page, bool scripts_ran)
{
    static const bool BUILDS[LXB_TAG__LAST_ENTRY] = {
        [LXB_TAG_ARTICLE] = true, [LXB_TAG_ASIDE] = true,  [LXB_TAG_FOOTER] = true,
        [LXB_TAG_FORM] = true,    [LXB_TAG_HEADER] = true, [LXB_TAG_MAIN] = true,
        [LXB_TAG_NAV] = true,     [LXB_TAG_SCRIPT] = true, [LXB_TAG_SECTION] = true,
    };
    char text[SMALL_BYTES + 8];
    size_t links = 0;
    if (dom_collect(page->body, text, sizeof text) > SMALL_BYTES) {
        return false;
    }
    const lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        lxb_tag_id_t tag = dom_tag(node);
        links += tag == LXB_TAG_A;
        if (tag < LXB_TAG__LAST_ENTRY && BUILDS[tag] && !(tag == LXB_TAG_SCRIPT && scripts_ran)) {
            return false;
        }
    }
    return links <= SMALL_LINKS;
}

/* A script that runs, and is not data. */
static bool is_run(const lxb_dom_node_t *script)
{
    const char *type = dom_attr(script, "type");
    return !type || !*type || strcasecmp(type, "module") == 0 || strcasestr(type, "javascript") ||
           strcasestr(type, "ecmascript");
}

/* Whether a browser could show more of a page than it holds: by scripts, by frames, or by leading
 * to another page. */
static bool can_grow(const struct page *page)
{
    const lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    for (const lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        const char *directive;
        switch (dom_tag(node)) {
        case LXB_TAG_SCRIPT:
            if (is_run(node)) {
                return true;
            }
            break;
        case LXB_TAG_BODY:
            if (dom_attr(node, "onload")) {
                return true;
            }
            break;
        case LXB_TAG_META:
            directive = dom_attr(node, "http-equiv");
            if (directive && strcasecmp(directive, "refresh") == 0) {
                return true;
            }
            break;
        case LXB_TAG_IFRAME:
        case LXB_TAG_FRAME:
            return true;
        default:
            break;
        }
    }
    return false;
}

/* The tree exists from here on. */
static int extract_tree(struct arena *arena, struct page *page, const struct extract_input *input,
                        struct extract_result *result)
{
    stream_settle(page);
    hidden_mark(page);
    jsonld_read(page);
    metadata_read(page);
    int status = choose_content(page);
    if (status != OK) {
        return status;
    }
    if (input->all || is_small(page, input->scripts_ran)) {
        omitted_restore(page);
    }
    struct buf out;
    buf_init(&out, LIMIT_MARKDOWN_BYTES);
    status = markdown_write(page, &out);
    size_t words = status != OK ? WHOLE_WORDS : out.length ? count_words(out.data, out.length) : 0;
    if (words < PRODUCT_WORDS) {
        status = add_embedded(page, &out, words);
    }
    if (status == ERR_LIMIT) {
        page->cut = true;
        status = OK;
    }
    if (status == OK) {
        status = fill_result(arena, page, &out, result);
        result->access = access_find(page, result->markdown, result->length);
        result->shell = words < SHELL_WORDS && result->words < WHOLE_WORDS && can_grow(page);
    }
    if (status == OK) {
        status = omitted_account(page, arena, input->account, result);
    }
    buf_done(&out);
    return status;
}

static int extract_text(struct arena *arena, struct arena *scratch,
                        const struct extract_input *input, struct extract_result *result)
{
    struct charset_text text;
    struct charset_hints hints = {input->content_type, input->language, input->url};
    int status = charset_decode(scratch, input->bytes, input->length, &hints, &text);
    if (status != OK || is_binary(text.bytes, text.length)) {
        return status == OK ? ERR_INVALID : status;
    }
    result->encoding = text.encoding;
    result->encoding_guessed = text.guessed;
    struct page page = {.arena = scratch,
                        .url = input->url && *input->url ? input->url : NULL,
                        .model = input->model};
    status = parse_html(&page, text.bytes, text.length);
    if (status == ERR_INVALID && page.cut) {
        /* It ended before its body began: there is nothing, which is its beginning. */
        struct buf empty;
        buf_init(&empty, 0);
        result->shell = true;
        return fill_result(arena, &page, &empty, result);
    }
    if (status == OK) {
        status = extract_tree(arena, &page, input, result);
        parse_done(&page);
    }
    return status;
}

static int extract_once(struct arena *arena, const struct extract_input *input,
                        struct extract_result *result)
{
    memset(result, 0, sizeof *result);
    struct arena *scratch = arena_new(LIMIT_PAGE_SCRATCH_BYTES);
    int status = scratch ? extract_text(arena, scratch, input, result) : ERR_NOMEM;
    arena_free(scratch);
    return status;
}

/* Whether a page is a shell, or behind a wall, its main part tells: a menu is there in any case. */
static int look_at_main_part(const struct extract_input *input, struct extract_result *part)
{
    struct extract_input main_part = *input;
    main_part.all = main_part.account = false;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    int status = arena ? extract_once(arena, &main_part, part) : ERR_NOMEM;
    arena_free(arena);
    return status;
}

int extract_page(struct arena *arena, const struct extract_input *input,
                 struct extract_result *result)
{
    struct extract_result part = {0};
    int status = input->all ? look_at_main_part(input, &part) : OK;
    status = status == OK ? extract_once(arena, input, result) : status;
    if (status == OK && input->all) {
        result->shell = part.shell;
        result->access = part.access;
    }
    return status;
}

int extract_fragment(struct arena *arena, const char *html, size_t length, const char *base_url,
                     struct buf *out, bool *cut)
{
    struct page page = {.arena = arena, .url = base_url};
    int status = parse_html(&page, html, length);
    if (cut) {
        *cut = *cut || page.cut;
    }
    if (status != OK) {
        return status;
    }
    page.roots = &page.body;
    page.root_count = 1;
    status = markdown_write(&page, out);
    parse_done(&page);
    return status;
}
