/* Keeps the pages and notes of a research, and counts what came of them. */
#include "evidence/evidence.h"

#include "core/clock.h"
#include "core/limits.h"
#include "evidence/find.h"
#include "evidence/internal.h"
#include "evidence/marks.h"
#include "text/text.h"
#include "text/url.h"
#include "world/world.h"

#include <string.h>

struct evidence *evidence_new(struct arena *arena)
{
    struct evidence *evidence = arena_zalloc(arena, sizeof *evidence);
    if (evidence) {
        evidence->arena = arena;
        evidence->work = LIMIT_EVIDENCE_WORK;
        evidence->footnote_chars = LIMIT_EVIDENCE_FOOTNOTES;
    }
    return evidence;
}

void evidence_limit_footnotes(struct evidence *evidence, size_t chars)
{
    evidence->footnote_chars = chars;
}

const char *evidence_grade_name(enum evidence_grade grade)
{
    static const char *const NAMES[EVIDENCE_GRADES] = {
        [EVIDENCE_EXACT] = "exact",
        [EVIDENCE_NEAR] = "near",
        [EVIDENCE_ABSENT] = "absent",
        [EVIDENCE_UNSEEN] = "unseen",
    };
    return NAMES[grade];
}

/* A copy without more than may be kept; NULL is "". */
static const char *keep(struct evidence *evidence, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length > LIMIT_EVIDENCE_NOTE_BYTES) {
        length = LIMIT_EVIDENCE_NOTE_BYTES;
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    return length ? arena_strndup(evidence->arena, text, length) : "";
}

/* ---- pages ---- */

size_t evidence_page_count(const struct evidence *evidence)
{
    return evidence->page_count;
}

const struct evidence_page *evidence_page(const struct evidence *evidence, size_t number)
{
    return number && number <= evidence->page_count ? &evidence->pages[number - 1].page : NULL;
}

size_t evidence_page_of(struct evidence *evidence, const char *url)
{
    const char *canonical = canonical_url(evidence->arena, url);
    for (size_t i = 0; canonical && i < evidence->page_count; i++) {
        const struct kept_page *kept = &evidence->pages[i];
        if (strcmp(kept->canonical, canonical) == 0 ||
            (kept->also && strcmp(kept->also, canonical) == 0)) {
            return i + 1;
        }
    }
    return 0;
}

void evidence_also(struct evidence *evidence, size_t number, const char *url)
{
    if (evidence_page(evidence, number) && !evidence_page_of(evidence, url)) {
        evidence->pages[number - 1].also = canonical_url(evidence->arena, url);
        evidence->pages[number - 1].page.also = keep(evidence, url);
    }
}

/* The page of an address, made where it is not there. 0: no room, or no memory. */
static size_t place_of(struct evidence *evidence, const char *url, const char *title,
                       int64_t read_ms)
{
    struct url parts;
    size_t number = evidence_page_of(evidence, url);
    if (number || evidence->page_count == LIMIT_EVIDENCE_PAGES) {
        return number;
    }
    struct kept_page *pages = arena_grow(evidence->arena, evidence->pages, evidence->page_count,
                                         &evidence->page_capacity, sizeof *pages);
    if (!pages) {
        return 0;
    }
    evidence->pages = pages;
    bool web = url_parse(evidence->arena, url, &parts, NULL) == OK;
    struct kept_page *kept = &pages[evidence->page_count];
    *kept = (struct kept_page){
        .page = {.url = keep(evidence, web ? parts.text : url),
                 .title = keep(evidence, title),
                 .host = web ? parts.host : "",
                 .read_ms = read_ms},
        .canonical = canonical_url(evidence->arena, url),
    };
    bool kept_all = kept->page.url && kept->page.title && kept->canonical;
    evidence->page_count += kept_all ? 1 : 0;
    return kept_all ? evidence->page_count : 0;
}

/* Makes room for so many bytes in a page's text. It grows in steps, so that a page of many parts
 * does not take the memory of their sum each time. False without memory. */
