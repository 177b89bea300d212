/* What the ranking of a page's pieces (focus.c), what headings say of them (headings.c) and the
 * choice among them (choice.c) share. */
#ifndef FORAGE_READER_FOCUS_INTERNAL_H
#define FORAGE_READER_FOCUS_INTERNAL_H

#include "core/arena.h"
#include "index/index.h"
#include "index/words.h"
#include "reader/paging.h"
#include "reader/pieces.h"

#define NO_PIECE SIZE_MAX

/* The section that a piece is in. */
struct section {
    const char *path;
    size_t path_chars;
    size_t first; /* piece, or NO_PIECE */
    bool asked;   /* the question has all words of its heading */
};

/* What a section is called, as a number made of the first words of its heading. */
struct section_name {
    uint64_t number;
    uint32_t words, section;
};

/* Two pieces of different paragraphs that hold the same rare word. */
struct tie {
    size_t from, to;
    double weight; /* 1: that of a word which nothing else holds */
};

#define FOCUS_WORDS     64u /* of a question that are followed */
#define FOCUS_WHOLE_TIE 3.5 /* the weight of words that tie two pieces as closely as can be */

struct focus {
    struct arena *arena;
    const char *question;
    const char *text;
    size_t length;
    const struct piece *pieces;
    size_t count;
    bool whole; /* all pieces are there */
    const struct paging_heading *headings;
    size_t heading_count;
    struct section *sections; /* of each heading; one more for what is above the first */
    uint32_t *section_of;     /* of each piece */
    struct section_name *names;
    size_t name_count;
    struct word_reader *reader; /* while headings are looked at; NULL: there are none */
    enum language language;
    const struct index_hit *hits;
    size_t hit_count;
    double weights[FOCUS_WORDS]; /* of the question's words */
    uint64_t *held;              /* by each piece: a bit for each of them */
    struct tie *ties;            /* of the best hits, in the order of their pieces */
    size_t tie_count, tie_capacity;
};

static inline int64_t id_of_piece(const struct focus *focus, size_t piece)
{
    return (int64_t)(focus->count - piece); /* of equal ones the higher comes first */
}

static inline size_t piece_of_id(const struct focus *focus, int64_t id)
{
    return focus->count - (size_t)id;
}

static inline const struct section *section_of(const struct focus *focus, size_t piece)
{
    return &focus->sections[focus->section_of[piece]];
}

/* Whether a piece goes on where the one before it ends. */
static inline bool goes_on(const struct focus *focus, size_t before, size_t piece)
{
    return before != NO_PIECE && before + 1 == piece &&
           focus->section_of[before] == focus->section_of[piece];
}

/* Finds the sections and the pieces that are in each. headings_done() follows it in any case. OK or
 * ERR_NOMEM. */
MUST_CHECK int headings_find(struct focus *focus);
void headings_done(struct focus *focus);
/* Gives the first piece of every section that a piece names to `take`, unless it is its own. OK,
 * ERR_NOMEM, or what `take` returned. */
MUST_CHECK int headings_named(struct focus *focus, size_t piece,
                              int (*take)(struct focus *focus, size_t from, size_t to));

/* The pieces that are shown, in the order of the page. */
struct piece_choice {
    const struct focus *focus;
    size_t *pieces;
    size_t count;
    size_t chars;
};

/* Chooses for so many code points. OK or ERR_NOMEM. */
MUST_CHECK int choice_make(struct piece_choice *choice, size_t max_chars);

#endif
