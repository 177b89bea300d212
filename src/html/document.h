/* What reading a URL gives: a document in Markdown, or a note that says why there is none.
 * Everything in it lives in the call's arena; document_copy() brings it into another. */
#ifndef FORAGE_HTML_DOCUMENT_H
#define FORAGE_HTML_DOCUMENT_H

#include "core/arena.h"
#include "core/status.h"
#include "html/omission.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document {
    const char *url;      /* the final address */
    const char *markdown; /* valid UTF-8, never NULL once read; a note when `failed` */
    size_t length;
    const char *kind;   /* of page: "article", ..., "question", "pdf", "json", ... or NULL */
    const char *loader; /* who read it: "html", "pdf", "github", ... */
    const char *title, *authors, *published, *modified, *site, *language, *description;
    const char *encoding; /* of the bytes it was read from; NULL: they had none, or it is unknown */
    bool encoding_guessed; /* nobody said so, or the bytes look like another one */
    const char *access; /* the wall before it: "login", "paywall", "consent"; NULL: there is none */
    bool failed;        /* the text is a note, not content */
    bool rendered;      /* by the browser */
    const char
        *unrendered; /* why the browser that was asked for it did not; NULL: it was not asked */
    const char *unfinished; /* what the browser did not wait for, in a sentence; NULL: nothing */
    bool cut;               /* the source was larger than a ceiling: this is its beginning */
    int64_t age_s;          /* of the cached copy it came from; 0: fresh */
    struct omitted omitted; /* of a page of HTML, or the running heads of a PDF */
};

/* Copies all that it points to into the arena and makes it point there. OK or ERR_NOMEM. */
MUST_CHECK int document_copy(struct document *document, struct arena *arena);

#endif
