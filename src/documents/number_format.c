/* A format has up to three sections, for numbers above, below and at zero; each is made of digits,
 * or of parts of a date, and of words. */
#include "documents/number_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NUMBER   400 /* the largest number with all its digits */
#define MOST_DECIMALS    15
#define LAST_DAY         2958465.0 /* the end of the year 9999 */
#define DAYS_TO_1904     1462.0
#define DAYS_TO_1970     25569
#define SECONDS_OF_A_DAY 86400

const char *number_format_known(long id)
{
    static const struct {
        long id;
        const char *format;
    } KNOWN[] = {
        {1, "0"},
        {2, "0.00"},
        {3, "#,##0"},
        {4, "#,##0.00"},
        {9, "0%"},
        {10, "0.00%"},
        {11, "0.00E+00"},
        {14, "yyyy-mm-dd"},
        {15, "d-mmm-yy"},
        {16, "d-mmm"},
        {17, "mmm-yy"},
        {18, "h:mm AM/PM"},
        {19, "h:mm:ss AM/PM"},
        {20, "h:mm"},
        {21, "h:mm:ss"},
        {22, "yyyy-mm-dd h:mm"},
        {37, "#,##0;-#,##0"},
        {38, "#,##0;-#,##0"},
        {39, "#,##0.00;-#,##0.00"},
        {40, "#,##0.00;-#,##0.00"},
        {45, "mm:ss"},
        {46, "[h]:mm:ss"},
        {47, "mm:ss.0"},
        {48, "##0.0E+0"},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (KNOWN[i].id == id) {
            return KNOWN[i].format;
        }
    }
    return "General";
}

/* ---- sections ---- */

/* What follows a character that is no part of a format: "words", \x, _x, *x, [x]. */
static size_t quoted_length(const char *at, const char *end)
{
    const char *close;
    switch (*at) {
    case '"':
        close = memchr(at + 1, '"', (size_t)(end - at - 1));
        return close ? (size_t)(close - at) + 1 : (size_t)(end - at);
    case '[':
        close = memchr(at + 1, ']', (size_t)(end - at - 1));
        return close ? (size_t)(close - at) + 1 : (size_t)(end - at);
    case '\\':
    case '_':
    case '*':
        return end - at > 1 ? 2 : 1;
    default:
        return 0;
    }
}

/* The section of that number; false when there are fewer. */
static bool find_section(const char *format, int number, const char **begin, const char **end)
{
    const char *stop = format + strlen(format);
    *begin = format;
    for (const char *at = format;;) {
        if (at == stop || *at == ';') {
            if (number-- == 0) {
                *end = at;
                return true;
            }
            if (at == stop) {
                return false;
            }
            *begin = ++at;
            continue;
        }
        size_t length = quoted_length(at, stop);
        at += length ? length : 1;
    }
}

/* Writes what stands for itself, at a quoting character. */
static void put_quoted(struct buf *out, const char *at, size_t length)
{
    if (*at == '"' && length >= 2) {
        buf_append(out, at + 1, length - 2);
    } else if (*at == '\\' && length == 2) {
        buf_putc(out, at[1]);
    } else if (*at == '[' && length > 2 && at[1] == '$') {
        size_t symbol = 0; /* [$EUR-407] */
        while (symbol < length - 3 && at[2 + symbol] != '-') {
            symbol++;
        }
        buf_append(out, at + 2, symbol);
    } else if (*at == '_') {
        buf_putc(out, ' ');
    }
}

static void put_general(struct buf *out, double value)
{
    char text[LONGEST_NUMBER];
    bool whole = fabs(value) < 1e15 && floor(value) == value;
    (void)snprintf(text, sizeof text, whole ? "%.0f" : "%.15g", value);
    buf_puts(out, strcmp(text, "-0") == 0 ? "0" : text);
}

/* ---- numbers ---- */

struct number_shape {
    size_t whole, most_whole; /* digits before the point: zeros, and all places */
    size_t decimals, least_decimals;
    size_t percents, thousands; /* that it is multiplied or divided by */
    size_t exponent;            /* digits of it; 0: there is none */
    bool grouped, digits;
};

static struct number_shape shape_of(const char *at, const char *end)
{
    struct number_shape shape = {0};
    bool point = false;
    size_t commas = 0;
    while (at < end) {
        size_t length = quoted_length(at, end);
        if (length) {
            at += length;
            continue;
        }
        bool place = *at == '0' || *at == '#' || *at == '?';
        if (shape.exponent && place) {
            shape.exponent++;
        } else if (place && point) {
            shape.decimals++;
            shape.least_decimals = *at == '0' ? shape.decimals : shape.least_decimals;
        } else if (place) {
            shape.grouped = shape.grouped || commas > 0;
            commas = 0;
            shape.whole += *at == '0';
            shape.most_whole++;
        }
        shape.digits = shape.digits || place;
        commas += *at == ',' && shape.digits;
        point = point || *at == '.';
        shape.percents += *at == '%';
        if ((*at == 'E' || *at == 'e') && shape.digits && end - at > 1) {
            shape.exponent = 1;
            at++; /* its sign */
        }
        at++;
    }
    shape.thousands = commas;
    shape.decimals = shape.decimals < MOST_DECIMALS ? shape.decimals : MOST_DECIMALS;
    return shape;
}

