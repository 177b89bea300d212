/* DOIs, the names of papers that outlive their addresses: reading them, and where they lead. */
#include "websearch/open/sources.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *source_doi(const char *text)
{
    static const char *const BEFORE[] = {"https://doi.org/", "http://doi.org/",
                                         "https://dx.doi.org/", "http://dx.doi.org/", "doi:"};
    for (size_t i = 0; i < sizeof BEFORE / sizeof *BEFORE; i++) {
        if (strncasecmp(text, BEFORE[i], strlen(BEFORE[i])) == 0) {
            text += strlen(BEFORE[i]);
            break;
        }
    }
    text += strspn(text, " ");
    size_t digits = strncmp(text, "10.", 3) == 0 ? strspn(text + 3, "0123456789.") : 0;
    bool whole = digits >= 4 && text[3 + digits] == '/' && text[3 + digits + 1];
    return whole && !strpbrk(text, " \t\r\n") ? text : NULL;
}

const char *doi_link(struct arena *arena, const char *doi)
{
    const char *bare = doi ? source_doi(doi) : NULL;
    if (!bare) {
        return NULL;
    }
    struct buf link;
    buf_init(&link, LIMIT_URL_BYTES);
    buf_puts(&link, "https://doi.org/");
    for (; *bare; bare++) {
        unsigned char c = (unsigned char)*bare;
        bool plain = isalnum(c) || strchr("-._~/:;()", c);
        buf_printf(&link, plain ? "%c" : "%%%02X", tolower(c));
    }
    return buf_to_arena(&link, arena);
}
