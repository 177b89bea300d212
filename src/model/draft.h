/* A reply while it comes: dialects add to it event by event, and it becomes a model_reply when it
 * is whole. Everything has a ceiling; the first problem stays. */
#ifndef FORAGE_MODEL_DRAFT_H
#define FORAGE_MODEL_DRAFT_H

#include "core/buf.h"
#include "core/limits.h"
#include "model/failures.h"
#include "model/model.h"
#include "text/json.h"

enum draft_end {
    DRAFT_OPEN,      /* nothing was said of its end */
    DRAFT_STOPPED,   /* as it should */
    DRAFT_LENGTH,    /* at the limit of tokens */
    DRAFT_CONTEXT,   /* the context is full */
    DRAFT_FILTERED,  /* by the model or the service */
    DRAFT_MALFORMED, /* the model wrote a use that the service could not read */
};

/* What a service says at the end of a reply, and what that means. */
struct draft_word {
    const char *word;
    enum draft_end end;
};

struct draft_use {
    int64_t index;
    struct buf id, name, arguments;
};

struct draft {
    struct arena *arena;   /* of what stays */
    struct arena *scratch; /* of one event */
    const struct model_provider *provider;
    struct buf text, reasoning, refusal;
    struct buf spare;              /* text that counts where there is no other */
    struct buf items;              /* what is sent back, JSON values with commas between */
    struct buf began, piece, seal; /* of an item that comes in parts */
    const char *reasoning_key;
    struct draft_use uses[LIMIT_REPLY_USES];
    size_t use_count;
    size_t open_use;          /* the use that a block is about; SIZE_MAX: none */
    struct model_part *parts; /* of `text`, or of `spare` while there is no text */
    size_t part_count, annotation_count;
    size_t searches, failed_searches;
    enum draft_end end;
    bool seen;  /* something of the dialect came */
    bool whole; /* the last event came, or what needs none */
    bool counted;
    struct model_usage usage;
    bool failed; /* the server says so in the midst of it, or in HTTP 200 */
    struct model_error error;
    int status; /* OK, ERR_NOMEM or ERR_LIMIT */
};

void draft_start(struct draft *draft, struct arena *arena, struct arena *scratch,
                 const struct model_provider *provider);
void draft_done(struct draft *draft);

/* A string of an event; nothing for another value. NULs become blanks. */
void draft_add(struct draft *draft, struct buf *to, yyjson_val *value);
/* The same, as one of the texts that the reply consists of; NULL where it is none. */
struct model_part *draft_add_part(struct draft *draft, struct buf *to, yyjson_val *value);
/* One more use, or the last where there is no room, which is an error then. */
struct draft_use *draft_add_use(struct draft *draft, int64_t index);
/* Its arguments: a string, which may be a part of them, or an object. */
void draft_add_arguments(struct draft *draft, struct draft_use *use, yyjson_val *value);
/* One more of what is sent back. */
void draft_add_item(struct draft *draft, yyjson_val *value);
void draft_add_new_item(struct draft *draft, const yyjson_mut_val *value);
void draft_fail(struct draft *draft, yyjson_val *root);
/* What a word at its end means, by a table of the dialect; nothing for what is no word. */
void draft_stop(struct draft *draft, yyjson_val *word, const struct draft_word *words, size_t count,
                enum draft_end otherwise);
/* A whole number that is not negative, which some write as 12.0; -1 for another value. */
int64_t draft_number(yyjson_val *object, const char *key);
/* A count of the usage, where it is one. */
void draft_count(struct draft *draft, yyjson_val *object, const char *key, int64_t *count);
/* "[" and the items and "]"; NULL without memory. */
const char *draft_items(struct draft *draft, const struct model_reply *reply);
/* Makes a reply of it, in the arena. `turn` tells ids of our own from those of other turns. OK,
 * ERR_NOMEM or ERR_LIMIT. */
MUST_CHECK int draft_finish(struct draft *draft, size_t turn, struct model_reply *reply);

#endif
