/* XLSX: each sheet under its name, as one table: values as they are shown, without rows and columns
 * that are empty. What a formula gave when it was saved is its value. */
#include "core/limits.h"
#include "documents/formats.h"
#include "documents/number_format.h"

#include <stdlib.h>

#define MOST_ROW    1048576
#define MOST_COLUMN 16384

struct sheet_cell {
    uint32_t row, column; /* from 1 */
    const char *text;     /* in the arena */
    const char *link;     /* or NULL */
};

/* A format that the workbook has made. */
struct own_format {
    long id;
    const char *format;
};

struct xlsx {
    struct package *package;
    struct xml_reader xml;
    const char **strings; /* that cells share */
    size_t string_count, string_capacity;
    struct own_format *formats;
    size_t format_count, format_capacity;
    const char **styles; /* the format of each */
    size_t style_count, style_capacity;
    bool from_1904;
    struct sheet_cell *cells; /* of the sheet that is being read */
    size_t count, capacity;
    size_t all; /* cells of all sheets so far */
    struct buf *out;
};

/* ---- what cells share ---- */

/* The text of an item, without what stands above letters to tell how they are read. */
static bool read_string(struct xlsx *xlsx, struct buf *text)
{
    size_t depth = xlsx->xml.depth;
    enum xml_event event;
    bool whole = true;
    while ((event = xml_inside(&xlsx->xml, depth)) != XML_DONE && event != XML_BROKEN && whole) {
        if (event == XML_START && slice_is(xml_local(&xlsx->xml), "rPh")) {
            whole = xml_take(&xlsx->xml, NULL, NULL);
        } else if (event == XML_START && slice_is(xml_local(&xlsx->xml), "t")) {
            whole = xml_take(&xlsx->xml, text, NULL);
        }
    }
    return whole && event == XML_DONE;
}

/* OK or ERR_NOMEM. */
static int keep_text(struct xlsx *xlsx, const struct buf *text, const char **kept)
{
    *kept = arena_strndup(xlsx->package->arena, text->data ? text->data : "", text->length);
    return *kept ? OK : ERR_NOMEM;
}

