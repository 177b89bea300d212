/* A text is split into words; what they say is a span: a day, a week, everything since a month. */
#include "memory/time_words.h"

#include "core/status.h"
#include "tables.h"
#include "text/word_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_WORDS 12
#define WORD_BYTES 40
#define DAY_MS     ((int64_t)24 * 60 * 60 * 1000)
#define MOST_COUNT 100000 /* "3 days ago": of the 3 */

struct words {
    char items[MOST_WORDS][WORD_BYTES];
    size_t count;
};

/* ---- the calendar ---- */

enum unit { SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, YEAR };

static const struct {
    const char *name;
    int64_t fixed_ms; /* 0: its length is a matter of the calendar */
} UNITS[] = {
    [SECOND] = {"second", 1000}, [MINUTE] = {"minute", 60000},  [HOUR] = {"hour", 3600000},
    [DAY] = {"day", DAY_MS},     [WEEK] = {"week", 7 * DAY_MS}, [MONTH] = {"month", 0},
    [YEAR] = {"year", 0},
};

static struct tm parts_of(int64_t moment_ms)
{
    int64_t seconds = moment_ms / 1000 - (moment_ms % 1000 < 0);
    time_t time = (time_t)seconds;
    struct tm parts;
    gmtime_r(&time, &parts);
    return parts;
}

/* Months and days beyond their range carry over. */
static int64_t moment_of(int year, int month, int day)
{
    struct tm parts = {.tm_year = year - 1900, .tm_mon = month, .tm_mday = day};
    return (int64_t)timegm(&parts) * 1000;
}

/* The unit that a moment lies in, moved by so many of them. */
static struct time_span unit_around(int64_t moment_ms, enum unit unit, int shift)
{
    struct tm parts = parts_of(moment_ms);
    int year = parts.tm_year + 1900;
    switch (unit) {
    case YEAR:
        return (struct time_span){moment_of(year + shift, 0, 1), moment_of(year + shift + 1, 0, 1)};
    case MONTH:
        return (struct time_span){moment_of(year, parts.tm_mon + shift, 1),
                                  moment_of(year, parts.tm_mon + shift + 1, 1)};
    case WEEK: {
        int monday = parts.tm_mday - (parts.tm_wday + 6) % 7 + 7 * shift;
        return (struct time_span){moment_of(year, parts.tm_mon, monday),
                                  moment_of(year, parts.tm_mon, monday + 7)};
    }
    default: {
        int64_t length = UNITS[unit].fixed_ms;
        int64_t begin = moment_ms - (moment_ms % length + length) % length + shift * length;
        return (struct time_span){begin, begin + length};
    }
    }
}

/* So many units before or after a moment. */
static int64_t moved(int64_t moment_ms, enum unit unit, int count)
{
    if (UNITS[unit].fixed_ms) {
        return moment_ms + count * UNITS[unit].fixed_ms;
    }
    struct tm parts = parts_of(moment_ms);
    parts.tm_mon += unit == MONTH ? count : 0;
    parts.tm_year += unit == YEAR ? count : 0;
    return (int64_t)timegm(&parts) * 1000;
}

/* ---- ISO 8601 ---- */

/* Digits of a fixed number; -1 when they are none. */
static int take_digits(const char **at, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        char c = (*at)[i];
        if (c < '0' || c > '9') {
            return -1;
        }
        value = value * 10 + (c - '0');
    }
    *at += count;
    return value;
}

static bool take_char(const char **at, char wanted)
{
    bool there = **at == wanted;
    *at += there;
    return there;
}

/* "Z", "+02:00", "+0200", "-05" or nothing; in minutes. */
static bool take_zone(const char **at, int *minutes)
{
    *minutes = 0;
    if (take_char(at, 'z') || **at == '\0') {
        return true;
    }
    int sign = take_char(at, '-') ? -1 : 1;
    if (sign == 1 && !take_char(at, '+')) {
        return false;
    }
    int hours = take_digits(at, 2);
    take_char(at, ':');
    int rest = **at ? take_digits(at, 2) : 0;
    *minutes = sign * (hours * 60 + rest);
    return hours >= 0 && hours <= 14 && rest >= 0 && rest < 60;
}

