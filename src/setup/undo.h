/* The undo record of `forage setup`: what a client's file was before a change and what it became,
 * so that the change can be taken back. The data folder has one for each file and name of an entry.
 */
#ifndef FORAGE_SETUP_UNDO_H
#define FORAGE_SETUP_UNDO_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/clients.h"

#include <stdbool.h>

struct undo {
    char record[CLIENT_MOST_PATH]; /* the two files of the record */
    char backup[CLIENT_MOST_PATH];
    bool is_there;               /* a change is recorded */
    bool existed;                /* the file was there before it */
    bool is_current;             /* the file is now what the change made of it */
    struct buf before;           /* the file as it was */
    char made[CLIENT_MOST_PATH]; /* the highest folder that was made for the file, or "" */
};

/* Opens the record of a file, which holds `now`. OK, or ERR_IO or ERR_NOMEM with
 * words. */
int undo_open(struct undo *undo, struct arena *arena, const char *path, const char *name,
              const struct buf *now, char *problem, size_t size);
/* Records, on the disk, that `now` becomes `after`; `now` is NULL where there is no file. Changes
 * of ours that follow each other are taken back together. */
int undo_keep(struct undo *undo, struct arena *arena, const char *path, const struct buf *now,
              const struct buf *after, char *problem, size_t size);
/* Deletes the record, once the change was taken back, and its folder when it was the last one. */
void undo_delete(const struct undo *undo);
void undo_close(struct undo *undo);

#endif
