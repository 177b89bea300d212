/* Children: what they get, what they say, and how they end. */
#include "core/clock.h"
#include "core/limits.h"
#include "proc/proc.h"

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BOUND_US 30000000 /* half of what the children sleep; the times themselves are printed */
#define SHELL(script)                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        "/bin/sh", "-c", (script), NULL                                                            \
    }

static const char *const PATH_ONLY[] = {"PATH=/usr/bin:/bin", NULL};

static struct call *new_call(int64_t timeout_ms)
{
    struct call_options options = {.timeout_ms = timeout_ms};
    struct call *call = call_new(&options);
    assert_non_null(call);
    return call;
}

static int make_call(void **state)
{
    *state = new_call(60000);
    return 0;
}

static int free_call(void **state)
{
    *state = call_free(*state);
    return 0;
}

static void sleep_ms(long time)
{
    nanosleep(&(struct timespec){.tv_sec = time / 1000, .tv_nsec = time % 1000 * 1000000}, NULL);
}

/* Children of ours that are not reaped, running or dead, as the kernel sees them. */
static size_t child_count(void)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    const struct dirent *process;
    while ((process = readdir(processes)) != NULL) {
        char path[300], text[512] = "";
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", process->d_name);
        FILE *file = strspn(process->d_name, "0123456789") ? fopen(path, "re") : NULL;
        const char *name_end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
        count += name_end && sscanf(name_end, ") %*c %d", &parent) == 1 && parent == getpid();
        if (file) {
            fclose(file);
        }
    }
    closedir(processes);
    return count;
}

/* The warden of a child that has ended leaves a moment later. */
static void await_no_children(void)
{
    while (child_count()) {
        sleep_ms(2);
    }
}

/* ---- what it gets and what it says ---- */

static void reports_how_it_ended(void **state)
{
    static const struct {
        const char *script;
        int code;
        int signal;
        const char *output;
        const char *errors;
    } CASES[] = {
        {"exit 0", 0, 0, "", ""},
        {"exit 3", 3, 0, "", ""},
        {"echo out; echo err >&2; exit 255", 255, 0, "out\n", "err\n"},
        {"kill -KILL $$", -1, SIGKILL, "", ""},
        {"echo before; kill -TERM $$", -1, SIGTERM, "before\n", ""},
        {"exec 1>&- 2>&-; sleep 0.1; exit 7", 7, 0, "", ""},
        {"printf 'no line end'", 0, 0, "no line end", ""},
        {"cat", 0, 0, "", ""}, /* without input, stdin is at its end */
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct proc_options options = {.arguments = SHELL(CASES[i].script),
                                       .environment = PATH_ONLY};
        struct proc_result result;
        assert_int_equal(proc_run(*state, &options, &result), OK);
        assert_int_equal(result.exit.code, CASES[i].code);
        assert_int_equal(result.exit.signal, CASES[i].signal);
        assert_string_equal(result.output, CASES[i].output);
        assert_string_equal(result.errors, CASES[i].errors);
    }
}

