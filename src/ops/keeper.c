/* Jobs of the keeper, and what they wait for. */
#include "ops/keeper.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/trouble.h"
#include "db/writer.h"
#include "guard/callers.h"
#include "ops/calls.h"
#include "ops/paced.h"
#include "ops/tallies.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIDY_EVERY 500 /* records */

static const char RECORDS_NAME[] = "the records of usage and limits";

enum keeper_job_kind { CLAIMS, RECORD, LOOK, TAKE_TURN, END_TURN, NOTES, TRIAL };

/* A call that is only noted. */
struct noted_call {
    struct noted_call *next;
    struct record record;
    char caller[LIMIT_CALLER_NAME_CHARS + 1];
    char tool[64];
    char code[32];
};

/* Something to write, or an answer to look for. It is shared by who waits for it and the writer;
 * the last one frees it. */
struct keeper_job {
    /* First. A record stays, and is durable unless it is a charge; a trial stays. */
    struct writer_job job;
    enum keeper_job_kind kind;
    atomic_int references;
    int done;             /* an event; -1 once neither of the two needs it */
    atomic_int listeners; /* of that event: who waits, and the writer until it has reported */
    atomic_bool reported; /* from then on the next two belong to who waits */
    int status;
    struct spending spent;
    char caller[LIMIT_CALLER_NAME_CHARS + 1];
    bool wants_spending;
    size_t claim_count;
    struct limit_claim claims[LIMIT_WINDOW_CLAIMS];
    struct record record;
    char tool[64];
    char code[32];
    char provider[LIMIT_PROVIDER_CHARS + 1];
    char charged[LIMIT_PROVIDER_CHARS + 1]; /* the job of the record */
    char *found;                            /* the answer to record.answer_key */
    int64_t found_at_ms;
    char source[64]; /* of a turn or its end, as its pace */
    struct pace pace;
    struct pace_claim turn;
    struct pace_end end;      /* of the turn with that id */
    struct noted_call *notes; /* that it has taken, oldest first */
    struct trial trial;
    char experiment[LIMIT_EXPERIMENT_NAME_CHARS + 1]; /* of the trial, as what follows */
    char version[ID_SIZE];
    char arm[LIMIT_EXPERIMENT_ARM_CHARS + 1];
    char unit[2 * SHA256_SIZE + 1];
};

struct keeper {
    keeper_open open;
    const struct places *places;
    int64_t time_to_live_ms; /* of answers */
    struct db_writer *writer;
    /* Only for the writer's thread. */
    struct db *db;
    struct records_turn turn;
    struct clock_trust clock;
    unsigned records_since_tidy;
    _Atomic int64_t busy_since_ms; /* with a transaction; 0: it is not */
    atomic_size_t unsaved;         /* records on their way */
    atomic_size_t refused; /* that found no place there, since the last time that was told */
    /* What gathers for the next job of notes, newest first. */
    pthread_mutex_t notes_lock;
    struct noted_call *notes;
    size_t note_count;
    bool noting; /* a job is on its way that takes them */
    uint64_t unnoted;
};

/* ---- jobs ---- */

static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static struct keeper_job *job_new(enum keeper_job_kind kind, const struct call *call,
                                  const struct spending *spent)
{
    struct keeper_job *job = calloc(1, sizeof *job);
    if (!job) {
        return NULL;
    }
    const struct caller *caller = call ? call_caller(call) : NULL;
    job->kind = kind;
    job->status = ERR_IO;
    job->done = event_open();
    job->wants_spending = spent != NULL;
    atomic_init(&job->references, 2);
    atomic_init(&job->listeners, 2);
    atomic_init(&job->reported, false);
    copy_text(job->caller, sizeof job->caller, caller ? caller->name : "");
    if (job->done < 0) {
        free(job);
        return NULL;
    }
    return job;
}

/* A record that waits for the database to work again must not hold a descriptor all the while. */
static void release_event(struct keeper_job *job)
{
    if (atomic_fetch_sub(&job->listeners, 1) == 1) {
        job->done = event_close(job->done);
    }
}

static void free_notes(struct noted_call *notes)
{
    while (notes) {
        struct noted_call *next = notes->next;
        free(notes);
        notes = next;
    }
}

