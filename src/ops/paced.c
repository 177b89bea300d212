/* Rows of sources, and the statements on them. `used` of a call's row is its time. */
#include "ops/paced.h"

#include "core/clock.h"
#include "core/limits.h"
#include "ops/records.h"

#include <stdio.h>

#define BEGINNING_SIZE 96
#define KEY_SIZE       (BEGINNING_SIZE + ID_SIZE)
#define NOWHERE        (INT64_C(1) << 31) /* an offset behind all rows */

/* The keys of a source. Those of a kind lie between a space and the character after it. */
struct pace_keys {
    char rest[BEGINNING_SIZE];
    char all[2][BEGINNING_SIZE];
    char calls[2][BEGINNING_SIZE];
    char turns[2][BEGINNING_SIZE];
};

static void make_keys(struct pace_keys *keys, const char *source)
{
    snprintf(keys->rest, BEGINNING_SIZE, PACED_PREFIX "%.64s", source);
    for (int i = 0; i < 2; i++) {
        char end = i ? ' ' + 1 : ' ';
        snprintf(keys->all[i], BEGINNING_SIZE, PACED_PREFIX "%.64s%c", source, end);
        snprintf(keys->calls[i], BEGINNING_SIZE, PACED_PREFIX "%.64s call%c", source, end);
        snprintf(keys->turns[i], BEGINNING_SIZE, PACED_PREFIX "%.64s turn%c", source, end);
    }
}

static void make_key(char key[KEY_SIZE], const char *beginning, const char *id)
{
    snprintf(key, KEY_SIZE, "%.*s%.*s", BEGINNING_SIZE - 1, beginning, ID_SIZE - 1, id);
}

static int put(struct db *db, const char *key, int64_t ends_ms, int64_t used)
{
    return db_do(db,
                 "INSERT INTO {windows} (key, ends_ms, used) VALUES (?1, ?2, ?3) ON CONFLICT (key) "
                 "DO UPDATE SET ends_ms = excluded.ends_ms, used = excluded.used",
                 DB_TEXT(key), DB_INT(ends_ms), DB_INT(used));
}

static int drop(struct db *db, const char *beginning, const char *id)
{
    char key[KEY_SIZE];
    make_key(key, beginning, id);
    return db_do(db, "DELETE FROM {windows} WHERE key = ?1", DB_TEXT(key));
}

static int64_t or_never(int64_t at)
{
    return at ? at : PACE_NEVER;
}

/* Reads what is stored, and whether some of it counts no more. */
static int read_past(struct db *db, const struct pace_keys *keys, const struct pace_claim *claim,
                     int64_t now, struct pace_past *past, bool *stale)
{
    int64_t numbers[5 + PACE_WINDOWS];
    int64_t places[PACE_WINDOWS];
    /* A turn that ends later was taken before the clock was set back. */
    int64_t latest = now + TIME_PACE_AHEAD_MS + claim->lasts_ms;
    for (unsigned i = 0; i < PACE_WINDOWS; i++) {
        unsigned calls = pace_calls(claim->pace, i);
        places[i] = calls ? (int64_t)calls - 1 : NOWHERE;
    }
#define NTH(OFFSET)                                                                                \
    "(SELECT used FROM {windows} WHERE key > ?4 AND key < ?5 ORDER BY used DESC LIMIT 1 "          \
    "OFFSET " OFFSET ")"
    int found = db_numbers(
        db_ask(
            db,
            "SELECT (SELECT count(*) FROM {windows} WHERE key > ?2 AND key < ?3 AND ends_ms > ?1 "
            "AND ends_ms <= ?12),"
            " (SELECT count(*) FROM {windows} WHERE key = ?6),"
            " (SELECT ends_ms FROM {windows} WHERE key = ?6),"
            " (SELECT count(*) FROM {windows} WHERE key > ?7 AND key < ?8 AND ends_ms <= ?1),"
            " (SELECT max(used) FROM {windows} WHERE key > ?4 AND key < ?5), " NTH("?9") ", " NTH(
                "?10") ", " NTH("?11"),
            DB_INT(now), DB_TEXT(keys->turns[0]), DB_TEXT(keys->turns[1]), DB_TEXT(keys->calls[0]),
            DB_TEXT(keys->calls[1]), DB_TEXT(keys->rest), DB_TEXT(keys->all[0]),
            DB_TEXT(keys->all[1]), DB_INT(places[0]), DB_INT(places[1]), DB_INT(places[2]),
            DB_INT(latest)),
        numbers, 5 + PACE_WINDOWS);
#undef NTH
    *past = (struct pace_past){.running = (unsigned)numbers[0],
                               .rested = numbers[1] > 0,
                               .rests_until_ms = numbers[2],
                               .last_ms = or_never(numbers[4])};
    for (unsigned i = 0; i < PACE_WINDOWS; i++) {
        past->nth_ms[i] = or_never(numbers[5 + i]);
    }
    *stale = numbers[3] > 0;
    return found > 0 ? OK : found < 0 ? found : ERR_IO;
}

