/* The keeper writes records, for all calls of the program. Whoever has something to write hands it
 * over to the thread of a writer (db/writer.h) and waits; what comes together is one transaction,
 * and so one wait for the disk. The thread and the database are started when they are first needed,
 * and the database is closed when there is nothing to do for a while.
 *
 * A record is on the disk when keeper_record() returns OK. While the database fails, records stay
 * in memory (up to LIMIT_UNSAVED_RECORDS) and are written when it works again; what the keeper says
 * about that, it says in the log, since it belongs to no call. */
#ifndef FORAGE_OPS_KEEPER_H
#define FORAGE_OPS_KEEPER_H

#include "guard/pace.h"
#include "ops/records.h"
#include "ops/trials.h"

struct keeper;

/* Opens the database, on the keeper's thread. */
typedef struct db *(*keeper_open)(const struct places *places, struct call *call, char *problem,
                                  size_t size);

/* `places` must outlive it. Answers are stored for so long; 0: none are. */
struct keeper *keeper_new(keeper_open open, const struct places *places, int64_t time_to_live_ms);
/* Writes what is left and ends the thread, within `time_ms`; no call may run any more. False, after
 * saying in the log what is lost, where the database does not let it: then the keeper must stay. */
MUST_CHECK bool keeper_stop(struct keeper *keeper, int64_t time_ms);
/* The same, however long it takes. */
struct keeper *keeper_free(struct keeper *keeper);

/* Takes claims in the database, as shared_counts.take does; the context is a keeper. Claims are not
 * waited for on the disk: a power failure may forget the last of them. */
MUST_CHECK int keeper_take(void *keeper, struct call *call, struct limit_claim *claims,
                           size_t count, struct spending *spent);
/* Decides a claim for a turn at a source in the database, as pace_store.take does, within
 * TIME_PACE_STORE_MS; the context is a keeper. */
MUST_CHECK int keeper_take_turn(void *keeper, struct call *call, struct pace_claim *claim);
/* Stores how a turn ended, as pace_store.end does: nobody waits for it. */
void keeper_end_turn(void *keeper, struct call *call, const struct pace_end *end);
/* Writes a record and waits until it is on the disk, at most TIME_RECORD_WAIT_MS and only as long
 * as somebody waits for the call; a disk that hangs for longer is waited for by nobody else. A
 * charge is waited for until others see it, at most TIME_CHARGE_WAIT_MS. OK, or a status when it
 * will be tried again. `spent` (may be NULL) is what has been spent today, this record included; by
 * this process, where the database fails; it stays as it is where nobody can say. */
MUST_CHECK int keeper_record(struct keeper *keeper, struct call *call, const struct record *record,
                             struct spending *spent);
/* Stores a call of a tool that asks nobody, for those who look (ops/calls.h): within a second or
 * so, and nobody waits for it. A crash may forget the last of them. */
void keeper_note(struct keeper *keeper, const struct record *record);
/* How many of those found no place on their way to the store, since the program started. */
uint64_t keeper_unnoted(struct keeper *keeper);
/* Writes a trial of the call, whose unit becomes a fingerprint on the way: nobody waits for it. */
void keeper_try(struct keeper *keeper, struct call *call, const struct trial *trial);
/* Finds a stored answer of the call's caller: its JSON in the call's arena and when it was stored.
 * OK, ERR_NOTFOUND, or any status when nobody knows. */
MUST_CHECK int keeper_find_answer(struct keeper *keeper, struct call *call,
                                  const unsigned char key[SHA256_SIZE], const char **answer,
                                  int64_t *at_ms);
/* What the keeper's thread waits for, with the time of the monotonic clock in `since_ms`; NULL
 * while it has nothing to write. Any thread may ask. */
const char *keeper_waits_since(const struct keeper *keeper, int64_t *since_ms);

#endif
