/* An index and its shelf: what was kept is loaded, what is new is brought there, and segments that
 * hold deleted words are written anew without them. Saving has three steps, of which only the
 * middle one takes long, and needs no lock: searches and changes go on meanwhile. */
#ifndef FORAGE_INDEX_SHELVING_H
#define FORAGE_INDEX_SHELVING_H

#include "index/index.h"
#include "index/shelf.h"

struct shelving; /* a save that is under way */

/* Of the store that an index was made from. */
struct shelving_source {
    int64_t seen;            /* the last change that is in it */
    struct manifest_gap gap; /* what is not, before that */
    struct manifest_witness witness;
};

/* Puts what is on the shelf into a new index; `source` is what it was made from. OK, also for an
 * empty shelf; ERR_INVALID when it is damaged or of something else: the index is no good then, the
 * shelf is to be reset; ERR_NOMEM; ERR_LIMIT; ERR_IO with errno saying why. */
MUST_CHECK int shelving_load(struct index *index, struct shelf *shelf,
                             struct shelving_source *source);
/* Whether nothing of what the index has mapped was found damaged. What a search found is believed
 * only if so, after it. */
bool shelving_sound(const struct index *index);
/* How much the next process would miss: documents that are in memory only; and those that are gone
 * and whose words are still on the shelf. And whether there are more segments in memory than should
 * be. */
struct shelving_need {
    uint32_t fresh, dead;
    bool is_crowded;
};
struct shelving_need shelving_need(const struct index *index);

/* With the index's lock and a claim on the shelf; NULL: segments are merged in memory. OK with a
 * save; ERR_NOTFOUND: there is nothing to do; ERR_CLOSED: somebody else changed the shelf, so the
 * index has to be loaded anew; ERR_NOMEM. The index is settled. */
MUST_CHECK int shelving_begin(struct index *index, struct shelf *shelf,
                              const struct shelving_source *source, struct shelving **shelving);
/* Without the index's lock. As of shelf_change() and merge_segments(). */
MUST_CHECK int shelving_write(struct shelving *shelving);
/* With the index's lock, whether it was written or not; the index that it was begun with, or NULL
 * where that is gone. OK; ERR_CLOSED and ERR_NOMEM: the index is no good any more. */
MUST_CHECK int shelving_end(struct shelving *shelving, struct index *index, bool written);

#endif
