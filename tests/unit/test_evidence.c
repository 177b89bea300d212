/* Evidence: how quotes are looked for, the pages that are kept, reports with footnotes, and places
 * that contradict each other. */
#include "unit.h"

#include "arena_fixture.h"
#include "core/clock.h"
#include "core/limits.h"
#include "evidence/evidence.h"
#include "evidence/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT  EVIDENCE_EXACT
#define NEAR   EVIDENCE_NEAR
#define ABSENT EVIDENCE_ABSENT

/* ---- a slow and obvious matcher ---- */

#define WORDS_OF_PAGE 60
#define MOST_QUOTED   45

/* Plain words, and such as must be the same: a name, a number, an order. */
static const char *const VOCABULARY[] = {"stone", "water",  "garden", "window", "paper", "Ouse",
                                         "1642",  "before", "bread",  "cloud",  "table", "music"};
#define FIXED(word) ((word) >= 5 && (word) <= 7)

/* The fewest words that must be exchanged, added or left out, where none of them is fixed. */
static unsigned slow_distance(const int *quote, size_t count, const int *page, size_t length)
{
    const unsigned never = 1000;
    unsigned rows[2][WORDS_OF_PAGE + 1] = {{0}};
    for (size_t i = 1; i <= count; i++) {
        unsigned *above = rows[(i - 1) % 2], *row = rows[i % 2];
        row[0] = FIXED(quote[i - 1]) ? never : above[0] + 1;
        for (size_t j = 1; j <= length; j++) {
            bool same = quote[i - 1] == page[j - 1];
            bool mine = FIXED(quote[i - 1]), theirs = FIXED(page[j - 1]);
            unsigned best = same ? above[j - 1] : mine || theirs ? never : above[j - 1] + 1;
            best = !mine && above[j] + 1 < best ? above[j] + 1 : best;
            best = !theirs && row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best < never ? best : never;
        }
    }
    unsigned best = never;
    for (size_t j = 0; j <= length; j++) {
        best = rows[count % 2][j] < best ? rows[count % 2][j] : best;
    }
    return best;
}

static unsigned seed_of_tests(void)
{
    const char *given = getenv("FORAGE_TEST_SEED");
    return given ? (unsigned)strtoul(given, NULL, 10) : 19;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void put_words(char *out, size_t size, const int *words, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", VOCABULARY[words[i]]);
    }
}

static void the_slow_matcher_agrees(void **state)
{
    (void)state;
    uint32_t seed = seed_of_tests() * 2654435761u + 1;
    size_t grades[EVIDENCE_GRADES] = {0};
    for (int round = 0; round < 20000; round++) {
        int page[WORDS_OF_PAGE], quote[MOST_QUOTED + 8];
        char text[1024], words[1024];
        size_t kinds = 3 + next_random(&seed) % (COUNT(VOCABULARY) - 2);
        for (size_t i = 0; i < WORDS_OF_PAGE; i++) {
            page[i] = (int)(next_random(&seed) % kinds);
        }
        size_t count = 7 + next_random(&seed) % (MOST_QUOTED - 7); /* at least four are left */
        size_t from = next_random(&seed) % (WORDS_OF_PAGE - count);
        memcpy(quote, page + from, count * sizeof *quote);
        for (size_t edits = next_random(&seed) % 4; edits; edits--) {
            size_t at = next_random(&seed) % count;
            int word = (int)(next_random(&seed) % COUNT(VOCABULARY));
            switch (next_random(&seed) % 3) {
            case 0:
                quote[at] = word;
                break;
            case 1:
                memmove(quote + at, quote + at + 1, (count - at - 1) * sizeof *quote);
                count--;
                break;
            default:
                memmove(quote + at + 1, quote + at, (count - at) * sizeof *quote);
                quote[at] = word;
                count++;
            }
        }
        put_words(text, sizeof text, page, WORDS_OF_PAGE);
        put_words(words, sizeof words, quote, count);
        unsigned distance = slow_distance(quote, count, page, WORDS_OF_PAGE);
        enum evidence_grade expected = distance == 0             ? EVIDENCE_EXACT
                                       : distance <= count / 20u ? EVIDENCE_NEAR
                                                                 : EVIDENCE_ABSENT;
        struct found_quote found;
        size_t work = LIMIT_EVIDENCE_WORK;
        assert_int_equal(find_quote(text, strlen(text), words, &work, &found), OK);
        if (found.grade != expected) {
            fail_msg("round %d: %s, not %s (%u of %zu)\n%s\n%s", round,
                     evidence_grade_name(found.grade), evidence_grade_name(expected), distance,
                     count, text, words);
        }
        grades[found.grade]++;
    }
    assert_true(grades[EXACT] > 1000 && grades[NEAR] > 500 && grades[ABSENT] > 1000);
}

