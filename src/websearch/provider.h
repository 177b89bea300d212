/* A search provider: a name, what it needs, and two functions - one makes a request of a query in
 * the provider's own terms, one reads its answer. Asking, judging what went wrong and trying the
 * next one is the same for all (route.c). One file for each provider; the table is in providers.c.
 *
 * Where a provider has no word for something that was asked for, its build function says so with
 * provider_left_out() or expresses it in the text of the query. */
#ifndef FORAGE_WEBSEARCH_PROVIDER_H
#define FORAGE_WEBSEARCH_PROVIDER_H

#include "net/fetch.h"
#include "text/json.h"
#include "websearch/query.h"

#include <stdbool.h>
#include <stddef.h>

/* One result, as the provider tells it; texts are never NULL but for the last two. */
struct hit {
    const char *title;
    const char *link;
    const char *snippet;
    const char *published; /* as the provider writes it, or NULL */
    const char *image;     /* of an image search: the picture itself, or NULL */
};

struct hits {
    struct hit *items; /* room for LIMIT_SEARCH_HITS */
    size_t count;
    const char *remark; /* something to know about an answer without results, or NULL */
};

/* Words about what could not be done; in the arena they were added with. */
struct remarks {
    const char *items[LIMIT_SEARCH_REMARKS];
    size_t count;
};

#define PROVIDER_MOST_HEADERS 4

/* A request in the making. */
struct provider_request {
    struct arena *arena;
    const struct search_query *query;
    const char *base; /* without a slash at its end */
    const char *key;  /* NULL: the provider needs none */
    const char *url;
    const char *body; /* NULL: GET */
    struct fetch_header headers[PROVIDER_MOST_HEADERS];
    size_t header_count;
    size_t skip; /* results to pass over, where the provider knows no pages */
    struct remarks left_out;
};

struct provider {
    const char *name;          /* "serper", as FORAGE_SEARCH_PROVIDERS has it */
    const char *title;         /* "Serper" */
    const char *key_variable;  /* NULL: none */
    const char *base_variable; /* where a key is needed it has a default */
    bool one_at_a_time;        /* the queries of one call are asked one after the other */
    const char *wait_header;   /* beside Retry-After: its first number is seconds; or NULL */
    const char *key_refused;   /* what an answer to a wrong key says, where it is no 401; or NULL */
    const char *json_refused;  /* what HTTP 403 means here, where it is not about a key; or NULL */
    /* OK or ERR_NOMEM; an arena that is exhausted need not be noticed. */
    int (*build)(struct provider_request *request);
    /* OK, or ERR_INVALID when the answer has another shape than it should. */
    int (*parse)(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits);
};

/* In the order in which they are used when nothing else is said; NULL ends them. */
extern const struct provider *const PROVIDERS[];
extern const struct provider PROVIDER_SERPER, PROVIDER_TAVILY, PROVIDER_SEARXNG, PROVIDER_BRAVE,
    PROVIDER_EXA;

const struct provider *provider_named(const char *name);
/* Whether its key, or its address, is set. */
bool provider_configured(const struct provider *provider);
/* Those that are configured and wanted (FORAGE_SEARCH_PROVIDERS), in order; NULL ends them. OK, or
 * ERR_INVALID with the name that is unknown. */
int providers_chosen(const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1],
                     const char **unknown);

/* Makes the request, whole: OK or ERR_NOMEM. */
int provider_build(const struct provider *provider, struct provider_request *request);

/* ---- for build functions ---- */

void provider_header(struct provider_request *request, const char *name, const char *value,
                     bool secret);
void provider_left_out(struct provider_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The body of a POST, and the header that goes with it. */
int provider_post(struct provider_request *request, const char *path, yyjson_mut_val *body);
/* How many results to ask for where the provider has no pages: those of the pages before too, which
 * are then passed over. At most `most`. */
size_t provider_count_up_to(struct provider_request *request, size_t most);

/* A member that is a list of texts; nothing when there are none. */
void provider_add_list(yyjson_mut_doc *doc, yyjson_mut_val *body, const char *key,
                       const char *const *items, size_t count);

void remarks_add(struct remarks *remarks, const char *text);

/* ---- for parse functions ---- */

int hits_init(struct arena *arena, struct hits *hits);
/* Adds what has a link; the other texts may be NULL. */
void hits_add(struct hits *hits, const struct hit *hit);
/* An array of objects with these keys; NULL for a key that it has not. ERR_INVALID when `array` is
 * no array. */
struct hit_keys {
    const char *title, *link, *snippet, *published, *image;
};
int hits_add_all(struct hits *hits, yyjson_val *array, const struct hit_keys *keys);

#endif
