/* The text of a PDF as Markdown, from where Poppler says each word stands (pdftotext -bbox-layout):
 * it has put pages, columns, blocks and lines into reading order; what is left is to see which
 * lines are headings, which belong to one paragraph, and which are only the page's own furniture.
 * A heading is known by its size: letters larger than those of most of the text. Pure. */
#include "page/loaders/bodies.h"
#include "page/loaders/xml.h"
#include "tables.h"

#include <stdlib.h>

#define SIZES_OF_A_LINE   8
#define MARGIN_SHARE      0.09 /* of a page's height, at its top and its bottom */
#define HEADING_RATIO     1.13 /* how much larger than the text a heading's letters are */
#define HEADING_CHARS     200
#define HEADING_SIZES     5   /* distinct ones; what is smaller shares the last level */
#define REPEATS_ON_PAGES  3   /* a line at the margin of that many pages is no content */
#define MOST_SIZE_STEPS   400 /* half points */
#define NEW_PARAGRAPH_GAP 1.0 /* empty space above a line, in letter heights */
#define INDENT_LEAST      0.7 /* of a first line, in letter heights */
#define INDENT_MOST       4.0

/* ---- Poppler's answer to lines with their places ---- */

struct lines_reader {
    struct xml_reader xml;
    struct arena *arena;
    struct pdf_text *text;
    size_t capacity;
    double page_height;
    double block_left;
    struct buf words; /* of the line that is being read */
    size_t leaders;   /* words of dots at its end so far */
    struct {
        double size;
        size_t letters;
    } sizes[SIZES_OF_A_LINE]; /* what most letters of the line have is the line's */
    size_t size_count;
    struct pdf_line line;
    unsigned blocks;
};

static double number_of(const struct xml_reader *xml, const char *name)
{
    struct slice value;
    char digits[32];
    if (!xml_attribute(xml, name, &value) || value.length >= sizeof digits) {
        return 0;
    }
    memcpy(digits, value.data, value.length);
    digits[value.length] = '\0';
    double number = strtod(digits, NULL);
    return number > -1e6 && number < 1e6 ? number : 0; /* not a number is neither */
}

static const char *text_of(struct arena *arena, struct slice slice)
{
    struct buf text;
    buf_init(&text, LIMIT_URL_BYTES);
    xml_append(&text, slice);
    const char *copy = text.length ? arena_strdup(arena, text.data) : NULL;
    buf_done(&text);
    return copy;
}

/* <meta name="Author" content="..."/> */
static void read_meta(struct lines_reader *reader)
{
    struct pdf_text *text = reader->text;
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"Author", &text->author},
        {"CreationDate", &text->created},
        {"ModDate", &text->modified},
    };
    struct slice name;
    struct slice content;
    if (!xml_attribute(&reader->xml, "name", &name) ||
        !xml_attribute(&reader->xml, "content", &content)) {
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (slice_is(name, known[i].name)) {
            *known[i].value = text_of(reader->arena, content);
        }
    }
}

