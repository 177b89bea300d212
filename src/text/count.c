/* Counting words. Bytes are told apart all at once; a word begins where a byte belongs to one and
 * the byte before it, which is read again, does not. */
#include "text/count.h"

#include <stdint.h>
#include <string.h>

enum { WIDTH = 16, MOST_ROUNDS = 255 /* what one byte of a sum holds */ };

typedef uint8_t bytes __attribute__((vector_size(WIDTH)));

static inline bytes load(const char *text)
{
    bytes loaded;
    memcpy(&loaded, text, sizeof loaded);
    return loaded;
}

static size_t add_up(bytes sums)
{
    size_t sum = 0;
    for (int i = 0; i < WIDTH; i++) {
        sum += sums[i];
    }
    return sum;
}

/* All bits of each byte that belongs to a word, none of any other. */
static inline bytes of_word(bytes text)
{
    return (bytes)(text - '0' <= 9) | (bytes)((text | 0x20) - 'a' <= 25) | (bytes)(text >= 0x80);
}

static inline bytes between_blanks(bytes text)
{
    return (bytes)(text > ' ');
}

/* What begins a letter of these scripts. */
static inline bytes dense(bytes text)
{
    return (bytes)(text >= 0xE3) & (bytes)(text <= 0xED);
}

enum class { OF_WORD, BETWEEN_BLANKS, DENSE };

static inline bytes classify(bytes text, enum class class)
{
    return class == OF_WORD          ? of_word(text)
           : class == BETWEEN_BLANKS ? between_blanks(text)
                                     : dense(text);
}

/* All bits of each byte that counts: of letters all, of words the first. `text` has one byte more
 * before it. */
static inline bytes what_counts(const char *text, enum class class)
{
    bytes found = classify(load(text), class);
    return class == DENSE ? found : found & ~classify(load(text - 1), class);
}

/* The first and the last bytes of a text, with blanks, which are of no class, around them. */
static inline size_t count_edge(const char *text, size_t at, size_t left, enum class class)
{
    char edge[WIDTH + 1];
    memset(edge, ' ', sizeof edge);
    edge[0] = at > 0 ? text[at - 1] : ' ';
    memcpy(edge + 1, text + at, left < WIDTH ? left : WIDTH);
    return add_up(what_counts(edge + 1, class) & 1);
}

static inline __attribute__((always_inline)) size_t count(const char *text, size_t length,
                                                          enum class class)
{
    size_t found = length > 0 ? count_edge(text, 0, length, class) : 0, at = WIDTH;
    while (at + WIDTH <= length) {
        bytes sums = {0};
        for (int round = 0; round < MOST_ROUNDS && at + WIDTH <= length; round++, at += WIDTH) {
            sums -= what_counts(text + at, class); /* all bits are -1 */
        }
        found += add_up(sums);
    }
    return at < length ? found + count_edge(text, at, length - at, class) : found;
}

size_t count_words(const char *text, size_t length)
{
    return count(text, length, OF_WORD);
}

size_t count_between_blanks(const char *text, size_t length)
{
    return count(text, length, BETWEEN_BLANKS);
}

size_t count_dense(const char *text, size_t length)
{
    return count(text, length, DENSE);
}
