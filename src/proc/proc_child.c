/* Children, from the start of their warden to its end.
 *
 * Every child is in one list until its warden is gone, and with it everybody who came of the child
 * (proc/warden.c). Children belong to the process, not to one program in it, so the list does too.
 * A child that is released and not gone yet is tended by the reaper: a thread that looks after them
 * every few milliseconds and leaves with the last one. It needs no SIGCHLD, which belongs to the
 * program and is one for all, and waits for wardens by their numbers alone: other children of the
 * process are somebody else's. */
#include "proc/proc_child.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/files.h"
#include "proc/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAPER_STACK_BYTES ((size_t)64 * 1024)
#define REAPER_PAUSE_MS    10
#define WARDEN_SLACK_MS    4000 /* for a warden to kill, to remove a folder and to leave */
#define START_PATIENCE_MS  20000
#define FIRST_FREE         10 /* no descriptor below it can collide with those that a warden gets */
#define OWN_PROGRAM        "/proc/self/exe" /* also when its file was replaced meanwhile */

struct child {
    pid_t warden;
    int talk; /* our end of the socket between us */
    struct child *next;
    bool released;
    bool killed; /* the warden was told to kill it */
    bool reaped;
    bool ended;
    struct proc_exit exit; /* once it has ended */
    int64_t deadline_ms;   /* for the warden itself, once it is told to end */
};

/* Guards the list and everything that changes in its children. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct child *children;
static bool reaper_runs;
static bool can_start; /* proc_begin() was called: the program can be its own warden */

void proc_begin(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], WARDEN_NAME) == 0) {
        warden_run(argc, argv);
    }
    can_start = true;
}

/* ---- starting ---- */

/* Our ends of the pipes and the warden's; -1 where there is none. */
struct pipes {
    struct child_pipes ours;
    struct child_pipes theirs;
    int our_talk;
    int their_talk;
    int their_lock;
};

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void close_ends(const struct child_pipes *ends)
{
    close_fd(ends->input);
    close_fd(ends->output);
    close_fd(ends->errors);
}

/* Opens a pipe; the child reads or writes its end. */
static int open_pipe(int *ours, int *theirs, bool child_reads)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return ERR_IO;
    }
    int for_child = ends[child_reads ? 0 : 1];
    *ours = ends[child_reads ? 1 : 0];
    *theirs = fcntl(for_child, F_DUPFD_CLOEXEC, FIRST_FREE);
    close(for_child);
    return *theirs >= 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0 ? OK : ERR_IO;
}

/* The socket between us and the warden, and the lock that it is lent. */
static int open_talk(struct pipes *pipes, int lock_fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return ERR_IO;
    }
    pipes->our_talk = ends[0];
    pipes->their_talk = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST_FREE);
    close(ends[1]);
    if (lock_fd >= 0) {
        pipes->their_lock = fcntl(lock_fd, F_DUPFD_CLOEXEC, FIRST_FREE);
    }
    return pipes->their_talk >= 0 && (lock_fd < 0 || pipes->their_lock >= 0) ? OK : ERR_IO;
}

static int open_pipes(struct pipes *pipes, const struct proc_options *options)
{
    *pipes = (struct pipes){{-1, -1, -1}, {-1, -1, -1}, -1, -1, -1};
    int status = open_talk(pipes, options->scratch ? options->scratch->lock : -1);
    if (status == OK && (options->input || options->keep_input_open)) {
        status = open_pipe(&pipes->ours.input, &pipes->theirs.input, true);
    }
    if (status == OK) {
        status = open_pipe(&pipes->ours.output, &pipes->theirs.output, false);
    }
    if (status == OK) {
        status = open_pipe(&pipes->ours.errors, &pipes->theirs.errors, false);
    }
    return status;
}

/* What happens to descriptors before the warden runs. 0 or an error number. */
static int describe_files(posix_spawn_file_actions_t *actions, const struct pipes *pipes)
{
    const struct {
        int from;
        int to;
    } moves[] = {
        {pipes->theirs.input, STDIN_FILENO},   {pipes->theirs.output, STDOUT_FILENO},
        {pipes->theirs.errors, STDERR_FILENO}, {pipes->their_talk, WARDEN_TALK},
        {pipes->their_lock, WARDEN_LOCK},
    };
    int error = 0;
    if (pipes->theirs.input < 0) {
        error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    for (size_t i = 0; !error && i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].from >= 0) {
            error = posix_spawn_file_actions_adddup2(actions, moves[i].from, moves[i].to);
        }
    }
    return error;
}

