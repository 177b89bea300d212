/* Times in the languages of data/time-words.txt. Now is Sunday, 15 November 2026, 14:30 UTC. */
#include "core/status.h"
#include "memory/time_words.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NOW INT64_C(1794753000000) /* 2026-11-15T14:30:00Z */

/* What the texts mean; a day stands for its midnight. */
#define TODAY           "2026-11-15 2026-11-16"
#define YESTERDAY       "2026-11-14 2026-11-15"
#define BEFORE_THAT     "2026-11-13 2026-11-14"
#define TOMORROW        "2026-11-16 2026-11-17"
#define AFTER_THAT      "2026-11-17 2026-11-18"
#define THIS_WEEK       "2026-11-09 2026-11-16"
#define LAST_WEEK       "2026-11-02 2026-11-09"
#define WEEK_BEFORE     "2026-10-26 2026-11-02"
#define NEXT_WEEK       "2026-11-16 2026-11-23"
#define THIS_MONTH      "2026-11-01 2026-12-01"
#define LAST_MONTH      "2026-10-01 2026-11-01"
#define LAST_QUARTER    "2026-07-01 2026-10-01"
#define THIS_YEAR       "2026-01-01 2027-01-01"
#define LAST_YEAR       "2025-01-01 2026-01-01"
#define YEAR_BEFORE     "2024-01-01 2025-01-01"
#define PAST_3_DAYS     "2026-11-12T14:30:00Z 2026-11-15T14:30:00.001Z"
#define PAST_2_MONTHS   "2026-09-15T14:30:00Z 2026-11-15T14:30:00.001Z"
#define PAST_WEEK       "2026-11-08T14:30:00Z 2026-11-15T14:30:00.001Z"
#define DAYS_AGO_3      "2026-11-12 2026-11-13"
#define WEEKS_AGO_2     "2026-10-26 2026-11-02"
#define YEAR_AGO        LAST_YEAR
#define IN_3_DAYS       "2026-11-18T14:30:00Z 2026-11-18T14:30:00.001Z"
#define MONDAY          "2026-11-09 2026-11-10"
#define FRIDAY          "2026-11-13 2026-11-14"
#define MONDAY_OF_LAST  "2026-11-02 2026-11-03"
#define NEXT_MONDAY     "2026-11-16 2026-11-17"
#define MARCH           "2026-03-01 2026-04-01"
#define MARCH_2025      "2025-03-01 2025-04-01"
#define DECEMBER        "2025-12-01 2026-01-01"
#define MARCH_5_2025    "2025-03-05 2025-03-06"
#define MARCH_5         "2026-03-05 2026-03-06"
#define Q3              "2026-07-01 2026-10-01"
#define Q3_2025         "2025-07-01 2025-10-01"
#define Q4              "2026-10-01 2027-01-01"
#define YEAR_2025       LAST_YEAR
#define SINCE_MARCH     "2026-03-01 -"
#define SINCE_LAST_WEEK "2026-11-02 -"
#define AFTER_MARCH     "2026-04-01 -"
#define UNTIL_MARCH     "- 2026-04-01"
#define BEFORE_MARCH    "- 2026-03-01"
#define BEFORE_2025     "- 2025-01-01"
#define MARCH_TO_MAY    "2026-03-01 2026-06-01"
#define NO              NULL

struct phrase {
    const char *text;
    const char *span;
};

static const char *shown(int64_t moment, char out[TIME_WORDS_ISO_SIZE])
{
    if (moment == 0) {
        return "-";
    }
    char *midnight = strstr(time_words_iso(moment, out), "T00:00:00Z");
    if (midnight) {
        *midnight = '\0';
    }
    return out;
}

