/* What is sent with a request, which answers may be cached, and when a cached one is good enough.
 */
#include "source/source.h"

#include "call/parts.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "core/trouble.h"
#include "source/cache.h"
#include "source/redirects.h"

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

static const char CACHE_NAME[] = "the cache of pages";

/* ---- the part ---- */

struct source {
    struct line hosts; /* of transfers, by host and port */
    pthread_mutex_t lock;
    bool opened;
    struct cache *cache; /* NULL: nothing is cached */
};

struct source *source_new(void)
{
    struct source *source = calloc(1, sizeof *source);
    if (source) {
        line_init(&source->hosts, NULL, NULL, LIMIT_HOST_TRANSFERS);
        pthread_mutex_init(&source->lock, NULL);
    }
    return source;
}

struct source *source_free(struct source *source)
{
    if (source) {
        cache_close(source->cache);
        pthread_mutex_destroy(&source->lock);
        line_done(&source->hosts);
        free(source);
    }
    return NULL;
}

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

static struct cache *open_cache(void)
{
    char problem[512] = "there is no home folder";
    char *folder = source_cache_folder();
    uint64_t most = (uint64_t)config_int("FORAGE_CACHE_MAX_MB") * MIB(1);
    struct cache *cache = folder ? cache_open(folder, most, problem, sizeof problem) : NULL;
    if (!cache) {
        log_warn(NULL, "pages are not kept: %s (FORAGE_CACHE_DIR)", problem);
        trouble_begin(CACHE_NAME,
                      "it cannot be opened, pages are read anew each time; the log says "
                      "why (FORAGE_CACHE_DIR)");
    }
    free(folder);
    return cache;
}

/* The cache, which is opened for the first page. */
static struct cache *cache_of(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    if (!source->opened && config_duration_ms("FORAGE_CACHE_TTL") > 0) {
        source->cache = open_cache();
    }
    source->opened = true;
    pthread_mutex_unlock(&source->lock);
    return source->cache;
}

/* ---- the request ---- */

struct fetch_plan {
    struct call *call;
    struct source *source;
    const struct source_request *request;
    struct fetch_request fetch;
    struct fetch_header *headers;
    struct cache *cache; /* NULL: its answer is neither stored nor found */
    char key[CACHE_KEY_SIZE];
};

static void add_header(struct fetch_plan *plan, const char *name, const char *value)
{
    for (size_t i = 0; i < plan->request->header_count; i++) {
        if (strcasecmp(plan->request->headers[i].name, name) == 0) {
            return; /* whoever asks knows better */
        }
    }
    plan->headers[plan->fetch.header_count++] = (struct fetch_header){.name = name, .value = value};
}

static int make_headers(struct fetch_plan *plan)
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

static bool carries_secret(const struct fetch_plan *plan)
{
    const struct source_request *request = plan->request;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct fetch_header *header = &request->headers[i];
        if (header->secret || strcasecmp(header->name, "authorization") == 0 ||
            strcasecmp(header->name, "cookie") == 0 ||
            redact_needed(header->value, strlen(header->value), WORDS_FROM_OUTSIDE)) {
            return true;
        }
    }
    return redact_needed(request->url->text, strlen(request->url->text), WORDS_FROM_OUTSIDE);
}

/* Whatever the answer depends on. What the policy opens is part of it: a page of a private host
 * must not be found by a process that may not fetch it. */
static int make_key(struct fetch_plan *plan, const char *method)
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

