/* Pictures of the content, films and frames. */
#include "html/markdown/writer.h"

#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define ICON_PIXELS 32  /* what is no larger is decoration */
#define LOGO_PIXELS 100 /* what may be: then it counts what the page says of it */

#define LONGEST_CAPTION 1000
#define LONGEST_FACE    24 /* of what a smiley says */
#define MOST_STEPS      6  /* from a picture up to its frame */
#define MOST_LOOKED_AT  40 /* nodes in it */

/* ---- which file ---- */

static bool is_usable(const char *source)
{
    return source && *source && strncasecmp(source, "data:", 5) != 0 &&
           strncasecmp(source, "blob:", 5) != 0 && strncasecmp(source, "about:", 6) != 0;
}

/* The largest file of a srcset: "a.jpg 480w, b.jpg 2x". */
static const char *largest_of(struct arena *arena, const char *set)
{
    const char *best = NULL;
    size_t best_length = 0;
    double best_size = -1;
    while (*set) {
        set += strspn(set, " \t\r\n,");
        size_t length = strcspn(set, " \t\r\n");
        while (length && set[length - 1] == ',') {
            length--;
        }
        const char *rest = set + length;
        rest += strspn(rest, " \t\r\n");
        double size = isdigit((unsigned char)*rest) ? strtod(rest, NULL) : 1;
        if (length && size > best_size && strncasecmp(set, "data:", 5) != 0) {
            best = set;
            best_length = length;
            best_size = size;
        }
        set = rest + strcspn(rest, ",");
    }
    return best ? arena_strndup(arena, best, best_length) : NULL;
}

static const char *from_sets(struct arena *arena, const lxb_dom_node_t *node)
{
    for (const char *const *name = lazy_sets; *name; name++) {
        const char *set = dom_attr(node, *name);
        const char *found = set && *set ? largest_of(arena, set) : NULL;
        if (is_usable(found)) {
            return found;
        }
    }
    return NULL;
}

static const char *source_of(struct writer *writer, lxb_dom_node_t *image)
{
    const char *source = dom_known_attr(image, LXB_DOM_ATTR_SRC);
    const char *words = dom_class(image);
    bool lazy_class = words && strcasestr(words, "lazy");
    if (is_usable(source) && !lazy_class && !dom_holds_any(source, picture_placeholders)) {
        return source;
    }
    for (const char *const *name = lazy_attributes; *name; name++) {
        const char *lazy = dom_attr(image, *name);
        if (is_usable(lazy) && *lazy != '{' && *lazy != '[') {
            return lazy;
        }
    }
    const char *found = from_sets(writer->arena, image);
    lxb_dom_node_t *picture = dom_closest(image, LXB_TAG_PICTURE);
    for (lxb_dom_node_t *child = picture && !found ? picture->first_child : NULL; child && !found;
         child = child->next) {
        found = dom_tag(child) == LXB_TAG_SOURCE ? from_sets(writer->arena, child) : NULL;
    }
    return found ? found : is_usable(source) ? source : NULL;
}

/* ---- which are content ---- */

static bool is_decoration(const lxb_dom_node_t *image)
{
    static const char *const WORDS[] = {"avatar", "tracking", "icon", "spacer", NULL};
    int width = dom_pixels(image, LXB_DOM_ATTR_WIDTH);
    int height = dom_pixels(image, LXB_DOM_ATTR_HEIGHT);
    if ((width >= 0 && width <= 2) || (height >= 0 && height <= 2)) {
        return true;
    }
    if (width >= 0 && width <= ICON_PIXELS && height <= ICON_PIXELS && height >= 0) {
        return true;
    }
    const char *role = dom_attr(image, "role");
    return dom_holds_any(dom_class(image), WORDS) ||
           (role && strcasecmp(role, "presentation") == 0 && width <= LOGO_PIXELS &&
            !dom_known_attr(image, LXB_DOM_ATTR_ALT));
}

/* Whether the picture is only a stand-in: the real one is beside it, for readers without scripts.
 */
