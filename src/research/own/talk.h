/* The conversation with a model: what it did, what it was told, and how much of that it sees again.
 * The last results stand in full; earlier turns are dropped whole from the front, so that calls and
 * their results stay together, and what they brought lives on in the notes. Pure. */
#ifndef FORAGE_RESEARCH_OWN_TALK_H
#define FORAGE_RESEARCH_OWN_TALK_H

#include "core/arena.h"
#include "core/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* What a model is told about one of its moves. */
struct told {
    const struct model_use *use; /* NULL: it spoke in words */
    const char *text;
    bool failed;
};

struct turn {
    const struct model_reply *reply;
    struct told *told;
    size_t told_count;
};

struct talk {
    struct turn *turns;
    size_t count, capacity;
    size_t room; /* characters that earlier turns may take */
};

#define TALK_LEAST_ROOM 1000u /* characters: less tells nothing */

/* OK or ERR_NOMEM. */
MUST_CHECK int talk_add(struct arena *arena, struct talk *talk, const struct turn *turn);
/* The messages of the next request: `state` as the user's, then the last turns that fit the room,
 * one of them at least, cut where it alone is larger. NULL without memory. */
const struct model_message *talk_messages(struct arena *arena, const struct talk *talk,
                                          const char *state, size_t *count);
/* The bytes that messages take. */
size_t talk_bytes(const struct model_message *messages, size_t count);
/* From now on in words: turns with calls of tools cannot be shown again without the tools. */
void talk_go_plain(struct talk *talk);
/* Halves the room, after a request that was too large. False: it is as small as it gets. */
bool talk_fold(struct talk *talk);

#endif
