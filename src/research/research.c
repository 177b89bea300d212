/* The order of things: find the worker, make its folder, write its prompt, wait for a turn, run it,
 * take the report out of what it said, and try again when there is none. */
#include "research/research.h"

#include "call/errors.h"
#include "call/journal.h"
#include "call/line.h"
#include "call/parts.h"
#include "config/budget.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"
#include "embedded.h"
#include "guard/charge.h"
#include "research/own/own.h"
#include "research/steps.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

const struct research_kind RESEARCH_ONE_ROUND = {
    .prompt_name = "search-prompt",
    .built_in = prompt_search,
    .answer = "result",
    .timeout_code = CODE_EXECUTION_ERROR,
};

const struct research_kind RESEARCH_MANY_ROUNDS = {
    .prompt_name = "research-prompt",
    .built_in = prompt_research,
    .prompt_variable = "FORAGE_RESEARCH_PROMPT",
    .answer = "report",
    .timeout_code = CODE_CLI_TIMEOUT,
    .keeps_raw_output = true,
};

/* Before each further try after an answer that holds no usable JSON. */
static const int64_t WAITS_MS[] = {1000, 2000, 5000};
#define WAIT_COUNT (sizeof WAITS_MS / sizeof *WAITS_MS)

/* A worker cannot go on where it was: it begins anew, once. */
#define MOST_RUNS 2

/* Prose that is no longer is a remark and no report. */
#define PROSE_LEAST_CHARS 200

static const char BEGUN_AGAIN[] =
    "forage was ended while this research ran, so its worker was begun anew";

struct task {
    struct call *call;
    const struct research_request *request;
    const struct worker *worker;
    struct worker_job job;
    char program[WORKER_PATH_SIZE];
    char folder[FOLDER_PATH_SIZE];
    struct buf prompt;
};

static const char *model_variable(const struct worker *worker)
{
    static const char ANY[] = "FORAGE_RESEARCH_MODEL";
    return config_text(ANY) ? ANY : worker->model_variable;
}

/* ---- failing ---- */

/* Adds words to the call's error, the worker's own or ours. */
static void add_details(struct call *call, const char *words)
{
    struct arena *arena = call_arena(call);
    char *copy =
        words && *words
            ? arena_strndup(arena, words, text_prefix(words, strlen(words), LIMIT_ERROR_CHARS))
            : NULL;
    if (copy) {
        text_repair(copy);
        /* They may repeat the question, which is private: what is left out is not logged. */
        const char *told = call_without_paths(call, copy, false);
        call_fail_details(call, json_text(arena, yyjson_mut_str(json_new(arena), told), NULL));
    }
}

static int fail_as(const struct task *task, const struct research_failure *failure,
                   const char *words)
{
    const struct worker *worker = task->worker;
    if (strcmp(failure->code, CODE_AUTH_ERROR) == 0) {
        call_fail(task->call, failure->code, "%s failed: %s; %s", worker->title, failure->message,
                  worker->sign_in);
    } else if (strcmp(failure->code, CODE_MODEL_NOT_FOUND) == 0) {
        call_fail(task->call, failure->code, "%s failed: %s (%s, now %s)", worker->title,
                  failure->message, config_name_told(model_variable(worker)), task->job.model);
    } else {
        call_fail(task->call, failure->code, "%s failed: %s", worker->title, failure->message);
    }
    add_details(task->call, words);
    return ERR_FAILED;
}

static int fail_exit(const struct task *task, const struct sightings *sightings,
                     const struct run_end *end)
{
    const char *words =
        sightings->failure && *sightings->failure ? sightings->failure : sightings->complaint;
    struct failure_signs signs = {
        .words = words,
        .http_status = sightings->http_status,
        .exit_code = end->exit.code,
        .errors = end->errors,
    };
    const struct research_failure *failure = failure_find(task->worker, &signs);
    if (end->exit.signal) {
        call_fail(task->call, failure->code, "%s was ended by signal %d: %s", task->worker->title,
                  end->exit.signal, failure->message);
    }
    return fail_as(task, failure, words && *words ? words : end->errors);
}

