/* The report as a reader gets it: numbers of notes become footnotes, what no page says is marked,
 * and so are links to pages that nobody read. What comes from pages - quotes, titles, addresses -
 * is written so that it stays text, whatever stands in it. */
#include "core/clock.h"
#include "core/limits.h"
#include "evidence/internal.h"
#include "text/slice.h"
#include "text/text.h"
#include "text/url.h"

#include <stdlib.h>
#include <string.h>

#define NO_SOURCE    "(no source says so)"
#define NOT_READ     "(not read)"
#define UNPROVEN     "(?)" /* for either, where there is no room for words */
#define EN_DASH      "\xE2\x80\x93"
#define MOST_CLUSTER 32   /* notes behind one sentence */
#define MOST_RANGE   16   /* of "[3-7]" */
#define MOST_URL     2048 /* bytes of a link that is looked at */
#define MOST_QUOTE   400  /* characters of a quote in a footnote */
#define MOST_TITLE   160
#define MOST_REST    60  /* and of what else is in one */
#define MOST_CLAIM   300 /* characters before a link that are taken for its claim */

struct report_writer {
    struct evidence *evidence;
    const char *report;
    size_t length;
    size_t at;
    struct buf out;
    size_t footnotes;
    size_t shared; /* the last footnote, of all notes that have no room for one; 0: there is room */
    size_t room;   /* characters of footnotes */
    size_t notes;  /* those that numbers may mean; later ones are made of links */
    bool unproven; /* the short mark is used, and needs a word */
    bool numbers;  /* those in brackets are of notes */
    bool links_claim; /* a link is a claim of its own */
    int status;
};

/* ---- text that stays text ---- */

void evidence_put_plain(struct buf *out, const char *text, size_t length, size_t most)
{
    size_t kept = text_prefix(text, length, most);
    const char *at = text, *end = text + kept;
    bool blank = true;
    while (at < end) {
        const char *start = at;
        uint32_t point = text_next(&at, end);
        bool control = point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 ||
                       point == 0x2029 || (point >= 0x202A && point <= 0x202E) ||
                       (point >= 0x2066 && point <= 0x2069);
        if (control || point == ' ') {
            buf_puts(out, blank ? "" : " ");
            blank = true;
            continue;
        }
        blank = false;
        bool link = (point == ':' && end - at >= 2 && memcmp(at, "//", 2) == 0) || point == '@' ||
                    (point == '.' && start - text >= 3 && strncasecmp(start - 3, "www", 3) == 0);
        if (point < 128 && (strchr("\\`*_{}[]<>#|~!&^$", (int)point) || link)) {
            buf_putc(out, '\\');
        }
        buf_append(out, start, (size_t)(at - start));
    }
    buf_puts(out, kept < length ? "…" : "");
}

void evidence_put_address(struct buf *out, struct arena *arena, const char *address)
{
    struct url url;
    if (url_parse(arena, address, &url, NULL) == OK && !strpbrk(url.text, "<> \n\r\t")) {
        buf_printf(out, "<%s>", url.text);
    } else {
        evidence_put_plain(out, address, strlen(address), MOST_URL);
    }
}

static void put_footnote(struct report_writer *writer, const struct kept_note *kept)
{
    struct buf *out = &writer->out;
    const struct evidence_note *note = &kept->note;
    const struct evidence_page *page = evidence_page(writer->evidence, note->source);
    char stamp[CLOCK_STAMP_SIZE];
    buf_printf(out, "[^%zu]: ", kept->footnote);
    if (*note->words) {
        buf_puts(out, "“");
        evidence_put_plain(out, note->words, strlen(note->words), MOST_QUOTE);
        buf_puts(out, "” ");
    }
    if (page && *page->title) {
        evidence_put_plain(out, page->title, strlen(page->title), MOST_TITLE);
        buf_puts(out, ", ");
    }
    evidence_put_address(out, writer->evidence->arena, note->url);
    if (page) {
        buf_printf(out, ", read %s", clock_stamp_of(page->read_ms, stamp));
    }
    buf_printf(out, " (%s)\n",
               note->grade == EVIDENCE_UNSEEN ? "unseen: the worker read this page by itself"
                                              : evidence_grade_name(note->grade));
}