static void says_why_it_did_not_start(void **state)
{
    static const struct {
        const char *program;
        const char *directory;
        int status;
    } CASES[] = {
        {"/nowhere/program", NULL, ERR_NOTFOUND},
        {"no-such-program-anywhere", NULL, ERR_NOTFOUND},
        {"/etc/passwd", NULL, ERR_INVALID},
        {"/", NULL, ERR_INVALID},
        {"true", "/nowhere", ERR_INVALID},
        {"true", "/etc/passwd", ERR_INVALID},
        {"true", "/", OK},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct proc_options options = {.arguments = (const char *const[]){CASES[i].program, NULL},
                                       .directory = CASES[i].directory};
        struct proc_result result;
        assert_int_equal(proc_run(*state, &options, &result), CASES[i].status);
        assert_string_equal(result.output, "");
    }
    await_no_children();
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

/* Whichever descriptor is the one too many, none is lost. */
static void starts_nothing_without_descriptors(void **state)
{
    struct proc_options options = {.arguments = (const char *const[]){"true", NULL}, .input = ""};
    struct proc_result result;
    struct rlimit before;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    proc_shutdown(1000);
    size_t count = open_descriptors();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int failures = 0;
    for (rlim_t limit = 4; limit < 24; limit++) {
        struct rlimit tight = {.rlim_cur = limit, .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &tight);
        int status = proc_run(*state, &options, &result);
        setrlimit(RLIMIT_NOFILE, &before);
        failures += status == ERR_IO;
        assert_true(status == ERR_IO || status == OK);
        proc_shutdown(1000);
        assert_int_equal(open_descriptors(), count);
    }
    assert_true(failures > 0 && failures < 20);
}

/* The output of env, without the line that a build that counts lines puts into every environment.
 */
static const char *environment_in(const char *output)
{
    static char text[200];
    static const char COUNTS[] = "__LLVM_PROFILE_RT_INIT_ONCE=__LLVM_PROFILE_RT_INIT_ONCE\n";
    const char *found = strstr(output, COUNTS);
    int before = found ? (int)(found - output) : (int)strlen(output);
    snprintf(text, sizeof text, "%.*s%s", before, output, found ? found + strlen(COUNTS) : "");
    return text;
}

static void sees_only_its_environment(void **state)
{
    static const char *const ENVIRONMENT[] = {"B=two words", "A=1", NULL};
    struct proc_options options = {.arguments = (const char *const[]){"env", NULL}};
    struct proc_result result;
    setenv("FORAGE_TEST_SECRET", "sesame", 1);
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(environment_in(result.output), "");
    options.environment = ENVIRONMENT;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(environment_in(result.output), "B=two words\nA=1\n");
    unsetenv("FORAGE_TEST_SECRET");
}

static void runs_in_its_directory(void **state)
{
    struct proc_options options = {.arguments = (const char *const[]){"pwd", NULL},
                                   .directory = "/usr"};
    struct proc_result result;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(result.output, "/usr\n");
}

/* Not even a descriptor that somebody forgot to mark. */
static void inherits_no_descriptor(void **state)
{
    struct proc_options options = {
        .arguments =
            SHELL("for n in 3 4 5 6 7 8 9 50; do [ -e /proc/self/fd/$n ] && echo $n; done"),
        .environment = PATH_ONLY};
    struct proc_result result;
    int forgotten = dup2(STDERR_FILENO, 50);
    assert_int_equal(forgotten, 50);
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(result.output, "");
    close(forgotten);
}

static void starts_with_fresh_signals(void **state)
{
    struct proc_options options = {.arguments = (const char *const[]){
                                       "grep", "-hE", "^Sig(Blk|Ign)", "/proc/self/status", NULL}};
    struct proc_result result;
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    void (*handler)(int) = signal(SIGINT, SIG_IGN);
    int status = proc_run(*state, &options, &result);
    signal(SIGINT, handler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(status, OK);
    unsigned long now_blocked = 1;
    unsigned long now_ignored = 1;
    assert_int_equal(sscanf(result.output, "SigBlk: %lx SigIgn: %lx", &now_blocked, &now_ignored),
                     2);
    assert_int_equal(now_blocked, 0);
    /* Signals 32 and 33 are the C library's own. */
    assert_int_equal(now_ignored & 0x7fffffff, 0);
}

static void leads_its_own_group(void **state)
{
    struct proc_options options = {
        .arguments = SHELL("read pid name state parent group rest < /proc/self/stat; "
                           "[ $pid = $group ] && echo yes"),
        .environment = PATH_ONLY};
    struct proc_result result;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(result.output, "yes\n");
}

/* More than the pipes hold, both ways at once. */
static void feeds_while_it_reads(void **state)
{
    size_t length = MIB(1);
    char *input = malloc(length);
    assert_non_null(input);
    for (size_t i = 0; i < length; i++) {
        input[i] = (char)(i * 7 % 251);
    }
    struct proc_options options = {
        .arguments = (const char *const[]){"cat", NULL}, .input = input, .input_length = length};
    struct proc_result result;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_int_equal(result.output_length, length);
    assert_memory_equal(result.output, input, length);
    options.arguments = (const char *const[]){"true", NULL};
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_int_equal(result.exit.code, 0);
    free(input);
}

static void bounds_what_it_writes(void **state)
{
    struct proc_options options = {
        .arguments = SHELL("printf 0123456789"), .environment = PATH_ONLY, .max_output_bytes = 10};
    struct proc_result result;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(result.output, "0123456789");
    options.max_output_bytes = 9;
    assert_int_equal(proc_run(*state, &options, &result), ERR_LIMIT);
    assert_string_equal(result.output, "012345678");
    options.arguments = (const char *const[]){"yes", NULL};
    options.max_output_bytes = 100000;
    assert_int_equal(proc_run(*state, &options, &result), ERR_LIMIT);
    assert_int_equal(result.output_length, 100000);
    options.arguments = SHELL("printf 0123456789 >&2; echo done");
    options.max_errors_bytes = 4;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_string_equal(result.errors, "0123");
    assert_string_equal(result.output, "done\n");
}

/* ---- speaking with it ---- */

static void expect_line(struct call *call, struct proc *proc, enum proc_stream stream,
                        const char *line)
{
    struct proc_event event;
    assert_int_equal(proc_next(call, proc, -1, &event), OK);
    assert_int_equal(event.kind, PROC_LINE);
    assert_int_equal(event.stream, stream);
    assert_int_equal(event.length, strlen(line));
    assert_memory_equal(event.line, line, event.length);
}

static void expect_exit(struct call *call, struct proc *proc, int code)
{
    struct proc_event event;
    assert_int_equal(proc_next(call, proc, -1, &event), OK);
    assert_int_equal(event.kind, PROC_EXIT);
    assert_int_equal(event.exit.code, code);
}

static struct proc *start(struct call *call, const struct proc_options *options)
{
    struct proc *proc;
    assert_int_equal(proc_start(call, options, &proc), OK);
    return proc;
}

static void gives_lines_as_they_come(void **state)
{
    struct proc_options options = {.arguments = SHELL("printf 'one\\n\\nthree\\nlast'; exit 4"),
                                   .environment = PATH_ONLY};
    struct proc *proc = start(*state, &options);
    expect_line(*state, proc, PROC_OUTPUT, "one");
    expect_line(*state, proc, PROC_OUTPUT, "");
    expect_line(*state, proc, PROC_OUTPUT, "three");
    expect_line(*state, proc, PROC_OUTPUT, "last");
    expect_exit(*state, proc, 4);
    expect_exit(*state, proc, 4);
    assert_null(proc_end(proc));
    assert_null(proc_end(NULL));
    options.arguments = SHELL("echo problem >&2; exit 1");
    proc = start(*state, &options);
    expect_line(*state, proc, PROC_ERRORS, "problem");
    expect_exit(*state, proc, 1);
    proc_end(proc);
}

/* Each line comes when it is written: nothing waits for a buffer to fill. */
static void hears_while_it_runs(void **state)
{
    static const struct {
        const char *script;
        bool apart;
    } CASES[] = {
        {"while read line; do echo \"got $line\"; sleep 0.2; done", false},
        {"while read line <&3; do echo \"got $line\" >&4; sleep 0.2; done; cat; echo lost", true},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct proc_options options = {.arguments = SHELL(CASES[i].script),
                                       .environment = PATH_ONLY,
                                       .input = "ping\npong\n",
                                       .input_length = 10,
                                       .on_descriptors_3_4 = CASES[i].apart};
        struct proc *proc = start(*state, &options);
        expect_line(*state, proc, PROC_OUTPUT, "got ping");
        struct proc_event event;
        assert_int_equal(proc_next(*state, proc, 0, &event), OK);
        assert_int_equal(event.kind, PROC_QUIET);
        assert_int_equal(proc_next(*state, proc, 20, &event), OK);
        assert_int_equal(event.kind, PROC_QUIET);
        expect_line(*state, proc, PROC_OUTPUT, "got pong");
        expect_exit(*state, proc, 0);
        proc_end(proc);
    }
}

static void bounds_its_lines(void **state)
{
    struct proc_options options = {.arguments = SHELL("echo 12345; echo 123456; sleep 30"),
                                   .environment = PATH_ONLY,
                                   .max_output_bytes = 5};
    struct proc *proc = start(*state, &options);
    struct proc_event event;
    expect_line(*state, proc, PROC_OUTPUT, "12345");
    expect_line(*state, proc, PROC_OUTPUT, "123456"); /* it came whole, so it may go */
    proc_end(proc);
    options.arguments = SHELL("printf 123456; sleep 30");
    proc = start(*state, &options);
    assert_int_equal(proc_next(*state, proc, -1, &event), ERR_LIMIT);
    assert_int_equal(proc_next(*state, proc, -1, &event), ERR_LIMIT);
    proc_end(proc);
    options.arguments = SHELL("printf 12345678 >&2; sleep 0.1; echo 9 >&2");
    options.max_errors_bytes = 3;
    proc = start(*state, &options);
    expect_line(*state, proc, PROC_ERRORS, "123");
    expect_line(*state, proc, PROC_ERRORS, "456");
    expect_line(*state, proc, PROC_ERRORS, "789");
    expect_exit(*state, proc, 0);
    proc_end(proc);
}

/* ---- how it ends ---- */

/* Whether a process is there and no zombie. */
static bool is_alive(pid_t pid)
{
    char path[64];
    char status[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t length = read(fd, status, sizeof status - 1);
    close(fd);
    const char *name_end = length > 0 ? strrchr(status, ')') : NULL;
    return name_end && name_end[2] != 'Z' && name_end[2] != 'X';
}

/* Waits until a process is gone; the time that it took. */
static int64_t await_gone(pid_t pid, int64_t start_us)
{
    while (is_alive(pid)) {
        sleep_ms(2);
    }
    return clock_now_us() - start_us;
}

static pid_t read_pid(struct call *call, struct proc *proc)
{
    struct proc_event event;
    assert_int_equal(proc_next(call, proc, -1, &event), OK);
    assert_int_equal(event.kind, PROC_LINE);
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)event.length, event.line);
    return (pid_t)strtol(text, NULL, 10);
}

struct cancellation {
    struct call *call;
    int64_t when_us;
};

static void *cancel_soon(void *argument)
{
    struct cancellation *cancellation = argument;
    sleep_ms(50);
    cancellation->when_us = clock_now_us();
    call_cancel(cancellation->call);
    return NULL;
}

/* A child that listens to SIGTERM is gone at once, and so is its own child. */
static void cancelled_call_ends_it(void **state)
{
    (void)state;
    struct cancellation cancellation = {.call = new_call(60000)};
    struct proc_options options = {.arguments = SHELL("sleep 60 & echo $!; wait"),
                                   .environment = PATH_ONLY};
    struct proc *proc = start(cancellation.call, &options);
    pid_t grandchild = read_pid(cancellation.call, proc);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancellation), 0);
    struct proc_event event;
    assert_int_equal(proc_next(cancellation.call, proc, -1, &event), ERR_CANCELLED);
    proc_end(proc);
    int64_t ended = clock_now_us();
    pthread_join(thread, NULL);
    print_message("over after %.2f ms\n", (double)(ended - cancellation.when_us) / 1000);
    assert_true(ended - cancellation.when_us < BOUND_US);
    print_message("  gone after %.2f ms\n",
                  (double)await_gone(grandchild, cancellation.when_us) / 1000);
    await_no_children();
    call_free(cancellation.call);
}

