/* What a page says about itself. Each fact has a table of places where it may stand, best first. */
#include "html/metadata.h"

#include "core/status.h"
#include "html/classes.h"
#include "html/dom.h"
#include "html/embedded.h"
#include "tables.h"
#include "text/count.h"
#include "text/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define LONGEST_FACT 1000 /* bytes */

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

struct page_head {
    const char *facts[META_FACTS]; /* of the name with the least rank that the page has */
    uint32_t ranks[META_FACTS];
    const char *title;
    const char *canonical;
};

static void read_meta(struct page_head *head, const lxb_dom_node_t *node)
{
    const char *name = dom_attr(node, "property");
    name = name ? name : dom_attr(node, "name");
    name = name ? name : dom_attr(node, "itemprop");
    const char *content = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
    uint32_t value = name && content && *content ? words_value(&meta_names, name, strlen(name)) : 0;
    uint32_t fact = WORD_CLASS_OF(value), rank = WORD_PLACE_OF(value);
    if (value && (!head->facts[fact] || rank < head->ranks[fact])) {
        head->facts[fact] = content;
        head->ranks[fact] = rank;
    }
}

static void read_head(struct page *page, struct page_head *head)
{
    lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    bool below = true;
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, below)) {
        lxb_tag_id_t tag = dom_tag(node);
        below = tag != LXB_TAG_BODY && tag != LXB_TAG_SVG;
        if (tag == LXB_TAG_META) {
            read_meta(head, node);
        } else if (tag == LXB_TAG_TITLE && !head->title) {
            head->title = dom_collect_text(page->arena, node);
        } else if (tag == LXB_TAG_LINK && !head->canonical) {
            if (dom_has_word(dom_attr(node, "rel"), "canonical")) {
                head->canonical = dom_known_attr(node, LXB_DOM_ATTR_HREF);
            }
        }
    }
}

/* ---- JSON-LD ---- */

