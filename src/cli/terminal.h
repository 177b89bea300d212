/* What a person sees: the one place that decides whether there is colour and progress. */
#ifndef FORAGE_CLI_TERMINAL_H
#define FORAGE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

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

/* Whether lines that are overwritten and go again make sense: standard error is a terminal that
 * can do it. */
bool terminal_has_progress(void);
/* Shows a line of progress in place of the last one. */
void terminal_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Takes the last line of progress away. */
void terminal_progress_end(void);

#endif
