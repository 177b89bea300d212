/* What citations.c makes citations of: positions in a text, the markers that stand there, the
 * sentence that a source supports, and when the source was published. Pure. Texts must be valid
 * UTF-8. */
#ifndef FORAGE_ANSWER_SOURCES_H
#define FORAGE_ANSWER_SOURCES_H

#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- positions (ruler.c) ---- */

/* Positions in whatever unit somebody counts: Unicode code points, units of UTF-16 (as JavaScript
 * does) or bytes of UTF-8. A ruler is laid along a text once; after that any position is found in a
 * few steps, and none ever falls inside a character. The text must outlive the ruler, which lives
 * in the arena. */
enum ruler_unit { RULER_POINTS, RULER_UTF16, RULER_BYTES, RULER_UNITS };

#define RULER_NONE SIZE_MAX

struct ruler;

/* NULL without memory. */
struct ruler *ruler_new(struct arena *arena, const char *text, size_t length);
/* The offset in bytes of a position; RULER_NONE when it is beyond the end or inside a character. */
size_t ruler_byte(const struct ruler *ruler, enum ruler_unit unit, size_t position);
/* The same, but never RULER_NONE: moved back to the beginning of its character, or to the end of
 * the text. */
size_t ruler_byte_near(const struct ruler *ruler, enum ruler_unit unit, size_t position);
/* The opposite, for code points. `byte` is moved back to the beginning of its character. */
size_t ruler_point(const struct ruler *ruler, size_t byte);

/* ---- markers (markers.c) ---- */

/* The API does not say what its positions count, and what it counts has changed; but a citation's
 * span covers its marker - "([example.org](https://...))" - so the unit in which the spans begin
 * and end with brackets is the right one. Where no unit fits, the marker is looked for by its URL.
 */

/* In bytes. */
struct span {
    size_t start, end;
};

/* What positions count, and whether the second one is the last character instead of the one behind
 * it. */
struct counting {
    enum ruler_unit unit;
    bool inclusive;
    bool certain; /* there are markers, and this is where they are */
};

/* The counting that fits the annotations of all parts best. `rulers` has one for each part. */
struct counting markers_counting(const struct model_part *parts, struct ruler *const *rulers,
                                 size_t count);
/* The span of an annotation in its part: the marker as counted, else where its URL stands, else
 * what was counted, moved to the borders of characters. Where there are no markers at all, spans
 * that hold something are believed: they cover claims. Never outside the text, never inside a
 * character.
 */
struct span markers_span(const struct model_part *part, const struct ruler *ruler,
                         struct counting counting, const struct model_annotation *annotation);

/* Whether a span is a marker: something in brackets, or a URL. */
bool markers_is_marker(const char *text, struct span span);

/* ---- sentences (snippet.c) ---- */

/* Markers stand behind the claim ("It rains. ([a](u))" or "It rains ([a](u))."), several may follow
 * each other, and in lists of sources the claim stands behind the marker instead. */

/* The sentence for spans[which], without the markers in it, white space collapsed, at most
 * LIMIT_SNIPPET_CHARS; "" when there is none. `spans` are in order and apart from each other. NULL
 * without memory. */
const char *snippet_for(struct arena *arena, const char *text, size_t length,
                        const struct span *spans, size_t count, size_t which);

/* ---- dates (dates.c) ---- */

/* When a source was published, as far as the text and the address show: the prompt asks the model
 * to write "(published 2026-11-14)" behind each source, and many addresses carry their date. */

#define DATE_SIZE 32

struct date {
    char text[DATE_SIZE]; /* as ISO 8601: 2026-11-14 or 2026-11-14T09:30Z */
    int64_t latest;       /* the last second that it can mean, since 1970 */
};

/* The date behind the word "published" at the beginning of `text`, brackets and blanks before it
 * allowed. */
bool date_published(const char *text, size_t length, struct date *date);
/* The date in the path of a URL: /2026/11/14/, /2026-11-14- or /20261114/. */
bool date_in_url(const char *url, struct date *date);
/* Whether it is certainly older. */
bool date_older(const struct date *date, int64_t now, int hours);

#endif
