/* Full text in every script: what must be found, what must not, and how a hit is shown. Each text
 * is a memory of its own; a question names the words and the texts that hold them. */
#include "core/status.h"
#include "index/fulltext.h"
#include "index/index.h"
#include "memory/excerpt.h"
#include "unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const TEXTS[] = {
    "我们讨论了数据库连接池的配置。",                                    /* 1: Chinese */
    "データベースの設定を変更しました。",                                /* 2: Japanese */
    "데이터베이스 설정을 변경했습니다",                                  /* 3: Korean */
    "การตั้งค่าฐานข้อมูลเสร็จแล้ว",                                             /* 4: Thai */
    "تم تغيير إعدادات قاعدة البيانات في المدرسة",                        /* 5: Arabic */
    "Die Krankenversicherung ist für die Mitarbeiter und nicht für uns", /* 6: a compound */
    "La réunion de l'équipe est à l'école et nous ne sommes pas là",     /* 7: French */
    "Call getUserName from user_profile_cache in /srv/app/config.yaml",  /* 8: code */
    "The connection pool was exhausted; connections failed.",            /* 9 */
    "The pool party was in March, no connection to work.",               /* 10 */
    "<b>Bold</b> & \"quoted\" migration notes",                          /* 11 */
};

static struct index *index_under_test;
static struct arena *arena;

static int start(void **state)
{
    (void)state;
    index_under_test = index_new();
    arena = arena_new((size_t)64 << 20);
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct index_entry entry = {.id = (int64_t)i + 1, .summary = "", .text = TEXTS[i]};
        assert_int_equal(index_put(index_under_test, &entry), OK);
    }
    assert_int_equal(index_settle(index_under_test), OK);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    index_free(index_under_test);
    arena_free(arena);
    return 0;
}

/* Keywords are divided by "|". */
static size_t divide(char *text, const char **keywords)
{
    size_t count = 0;
    for (char *at = text; at;) {
        keywords[count++] = at;
        at = strchr(at, '|');
        if (at) {
            *at++ = '\0';
        }
    }
    return count;
}

/* The texts that hold them, in their order, with spaces between. */
static const char *ask(const char *keywords_text, bool all)
{
    static char ids[256];
    char copy[256];
    const char *keywords[16];
    struct fulltext question;
    struct index_hit *hits;
    bool found[COUNT(TEXTS) + 1] = {false};
    size_t count;
    snprintf(copy, sizeof copy, "%s", keywords_text);
    int status = fulltext_read(&question, arena, keywords, divide(copy, keywords), all);
    if (status != OK) {
        return status == ERR_INVALID ? "nothing to look for" : "error";
    }
    assert_int_equal(index_fulltext(index_under_test, arena, &question, &(struct index_filter){0},
                                    &hits, &count),
                     OK);
    struct word_reader *reader = words_new();
    for (size_t i = 0; i < count; i++) {
        const char *text = TEXTS[hits[i].id - 1];
        bool matches = true;
        if (question.in_the_text) {
            assert_int_equal(fulltext_matches(&question, reader, arena, &text, 1, &matches), OK);
        }
        found[hits[i].id] = matches;
    }
    words_free(reader);
    ids[0] = '\0';
    for (size_t i = 1, length = 0; i <= COUNT(TEXTS); i++) {
        if (found[i]) {
            length +=
                (size_t)snprintf(ids + length, sizeof ids - length, "%s%zu", length ? " " : "", i);
        }
    }
    return ids;
}