static int fail_limit(const struct task *task, const struct sightings *sightings)
{
    int most = task->request->max_rounds;
    const char *title = task->worker->title;
    if (sightings->is_one_search && sightings_are_too_many(sightings)) {
        return call_fail(task->call, CODE_TURN_LIMIT,
                         "%s went on searching after one search, which is all here, and was ended; "
                         "ask deep_search, which may search more often",
                         title);
    }
    if (sightings_are_too_many(sightings)) {
        return call_fail(task->call, CODE_TURN_LIMIT,
                         "%s went on searching after %d round%s and was ended; allow more with "
                         "maxIterations or %s, or narrow the topic",
                         title, most, most == 1 ? "" : "s",
                         config_name_told("FORAGE_RESEARCH_ROUNDS"));
    }
    if (sightings->turns > LIMIT_RESEARCH_TURNS) {
        return call_fail(
            task->call, CODE_TURN_LIMIT,
            "%s used its tools %d times without coming to an end and was ended; narrow "
            "the question",
            title, LIMIT_RESEARCH_TURNS);
    }
    return call_fail(task->call, CODE_EXECUTION_ERROR, "%s wrote too much and was ended", title);
}

static int fail_late(struct call *call, const struct research_kind *kind)
{
    static const char VARIABLE[] = "FORAGE_RESEARCH_TIMEOUT";
    struct arena *arena = call_arena(call);
    const char *advice = arena_printf(arena, "Consider increasing %s", config_name_told(VARIABLE));
    call_fail(call, kind->timeout_code,
              "the research exceeded timeout of %lld ms and was ended; allow more time, or narrow "
              "the question",
              (long long)config_duration_ms(VARIABLE));
    add_details(call, advice);
    return ERR_FAILED;
}

/* A status of a run that is not the worker's own end. */
static int fail_run(const struct task *task, const struct sightings *sightings, int status)
{
    const char *title = task->worker->title;
    switch (status) {
    case ERR_NOTFOUND:
    case ERR_INVALID:
        return call_fail(task->call, CODE_CLI_NOT_FOUND,
                         "%s cannot be run (%s); %s, or name it in %s", title,
                         call_without_paths(task->call, task->job.program, true),
                         task->worker->install, config_name_told(task->worker->path_variable));
    case ERR_LIMIT:
        return fail_limit(task, sightings);
    case ERR_DEADLINE:
        return fail_late(task->call, task->request->kind);
    default:
        return status;
    }
}

/* ---- the report ---- */

const char *report_fit(struct call *call, const char *text)
{
    size_t most = budget_chars() / 2;
    size_t length = strlen(text);
    size_t kept = text_prefix(text, length, most);
    if (kept == length) {
        return text;
    }
    return arena_printf(call_arena(call),
                        "%.*s\n\n_Cut: this text has %zu characters, and %zu fit "
                        "(FORAGE_MAX_RESULT_CHARS). Ask for less, or for a concise answer._",
                        (int)kept, text, text_count(text, length), most);
}

/* As many items as fit into their share of the budget. */
static size_t fit_list(const struct sightings_list *list)
{
    size_t room = budget_chars() / 20;
    size_t count = 0;
    while (count < list->count && strlen(list->items[count]) + 4 <= room) {
        room -= strlen(list->items[count]) + 4;
        count++;
    }
    return count;
}

void report_sightings(const struct sightings *sightings, struct research_report *report)
{
    report->sources = sightings->sources.items;
    report->source_count = fit_list(&sightings->sources);
    report->queries = sightings->queries.items;
    report->query_count = fit_list(&sightings->queries);
    report->warnings = sightings->warnings.items;
    report->warning_count = sightings->warnings.count;
    report->rounds = sightings->rounds;
}

/* The worker's quotes, numbered as they stand in its answer. OK or ERR_NOMEM. */
static int take_quotes(struct evidence *evidence, yyjson_val *answer)
{
    size_t index, most;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(answer, "evidence"), index, most, item)
    {
        if (index == LIMIT_EVIDENCE_NOTES) {
            break;
        }
        size_t number = evidence_add_note_at(evidence, json_string(item, "claim"),
                                             json_string(item, "quote"), json_string(item, "url"));
        if (!number) {
            return ERR_NOMEM;
        }
        evidence_cite(evidence, number);
    }
    return OK;
}

