/* Tables: data as GFM rows, spans flattened; layout unwrapped; code in tables as code. */
#include "html/markdown/writer.h"

#include "tables.h"

#include <stdlib.h>
#include <strings.h>

#define MOST_COLUMNS 64
#define MOST_ROWS    20000
#define LARGE_CELL   400
#define LONGEST_LINE 120

/* ---- what kind of table ---- */

struct table_shape {
    size_t rows, columns;
    size_t cells, head_cells;
    size_t inner; /* cells with a small table inside */
    bool nested, blocks, code, formulas;
};

static bool is_cell(lxb_tag_id_t tag)
{
    return tag == LXB_TAG_TD || tag == LXB_TAG_TH;
}

/* A table of a single cell is a frame around it. */
static bool is_frame(lxb_dom_node_t *table)
{
    size_t cells = 0;
    for (lxb_dom_node_t *node = table->first_child; node && cells < 2;
         node = dom_next(node, table, true)) {
        cells += is_cell(dom_tag(node));
    }
    return cells < 2;
}

/* Below one cell: what keeps it from being a line of text. */
static void look_at_cell(struct table_shape *shape, lxb_dom_node_t *cell)
{
    size_t paragraphs = 0;
    size_t text = 0;
    bool inner = false;
    for (lxb_dom_node_t *node = cell->first_child; node; node = dom_next(node, cell, true)) {
        lxb_tag_id_t tag = dom_tag(node);
        inner = inner || (tag == LXB_TAG_TABLE && !is_frame(node));
        paragraphs += tag == LXB_TAG_P || tag == LXB_TAG_UL || tag == LXB_TAG_BLOCKQUOTE;
        if (dom_heading_level(node) || tag == LXB_TAG_PRE || tag == LXB_TAG_FORM) {
            shape->blocks = true;
        }
        if (dom_is_text(node)) {
            size_t length;
            dom_text(node, &length);
            text += length;
        }
    }
    shape->inner += inner;
    shape->nested = shape->nested || (inner && text > LARGE_CELL);
    shape->blocks = shape->blocks || (paragraphs > 2 && text > 400) || text > 3000;
}

static lxb_dom_node_t *next_row(lxb_dom_node_t *row, lxb_dom_node_t *table)
{
    for (bool below = row == table;; below = true) {
        row = dom_next(row, table, below && dom_tag(row) != LXB_TAG_TR);
        /* Not into tables inside of cells. */
        while (row && (is_cell(dom_tag(row)) || (dom_tag(row) == LXB_TAG_TABLE))) {
            row = dom_next(row, table, false);
        }
        if (!row || dom_tag(row) == LXB_TAG_TR) {
            return row;
        }
    }
}

/* Whether the first cell of a row counts the lines of code in the second. */
static bool counts_lines(lxb_dom_node_t *cell)
{
    if (dom_holds_any(dom_class(cell), code_gutters)) {
        return true;
    }
    lxb_dom_node_t *next = dom_next_element(cell);
    return next && dom_find(next, LXB_TAG_PRE) && dom_find(cell, LXB_TAG_PRE) && code_counts(cell);
}

/* A cell stays whatever its names are: without it the rest would stand in the wrong columns. */
static bool is_shown_cell(const lxb_dom_node_t *node)
{
    return is_cell(dom_tag(node)) && !(node_marks(node) & NODE_HIDDEN);
}

/* The one cell of a row that is a heading over the rows below it; NULL for any other row. */
static lxb_dom_node_t *heading_in(const lxb_dom_node_t *row)
{
    lxb_dom_node_t *only = NULL;
    for (lxb_dom_node_t *cell = row->first_child; cell; cell = cell->next) {
        if (is_shown_cell(cell) && dom_has_text(cell)) {
            if (only) {
                return NULL;
            }
            only = cell;
        }
    }
    for (lxb_dom_node_t *node = only ? only->first_child : NULL; node;
         node = dom_next(node, only, true)) {
        if (dom_heading_level(node)) {
            return dom_find(only, LXB_TAG_TABLE) ? NULL : only;
        }
        if (dom_is_text(node) && dom_has_text(node)) {
            return NULL;
        }
    }
    return NULL;
}

