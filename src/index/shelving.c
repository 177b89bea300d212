/* Saving: all segments that are in memory only, those on the shelf that hold something dead, and
 * those of a tier with too many of them leave together; new ones, on the shelf, take their place.
 * What dies while they are written is marked in the new ones. Without a shelf only those of a tier
 * with too many of them leave, and those that are half dead; the new ones are in memory. */
#include "index/shelving.h"

#include "core/limits.h"
#include "index/internal.h"
#include "index/merge.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TIERS 16u

/* A segment that leaves, as it was when the save began. */
struct leaving_segment {
    struct view_keeper *keeper;
    struct segment segment;
    uint8_t *dead;
    uint64_t number; /* on the shelf; 0: in memory */
    uint32_t living;
};

/* A segment that was merged in memory. */
struct merged {
    uint8_t *bytes;
    size_t length;
};

struct shelving {
    struct shelf *shelf; /* NULL: in memory */
    struct shelving_source source;
    uint32_t most; /* documents that one segment gets */
    struct leaving_segment *leaving;
    size_t count;
    struct shelf_draft *drafts[LIMIT_INDEX_SEGMENTS];
    size_t draft_count;
    struct merged *merged; /* as many as leave at most */
    size_t merged_count;
};

/* ---- loading ---- */

static int attach(struct index *index, struct view_keeper *keeper)
{
    const struct shelf_view *shelf = view_keeper_shelf(keeper);
    int status = OK;
    for (size_t i = 0; i < shelf->count && status == OK; i++) {
        const struct shelf_segment *segment = &shelf->segments[i];
        status = shelf_sound(segment, 0, segment->length)
                     ? view_attach(&index->view, segment, keeper)
                     : ERR_INVALID;
    }
    return status;
}

int shelving_load(struct index *index, struct shelf *shelf, struct shelving_source *source)
{
    int status = shelf_refresh(shelf);
    *source = (struct shelving_source){0};
    if (status != OK && status != ERR_NOTFOUND) {
        return status;
    }
    struct shelf_view *view = shelf_hold(shelf);
    index->keeper = view_keeper_new(view);
    if (!index->keeper) {
        shelf_release(view);
        return ERR_NOMEM;
    }
    *source = (struct shelving_source){view->seen, view->gap, view->witness};
    return attach(index, index->keeper);
}

bool shelving_sound(const struct index *index)
{
    const struct shelf_view *shelf = index->keeper ? view_keeper_shelf(index->keeper) : NULL;
    bool sound = true;
    for (size_t i = 0; shelf && i < shelf->count; i++) {
        sound = sound && shelf_sound(&shelf->segments[i], 0, 0);
    }
    return sound;
}

/* ---- what is too much ---- */

/* Counts the segments of each tier that are on the shelf, or in memory. */
static void count_tiers(const struct view *view, bool in_memory, uint32_t tiers[MOST_TIERS])
{
    for (uint32_t i = 0; i < view->count; i++) {
        if ((view->parts[i].number == 0) == in_memory) {
            tiers[view_tier(&view->parts[i])]++;
        }
    }
}

/* The documents that one segment gets. */
static uint32_t most_of(const struct view *view)
{
    uint32_t share = view->live / (LIMIT_INDEX_SEGMENTS / 4);
    return share > VIEW_MOST_MERGED ? share : VIEW_MOST_MERGED;
}

/* Whether a segment is to become a larger one: its tier has too many, or all tiers together. Those
 * that are large enough stay, so that each document is written a few times in all. */
static bool is_crowded(const struct view_part *part, uint32_t most,
                       const uint32_t tiers[MOST_TIERS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < MOST_TIERS; i++) {
        count += tiers[i];
    }
    return view_living(part) <= most / 2 &&
           (tiers[view_tier(part)] >= VIEW_TIER_GROWTH || count > LIMIT_INDEX_SEGMENTS / 2);
}

