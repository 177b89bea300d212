/* Orders a merged list by rules. What a word is says index/words.h, as everywhere. */
#include "websearch/order.h"

#include "core/status.h"
#include "index/words.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TERMS   32   /* of a query */
#define LOOK_AT      100  /* results; what comes behind them stays where it is */
#define LOOK_CHARS   1000 /* of a snippet */
#define COPY_LIKE    0.8  /* of the words of both, those that both have */
#define COPY_LEAST   8    /* words; fewer say too little */
#define MOST_SHINGLE 128  /* words of a result that are compared */

const char *const ORDER_NAMES[] = {"votes", "words", "copies", NULL};

/* ---- words ---- */

struct terms {
    const char *items[MOST_TERMS];
    size_t count;
};

struct ordering {
    const struct order *order;
    struct arena *arena;
    struct word_reader *reader;
    struct found *found;
    size_t count;
};

struct term_taking {
    struct arena *arena;
    struct terms *terms; /* to be added to, or looked up in */
    uint32_t seen;       /* the terms that came */
    uint64_t *hashes;    /* of all words, or NULL */
    size_t hash_count;
};

static bool counts(const struct word *word)
{
    return !word->stop && (word->kind == WORD_PLAIN || word->kind == WORD_PAIR);
}

static size_t place_of(const struct terms *terms, const char *term)
{
    size_t i = 0;
    while (i < terms->count && strcmp(terms->items[i], term) != 0) {
        i++;
    }
    return i;
}

static int add_term(void *context, const struct word *word)
{
    struct term_taking *taking = context;
    struct terms *terms = taking->terms;
    if (!counts(word) || terms->count == MOST_TERMS || place_of(terms, word->term) < terms->count) {
        return OK;
    }
    terms->items[terms->count] = arena_strdup(taking->arena, word->term);
    return terms->items[terms->count] ? (terms->count++, OK) : ERR_NOMEM;
}

static int see_term(void *context, const struct word *word)
{
    struct term_taking *taking = context;
    size_t place = counts(word) ? place_of(taking->terms, word->term) : MOST_TERMS;
    if (place < taking->terms->count) {
        taking->seen |= UINT32_C(1) << place;
    }
    return OK;
}

static int take_hash(void *context, const struct word *word)
{
    struct term_taking *taking = context;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < word->length; i++) {
        hash = (hash ^ (unsigned char)word->term[i]) * UINT64_C(1099511628211);
    }
    if (counts(word) && taking->hash_count < MOST_SHINGLE) {
        taking->hashes[taking->hash_count++] = hash;
    }
    return OK;
}

static size_t length_of(const char *text)
{
    size_t length = strlen(text);
    return text_prefix(text, length, LOOK_CHARS);
}

/* ---- the rule of words ---- */

/* How rare a term is among the results: one that all of them have tells nothing. */
static double rarity(size_t having, size_t count)
{
    return log(1 + ((double)count - (double)having + 0.5) / ((double)having + 0.5));
}

/* Which terms of a query each result has. */
struct result_terms {
    struct terms terms;
    uint32_t in_title[LOOK_AT], in_snippet[LOOK_AT];
    size_t having[MOST_TERMS]; /* how many results have a term, here or there */
};

static int look_for_terms(struct ordering *ordering, const char *text, struct result_terms *holding)
{
    struct term_taking taking = {.arena = ordering->arena, .terms = &holding->terms};
    struct word_reader *reader = ordering->reader;
    enum language language = words_guess(reader, text, strlen(text));
    int status = words_each(reader, text, strlen(text), language, add_term, &taking);
    for (size_t i = 0; status == OK && i < ordering->count; i++) {
        const struct hit *hit = &ordering->found[i].hit;
        taking.seen = 0;
        status = words_each(reader, hit->title, strlen(hit->title), language, see_term, &taking);
        holding->in_title[i] = taking.seen;
        taking.seen = 0;
        if (status == OK) {
            status = words_each(reader, hit->snippet, length_of(hit->snippet), language, see_term,
                                &taking);
        }
        holding->in_snippet[i] = taking.seen;
        for (size_t j = 0; j < holding->terms.count; j++) {
            holding->having[j] += (holding->in_title[i] | holding->in_snippet[i]) >> j & 1;
        }
    }
    return status;
}

