/* Rows that stand in columns as a table: where its columns are, which rows of words belong to one
 * row of cells, and which words to which cell. */
#include "documents/pdf_lines.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST  48
#define GUTTER_LEAST  0.2  /* between columns, in sizes of letters */
#define GUTTER_OFTEN  0.6  /* and one that is wider than between words */
#define GUTTER_MEAN   0.8  /* on average of all rows */
#define GUTTER_ALL    0.45 /* or in each of four rows or more */
#define ROW_SLACK     0.12
#define SAME_CELL_GAP 0.5 /* words nearer than that are of one cell */
#define NEIGHBOURS    8   /* rows above and below that edges are compared with */
#define ALIGNED       1.0 /* points */
#define CROSSED_ROWS  6   /* one row of so many may reach across */
#define CELL_WORDS    60  /* more of them, on average, are no cells */

struct column_edge {
    double place;
    int step; /* 1: a stretch of words begins, -1: it ends */
};

static int compare_edges(const void *left, const void *right)
{
    const struct column_edge *a = left;
    const struct column_edge *b = right;
    return a->place != b->place ? (a->place < b->place ? -1 : 1) : b->step - a->step;
}

/* Stretches of words of a row that are nearer than what lies between two columns. */
static size_t add_edges(const struct pdf_row *row, struct column_edge *edges)
{
    size_t count = 0;
    for (size_t i = 0; i < row->count;) {
        double right = row->words[i]->right;
        edges[count++] = (struct column_edge){row->words[i]->left, 1};
        for (i++; i < row->count && row->words[i]->left - right < GUTTER_LEAST * row->size; i++) {
            right = fmax(right, row->words[i]->right);
        }
        edges[count++] = (struct column_edge){right, -1};
    }
    return count;
}

/* Whether a row has an edge beside the place in common with one of the rows around it. */
static bool has_neighbour(const struct pdf_row *rows, size_t count, size_t at, double place)
{
    const struct pdf_word *here[2];
    const struct pdf_word *there[2];
    size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
    size_t to = at + NEIGHBOURS < count ? at + NEIGHBOURS : count;
    (void)pdf_words_around(&rows[at], place, here);
    for (size_t i = from; i < to; i++) {
        if (i != at && pdf_words_around(&rows[i], place, there) &&
            (fabs(here[1]->left - there[1]->left) < ALIGNED ||
             fabs(here[0]->right - there[0]->right) < ALIGNED ||
             fabs(here[1]->right - there[1]->right) < ALIGNED)) {
            return true;
        }
    }
    return false;
}

/* Whether rows that have words on both sides of a place have them well apart, or at least aligned
 * with others. */
static bool parts_columns(const struct pdf_row *rows, size_t count, double place)
{
    const struct pdf_word *around[2];
    size_t both = 0;
    size_t doubtful = 0;
    double room = 0;
    double least = 1e9;
    for (size_t i = 0; i < count; i++) {
        if (!pdf_words_around(&rows[i], place, around)) {
            continue;
        }
        both++;
        double gap = (around[1]->left - around[0]->right) / fmax(rows[i].size, 1);
        room += gap;
        least = fmin(least, gap);
        doubtful += gap < GUTTER_OFTEN && !has_neighbour(rows, count, i, place);
    }
    bool apart = room >= GUTTER_MEAN * (double)both || (both >= 4 && least >= GUTTER_ALL);
    return apart && doubtful <= both / (2 * CROSSED_ROWS);
}

