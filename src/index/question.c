/* Reads a question once for each language that the index holds: the words are the same, their stems
 * differ. */
#include "index/question.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/compounds.h"
#include "index/fold.h"
#include "index/forms.h"

#include <stdlib.h>
#include <string.h>

#define PART_WEIGHT   0.5f /* of a compound that only holds the word */
#define MOST_COMPOUND 64   /* terms that one word may stand for */
#define JOINED_WEIGHT 0.5f /* of two words that are written as one, for each of them */
#define KEY_WEIGHT    1.5f
#define MOST_COUNTED  50000 /* holders of terms that are counted one by one */
#define MOST_SLIPS    16    /* terms that a misspelt word may stand for */

struct question_reading {
    struct question *question;
    const struct view *view;
    struct arena *arena;
    size_t at; /* the next word, in the second and further languages */
    enum language language;
    bool first; /* the language of the question itself: words are made, and stop words noted */
};

static int add_term(struct question_reading *reading, struct question_word *word,
                    struct question_term term)
{
    for (size_t i = 0; i < word->count; i++) {
        if (word->terms[i].length == term.length &&
            memcmp(word->terms[i].text, term.text, term.length) == 0) {
            return OK;
        }
    }
    word->terms =
        arena_grow(reading->arena, word->terms, word->count, &word->capacity, sizeof *word->terms);
    if (!word->terms) {
        return ERR_NOMEM;
    }
    term.text = arena_strndup(reading->arena, term.text, term.length);
    word->terms[word->count] = term;
    word->count += term.text != NULL;
    return term.text ? OK : ERR_NOMEM;
}

static struct question_word *add_word(struct question_reading *reading, const struct word *word)
{
    struct question *question = reading->question;
    question->words = arena_grow(reading->arena, question->words, question->count,
                                 &question->capacity, sizeof *question->words);
    if (!question->words) {
        question->count = 0;
        return NULL;
    }
    struct question_word *made = &question->words[question->count++];
    *made = (struct question_word){
        .folded = arena_strndup(reading->arena, word->folded, word->folded_length),
        .term = arena_strndup(reading->arena, word->term, word->length),
        .position = word->position,
        .kind = word->kind,
        .stop = word->stop,
    };
    return made->folded && made->term ? made : NULL;
}

static int take(void *context, const struct word *word)
{
    struct question_reading *reading = context;
    struct question *question = reading->question;
    if (word->kind == WORD_SINGLE) {
        return OK; /* its pair asks for more */
    }
    if (reading->first && question->count == LIMIT_MEMORY_QUERY_WORDS) {
        return ERR_LIMIT;
    }
    struct question_word *made = NULL;
    if (reading->first) {
        made = add_word(reading, word);
    } else if (reading->at < question->count) {
        made = &question->words[reading->at++];
    } else {
        return OK;
    }
    if (!made) {
        return ERR_NOMEM;
    }
    if (words_compound(reading->language) && !made->stem) {
        made->stem = arena_strndup(reading->arena, word->term, word->length);
    }
    return add_term(
        reading, made,
        (struct question_term){.text = word->term, .length = word->length, .weight = 1});
}

/* Adds the compounds of a segment that begin, or end, with the part. */
static int add_compounds_of(struct question_reading *reading, struct question_word *word,
                            const struct segment *segment, const char *part, bool ending)
{
    char start[DICTIONARY_MOST_TERM];
    char text[DICTIONARY_MOST_TERM + 1];
    size_t length = compounds_entry(start, part, strlen(part), ending);
    struct dictionary_walk walk;
    int status = OK;
    bool there = length > 0 && dictionary_seek(&walk, &segment->compounds, start, length);
    while (there && status == OK && word->count < MOST_COMPOUND &&
           dictionary_within(&walk, start, length)) {
        size_t found = compounds_term(text, walk.term.text, walk.term.length);
        if (found >= length + COMPOUNDS_LETTERS - 2) {
            status = add_term(
                reading, word,
                (struct question_term){
                    .text = text, .length = found, .weight = PART_WEIGHT, .only_compound = true});
        }
        there = dictionary_next(&walk);
    }
    return status;
}

/* The terms that are compounds which begin or end with the word. */
static int add_compounds(struct question_reading *reading, struct question_word *word)
{
    const char *const PARTS[] = {word->folded, word->stem};
    int status = OK;
    for (size_t i = 0; i < 2 * reading->view->count && !word->stop && word->kind == WORD_PLAIN;
         i++) {
        const struct segment *segment = &reading->view->parts[i / 2].segment;
        for (size_t j = 0; j < sizeof PARTS / sizeof *PARTS && status == OK && PARTS[j]; j++) {
            status = add_compounds_of(reading, word, segment, PARTS[j], i % 2 == 1);
        }
    }
    return status;
}

