/* Guardrails: which queries pass under which setting, and what a refusal says. */
#include "unit.h"

#include "answer/question.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char POLYMARKET[] = "polymarket";
static const char NEWS[] = "google-news-rss";

static const struct {
    const char *query;
    const char *balanced; /* the server that a refusal names; NULL: it passes */
    const char *strict;
} QUERIES[] = {
    /* ---- Polymarket keyword rejection ---- */
    {"polymarket odds", POLYMARKET, POLYMARKET},
    {"Polymarket", POLYMARKET, POLYMARKET},
    {"POLYMARKET ELECTION", POLYMARKET, POLYMARKET},
    {"what does polymarket say about the fed", POLYMARKET, POLYMARKET},
    {"site:polymarket.com fed decision", POLYMARKET, POLYMARKET},
    {"polymarket's biggest markets", POLYMARKET, POLYMARKET},
    {"top poly market bets", POLYMARKET, POLYMARKET},
    {"polymarkets about bitcoin", POLYMARKET, POLYMARKET},
    {"prediction market odds for the election", POLYMARKET, POLYMARKET},
    {"current prediction markets on rate cuts", POLYMARKET, POLYMARKET},
    {"prediction market price for a recession", POLYMARKET, POLYMARKET},
    {"prediction-market probability of a ceasefire", POLYMARKET, POLYMARKET},
    {"volume on the prediction market for bitcoin 200k", POLYMARKET, POLYMARKET},
    {"betting markets today on the next pope", POLYMARKET, POLYMARKET},
    {"kalshi odds for a government shutdown", POLYMARKET, POLYMARKET},
    {"kalshi prices right now", POLYMARKET, NULL},
    {"predictit shares for the nominee", POLYMARKET, NULL},
    {"event contract prices for inflation", POLYMARKET, POLYMARKET},
    {"manifold markets probability of AGI", POLYMARKET, POLYMARKET},
    {"election odds", POLYMARKET, POLYMARKET},
    {"betting odds for the presidential election", POLYMARKET, POLYMARKET},
    {"odds that the president resigns", POLYMARKET, POLYMARKET},
    {"what are the market odds of a rate cut", NULL, POLYMARKET},
    {"market odds of a rate cut in december", POLYMARKET, POLYMARKET},
    {"odds of a recession next year market view", POLYMARKET, POLYMARKET},
    {"odds of a fed rate hike", POLYMARKET, POLYMARKET},
    {"nominee odds today", POLYMARKET, POLYMARKET},
    {"yes shares price for this event", POLYMARKET, POLYMARKET},
    {"buy yes on the election market", POLYMARKET, POLYMARKET},
    {"implied probability from the betting odds", POLYMARKET, POLYMARKET},
    {"outcome tokens trading", POLYMARKET, NULL},
    {"liquidity of the bet on the cup final outcome", POLYMARKET, POLYMARKET},
    {"order book for the prediction on inflation", POLYMARKET, POLYMARKET},
    {"my positions in the election bets", POLYMARKET, POLYMARKET},
    {"trading volume before the market resolves", POLYMARKET, POLYMARKET},
    {"live market data", POLYMARKET, POLYMARKET},
    {"real-time market data prices", POLYMARKET, POLYMARKET},
    {"latest market data with volume and odds", POLYMARKET, POLYMARKET},
    /* ---- RSS keyword rejection ---- */
    {"google news rss", NEWS, NEWS},
    {"google news rss feed for climate", NEWS, NEWS},
    {"google news feed about AI", NEWS, NEWS},
    {"google news headlines today", NEWS, NEWS},
    {"latest google news top stories", NEWS, NEWS},
    {"news.google.com headlines on technology", NEWS, NULL},
    {"find the latest rss news on football", NEWS, NEWS},
    {"find google news rss", NEWS, NEWS},
    {"bbc rss feed", NEWS, NEWS},
    {"RSS feeds for tech news", NEWS, NEWS},
    {"rss feed url of the guardian", NEWS, NEWS},
    {"atom feed of the release notes", NEWS, NEWS},
    {"latest rss headlines", NEWS, NEWS},
    {"rss news germany", NEWS, NEWS},
    {"subscribe to the rss of the new york times", NEWS, NEWS},
    {"subscribe to a news feed about climate", NEWS, NEWS},
    {"get the latest news feed on ukraine", NEWS, NEWS},
    {"live news feed today", NEWS, NEWS},
    {"follow a headlines feed about space", NEWS, NEWS},
    {"subscribe me to feeds about football", NEWS, NEWS},
    {"newsfeed updates on the strike", NEWS, NEWS},
    {"articles from the rss of ars technica", NEWS, NEWS},
    {"xml feed of press releases", NEWS, NEWS},
    {"RSS links for weather warnings", NEWS, NEWS},
    {"rss stories about nasa", NEWS, NEWS},
    /* ---- what is ordinary, though it holds one of the words ---- */
    {"javascript event loop", NULL, POLYMARKET},
    {"find an RSS feed for quill", NULL, NEWS},
    {"find RSS feeds of python blogs", NULL, NEWS},
    {"latest google news on storm", NULL, NEWS},
    {"Google News about AI", NULL, NEWS},
    {"news.google.com technology", NULL, NULL},
    {"stock market history", NULL, POLYMARKET},
    {"stock market crash of 1929", NULL, POLYMARKET},
    {"marketing strategies for small shops", NULL, POLYMARKET},
    {"farmers market opening hours in Leeds", NULL, POLYMARKET},
    {"job market for nurses in Canada", NULL, POLYMARKET},
    {"housing market forecast 2027", NULL, POLYMARKET},
    {"what is a prediction market", NULL, POLYMARKET},
    {"how do prediction markets work", NULL, POLYMARKET},
    {"are prediction markets accurate", NULL, POLYMARKET},
    {"cftc regulation of prediction markets", NULL, POLYMARKET},
    {"weather prediction for tomorrow", NULL, POLYMARKET},
    {"earthquake prediction research", NULL, POLYMARKET},
    {"protein structure prediction alphafold", NULL, POLYMARKET},
    {"upcoming events in Berlin", NULL, POLYMARKET},
    {"event horizon telescope image", NULL, POLYMARKET},
    {"event driven architecture", NULL, POLYMARKET},
    {"next solar eclipse event", NULL, POLYMARKET},
    {"volume of a sphere formula", NULL, POLYMARKET},
    {"how to raise the volume on a mac", NULL, POLYMARKET},
    {"docker volume permissions", NULL, POLYMARKET},
    {"position of jupiter tonight", NULL, POLYMARKET},
    {"css position sticky not working", NULL, POLYMARKET},
    {"best yoga position for back pain", NULL, POLYMARKET},
    {"liquidity ratio definition", NULL, POLYMARKET},
    {"bank liquidity rules basel iii", NULL, POLYMARKET},
    {"diabetes symptoms", NULL, POLYMARKET},
    {"alphabet quarterly results", NULL, POLYMARKET},
    {"Tibet travel permit", NULL, POLYMARKET},
    {"elizabeth holmes trial", NULL, POLYMARKET},
    {"better sleep habits", NULL, POLYMARKET},
    {"odds of winning the lottery", NULL, POLYMARKET},
    {"odds ratio interpretation", NULL, POLYMARKET},
    {"how do betting odds work", NULL, POLYMARKET},
    {"against all odds film cast", NULL, POLYMARKET},
    {"order book data structure in rust", NULL, NULL},
    {"what is market data", NULL, POLYMARKET},
    {"market data vendor comparison", NULL, POLYMARKET},
    {"how to feed a newborn kitten", NULL, NEWS},
    {"chicken feed composition", NULL, POLYMARKET},
    {"feedback loops in control theory", NULL, NEWS},
    {"facebook news feed algorithm", NULL, NEWS},
    {"turn off the windows news feed", NULL, NEWS},
    {"parse an rss feed in python", NULL, NEWS},
    {"rss feed format specification", NULL, NEWS},
    {"best rss feed reader 2026", NULL, NEWS},
    {"rss vs atom", NULL, NEWS},
    {"who invented rss", NULL, NEWS},
    {"rss memory of a linux process", NULL, NEWS},
    {"history of google news", NULL, NEWS},
    {"google news initiative grants", NULL, NEWS},
    {"news publishers lawsuit against google news", NULL, NEWS},
    {"subscribe to a youtube channel", NULL, NEWS},
    {"rxjs subscribe method", NULL, NEWS},
    {"subscriber numbers of netflix", NULL, NEWS},
    {"how to unsubscribe from emails", NULL, NEWS},
    {"crossword answers", NULL, NULL},
    {"embarrassing moments on tv", NULL, NULL},
    {"horse racing results", NULL, NULL},
    {"carss", NULL, NEWS},
    /* ---- what holds none of them ---- */
    {"who won the nobel prize in physics", NULL, NULL},
    {"capital of Mongolia", NULL, NULL},
    {"latest stable version of PostgreSQL", NULL, NULL},
    {"weather in Lisbon", NULL, NULL},
    {"price of gold today", NULL, NULL},
    {"bitcoin price", NULL, NULL},
    {"euro to dollar exchange rate", NULL, NULL},
    {"news about the mars rover", NULL, NULL},
    {"latest headlines", NULL, NULL},
    {"google quarterly results", NULL, NULL},
    {"\u0440\u0430\u0441\u043f\u0438\u0441\u0430\u043d\u0438\u0435 "
     "\u043f\u043e\u0435\u0437\u0434\u043e\u0432",
     NULL, NULL},
    {"\u5929\u6c23\u9810\u5831", NULL, NULL},
    {"\u7c89\u7d72 \U0001F9A6 ???", NULL, NULL},
    {"...", NULL, NULL},
};