static bool stands_in(const lxb_dom_node_t *image)
{
    const lxb_dom_node_t *node = image;
    for (int steps = 0; node && steps < 3; steps++, node = node->parent) {
        lxb_tag_id_t tag = dom_tag(node);
        if (steps && tag != LXB_TAG_DIV && tag != LXB_TAG_SPAN && tag != LXB_TAG_PICTURE &&
            tag != LXB_TAG_A) {
            return false;
        }
        const lxb_dom_node_t *next = dom_next_element(node);
        for (int looked = 0; next && looked < 4; looked++, next = dom_next_element(next)) {
            lxb_dom_node_t *real =
                dom_tag(next) == LXB_TAG_NOSCRIPT ? dom_find(next, LXB_TAG_IMG) : NULL;
            if (real && !is_decoration(real)) {
                return true;
            }
            if (dom_tag(next) != LXB_TAG_IMG && dom_tag(next) != LXB_TAG_NOSCRIPT &&
                dom_tag(next) != LXB_TAG_DIV) {
                break;
            }
        }
    }
    return false;
}

/* A figure shows its picture once, however many sizes of it are in there. */
static bool is_again_in_figure(struct writer *writer, lxb_dom_node_t *image)
{
    lxb_dom_node_t *figure = dom_closest(image, LXB_TAG_FIGURE);
    const char *alt = dom_known_attr(image, LXB_DOM_ATTR_ALT);
    bool again =
        figure && writer->figure == figure && strcmp(alt ? alt : "", writer->figure_alt) == 0;
    writer->figure = figure;
    writer->figure_alt = alt ? alt : "";
    return again;
}

/* The same picture right after itself, on its line: sizes of it for several screens, or a pattern.
 */
static bool is_again(const struct writer *writer, const char *url)
{
    return writer->picture && strcmp(writer->picture, url) == 0 && writer->line.length &&
           writer->out->length + writer->line.length == writer->picture_end;
}

/* ---- captions ---- */

static const char *const FRAME_WORDS[] = {"caption", "figure", "image", "photo", NULL};

bool media_is_frame(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    return tag == LXB_TAG_FIGURE || tag == LXB_TAG_NOSCRIPT || tag == LXB_TAG_PICTURE ||
           (tag == LXB_TAG_DIV && dom_holds_any(dom_class(node), FRAME_WORDS));
}

static bool is_left_out(const lxb_dom_node_t *node)
{
    return (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN)) == NODE_DROPPED;
}

static bool is_caption(const lxb_dom_node_t *node)
{
    const char *words = node->type == LXB_DOM_NODE_TYPE_ELEMENT ? dom_class(node) : NULL;
    return dom_tag(node) == LXB_TAG_FIGCAPTION || (words && strcasestr(words, "caption"));
}

/* The caption in one frame, behind the picture; only one that choosing left out of the text, since
 * it would interrupt it there. */
static lxb_dom_node_t *caption_in(lxb_dom_node_t *frame, lxb_dom_node_t *image)
{
    bool left_out = is_left_out(frame);
    lxb_dom_node_t *node = image;
    for (int looked = 0; node && looked < MOST_LOOKED_AT; looked++) {
        if (is_caption(node) && (left_out || is_left_out(node)) &&
            !(node_marks(node) & NODE_HIDDEN)) {
            return node;
        }
        node = dom_next(node, frame, true);
    }
    return NULL;
}

/* The caption of a picture, out of the frames around both; empty when it has none. */
static void find_caption(lxb_dom_node_t *image, char *caption, size_t most)
{
    lxb_dom_node_t *found = NULL;
    lxb_dom_node_t *frame = image->parent;
    *caption = '\0';
    for (int steps = 0; frame && !found && steps < MOST_STEPS; steps++, frame = frame->parent) {
        found = media_is_frame(frame) ? caption_in(frame, image) : NULL;
        if (dom_tag(frame) == LXB_TAG_FIGURE) {
            break;
        }
    }
    if (found) {
        dom_collect(found, caption, most);
        dom_mark_written(found);
    }
}

