/* Phrases of time in the languages of data/time-words.txt: which phrase a text is, and what stands
 * at the places that the phrase leaves open. What a phrase means is not known here. */
#ifndef FORAGE_MEMORY_TIME_PHRASES_H
#define FORAGE_MEMORY_TIME_PHRASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_PHRASE_BYTES 256 /* of a text; a longer one is no time */

enum time_unit { SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR };

/* What a phrase says; the classes of the tables time_phrases_*. Those from SAYS_SINCE on hold other
 * times. */
enum time_says {
    SAYS_NOW = 1,
    SAYS_TODAY,
    SAYS_YESTERDAY,
    SAYS_DAY_BEFORE_YESTERDAY,
    SAYS_TOMORROW,
    SAYS_DAY_AFTER_TOMORROW,
    SAYS_THIS,
    SAYS_LAST,
    SAYS_BEFORE_LAST,
    SAYS_NEXT,
    SAYS_PAST,
    SAYS_COMING,
    SAYS_AGO,
    SAYS_AHEAD,
    SAYS_WEEKDAY,
    SAYS_NEXT_WEEKDAY,
    SAYS_DAY_OF_THIS_WEEK,
    SAYS_DAY_OF_LAST_WEEK,
    SAYS_DAY_OF_NEXT_WEEK,
    SAYS_DATE,
    SAYS_QUARTER,
    SAYS_YEAR,
    SAYS_SINCE,
    SAYS_AFTER,
    SAYS_UNTIL,
    SAYS_BEFORE,
    SAYS_BETWEEN,
    SAYS_COUNT
};

/* What a word is; the classes of the tables time_names_*. Each kind has bits of its own, so that
 * one word may be of several: "second" is a unit and an ordinal, a dual is a unit and a number. */
#define TIME_UNITS    0x0000000Fu
#define TIME_ONE      0x00000010u /* of a unit: the form of one; */
#define TIME_MANY     0x00000020u /* of several; */
#define TIME_WHOLE    0x04000000u /* that no number stands before */
#define TIME_MONTHS   0x000003C0u
#define TIME_WEEKDAYS 0x00001C00u
#define TIME_ORDINALS 0x0000E000u
#define TIME_NUMBERS  0x001F0000u
#define TIME_YEARS    0x00E00000u /* "last year" and the like */

#define TIME_LOWEST(bits)     ((bits) & ~((bits)-1u))
#define TIME_NAME(bits, rank) ((uint32_t)(rank)*TIME_LOWEST(bits))

#define NAME_FILLER 0x01000000u /* left out wherever it stands */
#define NAME_UNCLEAR                                                                               \
    0x02000000u /* also a word for something else: no time when it stands alone                    \
                 */

#define NAME_SECOND        (TIME_NAME(TIME_UNITS, SECOND + 1) | TIME_ONE)
#define NAME_SECONDS       (TIME_NAME(TIME_UNITS, SECOND + 1) | TIME_MANY)
#define NAME_MINUTE        (TIME_NAME(TIME_UNITS, MINUTE + 1) | TIME_ONE)
#define NAME_MINUTES       (TIME_NAME(TIME_UNITS, MINUTE + 1) | TIME_MANY)
#define NAME_HOUR          (TIME_NAME(TIME_UNITS, HOUR + 1) | TIME_ONE)
#define NAME_HOURS         (TIME_NAME(TIME_UNITS, HOUR + 1) | TIME_MANY)
#define NAME_DAY           (TIME_NAME(TIME_UNITS, DAY + 1) | TIME_ONE)
#define NAME_DAYS          (TIME_NAME(TIME_UNITS, DAY + 1) | TIME_MANY)
#define NAME_WEEK          (TIME_NAME(TIME_UNITS, WEEK + 1) | TIME_ONE)
#define NAME_WEEKS         (TIME_NAME(TIME_UNITS, WEEK + 1) | TIME_MANY)
#define NAME_WHOLE_WEEK    (TIME_NAME(TIME_UNITS, WEEK + 1) | TIME_WHOLE)
#define NAME_WHOLE_MONTH   (TIME_NAME(TIME_UNITS, MONTH + 1) | TIME_WHOLE)
#define NAME_WHOLE_QUARTER (TIME_NAME(TIME_UNITS, QUARTER + 1) | TIME_WHOLE)
#define NAME_WHOLE_YEAR    (TIME_NAME(TIME_UNITS, YEAR + 1) | TIME_WHOLE)
#define NAME_MONTH         (TIME_NAME(TIME_UNITS, MONTH + 1) | TIME_ONE)
#define NAME_MONTHS        (TIME_NAME(TIME_UNITS, MONTH + 1) | TIME_MANY)
#define NAME_QUARTER       (TIME_NAME(TIME_UNITS, QUARTER + 1) | TIME_ONE)
#define NAME_QUARTERS      (TIME_NAME(TIME_UNITS, QUARTER + 1) | TIME_MANY)
#define NAME_YEAR          (TIME_NAME(TIME_UNITS, YEAR + 1) | TIME_ONE)
#define NAME_YEARS         (TIME_NAME(TIME_UNITS, YEAR + 1) | TIME_MANY)

