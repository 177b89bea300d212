/* Statistics are kept as documents come and go; logarithms as whole numbers, so that what was added
 * and taken away again leaves nothing behind. */
#include "index/view.h"

#include "core/status.h"
#include "index/array.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOG_STEPS  4096 /* for each unit */
#define FIRST_TIER 64u  /* documents that a segment of the lowest tier may have */

/* Counts a document in, or out. */
static void count_document(struct view *view, const struct segment *segment, uint32_t document,
                           int sign)
{
    uint32_t length = segment->lengths[document] > 0 ? segment->lengths[document] : 1;
    int64_t steps = llround(log(length) * LOG_STEPS);
    uint32_t first;
    uint32_t passages;
    (void)segment_passages(segment, document, &first, &passages);
    view->words += sign * (int64_t)length;
    view->log_sum += sign * steps;
    view->log_square_sum += sign * steps * steps;
    view->passages += sign * (int64_t)(passages > 0 ? passages : 1);
    view->languages[segment_language(segment, document)] += (uint32_t)sign;
    view->in_sessions += segment->sessions[document] != SYMBOL_NONE ? (uint32_t)sign : 0;
    view->live += (uint32_t)sign;
}

struct score_store view_store(const struct view *view)
{
    return (struct score_store){
        .texts = view->live,
        .passages = (double)view->passages,
        .words = (double)view->words,
        .log_sum = (double)view->log_sum / LOG_STEPS,
        .log_square_sum = (double)view->log_square_sum / LOG_STEPS / LOG_STEPS,
    };
}

static size_t dead_bytes(const struct segment *segment)
{
    return segment->documents / 8 + 1;
}

/* ---- sessions ---- */

uint64_t view_session_hash(const char *text, size_t length)
{
    uint64_t hash = 0x9E3779B97F4A7C15u ^ length;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The slot of a session, or the free one where it belongs. */
static uint32_t *session_slot(const struct view_part *part, const char *text, size_t length,
                              uint64_t hash)
{
    uint32_t at = (uint32_t)hash & part->session_mask;
    while (part->sessions[at]) {
        size_t other_length;
        const char *other =
            segment_name_text(&part->segment, part->sessions[at] - 1, &other_length);
        if (other_length == length && memcmp(other, text, length) == 0) {
            break;
        }
        at = (at + 1) & part->session_mask;
    }
    return &part->sessions[at];
}

uint32_t view_session(const struct view_part *part, const char *text, size_t length, uint64_t hash)
{
    return *session_slot(part, text, length, hash) - 1;
}

static int find_sessions(struct view_part *part)
{
    const struct segment *segment = &part->segment;
    uint32_t members;
    uint32_t count = 0;
    for (uint32_t i = 0; i < segment->names; i++) {
        (void)segment_members(segment, i, &members);
        count += members > 0;
    }
    size_t slots = 2;
    while (slots < (size_t)count * 2) {
        slots *= 2;
    }
    part->session_mask = (uint32_t)(slots - 1);
    part->sessions = calloc(slots, sizeof *part->sessions);
    for (uint32_t i = 0; i < segment->names && part->sessions; i++) {
        size_t length;
        const char *text = segment_name_text(segment, i, &length);
        (void)segment_members(segment, i, &members);
        if (members > 0) {
            *session_slot(part, text, length, view_session_hash(text, length)) = i + 1;
        }
    }
    return part->sessions ? OK : ERR_NOMEM;
}

/* ---- who keeps the bytes ---- */

struct view_keeper {
    atomic_size_t users;
    uint8_t *bytes;           /* in memory; NULL: */
    struct shelf_view *shelf; /* mapped */
};

struct view_keeper *view_keeper_new(struct shelf_view *shelf)
{
    struct view_keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper) {
        keeper->shelf = shelf;
        atomic_store(&keeper->users, 1);
    }
    return keeper;
}

const struct shelf_view *view_keeper_shelf(const struct view_keeper *keeper)
{
    return keeper->shelf;
}

struct view_keeper *view_keeper_share(struct view_keeper *keeper)
{
    atomic_fetch_add(&keeper->users, 1);
    return keeper;
}

struct view_keeper *view_keeper_free(struct view_keeper *keeper)
{
    if (keeper && atomic_fetch_sub(&keeper->users, 1) == 1) {
        free(keeper->bytes);
        if (keeper->shelf) {
            shelf_release(keeper->shelf);
        }
        free(keeper);
    }
    return NULL;
}

/* ---- parts ---- */

unsigned int view_tier(const struct view_part *part)
{
    unsigned int tier = 0;
    for (uint64_t most = FIRST_TIER; view_living(part) > most; most *= VIEW_TIER_GROWTH) {
        tier++;
    }
    return tier;
}

/* Mapped bytes are the system's. */
static size_t part_bytes(const struct view_part *part)
{
    return (part->number ? 0 : part->segment.length) + dead_bytes(&part->segment) +
           ((size_t)part->session_mask + 1) * sizeof *part->sessions;
}

static void free_part(struct view *view, struct view_part *part)
{
    view->bytes -= part_bytes(part);
    view_keeper_free(part->keeper);
    free(part->dead);
    free(part->sessions);
}

