/* One request to a model: sent, judged, and where that helps sent again, as it was after a pause or
 * without what the server refuses. */
#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/id.h"
#include "guard/breaker.h"
#include "guard/charge.h"
#include "model/shared.h"
#include "model/stream.h"
#include "net/fetch.h"
#include "text/text.h"

#include <string.h>
#include <time.h>

#define MOST_RETRIES 2
#define MOST_LESSONS 8 /* learned from one request; a server that refuses everything is none */
#define MOST_HEADERS 6

/* One request on its way. */
struct model_exchange {
    struct call *call;
    struct model *model;
    const struct model_request *request;
    struct model_reply *reply;
    struct arena *work; /* of one try */
    unsigned choices;   /* in force */
    int64_t max_tokens;
    int64_t used, used_input; /* tokens of all tries, and those that the last one took in */
    int tries, retries, lessons;
    unsigned refused;    /* choices that were given up on the way: a lesson once a reply came */
    int64_t most_tokens; /* the same, of a reply; 0: none */
    int64_t loading_since_ms;
    bool grown;       /* asked for more tokens already */
    bool asked_anew;  /* after a reply with nothing in it */
    bool unavailable; /* it failed in a way that passes: the breaker counts it */
    /* Of the last try */
    size_t sent_bytes;
    struct charge charge;
    struct stream *stream;
    int64_t told_ms;
    struct fetch_response fetched;
    struct model_error error;
};

/* What to do after a try. */
enum model_next { NEXT_DONE, NEXT_AGAIN, NEXT_FAILED };

/* ---- sending ---- */

/* The variable that says how long a try may take, or else how long it may be silent. */
static const char *time_variable(const struct model_exchange *exchange)
{
    const char *variable = exchange->request->time_limit;
    return variable ? variable : "FORAGE_MODEL_TIMEOUT";
}

/* Milliseconds until the request has to be over. */
static int64_t time_left_ms(const struct model_exchange *exchange)
{
    int64_t left = call_time_left_ms(exchange->call);
    int64_t own = exchange->request->until_ms ? exchange->request->until_ms - clock_now_ms() : left;
    own = own > 0 ? own : 0;
    return own < left ? own : left;
}

static bool on_bytes(void *context, const char *data, size_t length)
{
    struct model_exchange *exchange = context;
    bool more = stream_feed(exchange->stream, data, length);
    int64_t now = clock_now_ms();
    size_t heard = stream_heard(exchange->stream);
    if (heard && now - exchange->told_ms >= TIME_REPLY_TOLD_MS) {
        exchange->told_ms = now;
        call_progress(exchange->call, 0, 0, "%s writes (%zu characters)", exchange->model->name,
                      heard);
    }
    return more;
}

static size_t put_headers(struct model_exchange *exchange, const struct dialect *dialect,
                          struct fetch_header headers[MOST_HEADERS])
{
    const struct model *model = exchange->model;
    size_t count = 0;
    headers[count++] = (struct fetch_header){"Content-Type", "application/json", false};
    headers[count++] = (struct fetch_header){
        "Accept", exchange->choices & CHOICE_STREAM ? "text/event-stream" : "application/json",
        false};
    headers[count++] = (struct fetch_header){"User-Agent", "forage/" FORAGE_VERSION, false};
    if (dialect->further_header) {
        headers[count++] =
            (struct fetch_header){dialect->further_header, dialect->further_value, false};
    }
    if (model->key) {
        bool bearer = model->bearer || !dialect->key_header;
        headers[count++] = (struct fetch_header){
            bearer ? "Authorization" : dialect->key_header,
            bearer ? arena_printf(exchange->work, "Bearer %s", model->key) : model->key, true};
    }
    return count;
}

