/* What the files of jobs/ share. */
#ifndef FORAGE_JOBS_INTERNAL_H
#define FORAGE_JOBS_INTERNAL_H

#include "call/pool.h"
#include "config/places.h"
#include "db/pool.h"
#include "jobs/jobs.h"
#include "jobs/rows.h"

#include <pthread.h>
#include <stdatomic.h>

/* Why a job is ended from outside. */
enum job_ending {
    JOB_GOES_ON,
    JOB_IS_CANCELLED,
    JOB_IS_PUT_DOWN, /* others take it up */
    JOB_IS_LOST,     /* somebody else has taken it up, or wiped it */
};

/* Something that a job asks its client. */
struct job_ask {
    struct job_ask *next;
    char *key, *method, *params;
    char *response; /* JSON; NULL: it is not there yet */
};

/* The last things that a job said; whoever waits passes all of them on. */
#define JOB_WORDS 16
struct job_words {
    double done, total;
    char message[640];
};

/* Who waits for a job hears of each change. */
struct job_watcher {
    struct job_watcher *next;
    int event;
};

/* A job that this process works on. Members are guarded by jobs->lock, unless they never change or
 * only its thread touches them. */
struct job {
    struct jobs *jobs;
    struct job *next;
    unsigned references;
    char id[ID_SECRET_SIZE];
    const struct entry *entry;
    const struct caller *caller;
    char *arguments; /* JSON */
    char *follows;   /* or NULL */
    int64_t created_ms, expires_ms;
    unsigned runs;
    bool kept;        /* it is in the store */
    char unkept[400]; /* why not */
    struct call *call;
    struct arena *past; /* what is known of earlier runs */
    const char **past_usages;

    bool can_elicit, can_sample, can_list_roots; /* its client */

    enum job_status status;
    enum job_ending ending;
    bool is_put_down;       /* nobody works on it here any more, though it is not over */
    bool withdrawn;         /* it is over, and the store tells of it or somebody removed it */
    bool renewing;          /* its lease is to be prolonged in this round */
    bool background;        /* it goes on without a client */
    unsigned attended;      /* clients that wait for it and may end it by leaving */
    int64_t lease_until_ms; /* of the monotonic clock: until then nobody else takes it */
    int64_t updated_ms;
    int64_t input_tokens, output_tokens, nano_usd;
    struct job_words words[JOB_WORDS]; /* a ring */
    unsigned said;                     /* how many there were */
    char *state;                       /* JSON, or NULL */
    bool state_stored;                 /* that state is in the store */
    char *result;                      /* JSON; NULL: it is not over */
    struct job_ask *asks;
    int asked_event; /* an ask was answered */
    struct job_watcher *watchers;

    /* Only for its thread. */
    char *context;             /* for calls that follow on it; or NULL */
    struct call_usage counted; /* what of its call's account is in the sums above */
};

struct jobs {
    struct jobs_options options;
    struct db_pool *connections;
    struct pool *threads;
    char owner[OWNER_SIZE];
    pthread_mutex_t lock;
    struct job *first;
    size_t count;
    atomic_bool ending; /* no job is begun any more */
    bool left_some;     /* jobs that go on without a client were put down */
    bool serves;        /* what others left is taken up; never changes while the thread runs */
    pthread_t keeper;   /* the thread of leases.c, while keeper_runs */
    bool keeper_runs;
    int wake; /* it has something to do */
    atomic_bool closing;
};

/* ---- jobs.c ---- */

/* Nobody may have it any more. */
void job_free(struct job *job);
/* One reference less. */
void job_leave(struct job *job);
/* The job of that id that this process works on, or that is nowhere else, with a reference more;
 * NULL: there is none. */
struct job *job_find(struct jobs *jobs, const char *id);
/* Lets everybody who waits for the job look again; with the lock held. */
void job_changed(struct job *job);
/* Ends a job from outside, unless it is being ended already. With the lock held. */
void job_end(struct job *job, enum job_ending ending);
/* Drops jobs that are not stored and over, where they have expired or are too many. */
void jobs_drop_unkept(struct jobs *jobs);
/* A connection to the records for `call`: OK, or ERR_IO with the reason in `problem`. */
MUST_CHECK int jobs_borrow(struct jobs *jobs, struct call *call, struct db **db, char *problem,
                           size_t size);
/* A call of our own, for a transaction that must happen whatever becomes of others. NULL without
 * memory. */
struct call *jobs_own_call(struct jobs *jobs);

/* ---- begin.c ---- */

/* A new job for a call, with a reference for whoever calls, who attends it. */
MUST_CHECK int job_start(struct jobs *jobs, struct call *call, const struct entry *entry,
                         yyjson_val *arguments, const char *text, struct job **started);
/* Takes over a job that nobody works on and begins to work on it, with a reference for whoever
 * calls. OK; ERR_NOTFOUND: somebody does, or it cannot be done here; or another status. */
MUST_CHECK int job_claim(struct jobs *jobs, struct db *db, const struct job_open *seen,
                         struct job **taken);
/* The same by its id; ERR_BUSY: this process is just taking it over, or has no thread for it. */
MUST_CHECK int job_take_up(struct jobs *jobs, struct db *db, const char *id, struct job **taken);
/* Whether there is a job for the same question of the same caller that has lost its client, since
 * the process that worked on it was killed: whoever asks again gets what was paid for. */
bool job_find_same(struct jobs *jobs, struct call *call, const struct entry *entry,
                   const char *text, char id[ID_SECRET_SIZE]);

/* ---- look.c ---- */

struct job_host jobs_host(struct jobs *jobs);

/* ---- work.c ---- */

/* What the thread of a job does. */
void job_work(void *context);
/* The call that a job is worked on with; NULL without memory. `steps` are those of earlier runs. */
struct call *job_call_new(struct job *job, const char *request_id, bool for_operator,
                          const struct journal_step *steps, size_t step_count);
/* Hands the answers to what a job asks over to it; with the lock held. */
void job_take_answers(struct job *job, struct arena *arena, yyjson_val *answers);

/* ---- leases.c ---- */

/* Starts the thread that prolongs leases, where it does not run. A status. */
MUST_CHECK int leases_start(struct jobs *jobs);
void leases_stop(struct jobs *jobs);
/* Whether the lease of a job lasts; where it has run out it is renewed. OK, or ERR_CANCELLED. */
MUST_CHECK int lease_hold(struct job *job);

/* ---- views.c ---- */

/* What a client sees of a job, in the arena. */
MUST_CHECK int view_of_job(struct job *job, struct arena *arena, struct job_view *view,
                           const char **result);
MUST_CHECK int view_of_row(const struct jobs *jobs, const struct job_row *row, struct arena *arena,
                           struct job_view *view);
/* Fills a reply with the result of a job that is over, or with its handle. */
MUST_CHECK int view_reply(struct call *call, const struct job_view *view, const char *result,
                          struct reply *reply);
/* The result of a job as it is stored; to be freed, NULL without memory. */
char *result_write(struct call *call, const struct reply *reply);

#endif
