/* What does not change which page an address means. */
#include "websearch/canonical.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/url.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Parameters that tell where a reader came from; one that ends in * stands for all that begin so.
 */
static const char *const TRACKING[] = {
    "utm_*",   "gclid",   "gclsrc",  "dclid",   "gbraid",      "wbraid",     "fbclid",  "msclkid",
    "yclid",   "igshid",  "mc_cid",  "mc_eid",  "_ga",         "_gl",        "_hsenc",  "_hsmi",
    "mkt_tok", "ref_src", "ref_url", "srsltid", "oly_anon_id", "oly_enc_id", "vero_id", "s_cid",
    "ncid",    "cmpid",   "spm",     "twclid",  "ttclid",      "li_fat_id",
};

static bool is_tracking(const char *parameter, size_t length)
{
    size_t name = strcspn(parameter, "=&");
    name = name < length ? name : length;
    for (size_t i = 0; i < sizeof TRACKING / sizeof *TRACKING; i++) {
        size_t own = strlen(TRACKING[i]);
        bool begins = TRACKING[i][own - 1] == '*';
        own -= begins;
        if ((begins ? name >= own : name == own) && strncasecmp(parameter, TRACKING[i], own) == 0) {
            return true;
        }
    }
    return false;
}

static void put_query(struct buf *out, const char *query)
{
    char mark = '?';
    while (query && *query) {
        size_t length = strcspn(query, "&");
        if (length && !is_tracking(query, length)) {
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
    int status = url_parse(arena, link, &url, NULL);
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
