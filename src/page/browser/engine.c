/* The one browser of the process.
 *
 * Its thread starts with the first page that wants one and leaves with the browser: after
 * FORAGE_BROWSER_IDLE_SECONDS without a page, when the browser dies, or at the end of the program.
 * A call that is cancelled leaves the line, and nobody else notices. */
#include "page/browser/engine.h"

#include "config/config.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "guard/policy.h"
#include "page/browser/find.h"
#include "page/browser/launch.h"
#include "page/browser/proxy.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES      KIB(64)
#define ERRORS_BYTES    KIB(4) /* of what it writes to stderr, for the words of a failure */
#define PROBLEM_SIZE    1024
#define MOST_BACKOFF_MS 10000

enum state { STOPPED, STARTING, RUNNING, STOPPING };

struct waiter {
    int event;
    struct waiter *next;
};

/* Guarded by `lock`, but for the thread's own part. */
static struct {
    pthread_mutex_t lock;
    enum state state;
    bool shut;
    pthread_t thread;
    bool has_thread; /* to be joined */
    struct waiter *waiters;
    size_t open_pages;
    int64_t idle_since_ms;
    unsigned failures; /* starts that failed for good */
    char problem[PROBLEM_SIZE];
    struct protocol *protocol;
    struct proxy *proxy;
    enum confinement confinement; /* that worked, or is tried next */
    bool knows_confinement;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the thread's own part ---- */

/* A browser and what it says. */
struct run {
    struct launched launched;
    struct protocol *protocol;
    char errors[ERRORS_BYTES];
    size_t errors_length;
    bool pipe_is_full;
};

/* With the lock held. */
static void wake_line(void)
{
    for (struct waiter *waiter = engine.waiters; waiter; waiter = waiter->next) {
        event_signal(waiter->event);
    }
}

static bool is_shut(void)
{
    pthread_mutex_lock(&engine.lock);
    bool shut = engine.shut;
    pthread_mutex_unlock(&engine.lock);
    return shut;
}

/* Its words are kept from the beginning; the rest is read and dropped. */
static void take_errors(struct run *run)
{
    char data[READ_BYTES];
    ssize_t got = read(run->launched.pipes.errors, data, sizeof data);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(run->launched.pipes.errors);
        run->launched.pipes.errors = -1;
        return;
    }
    size_t room = sizeof run->errors - 1 - run->errors_length;
    size_t kept = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;
    memcpy(run->errors + run->errors_length, data, kept);
    run->errors_length += kept;
    run->errors[run->errors_length] = '\0';
}