/* ---- hostile inputs ---- */

static char *repeated(const char *piece, size_t length)
{
    size_t own = strlen(piece);
    char *text = malloc(length + own + 1);
    assert_non_null(text);
    for (size_t at = 0; at < length; at += own) {
        memcpy(text + at, piece, own);
    }
    text[length] = '\0';
    return text;
}

/* No test fails on time; one that takes minutes would be seen. */
static void hostile_inputs_come_to_an_end(void **state)
{
    (void)state;
    static const char *const PIECES[] = {
        "a ",     "a b ",   "](",     "[](", "- ",        "> ",        "# ",  "!?",
        "**a",    "a-",     "`",      "\\",  ".\"",       "a\xC2\xAD", "[1]", "&amp;",
        "1.",     "((",     "<br>",   "\n",  "|",         "~~~\n",     "...", "a\xCC\x81\xCC\xA7",
        "2<sub>", "2<sup>", "1 250 ", "1\n", "*\xC2\xB2", "~5",        "5'",  "1\n>>> "};
    for (size_t i = 0; i < COUNT(PIECES); i++) {
        char *page = repeated(PIECES[i], i < 2 ? 5000000 - 32 : 500000);
        char *quote = repeated(PIECES[i], 10000);
        struct found_quote found;
        size_t work = LIMIT_EVIDENCE_WORK;
        for (size_t at = 100; at + 100 < 10000; at += 900) {
            memcpy(quote + at, " Xyzzy ", 7); /* a name that the page does not have */
        }
        quote[9990] = '\0';
        assert_int_equal(find_quote(page, strlen(page), quote, &work, &found), OK);
        assert_int_equal(found.grade, EVIDENCE_ABSENT);
        free(page);
        free(quote);
    }
}

/* ---- pages ---- */

static void pages_are_kept_once(void **state)
{
    (void)state;
    struct evidence *evidence = evidence_new(arena);
    size_t first =
        evidence_add_page(evidence, "https://www.a.test/x?utm_source=y#f", "", "One.", 5);
    assert_int_equal(first, 1);
    assert_int_equal(evidence_add_page(evidence, "http://a.test/x/", "T", "One.", 6), 1);
    assert_string_equal(evidence_page(evidence, 1)->text, "One.");
    assert_string_equal(evidence_page(evidence, 1)->title, "T");
    assert_int_equal(evidence_page(evidence, 1)->read_ms, 5);
    assert_int_equal(evidence_add_page(evidence, "http://a.test/x/", "", "Two words here.", 7), 1);
    assert_string_equal(evidence_page(evidence, 1)->text, "One." EVIDENCE_SEAM "Two words here.");
    assert_int_equal(evidence_add_unseen(evidence, "https://b.test/", "B"), 2);
    assert_null(evidence_page(evidence, 2)->text);
    assert_int_equal(evidence_add_page(evidence, "https://b.test/", "", "Seen after all.", 8), 2);
    assert_non_null(evidence_page(evidence, 2)->text);
    evidence_also(evidence, 2, "https://c.test/moved");
    assert_int_equal(evidence_page_of(evidence, "http://c.test/moved/"), 2);
    assert_int_equal(evidence_page_of(evidence, "http://d.test/"), 0);
    assert_int_equal(evidence_page_count(evidence), 2);
    assert_null(evidence_page(evidence, 0));
    assert_null(evidence_page(evidence, 3));
    /* sha256 of "Seen after all." begins so. */
    assert_int_equal(evidence_page(evidence, 2)->digest[0], 0x9B);
}

