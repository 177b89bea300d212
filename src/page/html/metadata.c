/* What a page says about itself. Each fact has a table of places where it may stand, best first. */
#include "page/html/metadata.h"

#include "core/status.h"
#include "page/html/dom.h"
#include "page/html/jsonld.h"
#include "text/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define LONGEST_FACT 1000 /* bytes */
#define MOST_METAS   200

/* ---- facts ---- */

/* One line, trimmed, of a sensible length; NULL when nothing is left. */
static const char *clean(struct arena *arena, const char *text)
{
    if (!text) {
        return NULL;
    }
    size_t room = strlen(text);
    room = room < LONGEST_FACT ? room : LONGEST_FACT;
    char *out = arena_alloc(arena, room + 1);
    size_t used = 0;
    bool space = false;
    for (const char *at = text; out && *at && used + 1 < room + 1; at++) {
        bool no_break = at[0] == '\xC2' && at[1] == '\xA0';
        if (isspace((unsigned char)*at) || no_break) {
            space = true;
            at += no_break;
            continue;
        }
        if (space && used && used + 2 < room + 1) {
            out[used++] = ' ';
        }
        space = false;
        out[used++] = *at;
    }
    if (!out) {
        return NULL;
    }
    if (used + 2 >= LONGEST_FACT) {
        /* Not in the middle of a character. */
        while (used && (out[used - 1] & 0xC0) == 0x80) {
            used--;
        }
        used -= used && (out[used - 1] & 0x80);
    }
    out[used] = '\0';
    return used ? out : NULL;
}

/* ---- <meta> ---- */

struct metas {
    struct {
        const char *name, *content;
    } list[MOST_METAS];
    size_t count;
    const char *title;
    const char *canonical;
};

static void read_head(struct page *page, struct metas *metas)
{
    lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    bool below = true;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        lxb_tag_id_t tag = dom_tag(node);
        below = tag != LXB_TAG_BODY && tag != LXB_TAG_SVG;
        if (tag == LXB_TAG_META && metas->count < MOST_METAS) {
            const char *name = dom_attr(node, "property");
            name = name ? name : dom_attr(node, "name");
            name = name ? name : dom_attr(node, "itemprop");
            const char *content = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
            if (name && content && *content) {
                metas->list[metas->count].name = name;
                metas->list[metas->count++].content = content;
            }
        } else if (tag == LXB_TAG_TITLE && !metas->title) {
            metas->title = dom_collect_text(page->arena, node);
        } else if (tag == LXB_TAG_LINK && !metas->canonical) {
            const char *relation = dom_attr(node, "rel");
            if (relation && dom_has_word(relation, "canonical")) {
                metas->canonical = dom_known_attr(node, LXB_DOM_ATTR_HREF);
            }
        }
    }
}

/* The first of the names, which end with NULL, that the page has. */
static const char *meta(const struct metas *metas, const char *const *names)
{
    for (; *names; names++) {
        for (size_t i = 0; i < metas->count; i++) {
            if (strcasecmp(metas->list[i].name, *names) == 0) {
                return metas->list[i].content;
            }
        }
    }
    return NULL;
}

static const char *const META_TITLE[] = {"og:title",       "twitter:title", "dc.title",
                                         "citation_title", "headline",      NULL};
static const char *const META_SITE[] = {"og:site_name", "application-name", "publisher",
                                        "dc.publisher", NULL};
static const char *const META_AUTHOR[] = {
    "author",         "article:author",  "dc.creator", "dcterms.creator", "citation_author",
    "parsely-author", "sailthru.author", "byl",        "twitter:creator", NULL};
static const char *const META_PUBLISHED[] = {"article:published_time",
                                             "og:published_time",
                                             "datepublished",
                                             "date",
                                             "dc.date",
                                             "dcterms.date",
                                             "dc.date.issued",
                                             "dcterms.created",
                                             "citation_publication_date",
                                             "citation_date",
                                             "publish_date",
                                             "pubdate",
                                             "parsely-pub-date",
                                             "sailthru.date",
                                             "publication_date",
                                             "published_time",
                                             NULL};
