/* Text for manual pages: a backslash begins an escape, a point or an apostrophe at the beginning of
 * a line a request, and a plain hyphen may become a typographic one that nobody can copy. */
#include "text/roff.h"

void roff_put(struct buf *out, const char *text)
{
    if (*text == '.' || *text == '\'') {
        buf_puts(out, "\\&");
    }
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            buf_puts(out, "\\e");
            break;
        case '-':
            buf_puts(out, "\\-");
            break;
        case '"':
            buf_puts(out, "\\(dq");
            break;
        case '\n':
            buf_putc(out, ' ');
            break;
        default:
            buf_putc(out, *text);
        }
    }
}
