/* What a person sees: the one place that decides whether there is colour and progress, and how wide
 * a line may be. */
#ifndef FORAGE_CLI_TERMINAL_H
#define FORAGE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;

enum terminal_style {
    STYLE_PLAIN, /* ends every other one */
    STYLE_HEADING,
    STYLE_FINE,
    STYLE_WARNING,
    STYLE_WRONG,
    STYLE_FAINT,
    STYLE_COUNT,
};

/* What --color says: "auto", "always" or "never"; NULL is auto. */
void terminal_set_color(const char *word);
/* What begins a style on a stream, or ends it: "" where there is no colour. */
const char *terminal_style(FILE *file, enum terminal_style style);

/* ---- width ---- */

/* How many columns a line may have: those that COLUMNS or the terminal says. 0: the stream is no
 * terminal, and nothing is cut or broken. */
size_t terminal_width(FILE *file);
/* What is left of a line of which `used` columns are taken, but never too little to read; 0: there
 * is no end. */
size_t terminal_room(FILE *file, size_t used);
/* Appends words of others as one line: control characters become blanks, what turns the
 * direction of writing is left out, and what takes more than `room` columns is cut, with an
 * ellipsis (0: nothing is). */
void terminal_put(struct buf *out, const char *text, size_t length, size_t room);
/* Appends the words of a text, in lines of at most `width` columns; every line but the first, which
 * begins at `column`, is set in by `indent`. A word is never broken: it may be an address. 0: they
 * stay one line. */
void terminal_put_wrapped(struct buf *out, size_t indent, size_t column, size_t width,
                          const char *text);

/* ---- asking ---- */

/* Whether there is somebody to ask: what is asked is seen, and what is typed comes here. */
bool terminal_can_ask(void);
/* Asks on standard output, and reads the answer from standard input: whether it is
 * "y" or "yes". */
bool terminal_ask(const char *question, ...) __attribute__((format(printf, 1, 2)));

/* ---- progress ---- */

/* Whether a line that is overwritten and goes again makes sense: standard error is a terminal that
 * can do it. */
bool terminal_has_progress(void);
/* Shows a line of progress, redacted and cut to the terminal, in place of the last one. Any thread
 * may. */
void terminal_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shows the last line again with the time that has passed, for whoever wonders whether something
 * still happens; nothing, where there is no line. */
void terminal_progress_tick(void);
/* Takes the line away. */
void terminal_progress_end(void);

#endif