static bool make_room(struct evidence *evidence, struct kept_page *kept, size_t size)
{
    size_t capacity = kept->capacity ? kept->capacity : size;
    while (capacity < size) {
        capacity *= 2;
    }
    if (capacity > kept->capacity) {
        char *text = arena_realloc(evidence->arena, kept->text, kept->capacity, capacity);
        if (!text) {
            return false;
        }
        kept->text = text;
        kept->capacity = capacity;
    }
    return true;
}

/* Adds a text to a page, unless it has it. False without memory. */
static bool add_text(struct evidence *evidence, struct kept_page *kept, const char *text)
{
    struct sha256 sha;
    struct evidence_page *page = &kept->page;
    const char *seam = page->text ? EVIDENCE_SEAM : "";
    size_t length = strlen(text), joint = strlen(seam);
    bool fits = page->length + joint + length <= LIMIT_EVIDENCE_PAGE_BYTES &&
                evidence->bytes + joint + length <= LIMIT_EVIDENCE_BYTES;
    if (!fits || (page->text && strstr(page->text, text))) {
        return true;
    }
    if (!make_room(evidence, kept, page->length + joint + length + 1)) {
        return false;
    }
    memcpy(kept->text + page->length, seam, joint);
    memcpy(kept->text + page->length + joint, text, length + 1);
    page->text = kept->text;
    page->length += joint + length;
    evidence->bytes += joint + length;
    sha256_init(&sha);
    sha256_add(&sha, page->text, page->length);
    sha256_end(&sha, page->digest);
    return true;
}

size_t evidence_add_page(struct evidence *evidence, const char *url, const char *title,
                         const char *text, int64_t read_ms)
{
    size_t number = place_of(evidence, url, title, read_ms);
    struct evidence_page *page = number ? &evidence->pages[number - 1].page : NULL;
    if (page && !*page->title) {
        const char *copy = keep(evidence, title);
        page->title = copy ? copy : "";
    }
    return page && add_text(evidence, &evidence->pages[number - 1], text) ? number : 0;
}

size_t evidence_add_unseen(struct evidence *evidence, const char *url, const char *title)
{
    return place_of(evidence, url, title, clock_wall_ms());
}

/* ---- notes ---- */

size_t evidence_note_count(const struct evidence *evidence)
{
    return evidence->note_count;
}

const struct evidence_note *evidence_note(const struct evidence *evidence, size_t number)
{
    return number && number <= evidence->note_count ? &evidence->notes[number - 1].note : NULL;
}

void evidence_cite(struct evidence *evidence, size_t number)
{
    if (number && number <= evidence->note_count) {
        evidence->notes[number - 1].note.cited = true;
    }
}

void evidence_judge(struct evidence *evidence, size_t number, int supported, const char *judge)
{
    if (number && number <= evidence->note_count) {
        evidence->notes[number - 1].note.supported = supported;
        evidence->notes[number - 1].note.supported_by = keep(evidence, judge);
    }
}

/* The bytes of the stop that the quote ends with, where the page has the same one there. */
static size_t last_mark(const char *behind, const char *quote)
{
    size_t length = strlen(quote), size = 0;
    while (size < length && size < 4 && ((unsigned char)quote[length - ++size] & 0xC0) == 0x80) {
    }
    return strncmp(behind, quote + length - size, size) == 0 ? size : 0;
}

/* Looks for the quote of a note. OK or ERR_NOMEM. */
static int grade(struct evidence *evidence, struct kept_note *kept, const char *quote)
{
    struct evidence_note *note = &kept->note;
    const struct evidence_page *page = evidence_page(evidence, note->source);
    struct found_quote found = {.grade = EVIDENCE_ABSENT};
    note->words = note->quote;
    note->grade = page && !page->text ? EVIDENCE_UNSEEN : EVIDENCE_ABSENT;
    if (!page || !page->text || strlen(quote) > LIMIT_EVIDENCE_NOTE_BYTES) {
        return OK;
    }
    int status = find_quote(page->text, page->length, quote, &evidence->work, &found);
    note->grade = found.grade;
    if (status == OK && is_found(kept)) {
        size_t end = found.end + last_mark(page->text + found.end, quote);
        note->words = marks_plain(evidence->arena, page->text + found.start, end - found.start);
        note->start = text_count(page->text, found.start);
        note->end = note->start + text_count(page->text + found.start, found.end - found.start);
        kept->start = found.start;
        kept->end = found.end;
    }
    return status == OK && !note->words ? ERR_NOMEM : status;
}

