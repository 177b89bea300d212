/* Files seen as memory, for reading only. A file that is cut, or a disk that fails, under a mapping
 * does not end the process: the mapping reads as zeros from then on and says so. Whoever reads one
 * bounds every offset that it finds in it, asks mapping_damaged() when it is done, and throws away
 * what it read if so. */
#ifndef FORAGE_CORE_MAPPING_H
#define FORAGE_CORE_MAPPING_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct mapping;

/* Maps the first `length` bytes, at least one, of an open file, which may be closed afterwards. OK;
 * ERR_LIMIT when there are too many; ERR_NOMEM; ERR_IO with errno saying why. */
MUST_CHECK int mapping_open(int fd, size_t length, struct mapping **mapping);
/* Nobody may be reading. Returns NULL. */
struct mapping *mapping_close(struct mapping *mapping);
const unsigned char *mapping_data(const struct mapping *mapping);
bool mapping_damaged(const struct mapping *mapping);

#endif
