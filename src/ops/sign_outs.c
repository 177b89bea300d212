/* The rows of sessions that were ended; `used` is of no use to them. */
#include "ops/sign_outs.h"

#include "core/limits.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_SIZE (sizeof SIGN_OUT_PREFIX + LIMIT_CALLER_NAME_CHARS + 24)

/* Those of a caller lie between a space and the character after it; no name holds a space. */
struct sign_out_keys {
    char from[KEY_SIZE];
    char until[KEY_SIZE];
    char own[KEY_SIZE];
};

static void make_keys(struct sign_out_keys *keys, const char *caller, int64_t expires_ms)
{
    snprintf(keys->from, KEY_SIZE, SIGN_OUT_PREFIX "%s ", caller);
    snprintf(keys->until, KEY_SIZE, SIGN_OUT_PREFIX "%s!", caller);
    snprintf(keys->own, KEY_SIZE, SIGN_OUT_PREFIX "%s %" PRId64, caller, expires_ms);
}

int sign_outs_find(struct db *db, const char *caller, int64_t expires_ms, bool *ended)
{
    struct sign_out_keys keys;
    int64_t numbers[3];
    make_keys(&keys, caller, expires_ms);
    int found = db_numbers(
        db_ask(
            db,
            "SELECT (SELECT count(*) FROM {windows} WHERE key = ?3), count(*), min(ends_ms) FROM "
            "{windows} WHERE key > ?1 AND key < ?2",
            DB_TEXT(keys.from), DB_TEXT(keys.until), DB_TEXT(keys.own)),
        numbers, 3);
    bool all = found > 0 && numbers[1] >= LIMIT_SESSIONS_ENDED;
    *ended = found <= 0 || numbers[0] > 0 || (all && expires_ms <= numbers[2]);
    return found > 0 ? OK : found < 0 ? found : ERR_IO;
}

int sign_outs_add(struct db *db, const char *caller, int64_t expires_ms)
{
    struct sign_out_keys keys;
    make_keys(&keys, caller, expires_ms);
    int status = db_do(db,
                       "INSERT INTO {windows} (key, ends_ms, used) VALUES (?1, ?2, 0) ON CONFLICT "
                       "(key) DO NOTHING",
                       DB_TEXT(keys.own), DB_INT(expires_ms));
    return status != OK
               ? status
               : db_do(db,
                       "DELETE FROM {windows} WHERE key IN (SELECT key FROM {windows} "
                       "WHERE key > ?1 AND key < ?2 ORDER BY ends_ms DESC LIMIT 1 "
                       "OFFSET ?3)",
                       DB_TEXT(keys.from), DB_TEXT(keys.until), DB_INT(LIMIT_SESSIONS_ENDED));
}