static int take_output(struct run *run)
{
    char data[READ_BYTES];
    ssize_t got = read(run->launched.pipes.output, data, sizeof data);
    if (got > 0) {
        return protocol_take(run->protocol, data, (size_t)got);
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? OK : ERR_CLOSED;
}

/* Waits for something to happen, at most `timeout_ms` (negative: no limit), and carries messages.
 * ERR_CLOSED when the browser is gone. */
static int pump(struct run *run, int64_t timeout_ms)
{
    struct child_pipes *pipes = &run->launched.pipes;
    struct pollfd fds[] = {
        {.fd = pipes->output, .events = POLLIN},
        {.fd = pipes->errors, .events = POLLIN},
        {.fd = protocol_wake_fd(run->protocol), .events = POLLIN},
        {.fd = run->pipe_is_full ? pipes->input : -1, .events = POLLOUT},
        {.fd = child_end_fd(run->launched.child), .events = POLLIN},
    };
    if (poll(fds, sizeof fds / sizeof *fds, (int)timeout_ms) < 0) {
        return errno == EINTR ? OK : ERR_IO;
    }
    if (fds[1].revents) {
        take_errors(run);
    }
    int status = fds[0].revents ? take_output(run) : OK;
    if (status == OK && (fds[2].revents || fds[3].revents)) {
        status = protocol_write(run->protocol, pipes->input);
        run->pipe_is_full = status == ERR_BUSY;
        status = run->pipe_is_full ? OK : status;
    }
    return status == OK && fds[4].revents && !fds[0].revents ? ERR_CLOSED : status;
}

/* ---- starting ---- */

/* The browser is there when it has answered for the first time. */
static int await_answer(struct run *run)
{
    struct channel *channel = channel_open(run->protocol);
    struct message answer = {.doc = NULL};
    int64_t end = clock_now_ms() + TIME_BROWSER_START_MS;
    int status =
        channel ? channel_send(channel, TO_BROWSER, "Browser.getVersion", NULL, true) : ERR_NOMEM;
    while (status == OK && !answer.doc) {
        int64_t left = end - clock_now_ms();
        status = left <= 0 ? ERR_DEADLINE : is_shut() ? ERR_CANCELLED : pump(run, left);
        if (status == OK) {
            status = channel_poll(channel, &answer);
        }
    }
    message_free(&answer);
    channel_close(channel);
    return status;
}

/* What a browser wrote as it died, on one line. */
static void describe_failure(struct run *run, int status, const struct proc_exit *exit,
                             char *problem, size_t size)
{
    for (size_t i = 0; i < run->errors_length; i++) {
        if ((unsigned char)run->errors[i] < ' ') {
            run->errors[i] = ' ';
        }
    }
    if (status == ERR_DEADLINE) {
        snprintf(problem, size, "it did not answer within %d seconds",
                 TIME_BROWSER_START_MS / 1000);
    } else if (exit->signal) {
        snprintf(problem, size, "it was ended by signal %d: %.400s", exit->signal, run->errors);
    } else {
        snprintf(problem, size, "it exited with code %d: %.400s", exit->code, run->errors);
    }
}

static void end_run(struct run *run)
{
    protocol_close(run->protocol);
    launch_end(&run->launched);
    run->protocol = protocol_free(run->protocol);
}

/* The last words and the exit of a browser that has closed its pipe come a moment later. */
static void await_exit(struct run *run, struct proc_exit *exit)
{
    struct pollfd ended = {.fd = child_end_fd(run->launched.child), .events = POLLIN};
    *exit = (struct proc_exit){.code = -1, .signal = 0};
    if (ended.fd >= 0) {
        poll(&ended, 1, 1000);
    }
    child_has_ended(run->launched.child, exit);
    if (run->launched.pipes.errors >= 0) {
        take_errors(run);
    }
}

static int try_once(struct run *run, const char *program, uint16_t port,
                    enum confinement *confinement, char *problem, size_t size)
{
    struct proc_exit exit;
    for (;;) {
        memset(run, 0, sizeof *run);
        run->protocol = protocol_new();
        int status =
            run->protocol ? launch_browser(&run->launched, program, port, *confinement) : ERR_NOMEM;
        if (status != OK) {
            snprintf(problem, size, "it cannot be run: %s", status_name(status));
            run->protocol = protocol_free(run->protocol);
            return status;
        }
        status = await_answer(run);
        if (status == OK) {
            return OK;
        }
        if (status == ERR_CLOSED) {
            await_exit(run, &exit);
        }
        describe_failure(run, status, &exit, problem, size);
        end_run(run);
        enum confinement next =
            status == ERR_CLOSED ? launch_next(*confinement, &exit, run->errors) : *confinement;
        if (next == *confinement) {
            return status;
        }
        *confinement = next;
    }
}

/* False when the program ends meanwhile. */
static bool pause_before_retry(int64_t wait_ms)
{
    int64_t end = clock_now_ms() + wait_ms;
    while (!is_shut() && clock_now_ms() < end) {
        int64_t left = end - clock_now_ms();
        poll(NULL, 0, (int)(left < 50 ? left : 50));
    }
    return !is_shut();
}

static enum confinement first_confinement(void)
{
    pthread_mutex_lock(&engine.lock);
    enum confinement first = engine.knows_confinement ? engine.confinement : launch_best();
    pthread_mutex_unlock(&engine.lock);
    return first;
}

static void note_confinement(enum confinement confinement)
{
    pthread_mutex_lock(&engine.lock);
    bool is_news = !engine.knows_confinement;
    engine.confinement = confinement;
    engine.knows_confinement = true;
    pthread_mutex_unlock(&engine.lock);
    if (is_news && (confinement == OTHER_USER || confinement == UNCONFINED)) {
        log_warn(NULL, "the browser runs %s: this system allows no better",
                 launch_words(confinement));
    }
}

static int start_browser(struct run *run, struct proxy *proxy, char *problem, size_t size)
{
    char program[FIND_PATH_SIZE];
    char reason[PROBLEM_SIZE / 2];
    int64_t attempts = config_int("KINDLY_NODRIVER_RETRY_ATTEMPTS");
    int64_t wait_ms = config_duration_ms("KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS");
    enum confinement confinement = first_confinement();
    if (find_browser(program, problem, size) != OK) {
        return ERR_NOTFOUND;
    }
    int status = ERR_FAILED;
    for (int64_t i = 0; i < attempts; i++) {
        if (i > 0 && !pause_before_retry(wait_ms)) {
            break;
        }
        wait_ms = i > 0 && wait_ms < MOST_BACKOFF_MS ? wait_ms * 2 : wait_ms;
        status = try_once(run, program, proxy_port(proxy), &confinement, reason, sizeof reason);
        if (status == OK) {
            note_confinement(confinement);
            return OK;
        }
    }
    snprintf(problem, size, "the browser %.400s does not start: %.500s", program, reason);
    return status;
}

/* ---- running ---- */

/* How long the thread may wait; 0 when the browser has been idle for long enough, or the program
 * ends: then it is stopping, and no page gets it any more. */
static int64_t time_to_stop(void)
{
    int64_t wait_ms = -1;
    pthread_mutex_lock(&engine.lock);
    if (engine.open_pages == 0 && !engine.waiters) {
        wait_ms = engine.idle_since_ms + config_duration_ms("FORAGE_BROWSER_IDLE_SECONDS") -
                  clock_now_ms();
        wait_ms = wait_ms > 0 ? wait_ms : 0;
    }
    if (engine.shut) {
        wait_ms = 0;
    }
    if (wait_ms == 0) {
        engine.state = STOPPING;
    }
    pthread_mutex_unlock(&engine.lock);
    return wait_ms;
}

static void publish(struct run *run, struct proxy *proxy)
{
    pthread_mutex_lock(&engine.lock);
    engine.state = RUNNING;
    engine.protocol = run->protocol;
    engine.proxy = proxy;
    engine.idle_since_ms = clock_now_ms();
    wake_line();
    pthread_mutex_unlock(&engine.lock);
}

static void withdraw(void)
{
    pthread_mutex_lock(&engine.lock);
    engine.state = STOPPING;
    engine.protocol = NULL;
    engine.proxy = NULL;
    pthread_mutex_unlock(&engine.lock);
}

static void carry_messages(struct run *run)
{
    int status = OK;
    while (status == OK) {
        int64_t wait_ms = time_to_stop();
        status = wait_ms == 0 ? ERR_CLOSED : pump(run, wait_ms);
    }
}

static void *run_browser(void *unused)
{
    static const struct proxy_options PROXY = {.allow = policy_allow};
    char problem[PROBLEM_SIZE] = "";
    struct run run;
    (void)unused;
    struct proxy *proxy = proxy_start(&PROXY, problem, sizeof problem);
    bool started = proxy && start_browser(&run, proxy, problem, sizeof problem) == OK;
    if (started) {
        publish(&run, proxy);
        carry_messages(&run);
        withdraw();
        end_run(&run);
    }
    proxy_free(proxy);
    pthread_mutex_lock(&engine.lock);
    engine.state = STOPPED;
    if (!started) {
        engine.failures++;
        memcpy(engine.problem, problem, sizeof problem);
    }
    wake_line();
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

/* With the lock held. Signals are the business of the program's own threads; SIGPIPE too, so that
 * writing to a browser that is gone is only an error. */
static int start_thread(void)
{
    sigset_t all;
    sigset_t before;
    if (engine.has_thread) {
        pthread_join(engine.thread, NULL); /* it has said STOPPED, and does nothing more */
        engine.has_thread = false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&engine.thread, NULL, run_browser, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        return ERR_NOMEM;
    }
    engine.has_thread = true;
    engine.state = STARTING;
    return OK;
}

/* ---- the line ---- */

/* With the lock held. */
static void join_line(struct waiter *waiter)
{
    struct waiter **link = &engine.waiters;
    while (*link) {
        link = &(*link)->next;
    }
    *link = waiter;
}

static void leave_line(struct waiter *waiter)
{
    struct waiter **link = &engine.waiters;
    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
    wake_line();
    if (engine.protocol) {
        event_signal(protocol_wake_fd(engine.protocol)); /* the thread counts its idle time anew */
    }
}

static int take_lease(struct engine_lease *lease)
{
    lease->channel = channel_open(engine.protocol);
    if (!lease->channel) {
        return ERR_NOMEM;
    }
    engine.open_pages++;
    memcpy(lease->proxy.password, proxy_password(engine.proxy), ID_SECRET_SIZE);
    memcpy(lease->proxy.mark, proxy_mark(engine.proxy), ID_SECRET_SIZE);
    return OK;
}

/* One look at how things stand, with the lock held. ERR_BUSY: wait. */
static int look(struct waiter *waiter, unsigned failures, struct engine_lease *lease)
{
    if (engine.shut || engine.failures != failures) {
        return ERR_FAILED;
    }
    bool turn =
        engine.waiters == waiter && engine.open_pages < (size_t)config_int("FORAGE_BROWSER_PAGES");
    if (turn && engine.state == RUNNING) {
        return take_lease(lease);
    }
    if (turn && engine.state == STOPPED) {
        int status = start_thread();
        return status == OK ? ERR_BUSY : status;
    }
    return ERR_BUSY;
}

int engine_lease(struct call *call, struct engine_lease *lease, const char **problem)
{
    struct waiter waiter = {.event = event_open()};
    if (waiter.event < 0) {
        return ERR_IO;
    }
    pthread_mutex_lock(&engine.lock);
    unsigned failures = engine.failures;
    join_line(&waiter);
    int status = look(&waiter, failures, lease);
    if (status == ERR_BUSY) {
        const char *words = engine.state == RUNNING ? "waiting for a free tab of the browser"
                                                    : "starting the browser";
        pthread_mutex_unlock(&engine.lock);
        call_progress(call, 0, 0, "%s", words);
        pthread_mutex_lock(&engine.lock);
    }
    while (status == ERR_BUSY) {
        struct pollfd ready = {.fd = waiter.event, .events = POLLIN};
        pthread_mutex_unlock(&engine.lock);
        int waited = call_wait(call, &ready, 1, -1);
        event_clear(waiter.event);
        pthread_mutex_lock(&engine.lock);
        status = waited < 0 ? waited : look(&waiter, failures, lease);
    }
    if (status == ERR_FAILED) {
        *problem = arena_strdup(call_arena(call), engine.shut ? "forage ends" : engine.problem);
    }
    leave_line(&waiter);
    pthread_mutex_unlock(&engine.lock);
    event_close(waiter.event);
    return status;
}

void engine_return(struct engine_lease *lease)
{
    pthread_mutex_lock(&engine.lock);
    engine.open_pages--;
    engine.idle_since_ms = clock_now_ms();
    wake_line();
    if (engine.protocol) {
        event_signal(protocol_wake_fd(engine.protocol));
    }
    pthread_mutex_unlock(&engine.lock);
    lease->channel = channel_close(lease->channel);
}

void engine_shutdown(void)
{
    pthread_mutex_lock(&engine.lock);
    engine.shut = true;
    wake_line();
    if (engine.protocol) {
        event_signal(protocol_wake_fd(engine.protocol));
    }
    bool joins = engine.has_thread;
    engine.has_thread = false;
    pthread_mutex_unlock(&engine.lock);
    if (joins) {
        pthread_join(engine.thread, NULL);
    }
}