/* The report of a worker whose work was seen: its quotes and links are looked for in the pages that
 * it read. `answer` is NULL where it wrote prose. */
static int grade_report(const struct sightings *sightings, yyjson_val *answer, const char *text,
                        struct research_report *report)
{
    int status = take_quotes(sightings->evidence, answer);
    evidence_limit_footnotes(sightings->evidence, budget_chars() / 8);
    report->evidence = sightings->evidence;
    return status == OK ? evidence_render_links(sightings->evidence, text, &report->text) : status;
}

/* The report of a worker that only prints it: nobody can say what it stands on. */
static int take_unseen(struct sightings *sightings, const char *text,
                       struct research_report *report)
{
    static const char NOTHING_SEEN[] =
        "the worker printed its answer and showed nothing of its work, so forage cannot tell which "
        "pages it read; its claims are not checked";
    report->text = text;
    return sightings_add(sightings, &sightings->warnings, NOTHING_SEEN) ? OK : ERR_NOMEM;
}

static int take_report(const struct task *task, struct sightings *sightings, yyjson_val *answer,
                       const char *text, struct research_report *report)
{
    const char *fitting = report_fit(task->call, text);
    int status = ERR_NOMEM;
    if (fitting) {
        status = sightings->shows_events ? grade_report(sightings, answer, fitting, report)
                                         : take_unseen(sightings, fitting, report);
    }
    report_sightings(sightings, report);
    return status;
}

static int take_answer(const struct task *task, struct sightings *sightings, yyjson_val *answer,
                       struct research_report *report)
{
    const char *text = json_string(answer, task->request->kind->answer);
    if (!yyjson_get_bool(yyjson_obj_get(answer, "success"))) {
        call_fail(task->call, CODE_EXECUTION_ERROR,
                  "%s gave up; put the question in other words or try again", task->worker->title);
        add_details(task->call, text);
        return ERR_FAILED;
    }
    if (task->request->follow) {
        const char *said = json_string(answer, "understood_as");
        struct arena *arena = call_arena(task->call);
        report->understood_as =
            said && *said ? arena_strndup(arena, said, text_prefix(said, strlen(said), 800))
                          : task->request->question;
    }
    return take_report(task, sightings, answer, text, report);
}

/* What the worker said after its last use of a tool: before that it may have quoted a page that
 * holds a perfect answer. */
static const char *last_words(const struct sightings *sightings)
{
    return sightings->said.data ? sightings->said.data + sightings->answer_start : "";
}

/* Takes prose for the report that it is where the worker was seen to read a page that it names. OK
 * with the report, ERR_NOTFOUND, or ERR_NOMEM. */
static int take_prose(const struct task *task, struct sightings *sightings,
                      struct research_report *report)
{
    const char *said = last_words(sightings);
    char *text = arena_strdup(call_arena(task->call), said);
    if (!text) {
        return ERR_NOMEM;
    }
    text_repair(text);
    if (!task->request->kind->keeps_raw_output ||
        text_count(text, strlen(text)) <= PROSE_LEAST_CHARS ||
        !sightings_have_page_of(sightings, text)) {
        return ERR_NOTFOUND;
    }
    report->is_prose = true;
    return take_report(task, sightings, NULL, text, report);
}

/* As extract_json. */
static int find_answer(const struct task *task, const struct sightings *sightings,
                       yyjson_val **answer)
{
    const struct extract_member wanted[] = {{"success", YYJSON_TYPE_BOOL},
                                            {task->request->kind->answer, YYJSON_TYPE_STR},
                                            {NULL, YYJSON_TYPE_NONE}};
    return extract_json(call_arena(task->call), last_words(sightings),
                        sightings->said.length - sightings->answer_start, wanted, answer);
}

/* ---- trying ---- */

/* One try. OK with the report; ERR_CLOSED, ERR_NOTFOUND or ERR_INVALID (negative, as extract_json)
 * when the answer holds nothing usable, in *why; anything else is final. */
