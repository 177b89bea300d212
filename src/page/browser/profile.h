/* The folder that a browser keeps its things in while it runs: made for it, readable by nobody
 * else, and removed with everything in it. A lock marks folders in use, so that those of processes
 * that were killed are found and removed by the next one. */
#ifndef FORAGE_PAGE_BROWSER_PROFILE_H
#define FORAGE_PAGE_BROWSER_PROFILE_H

#include <sys/types.h>

#define PROFILE_PATH_SIZE 256

struct profile {
    char path[PROFILE_PATH_SIZE]; /* empty: none */
    int lock;                     /* -1: none */
};

/* A new folder that belongs to `user` and `group`. OK or ERR_IO. */
int profile_make(struct profile *profile, uid_t user, gid_t group);
/* Removes it. Whoever used it is gone. */
void profile_remove(struct profile *profile);
/* Removes those of browsers of that user that nobody uses any more. */
void profile_remove_stale(uid_t user);

#endif