static const char *const META_MODIFIED[] = {
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified",
    "last-modified",         "lastmod",         "revised",      NULL};
static const char *const META_DESCRIPTION[] = {"og:description", "description",
                                               "twitter:description", "dc.description", NULL};
static const char *const META_IMAGE[] = {"og:image", "og:image:url", "twitter:image",
                                         "twitter:image:src", NULL};

/* ---- JSON-LD ---- */

static const char *const PAGE_TYPES[] = {"Article",
                                         "NewsArticle",
                                         "BlogPosting",
                                         "TechArticle",
                                         "ScholarlyArticle",
                                         "Report",
                                         "ReportageNewsArticle",
                                         "AnalysisNewsArticle",
                                         "OpinionNewsArticle",
                                         "LiveBlogPosting",
                                         "SocialMediaPosting",
                                         "DiscussionForumPosting",
                                         "QAPage",
                                         "Question",
                                         "Recipe",
                                         "Product",
                                         "HowTo",
                                         "Review",
                                         "Book",
                                         "Course",
                                         "Event",
                                         "VideoObject",
                                         "PodcastEpisode",
                                         "WebPage",
                                         "AboutPage",
                                         "FAQPage",
                                         "CollectionPage",
                                         NULL};

/* The object that describes this page: the first of the most telling type. */
static yyjson_val *main_object(struct page *page)
{
    for (const char *const *type = PAGE_TYPES; page->json_ld && *type; type++) {
        size_t index, count;
        yyjson_val *object;
        yyjson_arr_foreach(page->json_ld, index, count, object)
        {
            if (jsonld_is(object, *type)) {
                return object;
            }
        }
    }
    return NULL;
}

static yyjson_val *by_reference(struct page *page, yyjson_val *value)
{
    const char *id = yyjson_get_str(yyjson_obj_get(value, "@id"));
    size_t index, count;
    yyjson_val *object;
    if (!id || yyjson_obj_get(value, "name")) {
        return value;
    }
    yyjson_arr_foreach(page->json_ld, index, count, object)
    {
        const char *other = yyjson_get_str(yyjson_obj_get(object, "@id"));
        if (other && strcmp(other, id) == 0 && yyjson_obj_get(object, "name")) {
            return object;
        }
    }
    return value;
}

static const char *name_in(struct page *page, yyjson_val *value)
{
    value = yyjson_is_arr(value) ? yyjson_arr_get_first(value) : value;
    if (yyjson_is_obj(value)) {
        value = yyjson_obj_get(by_reference(page, value), "name");
        value = yyjson_is_arr(value) ? yyjson_arr_get_first(value) : value;
    }
    return yyjson_get_str(value);
}

/* "A, B and C" of one person or many. */
static const char *names_in(struct page *page, yyjson_val *value)
{
    if (!yyjson_is_arr(value)) {
        return name_in(page, value);
    }
    const char *names = NULL;
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(value, index, count, item)
    {
        const char *name = clean(page->arena, name_in(page, item));
        if (name && index < 20 && !(names && strstr(names, name))) {
            names = names ? arena_printf(page->arena, "%s, %s", names, name) : name;
        }
    }
    return names;
}

static const char *text_in(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    value = yyjson_is_arr(value) ? yyjson_arr_get_first(value) : value;
    return yyjson_get_str(value);
}

/* ---- dates ---- */

