/* What requests to open sources are made of: words that every one of them understands, the country,
 * and whom to write to. */
#include "config/config.h"
#include "websearch/open/sources.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *words_only(struct arena *arena, const char *text, const char *kept)
{
    size_t quotes = 0;
    for (const char *at = text; *at; at++) {
        quotes += *at == '"';
    }
    char *words = arena_alloc(arena, strlen(text) + 1);
    size_t length = 0;
    for (const char *at = text; words && *at; at++) {
        bool mark =
            ispunct((unsigned char)*at) && (!strchr(kept, *at) || (*at == '"' && quotes % 2 != 0));
        bool blank = mark || isspace((unsigned char)*at);
        if (!blank) {
            words[length++] = *at;
        } else if (length && words[length - 1] != ' ') {
            words[length++] = ' ';
        }
    }
    if (!words) {
        return NULL;
    }
    length -= length && words[length - 1] == ' ';
    words[length] = '\0';
    return length ? words : text;
}

const char *query_country(const struct search_query *query)
{
    const char *dash = query->language ? strchr(query->language, '-') : NULL;
    bool named = dash && strlen(dash + 1) == 2 && isupper((unsigned char)dash[1]);
    return query->region ? query->region : named ? dash + 1 : NULL;
}

const char *source_mail(void)
{
    static const char SCHEME[] = "mailto:";
    const char *contact = config_text("FORAGE_CONTACT");
    if (!contact || !strchr(contact, '@') || strstr(contact, "://")) {
        return NULL;
    }
    bool written = strncasecmp(contact, SCHEME, sizeof SCHEME - 1) == 0;
    return written ? contact + sizeof SCHEME - 1 : contact;
}
