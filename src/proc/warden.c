/* The warden's own work. It has one thread, so that it may fork, and one child; whoever that
 * leaves behind becomes its child too (a subreaper), and it stays until nobody is left. What was
 * lent to the child, its scratch folder, goes last: nobody writes into it any more. */
#include "proc/warden.h"

#include "core/clock.h"
#include "core/files.h"
#include "core/limits.h"
#include "proc/confine.h"
#include "proc/family.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORPHAN_GRACE_MS 1000  /* when forage is gone and nobody listens any more */
#define AFTER_KILL_MS   1000  /* for the killed to leave the process table */
#define KILL_PAUSE_MS   5     /* until whoever was born meanwhile is killed too */
#define NICENESS        5     /* children make way for forage and for what else runs here */
#define OOM_SCORE       "500" /* and the kernel ends them before forage when memory runs out */
#define USUAL_FILES     1024
#define SPECIFICATION   "%d %d %d %zu %zu %zu %u %u"

void warden_write_task(const struct warden_task *task, char text[WARDEN_TASK_SIZE])
{
    const struct proc_bounds *bounds = &task->bounds;
    snprintf(text, WARDEN_TASK_SIZE, SPECIFICATION, task->apart, task->confined, task->has_lock,
             bounds->address_bytes, bounds->data_bytes, bounds->tree_bytes, bounds->seconds,
             bounds->descriptors);
}

struct warden {
    struct warden_task task;
    const char *directory; /* empty: forage's */
    const char *scratch;   /* empty: none */
    const char *path;
    char **arguments;
    int talk; /* -1: forage is gone */
    int signals;
    pid_t child;
    int64_t kill_at_ms; /* INT64_MAX: they may live */
    int64_t weigh_at_ms;
};

/* ---- in the process that becomes the child ---- */

/* What it says of itself to the warden: how it is confined, and then an error where it cannot be
 * run. */
struct birth {
    int error;
    unsigned confinement;
};

static void put_birth(int fd, int error, unsigned confinement)
{
    const struct birth birth = {.error = error, .confinement = confinement};
    ssize_t written = write(fd, &birth, sizeof birth);
    (void)written; /* the warden is gone, and this process with it */
}

static bool arrange_descriptors(bool apart)
{
    if (!apart) {
        return true;
    }
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return input >= 0 && output >= 0 && dup2(STDIN_FILENO, 3) == 3 && dup2(STDOUT_FILENO, 4) == 4 &&
           dup2(input, STDIN_FILENO) == STDIN_FILENO &&
           dup2(output, STDOUT_FILENO) == STDOUT_FILENO;
}

static bool set_bound(unsigned resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) {
        return false;
    }
    most = now.rlim_max < most ? now.rlim_max : most;
    return setrlimit(resource, &(struct rlimit){.rlim_cur = most, .rlim_max = most}) == 0;
}

static bool set_bounds(const struct warden_task *task)
{
    const struct proc_bounds *bounds = &task->bounds;
    return (!bounds->address_bytes || set_bound(RLIMIT_AS, bounds->address_bytes)) &&
           (!bounds->data_bytes || set_bound(RLIMIT_DATA, bounds->data_bytes)) &&
           (!bounds->seconds || set_bound(RLIMIT_CPU, bounds->seconds)) &&
           (!bounds->descriptors || set_bound(RLIMIT_NOFILE, bounds->descriptors)) &&
           (!task->confined || (set_bound(RLIMIT_FSIZE, 0) && set_bound(RLIMIT_NPROC, 0))) &&
           set_bound(RLIMIT_CORE, 0);
}

/* Nothing of how forage runs is passed on: its priority, its mask of signals. */
static void make_ordinary(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, OOM_SCORE, strlen(OOM_SCORE));
        (void)written; /* forage has a higher one already, and so has this process */
        close(fd);
    }
    if (getpriority(PRIO_PROCESS, 0) < NICENESS) {
        setpriority(PRIO_PROCESS, 0, NICENESS);
    }
}

/* Ends this process with its warden, also with one that is gone already. The kernel forgets it when
 * the process changes its user. */
static void end_with(pid_t warden)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != warden) {
        _exit(127);
    }
}

/* Becomes the program, or says why not. */
static _Noreturn void become(const struct warden *warden, pid_t parent, int birth)
{
    extern char **environ;
    const struct warden_task *task = &warden->task;
    unsigned confinement = 0;
    end_with(parent);
    make_ordinary();
    bool ready = arrange_descriptors(task->apart != 0) &&
                 (!*warden->directory || chdir(warden->directory) == 0);
    if (ready && task->confined) {
        confinement = confine_files(warden->path);
    }
    ready = ready && set_bounds(task);
    end_with(parent);
    if (ready && task->confined) {
        confinement |= confine_calls();
    }
    if (ready) {
        put_birth(birth, 0, confinement);
        execve(warden->path, warden->arguments, environ);
    }
    put_birth(birth, errno, confinement);
    _exit(127);
}

