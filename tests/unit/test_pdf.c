/* PDF as Markdown: words with their places in, Markdown out. */
#include "core/buf.h"
#include "core/limits.h"
#include "documents/pdf.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(16));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    arena_free(*state);
    return 0;
}

/* What pdftotext and pdftohtml say about pages of lines "size left top flags|words"; a word is as
 * many halves of its size wide as it has letters. Flags: b (bold), m (one width), l (a link). */
static void add_line(struct buf *words, struct buf *fonts, const char *line, size_t length)
{
    double size, left, top;
    int at = 0;
    assert_int_equal(sscanf(line, "%lf %lf %lf %n", &size, &left, &top, &at), 3);
    bool bold = false, mono = false, link = false;
    for (; line[at] != '|'; at++) {
        bold = bold || line[at] == 'b';
        mono = mono || line[at] == 'm';
        link = link || line[at] == 'l';
    }
    for (size_t i = (size_t)at + 1; i < length;) {
        size_t word = strcspn(line + i, " \n");
        double right = left + size / 2 * (double)word;
        if (word) {
            buf_printf(words, "<word xMin=\"%f\" xMax=\"%f\" yMin=\"%f\" yMax=\"%f\">%.*s</word>",
                       left, right, top, top + size, (int)word, line + i);
            buf_printf(fonts,
                       "<text top=\"%d\" left=\"%d\" width=\"%d\" height=\"%d\" "
                       "font=\"%d\">%s%s%.*s%s%s</text>",
                       (int)(3 * top), (int)(3 * left), (int)(3 * (right - left)), (int)(3 * size),
                       (int)size * 2 + mono, bold ? "<b>" : "",
                       link ? "<a href=\"https://example.org/\">" : "", (int)word, line + i,
                       link ? "</a>" : "", bold ? "</b>" : "");
        }
        left = right + size / 4;
        i += word + 1;
    }
}

static void read_pages(struct arena *arena, const char *const *pages, struct pdf_text *text)
{
    struct buf words;
    struct buf fonts;
    buf_init(&words, MIB(1));
    buf_init(&fonts, MIB(1));
    buf_puts(&words, "<!DOCTYPE html PUBLIC \"x\" \"y\"><html><head><title>The &amp; title</title>"
                     "<meta name=\"Author\" content=\"Ann\"/></head><body><doc>");
    buf_puts(&fonts, "<pdf2xml>");
    for (size_t page = 1; *pages; pages++, page++) {
        buf_puts(&words, "<page width=\"600\" height=\"800\">");
        buf_printf(&fonts, "<page number=\"%zu\">", page);
        for (int font = 0; page == 1 && font < 80; font++) {
            buf_printf(&fonts, "<fontspec id=\"%d\" size=\"%d\" family=\"%s\"/>", font,
                       3 * (font / 2), font % 2 ? "Courier" : "Times");
        }
        for (const char *at = *pages; *at;) {
            size_t length = strcspn(at, "\n");
            add_line(&words, &fonts, at, length);
            at += length + (at[length] == '\n');
        }
        buf_puts(&words, "</page>");
        buf_puts(&fonts, "</page>");
    }
    buf_puts(&words, "</doc></body></html>");
    buf_puts(&fonts, "</pdf2xml>");
    assert_int_equal(pdf_read_words(arena, arena_strdup(arena, words.data), words.length, text),
                     OK);
    assert_int_equal(pdf_read_fonts(arena, arena_strdup(arena, fonts.data), fonts.length, text),
                     OK);
    buf_done(&words);
    buf_done(&fonts);
}

static void gives(struct arena *arena, const char *const *pages, const char *markdown)
{
    struct pdf_text text;
    struct document document = {0};
    read_pages(arena, pages, &text);
    text.title = NULL;
    assert_int_equal(pdf_write(arena, &text, &document), OK);
    assert_string_equal(document.markdown, markdown);
    assert_false(document.cut);
}

