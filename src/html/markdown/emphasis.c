/* Emphasis and links around text: opened at the first word inside, closed after the last one. What
 * CommonMark would pair otherwise than it was meant, or not at all (`a**(b)**c`), is found by
 * its own rules at the end of each line and written as tags. */
#include "html/markdown/writer.h"

#include "text/text.h"

#include <ctype.h>

static const struct {
    const char *open, *close;
    const char *open_tag, *close_tag;
} MARKERS[] = {
    [FORMAT_STRONG] = {"**", "**", "<strong>", "</strong>"},
    [FORMAT_EMPHASIS] = {"*", "*", "<em>", "</em>"},
    [FORMAT_DELETED] = {"~~", "~~", "<del>", "</del>"},
    [FORMAT_SUPER] = {"<sup>", "</sup>", NULL, NULL},
    [FORMAT_SUB] = {"<sub>", "</sub>", NULL, NULL},
    [FORMAT_LINK] = {"[", "]", NULL, NULL},
};

static bool is_delimiter(enum format_kind kind)
{
    return MARKERS[kind].open_tag != NULL;
}

/* ---- pairs: where a line has delimiters ---- */

#define NO_PAIR  SIZE_MAX
#define NO_PLACE SIZE_MAX

/* An emphasis in the line: the offsets of its two delimiters. */
struct pair {
    size_t open, close;
    size_t link; /* the link whose text it is in: delimiters of others never meet those */
    enum format_kind kind;
    bool tagged; /* written as tags */
    /* In how many of two ways to read the line these delimiters are a pair. */
    unsigned char matched;
};

static struct pair *pairs_of(const struct writer *writer)
{
    return (struct pair *)(void *)writer->pairs.data;
}

static size_t pair_count(const struct writer *writer)
{
    return writer->pairs.length / sizeof(struct pair);
}

static size_t pair_open(struct writer *writer, enum format_kind kind, size_t at)
{
    struct pair pair = {at, NO_PLACE, writer->link_number, kind, false, 0};
    size_t index = pair_count(writer);
    return buf_append(&writer->pairs, &pair, sizeof pair) == OK ? index : NO_PAIR;
}

/* ---- opening and closing ---- */

/* Bold in bold is bold once. */
static bool is_inside_same(const struct writer *writer, size_t index)
{
    for (size_t i = writer->format_base; i < index; i++) {
        if (writer->formats[i].kind == writer->formats[index].kind && !writer->formats[i].over) {
            return true;
        }
    }
    return false;
}

static void open_delimiter(struct writer *writer, struct inline_format *format)
{
    const char *open = MARKERS[format->kind].open;
    bool continues = writer->closed_at && writer->closed_at == writer->line.length &&
                     writer->closed_kind == format->kind && writer->closed_pair != NO_PAIR;
    if (continues) {
        /* <b>a</b><b>b</b> is one word. */
        writer->line.length -= strlen(MARKERS[format->kind].close);
        writer->line.data[writer->line.length] = '\0';
        format->pair = writer->closed_pair;
        pairs_of(writer)[format->pair].close = NO_PLACE;
        return;
    }
    format->pair = pair_open(writer, format->kind, writer->line.length);
    buf_puts(&writer->line, open);
}

static void open_link(struct writer *writer)
{
    size_t length = writer->line.length;
    if (length && writer->line.data[length - 1] == '!') {
        /* With a "!" before it, it would be a picture. */
        writer->line.data[length - 1] = '\\';
        buf_putc(&writer->line, '!');
    }
    writer->link_number = ++writer->links;
    writer->brackets = 0;
    buf_putc(&writer->line, '[');
}

void format_begin(struct writer *writer)
{
    for (size_t i = writer->format_base; i < writer->format_count; i++) {
        struct inline_format *format = &writer->formats[i];
        if (format->written || format->over) {
            continue;
        }
        format->written = true;
        if (is_inside_same(writer, i)) {
            format->pair = NO_PAIR;
        } else if (is_delimiter(format->kind)) {
            open_delimiter(writer, format);
        } else if (format->kind == FORMAT_LINK) {
            open_link(writer);
        } else {
            buf_puts(&writer->line, MARKERS[format->kind].open);
        }
        format->start = writer->line.length;
    }
}

