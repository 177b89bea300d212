/* What is in one file of the cache: a few lines of text, a checksum over everything, and the body.
 *
 *   forage-cache 1
 *   key 9f86d0...
 *   url https://example.org/
 *   header content-type: text/html
 *   body 1256
 *   sum 0123456789abcdef
 *   (an empty line, then the body) */
#ifndef FORAGE_PAGE_SOURCE_CACHE_FILE_H
#define FORAGE_PAGE_SOURCE_CACHE_FILE_H

#include "page/source/cache.h"

/* OK; ERR_INVALID for a file that is broken, of another version or for another key; ERR_NOMEM. */
int cache_file_read(int fd, size_t size, const char *key, struct arena *arena,
                    struct cache_entry *entry);
/* OK with the file's size; ERR_IO with errno set, ERR_LIMIT, ERR_NOMEM. */
int cache_file_write(int fd, const char *key, const struct cache_entry *entry, uint64_t *size);

#endif
