/* Fuzzes the pieces of pages. Whatever the Markdown is: they follow each other, begin and end with
 * something that is no blank, and their positions are true. */
#include "core/limits.h"
#include "fuzz.h"
#include "reader/pieces.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_pieces: %s\n", what);
        abort();
    }
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The first byte says where to begin. */
FUZZ_TARGET(pieces)
{
    const struct piece *pieces;
    size_t count = 0;
    bool whole;
    const char *text = (const char *)data;
    size_t from = size > 0 ? data[0] % size : 0;
    if (!text_is_utf8(text, size) || !text_is_utf8(text + from, size - from)) {
        return 0;
    }
    struct arena *arena = arena_new(MIB(64));
    size_t before = from;
    require(arena && pieces_cut(arena, text, from, size, &pieces, &count, &whole) == OK, "failed");
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        require(piece->start >= before && piece->start < piece->end && piece->end <= size,
                "not in their order");
        require(!is_blank(text[piece->start]) && !is_blank(text[piece->end - 1]), "blanks");
        require(piece->at == text_count(text, piece->start), "not where it is");
        require(piece->chars == text_count(text + piece->start, piece->end - piece->start),
                "not as long as it is");
        require(!piece->fence || fence_closing(arena, piece->fence) != NULL, "not closed");
        before = piece->end;
    }
    arena_free(arena);
    return 0;
}
