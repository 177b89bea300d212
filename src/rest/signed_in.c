/* Requests that come with the cookie of a session: whether it was ended is asked of the records,
 * which may take a while, so a worker looks before the route is served. Where the records cannot be
 * read, no cookie counts. */
#include "call/errors.h"
#include "call/parts.h"
#include "ops/records.h"
#include "ops/sign_outs.h"
#include "rest/http.h"

#define TIME_LOOK_MS 10000

/* What is being found out about a request. */
struct looking {
    struct visit visit;
    struct session session;
    int status; /* OK; ERR_NOTFOUND: the session was ended; else why that is not known */
};

static struct db *open_records(struct rest_call *rest)
{
    char problem[DB_PROBLEM_SIZE];
    return records_open(call_parts(rest->call)->places, rest->call, problem, sizeof problem);
}

int sessions_look(struct db *db, const struct session *session)
{
    bool ended;
    int status = sign_outs_find(db, session->caller->name, session->expires_ms, &ended);
    return status == OK && ended ? ERR_NOTFOUND : status;
}

/* On the reactor's thread. What serves the route makes a call of its own, and this one goes. */
static void go_on(struct exchange *exchange, void *context)
{
    const struct rest_call *rest = context;
    const struct looking *looking = rest->own;
    struct visit visit = looking->visit;
    int status = looking->status;
    exchange_on_gone(exchange, NULL, NULL);
    visit.signed_out = status != OK;
    if (status == OK || visit.route->open) {
        visit.route->serve(&visit);
    } else if (status == ERR_NOTFOUND) {
        refuse_token(visit.door, exchange, false);
    } else {
        respond_error(exchange, CODE_PROVIDER,
                      "the records cannot be read, so it is not known whether this session was "
                      "signed out, and no cookie counts; a token in the header Authorization does");
    }
}

static void look(struct rest_call *rest)
{
    struct looking *looking = rest->own;
    struct db *db = open_records(rest);
    looking->status = db ? sessions_look(db, &looking->session) : ERR_IO;
    db_close(db);
    pool_work_is_done();
    exchange_on_drained(rest->exchange, go_on, rest);
}

void serve_visit(const struct visit *visit)
{
    struct session session;
    /* Neither the page nor the short answer on the server's health depends on who asks. */
    bool same_for_all = visit->route->serve == serve_dashboard ||
                        (visit->route->serve == serve_health &&
                         exchange_request(visit->exchange)->query.length == 0);
    if (same_for_all || !find_session(visit->door, visit->route, visit->exchange, &session)) {
        visit->route->serve(visit);
        return;
    }
    struct visit own = *visit;
    own.caller = session.caller;
    struct rest_call *rest = rest_call_new(&own);
    struct looking *looking = rest ? arena_zalloc(call_arena(rest->call), sizeof *looking) : NULL;
    if (rest && !looking) {
        rest_refuse(rest, ERR_NOMEM);
    }
    if (looking) {
        *looking = (struct looking){.visit = *visit, .session = session};
        rest->own = looking;
        call_limit_time(rest->call, TIME_LOOK_MS);
        rest_work(rest, look);
    }
}

int sessions_end(struct rest_call *rest, const struct session *session)
{
    struct records_turn turn;
    struct db *db = open_records(rest);
    int status = db ? records_begin(db, true, &turn) : ERR_IO;
    if (status == OK) {
        status = sign_outs_add(db, session->caller->name, session->expires_ms);
        status = status == OK ? records_commit(db, &turn) : status;
    }
    if (db) {
        db_rollback(db);
    }
    db_close(db);
    return status;
}
