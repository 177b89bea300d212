/* Sessions are kept open between calls, a few of them, and lent to whoever needs one. Where there
 * may be only so many at once, calls wait for their turn in the order in which they came. */
#include "memory/store.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/event.h"
#include "core/limits.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_session *idle;
static size_t idle_count;
static size_t lent_count;

/* A call that waits for its turn. */
struct waiter {
    struct waiter *next;
    int event;
    bool served; /* the turn of whoever gave a session back is now its own */
};
static struct waiter *first_waiter;
static struct waiter **last_waiter = &first_waiter;

const struct store_backend *store_chosen(void)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    return url && *url ? &STORE_POSTGRES : &STORE_SQLITE;
}

static struct store_session *take_idle(void)
{
    pthread_mutex_lock(&idle_lock);
    struct store_session *session = idle;
    if (session) {
        idle = session->next;
        idle_count--;
    }
    pthread_mutex_unlock(&idle_lock);
    return session;
}

/* ---- turns ---- */

static void leave_queue(struct waiter *waiter)
{
    struct waiter **at = &first_waiter;
    while (*at != waiter) {
        at = &(*at)->next;
    }
    *at = waiter->next;
    if (last_waiter == &waiter->next) {
        last_waiter = at;
    }
}

/* The turn goes to whoever waits longest. */
static void end_turn(void)
{
    pthread_mutex_lock(&idle_lock);
    struct waiter *waiter = first_waiter;
    if (waiter) {
        leave_queue(waiter);
        waiter->served = true;
        event_signal(waiter->event);
    } else {
        lent_count--;
    }
    pthread_mutex_unlock(&idle_lock);
}

static size_t most_sessions(const struct store_backend *backend)
{
    return backend->most_sessions ? backend->most_sessions() : SIZE_MAX;
}

/* Takes a turn that is free, or a place in the queue. */
static void line_up(struct waiter *waiter, size_t most)
{
    pthread_mutex_lock(&idle_lock);
    waiter->served = lent_count < most;
    if (waiter->served) {
        lent_count++;
    } else {
        waiter->event = event_open();
        *last_waiter = waiter;
        last_waiter = &waiter->next;
    }
    pthread_mutex_unlock(&idle_lock);
}

static int wait_turn(const struct store_backend *backend, struct call *call)
{
    struct waiter waiter = {.event = -1};
    line_up(&waiter, most_sessions(backend));
    if (waiter.event < 0 && waiter.served) {
        return OK;
    }
    struct pollfd watched = {.fd = waiter.event, .events = POLLIN};
    int status = waiter.event < 0 ? ERR_IO : call_wait(call, &watched, 1, -1);
    pthread_mutex_lock(&idle_lock);
    bool served = waiter.served;
    if (!served) {
        leave_queue(&waiter);
    }
    pthread_mutex_unlock(&idle_lock);
    event_close(waiter.event);
    if (status < 0 && served) {
        end_turn();
    }
    return status < 0 ? status : OK;
}

/* ---- lending ---- */

int store_borrow(struct call *call, struct store_session **session)
{
    const struct store_backend *backend = store_chosen();
    *session = NULL;
    int turn = wait_turn(backend, call);
    if (turn != OK) {
        return turn;
    }
    char problem[STORE_PROBLEM_SIZE] = "";
    while ((*session = take_idle())) {
        if (backend->work_for(*session, call) == OK) {
            break;
        }
        backend->disconnect(*session);
    }
    if (!*session) {
        *session = backend->connect(call, problem, sizeof problem);
    }
    if (!*session) {
        end_turn();
        int status = call_check(call);
        return status != OK ? status
                            : call_fail(call, CODE_PROVIDER,
                                        "the memory store cannot be opened: %s", problem);
    }
    (*session)->call = call;
    (*session)->problem[0] = '\0';
    (*session)->in_doubt = false;
    return OK;
}

void store_return(struct store_session *session)
{
    if (!session) {
        return;
    }
    const struct store_backend *backend = session->backend;
    backend->rollback(session);
    bool usable = backend->work_for(session, NULL) == OK;
    session->call = NULL;
    pthread_mutex_lock(&idle_lock);
    size_t most = backend->most_sessions ? most_sessions(backend) : LIMIT_MEMORY_IDLE_SESSIONS;
    bool kept = usable && idle_count < most;
    if (kept) {
        session->next = idle;
        idle = session;
        idle_count++;
    }
    pthread_mutex_unlock(&idle_lock);
    if (!kept) {
        backend->disconnect(session);
    }
    end_turn();
}

const char *store_problem(const struct store_session *session)
{
    return session->problem;
}

int store_fail(struct call *call, const struct store_session *session, int status)
{
    if (session->in_doubt) {
        return call_fail(call, CODE_PROVIDER,
                         "the memory store went away while it confirmed the change, so it is not "
                         "known whether the change was made; look before you repeat it: %s",
                         store_problem(session));
    }
    switch (status) {
    case ERR_IO:
    case ERR_CLOSED:
        return call_fail(call, CODE_PROVIDER, "the memory store failed, nothing was changed: %s",
                         store_problem(session));
    case ERR_BUSY:
        call_fail(call, CODE_BUSY, "the memory store is busy with other writers; try again");
        call_fail_retry_after(call, 1);
        return ERR_FAILED;
    default:
        return status;
    }
}

void store_shutdown(void)
{
    struct store_session *session;
    while ((session = take_idle())) {
        session->backend->disconnect(session);
    }
}