static void measure(struct table_shape *shape, lxb_dom_node_t *table)
{
    for (lxb_dom_node_t *row = next_row(table, table); row; row = next_row(row, table)) {
        size_t columns = 0;
        if (node_is_left_out(row) || heading_in(row)) {
            continue;
        }
        for (lxb_dom_node_t *cell = row->first_child; cell; cell = cell->next) {
            if (!is_shown_cell(cell)) {
                continue;
            }
            columns++;
            shape->head_cells += dom_tag(cell) == LXB_TAG_TH;
            shape->code = shape->code || (columns == 1 && counts_lines(cell));
            look_at_cell(shape, cell);
        }
        shape->cells += columns;
        shape->rows += columns > 0;
        shape->columns = columns > shape->columns ? columns : shape->columns;
    }
}

static bool is_for_layout(lxb_dom_node_t *table, const struct table_shape *shape)
{
    const char *role = dom_attr(table, "role");
    if (role && (strcasecmp(role, "presentation") == 0 || strcasecmp(role, "none") == 0)) {
        return true;
    }
    /* Small tables in some cells are parts of what the cells say; in most, they are the page. */
    bool holds_tables =
        shape->nested || (shape->inner && (shape->inner * 3 > shape->cells || shape->rows < 3));
    return shape->rows < 2 || shape->columns < 2 || holds_tables ||
           (shape->blocks && !shape->head_cells);
}

/* A table that only sets formulas apart from their numbers. */
static bool sets_formulas(lxb_dom_node_t *table)
{
    static const char *const WORDS[] = {"equation", "eqn", "formula", NULL};
    return dom_holds_any(dom_class(table), WORDS);
}

/* ---- data ---- */

struct cell {
    const char *text;
    size_t rows_left; /* further rows that it spans */
};

static size_t span_of(const lxb_dom_node_t *cell, const char *name)
{
    const char *value = dom_attr(cell, name);
    long span = value ? strtol(value, NULL, 10) : 1;
    return span < 1 ? 1 : span > MOST_COLUMNS ? MOST_COLUMNS : (size_t)span;
}

/* One cell as a line, with pipes escaped. */
static const char *cell_text(struct writer *writer, lxb_dom_node_t *cell)
{
    struct aside aside;
    size_t length;
    aside_begin(writer, &aside, MODE_CELL);
    write_children(writer, cell);
    const char *text = aside_end(writer, &aside, &length);
    size_t pipes = 0;
    for (size_t i = 0; i < length; i++) {
        pipes += text[i] == '|';
    }
    char *escaped = pipes ? arena_alloc(writer->arena, length + pipes + 1) : NULL;
    if (!escaped) {
        return text;
    }
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '|') {
            escaped[used++] = '\\';
        }
        escaped[used++] = text[i];
    }
    escaped[used] = '\0';
    return escaped;
}

/* Puts one row into `cells`, with what spans into it; returns how many columns it has. */
static size_t fill_row(struct writer *writer, lxb_dom_node_t *row, struct cell *cells, size_t *last)
{
    size_t column = 0;
    *last = 0;
    for (lxb_dom_node_t *cell = row->first_child; cell; cell = cell->next) {
        if (!is_shown_cell(cell)) {
            continue;
        }
        while (column < MOST_COLUMNS && cells[column].rows_left) {
            cells[column++].rows_left--;
        }
        size_t columns = span_of(cell, "colspan");
        size_t rows = span_of(cell, "rowspan");
        const char *text = cell_text(writer, cell);
        for (size_t i = 0; i < columns && column < MOST_COLUMNS; i++) {
            cells[column++] = (struct cell){i == 0 ? text : "", rows - 1};
            *last = i == 0 ? column : *last;
        }
    }
    while (column < MOST_COLUMNS && cells[column].rows_left) {
        cells[column++].rows_left--;
        *last = column;
    }
    return column;
}

static void put_row(struct buf *out, const struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, "| ");
        buf_puts(out, cells[i].text);
        buf_puts(out, *cells[i].text ? " " : "");
    }
    buf_puts(out, "|\n");
}

static void put_rows(struct writer *writer, struct buf *rows)
{
    if (rows->length) {
        output_block(writer, rows->data, rows->length - 1);
    }
    buf_clear(rows);
}

