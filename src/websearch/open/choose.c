/* The rules by which a search finds its sources: a table, read from its top. */
#include "websearch/open/choose.h"

#include "tables.h"
#include "text/text.h"

#include <ctype.h>
#include <string.h>

#define MOST_OF_RULE  9
#define THING_WORDS   4
#define FOREIGN_POINT 0x0370 /* scripts other than Latin begin here */

/* ---- what a text looks like ---- */

static bool is_inside_word(unsigned char letter)
{
    return letter >= 0x80 || isalnum(letter) || (letter && strchr("_.+#-:", letter));
}

/* By the table of words, at each place where one begins. */
static unsigned by_words(const char *text)
{
    unsigned traits = 0;
    for (const char *at = text; *at;) {
        if (!is_inside_word((unsigned char)*at)) {
            at++;
            continue;
        }
        size_t length = 0;
        while (is_inside_word((unsigned char)at[length])) {
            length++;
        }
        size_t bare = length;
        while (bare > 1 && strchr(".:-", at[bare - 1])) {
            bare--;
        }
        traits |= words_value(&query_words, at, bare);
        traits |= words_match(&query_words, at, strlen(at));
        at += length;
    }
    return traits;
}

/* Signs that prose does not have. */
static bool is_literal(const char *text)
{
    static const char *const SIGNS[] = {"()", "::",       "->", "=>", "==", "!=", "&&",
                                        "||", "#include", "};", "({", "[]", "</", "/>"};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (strstr(text, SIGNS[i])) {
            return true;
        }
    }
    return false;
}

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* "10.1000/182", at the beginning of a word. */
static bool has_doi(const char *text)
{
    for (const char *at = strstr(text, "10."); at; at = strstr(at + 1, "10.")) {
        size_t registrant = digits_at(at + 3);
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        const char *rest = at + 3 + registrant;
        if (begins && registrant >= 4 && registrant <= 9 && *rest == '/' && rest[1] > ' ') {
            return true;
        }
    }
    return false;
}

/* "2301.01234", or the same behind "arXiv:". */
static bool has_arxiv_number(const char *text)
{
    for (const char *at = text; *at; at++) {
        size_t month = digits_at(at);
        size_t number = at[month] == '.' ? digits_at(at + month + 1) : 0;
        if (month == 4 && (number == 4 || number == 5)) {
            return true;
        }
        at += month ? month - 1 : 0;
    }
    return false;
}

/* In the scripts that have capitals and come often. */
static bool is_capital(uint32_t point)
{
    static const uint32_t RANGES[][2] = {{'A', 'Z'}, {0xC0, 0xDE}, {0x391, 0x3A9}, {0x410, 0x42F}};
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++) {
        if (point >= RANGES[i][0] && point <= RANGES[i][1]) {
            return true;
        }
    }
    return false;
}

/* A few words, each with a capital: "Marie Curie", "Ludwig van Beethoven". */
static bool is_name(const char *text)
{
    size_t words = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const char *end = at + strcspn(at, " ");
        const char *rest = at;
        uint32_t first = text_next(&rest, end);
        bool joins = words && end - at <= 3 && first < 128 && islower((int)first);
        if (!joins && !is_capital(first)) {
            return false;
        }
        words++;
        at = end;
    }
    return words >= 2 && words <= THING_WORDS;
}

static bool is_foreign(const struct search_query *query)
{
    if (query->language) {
        return strncmp(query->language, "en", 2) != 0;
    }
    const char *end = query->text + strlen(query->text);
    for (const char *at = query->text; at < end;) {
        uint32_t point = text_next(&at, end);
        /* Signs such as dashes and quotation marks belong to every language. */
        if (point >= FOREIGN_POINT && !(point >= 0x2000 && point <= 0x2BFF)) {
            return true;
        }
    }
    return false;
}

/* The traits of a search, by OR. */
static unsigned traits_of(const struct search_query *query)
{
    const char *text = query->text;
    unsigned traits = by_words(text);
    traits |= is_literal(text) ? QUERY_LITERAL | QUERY_CODE : 0;
    traits |= has_doi(text) ? QUERY_DOI : 0;
    traits |= has_arxiv_number(text) ? QUERY_ARXIV : 0;
    traits |= is_foreign(query) ? QUERY_FOREIGN : 0;
    bool technical = traits & (QUERY_ERROR | QUERY_CODE | QUERY_BROWSER | QUERY_NPM | QUERY_CRATES |
                               QUERY_DOI | QUERY_ARXIV);
    if (technical) {
        traits &= ~(unsigned)QUERY_THING;
    } else if (is_name(text)) {
        traits |= QUERY_THING;
    }
    return traits;
}

/* ---- the rules ---- */

