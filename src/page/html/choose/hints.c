/* The table of hint words, and how an attribute is cut into words. */
#include "page/html/choose/hints.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct hint_word {
    const char *word;
    uint64_t hints;
};

/* Plurals are words of their own: one look, no grammar. */
static const struct hint_word words[] = {
    {"nav", HINT_NAVIGATION},
    {"navbar", HINT_NAVIGATION},
    {"navigation", HINT_NAVIGATION},
    {"navlinks", HINT_NAVIGATION},
    {"gnav", HINT_NAVIGATION},
    {"subnav", HINT_NAVIGATION},
    {"topnav", HINT_NAVIGATION},
    {"menu", HINT_NAVIGATION},
    {"menus", HINT_NAVIGATION},
    {"menubar", HINT_NAVIGATION},
    {"submenu", HINT_NAVIGATION},
    {"megamenu", HINT_NAVIGATION},
    {"mainmenu", HINT_NAVIGATION},
    {"hamburger", HINT_NAVIGATION},
    {"offcanvas", HINT_NAVIGATION},
    {"dropdown", HINT_NAVIGATION},
    {"sitemap", HINT_NAVIGATION},
    {"skiplink", HINT_NAVIGATION},
    {"skiplinks", HINT_NAVIGATION},
    {"skipto", HINT_NAVIGATION},
    {"skipnav", HINT_NAVIGATION},
    {"quicklinks", HINT_NAVIGATION},
    {"jumplinks", HINT_NAVIGATION},
    {"backtotop", HINT_NAVIGATION},
    {"totop", HINT_NAVIGATION},
    {"languageswitcher", HINT_NAVIGATION},
    {"languageselector", HINT_NAVIGATION},
    {"langselector", HINT_NAVIGATION},
    {"skip", HINT_NAVIGATION},
    {"skipper", HINT_NAVIGATION},
    {"toplinks", HINT_NAVIGATION},
    {"navitem", HINT_NAVIGATION},
    {"navmenu", HINT_NAVIGATION},
    {"leftnav", HINT_NAVIGATION},
    {"rightnav", HINT_NAVIGATION},
    {"mobilenav", HINT_NAVIGATION},
    {"pagetools", HINT_NAVIGATION},

    {"breadcrumb", HINT_BREADCRUMB},
    {"breadcrumbs", HINT_BREADCRUMB},
    {"crumbs", HINT_BREADCRUMB},
    {"crumb", HINT_BREADCRUMB},

    {"footer", HINT_FOOTER},
    {"footers", HINT_FOOTER},
    {"subfooter", HINT_FOOTER},
    {"prefooter", HINT_FOOTER},
    {"colophon", HINT_FOOTER},
    {"copyright", HINT_FOOTER},
    {"siteinfo", HINT_FOOTER},
    {"legal", HINT_FOOTER},
    {"contentinfo", HINT_FOOTER},
    {"disclaimer", HINT_FOOTER},
    {"privacy", HINT_FOOTER},

    {"masthead", HINT_HEADER},
    {"topbar", HINT_HEADER},
    {"siteheader", HINT_HEADER},
    {"globalheader", HINT_HEADER},
    {"headerbar", HINT_HEADER},
    {"announcement", HINT_HEADER},
    {"announcementbar", HINT_HEADER},
    {"promobar", HINT_HEADER},
    {"sitetitle", HINT_HEADER},
    {"sitebranding", HINT_HEADER},
    {"alertbar", HINT_HEADER},
    {"noticebar", HINT_HEADER},
    {"usp", HINT_HEADER},

    {"sidebar", HINT_SIDEBAR},
    {"sidebars", HINT_SIDEBAR},
    {"sidenav", HINT_SIDEBAR | HINT_NAVIGATION},
    {"rightrail", HINT_SIDEBAR},
    {"leftrail", HINT_SIDEBAR},
    {"rightsidebar", HINT_SIDEBAR},
    {"widgetarea", HINT_SIDEBAR},
    {"aside", HINT_SIDEBAR},
    {"complementary", HINT_SIDEBAR},

    {"related", HINT_RELATED},
    {"relatedposts", HINT_RELATED},
    {"relatedarticles", HINT_RELATED},
    {"recommended", HINT_RELATED},
    {"recommendation", HINT_RELATED},
    {"recommendations", HINT_RELATED},
    {"recirc", HINT_RELATED},
    {"recirculation", HINT_RELATED},
    {"similar", HINT_RELATED},
    {"mostread", HINT_RELATED},
    {"mostpopular", HINT_RELATED},
    {"popularposts", HINT_RELATED},
    {"readnext", HINT_RELATED},
    {"readalso", HINT_RELATED},
    {"upnext", HINT_RELATED},
    {"morestories", HINT_RELATED},
    {"morearticles", HINT_RELATED},
    {"morefrom", HINT_RELATED},
    {"moreposts", HINT_RELATED},
    {"morenews", HINT_RELATED},
    {"recentposts", HINT_RELATED},
    {"recentarticles", HINT_RELATED},
    {"recentnews", HINT_RELATED},
    {"latestposts", HINT_RELATED},
    {"latestnews", HINT_RELATED},
    {"latestarticles", HINT_RELATED},
    {"suggested", HINT_RELATED},
    {"suggestions", HINT_RELATED},
    {"youmaylike", HINT_RELATED},
    {"mightlike", HINT_RELATED},
    {"maylike", HINT_RELATED},
    {"alsolike", HINT_RELATED},
    {"crosssell", HINT_RELATED},
    {"crosssells", HINT_RELATED},
    {"upsell", HINT_RELATED},
    {"upsells", HINT_RELATED},
    {"recentlyviewed", HINT_RELATED},
    {"trending", HINT_RELATED},
    {"outbrain", HINT_RELATED | HINT_ADVERT},
    {"taboola", HINT_RELATED | HINT_ADVERT},
    {"zergnet", HINT_RELATED | HINT_ADVERT},
    {"recent", HINT_RELATED},
    {"popular", HINT_RELATED},

    {"share", HINT_SHARE},
    {"shares", HINT_SHARE},
    {"sharing", HINT_SHARE},
    {"sharebar", HINT_SHARE},
    {"sharethis", HINT_SHARE},
    {"sharebuttons", HINT_SHARE},
    {"sharedaddy", HINT_SHARE},
    {"social", HINT_SHARE},
    {"socials", HINT_SHARE},
    {"socialmedia", HINT_SHARE},
    {"socialshare", HINT_SHARE},
    {"addthis", HINT_SHARE},
    {"addtoany", HINT_SHARE},
    {"followus", HINT_SHARE},
    {"socialicons", HINT_SHARE},
    {"sociallinks", HINT_SHARE},

    {"ad", HINT_ADVERT},
    {"ads", HINT_ADVERT},
    {"adslot", HINT_ADVERT},
    {"adunit", HINT_ADVERT},
    {"adbox", HINT_ADVERT},
    {"adsense", HINT_ADVERT},
    {"adcontainer", HINT_ADVERT},
    {"adwrapper", HINT_ADVERT},
    {"adsbygoogle", HINT_ADVERT},
    {"advert", HINT_ADVERT},
    {"adverts", HINT_ADVERT},
    {"advertisement", HINT_ADVERT},
    {"advertising", HINT_ADVERT},
    {"sponsor", HINT_ADVERT},
    {"sponsored", HINT_ADVERT},
    {"sponsors", HINT_ADVERT},
    {"dfp", HINT_ADVERT},

    {"cookie", HINT_COOKIE},
    {"cookies", HINT_COOKIE},
    {"consent", HINT_COOKIE},
    {"gdpr", HINT_COOKIE},
    {"onetrust", HINT_COOKIE},
    {"cookiebot", HINT_COOKIE},
    {"ccpa", HINT_COOKIE},

    {"newsletter", HINT_NEWSLETTER},
    {"newsletters", HINT_NEWSLETTER},
    {"subscribe", HINT_NEWSLETTER},
    {"subscription", HINT_NEWSLETTER},
    {"optin", HINT_NEWSLETTER},
    {"signup", HINT_NEWSLETTER},
    {"emailsignup", HINT_NEWSLETTER},
    {"mailchimp", HINT_NEWSLETTER},
    {"mailinglist", HINT_NEWSLETTER},
    {"leadmagnet", HINT_NEWSLETTER},
    {"akismet", HINT_NEWSLETTER},
    {"subscribebox", HINT_NEWSLETTER},

    {"modal", HINT_POPUP},
    {"modals", HINT_POPUP},
    {"popup", HINT_POPUP},
    {"popups", HINT_POPUP},
    {"popover", HINT_POPUP},
    {"dialog", HINT_POPUP},
    {"alertdialog", HINT_POPUP},
    {"lightbox", HINT_POPUP},
    {"drawer", HINT_POPUP},
    {"flyout", HINT_POPUP},
    {"tooltip", HINT_POPUP},
    {"toast", HINT_POPUP},
    {"paywall", HINT_POPUP},
    {"noscript", HINT_POPUP},
    {"browserwarning", HINT_POPUP},
    {"loading", HINT_POPUP},
    {"spinner", HINT_POPUP},
    {"preloader", HINT_POPUP},
    {"loader", HINT_POPUP},
    {"quickview", HINT_POPUP},

    {"pagination", HINT_PAGER},
    {"paginate", HINT_PAGER},
    {"paginator", HINT_PAGER},
    {"pager", HINT_PAGER},
    {"paging", HINT_PAGER},
    {"pagenav", HINT_PAGER},
    {"pagenumbers", HINT_PAGER},
    {"prevnext", HINT_PAGER},
    {"nextprev", HINT_PAGER},
    {"postnav", HINT_PAGER},
    {"postnavigation", HINT_PAGER},
    {"loadmore", HINT_PAGER},
    {"showmore", HINT_PAGER},

    {"cart", HINT_ACCOUNT},
    {"minicart", HINT_ACCOUNT},
    {"basket", HINT_ACCOUNT},
    {"wishlist", HINT_ACCOUNT},
    {"addtocart", HINT_ACCOUNT | HINT_ACTION},
    {"checkout", HINT_ACCOUNT},
    {"login", HINT_ACCOUNT},
    {"signin", HINT_ACCOUNT},
    {"register", HINT_ACCOUNT},
    {"logout", HINT_ACCOUNT},
    {"usermenu", HINT_ACCOUNT},
    {"quantity", HINT_ACCOUNT},
    {"addto", HINT_ACCOUNT},

    {"sronly", HINT_UNSEEN},
    {"visuallyhidden", HINT_UNSEEN},
    {"screenreader", HINT_UNSEEN},
    {"screenreadertext", HINT_UNSEEN},
    {"offscreen", HINT_UNSEEN},
    {"noprint", HINT_UNSEEN},
    {"printonly", HINT_UNSEEN},
    {"cloned", HINT_UNSEEN},

    {"filter", HINT_FILTER},
    {"filters", HINT_FILTER},
    {"facet", HINT_FILTER},
    {"facets", HINT_FILTER},
    {"refinement", HINT_FILTER},
    {"refinements", HINT_FILTER},
    {"refine", HINT_FILTER},
    {"sortby", HINT_FILTER},
    {"sorting", HINT_FILTER},
    {"sorter", HINT_FILTER},
    {"sort", HINT_FILTER},
    {"toolbar", HINT_FILTER},
    {"compare", HINT_FILTER},
    {"stores", HINT_FILTER},
    {"storelocator", HINT_FILTER},

    {"search", HINT_SEARCH},
    {"searchbox", HINT_SEARCH},
    {"searchform", HINT_SEARCH},
    {"searchbar", HINT_SEARCH},

    {"comment", HINT_COMMENT | HINT_POST},
    {"comments", HINT_COMMENT},
    {"commentlist", HINT_COMMENT},
    {"commentform", HINT_COMMENT},
    {"disqus", HINT_COMMENT},
    {"respond", HINT_COMMENT},
    {"webmention", HINT_COMMENT},
    {"webmentions", HINT_COMMENT},

    {"reply", HINT_POST},
    {"replies", HINT_POST},
    {"message", HINT_POST},
    {"answer", HINT_POST},
    {"answers", HINT_POST},
    {"question", HINT_POST},
    {"post", HINT_POST},
    {"forumpost", HINT_POST},
    {"topicpost", HINT_POST},
    {"postbody", HINT_POST},
    {"messagebody", HINT_POST},
    {"messagecontent", HINT_POST},

    {"byline", HINT_BYLINE},
    {"bylines", HINT_BYLINE},
    {"dateline", HINT_BYLINE},
    {"timestamp", HINT_BYLINE},
    {"postmeta", HINT_BYLINE},
    {"entrymeta", HINT_BYLINE},
    {"articlemeta", HINT_BYLINE},
    {"metadata", HINT_BYLINE},
    {"publishdate", HINT_BYLINE},
    {"pubdate", HINT_BYLINE},
    {"postdate", HINT_BYLINE},
    {"entrydate", HINT_BYLINE},
    {"readtime", HINT_BYLINE},
    {"readingtime", HINT_BYLINE},
    {"postauthor", HINT_BYLINE},
    {"entryauthor", HINT_BYLINE},
    {"articleauthor", HINT_BYLINE},
    {"authorname", HINT_BYLINE},
    {"author", HINT_BYLINE},
    {"authors", HINT_BYLINE},
    {"date", HINT_BYLINE},
    {"published", HINT_BYLINE},
    {"updated", HINT_BYLINE},
    {"meta", HINT_BYLINE},

    {"bio", HINT_BIOGRAPHY},
    {"biography", HINT_BIOGRAPHY},
    {"authorbox", HINT_BIOGRAPHY},
    {"authorbio", HINT_BIOGRAPHY},
    {"authorinfo", HINT_BIOGRAPHY},
    {"authorcard", HINT_BIOGRAPHY},
    {"authorblock", HINT_BIOGRAPHY},
    {"authorprofile", HINT_BIOGRAPHY},
    {"authordescription", HINT_BIOGRAPHY},
    {"aboutauthor", HINT_BIOGRAPHY},
    {"theauthor", HINT_BIOGRAPHY},

    {"tags", HINT_TAGS},
    {"taglist", HINT_TAGS},
    {"tagcloud", HINT_TAGS},
    {"taglinks", HINT_TAGS},
    {"posttags", HINT_TAGS},
    {"catlinks", HINT_TAGS},
    {"keywords", HINT_TAGS},
    {"topics", HINT_TAGS},

    {"review", HINT_REVIEW},
    {"reviews", HINT_REVIEW},
    {"rating", HINT_REVIEW},
    {"ratings", HINT_REVIEW},
    {"testimonial", HINT_REVIEW},
    {"testimonials", HINT_REVIEW},

    {"caption", HINT_CAPTION},
    {"credit", HINT_CAPTION},
    {"credits", HINT_CAPTION},

    {"signature", HINT_SIGNATURE},
    {"sig", HINT_SIGNATURE},

    {"cta", HINT_ACTION},
    {"calltoaction", HINT_ACTION},
    {"btn", HINT_ACTION},
    {"button", HINT_ACTION},
    {"buttons", HINT_ACTION},
    {"readmore", HINT_ACTION},
    {"editsection", HINT_ACTION},

    {"accordion", HINT_PANEL},
    {"accordions", HINT_PANEL},
    {"collapse", HINT_PANEL},
    {"collapsible", HINT_PANEL},
    {"collapsed", HINT_PANEL},
    {"tab", HINT_PANEL},
    {"tabs", HINT_PANEL},
    {"tabpanel", HINT_PANEL},
    {"tabcontent", HINT_PANEL},
    {"tabpane", HINT_PANEL},
    {"panel", HINT_PANEL},
    {"panels", HINT_PANEL},
    {"panelcontent", HINT_PANEL},
    {"faq", HINT_PANEL},
    {"faqs", HINT_PANEL},
    {"toggle", HINT_PANEL},
    {"slide", HINT_PANEL},
    {"slides", HINT_PANEL},
    {"slick", HINT_PANEL},
    {"expandable", HINT_PANEL},
    {"disclosure", HINT_PANEL},

    {"postprofile", HINT_POSTER},
    {"userextras", HINT_POSTER},
    {"usertitle", HINT_POSTER},
    {"userbanner", HINT_POSTER},
    {"userstats", HINT_POSTER},
    {"userinfo", HINT_POSTER},
    {"posterinfo", HINT_POSTER},
    {"postcount", HINT_POSTER},
    {"reputation", HINT_POSTER},
    {"reactions", HINT_POSTER},
    {"reactionsbar", HINT_POSTER},
    {"avatar", HINT_POSTER},
    {"avatars", HINT_POSTER},
    {"usergroup", HINT_POSTER},
    {"rank", HINT_POSTER},
    {"badges", HINT_POSTER},
    {"likes", HINT_POSTER},
    {"signaturebox", HINT_POSTER},
    {"messageuserextras", HINT_POSTER},
    {"postactions", HINT_POSTER},
    {"postcontrols", HINT_POSTER},
    {"postbuttons", HINT_POSTER},
    {"messageactionbar", HINT_POSTER},
    {"pollresults", HINT_POSTER},
    {"joindate", HINT_POSTER},
    {"userdetailsextra", HINT_POSTER},

    {"quote", HINT_QUOTE},
    {"quoted", HINT_QUOTE},
    {"quotebox", HINT_QUOTE},
    {"quotemain", HINT_QUOTE},
    {"ipsquote", HINT_QUOTE},
    {"quotecontainer", HINT_QUOTE},

    {"mathjax", HINT_FORMULA},
    {"katex", HINT_FORMULA},
    {"math", HINT_FORMULA},
    {"mjx", HINT_FORMULA},
};

