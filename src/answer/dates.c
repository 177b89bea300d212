/* Reads the dates that texts and addresses carry. */
#include "answer/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY 86400

static bool is_day(int year, int month, int day)
{
    static const int LENGTHS[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return year >= 1990 && year <= 2200 && month >= 1 && month <= 12 && day >= 1 &&
           day <= LENGTHS[month - 1];
}

/* A number of exactly `digits` digits; -1 when it is none. */
static int number(const char *text, size_t length, size_t digits)
{
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (i >= length || !isdigit((unsigned char)text[i])) {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static bool set_day(struct date *date, int year, int month, int day)
{
    if (!is_day(year, month, day)) {
        return false;
    }
    snprintf(date->text, sizeof date->text, "%04d-%02d-%02d", year, month, day);
    struct tm midnight = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    date->latest = timegm(&midnight) + DAY - 1;
    return true;
}

/* "T09:30" with or without seconds, then Z or an offset; without one the day is all that is known.
 */
static void add_time(const char *text, size_t length, struct date *date)
{
    int hour =
        length > 5 && (text[0] == 'T' || text[0] == ' ') ? number(text + 1, length - 1, 2) : -1;
    int minute = hour >= 0 && text[3] == ':' ? number(text + 4, length - 4, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) {
        return;
    }
    size_t at = 6;
    int second = at < length && text[at] == ':' ? number(text + at + 1, length - at - 1, 2) : -1;
    at += second >= 0 ? 3 : 0;
    int sign = at < length && text[at] == '+' ? 1 : at < length && text[at] == '-' ? -1 : 0;
    int offset_hours = sign ? number(text + at + 1, length - at - 1, 2) : 0;
    size_t colon = at + 3 < length && text[at + 3] == ':' ? 1 : 0;
    int offset_minutes = sign && at + 3 + colon < length
                             ? number(text + at + 3 + colon, length - at - 3 - colon, 2)
                             : 0;
    bool zulu = at < length && text[at] == 'Z';
    if ((!sign && !zulu) || offset_hours < 0 || offset_hours > 14 || offset_minutes < 0) {
        return;
    }
    int64_t midnight = date->latest - (DAY - 1);
    date->latest = midnight + hour * 3600 + minute * 60 + (second >= 0 ? second : 59) -
                   sign * (offset_hours * 3600 + offset_minutes * 60);
    size_t written = strlen(date->text);
    size_t taken = zulu ? at + 1 : at + 5 + colon;
    if (taken <= length && written + taken < sizeof date->text) {
        memcpy(date->text + written, text, taken);
        date->text[written] = 'T';
        date->text[written + taken] = '\0';
    }
}

bool date_published(const char *text, size_t length, struct date *date)
{
    static const char WORD[] = "published";
    size_t at = 0;
    while (at < length && strchr(" \t()[],;*_", text[at])) {
        at++;
    }
    size_t word = sizeof WORD - 1;
    if (length - at < word || strncasecmp(text + at, WORD, word) != 0) {
        return false;
    }
    at += word;
    while (at < length && strchr(" \t:", text[at])) {
        at++;
    }
    const char *day = text + at;
    size_t left = length - at;
    if (left < 10 || day[4] != '-' || day[7] != '-' ||
        !set_day(date, number(day, 4, 4), number(day + 5, 2, 2), number(day + 8, 2, 2))) {
        return false;
    }
    add_time(day + 10, left - 10, date);
    return true;
}

bool date_in_url(const char *url, struct date *date)
{
    const char *at = strstr(url, "://");
    at = at ? strchr(at + 3, '/') : NULL;
    for (; at && *at && *at != '?' && *at != '#'; at++) {
        if (!strchr("/-_", *at)) {
            continue;
        }
        const char *year = at + 1;
        size_t left = strlen(year);
        if (number(year, left, 4) < 0) {
            continue;
        }
        char mark = year[4];
        bool apart = mark == '/' || mark == '-' || mark == '_';
        size_t step = apart ? 1 : 0;
        size_t size = 8 + 2 * step;
        if (left < size || (apart && year[7] != mark) || isdigit((unsigned char)year[size])) {
            continue;
        }
        const char *month = year + 4 + step;
        const char *day = month + 2 + step;
        if (set_day(date, number(year, 4, 4), number(month, 2, 2), number(day, 2, 2))) {
            return true;
        }
    }
    return false;
}

bool date_older(const struct date *date, int64_t now, int hours)
{
    return date->latest < now - (int64_t)hours * 3600;
}
