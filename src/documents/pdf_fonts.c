/* The font of each word, its weight and its link, from pdftohtml, which tells of runs of text in
 * the same order as pdftotext tells of words, but of their places only roughly: a run is divided
 * into words by its blanks, and a word of pdftotext takes what the run of the same place says. */
#include "core/limits.h"
#include "documents/pdf.h"
#include "html/xml.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ZOOM       3.0
#define LOOK_BACK  12
#define LOOK_AHEAD 48
#define FONTS_MOST 4096
#define SLACK      1.5 /* points that a word may stand out of its run */
#define TOO_OBLONG 16  /* a number that is no size */

struct font {
    double size;
    unsigned flags;
};

/* A word of a run. */
struct run_word {
    struct slice text; /* still escaped */
    double left, top, right, bottom;
    unsigned font, flags;
    const char *link;
};

struct fonts_reader {
    struct xml_reader xml;
    struct arena *arena;
    struct pdf_text *text;
    struct font *fonts; /* FONTS_MOST */
    size_t page;        /* that is being read, from 1 */
    struct run_word *pieces;
    size_t count, capacity;
    struct run_word run; /* the one that is being read, and what it holds */
    size_t run_first;
    size_t run_chars;
    size_t run_depth;
};

static double number_of(const struct xml_reader *xml, const char *name)
{
    struct slice value;
    char digits[TOO_OBLONG];
    if (!xml_attribute(xml, name, &value) || value.length >= sizeof digits) {
        return 0;
    }
    memcpy(digits, value.data, value.length);
    digits[value.length] = '\0';
    double number = strtod(digits, NULL);
    return number > -1e6 && number < 1e6 ? number : 0;
}

/* What the name of a font says about it. */
static unsigned flags_of_name(struct slice family)
{
    static const struct {
        const char *part;
        unsigned flag;
    } PARTS[] = {
        {"bold", PDF_BOLD},      {"black", PDF_BOLD},       {"heavy", PDF_BOLD},
        {"cmbx", PDF_BOLD},      {"demi", PDF_BOLD},        {"italic", PDF_ITALIC},
        {"oblique", PDF_ITALIC}, {"cmti", PDF_ITALIC},      {"slanted", PDF_ITALIC},
        {"mono", PDF_MONO},      {"courier", PDF_MONO},     {"consol", PDF_MONO},
        {"cmtt", PDF_MONO},      {"typewriter", PDF_MONO},  {"menlo", PDF_MONO},
        {"lmtt", PDF_MONO},      {"inconsolata", PDF_MONO}, {"sourcecode", PDF_MONO},
        {"sftt", PDF_MONO},      {"nimbusmon", PDF_MONO},   {"txtt", PDF_MONO},
    };
    unsigned flags = 0;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        size_t length = strlen(PARTS[i].part);
        for (size_t at = 0; at + length <= family.length; at++) {
            flags |= strncasecmp(family.data + at, PARTS[i].part, length) == 0 ? PARTS[i].flag : 0;
        }
    }
    return flags;
}

static void read_font(struct fonts_reader *reader)
{
    struct slice family;
    double id = number_of(&reader->xml, "id");
    if (id < 0 || id >= FONTS_MOST) {
        return;
    }
    struct font *font = &reader->fonts[(size_t)id];
    font->size = number_of(&reader->xml, "size") / ZOOM;
    font->flags = xml_attribute(&reader->xml, "family", &family) && family.length < 256
                      ? flags_of_name(family)
                      : 0;
}

/* ---- runs ---- */

static void begin_run(struct fonts_reader *reader)
{
    const struct xml_reader *xml = &reader->xml;
    double font = number_of(xml, "font");
    reader->run = (struct run_word){
        .left = number_of(xml, "left") / ZOOM,
        .top = number_of(xml, "top") / ZOOM,
        .font = font >= 0 && font < FONTS_MOST ? (unsigned)font : 0,
    };
    reader->run.right = reader->run.left + number_of(xml, "width") / ZOOM;
    reader->run.bottom = reader->run.top + number_of(xml, "height") / ZOOM;
    reader->run_first = reader->count;
    reader->run_chars = 0;
    reader->run_depth = xml->depth;
}

/* Divides a text of the run at its blanks. Edges are counted in characters until the run ends. */
static int add_text(struct fonts_reader *reader, struct slice text)
{
    for (size_t i = 0; i < text.length;) {
        size_t length = 0;
        while (i + length < text.length && text.data[i + length] != ' ') {
            length++;
        }
        if (length) {
            struct run_word *pieces = arena_grow(reader->arena, reader->pieces, reader->count,
                                                 &reader->capacity, sizeof *pieces);
            if (!pieces) {
                return ERR_NOMEM;
            }
            reader->pieces = pieces;
            struct run_word *piece = &pieces[reader->count++];
            *piece = reader->run;
            piece->text = (struct slice){text.data + i, length};
            piece->left = (double)reader->run_chars;
            reader->run_chars += text_count(text.data + i, length);
            piece->right = (double)reader->run_chars;
            i += length;
        }
        while (i < text.length && text.data[i] == ' ') {
            i++;
            reader->run_chars++;
        }
    }
    return OK;
}