static void job_free(struct keeper_job *job)
{
    if (atomic_fetch_sub(&job->references, 1) == 1) {
        event_close(job->done);
        free_notes(job->notes);
        free((void *)(uintptr_t)job->record.arguments); /* our own copies */
        free((void *)(uintptr_t)job->record.answer);
        free((void *)(uintptr_t)job->record.result);
        free(job->found);
        free(job);
    }
}

static void drop(void *context, struct writer_job *job)
{
    struct keeper *keeper = context;
    atomic_fetch_sub(&keeper->unsaved, job->stays ? 1 : 0);
    job_free((struct keeper_job *)job);
}

/* ---- writing, on the writer's thread ---- */

static int borrow(void *context, struct call *call, struct db **db)
{
    struct keeper *keeper = context;
    char problem[640] = "";
    unsigned char key[SHA256_SIZE];
    atomic_store(&keeper->busy_since_ms, clock_now_ms());
    if (keeper->db && db_moved(keeper->db)) {
        log_error(NULL, "usage and history go to another file from now on: %s",
                  db_problem(keeper->db));
        keeper->db = db_close(keeper->db);
    }
    if (!keeper->db) {
        keeper->db = keeper->open(keeper->places, call, problem, sizeof problem);
        if (keeper->db && records_secret(keeper->db, key) == OK) {
            fingerprint_set_key(key);
        }
        if (keeper->db && records_drop_answers(keeper->db, keeper->time_to_live_ms) != OK) {
            /* they go the next time; none that is too old is given */
        }
    }
    *db = keeper->db;
    if (!keeper->db &&
        trouble_begin(RECORDS_NAME, "cannot be opened: nothing is recorded, and limits "
                                    "hold within this process only; the log says why")) {
        log_warn(NULL,
                 "usage and history are not kept, and limits hold within this process only: %s",
                 problem);
    }
    return keeper->db ? OK : ERR_IO;
}

/* The connection stays with the keeper until it rests. */
static void give_back(void *context, struct db *db)
{
    (void)context;
    (void)db;
}

/* To close the file brings its log into it, for which the disk may take long. */
static void rest(void *context)
{
    struct keeper *keeper = context;
    atomic_store(&keeper->busy_since_ms, clock_now_ms());
    keeper->db = db_close(keeper->db);
    atomic_store(&keeper->busy_since_ms, 0);
}

static int begin(void *context, struct db *db, bool durable)
{
    struct keeper *keeper = context;
    return records_begin(db, durable, &keeper->turn);
}

static int apply_record(struct keeper *keeper, struct db *db, const struct keeper_job *job)
{
    int status = records_add(db, &job->record);
    if (status == OK && job->record.answer) {
        status = records_drop_answers(db, keeper->time_to_live_ms);
    }
    keeper->records_since_tidy++;
    return status;
}

/* Writes the calls that have gathered. Where that is tried again, they are the job's already. */
static int apply_notes(struct keeper *keeper, struct db *db, struct keeper_job *job)
{
    int status = OK;
    struct tally_batch sums;
    sums.count = 0;
    if (!job->notes) {
        pthread_mutex_lock(&keeper->notes_lock);
        while (keeper->notes) { /* oldest first */
            struct noted_call *note = keeper->notes;
            keeper->notes = note->next;
            note->next = job->notes;
            job->notes = note;
        }
        keeper->note_count = 0;
        keeper->noting = false;
        pthread_mutex_unlock(&keeper->notes_lock);
    }
    for (const struct noted_call *note = job->notes; status == OK && note; note = note->next) {
        status = calls_add(db, &note->record, &sums);
        keeper->records_since_tidy++;
    }
    return status == OK ? tallies_write(db, &sums) : status;
}

/* Whose key decides what a unit is called is known once the database is open. */
static int apply_trial(struct keeper *keeper, struct db *db, struct keeper_job *job)
{
    char unit[FINGERPRINT_SIZE];
    struct trial trial = job->trial;
    trial.unit = fingerprint(job->unit, strlen(job->unit), unit);
    keeper->records_since_tidy++;
    return trials_add(db, &trial);
}

