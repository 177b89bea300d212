/* Links that put forage into a client with one click: the entry that `forage setup` would write, in
 * the words of an address. A link is read by whoever sees it, so no key is ever in one. */
#ifndef FORAGE_SETUP_LINKS_H
#define FORAGE_SETUP_LINKS_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/entry.h"

/* How a client wants an entry. */
enum link_form {
    LINK_BASE64, /* name=NAME&config=JSON, that in base64 */
    LINK_JSON,   /* JSON, with the name in it */
    LINK_WORDS,  /* cmd=PROGRAM&arg=...&arg=... */
};

struct link {
    const char *id;      /* of the client */
    const char *context; /* what the server is told of it */
    const char *title;
    const char *like; /* the client of CLIENTS whose notation it has */
    enum link_form form;
    const char *address; /* the client's own scheme, up to the entry */
    const char *page; /* the vendor's page that opens it, for places that allow no other scheme */
};

extern const struct link LINKS[];
extern const size_t LINK_COUNT;

const struct link *link_find(const char *id);

/* Writes both addresses, for a server of that name. OK, ERR_NOMEM, or ERR_UNSUPPORTED with words
 * when the client does not take such a link. */
int link_put(struct arena *arena, const struct link *link, const char *name,
             const struct entry_request *request, struct buf *address, struct buf *page,
             char *problem, size_t size);

#endif
