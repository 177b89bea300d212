/* The loop: ask the model, do what it wants, look whether that leads anywhere, and end in time to
 * write. Every way to go on for ever has an end here: turns, rounds, repetition, rounds without a
 * new fact, tokens, money and time. */
#include "research/own/own.h"

#include "call/errors.h"
#include "call/journal.h"
#include "config/config.h"
#include "core/limits.h"
#include "embedded.h"
#include "guard/charge.h"
#include "research/own/briefing.h"
#include "research/own/outside.h"
#include "research/own/work.h"
#include "research/steps.h"
#include "text/text.h"
#include "websearch/websearch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM            24000u /* characters of earlier turns that a model sees again */
#define TURN_TOKENS     8192   /* that it may answer with */
#define LEAST_TOKENS    256    /* fewer are no answer */
#define WRITING_TOKENS  12000  /* that are kept back for the report, at most */
#define STALE_ROUNDS    3      /* without a new fact */
#define STALE_TURNS     8      /* the same */
#define REPEATS         2      /* turns that only repeat */
#define SPEECHLESS      4      /* turns in a row without a move */
#define ONE_ROUND_TURNS 6      /* of search */
#define ONE_ROUND_PAGES 5
#define BYTES_OF_TOKEN  3 /* the fewest, until the model has counted */

/* ---- asking ---- */

/* What this request may cost at most, in billionths of a dollar. */
static int64_t price_of(struct own *own, const struct model *model, int64_t input, int64_t output)
{
    const struct call_usage usage = {
        .model = model_priced_as(model), .input_tokens = input, .output_tokens = output};
    return charge_price(own->call, &usage);
}

/* The tokens that so much money buys at the dearer of the two prices; INT64_MAX: any number. */
static int64_t tokens_of_money(struct own *own, const struct model *model, int64_t money)
{
    static const int64_t MILLION = 1000000;
    int64_t in = price_of(own, model, MILLION, 0);
    int64_t out = price_of(own, model, 0, MILLION);
    int64_t dearer = in > out ? in : out;
    if (!dearer || money == INT64_MAX) {
        return INT64_MAX;
    }
    return (int64_t)((double)money / (double)dearer * (double)MILLION) + 1;
}

/* The tokens that may be answered with; 0: none, and own->stopped says why. */
static int64_t tokens_to_answer(struct own *own, const struct model *model,
                                struct model_request *request, int64_t keep_back)
{
    size_t bytes = talk_bytes(request->messages, request->message_count) + strlen(request->system);
    for (size_t i = 0; i < request->tool_count; i++) {
        bytes += strlen(request->tools[i].description) + strlen(request->tools[i].schema);
    }
    double rate = own->tokens_per_byte > 0 ? own->tokens_per_byte : 1.0 / BYTES_OF_TOKEN;
    int64_t input = (int64_t)((double)bytes * rate) + 64;
    int64_t left = allowance_left(&own->allowance, ALLOWANCE_TOKENS);
    int64_t most = request->max_tokens;
    own->asked_bytes = bytes;
    int64_t money = allowance_left(&own->allowance, ALLOWANCE_MONEY);
    request->most_in_all = tokens_of_money(own, model, money);
    if (left != INT64_MAX) {
        left -= keep_back;
        request->most_in_all = left < request->most_in_all ? left : request->most_in_all;
        most = left - input < most ? left - input : most;
    }
    if (most < LEAST_TOKENS) {
        own->stopped = ALLOWANCE_WORDS[ALLOWANCE_TOKENS];
        return 0;
    }
    while (price_of(own, model, input, most) > money) {
        most /= 2;
        if (most < LEAST_TOKENS) {
            own->stopped = ALLOWANCE_WORDS[ALLOWANCE_MONEY];
            return 0;
        }
    }
    return most;
}

