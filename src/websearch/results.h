/* From what was found to what web_search answers: the pages read, all of it described and cut to
 * what fits. */
#ifndef FORAGE_WEBSEARCH_RESULTS_H
#define FORAGE_WEBSEARCH_RESULTS_H

#include "call/call.h"
#include "websearch/merge.h"
#include "websearch/websearch.h"

/* ---- the pages of the results, read side by side (pages.c) ---- */

struct pages;

struct page_text {
    const char *text; /* valid UTF-8, never NULL: the page's beginning, passages, or a note */
    size_t length;
    size_t total_chars; /* of the whole page */
    const char *access; /* the wall before it, or NULL */
    bool failed;        /* it is a note */
    bool passages;      /* it is what answers the queries, */
    bool whole;         /* which is all of the page */
};

/* What to keep of each page. */
struct page_wish {
    size_t keep_chars;    /* of its beginning, at most */
    bool all;             /* everything visible */
    const char *question; /* the passages that answer it, if there are any; NULL: the beginning */
    size_t meant;         /* as of struct focus_request */
};

/* Reads all of them, and returns when the last one is read or `reserve_ms` before the call's
 * deadline. What is wished for must outlive `pages`. OK; ERR_CANCELLED, ERR_NOMEM. */
int pages_read(struct call *call, const char *const *links, size_t count,
               const struct page_wish *wish, int64_t reserve_ms, struct pages **pages);
/* In the order of the links; lives as long as `pages`. */
const struct page_text *pages_text(const struct pages *pages, size_t index);
struct pages *pages_free(struct pages *pages);

/* ---- the object that web_search answers with ---- */

struct search_result {
    struct found found[LIMIT_SEARCH_RESULTS];
    size_t count;
    const struct ranking *rankings; /* that they come from */
    size_t ranking_count;
    bool merged;         /* several providers were asked */
    struct pages *pages; /* in the same order; NULL: they were not read */
    struct remarks providers, left_out, warnings;
    int64_t took_ms;
};

/* NULL without memory. Everything in it lives in the arena. The whole object fits the budget of the
 * request, which the pages share fairly. */
yyjson_mut_val *describe_result(struct search_result *result, const struct search_request *request,
                                yyjson_mut_doc *doc, struct arena *arena);

#endif
