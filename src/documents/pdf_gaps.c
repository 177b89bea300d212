/* What rows leave free of a page's width: where columns may be parted. */
#include "documents/pdf_lines.h"

#include <math.h>
#include <string.h>

#define GAP_KEEP  0.5 /* that goes on with columns, in sizes of letters */
#define GAP_TIGHT 0.2 /* or this, where edges are aligned */
#define ALIGNED   1.0 /* points */

bool pdf_is_whole(const struct pdf_lines *lines, const struct pdf_row *row)
{
    size_t dots = 0;
    bool mono = !lines->mono;
    for (size_t i = 0; i < row->count && dots < 4; i++) {
        const struct pdf_word *word = row->words[i];
        dots = word->text[strspn(word->text, "._")] == '\0' ? dots + word->length : 0;
        mono = mono && word->flags & PDF_MONO;
    }
    return mono || dots >= 4;
}

size_t pdf_row_gaps(const struct pdf_row *row, double least, struct pdf_gap *gaps)
{
    double right = row->words[0]->right;
    bool begins = true;
    size_t count = 0;
    for (size_t i = 1; i < row->count && count < PDF_GAPS_MOST; i++) {
        const struct pdf_word *before = row->words[i - 1];
        const struct pdf_word *word = row->words[i];
        double gap = word->left - right;
        bool marked = begins && pdf_is_mark(before);
        begins = gap > GAP_KEEP * row->size;
        if (gap >= least * row->size && !marked) {
            gaps[count++] = (struct pdf_gap){right, word->left};
        }
        right = fmax(right, word->right);
    }
    return count;
}

/* Whether text left and right of a narrow gap has an edge in common with that of another row. */
static bool is_aligned(const struct pdf_row *row, const struct pdf_row *other, double place)
{
    const struct pdf_word *here[2];
    const struct pdf_word *there[2];
    return pdf_words_around(row, place, here) && pdf_words_around(other, place, there) &&
           (fabs(here[1]->left - there[1]->left) < ALIGNED ||
            fabs(here[0]->right - there[0]->right) < ALIGNED ||
            fabs(here[1]->right - there[1]->right) < ALIGNED);
}

/* The widest stretch of a gap that a row leaves free. */
static struct pdf_gap free_part(const struct pdf_row *row, struct pdf_gap gap)
{
    struct pdf_gap best = {0, 0};
    double from = gap.from;
    for (size_t i = 0; i <= row->count && from < gap.to; i++) {
        double to = i < row->count ? fmin(row->words[i]->left, gap.to) : gap.to;
        if (to - from > best.to - best.from) {
            best = (struct pdf_gap){from, to};
        }
        from = i < row->count ? fmax(from, row->words[i]->right) : from;
    }
    return best;
}

size_t pdf_narrow(struct pdf_gap *gaps, size_t count, const struct pdf_row *rows, size_t at,
                  size_t row_count)
{
    const struct pdf_row *row = &rows[at];
    size_t kept = 0;
    for (size_t g = 0; g < count; g++) {
        struct pdf_gap part = free_part(row, gaps[g]);
        double place = (part.from + part.to) / 2;
        const struct pdf_word *around[2];
        if (part.to - part.from < GAP_TIGHT * row->size) {
            continue;
        }
        if (!pdf_words_around(row, place, around) ||
            around[1]->left - around[0]->right >= GAP_KEEP * row->size ||
            is_aligned(row, &rows[0], place) || is_aligned(row, &rows[at - 1], place) ||
            (at + 1 < row_count && is_aligned(row, &rows[at + 1], place))) {
            gaps[kept++] = part;
        }
    }
    return kept;
}

size_t pdf_narrow_whole(struct pdf_gap *gaps, size_t count, const struct pdf_row *row)
{
    size_t kept = 0;
    for (size_t g = 0; g < count; g++) {
        if (row->right < gaps[g].to || row->left > gaps[g].from) {
            struct pdf_gap part = free_part(row, gaps[g]);
            gaps[kept] = part;
            kept += part.to - part.from >= GAP_TIGHT * row->size;
        }
    }
    return kept;
}

bool pdf_is_between(const struct pdf_row *row, const struct pdf_gap *gaps, size_t count)
{
    for (size_t g = 0; g < count; g++) {
        if (row->left < gaps[g].from && row->right > gaps[g].to) {
            return true;
        }
    }
    return false;
}

bool pdf_is_tight(const struct pdf_row *row, const struct pdf_gap *gaps, size_t count)
{
    size_t tight = 0;
    for (size_t g = 0; g < count; g++) {
        const struct pdf_word *around[2];
        if (pdf_words_around(row, (gaps[g].from + gaps[g].to) / 2, around)) {
            if (around[1]->left - around[0]->right >= GAP_KEEP * row->size) {
                return false;
            }
            tight++;
        }
    }
    return tight > 0;
}
