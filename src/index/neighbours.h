/* Who stands beside a document in its session, wherever in the view they are. */
#ifndef FORAGE_INDEX_NEIGHBOURS_H
#define FORAGE_INDEX_NEIGHBOURS_H

#include "core/arena.h"
#include "index/view.h"

#define NEIGHBOURS_REACH 2 /* on each side */

struct neighbour {
    uint32_t part, document; /* NO_DOCUMENT: there is none */
};

struct neighbours {
    const struct view *view;
    uint32_t part, session; /* whose names were looked up last */
    uint32_t *sessions;     /* its numbers in all parts */
    uint64_t hash;          /* of its name */
};

/* OK, ERR_NOMEM. */
int neighbours_start(struct neighbours *neighbours, struct arena *arena, const struct view *view);
/* Looks up the session of a document; false: it is in none. */
bool neighbours_session(struct neighbours *neighbours, uint32_t part, uint32_t document);
/* The living members of the session that was looked up before the document and behind it, the
 * nearest first. */
void neighbours_find(const struct neighbours *neighbours, uint32_t part, uint32_t document,
                     struct neighbour before[NEIGHBOURS_REACH],
                     struct neighbour behind[NEIGHBOURS_REACH]);

#endif
