/* Which open sources a search goes to: by its type, and by what its text looks like. Pure. */
#ifndef FORAGE_WEBSEARCH_OPEN_CHOOSE_H
#define FORAGE_WEBSEARCH_OPEN_CHOOSE_H

#include "websearch/query.h"

/* What a text looks like; data/query-words.txt has the words. */
enum query_trait {
    QUERY_ERROR = 1,   /* what a program says when it fails */
    QUERY_CODE = 2,    /* it is about programming */
    QUERY_BROWSER = 4, /* and about what browsers run */
    QUERY_NPM = 8,     /* a package of that registry */
    QUERY_CRATES = 16,
    QUERY_THING = 32,    /* a person, a place, a work: something with an article about it */
    QUERY_ASKED = 64,    /* it is put as a question */
    QUERY_LITERAL = 128, /* it is code itself */
    QUERY_DOI = 256,
    QUERY_ARXIV = 512,    /* the number of a paper there */
    QUERY_FOREIGN = 1024, /* another language than English is wanted, or spoken */
};

struct source_choice {
    const char *name;      /* of an open source, which need not exist */
    enum search_type type; /* what it is asked for, where it has no search of the type wanted */
};

/* In the order in which they are asked, each once. Returns how many there are. */
size_t choose_sources(const struct search_query *query,
                      struct source_choice choices[LIMIT_SEARCH_PROVIDERS]);

#endif
