/* Checks of services: whether a key is there and, online, whether it is accepted. What is asked is
 * what spends least; the table in doctor.c says what that is. */
#include "websearch/open/services.h"
#include "config/config.h"
#include "core/limits.h"
#include "doctor/check.h"
#include "guard/charge.h"
#include "proc/proc.h"
#include "research/worker.h"
#include "websearch/plan.h"
#include "websearch/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- asking ---- */

static const struct provider NOBODY = {.name = ""};

/* What an outcome says of the key. */
static const struct {
    enum finding_state state;
    const char *words; /* after "the key" */
} ANSWERS[] = {
    [ROUTE_ANSWERED] = {FINDING_OK, "is accepted"},
    [ROUTE_NETWORK] = {FINDING_BROKEN, "could not be tried: nobody answers"},
    [ROUTE_CUT_OFF] = {FINDING_BROKEN, "could not be tried: the answer broke off"},
    [ROUTE_TIMEOUT] = {FINDING_BROKEN, "could not be tried: no answer in time"},
    [ROUTE_RATE_LIMITED] = {FINDING_WARNING, "is accepted, but used too often just now"},
    [ROUTE_OUT_OF_QUOTA] = {FINDING_WARNING, "is accepted, but nothing is left on its account"},
    [ROUTE_SERVER_ERROR] = {FINDING_BROKEN, "could not be tried: the service fails"},
    [ROUTE_UNREADABLE] = {FINDING_BROKEN, "could not be tried: the answer makes no sense"},
    [ROUTE_BLOCKED] = {FINDING_BROKEN, "could not be tried: the service lets nobody in"},
    [ROUTE_REFUSED] = {FINDING_BROKEN, "is refused"},
    [ROUTE_NO_ACCESS] = {FINDING_BROKEN, "is refused"},
    [ROUTE_NO_JSON] = {FINDING_BROKEN, "is right, but JSON is switched off there"},
    [ROUTE_MISSING] = {FINDING_BROKEN, "could not be tried: the service is not at its address"},
    [ROUTE_NO_REQUEST] = {FINDING_BROKEN, "could not be tried: the address is wrong"},
};

/* Sends a request, which is paid for where its provider has a key. */
static int send_request(struct look *look, const struct provider *provider,
                        const struct fetch_request *request, struct fetch_response *response)
{
    struct charge charge;
    if (!provider->key_variable || provider->open) {
        return fetch_run(look->call, request, response);
    }
    const struct call_usage one = {.service = provider->name, .requests = 1};
    int status = charge_open(look->call, &one, &charge);
    if (status == OK) {
        status = charge_fetch(&charge, request, response);
        charge_settle(&charge, NULL);
    }
    return status;
}

/* OK with a response that can be judged, which may be that there is none; otherwise a status of the
 * call, or ERR_BUSY where the budget has nothing left. */
static int ask(struct look *look, const char *url, const struct provider *provider,
               struct fetch_request request, struct fetch_response *response)
{
    struct url parsed;
    *response = (struct fetch_response){0};
    int status = fetch_parse(look->call, url, &parsed, response);
    if (status == OK) {
        request.url = &parsed;
        request.upstream = "service";
        status = send_request(look, provider, &request, response);
    }
    if (status == ERR_DEADLINE) {
        response->failure = FETCH_TIMEOUT;
    }
    return status == ERR_DEADLINE || status == ERR_FAILED ? OK : status;
}

/* Says what a service answered to a request that only a good key is let in with: `what` ("the
 * key") comes from `variable`. `provider` may be NULL. */
