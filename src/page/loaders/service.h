/* Asking a service: the address of its interface (which the operator may set), its answers as JSON,
 * and words for what went wrong. */
#ifndef FORAGE_PAGE_LOADERS_SERVICE_H
#define FORAGE_PAGE_LOADERS_SERVICE_H

#include "page/source/source.h"
#include "text/json.h"

#include <stdbool.h>

struct service {
    struct call *call;
    const char *name;   /* "GitHub": for words */
    const char *base;   /* without a slash at its end */
    bool configured;    /* the operator set it */
    const char *accept; /* NULL: JSON */
    const struct fetch_header *headers;
    size_t header_count;
    size_t max_bytes; /* of an answer; 0: LIMIT_LOADER_BYTES */
    bool uncached;    /* ask it again, whatever it said before */
    const char **why; /* words for a note, set by whatever fails */
};

/* What services ask of a client: to say who it is. */
#define SERVICE_USER_AGENT "forage/" FORAGE_VERSION " (MCP server that reads pages for AI agents)"

/* `variable` names the service's address; where it is not set and has no default, `fallback` is it.
 * A status. */
int service_open(struct service *service, struct call *call, const char *name, const char *variable,
                 const char *fallback, const char **why);
/* GETs `path` (with its query), or POSTs `body` where there is one. OK with an answer of any HTTP
 * status; ERR_FAILED with words; ERR_CANCELLED, ERR_DEADLINE. */
int service_ask(struct service *service, const char *path, const char *body,
                struct source_response *response);
/* The answer as JSON; NULL with words when it is none. */
yyjson_val *service_json(struct service *service, const struct source_response *response);
/* Sets the words and returns ERR_FAILED. */
int service_fail(struct service *service, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the call's memory holds one more answer of any size, and a document made of all of them:
 * an answer takes five times its size. What asks for page after page asks this in between. */
bool service_has_room(const struct service *service);

/* Objects of several answers, one after the other. */
struct service_list {
    yyjson_val **items;
    size_t count;
};

/* Adds the objects of an array, which may be NULL. OK or ERR_NOMEM. */
int service_list_add(struct arena *arena, struct service_list *list, yyjson_val *array);

/* An array member, and an integer, of objects that may be absent. */
yyjson_val *service_array(yyjson_val *object, const char *key);
int64_t service_int(yyjson_val *object, const char *key);

#endif