/* The body of the request; NULL without memory. */
static const char *write_body(struct model_exchange *exchange, const struct dialect *dialect,
                              size_t *length)
{
    yyjson_mut_doc *doc = json_new(exchange->work);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    if (!root) {
        return NULL;
    }
    dialect->write(doc, root, exchange->model, exchange->request, exchange->choices,
                   exchange->max_tokens);
    return json_text(exchange->work, root, length);
}

/* Whether what is to be sent and the answer fit into the context that the operator named. */
static bool fits(const struct model_exchange *exchange)
{
    int64_t context = model_context();
    return context == 0 || exchange->request->search ||
           (int64_t)(exchange->sent_bytes / CHARGE_BYTES_OF_TOKEN) + exchange->max_tokens <=
               context;
}

/* As charge_fetch(), or charge_open(). */
static int send_charged(struct model_exchange *exchange, const struct fetch_request *request)
{
    const bool searches = exchange->request->search != NULL;
    const struct call_usage most = {
        .service = searches ? exchange->model->provider->search_service : NULL,
        .requests = searches,
        .model = model_priced_as(exchange->model),
        .input_tokens = (int64_t)(exchange->sent_bytes / CHARGE_BYTES_OF_TOKEN),
        .output_tokens = exchange->max_tokens,
    };
    int status = charge_open(exchange->call, &most, &exchange->charge);
    return status == OK ? charge_fetch(&exchange->charge, request, &exchange->fetched) : status;
}

/* As send_charged(); ERR_LIMIT: nothing was sent. */
static int send_request(struct model_exchange *exchange)
{
    const struct dialect *dialect = model_dialect(exchange->model, exchange->choices);
    struct fetch_header headers[MOST_HEADERS];
    struct url url;
    arena_reset(exchange->work);
    exchange->stream = stream_free(exchange->stream);
    exchange->stream = stream_new(call_arena(exchange->call), dialect, exchange->model->provider);
    const char *path = dialect->path(exchange->work, exchange->model, exchange->choices);
    const char *text =
        arena_printf(exchange->work, "%s%s", exchange->model->address, path ? path : "");
    struct fetch_request request = {
        .url = &url,
        .headers = headers,
        .header_count = put_headers(exchange, dialect, headers),
        .max_body_bytes = LIMIT_REPLY_BYTES,
        .timeout_ms = config_duration_ms(time_variable(exchange)),
        .timeout_of_all = exchange->request->time_limit != NULL,
        .until_ms = exchange->request->until_ms,
        .take = on_bytes,
        .take_context = exchange,
        .upstream = exchange->model->provider->name,
    };
    request.body = write_body(exchange, dialect, &request.body_length);
    if (!exchange->stream || !path || !text || !request.body || arena_failed(exchange->work)) {
        return ERR_NOMEM;
    }
    exchange->sent_bytes = request.body_length;
    if (!fits(exchange)) {
        return ERR_LIMIT;
    }
    exchange->tries++;
    exchange->told_ms = clock_now_ms();
    call_progress(exchange->call, exchange->request->search ? exchange->tries : 0, 0, "asking %s%s",
                  exchange->model->name, exchange->tries > 1 ? " again" : "");
    int status = fetch_parse(exchange->call, text, &url, &exchange->fetched);
    return status == OK ? send_charged(exchange, &request) : status;
}

/* ---- what it used ---- */

/* What one try used. Where the server does not count, the bytes that went and came do. Of a reply
 * that did not come whole nobody knows how much was written: that is charged as what was estimated
 * for it, so that asking and leaving does not get around a budget. */
static struct model_usage usage_of(const struct model_exchange *exchange, const struct draft *draft)
{
    struct model_usage used = draft->usage;
    bool whole = draft->seen && (draft->whole || draft->end != DRAFT_OPEN);
    int64_t most = exchange->charge.entry.amount.output_tokens;
    int64_t written = (int64_t)(stream_heard(exchange->stream) / CHARGE_BYTES_OF_TOKEN);
    if (!whole && !draft->failed && written < most) {
        written = most;
    }
    if (!draft->counted) {
        used.input_tokens = exchange->charge.entry.amount.input_tokens;
        used.estimated = true;
    }
    if ((!draft->counted || !whole || draft->failed) && written > used.output_tokens) {
        used.output_tokens = written;
        used.estimated = true;
    }
    return used;
}

