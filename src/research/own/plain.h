/* The plain format, for models that cannot call tools:
 *
 *     PLAN: question | question
 *     SEARCH: words | other words
 *     READ: 1, 2 | what the passages should answer
 *     NOTE: claim | quote | source
 *     OPEN: what stays open | and what else
 *     DONE
 *
 * Marks of lists and of emphasis, other cases of letters and quotation marks are passed over. */
#ifndef FORAGE_RESEARCH_OWN_PLAIN_H
#define FORAGE_RESEARCH_OWN_PLAIN_H

#include "research/own/moves.h"

/* As moves_of_words(), of lines alone. */
size_t plain_read(struct arena *arena, const char *words, struct move moves[MOVES_OF_TURN]);
/* The number that a text is ("3", "[3]", "source 3"); -1: it is none. An address is none. */
int64_t move_number(const char *text);

#endif
