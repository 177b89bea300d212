/* Takes from a piece of Markdown what its reader does not see. It need not be exact: what is left
 * over is shown as it stands. */
#include "evidence/marks.h"

#include "core/buf.h"
#include "core/limits.h"

#include <ctype.h>
#include <string.h>

#define MOST_TARGET 2048 /* bytes of the address in a link */
#define MOST_LABEL  64   /* bytes of the name of a footnote */
#define NO_PLACE    SIZE_MAX

size_t marks_target_end(const char *text, size_t length, size_t at, size_t *none_before)
{
    size_t depth = 1, end = at;
    if (at < *none_before) {
        return 0;
    }
    while (end < length && end - at < MOST_TARGET && text[end] != '\n') {
        char c = text[end++];
        end += c == '\\' && end < length && text[end] != '\n' ? 1 : 0;
        depth += c == '(' ? 1 : 0;
        depth -= c == ')' ? 1 : 0;
        if (depth == 0) {
            return end;
        }
    }
    *none_before = end;
    return 0;
}

size_t marks_footnote_end(const char *text, size_t length, size_t at)
{
    if (length - at < 3 || text[at] != '[' || text[at + 1] != '^') {
        return 0;
    }
    for (size_t end = at + 2; end < length && end < at + MOST_LABEL; end++) {
        char c = text[end];
        if (c == ']') {
            return end + 1;
        }
        if (c == ' ' || c == '\n' || c == '[') {
            return 0;
        }
    }
    return 0;
}

bool marks_is_address(const char *target, size_t length)
{
    size_t address = 0;
    while (address < length && target[address] != ' ') {
        address++;
    }
    return memchr(target, '/', address) || memchr(target, '#', address) ||
           memchr(target, '.', address) || memchr(target, ':', address);
}

/* ---- as a reader sees it ---- */

struct plain {
    const char *text;
    size_t length, at;
    struct buf out;
    size_t open; /* where a bracket was written that may be a link's */
    size_t no_target_before;
};

/* Takes the bracket away that was written last: it was a link's. */
static void close_link(struct plain *plain)
{
    struct buf *out = &plain->out;
    if (plain->open < out->length) {
        memmove(out->data + plain->open, out->data + plain->open + 1, out->length - plain->open);
        out->length--;
    }
    plain->open = NO_PLACE;
}

/* What is about links and notes. False: it is not. */
static bool skip_link(struct plain *plain)
{
    const char *here = plain->text + plain->at;
    size_t note = marks_footnote_end(plain->text, plain->length, plain->at);
    if (note) {
        plain->at = note;
        return true;
    }
    if (*here == '[') {
        plain->open = plain->out.length;
        return false;
    }
    if (*here != ']' || plain->length - plain->at < 2 || here[1] != '(') {
        plain->open = *here == ']' ? NO_PLACE : plain->open;
        return false;
    }
    size_t target = plain->at + 2;
    size_t end = marks_target_end(plain->text, plain->length, target, &plain->no_target_before);
    if (!end || !marks_is_address(plain->text + target, end - target)) {
        return false;
    }
    close_link(plain);
    plain->at = end;
    return true;
}

/* Stars that set words off have a word on one of their sides. */
static bool skip_stars(struct plain *plain)
{
    size_t end = plain->at;
    while (end < plain->length && plain->text[end] == '*') {
        end++;
    }
    unsigned char before = plain->at ? (unsigned char)plain->text[plain->at - 1] : ' ';
    unsigned char after = end < plain->length ? (unsigned char)plain->text[end] : ' ';
    bool opens = isalnum(after) || after >= 0x80, closes = isalnum(before) || before >= 0x80;
    if (end == plain->at || opens == closes) {
        return false;
    }
    plain->at = end;
    return true;
}

/* "<sub>2</sub>", "<sup>6</sup>": the digits that Unicode has for them. */
static bool put_script(struct plain *plain)
{
    static const char *const RAISED[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    static const char *const LOWERED[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    const char *here = plain->text + plain->at;
    size_t left = plain->length - plain->at, end = 5;
    bool lowered = left > 5 && memcmp(here, "<sub>", 5) == 0;
    if (!lowered && !(left > 5 && memcmp(here, "<sup>", 5) == 0)) {
        return false;
    }
    while (end < left && isdigit((unsigned char)here[end])) {
        end++;
    }
    bool closed = left - end >= 6 && memcmp(here + end, lowered ? "</sub>" : "</sup>", 6) == 0;
    if (end == 5 || (!closed && end < left)) {
        return false;
    }
    for (size_t i = 5; i < end; i++) {
        buf_puts(&plain->out, (lowered ? LOWERED : RAISED)[here[i] - '0']);
    }
    plain->at += closed ? end + 6 : end;
    return true;
}

static void put_blank(struct plain *plain)
{
    bool line = false;
    while (plain->at < plain->length) {
        char c = plain->text[plain->at];
        line = line || c == '\n';
        if (!isspace((unsigned char)c) && !(line && c == '>')) {
            break;
        }
        plain->at++;
    }
    buf_putc(&plain->out, ' ');
}

const char *marks_plain(struct arena *arena, const char *text, size_t length)
{
    struct plain plain = {.text = text, .length = length, .open = NO_PLACE};
    buf_init(&plain.out, LIMIT_EVIDENCE_PAGE_BYTES);
    while (plain.at < length) {
        char c = text[plain.at];
        if (isspace((unsigned char)c)) {
            put_blank(&plain);
        } else if (!skip_link(&plain) && !skip_stars(&plain) && !put_script(&plain)) {
            bool escapes =
                c == '\\' && plain.at + 1 < length && ispunct((unsigned char)text[plain.at + 1]);
            plain.at += escapes ? 1 : 0;
            buf_putc(&plain.out, text[plain.at++]);
        }
    }
    close_link(&plain); /* the piece ends inside of it */
    return buf_to_arena(&plain.out, arena);
}
