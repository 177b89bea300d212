/* Searching the index: which memories pass a filter, where words add to scores (score.h says how
 * much), and the two searches, ranked and full-text. */
#include "core/limits.h"
#include "core/status.h"
#include "index/fulltext.h"
#include "index/question.h"
#include "index/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATED_HITS    10 /* at least so many, whatever the limit is: equal calls, equal figures */
#define FIRST_TIMES   4  /* the weight of all words, for the memory whose key was asked for */
#define SHORTEST_STEM 3  /* a prefix may be longer than the stem of the word that it means */

/* ---- the filter ---- */

/* A filter with its names looked up once, as symbols of this index, so that each document costs a
 * few comparisons. */
struct wanted {
    const struct index_filter *filter;
    uint32_t session, role;
    uint32_t *tags;
    bool impossible; /* it asks for a name that no memory has */
};
static uint32_t known(struct wanted *wanted, const struct index *index, const char *name)
{
    uint32_t symbol = symbols_find(&index->names, name, strlen(name));
    wanted->impossible |= symbol == SYMBOL_NONE;
    return symbol;
}

static int filter_start(struct wanted *wanted, const struct index *index, struct arena *arena,
                        const struct index_filter *filter)
{
    *wanted = (struct wanted){.filter = filter, .session = SYMBOL_NONE, .role = SYMBOL_NONE};
    if (filter->session) {
        wanted->session = known(wanted, index, filter->session);
    }
    if (filter->role) {
        wanted->role = known(wanted, index, filter->role);
    }
    wanted->tags = arena_alloc(arena, (filter->tag_count + 1) * sizeof *wanted->tags);
    for (size_t i = 0; i < filter->tag_count && wanted->tags; i++) {
        wanted->tags[i] = known(wanted, index, filter->tags[i]);
    }
    return wanted->tags ? OK : ERR_NOMEM;
}

static bool has_tag(const struct index *index, const struct document *document, uint32_t tag)
{
    for (size_t i = 0; i < document->tag_count; i++) {
        if (index->tags[document->tags + i] == tag) {
            return true;
        }
    }
    return false;
}

static bool filter_passes(const struct wanted *wanted, const struct index *index, uint32_t number)
{
    const struct index_filter *filter = wanted->filter;
    const struct document *document = &index->documents[number];
    if (document->dead || wanted->impossible ||
        (document->expires_ms > 0 && document->expires_ms <= filter->now_ms) ||
        (filter->from_ms != 0 && document->created_ms < filter->from_ms) ||
        (filter->until_ms != 0 && document->created_ms >= filter->until_ms) ||
        (filter->session && document->session != wanted->session) ||
        (filter->role && document->role != wanted->role)) {
        return false;
    }
    for (size_t i = 0; i < filter->tag_count; i++) {
        if (!has_tag(index, document, wanted->tags[i])) {
            return false;
        }
    }
    return true;
}

struct index_sieve {
    const struct index *index;
    struct wanted wanted;
};

const struct index_sieve *index_sieve(const struct index *index, struct arena *arena,
                                      const struct index_filter *filter)
{
    struct index_sieve *sieve = arena_alloc(arena, sizeof *sieve);
    if (!sieve) {
        return NULL;
    }
    sieve->index = index;
    return filter_start(&sieve->wanted, index, arena, filter) == OK ? sieve : NULL;
}

bool index_passes(const struct index_sieve *sieve, int64_t id)
{
    uint32_t number = index_find(sieve->index, id);
    return number != NO_DOCUMENT && filter_passes(&sieve->wanted, sieve->index, number);
}

/* ---- scores ---- */

/* What the words of the question brought to a document. */
struct sums {
    float base;    /* by its own words */
    float covered; /* the weight of the words that it holds */
};

/* The work of one search. */
struct scores {
    struct sums *sums;  /* of each document */
    float *all;         /* with what neighbours gave */
    float *squares;     /* the sum of those of the scores in each session; NULL: not asked */
    float *passages;    /* of each row of a document of several */
    float *times;       /* of the word at hand, in each row */
    float *whole_times; /* and in each document */
    uint32_t *rows;     /* that hold the word at hand */
    uint32_t *touched;  /* documents that hold it; later, those that have a score in `all` */
    uint32_t *scored;   /* documents with a score */
    uint32_t row_count, touched_count, scored_count;
    struct score_manner manner;
    double weight; /* of all words: no score is above it */
};

static void scores_done(struct scores *scores)
{
    free(scores->sums);
    free(scores->all);
    free(scores->squares);
    free(scores->passages);
    free(scores->times);
    free(scores->whole_times);
    free(scores->rows);
    free(scores->touched);
    free(scores->scored);
}

