/* Widths of columns, and rows set in them. */
#include "cli/table.h"

#include "cli/terminal.h"
#include "text/columns.h"

#include <stdbool.h>
#include <string.h>

#define GAP         2  /* columns of the terminal between two columns of the table */
#define LEAST_CELLS 12 /* what gives way keeps as many */

struct table_row {
    struct table_row *next;
    const char *cells[TABLE_MOST_COLUMNS];
};

struct table {
    struct arena *arena;
    const struct table_column *columns;
    size_t count;
    struct table_row *first;
    struct table_row **last;
    bool failed;
};

struct table *table_new(struct arena *arena, const struct table_column *columns, size_t count)
{
    struct table *table = arena_zalloc(arena, sizeof *table);
    if (table) {
        *table = (struct table){.arena = arena, .columns = columns, .count = count};
        table->last = &table->first;
    }
    return table;
}

void table_add(struct table *table, const char *const *cells)
{
    struct table_row *row = table ? arena_zalloc(table->arena, sizeof *row) : NULL;
    if (row) {
        memcpy(row->cells, cells, table->count * sizeof *cells);
        *table->last = row;
        table->last = &row->next;
    } else if (table) {
        table->failed = true;
    }
}

/* ---- widths ---- */

static size_t total_of(const size_t *widths, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += widths[i] + (total && widths[i] ? GAP : 0);
    }
    return total;
}

static void widen(size_t *width, const char *text)
{
    size_t columns = text ? text_columns(text, strlen(text)) : 0;
    *width = columns > *width ? columns : *width;
}

/* The widest column that may give way; `count`: none. */
static size_t find_widest(const struct table *table, const size_t *widths)
{
    size_t widest = table->count;
    for (size_t i = 0; i < table->count; i++) {
        enum table_kind kind = table->columns[i].kind;
        bool gives = (kind == COLUMN_CUT || kind == COLUMN_WRAPPED) && widths[i] > LEAST_CELLS;
        if (gives && (widest == table->count || widths[i] > widths[widest])) {
            widest = i;
        }
    }
    return widest;
}

/* A width of 0 leaves a column out. */
static void find_widths(const struct table *table, size_t most, size_t *widths)
{
    for (size_t i = 0; i < table->count; i++) {
        widths[i] = 0;
        widen(&widths[i], table->columns[i].title);
        for (const struct table_row *row = table->first; row; row = row->next) {
            widen(&widths[i], row->cells[i]);
        }
    }
    for (size_t i = 0; most && i < table->count && total_of(widths, table->count) > most; i++) {
        widths[i] = table->columns[i].kind == COLUMN_SPARE ? 0 : widths[i];
    }
    size_t widest;
    while (most && total_of(widths, table->count) > most &&
           (widest = find_widest(table, widths)) < table->count) {
        widths[widest]--;
    }
}

/* ---- rows ---- */

static void put_cell(struct buf *out, const char *text, enum table_kind kind, size_t width,
                     bool is_last)
{
    size_t columns = text_columns(text, strlen(text));
    size_t blanks = columns < width ? width - columns : 0;
    if (kind == COLUMN_RIGHT) {
        buf_printf(out, "%*s", (int)blanks, "");
    }
    terminal_put(out, text, strlen(text), width);
    if (kind != COLUMN_RIGHT && !is_last) {
        buf_printf(out, "%*s", (int)blanks, "");
    }
}

static void put_row(struct buf *out, const struct table *table, const size_t *widths,
                    const char *const *cells)
{
    size_t column = 0;
    for (size_t i = 0; i < table->count; i++) {
        bool is_last = i + 1 == table->count;
        const char *text = cells[i] ? cells[i] : "";
        if (!widths[i]) {
            continue;
        }
        if (column) {
            buf_printf(out, "%*s", GAP, "");
            column += GAP;
        }
        if (table->columns[i].kind == COLUMN_WRAPPED) {
            terminal_put_wrapped(out, column, column, column + widths[i], text);
            return;
        }
        put_cell(out, text, table->columns[i].kind, widths[i], is_last);
        column += widths[i];
    }
    while (out->length && out->data[out->length - 1] == ' ') {
        out->data[--out->length] = '\0';
    }
    buf_putc(out, '\n');
}

int table_put(struct buf *out, const struct table *table, FILE *file)
{
    size_t widths[TABLE_MOST_COLUMNS];
    if (!table || table->failed) {
        return ERR_NOMEM;
    }
    find_widths(table, terminal_width(file), widths);
    if (table->columns[0].title) {
        const char *titles[TABLE_MOST_COLUMNS] = {NULL};
        for (size_t i = 0; i < table->count; i++) {
            titles[i] = table->columns[i].title;
        }
        put_row(out, table, widths, titles);
    }
    for (const struct table_row *row = table->first; row; row = row->next) {
        put_row(out, table, widths, row->cells);
    }
    return OK;
}
