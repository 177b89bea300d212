/* Inline text: white space collapsed, escapes only where Markdown would misread, code spans,
 * links. */
#include "html/markdown/writer.h"

#include "core/status.h"
#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* ---- characters ---- */

enum character {
    PLAIN,
    SPACE,
    SPECIAL, /* Markdown may misread it */
    LEAD,    /* begins a character that may be no text: no-break spaces, invisible ones */
};

static const unsigned char CLASSES[256] = {
    ['\t'] = SPACE,  ['\n'] = SPACE,  ['\f'] = SPACE,  ['\r'] = SPACE,   [' '] = SPACE,
    ['\v'] = SPACE,  ['*'] = SPECIAL, ['_'] = SPECIAL, ['`'] = SPECIAL,  ['['] = SPECIAL,
    [']'] = SPECIAL, ['<'] = SPECIAL, ['&'] = SPECIAL, ['\\'] = SPECIAL, ['~'] = SPECIAL,
    ['$'] = SPECIAL, [0xC2] = LEAD,   [0xE1] = LEAD,   [0xE2] = LEAD,    [0xE3] = LEAD,
    [0xEF] = LEAD,   [0xF3] = LEAD,   [0] = LEAD,      [1] = LEAD,       [2] = LEAD,
    [3] = LEAD,      [4] = LEAD,      [5] = LEAD,      [6] = LEAD,       [7] = LEAD,
    [8] = LEAD,      [14] = LEAD,     [15] = LEAD,     [16] = LEAD,      [17] = LEAD,
    [18] = LEAD,     [19] = LEAD,     [20] = LEAD,     [21] = LEAD,      [22] = LEAD,
    [23] = LEAD,     [24] = LEAD,     [25] = LEAD,     [26] = LEAD,      [27] = LEAD,
    [28] = LEAD,     [29] = LEAD,     [30] = LEAD,     [31] = LEAD,      [127] = LEAD,
};

bool inline_is_unseen(const char *text, size_t left, size_t *length)
{
    const unsigned char *at = (const unsigned char *)text;
    *length = 1;
    if (at[0] < 0x20 || at[0] == 0x7F) {
        return true;
    }
    if (at[0] == 0xC2 && left > 1) {
        *length = 2;
        return at[1] == 0xAD || at[1] < 0xA0; /* a soft hyphen; control characters */
    }
    *length = 3;
    if (left < 3) {
        return false;
    }
    if (at[0] == 0xE2 && at[1] == 0x80) {
        /* Zero-width space; marks that turn the direction of the text around. Joiners are letters
         * of some scripts and parts of emoji. */
        return at[2] == 0x8B || (at[2] >= 0xAA && at[2] <= 0xAE);
    }
    if (at[0] == 0xE2 && at[1] == 0x81) {
        return at[2] >= 0xA0 && at[2] <= 0xAF; /* word joiner, invisible operators, isolates */
    }
    if (at[0] == 0xEF) {
        return at[1] == 0xBB && at[2] == 0xBF;
    }
    if (at[0] == 0xE1) {
        return at[1] == 0xA0 && at[2] == 0x8E;
    }
    if (at[0] == 0xF3 && at[1] == 0xA0 && left > 3) {
        *length = 4;
        return true; /* tag characters and the variation selectors beyond sixteen */
    }
    return false;
}

