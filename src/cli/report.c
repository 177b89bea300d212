/* Reports of research: as Markdown, as JSON, and as a page of HTML that needs nothing but itself
 * and shows the quotes beside the claims. What is in them comes from models and pages, so all of it
 * is escaped, and the page runs no script and loads nothing. */
#include "cli/report.h"

#include "cli/cli.h"
#include "cli/tool_command.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/redact.h"
#include "evidence/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FOOTNOTES 999
#define MOST_BESIDE    64 /* footnotes of one paragraph */

/* The text of search or of deep_search. */
static const char *text_of_report(yyjson_mut_val *result)
{
    const char *report = text_of(result, "report");
    return *report ? report : text_of(result, "result");
}

static bool is_verified(yyjson_mut_val *result)
{
    return yyjson_mut_get_bool(yyjson_mut_obj_get(result, "verified"));
}

/* Why a report is not verified. */
static void put_reason(struct buf *out, int64_t claims, int64_t found, int64_t hosts)
{
    if (claims == 0) {
        buf_puts(out, ": the report cites nothing");
        return;
    }
    buf_printf(out, ": %lld of %lld quote%s found", (long long)found, (long long)claims,
               claims == 1 ? "" : "s");
    buf_puts(out, found == claims && hosts < 2 ? ", but all pages are of one host" : "");
}

/* "5 claims: 4 exact, 1 near, 0 absent, 0 unseen; verified", or "not checked" of a worker whose
 * work nobody saw. */
static void put_summary(struct buf *out, yyjson_mut_val *result)
{
    yyjson_mut_val *counts = yyjson_mut_obj_get(result, "citations");
    if (!counts) {
        buf_puts(out, "not checked");
        return;
    }
    int64_t claims = number_of(counts, "claims");
    buf_printf(out, "%lld claim%s: %lld exact, %lld near, %lld absent, %lld unseen; %s",
               (long long)claims, claims == 1 ? "" : "s", (long long)number_of(counts, "exact"),
               (long long)number_of(counts, "near"), (long long)number_of(counts, "absent"),
               (long long)number_of(counts, "unseen"),
               is_verified(result) ? "verified" : "not verified");
    if (!is_verified(result)) {
        put_reason(out, claims, number_of(counts, "exact") + number_of(counts, "near"),
                   number_of(counts, "hosts"));
    }
}

/* ---- Markdown ---- */

/* A sentence of a page, as text whatever it holds, and where it stands. */
static void put_side(struct buf *out, struct arena *arena, yyjson_mut_val *conflict,
                     const char *side)
{
    yyjson_mut_val *place = yyjson_mut_obj_get(conflict, side);
    const char *quote = text_of(place, "quote");
    buf_puts(out, "“");
    evidence_put_plain(out, quote, strlen(quote), strlen(quote));
    buf_puts(out, "” ");
    evidence_put_address(out, arena, text_of(place, "url"));
}

void report_write_markdown(struct buf *out, struct arena *arena, yyjson_mut_val *result)
{
    size_t index, most;
    yyjson_mut_val *item;
    yyjson_mut_val *metadata = yyjson_mut_obj_get(result, "metadata");
    buf_printf(out, "%s\n", text_of_report(result));
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "conflicts"), index, most, item)
    {
        buf_puts(out, index ? "- " : "\nSources contradict each other:\n- ");
        put_side(out, arena, item, "one");
        buf_puts(out, " / ");
        put_side(out, arena, item, "other");
        buf_putc(out, '\n');
    }
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(metadata, "sources_visited"), index, most, item)
    {
        buf_puts(out, index ? "- " : "\nPages read:\n- ");
        evidence_put_address(out, arena, yyjson_mut_get_str(item));
        buf_putc(out, '\n');
    }
    if (yyjson_mut_obj_get(result, "citations")) {
        buf_puts(out, "\nEvidence: ");
        put_summary(out, result);
        buf_puts(out, "\n");
    }
}

/* ---- HTML ---- */

static void put_escaped(struct buf *out, const char *text, size_t length)
{
    static const char SPECIAL[] = "&<>\"'";
    static const char *const ENTITIES[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < length; i++) {
        const char *found = text[i] ? strchr(SPECIAL, text[i]) : NULL;
        if (found) {
            buf_puts(out, ENTITIES[found - SPECIAL]);
        } else {
            buf_putc(out, text[i]);
        }
    }
}

static bool is_web(const char *address)
{
    return strncmp(address, "http://", 7) == 0 || strncmp(address, "https://", 8) == 0;
}