/* Writes one job. A window that is used up is an answer, not a failure. */
static int apply(void *context, struct db *db, struct writer_job *base)
{
    struct keeper *keeper = context;
    struct keeper_job *job = (struct keeper_job *)base;
    int64_t now = clock_wall_ms();
    int status = ERR_IO;
    switch (job->kind) {
    case CLAIMS:
        status = records_claim(db, job->claims, job->claim_count, now);
        break;
    case RECORD:
        status = apply_record(keeper, db, job);
        break;
    case LOOK:
        free(job->found);
        status = records_find_answer(db, job->caller, job->record.answer_key,
                                     keeper->time_to_live_ms, &job->found, &job->found_at_ms);
        break;
    case TAKE_TURN:
        status = paced_take(db, &job->turn);
        break;
    case END_TURN:
        status = paced_end(db, &job->end);
        break;
    case NOTES:
        status = apply_notes(keeper, db, job);
        break;
    case TRIAL:
        status = apply_trial(keeper, db, job);
        break;
    }
    if (atomic_load(&job->reported)) {
        return status; /* a record that is tried again */
    }
    job->status = status;
    if (job->wants_spending && (status == OK || status == ERR_LIMIT)) {
        int known = records_spent(db, job->caller, now, &job->spent);
        status = known == OK ? status : known;
    }
    return status == ERR_LIMIT ? OK : status;
}

static int commit(void *context, struct db *db)
{
    struct keeper *keeper = context;
    int status = OK;
    if (keeper->records_since_tidy >= TIDY_EVERY) {
        keeper->records_since_tidy = 0;
        status = records_tidy(db, clock_trusted_ms(&keeper->clock));
    }
    return status == OK ? records_commit(db, &keeper->turn) : status;
}

static void lost(void *context, size_t count)
{
    (void)context;
    log_error(NULL, "%zu records of usage and history could not be kept", count);
}

static void wrote(void *context, struct db *db, struct writer_job *jobs, int status)
{
    (void)jobs;
    struct keeper *keeper = context;
    size_t refused = atomic_exchange(&keeper->refused, 0);
    atomic_store(&keeper->busy_since_ms, 0);
    if (refused) {
        lost(keeper, refused);
    }
    if (status == OK && trouble_end(RECORDS_NAME)) {
        log_info(NULL, "usage and history are kept again");
    } else if (status != OK && db &&
               trouble_begin(RECORDS_NAME, "cannot be written: records wait in memory and are "
                                           "tried again; the log says why")) {
        log_error(NULL, "usage and history could not be written (they are tried again): %s",
                  db_problem(db));
    }
}

/* What was spent today as far as this process knows it without the database. */
static void count_unsaved(const struct keeper *keeper, struct keeper_job *job)
{
    char today[ADMISSION_DAY_SIZE];
    char day[ADMISSION_DAY_SIZE];
    admission_day(clock_wall_ms(), today);
    int64_t own = job->record.charge ? job->record.nano_usd : 0;
    job->spent = (struct spending){own, own};
    for (const struct writer_job *late = writer_late(keeper->writer); late; late = late->next) {
        const struct keeper_job *other = (const struct keeper_job *)late;
        admission_day(other->record.at_ms, day);
        if (other->record.charge && strcmp(day, today) == 0) {
            bool mine = strcmp(other->caller, job->caller) == 0;
            job->spent.total_nano += other->record.nano_usd;
            job->spent.caller_nano += mine ? other->record.nano_usd : 0;
        }
    }
}

/* What could not be written gathers again, as far as there is room: it goes with the next call that
 * is noted, or at the end. */
static void take_back_notes(struct keeper *keeper, struct keeper_job *job)
{
    pthread_mutex_lock(&keeper->notes_lock);
    keeper->noting = false;
    while (job->notes) {
        struct noted_call *note = job->notes;
        job->notes = note->next;
        if (keeper->note_count < LIMIT_NOTED_CALLS) {
            note->next = keeper->notes;
            keeper->notes = note;
            keeper->note_count++;
        } else {
            keeper->unnoted++;
            free(note);
        }
    }
    pthread_mutex_unlock(&keeper->notes_lock);
}

static int report(void *context, struct db *db, struct call *writing, struct writer_job *base,
                  int status)
{
    (void)db;
    (void)writing;
    struct keeper_job *job = (struct keeper_job *)base;
    if (status != OK && job->kind == NOTES) {
        take_back_notes(context, job);
    } else if (status != OK) {
        job->status = status;
        count_unsaved(context, job);
        /* Many records may wait for the database to work again; answers would be too much. */
        free((void *)(uintptr_t)job->record.answer);
        free((void *)(uintptr_t)job->record.result);
        job->record.answer = NULL;
        job->record.result = NULL;
    }
    atomic_store(&job->reported, true);
    event_signal(job->done);
    release_event(job);
    return status;
}

