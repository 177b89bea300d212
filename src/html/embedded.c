/* JSON that a page carries: JSON-LD, which says what the page is, and data for its scripts. Text in
 * it is what people wrote: strings found by the names of their members ("articleBody", "content").
 * The name whose strings hold the most text is the one that holds the page's. */
#include "html/embedded.h"

#include "core/limits.h"
#include "html/dom.h"
#include "html/skim.h"
#include "tables.h"

#include <strings.h>

enum {
    MOST_OBJECTS = 500,        /* of JSON-LD */
    MOST_GRAPHS = 16,          /* of JSON-LD, one in the other */
    LARGEST_SCRIPT = KIB(512), /* of JSON-LD */
    SHORTEST_TEXT = 80,        /* bytes of one string that counts */
    LEAST_TEXT = 200,          /* of all that have the same name */
    LONGEST_WORD = 25,         /* bytes from blank to blank, on average, of what people write */
    MOST_TEXTS = 2000,         /* strings */
    MOST_NESTING = 40,         /* of objects and lists */
    LARGEST_TEXT = KIB(512),   /* bytes of all strings */
    LONGEST_REVIEW = 4000,     /* what is longer is a text of its own */
    LONGEST_TITLE = 200,
    LARGEST_SCRIPTS = MIB(4), /* altogether */
};

/* ==== JSON-LD, read with more patience than JSON of clients: pages are written by hand ==== */

/* ---- yyjson's allocator, backed by the page's arena ---- */

static void *take(void *context, size_t size)
{
    return arena_alloc(context, size);
}

static void *resize(void *context, void *old, size_t old_size, size_t size)
{
    return arena_realloc(context, old, old_size, size);
}

static void forget(void *context, void *piece)
{
    (void)context;
    (void)piece;
}

/* ---- objects ---- */

struct objects {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    size_t count;
};

/* Adds an object, and those in its graph; lists are taken apart. */
static void add(struct objects *objects, yyjson_val *value, int depth)
{
    if (depth > MOST_GRAPHS || objects->count >= MOST_OBJECTS) {
        return;
    }
    if (yyjson_is_arr(value)) {
        size_t index, count;
        yyjson_val *item;
        yyjson_arr_foreach(value, index, count, item)
        {
            add(objects, item, depth + 1);
        }
        return;
    }
    if (!yyjson_is_obj(value)) {
        return;
    }
    yyjson_val *graph = yyjson_obj_get(value, "@graph");
    if (graph) {
        add(objects, graph, depth + 1);
    }
    if (!graph || yyjson_obj_get(value, "@type")) {
        yyjson_mut_arr_append(objects->list, yyjson_val_mut_copy(objects->doc, value));
        objects->count++;
    }
}

/* The text of a script as one piece, in the arena: yyjson reads it in place. */
static char *script_text(struct page *page, lxb_dom_node_t *script, size_t most, size_t *length)
{
    lxb_dom_node_t *child = script->first_child;
    if (!child || !dom_is_text(child)) {
        return NULL;
    }
    const char *text = dom_text(child, length);
    /* Some wrap it in a comment. */
    while (*length && (*text == ' ' || (*text >= '\t' && *text <= '\r'))) {
        text++;
        (*length)--;
    }
    if (*length > 4 && strncmp(text, "<!--", 4) == 0) {
        text += 4;
        *length -= 4;
    }
    if (*length == 0 || *length > most) {
        return NULL;
    }
    return arena_strndup(page->arena, text, *length);
}

/* The JSON in a script of at most so many bytes; NULL when it cannot be read. */
static yyjson_val *parse_script(struct page *page, lxb_dom_node_t *script, size_t most)
{
    size_t length = 0;
    char *text = script_text(page, script, most, &length);
    yyjson_alc memory = {take, resize, forget, page->arena};
    yyjson_read_flag flags = YYJSON_READ_ALLOW_TRAILING_COMMAS | YYJSON_READ_ALLOW_COMMENTS |
                             YYJSON_READ_ALLOW_INF_AND_NAN | YYJSON_READ_STOP_WHEN_DONE;
    for (size_t i = 0; text && i < length; i++) {
        /* Line breaks in strings are the usual mistake; between tokens a blank is as good. */
        text[i] = text[i] == '\n' || text[i] == '\r' || text[i] == '\t' ? ' ' : text[i];
    }
    yyjson_doc *doc = text ? yyjson_read_opts(text, length, flags, &memory, NULL) : NULL;
    return doc ? yyjson_doc_get_root(doc) : NULL;
}