/* The time behind a date: hours and minutes, seconds and parts of them where there are any. */
static bool take_clock(const char **at, struct time_span *span)
{
    int hours = take_digits(at, 2);
    bool colon = take_char(at, ':');
    int minutes = colon ? take_digits(at, 2) : -1;
    int seconds = 0;
    int64_t length = 60000;
    int milliseconds = 0;
    if (take_char(at, ':')) {
        seconds = take_digits(at, 2);
        length = 1000;
        if (take_char(at, '.') || take_char(at, ',')) {
            length = 1;
            for (int scale = 100; **at >= '0' && **at <= '9'; scale /= 10, (*at)++) {
                milliseconds += (**at - '0') * scale;
            }
        }
    }
    int zone;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60 ||
        !take_zone(at, &zone)) {
        return false;
    }
    span->from_ms += ((int64_t)(hours * 60 + minutes - zone) * 60 + seconds) * 1000 + milliseconds;
    span->until_ms = span->from_ms + length;
    return true;
}

static bool day_exists(int year, int month, int day)
{
    struct tm parts = parts_of(moment_of(year, month, day));
    return day >= 1 && month >= 0 && month < 12 && parts.tm_mon == month && parts.tm_mday == day;
}

/* A year, a month, a day or a moment. */
static bool read_iso(const char *text, struct time_span *span)
{
    const char *at = text;
    int year = take_digits(&at, 4);
    if (year < 1000) {
        return false;
    }
    if (*at == '\0') {
        *span = unit_around(moment_of(year, 0, 1), YEAR, 0);
        return true;
    }
    int month = take_char(&at, '-') ? take_digits(&at, 2) - 1 : -1;
    if (month < 0 || month > 11) {
        return false;
    }
    if (*at == '\0') {
        *span = unit_around(moment_of(year, month, 1), MONTH, 0);
        return true;
    }
    int day = take_char(&at, '-') ? take_digits(&at, 2) : -1;
    if (!day_exists(year, month, day)) {
        return false;
    }
    *span = (struct time_span){moment_of(year, month, day), moment_of(year, month, day + 1)};
    if (*at == '\0') {
        return true;
    }
    return take_char(&at, 't') && take_clock(&at, span) && *at == '\0';
}

/* ---- words ---- */

/* Splits, in small letters; false when there are none or too many. A time of day behind a date
 * belongs to it. */
static bool split(const char *text, struct words *words)
{
    words->count = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ,\t");
        if (length == 0) {
            at++;
            continue;
        }
        if (length >= WORD_BYTES || words->count == MOST_WORDS) {
            return false;
        }
        char *word = words->items[words->count++];
        for (size_t i = 0; i < length; i++) {
            word[i] = at[i] >= 'A' && at[i] <= 'Z' ? (char)(at[i] | 32) : at[i];
        }
        word[length] = '\0';
        words->count -= words_value(&time_fillers, word, length) > 0;
        at += length;
    }
    return words->count > 0;
}

static bool is(const struct words *words, size_t at, const char *text)
{
    return at < words->count && strcmp(words->items[at], text) == 0;
}

