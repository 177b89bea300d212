/* Articles of Wikipedia: which one a URL names, and how it is written. */
#ifndef FORAGE_PAGE_LOADERS_WIKIPEDIA_H
#define FORAGE_PAGE_LOADERS_WIKIPEDIA_H

#include "page/document.h"
#include "page/loaders/paths.h"
#include "text/json.h"
#include "text/url.h"

#define WIKIPEDIA_LANGUAGE_SIZE 24

struct wikipedia_page {
    char language[WIKIPEDIA_LANGUAGE_SIZE];
    struct segment title;  /* as the URL writes it, or none and */
    struct segment number; /* the number of the page */
};

/* Whether the URL is an article, and which. Pure. */
bool wikipedia_find(const struct url *url, struct wikipedia_page *page);
/* The "parse" object of the interface's answer as Markdown; links are relative to `url`. OK,
 * ERR_NOTFOUND, ERR_NOMEM. */
int wikipedia_write(struct arena *arena, yyjson_val *parse, const char *url,
                    struct document *document);

#endif
