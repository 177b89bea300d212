/* What the parts of the index share: its data (index.c), and how it is searched (question.c,
 * search.c). */
#ifndef FORAGE_INDEX_INTERNAL_H
#define FORAGE_INDEX_INTERNAL_H

#include "index/index.h"
#include "index/postings.h"
#include "index/symbols.h"
#include "index/words.h"

#define NO_DOCUMENT UINT32_MAX
#define KEY_MARK                                                                                   \
    '\1' /* begins a term that is of a key, so that only who asks for keys finds it                \
          */

/* A memory. It keeps its number until the index is compacted; a changed one gets a new number. */
struct document {
    int64_t id;
    int64_t created_ms;
    int64_t expires_ms;
    int64_t place;
    uint32_t length; /* in words */
    uint32_t row;    /* the first of its passages in index->rows */
    uint32_t rows;
    uint32_t session; /* a symbol, or SYMBOL_NONE */
    uint32_t role;
    uint32_t tags; /* where its tags begin in index->tags */
    uint16_t tag_count;
    uint8_t language;
    bool dead;
};

/* A passage of a memory, which is what postings name: most memories are one. It has what every
 * posting asks for, in few bytes. */
struct row {
    uint32_t document;
    uint16_t length; /* in words */
    bool dead;       /* so is the document */
    bool several;    /* the document has others */
};

/* The memories of one session, by their place in it. */
struct member {
    int64_t place;
    uint32_t document;
};
struct session {
    struct member *members;
    uint32_t count, capacity;
};
/* Where the place of a document is, or belongs, among the members. */
uint32_t session_position(const struct session *session, int64_t place, uint32_t document);

struct index {
    struct word_reader *reader; /* for what is added; searches bring their own */
    struct symbols terms;
    struct postings *postings; /* one for each term */
    uint32_t postings_capacity;
    struct symbols names;     /* sessions, roles and tags */
    struct session *sessions; /* one for each name, most of them empty */
    uint32_t session_capacity;
    struct document *documents;
    uint32_t document_count, document_capacity;
    uint32_t live;
    struct row *rows;
    uint32_t row_count, row_capacity;
    uint32_t live_rows;
    uint32_t *tags;
    uint32_t tag_count, tag_capacity;
    uint32_t *slots; /* by id: document + 1; 0: free */
    uint32_t slot_count;
    uint32_t languages[LANGUAGE_COUNT]; /* live documents of each */
    /* Of the live documents, for the spread of their lengths. */
    double length_sum, log_sum, log_square_sum;
    size_t list_bytes; /* of the blocks of postings and sessions */
    /* Of the passage that is being added: */
    uint32_t *found; /* its terms, each once */
    uint32_t found_count, found_capacity;
    uint32_t *times; /* how often it holds each term of the index; 0 between two passages */
    uint32_t times_capacity;
};

/* The document of an id, or NO_DOCUMENT. */
uint32_t index_find(const struct index *index, int64_t id);

#endif
