/* The browser of a program: the thread that starts Chromium, carries its messages and ends it, and
 * the line in which pages wait for a tab.
 *
 * The thread starts with the first page that wants a tab and leaves with Chromium: after
 * FORAGE_BROWSER_IDLE_SECONDS without a page, when Chromium dies, or at the end of the program. A
 * call that is cancelled leaves the line, and nobody else notices. */
#include "browser/browser.h"

#include "browser/frames.h"
#include "browser/launch.h"
#include "browser/page.h"
#include "call/line.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "guard/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES      KIB(64)
#define ERRORS_BYTES    KIB(16) /* of what it writes to stderr: why it fails, or its port */
#define PROBLEM_SIZE    1024
#define MOST_BACKOFF_MS 10000
#define RENDER_TRIES    2 /* a Chromium that dies under a page is often not that page's doing */

enum browser_state { STOPPED, STARTING, RUNNING, STOPPING };

struct browser {
    struct line tabs;
    struct policy *policy; /* asked about every address that a page wants to reach */
    struct resolver *resolver;
    bool serves;
    struct call *life; /* cancelled at the end of the program: the thread's waits are over then */
    pthread_mutex_t lock; /* guards what follows, up to the thread's own part */
    enum browser_state state;
    int settled; /* an event: readable unless Chromium is starting or stopping */
    pthread_t thread;
    bool has_thread; /* to be joined */
    size_t users;    /* pages that have a tab, or wait inside the line for Chromium to start */
    int64_t idle_since_ms;
    unsigned failures; /* starts that failed for good */
    char problem[PROBLEM_SIZE];
    struct protocol *protocol;
    struct proxy *proxy;

    /* The thread's own. */
    enum confinement confinement; /* that worked */
    bool knows_confinement;
};

/* ---- what Chromium says ---- */

/* A Chromium that runs, as its thread sees it. */
struct browser_run {
    struct browser *browser;
    struct launched launched;
    struct protocol *protocol;
    char errors[ERRORS_BYTES];
    size_t errors_length;
    bool pipe_is_full;
};

/* Stores the beginning of what it writes to stderr; the rest is read and dropped. */
static void take_errors(struct browser_run *run)
{
    char data[READ_BYTES];
    ssize_t got = read(run->launched.pipes.errors, data, sizeof data);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(run->launched.pipes.errors);
        run->launched.pipes.errors = -1;
        return;
    }
    size_t room = sizeof run->errors - 1 - run->errors_length;
    size_t stored = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;
    memcpy(run->errors + run->errors_length, data, stored);
    run->errors_length += stored;
    run->errors[run->errors_length] = '\0';
}

static int take_output(struct browser_run *run)
{
    char data[READ_BYTES];
    ssize_t got = read(run->launched.pipes.output, data, sizeof data);
    if (got > 0) {
        return protocol_take(run->protocol, data, (size_t)got);
    }
    return (got < 0 && (errno == EAGAIN || errno == EINTR)) ? OK : ERR_CLOSED;
}

/* Waits for something to happen, at most `timeout_ms` (negative: no limit), and carries messages.
 * ERR_CLOSED when Chromium is gone; or as of call_wait. */
