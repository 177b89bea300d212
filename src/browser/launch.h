/* Starting the browser: which program, in what folder, and as confined as the system allows. */
#ifndef FORAGE_BROWSER_LAUNCH_H
#define FORAGE_BROWSER_LAUNCH_H

#include "proc/proc_child.h"
#include "proc/scratch.h"

#include <stdint.h>

#define LAUNCH_PATH_SIZE 1024

/* A browser that can be started. A Snap gets no pipe from us, and sees neither /tmp nor hidden
 * folders: it is spoken to at a port of loopback, which other users of the machine can reach too.
 */
struct browser_program {
    char path[LAUNCH_PATH_SIZE];
    char snap[64]; /* what the Snap is called; "": it is none */
};

/* The program to start: what FORAGE_BROWSER_PATH or CHROME_BIN name, else the first one on PATH,
 * and a Snap only where there is no other. Where `serves`, for users of a network, a Snap counts
 * only where FORAGE_BROWSER_PATH names it. OK, or ERR_NOTFOUND with what is wrong and what to do in
 * `problem`. */
int launch_find(bool serves, struct browser_program *program, char *problem, size_t size);

/* How a browser is kept apart from the rest of the machine, best first. Chromium refuses its own
 * sandbox as root, and needs user namespaces for it, which some containers forbid. So as root it
 * runs as the user nobody, with its sandbox where the system allows it; only where neither can be
 * had (no setpriv, no such user, a program that the user may not read) it runs as we do, without.
 */
enum confinement { OTHER_USER_AND_SANDBOX, SANDBOX, OTHER_USER, UNCONFINED };

/* The best that this process can ask for. */
enum confinement launch_best(const struct browser_program *program);
/* What to try when a browser did not start like this: the same again, unless how it ended and what
 * it wrote show that its confinement was the reason. */
enum confinement launch_next(enum confinement confinement, const struct proc_exit *exit,
                             const char *errors);
const char *launch_words(enum confinement confinement);

struct launched {
    struct child *child;
    struct child_pipes pipes;    /* a Snap has none for messages before launch_connect() */
    struct proc_scratch profile; /* the folder that it keeps its things in */
};

/* A status as of proc_start. */
int launch_browser(struct call *call, struct launched *launched,
                   const struct browser_program *program, uint16_t proxy_port,
                   enum confinement confinement);
/* Connects to the port of a Snap: what its pipes would be is this connection then. OK or ERR_IO. */
MUST_CHECK int launch_connect(struct launched *launched, uint16_t port);
/* Ends it at once, with everything that it started; its folder goes with it. */
void launch_end(struct launched *launched);

#endif
