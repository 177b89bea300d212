/* Answers that are kept for a while, in this process's memory: the same question of the same caller
 * is not paid for twice. An answer tells what was asked, so that it is kept on a disk (records.h)
 * only where FORAGE_HISTORY says so. */
#ifndef FORAGE_OPS_ANSWERS_H
#define FORAGE_OPS_ANSWERS_H

#include "core/arena.h"
#include "core/sha256.h"
#include "text/json.h"

#include <stdbool.h>
#include <stdint.h>

struct answers;

struct answers *answers_new(void);
struct answers *answers_free(struct answers *answers);

/* The name of a question: the tool (and what else decides an answer), its arguments with the
 * query's white space and case evened out and in any order, and the caller, so that nothing of one
 * caller reaches another. False without memory. */
bool answers_key(unsigned char key[SHA256_SIZE], struct arena *arena, const char *caller,
                 const char *tool, yyjson_val *arguments);
/* The answer's JSON text, copied into the arena; NULL when there is none that is young enough. */
const char *answers_find(struct answers *answers, const unsigned char key[SHA256_SIZE],
                         struct arena *arena, size_t *length);
/* Keeps an answer for so long, in place of an older one; what was not used for longest makes
 * room. */
void answers_keep(struct answers *answers, const char *caller, const unsigned char key[SHA256_SIZE],
                  const char *json, size_t length, int64_t keep_ms);
/* Drops all answers of a caller. */
void answers_forget(struct answers *answers, const char *caller);

#endif