static void ask_service(struct look *look, const char *url, struct fetch_request request,
                        const char *what, const char *variable, const struct provider *provider)
{
    struct fetch_response response;
    provider = provider ? provider : &NOBODY;
    int status = ask(look, url, provider, request, &response);
    if (status != OK) {
        report(look, FINDING_BROKEN, "%s could not be tried: %s", what,
               status == ERR_BUSY ? "the day's budget is spent" : status_name(status));
        return;
    }
    enum route_outcome outcome = route_judge(provider, &response).outcome;
    enum finding_state state = ANSWERS[outcome].state;
    if (response.status) {
        report(look, state, "%s %s (HTTP %d)", what, ANSWERS[outcome].words, response.status);
    } else {
        report(look, state, "%s %s%s%s", what, ANSWERS[outcome].words, response.error ? ": " : "",
               response.error ? response.error : "");
    }
    if (outcome == ROUTE_NO_JSON) {
        suggest(look, "add json to search.formats in its settings.yml");
    } else if (outcome == ROUTE_NO_ACCESS || outcome == ROUTE_REFUSED) {
        suggest_setting(look, variable, "YOUR-KEY");
    } else if (state == FINDING_BROKEN) {
        suggest(look, "curl -v %.*s", (int)strcspn(url, "?"), url);
    }
}

/* Asks for `path` below an address, with the key in a header; `key` NULL: without. */
static void ask_with_header(struct look *look, const char *base, const char *path,
                            const char *header, const char *variable, const char *key)
{
    struct arena *arena = call_arena(look->call);
    struct fetch_header headers[3] = {{"User-Agent", "forage/" FORAGE_VERSION, false}};
    size_t count = 1;
    size_t length = strlen(base);
    while (length && base[length - 1] == '/') {
        length--;
    }
    const char *url = arena_printf(arena, "%.*s%s", (int)length, base, path);
    if (key) {
        bool bearer = strcmp(header, "Authorization") == 0;
        const char *value = arena_printf(arena, "%s%s", bearer ? "Bearer " : "", key);
        headers[count++] = (struct fetch_header){header, value, true};
    }
    if (strcmp(header, "x-api-key") == 0) { /* Anthropic's, which wants to know this too */
        headers[count++] = (struct fetch_header){"anthropic-version", "2023-06-01", false};
    }
    struct fetch_request request = {.headers = headers, .header_count = count};
    if (!arena_failed(arena)) {
        ask_service(look, url, request, key ? "the key" : "the service", variable, NULL);
    }
}

static void report_set(struct look *look, const char *variable)
{
    report(look, FINDING_OK, "%s is set (%s)", variable, config_origin(variable));
}

static const char *set_text(const char *variable)
{
    const char *text = config_text(variable);
    return text && *text ? text : NULL;
}

/* ---- searching ---- */

void look_at_order(struct look *look)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown = NULL;
    char names[200];
    struct text_out out;
    if (providers_chosen(chosen, &unknown) != OK) {
        report(look, FINDING_BROKEN, "FORAGE_SEARCH_PROVIDERS names %s, which is no provider",
               unknown);
        suggest_unset(look, "FORAGE_SEARCH_PROVIDERS");
        return;
    }
    bool open_told = false;
    text_start(&out, names, sizeof names);
    for (size_t i = 0; chosen[i]; i++) {
        if (!chosen[i]->open || !open_told) {
            text_putf(&out, "%s%s", i ? ", then " : "",
                      chosen[i]->open ? "open sources" : chosen[i]->title);
        }
        open_told = open_told || chosen[i]->open;
    }
    if (*names) {
        report(look, FINDING_OK, "%s", names);
    } else {
        report(look, FINDING_UNUSED,
               "no provider is set up; web search takes a key of one, or "
               "FORAGE_SEARCH_PROVIDERS=" OPEN_GROUP " for sources that need none");
    }
}

