/* A pull reader for XML. Everything is a scan forward over the input; the only state is the stack
 * of open elements. */
#include "html/xml.h"

#include "core/status.h"
#include "text/text.h"

#include <stdint.h>
#include <string.h>

#define MOST_ENTITY_CHARS 10 /* "#x0010FFFF" */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

void xml_begin(struct xml_reader *reader, const char *text, size_t length)
{
    memset(reader, 0, sizeof *reader);
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    reader->at = text;
    reader->token = text;
    reader->end = text + length;
}

static enum xml_event broken(struct xml_reader *reader, const char *problem)
{
    reader->problem = problem;
    reader->at = reader->end;
    return XML_BROKEN;
}

static size_t left(const struct xml_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static bool looking_at(const struct xml_reader *reader, const char *words)
{
    size_t length = strlen(words);
    return left(reader) >= length && memcmp(reader->at, words, length) == 0;
}

/* Goes on behind `words`; what stands before them in `inside`. False when they never come. */
static bool pass(struct xml_reader *reader, const char *words, struct slice *inside)
{
    size_t length = strlen(words);
    const char *found = memmem(reader->at, left(reader), words, length);
    if (!found) {
        return false;
    }
    if (inside) {
        *inside = (struct slice){reader->at, (size_t)(found - reader->at)};
    }
    reader->at = found + length;
    return true;
}

static void pass_spaces(struct xml_reader *reader)
{
    while (reader->at < reader->end && is_space(*reader->at)) {
        reader->at++;
    }
}

static struct slice take_name(struct xml_reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && is_name_char(*reader->at)) {
        reader->at++;
    }
    return (struct slice){start, (size_t)(reader->at - start)};
}

/* <!DOCTYPE ... [ ... ]>: passed over whole, quoted parts included. */
static bool pass_document_type(struct xml_reader *reader)
{
    int brackets = 0;
    for (; reader->at < reader->end; reader->at++) {
        char c = *reader->at;
        if (c == '"' || c == '\'') {
            const char *close = memchr(reader->at + 1, c, left(reader) - 1);
            if (!close) {
                return false;
            }
            reader->at = close;
        } else if (c == '[') {
            brackets++;
        } else if (c == ']') {
            brackets--;
        } else if (c == '>' && brackets <= 0) {
            reader->at++;
            return true;
        }
    }
    return false;
}

static bool take_attribute(struct xml_reader *reader)
{
    struct slice name = take_name(reader);
    pass_spaces(reader);
    if (name.length == 0 || reader->at == reader->end || *reader->at != '=') {
        return false;
    }
    reader->at++;
    pass_spaces(reader);
    if (reader->at == reader->end || (*reader->at != '"' && *reader->at != '\'')) {
        return false;
    }
    char quote = *reader->at++;
    const char *close = memchr(reader->at, quote, left(reader));
    if (!close) {
        return false;
    }
    if (reader->attribute_count < LIMIT_XML_ATTRIBUTES) {
        reader->attributes[reader->attribute_count].name = name;
        reader->attributes[reader->attribute_count++].value =
            (struct slice){reader->at, (size_t)(close - reader->at)};
    }
    reader->at = close + 1;
    return true;
}

static enum xml_event take_start(struct xml_reader *reader)
{
    reader->at++;
    reader->name = take_name(reader);
    reader->attribute_count = 0;
    if (reader->name.length == 0) {
        return broken(reader, "a < that begins no element");
    }
    if (reader->depth == 0 && reader->rooted) {
        return broken(reader, "a second root element");
    }
    if (reader->depth == LIMIT_XML_DEPTH) {
        return broken(reader, "too many levels of elements");
    }
    for (pass_spaces(reader); !looking_at(reader, ">"); pass_spaces(reader)) {
        if (looking_at(reader, "/>")) {
            reader->at++;
            reader->empty = true;
            break;
        }
        if (!take_attribute(reader)) {
            return broken(reader, "a tag that is not well-formed");
        }
    }
    reader->at++;
    reader->rooted = true;
    reader->open[reader->depth++] = reader->name;
    return XML_START;
}

static enum xml_event take_end(struct xml_reader *reader)
{
    reader->at += 2;
    struct slice name = take_name(reader);
    pass_spaces(reader);
    if (!looking_at(reader, ">")) {
        return broken(reader, "an end tag that is not well-formed");
    }
    reader->at++;
    if (reader->depth == 0) {
        return broken(reader, "an end tag without a beginning");
    }
    struct slice expected = reader->open[reader->depth - 1];
    if (name.length != expected.length || memcmp(name.data, expected.data, name.length) != 0) {
        return broken(reader, "an end tag of another element");
    }
    reader->depth--;
    reader->name = name;
    return XML_END;
}

static enum xml_event take_text(struct xml_reader *reader)
{
    const char *next = memchr(reader->at, '<', left(reader));
    const char *stop = next ? next : reader->end;
    reader->text = (struct slice){reader->at, (size_t)(stop - reader->at)};
    reader->literal = false;
    reader->at = stop;
    return XML_TEXT;
}

static enum xml_event at_the_end(struct xml_reader *reader)
{
    if (reader->problem) {
        return XML_BROKEN;
    }
    if (reader->depth > 0) {
        return broken(reader, "it ends before its elements do");
    }
    return reader->rooted ? XML_DONE : broken(reader, "there is no element in it");
}