/* OK or ERR_NOMEM. */
static int scores_start(struct scores *scores, const struct index *index)
{
    size_t count = index->document_count + 1;
    size_t rows = index->row_count + 1;
    *scores = (struct scores){
        .sums = calloc(count, sizeof(struct sums)),
        .all = calloc(count, sizeof(float)),
        .passages = calloc(rows, sizeof(float)),
        .times = calloc(rows, sizeof(float)),
        .whole_times = calloc(count, sizeof(float)),
        .rows = malloc(rows * sizeof(uint32_t)),
        .touched = malloc(count * sizeof(uint32_t)),
        .scored = malloc(count * sizeof(uint32_t)),
    };
    if (!scores->sums || !scores->all || !scores->passages || !scores->times ||
        !scores->whole_times || !scores->rows || !scores->touched || !scores->scored) {
        scores_done(scores);
        return ERR_NOMEM;
    }
    scores->manner = score_manner(&(struct score_store){
        .texts = index->live,
        .passages = index->live_rows,
        .words = index->length_sum,
        .log_sum = index->log_sum,
        .log_square_sum = index->log_square_sum,
    });
    return OK;
}

/* How often each document and passage holds the word, in any of its forms: `touched` with
 * `whole_times`, and `rows` with `times`, which the caller sets back to 0. */
static void scores_count(struct scores *scores, const struct index *index,
                         const struct question_word *word)
{
    scores->touched_count = 0;
    scores->row_count = 0;
    for (size_t i = 0; i < word->count; i++) {
        const struct question_term *term = &word->terms[i];
        struct postings_cursor cursor;
        postings_start(&index->postings[term->term], &cursor);
        while (postings_next(&cursor)) {
            struct row row = index->rows[cursor.row];
            uint32_t number = row.document;
            if (row.dead || (term->only_compound &&
                             !words_compound((enum language)index->documents[number].language))) {
                continue;
            }
            float times = (float)cursor.times * term->weight;
            if (scores->whole_times[number] == 0) {
                scores->touched[scores->touched_count++] = number;
            }
            scores->whole_times[number] += times;
            if (row.several) {
                if (scores->times[cursor.row] == 0) {
                    scores->rows[scores->row_count++] = cursor.row;
                }
                scores->times[cursor.row] += times;
            }
        }
    }
}

/* Adds the word's part to the passages of documents that have several. */
static void add_passages(struct scores *scores, const struct index *index, double weight)
{
    for (uint32_t i = 0; i < scores->row_count; i++) {
        uint32_t row = scores->rows[i];
        double slowness = score_slowness(&scores->manner, index->rows[row].length, true);
        scores->passages[row] += (float)score_word(weight, scores->times[row], slowness);
        scores->times[row] = 0;
    }
}

/* Adds the word's part to the scores; not everywhere: only where there is a score already. */
static void scores_add(struct scores *scores, const struct index *index,
                       const struct question_word *word, bool everywhere)
{
    scores_count(scores, index, word);
    double weight = score_weight(&scores->manner, scores->touched_count, word->stop);
    scores->weight += weight;
    add_passages(scores, index, weight);
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        struct sums *sums = &scores->sums[number];
        double times = scores->whole_times[number];
        scores->whole_times[number] = 0;
        if (sums->base == 0) {
            if (!everywhere) {
                continue;
            }
            scores->scored[scores->scored_count++] = number;
        }
        double slowness = score_slowness(&scores->manner, index->documents[number].length, false);
        sums->base += (float)score_word(weight, times, slowness);
        sums->covered += (float)(weight * (times < 1 ? times : 1));
    }
}

/* The score of a document by its own words, made of its sums. */
static float own_score(const struct scores *scores, const struct document *document,
                       uint32_t number)
{
    const struct sums *sums = &scores->sums[number];
    float best = document->rows > 1 ? 0 : sums->base;
    for (uint32_t i = 0; i < document->rows && document->rows > 1; i++) {
        float passage = scores->passages[document->row + i];
        best = passage > best ? passage : best;
    }
    return (float)score_text(&scores->manner, sums->base, best, sums->covered / scores->weight,
                             document->length);
}

/* With its part of what its session has. */
static double whole_score(const struct scores *scores, const struct document *document,
                          uint32_t number)
{
    double score = scores->all[number];
    return document->session == SYMBOL_NONE || !scores->squares
               ? score
               : score + SCORE_SESSION * sqrtf(scores->squares[document->session]);
}

