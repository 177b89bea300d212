/* Asking the Responses API. */
#include "answer/openai.h"

#include "call/errors.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "net/fetch.h"
#include "text/json.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_RETRIES 2

/* Parameters that an answer can do without, and how an error of the API names them. */
enum choice {
    CHOICE_TEMPERATURE = 1,
    CHOICE_REASONING = 2,
    CHOICE_INCLUDE = 4,
    CHOICE_STORE = 8,
    CHOICE_TOOL_CHOICE = 16,
    CHOICE_MAX_TOKENS = 32,
    CHOICE_LOCATION = 64,
    CHOICE_ALL = 127,
};

static const struct {
    const char *name;
    enum choice choice;
} CHOICES[] = {
    {"temperature", CHOICE_TEMPERATURE}, {"reasoning", CHOICE_REASONING},
    {"include", CHOICE_INCLUDE},         {"store", CHOICE_STORE},
    {"tool_choice", CHOICE_TOOL_CHOICE}, {"max_output_tokens", CHOICE_MAX_TOKENS},
};

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
    struct fetch_response fetched;
    struct response_error error;
};

/* What to do after a try. */
enum next { NEXT_DONE, NEXT_AGAIN, NEXT_FAILED };

/* ---- the request ---- */

static void add_tools(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *country,
                      unsigned choices)
{
    yyjson_mut_val *tool = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "tools"));
    yyjson_mut_obj_add_str(doc, tool, "type", "web_search");
    if (choices & CHOICE_LOCATION) {
        /* Without any location the API searches as if from the United States. */
        yyjson_mut_val *place = yyjson_mut_obj_add_obj(doc, tool, "user_location");
        yyjson_mut_obj_add_str(doc, place, "type", "approximate");
        json_add_string(doc, place, "country", country);
    }
}

static void add_choices(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct openai_settings *settings, unsigned choices,
                        int64_t max_tokens)
{
    if (choices & CHOICE_TOOL_CHOICE) {
        yyjson_mut_obj_add_str(doc, root, "tool_choice", "required");
    }
    if (choices & CHOICE_INCLUDE) {
        yyjson_mut_val *include = yyjson_mut_obj_add_arr(doc, root, "include");
        yyjson_mut_arr_add_str(doc, include, "web_search_call.action.sources");
    }
    if (choices & CHOICE_STORE) {
        yyjson_mut_obj_add_bool(doc, root, "store", false);
    }
    if (choices & CHOICE_MAX_TOKENS) {
        yyjson_mut_obj_add_int(doc, root, "max_output_tokens", max_tokens);
    }
    if (choices & CHOICE_REASONING) {
        yyjson_mut_val *reasoning = yyjson_mut_obj_add_obj(doc, root, "reasoning");
        yyjson_mut_obj_add_str(doc, reasoning, "effort", "low");
    }
    if (settings->temperature && (choices & CHOICE_TEMPERATURE)) {
        yyjson_mut_val *value = yyjson_mut_raw(doc, settings->temperature);
        yyjson_mut_obj_add_val(doc, root, "temperature", value);
    }
}

static const char *write_body(struct arena *arena, const struct openai_settings *settings,
                              const struct openai_question *question, unsigned choices,
                              int64_t max_tokens, size_t *length)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "model", settings->model);
    yyjson_mut_obj_add_str(doc, root, "instructions", question->instructions);
    yyjson_mut_obj_add_str(doc, root, "input", question->input);
    add_tools(doc, root, question->country, choices);
    add_choices(doc, root, settings, choices, max_tokens);
    return json_text(arena, root, length);
}

const char *openai_body(struct arena *arena, const struct openai_settings *settings,
                        const struct openai_question *question, size_t *length)
{
    return write_body(arena, settings, question, CHOICE_ALL, settings->max_tokens, length);
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
    };
    request.body = write_body(arena, settings, exchange->question, exchange->choices,
                              exchange->max_tokens, &request.body_length);
    if (!request.body || !text || arena_failed(arena)) {
        return ERR_NOMEM;
    }
    exchange->account->tries++;
    call_progress(exchange->call, exchange->account->tries, 0, "asking %s%s", settings->model,
                  exchange->account->tries > 1 ? " again" : "");
    int status = fetch_parse(exchange->call, text, &url, &exchange->fetched);
    return status == OK ? fetch_run(exchange->call, &request, &exchange->fetched) : status;
}

/* ---- failing ---- */

/* Words of others: cut, mended, and without what could disturb a terminal; NULL stays NULL. */
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

int64_t openai_backoff_ms(int retry)
{
    uint32_t chance;
    if (id_random(&chance, sizeof chance) != OK) {
        chance = 0; /* the shortest pause, as for everybody whose system has no dice */
    }
    int64_t most = (int64_t)TIME_ANSWER_BACKOFF_MS << retry;
    return most / 2 + chance % (uint32_t)(most / 2);
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

/* The choice that an error names: "temperature", "reasoning.effort", "tools[0].user_location". */
static unsigned named_choice(const char *param)
{
    if (!param) {
        return 0;
    }
    if (strstr(param, "user_location")) {
        return CHOICE_LOCATION;
    }
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
        size_t length = strlen(CHOICES[i].name);
        bool begins = strncmp(param, CHOICES[i].name, length) == 0;
        if (begins && (!param[length] || strchr(".[", param[length]))) {
            return CHOICES[i].choice;
        }
    }
    return 0;
}

static enum next judge_refused_request(struct exchange *exchange)
{
    unsigned choice = named_choice(exchange->error.param);
    if (choice == CHOICE_LOCATION && exchange->question->country) {
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

static void account_for(struct exchange *exchange)
{
    const struct response *response = exchange->response;
    exchange->account->searches += response->searches;
    if (response->has_usage) {
        exchange->account->input_tokens += response->input_tokens;
        exchange->account->output_tokens += response->output_tokens;
    }
}

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
        if (tokens && !exchange->grown && (exchange->choices & CHOICE_MAX_TOKENS)) {
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
    account_for(exchange);
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
        .choices = settings->temperature ? CHOICE_ALL : CHOICE_ALL & ~CHOICE_TEMPERATURE,
        .max_tokens = settings->max_tokens,
    };
    enum next next = NEXT_AGAIN;
    while (next == NEXT_AGAIN) {
        exchange.error = (struct response_error){0};
        int status = send_request(&exchange);
        if (status == ERR_FAILED) {
            next = judge_transfer(&exchange);
        } else if (status != OK) {
            return status;
        } else if (exchange.fetched.status == 200) {
            next = judge_answer(&exchange, &status);
        } else {
            next = judge_failure(&exchange, &status);
        }
        if (status != OK && status != ERR_FAILED) {
            return status;
        }
    }
    return next == NEXT_DONE ? OK : ERR_FAILED;
}
