/* Saving: the fresh vectors, the files that hold something dead, and those of a tier with too many
 * of them leave together; new files take their place. */
#include "index/vector_shelving.h"

#include "core/limits.h"
#include "index/vectors_internal.h"

#include <stdlib.h>
#include <string.h>

#define TIER_GROWTH 8u  /* files of a tier that become one of the next */
#define MOST_TIERS  16u /* which is more than there are */

/* Places that leave, as they were when the save began. */
struct leaving_vectors {
    struct vector_input input;
    uint64_t number; /* on the shelf; 0: they are fresh, and the copy is `fresh` */
    uint32_t living;
    uint8_t *dead;
};

struct vector_shelving {
    struct shelf *shelf;
    struct shelf_view *view; /* keeps the files that leave */
    struct vector_source source;
    char *label;
    size_t dimensions;
    uint32_t most;  /* places that one file gets */
    uint32_t until; /* fresh places that leave */
    void *fresh;    /* a copy of those that live */
    struct leaving_vectors *leaving;
    size_t count;
    uint64_t *gone;
    size_t gone_count;
    struct shelf_draft *drafts[LIMIT_INDEX_SEGMENTS];
    size_t draft_count;
};

/* ---- loading ---- */

/* The rows of it are checked when they are compared. */
static int attach(struct vectors *vectors, const struct shelf_segment *segment)
{
    struct vector_part part;
    int status = vector_part_head(segment->data, segment->length, &part);
    if (status != OK || !shelf_sound(segment, 0, part.head)) {
        return ERR_INVALID;
    }
    status = vectors_attach(vectors, segment->data, segment->length);
    if (status == OK) {
        vectors->kept[vectors->kept_count - 1].segment = segment;
    }
    return status;
}

int vector_shelving_load(struct vectors *vectors, struct shelf *shelf, struct vector_source *source)
{
    int status = shelf_refresh(shelf);
    *source = (struct vector_source){0};
    if (status != OK && status != ERR_NOTFOUND) {
        return status;
    }
    struct shelf_view *view = vectors->shelf = shelf_hold(shelf);
    status = OK;
    for (size_t i = 0; i < view->count && status == OK; i++) {
        status = attach(vectors, &view->segments[i]);
        if (status == OK && i > 0 &&
            strcmp(vectors->kept[i].part.label, vectors->kept[0].part.label) != 0) {
            status = ERR_INVALID;
        }
    }
    *source = (struct vector_source){view->seen, view->witness,
                                     vectors->kept_count ? vectors->kept[0].part.label : NULL};
    return status;
}

bool vector_shelving_sound(const struct vectors *vectors)
{
    bool sound = !atomic_load(vectors->is_damaged);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        sound = sound && shelf_sound(vectors->kept[i].segment, 0, 0);
    }
    return sound;
}

struct vector_need vector_shelving_need(const struct vectors *vectors)
{
    struct vector_need need = {vectors->texts, vectors->count - vectors->dead, 0};
    for (size_t i = 0; i < vectors->kept_count; i++) {
        need.dead += vectors->kept[i].dead_count;
    }
    return need;
}

/* ---- beginning ---- */

/* Whether the set was made from what is on the shelf now, or takes its place. */
static bool is_current(const struct vectors *vectors, const struct shelf_view *now,
                       const char *label)
{
    struct vector_part first;
    if (vectors->shelf == now || vectors->kept_count > 0 || now->count == 0) {
        return vectors->shelf == now || vectors->kept_count == 0;
    }
    return vector_part_head(now->segments[0].data, now->segments[0].length, &first) == OK &&
           strcmp(first.label, label) != 0;
}

static uint32_t living_in(const struct vectors_kept *kept)
{
    return kept->part.count - kept->dead_count;
}

static unsigned int tier_of(const struct vectors_kept *kept)
{
    unsigned int tier = 0;
    for (uint32_t rest = living_in(kept); rest >= TIER_GROWTH; rest /= TIER_GROWTH) {
        tier++;
    }
    return tier;
}

/* Whether a file is to become a larger one: its tier has too many, or all tiers together (the files
 * that are large enough stay, and are half of all at most, as in shelving.c). */
static bool is_crowded(const struct vectors *vectors, const struct vectors_kept *kept,
                       uint32_t most, const uint32_t tiers[MOST_TIERS])
{
    return living_in(kept) <= most / 2 &&
           (tiers[tier_of(kept)] >= TIER_GROWTH || vectors->kept_count > LIMIT_INDEX_SEGMENTS / 2);
}

