/* Looking a country up. */
#include "answer/region.h"

#include "embedded.h"

#include <string.h>
#include <strings.h>

const char *region_name(struct arena *arena, const char *code)
{
    for (const char *at = countries; strlen(code) == 2 && *at;) {
        size_t length = strcspn(at, "\n");
        if (length > 3 && at[2] == ' ' && strncasecmp(at, code, 2) == 0) {
            return arena_strndup(arena, at + 3, length - 3);
        }
        at += length + (at[length] == '\n');
    }
    return NULL;
}
