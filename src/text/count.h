/* Counting words, sixteen bytes at a time: no jump depends on the letters, since nobody foresees
 * where words end. */
#ifndef FORAGE_TEXT_COUNT_H
#define FORAGE_TEXT_COUNT_H

#include <stddef.h>

/* Runs of letters and digits; all that is beyond ASCII counts for letters. */
size_t count_words(const char *text, size_t length);
/* Runs of anything between blanks and controls. */
size_t count_between_blanks(const char *text, size_t length);
/* The characters of Chinese, Japanese and Korean, which have no blanks between words. */
size_t count_dense(const char *text, size_t length);

#endif
