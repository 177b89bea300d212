/* Looks countries up in the tables of data/countries.txt and data/search-providers.txt. */
#include "tables.h"
#include "world/world.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *country_name(const char *code)
{
    return words_text(&country_names, code, strlen(code));
}

const char *country_code(struct arena *arena, const char *text)
{
    const char *code = strcasecmp(text, "UK") == 0 ? "GB" : text;
    return country_name(code) ? arena_printf(arena, "%c%c", toupper((unsigned char)code[0]),
                                             toupper((unsigned char)code[1]))
                              : NULL;
}

const char *country_for_tavily(struct arena *arena, const char *code)
{
    const char *name = words_text(&tavily_countries, code, strlen(code));
    if (!name || strcmp(name, code) != 0) {
        return name;
    }
    char *copy = arena_strdup(arena, country_name(code));
    for (char *at = copy; at && *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return copy;
}