static void cancelled_run_is_over(void **state)
{
    (void)state;
    struct cancellation cancellation = {.call = new_call(60000)};
    struct proc_options options = {.arguments = (const char *const[]){"sleep", "60", NULL}};
    struct proc_result result;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancellation), 0);
    assert_int_equal(proc_run(cancellation.call, &options, &result), ERR_CANCELLED);
    int64_t ended = clock_now_us();
    pthread_join(thread, NULL);
    print_message("over after %.2f ms\n", (double)(ended - cancellation.when_us) / 1000);
    assert_true(ended - cancellation.when_us < BOUND_US);
    await_no_children();
    assert_int_equal(proc_run(cancellation.call, &options, &result), ERR_CANCELLED);
    assert_int_equal(child_count(), 0);
    call_free(cancellation.call);
}

static void late_run_is_over(void **state)
{
    (void)state;
    struct call *call = new_call(50);
    struct proc_options options = {.arguments = (const char *const[]){"sleep", "60", NULL}};
    struct proc_result result;
    assert_int_equal(proc_run(call, &options, &result), ERR_DEADLINE);
    await_no_children();
    call_free(call);
}

/* Processes that name a file among their arguments, as wardens and what they start do. */
static size_t count_naming(const char *path)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    const struct dirent *process;
    while ((process = readdir(processes)) != NULL) {
        char name[300], text[1024] = "";
        snprintf(name, sizeof name, "/proc/%s/cmdline", process->d_name);
        int fd = strspn(process->d_name, "0123456789") ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : 0;
        count += length > 0 && memmem(text, (size_t)length, path, strlen(path)) != NULL;
        if (fd >= 0) {
            close(fd);
        }
    }
    closedir(processes);
    return count;
}

