/* Limits, cached answers and records around every tool. */
#include "ops/ledger.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "guard/callers.h"
#include "guard/charge.h"
#include "ops/answers.h"
#include "ops/keeper.h"
#include "text/packed.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BUDGET_USD 1e6

struct ledger {
    struct limiter *limiter;
    struct limit_rules *limits;
    struct keeper *keeper;
    struct prices *prices;
    struct charges charges;
    struct answers *answers;
    struct admission_rules rules;
    bool history;
    bool notes_all;           /* calls of tools that ask nobody outside, too */
    ledger_settings settings; /* may be NULL */
};

/* An answer to be stored, and the name of its question. */
struct named_answer {
    const char *json; /* NULL: there is none */
    unsigned char key[SHA256_SIZE];
};

static const char *caller_name(const struct call *call)
{
    const struct caller *caller = call_caller(call);
    return caller ? caller->name : "";
}

/* ---- before ---- */

static int admit(void *context, struct call *call, const struct entry *entry, unsigned more)
{
    const struct ledger *ledger = context;
    struct admission_tool tool = {
        .name = entry->name, .quick = entry->quick, .paid = entry->paid, .more = more};
    return admission_check(&ledger->rules, call, &tool);
}

/* Whether the answers of a caller are stored in the database too: where what was asked is, what was
 * paid for, and for the command line and its like, each run of which is a process of its own. */
static bool stores_answers(const struct ledger *ledger, const struct call *call,
                           const struct entry *entry)
{
    return ledger->history && entry->paid && call_caller(call) == caller_local();
}

/* The name of a question: what is asked, of which tool, and the settings that decide the answer. */
static bool name_question(const struct ledger *ledger, unsigned char key[SHA256_SIZE],
                          struct call *call, const struct entry *entry, yyjson_val *arguments)
{
    struct buf tool;
    buf_init(&tool, KIB(64));
    /* What fits into a large result depends on how it goes out. */
    buf_printf(&tool, "%s\n%s", entry->name,
               entry->large && call_takes_text(call) ? "as text\n" : "");
    if (ledger->settings) {
        ledger->settings(&tool);
    }
    const char *tried = call_tried(call);
    if (tried) { /* another arm has other answers, whatever it differs in */
        buf_append(&tool, tried, tried_length(tried, 2));
        buf_putc(&tool, '\n');
    }
    bool named = buf_error(&tool) == OK &&
                 answers_key(key, call_arena(call), caller_name(call), tool.data, arguments);
    buf_done(&tool);
    return named;
}

/* Whether the results of a tool tell that they are of an earlier call. */
static bool says_so(const struct entry *entry)
{
    return yyjson_obj_get(yyjson_obj_get(entry->output_schema, "properties"), "cached") != NULL;
}

static bool recall(void *context, struct call *call, const struct entry *entry,
                   yyjson_val *arguments, struct reply *reply)
{
    const struct ledger *ledger = context;
    unsigned char key[SHA256_SIZE];
    struct arena *arena = call_arena(call);
    size_t length = 0;
    if (call_asks_anew(call) || !name_question(ledger, key, call, entry, arguments)) {
        return false;
    }
    const char *json = answers_find(ledger->answers, key, arena, &length);
    if (!json && stores_answers(ledger, call, entry) &&
        keeper_find_answer(ledger->keeper, call, key, &json, &reply->kept_at_ms) == OK) {
        length = strlen(json);
    }
    yyjson_doc *doc = json ? json_parse(arena, json, length, NULL) : NULL;
    reply->structured = doc ? json_copy(reply->doc, yyjson_doc_get_root(doc)) : NULL;
    reply->kept_at_ms = reply->structured ? reply->kept_at_ms : 0;
    if (reply->structured && says_so(entry)) {
        yyjson_mut_obj_add_bool(reply->doc, reply->structured, "cached", true);
    }
    return reply->structured != NULL;
}

/* ---- after ---- */

/* A copy in the arena; NULL without memory. */
static const char *without_secrets(struct arena *arena, const char *json)
{
    struct buf text;
    buf_init(&text, 2 * LIMIT_KEPT_ANSWER_BYTES);
    buf_puts(&text, json);
    redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
    return buf_to_arena(&text, arena);
}

/* Keeps an answer in memory; what is to be stored of it. */
static struct named_answer keep_answer(const struct ledger *ledger, struct call *call,
                                       const struct entry *entry, const struct outcome *outcome)
{
    struct named_answer kept = {0};
    struct arena *arena = call_arena(call);
    size_t length = 0;
    bool worth = entry->keep_ms > 0 && !outcome->failed && !outcome->recalled &&
                 outcome->reply->structured && !outcome->reply->content && call_may_keep(call);
    if (worth && name_question(ledger, kept.key, call, entry, outcome->arguments)) {
        const char *json = json_text(arena, outcome->reply->structured, &length);
        if (json) {
            answers_keep(ledger->answers, caller_name(call), kept.key, json, length,
                         entry->keep_ms);
        }
        if (json && stores_answers(ledger, call, entry) && length <= LIMIT_KEPT_ANSWER_BYTES) {
            kept.json = without_secrets(arena, json);
        }
    }
    return kept;
}