static int try_once(struct task *task, struct sightings *sightings, struct research_report *report,
                    int *why)
{
    struct run_end end;
    yyjson_val *answer = NULL;
    *why = OK;
    int status = run_worker(task->call, task->worker, &task->job, sightings, &end);
    if (status != OK) {
        return fail_run(task, sightings, status);
    }
    bool failed = sightings->failure && *sightings->failure;
    if (!sightings->is_done && (end.exit.code != 0 || failed)) {
        return fail_exit(task, sightings, &end);
    }
    status = find_answer(task, sightings, &answer);
    if (status == OK) {
        return take_answer(task, sightings, answer, report);
    }
    const struct research_failure *failure = failure_of_words(sightings->complaint);
    if (failure) {
        return fail_as(task, failure, sightings->complaint);
    }
    *why = status;
    return status == ERR_NOMEM ? status : OK;
}

/* All tries in vain. */
static int fail_parse(const struct task *task, const struct sightings *sightings, int tries,
                      int why, struct research_report *report)
{
    const char *said = sightings->said.data ? sightings->said.data : "";
    const char *problem = why == ERR_CLOSED    ? "its JSON was cut off"
                          : why == ERR_INVALID ? "its JSON lacks what was asked for"
                                               : "there was no JSON in it";
    call_fail(task->call, CODE_PARSE_ERROR,
              "%s answered %d times without a usable report: %s; try again, or use another model",
              task->worker->title, tries, problem);
    if (task->request->kind->keeps_raw_output) {
        char *raw = arena_strdup(call_arena(task->call), said);
        if (raw) {
            text_repair(raw);
            report->raw_output = report_fit(task->call, raw);
        }
    }
    return ERR_FAILED;
}

static int wait_before(const struct task *task, int retry)
{
    size_t index = (size_t)retry < WAIT_COUNT ? (size_t)retry : WAIT_COUNT - 1;
    log_warn(call_request_id(task->call), "no usable JSON in the worker's answer; try %d of %d",
             retry + 2, task->request->max_retries + 1);
    progress_say(task->call, "the answer was not usable; trying again (%d of %d)", retry + 1,
                 task->request->max_retries);
    int status = call_sleep(task->call, WAITS_MS[index]);
    return status == OK ? OK : fail_run(task, NULL, status);
}

static int try_all(struct task *task, struct research_report *report)
{
    for (int retry = 0;; retry++) {
        struct sightings sightings;
        int why = OK;
        int status = sightings_init(&sightings, task->call, task->request->max_rounds);
        sightings.is_one_search = task->job.is_one_search;
        const char *warnings[] = {journal_run(task->call) > 1 ? BEGUN_AGAIN : NULL,
                                  task->job.reader_trouble};
        for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++) {
            if (warnings[i] && !sightings_add(&sightings, &sightings.warnings, warnings[i])) {
                status = ERR_NOMEM;
            }
        }
        if (status == OK) {
            status = try_once(task, &sightings, report, &why);
        }
        bool finished = status != OK || why == OK;
        bool is_last = retry == task->request->max_retries;
        if (!finished && why == ERR_NOTFOUND && (retry > 0 || is_last)) {
            int found = take_prose(task, &sightings, report);
            finished = found != ERR_NOTFOUND;
            status = finished ? found : OK;
        }
        if (!finished && is_last) {
            status = fail_parse(task, &sightings, retry + 1, why, report);
            finished = true;
        }
        sightings_done(&sightings);
        if (!finished) {
            status = wait_before(task, retry);
        }
        if (finished || status != OK) {
            return status;
        }
    }
}

/* ---- preparing ---- */

static int find_worker(struct task *task)
{
    char problem[1024];
    char file[FOLDER_FILE_SIZE];
    if (worker_find(task->worker, task->program, problem, sizeof problem) != OK) {
        return call_fail(task->call, CODE_CLI_NOT_FOUND, "%s",
                         call_without_paths(task->call, problem, true));
    }
    if (folder_find(task->folder, problem, sizeof problem) != OK ||
        folder_make(task->folder, task->worker->name, problem, sizeof problem) != OK) {
        return call_fail(task->call, CODE_CONFIG_ERROR, "%s",
                         call_without_paths(task->call, problem, true));
    }
    if (folder_has_dead_reader(task->folder, task->worker->name, file, problem, sizeof problem)) {
        const char *told = call_without_paths(task->call, problem, true);
        task->job.reader_trouble = arena_strdup(call_arena(task->call), told);
    }
    return OK;
}

