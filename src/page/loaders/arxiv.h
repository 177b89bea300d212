/* Papers of arXiv: which one a URL names, what its interface says about it, and how that is
 * written. */
#ifndef FORAGE_PAGE_LOADERS_ARXIV_H
#define FORAGE_PAGE_LOADERS_ARXIV_H

#include "core/arena.h"
#include "page/document.h"
#include "text/url.h"

#define ARXIV_ID_SIZE 64

/* The paper's identifier, with its version where the URL has one: "2301.00001v2", "hep-th/9901001".
 * False for any other URL. Pure. */
bool arxiv_find(const struct url *url, char id[ARXIV_ID_SIZE]);

struct arxiv_paper {
    const char *title, *authors, *published, *updated, *summary;
    const char *categories, *doi, *journal, *comment;
};

/* Reads the Atom answer. OK; ERR_NOTFOUND when there is no such paper; ERR_INVALID for what is no
 * such answer; ERR_NOMEM. */
int arxiv_parse(struct arena *arena, const char *text, size_t length, struct arxiv_paper *paper);
/* The paper as Markdown. `full_text` (or NULL) is its text, already Markdown; where it is missing,
 * `missing` says why. OK or ERR_NOMEM. */
int arxiv_write(struct arena *arena, const struct arxiv_paper *paper, const char *id,
                const char *full_text, const char *missing, struct document *document);

#endif
