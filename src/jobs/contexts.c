/* What calls leave for those that follow on them: of a job with its row, of any other tool in a row
 * that is no job. */
#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/redact.h"
#include "jobs/internal.h"

#include <stdio.h>
#include <string.h>

/* One answer for what never was, has expired, is of another caller, or left nothing. */
static int fail_unknown(struct call *call)
{
    return call_fail(
        call, CODE_NOT_FOUND,
        "follow_up_of: there is no such result: it was never there, has expired "
        "(FORAGE_JOBS_TTL), belongs to another caller, or is not finished; ask without "
        "it");
}

int jobs_context(struct call *call, const char *id, const char **context)
{
    struct jobs *jobs = call_parts(call)->jobs;
    char problem[DB_PROBLEM_SIZE] = "";
    struct db *db;
    if (!config_bool("FORAGE_FOLLOW_UPS")) {
        return call_fail(call, CODE_CONFIG,
                         "follow_up_of: nothing is kept here to follow on (FORAGE_FOLLOW_UPS is "
                         "off); ask without it");
    }
    *context = NULL;
    int status = jobs_borrow(jobs, call, &db, problem, sizeof problem);
    if (status == OK) {
        status = row_context(db, call_arena(call), call_caller(call)->name, id, context);
        if (status == ERR_IO || status == ERR_CLOSED || status == ERR_BUSY) {
            snprintf(problem, sizeof problem, "%s", db_problem(db));
        }
        db_pool_return(jobs->connections, db);
    }
    if (status == ERR_NOTFOUND || (status == OK && !*context)) {
        return fail_unknown(call);
    }
    return *problem ? call_fail(call, CODE_PROVIDER, "what was answered before cannot be read: %s",
                                call_without_paths(call, problem, true))
                    : status;
}

/* Without secrets, as everything that is stored. */
static const char *clean(struct arena *arena, const char *text)
{
    struct buf copy;
    buf_init(&copy, LIMIT_JOB_CONTEXT_BYTES);
    buf_puts(&copy, text);
    redact_buf(&copy, 0, WORDS_FROM_OUTSIDE);
    return buf_to_arena(&copy, arena);
}

const char *jobs_keep(struct call *call, const char *tool, yyjson_val *arguments,
                      const char *context)
{
    struct jobs *jobs = call_parts(call)->jobs;
    struct arena *arena = call_arena(call);
    char problem[DB_PROBLEM_SIZE] = "out of memory";
    char *id = arena_alloc(arena, ID_SECRET_SIZE);
    const char *text = json_text_of(arena, arguments);
    const char *left = clean(arena, context);
    struct db *db = NULL;
    struct call *own = jobs_own_call(jobs);
    int status = id && text && left && own ? id_make_secret(id) : ERR_NOMEM;
    int64_t now = clock_wall_ms();
    if (status == OK) {
        status = jobs_borrow(jobs, own, &db, problem, sizeof problem);
    }
    if (status == OK) {
        struct job_row row = {
            .id = id,
            .caller = call_caller(call)->name,
            .tool = tool,
            .arguments = clean(arena, text),
            .status = JOB_DONE,
            .created_ms = now,
            .updated_ms = now,
            .expires_ms = now + config_duration_ms("FORAGE_JOBS_TTL"),
        };
        status = row.arguments ? row_add(db, &row, NULL, 0, 0, left) : ERR_NOMEM;
        snprintf(problem, sizeof problem, "%s", db_problem(db));
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
    if (status != OK) {
        log_debug(call_request_id(call), "it cannot be followed on: %s", problem);
    }
    return status == OK ? id : NULL;
}

int jobs_last(struct call *call, const char *tool, const char *other, char id[ID_SECRET_SIZE])
{
    struct jobs *jobs = call_parts(call)->jobs;
    char problem[DB_PROBLEM_SIZE] = "";
    struct db *db;
    int status = jobs_borrow(jobs, call, &db, problem, sizeof problem);
    if (status == OK) {
        status = row_last(db, call_caller(call)->name, tool, other, id);
        db_pool_return(jobs->connections, db);
    }
    return status == ERR_NOTFOUND ? call_fail(call, CODE_NOT_FOUND,
                                              "there is nothing to follow on: ask something first")
           : *problem ? call_fail(call, CODE_PROVIDER, "what was answered cannot be read: %s",
                                  call_without_paths(call, problem, true))
                      : status;
}