/* A link where the address is one of the web; else its text alone. */
static void put_link(struct buf *out, const char *address, size_t length, const char *text,
                     size_t text_length)
{
    bool web = is_web(address) && length > 0;
    if (web) {
        buf_puts(out, "<a rel=\"noopener noreferrer nofollow\" href=\"");
        put_escaped(out, address, length);
        buf_puts(out, "\">");
    }
    put_escaped(out, text, text_length);
    buf_puts(out, web ? "</a>" : "");
}

static void put_address(struct buf *out, const char *address)
{
    put_link(out, address, strlen(address), address, strlen(address));
}

/* What is known of the report while it is written. */
struct report_page {
    struct buf *out;
    const char *footnotes[MOST_FOOTNOTES + 1]; /* their texts, each up to its line's end */
    size_t beside[MOST_BESIDE];                /* of the paragraph that is written */
    size_t beside_count;
};

/* "[^12]": its number, and behind it; 0: it is none. */
static size_t footnote_number(const char *text, const char **after)
{
    char *end;
    if (strncmp(text, "[^", 2) != 0 || text[2] < '1' || text[2] > '9') {
        return 0;
    }
    unsigned long number = strtoul(text + 2, &end, 10);
    *after = end + 1;
    return *end == ']' && number <= MOST_FOOTNOTES ? number : 0;
}

/* "[text](address)": behind it, or NULL. */
static const char *put_inline_link(struct buf *out, const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (!close || close + 1 >= end || close[1] != '(') {
        return NULL;
    }
    const char *address = close + 2;
    size_t depth = 1;
    const char *stop = address;
    for (; stop < end && depth; stop++) {
        depth += *stop == '(' ? 1 : 0;
        depth -= *stop == ')' ? 1 : 0;
    }
    if (depth) {
        return NULL;
    }
    size_t length = strcspn(address, " )");
    length = length < (size_t)(stop - 1 - address) && address[length] == ' '
                 ? length
                 : (size_t)(stop - 1 - address);
    put_link(out, address, length, at + 1, (size_t)(close - at - 1));
    return stop;
}

/* What begins with a bracket; behind it, or NULL when that is nothing. */
static const char *put_bracket(struct report_page *page, const char *at, const char *end)
{
    const char *after;
    size_t number = footnote_number(at, &after);
    if (!number) {
        return put_inline_link(page->out, at, end);
    }
    buf_printf(page->out, "<sup>[%zu]</sup>", number);
    if (page->beside_count < MOST_BESIDE) {
        page->beside[page->beside_count++] = number;
    }
    return after;
}

/* One line of Markdown: links, footnotes, code, strong words; everything else is text. */
static void put_inline(struct report_page *page, const char *text, size_t length)
{
    struct buf *out = page->out;
    const char *at = text, *end = text + length;
    bool strong = false;
    while (at < end) {
        const char *after = NULL;
        const char *close;
        if (*at == '\\' && at + 1 < end && strchr("\\`*_{}[]<>#|~!&^$:@.()-+", at[1])) {
            put_escaped(out, at + 1, 1);
            after = at + 2;
        } else if (*at == '[') {
            after = put_bracket(page, at, end);
        } else if (*at == '`' && (close = memchr(at + 1, '`', (size_t)(end - at - 1))) != NULL) {
            buf_puts(out, "<code>");
            put_escaped(out, at + 1, (size_t)(close - at - 1));
            buf_puts(out, "</code>");
            after = close + 1;
        } else if (*at == '<' && is_web(at + 1) &&
                   (close = memchr(at, '>', (size_t)(end - at))) != NULL) {
            put_link(out, at + 1, (size_t)(close - at - 1), at + 1, (size_t)(close - at - 1));
            after = close + 1;
        } else if (*at == '*' && at + 1 < end && at[1] == '*') {
            buf_puts(out, strong ? "</strong>" : "<strong>");
            strong = !strong;
            after = at + 2;
        }
        if (!after) {
            put_escaped(out, at, 1);
            after = at + 1;
        }
        at = after;
    }
    buf_puts(out, strong ? "</strong>" : "");
}

/* The quotes of the paragraph that was just written. */
static void put_beside(struct report_page *page)
{
    size_t count = page->beside_count;
    buf_puts(page->out, count ? "<aside>" : "");
    for (size_t i = 0; i < count; i++) {
        const char *text = page->footnotes[page->beside[i]];
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            again = again || page->beside[j] == page->beside[i];
        }
        if (text && !again) {
            buf_printf(page->out, "<p><sup>[%zu]</sup> ", page->beside[i]);
            put_inline(page, text, strcspn(text, "\n"));
            buf_puts(page->out, "</p>");
        }
    }
    buf_puts(page->out, count ? "</aside>" : "");
    page->beside_count = 0;
}