static int write_prompt(struct task *task)
{
    const struct research_kind *kind = task->request->kind;
    struct arena *arena = call_arena(task->call);
    char tag[ID_SECRET_SIZE];
    int status = id_make_secret(tag);
    if (status != OK) {
        return status;
    }
    const char *own = kind->prompt_variable ? config_text(kind->prompt_variable) : NULL;
    const char *template = own ? own
                               : prompt_template(arena, config_text("FORAGE_PROMPTS_DIR"),
                                                 kind->prompt_name, kind->built_in);
    struct prompt_values values = {
        .question = task->request->question,
        .depth = task->request->depth,
        .model = task->job.model,
        .max_rounds = task->request->max_rounds,
        .follow = task->request->follow,
    };
    status = prompt_fill(&task->prompt, template, &values, tag);
    task->job.prompt = task->prompt.data;
    task->job.prompt_length = task->prompt.length;
    return status;
}

/* ---- taking turns ---- */

/* Calls that run a worker, or wait in line for one. */
struct research {
    struct line line;
};

struct research *research_new(struct turns *turns)
{
    struct research *research = calloc(1, sizeof *research);
    if (research) {
        line_init(&research->line, turns, "research",
                  (size_t)config_int("FORAGE_RESEARCH_CONCURRENCY"));
    }
    return research;
}

struct research *research_free(struct research *research)
{
    if (research) {
        line_done(&research->line);
        free(research);
    }
    return NULL;
}

static void report_wait(struct call *call, size_t inside, size_t before)
{
    progress_say(call, "waiting for a free worker (%zu busy, %zu before this call)", inside,
                 before);
}

/* Waits for a turn. Its time counts from then on, over all runs of the call. */
static int take_turn(struct call *call, struct place *place)
{
    *place = (struct place){.call = call, .report = report_wait};
    int status = line_enter(&call_parts(call)->research->line, place, -1);
    if (status == OK) {
        int64_t most = config_duration_ms("FORAGE_RESEARCH_TIMEOUT");
        int64_t left = most - journal_past_ms(call);
        int64_t least = most < TIME_RESEARCH_LEAST_MS ? most : TIME_RESEARCH_LEAST_MS;
        call_limit_time(call, left > least ? left : least);
    }
    return status;
}

static int run_in_turn(struct task *task, struct research_report *report)
{
    struct place place;
    int status = take_turn(task->call, &place);
    if (status != OK) {
        return fail_run(task, NULL, status);
    }
    status = charge_check(task->call); /* the worker spends by itself */
    status = status == OK ? try_all(task, report) : status;
    line_leave(&place);
    return status;
}

/* Of what a model fails with, in the codes that research has whoever the worker is. */
static int fail_as_research(struct call *call, int status)
{
    static const struct {
        const char *code, *as;
    } CODES[] = {
        {CODE_AUTH, CODE_AUTH_ERROR},
        {CODE_RATE_LIMIT, CODE_QUOTA_EXCEEDED},
        {CODE_PROVIDER, CODE_EXECUTION_ERROR},
        {CODE_PARSE, CODE_PARSE_ERROR},
    };
    const struct call_error *now = status == ERR_FAILED ? call_error(call) : NULL;
    for (size_t i = 0; now && i < sizeof CODES / sizeof *CODES; i++) {
        if (strcmp(now->code, CODES[i].code) == 0) {
            struct call_error error;
            call_take_error(call, &error);
            call_fail(call, CODES[i].as, "%s", error.message);
            call_fail_details(call, error.details);
            call_fail_retry_after(call, error.retry_after_s);
            break;
        }
    }
    return status;
}