/* A copy of the fresh ones that live. */
static int copy_fresh(struct vector_shelving *shelving, const struct vectors *vectors)
{
    uint32_t room = vectors->count - vectors->dead;
    size_t each = sizeof(int64_t) + sizeof(uint32_t) + sizeof(float) + vectors->stride;
    shelving->until = vectors->count;
    if (room == 0) {
        return OK;
    }
    shelving->fresh = malloc(room * each);
    if (!shelving->fresh) {
        return ERR_NOMEM;
    }
    int64_t *ids = shelving->fresh;
    uint32_t *marks = (uint32_t *)(ids + room);
    float *scales = (float *)(marks + room);
    uint8_t *rows = (uint8_t *)(scales + room);
    uint32_t count = 0;
    for (uint32_t place = 0; place < vectors->count; place++) {
        const struct vectors_block *block = vectors->blocks[place / VECTORS_BLOCK];
        uint32_t at = place % VECTORS_BLOCK;
        if (block->ids[at] != 0) {
            ids[count] = block->ids[at];
            marks[count] = block->marks[at];
            scales[count] = block->scales[at];
            memcpy(rows + count * vectors->stride, block->rows + at * vectors->stride,
                   vectors->stride);
            count++;
        }
    }
    shelving->leaving[shelving->count++] = (struct leaving_vectors){
        .input = {.ids = ids, .marks = marks, .scales = scales, .rows = rows, .count = count},
        .living = count,
    };
    return OK;
}

static int note_leaving(struct vector_shelving *shelving, const struct vectors_kept *kept)
{
    const struct vector_part *part = &kept->part;
    struct leaving_vectors *leaving = &shelving->leaving[shelving->count];
    size_t bytes = part->count / 8 + (size_t)1;
    leaving->dead = malloc(bytes);
    if (!leaving->dead) {
        return ERR_NOMEM;
    }
    memcpy(leaving->dead, kept->dead, bytes);
    leaving->number = kept->segment->number;
    leaving->living = living_in(kept);
    leaving->input = (struct vector_input){
        .ids = part->ids,
        .marks = part->marks,
        .scales = part->scales,
        .rows = part->rows,
        .checks = part->checks,
        .dead = leaving->dead,
        .count = part->count,
    };
    shelving->count++;
    shelving->gone[shelving->gone_count++] = leaving->number;
    return OK;
}

static int choose(struct vector_shelving *shelving, const struct vectors *vectors)
{
    uint32_t tiers[MOST_TIERS] = {0};
    int status = copy_fresh(shelving, vectors);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        tiers[tier_of(&vectors->kept[i])]++;
    }
    for (size_t i = 0; i < vectors->kept_count && status == OK; i++) {
        const struct vectors_kept *kept = &vectors->kept[i];
        if (kept->dead_count > 0 || is_crowded(vectors, kept, shelving->most, tiers)) {
            status = note_leaving(shelving, kept);
        }
    }
    for (size_t i = 0; vectors->kept_count == 0 && i < shelving->view->count; i++) {
        shelving->gone[shelving->gone_count++] = shelving->view->segments[i].number;
    }
    return status;
}

static void free_shelving(struct vector_shelving *shelving)
{
    for (size_t i = 0; i < shelving->draft_count; i++) {
        shelf_draft_free(shelving->drafts[i]);
    }
    for (size_t i = 0; i < shelving->count; i++) {
        free(shelving->leaving[i].dead);
    }
    shelf_release(shelving->view);
    free(shelving->leaving);
    free(shelving->gone);
    free(shelving->fresh);
    free(shelving->label);
    free(shelving);
}

int vector_shelving_begin(struct vectors *vectors, struct shelf *shelf,
                          const struct vector_source *source, struct vector_shelving **out)
{
    size_t places = vectors->count;
    struct vector_shelving *shelving = calloc(1, sizeof *shelving);
    if (!shelving) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < vectors->kept_count; i++) {
        places += vectors->kept[i].part.count;
    }
    size_t share = places / (LIMIT_INDEX_SEGMENTS / 4);
    shelving->shelf = shelf;
    shelving->view = shelf_hold(shelf);
    shelving->source = *source;
    shelving->label = strdup(source->label);
    shelving->dimensions = vectors->dimensions;
    shelving->most = share > LIMIT_VECTORS_FRESH ? (uint32_t)share : LIMIT_VECTORS_FRESH;
    shelving->leaving = calloc(vectors->kept_count + 1, sizeof *shelving->leaving);
    shelving->gone = calloc(LIMIT_INDEX_SEGMENTS, sizeof *shelving->gone);
    int status = !shelving->label || !shelving->leaving || !shelving->gone ? ERR_NOMEM
                 : !is_current(vectors, shelving->view, source->label)     ? ERR_CLOSED
                                                                           : OK;
    status = status == OK ? choose(shelving, vectors) : status;
    if (status == OK && shelving->count == 0 && shelving->gone_count == 0) {
        status = ERR_NOTFOUND;
    }
    if (status != OK) {
        free_shelving(shelving);
        return status;
    }
    vectors->is_saving = true;
    vectors->has_missed = false;
    vectors->removed_count = 0;
    *out = shelving;
    return OK;
}

