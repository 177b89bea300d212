/* Asks providers in their order, and decides what to do about an answer that is none. */
#include "websearch/route.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "text/text.h"

#include <string.h>
#include <time.h>

#define ROUNDS      2
#define RESERVE_MS  20 /* of a last try, to tell how it went */
#define A_DAY_MS    86400000
#define WORDS_CHARS 200 /* of what a provider says about a refused search */

/* ---- judging ---- */

static const struct {
    bool transient; /* the next provider is tried */
    bool again;     /* after a wait this one is too, when nobody else could help */
    const char *code;
    const char *words; /* in an error; %V is the variable to look at */
} OUTCOMES[] = {
    [ROUTE_ANSWERED] = {false, false, NULL, NULL},
    [ROUTE_NETWORK] = {true, true, CODE_PROVIDER, "could not be reached"},
    [ROUTE_TIMEOUT] = {true, false, CODE_TIMEOUT, "did not answer in time"},
    [ROUTE_RATE_LIMITED] = {true, true, CODE_RATE_LIMIT, "wants fewer searches"},
    [ROUTE_OUT_OF_QUOTA] = {true, false, CODE_RATE_LIMIT, "has no searches left for this key"},
    [ROUTE_SERVER_ERROR] = {true, true, CODE_PROVIDER, "failed"},
    [ROUTE_UNREADABLE] = {true, true, CODE_PARSE, "answered with something else than results"},
    [ROUTE_REFUSED] = {false, false, CODE_PROVIDER, "refused the search"},
    [ROUTE_NO_ACCESS] = {false, false, CODE_AUTH, "refused the key: check %V"},
    [ROUTE_NO_JSON] = {false, false, CODE_CONFIG, NULL},
    [ROUTE_MISSING] = {false, false, CODE_CONFIG, "is not at its address: check %V"},
    [ROUTE_NO_REQUEST] = {false, false, CODE_CONFIG, "cannot be asked: check %V"},
};

static const struct {
    int first, last;
    enum route_outcome outcome;
} STATUSES[] = {
    {200, 299, ROUTE_ANSWERED},     {300, 399, ROUTE_MISSING},      {400, 400, ROUTE_REFUSED},
    {401, 401, ROUTE_NO_ACCESS},    {402, 402, ROUTE_OUT_OF_QUOTA}, {403, 403, ROUTE_NO_ACCESS},
    {404, 405, ROUTE_MISSING},      {408, 408, ROUTE_TIMEOUT},      {429, 429, ROUTE_RATE_LIMITED},
    {432, 433, ROUTE_OUT_OF_QUOTA}, /* Tavily's: the plan, and what may be spent beyond it */
    {400, 499, ROUTE_REFUSED},      {500, 599, ROUTE_SERVER_ERROR},
};

static const struct {
    enum fetch_failure failure;
    enum route_outcome outcome;
} FAILURES[] = {
    {FETCH_BAD_REQUEST, ROUTE_NO_REQUEST}, {FETCH_UNAVAILABLE, ROUTE_NO_REQUEST},
    {FETCH_TIMEOUT, ROUTE_TIMEOUT},        {FETCH_TOO_LARGE, ROUTE_UNREADABLE},
    {FETCH_REDIRECTS, ROUTE_MISSING},
};

static enum route_outcome outcome_of(const struct provider *provider,
                                     const struct fetch_response *response)
{
    if (response->failure != FETCH_OK) {
        for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
            if (FAILURES[i].failure == response->failure) {
                return FAILURES[i].outcome;
            }
        }
        return ROUTE_NETWORK;
    }
    if (response->status == 403 && provider->json_refused) {
        return ROUTE_NO_JSON;
    }
    if (response->status / 100 == 4 && provider->key_refused && response->body &&
        strstr(response->body, provider->key_refused)) {
        return ROUTE_NO_ACCESS;
    }
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
        if (response->status >= STATUSES[i].first && response->status <= STATUSES[i].last) {
            return STATUSES[i].outcome;
        }
    }
    return ROUTE_UNREADABLE;
}

struct route_verdict route_judge(const struct provider *provider,
                                 const struct fetch_response *response)
{
    enum route_outcome outcome = outcome_of(provider, response);
    const char *value = fetch_header_value(response, "retry-after");
    if (!value && provider->wait_header) {
        value = fetch_header_value(response, provider->wait_header);
    }
    int64_t wait = clock_retry_after_ms(NULL, value, time(NULL));
    return (struct route_verdict){
        .outcome = outcome,
        .transient = OUTCOMES[outcome].transient,
        .wait_ms = wait < A_DAY_MS ? wait : A_DAY_MS,
    };
}