/* ---- starting it ---- */

static void say(struct warden *warden, const struct warden_report *report)
{
    ssize_t sent = send(warden->talk, report, sizeof *report, MSG_NOSIGNAL);
    (void)sent; /* forage is gone: the next look at the socket tells */
}

/* The warden holds no pipe of the child's open: they close with the child. */
static void let_go_of_pipes(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (nothing < 0 || dup2(nothing, fd) < 0) {
            close(fd);
        }
    }
}

/* OK, with what holds in `birth`, or an error number. A folder or a program on a disk that hangs
 * keeps the child from it: whatever forage says meanwhile, or its end, is the child's end. */
static int await_birth(const struct warden *warden, int fd, struct birth *birth)
{
    struct birth next;
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = warden->talk, .events = POLLIN}};
    *birth = (struct birth){.error = EIO}; /* it died before it could say anything */
    for (;;) {
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0) {
            continue; /* it was stopped for a while: no signal is handled here */
        }
        if (!fds[0].revents) {
            kill(warden->child, SIGKILL);
            fds[1].fd = -1;
        } else if (read(fd, &next, sizeof next) == (ssize_t)sizeof next) {
            *birth = next;
        } else {
            return birth->error;
        }
    }
}

/* 0, or an error number. */
static int start(struct warden *warden, unsigned *confinement)
{
    int births[2];
    struct birth birth;
    pid_t self = getpid();
    if (pipe2(births, O_CLOEXEC) != 0) {
        return errno;
    }
    warden->child = fork();
    if (warden->child == 0) {
        /* Descriptors 3 and 4 may be the child's. */
        become(warden, self, fcntl(births[1], F_DUPFD_CLOEXEC, WARDEN_LOCK + 1));
    }
    int error = warden->child < 0 ? errno : 0;
    close(births[1]);
    let_go_of_pipes();
    if (!error) {
        error = await_birth(warden, births[0], &birth);
        *confinement = birth.confinement;
    }
    close(births[0]);
    while (error && warden->child > 0 && waitpid(warden->child, NULL, 0) < 0 && errno == EINTR) {
    }
    return error;
}

/* ---- until nobody is left ---- */

static void end_all(struct warden *warden, int64_t grace_ms)
{
    int64_t when = clock_now_ms() + grace_ms;
    warden->kill_at_ms = when < warden->kill_at_ms ? when : warden->kill_at_ms;
}

/* Reaps whoever has ended. False when there is nobody any more. */
static bool reap(struct warden *warden)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == warden->child) {
            bool by_signal = WIFSIGNALED(status);
            const struct warden_report report = {
                .word = WARDEN_ENDED,
                .exit = {.code = by_signal ? -1 : WEXITSTATUS(status),
                         .signal = by_signal ? WTERMSIG(status) : 0},
            };
            say(warden, &report);
            warden->child = 0;
        }
    }
    return pid == 0;
}

static void take_order(struct warden *warden)
{
    struct warden_order order;
    ssize_t got = recv(warden->talk, &order, sizeof order, MSG_DONTWAIT);
    if (got == (ssize_t)sizeof order) {
        family_signal(order.signal);
        if (order.grace_ms >= 0) {
            end_all(warden, order.grace_ms);
        }
    } else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(warden->talk);
        warden->talk = -1;
        family_signal(SIGTERM);
        end_all(warden, ORPHAN_GRACE_MS);
    }
}

/* SIGCHLD only wakes; whoever asks the warden itself to end wants the child to. */
static void take_signals(struct warden *warden)
{
    struct signalfd_siginfo info;
    while (read(warden->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            family_signal(SIGTERM);
            end_all(warden, PROC_GRACE_MS);
        }
    }
}

/* Ends the largest of a family that together takes too much. Looking takes time where there are
 * many processes, so it is done the less often the longer it takes. */
static void weigh(struct warden *warden)
{
    pid_t largest;
    clock_t began = clock(); /* of the processor: a busy machine is no reason to look away */
    if (family_memory(&largest) > warden->task.bounds.tree_bytes && largest > 0) {
        kill(largest, SIGKILL);
    }
    int64_t took_ms = (int64_t)(clock() - began) * 1000 / CLOCKS_PER_SEC;
    warden->weigh_at_ms = clock_now_ms() + TIME_CHILD_WEIGH_MS + took_ms * 50;
}

