/* The word index: finds and ranks memories by their words. It lives in the memory of the process
 * and holds no text, only what was derived from it; the store stays the only truth. Before each
 * search indexes_acquire() (indexes.c) adds the store's latest changes, so that what another
 * process wrote is found by the next call. One ranking for every database.
 *
 * The index knows nothing of databases. Not thread-safe: its owner holds a lock (readers together,
 * a writer alone). */
#ifndef FORAGE_INDEX_INDEX_H
#define FORAGE_INDEX_INDEX_H

#include "core/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index; /* of one space */

/* A memory as the index sees it. */
struct index_entry {
    int64_t id;      /* the store's number of it, never used twice */
    const char *key; /* its words count too, in a ranked search; NULL: none */
    const char *summary;
    const char *text;
    const char *const *tags; /* words too */
    size_t tag_count;
    const char *session; /* NULL: none */
    int64_t place;
    const char *role;
    int64_t created_ms;
    int64_t expires_ms; /* 0: never */
};

struct index *index_new(void);
struct index *index_free(struct index *index);
/* Adds it, or replaces what is there under the id. OK, ERR_NOMEM, ERR_LIMIT; after a failure the
 * index may lack memories, and its owner makes a new one. */
int index_put(struct index *index, const struct index_entry *entry);
void index_remove(struct index *index, int64_t id);
/* Makes what was put findable, and gives the memory back that putting takes. OK, ERR_NOMEM,
 * ERR_LIMIT, as of index_put(). */
int index_settle(struct index *index);
/* Takes over what another index holds in memory, in the place of what is there under the same ids;
 * the other one is empty then. Both are settled. OK, ERR_NOMEM, as of index_put(). */
int index_take_over(struct index *index, struct index *from);
size_t index_count(const struct index *index);
/* The memory that it takes. */
size_t index_bytes(const struct index *index);

struct index_filter {
    const char *const *tags;
    size_t tag_count;
    int64_t from_ms, until_ms;
    const char *session;
    const char *role;
    int64_t now_ms; /* what has expired is not found */
    int64_t first;  /* comes before all others in a ranked search: its key was asked for; 0: none */
    struct word_reader *reader; /* that has met words before; NULL: a new one */
};

/* A filter, ready for many questions about one index. */
struct index_sieve;
/* In the arena; NULL without memory. */
const struct index_sieve *index_sieve(const struct index *index, struct arena *arena,
                                      const struct index_filter *filter);
/* Whether a memory is there and passes. */
bool index_passes(const struct index_sieve *sieve, int64_t id);

/* What a score is made of: what each brought adds up to it. */
struct index_parts {
    double words;      /* the memory's own, */
    double neighbours; /* those of its neighbours, */
    double session;    /* and of the session as a whole */
    double meaning;    /* its vector */
    double share;      /* of the weight of the question's words, that the memory holds */
    double cosine;     /* of its vector and the question's; NaN: it has none, or nobody asked */
};

/* What is asked for as it stands comes before everything else. */
enum index_precedence { INDEX_RANKED, INDEX_PHRASE, INDEX_KEY };

struct index_hit {
    int64_t id;
    double score;
    double relevance; /* 0 to 1; none is less likely than one that it comes before */
    enum index_precedence precedence;
    struct index_parts parts;
};

/* Puts hits in their order, and their relevance too. */
void index_order(struct index_hit *hits, size_t count);

struct index_found {
    struct index_hit *hits;
    size_t count;
    size_t total;
    bool more;       /* than `total`: only the best were looked for */
    double possible; /* a score by words that is beyond all others: the question's weight */
    const char *const *terms; /* that the hits were found by, for excerpts */
    size_t term_count;
};
/* Ranked by meaning as far as words carry it: rare words, lengths, neighbours in the session. The
 * hits from `offset` on, best first; equal scores in the order of ids, newest first. `total` counts
 * everything that matched. OK, ERR_NOMEM. */
int index_search(const struct index *index, struct arena *arena, const char *query,
                 const struct index_filter *filter, size_t limit, size_t offset,
                 struct index_found *found);

/* Which memories hold which words of a text. */
struct index_holders_wish {
    const char *text;
    const char *but; /* the words of this are left out; NULL: none */
    size_t most;     /* and words that more memories hold */
    /* Asked for each memory and each of its words, which count from 0; `weight` is 1 where nobody
     * else holds the word. Not OK ends it. */
    int (*take)(void *context, size_t word, double weight, int64_t id);
    void *context;
};
/* OK, ERR_NOMEM, or what `take` returned. */
int index_holders(const struct index *index, struct arena *arena,
                  const struct index_holders_wish *wish);

/* A full-text question (fulltext.h): every memory that may hold what it asks for, best first.
 * Prefixes are promised only as far as stems go: the caller checks them against the texts
 * (fulltext_matches). */
struct fulltext;
int index_fulltext(const struct index *index, struct arena *arena, struct fulltext *question,
                   const struct index_filter *filter, struct index_hit **hits, size_t *count);

#endif