/* The places that part columns; how many there are. */
static int find_columns(struct arena *arena, const struct pdf_row *rows, size_t count,
                        double *places, size_t *place_count)
{
    size_t words = 0;
    size_t edge_count = 0;
    for (size_t i = 0; i < count; i++) {
        words += rows[i].count;
    }
    struct column_edge *edges = arena_alloc(arena, 2 * (words + 1) * sizeof *edges);
    if (!edges) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        edge_count += add_edges(&rows[i], edges + edge_count);
    }
    qsort(edges, edge_count, sizeof *edges, compare_edges);
    int covered = 0;
    int allowed = (int)(count / CROSSED_ROWS);
    *place_count = 0;
    for (size_t i = 0; i + 1 < edge_count && *place_count + 1 < COLUMNS_MOST; i++) {
        covered += edges[i].step;
        double width = edges[i + 1].place - edges[i].place;
        bool free = edges[i].step < 0 && edges[i + 1].step > 0;
        double place = (edges[i].place + edges[i + 1].place) / 2;
        if (free && covered <= allowed && width >= GUTTER_LEAST * rows[0].size &&
            parts_columns(rows, count, place)) {
            places[(*place_count)++] = place;
        }
    }
    return OK;
}

/* Drops a column whose words all stand as near to what is left of them as words do: it is the end
 * of the longest cell beside it. */
static void drop_false_columns(const struct pdf_row *rows, size_t count, double *places,
                               size_t *place_count)
{
    for (size_t p = *place_count; p-- > 0;) {
        double to = p + 1 < *place_count ? places[p + 1] : 1e9;
        bool apart = false;
        for (size_t i = 0; i < count && !apart; i++) {
            const struct pdf_word *around[2];
            apart = pdf_words_around(&rows[i], places[p], around)
                        ? around[1]->left < to &&
                              around[1]->left - around[0]->right >= GUTTER_OFTEN * rows[i].size
                        : rows[i].left > places[p] && rows[i].left < to;
        }
        if (!apart) {
            (*place_count)--;
            memmove(&places[p], &places[p + 1], (*place_count - p) * sizeof *places);
        }
    }
}

static size_t column_of(const double *places, size_t count, double place)
{
    size_t column = 0;
    while (column < count && places[column] < place) {
        column++;
    }
    return column;
}

/* Which columns a row has words in, as bits. */
static uint64_t filled(const struct pdf_row *row, const double *places, size_t place_count)
{
    uint64_t columns = 0;
    for (size_t i = 0; i < row->count; i++) {
        columns |= UINT64_C(1) << column_of(places, place_count, row->words[i]->left);
    }
    return columns;
}

/* A row of words goes on with the row of cells when it was drawn between words of that: cells are
 * drawn one after the other, each with all its lines. Or when its first cell would be empty, and it
 * has one other only, or is nearer to what is above than rows are. */
