/* A search provider: a table of what it is called, what it needs and how its answers look, and one
 * function that makes a request of a query in the provider's own terms. Asking, judging what went
 * wrong and trying the next one is the same for all (route.c). One file for each provider;
 * providers.c has the list of them and what they share.
 *
 * Where a provider has no word for something that was asked for, its build function says so with
 * provider_left_out() or expresses it in the text of the query. */
#ifndef FORAGE_WEBSEARCH_PROVIDER_H
#define FORAGE_WEBSEARCH_PROVIDER_H

#include "guard/pace.h"
#include "net/fetch.h"
#include "text/json.h"
#include "websearch/query.h"

#include <stdbool.h>
#include <stddef.h>

/* One result, as the provider reports it; texts are never NULL but for the last two. */
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
    bool narrowed;      /* to the sites that were asked for, which the links do not show */
    const char *remark; /* something to know about an answer, or NULL */
    int64_t rest_ms;    /* for which the source asks to be left alone from now on; 0: not */
};

/* Words about what could not be done; in the arena they were added with. */
struct remarks {
    const char *items[LIMIT_SEARCH_REMARKS];
    size_t count;
};

void remarks_add(struct remarks *remarks, const char *text);

#define PROVIDER_MOST_HEADERS 12

/* A request in the making. */
struct provider_request {
    const struct provider *provider;
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
    struct buf parameters;    /* of a GET, each with an & before it */
    yyjson_mut_doc *doc;      /* of a POST */
    yyjson_mut_val *members;  /* of its body, or of what stands for it in there: */
    yyjson_mut_val *envelope; /* the whole body, where that is more; or NULL */
};

/* Where the results are in an answer, and the keys of each; NULL for a key that it has not. */
struct hit_shape {
    const char *list;
    const char *title, *link, *snippet, *published, *image;
};

/* For tables: [EVERY_TYPE] = ... */
#define EVERY_TYPE 0 ... SEARCH_TYPES - 1

/* What the operator of an open source, one that answers without a key, asks of those who ask it. */
struct source_terms {
    struct pace pace;
    struct pace known; /* for who gives a key, or FORAGE_CONTACT; without windows: the same */
    bool
        shared; /* its quota is shared with strangers: a refusal does not mean that we were quick */
    enum { CONTACT_UNASKED, CONTACT_WELCOME, CONTACT_NEEDED } contact; /* FORAGE_CONTACT */
    bool no_address;          /* it has no default: it is used only where its variable is set */
    const char *left_header;  /* when this is 0, a refusal is about its quota; or NULL */
    const char *reset_header; /* then: until when, in seconds since 1970; or NULL */
    const char *index;        /* whose results it shows, where they are not its own: "bing" */
    const char *attribution;  /* that its results must carry, or NULL */
    const char *const *walls; /* what a page says that stands before the answer; NULL ends them */
    int wall_status;          /* what such a page comes with beside 403 and 429; 0: nothing */
};

struct provider {
    const char *name;          /* "serper", as FORAGE_SEARCH_PROVIDERS has it */
    const char *title;         /* "Serper" */
    const char *key_variable;  /* NULL: none */
    const char *base_variable; /* where a key is needed it has a default */
    const char *key_header;    /* that carries the key; Authorization: as a bearer token */
    bool one_at_a_time;        /* the queries of one call are asked one after the other */
    const char *wait_header;   /* beside Retry-After: its first number is seconds; or NULL */
    const char *key_refused;   /* what an answer to a wrong key says, where it is no 401; or NULL */
    const char *spent;         /* what a refusal says that is about its quota; or NULL */
    const char *json_refused;  /* what HTTP 403 means here, where it is not about a key; or NULL */
    bool posts;                /* parameters are members of a JSON body */
    bool form;                 /* they are the body, as a form of HTML sends them */
    const char *accept;        /* other than JSON; or NULL */
    const char *agent;         /* said instead of forage's own name; or NULL */
    /* Of an open source, whose key may be missing; NULL: it needs its key, or its address. */
    const struct source_terms *open;
    const char *paths[SEARCH_TYPES]; /* NULL: an open source is not asked for this type */
    bool lacks[SEARCH_TYPES]; /* types that it has no search for: it searches the web instead */
    struct hit_shape shapes[SEARCH_TYPES];
    const char *empty; /* the object of an answer that found nothing and has no list; or NULL */
    /* OK or ERR_NOMEM; an arena that is exhausted need not be noticed. */
    int (*build)(struct provider_request *request);
    /* Reads an answer instead of `shapes`, or NULL. OK, or ERR_INVALID when the answer has another
     * shape than it should. */
    int (*parse)(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits);
    /* Reads an answer that is no object of JSON, instead of both; or NULL. The bytes end with a NUL
     * that does not count. */
    int (*read)(struct arena *arena, const char *body, size_t length,
                const struct search_query *query, struct hits *hits);
};

