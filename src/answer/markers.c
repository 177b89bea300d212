/* Finds the markers of citations in a text. */
#include "answer/sources.h"

#include <string.h>

/* ---- how well a span fits ---- */

enum fit { FIT_NOT_AT_ALL = -4, FIT_POSSIBLE = 0, FIT_URL = 1, FIT_BRACKETS = 2, FIT_MARKER = 4 };

/* The brackets that markers have been seen with; the last ones are for private use. */
static const char *const BRACKETS[][2] = {
    {"[", "]"}, {"(", ")"}, {"<", ">"}, {"【", "】"}, {"\ue200", "\ue201"}};

/* Whether a text begins with one kind of brackets and ends with one. */
static bool in_brackets(const char *text, size_t length)
{
    bool opens = false;
    bool closes = false;
    for (size_t i = 0; i < sizeof BRACKETS / sizeof *BRACKETS; i++) {
        size_t open = strlen(BRACKETS[i][0]);
        size_t close = strlen(BRACKETS[i][1]);
        opens |= length >= open && memcmp(text, BRACKETS[i][0], open) == 0;
        closes |= length >= close && memcmp(text + length - close, BRACKETS[i][1], close) == 0;
    }
    return opens && closes;
}

static enum fit judge(const struct model_part *part, struct span span, const char *url)
{
    if (span.start == RULER_NONE || span.end == RULER_NONE || span.start >= span.end) {
        return FIT_NOT_AT_ALL;
    }
    const char *text = part->text + span.start;
    size_t length = span.end - span.start;
    bool brackets = in_brackets(text, length);
    bool holds_url = *url && memmem(text, length, url, strlen(url));
    if (holds_url && (brackets || length == strlen(url))) {
        return FIT_MARKER;
    }
    return brackets ? FIT_BRACKETS : holds_url ? FIT_URL : FIT_POSSIBLE;
}

static struct span counted(const struct ruler *ruler, struct counting counting,
                           const struct model_annotation *annotation)
{
    if (annotation->start < 0 || annotation->end < 0) {
        return (struct span){RULER_NONE, RULER_NONE};
    }
    size_t end = (size_t)annotation->end + (counting.inclusive ? 1 : 0);
    return (struct span){ruler_byte(ruler, counting.unit, (size_t)annotation->start),
                         ruler_byte(ruler, counting.unit, end)};
}

/* ---- what is counted ---- */

/* In the order of preference where several fit equally well, as they do in plain ASCII. */
static const struct counting COUNTINGS[] = {
    {.unit = RULER_POINTS},
    {.unit = RULER_UTF16},
    {.unit = RULER_BYTES},
    {.unit = RULER_POINTS, .inclusive = true},
    {.unit = RULER_UTF16, .inclusive = true},
    {.unit = RULER_BYTES, .inclusive = true},
};

struct counting markers_counting(const struct model_part *parts, struct ruler *const *rulers,
                                 size_t count)
{
    size_t best = 0;
    int64_t best_score = INT64_MIN;
    for (size_t i = 0; i < sizeof COUNTINGS / sizeof *COUNTINGS; i++) {
        int64_t score = 0;
        for (size_t p = 0; p < count; p++) {
            for (size_t a = 0; a < parts[p].annotation_count; a++) {
                const struct model_annotation *annotation = &parts[p].annotations[a];
                struct span span = counted(rulers[p], COUNTINGS[i], annotation);
                score += judge(&parts[p], span, annotation->url);
            }
        }
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    struct counting counting = COUNTINGS[best];
    counting.certain = best_score > 0;
    return counting;
}

/* ---- by the URL ---- */

/* The whole of a Markdown link whose URL is at `url`, with the brackets around it. */
static struct span widen(const char *text, size_t length, struct span url)
{
    struct span span = url;
    if (url.start >= 2 && url.end < length && text[url.end] == ')' &&
        memcmp(text + url.start - 2, "](", 2) == 0) {
        size_t at = url.start - 2;
        int open = 1;
        while (at > 0 && open > 0 && text[at - 1] != '\n') {
            at--;
            open += text[at] == ']' ? 1 : text[at] == '[' ? -1 : 0;
        }
        if (open == 0) {
            span = (struct span){at, url.end + 1};
        }
    }
    if (span.start > 0 && span.end < length && text[span.start - 1] == '(' &&
        text[span.end] == ')') {
        span = (struct span){span.start - 1, span.end + 1};
    }
    return span;
}

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* The marker with the URL that is nearest to `hint`. False when the text does not hold the URL. */
static bool find_by_url(const struct model_part *part, const char *url, size_t hint,
                        struct span *found)
{
    size_t size = strlen(url);
    size_t from = 0;
    bool any = false;
    while (size && from < part->length) {
        const char *hit = memmem(part->text + from, part->length - from, url, size);
        if (!hit) {
            break;
        }
        size_t at = (size_t)(hit - part->text);
        if (!any || distance(at, hint) < distance(found->start, hint)) {
            *found = (struct span){at, at + size};
            any = true;
        }
        from = at + size;
    }
    if (any) {
        *found = widen(part->text, part->length, *found);
    }
    return any;
}

/* ---- one annotation ---- */

/* A position that may be nonsense, moved to the border of a character inside the text. */
static size_t near(const struct model_part *part, const struct ruler *ruler, enum ruler_unit unit,
                   int64_t position)
{
    return position < 0 ? part->length : ruler_byte_near(ruler, unit, (size_t)position);
}

struct span markers_span(const struct model_part *part, const struct ruler *ruler,
                         struct counting counting, const struct model_annotation *annotation)
{
    struct span span = counted(ruler, counting, annotation);
    enum fit fit = judge(part, span, annotation->url);
    if (fit >= FIT_BRACKETS || (fit >= FIT_POSSIBLE && !counting.certain)) {
        return span;
    }
    size_t start = near(part, ruler, counting.unit, annotation->start);
    size_t end = near(part, ruler, counting.unit, annotation->end);
    struct span found;
    if (find_by_url(part, annotation->url, start, &found)) {
        return found;
    }
    return (struct span){start, end > start ? end : start};
}

bool markers_is_marker(const char *text, struct span span)
{
    size_t length = span.end - span.start;
    bool url = length > 4 && memcmp(text + span.start, "http", 4) == 0;
    return url || in_brackets(text + span.start, length);
}
