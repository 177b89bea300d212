/* The marks around sentences, and the dots that end none. */
#include "text/sentences.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool is_among(uint32_t point, const uint32_t *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (point == points[i]) {
            return true;
        }
    }
    return false;
}

bool sentence_stops(uint32_t point, bool *alone)
{
    static const uint32_t ALONE[] = {0x3002, 0xFF01, 0xFF0E, 0xFF1F, 0xFF61};
    static const uint32_t OTHERS[] = {'.', '!', '?', 0x2026, 0x061F, 0x06D4, 0x0964, 0x0965};
    *alone = is_among(point, ALONE, COUNT(ALONE));
    return *alone || is_among(point, OTHERS, COUNT(OTHERS));
}

bool sentence_closes(uint32_t point)
{
    static const uint32_t MARKS[] = {'"',    '\'',   ')',    ']',    0x201D, 0x2019,
                                     0x300D, 0x300F, 0xFF09, 0x3011, 0xBB};
    return is_among(point, MARKS, COUNT(MARKS));
}

bool sentence_abbreviates(const char *text, size_t start, size_t dot)
{
    static const char *const WORDS[] = {"mr",  "mrs", "ms",   "dr",  "prof", "st",  "vs",  "no",
                                        "fig", "e.g", "i.e",  "jan", "feb",  "mar", "apr", "jun",
                                        "jul", "aug", "sept", "sep", "oct",  "nov", "dec", "approx",
                                        "gen", "rep", "sen",  "gov", "lt",   "col", "bzw", "z.b"};
    size_t word = dot;
    while (word > start && !strchr(" \t\r\n(", text[word - 1])) {
        word--;
    }
    size_t length = dot - word;
    if (length == 1 || (length > 1 && text[dot - 2] == '.')) {
        return isalpha((unsigned char)text[dot - 1]);
    }
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        if (strlen(WORDS[i]) == length && strncasecmp(text + word, WORDS[i], length) == 0) {
            return true;
        }
    }
    return false;
}
