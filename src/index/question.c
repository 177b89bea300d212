/* Reads a question once for each language that the index holds: the words are the same, their stems
 * differ. */
#include "index/question.h"

#include "core/limits.h"
#include "core/status.h"

#include <string.h>

#define PART_LETTERS  4    /* a part of a compound is at least this long, and so is its rest */
#define PART_WEIGHT   0.5f /* of a compound that only holds the word */
#define MOST_COMPOUND 64   /* terms that one word may stand for */

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
        .position = word->position,
        .kind = word->kind,
        .stop = word->stop,
    };
    return made->folded ? made : NULL;
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
