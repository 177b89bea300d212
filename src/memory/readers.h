/* Readers of words that are kept between calls. What makes a reader fast, the words that it has
 * seen and its stemmers, costs more to make than a search has time. */
#ifndef FORAGE_MEMORY_READERS_H
#define FORAGE_MEMORY_READERS_H

#include "index/words.h"

struct readers;

/* NULL without memory. */
struct readers *readers_new(void);
/* Every reader must have been given back. Returns NULL. */
struct readers *readers_free(struct readers *readers);
/* One for the caller alone; NULL without memory. */
struct word_reader *readers_borrow(struct readers *readers);
/* NULL is nothing to give back. */
void readers_return(struct readers *readers, struct word_reader *reader);
/* Frees the idle ones: they take half a megabyte each. */
void readers_rest(struct readers *readers);

#endif
