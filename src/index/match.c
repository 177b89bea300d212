/* The full-text search: every document that holds the clauses of a question, best first. Segment by
 * segment, and in stretches of documents, the words of each clause are marked in the documents that
 * hold them; whether they make a phrase there, their positions tell. */
#include "core/limits.h"
#include "core/status.h"
#include "index/array.h"
#include "index/fulltext.h"
#include "index/internal.h"
#include "index/positions.h"
#include "index/scan.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST_STEM 3u /* a prefix may be longer than the stem of the word that it means */

#define STRETCH 4096u /* documents of a segment that are marked together */

/* What is known of a document of the stretch at hand. */
struct mark {
    uint32_t words;   /* of the clause at hand that it holds */
    uint32_t clauses; /* that it holds */
    float times;      /* that it holds the word at hand */
    float score;
    float covered; /* the weight of the words that it holds */
    bool whole;    /* it holds the clause's identifier as one word */
    bool excluded;
};

/* Documents of a stretch. */
struct marked {
    uint64_t bits[STRETCH / 64];
};

/* A list of one term in the segment at hand. */
struct term_list {
    const struct question_term *term;
    struct postings_cursor counting;
    struct postings_cursor placing; /* of a phrase: behind the other, document by document */
    struct positions_reader reader;
};

/* The lists of a word. */
struct word_lists {
    struct term_list *items;
    size_t count;
};

struct numbers {
    uint32_t *items;
    uint32_t count, capacity;
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
    struct scan_hits hits;
    /* Of the segment at hand: */
    uint32_t number;
    const struct segment *segment;
    struct term_list *lists;
    struct word_lists *words; /* of all clauses, one behind the other */
    /* Of the stretch at hand: */
    uint32_t start, end;
    struct mark *marks;
    struct marked touched;   /* what has a mark */
    struct marked in_clause; /* what holds a word of the clause at hand */
    /* Of the document at hand: where the phrase may begin, and where its next word stands. */
    struct numbers starts, places;
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

/* ---- phrases ---- */

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* Where the document holds the word, in order. */
static int find_places(struct word_lists *word, const struct segment *segment, uint32_t document,
                       struct numbers *places)
{
    int status = OK;
    bool ordered = true;
    places->count = 0;
    for (size_t i = 0; i < word->count; i++) {
        struct term_list *list = &word->items[i];
        if (!list->placing.list.bytes) {
            postings_start(&list->placing, &list->counting.list, segment->documents);
            positions_start(&list->reader);
        }
        postings_seek(&list->placing, document);
        if (list->placing.document != document) {
            continue;
        }
        struct positions positions = positions_of(&list->reader, &list->placing);
        for (uint32_t position; status == OK && positions_next(&positions, &position);) {
            status = array_reserve(&places->items, &places->capacity, places->count + 1,
                                   sizeof *places->items);
            if (status == OK) {
                ordered &= places->count == 0 || places->items[places->count - 1] <= position;
                places->items[places->count++] = position;
            }
        }
    }
    if (!ordered) {
        qsort(places->items, places->count, sizeof *places->items, by_number);
    }
    return status;
}

/* Keeps those starts of which the word stands so many positions behind. */
static void keep_followed(struct numbers *starts, const struct numbers *places, uint32_t distance)
{
    uint32_t kept = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < starts->count; i++) {
        uint64_t wanted = (uint64_t)starts->items[i] + distance;
        while (at < places->count && places->items[at] < wanted) {
            at++;
        }
        if (at < places->count && places->items[at] == wanted) {
            starts->items[kept++] = starts->items[i];
        }
    }
    starts->count = kept;
}

/* Whether the document holds the words of the question one behind the other, as they stand in it;
 * fulltext_matches() says the same of its texts. */