/* ---- one try ---- */

struct attempt {
    const struct provider *provider;
    bool rests; /* its breaker is open: it was not tried */
    struct route_verdict verdict;
    int http_status;   /* 0: none */
    const char *words; /* its own, about a refused search; or NULL */
    struct remarks left_out;
};

struct routing {
    struct call *call;
    struct breakers *breakers;
    const struct search_query *query;
    int64_t deadline_ms;
    struct attempt attempts[LIMIT_SEARCH_PROVIDERS];
    size_t count;
    struct route_answer *answer;
    double tries; /* so far, in tenths: reading the pages counts in ones */
};

/* The time of a try: while there is somebody else to ask, half of what is left is enough. */
static int64_t time_for(const struct routing *routing, bool others)
{
    int64_t left = routing->deadline_ms - clock_now_ms();
    left = others ? left / 2 : left - RESERVE_MS;
    left = left < TIME_SEARCH_TRY_MS ? left : TIME_SEARCH_TRY_MS;
    return left > 1 ? left : 1;
}

/* The words of a provider that refused a search, wherever it puts them. */
static const char *own_words(struct arena *arena, const struct fetch_response *response)
{
    static const char *const PLACES[][2] = {
        {"message", NULL},   {"error", NULL},     {"detail", NULL},
        {"detail", "error"}, {"error", "detail"}, {"error", "message"},
    };
    yyjson_doc *doc = json_parse(arena, response->body, response->body_length, NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        const char *const *place = PLACES[i];
        const char *words = place[1] ? json_string(yyjson_obj_get(root, place[0]), place[1])
                                     : json_string(root, place[0]);
        if (words && *words) {
            return arena_strndup(arena, words, text_prefix(words, strlen(words), WORDS_CHARS));
        }
    }
    return NULL;
}

/* Drops what belongs to the pages before, is on other sites, or is more than was asked for. */
static void choose_hits(struct routing *routing, size_t skip, struct hits *hits)
{
    size_t kept = 0;
    for (size_t i = skip; i < hits->count && kept < routing->query->count; i++) {
        if (query_allows(call_arena(routing->call), routing->query, hits->items[i].link)) {
            hits->items[kept++] = hits->items[i];
        }
    }
    hits->count = kept;
}

int route_request(const struct provider *provider, struct arena *arena,
                  const struct search_query *query, struct provider_request *request)
{
    const char *base = config_text(provider->base_variable);
    size_t length = base ? strlen(base) : 0;
    while (length > 0 && base[length - 1] == '/') {
        length--;
    }
    *request = (struct provider_request){
        .arena = arena,
        .query = query,
        .base = arena_strndup(arena, base ? base : "", length),
        .key = provider->key_variable ? config_text(provider->key_variable) : NULL,
    };
    return request->base ? provider_build(provider, request) : ERR_NOMEM;
}

/* OK with the outcome in `attempt`, or a status that ends everything. */
static int try_provider(struct routing *routing, struct attempt *attempt, bool others)
{
    struct provider_request request;
    struct fetch_response response;
    const struct provider *provider = attempt->provider;
    struct arena *arena = call_arena(routing->call);
    int status = route_request(provider, arena, routing->query, &request);
    if (status != OK) {
        return status;
    }
    struct url url;
    struct fetch_request fetch = {
        .url = &url,
        .headers = request.headers,
        .header_count = request.header_count,
        .body = request.body,
        .body_length = request.body ? strlen(request.body) : 0,
        .max_body_bytes = LIMIT_SEARCH_ANSWER_BYTES,
        .timeout_ms = time_for(routing, others),
    };
    status = fetch_parse(routing->call, request.url, &url, &response);
    if (status == OK) {
        status = fetch_run(routing->call, &fetch, &response);
    }
    if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        return status;
    }
    attempt->verdict = route_judge(provider, &response);
    attempt->http_status = response.status;
    attempt->left_out = request.left_out;
    if (attempt->verdict.outcome == ROUTE_REFUSED) {
        attempt->words = own_words(arena, &response);
    }
    if (attempt->verdict.outcome != ROUTE_ANSWERED) {
        return OK;
    }
    yyjson_doc *doc = json_parse(arena, response.body, response.body_length, NULL);
    struct hits *hits = &routing->answer->hits;
    status = provider_read(provider, arena, yyjson_doc_get_root(doc), routing->query, hits);
    if (status == ERR_INVALID) {
        attempt->verdict.outcome = ROUTE_UNREADABLE;
        attempt->verdict.transient = OUTCOMES[ROUTE_UNREADABLE].transient;
        return OK;
    }
    choose_hits(routing, request.skip, hits);
    return status;
}