static void write_data(struct writer *writer, lxb_dom_node_t *table)
{
    struct cell *cells = arena_zalloc(writer->arena, MOST_COLUMNS * sizeof *cells);
    struct buf out;
    size_t rows = 0, all = 0;
    size_t width = 0;
    buf_init(&out, writer->out->ceiling);
    for (lxb_dom_node_t *row = next_row(table, table); cells && row && all < MOST_ROWS;
         row = next_row(row, table), all++) {
        if (node_is_left_out(row)) {
            continue;
        }
        lxb_dom_node_t *heading = heading_in(row);
        if (heading) {
            /* What is below it is a table of its own. */
            put_rows(writer, &out);
            memset(cells, 0, MOST_COLUMNS * sizeof *cells);
            rows = 0;
            write_block(writer, heading);
            continue;
        }
        size_t last;
        size_t columns = fill_row(writer, row, cells, &last);
        bool filled = false;
        for (size_t i = 0; i < columns; i++) {
            filled = filled || *cells[i].text;
        }
        if (!filled) {
            continue;
        }
        /* Cells that a span left at the end say nothing; the head must be as wide as the table. */
        width = columns > width ? columns : width;
        put_row(&out, cells, rows == 0 ? columns : last);
        if (rows++ == 0) {
            for (size_t i = 0; i < columns; i++) {
                buf_puts(&out, "| --- ");
            }
            buf_puts(&out, "|\n");
        }
    }
    put_rows(writer, &out);
    buf_done(&out);
}

/* ---- the rest ---- */

static void write_captions(struct writer *writer, lxb_dom_node_t *table)
{
    for (lxb_dom_node_t *child = table->first_child; child; child = child->next) {
        if (dom_tag(child) == LXB_TAG_CAPTION) {
            write_node(writer, child);
            flush_block(writer);
        }
    }
}

/* A table in a cell: a row is a line, its cells are words of it. */
static void write_inner(struct writer *writer, lxb_dom_node_t *table)
{
    for (lxb_dom_node_t *row = next_row(table, table); row; row = next_row(row, table)) {
        flush_block(writer);
        for (lxb_dom_node_t *cell = row->first_child; cell && !node_is_left_out(row);
             cell = cell->next) {
            if (is_shown_cell(cell)) {
                writer->space = true;
                write_children(writer, cell);
            }
        }
    }
    flush_block(writer);
}

/* A table of one row with a few words in each cell: a name and its value. */
static bool is_line(lxb_dom_node_t *table, const struct table_shape *shape)
{
    char text[LONGEST_LINE + 8];
    if (shape->rows != 1 || shape->columns < 2 || shape->blocks || sets_formulas(table) ||
        dom_collect(table, text, sizeof text) > LONGEST_LINE) {
        return false;
    }
    lxb_dom_node_t *row = next_row(table, table);
    for (lxb_dom_node_t *cell = row ? dom_first_element(row) : NULL; cell;
         cell = dom_next_element(cell)) {
        bool plain = !node_is_left_out(cell) && !dom_holds_block(cell) && dom_has_text(cell);
        if (is_shown_cell(cell) && !plain) {
            return false;
        }
    }
    return row && !dom_find(table, LXB_TAG_IMG);
}

void write_table(struct writer *writer, lxb_dom_node_t *table)
{
    flush_block(writer);
    if (writer->mode == MODE_CELL) {
        write_inner(writer, table);
        return;
    }
    struct table_shape shape = {0};
    if (writer->mode == MODE_BLOCKS) {
        measure(&shape, table);
    }
    if (shape.code) {
        write_code_block(writer, table);
        return;
    }
    if (writer->mode == MODE_BLOCKS && is_line(table, &shape)) {
        write_captions(writer, table);
        write_inner(writer, table);
        return;
    }
    if (writer->mode != MODE_BLOCKS || is_for_layout(table, &shape)) {
        bool force = writer->force_display;
        writer->force_display = force || sets_formulas(table);
        write_children(writer, table);
        writer->force_display = force;
        flush_block(writer);
        return;
    }
    write_captions(writer, table);
    write_data(writer, table);
}