/* The footnotes in the order of their numbers, which is that of the places of their notes. */
static void put_footnotes(struct report_writer *writer)
{
    struct evidence *evidence = writer->evidence;
    for (size_t number = 1; number <= writer->footnotes; number++) {
        buf_puts(&writer->out, number == 1 ? "\n\n" : "");
        if (number == writer->shared) {
            buf_printf(&writer->out, "[^%zu]: Further quotes stand in `evidence`.\n", number);
            return;
        }
        for (size_t i = 0; i < evidence->note_count; i++) {
            if (evidence->notes[i].footnote == number) {
                put_footnote(writer, &evidence->notes[i]);
            }
        }
    }
}

/* The number of a note's footnote, which it gets here. */
static size_t footnote_of(struct report_writer *writer, struct kept_note *kept)
{
    const struct evidence_page *page = evidence_page(writer->evidence, kept->note.source);
    if (kept->footnote || writer->shared) {
        kept->footnote = kept->footnote ? kept->footnote : writer->shared;
        return kept->footnote;
    }
    size_t quote = strlen(kept->note.words), title = page ? strlen(page->title) : 0;
    size_t chars = (quote < MOST_QUOTE ? quote : MOST_QUOTE) +
                   (title < MOST_TITLE ? title : MOST_TITLE) + strlen(kept->note.url) + MOST_REST;
    kept->footnote = ++writer->footnotes;
    if (chars > writer->room) {
        writer->shared = kept->footnote;
    } else {
        writer->room -= chars;
    }
    return kept->footnote;
}

/* Marks what is not proven. A report of nothing but numbers would grow manifold by words, so they
 * are paid for as footnotes are. */
static void put_mark(struct report_writer *writer, const char *mark)
{
    size_t length = writer->out.length;
    bool blank = length && writer->out.data[length - 1] == ' ';
    bool fits = strlen(mark) < writer->room;
    writer->room -= fits ? strlen(mark) : 0;
    writer->unproven = writer->unproven || !fits;
    buf_printf(&writer->out, "%s%s", blank ? "" : " ", fits ? mark : UNPROVEN);
}

/* ---- numbers ---- */

struct cluster {
    size_t numbers[MOST_CLUSTER];
    size_t count;
};

static void add_number(struct cluster *cluster, size_t number)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (cluster->numbers[i] == number) {
            return;
        }
    }
    if (cluster->count < MOST_CLUSTER) {
        cluster->numbers[cluster->count++] = number;
    }
}

/* A number of at most six digits at `at`; behind it, or 0. */
static size_t read_number(const struct report_writer *writer, size_t at, size_t *number)
{
    size_t start = at;
    *number = 0;
    while (at < writer->length && at - start < 7 && writer->report[at] >= '0' &&
           writer->report[at] <= '9') {
        *number = *number * 10 + (size_t)(writer->report[at++] - '0');
    }
    return at > start && at - start < 7 ? at : 0;
}

/* "[1]", "[1, 2]", "[1-3]": adds its numbers; behind it, or 0 when it is none. */
static size_t read_group(const struct report_writer *writer, size_t at, struct cluster *cluster)
{
    struct cluster found = {.count = 0};
    const char *report = writer->report;
    if (at >= writer->length || report[at] != '[') {
        return 0;
    }
    for (at++;;) {
        size_t first, last;
        at = read_number(writer, at, &first);
        if (!at) {
            return 0;
        }
        last = first;
        size_t dash = report[at] == '-' ? 1 : strncmp(report + at, EN_DASH, 3) == 0 ? 3 : 0;
        if (dash) {
            at = read_number(writer, at + dash, &last);
            if (!at || last < first || last - first >= MOST_RANGE) {
                return 0;
            }
        }
        for (size_t number = first; number <= last; number++) {
            add_number(&found, number);
        }
        if (report[at] == ']') {
            break;
        }
        if (report[at] != ',' && report[at] != ';') {
            return 0;
        }
        at++;
        at += strspn(report + at, " ");
    }
    if (report[at + 1] == '(') {
        return 0; /* a link */
    }
    for (size_t i = 0; i < found.count; i++) {
        add_number(cluster, found.numbers[i]);
    }
    return at + 1;
}

