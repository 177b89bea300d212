/* Sessions are kept open between calls, a few of them, and lent to whoever needs one. */
#include "memory/store.h"

#include "base/limits.h"
#include "call/errors.h"
#include "config/config.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_session *idle;
static size_t idle_count;

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

int store_borrow(struct call *call, struct store_session **session)
{
    const struct store_backend *backend = store_chosen();
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
        int status = call_check(call);
        return status != OK ? status
                            : call_fail(call, CODE_PROVIDER,
                                        "the memory store cannot be opened: %s", problem);
    }
    (*session)->call = call;
    (*session)->problem[0] = '\0';
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
    bool kept = usable && idle_count < LIMIT_MEMORY_IDLE_SESSIONS;
    if (kept) {
        session->next = idle;
        idle = session;
        idle_count++;
    }
    pthread_mutex_unlock(&idle_lock);
    if (!kept) {
        backend->disconnect(session);
    }
}

const char *store_problem(const struct store_session *session)
{
    return session->problem;
}

int store_fail(struct call *call, const struct store_session *session, int status)
{
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
