/* What outlives a process: windows of limits, usage, history. The tables and every statement that
 * touches them, in SQLite or, for servers on several machines, in PostgreSQL; connections are
 * db/db.h's. Functions return a status; db_problem() has the words of the last failure, for an
 * operator. */
#ifndef FORAGE_OPS_RECORDS_H
#define FORAGE_OPS_RECORDS_H

#include "config/places.h"
#include "core/sha256.h"
#include "db/db.h"
#include "guard/admission.h"

/* One call, as it is recorded. */
struct record {
    const char *caller;
    const char *tool;
    const char *provider; /* who was asked outside; "": nobody, or nobody knows */
    int64_t at_ms;        /* since 1970 */
    int64_t took_us;
    const char *code; /* of its error; NULL: it succeeded */
    bool recalled;    /* answered from the cache of answers */
    /* An entry of a charge (guard/charge.h), which may be less than nothing: it goes into the sums,
     * and to `job`. What any other record says that a call used has gone there already, and is for
     * those who look at the single call. */
    bool charge;
    const char *job; /* its id; "" or NULL: none */
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
    int64_t unpriced;      /* services and models that the price table does not know */
    const char *arguments; /* JSON, for the history; NULL: only the sums are stored */
    const void *result;    /* the same of what came of it (text/packed.h); NULL: it is not stored */
    size_t result_size;
    const char *answer; /* JSON, to be given again; NULL: it is not stored */
    unsigned char answer_key[SHA256_SIZE];
};

/* The sums of one caller, tool and day. */
struct record_sums {
    const char *day; /* "2026-11-15", UTC */
    const char *caller;
    const char *tool;
    int64_t calls;
    int64_t failures;
    int64_t recalled;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
    int64_t unpriced;
};

/* A call of the history. */
struct record_past {
    int64_t id; /* grows with time */
    int64_t at_ms;
    const char *caller;
    const char *tool;
    const char *arguments;
    bool has_result;
    const char *code; /* NULL: it succeeded */
    int64_t took_ms;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t nano_usd;
};

typedef void (*records_take_sums)(void *context, const struct record_sums *row);
typedef void (*records_take_past)(void *context, const struct record_past *row);

/* Which calls of the history are shown; NULL and 0: whatever it is. */
struct record_filter {
    const char *caller, *tool;
    const char *text; /* in the arguments, in any case of ASCII letters */
    int64_t from_ms, until_ms;
    int64_t before; /* an id */
    int64_t limit;
};

/* Opens the database of the configuration: FORAGE_DATABASE_URL or FORAGE_DATA_DIR,
 * FORAGE_STORE_SYNC. It works for `call`, which may be NULL. NULL with the reason in `problem`. */
struct db *records_open(const struct places *places, struct call *call, char *problem, size_t size);

/* The time by the clock that all who share the database go by, since 1970. */
MUST_CHECK int records_clock(struct db *db, int64_t *now_ms);
/* The key of fingerprints, which all who share the database share; made when there is none. */
MUST_CHECK int records_secret(struct db *db, unsigned char key[SHA256_SIZE]);

/* ---- writing, between begin and commit ---- */

/* What is written between the two is there wholly or not at all, and those who write take turns.
 * Tells a commit that is in doubt from one that did not happen; see records.c. */
struct records_turn {
    bool has_token;
    unsigned char token[16];
};
MUST_CHECK int records_begin(struct db *db, bool durable, struct records_turn *turn);
MUST_CHECK int records_commit(struct db *db, const struct records_turn *turn);
/* Takes one of every claim's window, or none of any. OK or ERR_LIMIT, or a failure. */
MUST_CHECK int records_claim(struct db *db, struct limit_claim *claims, size_t count,
                             int64_t now_ms);
/* How a claim's window stands, and what is left of it, without taking anything. */
MUST_CHECK int records_look(struct db *db, struct limit_claim *claim, int64_t now_ms,
                            struct limit_window *window);
MUST_CHECK int records_spent(struct db *db, const char *caller, int64_t now_ms,
                             struct spending *spent);
MUST_CHECK int records_add(struct db *db, const struct record *record);
/* Removes stored answers that are older than that. */
MUST_CHECK int records_drop_answers(struct db *db, int64_t time_to_live_ms);
/* Removes what is older or more than the ceilings say. */
MUST_CHECK int records_tidy(struct db *db, int64_t now_ms);

/* ---- reading, and wiping, at any time ---- */

/* How much room the records take. */
MUST_CHECK int records_bytes(struct db *db, int64_t *bytes);

/* The stored answer of a caller to a question (a key of ops/answers.h) that is not older than that:
 * its JSON, to be freed, and when it was stored; NULL: there is none. */
MUST_CHECK int records_find_answer(struct db *db, const char *caller,
                                   const unsigned char key[SHA256_SIZE], int64_t time_to_live_ms,
                                   char **answer, int64_t *at_ms);

/* From that day on, newest first; `caller` NULL: of all. */
MUST_CHECK int records_usage(struct db *db, const char *caller, const char *from_day,
                             records_take_sums take, void *context);
/* Those that fit, newest first. */
MUST_CHECK int records_history(struct db *db, const struct record_filter *filter,
                               records_take_past take, void *context);
/* What came of a call of the history, as it is stored and with its size, in the arena. OK, with
 * NULL where it was not stored; ERR_NOTFOUND: there is no such call of that caller (NULL: of any).
 */
MUST_CHECK int records_result(struct db *db, struct arena *arena, const char *caller, int64_t id,
                              const void **result, size_t *size);
/* Deletes the history of a caller, its stored answers and its jobs; `wiped` counts the calls. */
MUST_CHECK int records_wipe(struct db *db, const char *caller, int64_t *wiped);

#endif
