/* The extractor: any HTML page as the best Markdown there is. Pure; safe to call from many threads,
 * each with its own arena. */
#ifndef FORAGE_HTML_EXTRACT_H
#define FORAGE_HTML_EXTRACT_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/status.h"
#include "html/omission.h"

#include <stdbool.h>
#include <stddef.h>

struct extract_input {
    const char *bytes;
    size_t length;
    const char *url;          /* absolute, or NULL */
    const char *content_type; /* of the HTTP answer, or NULL: its charset counts */
    const char *language;     /* its Content-Language, or NULL: a hint at undeclared encodings */
    bool all;                 /* everything visible, not the main part alone */
    bool scripts_ran;         /* a browser wrote this down after the page's scripts had run */
    bool account;             /* with a list of all texts and where each of them went */
    const struct chooser_model
        *model; /* of html/choose/model.h, for who tries one; NULL: our own */
};

struct extract_result {
    const char *markdown; /* valid UTF-8, in the arena; the text alone, its title is below */
    size_t length;
    const char *kind; /* "article", "documentation", ... */
    const char *title, *authors, *published, *modified, *site, *canonical, *language, *description;
    const char *encoding;  /* of the bytes: its WHATWG name in lower case */
    bool encoding_guessed; /* nobody said so, or the bytes look like another one */
    size_t words;
    const char *access; /* the wall that it is: "login", "paywall", "consent"; NULL: it is none */
    bool cut;           /* the page was larger than a ceiling: this is its beginning */
    bool shell;         /* next to nothing is left, and scripts or frames may add to it */
    struct omitted omitted;
    const struct accounted_text *texts; /* where they were asked for, in the order of the page */
    size_t text_count;
};

/* A status: OK, ERR_NOMEM, or ERR_INVALID for what is not HTML at all. */
MUST_CHECK int extract_page(struct arena *arena, const struct extract_input *input,
                            struct extract_result *result);

/* A piece of HTML as Markdown, appended to `out`: all of it, nothing is chosen. `base_url` is what
 * its links are relative to, or NULL; `cut` (or NULL) is set where a ceiling was reached. A
 * status. */
MUST_CHECK int extract_fragment(struct arena *arena, const char *html, size_t length,
                                const char *base_url, struct buf *out, bool *cut);

#endif