/* The same for one in memory, without a shelf. */
static bool is_to_be_merged(const struct view_part *part, uint32_t most,
                            const uint32_t tiers[MOST_TIERS])
{
    return part->number == 0 &&
           (is_crowded(part, most, tiers) || part->dead_count > view_living(part));
}

struct shelving_need shelving_need(const struct index *index)
{
    struct shelving_need need = {.fresh = builder_count(index->builder)};
    uint32_t tiers[MOST_TIERS] = {0};
    uint32_t most = most_of(&index->view);
    count_tiers(&index->view, true, tiers);
    for (uint32_t i = 0; i < index->view.count; i++) {
        const struct view_part *part = &index->view.parts[i];
        need.fresh += part->number ? 0 : view_living(part);
        need.dead += part->number ? part->dead_count : 0;
        need.is_crowded = need.is_crowded || is_to_be_merged(part, most, tiers);
    }
    return need;
}

/* ---- beginning ---- */

static size_t dead_bytes(const struct segment *segment)
{
    return segment->documents / 8 + (size_t)1;
}

static int note_leaving(struct shelving *shelving, struct view_part *part)
{
    struct leaving_segment *leaving = &shelving->leaving[shelving->count];
    leaving->dead = malloc(dead_bytes(&part->segment));
    if (!leaving->dead) {
        return ERR_NOMEM;
    }
    memcpy(leaving->dead, part->dead, dead_bytes(&part->segment));
    leaving->keeper = view_keeper_share(part->keeper);
    leaving->segment = part->segment;
    leaving->number = part->number;
    leaving->living = view_living(part);
    part->leaves = true;
    shelving->count++;
    return OK;
}

static int choose(struct shelving *shelving, struct view *view)
{
    uint32_t tiers[MOST_TIERS] = {0};
    int status = OK;
    count_tiers(view, !shelving->shelf, tiers);
    for (uint32_t i = 0; i < view->count && status == OK; i++) {
        struct view_part *part = &view->parts[i];
        bool leaves = shelving->shelf ? part->number == 0 || part->dead_count > 0 ||
                                            is_crowded(part, shelving->most, tiers)
                                      : is_to_be_merged(part, shelving->most, tiers);
        if (leaves) {
            status = note_leaving(shelving, part);
        }
    }
    return status;
}

static void stay(struct index *index)
{
    for (uint32_t i = 0; index && i < index->view.count; i++) {
        index->view.parts[i].leaves = false;
    }
}

static void free_shelving(struct shelving *shelving)
{
    for (size_t i = 0; i < shelving->draft_count; i++) {
        shelf_draft_free(shelving->drafts[i]);
    }
    for (size_t i = 0; i < shelving->count; i++) {
        view_keeper_free(shelving->leaving[i].keeper);
        free(shelving->leaving[i].dead);
    }
    for (size_t i = 0; i < shelving->merged_count; i++) {
        free(shelving->merged[i].bytes);
    }
    free(shelving->merged);
    free(shelving->leaving);
    free(shelving);
}

/* Whether the index was made from what is on the shelf now. */
static bool is_current(const struct index *index, struct shelf *shelf)
{
    struct shelf_view *now = shelf_hold(shelf);
    const struct shelf_view *own = index->keeper ? view_keeper_shelf(index->keeper) : NULL;
    bool current = own == now || (now->count == 0 && (!own || own->count == 0));
    shelf_release(now);
    return current;
}

int shelving_begin(struct index *index, struct shelf *shelf, const struct shelving_source *source,
                   struct shelving **out)
{
    if (shelf && !is_current(index, shelf)) {
        return ERR_CLOSED;
    }
    struct shelving *shelving = calloc(1, sizeof *shelving);
    if (!shelving) {
        return ERR_NOMEM;
    }
    shelving->shelf = shelf;
    shelving->source = *source;
    shelving->most = most_of(&index->view);
    shelving->leaving = calloc(index->view.count + (size_t)1, sizeof *shelving->leaving);
    shelving->merged = calloc(index->view.count + (size_t)1, sizeof *shelving->merged);
    int status = shelving->leaving && shelving->merged ? choose(shelving, &index->view) : ERR_NOMEM;
    bool is_whole = shelving->count == 1 && !shelf &&
                    shelving->leaving[0].living == shelving->leaving[0].segment.documents;
    if (status == OK && (shelving->count == 0 || is_whole)) {
        status = ERR_NOTFOUND;
    }
    if (status != OK) {
        stay(index);
        free_shelving(shelving);
        return status;
    }
    *out = shelving;
    return OK;
}