/* As the title of the picture. One that is said already, is not said again. */
static void put_title(struct buf *out, const char *caption, const char *alt)
{
    if (!*caption || strcmp(caption, alt) == 0) {
        return;
    }
    buf_puts(out, " \"");
    for (; *caption; caption++) {
        if (strchr("\"\\()", *caption)) {
            buf_putc(out, '\\');
        }
        buf_putc(out, *caption);
    }
    buf_putc(out, '"');
}

/* ---- writing ---- */

static void put_alternative(struct buf *out, const char *alt)
{
    bool space = false;
    for (; *alt; alt++) {
        if (isspace((unsigned char)*alt)) {
            space = true;
            continue;
        }
        if (space && out->length > 2) {
            buf_putc(out, ' ');
        }
        space = false;
        if (strchr("[]\\`*_<", *alt)) {
            buf_putc(out, '\\');
        }
        buf_putc(out, *alt);
    }
}

void write_image(struct writer *writer, lxb_dom_node_t *node)
{
    if (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN)) {
        return;
    }
    const char *alt = dom_known_attr(node, LXB_DOM_ATTR_ALT);
    const char *words = dom_class(node);
    static const char *const FACES[] = {"emoji", "smiley", "smilie", "emoticon", NULL};
    if (alt && *alt && strlen(alt) <= LONGEST_FACE && dom_holds_any(words, FACES)) {
        inline_text(writer, alt, strlen(alt));
        return;
    }
    bool real = !is_decoration(node) && !stands_in(node) && !is_again_in_figure(writer, node);
    const char *source = real ? source_of(writer, node) : NULL;
    const char *url = source ? link_resolve(writer, source) : NULL;
    if (!url || *url == '#') {
        return;
    }
    if (is_again(writer, url)) {
        return;
    }
    char caption[LONGEST_CAPTION];
    find_caption(node, caption, sizeof caption);
    alt = alt && *alt ? alt : caption;
    struct buf out;
    buf_init(&out, writer->out->ceiling);
    buf_puts(&out, "![");
    put_alternative(&out, alt);
    buf_printf(&out, "](%s", url);
    put_title(&out, caption, alt);
    buf_putc(&out, ')');
    inline_raw(writer, out.data ? out.data : "", out.length);
    buf_done(&out);
    writer->picture = url;
    writer->picture_end = writer->out->length + writer->line.length;
    if (dom_closest(node, LXB_TAG_FIGURE) && !dom_closest(node, LXB_TAG_A) && !writer->items) {
        flush_block(writer);
    }
}

/* In a list the caption stays on the line of its picture, which is the item. */
void write_caption(struct writer *writer, lxb_dom_node_t *node)
{
    if (writer->items) {
        writer->space = true;
    } else {
        flush_block(writer);
    }
    write_children(writer, node);
    flush_block(writer);
}

void write_picture(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_dom_node_t *image = dom_find(node, LXB_TAG_IMG);
    if (image) {
        write_image(writer, image);
    }
}

static void put_link(struct writer *writer, const char *text, const char *source)
{
    const char *url = is_usable(source) ? link_resolve(writer, source) : NULL;
    if (url && *url != '#') {
        flush_block(writer);
        format_open(writer, FORMAT_LINK, url);
        inline_text(writer, text, strlen(text));
        format_close(writer);
        flush_block(writer);
    }
}

/* ---- frames ---- */

/* The page of what a player shows: what a reader would open. */
static const char *page_of(struct arena *arena, const char *source)
{
    for (const char *const *row = media_players; *row; row++) {
        size_t part = strcspn(*row, " ");
        const char *at = memmem(source, strlen(source), *row, part);
        const char *name = at ? at + part : NULL;
        size_t length = name ? strcspn(name, "?&#/") : 0;
        if (length) {
            return arena_printf(arena, "https://%s%.*s", *row + part + 1, (int)length, name);
        }
    }
    return source;
}