/* What was not read together is not said together, however it is quoted. */
static void no_quote_goes_over_a_seam(void **state)
{
    (void)state;
    struct evidence *evidence = evidence_new(arena);
    evidence_add_page(evidence, "https://a.test/", "", "The committee of the town is", 0);
    evidence_add_page(evidence, "https://a.test/", "", "guilty of all these crimes.", 0);
    static const struct {
        const char *quote;
        enum evidence_grade grade;
    } ROWS[] = {
        {"The committee of the town is", EXACT},
        {"guilty of all these crimes", EXACT},
        {"the town is guilty of all these crimes", ABSENT},
        {"the town is, guilty of all these crimes", ABSENT},
        {"the town is \x1E guilty of all these crimes", ABSENT},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        size_t note = evidence_add_note(evidence, "", ROWS[i].quote, 1);
        assert_int_equal(evidence_note(evidence, note)->grade, ROWS[i].grade);
    }
}

/* A page of many parts costs what its parts have together. */
static void parts_are_charged_once(void **state)
{
    (void)state;
    struct arena *large = arena_new(MIB(64));
    struct evidence *evidence = evidence_new(large);
    for (int i = 0; i < 400; i++) {
        char text[8192];
        memset(text, 'a' + i % 26, sizeof text);
        snprintf(text + sizeof text - 64, 64, " part number %d of this long page.", i);
        assert_int_equal(evidence_add_page(evidence, "https://a.test/", "", text, 0), 1);
    }
    size_t note = evidence_add_note(evidence, "", "part number 399 of this long page", 1);
    assert_int_equal(evidence_note(evidence, note)->grade, EVIDENCE_EXACT);
    arena_free(large);
}

static void pages_have_ceilings(void **state)
{
    (void)state;
    struct arena *large = arena_new(MIB(64));
    struct evidence *evidence = evidence_new(large);
    char *page = repeated("word ", LIMIT_EVIDENCE_PAGE_BYTES + 5);
    size_t source = evidence_add_page(evidence, "https://a.test/", "", page, 0);
    assert_true(source && !evidence_page(evidence, source)->text);
    size_t note = evidence_add_note(evidence, "", "word word word", source);
    assert_int_equal(evidence_note(evidence, note)->grade, EVIDENCE_UNSEEN);
    for (int i = 0; i < LIMIT_EVIDENCE_PAGES + 10; i++) {
        char url[64];
        snprintf(url, sizeof url, "https://a.test/%d", i);
        evidence_add_unseen(evidence, url, NULL);
    }
    assert_int_equal(evidence_page_count(evidence), LIMIT_EVIDENCE_PAGES);
    for (int i = 0; i < LIMIT_EVIDENCE_NOTES + 10; i++) {
        char claim[32];
        snprintf(claim, sizeof claim, "claim %d", i);
        evidence_add_note(evidence, claim, "", 2);
    }
    assert_int_equal(evidence_note_count(evidence), LIMIT_EVIDENCE_NOTES);
    free(page);
    arena_free(large);
}

/* ---- reports ---- */

#define READ "2023-11-14T22:13:20.000Z"

static struct evidence *two_pages(void)
{
    struct evidence *evidence = evidence_new(arena);
    evidence_add_page(evidence, "https://a.test/x", "A [t](http://evil.test) <b>",
                      "Lake Baikal is 1,642 metres deep. It is old.", 1700000000000);
    evidence_add_page(evidence, "https://b.test/", "", "Other words, which nobody reads.",
                      1700000000000);
    evidence_add_unseen(evidence, "https://c.test/", "C");
    evidence_add_note(evidence, "deep", "Lake Baikal is 1,642 metres deep", 1); /* 1: exact */
    evidence_add_note(evidence, "deep", "Lake Baikal is 1,700 metres deep", 1); /* 2: absent */
    evidence_add_note(evidence, "words", "Other words which nobody reads", 2);  /* 3: near */
    evidence_add_note(evidence, "unknown", "Whatever it may say", 3);           /* 4: unseen */
    return evidence;
}

#define NOTE_1                                                                                     \
    "“Lake Baikal is 1,642 metres deep” A \\[t\\](http\\://evil.test) \\<b\\>, "               \
    "<https://a.test/x>, read " READ " (exact)\n"
#define NOTE_3 "“Other words, which nobody reads” <https://b.test/>, read " READ " (near)\n"