enum {
    WORD_COUNT = sizeof words / sizeof *words,
    SLOTS = 2048,
    LONGEST_WORD = 24,
    LONGEST_SCRAP = 3
};

/* Open addressing; a slot holds the number of a word plus one. */
static uint16_t slots[SLOTS];
static uint32_t hashes[WORD_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t hash_step(uint32_t hash, unsigned char letter)
{
    return (hash ^ letter) * 16777619u;
}

enum { HASH_START = 0x811c9dc5 & 0x7fffffff };

static void build_slots(void)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        uint32_t hash = HASH_START;
        for (const char *at = words[i].word; *at != '\0'; at++) {
            hash = hash_step(hash, (unsigned char)*at);
        }
        hashes[i] = hash;
        size_t slot = hash % SLOTS;
        while (slots[slot] != 0) {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = (uint16_t)(i + 1);
    }
}

/* The word is given in two pieces, either of which may be empty. */
static uint64_t look_up(uint32_t hash, const char *word, size_t length)
{
    for (size_t slot = hash % SLOTS; slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        size_t found = (size_t)slots[slot] - 1;
        if (hashes[found] == hash && strncmp(words[found].word, word, length) == 0 &&
            words[found].word[length] == '\0') {
            return words[found].hints;
        }
    }
    return 0;
}