/* ---- writing ---- */

static int write_draft(struct shelving *shelving, const void *bytes, size_t length)
{
    if (shelving->draft_count == LIMIT_INDEX_SEGMENTS) {
        return ERR_LIMIT;
    }
    struct shelf_draft **draft = &shelving->drafts[shelving->draft_count];
    int status = shelf_draft_begin(shelving->shelf, draft);
    if (status == OK) {
        shelving->draft_count++;
        status = shelf_draft_write(*draft, bytes, length);
    }
    return status;
}

/* Those from `first` on become one segment; as it is where there is one, all of which lives. */
static int write_group(struct shelving *shelving, size_t first, size_t count, uint32_t living)
{
    const struct leaving_segment *only = &shelving->leaving[first];
    if (living == 0) {
        return OK;
    }
    if (shelving->shelf && count == 1 && living == only->segment.documents) {
        return write_draft(shelving, only->segment.bytes, only->segment.length);
    }
    struct merge_input *inputs = malloc(count * sizeof *inputs);
    for (size_t i = 0; i < count && inputs; i++) {
        inputs[i] = (struct merge_input){&only[i].segment, only[i].dead};
    }
    uint8_t *bytes = NULL;
    size_t length = 0;
    int status = inputs ? merge_segments(inputs, count, &bytes, &length) : ERR_NOMEM;
    if (status == OK && !shelving->shelf) {
        shelving->merged[shelving->merged_count++] = (struct merged){bytes, length};
        bytes = NULL;
    } else if (status == OK) {
        status = write_draft(shelving, bytes, length);
    }
    free(bytes);
    free(inputs);
    return status;
}

static int write_groups(struct shelving *shelving)
{
    int status = OK;
    size_t first = 0;
    while (first < shelving->count && status == OK) {
        uint32_t living = shelving->leaving[first].living;
        size_t count = 1;
        while (first + count < shelving->count &&
               living + shelving->leaving[first + count].living <= shelving->most) {
            living += shelving->leaving[first + count++].living;
        }
        status = write_group(shelving, first, count, living);
        first += count;
    }
    return status;
}

static int change_shelf(struct shelving *shelving)
{
    uint64_t *gone = malloc(shelving->count * sizeof *gone);
    size_t gone_count = 0;
    for (size_t i = 0; i < shelving->count && gone; i++) {
        if (shelving->leaving[i].number) {
            gone[gone_count++] = shelving->leaving[i].number;
        }
    }
    int status = ERR_NOMEM;
    if (gone) {
        status = shelf_change(shelving->shelf, &(struct shelf_change){
                                                   .seen = shelving->source.seen,
                                                   .gap = shelving->source.gap,
                                                   .witness = shelving->source.witness,
                                                   .drafts = shelving->drafts,
                                                   .draft_count = shelving->draft_count,
                                                   .gone = gone,
                                                   .gone_count = gone_count,
                                               });
    }
    free(gone);
    return status;
}

int shelving_write(struct shelving *shelving)
{
    int status = write_groups(shelving);
    return status == OK && shelving->shelf ? change_shelf(shelving) : status;
}

/* ---- ending ---- */

/* The part that leaves; NULL when it is gone already. */
static struct view_part *part_of(struct view *view, const struct leaving_segment *leaving)
{
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->parts[i].segment.bytes == leaving->segment.bytes) {
            return &view->parts[i];
        }
    }
    return NULL;
}

/* What died since the save began. */
struct deaths {
    int64_t *ids;
    size_t count;
};