static void close_written(struct writer *writer, size_t index)
{
    struct inline_format *format = &writer->formats[index];
    if (is_inside_same(writer, index)) {
        return;
    }
    size_t length = writer->line.length;
    size_t trimmed = length;
    while (trimmed > format->start && writer->line.data[trimmed - 1] == '\n') {
        trimmed--;
    }
    bool had_break = trimmed < length;
    writer->line.length = trimmed;
    writer->closed_pair = is_delimiter(format->kind) ? format->pair : NO_PAIR;
    if (writer->closed_pair != NO_PAIR) {
        pairs_of(writer)[format->pair].close = trimmed;
    }
    buf_puts(&writer->line, MARKERS[format->kind].close);
    if (format->kind == FORMAT_LINK) {
        buf_putc(&writer->line, '(');
        buf_puts(&writer->line, format->url);
        buf_putc(&writer->line, ')');
        writer->link_number = 0;
    }
    writer->closed_at = had_break ? 0 : writer->line.length;
    if (had_break) {
        buf_putc(&writer->line, '\n');
    }
    writer->closed_kind = format->kind;
}

void format_open(struct writer *writer, enum format_kind kind, const char *url)
{
    if (writer->format_count == MOST_FORMATS) {
        writer->format_excess++;
        return;
    }
    writer->formats[writer->format_count++] =
        (struct inline_format){.kind = kind, .url = url, .pair = NO_PAIR};
}

void format_close(struct writer *writer)
{
    if (writer->format_excess) {
        writer->format_excess--;
        return;
    }
    struct inline_format *format = &writer->formats[writer->format_count - 1];
    if (format->written && !format->over) {
        close_written(writer, writer->format_count - 1);
    }
    writer->format_count--;
}

void format_suspend(struct writer *writer)
{
    for (size_t i = writer->format_count; i-- > writer->format_base;) {
        struct inline_format *format = &writer->formats[i];
        if (format->written && !format->over) {
            close_written(writer, i);
            format->over = format->kind == FORMAT_LINK;
        }
        format->written = false;
    }
}

/* ---- what CommonMark makes of the delimiters ---- */

/* One delimiter of a pair, in the order of the line. */
struct delimiter {
    size_t at;
    size_t pair;
    bool closes;
};

/* Delimiters without anything between them. */
struct delimiter_run {
    size_t at;     /* of what is left of it */
    size_t length; /* of that */
    size_t whole;
    size_t link;
    char sign;
    bool opens, closes;
};

enum neighbour_kind { BLANK, SIGN, LETTER, SYMBOL };

