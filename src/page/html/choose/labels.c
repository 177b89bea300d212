/* The table of labels, sorted by nothing: a hash of the first letters finds them. */
#include "page/html/choose/labels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct label_rule {
    const char *text;
    uint8_t effect;
    bool begins; /* the label may go on */
};

#define SECTION(text)                                                                              \
    {                                                                                              \
        text, LABEL_SECTION, false                                                                 \
    }
#define SECTION_BEGINS(text)                                                                       \
    {                                                                                              \
        text, LABEL_SECTION, true                                                                  \
    }
#define REVIEWS(text)                                                                              \
    {                                                                                              \
        text, LABEL_REVIEWS, true                                                                  \
    }
#define SCRAP(text)                                                                                \
    {                                                                                              \
        text, LABEL_SCRAP, false                                                                   \
    }
#define SCRAP_BEGINS(text)                                                                         \
    {                                                                                              \
        text, LABEL_SCRAP, true                                                                    \
    }
#define DETAIL(text)                                                                               \
    {                                                                                              \
        text, LABEL_DETAIL, true                                                                   \
    }

static const struct label_rule rules[] = {
    SECTION("related"),
    SECTION_BEGINS("related article"),
    SECTION_BEGINS("related blog"),
    SECTION_BEGINS("related content"),
    SECTION_BEGINS("related item"),
    SECTION_BEGINS("related link"),
    SECTION_BEGINS("related news"),
    SECTION_BEGINS("related post"),
    SECTION_BEGINS("related product"),
    SECTION_BEGINS("related reading"),
    SECTION_BEGINS("related read"),
    SECTION_BEGINS("related resource"),
    SECTION_BEGINS("related search"),
    SECTION_BEGINS("related stor"),
    SECTION_BEGINS("related topic"),
    SECTION_BEGINS("related video"),
    SECTION_BEGINS("related guide"),
    SECTION_BEGINS("you may also"),
    SECTION_BEGINS("you might also"),
    SECTION_BEGINS("you may like"),
    SECTION_BEGINS("you might like"),
    SECTION_BEGINS("you may be interested"),
    SECTION_BEGINS("you might be interested"),
    SECTION_BEGINS("you'll also love"),
    SECTION_BEGINS("you may enjoy"),
    SECTION("recommended"),
    SECTION_BEGINS("recommended for you"),
    SECTION_BEGINS("recommended read"),
    SECTION_BEGINS("recommended article"),
    SECTION_BEGINS("recommended stor"),
    SECTION_BEGINS("recommended product"),
    SECTION_BEGINS("recommended post"),
    SECTION_BEGINS("more from"),
    SECTION_BEGINS("more in "),
    SECTION_BEGINS("more stories"),
    SECTION_BEGINS("more articles"),
    SECTION_BEGINS("more news"),
    SECTION_BEGINS("more posts"),
    SECTION_BEGINS("more to explore"),
    SECTION_BEGINS("more to read"),
    SECTION_BEGINS("more like this"),
    SECTION_BEGINS("more resources"),
    SECTION_BEGINS("read next"),
    SECTION_BEGINS("read also"),
    SECTION_BEGINS("also read"),
    SECTION("up next"),
    SECTION_BEGINS("what to read next"),
    SECTION_BEGINS("keep reading"),
    SECTION_BEGINS("explore more"),
    SECTION_BEGINS("discover more"),
    SECTION_BEGINS("latest news"),
    SECTION_BEGINS("latest post"),
    SECTION_BEGINS("latest article"),
    SECTION_BEGINS("latest stories"),
    SECTION_BEGINS("latest blog"),
    SECTION_BEGINS("latest from"),
    SECTION_BEGINS("recent post"),
    SECTION_BEGINS("recent article"),
    SECTION_BEGINS("recent news"),
    SECTION_BEGINS("recent blog"),
    SECTION_BEGINS("recent stories"),
    SECTION_BEGINS("recently viewed"),
    SECTION_BEGINS("popular post"),
    SECTION_BEGINS("popular article"),
    SECTION_BEGINS("popular stories"),
    SECTION_BEGINS("most popular"),
    SECTION_BEGINS("most read"),
    SECTION_BEGINS("most viewed"),
    SECTION("trending"),
    SECTION_BEGINS("trending now"),
    SECTION_BEGINS("trending article"),
    SECTION_BEGINS("trending stories"),
    SECTION_BEGINS("featured article"),
    SECTION_BEGINS("featured post"),
    SECTION_BEGINS("featured stories"),
    SECTION_BEGINS("similar article"),
    SECTION_BEGINS("similar post"),
    SECTION_BEGINS("similar product"),
    SECTION_BEGINS("similar item"),
    SECTION_BEGINS("similar stories"),
    SECTION_BEGINS("similar topics"),
    SECTION_BEGINS("similar threads"),
    SECTION_BEGINS("similar questions"),
    SECTION_BEGINS("other articles"),
    SECTION_BEGINS("other posts"),
    SECTION_BEGINS("other stories"),
    SECTION_BEGINS("other news"),
    SECTION_BEGINS("customers also"),
    SECTION_BEGINS("customers who"),
    SECTION_BEGINS("people also"),
    SECTION_BEGINS("others also"),
    SECTION_BEGINS("frequently bought"),
    SECTION_BEGINS("complete the look"),
    SECTION_BEGINS("goes well with"),
    SECTION_BEGINS("pairs well with"),
    SECTION_BEGINS("don't miss"),
    SECTION_BEGINS("don\xe2\x80\x99t miss"),
    SECTION_BEGINS("share this"),
    SECTION_BEGINS("share the"),
    SECTION_BEGINS("share your"),
    SECTION_BEGINS("follow us"),
    SECTION_BEGINS("follow me"),
    SECTION_BEGINS("connect with us"),
    SECTION_BEGINS("about the author"),
    SECTION_BEGINS("about author"),
    SECTION_BEGINS("about the writer"),
    SECTION_BEGINS("meet the author"),
    SECTION_BEGINS("author bio"),
    SECTION_BEGINS("leave a reply"),
    SECTION_BEGINS("leave a comment"),
    SECTION_BEGINS("leave your comment"),
    SECTION_BEGINS("post a comment"),
    SECTION_BEGINS("add a comment"),
    SECTION_BEGINS("join the conversation"),
    SECTION_BEGINS("join the discussion"),
    SECTION_BEGINS("reader interactions"),
    SECTION("comments"),
    SECTION("discussion"),
    SECTION("subscribe"),
    SECTION_BEGINS("subscribe to"),
    SECTION_BEGINS("subscribe for"),
    SECTION_BEGINS("join our newsletter"),
    SECTION_BEGINS("join our mailing"),
    SECTION_BEGINS("sign up for"),
    SECTION_BEGINS("sign up to"),
    SECTION_BEGINS("get our newsletter"),
    SECTION_BEGINS("get the newsletter"),
    SECTION_BEGINS("get the latest"),
    SECTION("newsletter"),
    SECTION_BEGINS("stay in touch"),
    SECTION_BEGINS("stay connected"),
    SECTION_BEGINS("stay up to date"),
    SECTION_BEGINS("stay informed"),
    SECTION_BEGINS("stay updated"),
    SECTION_BEGINS("stay in the loop"),
    SECTION("advertisement"),
    SECTION("sponsored"),
    SECTION("sponsored content"),
    SECTION("tags"),
    SECTION("filed under"),
    SECTION("categories"),
    SECTION_BEGINS("post navigation"),
    SECTION_BEGINS("share post"),
    SECTION_BEGINS("share article"),
    SECTION_BEGINS("in this article"),
    SECTION("table of contents"),
    SECTION("quick links"),
    /* German */
    SECTION_BEGINS("\xc3\xa4hnliche "),
    SECTION_BEGINS("\xc3\x84hnliche "),
    SECTION_BEGINS("das k\xc3\xb6nnte"),
    SECTION_BEGINS("mehr zum thema"),
    SECTION_BEGINS("weitere artikel"),
    SECTION_BEGINS("weitere themen"),
    SECTION_BEGINS("auch interessant"),
    SECTION_BEGINS("lesen sie auch"),
    SECTION("kommentare"),
    SECTION_BEGINS("schreibe einen kommentar"),
    /* French */
    SECTION_BEGINS("\xc3\xa0 lire aussi"),
    SECTION_BEGINS("\xc3\x80 lire aussi"),
    SECTION_BEGINS("lire aussi"),
    SECTION_BEGINS("articles similaires"),
    SECTION_BEGINS("articles li\xc3\xa9s"),
    SECTION_BEGINS("sur le m\xc3\xaame sujet"),
    SECTION_BEGINS("vous aimerez aussi"),
    SECTION_BEGINS("laisser un commentaire"),
    SECTION("commentaires"),
    /* Spanish and Portuguese */
    SECTION_BEGINS("art\xc3\xad"
                   "culos relacionados"),
    SECTION_BEGINS("noticias relacionadas"),
    SECTION_BEGINS("tambi\xc3\xa9n te puede"),
    SECTION_BEGINS("te puede interesar"),
    SECTION_BEGINS("lee tambi\xc3\xa9n"),
    SECTION_BEGINS("deja un comentario"),
    SECTION("comentarios"),
    SECTION_BEGINS("voc\xc3\xaa pode gostar"),
    SECTION_BEGINS("leia tamb\xc3\xa9m"),
    SECTION_BEGINS("leia mais"),
    SECTION_BEGINS("veja tamb\xc3\xa9m"),
    SECTION_BEGINS("artigos relacionados"),
    SECTION_BEGINS("posts relacionados"),
    SECTION_BEGINS("not\xc3\xad"
                   "cias relacionadas"),
    /* Italian, Dutch, Polish, Russian */
    SECTION_BEGINS("leggi anche"),
    SECTION_BEGINS("articoli correlati"),
    SECTION_BEGINS("potrebbe interessarti"),
    SECTION_BEGINS("ti potrebbe interessare"),
    SECTION_BEGINS("potrebbero interessarti"),
    SECTION("commenti"),
    SECTION_BEGINS("lees ook"),
    SECTION_BEGINS("gerelateerde"),
    SECTION_BEGINS("czytaj te\xc5\xbc"),
    SECTION_BEGINS("zobacz te\xc5\xbc"),
    SECTION_BEGINS("\xd0\xa7\xd0\xb8\xd1\x82\xd0\xb0\xd0\xb9\xd1\x82\xd0\xb5 "
                   "\xd1\x82\xd0\xb0\xd0\xba\xd0\xb6\xd0\xb5"),
    SECTION_BEGINS("\xd0\x9f\xd0\xbe\xd1\x85\xd0\xbe\xd0\xb6\xd0\xb8\xd0\xb5 "),
    SECTION(
        "\xd0\x9a\xd0\xbe\xd0\xbc\xd0\xbc\xd0\xb5\xd0\xbd\xd1\x82\xd0\xb0\xd1\x80\xd0\xb8\xd0\xb8"),

    REVIEWS("customer review"),
    REVIEWS("customer question"),
    REVIEWS("customer rating"),
    REVIEWS("customer photo"),
    REVIEWS("product review"),
    REVIEWS("ratings & review"),
    REVIEWS("ratings and review"),
    REVIEWS("reviews"),
    REVIEWS("questions & answers"),
    REVIEWS("questions and answers"),
    REVIEWS("q&a"),
    REVIEWS("what customers"),
    REVIEWS("top reviews"),
    REVIEWS("seller's other"),
    REVIEWS("seller feedback"),
    REVIEWS("about this seller"),
    REVIEWS("shipping & returns"),
    REVIEWS("shipping and returns"),
    REVIEWS("shipping, returns"),
    REVIEWS("delivery & returns"),
    REVIEWS("returns & refunds"),
    REVIEWS("return policy"),
    REVIEWS("compare with similar"),
    REVIEWS("compare similar"),
    REVIEWS("products related to"),

    SCRAP("ad"),
    SCRAP("advertisements"),
    SCRAP("advertisement - continue reading below"),
    SCRAP("article continues below"),
    SCRAP_BEGINS("story continues below"),
    SCRAP("share"),
    SCRAP("share:"),
    SCRAP("tweet"),
    SCRAP("print"),
    SCRAP("email"),
    SCRAP("save"),
    SCRAP("comment"),
    SCRAP("reply"),
    SCRAP("like"),
    SCRAP("follow"),
    SCRAP("copy link"),
    SCRAP("link copied"),
    SCRAP("copied!"),
    SCRAP("copy"),
    SCRAP_BEGINS("share on "),
    SCRAP_BEGINS("share via "),
    SCRAP_BEGINS("click to share"),
    SCRAP_BEGINS("click here to share"),
    SCRAP("read more"),
    SCRAP("read more..."),
    SCRAP("read more \xc2\xbb"),
    SCRAP("read more \xe2\x86\x92"),
    SCRAP("read full story"),
    SCRAP("read full article"),
    SCRAP("read article"),
    SCRAP("continue reading"),
    SCRAP("learn more"),
    SCRAP("show more"),
    SCRAP("show less"),
    SCRAP("see more"),
    SCRAP("see all"),
    SCRAP("view more"),
    SCRAP("view all"),
    SCRAP("view details"),
    SCRAP("load more"),
    SCRAP("load more comments"),
    SCRAP("back to top"),
    SCRAP("back to gallery"),
    SCRAP("back"),
    SCRAP("next"),
    SCRAP("previous"),
    SCRAP("close"),
    SCRAP("menu"),
    SCRAP("search"),
    SCRAP_BEGINS("skip to "),
    SCRAP("log in"),
    SCRAP("login"),
    SCRAP("sign in"),
    SCRAP("sign up"),
    SCRAP("sign up now"),
    SCRAP("register"),
    SCRAP("subscribe now"),
    SCRAP("add to cart"),
    SCRAP("add to bag"),
    SCRAP("add to basket"),
    SCRAP("add to wishlist"),
    SCRAP("add to compare"),
    SCRAP("quick view"),
    SCRAP("quick shop"),
    SCRAP("quick add"),
    SCRAP("buy now"),
    SCRAP("shop now"),
    SCRAP("sold out"),
    SCRAP("notify me"),
    SCRAP("choose options"),
    SCRAP("select options"),
    SCRAP("size guide"),
    SCRAP("size chart"),
    SCRAP("write a review"),
    SCRAP("report"),
    SCRAP("report abuse"),
    SCRAP("loading"),
    SCRAP("loading..."),
    SCRAP("loading\xe2\x80\xa6"),
    SCRAP_BEGINS("all rights reserved"),
    SCRAP_BEGINS("\xc2\xa9"),
    SCRAP_BEGINS("this site is protected by recaptcha"),
    SCRAP_BEGINS("this site uses akismet"),
    SCRAP_BEGINS("thank you! your submission"),
    SCRAP_BEGINS("oops! something went wrong"),
    SCRAP_BEGINS("please enable javascript"),
    SCRAP_BEGINS("you need to enable javascript"),
    SCRAP_BEGINS("javascript is "),
    SCRAP_BEGINS("your email address will not be published"),

    DETAIL("posts:"),
    DETAIL("joined:"),
    DETAIL("join date"),
    DETAIL("joined"),
    DETAIL("location:"),
    DETAIL("messages"),
    DETAIL("reaction score"),
    DETAIL("reactions:"),
    DETAIL("likes:"),
    DETAIL("registered user"),
    DETAIL("registered:"),
    DETAIL("thread starter"),
    DETAIL("start date"),
    DETAIL("reply with quote"),
    DETAIL("quote"),
    DETAIL("top"),
    DETAIL("click to expand"),
    DETAIL("thanks ("),
    DETAIL("original poster"),
    DETAIL("last edited"),
};

