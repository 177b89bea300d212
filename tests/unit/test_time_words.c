/* Times as people write them. Now is Sunday, 15 November 2026, 14:30 UTC. */
#include "core/status.h"
#include "memory/time_words.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define NOW INT64_C(1794753000000) /* 2026-11-15T14:30:00Z */

static const char *shown(int64_t moment, char out[TIME_WORDS_ISO_SIZE])
{
    return moment == 0 ? "" : time_words_iso(moment, out);
}

/* A text, and the span that it means; an empty end is open, NULL: it means nothing. */
static const struct {
    const char *text;
    const char *from;
    const char *until;
} SPANS[] = {
    {"2026-03-05", "2026-03-05T00:00:00Z", "2026-03-06T00:00:00Z"},
    {"2026-03", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
    {"2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
    {"2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
    {"2026-03-05T14:00:00Z", "2026-03-05T14:00:00Z", "2026-03-05T14:00:01Z"},
    {"2026-03-05T14:00", "2026-03-05T14:00:00Z", "2026-03-05T14:01:00Z"},
    {"2026-03-05 14:00", "2026-03-05T14:00:00Z", "2026-03-05T14:01:00Z"},
    {"2026-03-05T14:00:00+02:00", "2026-03-05T12:00:00Z", "2026-03-05T12:00:01Z"},
    {"2026-03-05T14:00:00-0530", "2026-03-05T19:30:00Z", "2026-03-05T19:30:01Z"},
    {"2026-03-05T14:00:00.250Z", "2026-03-05T14:00:00.250Z", "2026-03-05T14:00:00.251Z"},
    {"1969-07-20", "1969-07-20T00:00:00Z", "1969-07-21T00:00:00Z"},
    {"today", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"},
    {"Yesterday", "2026-11-14T00:00:00Z", "2026-11-15T00:00:00Z"},
    {"this week", "2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"},
    {"last week", "2026-11-02T00:00:00Z", "2026-11-09T00:00:00Z"},
    {"past week", "2026-11-08T14:30:00Z", "2026-11-15T14:30:00.001Z"},
    {"last month", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"},
    {"last year", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
    {"last 3 days", "2026-11-12T14:30:00Z", "2026-11-15T14:30:00.001Z"},
    {"the past two months", "2026-09-15T14:30:00Z", "2026-11-15T14:30:00.001Z"},
    {"3 days ago", "2026-11-12T00:00:00Z", "2026-11-13T00:00:00Z"},
    {"an hour ago", "2026-11-15T13:00:00Z", "2026-11-15T14:00:00Z"},
    {"two weeks ago", "2026-10-26T00:00:00Z", "2026-11-02T00:00:00Z"},
    {"monday", "2026-11-09T00:00:00Z", "2026-11-10T00:00:00Z"},
    {"on last Friday", "2026-11-13T00:00:00Z", "2026-11-14T00:00:00Z"},
    {"sunday", "2026-11-08T00:00:00Z", "2026-11-09T00:00:00Z"},
    {"March", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
    {"in december", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"},
    {"march 2025", "2025-03-01T00:00:00Z", "2025-04-01T00:00:00Z"},
    {"Mar 5th, 2025", "2025-03-05T00:00:00Z", "2025-03-06T00:00:00Z"},
    {"5 March 2025", "2025-03-05T00:00:00Z", "2025-03-06T00:00:00Z"},
    {"since March", "2026-03-01T00:00:00Z", ""},
    {"after 2026-03-05", "2026-03-06T00:00:00Z", ""},
    {"before last week", "", "2026-11-02T00:00:00Z"},
    {"until 2026-03", "", "2026-04-01T00:00:00Z"},
    {"between 2026-01-05 and 2026-02", "2026-01-05T00:00:00Z", "2026-03-01T00:00:00Z"},
    {"from march to may", "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"},
    {"2026-01-05 to yesterday", "2026-01-05T00:00:00Z", "2026-11-15T00:00:00Z"},
    {"", NULL, NULL},
    {"  ", NULL, NULL},
    {"soon", NULL, NULL},
    {"last", NULL, NULL},
    {"last blue moon", NULL, NULL},
    {"2026-13-01", NULL, NULL},
    {"2026-02-30", NULL, NULL},
    {"2026-02-3", NULL, NULL},
    {"2026-03-05T25:00", NULL, NULL},
    {"2026-03-05T14:00:00+25:00", NULL, NULL},
    {"26-03-05", NULL, NULL},
    {"99999999 days ago", NULL, NULL},
    {"february 30 2025", NULL, NULL},
    {"between may and march", NULL, NULL},
    {"one two three four five six seven eight nine ten eleven twelve thirteen", NULL, NULL},
    {"a word that is much longer than any word of a date: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     NULL, NULL},
};

static void reads_spans(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(SPANS); i++) {
        struct time_span span = {0};
        char line[256], wanted[256], from[TIME_WORDS_ISO_SIZE], until[TIME_WORDS_ISO_SIZE];
        int status = time_words_read(SPANS[i].text, NOW, &span);
        snprintf(line, sizeof line, "%s: %s %s", SPANS[i].text,
                 status == OK ? shown(span.from_ms, from) : "nothing",
                 status == OK ? shown(span.until_ms, until) : "");
        snprintf(wanted, sizeof wanted, "%s: %s %s", SPANS[i].text,
                 SPANS[i].from ? SPANS[i].from : "nothing", SPANS[i].from ? SPANS[i].until : "");
        assert_string_equal(line, wanted);
    }
}

static void reads_moments(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *moment; /* NULL: none */
    } MOMENTS[] = {
        {"in 3 days", "2026-11-18T14:30:00Z"},
        {"in two hours", "2026-11-15T16:30:00Z"},
        {"in 1 month", "2026-12-15T14:30:00Z"},
        {"tomorrow", "2026-11-16T00:00:00Z"},
        {"2027-01-01", "2027-01-01T00:00:00Z"},
        {"now", "2026-11-15T14:30:00Z"},
        {"since march", NULL},
        {"never", NULL},
    };
    for (size_t i = 0; i < COUNT(MOMENTS); i++) {
        int64_t moment = 0;
        char text[TIME_WORDS_ISO_SIZE];
        int status = time_words_moment(MOMENTS[i].text, NOW, &moment);
        assert_int_equal(status, MOMENTS[i].moment ? OK : ERR_INVALID);
        if (MOMENTS[i].moment) {
            assert_string_equal(shown(moment, text), MOMENTS[i].moment);
        }
    }
}

UNIT_TEST(time_words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_spans),
        cmocka_unit_test(reads_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