/* Settles a try and adds what it used; nothing where it cost nothing. */
static void count_usage(struct model_exchange *exchange, const struct draft *draft)
{
    struct model_usage *sums = &exchange->reply->usage;
    const struct call_usage *most = &exchange->charge.entry.amount;
    const struct model_usage used = usage_of(exchange, draft);
    sums->estimated |= used.estimated;
    sums->input_tokens += used.input_tokens;
    sums->cached_tokens += used.cached_tokens;
    sums->output_tokens += used.output_tokens;
    sums->reasoning_tokens += used.reasoning_tokens;
    exchange->used += used.input_tokens + used.output_tokens;
    exchange->used_input = used.input_tokens;
    charge_settle(&exchange->charge,
                  &(struct call_usage){
                      .service = most->service,
                      .requests = draft->whole ? (int64_t)draft->searches : most->requests,
                      .model = model_priced_as(exchange->model),
                      .input_tokens = used.input_tokens,
                      .output_tokens = used.output_tokens,
                      .cached_tokens = used.cached_tokens,
                      .stored_tokens = used.stored_tokens,
                  });
}

/* Whether one more try stays within what all of them may take. A try that took nothing, because the
 * server refused it, leaves room for the next one. */
static bool affords_another(const struct model_exchange *exchange)
{
    int64_t most = exchange->request->most_in_all;
    return !most || !exchange->used ||
           exchange->used + exchange->used_input + exchange->max_tokens <= most;
}

/* ---- failing ---- */

/* Words of others for a message: short, and nothing in them that could disturb a terminal. */
static const char *tame(struct arena *arena, const char *words)
{
    char *copy = arena_alloc(arena, LIMIT_REPLY_WORDS_BYTES);
    struct text_out out;
    if (!words || !copy) {
        return NULL;
    }
    text_start(&out, copy, LIMIT_REPLY_WORDS_BYTES);
    text_put_quoted(&out, words, strlen(words), 300);
    return copy;
}

/* What the service said, as the end of a sentence. */
static const char *it_said(struct model_exchange *exchange)
{
    struct arena *arena = call_arena(exchange->call);
    const char *words = tame(arena, exchange->error.message);
    const char *said = words ? arena_printf(arena, " It says: %s", words) : NULL;
    return said ? said : "";
}