/* The object that describes this page: the first of the most telling type. */
static yyjson_val *main_object(struct page *page)
{
    yyjson_val *best = NULL;
    uint32_t least = 0;
    size_t index, count;
    yyjson_val *object;
    yyjson_arr_foreach(page->json_ld, index, count, object)
    {
        uint32_t rank = jsonld_rank(object, &described_types);
        if (rank && (!best || rank < least)) {
            best = object;
            least = rank;
        }
    }
    return best;
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

/* A date as ISO 8601, in the arena: "2024-05-01" or "2024-05-01T10:00:00Z", of that form already or
 * as "May 1, 2024" and "1 May 2024". NULL when it is none. */
static const char *read_date(struct arena *arena, const char *text)
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
static const char *const SEPARATORS[] = {" | ", " - ", " – ", " — ", " · ", " :: ", " » ",
                                         " / ", " > ", " • ", " < ", " « ", NULL};

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

/* A title without the name of the site at its end or beginning. */
static const char *cut_site(struct arena *arena, const char *title, const char *site)
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
    size_t tail_words = count_between_blanks(tail, strlen(tail));
    size_t head_words = count_between_blanks(title, head);
    bool bar = *last == ' ' && last[1] == '|'; /* which hardly anyone uses within a title */
    bool looks_so = tail_words <= 4 && head_words + bar > tail_words;
    if (!is_site && !looks_so) {
        return title;
    }
    const char *cut = arena_strndup(arena, title, head);
    return cut && is_site && site && strstr(cut, " | ") &&
                   same_words(strrchr(cut, '|') + 1, strlen(strrchr(cut, '|') + 1), site)
               ? cut_site(arena, cut, site)
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

static void read_title(struct page *page, const struct page_head *head, yyjson_val *object)
{
    struct page_metadata *metadata = &page->metadata;
    const char *heading = first_heading(page);
    const char *title = clean(page->arena, text_in(object, "headline"));
    title = title ? title : clean(page->arena, head->facts[META_TITLE]);
    title = title ? title : clean(page->arena, head->title);
    title = title ? title : heading;
    if (!title) {
        return;
    }
    /* The heading is the title without what was added for search engines. */
    if (heading &&
        (begins_so(title, heading) || (head->title && begins_so(head->title, heading)))) {
        metadata->title = clean(page->arena, heading);
        return;
    }
    metadata->title = cut_site(page->arena, title, metadata->site);
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
    return length > 2 && length < 80 && count_between_blanks(text, length) <= 10 &&
           !strstr(text, "://") && !strchr(text, '@') && !isdigit((unsigned char)*text);
}

struct body_facts {
    const char *author, *published, *modified;
};

/* What stands in the page itself: itemprop, rel=author, <time>, classes of bylines. `known` is what
 * need not be looked for. Properties have the last word, so that a page with such is read to its
 * end. */
static void read_body(struct page *page, const struct body_facts *known, struct body_facts *facts)
{
    const lxb_dom_attr_id_t itemprop = dom_attr_number(page, "itemprop");
    bool author_is_known = known->author != NULL;
    for (lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, true)) {
        if (itemprop == LXB_DOM_ATTR__UNDEF && (author_is_known || facts->author) &&
            (known->published || facts->published)) {
            break;
        }
        if (node->type != LXB_DOM_NODE_TYPE_ELEMENT || (node_marks(node) & NODE_HIDDEN)) {
            continue;
        }
        if (dom_tag(node) == LXB_TAG_TIME && !facts->published) {
            const char *date = dom_attr(node, "datetime");
            facts->published =
                read_date(page->arena, date ? date : dom_collect_text(page->arena, node));
        }
        const char *words = dom_class(node);
        bool byline = !author_is_known && !facts->author && words &&
                      (dom_has_word(words, "author") || dom_holds_any(words, byline_classes));
        const char *property =
            itemprop != LXB_DOM_ATTR__UNDEF ? dom_known_attr(node, itemprop) : NULL;
        if (property) {
            const char *content = dom_known_attr(node, LXB_DOM_ATTR_CONTENT);
            const char *date = content ? content : dom_attr(node, "datetime");
            if (strcasecmp(property, "datePublished") == 0 && date) {
                facts->published = read_date(page->arena, date);
            } else if (strcasecmp(property, "dateModified") == 0 && date) {
                facts->modified = read_date(page->arena, date);
            } else if (strcasecmp(property, "author") == 0) {
                byline = !author_is_known && !facts->author;
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

/* What JSON-LD or the head says of the authors; NULL when it is nothing that names people. */
static const char *authors_of(struct page *page, const struct page_head *head, yyjson_val *object)
{
    const char *authors = clean(page->arena, names_in(page, yyjson_obj_get(object, "author")));
    if (!is_name(authors)) {
        authors = clean(page->arena, strip_by(head->facts[META_AUTHOR]));
    }
    bool several = authors && strchr(authors, ',') && !strstr(authors, "://");
    return is_name(authors) || several ? authors : NULL;
}

void metadata_read(struct page *page)
{
    struct page_metadata *metadata = &page->metadata;
    struct page_head *head = arena_zalloc(page->arena, sizeof *head);
    if (!head) {
        return;
    }
    read_head(page, head);
    yyjson_val *object = main_object(page);
    const char *authors = authors_of(page, head, object);
    const struct body_facts known = {
        .author = authors,
        .published = first_of(read_date(page->arena, text_in(object, "datePublished")),
                              read_date(page->arena, head->facts[META_PUBLISHED])),
        .modified = first_of(read_date(page->arena, text_in(object, "dateModified")),
                             read_date(page->arena, head->facts[META_MODIFIED])),
    };
    struct body_facts facts = {0};
    if (!known.author || !known.published || !known.modified) {
        read_body(page, &known, &facts);
    }
    metadata->url = page->url;
    metadata->canonical = resolve(page, head->canonical);
    metadata->site =
        clean(page->arena,
              first_of(head->facts[META_SITE], name_in(page, yyjson_obj_get(object, "publisher"))));
    read_title(page, head, object);
    metadata->authors = known.author ? known.author : facts.author;
    metadata->published = known.published ? known.published : facts.published;
    metadata->modified = known.modified ? known.modified : facts.modified;
    metadata->description =
        clean(page->arena, first_of(head->facts[META_DESCRIPTION], text_in(object, "description")));
    metadata->image = resolve(page, head->facts[META_IMAGE]);
    metadata->tier = head->facts[META_TIER];
    lxb_dom_node_t *root = lxb_dom_document_root(lxb_dom_interface_document(page->document));
    const char *language = root ? dom_attr(root, "lang") : NULL;
    metadata->language = clean(page->arena, first_of(language, text_in(object, "inLanguage")));
}