/* Writes what stands for the notes of one place. */
static void put_cluster(struct report_writer *writer, const struct cluster *cluster)
{
    struct evidence *evidence = writer->evidence;
    size_t last = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        size_t number = cluster->numbers[i];
        if (!number || number > writer->notes) {
            evidence->unknown++;
            continue;
        }
        struct kept_note *kept = &evidence->notes[number - 1];
        evidence_cite(evidence, number);
        if (kept->note.grade == EVIDENCE_ABSENT) {
            continue;
        }
        size_t footnote = footnote_of(writer, kept);
        if (footnote != last) {
            buf_printf(&writer->out, "[^%zu]", footnote);
        }
        last = footnote;
    }
    if (!last) {
        put_mark(writer, NO_SOURCE);
    }
}

/* All numbers that stand at `at`, one group behind the other; behind them, or 0: there is none. */
static size_t read_groups(const struct report_writer *writer, size_t at, struct cluster *cluster)
{
    size_t end = writer->numbers ? read_group(writer, at, cluster) : 0;
    for (size_t next = end; next;) {
        end = next;
        next += strspn(writer->report + next, " ");
        next += writer->report[next] == ',' ? 1 : 0;
        next += strspn(writer->report + next, " ");
        next = read_group(writer, next, cluster);
    }
    return end;
}

static bool read_cluster(struct report_writer *writer)
{
    struct cluster cluster = {.count = 0};
    size_t end = read_groups(writer, writer->at, &cluster);
    if (!end) {
        return false;
    }
    put_cluster(writer, &cluster);
    writer->at = end;
    if (end < writer->length && writer->report[end] == ':') {
        buf_puts(&writer->out, "\\:"); /* what follows is no footnote of ours */
        writer->at++;
    }
    return true;
}

/* ---- links ---- */

/* What the report says before a link, in the same line and sentence. */
static const char *claim_before(struct report_writer *writer, size_t link)
{
    const char *report = writer->report;
    size_t start = link;
    while (start > 0 && report[start - 1] != '\n' && link - start < 4 * MOST_CLAIM) {
        bool end = start > 1 && report[start - 1] == ' ' && strchr(".!?", report[start - 2]) &&
                   link - start > 2;
        if (end) {
            break;
        }
        start--;
    }
    while (start < link && ((unsigned char)report[start] & 0xC0) == 0x80) {
        start++;
    }
    start += strspn(report + start, " #*->");
    size_t length = link > start ? link - start : 0;
    while (length && strchr(" ([*", report[start + length - 1])) {
        length--;
    }
    return arena_strndup(writer->evidence->arena, report + start,
                         text_prefix(report + start, length, MOST_CLAIM));
}

/* Whether the link that was just read has its quote: numbers follow it, and one is of a note of
 * that page. */
static bool is_numbered(const struct report_writer *writer, size_t source, const char *url)
{
    struct cluster cluster = {.count = 0};
    size_t at = writer->at;
    at += strspn(writer->report + at, ")*_ .,;");
    read_groups(writer, at, &cluster);
    for (size_t i = 0; i < cluster.count; i++) {
        const struct evidence_note *note = cluster.numbers[i] <= writer->notes
                                               ? evidence_note(writer->evidence, cluster.numbers[i])
                                               : NULL;
        if (note && (source ? note->source == source : strcmp(note->url, url) == 0)) {
            return true;
        }
    }
    return false;
}