static int ask(struct routing *routing, struct attempt *attempt, bool others)
{
    routing->tries += 0.1;
    call_progress(routing->call, routing->tries, 0, "searching with %s", attempt->provider->title);
    int status = try_provider(routing, attempt, others);
    enum breaker_result result = BREAKER_UNKNOWN;
    if (status == OK) {
        result = attempt->verdict.transient ? BREAKER_FAILED : BREAKER_ANSWERED;
    }
    breaker_report(routing->breakers, attempt->provider->name, result);
    return status;
}

/* ---- words ---- */

static void put_attempt(struct text_out *out, const struct attempt *attempt)
{
    const struct provider *provider = attempt->provider;
    const char *words = OUTCOMES[attempt->verdict.outcome].words;
    text_putf(out, "%s ", provider->title);
    if (attempt->rests) {
        text_put(out, "rests after failures in a row");
        return;
    }
    if (attempt->verdict.outcome == ROUTE_NO_JSON) {
        text_putf(out, "(HTTP 403): %s (%s)", provider->json_refused, provider->base_variable);
        return;
    }
    const char *variable = attempt->verdict.outcome == ROUTE_NO_ACCESS && provider->key_variable
                               ? provider->key_variable
                               : provider->base_variable;
    const char *place = strstr(words, "%V");
    text_put_bytes(out, words, place ? (size_t)(place - words) : strlen(words));
    text_put(out, place ? variable : "");
    if (attempt->http_status) {
        text_putf(out, " (HTTP %d)", attempt->http_status);
    } else if (!place && config_is_set(provider->base_variable)) {
        text_putf(out, " (%s)", provider->base_variable); /* the operator's own: perhaps wrong */
    }
    if (attempt->words) {
        text_putf(out, ": %s", attempt->words);
    }
}

static const char *say_attempt(struct arena *arena, const struct attempt *attempt)
{
    char words[600];
    struct text_out out;
    text_start(&out, words, sizeof words);
    put_attempt(&out, attempt);
    return arena_strdup(arena, words);
}

/* ---- ends ---- */

static int succeed(struct routing *routing, size_t which)
{
    struct route_answer *answer = routing->answer;
    answer->provider = routing->attempts[which].provider;
    answer->left_out = routing->attempts[which].left_out;
    for (size_t i = 0; i < which; i++) {
        const char *words = say_attempt(call_arena(routing->call), &routing->attempts[i]);
        if (words) {
            remarks_add(&answer->warnings, words);
        }
    }
    if (answer->hits.remark) {
        remarks_add(&answer->warnings, answer->hits.remark);
    }
    return OK;
}

/* The code of a failure that several may share: theirs, if they agree. */
static const char *shared_code(const struct routing *routing)
{
    const char *code = NULL;
    for (size_t i = 0; i < routing->count; i++) {
        const struct attempt *attempt = &routing->attempts[i];
        const char *own = attempt->rests ? CODE_PROVIDER : OUTCOMES[attempt->verdict.outcome].code;
        if (code && strcmp(code, own) != 0) {
            return CODE_PROVIDER;
        }
        code = own;
    }
    return code;
}

/* When it is worth coming back, in seconds; 0: nobody knows. */
static int come_back_in(const struct routing *routing)
{
    int64_t soonest = INT64_MAX;
    for (size_t i = 0; i < routing->count; i++) {
        const struct attempt *attempt = &routing->attempts[i];
        int64_t rests = breaker_wait_ms(routing->breakers, attempt->provider->name);
        int64_t wait = rests > attempt->verdict.wait_ms ? rests : attempt->verdict.wait_ms;
        if (wait > 0 && wait < soonest) {
            soonest = wait;
        }
    }
    return soonest == INT64_MAX ? 0 : (int)((soonest + 999) / 1000);
}

