/* Columns and reading order. A page is divided into rows; rows that leave the same stretch of width
 * free stand in columns. Whether these are columns of text, read one after the other, or those of a
 * table, read row by row, is told by the order in which they were drawn: text is drawn down one
 * column and then the next, a table across. */
#include "documents/pdf_lines.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GAP_OPEN      0.7 /* a gap that columns may begin with, in sizes of letters */
#define DEPTH_MOST    10
#define COLUMN_WORDS  2.5 /* in a line of a column of text, at least */
#define COLUMN_LINES  8   /* or so many lines of fewer words */
#define PROSE_WORDS   4.5
#define PROSE_FILL    0.85
#define HEADING_RATIO 1.13
#define ROW_SPACE     0.35 /* more of it than between all rows above ends a table */
#define BAND_ROWS     400
#define WORK_MOST     (20 * 1000 * 1000) /* words that are looked at for one page */
#define TABLE_BREAK   1.9 /* sizes of letters between rows that two tables have between them */

struct orderer {
    struct pdf_lines *out;
    struct arena *arena;
    size_t work;
    int status;
};

/* ---- columns ---- */

struct column_side {
    size_t words, lines;
    double fill; /* of its width that lines take, all together */
};

/* What stands left and right of a gap, and how often drawing came back from right to left. */
static size_t look_at_sides(struct pdf_word **words, size_t count, double place,
                            struct column_side sides[2])
{
    size_t returns = 0;
    const struct pdf_word *last[2] = {NULL, NULL};
    double bounds[2][2] = {{1e9, -1e9}, {1e9, -1e9}};
    int before = -1;
    for (size_t i = 0; i < count; i++) {
        int which = (words[i]->left + words[i]->right) / 2 > place;
        struct column_side *side = &sides[which];
        bool new_line = !last[which] || words[i]->left < last[which]->left;
        if (new_line && last[which]) {
            side->fill += last[which]->right;
        }
        side->lines += new_line;
        side->words++;
        returns += before == 1 && which == 0;
        bounds[which][0] = fmin(bounds[which][0], words[i]->left);
        bounds[which][1] = fmax(bounds[which][1], words[i]->right);
        last[which] = words[i];
        before = which;
    }
    for (int which = 0; which < 2; which++) {
        struct column_side *side = &sides[which];
        if (last[which]) {
            double width = fmax(bounds[which][1] - bounds[which][0], 1);
            side->fill = (side->fill + last[which]->right) / (double)side->lines;
            side->fill = (side->fill - bounds[which][0]) / width;
        }
    }
    return returns;
}

/* Whether two sides are columns of text. `words` are in the order they were drawn in. With
 * `surely`, cells of several lines must not pass for such. */
static bool are_columns(struct pdf_word **words, size_t count, struct pdf_gap gap, bool surely)
{
    struct column_side sides[2] = {{0}};
    size_t returns = look_at_sides(words, count, (gap.from + gap.to) / 2, sides);
    if (!sides[0].lines || !sides[1].lines) {
        return false;
    }
    size_t lines = sides[0].lines < sides[1].lines ? sides[0].lines : sides[1].lines;
    double left = (double)sides[0].words / (double)sides[0].lines;
    double right = (double)sides[1].words / (double)sides[1].lines;
    double per_line = fmin(left, right);
    if (surely) {
        return returns == 0 && ((lines >= 3 && per_line >= PROSE_WORDS) ||
                                (lines >= 6 && per_line >= COLUMN_WORDS));
    }
    if (returns == 0 || returns * 8 <= lines) {
        return (lines >= 2 && per_line >= COLUMN_WORDS) || lines >= COLUMN_LINES;
    }
    /* Drawn across, as programs do that know only lines. */
    return lines >= COLUMN_LINES && per_line >= PROSE_WORDS && sides[0].fill > PROSE_FILL &&
           sides[1].fill > PROSE_FILL;
}

static void order_region(struct orderer *orderer, struct pdf_word **words, size_t count, int depth);