/* What titles and snippets hold of one query; each result keeps the best of its queries. */
static int weigh_words(struct ordering *ordering, const char *text, size_t query)
{
    struct result_terms holding = {0};
    int status = look_for_terms(ordering, text, &holding);
    double weights[MOST_TERMS] = {0};
    double all = 0;
    for (size_t j = 0; j < holding.terms.count; j++) {
        weights[j] = rarity(holding.having[j], ordering->count);
        all += weights[j];
    }
    for (size_t i = 0; status == OK && all > 0 && i < ordering->count; i++) {
        struct found *found = &ordering->found[i];
        double held = 0;
        for (size_t j = 0; j < holding.terms.count; j++) {
            held += (holding.in_title[i] >> j & 1) * weights[j] / 2;
            held += (holding.in_snippet[i] >> j & 1) * weights[j] / 2;
        }
        double share = ordering->order->words_weight / 100.0;
        int64_t worth = (int64_t)(share * (double)MERGE_VOTE(1) * held / all);
        if (found->queries >> query & 1 && worth > found->words) {
            found->words = worth;
        }
    }
    return status;
}

/* ---- the rule of copies ---- */

static int compare_hashes(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* The words of a result, each once and in order; their number in `count`. */
static int shingle(struct ordering *ordering, const struct hit *hit, uint64_t *hashes,
                   size_t *count)
{
    struct term_taking taking = {.hashes = hashes};
    struct word_reader *reader = ordering->reader;
    int status =
        words_each(reader, hit->title, strlen(hit->title), LANGUAGE_ENGLISH, take_hash, &taking);
    if (status == OK) {
        status = words_each(reader, hit->snippet, length_of(hit->snippet), LANGUAGE_ENGLISH,
                            take_hash, &taking);
    }
    qsort(hashes, taking.hash_count, sizeof *hashes, compare_hashes);
    *count = 0;
    for (size_t i = 0; i < taking.hash_count; i++) {
        if (!*count || hashes[*count - 1] != hashes[i]) {
            hashes[(*count)++] = hashes[i];
        }
    }
    return status;
}

static bool are_alike(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    size_t both = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        both += a[i] == b[j];
        bool step_a = a[i] <= b[j];
        bool step_b = b[j] <= a[i];
        i += step_a;
        j += step_b;
    }
    return a_count >= COPY_LEAST && b_count >= COPY_LEAST &&
           (double)both >= COPY_LIKE * (double)(a_count + b_count - both);
}

/* Notes who repeats whom, and moves them behind the others; both keep their order. */
static int move_copies(struct ordering *ordering)
{
    struct found *found = ordering->found;
    uint64_t(*hashes)[MOST_SHINGLE] =
        arena_alloc(ordering->arena, (ordering->count + 1) * sizeof *hashes);
    struct found *copies = arena_alloc(ordering->arena, (ordering->count + 1) * sizeof *copies);
    size_t counts_of[LOOK_AT];
    if (!hashes || !copies) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < ordering->count; i++) {
        int status = shingle(ordering, &found[i].hit, hashes[i], &counts_of[i]);
        if (status != OK) {
            return status;
        }
        for (size_t j = 0; j < i && !found[i].copies; j++) {
            if (!found[j].copies && are_alike(hashes[i], counts_of[i], hashes[j], counts_of[j])) {
                found[i].copies = found[j].hit.link;
            }
        }
    }
    size_t kept = 0, moved = 0;
    for (size_t i = 0; i < ordering->count; i++) {
        if (found[i].copies) {
            copies[moved++] = found[i];
        } else {
            found[kept++] = found[i];
        }
    }
    memcpy(found + kept, copies, moved * sizeof *copies);
    return OK;
}

/* ---- all of them ---- */

static int apply(struct ordering *ordering, const char *const *texts, size_t text_count)
{
    unsigned rules = ordering->order->rules;
    int status = OK;
    for (size_t i = 0; status == OK && rules & ORDER_WORDS && i < text_count; i++) {
        status = weigh_words(ordering, texts[i], i);
    }
    for (size_t i = 0; i < ordering->count; i++) {
        struct found *found = &ordering->found[i];
        int64_t votes = rules & ORDER_VOTES ? found->fused : MERGE_VOTE(found->best_rank);
        found->score = votes + found->words;
    }
    merge_sort(ordering->found, ordering->count);
    return status == OK && rules & ORDER_COPIES ? move_copies(ordering) : status;
}

int order_found(struct arena *arena, const char *const *texts, size_t text_count,
                const struct order *order, struct found *found, size_t count)
{
    struct ordering ordering = {.order = order,
                                .arena = arena,
                                .reader = words_new(),
                                .found = found,
                                .count = count < LOOK_AT ? count : LOOK_AT};
    int status = ordering.reader ? apply(&ordering, texts, text_count) : ERR_NOMEM;
    words_free(ordering.reader);
    return status;
}
