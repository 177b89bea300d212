/* Child processes: started without a shell, in a process group of their own, with exactly the
 * environment that they are given and no descriptor of ours but their pipes.
 *
 * Ending a child never waits: its whole group gets SIGTERM at once, a thread of ours that comes and
 * goes as it is needed gives it PROC_GRACE_MS, then sends SIGKILL, and reaps. So a cancelled call
 * is over at once and leaves no zombie behind. What a child has left running in its group when it
 * exits is ended the same way.
 *
 * When forage itself is killed (SIGKILL, out of memory) nothing of it is left to end its children.
 * They notice by their pipes: reading stdin gives end of file, writing stdout SIGPIPE; the browser
 * leaves when its pipe closes. A death signal (PR_SET_PDEATHSIG) would not be better: posix_spawn
 * cannot set it, and it follows the thread that started the child, while our threads come and go.
 *
 * A child belongs to one thread at a time. */
#ifndef FORAGE_PROC_PROC_H
#define FORAGE_PROC_PROC_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROC_GRACE_MS 5000

enum proc_stream { PROC_OUTPUT, PROC_ERRORS };

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
MUST_CHECK int proc_start(const struct proc_options *options, struct proc **proc);
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
/* Sends a signal to its group. */
void proc_signal(struct proc *proc, int number);
/* Ends it, if it still runs. */
struct proc *proc_end(struct proc *proc);

/* ---- all of them ---- */

/* Ends every child that is left, waits up to `grace_ms` for them, kills the rest and reaps; for the
 * end of the program. */
void proc_shutdown(int64_t grace_ms);

#endif
