/* A session may be spread over several segments, each with its members in order: the nearest of
 * each are compared. */
#include "index/neighbours.h"

#include "core/status.h"

int neighbours_start(struct neighbours *neighbours, struct arena *arena, const struct view *view)
{
    *neighbours = (struct neighbours){.view = view, .session = SYMBOL_NONE};
    neighbours->sessions =
        arena_alloc(arena, (view->count + (size_t)1) * sizeof *neighbours->sessions);
    return neighbours->sessions ? OK : ERR_NOMEM;
}

bool neighbours_session(struct neighbours *neighbours, uint32_t part, uint32_t document)
{
    const struct view *view = neighbours->view;
    const struct segment *segment = &view->parts[part].segment;
    uint32_t session = segment->sessions[document];
    if (session >= segment->names) {
        return false;
    }
    if (neighbours->session == session && neighbours->part == part) {
        return true;
    }
    size_t length;
    const char *text = segment_name_text(segment, session, &length);
    neighbours->hash = view_session_hash(text, length);
    for (uint32_t i = 0; i < view->count; i++) {
        neighbours->sessions[i] =
            i == part ? session : view_session(&view->parts[i], text, length, neighbours->hash);
    }
    neighbours->part = part;
    neighbours->session = session;
    return true;
}

/* Members are in the order of their places, and of their ids where these are the same. */
static int compare(const struct view *view, const struct neighbour *a, const struct neighbour *b)
{
    const struct segment *left = &view->parts[a->part].segment;
    const struct segment *right = &view->parts[b->part].segment;
    int64_t places[] = {left->places[a->document], right->places[b->document]};
    int64_t ids[] = {left->ids[a->document], right->ids[b->document]};
    return places[0] != places[1] ? (places[0] > places[1] ? 1 : -1)
                                  : (ids[0] > ids[1]) - (ids[0] < ids[1]);
}

/* Puts one among the nearest, where it belongs there. */
static void insert(const struct view *view, struct neighbour *nearest, struct neighbour one,
                   int sign)
{
    for (int i = 0; i < NEIGHBOURS_REACH; i++) {
        if (nearest[i].document == NO_DOCUMENT || sign * compare(view, &one, &nearest[i]) < 0) {
            struct neighbour moved = nearest[i];
            nearest[i] = one;
            one = moved;
            if (one.document == NO_DOCUMENT) {
                return;
            }
        }
    }
}

/* Where the document is among the members of a part, or belongs. */
static uint32_t position(const struct view *view, uint32_t part, const uint32_t *members,
                         uint32_t count, const struct neighbour *document)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct neighbour member = {part, members[middle]};
        bool before = members[middle] < view->parts[part].segment.documents &&
                      compare(view, &member, document) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static bool is_there(const struct view_part *part, uint32_t document)
{
    return document < part->segment.documents && !view_is_dead(part, document);
}

void neighbours_find(const struct neighbours *neighbours, uint32_t part, uint32_t document,
                     struct neighbour before[NEIGHBOURS_REACH],
                     struct neighbour behind[NEIGHBOURS_REACH])
{
    const struct view *view = neighbours->view;
    const struct neighbour own = {part, document};
    for (int i = 0; i < NEIGHBOURS_REACH; i++) {
        before[i] = behind[i] = (struct neighbour){0, NO_DOCUMENT};
    }
    for (uint32_t i = 0; i < view->count; i++) {
        const struct view_part *other = &view->parts[i];
        uint32_t count;
        if (neighbours->sessions[i] == SYMBOL_NONE) {
            continue;
        }
        const uint32_t *members = segment_members(&other->segment, neighbours->sessions[i], &count);
        uint32_t at = position(view, i, members, count, &own);
        int found = 0;
        for (uint32_t j = at; j-- > 0 && found < NEIGHBOURS_REACH;) {
            if (is_there(other, members[j])) {
                insert(view, before, (struct neighbour){i, members[j]}, -1);
                found++;
            }
        }
        found = 0;
        for (uint32_t j = at; j < count && found < NEIGHBOURS_REACH; j++) {
            if (is_there(other, members[j]) && !(i == part && members[j] == document)) {
                insert(view, behind, (struct neighbour){i, members[j]}, 1);
                found++;
            }
        }
    }
}