/* Whether one hit comes before another: the better, then the newer. */
static bool before(const struct index_hit *a, const struct index_hit *b)
{
    return a->score != b->score ? a->score > b->score : a->id > b->id;
}

static int by_rank(const void *left, const void *right)
{
    return before(left, right) ? -1 : before(right, left) ? 1 : 0;
}

/* A heap whose first is the worst of the kept. */
static void sink(struct index_hit *heap, size_t count, size_t at)
{
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            worst = before(&heap[worst], &heap[child]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        struct index_hit moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

/* The `most` best of the touched documents that pass the filter, by `all`, in their order in
 * `heap`; how many passed. */
static size_t scores_best(const struct scores *scores, const struct index *index,
                          const struct wanted *wanted, struct index_hit *heap, size_t most,
                          size_t *kept)
{
    size_t passed = 0;
    *kept = 0;
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        if (!filter_passes(wanted, index, number)) {
            continue;
        }
        const struct document *document = &index->documents[number];
        struct index_hit hit = {.id = document->id, .score = whole_score(scores, document, number)};
        hit.relevance = score_relevance(scores->sums[number].covered / scores->weight);
        passed++;
        if (*kept < most) {
            heap[(*kept)++] = hit;
            for (size_t at = *kept / 2; *kept == most && at-- > 0;) {
                sink(heap, *kept, at);
            }
        } else if (most > 0 && before(&hit, &heap[0])) {
            heap[0] = hit;
            sink(heap, *kept, 0);
        }
    }
    qsort(heap, *kept, sizeof *heap, by_rank);
    return passed;
}

/* Further down the list a hit is less likely the answer, by how far its score is behind the best;
 * and none is less likely than one that it comes before. */
static void rate(struct index_hit *hits, size_t count, int64_t first_id)
{
    double least = 0;
    for (size_t i = count; i-- > 0;) {
        double relevance =
            hits[0].score > 0 ? hits[i].relevance * hits[i].score / hits[0].score : 0;
        relevance = first_id != 0 && hits[i].id == first_id ? 1 : relevance;
        least = relevance > least ? relevance : least;
        hits[i].relevance = least;
    }
}

/* ---- ranked ---- */

static void give(struct scores *scores, uint32_t number, double score, uint32_t *count)
{
    if (scores->all[number] == 0) {
        scores->touched[(*count)++] = number;
    }
    scores->all[number] += (float)score;
}

static void share(struct scores *scores, const struct index *index, uint32_t number, float score,
                  uint32_t *count)
{
    static const struct {
        int64_t step;
        double part;
    } SHARES[] = {{-2, SCORE_SECOND}, {-1, SCORE_NEXT}, {1, SCORE_NEXT}, {2, SCORE_SECOND}};
    const struct document *document = &index->documents[number];
    if (document->session == SYMBOL_NONE) {
        return;
    }
    const struct session *session = &index->sessions[document->session];
    int64_t at = session_position(session, document->place, number);
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        int64_t other = at + SHARES[i].step;
        if (other >= 0 && other < session->count) {
            give(scores, session->members[other].document, SHARES[i].part * score, count);
        }
    }
    scores->squares[document->session] += score * score;
}

/* From here on `touched` holds every document that has a score. What has expired gives nothing, as
 * if it were not there. OK or ERR_NOMEM. */
static int spread(struct scores *scores, const struct index *index, int64_t now_ms,
                  int64_t first_id)
{
    uint32_t count = 0;
    scores->squares = calloc(index->names.count + 1, sizeof *scores->squares);
    for (uint32_t i = 0; i < scores->scored_count && scores->squares; i++) {
        uint32_t number = scores->scored[i];
        const struct document *document = &index->documents[number];
        if (document->expires_ms == 0 || document->expires_ms > now_ms) {
            float score = own_score(scores, document, number);
            give(scores, number, score, &count);
            share(scores, index, number, score, &count);
        }
    }
    uint32_t first = scores->squares && first_id ? index_find(index, first_id) : NO_DOCUMENT;
    if (first != NO_DOCUMENT) {
        give(scores, first, FIRST_TIMES * (1 + scores->weight), &count);
    }
    scores->touched_count = count;
    return scores->squares ? OK : ERR_NOMEM;
}