static bool is_named(const char *name)
{
    size_t wanted;
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &wanted);
    for (size_t i = 0; i < wanted; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_left_out(const struct provider *provider)
{
    return config_is_set("FORAGE_SEARCH_PROVIDERS") && !is_named(provider->name);
}

/* The request of one search for one result. OK or ERR_NOMEM. */
static int one_search(struct look *look, const struct provider *provider, enum search_type type,
                      const char **url, struct fetch_request *fetch)
{
    struct arena *arena = call_arena(look->call);
    const struct search_query query = {.text = "forage", .count = 1, .page = 1, .type = type};
    struct provider_request *request = arena_alloc(arena, sizeof *request);
    int status = request ? route_request(provider, arena, &query, request) : ERR_NOMEM;
    if (status == OK) {
        *url = request->url;
        *fetch = (struct fetch_request){
            .headers = request->headers,
            .header_count = request->header_count,
            .body = request->body,
            .body_length = request->body ? strlen(request->body) : 0,
        };
    }
    return status;
}

static void search_once(struct look *look, const struct provider *provider)
{
    const char *url;
    struct fetch_request fetch;
    if (one_search(look, provider, SEARCH_WEB, &url, &fetch) == OK) {
        ask_service(look, url, fetch, provider->key_variable ? "the key" : "the address",
                    provider->key_variable ? provider->key_variable : provider->base_variable,
                    provider);
    }
}

void look_at_provider(struct look *look)
{
    const struct provider *provider = look->check->provider;
    const char *variable =
        provider->key_variable ? provider->key_variable : provider->base_variable;
    if (is_left_out(provider)) {
        report(look, FINDING_UNUSED, "FORAGE_SEARCH_PROVIDERS leaves it out");
        return;
    }
    if (!provider_configured(provider)) {
        report(look, FINDING_MISSING, "%s is not set", variable);
        suggest_setting(look, variable,
                        provider->key_variable ? "YOUR-KEY" : "https://searx.example.org");
        return;
    }
    report_set(look, variable);
    if (!look->options->online) {
        return;
    }
    if (provider == &PROVIDER_TAVILY) { /* it tells of a key without a search */
        ask_with_header(look, config_text(provider->base_variable), "/usage", "Authorization",
                        variable, config_text(variable));
    } else {
        search_once(look, provider);
    }
}

/* ---- open sources ---- */

/* Asks one, and appends what came of it. Whether it answered. */
static bool try_open(struct look *look, const struct provider *source, struct text_out *out)
{
    const char *url;
    struct fetch_request fetch;
    struct fetch_response response;
    enum search_type type = SEARCH_WEB;
    while (type + 1 < SEARCH_TYPES && !source->paths[type]) {
        type++;
    }
    if (one_search(look, source, type, &url, &fetch) != OK ||
        ask(look, url, source, fetch, &response) != OK) {
        text_putf(out, "; %s could not be tried", source->title);
        return false;
    }
    bool answers = route_judge(source, &response).outcome == ROUTE_ANSWERED;
    text_putf(out, "; %s %s", source->title, answers ? "answers" : "does not answer");
    if (response.status) {
        text_putf(out, " (HTTP %d)", response.status);
    } else if (response.error) {
        text_putf(out, ": %s", response.error);
    }
    return answers;
}

/* Those that the settings name, each or all of them, whether they are asked or not. NULL ends
 * them. */
static void list_open(const struct provider *named[LIMIT_SEARCH_PROVIDERS + 1])
{
    size_t count = 0;
    for (size_t i = 0; OPEN_SOURCES[i] && count < LIMIT_SEARCH_PROVIDERS; i++) {
        if (is_named(OPEN_GROUP) || is_named(OPEN_SOURCES[i]->name)) {
            named[count++] = OPEN_SOURCES[i];
        }
    }
    named[count] = NULL;
}

/* The one that a search of the web would ask first, or the first that is asked for anything. */
static const struct provider *first_open(const struct provider *const *named)
{
    struct plan plan;
    plan_make(&plan, &(struct search_query){.text = "forage", .type = SEARCH_WEB});
    for (size_t i = 0; i < plan.count; i++) {
        if (plan.items[i].provider->open) {
            return plan.items[i].provider;
        }
    }
    while (*named && !provider_configured(*named)) {
        named++;
    }
    return *named;
}

static void offer_open(struct look *look)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    bool decided = config_is_set("FORAGE_SEARCH_PROVIDERS") ||
                   (providers_chosen(chosen, &unknown) == OK && chosen[0]);
    report(look, decided ? FINDING_UNUSED : FINDING_MISSING,
           "they need no key; FORAGE_SEARCH_PROVIDERS does not name them");
    if (!decided) {
        suggest_setting(look, "FORAGE_SEARCH_PROVIDERS", OPEN_GROUP);
    }
}

