/* Wikipedia (https://www.mediawiki.org/wiki/API:Search): GET /w/api.php, list=search with srsearch,
 * srlimit and sroffset, of the Wikipedia in the language that was asked for, or that the query is
 * written in. Errors come with HTTP 200 and have no list. */
#include "core/status.h"
#include "text/text.h"
#include "text/url.h"
#include "websearch/open/sources.h"

#include <ctype.h>
#include <string.h>

/* ---- the language ---- */

/* Scripts, and the language that most who write them search in. Latin says nothing. */
static const struct {
    uint32_t first, last;
    const char *code;
} SCRIPTS[] = {
    {0x0370, 0x03FF, "el"}, {0x0400, 0x052F, "ru"}, {0x0530, 0x058F, "hy"}, {0x0590, 0x05FF, "he"},
    {0x0600, 0x06FF, "ar"}, {0x0900, 0x097F, "hi"}, {0x0980, 0x09FF, "bn"}, {0x0B80, 0x0BFF, "ta"},
    {0x0E00, 0x0E7F, "th"}, {0x10A0, 0x10FF, "ka"}, {0x3040, 0x30FF, "ja"}, {0x4E00, 0x9FFF, "zh"},
    {0xAC00, 0xD7AF, "ko"},
};
#define SCRIPT_COUNT (sizeof SCRIPTS / sizeof *SCRIPTS)

/* Letters that only one language of their script has: one of them decides. */
static const struct {
    uint32_t letter;
    const char *code;
} LETTERS[] = {{0x0454, "uk"}, {0x0456, "uk"}, {0x0457, "uk"}, {0x0491, "uk"}, {0x06CC, "fa"}};

/* Languages whose Wikipedia has another code. */
static const char *const CODES[][2] = {{"nb", "no"}, {"fil", "tl"}};

static size_t script_of(uint32_t point)
{
    size_t i = 0;
    while (i < SCRIPT_COUNT && (point < SCRIPTS[i].first || point > SCRIPTS[i].last)) {
        i++;
    }
    return i;
}

static const char *language_of_text(const char *text)
{
    size_t counts[SCRIPT_COUNT + 1] = {0}; /* the last one: all other letters */
    const char *decided = NULL;
    for (const char *at = text, *end = text + strlen(text); at < end;) {
        uint32_t point = text_next(&at, end);
        size_t script = script_of(point);
        for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++) {
            decided = LETTERS[i].letter == point ? LETTERS[i].code : decided;
        }
        counts[script] += script < SCRIPT_COUNT || point > 0xBF || isalpha((int)point);
    }
    size_t most = SCRIPT_COUNT;
    for (size_t i = 0; i < SCRIPT_COUNT; i++) {
        most = counts[i] > counts[most] ? i : most;
    }
    if (most == SCRIPT_COUNT) {
        return "en";
    }
    /* Japanese is mostly written in the letters of Chinese. */
    bool kana = counts[script_of(0x3042)] && most == script_of(0x4E00);
    return decided ? decided : kana ? "ja" : SCRIPTS[most].code;
}

/* "pt" of "pt-BR". NULL without memory. */
static const char *language(struct arena *arena, const struct search_query *query)
{
    const char *wanted = query->language ? query->language : language_of_text(query->text);
    const char *code = arena_strndup(arena, wanted, strcspn(wanted, "-"));
    for (size_t i = 0; code && i < sizeof CODES / sizeof *CODES; i++) {
        code = strcmp(code, CODES[i][0]) == 0 ? CODES[i][1] : code;
    }
    return code;
}

/* ---- asking ---- */

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *code = language(request->arena, query);
    if (!*request->base) {
        request->base = arena_printf(request->arena, "https://%s.wikipedia.org", code);
    }
    provider_put(request, "action", "query");
    provider_put(request, "format", "json");
    provider_put(request, "formatversion", "2");
    provider_put(request, "list", "search");
    provider_put(request, "srsearch", query->text);
    provider_put_number(request, "srlimit", query->count);
    if (query->page > 1) {
        provider_put_number(request, "sroffset", query->count * (query->page - 1));
    }
    provider_put(request, "srprop", "snippet");
    source_lacks(request, LACKS_TIME | LACKS_REGION);
    return code && request->base ? OK : ERR_NOMEM;
}

/* ---- reading ---- */

/* The address of an article as Wikipedia itself writes it, so that it compares equal to what others
 * found. */
static const char *link_to(struct arena *arena, const char *code, const char *title)
{
    struct buf link;
    buf_init(&link, LIMIT_SEARCH_LINK_BYTES);
    buf_printf(&link, "https://%s.wikipedia.org/wiki/", code);
    for (; *title; title++) {
        if (*title == ' ') {
            buf_putc(&link, '_');
        } else if (strchr(";@$!*(),/:", *title)) {
            buf_putc(&link, *title);
        } else {
            url_encode(&link, title, 1);
        }
    }
    return buf_to_arena(&link, arena);
}

static struct hit read_article(struct arena *arena, yyjson_val *item,
                               const struct search_query *query)
{
    const char *code = language(arena, query);
    const char *title = json_string(item, "title");
    return (struct hit){
        .title = title,
        .link = code && title && *title ? link_to(arena, code, title) : NULL,
        .snippet = plain_text(arena, json_string(item, "snippet")),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    yyjson_val *list = yyjson_obj_get(yyjson_obj_get(answer, "query"), "search");
    return hits_add_each(arena, list, query, hits, read_article);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{10, 60000}}, .at_once = 3},
    .known = {.windows = {{200, 60000}}, .at_once = 3},
    .contact = CONTACT_WELCOME,
    .attribution = "Wikipedia: text under CC BY-SA 4.0",
};

const struct provider SOURCE_WIKIPEDIA = {
    .name = "wikipedia",
    .title = "Wikipedia",
    .base_variable = "WIKIPEDIA_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/w/api.php"},
    .build = build,
    .parse = parse,
};
