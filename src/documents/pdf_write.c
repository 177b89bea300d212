/* Lines of a PDF as blocks: which of them make one paragraph, which are items of a list and how
 * deep, which are code; words that were parted at a line's end are put together. */
#include "core/limits.h"
#include "documents/markup.h"
#include "documents/pdf_lines.h"
#include "html/compose.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEW_PARAGRAPH 0.28 /* more space above a line than between lines, in sizes */
#define INDENT_LEAST  0.7  /* of a first line, in sizes */
#define INDENT_MOST   5.0
#define NO_SPACE      0.08 /* between words that are one, in sizes */
#define SAME_LEFT     3.0  /* points */
#define LISTS_DEEP    6
#define SIZE_STEPS    200 /* half points */
#define CODE_INDENT   200 /* blanks at the beginning of a line of code, or between its words */

enum pdf_block { NOTHING, PARAGRAPH, ITEM, MORE_OF_ITEM, NOTE };

struct pdf_writer {
    struct arena *arena;
    const struct pdf_lines *lines;
    struct pdf_style style;
    struct pdf_notes notes; /* of the page that is being written */
    struct markup text, apart, endnotes;
    struct markup *to;    /* the text, or the note that is being read */
    enum pdf_block block; /* that is being gathered */
    const struct pdf_line *before;
    const char *note; /* its name */
    size_t page;
    long notes_before;        /* the largest number of a note of earlier pages */
    double marks[LISTS_DEEP]; /* the left edges of the marks of the lists that are open, */
    long numbers[LISTS_DEEP]; /* and the numbers of their last items */
    size_t depth;
    struct {
        bool ordered;
        long number;
        double left; /* of its text */
    } item;          /* the last one */
};

/* ---- words ---- */

static bool is_wide(uint32_t point)
{
    return (point >= 0x2E80 && point <= 0x9FFF) || (point >= 0xAC00 && point <= 0xD7AF) ||
           (point >= 0xF900 && point <= 0xFAFF) || (point >= 0xFF00 && point <= 0xFFEF) ||
           (point >= 0x20000 && point <= 0x3FFFF);
}

static uint32_t first_point(const struct pdf_word *word)
{
    const char *at = word->text;
    return text_next(&at, word->text + word->length);
}

static uint32_t last_point(const struct pdf_word *word)
{
    const char *at = word->text + word->length;
    do {
        at--;
    } while (at > word->text && ((unsigned char)*at & 0xC0) == 0x80);
    return text_next(&at, word->text + word->length);
}

static bool is_lower(uint32_t point)
{
    return (point >= 'a' && point <= 'z') || (point >= 0xDF && point <= 0x17F && point % 2) ||
           (point >= 0xE0 && point <= 0xFF) || (point >= 0x430 && point <= 0x45F);
}

static bool is_dots(const struct pdf_word *word)
{
    return word->text[strspn(word->text, ".")] == '\0';
}

static unsigned formats_of(const struct pdf_writer *writer, const struct pdf_word *word, bool plain)
{
    unsigned formats = 0;
    if (!plain) {
        formats |= word->flags & PDF_BOLD && !writer->style.bold ? MARKUP_BOLD : 0;
        formats |= word->flags & PDF_ITALIC ? MARKUP_ITALIC : 0;
    }
    if (word->flags & PDF_MONO && !writer->lines->mono) {
        formats = MARKUP_CODE;
    }
    return word->flags & PDF_RAISED ? formats | MARKUP_SUPER : formats;
}

/* Notes are counted page by page in some documents: a name that was there before gets its page. */
static const char *note_name(const struct pdf_writer *writer, const char *sign)
{
    long number = strtol(sign, NULL, 10);
    const char *name = number > writer->notes_before
                           ? sign
                           : arena_printf(writer->arena, "%s-p%zu", sign, writer->page + 1);
    return name ? name : sign;
}