static void writes_paragraphs(void **state)
{
    static const char *const PAGES[] = {
        "10 50 20 |Running head 1\n"
        "20 50 100 |The Great\n20 50 122 |Title\n"
        "14 50 200 |Motivation\n"
        "10 50 230 |The \xEF\xAC\x81rst para-\n10 50 242 |graph has words that are long\n"
        "10 50 254 |and end. Next one is here.\n10 65 266 |A second one begins here and is\n"
        "10 50 278 |going on below, un-\n"
        "10 300 780 |1\n",
        "10 50 20 |Running head 2\n"
        "10 50 100 |til the next page.\n"
        "10 50 130 b|Bold Heading\n"
        "10 50 150 l|a link\n"
        "10 50 180 |# no heading\n"
        "14 50 300 |Contents . . . . . 3\n"
        "10 300 780 |2\n",
        "10 50 20 |Running head 3\n14 50 100 |Results\n10 50 130 |Last words.\n10 300 780 |3\n",
        NULL,
    };
    gives(*state, PAGES,
          "# The Great Title\n\n## Motivation\n\n"
          "The first paragraph has words that are long and end. Next one is here.\n\n"
          "A second one begins here and is going on below, until the next page.\n\n"
          "### Bold Heading\n\n[a link](https://example.org/)\n\n\\# no heading\n\n"
          "Contents … 3\n\n## Results\n\nLast words.\n");
}

static void tells_what_it_leaves_out(void **state)
{
    static const char *const PAGES[] = {
        "10 50 20 |A head\n10 50 100 |One.\n10 300 780 |- 1 -\n",
        "10 50 20 |A head\n10 50 100 |Two.\n10 300 780 |- 2 -\n",
        "10 50 20 |A head\n10 50 100 |Three.\n10 300 780 |- 3 -\n",
        NULL,
    };
    struct pdf_text text;
    struct document document = {0};
    for (int all = 0; all < 2; all++) {
        read_pages(*state, PAGES, &text);
        text.title = NULL;
        text.all = all;
        assert_int_equal(pdf_write(*state, &text, &document), OK);
        assert_int_equal(strstr(document.markdown, "A head") != NULL, all);
        assert_int_equal(document.omitted.count, all ? 0 : 2);
    }
    read_pages(*state, PAGES, &text);
    assert_int_equal(pdf_write(*state, &text, &document), OK);
    assert_string_equal(document.omitted.parts[0].what, "header");
    assert_int_equal(document.omitted.parts[0].chars, 3 * strlen("A head "));
    assert_string_equal(document.omitted.parts[1].what, "footer");
}

static void reads_columns(void **state)
{
    static const char *const PAGES[] = {
        "16 200 50 |A Title Across\n"
        "10 50 100 |Left one of the text is\n10 50 112 |left two of the text and\n"
        "10 50 124 |left three of the text so\n10 50 136 |left four ends here.\n"
        "10 320 100 |Right one of the text is\n10 320 112 |right two of the text and\n"
        "10 320 124 |right three of the text\n10 320 136 |ends as well.\n"
        "10 50 180 |And this is a line that goes on across both of the columns of it.\n",
        NULL,
    };
    gives(*state, PAGES,
          "# A Title Across\n\n"
          "Left one of the text is left two of the text and left three of the text so left four "
          "ends here.\n\n"
          "Right one of the text is right two of the text and right three of the text ends as "
          "well.\n\n"
          "And this is a line that goes on across both of the columns of it.\n");
}

static void reads_tables(void **state)
{
    /* The cell of two lines is drawn as a whole; numbers are aligned on the right. */
    static const char *const PAGES[] = {
        "10 50 100 |Name\n10 200 100 |What\n10 400 100 |Count\n"
        "10 50 115 |Alpha\n10 200 115 |words of\n10 200 126 |two lines\n10 410 115 |1.5\n"
        "10 50 140 |Beta\n10 405 140 |22.5\n"
        "10 50 155 |Gamma\n10 200 155 |x\\|y\n10 400 155 |333.5\n"
        "10 50 200 |And a paragraph of text follows below it, with many words in it.\n",
        NULL,
    };
    gives(*state, PAGES,
          "| Name | What | Count |\n| --- | --- | --- |\n| Alpha | words of two lines | 1.5 |\n"
          "| Beta | | 22.5 |\n| Gamma | x\\\\\\|y | 333.5 |\n\n"
          "And a paragraph of text follows below it, with many words in it.\n");
}

