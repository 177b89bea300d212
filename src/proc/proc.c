/* The pipes of children: feeding stdin, collecting or cutting into lines what they write, noticing
 * their end. */
#include "proc/proc.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"
#include "proc/proc_child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES KIB(16)
#define DRAIN_TIME_MS                                                                              \
    250 /* for what is still in the pipes of a child that has ended: somebody it left              \
           behind may hold them open for ever */

struct child_stream {
    int fd; /* -1: at its end */
    struct buf buf;
    size_t start;   /* where the next line begins */
    size_t scanned; /* up to here there is no line end */
    size_t ceiling; /* of all that is collected, or of a line */
    bool cut;       /* something was dropped */
};

struct proc {
    struct child *child;
    int input_fd; /* -1: closed */
    struct buf pending;
    size_t pending_start;
    struct child_stream output;
    struct child_stream errors;
    bool collects; /* nobody takes lines */
    bool ended;
    struct proc_exit exit;
    unsigned confinement;
    int64_t drain_until_ms;
};

/* ---- stdin ---- */

/* Writes to a pipe whose reader may be gone, without the signal that kills for it. */
static ssize_t write_quietly(int fd, const void *data, size_t length)
{
    sigset_t broken_pipe;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    ssize_t written = write(fd, data, length);
    int error = errno;
    if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
        struct timespec now = {0};
        while (sigtimedwait(&broken_pipe, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

static void close_input(struct proc *proc)
{
    if (proc->input_fd >= 0) {
        close(proc->input_fd);
        proc->input_fd = -1;
    }
    buf_done(&proc->pending);
    proc->pending_start = 0;
}

/* Writes what the pipe takes, and closes it after the last byte. A child that reads no more is no
 * failure: it says so with its exit. */
static void feed(struct proc *proc)
{
    while (proc->input_fd >= 0 && proc->pending.length > proc->pending_start) {
        ssize_t written = write_quietly(proc->input_fd, proc->pending.data + proc->pending_start,
                                        proc->pending.length - proc->pending_start);
        if (written > 0) {
            proc->pending_start += (size_t)written;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            break;
        }
    }
    close_input(proc);
}

/* ---- stdout and stderr ---- */

static void end_stream(struct child_stream *stream)
{
    if (stream->fd >= 0) {
        close(stream->fd);
        stream->fd = -1;
    }
}

/* Forgets the lines that were handed out. */
static void compact(struct child_stream *stream)
{
    buf_consume(&stream->buf, stream->start);
    stream->scanned -= stream->start;
    stream->start = 0;
}

/* Reads what is there, once. Where it is collected, what exceeds the ceiling is dropped. */
static int fill(struct child_stream *stream, bool collects)
{
    char data[READ_BYTES];
    ssize_t got = read(stream->fd, data, sizeof data);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        end_stream(stream);
    }
    if (got <= 0) {
        return OK;
    }
    compact(stream);
    size_t kept = (size_t)got;
    if (collects && kept > stream->ceiling - stream->buf.length) {
        kept = stream->ceiling - stream->buf.length;
        stream->cut = true;
    }
    return buf_append(&stream->buf, data, kept);
}

static bool is_too_long(const struct child_stream *stream)
{
    return stream->buf.length - stream->start > stream->ceiling;
}

/* The next line; at the end of the stream, what is left. */
static bool take_line(struct child_stream *stream, const char **line, size_t *length)
{
    size_t end = stream->buf.length;
    const char *found = end > stream->scanned ? memchr(stream->buf.data + stream->scanned, '\n',
                                                       end - stream->scanned)
                                              : NULL;
    size_t stop = found ? (size_t)(found - stream->buf.data) : end;
    if (!found && (stream->fd >= 0 || stop == stream->start)) {
        stream->scanned = end;
        return false;
    }
    *line = stream->buf.data + stream->start;
    *length = stop - stream->start;
    stream->start = found ? stop + 1 : stop;
    stream->scanned = stream->start;
    return true;
}

/* The same, and a line that is too long comes in pieces. */
static bool take_piece(struct child_stream *stream, const char **line, size_t *length)
{
    if (take_line(stream, line, length)) {
        return true;
    }
    if (!is_too_long(stream)) {
        return false;
    }
    *line = stream->buf.data + stream->start;
    *length = stream->ceiling;
    stream->start += stream->ceiling;
    return true;
}

/* ---- waiting ---- */

static void note_end(struct proc *proc)
{
    if (!proc->ended && child_has_ended(proc->child, &proc->exit)) {
        proc->ended = true;
        proc->drain_until_ms = clock_now_ms() + DRAIN_TIME_MS;
        close_input(proc);
    }
}

/* Whether the child has ended and said everything. */
static bool is_over(const struct proc *proc)
{
    bool silent = proc->output.fd < 0 && proc->errors.fd < 0;
    return proc->ended && (silent || clock_now_ms() >= proc->drain_until_ms);
}

/* The wait's own limit: the caller's, shortened by what has to be looked at again. */
static int64_t wait_time(const struct proc *proc, int64_t timeout_ms)
{
    if (!proc->ended) {
        return timeout_ms;
    }
    int64_t own = proc->drain_until_ms - clock_now_ms();
    own = own > 0 ? own : 0;
    return timeout_ms < 0 || own < timeout_ms ? own : timeout_ms;
}

/* Waits until something happens, and does what there is to do. */
static int pump(struct call *call, struct proc *proc, int64_t timeout_ms)
{
    struct pollfd fds[] = {
        {.fd = proc->output.fd, .events = POLLIN},
        {.fd = proc->errors.fd, .events = POLLIN},
        {.fd = proc->input_fd, .events = POLLOUT},
        {.fd = proc->ended ? -1 : child_end_fd(proc->child), .events = POLLIN},
    };
    int ready = call_wait(call, fds, sizeof fds / sizeof *fds, wait_time(proc, timeout_ms));
    if (ready < 0) {
        return ready;
    }
    int status = fds[0].revents ? fill(&proc->output, proc->collects) : OK;
    if (status == OK && fds[1].revents) {
        status = fill(&proc->errors, proc->collects);
    }
    if (fds[2].revents) {
        feed(proc);
    }
    note_end(proc);
    return status;
}

/* ---- the life of a child ---- */

static void init_stream(struct child_stream *stream, int fd, size_t ceiling)
{
    *stream = (struct child_stream){.fd = fd};
    stream->ceiling = ceiling ? ceiling : LIMIT_CHILD_OUTPUT_BYTES;
    buf_init(&stream->buf, stream->ceiling + READ_BYTES);
}

int proc_start(struct call *call, const struct proc_options *options, struct proc **proc)
{
    struct child_pipes pipes;
    struct proc *new_proc = calloc(1, sizeof *new_proc);
    *proc = NULL;
    if (!new_proc) {
        return ERR_NOMEM;
    }
    buf_init(&new_proc->pending, options->input_length + 1);
    int status = buf_append(&new_proc->pending, options->input, options->input_length);
    if (status == OK) {
        status = child_start(call, options, &new_proc->child, &pipes, &new_proc->confinement);
    }
    if (status != OK) {
        buf_done(&new_proc->pending);
        free(new_proc);
        return status;
    }
    new_proc->input_fd = pipes.input;
    init_stream(&new_proc->output, pipes.output, options->max_output_bytes);
    init_stream(&new_proc->errors, pipes.errors, options->max_errors_bytes);
    feed(new_proc);
    *proc = new_proc;
    return OK;
}

static bool find_event(struct proc *proc, struct proc_event *event)
{
    event->kind = PROC_LINE;
    event->stream = PROC_OUTPUT;
    if (take_line(&proc->output, &event->line, &event->length)) {
        return true;
    }
    event->stream = PROC_ERRORS;
    if (take_piece(&proc->errors, &event->line, &event->length)) {
        return true;
    }
    if (!is_over(proc)) {
        return false;
    }
    /* Whoever holds the pipes open now is not the child; an unfinished line is its last. */
    bool more = proc->output.fd >= 0 || proc->errors.fd >= 0;
    end_stream(&proc->output);
    end_stream(&proc->errors);
    if (more) {
        return find_event(proc, event);
    }
    event->kind = PROC_EXIT;
    event->exit = proc->exit;
    return true;
}

int proc_next(struct call *call, struct proc *proc, int64_t timeout_ms, struct proc_event *event)
{
    int64_t end = timeout_ms < 0 ? INT64_MAX : clock_now_ms() + timeout_ms;
    bool waited = false;
    memset(event, 0, sizeof *event);
    while (!find_event(proc, event)) {
        if (is_too_long(&proc->output)) {
            return ERR_LIMIT;
        }
        if (waited) {
            event->kind = PROC_QUIET;
            return OK;
        }
        int64_t left = end == INT64_MAX ? -1 : end - clock_now_ms();
        if (end != INT64_MAX && left <= 0) {
            left = 0;
            waited = true; /* one last look */
        }
        int status = pump(call, proc, left);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}

void proc_signal(struct proc *proc, int number)
{
    child_signal(proc->child, number);
}

struct proc *proc_end(struct proc *proc)
{
    if (proc) {
        proc->child = child_release(proc->child);
        close_input(proc);
        end_stream(&proc->output);
        end_stream(&proc->errors);
        buf_done(&proc->output.buf);
        buf_done(&proc->errors.buf);
        free(proc);
    }
    return NULL;
}

/* ---- run to the end ---- */

static const char *keep(struct arena *arena, const struct child_stream *stream, size_t *length)
{
    *length = stream->buf.length;
    return stream->buf.length ? arena_strndup(arena, stream->buf.data, stream->buf.length) : "";
}

int proc_run(struct call *call, const struct proc_options *options, struct proc_result *result)
{
    struct proc *proc;
    memset(result, 0, sizeof *result);
    result->output = "";
    result->errors = "";
    int status = call_check(call);
    if (status == OK) {
        status = proc_start(call, options, &proc);
    }
    if (status != OK) {
        return status;
    }
    proc->collects = true;
    while (status == OK && !is_over(proc)) {
        status = pump(call, proc, -1);
        if (status == OK && proc->output.cut) {
            status = ERR_LIMIT;
        }
    }
    if (status == OK || status == ERR_LIMIT) {
        result->exit = proc->exit;
        result->confinement = proc->confinement;
        result->output = keep(call_arena(call), &proc->output, &result->output_length);
        result->errors = keep(call_arena(call), &proc->errors, &result->errors_length);
        if (!result->output || !result->errors) {
            status = ERR_NOMEM;
        }
    }
    proc_end(proc);
    return status;
}