/* No signal blocked, ignored or handled. 0 or an error number. */
static int describe_process(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int error =
        posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error) {
        error = posix_spawnattr_setsigmask(attributes, &none);
    }
    return error ? error : posix_spawnattr_setsigdefault(attributes, &all);
}

/* posix_spawn takes texts that it does not change as if it might. */
static char **as_vector(const char *const *texts)
{
    static const char *const NONE[] = {NULL};
    union {
        const char *const *given;
        char **taken;
    } vector = {.given = texts ? texts : NONE};
    return vector.taken;
}

/* A status for what kept a child from being started. */
static int status_of(int error)
{
    switch (error) {
    case 0:
        return OK;
    case ENOENT:
    case ENOTDIR:
        return ERR_NOTFOUND;
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case EISDIR:
    case E2BIG:
        return ERR_INVALID;
    case ENOMEM:
        return ERR_NOMEM;
    default:
        return ERR_IO;
    }
}

/* Starts the warden with what its child is to get. */
static int spawn(const struct proc_options *options, const char *path, const struct pipes *pipes,
                 pid_t *pid)
{
    const struct warden_task task = {
        .apart = options->on_descriptors_3_4,
        .confined = options->confined,
        .has_lock = pipes->their_lock >= 0,
        .bounds = options->bounds,
    };
    char what[WARDEN_TASK_SIZE];
    size_t count = 0;
    while (options->arguments[count]) {
        count++;
    }
    const char **arguments = calloc(WARDEN_ARGUMENTS + count + 1, sizeof *arguments);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (!arguments || posix_spawn_file_actions_init(&actions) != 0) {
        free(arguments);
        return ERR_NOMEM;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        free(arguments);
        return ERR_NOMEM;
    }
    warden_write_task(&task, what);
    arguments[0] = WARDEN_NAME;
    arguments[1] = what;
    arguments[2] = options->directory ? options->directory : "";
    arguments[3] = options->scratch ? options->scratch->path : "";
    arguments[4] = path;
    memcpy(arguments + WARDEN_ARGUMENTS, options->arguments, count * sizeof *arguments);
    int error = describe_files(&actions, pipes);
    if (!error) {
        error = describe_process(&attributes);
    }
    if (!error) {
        error = posix_spawn(pid, OWN_PROGRAM, &actions, &attributes, as_vector(arguments),
                            as_vector(options->environment));
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(arguments);
    return error == E2BIG ? ERR_INVALID : error == ENOMEM ? ERR_NOMEM : error ? ERR_IO : OK;
}

/* Waits for the warden's first word. */
static int await_start(struct call *call, const struct child *child, unsigned *confinement)
{
    struct warden_report report;
    struct pollfd talk = {.fd = child->talk, .events = POLLIN};
    int ready = call_wait(call, &talk, 1, START_PATIENCE_MS);
    if (ready < 0) {
        return ready;
    }
    if (recv(child->talk, &report, sizeof report, MSG_DONTWAIT) != (ssize_t)sizeof report) {
        return ERR_IO;
    }
    *confinement = report.confinement;
    return report.word == WARDEN_STARTED ? OK : status_of(report.error);
}

static bool is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* As far as the warden, which then sees to everything else. */
static int start(const struct proc_options *options, struct child *child, struct pipes *pipes)
{
    const char *program = options->arguments[0];
    char path[OWN_PATH_SIZE];
    if (!can_start || (options->directory && !is_directory(options->directory))) {
        return ERR_INVALID;
    }
    if (!strchr(program, '/')) {
        if (!find_on_path(program, path, sizeof path)) {
            return ERR_NOTFOUND;
        }
        program = path;
    }
    int status = open_pipes(pipes, options);
    if (status == OK) {
        status = spawn(options, program, pipes, &child->warden);
    }
    close_ends(&pipes->theirs);
    close_fd(pipes->their_talk);
    close_fd(pipes->their_lock);
    child->talk = pipes->our_talk;
    if (status != OK) {
        close_ends(&pipes->ours);
        close_fd(pipes->our_talk);
    }
    return status;
}

int child_start(struct call *call, const struct proc_options *options, struct child **child,
                struct child_pipes *pipes, unsigned *confinement)
{
    struct pipes both;
    struct child *new_child = calloc(1, sizeof *new_child);
    if (!new_child) {
        return ERR_NOMEM;
    }
    int status = start(options, new_child, &both);
    if (status != OK) {
        free(new_child);
        return status;
    }
    if (options->scratch) {
        close(options->scratch->lock);
        options->scratch->lock = -1;
    }
    new_child->deadline_ms = INT64_MAX;
    pthread_mutex_lock(&lock);
    new_child->next = children;
    children = new_child;
    pthread_mutex_unlock(&lock);
    status = await_start(call, new_child, confinement);
    if (status != OK) {
        close_ends(&both.ours);
        child_release(new_child);
        return status;
    }
    *pipes = both.ours;
    *child = new_child;
    return OK;
}

/* ---- looking ---- */

int child_end_fd(const struct child *child)
{
    return child->talk;
}

bool child_has_ended(struct child *child, struct proc_exit *exit)
{
    struct warden_report report;
    pthread_mutex_lock(&lock);
    if (!child->ended) {
        ssize_t got = recv(child->talk, &report, sizeof report, MSG_DONTWAIT);
        if (got == (ssize_t)sizeof report) {
            child->exit = report.exit;
            child->ended = true;
        } else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            /* Somebody killed the warden, and so the child. */
            child->exit = (struct proc_exit){.code = -1, .signal = SIGKILL};
            child->ended = true;
        }
    }
    if (child->ended) {
        *exit = child->exit;
    }
    bool ended = child->ended;
    pthread_mutex_unlock(&lock);
    return ended;
}