/* Whether the last letter of what was gathered is the hyphen of a word that was parted. */
static bool is_parted(const struct markup *to, const struct pdf_word *before,
                      const struct pdf_word *word)
{
    size_t length = to->line.length;
    if (before->length < 2 || length == 0 || to->line.data[length - 1] != '-' ||
        !is_lower(first_point(word))) {
        return false;
    }
    struct pdf_word stem = *before;
    stem.length--;
    return is_lower(last_point(&stem));
}

/* What stands between two words. */
static void put_space(struct pdf_writer *writer, const struct pdf_word *before,
                      const struct pdf_word *word, bool same_line, unsigned formats)
{
    struct markup *to = writer->to;
    if (!same_line && is_parted(to, before, word)) {
        to->line.length--;
        return;
    }
    bool near = same_line && word->left - before->right < NO_SPACE * word->size &&
                word->left > before->left;
    bool wide = !same_line && is_wide(last_point(before)) && is_wide(first_point(word));
    bool hyphen = !same_line && before->length > 1 && last_point(before) == '-' &&
                  is_lower(first_point(word));
    if (!near && !wide && !hyphen) {
        to->wanted = to->written & formats;
        markup_plain(to, " ");
    }
}

/* Appends words. `before` is the word that the paragraph ends with so far, or NULL. */
static void put_words(struct pdf_writer *writer, struct pdf_word **words, size_t count,
                      const struct pdf_word *before, bool plain)
{
    struct markup *to = writer->to;
    bool same_line = false;
    size_t leader = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pdf_word *word = words[i];
        bool dots =
            is_dots(word) &&
            (word->length > 3 || (i + 2 < count && is_dots(words[i + 1]) && is_dots(words[i + 2])));
        if (leader && is_dots(word)) {
            continue;
        }
        leader = dots;
        unsigned formats = formats_of(writer, word, plain);
        if (to->link && (!word->link || !before->link || strcmp(word->link, before->link) != 0)) {
            markup_link_end(to);
        }
        if (before) {
            put_space(writer, before, word, same_line, formats);
        }
        if (word->link && !to->link) {
            markup_link(to, word->link);
        }
        to->wanted = formats;
        if (!plain && writer->to == &writer->text && pdf_is_reference(&writer->notes, word)) {
            markup_reference(to, "footnote", note_name(writer, word->text));
        } else {
            markup_plain(to, dots ? "…" : word->text);
        }
        before = word;
        same_line = true;
    }
    to->wanted = 0;
}

/* ---- blocks ---- */

/* Ends the block that is being gathered. */
static void flush(struct pdf_writer *writer)
{
    struct markup *text = &writer->text;
    switch (writer->block) {
    case NOTHING:
        break;
    case PARAGRAPH:
        markup_paragraph(text);
        break;
    case ITEM:
        markup_item(text, (long)writer->depth, writer->item.ordered, writer->item.number);
        break;
    case MORE_OF_ITEM:
        markup_continue(text);
        break;
    case NOTE:
        markup_note(&writer->endnotes, "footnote", writer->note, &writer->apart);
        break;
    }
    writer->to = text;
    writer->block = NOTHING;
}

static const struct pdf_word *last_word(const struct pdf_line *line)
{
    return line->words[line->count - 1];
}

static double spacing(const struct pdf_line *before, const struct pdf_line *line)
{
    return (line->bottom - before->bottom) / fmax(line->size, 1);
}

static bool same_size(const struct pdf_line *a, const struct pdf_line *b)
{
    return fabs(a->size - b->size) < 0.12 * fmax(a->size, b->size);
}

static bool has_leader(const struct pdf_line *line)
{
    size_t dots = 0;
    for (size_t i = 0; i < line->count; i++) {
        dots = is_dots(line->words[i]) ? dots + line->words[i]->length : 0;
        if (dots > 3) {
            return true;
        }
    }
    return false;
}