static const struct writer_hooks HOOKS = {
    .borrow = borrow,
    .give_back = give_back,
    .begin = begin,
    .commit = commit,
    .apply = apply,
    .wrote = wrote,
    .report = report,
    .drop = drop,
    .rest = rest,
    .lost = lost,
};

/* ---- its life ---- */

struct keeper *keeper_new(keeper_open open, const struct places *places, int64_t time_to_live_ms)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper) {
        return NULL;
    }
    keeper->open = open;
    keeper->places = places;
    pthread_mutex_init(&keeper->notes_lock, NULL);
    clock_trust_begin(&keeper->clock);
    keeper->time_to_live_ms = time_to_live_ms;
    keeper->writer = writer_new(&(struct writer_options){.hooks = &HOOKS,
                                                         .context = keeper,
                                                         .most_late = LIMIT_UNSAVED_RECORDS,
                                                         .retry_ms = TIME_STORE_RETRY_MS,
                                                         .idle_ms = TIME_STORE_IDLE_MS});
    return keeper->writer ? keeper : keeper_free(keeper);
}

/* Sends a job off that takes what has gathered until then. With the lock held. */
static void post_notes(struct keeper *keeper, int64_t due_ms)
{
    struct keeper_job *job = keeper->noting ? NULL : job_new(NOTES, NULL, NULL);
    if (job) {
        job->job.due_ms = due_ms;
        keeper->noting = true;
        release_event(job);
        job_free(job); /* nobody but the writer needs it */
        if (writer_post(keeper->writer, &job->job) != OK) {
            keeper->noting = false;
        }
    }
}

bool keeper_stop(struct keeper *keeper, int64_t time_ms)
{
    pthread_mutex_lock(&keeper->notes_lock);
    if (keeper->notes) {
        post_notes(keeper, 0);
    }
    pthread_mutex_unlock(&keeper->notes_lock);
    bool stopped = writer_stop(keeper->writer, time_ms);
    size_t left = atomic_load(&keeper->unsaved) + atomic_load(&keeper->refused);
    if (!stopped && left) {
        lost(keeper, left);
    } else if (!stopped) {
        log_warn(NULL, "the records of the last calls could not be written in time");
    }
    return stopped;
}

struct keeper *keeper_free(struct keeper *keeper)
{
    if (keeper) {
        writer_free(keeper->writer);
        free_notes(keeper->notes);
        pthread_mutex_destroy(&keeper->notes_lock);
        free(keeper);
    }
    return NULL;
}

/* ---- handing over ---- */

/* How long a job is waited for. What keeps the writer's thread for long, a disk that hangs for
 * instance, is waited for once and not by each call again; 0: by nobody any more. */
static int64_t patience(const struct keeper *keeper)
{
    int64_t since_ms = atomic_load(&keeper->busy_since_ms);
    int64_t left = since_ms ? since_ms + TIME_RECORD_WAIT_MS - clock_now_ms() : TIME_RECORD_WAIT_MS;
    return left > 0 ? left : 0;
}

/* Hands a job over and waits until it is done, as long as the call lasts and at most `most_ms`. OK
 * when its results are there to be read. */
static int post_and_wait(struct keeper *keeper, struct call *call, struct keeper_job *job,
                         int64_t most_ms)
{
    int64_t patience_ms = patience(keeper);
    patience_ms = patience_ms < most_ms ? patience_ms : most_ms;
    if (patience_ms == 0) {
        job_free(job); /* the writer's share in it */
        return ERR_BUSY;
    }
    int status = writer_post(keeper->writer, &job->job);
    if (status == OK) {
        struct pollfd done = {.fd = job->done, .events = POLLIN};
        call_waits_for(call, RECORDS_NAME);
        status = call_wait(call, &done, 1, patience_ms);
        call_waits_for(call, NULL);
        status = status < 0 ? status : atomic_load(&job->reported) ? OK : ERR_BUSY;
    }
    return status;
}