static int read_strings(struct xlsx *xlsx, const char *part)
{
    struct arena *arena = xlsx->package->arena;
    int status = package_xml(xlsx->package, part, &xlsx->xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event;
         status == OK && (event = xml_next(&xlsx->xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event != XML_START || !slice_is(xml_local(&xlsx->xml), "si")) {
            continue;
        }
        struct buf text;
        buf_init(&text, LIMIT_DOCUMENT_BYTES);
        bool whole = read_string(xlsx, &text);
        xlsx->strings = arena_grow(arena, xlsx->strings, xlsx->string_count, &xlsx->string_capacity,
                                   sizeof *xlsx->strings);
        status = xlsx->strings && buf_error(&text) != ERR_NOMEM
                     ? keep_text(xlsx, &text, &xlsx->strings[xlsx->string_count])
                     : ERR_NOMEM;
        xlsx->string_count += status == OK;
        buf_done(&text);
        if (!whole) {
            break;
        }
    }
    return status;
}

static const char *format_of(const struct xlsx *xlsx, long id)
{
    for (size_t i = 0; i < xlsx->format_count; i++) {
        if (xlsx->formats[i].id == id) {
            return xlsx->formats[i].format;
        }
    }
    return number_format_known(id);
}

static int add_format(struct xlsx *xlsx)
{
    struct package *package = xlsx->package;
    const char *format = package_attribute(package, &xlsx->xml, "formatCode");
    if (!format || xlsx->format_count == LIMIT_SHEET_FORMATS) {
        return OK;
    }
    xlsx->formats = arena_grow(package->arena, xlsx->formats, xlsx->format_count,
                               &xlsx->format_capacity, sizeof *xlsx->formats);
    if (!xlsx->formats) {
        return ERR_NOMEM;
    }
    xlsx->formats[xlsx->format_count++] = (struct own_format){
        .id = package_number(&xlsx->xml, "numFmtId", 0, INT32_MAX, -1), .format = format};
    return OK;
}

static int add_style(struct xlsx *xlsx)
{
    if (xlsx->style_count == LIMIT_DOCUMENT_STYLES) {
        return OK;
    }
    xlsx->styles = arena_grow(xlsx->package->arena, xlsx->styles, xlsx->style_count,
                              &xlsx->style_capacity, sizeof *xlsx->styles);
    if (!xlsx->styles) {
        return ERR_NOMEM;
    }
    xlsx->styles[xlsx->style_count++] =
        format_of(xlsx, package_number(&xlsx->xml, "numFmtId", 0, INT32_MAX, 0));
    return OK;
}

/* Formats stand before the styles that use them. */
static int read_styles(struct xlsx *xlsx, const char *part)
{
    bool cells = false;
    int status = package_xml(xlsx->package, part, &xlsx->xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event;
         status == OK && (event = xml_next(&xlsx->xml)) != XML_DONE && event != XML_BROKEN;) {
        struct slice name = xml_local(&xlsx->xml);
        if (slice_is(name, "cellXfs")) {
            cells = event == XML_START;
        } else if (event == XML_START && slice_is(name, "numFmt")) {
            status = add_format(xlsx);
        } else if (event == XML_START && cells && slice_is(name, "xf")) {
            status = add_style(xlsx);
        }
    }
    return status;
}

/* ---- cells ---- */

/* "BC23" */
static bool read_reference(struct slice reference, uint32_t *row, uint32_t *column)
{
    size_t i = 0;
    uint32_t letters = 0;
    uint32_t digits = 0;
    for (; i < reference.length && reference.data[i] >= 'A' && reference.data[i] <= 'Z'; i++) {
        letters = letters * 26 + (uint32_t)(reference.data[i] - 'A' + 1);
        if (letters > MOST_COLUMN) {
            return false;
        }
    }
    for (; i < reference.length && reference.data[i] >= '0' && reference.data[i] <= '9'; i++) {
        digits = digits * 10 + (uint32_t)(reference.data[i] - '0');
        if (digits > MOST_ROW) {
            return false;
        }
    }
    *row = digits;
    *column = letters;
    return letters && digits;
}

/* A cell's value as it is shown. `type` may be empty. */
static void put_value(struct xlsx *xlsx, struct buf *out, struct slice type, long style,
                      const char *value)
{
    char *end;
    if (slice_is(type, "s")) {
        unsigned long index = strtoul(value, &end, 10);
        buf_puts(out, end != value && index < xlsx->string_count ? xlsx->strings[index] : "");
    } else if (slice_is(type, "b")) {
        buf_puts(out, *value == '1' ? "TRUE" : "FALSE");
    } else if (type.length && !slice_is(type, "n")) {
        buf_puts(out, value);
    } else {
        double number = strtod(value, &end);
        bool known = style >= 0 && (size_t)style < xlsx->style_count;
        if (end == value) {
            buf_puts(out, value);
        } else {
            number_format_write(out, known ? xlsx->styles[style] : "General", number,
                                xlsx->from_1904);
        }
    }
}

/* To the end of the cell. False when the sheet is broken. */
static bool read_cell(struct xlsx *xlsx, struct buf *shown)
{
    struct slice type = {"", 0};
    long style = package_number(&xlsx->xml, "s", 0, LIMIT_DOCUMENT_STYLES, -1);
    size_t depth = xlsx->xml.depth;
    bool whole = true;
    enum xml_event event = XML_START;
    (void)xml_attribute(&xlsx->xml, "t", &type);
    while (whole && (event = xml_inside(&xlsx->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(&xlsx->xml), "is")) {
            whole = read_string(xlsx, shown);
        } else if (event == XML_START && slice_is(xml_local(&xlsx->xml), "v")) {
            struct buf value;
            buf_init(&value, LIMIT_DOCUMENT_BYTES);
            whole = xml_take(&xlsx->xml, &value, NULL);
            if (value.length) {
                put_value(xlsx, shown, type, style, value.data);
            }
            buf_done(&value);
        }
    }
    return whole && event == XML_DONE;
}

/* Cells and rows without a reference follow those before them. */
static int add_cell(struct xlsx *xlsx, uint32_t row, uint32_t column, struct buf *shown)
{
    if (shown->length == 0 || buf_error(shown) == ERR_LIMIT) {
        return OK;
    }
    if (xlsx->all == LIMIT_SHEET_CELLS) {
        xlsx->package->cut = true;
        return ERR_LIMIT;
    }
    xlsx->cells = arena_grow(xlsx->package->arena, xlsx->cells, xlsx->count, &xlsx->capacity,
                             sizeof *xlsx->cells);
    if (!xlsx->cells) {
        return ERR_NOMEM;
    }
    xlsx->cells[xlsx->count] = (struct sheet_cell){.row = row, .column = column};
    int status = keep_text(xlsx, shown, &xlsx->cells[xlsx->count].text);
    xlsx->count += status == OK;
    xlsx->all += status == OK;
    return status;
}

static int by_place(const void *left, const void *right)
{
    const struct sheet_cell *a = left;
    const struct sheet_cell *b = right;
    return a->row != b->row ? (a->row > b->row) - (a->row < b->row)
                            : (a->column > b->column) - (a->column < b->column);
}

/* Links stand behind the cells, which are in their order by then. */
static void add_link(struct xlsx *xlsx, const struct relations *relations)
{
    struct slice reference;
    struct sheet_cell key = {0};
    const char *id = package_attribute(xlsx->package, &xlsx->xml, "id");
    const struct relation *relation = id ? relation_find(relations, id, NULL) : NULL;
    if (!relation || !relation->external || !xlsx->count ||
        !xml_attribute(&xlsx->xml, "ref", &reference) ||
        !read_reference(reference, &key.row, &key.column)) {
        return;
    }
    struct sheet_cell *cell = bsearch(&key, xlsx->cells, xlsx->count, sizeof key, by_place);
    if (cell) {
        cell->link = relation->target;
    }
}

static int read_sheet(struct xlsx *xlsx, const char *part)
{
    struct relations relations;
    uint32_t row = 0;
    uint32_t column = 0;
    int status = package_relations(xlsx->package, part, &relations);
    status = status == OK ? package_xml(xlsx->package, part, &xlsx->xml) : status;
    xlsx->count = xlsx->capacity = 0;
    xlsx->cells = NULL;
    enum xml_event event = XML_TEXT;
    while (status == OK && (event = xml_next(&xlsx->xml)) != XML_DONE && event != XML_BROKEN) {
        struct slice name = xml_local(&xlsx->xml);
        struct slice reference;
        if (event == XML_END && slice_is(name, "sheetData") && xlsx->count) {
            qsort(xlsx->cells, xlsx->count, sizeof *xlsx->cells, by_place);
        }
        if (event != XML_START) {
            continue;
        }
        if (slice_is(name, "row")) {
            row = (uint32_t)package_number(&xlsx->xml, "r", 1, MOST_ROW, (long)row + 1);
            column = 0;
        } else if (slice_is(name, "c")) {
            struct buf shown;
            buf_init(&shown, LIMIT_DOCUMENT_BYTES);
            column += 1;
            if (xml_attribute(&xlsx->xml, "r", &reference)) {
                (void)read_reference(reference, &row, &column);
            }
            bool whole = read_cell(xlsx, &shown);
            status = add_cell(xlsx, row, column, &shown);
            buf_done(&shown);
            xlsx->package->cut = xlsx->package->cut || !whole;
        } else if (slice_is(name, "hyperlink")) {
            add_link(xlsx, &relations);
        }
    }
    xlsx->package->cut = xlsx->package->cut || event == XML_BROKEN;
    return status == ERR_LIMIT ? OK : status;
}

/* ---- as a table ---- */

/* Text of a cell: on one line, and no part of it is markup. */
static void put_text(struct buf *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        bool line = *at == '\n';
        if (strchr("\\`*[|<", *at) || (*at == '_' && (at == text || at[-1] == ' '))) {
            buf_putc(out, '\\');
        }
        if (line) {
            buf_puts(out, "<br>");
        } else {
            buf_putc(out, (unsigned char)*at < ' ' ? ' ' : *at);
        }
    }
}