/* Words in the order they were drawn in, as a copy. */
static struct pdf_word **as_drawn(struct orderer *orderer, struct pdf_word **words, size_t count)
{
    struct pdf_word **copy = arena_alloc(orderer->arena, (count + 1) * sizeof(struct pdf_word *));
    if (!copy) {
        orderer->status = ERR_NOMEM;
        return NULL;
    }
    memcpy(copy, words, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, pdf_compare_drawn);
    return copy;
}

/* Orders each side of the gaps that part columns of text; false when none does. */
static bool order_columns(struct orderer *orderer, const struct pdf_row *rows, size_t row_count,
                          const struct pdf_gap *gaps, size_t gap_count, int depth, bool surely)
{
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        count += rows[i].count;
    }
    struct pdf_word **words = as_drawn(orderer, rows[0].words, count);
    double places[PDF_GAPS_MOST];
    size_t parts = 0;
    orderer->work += count * (gap_count + 4);
    for (size_t g = 0; words && g < gap_count; g++) {
        if (are_columns(words, count, gaps[g], surely)) {
            places[parts++] = (gaps[g].from + gaps[g].to) / 2;
        }
    }
    if (parts == 0) {
        return false;
    }
    struct pdf_word **part = arena_alloc(orderer->arena, (count + 1) * sizeof(struct pdf_word *));
    if (!part) {
        orderer->status = ERR_NOMEM;
        return true;
    }
    for (size_t p = 0; p <= parts; p++) {
        size_t taken = 0;
        for (size_t i = 0; i < count; i++) {
            double middle = (words[i]->left + words[i]->right) / 2;
            if ((p == 0 || middle > places[p - 1]) && (p == parts || middle <= places[p])) {
                part[taken++] = words[i];
            }
        }
        orderer->out->columns++;
        order_region(orderer, part, taken, depth + 1);
        part += taken; /* lines keep pointing at it */
    }
    orderer->out->columns++;
    return true;
}

/* ---- bands of rows ---- */

/* The gaps that a band may begin with, from its first row with text on both sides, which is row
 * `begin`; those above it stand on one side. */
static size_t open_gaps(struct orderer *orderer, const struct pdf_row *rows, size_t begin,
                        struct pdf_gap *gaps)
{
    size_t count = pdf_row_gaps(&rows[begin], GAP_OPEN, gaps);
    if (orderer->work > WORK_MOST || pdf_is_whole(orderer->out, &rows[begin])) {
        return 0; /* no document needs so much */
    }
    for (size_t i = 0; i < begin && count; i++) {
        count = pdf_narrow_whole(gaps, count, &rows[i]);
    }
    return count;
}

/* How many rows from the first one on leave common gaps, which are left in `gaps`. Rows at the end
 * that stand on one side only belong to it when they were drawn before what is beside them. Of a
 * `unit` the first rows may stand on one side, too. */
static size_t find_band(struct orderer *orderer, const struct pdf_row *rows, size_t count,
                        bool unit, struct pdf_gap *gaps, size_t *gap_count)
{
    struct pdf_gap kept[PDF_GAPS_MOST];
    size_t band = 1;
    *gap_count = open_gaps(orderer, rows, 0, gaps);
    while (unit && *gap_count == 0 && band < count && band < BAND_ROWS) {
        orderer->work += rows[band].count;
        *gap_count = open_gaps(orderer, rows, band++, gaps);
    }
    size_t both = band; /* up to the last row with text on both sides */
    size_t drawn = pdf_last_drawn(&rows[band - 1]);
    while (band < count && band < BAND_ROWS && *gap_count) {
        orderer->work += rows[band].count * *gap_count;
        memcpy(kept, gaps, *gap_count * sizeof *kept);
        size_t left = pdf_is_whole(orderer->out, &rows[band])
                          ? pdf_narrow_whole(kept, *gap_count, &rows[band])
                          : pdf_narrow(kept, *gap_count, rows, band, count);
        if (left == 0) {
            break;
        }
        memcpy(gaps, kept, left * sizeof *gaps);
        *gap_count = left;
        bool between = pdf_is_between(&rows[band], gaps, left);
        if (between || pdf_first_drawn(&rows[band]) < drawn || rows[band].left > gaps[0].to) {
            both = band + 1;
        }
        size_t last = pdf_last_drawn(&rows[band]);
        drawn = between && last > drawn ? last : drawn;
        band++;
    }
    return both;
}