int keeper_find_answer(struct keeper *keeper, struct call *call,
                       const unsigned char key[SHA256_SIZE], const char **answer, int64_t *at_ms)
{
    struct keeper_job *job = job_new(LOOK, call, NULL);
    if (!job) {
        return ERR_NOMEM;
    }
    memcpy(job->record.answer_key, key, SHA256_SIZE);
    int status = post_and_wait(keeper, call, job, TIME_RECORD_WAIT_MS);
    status = status == OK ? job->status : status;
    if (status == OK) {
        *answer = job->found ? arena_strdup(call_arena(call), job->found) : NULL;
        *at_ms = job->found_at_ms;
        status = *answer ? OK : job->found ? ERR_NOMEM : ERR_NOTFOUND;
    }
    release_event(job);
    job_free(job);
    return status;
}

int keeper_take(void *context, struct call *call, struct limit_claim *claims, size_t count,
                struct spending *spent)
{
    struct keeper *keeper = context;
    struct keeper_job *job = count <= LIMIT_WINDOW_CLAIMS ? job_new(CLAIMS, call, spent) : NULL;
    if (!job) {
        return ERR_NOMEM;
    }
    job->claim_count = count;
    memcpy(job->claims, claims, count * sizeof *claims);
    int status = post_and_wait(keeper, call, job, TIME_RECORD_WAIT_MS);
    if (status == OK) {
        status = job->status;
        memcpy(claims, job->claims, count * sizeof *claims);
        if (spent) {
            *spent = job->spent;
        }
    }
    release_event(job);
    job_free(job);
    return status;
}

int keeper_take_turn(void *context, struct call *call, struct pace_claim *claim)
{
    struct keeper *keeper = context;
    struct keeper_job *job = job_new(TAKE_TURN, call, NULL);
    if (!job) {
        return ERR_NOMEM;
    }
    copy_text(job->source, sizeof job->source, claim->source);
    job->pace = *claim->pace;
    job->turn = *claim;
    job->turn.source = job->source;
    job->turn.pace = &job->pace;
    int status = post_and_wait(keeper, call, job, TIME_PACE_STORE_MS);
    if (status == OK && (status = job->status) == OK) {
        claim->answer = job->turn.answer;
        claim->wait_ms = job->turn.wait_ms;
        claim->decided_ms = job->turn.decided_ms;
        claim->probe = job->turn.probe;
    }
    release_event(job);
    job_free(job);
    return status;
}

void keeper_end_turn(void *context, struct call *call, const struct pace_end *end)
{
    struct keeper *keeper = context;
    struct keeper_job *job = job_new(END_TURN, call, NULL);
    if (!job) {
        return; /* what is not ended ends with its time */
    }
    copy_text(job->source, sizeof job->source, end->source);
    memcpy(job->turn.id, end->id, sizeof job->turn.id);
    job->pace = *end->pace;
    job->end = *end;
    job->end.source = job->source;
    job->end.pace = &job->pace;
    job->end.id = job->turn.id;
    if (writer_post(keeper->writer, &job->job) != OK) {
        /* the same */
    }
    release_event(job);
    job_free(job);
}

/* Whether as many records wait as may, since the database hangs: the writer holds as many while it
 * fails. Then one more is counted as lost. */
static bool is_full(struct keeper *keeper)
{
    bool full = patience(keeper) == 0 && atomic_load(&keeper->unsaved) >= LIMIT_UNSAVED_RECORDS;
    atomic_fetch_add(&keeper->refused, full ? 1 : 0);
    return full;
}

void keeper_try(struct keeper *keeper, struct call *call, const struct trial *trial)
{
    if (is_full(keeper)) {
        return;
    }
    struct keeper_job *job = job_new(TRIAL, call, NULL);
    if (!job) {
        atomic_fetch_add(&keeper->refused, 1);
        return;
    }
    copy_text(job->experiment, sizeof job->experiment, trial->experiment);
    copy_text(job->version, sizeof job->version, trial->version);
    copy_text(job->arm, sizeof job->arm, trial->arm);
    copy_text(job->unit, sizeof job->unit, trial->unit);
    copy_text(job->tool, sizeof job->tool, trial->tool);
    job->trial = *trial;
    job->trial.experiment = job->experiment;
    job->trial.version = job->version;
    job->trial.arm = job->arm;
    job->trial.unit = job->unit;
    job->trial.tool = job->tool;
    job->job.stays = true;
    atomic_fetch_add(&keeper->unsaved, 1);
    if (writer_post(keeper->writer, &job->job) != OK) {
        atomic_fetch_add(&keeper->refused, 1);
    }
    release_event(job);
    job_free(job);
}

