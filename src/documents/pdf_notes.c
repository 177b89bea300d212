/* Footnotes: lines that begin with a small raised sign, or in small letters with a number, when the
 * same sign stands raised in the text of the page. */
#include "documents/pdf_lines.h"

#include <string.h>

#define NOTE_BYTES 6

static bool is_sign(const struct pdf_word *word)
{
    static const char *const SIGNS[] = {"*", "†", "‡", "§", "¶", "**"};
    if (word->length <= 3 && word->text[strspn(word->text, "0123456789")] == '\0') {
        return true;
    }
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (strcmp(word->text, SIGNS[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool may_be_note(const struct pdf_style *style, const struct pdf_line *line)
{
    const struct pdf_word *first = line->words[0];
    return !line->table && line->count > 1 && first->length < NOTE_BYTES && is_sign(first) &&
           ((first->flags & PDF_RAISED) || line->size < 0.95 * style->size);
}

static bool is_known(const struct pdf_notes *notes, const char *name)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool may_refer(const struct pdf_word *word)
{
    return (word->flags & PDF_RAISED) && word->length < NOTE_BYTES && is_sign(word);
}

void pdf_find_notes(const struct pdf_lines *lines, const struct pdf_style *style, size_t first,
                    struct pdf_notes *notes)
{
    struct pdf_notes referred = {.count = 0};
    notes->count = 0;
    for (size_t i = first; i < lines->count && lines->lines[i].page == lines->lines[first].page;
         i++) {
        const struct pdf_line *line = &lines->lines[i];
        for (size_t j = 0; j < line->count && referred.count < PDF_NOTES_MOST; j++) {
            if ((j > 0 || !may_be_note(style, line)) && may_refer(line->words[j]) &&
                !is_known(&referred, line->words[j]->text)) {
                referred.names[referred.count++] = line->words[j]->text;
            }
        }
        if (may_be_note(style, line) && is_known(&referred, line->words[0]->text) &&
            !is_known(notes, line->words[0]->text)) {
            notes->names[notes->count++] = line->words[0]->text;
        }
    }
}

bool pdf_begins_note(const struct pdf_notes *notes, const struct pdf_style *style,
                     const struct pdf_line *line)
{
    return may_be_note(style, line) && is_known(notes, line->words[0]->text);
}

bool pdf_is_reference(const struct pdf_notes *notes, const struct pdf_word *word)
{
    return may_refer(word) && is_known(notes, word->text);
}
