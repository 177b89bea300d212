/* Fuzzes words for times. Whatever the text is: a span that was read begins before it ends, a
 * moment is where its span begins, and the same text means the same again. */
#include "core/arena.h"
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "memory/time_words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOW INT64_C(1794753000000) /* 2026-11-15T14:30:00Z */

static void require(int holds, const char *what, const char *text)
{
    if (!holds) {
        fprintf(stderr, "fuzz_time_words: %s: %s\n", what, text);
        abort();
    }
}

FUZZ_TARGET(time_words)
{
    struct arena *arena = arena_new(MIB(1));
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    struct time_span span = {0};
    struct time_span again = {0};
    int64_t moment = 0;
    char iso[TIME_WORDS_ISO_SIZE];
    if (text && time_words_read(text, NOW, &span) == OK) {
        require(span.from_ms == 0 || span.until_ms == 0 || span.from_ms < span.until_ms, "order",
                text);
        require(time_words_read(text, NOW, &again) == OK && again.from_ms == span.from_ms &&
                    again.until_ms == span.until_ms,
                "not the same", text);
        require(time_words_iso(span.from_ms, iso) == iso, "iso", text);
    }
    if (text && time_words_moment(text, NOW, &moment) == OK) {
        require(moment == span.from_ms, "moment", text);
    }
    arena_free(arena);
    return 0;
}
