/* Judges answers: by their status and, of open sources, by what block pages say. */
#include "websearch/judge.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define SECOND_MS INT64_C(1000)
#define HOUR_MS   (3600 * SECOND_MS)
#define A_DAY_MS  (24 * HOUR_MS)

const struct route_rule ROUTE_RULES[ROUTE_OUTCOMES] = {
    [ROUTE_ANSWERED] = {false, false, NULL, NULL},
    [ROUTE_NETWORK] = {true, true, CODE_PROVIDER, "could not be reached"},
    [ROUTE_CUT_OFF] = {true, true, CODE_PROVIDER, "broke off its answer"},
    [ROUTE_TIMEOUT] = {true, false, CODE_TIMEOUT, "did not answer in time"},
    [ROUTE_RATE_LIMITED] = {true, true, CODE_RATE_LIMIT, "wants fewer searches"},
    [ROUTE_OUT_OF_QUOTA] = {true, false, CODE_RATE_LIMIT, "has no searches left for this key"},
    [ROUTE_SERVER_ERROR] = {true, true, CODE_PROVIDER, "failed"},
    [ROUTE_UNREADABLE] = {true, true, CODE_PARSE, "answered with something else than results"},
    [ROUTE_BLOCKED] = {true, false, CODE_PROVIDER,
                       "is blocked: it answered with something else than results"},
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

/* How long an open source is left alone after what it did; what it says itself counts more. */
static const int64_t RESTS_MS[ROUTE_OUTCOMES] = {
    [ROUTE_NETWORK] = 5 * SECOND_MS,        [ROUTE_TIMEOUT] = 5 * SECOND_MS,
    [ROUTE_CUT_OFF] = 5 * SECOND_MS,        [ROUTE_SERVER_ERROR] = 5 * SECOND_MS,
    [ROUTE_RATE_LIMITED] = 180 * SECOND_MS, [ROUTE_OUT_OF_QUOTA] = 180 * SECOND_MS,
};
#define REFUSED_REST_MS (180 * SECOND_MS) /* 401 or 403 without a page that says more */
#define WALL_REST_MS    HOUR_MS           /* a page that the source is known to show */

/* Pages that stand before any site. */
static const struct {
    int status;         /* 0: any */
    const char *server; /* in its header of that name; NULL: any */
    const char *words;
    int64_t rest_ms;
} WALLS[] = {
    {0, "cloudflare", "__cf_chl", 15 * A_DAY_MS},
    {0, "cloudflare", "challenge-platform", 15 * A_DAY_MS},
    {403, "cloudflare", "cf-error-code", A_DAY_MS}, /* its firewall */
    {503, NULL, "google.com/recaptcha/", 7 * A_DAY_MS},
    {0, NULL, "captcha", HOUR_MS},
};

/* ---- walls ---- */

static bool is_from(const struct fetch_response *response, const char *server)
{
    const char *value = fetch_header_value(response, "server");
    return !server || (value && strcasestr(value, server));
}

static bool is_markup(const char *body)
{
    return body[strspn(body, " \t\r\n\xef\xbb\xbf")] == '<';
}

/* A page that the source itself is known to show. */
static bool is_own_wall(const struct source_terms *terms, const struct fetch_response *response)
{
    for (size_t i = 0; response->body && terms->walls && terms->walls[i]; i++) {
        if (strstr(response->body, terms->walls[i])) {
            return true;
        }
    }
    return terms->wall_status && terms->wall_status == response->status;
}

/* How long the source rests after this answer; 0: it is no wall that we know. What is no page may
 * hold the words of a wall because somebody searched for them. */
static int64_t rest_after_wall(const struct source_terms *terms,
                               const struct fetch_response *response)
{
    const char *body = response->body ? response->body : "";
    for (size_t i = 0; is_markup(body) && i < sizeof WALLS / sizeof *WALLS; i++) {
        if ((!WALLS[i].status || WALLS[i].status == response->status) &&
            is_from(response, WALLS[i].server) && strcasestr(body, WALLS[i].words)) {
            return WALLS[i].rest_ms;
        }
    }
    return is_own_wall(terms, response) ? WALL_REST_MS : 0;
}

/* ---- quotas ---- */

/* Whether a provider refuses because nothing is left of its quota. One with a key says so with
 * 400: what comes with 401 or 403 is about the key. */
static bool is_spent(const struct provider *provider, const struct fetch_response *response)
{
    const struct source_terms *terms = provider->open;
    const char *left = terms && terms->left_header && response->status == 403
                           ? fetch_header_value(response, terms->left_header)
                           : NULL;
    bool may_say = terms ? response->status / 100 == 4 : response->status == 400;
    return (left && strcmp(left, "0") == 0) || (may_say && provider->spent && response->body &&
                                                strcasestr(response->body, provider->spent));
}

/* How long until an open source's quota is full again; -1: it does not say. */
static int64_t reset_wait_ms(const struct source_terms *terms,
                             const struct fetch_response *response)
{
    const char *value =
        terms->reset_header ? fetch_header_value(response, terms->reset_header) : NULL;
    int64_t reset = value ? strtoll(value, NULL, 10) : 0;
    int64_t now = time(NULL);
    if (reset <= 0) {
        return -1;
    }
    int64_t seconds = reset > now ? reset - now : 0;
    return seconds < A_DAY_MS / SECOND_MS ? seconds * SECOND_MS : A_DAY_MS;
}

/* ---- judging ---- */

static enum route_outcome outcome_of(const struct provider *provider,
                                     const struct fetch_response *response)
{
    if (response->failure != FETCH_OK) {
        for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
            if (FAILURES[i].failure == response->failure) {
                return FAILURES[i].outcome;
            }
        }
        return response->status ? ROUTE_CUT_OFF : ROUTE_NETWORK;
    }
    if (response->status == 403 && provider->json_refused) {
        return ROUTE_NO_JSON;
    }
    if (response->status / 100 == 4 && provider->key_refused && response->body &&
        strstr(response->body, provider->key_refused)) {
        return ROUTE_NO_ACCESS;
    }
    if (is_spent(provider, response)) {
        return provider->open ? ROUTE_RATE_LIMITED : ROUTE_OUT_OF_QUOTA;
    }
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
        if (response->status >= STATUSES[i].first && response->status <= STATUSES[i].last) {
            return STATUSES[i].outcome;
        }
    }
    return ROUTE_UNREADABLE;
}