static struct guardrails *open_set(const char *setting)
{
    char problem[512] = "";
    struct guardrails *set = guardrails_new(setting, problem, sizeof problem);
    if (!set) {
        fail_msg("%s", problem);
    }
    assert_int_equal(guardrails_read(set), OK);
    return set;
}

static void check(const struct guardrails *set, const char *query, const char *server)
{
    struct guardrail_refusal refusal = {0};
    bool refused = guardrails_refuse(set, query, &refusal);
    if (refused != (server != NULL)) {
        print_message("\"%s\": %s %s (%s)\n", query, refused ? "refused by" : "passed",
                      refused ? refusal.rule : "", refused ? refusal.phrase : "");
    }
    assert_int_equal(refused, server != NULL);
    if (refused) {
        assert_string_equal(refusal.server, server);
        assert_non_null(refusal.rule);
        assert_non_null(refusal.phrase);
    }
}

static void there_are_enough_queries(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t i = 0; i < COUNT(QUERIES); i++) {
        refused += QUERIES[i].balanced != NULL;
    }
    assert_true(COUNT(QUERIES) >= 120);
    assert_true(refused >= 50 && COUNT(QUERIES) - refused >= 60);
}

static void balanced_judges_words_and_their_company(void **state)
{
    (void)state;
    struct guardrails *set = open_set("balanced");
    for (size_t i = 0; i < COUNT(QUERIES); i++) {
        check(set, QUERIES[i].query, QUERIES[i].balanced);
    }
    guardrails_free(set);
}