int own_ask(struct own *own, struct model *model, struct plan_part *part,
            struct model_request *request, struct model_reply *reply)
{
    /* What is kept back for the report is only for it. */
    int64_t limit = own->allowance.limit[ALLOWANCE_TOKENS];
    int64_t keep_back = own->writing ? 0 : limit / 4 < WRITING_TOKENS ? limit / 4 : WRITING_TOKENS;
    request->max_tokens = tokens_to_answer(own, model, request, keep_back);
    if (!request->max_tokens) {
        return ERR_LIMIT;
    }
    /* Without a fact there is nothing to write, so nothing to keep time for. */
    request->until_ms = own->facts && !own->writing ? own_until_now(own) : 0;
    *reply = (struct model_reply){0};
    int status = outside_ask(own->call, model, request, reply);
    own_count(own, part);
    if (status == OK && reply->usage.requests == 1 && own->asked_bytes) {
        double rate = (double)reply->usage.input_tokens / (double)own->asked_bytes;
        own->tokens_per_byte = rate > own->tokens_per_byte ? rate : own->tokens_per_byte;
    }
    return status;
}

static void go_plain(struct own *own)
{
    own->plain = true;
    talk_go_plain(&own->talk);
}

/* Remembers why a request failed, where there is something to report all the same. */
static int go_on_without(struct own *own, int status)
{
    struct call_error error;
    if (!own->facts || (status != ERR_FAILED && status != ERR_DEADLINE)) {
        return status;
    }
    call_take_error(own->call, &error);
    bool spent = error.code && strcmp(error.code, CODE_BUDGET) == 0;
    own->stopped = status == ERR_DEADLINE ? ALLOWANCE_WORDS[ALLOWANCE_TIME]
                   : spent                ? "budget"
                                          : "model";
    own_warn(own, "the model was not asked to the end: %s%s", spent ? CODE_BUDGET ": " : "",
             error.message ? error.message : "the time was over");
    return OK;
}

/* Asks for the next turn; what is too large is folded, who cannot call tools is asked in words. OK
 * also where own->stopped says that nothing came. */
static int ask_turn(struct own *own, bool last, struct model_reply *reply)
{
    struct arena *arena = call_arena(own->call);
    for (;;) {
        size_t first = last ? MOVE_NOTE : own->request->max_rounds == 1 ? MOVE_SEARCH : MOVE_PLAN;
        struct model_request request = {
            .system = own->plain ? own->plain_prompt : own->prompt,
            .tools = own->plain ? NULL : own->tools + first,
            .tool_count = own->plain ? 0 : MOVE_KINDS - first,
            .must_use = !own->plain,
            .max_tokens = TURN_TOKENS,
        };
        const char *state = briefing_write(own, last);
        request.messages =
            state ? talk_messages(arena, &own->talk, state, &request.message_count) : NULL;
        if (!request.messages) {
            return ERR_NOMEM;
        }
        int status = own_ask(own, own->model, own_part(own, own->last_part), &request, reply);
        if (status == ERR_UNSUPPORTED && !own->plain) {
            go_plain(own);
        } else if (status == ERR_LIMIT && own->stopped) {
            return OK;
        } else if (status == ERR_LIMIT) {
            if (!talk_fold(&own->talk)) {
                own->stopped = "context";
                own_warn(own, "the model's context is too small for the next turn");
                return OK;
            }
        } else {
            return status == OK ? OK : go_on_without(own, status);
        }
    }
}

/* ---- a turn ---- */

/* A turn from which nothing could be read: told once how to do it, then in the plain format. */
static int answer_prose(struct own *own, const struct model_reply *reply)
{
    struct arena *arena = call_arena(own->call);
    struct told *told = arena_zalloc(arena, sizeof *told);
    own->speechless++;
    if (own->speechless > 1 && own->facts) {
        own->finished = true; /* it answers in prose because it is done */
    }
    if (own->speechless > 1 && !own->plain) {
        go_plain(own);
    }
    if (!told) {
        return ERR_NOMEM;
    }
    told->text = own->plain ? "Answer only with lines that begin with SEARCH:, READ:, NOTE: or "
                              "DONE, as you were told."
                            : "Do not answer in prose: call one of the tools. When the notes "
                              "answer the question, call finish.";
    struct turn turn = {.reply = reply, .told = told, .told_count = 1};
    return talk_add(arena, &own->talk, &turn);
}

