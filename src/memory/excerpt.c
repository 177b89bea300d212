/* Hits are found by taking the text apart again; the window that holds the most different terms is
 * shown, a little of what comes before it included. */
#include "memory/excerpt.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <stdint.h>
#include <string.h>

#define WINDOW_BYTES 320 /* of text */
#define LEAD_BYTES   48  /* before the first hit */
#define MOST_HITS    512 /* of one text that are looked at */

struct term_hit {
    size_t start, end;
    size_t term; /* which of the wanted */
};

/* The beginnings of terms: most words of a text are none of the wanted, and seen to be none by it.
 */
struct beginnings {
    uint64_t bits[4];
};

struct term_hits {
    const struct excerpt_terms *wanted;
    const struct beginnings *beginnings;
    struct term_hit *items;
    size_t count;
};

/* A number below 256. */
static unsigned int beginning_of(const char *term)
{
    unsigned int first = (unsigned char)term[0];
    return (first * 31 + (first ? (unsigned char)term[1] : 0)) % 256;
}

static struct beginnings beginnings_of(const struct excerpt_terms *wanted)
{
    struct beginnings beginnings = {0};
    for (size_t i = 0; i < wanted->term_count; i++) {
        unsigned int beginning = beginning_of(wanted->terms[i]);
        beginnings.bits[beginning / 64] |= UINT64_C(1) << beginning % 64;
    }
    return beginnings;
}

static bool wanted_term(const struct term_hits *hits, const struct word *word, size_t *which)
{
    const struct excerpt_terms *wanted = hits->wanted;
    unsigned int beginning = beginning_of(word->term);
    bool may_be = hits->beginnings->bits[beginning / 64] >> beginning % 64 & 1;
    for (size_t i = 0; may_be && i < wanted->term_count; i++) {
        if (strcmp(wanted->terms[i], word->term) == 0) {
            *which = i;
            return true;
        }
    }
    for (size_t i = 0; i < wanted->prefix_count; i++) {
        if (strncmp(wanted->prefixes[i], word->folded, strlen(wanted->prefixes[i])) == 0) {
            *which = wanted->term_count + i;
            return true;
        }
    }
    return false;
}

static int take(void *context, const struct word *word)
{
    struct term_hits *hits = context;
    size_t which;
    if (wanted_term(hits, word, &which)) {
        hits->items[hits->count++] = (struct term_hit){word->start, word->end, which};
    }
    return hits->count < MOST_HITS ? OK : ERR_LIMIT;
}

/* How many different terms there are in a window that begins with the hit `first`; of very many
 * terms some are taken for the same. */
static size_t different(const struct term_hits *hits, size_t first)
{
    uint64_t seen[4] = {0};
    size_t found = 0;
    for (size_t i = first; i < hits->count; i++) {
        if (hits->items[i].end - hits->items[first].start > WINDOW_BYTES - LEAD_BYTES) {
            break;
        }
        uint64_t *word = &seen[hits->items[i].term / 64 % 4];
        uint64_t bit = (uint64_t)1 << hits->items[i].term % 64;
        found += (*word & bit) == 0;
        *word |= bit;
    }
    return found;
}

/* ---- writing ---- */

/* Appends text; for HTML it is escaped. Line ends and tabs become blanks. */
static void put(struct buf *out, const char *text, size_t length, bool html)
{
    static const struct {
        char plain;
        const char *escaped;
    } ESCAPES[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < length; i++) {
        const char *escaped = NULL;
        for (size_t j = 0; html && j < sizeof ESCAPES / sizeof *ESCAPES; j++) {
            escaped = ESCAPES[j].plain == text[i] ? ESCAPES[j].escaped : escaped;
        }
        if (escaped) {
            buf_puts(out, escaped);
        } else {
            buf_putc(out, text[i] == '\n' || text[i] == '\r' || text[i] == '\t' ? ' ' : text[i]);
        }
    }
}

