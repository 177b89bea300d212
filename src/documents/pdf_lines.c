/* Words that are read one after the other as a line of text: its size and look, which of its words
 * are raised, and which way it is read. */
#include "documents/pdf_lines.h"
#include "core/limits.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pdf_is_mark(const struct pdf_word *word)
{
    static const char *const BULLETS[] = {"•", "◦", "▪", "■", "●", "○", "‣", "∙", "·",
                                          "–", "-", "*", "□", "",  "",  "➢", "✓", "o"};
    const char *text = word->text;
    for (size_t i = 0; i < sizeof BULLETS / sizeof *BULLETS; i++) {
        if (strcmp(text, BULLETS[i]) == 0) {
            return true;
        }
    }
    text += *text == '(';
    size_t digits = strspn(text, "0123456789");
    size_t letters = digits ? 0 : strspn(text, "ivx");
    letters = !digits && !letters && ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z') ? 1 : letters;
    const char *end = text + digits + letters;
    return (digits + letters > 0) && digits <= 3 && letters <= 5 && (*end == '.' || *end == ')') &&
           !end[1];
}

int pdf_add_line(struct pdf_lines *out, struct pdf_line *line)
{
    if (out->count >= LIMIT_PDF_LINES) {
        return ERR_LIMIT;
    }
    struct pdf_line *lines =
        arena_grow(out->arena, out->lines, out->count, &out->capacity, sizeof *lines);
    if (!lines) {
        return ERR_NOMEM;
    }
    out->lines = lines;
    line->page = out->page;
    line->column = out->columns;
    out->lines[out->count++] = *line;
    return OK;
}

static bool is_right_to_left(const struct pdf_word *word)
{
    const char *at = word->text;
    return pdf_is_right_to_left(text_next(&at, word->text + word->length));
}

/* A line of Arabic or Hebrew is read from its right; numbers and names in it from their left. */
static void turn_line(struct pdf_word **words, size_t count)
{
    size_t turned = 0;
    for (size_t i = 0; i < count; i++) {
        turned += is_right_to_left(words[i]);
    }
    if (turned * 2 <= count) {
        return;
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct pdf_word *word = words[i];
        words[i] = words[count - 1 - i];
        words[count - 1 - i] = word;
    }
    for (size_t i = 0; i < count;) {
        size_t run = 0;
        while (i + run < count && !is_right_to_left(words[i + run])) {
            run++;
        }
        for (size_t j = 0; j < run / 2; j++) {
            struct pdf_word *word = words[i + j];
            words[i + j] = words[i + run - 1 - j];
            words[i + run - 1 - j] = word;
        }
        i += run ? run : 1;
    }
}

/* The size that most letters have; words that are raised, which are marked here, aside. */
static void measure_line(struct pdf_line *line)
{
    size_t most = 0;
    for (size_t i = 0; i < line->count; i++) {
        size_t letters = 0;
        for (size_t j = 0; j < line->count; j++) {
            letters += fabs(line->words[j]->size - line->words[i]->size) < 0.1
                           ? line->words[j]->length
                           : 0;
        }
        if (letters > most) {
            most = letters;
            line->size = line->words[i]->size;
        }
        if (line->count > 64 && i > 8) {
            break; /* a line of many words says early what it is */
        }
    }
    double middle = 0;
    for (size_t i = 0; i < line->count; i++) {
        const struct pdf_word *word = line->words[i];
        if (fabs(word->size - line->size) < 0.1) {
            middle = (word->top + word->bottom) / 2;
            break;
        }
    }
    line->flags = PDF_BOLD | PDF_ITALIC | PDF_MONO;
    for (size_t i = 0; i < line->count; i++) {
        struct pdf_word *word = line->words[i];
        bool small = word->size < 0.85 * line->size && !(word->flags & PDF_TURNED);
        if (small && (word->top + word->bottom) / 2 < middle - 0.1 * line->size) {
            word->flags |= PDF_RAISED;
        } else {
            line->flags &= word->flags;
        }
    }
}

int pdf_add_words(struct pdf_lines *lines, struct pdf_word **words, size_t count, double left,
                  double right)
{
    struct pdf_row row = {.words = words, .count = count};
    pdf_measure_row(&row);
    struct pdf_line line = {
        .words = words,
        .count = count,
        .left = row.left,
        .top = row.top,
        .right = row.right,
        .bottom = row.bottom,
        .column_left = left,
        .column_right = right,
    };
    measure_line(&line);
    turn_line(words, count);
    return pdf_add_line(lines, &line);
}

/* A row whose words overlap is several lines: a large initial, a fraction, lines set too close.
 * They are taken in the order they were drawn in. */
static int add_tall_row(struct pdf_lines *lines, struct pdf_row *row, double left, double right)
{
    int status = OK;
    qsort(row->words, row->count, sizeof *row->words, pdf_compare_drawn);
    for (size_t i = 0; status == OK && i < row->count;) {
        size_t first = i++;
        while (i < row->count && row->words[i]->left > row->words[i - 1]->left &&
               fmin(row->words[i]->bottom, row->words[i - 1]->bottom) >
                   fmax(row->words[i]->top, row->words[i - 1]->top)) {
            i++;
        }
        status = pdf_add_words(lines, row->words + first, i - first, left, right);
    }
    return status;
}

int pdf_add_row(struct pdf_lines *lines, struct pdf_row *row, double left, double right)
{
    for (size_t i = 1; i < row->count; i++) {
        const struct pdf_word *before = row->words[i - 1];
        const struct pdf_word *word = row->words[i];
        if (word->left < before->right - 0.3 * fmin(word->size, before->size) &&
            (word->top > (before->top + before->bottom) / 2 ||
             before->top > (word->top + word->bottom) / 2)) {
            return add_tall_row(lines, row, left, right);
        }
    }
    return pdf_add_words(lines, row->words, row->count, left, right);
}