/* The note of a link that says the same already; 0: there is none. */
static size_t same_link(const struct report_writer *writer, const char *claim, size_t source,
                        const char *url)
{
    const struct evidence *evidence = writer->evidence;
    for (size_t i = writer->notes; i < evidence->note_count; i++) {
        const struct evidence_note *note = &evidence->notes[i].note;
        if ((source ? note->source == source : strcmp(note->url, url) == 0) &&
            strcmp(note->claim, claim) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* A link to `url`, which begins at `start` and was just written. What it stands behind is a claim,
 * and one without a quote where no number of a note of that page follows. */
static void take_link(struct report_writer *writer, size_t start, const char *url)
{
    struct evidence *evidence = writer->evidence;
    size_t source = evidence_page_of(evidence, url);
    if (!source) {
        put_mark(writer, NOT_READ);
    }
    if (!writer->links_claim || is_numbered(writer, source, url)) {
        return;
    }
    const char *claim = claim_before(writer, start);
    if (!claim) {
        writer->status = ERR_NOMEM;
        return;
    }
    size_t note = same_link(writer, claim, source, url);
    note = note ? note : evidence_add_note_at(evidence, claim, "", url);
    evidence_cite(evidence, note);
    evidence->unknown += note ? 0 : 1; /* there is no room for more notes: it counts all the same */
}

static bool is_web(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* Behind the title of a link, which begins at `at`; 0: it is none. */
static size_t title_end(const struct report_writer *writer, size_t at)
{
    char open = writer->report[at];
    char close = open == '(' ? ')' : open;
    if (!open || !strchr("\"'(", open)) {
        return 0;
    }
    for (at++; at < writer->length && writer->report[at] != '\n'; at++) {
        if (strchr("[]\\", writer->report[at])) {
            return 0;
        }
        if (writer->report[at] == close) {
            return at + 1;
        }
    }
    return 0;
}

/* Behind "](": where the address and its bracket end, and the address; 0: it is no link. Only what
 * every reader of Markdown takes for one is: an address without blanks and brackets, perhaps with a
 * title. What else stands there is text, and is read as such. */
static size_t target_end(const struct report_writer *writer, size_t at, struct slice *address)
{
    const char *report = writer->report;
    bool angle = report[at] == '<';
    size_t depth = 0, start = at + (angle ? 1 : 0), end = start;
    for (; end < writer->length && end - start < MOST_URL; end++) {
        char c = report[end];
        if ((unsigned char)c <= ' ' || strchr("[]<>\\`", c) || (!angle && c == ')' && !depth)) {
            break;
        }
        depth += c == '(' ? 1 : 0;
        depth -= c == ')' && depth ? 1 : 0;
    }
    *address = (struct slice){report + start, end - start};
    if (angle && report[end++] != '>') {
        return 0;
    }
    size_t title = end + strspn(report + end, " ");
    if (title > end) {
        size_t behind = title_end(writer, title);
        end = behind ? behind : title;
        end += strspn(report + end, " ");
    }
    return report[end] == ')' ? end + 1 : 0;
}

/* Where the text of a link begins, whose address begins at `at`. */
static size_t link_start(const struct report_writer *writer, size_t at)
{
    size_t start = at;
    while (start > 0 && at - start < MOST_CLAIM && writer->report[start - 1] != '\n') {
        if (writer->report[--start] == '[') {
            return start;
        }
    }
    return at;
}

/* "](https://...)" */
static bool read_link(struct report_writer *writer)
{
    struct slice address;
    size_t before = writer->at;
    size_t end = target_end(writer, before + 2, &address);
    if (!end) {
        return false;
    }
    const char *url = arena_strndup(writer->evidence->arena, address.data, address.length);
    buf_append(&writer->out, writer->report + before, end - before);
    writer->at = end;
    if (!url) {
        writer->status = ERR_NOMEM;
    } else if (is_web(url)) {
        take_link(writer, link_start(writer, before), url);
    }
    return true;
}

/* An address that stands in the text as it is, or between angles. */
static void read_address(struct report_writer *writer)
{
    size_t start = writer->at;
    const char *text = writer->report + start;
    size_t length = strcspn(text, " \t\r\n\"'<>`|\\^{}[]");
    length = length < MOST_URL ? length : MOST_URL;
    while (length && strchr(".,;:!?)*_", text[length - 1])) {
        length--;
    }
    const char *url = arena_strndup(writer->evidence->arena, text, length);
    size_t whole = length + (start && text[-1] == '<' && text[length] == '>' ? 1 : 0);
    buf_append(&writer->out, text, whole);
    writer->at = start + whole;
    if (!url) {
        writer->status = ERR_NOMEM;
    } else {
        take_link(writer, start - (whole > length ? 1 : 0), url);
    }
}

/* ---- all of it ---- */

/* The end of the line that closes a fence of so many marks, or NULL: nothing does. Marks among
 * other words do not: whoever shows the report would not take them for its end. */
static const char *fence_end(const char *inside, char mark, size_t marks)
{
    for (const char *line = inside; *line;) {
        size_t length = strcspn(line, "\n");
        const char *at = line + strspn(line, " ");
        size_t more = 0;
        while (at[more] == mark) {
            more++;
        }
        at += more;
        at += strspn(at, " \t\r");
        if (more >= marks && at == line + length) {
            return at;
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    return NULL;
}

/* "```" or "~~~" in the beginning of a line: all of it to its end, which is written where it is
 * missing, else the footnotes would be code too. False: it is no fence. */
static bool copy_fence(struct report_writer *writer)
{
    const char *start = writer->report + writer->at;
    size_t marks = 0, before = writer->at;
    while (before > 0 && writer->report[before - 1] == ' ') {
        before--;
    }
    if (before > 0 && writer->report[before - 1] != '\n') {
        return false;
    }
    while (start[marks] == *start) {
        marks++;
    }
    size_t rest = strcspn(start + marks, "\n");
    if (marks < 3 || memchr(start + marks, '`', rest)) {
        return false;
    }
    const char *inside = start + marks + rest;
    const char *end = fence_end(*inside ? inside + 1 : inside, *start, marks);
    const char *behind = end ? end : writer->report + writer->length;
    buf_append(&writer->out, start, (size_t)(behind - start));
    writer->at = (size_t)(behind - writer->report);
    if (!end) {
        buf_puts(&writer->out, behind[-1] == '\n' ? "" : "\n");
        buf_append(&writer->out, start, marks);
        buf_putc(&writer->out, '\n');
    }
    return true;
}

/* What stands between backticks in a line is not looked at. */
static void copy_code(struct report_writer *writer)
{
    const char *start = writer->report + writer->at;
    size_t ticks = strspn(start, "`");
    const char *end = start + ticks;
    for (;;) {
        end += strcspn(end, "`\n");
        size_t more = strspn(end, "`");
        if (!more) {
            end = start + ticks; /* nothing closes it */
            break;
        }
        end += more;
        if (more == ticks) {
            break;
        }
    }
    buf_append(&writer->out, start, (size_t)(end - start));
    writer->at = (size_t)(end - writer->report);
}

static void read_one(struct report_writer *writer)
{
    const char *here = writer->report + writer->at;
    bool done = false;
    switch (*here) {
    case '~':
        done = copy_fence(writer);
        break;
    case '`':
        done = true;
        if (!copy_fence(writer)) {
            copy_code(writer);
        }
        break;
    case '\\':
        if (here[1] && (unsigned char)here[1] < 128) {
            buf_append(&writer->out, here, 2);
            writer->at += 2;
            done = true;
        }
        break;
    case '[':
        if (here[1] == '^') {
            buf_puts(&writer->out, "\\["); /* footnotes are ours to write */
            writer->at++;
            done = true;
        } else {
            done = read_cluster(writer);
        }
        break;
    case ']':
        done = here[1] == '(' && read_link(writer);
        break;
    case 'h':
        if (is_web(here)) {
            read_address(writer);
            done = true;
        }
        break;
    default:
        break;
    }
    if (!done) {
        buf_putc(&writer->out, *here);
        writer->at++;
    }
}

static int render(struct evidence *evidence, const char *report, bool numbers, bool links_claim,
                  const char **markdown)
{
    struct report_writer writer = {.evidence = evidence,
                                   .report = report,
                                   .length = strlen(report),
                                   .notes = evidence->note_count,
                                   .numbers = numbers,
                                   .links_claim = links_claim,
                                   .room = evidence->footnote_chars};
    buf_init(&writer.out, LIMIT_EVIDENCE_REPORT_BYTES);
    evidence->unknown = 0;
    for (size_t i = 0; i < evidence->note_count; i++) {
        evidence->notes[i].footnote = 0;
    }
    while (writer.at < writer.length && writer.status == OK) {
        read_one(&writer);
    }
    if (writer.unproven) {
        buf_puts(&writer.out, "\n\n" UNPROVEN " - no source says so, or nobody read that page.");
    }
    put_footnotes(&writer);
    if (!writer.out.data) {
        buf_puts(&writer.out, "");
    }
    *markdown = writer.status == OK ? buf_to_arena(&writer.out, evidence->arena) : NULL;
    if (!*markdown) {
        buf_done(&writer.out);
        return ERR_NOMEM;
    }
    return OK;
}

int evidence_render(struct evidence *evidence, const char *report, const char **markdown)
{
    return render(evidence, report, true, false, markdown);
}

int evidence_render_links(struct evidence *evidence, const char *report, const char **markdown)
{
    return render(evidence, report, evidence->note_count > 0, true, markdown);
}