/* `last` is the attempt that ended it, or NULL when all of them failed for now. */
static int fail(struct routing *routing, const struct attempt *last)
{
    char words[LIMIT_ERROR_CHARS];
    struct text_out out;
    text_start(&out, words, sizeof words);
    for (size_t i = 0; i < routing->count; i++) {
        text_put(&out, i ? "; " : "");
        put_attempt(&out, &routing->attempts[i]);
        if (last == &routing->attempts[i]) {
            break;
        }
    }
    int seconds = last ? 0 : come_back_in(routing);
    if (seconds) {
        text_putf(&out, "; try again in %d seconds", seconds);
    }
    call_fail(routing->call, last ? OUTCOMES[last->verdict.outcome].code : shared_code(routing),
              "%s", words);
    if (seconds) {
        call_fail_retry_after(routing->call, seconds);
    }
    return ERR_FAILED;
}

/* ---- all of it ---- */

static int choose_providers(struct routing *routing)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    if (providers_chosen(chosen, &unknown) != OK) {
        return call_fail(routing->call, CODE_CONFIG,
                         "FORAGE_SEARCH_PROVIDERS: there is no provider \"%s\"; there "
                         "are " PROVIDER_NAMES,
                         unknown);
    }
    for (; chosen[routing->count]; routing->count++) {
        routing->attempts[routing->count] =
            (struct attempt){.provider = chosen[routing->count], .verdict.wait_ms = -1};
    }
    return routing->count
               ? OK
               : call_fail(routing->call, CODE_CONFIG,
                           "there is no search provider: set " PROVIDER_VARIABLES "%s",
                           config_is_set("FORAGE_SEARCH_PROVIDERS")
                               ? "; only those that FORAGE_SEARCH_PROVIDERS names are used"
                               : "");
}

/* What to wait before this one is tried again; negative when that makes no sense. */
static int64_t wait_before(const struct attempt *attempt)
{
    if (attempt->rests || !OUTCOMES[attempt->verdict.outcome].again) {
        return -1;
    }
    return attempt->verdict.wait_ms >= 0 ? attempt->verdict.wait_ms : TIME_SEARCH_PAUSE_MS;
}

/* The shortest wait that somebody is worth, if it leaves enough time; negative otherwise. */
static int64_t choose_wait(const struct routing *routing)
{
    int64_t shortest = INT64_MAX;
    for (size_t i = 0; i < routing->count; i++) {
        int64_t wait = wait_before(&routing->attempts[i]);
        if (wait >= 0 && wait < shortest) {
            shortest = wait;
        }
    }
    int64_t left = routing->deadline_ms - clock_now_ms();
    return shortest <= TIME_SEARCH_PATIENCE_MS && shortest < left / 2 ? shortest : -1;
}

/* Everybody who is worth it, in order. OK with `done` set when that ended it. */
static int ask_all(struct routing *routing, bool again, int64_t waited_ms, bool *done)
{
    for (size_t i = 0; i < routing->count; i++) {
        struct attempt *attempt = &routing->attempts[i];
        int64_t wait = again ? wait_before(attempt) : 0;
        if (wait < 0 || wait > waited_ms) {
            continue;
        }
        if (!breaker_admit(routing->breakers, attempt->provider->name)) {
            attempt->rests = !again;
            continue;
        }
        int status = ask(routing, attempt, i + 1 < routing->count);
        if (status != OK) {
            return status;
        }
        if (!attempt->verdict.transient) {
            *done = true;
            return attempt->verdict.outcome == ROUTE_ANSWERED ? succeed(routing, i)
                                                              : fail(routing, attempt);
        }
    }
    return OK;
}

int route_search(struct call *call, struct breakers *breakers, const struct search_query *query,
                 int64_t deadline_ms, struct route_answer *answer)
{
    struct routing routing = {.call = call,
                              .breakers = breakers,
                              .query = query,
                              .deadline_ms = deadline_ms,
                              .answer = answer};
    int64_t waited_ms = 0;
    bool done = false;
    *answer = (struct route_answer){0};
    int status = choose_providers(&routing);
    for (int round = 0; status == OK && !done && round < ROUNDS; round++) {
        if (round > 0) {
            waited_ms = choose_wait(&routing);
            if (waited_ms < 0) {
                break;
            }
            status = call_sleep(call, waited_ms);
        }
        if (status == OK) {
            status = ask_all(&routing, round > 0, waited_ms, &done);
        }
    }
    return status == OK && !done ? fail(&routing, NULL) : status;
}
