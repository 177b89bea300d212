/* Summaries and keys for memories that came without. */
#include "memory/fold.h"
#include "memory/rules.h"
#include "text/text.h"

#include <string.h>

#define SUMMARY_CHARS 120
#define KEY_BYTES     60

/* Where the first sentence ends: at a full stop and the like before a space, or at a line's end. */
static size_t sentence_length(const char *text)
{
    static const char *const WIDE_STOPS[] = {"\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F"};
    for (size_t i = 0; text[i]; i++) {
        char next = text[i + 1];
        if (text[i] == '\n') {
            return i;
        }
        if (strchr(".!?", text[i]) && (next == ' ' || next == '\n' || next == '\0')) {
            return i + 1;
        }
        for (size_t j = 0; j < sizeof WIDE_STOPS / sizeof *WIDE_STOPS; j++) {
            if (strncmp(text + i, WIDE_STOPS[j], 3) == 0) {
                return i + 3;
            }
        }
    }
    return strlen(text);
}

const char *rules_summary(struct arena *arena, const char *text)
{
    while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r') {
        text++;
    }
    size_t length = sentence_length(text);
    size_t most = text_prefix(text, length, SUMMARY_CHARS);
    if (most >= length) {
        return arena_strndup(arena, text, length);
    }
    size_t cut = most;
    while (cut > most / 2 && text[cut] != ' ') {
        cut--;
    }
    cut = text[cut] == ' ' ? cut : most;
    return arena_printf(arena, "%.*s\xE2\x80\xA6", (int)cut, text);
}

const char *rules_key(struct arena *arena, const char *summary, unsigned int attempt)
{
    char key[KEY_BYTES + 8];
    size_t length = 0;
    bool gap = false;
    const char *at = summary;
    const char *end = summary + strlen(summary);
    while (at < end && length < KEY_BYTES) {
        const char *start = at;
        if (fold_class(text_next(&at, end)) == FOLD_GAP) {
            gap = length > 0;
            continue;
        }
        struct fold_text folded;
        fold_case(&folded, start, (size_t)(at - start));
        if (length + gap + folded.length > KEY_BYTES) {
            break;
        }
        if (gap) {
            key[length++] = '-';
        }
        memcpy(key + length, folded.data, folded.length);
        length += folded.length;
        gap = false;
    }
    const char *base = length > 0 ? key : "memory";
    length = length > 0 ? length : strlen(base);
    return attempt == 0 ? arena_strndup(arena, base, length)
                        : arena_printf(arena, "%.*s-%u", (int)length, base, attempt + 1);
}
