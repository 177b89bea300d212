/* What the loaders of sites share: taking a URL apart to see whose it is, and asking a site's
 * service: its address (which the operator may set), its answers as JSON, and words for what went
 * wrong. */
#ifndef FORAGE_LOADERS_SERVICE_H
#define FORAGE_LOADERS_SERVICE_H

#include "source/source.h"
#include "text/json.h"
#include "text/slice.h"
#include "text/url.h"

/* ---- whose a URL is: pure, and everything points into the URL ---- */

#define PATH_SEGMENTS 8

struct path {
    struct slice segments[PATH_SEGMENTS];
    size_t count;     /* of those; empty ones do not count */
    const char *rest; /* what follows them, without a slash in front; "" at the end */
};

void path_split(const char *text, struct path *path);
/* Whether there is a segment `index` and it is the word, in any case of letters. */
bool path_is(const struct path *path, size_t index, const char *word);
/* Whether it is a number of at most 18 digits. */
bool path_is_number(const struct path *path, size_t index);
/* Everything from segment `index` on. */
const char *path_from(const struct path *path, size_t index);

/* The host without "www." or "m.". */
const char *host_plain(const char *host);
/* What stands before ".domain" in the host: its length, 0 when the host is the domain itself; false
 * when it is neither. */
bool host_below(const char *host, const char *domain, size_t *prefix_length);

/* ---- asking ---- */

struct service {
    struct call *call;
    struct arena *arena; /* the call's */
    const char *name;    /* "GitHub": for words */
    const char *base;    /* without a slash at its end */
    bool configured;     /* the operator set it */
    const char *accept;  /* NULL: JSON */
    const struct fetch_header *headers;
    size_t header_count;
    size_t max_bytes; /* of an answer; 0: LIMIT_LOADER_BYTES */
    bool uncached;    /* ask it again, whatever it said before */
    bool guessed;     /* the host may be no such service at all */
    const char **why; /* words for a note, set by whatever fails */
};

/* What services ask of a client: to say who it is. */
#define SERVICE_USER_AGENT "forage/" FORAGE_VERSION " (MCP server that reads pages for AI agents)"

/* `variable` names the service's address; where it is not set and has no default, `fallback` is it.
 * OK or ERR_NOMEM. */
MUST_CHECK int service_open(struct service *service, struct call *call, const char *name,
                            const char *variable, const char *fallback, const char **why);
/* GETs a path with its query. OK with an answer of any HTTP status; ERR_FAILED with words;
 * ERR_NOMEM, ERR_CANCELLED, ERR_DEADLINE. */
MUST_CHECK int service_get(struct service *service, struct source_response *response,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));
/* POSTs `body`; NULL is one for which there was no memory. As service_get(). */
MUST_CHECK int service_post(struct service *service, struct source_response *response,
                            const char *path, const char *body);
/* The answer as JSON; ERR_FAILED with words when it is none. */
MUST_CHECK int service_json(struct service *service, const struct source_response *response,
                            yyjson_val **root);
/* The answer as a JSON object of the status 200. ERR_NOTFOUND for a status that says that there is
 * no such thing, or none for us; ERR_FAILED with words for all others. */
MUST_CHECK int service_object(struct service *service, const struct source_response *response,
                              yyjson_val **object);
/* A service of the page's own host, which may be another kind of site: what is no such answer is
 * ERR_NOTFOUND. Its base is `variable`, or the host of the URL behind `prefix`, a path or "". */
MUST_CHECK int service_open_at(struct service *service, struct call *call, const char *name,
                               const char *variable, const struct url *url, struct slice prefix,
                               const char **why);
/* Sets the words and returns ERR_FAILED. */
int service_fail(struct service *service, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether a status ends the call, and not only this request. */
bool service_is_over(int status);

/* Whether the call's memory holds one more answer of any size, and a document made of all of them:
 * an answer takes five times its size. What asks for page after page asks this in between. */
bool service_has_room(const struct service *service);

/* Objects of several answers, one after the other. */
struct service_list {
    yyjson_val **items;
    size_t count;
};

/* Adds the objects of an array, which may be NULL. OK or ERR_NOMEM. */
MUST_CHECK int service_list_add(struct arena *arena, struct service_list *list, yyjson_val *array);

/* Members of objects that may be absent: an array, an integer, a truth. */
yyjson_val *service_array(yyjson_val *object, const char *key);
int64_t service_int(yyjson_val *object, const char *key);
bool service_bool(yyjson_val *object, const char *key);

#endif