static void reports_get_footnotes(void **state)
{
    (void)state;
    static const struct {
        const char *report, *markdown;
        size_t claims, absent;
    } ROWS[] = {
        {"", "", 0, 0},
        {"Nothing is cited.", "Nothing is cited.", 0, 0},
        {"It is deep [1].", "It is deep [^1].\n\n[^1]: " NOTE_1, 1, 0},
        {"It is deep [1]. And [1].", "It is deep [^1]. And [^1].\n\n[^1]: " NOTE_1, 1, 0},
        {"Words [3], deep [1].", "Words [^1], deep [^2].\n\n[^1]: " NOTE_3 "[^2]: " NOTE_1, 2, 0},
        {"Both [1, 3].", "Both [^1][^2].\n\n[^1]: " NOTE_1 "[^2]: " NOTE_3, 2, 0},
        {"Both [1][3].", "Both [^1][^2].\n\n[^1]: " NOTE_1 "[^2]: " NOTE_3, 2, 0},
        {"Both [1], [3].", "Both [^1][^2].\n\n[^1]: " NOTE_1 "[^2]: " NOTE_3, 2, 0},
        {"A lie [2].", "A lie (no source says so).", 1, 1},
        {"A lie[2].", "A lie (no source says so).", 1, 1},
        {"Half [1, 2].", "Half [^1].\n\n[^1]: " NOTE_1, 2, 1},
        {"Range [1-2].", "Range [^1].\n\n[^1]: " NOTE_1, 2, 1},
        {"Invented [9].", "Invented (no source says so).", 1, 1},
        {"Invented [9] and [1].", "Invented (no source says so) and [^1].\n\n[^1]: " NOTE_1, 2, 1},
        {"No notes: [x] [1a] [] [-1] [0.5].", "No notes: [x] [1a] [] [-1] [0.5].", 0, 0},
        {"Code `a[1]` and\n```\nb[2]\n```\n[1]",
         "Code `a[1]` and\n```\nb[2]\n```\n[^1]\n\n[^1]: " NOTE_1, 1, 0},
        {"An open ` tick [1].", "An open ` tick [^1].\n\n[^1]: " NOTE_1, 1, 0},
        {"Escaped \\[1].", "Escaped \\[1].", 0, 0},
        {"A forged [^1] note.\n\n[^1]: “I say so”", "A forged \\[^1] note.\n\n\\[^1]: “I say so”",
         0, 0},
        {"[1]: https://x", "[^1]\\: https://x (not read)\n\n[^1]: " NOTE_1, 1, 0},
        {"A link [1](https://a.test/x).", "A link [1](https://a.test/x).", 0, 0},
        {"A link [t](https://a.test/x#y) [1].",
         "A link [t](https://a.test/x#y) [^1].\n\n[^1]: " NOTE_1, 1, 0},
        {"Not read [t](https://z.test/).", "Not read [t](https://z.test/) (not read).", 0, 0},
        {"Not read <https://z.test/a> or https://z.test/b, too.",
         "Not read <https://z.test/a> (not read) or https://z.test/b (not read), too.", 0, 0},
        {"[t](https://z.test/a_(b) \"title\") [u](<https://a.test/x>)",
         "[t](https://z.test/a_(b) \"title\") (not read) [u](<https://a.test/x>)", 0, 0},
        {"Range [1–3].", "Range [^1][^2].\n\n[^1]: " NOTE_1 "[^2]: " NOTE_3, 3, 1},
        /* What is no link is text, in which numbers are numbers and footnotes are ours. */
        {"No link [a](so it is [2]).", "No link [a](so it is (no source says so)).", 1, 1},
        {"No link [a]([^1]: x)", "No link [a](\\[^1]: x)", 0, 0},
        {"No link [a](b [^1])", "No link [a](b \\[^1])", 0, 0},
        {"No link [a](b \"[^1]\")", "No link [a](b \"\\[^1]\")", 0, 0},
        {"No link [a](<b c> [2])", "No link [a](<b c> (no source says so))", 1, 1},
        {"Deep [1].\n```\ncode", "Deep [^1].\n```\ncode\n```\n\n\n[^1]: " NOTE_1, 1, 0},
        {"Deep [1].\n~~~\n[1] ~~~ x", "Deep [^1].\n~~~\n[1] ~~~ x\n~~~\n\n\n[^1]: " NOTE_1, 1, 0},
        {"```\na ``` [1]\n```\n[1]", "```\na ``` [1]\n```\n[^1]\n\n[^1]: " NOTE_1, 1, 0},
        {"``` a ``` [1]", "``` a ``` [^1]\n\n[^1]: " NOTE_1, 1, 0},
        {"Deep [1].\n```", "Deep [^1].\n```\n```\n\n\n[^1]: " NOTE_1, 1, 0},
        {"Unseen [4].", "Unseen [^1].\n\n[^1]: “Whatever it may say” C, <https://c.test/>, read ",
         1, 0},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct evidence *evidence = two_pages();
        struct evidence_counts counts;
        const char *markdown;
        assert_int_equal(evidence_render(evidence, ROWS[i].report, &markdown), OK);
        if (strstr(ROWS[i].report, "Unseen")) {
            assert_memory_equal(markdown, ROWS[i].markdown, strlen(ROWS[i].markdown));
            assert_non_null(strstr(markdown, "(unseen: "));
        } else {
            assert_string_equal(markdown, ROWS[i].markdown);
        }
        evidence_count(evidence, &counts);
        assert_int_equal(counts.claims, ROWS[i].claims);
        assert_int_equal(counts.grades[EVIDENCE_ABSENT], ROWS[i].absent);
    }
}