/* As Markdown writes what is shown in its place: like a picture. */
static void put_embedded(struct writer *writer, const char *title, const char *source)
{
    static const char *const GENERIC[] = {"video player", "embed", "iframe", "X Post", NULL};
    static const char *const FILMS[] = {"youtu", "video", "vimeo", "player", NULL};
    const char *url = link_resolve(writer, page_of(writer->arena, source));
    if (!url || *url == '#') {
        return;
    }
    struct buf out;
    flush_block(writer);
    buf_init(&out, writer->out->ceiling);
    buf_puts(&out, "![");
    bool named = title && *title && !dom_holds_any(title, GENERIC);
    const char *otherwise = dom_holds_any(source, FILMS) ? "Video" : "Embedded page";
    put_alternative(&out, named ? title : otherwise);
    buf_printf(&out, "](%s)", url);
    inline_raw(writer, out.data ? out.data : "", out.length);
    buf_done(&out);
    flush_block(writer);
}

/* Frames that show something to watch or to read; the rest are advertisements and counters. */
void write_frame(struct writer *writer, lxb_dom_node_t *node)
{
    static const char *const SHOWS[] = {"/embed", "video", "player", "watch", NULL};
    static const char *const LAZY[] = {
        "data-src",       "data-lazy-src",        "data-litespeed-src",
        "data-src-no-ap", "data-cookieblock-src", NULL};
    const char *source = dom_known_attr(node, LXB_DOM_ATTR_SRC);
    for (const char *const *name = LAZY; !is_usable(source) && *name; name++) {
        source = dom_attr(node, *name);
    }
    if (!is_usable(source) ||
        !(dom_holds_any(source, SHOWS) || dom_attr(node, "allowfullscreen")) ||
        dom_pixels(node, LXB_DOM_ATTR_HEIGHT) == 0) {
        return;
    }
    put_embedded(writer, dom_known_attr(node, LXB_DOM_ATTR_TITLE), source);
}

bool write_player(struct writer *writer, lxb_dom_node_t *node)
{
    static const struct {
        const char *name, *attribute, *player;
    } PLAYERS[] = {
        {"lite-youtube", "videoid", "youtube.com/embed/"},
        {"amp-youtube", "data-videoid", "youtube.com/embed/"},
        {"youtube-embed", "video-id", "youtube.com/embed/"},
        {"lite-vimeo", "videoid", "player.vimeo.com/video/"},
        {"amp-vimeo", "data-videoid", "player.vimeo.com/video/"},
        {"amp-twitter", "data-tweetid", "Tweet.html?id="},
    };
    const char *name = dom_name(node);
    if (strcmp(name, "amp-img") == 0 || strcmp(name, "amp-anim") == 0) {
        write_image(writer, node);
        return true;
    }
    for (size_t i = 0; i < sizeof PLAYERS / sizeof *PLAYERS; i++) {
        const char *id =
            strcmp(name, PLAYERS[i].name) == 0 ? dom_attr(node, PLAYERS[i].attribute) : NULL;
        if (id && *id) {
            const char *title = dom_attr(node, "playlabel");
            put_embedded(writer, title ? title : dom_known_attr(node, LXB_DOM_ATTR_TITLE),
                         arena_printf(writer->arena, "https://%s%s", PLAYERS[i].player, id));
            return true;
        }
    }
    return false;
}

void write_video(struct writer *writer, lxb_dom_node_t *node)
{
    const char *source = dom_known_attr(node, LXB_DOM_ATTR_SRC);
    lxb_dom_node_t *file = is_usable(source) ? NULL : dom_find(node, LXB_TAG_SOURCE);
    source = file ? dom_known_attr(file, LXB_DOM_ATTR_SRC) : source;
    const char *title = dom_known_attr(node, LXB_DOM_ATTR_TITLE);
    const char *otherwise = dom_tag(node) == LXB_TAG_AUDIO ? "Audio" : "Video";
    put_link(writer, title && *title ? title : otherwise, source);
}
