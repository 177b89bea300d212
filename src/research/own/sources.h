/* The sources of one research: what searches found and what the question itself names, numbered
 * from 1 in the order in which they came. A model reads sources by number alone, so that no address
 * is ever fetched because the text of a page asks for it. */
#ifndef FORAGE_RESEARCH_OWN_SOURCES_H
#define FORAGE_RESEARCH_OWN_SOURCES_H

#include "core/arena.h"
#include "core/status.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct research_source {
    const char *url, *title, *snippet;
    const char *published; /* as the search says; NULL: it does not */
    const char *spelled;   /* the address in one spelling: one page is one source */
    const char *host;
    const char *trouble; /* why it could not be read; NULL: it could, or was not tried */
    size_t page;         /* its number among the evidence, once it is read; 0 */
    size_t chars;        /* of that page */
};

struct sources {
    struct research_source *items;
    size_t count, capacity;
};

/* The number of an address, which may be there already; 0: it is no address of the web, or there is
 * no room. `title` and `snippet` may be NULL. */
size_t sources_add(struct arena *arena, struct sources *sources, const char *url, const char *title,
                   const char *snippet);
/* The same of a result of a search, as search_run() tells it. */
size_t sources_add_result(struct arena *arena, struct sources *sources, yyjson_mut_val *result);
/* The number of an address that is known; 0: it is not. */
size_t sources_find(struct arena *arena, const struct sources *sources, const char *url);
/* By number; NULL: there is none. */
struct research_source *sources_get(const struct sources *sources, int64_t number);
/* Adds the addresses that the question names: whoever asks may ask for a page. */
void sources_of_question(struct arena *arena, struct sources *sources, const char *question);

#endif
