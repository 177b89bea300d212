/* What a namespace holds, in numbers: its tags, when its memories are of, which are damaged. One
 * walk over the memories that a list would show, as far as a ceiling. */
#include "core/clock.h"
#include "index/symbols.h"
#include "memory/memories.h"
#include "memory/store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_MS      (24 * 60 * 60 * 1000LL)
#define MOST_DAYS   120 /* that are told one by one */
#define MOST_MONTHS 144 /* the same */

struct overview_walk {
    struct arena *arena; /* of what is found */
    struct arena *row;   /* of one memory */
    struct memory_overview *overview;
    struct symbols tags;
    int64_t *memories; /* with each of the tags */
};

/* ---- walking ---- */

/* The last day that was seen, or a new one: they come newest first. */
static void count_day(struct memory_overview *overview, int64_t created_ms)
{
    int64_t day = created_ms - ((created_ms % DAY_MS) + DAY_MS) % DAY_MS;
    size_t count = overview->period_count;
    if (count == 0 || overview->periods[count - 1].from_ms != day) {
        overview->periods[overview->period_count++] = (struct memory_period){.from_ms = day};
    }
    overview->periods[overview->period_count - 1].memories++;
}

static int count_tags(struct overview_walk *walk, const struct memory *memory)
{
    for (size_t i = 0; i < memory->tag_count; i++) {
        if (walk->tags.count == LIMIT_MEMORY_OVERVIEW_TAGS) {
            walk->overview->more_tags = true;
            return OK;
        }
        uint32_t number = symbols_add(&walk->tags, memory->tags[i], strlen(memory->tags[i]));
        if (number == SYMBOL_NONE) {
            return ERR_NOMEM;
        }
        walk->memories[number]++;
    }
    return OK;
}

static int note_damage(struct overview_walk *walk, const struct memory *memory)
{
    struct memory_overview *overview = walk->overview;
    const char *key = NULL;
    overview->all_damaged++;
    if (overview->damaged_count < LIMIT_MEMORY_OVERVIEW_LISTED) {
        key = arena_strdup(walk->arena, memory->key);
        overview->damaged[overview->damaged_count++] =
            (struct memory_flaw){key, memory->damage, memory->created_ms};
    }
    return arena_failed(walk->arena) ? ERR_NOMEM : OK;
}

static int look_at(void *context, const struct store_row *row)
{
    struct overview_walk *walk = context;
    struct store_row marked = *row;
    if (walk->overview->counted == LIMIT_MEMORY_OVERVIEW) {
        walk->overview->more = true;
        return OK;
    }
    walk->overview->counted++;
    store_mark(walk->row, &marked);
    count_day(walk->overview, marked.memory.created_ms);
    int status = count_tags(walk, &marked.memory);
    if (status == OK && marked.memory.damage) {
        status = note_damage(walk, &marked.memory);
    }
    arena_reset(walk->row);
    return status;
}

/* ---- what was seen ---- */

static int by_memories(const void *one, const void *other)
{
    const struct memory_tag *a = one, *b = other;
    return a->memories != b->memories ? (a->memories < b->memories ? 1 : -1)
                                      : strcmp(a->name, b->name);
}

static int list_tags(struct overview_walk *walk)
{
    struct memory_overview *overview = walk->overview;
    size_t count = walk->tags.count;
    overview->tags = arena_alloc(walk->arena, (count + 1) * sizeof *overview->tags);
    for (size_t i = 0; overview->tags && i < count; i++) {
        const char *name = arena_strdup(walk->arena, symbols_text(&walk->tags, (uint32_t)i));
        overview->tags[i] = (struct memory_tag){name ? name : "", walk->memories[i]};
    }
    if (arena_failed(walk->arena)) {
        return ERR_NOMEM;
    }
    qsort(overview->tags, count, sizeof *overview->tags, by_memories);
    overview->more_tags = overview->more_tags || count > LIMIT_MEMORY_OVERVIEW_LISTED;
    overview->tag_count =
        count < LIMIT_MEMORY_OVERVIEW_LISTED ? count : LIMIT_MEMORY_OVERVIEW_LISTED;
    return OK;
}

/* The first day of the month, or of the year, that a day is in. */
static int64_t start_of(int64_t day_ms, bool of_year)
{
    time_t seconds = (time_t)(day_ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    parts.tm_mday = 1;
    parts.tm_mon = of_year ? 0 : parts.tm_mon;
    return (int64_t)timegm(&parts) * 1000;
}

/* Days of a long time become months or years. */
static void join_days(struct memory_overview *overview)
{
    struct memory_period *periods = overview->periods;
    size_t count = overview->period_count;
    int64_t days = count ? (periods[0].from_ms - periods[count - 1].from_ms) / DAY_MS + 1 : 0;
    bool of_year = days > MOST_MONTHS * 31LL;
    overview->unit = days <= MOST_DAYS ? "day" : of_year ? "year" : "month";
    if (days <= MOST_DAYS) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct memory_period period = {start_of(periods[i].from_ms, of_year), periods[i].memories};
        if (kept && periods[kept - 1].from_ms == period.from_ms) {
            periods[kept - 1].memories += period.memories;
        } else {
            periods[kept++] = period;
        }
    }
    overview->period_count = kept;
}

static int walk_over(struct overview_walk *walk, struct call *call,
                     const struct memory_space *space, const struct memory_filter *filter)
{
    struct db *db = NULL;
    struct store_space found = {0};
    size_t total;
    int status = memories_borrow(call, &db);
    status = status == OK ? db_begin_reading(db) : status;
    status = status == OK ? store_space_of(db, space, false, &found) : status;
    if (status == OK && found.id != 0) {
        status = store_list(db, walk->row, found.id, filter, clock_wall_ms(),
                            LIMIT_MEMORY_OVERVIEW + 1, 0, 1, &total, look_at, walk);
    }
    return memories_return(call, db, status);
}

int memory_overview(struct call *call, const struct memory_space *space,
                    const struct memory_filter *filter, struct memory_overview *overview)
{
    struct arena *arena = call_arena(call);
    struct overview_walk walk = {
        .arena = arena,
        .row = arena_new(LIMIT_MEMORY_ROW_BYTES),
        .overview = overview,
        .memories = arena_zalloc(arena, LIMIT_MEMORY_OVERVIEW_TAGS * sizeof(int64_t))};
    *overview = (struct memory_overview){
        .periods = arena_alloc(arena, LIMIT_MEMORY_OVERVIEW * sizeof *overview->periods),
        .damaged = arena_alloc(arena, LIMIT_MEMORY_OVERVIEW_LISTED * sizeof *overview->damaged),
    };
    int status =
        walk.row && !arena_failed(arena) ? walk_over(&walk, call, space, filter) : ERR_NOMEM;
    if (status == OK) {
        join_days(overview);
        status = list_tags(&walk);
    }
    symbols_done(&walk.tags);
    arena_free(walk.row);
    return status;
}
