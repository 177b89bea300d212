/* Streamed pages. React sends what is ready first, with empty templates for the rest; later pieces
 * follow at the end of the body, hidden, each with a script that moves it to its template. Read as
 * they lie, the text would be in the wrong order, and mostly outside of the page's main part. */
#include "html/stream.h"

#include "core/limits.h"
#include "html/dom.h"

enum { MOST_PIECES = 512, LONGEST_NUMBER = 12 };

struct streamed_piece {
    lxb_dom_node_t *node;
    const char *number;
};

struct streamed_parts {
    struct streamed_piece pieces[MOST_PIECES], places[MOST_PIECES];
    size_t piece_count, place_count;
};

/* What follows the letter and the colon of an id; NULL for any other id. */
static const char *number_after(const char *id, const char *letters)
{
    bool ours = id && id[0] && strchr(letters, id[0]) && id[1] == ':' && id[2] &&
                strlen(id) <= LONGEST_NUMBER;
    return ours ? id + 2 : NULL;
}

static void find_pieces(struct streamed_parts *stream, lxb_dom_node_t *body)
{
    for (lxb_dom_node_t *node = body; node; node = dom_next(node, body, true)) {
        lxb_tag_id_t tag = dom_tag(node);
        if (tag == LXB_TAG_TEMPLATE && stream->place_count < MOST_PIECES) {
            const char *number = number_after(dom_id(node), "BP");
            stream->places[stream->place_count] = (struct streamed_piece){node, number};
            stream->place_count += number != NULL;
        } else if (tag == LXB_TAG_DIV && stream->piece_count < MOST_PIECES) {
            const char *number = number_after(dom_id(node), "S");
            bool hidden = number && dom_attr(node, "hidden");
            stream->pieces[stream->piece_count] = (struct streamed_piece){node, number};
            stream->piece_count += hidden;
        }
    }
}

static size_t depth_of(const lxb_dom_node_t *node)
{
    size_t depth = 0;
    for (; node; node = node->parent) {
        depth++;
    }
    return depth;
}

/* The levels below a node. */
static size_t height_of(lxb_dom_node_t *root)
{
    size_t height = 0, at = 0;
    lxb_dom_node_t *node = root;
    for (;;) {
        height = at > height ? at : height;
        if (node->first_child) {
            node = node->first_child;
            at++;
            continue;
        }
        while (node != root && !node->next) {
            node = node->parent;
            at--;
        }
        if (node == root) {
            return height;
        }
        node = node->next;
    }
}

/* What stands there until the piece comes, a sign that something loads, ends with a comment. */
static void hide_stopgap(lxb_dom_node_t *place)
{
    for (lxb_dom_node_t *node = place->next; node; node = node->next) {
        if (node->type == LXB_DOM_NODE_TYPE_COMMENT) {
            size_t length;
            const char *text = dom_text(node, &length);
            if (length >= 2 && memcmp(text, "/$", 2) == 0) {
                return;
            }
        }
        if (node->type == LXB_DOM_NODE_TYPE_ELEMENT) {
            node_mark(node, NODE_HIDDEN | NODE_UNREADABLE);
        }
    }
}

static bool has_end(const lxb_dom_node_t *place)
{
    const lxb_dom_node_t *before = place->prev;
    size_t length;
    const char *text =
        before && before->type == LXB_DOM_NODE_TYPE_COMMENT ? dom_text(before, &length) : NULL;
    return text && length >= 1 && text[0] == '$';
}

static void settle(struct streamed_piece *piece, struct streamed_piece *place)
{
    if (dom_within(place->node, piece->node) ||
        depth_of(place->node) + height_of(piece->node) > LIMIT_PAGE_DEPTH) {
        return;
    }
    if (has_end(place->node)) {
        hide_stopgap(place->node);
    }
    while (piece->node->first_child) {
        lxb_dom_node_t *child = piece->node->first_child;
        lxb_dom_node_remove(child);
        lxb_dom_node_insert_before(place->node, child);
    }
}

void stream_settle(struct page *page)
{
    struct streamed_parts *stream =
        page->templates ? arena_zalloc(page->arena, sizeof *stream) : NULL;
    if (!stream) {
        return;
    }
    find_pieces(stream, page->body);
    for (size_t i = 0; i < stream->piece_count; i++) {
        for (size_t k = 0; k < stream->place_count; k++) {
            if (strcmp(stream->pieces[i].number, stream->places[k].number) == 0) {
                settle(&stream->pieces[i], &stream->places[k]);
                break;
            }
        }
    }
}