/* A space of some width that is no ASCII: no-break, en, em, thin, ideographic. */
static bool is_wide_space(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    if (left > 1 && at[0] == 0xC2) {
        return at[1] == 0xA0;
    }
    if (left > 2 && at[0] == 0xE2 && at[1] == 0x80) {
        return at[2] <= 0x8A || at[2] == 0xAF || at[2] == 0xA8 || at[2] == 0xA9;
    }
    return left > 2 && at[0] == 0xE3 && at[1] == 0x80 && at[2] == 0x80;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

/* ---- gathering ---- */

/* The white space and the openings that are due before a word. */
static void begin_word(struct writer *writer)
{
    if (writer->break_due) {
        buf_puts(&writer->line, "<br>");
        writer->break_due = writer->space = false;
    }
    if (writer->space && writer->line.length &&
        writer->line.data[writer->line.length - 1] != '\n') {
        buf_putc(&writer->line, ' ');
    }
    writer->space = false;
    if (writer->format_count > writer->format_base) {
        format_begin(writer);
    }
}

void inline_raw(struct writer *writer, const char *text, size_t length)
{
    if (length) {
        begin_word(writer);
        buf_append(&writer->line, text, length);
    }
}

void inline_break(struct writer *writer)
{
    if (writer->mode != MODE_BLOCKS) {
        flush_block(writer);
        return;
    }
    size_t length = writer->line.length;
    writer->space = false;
    if (length == 0) {
        return;
    }
    if (writer->line.data[length - 1] == '\n') {
        flush_block(writer); /* two breaks make a paragraph */
        return;
    }
    buf_putc(&writer->line, '\n');
}

/* ---- escapes ---- */

/* Where the bracket at `text` closes, or `left`. */
static size_t bracket_end(const char *text, size_t left)
{
    size_t depth = 0;
    for (size_t i = 0; i < left && i < 300; i++) {
        depth += text[i] == '[';
        if (text[i] == ']' && --depth == 0) {
            return i;
        }
    }
    return left;
}

/* Whether "[" at `text` would begin a link or a note: its bracket closes and something follows that
 * makes it one. In a link, where brackets must be even, also one that does not close. */
static bool begins_link(const struct writer *writer, const char *text, size_t left)
{
    size_t end = bracket_end(text, left);
    if (end == left && writer->link_number) {
        return true;
    }
    return (left > 1 && text[1] == '^') ||
           (end + 1 < left && (text[end + 1] == '(' || text[end + 1] == '['));
}

/* Whether "]" would end a link: one that is ours, or one that begins with a bracket of the text. */
static bool ends_link(const struct writer *writer, char next)
{
    return writer->brackets ? next == '(' || next == '[' : writer->link_number != 0;
}

static bool begins_entity(const char *text, size_t left)
{
    size_t i = 1;
    while (i < left && i < 32 && (isalnum((unsigned char)text[i]) || text[i] == '#')) {
        i++;
    }
    return i > 1 && i < left && text[i] == ';';
}

/* Whether white space and then more text follows the character at `text`. */
static bool stands_before_space(const char *text, size_t left)
{
    size_t i = 1;
    while (i < left && CLASSES[(unsigned char)text[i]] == SPACE) {
        i++;
    }
    return i > 1 && i < left;
}

/* Whether the special character at `text`, after `before`, needs a backslash. What follows a text
 * that ends with it is not known. */
static bool needs_escape(const struct writer *writer, char before, const char *text, size_t left)
{
    char next = left > 1 ? text[1] : '\0';
    switch (*text) {
    case '*':
        return !(before == ' ' && stands_before_space(text, left));
    case '_':
        return !(is_word(before) && is_word(next)) &&
               !(before == ' ' && stands_before_space(text, left));
    case '`':
        return true;
    case '[':
        return begins_link(writer, text, left);
    case ']':
        return ends_link(writer, next);
    case '<':
        return !next || isalpha((unsigned char)next) || next == '/' || next == '!' || next == '?';
    case '&':
        return begins_entity(text, left);
    case '\\':
        return !next || ispunct((unsigned char)next) ||
               (isspace((unsigned char)next) && !stands_before_space(text, left));
    case '~':
        return !next || next == '~' || before == '~' ||
               (isspace((unsigned char)next) && !stands_before_space(text, left));
    default:
        return false;
    }
}

/* ---- formulas between delimiters ---- */

static bool looks_like_tex(const char *text, size_t length)
{
    if (length == 1) {
        return isalpha((unsigned char)*text);
    }
    if (length == 0 || isspace((unsigned char)text[0]) ||
        isspace((unsigned char)text[length - 1])) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (strchr("\\^_{}=", text[i])) {
            return true;
        }
    }
    return false;
}

/* An environment of TeX that is a formula by itself: \begin{align} ... \end{align}. Its length, 0
 * for none. */
static size_t environment_length(const char *text, size_t left)
{
    static const char *const NAMES[] = {"equation", "equation*", "align",    "align*",  "gather",
                                        "gather*",  "multline",  "eqnarray", "alignat", "cases",
                                        "matrix",   "pmatrix",   "bmatrix",  "split",   NULL};
    static const char BEGIN[] = "\\begin{";
    const char *name = text + strlen(BEGIN);
    if (left <= strlen(BEGIN) || memcmp(text, BEGIN, strlen(BEGIN)) != 0) {
        return 0;
    }
    left -= strlen(BEGIN);
    const char *close = memchr(name, '}', left < 16 ? left : 16);
    size_t length = close ? (size_t)(close - name) : 0;
    const char *const *known = NAMES;
    while (*known && (strlen(*known) != length || memcmp(*known, name, length) != 0)) {
        known++;
    }
    if (!*known) {
        return 0;
    }
    char end[32];
    int size = snprintf(end, sizeof end, "\\end{%s}", *known);
    const char *found = memmem(name, left < 2000 ? left : 2000, end, (size_t)size);
    return found ? (size_t)(found - text) + (size_t)size : 0;
}

