/* Full-text search over the index: which documents hold the keywords. */
#include "core/limits.h"
#include "core/status.h"
#include "memory/fulltext.h"
#include "memory/scores.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST_STEM 3 /* a prefix may be longer than the stem of the word that it means */

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

/* ---- words ---- */

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
static int tell_words(const struct index *index, struct arena *arena,
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

/* ---- clauses ---- */

static void mark_word(struct scores *scores, const struct index *index,
                      const struct question_word *word, struct marks *marks, bool scored)
{
    scores_count(scores, index, word);
    for (uint32_t i = 0; i < scores->touched_count; i++) {
        uint32_t number = scores->touched[i];
        scores->times[number] = 0;
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
        status = tell_words(index, arena, &question, clause);
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

/* ---- the candidates ---- */

static uint32_t clauses_wanted(const struct fulltext *question)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < question->count; i++) {
        wanted += !question->clauses[i].excluded;
    }
    return question->all ? wanted : 1;
}

static int collect(struct scores *scores, const struct index *index, struct arena *arena,
                   const struct sieve *sieve, const struct marks *marks, uint32_t wanted,
                   struct index_hit **hits, size_t *count)
{
    scores->touched_count = 0;
    for (uint32_t i = 0; i < index->document_count; i++) {
        if (marks->clauses[i] >= wanted && !marks->excluded[i] && !index->documents[i].dead) {
            scores->all[i] = scores->base[i];
            scores->touched[scores->touched_count++] = i;
        }
    }
    *hits = arena_alloc(arena, (scores->touched_count + 1) * sizeof **hits);
    if (!*hits) {
        return ERR_NOMEM;
    }
    scores_best(scores, index, sieve, *hits, scores->touched_count, count);
    return OK;
}

int index_fulltext(const struct index *index, struct arena *arena, struct fulltext *question,
                   const struct index_filter *filter, struct index_hit **hits, size_t *count)
{
    struct scores scores;
    struct marks marks;
    struct sieve sieve;
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
    status = reader ? sieve_start(&sieve, index, arena, filter) : ERR_NOMEM;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        status = mark_clause(&scores, index, arena, reader, &question->clauses[i], &marks);
    }
    if (status == OK) {
        status =
            collect(&scores, index, arena, &sieve, &marks, clauses_wanted(question), hits, count);
    }
    words_free(reader);
    marks_done(&marks);
    scores_done(&scores);
    return status;
}
