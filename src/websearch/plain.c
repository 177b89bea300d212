/* Only what search results are decorated with is understood; everything else stays as it is. */
#include "websearch/plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static const char *const TAGS[] = {"strong", "b", "em", "i", "br", "mark", "span"};

static const struct {
    const char *name;
    const char *text;
} NAMES[] = {
    {"amp;", "&"}, {"lt;", "<"}, {"gt;", ">"}, {"quot;", "\""}, {"apos;", "'"}, {"nbsp;", " "},
};

/* The length of a tag of the list at `at`, which is at '<'; 0 when it is none. */
static size_t tag_length(const char *at)
{
    const char *name = at + 1 + (at[1] == '/');
    size_t length = strcspn(name, " />\t\n<");
    for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++) {
        if (strlen(TAGS[i]) == length && strncasecmp(name, TAGS[i], length) == 0) {
            const char *end = strpbrk(name, "<>");
            return end && *end == '>' ? (size_t)(end - at) + 1 : 0;
        }
    }
    return 0;
}

/* Writes a code point and returns how many bytes it took; 0 for what is none. */
static size_t put_letter(char *out, uint32_t letter)
{
    if (letter < ' ' || (letter >= 0xD800 && letter <= 0xDFFF) || letter > 0x10FFFF) {
        return 0;
    }
    if (letter < 0x80) {
        out[0] = (char)letter;
        return 1;
    }
    size_t more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    static const unsigned char MARKS[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(MARKS[more] | (letter >> (6 * more)));
    for (size_t i = 1; i <= more; i++) {
        out[i] = (char)(0x80 | ((letter >> (6 * (more - i))) & 0x3F));
    }
    return more + 1;
}

/* Reads "#39;" or "#x27;" behind an ampersand. The bytes read; 0 when it is none. */
static size_t read_number(const char *at, uint32_t *letter)
{
    bool hexadecimal = at[1] == 'x' || at[1] == 'X';
    const char *digits = at + 1 + hexadecimal;
    size_t length = strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || length > 7 || digits[length] != ';') {
        return 0;
    }
    *letter = 0;
    for (size_t i = 0; i < length; i++) {
        char digit = digits[i];
        uint32_t value =
            digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)((digit | 32) - 'a' + 10);
        *letter = *letter * (hexadecimal ? 16 : 10) + value;
    }
    return (size_t)(digits - at) + length + 1;
}

/* Reads what follows an ampersand and writes what it means. The bytes read; 0 when it means
 * nothing. A reference is never shorter than what it stands for. */
static size_t read_reference(const char *at, char *out, size_t *written)
{
    uint32_t letter;
    size_t read = *at == '#' ? read_number(at, &letter) : 0;
    if (read) {
        *written = put_letter(out, letter);
        return *written ? read : 0;
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t length = strlen(NAMES[i].name);
        if (strncmp(at, NAMES[i].name, length) == 0) {
            out[0] = NAMES[i].text[0];
            *written = 1;
            return length;
        }
    }
    return 0;
}

const char *plain_text(struct arena *arena, const char *html)
{
    char *text = html ? arena_alloc(arena, strlen(html) + 1) : NULL;
    if (!text) {
        return NULL;
    }
    size_t length = 0;
    while (*html) {
        size_t written = 0;
        size_t read = *html == '<' ? tag_length(html) : 0;
        if (!read && *html == '&') {
            read = read_reference(html + 1, text + length, &written);
            read += read ? 1 : 0;
        }
        if (!read) {
            text[length] = *html;
            written = 1;
            read = 1;
        }
        length += written;
        html += read;
    }
    text[length] = '\0';
    return text;
}