struct held {
    struct call *call;
    int fd;
};

/* Cancels when the kernel holds up a process that opens the file. */
static void *cancel_when_asked_for(void *argument)
{
    const struct held *held = argument;
    while (fcntl(held->fd, F_GETLEASE) == F_WRLCK) {
        sleep_ms(2);
    }
    call_cancel(held->call);
    return NULL;
}

/* A program on a disk that hangs: a lease on its file keeps exec waiting for 45 seconds. */
static void cancelled_start_is_over(void **state)
{
    (void)state;
    char path[] = "/tmp/forage-held-XXXXXX";
    proc_shutdown(1000);
    size_t descriptors = open_descriptors();
    struct held held = {.call = new_call(60000), .fd = mkostemp(path, O_CLOEXEC)};
    struct proc_options options = {.arguments = (const char *const[]){path, NULL}};
    struct proc_result result;
    pthread_t thread;
    signal(SIGIO, SIG_IGN); /* the signal that tells the holder of a reader */
    assert_int_equal(fchmod(held.fd, 0700), 0);
    assert_int_equal(fcntl(held.fd, F_SETLEASE, F_WRLCK), 0);
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_asked_for, &held), 0);
    assert_int_equal(proc_run(held.call, &options, &result), ERR_CANCELLED);
    pthread_join(thread, NULL);
    await_no_children();
    proc_shutdown(1000); /* the reaper closes what is left */
    assert_int_equal(count_naming(path), 0);
    assert_int_not_equal(fcntl(held.fd, F_GETLEASE), F_WRLCK);
    unlink(path);
    close(held.fd);
    signal(SIGIO, SIG_DFL);
    call_free(held.call);
    assert_int_equal(open_descriptors(), descriptors);
}

