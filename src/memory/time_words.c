/* A text is an ISO date, or a phrase of a language; what it says is a span: a day, a week,
 * everything since a month. */
#include "memory/time_words.h"

#include "core/status.h"
#include "memory/time_phrases.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* ---- the calendar ---- */

/* 0: its length is a matter of the calendar. */
static const int64_t FIXED_MS[] = {
    [SECOND] = 1000,     [MINUTE] = 60000, [HOUR] = 3600000, [DAY] = DAY_MS,
    [WEEK] = 7 * DAY_MS, [MONTH] = 0,      [QUARTER] = 0,    [YEAR] = 0,
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
static struct time_span unit_around(int64_t moment_ms, enum time_unit unit, int shift)
{
    struct tm parts = parts_of(moment_ms);
    int year = parts.tm_year + 1900;
    switch (unit) {
    case YEAR:
        return (struct time_span){moment_of(year + shift, 0, 1), moment_of(year + shift + 1, 0, 1)};
    case QUARTER: {
        int month = parts.tm_mon - parts.tm_mon % 3 + 3 * shift;
        return (struct time_span){moment_of(year, month, 1), moment_of(year, month + 3, 1)};
    }
    case MONTH:
        return (struct time_span){moment_of(year, parts.tm_mon + shift, 1),
                                  moment_of(year, parts.tm_mon + shift + 1, 1)};
    case WEEK: {
        int monday = parts.tm_mday - (parts.tm_wday + 6) % 7 + 7 * shift;
        return (struct time_span){moment_of(year, parts.tm_mon, monday),
                                  moment_of(year, parts.tm_mon, monday + 7)};
    }
    default: {
        int64_t length = FIXED_MS[unit];
        int64_t begin = moment_ms - (moment_ms % length + length) % length + shift * length;
        return (struct time_span){begin, begin + length};
    }
    }
}

/* So many units before or after a moment. */
static int64_t moved(int64_t moment_ms, enum time_unit unit, int count)
{
    if (FIXED_MS[unit]) {
        return moment_ms + count * FIXED_MS[unit];
    }
    struct tm parts = parts_of(moment_ms);
    parts.tm_mon += unit == MONTH ? count : unit == QUARTER ? 3 * count : 0;
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

/* A moment, or a date and a time of day with a blank between them. */
static bool read_numbers(const char *text, struct time_span *span)
{
    char date[TIME_PHRASE_BYTES];
    size_t length = strcspn(text, " ");
    if (text[length] == '\0') {
        return read_iso(text, span);
    }
    const char *clock = text + length + 1;
    memcpy(date, text, length);
    date[length] = '\0';
    return read_iso(date, span) && take_clock(&clock, span) && *clock == '\0';
}

/* ---- what phrases mean ---- */

/* A text that is read, in one language. */
struct time_reading {
    size_t language;
    const struct time_text *text;
    int64_t now_ms;
    struct time_span *span;
};

struct phrase_meaning {
    bool (*find)(const struct phrase_meaning *meaning, const struct time_reading *reading,
                 const struct time_said *said);
    int shift;           /* so many units, weeks or days from now */
    enum time_unit unit; /* where the phrase names none */
};

static bool find_now(const struct phrase_meaning *meaning, const struct time_reading *reading,
                     const struct time_said *said)
{
    (void)meaning, (void)said;
    *reading->span = (struct time_span){reading->now_ms, reading->now_ms + 1};
    return true;
}

/* "last week": the one before this one. */
static bool find_unit(const struct phrase_meaning *meaning, const struct time_reading *reading,
                      const struct time_said *said)
{
    enum time_unit unit = said->unit < 0 ? meaning->unit : (enum time_unit)said->unit;
    *reading->span = unit_around(reading->now_ms, unit, meaning->shift);
    return true;
}

static int count_of(const struct time_said *said)
{
    return said->count < 0 ? 1 : said->count;
}

/* "past week", "last 3 days": up to now; "next 3 days": from now on. */
static bool find_rolling(const struct phrase_meaning *meaning, const struct time_reading *reading,
                         const struct time_said *said)
{
    int count = meaning->shift * count_of(said);
    int64_t other = moved(reading->now_ms, (enum time_unit)said->unit, count);
    *reading->span = count < 0 ? (struct time_span){other, reading->now_ms + 1}
                               : (struct time_span){reading->now_ms, other};
    return count != 0;
}

/* "3 days ago": the day that was; "in 3 days": the moment that will be. Four digits are a year and
 * not a number of years: in Chinese and Japanese "before 2025" is written as "3 years ago" is. */
static bool find_distance(const struct phrase_meaning *meaning, const struct time_reading *reading,
                          const struct time_said *said)
{
    enum time_unit unit = (enum time_unit)said->unit;
    int64_t moment = moved(reading->now_ms, unit, meaning->shift * count_of(said));
    *reading->span =
        meaning->shift < 0 ? unit_around(moment, unit, 0) : (struct time_span){moment, moment + 1};
    return unit != YEAR || said->count < 1000;
}

/* "monday", "last monday": the one before today; "next monday": the one after today. */
static bool find_weekday(const struct phrase_meaning *meaning, const struct time_reading *reading,
                         const struct time_said *said)
{
    int today = parts_of(reading->now_ms).tm_wday;
    int back = (today - said->weekday + 6) % 7 + 1;
    int ahead = (said->weekday - today + 6) % 7 + 1;
    *reading->span = unit_around(reading->now_ms, DAY, meaning->shift < 0 ? -back : ahead);
    return true;
}

/* "monday of last week" */
static bool find_day_of_week(const struct phrase_meaning *meaning,
                             const struct time_reading *reading, const struct time_said *said)
{
    int64_t monday = unit_around(reading->now_ms, WEEK, meaning->shift).from_ms;
    *reading->span = unit_around(monday, DAY, (said->weekday + 6) % 7);
    return true;
}

/* The year that a phrase names; of one that names none, the last year in which that month and day
 * have begun. */
static int year_of(const struct time_reading *reading, const struct time_said *said, int month,
                   int day)
{
    int year = parts_of(reading->now_ms).tm_year + 1900;
    if (said->year < 0) {
        return year - (moment_of(year, month, day) > reading->now_ms);
    }
    return said->year < 1000 ? year + said->year - 3 : said->year;
}

/* "march", "march 2025", "5 march 2025" */
static bool find_date(const struct phrase_meaning *meaning, const struct time_reading *reading,
                      const struct time_said *said)
{
    (void)meaning;
    int day = said->day > 0 ? said->day : 1;
    int year = year_of(reading, said, said->month, day);
    *reading->span = unit_around(moment_of(year, said->month, day), said->day > 0 ? DAY : MONTH, 0);
    return day_exists(year, said->month, day);
}

static bool find_quarter(const struct phrase_meaning *meaning, const struct time_reading *reading,
                         const struct time_said *said)
{
    (void)meaning;
    int month = 3 * (said->quarter - 1);
    int year = year_of(reading, said, month, 1);
    *reading->span = unit_around(moment_of(year, month, 1), QUARTER, 0);
    return true;
}

static bool find_year(const struct phrase_meaning *meaning, const struct time_reading *reading,
                      const struct time_said *said)
{
    (void)meaning;
    *reading->span = unit_around(moment_of(year_of(reading, said, 0, 1), 0, 1), YEAR, 0);
    return true;
}

static bool read_nested(const struct time_reading *reading, const struct time_said *said,
                        size_t number, struct time_span *span);

/* "since march", "before last week" */
static bool find_edge(const struct phrase_meaning *meaning, const struct time_reading *reading,
                      const struct time_said *said)
{
    struct time_span point;
    if (!read_nested(reading, said, 0, &point)) {
        return false;
    }
    bool begins = meaning->shift > 0;
    bool outside = meaning->shift % 2 == 0;
    int64_t edge = begins != outside ? point.from_ms : point.until_ms;
    *reading->span = begins ? (struct time_span){edge, 0} : (struct time_span){0, edge};
    return true;
}

/* "between march and may" */
static bool find_between(const struct phrase_meaning *meaning, const struct time_reading *reading,
                         const struct time_said *said)
{
    (void)meaning;
    struct time_span first;
    struct time_span second;
    if (!read_nested(reading, said, 0, &first) || !read_nested(reading, said, 1, &second)) {
        return false;
    }
    *reading->span = (struct time_span){first.from_ms, second.until_ms};
    return first.from_ms < second.until_ms;
}

/* Of an edge: 1 when the span begins there, -1 when it ends there; doubled when the named time is
 * not part of it. */
static const struct phrase_meaning MEANINGS[SAYS_COUNT] = {
    [SAYS_NOW] = {find_now, 0, SECOND},
    [SAYS_TODAY] = {find_unit, 0, DAY},
    [SAYS_YESTERDAY] = {find_unit, -1, DAY},
    [SAYS_DAY_BEFORE_YESTERDAY] = {find_unit, -2, DAY},
    [SAYS_TOMORROW] = {find_unit, 1, DAY},
    [SAYS_DAY_AFTER_TOMORROW] = {find_unit, 2, DAY},
    [SAYS_THIS] = {find_unit, 0, DAY},
    [SAYS_LAST] = {find_unit, -1, DAY},
    [SAYS_BEFORE_LAST] = {find_unit, -2, DAY},
    [SAYS_NEXT] = {find_unit, 1, DAY},
    [SAYS_PAST] = {find_rolling, -1, DAY},
    [SAYS_COMING] = {find_rolling, 1, DAY},
    [SAYS_AGO] = {find_distance, -1, DAY},
    [SAYS_AHEAD] = {find_distance, 1, DAY},
    [SAYS_WEEKDAY] = {find_weekday, -1, DAY},
    [SAYS_NEXT_WEEKDAY] = {find_weekday, 1, DAY},
    [SAYS_DAY_OF_THIS_WEEK] = {find_day_of_week, 0, DAY},
    [SAYS_DAY_OF_LAST_WEEK] = {find_day_of_week, -1, DAY},
    [SAYS_DAY_OF_NEXT_WEEK] = {find_day_of_week, 1, DAY},
    [SAYS_DATE] = {find_date, 0, DAY},
    [SAYS_QUARTER] = {find_quarter, 0, QUARTER},
    [SAYS_YEAR] = {find_year, 0, YEAR},
    [SAYS_SINCE] = {find_edge, 1, DAY},
    [SAYS_AFTER] = {find_edge, 2, DAY},
    [SAYS_UNTIL] = {find_edge, -1, DAY},
    [SAYS_BEFORE] = {find_edge, -2, DAY},
    [SAYS_BETWEEN] = {find_between, 0, DAY},
};

static bool take(void *context, enum time_says says, const struct time_said *said)
{
    return MEANINGS[says].find(&MEANINGS[says], context, said);
}

/* One time of a phrase that holds others: in the phrase's language, or in numbers. */
static bool read_nested(const struct time_reading *reading, const struct time_said *said,
                        size_t number, struct time_span *span)
{
    struct time_text part = {.length = said->times[number].length};
    memcpy(part.data, reading->text->data + said->times[number].at, part.length);
    struct time_reading inner = {reading->language, &part, reading->now_ms, span};
    return read_numbers(part.data, span) ||
           time_phrases_find(reading->language, &part, true, SAYS_NOW, SAYS_YEAR, take, &inner);
}

/* The first language in which the text is one of these phrases. */
static bool read_phrase(const struct time_text *text, int64_t now_ms, enum time_says first,
                        enum time_says last, struct time_span *span)
{
    for (size_t i = 0; i < time_phrases_languages(); i++) {
        struct time_text plain;
        struct time_reading reading = {i, &plain, now_ms, span};
        if (time_phrases_strip(i, text, &plain) &&
            time_phrases_find(i, &plain, false, first, last, take, &reading)) {
            return true;
        }
    }
    return false;
}

/* A point in time, with its width. */
static bool read_point(const struct time_text *text, int64_t now_ms, struct time_span *span)
{
    return read_numbers(text->data, span) || read_phrase(text, now_ms, SAYS_NOW, SAYS_YEAR, span);
}

int time_words_read(const char *text, int64_t now_ms, struct time_span *span)
{
    struct time_text folded;
    return time_phrases_fold(text, &folded) &&
                   (read_point(&folded, now_ms, span) ||
                    read_phrase(&folded, now_ms, SAYS_SINCE, SAYS_BETWEEN, span))
               ? OK
               : ERR_INVALID;
}

int time_words_moment(const char *text, int64_t now_ms, int64_t *moment_ms)
{
    struct time_text folded;
    struct time_span span;
    if (!time_phrases_fold(text, &folded) || !read_point(&folded, now_ms, &span)) {
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