/* The arguments for the history, without secrets: whole, or, where they are long, the beginning of
 * what was asked for. NULL without memory. */
static const char *describe_arguments(struct call *call, yyjson_val *arguments)
{
    struct arena *arena = call_arena(call);
    struct buf text;
    const char *copy = NULL;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    if (json_write_immutable(&text, arena, arguments) == OK && text.length > LIMIT_HISTORY_BYTES) {
        const char *query = registry_query_of(arguments);
        yyjson_mut_doc *doc = json_new(arena);
        yyjson_mut_val *brief = yyjson_mut_obj(doc);
        size_t length = query ? strlen(query) : 0;
        yyjson_mut_obj_add_strncpy(doc, brief, "cut", query ? query : "",
                                   text_prefix(query ? query : "", length, 500));
        buf_clear(&text);
        json_write(&text, arena, brief);
    }
    redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
    if (buf_error(&text) == OK) {
        copy = arena_strdup(arena, text.data);
    }
    buf_done(&text);
    return copy;
}

/* What every record says. */
static struct record begin_record(const struct call *call, const struct entry *entry,
                                  const struct outcome *outcome)
{
    const struct call_error *error = call_error(call);
    const struct call_usage used = call_used(call);
    return (struct record){
        .caller = caller_name(call),
        .tool = entry->name,
        .provider = call_provider(call),
        .at_ms = clock_wall_ms(),
        .took_us = outcome->took_us,
        .code = error             ? error->code
                : outcome->failed ? "ERROR"
                                  : NULL,
        .recalled = outcome->recalled,
        .input_tokens = used.input_tokens,
        .output_tokens = used.output_tokens,
        .nano_usd = used.nano_usd,
    };
}

/* What came of a call, without secrets, for the history. A result that is too long is left out:
 * whoever looks is told so. */
static void pack_result(struct call *call, const struct reply *reply, struct record *record)
{
    struct arena *arena = call_arena(call);
    struct buf text;
    buf_init(&text, LIMIT_HISTORY_ONE_BYTES);
    if (reply->structured && json_write(&text, arena, reply->structured) == OK) {
        redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
    }
    if (text.data && buf_error(&text) == OK) {
        record->result = packed_text(arena, text.data, text.length, &record->result_size);
    }
    buf_done(&text);
}

void ledger_make_record(const struct ledger *ledger, struct call *call, const struct entry *entry,
                        const struct outcome *outcome, struct record *record)
{
    *record = begin_record(call, entry, outcome);
    if (ledger->history) {
        record->arguments = describe_arguments(call, outcome->arguments);
        pack_result(call, outcome->reply, record);
    }
}

void ledger_record(const struct ledger *ledger, struct call *call, const struct record *record)
{
    int status = keeper_record(ledger->keeper, call, record, NULL);
    if (status != OK && !call_cancelled(call)) {
        /* The answer was paid for and goes out all the same; the keeper tries again. */
        log_debug(call_request_id(call), "its usage is not on the disk yet: %s",
                  status_name(status));
    }
}

/* An entry of a charge. The call may be over, or forage's own. */
static void enter(void *context, struct call *call, const struct charge_entry *entry,
                  struct spending *spent)
{
    const struct ledger *ledger = context;
    const struct caller *caller = call_caller(call);
    const struct record record = {
        .caller = caller ? caller->name : "forage",
        .tool = call_booked_tool(call),
        .job = call_booked_job(call),
        .provider = entry->provider ? entry->provider : "",
        .at_ms = entry->at_ms,
        .charge = true,
        .input_tokens = entry->amount.input_tokens,
        .output_tokens = entry->amount.output_tokens,
        .nano_usd = entry->amount.nano_usd,
        .unpriced = entry->amount.unpriced,
    };
    if (keeper_record(ledger->keeper, call, &record, spent) != OK) {
        /* it is written once the database works again; what others spend is not known until then */
    }
}

void ledger_try(const struct ledger *ledger, struct call *call, const struct trial *trial)
{
    keeper_try(ledger->keeper, call, trial);
}

static void settle(void *context, struct call *call, const struct entry *entry,
                   const struct outcome *outcome)
{
    const struct ledger *ledger = context;
    struct named_answer kept = keep_answer(ledger, call, entry, outcome);
    struct record record;
    if (!entry->quick && !entry->outside && ledger->notes_all) {
        record = begin_record(call, entry, outcome);
        keeper_note(ledger->keeper, &record);
    } else if (!entry->quick && entry->outside) {
        ledger_make_record(ledger, call, entry, outcome, &record);
        record.answer = kept.json;
        memcpy(record.answer_key, kept.key, sizeof record.answer_key);
        ledger_record(ledger, call, &record);
    }
}

