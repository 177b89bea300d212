/* What the formats write: the little HTML that they need, which the one writer of Markdown then
 * writes as Markdown. Emphasis may begin and end anywhere, as it does in office documents; lists
 * are given item by item with their levels. */
#ifndef FORAGE_DOCUMENTS_MARKUP_H
#define FORAGE_DOCUMENTS_MARKUP_H

#include "core/arena.h"
#include "core/buf.h"
#include "text/slice.h"

#include <stdbool.h>

enum {
    MARKUP_BOLD = 1,
    MARKUP_ITALIC = 2,
    MARKUP_STRIKE = 4,
    MARKUP_SUPER = 8,
    MARKUP_SUB = 16,
    MARKUP_CODE = 32,
};

#define MARKUP_LEVELS 9

struct markup {
    struct buf out;   /* blocks */
    struct buf line;  /* the text of the paragraph that is being read */
    unsigned wanted;  /* how the next text looks */
    unsigned written; /* the tags that stand open in `line` */
    bool link;        /* and whether a link does */
    bool code;        /* the last block was code, and the next may go on with it */
    bool quote;       /* the same of a quote */
    struct {
        long level;
        bool ordered;
    } lists[MARKUP_LEVELS];
    size_t depth;
};

void markup_begin(struct markup *markup);
void markup_done(struct markup *markup);

/* ---- inside a paragraph ---- */

/* Text as XML has it, escaped, or as it is when `literal`. */
void markup_text(struct markup *markup, struct slice text, bool literal);
void markup_plain(struct markup *markup, const char *text);
void markup_break(struct markup *markup);
void markup_link(struct markup *markup, const char *address);
void markup_link_end(struct markup *markup);
/* A picture, by what is said in its place; nothing when nothing is. */
void markup_picture(struct markup *markup, const char *words);
/* A reference to the note of that name. */
void markup_reference(struct markup *markup, const char *kind, const char *name);

/* ---- ends of paragraphs ---- */

void markup_paragraph(struct markup *markup);
/* Levels from 1 on. */
void markup_heading(struct markup *markup, long level);
/* An item of a list; `number` is that of an ordered one. */
void markup_item(struct markup *markup, long level, bool ordered, long number);
/* A further paragraph of the item that was last. */
void markup_continue(struct markup *markup);
void markup_code(struct markup *markup);
void markup_quote(struct markup *markup);

/* ---- other blocks ---- */

/* Ends lists, quotes and code that are open, then writes tags. */
void markup_tags(struct markup *markup, const char *tags);
/* Blocks that were written apart, which end. */
void markup_append(struct markup *markup, struct markup *apart);
/* The note of that name, of blocks that were written apart, which end. */
void markup_note(struct markup *notes, const char *kind, const char *name, struct markup *apart);

/* All of it as Markdown. `cut` is set where a ceiling was reached. OK or ERR_NOMEM. */
MUST_CHECK int markup_write(struct markup *markup, struct buf *out, bool *cut);

#endif
