/* Looking at a URL to tell whose it is: its host without what every site has in front, and the
 * segments of its path. Pure, and without memory: everything points into the URL. */
#ifndef FORAGE_PAGE_LOADERS_PATHS_H
#define FORAGE_PAGE_LOADERS_PATHS_H

#include "text/url.h"

#include <stdbool.h>
#include <stddef.h>

#define PATH_SEGMENTS 8

struct segment {
    const char *text;
    size_t length;
};

struct path {
    struct segment segments[PATH_SEGMENTS];
    size_t count; /* of those; what comes after is in `rest` */
    const char *
        rest; /* what follows the segments that are here, without a slash in front; "" at the end */
};

/* Empty segments do not count. */
void path_split(const char *text, struct path *path);
/* Whether there is a segment `index` and it is the word, in any case of letters. */
bool path_is(const struct path *path, size_t index, const char *word);
/* Whether it is a number of at most 18 digits. */
bool path_is_number(const struct path *path, size_t index);
/* Everything from segment `index` on. */
const char *path_from(const struct path *path, size_t index);

/* The host without "www." or "m.". */
const char *host_plain(const char *host);
/* What stands before ".domain" in the host: its length, 0 when the host is the domain itself; false
 * when it is neither. */
bool host_below(const char *host, const char *domain, size_t *prefix_length);

/* A copy in the arena. */
char *segment_text(struct arena *arena, struct segment segment);

#endif
