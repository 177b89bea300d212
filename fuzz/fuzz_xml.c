/* Fuzzes the XML reader and what reads with it: feeds, sitemaps, drawings, arXiv's answers,
 * Poppler's output. Whatever comes: events nest, stay within the input, and end; what is written is
 * valid UTF-8 when the input is. */
#include "core/limits.h"
#include "core/status.h"
#include "documents/pdf.h"
#include "fuzz.h"
#include "html/xml.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_xml: %s\n", what);
        abort();
    }
}

static void within(struct slice slice, const char *text, size_t size)
{
    require(slice.data >= text && slice.data + slice.length <= text + size, "a slice is outside");
}

static void check_events(const char *text, size_t size)
{
    struct xml_reader reader;
    struct buf out;
    size_t depth = 0;
    buf_init(&out, MIB(4));
    xml_begin(&reader, text, size);
    for (size_t events = 0; events <= 2 * size + 2; events++) {
        enum xml_event event = xml_next(&reader);
        if (event == XML_DONE || event == XML_BROKEN) {
            require((event == XML_BROKEN) == (reader.problem != NULL), "a problem without words");
            require(event == XML_BROKEN || depth == 0, "done with open elements");
            buf_done(&out);
            return;
        }
        if (event == XML_TEXT) {
            within(reader.text, text, size);
            xml_append(&out, reader.text);
        } else {
            depth = event == XML_START ? depth + 1 : depth - 1;
            require(depth == reader.depth && depth <= LIMIT_XML_DEPTH, "the depth");
            within(reader.name, text, size);
        }
        for (size_t i = 0; event == XML_START && i < reader.attribute_count; i++) {
            within(reader.attributes[i].value, text, size);
            xml_append(&out, reader.attributes[i].value);
        }
    }
    require(0, "it does not end");
}

static void check_document(const struct document *document)
{
    require(document->markdown && strlen(document->markdown) == document->length, "the length");
    require(text_is_utf8(document->markdown, document->length), "not UTF-8");
}

FUZZ_TARGET(xml)
{
    struct arena *arena = arena_new(MIB(64));
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    struct feed *feed = arena ? arena_alloc(arena, sizeof *feed) : NULL;
    if (!text || !feed) {
        arena_free(arena);
        return 0;
    }
    check_events(text, size);
    struct arxiv_paper paper;
    struct pdf_text pdf;
    struct document document = {0};
    if (arxiv_parse(arena, text, size, &paper) == OK &&
        arxiv_write(arena, &paper, "1", NULL, "x", &document) == OK) {
        check_document(&document);
    }
    if (text_is_utf8(text, size) && feed_parse(arena, text, size, feed) == OK &&
        feed_write(arena, feed, "https://example.org/", &document) == OK) {
        check_document(&document);
    }
    if (text_is_utf8(text, size) && sitemap_write(arena, text, size, &document) == OK) {
        check_document(&document);
    }
    if (text_is_utf8(text, size) && svg_write(arena, text, size, &document) == OK) {
        check_document(&document);
    }
    if (text_is_utf8(text, size) && pdf_read_words(arena, text, size, &pdf) == OK &&
        pdf_read_fonts(arena, text, size, &pdf) == OK && pdf_write(arena, &pdf, &document) == OK) {
        check_document(&document);
    }
    arena_free(arena);
    return 0;
}
