/* Where pages come from: a fetch with everything that reading the web needs around it - the address
 * policy, a browser-like request, at most six transfers at once per host and port over all calls,
 * conditional requests and a bounded cache on disk. Loaders and the reader get their bytes only
 * here. */
#ifndef FORAGE_SOURCE_SOURCE_H
#define FORAGE_SOURCE_SOURCE_H

#include "net/fetch.h"
#include "source/cache.h"

/* The cache and the lines of hosts of one program. */
struct source;

/* Opens nothing yet. NULL without memory. */
struct source *source_new(void);
struct source *source_free(struct source *source);

struct source_request {
    const struct url *url;
    const char *accept;                 /* NULL: Markdown, HTML, then anything */
    const struct fetch_header *headers; /* further ones */
    size_t header_count;
    const char *body; /* NULL: GET */
    size_t body_length;
    size_t max_bytes; /* 0: LIMIT_FETCH_BODY_BYTES */
    bool configured;  /* an address that the operator set: the address policy does not apply */
    bool uncached;
    const struct cache_known *known; /* NULL: the body is needed in any case */
};

struct source_response {
    struct fetch_response fetched; /* status, url, headers, body, or the failure */
    bool from_cache;
    bool known; /* as the request said of its mark: it has no body */
    int64_t age_s;
    struct cache_mark mark;
};

/* A status as of fetch_run(): OK with a response of any HTTP status, ERR_FAILED with the failure in
 * `fetched`, ERR_CANCELLED, ERR_DEADLINE. */
MUST_CHECK int source_get(struct call *call, const struct source_request *request,
                          struct source_response *response);

/* The folder of the cache. To be freed; NULL when there is no home folder, or no
 * memory. */
char *source_cache_folder(void);

/* What a browser made of a page is cached like any answer, so that the parts of one reading are
 * parts of one text. OK with a response, or ERR_NOTFOUND, ERR_NOMEM. */
MUST_CHECK int source_find_rendered(struct call *call, const struct source_request *request,
                                    struct source_response *response);
/* `plain` is the page as the server sent it, which says whether it may be cached; `rendered` gets
 * its mark. */
void source_keep_rendered(struct call *call, const struct fetch_response *plain,
                          const struct source_request *request, struct source_response *rendered);

#endif