static bool is_jsonld(const lxb_dom_node_t *node)
{
    if (dom_tag(node) != LXB_TAG_SCRIPT) {
        return false;
    }
    const char *type = dom_known_attr(node, LXB_DOM_ATTR_TYPE);
    return type && strncasecmp(type, "application/ld+json", 19) == 0;
}

void jsonld_read(struct page *page)
{
    struct objects objects = {0};
    yyjson_alc memory = {take, resize, forget, page->arena};
    lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    size_t left = page->data_scripts;
    for (lxb_dom_node_t *node = root; node && left; node = dom_next(node, root, true)) {
        left -= dom_tag(node) == LXB_TAG_SCRIPT && !skim_is_program(node);
        if (!is_jsonld(node)) {
            continue;
        }
        if (!objects.doc) {
            objects.doc = yyjson_mut_doc_new(&memory);
            objects.list = yyjson_mut_arr(objects.doc);
            if (!objects.list) {
                return;
            }
        }
        add(&objects, parse_script(page, node, LARGEST_SCRIPT), 0);
    }
    if (objects.count) {
        yyjson_doc *doc = yyjson_mut_val_imut_copy(objects.list, &memory);
        page->json_ld = doc ? yyjson_doc_get_root(doc) : NULL;
    }
}

static uint32_t rank_of(yyjson_val *type, const struct word_table *types)
{
    const char *text = yyjson_get_str(type);
    const char *slash = text ? strrchr(text, '/') : NULL;
    const char *word = slash ? slash + 1 : text;
    return word ? words_value(types, word, strlen(word)) : 0;
}

uint32_t jsonld_rank(yyjson_val *object, const struct word_table *types)
{
    yyjson_val *type = yyjson_obj_get(object, "@type");
    uint32_t best = rank_of(type, types);
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(type, index, count, item)
    {
        uint32_t rank = rank_of(item, types);
        best = rank && (!best || rank < best) ? rank : best;
    }
    return best;
}

/* ==== text ==== */

struct embedded_texts {
    struct {
        uint8_t name;
        const char *text;
        size_t length;
    } texts[MOST_TEXTS];
    size_t count;
    size_t lengths[UINT8_MAX + 1]; /* of all texts of a name, by its rank in text_members */
};

/* Whether it reads like sentences: words of usual length, and the end of one. */
static bool is_written_by_people(const char *text, size_t length)
{
    size_t blanks = 0, stops = 0;
    for (size_t i = 0; i < length; i++) {
        blanks += text[i] == ' ' || text[i] == '\n';
        stops += text[i] == '.' || text[i] == '!' || text[i] == '?';
        if (text[i] == '{' || text[i] == '}') {
            return false; /* code, styles, templates */
        }
    }
    return stops > 0 && blanks * LONGEST_WORD > length;
}