static void put_cell(struct buf *out, const struct sheet_cell *cell)
{
    buf_puts(out, cell->link ? "[" : "");
    put_text(out, cell->text);
    if (cell->link) {
        buf_puts(out, "](");
        for (const char *at = cell->link; *at; at++) {
            if ((unsigned char)*at <= ' ' || strchr("()<>|", *at)) {
                buf_printf(out, "%%%02X", (unsigned char)*at);
            } else {
                buf_putc(out, *at);
            }
        }
        buf_putc(out, ')');
    }
}

/* The columns that have anything in them, in their order; how many. */
static size_t find_columns(struct xlsx *xlsx, uint16_t *columns)
{
    unsigned char used[MOST_COLUMN + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < xlsx->count; i++) {
        used[xlsx->cells[i].column] = 1;
    }
    for (uint32_t column = 1; column <= MOST_COLUMN; column++) {
        if (used[column] && count == LIMIT_SHEET_COLUMNS) {
            xlsx->package->cut = true;
            break;
        }
        if (used[column]) {
            columns[count++] = (uint16_t)column;
        }
    }
    return count;
}

static void put_table(struct xlsx *xlsx)
{
    uint16_t columns[LIMIT_SHEET_COLUMNS];
    size_t count = find_columns(xlsx, columns);
    bool head = true;
    for (size_t i = 0; i < xlsx->count && buf_error(xlsx->out) == OK;) {
        uint32_t row = xlsx->cells[i].row;
        buf_putc(xlsx->out, '|');
        for (size_t place = 0; place < count; place++) {
            while (i < xlsx->count && xlsx->cells[i].row == row &&
                   xlsx->cells[i].column < columns[place]) {
                i++; /* a second one in the same place */
            }
            buf_putc(xlsx->out, ' ');
            if (i < xlsx->count && xlsx->cells[i].row == row &&
                xlsx->cells[i].column == columns[place]) {
                put_cell(xlsx->out, &xlsx->cells[i++]);
                buf_putc(xlsx->out, ' ');
            }
            buf_putc(xlsx->out, '|');
        }
        while (i < xlsx->count && xlsx->cells[i].row == row) {
            i++;
        }
        buf_putc(xlsx->out, '\n');
        for (size_t place = 0; head && place < count; place++) {
            buf_puts(xlsx->out, place + 1 < count ? "| --- " : "| --- |\n");
        }
        head = false;
    }
}

