/* Children from posix_spawn to the end of their process group.
 *
 * Every child is in one list until it and its group are gone. Children belong to the process, not
 * to one program in it, so the list does too. A child that is released and not gone yet is tended
 * by the reaper: a thread that looks after them every few milliseconds and leaves with the last
 * one. It needs no SIGCHLD, which belongs to the program and is one for all.
 *
 * A leader that has ended is reaped only after its group got its signal: until then its number,
 * which is the group's, cannot be given to a stranger. */
#include "proc/proc_child.h"

#include "core/clock.h"
#include "core/event.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The program may run with an older C library than it was built with, so what came to glibc late
 * is looked for when it is used. */
#ifdef __GLIBC__
#include <dlfcn.h>
#define FIND(name) dlsym(RTLD_DEFAULT, #name)
#define HAS_CLOSEFROM
#else
#define FIND(name) (void *)(name)
#endif

#define REAPER_STACK_BYTES ((size_t)64 * 1024)
#define REAPER_PAUSE_MS    10
#define AFTER_KILL_MS      1000 /* for a killed group to leave the process table */
#define FIRST_FREE         10 /* no descriptor below it can collide with those that a child gets */

struct child {
    pid_t pid; /* also the number of its group */
    int end_fd;
    struct child *next;
    bool released;
    bool killed;
    bool reaped;
    int wait_status;     /* once reaped */
    int64_t deadline_ms; /* for SIGKILL, once it is told to end */
};

/* Guards the list and everything that changes in its children. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct child *children;
static bool reaper_runs;

/* ---- starting ---- */

/* Our ends of the pipes and the child's; -1 where there is none. */
struct pipes {
    struct child_pipes ours;
    struct child_pipes theirs;
};

