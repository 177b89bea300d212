/* Bytes that come once and are read twice: the body of an import, which is checked as a whole
 * before any of it is taken. A few stay in memory; more go to a file in the data folder that has no
 * name, for its owner only, and is gone with the spool. How many bytes such files may hold is a
 * stock. */
#ifndef FORAGE_SERVER_SPOOL_H
#define FORAGE_SERVER_SPOOL_H

#include "core/buf.h"
#include "core/stock.h"
#include "text/slice.h"

#include <stdint.h>

struct call;

struct spool {
    struct call *call;
    struct stock *stock;
    struct holding bytes;
    struct buf memory;
    size_t length;
    int file; /* negative: there is none yet */
};

void spool_init(struct spool *spool, struct call *call, struct stock *stock);
void spool_done(struct spool *spool);
/* That many bytes will come. OK, or ERR_FAILED after call_fail() where there is no room for them.
 */
MUST_CHECK int spool_expect(struct spool *spool, size_t bytes);
/* OK, or ERR_FAILED after call_fail(); ERR_NOMEM. */
MUST_CHECK int spool_add(struct spool *spool, struct slice piece);
/* Reads what begins at `at` into `memory`, as far as that goes; nothing is left where `piece` is
 * empty. The same statuses. */
MUST_CHECK int spool_read(struct spool *spool, size_t at, char *memory, size_t size,
                          struct slice *piece);

#endif