/* ---- its life ---- */

/* "2.50", in billionths of a dollar; negative when it is no amount. */
static int64_t read_budget(const char *variable)
{
    const char *text = config_text(variable);
    char *end;
    if (!text || !*text) {
        return 0;
    }
    double dollars = strtod(text, &end);
    bool good =
        end != text && !*end && isfinite(dollars) && dollars >= 0 && dollars <= MOST_BUDGET_USD;
    return good ? (int64_t)llround(dollars * (double)NANO_PER_USD) : -1;
}

static int read_budgets(struct admission_rules *rules, char *problem, size_t size)
{
    static const char *const VARIABLES_OF[] = {"FORAGE_DAILY_BUDGET_USD",
                                               "FORAGE_DAILY_BUDGET_TOTAL_USD"};
    int64_t *const budgets[] = {&rules->budget_nano, &rules->total_budget_nano};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        *budgets[i] = read_budget(VARIABLES_OF[i]);
        if (*budgets[i] < 0) {
            snprintf(problem, size, "%s: \"%.40s\" is not an amount in dollars, such as 2.50",
                     VARIABLES_OF[i], config_text(VARIABLES_OF[i]));
            return ERR_INVALID;
        }
    }
    return OK;
}

static int build(struct ledger *ledger, const struct places *places, char *problem, size_t size)
{
    int64_t time_to_live_ms = config_duration_ms("FORAGE_ANSWER_CACHE_TTL");
    ledger->limits = limit_rules_new(config_list("FORAGE_LIMITS", NULL),
                                     config_list("FORAGE_LIMITS_TOTAL", NULL), problem, size);
    if (!ledger->limits || read_budgets(&ledger->rules, problem, size) != OK) {
        return ERR_INVALID;
    }
    ledger->prices = prices_new(config_text("FORAGE_PRICES"), problem, size);
    if (!ledger->prices) {
        return ERR_INVALID;
    }
    snprintf(problem, size, "out of memory");
    ledger->history = config_bool("FORAGE_HISTORY");
    ledger->limiter = limiter_new();
    ledger->keeper = keeper_new(records_open, places, ledger->history ? time_to_live_ms : 0);
    ledger->answers = answers_new();
    ledger->charges = (struct charges){ledger->prices, &ledger->rules, ledger, enter};
    ledger->rules.limiter = ledger->limiter;
    ledger->rules.limits = ledger->limits;
    ledger->rules.shared = (struct shared_counts){ledger->keeper, keeper_take};
    ledger->rules.calls_per_minute = config_int("FORAGE_CALLS_PER_MINUTE");
    return ledger->limiter && ledger->keeper && ledger->answers ? OK : ERR_NOMEM;
}

struct ledger *ledger_new(const struct places *places, char *problem, size_t size)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    return build(ledger, places, problem, size) == OK ? ledger : ledger_free(ledger);
}

struct ledger *ledger_free(struct ledger *ledger)
{
    if (ledger) {
        keeper_free(ledger->keeper);
        answers_free(ledger->answers);
        prices_free(ledger->prices);
        limiter_free(ledger->limiter);
        limit_rules_free(ledger->limits);
        free(ledger);
    }
    return NULL;
}

bool ledger_stop(struct ledger *ledger, int64_t time_ms)
{
    return keeper_stop(ledger->keeper, time_ms);
}

void ledger_note_all(struct ledger *ledger)
{
    ledger->notes_all = true;
}

void ledger_forget(struct ledger *ledger, const char *caller)
{
    answers_forget(ledger->answers, caller);
}

void ledger_attach(struct ledger *ledger, struct registry *registry, ledger_settings settings)
{
    ledger->settings = settings;
    const char *tool;
    for (size_t i = 0; (tool = limit_rules_tool(ledger->limits, i)) != NULL; i++) {
        bool chosen = config_is_set("FORAGE_LIMITS") || config_is_set("FORAGE_LIMITS_TOTAL");
        if (chosen && strcmp(tool, "*") != 0 && !registry_tool(registry, tool) &&
            strncmp(DEFAULT_LIMITS, tool, strlen(tool)) != 0) {
            log_warn(NULL, "FORAGE_LIMITS: there is no tool \"%s\" here", tool);
        }
    }
    registry->gate = (struct gate){ledger, admit, recall, settle};
}

uint64_t ledger_unnoted(const struct ledger *ledger)
{
    return keeper_unnoted(ledger->keeper);
}

const struct admission_rules *ledger_rules(const struct ledger *ledger)
{
    return &ledger->rules;
}

const struct charges *ledger_charges(const struct ledger *ledger)
{
    return &ledger->charges;
}

struct pace_store ledger_turns(struct ledger *ledger)
{
    return (struct pace_store){ledger->keeper, keeper_take_turn, keeper_end_turn};
}

const char *ledger_waits_since(const struct ledger *ledger, int64_t *since_ms)
{
    return keeper_waits_since(ledger->keeper, since_ms);
}
