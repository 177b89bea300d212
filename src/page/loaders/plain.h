/* Texts that need no extractor: what a text is by its name and type, and how it is written. */
#ifndef FORAGE_PAGE_LOADERS_PLAIN_H
#define FORAGE_PAGE_LOADERS_PLAIN_H

#include "core/arena.h"
#include "page/document.h"
#include "page/loaders/compose.h"

enum plain_kind {
    PLAIN_TEXT,     /* as it is */
    PLAIN_MARKDOWN, /* passed through */
    PLAIN_JSON,     /* in a fence, indented */
    PLAIN_CODE,     /* in a fence, with its language */
};

struct plain_form {
    enum plain_kind kind;
    const char *language; /* of code; "" when it has no name */
};

/* By the end of a file's name or of a URL's path; PLAIN_TEXT when that says nothing. */
struct plain_form plain_form_of(const char *name);
/* Writes a text, which must be UTF-8, in that form. `links` may be NULL. OK or ERR_NOMEM. */
int plain_write(struct arena *arena, struct plain_form form, const char *text, size_t length,
                const struct compose_links *links, struct document *document);

#endif
