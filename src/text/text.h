/* Text: UTF-8 by the code point, and the craft of messages for people and models - quoting what
 * came so that it cannot disturb a terminal or a log, and guessing which word was meant.
 *
 * Nothing here allocates but text_fill(). A text_out writes into memory of the caller and cuts,
 * between code points, what does not fit; its data always ends in a NUL. */
#ifndef FORAGE_TEXT_TEXT_H
#define FORAGE_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define TEXT_REPLACEMENT 0xFFFDu

/* Takes the code point at *at, which must be before `end`. A byte that is no UTF-8 counts as one
 * TEXT_REPLACEMENT. */
uint32_t text_next(const char **at, const char *end);
/* Writes a code point as UTF-8 and returns how many bytes it took. */
size_t text_encode(uint32_t point, char out[4]);
bool text_is_utf8(const char *text, size_t length);
/* How many code points there are. */
size_t text_count(const char *text, size_t length);
/* How many bytes the first `count` code points take. */
size_t text_prefix(const char *text, size_t length, size_t count);
/* Whether there is nothing to be seen in it: white space, control characters, marks of no width. */
bool text_is_blank(const char *text);
/* Makes it valid UTF-8 in place: each byte that is none becomes a question mark. Words of others,
 * and words that were cut to fit, pass this before they go into JSON. */
void text_repair(char *text);

struct text_out {
    char *data;
    size_t size; /* of `data`, with its NUL */
    size_t length;
    bool cut; /* something did not fit; nothing is added any more */
};

void text_start(struct text_out *out, char *data, size_t size);
void text_put(struct text_out *out, const char *text);
/* The text, with "[path]" in place of each absolute path of a file, blanks between its names
 * included. URLs stay, but for file:. */
void text_put_without_paths(struct text_out *out, const char *text);
void text_put_bytes(struct text_out *out, const char *text, size_t length);
void text_putf(struct text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In double quotes, at most `most` code points and then an ellipsis; whatever is not plainly
 * visible is escaped as in JSON. */
void text_put_quoted(struct text_out *out, const char *text, size_t length, size_t most);

/* A search for the candidate that was probably meant by a mistyped word. */
struct text_guess {
    const char *word;
    size_t length;
    const char *best; /* NULL: nothing is near */
    size_t best_length;
    size_t best_distance;
};

void text_guess_start(struct text_guess *guess, const char *word, size_t length);
/* Candidates must live as long as the guess. */
void text_guess_try(struct text_guess *guess, const char *candidate, size_t length);

/* A place in a template, and what stands there instead. */
struct text_blank {
    const char *name; /* "{{query}}": begins with a brace */
    const char *words;
};

/* Appends a template with its blanks filled in; what fills them is not looked at again. Returns a
 * bit for each blank that was there. */
unsigned text_fill(struct buf *out, const char *template, const struct text_blank *blanks,
                   size_t count);

#endif
