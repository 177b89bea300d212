/* Rulers: where each 64th character of a text begins, in every unit. */
#include "answer/sources.h"
#include "text/text.h"

#define POINTS_PER_MARK 64

/* The same place in all units. */
struct ruler_place {
    size_t at[RULER_UNITS];
};

struct ruler {
    const char *text;
    struct ruler_place end;
    size_t count;
    struct ruler_place marks[];
};

/* One character further on. */
static void step(const char *text, struct ruler_place *place, size_t length)
{
    const char *at = text + place->at[RULER_BYTES];
    uint32_t point = text_next(&at, text + length);
    place->at[RULER_BYTES] = (size_t)(at - text);
    place->at[RULER_POINTS]++;
    place->at[RULER_UTF16] += point > 0xFFFF ? 2 : 1;
}

struct ruler *ruler_new(struct arena *arena, const char *text, size_t length)
{
    size_t most = length / POINTS_PER_MARK + 1;
    struct ruler *ruler = arena_alloc(arena, sizeof *ruler + most * sizeof *ruler->marks);
    if (!ruler) {
        return NULL;
    }
    struct ruler_place place = {{0}};
    ruler->text = text;
    ruler->count = 0;
    while (place.at[RULER_BYTES] < length) {
        if (place.at[RULER_POINTS] % POINTS_PER_MARK == 0) {
            ruler->marks[ruler->count++] = place;
        }
        step(text, &place, length);
    }
    ruler->end = place;
    return ruler;
}

/* The last place that begins at or before `position`, a character at a time from the mark before
 * it. */
static struct ruler_place find(const struct ruler *ruler, enum ruler_unit unit, size_t position)
{
    if (position >= ruler->end.at[unit]) {
        return ruler->end;
    }
    size_t low = 0;
    size_t high = ruler->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (ruler->marks[middle].at[unit] <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    struct ruler_place place = ruler->marks[low];
    struct ruler_place next = place;
    while (next.at[unit] <= position) {
        place = next;
        step(ruler->text, &next, ruler->end.at[RULER_BYTES]);
    }
    return place;
}

size_t ruler_byte(const struct ruler *ruler, enum ruler_unit unit, size_t position)
{
    struct ruler_place place = find(ruler, unit, position);
    return place.at[unit] == position ? place.at[RULER_BYTES] : RULER_NONE;
}

size_t ruler_byte_near(const struct ruler *ruler, enum ruler_unit unit, size_t position)
{
    return find(ruler, unit, position).at[RULER_BYTES];
}

size_t ruler_point(const struct ruler *ruler, size_t byte)
{
    return find(ruler, RULER_BYTES, byte).at[RULER_POINTS];
}