static int pump(struct browser_run *run, int64_t timeout_ms)
{
    struct child_pipes *pipes = &run->launched.pipes;
    struct pollfd fds[] = {
        {.fd = pipes->output, .events = POLLIN},
        {.fd = pipes->errors, .events = POLLIN},
        {.fd = protocol_wake_fd(run->protocol), .events = POLLIN},
        {.fd = run->pipe_is_full ? pipes->input : -1, .events = POLLOUT},
        {.fd = child_end_fd(run->launched.child), .events = POLLIN},
    };
    int ready = call_wait(run->browser->life, fds, sizeof fds / sizeof *fds, timeout_ms);
    if (ready < 0) {
        return ready;
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

/* Lets a Chromium that starts go on, until `end`. */
static int pump_until(struct browser_run *run, int64_t end)
{
    int64_t left = end - clock_now_ms();
    return left <= 0 ? ERR_DEADLINE : pump(run, left);
}

/* A Snap says at which port it listens; it takes no message before it has opened a WebSocket there.
 */
static int await_port(struct browser_run *run, int64_t end)
{
    struct frames_address address;
    int status = OK;
    while (status == OK && !frames_find_address(run->errors, &address)) {
        status = pump_until(run, end);
    }
    status = status == OK ? launch_connect(&run->launched, address.port) : status;
    status = status == OK ? protocol_use_frames(run->protocol, &address) : status;
    while (status == OK && !protocol_is_open(run->protocol)) {
        status = pump_until(run, end);
    }
    return status;
}

/* Chromium runs when it has answered for the first time. */
static int await_answer(struct browser_run *run, bool at_port)
{
    struct channel *channel = channel_open(run->protocol);
    struct browser_message answer = {.doc = NULL};
    int64_t end = clock_now_ms() + TIME_BROWSER_START_MS;
    int status = channel ? OK : ERR_NOMEM;
    if (status == OK && at_port) {
        status = await_port(run, end);
    }
    if (status == OK) {
        status = channel_send(channel, TO_BROWSER, "Browser.getVersion", NULL, true);
    }
    while (status == OK && !answer.doc) {
        status = pump_until(run, end);
        if (status == OK) {
            status = channel_poll(channel, &answer);
        }
    }
    message_free(&answer);
    channel_close(channel);
    return status;
}

/* The last words and the exit of a Chromium that has closed its pipe come a moment later. */
static void await_exit(struct browser_run *run, struct proc_exit *exit)
{
    struct pollfd ended = {.fd = child_end_fd(run->launched.child), .events = POLLIN};
    if (ended.fd >= 0) {
        poll(&ended, 1, 1000);
    }
    child_has_ended(run->launched.child, exit);
    if (run->launched.pipes.errors >= 0) {
        take_errors(run);
    }
}

/* What Chromium wrote as it died, on one line. `exit` counts only where it has closed its pipe:
 * otherwise it was still running when it was given up. */
static void describe_failure(struct browser_run *run, int status, const struct proc_exit *exit,
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
    } else if (status == ERR_IO) {
        snprintf(problem, size, "no connection could be made to its port");
    } else if (status != ERR_CLOSED) {
        snprintf(problem, size, "it was given up: %s", status_name(status));
    } else if (exit->signal) {
        snprintf(problem, size, "it was ended by signal %d: %.400s", exit->signal, run->errors);
    } else {
        snprintf(problem, size, "it exited with code %d: %.400s", exit->code, run->errors);
    }
}

static void end_run(struct browser_run *run)
{
    protocol_close(run->protocol);
    launch_end(&run->launched);
    run->protocol = protocol_free(run->protocol);
}

/* Starts it as confined as it lets itself be: each try that fails by its confinement is followed by
 * one with less. ERR_NOTFOUND and ERR_INVALID: it never will start, as it cannot be run, or has
 * nothing more to do. */
static int try_once(struct browser_run *run, const struct browser_program *program, uint16_t port,
                    enum confinement *confinement, char *problem, size_t size)
{
    struct browser *browser = run->browser;
    for (;;) {
        *run = (struct browser_run){.browser = browser, .protocol = protocol_new()};
        int status = run->protocol ? launch_browser(browser->life, &run->launched, program, port,
                                                    *confinement)
                                   : ERR_NOMEM;
        if (status != OK) {
            snprintf(problem, size, "it cannot be run: %s", status_name(status));
            run->protocol = protocol_free(run->protocol);
            return status;
        }
        status = await_answer(run, *program->snap != '\0');
        if (status == OK) {
            return OK;
        }
        enum confinement next = *confinement;
        struct proc_exit exit = {.code = -1}; /* also where the system cannot say how it ended */
        if (status == ERR_CLOSED) {
            await_exit(run, &exit);
            next = launch_next(*confinement, &exit, run->errors);
        }
        describe_failure(run, status, &exit, problem, size);
        end_run(run);
        if (next == *confinement) {
            return exit.code == 0 ? ERR_INVALID : status;
        }
        *confinement = next;
    }
}

static void note_confinement(struct browser *browser, enum confinement confinement)
{
    if (!browser->knows_confinement && (confinement == OTHER_USER || confinement == UNCONFINED)) {
        log_warn(NULL, "the browser runs %s: this system allows no better",
                 launch_words(confinement));
    }
    browser->confinement = confinement;
    browser->knows_confinement = true;
}

static int start_chromium(struct browser_run *run, struct proxy *proxy, char *problem, size_t size)
{
    struct browser *browser = run->browser;
    struct browser_program program;
    char reason[PROBLEM_SIZE / 2] = "";
    int64_t attempts = config_int("FORAGE_BROWSER_ATTEMPTS");
    int64_t wait_ms = config_duration_ms("FORAGE_BROWSER_BACKOFF");
    if (launch_find(browser->serves, &program, problem, size) != OK) {
        return ERR_NOTFOUND;
    }
    enum confinement confinement =
        browser->knows_confinement ? browser->confinement : launch_best(&program);
    int status = ERR_FAILED;
    for (int64_t i = 0; i < attempts && status != ERR_INVALID && status != ERR_NOTFOUND; i++) {
        if (i > 0 && call_sleep(browser->life, wait_ms) != OK) {
            break; /* the program ends */
        }
        wait_ms = i > 0 && wait_ms < MOST_BACKOFF_MS ? wait_ms * 2 : wait_ms;
        status = try_once(run, &program, proxy_port(proxy), &confinement, reason, sizeof reason);
        if (status == OK) {
            note_confinement(browser, confinement);
            return OK;
        }
    }
    snprintf(problem, size, "the browser %.400s does not start: %.500s", program.path, reason);
    return status;
}

/* ---- running ---- */

/* With the lock held. */
static void set_state(struct browser *browser, enum browser_state state)
{
    browser->state = state;
    if (state == RUNNING || state == STOPPED) {
        event_signal(browser->settled);
    } else {
        event_clear(browser->settled);
    }
}

/* How long the thread may wait; 0 when Chromium has been idle for long enough, or the program ends:
 * then it is stopping, and no page gets it any more. */
static int64_t time_to_stop(struct browser *browser)
{
    int64_t wait_ms = -1;
    pthread_mutex_lock(&browser->lock);
    if (browser->users == 0) {
        wait_ms = browser->idle_since_ms + config_duration_ms("FORAGE_BROWSER_IDLE_SECONDS") -
                  clock_now_ms();
        wait_ms = wait_ms > 0 ? wait_ms : 0;
    }
    if (call_cancelled(browser->life)) {
        wait_ms = 0;
    }
    if (wait_ms == 0) {
        set_state(browser, STOPPING);
    }
    pthread_mutex_unlock(&browser->lock);
    return wait_ms;
}

static void publish(struct browser *browser, struct protocol *protocol, struct proxy *proxy,
                    enum browser_state state)
{
    pthread_mutex_lock(&browser->lock);
    browser->protocol = protocol;
    browser->proxy = proxy;
    browser->idle_since_ms = clock_now_ms();
    set_state(browser, state);
    pthread_mutex_unlock(&browser->lock);
}

static void *run_chromium(void *argument)
{
    struct browser *browser = argument;
    struct browser_run run = {.browser = browser};
    char problem[PROBLEM_SIZE] = "";
    struct proxy *proxy =
        proxy_start(browser->resolver, policy_allow, browser->policy, problem, sizeof problem);
    bool started = proxy && start_chromium(&run, proxy, problem, sizeof problem) == OK;
    if (started) {
        int status = OK;
        publish(browser, run.protocol, proxy, RUNNING);
        while (status == OK) {
            int64_t wait_ms = time_to_stop(browser);
            status = wait_ms == 0 ? ERR_CLOSED : pump(&run, wait_ms);
        }
        publish(browser, NULL, NULL, STOPPING);
        end_run(&run);
    }
    proxy_free(proxy);
    pthread_mutex_lock(&browser->lock);
    if (!started) {
        browser->failures++;
        memcpy(browser->problem, problem, sizeof problem);
    }
    set_state(browser, STOPPED);
    pthread_mutex_unlock(&browser->lock);
    return NULL;
}

/* With the lock held. The thread takes no signals, SIGPIPE neither: writing to a Chromium that is
 * gone is only an error. */
static int start_thread(struct browser *browser)
{
    if (browser->has_thread) {
        pthread_join(browser->thread, NULL); /* it has said STOPPED, and does nothing more */
        browser->has_thread = false;
    }
    browser->settled = browser->settled < 0 ? event_open() : browser->settled;
    if (browser->settled < 0) {
        return ERR_IO;
    }
    int status = thread_start(&browser->thread, 0, run_chromium, browser);
    if (status == OK) {
        browser->has_thread = true;
        set_state(browser, STARTING);
    }
    return status;
}

/* ---- tabs ---- */

/* With the lock held: the thread looks anew at what there is to do. */
static void wake_thread(struct browser *browser)
{
    if (browser->protocol) {
        event_signal(protocol_wake_fd(browser->protocol));
    }
}

/* One look at how things stand, with the lock held. ERR_BUSY: wait until they are settled. */
static int look(struct browser *browser, unsigned failures, struct tab *tab)
{
    if (call_cancelled(browser->life) || browser->failures != failures) {
        return ERR_FAILED;
    }
    if (browser->state == STOPPED) {
        int status = start_thread(browser);
        return status == OK ? ERR_BUSY : status;
    }
    if (browser->state != RUNNING) {
        return ERR_BUSY;
    }
    tab->channel = channel_open(browser->protocol);
    proxy_admit(browser->proxy, &tab->proxy);
    return tab->channel ? OK : ERR_NOMEM;
}

static void give_tab(struct browser *browser, struct place *place, struct tab *tab)
{
    pthread_mutex_lock(&browser->lock);
    browser->users--;
    browser->idle_since_ms = clock_now_ms();
    wake_thread(browser);
    pthread_mutex_unlock(&browser->lock);
    tab->channel = channel_close(tab->channel);
    line_leave(place);
}

static void report_wait(struct call *call, size_t inside, size_t before)
{
    (void)inside;
    (void)before;
    call_progress(call, 0, 0, "waiting for a free tab of the browser");
}

/* Waits for a turn and a running Chromium. OK, and give_tab() must follow; ERR_FAILED with the
 * reason in the call's arena; or as of call_wait. */
static int take_tab(struct browser *browser, struct place *place, struct tab *tab,
                    const char **problem)
{
    if (!browser) {
        *problem = "this program was made without a browser";
        return ERR_FAILED;
    }
    pthread_mutex_lock(&browser->lock);
    unsigned failures = browser->failures; /* one from here on fails this call too */
    pthread_mutex_unlock(&browser->lock);
    int status = line_enter(&browser->tabs, place, -1);
    if (status != OK) {
        return status;
    }
    tab->channel = NULL;
    pthread_mutex_lock(&browser->lock);
    browser->users++;
    status = look(browser, failures, tab);
    for (bool first = true; status == ERR_BUSY; first = false) {
        struct pollfd settled = {.fd = browser->settled, .events = POLLIN};
        pthread_mutex_unlock(&browser->lock);
        if (first) {
            call_progress(place->call, 0, 0, "starting the browser");
        }
        int waited = call_wait(place->call, &settled, 1, -1);
        pthread_mutex_lock(&browser->lock);
        status = waited < 0 ? waited : look(browser, failures, tab);
    }
    if (status == ERR_FAILED) {
        *problem = arena_strdup(call_arena(place->call),
                                call_cancelled(browser->life) ? "forage ends" : browser->problem);
    }
    pthread_mutex_unlock(&browser->lock);
    if (status == ERR_FAILED && *problem) {
        *problem = call_without_paths(place->call, *problem, true);
    }
    if (status != OK) {
        give_tab(browser, place, tab);
    }
    return status;
}

/* ---- as the reader sees it ---- */

static int render_once(struct call *call, const char *url, size_t most_chars,
                       struct browser_page *page)
{
    struct browser *browser = call_parts(call)->browser;
    struct place place = {.call = call, .report = report_wait};
    struct tab tab;
    int64_t began_ms = clock_now_ms();
    memset(page, 0, sizeof *page);
    int status = take_tab(browser, &place, &tab, &page->error);
    if (status == OK) {
        call_progress(call, 0, 0, "rendering the page in the browser");
        status = page_render(call, &tab, url, most_chars, page);
        give_tab(browser, &place, &tab);
    }
    log_private(call_request_id(call),
                "request=GET upstream=browser address=%s http=%d bytes=%zu ms=%lld%s%s", url,
                page->status, page->length, (long long)(clock_now_ms() - began_ms),
                page->error ? " error=" : "", page->error ? page->error : "");
    return status;
}

int browser_render(struct call *call, const char *url, size_t most_chars, struct browser_page *page)
{
    int status = ERR_CLOSED;
    for (int i = 0; i < RENDER_TRIES && status == ERR_CLOSED; i++) {
        status = render_once(call, url, most_chars, page);
    }
    if (status != OK && status != ERR_CANCELLED && status != ERR_DEADLINE) {
        if (!page->error) {
            page->error = status == ERR_CLOSED
                              ? "the browser ended while it showed the page: it took too "
                                "much memory, or met a fault of the browser"
                              : "there is not enough memory to show the page";
        }
        status = ERR_FAILED;
    }
    return status;
}

bool browser_found(const struct browser *browser, bool *reached, char *lacks, size_t size)
{
    struct browser_program program;
    bool found = launch_find(browser && browser->serves, &program, lacks, size) == OK;
    if (reached) {
        *reached = found && *program.snap;
    }
    return found;
}

int browser_try(struct call *call, char *program, size_t size, const char **problem)
{
    struct browser *browser = call_parts(call)->browser;
    struct place place = {.call = call, .report = report_wait};
    struct tab tab;
    struct browser_program found;
    int status = launch_find(browser && browser->serves, &found, program, size);
    if (status != OK) {
        return status;
    }
    snprintf(program, size, "%s", found.path);
    status = take_tab(browser, &place, &tab, problem);
    if (status == OK) {
        give_tab(browser, &place, &tab);
    }
    return status;
}

struct browser *browser_new(struct policy *policy, struct resolver *resolver, struct turns *turns)
{
    struct browser *browser = calloc(1, sizeof *browser);
    struct call *life = browser ? call_new(&(struct call_options){.timeout_ms = 0}) : NULL;
    if (!life) {
        free(browser);
        return NULL;
    }
    browser->life = life;
    browser->settled = -1;
    browser->policy = policy;
    browser->resolver = resolver;
    pthread_mutex_init(&browser->lock, NULL);
    line_init(&browser->tabs, turns, "browser_tabs", (size_t)config_int("FORAGE_BROWSER_PAGES"));
    return browser;
}

void browser_serve(struct browser *browser)
{
    browser->serves = true;
}

void browser_stop(struct browser *browser)
{
    pthread_mutex_lock(&browser->lock);
    call_cancel(browser->life);
    bool joins = browser->has_thread;
    browser->has_thread = false;
    pthread_mutex_unlock(&browser->lock);
    if (joins) {
        pthread_join(browser->thread, NULL);
    }
}

struct browser *browser_free(struct browser *browser)
{
    if (browser) {
        browser_stop(browser);
        event_close(browser->settled);
        line_done(&browser->tabs);
        call_free(browser->life);
        pthread_mutex_destroy(&browser->lock);
        free(browser);
    }
    return NULL;
}
