/* Citations: what their positions count, which sentence they support, which parts of their URLs go.
 */
#include "unit.h"

#include "answer/citations.h"
#include "answer/sources.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_up(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static struct cited_text make(struct arena *arena, const struct model_part *parts, size_t count,
                              size_t most)
{
    struct cited_text cited;
    struct citation_wishes wishes = {.most = most, .now = 1794736800};
    assert_int_equal(citations_make(arena, parts, count, &wishes, &cited), OK);
    return cited;
}

/* ---- positions ---- */

static void a_ruler_finds_every_position(void **state)
{
    static const char TEXT[] = "a\u00e9\u4e2d\U0001F9A6e\u0301z";
    static const struct {
        enum ruler_unit unit;
        size_t position, byte;
    } CASES[] = {
        {RULER_POINTS, 0, 0},          {RULER_POINTS, 3, 6},
        {RULER_POINTS, 4, 10},         {RULER_POINTS, 7, 14},
        {RULER_POINTS, 8, RULER_NONE}, {RULER_UTF16, 3, 6},
        {RULER_UTF16, 4, RULER_NONE}, /* half of a pair */
        {RULER_UTF16, 5, 10},          {RULER_UTF16, 8, 14},
        {RULER_UTF16, 9, RULER_NONE},  {RULER_BYTES, 2, RULER_NONE},
        {RULER_BYTES, 3, 3},           {RULER_BYTES, 14, 14},
        {RULER_BYTES, 15, RULER_NONE}, {RULER_BYTES, SIZE_MAX, RULER_NONE},
    };
    struct ruler *ruler = ruler_new(*state, TEXT, strlen(TEXT));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(ruler_byte(ruler, CASES[i].unit, CASES[i].position), CASES[i].byte);
    }
    assert_int_equal(ruler_byte_near(ruler, RULER_BYTES, 8), 6);
    assert_int_equal(ruler_byte_near(ruler, RULER_POINTS, 99), 14);
    assert_int_equal(ruler_point(ruler, 8), 3);
    assert_int_equal(ruler_point(ruler, 99), 7);
    struct ruler *empty = ruler_new(*state, "", 0);
    assert_int_equal(ruler_byte(empty, RULER_UTF16, 0), 0);
    assert_int_equal(ruler_byte(empty, RULER_UTF16, 1), RULER_NONE);
}

/* ---- the property: any text, any unit ---- */

/* A generator of our own, so that a failure comes again. */
static uint32_t chance(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % most;
}

static const char *const WORDS[] = {
    "rain",
    "\u043f\u0440\u0438\u0432\u0435\u0442",
    "\u5929\u6c23\u5f88\u597d",
    "\U0001F9A6",
    "\U0001F469\u200D\U0001F52C",
    "e\u0301a\u0300",
    "na\u00efve",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0939\u093f\u0928\u094d\u0926\u0940",
    "3.5",
    "\U0001F1E9\U0001F1EA",
    "plain (words)",
};

/* A sentence of some words and its number, so that no two are the same. */
static void put_sentence(struct buf *out, uint32_t *seed, unsigned number)
{
    buf_printf(out, "Claim %u", number);
    for (uint32_t words = chance(seed, 8); words > 0; words--) {
        buf_printf(out, " %s", WORDS[chance(seed, COUNT(WORDS))]);
    }
}

static int64_t position_in(enum ruler_unit unit, const char *text, size_t bytes)
{
    if (unit == RULER_BYTES) {
        return (int64_t)bytes;
    }
    int64_t count = 0;
    const char *end = text + bytes;
    for (const char *at = text; at < end; count++) {
        uint32_t point = text_next(&at, end);
        count += unit == RULER_UTF16 && point > 0xFFFF ? 1 : 0;
    }
    return count;
}

struct expected {
    char sentence[600];
    char marker[200];
};