static int month_of(const char *text, size_t length)
{
    static const char MONTHS[][4] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
    for (int i = 0; length >= 3 && i < 12; i++) {
        if (strncasecmp(text, MONTHS[i], 3) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* Dates that people write: "May 1, 2024", "1 May 2024", "1st of May 2024". */
static const char *date_in_words(struct arena *arena, const char *text)
{
    int month = 0, day = 0, year = 0;
    for (const char *at = text; *at && !year;) {
        size_t length = 0;
        if (isdigit((unsigned char)*at)) {
            char *end;
            long number = strtol(at, &end, 10);
            length = (size_t)(end - at);
            if (length == 4 && number >= 1900 && number < 2200) {
                year = (int)number;
            } else if (length <= 2 && number >= 1 && number <= 31 && !day) {
                day = (int)number;
            } else if (length > 2) {
                return NULL;
            }
        } else if (isalpha((unsigned char)*at)) {
            while (isalpha((unsigned char)at[length])) {
                length++;
            }
            month = month ? month : month_of(at, length);
        }
        at += length ? length : 1;
    }
    return month && day && year ? arena_printf(arena, "%04d-%02d-%02d", year, month, day) : NULL;
}

const char *metadata_date(struct arena *arena, const char *text)
{
    if (!text) {
        return NULL;
    }
    while (isspace((unsigned char)*text)) {
        text++;
    }
    int year, month, day, hour, minute, second;
    char separator, zone[8] = "";
    if (strspn(text, "0123456789") != 4 ||
        sscanf(text, "%4d%c%2d%*c%2d", &year, &separator, &month, &day) != 4) {
        return strlen(text) < 80 ? date_in_words(arena, text) : NULL;
    }
    if (!strchr("-/.", separator) || year < 1000 || month < 1 || month > 12 || day < 1 ||
        day > 31) {
        return NULL;
    }
    const char *time = text + strcspn(text, "T ");
    while (*time == 'T' || *time == ' ') {
        time++;
    }
    int fields = sscanf(time, "%2d:%2d:%2d", &hour, &minute, &second);
    if (fields < 2 || hour > 24 || minute > 59) {
        return arena_printf(arena, "%04d-%02d-%02d", year, month, day);
    }
    const char *at = time + strspn(time, "0123456789:.");
    while (*at == ' ') {
        at++;
    }
    if (*at == 'Z' || *at == 'z') {
        memcpy(zone, "Z", 2);
    } else if ((*at == '+' || *at == '-') && isdigit((unsigned char)at[1]) &&
               isdigit((unsigned char)at[2])) {
        const char *rest = at + 3 + (at[3] == ':');
        bool minutes = isdigit((unsigned char)rest[0]) && isdigit((unsigned char)rest[1]);
        snprintf(zone, sizeof zone, "%c%c%c:%c%c", *at, at[1], at[2], minutes ? rest[0] : '0',
                 minutes ? rest[1] : '0');
    }
    return arena_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d%s", year, month, day, hour, minute,
                        fields == 3 ? second : 0, zone);
}

/* ---- titles ---- */

/* Signs that part a title from the name of the site. */
static const char *const SEPARATORS[] = {" | ",
                                         " - ",
                                         " \xE2\x80\x93 ",
                                         " \xE2\x80\x94 ",
                                         " \xC2\xB7 ",
                                         " :: ",
                                         " \xC2\xBB ",
                                         " / ",
                                         " > ",
                                         " \xE2\x80\xA2 ",
                                         " < ",
                                         " \xC2\xAB ",
                                         NULL};

static size_t count_words(const char *text, size_t length)
{
    size_t words = 0;
    for (size_t i = 0; i < length; i++) {
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    }
    return words;
}

static bool same_words(const char *one, size_t one_length, const char *other)
{
    size_t i = 0;
    for (; *other; other++) {
        if (!isalnum((unsigned char)*other) && !(*other & 0x80)) {
            continue;
        }
        while (i < one_length && !isalnum((unsigned char)one[i]) && !(one[i] & 0x80)) {
            i++;
        }
        if (i == one_length || tolower((unsigned char)one[i]) != tolower((unsigned char)*other)) {
            return false;
        }
        i++;
    }
    while (i < one_length && !isalnum((unsigned char)one[i]) && !(one[i] & 0x80)) {
        i++;
    }
    return i == one_length;
}

const char *metadata_cut_site(struct arena *arena, const char *title, const char *site)
{
    const char *last = NULL;
    const char *first = NULL;
    size_t last_size = 0;
    size_t first_size = 0;
    for (const char *const *separator = SEPARATORS; *separator; separator++) {
        for (const char *at = strstr(title, *separator); at; at = strstr(at + 1, *separator)) {
            if (!last || at > last) {
                last = at;
                last_size = strlen(*separator);
            }
            if (!first || at < first) {
                first = at;
                first_size = strlen(*separator);
            }
        }
    }
    if (!last) {
        return title;
    }
    size_t head = (size_t)(last - title);
    const char *tail = last + last_size;
    if (site && same_words(title, (size_t)(first - title), site)) {
        return arena_strdup(arena, first + first_size);
    }
    bool is_site = site && (same_words(tail, strlen(tail), site) || strcasestr(site, tail) ||
                            strcasestr(tail, site));
    /* Without its name: a few words behind the last sign, fewer than stand before it. */
    size_t tail_words = count_words(tail, strlen(tail));
    size_t head_words = count_words(title, head);
    bool bar = *last == ' ' && last[1] == '|'; /* which hardly anyone uses within a title */
    bool looks_so = tail_words <= 4 && head_words + bar > tail_words;
    if (!is_site && !looks_so) {
        return title;
    }
    const char *cut = arena_strndup(arena, title, head);
    return cut && is_site && site && strstr(cut, " | ") &&
                   same_words(strrchr(cut, '|') + 1, strlen(strrchr(cut, '|') + 1), site)
               ? metadata_cut_site(arena, cut, site)
               : cut;
}

/* The page's first heading of the first level, when there is one with text. */
static const char *first_heading(struct page *page)
{
    for (lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, true)) {
        if (dom_tag(node) == LXB_TAG_H1 && !(node_marks(node) & NODE_HIDDEN)) {
            const char *text = dom_collect_text(page->arena, node);
            if (text && strlen(text) < 300) {
                return text;
            }
        }
    }
    return NULL;
}

/* Whether `part` is what `whole` begins with, as people read. */
static bool begins_so(const char *whole, const char *part)
{
    size_t length = strlen(part);
    return length > 3 && strncasecmp(whole, part, length) == 0;
}

static void read_title(struct page *page, const struct metas *metas, yyjson_val *object)
{
    struct page_metadata *metadata = &page->metadata;
    const char *heading = first_heading(page);
    const char *title = clean(page->arena, text_in(object, "headline"));
    title = title ? title : clean(page->arena, meta(metas, META_TITLE));
    title = title ? title : clean(page->arena, metas->title);
    title = title ? title : heading;
    if (!title) {
        return;
    }
    /* The heading is the title without what was added for search engines. */
    if (heading &&
        (begins_so(title, heading) || (metas->title && begins_so(metas->title, heading)))) {
        metadata->title = clean(page->arena, heading);
        return;
    }
    metadata->title = metadata_cut_site(page->arena, title, metadata->site);
}

/* ---- bylines and microdata ---- */

static const char *strip_by(const char *text)
{
    static const char *const WORDS[] = {
        "written by ", "posted by ", "by: ", "by ", "author: ", NULL};
    for (const char *const *word = WORDS; text && *word; word++) {
        if (strncasecmp(text, *word, strlen(*word)) == 0) {
            return text + strlen(*word);
        }
    }
    return text;
}

static bool is_name(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return length > 2 && length < 80 && count_words(text, length) <= 10 && !strstr(text, "://") &&
           !strchr(text, '@') && !isdigit((unsigned char)*text);
}

struct body_facts {
    const char *author, *published, *modified;
};

/* What stands in the page itself: itemprop, rel=author, <time>, classes of bylines. */
static void read_body(struct page *page, struct body_facts *facts)
{
    static const char *const BYLINES[] = {
        "byline",         "author-name",  "post-author", "entry-author",
        "article-author", "author__name", "byline-name", NULL};
    for (lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, true)) {
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || (node_marks(node) & NODE_HIDDEN)) {
            continue;
        }
        if (dom_tag(node) == LXB_TAG_TIME && !facts->published) {
            const char *date = dom_attr(node, "datetime");
            facts->published =
                metadata_date(page->arena, date ? date : dom_collect_text(page->arena, node));
        }
        const char *words = dom_class(node);
        bool byline = !facts->author && words &&
                      (dom_has_word(words, "author") || dom_holds_any(words, BYLINES));
        const char *property = dom_attr(node, "itemprop");
        if (property) {
            const char *content = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
            const char *date = content ? content : dom_attr(node, "datetime");
            if (strcasecmp(property, "datePublished") == 0 && date) {
                facts->published = metadata_date(page->arena, date);
            } else if (strcasecmp(property, "dateModified") == 0 && date) {
                facts->modified = metadata_date(page->arena, date);
            } else if (strcasecmp(property, "author") == 0) {
                byline = !facts->author;
            }
        }
        if (byline) {
            const char *text = clean(page->arena, strip_by(dom_collect_text(page->arena, node)));
            facts->author = is_name(text) ? text : NULL;
        }
    }
}

