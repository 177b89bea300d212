/* Markdown line by line, with as much understanding as cutting it needs: what is code, what is a
 * table, where a block begins. Pure, nothing is copied. */
#ifndef FORAGE_PAGE_PARTS_MARKDOWN_LINES_H
#define FORAGE_PAGE_PARTS_MARKDOWN_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct markdown_span {
    const char *at;
    size_t length;
};

/* A fence that is open: its line, and its marks within that. */
struct markdown_fence {
    struct markdown_span line;   /* without its line break; at == NULL: none is open */
    struct markdown_span prefix; /* blanks and quote marks in front of the marks */
    struct markdown_span marks;  /* ``` or longer, or ~~~ */
};

enum markdown_place {
    PLACE_BLOCK,      /* a block begins with this line */
    PLACE_LINE,       /* the line goes on with a block: a list, a paragraph, a table */
    PLACE_CODE,       /* it is a line of code */
    PLACE_INSEPARABLE /* it belongs to the line before it: the end of a fence, a table's ruler,
                         what follows a heading */
};

struct markdown_line {
    struct markdown_span text; /* without its line break */
    size_t offset;             /* of its beginning, in bytes */
    size_t next;               /* of the next line's beginning */
    enum markdown_place place; /* of its beginning, for whoever wants to cut before it */
    bool code;                 /* code, or a fence around it */
    bool row;                  /* of a table */
    int heading;               /* its level; 0: it is none */
    /* What is open at its beginning. */
    struct markdown_fence fence;
    struct markdown_span table_head; /* the two first lines of a table, with their line breaks;
                                        at == NULL: the line is no further row of a table */
};

struct markdown_lines {
    const char *text;
    size_t length;
    size_t offset;
    bool after_blank;
    bool after_heading;            /* whose text should not be parted from it */
    bool after_opening;            /* the line before opened a fence */
    struct markdown_span previous; /* the line before, for a table's head */
    struct markdown_fence fence;
    struct markdown_span table_head;
};

void markdown_lines_start(struct markdown_lines *lines, const char *text, size_t length);
/* False at the end. */
bool markdown_lines_next(struct markdown_lines *lines, struct markdown_line *line);

#endif
