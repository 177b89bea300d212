/* A worker: a program that researches by itself - searches, reads, thinks - and reports what it
 * does line by line. Each kind is one struct of functions; everything around it (prompts, tries,
 * limits, results) is the same for all. */
#ifndef FORAGE_RESEARCH_WORKER_H
#define FORAGE_RESEARCH_WORKER_H

#include "call/call.h"
#include "proc/proc.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>

#define WORKER_PATH_SIZE 4096

/* What a worker is started for. */
struct worker_job {
    const char *program;            /* its path */
    const char *folder;             /* where it runs */
    struct proc_scratch *temporary; /* a folder for what it leaves behind, of its own */
    const char *model;
    const char *question; /* as it was asked, for a log that may hold it */
    const char *prompt;
    size_t prompt_length;
    bool with_firecrawl;
    const char *reader_trouble; /* why it cannot start its reader of pages, where that is known */
    bool is_one_search;         /* its settings deny it a second one */
};

enum worker_event_kind {
    WORKER_USES,   /* a tool: `tool`, `id` and `parameters` */
    WORKER_GOT,    /* what the use `id` came to: `ok` and `text` */
    WORKER_SAYS,   /* a piece of its answer, in `text` */
    WORKER_PRINTS, /* a line that is no event, in `text` */
    WORKER_WARNS,  /* something went wrong and it goes on: `text` */
    WORKER_FAILS,  /* something went wrong that ends it: `text` */
    WORKER_IS_DONE /* it came to its end in order */
};

/* Something that a worker was seen to do. Its texts are valid until the function returns that is
 * told of it. */
struct worker_event {
    enum worker_event_kind kind;
    const char *tool;
    const char *id;
    yyjson_val *parameters;
    bool ok;
    int http_status; /* that the service behind it failed with, where it says so; 0 */
    const char *text;
    size_t length;
};

/* What a worker may complain of before it begins. */
enum worker_trouble {
    WORKER_NO_TROUBLE,
    WORKER_LOST_SERVER, /* one of those that it reads pages with; it goes on without */
    WORKER_LOST_POLICY, /* what keeps it from files and commands is not in force */
};

struct worker_sink {
    void *context;
    /* A status; negative ends the feeding. */
    int (*take)(void *context, const struct worker_event *event);
};

struct worker {
    const char *name;           /* in FORAGE_RESEARCH_WORKER */
    const char *title;          /* for people */
    const char *program;        /* on PATH */
    const char *path_variable;  /* or where this says */
    const char *model_variable; /* which model it uses */
    const char *install;        /* how to get it */
    const char *sign_in;        /* how to let it use its model */
    /* Lists that end with a NULL: its arguments, where WORKER_MODEL and WORKER_SERVERS stand for
     * what the job says; beginnings of the names of variables that are its own; "NAME=value" that
     * it gets in any case. */
    const char *const *arguments, *const *own_variables, *const *settings;
    /* Understands one line of its output, of this "type". What is no event of its is passed over. A
     * status. */
    int (*read)(yyjson_val *line, const char *type, const struct worker_sink *sink);
    /* What a line of its stderr tells; NULL: nothing. */
    enum worker_trouble (*trouble)(const char *line);
};

#define WORKER_MODEL   "{model}"
#define WORKER_SERVERS "{servers}" /* that it may read pages with */

extern const struct worker WORKER_GEMINI;
extern const struct worker WORKER_CLAUDE;

/* Whether forage researches by itself (own/): FORAGE_RESEARCH_WORKER says so; or it names no
 * worker, and FORAGE_MODEL is set, or the Gemini CLI is not there and the key of a model is. */
bool worker_is_own(void);
/* The program that FORAGE_RESEARCH_WORKER names; the Gemini CLI where it names none. */
const struct worker *worker_chosen(void);
/* Where its program is. OK, or ERR_NOTFOUND with words in `problem`. */
MUST_CHECK int worker_find(const struct worker *worker, char path[WORKER_PATH_SIZE], char *problem,
                           size_t size);

/* Starts it without a shell, in its folder, with a minimal environment and the prompt on stdin. As
 * proc_start(). */
MUST_CHECK int worker_start(struct call *call, const struct worker *worker,
                            const struct worker_job *job, struct proc **child);
/* Gives the events of one line of its output to the sink. A status. */
MUST_CHECK int worker_feed(const struct worker *worker, struct arena *scratch, const char *line,
                           size_t length, const struct worker_sink *sink);

/* What a line of its stderr tells. */
enum worker_trouble worker_trouble_in(const struct worker *worker, const char *line);

/* ---- for the workers themselves ---- */

/* How one type of what a worker writes becomes an event. False when it tells nothing. */
struct worker_reader {
    const char *type; /* NULL ends them */
    bool (*read)(yyjson_val *value, struct worker_event *event);
};

/* Reads a value of this type by the first reader that fits. */
bool worker_read(const struct worker_reader *readers, const char *type, yyjson_val *value,
                 struct worker_event *event);
void worker_set_text(struct worker_event *event, yyjson_val *value);
/* WORKER_USES; false when it names no tool or no id. */
bool worker_set_use(struct worker_event *event, const char *tool, const char *id,
                    yyjson_val *parameters);

#endif
