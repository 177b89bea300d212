/* Where sentences end, in any script. */
#ifndef FORAGE_TEXT_SENTENCES_H
#define FORAGE_TEXT_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a mark ends a sentence where a blank follows; `alone`: also where none does. */
bool sentence_stops(uint32_t point, bool *alone);
/* Quotation marks and brackets that belong to the sentence before them. */
bool sentence_closes(uint32_t point);
/* Whether the dot at `dot` ends an abbreviation, an initial or letters with dots between them
 * ("U.S."), so that the sentence may go on. Looks no further back than `start`. */
bool sentence_abbreviates(const char *text, size_t start, size_t dot);

#endif