static int time_to_wait(const struct warden *warden, int64_t now)
{
    int64_t next = warden->kill_at_ms;
    next = warden->weigh_at_ms < next ? warden->weigh_at_ms : next;
    if (next == INT64_MAX) {
        return -1;
    }
    return next > now ? (int)(next - now) : KILL_PAUSE_MS;
}

static void watch(struct warden *warden)
{
    bool told = false;
    while (reap(warden)) {
        int64_t now = clock_now_ms();
        if (!warden->child && !told) {
            told = true; /* what it leaves running ends with it */
            family_signal(SIGTERM);
            end_all(warden, PROC_GRACE_MS);
        }
        if (now - AFTER_KILL_MS >= warden->kill_at_ms) {
            return; /* the kernel holds them up; they are killed when it lets go */
        }
        if (now >= warden->kill_at_ms) {
            family_signal(SIGKILL);
        }
        if (now >= warden->weigh_at_ms) {
            weigh(warden);
        }
        struct pollfd fds[] = {{.fd = warden->talk, .events = POLLIN},
                               {.fd = warden->signals, .events = POLLIN}};
        poll(fds, sizeof fds / sizeof *fds, time_to_wait(warden, now));
        if (fds[0].revents) {
            take_order(warden);
        }
        if (fds[1].revents) {
            take_signals(warden);
        }
    }
}

/* ---- the whole of it ---- */

/* Every descriptor of ours is closed by exec; libraries do not always take that care. */
static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0) {
        return;
    }
#endif
    struct rlimit most;
    int last =
        getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_max < 65536 ? (int)most.rlim_max : 65536;
    for (int fd = first; fd < last; fd++) {
        close(fd);
    }
}

/* Without a terminal, but in forage's session where that is possible: Linux shares the processors
 * among sessions first, and in one of its own the lower priority of a child would mean nothing. */
static void leave_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    bool left = fd >= 0 ? ioctl(fd, TIOCNOTTY) == 0 : errno == ENXIO;
    if (fd >= 0) {
        close(fd);
    }
    if (left) {
        setpgid(0, 0);
    } else {
        setsid();
    }
}

/* Away from forage's terminal, group, limits and mask; signals are read, not delivered. */
static bool stand_apart(struct warden *warden)
{
    struct rlimit files;
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGQUIT);
    sigprocmask(SIG_SETMASK, &watched, NULL);
    leave_terminal();
    umask(077);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max < USUAL_FILES ? files.rlim_max : USUAL_FILES;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    prctl(PR_SET_NAME, WARDEN_NAME, 0, 0, 0);
    warden->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(WARDEN_TALK, F_SETFD, FD_CLOEXEC);
    fcntl(WARDEN_LOCK, F_SETFD, FD_CLOEXEC);
    return warden->signals >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* The lock marks the folder as in use until here; it goes after the folder. */
static void remove_scratch(const struct warden *warden)
{
    char lock[OWN_PATH_SIZE];
    if (*warden->scratch) {
        remove_folder(warden->scratch, 1);
        snprintf(lock, sizeof lock, "%s" PROC_LOCK_SUFFIX, warden->scratch);
        unlink(lock);
    }
}

_Noreturn void warden_run(int argc, char **argv)
{
    struct warden warden = {.talk = WARDEN_TALK, .kill_at_ms = INT64_MAX, .weigh_at_ms = INT64_MAX};
    struct warden_task *task = &warden.task;
    struct proc_bounds *bounds = &task->bounds;
    struct warden_report report = {.word = WARDEN_FAILED, .error = EINVAL};
    if (argc <= WARDEN_ARGUMENTS ||
        sscanf(argv[1], SPECIFICATION, &task->apart, &task->confined, &task->has_lock,
               &bounds->address_bytes, &bounds->data_bytes, &bounds->tree_bytes, &bounds->seconds,
               &bounds->descriptors) != 8) {
        fputs("this is a part of forage, which forage starts itself\n", stderr);
        _exit(2);
    }
    warden.directory = argv[2];
    warden.scratch = argv[3];
    warden.path = argv[4];
    warden.arguments = argv + WARDEN_ARGUMENTS;
    close_from(task->has_lock ? WARDEN_LOCK + 1 : WARDEN_TALK + 1);
    report.error = stand_apart(&warden) ? start(&warden, &report.confinement) : errno;
    if (report.error == 0) {
        report.word = WARDEN_STARTED;
        warden.weigh_at_ms = bounds->tree_bytes ? clock_now_ms() : INT64_MAX;
    }
    say(&warden, &report);
    if (report.error == 0) {
        watch(&warden);
    }
    remove_scratch(&warden);
    _exit(0);
}
