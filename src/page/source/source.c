/* What is sent with a request, what may be kept of an answer, and when a kept one is good enough.
 */
#include "page/source/source.h"

#include "config/config.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "page/source/cache.h"
#include "page/source/redirects.h"
#include "text/url.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ACCEPT            "text/markdown, text/html;q=0.9, */*;q=0.1"
#define ACCEPT_LANGUAGE   "en, *;q=0.5"
#define WHO_WE_ARE        "Mozilla/5.0 (compatible; forage/" FORAGE_VERSION "; page reader)"
#define OWN_HEADERS       5    /* the three above, and two that ask whether something changed */
#define SHARE_KEPT_BACK   10   /* a tenth of the time that is left, */
#define MOST_KEPT_BACK_MS 2000 /* but no more than this, to tell that there was too little */

/* ---- what the process shares ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct line hosts;   /* of transfers, by host and port */
static struct cache *cache; /* NULL: nothing is kept */
static _Atomic bool cache_works = true;

/* The folder of the cache, to be freed; NULL when there is no place for it. */
char *source_cache_folder(void)
{
    const char *chosen = config_text("FORAGE_CACHE_DIR");
    const char *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *folder = NULL;
    int length = -1;
    if (chosen && *chosen) {
        length = asprintf(&folder, "%s", chosen);
    } else if (caches && *caches == '/') {
        length = asprintf(&folder, "%s/forage", caches);
    } else if (home && *home == '/') {
        length = asprintf(&folder, "%s/.cache/forage", home);
    }
    return length < 0 ? NULL : folder;
}

static void set_up(void)
{
    line_init(&hosts, LIMIT_HOST_TRANSFERS);
    if (config_duration_ms("FORAGE_CACHE_TTL") == 0) {
        return;
    }
    char problem[512] = "there is no home folder";
    char *folder = source_cache_folder();
    if (folder) {
        uint64_t most = (uint64_t)config_int("FORAGE_CACHE_MAX_MB") * MIB(1);
        cache = cache_open(folder, most, problem, sizeof problem);
    }
    if (!cache) {
        log_warn(NULL, "pages are not kept: %s (FORAGE_CACHE_DIR)", problem);
    }
    free(folder);
}

/* ---- the request ---- */

struct plan {
    struct call *call;
    const struct source_request *request;
    struct fetch_request fetch;
    struct fetch_header *headers;
    bool kept; /* its answer may be kept and found */
    char key[CACHE_KEY_SIZE];
};

static void add_header(struct plan *plan, const char *name, const char *value)
{
    for (size_t i = 0; i < plan->request->header_count; i++) {
        if (strcasecmp(plan->request->headers[i].name, name) == 0) {
            return; /* whoever asks knows better */
        }
    }
    plan->headers[plan->fetch.header_count++] = (struct fetch_header){.name = name, .value = value};
}

static int make_headers(struct plan *plan)
{
    const struct source_request *request = plan->request;
    size_t most = request->header_count + OWN_HEADERS;
    plan->headers = arena_zalloc(call_arena(plan->call), most * sizeof *plan->headers);
    if (!plan->headers) {
        return ERR_NOMEM;
    }
    const char *name = config_text("FORAGE_USER_AGENT");
    add_header(plan, "Accept", request->accept ? request->accept : ACCEPT);
    add_header(plan, "Accept-Language", ACCEPT_LANGUAGE);
    add_header(plan, "User-Agent", name && *name ? name : WHO_WE_ARE);
    for (size_t i = 0; i < request->header_count; i++) {
        plan->headers[plan->fetch.header_count++] = request->headers[i];
    }
    return OK;
}

static bool carries_secret(const struct plan *plan)
{
    const struct source_request *request = plan->request;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct fetch_header *header = &request->headers[i];
        if (header->secret || strcasecmp(header->name, "authorization") == 0 ||
            strcasecmp(header->name, "cookie") == 0 ||
            redact_needed(header->value, strlen(header->value))) {
            return true;
        }
    }
    return redact_needed(request->url->text, strlen(request->url->text));
}

/* Whatever the answer depends on. What the policy opens is part of it: a page of a private host
 * must not be found by a process that may not fetch it. */
