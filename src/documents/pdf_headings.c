/* What most of a document looks like, and what is a heading by that: letters larger than those of
 * the text, bold ones that stand alone, or the numbers and words that headings of papers have. */
#include "documents/pdf_lines.h"
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADING_RATIO   1.13 /* how much larger than the text a heading's letters are */
#define HEADING_LEAST   1.06 /* where it stands apart and is no sentence */
#define HEADING_CHARS   200
#define BOLD_CHARS      120
#define BOLD_LINES      3
#define MOST_SIZE_STEPS 400 /* half points */
#define ABOVE_HEADING   0.2 /* more space than between lines, in sizes */
#define SPACING_STEPS   60
#define SPACING_STEP    0.05
#define USUAL_SPACING   1.2

static size_t size_step(double size)
{
    double steps = size * 2 + 0.5;
    return steps < 0 ? 0 : steps >= MOST_SIZE_STEPS ? MOST_SIZE_STEPS - 1 : (size_t)steps;
}

static size_t letters_of(const struct pdf_line *line)
{
    size_t letters = 0;
    for (size_t i = 0; i < line->count; i++) {
        letters += line->words[i]->length + 1;
    }
    return letters;
}

static bool same_column(const struct pdf_line *a, const struct pdf_line *b)
{
    return a->page == b->page && a->column == b->column && !a->table && !b->table;
}

/* ---- what the document looks like ---- */

static void find_text_size(const struct pdf_lines *lines, struct pdf_style *style)
{
    size_t letters[MOST_SIZE_STEPS] = {0};
    size_t all = 0;
    size_t bold = 0;
    size_t best = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const struct pdf_line *line = &lines->lines[i];
        for (size_t j = 0; j < line->count; j++) {
            const struct pdf_word *word = line->words[j];
            letters[size_step(word->size)] += word->length;
            all += word->length;
            bold += word->flags & PDF_BOLD ? word->length : 0;
        }
    }
    for (size_t i = 1; i < MOST_SIZE_STEPS; i++) {
        best = letters[i] > letters[best] ? i : best;
    }
    style->size = (double)best / 2;
    style->bold = bold * 5 > all * 2;
}

static void find_spacing(const struct pdf_lines *lines, struct pdf_style *style)
{
    size_t seen[SPACING_STEPS] = {0};
    size_t best = (size_t)(USUAL_SPACING / SPACING_STEP);
    for (size_t i = 1; i < lines->count; i++) {
        const struct pdf_line *line = &lines->lines[i];
        const struct pdf_line *before = line - 1;
        double step = (line->bottom - before->bottom) / fmax(line->size, 1) / SPACING_STEP;
        if (same_column(before, line) && fabs(line->size - style->size) < 0.6 &&
            fabs(before->size - line->size) < 0.3 && step > 0.8 / SPACING_STEP &&
            step < SPACING_STEPS) {
            seen[(size_t)step]++;
        }
    }
    for (size_t i = 0; i < SPACING_STEPS; i++) {
        best = seen[i] > seen[best] ? i : best;
    }
    style->spacing = ((double)best + 0.5) * SPACING_STEP;
}

/* ---- headings ---- */

