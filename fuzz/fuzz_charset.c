/* Fuzzes telling encodings and decoding. The first line of the input is the Content-Type that came
 * with the bytes, the second the page's address, the rest are the bytes. Whatever they are: valid
 * UTF-8 of a sensible length, an encoding that has a name, and the same again. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "html/charset.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_charset: %s\n", what);
        abort();
    }
}

/* The next line, out of what is left. */
static char *take_line(struct arena *arena, const char **at, const char *end)
{
    const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    const char *from = *at;
    *at = newline ? newline + 1 : end;
    return arena_strndup(arena, from, (size_t)((newline ? newline : end) - from));
}

FUZZ_TARGET(charset)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    const char *at = (const char *)data;
    const char *end = at + size;
    if (!arena || !size) {
        arena_free(arena);
        return 0;
    }
    struct charset_hints hints = {.content_type = take_line(arena, &at, end)};
    hints.url = take_line(arena, &at, end);
    size_t length = (size_t)(end - at);
    struct charset_text first, second;
    require(charset_decode(arena, at, length, &hints, &first) == OK, "an error");
    require(first.encoding && *first.encoding, "no name");
    require(text_is_utf8(first.bytes, first.length), "not UTF-8");
    require(first.length <= 4 * length + 4, "too long");
    require(charset_decode(arena, at, length, &hints, &second) == OK &&
                first.length == second.length && first.guessed == second.guessed &&
                memcmp(first.bytes, second.bytes, first.length) == 0 &&
                strcmp(first.encoding, second.encoding) == 0,
            "not the same again");
    arena_free(arena);
    return 0;
}
