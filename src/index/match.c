/* The full-text search: every document that holds the clauses of a question, best first. Segment by
 * segment the words of each clause are marked in the documents that hold them. */
#include "core/limits.h"
#include "core/status.h"
#include "index/fulltext.h"
#include "index/internal.h"
#include "index/scan.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST_STEM 3u /* a prefix may be longer than the stem of the word that it means */

/* What is known of each document of the segment at hand. */
struct marks {
    uint32_t *words;   /* of the clause at hand that it holds */
    uint32_t *clauses; /* that it holds */
    uint8_t *whole;    /* it holds the clause's identifier as one word */
    uint8_t *excluded;
    float *times; /* of the word at hand */
    float *scores;
    float *covered; /* the weight of the words that it holds */
};

struct matching {
    const struct view *view;
    struct arena *arena;
    struct word_reader *reader;
    struct fulltext *fulltext;
    const struct index_sieve *filter;
    struct score_manner manner;
    struct question *questions; /* of each clause */
    double weight;              /* of all words that are asked for */
    struct marks marks;
    struct scan_hits hits;
};

/* ---- the question ---- */

/* Every term of a segment that the prefix could mean: stems that begin with it, and stems that it
 * begins with. Each is counted once, however many segments have it. */
static int add_prefixed_of(const struct view_part *part, struct symbols *seen,
                           const struct question_word *word)
{
    size_t length = strlen(word->folded);
    struct dictionary_walk walk;
    struct dictionary_term shorter;
    bool there = dictionary_seek(&walk, &part->segment.terms, word->folded, length);
    int status = OK;
    for (size_t i = SHORTEST_STEM; i < length && status == OK; i++) {
        if (dictionary_find(&part->segment.terms, word->folded, i, &shorter)) {
            status = symbols_add(seen, word->folded, i) == SYMBOL_NONE ? ERR_NOMEM : OK;
        }
    }
    while (there && status == OK && seen->count < LIMIT_MEMORY_PREFIX_TERMS &&
           dictionary_within(&walk, word->folded, length)) {
        status =
            symbols_add(seen, walk.term.text, walk.term.length) == SYMBOL_NONE ? ERR_NOMEM : OK;
        there = dictionary_next(&walk);
    }
    return status;
}

static int add_prefixed(struct matching *matching, struct question_word *word)
{
    struct symbols seen = {0};
    int status = OK;
    for (uint32_t i = 0; i < matching->view->count && status == OK; i++) {
        status = add_prefixed_of(&matching->view->parts[i], &seen, word);
    }
    word->count = 0;
    word->terms = arena_alloc(matching->arena, (seen.count + (size_t)1) * sizeof *word->terms);
    for (uint32_t i = 0; i < seen.count && word->terms && status == OK; i++) {
        size_t length = symbols_length(&seen, i);
        const char *text = arena_strndup(matching->arena, symbols_text(&seen, i), length);
        struct question_term *term = &word->terms[word->count++];
        *term = (struct question_term){.text = text, .length = length, .weight = 1};
        status = text ? view_find(matching->view, matching->arena, text, length, &term->found)
                      : ERR_NOMEM;
    }
    symbols_done(&seen);
    return word->terms ? status : ERR_NOMEM;
}

/* The terms as texts, for those who look into the memories afterwards. */
static int name_words(struct arena *arena, const struct question *question,
                      struct fulltext_clause *clause)
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
            to->terms[j] = from->terms[j].text;
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

static int read_clauses(struct matching *matching)
{
    struct fulltext *fulltext = matching->fulltext;
    matching->questions =
        arena_zalloc(matching->arena, (fulltext->count + 1) * sizeof *matching->questions);
    int status = matching->questions ? OK : ERR_NOMEM;
    for (size_t i = 0; i < fulltext->count && status == OK; i++) {
        struct fulltext_clause *clause = &fulltext->clauses[i];
        struct question *question = &matching->questions[i];
        status = question_read(question, matching->view, matching->reader, matching->arena,
                               clause->text);
        if (status == OK && clause->prefix && question->count > 0) {
            status = add_prefixed(matching, &question->words[question->count - 1]);
        }
        status = status == OK ? question_count(question, matching->view) : status;
        for (size_t j = 0; j < question->count && !clause->excluded; j++) {
            const struct question_word *word = &question->words[j];
            matching->weight += score_weight(&matching->manner, word->holders, word->stop);
        }
        status = status == OK ? name_words(matching->arena, question, clause) : status;
    }
    return status;
}

/* ---- marks ---- */

static void marks_done(struct marks *marks)
{
    free(marks->words);
    free(marks->clauses);
    free(marks->whole);
    free(marks->excluded);
    free(marks->times);
    free(marks->scores);
    free(marks->covered);
    *marks = (struct marks){0};
}