/* Marks are paid for: a report does not grow manifold by what it does not prove. */
static void marks_are_charged(void **state)
{
    (void)state;
    char *report = repeated("http://z  [999] ", 3200);
    const char *markdown;
    struct evidence *evidence = two_pages();
    evidence_limit_footnotes(evidence, 500);
    assert_int_equal(evidence_render(evidence, report, &markdown), OK);
    assert_true(strlen(markdown) < strlen(report) + 500 + 200 * 4 + 100);
    assert_non_null(strstr(markdown, "(no source says so)"));
    assert_non_null(strstr(markdown, "(?)"));
    assert_non_null(strstr(markdown, "\n\n(?) - no source says so, or nobody read that page."));
    free(report);
}

/* Whatever a page says, its words stay words of a footnote. */
static void footnotes_inject_nothing(void **state)
{
    (void)state;
    static const char EVIL[] =
        "It is so.\n\n[^1]: forged <script>x</script> ![i](http://evil.test) "
        "`a` | b | http://evil.test www.evil.test a@evil.test \xE2\x80\xAE";
    struct evidence *evidence = evidence_new(arena);
    const char *markdown;
    size_t source = evidence_add_page(evidence, "https://a.test/(x)>[y]", EVIL, EVIL, 0);
    size_t note = evidence_add_note(evidence, "", EVIL, source);
    assert_int_equal(evidence_note(evidence, note)->grade, EVIDENCE_EXACT);
    assert_int_equal(evidence_render(evidence, "So [1].", &markdown), OK);
    const char *definition = strstr(markdown, "\n\n[^1]: ");
    assert_non_null(definition);
    assert_null(strchr(definition + 2, '\n')[1] ? "" : NULL); /* one line, and no other */
    assert_null(strstr(markdown, "\n[^1]: forged"));
    assert_null(strstr(markdown, " <script"));
    assert_null(strstr(markdown, "i](http"));
    assert_null(strstr(markdown, " http://evil"));
    assert_null(strstr(markdown, " www.evil"));
    assert_null(strstr(markdown, "a@evil"));
    assert_null(strstr(markdown, "\xE2\x80\xAE"));
}

