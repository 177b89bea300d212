/* Asks providers in their order, one after another or side by side, and decides what to do about an
 * answer that is none. */
#include "websearch/route.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "guard/charge.h"
#include "guard/pacer.h"
#include "text/text.h"
#include "websearch/merge.h"
#include "websearch/plan.h"
#include "world/world.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

#define RESERVE_MS  20  /* of a last try, to tell how it went */
#define WORDS_CHARS 200 /* of what a provider says about a refused search */
#define KEYED_DEPTH                                                                                \
    10 /* of a provider with a key, for merging: some ask for more where it is more */
#define MINUTE_MS 60000
#define HOUR_MS   3600000
#define DAY_MS    86400000

enum attempt_state { ATTEMPT_NONE, ATTEMPT_ASKED, ATTEMPT_ENDED };

struct attempt {
    const struct provider *provider;
    enum search_type type;
    /* Everything below belongs to the track that took it, until it has ended. */
    atomic_int state;
    int64_t rests_ms; /* its breaker is open for so long: it was not asked; 0: it is not */
    bool late_turn;   /* its pace has no turn in time: it was not asked */
    bool too_dear;    /* the budget of the day has nothing left for it: it was not asked */
    struct route_verdict verdict;
    int http_status;                 /* 0: none */
    char words[4 * WORDS_CHARS + 1]; /* its own, about a refused search; or empty */
};

struct search_route {
    struct breakers *breakers;
    struct search_query query;
    int64_t deadline_ms;
    int64_t late_ms;   /* when tracks give way to those that have an answer */
    int64_t source_ms; /* for each try, where several are asked */
    size_t merge, tracks;
    const struct provider *unheard[LIMIT_SEARCH_PROVIDERS];
    size_t unheard_count;
    size_t count;
    atomic_size_t next;     /* of the attempts, to be taken */
    atomic_size_t answered; /* tracks that have an answer */
    atomic_size_t running;  /* tracks that have not ended */
    struct attempt attempts[LIMIT_SEARCH_PROVIDERS];
};

/* One track, while it runs. */
struct track {
    struct call *call;
    struct search_route *route;
    struct route_answer *answer;
    double tries; /* so far, in tenths: reading the pages counts in ones */
};

/* ---- one try ---- */

/* The time of a try: while there is somebody else to ask, half of what is left is enough. */
static int64_t time_for(const struct search_route *route, const struct provider *provider,
                        bool others)
{
    int64_t left = route->deadline_ms - clock_now_ms();
    left = others ? left / 2 : left - RESERVE_MS;
    left = left < TIME_SEARCH_TRY_MS ? left : TIME_SEARCH_TRY_MS;
    if ((route->merge > 1 || (provider->open && others)) && left > route->source_ms) {
        left = route->source_ms;
    }
    return left > 1 ? left : 1;
}

/* The words of a provider that refused a search, wherever it puts them. */
static void take_words(struct arena *arena, const struct fetch_response *response,
                       char out[4 * WORDS_CHARS + 1])
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
            size_t length = text_prefix(words, strlen(words), WORDS_CHARS);
            memcpy(out, words, length);
            out[length] = '\0';
            return;
        }
    }
}