static int holds_phrase(struct matching *matching, const struct question *question,
                        struct word_lists *words, uint32_t document, bool *held)
{
    const struct question_word *first = NULL;
    int status = OK;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        const struct question_word *word = &question->words[i];
        if (!fulltext_in_phrase(word->kind) || (first && matching->starts.count == 0)) {
            continue;
        }
        struct numbers *places = first ? &matching->places : &matching->starts;
        status = find_places(&words[i], matching->segment, document, places);
        if (first) {
            keep_followed(&matching->starts, places, word->position - first->position);
        }
        first = first ? first : word;
    }
    *held = first && matching->starts.count > 0;
    return status;
}

/* ---- marks ---- */

/* How often each document of the stretch holds the word, in any of its forms. */
static void count_times(struct matching *matching, struct word_lists *word, struct marked *held)
{
    for (size_t i = 0; i < word->count; i++) {
        struct postings_cursor *cursor = &word->items[i].counting;
        const struct question_term *term = word->items[i].term;
        for (; cursor->document < matching->end; postings_next(cursor)) {
            if (!term->only_compound ||
                words_compound(segment_language(matching->segment, cursor->document))) {
                uint32_t slot = cursor->document - matching->start;
                matching->marks[slot].times += (float)cursor->times * term->weight;
                held->bits[slot / 64] |= UINT64_C(1) << slot % 64;
            }
        }
    }
}