/* The place of a name in a list, by its first three letters at least; -1: not there. */
static int find_name(const char *word, const char *const *names)
{
    size_t length = strlen(word);
    length -= length > 3 && word[length - 1] == '.';
    for (int i = 0; names[i]; i++) {
        if (length >= 3 && strncmp(names[i], word, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int find_unit(const char *word)
{
    for (int i = SECOND; i <= YEAR; i++) {
        size_t length = strlen(UNITS[i].name);
        if (strncmp(word, UNITS[i].name, length) == 0 &&
            (word[length] == '\0' || strcmp(word + length, "s") == 0)) {
            return i;
        }
    }
    return -1;
}

/* A whole number, also "a", "two" and the like; -1: none. */
static int read_count(const char *word)
{
    uint32_t place = words_value(&number_words, word, strlen(word));
    if (place > 0) {
        return (int)place - 1;
    }
    if (strcmp(word, "a") == 0 || strcmp(word, "an") == 0) {
        return 1;
    }
    char *end;
    long value = *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : -1;
    return value >= 0 && value <= MOST_COUNT && *end == '\0' ? (int)value : -1;
}

/* "5th", "5": a day of a month; -1: none. */
static int read_day(const char *word)
{
    char *end;
    long value = *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : -1;
    bool ends = value > 0 && (*end == '\0' || strcmp(end, "st") == 0 || strcmp(end, "nd") == 0 ||
                              strcmp(end, "rd") == 0 || strcmp(end, "th") == 0);
    return ends && value <= 31 ? (int)value : -1;
}

/* The part of a text between two words. */
struct stretch {
    const struct words *words;
    size_t from, count;
};

static const char *word_at(struct stretch stretch, size_t at)
{
    return at < stretch.count ? stretch.words->items[stretch.from + at] : "";
}

/* "march", "march 2025", "march 5", "5 march 2025": without a year the last one that has begun. */
static bool read_month(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    int month = -1;
    int day = -1;
    int year = -1;
    for (size_t i = 0; i < stretch.count; i++) {
        const char *word = word_at(stretch, i);
        int found = find_name(word, month_names);
        if (found >= 0 && month < 0) {
            month = found;
        } else if (read_day(word) > 0 && day < 0) {
            day = read_day(word);
        } else if (strlen(word) == 4 && read_count(word) >= 1000 && year < 0) {
            year = read_count(word);
        } else {
            return false;
        }
    }
    if (month < 0) {
        return false;
    }
    if (year < 0) {
        year = parts_of(now_ms).tm_year + 1900;
        year -= moment_of(year, month, day > 0 ? day : 1) > now_ms;
    }
    if (day > 0) {
        *span = (struct time_span){moment_of(year, month, day), moment_of(year, month, day + 1)};
        return day_exists(year, month, day);
    }
    *span = unit_around(moment_of(year, month, 1), MONTH, 0);
    return true;
}

/* "last week" is the week before this one; "past week" the seven days up to now; "last 3 days" the
 * three up to now; "last monday" the day. */
static bool read_relative(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    static const struct {
        const char *word;
        int shift;
        bool rolling;
    } STARTS[] = {{"this", 0, false}, {"last", -1, false}, {"previous", -1, false},
                  {"past", -1, true}, {"next", 1, false},  {"current", 0, false}};
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++) {
        if (strcmp(word_at(stretch, 0), STARTS[i].word) != 0) {
            continue;
        }
        int count = stretch.count == 3 ? read_count(word_at(stretch, 1)) : 1;
        int unit = find_unit(word_at(stretch, stretch.count - 1));
        if (stretch.count < 2 || stretch.count > 3 || unit < 0 || count < 1) {
            return false;
        }
        bool rolling = STARTS[i].rolling || stretch.count == 3;
        if (rolling && STARTS[i].shift == 0) {
            return false;
        }
        int64_t other = moved(now_ms, (enum unit)unit, STARTS[i].shift * count);
        *span = !rolling              ? unit_around(now_ms, (enum unit)unit, STARTS[i].shift)
                : STARTS[i].shift < 0 ? (struct time_span){other, now_ms + 1}
                                      : (struct time_span){now_ms, other};
        return true;
    }
    return false;
}

/* "monday", "last monday": the one before today. */
static bool read_weekday(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    size_t skipped = strcmp(word_at(stretch, 0), "last") == 0;
    int day =
        stretch.count == 1 + skipped ? find_name(word_at(stretch, skipped), weekday_names) : -1;
    if (day < 0) {
        return false;
    }
    int back = (parts_of(now_ms).tm_wday - day + 6) % 7 + 1;
    *span = unit_around(now_ms, DAY, -back);
    return true;
}

/* "3 days ago": the day that was; "in 3 days": the moment that will be. */
static bool read_distance(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    bool ahead = stretch.count == 3 && strcmp(word_at(stretch, 0), "in") == 0;
    bool ago = stretch.count == 3 && strcmp(word_at(stretch, 2), "ago") == 0;
    int count = read_count(word_at(stretch, ahead));
    int unit = find_unit(word_at(stretch, 1u + ahead));
    if ((!ahead && !ago) || count < 0 || unit < 0) {
        return false;
    }
    if (ahead) {
        *span = (struct time_span){moved(now_ms, (enum unit)unit, count), 0};
        span->until_ms = span->from_ms + 1;
    } else {
        *span = unit_around(moved(now_ms, (enum unit)unit, -count), (enum unit)unit, 0);
    }
    return true;
}

static bool read_single(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    static const struct {
        const char *word;
        int shift;
    } DAYS[] = {{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}};
    if (stretch.count == 2 && read_iso(word_at(stretch, 0), span)) {
        /* A date and a time of day with a space between them. */
        const char *at = word_at(stretch, 1);
        return take_clock(&at, span) && *at == '\0';
    }
    for (size_t i = 0; stretch.count == 1 && i < sizeof DAYS / sizeof *DAYS; i++) {
        if (strcmp(word_at(stretch, 0), DAYS[i].word) == 0) {
            *span = unit_around(now_ms, DAY, DAYS[i].shift);
            return true;
        }
    }
    if (stretch.count == 1 && strcmp(word_at(stretch, 0), "now") == 0) {
        *span = (struct time_span){now_ms, now_ms + 1};
        return true;
    }
    return stretch.count == 1 && read_iso(word_at(stretch, 0), span);
}

/* One point in time, with its width. */
static bool read_point(struct stretch stretch, int64_t now_ms, struct time_span *span)
{
    static bool (*const READERS[])(struct stretch, int64_t, struct time_span *) = {
        read_single, read_relative, read_weekday, read_distance, read_month};
    size_t skipped = stretch.count > 0 && (strcmp(word_at(stretch, 0), "in") == 0 ||
                                           strcmp(word_at(stretch, 0), "last") == 0);
    struct stretch rest = {stretch.words, stretch.from + skipped, stretch.count - skipped};
    for (size_t i = 0; stretch.count > 0 && i < sizeof READERS / sizeof *READERS; i++) {
        if (READERS[i](stretch, now_ms, span)) {
            return true;
        }
    }
    /* "in march", "last march", "in 2025" */
    return skipped && rest.count > 0 &&
           (read_month(rest, now_ms, span) || read_single(rest, now_ms, span));
}

/* "between A and B", "from A to B", "A to B". */
static bool read_range(const struct words *words, int64_t now_ms, struct time_span *span)
{
    size_t start = is(words, 0, "between") || is(words, 0, "from");
    for (size_t i = start + 1; i + 1 < words->count; i++) {
        if (!is(words, i, "and") && !is(words, i, "to") && !is(words, i, "until") &&
            !is(words, i, "-")) {
            continue;
        }
        struct time_span first;
        struct time_span second;
        if (read_point((struct stretch){words, start, i - start}, now_ms, &first) &&
            read_point((struct stretch){words, i + 1, words->count - i - 1}, now_ms, &second)) {
            *span = (struct time_span){first.from_ms, second.until_ms};
            return span->from_ms < span->until_ms;
        }
    }
    return false;
}

static bool read_open(const struct words *words, int64_t now_ms, struct time_span *span)
{
    static const struct {
        const char *word;
        bool begins;  /* the span begins there; otherwise it ends there */
        bool outside; /* the named time is not part of it */
    } EDGES[] = {{"since", true, false},  {"from", true, false},  {"after", true, true},
                 {"until", false, false}, {"till", false, false}, {"before", false, true}};
    for (size_t i = 0; i < sizeof EDGES / sizeof *EDGES; i++) {
        struct time_span point;
        if (is(words, 0, EDGES[i].word) &&
            read_point((struct stretch){words, 1, words->count - 1}, now_ms, &point)) {
            bool at_start = EDGES[i].begins != EDGES[i].outside;
            int64_t edge = at_start ? point.from_ms : point.until_ms;
            *span = EDGES[i].begins ? (struct time_span){edge, 0} : (struct time_span){0, edge};
            return true;
        }
    }
    return false;
}

int time_words_read(const char *text, int64_t now_ms, struct time_span *span)
{
    struct words words;
    return split(text, &words) &&
                   (read_point((struct stretch){&words, 0, words.count}, now_ms, span) ||
                    read_range(&words, now_ms, span) || read_open(&words, now_ms, span))
               ? OK
               : ERR_INVALID;
}

int time_words_moment(const char *text, int64_t now_ms, int64_t *moment_ms)
{
    struct words words;
    struct time_span span;
    if (!split(text, &words) ||
        !read_point((struct stretch){&words, 0, words.count}, now_ms, &span)) {
        return ERR_INVALID;
    }
    *moment_ms = span.from_ms;
    return OK;
}

char *time_words_iso(int64_t moment_ms, char out[TIME_WORDS_ISO_SIZE])
{
    struct tm parts = parts_of(moment_ms);
    int milliseconds = (int)((moment_ms % 1000 + 1000) % 1000);
    size_t length = strftime(out, TIME_WORDS_ISO_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    if (milliseconds) {
        snprintf(out + length, TIME_WORDS_ISO_SIZE - length, ".%03dZ", milliseconds);
    } else {
        snprintf(out + length, TIME_WORDS_ISO_SIZE - length, "Z");
    }
    return out;
}