/* ---- the whole ---- */

static const char *first_of(const char *one, const char *other)
{
    return one && *one ? one : other;
}

static const char *resolve(struct page *page, const char *reference)
{
    struct url base, url;
    if (!reference || !*reference) {
        return NULL;
    }
    if (page->base && url_parse(page->arena, page->base, &base, NULL) == OK) {
        return url_resolve(page->arena, &base, reference, &url, NULL) == OK ? url.text : NULL;
    }
    return url_parse(page->arena, reference, &url, NULL) == OK ? url.text : NULL;
}

void metadata_read(struct page *page)
{
    struct page_metadata *metadata = &page->metadata;
    struct metas *metas = arena_zalloc(page->arena, sizeof *metas);
    if (!metas) {
        return;
    }
    read_head(page, metas);
    yyjson_val *object = main_object(page);
    struct body_facts facts = {0};
    read_body(page, &facts);
    metadata->url = page->url;
    metadata->canonical = resolve(page, metas->canonical);
    metadata->site =
        clean(page->arena,
              first_of(meta(metas, META_SITE), name_in(page, yyjson_obj_get(object, "publisher"))));
    read_title(page, metas, object);
    const char *authors = clean(page->arena, names_in(page, yyjson_obj_get(object, "author")));
    if (!is_name(authors)) {
        authors = clean(page->arena, strip_by(meta(metas, META_AUTHOR)));
    }
    metadata->authors =
        is_name(authors) || (authors && strchr(authors, ',') && !strstr(authors, "://"))
            ? authors
            : facts.author;
    metadata->published = first_of(
        metadata_date(page->arena, text_in(object, "datePublished")),
        first_of(metadata_date(page->arena, meta(metas, META_PUBLISHED)), facts.published));
    metadata->modified =
        first_of(metadata_date(page->arena, text_in(object, "dateModified")),
                 first_of(metadata_date(page->arena, meta(metas, META_MODIFIED)), facts.modified));
    metadata->description =
        clean(page->arena, first_of(meta(metas, META_DESCRIPTION), text_in(object, "description")));
    metadata->image = resolve(page, meta(metas, META_IMAGE));
    lxb_dom_node_t *root = lxb_dom_document_root(lxb_dom_interface_document(page->document));
    const char *language = root ? dom_attr(root, "lang") : NULL;
    metadata->language = clean(page->arena, first_of(language, text_in(object, "inLanguage")));
}
