/* Between words and Markdown: lines in reading order, some of which are tables. */
#ifndef FORAGE_DOCUMENTS_PDF_LINES_H
#define FORAGE_DOCUMENTS_PDF_LINES_H

#include "documents/pdf.h"

#include <stdint.h>

struct pdf_cell {
    struct pdf_word **words; /* in the order they were drawn in */
    size_t count;
};

struct pdf_table {
    struct pdf_cell *cells; /* row by row */
    size_t rows, columns;
};

struct pdf_line {
    struct pdf_word **words; /* in reading order; of a table all of them */
    size_t count;
    double left, top, right, bottom;
    double size;                      /* that most of its letters have */
    unsigned flags;                   /* that all of its words have, but for raised ones */
    double column_left, column_right; /* of the column that it stands in */
    size_t page;                      /* from 0 */
    size_t column;                    /* numbered through the document */
    struct pdf_table *table;          /* or NULL */
};

struct pdf_lines {
    struct arena *arena;
    struct pdf_line *lines;
    size_t count, capacity;
    size_t page;    /* that lines are added to, and */
    size_t columns; /* so many so far */
    bool mono;      /* the text is set in letters of one width, so these are no sign of code */
    double size;    /* of the text */
};

/* Words that stand side by side, sorted by their left edges. */
struct pdf_row {
    struct pdf_word **words;
    size_t count;
    double left, top, right, bottom;
    double size;
};

/* A stretch of a page's width. */
struct pdf_gap {
    double from, to;
};

/* ---- rows ---- */

/* Divides words, whose order it changes, into rows, from above. NULL without memory. */
struct pdf_row *pdf_rows(struct arena *arena, struct pdf_word **words, size_t count, size_t *rows);
/* Finds the edges of a row of words, and the size of its letters. */
void pdf_measure_row(struct pdf_row *row);
/* For qsort: the order in which words were drawn. */
int pdf_compare_drawn(const void *left, const void *right);
/* When the first word of a row was drawn, and the last one. */
size_t pdf_first_drawn(const struct pdf_row *row);
size_t pdf_last_drawn(const struct pdf_row *row);
/* The words of a row on both sides of a place; false where one is missing. */
bool pdf_words_around(const struct pdf_row *row, double place, const struct pdf_word *around[2]);

/* ---- what rows leave free ---- */

#define PDF_GAPS_MOST 48 /* of a row */

/* Whether a row is never parted: dots that lead the eye from one side to the other join the two,
 * and code is no table. */
bool pdf_is_whole(const struct pdf_lines *lines, const struct pdf_row *row);
/* The gaps of a row that are wide enough, in sizes of its letters; the mark of an item belongs to
 * what follows it. */
size_t pdf_row_gaps(const struct pdf_row *row, double least, struct pdf_gap *gaps);
/* Narrows gaps to what a further row of a band leaves free of them; how many are left. A row whose
 * words stand no farther apart there than words do must be aligned with one near it. */
size_t pdf_narrow(struct pdf_gap *gaps, size_t count, const struct pdf_row *rows, size_t at,
                  size_t row_count);
/* The same for a row that stands on one side of gaps, or goes across. */
size_t pdf_narrow_whole(struct pdf_gap *gaps, size_t count, const struct pdf_row *row);
/* Whether a row has words on both sides of one of the gaps. */
bool pdf_is_between(const struct pdf_row *row, const struct pdf_gap *gaps, size_t count);
/* Whether the words of a row stand no farther apart at all of the gaps than words do. */
bool pdf_is_tight(const struct pdf_row *row, const struct pdf_gap *gaps, size_t count);

/* ---- lines of text ---- */

/* Whether a letter is read from right to left, as those of Arabic and Hebrew are. */
bool pdf_is_right_to_left(uint32_t point);
/* Whether a word at the beginning of a line is the mark of an item of a list. */
bool pdf_is_mark(const struct pdf_word *word);
/* Appends a line to those of the page at hand. OK, ERR_NOMEM, or ERR_LIMIT. */
MUST_CHECK int pdf_add_line(struct pdf_lines *lines, struct pdf_line *line);
/* The same of words that are one, in a column from `left` to `right`. */
MUST_CHECK int pdf_add_words(struct pdf_lines *lines, struct pdf_word **words, size_t count,
                             double left, double right);
/* The same of a row, which is several where its words overlap. */
MUST_CHECK int pdf_add_row(struct pdf_lines *lines, struct pdf_row *row, double left, double right);

/* ---- pages ---- */

/* Marks running heads and page numbers as furniture. OK or ERR_NOMEM. */
MUST_CHECK int pdf_find_furniture(struct arena *arena, struct pdf_text *text);
/* Appends the lines of a page in reading order. OK or ERR_NOMEM. */
MUST_CHECK int pdf_order_page(struct pdf_lines *lines, const struct pdf_page *page, size_t number);
/* The cells of rows that stand in columns; NULL in `table` where they make no table. OK or
 * ERR_NOMEM. */
MUST_CHECK int pdf_find_table(struct arena *arena, const struct pdf_row *rows, size_t count,
                              struct pdf_table **table);

/* ---- what lines are ---- */

#define PDF_HEADING_SIZES 5 /* distinct ones; what is smaller shares the last level */

/* What most of a document looks like, by which the rest is known. */
struct pdf_style {
    double size;    /* of the text */
    double spacing; /* from one line of a paragraph to the next, in sizes */
    bool bold;
    size_t heading_steps[PDF_HEADING_SIZES]; /* half points, falling */
    size_t heading_count;
    int first_level; /* of the largest heading: 1 where it is the only one of its size */
};

void pdf_find_style(const struct pdf_lines *lines, struct pdf_style *style);
/* The level of the heading that begins with a line, and how many lines it has; 0: it is none. */
int pdf_heading_level(const struct pdf_lines *lines, const struct pdf_style *style, size_t first,
                      size_t *count);

/* ---- footnotes ---- */

#define PDF_NOTES_MOST 64 /* of a page */

/* The notes of a page whose signs stand in its text too. */
struct pdf_notes {
    const char *names[PDF_NOTES_MOST];
    size_t count;
};

void pdf_find_notes(const struct pdf_lines *lines, const struct pdf_style *style, size_t first,
                    struct pdf_notes *notes);
/* Whether a note of the page begins with this line. */
bool pdf_begins_note(const struct pdf_notes *notes, const struct pdf_style *style,
                     const struct pdf_line *line);
bool pdf_is_reference(const struct pdf_notes *notes, const struct pdf_word *word);

#endif