static int marks_start(struct marks *marks, size_t documents)
{
    size_t count = documents + 1;
    *marks = (struct marks){
        .words = calloc(count, sizeof *marks->words),
        .clauses = calloc(count, sizeof *marks->clauses),
        .whole = calloc(count, 1),
        .excluded = calloc(count, 1),
        .times = calloc(count, sizeof *marks->times),
        .scores = calloc(count, sizeof *marks->scores),
        .covered = calloc(count, sizeof *marks->covered),
    };
    return marks->words && marks->clauses && marks->whole && marks->excluded && marks->times &&
                   marks->scores && marks->covered
               ? OK
               : ERR_NOMEM;
}

/* How often each document holds the word, in any of its forms. */
static void count_times(struct matching *matching, uint32_t part, const struct question_word *word)
{
    const struct segment *segment = &matching->view->parts[part].segment;
    for (size_t i = 0; i < word->count; i++) {
        const struct question_term *wanted = &word->terms[i];
        struct postings_cursor cursor;
        if (!wanted->found.lists) {
            continue;
        }
        for (postings_start(&cursor, &wanted->found.lists[part], segment->documents);
             cursor.document != NO_DOCUMENT; postings_next(&cursor)) {
            if (!wanted->only_compound ||
                words_compound(segment_language(segment, cursor.document))) {
                matching->marks.times[cursor.document] += (float)cursor.times * wanted->weight;
            }
        }
    }
}

static void mark_word(struct matching *matching, uint32_t part, const struct question_word *word,
                      bool scored)
{
    const struct segment *segment = &matching->view->parts[part].segment;
    struct marks *marks = &matching->marks;
    double weight = score_weight(&matching->manner, word->holders, word->stop);
    count_times(matching, part, word);
    for (uint32_t i = 0; i < segment->documents; i++) {
        if (marks->times[i] == 0) {
            continue;
        }
        if (word->kind == WORD_WHOLE) {
            marks->whole[i] = 1;
        } else {
            marks->words[i]++;
        }
        if (scored) {
            double slowness = score_slowness(&matching->manner, segment->lengths[i], false);
            marks->scores[i] += (float)score_word(weight, marks->times[i], slowness);
            marks->covered[i] += (float)weight * (marks->times[i] < 1 ? marks->times[i] : 1);
        }
        marks->times[i] = 0;
    }
}

/* Counts the clause for every document that holds it, and forgets the marks of its words. */
static void close_clause(struct marks *marks, const struct fulltext_clause *clause,
                         uint32_t documents, uint32_t words)
{
    bool sure = !clause->phrase && !clause->prefix;
    for (uint32_t i = 0; i < documents; i++) {
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

static uint32_t clauses_wanted(const struct fulltext *question)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < question->count; i++) {
        wanted += !question->clauses[i].excluded;
    }
    return question->all ? wanted : 1;
}

static int match_part(struct matching *matching, uint32_t number)
{
    const struct segment *segment = &matching->view->parts[number].segment;
    const struct fulltext *fulltext = matching->fulltext;
    struct marks *marks = &matching->marks;
    int status = marks_start(marks, segment->documents);
    for (size_t i = 0; i < fulltext->count && status == OK; i++) {
        const struct question *question = &matching->questions[i];
        uint32_t words = 0;
        for (size_t j = 0; j < question->count; j++) {
            mark_word(matching, number, &question->words[j], !fulltext->clauses[i].excluded);
            words += question->words[j].kind != WORD_WHOLE;
        }
        close_clause(marks, &fulltext->clauses[i], segment->documents, words);
    }
    uint32_t clauses = clauses_wanted(fulltext);
    for (uint32_t i = 0; i < segment->documents && status == OK; i++) {
        if (marks->clauses[i] >= clauses && !marks->excluded[i] &&
            filter_passes(matching->filter, number, i)) {
            struct scan_hit hit = {.part = number,
                                   .document = i,
                                   .id = segment->ids[i],
                                   .score = marks->scores[i],
                                   .covered = marks->covered[i] / (float)matching->weight,
                                   .own = marks->scores[i]};
            status = scan_keep(&matching->hits, &hit);
        }
    }
    marks_done(marks);
    return status;
}

int index_fulltext(const struct index *index, struct arena *arena, struct fulltext *question,
                   const struct index_filter *filter, struct index_hit **hits, size_t *count)
{
    struct score_store store = view_store(&index->view);
    struct matching matching = {.view = &index->view,
                                .arena = arena,
                                .reader = words_new(),
                                .fulltext = question,
                                .filter = filter_new(arena, &index->view, filter),
                                .manner = score_manner(&store)};
    int status = matching.reader && matching.filter ? read_clauses(&matching) : ERR_NOMEM;
    for (uint32_t i = 0; i < index->view.count && status == OK; i++) {
        status = match_part(&matching, i);
    }
    *count = matching.hits.count;
    *hits = scan_answer(&matching.hits, arena, 0);
    status = *hits ? status : ERR_NOMEM;
    free(matching.hits.items);
    words_free(matching.reader);
    return status;
}
