/* A shelf: the folder that keeps an index's segments between processes. It knows nothing of what is
 * in a segment. Each is a file of its own that never changes once the manifest names it; the
 * manifest names the segments in their order, and the last change of the store that is in them. A
 * change of the shelf is a new manifest, put in the place of the old one by rename, so that whoever
 * looks sees all of it or nothing. What it no longer names is unlinked; those who have it mapped
 * keep it until they let go.
 *
 * Many processes read it; one at a time, which holds the lock file, writes, and nobody waits for
 * it. What one left unfinished (killed, disk full) the next writer removes. The shelf is a cache:
 * what is damaged, or of another store or version, is thrown away.
 *
 * Other users are kept out: the folder and its files are the user's own and nobody else may write
 * to them; links are not followed. Any thread may call; a claim belongs to the thread that made
 * it. */
#ifndef FORAGE_INDEX_SHELF_H
#define FORAGE_INDEX_SHELF_H

#include "core/sha256.h"
#include "core/status.h"
#include "index/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shelf;
struct shelf_file;
struct shelf_draft;

struct shelf_segment {
    uint64_t number; /* never used twice */
    const unsigned char *data;
    size_t length;
    struct shelf_file *file;
};

/* What is on the shelf at one moment; it stays as it is. */
struct shelf_view {
    int64_t seen;                    /* the last change of the store that is in it; 0: nothing is */
    struct manifest_gap gap;         /* what is not, before that */
    struct manifest_witness witness; /* as whoever wrote it last said */
    size_t count;
    const struct shelf_segment *segments;
};

/* `identity` stands for the store, the space and the format of segments. Nothing is opened yet.
 * NULL without memory. */
struct shelf *shelf_new(const char *folder, const unsigned char identity[SHA256_SIZE]);
struct shelf *shelf_free(struct shelf *shelf);

/* Looks whether there is a newer manifest, at the cost of one stat() where there is none. OK;
 * ERR_NOTFOUND when there is no shelf; ERR_INVALID when it is damaged or of something else; ERR_IO
 * with errno saying why; ERR_NOMEM; ERR_LIMIT when there are too many mappings. After a failure the
 * last view stays. */
MUST_CHECK int shelf_refresh(struct shelf *shelf);
/* The last view, which lives until it is released; empty at first. */
struct shelf_view *shelf_hold(struct shelf *shelf);
void shelf_release(struct shelf_view *view);

/* Whether these bytes of the segment are what was written. Each block of it is read once for that,
 * when it is first asked about; beyond the end nothing is. A file may also be cut while it is read:
 * whoever is done with a segment asks again, for no bytes, before it believes what it read. */
bool shelf_sound(const struct shelf_segment *segment, size_t offset, size_t length);

/* ---- writing: between shelf_claim() and shelf_unclaim() ---- */

/* Takes the lock, removes what others left unfinished and refreshes the view. `thrown_away` is true
 * when there was something that was no good: the view is empty then. OK; ERR_BUSY when somebody
 * else writes; ERR_IO with errno saying why: the shelf cannot be written to. */
MUST_CHECK int shelf_claim(struct shelf *shelf, bool *thrown_away);
void shelf_unclaim(struct shelf *shelf);

/* A new segment, written piece by piece; on the shelf with shelf_change(). */
MUST_CHECK int shelf_draft_begin(struct shelf *shelf, struct shelf_draft **draft);
/* OK; ERR_LIMIT when it gets too large; ERR_IO with errno saying why; ERR_NOMEM. */
MUST_CHECK int shelf_draft_write(struct shelf_draft *draft, const void *data, size_t length);
/* Removes its file unless it came on the shelf. Returns NULL. */
struct shelf_draft *shelf_draft_free(struct shelf_draft *draft);

struct shelf_change {
    int64_t seen; /* the last change of the store that is in it afterwards, */
    struct manifest_gap gap;
    struct manifest_witness witness;
    struct shelf_draft *const *drafts; /* new segments, which come last */
    size_t draft_count;
    const uint64_t *gone; /* the numbers of segments that leave, their words with them */
    size_t gone_count;
};

/* All of the change or, where it fails, nothing of it, but for a failure of the very last step: the
 * view says what is there. OK; ERR_LIMIT when there are too many segments, or they are too large;
 * ERR_INVALID for a number that is not there; ERR_IO with errno saying why; ERR_NOMEM. */
MUST_CHECK int shelf_change(struct shelf *shelf, const struct shelf_change *change);
/* Throws everything away, for whoever finds it damaged. OK; ERR_IO with errno saying why;
 * ERR_NOMEM. */
MUST_CHECK int shelf_reset(struct shelf *shelf);

#endif