static bool has_letters(const struct pdf_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        for (const char *at = line->words[i]->text; *at; at++) {
            unsigned char c = (unsigned char)*at;
            if (((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0xC3) {
                return true;
            }
        }
    }
    return false;
}

static bool has_leader(const struct pdf_line *line)
{
    size_t dots = 0;
    for (size_t i = 0; i < line->count; i++) {
        const char *text = line->words[i]->text;
        dots = text[strspn(text, ".")] ? 0 : dots + strlen(text);
        if (dots > 3) {
            return true;
        }
    }
    return false;
}

/* How many lines from `first` on look alike and follow each other; their characters in `length`. */
static size_t run_length(const struct pdf_lines *lines, size_t first, size_t *length)
{
    const struct pdf_line *line = &lines->lines[first];
    size_t count = 1;
    *length = letters_of(line);
    while (first + count < lines->count) {
        const struct pdf_line *next = &lines->lines[first + count];
        const struct pdf_line *before = next - 1;
        if (!same_column(before, next) || size_step(next->size) != size_step(line->size) ||
            (next->flags & PDF_BOLD) != (line->flags & PDF_BOLD) ||
            next->bottom - before->bottom > 1.6 * line->size || next->top < before->top) {
            break;
        }
        *length += letters_of(next);
        count++;
    }
    return count;
}

static bool ends_as_a_sentence(const struct pdf_line *line)
{
    const struct pdf_word *last = line->words[line->count - 1];
    return last->length && strchr(".,;:", last->text[last->length - 1]);
}

static bool stands_apart(const struct pdf_lines *lines, const struct pdf_style *style, size_t first)
{
    const struct pdf_line *line = &lines->lines[first];
    if (first == 0 || !same_column(line - 1, line)) {
        return true;
    }
    double spacing = (line->bottom - line[-1].bottom) / fmax(line->size, 1);
    return spacing > style->spacing + ABOVE_HEADING || line->top < line[-1].top;
}

/* Whether letters larger than most make a heading of the line; `count` of them belong together. */
static bool is_large_heading(const struct pdf_lines *lines, const struct pdf_style *style,
                             size_t first, size_t *count)
{
    const struct pdf_line *line = &lines->lines[first];
    size_t length;
    *count = 1;
    if (line->table || style->size <= 0 || line->size < style->size * HEADING_LEAST) {
        return false;
    }
    *count = run_length(lines, first, &length);
    if (line->size < style->size * HEADING_RATIO &&
        (length > BOLD_CHARS || !stands_apart(lines, style, first) ||
         ends_as_a_sentence(&lines->lines[first + *count - 1]))) {
        return false;
    }
    return length <= HEADING_CHARS && has_letters(line) && !has_leader(line);
}

static bool is_bold_heading(const struct pdf_lines *lines, const struct pdf_style *style,
                            size_t first, size_t *count)
{
    const struct pdf_line *line = &lines->lines[first];
    size_t length;
    if (line->table || style->bold || !(line->flags & PDF_BOLD) ||
        line->size < 0.93 * style->size || !has_letters(line) ||
        !stands_apart(lines, style, first)) {
        return false;
    }
    *count = run_length(lines, first, &length);
    return length <= BOLD_CHARS && *count <= BOLD_LINES &&
           !ends_as_a_sentence(&lines->lines[first + *count - 1]) && !has_leader(line);
}

/* "2.3 Methods" or one of the words that stand over a part of nearly every paper. */
static int level_by_words(const struct pdf_line *line)
{
    char text[BOLD_CHARS];
    size_t length = 0;
    for (size_t i = 0; i < line->count; i++) {
        const struct pdf_word *word = line->words[i];
        if (length + word->length + 2 > sizeof text) {
            return 0;
        }
        text[length] = ' ';
        length += i > 0;
        memcpy(text + length, word->text, word->length);
        length += word->length;
    }
    text[length] = '\0';
    if (words_text(&pdf_parts, text, length)) {
        return 2;
    }
    int numbers = 0;
    const char *at = text;
    while (*at >= '1' && *at <= '9' && numbers < 4) {
        size_t digits = strspn(at, "0123456789");
        if (digits > 2) {
            return 0;
        }
        at += digits;
        numbers++;
        if (*at != '.' || at[1] < '1' || at[1] > '9') {
            break;
        }
        at++;
    }
    bool titled = *at == ' ' && at[1] >= 'A' && at[1] <= 'Z';
    return numbers > 0 && titled && !ends_as_a_sentence(line) ? numbers + 1 : 0;
}

void pdf_find_style(const struct pdf_lines *lines, struct pdf_style *style)
{
    size_t seen[MOST_SIZE_STEPS] = {0};
    size_t count;
    *style = (struct pdf_style){0};
    find_text_size(lines, style);
    find_spacing(lines, style);
    for (size_t i = 0; i < lines->count; i++) {
        if (is_large_heading(lines, style, i, &count)) {
            seen[size_step(lines->lines[i].size)]++;
        }
        i += count - 1;
    }
    for (size_t step = MOST_SIZE_STEPS; step-- > 0;) {
        /* Sizes that differ by rounding are one. */
        bool near =
            style->heading_count && style->heading_steps[style->heading_count - 1] - step <= 1;
        if (seen[step] && !near && style->heading_count < PDF_HEADING_SIZES) {
            style->heading_steps[style->heading_count++] = step;
        }
    }
    bool titled = style->heading_count && seen[style->heading_steps[0]] == 1;
    style->first_level = titled ? 1 : 2;
}

static int level_by_size(const struct pdf_style *style, double size)
{
    size_t rank = 0;
    while (rank + 1 < style->heading_count && size_step(size) + 1 < style->heading_steps[rank]) {
        rank++;
    }
    return style->first_level + (int)rank;
}

int pdf_heading_level(const struct pdf_lines *lines, const struct pdf_style *style, size_t first,
                      size_t *count)
{
    const struct pdf_line *line = &lines->lines[first];
    if (is_large_heading(lines, style, first, count)) {
        return level_by_size(style, line->size);
    }
    if (is_bold_heading(lines, style, first, count)) {
        return style->heading_count ? style->first_level + (int)style->heading_count : 2;
    }
    bool next_apart = first + 1 >= lines->count || stands_apart(lines, style, first + 1);
    *count = 1;
    return !line->table && !has_leader(line) && stands_apart(lines, style, first) && next_apart
               ? level_by_words(line)
               : 0;
}
