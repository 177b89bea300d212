/* The words of a PDF with their boxes, from pdftotext. They come in the order they were drawn in
 * (-raw), which says more about reading order than any other order could. */
#include "core/limits.h"
#include "documents/pdf_lines.h"
#include "html/xml.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_OF_HEIGHT  0.86 /* the size of letters in a box, until the font is known */
#define SHADOW_WORDS    24   /* how far back a word that is drawn twice is looked for */
#define SHADOW_SHIFT    1.2
#define TURNED_RATIO    1.5
#define TURNED_CHARS    3
#define WORD_TEXT_BYTES KIB(64)

struct words_reader {
    struct xml_reader xml;
    struct arena *arena;
    struct pdf_text *text;
    struct pdf_page *page;
    size_t page_capacity, word_capacity;
    size_t words; /* of all pages */
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
    char *copy = text.length ? arena_strdup(arena, text.data) : NULL;
    buf_done(&text);
    if (copy) {
        text_repair(copy);
    }
    return copy;
}

/* <meta name="Author" content="..."/> */
static void read_meta(struct words_reader *reader)
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

/* ---- the letters of a word ---- */

bool pdf_is_right_to_left(uint32_t point)
{
    return (point >= 0x590 && point <= 0x8FF) || (point >= 0xFB1D && point <= 0xFDFF) ||
           (point >= 0xFE70 && point <= 0xFEFF);
}

/* Letters that some fonts draw as one, soft hyphens as the hyphens that they look like, and what is
 * no text at all. */
