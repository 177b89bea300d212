/* Wikipedia, in any language: the article as MediaWiki's own interface renders it, without the
 * furniture around it. Its errors come with HTTP 200; a server that lags asks us to come back. */
#include "core/limits.h"
#include "html/compose.h"
#include "html/dom.h"
#include "html/parse.h"
#include "loaders/sites.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

#define TRIES_OF_A_LAGGING_SERVER 2

/* ---- whose URL it is ---- */

/* The value of a query's parameter, as it is written; false when it has none. */
static bool query_value(const char *query, const char *name, struct slice *value)
{
    size_t length = strlen(name);
    while (query && *query) {
        size_t pair = strcspn(query, "&");
        if (pair > length && strncmp(query, name, length) == 0 && query[length] == '=') {
            *value = (struct slice){query + length + 1, pair - length - 1};
            return value->length > 0;
        }
        query += pair + (query[pair] == '&');
    }
    return false;
}

/* "en" of en.wikipedia.org and en.m.wikipedia.org; the host without a language is the English one.
 */
static bool find_language(const char *host, char language[WIKIPEDIA_LANGUAGE_SIZE])
{
    size_t length;
    if (!host_below(host, "wikipedia.org", &length)) {
        return false;
    }
    if (length > 2 && strncmp(host + length - 2, ".m", 2) == 0) {
        length -= 2;
    }
    if (length == 0 || (length == 1 && host[0] == 'm') ||
        (length == 3 && !strncmp(host, "www", 3))) {
        host = "en";
        length = 2;
    }
    if (length < 2 || length >= WIKIPEDIA_LANGUAGE_SIZE || memchr(host, '.', length)) {
        return false;
    }
    memcpy(language, host, length);
    language[length] = '\0';
    return strcmp(language, "api") != 0 && strcmp(language, "login") != 0;
}

/* "/zh-cn/Title" and "/sr-el/Title": the same articles in another script. */
static bool is_script_of(const struct path *path, const char *language)
{
    size_t length = strlen(language);
    struct slice first = path->segments[0];
    return path->count > 1 && first.length > length + 1 && first.length <= length + 5 &&
           strncasecmp(first.data, language, length) == 0 && first.data[length] == '-';
}

bool wikipedia_find(const struct url *url, struct wikipedia_page *page)
{
    struct path path;
    struct slice value;
    memset(page, 0, sizeof *page);
    path_split(url->path, &path);
    if (!find_language(url->host, page->language)) {
        return false;
    }
    if (path_is(&path, 0, "wiki") || is_script_of(&path, page->language)) {
        const char *title = path_from(&path, 1);
        page->title = (struct slice){title, strlen(title)};
    } else if (path_is(&path, 1, "index.php") && path_is(&path, 0, "w") &&
               !query_value(url->query, "action", &value) &&
               !query_value(url->query, "diff", &value) &&
               !query_value(url->query, "oldid", &value)) {
        if (!query_value(url->query, "title", &page->title)) {
            query_value(url->query, "curid", &page->number);
        }
    } else if (path.count == 0) {
        query_value(url->query, "curid", &page->number);
    }
    return (page->title.length > 0 && strncasecmp(page->title.data, "Special:", 8) != 0) ||
           page->number.length > 0;
}

/* ---- an article as Markdown ---- */

/* Whether an element surrounds an article and is no part of it. */
static bool is_furniture(const lxb_dom_node_t *node)
{
    static const char SPACES[] = " \t\n\r\f";
    const char *classes = dom_class(node);
    for (size_t length; classes && *classes; classes += length) {
        classes += strspn(classes, SPACES);
        length = strcspn(classes, SPACES);
        if (words_text(&wikipedia_furniture, classes, length)) {
            return true;
        }
    }
    const char *role = dom_attr(node, "role");
    return role && strcasecmp(role, "navigation") == 0;
}

/* MediaWiki names the language of code on a frame around it; the code itself is where writers look.
 */
static void name_language(lxb_dom_node_t *node)
{
    static const char MARK[] = "mw-highlight-lang-";
    const char *classes = dom_class(node);
    const char *mark = classes ? strstr(classes, MARK) : NULL;
    lxb_dom_node_t *code = mark ? dom_find(node, LXB_TAG_PRE) : NULL;
    if (!code) {
        return;
    }
    char name[64];
    const char *language = mark + strlen(MARK);
    int length =
        snprintf(name, sizeof name, "language-%.*s", (int)strcspn(language, " \t\n"), language);
    if (length > 0 && (size_t)length < sizeof name) {
        lxb_dom_element_set_attribute(lxb_dom_interface_element(code), (const lxb_char_t *)"class",
                                      5, (const lxb_char_t *)name, (size_t)length);
    }
}

static void prepare(struct page *page)
{
    lxb_dom_node_t *node = page->body;
    while (node) {
        bool element = node->type == LXB_DOM_NODE_TYPE_ELEMENT && node != page->body;
        bool dropped = element && is_furniture(node);
        if (dropped) {
            node_mark(node, NODE_DROPPED);
        } else if (element) {
            name_language(node);
        }
        node = dom_next(node, page->body, !dropped);
    }
}

static int write_article(struct arena *arena, const char *html, const char *url, struct buf *out)
{
    struct page page = {.arena = arena, .url = url};
    int status = parse_html(&page, html, strlen(html));
    if (status == OK) {
        prepare(&page);
        page.roots = &page.body;
        page.root_count = 1;
        status = markdown_write(&page, out);
    }
    parse_done(&page);
    return status;
}