/* ---- writing ---- */

static int emit(void *context, const void *bytes, size_t length)
{
    return shelf_draft_write(context, bytes, length);
}

/* Those from `first` on become one file. */
static int write_group(struct vector_shelving *shelving, size_t first, size_t count,
                       uint32_t living)
{
    if (living == 0) {
        return OK;
    }
    struct vector_input *inputs = malloc(count * sizeof *inputs);
    struct shelf_draft **draft = &shelving->drafts[shelving->draft_count];
    int status = !inputs                                         ? ERR_NOMEM
                 : shelving->draft_count == LIMIT_INDEX_SEGMENTS ? ERR_LIMIT
                                                                 : OK;
    status = status == OK ? shelf_draft_begin(shelving->shelf, draft) : status;
    if (status == OK) {
        shelving->draft_count++;
        for (size_t i = 0; i < count; i++) {
            inputs[i] = shelving->leaving[first + i].input;
        }
        status =
            vector_part_write(inputs, count, shelving->dimensions, shelving->label, emit, *draft);
    }
    free(inputs);
    return status;
}

int vector_shelving_write(struct vector_shelving *shelving)
{
    int status = OK;
    size_t first = 0;
    while (first < shelving->count && status == OK) {
        uint32_t living = shelving->leaving[first].living;
        size_t count = 1;
        while (first + count < shelving->count &&
               (uint64_t)living + shelving->leaving[first + count].living <= shelving->most) {
            living += shelving->leaving[first + count++].living;
        }
        status = write_group(shelving, first, count, living);
        first += count;
    }
    return status != OK ? status
                        : shelf_change(shelving->shelf, &(struct shelf_change){
                                                            .seen = shelving->source.seen,
                                                            .witness = shelving->source.witness,
                                                            .drafts = shelving->drafts,
                                                            .draft_count = shelving->draft_count,
                                                            .gone = shelving->gone,
                                                            .gone_count = shelving->gone_count,
                                                        });
}

/* ---- ending ---- */

static const struct shelf_segment *segment_of(const struct shelf_view *view, uint64_t number)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->segments[i].number == number) {
            return &view->segments[i];
        }
    }
    return NULL;
}

/* The files that stay are those of the new view; the others go. */
static void change_view(struct vectors *vectors, struct shelf_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < vectors->kept_count; i++) {
        struct vectors_kept *kept = &vectors->kept[i];
        kept->segment = segment_of(view, kept->segment->number);
        if (kept->segment) {
            vectors->kept[count++] = *kept;
        } else {
            free(kept->dead);
        }
    }
    vectors->kept_count = count;
    if (vectors->shelf) {
        shelf_release(vectors->shelf);
    }
    vectors->shelf = view;
}

static bool is_there(const struct vectors *vectors, const struct shelf_segment *segment)
{
    bool there = false;
    for (size_t i = 0; i < vectors->kept_count; i++) {
        there = there || vectors->kept[i].segment == segment;
    }
    return there;
}

/* Attaches the new file, without what was removed since the save began. */
static int bring_in(struct vectors *vectors, const struct shelf_segment *segment)
{
    int status = attach(vectors, segment);
    for (size_t i = 0; i < vectors->removed_count && status == OK; i++) {
        vectors_bury(&vectors->kept[vectors->kept_count - 1], vectors->removed[i]);
    }
    return status == ERR_INVALID ? ERR_CLOSED : status;
}

static int put_in_place(const struct vector_shelving *shelving, struct vectors *vectors)
{
    struct shelf_view *view = shelf_hold(shelving->shelf);
    change_view(vectors, view);
    vectors_compact(vectors, shelving->until);
    int status = vectors->has_missed ? ERR_CLOSED : OK;
    for (size_t i = 0; i < view->count && status == OK; i++) {
        if (!is_there(vectors, &view->segments[i])) {
            status = bring_in(vectors, &view->segments[i]);
        }
    }
    return status;
}

int vector_shelving_end(struct vector_shelving *shelving, struct vectors *vectors, bool written)
{
    int status = written && vectors ? put_in_place(shelving, vectors) : OK;
    if (vectors) {
        vectors->is_saving = false;
    }
    free_shelving(shelving);
    return status;
}
