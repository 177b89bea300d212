/* Poppler's answer to lines of text with their places. */
#include "core/limits.h"
#include "core/status.h"
#include "page/loaders/pdf_layout.h"
#include "page/loaders/xml.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_OF_A_LINE 8
#define MARGIN_SHARE    0.09 /* of a page's height, at its top and its bottom */

struct lines_reader {
    struct xml_reader xml;
    struct arena *arena;
    struct pdf_text *text;
    size_t capacity;
    double page_height;
    double block_left, block_right;
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
        if (xml_is(name, known[i].name)) {
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
    if (i == reader->size_count) {
        if (i == SIZES_OF_A_LINE) {
            return;
        }
        reader->sizes[reader->size_count].size = size;
        reader->sizes[reader->size_count++].letters = 0;
    }
    reader->sizes[i].letters += letters;
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
        if (reader->words.length > 0) {
            buf_putc(&reader->words, ' ');
        }
        put_word(&reader->words, word.data, word.length);
        count_size(reader, size, word.length);
    }
    buf_done(&word);
    return whole;
}

static void begin_line(struct lines_reader *reader)
{
    const struct xml_reader *xml = &reader->xml;
    struct pdf_line line = {
        .left = number_of(xml, "xMin"),
        .right = number_of(xml, "xMax"),
        .top = number_of(xml, "yMin"),
        .bottom = number_of(xml, "yMax"),
        .block_left = reader->block_left,
        .block_right = reader->block_right,
        .page = reader->text->pages - (reader->text->pages > 0),
        .block = reader->blocks,
    };
    double margin = reader->page_height * MARGIN_SHARE;
    line.margin = line.bottom < margin || line.top > reader->page_height - margin;
    reader->line = line;
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
    if (xml_is(xml->name, "word")) {
        return read_word(reader) ? OK : ERR_LIMIT;
    }
    if (xml_is(xml->name, "line")) {
        begin_line(reader);
    } else if (xml_is(xml->name, "block")) {
        reader->blocks++;
        reader->block_left = number_of(xml, "xMin");
        reader->block_right = number_of(xml, "xMax");
    } else if (xml_is(xml->name, "page")) {
        reader->text->pages++;
        reader->page_height = number_of(xml, "height");
    } else if (xml_is(xml->name, "meta")) {
        read_meta(reader);
    } else if (xml_is(xml->name, "title")) {
        struct slice title;
        if (!xml_take(xml, NULL, &title)) {
            return ERR_LIMIT;
        }
        reader->text->title = text_of(reader->arena, title);
    }
    return OK;
}

static int read_all(struct lines_reader *reader)
{
    for (;;) {
        int status = OK;
        switch (xml_next(&reader->xml)) {
        case XML_START:
            status = read_start(reader);
            break;
        case XML_END:
            if (xml_is(reader->xml.name, "line")) {
                status = end_line(reader);
            }
            break;
        case XML_TEXT:
            break;
        case XML_DONE:
            return OK;
        case XML_BROKEN:
            status = ERR_LIMIT;
            break;
        }
        if (status != OK) {
            return status;
        }
    }
}

int pdf_read_lines(struct arena *arena, const char *xml, size_t length, struct pdf_text *text)
{
    struct lines_reader reader = {.arena = arena, .text = text};
    memset(text, 0, sizeof *text);
    buf_init(&reader.words, MIB(1));
    xml_begin(&reader.xml, xml, length);
    int status = read_all(&reader);
    buf_done(&reader.words);
    if (status == ERR_LIMIT) {
        text->cut = true;
        status = OK;
    }
    return status == OK && text->pages == 0 ? ERR_INVALID : status;
}
