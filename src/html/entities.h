/* lexbor's table of entities, which is filled in when the first page of HTML comes. */
#ifndef FORAGE_HTML_ENTITIES_H
#define FORAGE_HTML_ENTITIES_H

#include "core/status.h"

/* Before the first parser is made; from any thread. OK, or ERR_NOMEM where the system gives no
 * memory for it; another page may try again. */
MUST_CHECK int entities_fill(void);

#endif