/* Letters that some fonts draw as one. */
static void put_word(struct buf *out, const char *word, size_t length)
{
    static const char *const LIGATURES[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
    for (size_t i = 0; i < length; i++) {
        const unsigned char *at = (const unsigned char *)word + i;
        if (length - i >= 3 && at[0] == 0xEF && at[1] == 0xAC && at[2] >= 0x80 && at[2] <= 0x86) {
            buf_puts(out, LIGATURES[at[2] - 0x80]);
            i += 2;
        } else {
            buf_putc(out, word[i]);
        }
    }
}

static void count_size(struct lines_reader *reader, double size, size_t letters)
{
    size_t i = 0;
    while (i < reader->size_count &&
           (reader->sizes[i].size - size > 0.01 || size - reader->sizes[i].size > 0.01)) {
        i++;
    }
    if (i == reader->size_count && i < SIZES_OF_A_LINE) {
        reader->sizes[reader->size_count].size = size;
        reader->sizes[reader->size_count++].letters = 0;
    }
    if (i < SIZES_OF_A_LINE) {
        reader->sizes[i].letters += letters;
    }
}

/* The dots that lead the eye through a table of contents become one ellipsis. Whether the word was
 * dots. */
static bool put_leader(struct lines_reader *reader, const char *word)
{
    static const char ELLIPSIS[] = "…";
    if (word[strspn(word, ".")] != '\0') {
        reader->leaders = 0;
        return false;
    }
    reader->leaders++;
    if (reader->leaders == 2) {
        reader->words.length--; /* the dot before it */
        buf_puts(&reader->words, ELLIPSIS);
    }
    if (reader->leaders == 1) {
        buf_puts(&reader->words, reader->words.length ? " " : "");
        buf_puts(&reader->words, strlen(word) > 3 ? ELLIPSIS : ".");
        reader->leaders += strlen(word) > 3;
    }
    return true;
}

static bool read_word(struct lines_reader *reader)
{
    double size = number_of(&reader->xml, "yMax") - number_of(&reader->xml, "yMin");
    struct buf word;
    buf_init(&word, KIB(64));
    bool whole = xml_take(&reader->xml, &word, NULL);
    if (whole && word.length > 0 && !put_leader(reader, word.data)) {
        buf_puts(&reader->words, reader->words.length ? " " : "");
        put_word(&reader->words, word.data, word.length);
        count_size(reader, size, word.length);
    }
    buf_done(&word);
    return whole;
}

static void begin_line(struct lines_reader *reader)
{
    const struct xml_reader *xml = &reader->xml;
    reader->line = (struct pdf_line){
        .left = number_of(xml, "xMin"),
        .top = number_of(xml, "yMin"),
        .bottom = number_of(xml, "yMax"),
        .block_left = reader->block_left,
        .page = reader->text->pages - (reader->text->pages > 0),
        .block = reader->blocks,
    };
    double margin = reader->page_height * MARGIN_SHARE;
    reader->line.margin =
        reader->line.bottom < margin || reader->line.top > reader->page_height - margin;
    reader->size_count = 0;
    reader->leaders = 0;
    buf_clear(&reader->words);
}

static int end_line(struct lines_reader *reader)
{
    struct pdf_text *text = reader->text;
    if (reader->words.length == 0) {
        return OK;
    }
    if (text->count == LIMIT_PDF_LINES) {
        return ERR_LIMIT;
    }
    if (text->count == reader->capacity) {
        size_t capacity = reader->capacity ? 2 * reader->capacity : 256;
        struct pdf_line *lines = arena_realloc(
            reader->arena, text->lines, reader->capacity * sizeof *lines, capacity * sizeof *lines);
        if (!lines) {
            return ERR_NOMEM;
        }
        text->lines = lines;
        reader->capacity = capacity;
    }
    size_t most = 0;
    for (size_t i = 0; i < reader->size_count; i++) {
        if (reader->sizes[i].letters > most) {
            most = reader->sizes[i].letters;
            reader->line.size = reader->sizes[i].size;
        }
    }
    reader->line.text = arena_strndup(reader->arena, reader->words.data, reader->words.length);
    reader->line.length = reader->words.length;
    if (!reader->line.text) {
        return ERR_NOMEM;
    }
    text->lines[text->count++] = reader->line;
    return OK;
}

/* OK, ERR_LIMIT when nothing more is wanted or comes, ERR_NOMEM. */
static int read_start(struct lines_reader *reader)
{
    struct xml_reader *xml = &reader->xml;
    if (slice_is(xml->name, "word")) {
        return read_word(reader) ? OK : ERR_LIMIT;
    }
    if (slice_is(xml->name, "line")) {
        begin_line(reader);
    } else if (slice_is(xml->name, "block")) {
        reader->blocks++;
        reader->block_left = number_of(xml, "xMin");
    } else if (slice_is(xml->name, "page")) {
        reader->text->pages++;
        reader->page_height = number_of(xml, "height");
    } else if (slice_is(xml->name, "meta")) {
        read_meta(reader);
    } else if (slice_is(xml->name, "title")) {
        struct slice title;
        if (!xml_take(xml, NULL, &title)) {
            return ERR_LIMIT;
        }
        reader->text->title = text_of(reader->arena, title);
    }
    return OK;
}

int pdf_read_lines(struct arena *arena, const char *xml, size_t length, struct pdf_text *text)
{
    struct lines_reader reader = {.arena = arena, .text = text};
    int status = OK;
    memset(text, 0, sizeof *text);
    buf_init(&reader.words, MIB(1));
    xml_begin(&reader.xml, xml, length);
    for (enum xml_event event = xml_next(&reader.xml); status == OK && event != XML_DONE;
         event = xml_next(&reader.xml)) {
        if (event == XML_START) {
            status = read_start(&reader);
        } else if (event == XML_END && slice_is(reader.xml.name, "line")) {
            status = end_line(&reader);
        } else if (event == XML_BROKEN) {
            status = ERR_LIMIT;
        }
    }
    buf_done(&reader.words);
    if (status == ERR_LIMIT) {
        text->cut = true;
        status = OK;
    }
    return status == OK && text->pages == 0 ? ERR_INVALID : status;
}

/* ---- lines to Markdown ---- */

struct layout {
    struct pdf_text *text;
    double body_size;
    size_t heading_steps[HEADING_SIZES]; /* falling */
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

static const char DIGITS[] = "0123456789";

/* Compares two lines as if all their digits were the same. */
static int compare_without_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        if (*a && *b && strchr(DIGITS, *a) && strchr(DIGITS, *b)) {
            a += strspn(a, DIGITS) - 1;
            b += strspn(b, DIGITS) - 1;
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
        if (((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0xC3) {
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
    if (length > 80) {
        return 0;
    }
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
    bool titled = *at == ' ' && at[1] >= 'A' && at[1] <= 'Z' && text[length - 1] != '.' &&
                  text[length - 1] != ',' && text[length - 1] != ';';
    return numbers > 0 && titled ? numbers + 1 : 0;
}

/* Whether letters larger than most make a heading of the line; `lines` of them belong together. */
static bool is_large_heading(const struct layout *layout, size_t first, size_t *lines)
{
    const struct pdf_line *line = &layout->text->lines[first];
    size_t length;
    *lines = run_length(layout->text, first, &length);
    return line->size >= layout->body_size * HEADING_RATIO && length <= HEADING_CHARS &&
           has_letters(line->text) && !strstr(line->text, " …"); /* of a table of contents */
}

/* The sizes that headings have, and whether the largest is only the title's. */
static void find_heading_sizes(struct layout *layout)
{
    size_t seen[MOST_SIZE_STEPS] = {0};
    size_t lines;
    for (size_t i = 0; i < layout->text->count; i++) {
        if (!layout->text->lines[i].dropped && is_large_heading(layout, i, &lines)) {
            seen[size_step(layout->text->lines[i].size)]++;
            i += lines - 1;
        }
    }
    for (size_t step = MOST_SIZE_STEPS; step-- > 0;) {
        if (seen[step] && layout->heading_size_count < HEADING_SIZES) {
            layout->heading_steps[layout->heading_size_count++] = step;
        }
    }
    bool titled = layout->heading_size_count && seen[layout->heading_steps[0]] == 1;
    layout->first_level = titled ? 1 : 2;
}

static int level_by_size(const struct layout *layout, double size)
{
    size_t rank = 0;
    while (rank + 1 < layout->heading_size_count && size_step(size) < layout->heading_steps[rank]) {
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
    buf_puts(layout->out, layout->in_list && !item ? "\n" : "");
    buf_puts(layout->out, strchr("#>+*|=~`", paragraph->data[0]) ? "\\" : "");
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
    buf_printf(layout->out, "%s%.*s %s\n\n", layout->in_list ? "\n" : "", level > 6 ? 6 : level,
               "######", layout->paragraph.data);
    layout->in_list = false;
    buf_clear(&layout->paragraph);
}

static void write_lines(struct layout *layout)
{
    struct pdf_text *text = layout->text;
    const struct pdf_line *before = NULL;
    for (size_t i = 0; i < text->count; i++) {
        const struct pdf_line *line = &text->lines[i];
        size_t lines;
        if (line->dropped) {
            continue;
        }
        bool large = is_large_heading(layout, i, &lines);
        bool alone = lines == 1 && (i == 0 || text->lines[i - 1].block != line->block);
        int level = large   ? level_by_size(layout, line->size)
                    : alone ? level_by_words(line->text, line->length)
                            : 0;
        if (level > 0) {
            write_heading(layout, i, lines, level);
            i += lines - 1;
            before = NULL;
        } else {
            add_line(layout, before, line);
            before = line;
        }
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