void view_done(struct view *view)
{
    for (uint32_t i = 0; i < view->count; i++) {
        free_part(view, &view->parts[i]);
    }
    free(view->parts);
    *view = (struct view){0};
}

/* A part of these bytes, all of which lives; its keeper and number are not set yet. */
static int add(struct view *view, const void *bytes, size_t length)
{
    int status = array_reserve(&view->parts, &view->capacity, view->count + 1, sizeof *view->parts);
    if (status != OK) {
        return status;
    }
    struct view_part *part = &view->parts[view->count];
    *part = (struct view_part){0};
    status = segment_open(&part->segment, bytes, length);
    if (status != OK) {
        return status;
    }
    part->dead = calloc(dead_bytes(&part->segment), 1);
    if (!part->dead || find_sessions(part) != OK) {
        free(part->dead);
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < part->segment.documents; i++) {
        count_document(view, &part->segment, i, 1);
    }
    view->count++;
    return OK;
}

static void keep(struct view *view, struct view_keeper *keeper, uint64_t number)
{
    struct view_part *part = &view->parts[view->count - 1];
    part->keeper = keeper;
    part->number = number;
    view->bytes += part_bytes(part);
}

int view_add(struct view *view, uint8_t *bytes, size_t length)
{
    struct view_keeper *keeper = view_keeper_new(NULL);
    int status = keeper ? add(view, bytes, length) : ERR_NOMEM;
    if (status != OK) {
        view_keeper_free(keeper);
        return status;
    }
    keeper->bytes = bytes;
    keep(view, keeper, 0);
    return OK;
}

int view_attach(struct view *view, const struct shelf_segment *segment, struct view_keeper *keeper)
{
    int status = add(view, segment->data, segment->length);
    if (status == OK) {
        keep(view, view_keeper_share(keeper), segment->number);
    }
    return status;
}

int view_take_over(struct view *view, struct view *from)
{
    uint32_t count = view->count + from->count;
    int status = array_reserve(&view->parts, &view->capacity, count, sizeof *view->parts);
    if (status != OK) {
        return status;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        view->parts[view->count++] = from->parts[i];
    }
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        view->languages[i] += from->languages[i];
    }
    view->live += from->live;
    view->in_sessions += from->in_sessions;
    view->passages += from->passages;
    view->words += from->words;
    view->log_sum += from->log_sum;
    view->log_square_sum += from->log_square_sum;
    view->bytes += from->bytes;
    free(from->parts);
    *from = (struct view){0};
    return OK;
}

void view_drop(struct view *view, uint32_t part)
{
    struct view_part *gone = &view->parts[part];
    for (uint32_t i = 0; i < gone->segment.documents; i++) {
        if (!view_is_dead(gone, i)) {
            count_document(view, &gone->segment, i, -1);
        }
    }
    free_part(view, gone);
    view->count--;
    memmove(gone, gone + 1, (view->count - part) * sizeof *gone);
}

void view_remove_from(struct view *view, struct view_part *part, int64_t id)
{
    uint32_t document = segment_find(&part->segment, id);
    if (document != NO_DOCUMENT && !view_is_dead(part, document)) {
        part->dead[document / 8] |= (uint8_t)(1u << document % 8);
        part->dead_count++;
        count_document(view, &part->segment, document, -1);
    }
}

void view_remove(struct view *view, int64_t id)
{
    for (uint32_t i = 0; i < view->count; i++) {
        view_remove_from(view, &view->parts[i], id);
    }
}

/* The dead that hold a term: each is looked for in its list. */
static uint32_t dead_holders(const struct view_part *part, const struct postings *list)
{
    struct postings_cursor cursor;
    uint32_t count = 0;
    postings_start(&cursor, list, part->segment.documents);
    for (uint32_t i = 0; i < part->segment.documents && cursor.document != NO_DOCUMENT; i++) {
        if (part->dead[i / 8] == 0) {
            i |= 7;
        } else if (view_is_dead(part, i)) {
            postings_seek(&cursor, i);
            count += cursor.document == i;
        }
    }
    return count;
}

int view_find(const struct view *view, struct arena *arena, const char *text, size_t length,
              struct view_term *found)
{
    *found = (struct view_term){0};
    for (uint32_t i = 0; i < view->count; i++) {
        const struct view_part *part = &view->parts[i];
        struct dictionary_term term;
        if (!dictionary_find(&part->segment.terms, text, length, &term)) {
            continue;
        }
        if (!found->lists) {
            found->lists = arena_zalloc(arena, view->count * sizeof *found->lists);
            found->passages = arena_zalloc(arena, view->count * sizeof *found->passages);
        }
        if (!found->lists || !found->passages) {
            return ERR_NOMEM;
        }
        found->lists[i] = segment_postings(&part->segment, &term);
        found->passages[i] = segment_passage_postings(&part->segment, &term);
        found->holders += found->lists[i].count -
                          (part->dead_count > 0 ? dead_holders(part, &found->lists[i]) : 0);
    }
    return OK;
}