/* The terms of the words that carry meaning, as texts. */
static int name_terms(const struct question *question, const struct index *index,
                      struct arena *arena, struct index_found *found)
{
    size_t count = 0;
    for (size_t i = 0; i < question->count; i++) {
        count += question->words[i].count;
    }
    const char **terms = arena_alloc(arena, (count + 1) * sizeof *terms);
    found->terms = terms;
    for (size_t i = 0; terms && i < question->count; i++) {
        const struct question_word *word = &question->words[i];
        for (size_t j = 0; j < word->count && (!word->stop || question->only_stops); j++) {
            const char *term = symbols_text(&index->terms, word->terms[j].term);
            if (*term != KEY_MARK) {
                terms[found->term_count++] = arena_strdup(arena, term);
            }
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

static int score_all(struct scores *scores, const struct index *index,
                     const struct question *question, const struct index_filter *filter)
{
    for (int stops = 0; stops <= 1; stops++) {
        for (size_t i = 0; i < question->count; i++) {
            if (question->words[i].stop == (stops == 1)) {
                /* A word without meaning alone finds nothing. */
                scores_add(scores, index, &question->words[i], stops == 0 || question->only_stops);
            }
        }
    }
    return spread(scores, index, filter->now_ms, filter->first);
}

int index_search(const struct index *index, struct arena *arena, const char *query,
                 const struct index_filter *filter, size_t limit, size_t offset,
                 struct index_found *found)
{
    struct question question;
    struct wanted wanted;
    struct scores scores;
    struct word_reader *reader = words_new();
    *found = (struct index_found){0};
    size_t most = limit + offset > RATED_HITS ? limit + offset : RATED_HITS;
    struct index_hit *best = arena_alloc(arena, most * sizeof *best);
    int status = reader && best ? question_read(&question, index, reader, arena, query) : ERR_NOMEM;
    if (status == OK) {
        question_drop_repeated(&question);
        status = question_widen(&question, index, reader, arena);
    }
    words_free(reader);
    if (status == OK) {
        status = name_terms(&question, index, arena, found);
    }
    if (status == OK) {
        status = filter_start(&wanted, index, arena, filter);
    }
    if (status == OK) {
        status = scores_start(&scores, index);
    }
    if (status != OK) {
        return status;
    }
    status = score_all(&scores, index, &question, filter);
    if (status == OK) {
        size_t kept;
        found->total = scores_best(&scores, index, &wanted, best, most, &kept);
        rate(best, kept, filter->first);
        kept = kept < limit + offset ? kept : limit + offset;
        found->hits = best + (kept > offset ? offset : kept);
        found->count = kept > offset ? kept - offset : 0;
    }
    scores_done(&scores);
    return status;
}

/* ---- full text ---- */

/* What is known of each document. */
struct marks {
    uint32_t *words;   /* of the clause at hand that it holds */
    uint32_t *clauses; /* that it holds */
    uint8_t *whole;    /* it holds the clause's identifier as one word */
    uint8_t *excluded;
};

static void marks_done(struct marks *marks)
{
    free(marks->words);
    free(marks->clauses);
    free(marks->whole);
    free(marks->excluded);
}

static int marks_start(struct marks *marks, const struct index *index)
{
    size_t count = index->document_count ? index->document_count : 1;
    *marks = (struct marks){calloc(count, sizeof(uint32_t)), calloc(count, sizeof(uint32_t)),
                            calloc(count, 1), calloc(count, 1)};
    if (marks->words && marks->clauses && marks->whole && marks->excluded) {
        return OK;
    }
    marks_done(marks);
    return ERR_NOMEM;
}

/* Every term that the prefix could mean: stems that begin with it, and stems that it begins with.
 */
static int add_prefixed(const struct index *index, struct arena *arena, struct question_word *word)
{
    size_t length = strlen(word->folded);
    struct question_term *terms =
        arena_alloc(arena, (LIMIT_MEMORY_PREFIX_TERMS + 1) * sizeof *terms);
    if (!terms) {
        return ERR_NOMEM;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < index->terms.count && count < LIMIT_MEMORY_PREFIX_TERMS; i++) {
        const char *term = symbols_text(&index->terms, i);
        size_t term_length = symbols_length(&index->terms, i);
        size_t common = term_length < length ? term_length : length;
        if (common >= (length < SHORTEST_STEM ? length : SHORTEST_STEM) &&
            memcmp(term, word->folded, common) == 0) {
            terms[count++] = (struct question_term){.term = i, .weight = 1};
        }
    }
    word->terms = terms;
    word->count = count;
    return OK;
}

/* The terms as texts, for those who look into the memories afterwards. */
static int name_words(const struct index *index, struct arena *arena,
                      const struct question *question, struct fulltext_clause *clause)
{
    clause->word_count = question->count;
    clause->words = arena_zalloc(arena, (question->count + 1) * sizeof *clause->words);
    for (size_t i = 0; clause->words && i < question->count; i++) {
        const struct question_word *from = &question->words[i];
        struct fulltext_word *to = &clause->words[i];
        bool prefix = clause->prefix && i + 1 == question->count;
        to->position = from->position;
        to->kind = from->kind;
        to->prefix = prefix ? from->folded : NULL;
        to->term_count = prefix ? 0 : from->count;
        to->terms = arena_alloc(arena, (from->count + 1) * sizeof *to->terms);
        for (size_t j = 0; to->terms && j < to->term_count; j++) {
            to->terms[j] = arena_strdup(arena, symbols_text(&index->terms, from->terms[j].term));
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

static void mark_word(struct scores *scores, const struct index *index,
                      const struct question_word *word, struct marks *marks, bool scored)
{
    scores_count(scores, index, word);
    add_passages(scores, index, 0);
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        scores->whole_times[number] = 0;
        if (word->kind == WORD_WHOLE) {
            marks->whole[number] = 1;
        } else {
            marks->words[number]++;
        }
    }
    if (scored) {
        scores_add(scores, index, word, true);
    }
}

/* Counts the clause for every document that holds it, and forgets the marks of its words. */
static void close_clause(const struct index *index, const struct fulltext_clause *clause,
                         struct marks *marks, uint32_t words)
{
    bool sure = !clause->phrase && !clause->prefix;
    for (uint32_t i = 0; i < index->document_count; i++) {
        bool held = marks->whole[i] || (words > 0 && marks->words[i] == words);
        if (held && !clause->excluded) {
            marks->clauses[i]++;
        } else if (held && sure) {
            marks->excluded[i] = 1; /* a phrase may still be absent: the text will tell */
        }
        marks->whole[i] = 0;
        marks->words[i] = 0;
    }
}

static int mark_clause(struct scores *scores, const struct index *index, struct arena *arena,
                       struct word_reader *reader, struct fulltext_clause *clause,
                       struct marks *marks)
{
    struct question question;
    int status = question_read(&question, index, reader, arena, clause->text);
    if (status == OK && clause->prefix && question.count > 0) {
        status = add_prefixed(index, arena, &question.words[question.count - 1]);
    }
    if (status == OK) {
        status = name_words(index, arena, &question, clause);
    }
    uint32_t words = 0;
    for (size_t i = 0; i < question.count && status == OK; i++) {
        mark_word(scores, index, &question.words[i], marks, !clause->excluded);
        words += question.words[i].kind != WORD_WHOLE;
    }
    if (status == OK) {
        close_clause(index, clause, marks, words);
    }
    return status;
}

static uint32_t clauses_wanted(const struct fulltext *question)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < question->count; i++) {
        wanted += !question->clauses[i].excluded;
    }
    return question->all ? wanted : 1;
}

static int collect(struct scores *scores, const struct index *index, struct arena *arena,
                   const struct wanted *wanted, const struct marks *marks, uint32_t clauses,
                   struct index_hit **hits, size_t *count)
{
    scores->touched_count = 0;
    for (uint32_t i = 0; i < index->document_count; i++) {
        if (marks->clauses[i] >= clauses && !marks->excluded[i] && !index->documents[i].dead) {
            scores->all[i] = scores->sums[i].base;
            scores->touched[scores->touched_count++] = i;
        }
    }
    *hits = arena_alloc(arena, (scores->touched_count + 1) * sizeof **hits);
    if (!*hits) {
        return ERR_NOMEM;
    }
    scores_best(scores, index, wanted, *hits, scores->touched_count, count);
    rate(*hits, *count, 0);
    return OK;
}

int index_fulltext(const struct index *index, struct arena *arena, struct fulltext *question,
                   const struct index_filter *filter, struct index_hit **hits, size_t *count)
{
    struct scores scores;
    struct marks marks;
    struct wanted wanted;
    int status = scores_start(&scores, index);
    if (status != OK) {
        return status;
    }
    status = marks_start(&marks, index);
    if (status != OK) {
        scores_done(&scores);
        return status;
    }
    struct word_reader *reader = words_new();
    status = reader ? filter_start(&wanted, index, arena, filter) : ERR_NOMEM;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        status = mark_clause(&scores, index, arena, reader, &question->clauses[i], &marks);
    }
    if (status == OK) {
        status =
            collect(&scores, index, arena, &wanted, &marks, clauses_wanted(question), hits, count);
    }
    words_free(reader);
    marks_done(&marks);
    scores_done(&scores);
    return status;
}