static int make_plan(struct fetch_plan *plan, const char *method)
{
    const struct source_request *request = plan->request;
    int status = make_headers(plan);
    if (status != OK) {
        return status;
    }
    plan->source = call_parts(plan->call)->source;
    if (!request->body && !request->uncached && !carries_secret(plan)) {
        plan->cache = cache_of(plan->source);
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

/* ---- what is cached ---- */

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

static bool is_young(const struct source_response *old)
{
    return old->age_s < config_duration_ms("FORAGE_CACHE_TTL") / 1000 &&
           !list_holds(fetch_header_value(&old->fetched, "cache-control"), "no-cache");
}

static bool may_keep(const struct fetch_response *fetched)
{
    const char *control = fetch_header_value(fetched, "cache-control");
    return fetched->status == 200 && !list_holds(control, "no-store") &&
           !list_holds(control, "private") &&
           !list_holds(fetch_header_value(fetched, "vary"), "*") &&
           !redact_needed(fetched->body, fetched->body_length, WORDS_FROM_OUTSIDE) &&
           !redact_needed(fetched->url, strlen(fetched->url), WORDS_FROM_OUTSIDE);
}

/* A cache that cannot be written is worth one warning, and none of the work. */
static void keep(const struct fetch_plan *plan, struct source_response *response)
{
    int status = cache_keep(plan->cache, plan->key, &response->fetched, &response->mark);
    if (status != ERR_IO) {
        trouble_end(CACHE_NAME);
    } else if (trouble_begin(CACHE_NAME, "it cannot be written; the log says why")) {
        log_warn(call_request_id(plan->call), "the cache of pages cannot be written: %s",
                 strerror(errno));
    }
}

static int find(const struct fetch_plan *plan, struct source_response *response)
{
    struct cached found;
    int status = plan->cache ? cache_find(plan->cache, call_arena(plan->call), plan->key,
                                          plan->request->known, &found)
                             : ERR_NOTFOUND;
    if (status == OK) {
        *response = (struct source_response){.fetched = found.answer,
                                             .from_cache = true,
                                             .known = found.known,
                                             .age_s = found.age_s,
                                             .mark = found.mark};
    }
    return status;
}

/* ---- asking ---- */

/* Adds what makes a server answer 304 when nothing changed. False when the old answer has nothing
 * to compare by. */
static bool ask_for_change(struct fetch_plan *plan, const struct fetch_response *old)
{
    const char *etag = fetch_header_value(old, "etag");
    const char *modified = fetch_header_value(old, "last-modified");
    if (etag) {
        add_header(plan, "If-None-Match", etag);
    }
    if (modified) {
        add_header(plan, "If-Modified-Since", modified);
    }
    return etag || modified;
}

/* A request for what is not in the cache, or for a change of the `old` answer that is (or NULL). */
static int ask(struct fetch_plan *plan, const struct source_response *old,
               struct source_response *response)
{
    struct fetch_response *fetched = &response->fetched;
    struct line *hosts = &plan->source->hosts;
    bool configured = plan->request->configured;
    size_t unconditional = plan->fetch.header_count;
    bool conditional = old && ask_for_change(plan, &old->fetched);
    *response = (struct source_response){0};
    int status = redirects_follow(plan->call, hosts, &plan->fetch, configured, fetched);
    if (conditional && status == OK && fetched->status == 304) {
        if (strcmp(fetched->url, old->fetched.url) == 0) {
            cache_confirm(plan->cache, plan->key);
            *response = *old;
            response->age_s = 0;
            return OK;
        }
        /* Another page answers there now, and it knows nothing of the old one. */
        plan->fetch.header_count = unconditional;
        status = redirects_follow(plan->call, hosts, &plan->fetch, configured, fetched);
    }
    if (status == OK && plan->cache && may_keep(fetched)) {
        keep(plan, response);
    }
    return status;
}

int source_get(struct call *call, const struct source_request *request,
               struct source_response *response)
{
    struct fetch_plan plan = {.call = call, .request = request};
    struct source_response old;
    if (make_plan(&plan, "GET") != OK) {
        *response = (struct source_response){.fetched = {.failure = FETCH_NOMEM,
                                                         .error = "out of memory",
                                                         .url = request->url->text,
                                                         .body = ""}};
        return ERR_FAILED;
    }
    bool found = find(&plan, &old) == OK &&
                 (!request->max_bytes || old.fetched.body_length <= request->max_bytes);
    if (found && is_young(&old)) {
        *response = old;
        return OK;
    }
    return ask(&plan, found ? &old : NULL, response);
}

/* ---- rendered pages ---- */

/* The plan of a rendering: only its key is of use. ERR_NOTFOUND: it is not cached. */
static int plan_rendering(struct call *call, const struct source_request *request,
                          struct fetch_plan *plan)
{
    *plan = (struct fetch_plan){.call = call, .request = request};
    return make_plan(plan, "RENDER") == OK && plan->cache ? OK : ERR_NOTFOUND;
}

int source_find_rendered(struct call *call, const struct source_request *request,
                         struct source_response *response)
{
    struct fetch_plan plan;
    int status = plan_rendering(call, request, &plan);
    if (status == OK) {
        status = find(&plan, response);
    }
    return status == OK && !is_young(response) ? ERR_NOTFOUND : status;
}

void source_keep_rendered(struct call *call, const struct fetch_response *plain,
                          const struct source_request *request, struct source_response *rendered)
{
    struct fetch_plan plan;
    if (plan_rendering(call, request, &plan) == OK && may_keep(plain) &&
        may_keep(&rendered->fetched)) {
        keep(&plan, rendered);
    }
}