/* Moves a position to where a character begins. */
static size_t at_character(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

/* Moves the begin of the window to the begin of a word, where one is near. */
static size_t at_word(const char *text, size_t at, size_t before)
{
    for (size_t i = at; i < before; i++) {
        if (text[i] == ' ' || text[i] == '\n') {
            return i + 1;
        }
    }
    return at;
}

static void write_window(struct buf *out, const char *text, size_t start, size_t end,
                         const struct term_hits *hits, bool marked)
{
    size_t at = start;
    for (size_t i = 0; i < hits->count && marked; i++) {
        const struct term_hit *hit = &hits->items[i];
        size_t close = hit->end;
        if (hit->start < at || hit->end > end) {
            continue;
        }
        /* Pairs of characters overlap, and an identifier holds its parts: one mark for all. */
        while (i + 1 < hits->count && hits->items[i + 1].start < close) {
            i++;
            close = hits->items[i].end > close ? hits->items[i].end : close;
        }
        close = close > end ? end : close;
        put(out, text + at, hit->start - at, true);
        buf_puts(out, "<mark>");
        put(out, text + hit->start, close - hit->start, true);
        buf_puts(out, "</mark>");
        at = close;
    }
    put(out, text + at, end - at, marked);
}

static void write_excerpt(struct buf *out, const char *text, const struct term_hits *hits,
                          bool marked)
{
    size_t length = strlen(text);
    size_t best = 0;
    size_t most = 0;
    for (size_t i = 0; i < hits->count; i++) {
        size_t here = different(hits, i);
        best = here > most ? i : best;
        most = here > most ? here : most;
    }
    size_t first = hits->count > 0 ? hits->items[best].start : 0;
    size_t start = first > LEAD_BYTES ? at_word(text, first - LEAD_BYTES, first) : 0;
    start = at_character(text, start);
    size_t end = length - start > WINDOW_BYTES ? at_character(text, start + WINDOW_BYTES) : length;
    buf_puts(out, start > 0 ? "\xE2\x80\xA6" : "");
    write_window(out, text, start, end, hits, marked);
    buf_puts(out, end < length ? "\xE2\x80\xA6" : "");
}

const char *excerpt_make(struct arena *arena, struct word_reader *reader, const char *const *texts,
                         size_t text_count, const struct excerpt_terms *wanted, bool marked)
{
    struct beginnings beginnings = beginnings_of(wanted);
    struct term_hits best = {wanted, &beginnings,
                             arena_alloc(arena, MOST_HITS * sizeof(struct term_hit)), 0};
    struct term_hits hits = {wanted, &beginnings,
                             arena_alloc(arena, MOST_HITS * sizeof(struct term_hit)), 0};
    const char *chosen = text_count > 0 ? texts[0] : "";
    enum language language = LANGUAGE_ENGLISH;
    size_t most = 0;
    if (!best.items || !hits.items) {
        return NULL;
    }
    for (size_t i = 0; i < text_count; i++) {
        size_t length = strlen(texts[i]);
        language = i == 0 ? words_guess(reader, texts[i], length) : language;
        hits.count = 0;
        int status = words_each(reader, texts[i], length, language, take, &hits);
        if (status != OK && status != ERR_LIMIT) {
            return NULL;
        }
        size_t found = 0;
        for (size_t j = 0; j < hits.count; j++) {
            size_t here = different(&hits, j);
            found = here > found ? here : found;
        }
        if (found > most) {
            struct term_hits kept = best;
            best = hits;
            hits = kept;
            chosen = texts[i];
            most = found;
        }
    }
    struct buf out;
    buf_init(&out, LIMIT_MEMORY_EXCERPT_BYTES);
    write_excerpt(&out, chosen, &best, marked);
    const char *excerpt = buf_error(&out) == OK ? arena_strndup(arena, out.data, out.length) : NULL;
    buf_done(&out);
    return excerpt;
}
