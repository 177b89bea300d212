/* Reads a question once for each language that the index holds: the words are the same, their stems
 * differ. */
#include "index/question.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/fold.h"
#include "index/forms.h"

#include <string.h>

#define PART_LETTERS  4    /* a part of a compound is at least this long, and so is its rest */
#define PART_WEIGHT   0.5f /* of a compound that only holds the word */
#define MOST_COMPOUND 64   /* terms that one word may stand for */
#define JOINED_WEIGHT 0.5f /* of two words that are written as one, for each of them */
#define KEY_WEIGHT    1.5f
#define MOST_SLIPS    16 /* terms that a misspelt word may stand for */

struct reading {
    struct question *question;
    const struct index *index;
    struct arena *arena;
    size_t at; /* the next word, in the second and further languages */
    enum language language;
    bool first; /* the language of the question itself: words are made, and stop words noted */
};

static int add_term(struct reading *reading, struct question_word *word, struct question_term term)
{
    for (size_t i = 0; i < word->count; i++) {
        if (word->terms[i].term == term.term) {
            return OK;
        }
    }
    word->terms =
        arena_grow(reading->arena, word->terms, word->count, &word->capacity, sizeof *word->terms);
    if (!word->terms) {
        return ERR_NOMEM;
    }
    word->terms[word->count++] = term;
    return OK;
}

static struct question_word *add_word(struct reading *reading, const struct word *word)
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
    struct reading *reading = context;
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
    uint32_t term = symbols_find(&reading->index->terms, word->term, word->length);
    return term == SYMBOL_NONE
               ? OK
               : add_term(reading, made, (struct question_term){.term = term, .weight = 1});
}

/* Whether a term is a compound that begins or ends with the word. */
static bool holds_part(const char *term, size_t length, const char *part)
{
    size_t part_length = part ? strlen(part) : 0;
    return part_length >= PART_LETTERS && length >= part_length + PART_LETTERS - 1 &&
           (memcmp(term, part, part_length) == 0 ||
            memcmp(term + length - part_length, part, part_length) == 0);
}

static int add_compounds(struct reading *reading, struct question_word *word)
{
    if (word->stop || word->kind != WORD_PLAIN) {
        return OK;
    }
    const struct symbols *terms = &reading->index->terms;
    size_t added = 0;
    int status = OK;
    for (uint32_t i = 0; i < terms->count && added < MOST_COMPOUND && status == OK; i++) {
        const char *term = symbols_text(terms, i);
        size_t length = symbols_length(terms, i);
        if (holds_part(term, length, word->folded) || holds_part(term, length, word->stem)) {
            status = add_term(reading, word, (struct question_term){i, PART_WEIGHT, true});
            added++;
        }
    }
    return status;
}

static bool has_compounds(const struct index *index)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        if (index->languages[i] > 0 && words_compound((enum language)i)) {
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

static int read_as(struct reading *reading, struct word_reader *words, const char *text,
                   enum language language, bool first)
{
    reading->at = 0;
    reading->language = language;
    reading->first = first;
    int status = words_each(words, text, strlen(text), language, take, reading);
    return status == ERR_LIMIT ? OK : status; /* a very long question is cut */
}

int question_read(struct question *question, const struct index *index, struct word_reader *reader,
                  struct arena *arena, const char *text)
{
    struct reading reading = {.question = question, .index = index, .arena = arena};
    *question = (struct question){0};
    enum language own = words_guess(reader, text, strlen(text));
    question->language = own;
    int status = read_as(&reading, reader, text, own, true);
    for (size_t i = 0; i < LANGUAGE_COUNT && status == OK; i++) {
        if ((enum language)i != own && index->languages[i] > 0) {
            status = read_as(&reading, reader, text, (enum language)i, false);
        }
    }
    question->only_stops = only_stops(question);
    for (size_t i = 0; i < question->count && status == OK && has_compounds(index); i++) {
        status = add_compounds(&reading, &question->words[i]);
    }
    return status;
}

/* ---- other forms ---- */

struct widening {
    struct reading reading;
    struct question_word *word;
};

static int add_found(struct widening *widening, const char *term, size_t length, float weight)
{
    uint32_t found = symbols_find(&widening->reading.index->terms, term, length);
    return found == SYMBOL_NONE ? OK
                                : add_term(&widening->reading, widening->word,
                                           (struct question_term){.term = found, .weight = weight});
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

/* What a word that no memory holds may be misspelt for. Two slips are looked for among all terms,
 * and only where there is nothing that one slip explains. */
static int add_slips(struct widening *widening, struct word_reader *reader, enum language language)
{
    const struct question_word *word = widening->word;
    const struct symbols *terms = &widening->reading.index->terms;
    int status =
        forms_slips(reader, widening->reading.arena, word->folded, language, take_slip, widening);
    if (status != OK || word->count > 0 || !forms_long(word->folded)) {
        return status;
    }
    size_t length = strlen(word->term);
    for (uint32_t i = 0; i < terms->count && status == OK; i++) {
        const char *term = symbols_text(terms, i);
        size_t term_length = symbols_length(terms, i);
        float weight = forms_near(word->term, length, term, term_length);
        status = weight > 0 ? take_slip(widening, term, term_length, weight) : OK;
    }
    return status;
}

static int take_joined(void *context, const struct word *word)
{
    return word->kind == WORD_PLAIN ? take_form(context, word->term, word->length, JOINED_WEIGHT)
                                    : OK;
}

/* "Hay fever" may be written as one word. */
static int add_joined(struct widening *widening, struct word_reader *reader,
                      struct question_word *next, enum language language)
{
    struct question_word *word = widening->word;
    if (next->kind != WORD_PLAIN || next->stop || next->position != word->position + 1) {
        return OK;
    }
    const char *joined = arena_printf(widening->reading.arena, "%s%s", word->folded, next->folded);
    int status = joined
                     ? words_each(reader, joined, strlen(joined), language, take_joined, widening)
                     : ERR_NOMEM;
    if (status == OK) {
        widening->word = next;
        status = words_each(reader, joined, strlen(joined), language, take_joined, widening);
    }
    widening->word = word;
    return status;
}

int question_widen(struct question *question, const struct index *index, struct word_reader *reader,
                   struct arena *arena)
{
    struct widening widening = {.reading = {question, index, arena, 0, question->language, false}};
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
