/* Times as people and models write them: ISO dates, and words of several languages such as
 * "yesterday", "last week", "3 days ago", "since March", "between 2026-01-05 and 2026-02", "letzte
 * Woche". Everything is in UTC; weeks begin on Monday. */
#ifndef FORAGE_MEMORY_TIME_WORDS_H
#define FORAGE_MEMORY_TIME_WORDS_H

#include <stdint.h>

#define TIME_WORDS_ISO_SIZE 32
/* What is understood, for messages. */
#define TIME_WORDS_ALLOWED                                                                         \
    "an ISO date or time (2026-03-05, 2026-03, 2026-03-05T14:00:00Z) or words (yesterday, last "   \
    "week, past 7 days, 3 days ago, Q3 2026, since March)"

/* Milliseconds since 1970. */
struct time_span {
    int64_t from_ms;  /* 0: open */
    int64_t until_ms; /* exclusive; 0: open */
};

/* OK or ERR_INVALID. */
int time_words_read(const char *text, int64_t now_ms, struct time_span *span);
/* The moment that a text names: where its span begins; also "in 3 days". OK or ERR_INVALID. */
int time_words_moment(const char *text, int64_t now_ms, int64_t *moment_ms);
/* "2026-11-15T10:10:30Z", with milliseconds where there are some; returns `out`. */
char *time_words_iso(int64_t moment_ms, char out[TIME_WORDS_ISO_SIZE]);

#endif