static bool is_known(const struct embedded_texts *gathering, const char *text, size_t length)
{
    for (size_t i = 0; i < gathering->count; i++) {
        if (gathering->texts[i].length == length &&
            memcmp(gathering->texts[i].text, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static void add_text(struct embedded_texts *gathering, const char *name, yyjson_val *value)
{
    const char *text = yyjson_get_str(value);
    size_t length = yyjson_get_len(value);
    if (length < SHORTEST_TEXT || gathering->count == MOST_TEXTS) {
        return;
    }
    uint8_t rank = (uint8_t)words_value(&text_members, name, strlen(name));
    if (rank && is_written_by_people(text, length) && !is_known(gathering, text, length)) {
        gathering->texts[gathering->count].name = rank;
        gathering->texts[gathering->count].text = text;
        gathering->texts[gathering->count++].length = length;
        gathering->lengths[rank] += length;
    }
}

static void gather(struct embedded_texts *gathering, yyjson_val *value, int depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (!value || depth > MOST_NESTING) { /* a page may hold no data, or none that parses */
        return;
    }
    yyjson_arr_foreach(value, index, count, item)
    {
        gather(gathering, item, depth + 1);
    }
    yyjson_obj_foreach(value, index, count, key, item)
    {
        if (yyjson_is_str(item)) {
            add_text(gathering, yyjson_get_str(key), item);
        } else {
            gather(gathering, item, depth + 1);
        }
    }
}

/* ---- as HTML ---- */

static bool is_html(const char *text)
{
    static const char *const TAGS[] = {"<p", "</", "<br", "<div", "<h", "<ul", NULL};
    return dom_holds_any(text, TAGS);
}

/* Plain text: a paragraph for each of its lines. Entities are left, since some write them there. */
static void put_plain(struct buf *out, const char *text, size_t length)
{
    buf_puts(out, "<p>");
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '\n':
            buf_puts(out, "<p>");
            break;
        default:
            buf_putc(out, text[i]);
        }
    }
    buf_puts(out, "</p>");
}

static void put_text(struct buf *out, const char *text, size_t length)
{
    if (is_html(text)) {
        buf_puts(out, "<div>");
        buf_append(out, text, length);
        buf_puts(out, "</div>");
    } else {
        put_plain(out, text, length);
    }
}

static const char *finish(struct page *page, struct buf *out)
{
    const char *html = out->length ? arena_strndup(page->arena, out->data, out->length) : NULL;
    buf_done(out);
    return html;
}

/* The texts of the name that has the most to say. */
static const char *most_of(struct page *page, const struct embedded_texts *gathering)
{
    size_t best = 1;
    for (size_t i = 2; i <= text_members.count; i++) {
        best = gathering->lengths[i] > gathering->lengths[best] ? i : best;
    }
    struct buf out;
    buf_init(&out, 2 * LARGEST_TEXT);
    for (size_t i = 0; i < gathering->count && out.length < LARGEST_TEXT; i++) {
        if (gathering->texts[i].name == best && gathering->lengths[best] >= LEAST_TEXT) {
            put_text(&out, gathering->texts[i].text, gathering->texts[i].length);
        }
    }
    return finish(page, &out);
}

/* ---- where it is ---- */

static bool is_data(const lxb_dom_node_t *node)
{
    const char *type =
        dom_tag(node) == LXB_TAG_SCRIPT ? dom_known_attr(node, LXB_DOM_ATTR_TYPE) : NULL;
    return type && strcasecmp(type, "application/json") == 0;
}

const char *embedded_text(struct page *page)
{
    struct embedded_texts *gathering = arena_zalloc(page->arena, sizeof *gathering);
    if (!gathering) {
        return NULL;
    }
    gather(gathering, page->json_ld, 0);
    const char *html = most_of(page, gathering);
    if (html) {
        return html;
    }
    size_t left = LARGEST_SCRIPTS;
    lxb_dom_node_t *root = lxb_dom_interface_node(page->document);
    for (lxb_dom_node_t *node = root; node; node = dom_next(node, root, true)) {
        size_t length = 0;
        if (is_data(node) && node->first_child && dom_is_text(node->first_child)) {
            dom_text(node->first_child, &length);
        }
        if (length >= SHORTEST_TEXT && length <= left) {
            gather(gathering, parse_script(page, node, left), 0);
            left -= length;
        }
    }
    return most_of(page, gathering);
}

/* ---- products ---- */

static yyjson_val *first_of(yyjson_val *value)
{
    return yyjson_is_arr(value) ? yyjson_arr_get_first(value) : value;
}

static yyjson_val *product_in(yyjson_val *objects)
{
    size_t index, count;
    yyjson_val *object;
    yyjson_arr_foreach(objects, index, count, object)
    {
        if (jsonld_rank(object, &product_types)) {
            return object;
        }
    }
    return NULL;
}

/* "https://schema.org/InStock" as "In stock", "OutOfStock" as "Out of stock". */
static void put_availability(struct buf *out, const char *state)
{
    const char *slash = strrchr(state, '/');
    state = slash ? slash + 1 : state;
    buf_puts(out, "<p>Availability: ");
    for (const char *at = state; *at; at++) {
        bool capital = *at >= 'A' && *at <= 'Z' && at > state;
        if (capital) {
            buf_putc(out, ' ');
        }
        buf_putc(out, capital ? (char)(*at + 32) : *at);
    }
    buf_puts(out, "</p>");
}

static void put_offer(struct buf *out, yyjson_val *offer, const char *markdown)
{
    char price[64] = "";
    yyjson_val *value = yyjson_obj_get(offer, "price");
    value = value ? value : yyjson_obj_get(offer, "lowPrice");
    if (yyjson_is_num(value)) {
        snprintf(price, sizeof price, "%.2f", yyjson_get_num(value));
    } else if (yyjson_is_str(value) && yyjson_get_len(value) < sizeof price) {
        snprintf(price, sizeof price, "%s", yyjson_get_str(value));
    }
    const char *currency = yyjson_get_str(yyjson_obj_get(offer, "priceCurrency"));
    const char *state = yyjson_get_str(yyjson_obj_get(offer, "availability"));
    if (!*price || strpbrk(price, "<&") || strstr(markdown, price)) {
        return;
    }
    buf_printf(out, "<p>Price: %s", price);
    if (currency && strlen(currency) == 3 && !strpbrk(currency, "<&")) {
        buf_printf(out, " %s", currency);
    }
    buf_puts(out, "</p>");
    if (state && strlen(state) < sizeof price && !strpbrk(state, "<&")) {
        put_availability(out, state);
    }
}

const char *embedded_product(struct page *page, const char *markdown)
{
    yyjson_val *product = product_in(page->json_ld);
    struct buf out;
    buf_init(&out, 2 * LARGEST_TEXT);
    put_offer(&out, first_of(yyjson_obj_get(product, "offers")), markdown);
    yyjson_val *description = yyjson_obj_get(product, "description");
    const char *text = yyjson_get_str(description);
    size_t length = yyjson_get_len(description);
    char begin[SHORTEST_TEXT / 2 + 1] = "";
    if (text && length >= SHORTEST_TEXT && length < LARGEST_TEXT) {
        memcpy(begin, text, sizeof begin - 1);
        if (!strstr(markdown, begin)) {
            put_text(&out, text, length);
        }
    }
    return finish(page, &out);
}

/* The name of a person, who may be an object or a text. */
static const char *name_in(yyjson_val *person)
{
    person = first_of(person);
    yyjson_val *name = yyjson_is_obj(person) ? yyjson_obj_get(person, "name") : person;
    return yyjson_get_str(name);
}

/* A number, written as one or as a text; -1 when it is none. */
static double number_in(yyjson_val *value)
{
    if (yyjson_is_num(value)) {
        return yyjson_get_num(value);
    }
    char *end = NULL;
    const char *text = yyjson_get_str(value);
    double number = text ? strtod(text, &end) : -1;
    return end && end > text ? number : -1;
}

static void put_rating(struct buf *out, yyjson_val *rating)
{
    double value = number_in(yyjson_obj_get(rating, "ratingValue"));
    double best = number_in(yyjson_obj_get(rating, "bestRating"));
    best = best > 0 ? best : 5;
    if (value >= 0 && value <= best && best <= 100) {
        buf_printf(out, "<p>Rating: %.3g/%.3g</p>", value, best);
    }
}

/* Who wrote it, and when. */
static void put_signature(struct buf *out, yyjson_val *review)
{
    const char *author = name_in(yyjson_obj_get(review, "author"));
    const char *date = yyjson_get_str(yyjson_obj_get(review, "datePublished"));
    char line[160];
    size_t day = date ? strcspn(date, "T ") : 0;
    int length = snprintf(line, sizeof line, "%.100s%s%.*s", author ? author : "",
                          author && *author && day ? ", " : "", (int)(day < 20 ? day : 20),
                          date ? date : "");
    if (length > 0) {
        put_plain(out, line, strlen(line));
    }
}

static bool put_review(struct buf *out, yyjson_val *review)
{
    yyjson_val *body = yyjson_obj_get(review, "reviewBody");
    body = body ? body : yyjson_obj_get(review, "description");
    yyjson_val *title = yyjson_obj_get(review, "name");
    if (!yyjson_is_str(body) || !yyjson_get_len(body) || yyjson_get_len(body) > LONGEST_REVIEW) {
        return false;
    }
    buf_puts(out, "<li>");
    put_rating(out, first_of(yyjson_obj_get(review, "reviewRating")));
    put_signature(out, review);
    if (yyjson_is_str(title) && yyjson_get_len(title) < LONGEST_TITLE) {
        buf_puts(out, "<strong>");
        put_plain(out, yyjson_get_str(title), yyjson_get_len(title));
        buf_puts(out, "</strong>");
    }
    put_text(out, yyjson_get_str(body), yyjson_get_len(body));
    buf_puts(out, "</li>");
    return true;
}

const char *embedded_reviews(struct page *page)
{
    yyjson_val *product = product_in(page->json_ld);
    yyjson_val *reviews = yyjson_obj_get(product, "review");
    reviews = reviews ? reviews : yyjson_obj_get(product, "reviews");
    struct buf out;
    buf_init(&out, 2 * LARGEST_TEXT);
    size_t index, count, written = 0;
    yyjson_val *review;
    if (yyjson_is_obj(reviews)) {
        written += put_review(&out, reviews);
    }
    yyjson_arr_foreach(reviews, index, count, review)
    {
        if (written < LIMIT_PAGE_REVIEWS && out.length < LIMIT_PAGE_REVIEW_TEXT) {
            written += put_review(&out, review);
        }
    }
    const char *items = finish(page, &out);
    buf_init(&out, 2 * LARGEST_TEXT);
    if (items) {
        buf_printf(&out, "<h2>Reviews</h2><ul>%s</ul>", items);
    }
    return finish(page, &out);
}
