/* A walk over the lines of Markdown, with as much understanding as cutting needs: what is code,
 * what is a table, where a block begins. */
#ifndef FORAGE_READER_LINES_H
#define FORAGE_READER_LINES_H

#include "core/arena.h"
#include "text/slice.h"

#include <stdbool.h>
#include <stddef.h>

/* A fence that is open: its line, and its marks within that. */
struct fence {
    struct slice line;   /* without its line break; data == NULL: none is open */
    struct slice prefix; /* blanks and quote marks in front of the marks */
    struct slice marks;  /* ``` or longer, or ~~~ */
};

enum line_place {
    PLACE_BLOCK,      /* a block begins with this line */
    PLACE_LINE,       /* the line goes on with a block: a list, a paragraph, a table */
    PLACE_CODE,       /* it is a line of code */
    PLACE_INSEPARABLE /* it belongs to the line before it: the end of a fence, a table's ruler,
                         what follows a heading */
};

struct page_line {
    struct slice text;     /* without its line break */
    size_t offset;         /* of its beginning, in bytes */
    size_t next;           /* of the next line's beginning */
    enum line_place place; /* of its beginning, for whoever wants to cut before it */
    bool code;             /* code, or a fence around it */
    bool row;              /* of a table */
    bool item;             /* an item of a list begins with it */
    int heading;           /* its level; 0: it is none */
    /* What is open at its beginning. */
    struct fence fence;
    struct slice table_head; /* the two first lines of a table, with their line breaks;
                                        data == NULL: the line is no further row of a table */
};

struct page_lines {
    const char *text;
    size_t length;
    size_t offset;
    bool after_blank;
    bool after_heading;    /* whose text should not be parted from it */
    bool after_opening;    /* the line before opened a fence */
    struct slice previous; /* the line before, for a table's head */
    struct fence fence;
    struct slice table_head;
};

/* The text must outlive the walk. */
void lines_start(struct page_lines *lines, const char *text, size_t length);
/* False at the end. */
bool lines_next(struct page_lines *lines, struct page_line *line);
/* The line that closes a fence, without a line break; in the arena. */
const char *fence_closing(struct arena *arena, const struct fence *fence);

#endif
