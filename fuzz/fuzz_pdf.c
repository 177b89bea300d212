/* Fuzzes what makes Markdown of words and their places. Each five bytes are a word: which one,
 * where it stands, how large it is and how it looks. Whatever comes: the Markdown is valid UTF-8,
 * and has every letter of the words that are no running heads. */
#include "core/limits.h"
#include "documents/pdf.h"
#include "fuzz.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD   5
#define NEW_PAGE 31
#define PAGES    16

static const char *const TEXTS[] = {
    "a",     "word", "Another", "longer-",  "part",  "1.",   "2.", "•",
    "–",     "3.14", "100",     "Heading",  "Intro", "1",    "2",  "*",
    "(a)",   "....", ".",       "sentence", "end.",  "中文", "字", "مرحبا",
    "|cell", "#no",  "<tag>",   "_",        "x",     "page", "`",  "",
};

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_pdf: %s\n", what);
        abort();
    }
}

static void count_letters(const char *text, size_t letters[256])
{
    for (; *text; text++) {
        letters[(unsigned char)*text]++;
    }
}

static size_t read_pages(const uint8_t *data, size_t size, struct pdf_word *words,
                         struct pdf_page *pages)
{
    size_t count = 1;
    pages[0] = (struct pdf_page){.words = words, .width = 612, .height = 792};
    for (size_t i = 0; i + RECORD <= size; i += RECORD) {
        const uint8_t *at = data + i;
        struct pdf_page *page = &pages[count - 1];
        if (at[0] % 32 == NEW_PAGE) {
            if (count < PAGES) {
                pages[count++] =
                    (struct pdf_page){page->words + page->count, 0, page->width, page->height};
            }
            continue;
        }
        struct pdf_word *word = &page->words[page->count];
        double height = 4 + at[3] % 24;
        *word = (struct pdf_word){
            .text = TEXTS[at[0] % 32],
            .left = 2.4 * at[1],
            .top = 3.1 * at[2],
            .size = height * 0.9,
            .flags = (at[4] & 7) | (at[4] & 0xF0 ? 0 : PDF_TURNED),
            .link = at[4] & 8 ? "https://example.org/" : NULL,
            .order = page->count++,
        };
        word->length = strlen(word->text);
        word->right = word->left + height * 0.5 * (double)word->length;
        word->bottom = word->top + height;
    }
    return count;
}

FUZZ_TARGET(pdf)
{
    struct arena *arena = arena_new(MIB(64));
    struct pdf_word *words = arena ? arena_alloc(arena, (size / RECORD + 1) * sizeof *words) : NULL;
    struct pdf_page pages[PAGES];
    struct document document = {0};
    if (!words) {
        arena_free(arena);
        return 0;
    }
    struct pdf_text text = {.pages = pages, .page_count = read_pages(data, size, words, pages)};
    int status = pdf_write(arena, &text, &document);
    require(status == OK || status == ERR_NOTFOUND || status == ERR_NOMEM, "the status");
    if (status == OK && !document.cut) {
        size_t ours[256] = {0};
        size_t known[256] = {0};
        require(text_is_utf8(document.markdown, document.length), "not UTF-8");
        count_letters(document.markdown, ours);
        for (size_t i = 0; i < text.page_count; i++) {
            for (size_t j = 0; j < pages[i].count; j++) {
                if (!(pages[i].words[j].flags & PDF_FURNITURE)) {
                    count_letters(pages[i].words[j].text, known);
                }
            }
        }
        for (int letter = 'A'; letter <= 'z'; letter++) {
            require(letter > 'Z' && letter < 'a' ? 1 : ours[letter] >= known[letter],
                    "a letter is lost");
        }
    }
    arena_free(arena);
    return 0;
}