/* The digits alone: zeros in front, commas between, no more zeros behind than wanted. */
static void put_digits(struct buf *out, const struct number_shape *shape, double value)
{
    char text[LONGEST_NUMBER];
    if (shape->exponent) {
        (void)snprintf(text, sizeof text, "%.*E", (int)shape->decimals, value);
        buf_puts(out, text);
        return;
    }
    (void)snprintf(text, sizeof text, "%.*f", (int)shape->decimals, value);
    char *point = strchr(text, '.');
    size_t whole = point ? (size_t)(point - text) : strlen(text);
    size_t fraction = point ? strlen(point + 1) : 0;
    while (fraction > shape->least_decimals && point[fraction] == '0') {
        fraction--;
    }
    bool none = shape->whole == 0 && whole == 1 && text[0] == '0' && fraction > 0;
    for (size_t i = whole; i < shape->whole && i < LONGEST_NUMBER; i++) {
        buf_putc(out, '0');
    }
    for (size_t i = 0; i < whole && !none; i++) {
        buf_putc(out, text[i]);
        size_t left = whole - i - 1;
        buf_puts(out, shape->grouped && left && left % 3 == 0 ? "," : "");
    }
    if (fraction) {
        buf_putc(out, '.');
        buf_append(out, point + 1, fraction);
    }
}

static void put_number(struct buf *out, const char *at, const char *end, double value)
{
    struct number_shape shape = shape_of(at, end);
    bool written = false;
    value *= pow(100, (double)(shape.percents < 4 ? shape.percents : 4));
    value /= pow(1000, (double)(shape.thousands < 8 ? shape.thousands : 8));
    while (at < end) {
        size_t length = quoted_length(at, end);
        if (length) {
            put_quoted(out, at, length);
            at += length;
            continue;
        }
        bool part = strchr("0#?.,", *at) || (shape.exponent && strchr("Ee+-", *at));
        if (part && shape.digits && !written) {
            put_digits(out, &shape, value);
            written = true;
        } else if (!part) {
            buf_putc(out, *at);
        }
        at++;
    }
}

/* ---- dates ---- */

struct moment {
    long year, month, day, weekday; /* the month from 1, Sunday is 0 */
    long hour, minute, second;
    double fraction;
    double days; /* all of it */
};

/* Days since 1970 to a date of the Gregorian calendar, by eras of 400 years. */
static void set_date(struct moment *moment, long days)
{
    long shifted = days + 719468;
    long era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    long of_era = shifted - era * 146097;
    long year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    long of_year = of_era - (365 * year + year / 4 - year / 100);
    long month = (5 * of_year + 2) / 153;
    moment->day = of_year - (153 * month + 2) / 5 + 1;
    moment->month = month < 10 ? month + 3 : month - 9;
    moment->year = year + era * 400 + (moment->month <= 2);
    moment->weekday = ((days + 4) % 7 + 7) % 7;
}

static struct moment moment_of(double value, bool from_1904)
{
    struct moment moment = {.days = value};
    value += from_1904 ? DAYS_TO_1904 : 0;
    double seconds = floor(value * SECONDS_OF_A_DAY * 1000 + 0.5) / 1000;
    long days = (long)(seconds / SECONDS_OF_A_DAY);
    double rest = seconds - (double)days * SECONDS_OF_A_DAY;
    /* Spreadsheets believe that 1900 was a leap year. */
    set_date(&moment, days - DAYS_TO_1970 + (days < 60 && !from_1904));
    moment.hour = (long)rest / 3600;
    moment.minute = (long)rest / 60 % 60;
    moment.second = (long)rest % 60;
    moment.fraction = rest - floor(rest);
    return moment;
}

/* Whether a section shows a date or a time rather than digits. */
static bool is_date(const char *at, const char *end)
{
    while (at < end) {
        if (*at == '[' && end - at > 2 && strchr("hHmMsS", at[1]) &&
            (at[2] == ']' || at[2] == at[1])) {
            return true;
        }
        size_t length = quoted_length(at, end);
        if (!length && strchr("yYdDhHsS", *at)) {
            return true;
        }
        if (!length && (*at == 'm' || *at == 'M')) {
            return true;
        }
        if (!length && strchr("0#?", *at)) {
            return false;
        }
        at += length ? length : 1;
    }
    return false;
}

/* "m" is a minute behind hours and before seconds, else a month. */
static bool is_minute(const char *begin, const char *at, const char *end)
{
    for (const char *before = at; before-- > begin;) {
        if (strchr("hHsSyYdD]", *before)) {
            if (strchr("hHsS]", *before)) {
                return true;
            }
            break;
        }
    }
    while (at < end && (*at == 'm' || *at == 'M' || !strchr("hHsSyYdD", *at))) {
        at++;
    }
    return at < end && (*at == 's' || *at == 'S');
}

