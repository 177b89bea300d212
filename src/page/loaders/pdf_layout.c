/* Lines of a PDF to Markdown. What a heading is, its size tells: letters larger than those of most
 * of the text. */
#include "page/loaders/pdf_layout.h"

#include "core/limits.h"
#include "core/status.h"
#include "page/loaders/compose.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADING_RATIO     1.13 /* how much larger than the text a heading's letters are */
#define HEADING_CHARS     200
#define HEADING_SIZES     5   /* distinct ones; what is smaller shares the last level */
#define REPEATS_ON_PAGES  3   /* a line at the margin of that many pages is no content */
#define MOST_SIZE_STEPS   400 /* half points */
#define NEW_PARAGRAPH_GAP 1.0 /* empty space above a line, in letter heights */
#define INDENT_LEAST      0.7 /* of a first line, in letter heights */
#define INDENT_MOST       4.0

struct layout {
    struct pdf_text *text;
    double body_size;
    double heading_sizes[HEADING_SIZES]; /* falling */
    size_t heading_size_count;
    int first_level; /* of the largest heading */
    struct buf *out;
    struct buf paragraph;
    bool in_list;     /* the last block was an item of a list */
    double item_left; /* where the bullet of the item that is being gathered stands */
};

static size_t size_step(double size)
{
    double steps = size * 2 + 0.5;
    return steps < 0 ? 0 : steps >= MOST_SIZE_STEPS ? MOST_SIZE_STEPS - 1 : (size_t)steps;
}

/* ---- the page's own furniture ---- */

/* Whether a line is only the number of its page: "12", "- 12 -", "iv", "Page 3 of 9". */
static bool is_page_number(const struct pdf_line *line)
{
    if (line->length > 16) {
        return false;
    }
    const char *at = line->text;
    at += strncasecmp(at, "page", 4) == 0 ? 4 : 0;
    if (strspn(at, "0123456789 -–—/|.of") == strlen(at)) {
        return strpbrk(at, "0123456789") != NULL;
    }
    return strspn(at, "ivxlc") == strlen(at);
}

/* Compares two lines as if all their digits were the same. */
static int compare_without_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        bool digit_a = *a >= '0' && *a <= '9';
        bool digit_b = *b >= '0' && *b <= '9';
        if (digit_a && digit_b) {
            while (a[1] >= '0' && a[1] <= '9') {
                a++;
            }
            while (b[1] >= '0' && b[1] <= '9') {
                b++;
            }
        } else if (*a != *b || !*a) {
            return (int)(unsigned char)*a - (int)(unsigned char)*b;
        }
    }
}

static int compare_margins(const void *left, const void *right)
{
    struct pdf_line *const *a = left;
    struct pdf_line *const *b = right;
    int order = compare_without_digits((*a)->text, (*b)->text);
    return order ? order : (*a)->page < (*b)->page ? -1 : (*a)->page > (*b)->page;
}

static int drop_furniture(struct arena *arena, struct pdf_text *text)
{
    struct pdf_line **margins = arena_alloc(arena, (text->count + 1) * sizeof *margins);
    size_t count = 0;
    if (!margins) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < text->count; i++) {
        if (text->lines[i].margin) {
            text->lines[i].dropped = text->pages > 1 && is_page_number(&text->lines[i]);
            margins[count++] = &text->lines[i];
        }
    }
    qsort(margins, count, sizeof *margins, compare_margins);
    for (size_t first = 0; first < count;) {
        size_t next = first + 1;
        unsigned pages = 1;
        while (next < count &&
               compare_without_digits(margins[first]->text, margins[next]->text) == 0) {
            pages += margins[next]->page != margins[next - 1]->page;
            next++;
        }
        for (size_t i = first; i < next && pages >= REPEATS_ON_PAGES; i++) {
            margins[i]->dropped = true;
        }
        first = next;
    }
    return OK;
}

/* ---- headings ---- */

static bool has_letters(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
            return true;
        }
        if (c >= 0xC3) {
            return true;
        }
    }
    return false;
}

/* The size that most letters have. */
static double find_body_size(const struct pdf_text *text)
{
    size_t letters[MOST_SIZE_STEPS] = {0};
    size_t best = 0;
    for (size_t i = 0; i < text->count; i++) {
        letters[size_step(text->lines[i].size)] +=
            text->lines[i].dropped ? 0 : text->lines[i].length;
    }
    for (size_t i = 1; i < MOST_SIZE_STEPS; i++) {
        best = letters[i] > letters[best] ? i : best;
    }
    return (double)best / 2;
}