static bool has_compounds(const struct view *view)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        if (view->languages[i] > 0 && words_compound((enum language)i)) {
            return true;
        }
    }
    return false;
}

void question_drop_repeated(struct question *question)
{
    size_t kept = 0;
    for (size_t i = 0; i < question->count; i++) {
        bool repeated = false;
        for (size_t j = 0; j < kept && !repeated; j++) {
            repeated = question->words[j].kind == question->words[i].kind &&
                       strcmp(question->words[j].folded, question->words[i].folded) == 0;
        }
        if (!repeated) {
            question->words[kept++] = question->words[i];
        }
    }
    question->count = kept;
}

static bool only_stops(const struct question *question)
{
    for (size_t i = 0; i < question->count; i++) {
        if (!question->words[i].stop) {
            return false;
        }
    }
    return true;
}

/* Looks the terms up; those that no document holds go. */
static int find_terms(struct question_word *word, const struct view *view, struct arena *arena)
{
    size_t kept = 0;
    int status = OK;
    for (size_t i = 0; i < word->count && status == OK; i++) {
        struct question_term *term = &word->terms[i];
        status = view_find(view, arena, term->text, term->length, &term->found);
        if (term->found.holders > 0) {
            word->terms[kept++] = *term;
        }
    }
    word->count = kept;
    return status;
}

static int read_as(struct question_reading *reading, struct word_reader *words, const char *text,
                   enum language language, bool first)
{
    reading->at = 0;
    reading->language = language;
    reading->first = first;
    int status = words_each(words, text, strlen(text), language, take, reading);
    return status == ERR_LIMIT ? OK : status; /* a very long question is cut */
}

int question_read(struct question *question, const struct view *view, struct word_reader *reader,
                  struct arena *arena, const char *text)
{
    struct question_reading reading = {.question = question, .view = view, .arena = arena};
    *question = (struct question){0};
    enum language own = words_guess(reader, text, strlen(text));
    question->language = own;
    int status = read_as(&reading, reader, text, own, true);
    for (size_t i = 0; i < LANGUAGE_COUNT && status == OK; i++) {
        if ((enum language)i != own && view->languages[i] > 0) {
            status = read_as(&reading, reader, text, (enum language)i, false);
        }
    }
    question->only_stops = only_stops(question);
    for (size_t i = 0; i < question->count && status == OK && has_compounds(view); i++) {
        status = add_compounds(&reading, &question->words[i]);
    }
    for (size_t i = 0; i < question->count && status == OK; i++) {
        status = find_terms(&question->words[i], view, arena);
    }
    return status;
}

/* ---- other forms ---- */

struct widening {
    struct question_reading reading;
    struct question_word *word;
};

static int add_found(struct widening *widening, const char *term, size_t length, float weight)
{
    struct question_term made = {.text = term, .length = length, .weight = weight};
    int status =
        view_find(widening->reading.view, widening->reading.arena, term, length, &made.found);
    return status == OK && made.found.holders > 0
               ? add_term(&widening->reading, widening->word, made)
               : status;
}

/* The form as a word of keys. */
static int add_of_keys(struct widening *widening, const char *term, size_t length, float weight)
{
    char marked[FOLD_BYTES + 1] = {KEY_MARK};
    if (length >= FOLD_BYTES) {
        return OK;
    }
    memcpy(marked + 1, term, length);
    return add_found(widening, marked, length + 1, weight * KEY_WEIGHT);
}

static int take_form(void *context, const char *term, size_t length, float weight)
{
    int status = add_found(context, term, length, weight);
    return status == OK ? add_of_keys(context, term, length, weight) : status;
}

static int take_slip(void *context, const char *term, size_t length, float weight)
{
    const struct widening *widening = context;
    return widening->word->count < MOST_SLIPS ? take_form(context, term, length, weight) : OK;
}

/* Terms of a segment that the word is two slips away from; those begin as it does. */
static int add_two_slips(struct widening *widening, const struct dictionary *terms)
{
    const struct question_word *word = widening->word;
    size_t length = strlen(word->term);
    struct dictionary_walk walk;
    int status = OK;
    bool there = dictionary_seek(&walk, terms, word->term, 1);
    while (there && status == OK && dictionary_within(&walk, word->term, 1)) {
        float weight = forms_near(word->term, length, walk.term.text, walk.term.length);
        status = weight > 0 ? take_slip(widening, walk.term.text, walk.term.length, weight) : OK;
        there = dictionary_next(&walk);
    }
    return status;
}

/* What a word that no memory holds may be misspelt for. Two slips are looked for only where there
 * is nothing that one slip explains. */
static int add_slips(struct widening *widening, struct word_reader *reader, enum language language)
{
    const struct view *view = widening->reading.view;
    const struct question_word *word = widening->word;
    int status =
        forms_slips(reader, widening->reading.arena, word->folded, language, take_slip, widening);
    bool twice = status == OK && word->count == 0 && *word->term && forms_long(word->folded);
    for (uint32_t i = 0; twice && i < view->count && status == OK; i++) {
        status = add_two_slips(widening, &view->parts[i].segment.terms);
    }
    return status;
}