/* A line with the tag that suits it. */
static void put_block(struct report_page *page, const char *line, size_t length)
{
    size_t hashes = 0, blanks = strspn(line, " ");
    blanks = blanks < length ? blanks : length;
    while (hashes < 6 && hashes < length && line[hashes] == '#') {
        hashes++;
    }
    bool heading = hashes && hashes < length && line[hashes] == ' ';
    bool item = blanks + 1 < length && strchr("-*+", line[blanks]) && line[blanks + 1] == ' ';
    size_t skipped = heading ? hashes + 1 : item ? blanks + 2 : 0;
    char tag[8];
    snprintf(tag, sizeof tag, heading ? "h%zu" : "p", hashes);
    buf_printf(page->out, "<div class=\"row\"><%s>%s", tag, item ? "• " : "");
    put_inline(page, line + skipped, length - skipped);
    buf_printf(page->out, "</%s>", tag);
    put_beside(page);
    buf_puts(page->out, "</div>\n");
}

/* The report, line by line; code in fences stays as it is. */
static void put_report(struct report_page *page, const char *text)
{
    bool fence = false;
    const char *after;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "```", 3) == 0) {
            buf_puts(page->out, fence ? "</pre>\n" : "<pre>");
            fence = !fence;
        } else if (fence) {
            put_escaped(page->out, line, length);
            buf_putc(page->out, '\n');
        } else if (length && !(footnote_number(line, &after) && *after == ':')) {
            put_block(page, line, length);
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    buf_puts(page->out, fence ? "</pre>\n" : "");
}

/* Notes where the text of each footnote begins. */
static void find_footnotes(struct report_page *page, const char *text)
{
    for (const char *line = text; *line;) {
        const char *after;
        size_t length = strcspn(line, "\n");
        size_t number = footnote_number(line, &after);
        if (number && strncmp(after, ": ", 2) == 0) {
            page->footnotes[number] = after + 2;
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

static void put_cell(struct buf *out, const char *text)
{
    buf_puts(out, "<td>");
    put_escaped(out, text, strlen(text));
    buf_puts(out, "</td>");
}

static void put_evidence(struct buf *out, yyjson_mut_val *result)
{
    size_t index, most;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "evidence"), index, most, item)
    {
        buf_puts(out, index ? ""
                            : "<h2>Evidence</h2>\n<table><tr><th>claim</th><th>quote</th>"
                              "<th>page</th><th>read</th><th>grade</th></tr>\n");
        buf_puts(out, "<tr>");
        put_cell(out, text_of(item, "claim"));
        put_cell(out, text_of(item, "quote"));
        buf_puts(out, "<td>");
        put_address(out, text_of(item, "url"));
        buf_puts(out, "</td>");
        put_cell(out, text_of(item, "read_at"));
        put_cell(out, text_of(item, "grade"));
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, yyjson_mut_arr_size(yyjson_mut_obj_get(result, "evidence")) ? "</table>\n" : "");
}

static void put_conflicts(struct buf *out, yyjson_mut_val *result)
{
    size_t index, most;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "conflicts"), index, most, item)
    {
        static const char *const SIDES[] = {"one", "other"};
        buf_puts(out, index ? "" : "<h2>Sources contradict each other</h2>\n");
        for (int i = 0; i < 2; i++) {
            yyjson_mut_val *side = yyjson_mut_obj_get(item, SIDES[i]);
            buf_puts(out, i ? "<br>" : "<p>");
            put_escaped(out, text_of(side, "quote"), strlen(text_of(side, "quote")));
            buf_puts(out, " ");
            put_address(out, text_of(side, "url"));
        }
        buf_puts(out, "</p>\n");
    }
}