static void put_month(struct buf *out, long month, size_t letters)
{
    static const char *const NAMES[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    const char *name = NAMES[(month - 1) % 12];
    if (letters <= 2) {
        buf_printf(out, letters == 2 ? "%02ld" : "%ld", month);
    } else {
        buf_append(out, name, letters == 4 ? strlen(name) : letters == 5 ? 1 : 3);
    }
}

static void put_weekday(struct buf *out, const struct moment *moment, size_t letters)
{
    static const char *const NAMES[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
    const char *name = NAMES[moment->weekday % 7];
    if (letters <= 2) {
        buf_printf(out, letters == 2 ? "%02ld" : "%ld", moment->day);
    } else {
        buf_append(out, name, letters == 3 ? 3 : strlen(name));
    }
}

/* A run of one letter. */
static void put_part(struct buf *out, const struct moment *moment, char letter, size_t count,
                     bool minute, bool noon)
{
    long hour = !noon ? moment->hour : moment->hour % 12 ? moment->hour % 12 : 12;
    int width = count >= 2 ? 2 : 1;
    switch (letter | 0x20) {
    case 'y':
        buf_printf(out, "%0*ld", count <= 2 ? 2 : 4,
                   count <= 2 ? moment->year % 100 : moment->year);
        break;
    case 'm':
        if (minute) {
            buf_printf(out, "%0*ld", width, moment->minute);
        } else {
            put_month(out, moment->month, count);
        }
        break;
    case 'd':
        put_weekday(out, moment, count);
        break;
    case 'h':
        buf_printf(out, "%0*ld", width, hour);
        break;
    default:
        buf_printf(out, "%0*ld", width, moment->second);
    }
}

/* [h], [mm], [ss]: all hours, minutes or seconds of a duration. */
static void put_elapsed(struct buf *out, const struct moment *moment, char unit, size_t count)
{
    double of_a_day = (unit | 0x20) == 'h' ? 24 : (unit | 0x20) == 'm' ? 1440 : 86400;
    buf_printf(out, count >= 2 ? "%02.0f" : "%.0f", floor(moment->days * of_a_day + 1e-6));
}

static void put_date(struct buf *out, const char *begin, const char *end, double value,
                     bool from_1904)
{
    struct moment moment = moment_of(value, from_1904);
    bool noon = false;
    for (const char *at = begin; at + 3 <= end && !noon; at++) {
        noon =
            strncasecmp(at, "A/P", 3) == 0 || (at + 5 <= end && strncasecmp(at, "AM/PM", 5) == 0);
    }
    for (const char *at = begin; at < end;) {
        size_t quoted = quoted_length(at, end);
        size_t run = 1;
        while (at + run < end && at[run] == *at) {
            run++;
        }
        if (*at == '[' && quoted > 2 && strchr("hHmMsS", at[1])) {
            put_elapsed(out, &moment, at[1], quoted - 2);
        } else if (quoted) {
            put_quoted(out, at, quoted);
        }
        if (quoted) {
            at += quoted;
        } else if (at + 5 <= end && strncasecmp(at, "AM/PM", 5) == 0) {
            buf_puts(out, moment.hour < 12 ? "AM" : "PM");
            at += 5;
        } else if (at + 3 <= end && strncasecmp(at, "A/P", 3) == 0) {
            buf_puts(out, moment.hour < 12 ? "A" : "P");
            at += 3;
        } else if (strchr("yYmMdDhHsS", *at)) {
            put_part(out, &moment, *at, run, is_minute(begin, at, end), noon);
            at += run;
        } else if (*at == '.' && at + 1 < end && at[1] == '0') {
            buf_putc(out, *at++);
            for (double part = moment.fraction; at < end && *at == '0'; at++) {
                part = (part - floor(part)) * 10;
                buf_putc(out, (char)('0' + (int)part));
            }
        } else {
            buf_putc(out, *at++);
        }
    }
}

/* ---- all of it ---- */

void number_format_write(struct buf *out, const char *format, double value, bool from_1904)
{
    const char *begin = format;
    const char *end = format + strlen(format);
    bool below = value < 0 && find_section(format, 1, &begin, &end);
    bool zero = value == 0 && find_section(format, 2, &begin, &end);
    if (!below && !zero) {
        (void)find_section(format, 0, &begin, &end);
    }
    bool date = is_date(begin, end);
    bool text = memchr(begin, '@', (size_t)(end - begin)) || begin == end;
    bool fraction = !date && memchr(begin, '/', (size_t)(end - begin));
    if (!isfinite(value) || text || fraction || strncasecmp(begin, "General", 7) == 0 ||
        (date && (value < 0 || value > LAST_DAY))) {
        put_general(out, isfinite(value) ? value : 0);
    } else if (date) {
        put_date(out, begin, end, value, from_1904);
    } else {
        double shown = below ? -value : value;
        if (shown < 0) {
            buf_putc(out, '-');
            shown = -shown;
        }
        put_number(out, begin, end, shown);
    }
}