/* Before its moves: a search begins a round, if there may be one more. */
static void begin_round(struct own *own, const struct move *moves, size_t count)
{
    bool searches = false;
    for (size_t i = 0; i < count; i++) {
        searches |= moves[i].kind == MOVE_SEARCH && !moves[i].trouble;
        own->last_part = moves[i].part ? moves[i].part : own->last_part;
    }
    if (!searches || own->closing || own->closed_by) {
        return;
    }
    if (own->seen.rounds >= own->request->max_rounds) {
        own_close(own, "rounds");
    } else if (own->stale_rounds >= STALE_ROUNDS) {
        own_close(own, "no_new_facts");
    } else {
        own->seen.rounds++;
        own->stale_rounds++;
    }
}

/* Does the moves of a turn, in their order; what is told stands in the same order. A turn of which
 * nothing could be understood is one without moves, and one that only repeats is counted. */
static int do_moves(struct own *own, const struct move *moves, size_t count, struct told *told)
{
    int status = OK;
    size_t troubled = 0, failed = 0;
    for (size_t i = 0; status == OK && i < count; i++) {
        status = work_do(own, &moves[i], &told[i].text, &told[i].failed);
        told[i].use = moves[i].use;
        troubled += moves[i].trouble != NULL;
        failed += told[i].failed;
    }
    own->speechless = troubled == count ? own->speechless + 1 : 0;
    own->repeats += failed == count && troubled < count;
    return status;
}

/* In words, all that is told is one message. */
static int join_told(struct arena *arena, struct told *told, size_t *count)
{
    struct buf text;
    buf_init(&text, MIB(2));
    for (size_t i = 0; i < *count; i++) {
        buf_printf(&text, "%s%s", i ? "\n" : "", told[i].text);
    }
    told[0] = (struct told){.text = buf_error(&text) ? NULL : arena_strdup(arena, text.data)};
    buf_done(&text);
    *count = 1;
    return told[0].text ? OK : ERR_NOMEM;
}

/* Without tools no calls can be shown again: a server refuses a conversation that holds calls and
 * no tools. What was asked for is done all the same, as if it came in words. */
static void forget_uses(struct model_reply *reply)
{
    reply->uses = NULL;
    reply->use_count = 0;
    reply->echo = NULL;
    reply->text = *reply->text ? reply->text : "(a call of a tool)";
}

static int take_turn(struct own *own, struct model_reply *reply)
{
    struct arena *arena = call_arena(own->call);
    size_t room = reply->use_count > MOVES_OF_TURN ? reply->use_count : MOVES_OF_TURN;
    struct move *moves = arena_zalloc(arena, MOVES_OF_TURN * sizeof *moves);
    struct told *told = arena_zalloc(arena, room * sizeof *told);
    if (!moves || !told) {
        return ERR_NOMEM;
    }
    size_t count = reply->use_count < MOVES_OF_TURN ? reply->use_count : MOVES_OF_TURN;
    for (size_t i = 0; i < count; i++) {
        move_of_use(arena, reply->uses[i].name, reply->uses[i].arguments, &moves[i]);
        moves[i].use = own->plain ? NULL : &reply->uses[i];
    }
    count = count ? count : moves_of_words(arena, reply->text, moves);
    if (own->plain) {
        forget_uses(reply);
    }
    bool in_words = !reply->use_count;
    if (!count) {
        return answer_prose(own, reply);
    }
    begin_round(own, moves, count);
    int status = do_moves(own, moves, count, told);
    if (status == OK && in_words) {
        status = join_told(arena, told, &count);
    }
    for (; status == OK && count < reply->use_count; count++) {
        told[count] = (struct told){&reply->uses[count], "Too many calls in one turn.", true};
    }
    struct turn turn = {.reply = reply, .told = told, .told_count = count};
    return status == OK ? talk_add(arena, &own->talk, &turn) : status;
}

