/* A view: the segments that are searched together, what is dead in each, and the statistics of all
 * that lives, which are the same however it is divided among segments. */
#ifndef FORAGE_INDEX_VIEW_H
#define FORAGE_INDEX_VIEW_H

#include "core/arena.h"
#include "index/score.h"
#include "index/segment.h"
#include "index/shelf.h"

struct view_keeper; /* of a segment's bytes, for all who use them */

struct view_part {
    struct segment segment;
    struct view_keeper *keeper;
    uint64_t number; /* on the shelf; 0: it is in memory only */
    bool leaves;     /* somebody writes another one in its place: it is not merged */
    uint8_t *dead;   /* a bit for each document, the lowest first */
    uint32_t dead_count;
    uint32_t *sessions; /* names that are sessions, + 1, by the hash of their texts; 0: free */
    uint32_t session_mask;
};

#define VIEW_TIER_GROWTH 8u                  /* segments of a tier that become one of the next */
#define VIEW_MOST_MERGED (UINT32_C(1) << 17) /* documents of one, which may be written anew */
#define VIEW_MOST_WAITED 4096u               /* documents that are merged while somebody waits */

static inline uint32_t view_living(const struct view_part *part)
{
    return part->segment.documents - part->dead_count;
}
/* Segments of one tier are of about the same size. */
unsigned int view_tier(const struct view_part *part);

/* Zeroed is empty. */
struct view {
    struct view_part *parts;
    uint32_t count, capacity;
    /* Of the living: */
    uint32_t live;
    uint32_t languages[LANGUAGE_COUNT];
    uint32_t in_sessions;
    int64_t passages, words;
    int64_t log_sum, log_square_sum; /* of lengths, in steps that add up exactly */
    size_t bytes;
};

void view_done(struct view *view);
/* Takes a segment over; on failure it stays the caller's. OK, ERR_NOMEM, ERR_INVALID. */
int view_add(struct view *view, uint8_t *bytes, size_t length);
/* Adds a segment of a shelf. OK, ERR_NOMEM, ERR_INVALID. */
int view_attach(struct view *view, const struct shelf_segment *segment, struct view_keeper *keeper);
/* Moves the parts of another view behind its own. OK, ERR_NOMEM. */
int view_take_over(struct view *view, struct view *from);
/* Keeps the bytes of a view of a shelf, which it takes over; it has one user. NULL: no memory. */
struct view_keeper *view_keeper_new(struct shelf_view *shelf);
struct view_keeper *view_keeper_share(struct view_keeper *keeper);
/* NULL where it keeps bytes in memory. */
const struct shelf_view *view_keeper_shelf(const struct view_keeper *keeper);
/* Returns NULL. */
struct view_keeper *view_keeper_free(struct view_keeper *keeper);
/* Takes a part out and frees it. */
void view_drop(struct view *view, uint32_t part);
/* Marks the document of an id dead, wherever it is. */
void view_remove(struct view *view, int64_t id);
/* The same in one part. */
void view_remove_from(struct view *view, struct view_part *part, int64_t id);
static inline bool view_is_dead(const struct view_part *part, uint32_t document)
{
    return part->dead[document / 8] >> document % 8 & 1;
}

uint64_t view_session_hash(const char *text, size_t length);
/* The number of a session in the part, or SYMBOL_NONE. */
uint32_t view_session(const struct view_part *part, const char *text, size_t length, uint64_t hash);

/* A term as the segments have it. */
struct view_term {
    struct postings *lists; /* in documents, one for each part; NULL: none has it */
    struct postings *passages;
    uint32_t holders; /* living documents that hold it */
};

/* Looks it up. OK, ERR_NOMEM. */
int view_find(const struct view *view, struct arena *arena, const char *text, size_t length,
              struct view_term *found);
struct score_store view_store(const struct view *view);

#endif
