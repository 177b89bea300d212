/* Starting the browser: which program, in what folder, and as confined as the system allows. */
#ifndef FORAGE_PAGE_BROWSER_LAUNCH_H
#define FORAGE_PAGE_BROWSER_LAUNCH_H

#include "proc/proc_child.h"
#include "proc/scratch.h"

#include <stdint.h>

#define LAUNCH_PATH_SIZE 1024

/* The program to start: what FORAGE_BROWSER_PATH or CHROME_BIN name, else the first one
 * on PATH. OK, or ERR_NOTFOUND with what is wrong and what to do in `problem`. */
int launch_find(char path[LAUNCH_PATH_SIZE], char *problem, size_t size);

/* How a browser is kept apart from the rest of the machine, best first. Chromium refuses its own
 * sandbox as root, and needs user namespaces for it, which some containers forbid. So as root it
 * runs as the user nobody, with its sandbox where the system allows it; only where neither can be
 * had (no setpriv, no such user, a program that the user may not read) it runs as we do, without.
 */
enum confinement { OTHER_USER_AND_SANDBOX, SANDBOX, OTHER_USER, UNCONFINED };

/* The best that this process can ask for. */
enum confinement launch_best(void);
/* What to try when a browser did not start like this: the same again, unless how it ended and what
 * it wrote show that its confinement was the reason. */
enum confinement launch_next(enum confinement confinement, const struct proc_exit *exit,
                             const char *errors);
const char *launch_words(enum confinement confinement);

struct launched {
    struct child *child;
    struct child_pipes pipes;
    struct proc_scratch profile; /* the folder that it keeps its things in */
};

/* A status as of proc_start. */
int launch_browser(struct launched *launched, const char *program, uint16_t proxy_port,
                   enum confinement confinement);
/* Ends it at once, with everything that it started; its folder goes with it. */
void launch_end(struct launched *launched);

#endif