/* In the order in which they are used when nothing else is said; NULL ends them. */
extern const struct provider *const PROVIDERS[];
/* Those that are used only where FORAGE_SEARCH_PROVIDERS names them, or "open" (open/sources.c). */
extern const struct provider *const OPEN_SOURCES[];
/* Their names, and what each of them needs, in the same order. */
#define PROVIDER_NAMES "serper, tavily, searxng, brave and exa"
/* Stands in FORAGE_SEARCH_PROVIDERS for the open sources that suit a search (open/choose.h). */
#define OPEN_GROUP "open"
#define PROVIDER_VARIABLES                                                                         \
    "SERPER_API_KEY, TAVILY_API_KEY, SEARXNG_BASE_URL, BRAVE_API_KEY or EXA_API_KEY"
extern const struct provider PROVIDER_SERPER, PROVIDER_TAVILY, PROVIDER_SEARXNG, PROVIDER_BRAVE,
    PROVIDER_EXA;

/* Whether its key, or its address, is set. */
bool provider_configured(const struct provider *provider);
/* The one of that name, with a key or open; NULL when there is none. */
const struct provider *provider_named(const char *name);
/* Those that are configured and wanted (FORAGE_SEARCH_PROVIDERS), in order; NULL ends them. "open"
 * is all open sources here. OK, or ERR_INVALID with the name that is unknown. */
MUST_CHECK int providers_chosen(const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1],
                                const char **unknown);

/* Makes a request of its arena, query, base and key. OK or ERR_NOMEM. */
MUST_CHECK int provider_build(const struct provider *provider, struct provider_request *request);
/* Reads the results of an answer, whose bytes end with a NUL that does not count. OK, ERR_INVALID
 * or ERR_NOMEM. */
MUST_CHECK int provider_read(const struct provider *provider, struct arena *arena, const char *body,
                             size_t length, const struct search_query *query, struct hits *hits);

/* ---- for build functions ---- */

/* Adds a parameter; nothing when the value is NULL. */
void provider_put(struct provider_request *request, const char *name, const char *value);
void provider_put_number(struct provider_request *request, const char *name, size_t value);
/* Adds a member that is a list of texts; nothing when there are none. */
void provider_put_list(struct provider_request *request, const char *name, const char *const *items,
                       size_t count);
/* Adds a header; the value must outlive the request. */
void provider_header(struct provider_request *request, const char *name, const char *value);
void provider_left_out(struct provider_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says so when the provider lacks the type that was asked for. */
void provider_check_type(struct provider_request *request);
/* How many results to ask for where the provider has no pages: those of the pages before too, which
 * are then passed over. At most `most`. */
size_t provider_count_up_to(struct provider_request *request, size_t most);

/* ---- for parse functions ---- */

/* Adds what has a link; the other texts may be NULL. */
void hits_add(struct hits *hits, const struct hit *hit);
/* Adds what `read` makes of each item of a list; without a link it is dropped. ERR_INVALID when it
 * is no list. */
int hits_add_each(struct arena *arena, yyjson_val *list, const struct search_query *query,
                  struct hits *hits,
                  struct hit (*read)(struct arena *arena, yyjson_val *item,
                                     const struct search_query *query));
/* ERR_INVALID when the answer has no such list. */
int hits_add_all(struct hits *hits, yyjson_val *answer, const struct hit_shape *shape);
/* A snippet that comes as HTML, as plain text: marks of emphasis go, character references are read;
 * everything else stays as it is. NULL for NULL, and without memory. */
const char *plain_text(struct arena *arena, const char *html);

#endif