/* ---- ending; all of this with the lock held ---- */

static void order(const struct child *child, int number, int64_t grace_ms)
{
    const struct warden_order order = {.signal = number, .grace_ms = (int)grace_ms};
    ssize_t sent = send(child->talk, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* a warden that has gone has nobody left to signal */
}

/* Whether everybody is gone, after what can be done about it now. */
static bool is_gone(struct child *child, int64_t now)
{
    if (!child->reaped && now >= child->deadline_ms) {
        kill(child->warden, SIGKILL); /* it hangs, for whatever reason */
        child->deadline_ms = INT64_MAX;
    }
    child->reaped = child->reaped || waitpid(child->warden, NULL, WNOHANG) != 0;
    return child->reaped;
}

static void remove_child(struct child *child)
{
    struct child **link = &children;
    while (*link != child) {
        link = &(*link)->next;
    }
    *link = child->next;
    close(child->talk);
    free(child);
}

static void tell_to_end(struct child *child, int64_t grace_ms)
{
    int64_t deadline = clock_now_ms() + grace_ms + WARDEN_SLACK_MS;
    order(child, SIGTERM, grace_ms);
    if (deadline < child->deadline_ms) {
        child->deadline_ms = deadline;
    }
}

/* ---- the reaper ---- */

static void pause_unlocked(void)
{
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = REAPER_PAUSE_MS * 1000000L}, NULL);
    pthread_mutex_lock(&lock);
}

/* Looks after the released children once. The number that is left. */
static size_t tend(void)
{
    size_t left = 0;
    int64_t now = clock_now_ms();
    struct child *next;
    for (struct child *child = children; child; child = next) {
        next = child->next;
        if (child->released && is_gone(child, now)) {
            remove_child(child);
        } else if (child->released) {
            left++;
        }
    }
    return left;
}

static void *run_reaper(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (tend()) {
        pause_unlocked();
    }
    reaper_runs = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- for the owner ---- */

void child_signal(struct child *child, int number)
{
    pthread_mutex_lock(&lock);
    child->killed = child->killed || number == SIGKILL;
    order(child, number, -1);
    pthread_mutex_unlock(&lock);
}

struct child *child_release(struct child *child)
{
    if (!child) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    child->released = true;
    tell_to_end(child, PROC_GRACE_MS);
    if (is_gone(child, clock_now_ms())) {
        remove_child(child);
    } else if (!reaper_runs) {
        /* Where no thread is to be had, the next one that starts finds it. */
        reaper_runs = thread_start(NULL, REAPER_STACK_BYTES, run_reaper, NULL) == OK;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Whether every child is gone, or only all but the killed; those that still have an owner stay in
 * the list for him. */
static bool all_gone(bool killed_too)
{
    bool gone = true;
    int64_t now = clock_now_ms();
    for (struct child *child = children; child; child = child->next) {
        gone = (is_gone(child, now) || (child->killed && !killed_too)) && gone;
    }
    return gone;
}

static void end_children(int64_t grace_ms, bool killed_too)
{
    pthread_mutex_lock(&lock);
    for (struct child *child = children; child; child = child->next) {
        tell_to_end(child, grace_ms);
    }
    /* A process that the kernel itself holds up cannot even be killed: the program ends without it.
     */
    int64_t end = clock_now_ms() + grace_ms + WARDEN_SLACK_MS;
    while (!all_gone(killed_too) && clock_now_ms() < end) {
        pause_unlocked();
    }
    tend();
    pthread_mutex_unlock(&lock);
}

void proc_shutdown(int64_t grace_ms)
{
    end_children(grace_ms, true);
}

void proc_leave(int64_t grace_ms)
{
    end_children(grace_ms, false);
}
