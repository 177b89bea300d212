/* The configuration file: lines of KEY=value, as a shell could read them, but nothing is ever
 * expanded.
 *
 *   # a comment
 *   KEY=value                  ends at the line's end or at a # after a blank
 *   export KEY = value         "export" and blanks around = are allowed
 *   KEY='taken as it is'
 *   KEY="with \n \t \" \\ \$"
 *
 * Text is UTF-8, with or without a byte order mark; lines may end in CR LF.
 *
 * systemd reads such files too (EnvironmentFile=), by rules of its own. A line that it reads
 * otherwise is marked; whatever else it would read otherwise is refused. */
#ifndef FORAGE_CONFIG_ENVFILE_H
#define FORAGE_CONFIG_ENVFILE_H

#include "core/arena.h"

#include <stddef.h>

#define ENVFILE_MOST_ENTRIES 1024
#define ENVFILE_LONGEST_KEY  128

struct envfile_entry {
    const char *key;
    const char *value;
    size_t line;           /* from 1 */
    const char *otherwise; /* a phrase: how systemd reads the line; NULL: as we do */
};

struct envfile {
    struct envfile_entry *entries; /* in the order of the file; a key may come twice */
    size_t count;
};

/* OK, or ERR_INVALID, ERR_LIMIT or ERR_NOMEM with "line 7: ..." in `problem`. Entries live in the
 * arena. */
int envfile_parse(struct arena *arena, const char *text, size_t length, struct envfile *file,
                  char *problem, size_t size);
/* Reads and parses a file. `mode` receives its permission bits. ERR_NOTFOUND when there is none,
 * ERR_IO when it cannot be read, otherwise as envfile_parse. */
int envfile_read(struct arena *arena, const char *path, struct envfile *file, unsigned *mode,
                 char *problem, size_t size);

#endif
