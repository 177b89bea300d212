/* Whether a page is a wall before what it is about: a sign-in, the part before a paywall, a
 * question about cookies. */
#ifndef FORAGE_HTML_ACCESS_H
#define FORAGE_HTML_ACCESS_H

#include "html/page.h"

/* What short texts of a page say, by data/page-access.txt. */
enum access_label {
    ACCESS_LOGIN = 1,
    ACCESS_ACCOUNT = 2,
    ACCESS_REGISTER = 4,
    ACCESS_SUBSCRIBE = 8,
    ACCESS_CONSENT = 16,
    ACCESS_ACCEPT = 32,
    ACCESS_REFUSE = 64,
};

/* "login", "paywall", "consent", or NULL for a page that anybody can read. `markdown` is what was
 * made of it. Content must have been chosen. */
const char *access_find(const struct page *page, const char *markdown, size_t length);

#endif