static void write_html(struct buf *out, struct arena *arena, yyjson_mut_val *result)
{
    static const char HEAD[] =
        "<!doctype html>\n<html><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
    static const char STYLE[] =
        "</title>\n<style>body{font:16px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 "
        "1em}"
        ".row{display:grid;grid-template-columns:3fr 2fr;gap:1.5em}.row>*{min-width:0;overflow-"
        "wrap:anywhere}"
        "aside{font-size:.8em;border-left:3px solid #bbb;padding-left:1em}"
        "table{border-collapse:collapse;font-size:.8em}td,th{border:1px solid #bbb;padding:.3em;"
        "text-align:left;vertical-align:top;overflow-wrap:anywhere}"
        "pre{overflow:auto}@media(max-width:50em){.row{display:block}}</style></head>\n<body>\n";
    struct report_page *page = arena_zalloc(arena, sizeof *page);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(result, "metadata");
    const char *topic = text_of(metadata, "topic");
    topic = *topic ? topic : text_of(metadata, "query");
    if (!page) {
        out->error = ERR_NOMEM;
        return;
    }
    page->out = out;
    buf_puts(out, HEAD);
    put_escaped(out, topic, strlen(topic));
    buf_puts(out, STYLE);
    find_footnotes(page, text_of_report(result));
    put_report(page, text_of_report(result));
    put_conflicts(out, result);
    put_evidence(out, result);
    size_t index, most;
    yyjson_mut_val *source;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(metadata, "sources_visited"), index, most, source)
    {
        buf_puts(out, index ? "<br>" : "<h2>Pages read</h2>\n<p>");
        put_address(out, yyjson_mut_get_str(source));
    }
    buf_puts(out, "</p>\n<p>");
    put_summary(out, result);
    buf_puts(out, ", by ");
    put_escaped(out, text_of(metadata, "model"), strlen(text_of(metadata, "model")));
    buf_puts(out, ", ");
    put_escaped(out, text_of(metadata, "timestamp"), strlen(text_of(metadata, "timestamp")));
    buf_puts(out, ".</p>\n<p>");
    put_escaped(out, text_of(result, "untrusted"), strlen(text_of(result, "untrusted")));
    buf_puts(out, "</p>\n</body></html>\n");
}

/* ---- files ---- */

static void write_json(struct buf *out, struct arena *arena, yyjson_mut_val *result)
{
    if (json_write_pretty(out, arena, result) == OK) {
        buf_putc(out, '\n');
    }
}

static const struct report_form FORMS[] = {
    {".md", report_write_markdown},
    {".json", write_json},
    {".html", write_html},
};

/* The folder of a path, in `folder`; false when it does not fit. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    length = slash == path ? 1 : length;
    int written =
        slash ? snprintf(folder, size, "%.*s", (int)length, path) : snprintf(folder, size, ".");
    return written >= 0 && (size_t)written < size;
}

const struct report_form *report_form(const char *path)
{
    char folder[OWN_PATH_SIZE];
    struct stat there;
    size_t length = strlen(path);
    const struct report_form *form = NULL;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        size_t ending = strlen(FORMS[i].ending);
        if (length > ending && path[length - ending - 1] != '/' &&
            strcasecmp(path + length - ending, FORMS[i].ending) == 0) {
            form = &FORMS[i];
        }
    }
    if (!form) {
        usage_error("--out %s: the name must end in .md, .json or .html", path);
        return NULL;
    }
    if (!folder_of(path, folder, sizeof folder) || stat(folder, &there) != 0 ||
        !S_ISDIR(there.st_mode)) {
        usage_error("--out %s: there is no folder %s", path, folder);
        return NULL;
    }
    if (access(folder, W_OK) != 0 || (stat(path, &there) == 0 && !S_ISREG(there.st_mode))) {
        usage_error("--out %s: no file can be written there", path);
        return NULL;
    }
    return form;
}

/* Beside its place first, then in it. OK, or ERR_IO with errno. */
static int replace_file(const char *path, const struct buf *text)
{
    char beside[OWN_PATH_SIZE];
    int length = snprintf(beside, sizeof beside, "%s.%ld.new", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof beside) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    int fd = new_file(beside);
    if (fd < 0) {
        return ERR_IO;
    }
    int status = new_file_end(fd, beside, write_all(fd, text->data, text->length));
    if (status == OK && rename(beside, path) != 0) {
        int why = errno;
        unlink(beside);
        errno = why;
        status = ERR_IO;
    }
    if (status == OK) {
        sync_folder_of(path);
    }
    return status;
}

int report_save(const struct report_form *form, const char *path, struct arena *arena,
                yyjson_mut_val *result)
{
    struct buf text;
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    form->write(&text, arena, result);
    redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
    int status = buf_error(&text);
    if (status == OK) {
        status = replace_file(path, &text);
    } else {
        errno = ENOMEM;
    }
    if (status != OK) {
        fprintf(stderr, "forage: %s was not written: %s\n", path, strerror(errno));
    } else {
        buf_clear(&text);
        put_summary(&text, result);
        fprintf(stderr, "forage: the report is in %s (%s)\n", path, text.data);
    }
    buf_done(&text);
    return status == OK ? EXIT_OK : EXIT_FAILED;
}
