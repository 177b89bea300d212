/* Lines and what begins them, paragraphs, and the blank lines between blocks. */
#include "page/html/markdown/writer.h"

#include <ctype.h>
#include <strings.h>

/* ---- lines ---- */

static void put_line(struct writer *writer, const char *text, size_t length)
{
    struct buf *prefix = writer->first.length ? &writer->first : &writer->prefix;
    if (prefix->length) {
        buf_append(writer->out, prefix->data, prefix->length);
    }
    buf_append(writer->out, text, length);
    buf_putc(writer->out, '\n');
    buf_clear(&writer->first);
}

void output_gap(struct writer *writer)
{
    if (writer->gap == GAP_BLANK && writer->out->length) {
        size_t length = writer->prefix.length;
        while (length && writer->prefix.data[length - 1] == ' ') {
            length--;
        }
        if (length) {
            buf_append(writer->out, writer->prefix.data, length);
        }
        buf_putc(writer->out, '\n');
    }
    writer->gap = GAP_NONE;
}

void output_block(struct writer *writer, const char *text, size_t length)
{
    output_gap(writer);
    writer->block_at = writer->out->length;
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (stop == text && !writer->first.length) {
            /* An empty line of code: no white space at its end. */
            size_t trimmed = writer->prefix.length;
            while (trimmed && writer->prefix.data[trimmed - 1] == ' ') {
                trimmed--;
            }
            buf_append(writer->out, writer->prefix.data, trimmed);
            buf_putc(writer->out, '\n');
        } else {
            put_line(writer, text, (size_t)(stop - text));
        }
        text = newline ? newline + 1 : end;
    }
    writer->block_length = 0;
    writer->gap = GAP_BLANK;
}

/* ---- prefixes ---- */

struct prefix_mark prefix_push(struct writer *writer, const char *first, const char *rest)
{
    struct prefix_mark mark = {writer->prefix.length, writer->first.length};
    if (!writer->first.length && strcmp(first, rest) != 0) {
        buf_append(&writer->first, writer->prefix.data, writer->prefix.length);
    }
    if (writer->first.length || strcmp(first, rest) != 0) {
        buf_puts(&writer->first, first);
    }
    buf_puts(&writer->prefix, rest);
    return mark;
}

static void cut(struct buf *buf, size_t length)
{
    if (buf->length > length) {
        buf->length = length;
        buf->data[length] = '\0';
    }
}

void prefix_pop(struct writer *writer, struct prefix_mark mark)
{
    cut(&writer->prefix, mark.prefix);
    cut(&writer->first, mark.first);
}

/* ---- paragraphs ---- */

/* Whether a line that begins so would be read as something else than text. */
static size_t misread_at(const char *text, size_t length)
{
    size_t run = 0;
    switch (text[0]) {
    case '#':
        while (run < length && text[run] == '#') {
            run++;
        }
        return run <= 6 && (run == length || text[run] == ' ') ? 1 : 0;
    case '>':
        return 1;
    case '-':
    case '+':
        return length == 1 || text[1] == ' ' || (length > 2 && text[1] == '-' && text[2] == '-')
                   ? 1
                   : 0;
    case '=':
        while (run < length && text[run] == '=') {
            run++;
        }
        return run == length ? 1 : 0;
    case '~':
        return length > 2 && text[1] == '~' && text[2] == '~' ? 1 : 0;
    default:
        while (run < length && run < 9 && isdigit((unsigned char)text[run])) {
            run++;
        }
        return run && run < length && (text[run] == '.' || text[run] == ')') &&
                       (run + 1 == length || text[run + 1] == ' ')
                   ? run + 1
                   : 0;
    }
}

/* One line of a paragraph, escaped where its beginning asks for it. */
static void put_paragraph_line(struct writer *writer, const char *text, size_t length, bool more)
{
    struct buf *prefix = writer->first.length ? &writer->first : &writer->prefix;
    if (prefix->length) {
        buf_append(writer->out, prefix->data, prefix->length);
    }
    buf_clear(&writer->first);
    size_t escaped = length ? misread_at(text, length) : 0;
    if (escaped) {
        buf_append(writer->out, text, escaped - 1);
        buf_putc(writer->out, '\\');
        text += escaped - 1;
        length -= escaped - 1;
    }
    buf_append(writer->out, text, length);
    buf_puts(writer->out, more ? "  \n" : "\n");
}

static void put_paragraph(struct writer *writer, const char *text, size_t length)
{
    output_gap(writer);
    writer->block_at = writer->out->length;
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        put_paragraph_line(writer, text, (size_t)(stop - text), newline != NULL);
        text = newline ? newline + 1 : end;
    }
    writer->block_length = writer->out->length - writer->block_at;
    writer->gap = GAP_BLANK;
}

void flush_block(struct writer *writer)
{
    writer->space = false;
    if (writer->mode != MODE_BLOCKS) {
        writer->space = writer->mode == MODE_LINE && writer->line.length;
        writer->break_due = writer->mode == MODE_CELL && writer->line.length;
        return;
    }
    if (writer->line.length == 0) {
        return;
    }
    format_suspend(writer);
    const char *text = writer->line.data;
    size_t length = writer->line.length;
    while (length && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    while (length && *text == '\n') {
        text++;
        length--;
    }
    if (length) {
        put_paragraph(writer, text, length);
    }
    buf_clear(&writer->line);
    writer->closed_at = 0;
}

bool output_take_back(struct writer *writer, const char *text)
{
    size_t length = strlen(text);
    if (!writer->block_length || writer->block_at + writer->block_length != writer->out->length ||
        writer->block_length < length + 1) {
        return false;
    }
    const char *block = writer->out->data + writer->block_at;
    size_t prefix = writer->block_length - length - 1;
    if (strncasecmp(block + prefix, text, length) != 0 || prefix != writer->prefix.length ||
        (prefix && memcmp(block, writer->prefix.data, prefix) != 0)) {
        return false;
    }
    writer->out->length = writer->block_at;
    writer->out->data[writer->block_at] = '\0';
    writer->block_length = 0;
    writer->gap = GAP_NONE; /* the blank line before it still stands */
    return true;
}