/* After a turn: whether there is a reason to end. */
static void look_for_end(struct own *own, bool last)
{
    if (own->stopped) {
        return;
    }
    if (own->finished) {
        own->stopped = own->closed_by ? own->closed_by : own->uncovered ? "finished" : "coverage";
    } else if (last) {
        own->stopped = own->closed_by ? own->closed_by : "turns";
    } else if (own->repeats >= REPEATS) {
        own->stopped = "repeated";
    } else if (own->speechless >= SPEECHLESS) {
        own->stopped = "model";
        own_warn(own, "the model answered %d times in a row with nothing that could be done",
                 SPEECHLESS);
    } else if (own->stale_turns >= STALE_TURNS) {
        own->stopped = "no_new_facts";
    }
}

static int run_turn(struct own *own)
{
    struct model_reply *reply = arena_zalloc(call_arena(own->call), sizeof *reply);
    bool last = own->closed_by || own->turns + 1 >= own->most_turns;
    if (!reply) {
        return ERR_NOMEM;
    }
    own->closing = last;
    int status = ask_turn(own, last, reply);
    if (status != OK || own->stopped) {
        return status;
    }
    own->turns++;
    own->stale_turns++;
    if (reply->stop == MODEL_REFUSED) {
        own->stopped = "refused";
        own_warn(own, "the model refused to go on");
        return OK;
    }
    status = take_turn(own, reply);
    own_count(own, own_part(own, own->last_part));
    sightings_tell(&own->seen);
    look_for_end(own, last);
    return status == ERR_DEADLINE ? go_on_without(own, status) : status;
}

static int run_turns(struct own *own)
{
    int status = OK;
    while (status == OK && !own->stopped) {
        own_count(own, own_part(own, own->last_part));
        for (int kind = ALLOWANCE_TOKENS; kind < ALLOWANCE_KINDS && !own->stopped; kind++) {
            bool spent = !allowance_left(&own->allowance, (enum allowance_kind)kind);
            own->stopped = spent ? ALLOWANCE_WORDS[kind] : NULL;
        }
        if (own->stopped) {
            break;
        }
        if (journal_last_ms(own->call) >= own_until(own)) {
            own->stopped = ALLOWANCE_WORDS[ALLOWANCE_TIME];
        } else {
            status = run_turn(own);
        }
    }
    return status;
}

/* ---- before and after ---- */

static const char *prompt_of(struct own *own, const char *name, const char *built_in)
{
    struct arena *arena = call_arena(own->call);
    const char *template =
        prompt_template(arena, config_text("FORAGE_PROMPTS_DIR"), name, built_in);
    const struct text_blank blanks[] = {{"{tag}", own->tag}};
    struct buf text;
    buf_init(&text, LIMIT_PROMPT_BYTES * 2);
    text_fill(&text, template, blanks, 1);
    const char *filled = buf_error(&text) ? NULL : arena_strdup(arena, text.data);
    buf_done(&text);
    return filled;
}

static int set_allowances(struct own *own)
{
    bool one = own->request->max_rounds == 1;
    int64_t *limit = own->allowance.limit;
    const char *usd = config_text("FORAGE_RESEARCH_USD");
    if (usd && allowance_read_usd(usd, &limit[ALLOWANCE_MONEY]) != OK) {
        return call_fail(own->call, CODE_CONFIG_ERROR,
                         "FORAGE_RESEARCH_USD must be dollars as a plain number, such as 0.25; 0 "
                         "is no limit");
    }
    limit[ALLOWANCE_SEARCHES] = one ? 1 : config_int("FORAGE_RESEARCH_SEARCHES");
    limit[ALLOWANCE_PAGES] = config_int("FORAGE_RESEARCH_PAGES");
    if (one && limit[ALLOWANCE_PAGES] > ONE_ROUND_PAGES) {
        limit[ALLOWANCE_PAGES] = ONE_ROUND_PAGES;
    }
    limit[ALLOWANCE_TOKENS] = config_int("FORAGE_RESEARCH_TOKENS");
    limit[ALLOWANCE_TIME] = config_duration_ms("FORAGE_RESEARCH_TIMEOUT");
    own->parts[0] = (struct plan_part){.question = own->question};
    own->part_count = 1;
    allowance_share(&own->allowance, 1, &own->parts[0].allowance);
    own->most_turns = one ? ONE_ROUND_TURNS : own->request->max_rounds * 4 + 4;
    own->most_turns =
        own->most_turns < LIMIT_RESEARCH_TURNS ? own->most_turns : LIMIT_RESEARCH_TURNS;
    if (limit[ALLOWANCE_MONEY] && !price_of(own, own->model, 1000000, 0)) {
        own_warn(own,
                 "FORAGE_RESEARCH_USD does not hold: the price of %s is not known "
                 "(FORAGE_PRICES)",
                 model_label(own->model));
    }
    return OK;
}