/* Writes an answer of several cited sentences; what is expected of each citation. */
static void write_answer(struct arena *arena, uint32_t *seed, enum ruler_unit unit,
                         struct model_part *part, struct expected *expected)
{
    struct buf text;
    buf_init(&text, MIB(1));
    size_t count = 1 + chance(seed, 4);
    size_t starts[8], ends[8];
    part->annotations = arena_zalloc(arena, count * sizeof *part->annotations);
    for (size_t i = 0; i < count; i++) {
        struct buf sentence;
        buf_init(&sentence, KIB(4));
        put_sentence(&sentence, seed, (unsigned)i);
        bool stop_first = chance(seed, 2);
        bool outer = chance(seed, 2);
        buf_append(&text, sentence.data, sentence.length);
        buf_puts(&text, stop_first ? ". " : " ");
        starts[i] = text.length;
        buf_printf(&text, "%s[site%zu.example](https://site%zu.example/%u?utm_source=openai)%s",
                   outer ? "(" : "", i, i, chance(seed, 1000), outer ? ")" : "");
        ends[i] = text.length;
        buf_puts(&text, stop_first ? " " : ". ");
        snprintf(expected[i].sentence, sizeof expected[i].sentence, "%s.", sentence.data);
        char *url = arena_strndup(arena, text.data + starts[i], ends[i] - starts[i]);
        char *begin = strstr(url, "https://");
        begin[strcspn(begin, ")")] = '\0';
        part->annotations[i].url = begin;
        part->annotations[i].title = "A title";
        buf_done(&sentence);
    }
    for (size_t i = 0; i < count; i++) {
        part->annotations[i].start = position_in(unit, text.data, starts[i]);
        part->annotations[i].end = position_in(unit, text.data, ends[i]);
        const char *marker = arena_strndup(arena, text.data + starts[i], ends[i] - starts[i]);
        const char *tracking = strstr(marker, "?utm_source=openai");
        snprintf(expected[i].marker, sizeof expected[i].marker, "%.*s%s", (int)(tracking - marker),
                 marker, tracking + strlen("?utm_source=openai"));
    }
    part->annotation_count = count;
    part->text = arena_strndup(arena, text.data, text.length);
    part->length = text.length;
    buf_done(&text);
}

static const char *points_of(struct arena *arena, const char *text, size_t start, size_t end)
{
    size_t from = text_prefix(text, strlen(text), start);
    size_t until = text_prefix(text, strlen(text), end);
    return arena_strndup(arena, text + from, until - from);
}

static void any_script_in_any_unit_gives_the_right_snippet(void **state)
{
    uint32_t seed = 20261115;
    for (unsigned round = 0; round < 3000; round++) {
        enum ruler_unit unit = (enum ruler_unit)(round % RULER_UNITS);
        struct arena *arena = *state;
        arena_reset(arena);
        struct model_part part = {.begins_message = true};
        struct expected expected[8];
        write_answer(arena, &seed, unit, &part, expected);
        struct cited_text cited = make(arena, &part, 1, 8);
        assert_int_equal(cited.count, part.annotation_count);
        assert_null(strstr(cited.text, "utm_source"));
        for (size_t i = 0; i < cited.count; i++) {
            const struct citation *citation = &cited.citations[i];
            const char *marker = points_of(arena, cited.text, citation->start, citation->end);
            if (strcmp(citation->snippet, expected[i].sentence) != 0 ||
                strcmp(marker, expected[i].marker) != 0) {
                print_message("round %u, unit %d, \"%s\":\n  got \"%s\" %s\n  not \"%s\" %s\n",
                              round, unit, part.text, citation->snippet, marker,
                              expected[i].sentence, expected[i].marker);
            }
            assert_string_equal(citation->snippet, expected[i].sentence);
            assert_string_equal(marker, expected[i].marker);
            assert_int_equal(citation->rank, i + 1);
        }
    }
}

/* ---- snippets ---- */

#define LINK_A "[a.example](https://a.example/x)"
#define LINK_B "[b.example](https://b.example/y)"