/* Whether the line follows right below the one before. */
static bool is_below(const struct pdf_writer *writer, const struct pdf_line *before,
                     const struct pdf_line *line)
{
    double space = spacing(before, line);
    return before->page == line->page && before->column == line->column && space > 0 &&
           space < writer->style.spacing + NEW_PARAGRAPH;
}

/* Whether the sentence that is being gathered is not finished, and the line, at the top of another
 * column or page, goes on with it. */
static bool goes_on(const struct pdf_line *before, const struct pdf_line *line)
{
    bool elsewhere = before->page != line->page || before->column != line->column;
    uint32_t last = last_point(last_word(before));
    return elsewhere && same_size(before, line) &&
           !strchr(".!?:;", last < 0x80 ? (int)last : '.') &&
           (is_lower(first_point(line->words[0])) || last == '-');
}

/* Whether a line that is not full ends a paragraph, though the next follows closely: its end is far
 * from the right edge, so that the next line's first word would have had room. */
static bool ends_early(const struct pdf_line *before, const struct pdf_line *line)
{
    const struct pdf_word *next = line->words[0];
    double room = before->column_right - before->right;
    bool done =
        strchr(".!?:", last_point(last_word(before)) < 0x80 ? (int)last_point(last_word(before))
                                                            : 'x') != NULL;
    return done && room > 2 * (next->right - next->left) + 4 * line->size &&
           line->right - line->left > 0.5 * (line->column_right - line->column_left);
}

static bool begins_paragraph(const struct pdf_writer *writer, const struct pdf_line *line)
{
    const struct pdf_line *before = writer->before;
    if (writer->block == NOTHING || !before) {
        return true;
    }
    if (goes_on(before, line)) {
        return false;
    }
    if (!is_below(writer, before, line) || !same_size(before, line) || has_leader(before) ||
        has_leader(line)) {
        return true;
    }
    if (writer->block == ITEM || writer->block == MORE_OF_ITEM) {
        return fabs(line->left - writer->item.left) > line->size / 2;
    }
    double indent = line->left - before->left;
    bool indented =
        indent > INDENT_LEAST * line->size && indent < INDENT_MOST * line->size &&
        line->right > line->column_left + 0.6 * (line->column_right - line->column_left) &&
        before->left < before->column_left + INDENT_LEAST * line->size / 2;
    return writer->block != NOTE && (indented || ends_early(before, line));
}

/* ---- lists ---- */

