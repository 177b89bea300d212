/* What a model wants to do next: its moves. They come as calls of tools, as JSON in its words, or
 * as lines that a small model manages (SEARCH: ...); here they are the same. Leniently read, never
 * trusted: a source is a number, and what is no number is refused, an address above all. Pure. */
#ifndef FORAGE_RESEARCH_OWN_MOVES_H
#define FORAGE_RESEARCH_OWN_MOVES_H

#include "core/arena.h"
#include "core/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOVES_OF_TURN 8  /* more are refused */
#define MOVE_TEXTS    8  /* queries, parts of a plan, open questions */
#define MOVE_SOURCES  10 /* to read at once */
#define MOVE_NOTES    20

enum move_kind { MOVE_PLAN, MOVE_SEARCH, MOVE_READ, MOVE_NOTE, MOVE_FINISH, MOVE_KINDS };

struct move_note {
    const char *claim, *quote;
    int64_t source; /* negative: it was no number */
};

struct move {
    enum move_kind kind;
    const struct model_use *use; /* that it came as; NULL: in words */
    const char *trouble;         /* why it cannot be done; NULL: it can */
    const char *texts[MOVE_TEXTS];
    size_t text_count;
    bool uncovered; /* of MOVE_FINISH: the notes do not answer the question, it says */
    int64_t sources[MOVE_SOURCES]; /* negative: it was no number */
    size_t source_count;
    const char *question; /* that reading should answer; NULL: none of its own */
    int64_t start;        /* code points of the page, where to read on */
    int64_t part;         /* of the plan, from 1; 0: not said */
    struct move_note notes[MOVE_NOTES];
    size_t note_count;
    const char *disputed[MOVE_TEXTS];
    size_t disputed_count;
};

/* The tools as a model is told of them, in the order of enum move_kind (tools.json). OK or
 * ERR_NOMEM. */
MUST_CHECK int moves_tools(struct arena *arena, struct model_tool tools[MOVE_KINDS]);

/* A move of a tool's name and arguments; `name` or `arguments` may be NULL. Everything in it lives
 * in the arena. */
void move_of_use(struct arena *arena, const char *name, const char *arguments, struct move *move);
/* The moves in what a model said: lines of the plain format, or JSON that looks like calls. Returns
 * how many there are, at most MOVES_OF_TURN; notes, and lines of one kind that follow each other,
 * are one move. */
size_t moves_of_words(struct arena *arena, const char *words, struct move moves[MOVES_OF_TURN]);
/* What tells a move from another: the same text for the same move. NULL without memory. */
const char *move_key(struct arena *arena, const struct move *move);

#endif