/* A formula that the page's own script would have set: $x$, $$x$$, \(x\), \[x\]. Returns how many
 * bytes it takes, 0 for none; the formula is written. */
static size_t raw_formula(struct writer *writer, char before, const char *text, size_t left)
{
    size_t environment = environment_length(text, left);
    if (environment) {
        inline_raw(writer, "$$", 2);
        inline_raw(writer, text, environment);
        inline_raw(writer, "$$", 2);
        return environment;
    }
    static const struct {
        const char *open, *close;
        bool sure, display;
    } DELIMITERS[] = {
        {"$$", "$$", false, true},
        {"\\(", "\\)", true, false},
        {"\\[", "\\]", true, true},
        {"$", "$", false, false},
    };
    for (size_t i = 0; i < sizeof DELIMITERS / sizeof *DELIMITERS; i++) {
        size_t open = strlen(DELIMITERS[i].open);
        if (left <= open || memcmp(text, DELIMITERS[i].open, open) != 0) {
            continue;
        }
        size_t most = left - open < 2000 ? left - open : 2000;
        const char *close =
            memmem(text + open, most, DELIMITERS[i].close, strlen(DELIMITERS[i].close));
        if (!close) {
            return 0;
        }
        const char *body = text + open;
        size_t length = (size_t)(close - body);
        size_t taken = open + length + strlen(DELIMITERS[i].close);
        bool word_after = taken < left && is_word(text[taken]);
        if (!DELIMITERS[i].sure &&
            ((is_word(before) && !DELIMITERS[i].display) || word_after ||
             memchr(body, '\n', length && !DELIMITERS[i].display ? length : 0) ||
             !looks_like_tex(body, length))) {
            return 0;
        }
        while (length && isspace((unsigned char)*body)) {
            body++;
            length--;
        }
        while (length && isspace((unsigned char)body[length - 1])) {
            length--;
        }
        bool alone = DELIMITERS[i].display && writer->line.length == 0 && taken == left &&
                     writer->mode == MODE_BLOCKS;
        begin_word(writer);
        buf_puts(&writer->line, alone ? "$$\n" : "$");
        buf_append(&writer->line, body, length);
        buf_puts(&writer->line, alone ? "\n$$" : "$");
        if (alone) {
            /* As lines of their own, without the breaks of a paragraph. */
            output_block(writer, writer->line.data, writer->line.length);
            buf_clear(&writer->line);
        }
        return taken;
    }
    return 0;
}

/* ---- text ---- */

static void put_special(struct writer *writer, const char *text, size_t at, size_t length)
{
    begin_word(writer);
    size_t had = writer->line.length;
    char before = had ? writer->line.data[had - 1] : '\n';
    if (needs_escape(writer, before, text + at, length - at)) {
        buf_putc(&writer->line, '\\');
    } else if (text[at] == '[') {
        writer->brackets++;
    } else if (text[at] == ']') {
        writer->brackets -= writer->brackets > 0;
    }
    buf_putc(&writer->line, text[at]);
}

/* How many bytes from `at` are of the same plain kind. */
static size_t plain_run(const char *text, size_t at, size_t length)
{
    size_t run = at;
    while (run < length && CLASSES[(unsigned char)text[run]] == PLAIN) {
        run++;
    }
    return run - at;
}

void inline_text(struct writer *writer, const char *text, size_t length)
{
    size_t had = writer->line.length;
    if (length && *text == '(' && had && writer->line.data[had - 1] == ']' && !writer->space) {
        inline_raw(writer, "\\(", 2); /* [a] and (b) of two elements are no link */
        text++;
        length--;
    }
    for (size_t at = 0; at < length;) {
        size_t count = plain_run(text, at, length);
        if (count) {
            begin_word(writer);
            buf_append(&writer->line, text + at, count);
            at += count;
            continue;
        }
        unsigned char c = (unsigned char)text[at];
        if (CLASSES[c] == SPACE) {
            writer->space = true;
            at++;
        } else if (CLASSES[c] == SPECIAL) {
            char before = writer->line.length ? writer->line.data[writer->line.length - 1] : ' ';
            before = writer->space ? ' ' : before;
            size_t taken =
                c == '$' || c == '\\' ? raw_formula(writer, before, text + at, length - at) : 0;
            if (!taken) {
                put_special(writer, text, at, length);
                taken = 1;
            }
            at += taken;
        } else if (is_wide_space(text + at, length - at)) {
            writer->space = true;
            at += c == 0xC2 ? 2 : 3;
        } else if (inline_is_unseen(text + at, length - at, &count)) {
            at += count < length - at ? count : length - at;
        } else {
            size_t bytes = c == 0xC2 ? 2 : c == 0xF3 ? 4 : c >= 0xE0 ? 3 : 1;
            bytes = bytes < length - at ? bytes : length - at;
            begin_word(writer);
            buf_append(&writer->line, text + at, bytes);
            at += bytes;
        }
    }
}