/* Beyond ASCII: blocks of punctuation and of symbols. */
static const struct {
    uint32_t first, last;
    enum neighbour_kind is;
} BLOCKS[] = {
    {0xA0, 0xA0, BLANK},        {0xA1, 0xA9, SYMBOL},       {0xAB, 0xB1, SYMBOL},
    {0xB4, 0xB4, SYMBOL},       {0xB6, 0xB8, SYMBOL},       {0xBB, 0xBB, SIGN},
    {0xBF, 0xBF, SIGN},         {0xD7, 0xD7, SYMBOL},       {0xF7, 0xF7, SYMBOL},
    {0x2C2, 0x2DF, SYMBOL},     {0x37E, 0x37E, SIGN},       {0x387, 0x387, SIGN},
    {0x55A, 0x55F, SIGN},       {0x589, 0x58F, SYMBOL},     {0x5BE, 0x5C6, SYMBOL},
    {0x5F3, 0x5F4, SIGN},       {0x606, 0x60F, SYMBOL},     {0x61B, 0x61F, SIGN},
    {0x66A, 0x66D, SIGN},       {0x6D4, 0x6D4, SIGN},       {0x964, 0x970, SYMBOL},
    {0xE3F, 0xE3F, SYMBOL},     {0xE4F, 0xE5B, SYMBOL},     {0x1680, 0x1680, BLANK},
    {0x2000, 0x200A, BLANK},    {0x2010, 0x2027, SIGN},     {0x202F, 0x202F, BLANK},
    {0x2030, 0x205E, SYMBOL},   {0x205F, 0x205F, BLANK},    {0x2070, 0x209C, SYMBOL},
    {0x20A0, 0x20C0, SYMBOL},   {0x2100, 0x2BFF, SYMBOL},   {0x2CE5, 0x2CFF, SYMBOL},
    {0x2E00, 0x2FFB, SYMBOL},   {0x3000, 0x3000, BLANK},    {0x3001, 0x3003, SIGN},
    {0x3004, 0x3004, SYMBOL},   {0x3008, 0x3020, SYMBOL},   {0x3030, 0x303F, SYMBOL},
    {0x309B, 0x309C, SYMBOL},   {0x30A0, 0x30A0, SIGN},     {0x30FB, 0x30FB, SIGN},
    {0x3200, 0x33FF, SYMBOL},   {0x4DC0, 0x4DFF, SYMBOL},   {0xA700, 0xA721, SYMBOL},
    {0xE000, 0xF8FF, SYMBOL},   {0xFE10, 0xFE6F, SYMBOL},   {0xFF01, 0xFF0F, SYMBOL},
    {0xFF1A, 0xFF20, SYMBOL},   {0xFF3B, 0xFF40, SYMBOL},   {0xFF5B, 0xFF65, SYMBOL},
    {0xFFE0, 0xFFFD, SYMBOL},   {0x10100, 0x1018F, SYMBOL}, {0x1D000, 0x1D3FF, SYMBOL},
    {0x1F000, 0x1FBFF, SYMBOL},
};

static enum neighbour_kind class_of(uint32_t character)
{
    if (character < 0x80) {
        return isspace((int)character) ? BLANK : ispunct((int)character) ? SIGN : LETTER;
    }
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
        if (character <= BLOCKS[i].last) {
            return character >= BLOCKS[i].first ? BLOCKS[i].is : LETTER;
        }
    }
    return LETTER;
}

/* The class of the character that begins at `at`, which may be the end. */
static enum neighbour_kind class_at(const struct buf *line, size_t at)
{
    if (at >= line->length) {
        return BLANK;
    }
    const char *text = line->data + at;
    return class_of(text_next(&text, line->data + line->length));
}

static enum neighbour_kind class_before(const struct buf *line, size_t at)
{
    if (at == 0) {
        return BLANK;
    }
    do {
        at--;
    } while (at && ((unsigned char)line->data[at] & 0xC0) == 0x80);
    return class_at(line, at);
}

static size_t delimiter_length(const struct pair *pair)
{
    return strlen(MARKERS[pair->kind].open);
}

/* Bold and italic around the same words: CommonMark has the bold one inside, whichever it was. */
static void turn_inside_out(struct pair *pairs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        struct pair *outer = &pairs[i], *inner = &pairs[i + 1];
        if (outer->kind == FORMAT_STRONG && inner->kind == FORMAT_EMPHASIS &&
            inner->open == outer->open + 2 && outer->close == inner->close + 1) {
            outer->kind = FORMAT_EMPHASIS;
            inner->kind = FORMAT_STRONG;
            inner->open = outer->open + 1;
            outer->close = inner->close + 2;
        }
    }
}

/* The delimiters in the order of the line; pairs are in that of their openings. */
static void sort_delimiters(const struct pair *pairs, size_t count, struct delimiter *out,
                            size_t *open)
{
    size_t used = 0, depth = 0;
    for (size_t i = 0; i <= count; i++) {
        while (depth && (i == count || pairs[open[depth - 1]].close <= pairs[i].open)) {
            size_t pair = open[--depth];
            out[used++] = (struct delimiter){pairs[pair].close, pair, true};
        }
        if (i < count) {
            open[depth++] = i;
            out[used++] = (struct delimiter){pairs[i].open, i, false};
        }
    }
}

