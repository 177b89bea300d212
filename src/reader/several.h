/* Several pages in one call: read side by side, each on a thread and with a call of its own, and
 * cut so that all together fit one budget. What goes wrong with one is told in its own result. */
#ifndef FORAGE_READER_SEVERAL_H
#define FORAGE_READER_SEVERAL_H

#include "reader/content.h"

/* Reads what `wish` says of each URL; its `url` is not looked at, and `max_chars` and `budget` are
 * for all of them together. `object` is what get_content answers with, in `doc`. OK; ERR_FAILED
 * after call_fail() when there are more than fit into the budget; ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int several_read(struct call *call, const struct content_request *wish,
                            const char *const *urls, size_t count, yyjson_mut_doc *doc,
                            yyjson_mut_val **object);

#endif