#define NAME_JANUARY   TIME_NAME(TIME_MONTHS, 1)
#define NAME_FEBRUARY  TIME_NAME(TIME_MONTHS, 2)
#define NAME_MARCH     TIME_NAME(TIME_MONTHS, 3)
#define NAME_APRIL     TIME_NAME(TIME_MONTHS, 4)
#define NAME_MAY       TIME_NAME(TIME_MONTHS, 5)
#define NAME_JUNE      TIME_NAME(TIME_MONTHS, 6)
#define NAME_JULY      TIME_NAME(TIME_MONTHS, 7)
#define NAME_AUGUST    TIME_NAME(TIME_MONTHS, 8)
#define NAME_SEPTEMBER TIME_NAME(TIME_MONTHS, 9)
#define NAME_OCTOBER   TIME_NAME(TIME_MONTHS, 10)
#define NAME_NOVEMBER  TIME_NAME(TIME_MONTHS, 11)
#define NAME_DECEMBER  TIME_NAME(TIME_MONTHS, 12)

#define NAME_SUNDAY    TIME_NAME(TIME_WEEKDAYS, 1)
#define NAME_MONDAY    TIME_NAME(TIME_WEEKDAYS, 2)
#define NAME_TUESDAY   TIME_NAME(TIME_WEEKDAYS, 3)
#define NAME_WEDNESDAY TIME_NAME(TIME_WEEKDAYS, 4)
#define NAME_THURSDAY  TIME_NAME(TIME_WEEKDAYS, 5)
#define NAME_FRIDAY    TIME_NAME(TIME_WEEKDAYS, 6)
#define NAME_SATURDAY  TIME_NAME(TIME_WEEKDAYS, 7)

#define NAME_1ST TIME_NAME(TIME_ORDINALS, 1)
#define NAME_2ND TIME_NAME(TIME_ORDINALS, 2)
#define NAME_3RD TIME_NAME(TIME_ORDINALS, 3)
#define NAME_4TH TIME_NAME(TIME_ORDINALS, 4)

/* One more than they are, as nothing is 0. */
#define NAME_ZERO    TIME_NAME(TIME_NUMBERS, 1)
#define NAME_ONE     TIME_NAME(TIME_NUMBERS, 2)
#define NAME_TWO     TIME_NAME(TIME_NUMBERS, 3)
#define NAME_THREE   TIME_NAME(TIME_NUMBERS, 4)
#define NAME_FOUR    TIME_NAME(TIME_NUMBERS, 5)
#define NAME_FIVE    TIME_NAME(TIME_NUMBERS, 6)
#define NAME_SIX     TIME_NAME(TIME_NUMBERS, 7)
#define NAME_SEVEN   TIME_NAME(TIME_NUMBERS, 8)
#define NAME_EIGHT   TIME_NAME(TIME_NUMBERS, 9)
#define NAME_NINE    TIME_NAME(TIME_NUMBERS, 10)
#define NAME_TEN     TIME_NAME(TIME_NUMBERS, 11)
#define NAME_ELEVEN  TIME_NAME(TIME_NUMBERS, 12)
#define NAME_TWELVE  TIME_NAME(TIME_NUMBERS, 13)
#define NAME_FIFTEEN TIME_NAME(TIME_NUMBERS, 16)
#define NAME_TWENTY  TIME_NAME(TIME_NUMBERS, 21)
#define NAME_THIRTY  TIME_NAME(TIME_NUMBERS, 31)

/* The shift from this year and three more. */
#define NAME_YEAR_BEFORE_LAST TIME_NAME(TIME_YEARS, 1)
#define NAME_LAST_YEAR        TIME_NAME(TIME_YEARS, 2)
#define NAME_THIS_YEAR        TIME_NAME(TIME_YEARS, 3)
#define NAME_NEXT_YEAR        TIME_NAME(TIME_YEARS, 4)

/* What stands at the open places of a phrase; -1: the phrase has no such place. */
struct time_said {
    int count;
    int unit;    /* of enum time_unit */
    int month;   /* from 0 */
    int weekday; /* from 0, which is Sunday */
    int day;
    int year; /* below 1000: the shift from this year and 3 more */
    int quarter;
    struct {
        size_t at, length;
    } times[2];
    size_t time_count;
};

/* A text in the form in which the phrases are stored: one case, one width, no accents, digits of 0
 * to 9, one blank between words and none between the characters of scripts that have none. */
struct time_text {
    char data[TIME_PHRASE_BYTES]; /* ends in a NUL */
    size_t length;
};

/* False: there is nothing, or too much. */
bool time_phrases_fold(const char *text, struct time_text *out);
size_t time_phrases_languages(void);
/* Leaves the fillers of a language out; false: there was nothing else. */
bool time_phrases_strip(size_t language, const struct time_text *text, struct time_text *out);

/* True: it is a time, and the search ends. */
typedef bool (*time_phrases_take)(void *context, enum time_says says, const struct time_said *said);

/* Offers each phrase of a language that the whole text is, from one class to another. A text within
 * another (`within`) may be a word that is unclear when it stands alone. */
bool time_phrases_find(size_t language, const struct time_text *text, bool within,
                       enum time_says first, enum time_says last, time_phrases_take take,
                       void *context);

#endif