static void close_ends(const struct child_pipes *ends)
{
    const int fds[] = {ends->input, ends->output, ends->errors};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
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

static int open_pipes(struct pipes *pipes, bool with_input)
{
    *pipes = (struct pipes){{-1, -1, -1}, {-1, -1, -1}};
    int status = with_input ? open_pipe(&pipes->ours.input, &pipes->theirs.input, true) : OK;
    if (status == OK) {
        status = open_pipe(&pipes->ours.output, &pipes->theirs.output, false);
    }
    if (status == OK) {
        status = open_pipe(&pipes->ours.errors, &pipes->theirs.errors, false);
    }
    return status;
}

#ifdef HAS_CLOSEFROM
/* All of ours are close-on-exec; libraries do not always take that care. From glibc 2.34 on. */
static int close_from(posix_spawn_file_actions_t *actions, int first)
{
    int (*function)(posix_spawn_file_actions_t *, int) = NULL;
    void *found = FIND(posix_spawn_file_actions_addclosefrom_np);
    memcpy(&function, &found, sizeof function);
    return function ? function(actions, first) : 0;
}
#endif

/* ENOSYS before glibc 2.29: then spawn_there() does it. */
static int change_directory(posix_spawn_file_actions_t *actions, const char *path)
{
    int (*function)(posix_spawn_file_actions_t *, const char *) = NULL;
    void *found = FIND(posix_spawn_file_actions_addchdir_np);
    memcpy(&function, &found, sizeof function);
    return function ? function(actions, path) : ENOSYS;
}

/* What happens to descriptors and the directory between fork and exec. 0 or an error number. */
static int describe_files(posix_spawn_file_actions_t *actions, const struct proc_options *options,
                          const struct child_pipes *theirs)
{
    bool apart = options->on_descriptors_3_4;
    int input = apart ? 3 : STDIN_FILENO;
    int output = apart ? 4 : STDOUT_FILENO;
    int error = 0;
    if (apart || theirs->input < 0) {
        error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (!error && apart) {
        error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (!error && theirs->input >= 0) {
        error = posix_spawn_file_actions_adddup2(actions, theirs->input, input);
    }
    if (!error) {
        error = posix_spawn_file_actions_adddup2(actions, theirs->output, output);
    }
    if (!error) {
        error = posix_spawn_file_actions_adddup2(actions, theirs->errors, STDERR_FILENO);
    }
#ifdef HAS_CLOSEFROM
    if (!error) {
        error = close_from(actions, apart ? 5 : 3);
    }
#endif
    return error;
}

/* A group of its own, no signal blocked, ignored or handled. 0 or an error number. */
static int describe_process(posix_spawnattr_t *attributes)
{
    short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setflags(attributes, flags);
    if (!error) {
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
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

struct start {
    const struct proc_options *options;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    int error;
};

static void spawn_here(struct start *start)
{
    const struct proc_options *options = start->options;
    start->error =
        posix_spawnp(&start->pid, options->arguments[0], &start->actions, &start->attributes,
                     as_vector(options->arguments), as_vector(options->environment));
}

/* A thread can have a directory of its own, which its children begin in. */
static void *spawn_there(void *argument)
{
    struct start *start = argument;
    if (unshare(CLONE_FS) != 0 || chdir(start->options->directory) != 0) {
        start->error = errno;
    } else {
        spawn_here(start);
    }
    return NULL;
}

static void spawn_in_directory(struct start *start)
{
    start->error = change_directory(&start->actions, start->options->directory);
    if (start->error == 0) {
        spawn_here(start);
    }
    pthread_t thread;
    if (start->error == ENOSYS) {
        start->error = pthread_create(&thread, NULL, spawn_there, start);
        if (start->error == 0) {
            pthread_join(thread, NULL);
        }
    }
}

static int spawn(const struct proc_options *options, const struct child_pipes *theirs, pid_t *pid)
{
    struct start start = {.options = options};
    if (posix_spawn_file_actions_init(&start.actions) != 0) {
        return ERR_NOMEM;
    }
    if (posix_spawnattr_init(&start.attributes) != 0) {
        posix_spawn_file_actions_destroy(&start.actions);
        return ERR_NOMEM;
    }
    start.error = describe_files(&start.actions, options, theirs);
    if (!start.error) {
        start.error = describe_process(&start.attributes);
    }
    if (!start.error) {
        (options->directory ? spawn_in_directory : spawn_here)(&start);
    }
    posix_spawn_file_actions_destroy(&start.actions);
    posix_spawnattr_destroy(&start.attributes);
    *pid = start.pid;
    switch (start.error) {
    case 0:
        return OK;
    case ENOENT:
    case ENOTDIR:
        return ERR_NOTFOUND;
    case EACCES:
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

/* posix_spawn does not say which of the two was not found, the program or its directory. */
static bool is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

int child_start(const struct proc_options *options, struct child **child, struct child_pipes *pipes)
{
    struct pipes both;
    if (options->directory && !is_directory(options->directory)) {
        return ERR_INVALID;
    }
    struct child *new_child = calloc(1, sizeof *new_child);
    if (!new_child) {
        return ERR_NOMEM;
    }
    int status = open_pipes(&both, options->input || options->keep_input_open);
    if (status == OK) {
        status = spawn(options, &both.theirs, &new_child->pid);
    }
    close_ends(&both.theirs);
    if (status != OK) {
        close_ends(&both.ours);
        free(new_child);
        return status;
    }
    new_child->end_fd = (int)syscall(SYS_pidfd_open, new_child->pid, 0);
    new_child->deadline_ms = INT64_MAX;
    *pipes = both.ours;
    *child = new_child;
    pthread_mutex_lock(&lock);
    new_child->next = children;
    children = new_child;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* ---- looking ---- */

int child_end_fd(const struct child *child)
{
    return child->end_fd;
}

static struct proc_exit exit_of(int code, int value)
{
    return code == CLD_EXITED ? (struct proc_exit){.code = value, .signal = 0}
                              : (struct proc_exit){.code = -1, .signal = value};
}

bool child_has_ended(struct child *child, struct proc_exit *exit)
{
    bool ended = false;
    pthread_mutex_lock(&lock);
    if (child->reaped) {
        int status = child->wait_status;
        *exit = WIFEXITED(status) ? exit_of(CLD_EXITED, WEXITSTATUS(status))
                                  : exit_of(CLD_KILLED, WTERMSIG(status));
        ended = true;
    } else {
        siginfo_t info = {.si_pid = 0};
        int found = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        ended = found == 0 && info.si_pid == child->pid;
        if (ended) {
            *exit = exit_of(info.si_code, info.si_status);
        }
    }
    pthread_mutex_unlock(&lock);
    return ended;
}

/* ---- ending; all of this with the lock held ---- */

/* Whether anybody is left in the group. A leader that is not reaped counts. */
static bool group_exists(const struct child *child)
{
    return kill(-child->pid, 0) == 0 || errno == EPERM;
}

static void signal_group(const struct child *child, int number)
{
    if (!child->reaped || group_exists(child)) {
        kill(-child->pid, number);
    }
}

/* Reaps the leader, and members of its group that became ours because we are their init process. */
static void reap(struct child *child)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-child->pid, &status, WNOHANG)) > 0) {
        if (pid == child->pid) {
            child->reaped = true;
            child->wait_status = status;
        }
    }
}

/* Whether the child and its group are gone, after what can be done about it now. */
static bool is_gone(struct child *child, int64_t now)
{
    reap(child);
    if (child->reaped && !group_exists(child)) {
        return true;
    }
    if (now >= child->deadline_ms && !child->killed) {
        signal_group(child, SIGKILL);
        child->killed = true;
        reap(child);
    }
    return child->reaped && child->killed && now >= child->deadline_ms + AFTER_KILL_MS;
}

static void remove_child(struct child *child)
{
    struct child **link = &children;
    while (*link != child) {
        link = &(*link)->next;
    }
    *link = child->next;
    if (child->end_fd >= 0) {
        close(child->end_fd);
    }
    free(child);
}

static void tell_to_end(struct child *child, int64_t grace_ms)
{
    int64_t deadline = clock_now_ms() + grace_ms;
    signal_group(child, SIGTERM);
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
    signal_group(child, number);
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
        reaper_runs = thread_start(NULL, REAPER_STACK_BYTES, run_reaper, NULL) == OK;
        if (!reaper_runs) {
            /* No thread to be had: the next one that starts finds it, killed already. */
            child->deadline_ms = 0;
            is_gone(child, clock_now_ms());
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Whether every child is gone; those that still have an owner stay in the list for him. */
static bool all_gone(void)
{
    bool gone = true;
    int64_t now = clock_now_ms();
    for (struct child *child = children; child; child = child->next) {
        gone = is_gone(child, now) && gone;
    }
    return gone;
}

void proc_shutdown(int64_t grace_ms)
{
    pthread_mutex_lock(&lock);
    for (struct child *child = children; child; child = child->next) {
        tell_to_end(child, grace_ms);
    }
    /* A process that the kernel itself holds up cannot even be killed: the program ends without it.
     */
    int64_t end = clock_now_ms() + grace_ms + AFTER_KILL_MS;
    while (!all_gone() && clock_now_ms() < end) {
        pause_unlocked();
    }
    tend();
    pthread_mutex_unlock(&lock);
}
