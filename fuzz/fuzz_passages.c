/* Fuzzes the cutting of texts. Whatever the text is: passages follow each other, begin and end with
 * something that is no blank, are bounded, and leave out nothing but blanks. */
#include "fuzz.h"
#include "index/passages.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A word counts 12 code points, a gap 16; each has up to four bytes. */
#define MOST_BYTES ((size_t)4 * (12 + 16) * (PASSAGE_MOST_WORDS + 2))

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_passages: %s\n", what);
        abort();
    }
}

static int is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void require_blanks(const uint8_t *data, size_t from, size_t until)
{
    for (size_t i = from; i < until; i++) {
        require(is_blank(data[i]), "a text was left out");
    }
}

FUZZ_TARGET(passages)
{
    struct passages passages;
    struct passage passage;
    size_t before = 0;
    passages_begin(&passages, (const char *)data, size);
    while (passages_next(&passages, &passage)) {
        require(passage.start >= before && passage.start < passage.end && passage.end <= size,
                "not in their order");
        require(!is_blank(data[passage.start]) && !is_blank(data[passage.end - 1]), "blanks");
        require(passage.end - passage.start <= MOST_BYTES, "too long");
        require_blanks(data, before, passage.start);
        before = passage.end;
    }
    require_blanks(data, before, size);
    return 0;
}