static int make_key(struct plan *plan, const char *method)
{
    const char *opened = config_text("FORAGE_ALLOW_PRIVATE_HOSTS");
    const char *text = plan->request->url->text;
    const char *address =
        arena_strndup(call_arena(plan->call), text, strcspn(text, "#")); /* never sent */
    const char **parts =
        arena_zalloc(call_arena(plan->call), (2 * plan->fetch.header_count + 6) * sizeof *parts);
    if (!address || !parts) {
        return ERR_NOMEM;
    }
    size_t count = 0;
    parts[count++] = method;
    parts[count++] = address;
    parts[count++] = opened ? opened : "";
    parts[count++] = plan->request->configured ? "configured" : "";
    for (size_t i = 0; i < plan->fetch.header_count; i++) {
        parts[count++] = plan->headers[i].name;
        parts[count++] = plan->headers[i].value;
    }
    cache_key(plan->key, parts);
    return OK;
}

/* A little less than what is left, so that there is time to say that it was too little. */
static int64_t time_for(struct call *call)
{
    int64_t left = call_time_left_ms(call);
    int64_t back = left / SHARE_KEPT_BACK;
    left -= back < MOST_KEPT_BACK_MS ? back : MOST_KEPT_BACK_MS;
    return left < TIME_SOURCE_MS ? left : TIME_SOURCE_MS;
}

static int make_plan(struct plan *plan, const char *method)
{
    const struct source_request *request = plan->request;
    int status = make_headers(plan);
    if (status != OK) {
        return status;
    }
    plan->kept = cache && !request->body && !request->uncached && !carries_secret(plan);
    if (plan->kept) {
        status = make_key(plan, method);
    }
    plan->fetch.url = request->url;
    plan->fetch.headers = plan->headers;
    plan->fetch.body = request->body;
    plan->fetch.body_length = request->body_length;
    plan->fetch.max_body_bytes = request->max_bytes;
    plan->fetch.timeout_ms = time_for(plan->call);
    return status;
}

/* ---- what is kept ---- */

/* Headers of an answer that somebody may want later. */
static const char *const KEPT_HEADERS[] = {
    "cache-control",
    "content-disposition",
    "content-language",
    "content-type",
    "etag",
    "last-modified",
    "link",
};

#define KEPT_HEADER_COUNT (sizeof KEPT_HEADERS / sizeof *KEPT_HEADERS)

/* Whether a list such as "no-cache, max-age=0" holds a word. */
static bool list_holds(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        if (strncasecmp(list, word, length) == 0 && strchr(" \t,=", list[length])) {
            return true;
        }
        list += strcspn(list, ",");
    }
    return false;
}

static const char *entry_header(const struct cache_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->header_count; i++) {
        if (strcmp(entry->headers[i].name, name) == 0) {
            return entry->headers[i].value;
        }
    }
    return NULL;
}

static bool is_young(const struct cache_entry *entry)
{
    return entry->age_s < config_duration_ms("FORAGE_CACHE_TTL") / 1000 &&
           !list_holds(entry_header(entry, "cache-control"), "no-cache");
}

static bool may_keep(const struct fetch_response *fetched)
{
    const char *control = fetch_header_value(fetched, "cache-control");
    return fetched->status == 200 && !list_holds(control, "no-store") &&
           !list_holds(control, "private") &&
           !list_holds(fetch_header_value(fetched, "vary"), "*") &&
           !redact_needed(fetched->body, fetched->body_length) &&
           !redact_needed(fetched->url, strlen(fetched->url));
}

/* A cache that cannot be written is worth one warning, and none of the work. */
static void keep(const struct plan *plan, const struct fetch_response *fetched)
{
    struct cache_header headers[KEPT_HEADER_COUNT];
    struct cache_entry entry = {
        .url = fetched->url,
        .headers = headers,
        .body = fetched->body,
        .body_length = fetched->body_length,
    };
    for (size_t i = 0; i < KEPT_HEADER_COUNT; i++) {
        const char *value = fetch_header_value(fetched, KEPT_HEADERS[i]);
        if (value) {
            headers[entry.header_count++] = (struct cache_header){KEPT_HEADERS[i], value};
        }
    }
    int status = cache_keep(cache, plan->key, &entry);
    bool worked = status != ERR_IO;
    if (atomic_exchange(&cache_works, worked) && !worked) {
        log_warn(call_request_id(plan->call), "the cache of pages cannot be written: %s",
                 strerror(errno));
    }
}

