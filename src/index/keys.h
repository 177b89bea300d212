/* Keys, read for what they say. */
#ifndef FORAGE_INDEX_KEYS_H
#define FORAGE_INDEX_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a key is made of words ("shoe-sizes-2024"), at least by half, and not of numbers
 * ("chat-7/12"). */
bool keys_speak(const char *key);
/* The length of the part that a key, or the rest of one, begins with. */
size_t keys_part(const char *key);
/* Whether a word of a key says something: it has no digits; or it has some, is short (a year,
 * "q3"), and stands in a key that speaks. Longer numbers are mostly those of one key alone. */
bool keys_word(const char *word, size_t length, bool speaks);

#endif