static const struct {
    const char *keywords;
    bool all;
    const char *texts;
} QUESTIONS[] = {
    {"数据", false, "1"},
    {"连接", false, "1"},
    {"数据库", false, "1"},
    {"配置", false, "1"},
    {"接连", false, ""},     /* the same characters, another word */
    {"据库数据", false, ""}, /* the same pairs, elsewhere */
    {"ベータ", false, ""},
    {"池", false, "1"},
    {"データ", false, "2"},
    {"設定", false, "2"},
    {"ﾃﾞｰﾀﾍﾞｰｽ", false, "2"},
    {"데이터", false, "3"},
    {"설정", false, "3"},
    {"ข้อมูล", false, "4"},
    {"البيانات", false, "5"},
    {"مدرسه", false, "5"},
    {"مدرسة", false, "5"},
    {"Krankenversicherung", false, "6"},
    {"Versicherung", false, "6"},
    {"KRANKEN*", false, "6"},
    {"reunion", false, "7"},
    {"Réunions", false, "7"},
    {"ecole", false, "7"},
    {"equipe", false, "7"},
    {"getUserName", false, "8"},
    {"get_user_name", false, "8"},
    {"username", false, ""},
    {"user name", false, "8"},
    {"user_profile_cache", false, "8"},
    {"userProfileCache", false, "8"},
    {"profile", false, "8"},
    {"/srv/app/config.yaml", false, "8"},
    {"config.yaml", false, "8"},
    {"connection", false, "9 10"},
    {"connections|pool", true, "9 10"},
    {"\"connection pool\"", false, "9"},
    {"\"pool connection\"", false, ""},
    {"connection|-party", false, "9"},
    {"connection|-\"connection pool\"", false, "10"},
    {"connect*|-exhaust*", false, "10"},
    {"migr*", false, "11"},
    {"migrations", false, "11"},
    {"lunch|party", false, "10"},
    {"lunch|party", true, ""},
    {"数据库|pool", false, "1 9 10"},
    {"-connection", false, "nothing to look for"},
    {"|!!!", false, "nothing to look for"},
    {"\"\"", false, "nothing to look for"},
    {"*", false, "nothing to look for"},
};

static void finds_in_every_script(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(QUESTIONS); i++) {
        char line[320], wanted[320];
        snprintf(line, sizeof line, "%s: %s", QUESTIONS[i].keywords,
                 ask(QUESTIONS[i].keywords, QUESTIONS[i].all));
        snprintf(wanted, sizeof wanted, "%s: %s", QUESTIONS[i].keywords, QUESTIONS[i].texts);
        assert_string_equal(line, wanted);
    }
}

/* ---- phrases ---- */

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 33) % sides;
}

/* Some words of few, so that they often follow each other; without blanks where the script has
 * none. */
static void say(char *text, size_t size, uint32_t count)
{
    static const char *const WORDS[] = {"pool",
                                        "pools",
                                        "the",
                                        "connection",
                                        "connected",
                                        "getPool",
                                        "got_a",
                                        "l'eau",
                                        "it's",
                                        "Ankara'da",
                                        "1.5",
                                        "数据库",
                                        "数",
                                        "连接池",
                                        "データ",
                                        "die",
                                        "und",
                                        "Krankenkasse",
                                        "e\xCC\x81t\xC3\xA9"};
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        /* One after the other: compilers differ in which argument of a call they work out first. */
        const char *gap = dice(9) ? " " : dice(2) ? ". " : "";
        const char *word = WORDS[dice(COUNT(WORDS))];
        length += (size_t)snprintf(text + length, size - length, "%s%s", word, gap);
    }
}

struct note {
    char text[12000];
    char summary[200];
    char tag[40];
};

enum { NOTES = 400, PHRASES = 600 };

static bool really_holds(const struct fulltext *question, struct word_reader *reader,
                         const struct note *note)
{
    bool matches;
    const char *texts[] = {note->text, note->summary, note->tag};
    assert_int_equal(fulltext_matches(question, reader, arena, texts, 3, &matches), OK);
    return matches;
}

static size_t check_phrase(const struct note *notes, struct word_reader *reader)
{
    char phrase[210];
    char second[200];
    char third[200];
    char word[40];
    say(word, sizeof word, 1);
    say(second, sizeof second - 40, 2);
    say(third, sizeof third, 2 + dice(2));
    snprintf(phrase, sizeof phrase, "\"%s\"", third);
    char excluded[210];
    snprintf(excluded, sizeof excluded, "-\"%s\"", second);
    const char *const keywords[] = {phrase, dice(2) ? word : excluded};
    struct fulltext question;
    struct index_hit *hits;
    size_t count;
    bool found[NOTES] = {false};
    assert_int_equal(fulltext_read(&question, arena, keywords, 1 + dice(2), dice(2)), OK);
    assert_int_equal(index_fulltext(index_under_test, arena, &question, &(struct index_filter){0},
                                    &hits, &count),
                     OK);
    assert_false(question.in_the_text);
    for (size_t i = 0; i < count; i++) {
        found[hits[i].id] = true;
    }
    for (size_t i = 0; i < NOTES; i++) {
        if (found[i] != really_holds(&question, reader, &notes[i])) {
            fail_msg("%s %s in: %s | %s | %s", phrase, keywords[1], notes[i].text, notes[i].summary,
                     notes[i].tag);
        }
    }
    arena_reset(arena);
    return count;
}

