/* Words that hardly carry meaning, by language: they count little in a search and tell a text's
 * language. */
#ifndef FORAGE_MEMORY_STOP_WORDS_H
#define FORAGE_MEMORY_STOP_WORDS_H

#include "memory/words.h"

#include <stdint.h>

/* The languages in which a folded word is one of them, a bit for each; 0: in none. */
uint32_t stop_word_languages(const char *word, size_t length);

#endif
