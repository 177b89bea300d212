/* The documents that were made of the last answers of the cache, so that a page in parts is parsed
 * once. A document is found by the mark of its answer: whoever finds it has seen that the cache
 * still has that very answer, and may read it. Safe to use from many threads. */
#ifndef FORAGE_READER_KEPT_H
#define FORAGE_READER_KEPT_H

#include "html/document.h"
#include "source/cache.h"

struct kept;

struct kept *kept_new(void);
struct kept *kept_free(struct kept *kept);

/* What a document was made of, and what else it depends on. */
struct kept_key {
    struct cache_mark mark;
    bool all;
    bool scripts_ran;
};

struct made_document {
    struct document document; /* its address, its age and what a browser did are the reading's */
    bool html;
    bool shell;    /* as of extract.h; the same for what follows, */
    size_t length; /* which is without the title */
};

/* Copies it into the arena. False: there is none, or no memory. */
bool kept_find(struct kept *kept, const struct kept_key *key, struct arena *arena,
               struct made_document *made);
/* Keeps a copy. Of other answers to the same question none is kept any longer. */
void kept_put(struct kept *kept, const struct kept_key *key, const struct made_document *made);

#endif