int wikipedia_write(struct arena *arena, yyjson_val *parse, const char *url,
                    struct document *document)
{
    const char *html = json_string(parse, "text");
    struct buf article;
    struct buf out;
    buf_init(&article, LIMIT_DOCUMENT_BYTES);
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    bool list = yyjson_obj_get(yyjson_obj_get(parse, "properties"), "disambiguation");
    document->kind = list ? "disambiguation" : "article";
    document->title = json_string(parse, "title");
    document->url = url;
    int status = html ? write_article(arena, html, url, &article) : OK;
    compose_heading(&out, "#", document->title);
    if (list) {
        buf_puts(&out, "_Several articles have this name; each is linked below._\n\n");
    }
    if (article.data) {
        compose_markdown(&out, article.data, article.length, 0, NULL);
    }
    buf_done(&article);
    if (status != OK) {
        buf_done(&out);
        return status == ERR_INVALID ? ERR_NOTFOUND : status;
    }
    return compose_done(arena, &out, document);
}

/* ---- asking ---- */

static const char *request_path(struct arena *arena, const struct wikipedia_page *page)
{
    static const char REST[] = "&prop=text%7Cproperties&format=json&formatversion=2&redirects=1"
                               "&disableeditsection=1&disabletoc=1&maxlag=5";
    struct buf path;
    buf_init(&path, 4 * LIMIT_URL_BYTES);
    buf_puts(&path, "/w/api.php?action=parse");
    if (page->number.length > 0) {
        buf_printf(&path, "&pageid=%.*s", (int)page->number.length, page->number.data);
    } else {
        size_t length;
        char *title = url_decode(arena, page->title.data, page->title.length, &length);
        buf_puts(&path, "&page=");
        if (title) {
            url_encode(&path, title, length);
        }
    }
    buf_puts(&path, REST);
    return buf_to_arena(&path, arena);
}

/* OK with the article, ERR_BUSY when the server asks us to come back. */
static int ask(struct service *service, const char *path, yyjson_val **parse, int64_t *wait_ms)
{
    struct source_response response;
    int status = service_get(service, &response, "%s", path);
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    const char *later = fetch_header_value(fetched, "retry-after");
    *wait_ms = later ? strtoll(later, NULL, 10) * 1000 : 1000;
    if (fetched->status == 429 || fetched->status == 503) {
        service_fail(service, "Wikipedia answered HTTP %d: too many requests", fetched->status);
        return ERR_BUSY;
    }
    yyjson_val *root;
    status = service_json(service, &response, &root);
    if (status != OK) {
        return status;
    }
    yyjson_val *error = yyjson_obj_get(root, "error");
    const char *code = json_string(error, "code");
    const char *info = json_string(error, "info");
    if (code && (strcmp(code, "maxlag") == 0 || strcmp(code, "ratelimited") == 0)) {
        service_fail(service, "Wikipedia is too busy: %s", info ? info : code);
        return ERR_BUSY;
    }
    if (code) {
        return words_text(&wikipedia_missing, code, strlen(code))
                   ? ERR_NOTFOUND
                   : service_fail(service, "Wikipedia: %s", info ? info : code);
    }
    *parse = yyjson_obj_get(root, "parse");
    return yyjson_is_obj(*parse)
               ? OK
               : service_fail(service, "Wikipedia answered HTTP %d without an article",
                              fetched->status);
}

/* The article's own address: where its links lead from, whatever we asked. */
static const char *article_url(struct arena *arena, const char *host, const char *title)
{
    struct buf url;
    buf_init(&url, 4 * LIMIT_URL_BYTES);
    buf_printf(&url, "%s/wiki/", host);
    for (; title && *title; title++) {
        if (*title == ' ') {
            buf_putc(&url, '_');
        } else if (strchr("/:(),!", *title)) {
            buf_putc(&url, *title);
        } else {
            url_encode(&url, title, 1);
        }
    }
    return buf_to_arena(&url, arena);
}

int wikipedia_load(struct call *call, const struct url *url, struct document *document,
                   const char **why)
{
    struct arena *arena = call_arena(call);
    struct wikipedia_page page;
    struct service service;
    if (!wikipedia_find(url, &page)) {
        return ERR_NOTFOUND;
    }
    const char *host = arena_printf(arena, "https://%s.wikipedia.org", page.language);
    const char *path = request_path(arena, &page);
    if (!host || !path) {
        return ERR_NOMEM;
    }
    int status = service_open(&service, call, "Wikipedia", "WIKIPEDIA_BASE_URL", host, why);
    yyjson_val *parse = NULL;
    call_progress(call, 0, 0, "asking Wikipedia");
    for (int tries = 0; status == OK && tries <= TRIES_OF_A_LAGGING_SERVER; tries++) {
        int64_t wait_ms = 0;
        status = ask(&service, path, &parse, &wait_ms);
        if (status != ERR_BUSY) {
            break;
        }
        service.uncached = true;
        bool last = tries == TRIES_OF_A_LAGGING_SERVER || wait_ms > TIME_SERVICE_PATIENCE_MS;
        status = last ? ERR_FAILED : call_sleep(call, wait_ms);
    }
    if (status != OK) {
        return status;
    }
    document->site = "Wikipedia";
    document->language = arena_strdup(arena, page.language);
    const char *address = article_url(arena, host, json_string(parse, "title"));
    return address ? wikipedia_write(arena, parse, address, document) : ERR_NOMEM;
}
