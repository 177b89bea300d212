/* Passages: a text cut into stretches of about 200 words. A long text is about many things, and is
 * found by the stretch that is about what was asked; most texts are one passage.
 *
 * A cut is made between paragraphs where there are any near, else between sentences, lines, words.
 * Passages are of about the same length, in the order of the text, do not overlap, and have no
 * blanks around them; everything but blanks is in one of them. The same text gives the same
 * passages everywhere. Takes no memory, whatever the text, and time by its length. */
#ifndef FORAGE_INDEX_PASSAGES_H
#define FORAGE_INDEX_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>

#define PASSAGE_WORDS      200u /* that one should have */
#define PASSAGE_MOST_WORDS 250u

struct passage {
    size_t start, end; /* its bytes in the text */
};

/* A walk over the passages of a text, which must outlive it. */
struct passages {
    const char *text;
    size_t length;
    size_t at;   /* where the next one begins */
    size_t left; /* words from there on */
};

void passages_begin(struct passages *passages, const char *text, size_t length);
/* The next passage; false: there is none. */
bool passages_next(struct passages *passages, struct passage *passage);

#endif