/* Each rule that fits adds its sources behind those that are there. So what a trait brings stands
 * before what its type has for everything, and a source is asked once. */
static const struct source_rule {
    enum search_type type;
    unsigned with;    /* traits that a search must have, all of them */
    unsigned without; /* and must not have, none of them */
    enum search_type as;
    const char *names[MOST_OF_RULE];
} RULES[] = {
    {SEARCH_WEB, QUERY_DOI, 0, SEARCH_SCHOLAR, {"crossref", "openalex"}},
    {SEARCH_WEB, QUERY_ARXIV, 0, SEARCH_SCHOLAR, {"arxiv"}},
    {SEARCH_WEB, QUERY_NPM, 0, SEARCH_CODE, {"npm"}},
    {SEARCH_WEB, QUERY_CRATES, 0, SEARCH_CODE, {"crates"}},
    {SEARCH_WEB, QUERY_ERROR, 0, SEARCH_CODE, {"stackexchange"}},
    {SEARCH_WEB, QUERY_BROWSER, 0, SEARCH_CODE, {"mdn"}},
    {SEARCH_WEB, QUERY_CODE | QUERY_ASKED, 0, SEARCH_CODE, {"stackexchange"}},
    {SEARCH_WEB, QUERY_THING, 0, SEARCH_WEB, {"wikipedia"}},
    /* Marginalia knows English alone, and little that sells something. */
    {SEARCH_WEB, QUERY_FOREIGN, 0, SEARCH_WEB, {"keenable", "parallel", "wikipedia"}},
    {SEARCH_WEB,
     0,
     0,
     SEARCH_WEB,
     {"keenable", "parallel", "you", "wikipedia", "exa-open", "firecrawl"}},
    {SEARCH_WEB, 0, QUERY_FOREIGN, SEARCH_WEB, {"marginalia", "mwmbl", "wiby"}},
    {SEARCH_WEB, 0, 0, SEARCH_WEB, {"duckduckgo"}}, /* the last resort: it is nobody's interface */

    {SEARCH_NEWS, QUERY_CODE, QUERY_FOREIGN, SEARCH_NEWS, {"hackernews"}},
    /* The links of Google's feed lead through Google. */
    {SEARCH_NEWS, 0, 0, SEARCH_NEWS, {"gdelt", "bing-news", "google-news"}},
    {SEARCH_NEWS, 0, QUERY_FOREIGN, SEARCH_NEWS, {"hackernews"}},

    {SEARCH_SCHOLAR, QUERY_DOI, 0, SEARCH_SCHOLAR, {"crossref", "openalex"}},
    {SEARCH_SCHOLAR, QUERY_ARXIV, 0, SEARCH_SCHOLAR, {"arxiv"}},
    {SEARCH_SCHOLAR,
     0,
     0,
     SEARCH_SCHOLAR,
     {"crossref", "semantic-scholar", "arxiv", "europe-pmc", "openalex"}},

    {SEARCH_IMAGES, 0, 0, SEARCH_IMAGES, {"openverse", "commons"}},

    {SEARCH_CODE, QUERY_NPM, 0, SEARCH_CODE, {"npm"}},
    {SEARCH_CODE, QUERY_CRATES, 0, SEARCH_CODE, {"crates"}},
    {SEARCH_CODE, QUERY_LITERAL, QUERY_ERROR, SEARCH_CODE, {"grep-app", "sourcegraph"}},
    {SEARCH_CODE, QUERY_ERROR, 0, SEARCH_CODE, {"stackexchange", "github-issues"}},
    {SEARCH_CODE, QUERY_BROWSER, 0, SEARCH_CODE, {"mdn"}},
    {SEARCH_CODE, QUERY_ASKED, 0, SEARCH_CODE, {"stackexchange"}},
    {SEARCH_CODE,
     0,
     0,
     SEARCH_CODE,
     {"grep-app", "sourcegraph", "github", "stackexchange", "mdn", "github-issues"}},
};

static bool is_chosen(const struct source_choice *choices, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(choices[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

size_t choose_sources(const struct search_query *query,
                      struct source_choice choices[LIMIT_SEARCH_PROVIDERS])
{
    unsigned traits = traits_of(query);
    size_t count = 0;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const struct source_rule *rule = &RULES[i];
        if (rule->type != query->type || (traits & rule->with) != rule->with ||
            traits & rule->without) {
            continue;
        }
        for (size_t j = 0; j < MOST_OF_RULE && rule->names[j]; j++) {
            if (count < LIMIT_SEARCH_PROVIDERS && !is_chosen(choices, count, rule->names[j])) {
                choices[count++] = (struct source_choice){rule->names[j], rule->as};
            }
        }
    }
    return count;
}