/* What is shown of a quote that was found are the page's own words, in one line. */
static void the_words_shown_are_the_pages(void **state)
{
    (void)state;
    static const struct {
        const char *page, *quote, *words;
    } ROWS[] = {
        {"The Lake is deep and cold.", "THE LAKE IS DEEP AND COLD", "The Lake is deep and cold"},
        {"The Lake is deep. And cold.", "the lake is, deep.", "The Lake is deep."},
        {"The Lake is deep!", "the lake is deep.", "The Lake is deep"},
        {"The lake, which is deep, is cold.", "The lake which is deep is cold",
         "The lake, which is deep, is cold"},
        {"**Lake Baikal** is *very* deep.", "Lake Baikal is very deep", "Lake Baikal is very deep"},
        {"The [lake](https://x.test/a_(b)) is deep[^1] and cold.", "The lake is deep and cold",
         "The lake is deep and cold"},
        {"See the [deep and cold lake of the north](https://x.test/).", "the deep and cold lake",
         "the deep and cold lake"},
        {"> The lake is deep\n> and   cold.", "The lake is deep and cold",
         "The lake is deep and cold"},
        {"The CO<sub>2</sub> is 10<sup>6</sup> units.", "The CO2 is 10⁶ units",
         "The CO₂ is 10⁶ units"},
        {"The f(a\\_b) is 2 * a[i] here.", "f(a_b) is 2 * a[i] here", "f(a_b) is 2 * a[i] here"},
        {"The lake is deep.", "The lake is shallow and warm", "The lake is shallow and warm"},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct evidence *evidence = evidence_new(arena);
        evidence_add_page(evidence, "https://a.test/", "", ROWS[i].page, 0);
        size_t number = evidence_add_note(evidence, "c", ROWS[i].quote, 1);
        assert_string_equal(evidence_note(evidence, number)->words, ROWS[i].words);
    }
}

static void links_are_claims_of_workers(void **state)
{
    (void)state;
    struct evidence *evidence = two_pages();
    struct evidence_counts counts;
    const char *markdown;
    assert_int_equal(
        evidence_render_links(evidence,
                              "Deep [A](https://a.test/x) [1]. Seen [C](https://c.test/)."
                              " Never [Z](https://z.test/). Again https://z.test/.",
                              &markdown),
        OK);
    evidence_count(evidence, &counts);
    /* One by its number. The others have no quote, though another note is of C: two places that
     * link to a page that nobody read, and one that links to C. */
    assert_int_equal(counts.claims, 4);
    assert_int_equal(counts.grades[EVIDENCE_EXACT], 1);
    assert_int_equal(counts.grades[EVIDENCE_UNSEEN], 1);
    assert_int_equal(counts.grades[EVIDENCE_ABSENT], 2);
    assert_string_equal(evidence_note(evidence, 5)->claim, "Seen");
    assert_string_equal(evidence_note(evidence, 6)->claim, "Never");
    assert_string_equal(evidence_note(evidence, 6)->url, "https://z.test/");
    /* Where there are no quotes, numbers are the worker's own. */
    evidence = evidence_new(arena);
    evidence_add_unseen(evidence, "https://c.test/", "C");
    evidence_add_page(evidence, "https://a.test/", "A", "Some words.", 0);
    assert_int_equal(evidence_render_links(
                         evidence, "X [1] https://c.test/ and [A](https://a.test).", &markdown),
                     OK);
    assert_string_equal(markdown, "X [1] https://c.test/ and [A](https://a.test).");
    evidence_count(evidence, &counts);
    assert_int_equal(counts.grades[EVIDENCE_UNSEEN], 1);
    assert_int_equal(counts.grades[EVIDENCE_ABSENT], 1);
}

static void a_link_without_its_quote_is_not_verified(void **state)
{
    (void)state;
    static const struct {
        const char *report;
        bool verified;
        size_t claims;
    } ROWS[] = {
        {"Deep [A](https://a.test/x) [1].", true, 1},
        {"Deep [A](https://a.test/x)[1].", true, 1},
        {"Deep ([A](https://a.test/x)) [3, 1].", true, 2},
        {"Deep **[A](https://a.test/x)**, [3][1].", true, 2},
        {"Deep [A](https://a.test/x) [1]. Old [A](https://a.test/x).", false, 2},
        {"Deep [A](https://a.test/x) [1]. Old [A](https://a.test/x) [3].", false, 3},
        {"Deep [A](https://a.test/x) [1]. Old [A](https://a.test/x). Old [A](https://a.test/x).",
         false, 2}, /* the same claim */
        {"Deep [A](https://a.test/x) [1]. Old https://a.test/x. A note [5].", false, 3},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct evidence *evidence = two_pages();
        struct evidence_counts counts;
        const char *markdown;
        assert_int_equal(evidence_render_links(evidence, ROWS[i].report, &markdown), OK);
        evidence_count(evidence, &counts);
        assert_int_equal(counts.claims, ROWS[i].claims);
        assert_int_equal(evidence_verified(evidence), ROWS[i].verified);
    }
    struct evidence *evidence = two_pages(); /* no room for a note of the link */
    struct evidence_counts counts;
    const char *markdown;
    while (evidence_note_count(evidence) < LIMIT_EVIDENCE_NOTES) {
        evidence_add_note_at(evidence, "", "", "");
    }
    assert_int_equal(
        evidence_render_links(evidence, "Deep [1]. Old [A](https://a.test/x).", &markdown), OK);
    evidence_count(evidence, &counts);
    assert_int_equal(counts.claims, 2);
    assert_false(evidence_verified(evidence));
}