/* The clock was set back: what lies further ahead than a turn can count from now on. */
static int bring_back(struct db *db, const struct pace_keys *keys, const struct pace *pace,
                      int64_t now)
{
    return db_do(db,
                 "UPDATE {windows} SET used = ?3, ends_ms = ?4 WHERE key > ?1 AND key < ?2 AND "
                 "used > ?5",
                 DB_TEXT(keys->calls[0]), DB_TEXT(keys->calls[1]), DB_INT(now),
                 DB_INT(now + pace_memory_ms(pace)), DB_INT(now + TIME_PACE_AHEAD_MS));
}

static int store_turn(struct db *db, const struct pace_keys *keys, const struct pace_claim *claim,
                      int64_t now)
{
    char key[KEY_SIZE];
    int64_t at = now + claim->wait_ms;
    make_key(key, keys->calls[0], claim->id);
    int status = put(db, key, at + pace_memory_ms(claim->pace), at);
    if (status == OK && claim->pace->at_once) {
        make_key(key, keys->turns[0], claim->id);
        status = put(db, key, at + claim->lasts_ms, at);
    }
    /* Until it is known what comes of a try, nobody else tries. */
    return status == OK && claim->probe ? put(db, keys->rest, at + claim->lasts_ms, at) : status;
}

int paced_take(struct db *db, struct pace_claim *claim)
{
    struct pace_keys keys;
    struct pace_past past;
    int64_t now;
    bool stale = false;
    make_keys(&keys, claim->source);
    int status = records_clock(db, &now);
    claim->decided_ms = clock_now_ms();
    if (status == OK) {
        status = read_past(db, &keys, claim, now, &past, &stale);
    }
    if (status == OK && past.last_ms > now + TIME_PACE_AHEAD_MS) {
        status = bring_back(db, &keys, claim->pace, now);
        if (status == OK) {
            status = read_past(db, &keys, claim, now, &past, &stale);
        }
    }
    if (status == OK && stale) {
        status = db_do(db, "DELETE FROM {windows} WHERE key > ?1 AND key < ?2 AND ends_ms <= ?3",
                       DB_TEXT(keys.all[0]), DB_TEXT(keys.all[1]), DB_INT(now));
    }
    if (status != OK) {
        return status;
    }
    pace_decide(claim, &past, now);
    return claim->answer == PACE_GRANTED ? store_turn(db, &keys, claim, now) : OK;
}

/* A source that several found to want rest gets the longest; whoever tried it knows best. */
static int store_rest(struct db *db, const struct pace_keys *keys, const struct pace_end *end,
                      int64_t now)
{
    int64_t until = 0;
    int found = 0;
    if (!end->probe) {
        found = db_numbers(
            db_ask(db, "SELECT ends_ms FROM {windows} WHERE key = ?1", DB_TEXT(keys->rest)), &until,
            1);
    }
    until = until > now + end->rest_ms ? until : now + end->rest_ms;
    return found < 0 ? found : put(db, keys->rest, until, now);
}

int paced_end(struct db *db, const struct pace_end *end)
{
    struct pace_keys keys;
    int64_t now;
    make_keys(&keys, end->source);
    int status = records_clock(db, &now);
    if (status == OK && end->unused) {
        status = drop(db, keys.calls[0], end->id);
    }
    if (status == OK && end->pace->at_once) {
        status = drop(db, keys.turns[0], end->id);
    }
    if (status == OK && end->rest_ms > 0) {
        status = store_rest(db, &keys, end, now);
    } else if (status == OK && end->probe && end->rest_ms == 0) {
        status = drop(db, keys.rest, "");
    } else if (status == OK && end->probe) {
        status = put(db, keys.rest, now, now); /* the next one tries it */
    }
    return status;
}
