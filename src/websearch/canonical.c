/* What does not change which page an address means. */
#include "websearch/canonical.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/url.h"
#include "world/tracking.h"

#include <stdbool.h>
#include <string.h>

/* Empty parameters ask for nothing. */
static void put_query(struct buf *out, const char *query)
{
    char mark = '?';
    while (query && *query) {
        size_t length = strcspn(query, "&");
        if (length) {
            buf_putc(out, mark);
            buf_append(out, query, length);
            mark = '&';
        }
        query += length + (query[length] == '&');
    }
}

const char *canonical_url(struct arena *arena, const char *link)
{
    struct url url;
    const char *plain = tracking_strip(arena, link);
    int status = plain ? url_parse(arena, plain, &url, NULL) : ERR_NOMEM;
    if (status != OK) {
        return status == ERR_NOMEM ? NULL : link;
    }
    struct buf out;
    buf_init(&out, 2 * LIMIT_URL_BYTES);
    bool usual = url.port == 80 || url.port == 443;
    buf_puts(&out, strncmp(url.host, "www.", 4) == 0 ? url.host + 4 : url.host);
    if (!usual) {
        buf_printf(&out, ":%d", url.port);
    }
    size_t path = strlen(url.path);
    while (path > 0 && url.path[path - 1] == '/') {
        path--;
    }
    buf_append(&out, url.path, path);
    put_query(&out, url.query);
    /* Some sites show another page for another fragment, and mark it so. */
    if (url.fragment && (*url.fragment == '!' || *url.fragment == '/')) {
        buf_printf(&out, "#%s", url.fragment);
    }
    const char *text = buf_error(&out) ? NULL : arena_strndup(arena, out.data, out.length);
    buf_done(&out);
    return text;
}