static void verified_is_computed(void **state)
{
    (void)state;
    static const struct {
        const char *report;
        bool verified;
    } ROWS[] = {
        {"Nothing.", false},
        {"Deep [1].", true},
        {"Deep [1], words [3].", true},
        {"Deep [1], a lie [2].", false},
        {"Deep [1, 2].", false},
        {"Deep [1], unseen [4].", false},
        {"Deep [1], made up [7].", false},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct evidence *evidence = two_pages();
        const char *markdown;
        assert_int_equal(evidence_render(evidence, ROWS[i].report, &markdown), OK);
        assert_int_equal(evidence_verified(evidence), ROWS[i].verified);
    }
    struct evidence *evidence = evidence_new(arena); /* one host is not two */
    const char *markdown;
    evidence_add_page(evidence, "https://a.test/1", "", "Lake Baikal is deep.", 0);
    evidence_add_page(evidence, "https://a.test/2", "", "Lake Baikal is deep.", 0);
    evidence_add_note(evidence, "", "Lake Baikal is deep", 1);
    assert_int_equal(evidence_render(evidence, "[1]", &markdown), OK);
    assert_false(evidence_verified(evidence));
    /* Nor is one whose text nobody has, one without words, or the same one by another name. */
    evidence_add_unseen(evidence, "https://b.test/", "");
    evidence_add_page(evidence, "https://c.test/", "", " \n", 0);
    evidence_add_page(evidence, "https://www.a.test/3", "", "Lake Baikal is deep.", 0);
    assert_false(evidence_verified(evidence));
    evidence_add_page(evidence, "https://b.test/", "", "Seen after all.", 0);
    assert_true(evidence_verified(evidence));
}

/* ---- contradictions ---- */

static size_t conflicts_of(const char *one, const char *other, const char *quote,
                           const struct evidence_conflict **conflicts)
{
    struct evidence *evidence = evidence_new(arena);
    size_t count;
    evidence_add_page(evidence, "https://a.test/", "", one, 0);
    evidence_add_page(evidence, "https://b.test/", "", other, 0);
    size_t note = evidence_add_note(evidence, "c", quote, 1);
    assert_int_not_equal(evidence_note(evidence, note)->grade, EVIDENCE_ABSENT);
    *conflicts = evidence_conflicts(evidence, &count);
    return count;
}

static void contradictions_are_listed(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        bool contradict;
    } ROWS[] = {
        {"He was born in 1946.", "He was born in 1947.", true},
        {"He was born in 1946.", "He was born in 1946.", false},
        {"He was born in 1946.", "He was *born* in 1946!", false},
        {"He was born in Paris in 1946.", "He was born in Lyon in 1946.", true},
        {"The drug is safe for children.", "The drug is not safe for children.", true},
        {"The drug isn't safe for children.", "The drug is safe for children.", true},
        {"The film was directed by Ann Lee.", "The film was directed by Ann Low.", true},
        {"The film was directed by her uncle.", "The film was produced by her uncle.", true},
        {"The prices rose by 5 % in May.", "The prices rose by 6 % in May.", true},
        {"The prices rose by 5 % in May.", "The prices fell by 5 % in May.", true},
        {"The colour of the lake is deep blue.", "The color of the lake is deep blue.", false},
        {"The lake of the town is deep.", "The lake of this town is deep.", false},
        {"It is a lake that is deep and cold.", "It is a lake which is deep and cold.", false},
        {"The lake is deep and cold in June.", "A quite different sentence stands here.", false},
        {"The lake is deep.", "The lake is deep and has 42 sorts of fish.", false},
        {"1 2 3 4 5 6 metres.", "1 2 3 4 5 7 metres.", false}, /* rows of numbers */
        {"贝加尔湖深1642米。", "贝加尔湖深1700米。", true},
        {"贝加尔湖是最深的湖。", "贝加尔湖是最浅的湖。", true},
        {"Das Kind war nicht krank genug.", "Das Kind war krank genug.", true},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        const struct evidence_conflict *conflicts;
        char page[400], lie[400];
        snprintf(page, sizeof page, "# Head\n\nIt begins so. %s It goes on.\n", ROWS[i].one);
        snprintf(lie, sizeof lie, "Another page. %s\n\nAnd its end.", ROWS[i].other);
        size_t count = conflicts_of(page, lie, ROWS[i].one, &conflicts);
        if (count != (ROWS[i].contradict ? 1 : 0)) {
            fail_msg("%zu: %s <> %s", count, ROWS[i].one, ROWS[i].other);
        }
    }
}