/* Words in a row are gathered without their separators: `start` is where the newest begins,
 * `before` where the one before it does. */
struct run_of_words {
    char letters[4 * LONGEST_WORD];
    size_t length, start, before, earlier;
    bool scrap; /* the newest follows a digit: a piece of a number such as "3e5ad1" */
    uint64_t hints;
};

static uint64_t look_up_range(const struct run_of_words *run, size_t from)
{
    size_t length = run->length - from;
    if (length < 2 || length > LONGEST_WORD) {
        return 0;
    }
    uint32_t hash = HASH_START;
    for (size_t i = from; i < run->length; i++) {
        hash = hash_step(hash, (unsigned char)run->letters[i]);
    }
    return look_up(hash, run->letters + from, length);
}

static void end_word(struct run_of_words *run)
{
    if (run->length == run->start) {
        return;
    }
    if (run->scrap && run->length - run->start <= LONGEST_SCRAP) {
        run->length = run->start;
        return;
    }
    run->hints |= look_up_range(run, run->start);
    if (run->before < run->start) {
        run->hints |= look_up_range(run, run->before);
    }
    if (run->earlier < run->before) {
        run->hints |= look_up_range(run, run->earlier);
    }
    run->earlier = run->before;
    run->before = run->start;
    run->start = run->length;
}

static void end_run(struct run_of_words *run)
{
    end_word(run);
    run->length = run->start = run->before = run->earlier = 0;
    run->scrap = false;
}

uint64_t hints_of(const unsigned char *text, size_t length)
{
    pthread_once(&once, build_slots);
    struct run_of_words run = {.length = 0};
    bool small = false; /* the last letter was a small one */
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = text[i];
        bool is_small = letter >= 'a' && letter <= 'z';
        bool is_large = letter >= 'A' && letter <= 'Z';
        if (letter == ' ' || letter == '\n' || letter == '\t' || run.length >= 3 * LONGEST_WORD) {
            end_run(&run);
            small = false;
            if (!is_small && !is_large) {
                continue;
            }
        }
        if (!is_small && !is_large) {
            end_word(&run);
            small = false;
            run.scrap = letter >= '0' && letter <= '9';
            continue;
        }
        if (is_large && small) {
            end_word(&run);
            run.scrap = false;
        }
        run.letters[run.length++] = (char)(is_large ? letter + 32 : letter);
        small = is_small;
    }
    end_run(&run);
    return run.hints;
}
