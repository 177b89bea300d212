/* A question in words, as the index is asked: for each word the terms that it may stand for in the
 * languages of the memories, and how much it counts. */
#ifndef FORAGE_INDEX_QUESTION_H
#define FORAGE_INDEX_QUESTION_H

#include "core/arena.h"
#include "index/view.h"

struct question_term {
    const char *text;
    size_t length;
    struct view_term found;
    float weight;       /* less where the word is only a part of the term */
    bool only_compound; /* counts in memories of languages that write words together */
};

/* One word of the question. */
struct question_word {
    const char *folded;
    const char *term; /* its stem in the language of the question */
    const char *stem; /* in a language that writes words together; NULL: none was asked */
    struct question_term *terms;
    size_t count, capacity;
    double holders; /* living documents that hold any of them */
    unsigned int position;
    enum word_kind kind;
    bool stop;
};

struct question {
    struct question_word *words;
    size_t count, capacity;
    enum language language; /* that it is written in */
    bool only_stops;        /* nothing in it carries meaning: then everything counts */
};

/* OK or ERR_NOMEM. */
int question_read(struct question *question, const struct view *view, struct word_reader *reader,
                  struct arena *arena, const char *text);
/* For a question in words, where the same one twice asks for nothing more. In a phrase it does. */
void question_drop_repeated(struct question *question);
/* Adds the other forms of each word (forms.h), for less: of its family, what stands for the same,
 * two words written as one; and where no memory holds it, what it may be misspelt for. OK or
 * ERR_NOMEM. */
int question_widen(struct question *question, const struct view *view, struct word_reader *reader,
                   struct arena *arena);
/* Counts the documents that hold each word. OK or ERR_NOMEM. */
int question_count(struct question *question, const struct view *view);

#endif
