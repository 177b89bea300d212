/* The table of profiles. */
#include "page/html/choose/profile.h"

/* Never content, whatever the page. */
#define HINTS_ALWAYS                                                                               \
    (HINT_NAVIGATION | HINT_FOOTER | HINT_HEADER | HINT_SIDEBAR | HINT_RELATED | HINT_SHARE |      \
     HINT_ADVERT | HINT_COOKIE | HINT_NEWSLETTER | HINT_POPUP | HINT_PAGER | HINT_ACCOUNT |        \
     HINT_UNSEEN | HINT_FILTER | HINT_BREADCRUMB | HINT_SEARCH)

static const struct profile profiles[] = {
    [PAGE_ARTICLE] = {.dropped =
                          HINTS_ALWAYS | HINT_COMMENT | HINT_BYLINE | HINT_BIOGRAPHY | HINT_TAGS,
                      .descend_percent = 85,
                      .list_percent = 60,
                      .drops_sections = true},
    [PAGE_DOCUMENTATION] = {.dropped = HINTS_ALWAYS | HINT_COMMENT | HINT_BYLINE,
                            .descend_percent = 90,
                            .list_percent = 80},
    [PAGE_SERVICE] = {.dropped = HINTS_ALWAYS | HINT_COMMENT,
                      .descend_percent = 95,
                      .holds_title = true,
                      .list_percent = 70,
                      .drops_sections = true},
    [PAGE_FORUM] = {.dropped = HINTS_ALWAYS | HINT_SIGNATURE | HINT_POSTER | HINT_QUOTE,
                    .descend_percent = 90,
                    .list_percent = 70,
                    .drops_sections = true,
                    .drops_details = true},
    [PAGE_COLLECTION] = {.dropped = HINTS_ALWAYS, .descend_percent = 95, .holds_title = true},
    [PAGE_LISTING] = {.dropped = HINTS_ALWAYS, .descend_percent = 95, .holds_title = true},
    [PAGE_PRODUCT] = {.dropped = HINTS_ALWAYS | HINT_COMMENT | HINT_REVIEW,
                      .descend_percent = 90,
                      .holds_title = true,
                      .list_percent = 70,
                      .drops_reviews = true,
                      .drops_sections = true},
};

static const struct profile any = {
    .dropped = HINTS_ALWAYS & ~(HINT_FILTER | HINT_RELATED | HINT_SIDEBAR),
};

/* Names on a page where they would leave nothing mean something else. */
static const struct profile loose = {
    .dropped = HINT_NAVIGATION | HINT_FOOTER | HINT_COOKIE | HINT_POPUP | HINT_SHARE | HINT_ADVERT |
               HINT_UNSEEN | HINT_BREADCRUMB,
    .descend_percent = 95,
    .holds_title = true,
};

const struct profile *profile_loose(void)
{
    return &loose;
}

const struct profile *profile_of_any(void)
{
    return &any;
}

const struct profile *profile_of(enum page_kind kind)
{
    return &profiles[kind];
}