/* One part with an annotation for each of the two links that the text holds. */
static struct model_part part_of(struct arena *arena, const char *text)
{
    static const struct {
        const char *link, *url;
    } LINKS[] = {{LINK_A, "https://a.example/x"}, {LINK_B, "https://b.example/y"}};
    struct model_part part = {.text = text, .length = strlen(text), .begins_message = true};
    part.annotations = arena_zalloc(arena, COUNT(LINKS) * sizeof *part.annotations);
    for (size_t i = 0; i < COUNT(LINKS); i++) {
        const char *at = strstr(text, LINKS[i].link);
        if (at) {
            size_t start = (size_t)(at - text);
            part.annotations[part.annotation_count++] = (struct model_annotation){
                .url = LINKS[i].url,
                .title = "t",
                .start = position_in(RULER_POINTS, text, start),
                .end = position_in(RULER_POINTS, text, start + strlen(LINKS[i].link)),
            };
        }
    }
    return part;
}

static void a_snippet_is_the_sentence_that_is_supported(void **state)
{
    static const struct {
        const char *text;
        const char *snippet_a;
        const char *snippet_b; /* NULL: there is no second link */
    } CASES[] = {
        {"It rains. (" LINK_A ")", "It rains.", NULL},
        {"It rains (" LINK_A ").", "It rains.", NULL},
        {"First. It rains. (" LINK_A ") Third.", "It rains.", NULL},
        {"First! Is it raining? " LINK_A, "Is it raining?", NULL},
        {"One (" LINK_A "). Two (" LINK_B ").", "One.", "Two."},
        {"It rains. (" LINK_A ") (" LINK_B ")", "It rains.", "It rains."},
        {"It rains. (" LINK_A ", " LINK_B ")", "It rains.", "It rains."},
        {"It rains in A (" LINK_A ") and in B (" LINK_B ").", "It rains in A",
         "It rains in A and in B."},
        {"Dr. Smith of the U.S. says 3.5 million people left. " LINK_A,
         "Dr. Smith of the U.S. says 3.5 million people left.", NULL},
        {"It costs approx. 5 euros. It rains. " LINK_A, "It rains.", NULL},
        {"- It rains. " LINK_A "\n- It snows. " LINK_B, "It rains.", "It snows."},
        {"1. It rains " LINK_A "\n2. It snows " LINK_B, "It rains", "It snows"},
        {"# Weather\n\nIt rains. " LINK_A, "It rains.", NULL},
        {"- " LINK_A ": tells of rain.\n- " LINK_B " - tells of snow. And more.", "tells of rain.",
         "tells of snow."},
        {"It rains.\n\n" LINK_A, "It rains.", NULL},
        {"It rains.\n(" LINK_A ")\n(" LINK_B ")", "It rains.", "It rains."},
        {"\u5929\u6c23\u5f88\u597d\u3002\u4eca\u5929\u4e0b\u96e8\u3002(" LINK_A ")",
         "\u4eca\u5929\u4e0b\u96e8\u3002", NULL},
        {"\u0414\u043e\u0436\u0434\u044c. \u0421\u043d\u0435\u0433 "
         "\u0438\u0434\u0435\u0442. " LINK_A,
         "\u0421\u043d\u0435\u0433 \u0438\u0434\u0435\u0442.", NULL},
        {"He said \"it rains.\" She did not. " LINK_A, "She did not.", NULL},
        {"  It \t rains.  " LINK_A, "It rains.", NULL},
        {LINK_A, "", NULL},
        {"... " LINK_A, "", NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_part part = part_of(*state, CASES[i].text);
        struct cited_text cited = make(*state, &part, 1, 8);
        assert_int_equal(cited.count, CASES[i].snippet_b ? 2 : 1);
        if (strcmp(cited.citations[0].snippet, CASES[i].snippet_a) != 0) {
            print_message("case %zu: \"%s\"\n", i, CASES[i].text);
        }
        assert_string_equal(cited.citations[0].snippet, CASES[i].snippet_a);
        if (CASES[i].snippet_b) {
            if (strcmp(cited.citations[1].snippet, CASES[i].snippet_b) != 0) {
                print_message("case %zu, second: \"%s\"\n", i, CASES[i].text);
            }
            assert_string_equal(cited.citations[1].snippet, CASES[i].snippet_b);
        }
    }
}

static void a_long_sentence_is_cut(void **state)
{
    struct buf text;
    buf_init(&text, MIB(1));
    for (int i = 0; i < 700; i++) {
        buf_puts(&text, "\u00e4 ");
    }
    buf_puts(&text, LINK_A);
    struct model_part part = part_of(*state, text.data);
    struct cited_text cited = make(*state, &part, 1, 8);
    const char *snippet = cited.citations[0].snippet;
    assert_true(text_is_utf8(snippet, strlen(snippet)));
    assert_true(text_count(snippet, strlen(snippet)) < 2 * LIMIT_SNIPPET_CHARS);
    buf_done(&text);
}

/* ---- positions that do not fit ---- */

static void markers_are_found_by_their_url(void **state)
{
    struct model_part part = part_of(*state, "It rains. (" LINK_A ") It snows. (" LINK_B ")");
    part.annotations[1].start = 99999;
    part.annotations[1].end = -1;
    struct cited_text cited = make(*state, &part, 1, 8);
    assert_int_equal(cited.count, 2);
    assert_string_equal(cited.citations[1].snippet, "It snows.");
    assert_string_equal(
        points_of(*state, cited.text, cited.citations[1].start, cited.citations[1].end),
        "(" LINK_B ")");
}

static void an_end_that_is_the_last_character(void **state)
{
    struct model_part part = part_of(*state, "\U0001F9A6. It rains. (" LINK_A ") It snows.");
    part.annotations[0].end--;
    struct cited_text cited = make(*state, &part, 1, 8);
    assert_string_equal(
        points_of(*state, cited.text, cited.citations[0].start, cited.citations[0].end), LINK_A);
}

static void spans_may_cover_claims_instead(void **state)
{
    struct model_annotation annotations[] = {
        {.url = "https://a.example/x", .title = "", .start = 7, .end = 15}};
    struct model_part part = {.text = "First. It rains. Third.",
                              .length = 23,
                              .begins_message = true,
                              .annotations = annotations,
                              .annotation_count = 1};
    struct cited_text cited = make(*state, &part, 1, 8);
    assert_string_equal(cited.citations[0].snippet, "It rains.");
    assert_int_equal(cited.citations[0].start, 7);
    assert_int_equal(cited.citations[0].end, 15);
}

static void nonsense_never_leaves_the_text(void **state)
{
    static const int64_t NUMBERS[] = {-1, 0, 1, 2, 3, 5, 1000, INT64_MAX};
    static const char TEXT[] = "\U0001F9A6\U0001F9A6";
    for (size_t i = 0; i < COUNT(NUMBERS) * COUNT(NUMBERS); i++) {
        struct model_annotation annotations[] = {{.url = "https://a.example/x",
                                                  .title = "",
                                                  .start = NUMBERS[i / COUNT(NUMBERS)],
                                                  .end = NUMBERS[i % COUNT(NUMBERS)]}};
        struct model_part part = {.text = TEXT,
                                  .length = strlen(TEXT),
                                  .begins_message = true,
                                  .annotations = annotations,
                                  .annotation_count = 1};
        struct cited_text cited = make(*state, &part, 1, 8);
        assert_true(cited.citations[0].start <= cited.citations[0].end);
        assert_true(cited.citations[0].end <= 2);
    }
}

/* ---- several texts, several sources ---- */

static void several_messages_are_joined_and_positions_shifted(void **state)
{
    struct model_part parts[] = {part_of(*state, "\U0001F9A6 It rains. " LINK_A),
                                 part_of(*state, "It snows. " LINK_B),
                                 {.text = " More."}};
    parts[2].length = 6;
    struct cited_text cited = make(*state, parts, 3, 8);
    assert_string_equal(cited.text,
                        "\U0001F9A6 It rains. " LINK_A "\n\nIt snows. " LINK_B " More.");
    assert_string_equal(
        points_of(*state, cited.text, cited.citations[1].start, cited.citations[1].end), LINK_B);
    assert_string_equal(cited.citations[1].snippet, "It snows.");
}

static void each_source_is_cited_once_and_at_most_so_many(void **state)
{
    struct model_annotation annotations[] = {
        {.url = "https://a.example/?utm_source=openai", .title = "", .start = 0, .end = 0},
        {.url = "https://a.example/", .title = "A", .start = 0, .end = 0},
        {.url = "javascript:alert(1)", .title = "no", .start = 0, .end = 0},
        {.url = "https://b.example/", .title = "B", .start = 0, .end = 0},
        {.url = "not a URL", .title = "no", .start = 0, .end = 0},
        {.url = "https://c.example/", .title = "C", .start = 0, .end = 0},
    };
    struct model_part part = {.text = "x",
                              .length = 1,
                              .begins_message = true,
                              .annotations = annotations,
                              .annotation_count = COUNT(annotations)};
    struct cited_text cited = make(*state, &part, 1, 2);
    assert_int_equal(cited.count, 2);
    assert_int_equal(cited.left_out, 1);
    assert_string_equal(cited.citations[0].url, "https://a.example/");
    assert_string_equal(cited.citations[0].title, "A");
    assert_string_equal(cited.citations[1].url, "https://b.example/");
}

/* A page that is cited twice is one source with two citations, each with its own sentence. */
static void every_citation_of_a_page_is_kept(void **state)
{
    static const char TEXT[] =
        "It rains. (" LINK_A ") It snows. (" LINK_B ") It hails. (" LINK_A ") (" LINK_A ")";
    static const struct {
        const char *url, *snippet, *marker;
        int rank;
    } EXPECTED[] = {
        {"https://a.example/x", "It rains.", LINK_A, 1},
        {"https://a.example/x", "It hails.", LINK_A, 1},
        {"https://a.example/x", "It hails.", LINK_A, 1},
        {"https://b.example/y", "It snows.", LINK_B, 2},
    };
    struct model_annotation annotations[5];
    struct model_part part = {
        .text = TEXT, .length = strlen(TEXT), .begins_message = true, .annotations = annotations};
    for (const char *at = strchr(TEXT, '['); at; at = strchr(at + 1, '[')) {
        bool first = strncmp(at, LINK_A, strlen(LINK_A)) == 0;
        annotations[part.annotation_count++] = (struct model_annotation){
            .url = first ? "https://a.example/x" : "https://b.example/y",
            .title = "t",
            .start = at - TEXT,
            .end = at - TEXT + (int64_t)strlen(LINK_A),
        };
    }
    annotations[part.annotation_count++] = annotations[0]; /* named twice by the service */
    struct cited_text cited = make(*state, &part, 1, 8);
    assert_int_equal(cited.count, COUNT(EXPECTED));
    for (size_t i = 0; i < COUNT(EXPECTED); i++) {
        const struct citation *citation = &cited.citations[i];
        assert_string_equal(citation->url, EXPECTED[i].url);
        assert_string_equal(citation->snippet, EXPECTED[i].snippet);
        assert_int_equal(citation->rank, EXPECTED[i].rank);
        assert_string_equal(points_of(*state, cited.text, citation->start, citation->end),
                            EXPECTED[i].marker);
    }
    /* What is bounded are the sources. */
    cited = make(*state, &part, 1, 1);
    assert_int_equal(cited.count, 3);
    assert_int_equal(cited.left_out, 1);
}

/* ---- freshness ---- */

static void outdated_sources_come_last_and_are_marked(void **state)
{
    struct model_part part =
        part_of(*state, "It rains. (" LINK_A ") (published 2026-11-01) It snows. (" LINK_B
                        ") (published 2026-11-15T08:00Z)");
    struct cited_text cited;
    /* 2026-11-15T10:00:00Z */
    struct citation_wishes wishes = {.most = 8, .now = 1794736800, .freshness_hours = 24};
    assert_int_equal(citations_make(*state, &part, 1, &wishes, &cited), OK);
    assert_string_equal(cited.citations[0].url, "https://b.example/y");
    assert_string_equal(cited.citations[0].published, "2026-11-15T08:00Z");
    assert_false(cited.citations[0].outdated);
    assert_int_equal(cited.citations[0].rank, 1);
    assert_string_equal(cited.citations[1].published, "2026-11-01");
    assert_true(cited.citations[1].outdated);
    wishes.freshness_hours = 0;
    assert_int_equal(citations_make(*state, &part, 1, &wishes, &cited), OK);
    assert_string_equal(cited.citations[0].url, "https://a.example/x");
    assert_false(cited.citations[0].outdated);
    wishes.start_date = "2026-11-02";
    assert_int_equal(citations_make(*state, &part, 1, &wishes, &cited), OK);
    assert_string_equal(cited.citations[1].url, "https://a.example/x");
    assert_true(cited.citations[1].outdated);
    wishes.start_date = "2026-11-01";
    assert_int_equal(citations_make(*state, &part, 1, &wishes, &cited), OK);
    assert_false(cited.citations[0].outdated || cited.citations[1].outdated);
}

static void dates_are_read_where_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *date; /* NULL: none */
    } PUBLISHED[] = {
        {" (published 2026-11-14)", "2026-11-14"},
        {"(Published: 2026-11-14)", "2026-11-14"},
        {") (published 2026-11-14)", "2026-11-14"},
        {" was published 2026-11-14", NULL},
        {", published 2026-11-14T09:30Z.", "2026-11-14T09:30Z"},
        {" (published 2026-11-14T09:30:15+02:00)", "2026-11-14T09:30:15+02:00"},
        {" (published 2026-11-14 09:30Z)", "2026-11-14T09:30Z"},
        {" (published 2026-11-14T25:30Z)", "2026-11-14"},
        {" (published 2026-11-14T09:30)", "2026-11-14"},
        {" (published 2026-13-14)", NULL},
        {" (published 2026-02-30)", NULL},
        {" (published yesterday)", NULL},
        {" (published 2026)", NULL},
        {"", NULL},
    };
    static const struct {
        const char *url;
        const char *date;
    } URLS[] = {
        {"https://x.example/2026/11/14/title", "2026-11-14"},
        {"https://x.example/news/2026-11-14-title", "2026-11-14"},
        {"https://x.example/a_20261114_b", "2026-11-14"},
        {"https://x.example/2026/11/title", NULL},
        {"https://x.example/id/202611141", NULL},
        {"https://2026-11-14.example/", NULL},
        {"https://x.example/?d=/2026/11/14/", NULL},
        {"https://x.example/2026/11-14/", NULL},
        {"not a URL", NULL},
    };
    struct date date;
    for (size_t i = 0; i < COUNT(PUBLISHED); i++) {
        bool found = date_published(PUBLISHED[i].text, strlen(PUBLISHED[i].text), &date);
        assert_int_equal(found, PUBLISHED[i].date != NULL);
        if (found) {
            assert_string_equal(date.text, PUBLISHED[i].date);
        }
    }
    for (size_t i = 0; i < COUNT(URLS); i++) {
        bool found = date_in_url(URLS[i].url, &date);
        assert_int_equal(found, URLS[i].date != NULL);
        if (found) {
            assert_string_equal(date.text, URLS[i].date);
        }
    }
    assert_true(date_published("published 2026-11-14T10:00:00Z", 30, &date));
    assert_int_equal(date.latest, 1794736800 - 86400);
    assert_false(date_older(&date, 1794736800, 24));
    assert_true(date_older(&date, 1794736801, 24));
    assert_true(date_published("published 2026-11-14T12:00+02:00", 32, &date));
    assert_int_equal(date.latest, 1794736800 - 86400 + 59);
    assert_true(date_published("published 2026-11-14", 20, &date));
    assert_false(date_older(&date, 1794736800, 24)); /* some of that day is fresh */
}