static void reads_lists_and_code(void **state)
{
    static const char *const PAGES[] = {
        "10 50 100 |Some words before the list of it all:\n"
        "10 50 120 |• one\n10 50 132 |• two and\n10 67.5 144 |more of it\n10 70 156 |– inside\n"
        "10 50 180 |3. third\n10 50 192 |4. fourth\n10 50 204 |7. seventh\n"
        "10 50 240 m|if (x) {\n10 70 252 m|y();\n10 50 264 m|}\n"
        "10 50 300 |The word code is in here.\n",
        NULL,
    };
    gives(*state, PAGES,
          "Some words before the list of it all:\n\n- one\n- two and more of it\n  - inside\n\n"
          "3. third\n4. fourth\n\n7. seventh\n\n```\nif (x) {\n    y();\n}\n```\n\n"
          "The word code is in here.\n");
}

static void reads_footnotes(void **state)
{
    static const char *const PAGES[] = {
        "10 50 100 |A word\n6 77.5 99.5 |1\n10 90 100 |and more of the text, 5 m\n6 200 99.5 |2\n"
        "6 50 700 |1\n8 56 700 |The note of it.\n",
        NULL,
    };
    gives(*state, PAGES,
          "A word[^1] and more of the text, 5 m<sup>2</sup>\n\n[^1]: The note of it.\n");
}

static void turns_pages(void **state)
{
    static const char XML[] =
        "<html><doc><page width=\"600\" height=\"800\">"
        "<word xMin=\"50\" xMax=\"60\" yMin=\"600\" yMax=\"650\">upward</word>"
        "<word xMin=\"50\" xMax=\"60\" yMin=\"540\" yMax=\"595\">words</word>"
        "<word xMin=\"50\" xMax=\"60\" yMin=\"500\" yMax=\"535\">here</word>"
        "</page></doc></html>";
    struct pdf_text text;
    struct document document = {0};
    assert_int_equal(pdf_read_words(*state, XML, strlen(XML), &text), OK);
    assert_int_equal((int)text.pages[0].width, 800);
    assert_int_equal(pdf_write(*state, &text, &document), OK);
    assert_string_equal(document.markdown, "upward words here\n");
}

static void reads_what_breaks_off(void **state)
{
    static const char XML[] = "<html><doc><page height=\"800\"><word yMin=\"1\" yMax=\"9\">whole"
                              "</word><word>bro";
    static const char EMPTY[] = "<html><doc><page height=\"800\"/></doc></html>";
    struct pdf_text text;
    struct document document = {0};
    assert_int_equal(pdf_read_words(*state, XML, strlen(XML), &text), OK);
    assert_true(text.cut);
    assert_int_equal(pdf_read_fonts(*state, "<pdf2xml><page number=\"9\"><te", 30, &text), OK);
    assert_int_equal(pdf_write(*state, &text, &document), OK);
    assert_string_equal(document.markdown, "whole\n");
    assert_true(document.cut);
    assert_int_equal(pdf_read_words(*state, "", 0, &text), ERR_INVALID);
    assert_int_equal(pdf_read_words(*state, EMPTY, strlen(EMPTY), &text), OK);
    assert_int_equal(pdf_write(*state, &text, &document), ERR_NOTFOUND);
}

static void takes_the_metadata(void **state)
{
    static const char *const PAGES[] = {"10 50 100 |Text.\n", NULL};
    struct pdf_text text;
    struct document document = {0};
    read_pages(*state, PAGES, &text);
    assert_int_equal(pdf_write(*state, &text, &document), OK);
    assert_string_equal(document.title, "The & title");
    assert_string_equal(document.authors, "Ann");
    assert_string_equal(document.kind, "pdf");
    assert_string_equal(document.markdown, "# The & title\n\nText.\n");
}

UNIT_TEST(pdf)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_paragraphs, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(tells_what_it_leaves_out, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_columns, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_tables, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_lists_and_code, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_footnotes, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(turns_pages, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_what_breaks_off, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(takes_the_metadata, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