/* The model that is named, else one that there is a key for. As model_choose(). */
static int choose_model(struct arena *arena, struct model **model, char *problem, size_t size)
{
    const char *text = config_text("FORAGE_RESEARCH_MODEL");
    text = text || config_text("FORAGE_MODEL") ? text : model_of_keys();
    return model_choose(arena, text, model, problem, size);
}

static int begin(struct own *own)
{
    struct arena *arena = call_arena(own->call);
    char problem[600];
    int status = choose_model(arena, &own->model, problem, sizeof problem);
    if (status == ERR_NOTFOUND || status == ERR_INVALID) {
        return call_fail(own->call, CODE_CONFIG_ERROR, "%s",
                         status == ERR_INVALID
                             ? problem
                             : "FORAGE_RESEARCH_WORKER=own needs a model: set "
                               "FORAGE_MODEL=provider:name, such as ollama:qwen3:8b");
    }
    sources_of_question(arena, &own->sources, own->request->question);
    if (!own->sources.count && !search_ready(problem, sizeof problem)) {
        return call_fail(own->call, CODE_CONFIG_ERROR,
                         "research of our own needs a search provider: %s", problem);
    }
    status = status == OK ? id_make_secret(own->tag) : status;
    status = status == OK ? moves_tools(arena, own->tools) : status;
    if (status != OK) {
        return status;
    }
    int64_t context = model_context(); /* in tokens of some four characters, for all of it */
    own->talk.room = context > 0 && context < ROOM ? (size_t)context : ROOM;
    own->prompt = prompt_of(own, "own-prompt", prompt_own);
    own->plain_prompt = prompt_of(own, "own-plain-prompt", prompt_own_plain);
    own->report_prompt = prompt_of(own, "own-report-prompt", prompt_own_report);
    own->judge_prompt = prompt_of(own, "own-judge-prompt", prompt_own_judge);
    return arena_failed(arena) ? ERR_NOMEM : set_allowances(own);
}

/* ---- what it follows on ---- */

/* The notes of the earlier research, whose pages are here: each is looked for once more. */
static int take_notes(struct own *own, yyjson_val *notes)
{
    size_t index, most;
    yyjson_val *note;
    yyjson_arr_foreach(notes, index, most, note)
    {
        const char *url = json_string(note, "url");
        size_t page = url ? evidence_page_of(own->evidence, url) : 0;
        size_t number = page ? evidence_add_note(own->evidence, json_string(note, "claim"),
                                                 json_string(note, "quote"), page)
                             : 0;
        const struct evidence_note *kept = evidence_note(own->evidence, number);
        if (kept) {
            own->notes = number > own->notes ? number : own->notes;
            own->facts += kept->grade == EVIDENCE_EXACT || kept->grade == EVIDENCE_NEAR;
        }
    }
    return arena_failed(call_arena(own->call)) ? ERR_NOMEM : OK;
}

/* Lets the model say what the question means by itself, and brings pages and notes along. A model
 * that cannot say it is no reason not to research. */