/* Nobody hears of a call that was cancelled, so nobody has to wait for its record. */
static bool wait_for_disk(const struct keeper *keeper, struct call *call, struct keeper_job *job)
{
    int64_t most = job->record.charge ? TIME_CHARGE_WAIT_MS : TIME_RECORD_WAIT_MS;
    struct pollfd watched[] = {{.fd = job->done, .events = POLLIN},
                               {.fd = call_cancel_fd(call), .events = POLLIN}};
    int64_t left = patience(keeper);
    left = left < most ? left : most;
    int64_t end = clock_now_ms() + left;
    int ready = 0;
    call_waits_for(call, RECORDS_NAME);
    while (ready == 0 && left > 0) {
        int64_t word_left = call_sign_of_life(call);
        ready = poll(watched, 2, (int)(word_left < left ? word_left : left));
        left = end - clock_now_ms();
    }
    call_waits_for(call, NULL);
    return ready > 0 && atomic_load(&job->reported);
}

int keeper_record(struct keeper *keeper, struct call *call, const struct record *record,
                  struct spending *spent)
{
    if (is_full(keeper)) {
        return ERR_LIMIT;
    }
    struct keeper_job *job = job_new(RECORD, call, spent);
    char *arguments = job && record->arguments ? strdup(record->arguments) : NULL;
    char *answer = job && record->answer ? strdup(record->answer) : NULL;      /* may do without */
    void *result = job && record->result ? malloc(record->result_size) : NULL; /* the same */
    if (!job || (record->arguments && !arguments)) {
        free(answer);
        free(result);
        if (job) {
            job_free(job);
            job_free(job);
        }
        return ERR_NOMEM;
    }
    job->job.durable = !record->charge;
    job->job.stays = true;
    job->record = *record;
    job->record.arguments = arguments;
    job->record.answer = answer;
    job->record.result = result;
    if (result) {
        memcpy(result, record->result, record->result_size);
    }
    copy_text(job->tool, sizeof job->tool, record->tool);
    copy_text(job->code, sizeof job->code, record->code ? record->code : "");
    job->record.caller = job->caller;
    job->record.tool = job->tool;
    job->record.code = record->code ? job->code : NULL;
    copy_text(job->provider, sizeof job->provider, record->provider);
    job->record.provider = job->provider;
    copy_text(job->charged, sizeof job->charged, record->job ? record->job : "");
    job->record.job = job->charged;
    atomic_fetch_add(&keeper->unsaved, 1);
    int status = writer_post(keeper->writer, &job->job);
    bool done = status == OK && wait_for_disk(keeper, call, job);
    if (done && spent) {
        *spent = job->spent;
    }
    status = done ? job->status : status == OK ? ERR_BUSY : status;
    release_event(job);
    job_free(job);
    return status;
}

void keeper_note(struct keeper *keeper, const struct record *record)
{
    struct noted_call *note = malloc(sizeof *note);
    if (note) {
        note->record = *record;
        copy_text(note->caller, sizeof note->caller, record->caller);
        copy_text(note->tool, sizeof note->tool, record->tool);
        copy_text(note->code, sizeof note->code, record->code ? record->code : "");
        note->record.caller = note->caller;
        note->record.tool = note->tool;
        note->record.code = record->code ? note->code : NULL;
        note->record.provider = "";
        note->record.arguments = note->record.answer = NULL;
    }
    pthread_mutex_lock(&keeper->notes_lock);
    if (note && keeper->note_count < LIMIT_NOTED_CALLS) {
        note->next = keeper->notes;
        keeper->notes = note;
        keeper->note_count++;
        note = NULL;
        post_notes(keeper, clock_now_ms() + TIME_NOTED_CALLS_MS);
    } else {
        keeper->unnoted++;
    }
    pthread_mutex_unlock(&keeper->notes_lock);
    free(note);
}

uint64_t keeper_unnoted(struct keeper *keeper)
{
    pthread_mutex_lock(&keeper->notes_lock);
    uint64_t unnoted = keeper->unnoted;
    pthread_mutex_unlock(&keeper->notes_lock);
    return unnoted;
}

const char *keeper_waits_since(const struct keeper *keeper, int64_t *since_ms)
{
    *since_ms = atomic_load(&keeper->busy_since_ms);
    return *since_ms ? RECORDS_NAME : NULL;
}