/* ---- code spans ---- */

/* Text of code on one line, without what is never seen. */
static size_t squeeze(char *out, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t bytes;
        if (isspace((unsigned char)text[i]) || is_wide_space(text + i, length - i)) {
            bytes = isspace((unsigned char)text[i]) ? 1 : (unsigned char)text[i] == 0xC2 ? 2 : 3;
            if (used && out[used - 1] != ' ') {
                out[used++] = ' ';
            }
            i += bytes;
        } else if (CLASSES[(unsigned char)text[i]] == LEAD &&
                   inline_is_unseen(text + i, length - i, &bytes)) {
            i += bytes;
        } else {
            out[used++] = text[i++];
        }
    }
    while (used && out[used - 1] == ' ') {
        used--;
    }
    return used;
}

/* The text of the code span that ends the line, without its ticks, when another one follows it
 * without a space: side by side their ticks would be read together. The span is taken back. */
static size_t take_code_back(struct writer *writer, char *out)
{
    size_t from = writer->code_at, end = writer->code_end;
    const char *line = writer->line.data;
    size_t ticks = strspn(line + from, "`");
    bool padded = line[from + ticks] == ' ';
    from += ticks + padded;
    end -= ticks + padded;
    memcpy(out, line + from, end - from);
    writer->line.length = writer->code_at;
    return end - from;
}