static int follow_on(struct own *own)
{
    struct arena *arena = call_arena(own->call);
    const struct follow *follow = own->request->follow;
    const char *words = own->request->question;
    struct model_reply *reply = arena_zalloc(arena, sizeof *reply);
    struct model_request request;
    struct call_error error;
    int status = reply ? follow_request(arena, follow, words, own->tag, &request) : ERR_NOMEM;
    if (status == OK) {
        status = own_ask(own, own->model, NULL, &request, reply);
    }
    bool said = status == OK && reply->stop != MODEL_REFUSED;
    if (status == ERR_FAILED || status == ERR_LIMIT || status == ERR_UNSUPPORTED) {
        call_take_error(own->call, &error);
        own_warn(own, "the model did not say what the question means: %s",
                 error.message ? error.message : "its context or its tokens did not suffice");
        own->stopped = NULL;
        status = OK;
    }
    if (status == OK) {
        own->question = follow_question(arena, follow, words, said ? reply : NULL);
        status = own->question ? follow_take_pages(arena, follow, journal_begun_ms(own->call),
                                                   own->evidence, &own->sources, SIZE_MAX)
                               : ERR_NOMEM;
    }
    own->parts[0].question = own->question;
    return status == OK ? take_notes(own, follow->notes) : status;
}

/* Nothing to report: what was tried. */
static int fail_without_evidence(struct own *own)
{
    struct arena *arena = call_arena(own->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *details = yyjson_mut_obj(doc);
    const struct sightings *seen = &own->seen;
    json_add_string(doc, details, "stopped", own->stopped);
    json_add_strings(doc, details, "searches", seen->queries.items, seen->queries.count);
    json_add_strings(doc, details, "pages_read", seen->sources.items, seen->sources.count);
    yyjson_mut_val *failed = yyjson_mut_obj_add_arr(doc, details, "pages_failed");
    for (size_t i = 0; i < own->sources.count; i++) {
        if (own->sources.items[i].trouble) {
            yyjson_mut_arr_add_str(doc, failed, own->sources.items[i].url);
        }
    }
    yyjson_mut_obj_add_uint(doc, details, "notes_without_source", own->notes);
    json_add_strings(doc, details, "warnings", seen->warnings.items, seen->warnings.count);
    call_fail(own->call, CODE_NO_EVIDENCE,
              "%zu searches and %zu pages brought no fact with a quote that is in a page, so there "
              "is no report (%s); ask in other words, or with another model",
              seen->queries.count, seen->sources.count, own->stopped);
    call_fail_details(own->call, json_text(arena, details, NULL));
    return ERR_FAILED;
}

static void fill_report(struct own *own, struct research_report *report)
{
    report->own = own;
    report->evidence = own->evidence;
    report->understood_as = own->request->follow ? own->question : NULL;
    report_sightings(&own->seen, report);
}

int own_run(struct call *call, const struct research_request *request,
            struct research_report *report)
{
    struct own *own = arena_zalloc(call_arena(call), sizeof *own);
    if (!own) {
        return ERR_NOMEM;
    }
    own->call = call;
    own->request = request;
    own->question = request->question;
    int status = sightings_init(&own->seen, call, request->max_rounds);
    own->evidence = own->seen.evidence;
    status = status == OK ? begin(own) : status;
    if (status == OK) {
        report->model = model_label(own->model);
        call_name_provider(call, report->model);
        status = request->follow ? follow_on(own) : OK;
    }
    if (status == OK) {
        status = run_turns(own);
    }
    if (status == OK && !own->facts) {
        status = fail_without_evidence(own);
    }
    if (status == OK) {
        status = writing_run(own, &report->text);
    }
    if (status == OK) {
        own_count(own, NULL);
        fill_report(own, report);
    }
    sightings_done(&own->seen);
    return status;
}

const char *own_model(struct arena *arena, char *lacks, size_t size)
{
    struct model *model;
    int status = choose_model(arena, &model, lacks, size);
    if (status == ERR_NOTFOUND) {
        snprintf(lacks, size, "set FORAGE_MODEL=provider:name");
    }
    return status == OK ? model_label(model) : NULL;
}

bool own_is_ready(char *lacks, size_t size)
{
    struct arena *arena = arena_new(MIB(1));
    const char *label = arena ? own_model(arena, lacks, size) : NULL;
    bool ready = label && search_ready(lacks, size);
    arena_free(arena);
    return ready;
}
