/* Where citations stand in a text. The API does not say what its positions count, and what it
 * counts has changed; but a citation's span covers its marker - "([example.org](https://...))" -
 * so the unit in which the spans begin and end with brackets is the right one. Where no unit fits,
 * the marker is looked for by its URL.
 *
 * Pure. */
#ifndef FORAGE_ANSWER_MARKERS_H
#define FORAGE_ANSWER_MARKERS_H

#include "answer/response.h"
#include "answer/ruler.h"

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
struct counting markers_counting(const struct response_part *parts, struct ruler *const *rulers,
                                 size_t count);
/* The span of an annotation in its part: the marker as counted, else where its URL stands, else
 * what was counted, moved to the borders of characters. Where there are no markers at all, spans
 * that hold something are believed: they cover claims. Never outside the text, never inside a
 * character.
 */
struct span markers_span(const struct response_part *part, const struct ruler *ruler,
                         struct counting counting, const struct annotation *annotation);

/* Whether a span is a marker: something in brackets, or a URL. */
bool markers_is_marker(const char *text, struct span span);

#endif