struct word_joining {
    struct widening first, second; /* of the two words; no word: it gets nothing */
};

static int take_joined(void *context, const struct word *word)
{
    struct word_joining *joining = context;
    int status = OK;
    if (word->kind == WORD_PLAIN) {
        status = take_form(&joining->first, word->term, word->length, JOINED_WEIGHT);
        if (status == OK && joining->second.word) {
            status = take_form(&joining->second, word->term, word->length, JOINED_WEIGHT);
        }
    }
    return status;
}

/* "Hay fever" may be written as one word, and so may "breaks down" be the one of a breakdown. */
static int add_joined(const struct widening *widening, struct word_reader *reader,
                      struct question_word *next, enum language language)
{
    const struct question_word *word = widening->word;
    const char *const BEGINS[] = {word->folded, word->term};
    struct word_joining joining = {*widening, *widening};
    int status = OK;
    if (next->kind != WORD_PLAIN || next->position != word->position + 1) {
        return OK;
    }
    joining.second.word = next->stop ? NULL : next;
    size_t begins = strcmp(word->folded, word->term) == 0 ? 1 : 2;
    for (size_t i = 0; i < begins && status == OK; i++) {
        const char *joined = arena_printf(widening->reading.arena, "%s%s", BEGINS[i], next->folded);
        status = joined
                     ? words_each(reader, joined, strlen(joined), language, take_joined, &joining)
                     : ERR_NOMEM;
    }
    return status;
}

int question_widen(struct question *question, const struct view *view, struct word_reader *reader,
                   struct arena *arena)
{
    struct widening widening = {.reading = {question, view, arena, 0, question->language, false}};
    enum language language = question->language;
    int status = OK;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        struct question_word *word = &question->words[i];
        if (word->stop || word->kind != WORD_PLAIN) {
            continue;
        }
        widening.word = word;
        status = add_of_keys(&widening, word->term, strlen(word->term), 1);
        if (status == OK && language == LANGUAGE_ENGLISH) {
            status = forms_family(word->term, take_form, &widening);
        }
        if (status == OK) {
            status = forms_alike(reader, word->folded, take_form, &widening);
        }
        if (status == OK && i + 1 < question->count) {
            status = add_joined(&widening, reader, &question->words[i + 1], language);
        }
        if (status == OK && word->count == 0) {
            status = add_slips(&widening, reader, language);
        }
    }
    return status;
}

/* ---- holders ---- */

/* Marks the documents of a part that hold the term; how many living ones were not marked. */
static uint32_t mark_holders(const struct question_term *term, const struct view_part *part,
                             const struct postings *list, uint8_t *marks)
{
    struct postings_cursor cursor;
    uint32_t count = 0;
    for (postings_start(&cursor, list, part->segment.documents); cursor.document != NO_DOCUMENT;
         postings_next(&cursor)) {
        if (!term->only_compound ||
            words_compound(segment_language(&part->segment, cursor.document))) {
            uint8_t *mark = &marks[cursor.document / 8];
            uint8_t bit = (uint8_t)(1u << cursor.document % 8);
            count += !(*mark & bit) && !view_is_dead(part, cursor.document);
            *mark |= bit;
        }
    }
    return count;
}

/* The living documents that hold one of the word's terms or several. */
static int count_holders(struct question_word *word, const struct view *view)
{
    word->holders = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct view_part *part = &view->parts[i];
        uint8_t *marks = calloc(part->segment.documents / 8 + 1, 1);
        for (size_t j = 0; j < word->count && marks; j++) {
            word->holders +=
                mark_holders(&word->terms[j], part, &word->terms[j].found.lists[i], marks);
        }
        free(marks);
        if (!marks) {
            return ERR_NOMEM;
        }
    }
    return OK;
}

/* About how many hold it, if its terms have nothing to do with each other. */
static double guess_holders(const struct question_word *word, const struct view *view)
{
    double without = 1;
    for (size_t i = 0; i < word->count; i++) {
        without *= 1 - (double)word->terms[i].found.holders / view->live;
    }
    return view->live * (1 - without);
}

int question_count(struct question *question, const struct view *view)
{
    int status = OK;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        struct question_word *word = &question->words[i];
        double all = 0;
        for (size_t j = 0; j < word->count; j++) {
            all += word->terms[j].found.holders;
        }
        if (word->count == 1 && !word->terms[0].only_compound) {
            word->holders = all;
        } else if (all > MOST_COUNTED) {
            word->holders = guess_holders(word, view);
        } else {
            status = word->count > 0 ? count_holders(word, view) : OK;
        }
    }
    return status;
}