static void check(const struct phrase *phrases, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct time_span span = {0};
        char line[256], wanted[256], from[TIME_WORDS_ISO_SIZE], until[TIME_WORDS_ISO_SIZE];
        bool read = time_words_read(phrases[i].text, NOW, &span) == OK;
        snprintf(line, sizeof line, "%s: %s %s", phrases[i].text,
                 read ? shown(span.from_ms, from) : "no",
                 read ? shown(span.until_ms, until) : "time");
        snprintf(wanted, sizeof wanted, "%s: %s", phrases[i].text,
                 phrases[i].span ? phrases[i].span : "no time");
        if (strcmp(line, wanted) != 0) {
            print_error("%s\n  but it is %s\n", line, wanted);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#define LANGUAGE(name, ...)                                                                        \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        static const struct phrase PHRASES[] = {__VA_ARGS__};                                      \
        check(PHRASES, COUNT(PHRASES));                                                            \
    }

/* clang-format off */
LANGUAGE(reads_english,
    {"the day before yesterday", BEFORE_THAT}, {"the day after tomorrow", AFTER_THAT},
    {"Q3 2026", Q3}, {"q3", Q3}, {"Q4", Q4}, {"Q3/2025", Q3_2025}, {"2025-Q3", Q3_2025},
    {"2025Q3", Q3_2025}, {"in the third quarter", Q3}, {"third quarter of 2025", Q3_2025},
    {"3rd quarter 2025", Q3_2025}, {"quarter 3 of 2025", Q3_2025}, {"last quarter", LAST_QUARTER},
    {"since Q3 2025", "2025-07-01 -"}, {"the week before last", WEEK_BEFORE},
    {"Monday last week", MONDAY_OF_LAST}, {"next Monday", NEXT_MONDAY}, {"in 2026-03", MARCH},
    {"March last year", MARCH_2025}, {"Sept. 2025", "2025-09-01 2025-10-01"},
    {"in Sept", "2026-09-01 2026-10-01"}, {"2026/03/05", MARCH_5},
    {"2025–2026", "2025-01-01 2027-01-01"}, {"LAST\u00A0WEEK", LAST_WEEK},
    {"the last thirty days", "2026-10-16T14:30:00Z 2026-11-15T14:30:00.001Z"}, {"may I", NO},
    {"it may be", NO}, {"may be", NO}, {"march on", MARCH}, {"marching", NO}, {"sept", NO},
    {"second", NO}, {"the second", NO}, {"quarter", NO}, {"Q5", NO}, {"Q3 26", NO}, {"week", NO},
    {"days", NO}, {"3 days", NO}, {"week last", NO}, {"the", NO}, {"last", NO}, {"since", NO},
    {"since since March", NO}, {"between March", NO}, {"03/05/2026", NO}, {"5.3", NO}, {"in", NO},
    {"past", NO}, {"1 2 3", NO}, {"0 days", NO}, {"past 0 days", NO})

LANGUAGE(reads_chinese,
    {"今天", TODAY}, {"昨天", YESTERDAY}, {"前天", BEFORE_THAT}, {"明天", TOMORROW}, {"后天", AFTER_THAT},
    {"本周", THIS_WEEK}, {"这周", THIS_WEEK}, {"这个星期", THIS_WEEK}, {"上周", LAST_WEEK},
    {"上週", LAST_WEEK}, {"上个星期", LAST_WEEK}, {"上上周", WEEK_BEFORE}, {"下周", NEXT_WEEK},
    {"这个月", THIS_MONTH}, {"上个月", LAST_MONTH}, {"上月", LAST_MONTH}, {"今年", THIS_YEAR},
    {"去年", LAST_YEAR}, {"前年", YEAR_BEFORE}, {"上个季度", LAST_QUARTER}, {"上季度", LAST_QUARTER},
    {"过去3天", PAST_3_DAYS}, {"过去三天", PAST_3_DAYS}, {"最近两个月", PAST_2_MONTHS}, {"最近一周", PAST_WEEK},
    {"3天前", DAYS_AGO_3}, {"三天前", DAYS_AGO_3}, {"两周前", WEEKS_AGO_2}, {"一年前", YEAR_AGO},
    {"３天之前", DAYS_AGO_3}, {"3 天 前", DAYS_AGO_3}, {"三天后", IN_3_DAYS}, {"周一", MONDAY},
    {"星期五", FRIDAY}, {"礼拜五", FRIDAY}, {"上周一", MONDAY_OF_LAST}, {"上个星期一", MONDAY_OF_LAST},
    {"本周一", MONDAY}, {"下周一", NEXT_MONDAY}, {"3月", MARCH}, {"三月", MARCH}, {"十二月", DECEMBER},
    {"2025年3月", MARCH_2025}, {"2025 年 3 月", MARCH_2025}, {"二〇二五年三月", MARCH_2025},
    {"去年3月", MARCH_2025}, {"2025年3月5日", MARCH_5_2025}, {"3月5号", MARCH_5}, {"三月五日", MARCH_5},
    {"第三季度", Q3}, {"2025年第三季度", Q3_2025}, {"2025年第3季度", Q3_2025}, {"去年第三季度", Q3_2025},
    {"2025年Q3", Q3_2025}, {"2025年", YEAR_2025}, {"在2025年", YEAR_2025}, {"３月以来", SINCE_MARCH},
    {"自3月以来", SINCE_MARCH}, {"从上周开始", SINCE_LAST_WEEK}, {"三月之后", AFTER_MARCH},
    {"到3月为止", UNTIL_MARCH}, {"3月之前", BEFORE_MARCH}, {"3月前", BEFORE_MARCH},
    {"2025年前", BEFORE_2025}, {"从3月到5月", MARCH_TO_MAY}, {"3月至5月", MARCH_TO_MAY},
    {"3月 - 5月", MARCH_TO_MAY}, {"三月和五月之间", MARCH_TO_MAY}, {"上天", NO}, {"天", NO}, {"周", NO},
    {"周到", NO}, {"三", NO}, {"三个月", NO}, {"最近", NO}, {"以前", NO}, {"年", NO}, {"日前", NO}, {"星期", NO},
    {"明年轻", NO}, {"13月", NO}, {"第五季度", NO}, {"上海", NO}, {"一月四十日", NO}, {"从头到尾", NO})

LANGUAGE(reads_hindi,
    {"आज", TODAY}, {"कल", YESTERDAY}, {"बीते कल", YESTERDAY}, {"परसों", BEFORE_THAT},
    {"आने वाला कल", TOMORROW}, {"इस हफ़्ते", THIS_WEEK}, {"इस सप्ताह", THIS_WEEK},
    {"पिछले हफ़्ते", LAST_WEEK}, {"पिछले हफ्ते", LAST_WEEK}, {"पिछले सप्ताह में", LAST_WEEK},
    {"अगले हफ्ते", NEXT_WEEK}, {"इस महीने", THIS_MONTH}, {"पिछले महीने", LAST_MONTH},
    {"इस साल", THIS_YEAR}, {"पिछले साल", LAST_YEAR}, {"पिछली तिमाही", LAST_QUARTER},
    {"पिछले 3 दिन", PAST_3_DAYS}, {"पिछले ३ दिनों में", PAST_3_DAYS},
    {"पिछले दो महीने", PAST_2_MONTHS}, {"3 दिन पहले", DAYS_AGO_3}, {"तीन दिन पहले", DAYS_AGO_3},
    {"दो हफ़्ते पहले", WEEKS_AGO_2}, {"एक साल पहले", YEAR_AGO}, {"३ दिन बाद", IN_3_DAYS},
    {"सोमवार", MONDAY}, {"सोमवार को", MONDAY}, {"पिछले शुक्रवार", FRIDAY},
    {"अगले सोमवार", NEXT_MONDAY}, {"मार्च", MARCH}, {"मार्च में", MARCH},
    {"मार्च 2025", MARCH_2025}, {"मार्च २०२५ में", MARCH_2025}, {"दिसंबर", DECEMBER},
    {"5 मार्च 2025", MARCH_5_2025}, {"५ मार्च को", MARCH_5}, {"पिछले साल मार्च में", MARCH_2025},
    {"तीसरी तिमाही", Q3}, {"2025 की तीसरी तिमाही", Q3_2025}, {"2025 में", YEAR_2025},
    {"२०२५", YEAR_2025}, {"वर्ष 2025", YEAR_2025}, {"मार्च से", SINCE_MARCH},
    {"पिछले हफ़्ते से", SINCE_LAST_WEEK}, {"मार्च के बाद", AFTER_MARCH},
    {"मार्च तक", UNTIL_MARCH}, {"मार्च से पहले", BEFORE_MARCH}, {"२०२५ से पहले", BEFORE_2025},
    {"मार्च और मई के बीच", MARCH_TO_MAY}, {"मार्च से मई तक", MARCH_TO_MAY}, {"दिन", NO},
    {"पहले", NO}, {"दो", NO}, {"साल", NO}, {"में", NO}, {"से", NO}, {"पिछले", NO}, {"दो दिन", NO},
    {"सोम", NO}, {"कलम", NO}, {"तिमाही", NO})

LANGUAGE(reads_spanish,
    {"hoy", TODAY}, {"ayer", YESTERDAY}, {"anteayer", BEFORE_THAT}, {"antes de ayer", BEFORE_THAT},
    {"mañana", TOMORROW}, {"pasado mañana", AFTER_THAT}, {"esta semana", THIS_WEEK},
    {"la semana pasada", LAST_WEEK}, {"semana pasada", LAST_WEEK},
    {"la semana antepasada", WEEK_BEFORE}, {"la próxima semana", NEXT_WEEK},
    {"la semana que viene", NEXT_WEEK}, {"este mes", THIS_MONTH}, {"el mes pasado", LAST_MONTH},
    {"este año", THIS_YEAR}, {"el año pasado", LAST_YEAR}, {"el trimestre pasado", LAST_QUARTER},
    {"los últimos 3 días", PAST_3_DAYS}, {"en los últimos tres días", PAST_3_DAYS},
    {"los 3 últimos días", PAST_3_DAYS}, {"los ultimos dos meses", PAST_2_MONTHS},
    {"la última semana", PAST_WEEK}, {"hace 3 días", DAYS_AGO_3}, {"hace tres dias", DAYS_AGO_3},
    {"hace dos semanas", WEEKS_AGO_2}, {"hace un año", YEAR_AGO}, {"dentro de 3 días", IN_3_DAYS},
    {"lunes", MONDAY}, {"el lunes", MONDAY}, {"el lunes pasado", MONDAY}, {"el viernes", FRIDAY},
    {"el lunes de la semana pasada", MONDAY_OF_LAST}, {"el próximo lunes", NEXT_MONDAY},
    {"marzo", MARCH}, {"en marzo", MARCH}, {"marzo de 2025", MARCH_2025},
    {"en marzo del año pasado", MARCH_2025}, {"diciembre", DECEMBER},
    {"el 5 de marzo de 2025", MARCH_5_2025}, {"5 de marzo", MARCH_5}, {"el tercer trimestre", Q3},
    {"3er trimestre de 2025", Q3_2025}, {"T3 2025", Q3_2025}, {"3T 2025", Q3_2025},
    {"en el tercer trimestre de 2025", Q3_2025}, {"en 2025", YEAR_2025},
    {"el año 2025", YEAR_2025}, {"desde marzo", SINCE_MARCH},
    {"desde la semana pasada", SINCE_LAST_WEEK}, {"después de marzo", AFTER_MARCH},
    {"hasta marzo", UNTIL_MARCH}, {"antes de marzo", BEFORE_MARCH}, {"antes de 2025", BEFORE_2025},
    {"desde hace 3 días", "2026-11-12 -"}, {"entre marzo y mayo", MARCH_TO_MAY},
    {"de marzo a mayo", MARCH_TO_MAY}, {"desde marzo hasta mayo", MARCH_TO_MAY}, {"segunda", NO},
    {"segundo", NO}, {"sept", NO}, {"mar", MARCH}, {"once", NO}, {"un", NO}, {"la", NO},
    {"pasado", NO}, {"semana", NO}, {"tres días", NO}, {"el mar", NO}, {"cuarto", NO},
    {"antes", NO}, {"la segunda semana", NO}, {"ahora no", NO}, {"5 de", NO})

LANGUAGE(reads_arabic,
    {"اليوم", TODAY}, {"أمس", YESTERDAY}, {"امس", YESTERDAY}, {"أول أمس", BEFORE_THAT},
    {"غدا", TOMORROW}, {"غدًا", TOMORROW}, {"بعد غد", AFTER_THAT}, {"هذا الأسبوع", THIS_WEEK},
    {"الأسبوع الماضي", LAST_WEEK}, {"في الاسبوع الماضي", LAST_WEEK},
    {"الأسبوع القادم", NEXT_WEEK}, {"هذا الشهر", THIS_MONTH}, {"الشهر الماضي", LAST_MONTH},
    {"هذه السنة", THIS_YEAR}, {"السنة الماضية", LAST_YEAR}, {"السنه الماضيه", LAST_YEAR},
    {"العام الماضي", LAST_YEAR}, {"الربع الماضي", LAST_QUARTER}, {"آخر 3 أيام", PAST_3_DAYS},
    {"آخر ٣ أيام", PAST_3_DAYS}, {"آخر شهرين", PAST_2_MONTHS},
    {"الأيام الثلاثة الماضية", PAST_3_DAYS}, {"قبل 3 أيام", DAYS_AGO_3},
    {"منذ ثلاثة أيام", DAYS_AGO_3}, {"قبل أسبوعين", WEEKS_AGO_2}, {"قبل سنة", YEAR_AGO},
    {"بعد ٣ أيام", IN_3_DAYS}, {"يوم الاثنين", MONDAY}, {"الإثنين الماضي", MONDAY},
    {"الجمعة", FRIDAY}, {"يوم الاثنين القادم", NEXT_MONDAY}, {"في مارس", MARCH}, {"آذار", MARCH},
    {"مارس 2025", MARCH_2025}, {"مارس ٢٠٢٥", MARCH_2025}, {"كانون الأول", DECEMBER},
    {"ديسمبر", DECEMBER}, {"5 مارس 2025", MARCH_5_2025}, {"٥ مارس", MARCH_5},
    {"الربع الثالث", Q3}, {"الربع الثالث من عام 2025", Q3_2025}, {"الربع الثالث ٢٠٢٥", Q3_2025},
    {"في 2025", YEAR_2025}, {"عام ٢٠٢٥", YEAR_2025}, {"سنة 2025", YEAR_2025},
    {"منذ مارس", SINCE_MARCH}, {"منذ الأسبوع الماضي", SINCE_LAST_WEEK}, {"بعد مارس", AFTER_MARCH},
    {"حتى مارس", UNTIL_MARCH}, {"قبل مارس", BEFORE_MARCH}, {"قبل عام 2025", BEFORE_2025},
    {"بين مارس ومايو", MARCH_TO_MAY}, {"من مارس إلى مايو", MARCH_TO_MAY}, {"مارس", NO},
    {"آب", NO}, {"الأحد", NO}, {"يوم", NO}, {"ربع", NO}, {"قبل", NO}, {"الماضي", NO},
    {"الأول", NO}, {"ثلاثة", NO}, {"سنة", NO}, {"في", NO}, {"ثلاثة أيام", NO})

LANGUAGE(reads_french,
    {"aujourd'hui", TODAY}, {"aujourd’hui", TODAY}, {"hier", YESTERDAY},
    {"avant-hier", BEFORE_THAT}, {"demain", TOMORROW}, {"après-demain", AFTER_THAT},
    {"cette semaine", THIS_WEEK}, {"la semaine dernière", LAST_WEEK},
    {"La semaine derniere", LAST_WEEK}, {"semaine passée", LAST_WEEK},
    {"la semaine prochaine", NEXT_WEEK}, {"ce mois-ci", THIS_MONTH},
    {"le mois dernier", LAST_MONTH}, {"cette année", THIS_YEAR}, {"l'année dernière", LAST_YEAR},
    {"l’an dernier", LAST_YEAR}, {"le trimestre dernier", LAST_QUARTER},
    {"les 3 derniers jours", PAST_3_DAYS}, {"ces trois derniers jours", PAST_3_DAYS},
    {"au cours des 3 derniers jours", PAST_3_DAYS}, {"les deux derniers mois", PAST_2_MONTHS},
    {"depuis 3 jours", PAST_3_DAYS}, {"la dernière semaine", PAST_WEEK},
    {"il y a 3 jours", DAYS_AGO_3}, {"il y a trois jours", DAYS_AGO_3},
    {"il y a deux semaines", WEEKS_AGO_2}, {"il y a un an", YEAR_AGO}, {"dans 3 jours", IN_3_DAYS},
    {"lundi", MONDAY}, {"lundi dernier", MONDAY}, {"vendredi", FRIDAY},
    {"lundi de la semaine dernière", MONDAY_OF_LAST}, {"lundi prochain", NEXT_MONDAY},
    {"en mars", MARCH}, {"au mois de mars", MARCH}, {"mars 2025", MARCH_2025},
    {"en mars de l'année dernière", MARCH_2025}, {"en décembre", DECEMBER},
    {"décembre", DECEMBER}, {"le 5 mars 2025", MARCH_5_2025}, {"5 mars", MARCH_5},
    {"1er mars 2025", "2025-03-01 2025-03-02"}, {"T3 2025", Q3_2025}, {"T3", Q3},
    {"au 3e trimestre", Q3}, {"3ème trimestre 2025", Q3_2025},
    {"le troisième trimestre de 2025", Q3_2025}, {"en 2025", YEAR_2025},
    {"l'année 2025", YEAR_2025}, {"depuis mars", SINCE_MARCH}, {"à partir de mars", SINCE_MARCH},
    {"dès lundi", "2026-11-09 -"}, {"depuis la semaine dernière", SINCE_LAST_WEEK},
    {"après mars", AFTER_MARCH}, {"jusqu'en mars", UNTIL_MARCH}, {"jusqu'à mars", UNTIL_MARCH},
    {"avant mars", BEFORE_MARCH}, {"avant 2025", BEFORE_2025}, {"entre mars et mai", MARCH_TO_MAY},
    {"de mars à mai", MARCH_TO_MAY}, {"mars", NO}, {"le mars", NO}, {"sept", NO},
    {"sept jours", NO}, {"six", NO}, {"second", NO}, {"la", NO}, {"dernier", NO}, {"an", NO},
    {"mois", NO}, {"il y a", NO}, {"premier", NO}, {"avant", NO})

LANGUAGE(reads_bengali,
    {"আজ", TODAY}, {"গতকাল", YESTERDAY}, {"গত পরশু", BEFORE_THAT}, {"আগামীকাল", TOMORROW},
    {"এই সপ্তাহে", THIS_WEEK}, {"গত সপ্তাহ", LAST_WEEK}, {"গত সপ্তাহে", LAST_WEEK},
    {"আগামী সপ্তাহে", NEXT_WEEK}, {"এই মাসে", THIS_MONTH}, {"গত মাসে", LAST_MONTH},
    {"এ বছর", THIS_YEAR}, {"গত বছর", LAST_YEAR}, {"গত ত্রৈমাসিকে", LAST_QUARTER},
    {"গত ৩ দিন", PAST_3_DAYS}, {"গত তিন দিনে", PAST_3_DAYS}, {"গত দুই মাসে", PAST_2_MONTHS},
    {"৩ দিন আগে", DAYS_AGO_3}, {"তিন দিন আগে", DAYS_AGO_3}, {"দুই সপ্তাহ আগে", WEEKS_AGO_2},
    {"এক বছর আগে", YEAR_AGO}, {"৩ দিন পরে", IN_3_DAYS}, {"সোমবার", MONDAY}, {"সোমবারে", MONDAY},
    {"গত শুক্রবার", FRIDAY}, {"আগামী সোমবার", NEXT_MONDAY}, {"মার্চ", MARCH}, {"মার্চে", MARCH},
    {"মার্চ মাসে", MARCH}, {"মার্চ ২০২৫", MARCH_2025}, {"২০২৫ সালের মার্চে", MARCH_2025},
    {"ডিসেম্বর", DECEMBER}, {"৫ মার্চ ২০২৫", MARCH_5_2025}, {"৫ই মার্চ", MARCH_5},
    {"তৃতীয় প্রান্তিক", Q3}, {"২০২৫ সালের তৃতীয় ত্রৈমাসিক", Q3_2025}, {"২০২৫ সালে", YEAR_2025},
    {"২০২৫", YEAR_2025}, {"মার্চ থেকে", SINCE_MARCH}, {"গত সপ্তাহ থেকে", SINCE_LAST_WEEK},
    {"মার্চের পরে", AFTER_MARCH}, {"মার্চ পর্যন্ত", UNTIL_MARCH}, {"মার্চের আগে", BEFORE_MARCH},
    {"২০২৫ সালের আগে", BEFORE_2025}, {"মার্চ থেকে মে", MARCH_TO_MAY},
    {"মার্চ থেকে মে পর্যন্ত", MARCH_TO_MAY}, {"দিন", NO}, {"আগে", NO}, {"নয়", NO}, {"গত", NO},
    {"তিন", NO}, {"তিন দিন", NO}, {"মেয়ে", NO}, {"প্রথম", NO}, {"বছর", NO})

LANGUAGE(reads_portuguese,
    {"hoje", TODAY}, {"ontem", YESTERDAY}, {"anteontem", BEFORE_THAT}, {"amanhã", TOMORROW},
    {"depois de amanhã", AFTER_THAT}, {"esta semana", THIS_WEEK}, {"nesta semana", THIS_WEEK},
    {"a semana passada", LAST_WEEK}, {"na semana passada", LAST_WEEK},
    {"semana retrasada", WEEK_BEFORE}, {"na próxima semana", NEXT_WEEK},
    {"semana que vem", NEXT_WEEK}, {"este mês", THIS_MONTH}, {"no mês passado", LAST_MONTH},
    {"mes passado", LAST_MONTH}, {"este ano", THIS_YEAR}, {"no ano passado", LAST_YEAR},
    {"o trimestre passado", LAST_QUARTER}, {"os últimos 3 dias", PAST_3_DAYS},
    {"nos últimos três dias", PAST_3_DAYS}, {"últimos dois meses", PAST_2_MONTHS},
    {"na última semana", PAST_WEEK}, {"há 3 dias", DAYS_AGO_3}, {"três dias atrás", DAYS_AGO_3},
    {"há duas semanas", WEEKS_AGO_2}, {"há um ano", YEAR_AGO}, {"daqui a 3 dias", IN_3_DAYS},
    {"segunda-feira", MONDAY}, {"na segunda", MONDAY}, {"na segunda-feira passada", MONDAY},
    {"sexta-feira", FRIDAY}, {"segunda-feira da semana passada", MONDAY_OF_LAST},
    {"próxima segunda-feira", NEXT_MONDAY}, {"em março", MARCH}, {"março de 2025", MARCH_2025},
    {"em março do ano passado", MARCH_2025}, {"dezembro", DECEMBER},
    {"5 de março de 2025", MARCH_5_2025}, {"5 de março", MARCH_5}, {"terceiro trimestre", Q3},
    {"3º trimestre de 2025", Q3_2025}, {"no terceiro trimestre de 2025", Q3_2025},
    {"em 2025", YEAR_2025}, {"ano de 2025", YEAR_2025}, {"desde março", SINCE_MARCH},
    {"desde a semana passada", SINCE_LAST_WEEK}, {"depois de março", AFTER_MARCH},
    {"até março", UNTIL_MARCH}, {"antes de março", BEFORE_MARCH}, {"antes de 2025", BEFORE_2025},
    {"entre março e maio", MARCH_TO_MAY}, {"de março a maio", MARCH_TO_MAY}, {"segunda", NO},
    {"a segunda", NO}, {"terça", NO}, {"quarta", NO}, {"quinta", NO}, {"sexta", NO}, {"marco", NO},
    {"dez", NO}, {"sete", NO}, {"dia", NO}, {"passado", NO}, {"ano", NO}, {"o quarto", NO},
    {"dez dias", NO})

LANGUAGE(reads_russian,
    {"сегодня", TODAY}, {"Вчера", YESTERDAY}, {"позавчера", BEFORE_THAT}, {"завтра", TOMORROW},
    {"послезавтра", AFTER_THAT}, {"эта неделя", THIS_WEEK}, {"на этой неделе", THIS_WEEK},
    {"на прошлой неделе", LAST_WEEK}, {"прошлая неделя", LAST_WEEK},
    {"на позапрошлой неделе", WEEK_BEFORE}, {"на следующей неделе", NEXT_WEEK},
    {"в этом месяце", THIS_MONTH}, {"в прошлом месяце", LAST_MONTH}, {"в этом году", THIS_YEAR},
    {"в прошлом году", LAST_YEAR}, {"позапрошлый год", YEAR_BEFORE},
    {"в прошлом квартале", LAST_QUARTER}, {"последние 3 дня", PAST_3_DAYS},
    {"за последние три дня", PAST_3_DAYS}, {"за последние два месяца", PAST_2_MONTHS},
    {"за последнюю неделю", PAST_WEEK}, {"3 дня назад", DAYS_AGO_3},
    {"три дня назад", DAYS_AGO_3}, {"две недели назад", WEEKS_AGO_2}, {"год назад", YEAR_AGO},
    {"через 3 дня", IN_3_DAYS}, {"понедельник", MONDAY}, {"в понедельник", MONDAY},
    {"в прошлый понедельник", MONDAY}, {"в пятницу", FRIDAY},
    {"в среду", "2026-11-11 2026-11-12"}, {"в понедельник на прошлой неделе", MONDAY_OF_LAST},
    {"в следующий понедельник", NEXT_MONDAY}, {"март", MARCH}, {"в марте", MARCH},
    {"в марте 2025 года", MARCH_2025}, {"март 2025", MARCH_2025},
    {"в марте прошлого года", MARCH_2025}, {"декабрь", DECEMBER},
    {"5 марта 2025 г.", MARCH_5_2025}, {"5 марта", MARCH_5}, {"05.03.2025", MARCH_5_2025},
    {"третий квартал", Q3}, {"в третьем квартале 2025 года", Q3_2025},
    {"3-й квартал 2025", Q3_2025}, {"III квартал 2025", Q3_2025}, {"в 2025 году", YEAR_2025},
    {"2025 год", YEAR_2025}, {"с марта", SINCE_MARCH}, {"начиная с марта", SINCE_MARCH},
    {"с прошлой недели", SINCE_LAST_WEEK}, {"после марта", AFTER_MARCH}, {"по март", UNTIL_MARCH},
    {"до марта", BEFORE_MARCH}, {"до 2025 года", BEFORE_2025}, {"с марта по май", MARCH_TO_MAY},
    {"между мартом и маем", MARCH_TO_MAY}, {"среда", NO}, {"среду", NO}, {"год", NO}, {"три", NO},
    {"три дня", NO}, {"назад", NO}, {"в", NO}, {"неделя", NO}, {"второй", NO}, {"мартышка", NO},
    {"час", NO}, {"квартал", NO})

LANGUAGE(reads_indonesian,
    {"hari ini", TODAY}, {"kemarin", YESTERDAY}, {"kemarin lusa", BEFORE_THAT}, {"besok", TOMORROW},
    {"lusa", AFTER_THAT}, {"minggu ini", THIS_WEEK}, {"minggu lalu", LAST_WEEK},
    {"minggu yang lalu", LAST_WEEK}, {"pekan lalu", LAST_WEEK}, {"minggu depan", NEXT_WEEK},
    {"bulan ini", THIS_MONTH}, {"bulan lalu", LAST_MONTH}, {"tahun ini", THIS_YEAR},
    {"tahun lalu", LAST_YEAR}, {"kuartal lalu", LAST_QUARTER}, {"3 hari terakhir", PAST_3_DAYS},
    {"dalam tiga hari terakhir", PAST_3_DAYS}, {"dua bulan terakhir", PAST_2_MONTHS},
    {"seminggu terakhir", PAST_WEEK}, {"3 hari yang lalu", DAYS_AGO_3},
    {"tiga hari lalu", DAYS_AGO_3}, {"dua minggu yang lalu", WEEKS_AGO_2},
    {"setahun yang lalu", YEAR_AGO}, {"3 hari lagi", IN_3_DAYS}, {"Senin", MONDAY},
    {"hari Senin", MONDAY}, {"Senin lalu", MONDAY}, {"Jumat", FRIDAY}, {"hari Jum'at", FRIDAY},
    {"hari Minggu", "2026-11-08 2026-11-09"}, {"Senin minggu lalu", MONDAY_OF_LAST},
    {"Senin depan", NEXT_MONDAY}, {"Maret", MARCH}, {"bulan Maret", MARCH},
    {"pada bulan Maret 2025", MARCH_2025}, {"Maret tahun lalu", MARCH_2025}, {"Desember", DECEMBER},
    {"5 Maret 2025", MARCH_5_2025}, {"tanggal 5 Maret", MARCH_5}, {"kuartal ketiga", Q3},
    {"kuartal ke-3 2025", Q3_2025}, {"triwulan III 2025", Q3_2025}, {"tahun 2025", YEAR_2025},
    {"pada tahun 2025", YEAR_2025}, {"sejak Maret", SINCE_MARCH},
    {"sejak minggu lalu", SINCE_LAST_WEEK}, {"setelah Maret", AFTER_MARCH},
    {"sampai Maret", UNTIL_MARCH}, {"sebelum Maret", BEFORE_MARCH}, {"sebelum 2025", BEFORE_2025},
    {"antara Maret dan Mei", MARCH_TO_MAY}, {"dari Maret sampai Mei", MARCH_TO_MAY}, {"minggu", NO},
    {"hari", NO}, {"bulan", NO}, {"satu", NO}, {"lalu", NO}, {"tiga hari", NO}, {"yang lalu", NO},
    {"pertama", NO}, {"tahun", NO})

LANGUAGE(reads_japanese,
    {"今日", TODAY}, {"昨日", YESTERDAY}, {"一昨日", BEFORE_THAT}, {"おととい", BEFORE_THAT},
    {"明日", TOMORROW}, {"明後日", AFTER_THAT}, {"今週", THIS_WEEK}, {"先週", LAST_WEEK},
    {"先々週", WEEK_BEFORE}, {"来週", NEXT_WEEK}, {"今月", THIS_MONTH}, {"先月", LAST_MONTH},
    {"今年", THIS_YEAR}, {"去年", LAST_YEAR}, {"昨年", LAST_YEAR}, {"一昨年", YEAR_BEFORE},
    {"前四半期", LAST_QUARTER}, {"過去3日間", PAST_3_DAYS}, {"この３日間", PAST_3_DAYS},
    {"過去2か月", PAST_2_MONTHS}, {"過去２ヶ月", PAST_2_MONTHS}, {"3日前", DAYS_AGO_3}, {"三日前", DAYS_AGO_3},
    {"2週間前", WEEKS_AGO_2}, {"一年前", YEAR_AGO}, {"3日後", IN_3_DAYS}, {"月曜日", MONDAY}, {"月曜", MONDAY},
    {"金曜日に", FRIDAY}, {"先週の月曜日", MONDAY_OF_LAST}, {"今週の月曜日", MONDAY}, {"来週の月曜日", NEXT_MONDAY},
    {"3月", MARCH}, {"３月に", MARCH}, {"2025年3月", MARCH_2025}, {"去年の3月", MARCH_2025},
    {"12月", DECEMBER}, {"2025年3月5日", MARCH_5_2025}, {"3月5日", MARCH_5}, {"第3四半期", Q3},
    {"第三四半期", Q3}, {"2025年第3四半期", Q3_2025}, {"2025年の第三四半期", Q3_2025}, {"2025年", YEAR_2025},
    {"２０２５年に", YEAR_2025}, {"3月以降", SINCE_MARCH}, {"3月から", SINCE_MARCH},
    {"先週から", SINCE_LAST_WEEK}, {"3月より後", AFTER_MARCH}, {"3月まで", UNTIL_MARCH},
    {"3月より前", BEFORE_MARCH}, {"2025年以前", BEFORE_2025}, {"3月から5月まで", MARCH_TO_MAY},
    {"3月〜5月", MARCH_TO_MAY}, {"3月と5月の間", MARCH_TO_MAY}, {"月", NO}, {"日", NO}, {"先", NO},
    {"前", NO}, {"三", NO}, {"三日間", NO}, {"年", NO}, {"四半期", NO}, {"昨日の", NO}, {"から", NO},
    {"先生", NO})

LANGUAGE(reads_german,
    {"heute", TODAY}, {"gestern", YESTERDAY}, {"vorgestern", BEFORE_THAT}, {"morgen", TOMORROW},
    {"übermorgen", AFTER_THAT}, {"diese Woche", THIS_WEEK}, {"in dieser Woche", THIS_WEEK},
    {"letzte Woche", LAST_WEEK}, {"LETZTE WOCHE", LAST_WEEK}, {"in der letzten Woche", LAST_WEEK},
    {"vergangene Woche", LAST_WEEK}, {"vorige Woche", LAST_WEEK}, {"vorletzte Woche", WEEK_BEFORE},
    {"nächste Woche", NEXT_WEEK}, {"dieser Monat", THIS_MONTH}, {"diesen Monat", THIS_MONTH},
    {"letzten Monat", LAST_MONTH}, {"im letzten Monat", LAST_MONTH}, {"dieses Jahr", THIS_YEAR},
    {"letztes Jahr", LAST_YEAR}, {"im vergangenen Jahr", LAST_YEAR},
    {"vorletztes Jahr", YEAR_BEFORE}, {"letztes Quartal", LAST_QUARTER},
    {"im letzten Quartal", LAST_QUARTER}, {"die letzten 3 Tage", PAST_3_DAYS},
    {"in den letzten drei Tagen", PAST_3_DAYS}, {"seit 3 Tagen", PAST_3_DAYS},
    {"letzte zwei Monate", PAST_2_MONTHS}, {"vor 3 Tagen", DAYS_AGO_3},
    {"vor drei Tagen", DAYS_AGO_3}, {"vor zwei Wochen", WEEKS_AGO_2}, {"vor einem Jahr", YEAR_AGO},
    {"in 3 Tagen", IN_3_DAYS}, {"Montag", MONDAY}, {"am Montag", MONDAY},
    {"letzten Montag", MONDAY}, {"am vergangenen Freitag", FRIDAY},
    {"Montag letzter Woche", MONDAY_OF_LAST}, {"nächsten Montag", NEXT_MONDAY}, {"März", MARCH},
    {"im März", MARCH}, {"im Ma\u0308rz", MARCH}, {"Maerz 2025", MARCH_2025},
    {"März 2025", MARCH_2025}, {"im März letzten Jahres", MARCH_2025}, {"Dezember", DECEMBER},
    {"5. März 2025", MARCH_5_2025}, {"am 5. März", MARCH_5}, {"5.3.2025", MARCH_5_2025},
    {"05.03.2025", MARCH_5_2025}, {"3. Quartal", Q3}, {"drittes Quartal 2025", Q3_2025},
    {"im 3. Quartal 2025", Q3_2025}, {"im dritten Quartal des Jahres 2025", Q3_2025},
    {"im Jahr 2025", YEAR_2025}, {"in 2025", YEAR_2025}, {"seit März", SINCE_MARCH},
    {"ab März", SINCE_MARCH}, {"seit letzter Woche", SINCE_LAST_WEEK}, {"nach März", AFTER_MARCH},
    {"bis März", UNTIL_MARCH}, {"bis zum 5. März 2025", "- 2025-03-06"},
    {"vor März", BEFORE_MARCH}, {"vor 2025", BEFORE_2025},
    {"vor dem 5. März 2025", "- 2025-03-05"}, {"zwischen März und Mai", MARCH_TO_MAY},
    {"von März bis Mai", MARCH_TO_MAY}, {"Tag", NO}, {"letzte", NO}, {"letzte Tage", NO},
    {"Woche", NO}, {"drei", NO}, {"drei Tage", NO}, {"vor", NO}, {"die", NO}, {"Quartal", NO},
    {"30. Februar 2025", NO}, {"sept", NO}, {"Dez", NO}, {"im Dez.", DECEMBER}, {"seit", NO},
    {"bis bald", NO}, {"Montagmorgen", NO}, {"32. März", NO}, {"letzte Woche trois jours", NO})
/* clang-format on */

/* Whatever comes: no crash, no time. */
static void survives_anything(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "\xff\xfe",
        "\xe4\xb8",
        "十十十十十十十十",
        "九九九九九九九九九九九九",
        "99999999999999999999年前",
        "{month}",
        "(a/b)",
        "[",
        "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -",
        "to to to to to to to to to to to to to to to to to to to to to to to to to to to to to",
    };
    char text[1024];
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct time_span span;
        assert_int_equal(time_words_read(TEXTS[i], NOW, &span), ERR_INVALID);
    }
    for (size_t length = 0; length < sizeof text; length++) {
        struct time_span span;
        memset(text, ' ', length);
        text[length] = '\0';
        assert_int_equal(time_words_read(text, NOW, &span), ERR_INVALID);
        memcpy(text, "last week", length < 9 ? length : 9);
        time_words_read(text, NOW, &span);
    }
}

UNIT_TEST(time_phrases)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_english),     cmocka_unit_test(reads_chinese),
        cmocka_unit_test(reads_hindi),       cmocka_unit_test(reads_spanish),
        cmocka_unit_test(reads_arabic),      cmocka_unit_test(reads_french),
        cmocka_unit_test(reads_bengali),     cmocka_unit_test(reads_portuguese),
        cmocka_unit_test(reads_russian),     cmocka_unit_test(reads_indonesian),
        cmocka_unit_test(reads_japanese),    cmocka_unit_test(reads_german),
        cmocka_unit_test(survives_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
