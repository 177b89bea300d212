/* Asks the Responses API, and judges what came: an answer, a reason to try again, or a failure. */
#include "answer/openai.h"

#include "call/errors.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/charge.h"
#include "net/fetch.h"
#include "text/json.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_RETRIES 2

static const char OPENAI_SEARCH[] = "openai_web_search"; /* its price has that name */

/* One question on its way. */
struct exchange {
    struct call *call;
    const struct openai_settings *settings;
    const struct openai_question *question;
    struct response *response;
    struct openai_account *account;
    unsigned choices; /* what is sent */
    int64_t max_tokens;
    int retries; /* after 429 and 5xx */
    bool grown;  /* asked for more tokens already */
    /* Of the last try */
    struct charge charge;
    struct fetch_response fetched;
    struct response_error error;
};

/* What to do after a try. */
enum next { NEXT_DONE, NEXT_AGAIN, NEXT_FAILED };

/* ---- the request ---- */

/* As charge_fetch(), or charge_open(). */
static int send_charged(struct exchange *exchange, const struct fetch_request *request)
{
    const struct call_usage most = {
        .service = OPENAI_SEARCH,
        .requests = 1,
        .model = exchange->settings->model,
        .input_tokens = (int64_t)(request->body_length / CHARGE_BYTES_OF_TOKEN),
        .output_tokens = exchange->max_tokens,
    };
    int status = charge_open(exchange->call, &most, &exchange->charge);
    return status == OK ? charge_fetch(&exchange->charge, request, &exchange->fetched) : status;
}

static int send_request(struct exchange *exchange)
{
    struct arena *arena = call_arena(exchange->call);
    const struct openai_settings *settings = exchange->settings;
    size_t base = strlen(settings->base_url);
    while (base > 0 && settings->base_url[base - 1] == '/') {
        base--;
    }
    struct fetch_header headers[] = {
        {.name = "Content-Type", .value = "application/json"},
        {.name = "Accept", .value = "application/json"},
        {.name = "User-Agent", .value = "forage/" FORAGE_VERSION},
        {.name = "Authorization", .secret = true},
    };
    headers[3].value = settings->key ? arena_printf(arena, "Bearer %s", settings->key) : NULL;
    const char *text = arena_printf(arena, "%.*s/responses", (int)base, settings->base_url);
    struct url url;
    struct fetch_request request = {
        .url = &url,
        .headers = headers,
        .header_count = settings->key ? 4 : 3,
        .max_body_bytes = LIMIT_ANSWER_BYTES,
        .timeout_ms = settings->timeout_ms,
        .upstream = "openai",
    };
    request.body = openai_body(arena, settings, exchange->question, exchange->choices,
                               exchange->max_tokens, &request.body_length);
    if (!request.body || !text || arena_failed(arena)) {
        return ERR_NOMEM;
    }
    exchange->account->tries++;
    call_progress(exchange->call, exchange->account->tries, 0, "asking %s%s", settings->model,
                  exchange->account->tries > 1 ? " again" : "");
    int status = fetch_parse(exchange->call, text, &url, &exchange->fetched);
    return status == OK ? send_charged(exchange, &request) : status;
}

/* ---- failing ---- */

/* Words of others: cut, made valid UTF-8, and without what could disturb a terminal; NULL stays
 * NULL. */
static const char *quoted(struct arena *arena, const char *words)
{
    char *copy = words ? arena_strndup(arena, words, text_prefix(words, strlen(words), 300)) : NULL;
    if (!copy) {
        return NULL;
    }
    text_repair(copy);
    for (char *at = copy; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7F) {
            *at = ' ';
        }
    }
    return copy;
}