static enum model_next failed(struct model_exchange *exchange, bool unavailable)
{
    struct arena *arena = call_arena(exchange->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    const struct model_error *error = &exchange->error;
    json_add_string(doc, root, "upstream", exchange->model->provider->name);
    json_add_string(doc, root, "model", exchange->model->label);
    if (exchange->fetched.status) {
        yyjson_mut_obj_add_int(doc, root, "http_status", exchange->fetched.status);
    }
    json_add_string(doc, root, "upstream_code", error->code ? error->code : error->type);
    const char *header = fetch_header_value(&exchange->fetched, "x-request-id");
    char *id = header ? arena_strdup(arena, header) : NULL;
    if (id) {
        text_repair(id);
        json_add_string(doc, root, "upstream_request_id", id);
    }
    yyjson_mut_obj_add_int(doc, root, "tries", exchange->tries);
    call_fail_details(exchange->call, json_text(arena, root, NULL));
    exchange->unavailable = unavailable;
    return NEXT_FAILED;
}

/* ---- trying again ---- */

/* Twice as long each time, up to half of it less by chance, so that many do not come back at once.
 */
static int64_t backoff_ms(int retry)
{
    uint32_t chance = 0;
    int64_t most = (int64_t)TIME_REPLY_BACKOFF_MS << retry;
    if (id_random(&chance, sizeof chance) != OK) {
        chance = 0;
    }
    return most - chance % (uint32_t)(most / 2);
}

static int64_t asked_pause_ms(const struct model_exchange *exchange)
{
    const struct fetch_response *fetched = &exchange->fetched;
    int64_t header = clock_retry_after_ms(fetch_header_value(fetched, "retry-after-ms"),
                                          fetch_header_value(fetched, "retry-after"), time(NULL));
    return header >= 0 ? header : exchange->error.retry_ms;
}

/* A search is paid even where its answer is lost. */
static bool is_repeatable(const struct model_exchange *exchange)
{
    int status = exchange->fetched.status;
    return !exchange->request->search || status == 429 || status == 500 || status == 502 ||
           status == 503;
}

/* NEXT_AGAIN after a pause; NEXT_FAILED where there was none, because it was the last try or the
 * pause would be too long. */
static enum model_next take_pause(struct model_exchange *exchange, int *status)
{
    int64_t asked = asked_pause_ms(exchange);
    int64_t wait = asked >= 0 ? asked : backoff_ms(exchange->retries);
    if (exchange->retries == MOST_RETRIES || !is_repeatable(exchange) ||
        !affords_another(exchange) || wait > TIME_REPLY_PATIENCE_MS ||
        wait >= time_left_ms(exchange)) {
        return NEXT_FAILED;
    }
    exchange->retries++;
    *status = call_sleep(exchange->call, wait);
    return NEXT_AGAIN;
}

/* Once, after a reply with nothing in it. */
static bool may_ask_anew(struct model_exchange *exchange)
{
    bool may = !exchange->asked_anew && is_repeatable(exchange) && affords_another(exchange);
    exchange->asked_anew = true;
    return may;
}

static enum model_next judge_limited(struct model_exchange *exchange, int *status)
{
    if (take_pause(exchange, status) == NEXT_AGAIN) {
        return NEXT_AGAIN;
    }
    int64_t asked = asked_pause_ms(exchange);
    call_fail(exchange->call, CODE_RATE_LIMIT, "%s's rate limit is reached (tries: %d).%s",
              exchange->model->provider->title, exchange->tries, it_said(exchange));
    if (asked >= 0) {
        call_fail_retry_after(exchange->call, (int)((asked + 999) / 1000));
    }
    return failed(exchange, true);
}

/* A failure that may pass; `what` continues "Ollama". */
static enum model_next judge_passing(struct model_exchange *exchange, const char *code,
                                     const char *what, int *status)
{
    if (take_pause(exchange, status) == NEXT_AGAIN) {
        return NEXT_AGAIN;
    }
    call_fail(exchange->call, code, "%s %s (tries: %d).%s", exchange->model->provider->title, what,
              exchange->tries, it_said(exchange));
    return failed(exchange, true);
}

/* Reading a model into memory takes a minute; that is no failure. */
static enum model_next judge_loading(struct model_exchange *exchange, int *status)
{
    int64_t now = clock_now_ms();
    if (!exchange->loading_since_ms) {
        exchange->loading_since_ms = now;
    }
    if (now - exchange->loading_since_ms > TIME_REPLY_LOADING_MS) {
        return judge_passing(exchange, CODE_PROVIDER, "is still loading the model", status);
    }
    call_progress(exchange->call, 0, 0, "%s loads %s", exchange->model->provider->title,
                  exchange->model->name);
    *status = call_sleep(exchange->call, TIME_REPLY_LOADING_PAUSE_MS);
    return NEXT_AGAIN;
}

/* ---- learning ---- */

/* What held in this exchange is known to all from now on. */
static void share(struct model_exchange *exchange, unsigned refused, int64_t most_tokens)
{
    struct model *model = exchange->model;
    const struct parts *parts = call_parts(exchange->call);
    atomic_fetch_or(&model->refused, refused);
    if (most_tokens) {
        atomic_store(&model->most_tokens, most_tokens);
    }
    models_learn(parts ? parts->models : NULL, model, refused, most_tokens, clock_now_ms());
}

/* Leaves out what the server refuses. Whether that was it, the next try shows. */
static bool learn(struct model_exchange *exchange)
{
    const struct model_error *error = &exchange->error;
    int64_t most = failure_most_tokens(error, exchange->max_tokens);
    unsigned choice = most ? 0 : failure_choice(error, exchange->choices);
    if (choice == CHOICE_DIALECT && !exchange->model->provider->second) {
        choice = 0;
    }
    if ((!most && !choice) || exchange->lessons == MOST_LESSONS) {
        return false;
    }
    exchange->lessons++;
    if (most) {
        exchange->max_tokens = exchange->most_tokens = most;
    }
    exchange->choices &= ~choice;
    exchange->refused |= choice;
    return true;
}

static enum model_next judge_refused(struct model_exchange *exchange)
{
    const struct model_search *search = exchange->request->search;
    if (search && search->country &&
        failure_choice(&exchange->error, exchange->choices) == CHOICE_PLACE) {
        call_fail(exchange->call, CODE_VALIDATION, "%s does not take the region \"%s\".%s",
                  exchange->model->provider->title, search->country, it_said(exchange));
        return failed(exchange, false);
    }
    if (learn(exchange)) {
        return NEXT_AGAIN;
    }
    call_fail(exchange->call, CODE_PROVIDER, "%s refused the request (HTTP %d).%s",
              exchange->model->provider->title, exchange->fetched.status, it_said(exchange));
    return failed(exchange, false);
}

/* The path is not there: perhaps the server speaks the provider's other dialect. */
static enum model_next judge_address(struct model_exchange *exchange)
{
    const struct model *model = exchange->model;
    if (model->provider->second && !model->at_home && (exchange->choices & CHOICE_DIALECT) &&
        exchange->lessons < MOST_LESSONS) {
        exchange->lessons++;
        exchange->choices &= ~(unsigned)CHOICE_DIALECT;
        exchange->refused |= CHOICE_DIALECT;
        return NEXT_AGAIN;
    }
    const char *from = model->address_variable;
    call_fail(exchange->call, CODE_PROVIDER, "%s has no such interface at %s (HTTP 404).%s%s%s%s",
              model->provider->title, model->address, from ? " Check " : "", from ? from : "",
              from ? "." : "", it_said(exchange));
    return failed(exchange, false);
}

/* ---- judging ---- */

static enum model_next refuse_key(struct model_exchange *exchange)
{
    const struct model *model = exchange->model;
    const char *wanted = model->key_variable                 ? model->key_variable
                         : model->provider->key_variables[0] ? model->provider->key_variables[0]
                                                             : "FORAGE_MODEL_KEY";
    const char *words = exchange->error.message;
    bool about_key = !words || strcasestr(words, "key") || strcasestr(words, "token") ||
                     strcasestr(words, "auth") || strcasestr(words, "credential") ||
                     (model->key && strstr(words, model->key));
    if (exchange->fetched.status == 403 && !about_key) {
        call_fail(exchange->call, CODE_AUTH,
                  "%s does not allow the request (HTTP 403).%s Where that is about the key, set %s "
                  "to another one.",
                  model->provider->title, it_said(exchange), wanted);
        return failed(exchange, false);
    }
    /* What the service says here may show a part of the key. */
    call_fail(exchange->call, CODE_AUTH, "%s refused %s (HTTP %d). Set %s to a valid key.",
              model->provider->title, model->key ? "the key" : "to answer without a key",
              exchange->fetched.status, wanted);
    return failed(exchange, false);
}

static enum model_next judge_error(struct model_exchange *exchange, int http, int *status)
{
    const struct model *model = exchange->model;
    const char *title = model->provider->title;
    const char *should = http ? fetch_header_value(&exchange->fetched, "x-should-retry") : NULL;
    const char *code =
        http ? arena_printf(exchange->work, "failed with HTTP %d", http) : "broke its answer off";
    switch (failure_judge(&exchange->error, http, should, exchange->request->tool_count > 0)) {
    case FAILURE_LIMITED:
        return judge_limited(exchange, status);
    case FAILURE_LOADING:
        return judge_loading(exchange, status);
    case FAILURE_QUOTA:
        call_fail(exchange->call, CODE_RATE_LIMIT,
                  exchange->error.of_day ? "%s's quota of the day is used up.%s"
                                         : "%s has nothing left on this account.%s",
                  title, it_said(exchange));
        return failed(exchange, false);
    case FAILURE_AUTH:
        return refuse_key(exchange);
    case FAILURE_MODEL:
        call_fail(exchange->call, CODE_MODEL_NOT_FOUND, "%s has no model \"%s\".%s", title,
                  model->name, it_said(exchange));
        return failed(exchange, false);
    case FAILURE_ADDRESS:
        return judge_address(exchange);
    case FAILURE_CONTEXT:
        *status = ERR_LIMIT;
        return NEXT_FAILED;
    case FAILURE_NO_TOOLS:
        share(exchange, CHOICE_TOOLS, 0);
        *status = ERR_UNSUPPORTED;
        return NEXT_FAILED;
    case FAILURE_REFUSED:
        return judge_refused(exchange);
    case FAILURE_GARBLED:
        if (may_ask_anew(exchange)) {
            return NEXT_AGAIN;
        }
        exchange->reply->text = exchange->error.generation ? exchange->error.generation : "";
        exchange->reply->stop = MODEL_ENDED;
        return NEXT_DONE;
    case FAILURE_PASSING:
        return judge_passing(exchange, CODE_PROVIDER, code ? code : "failed", status);
    case FAILURE_OTHER:
        break;
    }
    call_fail(exchange->call, CODE_PROVIDER, "%s %s.%s", title, code ? code : "failed",
              it_said(exchange));
    return failed(exchange, http >= 500);
}

static enum model_next judge_transfer(struct model_exchange *exchange, int *status)
{
    static const enum fetch_failure PASSING[] = {FETCH_CONNECT, FETCH_BROKEN, FETCH_TIMEOUT,
                                                 FETCH_NAME_ERROR, FETCH_BUSY};
    const struct fetch_response *fetched = &exchange->fetched;
    const char *variable = time_variable(exchange);
    const char *from = exchange->model->address_variable;
    if (!time_left_ms(exchange)) {
        *status = ERR_DEADLINE;
        return NEXT_FAILED;
    }
    /* Whoever got the request may still work on it: the same again would take as long. */
    if (fetched->failure == FETCH_TIMEOUT && (fetched->sent || exchange->request->time_limit)) {
        call_fail(exchange->call, CODE_PROVIDER,
                  exchange->request->time_limit
                      ? "%s did not answer within %g seconds. Try again later, or raise %s."
                      : "%s sent nothing for %g seconds. Try again later, or raise %s.",
                  exchange->model->provider->title, (double)config_duration_ms(variable) / 1000,
                  variable);
        return failed(exchange, true);
    }
    bool passing = false;
    for (size_t i = 0; i < sizeof PASSING / sizeof *PASSING; i++) {
        passing = passing || fetched->failure == PASSING[i];
    }
    if (passing && take_pause(exchange, status) == NEXT_AGAIN) {
        return NEXT_AGAIN;
    }
    call_fail(exchange->call, CODE_PROVIDER,
              "%s could not be asked at %s: %s (tries: %d). Check the network%s%s.",
              exchange->model->provider->title, exchange->model->address,
              fetched->error ? fetched->error : "no answer", exchange->tries, from ? " and " : "",
              from ? from : "");
    return failed(exchange, true);
}

/* A reply with neither a text nor a use, which nobody refused. */
static enum model_next judge_nothing(struct model_exchange *exchange, const struct draft *draft)
{
    if (draft->end == DRAFT_CONTEXT) {
        return NEXT_FAILED;
    }
    if (draft->end == DRAFT_LENGTH) {
        /* All of it went into thinking. */
        bool may_grow = !exchange->grown && !exchange->most_tokens &&
                        atomic_load(&exchange->model->most_tokens) == 0;
        exchange->grown = true;
        exchange->max_tokens *= may_grow ? 2 : 1;
        return may_grow && fits(exchange) && affords_another(exchange) ? NEXT_AGAIN : NEXT_DONE;
    }
    if (may_ask_anew(exchange)) {
        return NEXT_AGAIN;
    }
    call_fail(exchange->call, CODE_PARSE, "%s's model %s answered with nothing (tries: %d).",
              exchange->model->provider->title, exchange->model->name, exchange->tries);
    return failed(exchange, false);
}

static enum model_next judge_reply(struct model_exchange *exchange, struct draft *draft,
                                   int *status)
{
    struct model_reply *reply = exchange->reply;
    const struct dialect *dialect = model_dialect(exchange->model, exchange->choices);
    *status = draft_finish(draft, exchange->request->message_count, reply);
    if (*status == OK) {
        reply->echo = dialect->echo(draft, reply);
        *status = reply->echo ? OK : ERR_NOMEM;
    }
    if (*status != OK) {
        return NEXT_FAILED;
    }
    if (!*reply->text && reply->use_count == 0 && reply->stop != MODEL_REFUSED) {
        enum model_next next = judge_nothing(exchange, draft);
        *status = next == NEXT_FAILED && draft->end == DRAFT_CONTEXT ? ERR_LIMIT : OK;
        return next;
    }
    return NEXT_DONE;
}

/* An answer with HTTP 200. A transfer that broke after the last event is none that matters. */
static enum model_next judge_answer(struct model_exchange *exchange, bool broken, int *status)
{
    const char *problem;
    struct draft *draft = stream_end(exchange->stream, &problem);
    count_usage(exchange, draft);
    if (draft->status == ERR_NOMEM) {
        *status = ERR_NOMEM;
        return NEXT_FAILED;
    }
    if (draft->failed) {
        exchange->error = draft->error;
        return judge_error(exchange, 0, status);
    }
    if (broken && !draft->whole && draft->end == DRAFT_OPEN) {
        return judge_transfer(exchange, status);
    }
    if (draft->status == ERR_LIMIT) {
        call_fail(exchange->call, CODE_PARSE, "%s's answer %s.", exchange->model->provider->title,
                  problem);
        return failed(exchange, true);
    }
    if (problem) {
        const char *what = arena_printf(exchange->work, "sent an answer that %s", problem);
        return judge_passing(exchange, CODE_PARSE, what ? what : "sent no answer", status);
    }
    return judge_reply(exchange, draft, status);
}

/* ---- all of it ---- */

static enum model_next try_once(struct model_exchange *exchange, int *status)
{
    exchange->error = (struct model_error){.retry_ms = -1};
    exchange->fetched = (struct fetch_response){0};
    exchange->charge = (struct charge){0};
    *status = send_request(exchange);
    bool broken = *status == ERR_FAILED;
    bool early = *status == ERR_DEADLINE || *status == ERR_CANCELLED;
    exchange->reply->usage.requests += *status == OK || broken || early;
    if (exchange->charge.call && (early || exchange->fetched.status != 200)) {
        const char *problem;
        count_usage(exchange, stream_end(exchange->stream, &problem));
    }
    if (*status != OK && !broken) {
        return NEXT_FAILED;
    }
    *status = OK;
    if (exchange->fetched.status == 200) {
        return judge_answer(exchange, broken, status);
    }
    /* A status that says what is wrong counts, also where the rest did not come: a server that
     * refuses may hang up while we still send. */
    if (broken && exchange->fetched.status < 400) {
        return judge_transfer(exchange, status);
    }
    error_read(call_arena(exchange->call), exchange->fetched.body, exchange->fetched.body_length,
               &exchange->error);
    return judge_error(exchange, exchange->fetched.status, status);
}

static int ask(struct model_exchange *exchange)
{
    enum model_next next = NEXT_AGAIN;
    int status = OK;
    while (next == NEXT_AGAIN && status == OK) {
        next = try_once(exchange, &status);
    }
    if (status == OK && next == NEXT_DONE) {
        /* A country that a later caller names is for the server to refuse. */
        share(exchange, exchange->refused & ~(unsigned)CHOICE_PLACE, exchange->most_tokens);
    }
    return status != OK ? status : next == NEXT_DONE ? OK : ERR_FAILED;
}

static int refuse_resting(struct call *call, const struct model *model, int64_t wait_ms)
{
    int seconds = (int)(wait_ms / 1000) + 1;
    call_fail(call, CODE_PROVIDER,
              "%s failed several times in a row and is left alone for a while. Try again in %d "
              "seconds.",
              model->provider->title, seconds);
    call_fail_retry_after(call, seconds);
    return ERR_FAILED;
}

/* The tokens to ask for: what the caller wants, no more than the operator allows, and no more than
 * a quarter of a context that the operator named, so that the question fits beside the answer. */
static int64_t tokens_wanted(const struct model_request *request)
{
    if (request->search) {
        return request->max_tokens; /* those variables are about the model of FORAGE_MODEL */
    }
    int64_t most = config_int("FORAGE_MODEL_MAX_TOKENS");
    int64_t quarter = model_context() / 4;
    int64_t wanted = request->max_tokens ? request->max_tokens : most;
    if (config_is_set("FORAGE_MODEL_MAX_TOKENS") && most < wanted) {
        wanted = most;
    }
    return quarter && quarter < wanted ? quarter : wanted;
}

int model_ask(struct call *call, struct model *model, const struct model_request *request,
              struct model_reply *reply)
{
    struct models *models = call_parts(call) ? call_parts(call)->models : NULL;
    models_recall(models, model, clock_now_ms());
    unsigned refused = atomic_load(&model->refused);
    int64_t most = atomic_load(&model->most_tokens);
    int64_t wanted = tokens_wanted(request);
    struct model_exchange exchange = {
        .call = call,
        .model = model,
        .request = request,
        .reply = reply,
        .choices = model->provider->choices & ~refused,
        .max_tokens = most && most < wanted ? most : wanted,
        .work = arena_new(LIMIT_CALL_ARENA_BYTES),
    };
    if (request->search && !request->search->temperature) {
        exchange.choices &= ~(unsigned)CHOICE_TEMPERATURE;
    }
    *reply = (struct model_reply){.text = "", .usage = reply->usage};
    int64_t wait_ms = 0;
    int status = !exchange.work ? ERR_NOMEM
                 : (request->tool_count && (refused & CHOICE_TOOLS)) ||
                         (request->search && !model->provider->search_service)
                     ? ERR_UNSUPPORTED
                     : models_admit(models, model, &wait_ms);
    if (status == ERR_BUSY) {
        status = refuse_resting(call, model, wait_ms);
    } else if (status == OK) {
        status = ask(&exchange);
        models_report(models, model,
                      exchange.unavailable ? BREAKER_FAILED
                      : exchange.tries == 0 || status == ERR_CANCELLED || status == ERR_DEADLINE ||
                              status == ERR_NOMEM || status == ERR_BUSY
                          ? BREAKER_UNKNOWN
                          : BREAKER_ANSWERED,
                      status == ERR_FAILED ? call_error(call)->message : NULL);
        status = status == ERR_BUSY ? ERR_FAILED : status; /* the call's error is BUDGET */
    }
    stream_free(exchange.stream);
    arena_free(exchange.work);
    return status;
}
