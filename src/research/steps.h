/* The steps of research, in their order: the worker's folder, its prompt, one run of it, the report
 * in what it said, and why there is none. research.c goes through them. */
#ifndef FORAGE_RESEARCH_STEPS_H
#define FORAGE_RESEARCH_STEPS_H

#include "core/buf.h"
#include "research/research.h"
#include "research/sightings.h"
#include "research/worker.h"
#include "text/json.h"

/* ---- the configuration folder of the worker (folder.c) ---- */

/* Where the worker runs, with the settings that make it the worker that it is. Made on first run,
 * and the user's to edit: a file that the user changed is never written again. One that is still as
 * forage made it is made anew when the program that it names is gone, or when an older forage made
 * it. No secret is in it: keys are referred to by the name of their variable. */

#define FOLDER_PATH_SIZE 4096
/* The folder, and the longest name of what is in it. */
#define FOLDER_FILE_SIZE (FOLDER_PATH_SIZE + 64)

/* Where it is: FORAGE_RESEARCH_DIR, or the platform's place for configuration. A status, with
 * words in `problem`. */
MUST_CHECK int folder_find(char path[FOLDER_PATH_SIZE], char *problem, size_t size);
/* Makes what is missing of it for this worker ("gemini"), and mends what nobody edited. The same.
 */
MUST_CHECK int folder_make(const char *path, const char *worker, char *problem, size_t size);
/* Whether its settings start a reader of pages that is not there, and folder_make() may not mend
 * them: the file, and words for which command that is and what to write in its place. */
bool folder_has_dead_reader(const char *path, const char *worker, char file[FOLDER_FILE_SIZE],
                            char *words, size_t size);

/* ---- the prompt (prompt.c) ---- */

/* A template of ours or the user's own, with the caller's words put in so that they stay words. */

/* What fills a template's places. The question is the caller's and is put between two tags with a
 * number that nobody can guess; it cannot pull in files (@) and is not looked at for places again.
 */
struct prompt_values {
    const char *question;        /* {{query}}, {query}, {{topic}} or {topic} */
    const char *depth;           /* {depth}; "" where there is none */
    const char *model;           /* {model} */
    int max_rounds;              /* {max_iterations} */
    const struct follow *follow; /* what it follows on, put behind the rest; or NULL */
};

/* Fills a template; `tag` is the number, the same for every try of a call. A template without a
 * place for the question gets it at its end. A status. */
MUST_CHECK int prompt_fill(struct buf *out, const char *template,
                           const struct prompt_values *values, const char *tag);
/* The template in the file NAME.md of `folder`, or `built_in` where there is none; text in the
 * arena or `built_in` itself. A file that cannot be read counts as none. */
const char *prompt_template(struct arena *arena, const char *folder, const char *name,
                            const char *built_in);

/* ---- one run of a worker, from its start to its end (worker_run.c) ---- */

/* How a run came to its end. */
struct run_end {
    struct proc_exit exit;
    const char *errors; /* the last of its stderr, in the call's arena; never NULL */
};

/* OK when the worker ended, however it did; ERR_LIMIT when it was ended because it began one round
 * too many or wrote a line without end; ERR_NOTFOUND or ERR_INVALID when it could not be started;
 * otherwise a status of the call. In every case it is over or ending when this returns. */
MUST_CHECK int run_worker(struct call *call, const struct worker *worker,
                          const struct worker_job *job, struct sightings *sightings,
                          struct run_end *end);

/* ---- the JSON object in what a model wrote (extract_json.c) ---- */

/* Between prose, in a fence, with fences inside its own strings, with the small mistakes that
 * models make (a raw line break in a string, a comma too many, an escape that does not exist). What
 * was cut off is not repaired: half a report is none. */

/* A member that the object must have, and of which type. */
struct extract_member {
    const char *name; /* NULL ends them */
    yyjson_type type;
};

/* Takes the object from a ```json fence; else from any other fence; else the outermost one. Of
 * several that have the `wanted` members the last one counts: a model drafts before it answers. The
 * object belongs to `arena`. OK; ERR_NOTFOUND when there is no object at all, ERR_INVALID when none
 * has what is wanted, ERR_CLOSED when the text ends inside of one, ERR_NOMEM. */
MUST_CHECK int extract_json(struct arena *arena, const char *text, size_t length,
                            const struct extract_member *wanted, yyjson_val **object);

/* ---- the report (research.c) ---- */

/* Cuts a text to the budget of results, less what the rest of a result may take: before footnotes
 * are added, so that those of what is left stay. NULL without memory. */
const char *report_fit(struct call *call, const char *text);
/* Tells what was seen, as much as fits of each list. */
void report_sightings(const struct sightings *sightings, struct research_report *report);

/* ---- why a worker failed, and what to do about it (failures.c) ---- */

struct research_failure {
    const char *code;    /* of call/errors.h */
    const char *message; /* what happened and what to do */
};

/* By its words; NULL when they are nothing that is known. */
const struct research_failure *failure_of_words(const char *words);
/* How a worker ended, as far as it showed. */
struct failure_signs {
    const char *words; /* its last ones, or NULL */
    int http_status;   /* that the service behind it failed with, or 0 */
    int exit_code;
    const char *errors; /* what it wrote to stderr, which is noisy even when all is well */
};

/* By its words, the status, its exit, and then stderr. Never NULL. */
const struct research_failure *failure_find(const struct worker *worker,
                                            const struct failure_signs *signs);

#endif