/* A whole family that ignores SIGTERM gets five seconds, then no more. The call does not wait for
 * it. */
static void stubborn_family_is_killed(void **state)
{
    struct proc_options options = {
        .arguments = SHELL("trap '' TERM; sleep 60 & echo $!; echo $$; sleep 60; sleep 60"),
        .environment = PATH_ONLY};
    struct proc *proc = start(*state, &options);
    pid_t grandchild = read_pid(*state, proc);
    pid_t leader = read_pid(*state, proc);
    int64_t start_us = clock_now_us();
    proc_end(proc);
    int64_t ended = clock_now_us() - start_us;
    print_message("left after %.2f ms\n", (double)ended / 1000);
    assert_true(ended < BOUND_US);
    sleep_ms(1000);
    assert_true(is_alive(leader));
    assert_true(is_alive(grandchild));
    int64_t gone = await_gone(grandchild, start_us);
    int64_t leader_gone = await_gone(leader, start_us);
    print_message("  gone after %.0f and %.0f ms\n", (double)gone / 1000,
                  (double)leader_gone / 1000);
    assert_true(gone < BOUND_US);
    await_no_children();
}

/* What a child leaves running in its group ends with it, and does not hold its pipes for ever. */
static void what_it_leaves_behind_ends(void **state)
{
    struct proc_options options = {.arguments = SHELL("sleep 60 & echo $!; exit 5"),
                                   .environment = PATH_ONLY};
    struct proc_result result;
    assert_int_equal(proc_run(*state, &options, &result), OK);
    assert_int_equal(result.exit.code, 5);
    pid_t left = (pid_t)strtol(result.output, NULL, 10);
    assert_true(left > 0);
    await_gone(left, clock_now_us());
    struct proc *proc = start(*state, &options);
    left = read_pid(*state, proc);
    expect_exit(*state, proc, 5);
    proc_end(proc);
    await_gone(left, clock_now_us());
}

static void takes_signals(void **state)
{
    struct proc_options options = {
        .arguments = SHELL("trap 'echo caught; exit 9' USR1; echo ready; while :; do :; done"),
        .environment = PATH_ONLY};
    struct proc *proc = start(*state, &options);
    expect_line(*state, proc, PROC_OUTPUT, "ready");
    proc_signal(proc, SIGUSR1);
    expect_line(*state, proc, PROC_OUTPUT, "caught");
    expect_exit(*state, proc, 9);
    proc_end(proc);
}

