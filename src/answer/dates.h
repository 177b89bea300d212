/* When a source was published, as far as can be told without reading it: the prompt asks the model
 * to write "(published 2026-11-14)" behind each source, and many addresses carry their date.
 *
 * Pure. */
#ifndef FORAGE_ANSWER_DATES_H
#define FORAGE_ANSWER_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
