/* How much room a text takes on a terminal: most letters one column, those of East Asia and most
 * pictures two, marks that stand on another letter none. */
#ifndef FORAGE_TEXT_COLUMNS_H
#define FORAGE_TEXT_COLUMNS_H

#include <stddef.h>

/* The columns that a text takes; a control character takes one, as the blank in its place does. */
size_t text_columns(const char *text, size_t length);
/* How many bytes of the beginning take at most so many columns. A letter stays with the marks that
 * stand on it. */
size_t text_columns_prefix(const char *text, size_t length, size_t columns);

#endif