/* tail keeps all that it has read, and nobody takes it, so that it stays until it is killed. */
static void bounds_what_a_family_takes(void **state)
{
    struct proc_options options = {
        .arguments = SHELL("ulimit -d; exec 3>&1 2>/dev/null; head -c 200000000 /dev/zero | "
                           "{ tail -c 200000000; echo $? >&3; } | sleep 60"),
        .environment = PATH_ONLY,
        .bounds = {.data_bytes = MIB(1024), .tree_bytes = MIB(64)}};
    struct proc *proc = start(*state, &options);
    expect_line(*state, proc, PROC_OUTPUT, "1048576");
    expect_line(*state, proc, PROC_OUTPUT, "137");
    proc_end(proc);
}

static void shutdown_ends_all(void **state)
{
    struct proc *procs[6];
    pid_t pids[COUNT(procs)];
    for (size_t i = 0; i < COUNT(procs); i++) {
        struct proc_options options = {
            .arguments = SHELL(i % 2 ? "trap '' TERM; echo $$; while :; do sleep 60; done"
                                     : "echo $$; exec sleep 60"),
            .environment = PATH_ONLY};
        procs[i] = start(*state, &options);
        pids[i] = read_pid(*state, procs[i]);
    }
    procs[0] = proc_end(procs[0]); /* one with and one without its owner, of each kind */
    procs[1] = proc_end(procs[1]);
    proc_shutdown(200);
    assert_int_equal(child_count(), 0);
    for (size_t i = 0; i < COUNT(procs); i++) {
        assert_false(is_alive(pids[i]));
        if (procs[i]) {
            struct proc_event event;
            assert_int_equal(proc_next(*state, procs[i], -1, &event), OK);
            assert_int_equal(event.kind, PROC_EXIT);
            assert_int_equal(event.exit.signal, i % 2 ? SIGKILL : SIGTERM);
        }
        proc_end(procs[i]);
    }
    proc_shutdown(0);
}

/* ---- many, and nothing left ---- */

#define MANY 50

static void *run_and_wait(void *argument)
{
    struct proc_options options = {.arguments = (const char *const[]){"sleep", "60", NULL}};
    struct proc_result result;
    return proc_run(argument, &options, &result) == ERR_CANCELLED ? argument : NULL;
}

static void many_end_at_once(void **state)
{
    (void)state;
    struct call *calls[MANY];
    pthread_t threads[MANY];
    for (size_t i = 0; i < MANY; i++) {
        calls[i] = new_call(60000);
        assert_int_equal(pthread_create(&threads[i], NULL, run_and_wait, calls[i]), 0);
    }
    while (child_count() < MANY) {
        sleep_ms(2);
    }
    int64_t start_us = clock_now_us();
    for (size_t i = 0; i < MANY; i++) {
        call_cancel(calls[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        void *cancelled;
        pthread_join(threads[i], &cancelled);
        assert_ptr_equal(cancelled, calls[i]);
        call_free(calls[i]);
    }
    int64_t ended = clock_now_us() - start_us;
    await_no_children();
    print_message("50 at once: over after %.2f ms, gone after %.2f ms\n", (double)ended / 1000,
                  (double)(clock_now_us() - start_us) / 1000);
    assert_true(ended < BOUND_US);
}

static size_t descriptors_at_start;

static void leaves_nothing_behind(void **state)
{
    (void)state;
    proc_shutdown(1000);
    assert_int_equal(open_descriptors(), descriptors_at_start);
    /* Not one child, dead or alive. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_call, free_call)

UNIT_TEST(proc)
{
    const struct CMUnitTest tests[] = {
        TEST(reports_how_it_ended),
        TEST(says_why_it_did_not_start),
        TEST(starts_nothing_without_descriptors),
        TEST(sees_only_its_environment),
        TEST(runs_in_its_directory),
        TEST(inherits_no_descriptor),
        TEST(starts_with_fresh_signals),
        TEST(leads_its_own_group),
        TEST(feeds_while_it_reads),
        TEST(bounds_what_it_writes),
        TEST(gives_lines_as_they_come),
        TEST(hears_while_it_runs),
        TEST(bounds_its_lines),
        TEST(cancelled_call_ends_it),
        TEST(cancelled_run_is_over),
        TEST(late_run_is_over),
        TEST(cancelled_start_is_over),
        TEST(stubborn_family_is_killed),
        TEST(what_it_leaves_behind_ends),
        TEST(takes_signals),
        TEST(bounds_what_a_family_takes),
        TEST(shutdown_ends_all),
        TEST(many_end_at_once),
        cmocka_unit_test(leaves_nothing_behind),
    };
    descriptors_at_start = open_descriptors();
    return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