static bool has_own_key(const struct provider *provider)
{
    return provider->key_variable && config_is_set(provider->key_variable);
}

/* An open source owes nobody an answer: what would be a fault of the settings elsewhere is a block
 * here, unless the operator gave it a key or an address. */
static void judge_open(const struct provider *provider, const struct fetch_response *response,
                       struct route_verdict *verdict)
{
    bool wall_status =
        provider->open->wall_status && response->status == provider->open->wall_status;
    if (response->failure != FETCH_OK || (response->status / 100 == 2 && !wall_status)) {
        verdict->rest_ms = RESTS_MS[verdict->outcome];
        return;
    }
    int64_t rest_ms = rest_after_wall(provider->open, response);
    bool refused = verdict->outcome == ROUTE_NO_ACCESS && !has_own_key(provider);
    bool elsewhere = verdict->outcome == ROUTE_MISSING && !config_is_set(provider->base_variable);
    if (rest_ms || refused || elsewhere) {
        verdict->outcome = ROUTE_BLOCKED;
        verdict->rest_ms = rest_ms ? rest_ms : refused ? REFUSED_REST_MS : 0;
    } else {
        verdict->rest_ms = RESTS_MS[verdict->outcome];
    }
    if (verdict->wait_ms > 0 && !rest_ms && verdict->rest_ms) {
        verdict->rest_ms = verdict->wait_ms;
    }
}

struct route_verdict route_judge(const struct provider *provider,
                                 const struct fetch_response *response)
{
    const char *value = fetch_header_value(response, "retry-after");
    if (!value && provider->wait_header) {
        value = fetch_header_value(response, provider->wait_header);
    }
    int64_t wait = clock_retry_after_ms(NULL, value, time(NULL));
    struct route_verdict verdict = {
        .outcome = outcome_of(provider, response),
        .wait_ms = wait < A_DAY_MS ? wait : A_DAY_MS,
    };
    if (!value && verdict.outcome == ROUTE_RATE_LIMITED && provider->open) {
        verdict.wait_ms = reset_wait_ms(provider->open, response);
    }
    if (provider->open) {
        judge_open(provider, response, &verdict);
    }
    verdict.transient = ROUTE_RULES[verdict.outcome].transient;
    return verdict;
}

struct route_verdict route_judge_empty(const struct provider *provider,
                                       const struct fetch_response *response, bool readable)
{
    struct route_verdict verdict = {.outcome = ROUTE_UNREADABLE, .wait_ms = -1};
    if (readable && !(provider->open && is_own_wall(provider->open, response))) {
        verdict.outcome = ROUTE_ANSWERED;
    } else if (provider->open) {
        verdict.outcome = ROUTE_BLOCKED;
        verdict.rest_ms = rest_after_wall(provider->open, response);
    }
    verdict.transient = ROUTE_RULES[verdict.outcome].transient;
    return verdict;
}