/* Makes runs of the delimiters that are no tags; returns how many. */
static size_t make_runs(const struct buf *line, const struct pair *pairs,
                        const struct delimiter *delimiters, size_t count,
                        enum neighbour_kind symbols, struct delimiter_run *runs)
{
    size_t used = 0;
    for (size_t i = 0; i < count;) {
        const struct pair *pair = &pairs[delimiters[i].pair];
        if (pair->tagged) {
            i++;
            continue;
        }
        char sign = *MARKERS[pair->kind].open;
        struct delimiter_run *run = &runs[used++];
        *run = (struct delimiter_run){.at = delimiters[i].at, .link = pair->link, .sign = sign};
        const struct pair *before = i ? &pairs[delimiters[i - 1].pair] : NULL;
        bool tag_before =
            before && before->tagged && delimiters[i - 1].at + delimiter_length(before) == run->at;
        bool tag_after = false;
        for (; i < count && delimiters[i].at == run->at + run->length; i++) {
            pair = &pairs[delimiters[i].pair];
            tag_after = pair->tagged;
            if (tag_after || *MARKERS[pair->kind].open != sign) {
                break;
            }
            run->length += delimiter_length(pair);
        }
        run->whole = run->length;
        enum neighbour_kind left = tag_before ? SIGN : class_before(line, run->at);
        enum neighbour_kind right = tag_after ? SIGN : class_at(line, run->at + run->length);
        left = left == SYMBOL ? symbols : left;
        right = right == SYMBOL ? symbols : right;
        run->opens = right != BLANK && (right == LETTER || left == BLANK || left == SIGN);
        run->closes = left != BLANK && (left == LETTER || right == BLANK || right == SIGN);
    }
    return used;
}

/* Whether two runs may be a pair: the rule of three. */
static bool may_pair(const struct delimiter_run *opener, const struct delimiter_run *closer)
{
    if (!opener->length || !opener->opens || opener->sign != closer->sign ||
        opener->link != closer->link) {
        return false;
    }
    return opener->sign == '~' || !(opener->closes || closer->opens) ||
           (opener->whole + closer->whole) % 3 != 0 ||
           (opener->whole % 3 == 0 && closer->whole % 3 == 0);
}

static void note_match(struct pair *pairs, size_t count, size_t open, size_t close, size_t length)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pairs[middle].open < open) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < count && pairs[low].open == open && pairs[low].close == close &&
        delimiter_length(&pairs[low]) == length) {
        pairs[low].matched++;
    }
}

#define MOST_LOOKBACK 100

/* Pairs the runs as CommonMark does, and notes which of the pairs were meant. */
static void match_runs(struct delimiter_run *runs, size_t run_count, struct pair *pairs,
                       size_t count)
{
    for (size_t i = 0; i < run_count; i++) {
        struct delimiter_run *closer = &runs[i];
        while (closer->closes && closer->length) {
            size_t k = i;
            size_t least = i > MOST_LOOKBACK ? i - MOST_LOOKBACK : 0;
            while (k > least && !may_pair(&runs[k - 1], closer)) {
                k--;
            }
            if (k == least) {
                break;
            }
            struct delimiter_run *opener = &runs[k - 1];
            size_t length = opener->length > 1 && closer->length > 1 ? 2 : 1;
            opener->length -= length;
            note_match(pairs, count, opener->at + opener->length, closer->at, length);
            closer->at += length;
            closer->length -= length;
            for (; k < i; k++) {
                /* What stands between the two can pair no more. */
                runs[k].opens = runs[k].link == closer->link ? false : runs[k].opens;
            }
        }
    }
}

/* Whether a pair is around one code span and nothing else. The span sets it apart already, and is
 * the better for no tags around it. */