void inline_code(struct writer *writer, const char *text, size_t length)
{
    size_t had = writer->code_end ? writer->code_end - writer->code_at : 0;
    char *out = arena_alloc(writer->arena, had + length + 1);
    if (!out) {
        return;
    }
    char *fresh = out + had;
    length = squeeze(fresh, text, length);
    if (!length) {
        return;
    }
    begin_word(writer);
    if (had && writer->code_end == writer->line.length) {
        size_t before = take_code_back(writer, out);
        memmove(out + before, fresh, length);
        length += before;
    } else {
        out = fresh;
    }
    size_t longest = 0;
    for (size_t i = 0, run = 0; i < length; i++) {
        run = out[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    writer->code_at = writer->line.length;
    for (size_t i = 0; i <= longest; i++) {
        buf_putc(&writer->line, '`');
    }
    bool padded = out[0] == '`' || out[length - 1] == '`';
    buf_puts(&writer->line, padded ? " " : "");
    buf_append(&writer->line, out, length);
    buf_puts(&writer->line, padded ? " " : "");
    for (size_t i = 0; i <= longest; i++) {
        buf_putc(&writer->line, '`');
    }
    writer->code_end = writer->line.length;
}

/* ---- links: absolute, and without what only tracks the reader ---- */

static bool tracks(const char *name, size_t length)
{
    return words_match(&link_tracking, name, length) != 0;
}

/* The address without its tracking parameters. */
static const char *untrack(struct arena *arena, const struct url *url)
{
    const char *query = url->query;
    if (!query || !strchr(query, '=')) {
        return url->text;
    }
    bool found = false;
    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
        found = found || tracks(at, strcspn(at, "=&"));
    }
    if (!found) {
        return url->text;
    }
    const char *from = strchr(url->text, '?');
    size_t room = strlen(url->text) + 1;
    char *out = arena_alloc(arena, room);
    if (!out || !from) {
        return url->text;
    }
    size_t used = (size_t)(from - url->text);
    memcpy(out, url->text, used);
    char separator = '?';
    for (const char *at = query; *at;) {
        size_t length = strcspn(at, "&");
        if (!tracks(at, strcspn(at, "=&"))) {
            out[used++] = separator;
            memcpy(out + used, at, length);
            used += length;
            separator = '&';
        }
        at += length + (at[length] == '&');
    }
    size_t fragment = url->fragment ? strlen(url->fragment) : 0;
    if (fragment) {
        out[used++] = '#';
        memcpy(out + used, url->fragment, fragment);
        used += fragment;
    }
    out[used] = '\0';
    return out;
}

/* An address as Markdown reads it: parentheses end it early unless they are paired, and what looks
 * like a character reference would be read as one. */
static const char *escape_address(struct arena *arena, const char *url)
{
    int depth = 0;
    bool paired = true;
    size_t references = 0;
    size_t length = 0;
    for (const char *at = url; *at; at++, length++) {
        depth += (*at == '(') - (*at == ')');
        paired = paired && depth >= 0;
        references += *at == '&' && begins_entity(at, strnlen(at, 40));
    }
    paired = paired && depth == 0;
    if (paired && !references) {
        return url;
    }
    struct buf out;
    buf_init(&out, length * 3 + 1);
    for (const char *at = url; *at; at++) {
        if (!paired && (*at == '(' || *at == ')')) {
            buf_puts(&out, *at == '(' ? "%28" : "%29");
            continue;
        }
        if (*at == '&' && begins_entity(at, strnlen(at, 40))) {
            buf_putc(&out, '\\');
        }
        buf_putc(&out, *at);
    }
    const char *copy = out.data ? arena_strdup(arena, out.data) : NULL;
    buf_done(&out);
    return copy ? copy : url;
}

static bool has_other_scheme(const char *reference)
{
    size_t i = 0;
    while (isalnum((unsigned char)reference[i]) ||
           (i && strchr("+-.", reference[i]) && reference[i])) {
        i++;
    }
    return i && reference[i] == ':' && strncasecmp(reference, "http:", 5) != 0 &&
           strncasecmp(reference, "https:", 6) != 0;
}

/* Addresses that are no pages and that a reader can still use: people, numbers, files. */
static const char *const LINK_SCHEMES[] = {
    "mailto:", "tel:", "sms:", "ftp:", "ftps:", "sftp:",   "irc:", "ircs:",
    "xmpp:",   "geo:", "git:", "ssh:", "news:", "magnet:", NULL};

const char *link_resolve(struct writer *writer, const char *reference)
{
    while (isspace((unsigned char)*reference)) {
        reference++;
    }
    if (*reference == '#') {
        return reference;
    }
    if (has_other_scheme(reference)) {
        bool whole = !strpbrk(reference, " \n\r\t<>()");
        for (const char *const *scheme = LINK_SCHEMES; *scheme && whole; scheme++) {
            if (strncasecmp(reference, *scheme, strlen(*scheme)) == 0) {
                return arena_strdup(writer->arena, reference);
            }
        }
        return NULL;
    }
    struct url url;
    int status = writer->has_base ? url_resolve(writer->arena, &writer->base, reference, &url, NULL)
                                  : url_parse(writer->arena, reference, &url, NULL);
    if (status != OK) {
        return NULL;
    }
    return escape_address(writer->arena, untrack(writer->arena, &url));
}

/* Whether the address is a place on this very page. */
static bool is_same_page(const struct writer *writer, const char *url)
{
    const char *hash = strchr(url, '#');
    if (!hash || !writer->page->url) {
        return hash == url;
    }
    size_t length = strcspn(writer->page->url, "#");
    return (size_t)(hash - url) == length && strncmp(url, writer->page->url, length) == 0;
}

static bool is_image_file(const char *url)
{
    static const char *const ENDINGS[] = {".jpg",  ".jpeg", ".png", ".gif",
                                          ".webp", ".avif", ".svg", NULL};
    size_t length = strcspn(url, "?#");
    for (const char *const *ending = ENDINGS; *ending; ending++) {
        size_t size = strlen(*ending);
        if (length > size && strncasecmp(url + length - size, *ending, size) == 0) {
            return true;
        }
    }
    return false;
}

void write_link(struct writer *writer, lxb_dom_node_t *node)
{
    const char *href = dom_known_attr(node, LXB_DOM_ATTR_HREF);
    const char *url = href && *href ? link_resolve(writer, href) : NULL;
    bool plain = !url || *url == '#' || is_same_page(writer, url) ||
                 (is_image_file(url) && dom_find(node, LXB_TAG_IMG) && !dom_has_text(node));
    if (plain) {
        write_children(writer, node);
        return;
    }
    format_open(writer, FORMAT_LINK, url);
    write_children(writer, node);
    format_close(writer);
}