static void mark_word(struct matching *matching, const struct question_word *word,
                      struct word_lists *lists, bool scored)
{
    struct marked held = {0};
    double weight = score_weight(&matching->manner, word->holders, word->stop);
    count_times(matching, lists, &held);
    for (uint32_t i = 0; i < STRETCH / 64; i++) {
        matching->in_clause.bits[i] |= held.bits[i];
        for (uint64_t left = held.bits[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            struct mark *mark = &matching->marks[slot];
            mark->whole |= word->kind == WORD_WHOLE;
            mark->words += word->kind != WORD_WHOLE;
            if (scored) {
                uint32_t length = matching->segment->lengths[matching->start + slot];
                double slowness = score_slowness(&matching->manner, length, false);
                mark->score += (float)score_word(weight, mark->times, slowness);
                mark->covered += (float)weight * (mark->times < 1 ? mark->times : 1);
            }
            mark->times = 0;
        }
    }
}

/* Counts the clause for a document that holds its words. What a prefix stands for is seen in the
 * text only. */
static int close_clause(struct matching *matching, const struct fulltext_clause *clause,
                        const struct question *question, struct word_lists *words, uint32_t slot)
{
    struct mark *mark = &matching->marks[slot];
    uint32_t document = matching->start + slot;
    bool held = true;
    int status = OK;
    if (clause->phrase && !clause->prefix) {
        status = view_is_dead(&matching->view->parts[matching->number], document)
                     ? OK
                     : holds_phrase(matching, question, words, document, &held);
    }
    mark->clauses += held && !clause->excluded;
    mark->excluded |= held && clause->excluded && !clause->prefix;
    return status;
}

static int mark_clause(struct matching *matching, const struct fulltext_clause *clause,
                       const struct question *question, struct word_lists *words)
{
    int status = OK;
    uint32_t wanted = 0;
    matching->in_clause = (struct marked){0};
    for (size_t i = 0; i < question->count; i++) {
        mark_word(matching, &question->words[i], &words[i], !clause->excluded);
        wanted += question->words[i].kind != WORD_WHOLE;
    }
    for (uint32_t i = 0; i < STRETCH / 64; i++) {
        matching->touched.bits[i] |= matching->in_clause.bits[i];
        for (uint64_t left = matching->in_clause.bits[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            struct mark *mark = &matching->marks[slot];
            if (status == OK && (mark->whole || mark->words == wanted)) {
                status = close_clause(matching, clause, question, words, slot);
            }
            mark->whole = false;
            mark->words = 0;
        }
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

/* Keeps what holds enough of the clauses, and forgets the marks. */
static int keep_marked(struct matching *matching)
{
    uint32_t clauses = clauses_wanted(matching->fulltext);
    int status = OK;
    for (uint32_t i = 0; i < STRETCH / 64; i++) {
        for (uint64_t left = matching->touched.bits[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            struct mark *mark = &matching->marks[slot];
            uint32_t document = matching->start + slot;
            if (status == OK && mark->clauses >= clauses && !mark->excluded &&
                filter_passes(matching->filter, matching->number, document)) {
                struct scan_hit hit = {.part = matching->number,
                                       .document = document,
                                       .id = matching->segment->ids[document],
                                       .score = mark->score,
                                       .covered = mark->covered / (float)matching->weight,
                                       .own = mark->score};
                status = scan_keep(&matching->hits, &hit);
            }
            *mark = (struct mark){0};
        }
    }
    matching->touched = (struct marked){0};
    return status;
}

/* ---- segments ---- */

/* Opens the lists that the segment has of each word. */
static void open_lists(struct matching *matching)
{
    struct term_list *list = matching->lists;
    struct word_lists *word = matching->words;
    for (size_t i = 0; i < matching->fulltext->count; i++) {
        const struct question *question = &matching->questions[i];
        for (size_t j = 0; j < question->count; j++) {
            *word = (struct word_lists){.items = list};
            for (size_t k = 0; k < question->words[j].count; k++) {
                const struct question_term *term = &question->words[j].terms[k];
                if (term->found.lists && term->found.lists[matching->number].count > 0) {
                    list->term = term;
                    list->placing.list.bytes = NULL;
                    postings_start(&list->counting, &term->found.lists[matching->number],
                                   matching->segment->documents);
                    list++;
                }
            }
            word->count = (size_t)(list - word->items);
            word++;
        }
    }
}

/* The first document that a list has not come to; NO_DOCUMENT: there is none. */
static uint32_t next_document(const struct matching *matching)
{
    uint32_t next = NO_DOCUMENT;
    const struct word_lists *word = matching->words;
    for (size_t i = 0; i < matching->fulltext->count; i++) {
        for (size_t j = 0; j < matching->questions[i].count; j++, word++) {
            for (size_t k = 0; k < word->count; k++) {
                uint32_t document = word->items[k].counting.document;
                next = document < next ? document : next;
            }
        }
    }
    return next;
}

static int match_part(struct matching *matching, uint32_t number)
{
    const struct fulltext *fulltext = matching->fulltext;
    int status = OK;
    matching->number = number;
    matching->segment = &matching->view->parts[number].segment;
    open_lists(matching);
    for (uint32_t next; status == OK && (next = next_document(matching)) != NO_DOCUMENT;) {
        struct word_lists *words = matching->words;
        matching->start = next - next % STRETCH;
        matching->end = matching->start + STRETCH;
        for (size_t i = 0; i < fulltext->count && status == OK; i++) {
            status = mark_clause(matching, &fulltext->clauses[i], &matching->questions[i], words);
            words += matching->questions[i].count;
        }
        status = status == OK ? keep_marked(matching) : status;
    }
    return status;
}

static int start_matching(struct matching *matching)
{
    size_t words = 0;
    size_t terms = 0;
    for (size_t i = 0; i < matching->fulltext->count; i++) {
        const struct question *question = &matching->questions[i];
        words += question->count;
        for (size_t j = 0; j < question->count; j++) {
            terms += question->words[j].count;
        }
    }
    matching->lists = malloc((terms + 1) * sizeof *matching->lists);
    matching->words = malloc((words + 1) * sizeof *matching->words);
    matching->marks = calloc(STRETCH, sizeof *matching->marks);
    return matching->lists && matching->words && matching->marks ? OK : ERR_NOMEM;
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
    status = status == OK ? start_matching(&matching) : status;
    for (uint32_t i = 0; i < index->view.count && status == OK; i++) {
        status = match_part(&matching, i);
    }
    *count = matching.hits.count;
    *hits = scan_answer(&matching.hits, arena, 0);
    status = *hits ? status : ERR_NOMEM;
    free(matching.hits.items);
    free(matching.lists);
    free(matching.words);
    free(matching.marks);
    free(matching.starts.items);
    free(matching.places.items);
    words_free(matching.reader);
    return status;
}