enum { RULE_COUNT = sizeof rules / sizeof *rules, BUCKETS = 512 };

/* Rules with the same first three bytes are chained; zero ends a chain. */
static uint16_t buckets[BUCKETS];
static uint16_t chain[RULE_COUNT];
static uint8_t lengths[RULE_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t bucket_of(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    return (at[0] * 31u * 31u + at[1] * 31u + (at[1] != '\0' ? at[2] : 0)) % BUCKETS;
}

static void build_buckets(void)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        size_t bucket = bucket_of(rules[i].text);
        lengths[i] = (uint8_t)strlen(rules[i].text);
        chain[i] = buckets[bucket];
        buckets[bucket] = (uint16_t)(i + 1);
    }
}

enum label_effect label_effect(const char *label, size_t length)
{
    pthread_once(&once, build_buckets);
    if (length < 2) {
        return LABEL_NONE;
    }
    for (size_t at = buckets[bucket_of(label)]; at != 0; at = chain[at - 1]) {
        const struct label_rule *rule = &rules[at - 1];
        size_t wanted = lengths[at - 1];
        bool fits = rule->begins ? length >= wanted : length == wanted;
        if (fits && memcmp(label, rule->text, wanted) == 0) {
            return rule->effect;
        }
    }
    return LABEL_NONE;
}