/* The same for our own loop, which takes its turn as a worker does: a turn is money too. */
static int run_own(struct call *call, const struct research_request *request,
                   struct research_report *report)
{
    struct place place;
    int status = take_turn(call, &place);
    if (status == OK) {
        status = own_run(call, request, report);
        line_leave(&place);
    }
    return status == ERR_DEADLINE ? fail_late(call, request->kind) : fail_as_research(call, status);
}

int research_run(struct call *call, const struct research_request *request,
                 struct research_report *report)
{
    *report = (struct research_report){0};
    if (worker_is_own()) {
        return run_own(call, request, report);
    }
    struct task *task = arena_zalloc(call_arena(call), sizeof *task);
    if (!task) {
        return ERR_NOMEM;
    }
    task->call = call;
    task->request = request;
    task->worker = worker_chosen();
    if (journal_run(call) > MOST_RUNS) {
        return call_fail(call, CODE_EXECUTION_ERROR,
                         "forage was ended %u times while %s researched this; ask again",
                         journal_run(call) - 1, task->worker->title);
    }
    task->job = (struct worker_job){
        .program = task->program,
        .folder = task->folder,
        .model = config_text(model_variable(task->worker)),
        .question = request->question,
        .is_one_search = request->kind == &RESEARCH_ONE_ROUND,
        .with_firecrawl = config_text("FIRECRAWL_API_KEY") || config_text("FIRECRAWL_API_URL"),
    };
    report->model = task->job.model;
    call_name_provider(call, report->model);
    buf_init(&task->prompt, LIMIT_PROMPT_BYTES * 8);
    int status = find_worker(task);
    if (status == OK) {
        status = write_prompt(task);
    }
    if (status == OK) {
        status = run_in_turn(task, report);
    }
    buf_done(&task->prompt);
    return status;
}

/* ---- describing ---- */

yyjson_mut_val *research_metadata(struct call *call, yyjson_mut_doc *doc,
                                  const struct research_report *report)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_val *metadata = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_sint(doc, metadata, "duration_ms", clock_now_ms() - call_started_ms(call));
    yyjson_mut_obj_add_str(doc, metadata, "model", report->model);
    yyjson_mut_obj_add_strcpy(doc, metadata, "timestamp", clock_stamp(stamp));
    if (report->evidence) {
        json_add_strings(doc, metadata, "sources_visited", report->sources, report->source_count);
    }
    if (report->warning_count) {
        json_add_strings(doc, metadata, "warnings", report->warnings, report->warning_count);
    }
    return metadata;
}

/* ---- the program ---- */

bool research_is_ready(char *lacks, size_t size)
{
    if (worker_is_own()) {
        return own_is_ready(lacks, size);
    }
    char path[WORKER_PATH_SIZE];
    char words[1024];
    struct text_out told;
    bool found = worker_find(worker_chosen(), path, words, sizeof words) == OK;
    text_start(&told, lacks, size);
    text_put_without_paths(&told, found ? "" : words); /* every caller may read it */
    return found;
}

int research_prepare(char *problem, size_t size)
{
    char words[1024];
    char path[WORKER_PATH_SIZE];
    if (worker_is_own()) {
        if (!own_is_ready(words, sizeof words)) {
            log_warn(NULL, "search and deep_search will not work: %s", words);
        }
        return OK;
    }
    const struct worker *worker = worker_chosen();
    bool found = worker_find(worker, path, words, sizeof words) == OK;
    if (!found) {
        log_warn(NULL, "search and deep_search will not work: %s", words);
    }
    if (!found && !config_is_set("FORAGE_RESEARCH_DIR")) {
        return OK; /* nobody would use it */
    }
    int status = folder_find(path, problem, size);
    if (status == OK) {
        status = folder_make(path, worker->name, problem, size);
    }
    if (status == OK && research_reads_in_vain(words, sizeof words)) {
        log_warn(NULL, "%s", words);
    }
    return status;
}

bool research_reads_in_vain(char *words, size_t size)
{
    char path[FOLDER_PATH_SIZE];
    char file[FOLDER_FILE_SIZE];
    return !worker_is_own() && folder_find(path, words, size) == OK &&
           folder_has_dead_reader(path, worker_chosen()->name, file, words, size);
}