/* How many lines from `first` on are of one block and one size; their characters in `length`. */
static size_t run_length(const struct pdf_text *text, size_t first, size_t *length)
{
    size_t count = 0;
    *length = 0;
    while (first + count < text->count && !text->lines[first + count].dropped &&
           text->lines[first + count].block == text->lines[first].block &&
           size_step(text->lines[first + count].size) == size_step(text->lines[first].size)) {
        *length += text->lines[first + count].length;
        count++;
    }
    return count;
}

/* "2.3 Methods" or one of the words that stand over a part of nearly every paper. */
static int level_by_words(const char *text, size_t length)
{
    static const char *const PARTS[] = {"abstract",     "introduction",     "conclusion",
                                        "conclusions",  "references",       "bibliography",
                                        "discussion",   "acknowledgements", "acknowledgments",
                                        "related work", "appendix",         NULL};
    if (length > 80) {
        return 0;
    }
    for (const char *const *part = PARTS; *part; part++) {
        if (strcasecmp(text, *part) == 0) {
            return 2;
        }
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
    bool titled = *at == ' ' && at[1] >= 'A' && at[1] <= 'Z' && text[length - 1] != '.' &&
                  text[length - 1] != ',' && text[length - 1] != ';';
    return numbers > 0 && titled ? numbers + 1 : 0;
}

static bool is_large(const struct layout *layout, const struct pdf_line *line)
{
    return line->size >= layout->body_size * HEADING_RATIO;
}

static bool is_large_heading(const struct layout *layout, size_t first, size_t *lines)
{
    size_t length;
    *lines = run_length(layout->text, first, &length);
    return is_large(layout, &layout->text->lines[first]) && length <= HEADING_CHARS &&
           has_letters(layout->text->lines[first].text) &&
           !strstr(layout->text->lines[first].text, " …"); /* of a table of contents */
}

/* The sizes that headings have, and whether the largest is only the title's. */
static void find_heading_sizes(struct layout *layout)
{
    size_t seen[MOST_SIZE_STEPS] = {0};
    size_t lines = 1;
    for (size_t i = 0; i < layout->text->count; i += lines ? lines : 1) {
        if (layout->text->lines[i].dropped || !is_large_heading(layout, i, &lines)) {
            lines = 1;
            continue;
        }
        seen[size_step(layout->text->lines[i].size)]++;
    }
    layout->first_level = 2;
    for (size_t step = MOST_SIZE_STEPS; step-- > 0;) {
        if (seen[step] && layout->heading_size_count < HEADING_SIZES) {
            if (layout->heading_size_count == 0 && seen[step] == 1) {
                layout->first_level = 1;
            }
            layout->heading_sizes[layout->heading_size_count++] = (double)step / 2;
        }
    }
}

static int level_by_size(const struct layout *layout, double size)
{
    size_t rank = 0;
    while (rank + 1 < layout->heading_size_count &&
           size_step(size) < size_step(layout->heading_sizes[rank])) {
        rank++;
    }
    return layout->first_level + (int)rank;
}

/* ---- paragraphs ---- */

static bool is_lower(const char *text)
{
    return *text >= 'a' && *text <= 'z';
}

static bool is_item(const struct layout *layout)
{
    return layout->paragraph.length >= 2 && strncmp(layout->paragraph.data, "- ", 2) == 0;
}

/* Ends the paragraph. What would begin something else in Markdown is escaped. */
static void flush(struct layout *layout)
{
    struct buf *paragraph = &layout->paragraph;
    if (paragraph->length == 0) {
        return;
    }
    bool item = is_item(layout);
    if (layout->in_list && !item) {
        buf_putc(layout->out, '\n');
    }
    if (strchr("#>+*|=~`", paragraph->data[0])) {
        buf_putc(layout->out, '\\');
    }
    buf_append(layout->out, paragraph->data, paragraph->length);
    buf_puts(layout->out, item ? "\n" : "\n\n");
    layout->in_list = item;
    buf_clear(paragraph);
}

/* The length of a bullet and the space after it at the beginning of a line; 0: there is none. */
static size_t bullet_length(const char *text)
{
    static const char *const BULLETS[] = {"•", "◦", "▪", "■", "●", "○", "‣",
                                          "∙", "·", "–", "-", "*", NULL};
    for (const char *const *bullet = BULLETS; *bullet; bullet++) {
        size_t length = strlen(*bullet);
        if (strncmp(text, *bullet, length) == 0 && (text[length] == ' ' || !text[length])) {
            return length + (text[length] == ' ');
        }
    }
    return 0;
}

/* Appends a line to the paragraph; a word that was parted at the line's end is put together. */
static void join_line(struct layout *layout, const char *text)
{
    struct buf *paragraph = &layout->paragraph;
    size_t length = paragraph->length;
    if (length >= 2 && (unsigned char)paragraph->data[length - 2] == 0xC2 &&
        (unsigned char)paragraph->data[length - 1] == 0xAD) {
        paragraph->length -= 2;
    } else if (length >= 2 && paragraph->data[length - 1] == '-' &&
               is_lower(&paragraph->data[length - 2]) && is_lower(text)) {
        paragraph->length--;
    } else if (length > 0 && paragraph->data[length - 1] != ' ') {
        buf_putc(paragraph, ' ');
    }
    buf_puts(paragraph, text);
}

static bool same_size(const struct pdf_line *a, const struct pdf_line *b)
{
    double difference = a->size - b->size;
    return difference < 1 && difference > -1;
}

/* Whether the sentence that is being gathered is not finished, and the line could go on with it. */
static bool goes_on(const struct layout *layout, const struct pdf_line *before,
                    const struct pdf_line *line)
{
    const struct buf *paragraph = &layout->paragraph;
    if (paragraph->length == 0 || !same_size(before, line)) {
        return false;
    }
    char last = paragraph->data[paragraph->length - 1];
    return !strchr(".!?:;", last) && (is_lower(line->text) || last == '-');
}

static bool begins_paragraph(const struct layout *layout, const struct pdf_line *before,
                             const struct pdf_line *line)
{
    bool same_block = before->block == line->block && before->page == line->page;
    bool gap = line->top - before->bottom > NEW_PARAGRAPH_GAP * line->size;
    if (is_item(layout) && layout->paragraph.length == 2) {
        return false; /* the bullet stood alone */
    }
    if (bullet_length(line->text)) {
        return true;
    }
    if (goes_on(layout, before, line)) {
        return false;
    }
    if (is_item(layout)) {
        bool below = before->page == line->page && line->top > before->top && !gap;
        return !below || line->left < layout->item_left + line->size / 2;
    }
    double indent = line->left - line->block_left;
    double indent_before = before->left - before->block_left;
    bool indented = indent > INDENT_LEAST * line->size && indent < INDENT_MOST * line->size &&
                    indent_before < INDENT_LEAST * line->size / 2;
    return !same_block || gap || indented || !same_size(before, line);
}

static void add_line(struct layout *layout, const struct pdf_line *before,
                     const struct pdf_line *line)
{
    if (!before || begins_paragraph(layout, before, line)) {
        flush(layout);
    }
    size_t bullet = layout->paragraph.length == 0 ? bullet_length(line->text) : 0;
    if (bullet) {
        layout->item_left = line->left;
        buf_puts(&layout->paragraph, "- ");
        buf_puts(&layout->paragraph, line->text + bullet);
    } else {
        join_line(layout, line->text);
    }
}

static void write_heading(struct layout *layout, size_t first, size_t lines, int level)
{
    flush(layout);
    for (size_t i = 0; i < lines; i++) {
        join_line(layout, layout->text->lines[first + i].text);
    }
    if (layout->in_list) {
        buf_putc(layout->out, '\n');
    }
    layout->in_list = false;
    level = level > 6 ? 6 : level;
    buf_printf(layout->out, "%.*s %s\n\n", level, "######", layout->paragraph.data);
    buf_clear(&layout->paragraph);
}

static void write_lines(struct layout *layout)
{
    struct pdf_text *text = layout->text;
    const struct pdf_line *before = NULL;
    for (size_t i = 0; i < text->count; i++) {
        const struct pdf_line *line = &text->lines[i];
        size_t lines = 1;
        size_t length;
        if (line->dropped) {
            continue;
        }
        if (is_large_heading(layout, i, &lines)) {
            write_heading(layout, i, lines, level_by_size(layout, line->size));
            i += lines - 1;
            before = NULL;
            continue;
        }
        bool alone = (i == 0 || text->lines[i - 1].block != line->block) &&
                     run_length(text, i, &length) == 1;
        int level = alone ? level_by_words(line->text, line->length) : 0;
        if (level > 0) {
            write_heading(layout, i, 1, level);
            before = NULL;
            continue;
        }
        add_line(layout, before, line);
        before = line;
    }
    flush(layout);
}

int pdf_write(struct arena *arena, struct pdf_text *text, struct document *document)
{
    struct buf out;
    struct layout layout = {.text = text, .out = &out};
    int status = drop_furniture(arena, text);
    if (status != OK || text->count == 0) {
        return status != OK ? status : ERR_NOTFOUND;
    }
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    buf_init(&layout.paragraph, LIMIT_DOCUMENT_BYTES);
    layout.body_size = find_body_size(text);
    find_heading_sizes(&layout);
    document->kind = "pdf";
    document->title = text->title;
    document->authors = text->author;
    document->published = text->created;
    document->modified = text->modified;
    document->cut = document->cut || text->cut;
    if (text->title && layout.first_level != 1) {
        buf_printf(&out, "# %s\n\n", text->title);
    }
    write_lines(&layout);
    buf_done(&layout.paragraph);
    return compose_done(arena, &out, document);
}
