/* Looking a country up. */
#include "world/countries.h"

#include "embedded.h"

#include <string.h>
#include <strings.h>

/* The line of a country, "DE Germany", and its length; NULL when there is none. */
static const char *find(const char *code, size_t *length)
{
    for (const char *at = countries; strlen(code) == 2 && *at;) {
        *length = strcspn(at, "\n");
        if (*length > 3 && at[2] == ' ' && strncasecmp(at, code, 2) == 0) {
            return at;
        }
        at += *length + (at[*length] == '\n');
    }
    return NULL;
}

const char *country_code(struct arena *arena, const char *text)
{
    size_t length;
    const char *line = find(strcasecmp(text, "UK") == 0 ? "GB" : text, &length);
    return line ? arena_strndup(arena, line, 2) : NULL;
}

const char *country_name(struct arena *arena, const char *code)
{
    size_t length;
    const char *line = find(code, &length);
    return line ? arena_strndup(arena, line + 3, length - 3) : NULL;
}
