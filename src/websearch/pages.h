/* The pages of several results, read side by side under one deadline. A page that cannot be read,
 * or not in time, is a note: there is a text in every case. */
#ifndef FORAGE_WEBSEARCH_PAGES_H
#define FORAGE_WEBSEARCH_PAGES_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>

struct pages;

struct page_text {
    const char *text; /* valid UTF-8, never NULL: the page's beginning, or a note */
    size_t length;
    size_t total_chars; /* of the whole page */
    bool failed;        /* it is a note */
};

/* Reads all of them, each at most `keep_chars` of its beginning, and returns when the last one is
 * read or `reserve_ms` before the call's deadline. OK; ERR_CANCELLED, ERR_NOMEM. */
int pages_read(struct call *call, const char *const *links, size_t count, size_t keep_chars,
               int64_t reserve_ms, struct pages **pages);
/* In the order of the links; lives as long as `pages`. */
const struct page_text *pages_text(const struct pages *pages, size_t index);
struct pages *pages_free(struct pages *pages);

#endif