static void add_details(struct exchange *exchange)
{
    struct arena *arena = call_arena(exchange->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    json_add_string(doc, root, "upstream", "openai");
    if (exchange->fetched.status) {
        yyjson_mut_obj_add_int(doc, root, "http_status", exchange->fetched.status);
    }
    const char *code = exchange->error.code ? exchange->error.code : exchange->error.type;
    json_add_string(doc, root, "upstream_code", quoted(arena, code));
    const char *id = fetch_header_value(&exchange->fetched, "x-request-id");
    json_add_string(doc, root, "upstream_request_id", quoted(arena, id));
    yyjson_mut_obj_add_int(doc, root, "tries", exchange->account->tries);
    call_fail_details(exchange->call, json_text(arena, root, NULL));
}

/* What the API said, as the end of a sentence. */
static const char *it_said(struct exchange *exchange)
{
    struct arena *arena = call_arena(exchange->call);
    const char *message = quoted(arena, exchange->error.message);
    const char *words = message ? arena_printf(arena, "; it says: %s", message) : NULL;
    return words ? words : "";
}

static enum next failed(struct exchange *exchange, bool unavailable)
{
    exchange->account->unavailable = unavailable;
    add_details(exchange);
    return NEXT_FAILED;
}

/* ---- when a try brought no answer ---- */

static enum next judge_transfer(struct exchange *exchange)
{
    const struct fetch_response *fetched = &exchange->fetched;
    if (fetched->failure == FETCH_TIMEOUT) {
        call_fail(exchange->call, CODE_PROVIDER,
                  "OpenAI did not answer within %g seconds. Try again later, or raise "
                  "FORAGE_ANSWER_TIMEOUT.",
                  (double)exchange->settings->timeout_ms / 1000);
    } else {
        call_fail(exchange->call, CODE_PROVIDER,
                  "OpenAI could not be asked: %s. Check the network and OPENAI_BASE_URL.",
                  fetched->error ? fetched->error : "no answer");
    }
    return failed(exchange, true);
}

/* OK after the pause before the next try; ERR_BUSY when it would take too long. */
static int wait_before_retry(struct exchange *exchange, int64_t asked_ms)
{
    int64_t own = openai_backoff_ms(exchange->retries);
    int64_t wait = asked_ms < 0 ? own : asked_ms + own / 10;
    if (wait > TIME_ANSWER_PATIENCE_MS || wait >= call_time_left_ms(exchange->call)) {
        return ERR_BUSY;
    }
    return call_sleep(exchange->call, wait);
}

static bool quota_is_used_up(const struct response_error *error)
{
    return (error->code && strcmp(error->code, "insufficient_quota") == 0) ||
           (error->type && strcmp(error->type, "insufficient_quota") == 0);
}

static enum next give_up(struct exchange *exchange, int64_t asked_ms)
{
    int http = exchange->fetched.status;
    const char *said = it_said(exchange);
    if (http == 429 && quota_is_used_up(&exchange->error)) {
        call_fail(exchange->call, CODE_RATE_LIMIT,
                  "The OpenAI account has no quota left. Check its plan and billing%s", said);
        return failed(exchange, false);
    }
    if (http == 429) {
        call_fail(exchange->call, CODE_RATE_LIMIT,
                  "OpenAI's rate limit is reached (%d tries). Wait and try again%s",
                  exchange->account->tries, said);
    } else {
        call_fail(exchange->call, CODE_PROVIDER,
                  "OpenAI failed with HTTP %d (%d tries). Try again later%s", http,
                  exchange->account->tries, said);
    }
    if (asked_ms >= 0) {
        call_fail_retry_after(exchange->call, (int)((asked_ms + 999) / 1000));
    }
    return failed(exchange, true);
}

static enum next judge_passing_failure(struct exchange *exchange, int *status)
{
    const struct fetch_response *fetched = &exchange->fetched;
    int64_t asked = clock_retry_after_ms(fetch_header_value(fetched, "retry-after-ms"),
                                         fetch_header_value(fetched, "retry-after"), time(NULL));
    bool quota = fetched->status == 429 && quota_is_used_up(&exchange->error);
    if (quota || exchange->retries == MOST_RETRIES) {
        return give_up(exchange, asked);
    }
    *status = wait_before_retry(exchange, asked);
    if (*status == ERR_BUSY) {
        *status = OK;
        return give_up(exchange, asked);
    }
    exchange->retries++;
    return *status == OK ? NEXT_AGAIN : NEXT_FAILED;
}

/* ---- a request that was refused ---- */

static enum next judge_refused_request(struct exchange *exchange)
{
    unsigned choice = openai_choice(exchange->error.param);
    if (choice == OPENAI_LOCATION && exchange->question->country) {
        call_fail(exchange->call, CODE_VALIDATION, "region: OpenAI does not take \"%s\"%s",
                  exchange->question->country, it_said(exchange));
        return failed(exchange, false);
    }
    if (exchange->choices & choice) {
        exchange->choices &= ~choice;
        return NEXT_AGAIN;
    }
    call_fail(exchange->call, CODE_PROVIDER, "OpenAI refused the request (HTTP 400)%s",
              it_said(exchange));
    return failed(exchange, false);
}

static enum next judge_failure(struct exchange *exchange, int *status)
{
    response_parse_error(call_arena(exchange->call), exchange->fetched.body,
                         exchange->fetched.body_length, &exchange->error);
    int http = exchange->fetched.status;
    switch (http) {
    case 429:
    case 500:
    case 502:
    case 503:
        return judge_passing_failure(exchange, status);
    case 400:
        return judge_refused_request(exchange);
    case 401:
    case 403:
        /* What the API says here may show a part of the key. */
        call_fail(exchange->call, CODE_AUTH,
                  http == 401 ? "OpenAI refused the key (HTTP 401). Set OPENAI_API_KEY to a valid "
                                "key."
                              : "OpenAI refused access (HTTP 403). The key in OPENAI_API_KEY may "
                                "not use this model or comes from a country that is not served.");
        return failed(exchange, false);
    case 404:
        call_fail(exchange->call, CODE_PROVIDER,
                  "OpenAI knows no such model or address (HTTP 404). Check FORAGE_ANSWER_MODEL "
                  "and OPENAI_BASE_URL%s",
                  it_said(exchange));
        return failed(exchange, false);
    default:
        call_fail(exchange->call, CODE_PROVIDER, "OpenAI answered with HTTP %d%s", http,
                  it_said(exchange));
        return failed(exchange, http >= 500);
    }
}

/* ---- an answer ---- */

/* Why an answer without a text has none. */
static enum next judge_no_text(struct exchange *exchange)
{
    struct arena *arena = call_arena(exchange->call);
    const struct response *response = exchange->response;
    const char *reason = quoted(arena, response->reason);
    if (response->refusal) {
        call_fail(exchange->call, CODE_PARSE, "The model refused to answer: %s",
                  quoted(arena, response->refusal));
    } else if (response->state == RESPONSE_INCOMPLETE) {
        bool tokens = !reason || strcmp(reason, "max_output_tokens") == 0;
        if (tokens && !exchange->grown && (exchange->choices & OPENAI_MAX_TOKENS)) {
            exchange->grown = true;
            exchange->max_tokens *= 2;
            return NEXT_AGAIN;
        }
        call_fail(exchange->call, CODE_PARSE,
                  "The answer ended before there was any text, because of %s.%s",
                  reason ? reason : "an unknown reason",
                  tokens ? " Ask for less, or raise FORAGE_ANSWER_MAX_TOKENS." : "");
    } else {
        call_fail(exchange->call, CODE_PARSE, "OpenAI's answer has no text (its status is %s).",
                  reason ? reason : "not said");
    }
    return failed(exchange, false);
}

/* A failure inside of HTTP 200. */
static enum next judge_reported_failure(struct exchange *exchange)
{
    const struct response *response = exchange->response;
    exchange->error =
        (struct response_error){.code = response->error_code, .message = response->error_message};
    bool limit = response->error_code && strcmp(response->error_code, "rate_limit_exceeded") == 0;
    call_fail(exchange->call, limit ? CODE_RATE_LIMIT : CODE_PROVIDER,
              "OpenAI could not make an answer%s", it_said(exchange));
    return failed(exchange, true);
}

/* What an answer used; where it does not say, by the bytes that went and came. */
static void settle(struct exchange *exchange)
{
    const struct response *response = exchange->response;
    struct call_usage used = exchange->charge.entry.amount;
    used.requests = (int64_t)response->searches;
    used.output_tokens = (int64_t)(exchange->fetched.body_length / CHARGE_BYTES_OF_TOKEN);
    if (response->has_usage) {
        used.input_tokens = response->input_tokens;
        used.output_tokens = response->output_tokens;
        used.cached_tokens = response->cached_tokens;
    }
    charge_settle(&exchange->charge, &used);
}

static enum next judge_answer(struct exchange *exchange, int *status)
{
    const char *problem;
    const struct response *response = exchange->response;
    *status = response_parse(call_arena(exchange->call), exchange->fetched.body,
                             exchange->fetched.body_length, exchange->response, &problem);
    if (*status == ERR_INVALID) {
        *status = OK;
        call_fail(exchange->call, CODE_PARSE, "OpenAI's answer %s.", problem);
        return failed(exchange, true);
    }
    if (*status != OK) {
        return NEXT_FAILED;
    }
    if (response->has_usage) {
        exchange->account->input_tokens += response->input_tokens;
        exchange->account->output_tokens += response->output_tokens;
    }
    settle(exchange);
    if (response->state == RESPONSE_FAILED) {
        return judge_reported_failure(exchange);
    }
    if (response->part_count == 0) {
        return judge_no_text(exchange);
    }
    if (response->searches == 0) {
        call_fail(exchange->call, CODE_PARSE,
                  response->failed_searches
                      ? "The web search behind the answer failed, so it is not passed on."
                      : "The model answered without searching the web, so its answer is not "
                        "passed on. Ask for something that can be looked up.");
        return failed(exchange, false);
    }
    return NEXT_DONE;
}

/* ---- all of it ---- */

int openai_ask(struct call *call, const struct openai_settings *settings,
               const struct openai_question *question, struct response *response,
               struct openai_account *account)
{
    *account = (struct openai_account){0};
    struct exchange exchange = {
        .call = call,
        .settings = settings,
        .question = question,
        .response = response,
        .account = account,
        .choices = settings->temperature ? OPENAI_ALL : OPENAI_ALL & ~OPENAI_TEMPERATURE,
        .max_tokens = settings->max_tokens,
    };
    enum next next = NEXT_AGAIN;
    while (next == NEXT_AGAIN) {
        exchange.error = (struct response_error){0};
        exchange.charge = (struct charge){0};
        int status = send_request(&exchange);
        bool answered = status == OK && exchange.fetched.status == 200;
        if (!answered) {
            charge_settle(&exchange.charge, NULL);
        }
        if (status == ERR_FAILED) {
            next = judge_transfer(&exchange);
        } else if (status != OK) {
            return status;
        } else if (answered) {
            next = judge_answer(&exchange, &status);
            charge_settle(&exchange.charge, NULL); /* where it could not be read */
        } else {
            next = judge_failure(&exchange, &status);
        }
        if (status != OK && status != ERR_FAILED) {
            return status;
        }
    }
    return next == NEXT_DONE ? OK : ERR_FAILED;
}
