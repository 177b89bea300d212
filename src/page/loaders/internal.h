/* What the loaders show each other and their tests: the functions of the table in loaders.c, those
 * that read by content, and the pure halves that turn a service's answer into Markdown. */
#ifndef FORAGE_PAGE_LOADERS_INTERNAL_H
#define FORAGE_PAGE_LOADERS_INTERNAL_H

#include "core/buf.h"
#include "page/loaders/loaders.h"
#include "page/sniff.h"
#include "text/json.h"

/* ---- by where it came from ---- */

bool stackexchange_claims(const struct url *url);
int stackexchange_load(struct call *call, const struct url *url, struct document *document,
                       const char **why);
bool github_claims(const struct url *url);
int github_load(struct call *call, const struct url *url, struct document *document,
                const char **why);
bool wikipedia_claims(const struct url *url);
int wikipedia_load(struct call *call, const struct url *url, struct document *document,
                   const char **why);
bool arxiv_claims(const struct url *url);
int arxiv_load(struct call *call, const struct url *url, struct document *document,
               const char **why);

/* ---- by what came: OK, ERR_NOTFOUND when it is no such thing, ERR_FAILED with words ---- */

int pdf_load(struct call *call, const char *bytes, size_t length, struct document *document,
             const char **why);
int plain_load(struct call *call, const struct source_response *response, enum content_kind kind,
               struct document *document);
int feed_load(struct call *call, const struct source_response *response, struct document *document);

/* Whether the bytes begin as a PDF does. */
bool pdf_is(const char *bytes, size_t length);

#endif