void look_at_open(struct look *look)
{
    static const char UNHEARD[] = "; not asked without FORAGE_CONTACT: ";
    const struct provider *named[LIMIT_SEARCH_PROVIDERS + 1];
    char text[sizeof look->finding.text];
    struct text_out out;
    list_open(named);
    if (!named[0]) {
        offer_open(look);
        return;
    }
    text_start(&out, text, sizeof text);
    for (enum search_type type = SEARCH_WEB; type < SEARCH_TYPES; type++) {
        services_put(&out, *text ? "; " : "", named, type);
    }
    services_put_unheard(&out, *text ? UNHEARD : UNHEARD + strlen("; "), named);
    const struct provider *first = first_open(named);
    bool well = first && (!look->options->online || try_open(look, first, &out));
    report(look, well ? FINDING_OK : first ? FINDING_WARNING : FINDING_BROKEN, "%s", text);
    if (!first) {
        suggest_setting(look, "FORAGE_CONTACT", "you@example.org");
    }
}

/* ---- keys that have one header and one address ---- */

struct service_check {
    const char *variable;
    const char *base; /* a variable, or an address */
    const char *path;
    const char *header;
    const char *without; /* words where the key is not set */
};

static void look_at_service(struct look *look, const struct service_check *service)
{
    const char *key = set_text(service->variable);
    if (!key) {
        report(look, FINDING_MISSING, "%s", service->without);
        suggest_setting(look, service->variable, "YOUR-KEY");
        return;
    }
    report_set(look, service->variable);
    if (look->options->online) {
        ask_with_header(look,
                        strstr(service->base, "://") ? service->base : config_text(service->base),
                        service->path, service->header, service->variable, key);
    }
}

void look_at_github(struct look *look)
{
    look_at_service(look, &(struct service_check){"GITHUB_TOKEN", "GITHUB_BASE_URL", "/rate_limit",
                                                  "Authorization",
                                                  "no GITHUB_TOKEN: 60 requests an hour, and no "
                                                  "discussions"});
}

void look_at_stackexchange(struct look *look)
{
    static const char VARIABLE[] = "STACKEXCHANGE_KEY";
    const char *key = set_text(VARIABLE);
    if (!key || !look->options->online) {
        look_at_service(look, &(struct service_check){VARIABLE, "STACKEXCHANGE_BASE_URL", "", "",
                                                      "no STACKEXCHANGE_KEY: 300 requests a day"});
        return;
    }
    /* This one wants its key in the address. */
    struct buf url;
    buf_init(&url, KIB(16));
    buf_printf(&url, "%s/2.3/info?site=stackoverflow", config_text("STACKEXCHANGE_BASE_URL"));
    query_put(&url, "key", key);
    if (url.data && buf_error(&url) == OK) {
        ask_service(look, url.data, (struct fetch_request){0}, "the key", VARIABLE, NULL);
    }
    buf_done(&url);
}

void look_at_openai(struct look *look)
{
    if (look_at_answering_model(look)) {
        return;
    }
    if (!set_text("OPENAI_API_KEY") && config_is_set("OPENAI_BASE_URL")) {
        report_set(look, "OPENAI_BASE_URL");
        if (look->options->online) {
            ask_with_header(look, config_text("OPENAI_BASE_URL"), "/models", "Authorization",
                            "OPENAI_API_KEY", NULL);
        }
        return;
    }
    look_at_service(look, &(struct service_check){"OPENAI_API_KEY", "OPENAI_BASE_URL", "/models",
                                                  "Authorization", "OPENAI_API_KEY is not set"});
}

/* ---- research ---- */

