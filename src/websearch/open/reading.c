/* Markup that open sources answer with: texts with elements in them, and feeds of such texts. */
#include "core/status.h"
#include "loaders/bodies.h"
#include "text/text.h"
#include "websearch/open/sources.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *one_line(struct arena *arena, const char *text)
{
    struct buf line;
    buf_init(&line, LIMIT_SEARCH_ANSWER_BYTES);
    compose_line(&line, text);
    return text ? buf_to_arena(&line, arena) : NULL;
}

/* ---- markup ---- */

/* Elements within a word or a line, without the prefix of JATS; where any other begins or ends, so
 * does a word. */
static const char *const INLINE[] = {"a",    "b",      "bold", "code", "em", "font",
                                     "i",    "italic", "mark", "sans", "sc", "small",
                                     "span", "strong", "sub",  "sup",  "u",  "underline"};

static bool is_inline(const char *name, size_t length)
{
    const char *colon = memchr(name, ':', length);
    length -= colon ? (size_t)(colon + 1 - name) : 0;
    name = colon ? colon + 1 : name;
    for (size_t i = 0; i < sizeof INLINE / sizeof *INLINE; i++) {
        if (strlen(INLINE[i]) == length && strncasecmp(name, INLINE[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* What follows a tag or comment that begins at `at`; NULL when none does. */
static const char *after_tag(const char *at, bool *within)
{
    const char *name = at + 1 + (at[1] == '/');
    if (!isalpha((unsigned char)*name) && at[1] != '!') {
        return NULL;
    }
    const char *end = strchr(name, '>');
    *within = is_inline(name, strcspn(name, " \t\r\n/>"));
    return end ? end + 1 : NULL;
}

const char *plain_markup(struct arena *arena, const char *markup)
{
    struct buf text;
    if (!markup) {
        return NULL;
    }
    buf_init(&text, LIMIT_SEARCH_ANSWER_BYTES);
    while (*markup) {
        size_t plain = strcspn(markup, "<");
        bool within = false;
        buf_append(&text, markup, plain);
        markup += plain;
        const char *after = *markup ? after_tag(markup, &within) : NULL;
        if (after) {
            buf_puts(&text, within ? "" : " ");
            markup = after;
        } else if (*markup) {
            buf_putc(&text, *markup++);
        }
    }
    /* Marks that were written as references are no tags: only now are those read. */
    const char *line = one_line(arena, plain_text(arena, text.data));
    buf_done(&text);
    return line;
}

/* ---- feeds ---- */

int feed_hits(struct arena *arena, const char *text, size_t length,
              const struct search_query *query, bool html, struct hits *hits)
{
    struct feed *feed = arena_alloc(arena, sizeof *feed);
    int status = feed ? feed_parse(arena, text, length, feed) : ERR_NOMEM;
    if (status != OK) {
        return status == ERR_NOTFOUND ? ERR_INVALID : status;
    }
    if (feed->cut && feed->count < LIMIT_FEED_ITEMS) {
        return ERR_INVALID; /* it ends too early, and so may its last item */
    }
    for (size_t i = 0; i < feed->count; i++) {
        const char *const *values = feed->items[i].values;
        if (values[FEED_SITE] && !query_allows(arena, query, values[FEED_SITE])) {
            continue;
        }
        hits_add(hits, &(struct hit){
                           .title = html ? plain_markup(arena, values[FEED_TITLE])
                                         : one_line(arena, values[FEED_TITLE]),
                           .link = values[FEED_LINK],
                           .snippet = html ? plain_markup(arena, values[FEED_SUMMARY])
                                           : one_line(arena, values[FEED_SUMMARY]),
                           .published = feed_day(arena, values[FEED_DATE]),
                       });
    }
    return OK;
}
