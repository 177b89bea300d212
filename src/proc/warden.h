/* The warden: a small process of forage's own between forage and each child. It starts the child
 * with what it may have, tells forage how it ended, and ends whatever came of it, also where
 * forage itself was killed. Only proc_child.c speaks with it. */
#ifndef FORAGE_PROC_WARDEN_H
#define FORAGE_PROC_WARDEN_H

#include "proc/proc.h"

#include <sys/types.h>

/* The program starts itself under this name: "forage-warden WHAT DIRECTORY SCRATCH PATH PROGRAM
 * ARGUMENT...", with the child's environment as its own. */
#define WARDEN_NAME      "forage-warden"
#define WARDEN_ARGUMENTS 5 /* before the program's own */

/* Its descriptors, besides the child's 0 to 2. */
enum { WARDEN_TALK = 3, WARDEN_LOCK = 4 };

/* WHAT, in numbers; as of struct proc_options. */
struct warden_task {
    int apart;
    int confined;
    int has_lock;
    struct proc_bounds bounds;
};
#define WARDEN_TASK_SIZE 128
void warden_write_task(const struct warden_task *task, char text[WARDEN_TASK_SIZE]);

/* What it says, over a socket that keeps messages apart: one of the first two, and later the
 * third. */
enum warden_word { WARDEN_STARTED, WARDEN_FAILED, WARDEN_ENDED };
struct warden_report {
    enum warden_word word;
    int error;            /* WARDEN_FAILED: an error number */
    unsigned confinement; /* WARDEN_STARTED: what of PROC_CONFINED_ALL holds */
    struct proc_exit exit;
};

/* What it is told. A socket that closes is the order to end everybody. */
struct warden_order {
    int signal;   /* for everybody */
    int grace_ms; /* until SIGKILL; negative: they may go on */
};

/* Does its work; for proc_begin(). */
_Noreturn void warden_run(int argc, char **argv);

#endif
