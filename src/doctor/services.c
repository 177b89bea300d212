/* Checks of services: whether a key is there and, online, whether it is accepted. What is asked is
 * what spends least; the table in doctor.c says what that is. */
#include "config/config.h"
#include "core/limits.h"
#include "doctor/check.h"
#include "proc/proc.h"
#include "research/worker.h"
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
    [ROUTE_TIMEOUT] = {FINDING_BROKEN, "could not be tried: no answer in time"},
    [ROUTE_RATE_LIMITED] = {FINDING_WARNING, "is accepted, but used too often just now"},
    [ROUTE_OUT_OF_QUOTA] = {FINDING_WARNING, "is accepted, but nothing is left on its account"},
    [ROUTE_SERVER_ERROR] = {FINDING_BROKEN, "could not be tried: the service fails"},
    [ROUTE_UNREADABLE] = {FINDING_BROKEN, "could not be tried: the answer makes no sense"},
    [ROUTE_REFUSED] = {FINDING_BROKEN, "is refused"},
    [ROUTE_NO_ACCESS] = {FINDING_BROKEN, "is refused"},
    [ROUTE_NO_JSON] = {FINDING_BROKEN, "is right, but JSON is switched off there"},
    [ROUTE_MISSING] = {FINDING_BROKEN, "could not be tried: the service is not at its address"},
    [ROUTE_NO_REQUEST] = {FINDING_BROKEN, "could not be tried: the address is wrong"},
};

/* Says what a service answered to a request that only a good key is let in with: `what` ("the
 * key") comes from `variable`. `provider` may be NULL. */
static void ask_service(struct look *look, const char *url, struct fetch_request request,
                        const char *what, const char *variable, const struct provider *provider)
{
    struct fetch_response response = {0};
    struct url parsed;
    int status = fetch_parse(look->call, url, &parsed, &response);
    if (status == OK) {
        request.url = &parsed;
        status = fetch_run(look->call, &request, &response);
    }
    if (status == ERR_DEADLINE) {
        response.failure = FETCH_TIMEOUT;
    } else if (status != OK && status != ERR_FAILED) {
        report(look, FINDING_BROKEN, "%s could not be tried: %s", what, status_name(status));
        return;
    }
    enum route_outcome outcome = route_judge(provider ? provider : &NOBODY, &response).outcome;
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
    char names[200] = "";
    if (providers_chosen(chosen, &unknown) != OK) {
        report(look, FINDING_BROKEN, "FORAGE_SEARCH_PROVIDERS names %s, which is no provider",
               unknown);
        suggest_unset(look, "FORAGE_SEARCH_PROVIDERS");
        return;
    }
    for (size_t i = 0; chosen[i]; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i ? ", then " : "",
                 chosen[i]->title);
    }
    if (*names) {
        report(look, FINDING_OK, "%s", names);
    } else {
        report(look, FINDING_UNUSED, "no provider is set up");
    }
}

static bool is_left_out(const struct provider *provider)
{
    size_t wanted;
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &wanted);
    for (size_t i = 0; i < wanted; i++) {
        if (strcmp(names[i], provider->name) == 0) {
            return false;
        }
    }
    return wanted > 0;
}

/* One search for one result. */
static void search_once(struct look *look, const struct provider *provider)
{
    const struct search_query query = {.text = "forage", .count = 1, .page = 1};
    struct provider_request request;
    if (route_request(provider, call_arena(look->call), &query, &request) != OK) {
        return;
    }
    struct fetch_request fetch = {
        .headers = request.headers,
        .header_count = request.header_count,
        .body = request.body,
        .body_length = request.body ? strlen(request.body) : 0,
    };
    ask_service(look, request.url, fetch, provider->key_variable ? "the key" : "the address",
                provider->key_variable ? provider->key_variable : provider->base_variable,
                provider);
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

/* ---- keys that have one header and one address ---- */

struct service {
    const char *variable;
    const char *base; /* a variable, or an address */
    const char *path;
    const char *header;
    const char *without; /* words where the key is not set */
};

static void look_at_service(struct look *look, const struct service *service)
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
    look_at_service(look, &(struct service){"GITHUB_TOKEN", "GITHUB_BASE_URL", "/rate_limit",
                                            "Authorization",
                                            "no GITHUB_TOKEN: 60 requests an hour, and no "
                                            "discussions"});
}

void look_at_stackexchange(struct look *look)
{
    static const char VARIABLE[] = "STACKEXCHANGE_KEY";
    const char *key = set_text(VARIABLE);
    if (!key || !look->options->online) {
        look_at_service(look, &(struct service){VARIABLE, "STACKEXCHANGE_BASE_URL", "", "",
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
    if (!set_text("OPENAI_API_KEY") && config_is_set("OPENAI_BASE_URL")) {
        report_set(look, "OPENAI_BASE_URL");
        if (look->options->online) {
            ask_with_header(look, config_text("OPENAI_BASE_URL"), "/models", "Authorization",
                            "OPENAI_API_KEY", NULL);
        }
        return;
    }
    look_at_service(look, &(struct service){"OPENAI_API_KEY", "OPENAI_BASE_URL", "/models",
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
    look_at_service(look,
                    &(struct service){"FIRECRAWL_API_KEY", own ? own : "https://api.firecrawl.dev",
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

static const char *address_or(const char *variable, const char *otherwise)
{
    const char *set = getenv(variable);
    return set && *set ? set : otherwise;
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
    return way->declared ? set_text(way->variable) != NULL : *address_or(way->variable, "");
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