static void strict_is_the_word_lists_to_the_letter(void **state)
{
    (void)state;
    struct guardrails *set = open_set("strict");
    for (size_t i = 0; i < COUNT(QUERIES); i++) {
        check(set, QUERIES[i].query, QUERIES[i].strict);
    }
    guardrails_free(set);
}

static void off_refuses_nothing(void **state)
{
    (void)state;
    struct guardrails *set = open_set("off");
    for (size_t i = 0; i < COUNT(QUERIES); i++) {
        check(set, QUERIES[i].query, NULL);
    }
    guardrails_free(set);
}

/* ---- a file of rules ---- */

static void a_file_of_rules_is_used(void **state)
{
    (void)state;
    char path[] = "/tmp/forage-guardrails-XXXXXX";
    int file = mkstemp(path);
    static const char RULES[] =
        "{\"rules\":[{\"comment\":\"x\",\"name\":\"tickets\",\"server\":\"jira\",\"about\":"
        "\"tickets\","
        "\"any\":[\"Jira Ticket*\",\"\\u0417\\u0430\\u0434\\u0430\\u0447\\u0430\"],"
        "\"with\":[\"open\",\"mine\"],\"unless\":[\"price\"]}]}";
    assert_int_equal(write(file, RULES, strlen(RULES)), strlen(RULES));
    close(file);
    struct guardrails *set = open_set(path);
    unlink(path);
    check(set, "open JIRA tickets", "jira");
    check(set, "\u0437\u0430\u0434\u0430\u0447\u0430 mine", "jira");
    check(set, "\u0417\u0410\u0414\u0410\u0427\u0410 open", "jira");
    check(set, "jira tickets", NULL);
    check(set, "open jira ticket price", NULL);
    check(set, "open my jira board with tickets", NULL);
    check(set, "polymarket odds", NULL);
    struct guardrail_refusal refusal;
    assert_true(guardrails_refuse(set, "mine: jira-ticketing", &refusal));
    assert_string_equal(refusal.rule, "tickets");
    assert_string_equal(refusal.phrase, "Jira Ticket*");
    assert_string_equal(refusal.beside, "mine");
    guardrails_free(set);
}

