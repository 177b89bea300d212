/* The pieces of a page: sentences, items of lists, rows of tables, stretches of code; what may be
 * shown without the rest. They are in the order of the page, do not overlap, and have no blanks
 * around them; everything but headings and blanks is in one of them.
 *
 * Pure. The text must be valid UTF-8; results live in the arena and point into the text. */
#ifndef FORAGE_READER_PIECES_H
#define FORAGE_READER_PIECES_H

#include "core/status.h"
#include "reader/lines.h"

#include <stdint.h>

struct piece {
    size_t start, end;  /* its bytes in the text */
    size_t at, chars;   /* code points before it, and of it */
    uint32_t paragraph; /* a number that neighbours have in common with nothing between them */
    bool prose;         /* a sentence, not of a list: it can stand behind other words */
    /* What has to stand before it where the piece before it does not: the line that opened its
     * fence, or the head of its table, without the last line break. NULL data: nothing. */
    struct slice head;
    const struct fence *fence; /* that is still open at its end; NULL: none */
};

/* At most LIMIT_FOCUS_PIECES of text[start, end), which are bytes; `whole` says whether that is all
 * of it. OK or ERR_NOMEM. */
MUST_CHECK int pieces_cut(struct arena *arena, const char *text, size_t start, size_t end,
                          const struct piece **pieces, size_t *count, bool *whole);

#endif