/* A link that runs something instead of leading somewhere. */
static bool is_script(const char *link)
{
    static const char *const SCHEMES[] = {"javascript:", "data:", "vbscript:"};
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
        if (strncasecmp(link, SCHEMES[i], strlen(SCHEMES[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Drops what belongs to the pages before, is on other sites, or is more than was asked for. Links
 * of open sources, and all that are merged, are cleaned. */
static int choose_hits(struct track *track, const struct search_query *query,
                       const struct provider_request *request, struct hits *hits)
{
    struct arena *arena = call_arena(track->call);
    bool clean = track->route->merge > 1 || request->provider->open;
    size_t kept = 0;
    for (size_t i = request->skip; i < hits->count && kept < query->count; i++) {
        struct hit hit = hits->items[i];
        bool allowed = hits->narrowed || query_allows(arena, query, hit.link);
        if (!allowed || (clean && is_script(hit.link))) {
            continue;
        }
        if (clean) {
            hit.link = tracking_strip(arena, hit.link);
        }
        if (!hit.link) {
            return ERR_NOMEM;
        }
        hits->items[kept++] = hit;
    }
    hits->count = kept;
    return OK;
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

/* The query as this provider is asked it. What is merged begins with the first results of each, and
 * goes on by whole depths; a page of the merged list is cut from that. */
static struct search_query query_for(const struct search_route *route,
                                     const struct attempt *attempt)
{
    struct search_query query = route->query;
    query.type = attempt->type;
    if (route->merge > 1) {
        size_t before = route->query.count * (route->query.page - 1);
        size_t needed = before % MERGE_DEPTH + route->query.count;
        query.enough = needed < MERGE_DEPTH ? needed : MERGE_DEPTH;
        query.page = (unsigned)(before / MERGE_DEPTH) + 1;
        bool brief = !attempt->provider->open && query.page == 1 && needed <= KEYED_DEPTH;
        query.count = brief ? KEYED_DEPTH : MERGE_DEPTH;
    }
    return query;
}

/* Reads an answer that came; what it is decides again. */
static int read_answer(struct track *track, struct attempt *attempt,
                       const struct search_query *query, const struct provider_request *request,
                       const struct fetch_response *response)
{
    struct hits *hits = &track->answer->hits;
    struct arena *arena = call_arena(track->call);
    int status =
        provider_read(attempt->provider, arena, response->body, response->body_length, query, hits);
    if (status == ERR_INVALID || (status == OK && hits->count == 0)) {
        attempt->verdict = route_judge_empty(attempt->provider, response, status == OK);
        hits->count = 0;
        status = OK;
    }
    if (hits->rest_ms > attempt->verdict.rest_ms) {
        attempt->verdict.rest_ms = hits->rest_ms; /* it answered, and asks to be left alone now */
    }
    return status == OK ? choose_hits(track, query, request, hits) : status;
}

/* OK with the outcome in `attempt`, or a status that ends everything. */
static int try_provider(struct track *track, struct attempt *attempt, bool others,
                        struct charge *charge)
{
    struct provider_request request;
    struct fetch_response response;
    const struct provider *provider = attempt->provider;
    const struct search_query query = query_for(track->route, attempt);
    struct arena *arena = call_arena(track->call);
    int status = route_request(provider, arena, &query, &request);
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
        .timeout_ms = time_for(track->route, provider, others),
        .upstream = provider->name,
    };
    status = fetch_parse(track->call, request.url, &url, &response);
    if (status == OK) {
        status = charge->call ? charge_fetch(charge, &fetch, &response)
                              : fetch_run(track->call, &fetch, &response);
    }
    if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        return status;
    }
    attempt->verdict = route_judge(provider, &response);
    attempt->http_status = response.status;
    attempt->words[0] = '\0';
    track->answer->left_out = request.left_out;
    if (attempt->verdict.outcome == ROUTE_REFUSED) {
        take_words(arena, &response, attempt->words);
    }
    return attempt->verdict.outcome == ROUTE_ANSWERED
               ? read_answer(track, attempt, &query, &request, &response)
               : OK;
}

/* ---- the pace of a source ---- */

/* The pace for who is known to the source by a key or an address to write to, where it has one. */
static const struct pace *pace_of(const struct provider *provider)
{
    const struct source_terms *terms = provider->open;
    bool known = (provider->key_variable && config_is_set(provider->key_variable)) ||
                 (terms->contact != CONTACT_UNASKED && config_is_set("FORAGE_CONTACT"));
    return known && terms->known.windows[0].calls ? &terms->known : &terms->pace;
}

/* Opens the charge of one with a key. OK, or ERR_BUSY where the budget has nothing left, as
 * `attempt` says; ERR_CANCELLED, ERR_DEADLINE. */
static int open_charge(struct track *track, struct attempt *attempt, struct charge *charge)
{
    const struct call_usage one = {.service = attempt->provider->name, .requests = 1};
    struct call_error error;
    if (!attempt->provider->key_variable) {
        return OK;
    }
    int status = charge_open(track->call, &one, charge);
    attempt->too_dear = status == ERR_BUSY;
    if (attempt->too_dear) {
        call_take_error(track->call, &error); /* another one may cost nothing */
    }
    return status;
}

/* Waits for the turn of an open source by the pace that its operator asks for (guard/pacer.h). OK:
 * pace_leave() must follow; ERR_BUSY when it has none in time, as `attempt` says; ERR_CANCELLED,
 * ERR_DEADLINE. A provider with a key has no pace, but a price. */
static int take_turn(struct track *track, struct attempt *attempt, int64_t patience_ms,
                     struct pace_turn *turn, struct charge *charge)
{
    const struct provider *provider = attempt->provider;
    *turn = (struct pace_turn){0};
    *charge = (struct charge){0};
    if (!provider->open) {
        return open_charge(track, attempt, charge);
    }
    int status = pace_take(track->call, provider->name, pace_of(provider), patience_ms, turn);
    if (status == ERR_BUSY) {
        int64_t rests_ms = turn->wait_ms > 0 ? turn->wait_ms : 1;
        attempt->rests_ms = turn->rests ? rests_ms : 0;
        attempt->late_turn = !turn->rests;
        attempt->verdict.wait_ms = turn->wait_ms;
    }
    return status;
}

static bool was_asked(const struct attempt *attempt)
{
    return !attempt->rests_ms && !attempt->late_turn && !attempt->too_dear;
}

static bool has_answered(const struct attempt *attempt)
{
    return was_asked(attempt) && attempt->verdict.outcome == ROUTE_ANSWERED;
}

/* ---- words ---- */

/* "15 days", "3 minutes". */
static void put_time(struct text_out *out, int64_t time_ms)
{
    static const struct {
        int64_t unit_ms;
        const char *name;
    } UNITS[] = {{DAY_MS, "day"}, {HOUR_MS, "hour"}, {MINUTE_MS, "minute"}, {1000, "second"}};
    size_t i = 0;
    while (i + 1 < sizeof UNITS / sizeof *UNITS && time_ms < 2 * UNITS[i].unit_ms) {
        i++;
    }
    long long count = (time_ms + UNITS[i].unit_ms - 1) / UNITS[i].unit_ms;
    text_putf(out, "%lld %s%s", count, UNITS[i].name, count == 1 ? "" : "s");
}

static void put_outcome(struct text_out *out, const struct attempt *attempt)
{
    const struct provider *provider = attempt->provider;
    const struct route_verdict *verdict = &attempt->verdict;
    const char *words = ROUTE_RULES[verdict->outcome].words;
    if (verdict->outcome == ROUTE_OUT_OF_QUOTA && provider->open) {
        words = "has no searches left to give away";
    }
    if (!words) { /* memory ended before there was an answer */
        text_put(out, "could not be asked");
        return;
    }
    const char *variable = verdict->outcome == ROUTE_NO_ACCESS && provider->key_variable
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
    if (attempt->words[0]) {
        text_putf(out, ": %s", attempt->words);
    }
    if (verdict->rest_ms >= MINUTE_MS) {
        text_put(out, ", and rests for ");
        put_time(out, verdict->rest_ms);
    }
}

static void put_attempt(struct text_out *out, const struct attempt *attempt)
{
    const struct provider *provider = attempt->provider;
    text_putf(out, "%s ", provider->title);
    if (attempt->rests_ms) {
        text_put(out, provider->open ? "rests for another " : "rests after failures in a row");
        if (provider->open) {
            put_time(out, attempt->rests_ms);
        }
    } else if (attempt->too_dear) {
        text_put(out, "was not asked: the day's budget is spent");
    } else if (attempt->late_turn) {
        text_put(out, "has been asked as often as its operator allows for now");
    } else if (attempt->verdict.outcome == ROUTE_NO_JSON) {
        text_putf(out, "(HTTP 403): %s (%s)", provider->json_refused, provider->base_variable);
    } else {
        put_outcome(out, attempt);
    }
}

/* ---- asking one of them ---- */

/* What a turn's end tells the pacer. */
static int64_t rest_after(const struct attempt *attempt, int status)
{
    const struct route_verdict *verdict = &attempt->verdict;
    return status != OK || (verdict->transient && verdict->rest_ms == 0) ? PACE_UNKNOWN
                                                                         : verdict->rest_ms;
}

static void report(struct search_route *route, const struct attempt *attempt, int status)
{
    const char *name = attempt->provider->name;
    const struct route_verdict *verdict = &attempt->verdict;
    enum breaker_result result = BREAKER_UNKNOWN;
    if (status == OK) {
        result = verdict->transient ? BREAKER_FAILED : BREAKER_ANSWERED;
    }
    breaker_report(route->breakers, name, result);
    if (status == OK && verdict->rest_ms > 0) {
        breaker_rest(route->breakers, name, verdict->rest_ms);
    }
    if (status == OK && !has_answered(attempt)) {
        char words[1400];
        struct text_out out;
        text_start(&out, words, sizeof words);
        put_attempt(&out, attempt);
        breaker_complain(route->breakers, name, words);
    }
}

/* Asks it, unless it rests or has no turn. */
static int ask(struct track *track, struct attempt *attempt, bool others)
{
    struct search_route *route = track->route;
    const struct provider *provider = attempt->provider;
    attempt->rests_ms = 0;
    attempt->late_turn = attempt->too_dear = false;
    if (!breaker_admit(route->breakers, provider->name)) {
        int64_t left = breaker_wait_ms(route->breakers, provider->name);
        attempt->rests_ms = left > 0 ? left : 1; /* or somebody else is trying it */
        return OK;
    }
    struct pace_turn turn;
    struct charge charge;
    /* As much time is left for the answer. */
    int status = take_turn(track, attempt, time_for(route, provider, others) / 2, &turn, &charge);
    if (status != OK) {
        breaker_report(route->breakers, provider->name, BREAKER_UNKNOWN);
        return status == ERR_BUSY ? OK : status;
    }
    track->tries += 0.1;
    call_progress(track->call, track->tries, 0, "searching with %s", provider->title);
    status = try_provider(track, attempt, others, &charge);
    charge_settle(&charge, NULL);
    pace_leave(&turn, rest_after(attempt, status));
    report(route, attempt, status);
    return status;
}

/* ---- telling ---- */

size_t route_tell(struct arena *arena, const struct search_route *route, struct remarks *warnings,
                  struct remarks *left_out)
{
    size_t in_vain = 0;
    for (size_t i = 0; i < route->count; i++) {
        const struct attempt *attempt = &route->attempts[i];
        int state = atomic_load(&attempt->state);
        if (state == ATTEMPT_NONE || (state == ATTEMPT_ENDED && has_answered(attempt))) {
            continue;
        }
        char words[1400];
        struct text_out out;
        text_start(&out, words, sizeof words);
        if (state == ATTEMPT_ENDED) {
            put_attempt(&out, attempt);
            in_vain += was_asked(attempt);
        } else {
            text_putf(&out, "%s did not answer in time", attempt->provider->title);
            in_vain++;
        }
        const char *copy = arena_strdup(arena, words);
        if (copy) {
            remarks_add(warnings, copy);
        }
    }
    for (size_t i = 0; i < route->unheard_count; i++) {
        const char *words = arena_printf(
            arena, "%s: it insists on an address to write to; set FORAGE_CONTACT to be answered",
            route->unheard[i]->name);
        if (words) {
            remarks_add(left_out, words);
        }
    }
    return in_vain;
}

/* ---- ends ---- */

/* The code of a failure that several may share: theirs, if they agree. */
static const char *shared_code(const struct search_route *route)
{
    const char *code = NULL;
    for (size_t i = 0; i < route->count; i++) {
        const struct attempt *attempt = &route->attempts[i];
        const char *own = attempt->late_turn   ? CODE_RATE_LIMIT
                          : attempt->too_dear  ? CODE_BUDGET
                          : was_asked(attempt) ? ROUTE_RULES[attempt->verdict.outcome].code
                                               : CODE_PROVIDER;
        own = own ? own : CODE_INTERNAL;
        if (code && strcmp(code, own) != 0) {
            return CODE_PROVIDER;
        }
        code = own;
    }
    return code;
}

/* When it is worth coming back, in seconds; 0: nobody knows. */
static int come_back_in(const struct search_route *route)
{
    int64_t soonest = INT64_MAX;
    for (size_t i = 0; i < route->count; i++) {
        const struct attempt *attempt = &route->attempts[i];
        int64_t rests = breaker_wait_ms(route->breakers, attempt->provider->name);
        int64_t wait = rests > attempt->verdict.wait_ms ? rests : attempt->verdict.wait_ms;
        if (wait > 0 && wait < soonest) {
            soonest = wait;
        }
    }
    return soonest == INT64_MAX ? 0 : (int)((soonest + 999) / 1000);
}

/* `last` is the attempt that ended it, or NULL when all of them failed for now. */
static int fail(struct track *track, const struct attempt *last)
{
    const struct search_route *route = track->route;
    char words[LIMIT_ERROR_CHARS];
    struct text_out out;
    bool open = false;
    text_start(&out, words, sizeof words);
    for (size_t i = 0; i < route->count; i++) {
        text_put(&out, i ? "; " : "");
        put_attempt(&out, &route->attempts[i]);
        open |= route->attempts[i].provider->open != NULL;
        if (last == &route->attempts[i]) {
            break;
        }
    }
    int seconds = last ? 0 : come_back_in(route);
    if (seconds) {
        text_putf(&out, "; try again in %d seconds", seconds);
    }
    if (open) {
        text_put(&out,
                 "; a provider with a key does not depend on open sources: " PROVIDER_VARIABLES);
    }
    call_fail(track->call, last ? ROUTE_RULES[last->verdict.outcome].code : shared_code(route),
              "%s", words);
    if (seconds) {
        call_fail_retry_after(track->call, seconds);
    }
    return ERR_FAILED;
}

/* ---- a track ---- */

/* Whether the search goes on after this failure: where several are asked, or none of them owes an
 * answer, always. */
static bool goes_on(const struct search_route *route, const struct attempt *attempt)
{
    return !was_asked(attempt) || attempt->verdict.transient || route->merge > 1 ||
           attempt->provider->open;
}

/* What to wait before this one is tried again; negative when that makes no sense. */
static int64_t wait_before(const struct attempt *attempt)
{
    if (!was_asked(attempt) || attempt->verdict.rest_ms ||
        !ROUTE_RULES[attempt->verdict.outcome].again) {
        return -1;
    }
    return attempt->verdict.wait_ms >= 0 ? attempt->verdict.wait_ms : TIME_SEARCH_PAUSE_MS;
}

/* The shortest wait that somebody is worth, if it leaves enough time; negative otherwise. */
static int64_t choose_wait(const struct search_route *route)
{
    int64_t shortest = INT64_MAX;
    for (size_t i = 0; i < route->count; i++) {
        int64_t wait = wait_before(&route->attempts[i]);
        if (wait >= 0 && wait < shortest) {
            shortest = wait;
        }
    }
    int64_t left = route->deadline_ms - clock_now_ms();
    return shortest <= TIME_SEARCH_PATIENCE_MS && shortest < left / 2 ? shortest : -1;
}

/* OK with the attempt that answered, or that ends it; ERR_NOTFOUND when there is nobody left. */
static int ask_next(struct track *track, struct attempt **ended)
{
    struct search_route *route = track->route;
    for (;;) {
        bool late = clock_now_ms() >= route->late_ms - RESERVE_MS;
        size_t i = late && atomic_load(&route->answered) ? route->count
                                                         : atomic_fetch_add(&route->next, 1);
        if (i >= route->count) {
            return ERR_NOTFOUND;
        }
        struct attempt *attempt = &route->attempts[i];
        atomic_store(&attempt->state, ATTEMPT_ASKED);
        int status = ask(track, attempt, i + 1 < route->count);
        if (status != OK) {
            return status; /* of the call: what became of the attempt does not matter any more */
        }
        atomic_store(&attempt->state, ATTEMPT_ENDED);
        if (has_answered(attempt) || !goes_on(route, attempt)) {
            *ended = attempt;
            return OK;
        }
    }
}

/* Once more whom it is worth, when nobody has answered: all attempts belong to this track then. */
static int ask_again(struct track *track, struct attempt **ended)
{
    struct search_route *route = track->route;
    int64_t waited_ms = choose_wait(route);
    int status = waited_ms < 0 ? ERR_NOTFOUND : call_sleep(track->call, waited_ms);
    for (size_t i = 0; status == OK && i < route->count; i++) {
        struct attempt *attempt = &route->attempts[i];
        int64_t wait = wait_before(attempt);
        if (wait < 0 || wait > waited_ms ||
            breaker_wait_ms(route->breakers, attempt->provider->name) > 0) {
            continue;
        }
        status = ask(track, attempt, i + 1 < route->count);
        if (status == OK && (has_answered(attempt) || !goes_on(route, attempt))) {
            *ended = attempt;
            return OK;
        }
    }
    return status == OK ? ERR_NOTFOUND : status;
}

int route_run(struct call *call, struct search_route *route, struct route_answer *answer)
{
    struct track track = {.call = call, .route = route, .answer = answer};
    struct attempt *ended = NULL;
    *answer = (struct route_answer){0};
    int status = ask_next(&track, &ended);
    if (status == OK && has_answered(ended)) {
        atomic_fetch_add(&route->answered, 1);
    }
    bool last = atomic_fetch_sub(&route->running, 1) == 1;
    bool alone = last && atomic_load(&route->answered) == 0;
    if (status == ERR_NOTFOUND && alone) {
        status = ask_again(&track, &ended);
        status = status == ERR_NOTFOUND ? fail(&track, NULL) : status;
    }
    if (status == OK && !has_answered(ended)) {
        return fail(&track, ended);
    }
    if (status == OK) {
        answer->provider = ended->provider;
        answer->place = (size_t)(ended - route->attempts);
        answer->remark = answer->hits.remark;
    }
    return status;
}

/* ---- the way ---- */

static int nobody(struct call *call, const struct plan *plan, const struct search_query *query)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    if (providers_chosen(chosen, &unknown) == OK && chosen[0]) {
        return call_fail(call, CODE_CONFIG,
                         "none of FORAGE_SEARCH_PROVIDERS has a search of the type %s%s",
                         SEARCH_TYPE_WORDS[query->type],
                         plan->unheard_count ? " without FORAGE_CONTACT, which is not set" : "");
    }
    return call_fail(call, CODE_CONFIG,
                     "there is no search provider: set " PROVIDER_VARIABLES
                     ", or FORAGE_SEARCH_PROVIDERS=" OPEN_GROUP " for sources without a key%s",
                     config_is_set("FORAGE_SEARCH_PROVIDERS")
                         ? "; only those that FORAGE_SEARCH_PROVIDERS names are used"
                         : "");
}

int route_new(struct call *call, struct breakers *breakers, const struct search_query *query,
              int64_t deadline_ms, struct search_route **route)
{
    struct plan *plan = arena_alloc(call_arena(call), sizeof *plan);
    struct search_route *made = arena_zalloc(call_arena(call), sizeof *made);
    if (!plan || !made) {
        return ERR_NOMEM;
    }
    plan_make(plan, query);
    if (!plan->count) {
        return nobody(call, plan, query);
    }
    int64_t now = clock_now_ms();
    int64_t share = (deadline_ms - now) / 2;
    int64_t source_ms = config_duration_ms("FORAGE_SEARCH_SOURCE_TIMEOUT");
    made->breakers = breakers;
    made->query = *query;
    made->deadline_ms = deadline_ms;
    source_ms = share < source_ms ? share : source_ms;
    /* A try ends a little before it is late, so that its end is told and not only its lateness. */
    made->source_ms = source_ms - 2 * RESERVE_MS;
    made->late_ms = now + source_ms - RESERVE_MS;
    made->merge = plan->merge;
    made->tracks = plan->merge < plan->count ? plan->merge : plan->count;
    made->running = made->tracks;
    made->count = plan->count;
    for (size_t i = 0; i < plan->count; i++) {
        made->attempts[i].provider = plan->items[i].provider;
        made->attempts[i].type = plan->items[i].type;
        made->attempts[i].verdict.wait_ms = -1;
    }
    memcpy(made->unheard, plan->unheard, sizeof made->unheard);
    made->unheard_count = plan->unheard_count;
    *route = made;
    return OK;
}

const char *route_first(const struct search_route *route)
{
    return route->attempts[0].provider->name;
}

size_t route_tracks(const struct search_route *route)
{
    return route->tracks;
}

int64_t route_late_ms(const struct search_route *route)
{
    return route->late_ms;
}

bool route_in_turn(const struct search_route *route)
{
    for (size_t i = 0; i < route->tracks; i++) {
        if (route->attempts[i].provider->one_at_a_time) {
            return true;
        }
    }
    return false;
}