/* The index says of phrases what the texts say, of short and of long ones, which have several
 * passages, however the documents are divided among segments. */
static void finds_phrases_as_the_texts_do(void **state)
{
    (void)state;
    struct note *notes = calloc(NOTES, sizeof *notes);
    struct word_reader *reader = words_new();
    size_t found = 0;
    dice_state = 5;
    index_free(index_under_test);
    index_under_test = index_new();
    for (size_t i = 0; i < NOTES; i++) {
        struct note *note = &notes[i];
        say(note->text, sizeof note->text, i % 20 == 0 ? 300 + dice(400) : 1 + dice(12));
        say(note->summary, sizeof note->summary, dice(4));
        say(note->tag, sizeof note->tag, 1 + dice(2));
        const char *tag = note->tag;
        struct index_entry entry = {.id = (int64_t)i,
                                    .summary = note->summary,
                                    .text = note->text,
                                    .tags = &tag,
                                    .tag_count = 1};
        assert_int_equal(index_put(index_under_test, &entry), OK);
        if (i % 7 == 0) {
            assert_int_equal(index_settle(index_under_test), OK);
        }
    }
    assert_int_equal(index_settle(index_under_test), OK);
    for (size_t i = 0; i < PHRASES; i++) {
        found += check_phrase(notes, reader);
    }
    assert_true(found > PHRASES);
    words_free(reader);
    free(notes);
}

/* ---- excerpts ---- */

static const char *excerpt(const char *const *texts, size_t count, const char *term,
                           const char *prefix, bool marked)
{
    struct word_reader *reader = words_new();
    struct excerpt_terms wanted = {&term, term ? 1u : 0u, &prefix, prefix ? 1u : 0u};
    const char *made = excerpt_make(arena, reader, texts, count, &wanted, marked);
    words_free(reader);
    assert_non_null(made);
    return made;
}

static void shows_hits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *term;
        const char *prefix;
        const char *shown;
    } CASES[] = {
        {"The pool was full", "pool", NULL, "The <mark>pool</mark> was full"},
        {"Pools, pools", "pool", NULL, "<mark>Pools</mark>, <mark>pools</mark>"},
        {"a migration", NULL, "migr", "a <mark>migration</mark>"},
        {"数据库连接池", "连接", NULL, "数据库<mark>连接</mark>池"},
        {"<b>pool</b> & 'x' \"y\"", "pool", NULL,
         "&lt;b&gt;<mark>pool</mark>&lt;/b&gt; &amp; &#39;x&#39; &quot;y&quot;"},
        {"<mark>pool</mark>", "pool", NULL, "&lt;mark&gt;<mark>pool</mark>&lt;/mark&gt;"},
        {"two\nlines", "line", NULL, "two <mark>lines</mark>"},
        {"nothing here", "pool", NULL, "nothing here"},
        {"", "pool", NULL, ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(excerpt(&CASES[i].text, 1, CASES[i].term, CASES[i].prefix, true),
                            CASES[i].shown);
    }
    const char *plain = "The <pool>";
    assert_string_equal(excerpt(&plain, 1, "pool", NULL, false), "The <pool>");
}

/* A hit far behind is what is shown, and the field that holds it. */
static void shows_the_right_part(void **state)
{
    (void)state;
    static char text[6000];
    size_t length = 0;
    while (length < 5000) {
        length += (size_t)snprintf(text + length, sizeof text - length, "naïve filler words ");
    }
    snprintf(text + length, sizeof text - length, "here is the needle at last");
    const char *const texts[] = {text, "a summary", "tag"};
    const char *shown = excerpt(texts, 3, "needl", NULL, true);
    assert_non_null(strstr(shown, "<mark>needle</mark> at last"));
    assert_true(strlen(shown) < 800);
    assert_memory_equal(shown, "\xE2\x80\xA6", 3);
    assert_string_equal(excerpt(texts, 3, "tag", NULL, true), "<mark>tag</mark>");
    assert_string_equal(excerpt(texts, 3, "summari", NULL, true), "a <mark>summary</mark>");
}

UNIT_TEST(fulltext)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_in_every_script, start, finish),
        cmocka_unit_test_setup_teardown(finds_phrases_as_the_texts_do, start, finish),
        cmocka_unit_test_setup_teardown(shows_hits, start, finish),
        cmocka_unit_test_setup_teardown(shows_the_right_part, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
