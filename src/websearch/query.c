/* Queries in the words that several providers share. */
#include "websearch/query.h"

#include "core/status.h"
#include "text/text.h"
#include "text/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

const char *const SEARCH_TYPE_WORDS[] = {"web", "news", "scholar", "images", "code", NULL};
const char *const SEARCH_FRESHNESS_WORDS[] = {NULL, "day", "week", "month", "year"};

/* ---- the text ---- */

const char *query_with_sites(struct arena *arena, const struct search_query *query)
{
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    buf_puts(&text, query->text);
    for (size_t i = 0; i < query->site_count; i++) {
        bool several = query->site_count > 1;
        buf_printf(&text, "%s%ssite:%s", i ? " OR " : " ", several && i == 0 ? "(" : "",
                   query->sites[i]);
        if (several && i + 1 == query->site_count) {
            buf_putc(&text, ')');
        }
    }
    for (size_t i = 0; i < query->exclude_site_count; i++) {
        buf_printf(&text, " -site:%s", query->exclude_sites[i]);
    }
    return buf_to_arena(&text, arena);
}

const char *query_clip(struct arena *arena, const char *text, size_t most, bool *cut)
{
    size_t length = strlen(text);
    size_t kept = text_prefix(text, length, most);
    *cut = kept < length;
    if (!*cut) {
        return text;
    }
    for (size_t at = kept; at > kept / 2; at--) {
        if (text[at] == ' ') {
            kept = at;
            break;
        }
    }
    return arena_strndup(arena, text, kept);
}

void query_put(struct buf *url, const char *name, const char *value)
{
    if (value) {
        buf_printf(url, "&%s=", name);
        url_encode(url, value, strlen(value));
    }
}

/* ---- sites ---- */

static bool is_of_site(const char *host, const char *site)
{
    size_t host_length = strlen(host);
    size_t length = strlen(site);
    if (host_length < length || strcasecmp(host + host_length - length, site) != 0) {
        return false;
    }
    return host_length == length || host[host_length - length - 1] == '.';
}

static bool is_of_any(const char *host, const char *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_of_site(host, sites[i])) {
            return true;
        }
    }
    return false;
}

bool query_allows(struct arena *arena, const struct search_query *query, const char *link)
{
    struct url url;
    if (!query->site_count && !query->exclude_site_count) {
        return true;
    }
    if (url_parse(arena, link, &url, NULL) != OK) {
        return false;
    }
    return (!query->site_count || is_of_any(url.host, query->sites, query->site_count)) &&
           !is_of_any(url.host, query->exclude_sites, query->exclude_site_count);
}

/* ---- dates ---- */

bool query_is_date(const char *text)
{
    struct tm parts = {0};
    char again[16];
    if (!strptime(text, "%Y-%m-%d", &parts) || parts.tm_year < 0) {
        return false;
    }
    /* timegm() makes 2 March of 30 February: what is written again is another date. */
    return timegm(&parts) != -1 && strftime(again, sizeof again, "%Y-%m-%d", &parts) != 0 &&
           strcmp(again, text) == 0;
}

const char *query_days_ago(struct arena *arena, int days)
{
    time_t then = time(NULL) - (time_t)days * 24 * 60 * 60;
    struct tm parts;
    char text[16];
    if (!gmtime_r(&then, &parts) || strftime(text, sizeof text, "%Y-%m-%d", &parts) == 0) {
        return NULL;
    }
    return arena_strdup(arena, text);
}

const char *query_since(struct arena *arena, const struct search_query *query)
{
    static const int DAYS[] = {
        [FRESH_DAY] = 1, [FRESH_WEEK] = 7, [FRESH_MONTH] = 31, [FRESH_YEAR] = 365};
    return query->freshness == FRESH_ANY ? query->start_date
                                         : query_days_ago(arena, DAYS[query->freshness]);
}

/* Google writes dates as month/day/year. "" for none. */
static const char *google_date(struct arena *arena, const char *name, const char *date)
{
    return date ? arena_printf(arena, ",%s:%.2s/%.2s/%.4s", name, date + 5, date + 8, date) : "";
}

const char *query_google_time(struct arena *arena, const struct search_query *query)
{
    static const char LETTERS[] = {
        [FRESH_DAY] = 'd', [FRESH_WEEK] = 'w', [FRESH_MONTH] = 'm', [FRESH_YEAR] = 'y'};
    if (query->freshness != FRESH_ANY) {
        return arena_printf(arena, "qdr:%c", LETTERS[query->freshness]);
    }
    if (!query->start_date && !query->end_date) {
        return NULL;
    }
    return arena_printf(arena, "cdr:1%s%s", google_date(arena, "cd_min", query->start_date),
                        google_date(arena, "cd_max", query->end_date));
}