/* Rows of a band up to where the table ends: far from the next row, at letters of another size,
 * where rows begin that have only the first column, or that leave few of its gaps, or narrow ones.
 */
static size_t table_rows(struct orderer *orderer, const struct pdf_row *rows, size_t count)
{
    struct pdf_gap gaps[PDF_GAPS_MOST];
    struct pdf_gap kept[PDF_GAPS_MOST];
    size_t gap_count = open_gaps(orderer, rows, 0, gaps);
    size_t taken = 1;
    size_t doubtful = 0; /* rows at the end so far that may be none of it */
    size_t drawn = pdf_last_drawn(&rows[0]);
    if (rows[0].size > HEADING_RATIO * orderer->out->size) {
        return 1; /* headings with their numbers */
    }
    double most = 1e9; /* space between rows so far */
    while (taken < count && !pdf_is_whole(orderer->out, &rows[taken]) &&
           rows[taken].top - rows[taken - 1].bottom < TABLE_BREAK * rows[0].size &&
           rows[taken].size < 1.12 * rows[0].size && rows[0].size < 1.3 * rows[taken].size &&
           doubtful < 2) {
        const struct pdf_row *row = &rows[taken];
        double space = row->top - rows[taken - 1].bottom;
        if (taken >= 3 && space > most + ROW_SPACE * row->size) {
            break;
        }
        most = taken > 1 ? fmax(most, space) : space;
        memcpy(kept, gaps, gap_count * sizeof *kept);
        size_t left = pdf_narrow(kept, gap_count, rows, taken, count);
        if (left == 0 || (taken > 1 && left * 5 < gap_count * 3)) {
            break;
        }
        memcpy(gaps, kept, left * sizeof *gaps);
        gap_count = left;
        bool first = row->right < gaps[0].to && !pdf_is_between(row, gaps, gap_count);
        bool alone = first && pdf_first_drawn(row) > drawn;
        doubtful = alone || pdf_is_tight(row, gaps, gap_count) ? doubtful + 1 : 0;
        size_t last = pdf_last_drawn(row);
        drawn = last > drawn ? last : drawn;
        taken++;
    }
    return taken - doubtful;
}

/* Writes rows from the first one on as a table; how many, or 0 where they make none. */
static size_t write_table(struct orderer *orderer, struct pdf_row *rows, size_t taken, double left,
                          double right)
{
    struct pdf_table *table = NULL;
    orderer->status = pdf_find_table(orderer->arena, rows, taken, &table);
    if (!table) {
        return 0;
    }
    struct pdf_line line = {
        .words = rows[0].words,
        .left = rows[0].left,
        .top = rows[0].top,
        .right = rows[0].right,
        .bottom = rows[taken - 1].bottom,
        .size = rows[0].size,
        .column_left = left,
        .column_right = right,
        .table = table,
    };
    for (size_t i = 0; i < taken; i++) {
        line.count += rows[i].count;
    }
    orderer->status = pdf_add_line(orderer->out, &line);
    return taken;
}

/* Where the unit ends that each row belongs to: everything of a unit was drawn before everything
 * below it. A row of cells is one, or a stretch of text in columns. */
static size_t *find_units(struct orderer *orderer, const struct pdf_row *rows, size_t count)
{
    size_t *ends = arena_alloc(orderer->arena, (count + 1) * sizeof *ends);
    size_t *firsts = arena_alloc(orderer->arena, (count + 1) * sizeof *firsts);
    if (!ends || !firsts) {
        orderer->status = ERR_NOMEM;
        return NULL;
    }
    firsts[count] = SIZE_MAX;
    for (size_t i = count; i-- > 0;) {
        size_t first = pdf_first_drawn(&rows[i]);
        firsts[i] = first < firsts[i + 1] ? first : firsts[i + 1];
    }
    size_t begin = 0;
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        size_t drawn = pdf_last_drawn(&rows[i]);
        last = drawn > last ? drawn : last;
        if (last < firsts[i + 1]) {
            for (; begin <= i; begin++) {
                ends[begin] = i + 1;
            }
        }
    }
    return ends;
}

