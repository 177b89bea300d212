/* Child processes: started without a shell, with exactly the environment that they are given and
 * nothing of ours: no descriptor but their pipes, no terminal, no mask of signals or files.
 *
 * Between forage and each child stands a warden (proc/warden.h), a small process of the same
 * program. Ending a child never waits: the warden sends SIGTERM to it and to everybody who came of
 * it, whatever sessions and groups they made, gives them PROC_GRACE_MS, then sends SIGKILL. So a
 * cancelled call is over at once and leaves nobody behind. The same happens when the child exits,
 * and when forage itself is killed: the socket between them closes.
 *
 * A child belongs to one thread at a time. */
#ifndef FORAGE_PROC_PROC_H
#define FORAGE_PROC_PROC_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROC_GRACE_MS 5000

/* The first thing in main(), for programs that start children: it does not return in a process that
 * was started as a warden. */
void proc_begin(int argc, char **argv);

enum proc_stream { PROC_OUTPUT, PROC_ERRORS };

/* What a child may take; 0: as much as we. */
struct proc_bounds {
    size_t address_bytes; /* of each process: all that it maps */
    size_t data_bytes;    /* of each process: what it maps to write to */
    size_t tree_bytes;    /* of it and all that came of it: above that the largest is killed */
    unsigned seconds;     /* of the processor */
    unsigned descriptors;
};

/* What a confined child has lost (see `confined`), as far as the system allows it. */
enum {
    PROC_NO_FILES = 1, /* all but programs, libraries and fonts; not a byte can be written */
    PROC_NO_CALLS = 2, /* sockets, new processes, signals to others and looks into them */
    PROC_CONFINED_ALL = PROC_NO_FILES | PROC_NO_CALLS,
};

/* How such a child runs, in words: "without files, but with network ...". */
const char *confinement_words(unsigned confinement);

/* A temporary folder that is lent to a child, and goes after all that came of the child have gone.
 * A lock beside it tells that it is in use. */
#define PROC_LOCK_SUFFIX  ".lock"
#define PROC_SCRATCH_SIZE 256
struct proc_scratch {
    char path[PROC_SCRATCH_SIZE];
    int lock; /* -1: it is not, or no longer, ours */
};

/* What is not given (0 or NULL) has a default. It is used only while the child is started. */
struct proc_options {
    /* The program first, looked for in PATH unless it has a slash; NULL at the end. */
    const char *const *arguments;
    /* "NAME=value", all that the child sees of an environment; NULL at the end. None. */
    const char *const *environment;
    const char *directory; /* where it runs; ours */
    const void *input;     /* for its stdin, which is closed after it */
    size_t input_length;
    bool keep_input_open;    /* for child_start(): its stdin is a pipe without `input` too */
    bool on_descriptors_3_4; /* it reads 3 and writes 4, as browsers do, not stdin and stdout */
    /* In proc_run of all that it writes, elsewhere of one line; LIMIT_CHILD_OUTPUT_BYTES. Too much
     * output is a failure; too much on stderr is dropped, or comes in pieces. */
    size_t max_output_bytes;
    size_t max_errors_bytes;
    struct proc_bounds bounds;
    bool confined;                /* it only computes: it is left its pipes and no more */
    struct proc_scratch *scratch; /* the warden's from its start on: scratch_remove() leaves it */
};

/* How a child came to its end. */
struct proc_exit {
    int code;   /* -1: a signal ended it */
    int signal; /* 0: it ended by itself */
};

/* ---- run to the end ---- */

struct proc_result {
    struct proc_exit exit;
    const char *output; /* in the call's arena, NUL-terminated, never NULL */
    size_t output_length;
    const char *errors;
    size_t errors_length;
    unsigned confinement; /* what of PROC_CONFINED_ALL held */
};

/* Runs a child to its end. OK, whatever its exit code; ERR_NOTFOUND when there is no such program,
 * ERR_INVALID when it cannot be run or there is no such directory, ERR_LIMIT when it wrote too much
 * (the result holds what fitted), ERR_NOMEM, ERR_IO; or as of call_wait. In every case the child is
 * over or ending when it returns. */
MUST_CHECK int proc_run(struct call *call, const struct proc_options *options,
                        struct proc_result *result);

/* ---- listen to it while it runs ---- */

struct proc;

/* As proc_run; the child is running when it returns OK. */
MUST_CHECK int proc_start(struct call *call, const struct proc_options *options,
                          struct proc **proc);
enum proc_event_kind { PROC_LINE, PROC_EXIT, PROC_QUIET };

struct proc_event {
    enum proc_event_kind kind;
    enum proc_stream stream; /* of a line */
    const char *line;        /* without its end; valid until the next call */
    size_t length;
    struct proc_exit exit; /* of PROC_EXIT */
};

/* Waits for the next line of either stream, or its end. PROC_QUIET when `timeout_ms` passed
 * (negative: no limit). OK, ERR_LIMIT when a line of output is too long, ERR_NOMEM, ERR_IO; or as
 * of call_wait. */
MUST_CHECK int proc_next(struct call *call, struct proc *proc, int64_t timeout_ms,
                         struct proc_event *event);
/* Sends a signal to it and all that came of it. */
void proc_signal(struct proc *proc, int number);
/* Ends it, if it still runs. */
struct proc *proc_end(struct proc *proc);

/* ---- all of them ---- */

/* Ends every child that is left, waits up to `grace_ms` for them, kills the rest and reaps; for the
 * end of the program. */
void proc_shutdown(int64_t grace_ms);
/* The same without waiting for those that were killed before: their wardens see to what is left of
 * them, whether we are there or not. For a command whose answer is given. */
void proc_leave(int64_t grace_ms);

#endif