static int write_sheet(struct xlsx *xlsx, const char *part, const char *name, bool hidden)
{
    int status = read_sheet(xlsx, part);
    if (status != OK) {
        xlsx->package->cut = xlsx->package->cut || status == ERR_NOTFOUND;
        return status == ERR_NOTFOUND ? OK : status;
    }
    buf_puts(xlsx->out, xlsx->out->length ? "\n## " : "## ");
    put_text(xlsx->out, name);
    buf_puts(xlsx->out, hidden ? " (hidden)\n\n" : "\n\n");
    if (xlsx->count) {
        put_table(xlsx);
    } else {
        buf_puts(xlsx->out, "_The sheet is empty._\n");
    }
    return buf_error(xlsx->out) == ERR_NOMEM ? ERR_NOMEM : OK;
}

/* ---- the workbook ---- */

static int write_sheets(struct xlsx *xlsx, const char *part, const struct relations *relations)
{
    struct package *package = xlsx->package;
    struct xml_reader xml;
    size_t sheets = 0;
    int status = package_xml(package, part, &xml);
    for (enum xml_event event; status == OK && (event = xml_next(&xml)) != XML_DONE;) {
        if (event == XML_BROKEN || sheets == LIMIT_DOCUMENT_SLIDES) {
            package->cut = true;
            break;
        }
        struct slice value;
        if (event == XML_START && slice_is(xml_local(&xml), "workbookPr")) {
            xlsx->from_1904 = xml_attribute(&xml, "date1904", &value) &&
                              (slice_is(value, "1") || slice_is(value, "true"));
        }
        if (event != XML_START || !slice_is(xml_local(&xml), "sheet")) {
            continue;
        }
        const char *id = package_attribute(package, &xml, "id");
        const char *name = package_attribute(package, &xml, "name");
        const struct relation *sheet = id ? relation_find(relations, id, NULL) : NULL;
        bool hidden = xml_attribute(&xml, "state", &value) && !slice_is(value, "visible");
        if (sheet && sheet->target && !sheet->external) {
            sheets++;
            status = write_sheet(xlsx, sheet->target, name ? name : "Sheet", hidden);
        }
    }
    return status;
}

int xlsx_write(struct package *package, const char *part, struct document *document,
               struct buf *out)
{
    struct relations relations;
    struct xlsx *xlsx = arena_zalloc(package->arena, sizeof *xlsx);
    int status = xlsx ? package_properties(package, "docProps/core.xml", document) : ERR_NOMEM;
    status = status == OK ? package_relations(package, part, &relations) : status;
    if (status != OK) {
        return status;
    }
    xlsx->package = package;
    xlsx->out = out;
    const struct relation *strings = relation_find(&relations, NULL, "sharedStrings");
    const struct relation *styles = relation_find(&relations, NULL, "styles");
    status = strings ? read_strings(xlsx, strings->target) : OK;
    status = status == OK && styles ? read_styles(xlsx, styles->target) : status;
    return status == OK ? write_sheets(xlsx, part, &relations) : status;
}