/* The number of a mark such as "3." or "(3)"; -1 for a bullet or a letter. */
static long number_of_mark(const struct pdf_word *mark)
{
    const char *text = mark->text + (*mark->text == '(');
    return *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

static bool is_bullet(const struct pdf_word *mark)
{
    unsigned char c = (unsigned char)*mark->text;
    return c >= 0x80 || c == '-' || c == '*' || (c == 'o' && mark->length == 1);
}

/* Whether a line begins an item: with a mark, apart from a line that could go on in a sentence. */
static bool begins_item(const struct pdf_writer *writer, const struct pdf_line *line)
{
    const struct pdf_word *mark = line->words[0];
    if (!pdf_is_mark(mark) || (line->count == 1 && !is_bullet(mark))) {
        return false;
    }
    if (begins_paragraph(writer, line) || is_bullet(mark)) {
        return true;
    }
    bool next = writer->block == ITEM && writer->item.ordered &&
                number_of_mark(mark) == writer->item.number + 1;
    return next || number_of_mark(mark) == 1;
}

static void begin_item(struct pdf_writer *writer, const struct pdf_line *line)
{
    const struct pdf_word *mark = line->words[0];
    bool in_list = writer->text.depth > 0 || writer->block == ITEM;
    flush(writer);
    writer->depth = in_list ? writer->depth : 0;
    while (writer->depth > 0 && mark->left < writer->marks[writer->depth - 1] - SAME_LEFT) {
        writer->depth--;
    }
    bool same = writer->depth > 0 && mark->left < writer->marks[writer->depth - 1] + SAME_LEFT;
    if (!same && writer->depth < LISTS_DEEP) {
        writer->marks[writer->depth++] = mark->left;
    }
    writer->item.number = number_of_mark(mark);
    long *number = &writer->numbers[writer->depth - 1];
    if (same && writer->item.number >= 0 && writer->item.number != *number + 1) {
        markup_tags(&writer->text, ""); /* a list in Markdown counts by itself */
    }
    *number = writer->item.number;
    writer->item.ordered = writer->item.number >= 0;
    writer->item.left = line->words[line->count > 1]->left;
    writer->block = ITEM;
    bool kept = !is_bullet(mark) && !writer->item.ordered; /* "a)" has no mark in Markdown */
    put_words(writer, line->words + !kept, line->count - !kept, NULL, false);
}

/* ---- code ---- */

static double width_of_letter(const struct pdf_line *line)
{
    const struct pdf_word *word = line->words[0];
    size_t letters = text_count(word->text, word->length);
    double width = (word->right - word->left) / (double)(letters ? letters : 1);
    return width > 1 ? width : 1;
}

static void put_blanks(struct pdf_writer *writer, double width, double letter)
{
    double blanks = floor(width / letter + 0.5);
    for (size_t i = 0; i < CODE_INDENT && (double)i < blanks; i++) {
        markup_plain(&writer->text, " ");
    }
}

/* How many lines from `first` on are of one block of code. */
static size_t code_length(const struct pdf_writer *writer, size_t first)
{
    const struct pdf_line *lines = writer->lines->lines;
    size_t count = 0;
    while (first + count < writer->lines->count && lines[first + count].flags & PDF_MONO &&
           !lines[first + count].table && !writer->lines->mono &&
           (count == 0 || (lines[first + count].column == lines[first].column &&
                           spacing(&lines[first + count - 1], &lines[first + count]) < 4))) {
        count++;
    }
    const struct pdf_line *next = &lines[first] + 1;
    bool after = writer->block != NOTHING && writer->before &&
                 is_below(writer, writer->before, &lines[first]) &&
                 fabs(writer->before->left - lines[first].left) < lines[first].size / 2;
    bool before = first + 1 < writer->lines->count && is_below(writer, &lines[first], next) &&
                  fabs(next->left - lines[first].left) < next->size / 2;
    bool inside = count == 1 && (after || before);
    return inside ? 0 : count;
}

static void write_code(struct pdf_writer *writer, size_t first, size_t count)
{
    const struct pdf_line *lines = &writer->lines->lines[first];
    double left = lines[0].left;
    for (size_t i = 1; i < count; i++) {
        left = fmin(left, lines[i].left);
    }
    flush(writer);
    for (size_t i = 0; i < count; i++) {
        const struct pdf_line *line = &lines[i];
        double letter = width_of_letter(line);
        double at = left;
        if (i > 0 && spacing(line - 1, line) > 1.7 * writer->style.spacing) {
            markup_code(&writer->text);
        }
        for (size_t j = 0; j < line->count; j++) {
            put_blanks(writer, line->words[j]->left - at, letter);
            markup_plain(&writer->text, line->words[j]->text);
            at = line->words[j]->right;
        }
        markup_code(&writer->text);
    }
    writer->before = NULL;
}

/* ---- all of it ---- */

static void write_table(struct pdf_writer *writer, const struct pdf_table *table)
{
    flush(writer);
    markup_tags(&writer->text, "<table>");
    for (size_t row = 0; row < table->rows; row++) {
        markup_tags(&writer->text, "<tr>");
        for (size_t column = 0; column < table->columns; column++) {
            const struct pdf_cell *cell = &table->cells[row * table->columns + column];
            markup_tags(&writer->text, row == 0 ? "<th>" : "<td>");
            const struct pdf_word *before = NULL;
            for (size_t i = 0; i < cell->count;) {
                size_t first = i++;
                while (i < cell->count && cell->words[i]->left > cell->words[i - 1]->left &&
                       cell->words[i]->top < cell->words[i - 1]->bottom &&
                       cell->words[i]->bottom > cell->words[i - 1]->top) {
                    i++;
                }
                put_words(writer, cell->words + first, i - first, before, row == 0);
                before = cell->words[i - 1];
            }
            markup_paragraph(&writer->text);
            markup_tags(&writer->text, row == 0 ? "</th>" : "</td>");
        }
        markup_tags(&writer->text, "</tr>");
    }
    markup_tags(&writer->text, "</table>");
    writer->before = NULL;
}

static void write_heading(struct pdf_writer *writer, size_t first, size_t count, int level)
{
    const struct pdf_word *before = NULL;
    flush(writer);
    for (size_t i = 0; i < count; i++) {
        const struct pdf_line *line = &writer->lines->lines[first + i];
        put_words(writer, line->words, line->count, before, true);
        before = last_word(line);
    }
    markup_heading(&writer->text, level);
    writer->before = NULL;
}

static void begin_note(struct pdf_writer *writer, const struct pdf_line *line)
{
    flush(writer);
    markup_begin(&writer->apart);
    writer->to = &writer->apart;
    writer->note = note_name(writer, line->words[0]->text);
    writer->block = NOTE;
    put_words(writer, line->words + 1, line->count - 1, NULL, false);
}

static void add_line(struct pdf_writer *writer, const struct pdf_line *line)
{
    if (pdf_begins_note(&writer->notes, &writer->style, line)) {
        begin_note(writer, line);
    } else if (begins_item(writer, line)) {
        begin_item(writer, line);
    } else if (begins_paragraph(writer, line)) {
        bool more = (writer->block == ITEM || writer->block == MORE_OF_ITEM) && writer->before &&
                    writer->before->column == line->column &&
                    fabs(line->left - writer->item.left) < SAME_LEFT &&
                    same_size(writer->before, line);
        flush(writer);
        writer->block = more ? MORE_OF_ITEM : PARAGRAPH;
        writer->depth = more ? writer->depth : 0;
        put_words(writer, line->words, line->count, NULL, false);
    } else {
        put_words(writer, line->words, line->count, last_word(writer->before), false);
    }
    writer->before = line;
}

static void begin_page(struct pdf_writer *writer, size_t first)
{
    for (size_t i = 0; i < writer->notes.count; i++) {
        long number = strtol(writer->notes.names[i], NULL, 10);
        writer->notes_before = number > writer->notes_before ? number : writer->notes_before;
    }
    if (writer->block == NOTE) {
        flush(writer);
        writer->before = NULL;
    }
    writer->page = writer->lines->lines[first].page;
    pdf_find_notes(writer->lines, &writer->style, first, &writer->notes);
}

static void write_lines(struct pdf_writer *writer)
{
    for (size_t i = 0; i < writer->lines->count; i++) {
        const struct pdf_line *line = &writer->lines->lines[i];
        size_t count = 1;
        if (i == 0 || line->page != writer->page) {
            begin_page(writer, i);
        }
        if (line->table) {
            write_table(writer, line->table);
            continue;
        }
        int level = pdf_heading_level(writer->lines, &writer->style, i, &count);
        size_t code = level ? 0 : code_length(writer, i);
        if (level) {
            write_heading(writer, i, count, level);
            i += count - 1;
        } else if (code) {
            write_code(writer, i, code);
            i += code - 1;
        } else {
            add_line(writer, line);
        }
    }
    flush(writer);
}

static int write_document(struct pdf_writer *writer, const struct pdf_text *text,
                          struct document *document)
{
    struct buf out;
    markup_begin(&writer->text);
    markup_begin(&writer->endnotes);
    writer->to = &writer->text;
    if (text->title && writer->style.first_level != 1) {
        markup_plain(&writer->text, text->title);
        markup_heading(&writer->text, 1);
    }
    write_lines(writer);
    if (writer->endnotes.out.length) {
        markup_tags(&writer->text, "<section class=footnotes><ol>");
        markup_append(&writer->text, &writer->endnotes);
        markup_tags(&writer->text, "</ol></section>");
    } else {
        markup_done(&writer->endnotes);
    }
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    int status = markup_write(&writer->text, &out, &document->cut);
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    return compose_done(writer->arena, &out, document);
}

/* What most words look like. */
static void find_usual(const struct pdf_text *text, struct pdf_lines *lines)
{
    size_t sizes[SIZE_STEPS] = {0};
    size_t mono = 0;
    size_t all = 0;
    size_t best = 0;
    for (size_t i = 0; i < text->page_count; i++) {
        for (size_t j = 0; j < text->pages[i].count; j++) {
            const struct pdf_word *word = &text->pages[i].words[j];
            double step = fmax(word->size, 0) * 2;
            mono += (word->flags & PDF_MONO) != 0;
            sizes[step < SIZE_STEPS ? (size_t)step : SIZE_STEPS - 1] += word->length;
        }
        all += text->pages[i].count;
    }
    for (size_t i = 1; i < SIZE_STEPS; i++) {
        best = sizes[i] > sizes[best] ? i : best;
    }
    lines->mono = mono * 5 > all * 3;
    lines->size = ((double)best + 1) / 2;
}

/* Tells how much of the pages is no text of the document, above it and below. */
static int count_furniture(struct arena *arena, const struct pdf_text *text,
                           struct document *document)
{
    size_t chars[2] = {0, 0};
    for (size_t i = 0; i < text->page_count; i++) {
        const struct pdf_page *page = &text->pages[i];
        for (size_t j = 0; j < page->count; j++) {
            const struct pdf_word *word = &page->words[j];
            if (word->flags & PDF_FURNITURE) {
                chars[word->top > page->height / 2] += text_count(word->text, word->length) + 1;
            }
        }
    }
    struct omitted_part *parts = arena_zalloc(arena, 2 * sizeof *parts);
    size_t larger = chars[1] > chars[0];
    if (!parts) {
        return ERR_NOMEM;
    }
    document->omitted = (struct omitted){.parts = parts};
    for (size_t i = 0; i < 2; i++) {
        size_t which = i == 0 ? larger : 1 - larger;
        if (chars[which]) {
            parts[document->omitted.count++] =
                (struct omitted_part){.what = which ? "footer" : "header", .chars = chars[which]};
        }
    }
    return OK;
}

static int write_pages(struct arena *scratch, struct arena *arena, struct pdf_text *text,
                       struct document *document)
{
    struct pdf_lines lines = {.arena = scratch};
    find_usual(text, &lines);
    int status = text->all ? OK : pdf_find_furniture(scratch, text);
    for (size_t i = 0; status == OK && i < text->page_count; i++) {
        status = pdf_order_page(&lines, &text->pages[i], i);
    }
    if (status == ERR_LIMIT) {
        text->cut = true;
        status = OK;
    }
    if (status != OK || lines.count == 0) {
        return status != OK ? status : ERR_NOTFOUND;
    }
    struct pdf_writer *writer = arena_zalloc(scratch, sizeof *writer);
    if (!writer) {
        return ERR_NOMEM;
    }
    writer->arena = arena;
    writer->lines = &lines;
    pdf_find_style(&lines, &writer->style);
    document->kind = "pdf";
    document->title = text->title;
    document->authors = text->author;
    document->published = text->created;
    document->modified = text->modified;
    document->cut = document->cut || text->cut;
    status = count_furniture(arena, text, document);
    return status == OK ? write_document(writer, text, document) : status;
}

int pdf_write(struct arena *arena, struct pdf_text *text, struct document *document)
{
    struct arena *scratch = arena_new(LIMIT_DOCUMENT_SCRATCH_BYTES);
    int status = scratch ? write_pages(scratch, arena, text, document) : ERR_NOMEM;
    arena_free(scratch);
    return status;
}