static bool holds_code(const struct buf *line, const struct pair *pair)
{
    const char *from = line->data + pair->open + delimiter_length(pair);
    const char *end = line->data + pair->close;
    size_t ticks = strspn(from, "`");
    for (const char *at = from + ticks; ticks && at < end;) {
        size_t run = strspn(at, "`");
        if (run == ticks) {
            return at + run == end;
        }
        at += run ? run : strcspn(at, "`");
    }
    return false;
}

/* Writes the line anew, with tags for the pairs that need them. */
static void write_tags(struct writer *writer, const struct pair *pairs,
                       const struct delimiter *delimiters, size_t count)
{
    struct buf old = writer->line;
    size_t at = 0;
    buf_init(&writer->line, old.ceiling);
    for (size_t i = 0; i < count; i++) {
        const struct pair *pair = &pairs[delimiters[i].pair];
        if (pair->tagged) {
            buf_append(&writer->line, old.data + at, delimiters[i].at - at);
            const char *tag =
                delimiters[i].closes ? MARKERS[pair->kind].close_tag : MARKERS[pair->kind].open_tag;
            buf_puts(&writer->line, holds_code(&old, pair) ? "" : tag);
            at = delimiters[i].at + delimiter_length(pair);
        }
    }
    buf_append(&writer->line, old.data + at, old.length - at);
    buf_done(&old);
}

/* Tags the first pair that CommonMark would not see, or all of them. */
static bool tag_unmatched(struct pair *pairs, size_t count, bool all)
{
    bool found = false;
    for (size_t i = 0; i < count && (all || !found); i++) {
        if (!pairs[i].tagged && pairs[i].matched < 2) {
            pairs[i].tagged = found = true;
        }
    }
    return found;
}

/* Whether a delimiter stands alone and can only open, or only close: one look at its sides. */
static bool is_plain(const struct buf *line, size_t at, size_t length, bool closes)
{
    char sign = line->data[at];
    if ((at && line->data[at - 1] == sign) || line->data[at + length] == sign) {
        return false;
    }
    enum neighbour_kind left = class_before(line, at);
    enum neighbour_kind right = class_at(line, at + length);
    return closes ? left == LETTER && (right == BLANK || right == SIGN)
                  : right == LETTER && (left == BLANK || left == SIGN);
}

/* Most lines need no more than this. */
static bool are_plain(const struct buf *line, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = delimiter_length(&pairs[i]);
        if (!is_plain(line, pairs[i].open, length, false) ||
            !is_plain(line, pairs[i].close, length, true)) {
            return false;
        }
    }
    return true;
}

#define MOST_ROUNDS 16

void format_settle(struct writer *writer)
{
    size_t count = pair_count(writer);
    struct pair *pairs = pairs_of(writer);
    if (!count || buf_error(&writer->line) != OK || are_plain(&writer->line, pairs, count)) {
        buf_clear(&writer->pairs);
        return;
    }
    struct delimiter *delimiters = arena_alloc(writer->arena, 2 * count * sizeof *delimiters);
    struct delimiter_run *runs = arena_alloc(writer->arena, 2 * count * sizeof *runs);
    size_t *open = arena_alloc(writer->arena, count * sizeof *open);
    bool tagged = false;
    if (delimiters && runs && open) {
        turn_inside_out(pairs, count);
        sort_delimiters(pairs, count, delimiters, open);
        for (size_t round = 0;; round++) {
            for (size_t i = 0; i < count; i++) {
                pairs[i].matched = 0;
            }
            /* Versions of CommonMark differ on whether symbols are punctuation. */
            for (enum neighbour_kind symbols = SIGN; symbols <= LETTER; symbols += LETTER - SIGN) {
                size_t used = make_runs(&writer->line, pairs, delimiters, 2 * count, symbols, runs);
                match_runs(runs, used, pairs, count);
            }
            if (!tag_unmatched(pairs, count, round >= MOST_ROUNDS)) {
                break;
            }
            tagged = true;
        }
        if (tagged) {
            write_tags(writer, pairs, delimiters, 2 * count);
        }
    }
    buf_clear(&writer->pairs);
}
