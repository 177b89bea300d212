/* Verifying the memories in PostgreSQL. The server has its own ways to clean up and to copy. */
#include "memory/postgres_care.h"

#include "core/buf.h"
#include "core/limits.h"

#include <stdio.h>

/* Old contents go when the server vacuums, which it does by itself. */
int postgres_store_scrub(struct store_session *session)
{
    (void)session;
    return OK;
}

int postgres_store_backup(struct store_session *session, const char *path)
{
    (void)session;
    (void)path;
    return ERR_UNSUPPORTED;
}

static int told(struct store_session *session, int status)
{
    if (status < 0) {
        snprintf(session->problem, sizeof session->problem, "%s",
                 postgres_problem(postgres_store_database(session)));
    }
    return status;
}

#define DAMAGED "digest <> sha256(convert_to(text, 'UTF8'))"

/* Each statement tells of what is wrong, one row each: what, as a text. */
static const struct {
    const char *found;
    const char *mended; /* NULL: cannot be rebuilt */
    const char *words;
} CHECKS[] = {
    {"SELECT count(*)::text FROM forage_space WHERE change < (SELECT max(change) FROM "
     "forage_memory WHERE space = forage_space.id) HAVING count(*) > 0",
     "UPDATE forage_space SET change = (SELECT max(change) FROM forage_memory WHERE space = "
     "forage_space.id) WHERE change < (SELECT max(change) FROM forage_memory WHERE space = "
     "forage_space.id)",
     "namespaces whose change counter lags behind"},
    {"SELECT count(*)::text FROM forage_memory WHERE space NOT IN (SELECT id FROM forage_space) "
     "HAVING count(*) > 0",
     NULL, "memories of a namespace that is gone"},
    {"SELECT id::text FROM forage_memory WHERE " DAMAGED " ORDER BY id",
     "UPDATE forage_memory SET digest = sha256(convert_to(text, 'UTF8')) WHERE " DAMAGED,
     "memory whose text is not what was stored"},
};

static int run_check(struct store_session *session, size_t which, bool repair, struct buf *report,
                     struct memory_check *check)
{
    struct postgres *db = postgres_store_database(session);
    size_t found = 0;
    int status;
    postgres_ask(db, CHECKS[which].found);
    while ((status = postgres_step(db)) > 0) {
        const char *what = postgres_text(db, 0);
        if (found++ < LIMIT_MEMORY_CHECK_LINES) {
            buf_printf(report, "%s: %s\n", CHECKS[which].words, what ? what : "");
        }
    }
    postgres_end(db);
    check->problems += found;
    if (status == OK && found > 0 && repair && CHECKS[which].mended) {
        status = postgres_run(db, CHECKS[which].mended);
        check->repaired += status == OK ? found : 0;
    }
    return status;
}

static int count_memories(struct store_session *session, struct memory_check *check)
{
    struct postgres *db = postgres_store_database(session);
    postgres_ask(db, "SELECT count(*) FROM forage_memory");
    int status = postgres_step(db);
    check->memories = status > 0 ? postgres_int(db, 0) : 0;
    postgres_end(db);
    return status > 0 ? OK : status;
}

int postgres_store_verify(struct store_session *session, struct arena *arena, bool repair,
                          struct memory_check *check)
{
    struct postgres *db = postgres_store_database(session);
    struct buf report;
    *check = (struct memory_check){0};
    buf_init(&report, LIMIT_MEMORY_REPORT_BYTES);
    int status = repair ? postgres_begin(db) : postgres_begin_reading(db);
    if (status == OK) {
        status = count_memories(session, check);
    }
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS && status == OK; i++) {
        status = run_check(session, i, repair, &report, check);
    }
    if (status == OK && repair) {
        status = postgres_commit(db);
    }
    told(session, status);
    postgres_rollback(db);
    check->report = report.data ? arena_strndup(arena, report.data, report.length) : "";
    buf_done(&report);
    return status == OK && !check->report ? ERR_NOMEM : status;
}