void look_at_firecrawl(struct look *look)
{
    const char *own = set_text("FIRECRAWL_API_URL");
    if (own && !set_text("FIRECRAWL_API_KEY")) {
        report_set(look, "FIRECRAWL_API_URL");
        if (look->options->online) {
            ask_with_header(look, own, "/", "Authorization", "FIRECRAWL_API_URL", NULL);
        }
        return;
    }
    look_at_service(
        look, &(struct service_check){"FIRECRAWL_API_KEY", own ? own : "https://api.firecrawl.dev",
                                      "/v2/team/credit-usage", "Authorization",
                                      "not set up: the worker reads pages with forage"});
}

static bool has_file_at_home(const char *name)
{
    char path[4096];
    const char *home = getenv("HOME");
    return home && snprintf(path, sizeof path, "%s/%s", home, name) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

static bool is_in_environment(const char *variable)
{
    const char *set = getenv(variable);
    return set && *set;
}

static const char *address_or(const char *variable, const char *otherwise)
{
    const char *set = set_text(variable);
    return set ? set : otherwise;
}

/* How a worker may be let in, in the order in which it looks. */
static const struct way {
    const struct worker *worker;
    const char *variable; /* a setting, or of the environment alone */
    bool declared;
    const char *file; /* at home */
    const char *words;
} WAYS[] = {
    {&WORKER_GEMINI, "GEMINI_API_KEY", true, NULL, NULL},
    {&WORKER_GEMINI, "GOOGLE_API_KEY", true, NULL, NULL},
    {&WORKER_GEMINI, "GOOGLE_CLOUD_PROJECT", false, NULL, "Vertex AI, project of the environment"},
    {&WORKER_GEMINI, NULL, false, ".gemini/oauth_creds.json", "signed in (~/.gemini)"},
    {&WORKER_CLAUDE, "ANTHROPIC_API_KEY", true, NULL, NULL},
    {&WORKER_CLAUDE, "ANTHROPIC_AUTH_TOKEN", true, NULL, NULL},
    {&WORKER_CLAUDE, "CLAUDE_CODE_OAUTH_TOKEN", true, NULL, NULL},
    {&WORKER_CLAUDE, NULL, false, ".claude/.credentials.json", "signed in (~/.claude)"},
};

static bool is_open(const struct way *way)
{
    if (way->worker != worker_chosen()) {
        return false;
    }
    if (way->file) {
        return has_file_at_home(way->file);
    }
    return way->declared ? set_text(way->variable) != NULL : is_in_environment(way->variable);
}

/* Only keys can be tried without the worker. */
static void try_worker_key(struct look *look, const char *variable)
{
    if (strcmp(variable, "GEMINI_API_KEY") == 0) {
        ask_with_header(
            look, address_or("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
            "/v1beta/models?pageSize=1", "x-goog-api-key", variable, config_text(variable));
    } else if (strcmp(variable, "ANTHROPIC_API_KEY") == 0) {
        ask_with_header(look, address_or("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
                        "/v1/models?limit=1", "x-api-key", variable, config_text(variable));
    }
}

void look_at_sign_in(struct look *look)
{
    const struct worker *worker = worker_chosen();
    char path[WORKER_PATH_SIZE];
    char problem[512];
    if (worker_is_own()) {
        report(look, FINDING_UNUSED, "forage researches by itself");
        return;
    }
    bool found = worker_find(worker, path, problem, sizeof problem) == OK;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        if (!is_open(&WAYS[i])) {
            continue;
        }
        if (WAYS[i].words) {
            report(look, FINDING_OK, "%s", WAYS[i].words);
        } else {
            report_set(look, WAYS[i].variable);
            if (look->options->online) {
                try_worker_key(look, WAYS[i].variable);
            }
        }
        return;
    }
    report(look, FINDING_MISSING, "%s has neither a key nor an account", worker->title);
    if (found) {
        suggest(look, "%s", worker->program);
    } else {
        suggest_setting(look, worker == &WORKER_CLAUDE ? "ANTHROPIC_API_KEY" : "GEMINI_API_KEY",
                        "YOUR-KEY");
    }
}