/* What begins with <! or <? and is no element: passed over. False when it has no end. */
static bool pass_declaration(struct xml_reader *reader)
{
    if (looking_at(reader, "<!--")) {
        reader->at += 4;
        return pass(reader, "-->", NULL);
    }
    if (looking_at(reader, "<?")) {
        return pass(reader, "?>", NULL);
    }
    return pass_document_type(reader);
}

enum xml_event xml_next(struct xml_reader *reader)
{
    if (reader->empty) {
        reader->empty = false;
        reader->depth--;
        reader->token = reader->at;
        return XML_END;
    }
    while (reader->at < reader->end) {
        reader->token = reader->at;
        if (*reader->at != '<') {
            return take_text(reader);
        }
        if (looking_at(reader, "<![CDATA[")) {
            reader->at += 9;
            reader->literal = true;
            return pass(reader, "]]>", &reader->text)
                       ? XML_TEXT
                       : broken(reader, "a CDATA section without an end");
        }
        if (looking_at(reader, "</")) {
            return take_end(reader);
        }
        if (!looking_at(reader, "<!") && !looking_at(reader, "<?")) {
            return take_start(reader);
        }
        if (!pass_declaration(reader)) {
            return broken(reader, "a declaration without an end");
        }
    }
    return at_the_end(reader);
}

enum xml_event xml_inside(struct xml_reader *reader, size_t depth)
{
    enum xml_event event = xml_next(reader);
    return event == XML_END && reader->depth < depth ? XML_DONE : event;
}

bool xml_take(struct xml_reader *reader, struct buf *text, struct slice *inside)
{
    size_t depth = reader->depth;
    const char *start = reader->at;
    for (;;) {
        enum xml_event event = xml_next(reader);
        if (event == XML_BROKEN || event == XML_DONE) {
            return false;
        }
        if (event == XML_TEXT && text && reader->literal) {
            buf_append(text, reader->text.data, reader->text.length);
        } else if (event == XML_TEXT && text) {
            xml_append(text, reader->text);
        }
        if (event == XML_END && reader->depth < depth) {
            if (inside) {
                *inside = (struct slice){start, (size_t)(reader->token - start)};
            }
            return true;
        }
    }
}

bool xml_attribute(const struct xml_reader *reader, const char *name, struct slice *value)
{
    for (size_t i = 0; i < reader->attribute_count; i++) {
        if (slice_is(reader->attributes[i].name, name)) {
            *value = reader->attributes[i].value;
            return true;
        }
    }
    return false;
}

static struct slice without_prefix(struct slice name)
{
    const char *colon = name.length ? memchr(name.data, ':', name.length) : NULL;
    size_t skipped = colon ? (size_t)(colon - name.data) + 1 : 0;
    return skipped ? (struct slice){name.data + skipped, name.length - skipped} : name;
}

struct slice xml_local(const struct xml_reader *reader)
{
    return without_prefix(reader->name);
}

bool xml_local_attribute(const struct xml_reader *reader, const char *name, struct slice *value)
{
    for (size_t i = 0; i < reader->attribute_count; i++) {
        struct slice whole = reader->attributes[i].name;
        struct slice local = without_prefix(whole);
        if (local.length < whole.length && slice_is(local, name)) {
            *value = reader->attributes[i].value;
            return true;
        }
    }
    return xml_attribute(reader, name, value);
}

/* ---- entities ---- */

/* "#65" or "#x41"; 0 when it names no character that XML allows. */
static uint32_t numeric(struct slice name)
{
    static const char DIGITS[] = "0123456789abcdef";
    bool hexadecimal = name.length > 1 && (name.data[1] | 0x20) == 'x';
    int base = hexadecimal ? 16 : 10;
    size_t i = hexadecimal ? 2 : 1;
    uint32_t code = 0;
    for (; i < name.length; i++) {
        char c = name.data[i];
        const char *digit = c ? strchr(DIGITS, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
        if (!digit || digit - DIGITS >= base || code > 0x10FFFF) {
            return 0;
        }
        code = code * (uint32_t)base + (uint32_t)(digit - DIGITS);
    }
    bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return control || surrogate || code > 0x10FFFF ? 0 : code;
}

static uint32_t entity(struct slice name)
{
    static const struct {
        const char *name;
        char means;
    } NAMED[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    if (name.length > 0 && name.data[0] == '#') {
        return numeric(name);
    }
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++) {
        if (slice_is(name, NAMED[i].name)) {
            return (uint32_t)NAMED[i].means;
        }
    }
    return 0;
}

int xml_append(struct buf *out, struct slice slice)
{
    const char *at = slice.data;
    const char *end = slice.data + slice.length;
    while (at < end) {
        const char *ampersand = memchr(at, '&', (size_t)(end - at));
        const char *stop = ampersand ? ampersand : end;
        buf_append(out, at, (size_t)(stop - at));
        at = stop;
        if (!ampersand) {
            break;
        }
        size_t most = (size_t)(end - at - 1);
        most = most > MOST_ENTITY_CHARS + 1 ? MOST_ENTITY_CHARS + 1 : most;
        const char *semicolon = memchr(at + 1, ';', most);
        uint32_t code = 0;
        if (semicolon) {
            code = entity((struct slice){at + 1, (size_t)(semicolon - at - 1)});
        }
        if (code) {
            char bytes[4] = "";
            buf_append(out, bytes, text_encode(code, bytes));
            at = semicolon + 1;
        } else {
            buf_putc(out, '&');
            at++;
        }
    }
    return buf_error(out);
}