/* ---- URL scrubbing ---- */

static void tracking_parameters_are_stripped(void **state)
{
    static const struct {
        const char *url;
        const char *stripped;
    } CASES[] = {
        {"https://x.example/a?utm_source=openai", "https://x.example/a"},
        {"https://x.example/a?utm_source=openai#part", "https://x.example/a#part"},
        {"https://x.example/a?id=7&utm_source=openai", "https://x.example/a?id=7"},
        {"https://x.example/a?utm_source=openai&id=7", "https://x.example/a?id=7"},
        {"https://x.example/a?b=1&utm_medium=x&utm_campaign=y&c=2", "https://x.example/a?b=1&c=2"},
        {"https://x.example/a?utm_term=1&b=1&utm_content=2&fbclid=3", "https://x.example/a?b=1"},
        {"https://x.example/a?utm_source=1&fbclid=2&gclid=3", "https://x.example/a"},
        {"https://x.example/a?UTM_Source=openai", "https://x.example/a"},
        {"https://x.example/a?ref=home", "https://x.example/a"},
        {"https://github.com/o/r/tree?ref=main", "https://github.com/o/r/tree?ref=main"},
        {"https://api.github.com/x?ref=main&utm_source=openai",
         "https://api.github.com/x?ref=main"},
        {"https://notgithub.com/x?ref=main", "https://notgithub.com/x"},
        {"https://www.youtube.com/watch?v=1&si=abc", "https://www.youtube.com/watch?v=1"},
        {"https://x.example/?si=abc", "https://x.example/?si=abc"},
        {"https://x.example/a?refer=1&myref=2", "https://x.example/a?refer=1&myref=2"},
        {"https://x.example/a?utm_source", "https://x.example/a"},
        {"https://x.example/a?", "https://x.example/a?"},
        {"https://x.example/a#?utm_source=1", "https://x.example/a#?utm_source=1"},
        {"https://x.example/utm_source=openai", "https://x.example/utm_source=openai"},
        {"https://x.example/a?q=%C3%A4&utm_source=openai", "https://x.example/a?q=%C3%A4"},
        {"https://u:p@github.com:8080/x?ref=1", "https://u:p@github.com:8080/x?ref=1"},
        {"nothing", "nothing"},
        {"?utm_source=1", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(tracking_strip(*state, CASES[i].url), CASES[i].stripped);
    }
}

static void tracking_parameters_are_stripped_from_text(void **state)
{
    static const struct {
        const char *text;
        const char *clean;
    } CASES[] = {
        {"See ([x](https://x.example/a?utm_source=openai)).", "See ([x](https://x.example/a))."},
        {"https://x.example/a?utm_source=openai. Next", "https://x.example/a. Next"},
        {"<https://x.example/?a=1&utm_source=openai>", "<https://x.example/?a=1>"},
        {"HTTP://X.example/?fbclid=1 b", "HTTP://X.example/ b"},
        {"\u300chttps://x.example/?utm_source=openai\u300d", "\u300chttps://x.example/\u300d"},
        {"[w](https://en.wikipedia.org/wiki/A_(b)?utm_source=openai)",
         "[w](https://en.wikipedia.org/wiki/A_(b))"},
        {"ftp://x.example/?utm_source=1", "ftp://x.example/?utm_source=1"},
        {"utm_source=openai alone", "utm_source=openai alone"},
        {"://?utm_source=1", "://?utm_source=1"},
        {"https://", "https://"},
        {"http://a.example/?gclid=1 http://b.example/?gclid=2 http://c.example/?gclid=3 "
         "http://d.example/?gclid=4 http://e.example/?gclid=5 http://f.example/?gclid=6",
         "http://a.example/ http://b.example/ http://c.example/ "
         "http://d.example/ http://e.example/ http://f.example/"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct cuts cuts;
        size_t left;
        size_t length = strlen(CASES[i].text);
        assert_int_equal(tracking_find(*state, CASES[i].text, length, &cuts), OK);
        const char *clean = cuts_apply(*state, CASES[i].text, length, &cuts, &left);
        assert_string_equal(clean, CASES[i].clean);
        assert_int_equal(left, strlen(clean));
        assert_int_equal(cuts_map(&cuts, length), left);
    }
}

UNIT_TEST(citations)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ruler_finds_every_position, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_script_in_any_unit_gives_the_right_snippet, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_snippet_is_the_sentence_that_is_supported, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_long_sentence_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(markers_are_found_by_their_url, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_that_is_the_last_character, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_may_cover_claims_instead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_never_leaves_the_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_messages_are_joined_and_positions_shifted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_source_is_cited_once_and_at_most_so_many, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_citation_of_a_page_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outdated_sources_come_last_and_are_marked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(dates_are_read_where_they_stand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tracking_parameters_are_stripped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tracking_parameters_are_stripped_from_text, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
