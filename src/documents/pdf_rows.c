/* Rows of a page: words that stand side by side, and when they were drawn. */
#include "documents/pdf_lines.h"

#include <math.h>
#include <stdlib.h>

#define ROW_CORE 0.25 /* of a word's height, at its top and bottom, that others may overlap */

static int compare_tops(const void *left, const void *right)
{
    const struct pdf_word *a = *(struct pdf_word *const *)left;
    const struct pdf_word *b = *(struct pdf_word *const *)right;
    double first = a->top + ROW_CORE * (a->bottom - a->top);
    double second = b->top + ROW_CORE * (b->bottom - b->top);
    return first != second ? (first < second ? -1 : 1) : a->order < b->order ? -1 : 1;
}

static int compare_lefts(const void *left, const void *right)
{
    const struct pdf_word *a = *(struct pdf_word *const *)left;
    const struct pdf_word *b = *(struct pdf_word *const *)right;
    return a->left != b->left ? (a->left < b->left ? -1 : 1) : a->order < b->order ? -1 : 1;
}

int pdf_compare_drawn(const void *left, const void *right)
{
    const struct pdf_word *a = *(struct pdf_word *const *)left;
    const struct pdf_word *b = *(struct pdf_word *const *)right;
    return a->order < b->order ? -1 : a->order > b->order;
}

void pdf_measure_row(struct pdf_row *row)
{
    size_t letters = 0;
    row->left = row->words[0]->left;
    row->right = row->words[0]->right;
    row->top = row->words[0]->top;
    row->bottom = row->words[0]->bottom;
    for (size_t i = 0; i < row->count; i++) {
        const struct pdf_word *word = row->words[i];
        row->left = fmin(row->left, word->left);
        row->right = fmax(row->right, word->right);
        row->top = fmin(row->top, word->top);
        row->bottom = fmax(row->bottom, word->bottom);
        if (word->length > letters) { /* the longest word stands for the others */
            letters = word->length;
            row->size = word->size;
        }
    }
}

struct pdf_row *pdf_rows(struct arena *arena, struct pdf_word **words, size_t count, size_t *rows)
{
    struct pdf_row *found = arena_alloc(arena, (count + 1) * sizeof *found);
    *rows = 0;
    if (!found) {
        return NULL;
    }
    qsort(words, count, sizeof *words, compare_tops);
    for (size_t i = 0; i < count;) {
        double bottom = -1e9;
        size_t first = i;
        while (i < count) {
            double height = words[i]->bottom - words[i]->top;
            if (i > first && words[i]->top + ROW_CORE * height >= bottom) {
                break;
            }
            bottom = fmax(bottom, words[i]->bottom - ROW_CORE * height);
            i++;
        }
        struct pdf_row *row = &found[(*rows)++];
        *row = (struct pdf_row){.words = words + first, .count = i - first};
        qsort(row->words, row->count, sizeof *row->words, compare_lefts);
        pdf_measure_row(row);
    }
    return found;
}

/* ---- one row ---- */

size_t pdf_first_drawn(const struct pdf_row *row)
{
    size_t first = row->words[0]->order;
    for (size_t i = 1; i < row->count; i++) {
        first = row->words[i]->order < first ? row->words[i]->order : first;
    }
    return first;
}

size_t pdf_last_drawn(const struct pdf_row *row)
{
    size_t last = 0;
    for (size_t i = 0; i < row->count; i++) {
        last = row->words[i]->order > last ? row->words[i]->order : last;
    }
    return last;
}

/* The word of a row that stands last before a place, as an index; `count` when there is none. */
static size_t word_before(const struct pdf_row *row, double place)
{
    size_t low = 0;
    size_t high = row->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (row->words[middle]->left < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? low - 1 : row->count;
}

bool pdf_words_around(const struct pdf_row *row, double place, const struct pdf_word *around[2])
{
    size_t left = word_before(row, place);
    if (left + 1 >= row->count) {
        return false;
    }
    around[0] = row->words[left];
    around[1] = row->words[left + 1];
    return true;
}