static size_t add_note(struct evidence *evidence, const char *claim, const char *quote,
                       size_t source, const char *url)
{
    quote = quote ? quote : "";
    if (evidence->note_count == LIMIT_EVIDENCE_NOTES) {
        return 0;
    }
    struct kept_note *notes = arena_grow(evidence->arena, evidence->notes, evidence->note_count,
                                         &evidence->note_capacity, sizeof *notes);
    if (!notes) {
        return 0;
    }
    evidence->notes = notes;
    struct kept_note *kept = &notes[evidence->note_count];
    *kept = (struct kept_note){.note = {.claim = keep(evidence, claim),
                                        .quote = keep(evidence, quote),
                                        .source = source,
                                        .url = url}};
    if (!kept->note.claim || !kept->note.quote || grade(evidence, kept, quote) != OK) {
        return 0;
    }
    return ++evidence->note_count;
}

size_t evidence_add_note(struct evidence *evidence, const char *claim, const char *quote,
                         size_t source)
{
    const struct evidence_page *page = evidence_page(evidence, source);
    for (size_t i = 0; i < evidence->note_count; i++) {
        const struct evidence_note *note = &evidence->notes[i].note;
        if (page && note->source == source && strcmp(note->quote, quote ? quote : "") == 0 &&
            strcmp(note->claim, claim ? claim : "") == 0) {
            return i + 1;
        }
    }
    return add_note(evidence, claim, quote, page ? source : 0, page ? page->url : "");
}

size_t evidence_add_note_at(struct evidence *evidence, const char *claim, const char *quote,
                            const char *url)
{
    size_t source = url && *url ? evidence_page_of(evidence, url) : 0;
    const char *copy = source ? evidence_page(evidence, source)->url : keep(evidence, url);
    return copy ? add_note(evidence, claim, quote, source, copy) : 0;
}

/* ---- what comes of it ---- */

/* The host without "www.", which is one publisher with or without it. "" where the page's text is
 * not here, or empty: nobody can tell whether it was read. */
static const char *host_read(const struct evidence *evidence, size_t index)
{
    const struct evidence_page *page = &evidence->pages[index].page;
    if (!page->text || !page->text[strspn(page->text, " \t\r\n")]) {
        return "";
    }
    return page->host + (strncmp(page->host, "www.", 4) == 0 ? 4 : 0);
}

/* Whether an earlier page is of the same host. */
static bool host_is_counted(const struct evidence *evidence, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(host_read(evidence, i), host_read(evidence, index)) == 0) {
            return true;
        }
    }
    return false;
}

void evidence_count(const struct evidence *evidence, struct evidence_counts *counts)
{
    *counts = (struct evidence_counts){.claims = evidence->unknown};
    counts->grades[EVIDENCE_ABSENT] = evidence->unknown;
    for (size_t i = 0; i < evidence->note_count; i++) {
        const struct kept_note *kept = &evidence->notes[i];
        counts->claims += kept->note.cited;
        counts->grades[kept->note.grade] += kept->note.cited;
    }
    for (size_t i = 0; i < evidence->page_count; i++) {
        bool leaned_on = false;
        for (size_t j = 0; j < evidence->note_count && !leaned_on; j++) {
            const struct kept_note *kept = &evidence->notes[j];
            leaned_on = kept->note.cited && kept->note.source == i + 1 && is_found(kept);
        }
        counts->sources += leaned_on;
        counts->hosts += *host_read(evidence, i) && !host_is_counted(evidence, i);
    }
}

bool evidence_verified(const struct evidence *evidence)
{
    struct evidence_counts counts;
    evidence_count(evidence, &counts);
    size_t found = counts.grades[EVIDENCE_EXACT] + counts.grades[EVIDENCE_NEAR];
    return counts.claims > 0 && found == counts.claims && counts.hosts >= 2;
}