/* Whether a unit that begins here is surely text in columns. */
static bool is_text_unit(struct orderer *orderer, const struct pdf_row *rows, size_t count)
{
    struct pdf_gap gaps[PDF_GAPS_MOST];
    size_t gap_count;
    if (count == 1 && rows[0].bottom - rows[0].top < 3 * rows[0].size) {
        return false;
    }
    size_t band = find_band(orderer, rows, count, true, gaps, &gap_count);
    size_t words = 0;
    for (size_t i = 0; i < band; i++) {
        words += rows[i].count;
    }
    struct pdf_word **drawn = gap_count ? as_drawn(orderer, rows[0].words, words) : NULL;
    orderer->work += words;
    for (size_t g = 0; drawn && g < gap_count; g++) {
        if (are_columns(drawn, words, gaps[g], true)) {
            return true;
        }
    }
    return false;
}

/* Writes the rows from one on that belong together; how many these are. */
static size_t order_band(struct orderer *orderer, struct pdf_row *rows, const size_t *units,
                         size_t first, size_t count, double left, double right, int depth)
{
    struct pdf_gap gaps[PDF_GAPS_MOST];
    size_t gap_count = 0;
    size_t limit = units[first];
    size_t band = find_band(orderer, &rows[first], limit - first, true, gaps, &gap_count);
    if (gap_count && depth < DEPTH_MOST &&
        order_columns(orderer, &rows[first], band, gaps, gap_count, depth, true)) {
        return band;
    }
    band = find_band(orderer, &rows[first], count - first, false, gaps, &gap_count);
    while (limit < first + band && !is_text_unit(orderer, &rows[limit], units[limit] - limit)) {
        limit = units[limit];
    }
    if (limit < first + band) {
        band = find_band(orderer, &rows[first], limit - first, false, gaps, &gap_count);
    }
    if (gap_count && depth < DEPTH_MOST &&
        order_columns(orderer, &rows[first], band, gaps, gap_count, depth, false)) {
        return band;
    }
    size_t taken = 0;
    if (gap_count && band > 1 && orderer->status == OK) {
        taken = write_table(orderer, &rows[first], table_rows(orderer, &rows[first], band), left,
                            right);
    }
    if (taken == 0 && orderer->status == OK) {
        orderer->status = pdf_add_row(orderer->out, &rows[first], left, right);
        taken = 1;
    }
    return taken;
}

static void order_region(struct orderer *orderer, struct pdf_word **words, size_t count, int depth)
{
    size_t row_count = 0;
    if (count == 0 || orderer->status != OK) {
        return;
    }
    struct pdf_row *rows = pdf_rows(orderer->arena, words, count, &row_count);
    double left = 1e9;
    double right = -1e9;
    if (!rows) {
        orderer->status = ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < row_count; i++) {
        left = fmin(left, rows[i].left);
        right = fmax(right, rows[i].right);
    }
    size_t *units = find_units(orderer, rows, row_count);
    for (size_t i = 0; units && i < row_count && orderer->status == OK;) {
        i += order_band(orderer, rows, units, i, row_count, left, right, depth);
    }
}

/* ---- a page ---- */

int pdf_order_page(struct pdf_lines *lines, const struct pdf_page *page, size_t number)
{
    struct orderer orderer = {.out = lines, .arena = lines->arena};
    struct pdf_word **words =
        arena_alloc(lines->arena, (page->count + 1) * sizeof(struct pdf_word *));
    size_t count = 0;
    size_t turned = page->count;
    if (!words) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < page->count; i++) {
        struct pdf_word *word = &page->words[i];
        if (word->flags & PDF_TURNED) {
            words[--turned] = word;
        } else if (!(word->flags & PDF_FURNITURE)) {
            words[count++] = word;
        }
    }
    lines->page = number;
    lines->columns++;
    order_region(&orderer, words, count, 0);
    /* What stands on its side comes last, as it was drawn. */
    if (turned < page->count && orderer.status == OK) {
        qsort(words + turned, page->count - turned, sizeof *words, pdf_compare_drawn);
        lines->columns++;
        orderer.status = pdf_add_words(lines, words + turned, page->count - turned, 0, page->width);
    }
    return orderer.status;
}
