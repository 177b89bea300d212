/* Links: absolute, and without what only tracks the reader. */
#include "page/html/markdown/writer.h"

#include "core/status.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

static bool tracks(const char *name, size_t length)
{
    return words_match(&link_tracking, name, length) != 0;
}

/* The address without its tracking parameters. */
static const char *untrack(struct arena *arena, const struct url *url)
{
    const char *query = url->query;
    if (!query || !strchr(query, '=')) {
        return url->text;
    }
    bool found = false;
    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
        found = found || tracks(at, strcspn(at, "=&"));
    }
    if (!found) {
        return url->text;
    }
    const char *from = strchr(url->text, '?');
    size_t room = strlen(url->text) + 1;
    char *out = arena_alloc(arena, room);
    if (!out || !from) {
        return url->text;
    }
    size_t used = (size_t)(from - url->text);
    memcpy(out, url->text, used);
    char separator = '?';
    for (const char *at = query; *at;) {
        size_t length = strcspn(at, "&");
        if (!tracks(at, strcspn(at, "=&"))) {
            out[used++] = separator;
            memcpy(out + used, at, length);
            used += length;
            separator = '&';
        }
        at += length + (at[length] == '&');
    }
    size_t fragment = url->fragment ? strlen(url->fragment) : 0;
    if (fragment) {
        out[used++] = '#';
        memcpy(out + used, url->fragment, fragment);
        used += fragment;
    }
    out[used] = '\0';
    return out;
}

/* Parentheses and angles end a link early in Markdown unless they are paired. */
static const char *escape_parentheses(struct arena *arena, const char *url)
{
    int depth = 0;
    bool paired = true;
    for (const char *at = url; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        paired = paired && depth >= 0;
    }
    if (paired && depth == 0) {
        return url;
    }
    struct buf out;
    buf_init(&out, strlen(url) * 3);
    for (const char *at = url; *at; at++) {
        if (*at == '(' || *at == ')') {
            buf_puts(&out, *at == '(' ? "%28" : "%29");
        } else {
            buf_putc(&out, *at);
        }
    }
    const char *copy = out.data ? arena_strdup(arena, out.data) : NULL;
    buf_done(&out);
    return copy ? copy : url;
}

static bool has_other_scheme(const char *reference)
{
    size_t i = 0;
    while (isalnum((unsigned char)reference[i]) ||
           (i && strchr("+-.", reference[i]) && reference[i])) {
        i++;
    }
    return i && reference[i] == ':' && strncasecmp(reference, "http:", 5) != 0 &&
           strncasecmp(reference, "https:", 6) != 0;
}

const char *link_resolve(struct writer *writer, const char *reference)
{
    while (isspace((unsigned char)*reference)) {
        reference++;
    }
    if (*reference == '#') {
        return reference;
    }
    if (has_other_scheme(reference)) {
        bool mail = strncasecmp(reference, "mailto:", 7) == 0 && !strpbrk(reference, " \n\r\t<>()");
        return mail ? arena_strdup(writer->arena, reference) : NULL;
    }
    struct url url;
    int status = writer->has_base ? url_resolve(writer->arena, &writer->base, reference, &url, NULL)
                                  : url_parse(writer->arena, reference, &url, NULL);
    if (status != OK) {
        return NULL;
    }
    return escape_parentheses(writer->arena, untrack(writer->arena, &url));
}

/* Whether the address is a place on this very page. */
static bool is_same_page(const struct writer *writer, const char *url)
{
    const char *hash = strchr(url, '#');
    if (!hash || !writer->page->url) {
        return hash == url;
    }
    size_t length = strcspn(writer->page->url, "#");
    return (size_t)(hash - url) == length && strncmp(url, writer->page->url, length) == 0;
}

static bool is_image_file(const char *url)
{
    static const char *const ENDINGS[] = {".jpg",  ".jpeg", ".png", ".gif",
                                          ".webp", ".avif", ".svg", NULL};
    size_t length = strcspn(url, "?#");
    for (const char *const *ending = ENDINGS; *ending; ending++) {
        size_t size = strlen(*ending);
        if (length > size && strncasecmp(url + length - size, *ending, size) == 0) {
            return true;
        }
    }
    return false;
}

void write_link(struct writer *writer, lxb_dom_node_t *node)
{
    const char *href = dom_known_attr(node, LXB_DOM_ATTR_HREF);
    const char *url = href && *href ? link_resolve(writer, href) : NULL;
    bool plain = !url || *url == '#' || is_same_page(writer, url) ||
                 (is_image_file(url) && dom_find(node, LXB_TAG_IMG) && !dom_has_text(node));
    if (plain) {
        write_children(writer, node);
        return;
    }
    format_open(writer, FORMAT_LINK, url);
    write_children(writer, node);
    format_close(writer);
}