static void a_word_is_not_its_own_company(void **state)
{
    (void)state;
    char problem[256];
    static const char RULES[] =
        "{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"odds\",\"bet\"],"
        "\"with\":[\"odds\",\"bet\"]}]}";
    struct guardrails *set = guardrails_parse(RULES, strlen(RULES), problem, sizeof problem);
    assert_non_null(set);
    check(set, "odds", NULL);
    check(set, "bet odds", "s");
    check(set, "odds and odds", "s");
    guardrails_free(set);
}

static void wrong_rules_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *words;
    } CASES[] = {
        {"", "not JSON"},
        {"{", "not JSON"},
        {"[]", "\"rules\""},
        {"{\"rules\":{}}", "\"rules\""},
        {"{\"rules\":[1]}", "rule 1: it needs a name"},
        {"{\"rules\":[{\"name\":\"n\",\"any\":[\"x\"]}]}", "server"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\"}]}", "any"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[]}]}", "any"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"\"]}]}", "any"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":\"x\"}]}", "any"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"x\"],\"with\":\"y\"}]}", "with"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"x\"],\"match\":\"z\"}]}",
         "match"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"x\"],\"unles\":[]}]}",
         "not known"},
        {"{\"rules\":[{\"name\":\"n\",\"server\":\"s\",\"any\":[\"x\\u0000\"]}]}", "rules"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[512] = "";
        assert_null(
            guardrails_parse(CASES[i].json, strlen(CASES[i].json), problem, sizeof problem));
        if (!strstr(problem, CASES[i].words)) {
            print_message("case %zu: %s\n", i, problem);
        }
        assert_non_null(strstr(problem, CASES[i].words));
    }
    char problem[512] = "";
    assert_null(guardrails_new("/proc/nonexistent/rules.json", problem, sizeof problem));
    assert_non_null(strstr(problem, "FORAGE_GUARDRAILS"));
    assert_non_null(strstr(problem, "/proc/nonexistent/rules.json"));
    assert_null(guardrails_new("balansed", problem, sizeof problem));
    assert_non_null(strstr(problem, "balanced, strict, off"));
    assert_null(guardrails_new("/", problem, sizeof problem));
}

UNIT_TEST(guardrails)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_enough_queries),
        cmocka_unit_test(balanced_judges_words_and_their_company),
        cmocka_unit_test(strict_is_the_word_lists_to_the_letter),
        cmocka_unit_test(off_refuses_nothing),
        cmocka_unit_test(a_file_of_rules_is_used),
        cmocka_unit_test(a_word_is_not_its_own_company),
        cmocka_unit_test(wrong_rules_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