/* A lie is a copy with one word changed, whichever word that is. */
static void every_planted_lie_is_listed(void **state)
{
    (void)state;
    static const char *const WORDS_OF[] = {"The",      "bridge", "was",      "built", "by",
                                           "Isambard", "Brunel", "in",       "1864",  "and",
                                           "has",      "been",   "repaired", "three", "times",
                                           "without",  "any",    "public",   "money"};
    static const char *const LIES[] = {"zebra", "1999", "Quentin"};
    char page[400] = "", lie[400];
    for (size_t i = 0; i < COUNT(WORDS_OF); i++) {
        snprintf(page + strlen(page), sizeof page - strlen(page), "%s%s", i ? " " : "",
                 WORDS_OF[i]);
    }
    for (size_t i = 0; i < COUNT(WORDS_OF) * COUNT(LIES); i++) {
        const struct evidence_conflict *conflicts;
        lie[0] = '\0';
        for (size_t j = 0; j < COUNT(WORDS_OF); j++) {
            snprintf(lie + strlen(lie), sizeof lie - strlen(lie), "%s%s", j ? " " : "",
                     j == i / COUNT(LIES) ? LIES[i % COUNT(LIES)] : WORDS_OF[j]);
        }
        if (conflicts_of(page, lie, page, &conflicts) != 1) {
            fail_msg("%s", lie);
        }
        assert_string_equal(conflicts[0].quote[0], page);
        assert_string_equal(conflicts[0].quote[1], lie);
        assert_int_equal(conflicts[0].source[0], 1);
        assert_int_equal(conflicts[0].source[1], 2);
    }
}

/* The sentence around a quote is compared, each pair once, and no more than the ceiling. */
static void contradictions_are_bounded(void **state)
{
    (void)state;
    struct evidence *evidence = evidence_new(arena);
    size_t count;
    for (int i = 0; i < 80; i++) {
        char url[64], text[128];
        snprintf(url, sizeof url, "https://h%d.test/", i);
        snprintf(text, sizeof text, "At the end the lake is %d metres deep, they say.", 100 + i);
        evidence_add_page(evidence, url, "", text, 0);
        char quote[64];
        snprintf(quote, sizeof quote, "lake is %d metres deep", 100 + i);
        assert_int_not_equal(evidence_add_note(evidence, "", quote, (size_t)i + 1), 0);
    }
    const struct evidence_conflict *first = evidence_conflicts(evidence, &count);
    assert_int_equal(count, LIMIT_EVIDENCE_CONFLICTS);
    assert_ptr_equal(evidence_conflicts(evidence, &count), first);
    for (size_t i = 0; i < count; i++) {
        assert_true(first[i].source[0] != first[i].source[1]);
    }
}

UNIT_TEST(evidence)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slow_matcher_agrees),
        cmocka_unit_test(hostile_inputs_come_to_an_end),
        cmocka_unit_test_setup_teardown(pages_are_kept_once, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(no_quote_goes_over_a_seam, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(parts_are_charged_once, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(pages_have_ceilings, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reports_get_footnotes, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(marks_are_charged, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(footnotes_inject_nothing, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(the_words_shown_are_the_pages, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(links_are_claims_of_workers, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(a_link_without_its_quote_is_not_verified, make_arena,
                                        free_arena),
        cmocka_unit_test_setup_teardown(verified_is_computed, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(contradictions_are_listed, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(every_planted_lie_is_listed, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(contradictions_are_bounded, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