static int note_deaths(const struct view_part *part, const uint8_t *before, struct deaths *deaths)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < part->segment.documents; i++) {
        more += (part->dead[i / 8] & ~before[i / 8]) >> i % 8 & 1;
    }
    int64_t *ids = realloc(deaths->ids, (deaths->count + more + 1) * sizeof *ids);
    if (!ids) {
        return ERR_NOMEM;
    }
    deaths->ids = ids;
    for (uint32_t i = 0; i < part->segment.documents; i++) {
        if ((part->dead[i / 8] & ~before[i / 8]) >> i % 8 & 1) {
            ids[deaths->count++] = part->segment.ids[i];
        }
    }
    return OK;
}

static int take_out(const struct shelving *shelving, struct view *view, struct deaths *deaths)
{
    int status = OK;
    for (size_t i = 0; i < shelving->count && status == OK; i++) {
        struct view_part *part = part_of(view, &shelving->leaving[i]);
        status = part ? note_deaths(part, shelving->leaving[i].dead, deaths) : ERR_CLOSED;
        if (status == OK) {
            view_drop(view, (uint32_t)(part - view->parts));
        }
    }
    return status;
}

static bool is_there(const struct view *view, uint64_t number)
{
    bool there = false;
    for (uint32_t i = 0; i < view->count; i++) {
        there = there || view->parts[i].number == number;
    }
    return there;
}

static void bury(struct view *view, const struct deaths *deaths)
{
    for (size_t i = 0; i < deaths->count; i++) {
        view_remove_from(view, &view->parts[view->count - 1], deaths->ids[i]);
    }
}

/* The new segments in memory. */
static int bring_in_merged(struct shelving *shelving, struct view *view,
                           const struct deaths *deaths)
{
    int status = OK;
    for (size_t i = 0; i < shelving->merged_count && status == OK; i++) {
        struct merged *merged = &shelving->merged[i];
        status = view_add(view, merged->bytes, merged->length);
        if (status == OK) {
            merged->bytes = NULL;
            bury(view, deaths);
        }
    }
    return status;
}

/* The new segments, with what has died since. Those that stay let go of the old manifest. */
static int bring_in(struct view *view, struct view_keeper *keeper, const struct deaths *deaths)
{
    const struct shelf_view *shelf = view_keeper_shelf(keeper);
    int status = OK;
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->parts[i].number) {
            view_keeper_free(view->parts[i].keeper);
            view->parts[i].keeper = view_keeper_share(keeper);
        }
    }
    for (size_t i = 0; i < shelf->count && status == OK; i++) {
        if (is_there(view, shelf->segments[i].number)) {
            continue;
        }
        status = view_attach(view, &shelf->segments[i], keeper);
        if (status == OK) {
            bury(view, deaths);
        }
    }
    return status;
}

static int put_merged_in_place(struct shelving *shelving, struct index *index)
{
    struct deaths deaths = {NULL, 0};
    int status = take_out(shelving, &index->view, &deaths);
    if (status == OK) {
        status = bring_in_merged(shelving, &index->view, &deaths);
    }
    free(deaths.ids);
    return status;
}

static int put_in_place(const struct shelving *shelving, struct index *index)
{
    struct deaths deaths = {NULL, 0};
    struct shelf_view *shelf = shelf_hold(shelving->shelf);
    struct view_keeper *keeper = view_keeper_new(shelf);
    if (!keeper) {
        shelf_release(shelf);
        return ERR_NOMEM;
    }
    int status = take_out(shelving, &index->view, &deaths);
    if (status == OK) {
        status = bring_in(&index->view, keeper, &deaths);
    }
    view_keeper_free(index->keeper);
    index->keeper = keeper;
    free(deaths.ids);
    return status;
}

int shelving_end(struct shelving *shelving, struct index *index, bool written)
{
    int status = OK;
    if (written && index) {
        status =
            shelving->shelf ? put_in_place(shelving, index) : put_merged_in_place(shelving, index);
    }
    stay(index);
    free_shelving(shelving);
    return status;
}