static int answer_from(const struct plan *plan, const struct cache_entry *entry, int64_t age_s,
                       struct source_response *response)
{
    size_t count = entry->header_count;
    struct fetch_header *headers =
        arena_zalloc(call_arena(plan->call), (count + 1) * sizeof *headers);
    if (!headers) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        headers[i] =
            (struct fetch_header){.name = entry->headers[i].name, .value = entry->headers[i].value};
    }
    *response = (struct source_response){
        .fetched =
            {
                .status = 200,
                .url = entry->url,
                .content_type = entry_header(entry, "content-type"),
                .headers = headers,
                .header_count = count,
                .body = entry->body,
                .body_length = entry->body_length,
            },
        .from_cache = true,
        .age_s = age_s,
    };
    return OK;
}

/* ---- asking ---- */

/* Adds what makes a server answer 304 when nothing changed. False when the old answer has nothing
 * to compare by. */
static bool ask_for_change(struct plan *plan, const struct cache_entry *entry)
{
    const char *etag = entry_header(entry, "etag");
    const char *modified = entry_header(entry, "last-modified");
    if (etag) {
        add_header(plan, "If-None-Match", etag);
    }
    if (modified) {
        add_header(plan, "If-Modified-Since", modified);
    }
    return etag || modified;
}

static int ask(struct plan *plan, const struct cache_entry *old, struct source_response *response)
{
    struct fetch_response *fetched = &response->fetched;
    size_t unconditional = plan->fetch.header_count;
    bool conditional = old && ask_for_change(plan, old);
    int status =
        redirects_follow(plan->call, &hosts, &plan->fetch, plan->request->configured, fetched);
    if (conditional && status == OK && fetched->status == 304) {
        if (strcmp(fetched->url, old->url) == 0) {
            cache_confirm(cache, plan->key);
            return answer_from(plan, old, 0, response);
        }
        /* Another page answers there now, and it knows nothing of the old one. */
        plan->fetch.header_count = unconditional;
        status =
            redirects_follow(plan->call, &hosts, &plan->fetch, plan->request->configured, fetched);
    }
    if (status == OK && plan->kept && may_keep(fetched)) {
        keep(plan, fetched);
    }
    return status;
}

static int refuse(struct source_response *response, const struct url *url)
{
    response->fetched = (struct fetch_response){
        .failure = FETCH_NOMEM, .error = "out of memory", .url = url->text, .body = ""};
    return ERR_FAILED;
}

int source_get(struct call *call, const struct source_request *request,
               struct source_response *response)
{
    struct plan plan = {.call = call, .request = request};
    struct cache_entry old;
    memset(response, 0, sizeof *response);
    pthread_once(&once, set_up);
    if (make_plan(&plan, "GET") != OK) {
        return refuse(response, request->url);
    }
    int status = plan.kept ? cache_find(cache, call_arena(call), plan.key, &old) : ERR_NOTFOUND;
    if (status == OK && request->max_bytes && old.body_length > request->max_bytes) {
        status = ERR_NOTFOUND;
    }
    if (status == OK && is_young(&old)) {
        status = answer_from(&plan, &old, old.age_s, response);
        return status == OK ? OK : refuse(response, request->url);
    }
    return ask(&plan, status == OK ? &old : NULL, response);
}

/* ---- rendered pages ---- */

/* The plan of a rendering: only its key is of use. */
static int plan_rendering(struct call *call, const struct source_request *request,
                          struct plan *plan)
{
    *plan = (struct plan){.call = call, .request = request};
    pthread_once(&once, set_up);
    int status = make_plan(plan, "RENDER");
    return status == OK && plan->kept ? OK : ERR_NOTFOUND;
}

int source_find_rendered(struct call *call, const struct url *url, struct source_response *response)
{
    struct source_request request = {.url = url};
    struct plan plan;
    struct cache_entry entry;
    int status = plan_rendering(call, &request, &plan);
    if (status == OK) {
        status = cache_find(cache, call_arena(call), plan.key, &entry);
    }
    if (status == OK) {
        status =
            is_young(&entry) ? answer_from(&plan, &entry, entry.age_s, response) : ERR_NOTFOUND;
    }
    return status;
}

void source_keep_rendered(struct call *call, const struct fetch_response *plain,
                          const struct url *url, const struct fetch_response *rendered)
{
    struct source_request request = {.url = url};
    struct plan plan;
    if (plan_rendering(call, &request, &plan) == OK && may_keep(plain) && may_keep(rendered)) {
        keep(&plan, rendered);
    }
}