static void put_point(struct buf *out, uint32_t point)
{
    static const char *const LIGATURES[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
    char bytes[4];
    if (point >= 0xFB00 && point <= 0xFB06) {
        buf_puts(out, LIGATURES[point - 0xFB00]);
    } else if (point == 0xAD || point == 0x2010) {
        buf_putc(out, '-');
    } else if (point == 0xA0) {
        buf_putc(out, ' ');
    } else if (point >= 0x20 && point != 0x7F && (point < 0x80 || point > 0x9F)) {
        buf_append(out, bytes, text_encode(point, bytes));
    }
}

/* What is read from right to left is drawn, and comes, from left to right. */
static void put_word(struct buf *out, const char *word, size_t length)
{
    const char *end = word + length;
    bool turned = false;
    for (const char *at = word; at < end;) {
        uint32_t point = text_next(&at, end);
        turned = turned || pdf_is_right_to_left(point);
    }
    if (!turned) {
        for (const char *at = word; at < end;) {
            put_point(out, text_next(&at, end));
        }
        return;
    }
    for (const char *at = end; at > word;) {
        do {
            at--;
        } while (at > word && ((unsigned char)*at & 0xC0) == 0x80);
        const char *point = at;
        put_point(out, text_next(&point, end));
    }
}

/* Bold letters and shadows are sometimes made by drawing a word twice. */
static bool is_shadow(const struct pdf_page *page, const struct pdf_word *word)
{
    size_t first = page->count > SHADOW_WORDS ? page->count - SHADOW_WORDS : 0;
    for (size_t i = first; i < page->count; i++) {
        const struct pdf_word *other = &page->words[i];
        if (fabs(other->left - word->left) < SHADOW_SHIFT &&
            fabs(other->top - word->top) < SHADOW_SHIFT &&
            fabs(other->right - word->right) < SHADOW_SHIFT &&
            fabs(other->bottom - word->bottom) < SHADOW_SHIFT &&
            strcmp(other->text, word->text) == 0) {
            return true;
        }
    }
    return false;
}

static int add_word(struct words_reader *reader, struct pdf_word *word, const struct buf *letters)
{
    struct pdf_page *page = reader->page;
    if (reader->words >= LIMIT_PDF_WORDS) {
        return ERR_LIMIT;
    }
    word->text = arena_strndup(reader->arena, letters->data, letters->length);
    word->length = letters->length;
    word->order = page->count;
    word->size = SIZE_OF_HEIGHT * (word->bottom - word->top);
    if (!word->text) {
        return ERR_NOMEM;
    }
    if (is_shadow(page, word)) {
        return OK;
    }
    struct pdf_word *words =
        arena_grow(reader->arena, page->words, page->count, &reader->word_capacity, sizeof *words);
    if (!words) {
        return ERR_NOMEM;
    }
    page->words = words;
    page->words[page->count++] = *word;
    reader->words++;
    return OK;
}

static int read_word(struct words_reader *reader)
{
    struct pdf_word word = {
        .left = number_of(&reader->xml, "xMin"),
        .top = number_of(&reader->xml, "yMin"),
        .right = number_of(&reader->xml, "xMax"),
        .bottom = number_of(&reader->xml, "yMax"),
    };
    struct buf drawn;
    struct buf letters;
    buf_init(&drawn, WORD_TEXT_BYTES);
    buf_init(&letters, 2 * WORD_TEXT_BYTES);
    int status = xml_take(&reader->xml, &drawn, NULL) ? OK : ERR_LIMIT;
    word.right = fmax(word.left, word.right);
    word.bottom = fmax(word.top, word.bottom);
    if (status == OK && drawn.length && reader->page) {
        put_word(&letters, drawn.data, drawn.length);
        if (buf_error(&letters) != OK) {
            status = buf_error(&letters);
        } else if (letters.length) {
            status = add_word(reader, &word, &letters);
        }
    }
    buf_done(&drawn);
    buf_done(&letters);
    return status;
}

static int begin_page(struct words_reader *reader)
{
    struct pdf_text *text = reader->text;
    struct pdf_page *pages = arena_grow(reader->arena, text->pages, text->page_count,
                                        &reader->page_capacity, sizeof *pages);
    if (!pages) {
        return ERR_NOMEM;
    }
    text->pages = pages;
    reader->page = &pages[text->page_count++];
    *reader->page = (struct pdf_page){
        .width = number_of(&reader->xml, "width"),
        .height = number_of(&reader->xml, "height"),
    };
    reader->word_capacity = 0;
    return OK;
}

/* OK, ERR_LIMIT when nothing more is wanted or comes, ERR_NOMEM. */
static int read_start(struct words_reader *reader)
{
    struct xml_reader *xml = &reader->xml;
    if (slice_is(xml->name, "word")) {
        return read_word(reader);
    }
    if (slice_is(xml->name, "page")) {
        return begin_page(reader);
    }
    if (slice_is(xml->name, "meta")) {
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

/* ---- pages whose text stands on its side ---- */

static bool is_turned(const struct pdf_word *word)
{
    return word->right > word->left &&
           word->bottom - word->top > TURNED_RATIO * (word->right - word->left) &&
           text_count(word->text, word->length) >= TURNED_CHARS;
}

/* Turns a page whose long words mostly stand on their side, and marks such words on others. */
static void turn_page(struct pdf_page *page)
{
    size_t turned = 0;
    size_t upright = 0;
    size_t upward = 0;
    for (size_t i = 0; i < page->count; i++) {
        const struct pdf_word *word = &page->words[i];
        bool on_side = is_turned(word);
        turned += on_side;
        upright += !on_side && text_count(word->text, word->length) >= TURNED_CHARS;
        upward += on_side && i > 0 && word->top < page->words[i - 1].top &&
                  fabs(word->left - page->words[i - 1].left) < 1;
    }
    bool whole = turned > upright;
    for (size_t i = 0; i < page->count && turned; i++) {
        struct pdf_word *word = &page->words[i];
        struct pdf_word was = *word;
        if (!whole) {
            if (is_turned(word)) {
                word->flags |= PDF_TURNED;
                word->size = SIZE_OF_HEIGHT * (word->right - word->left);
            }
            continue;
        }
        bool from_below = upward * 2 > turned;
        word->left = from_below ? page->height - was.bottom : was.top;
        word->right = from_below ? page->height - was.top : was.bottom;
        word->top = from_below ? was.left : page->width - was.right;
        word->bottom = from_below ? was.right : page->width - was.left;
        word->size = SIZE_OF_HEIGHT * (word->bottom - word->top);
    }
    if (whole) {
        double width = page->width;
        page->width = page->height;
        page->height = width;
    }
}

int pdf_read_words(struct arena *arena, const char *xml, size_t length, struct pdf_text *text)
{
    struct words_reader reader = {.arena = arena, .text = text};
    int status = OK;
    memset(text, 0, sizeof *text);
    xml_begin(&reader.xml, xml, length);
    for (enum xml_event event = xml_next(&reader.xml); status == OK && event != XML_DONE;
         event = xml_next(&reader.xml)) {
        if (event == XML_START) {
            status = read_start(&reader);
        } else if (event == XML_BROKEN) {
            status = ERR_LIMIT;
        }
    }
    if (status == ERR_LIMIT) {
        text->cut = true;
        status = OK;
    }
    for (size_t i = 0; status == OK && i < text->page_count; i++) {
        turn_page(&text->pages[i]);
    }
    return status == OK && text->page_count == 0 ? ERR_INVALID : status;
}