static bool goes_on(const struct pdf_row *rows, size_t at, size_t count, size_t last_before,
                    double usual, const double *places, size_t place_count)
{
    size_t first = pdf_first_drawn(&rows[at]);
    if (first < last_before) {
        return true;
    }
    if (at + 1 < count && first > pdf_first_drawn(&rows[at + 1])) {
        return false; /* it is above the first cell of the next row, whose cells are centred */
    }
    double gap = rows[at].top - rows[at - 1].bottom;
    uint64_t columns = filled(&rows[at], places, place_count);
    bool one = (columns & (columns - 1)) == 0;
    double most = one ? usual + ROW_SLACK * rows[at].size : usual - ROW_SLACK * rows[at].size;
    return !(columns & 1) && gap < most;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The gap that most rows with a first cell have above them. */
static double usual_gap(struct arena *arena, const struct pdf_row *rows, size_t count,
                        const double *places, size_t place_count)
{
    double *gaps = arena_alloc(arena, count * sizeof *gaps);
    size_t taken = 0;
    for (size_t i = 1; gaps && i < count; i++) {
        if (filled(&rows[i], places, place_count) & 1) {
            gaps[taken++] = rows[i].top - rows[i - 1].bottom;
        }
    }
    if (taken == 0) {
        return 0;
    }
    qsort(gaps, taken, sizeof *gaps, compare_numbers);
    return gaps[taken / 2];
}

/* Gives each word of a row its column: words that are near each other stay together. */
static void place_words(const struct pdf_row *row, const double *places, size_t place_count,
                        size_t *columns)
{
    for (size_t i = 0; i < row->count;) {
        size_t first = i;
        double right = row->words[i]->right;
        for (i++; i < row->count && row->words[i]->left - right < SAME_CELL_GAP * row->size; i++) {
            right = fmax(right, row->words[i]->right);
        }
        size_t begins = column_of(places, place_count, row->words[first]->left);
        size_t ends = column_of(places, place_count, right);
        for (size_t j = first; j < i; j++) {
            double middle = (row->words[j]->left + row->words[j]->right) / 2;
            size_t column = column_of(places, place_count, middle);
            /* A gap as wide as a word's is no gap between cells where the words reach across. */
            bool parted = j == first || begins == ends ||
                          (row->words[j]->left >= places[column - (column > 0)] &&
                           row->words[j - 1]->right <= places[column - (column > 0)]);
            columns[j] = j == first ? begins : parted ? column : columns[j - 1];
        }
    }
}

struct gathered {
    struct pdf_word *word;
    size_t cell;
};

static int compare_gathered(const void *left, const void *right)
{
    const struct gathered *a = left;
    const struct gathered *b = right;
    return a->cell != b->cell ? (a->cell < b->cell ? -1 : 1)
                              : pdf_compare_drawn(&a->word, &b->word);
}

static int fill_cells(struct arena *arena, struct gathered *gathered, size_t count,
                      struct pdf_table *table)
{
    size_t cells = table->rows * table->columns;
    struct pdf_word **words = arena_alloc(arena, (count + 1) * sizeof(struct pdf_word *));
    table->cells = arena_zalloc(arena, (cells + 1) * sizeof *table->cells);
    if (!words || !table->cells) {
        return ERR_NOMEM;
    }
    qsort(gathered, count, sizeof *gathered, compare_gathered);
    for (size_t i = 0; i < count; i++) {
        struct pdf_cell *cell = &table->cells[gathered[i].cell];
        words[i] = gathered[i].word;
        cell->words = cell->count ? cell->words : &words[i];
        cell->count++;
    }
    return OK;
}

/* Whether enough of the cells hold something, and none of it is as long as text of a column. */
static bool is_table(const struct pdf_table *table, size_t words)
{
    size_t filled = 0;
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        filled += table->cells[i].count > 0;
    }
    size_t least = table->rows == 2 ? 2 * table->columns : table->rows + 1;
    return table->rows >= 2 && table->columns >= 2 && filled >= least &&
           words <= CELL_WORDS * filled;
}

int pdf_find_table(struct arena *arena, const struct pdf_row *rows, size_t count,
                   struct pdf_table **table)
{
    double places[COLUMNS_MOST];
    size_t place_count = 0;
    size_t words = 0;
    *table = NULL;
    if (count < 2) {
        return OK;
    }
    for (size_t i = 0; i < count; i++) {
        words += rows[i].count;
    }
    int status = find_columns(arena, rows, count, places, &place_count);
    drop_false_columns(rows, count, places, &place_count);
    struct pdf_table *found = arena_zalloc(arena, sizeof *found);
    struct gathered *gathered = arena_alloc(arena, (words + 1) * sizeof *gathered);
    size_t *columns = arena_alloc(arena, (words + 1) * sizeof *columns);
    if (status != OK || !found || !gathered || !columns) {
        return ERR_NOMEM;
    }
    double usual = usual_gap(arena, rows, count, places, place_count);
    size_t last = 0;
    size_t taken = 0;
    found->columns = place_count + 1;
    for (size_t i = 0; i < count; i++) {
        size_t drawn = pdf_last_drawn(&rows[i]);
        if (i == 0 || !goes_on(rows, i, count, last, usual, places, place_count)) {
            found->rows++;
            last = 0;
        }
        last = drawn > last ? drawn : last;
        place_words(&rows[i], places, place_count, columns);
        for (size_t j = 0; j < rows[i].count; j++) {
            gathered[taken++] = (struct gathered){rows[i].words[j],
                                                  (found->rows - 1) * found->columns + columns[j]};
        }
    }
    status = fill_cells(arena, gathered, words, found);
    if (status == OK && is_table(found, words)) {
        *table = found;
    }
    return status;
}