static void end_run(struct fonts_reader *reader)
{
    double width = reader->run.right - reader->run.left;
    double chars = reader->run_chars ? (double)reader->run_chars : 1;
    for (size_t i = reader->run_first; i < reader->count; i++) {
        struct run_word *piece = &reader->pieces[i];
        piece->left = reader->run.left + width * piece->left / chars;
        piece->right = reader->run.left + width * piece->right / chars;
    }
}

static bool leads_somewhere(struct slice address)
{
    static const char *const SCHEMES[] = {"http://", "https://", "mailto:"};
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
        size_t length = strlen(SCHEMES[i]);
        if (address.length > length && strncasecmp(address.data, SCHEMES[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static const char *link_of(struct fonts_reader *reader)
{
    struct slice address;
    struct buf text;
    if (!xml_attribute(&reader->xml, "href", &address) || !leads_somewhere(address)) {
        return NULL;
    }
    buf_init(&text, LIMIT_URL_BYTES);
    xml_append(&text, address);
    char *copy = buf_error(&text) == OK ? arena_strdup(reader->arena, text.data) : NULL;
    buf_done(&text);
    if (copy) {
        text_repair(copy);
    }
    return copy;
}

/* ---- runs and words together ---- */

static bool same_text(const struct run_word *piece, const struct pdf_word *word)
{
    return piece->text.length == word->length &&
           memcmp(piece->text.data, word->text, word->length) == 0;
}

static bool same_place(const struct run_word *piece, const struct pdf_word *word)
{
    double x = (word->left + word->right) / 2;
    double y = (word->top + word->bottom) / 2;
    return x > piece->left - SLACK && x < piece->right + SLACK && y > piece->top &&
           y < piece->bottom;
}

static void apply(const struct fonts_reader *reader, const struct run_word *piece,
                  struct pdf_word *word)
{
    const struct font *font = &reader->fonts[piece->font];
    word->flags |= font->flags | piece->flags;
    word->link = piece->link;
    double height = word->bottom - word->top;
    if (font->size > height / 4 && font->size < height * 2) {
        word->size = font->size;
    }
}

/* Both come in the order they were drawn in, so what belongs together is never far. */
static void join(struct fonts_reader *reader)
{
    if (reader->page == 0 || reader->page > reader->text->page_count) {
        return;
    }
    struct pdf_page *page = &reader->text->pages[reader->page - 1];
    size_t at = 0;
    for (size_t i = 0; i < page->count; i++) {
        struct pdf_word *word = &page->words[i];
        size_t from = at > LOOK_BACK ? at - LOOK_BACK : 0;
        size_t to = at + LOOK_AHEAD < reader->count ? at + LOOK_AHEAD : reader->count;
        size_t found = to;
        for (size_t j = from; j < to; j++) {
            const struct run_word *piece = &reader->pieces[j];
            bool here = same_place(piece, word);
            if (here && same_text(piece, word)) {
                found = j;
                break;
            }
            found = here && found == to ? j : found;
        }
        if (found == to && at < reader->count && same_text(&reader->pieces[at], word)) {
            found = at;
        }
        if (found < to) {
            apply(reader, &reader->pieces[found], word);
            at = found + 1;
        }
    }
}

static int read_start(struct fonts_reader *reader)
{
    struct xml_reader *xml = &reader->xml;
    if (slice_is(xml->name, "page")) {
        double number = number_of(xml, "number");
        reader->page = number >= 1 ? (size_t)number : 0;
        reader->count = 0;
    } else if (slice_is(xml->name, "fontspec")) {
        read_font(reader);
    } else if (slice_is(xml->name, "text")) {
        begin_run(reader);
    } else if (slice_is(xml->name, "b")) {
        reader->run.flags |= PDF_BOLD;
    } else if (slice_is(xml->name, "i")) {
        reader->run.flags |= PDF_ITALIC;
    } else if (slice_is(xml->name, "a")) {
        reader->run.link = link_of(reader);
    }
    return OK;
}

static void read_end(struct fonts_reader *reader)
{
    const struct xml_reader *xml = &reader->xml;
    if (slice_is(xml->name, "page")) {
        join(reader);
    } else if (slice_is(xml->name, "text")) {
        end_run(reader);
        reader->run_depth = 0;
    } else if (slice_is(xml->name, "b")) {
        reader->run.flags &= ~(unsigned)PDF_BOLD;
    } else if (slice_is(xml->name, "i")) {
        reader->run.flags &= ~(unsigned)PDF_ITALIC;
    } else if (slice_is(xml->name, "a")) {
        reader->run.link = NULL;
    }
}

int pdf_read_fonts(struct arena *arena, const char *xml, size_t length, struct pdf_text *text)
{
    struct fonts_reader reader = {.arena = arena, .text = text};
    int status = OK;
    reader.fonts = arena_zalloc(arena, FONTS_MOST * sizeof *reader.fonts);
    if (!reader.fonts) {
        return ERR_NOMEM;
    }
    xml_begin(&reader.xml, xml, length);
    for (enum xml_event event = xml_next(&reader.xml);
         status == OK && event != XML_DONE && event != XML_BROKEN; event = xml_next(&reader.xml)) {
        if (event == XML_START) {
            status = read_start(&reader);
        } else if (event == XML_END) {
            read_end(&reader);
        } else if (reader.run_depth) {
            status = add_text(&reader, reader.xml.text);
        }
    }
    return status;
}
